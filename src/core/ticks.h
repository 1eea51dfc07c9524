/* ticks.h - ticks to nanoseconds, exactly and without a division in the common case. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TICKS_H
#define CORE_TICKS_H

#include <stdbool.h>
#include <stdint.h>

/* The time of a tick count is floor(ticks * 10^9 / frequency). Near a base it is a multiplication by nanoseconds per
 * tick, a whole number and 2^-64ths: those are rounded up, which adds less than 1 / frequency as long as a count is
 * near. */
struct tw_ticks {
	uint64_t frequency; /* ticks per second, 1 to TW_FREQUENCY_MAX */
	uint64_t whole, part;
	uint64_t base_tsc, base_ns, base_part;
	uint64_t
	    near; /* ticks after the base for which that is exact, and neither count nor time goes beyond 64 bits */
};

#define TW_FREQUENCY_MAX UINT64_C(1000000000000)
#define TW_NS_PER_SECOND UINT64_C(1000000000)

/* numerator / frequency in 2^-64ths, rounded up; numerator is less than frequency. */
static inline uint64_t tw_ticks_part(const struct tw_ticks *clock, uint64_t numerator)
{
	__extension__ typedef unsigned __int128 wide;
	return (uint64_t)((((wide)numerator << 64) + clock->frequency - 1) / clock->frequency);
}

/* Moves the base to a tick count; times beyond 64 bits stay at the end. */
static inline void tw_ticks_move(struct tw_ticks *clock, uint64_t tsc)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)tsc * TW_NS_PER_SECOND;
	wide ns = product / clock->frequency;
	uint64_t exact = UINT64_MAX / clock->frequency - 1, left = UINT64_MAX - tsc;
	exact = exact < UINT32_MAX ? exact : UINT32_MAX;
	clock->near = ns > UINT64_MAX / 2 ? 0 : exact < left ? exact : left;
	clock->base_tsc = tsc;
	clock->base_ns = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
	clock->base_part = tw_ticks_part(clock, (uint64_t)(product % clock->frequency));
}

static inline void tw_ticks_set(struct tw_ticks *clock, uint64_t frequency)
{
	*clock = (struct tw_ticks){.frequency = frequency, .whole = TW_NS_PER_SECOND / frequency};
	clock->part = tw_ticks_part(clock, TW_NS_PER_SECOND % frequency);
	tw_ticks_move(clock, 0);
}

/* The time of a count that is `ticks` after the base, and near. `whole` is the clock's, for loops that know it. */
static inline uint64_t tw_ticks_ns_after(const struct tw_ticks *clock, uint64_t ticks, uint64_t whole)
{
	__extension__ typedef unsigned __int128 wide;
	wide more = (wide)ticks * clock->part;
	/* A sum of 128 bits would go through memory: gcc 12 does not keep it in registers. */
	uint64_t carried = (uint64_t)more + clock->base_part < clock->base_part;
	return clock->base_ns + ticks * whole + (uint64_t)(more >> 64) + carried;
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
	    .time =
		((wide)(clock->base_ns + clock->whole * ticks) << 64) + (wide)clock->part * ticks + clock->base_part,
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
