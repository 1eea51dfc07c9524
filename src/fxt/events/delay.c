/* delay.c - archives that are written thread by thread: records of one, then of the next, which begins as early. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/calls/calls.h"
#include "fxt/events/events.h"

/* What a thread is called may stand long before its first event. */
static bool meet(struct fxt_delays *delays, const struct tw_event *event)
{
	if (!tw_grow(&delays->items, &delays->room, (size_t)event->track + 1, sizeof *delays->items))
		return false;
	struct fxt_delay *delay = &delays->items[event->track];
	if (delay->known || !tw_goes_on(event))
		return true;
	delay->known = true;
	delay->ns = event->time < delays->latest ? delays->latest - event->time : 0;
	return true;
}

static uint64_t delay_of(const struct fxt_delays *delays, const struct tw_event *event)
{
	return tw_goes_on(event) ? delays->items[event->track].ns : 0;
}

bool fxt_delay(struct fxt_delays *delays, struct tw_slab *slab, struct tw_slab_scratch *scratch)
{
	bool mixed = false;
	uint64_t before = 0;
	for (size_t i = 0; i < slab->count; i++) {
		struct tw_event *event = &slab->events[i];
		if (!meet(delays, event))
			return false;
		const uint64_t delay = delay_of(delays, event);
		event->time += delay;
		delays->latest = event->time > delays->latest ? event->time : delays->latest;
		mixed |= i > 0 && delay != before;
		before = delay;
	}
	if (mixed)
		tw_slab_sort(slab, scratch);
	return !slab->failed;
}

void fxt_end_delay(const struct fxt_delays *delays, struct tw_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		events[i].time -= delay_of(delays, &events[i]);
}
