/* walk.h - from record to record through an archive, around what is damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_WALK_H
#define FXT_WALK_WALK_H

#include "core/format.h"
#include "fxt/resync/resync.h"
#include "fxt/walk/chunk.h"

/* ---- From record to record through an archive, around what is damaged. ---- */

/* What was last looked through for the next record, in offsets: from any place in it, up to the end of the same bytes,
 * that is the same one, until more is registered or something is taken back. */
struct fxt_scanned {
	uint64_t from, to; /* the record's place */
	uint64_t end;      /* of the bytes; 0: nothing is known */
	bool at_end, big;
};

struct fxt_walk {
	struct fxt_state *state;
	bool big;
	bool check;                            /* notes the rules about tables, too */
	const struct tw_read_options *options; /* whose records are wanted; NULL: everybody's */
	struct tw_ticks clock;                 /* of a provider that is left out, for fxt_pass_over() */
	bool unwanted;                         /* the large blob that goes on is left out */
	uint64_t blob_left;                    /* bytes of a large record that are still to come */
	uint64_t bytes_left;                   /* without what stands behind the bytes of the blob */
	bool in_doubt;                         /* it is a large record of which not all is known */
	size_t last;                           /* place in the chunk of the last record that was passed */
	uint64_t lost_from;                    /* where the garbage began that the walk is in; UINT64_MAX: in none */
	const char *fault;
	uint64_t found;
	struct fxt_scanned scanned;
};

/* Tells the byte order from the first chunk of an archive: that of its magic number, or without one that in which its
 * first record makes sense. */
void fxt_walk_begin(struct fxt_walk *walk, struct fxt_chunk *chunk);

enum fxt_walked {
	FXT_WALKED, /* as far as the bytes allow */
	FXT_BARRIER /* all that was walked must be decoded first, then walk on */
};

/* Walks on through a chunk. */
enum fxt_walked fxt_walk(struct fxt_walk *walk, struct fxt_chunk *chunk);

/* ---- What walk.c, walk_define.c and resync/resync.c share. ---- */

/* Returns what may be looked at from a place of the chunk on. */
static inline struct fxt_view fxt_view_from(struct fxt_walk *walk, const struct fxt_chunk *chunk, size_t place)
{
	return (struct fxt_view){.state = walk->state,
	                         .bytes = chunk->bytes + place,
	                         .left = chunk->end - place,
	                         .at_end = chunk->at_end,
	                         .big = walk->big,
	                         .offset = fxt_offset(chunk, place),
	                         .scanned = &walk->scanned};
}

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

/* notes.c: takes the times of records that are left out: the trace begins and ends with them, too. */
void fxt_pass_over(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t from, size_t to);

/* notes.c: the current provider has records with times: without a clock those are nanoseconds from here on, and who has
 * other ticks later is another provider. The second: if the record with this header has a time. */
void fxt_pass_times(const struct fxt_walk *walk, struct fxt_chunk *chunk);
void fxt_pass_time(const struct fxt_walk *walk, struct fxt_chunk *chunk, uint64_t header);

/* Returns how many of the last bytes of a large record wait for those behind them: others may begin there. `size` of
 * walk->blob_left are here. enough: no more are needed. */
static inline size_t fxt_waiting(const struct fxt_walk *walk, size_t size, bool enough)
{
	uint64_t behind = walk->blob_left - size;
	if (enough || (walk->in_doubt && behind == 0))
		return 0;
	size_t last = walk->in_doubt ? FXT_LOOK - 1 : behind < FXT_LOOK ? FXT_LOOK - (size_t)behind : 0;
	return last < size ? last : size;
}

/* walk_define.c: takes a record of a type below TW_FXT_TYPE_EVENT, of so many words, into the tables. Returns false at
 * a barrier: then nothing has been done, because what was walked before must be decoded first. */
bool fxt_define(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t place, uint64_t header, size_t words);

/* resync.c: goes on from the place of the walk, where no record is seen at once. Returns false where the walk must
 * stop: for more bytes, or at a barrier, to which it sets *walked. */
bool fxt_resync(struct fxt_walk *walk, struct fxt_chunk *chunk, enum fxt_walked *walked);

/* ---- An archive from its first byte to its last with one thread: for what takes records as they are. ---- */

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

/* Reports what is wrong with a piece that is no records, or with the record that could not be decoded. */
void fxt_cursor_report(const struct fxt_cursor *cursor, const struct fxt_piece *piece);

#endif
