/* gc_heap.c - how large the heap was before and after each collection, and what ran when it began. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/gc_heap.h"

#include "base/memory/order.h"
#include "base/memory/sum.h"

#include <stdlib.h>
#include <string.h>

static uint64_t sum_of(const struct tw_gc_report *report)
{
	uint64_t sum = 0;
	for (int part = 0; part < TW_GC_PARTS; part++)
		sum = tw_sum(sum, report->bytes[part]);
	return sum;
}

/* ---- Samples. ---- */

static void allocate(struct tw_gc_heap *heap, uint64_t bytes)
{
	heap->allocations = true;
	heap->since_report = tw_sum(heap->since_report, bytes);
	heap->since_begin = tw_sum(heap->since_begin, bytes);
}

/* Where allocations are told, they are what makes collections begin: what a thread ran besides is not asked. */
static void see(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_gc_moment *moment)
{
	const bool allocates = moment->kind == TW_GC_ALLOCATION;
	if (heap->allocations && !allocates)
		return;
	uint32_t thread =
	    tw_budget_item(budget, TW_FOR_ROWS, &heap->threads, moment->track, &heap->seen, sizeof *heap->seen, 0);
	if (thread != UINT32_MAX)
		heap->seen[thread] = (struct tw_gc_seen){heap->time, moment->offset, moment->stack, allocates};
}

/* ---- Reports. ---- */

static enum tw_gc_part part_of(const char *name)
{
	static const char *const names[TW_GC_PART_OTHER] = {"generation 0", "generation 1", "generation 2", "LOH"};
	int part = 0;
	while (part < TW_GC_PART_OTHER && strcmp(names[part], name) != 0)
		part++;
	return (enum tw_gc_part)part;
}

/* The oldest of the generations that are listed; -1 where none is. */
static int oldest(const char *generations)
{
	int found = -1;
	for (const char *p = generations; *p; p++)
		found = *p >= '0' && *p <= '2' && *p - '0' > found ? *p - '0' : found;
	return found;
}

/* What lived on in an older generation, or in the oldest. */
static void promote(struct tw_gc_collection *it, const struct tw_gc_report *before, const struct tw_gc_report *after)
{
	const int last = oldest(it->generations);
	uint64_t promoted = strstr(it->generations, "LOH") ? after->bytes[TW_GC_PART_LOH] : 0;
	if (last < 0 || (last < TW_GC_PART_2 && !before->known))
		return;
	for (int part = TW_GC_PART_1; part <= last; part++)
		promoted = tw_sum(promoted, after->bytes[part]);
	if (last < TW_GC_PART_2 && after->bytes[last + 1] > before->bytes[last + 1])
		promoted = tw_sum(promoted, after->bytes[last + 1] - before->bytes[last + 1]);
	it->promoted_known = true;
	it->promoted_bytes = promoted;
}

static void fill_after(const struct tw_gc_heap *heap, struct tw_gc_item *items, const struct tw_gc_waiting *waiting)
{
	struct tw_gc_collection *it = &items[waiting->number].row;
	it->after_known = true;
	it->after_bytes = sum_of(&heap->last);
	promote(it, &waiting->before, &heap->last);
}

static void end_report(struct tw_gc_heap *heap, struct tw_gc_item *items)
{
	unsigned kept = 0;
	if (!heap->next.known)
		return;
	heap->last = heap->next;
	heap->next = (struct tw_gc_report){0};
	for (unsigned i = 0; i < heap->waiting_count; i++)
		if (heap->waiting[i].end <= heap->last.time)
			fill_after(heap, items, &heap->waiting[i]);
		else
			heap->waiting[kept++] = heap->waiting[i];
	heap->waiting_count = kept;
}

/* A part that is told again is of another report. */
static void add_part(struct tw_gc_heap *heap, struct tw_gc_item *items, enum tw_gc_part part, uint64_t bytes)
{
	const unsigned bit = part == TW_GC_PART_OTHER ? 0 : 1u << part;
	if (heap->next.known && (heap->next.time != heap->time || heap->parts & bit))
		end_report(heap, items);
	if (!heap->next.known)
		heap->since_report = heap->parts = 0;
	heap->parts |= bit;
	heap->next.known = true;
	heap->next.time = heap->time;
	heap->next.bytes[part] = tw_sum(heap->next.bytes[part], bytes);
}

/* ---- Collections. ---- */

/* What the thread of a collection allocated in since the one before; where no allocations are told, what it ran. */
static uint32_t stack_of(const struct tw_gc_heap *heap, const struct tw_gc_moment *moment)
{
	uint32_t thread;
	const struct tw_gc_seen *seen =
	    tw_map_find(&heap->threads.map, moment->track, &thread) ? &heap->seen[thread] : NULL;
	bool since =
	    seen && seen->allocates == heap->allocations &&
	    (!heap->begun || seen->time > heap->begin || (seen->time == heap->begin && seen->offset > heap->offset));
	return since ? seen->stack : 0;
}

