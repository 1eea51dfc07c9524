/* cells.c - a field of a table in CSV and in Markdown. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/cells.h"

#include "base/text/csv.h"
#include "cli/output/show.h"

#include <string.h>

void tw_put_csv(struct tw_output *out, const char *bytes, size_t size, bool safe)
{
	bool formula = safe && tw_csv_is_formula(bytes, size), quotes = false;
	struct tw_csv_piece piece;
	for (size_t i = 0; i < size && !quotes; i++)
		quotes = memchr(",\"\n", bytes[i], 3);
	tw_put_text(out, quotes ? "\"" : "");
	tw_put_text(out, formula ? "'" : "");
	for (size_t i = 0; i < size; i += piece.taken) {
		tw_csv_next(&piece, bytes + i, size - i);
		tw_put(out, piece.bytes, piece.length);
	}
	tw_put_text(out, quotes ? "\"" : "");
}

void tw_put_markdown(struct tw_output *out, const char *bytes, size_t size)
{
	static const char special[] = "|\\\n<";
	for (size_t i = 0, end; i < size; i = end) {
		for (end = i; end < size && !memchr(special, bytes[end], sizeof special - 1); end++)
			;
		tw_put_safe(out, bytes + i, end - i);
		if (end == size)
			return;
		if (bytes[end] == '\n')
			tw_put_text(out, "<br>");
		else
			tw_putf(out, "\\%c", bytes[end]);
		end++;
	}
}

void tw_put_markdown_text(struct tw_output *out, const char *text)
{
	tw_put_markdown(out, text, strlen(text));
}
