/* calls.c - begins and ends of slices to calls: all that is not the fast path. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/calls.h"

#include "base/memory/memory.h"
#include "base/memory/sum.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NO_NAME = UINT32_MAX;

enum {
	ROUNDING = 1,      /* ns by which a slice may end behind the one around it: times are often rounded to 1 ns */
	LANES_MOST = 1024, /* of a track */
	DEEP = 1024        /* frames that one end may look at */
};

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

static void free_stack(struct tw_call_stack *stack)
{
	for (size_t i = 0; i < stack->lane_room; i++) {
		free_space(stack->lanes[i].stack.space);
		free(stack->lanes[i].stack.timed);
		free(stack->lanes[i].stack.lifted);
	}
	free(stack->lanes);
	free_space(stack->space);
	free(stack->timed);
	free(stack->lifted);
}

void tw_calls_free(struct tw_calls *calls)
{
	for (size_t i = 0; i < calls->stack_room; i++)
		free_stack(&calls->stacks[i]);
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

static struct tw_call_stack *lane_stack(struct tw_call_stack *own, uint32_t lane)
{
	return lane ? &own->lanes[lane - 1].stack : own;
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

/* How many calls like that of a frame go on around a lane: those of its name or row up to its root. */
static uint32_t calls_around(const struct tw_calls *calls, uint32_t lane, const struct tw_frame *frame)
{
	uint32_t count = 0;
	while (lane) {
		const struct tw_call_lane *further = &calls->own->lanes[lane - 1];
		const struct tw_call_space *space = lane_stack(calls->own, further->base_lane)->space;
		if (further->base_depth)
			count += calls->by_row ? calls_of_row(space, further->base_depth, frame->row)
			                       : calls_of_name(space, further->base_depth, frame->name);
		lane = further->base_lane;
	}
	return count;
}

bool tw_calls_hold(const struct tw_calls *calls, uint32_t name)
{
	const struct tw_call_space *space = calls->stack->space;
	const struct tw_frame like = {.name = name};
	if (calls->lane && calls_around(calls, calls->lane, &like))
		return true;
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

/* ---- Lanes. ---- */

/* Has the functions below, and hooks, work on a lane of the current track. */
static void turn_to_lane(struct tw_calls *calls, uint32_t lane)
{
	calls->stack = lane_stack(calls->own, lane);
	calls->lane = lane;
	calls->level = lane ? calls->own->lanes[lane - 1].level : 0;
}

/* How deep the root of a lane is. */
static uint32_t level_of(const struct tw_call_stack *own, uint32_t lane)
{
	uint32_t level = 0;
	for (; lane; lane = own->lanes[lane - 1].base_lane)
		level += own->lanes[lane - 1].base_depth;
	return level;
}

/* Tells a lane what its root stands for. */
static void set_base(struct tw_calls *calls, uint32_t lane, uint32_t base_lane, uint32_t base_depth)
{
	struct tw_call_lane *further = &calls->own->lanes[lane - 1];
	while (base_lane && !base_depth) {
		base_depth = calls->own->lanes[base_lane - 1].base_depth;
		base_lane = calls->own->lanes[base_lane - 1].base_lane;
	}
	const struct tw_call_space *around = lane_stack(calls->own, base_lane)->space;
	struct tw_frame *root = &further->stack.space->frames[0];
	further->base_lane = base_lane;
	further->base_depth = base_depth;
	further->level = level_of(calls->own, lane);
	root->name = around ? around->frames[base_depth].name : NO_NAME;
	root->row = around ? around->frames[base_depth].row : TW_ROW_NONE;
}

/* Gives the frames from a depth on the rows that they have under what is now below them. */
static void move_rows(struct tw_calls *calls, uint32_t depth)
{
	struct tw_call_space *space = calls->stack->space;
	for (uint32_t i = depth; i <= calls->stack->depth && calls->hooks->moved; i++) {
		struct tw_frame *frame = &space->frames[i];
		const uint32_t row = calls->hooks->moved(calls, frame - 1, frame), was = frame->row;
		if (row == was || row < TW_ROW_FIRST || was < TW_ROW_FIRST ||
		    (calls->by_row && !space->tableless && !grow_rows(calls, space, row)))
			continue;
		if (calls->by_row && !space->tableless) {
			space->row_on_stack[was]--;
			space->row_on_stack[row]++;
		}
		frame->row = row;
	}
}

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

/* The calls of lanes have got others around them. */
static void move_lanes(struct tw_calls *calls)
{
	const uint32_t lane = calls->lane;
	for (uint32_t i = 1; i <= calls->own->lane_count; i++) {
		const struct tw_call_lane *further = &calls->own->lanes[i - 1];
		if (!further->stack.depth)
			continue;
		set_base(calls, i, further->base_lane, further->base_depth);
		turn_to_lane(calls, i);
		move_rows(calls, 1);
	}
	turn_to_lane(calls, lane);
}

/* A frame of a lane is gone, and those above it are a place lower. */
static void lower_bases(struct tw_calls *calls, uint32_t lane, uint32_t depth)
{
	struct tw_call_stack *own = calls->own;
	bool moved = false;
	for (uint32_t i = 1; i <= own->lane_count; i++) {
		const struct tw_call_lane *further = &own->lanes[i - 1];
		if (further->stack.depth && further->base_lane == lane && further->base_depth >= depth) {
			set_base(calls, i, lane, further->base_depth - 1);
			moved = true;
		}
	}
	if (moved)
		move_lanes(calls);
	while (own->lane_count && !own->lanes[own->lane_count - 1].stack.depth)
		own->lane_count--;
}

/* The lowest lane in which nothing is open, a new one if there is none; 0: there is no room. */
static uint32_t free_lane(struct tw_calls *calls)
{
	struct tw_call_stack *own = calls->own;
	uint32_t lane = 1;
	while (lane <= own->lane_count && own->lanes[lane - 1].stack.depth)
		lane++;
	const size_t before = own->lane_room;
	if (lane > LANES_MOST ||
	    !tw_budget_grow(calls->budget, TW_FOR_STACKS, &own->lanes, &own->lane_room, lane, sizeof *own->lanes))
		return 0;
	for (size_t i = before; i < own->lane_room; i++)
		own->lanes[i].stack.due = UINT64_MAX;
	struct tw_call_stack *stack = &own->lanes[lane - 1].stack;
	if (!stack->space) {
		stack->space = new_space(calls);
		if (!stack->space)
			return 0;
		stack->space->tableless = true; /* few are deep */
		stack->space->frames[0] = (struct tw_frame){.name = NO_NAME};
	}
	own->lane_count = lane > own->lane_count ? lane : own->lane_count;
	return lane;
}

/* ---- Ends. ---- */

static bool top_is_timed(const struct tw_call_stack *stack)
{
	return stack->timed_count && stack->timed[stack->timed_count - 1].depth == stack->depth;
}

/* The end that a complete slice states; for one stack that of what is around it, if that is so soon. */
static uint64_t stated_end(const struct tw_calls *calls, const struct tw_timed_frame *timed)
{
	return tw_sum(timed->end, calls->flat ? 0 : timed->over);
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

/* Takes a frame that stands above a depth from the tables; returns how many calls like it go on below. above: how many
 * do above it. */
static uint32_t take_away(const struct tw_calls *calls, struct tw_call_space *space, uint32_t depth,
                          const struct tw_frame *frame, uint32_t above)
{
	if (space->tableless && calls->by_row)
		return calls_of_row(space, depth, frame->row);
	if (space->tableless)
		return calls_of_name(space, depth, frame->name);
	uint32_t below = --space->on_stack[frame->name].calls;
	return (calls->by_row ? --space->row_on_stack[frame->row] : below) - above;
}

/* The entry of a lifted frame; NULL: the frame was not lifted. */
static const struct tw_lifted_frame *lifted_at(const struct tw_call_stack *stack, uint32_t depth)
{
	for (size_t i = stack->lifted_count; i > 0 && stack->lifted[i - 1].depth >= depth; i--)
		if (stack->lifted[i - 1].depth == depth)
			return &stack->lifted[i - 1];
	return NULL;
}

/* What of a call is counted already in the union of those inside of the frame around it. */
static uint64_t counted_before(const struct tw_call_stack *stack, const struct tw_frame *frame, uint64_t end)
{
	const struct tw_lifted_frame *lifted =
	    stack->lifted_count ? lifted_at(stack, (uint32_t)(frame - stack->space->frames)) : NULL;
	if (!lifted)
		return 0;
	const uint64_t since = lifted->since < end ? lifted->since : end;
	return since > frame->begin ? since - frame->begin : 0;
}

/* Tells that the call of a frame has ended, which is still in its place. Returns whether it counts. */
static bool tell_end(struct tw_calls *calls, struct tw_frame *frame, uint32_t above, uint64_t time,
                     enum tw_call_end how)
{
	struct tw_call_space *space = calls->stack->space;
	uint32_t below = take_away(calls, space, (uint32_t)(frame - space->frames) - 1, frame, above);
	if (frame->row == TW_ROW_OTHER)
		below = inside_other(space, frame);
	if (calls->lane)
		below += calls_around(calls, calls->lane, frame);
	uint64_t duration = duration_of(calls, frame, time);
	if (duration < calls->min_duration && how != TW_CALL_OPEN) { /* how long that would last is not known */
		frame[-1].children += frame->children;
		return false;
	}
	frame[-1].children += duration - counted_before(calls->stack, frame, time);
	const struct tw_left_call call = {.duration = duration,
	                                  .children = frame->children,
	                                  .row = frame->row,
	                                  .below = below};
	calls->hooks->leave(calls, frame, &call, how);
	return true;
}

/* Ends the call on top. Returns whether it counts. */
static bool pop(struct tw_calls *calls, uint64_t time, enum tw_call_end how)
{
	struct tw_call_stack *stack = calls->stack;
	struct tw_frame *frame = &stack->space->frames[stack->depth];
	if (top_is_timed(stack)) {
		const struct tw_timed_frame *timed = &stack->timed[--stack->timed_count];
		tw_calls_go_on(calls, timed->end); /* the fast path has told only of the last item that it took */
		stack->due = timed->due_below;
	}
	stack->depth--;
	bool counts = tell_end(calls, frame, 0, time, how);
	while (stack->lifted_count && stack->lifted[stack->lifted_count - 1].depth > stack->depth)
		stack->lifted_count--;
	if (calls->own->lane_count)
		lower_bases(calls, calls->lane, stack->depth + 1);
	return counts;
}

/* Ends the complete slice on top, when it says. */
static void pop_timed(struct tw_calls *calls)
{
	const struct tw_call_stack *stack = calls->stack;
	pop(calls, stated_end(calls, &stack->timed[stack->timed_count - 1]), TW_CALL_ENDED);
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

/* How many frames above one are like it: of its row where rows count, otherwise of its name. */
static uint32_t alike_above(const struct tw_calls *calls, uint32_t depth)
{
	const struct tw_frame *frames = calls->stack->space->frames;
	uint32_t count = 0;
	for (uint32_t i = depth + 1; i <= calls->stack->depth; i++)
		count += calls->by_row ? frames[i].row == frames[depth].row : frames[i].name == frames[depth].name;
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

/* The frame at a depth ends at a time, and that above it goes on: it is in its place then. */
static void lift(struct tw_calls *calls, uint32_t depth, uint64_t time)
{
	struct tw_call_stack *stack = calls->stack;
	size_t put = 0, above = 0;
	for (size_t i = 0; i < stack->lifted_count; i++)
		put += stack->lifted[i].depth < depth;
	for (size_t i = 0; i < stack->lifted_count; i++)
		above += stack->lifted[i].depth > depth + 1;
	if (!tw_budget_grow(calls->budget, TW_FOR_STACKS, &stack->lifted, &stack->lifted_room, stack->lifted_count + 1,
	                    sizeof *stack->lifted))
		return;
	if (above)
		memmove(&stack->lifted[put + 1], &stack->lifted[stack->lifted_count - above],
		        above * sizeof *stack->lifted);
	stack->lifted[put] = (struct tw_lifted_frame){time, depth};
	stack->lifted_count = put + 1 + above;
	for (size_t i = put + 1; i < stack->lifted_count; i++)
		stack->lifted[i].depth--;
}

/* A frame of a track. */
struct place {
	uint32_t lane, depth;
	uint64_t begin;
};

/* Of the calls directly inside a frame that are open: the latest end that is known. */
static uint64_t covered_until(const struct tw_call_stack *own, const struct place *around, size_t beyond)
{
	const struct tw_call_stack *stack = tw_lane_at(own, around->lane);
	uint64_t until = beyond < stack->timed_count ? stack->timed[beyond].end : 0;
	for (uint32_t i = 0; i < own->lane_count; i++) {
		const struct tw_call_lane *lane = &own->lanes[i];
		bool inside = lane->stack.depth && lane->base_lane == around->lane && lane->base_depth == around->depth;
		if (inside && lane->stack.timed_count && lane->stack.timed[0].depth == 1 &&
		    lane->stack.timed[0].end > until)
			until = lane->stack.timed[0].end;
	}
	return until;
}

/* Ends a call while those above it go on: they were not inside. */
static void slip_out(struct tw_calls *calls, uint32_t depth, uint64_t time, enum tw_call_end how)
{
	struct tw_call_stack *stack = calls->stack;
	struct tw_frame *frame = &stack->space->frames[depth];
	const bool counts = tell_end(calls, frame, alike_above(calls, depth), time, how);
	lower_other(stack, depth);
	const uint64_t covered = covered_until(calls->own, &(struct place){calls->lane, depth - 1, 0}, SIZE_MAX);
	const struct tw_lifted_frame *before = lifted_at(stack, depth + 1);
	const uint64_t since = counts ? time : before ? before->since : 0; /* what is too short covers nothing */
	lift(calls, depth, covered > since ? covered : since);
	take_out_timed(stack, depth);
	memmove(frame, frame + 1, (stack->depth - depth) * sizeof *frame);
	stack->depth--;
	if (calls->own->lane_count)
		lower_bases(calls, calls->lane, depth);
	move_rows(calls, depth);
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
	calls->cut += top - depth;
	while (stack->depth > depth)
		pop(calls, time, TW_CALL_ENDED);
	pop(calls, time, how);
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
	if (stack->depth - depth > DEEP)
		unwind(calls, depth, time);
	if (stack->depth == depth) {
		pop(calls, time, how);
		return;
	}
	calls->overlaps += time > tw_sum(stack->space->frames[depth + 1].begin, ROUNDING);
	(calls->splits ? split : slip_out)(calls, depth, time, how);
}

/* Finds the lane in which the next complete slice ends, up to a time. */
static bool find_due(const struct tw_call_stack *own, uint64_t time, uint32_t *lane)
{
	const struct tw_call_stack *first = own;
	*lane = 0;
	for (uint32_t i = 0; i < own->lane_count; i++)
		if (own->lanes[i].stack.due < first->due) {
			first = &own->lanes[i].stack;
			*lane = i + 1;
		}
	return first->timed_count && first->due <= time;
}

/* Ends the complete slices that are over at a time, in the order of their ends. */
static void advance(struct tw_calls *calls, uint64_t time)
{
	uint32_t lane;
	calls->own = calls->stack;
	while (find_due(calls->own, time, &lane)) {
		turn_to_lane(calls, lane);
		const struct tw_timed_frame *timed = &calls->stack->timed[calls->stack->timed_count - 1];
		end_at(calls, timed->depth, stated_end(calls, timed), TW_CALL_ENDED);
	}
	turn_to_lane(calls, 0);
}

/* Ends the complete slices on top of each lane that end up to a time. */
static void end_tops(struct tw_calls *calls, uint64_t time)
{
	for (uint32_t lane = 0; lane <= calls->own->lane_count; lane++) {
		turn_to_lane(calls, lane);
		while (top_is_timed(calls->stack) && calls->stack->due <= time)
			pop_timed(calls);
	}
	turn_to_lane(calls, 0);
}

/* Ends the complete slices that are over when a call ends: those that end at the same time only from the top, because
 * the call may be inside them. */
static void advance_to_end(struct tw_calls *calls, uint64_t time)
{
	calls->own = calls->stack;
	if (time > 0)
		advance(calls, time - 1);
	end_tops(calls, time);
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

/* The frame of a lane that an end belongs to, 0 when there is none. An end without a name ends the innermost. */
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

/* Takes a frame of a lane, if it begins after the one found so far. Its number is not 0, but for that of the track. */
static void take_later(struct place *found, const struct tw_call_stack *own, uint32_t lane, uint32_t depth)
{
	if (!depth)
		return;
	const uint64_t begin = tw_lane_at(own, lane)->space->frames[depth].begin;
	if (!found->depth || begin >= found->begin)
		*found = (struct place){lane, depth, begin};
}

/* Ends a call, and the calls above it that are not over later: complete slices that are go on. */
static void end_call(struct tw_calls *calls, uint32_t depth, uint64_t time)
{
	const struct tw_call_stack *stack = calls->stack;
	size_t timed = stack->timed_count;
	if (stack->depth - depth > DEEP)
		unwind(calls, depth, time);
	for (uint32_t i = stack->depth; i > depth; i--) {
		while (timed && stack->timed[timed - 1].depth > i)
			timed--;
		bool complete = timed && stack->timed[timed - 1].depth == i;
		uint64_t end = complete ? stated_end(calls, &stack->timed[timed - 1]) : time;
		if (end <= tw_sum(time, ROUNDING))
			end_at(calls, i, end, complete ? TW_CALL_ENDED : TW_CALL_UNWOUND);
	}
	end_at(calls, depth, time, TW_CALL_ENDED);
}

static void take_end(struct tw_calls *calls, const struct tw_call_item *item)
{
	struct tw_call_stack *own = calls->stack;
	struct place found = {0};
	if (own->folded) {
		own->folded--;
		return;
	}
	advance_to_end(calls, item->time);
	for (uint32_t lane = 0; lane <= own->lane_count; lane++)
		take_later(&found, own, lane, frame_of(tw_lane_at(own, lane), item->name));
	if (found.depth == 0) {
		calls->exits_without_entry++;
		return;
	}
	turn_to_lane(calls, found.lane);
	end_call(calls, found.depth, item->time);
	turn_to_lane(calls, 0);
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

/* The call that began last and goes on. */
static struct place latest(const struct tw_call_stack *own)
{
	struct place found = {0};
	for (uint32_t lane = 0; lane <= own->lane_count; lane++)
		take_later(&found, own, lane, tw_lane_at(own, lane)->depth);
	return found;
}

const struct tw_frame *tw_calls_innermost(const struct tw_calls *calls, uint32_t track)
{
	const struct tw_call_stack *own = track < calls->stack_room ? &calls->stacks[track] : &calls->spare;
	const struct place found = latest(own);
	if (!found.depth)
		return NULL;
	return &tw_lane_at(own, found.lane)->space->frames[found.depth];
}

/* Whether a complete slice is on top that ends before `end`, and so soon after a time that this is rounding. */
static bool ends_soon(const struct tw_call_stack *stack, uint64_t time, uint64_t end, uint64_t rounding)
{
	return top_is_timed(stack) && stack->due < end && stack->due - time <= rounding &&
	       stack->space->frames[stack->depth].begin < time;
}

/* Ends the complete slice on top at its end, which is a little later: what begins now has that time, too. */
static void pop_early(struct tw_calls *calls, uint64_t time)
{
	const struct tw_call_stack *stack = calls->stack;
	const uint64_t end = stack->due;
	if (calls->flat) {
		pop(calls, time, TW_CALL_ENDED);
		return;
	}
	if (pop(calls, end, TW_CALL_ENDED))
		stack->space->frames[stack->depth].children -= end - time;
}

/* Ends the complete slices on top that end before `end`, and so soon after a time that this is rounding. */
static void end_rounded(struct tw_calls *calls, uint64_t time, uint64_t end, uint64_t rounding)
{
	for (uint32_t lane = 0; lane <= calls->own->lane_count && !calls->exact; lane++) {
		turn_to_lane(calls, lane);
		while (ends_soon(calls->stack, time, end, rounding))
			pop_early(calls, time);
	}
	turn_to_lane(calls, 0);
}

static bool push_timed(struct tw_calls *calls, const struct tw_call_item *item, uint64_t end, uint32_t over)
{
	struct tw_call_stack *stack = calls->stack;
	if (!tw_budget_grow(calls->budget, TW_FOR_STACKS, &stack->timed, &stack->timed_room, stack->timed_count + 1,
	                    sizeof *stack->timed)) {
		calls->untimed++;
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

/* The innermost frame of a lane that holds what lasts until a time. The number of the first complete slice that does
 * not goes to *beyond. */
static uint32_t holder(const struct tw_call_stack *stack, uint64_t end, uint64_t rounding, size_t *beyond)
{
	size_t low = 0, high = stack->timed_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (tw_sum(stack->timed[middle].end, rounding) >= end)
			low = middle + 1;
		else
			high = middle;
	}
	*beyond = low;
	return low < stack->timed_count ? stack->timed[low].depth - 1 : stack->depth;
}

/* Finds the innermost frame that holds what lasts until a time. Returns whether something open does not. */
static bool find_holder(const struct tw_calls *calls, uint64_t end, struct place *found, size_t *beyond)
{
	const struct tw_call_stack *own = calls->own;
	bool overlaps = false;
	*found = (struct place){0};
	for (uint32_t lane = 0; lane <= own->lane_count; lane++) {
		const struct tw_call_stack *stack = tw_lane_at(own, lane);
		size_t first;
		const uint32_t depth = holder(stack, end, calls->exact ? 0 : ROUNDING, &first);
		overlaps |= depth < stack->depth;
		take_later(found, own, lane, depth);
		if (found->lane == lane)
			*beyond = first;
	}
	return overlaps;
}

/* Counts what a slice adds to the union of the calls inside of the frame around it, which gets its duration besides
 * when it ends, if `on_top`. */
static void cover(struct tw_calls *calls, const struct place *around, size_t beyond, const struct tw_call_item *item,
                  uint64_t end, bool on_top)
{
	const struct tw_call_space *space = lane_stack(calls->own, around->lane)->space;
	const uint64_t until = covered_until(calls->own, around, beyond),
		       from = until > item->time ? until : item->time;
	const uint64_t adds = end > from ? end - from : 0;
	if (space && item->duration >= calls->min_duration)
		space->frames[around->depth].children += on_top ? adds - item->duration : adds;
}

/* The lane for a call inside a frame: that of the frame if nothing else is on it, otherwise a free one. False: there is
 * no room. */
static bool find_lane(struct tw_calls *calls, const struct place *around, uint32_t *lane)
{
	*lane = around->lane;
	if (lane_stack(calls->own, around->lane)->depth == around->depth)
		return true;
	*lane = free_lane(calls);
	if (*lane)
		set_base(calls, *lane, around->lane, around->depth);
	return *lane;
}

/* Puts a slice beside what is open and does not hold it. */
static void take_beside(struct tw_calls *calls, const struct tw_call_item *item)
{
	const uint64_t stated = tw_call_item_over(item);
	struct place around;
	size_t beyond = 0;
	end_rounded(calls, item->time, stated, ROUNDING);
	calls->overlaps += find_holder(calls, stated, &around, &beyond);
	struct tw_call_stack *stack = lane_stack(calls->own, around.lane);
	if (calls->flat)
		while (stack->depth > around.depth)
			pop(calls, item->time, TW_CALL_ENDED);
	const uint64_t due = beyond ? stack->timed[beyond - 1].end : UINT64_MAX, end = stated < due ? stated : due;
	const bool on_top = stack->depth == around.depth;
	cover(calls, &around, beyond, item, end, on_top);
	uint32_t lane;
	if (!find_lane(calls, &around, &lane)) {
		calls->untimed++;
		return;
	}
	turn_to_lane(calls, lane);
	push_timed(calls, item, end, (uint32_t)(stated - end));
	turn_to_lane(calls, 0);
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
	if (calls->rounding)
		end_rounded(calls, item->time, UINT64_MAX, calls->rounding);
	struct place around = latest(own);
	while (calls->exact && around.depth &&
	       ends_soon(tw_lane_at(own, around.lane), item->time, UINT64_MAX, calls->rounding) &&
	       tw_lane_at(own, around.lane)->depth == around.depth)
		around.depth--;
	uint32_t lane = 0;
	const bool room = own->folded || find_lane(calls, &around, &lane);
	turn_to_lane(calls, lane);
	const bool pushed = room && push(calls, item);
	turn_to_lane(calls, 0);
	own->folded += !pushed;
}

void tw_calls_take_item(struct tw_calls *calls, const struct tw_call_item *item)
{
	tw_calls_go_on(calls, tw_call_item_over(item));
	if (tw_item_kind(item) == TW_CALL_END) {
		take_end(calls, item);
		return;
	}
	advance(calls, item->time);
	if (tw_item_kind(item) == TW_CALL_BEGIN)
		take_begin(calls, item);
	else
		take_complete(calls, item);
}

bool tw_calls_hold_other(const struct tw_calls *calls)
{
	return calls->stack->space && holds_other(calls->stack->space, calls->stack->depth);
}

/* When the first complete slice of any lane ends. */
static uint64_t first_due(const struct tw_call_stack *own)
{
	uint64_t due = own->due;
	for (uint32_t i = 0; i < own->lane_count; i++)
		due = own->lanes[i].stack.due < due ? own->lanes[i].stack.due : due;
	return due;
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
	const size_t taken = nested_in_a_row(run, first, first_due(stack));
	const uint32_t from = items[taken - 1].name;
	const size_t count = items->name + tw_item_place(items) - from;
	tw_calls_go_on(calls, run->newest);
	if (stack->folded || stack == &calls->spare) {
		calls->untimed += count;
		return taken;
	}
	turn_to_lane(calls, latest(stack).lane);
	stack = calls->stack;
	for (size_t i = 0; stack->space && i < taken; i++)
		stack->space->frames[stack->depth].children += items[i].duration;
	calls->hooks->nested(calls, run->nested + from, count);
	turn_to_lane(calls, 0);
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

/* What is open ends with the last event. */
static void finish_track(struct tw_calls *calls)
{
	struct tw_call_stack *own = calls->own = calls->stack;
	for (size_t i = 0; i < own->timed_count; i++)
		tw_calls_go_on(calls, tw_sum(own->timed[i].end, own->timed[i].over));
	if (own->last > 0)
		advance(calls, own->last - 1);
	for (uint32_t lane = own->lane_count + 1; lane-- > 0;) {
		turn_to_lane(calls, lane);
		while (calls->stack->depth)
			if (top_is_timed(calls->stack))
				pop_timed(calls);
			else
				pop(calls, own->last, TW_CALL_OPEN);
	}
	turn_to_lane(calls, 0);
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
