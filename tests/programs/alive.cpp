/* alive.cpp - threads that still hold buffers when the log is written: the runtime then writes some buffers twice. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <pthread.h>

static pthread_barrier_t done, written;

NOINLINE static unsigned long leaf(unsigned long n)
{
	CALLED("leaf(unsigned long)");
	sink = n;
	return n + 1;
}

NOINLINE static void *run(void *argument)
{
	CALLED("run(void*)");
	unsigned long rounds = *static_cast<unsigned long *>(argument);
	for (unsigned long i = 0; i < rounds; i++)
		sink = leaf(i);
	pthread_barrier_wait(&done);
	pthread_barrier_wait(&written);
	return nullptr;
}

int main()
{
	static unsigned long rounds[] = {700, 1900, 300, 1100};
	pthread_t threads[4];

	pthread_barrier_init(&done, nullptr, 5);
	pthread_barrier_init(&written, nullptr, 5);
	start_recording("func_duration_threshold_us=0:buffer_size=4096:buffer_max=100");
	for (int i = 0; i < 4; i++)
		must(!pthread_create(&threads[i], nullptr, run, &rounds[i]), "pthread_create");
	pthread_barrier_wait(&done);
	finish_recording();
	pthread_barrier_wait(&written);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
}
