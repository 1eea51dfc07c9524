/* lane_tree.c - which lane of a track has what is looked for: a tree over the lanes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/lane_tree.h"

/* When a frame began among those that began together; 0: before there were further lanes. */
uint64_t tw_lane_begin_number(const struct tw_call_stack *own, const struct tw_call_stack *stack, uint32_t depth)
{
	const uint64_t number = depth < stack->overlap_room ? stack->overlaps[depth].number : 0;
	return number > own->numbers_from ? number : 0;
}

struct tw_call_place tw_lane_place(const struct tw_call_stack *own, uint32_t lane, uint32_t depth)
{
	const struct tw_call_stack *stack = tw_lane_at(own, lane);
	const bool known = stack->space && depth;
	return (struct tw_call_place){lane, depth, known ? stack->space->frames[depth].begin : 0,
	                              known ? tw_lane_begin_number(own, stack, depth) : 0};
}

/* What began before there were further lanes is on one of them. */
static bool begins_later(const struct tw_call_place *place, const struct tw_call_place *than)
{
	if (place->begin != than->begin)
		return place->begin > than->begin;
	return place->number != than->number ? place->number > than->number : place->depth > than->depth;
}

/* Takes a frame of a lane, if it begins after the one found so far. Its number is not 0, but for that of the track. */
void tw_lanes_take_later(struct tw_call_place *found, const struct tw_call_stack *own, uint32_t lane, uint32_t depth)
{
	if (!depth)
		return;
	const struct tw_call_place place = tw_lane_place(own, lane, depth);
	if (!found->depth || begins_later(&place, found))
		*found = place;
}

/* The lanes are the leaves, and their number is a power of two. Node 1 is the root, 2 * i and 2 * i + 1 are below i,
 * and the leaf of lane 1 stands behind the last inner node. An inner node is kept in the lane that has its number. */

static struct tw_lane_node leaf_of(const struct tw_call_stack *own, uint32_t lane)
{
	const struct tw_call_stack *stack = tw_lane_at(own, lane);
	const struct tw_timed_frame *timed = stack->timed;
	const size_t count = stack->timed_count;
	if (!stack->depth)
		return (struct tw_lane_node){.first = UINT64_MAX, .free = lane};
	return (struct tw_lane_node){
	    .first = stack->space->frames[1].begin,
	    .last = count && timed[0].depth == 1 ? timed[0].end : UINT64_MAX,
	    .latest = lane,
	    .due = count ? lane : 0,
	    .top_due = count && timed[count - 1].depth == stack->depth ? lane : 0,
	    .untimed = count<stack->depth, .deep = stack->depth> TW_CALLS_DEEP,
	    .lapsed = stack->lapsed,
	};
}

/* Returns the lane of two that is due first; where both are due at one time, the lane whose top began last. 0 is no
 * lane. */
static uint32_t due_first(const struct tw_call_stack *own, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return a ? a : b;
	const struct tw_call_stack *one = tw_lane_at(own, a), *other = tw_lane_at(own, b);
	if (one->due != other->due)
		return one->due < other->due ? a : b;
	struct tw_call_place found = {0};
	tw_lanes_take_later(&found, own, a, one->timed[one->timed_count - 1].depth);
	tw_lanes_take_later(&found, own, b, other->timed[other->timed_count - 1].depth);
	return found.lane;
}

/* Returns the lane of two whose top began last. 0 is no lane. */
static uint32_t begun_last(const struct tw_call_stack *own, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return a ? a : b;
	struct tw_call_place found = {0};
	tw_lanes_take_later(&found, own, a, tw_lane_at(own, a)->depth);
	tw_lanes_take_later(&found, own, b, tw_lane_at(own, b)->depth);
	return found.lane;
}

static struct tw_lane_node both(const struct tw_call_stack *own, const struct tw_lane_node *a,
                                const struct tw_lane_node *b)
{
	return (struct tw_lane_node){
	    .first = a->first < b->first ? a->first : b->first,
	    .last = a->last > b->last ? a->last : b->last,
	    .latest = begun_last(own, a->latest, b->latest),
	    .due = due_first(own, a->due, b->due),
	    .top_due = due_first(own, a->top_due, b->top_due),
	    .free = a->free ? a->free : b->free,
	    .untimed = a->untimed || b->untimed,
	    .deep = a->deep || b->deep,
	    .lapsed = a->lapsed || b->lapsed,
	};
}

static uint32_t lane_of(const struct tw_call_stack *own, size_t node)
{
	return (uint32_t)(node - own->lane_room + 1);
}

static struct tw_lane_node node_at(const struct tw_call_stack *own, size_t node)
{
	return node < own->lane_room ? own->lanes[node].node : leaf_of(own, lane_of(own, node));
}

static void make_node(struct tw_call_stack *own, size_t node)
{
	const struct tw_lane_node a = node_at(own, 2 * node), b = node_at(own, 2 * node + 1);
	own->lanes[node].node = both(own, &a, &b);
}

void tw_lane_tree_update(struct tw_calls *calls)
{
	for (size_t i = (calls->own->lane_room + calls->lane - 1) / 2; i && calls->lane; i /= 2)
		make_node(calls->own, i);
}

void tw_lane_tree_make(struct tw_call_stack *own)
{
	for (size_t i = own->lane_room - 1; i; i--)
		make_node(own, i);
}

struct tw_lane_node tw_lane_tree_root(const struct tw_call_stack *own)
{
	return own->lane_room ? node_at(own, 1) : (struct tw_lane_node){.first = UINT64_MAX};
}

static bool has_due(const struct tw_call_stack *own, size_t node, uint64_t time)
{
	const uint32_t lane = node_at(own, node).top_due;
	return lane && tw_lane_at(own, lane)->due <= time;
}

uint32_t tw_lane_tree_next_due(const struct tw_call_stack *own, uint32_t lane, uint64_t time)
{
	size_t node = own->lane_room + lane;
	if (lane >= own->lane_room)
		return 0;
	while (!has_due(own, node, time)) {
		while (node & 1 && node > 1)
			node /= 2;
		if (node <= 1)
			return 0;
		node++;
	}
	while (node < own->lane_room)
		node = has_due(own, 2 * node, time) ? 2 * node : 2 * node + 1;
	return lane_of(own, node);
}

/* Whether something of some lanes began later than what was found. */
static bool may_be_later(const struct tw_lane_search *search, const struct tw_lane_node *node)
{
	const struct tw_call_stack *own = search->calls->own;
	struct tw_call_place found = search->found;
	if (!node->latest || !search->wants(search, node))
		return false;
	tw_lanes_take_later(&found, own, node->latest, tw_lane_at(own, node->latest)->depth);
	return found.lane != search->found.lane || found.depth != search->found.depth;
}

/* Begins where the top began last. */
static void search_from(struct tw_lane_search *search, size_t at)
{
	const struct tw_call_stack *own = search->calls->own;
	const struct tw_lane_node node = node_at(own, at);
	if (!may_be_later(search, &node))
		return;
	if (at >= own->lane_room) {
		const uint32_t lane = lane_of(own, at);
		tw_lanes_take_later(&search->found, own, lane, search->depth(search, lane));
		return;
	}
	const size_t first = node_at(own, 2 * at).latest == node.latest ? 2 * at : 2 * at + 1;
	search_from(search, first);
	search_from(search, first ^ 1);
}

void tw_lane_tree_search(struct tw_lane_search *search)
{
	const struct tw_call_stack *own = search->calls->own;
	tw_lanes_take_later(&search->found, own, 0, search->depth(search, 0));
	if (own->lane_count)
		search_from(search, 1);
}
