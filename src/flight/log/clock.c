/* clock.c - the clocks of a log: which one counts its times, and what the others say beside it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/clock.h"

#include "flight/system.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool flight_ticks_are_sound(void)
{
#if defined(__x86_64__)
	enum { INVARIANT = 1 << 8 };
	unsigned a, b, c, d = 0;
	char name[8] = {0};
	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & INVARIANT))
		return false;
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
	bool sound = fd >= 0 && read(fd, name, sizeof name) >= 4 && memcmp(name, "tsc\n", 4) == 0;
	if (fd >= 0)
		close(fd);
	return sound;
#else
	return true; /* CNTVCT_EL0 is architected so */
#endif
}

uint64_t flight_kernel_time(clockid_t clock)
{
	struct timespec now = {0};
	if (flight_call(SYS_clock_gettime, clock, (long)&now, 0, 0) < 0) /* a filter forbids it */
		clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * FLIGHT_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t flight_now(void)
{
	if (!flight_log->ticks) {
		struct timespec now;
		clock_gettime(CLOCK_MONOTONIC, &now); /* the kernel's own code, which has no vector instructions */
		return (uint64_t)now.tv_sec * FLIGHT_SECOND + (uint64_t)now.tv_nsec;
	}
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

struct flight_clock flight_clocks(void)
{
	struct flight_clock clock = {.raw_ns = flight_kernel_time(CLOCK_MONOTONIC_RAW), .ticks = flight_now()};
	clock.monotonic_ns = flight_kernel_time(CLOCK_MONOTONIC);
	clock.realtime_ns = flight_kernel_time(CLOCK_REALTIME);
	return clock;
}

void flight_note_pair(struct flight_log *log, uint64_t now)
{
	struct flight_pairs *pairs = &log->pairs;
	if (now < __atomic_load_n(&pairs->due, __ATOMIC_RELAXED) ||
	    __atomic_exchange_n(&pairs->busy, 1, __ATOMIC_ACQUIRE))
		return;
	const struct flight_clock clock = flight_clocks();
	if (clock.ticks >= pairs->due)
		flight_add_pair(pairs, &clock);
	__atomic_store_n(&pairs->busy, 0, __ATOMIC_RELEASE);
}

enum { FREQUENCY_AT = 8 }; /* in the header */

uint64_t flight_frequency(const struct flight_log *log)
{
	return __atomic_load_n((const uint64_t *)(log->base + FREQUENCY_AT), __ATOMIC_RELAXED);
}

void flight_note_clock(struct flight_log *log)
{
	struct flight_clock first = log->state->first, now = flight_clocks();
	uint64_t ticks = now.ticks - first.ticks, ns = now.raw_ns - first.raw_ns;
	if (!ns || ns < log->state->last.raw_ns - first.raw_ns)
		return;
	log->state->last = now;
	for (; ns >> 33; ns >>= 1) /* so that the product fits */
		ticks >>= 1;
	const uint64_t frequency =
	    log->ticks ? ticks / ns * FLIGHT_SECOND + ticks % ns * FLIGHT_SECOND / ns : FLIGHT_SECOND;
	__atomic_store_n((uint64_t *)(log->base + FREQUENCY_AT), frequency, __ATOMIC_RELAXED);
}
