/* merge_window.h - the chunks of an archive being merged that are held to put late records in order, as bytes until
 * their time comes.
 *
 * Records come late by as much as a provider's buffer, so a few megabytes of each archive must be held. Rows take
 * three times as much memory as bytes: where several archives are held at once, rows are made only of chunks that are
 * about to be delivered. Chunks that others depend on, with objects, blobs or damage, become rows at once, in the
 * order of the archive. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_MERGE_WINDOW_H
#define FXT_MERGE_WINDOW_H

#include "fxt/walk/pipeline.h"

enum {
	FXT_SPARE_ROWS = 2, /* memory of rows that is kept to be used again */
	FXT_WINDOW_NAME_CACHES =
	    2 /* providers whose looked-up names are kept: less than FXT_NAME_CACHES, as each archive has them */
};

/* The memory of a chunk's rows. */
struct fxt_row_memory {
	struct tw_slab slab;
	struct fxt_fix *fixes;
	size_t fix_room;
	struct fxt_merge_events merge;
};

/* What a thread needs that makes rows of an archive. */
struct fxt_row_maker {
	struct fxt_name_cache name_caches[FXT_WINDOW_NAME_CACHES];
	struct fxt_merge_names names; /* a copy, from when it began with its chunk */
};

struct fxt_merge_window {
	struct tw_reader *reader;
	struct fxt_pipeline *pipeline;
	struct fxt_wish wish;
	/* Any thread, with the lock of the threads that read ahead: */
	struct fxt_chunk *waiting[TW_ORDER_SLABS]; /* whose rows have not been asked for yet, in the archive's order */
	size_t count;
	struct fxt_row_memory spare[FXT_SPARE_ROWS];
	size_t spare_count;
	bool helping;                    /* a thread makes rows that have not been asked for yet */
	bool settled;                    /* enough such rows are made */
	struct fxt_row_maker own, other; /* of the caller's thread, and of the one that is helping */
	/* The caller's alone: */
	uint64_t early_bytes; /* of rows that were made before their time, in chunks that are held */
};

/* Whether rows can wait: only where several archives are merged, and all of their events are wanted, sorted. */
bool fxt_merge_window_fits(const struct tw_reader *reader, const struct fxt_wish *wish);

/* Whether chunks wait without their bytes, which are read from the file once more. */
static inline bool fxt_merge_window_forgets(const struct tw_reader *reader)
{
	return reader->request.merged > 1 && tw_input_seekable(reader->input);
}

/* What the threads that read ahead do with a chunk: make rows of it only if it cannot wait. */
extern const struct fxt_work fxt_merge_window_work;

/* Begins to let chunks wait. merges: events are made as they will be written, merge_events.h. NULL when there is no
 * memory. */
struct fxt_merge_window *fxt_merge_window_new(struct tw_reader *reader, struct fxt_pipeline *pipeline,
                                              const struct fxt_wish *wish, bool merges);

/* Takes a chunk that waits. */
void fxt_merge_window_put(struct fxt_merge_window *window, struct fxt_chunk *chunk);

/* Makes the rows of a chunk that waits, unless another thread has. */
void fxt_merge_window_make(struct fxt_merge_window *window, struct fxt_chunk *chunk);

/* Counts the memory of a chunk whose rows could not wait. */
void fxt_merge_window_count_early(struct fxt_merge_window *window, struct fxt_chunk *chunk);

/* Takes the memory of a chunk whose rows have all been delivered, to be used again. */
void fxt_merge_window_empty(struct fxt_merge_window *window, struct fxt_chunk *chunk);

/* After the threads have ended; NULL is fine. */
void fxt_merge_window_free(struct fxt_merge_window *window);

/* look.c: finds the least time of a chunk that was walked, and the time of its last record, without making rows.
 * False where they have to be made now, because others depend on them, or not all of them have a time. */
bool fxt_chunk_times(struct fxt_chunk *chunk);

#endif
