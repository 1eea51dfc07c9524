/* order.c - whether events come in the order that an index needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/order.h"

#include "base/memory/memory.h"
#include "core/calls/calls.h"

#include <stdlib.h>

static bool follows(uint64_t *latest, uint64_t time)
{
	if (time < *latest)
		return false;
	*latest = time;
	return true;
}

static bool follows_on_track(struct view_latest *latest, const struct tw_event *event)
{
	return (event->track < latest->room ||
	        tw_grow(&latest->items, &latest->room, (size_t)event->track + 1, sizeof *latest->items)) &&
	       follows(&latest->items[event->track], event->time);
}

enum view_order view_order_kept(struct view_latest *latest, const struct tw_batch *batch, uint64_t start,
                                enum view_order asked)
{
	enum view_order kept = asked;
	for (size_t i = 0; i < batch->count && kept != VIEW_NO_ORDER; i++) {
		const struct tw_event *event = &batch->events[i];
		if (!tw_goes_on(event) || event->kind == TW_LOST)
			continue;
		if (event->time < start ||
		    (asked == VIEW_ORDER_OF_ROWS && view_is_shared(event) && !follows(&latest->shared, event->time)))
			kept = asked - 1;
		if (!follows_on_track(latest, event))
			kept = VIEW_NO_ORDER;
	}
	return kept;
}

void view_latest_free(struct view_latest *latest)
{
	free(latest->items);
	*latest = (struct view_latest){0};
}
