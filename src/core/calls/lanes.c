/* lanes.c - which stack of a track a call is on, where slices overlap without nesting. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/lanes.h"

#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "core/calls/lane_tree.h"
#include "core/calls/spaces.h"

/* Has the functions below, and hooks, work on a lane of the current track. */
void tw_lanes_select(struct tw_calls *calls, uint32_t lane)
{
	calls->stack = tw_lane_stack(calls->own, lane);
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

/* The root of a lane stands for a frame of its base. */
static void note_base(struct tw_call_stack *own, const struct tw_call_lane *further)
{
	struct tw_call_stack *base = tw_lane_stack(own, further->base_lane);
	base->based = further->base_depth > base->based ? further->base_depth : base->based;
}

/* Tells a lane what its root stands for. */
static void set_base(struct tw_calls *calls, uint32_t lane, uint32_t base_lane, uint32_t base_depth)
{
	struct tw_call_lane *further = &calls->own->lanes[lane - 1];
	while (base_lane && !base_depth) {
		base_depth = calls->own->lanes[base_lane - 1].base_depth;
		base_lane = calls->own->lanes[base_lane - 1].base_lane;
	}
	const struct tw_call_space *around = tw_lane_stack(calls->own, base_lane)->space;
	struct tw_frame *root = &further->stack.space->frames[0];
	further->base_lane = base_lane;
	further->base_depth = base_depth;
	further->level = level_of(calls->own, lane);
	note_base(calls->own, further);
	root->name = around ? around->frames[base_depth].name : TW_NO_CALL_NAME;
	root->row = around ? around->frames[base_depth].row : TW_ROW_NONE;
}

/* Gives the frames from a depth on the rows that they have under what is now below them. */
void tw_lanes_move_rows(struct tw_calls *calls, uint32_t depth)
{
	struct tw_call_space *space = calls->stack->space;
	for (uint32_t i = depth; i <= calls->stack->depth && calls->hooks->moved; i++) {
		struct tw_frame *frame = &space->frames[i];
		const uint32_t row = calls->hooks->moved(calls, frame - 1, frame), was = frame->row;
		if (row == was || row < TW_ROW_FIRST || was < TW_ROW_FIRST ||
		    (calls->rules.by_row && !space->tableless && !tw_space_grow_rows(calls, space, row)))
			continue;
		if (calls->rules.by_row && !space->tableless) {
			space->row_on_stack[was]--;
			space->row_on_stack[row]++;
		}
		frame->row = row;
	}
}

/* What a frame of a lane has beside; NULL: there is no room. */
static struct tw_call_overlap *overlap_at(struct tw_calls *calls, struct tw_call_stack *stack, uint32_t depth)
{
	bool room = tw_budget_grow(calls->budget, TW_FOR_STACKS, &stack->overlaps, &stack->overlap_room,
	                           depth + (size_t)1, sizeof *stack->overlaps);
	return room ? &stack->overlaps[depth] : NULL;
}

void tw_lanes_note_begin(struct tw_calls *calls, uint32_t depth)
{
	struct tw_call_overlap *overlap = overlap_at(calls, calls->stack, depth);
	if (overlap)
		overlap->number = ++calls->tracks.begun;
	if (calls->lane && depth == 1) /* the rest of a call that was cut finds what it was on */
		note_base(calls->own, &calls->own->lanes[calls->lane - 1]);
}

/* How many calls like that of a frame go on around a lane: those of its name or row up to its root. */
uint32_t tw_lanes_calls_below(const struct tw_calls *calls, uint32_t lane, const struct tw_frame *frame)
{
	uint32_t count = 0;
	while (lane) {
		const struct tw_call_lane *further = &calls->own->lanes[lane - 1];
		const struct tw_call_space *space = tw_lane_stack(calls->own, further->base_lane)->space;
		if (further->base_depth)
			count += calls->rules.by_row ? tw_space_calls_of_row(space, further->base_depth, frame->row)
			                             : tw_space_calls_of_name(space, further->base_depth, frame->name);
		lane = further->base_lane;
	}
	return count;
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
		tw_lanes_select(calls, i);
		tw_lanes_move_rows(calls, 1);
	}
	tw_lanes_select(calls, lane);
}

/* The lanes whose roots stand for frames of a lane from a depth on: these frames are a place lower. Returns whether
 * there were any. */
