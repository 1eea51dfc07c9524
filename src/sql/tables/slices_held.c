/* slices_held.c - slices whose depth and lane are not known before those around them have ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/slices.h"

#include "core/format.h"

enum {
	HELD_MOST = 1 << 16, /* slices of a track */
	LANES = 1024
};

/* What is open on each lane, of those that waited: its place plus 1. */
struct lanes {
	uint32_t tops[LANES];
	uint32_t count; /* lanes that have ever had one */
};

uint64_t sql_slices_stack(const struct sql_slices *slices, const struct sql_slice *parent, uint32_t name)
{
	const struct tw_name *text = tw_dictionary_name(tw_reader_dictionary(slices->cursor->scan.reader), name);
	return tw_mix_bytes(text->text, text->length, parent ? parent->stack : 0) >> 1;
}

void sql_slices_forget(struct sql_slices *slices, struct sql_slice *slice)
{
	if (slices->ended)
		slices->ended(slices, slice, slice->waiting.duration, slice->waiting.self, slice->waiting.how);
	slices->wanted -= slice->wanted;
	slice->live = false;
	slice->next = slices->open.free;
	slices->open.free = (uint32_t)(slice - slices->open.items) + 1;
}

static struct sql_held *held_of(const struct sql_slices *slices)
{
	return &slices->held.items[slices->calls.track];
}

/* ---- Lanes. ---- */

/* Whether what ended with a change, at a time, was over when a slice began: what takes time is not inside of what ends
 * just when it begins. */
static bool was_over(uint64_t over, uint64_t end, const struct sql_slice *slice)
{
	return over <= slice->waiting.begun || (slice->waiting.duration && end <= slice->begin);
}

/* Takes away what was over before a slice began. */
static void take_over(const struct sql_slices *slices, struct lanes *lanes, const struct sql_slice *slice)
{
	for (uint32_t i = 0; i < lanes->count; i++)
		for (uint32_t top; (top = lanes->tops[i]);) {
			const struct sql_slice *open = &slices->open.items[top - 1];
			if (!open->waiting.over ||
			    !was_over(open->waiting.over, open->begin + open->waiting.duration, slice))
				break;
			lanes->tops[i] = open->waiting.below;
		}
}

/* The row of what was open on a lane when a slice began, and has not waited; TW_ROW_NONE: nothing was. */
static uint32_t row_below(const struct sql_slices *slices, uint32_t lane, const struct sql_slice *slice)
{
	const struct sql_held *held = held_of(slices);
	const struct tw_call_stack *own = slices->calls.own;
	const struct tw_call_stack *stack = lane <= own->lane_count ? tw_lane_at(own, lane) : NULL;
	for (size_t i = 0; i < held->gone_count; i++)
		if (held->gone[i].lane == lane && !was_over(held->gone[i].over, held->gone[i].end, slice))
			return held->gone[i].row;
	for (uint32_t i = stack && stack->space ? stack->depth : 0; i > 0; i--)
		if (!(stack->space->frames[i].row & TW_ROW_HELD))
			return stack->space->frames[i].row;
	return TW_ROW_NONE;
}

/* Whether a slice may stand on its parent, on the parent's lane. */
static bool is_on_top(const struct sql_slices *slices, const struct lanes *lanes, const struct sql_slice *slice)
{
	const uint32_t top = slice->lane < LANES ? lanes->tops[slice->lane] : 1;
	if (slice->waiting.parent_row & TW_ROW_HELD)
		return top == (slice->waiting.parent_row & ~TW_ROW_HELD) - TW_ROW_FIRST + 1;
	return !top && row_below(slices, slice->lane, slice) == slice->waiting.parent_row;
}

static uint32_t free_lane(const struct sql_slices *slices, const struct lanes *lanes, const struct sql_slice *slice)
{
	uint32_t lane = 0;
	while (lane < LANES - 1 && (lanes->tops[lane] || row_below(slices, lane, slice) != TW_ROW_NONE))
		lane++;
	return lane;
}

