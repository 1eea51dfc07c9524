/* gc_heap.c - how large the heap was before and after each collection, and what ran when it began. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/gc_heap.h"

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

/* One that has the time of a collection and stands before it in the file belongs before it. */
static bool is_before(const struct tw_gc_heap *heap, const struct tw_event *event)
{
	return heap->number && event->time == heap->begin && event->offset < heap->offset;
}

static void allocate(struct tw_gc_heap *heap, const struct tw_event *event)
{
	struct tw_gc_collection *last = heap->number ? &heap->collections[heap->number - 1] : NULL;
	heap->allocations = true;
	heap->since_report = tw_sum(heap->since_report, event->value);
	if (!is_before(heap, event)) {
		heap->since_begin = tw_sum(heap->since_begin, event->value);
		return;
	}
	last->allocated_bytes = tw_sum(last->allocated_bytes, event->value);
	last->allocated_known = true;
	last->before_bytes = last->before_known ? tw_sum(last->before_bytes, event->value) : 0;
}

void tw_gc_heap_sample(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_event *event)
{
	if (event->kind == TW_ALLOCATION_SAMPLE)
		allocate(heap, event);
	if (is_before(heap, event) && event->track == heap->track && heap->number <= heap->stack_room)
		heap->stacks[heap->number - 1] = event->other;
	uint32_t thread =
	    tw_budget_item(budget, TW_FOR_ROWS, &heap->threads, event->track, &heap->seen, sizeof *heap->seen, 0);
	if (thread != UINT32_MAX)
		heap->seen[thread] = (struct tw_gc_seen){event->time, event->offset, event->other};
}

/* ---- Collections. ---- */

/* What the thread of a collection ran since the one before. */
static void find_stack(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_event *event)
{
	uint32_t thread;
	if (!tw_budget_grow(budget, TW_FOR_ROWS, &heap->stacks, &heap->stack_room, heap->number, sizeof *heap->stacks))
		return;
	const struct tw_gc_seen *seen =
	    tw_map_find(&heap->threads.map, event->track, &thread) ? &heap->seen[thread] : NULL;
	bool since = seen && (heap->number == 1 || seen->time > heap->begin ||
	                      (seen->time == heap->begin && seen->offset > heap->offset));
	heap->stacks[heap->number - 1] = since ? seen->stack : 0;
}

static void wait(struct tw_gc_heap *heap, const struct tw_event *event)
{
	if (heap->waiting_count == TW_GC_WAITING) {
		heap->waiting_count--;
		memmove(heap->waiting, heap->waiting + 1, heap->waiting_count * sizeof *heap->waiting);
	}
	heap->waiting[heap->waiting_count++] = (struct tw_gc_waiting){
	    .number = heap->number - 1,
	    .end = event->time + event->value,
	    .before = heap->last,
	};
}

void tw_gc_heap_begin(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_event *event,
                      struct tw_gc_collection *collections, size_t count)
{
	heap->collections = collections; /* the array may have moved */
	tw_gc_heap_end(heap);
	heap->number = count;
	struct tw_gc_collection *it = &collections[count - 1];
	it->allocated_known = heap->allocations;
	it->before_known = heap->allocations && heap->last.known;
	it->allocated_bytes = heap->since_begin;
	it->before_bytes = it->before_known ? tw_sum(sum_of(&heap->last), heap->since_report) : 0;
	find_stack(heap, budget, event);
	heap->since_begin = 0;
	heap->begin = event->time;
	heap->offset = event->offset;
	heap->track = event->track;
	if (!it->open)
		wait(heap, event);
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

static void tell(struct tw_gc_heap *heap, const struct tw_gc_waiting *waiting)
{
	struct tw_gc_collection *it = &heap->collections[waiting->number];
	it->after_known = true;
	it->after_bytes = sum_of(&heap->last);
	promote(it, &waiting->before, &heap->last);
}

void tw_gc_heap_end(struct tw_gc_heap *heap)
{
	unsigned kept = 0;
	if (!heap->next.known)
		return;
	heap->last = heap->next;
	heap->next = (struct tw_gc_report){0};
	for (unsigned i = 0; i < heap->waiting_count; i++)
		if (heap->waiting[i].end <= heap->last.time)
			tell(heap, &heap->waiting[i]);
		else
			heap->waiting[kept++] = heap->waiting[i];
	heap->waiting_count = kept;
}

void tw_gc_heap_part(struct tw_gc_heap *heap, uint64_t time, const char *part, uint64_t bytes)
{
	if (heap->next.known && heap->next.time != time)
		tw_gc_heap_end(heap);
	if (!heap->next.known)
		heap->since_report = 0;
	heap->next.known = true;
	heap->next.time = time;
	uint64_t *sum = &heap->next.bytes[part_of(part)];
	*sum = tw_sum(*sum, bytes);
}

void tw_gc_heap_free(struct tw_gc_heap *heap)
{
	tw_map_free(&heap->threads.map);
	free(heap->seen);
	free(heap->stacks);
}
