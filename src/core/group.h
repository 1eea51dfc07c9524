/* group.h - the events of a batch by their tracks, for who wants each track in order and no more. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_GROUP_H
#define CORE_GROUP_H

#include "core/calls.h"

enum { TW_GROUP_EVENTS = 512 };

/* Where threads take turns, few events in a row are of one track; of a batch there are many. All zero to begin. */
struct tw_group {
	uint16_t *last; /* by track: its last event so far, plus 1 */
	size_t track_room;
	uint16_t first[TW_GROUP_EVENTS]; /* of each track that has events: plus 1 */
	uint16_t next[TW_GROUP_EVENTS];  /* by event: the next of its track, plus 1; 0: there is none */
	size_t count;                    /* tracks */
};

/* Groups the first events of those. Returns how many; 0 when there is no memory. */
size_t tw_group_events(struct tw_group *group, const struct tw_event *events, size_t count);

/* Makes a run of up to TW_RUN_ITEMS events of a track; *at is the first of them, plus 1, and becomes the one behind
 * them, or 0. */
void tw_group_run(const struct tw_group *group, const struct tw_event *events, uint32_t *at, struct tw_call_item *items,
                  struct tw_call_run *run);

void tw_group_free(struct tw_group *group);

#endif
