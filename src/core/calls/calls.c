/* calls.c - begins and ends of slices to calls: all that is not the fast path. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/calls.h"

#include "base/memory/memory.h"

#include <stdlib.h>

static const uint32_t NO_NAME = UINT32_MAX;

/* ---- Tracks and what they have while calls are going on. ---- */

bool tw_calls_init(struct tw_calls *calls)
{
	calls->spare.due = UINT64_MAX;
	if (!tw_grow(&calls->stacks, &calls->stack_room, 1, sizeof *calls->stacks))
		return false;
	for (size_t i = 0; i < calls->stack_room; i++)
		calls->stacks[i].due = UINT64_MAX;
	calls->stack = &calls->stacks[0];
	return true;
}

static void free_space(struct tw_call_space *space)
{
	if (!space)
		return;
	free(space->frames);
	free(space->on_stack);
	free(space->row_on_stack);
	free(space);
}

void tw_calls_free(struct tw_calls *calls)
{
	for (size_t i = 0; i < calls->stack_room; i++) {
		free_space(calls->stacks[i].space);
		free(calls->stacks[i].timed);
	}
	for (struct tw_call_space *space = calls->spaces, *next; space; space = next) {
		next = space->next;
		free_space(space);
	}
	free(calls->spare.timed);
	free(calls->stacks);
}

static struct tw_call_space *new_space(struct tw_calls *calls)
{
	struct tw_call_space *space = calls->spaces;
	if (space) {
		calls->spaces = space->next;
		return space;
	}
	if (!tw_budget_take(calls->budget, TW_FOR_STACKS, sizeof *space))
		return NULL;
	space = calloc(1, sizeof *space);
	if (space &&
	    tw_budget_grow(calls->budget, TW_FOR_STACKS, &space->frames, &space->frame_room, 1, sizeof *space->frames))
		return space;
	if (!space)
		tw_budget_fail(calls->budget);
	free(space);
	tw_budget_give(calls->budget, TW_FOR_STACKS, sizeof *space);
	return NULL;
}

/* ---- How many calls of a name, and of a row, go on: by tables, or, where many tracks have something open at once and
 * there is no memory for tables of all, by a look at all frames, which are few then. ---- */

enum { TABLELESS_DEPTH = 64, RESERVE = 4 /* the share of the memory that tables leave */ };

static uint32_t calls_of_name(const struct tw_call_space *space, uint32_t depth, uint32_t name)
{
	uint32_t count = 0;
	for (uint32_t i = 1; i <= depth; i++)
		count += space->frames[i].name == name;
	return count;
}

static uint32_t calls_of_row(const struct tw_call_space *space, uint32_t depth, uint32_t row)
{
	uint32_t count = 0;
	for (uint32_t i = 1; i <= depth; i++)
		count += space->frames[i].row == row;
	return count;
}

static bool grow_names(struct tw_calls *calls, struct tw_call_space *space, uint32_t name)
{
	return tw_budget_grow(calls->budget, TW_FOR_STACKS, &space->on_stack, &space->name_room, name + (size_t)1,
	                      sizeof *space->on_stack);
}

static bool grow_rows(struct tw_calls *calls, struct tw_call_space *space, uint32_t row)
{
	return !calls->by_row || tw_budget_grow(calls->budget, TW_FOR_STACKS, &space->row_on_stack, &space->row_room,
	                                        row + (size_t)1, sizeof *space->row_on_stack);
}

static void drop_tables(struct tw_calls *calls, struct tw_call_space *space)
{
	tw_budget_give(calls->budget, TW_FOR_STACKS,
	               space->name_room * sizeof *space->on_stack + space->row_room * sizeof *space->row_on_stack);
	free(space->on_stack);
	free(space->row_on_stack);
	space->on_stack = NULL;
	space->row_on_stack = NULL;
	space->name_room = space->row_room = 0;
	space->tableless = true;
}

/* Makes tables of what goes on. */
static bool make_tables(struct tw_calls *calls, struct tw_call_space *space, uint32_t depth)
{
	for (uint32_t i = 1; i <= depth; i++)
		if (!grow_names(calls, space, space->frames[i].name) || !grow_rows(calls, space, space->frames[i].row))
			return false;
	for (uint32_t i = 1; i <= depth; i++) {
		space->on_stack[space->frames[i].name].calls++;
		if (calls->by_row)
			space->row_on_stack[space->frames[i].row]++;
	}
	space->tableless = false;
	return true;
}

static bool is_roomy(const struct tw_calls *calls)
{
	return tw_budget_fits(calls->budget, TW_FOR_STACKS, tw_budget_most(calls->budget, TW_FOR_STACKS) / RESERVE);
}

