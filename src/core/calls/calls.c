/* calls.c - begins and ends of slices to calls: all that is not the fast path. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/calls.h"

#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "core/calls/lane_tree.h"
#include "core/calls/lanes.h"
#include "core/calls/spaces.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tracks and what they have while calls are going on. ---- */

bool tw_calls_init(struct tw_calls *calls)
{
	calls->tracks.spare.due = UINT64_MAX;
	if (!tw_grow(&calls->tracks.stacks, &calls->tracks.stack_room, 1, sizeof *calls->tracks.stacks))
		return false;
	for (size_t i = 0; i < calls->tracks.stack_room; i++)
		calls->tracks.stacks[i].due = UINT64_MAX;
	calls->stack = &calls->tracks.stacks[0];
	return true;
}

static void free_stack(struct tw_call_stack *stack)
{
	for (size_t i = 0; i < stack->lane_room; i++) {
		tw_space_free(stack->lanes[i].stack.space);
		free(stack->lanes[i].stack.timed);
		free(stack->lanes[i].stack.overlaps);
	}
	free(stack->lanes);
	tw_space_free(stack->space);
	free(stack->timed);
	free(stack->overlaps);
}

/* Leaves the spare one as the only track. */
void tw_calls_free(struct tw_calls *calls)
{
	for (size_t i = 0; i < calls->tracks.stack_room; i++)
		free_stack(&calls->tracks.stacks[i]);
	for (struct tw_call_space *space = calls->tracks.spaces, *next; space; space = next) {
		next = space->next;
		tw_space_free(space);
	}
	free(calls->tracks.spare.timed);
	free(calls->tracks.spare.overlaps);
	free(calls->tracks.stacks);
	calls->tracks.stacks = NULL;
	calls->tracks.stack_room = 0;
	calls->tracks.spaces = NULL;
	calls->tracks.spare = (struct tw_call_stack){.due = UINT64_MAX};
	calls->stack = calls->own = &calls->tracks.spare;
}

/* Gives the current track the frames that it needs to push a call of a name. */
static bool make_room(struct tw_calls *calls, uint32_t name)
{
	struct tw_call_stack *stack = calls->stack;
	if (stack == &calls->tracks.spare || name == TW_NO_CALL_NAME || stack->depth >= UINT32_MAX - 2)
		return false;
	if (!stack->space) {
		stack->space = tw_space_new(calls);
		if (!stack->space)
			return false;
		stack->space->frames[0] = (struct tw_frame){
		    .name = TW_NO_CALL_NAME,
		    .row = calls->hooks->root ? calls->hooks->root(calls, calls->track) : TW_ROW_NONE,
		};
	}
	struct tw_call_space *space = stack->space;
	return tw_budget_grow(calls->budget, TW_FOR_STACKS, &space->frames, &space->frame_room,
	                      stack->depth + (size_t)2, sizeof *space->frames) &&
	       tw_space_make_name_room(calls, space, stack->depth, name);
}

/* ---- Lanes. ---- */

/* The frame at a depth is about to go: keeps the place of the lowest call of TW_ROW_OTHER. */
static void lower_other(const struct tw_call_stack *stack, uint32_t depth)
{
	struct tw_call_space *space = stack->space;
	uint32_t lowest = space->lowest_other;
	if (lowest < depth)
		return;
	while (lowest == depth || (lowest <= stack->depth && space->frames[lowest].row != TW_ROW_OTHER))
		lowest++;
	space->lowest_other = lowest - 1;
}

/* ---- Ends. ---- */

/* The end that a complete slice states. On one stack it is the end of the slice around it instead, where that is
 * before it by no more than rounding. */
static uint64_t stated_end(const struct tw_calls *calls, const struct tw_timed_frame *timed)
{
	return tw_sum(timed->end, calls->rules.flat ? 0 : timed->over);
}

static uint64_t duration_of(struct tw_calls *calls, const struct tw_frame *frame, uint64_t end)
{
	if (end >= frame->begin)
		return end - frame->begin;
	calls->counts.time_backwards++;
	return 0;
}

