/* pairs.c - the clocks beside each other, now and then: as many for an hour as for a day. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/pairs.h"

/* Ticks of 0 tell a reader that the rest is not there yet. */
static void put(struct flight_clock *to, const struct flight_clock *clock)
{
	__atomic_store_n(&to->ticks, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	to->raw_ns = clock->raw_ns;
	to->monotonic_ns = clock->monotonic_ns;
	to->realtime_ns = clock->realtime_ns;
	__atomic_store_n(&to->ticks, clock->ticks, __ATOMIC_RELEASE);
}

/* The first of two goes: that of the log's start is kept elsewhere. */
static void thin(struct flight_pairs *pairs)
{
	static const struct flight_clock none;
	const uint32_t kept = pairs->count / 2;
	for (uint32_t i = 0; i < kept; i++)
		put(&pairs->at[i], &pairs->at[2 * i + 1]);
	for (uint32_t i = kept; i < pairs->count; i++)
		put(&pairs->at[i], &none);
	pairs->count = kept;
	pairs->step *= 2;
}

void flight_add_pair(struct flight_pairs *pairs, const struct flight_clock *clock)
{
	put(&pairs->at[pairs->count++], clock);
	if (pairs->count == FLIGHT_PAIRS)
		thin(pairs);
	pairs->due = clock->ticks + pairs->step;
}