/* Makes room for a call of a name above a depth. */
static bool make_name_room(struct tw_calls *calls, struct tw_call_space *space, uint32_t depth, uint32_t name)
{
	bool shallow = depth < TABLELESS_DEPTH;
	if (space->tableless)
		return shallow || (make_tables(calls, space, depth) && grow_names(calls, space, name));
	if (name < space->name_room || ((is_roomy(calls) || !shallow) && grow_names(calls, space, name)))
		return true;
	if (shallow)
		drop_tables(calls, space);
	return shallow;
}

static bool make_row_room(struct tw_calls *calls, struct tw_call_space *space, uint32_t depth, uint32_t row)
{
	if (space->tableless || grow_rows(calls, space, row))
		return true;
	if (depth < TABLELESS_DEPTH)
		drop_tables(calls, space);
	return space->tableless;
}

bool tw_calls_hold(const struct tw_calls *calls, uint32_t name)
{
	const struct tw_call_space *space = calls->stack->space;
	if (!space || space->tableless)
		return space && calls_of_name(space, calls->stack->depth, name);
	return name < space->name_room && space->on_stack[name].calls;
}

/* Gives the current track the frames that it needs to push a call of a name. */
static bool make_room(struct tw_calls *calls, uint32_t name)
{
	struct tw_call_stack *stack = calls->stack;
	if (stack == &calls->spare || name == NO_NAME || stack->depth >= UINT32_MAX - 2)
		return false;
	if (!stack->space) {
		stack->space = new_space(calls);
		if (!stack->space)
			return false;
		stack->space->frames[0] = (struct tw_frame){
		    .name = NO_NAME,
		    .row = calls->hooks->root ? calls->hooks->root(calls, calls->track) : TW_ROW_NONE,
		};
	}
	struct tw_call_space *space = stack->space;
	return tw_budget_grow(calls->budget, TW_FOR_STACKS, &space->frames, &space->frame_room,
	                      stack->depth + (size_t)2, sizeof *space->frames) &&
	       make_name_room(calls, space, stack->depth, name);
}

/* ---- Ends. ---- */

static bool top_is_timed(const struct tw_call_stack *stack)
{
	return stack->timed_count && stack->timed[stack->timed_count - 1].depth == stack->depth;
}

static uint64_t duration_of(struct tw_calls *calls, const struct tw_frame *frame, uint64_t end)
{
	if (end >= frame->begin)
		return end - frame->begin;
	calls->time_backwards++;
	return 0;
}

/* Whether a call of TW_ROW_OTHER is inside of another one. */
static bool inside_other(const struct tw_call_space *space, const struct tw_frame *frame)
{
	return space->lowest_other != frame - space->frames;
}

/* Takes a frame that stands above a depth from the tables; returns how many calls like it go on. */
static uint32_t take_away(const struct tw_calls *calls, struct tw_call_space *space, uint32_t depth,
                          const struct tw_frame *frame)
{
	if (space->tableless && calls->by_row)
		return calls_of_row(space, depth, frame->row);
	if (space->tableless)
		return calls_of_name(space, depth, frame->name);
	uint32_t below = --space->on_stack[frame->name].calls;
	return calls->by_row ? --space->row_on_stack[frame->row] : below;
}

/* Ends the call on top. */
static void pop(struct tw_calls *calls, uint64_t time, enum tw_call_end how)
{
	struct tw_call_stack *stack = calls->stack;
	struct tw_call_space *space = stack->space;
	struct tw_frame *frame = &space->frames[stack->depth];
	if (top_is_timed(stack)) {
		const struct tw_timed_frame *timed = &stack->timed[--stack->timed_count];
		tw_calls_go_on(calls, timed->end); /* the fast path has told only of the last item that it took */
		stack->due = timed->due_below;
	}
	stack->depth--;
	uint32_t below = take_away(calls, space, stack->depth, frame);
	if (frame->row == TW_ROW_OTHER)
		below = inside_other(space, frame);
	uint64_t duration = duration_of(calls, frame, time);
	if (duration < calls->min_duration && how != TW_CALL_OPEN) { /* how long that would last is not known */
		frame[-1].children += frame->children;
		return;
	}
	frame[-1].children += duration;
	const struct tw_left_call call = {.duration = duration,
	                                  .children = frame->children,
	                                  .row = frame->row,
	                                  .below = below};
	calls->hooks->leave(calls, frame, &call, how);
}

