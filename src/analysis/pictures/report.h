/* report.h - what the renderers share: trees laid out, names made safe, times for people. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_PICTURES_REPORT_H
#define ANALYSIS_PICTURES_REPORT_H

#include "base/bytes/output.h"
#include "base/text/json.h"

#include <trackway/report.h>

/* A tree of calls ready to be drawn. Totals are summed from the self times, so that children never exceed their parent;
 * the root's own time does not count: it is no function. */
struct tw_layout {
	const struct tw_calltree_node *nodes;
	uint32_t count;
	uint32_t *order; /* the nodes depth first, siblings in the order they came in */
	uint64_t *total; /* by node, ns */
	uint64_t *start; /* by node: how many ns of the root's total are left of it */
};

/* nodes must outlive the layout. Returns 0 or TW_ERR_MEMORY. */
int tw_layout_new(struct tw_layout *layout, const struct tw_calltree_node *nodes, uint32_t count);
void tw_layout_free(struct tw_layout *layout);

/* What a renderer writes instead of a character; the last of a table is all zero. */
struct tw_escape {
	char c;
	const char *with;
};

/* Writes a name with the escapes of the target, at most `columns` wide ("…" included) unless that is 0. */
void tw_put_name(struct tw_output *out, const char *name, size_t columns, const struct tw_escape *escapes);

/* How wide a name is, counted no further than just beyond `most`. Characters of three bytes and more count as two. */
size_t tw_name_columns(const char *name, size_t most);

/* 999 ns, 1.234 us, 1.234 ms, 1.234 s. */
void tw_put_time(struct tw_output *out, uint64_t ns);

/* 1,234,567. */
void tw_put_count(struct tw_output *out, uint64_t count);

/* What something weighs, with its unit: 1.234 ms, 1.2 KiB, 5 samples. */
void tw_put_amount(struct tw_output *out, enum tw_weight weight, uint64_t value);

/* The `count` of a row or node of that weight: 1 call, 5 samples. */
void tw_put_counted(struct tw_output *out, enum tw_weight weight, uint64_t count);

/* What a row or a node weighs, as members of JSON: of calls total_ns and self_ns; of others the weight's name, total
 * and self, and where those are times the other two as well. self: NULL where it is not told. */
void tw_json_weighed(struct tw_json *json, enum tw_weight weight, uint64_t total, const uint64_t *self);

/* Whether `count` tells more than the weight itself. */
static inline bool tw_weight_has_count(enum tw_weight weight)
{
	return tw_weight_count(weight) != weight || weight == TW_WEIGHT_CALLS;
}

/* A part of a whole in percent; 0 of nothing. */
static inline double tw_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Writers over plain arrays. Each returns 0 or TW_ERR_MEMORY; errors of the output stay in the output. */
int tw_folded_render(struct tw_output *out, const struct tw_calltree_node *nodes, uint32_t count);
int tw_calltree_json_render(struct tw_output *out, const struct tw_calltree_node *nodes, uint32_t count,
                            enum tw_weight weight);
int tw_flame_render(struct tw_output *out, const struct tw_calltree_node *nodes, uint32_t count,
                    const struct tw_flame_options *options); /* TW_FLAME_BY_PATH: SVG */

/* Names of a stack for folded lines; path: the innermost first. */
void tw_put_folded(struct tw_output *out, const struct tw_calltree_node *nodes, const uint32_t *path, uint32_t depth);

struct tw_rows {
	struct tw_profile_row *rows;
	size_t count, room;
};

int tw_graph_render(struct tw_output *out, const struct tw_rows *functions, const struct tw_rows *callers,
                    const struct tw_graph_options *options);

int tw_diff_of_rows(struct tw_diff **diff, const struct tw_rows *a, const struct tw_rows *b, enum tw_diff_by by);

/* Copies the rows of a profile; texts stay the profile's. Returns 0 or TW_ERR_MEMORY. Free rows.rows in any case. */
int tw_rows_of(struct tw_rows *rows, struct tw_profile *profile);

struct tw_nodes {
	struct tw_calltree_node *nodes;
	size_t count, room;
};

/* The same for the nodes of a tree. */
int tw_nodes_of(struct tw_nodes *nodes, struct tw_calltree *tree);

/* Opens an output: 0 or a status, with errno set. */
int tw_report_open(struct tw_output *out, const char *path);

/* Closes it if `status` is 0, else gives up: the status, or the one of the first error in writing, with errno set. */
int tw_report_close(struct tw_output *out, int status);

#endif
