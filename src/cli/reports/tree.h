/* tree.h - the trees of calls that stacks and flame show. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_TREE_H
#define CLI_REPORTS_TREE_H

#include "analysis/tool.h"
#include "cli/options/options.h"

/* A tree read from files, as an array whose texts live as long as the tree. */
struct tw_tree {
	struct tw_calltree *tree;
	struct tw_nodes nodes;
	enum tw_weight weight;
	bool per_thread;        /* the root's children are threads */
	bool numbered;          /* functions may have numbers alone: it is of a log of XRay */
	uint64_t sampled_bytes; /* weights are estimates, of samples about every so many bytes; 0: exact */
};

/* How deep stacks are shown that are not asked for: the text of all stacks of a recursion grows with the square of its
 * depth. */
enum { TW_TREE_DEPTH = 1000 };

struct tw_tree_options {
	bool per_thread;
	uint64_t max_depth; /* 0: TW_TREE_DEPTH */
};

/* How many functions deep stacks are shown. */
uint32_t tw_tree_depth(const struct tw_tree_options *options);

/* Reads files into a tree. Returns enum tw_exit; nodes.count is 0 when there is nothing to show. Free in any case. */
int tw_tree_read(struct tw_tree *tree, const struct tw_common *common, const struct tw_tree_options *options,
                 char **paths, size_t count);
void tw_tree_free(struct tw_tree *tree);

/* Cuts every stack off above its outermost function that --function names; stacks without one go. Returns 0 or
 * TW_ERR_MEMORY. */
int tw_tree_cut(struct tw_tree *tree, const struct tw_common *common);

#endif
