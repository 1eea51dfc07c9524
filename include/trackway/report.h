/* report.h - profiles and trees of calls as pictures, graphs and tables: flame graph, folded stacks, call graph,
 * diff. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_REPORT_H
#define TRACKWAY_REPORT_H

#include <trackway/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where a function of this file takes a path, "-" is standard output, and a regular file appears under its name only
 * when it is complete, and one whose name ends in ".gz" or ".zst" is compressed. All of them return 0, TW_ERR_MEMORY,
 * TW_ERR_SYSTEM (errno tells) or TW_ERR_VALUE (no such form). Names are written as UTF-8: bytes that are none become
 * U+FFFD, control characters a space. An empty name is shown as "(no name)". */

/* Writes the stacks of a tree for flamegraph.pl and its kin: a line is the names from the outermost to the innermost,
 * with ';' between them, a space, and what the innermost weighs itself: nanoseconds, samples, bytes. A ';' in a name
 * becomes ':'. Stacks without weight of their own are left out. Lines follow the tree, depth first. */
TW_API int tw_folded_write(struct tw_calltree *tree, const char *path);

/* ---- The flame graph. ---- */

enum tw_flame_form {
	TW_FLAME_BY_PATH, /* HTML when the path ends in .html or .htm (.html.gz, ...), otherwise SVG */
	TW_FLAME_SVG,
	TW_FLAME_HTML
};

struct tw_flame_options {
	size_t struct_size;    /* trackway/status.h */
	enum tw_weight weight; /* for the units; tw_flame_write() takes the tree's */
	const char *title;     /* NULL: "Flame graph" */
	enum tw_flame_form form;
	bool inverted; /* the root at the top ("icicle") */
	/* Narrower frames are not drawn, but counted: share of all, 0 to 1. 0: 0.00001; negative: draw all. */
	double min_share;
	uint32_t max_depth; /* deeper frames are not drawn, but counted; 0: 1000 */
	/* Allocations are estimates, of samples: one about every so many bytes. The picture says so. 0: exact. */
	uint64_t sampled_bytes;
};

/* Writes a tree as one file that needs no other and no network: a picture where scripts are off; with scripts, frames
 * can be zoomed and searched. options: NULL for the defaults. */
TW_API int tw_flame_write(struct tw_calltree *tree, const char *path, const struct tw_flame_options *options);

/* ---- The graph of calls. ---- */

enum tw_graph_form {
	TW_GRAPH_DOT, /* for Graphviz */
	TW_GRAPH_JSON /* JSON Lines, nodes first, and last what was left out, where something was:
	               * {"type":"node","id","name","function_id","file","line","count","open","total_ns","self_ns"}
	               * {"type":"edge","from","to","count","total_ns"}: ids of nodes; from is null at the root of a
	               * stack
	               * {"type":"left-out","nodes","edges"}: how many
	               * Of samples nodes have "weight","total","self", edges "weight","total", and the times only
	               * where the weight is one. */
};

struct tw_graph_options {
	size_t struct_size;    /* trackway/status.h */
	enum tw_weight weight; /* for the units; tw_graph_write() takes that of `functions` */
	enum tw_graph_form form;
	const char *title; /* of a DOT graph; NULL: none */
	size_t top; /* only so many functions, those with the most total time, and the edges between them; 0: all */
};

/* Writes functions and who calls whom. functions: a profile TW_BY_FUNCTION, callers: one TW_BY_CALLER of the same
 * trace. options: NULL for the defaults. */
TW_API int tw_graph_write(struct tw_profile *functions, struct tw_profile *callers, const char *path,
                          const struct tw_graph_options *options);

/* ---- What differs between two profiles. ---- */

/* What a diff is sorted by: the largest change, up or down, first; then by name. */
enum tw_diff_by { TW_DIFF_SELF, TW_DIFF_TOTAL, TW_DIFF_COUNT, TW_DIFF_P50 };

enum tw_diff_status { TW_DIFF_BOTH, TW_DIFF_ONLY_A, TW_DIFF_ONLY_B };

/* One number on both sides. */
struct tw_diff_value {
	uint64_t a, b;  /* 0 where the function is missing */
	int64_t change; /* b less a, at most INT64_MAX either way */
	double ratio;   /* b to a: 1 when both are 0, infinite when only a is */
};

/* Runs of a program differ by themselves: how much, only several runs can tell. */
enum { TW_RUNS_LEAST = 4 };

/* Whether a change is more than that: it is asked how many of the ways to deal the runs to two sides make the means of
 * the sides differ as much. What only 5 in 100 do is significant; of rows without a change so many are called so, by
 * chance. */
enum tw_significance {
	TW_UNTESTED, /* a side has less than TW_RUNS_LEAST runs */
	TW_NOISE,
	TW_SIGNIFICANT
};

/* One function name. Functions of one profile that share a name are summed, so a total may count time twice where they
 * call each other; their p50 is that of the one with the most ended calls. Of several runs the values are means, p50 of
 * the runs in which a call ended. A run without the function counts as 0. */
struct tw_diff_row {
	const char *name; /* lives until the diff is freed */
	enum tw_diff_status status;
	struct tw_diff_value count, total, self, p50_ns;
	enum tw_significance significance;
	double p;         /* how likely that is; not a number where it was not tested */
	double low, high; /* the change of what rows are sorted by is between these, 95 times in 100; as p */
};

struct tw_diff;

/* Compares two profiles TW_BY_FUNCTION, a before and b after; both may be freed afterwards. Returns 0, TW_ERR_MEMORY,
 * or TW_ERR_VALUE for what cannot be sorted by; then *diff is NULL. */
TW_API int tw_diff_new(struct tw_diff **diff, struct tw_profile *a, struct tw_profile *b, enum tw_diff_by by);

/* The profiles of the runs of a side, TW_BY_FUNCTION. */
struct tw_diff_side {
	struct tw_profile *const *runs;
	size_t count;
};

/* The same of any number of runs a side. */
TW_API int tw_diff_runs(struct tw_diff **diff, const struct tw_diff_side *a, const struct tw_diff_side *b,
                        enum tw_diff_by by);

/* Returns row i (from 0), NULL past the last. Lives until the diff is freed. */
TW_API const struct tw_diff_row *tw_diff_row(const struct tw_diff *diff, size_t i);

/* Frees; NULL is fine. */
TW_API void tw_diff_free(struct tw_diff *diff);

#ifdef __cplusplus
}
#endif

#endif
