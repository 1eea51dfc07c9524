/* callgrind_costs.c - the nodes of a tree of stacks to functions, what they cost by themselves and what they call. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "base/threads/parallel.h"
#include "export/profiles/callgrind.h"

#include <stdlib.h>

/* A node where all stacks are gone through: what is asked of one is near. `make bench` measures convert. */
struct callgrind_step {
	uint32_t parent, first, next; /* next: child of the same parent; 0: there is none */
	uint32_t frame;               /* the first one of its function */
};

/* A first frame while stacks are gone through. */
struct callgrind_recursion {
	uint32_t level;    /* how often it is on the path */
	uint32_t function; /* the function, where it is on the path once, plus 1 */
};

/* ---- Functions. ---- */

/* Frames of one function at several lines are that function. */
static bool find_first_frames(struct callgrind *callgrind)
{
	const struct tw_stack_tree *tree = &callgrind->tree;
	struct tw_map seen = {0};
	bool room = true;
	for (uint32_t i = 0; i < tree->frames.count && room; i++) {
		struct tw_frame_place place = tw_frames_place(&tree->frames, tree->dictionary, i);
		uint64_t key = place.name ? place.name : place.address | UINT64_C(1) << 63;
		callgrind->first_frame[i] = i;
		callgrind->line_of[i] = place.line;
		if (!tw_map_find(&seen, key, &callgrind->first_frame[i]))
			room = tw_map_add(&seen, key, i);
	}
	tw_map_free(&seen);
	return room;
}

/* A function; where there is no memory the first one, and the file fails. */
static uint32_t function_for(struct callgrind *callgrind, uint32_t frame, uint32_t level)
{
	uint64_t key = (uint64_t)level << 32 | frame;
	uint32_t number;
	if (tw_map_find(&callgrind->function_map, key, &number))
		return number;
	number = (uint32_t)callgrind->function_count;
	if (!tw_grow(&callgrind->functions, &callgrind->function_room, number + (size_t)1,
	             sizeof *callgrind->functions) ||
	    !tw_map_add(&callgrind->function_map, key, number)) {
		callgrind->failed = true;
		return 0;
	}
	callgrind->functions[callgrind->function_count++] = (struct callgrind_function){.frame = frame, .level = level};
	return number;
}

static uint32_t line_of(const struct callgrind *callgrind, uint32_t node)
{
	return node < TREE_FIRST ? 0 : callgrind->line_of[callgrind->tree.nodes[node].frame];
}

/* ---- Costs. ---- */

/* Adds a cost of a function without any amounts. False when there is no memory. */
static bool add_cost(struct callgrind_share *share, uint32_t function, const struct callgrind_cost *wanted,
                     uint64_t key)
{
	const struct callgrind *callgrind = share->callgrind;
	uint32_t number = (uint32_t)share->cost_count;
	size_t count = number + (size_t)1;
	if (!tw_extend(&share->costs, &share->cost_room, count, sizeof *share->costs) ||
	    !tw_extend(&share->amounts, &share->amount_room, count * callgrind->value_count, sizeof *share->amounts) ||
	    !tw_map_add(&share->map, key, number))
		return false;
	share->costs[number] = *wanted;
	share->costs[number].before = callgrind->functions[function].costs;
	callgrind->functions[function].costs = number + 1;
	for (unsigned i = 0; i < callgrind->value_count; i++)
		tw_callgrind_amounts(share, number)[i] = 0;
	share->cost_count = count;
	return true;
}

/* The number of a cost; that of the first one where there is no memory, and the file fails. */
static uint32_t cost_for(struct callgrind_share *share, uint32_t function, const struct callgrind_cost *wanted)
{
	uint64_t functions = (uint64_t)function << 32 | wanted->callee,
		 key = tw_hash_two(functions, (uint64_t)wanted->line << 32 | wanted->callee_line);
	uint32_t number;
	if (tw_map_find(&share->map, key, &number))
		return number;
	if (add_cost(share, function, wanted, key))
		return (uint32_t)share->cost_count - 1;
	share->failed = true;
	return 0;
}

