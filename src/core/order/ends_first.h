/* ends_first.h - an end goes before complete slices of its time, for targets with one stack a track. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ORDER_ENDS_FIRST_H
#define CORE_ORDER_ENDS_FIRST_H

#include "core/order/rows.h"

/* Rows of the last time wait for the next batch: an end of that time may still come. All zero to begin. */
struct tw_ends_first {
	struct tw_event_rows held;
	struct tw_event_rows ready; /* the same, in the order in which they are handed on */
	struct tw_row_batch made;
	struct tw_moved_row *tied; /* while they are put in order */
	struct tw_begun_row *begun;
	const struct tw_event **slices;
	size_t tied_room, begun_room, slice_room;
};

/* Takes a batch in place of the caller. Returns 0 or a negative status. */
typedef int (*tw_hand_on_fn)(void *context, const struct tw_batch *batch);

/* Hands a batch on, and what was held before it. Where an end stands behind complete slices of its time and track that
 * go on, and no slice began in between that has no end, it goes before them; the complete slices stand the longest
 * first, as in tw_equal_times_nest(). All else keeps its order. Returns 0, TW_ERR_MEMORY, or what `hand_on` returns. */
int tw_ends_first_take(struct tw_ends_first *ends, const struct tw_batch *batch, tw_hand_on_fn hand_on, void *context);

/* Hands on what is held. */
int tw_ends_first_finish(struct tw_ends_first *ends, tw_hand_on_fn hand_on, void *context);

void tw_ends_first_free(struct tw_ends_first *ends);

#endif
