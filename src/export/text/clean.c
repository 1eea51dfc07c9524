/* clean.c - bytes as text that any reader of UTF-8 takes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/text/clean.h"

#include "base/text/utf8.h"

/* How many bytes at the front can stand in a text. */
static size_t plain(const char *bytes, size_t size)
{
	size_t good = 0;
	for (size_t step = 1; good < size && step; good += step) {
		const unsigned char c = (unsigned char)bytes[good];
		step = c == 0 ? 0 : c < 0x80 ? 1 : tw_utf8_length(bytes + good, size - good);
	}
	return good;
}

void tw_line_clean(struct tw_line *line, const char *bytes, size_t size)
{
	while (size) {
		size_t good = plain(bytes, size);
		tw_line_add(line, bytes, good);
		if (good < size) {
			tw_line_text(line, "\xef\xbf\xbd");
			good++;
		}
		bytes += good;
		size -= good;
	}
}
