/* pieces.c - text as long as the trace, made in pieces by several threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/text/pieces.h"

#include <stdlib.h>

/* All of them with room for so much text. False when there is no memory. */
static bool make_room(struct tw_pieces *pieces, size_t room)
{
	if (room <= pieces->room)
		return true;
	tw_pieces_free(pieces);
	for (unsigned i = 0; i < TW_PIECES; i++) {
		pieces->pieces[i] = malloc(sizeof *pieces->pieces[i] + room);
		if (!pieces->pieces[i])
			return false;
		pieces->pieces[i]->text = (char *)(pieces->pieces[i] + 1);
	}
	pieces->room = room;
	return true;
}

bool tw_pieces_begin(struct tw_pieces *pieces, const struct tw_pipeline_steps *work, void *context, size_t room,
                     unsigned jobs)
{
	void *list[TW_PIECES];
	if (!make_room(pieces, room))
		return false;
	for (unsigned i = 0; i < TW_PIECES; i++)
		list[i] = pieces->pieces[i];
	pieces->pipeline = tw_pipeline_new(work, context, list, TW_PIECES, jobs);
	return pieces->pipeline != NULL;
}

static bool is_next_of(struct tw_pieces *pieces, unsigned part)
{
	void *next;
	if (!pieces->next && pieces->pipeline && tw_pipeline_next(pieces->pipeline, &next) > 0)
		pieces->next = next;
	return pieces->next && pieces->next->part == part;
}

void tw_pieces_put(struct tw_pieces *pieces, unsigned part, struct tw_output *out)
{
	for (bool begun = false; !out->error && is_next_of(pieces, part); begun = true) {
		const struct tw_piece_text *piece = pieces->next;
		const char *text = piece->text + !begun;
		if (text < piece->end)
			tw_put(out, text, (size_t)(piece->end - text));
		pieces->next = NULL;
	}
}

void tw_pieces_end(struct tw_pieces *pieces)
{
	tw_pipeline_free(pieces->pipeline);
	pieces->pipeline = NULL;
	pieces->next = NULL;
}

void tw_pieces_free(struct tw_pieces *pieces)
{
	for (unsigned i = 0; i < TW_PIECES; i++)
		free(pieces->pieces[i]);
	*pieces = (struct tw_pieces){0};
}

int tw_pieces_read(void *text, void *piece)
{
	struct tw_pieces_text *from = text;
	struct tw_piece_text *to = piece;
	to->part = 0;
	return tw_spool_find(from->spool, &from->cursor, &to->records);
}

const uint8_t *tw_pieces_records(struct tw_piece_text *piece, struct tw_spool *spool)
{
	const uint8_t *records = tw_spool_load(spool, &piece->records, piece->block);
	if (!records)
		piece->records.size = 0;
	return records ? records : piece->block;
}
