/* calls.h - begins and ends of slices to calls: the stack of every track. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_H
#define CORE_CALLS_H

#include <trackway/event.h>

#include "core/budget.h"

/* Rows are what the owner counts calls in, by number. */
enum { TW_ROW_NONE, TW_ROW_OTHER, TW_ROW_FIRST };

enum tw_call_end { TW_CALL_ENDED, TW_CALL_UNWOUND, TW_CALL_OPEN };

/* A call that is going on. */
struct tw_frame {
	uint64_t begin;
	uint64_t children; /* ns in the calls directly inside */
	uint64_t outer;    /* all bits set: no call of this row is below on the stack; otherwise 0 */
	uint32_t name;
	uint32_t row;
};

/* What a track has while calls are going on. Once the stack is empty there are 0 calls of every name and row, so that a
 * space can go to another track as it is. */
struct tw_call_space {
	struct tw_frame *frames; /* the first is the root of the stack: its name is UINT32_MAX */
	size_t frame_room;
	uint32_t *on_stack; /* calls by name */
	size_t name_room;
	uint32_t *row_on_stack; /* calls by row, only where `by_row` */
	size_t row_room;
	uint32_t lowest_other;      /* where the lowest call of TW_ROW_OTHER is, if it is there: otherwise stale */
	struct tw_call_space *next; /* of those that no track has */
};

/* A frame whose end is known: a complete slice. */
struct tw_timed_frame {
	uint64_t end;
	uint64_t due_below; /* due without it */
	uint32_t depth;
};

/* A track. */
struct tw_call_stack {
	struct tw_call_space *space; /* NULL: nothing is going on */
	uint32_t depth;              /* of the top frame; 0: none but the root */
	uint64_t folded;             /* calls above the top for which there was no memory */
	uint64_t last;               /* time of the last event */
	uint64_t due;                /* when the first of the timed frames ends; UINT64_MAX: there are none */
	struct tw_timed_frame *timed;
	size_t timed_count, timed_room;
};

struct tw_calls;

/* The owner's part: struct tw_calls is the first member of the context. */
struct tw_call_hooks {
	/* Gives the row of the stack's root. */
	uint32_t (*root)(struct tw_calls *calls, uint32_t track);
	/* Gives the row of a call; TW_ROW_OTHER when there is no memory for it. */
	uint32_t (*enter)(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name);
	void (*leave)(struct tw_calls *calls, const struct tw_frame *frame, uint64_t duration, uint64_t self,
	              enum tw_call_end how);
};

struct tw_calls {
	const struct tw_call_hooks *hooks;
	struct tw_budget *budget;
	uint64_t min_duration;
	bool by_row;       /* several rows may have the same name on one track */
	bool in_turn;      /* a track is over when it is left */
	size_t name_limit; /* names below this may be given to `find` of the fast path */
	uint32_t track;
	struct tw_call_stack *stack;  /* of the track */
	struct tw_call_stack *stacks; /* by track */
	size_t stack_room;
	struct tw_call_stack spare;   /* of all tracks that there is no memory for */
	struct tw_call_space *spaces; /* that no track has */
	const uint32_t
	    *row_of; /* rows by name, for names below name_limit; NULL where rows are not found by name alone */
	uint64_t exits_without_entry, time_backwards;
	uint64_t untimed; /* calls that there was no memory for: they are counted, without a duration */
};

bool tw_calls_init(struct tw_calls *calls);
void tw_calls_free(struct tw_calls *calls);

/* Takes any event. */
void tw_calls_take(struct tw_calls *calls, const struct tw_event *event);

/* Makes a track the current one. */
void tw_calls_switch(struct tw_calls *calls, uint32_t track);

/* The end of all tracks: ends what is open. */
void tw_calls_finish(struct tw_calls *calls);

/* Calls that ended, for formats that find them without making events: struct tw_format's read_calls. */
struct tw_left_call {
	uint64_t duration, self;
	uint64_t outer; /* as in struct tw_frame */
	uint32_t row;
};

struct tw_left_calls {
	struct tw_left_call *calls;
	size_t count, room;
};

/* ---- The fast path: begins and ends that match, of one track. Nothing in it makes rows or frames; what it cannot do
 * it leaves to tw_calls_take(). It is inlined so that find and leave, constants, are too. `make bench` measures stat;
 * tw_calls_take() alone takes four times as long. ---- */

/* Finds the row of a call; TW_ROW_NONE when that takes more than a look. */
typedef uint32_t (*tw_call_find_fn)(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name);
typedef void (*tw_call_leave_fn)(struct tw_calls *calls, const struct tw_frame *frame, uint64_t duration, uint64_t self,
                                 enum tw_call_end how);

