/* pieces.c - rows of a stretch of the file, and the texts of their arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"

#include <stdlib.h>

enum { TEXT_ROOM = 1 << 16 };

uint8_t *chrome_piece_room(struct chrome_piece *piece, size_t size)
{
	struct chrome_text *text = piece->texts;
	if (!text || text->room - text->used < size) {
		size_t room = size > TEXT_ROOM ? size : TEXT_ROOM;
		text = malloc(sizeof *text + room);
		if (!text)
			return NULL;
		*text = (struct chrome_text){.next = piece->texts, .room = room};
		piece->texts = text;
	}
	uint8_t *bytes = text->bytes + text->used;
	text->used += size;
	return bytes;
}

static void free_texts(struct chrome_text *text)
{
	for (struct chrome_text *next; text; text = next) {
		next = text->next;
		free(text);
	}
}

/* Empties a piece. Of its memory one block of the usual size stays for the next use. */
void chrome_piece_clear(struct chrome_piece *piece)
{
	struct chrome_text *kept = piece->texts;
	tw_slab_clear(&piece->slab);
	if (!kept)
		return;
	free_texts(kept->next);
	kept->next = NULL;
	kept->used = 0;
	if (kept->room > TEXT_ROOM) {
		free(kept);
		piece->texts = NULL;
	}
}

void chrome_piece_free(struct chrome_piece *piece)
{
	if (!piece)
		return;
	free_texts(piece->texts);
	tw_slab_free(&piece->slab);
	free(piece);
}
