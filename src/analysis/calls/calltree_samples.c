/* calltree_samples.c - the samples of a trace as nodes of a tree. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/calltree_part.h"
#include "analysis/series/samples.h"

#include <stdlib.h>

/* The nodes of samples on their way into the tree: first those of the threads, if there are any, then one for each
 * stack. */
struct sample_nodes {
	const struct tw_samples *samples;
	struct tw_part_node *nodes;
	size_t threads;
	struct tw_map thread_of; /* track to node */
};

static bool add_threads(struct sample_nodes *stacks)
{
	const struct tw_samples *samples = stacks->samples;
	uint32_t known;
	for (uint32_t i = TW_SAMPLE_FIRST; samples->per_thread && i < samples->count; i++) {
		const struct tw_sample_node *node = &samples->nodes[i];
		if (node->caller != TW_SAMPLE_ROOT || tw_map_find(&stacks->thread_of, node->track, &known))
			continue;
		uint32_t number = TW_NODE_FIRST + (uint32_t)stacks->threads++;
		if (!tw_map_add(&stacks->thread_of, node->track, number))
			return false;
		stacks->nodes[number] = (struct tw_part_node){.name = TW_THREAD_NODE, .track = node->track};
	}
	return true;
}

static uint32_t parent_of(const struct sample_nodes *stacks, const struct tw_sample_node *node)
{
	uint32_t thread = TW_NODE_ROOT;
	if (node->caller != TW_SAMPLE_ROOT)
		return node->caller + (uint32_t)stacks->threads;
	tw_map_find(&stacks->thread_of, node->track, &thread);
	return thread;
}

static uint32_t name_of(const struct tw_samples *samples, const struct tw_sample_node *node)
{
	return node->location ? tw_dictionary_location(samples->dictionary, node->location)->name : TW_NO_STACK;
}

static void add_stacks(struct sample_nodes *stacks, const struct tw_sampled *totals, enum tw_weight weight)
{
	const struct tw_samples *samples = stacks->samples;
	for (uint32_t i = TW_SAMPLE_OTHER; i < samples->count; i++) {
		const struct tw_sample_node *from = &samples->nodes[i];
		struct tw_part_node *node = &stacks->nodes[i < TW_SAMPLE_FIRST ? i : i + stacks->threads];
		if (i >= TW_SAMPLE_FIRST) {
			node->parent = parent_of(stacks, from);
			node->name = name_of(samples, from);
		}
		node->count = tw_samples_self(samples, i).of[tw_weight_count(weight)];
		node->self = tw_samples_self(samples, i).of[weight];
		node->total = totals[i].of[weight];
	}
}

static bool make_nodes(struct sample_nodes *stacks, enum tw_weight weight)
{
	struct tw_sampled *totals = tw_samples_totals(stacks->samples);
	stacks->nodes = calloc(2 * stacks->samples->count, sizeof *stacks->nodes); /* a thread has at least one stack */
	bool room = totals && stacks->nodes && add_threads(stacks);
	if (room)
		add_stacks(stacks, totals, weight);
	tw_map_free(&stacks->thread_of);
	free(totals);
	return room;
}

int tw_calltree_sample_nodes(struct tw_reader *reader, struct tw_budget *budget, struct tw_sample_tree *tree)
{
	struct tw_samples samples;
	int status = tw_samples_read(&samples, reader, budget, tree->per_thread, tree->weight);
	struct sample_nodes stacks = {.samples = &samples};
	if (tree->choose)
		tree->weight = tw_samples_weight(&samples);
	bool room = samples.count && make_nodes(&stacks, tree->weight);
	tree->count = samples.count + stacks.threads;
	tree->nodes = room ? stacks.nodes : NULL;
	if (!room)
		free(stacks.nodes);
	tw_samples_free(&samples);
	return status;
}
