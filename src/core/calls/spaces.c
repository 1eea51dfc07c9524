/* spaces.c - room for the calls of a track that go on, and tables of their names and rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/spaces.h"

#include "base/memory/memory.h"

#include <stdlib.h>

void tw_space_free(struct tw_call_space *space)
{
	if (!space)
		return;
	free(space->frames);
	free(space->on_stack);
	free(space->row_on_stack);
	free(space);
}

struct tw_call_space *tw_space_new(struct tw_calls *calls)
{
	struct tw_call_space *space = calls->tracks.spaces;
	if (space) {
		calls->tracks.spaces = space->next;
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

enum { TABLELESS_DEPTH = 64, TABLES_SHARE = 3 /* of the memory for stacks, beyond which there are no more tables */ };

uint32_t tw_space_calls_of_name(const struct tw_call_space *space, uint32_t depth, uint32_t name)
{
	uint32_t count = 0;
	for (uint32_t i = 1; i <= depth; i++)
		count += space->frames[i].name == name;
	return count;
}

uint32_t tw_space_calls_of_row(const struct tw_call_space *space, uint32_t depth, uint32_t row)
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

bool tw_space_grow_rows(struct tw_calls *calls, struct tw_call_space *space, uint32_t row)
{
	return !calls->rules.by_row || tw_budget_grow(calls->budget, TW_FOR_STACKS, &space->row_on_stack,
	                                              &space->row_room, row + (size_t)1, sizeof *space->row_on_stack);
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
		if (!grow_names(calls, space, space->frames[i].name) ||
		    !tw_space_grow_rows(calls, space, space->frames[i].row))
			return false;
	for (uint32_t i = 1; i <= depth; i++) {
		space->on_stack[space->frames[i].name].calls++;
		if (calls->rules.by_row)
			space->row_on_stack[space->frames[i].row]++;
	}
	space->tableless = false;
	return true;
}

static bool is_roomy(const struct tw_calls *calls)
{
	const size_t most = tw_budget_most(calls->budget, TW_FOR_STACKS);
	return tw_budget_fits(calls->budget, TW_FOR_STACKS, most - most / TABLES_SHARE);
}

/* Takes the tables of all other tracks, and of spaces that no track has. */
static void drop_all_tables(struct tw_calls *calls)
{
	for (struct tw_call_space *space = calls->tracks.spaces; space; space = space->next) {
		drop_tables(calls, space);
		space->tableless = false; /* there is nothing in it */
	}
	for (size_t i = 0; i < calls->tracks.stack_room; i++) {
		const struct tw_call_stack *stack = &calls->tracks.stacks[i];
		if (stack != calls->own && stack != calls->stack && stack->space && stack->depth < TABLELESS_DEPTH)
			drop_tables(calls, stack->space);
	}
}

/* Whether a table may grow up to a number. Where memory has once been short, as many calls must have gone without as a
 * table of that size takes time to make. */
static bool may_grow(struct tw_calls *calls, const struct tw_call_space *space, uint32_t number)
{
	enum { LOOKS = 8 }; /* a call without tables costs about as much as so many places in one */
	if (!calls->scarce && !is_roomy(calls)) {
		calls->scarce = true;
		drop_all_tables(calls);
	}
	return is_roomy(calls) && (!calls->scarce || space->looks >= number / LOOKS);
}

bool tw_space_make_name_room(struct tw_calls *calls, struct tw_call_space *space, uint32_t depth, uint32_t name)
{
	bool shallow = depth < TABLELESS_DEPTH;
	if (!space->tableless && name < space->name_room)
		return true;
	if (!shallow || (!calls->lane && may_grow(calls, space, name))) /* lanes go without */
		if ((!space->tableless || make_tables(calls, space, depth)) && grow_names(calls, space, name))
			return true;
	if (shallow && !space->tableless)
		drop_tables(calls, space);
	space->looks++;
	return shallow;
}

bool tw_space_make_row_room(struct tw_calls *calls, struct tw_call_space *space, uint32_t depth, uint32_t row)
{
	bool shallow = depth < TABLELESS_DEPTH;
	if (space->tableless || !calls->rules.by_row || row < space->row_room)
		return true;
	if ((!shallow || may_grow(calls, space, row)) && tw_space_grow_rows(calls, space, row))
		return true;
	if (shallow)
		drop_tables(calls, space);
	return shallow;
}
