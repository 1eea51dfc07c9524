/* callgrind.h - what callgrind's profiles are made of: functions, and what they cost. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_PROFILES_CALLGRIND_H
#define EXPORT_PROFILES_CALLGRIND_H

#include "export/profiles/stack_tree.h"
#include "export/text/line.h"

enum { CALLGRIND_SHARES = 8, CALLGRIND_SHARE_FUNCTIONS = 64 };

/* A function at a depth of its recursion. */
struct callgrind_function {
	uint32_t frame; /* one that has its name and file */
	uint32_t level; /* 1: not inside itself */
	uint32_t costs; /* the last of its costs, plus 1 */
	uint32_t own;   /* the last of those that are its own, plus 1: all, as a rule */
	bool fileless;  /* no file is known of it: told when its name has been written */
};

/* What a function costs by itself at a line, or what it calls from there. */
struct callgrind_cost {
	uint32_t before; /* of the same function, plus 1 */
	uint32_t line;
	uint32_t callee; /* a function, or UINT32_MAX: its own cost */
	uint32_t callee_line;
	uint64_t calls;
};

/* The costs of some functions, which one thread finds. `make bench` measures convert. */
struct callgrind_share {
	const struct callgrind *callgrind;
	struct callgrind_cost *costs;
	size_t cost_count, cost_room;
	uint64_t *amounts; /* of each cost, by its place in `values` */
	size_t amount_room;
	struct tw_map map; /* function, line and callee to cost */
	bool failed;
};

/* What the nodes of the tree are turned into. */
struct callgrind {
	struct tw_stack_tree tree; /* first */
	unsigned jobs;
	struct callgrind_function *functions;
	size_t function_count, function_room;
	struct tw_map function_map;                   /* frame's function and level to function */
	enum tw_stack_tree_value values[TREE_VALUES]; /* values that there are, and are events */
	unsigned value_count;
	struct callgrind_share shares[CALLGRIND_SHARES];
	unsigned share_count;                   /* a power of 2 */
	uint32_t *function_of;                  /* by node */
	uint64_t *inclusive[TREE_VALUES];       /* by node, of those in `values` */
	struct callgrind_step *steps;           /* by node */
	struct callgrind_recursion *recursions; /* by first frame */
	uint32_t *first_frame;                  /* by frame: the first one of the same function */
	uint32_t *line_of;                      /* by frame */
	bool *named;                            /* by function: its name has been written */
	struct tw_line line;
	bool failed, unsummed; /* no memory for functions; for sums, which another thread makes */
};

/* The share that a function is of: some that follow each other are of one. */
static inline struct callgrind_share *tw_callgrind_share(struct callgrind *callgrind, uint32_t function)
{
	return &callgrind->shares[function / CALLGRIND_SHARE_FUNCTIONS & (callgrind->share_count - 1)];
}

/* There may be none to tell, and C has no NULL + 0. */
static inline uint64_t *tw_callgrind_amounts(const struct callgrind_share *share, uint32_t cost)
{
	return share->amounts ? share->amounts + (size_t)cost * share->callgrind->value_count : NULL;
}

/* Makes functions and costs of `values` of the complete tree. False when there is no memory. */
bool tw_callgrind_make_costs(struct callgrind *callgrind);

void tw_callgrind_free_costs(struct callgrind *callgrind);

#endif
