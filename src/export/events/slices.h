/* slices.h - slices of all tracks as begins and ends that nest, for targets that can hold nothing else. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_EVENTS_SLICES_H
#define EXPORT_EVENTS_SLICES_H

#include "base/inline.h"
#include "core/calls/calls.h"
#include "core/format.h"

/* The end of the innermost slice of a track. */
struct tw_slice_end {
	uint64_t begin, time;
	uint32_t track, name;
	uint32_t lane; /* of the track: slices of another lane may overlap */
	enum tw_call_end how;
	/* That ended it; NULL where it is a complete slice, unwound, or open at the end. */
	const struct tw_event *event;
};

/* A begin is told when it comes, with the event that tells it (a complete slice's too); its end before anything else
 * happens on the lane of the track (calls.lane), in the order of its times. A slice that goes on when one around it
 * ends is cut there, and the rest told as another one, without its arguments. What begin returns, at least
 * TW_ROW_FIRST, is the caller of what begins inside. */
struct tw_slice_hooks {
	uint32_t (*begin)(void *context, const struct tw_event *event, uint32_t caller);
	void (*end)(void *context, const struct tw_slice_end *end);
};

struct tw_slices {
	struct tw_calls calls; /* first: its hooks get this */
	struct tw_budget budget;
	struct tw_writer *writer; /* counts what is lost */
	const struct tw_slice_hooks *hooks;
	void *context;
	const struct tw_event *event; /* the event that is being taken */
	struct tw_slice_end held;     /* an end, before it is known whether `event` caused it */
	bool holds;
	uint64_t untimed, beyond, exits, backwards,
	    cut; /* the counts of `calls` when they were last counted as losses */
};

/* All zero before. Returns 0 or TW_ERR_MEMORY; free it in any case. */
int tw_slices_init(struct tw_slices *slices, struct tw_writer *writer, const struct tw_reader *reader,
                   const struct tw_slice_hooks *hooks, void *context);

static inline struct tw_slices *tw_slices_of(struct tw_calls *calls)
{
	return (struct tw_slices *)calls;
}

static inline struct tw_slice_end tw_slice_end_of(const struct tw_calls *calls, const struct tw_frame *frame,
                                                  uint64_t time, enum tw_call_end how, const struct tw_event *event)
{
	return (struct tw_slice_end){
	    .begin = frame->begin,
	    .time = time,
	    .track = calls->track,
	    .name = frame->name,
	    .lane = calls->lane,
	    .how = how,
	    .event = event,
	};
}

/* What the fast path does not take. */
void tw_slices_take_slowly(struct tw_slices *slices, const struct tw_event *event);

/* Takes any event: slices that are over by then end. The others are what the hooks are to calls.h, to be inlined: they
 * find the event in slices->event, and nothing is held back. over: ends that no event tells; leave: those that this one
 * does. `make bench` measures convert to Perfetto. */
TW_INLINE void tw_slices_take(struct tw_slices *slices, const struct tw_event *event, tw_call_find_fn enter,
                              tw_call_leave_fn over, tw_call_leave_fn leave)
{
	slices->event = event;
	if (tw_calls_meet(&slices->calls, event) && !tw_calls_take_one(&slices->calls, event, enter, over, leave))
		tw_slices_take_slowly(slices, event);
}

/* Ends all slices of all tracks. */
int tw_slices_finish(struct tw_slices *slices);

void tw_slices_free(struct tw_slices *slices);

#endif
