/* samples.c - what the samples of a trace weigh, by stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/samples.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sum.h"
#include "core/format.h"

/* ---- Nodes. ---- */

static uint64_t packed(uint32_t track, uint32_t stack)
{
	return (uint64_t)track << 32 | stack;
}

/* The node of a stack; 0 when it has none yet. */
static uint32_t find(const struct tw_samples *samples, uint32_t track, uint32_t stack)
{
	uint32_t node;
	if (!samples->per_thread)
		return stack < samples->node_of_room ? samples->node_of[stack] : 0;
	return tw_map_find(&samples->map, packed(track, stack), &node) ? node : 0;
}

static bool remember(struct tw_samples *samples, uint32_t track, uint32_t stack, uint32_t node)
{
	if (samples->per_thread)
		return tw_budget_map_add(samples->budget, TW_FOR_ROWS, &samples->map, packed(track, stack), node);
	if (!tw_budget_grow(samples->budget, TW_FOR_ROWS, &samples->node_of, &samples->node_of_room, stack + (size_t)1,
	                    sizeof *samples->node_of))
		return false;
	samples->node_of[stack] = node;
	return true;
}

/* Adds a node; TW_SAMPLE_OTHER when there is no room, and then never again. What is made of the nodes afterwards must
 * have room too. */
static uint32_t add(struct tw_samples *samples, uint32_t track, uint32_t stack, uint32_t caller)
{
	enum { AFTERWARDS = sizeof(struct tw_sampled) + 4 * sizeof(uint32_t) };
	uint32_t node = (uint32_t)samples->count;
	if (samples->count >= UINT32_MAX - 1 || !tw_budget_take(samples->budget, TW_FOR_ROWS, AFTERWARDS) ||
	    !tw_budget_grow(samples->budget, TW_FOR_ROWS, &samples->nodes, &samples->room, samples->count + 1,
	                    sizeof *samples->nodes) ||
	    !remember(samples, track, stack, node)) {
		samples->full = true;
		return TW_SAMPLE_OTHER;
	}
	samples->nodes[node] =
	    (struct tw_sample_node){.caller = caller,
	                            .location = tw_dictionary_stack(samples->dictionary, stack)->location,
	                            .track = track};
	samples->count++;
	return node;
}

/* The node of a stack, with those of its callers; TW_SAMPLE_OTHER when there is no room. */
static uint32_t node_for(struct tw_samples *samples, uint32_t track, uint32_t stack)
{
	size_t depth = 0;
	uint32_t node = find(samples, track, stack);
	if (node || samples->full)
		return node ? node : TW_SAMPLE_OTHER;
	do {
		if (!tw_budget_grow(samples->budget, TW_FOR_STACKS, &samples->path, &samples->path_room, depth + 1,
		                    sizeof *samples->path))
			return TW_SAMPLE_OTHER;
		samples->path[depth++] = stack;
		stack = tw_dictionary_stack(samples->dictionary, stack)->caller;
	} while (stack && !(node = find(samples, track, stack)));
	while (depth && node != TW_SAMPLE_OTHER)
		node = add(samples, track, samples->path[--depth], node);
	return node;
}

/* ---- Samples. ---- */

/* Where a node's weights are; those of TW_SAMPLE_OTHER, which are always there, when there is no room. */
static struct tw_sampled *weights_of(struct tw_samples *samples, uint32_t node)
{
	uint32_t *at = &samples->nodes[node].weights;
	if (!*at && tw_budget_grow(samples->budget, TW_FOR_ROWS, &samples->weights, &samples->weight_room,
	                           samples->weight_count + 1, sizeof *samples->weights))
		*at = (uint32_t)++samples->weight_count;
	return &samples->weights[*at ? *at - 1 : 0];
}

static void sum(uint64_t *into, uint64_t value)
{
	*into = tw_sum(*into, value);
}

