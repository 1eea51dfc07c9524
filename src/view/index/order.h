/* order.h - whether events come in the order that an index needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_ORDER_H
#define VIEW_INDEX_ORDER_H

#include <trackway/event.h>

#include <stdbool.h>

/* The order that events come in, each more than the one before: of a row none behind a later one, and of all none
 * before the start. Tracks share the rows of counters, operations and CPUs. */
enum view_order { VIEW_NO_ORDER, VIEW_ORDER_OF_TRACKS, VIEW_ORDER_OF_ROWS };

/* The latest times so far. All zero to begin. */
struct view_latest {
	uint64_t *items; /* by the reader's track */
	size_t room;
	uint64_t shared; /* on rows that tracks share */
};

static inline bool view_is_shared(const struct tw_event *event)
{
	enum { SHARED = 1 << TW_COUNTER | 1 << TW_ASYNC_BEGIN | 1 << TW_ASYNC_END | 1 << TW_SWITCH | 1 << TW_WAKEUP };
	return SHARED >> event->kind & 1;
}

/* Returns the order that a batch keeps, at most the one that is asked for. */
enum view_order view_order_kept(struct view_latest *latest, const struct tw_batch *batch, uint64_t start,
                                enum view_order asked);
void view_latest_free(struct view_latest *latest);

#endif
