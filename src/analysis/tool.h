/* tool.h - rows, trees and pictures for the command line tool, which writes into an output that is open. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_TOOL_H
#define ANALYSIS_TOOL_H

#include "base/bytes/output.h"
#include "base/text/json.h"

#include <trackway/counters.h>
#include <trackway/cpu.h>
#include <trackway/gc.h>
#include <trackway/report.h>
#include <trackway/sched.h>

/* ---- Weights. ---- */

static inline bool tw_weight_is_sampled(enum tw_weight weight)
{
	return weight >= TW_WEIGHT_SAMPLES && weight <= TW_WEIGHT_ALLOCATIONS;
}

/* Why --min-duration is refused where samples are weighed. */
#define TW_NO_DURATIONS "--min-duration is about calls: samples have no duration"

/* What a row or a node weighs, as members of JSON: of calls total_ns and self_ns; of others the weight's name, total
 * and self, and where those are times the other two as well. self: NULL where it is not told. */
void tw_json_weighed(struct tw_json *json, enum tw_weight weight, uint64_t total, const uint64_t *self);

/* Whether `count` tells more than the weight itself. */
static inline bool tw_weight_has_count(enum tw_weight weight)
{
	return weight != TW_WEIGHT_COUNT && (tw_weight_count(weight) != weight || weight == TW_WEIGHT_CALLS);
}

/* ---- Rows and trees. ---- */

struct tw_rows {
	struct tw_profile_row *rows;
	size_t count, room;
};

/* Copies the rows of a profile; texts stay the profile's. Returns 0 or TW_ERR_MEMORY. Free rows.rows in any case. */
int tw_rows_of(struct tw_rows *rows, struct tw_profile *profile);

struct tw_nodes {
	struct tw_calltree_node *nodes;
	size_t count, room;
};

/* The same for the nodes of a tree. */
int tw_nodes_of(struct tw_nodes *nodes, struct tw_calltree *tree);

/* Whether a function of this name is wanted; NULL is no name. */
typedef bool tw_name_wanted_fn(const void *context, const char *name);

/* Cuts every stack off above its outermost function that is wanted; stacks without one go. outermost: the depth where
 * stacks begin, 2 where the root's children are threads. Returns 0 or TW_ERR_MEMORY: then nothing is cut. */
int tw_nodes_cut(struct tw_nodes *nodes, uint32_t outermost, tw_name_wanted_fn *wanted, const void *context);

/* Keeps the edges, rows by caller, that touch a function that is wanted, and the functions at their ends. Returns 0 or
 * TW_ERR_MEMORY. */
int tw_rows_select(struct tw_rows *functions, struct tw_rows *edges, tw_name_wanted_fn *wanted, const void *context);

/* ---- Pictures and lists. Each returns 0 or TW_ERR_MEMORY; errors of the output stay in the output. ---- */

int tw_folded_render(struct tw_output *out, const struct tw_calltree_node *nodes, uint32_t count);
int tw_calltree_json_render(struct tw_output *out, const struct tw_calltree_node *nodes, uint32_t count,
                            enum tw_weight weight);
int tw_flame_render(struct tw_output *out, const struct tw_calltree_node *nodes, uint32_t count,
                    const struct tw_flame_options *options); /* TW_FLAME_BY_PATH: SVG */

int tw_graph_render(struct tw_output *out, const struct tw_rows *functions, const struct tw_rows *callers,
                    const struct tw_graph_options *options);

/* As tw_gc_plot() and tw_cpu_plot(). */
int tw_gc_render(struct tw_output *out, const struct tw_gc *gc, const char *title);
int tw_cpu_render(struct tw_output *out, const struct tw_cpu *cpu, const char *title);

/* As tw_counters_plot(), but only these rows of the set, in their order. NULL: all. */
int tw_counters_render(struct tw_output *out, const struct tw_counters *counters, const char *title,
                       const struct tw_counter_row *const *rows, size_t count);

/* How many threads have a colour of their own where nobody says which. */
enum { TW_SCHED_COLOURS = 12 };

/* What a picture shows. */
struct tw_sched_shown {
	/* Rows of tw_sched_thread() that have colours of their own, as the legend lists them; all others share one.
	 * NULL: the TW_SCHED_COLOURS that ran the longest. */
	const struct tw_sched_thread *const *threads;
	size_t thread_count;
	const struct tw_sched_cpu *const *cpus; /* rows of tw_sched_cpu(), as they are drawn; NULL: all */
	size_t cpu_count;
};

/* As tw_sched_plot(); shown: NULL for the defaults. */
int tw_sched_render(struct tw_output *out, const struct tw_sched *sched, const char *title,
                    const struct tw_sched_shown *shown);

#endif
