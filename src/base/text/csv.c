/* csv.c - cells of CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/csv.h"

#include <string.h>

static bool is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

/* A carriage return alone would have a terminal write over what stands before it. */
static bool is_space(const char *bytes, size_t size)
{
	return *bytes == '\t' || *bytes == '\n' || (*bytes == '\r' && size > 1 && bytes[1] == '\n');
}

/* Bytes at the front that stand in a quoted cell as they are. */
static size_t count_plain(const char *bytes, size_t size)
{
	size_t count = 0;
	while (count < size && bytes[count] != '"' &&
	       (is_printable(bytes[count]) || is_space(bytes + count, size - count)))
		count++;
	return count;
}

static void take_special(struct tw_csv_piece *piece, const char *bytes, size_t size)
{
	size_t length = tw_utf8_length(bytes, size);
	piece->taken = length ? length : 1;
	if (*bytes == '"' || !length) {
		piece->bytes = *bytes == '"' ? "\"\"" : "\xef\xbf\xbd";
		piece->length = strlen(piece->bytes);
		return;
	}
	bool obeyed = tw_is_obeyed(tw_utf8_code(bytes, length));
	piece->bytes = obeyed ? piece->escape : bytes;
	piece->length = obeyed ? tw_escape_character(piece->escape, bytes, length) : length;
}

void tw_csv_next(struct tw_csv_piece *piece, const char *bytes, size_t size)
{
	piece->bytes = bytes;
	piece->length = piece->taken = count_plain(bytes, size);
	if (piece->taken == 0)
		take_special(piece, bytes, size);
}

bool tw_csv_is_formula(const char *bytes, size_t size)
{
	return size && *bytes && strchr("=+-@\t\r", *bytes);
}
