/* children.c - trees whose nodes are found by their parent and a key. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/profiles/children.h"

#include <stdlib.h>

/* Puts all children of a parent into the map. False when there is no memory: they are a chain still. */
static bool map_chain(struct tw_children *children, uint32_t parent)
{
	struct tw_child *nodes = children->nodes;
	for (uint32_t i = nodes[parent].child; i; i = nodes[i].next)
		if (!tw_map_add(&children->others, tw_children_key(parent, nodes[i].key), i))
			return false;
	nodes[parent].marks = (uint32_t)TW_CHILDREN_MAPPED << TW_CHILDREN_BITS;
	return true;
}

/* Memory is only touched where there are nodes: of millions it is much. */
static bool make_room(struct tw_children *children, size_t count)
{
	if (!tw_children_extend(&children->nodes, &children->room, count, sizeof *children->nodes))
		return false;
	while (children->count < count)
		children->nodes[children->count++] = (struct tw_child){0};
	return true;
}

bool tw_children_add(struct tw_children *children, uint32_t parent, uint32_t key, uint32_t node)
{
	uint32_t highest = parent > node ? parent : node;
	if (!make_room(children, highest + (size_t)1))
		return false;
	struct tw_child *nodes = children->nodes;
	unsigned count = tw_children_count(&nodes[parent]);
	nodes[node].key = key;
	if (count >= TW_CHILDREN_CHAIN)
		return (count == TW_CHILDREN_MAPPED || map_chain(children, parent)) &&
		       tw_map_add(&children->others, tw_children_key(parent, key), node);
	nodes[node].next = nodes[parent].child;
	nodes[parent].child = node;
	nodes[parent].marks = (nodes[parent].marks | tw_children_mark(key)) + (1u << TW_CHILDREN_BITS);
	return true;
}

void tw_children_free(struct tw_children *children)
{
	free(children->nodes);
	tw_map_free(&children->others);
}
