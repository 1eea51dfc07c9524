/* manybuffers.cpp - small buffers, so that each of three threads fills many; the log spans more than a second. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <pthread.h>
#include <unistd.h>

NOINLINE static unsigned long leaf(unsigned long n)
{
	CALLED("leaf(unsigned long)");
	sink = n;
	return n + 1;
}

NOINLINE static unsigned long tree(unsigned depth)
{
	CALLED("tree(unsigned int)");
	return depth ? (tree(depth - 1) + tree(depth - 1)) ^ depth : leaf(depth);
}

NOINLINE static void pause_long(void)
{
	CALLED("pause_long()");
	usleep(400000);
}

NOINLINE static void *run(void *)
{
	CALLED("run(void*)");
	for (int i = 0; i < 3; i++) {
		sink = tree(9);
		pause_long();
	}
	return nullptr;
}

int main()
{
	pthread_t threads[3];

	start_recording("func_duration_threshold_us=0:buffer_size=4096:buffer_max=1200");
	for (pthread_t &thread : threads)
		must(!pthread_create(&thread, nullptr, run, nullptr), "pthread_create");
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	finish_recording();
}
