/* clock.h - ticks to nanoseconds, exactly and without a division in the common case. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_CLOCK_H
#define FDR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The time of a tick count is floor(ticks * 10^9 / frequency). Near a base it is a multiplication by nanoseconds per tick, a
 * whole number and 2^-64ths: those are rounded up, which adds less than 1 / frequency as long as a count is near. */
struct fdr_clock {
	uint64_t frequency; /* ticks per second, 1 to FDR_FREQUENCY_MAX */
	uint64_t whole, part;
	uint64_t base_tsc, base_ns, base_part;
	uint64_t
	    near; /* ticks after the base for which that is exact, and neither count nor time goes beyond 64 bits */
};

#define FDR_FREQUENCY_MAX UINT64_C(1000000000000)
#define FDR_NS_PER_SECOND UINT64_C(1000000000)

/* numerator / frequency in 2^-64ths, rounded up; numerator is less than frequency. */
static inline uint64_t fdr_clock_part(const struct fdr_clock *clock, uint64_t numerator)
{
	__extension__ typedef unsigned __int128 wide;
	return (uint64_t)((((wide)numerator << 64) + clock->frequency - 1) / clock->frequency);
}

/* Moves the base to a tick count; times beyond 64 bits stay at the end. */
static inline void fdr_clock_move(struct fdr_clock *clock, uint64_t tsc)
{
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)tsc * FDR_NS_PER_SECOND;
	wide ns = product / clock->frequency;
	uint64_t exact = UINT64_MAX / clock->frequency - 1, left = UINT64_MAX - tsc;
	exact = exact < UINT32_MAX ? exact : UINT32_MAX;
	clock->near = ns > UINT64_MAX / 2 ? 0 : exact < left ? exact : left;
	clock->base_tsc = tsc;
	clock->base_ns = ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
	clock->base_part = fdr_clock_part(clock, (uint64_t)(product % clock->frequency));
}

static inline void fdr_clock_set(struct fdr_clock *clock, uint64_t frequency)
{
	*clock = (struct fdr_clock){.frequency = frequency, .whole = FDR_NS_PER_SECOND / frequency};
	clock->part = fdr_clock_part(clock, FDR_NS_PER_SECOND % frequency);
	fdr_clock_move(clock, 0);
}

/* The time of a count that is `ticks` after the base, and near. `whole` is the clock's, for loops that know it. */
static inline uint64_t fdr_ns_after(const struct fdr_clock *clock, uint64_t ticks, uint64_t whole)
{
	__extension__ typedef unsigned __int128 wide;
	wide base = (wide)clock->base_ns << 64 | clock->base_part;
	return ticks * whole + (uint64_t)((base + (wide)ticks * clock->part) >> 64);
}

static inline uint64_t fdr_ns(struct fdr_clock *clock, uint64_t tsc)
{
	if (__builtin_expect(tsc - clock->base_tsc > clock->near, 0))
		fdr_clock_move(clock, tsc);
	return fdr_ns_after(clock, tsc - clock->base_tsc, clock->whole);
}

#endif
