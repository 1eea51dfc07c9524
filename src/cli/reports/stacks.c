/* stacks.c - trackway stacks: the stacks of calls that took the most time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reports/stacks.h"

#include "analysis/tool.h"
#include "base/memory/order.h"
#include "base/memory/sum.h"
#include "cli/command.h"
#include "cli/files/instead.h"
#include "cli/output/message.h"

#include <stdlib.h>

struct stacks_options {
	struct tw_common common;
	struct tw_tree_options tree;
	uint64_t top;
};

/* Whether --function lets a stack through. `below` is the depth from which on the stacks are all let through, because
 * they begin with one that was: the tree is depth first. */
static bool matches(const struct tw_common *common, const struct tw_calltree_node *node, uint32_t *below)
{
	if (node->depth > *below)
		return true;
	bool wanted = tw_function_wanted(common, node->name);
	*below = wanted ? node->depth : UINT32_MAX;
	return wanted;
}

/* The most time first; equal ones in the tree's order. */
static int compare(const void *a, const void *b, void *context)
{
	const uint32_t *first = a, *second = b;
	const struct tw_calltree_node *nodes = context;
	int order = tw_compare(nodes[*second].self, nodes[*first].self);
	return order ? order : tw_compare(*first, *second);
}

static bool collect(struct tw_stacks *stacks, const struct tw_nodes *nodes, const struct stacks_options *options)
{
	stacks->nodes = nodes->nodes;
	stacks->items = malloc(nodes->count * sizeof *stacks->items);
	if (!stacks->items)
		return false;
	uint32_t below = UINT32_MAX;
	for (uint32_t i = 1; i < nodes->count; i++) {
		const struct tw_calltree_node *node = &nodes->nodes[i];
		if (node->depth < stacks->outermost) {
			below = UINT32_MAX;
			continue;
		}
		bool match = matches(&options->common, node, &below);
		if (tw_weight_is_sampled(stacks->weight) ? node->self == 0 : node->count == 0)
			continue;
		stacks->self = tw_sum(stacks->self, node->self);
		stacks->counted |= node->count > 0;
		if (!match)
			continue;
		stacks->items[stacks->count++] = i;
		stacks->notes.open += node->open;
	}
	if (stacks->count == 0)
		tw_say_weightless(&options->common, stacks->weight, stacks->self > 0);
	qsort_r(stacks->items, stacks->count, sizeof *stacks->items, compare, nodes->nodes);
	stacks->shown = options->top && options->top < stacks->count ? (size_t)options->top : stacks->count;
	return true;
}

/* ---- The command. ---- */

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct stacks_options *options = (const struct stacks_options *)common;
	struct tw_stacks stacks = {.outermost = options->tree.per_thread ? 2 : 1};
	struct tw_tree tree;
	int status = tw_tree_read(&tree, common, &options->tree, operands, count);
	stacks.weight = tree.weight;
	if (tree.nodes.count) {
		if (tree.nodes.count == 1)
			tw_say_instead(common, tw_weight_is_sampled(tree.weight) ? NULL : "call", UINT32_MAX, operands,
			               count);
		status = tw_worse(status, collect(&stacks, &tree.nodes, options) ? tw_stacks_put(&stacks, &tree, common)
		                                                                 : tw_say_error("out of memory"));
	}
	free(stacks.items);
	tw_tree_free(&tree);
	return status;
}

static const struct tw_option own_options[] = {
    {"per-thread", 'p', TW_OPTION_FLAG, offsetof(struct stacks_options, tree.per_thread),
     .help = "keep the stacks of different threads apart"},
    {"max-depth", 0, TW_OPTION_COUNT, offsetof(struct stacks_options, tree.max_depth), .placeholder = "N", .least = 1,
     .help = "how many functions of a stack are told apart; those further in are \"(deeper)\". 1000 otherwise"},
    {"top", 'n', TW_OPTION_COUNT, offsetof(struct stacks_options, top), .placeholder = "N",
     .help = "only the first N stacks; 0, the default, shows all"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Stacks", own_options), &tw_weight_options, &tw_filter_options, &tw_input_options,
                     &tw_jobs_options, &tw_output_options);

const struct tw_command tw_command_stacks = {
    .name = "stacks",
    .summary = "the stacks of calls that took the most time",
    .operands = "FILE...",
    .description =
	"Lists every distinct stack of calls, outermost function first, by the time that its innermost function spent "
	"itself; of a trace with samples, by what its samples weigh. With --function only stacks with a matching "
	"function in them are shown. The percentages are of the time in all stacks, shown or not.",
    .examples =
	"trackway stacks -n 5 -b ./server server.xray\tThe five hottest stacks.\n"
	"trackway stacks --per-thread -f 'parse_*' server.xray\tThose with a parser in them, thread by thread.\n",
    .groups = groups,
    TW_FORMS_OF_LINES,
    .size = sizeof(struct stacks_options),
    .least = 1,
    .run = run,
};