static void place(struct sql_slices *slices, struct lanes *lanes, struct sql_slice *slice)
{
	const bool inside = (slice->waiting.parent_row & ~TW_ROW_HELD) >= TW_ROW_FIRST;
	const bool held = slice->waiting.parent_row & TW_ROW_HELD;
	const struct sql_slice *parent =
	    held ? &slices->open.items[(slice->waiting.parent_row & ~TW_ROW_HELD) - TW_ROW_FIRST] : NULL;
	if (parent) {
		slice->depth = parent->depth + 1;
		slice->lane = parent->lane;
		slice->stack = slices->keep_stacks ? sql_slices_stack(slices, parent, slice->name) : 0;
	}
	take_over(slices, lanes, slice);
	if (!inside || !is_on_top(slices, lanes, slice))
		slice->lane = free_lane(slices, lanes, slice);
	slice->waiting.below = lanes->tops[slice->lane];
	lanes->tops[slice->lane] = (uint32_t)(slice - slices->open.items) + 1;
	lanes->count = slice->lane + 1 > lanes->count ? slice->lane + 1 : lanes->count;
}

/* ---- All of them. ---- */

void sql_slices_settle(struct tw_calls *calls)
{
	struct sql_slices *slices = (struct sql_slices *)calls;
	struct sql_held *held = held_of(slices);
	struct lanes lanes = {.count = 0};
	for (size_t i = 0; i < held->begun_count; i++) {
		struct sql_slice *slice = &slices->open.items[held->begun[i]];
		slice->waiting.held = false;
		place(slices, &lanes, slice);
	}
	for (size_t i = 0; i < held->ended_count; i++)
		sql_slices_forget(slices, &slices->open.items[held->ended[i]]);
	held->begun_count = held->ended_count = held->gone_count = 0;
}

static uint32_t plain_row(struct tw_calls *calls, uint32_t row)
{
	(void)calls;
	return row & ~TW_ROW_HELD;
}

/* The slice is taken for one inside of what began last, until its end tells more. */
static bool keep(struct sql_slices *slices, uint32_t place)
{
	struct sql_held *held = held_of(slices);
	if (held->begun_count == HELD_MOST ||
	    !tw_budget_grow(&slices->budget, TW_FOR_STACKS, &held->begun, &held->begun_room, held->begun_count + 1,
	                    sizeof *held->begun) ||
	    !tw_budget_grow(&slices->budget, TW_FOR_STACKS, &held->ended, &held->ended_room, held->begun_count + 1,
	                    sizeof *held->ended))
		return false;
	held->begun[held->begun_count++] = place;
	return true;
}

bool sql_slices_hold(struct sql_slices *slices, uint32_t place)
{
	struct sql_slice *slice = &slices->open.items[place];
	const uint32_t track = slices->calls.track;
	if (!tw_budget_grow(&slices->budget, TW_FOR_STACKS, &slices->held.items, &slices->held.room, track + (size_t)1,
	                    sizeof *slices->held.items))
		return false;
	if (!keep(slices, place)) {
		sql_slices_settle(&slices->calls);
		tw_calls_let_go(&slices->calls, plain_row);
		return false;
	}
	slice->waiting.held = true;
	slice->waiting.begun = ++slices->changes;
	return true;
}

void sql_slices_note_gone(struct sql_slices *slices, const struct sql_slice *slice, uint32_t row)
{
	struct sql_held *held = held_of(slices);
	if (tw_budget_grow(&slices->budget, TW_FOR_STACKS, &held->gone, &held->gone_room, held->gone_count + 1,
	                   sizeof *held->gone))
		held->gone[held->gone_count++] =
		    (struct sql_gone){row, slice->lane, ++slices->changes, slice->begin + slice->waiting.duration};
}

void sql_slices_end_held(struct sql_slices *slices, struct sql_slice *slice, uint32_t parent_row)
{
	struct sql_held *held = held_of(slices);
	const bool inside = (parent_row & ~TW_ROW_HELD) >= TW_ROW_FIRST;
	const struct sql_slice *parent =
	    inside ? &slices->open.items[(parent_row & ~TW_ROW_HELD) - TW_ROW_FIRST] : NULL;
	slice->waiting.parent_row = parent_row;
	slice->waiting.over = ++slices->changes;
	slice->depth = parent ? parent->depth + 1 : 0;
	slice->lane = parent ? parent->lane : 0;
	slice->stack = slices->keep_stacks ? sql_slices_stack(slices, parent, slice->name) : 0;
	held->ended[held->ended_count++] = (uint32_t)(slice - slices->open.items);
}
