/* ahead.h - chunks of an archive one after the other, read and decoded ahead by other threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_AHEAD_H
#define FXT_AHEAD_H

#include "fxt/commit.h"
#include "fxt/crew.h"
#include "fxt/walk.h"

struct fxt_ahead;

enum { FXT_FEW = 16 }; /* more archives that are merged are many: each has little memory */

/* What is done with a chunk in whichever thread has time for it, once it has been walked: to all of its pieces, perhaps
 * in several calls, and then once when they are complete. */
struct fxt_work {
	void (*decode)(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);
	void (*decoded)(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);
	fxt_leap_fn *leap; /* for fxt_leap(); may be NULL */
	/* Takes what it can of a chunk that is about to be walked, in the same thread and in order: `leap` of the chunk
	 * says how far; may be NULL. It may not come true: then pieces[0] is no leap, and it must be taken again. */
	void (*take)(struct fxt_chunk *chunk, const struct fxt_wish *wish);
};

/* Reads the reader's archive from its start with the threads of a crew, which it holds; NULL: with one of its own, of
 * so many jobs. What comes out does not depend on how many threads there are. Returns 0 and *ahead, or a negative
 * status. */
int fxt_ahead_new(struct fxt_ahead **ahead, struct tw_reader *reader, const struct fxt_work *work,
                  const struct fxt_wish *wish, struct fxt_crew *crew, unsigned jobs);

/* Gives the next chunk, decoded, in the order of the archive. Returns 1, 0 at the end, or a negative status. */
int fxt_ahead_next(struct fxt_ahead *ahead, struct fxt_chunk **chunk);

/* Takes a chunk back. */
void fxt_ahead_give(struct fxt_ahead *ahead, struct fxt_chunk *chunk);

/* ---- For who does more with chunks than to take them: with the lock, which all threads share. ---- */

void fxt_ahead_lock(struct fxt_ahead *ahead);
void fxt_ahead_unlock(struct fxt_ahead *ahead);

/* As fxt_ahead_give(). */
void fxt_ahead_put(struct fxt_ahead *ahead, struct fxt_chunk *chunk);

/* Takes back only the room for bytes of a chunk: what was used lately is still in a cache. */
void fxt_ahead_put_bytes(struct fxt_ahead *ahead, struct fxt_chunk *chunk);

/* Gives a chunk without room for bytes the room that was taken back from another, if there is any. */
void fxt_ahead_lend_bytes(struct fxt_ahead *ahead, struct fxt_chunk *chunk);

/* Gives the threads other work to do: more() does a piece of it, unlocking meanwhile, or returns false when there is
 * none. */
typedef bool fxt_more_fn(void *context, struct fxt_scratch *scratch);
void fxt_ahead_more(struct fxt_ahead *ahead, fxt_more_fn *more, void *context);

/* Says from which offset on records of chunks that were given out may still need the tables; UINT64_MAX: none does. */
void fxt_ahead_hold(struct fxt_ahead *ahead, uint64_t offset);

/* Says whom to call before entries of the tables are forgotten, with the chunks that have not been given out. */
void fxt_ahead_before_forgetting(struct fxt_ahead *ahead,
                                 void (*finish)(void *context, struct fxt_chunk *const *line, size_t count));

/* Does something useful, or waits until another thread has. */
void fxt_ahead_help(struct fxt_ahead *ahead);

/* The caller's thread's. */
struct fxt_scratch *fxt_ahead_scratch(struct fxt_ahead *ahead);

/* Decodes a chunk. guest: the caller is neither the thread that reads nor one of the crew; one such thread at a time.
 * Returns false where no chunk waits to be decoded. */
bool fxt_ahead_lend_hand(struct fxt_ahead *ahead, bool guest);

struct fxt_state *fxt_ahead_state(struct fxt_ahead *ahead);

/* Ends the threads and frees; NULL is fine. */
void fxt_ahead_free(struct fxt_ahead *ahead);

#endif
