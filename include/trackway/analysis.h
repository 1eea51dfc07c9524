/* analysis.h - where time and memory went: profiles of functions and trees of calls, of slices and of samples. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACKWAY_ANALYSIS_H
#define TRACKWAY_ANALYSIS_H

#include <trackway/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is counted: the time of calls, or what samples of stacks stand for.
 *
 * X(name, word, unit, count): count is what the `count` of rows and nodes is by then. */
#define TW_WEIGHT_LIST(X)                                                                                              \
	X(TW_WEIGHT_CALLS, "calls", TW_UNIT_NS, TW_WEIGHT_CALLS)                  /* time between entry and exit */    \
	X(TW_WEIGHT_INSTRUCTIONS, "instructions", TW_UNIT_COUNT, TW_WEIGHT_CALLS) /* the same, of traces of those */   \
	X(TW_WEIGHT_TICKS, "ticks", TW_UNIT_COUNT,                                                                     \
	  TW_WEIGHT_CALLS) /* of logs that tell no frequency of their clock */                                         \
	X(TW_WEIGHT_SAMPLES, "samples", TW_UNIT_COUNT, TW_WEIGHT_SAMPLES) /* ticks of sampling */                      \
	X(TW_WEIGHT_CPU, "cpu", TW_UNIT_NS, TW_WEIGHT_SAMPLES)            /* processor time */                         \
	X(TW_WEIGHT_WALL, "wall", TW_UNIT_NS, TW_WEIGHT_SAMPLES)          /* time that samples stand for */            \
	X(TW_WEIGHT_BYTES, "bytes", TW_UNIT_BYTES, TW_WEIGHT_ALLOCATIONS) /* allocated */                              \
	X(TW_WEIGHT_ALLOCATIONS, "allocations", TW_UNIT_COUNT, TW_WEIGHT_ALLOCATIONS) /* objects allocated */          \
	X(TW_WEIGHT_COUNT, "count", TW_UNIT_COUNT, TW_WEIGHT_CALLS) /* calls, of trees alone: rows have `count` */

enum tw_weight {
	/* Calls; samples where the trace's format tells by them where time goes, or their wall time where none of the
	 * first trace has ticks. */
	TW_WEIGHT_DEFAULT,
#define X(name, word, unit, count) name,
	TW_WEIGHT_LIST(X)
#undef X
	    TW_WEIGHTS /* how many there are */
};

enum tw_unit { TW_UNIT_COUNT, TW_UNIT_NS, TW_UNIT_BYTES };

/* Returns the word of a weight, a constant; "calls" for TW_WEIGHT_DEFAULT, NULL for what is no weight. */
TW_API const char *tw_weight_name(enum tw_weight weight);

/* Returns the unit of a weight; TW_UNIT_NS for TW_WEIGHT_DEFAULT. */
TW_API enum tw_unit tw_weight_unit(enum tw_weight weight);

/* Returns what `count` is in rows and nodes of that weight: TW_WEIGHT_CALLS, TW_WEIGHT_SAMPLES or
 * TW_WEIGHT_ALLOCATIONS. */
TW_API enum tw_weight tw_weight_count(enum tw_weight weight);

/* What makes two calls, or two samples, belong to the same row. */
enum tw_profile_by {
	TW_BY_FUNCTION, /* the function */
	TW_BY_THREAD,   /* the function and the thread */
	TW_BY_CALLER,   /* the function and the function that called it: the edges of the call graph */
	TW_BY_OBJECT,   /* the function and the first object with a name that a pointer or koid of the call leads to */
	TW_BY_CLASS,    /* of samples: the class that the function belongs to */
	TW_BY_MODULE,   /* of samples: the module */
	/* Of samples: the line of the source, "file:line"; where that is not known, the function and what the format
	 * calls the place in it ("f+IL_0007"), or else the address ("f@0x7f0010"). */
	TW_BY_LINE,
	TW_BY_WHOLE_THREAD, /* of samples: the thread, whatever its functions */
	TW_BY_ASYNC         /* asynchronous operations, which are no calls, by name: the trace in TW_ORDER_TIME */
};

/* How calls are counted, everywhere in this file:
 * - A call begins at its entry and ends at its exit. An exit that matches a call further down the stack ends the calls
 *   above it too, at the same time ("unwound": exceptions and longjmp leave no exits). An exit that matches nothing is
 *   counted and ignored. A call that is open when its thread's events end, ends at the last of them ("open").
 * - A complete slice lasts as long as it says. It is inside of the innermost call that holds it whole: slices of a
 *   thread may overlap; 1 ns is rounding. A call that goes on after the slice in which it began was not inside.
 * - total: nanoseconds (of TW_WEIGHT_INSTRUCTIONS: instructions) between begin and end; of a function that is on the
 *   stack more than once (recursion), each once. self: its time without the union of the calls directly inside it.
 * - min, percentiles and max are over the calls that were seen to end (open ones are left out). Percentiles come from a
 *   histogram with buckets of at most 1/64 of their value, read at the middle: at most 1 % off; min and max are exact.
 * - Calls shorter than min_duration_ns do not exist: their time is their caller's own. Open ones stay: how long they
 *   would last is not known.
 *
 * How asynchronous operations are counted: from a begin to the next end of its category, name and id, and of its
 * process unless the id is one of all; where several of them are open, the newest ends. They have no callees: self is
 * the duration, and total the sum of them.
 *
 * How samples are counted:
 * - self: what samples weigh whose stacks end in the row; total: what all samples weigh that have it in their stacks,
 *   each once, however often it is there (recursion). A sample without a stack is of a function "(no stack)".
 * - They have no durations: what is of single calls (open, unwound, min to max) is 0, and min_duration_ns leaves out
 *   none. */

