/* gc_heap.h - how large the heap was before and after each collection, and what ran when it began. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_GC_HEAP_H
#define ANALYSIS_SERIES_GC_HEAP_H

#include "core/budget.h"

#include <trackway/event.h>
#include <trackway/gc.h>

/* Parts of the heap that are told apart. */
enum tw_gc_part { TW_GC_PART_0, TW_GC_PART_1, TW_GC_PART_2, TW_GC_PART_LOH, TW_GC_PART_OTHER, TW_GC_PARTS };

enum { TW_GC_WAITING = 16 /* collections that wait for a report of the heap: the oldest gives way */ };

/* What each part holds. */
struct tw_gc_report {
	uint64_t bytes[TW_GC_PARTS];
	uint64_t time;
	bool known;
};

/* A collection whose heap is not reported yet. */
struct tw_gc_waiting {
	size_t number;
	uint64_t end;
	struct tw_gc_report before; /* the last report when it began */
};

/* The last sample of a thread. */
struct tw_gc_seen {
	uint64_t time, offset; /* offset: in the file */
	uint32_t stack;
	bool allocates; /* it is one of an allocation */
};

/* A collection while the trace is read: `row` without the function, which the stack has. */
struct tw_gc_item {
	struct tw_gc_collection row;
	uint64_t offset; /* in the file */
	uint32_t stack;  /* that its thread ran when it began; 0: that is not told */
};

/* A fact about the heap at one time, in the order of the file. */
struct tw_gc_moment {
	uint64_t offset, value; /* bytes; of a collection its pause */
	size_t arrival;
	size_t number; /* of the collection */
	uint32_t track, stack;
	enum tw_gc_moment_kind { TW_GC_SAMPLE, TW_GC_ALLOCATION, TW_GC_BEGIN, TW_GC_PART } kind;
	enum tw_gc_part part;
};

/* The heap of a process while a trace is read in the order of time. All zero to begin; written by gc_heap.c. */
struct tw_gc_heap {
	struct tw_gc_report last, next; /* next: the report that is going on, where it is known */
	unsigned parts;                 /* those of `next` so far, as bits */
	uint64_t since_begin;           /* bytes allocated since the last collection began */
	uint64_t since_report;          /* the same since the last report */
	bool allocations;               /* the trace tells of some */
	struct tw_gc_waiting waiting[TW_GC_WAITING];
	unsigned waiting_count;
	struct tw_gc_seen *seen;
	struct tw_keyed threads; /* of `seen`, by track */
	uint64_t begin, offset;  /* of the last collection, where there is one */
	bool begun;
	struct tw_gc_moment *moments; /* of `time` */
	size_t moment_count, moment_room;
	uint64_t time;
};

/* Takes a sample of a stack or of an allocation. `items`, here and below: all collections. */
void tw_gc_heap_sample(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_event *event,
                       struct tw_gc_item *items);

/* Takes the beginning of a collection. */
void tw_gc_heap_begin(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_event *event,
                      struct tw_gc_item *items, size_t number);

/* Takes what is told of a part of the heap. */
void tw_gc_heap_part(struct tw_gc_heap *heap, struct tw_budget *budget, const struct tw_event *event,
                     struct tw_gc_item *items, const char *part, uint64_t bytes);

/* Nothing comes any more. */
void tw_gc_heap_end(struct tw_gc_heap *heap, struct tw_budget *budget, struct tw_gc_item *items);
void tw_gc_heap_free(struct tw_gc_heap *heap);

#endif