/* Stacks whose numbers were never given out are the empty one. */
static void take(struct tw_samples *samples, const struct tw_event *event)
{
	uint32_t stack = event->other < tw_dictionary_stacks(samples->dictionary) ? event->other : 0;
	uint32_t node = node_for(samples, samples->per_thread ? event->track : 0, stack);
	struct tw_sampled *weights = weights_of(samples, node);
	samples->folded += weights == samples->weights;
	if (event->kind == TW_STACK_SAMPLE) {
		sum(&weights->of[TW_WEIGHT_SAMPLES], event->value);
		sum(&weights->of[TW_WEIGHT_WALL], event->id);
	} else if (event->kind == TW_CPU_SAMPLE) {
		sum(&weights->of[TW_WEIGHT_CPU], event->value);
	} else {
		sum(&weights->of[TW_WEIGHT_BYTES], event->value);
		sum(&weights->of[TW_WEIGHT_ALLOCATIONS], event->id);
	}
}

static bool init(struct tw_samples *samples)
{
	if (!tw_grow(&samples->nodes, &samples->room, TW_SAMPLE_FIRST, sizeof *samples->nodes) ||
	    !tw_grow(&samples->weights, &samples->weight_room, 1, sizeof *samples->weights))
		return false;
	samples->count = TW_SAMPLE_FIRST;
	samples->weight_count = 1;
	samples->nodes[TW_SAMPLE_OTHER].weights = 1;
	return true;
}

/* Kinds of event that a weight comes from. */
static uint32_t kinds_of(enum tw_weight weight)
{
	static const uint32_t kinds[TW_WEIGHTS] = {
	    [TW_WEIGHT_DEFAULT] = 1u << TW_STACK_SAMPLE | 1u << TW_CPU_SAMPLE | 1u << TW_ALLOCATION_SAMPLE,
	    [TW_WEIGHT_SAMPLES] = 1u << TW_STACK_SAMPLE,
	    [TW_WEIGHT_WALL] = 1u << TW_STACK_SAMPLE,
	    [TW_WEIGHT_CPU] = 1u << TW_CPU_SAMPLE,
	    [TW_WEIGHT_BYTES] = 1u << TW_ALLOCATION_SAMPLE,
	    [TW_WEIGHT_ALLOCATIONS] = 1u << TW_ALLOCATION_SAMPLE,
	};
	return kinds[weight];
}

int tw_samples_read(struct tw_samples *samples, struct tw_reader *reader, struct tw_budget *budget, bool per_thread,
                    enum tw_weight weight)
{
	const uint32_t kinds = kinds_of(weight) | kinds_of(tw_weight_count(weight));
	struct tw_batch batch;
	int got;
	*samples =
	    (struct tw_samples){.dictionary = tw_reader_dictionary(reader), .budget = budget, .per_thread = per_thread};
	if (!init(samples))
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	reader->kinds = kinds;
	while ((got = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			if (kinds >> batch.events[i].kind & 1)
				take(samples, &batch.events[i]);
	return got;
}

void tw_samples_free(struct tw_samples *samples)
{
	free(samples->nodes);
	free(samples->weights);
	free(samples->node_of);
	free(samples->path);
	tw_map_free(&samples->map);
}

/* ---- What came of them. ---- */

enum tw_weight tw_samples_weight(const struct tw_samples *samples)
{
	uint64_t ticks = 0, wall = 0;
	for (size_t i = 0; i < samples->weight_count; i++) {
		ticks |= samples->weights[i].of[TW_WEIGHT_SAMPLES];
		wall |= samples->weights[i].of[TW_WEIGHT_WALL];
	}
	return wall && !ticks ? TW_WEIGHT_WALL : TW_WEIGHT_SAMPLES;
}

const struct tw_sampled *tw_samples_self(const struct tw_samples *samples, size_t node)
{
	static const struct tw_sampled nothing;
	uint32_t weights = samples->nodes[node].weights;
	return weights ? &samples->weights[weights - 1] : &nothing;
}

struct tw_sampled *tw_samples_totals(const struct tw_samples *samples)
{
	struct tw_sampled *totals = calloc(samples->count, sizeof *totals);
	for (size_t i = samples->count; totals && i-- > TW_SAMPLE_OTHER;) {
		const struct tw_sampled *self = tw_samples_self(samples, i);
		struct tw_sampled *caller = &totals[samples->nodes[i].caller];
		for (int weight = TW_WEIGHT_SAMPLES; weight < TW_WEIGHTS; weight++) {
			sum(&totals[i].of[weight], self->of[weight]);
			sum(&caller->of[weight], totals[i].of[weight]);
		}
	}
	return totals;
}
