/* slices.c - slices of all tracks as begins and ends that nest. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/slices.h"

static struct tw_slices *slices_of(struct tw_calls *calls)
{
	return (struct tw_slices *)calls;
}

/* Calls the hook for the end that was held back. event: what caused it, or NULL. */
static void tell_end(struct tw_slices *slices, const struct tw_event *event)
{
	if (!slices->holds)
		return;
	slices->holds = false;
	slices->held.event = event;
	slices->hooks->end(slices->context, &slices->held);
}

static uint32_t root(struct tw_calls *calls, uint32_t track)
{
	(void)calls;
	(void)track;
	return TW_ROW_NONE;
}

static uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct tw_slices *slices = slices_of(calls);
	(void)name;
	tell_end(slices, NULL);
	return slices->hooks->begin(slices->context, slices->event, caller->row);
}

static struct tw_slice_end end_of(const struct tw_calls *calls, const struct tw_frame *frame, uint64_t time,
                                  enum tw_call_end how, const struct tw_event *event)
{
	return (struct tw_slice_end){
	    .begin = frame->begin,
	    .time = time,
	    .track = calls->track,
	    .name = frame->name,
	    .row = frame->row,
	    .caller = frame[-1].row,
	    .how = how,
	    .event = event,
	};
}

static void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                  enum tw_call_end how)
{
	struct tw_slices *slices = slices_of(calls);
	tell_end(slices, NULL);
	slices->holds = true;
	slices->held = end_of(calls, frame, frame->begin + call->duration, how, NULL);
}

static const struct tw_call_hooks hooks = {.root = root, .enter = enter, .leave = leave};

int tw_slices_init(struct tw_slices *slices, struct tw_writer *writer, const struct tw_reader *reader,
                   const struct tw_slice_hooks *own, void *context)
{
	slices->writer = writer;
	slices->hooks = own;
	slices->context = context;
	slices->calls =
	    (struct tw_calls){.hooks = &hooks, .budget = &slices->budget, .name_limit = SIZE_MAX, .others_alike = true};
	tw_budget_reset(&slices->budget, tw_memory_limit(reader), 1);
	return tw_calls_init(&slices->calls) ? 0 : TW_ERR_MEMORY;
}

/* Counts as losses what was wrong with one event. Returns whether it was an end without a begin. */
static bool count_losses(struct tw_slices *slices)
{
	const struct tw_calls *calls = &slices->calls;
	bool exit = calls->exits_without_entry != slices->exits;
	if (exit)
		tw_count_loss(slices->writer, "exit without entry", false);
	if (calls->untimed != slices->untimed)
		tw_count_loss(slices->writer, "slice nested too deep", false);
	if (calls->time_backwards != slices->backwards)
		tw_count_loss(slices->writer, "end before begin", true);
	slices->exits = calls->exits_without_entry;
	slices->untimed = calls->untimed;
	slices->backwards = calls->time_backwards;
	return exit;
}

/* Takes an event that the fast path does not. */
static void take_slowly(struct tw_slices *slices, const struct tw_call_item *item)
{
	struct tw_calls *calls = &slices->calls;
	uint64_t folded = calls->stack->folded;
	tw_calls_take_item(calls, item);
	bool lost = count_losses(slices) || calls->stack->folded != folded;
	bool own = item->kind == TW_CALL_END && !lost && slices->held.how == TW_CALL_ENDED;
	tell_end(slices, own ? slices->event : NULL);
}

/* ---- The fast path: what tw_calls_take_items() does, of one event, and in place: events of a track come by turns with
 * those of others. Nothing is held back between two events. `make bench` measures convert to Perfetto. ---- */

/* Ends the slice on top. */
static inline void end_top(struct tw_slices *slices, uint64_t time, const struct tw_event *event)
{
	struct tw_calls *calls = &slices->calls;
	struct tw_call_space *space = calls->stack->space;
	struct tw_frame *top = &space->frames[calls->stack->depth--];
	space->on_stack[top->name].calls--;
	top[-1].children += time - top->begin;
	const struct tw_slice_end end = end_of(calls, top, time, TW_CALL_ENDED, event);
	slices->hooks->end(slices->context, &end);
}

static inline bool is_timed(const struct tw_call_stack *stack)
{
	return stack->timed_count && stack->timed[stack->timed_count - 1].depth == stack->depth;
}

/* Ends the complete slices on top that are over at a time. */
static inline void settle(struct tw_slices *slices, struct tw_call_stack *stack, uint64_t time)
{
	while (stack->due <= time && is_timed(stack) && stack->timed[stack->timed_count - 1].end == stack->due) {
		uint64_t end = stack->due;
		stack->due = stack->timed[--stack->timed_count].due_below;
		end_top(slices, end, NULL);
	}
}

static inline bool take_end(struct tw_slices *slices, struct tw_call_stack *stack, const struct tw_event *event)
{
	const struct tw_frame *top = &stack->space->frames[stack->depth];
	if (stack->due < event->time || top->name != event->name || event->time < top->begin || is_timed(stack) ||
	    top->row < TW_ROW_OTHER)
		return false;
	end_top(slices, event->time, event);
	return true;
}

static inline bool take_begin(struct tw_slices *slices, struct tw_call_stack *stack, const struct tw_event *event)
{
	struct tw_call_space *space = stack->space;
	bool timed = event->kind == TW_SLICE_COMPLETE;
	uint32_t depth = stack->depth;
	if (stack->due <= event->time || event->name >= space->name_room || depth + (size_t)1 >= space->frame_room ||
	    (timed && stack->timed_count == stack->timed_room))
		return false;
	struct tw_frame *top = &space->frames[depth];
	uint32_t row = slices->hooks->begin(slices->context, event, top->row);
	space->on_stack[event->name].calls++;
	top[1] = (struct tw_frame){.begin = event->time, .name = event->name, .row = row};
	stack->depth = depth + 1;
	if (timed) {
		uint64_t end = tw_event_over(event);
		stack->timed[stack->timed_count++] = (struct tw_timed_frame){end, stack->due, depth + 1};
		stack->due = end < stack->due ? end : stack->due;
	}
	return true;
}

/* Takes a call where nothing is out of the ordinary. */
static inline bool take_quickly(struct tw_slices *slices, const struct tw_event *event)
{
	struct tw_call_stack *stack = slices->calls.stack;
	if (!stack->space || stack->space->tableless || stack->folded)
		return false;
	settle(slices, stack, event->time);
	if (event->kind == TW_SLICE_END ? !take_end(slices, stack, event) : !take_begin(slices, stack, event))
		return false;
	tw_calls_go_on(&slices->calls, tw_event_over(event));
	return true;
}

void tw_slices_take(struct tw_slices *slices, const struct tw_event *event)
{
	struct tw_calls *calls = &slices->calls;
	slices->event = event;
	if (!tw_calls_meet(calls, event) || take_quickly(slices, event))
		return;
	const struct tw_call_item item = tw_call_item_of(event);
	take_slowly(slices, &item);
}

void tw_slices_finish(struct tw_slices *slices)
{
	tw_calls_finish(&slices->calls);
	tell_end(slices, NULL);
	count_losses(slices);
}

void tw_slices_free(struct tw_slices *slices)
{
	tw_calls_free(&slices->calls);
}
