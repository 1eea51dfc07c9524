/* heap.h - the heap after a collection: by class and by generation. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_HEAP_H
#define TRACELOG_LOG_HEAP_H

#include <trackway/tracelog.h>

struct tracelog_class_count {
	uint32_t object;
	uint64_t table; /* the last one that it was in */
};

/* Written by heap.c. */
struct tracelog_heap {
	struct tracelog_class_count *live; /* classes of the last table */
	size_t live_count, live_room;
	uint64_t tables;
};

struct tracelog_log;

void tracelog_take_heap(struct tracelog_log *log, const struct tw_tracelog_record *record);
void tracelog_judge_object_sizes(struct tracelog_log *log, uint32_t class, uint64_t count, uint64_t bytes);
void tracelog_take_generations(struct tracelog_log *log, const struct tw_tracelog_record *record);

#endif