/* Whether a call of TW_ROW_OTHER is inside of another one. */
static bool inside_other(const struct tw_call_space *space, const struct tw_frame *frame)
{
	return space->lowest_other != frame - space->frames;
}

/* Takes a frame that stands above a depth from the tables; returns how many calls like it go on below. above: how many
 * do above it. */
static uint32_t take_away(const struct tw_calls *calls, struct tw_call_space *space, uint32_t depth,
                          const struct tw_frame *frame, uint32_t above)
{
	if (space->tableless && calls->rules.by_row)
		return tw_space_calls_of_row(space, depth, frame->row);
	if (space->tableless)
		return tw_space_calls_of_name(space, depth, frame->name);
	uint32_t below = --space->on_stack[frame->name].calls;
	return (calls->rules.by_row ? --space->row_on_stack[frame->row] : below) - above;
}

/* Finds what the call of a frame was directly inside of, and returns how much of that it covers until a time. */
static uint64_t covered_by(struct tw_calls *calls, struct tw_frame *frame, uint64_t until)
{
	calls->around = frame - 1;
	if (!calls->own->lane_count && !calls->own->lifted)
		return until > frame->begin ? until - frame->begin : 0;
	const struct tw_call_place around = tw_lanes_parent(calls, (uint32_t)(frame - calls->stack->space->frames));
	struct tw_call_space *space = tw_lane_stack(calls->own, around.lane)->space;
	if (space)
		calls->around = &space->frames[around.depth];
	return tw_lanes_cover(calls, &around, frame->begin, until);
}

/* A frame is gone. */
static void let_go(struct tw_calls *calls, uint32_t row)
{
	if (calls->hooks->settle && row & TW_ROW_HELD && !--calls->own->held)
		calls->hooks->settle(calls);
}

void tw_calls_let_go(struct tw_calls *calls, uint32_t (*row_of)(struct tw_calls *calls, uint32_t row))
{
	for (uint32_t lane = 0; lane <= calls->own->lane_count; lane++) {
		const struct tw_call_stack *stack = tw_lane_at(calls->own, lane);
		for (uint32_t i = 0; stack->space && i <= stack->depth; i++)
			if (stack->space->frames[i].row & TW_ROW_HELD)
				stack->space->frames[i].row = row_of(calls, stack->space->frames[i].row);
	}
	calls->own->held = 0;
}

/* Whether calls of the track are open that tell their end, and others, or will be with one more. */
static bool is_mixed(const struct tw_call_stack *own, bool timed)
{
	const struct tw_lane_node lanes = own->lane_count ? tw_lane_tree_root(own) : (struct tw_lane_node){0};
	const bool known = own->timed_count || lanes.due, untimed = own->timed_count < own->depth || lanes.untimed;
	return own->held || (timed ? untimed : known);
}

/* Tells that the call of a frame has ended, which is still in its place; `until`: what is around it is covered no
 * longer. */
static void deliver_end(struct tw_calls *calls, struct tw_frame *frame, uint32_t above, uint64_t time, uint64_t until,
                        enum tw_call_end how)
{
	struct tw_call_space *space = calls->stack->space;
	uint32_t below = take_away(calls, space, (uint32_t)(frame - space->frames) - 1, frame, above);
	if (frame->row == TW_ROW_OTHER)
		below = inside_other(space, frame);
	if (calls->lane)
		below += tw_lanes_calls_below(calls, calls->lane, frame);
	uint64_t duration = duration_of(calls, frame, time);
	if (duration < calls->rules.min_duration && how != TW_CALL_OPEN) { /* how long that would last is not known */
		frame[-1].children += frame->children;
		return;
	}
	const uint64_t covered = covered_by(calls, frame, until);
	calls->around->children += covered;
	const struct tw_left_call call = {.duration = duration,
	                                  .children = frame->children,
	                                  .row = frame->row,
	                                  .below = below};
	calls->hooks->leave(calls, frame, &call, how);
}