/* Ends the calls above a depth by what ends below them; complete slices that are over by then are not unwound. */
static void unwind(struct tw_calls *calls, uint32_t depth, uint64_t time)
{
	struct tw_call_stack *stack = calls->stack;
	while (stack->depth > depth) {
		bool own = top_is_timed(stack) && stack->timed[stack->timed_count - 1].end <= time;
		pop(calls, time, own ? TW_CALL_ENDED : TW_CALL_UNWOUND);
	}
}

/* Ends the complete slices that are over at a time, in the order of their ends. */
static void advance(struct tw_calls *calls, uint64_t time)
{
	struct tw_call_stack *stack = calls->stack;
	while (stack->timed_count && stack->due <= time) {
		uint64_t due = stack->due;
		size_t lowest = stack->timed_count - 1;
		while (stack->timed[lowest].due_below == due && lowest > 0)
			lowest--;
		unwind(calls, stack->timed[lowest].depth, due);
		pop(calls, due, TW_CALL_ENDED);
	}
}

/* Ends the complete slices that are over when a call ends: those that end at the same time only from the top, because
 * the call may be inside them. */
static void advance_to_end(struct tw_calls *calls, uint64_t time)
{
	struct tw_call_stack *stack = calls->stack;
	if (time > 0)
		advance(calls, time - 1);
	while (top_is_timed(stack) && stack->timed[stack->timed_count - 1].end <= time)
		pop(calls, time, TW_CALL_ENDED);
}

/* The frame of the innermost call that is no complete slice; 0 when there is none. */
static uint32_t innermost(const struct tw_call_stack *stack)
{
	uint32_t depth = stack->depth;
	if (stack->timed_count == depth) /* none: an end for each of many must not look at all of them */
		return 0;
	for (size_t i = stack->timed_count; i > 0 && depth && stack->timed[i - 1].depth == depth; i--)
		depth--;
	return depth;
}

/* The frame of the innermost call of a name that is no complete slice; 0 when there is none. In a stack so deep that
 * many ends must not each look at all of it, it may be a complete slice. */
static uint32_t innermost_of(const struct tw_call_stack *stack, uint32_t name)
{
	enum { DEEP = 1024 };
	const struct tw_frame *frames = stack->space->frames;
	uint32_t found = 0, least = 0;
	size_t timed = stack->timed_count;
	for (uint32_t depth = stack->depth; depth > least; depth--) {
		bool complete = timed && stack->timed[timed - 1].depth == depth;
		timed -= complete;
		if (frames[depth].name != name)
			continue;
		if (!complete)
			return depth;
		if (!found && depth > DEEP)
			least = depth - DEEP;
		found = found ? found : depth;
	}
	return stack->depth > DEEP ? found : 0;
}

/* The frame that an end belongs to, 0 when there is none. An end without a name ends the innermost. */
static uint32_t frame_of(const struct tw_call_stack *stack, uint32_t name)
{
	const struct tw_call_space *space = stack->space;
	if (!space || (!space->tableless && name >= space->name_room))
		return 0;
	if (name == 0)
		return innermost(stack);
	if (!space->tableless && !space->on_stack[name].calls)
		return 0;
	return innermost_of(stack, name);
}

static void take_end(struct tw_calls *calls, const struct tw_call_item *item)
{
	struct tw_call_stack *stack = calls->stack;
	if (stack->folded) {
		stack->folded--;
		return;
	}
	advance_to_end(calls, item->time);
	uint32_t depth = frame_of(stack, item->name);
	if (depth == 0) {
		calls->exits_without_entry++;
		return;
	}
	unwind(calls, depth, item->time);
	pop(calls, item->time, TW_CALL_ENDED);
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
	if (!space->tableless && calls->by_row)
		space->row_on_stack[row]++;
	if (row == TW_ROW_OTHER && !holds_other(space, depth))
		space->lowest_other = depth + 1;
}

/* Puts a call on the stack, or counts it where there is no memory. */
static bool push(struct tw_calls *calls, const struct tw_call_item *item)
{
	struct tw_call_stack *stack = calls->stack;
	bool room = !stack->folded && make_room(calls, item->name);
	struct tw_call_space *space = stack->space;
	if (room)
		space->frames[stack->depth + 1].begin = item->time;
	uint32_t row = room ? calls->hooks->enter(calls, &space->frames[stack->depth], item->name) : TW_ROW_NONE;
	if (!room || !make_row_room(calls, space, stack->depth, row)) {
		calls->untimed++;
		return false;
	}
	note(calls, space, stack->depth, item->name, row);
	space->frames[++stack->depth] = (struct tw_frame){
	    .begin = item->time,
	    .name = item->name,
	    .row = row,
	};
	return true;
}

