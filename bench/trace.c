/* trace.c - what an event of libtrackway_trace costs: thread CPU time, as ratios to two reads of the clock.
 *
 * trace PATH ROUNDS EVENTS: files of recordings at PATH; EVENTS of each kind, ROUNDS times in turn, of which the median
 * counts. Before each measurement runs the loop that it is held against. With WITH_LTTNG also events of LTTng-UST: the
 * session is made by bench/trace. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <trackway/trace.h>

#ifdef WITH_LTTNG
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng.h"
#endif

enum { ROUNDS_MOST = 99, NS_OF_SECOND = 1000000000, LONG_NS = 5000, GAPS_NS = 100000000, GIVEN_AT = 240 };

static uint64_t events;
static __thread volatile uint64_t sink; /* a line that two threads write is slow whoever traces */
static FILE *null;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_OF_SECOND + (uint64_t)now.tv_nsec;
}

/* The recorder has the same one, whatever the kernel's is: otherwise the difference of two clocks would be measured. */
#if defined(__x86_64__)
#define read_clock() __builtin_ia32_rdtsc()
#define CLOCK_OPTION ",clock=tsc"
#else
#define read_clock() now_ns(CLOCK_MONOTONIC)
#define CLOCK_OPTION ",clock=monotonic"
#endif

/* ---- What is measured: each does it once. ---- */

static void two_reads(uint64_t i)
{
	sink = read_clock();
	sink = read_clock() + i;
}

static void two_gettimes(uint64_t i)
{
	sink = now_ns(CLOCK_MONOTONIC);
	sink = now_ns(CLOCK_MONOTONIC) + i;
}

static void nothing(uint64_t i)
{
	sink = i;
}

static void disabled(uint64_t i)
{
	TW_TRACE_DURATION("off", "disabled");
	sink = i;
}

static void duration(uint64_t i)
{
	TW_TRACE_DURATION("on", "duration");
	sink = i;
}

static void duration_1(uint64_t i)
{
	TW_TRACE_DURATION("on", "duration", TW_U64("i", i));
	sink = i;
}

static void duration_2(uint64_t i)
{
	TW_TRACE_DURATION("on", "duration", TW_U64("i", i), TW_I32("j", 1));
	sink = i;
}

static void instant(uint64_t i)
{
	TW_TRACE_INSTANT("on", "instant", TW_SCOPE_THREAD);
	sink = i;
}

static void counter(uint64_t i)
{
	TW_TRACE_COUNTER("on", "counter", 0, TW_U64("i", i));
	sink = i;
}

static void print(uint64_t i)
{
	fprintf(null, "%" PRIu64 " duration %" PRIu64 "\n", (uint64_t)read_clock(), i);
}

#ifdef WITH_LTTNG
static void lttng_pair(uint64_t i)
{
	lttng_ust_tracepoint(trackway_bench, begin);
	sink = i;
	lttng_ust_tracepoint(trackway_bench, end);
}

static void lttng_1(uint64_t i)
{
	lttng_ust_tracepoint(trackway_bench, argument, i);
	sink = i;
}

static void lttng_2(uint64_t i)
{
	lttng_ust_tracepoint(trackway_bench, arguments, i, 1);
	sink = i;
}

static void lttng_off(uint64_t i)
{
	lttng_ust_tracepoint(trackway_bench, off);
	sink = i;
}

#define X_LTTNG(X)                                                                                                     \
	X(lttng_off, "LTTng-UST, event off")                                                                           \
	X(lttng_pair, "LTTng-UST, begin and end")                                                                      \
	X(lttng_1, "LTTng-UST, 1 argument")                                                                            \
	X(lttng_2, "LTTng-UST, 2 arguments")
#else
#define X_LTTNG(X)
#endif

typedef void once_fn(uint64_t i);

/* One loop for all of them: the compiler makes a copy for each. */
static inline __attribute__((always_inline)) uint64_t loop(once_fn *once)
{
	uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID), rounds = events;
	for (uint64_t i = 0; i < rounds; i++)
		once(i);
	return now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

#define X_ALL(X)                                                                                                       \
	X(two_reads, "two reads of the clock")                                                                         \
	X(two_gettimes, "two clock_gettime()")                                                                         \
	X(nothing, "an empty loop")                                                                                    \
	X(disabled, "duration, category off")                                                                          \
	X(duration, "duration")                                                                                        \
	X(duration_1, "duration, 1 argument")                                                                          \
	X(duration_2, "duration, 2 arguments")                                                                         \
	X(instant, "instant")                                                                                          \
	X(counter, "counter")                                                                                          \
	X(print, "fprintf() to /dev/null")                                                                             \
	X_LTTNG(X)

#define X(name, text)                                                                                                  \
	static void *run_##name(void *ns)                                                                              \
	{                                                                                                              \
		*(uint64_t *)ns = loop(name);                                                                          \
		return NULL;                                                                                           \
	}
X_ALL(X)
#undef X