/* Ends the call on top; `until`: what is around it is covered no longer. */
static void pop(struct tw_calls *calls, uint64_t time, uint64_t until, enum tw_call_end how)
{
	struct tw_call_stack *stack = calls->stack;
	struct tw_frame *frame = &stack->space->frames[stack->depth];
	if (tw_stack_top_is_timed(stack)) {
		const struct tw_timed_frame *timed = &stack->timed[--stack->timed_count];
		tw_calls_go_on(calls, timed->end); /* the fast path has told only of the last item that it took */
		stack->due = timed->due_below;
		until = timed->end < until ? timed->end : until;
	}
	const uint32_t row = frame->row;
	how = tw_lanes_end_lapsed(calls, stack->depth) ? TW_CALL_ENDED : how;
	stack->depth--;
	tw_lane_tree_update(calls);
	deliver_end(calls, frame, 0, time, until, how);
	stack->lifted = stack->lifted > stack->depth ? 0 : stack->lifted;
	if (calls->own->lane_count)
		tw_lanes_lower(calls, calls->lane, stack->depth + 1);
	let_go(calls, row);
}

/* Ends the complete slice on top, when it says. */
static void pop_timed(struct tw_calls *calls)
{
	const struct tw_call_stack *stack = calls->stack;
	const uint64_t end = stated_end(calls, &stack->timed[stack->timed_count - 1]);
	pop(calls, end, end, TW_CALL_ENDED);
}

/* Ends the calls above a depth by what ends below them; complete slices that are over by then are not unwound. */
static void unwind(struct tw_calls *calls, uint32_t depth, uint64_t time)
{
	struct tw_call_stack *stack = calls->stack;
	while (stack->depth > depth) {
		bool own = tw_stack_top_is_timed(stack) && stack->timed[stack->timed_count - 1].end <= time;
		pop(calls, time, time, own ? TW_CALL_ENDED : TW_CALL_UNWOUND);
	}
}

/* How many frames above one are like it: of its row where rows count, otherwise of its name. */
static uint32_t alike_above(const struct tw_calls *calls, uint32_t depth)
{
	const struct tw_frame *frames = calls->stack->space->frames;
	uint32_t count = 0;
	for (uint32_t i = depth + 1; i <= calls->stack->depth; i++)
		count +=
		    calls->rules.by_row ? frames[i].row == frames[depth].row : frames[i].name == frames[depth].name;
	return count;
}

/* Takes the frame at a depth out of the timed ones, and those above it a place lower. */
static void take_out_timed(struct tw_call_stack *stack, uint32_t depth)
{
	size_t i = stack->timed_count;
	for (; i > 0 && stack->timed[i - 1].depth > depth; i--)
		stack->timed[i - 1].depth--;
	if (i == 0 || stack->timed[i - 1].depth != depth)
		return;
	const uint64_t below = stack->timed[i - 1].due_below;
	if (i < stack->timed_count)
		stack->timed[i].due_below = below;
	else
		stack->due = below;
	memmove(&stack->timed[i - 1], &stack->timed[i], (stack->timed_count - i) * sizeof *stack->timed);
	stack->timed_count--;
}

/* The frame at a depth is taken out: what those above it have beside, a place lower. */
static void lower_overlaps(struct tw_call_stack *stack, uint32_t depth)
{
	if (depth >= stack->overlap_room)
		return;
	const size_t last = stack->depth < stack->overlap_room ? stack->depth : stack->overlap_room - 1;
	memmove(&stack->overlaps[depth], &stack->overlaps[depth + 1], (last - depth) * sizeof *stack->overlaps);
	stack->overlaps[last] = (struct tw_call_overlap){0};
}

/* Ends a call while those above it go on: they were not inside. */
static void slip_out(struct tw_calls *calls, uint32_t depth, uint64_t time, enum tw_call_end how)
{
	struct tw_call_stack *stack = calls->stack;
	struct tw_frame *frame = &stack->space->frames[depth];
	const uint32_t row = frame->row;
	how = tw_lanes_end_lapsed(calls, depth) ? TW_CALL_ENDED : how;
	tw_stack_lift(stack, depth);
	deliver_end(calls, frame, alike_above(calls, depth), time, time, how);
	lower_other(stack, depth);
	lower_overlaps(stack, depth);
	take_out_timed(stack, depth);
	memmove(frame, frame + 1, (stack->depth - depth) * sizeof *frame);
	stack->depth--;
	if (calls->own->lane_count)
		tw_lanes_lower(calls, calls->lane, depth);
	tw_lanes_move_rows(calls, depth);
	tw_lane_tree_update(calls);
	let_go(calls, row);
}

