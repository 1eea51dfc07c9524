/* call_by_call.h - the fast path of calls for one event at a time.
 *
 * Where events of all tracks are taken in their order, tracks take turns, and what the loop of calls.h keeps in
 * registers would be loaded and stored again for each. So this one works in place. `make bench` measures convert to
 * Perfetto and speedscope. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_CALL_BY_CALL_H
#define CORE_CALLS_CALL_BY_CALL_H

#include "base/inline.h"
#include "base/loops.h"
#include "core/calls/calls.h"

/* Ends the call on top. */
TW_INLINE void tw_calls_end_top(struct tw_calls *calls, uint64_t time, tw_call_leave_fn leave)
{
	struct tw_call_space *space = calls->stack->space;
	struct tw_frame *top = &space->frames[calls->stack->depth--];
	const struct tw_left_call call = {.duration = time - top->begin,
	                                  .children = top->children,
	                                  .row = top->row,
	                                  .below = --space->on_stack[top->name].calls};
	top[-1].children += call.duration;
	leave(calls, top, &call, TW_CALL_ENDED);
}

static inline bool tw_calls_top_is_timed(const struct tw_call_stack *stack)
{
	return stack->timed_count && stack->timed[stack->timed_count - 1].depth == stack->depth;
}

TW_INLINE bool tw_calls_end_one(struct tw_calls *calls, const struct tw_event *event, tw_call_leave_fn leave)
{
	const struct tw_call_stack *stack = calls->stack;
	const struct tw_frame *top = &stack->space->frames[stack->depth];
	if (stack->due < event->time || top->name != event->name || event->time < top->begin ||
	    tw_calls_top_is_timed(stack) || top->row < TW_ROW_OTHER)
		return false;
	tw_calls_end_top(calls, event->time, leave);
	return true;
}

TW_INLINE bool tw_calls_begin_one(struct tw_calls *calls, const struct tw_event *event, tw_call_find_fn find)
{
	struct tw_call_stack *stack = calls->stack;
	const struct tw_call_space *space = stack->space;
	bool timed = event->kind == TW_SLICE_COMPLETE;
	uint32_t depth = stack->depth;
	if (stack->due <= event->time || event->name >= space->name_room || depth + (size_t)1 >= space->frame_room ||
	    (timed && stack->timed_count == stack->timed_room))
		return false;
	struct tw_frame *caller = &space->frames[depth];
	caller[1].begin = event->time;
	uint32_t row = find(calls, caller, event->name);
	if (row < TW_ROW_OTHER)
		return false;
	space->on_stack[event->name].calls++;
	caller[1] = (struct tw_frame){.begin = event->time, .name = event->name, .row = row};
	stack->depth = depth + 1;
	if (timed) {
		uint64_t end = tw_event_over(event);
		stack->timed[stack->timed_count++] = (struct tw_timed_frame){end, stack->due, depth + 1};
		stack->due = end < stack->due ? end : stack->due;
	}
	return true;
}

/* Takes an event that is a call, of the current track; false where it cannot. over: what is told of complete slices
 * that are over by then; leave: of what the event ends. For owners with no shortest duration that do not count calls by
 * row, and take those of TW_ROW_OTHER like others. */
TW_INLINE bool tw_calls_take_one(struct tw_calls *calls, const struct tw_event *event, tw_call_find_fn find,
                                 tw_call_leave_fn over, tw_call_leave_fn leave)
{
	struct tw_call_stack *stack = calls->stack;
	if (!stack->space || stack->space->tableless || stack->folded || !tw_loop_is_on(TW_LOOP_CALLS_ONE))
		return false;
	while (stack->due <= event->time && tw_calls_top_is_timed(stack) &&
	       stack->timed[stack->timed_count - 1].end == stack->due) {
		uint64_t end = stack->due;
		stack->due = stack->timed[--stack->timed_count].due_below;
		tw_calls_end_top(calls, end, over);
	}
	if (event->kind == TW_SLICE_END ? !tw_calls_end_one(calls, event, leave)
	                                : !tw_calls_begin_one(calls, event, find))
		return false;
	tw_calls_go_on(calls, tw_event_over(event));
	return true;
}

#endif
