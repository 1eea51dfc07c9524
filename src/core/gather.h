/* gather.h - events of tracks that come by turns, gathered to runs of one track each. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_GATHER_H
#define CORE_GATHER_H

#include "core/calls.h"

/* A track's events wait in the lane of its number, modulo this, and nobody else's meanwhile: what runs there are
 * depends on the events alone, not on the batches that they come in. */
enum { TW_GATHER_LANES = 64 };

struct tw_gather_lane {
	struct tw_call_run run;
	struct tw_call_item items[TW_RUN_ITEMS];
};

/* All zero to begin. */
struct tw_gather {
	struct tw_gather_lane lanes[TW_GATHER_LANES];
};

static inline struct tw_gather_lane *tw_gather_lane_of(struct tw_gather *gather, uint32_t track)
{
	return &gather->lanes[track % TW_GATHER_LANES];
}

static inline bool tw_gather_is_empty(const struct tw_gather_lane *lane)
{
	return lane->run.count == 0 && lane->run.last == 0;
}

/* Whether there is room for an event of a track; if not, the run is to be taken, and the lane cleared. */
static inline bool tw_gather_has_room(const struct tw_gather_lane *lane, uint32_t track)
{
	return lane->run.track == track ? lane->run.count < TW_RUN_ITEMS : tw_gather_is_empty(lane);
}

/* Adds an event of any kind. */
static inline void tw_gather_add(struct tw_gather_lane *lane, const struct tw_event *event)
{
	struct tw_call_run *run = &lane->run;
	run->track = event->track;
	run->items = lane->items;
	if (tw_is_call(event)) {
		lane->items[run->count++] = tw_call_item_of(event);
		run->last = 0;
	} else if (event->time > run->last) { /* as tw_calls_make_run() has it */
		run->last = event->time;
	}
}

static inline void tw_gather_clear(struct tw_gather_lane *lane)
{
	lane->run.count = 0;
	lane->run.last = 0;
}

#endif
