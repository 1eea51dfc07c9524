/* group.c - the events of a batch by their tracks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/group.h"

#include <stdlib.h>

#include "base/memory.h"

/* Nothing is remembered of the events before. */
static bool prepare(struct tw_group *group, const struct tw_event *events, size_t count)
{
	uint32_t highest = 0;
	group->count = 0;
	for (size_t i = 0; i < count; i++)
		highest = events[i].track > highest ? events[i].track : highest;
	return tw_grow(&group->last, &group->track_room, highest + (size_t)1, sizeof *group->last);
}

size_t tw_group_events(struct tw_group *group, const struct tw_event *events, size_t count)
{
	count = count < TW_GROUP_EVENTS ? count : TW_GROUP_EVENTS;
	if (!prepare(group, events, count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		uint16_t *last = &group->last[events[i].track];
		uint16_t *place = *last ? &group->next[*last - 1] : &group->first[group->count++];
		*place = *last = (uint16_t)(i + 1);
		group->next[i] = 0;
	}
	for (size_t i = 0; i < group->count; i++)
		group->last[events[group->first[i] - 1].track] = 0;
	return count;
}

void tw_group_run(const struct tw_group *group, const struct tw_event *events, uint32_t *at, struct tw_call_item *items,
                  struct tw_call_run *run)
{
	*run = (struct tw_call_run){.track = events[*at - 1].track, .items = items};
	while (*at && run->count < TW_RUN_ITEMS) {
		const struct tw_event *event = &events[*at - 1];
		*at = group->next[*at - 1];
		if (tw_is_call(event))
			items[run->count++] = tw_call_item_of(event);
		/* As in tw_calls_make_run(). */
		run->last = tw_is_call(event) ? 0 : event->time > run->last ? event->time : run->last;
	}
}

void tw_group_free(struct tw_group *group)
{
	free(group->last);
	*group = (struct tw_group){0};
}