static bool push_again(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_timed_frame *timed,
                       uint64_t time);

/* The same for an owner with one stack: the calls above are cut, and go on as others. Each frame is read before its
 * place is written. */
static void split(struct tw_calls *calls, uint32_t depth, uint64_t time, enum tw_call_end how)
{
	struct tw_call_stack *stack = calls->stack;
	const uint32_t top = stack->depth;
	const size_t timed_top = stack->timed_count;
	size_t timed = timed_top;
	while (timed > 0 && stack->timed[timed - 1].depth > depth)
		timed--;
	calls->counts.cut += top - depth;
	while (stack->depth > depth)
		pop(calls, time, time, TW_CALL_ENDED);
	pop(calls, time, time, how);
	for (uint32_t i = depth + 1; i <= top; i++) {
		const struct tw_frame frame = stack->space->frames[i];
		bool own = timed < timed_top && stack->timed[timed].depth == i;
		const struct tw_timed_frame known = own ? stack->timed[timed++] : (struct tw_timed_frame){0};
		if (!push_again(calls, &frame, own ? &known : NULL, time))
			return;
	}
}

/* Ends a call at a depth, whatever is above it. */
static void end_at(struct tw_calls *calls, uint32_t depth, uint64_t time, enum tw_call_end how)
{
	const struct tw_call_stack *stack = calls->stack;
	if (stack->depth - depth > TW_CALLS_DEEP)
		unwind(calls, depth, time);
	if (stack->depth == depth) {
		pop(calls, time, time, how);
		return;
	}
	calls->counts.overlaps += time > tw_sum(stack->space->frames[depth + 1].begin, TW_CALL_ROUNDING);
	(calls->rules.splits ? split : slip_out)(calls, depth, time, how);
}

/* Ends the complete slices that are over at a time, in the order of their ends. */
static void advance(struct tw_calls *calls, uint64_t time)
{
	uint32_t lane;
	calls->own = calls->stack;
	while (tw_lanes_find_due(calls->own, time, &lane)) {
		tw_lanes_select(calls, lane);
		const struct tw_timed_frame *timed = &calls->stack->timed[calls->stack->timed_count - 1];
		end_at(calls, timed->depth, stated_end(calls, timed), TW_CALL_ENDED);
	}
	tw_lanes_select(calls, 0);
}

/* Ends the complete slices on top of each lane that end up to a time. */
static void end_tops(struct tw_calls *calls, uint64_t time)
{
	for (uint32_t lane; tw_lanes_find_top_due(calls->own, time, &lane);) {
		tw_lanes_select(calls, lane);
		pop_timed(calls);
	}
	tw_lanes_select(calls, 0);
}

/* Ends the complete slices that are over when a call ends, or when one begins that may not last: those that end at the
 * same time only from the top, because what is above them may be inside. */
static void advance_to_end(struct tw_calls *calls, uint64_t time)
{
	calls->own = calls->stack;
	if (time > 0)
		advance(calls, time - 1);
	end_tops(calls, time);
}

/* The same where a complete slice begins, but for an owner with one stack: what is below calls that may end then, too,
 * lapses. */
static void advance_to_slice(struct tw_calls *calls, uint64_t time)
{
	uint32_t lane;
	if (calls->rules.splits || calls->rules.flat) {
		advance(calls, time);
		return;
	}
	advance_to_end(calls, time);
	while (tw_lanes_find_due(calls->own, time, &lane)) {
		tw_lanes_select(calls, lane);
		const struct tw_timed_frame *timed = &calls->stack->timed[calls->stack->timed_count - 1];
		if (!tw_lanes_lapse(calls, time))
			end_at(calls, timed->depth, stated_end(calls, timed), TW_CALL_ENDED);
	}
	tw_lanes_select(calls, 0);
}

