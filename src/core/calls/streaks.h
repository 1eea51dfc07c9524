/* streaks.h - events of tracks that come by turns, put together to runs of one track each. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_STREAKS_H
#define CORE_CALLS_STREAKS_H

#include "core/calls/calls.h"

/* A track's events wait in the lane of its number, modulo this, and nobody else's meanwhile: what runs there are
 * depends on the events alone, not on the batches that they come in. */
enum { TW_STREAKS = 64 };

struct tw_streak {
	struct tw_call_run run;
	struct tw_call_item items[TW_RUN_ITEMS];
};

/* All zero to begin. */
struct tw_streaks {
	struct tw_streak lanes[TW_STREAKS];
};

static inline struct tw_streak *tw_streak_of(struct tw_streaks *streaks, uint32_t track)
{
	return &streaks->lanes[track % TW_STREAKS];
}

static inline bool tw_streak_is_empty(const struct tw_streak *lane)
{
	return lane->run.count == 0 && lane->run.last == 0;
}

/* Whether there is room for an event of a track; if not, the run is to be taken, and the lane cleared. */
static inline bool tw_streak_has_room(const struct tw_streak *lane, uint32_t track)
{
	return lane->run.track == track ? lane->run.count < TW_RUN_ITEMS : tw_streak_is_empty(lane);
}

/* Adds an event of any kind. What is no call is written, too, and what comes next takes its place: tw_event_over() says
 * why. */
static inline void tw_streak_add(struct tw_streak *lane, const struct tw_event *event)
{
	struct tw_call_run *run = &lane->run;
	run->track = event->track;
	run->items = lane->items;
	lane->items[run->count] = tw_call_item_of(event);
	run->count += tw_is_call(event);
	uint64_t over = tw_event_over(event);
	run->last = over > run->last ? over : run->last;
}

static inline void tw_streak_clear(struct tw_streak *lane)
{
	lane->run.count = 0;
	lane->run.last = 0;
}

#endif
