/* calltree_part.c - the calls of one part of a trace, by stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/calltree_part.h"

#include "base/memory/memory.h"
#include "base/memory/sum.h"

#include <stdlib.h>

static struct tw_calltree_part *part_of(struct tw_calls *calls)
{
	return (struct tw_calltree_part *)calls;
}

static uint64_t packed(uint32_t parent, uint32_t name)
{
	return (uint64_t)parent << 32 | name;
}

/* Finds the node of a call. One inside of a call for which there was no room has none either: where memory is short
 * these are most calls. */
static inline uint32_t find(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct tw_calltree_part *part = part_of(calls);
	struct tw_part_node *parent = &part->nodes[caller->row];
	uint32_t node = parent->newest;
	if (caller->row == TW_NODE_OTHER)
		return TW_NODE_OTHER;
	if (part->nodes[node].name == name)
		return node;
	if (!tw_map_find(&part->map, packed(caller->row, name), &node))
		return part->full ? TW_NODE_OTHER : TW_ROW_NONE;
	parent->newest = node;
	return node;
}

/* Whether a frame is a call (not a thread) for which there was no room. */
static bool is_other(const struct tw_frame *frame)
{
	return frame->row == TW_NODE_OTHER && frame->name != TW_THREAD_NODE;
}

/* What of a held call is known at its end: what it was directly inside of. */
static void leave_held(struct tw_calls *calls, const struct tw_left_call *call, enum tw_call_end how)
{
	struct tw_held_call *held = &part_of(calls)->held[calls->track].calls[call->row & ~TW_ROW_HELD];
	held->parent = calls->around->row;
	held->duration = call->duration;
	held->self = tw_call_self(call);
	held->open = how == TW_CALL_OPEN;
	held->ended = true;
}

static inline void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                         enum tw_call_end how)
{
	if (call->row & TW_ROW_HELD) {
		leave_held(calls, call, how);
		return;
	}
	struct tw_part_node *node = &part_of(calls)->nodes[call->row];
	bool inside = is_other(frame - 1);
	node->count++;
	node->open += how == TW_CALL_OPEN;
	node->total = tw_sum(node->total, inside ? 0 : call->duration);
	node->self = tw_sum(node->self, tw_call_self(call));
}

static uint32_t add_node(struct tw_calltree_part *part, struct tw_part_node node, uint64_t key)
{
	struct tw_budget *budget = part->calls.budget;
	bool room =
	    !part->full && node.parent != TW_NODE_OTHER && part->count < UINT32_MAX - 1 &&
	    tw_budget_grow(budget, TW_FOR_ROWS, &part->nodes, &part->room, part->count + 1, sizeof *part->nodes) &&
	    tw_budget_map_add(budget, TW_FOR_ROWS, &part->map, key, (uint32_t)part->count);
	if (!room) {
		part->full = true;
		return TW_NODE_OTHER;
	}
	part->nodes[part->count] = node;
	return (uint32_t)part->count++;
}

static uint32_t root(struct tw_calls *calls, uint32_t track)
{
	struct tw_calltree_part *part = part_of(calls);
	if (!part->per_thread)
		return TW_NODE_ROOT;
	/* No name is below the root, so that track numbers can be keys there. */
	uint64_t key = packed(TW_NODE_ROOT, track);
	uint32_t node;
	if (tw_map_find(&part->map, key, &node))
		return node;
	return add_node(part, (struct tw_part_node){.name = TW_THREAD_NODE, .track = track}, key);
}

static uint32_t enter_node(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	if (caller->row & TW_ROW_HELD)
		return TW_NODE_OTHER; /* there was no room to hold the call */
	uint32_t node = find(calls, caller, name);
	if (node != TW_ROW_NONE)
		return node;
	return add_node(part_of(calls), (struct tw_part_node){.parent = caller->row, .name = name},
	                packed(caller->row, name));
}

/* ---- Calls that wait for those around them. ---- */

enum { HELD_MOST = 1 << 18 /* calls of a track */ };

static uint32_t node_of(struct tw_calls *calls, uint32_t row)
{
	return row & TW_ROW_HELD ? part_of(calls)->held[calls->track].calls[row & ~TW_ROW_HELD].node : row;
}

