/* cursor.c - an archive from its first byte to its last with one thread: for what takes records as they are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "fxt/events/events.h"
#include "fxt/format/layout.h"
#include "fxt/walk/walk.h"

enum { STATE_SHARE = 2 }; /* of the memory limit, for tables and names */

int fxt_cursor_init(struct fxt_cursor *cursor, struct tw_reader *reader)
{
	*cursor = (struct fxt_cursor){.reader = reader, .walked = FXT_WALKED};
	cursor->walk = (struct fxt_walk){.state = &cursor->state, .lost_from = UINT64_MAX};
	bool made =
	    fxt_state_init(&cursor->state, reader->dictionary, &reader->options, tw_memory_limit(reader) / STATE_SHARE);
	cursor->chunk = fxt_chunk_new(FXT_CHUNK);
	cursor->before = fxt_chunk_new(FXT_CHUNK);
	return made && cursor->chunk && cursor->before ? 0 : TW_ERR_MEMORY;
}

void fxt_cursor_free(struct fxt_cursor *cursor)
{
	fxt_chunk_free(cursor->chunk);
	fxt_chunk_free(cursor->before);
	fxt_state_free(&cursor->state);
}

/* ---- Pieces. ---- */

static void report_notes(const struct fxt_cursor *cursor)
{
	for (size_t i = 0; i < cursor->chunk->found.note_count; i++)
		fxt_report(cursor->reader, &cursor->chunk->found.notes[i]);
	cursor->chunk->found.note_count = 0;
}

/* Walks on from where the chunk is: nothing before is asked for any more. */
static void walk_on(struct fxt_cursor *cursor)
{
	cursor->state.oldest = fxt_offset(cursor->chunk, cursor->chunk->walk.place);
	cursor->walked = fxt_walk(&cursor->walk, cursor->chunk);
}

static int next_chunk(struct fxt_cursor *cursor)
{
	struct fxt_chunk *chunk = cursor->before;
	bool first = cursor->position == 0;
	cursor->before = cursor->chunk;
	cursor->chunk = chunk;
	int status = fxt_chunk_read(chunk, cursor->reader, &cursor->position);
	if (status < 0)
		return status;
	if (first)
		fxt_walk_begin(&cursor->walk, chunk);
	else if (!fxt_chunk_carry(chunk, cursor->before))
		return TW_ERR_MEMORY;
	if (first)
		cursor->big = cursor->walk.big;
	report_notes(cursor);
	fxt_lend_name_caches(chunk, cursor->name_caches, FXT_NAME_CACHES);
	chunk->decoder.strings = FXT_STRINGS_NEW;
	chunk->decoder.context = (struct fxt_context){.provider = cursor->state.current, .frequency = TW_NS_PER_SECOND};
	fxt_begin_context(chunk);
	chunk->decoder.context = fxt_context_of(&cursor->state);
	walk_on(cursor);
	return 1;
}

int fxt_cursor_piece(struct fxt_cursor *cursor, const struct fxt_piece **piece)
{
	struct fxt_chunk *chunk = cursor->chunk;
	while (chunk->decoder.pieces_done == chunk->walk.piece_count) {
		int status = 1;
		if (cursor->walked == FXT_BARRIER)
			walk_on(cursor);
		else if (chunk->at_end)
			return 0;
		else
			status = next_chunk(cursor);
		chunk = cursor->chunk;
		if (status < 0 || chunk->failed || cursor->state.failed)
			return status < 0 ? status : TW_ERR_MEMORY;
	}
	*piece = &chunk->walk.pieces[chunk->decoder.pieces_done++];
	chunk->decoder.big = (*piece)->big;
	cursor->place = cursor->next = (*piece)->from;
	return 1;
}

/* ---- Records. ---- */

int fxt_cursor_record(struct fxt_cursor *cursor, const struct fxt_piece *piece, struct tw_fxt_record *record)
{
	struct fxt_chunk *chunk = cursor->chunk;
	cursor->place = cursor->next;
	size_t left = piece->to - cursor->place;
	if (left == 0)
		return 0;
	struct tw_fxt_decoder decoder = {.bytes = chunk->bytes + cursor->place, .left = left, .big = piece->big};
	uint64_t header = tw_load64(decoder.bytes, piece->big);
	uint64_t size = fxt_size(header) * (uint64_t)TW_FXT_WORD;
	int status = tw_fxt_next(&decoder, record);
	cursor->next += size < left ? (size_t)size : left;
	cursor->fault = decoder.fault;
	cursor->fault_at = decoder.at;
	if (fxt_type(header) <= TW_FXT_TYPE_INITIALIZATION)
		fxt_next_context(chunk);
	return status == 1 ? 1 : TW_ERR_VALUE;
}

/* ---- What is wrong. ---- */

void fxt_cursor_report(const struct fxt_cursor *cursor, const struct fxt_piece *piece)
{
	struct fxt_note note;
	if (fxt_note_of(cursor->chunk, piece, &note)) {
		fxt_report(cursor->reader, &note);
		return;
	}
	if (piece->kind == FXT_PAYLOAD)
		return;
	uint64_t offset = fxt_cursor_offset(cursor);
	note = (struct fxt_note){FXT_RECORD_BROKEN, offset, offset + cursor->fault_at, 0, 0, cursor->fault};
	fxt_report(cursor->reader, &note);
}
