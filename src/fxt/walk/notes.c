/* notes.c - what is put down in a chunk, to be decoded, reported or completed later. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
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

/* ---- Times that the walk passes. ---- */

/* Whether the time of records with this header stands behind it. */
static bool has_time(uint64_t header)
{
	return fxt_record_kinds[fxt_kind(header)].timed;
}

void fxt_pass_over(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t from, size_t to)
{
	uint64_t header, frequency = walk->state->current->frequency;
	if (from < to && walk->clock.frequency != frequency)
		tw_ticks_set(&walk->clock, frequency);
	for (; from < to; from += (size_t)fxt_size(header) * TW_FXT_WORD) {
		header = tw_load64(chunk->bytes + from, walk->big);
		if (has_time(header))
			fxt_pass_by(chunk,
			            tw_ticks_ns(&walk->clock, tw_load64(chunk->bytes + from + TW_FXT_WORD, walk->big)));
	}
}

/* What has been decoded has taken its contexts. */
void fxt_pass_times(const struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	struct fxt_context *context = chunk->decoder.contexts_taken < chunk->walk.context_count
	                                  ? &chunk->walk.contexts[chunk->walk.context_count - 1]
	                                  : &chunk->decoder.context;
	if (fxt_state_time(walk->state))
		context->number = walk->state->current->number;
}

void fxt_pass_time(const struct fxt_walk *walk, struct fxt_chunk *chunk, uint64_t header)
{
	if (has_time(header) || fxt_kind(header) == TW_FXT_LARGE_BLOB)
		fxt_pass_times(walk, chunk);
}
