/* calltree_part.h - the calls of one part of a trace, by stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_CALLS_CALLTREE_PART_H
#define ANALYSIS_CALLS_CALLTREE_PART_H

#include "core/calls/calls.h"

#include <trackway/analysis.h>

/* A node; numbers are the rows of its calls. Parents come before children. */
struct tw_part_node {
	uint32_t parent;
	uint32_t name;   /* of the part's dictionary; TW_THREAD_NODE for a thread, TW_NO_STACK */
	uint32_t newest; /* the child that was entered last: often the next one too */
	uint32_t track;  /* of a thread */
	uint64_t count, open;
	uint64_t total, self;
};

enum { TW_NODE_ROOT = TW_ROW_NONE, TW_NODE_OTHER = TW_ROW_OTHER, TW_NODE_FIRST = TW_ROW_FIRST };

/* The name of a node that is a thread. */
#define TW_THREAD_NODE UINT32_MAX

/* The name of what samples without a stack are counted under. */
#define TW_NO_STACK (UINT32_MAX - 1)

/* A call that waits for its node. The node is known when all calls of the track that were open with it have ended. */
struct tw_held_call {
	uint32_t parent; /* the row of what it is inside of: a node, or TW_ROW_HELD and the number of another one */
	uint32_t name, node;
	bool ended, open;
	uint64_t duration, self;
};

/* The calls of a track that wait, in the order of their begins. */
struct tw_held_calls {
	struct tw_held_call *calls;
	size_t count, room;
};

struct tw_calltree_part {
	struct tw_calls calls;      /* first: hooks get this */
	struct tw_held_calls *held; /* by track */
	size_t held_room;
	const struct tw_dictionary *dictionary;
	bool per_thread;
	bool full; /* no more nodes are made */
	struct tw_part_node *nodes;
	size_t count, room;
	struct tw_map map; /* parent << 32 | name (of a thread: its track) to node */
};

struct tw_calltree_part *tw_calltree_part_open(const struct tw_calltree_options *options, struct tw_budget *budget,
                                               const struct tw_dictionary *dictionary);
void tw_calltree_part_add(void *part, const struct tw_call_run *run);
void tw_calltree_part_finish(void *part);
bool tw_calltree_part_folded(const struct tw_calltree_part *part);
void tw_calltree_part_close(void *part);

/* The samples of a trace as nodes of the numbers of its dictionary. */
struct tw_sample_tree {
	bool per_thread; /* nodes of the threads are above the others */
	bool choose;     /* the samples tell what is counted: it is put into `weight` */
	enum tw_weight weight;
	struct tw_part_node *nodes; /* made, to be freed; NULL when there is no memory for them */
	size_t count;
};

/* Reads them. Returns 0 or the negative status of the read. */
int tw_calltree_sample_nodes(struct tw_reader *reader, struct tw_budget *budget, struct tw_sample_tree *tree);

#endif
