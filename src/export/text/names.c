/* names.c - names as a target writes them, rendered once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/text/names.h"

#include "base/memory/map.h"
#include "export/text/labels.h"

#include <stdlib.h>

void tw_names_init(struct tw_names *names, tw_render_fn *render)
{
	names->render = render;
	names->limit = TW_NAMES_BYTES;
}

void tw_names_bound(struct tw_names *names, size_t memory_limit)
{
	size_t share = memory_limit / TW_NAMES_SHARE;
	names->limit = share < names->limit ? share : names->limit;
}

static bool keep(struct tw_names *names, uint32_t number, const struct tw_rendered *piece)
{
	if (piece->at + piece->size > names->limit || number >= names->limit / sizeof *piece)
		return false;
	if (!tw_grow(&names->pieces, &names->room, number + (size_t)1, sizeof *names->pieces)) {
		names->text.failed = true;
		return false;
	}
	names->pieces[number] = *piece;
	names->kept = piece->at + piece->size;
	return true;
}

const struct tw_rendered *tw_names_render(struct tw_names *names, const struct tw_name *name, uint32_t number)
{
	struct tw_line *text = &names->text;
	struct tw_rendered piece = {.of = name->text, .at = (uint32_t)names->kept};
	text->text.length = names->kept;
	names->render(text, name, &piece);
	names->cut += piece.cut;
	if (tw_line_reserve(text, TW_NAMES_BEHIND) && !text->failed) {
		piece.size = (uint32_t)(text->text.length - names->kept);
		piece.hash = tw_hash_bytes(text->text.bytes + piece.at, piece.size, 0);
		if (keep(names, number, &piece))
			return &names->pieces[number];
	}
	piece.of = NULL;
	names->passing = piece;
	return &names->passing;
}

void tw_names_free(struct tw_names *names)
{
	free(names->pieces);
	tw_text_free(&names->text.text);
}

size_t tw_name_cut(size_t length, struct tw_rendered *piece)
{
	piece->cut |= length > LABEL_MAX;
	return length > LABEL_MAX ? LABEL_MAX : length;
}

void tw_names_json(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece)
{
	tw_line_text(line, "\"");
	tw_line_escaped(line, name->text, tw_name_cut(name->length, piece));
	tw_label_number(line, name);
	tw_line_text(line, "\"");
}