static void take_complete(struct tw_calls *calls, const struct tw_call_item *item)
{
	struct tw_call_stack *stack = calls->stack;
	if (!tw_budget_grow(calls->budget, TW_FOR_STACKS, &stack->timed, &stack->timed_room, stack->timed_count + 1,
	                    sizeof *stack->timed)) {
		calls->untimed++;
		return;
	}
	if (!push(calls, item))
		return;
	uint64_t end = tw_call_item_over(item);
	stack->timed[stack->timed_count++] = (struct tw_timed_frame){
	    .end = end,
	    .due_below = stack->due,
	    .depth = stack->depth,
	};
	stack->due = end < stack->due ? end : stack->due;
}

void tw_calls_take_item(struct tw_calls *calls, const struct tw_call_item *item)
{
	struct tw_call_stack *stack = calls->stack;
	tw_calls_go_on(calls, tw_call_item_over(item));
	if (tw_item_kind(item) == TW_CALL_END) {
		take_end(calls, item);
		return;
	}
	advance(calls, item->time);
	if (tw_item_kind(item) == TW_CALL_BEGIN)
		stack->folded += !push(calls, item);
	else
		take_complete(calls, item);
}

bool tw_calls_hold_other(const struct tw_calls *calls)
{
	return calls->stack->space && holds_other(calls->stack->space, calls->stack->depth);
}

/* How many items of a run, from one on, are nested calls that go on from the ones before while nothing ends. */
static size_t nested_in_a_row(const struct tw_call_run *run, size_t first, uint64_t due)
{
	size_t i = first + 1;
	for (; i < run->count && tw_item_kind(&run->items[i]) == TW_CALL_NESTED && run->items[i].time < due; i++)
		if (run->items[i].name + tw_item_place(&run->items[i]) != run->items[i - 1].name)
			break;
	return i - first;
}

size_t tw_calls_take_nested(struct tw_calls *calls, const struct tw_call_run *run, size_t first)
{
	struct tw_call_stack *stack = calls->stack;
	const struct tw_call_item *items = run->items + first;
	advance(calls, items->time);
	const size_t taken = nested_in_a_row(run, first, stack->due);
	const uint32_t from = items[taken - 1].name;
	const size_t count = items->name + tw_item_place(items) - from;
	tw_calls_go_on(calls, run->newest);
	if (stack->folded || stack == &calls->spare) {
		calls->untimed += count;
		return taken;
	}
	for (size_t i = 0; stack->space && i < taken; i++)
		stack->space->frames[stack->depth].children += items[i].duration;
	calls->hooks->nested(calls, run->nested + from, count);
	return taken;
}

/* ---- Events. ---- */

void tw_calls_take(struct tw_calls *calls, const struct tw_event *event)
{
	const struct tw_call_item item = tw_call_item_of(event);
	if (tw_is_call(event))
		tw_calls_take_item(calls, &item);
	else
		tw_calls_go_on(calls, tw_event_over(event));
}

void tw_calls_advance(struct tw_calls *calls, uint64_t time)
{
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

/* What is open ends with the last event, or with a complete slice around it that is over before. */
static void finish_track(struct tw_calls *calls)
{
	struct tw_call_stack *stack = calls->stack;
	for (size_t i = 0; i < stack->timed_count; i++)
		tw_calls_go_on(calls, stack->timed[i].end);
	if (stack->last > 0)
		advance(calls, stack->last - 1);
	while (stack->depth)
		pop(calls, stack->last, top_is_timed(stack) ? TW_CALL_ENDED : TW_CALL_OPEN);
}

void tw_calls_switch(struct tw_calls *calls, uint32_t track)
{
	struct tw_call_stack *left = calls->stack;
	if (calls->in_turn)
		finish_track(calls);
	if (left->space && !left->depth) {
		left->space->tableless = false;
		left->space->next = calls->spaces;
		calls->spaces = left->space;
		left->space = NULL;
	}
	size_t before = calls->stack_room;
	bool known = tw_budget_grow(calls->budget, TW_FOR_STACKS, &calls->stacks, &calls->stack_room, track + (size_t)1,
	                            sizeof *calls->stacks);
	for (size_t i = before; i < calls->stack_room; i++)
		calls->stacks[i].due = UINT64_MAX;
	calls->track = track;
	calls->stack = known ? &calls->stacks[track] : &calls->spare;
}

void tw_calls_finish(struct tw_calls *calls)
{
	for (size_t i = 0; i < calls->stack_room; i++) {
		calls->track = (uint32_t)i;
		calls->stack = &calls->stacks[i];
		finish_track(calls);
	}
}
