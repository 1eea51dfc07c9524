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

/* Where the run of rows in order that begins at place `from` ends. */
static size_t run_end(const struct tw_slab *slab, const uint32_t *order, size_t from)
{
	size_t i = from + 1;
	while (i < slab->count && slab->events[order[i - 1]].time <= slab->events[order[i]].time)
		i++;
	return i;
}

/* Merges order[a, b) and order[b, c) into `out`. */
static void merge(const struct tw_slab *slab, const uint32_t *order, size_t a, size_t b, size_t c, uint32_t *out)
{
	size_t i = a, j = b;
	for (size_t k = a; k < c; k++) {
		bool left = j == c || (i < b && slab->events[order[i]].time <= slab->events[order[j]].time);
		out[k] = left ? order[i++] : order[j++];
	}
}

/* One pass over the runs, two by two; false when there was only one. */
static bool merge_runs(const struct tw_slab *slab, const uint32_t *order, uint32_t *out)
{
	size_t a = 0, runs = 0;
	while (a < slab->count) {
		size_t b = run_end(slab, order, a);
		size_t c = b < slab->count ? run_end(slab, order, b) : b;
		merge(slab, order, a, b, c, out);
		runs += c > b ? 2 : 1;
		a = c;
	}
	return runs > 1;
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

static void nest(struct tw_slab *slab, uint32_t *spare)
{
	for (size_t from = 0, to; from < slab->count; from = to) {
		uint64_t time = slab->events[slab->order[from]].time;
		for (to = from + 1; to < slab->count && slab->events[slab->order[to]].time == time; to++)
			;
		if (to > from + 1)
			nest_equals(slab, from, to, spare);
	}
}

/* A merge sort of the runs that are there: nearly sorted rows take a pass or two. */
void tw_slab_sort(struct tw_slab *slab)
{
	slab->sorted = is_sorted(slab);
	if (slab->sorted)
		return;
	if (!tw_grow(&slab->order, &slab->order_room, slab->count * 2, sizeof *slab->order)) {
		slab->failed = slab->sorted = true;
		return;
	}
	uint32_t *order = slab->order, *other = slab->order + slab->count;
	for (size_t i = 0; i < slab->count; i++)
		order[i] = (uint32_t)i;
	while (merge_runs(slab, order, other)) {
		uint32_t *swap = order;
		order = other;
		other = swap;
	}
	if (order != slab->order)
		memcpy(slab->order, order, slab->count * sizeof *order);
	nest(slab, slab->order + slab->count);
}
