/* flight.c - what an entry and an exit of a function cost under the flight recorder: thread CPU time, as ratios to two
 * reads of the processor's clock.
 *
 * flight ROUNDS CALLS: CALLS of an instrumented function, ROUNDS times in turn with the reads, by one thread and by two
 * at once. The median counts. bench/flight builds it each way, and gives it a recorder or none. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__clang__)
#define PLAIN __attribute__((no_instrument_function, xray_never_instrument))
#else
#define PLAIN __attribute__((no_instrument_function))
#endif

enum { ROUNDS_MOST = 99, NS_OF_SECOND = 1000000000 };

static uint64_t calls;

PLAIN static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_OF_SECOND + (uint64_t)now.tv_nsec;
}

PLAIN static uint64_t read_clock(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return now_ns(CLOCK_MONOTONIC);
#endif
}

/* The sink is on the thread's own stack: threads that share one measure that. */
__attribute__((noinline)) static void function(volatile uint64_t *sink, uint64_t i)
{
	*sink = i;
}

PLAIN static void *run_calls(void *ns)
{
	volatile uint64_t sink;
	const uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint64_t i = 0; i < calls; i++)
		function(&sink, i);
	*(uint64_t *)ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	return NULL;
}

PLAIN static void *run_reads(void *ns)
{
	volatile uint64_t sink;
	const uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
	for (uint64_t i = 0; i < calls; i++) {
		sink = read_clock();
		sink = read_clock() + i;
	}
	(void)sink;
	*(uint64_t *)ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
	return NULL;
}

/* ns of one round of the loop. */
PLAIN static double run(void *(*body)(void *), int threads)
{
	uint64_t own = 0, others = 0;
	pthread_t other;
	if (threads > 1 && pthread_create(&other, NULL, body, &others) != 0)
		exit(1);
	body(&own);
	if (threads > 1)
		pthread_join(other, NULL);
	return (double)(own + others) / (double)calls / threads;
}

PLAIN static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

PLAIN static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, by_value);
	return values[count / 2];
}

PLAIN int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 7;
	calls = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
	if (rounds < 1 || rounds > ROUNDS_MOST || !calls)
		return 2;
	run(run_calls, 1); /* the ring is filled once */
	for (int threads = 1; threads <= 2; threads++) {
		double ns[ROUNDS_MOST], ratios[ROUNDS_MOST];
		for (long i = 0; i < rounds; i++) {
			const double clock = run(run_reads, threads);
			ns[i] = run(run_calls, threads);
			ratios[i] = ns[i] / clock;
		}
		printf("  %8.2f %6.1f", median(ratios, (int)rounds), median(ns, (int)rounds));
	}
	printf("\n");
	return 0;
}
