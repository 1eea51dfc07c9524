/* children.h - trees whose nodes are found by their parent and a key: stacks by caller and function. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_CHILDREN_H
#define EXPORT_CHILDREN_H

#include "base/map.h"
#include "base/memory.h"

/* Parents from here on are no nodes, but what stands at the top. */
#define TW_CHILDREN_TOP (UINT32_C(1) << 31)

/* Most nodes have one child or none: the first is known by its parent, which is at hand, the others by a map, which for
 * large trees is out of every cache. `make bench` measures it. All zero to begin. */
struct tw_children {
	struct tw_first_child {
		uint32_t node; /* 0: there is none */
		uint32_t key;
	} * first; /* by parent */
	size_t room;
	struct tw_map others; /* parent and key to node */
};

static inline uint64_t tw_children_key(uint32_t parent, uint32_t key)
{
	return (uint64_t)parent << 32 | key;
}

/* Finds a child: true and *node, or false. */
static inline bool tw_children_find(const struct tw_children *children, uint32_t parent, uint32_t key, uint32_t *node)
{
	if (parent < TW_CHILDREN_TOP) {
		if (parent >= children->room || !children->first[parent].node)
			return false;
		*node = children->first[parent].node;
		if (children->first[parent].key == key)
			return true;
	}
	return tw_map_find(&children->others, tw_children_key(parent, key), node);
}

/* Puts a child that is not there; its number is not 0. False when there is no memory. */
static inline bool tw_children_add(struct tw_children *children, uint32_t parent, uint32_t key, uint32_t node)
{
	if (parent >= TW_CHILDREN_TOP)
		return tw_map_add(&children->others, tw_children_key(parent, key), node);
	if (!tw_grow(&children->first, &children->room, parent + (size_t)1, sizeof *children->first))
		return false;
	if (children->first[parent].node)
		return tw_map_add(&children->others, tw_children_key(parent, key), node);
	children->first[parent] = (struct tw_first_child){.node = node, .key = key};
	return true;
}

void tw_children_free(struct tw_children *children);

#endif