/* The same of what a function costs by itself. Most are at one line. */
static uint32_t own_cost_for(struct callgrind_share *share, uint32_t function, uint32_t line)
{
	struct callgrind_function *of = &share->callgrind->functions[function];
	uint32_t own = of->own;
	if (!own || share->costs[own - 1].line != line)
		own = cost_for(share, function, &(struct callgrind_cost){.line = line, .callee = UINT32_MAX}) + 1;
	return (of->own = own) - 1;
}

static void add_amount(uint64_t *to, uint64_t amount)
{
	*to = tw_sum(*to, amount);
}

static void add_own_cost(struct callgrind_share *share, uint32_t node, uint32_t function)
{
	const struct callgrind *callgrind = share->callgrind;
	uint32_t own = own_cost_for(share, function, line_of(callgrind, node));
	for (unsigned i = 0; i < callgrind->value_count && !share->failed; i++)
		add_amount(&tw_callgrind_amounts(share, own)[i],
		           tw_stack_tree_self(&callgrind->tree, node, callgrind->values[i]));
}

/* What a function costs its caller. */
static void add_call(struct callgrind_share *share, uint32_t node, uint32_t caller)
{
	const struct callgrind *callgrind = share->callgrind;
	const struct callgrind_cost wanted = {.line = line_of(callgrind, callgrind->tree.nodes[node].parent),
	                                      .callee = callgrind->function_of[node],
	                                      .callee_line = line_of(callgrind, node)};
	uint32_t call = cost_for(share, caller, &wanted);
	if (share->failed)
		return;
	for (unsigned i = 0; i < callgrind->value_count; i++)
		add_amount(&tw_callgrind_amounts(share, call)[i], callgrind->inclusive[callgrind->values[i]][node]);
	share->costs[call].calls += tw_stack_tree_self(&callgrind->tree, node, TREE_CALLS);
}

static void add_costs(void *context, unsigned i)
{
	struct callgrind *callgrind = context;
	struct callgrind_share *share = &callgrind->shares[i];
	for (uint32_t node = TREE_FIRST; node < callgrind->tree.count && !share->failed; node++) {
		uint32_t parent = callgrind->tree.nodes[node].parent, function = callgrind->function_of[node];
		if (tw_callgrind_share(callgrind, function) == share)
			add_own_cost(share, node, function);
		if (parent >= TREE_FIRST && tw_callgrind_share(callgrind, callgrind->function_of[parent]) == share)
			add_call(share, node, callgrind->function_of[parent]);
	}
}

/* ---- The tree. ---- */

static void link_children(struct callgrind *callgrind)
{
	const struct tw_stack_tree *tree = &callgrind->tree;
	struct callgrind_step *steps = callgrind->steps;
	for (size_t i = tree->count; i-- > TREE_FIRST;) {
		const struct tw_stack_tree_node *node = &tree->nodes[i];
		steps[i].parent = node->parent;
		steps[i].next = steps[node->parent].first;
		steps[i].frame = callgrind->first_frame[node->frame];
		steps[node->parent].first = (uint32_t)i;
	}
}

/* Adds up what is below each node: children have higher numbers. False when there is no memory. */
static bool sum_up(struct callgrind *callgrind, unsigned value)
{
	const struct tw_stack_tree *tree = &callgrind->tree;
	uint64_t *sums = tw_zeroed(tree->count + 1, sizeof *sums);
	callgrind->inclusive[value] = sums;
	for (size_t i = tree->count; sums && i-- > TREE_FIRST;) {
		uint64_t *above = &sums[tree->nodes[i].parent];
		sums[i] = tw_sum(sums[i], tw_stack_tree_self(tree, i, value));
		*above = tw_sum(*above, sums[i]);
	}
	return sums != NULL;
}

static void enter_node(struct callgrind *callgrind, uint32_t node)
{
	const struct callgrind_step *step = &callgrind->steps[node];
	struct callgrind_recursion *recursion = &callgrind->recursions[step->frame];
	__builtin_prefetch(&callgrind->steps[step->next]);
	if (++recursion->level > 1) {
		callgrind->function_of[node] = function_for(callgrind, step->frame, recursion->level);
		return;
	}
	if (!recursion->function)
		recursion->function = function_for(callgrind, step->frame, 1) + 1;
	callgrind->function_of[node] = recursion->function - 1;
}

