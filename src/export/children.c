/* children.c - trees whose nodes are found by their parent and a key. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/children.h"

#include <stdlib.h>

/* Puts all but the first child of a parent into the map. False when there is no memory: they are a chain still. */
static bool map_chain(struct tw_children *children, uint32_t parent, uint32_t first)
{
	struct tw_child *nodes = children->nodes;
	for (uint32_t i = nodes[first].next; i; i = nodes[i].next)
		if (!tw_map_add(&children->others, tw_children_key(parent, nodes[i].key), i))
			return false;
	nodes[first].next = first;
	return true;
}

static unsigned chain_length(const struct tw_child *nodes, uint32_t first)
{
	unsigned length = 1;
	for (uint32_t i = nodes[first].next; i; i = nodes[i].next)
		length++;
	return length;
}

bool tw_children_add(struct tw_children *children, uint32_t parent, uint32_t key, uint32_t node)
{
	uint32_t highest = parent > node ? parent : node;
	if (!tw_grow(&children->nodes, &children->room, highest + (size_t)1, sizeof *children->nodes))
		return false;
	struct tw_child *nodes = children->nodes;
	uint32_t first = nodes[parent].child;
	nodes[node].key = key;
	if (!first) {
		nodes[parent].child = node;
		nodes[parent].child_key = key;
		return true;
	}
	if (nodes[first].next != first && chain_length(nodes, first) < TW_CHILDREN_CHAIN) {
		nodes[node].next = nodes[first].next;
		nodes[first].next = node;
		return true;
	}
	return (nodes[first].next == first || map_chain(children, parent, first)) &&
	       tw_map_add(&children->others, tw_children_key(parent, key), node);
}

void tw_children_free(struct tw_children *children)
{
	free(children->nodes);
	tw_map_free(&children->others);
}
