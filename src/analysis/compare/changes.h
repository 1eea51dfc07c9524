/* changes.h - two trees of calls as one: what each stack weighed before and after. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_COMPARE_CHANGES_H
#define ANALYSIS_COMPARE_CHANGES_H

#include "analysis/pictures/report.h"
#include "base/bytes/input.h"
#include "base/memory/map.h"
#include "core/dictionary.h"

/* All zero to begin; free in any case. */
struct tw_changes {
	struct tw_nodes nodes; /* self, total and count: after. The first is the root */
	uint64_t *before;      /* self, by node */
	size_t before_room;
	struct tw_map children;      /* by parent and name */
	struct tw_dictionary *texts; /* names of what was read from a file; others are those of their trees */
	size_t most_nodes;           /* 0: any number; more are TW_ERR_MEMORY */
};

enum tw_change_side { TW_BEFORE, TW_AFTER };

/* Adds a tree to a side; stacks are the same when their functions have the same names. Its names must live as long.
 * Returns 0 or TW_ERR_MEMORY. */
int tw_changes_add(struct tw_changes *changes, enum tw_change_side side, const struct tw_calltree_node *nodes,
                   uint32_t count);

/* Reads lines "outermost;...;innermost before after", as tw_changes_fold() writes them; those that begin with "# " are
 * left out. Returns 0, TW_ERR_MEMORY, TW_ERR_SYSTEM (the input tells), or TW_ERR_VALUE: *line is none of these. */
int tw_changes_read(struct tw_changes *changes, struct tw_input *input, uint64_t *line);

/* Scales what was before so that both sides weigh the same in all. */
void tw_changes_normalize(struct tw_changes *changes);

/* What all stacks of a side weigh. */
uint64_t tw_changes_total(const struct tw_changes *changes, enum tw_change_side side);

/* What each node and all in it weighed before, by node; freed by the caller. NULL without memory. */
uint64_t *tw_changes_before(const struct tw_changes *changes);

/* Writes the lines; stacks that weigh nothing of their own on either side are left out. Returns 0 or TW_ERR_MEMORY. */
int tw_changes_fold(struct tw_output *out, const struct tw_changes *changes);

/* Draws a flame graph: as wide as after, red where it grew and blue where it shrank. Returns 0 or TW_ERR_MEMORY. */
int tw_changes_draw(struct tw_output *out, const struct tw_changes *changes, const struct tw_flame_options *options);

void tw_changes_free(struct tw_changes *changes);

#endif
