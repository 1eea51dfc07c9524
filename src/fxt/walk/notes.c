/* notes.c - what is put down in a chunk, to be decoded, told or completed later. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "fxt/walk/walk.h"

void fxt_add_piece(struct fxt_chunk *chunk, const struct fxt_piece *piece)
{
	if (tw_grow(&chunk->walk.pieces, &chunk->walk.piece_room, chunk->walk.piece_count + 1,
	            sizeof *chunk->walk.pieces))
		chunk->walk.pieces[chunk->walk.piece_count++] = *piece;
	else
		chunk->failed = true;
}

void fxt_add_note(struct fxt_chunk *chunk, const struct fxt_note *note)
{
	if (tw_grow(&chunk->found.notes, &chunk->found.note_room, chunk->found.note_count + 1,
	            sizeof *chunk->found.notes))
		chunk->found.notes[chunk->found.note_count++] = *note;
	else
		chunk->failed = true;
}

void fxt_note(struct fxt_chunk *chunk, enum fxt_rule rule, size_t record, size_t at, uint64_t a, uint64_t b,
              const char *text)
{
	fxt_add_note(chunk, &(struct fxt_note){rule, fxt_offset(chunk, record), fxt_offset(chunk, at), a, b, text});
}

void fxt_add_fix(struct fxt_chunk *chunk, const struct fxt_fix *fix)
{
	if (!tw_extend(&chunk->rows.fixes, &chunk->rows.fix_room, chunk->rows.fix_count + 1,
	               sizeof *chunk->rows.fixes)) {
		chunk->failed = true;
		return;
	}
	chunk->rows.fixes[chunk->rows.fix_count] = *fix;
	chunk->rows.fixes[chunk->rows.fix_count++].row = (uint32_t)chunk->rows.slab.count - 1;
}

void fxt_time_rows(struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->decoder.untimed && chunk->decoder.timed; i++)
		chunk->rows.slab.events[i].time = chunk->decoder.first;
}
