/* pieces.c - the pieces of a chunk to rows: records, what was lost between them, more of a large blob. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loops.h"
#include "fxt/events/events.h"
#include "fxt/walk/chunk.h"

/* ---- What is no record. ---- */

static void add_lost(struct fxt_chunk *chunk, uint64_t offset, uint64_t lost)
{
	const struct tw_event event = {.time = chunk->decoder.time,
	                               .offset = offset,
	                               .value = lost,
	                               .kind = TW_LOST,
	                               .provider = chunk->decoder.context.number};
	chunk->found.lost_bytes += lost;
	tw_slab_add(&chunk->rows.slab, &event);
}

static void take_damage(struct fxt_chunk *chunk, const struct fxt_piece *piece)
{
	struct fxt_note note;
	fxt_note_of(chunk, piece, &note);
	fxt_add_note(chunk, &note);
	add_lost(chunk, note.record, note.a);
}

static void take_payload(struct fxt_chunk *chunk, const struct fxt_piece *piece)
{
	struct tw_event event = {.time = chunk->decoder.time,
	                         .offset = fxt_offset(chunk, piece->from),
	                         .kind = TW_BLOB};
	event.flags = piece->last ? 0 : TW_FLAG_PARTIAL;
	struct fxt_note note;
	if (fxt_note_of(chunk, piece, &note))
		fxt_add_note(chunk, &note);
	if (piece->behind || !tw_slab_add(&chunk->rows.slab, &event))
		return;
	const struct tw_argument bytes = {.type = TW_ARG_BYTES,
	                                  .value.bytes = chunk->bytes + piece->from,
	                                  .size = (uint32_t)(piece->to - piece->from)};
	tw_slab_argument(&chunk->rows.slab, &bytes);
	fxt_add_fix(chunk, &(struct fxt_fix){.kind = FXT_FIX_PAYLOAD});
}

/* ---- Pieces. ---- */

static void take_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, const struct fxt_piece *piece,
                         const struct fxt_way *way)
{
	const bool fast = !piece->odd && tw_loop_is_on(way->loop);
	for (size_t place = piece->from; place < piece->to;) {
		if (fast)
			place = way->fast(chunk, wish, place, piece->to);
		if (place < piece->to)
			place += way->any(chunk, wish, place, piece->to);
	}
}

void fxt_take_pieces(struct fxt_chunk *chunk, const struct fxt_wish *wish, const struct fxt_way *way)
{
	fxt_begin_context(chunk);
	for (; chunk->decoder.pieces_done < chunk->walk.piece_count; chunk->decoder.pieces_done++) {
		const struct fxt_piece *piece = &chunk->walk.pieces[chunk->decoder.pieces_done];
		chunk->decoder.big = piece->big;
		if (piece->kind == FXT_RECORDS)
			take_records(chunk, wish, piece, way);
		else if (piece->kind == FXT_PAYLOAD)
			take_payload(chunk, piece);
		else
			take_damage(chunk, piece);
	}
}

void fxt_decode(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	static const struct fxt_way rows = {TW_LOOP_FXT_ROWS, fxt_take_plain, fxt_take_record};
	(void)scratch;
	fxt_take_pieces(chunk, wish, &rows);
}

/* Rows without a time of their own have that of the one before; at the beginning of the chunk, of the one behind until
 * the commit. */
void fxt_decoded(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	struct tw_slab *slab = &chunk->rows.slab;
	for (size_t i = 0; i < chunk->decoder.untimed && chunk->decoder.timed; i++)
		slab->events[i].time = chunk->decoder.first;
	if (wish->sort)
		tw_slab_sort(slab, &scratch->sort);
	else
		slab->sorted = true;
}
