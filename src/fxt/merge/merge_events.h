/* merge_events.h - the events of a chunk that is merged into an FXT archive: records as they will be written, and rows.
 *
 * The thread that would make a row makes the record that will be written, if names and thread of the event have been
 * written before. All other events become rows, which the caller's thread gives to the writer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_MERGE_EVENTS_H
#define FXT_MERGE_EVENTS_H

#include "core/order/slab.h"
#include "fxt/merge/merge_names.h"

#include <trackway/fxt.h>

struct fxt_chunk;
struct fxt_pair;

struct fxt_merge_event {
	uint64_t time;   /* in the archive */
	uint32_t number; /* of the row, or the place in `records` where the record begins */
	uint32_t is_record : 1;
	uint32_t place : 31; /* in the chunk */
};

/* Room that any record needs. */
enum { FXT_RECORD_ROOM = TW_FXT_RECORD_MAX * TW_FXT_WORD };

/* All zero is empty; memory is used again. */
struct fxt_merge_events {
	const struct fxt_merge_names *names; /* set while the chunk is decoded; NULL: no records are made */
	struct fxt_merge_event *events;      /* in the order of time once the chunk is decoded */
	size_t count, room;
	size_t rows; /* of the chunk that are among them */
	bool made;   /* all events of the chunk are there */
	uint8_t *records;
	size_t size, record_room; /* bytes; behind the last record there is FXT_RECORD_ROOM */
};

/* Begins to make the events of a chunk. False when there is no memory. */
bool fxt_merge_events_begin(struct fxt_chunk *chunk, const struct fxt_merge_names *names);

/* Makes a record of an event at a place of the chunk that has its names in the tables and no flaw.
 * thread: the event's; word: what stands behind its arguments, or 0. False where a name that it refers to has not been
 * written yet: then it must become a row. */
bool fxt_merge_encode(struct fxt_chunk *chunk, size_t place, const struct fxt_merged_thread *thread,
                      const struct fxt_pair *names, uint64_t word);

/* All of the chunk is decoded: adds the rows, and puts the events in the order of time. Those of one time stay in the
 * order of the archive. */
void fxt_merge_events_end(struct fxt_chunk *chunk, struct tw_slab_scratch *scratch);

/* Makes the events of a chunk that has rows only, in their order. False when there is no memory. */
bool fxt_merge_list_rows(struct fxt_chunk *chunk);

/* Bytes that are used. */
size_t fxt_merge_events_size(const struct fxt_merge_events *list);

void fxt_merge_events_free(struct fxt_merge_events *list);

#endif
