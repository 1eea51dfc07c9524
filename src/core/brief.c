/* brief.c - events in brief, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/slab.h"

enum { WORD_BITS = 64 };

static unsigned bits_of(uint64_t number)
{
	return number ? (unsigned)(WORD_BITS - __builtin_clzll(number)) : 0;
}

/* What is known of a row. */
static struct tw_brief brief_of(const struct tw_slab *slab, uint32_t row)
{
	const struct tw_event *event = &slab->events[row];
	return (struct tw_brief){
	    .time = event->time,
	    .word = event->kind == TW_SLICE_COMPLETE ? event->value : event->id,
	    .name = row,
	    .place = (uint32_t)(event->offset - slab->offset),
	    .kind = event->kind,
	};
}

void tw_slab_brief(struct tw_slab *slab)
{
	if (!tw_extend(&slab->briefs, &slab->brief_room, slab->count, sizeof *slab->briefs)) {
		slab->failed = true;
		return;
	}
	for (size_t i = 0; i < slab->count; i++)
		slab->briefs[i] = brief_of(slab, slab->sorted ? (uint32_t)i : slab->order[i]);
	slab->brief_count = slab->count;
	slab->brief = true;
}

/* ---- Sorting. ---- */

static bool in_order(const struct tw_brief *a, const struct tw_brief *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return !(a->kind == TW_SLICE_COMPLETE && b->kind == TW_SLICE_COMPLETE && a->word < b->word);
}

static bool are_sorted(const struct tw_brief *briefs, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (!in_order(&briefs[i - 1], &briefs[i]))
			return false;
	return true;
}

static int earlier_first(const void *a, const void *b, void *context)
{
	const struct tw_brief *briefs = context;
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	if (briefs[left].time != briefs[right].time)
		return briefs[left].time < briefs[right].time ? -1 : 1;
	return left < right ? -1 : 1;
}

static int longer_first(const void *a, const void *b, void *context)
{
	const struct tw_brief *briefs = context;
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	if (briefs[left].word != briefs[right].word)
		return briefs[left].word > briefs[right].word ? -1 : 1;
	return left < right ? -1 : 1;
}

/* The numbers of briefs in the order of time: as keys, of which all but the number is to be cut off, or without. */
static uint64_t *order_of(const struct tw_brief *briefs, size_t count, uint64_t *keys, uint64_t *mask)
{
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = 0; i < count; i++) {
		least = briefs[i].time < least ? briefs[i].time : least;
		most = briefs[i].time > most ? briefs[i].time : most;
	}
	unsigned number_bits = bits_of(count), time_bits = bits_of(most - least);
	bool packed = number_bits + time_bits < WORD_BITS;
	*mask = packed ? (UINT64_C(1) << number_bits) - 1 : UINT64_MAX;
	for (size_t i = 0; i < count; i++)
		keys[i] = packed ? (briefs[i].time - least) << number_bits | i : i;
	if (packed)
		return tw_sort_keys(keys, count, number_bits, time_bits);
	qsort_r(keys, count, sizeof *keys, earlier_first, (void *)(uintptr_t)briefs);
	return keys;
}

/* Complete slices of one time stand the longest first, in the places that they have among the briefs of that time. */
static void nest_equals(struct tw_brief *sorted, size_t count, const struct tw_brief *briefs, const uint64_t *order,
                        uint64_t mask)
{
	uint64_t *slices = malloc(count * sizeof *slices);
	size_t found = 0;
	for (size_t i = 0; i < count && slices; i++)
		if (sorted[i].kind == TW_SLICE_COMPLETE)
			slices[found++] = order[i] & mask;
	if (found > 1) {
		qsort_r(slices, found, sizeof *slices, longer_first, (void *)(uintptr_t)briefs);
		for (size_t i = 0, k = 0; i < count; i++)
			if (sorted[i].kind == TW_SLICE_COMPLETE)
				sorted[i] = briefs[slices[k++]];
	}
	free(slices);
}

static void nest(struct tw_brief *sorted, size_t count, const struct tw_brief *briefs, const uint64_t *order,
                 uint64_t mask)
{
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && sorted[to].time == sorted[from].time; to++)
			;
		if (to > from + 1)
			nest_equals(sorted + from, to - from, briefs, order + from, mask);
	}
}

static void sort(struct tw_slab *slab, const struct tw_brief *briefs, size_t count, uint64_t *keys)
{
	uint64_t mask;
	const uint64_t *order = order_of(briefs, count, keys, &mask);
	for (size_t i = 0; i < count; i++)
		slab->briefs[i] = briefs[order[i] & mask];
	nest(slab->briefs, count, briefs, order, mask);
}

void tw_slab_take_briefs(struct tw_slab *slab, struct tw_brief *briefs, size_t count, struct tw_slab_scratch *scratch)
{
	if (!tw_extend(&slab->briefs, &slab->brief_room, count, sizeof *slab->briefs) ||
	    !tw_extend(&scratch->bytes, &scratch->room, count * 2 * sizeof(uint64_t), 1)) {
		slab->failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (!(briefs[i].form & TW_BRIEF_WHOLE))
			briefs[i] = brief_of(slab, briefs[i].name);
	if (!are_sorted(briefs, count))
		sort(slab, briefs, count, (uint64_t *)(void *)scratch->bytes);
	else if (count)
		memcpy(slab->briefs, briefs, count * sizeof *briefs);
	slab->brief_count = count;
	slab->brief = true;
}