static bool lower_bases(struct tw_calls *calls, uint32_t lane, uint32_t depth)
{
	struct tw_call_stack *own = calls->own, *base = tw_lane_stack(own, lane);
	bool moved = false;
	base->based = 0;
	for (uint32_t i = 1; i <= own->lane_count; i++) {
		const struct tw_call_lane *further = &own->lanes[i - 1];
		if (!further->stack.depth || further->base_lane != lane)
			continue;
		moved |= further->base_depth >= depth;
		if (further->base_depth >= depth)
			set_base(calls, i, lane, further->base_depth - 1);
		else if (further->base_depth > base->based)
			base->based = further->base_depth;
	}
	return moved;
}

/* A frame of a lane is gone, and those above it are a place lower. */
void tw_lanes_lower(struct tw_calls *calls, uint32_t lane, uint32_t depth)
{
	struct tw_call_stack *own = calls->own;
	if (tw_lane_at(own, lane)->based >= depth && lower_bases(calls, lane, depth))
		move_lanes(calls);
	while (own->lane_count && !own->lanes[own->lane_count - 1].stack.depth)
		own->lane_count--;
}

/* Makes room for a lane: the tree over them wants a power of two. */
static bool make_lanes(struct tw_calls *calls, uint32_t lane)
{
	struct tw_call_stack *own = calls->own;
	const size_t before = own->lane_room;
	if (lane <= before)
		return true;
	if (!tw_budget_grow(calls->budget, TW_FOR_STACKS, &own->lanes, &own->lane_room, before ? 2 * before : 1,
	                    sizeof *own->lanes))
		return false;
	for (size_t i = before; i < own->lane_room; i++)
		own->lanes[i].stack.due = UINT64_MAX;
	tw_lane_tree_make(own);
	return true;
}

/* The lowest lane in which nothing is open, a new one if there is none; 0: there is no room. */
static uint32_t free_lane(struct tw_calls *calls)
{
	struct tw_call_stack *own = calls->own;
	const uint32_t known = tw_lane_tree_root(own).free, lane = known ? known : (uint32_t)own->lane_room + 1;
	calls->counts.beyond += lane > TW_LANES_MOST;
	if (lane > TW_LANES_MOST || !make_lanes(calls, lane))
		return 0;
	struct tw_call_stack *stack = &own->lanes[lane - 1].stack;
	if (!stack->space) {
		stack->space = tw_space_new(calls);
		if (!stack->space)
			return 0;
		stack->space->tableless = true; /* few are deep */
		stack->space->frames[0] = (struct tw_frame){.name = TW_NO_CALL_NAME};
	}
	if (!own->lane_count)
		own->numbers_from = calls->tracks.begun;
	own->lane_count = lane > own->lane_count ? lane : own->lane_count;
	return lane;
}

/* The highest frame of a lane, up to a depth, that began before a time. */
static uint32_t begun_before(const struct tw_call_stack *stack, uint32_t depth, uint64_t time)
{
	return (uint32_t)tw_count_below(stack->space->frames + 1, depth, TW_KEY(struct tw_frame, begin), time);
}

/* The highest frame of a lane that began before the one at a depth of the current lane. */
static uint32_t begun_before_frame(const struct tw_calls *calls, uint32_t lane, uint32_t depth)
{
	const struct tw_call_stack *stack = tw_lane_at(calls->own, lane);
	const uint64_t begin = calls->stack->space->frames[depth].begin;
	const uint64_t number = tw_lane_begin_number(calls->own, calls->stack, depth);
	uint32_t found = stack->depth ? begun_before(stack, stack->depth, begin) : 0;
	while (found < stack->depth && stack->space->frames[found + 1].begin == begin &&
	       tw_lane_begin_number(calls->own, stack, found + 1) < number)
		found++;
	return found;
}

static bool begins_by(const struct tw_lane_search *search, const struct tw_lane_node *node)
{
	return node->first <= search->time;
}

static uint32_t last_begun_before(const struct tw_lane_search *search, uint32_t lane)
{
	return lane == search->calls->lane ? 0 : begun_before_frame(search->calls, lane, search->value);
}

/* The call that the ending one at a depth was directly inside of: of the calls that go on, on any lane, the last that
 * began before it. */
