/* analysis.h - where the time went: profiles of functions and trees of calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_ANALYSIS_H
#define TRACKWAY_ANALYSIS_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What makes two calls belong to the same row. */
enum tw_profile_by {
	TW_BY_FUNCTION, /* the function */
	TW_BY_THREAD,   /* the function and the thread */
	TW_BY_CALLER    /* the function and the function that called it: the edges of the call graph */
};

/* How calls are counted, everywhere in this file:
 * - A call begins at its entry and ends at its exit. An exit that matches a call further down the stack ends the calls
 *   above it too, at the same time ("unwound": exceptions and longjmp leave no exits). An exit that matches nothing is
 *   counted and ignored. A call that is open when its thread's events end, ends at the last of them ("open").
 * - total: nanoseconds between begin and end; of a function that is on the stack more than once (recursion), each
 *   nanosecond once. self: total of the call less that of the calls directly inside it.
 * - min, percentiles and max are over the calls that were seen to end (open ones are left out). Percentiles come from a
 *   histogram with buckets of at most 1/64 of their value, read at the middle: at most 1 % off; min and max are exact.
 * - Calls shorter than min_duration_ns do not exist: their time is their caller's own. */

/* One row of a profile. Texts live until the profile is freed. */
struct tw_profile_row {
	const char *name;
	uint64_t id;      /* the format's number of the function, 0 where there is none */
	const char *file; /* source file, NULL where not known */
	uint32_t line;
	const char *caller; /* TW_BY_CALLER: NULL at the root of a stack */
	uint64_t caller_id;
	uint64_t process, thread; /* TW_BY_THREAD */
	uint64_t count;           /* calls, open ones too */
	uint64_t open;            /* calls without an exit */
	uint64_t unwound;         /* calls ended by an exit further down */
	uint64_t total, self;
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns; /* 0 when every call is open */
};

/* What was not a call. */
struct tw_profile_notes {
	uint64_t exits_without_entry;
	uint64_t time_backwards; /* ends before their begins: taken as 0 ns */
	uint64_t rows_folded;    /* calls counted under "(other)" because the memory limit was reached */
	uint64_t too_deep;       /* calls counted under "(deeper)": struct tw_calltree_options */
};

struct tw_profile;

struct tw_profile_options {
	enum tw_profile_by by;
	uint64_t min_duration_ns;
	unsigned jobs;       /* threads to use; 0: as many as there are processors. The result does not depend on it. */
	size_t memory_limit; /* bytes for rows and histograms; 0: 256 MiB. Calls beyond are counted as "(other)". */
};

/* Creates an empty profile. Returns 0 or TW_ERR_MEMORY. options: NULL for the defaults. */
TW_API int tw_profile_new(struct tw_profile **profile, const struct tw_profile_options *options);

/* Reads a whole trace, opened with TW_ORDER_TRACK or TW_ORDER_TIME and not read from, into the profile; several traces may
 * be added. Returns 0 or the negative status of the read; what was read before that is in the profile. */
TW_API int tw_profile_add(struct tw_profile *profile, struct tw_reader *reader);

/* Returns row i (from 0) in order of name, id, caller, process and thread; NULL past the last. */
TW_API const struct tw_profile_row *tw_profile_row(struct tw_profile *profile, size_t i);

TW_API const struct tw_profile_notes *tw_profile_notes(const struct tw_profile *profile);

/* Frees; NULL is fine. */
TW_API void tw_profile_free(struct tw_profile *profile);

/* ---- The tree of calls: every distinct stack once. ---- */

/* A node: a function called by the stack of nodes above it. Node 0 is the root, which is no function. */
struct tw_calltree_node {
	const char *name; /* lives until the tree is freed; "" for the root */
	uint64_t id;
	uint32_t parent;          /* less than the node's own number; 0 for the root */
	uint32_t depth;           /* 0 for the root */
	uint64_t process, thread; /* with per_thread: of the nodes below the root's children; otherwise 0 */
	uint64_t count;           /* calls that ended here, open ones too */
	uint64_t open;
	uint64_t total, self;
};

struct tw_calltree;

struct tw_calltree_options {
	bool per_thread; /* the root's children are the threads, named "thread N" */
	uint64_t min_duration_ns;
	unsigned jobs;       /* as in struct tw_profile_options */
	size_t memory_limit; /* bytes for nodes; 0: 256 MiB. Stacks beyond are counted under a node "(other)". */
	uint32_t
	    max_depth; /* functions on a stack; 0: any. Calls beyond are counted under one node "(deeper)" each stack. */
};

/* As for profiles. */
TW_API int tw_calltree_new(struct tw_calltree **tree, const struct tw_calltree_options *options);
TW_API int tw_calltree_add(struct tw_calltree *tree, struct tw_reader *reader);

/* Returns node i, parents before children, siblings in order of name and id; NULL past the last. */
TW_API const struct tw_calltree_node *tw_calltree_node(struct tw_calltree *tree, uint32_t i);

TW_API const struct tw_profile_notes *tw_calltree_notes(const struct tw_calltree *tree);

TW_API void tw_calltree_free(struct tw_calltree *tree);

#ifdef __cplusplus
}
#endif

#endif
