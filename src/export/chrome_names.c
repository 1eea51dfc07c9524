/* chrome_names.c - names as JSON, rendered once. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome.h"

int tw_chrome_names_grow(struct chrome_names *names, const struct tw_dictionary *dictionary)
{
	names->count = tw_dictionary_names(dictionary);
	return tw_grow(&names->pieces, &names->room, names->count, sizeof *names->pieces) ? 0 : TW_ERR_MEMORY;
}

void tw_chrome_name_string(struct chrome_names *names, struct tw_line *line, const struct tw_name *name)
{
	size_t length = name->length;
	if (length == 0 && name->id) {
		tw_line_text(line, "\"function ");
		tw_line_u64(line, name->id);
		tw_line_text(line, "\"");
		return;
	}
	if (length > CHROME_NAME_MAX) {
		length = CHROME_NAME_MAX;
		names->cut++;
	}
	tw_line_string(line, name->text, length);
}

static void add_place(struct chrome_names *names, struct tw_line *line, const struct tw_name *name)
{
	size_t length = strlen(name->file);
	if (length > CHROME_NAME_MAX) {
		length = CHROME_NAME_MAX;
		names->cut++;
	}
	tw_line_text(line, ",\"loc\":\"");
	tw_line_escaped(line, name->file, length);
	if (name->line) {
		tw_line_text(line, ":");
		tw_line_u64(line, name->line);
	}
	tw_line_text(line, "\"");
}

void tw_chrome_name_render(struct chrome_names *names, struct tw_line *line, const struct tw_name *name)
{
	tw_chrome_name_string(names, line, name);
	if (name->file)
		add_place(names, line, name);
}

bool tw_chrome_name_keep(struct chrome_names *names, const struct tw_dictionary *dictionary, uint32_t number)
{
	if (number >= names->count)
		return false;
	if (names->pieces[number].quoted)
		return true;
	if (names->text.text.length >= names->limit)
		return false;
	const struct tw_name *name = tw_dictionary_name(dictionary, number);
	size_t at = names->text.text.length;
	tw_chrome_name_string(names, &names->text, name);
	size_t quoted = names->text.text.length - at;
	if (name->file)
		add_place(names, &names->text, name);
	names->pieces[number] = (struct chrome_piece){.at = at,
	                                              .quoted = (uint32_t)quoted,
	                                              .size = (uint32_t)(names->text.text.length - at)};
	return !names->text.failed;
}
