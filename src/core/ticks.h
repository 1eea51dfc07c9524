/* ticks.h - ticks to nanoseconds, exactly and without a division in the common case. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TICKS_H
#define CORE_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* The time of a tick count is floor(ticks * 10^9 / frequency). From a base on whose time is a whole number it is a
 * multiplication by nanoseconds per tick, a whole number and 2^-64ths: those are rounded up, which adds less than
 * 1 / frequency as long as a count is near. */
struct tw_ticks {
	uint64_t frequency; /* ticks per second, 1 to TW_FREQUENCY_MAX */
	uint64_t whole, part;
	uint64_t period; /* ticks from one count whose time is a whole number to the next */
	uint64_t most;   /* ticks for which that is exact, with a time that is half of all at most */
	uint64_t base_tsc, base_ns;
	/* Ticks after the base that are near; 0 where none can be told so, and the base is the count itself. */
	uint64_t near;
};

#define TW_FREQUENCY_MAX UINT64_C(1000000000000)
#define TW_NS_PER_SECOND UINT64_C(1000000000)

/* Moves the base to a tick count or the last one before it whose time is a whole number; times beyond 64 bits stay at
 * the end. */
static inline void tw_ticks_move(struct tw_ticks *clock, uint64_t tsc)
{
	__extension__ typedef unsigned __int128 wide;
	bool far = (wide)tsc * TW_NS_PER_SECOND / clock->frequency > UINT64_MAX / 2 || clock->period > clock->most;
	clock->base_tsc = far ? tsc : tsc - tsc % clock->period;
	wide ns = (wide)clock->base_tsc * TW_NS_PER_SECOND / clock->frequency;
	uint64_t left = UINT64_MAX - clock->base_tsc;
	clock->near = far ? 0 : clock->most < left ? clock->most : left;
	clock->base_ns = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static inline uint64_t tw_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static inline void tw_ticks_set(struct tw_ticks *clock, uint64_t frequency)
{
	__extension__ typedef unsigned __int128 wide;
	*clock = (struct tw_ticks){.frequency = frequency, .whole = TW_NS_PER_SECOND / frequency};
	wide fraction = TW_NS_PER_SECOND % frequency;
	clock->part = (uint64_t)(((fraction << 64) + frequency - 1) / frequency);
	clock->period = frequency / tw_common_divisor(frequency, TW_NS_PER_SECOND);
	uint64_t exact = UINT64_MAX / frequency - 1, half = UINT64_MAX / 2 / (clock->whole + 1);
	clock->most = exact < half ? exact : half;
	tw_ticks_move(clock, 0);
}

/* The time of a count that is `ticks` after the base, and near. `whole` is the clock's, for loops that know it. */
static inline uint64_t tw_ticks_ns_after(const struct tw_ticks *clock, uint64_t ticks, uint64_t whole)
{
	__extension__ typedef unsigned __int128 wide;
	return clock->base_ns + ticks * whole + (uint64_t)((wide)ticks * clock->part >> 64);
}

static inline uint64_t tw_ticks_ns(struct tw_ticks *clock, uint64_t tsc)
{
	if (__builtin_expect(tsc - clock->base_tsc > clock->near, 0))
		tw_ticks_move(clock, tsc);
	return tw_ticks_ns_after(clock, tsc - clock->base_tsc, clock->whole);
}

/* A count that goes up in steps, and its time: an addition instead of a look at the base. */
struct tw_ticks_walk {
	__extension__ unsigned __int128 time; /* in 2^-64ths */
	uint64_t left;                        /* ticks that it may still go up */
};

static inline struct tw_ticks_walk tw_ticks_walk(struct tw_ticks *clock, uint64_t tsc)
{
	__extension__ typedef unsigned __int128 wide;
	if (tsc - clock->base_tsc > clock->near)
		tw_ticks_move(clock, tsc);
	uint64_t ticks = tsc - clock->base_tsc;
	return (struct tw_ticks_walk){
	    .time = ((wide)(clock->base_ns + clock->whole * ticks) << 64) + (wide)clock->part * ticks,
	    .left = clock->near - ticks,
	};
}

/* Goes on. False when the ticks are not there. whole and part are the clock's. */
static inline bool tw_ticks_step(struct tw_ticks_walk *walk, uint64_t ticks, uint64_t whole, uint64_t part)
{
	__extension__ typedef unsigned __int128 wide;
	if (__builtin_sub_overflow(walk->left, ticks, &walk->left)) {
		walk->left += ticks;
		return false;
	}
	walk->time += (wide)ticks * part;
	walk->time += (wide)(ticks * whole) << 64;
	return true;
}

static inline uint64_t tw_ticks_walked(const struct tw_ticks_walk *walk)
{
	return (uint64_t)(walk->time >> 64);
}

/* The least tick count whose time, rounded down as tw_ticks_ns() does, is not before ns. */
static inline uint64_t tw_ticks_of(uint64_t ns, uint64_t frequency)
{
	__extension__ typedef unsigned __int128 wide;
	wide ticks = ((wide)ns * frequency + TW_NS_PER_SECOND - 1) / TW_NS_PER_SECOND;
	return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

#endif