/* Ends the complete slices that have lapsed. */
static void end_lapsed(struct tw_calls *calls)
{
	calls->own = calls->stack;
	while (calls->own->lapsed) {
		const struct tw_call_place latest = tw_lanes_latest_lapsed(calls);
		tw_lanes_select(calls, latest.lane);
		end_at(calls, latest.depth, calls->own->lapsed_at, TW_CALL_ENDED);
	}
	tw_lanes_select(calls, 0);
}

/* The frame of the innermost call that is no complete slice; 0 when there is none. */
static uint32_t innermost(const struct tw_calls *calls, const struct tw_call_stack *stack)
{
	uint32_t depth = stack->depth;
	size_t timed = stack->timed_count;
	if (timed == depth) /* none: an end for each of many must not look at all of them */
		return 0;
	for (; depth; depth--) {
		const bool complete = timed && stack->timed[timed - 1].depth == depth;
		if (!complete && !tw_lanes_is_lapsed(calls, stack, depth))
			return depth;
		timed -= complete;
	}
	return 0;
}

/* The frame of the innermost call of a name that is no complete slice; 0 when there is none. In a stack so deep that
 * many ends must not each look at all of it, it may be a complete slice. */
static uint32_t innermost_of(const struct tw_calls *calls, const struct tw_call_stack *stack, uint32_t name)
{
	const struct tw_frame *frames = stack->space->frames;
	uint32_t found = 0, least = 0;
	size_t timed = stack->timed_count;
	for (uint32_t depth = stack->depth; depth > least; depth--) {
		bool complete = timed && stack->timed[timed - 1].depth == depth;
		timed -= complete;
		if (frames[depth].name != name)
			continue;
		if (!complete && !tw_lanes_is_lapsed(calls, stack, depth))
			return depth;
		if (!found && depth > TW_CALLS_DEEP)
			least = depth - TW_CALLS_DEEP;
		found = found ? found : depth;
	}
	return stack->depth > TW_CALLS_DEEP ? found : 0;
}

/* The frame of a lane that an end belongs to, 0 when there is none. An end without a name ends the innermost. */
static uint32_t frame_of(const struct tw_calls *calls, const struct tw_call_stack *stack, uint32_t name)
{
	const struct tw_call_space *space = stack->space;
	if (!space || (!space->tableless && name >= space->name_room))
		return 0;
	if (name == 0)
		return innermost(calls, stack);
	if (!space->tableless && !space->on_stack[name].calls)
		return 0;
	return innermost_of(calls, stack, name);
}

/* A call that an end has unwound, whose own end may have the same time and stand behind. */
static void note_unwound(struct tw_calls *calls, uint32_t name, uint64_t time)
{
	struct tw_unwound_calls *unwound = &calls->unwound;
	if (unwound->track != calls->track || unwound->time != time)
		*unwound = (struct tw_unwound_calls){.track = calls->track, .time = time};
	if (unwound->count < TW_UNWOUND_KEPT)
		unwound->names[unwound->count++] = name;
}

/* Whether an end is that of a call which was unwound at its time. */
static bool take_unwound(struct tw_calls *calls, const struct tw_call_item *item)
{
	struct tw_unwound_calls *unwound = &calls->unwound;
	if (unwound->track != calls->track || unwound->time != item->time)
		return false;
	for (uint32_t i = 0; i < unwound->count; i++)
		if (unwound->names[i] == item->name) {
			unwound->names[i] = unwound->names[--unwound->count];
			return true;
		}
	return false;
}

