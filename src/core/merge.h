/* merge.h - several readers as one, in time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_MERGE_H
#define CORE_MERGE_H

#include "base/map.h"
#include "core/format.h"

enum { TW_MERGE_SOURCES = 256, TW_MERGE_BATCH = 256 };

__extension__ typedef __int128 tw_wide;

/* How the times of a trace change: (time - pivot) * to / from + pivot + shift. */
struct tw_merge_time {
	uint64_t pivot;
	uint64_t from, to; /* the same without drift */
	tw_wide shift;     /* ns */
};

/* One of the traces. */
struct tw_merge_input {
	struct tw_reader *reader;
	struct tw_batch batch;
	size_t next;   /* rows of the batch before this one are delivered */
	uint64_t head; /* time of that row in the merged trace */
	bool ended;
	struct tw_merge_time time;
	uint32_t *names; /* by number of its dictionary: that of the merged one, 0 while not asked for */
	size_t name_room;
	uint32_t *tracks; /* the same */
	size_t track_room;
	uint32_t *stacks; /* by number: that of the merged one, for the first stack_count */
	size_t stack_count, stack_room;
	struct tw_map processes; /* hash of its process to the place of the merged one in `merged` */
	uint64_t *merged;
	size_t merged_room;
};

struct tw_merge {
	struct tw_merge_input inputs[TW_MERGE_SOURCES];
	size_t count;
	uint32_t heap[TW_MERGE_SOURCES]; /* numbers of those that have rows, the first one on top */
	size_t heap_count;
	int64_t offsets[TW_MERGE_SOURCES];
	struct tw_merge_options options;
	struct tw_map owners; /* process of the merged trace to the input that it is of */
	bool started;
	struct tw_event events[TW_MERGE_BATCH];
	struct tw_argument *arguments;
	size_t argument_room;
};

/* markers.c: finds how the times of all inputs change so that the events of `options` meet. Returns 0 or a negative
 * status. */
int tw_merge_find_markers(struct tw_reader *merged, const struct tw_merge_source *sources);

#endif
