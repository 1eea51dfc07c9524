/* clock.c - the cheapest sound clock, and pairs of its ticks with CLOCK_MONOTONIC. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

uint64_t trace_monotonic(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)
/* CPUID 0x80000007, EDX bit 8: the counter runs at one speed, whatever the processor does. */
static const unsigned power_leaf = 0x80000007, invariant = 1 << 8;

static bool has_invariant(void)
{
	unsigned a, b, c, d;
	return __get_cpuid(power_leaf, &a, &b, &c, &d) && (d & invariant);
}

/* The kernel knows whether the counters of all processors agree. */
static bool kernel_uses_tsc(void)
{
	char word[8] = "";
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t size = read(fd, word, sizeof word - 1);
	close(fd);
	return size >= 4 && memcmp(word, "tsc\n", 4) == 0;
}
#endif

void trace_clock_choose(int wanted)
{
	trace_session.clock = IMAGE_MONOTONIC;
#if defined(__x86_64__)
	if (wanted != IMAGE_MONOTONIC && has_invariant() && (wanted == IMAGE_TSC || kernel_uses_tsc()))
		trace_session.clock = IMAGE_TSC;
#elif defined(__aarch64__)
	if (wanted != IMAGE_MONOTONIC)
		trace_session.clock = IMAGE_CNTVCT;
#else
	(void)wanted;
#endif
}

/* The best of a few: between the two readings of the ticks the thread may have waited. */
struct image_pair trace_pair(void)
{
	enum { TRIES = 5, GOOD = 200 };
	struct image_pair best = {0, 0};
	uint64_t least = UINT64_MAX;
	if (trace_session.clock == IMAGE_MONOTONIC) {
		uint64_t now = trace_monotonic();
		return (struct image_pair){now, now};
	}
	for (int i = 0; i < TRIES && least > GOOD; i++) {
		uint64_t before = trace_now(), ns = trace_monotonic(), gap = trace_now() - before;
		if (gap < least) {
			least = gap;
			best = (struct image_pair){before + gap / 2, ns};
		}
	}
	return best;
}

uint64_t trace_frequency(void)
{
	enum { LONG_ENOUGH = 300000 };
	if (trace_session.clock == IMAGE_MONOTONIC)
		return 1000000000;
	struct image_pair from = trace_pair(), to;
	do
		to = trace_pair();
	while (to.ns - from.ns < LONG_ENOUGH);
	return (uint64_t)((double)(to.ticks - from.ticks) * 1e9 / (double)(to.ns - from.ns) + 0.5);
}
