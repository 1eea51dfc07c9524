/* stacks.h - the stacks of calls that trackway stacks shows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORTS_STACKS_H
#define CLI_REPORTS_STACKS_H

#include "cli/options/options.h"
#include "cli/reports/call_notes.h"
#include "cli/reports/tree.h"

/* The stacks that are shown: the numbers of their innermost nodes. */
struct tw_stacks {
	const struct tw_calltree_node *nodes;
	uint32_t *items;
	size_t count, shown;
	enum tw_weight weight;
	uint32_t outermost; /* depth of a stack's outermost function */
	uint64_t self;      /* of all, also those that --function leaves out */
	bool counted;       /* the same: they have counts; folded stacks of bytes have none */
	struct tw_note_counts notes;
};

/* Writes them to --output, as text or JSON Lines. Returns 0 or TW_EXIT_FAILED after saying why. */
int tw_stacks_put(const struct tw_stacks *stacks, const struct tw_tree *tree, const struct tw_common *common);

#endif