/* What the fast path keeps in registers. */
struct tw_call_cursor {
	struct tw_calls *calls;
	struct tw_frame *top, *last; /* last: there is no room above */
	uint32_t *on_stack, *row_on_stack;
	size_t names, rows; /* for which there is room */
	uint64_t min_duration;
};

/* Puts a call on the stack; there must be room. */
static inline __attribute__((always_inline)) void tw_calls_put(struct tw_call_cursor *at, uint64_t time, uint32_t name,
                                                               uint32_t row, bool by_row)
{
	uint32_t below = at->on_stack[name]++;
	if (by_row)
		below = at->row_on_stack[row]++;
	struct tw_frame *top = ++at->top;
	top->begin = time;
	top->children = 0;
	top->outer = (uint64_t)(below != 0) - 1;
	top->name = name;
	top->row = row;
}

/* Takes the top off the stack: its duration. What it leaves is top[1]; not counted yet with its caller. */
static inline __attribute__((always_inline)) uint64_t tw_calls_drop(struct tw_call_cursor *at, uint64_t time,
                                                                    bool by_row)
{
	struct tw_frame *top = at->top--;
	at->on_stack[top->name]--;
	if (by_row)
		at->row_on_stack[top->row]--;
	return time - top->begin;
}

static inline __attribute__((always_inline)) bool tw_calls_push(struct tw_call_cursor *at, const struct tw_event *event,
                                                                tw_call_find_fn find, bool by_row)
{
	uint32_t name = event->name;
	if (name >= at->names || at->top == at->last)
		return false;
	uint32_t row = find(at->calls, at->top, name);
	if (row < TW_ROW_FIRST || (by_row && row >= at->rows))
		return false;
	tw_calls_put(at, event->time, name, row, by_row);
	return true;
}

static inline __attribute__((always_inline)) bool tw_calls_pop(struct tw_call_cursor *at, const struct tw_event *event,
                                                               tw_call_leave_fn leave, bool by_row)
{
	struct tw_frame *top = at->top;
	if (top->name != event->name || event->time < top->begin)
		return false;
	uint64_t duration = tw_calls_drop(at, event->time, by_row), children = top->children;
	if (duration < at->min_duration) {
		top[-1].children += children;
		return true;
	}
	top[-1].children += duration;
	leave(at->calls, top, duration, duration > children ? duration - children : 0, TW_CALL_ENDED);
	return true;
}

static inline struct tw_call_cursor tw_calls_cursor(struct tw_calls *calls)
{
	const struct tw_call_space *space = calls->stack->space;
	return (struct tw_call_cursor){
	    .calls = calls,
	    .top = space->frames + calls->stack->depth,
	    .last = space->frames + space->frame_room - 1,
	    .on_stack = space->on_stack,
	    .row_on_stack = space->row_on_stack,
	    .names = space->name_room < calls->name_limit ? space->name_room : calls->name_limit,
	    .rows = space->row_room,
	    .min_duration = calls->min_duration,
	};
}

/* Takes events of the current track, as many as it can; returns how many. */
static inline __attribute__((always_inline)) size_t tw_calls_run(struct tw_calls *calls, const struct tw_event *events,
                                                                 size_t count, tw_call_find_fn find,
                                                                 tw_call_leave_fn leave, bool by_row)
{
	struct tw_call_stack *stack = calls->stack;
	if (!stack->space || stack->timed_count || stack->folded)
		return 0;
	struct tw_call_cursor at = tw_calls_cursor(calls);
	const uint32_t track = calls->track;
	const struct tw_event *event = events, *end = events + count;
	for (; event < end && event->track == track; event++) {
		if (event->kind == TW_SLICE_BEGIN) {
			if (!tw_calls_push(&at, event, find, by_row))
				break;
		} else if (event->kind == TW_SLICE_END) {
			if (!tw_calls_pop(&at, event, leave, by_row))
				break;
		} else if (event->kind == TW_SLICE_COMPLETE) {
			break;
		}
	}
	stack->depth = (uint32_t)(at.top - stack->space->frames);
	if (event > events)
		stack->last = event[-1].time;
	return (size_t)(event - events);
}

/* Takes a batch. */
static inline __attribute__((always_inline)) void tw_calls_feed(struct tw_calls *calls, const struct tw_batch *batch,
                                                                tw_call_find_fn find, tw_call_leave_fn leave,
                                                                bool by_row)
{
	for (size_t i = 0; i < batch->count;) {
		if (batch->events[i].track != calls->track)
			tw_calls_switch(calls, batch->events[i].track);
		size_t done = tw_calls_run(calls, batch->events + i, batch->count - i, find, leave, by_row);
		i += done;
		if (i < batch->count && batch->events[i].track == calls->track)
			tw_calls_take(calls, &batch->events[i++]);
	}
}

#endif