struct tw_call_place tw_lanes_parent(const struct tw_calls *calls, uint32_t depth)
{
	const struct tw_call_stack *own = calls->own;
	struct tw_lane_search search = {
	    .calls = calls,
	    .wants = begins_by,
	    .depth = last_begun_before,
	    .time = calls->stack->space->frames[depth].begin,
	    .value = depth,
	    .found = tw_lane_place(own, calls->lane, depth - 1),
	};
	if (calls->lane && depth == 1)
		search.found =
		    tw_lane_place(own, own->lanes[calls->lane - 1].base_lane, own->lanes[calls->lane - 1].base_depth);
	tw_lane_tree_search(&search);
	return search.found;
}

/* Counts what a call adds to the union of those directly inside of the frame around it; returns how many ns. Those end
 * in turn, and what ends later began later: what ended before and began later would be inside of the call itself. */
uint64_t tw_lanes_cover(struct tw_calls *calls, const struct tw_call_place *around, uint64_t begin, uint64_t end)
{
	struct tw_call_stack *stack = tw_lane_stack(calls->own, around->lane);
	struct tw_call_overlap *overlap = overlap_at(calls, stack, around->depth);
	if (!overlap)
		return end > begin ? end - begin : 0;
	if (stack->depth > around->depth)
		tw_stack_lift(stack, around->depth + 1);
	const uint64_t from = overlap->covered > begin ? overlap->covered : begin;
	overlap->covered = end > overlap->covered ? end : overlap->covered;
	return end > from ? end - from : 0;
}

/* Finds which is due first, up to a time: lane 0, if something in it is due, or another lane, if there is one. */
static bool find_due(const struct tw_call_stack *own, bool own_due, uint32_t other, uint64_t time, uint32_t *lane)
{
	struct tw_call_place found = {0};
	uint64_t due = time;
	const uint32_t lanes[] = {0, other};
	for (size_t i = own_due ? 0 : 1; i <= (other ? 1 : 0); i++) {
		const struct tw_call_stack *stack = tw_lane_at(own, lanes[i]);
		if (stack->due > due)
			continue;
		if (stack->due < due)
			found.depth = 0;
		due = stack->due;
		tw_lanes_take_later(&found, own, lanes[i], stack->timed[stack->timed_count - 1].depth);
	}
	*lane = found.lane;
	return found.depth;
}

/* Finds the lane in which the next complete slice ends, up to a time; of several the one that began last. */
bool tw_lanes_find_due(const struct tw_call_stack *own, uint64_t time, uint32_t *lane)
{
	const uint32_t other = own->lane_count ? tw_lane_tree_root(own).due : 0;
	return find_due(own, own->timed_count, other, time, lane);
}

bool tw_lanes_find_top_due(const struct tw_call_stack *own, uint64_t time, uint32_t *lane)
{
	const uint32_t other = own->lane_count ? tw_lane_tree_root(own).top_due : 0;
	return find_due(own, tw_stack_top_is_timed(own), other, time, lane);
}

/* The call that began last and goes on. */
struct tw_call_place tw_lanes_latest(const struct tw_call_stack *own)
{
	struct tw_call_place found = {0};
	const uint32_t lane = own->lane_count ? tw_lane_tree_root(own).latest : 0;
	tw_lanes_take_later(&found, own, 0, own->depth);
	if (lane)
		tw_lanes_take_later(&found, own, lane, tw_lane_at(own, lane)->depth);
	return found;
}

bool tw_lanes_lapse(struct tw_calls *calls, uint64_t time)
{
	struct tw_call_stack *stack = calls->stack;
	const struct tw_timed_frame *timed = &stack->timed[stack->timed_count - 1];
	struct tw_call_overlap *overlap = timed->over ? NULL : overlap_at(calls, stack, timed->depth);
	if (!overlap)
		return false;
	overlap->lapsed = true;
	tw_stack_lift(stack, timed->depth + 1);
	stack->due = timed->due_below;
	stack->timed_count--;
	calls->own->lapsed++;
	calls->own->lapsed_at = time;
	if (calls->lane)
		stack->lapsed++;
	tw_lane_tree_update(calls);
	return true;
}

