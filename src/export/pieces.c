/* pieces.c - text as long as the trace, made in pieces by several threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/pieces.h"

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

bool tw_pieces_put(struct tw_pieces *pieces, const struct tw_ahead_work *work, void *context, size_t room,
                   unsigned jobs, struct tw_output *out)
{
	void *list[TW_PIECES], *next;
	if (!make_room(pieces, room))
		return false;
	for (unsigned i = 0; i < TW_PIECES; i++)
		list[i] = pieces->pieces[i];
	struct tw_ahead *ahead = tw_ahead_new(work, context, list, TW_PIECES, jobs);
	for (bool begun = false; ahead && !out->error && tw_ahead_next(ahead, &next) > 0; begun = true) {
		const struct tw_piece_text *piece = next;
		const char *text = piece->text + !begun;
		tw_put(out, text, (size_t)(piece->end - text));
	}
	tw_ahead_free(ahead);
	return ahead != NULL;
}

void tw_pieces_free(struct tw_pieces *pieces)
{
	for (unsigned i = 0; i < TW_PIECES; i++)
		free(pieces->pieces[i]);
	*pieces = (struct tw_pieces){0};
}

int tw_pieces_read(void *lane, void *piece)
{
	struct tw_pieces_lane *from = lane;
	struct tw_piece_text *to = piece;
	return tw_spool_next(from->spool, &from->cursor, to->block, &to->bytes, &to->size);
}
