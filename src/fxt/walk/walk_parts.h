/* walk_parts.h - what walk.c, walk_define.c and resync/resync.c share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_WALK_PARTS_H
#define FXT_WALK_WALK_PARTS_H

#include "fxt/resync/evidence.h"
#include "fxt/walk/walk.h"

/* Returns what may be looked at from a place of the chunk on. */
struct fxt_view fxt_view_from(struct fxt_walk *walk, const struct fxt_chunk *chunk, size_t place);

/* notes.c: puts a piece behind those of the chunk; without memory the chunk has failed. */
void fxt_add_piece(struct fxt_chunk *chunk, const struct fxt_piece *piece);

/* Whether one provider is read alone. */
static inline bool fxt_chooses(const struct fxt_walk *walk)
{
	return walk->options && walk->options->provider;
}

/* Whether what the current provider writes is left out. */
static inline bool fxt_is_foreign(const struct fxt_walk *walk)
{
	return fxt_chooses(walk) && !walk->state->current->wanted;
}

/* Takes the times of records that are left out: the trace begins and ends with them, too. */
void fxt_pass_over(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t from, size_t to);

/* Passes the time of a record, if it has one. */
void fxt_pass_time(const struct fxt_walk *walk, struct fxt_chunk *chunk, uint64_t header);

/* Returns how many of the last bytes of a large record wait for those behind them: others may begin there. `size` of
 * walk->blob_left are here. enough: no more are needed. */
size_t fxt_waiting(const struct fxt_walk *walk, size_t size, bool enough);

/* walk_define.c: takes a record of a type below TW_FXT_TYPE_EVENT, of so many words, into the tables. Returns false at
 * a barrier: then nothing has been done, because what was walked before must be decoded first. */
bool fxt_define(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t place, uint64_t header, size_t words);

/* resync.c: goes on from the place of the walk, where no record is seen at once. Returns false where the walk must
 * stop: for more bytes, or at a barrier, to which it sets *walked. */
bool fxt_resync(struct fxt_walk *walk, struct fxt_chunk *chunk, enum fxt_walked *walked);

#endif
