/* tree.c - the trees of calls that stacks and flame show. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/tree.h"

#include "cli/files/walk.h"
#include "cli/output/message.h"
#include "cli/reports/call_notes.h"
#include "core/tool.h"

#include <stdlib.h>
#include <string.h>

static int read_tree(struct tw_walk *walk, struct tw_reader *reader, const char *path)
{
	struct tw_tree *tree = walk->context;
	(void)path;
	tree->numbered |= strncmp(tw_reader_format(reader), "xray", 4) == 0;
	int status = tw_calltree_add(tree->tree, reader);
	const uint64_t sampled_bytes = tw_sampled_bytes(reader);
	tree->sampled_bytes = sampled_bytes > tree->sampled_bytes ? sampled_bytes : tree->sampled_bytes;
	return status;
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
	    .min_duration_ns = common->filter.min_duration,
	    .jobs = tw_jobs(common),
	    .memory_limit = (size_t)common->limits.memory,
	};
	*tree = (struct tw_tree){.per_thread = chosen->per_thread};
	if (tw_calltree_new(&tree->tree, &options) < 0)
		return tw_say_error("out of memory");
	struct tw_walk walk = {.common = common, .together = true, .context = tree, .read = read_tree};
	int status = tw_walk(&walk, paths, count);
	if (walk.readable == 0)
		return status;
	tree->weight = tw_calltree_weight(tree->tree);
	if (tree->weight != TW_WEIGHT_BYTES && tree->weight != TW_WEIGHT_ALLOCATIONS)
		tree->sampled_bytes = 0;
	if (tw_refuse_durations(common, tree->weight))
		return TW_EXIT_FAILED;
	tw_say_weight(common, tree->weight);
	tw_say_folded(tw_calltree_notes(tree->tree), tree->weight);
	tw_say_uncertain(tw_calltree_notes(tree->tree));
	tw_say_deeper(tw_calltree_notes(tree->tree), tree->weight, options.max_depth);
	if (tw_nodes_of(&tree->nodes, tree->tree) < 0)
		return tw_say_error("out of memory");
	if (tree->numbered && !common->forms.json)
		tw_say_numbers_of(common, &tree->nodes);
	return status;
}

void tw_tree_free(struct tw_tree *tree)
{
	free(tree->nodes.nodes);
	tw_calltree_free(tree->tree);
}

static bool is_wanted(const void *common, const char *name)
{
	return tw_function_wanted(common, name);
}

int tw_tree_cut(struct tw_tree *tree, const struct tw_common *common)
{
	if (!common->filter.function || tree->nodes.count == 0)
		return 0;
	return tw_nodes_cut(&tree->nodes, tree->per_thread ? 2 : 1, is_wanted, common);
}