/* What samples weigh. */
struct tw_weighed {
	uint64_t self, total;
};

/* One row of a profile. Texts live until the profile is freed; a zero byte in one is told as "\x00", here and in all
 * other analyses. */
struct tw_profile_row {
	const char *name;
	uint64_t id;      /* the format's number of the function, 0 where there is none */
	const char *file; /* source file, NULL where not known */
	uint32_t line;
	const char *owner, *module; /* the class and the module, NULL where not known */
	const char *caller;         /* TW_BY_CALLER: NULL at the root of a stack */
	uint64_t caller_id;
	const char *object;       /* TW_BY_OBJECT: NULL where there is none */
	uint64_t process, thread; /* TW_BY_THREAD, TW_BY_WHOLE_THREAD */
	bool threadless;          /* the same: of no thread that is known; thread is 0, which may be another's number */
	const char *process_name, *thread_name; /* the same; NULL where not known */
	uint64_t count;                         /* calls, open ones too; of samples self by tw_weight_count() */
	uint64_t summed;                        /* calls of which the trace tells only the sums (xray-profiling) */
	uint64_t open;                          /* calls without an exit */
	uint64_t unwound;                       /* calls ended by an exit further down */
	uint64_t total, self;                   /* of the weight, in its unit */
	const struct tw_weighed *weighed;       /* of samples: all weights, by enum tw_weight; NULL of calls */
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns; /* in the weight's unit; 0 when every call is open */
};

/* What was not a call. */
struct tw_profile_notes {
	uint64_t exits_without_entry;
	uint64_t time_backwards; /* ends before their begins: taken as 0 ns */
	uint64_t rows_folded;    /* calls or samples counted under "(other)": the memory limit was reached */
	uint64_t too_deep;       /* calls counted under "(deeper)": struct tw_calltree_options */
	uint64_t uncertain;      /* begins and ends of calls beside damage: enum tw_event_flag */
	/* Of `rows_folded`, calls for which another bound was reached: more than 1,024 slices of a thread were open at
	 * once that do not nest. */
	uint64_t laneless;
};

struct tw_profile;

struct tw_profile_options {
	size_t struct_size; /* trackway/status.h */
	enum tw_profile_by by;
	enum tw_weight weight;
	bool one_weight; /* of samples: the weight and its count are enough, which is faster; the others may be 0 */
	uint64_t min_duration_ns;
	/* Only calls that recur: those inside of another call of the same row, and those that held one. */
	bool recursive;
	unsigned jobs;       /* threads to use; 0: as many as there are processors. The result does not depend on it. */
	size_t memory_limit; /* bytes for rows and histograms; 0: 256 MiB. Calls beyond are counted as "(other)". */
};

/* Creates an empty profile. Returns 0 or TW_ERR_MEMORY; then *profile is NULL. options: NULL for the defaults. */
TW_API int tw_profile_new(struct tw_profile **profile, const struct tw_profile_options *options);

/* Reads a whole trace, opened with TW_ORDER_TRACK or TW_ORDER_TIME and not read from, into the profile; several traces
 * may be added. Returns 0 or the negative status of the read; what was read before that is in the profile.
 * TW_ERR_VALUE: the trace's format cannot have the weight, or rows by that; or it has another weight by default than
 * the traces before. */
TW_API int tw_profile_add(struct tw_profile *profile, struct tw_reader *reader);

/* Returns the weight that is counted: TW_WEIGHT_DEFAULT only before a trace was added. */
TW_API enum tw_weight tw_profile_weight(const struct tw_profile *profile);

/* Returns row i (from 0) in order of name, id, caller, process and thread; NULL past the last. */
TW_API const struct tw_profile_row *tw_profile_row(struct tw_profile *profile, size_t i);

/* Returns what was not a call, of all traces together. Lives until the profile is freed. */
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
	bool threadless;          /* the same: of no thread that is known, as in rows */
	uint64_t count;           /* calls that ended here, open ones too; samples and allocations: as in rows */
	uint64_t open;
	uint64_t total, self; /* of the weight, in its unit */
};

struct tw_calltree;

struct tw_calltree_options {
	size_t struct_size; /* trackway/status.h */
	enum tw_weight weight;
	bool per_thread; /* the root's children are the threads: "thread N", "NAME (thread N)" or "(no thread)" */
	uint64_t min_duration_ns;
	unsigned jobs;       /* as in struct tw_profile_options */
	size_t memory_limit; /* bytes for nodes; 0: 256 MiB. Stacks beyond are counted under a node "(other)". */
	/* Functions on a stack; 0: any. Calls beyond are counted under one node "(deeper)" each stack. */
	uint32_t max_depth;
};

/* Creates a tree with only the root. Returns 0 or TW_ERR_MEMORY; then *tree is NULL. options: NULL for the defaults. */
TW_API int tw_calltree_new(struct tw_calltree **tree, const struct tw_calltree_options *options);

/* Reads a whole trace into the tree, as tw_profile_add() does into a profile, with the same statuses. */
TW_API int tw_calltree_add(struct tw_calltree *tree, struct tw_reader *reader);

/* Returns the weight that is counted: TW_WEIGHT_DEFAULT only before a trace was added. */
TW_API enum tw_weight tw_calltree_weight(const struct tw_calltree *tree);

/* Returns node i, parents before children, siblings in order of name and id; NULL past the last. */
TW_API const struct tw_calltree_node *tw_calltree_node(struct tw_calltree *tree, uint32_t i);

/* Returns what was not a call, of all traces together. Lives until the tree is freed. */
TW_API const struct tw_profile_notes *tw_calltree_notes(const struct tw_calltree *tree);

/* Frees; NULL is fine. */
TW_API void tw_calltree_free(struct tw_calltree *tree);

#ifdef __cplusplus
}
#endif

#endif
