/* track_runs.h - events of tracks that come by turns, put together to runs of one track each. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_FIREFOX_TRACK_RUNS_H
#define EXPORT_FIREFOX_TRACK_RUNS_H

#include "core/calls/calls.h"

/* A track's events wait in the place of its number, modulo this, and nobody else's meanwhile: what runs there are
 * depends on the events alone, not on the batches that they come in. */
enum { TW_TRACK_RUNS = 64, TW_TRACK_RUNS_WAITING = TW_TRACK_RUNS * TW_RUN_ITEMS };

struct tw_track_run {
	struct tw_call_run run;
	struct tw_call_item items[TW_RUN_ITEMS];
};

/* All zero to begin. */
struct tw_track_runs {
	struct tw_track_run places[TW_TRACK_RUNS];
	bool some; /* events may wait */
};

static inline bool tw_track_run_is_empty(const struct tw_call_run *run)
{
	return run->count == 0 && run->last == 0;
}

/* Whether there is room for an event of a track. */
static inline bool tw_track_run_has_room(const struct tw_call_run *run, uint32_t track)
{
	return run->track == track ? run->count < TW_RUN_ITEMS : tw_track_run_is_empty(run);
}

/* Has the calls take a run: tw_calls_add_run() with the hooks of the owner, in a function of its own. */
typedef void (*tw_calls_run_fn)(struct tw_calls *calls, const struct tw_call_run *run);

static inline void tw_track_run_flush(struct tw_call_run *run, struct tw_calls *calls, tw_calls_run_fn take)
{
	if (tw_track_run_is_empty(run))
		return;
	take(calls, run);
	run->count = 0;
	run->last = 0;
}

/* Has the calls take all that wait. */
static inline void tw_track_runs_flush(struct tw_track_runs *runs, struct tw_calls *calls, tw_calls_run_fn take)
{
	for (size_t i = 0; i < TW_TRACK_RUNS && runs->some; i++)
		tw_track_run_flush(&runs->places[i].run, calls, take);
	runs->some = false;
}

/* Adds an event of any kind; where there is no room the calls take those that wait in its place. */
TW_INLINE void tw_track_runs_add(struct tw_track_runs *runs, struct tw_calls *calls, const struct tw_event *event,
                                 tw_calls_run_fn take)
{
	struct tw_track_run *place = &runs->places[event->track % TW_TRACK_RUNS];
	if (!tw_track_run_has_room(&place->run, event->track))
		tw_track_run_flush(&place->run, calls, take);
	place->run.track = event->track;
	place->run.items = place->items;
	tw_call_run_add(&place->run, place->items, event);
	runs->some = true;
}

#endif