/* Ends a call, and the calls above it that are not over later: complete slices that are go on. */
static void end_call(struct tw_calls *calls, uint32_t depth, uint64_t time)
{
	const struct tw_call_stack *stack = calls->stack;
	size_t timed = stack->timed_count;
	if (stack->depth - depth > TW_CALLS_DEEP)
		unwind(calls, depth, time);
	for (uint32_t i = stack->depth; i > depth; i--) {
		while (timed && stack->timed[timed - 1].depth > i)
			timed--;
		bool complete = timed && stack->timed[timed - 1].depth == i;
		uint64_t end = complete ? stated_end(calls, &stack->timed[timed - 1]) : time;
		if (end > tw_sum(time, TW_CALL_ROUNDING))
			continue;
		if (!complete && calls->rules.ends_unordered)
			note_unwound(calls, stack->space->frames[i].name, time);
		end_at(calls, i, end, complete ? TW_CALL_ENDED : TW_CALL_UNWOUND);
	}
	end_at(calls, depth, time, TW_CALL_ENDED);
}

static bool may_end(const struct tw_lane_search *search, const struct tw_lane_node *node)
{
	(void)search;
	return node->untimed || node->deep;
}

static uint32_t frame_to_end(const struct tw_lane_search *search, uint32_t lane)
{
	return frame_of(search->calls, tw_lane_at(search->calls->own, lane), search->value);
}

static void take_end(struct tw_calls *calls, const struct tw_call_item *item)
{
	struct tw_call_stack *own = calls->stack;
	struct tw_lane_search search = {.calls = calls, .wants = may_end, .depth = frame_to_end, .value = item->name};
	if (own->folded) {
		own->folded--;
		return;
	}
	advance_to_end(calls, item->time);
	tw_lane_tree_search(&search);
	const struct tw_call_place found = search.found;
	if (found.depth == 0) {
		calls->counts.exits_without_entry += !take_unwound(calls, item);
		return;
	}
	tw_lanes_select(calls, found.lane);
	end_call(calls, found.depth, item->time);
	tw_lanes_select(calls, 0);
}

/* ---- Begins. ---- */

/* Whether a call of TW_ROW_OTHER is among those up to a depth. */
static bool holds_other(const struct tw_call_space *space, uint32_t depth)
{
	return space->lowest_other > 0 && space->lowest_other <= depth &&
	       space->frames[space->lowest_other].row == TW_ROW_OTHER;
}

/* Counts a call that goes onto the stack above `depth`. */
static void note(struct tw_calls *calls, struct tw_call_space *space, uint32_t depth, uint32_t name, uint32_t row)
{
	if (!space->tableless)
		space->on_stack[name].calls++;
	if (!space->tableless && calls->rules.by_row)
		space->row_on_stack[row]++;
	if (row == TW_ROW_OTHER && !holds_other(space, depth))
		space->lowest_other = depth + 1;
}

/* Puts a call on the stack, or counts it where there is no memory. */
static bool push(struct tw_calls *calls, const struct tw_call_item *item)
{
	calls->mixed = calls->hooks->settle && is_mixed(calls->own, tw_item_is_complete(item));
	struct tw_call_stack *stack = calls->stack;
	bool room = !stack->folded && make_room(calls, item->name);
	struct tw_call_space *space = stack->space;
	if (room)
		space->frames[stack->depth + 1].begin = item->time;
	uint32_t row = room ? calls->hooks->enter(calls, &space->frames[stack->depth], item->name) : TW_ROW_NONE;
	if (!room || !tw_space_make_row_room(calls, space, stack->depth, row)) {
		calls->counts.untimed++;
		calls->counts.beyond += stack->folded && stack->laneless;
		return false;
	}
	note(calls, space, stack->depth, item->name, row);
	space->frames[++stack->depth] = (struct tw_frame){
	    .begin = item->time,
	    .name = item->name,
	    .row = row,
	};
	calls->own->held += calls->hooks->settle && row & TW_ROW_HELD;
	if (calls->lane > calls->own->lane_count) /* all of it was cut */
		calls->own->lane_count = calls->lane;
	if (calls->own->lane_count)
		tw_lanes_note_begin(calls, stack->depth);
	tw_lane_tree_update(calls);
	return true;
}

/* Whether a complete slice is on top that ends before `end`, and so soon after a time that this is rounding. */
static bool ends_soon(const struct tw_call_stack *stack, uint64_t time, uint64_t end, uint64_t rounding)
{
	return tw_stack_top_is_timed(stack) && stack->due < end && stack->due - time <= rounding &&
	       stack->space->frames[stack->depth].begin < time;
}

