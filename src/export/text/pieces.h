/* pieces.h - text as long as the trace, made in pieces by several threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TEXT_PIECES_H
#define EXPORT_TEXT_PIECES_H

#include "base/inline.h"
#include "core/threads/pipeline.h"
#include "export/text/spool.h"

/* A piece of a text, made of the records in one block of a spool, or of things with numbers from one to another. */
struct tw_piece_text {
	struct tw_spool_part records; /* of a block: tw_pieces_records() reads them */
	size_t from, to;              /* of numbered things: [from, to) */
	unsigned part;                /* of the text */
	char *text, *end;             /* what has been made of it; each record begins with a comma */
	uint8_t block[SPOOL_BLOCK];
};

enum { TW_PIECES = 8 };

/* Memory to be used again; all zero to begin. */
struct tw_pieces {
	struct tw_piece_text *pieces[TW_PIECES];
	size_t room; /* of each text */
	struct tw_pipeline *pipeline;
	struct tw_piece_text *next; /* the next piece, of a part that has not been asked for yet; NULL: none */
};

/* Begins a text: all pieces that work->read takes, which tells the part that each is of, in their order. room: bytes of
 * a piece's text at most. jobs: 0 is all processors. False when there is no memory; to be ended in any case. */
bool tw_pieces_begin(struct tw_pieces *pieces, const struct tw_pipeline_steps *work, void *context, size_t room,
                     unsigned jobs);

/* Writes a part, but for its first comma; it may be empty. Parts are asked for in their order, while the others are
 * being made. */
void tw_pieces_put(struct tw_pieces *pieces, unsigned part, struct tw_output *out);

void tw_pieces_end(struct tw_pieces *pieces);

void tw_pieces_free(struct tw_pieces *pieces);

/* The context for a text whose only part lies in a spool; work->read is then tw_pieces_read(). */
struct tw_pieces_text {
	struct tw_spool *spool;
	struct tw_spool_cursor cursor;
};

int tw_pieces_read(void *text, void *piece);

/* The records of a piece's block: none after an error. */
const uint8_t *tw_pieces_records(struct tw_piece_text *piece, struct tw_spool *spool);

/* Reads a number of a record, and returns the place after it: tw_proto_digits() has written it. */
TW_INLINE const uint8_t *tw_pieces_number(const uint8_t *p, uint64_t *value)
{
	*value = *p & 0x7f;
	for (unsigned shift = 7; *p++ & 0x80; shift += 7)
		*value |= (uint64_t)(*p & 0x7f) << shift;
	return p;
}

#endif
