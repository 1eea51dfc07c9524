/* children.h - trees whose nodes are found by their parent and a key: stacks by caller and function. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_CHILDREN_H
#define EXPORT_CHILDREN_H

#include "base/map.h"
#include "base/memory.h"

/* Most nodes have few children, which came one soon after the other: these are a chain, and near. Where there are more
 * than TW_CHILDREN_CHAIN they are found by a map, which for large trees is out of every cache. `make bench` measures
 * it. */
enum { TW_CHILDREN_CHAIN = 8 };

/* A node, in what it is as a parent and as a child. */
struct tw_child {
	uint32_t child; /* the first; 0: there is none */
	uint32_t child_key;
	uint32_t key;
	uint32_t next; /* of the chain; 0: there is none. Of the first of more than the chain may have: itself */
};

/* All zero to begin. */
struct tw_children {
	struct tw_child *nodes;
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
	const struct tw_child *nodes = children->nodes;
	uint32_t first = parent < children->room ? nodes[parent].child : 0;
	*node = first;
	if (!first || nodes[parent].child_key == key)
		return first;
	uint32_t i = nodes[first].next;
	if (i == first)
		return tw_map_find(&children->others, tw_children_key(parent, key), node);
	while (i && nodes[i].key != key)
		i = nodes[i].next;
	*node = i;
	return i;
}

/* Puts a child that is not there; its number is not 0. False when there is no memory. */
bool tw_children_add(struct tw_children *children, uint32_t parent, uint32_t key, uint32_t node);

void tw_children_free(struct tw_children *children);

#endif