/* Ends the complete slice on top at its end, which is a little later: what begins now has that time, too. */
static void pop_early(struct tw_calls *calls, uint64_t time)
{
	const uint64_t end = calls->stack->due;
	pop(calls, calls->rules.flat ? time : end, time, TW_CALL_ENDED);
}

/* Ends the complete slices on top that end before `end`, and so soon after a time that this is rounding. */
static void end_rounded(struct tw_calls *calls, uint64_t time, uint64_t end, uint64_t rounding)
{
	const struct tw_call_stack *own = calls->own;
	uint32_t lane = 0;
	if (calls->rules.exact)
		return;
	do {
		tw_lanes_select(calls, lane);
		while (ends_soon(calls->stack, time, end, rounding))
			pop_early(calls, time);
		lane = own->lane_count ? tw_lane_tree_next_due(own, lane, tw_sum(time, rounding)) : 0;
	} while (lane);
	tw_lanes_select(calls, 0);
}

static bool push_timed(struct tw_calls *calls, const struct tw_call_item *item, uint64_t end, uint32_t over)
{
	struct tw_call_stack *stack = calls->stack;
	if (!tw_budget_grow(calls->budget, TW_FOR_STACKS, &stack->timed, &stack->timed_room, stack->timed_count + 1,
	                    sizeof *stack->timed)) {
		calls->counts.untimed++;
		return false;
	}
	if (!push(calls, item))
		return false;
	stack->timed[stack->timed_count++] = (struct tw_timed_frame){
	    .end = end,
	    .due_below = stack->due,
	    .depth = stack->depth,
	    .over = over,
	};
	stack->due = end;
	tw_lane_tree_update(calls);
	return true;
}

static bool push_again(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_timed_frame *timed,
                       uint64_t time)
{
	const struct tw_call_item item = {.time = time, .name = frame->name};
	calls->again = true;
	bool pushed = timed ? push_timed(calls, &item, timed->end, timed->over) : push(calls, &item);
	calls->again = false;
	return pushed;
}

/* Puts a slice beside what is open and does not hold it. */
static void take_beside(struct tw_calls *calls, const struct tw_call_item *item)
{
	const uint64_t stated = tw_call_item_over(item);
	struct tw_call_place around;
	uint64_t due;
	end_rounded(calls, item->time, stated, TW_CALL_ROUNDING);
	calls->counts.overlaps += tw_lanes_find_holder(calls, stated, &around, &due);
	struct tw_call_stack *stack = tw_lane_stack(calls->own, around.lane);
	if (calls->rules.flat)
		while (stack->depth > around.depth)
			pop(calls, item->time, item->time, TW_CALL_ENDED);
	const uint64_t end = stated < due ? stated : due;
	uint32_t lane;
	if (!tw_lanes_find(calls, &around, &lane)) {
		calls->counts.untimed++;
		return;
	}
	tw_lanes_select(calls, lane);
	push_timed(calls, item, end, (uint32_t)(stated - end));
	tw_lanes_select(calls, 0);
}

static void take_complete(struct tw_calls *calls, const struct tw_call_item *item)
{
	const struct tw_call_stack *stack = calls->stack;
	const uint64_t end = tw_call_item_over(item);
	if (!stack->lane_count && end <= stack->due)
		push_timed(calls, item, end, 0);
	else
		take_beside(calls, item);
}

static void take_begin(struct tw_calls *calls, const struct tw_call_item *item)
{
	struct tw_call_stack *own = calls->stack;
	if (calls->rules.rounding)
		end_rounded(calls, item->time, UINT64_MAX, calls->rules.rounding);
	struct tw_call_place around = tw_lanes_latest(own);
	while (calls->rules.exact && around.depth &&
	       ends_soon(tw_lane_at(own, around.lane), item->time, UINT64_MAX, calls->rules.rounding) &&
	       tw_lane_at(own, around.lane)->depth == around.depth)
		around.depth--;
	uint32_t lane = 0;
	const uint64_t beyond = calls->counts.beyond;
	const bool room = own->folded || tw_lanes_find(calls, &around, &lane);
	if (!room) {
		own->laneless = calls->counts.beyond != beyond;
		own->folded++;
		calls->counts.untimed++;
		return;
	}
	tw_lanes_select(calls, lane);
	const bool pushed = push(calls, item);
	tw_lanes_select(calls, 0);
	own->laneless &= own->folded > 0;
	own->folded += !pushed;
}