static void wait(struct tw_gc_heap *heap, const struct tw_gc_moment *moment)
{
	if (heap->waiting_count == TW_GC_WAITING) {
		heap->waiting_count--;
		memmove(heap->waiting, heap->waiting + 1, heap->waiting_count * sizeof *heap->waiting);
	}
	heap->waiting[heap->waiting_count++] = (struct tw_gc_waiting){
	    .number = moment->number,
	    .end = heap->time + moment->value,
	    .before = heap->last,
	};
}

static void begin(struct tw_gc_heap *heap, struct tw_gc_item *items, const struct tw_gc_moment *moment)
{
	struct tw_gc_collection *it = &items[moment->number].row;
	end_report(heap, items);
	it->allocated_known = heap->allocations;
	it->before_known = heap->allocations && heap->last.known;
	it->allocated_bytes = heap->since_begin;
	it->before_bytes = it->before_known ? tw_sum(sum_of(&heap->last), heap->since_report) : 0;
	items[moment->number].stack = stack_of(heap, moment);
	heap->since_begin = 0;
	heap->begin = heap->time;
	heap->offset = moment->offset;
	heap->begun = true;
	if (!it->open)
		wait(heap, moment);
}

/* ---- Moments: events of one time come by their durations, and count in the order of the file. ---- */

static int compare_moments(const void *left, const void *right)
{
	const struct tw_gc_moment *a = left, *b = right;
	int order = tw_compare(a->offset, b->offset);
	return order ? order : tw_compare(a->arrival, b->arrival);
}

static void count(struct tw_gc_heap *heap, struct tw_budget *budget, struct tw_gc_item *items,
                  const struct tw_gc_moment *moment)
{
	switch (moment->kind) {
	case TW_GC_ALLOCATION:
		allocate(heap, moment->value);
		see(heap, budget, moment);
		break;
	case TW_GC_SAMPLE:
		see(heap, budget, moment);
		break;
	case TW_GC_BEGIN:
		begin(heap, items, moment);
		break;
	case TW_GC_PART:
		add_part(heap, items, moment->part, moment->value);
		break;
	}
}

static void end_moment(struct tw_gc_heap *heap, struct tw_budget *budget, struct tw_gc_item *items)
{
	bool ordered = true;
	for (size_t i = 1; i < heap->moment_count; i++)
		ordered = ordered && heap->moments[i - 1].offset <= heap->moments[i].offset;
	if (!ordered)
		qsort(heap->moments, heap->moment_count, sizeof *heap->moments, compare_moments);
	for (size_t i = 0; i < heap->moment_count; i++)
		count(heap, budget, items, &heap->moments[i]);
	heap->moment_count = 0;
}

/* Where there is no room for more of one time, it ends early. */
static void add(struct tw_gc_heap *heap, struct tw_budget *budget, struct tw_gc_item *items, uint64_t time,
                struct tw_gc_moment moment)
{
	if (heap->time != time)
		end_moment(heap, budget, items);
	heap->time = time;
	const bool fits = tw_budget_grow(budget, TW_FOR_ROWS, &heap->moments, &heap->moment_room,
	                                 heap->moment_count + 1, sizeof *heap->moments);
	if (!fits)
		end_moment(heap, budget, items);
	moment.arrival = heap->moment_count;
	if (heap->moment_room)
		heap->moments[heap->moment_count++] = moment;
	else
		count(heap, budget, items, &moment);
}

void tw_gc_heap_sample(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_event *event,
                       struct tw_gc_item *items)
{
	add(heap, budget, items, event->time,
	    (struct tw_gc_moment){
		.kind = event->kind == TW_ALLOCATION_SAMPLE ? TW_GC_ALLOCATION : TW_GC_SAMPLE,
		.offset = event->offset,
		.value = event->value,
		.track = event->track,
		.stack = event->other,
	    });
}

void tw_gc_heap_begin(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_event *event,
                      struct tw_gc_item *items, size_t number)
{
	add(heap, budget, items, event->time,
	    (struct tw_gc_moment){
		.kind = TW_GC_BEGIN,
		.offset = event->offset,
		.value = event->value,
		.number = number,
		.track = event->track,
	    });
}

void tw_gc_heap_part(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_event *event,
                     struct tw_gc_item *items, const char *part, uint64_t bytes)
{
	add(heap, budget, items, event->time,
	    (struct tw_gc_moment){
		.kind = TW_GC_PART,
		.offset = event->offset,
		.value = bytes,
		.part = part_of(part),
	    });
}

void tw_gc_heap_end(struct tw_gc_heap *heap, struct tw_budget *budget, struct tw_gc_item *items)
{
	end_moment(heap, budget, items);
	end_report(heap, items);
}

void tw_gc_heap_free(struct tw_gc_heap *heap)
{
	tw_map_free(&heap->threads.map);
	free(heap->seen);
	free(heap->moments);
}
