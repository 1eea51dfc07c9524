/* merge_events.h - the events of a chunk that is merged, and the names and threads that they refer to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_MERGE_MERGE_EVENTS_H
#define FXT_MERGE_MERGE_EVENTS_H

#include "core/merge/merge.h"
#include "core/order/slab.h"

#include <trackway/fxt.h>

#include <stdatomic.h>

/* ---- Where the names and threads of an archive stand in the tables of the one that it is merged into. ---- */

/* The caller's thread adds a name or a thread when the writer has written its record. Threads that make records ahead
 * look them up. What these do not find yet stays a row, so that the output does not depend on when they look. */

enum { FXT_MERGE_OLD_TABLES = 64 };

/* A thread that has been written. */
struct fxt_merged_thread {
	uint64_t process, thread; /* koids */
	_Atomic uint16_t state; /* 0: not written; otherwise FXT_MERGED and the index in the thread table, 0: in none */
};

enum { FXT_MERGED = 1 << 8, FXT_MERGED_INDEX = FXT_MERGED - 1 };

/* By number of the archive's own dictionary. The caller's thread writes all of it, tables and sizes with the lock of
 * the threads that read ahead. */
struct fxt_merge_names {
	bool known;     /* it is known how times change: records can be made */
	bool moves_ids; /* those of flows get other numbers: they are rows */
	struct tw_merge_time time;
	_Atomic uint16_t *names; /* the index of the string table, or 0 */
	size_t name_room;
	struct fxt_merged_thread *threads;
	size_t thread_room;
	void *old[FXT_MERGE_OLD_TABLES]; /* tables that were too small: another thread may still look into them */
	size_t old_count;
};

/* 0 where a name has not been written. */
static inline uint16_t fxt_merged_name(const struct fxt_merge_names *names, uint32_t name)
{
	return name < names->name_room ? atomic_load_explicit(&names->names[name], memory_order_relaxed) : 0;
}

/* The thread of a track, if it has been written; otherwise NULL. */
static inline const struct fxt_merged_thread *fxt_merged_thread(const struct fxt_merge_names *names, uint32_t track)
{
	const struct fxt_merged_thread *thread = track < names->thread_room ? &names->threads[track] : NULL;
	return thread && atomic_load_explicit(&thread->state, memory_order_acquire) ? thread : NULL;
}

/* In the thread table; 0: in none. */
static inline uint64_t fxt_merged_index(const struct fxt_merged_thread *thread)
{
	return atomic_load_explicit(&thread->state, memory_order_relaxed) & FXT_MERGED_INDEX;
}

struct fxt_pipeline;

/* From now on records can be made. */
void fxt_merge_names_begin(struct fxt_merge_names *names, struct fxt_pipeline *pipeline,
                           const struct tw_merge_input *input);

/* Add a name and a thread that have been written. False when there is no memory. */
bool fxt_merge_add_name(struct fxt_merge_names *names, struct fxt_pipeline *pipeline, uint32_t name, uint16_t index);
bool fxt_merge_add_thread(struct fxt_merge_names *names, struct fxt_pipeline *pipeline, uint32_t track,
                          uint64_t process, uint64_t thread, uint8_t index);

/* After the threads have ended. */
void fxt_merge_names_free(struct fxt_merge_names *names);

/* ---- The events of a chunk that is merged into an FXT archive: records as they will be written, and rows. ---- */

/* The thread that would make a row makes the record that will be written, if names and thread of the event have been
 * written before. All other events become rows, which the caller's thread gives to the writer. */

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
