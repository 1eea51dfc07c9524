/* tree.c - the trees of calls that stacks and flame show. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/tree.h"

#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/reports/call_notes.h"

#include <stdlib.h>
#include <string.h>

static int read_tree(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	(void)path;
	return tw_calltree_add(walk->context, reader);
}

uint32_t tw_tree_depth(const struct tw_tree_options *options)
{
	uint64_t depth = options->max_depth ? options->max_depth : TW_TREE_DEPTH;
	return depth < INT32_MAX ? (uint32_t)depth : INT32_MAX;
}

int tw_tree_read(struct tw_tree *tree, const struct tw_common *common, const struct tw_tree_options *chosen,
                 char **paths, size_t count)
{
	const struct tw_calltree_options options = {
	    .weight = tw_weight_asked(common),
	    .per_thread = chosen->per_thread,
	    .max_depth = tw_tree_depth(chosen),
	    .min_duration_ns = common->min_duration,
	    .jobs = tw_jobs(common),
	    .memory_limit = (size_t)common->memory,
	};
	*tree = (struct tw_tree){.per_thread = chosen->per_thread};
	if (tw_calltree_new(&tree->tree, &options) < 0)
		return tw_say_error("out of memory");
	struct tw_walk walk = {.common = common, .context = tree->tree, .read = read_tree};
	int status = tw_walk(&walk, paths, count);
	if (walk.readable == 0)
		return status;
	tree->weight = tw_calltree_weight(tree->tree);
	if (tw_refuse_durations(common, tree->weight))
		return TW_EXIT_FAILED;
	tw_say_weight(common, tree->weight);
	tw_say_folded(tw_calltree_notes(tree->tree), tree->weight);
	tw_say_deeper(tw_calltree_notes(tree->tree), tree->weight, options.max_depth);
	return tw_nodes_of(&tree->nodes, tree->tree) < 0 ? tw_say_error("out of memory") : status;
}

void tw_tree_free(struct tw_tree *tree)
{
	free(tree->nodes.nodes);
	tw_calltree_free(tree->tree);
}

/* ---- Cutting stacks off. ---- */

static const uint32_t NOT_SHOWN = UINT32_MAX;

struct cutting {
	const struct tw_common *common;
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
 * first of its stack that --function names; NOT_SHOWN otherwise. */
static uint32_t new_parent(const struct cutting *cut, const struct tw_tree *tree, uint32_t i)
{
	const struct tw_calltree_node *nodes = tree->nodes.nodes, *node = &nodes[i];
	uint32_t tops = tree->per_thread ? 2 : 1; /* depth of a stack's outermost function */
	bool above_shown = node->depth > tops && cut->places[node->parent] != NOT_SHOWN;
	if (node->depth < tops)
		return 0;
	if (above_shown)
		return cut->places[node->parent];
	return tw_function_wanted(cut->common, node->name) ? cut->top : NOT_SHOWN;
}

static bool cut_all(struct cutting *cut, const struct tw_tree *tree)
{
	if (!add_node(cut, &tree->nodes.nodes[0], 0, &cut->places[0]))
		return false;
	for (uint32_t i = 1; i < tree->nodes.count; i++) {
		uint32_t parent = new_parent(cut, tree, i);
		cut->places[i] = NOT_SHOWN;
		if (parent != NOT_SHOWN && !put_node(cut, &tree->nodes.nodes[i], parent, &cut->places[i]))
			return false;
		if (tree->per_thread && tree->nodes.nodes[i].depth == 1)
			cut->top = cut->places[i];
	}
	return true;
}

int tw_tree_cut(struct tw_tree *tree, const struct tw_common *common)
{
	if (!common->function || tree->nodes.count == 0)
		return 0;
	struct cutting cut = {.common = common, .places = malloc(tree->nodes.count * sizeof *cut.places)};
	bool fine = cut.places && cut_all(&cut, tree);
	free(cut.places);
	tw_map_free(&cut.children);
	if (!fine) {
		free(cut.nodes.nodes);
		return TW_ERR_MEMORY;
	}
	free(tree->nodes.nodes);
	tree->nodes = cut.nodes;
	return 0;
}
