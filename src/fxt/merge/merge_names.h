/* merge_names.h - where the names and threads of an archive stand in the tables of the one that it is merged into.
 *
 * The caller's thread adds a name or a thread when the writer has written its record. Threads that make records ahead
 * look them up. What these do not find yet stays a row, so that the output does not depend on when they look. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_MERGE_NAMES_H
#define FXT_MERGE_NAMES_H

#include "core/merge/merge.h"

#include <stdatomic.h>

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

#endif
