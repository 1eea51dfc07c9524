/* samples.c - what the samples of a trace weigh, by stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/samples.h"

#include "base/inline.h"
#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "core/format.h"

#include <stdlib.h>

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
	    !tw_budget_grow(samples->budget, TW_FOR_ROWS, &samples->sums, &samples->sum_room,
	                    (samples->count + 1) * samples->row, sizeof *samples->sums) ||
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

/* Where each weight comes from: the kind of event, and which of its numbers. */
static const struct {
	uint8_t kind, number;
} sources[TW_WEIGHTS] = {
    [TW_WEIGHT_SAMPLES] = {TW_STACK_SAMPLE, 0},
    [TW_WEIGHT_WALL] = {TW_STACK_SAMPLE, 1},
    [TW_WEIGHT_CPU] = {TW_CPU_SAMPLE, 0},
    [TW_WEIGHT_BYTES] = {TW_ALLOCATION_SAMPLE, 0},
    [TW_WEIGHT_ALLOCATIONS] = {TW_ALLOCATION_SAMPLE, 1},
};

enum { NUMBERS = 2 };

static void sum(uint64_t *into, uint64_t value)
{
	*into = tw_sum(*into, value);
}

/* Stacks whose numbers were never given out are the empty one. */
static inline void take(struct tw_samples *samples, const struct tw_event *event)
{
	uint32_t stack = event->other < tw_dictionary_stacks(samples->dictionary) ? event->other : 0;
	uint32_t node = node_for(samples, samples->per_thread ? event->track : 0, stack);
	uint64_t *sums = samples->sums + node * samples->row + samples->place[event->kind];
	samples->folded += node == TW_SAMPLE_OTHER;
	sum(&sums[0], event->value);
	sum(&sums[1], event->id);
}

/* The tables are larger than a cache, and samples have any stack: `make bench` measures stat of TraceLog. It must be
 * inlined: gcc 12 takes out calls of functions that do nothing but prefetch. */
TW_INLINE void look_ahead(const struct tw_samples *samples, const struct tw_batch *batch, size_t i)
{
	enum { NEAR = 6, FAR = 12 };
	if (samples->per_thread || i + FAR >= batch->count)
		return;
	uint32_t near = batch->events[i + NEAR].other, far = batch->events[i + FAR].other;
	if (far < samples->node_of_room)
		__builtin_prefetch(&samples->node_of[far]);
	if (near < samples->node_of_room)
		__builtin_prefetch(&samples->sums[samples->node_of[near] * samples->row]);
}

/* Kinds of event that a weight comes from. */
static uint32_t kinds_of(enum tw_weight weight)
{
	uint32_t kinds = 0;
	for (int i = TW_WEIGHT_SAMPLES; i <= TW_WEIGHT_ALLOCATIONS; i++)
		if (weight == TW_WEIGHT_DEFAULT || (int)weight == i)
			kinds |= 1u << sources[i].kind;
	return kinds;
}

static bool init(struct tw_samples *samples, uint32_t kinds)
{
	for (unsigned kind = 0; kind < TW_EVENT_KINDS; kind++) {
		samples->place[kind] = (uint8_t)samples->row;
		samples->row += kinds >> kind & 1 ? NUMBERS : 0;
	}
	samples->kinds = kinds;
	if (!tw_grow(&samples->nodes, &samples->room, TW_SAMPLE_FIRST, sizeof *samples->nodes) ||
	    !tw_grow(&samples->sums, &samples->sum_room, TW_SAMPLE_FIRST * samples->row, sizeof *samples->sums))
		return false;
	samples->count = TW_SAMPLE_FIRST;
	return true;
}

int tw_samples_read(struct tw_samples *samples, struct tw_reader *reader, struct tw_budget *budget, bool per_thread,
                    enum tw_weight weight)
{
	const bool unitless = reader->traits.unitless && weight != TW_WEIGHT_DEFAULT;
	const uint32_t kinds = unitless ? 1u << TW_STACK_SAMPLE : kinds_of(weight) | kinds_of(tw_weight_count(weight));
	const struct tw_request request = {.kinds = kinds, .unordered = !reader->filtering.filter};
	struct tw_batch batch;
	int got;
	*samples = (struct tw_samples){
	    .dictionary = tw_reader_dictionary(reader),
	    .budget = budget,
	    .per_thread = per_thread,
	    .unitless = unitless ? weight : TW_WEIGHT_DEFAULT,
	};
	if (!init(samples, kinds))
		return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
	int status = tw_begin(reader, TW_USE_WHOLE, &request);
	if (status < 0)
		return status;
	while ((got = tw_pull(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			look_ahead(samples, &batch, i);
			if (kinds >> batch.events[i].kind & 1)
				take(samples, &batch.events[i]);
		}
	return got;
}

void tw_samples_free(struct tw_samples *samples)
{
	free(samples->nodes);
	free(samples->sums);
	free(samples->node_of);
	free(samples->path);
	tw_map_free(&samples->map);
}

/* ---- What came of them. ---- */

enum tw_weight tw_samples_weight(const struct tw_samples *samples)
{
	uint64_t ticks = 0, wall = 0;
	for (size_t i = 0; i < samples->count; i++) {
		struct tw_sampled self = tw_samples_self(samples, i);
		ticks |= self.of[TW_WEIGHT_SAMPLES];
		wall |= self.of[TW_WEIGHT_WALL];
	}
	return wall && !ticks ? TW_WEIGHT_WALL : TW_WEIGHT_SAMPLES;
}

struct tw_sampled tw_samples_self(const struct tw_samples *samples, size_t node)
{
	struct tw_sampled self = {0};
	if (samples->unitless != TW_WEIGHT_DEFAULT) {
		self.of[samples->unitless] = samples->sums[node * samples->row + samples->place[TW_STACK_SAMPLE]];
		return self;
	}
	for (int weight = TW_WEIGHT_SAMPLES; weight <= TW_WEIGHT_ALLOCATIONS; weight++)
		if (samples->kinds >> sources[weight].kind & 1)
			self.of[weight] = samples->sums[node * samples->row + samples->place[sources[weight].kind] +
			                                sources[weight].number];
	return self;
}

struct tw_sampled *tw_samples_totals(const struct tw_samples *samples)
{
	struct tw_sampled *totals = tw_zeroed(samples->count, sizeof *totals);
	for (size_t i = samples->count; totals && i-- > TW_SAMPLE_OTHER;) {
		const struct tw_sampled self = tw_samples_self(samples, i);
		struct tw_sampled *caller = &totals[samples->nodes[i].caller];
		for (int weight = TW_WEIGHT_SAMPLES; weight <= TW_WEIGHT_ALLOCATIONS; weight++) {
			sum(&totals[i].of[weight], self.of[weight]);
			sum(&caller->of[weight], totals[i].of[weight]);
		}
	}
	return totals;
}