/* Counts the held calls of the current track. */
static void settle(struct tw_calls *calls)
{
	struct tw_calltree_part *part = part_of(calls);
	struct tw_held_calls *all = &part->held[calls->track];
	for (size_t i = 0; i < all->count; i++) {
		struct tw_held_call *held = &all->calls[i];
		const struct tw_frame caller = {.row = node_of(calls, held->parent)};
		held->node = enter_node(calls, &caller, held->name);
		struct tw_part_node *node = &part->nodes[held->node];
		if (!held->ended)
			continue;
		node->count++;
		node->open += held->open;
		node->total = tw_sum(node->total, caller.row == TW_NODE_OTHER ? 0 : held->duration);
		node->self = tw_sum(node->self, held->self);
	}
	all->count = 0;
}

/* A place for a call of the current track; NULL: there is no room, or there are so many that those before are counted
 * under what they seem to be inside of. */
static struct tw_held_call *hold(struct tw_calls *calls)
{
	struct tw_calltree_part *part = part_of(calls);
	if (!tw_budget_grow(calls->budget, TW_FOR_STACKS, &part->held, &part->held_room, calls->track + (size_t)1,
	                    sizeof *part->held))
		return NULL;
	struct tw_held_calls *all = &part->held[calls->track];
	if (all->count < HELD_MOST &&
	    tw_budget_grow(calls->budget, TW_FOR_STACKS, &all->calls, &all->room, all->count + 1, sizeof *all->calls))
		return &all->calls[all->count++];
	settle(calls);
	tw_calls_let_go(calls, node_of);
	return NULL;
}

static uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct tw_held_call *held = calls->mixed ? hold(calls) : NULL;
	if (!held)
		return enter_node(calls, caller, name);
	*held = (struct tw_held_call){.parent = caller->row, .name = name};
	return TW_ROW_HELD | (uint32_t)(held - part_of(calls)->held[calls->track].calls);
}

static uint32_t moved(struct tw_calls *calls, const struct tw_frame *caller, const struct tw_frame *frame)
{
	return frame->row & TW_ROW_HELD ? frame->row : enter_node(calls, caller, frame->name);
}

static const struct tw_call_hooks hooks = {
    .root = root, .enter = enter, .leave = leave, .moved = moved, .settle = settle};

struct tw_calltree_part *tw_calltree_part_open(const struct tw_calltree_options *options, struct tw_budget *budget,
                                               const struct tw_dictionary *dictionary)
{
	struct tw_calltree_part *part = calloc(1, sizeof *part);
	if (!part)
		return NULL;
	part->calls = (struct tw_calls){
	    .hooks = &hooks,
	    .budget = budget,
	    .rules.min_duration = options->min_duration_ns,
	    .name_limit = SIZE_MAX,
	    .rules.others_alike = true,
	};
	part->dictionary = dictionary;
	part->per_thread = options->per_thread;
	part->count = TW_NODE_FIRST;
	bool nodes = tw_grow(&part->nodes, &part->room, TW_NODE_FIRST, sizeof *part->nodes);
	if (tw_calls_init(&part->calls) && nodes) {
		part->nodes[TW_NODE_ROOT].name = TW_THREAD_NODE; /* no `newest` yet: no call's name */
		return part;
	}
	tw_calltree_part_close(part);
	return NULL;
}

void tw_calltree_part_add(void *state, const struct tw_call_run *run)
{
	struct tw_calltree_part *part = state;
	tw_calls_add_run(&part->calls, run, find, leave, false);
}

void tw_calltree_part_finish(void *part)
{
	tw_calls_finish(part); /* its first member */
}

bool tw_calltree_part_folded(const struct tw_calltree_part *part)
{
	return part->calls.counts.untimed || part->full;
}

void tw_calltree_part_close(void *state)
{
	struct tw_calltree_part *part = state;
	tw_calls_free(&part->calls);
	tw_map_free(&part->map);
	for (size_t i = 0; i < part->held_room; i++)
		free(part->held[i].calls);
	free(part->held);
	free(part->nodes);
	free(part);
}
