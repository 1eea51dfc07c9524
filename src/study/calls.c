/* calls.c - the tree of calls, weighed by instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

/* A function under its callers. Node 0 is what is in no function. */
struct call_node {
	uint32_t parent, name, depth;
	uint64_t calls, self, total;
};

struct calls {
	struct call_node *nodes;
	size_t count, room;
	struct tw_map map;
	uint32_t *stack; /* nodes of the calls that are open; a call without room is counted at its caller's */
	size_t depth, stack_room;
	uint32_t now; /* the node of the innermost */
};

static struct calls *calls_of(const struct study_part *part)
{
	return part->state;
}

static int begin(struct study_part *part)
{
	struct calls *calls = part->state = calloc(1, sizeof *calls);
	if (!calls || !tw_grow(&calls->nodes, &calls->room, 1, sizeof *calls->nodes))
		return TW_ERR_MEMORY;
	calls->count = 1;
	return 0;
}

static void free_calls(struct study_part *part)
{
	struct calls *calls = calls_of(part);
	if (!calls)
		return;
	free(calls->nodes);
	free(calls->stack);
	tw_map_free(&calls->map);
	free(calls);
}

/* ---- Nodes. ---- */

static uint64_t key_of(uint32_t parent, uint32_t name)
{
	return tw_hash64((uint64_t)parent << 32 | name);
}

/* The node of a function under a caller; the caller where there is no room. */
static uint32_t child_of(struct study_part *part, uint32_t parent, uint32_t name)
{
	struct calls *calls = calls_of(part);
	size_t slot = SIZE_MAX;
	uint32_t number = (uint32_t)calls->count, found;
	while (tw_map_next(&calls->map, key_of(parent, name), &slot, &found))
		if (calls->nodes[found].parent == parent && calls->nodes[found].name == name)
			return found;
	if (number == UINT32_MAX - 1 ||
	    !tw_budget_grow(&part->budget, TW_FOR_COUNTS, &calls->nodes, &calls->room, calls->count + 1,
	                    sizeof *calls->nodes) ||
	    !tw_budget_map_add(&part->budget, TW_FOR_COUNTS, &calls->map, key_of(parent, name), number)) {
		part->left_out++;
		return parent;
	}
	calls->nodes[calls->count++] =
	    (struct call_node){.parent = parent, .name = name, .depth = calls->nodes[parent].depth + 1};
	return number;
}

static bool take_change(struct study_part *part, const struct study_call_change *change)
{
	struct calls *calls = calls_of(part);
	calls->depth -= change->ends < calls->depth ? change->ends : calls->depth;
	calls->now = calls->depth ? calls->stack[calls->depth - 1] : 0;
	if (!change->begins)
		return true;
	if (!tw_grow(&calls->stack, &calls->stack_room, calls->depth + 1, sizeof *calls->stack))
		return false;
	uint32_t caller = calls->now;
	calls->now = child_of(part, caller, change->name);
	calls->stack[calls->depth++] = calls->now;
	calls->nodes[calls->now].calls += calls->now != caller && !change->resumed;
	return true;
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	struct calls *calls = calls_of(part);
	size_t done = 0;
	for (size_t i = 0; i < batch->change_count; i++) {
		const struct study_call_change *change = &batch->changes[i];
		calls->nodes[calls->now].self += change->step - done;
		done = change->step;
		if (!take_change(part, change))
			return TW_ERR_MEMORY;
	}
	calls->nodes[calls->now].self += batch->step_count - done;
	return 0;
}

/* Callers come before what they call. */
static int merge(struct study_part *all, struct study_part *part, const uint32_t *map)
{
	const struct calls *from = calls_of(part);
	uint32_t *same = calloc(from->count, sizeof *same);
	(void)map;
	if (!same)
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < from->count; i++) {
		const struct call_node *node = &from->nodes[i];
		uint32_t name = study_name_in(&all->sites, &part->sites, node->name);
		if (name == UINT32_MAX) {
			free(same);
			return TW_ERR_MEMORY;
		}
		same[i] = i ? child_of(all, same[node->parent], name) : 0;
		calls_of(all)->nodes[same[i]].self += node->self;
		calls_of(all)->nodes[same[i]].calls += node->calls;
	}
	free(same);
	return 0;
}

/* ---- The order of a tree: the largest of siblings first. ---- */

struct node_order {
	uint32_t *first, *next; /* children, siblings; 0: none */
	uint32_t *items;        /* nodes, depth first */
	size_t count;
};

static void free_order(struct node_order *order)
{
	free(order->first);
	free(order->next);
	free(order->items);
}

static void add_totals(struct calls *calls)
{
	for (size_t i = 0; i < calls->count; i++)
		calls->nodes[i].total = calls->nodes[i].self;
	for (size_t i = calls->count; i-- > 1;)
		calls->nodes[calls->nodes[i].parent].total += calls->nodes[i].total;
}

static bool link_siblings(const struct calls *calls, struct node_order *order)
{
	struct study_ranks ranks = {0};
	bool fine = true;
	for (uint32_t i = 1; fine && i < calls->count; i++)
		fine = study_rank_add(&ranks, calls->nodes[i].total, i);
	study_rank_sort(&ranks);
	for (size_t i = ranks.count; fine && i-- > 0;) {
		uint32_t node = ranks.items[i].number, parent = calls->nodes[node].parent;
		order->next[node] = order->first[parent];
		order->first[parent] = node;
	}
	free(ranks.items);
	return fine;
}