/* How many pauses between two rounds are beyond 5 us, in a tenth of a second. */
static inline __attribute__((always_inline)) uint64_t count_gaps(once_fn *once)
{
	uint64_t gaps = 0, before = now_ns(CLOCK_MONOTONIC), end = before + GAPS_NS;
	for (uint64_t i = 0; before < end; i++) {
		once(i);
		uint64_t now = now_ns(CLOCK_MONOTONIC);
		gaps += now - before > LONG_NS;
		before = now;
	}
	return gaps;
}

static void *gaps_empty(void *gaps)
{
	*(uint64_t *)gaps += count_gaps(nothing);
	return NULL;
}

static void *gaps_traced(void *gaps)
{
	*(uint64_t *)gaps += count_gaps(duration);
	return NULL;
}

/* ---- Rounds. ---- */

/* What a body counts on some threads at once, in all. */
static uint64_t run_threads(void *(*body)(void *), int threads)
{
	uint64_t counts[2] = {0, 0};
	pthread_t other;
	if (threads > 1 && pthread_create(&other, NULL, body, &counts[1]) != 0)
		exit(1);
	body(&counts[0]);
	if (threads > 1)
		pthread_join(other, NULL);
	return counts[0] + counts[1];
}

/* CPU time of one event in ns. */
static double run(void *(*body)(void *), int threads)
{
	return (double)run_threads(body, threads) / (double)events / threads;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, by_value);
	return values[count / 2];
}

struct recording {
	const char *path, *options;
	bool again; /* the ring is filled once before */
};

static double run_recorded(const struct recording *recording, void *(*body)(void *), int threads)
{
	char file[4096];
	if (tw_trace_start(recording->path, recording->options) != 0 || !tw_trace_file(file, sizeof file))
		exit(1);
	if (recording->again)
		run(body, threads);
	double ns = run(body, threads);
	tw_trace_stop();
	if (tw_trace_dropped())
		fprintf(stderr, "%" PRIu64 " events were dropped\n", tw_trace_dropped());
	unlink(file);
	return ns;
}

static void measure(const struct recording *recording, const char *name, void *(*body)(void *), int threads, int rounds)
{
	double ns[ROUNDS_MOST], ratios[ROUNDS_MOST], beyond[ROUNDS_MOST];
	for (int i = 0; i < rounds; i++) {
		double clock = run(run_two_reads, threads);
		ns[i] = run_recorded(recording, body, threads);
		ratios[i] = ns[i] / clock;
		beyond[i] = ns[i] - clock;
	}
	printf("%-24s %8.2f %8.1f %8.1f\n", name, median(ratios, rounds), median(ns, rounds), median(beyond, rounds));
	fflush(stdout);
}

/* Chunks that an image has handed out: doc/recording.md, "The image". */
static uint64_t read_given(const char *path)
{
	uint64_t given = 0;
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, GIVEN_AT, SEEK_SET) != 0 || fread(&given, sizeof given, 1, file) != 1)
		exit(1);
	fclose(file);
	return given;
}

/* The loops take turns: whoever else has the processors meanwhile interrupts both. */
static void compare_gaps(const struct recording *recording, int threads, int rounds)
{
	uint64_t empty = 0, traced = 0;
	char file[4096];
	if (tw_trace_start(recording->path, recording->options) != 0 || !tw_trace_file(file, sizeof file))
		exit(1);
	if (recording->again)
		run_threads(gaps_traced, threads);
	uint64_t before = read_given(file);
	for (int i = 0; i < rounds; i++) {
		empty += run_threads(gaps_empty, threads);
		traced += run_threads(gaps_traced, threads);
	}
	printf("gaps of more than 5 us in %.1f s: %" PRIu64 " of an empty loop, %" PRIu64
	       " with a duration, and %" PRIu64 " chunks handed out\n",
	       rounds * (double)GAPS_NS / NS_OF_SECOND, empty, traced, read_given(file) - before);
	tw_trace_stop();
	unlink(file);
}

int main(int argc, char **argv)
{
	static const char *const memory[] = {"memory used again", "new memory"};
	long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 7;
	events = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000000;
	null = fopen("/dev/null", "w");
	if (argc < 2 || !null || rounds < 1 || rounds > ROUNDS_MOST || !events)
		return 2;
	for (int i = 0; i < 2; i++)
		for (int threads = 1; threads <= 2; threads++) {
			const struct recording recording = {argv[1],
			                                    i ? "mode=streaming,category=on" CLOCK_OPTION
			                                      : "mode=circular,size=1M,category=on" CLOCK_OPTION,
			                                    i == 0};
			printf("%s, %d thread%s\n%-24s %8s %8s %8s\n", memory[i], threads, threads > 1 ? "s" : "", "",
			       "RATIO", "NS", "BEYOND");
#define X(name, text) measure(&recording, text, run_##name, threads, (int)rounds);
			X_ALL(X)
#undef X
			compare_gaps(&recording, threads, (int)rounds);
		}
	return 0;
}
