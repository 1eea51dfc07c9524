/* stack_tree.h - slices and samples by stacks, for formats that hold profiles. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PROFILES_STACK_TREE_H
#define EXPORT_PROFILES_STACK_TREE_H

#include "core/calls/calls.h"
#include "core/format.h"
#include "export/profiles/children.h"
#include "export/profiles/frames.h"

/* What stacks are weighed by. X(name, type, unit): what pprof calls it. */
#define TREE_VALUE_LIST(X)                                                                                             \
	X(TREE_CALLS, "calls", "count")                                                                                \
	X(TREE_TIME, "wall", "nanoseconds")                                                                            \
	X(TREE_INSTRUCTIONS, "instructions", "count")                                                                  \
	X(TREE_SAMPLES, "samples", "count")                                                                            \
	X(TREE_CPU, "cpu", "nanoseconds")                                                                              \
	X(TREE_WALL, "sampled_wall", "nanoseconds")                                                                    \
	X(TREE_ALLOCATIONS, "alloc_objects", "count")                                                                  \
	X(TREE_BYTES, "alloc_space", "bytes")

enum tw_stack_tree_value {
#define X(name, type, unit) name,
	TREE_VALUE_LIST(X)
#undef X
	    TREE_VALUES
};

enum { TREE_ROOT = TW_ROW_NONE, TREE_OTHER = TW_ROW_OTHER, TREE_FIRST = TW_ROW_FIRST };

/* A stack: a frame called by that of the node above. Node 0 is the root, node 1 is all stacks for which there was no
 * room. */
struct tw_stack_tree_node {
	uint32_t parent; /* less than the node's own number */
	uint32_t frame;  /* of `frames`; TREE_THREAD for a thread */
	uint32_t track;  /* of a thread and all below it */
};

#define TREE_THREAD UINT32_MAX

/* By node: what is its alone; as long as the last node that has some. */
struct tw_stack_tree_column {
	uint64_t *items;
	size_t room;
};

/* Of all events. */
struct tw_stack_tree_span {
	uint64_t start, end;
	uint64_t day; /* of the start: ns since 1970; 0: not known */
};

struct tw_stack_tree {
	struct tw_calls calls; /* first: hooks get this */
	struct tw_budget budget;
	struct tw_writer *writer;
	const struct tw_dictionary *dictionary;
	bool per_thread; /* below the root come the threads */
	struct tw_frames frames;
	struct tw_stack_tree_node *nodes;
	size_t count, room;
	struct tw_stack_tree_column values[TREE_VALUES];
	struct tw_children children; /* by frame; of the root of a tree of threads by track */
	struct tw_sample_stack stack;
	uint32_t present;       /* values that there are: bits 1 << enum tw_stack_tree_value */
	struct tw_loss *others; /* of stacks for which there was no room; NULL: none yet */
	struct tw_stack_tree_span span;
	enum tw_stack_tree_value of_slices; /* TREE_TIME, or TREE_INSTRUCTIONS where there is no clock */
	bool begun, full, failed;           /* failed: no memory for values */
};

/* What all targets that are made of a tree do. writer->state points to the tree, or to what begins with it. */
int tw_stack_tree_write(struct tw_stack_tree *tree, const struct tw_reader *reader, const struct tw_batch *batch);

/* Ends what is open, and counts what was lost. Returns 0 or TW_ERR_MEMORY, and has told the writer. */
int tw_stack_tree_finish(struct tw_stack_tree *tree);

void tw_stack_tree_free(struct tw_stack_tree *tree);

static inline bool tw_stack_tree_has(const struct tw_stack_tree *tree, unsigned value)
{
	return tree->present >> value & 1;
}

/* What a node weighs by itself. */
static inline uint64_t tw_stack_tree_self(const struct tw_stack_tree *tree, size_t node, unsigned value)
{
	return node < tree->values[value].room ? tree->values[value].items[node] : 0;
}

/* Whether it weighs anything. */
bool tw_stack_tree_weighs(const struct tw_stack_tree *tree, size_t node);

/* Returns the numbers of all nodes, those of a track together, parents before children; node 1 stays in its place. The
 * caller frees it; NULL when there is no memory. */
uint32_t *tw_stack_tree_order(const struct tw_stack_tree *tree);

#endif
