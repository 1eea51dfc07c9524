/* slab.c - a block of rows with their arguments, and their order in time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/slab.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void tw_slab_clear(struct tw_slab *slab)
{
	slab->count = slab->argument_count = 0;
	slab->sorted = slab->failed = false;
}

void tw_slab_free(struct tw_slab *slab)
{
	free(slab->events);
	free(slab->arguments);
	free(slab->bases);
	free(slab->order);
	*slab = (struct tw_slab){0};
}

bool tw_slab_reserve(struct tw_slab *slab, size_t rows, size_t arguments)
{
	if (tw_grow(&slab->events, &slab->room, rows, sizeof *slab->events) &&
	    tw_grow(&slab->bases, &slab->base_room, rows / TW_SLAB_BLOCK + 1, sizeof *slab->bases) &&
	    tw_grow(&slab->arguments, &slab->argument_room, arguments, sizeof *slab->arguments))
		return true;
	slab->failed = true;
	return false;
}

struct tw_event *tw_slab_add(struct tw_slab *slab, const struct tw_event *event)
{
	struct tw_event *row = tw_slab_next(slab);
	if (!row)
		return NULL;
	uint16_t first = row->first_argument;
	*row = *event;
	row->first_argument = first;
	row->argument_count = 0;
	return row;
}

void tw_slab_argument(struct tw_slab *slab, const struct tw_argument *argument)
{
	struct tw_event *row = &slab->events[slab->count - 1];
	if (row->argument_count == UINT8_MAX)
		return;
	if (slab->argument_count == slab->argument_room &&
	    !tw_slab_reserve(slab, slab->count, slab->argument_count + 1))
		return;
	slab->arguments[slab->argument_count++] = *argument;
	row->argument_count++;
}

/* ---- The order. ---- */

/* A row by its time. */
struct key {
	uint64_t time;
	uint32_t row;
};

enum { DIGIT = 11, DIGITS = 1 << DIGIT };

static bool in_order(const struct tw_event *a, const struct tw_event *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return !(a->kind == TW_SLICE_COMPLETE && b->kind == TW_SLICE_COMPLETE && a->value < b->value);
}

static bool is_sorted(const struct tw_slab *slab)
{
	for (size_t i = 1; i < slab->count; i++)
		if (!in_order(&slab->events[i - 1], &slab->events[i]))
			return false;
	return true;
}

/* What a sort of a slab needs to know of its times. */
struct span {
	uint64_t least, most;
};

static struct span make_keys(const struct tw_slab *slab, struct key *keys)
{
	struct span span = {.least = UINT64_MAX};
	for (size_t i = 0; i < slab->count; i++) {
		uint64_t time = slab->events[i].time;
		keys[i] = (struct key){time, (uint32_t)i};
		span.least = time < span.least ? time : span.least;
		span.most = time > span.most ? time : span.most;
	}
	return span;
}

/* Puts keys in the order of one digit of the time since `least`; those that have the same keep theirs. */
static void sort_digit(const struct key *from, struct key *to, size_t count, uint64_t least, unsigned shift)
{
	uint32_t starts[DIGITS + 1] = {0};
	for (size_t i = 0; i < count; i++)
		starts[((from[i].time - least) >> shift) % DIGITS + 1]++;
	for (size_t i = 1; i < DIGITS; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < count; i++)
		to[starts[((from[i].time - least) >> shift) % DIGITS]++] = from[i];
}

/* Returns the half of the keys that is in order: digit by digit, because rows are out of order everywhere, but a slab spans a
 * short time. */
static struct key *sort_keys(struct key *keys, size_t count, struct span span)
{
	struct key *from = keys, *to = keys + count;
	for (unsigned shift = 0; shift < 64 && (span.most - span.least) >> shift; shift += DIGIT) {
		sort_digit(from, to, count, span.least, shift);
		struct key *swap = from;
		from = to;
		to = swap;
	}
	return from;
}

static int longer_first(const void *a, const void *b, void *context)
{
	const struct tw_event *events = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (events[left].value != events[right].value)
		return events[left].value > events[right].value ? -1 : 1;
	return left < right ? -1 : 1;
}

/* Complete slices of one time stand the longest first, in the places that they have among the rows of that time. */
static void nest_equals(struct tw_slab *slab, size_t from, size_t to, uint32_t *spare)
{
	size_t count = 0;
	for (size_t i = from; i < to; i++)
		if (slab->events[slab->order[i]].kind == TW_SLICE_COMPLETE)
			spare[count++] = slab->order[i];
	if (count < 2)
		return;
	qsort_r(spare, count, sizeof *spare, longer_first, slab->events);
	for (size_t i = from, k = 0; i < to; i++)
		if (slab->events[slab->order[i]].kind == TW_SLICE_COMPLETE)
			slab->order[i] = spare[k++];
}

static void nest(struct tw_slab *slab, const struct key *keys, uint32_t *spare)
{
	for (size_t from = 0, to; from < slab->count; from = to) {
		for (to = from + 1; to < slab->count && keys[to].time == keys[from].time; to++)
			;
		if (to > from + 1)
			nest_equals(slab, from, to, spare);
	}
}

void tw_slab_sort(struct tw_slab *slab, struct tw_slab_scratch *scratch)
{
	size_t count = slab->count;
	slab->sorted = is_sorted(slab);
	if (slab->sorted)
		return;
	if (!tw_grow(&slab->order, &slab->order_room, count, sizeof *slab->order) ||
	    !tw_grow(&scratch->bytes, &scratch->room, count * 2 * sizeof(struct key), 1)) {
		slab->failed = slab->sorted = true;
		return;
	}
	struct key *keys = (struct key *)(void *)scratch->bytes;
	struct key *sorted = sort_keys(keys, count, make_keys(slab, keys));
	for (size_t i = 0; i < count; i++)
		slab->order[i] = sorted[i].row;
	nest(slab, sorted, (uint32_t *)(void *)(sorted == keys ? keys + count : keys));
}

void tw_slab_scratch_free(struct tw_slab_scratch *scratch)
{
	free(scratch->bytes);
	*scratch = (struct tw_slab_scratch){0};
}
