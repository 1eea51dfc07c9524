/* nodes_cut.c - a tree of calls whose stacks begin at certain functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tool.h"
#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "base/memory/sum.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t NOT_SHOWN = UINT32_MAX;

struct cutting {
	const struct tw_nodes *old;
	uint32_t outermost; /* depth of a stack's outermost function */
	tw_name_wanted_fn *wanted;
	const void *context;    /* of wanted */
	struct tw_nodes nodes;  /* the new tree */
	struct tw_map children; /* its nodes by parent, function and name */
	uint32_t *places;       /* of each old node: its new number, or NOT_SHOWN */
	uint32_t top;           /* the new node that stacks begin at: the thread that is being cut, or the root */
};

static uint64_t key_of(const struct tw_calltree_node *node, uint32_t parent)
{
	return tw_hash_bytes(node->name, strlen(node->name), tw_hash64(node->id) + parent);
}

/* Finds the child of a new node that is the same function: what was cut off above may have been different. */
static bool find_child(const struct cutting *cut, const struct tw_calltree_node *node, uint32_t parent, uint32_t *place)
{
	size_t slot = SIZE_MAX;
	while (tw_map_next(&cut->children, key_of(node, parent), &slot, place)) {
		const struct tw_calltree_node *other = &cut->nodes.nodes[*place];
		if (other->parent == parent && other->id == node->id && other->process == node->process &&
		    other->thread == node->thread && strcmp(other->name, node->name) == 0)
			return true;
	}
	return false;
}

static bool add_node(struct cutting *cut, const struct tw_calltree_node *node, uint32_t parent, uint32_t *place)
{
	struct tw_nodes *nodes = &cut->nodes;
	if (!tw_grow(&nodes->nodes, &nodes->room, nodes->count + 1, sizeof *nodes->nodes))
		return false;
	*place = (uint32_t)nodes->count++;
	nodes->nodes[*place] = *node;
	nodes->nodes[*place].parent = parent;
	nodes->nodes[*place].depth = *place ? nodes->nodes[parent].depth + 1 : 0;
	return tw_map_add(&cut->children, key_of(node, parent), *place);
}

static bool put_node(struct cutting *cut, const struct tw_calltree_node *node, uint32_t parent, uint32_t *place)
{
	if (!find_child(cut, node, parent, place))
		return add_node(cut, node, parent, place);
	struct tw_calltree_node *same = &cut->nodes.nodes[*place];
	same->count += node->count;
	same->open += node->open;
	same->total = tw_sum(same->total, node->total);
	same->self = tw_sum(same->self, node->self);
	return true;
}

/* Returns a node's parent in the new tree: the node of its old parent where that is shown; the top where it is the
 * first of its stack that is wanted; NOT_SHOWN otherwise. */
static uint32_t new_parent(const struct cutting *cut, uint32_t i)
{
	const struct tw_calltree_node *node = &cut->old->nodes[i];
	bool above_shown = node->depth > cut->outermost && cut->places[node->parent] != NOT_SHOWN;
	if (node->depth < cut->outermost)
		return 0;
	if (above_shown)
		return cut->places[node->parent];
	return cut->wanted(cut->context, node->name) ? cut->top : NOT_SHOWN;
}

static bool cut_all(struct cutting *cut)
{
	if (!add_node(cut, &cut->old->nodes[0], 0, &cut->places[0]))
		return false;
	for (uint32_t i = 1; i < cut->old->count; i++) {
		uint32_t parent = new_parent(cut, i);
		cut->places[i] = NOT_SHOWN;
		if (parent != NOT_SHOWN && !put_node(cut, &cut->old->nodes[i], parent, &cut->places[i]))
			return false;
		if (cut->outermost > 1 && cut->old->nodes[i].depth == 1)
			cut->top = cut->places[i];
	}
	return true;
}

int tw_nodes_cut(struct tw_nodes *nodes, uint32_t outermost, tw_name_wanted_fn *wanted, const void *context)
{
	struct cutting cut = {.old = nodes, .outermost = outermost, .wanted = wanted, .context = context};
	cut.places = malloc(nodes->count * sizeof *cut.places);
	bool fine = cut.places && cut_all(&cut);
	free(cut.places);
	tw_map_free(&cut.children);
	free(fine ? nodes->nodes : cut.nodes.nodes);
	if (fine)
		*nodes = cut.nodes;
	return fine ? 0 : TW_ERR_MEMORY;
}
