/* pipeline.h - reading ahead: archives, their chunks, and the threads that decode these. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_PIPELINE_H
#define FXT_WALK_PIPELINE_H

#include "base/threads/monitor.h"
#include "fxt/events/events.h"
#include "fxt/walk/chunk.h"

/* ---- The chunks of an archive in order, read and decoded ahead by other threads. ---- */

struct fxt_pipeline;

enum {
	FXT_PAIR = 2, /* where more archives are merged, bytes are read again rather than kept */
	FXT_FEW = 16  /* where more are, each has little memory */
};

/* What is done with the chunks. decode is called once a chunk was walked, perhaps several times, for the pieces walked
 * since the last time; decoded once, when it is complete. Both in any thread. All but decode may be NULL. */
struct fxt_work {
	void (*decode)(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);
	void (*decoded)(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);
	/* Other work for the threads, called with the lock: does a piece of it, unlocking meanwhile, or returns false
	 * when there is none. */
	bool (*other)(void *context);
	/* What is to be done before entries of the tables are forgotten, with the chunks that have not been given
	 * out. */
	void (*finish)(void *context, struct fxt_chunk *const *line, size_t count);
	void *context;
};

/* Begins to read the reader's archive with `jobs` threads in all, the caller's being one of them (0: as many as there
 * are processors); fewer than asked for are no failure, and results do not depend on their number. Returns 0 or a
 * negative status; *pipeline must be freed either way. */
int fxt_pipeline_new(struct fxt_pipeline **pipeline, struct tw_reader *reader, const struct fxt_work *work,
                     const struct fxt_wish *wish, unsigned jobs);

/* Gives the next chunk, decoded, in the order of the archive. Returns 1, 0 at the end, or a negative status. */
int fxt_pipeline_next(struct fxt_pipeline *pipeline, struct fxt_chunk **chunk);

/* Takes a chunk back, to be used again; or only its room for bytes, for another chunk while it is in a near cache. */
void fxt_pipeline_give(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk);
void fxt_pipeline_give_bytes(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk);

/* ---- For callers that give the threads other work: with the lock that all threads share. ---- */

void fxt_pipeline_lock(struct fxt_pipeline *pipeline);
void fxt_pipeline_unlock(struct fxt_pipeline *pipeline);

/* fxt_pipeline_give() and fxt_pipeline_give_bytes() for a caller that has the lock. */
void fxt_pipeline_put(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk);
void fxt_pipeline_put_bytes(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk);

/* Gives a chunk such room, if there is any; without the lock. */
void fxt_pipeline_take_bytes(struct fxt_pipeline *pipeline, struct fxt_chunk *chunk);

/* Says from which offset on records of chunks that were given out may still need the tables; UINT64_MAX: none does. */
void fxt_pipeline_keep_tables(struct fxt_pipeline *pipeline, uint64_t offset);

/* Does something useful, or waits until another thread has. */
void fxt_pipeline_help(struct fxt_pipeline *pipeline);

/* The scratch of the caller's thread. */
struct fxt_scratch *fxt_pipeline_scratch(struct fxt_pipeline *pipeline);

/* Decodes a chunk. guest: the caller is neither the thread that reads nor one of the pool; one such thread at a time.
 * Returns false where no chunk waits to be decoded. */
bool fxt_pipeline_lend_hand(struct fxt_pipeline *pipeline, bool guest);

struct fxt_state *fxt_pipeline_state(struct fxt_pipeline *pipeline);

/* Ends the threads and frees; NULL is fine. */
void fxt_pipeline_free(struct fxt_pipeline *pipeline);

#endif
