/* report.h - what the renderers share: trees laid out, names made safe, times for people. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_PICTURES_REPORT_H
#define ANALYSIS_PICTURES_REPORT_H

#include "analysis/tool.h"

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

/* Writes a name with the escapes of the target, at most `columns` wide unless that is 0: then "…" is in its middle. */
void tw_put_name(struct tw_output *out, const char *name, size_t columns, const struct tw_escape *escapes);

/* The same of a function, whose own name stays whole as long as it can: its parameters give way first, then its
 * scope. columns: not 0; below TW_NAME_LEAST a name that is cut tells nothing. */
enum { TW_NAME_LEAST = 6 };
void tw_put_function(struct tw_output *out, const char *name, size_t columns, const struct tw_escape *escapes);

/* How wide a name is, counted no further than just beyond `most`. Characters of three bytes and more count as two. */
size_t tw_name_columns(const char *name, size_t most);

/* 999 ns, 1.234 us, 1.234 ms, 1.234 s. */
void tw_put_time(struct tw_output *out, uint64_t ns);

/* 1,234,567. */
void tw_put_count(struct tw_output *out, uint64_t count);

/* What a weight that is a count is a count of, more than one, "samples"; of others what their `count` is of. */
const char *tw_weight_words(enum tw_weight weight);

/* What something weighs, with its unit: 1.234 ms, 1.2 KiB, 5 samples. */
void tw_put_amount(struct tw_output *out, enum tw_weight weight, uint64_t value);

/* The `count` of a row or node of that weight: 1 call, 5 samples. */
void tw_put_counted(struct tw_output *out, enum tw_weight weight, uint64_t count);

/* A part of a whole in percent; 0 of nothing. */
static inline double tw_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Names of a stack for folded lines; path: the innermost first. */
void tw_put_folded(struct tw_output *out, const struct tw_calltree_node *nodes, const uint32_t *path, uint32_t depth);

/* As tw_diff_runs(), of rows of so many runs before and after. */
int tw_diff_of_rows(struct tw_diff **diff, const struct tw_rows *rows, size_t before, size_t after, enum tw_diff_by by);

/* Opens an output: 0 or a status, with errno set. */
int tw_report_open(struct tw_output *out, const char *path);

/* Closes it if `status` is 0, else gives up: the status, or the one of the first error in writing, with errno set. */
int tw_report_close(struct tw_output *out, int status);

#endif
