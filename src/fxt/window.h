/* window.h - the chunks that an archive being merged is held in, as bytes until their time comes.
 *
 * Records come late by as much as a provider's buffer, so that a few megabytes of each archive are held. Rows take
 * three times as much: where several archives are held at once, they are made only of what is about to be delivered.
 * What others depend on is made in the order of the archive all the same: objects, blobs, and what is damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WINDOW_H
#define FXT_WINDOW_H

#include "fxt/ahead.h"
#include "fxt/links.h"

enum {
	FXT_ROOMS = 2, /* for rows, that are used again */
	FXT_MEMOS = 2  /* providers take turns */
};

/* The memory of a chunk's rows. */
struct fxt_room {
	struct tw_slab slab;
	struct fxt_fix *fixes;
	size_t fix_room;
};

/* What a thread has of an archive that it makes rows of. */
struct fxt_hand {
	struct fxt_memo memos[FXT_MEMOS];
	struct fxt_links links; /* as they were when the chunk in work was begun */
};

struct fxt_window {
	struct tw_reader *reader;
	struct fxt_ahead *ahead;
	struct fxt_wish wish;
	/* With the lock of the threads that read ahead: */
	struct fxt_chunk *waiting[TW_ORDER_SLABS]; /* those whose rows have not been asked for, as they stand */
	size_t count;
	struct fxt_room rooms[FXT_ROOMS];
	size_t room_count;
	bool helping;                /* a thread makes rows that have not been asked for */
	bool settled;                /* no more are made at present */
	struct fxt_hand own, helper; /* for what has been asked for, and for that */
	/* The caller's alone: */
	uint64_t early_bytes; /* of rows that were made before their time, in chunks that are held */
};

/* Whether rows can wait: only what is merged has little memory, and who looks for what is wrong wants all at once. */
bool fxt_window_fits(const struct tw_reader *reader, const struct fxt_wish *wish);

/* Whether chunks wait without their bytes, which are read once more. */
bool fxt_window_forgets(const struct tw_reader *reader);

/* What the threads that read ahead do with a chunk: make rows of it only if it cannot wait. */
extern const struct fxt_work fxt_window_work;

/* Begins to let chunks wait; brief: and to make no rows of what a brief is enough for. NULL when there is no memory. */
struct fxt_window *fxt_window_new(struct tw_reader *reader, struct fxt_ahead *ahead, const struct fxt_wish *wish,
                                  bool brief);

/* Takes a chunk that waits. */
void fxt_window_put(struct fxt_window *window, struct fxt_chunk *chunk);

/* Makes the rows of a chunk that waits, unless another thread has. */
void fxt_window_make(struct fxt_window *window, struct fxt_chunk *chunk);

/* Counts the memory of a chunk whose rows could not wait. */
void fxt_window_count_early(struct fxt_window *window, struct fxt_chunk *chunk);

/* Takes the memory of a chunk whose rows have all been delivered, to be used again. */
void fxt_window_empty(struct fxt_window *window, struct fxt_chunk *chunk);

/* After the threads have ended; NULL is fine. */
void fxt_window_free(struct fxt_window *window);

/* glance.c: finds the least time of a chunk that was walked, and the time of its last record, without making rows.
 * False where they have to be made now, because others depend on them, or not all of them have a time. */
bool fxt_glance(struct fxt_chunk *chunk);

#endif
