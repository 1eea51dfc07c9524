/* reach.h - whether any event comes later than a window reaches that chunks of a trace go through. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ORDER_REACH_H
#define CORE_ORDER_REACH_H

#include "core/order/slab.h"

/* All zero to begin, but `window` and `earliest`. */
struct tw_reach {
	uint64_t window;   /* bytes */
	uint64_t earliest; /* UINT64_MAX: nothing has a time */
	struct tw_reached {
		uint64_t bytes, latest;
	} held[TW_ORDER_SLABS]; /* chunk number n is held[n % TW_ORDER_SLABS] */
	uint64_t first, count;  /* number of the oldest that the window reaches over, and how many */
	uint64_t held_bytes;    /* of these */
	uint64_t behind;        /* the latest time of those before */
	bool timed_behind;      /* there is one */
	bool late;
};

/* Takes the times of the next chunk; UINT64_MAX and 0 where it has none. */
void tw_reach_take(struct tw_reach *reach, uint64_t bytes, uint64_t least, uint64_t latest);

#endif
