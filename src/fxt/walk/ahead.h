/* ahead.h - the chunks of an archive in order, read and decoded ahead by other threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_AHEAD_H
#define FXT_WALK_AHEAD_H

#include "fxt/events/commit.h"
#include "fxt/walk/crew.h"

struct fxt_ahead;

enum { FXT_FEW = 16 }; /* where more archives are merged, each has little memory */

/* What is done with the chunks. decode is called once a chunk was walked, perhaps several times, for the pieces walked
 * since the last time; decoded once, when it is complete. Both in any thread. */
struct fxt_work {
	void (*decode)(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);
	void (*decoded)(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);
};

/* Begins to read the reader's archive with the threads of a crew, which it holds; crew NULL: with a crew of its own, of
 * `jobs` threads. Results do not depend on the number of threads. Returns 0 or a negative status; *ahead must be freed
 * either way. */
int fxt_ahead_new(struct fxt_ahead **ahead, struct tw_reader *reader, const struct fxt_work *work,
                  const struct fxt_wish *wish, struct fxt_crew *crew, unsigned jobs);

/* Gives the next chunk, decoded, in the order of the archive. Returns 1, 0 at the end, or a negative status. */
int fxt_ahead_next(struct fxt_ahead *ahead, struct fxt_chunk **chunk);

/* Takes a chunk back, to be used again. */
void fxt_ahead_give(struct fxt_ahead *ahead, struct fxt_chunk *chunk);

/* ---- For callers that give the threads other work: with the lock that all threads share. ---- */

void fxt_ahead_lock(struct fxt_ahead *ahead);
void fxt_ahead_unlock(struct fxt_ahead *ahead);

/* fxt_ahead_give() for a caller that has the lock. */
void fxt_ahead_put(struct fxt_ahead *ahead, struct fxt_chunk *chunk);

/* Takes back only a chunk's room for bytes, to be used for another while it is still in a near cache. */
void fxt_ahead_put_bytes(struct fxt_ahead *ahead, struct fxt_chunk *chunk);

/* Gives a chunk that has no room for bytes some that was taken back, if there is any. */
void fxt_ahead_lend_bytes(struct fxt_ahead *ahead, struct fxt_chunk *chunk);

/* Gives the threads other work to do: more() does a piece of it, unlocking meanwhile, or returns false when there is
 * none. */
typedef bool fxt_more_fn(void *context, struct fxt_scratch *scratch);
void fxt_ahead_more(struct fxt_ahead *ahead, fxt_more_fn *more, void *context);

/* Says from which offset on records of chunks that were given out may still need the tables; UINT64_MAX: none does. */
void fxt_ahead_hold(struct fxt_ahead *ahead, uint64_t offset);

/* Says what to call before entries of the tables are forgotten, with the chunks that have not been given out. */
void fxt_ahead_before_forgetting(struct fxt_ahead *ahead,
                                 void (*finish)(void *context, struct fxt_chunk *const *line, size_t count));

/* Does something useful, or waits until another thread has. */
void fxt_ahead_help(struct fxt_ahead *ahead);

/* The scratch of the caller's thread. */
struct fxt_scratch *fxt_ahead_scratch(struct fxt_ahead *ahead);

/* Decodes a chunk. guest: the caller is neither the thread that reads nor one of the crew; one such thread at a time.
 * Returns false where no chunk waits to be decoded. */
bool fxt_ahead_lend_hand(struct fxt_ahead *ahead, bool guest);

struct fxt_state *fxt_ahead_state(struct fxt_ahead *ahead);

/* Ends the threads and frees; NULL is fine. */
void fxt_ahead_free(struct fxt_ahead *ahead);

#endif
