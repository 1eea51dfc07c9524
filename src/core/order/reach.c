/* reach.c - whether any event comes later than a window reaches that chunks of a trace go through. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order/reach.h"

/* The oldest chunk is given out as soon as those behind it fill the window. */
static void leave_behind(struct tw_reach *reach)
{
	const struct tw_reached *oldest = &reach->held[reach->first % TW_ORDER_SLABS];
	while (reach->count && (reach->held_bytes - oldest->bytes >= reach->window || reach->count == TW_ORDER_SLABS)) {
		reach->timed_behind |= oldest->latest > 0;
		reach->behind = oldest->latest > reach->behind ? oldest->latest : reach->behind;
		reach->held_bytes -= oldest->bytes;
		reach->count--;
		oldest = &reach->held[++reach->first % TW_ORDER_SLABS];
	}
}

/* Slices of one time stand the longest first: so one of the same time comes late, too. */
void tw_reach_take(struct tw_reach *reach, uint64_t bytes, uint64_t least, uint64_t latest)
{
	leave_behind(reach);
	reach->earliest = least < reach->earliest ? least : reach->earliest;
	reach->late |= reach->timed_behind && least <= reach->behind;
	reach->held[(reach->first + reach->count++) % TW_ORDER_SLABS] = (struct tw_reached){bytes, latest};
	reach->held_bytes += bytes;
}
