/* merge.h - several readers as one, in time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_MERGE_H
#define CORE_MERGE_H

#include "base/map.h"
#include "core/format.h"

enum { TW_MERGE_SOURCES = 256, TW_MERGE_BATCH = 256 };

/* One of the traces. */
struct tw_merge_input {
	struct tw_reader *reader;
	struct tw_batch batch;
	size_t next; /* rows of the batch before this one are delivered */
	bool ended;
	bool back;       /* times move back by `by`; otherwise on */
	uint64_t by;     /* ns */
	uint32_t *names; /* by number of its dictionary: that of the merged one, 0 while not asked for */
	size_t name_room;
	uint32_t *tracks; /* the same */
	size_t track_room;
	struct tw_map processes; /* hash of its process to the place of the merged one in `merged` */
	uint64_t *merged;
	size_t merged_room;
};

struct tw_merge {
	struct tw_merge_input inputs[TW_MERGE_SOURCES];
	size_t count;
	int64_t offsets[TW_MERGE_SOURCES];
	enum tw_alignment alignment;
	struct tw_map owners; /* process of the merged trace to the input that it is of */
	bool started;
	struct tw_event events[TW_MERGE_BATCH];
	struct tw_argument *arguments;
	size_t argument_room;
};

#endif
