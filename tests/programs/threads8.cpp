/* threads8.cpp - eight threads, each with its own number of calls; some functions are called by all of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <pthread.h>

NOINLINE static unsigned long step(unsigned long n)
{
	CALLED("step(unsigned long)");
	return n * 6364136223846793005u + 1442695040888963407u;
}

NOINLINE static unsigned long spin(unsigned long n, unsigned rounds)
{
	CALLED("spin(unsigned long, unsigned int)");
	while (rounds--)
		n = step(n);
	return n;
}

/* One function for each thread: their counts tell the threads apart. */
template <unsigned N> NOINLINE unsigned long work(unsigned long seed)
{
	static const char *const names[] = {
	    "unsigned long work<0u>(unsigned long)", "unsigned long work<1u>(unsigned long)",
	    "unsigned long work<2u>(unsigned long)", "unsigned long work<3u>(unsigned long)",
	    "unsigned long work<4u>(unsigned long)", "unsigned long work<5u>(unsigned long)",
	    "unsigned long work<6u>(unsigned long)", "unsigned long work<7u>(unsigned long)",
	};
	CALLED(names[N]);
	return spin(seed, N + 1) ^ step(seed);
}

template <unsigned N> NOINLINE void *run(void *)
{
	static const char *const names[] = {
	    "void* run<0u>(void*)", "void* run<1u>(void*)", "void* run<2u>(void*)", "void* run<3u>(void*)",
	    "void* run<4u>(void*)", "void* run<5u>(void*)", "void* run<6u>(void*)", "void* run<7u>(void*)",
	};
	CALLED(names[N]);
	unsigned long total = 0;
	for (unsigned i = 0; i < 100 * (N + 1); i++)
		total += work<N>(i);
	sink = total;
	return nullptr;
}

int main()
{
	static void *(*const runs[])(void *) = {run<0>, run<1>, run<2>, run<3>, run<4>, run<5>, run<6>, run<7>};
	pthread_t threads[8];

	start_recording("func_duration_threshold_us=0:buffer_size=16384:buffer_max=400");
	for (int i = 0; i < 8; i++)
		must(!pthread_create(&threads[i], nullptr, runs[i], nullptr), "pthread_create");
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	finish_recording();
}