static bool make_order(const struct calls *calls, struct node_order *order)
{
	order->first = calloc(calls->count, sizeof *order->first);
	order->next = calloc(calls->count, sizeof *order->next);
	order->items = calloc(calls->count, sizeof *order->items);
	if (!order->first || !order->next || !order->items || !link_siblings(calls, order))
		return false;
	uint32_t node = order->first[0];
	while (node) {
		order->items[order->count++] = node;
		uint32_t below = order->first[node];
		while (!below && node) {
			below = order->next[node];
			node = calls->nodes[node].parent;
		}
		node = below;
	}
	return true;
}

/* ---- Tables. ---- */

static const struct tw_study_column function_columns[] = {
    {"total", "INSTRUCTIONS", TW_STUDY_COUNT}, {"total_share", "SHARE", TW_STUDY_SHARE},
    {"self", "SELF", TW_STUDY_COUNT},          {"self_share", "SHARE", TW_STUDY_SHARE},
    {"calls", "CALLS", TW_STUDY_COUNT},        {"function", "FUNCTION", TW_STUDY_TEXT},
};

static const struct tw_study_column tree_columns[] = {
    {"total", "INSTRUCTIONS", TW_STUDY_COUNT}, {"total_share", "SHARE", TW_STUDY_SHARE},
    {"self", "SELF", TW_STUDY_COUNT},          {"calls", "CALLS", TW_STUDY_COUNT},
    {"depth", NULL, TW_STUDY_COUNT},           {"function", NULL, TW_STUDY_TEXT},
    {NULL, "FUNCTION", TW_STUDY_TEXT},
};

/* Sums of a function over all its nodes; in its total a call inside another of it counts only once. */
struct function_sum {
	uint64_t total, self, calls;
	uint32_t open;
};

static void add_sums(const struct calls *calls, const struct node_order *order, struct function_sum *sums,
                     uint32_t *path)
{
	uint32_t depth = 0;
	for (size_t i = 0; i < order->count; i++) {
		const struct call_node *node = &calls->nodes[order->items[i]];
		struct function_sum *sum = &sums[node->name];
		while (depth >= node->depth)
			sums[path[depth--]].open--;
		sum->total += sum->open ? 0 : node->total;
		sum->self += node->self;
		sum->calls += node->calls;
		sum->open++;
		path[depth = node->depth] = node->name;
	}
}

static void put_functions(const struct study_part *all, struct study_tables *tables, const struct function_sum *sums,
                          const struct study_ranks *ranks)
{
	study_table_begin(tables, "function", "Functions", function_columns,
	                  sizeof function_columns / sizeof *function_columns, true);
	for (size_t i = 0; i < ranks->count; i++) {
		const struct function_sum *sum = &sums[ranks->items[i].number];
		study_put_count(tables, sum->total);
		study_put_share(tables, sum->total, all->totals.instructions);
		study_put_count(tables, sum->self);
		study_put_share(tables, sum->self, all->totals.instructions);
		study_put_count(tables, sum->calls);
		study_put_function(tables, all, ranks->items[i].number);
	}
}

static bool sum_functions(const struct study_part *all, struct study_tables *tables, const struct node_order *order)
{
	const struct calls *calls = calls_of(all);
	uint32_t names = tw_dictionary_names(all->sites.names);
	struct function_sum *sums = calloc((size_t)names + 1, sizeof *sums);
	uint32_t *path = calloc(calls->count + 1, sizeof *path);
	struct study_ranks ranks = {0};
	bool fine = sums && path;
	if (fine)
		add_sums(calls, order, sums, path);
	for (uint32_t i = 0; fine && i < names; i++)
		fine = !sums[i].total || study_rank_add(&ranks, sums[i].total, i);
	study_rank_sort(&ranks);
	if (fine)
		put_functions(all, tables, sums, &ranks);
	free(ranks.items);
	free(path);
	free(sums);
	return fine;
}

/* The name behind two spaces for each caller, of which no more are shown than a line can hold. */
static void put_indented(struct study_tables *tables, const struct study_part *all, const struct call_node *node)
{
	enum { INDENT_MOST = 120, TEXT = 512 };
	char text[TEXT];
	size_t indent = 2 * (size_t)(node->depth - 1);
	indent = indent < INDENT_MOST ? indent : INDENT_MOST;
	const struct tw_name *name = tw_dictionary_name(all->sites.names, node->name);
	size_t length = name->length < TEXT - INDENT_MOST ? name->length : TEXT - INDENT_MOST - 1;
	memset(text, ' ', indent);
	memcpy(text + indent, name->text, length);
	text[indent + length] = '\0';
	study_put_text(tables, text);
}

static void put_tree(const struct study_part *all, struct study_tables *tables, const struct node_order *order)
{
	study_table_begin(tables, "tree", "Calls: who calls whom, the largest first", tree_columns,
	                  sizeof tree_columns / sizeof *tree_columns, true);
	for (size_t i = 0; i < order->count; i++) {
		const struct call_node *node = &calls_of(all)->nodes[order->items[i]];
		if (!node->total && !node->calls) /* all that it executed is out of the range */
			continue;
		study_put_count(tables, node->total);
		study_put_share(tables, node->total, all->totals.instructions);
		study_put_count(tables, node->self);
		study_put_count(tables, node->calls);
		study_put_count(tables, node->depth);
		study_put_function(tables, all, node->name);
		put_indented(tables, all, node);
	}
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	struct node_order order = {0};
	add_totals(calls_of(all));
	bool fine = make_order(calls_of(all), &order) && sum_functions(all, tables, &order);
	if (fine)
		put_tree(all, tables, &order);
	free_order(&order);
	return fine ? 0 : TW_ERR_MEMORY;
}

const struct study_job study_calls = {
    .begin = begin,
    .take = take,
    .merge = merge,
    .tables = make_tables,
    .free = free_calls,
};