/* Leaves a node and all above it that have no other child to come. Returns that one; TREE_ROOT where none has. */
static uint32_t leave_node(struct callgrind *callgrind, uint32_t node)
{
	for (; node != TREE_ROOT; node = callgrind->steps[node].parent) {
		const struct callgrind_step *step = &callgrind->steps[node];
		callgrind->recursions[step->frame].level--;
		if (step->next)
			return step->next;
	}
	return TREE_ROOT;
}

/* Goes through all stacks, the innermost of each at last, and knows at each how often every function is on it. */
static void walk(struct callgrind *callgrind)
{
	uint32_t node = callgrind->steps[TREE_ROOT].first;
	while (node != TREE_ROOT) {
		enter_node(callgrind, node);
		uint32_t first = callgrind->steps[node].first;
		node = first ? first : leave_node(callgrind, node);
	}
}

/* Two things that do not need each other. */
static void prepare(void *context, unsigned i)
{
	struct callgrind *callgrind = context;
	if (i == 0) {
		link_children(callgrind);
		walk(callgrind);
	} else {
		for (unsigned k = 0; k < callgrind->value_count; k++)
			callgrind->unsummed |= !sum_up(callgrind, callgrind->values[k]);
	}
}

static void prepare_all(struct callgrind *callgrind)
{
	if (callgrind->share_count > 1) {
		tw_parallel(2, prepare, callgrind);
	} else {
		prepare(callgrind, 0);
		prepare(callgrind, 1);
	}
}

static bool find_costs(struct callgrind *callgrind)
{
	bool failed = callgrind->failed || callgrind->unsummed;
	if (!failed)
		tw_parallel(callgrind->share_count, add_costs, callgrind);
	for (unsigned i = 0; i < callgrind->share_count; i++)
		failed |= callgrind->shares[i].failed;
	return !failed;
}

static void choose_shares(struct callgrind *callgrind)
{
	unsigned jobs = callgrind->jobs ? callgrind->jobs : tw_processors();
	for (callgrind->share_count = 1;
	     callgrind->share_count * 2 <= jobs && callgrind->share_count < CALLGRIND_SHARES;)
		callgrind->share_count *= 2;
	for (unsigned i = 0; i < callgrind->share_count; i++)
		callgrind->shares[i].callgrind = callgrind;
}

bool tw_callgrind_make_costs(struct callgrind *callgrind)
{
	choose_shares(callgrind);
	const struct tw_stack_tree *tree = &callgrind->tree;
	size_t nodes = tree->count + 1, frames = tree->frames.count + 1;
	callgrind->function_of = calloc(nodes, sizeof *callgrind->function_of);
	callgrind->steps = tw_zeroed(nodes, sizeof *callgrind->steps);
	callgrind->recursions = calloc(frames, sizeof *callgrind->recursions);
	callgrind->first_frame = calloc(frames, sizeof *callgrind->first_frame);
	callgrind->line_of = calloc(frames, sizeof *callgrind->line_of);
	if (!callgrind->function_of || !callgrind->steps || !callgrind->recursions || !callgrind->first_frame ||
	    !callgrind->line_of || !find_first_frames(callgrind))
		return false;
	prepare_all(callgrind);
	return find_costs(callgrind);
}

void tw_callgrind_free_costs(struct callgrind *callgrind)
{
	free(callgrind->functions);
	tw_map_free(&callgrind->function_map);
	for (unsigned i = 0; i < callgrind->share_count; i++) {
		free(callgrind->shares[i].costs);
		free(callgrind->shares[i].amounts);
		tw_map_free(&callgrind->shares[i].map);
	}
	free(callgrind->function_of);
	for (unsigned i = 0; i < TREE_VALUES; i++)
		free(callgrind->inclusive[i]);
	free(callgrind->steps);
	free(callgrind->recursions);
	free(callgrind->first_frame);
	free(callgrind->line_of);
}
