/* ticks.h - ticks to nanoseconds, exactly and without a division in the common case. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TICKS_H
#define CORE_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* The time of a tick count is floor(ticks * 10^9 / frequency). Near a base the product fits 64 bits, and the division is a
 * multiplication by 2^64 / frequency with one correction. */
struct tw_ticks {
	uint64_t frequency; /* ticks per second, 1 to TW_FREQUENCY_MAX */
	uint64_t reciprocal;
	uint64_t base_tsc, base_ns, base_rest; /* base_tsc * 10^9 = base_ns * frequency + base_rest */
};

#define TW_FREQUENCY_MAX UINT64_C(1000000000000)
#define TW_NS_PER_SECOND UINT64_C(1000000000)

static inline void tw_ticks_set(struct tw_ticks *clock, uint64_t frequency)
{
	*clock = (struct tw_ticks){.frequency = frequency, .reciprocal = UINT64_MAX / frequency};
}

/* Moves the base to a tick count, or shortly before it; times beyond 64 bits stay at the end. */
static inline void tw_ticks_move(struct tw_ticks *clock, uint64_t tsc)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t last = UINT64_MAX - UINT32_MAX; /* no later base: a count that wraps to 0 must not look near it */
	tsc = tsc < last ? tsc : last;
	wide product = (wide)tsc * TW_NS_PER_SECOND;
	wide ns = product / clock->frequency;
	clock->base_tsc = tsc;
	clock->base_ns = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
	clock->base_rest = ns > UINT64_MAX ? 0 : (uint64_t)(product % clock->frequency);
}

static inline uint64_t tw_ticks_ns(struct tw_ticks *clock, uint64_t tsc)
{
	__extension__ typedef unsigned __int128 wide;
	if (__builtin_expect((tsc - clock->base_tsc) >> 32 != 0, 0))
		tw_ticks_move(clock, tsc);
	uint64_t product = (tsc - clock->base_tsc) * TW_NS_PER_SECOND + clock->base_rest;
	uint64_t ns = (uint64_t)(((wide)product * clock->reciprocal) >> 64);
	ns += product - ns * clock->frequency >= clock->frequency;
	uint64_t time = clock->base_ns + ns;
	return time < ns ? UINT64_MAX : time;
}

/* The least tick count whose time, rounded down as tw_ticks_ns() does, is not before ns. */
static inline uint64_t tw_ticks_of(uint64_t ns, uint64_t frequency)
{
	__extension__ typedef unsigned __int128 wide;
	wide ticks = ((wide)ns * frequency + TW_NS_PER_SECOND - 1) / TW_NS_PER_SECOND;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

#endif