bool tw_lanes_end_lapsed(struct tw_calls *calls, uint32_t depth)
{
	if (!tw_lanes_is_lapsed(calls, calls->stack, depth))
		return false;
	calls->stack->overlaps[depth].lapsed = false;
	calls->own->lapsed--;
	if (calls->lane)
		calls->stack->lapsed--;
	return true;
}

static bool has_lapsed(const struct tw_lane_search *search, const struct tw_lane_node *node)
{
	(void)search;
	return node->lapsed;
}

static uint32_t latest_lapsed(const struct tw_lane_search *search, uint32_t lane)
{
	const struct tw_call_stack *own = search->calls->own, *stack = tw_lane_at(own, lane);
	struct tw_call_place found = {0};
	for (uint32_t depth = 1; depth <= stack->depth; depth++)
		if (tw_lanes_is_lapsed(search->calls, stack, depth))
			tw_lanes_take_later(&found, own, lane, depth);
	return found.depth;
}

struct tw_call_place tw_lanes_latest_lapsed(const struct tw_calls *calls)
{
	struct tw_lane_search search = {.calls = calls, .wants = has_lapsed, .depth = latest_lapsed};
	tw_lane_tree_search(&search);
	return search.found;
}

const struct tw_frame *tw_calls_innermost(const struct tw_calls *calls, uint32_t track)
{
	const struct tw_call_stack *own =
	    track < calls->tracks.stack_room ? &calls->tracks.stacks[track] : &calls->tracks.spare;
	const struct tw_call_place found = tw_lanes_latest(own);
	if (!found.depth)
		return NULL;
	return &tw_lane_at(own, found.lane)->space->frames[found.depth];
}

/* The innermost frame of a lane that holds what lasts until a time. When the complete slices up to there end goes to
 * *due. */
static uint32_t holder(const struct tw_call_stack *stack, uint64_t end, uint64_t rounding, uint64_t *due)
{
	size_t low = 0, high = stack->timed_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (tw_sum(stack->timed[middle].end, rounding) >= end)
			low = middle + 1;
		else
			high = middle;
	}
	*due = low ? stack->timed[low - 1].end : UINT64_MAX;
	return low < stack->timed_count ? stack->timed[low].depth - 1 : stack->depth;
}

static uint64_t rounding_of(const struct tw_calls *calls)
{
	return calls->rules.exact ? 0 : TW_CALL_ROUNDING;
}

static bool one_holds(const struct tw_lane_search *search, const struct tw_lane_node *node)
{
	return tw_sum(node->last, rounding_of(search->calls)) >= search->time;
}

static uint32_t innermost_holder(const struct tw_lane_search *search, uint32_t lane)
{
	uint64_t due;
	return holder(tw_lane_at(search->calls->own, lane), search->time, rounding_of(search->calls), &due);
}

/* Whether something open in a lane ends before a time, by more than rounding. */
static bool ends_before(const struct tw_calls *calls, const struct tw_call_stack *stack, uint64_t end)
{
	return stack->timed_count && tw_sum(stack->due, rounding_of(calls)) < end;
}

/* Finds the innermost frame that holds what lasts until a time. Its own end, as far as it is known, goes to *due.
 * Returns whether something open does not hold it. */
bool tw_lanes_find_holder(const struct tw_calls *calls, uint64_t end, struct tw_call_place *found, uint64_t *due)
{
	const struct tw_call_stack *own = calls->own;
	struct tw_lane_search search = {.calls = calls, .wants = one_holds, .depth = innermost_holder, .time = end};
	const uint32_t first = own->lane_count ? tw_lane_tree_root(own).due : 0;
	tw_lane_tree_search(&search);
	*found = search.found;
	holder(tw_lane_at(own, found->lane), end, rounding_of(calls), due);
	return ends_before(calls, own, end) || (first && ends_before(calls, tw_lane_at(own, first), end));
}

/* The lane for a call inside a frame: that of the frame if nothing else is on it, otherwise a free one. False: there is
 * no room. */
bool tw_lanes_find(struct tw_calls *calls, const struct tw_call_place *around, uint32_t *lane)
{
	*lane = around->lane;
	if (tw_lane_stack(calls->own, around->lane)->depth == around->depth)
		return true;
	*lane = free_lane(calls);
	if (*lane)
		set_base(calls, *lane, around->lane, around->depth);
	return *lane;
}
