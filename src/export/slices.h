/* slices.h - slices of all tracks as begins and ends that nest, for targets that can hold nothing else. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_SLICES_H
#define EXPORT_SLICES_H

#include "core/calls.h"
#include "core/format.h"

/* The end of the innermost slice of a track. */
struct tw_slice_end {
	uint64_t begin, time;
	uint32_t track, name;
	uint32_t row, caller; /* what the hook `begin` returned for it, and for the slice around it; 0: there is none */
	enum tw_call_end how;
	const struct tw_event
	    *event; /* that ended it; NULL where it is a complete slice, unwound, or open at the end */
};

/* A begin is told when it comes, with the event that tells it (a complete slice's too); its end before anything else
 * happens on the track, in the order of the track's times. What begin returns, at least TW_ROW_FIRST, is given back
 * with the end and with what begins inside. */
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
	uint64_t untimed, exits, backwards; /* the counts of `calls` when they were last counted as losses */
};

/* All zero before. Returns 0 or TW_ERR_MEMORY; free it in any case. */
int tw_slices_init(struct tw_slices *slices, struct tw_writer *writer, const struct tw_reader *reader,
                   const struct tw_slice_hooks *hooks, void *context);

static inline struct tw_slice_end tw_slice_end_of(const struct tw_calls *calls, const struct tw_frame *frame,
                                                  uint64_t time, enum tw_call_end how, const struct tw_event *event)
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

/* ---- The fast path: what tw_calls_take_items() does, of one event, and in place: events of a track come by turns with
 * those of others. Nothing is held back between two events. It is inlined so that the hooks, constants, are too: `make
 * bench` measures convert to Perfetto. ---- */

typedef uint32_t tw_slice_begin_fn(void *context, const struct tw_event *event, uint32_t caller);
typedef void tw_slice_end_fn(void *context, const struct tw_slice_end *end);

/* Ends the slice on top. */
static inline __attribute__((always_inline)) void tw_slices_end_top(struct tw_slices *slices, uint64_t time,
                                                                    const struct tw_event *event, tw_slice_end_fn *tell)
{
	struct tw_calls *calls = &slices->calls;
	struct tw_call_space *space = calls->stack->space;
	struct tw_frame *top = &space->frames[calls->stack->depth--];
	space->on_stack[top->name].calls--;
	top[-1].children += time - top->begin;
	const struct tw_slice_end end = tw_slice_end_of(calls, top, time, TW_CALL_ENDED, event);
	tell(slices->context, &end);
}

static inline bool tw_slices_top_is_timed(const struct tw_call_stack *stack)
{
	return stack->timed_count && stack->timed[stack->timed_count - 1].depth == stack->depth;
}

/* Ends the complete slices on top that are over at a time. */
static inline __attribute__((always_inline)) void tw_slices_settle(struct tw_slices *slices,
                                                                   struct tw_call_stack *stack, uint64_t time,
                                                                   tw_slice_end_fn *tell)
{
	while (stack->due <= time && tw_slices_top_is_timed(stack) &&
	       stack->timed[stack->timed_count - 1].end == stack->due) {
		uint64_t end = stack->due;
		stack->due = stack->timed[--stack->timed_count].due_below;
		tw_slices_end_top(slices, end, NULL, tell);
	}
}

static inline __attribute__((always_inline)) bool tw_slices_end(struct tw_slices *slices, struct tw_call_stack *stack,
                                                                const struct tw_event *event, tw_slice_end_fn *tell)
{
	const struct tw_frame *top = &stack->space->frames[stack->depth];
	if (stack->due < event->time || top->name != event->name || event->time < top->begin ||
	    tw_slices_top_is_timed(stack) || top->row < TW_ROW_OTHER)
		return false;
	tw_slices_end_top(slices, event->time, event, tell);
	return true;
}

static inline __attribute__((always_inline)) bool tw_slices_begin(struct tw_slices *slices, struct tw_call_stack *stack,
                                                                  const struct tw_event *event, tw_slice_begin_fn *tell)
{
	struct tw_call_space *space = stack->space;
	bool timed = event->kind == TW_SLICE_COMPLETE;
	uint32_t depth = stack->depth;
	if (stack->due <= event->time || event->name >= space->name_room || depth + (size_t)1 >= space->frame_room ||
	    (timed && stack->timed_count == stack->timed_room))
		return false;
	struct tw_frame *top = &space->frames[depth];
	uint32_t row = tell(slices->context, event, top->row);
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

/* What the fast path does not take. */
void tw_slices_take_slowly(struct tw_slices *slices, const struct tw_event *event);

/* Takes any event: slices that are over by then end. begin, end: the hooks once more. */
static inline __attribute__((always_inline)) void tw_slices_take(struct tw_slices *slices, const struct tw_event *event,
                                                                 tw_slice_begin_fn *begin, tw_slice_end_fn *end)
{
	if (!tw_calls_meet(&slices->calls, event))
		return;
	struct tw_call_stack *stack = slices->calls.stack;
	bool usual = stack->space && !stack->space->tableless && !stack->folded;
	if (usual)
		tw_slices_settle(slices, stack, event->time, end);
	if (!usual || !(event->kind == TW_SLICE_END ? tw_slices_end(slices, stack, event, end)
	                                            : tw_slices_begin(slices, stack, event, begin)))
		tw_slices_take_slowly(slices, event);
	else
		tw_calls_go_on(&slices->calls, tw_event_over(event));
}

/* Ends all slices of all tracks. */
void tw_slices_finish(struct tw_slices *slices);

void tw_slices_free(struct tw_slices *slices);

#endif
