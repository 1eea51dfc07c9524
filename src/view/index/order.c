/* order.c - whether events come in the order that an index needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/order.h"

#include "base/memory/memory.h"
#include "core/calls/calls.h"

#include <stdlib.h>

static bool is_shared(const struct tw_event *event)
{
	enum { SHARED = 1 << TW_COUNTER | 1 << TW_ASYNC_BEGIN | 1 << TW_ASYNC_END | 1 << TW_SWITCH | 1 << TW_WAKEUP };
	return SHARED >> event->kind & 1;
}

static bool follows(uint64_t *latest, uint64_t time)
{
	if (time < *latest)
		return false;
	*latest = time;
	return true;
}

bool view_order_holds(struct view_order *order, const struct tw_batch *batch, uint64_t start)
{
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		if (!tw_goes_on(event) || event->kind == TW_LOST)
			continue;
		if (event->time < start || (is_shared(event) && !follows(&order->shared, event->time)) ||
		    (event->track >= order->room &&
		     !tw_grow(&order->latest, &order->room, (size_t)event->track + 1, sizeof *order->latest)) ||
		    !follows(&order->latest[event->track], event->time))
			return false;
	}
	return true;
}

void view_order_free(struct view_order *order)
{
	free(order->latest);
	*order = (struct view_order){0};
}