void tw_calls_take_item(struct tw_calls *calls, const struct tw_call_item *item)
{
	tw_calls_go_on(calls, tw_call_item_over(item));
	if (calls->stack->lapsed && item->time != calls->stack->lapsed_at)
		end_lapsed(calls);
	if (tw_item_kind(item) == TW_CALL_END) {
		take_end(calls, item);
		return;
	}
	if (tw_item_kind(item) == TW_CALL_BEGIN || item->duration == 0)
		advance_to_end(calls, item->time);
	else
		advance_to_slice(calls, item->time);
	if (tw_item_kind(item) == TW_CALL_BEGIN)
		take_begin(calls, item);
	else
		take_complete(calls, item);
}

/* ---- Events. ---- */

void tw_calls_take(struct tw_calls *calls, const struct tw_event *event)
{
	const struct tw_call_item item = tw_call_item_of(event);
	calls->counts.uncertain += tw_is_uncertain(event);
	if (tw_is_call(event))
		tw_calls_take_item(calls, &item);
	else
		tw_calls_go_on(calls, tw_event_over(event));
}

void tw_calls_advance(struct tw_calls *calls, uint64_t time)
{
	end_lapsed(calls);
	advance(calls, time);
}

size_t tw_calls_make_run(const struct tw_event *events, size_t count, struct tw_call_item *items,
                         struct tw_call_run *run)
{
	size_t i = 0;
	*run = (struct tw_call_run){.track = events[0].track, .items = items};
	for (; i < count && run->count < TW_RUN_ITEMS && events[i].track == run->track; i++)
		tw_call_run_add(run, items, &events[i]);
	return i;
}

/* ---- The end of a track, and of all. ---- */

/* What is open ends with the last event. */
static void finish_track(struct tw_calls *calls)
{
	struct tw_call_stack *own = calls->own = calls->stack;
	end_lapsed(calls);
	for (size_t i = 0; i < own->timed_count; i++)
		tw_calls_go_on(calls, tw_sum(own->timed[i].end, own->timed[i].over));
	if (own->last > 0)
		advance(calls, own->last - 1);
	for (struct tw_call_place latest; (latest = tw_lanes_latest(own)).depth;) {
		tw_lanes_select(calls, latest.lane);
		if (tw_stack_top_is_timed(calls->stack))
			pop_timed(calls);
		else
			pop(calls, own->last, own->last, TW_CALL_OPEN);
	}
	tw_lanes_select(calls, 0);
}

void tw_calls_switch(struct tw_calls *calls, uint32_t track)
{
	struct tw_call_stack *left = calls->stack;
	if (calls->rules.in_turn)
		finish_track(calls);
	if (left->space && !left->depth) {
		left->space->tableless = false;
		left->space->next = calls->tracks.spaces;
		calls->tracks.spaces = left->space;
		left->space = NULL;
	}
	size_t before = calls->tracks.stack_room;
	bool known = tw_budget_grow(calls->budget, TW_FOR_STACKS, &calls->tracks.stacks, &calls->tracks.stack_room,
	                            track + (size_t)1, sizeof *calls->tracks.stacks);
	for (size_t i = before; i < calls->tracks.stack_room; i++)
		calls->tracks.stacks[i].due = UINT64_MAX;
	calls->track = track;
	calls->stack = known ? &calls->tracks.stacks[track] : &calls->tracks.spare;
}

void tw_calls_finish(struct tw_calls *calls)
{
	for (size_t i = 0; i < calls->tracks.stack_room; i++) {
		calls->track = (uint32_t)i;
		calls->stack = &calls->tracks.stacks[i];
		finish_track(calls);
	}
	tw_calls_free(calls);
}
