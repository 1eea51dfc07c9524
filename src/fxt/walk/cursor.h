/* cursor.h - an archive from its first byte to its last with one thread: for what takes records as they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_CURSOR_H
#define FXT_WALK_CURSOR_H

#include "core/format.h"
#include "fxt/walk/walk.h"

struct fxt_cursor {
	struct tw_reader *reader;
	/* Tables. The meaning of an index at the current record is found by its offset, for the provider of
	 * chunk->decoder.context. */
	struct fxt_state state;
	struct fxt_walk walk;
	struct fxt_chunk *chunk, *before;
	struct fxt_name_cache name_caches[FXT_NAME_CACHES];
	uint64_t position;      /* bytes read */
	bool big;               /* the byte order at the start */
	enum fxt_walked walked; /* how far the chunk is */
	size_t place, next;     /* of the current record and the one after it, in the chunk */
	const char *fault;      /* of a record that could not be decoded: what was expected */
	size_t fault_at;        /* where in it */
};

/* Returns 0 or a negative status; free it in any case. */
int fxt_cursor_init(struct fxt_cursor *cursor, struct tw_reader *reader);
void fxt_cursor_free(struct fxt_cursor *cursor);

/* Gives the next piece of the archive, in cursor->chunk. It lives until the next call. Returns 1, 0 at the end, or a
 * negative status. */
int fxt_cursor_piece(struct fxt_cursor *cursor, const struct fxt_piece **piece);

/* Gives the next record of a piece of kind FXT_RECORDS; of a large one only what precedes its payload need be here.
 * Returns 1, 0 at the end of the piece, or TW_ERR_VALUE for a record that cannot be decoded (cursor->place, next and
 * fault tell), after which it goes on. */
int fxt_cursor_record(struct fxt_cursor *cursor, const struct fxt_piece *piece, struct tw_fxt_record *record);

/* The offset of the current record. */
static inline uint64_t fxt_cursor_offset(const struct fxt_cursor *cursor)
{
	return fxt_offset(cursor->chunk, cursor->place);
}

/* The string or thread of an index at the current record; NULL where nothing has registered it. */
static inline const struct fxt_entry *fxt_cursor_string(const struct fxt_cursor *cursor, unsigned index)
{
	return fxt_string_at(cursor->chunk->decoder.context.provider, index, fxt_cursor_offset(cursor));
}

static inline const struct fxt_entry *fxt_cursor_thread(const struct fxt_cursor *cursor, unsigned index)
{
	return fxt_thread_at(cursor->chunk->decoder.context.provider, index, fxt_cursor_offset(cursor));
}

/* Reports what is wrong with a piece that is no records, or with the record that could not be decoded. */
void fxt_cursor_report(const struct fxt_cursor *cursor, const struct fxt_piece *piece);

#endif
