/* lane_tree.h - which lane of a track has what is looked for: a tree over the lanes, for the files of this folder.
 *
 * A look at each of very many lanes for each slice would take a long time. The tree is of the further lanes: the
 * track's own stack, lane 0, is asked for itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_LANE_TREE_H
#define CORE_CALLS_LANE_TREE_H

#include "core/calls/lanes.h"

/* When a frame began among those that began together; 0: before there were further lanes. */
uint64_t tw_lane_begin_number(const struct tw_call_stack *own, const struct tw_call_stack *stack, uint32_t depth);
/* The place of a frame; 0 as its depth: of the root. */
struct tw_call_place tw_lane_place(const struct tw_call_stack *own, uint32_t lane, uint32_t depth);
/* Takes a frame of a lane, if it begins after the one found so far. Its number is not 0, but for that of the track. */
void tw_lanes_take_later(struct tw_call_place *found, const struct tw_call_stack *own, uint32_t lane, uint32_t depth);

/* A lane has changed: the current one. */
void tw_lane_tree_update(struct tw_calls *calls);
/* There are more lanes than before: a power of two. */
void tw_lane_tree_make(struct tw_call_stack *own);

/* What all further lanes have. */
struct tw_lane_node tw_lane_tree_root(const struct tw_call_stack *own);

/* The first lane behind another one on top of which a complete slice ends up to a time; 0: there is none. */
uint32_t tw_lane_tree_next_due(const struct tw_call_stack *own, uint32_t lane, uint64_t time);

/* The search for the frame that began last, of those that each lane has. */
struct tw_lane_search {
	const struct tw_calls *calls;
	/* Whether one of some lanes may have such a frame. */
	bool (*wants)(const struct tw_lane_search *search, const struct tw_lane_node *node);
	/* The last of them of a lane; 0: there is none. */
	uint32_t (*depth)(const struct tw_lane_search *search, uint32_t lane);
	uint64_t time;  /* the rest is for these two */
	uint32_t value; /* a name or a depth */
	struct tw_call_place found;
};

/* Searches all lanes, lane 0 too, for what began later than `found`. */
void tw_lane_tree_search(struct tw_lane_search *search);

#endif
