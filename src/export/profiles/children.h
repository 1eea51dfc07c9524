/* children.h - trees whose nodes are found by their parent and a key: stacks by caller and function. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PROFILES_CHILDREN_H
#define EXPORT_PROFILES_CHILDREN_H

#include "base/memory/map.h"
#include "base/memory/memory.h"

/* Most nodes have few children, which came one soon after the other: these are a chain, and near. Where there are more
 * than TW_CHILDREN_CHAIN they are found by a map, which for large trees is out of every cache. `make bench` measures
 * it. */
enum { TW_CHILDREN_CHAIN = 8, TW_CHILDREN_MAPPED = 15, TW_CHILDREN_BITS = 28 };

/* A node, in what it is as a parent and as a child. */
struct tw_child {
	uint32_t child; /* the newest; 0: there is none */
	uint32_t marks; /* bits of the keys of the chain: most keys that are not there are told by them alone */
	uint32_t key;
	uint32_t next; /* of the chain; 0: there is none */
};

/* All zero to begin. */
struct tw_children {
	struct tw_child *nodes;
	size_t count, room;   /* count: one more than the highest number */
	struct tw_map others; /* parent and key to node */
};

static inline uint64_t tw_children_key(uint32_t parent, uint32_t key)
{
	return (uint64_t)parent << 32 | key;
}

/* How many children are in the chain, or TW_CHILDREN_MAPPED: the high bits of the marks. */
static inline unsigned tw_children_count(const struct tw_child *parent)
{
	return parent->marks >> TW_CHILDREN_BITS;
}

/* The bit of a key among the low bits of the marks. */
static inline uint32_t tw_children_mark(uint32_t key)
{
	uint64_t hash = key * UINT32_C(0x9e3779b1);
	return UINT32_C(1) << (hash * TW_CHILDREN_BITS >> 32);
}

/* Finds a child: true and *node, or false. */
static inline bool tw_children_find(const struct tw_children *children, uint32_t parent, uint32_t key, uint32_t *node)
{
	const struct tw_child *nodes = children->nodes;
	if (parent >= children->count)
		return false;
	if (tw_children_count(&nodes[parent]) == TW_CHILDREN_MAPPED)
		return tw_map_find(&children->others, tw_children_key(parent, key), node);
	if (!(nodes[parent].marks & tw_children_mark(key)))
		return false;
	uint32_t i = nodes[parent].child;
	while (i && nodes[i].key != key)
		i = nodes[i].next;
	*node = i;
	return i;
}

/* Makes room as tw_extend() does, but for few first: hundreds of thousands of threads may have a tree each. */
static inline bool tw_children_extend(void *array, size_t *room, size_t need, size_t size)
{
	enum { FEW = 4 };
	return *room || need > FEW ? tw_extend(array, room, need, size) : tw_resize(array, room, FEW, size);
}

/* Puts a child that is not there; its number is not 0. False when there is no memory. */
bool tw_children_add(struct tw_children *children, uint32_t parent, uint32_t key, uint32_t node);

void tw_children_free(struct tw_children *children);

#endif
