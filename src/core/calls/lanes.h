/* lanes.h - which stack of a track a call is on: what the files of this folder ask of each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_LANES_H
#define CORE_CALLS_LANES_H

#include "core/calls/calls.h"

enum {
	TW_CALL_ROUNDING =
	    1,               /* ns by which a slice may end behind the one around it: times are often rounded to 1 ns */
	TW_CALLS_DEEP = 1024 /* frames that one end may look at */
};

/* A frame of a track. */
struct tw_call_place {
	uint32_t lane, depth;
	uint64_t begin;
	uint64_t number; /* of the begin, of those that begin together */
};

/* The stack of a lane, to change; 0: the track's own. */
static inline struct tw_call_stack *tw_lane_stack(struct tw_call_stack *own, uint32_t lane)
{
	return lane ? &own->lanes[lane - 1].stack : own;
}

static inline bool tw_stack_top_is_timed(const struct tw_call_stack *stack)
{
	return stack->timed_count && stack->timed[stack->timed_count - 1].depth == stack->depth;
}

/* A frame goes on when one beside it, or below it, has ended. */
static inline void tw_stack_lift(struct tw_call_stack *stack, uint32_t depth)
{
	stack->lifted = stack->lifted && stack->lifted < depth ? stack->lifted : depth;
}

/* Has the functions below, and hooks, work on a lane of the current track. */
void tw_lanes_select(struct tw_calls *calls, uint32_t lane);
/* Gives the frames from a depth on the rows that they have under what is now below them. */
void tw_lanes_move_rows(struct tw_calls *calls, uint32_t depth);
/* Notes when a frame of the current lane began beside others; for memory that is short, not at all. */
void tw_lanes_note_begin(struct tw_calls *calls, uint32_t depth);
/* How many calls like that of a frame go on around a lane: those of its name or row up to its root. */
uint32_t tw_lanes_calls_below(const struct tw_calls *calls, uint32_t lane, const struct tw_frame *frame);
/* A frame of a lane is gone, and those above it are a place lower. */
void tw_lanes_lower(struct tw_calls *calls, uint32_t lane, uint32_t depth);
/* The call that the ending one at a depth was directly inside of: of the calls that go on, on any lane, the last that
 * began before it. */
struct tw_call_place tw_lanes_parent(const struct tw_calls *calls, uint32_t depth);
/* A complete slice of the current lane that is over stays on the stack, without an end of its own, while what is above
 * it may end at the same time. False: there is no room. */
bool tw_lanes_lapse(struct tw_calls *calls, uint64_t time);
/* Whether the call at a depth is such a slice. */
static inline bool tw_lanes_is_lapsed(const struct tw_calls *calls, const struct tw_call_stack *stack, uint32_t depth)
{
	return calls->own->lapsed && depth < stack->overlap_room && stack->overlaps[depth].lapsed;
}
/* It ends. Returns whether it was such a slice. */
bool tw_lanes_end_lapsed(struct tw_calls *calls, uint32_t depth);
/* The one of them that began last. */
struct tw_call_place tw_lanes_latest_lapsed(const struct tw_calls *calls);
/* Counts what a call adds to the union of those directly inside of the frame around it; returns how many ns. */
uint64_t tw_lanes_cover(struct tw_calls *calls, const struct tw_call_place *around, uint64_t begin, uint64_t end);
/* Finds the lane in which the next complete slice ends, up to a time; of several the one that began last. */
bool tw_lanes_find_due(const struct tw_call_stack *own, uint64_t time, uint32_t *lane);
/* The same of complete slices on top of a lane. */
bool tw_lanes_find_top_due(const struct tw_call_stack *own, uint64_t time, uint32_t *lane);
/* The call that began last and goes on. */
struct tw_call_place tw_lanes_latest(const struct tw_call_stack *own);
/* Finds the innermost frame that holds what lasts until a time. Its own end, as far as it is known, goes to *due.
 * Returns whether something open does not hold it. */
bool tw_lanes_find_holder(const struct tw_calls *calls, uint64_t end, struct tw_call_place *found, uint64_t *due);
/* The lane for a call inside a frame: that of the frame if nothing else is on it, otherwise a free one. False: there is
 * no room. `beyond` of the calls tells where the lanes are used up. */
bool tw_lanes_find(struct tw_calls *calls, const struct tw_call_place *around, uint32_t *lane);

#endif
