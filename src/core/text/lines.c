/* lines.c - a text from line to line, whatever it comes from. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/lines.h"

#include <string.h>

/* Finds the end of the line at lines->next among at most `limit` bytes, reading as little ahead as a FIFO needs. *end
 * is the size with the line end; 0 where none is among them. */
static int find_end(struct tw_text_lines *lines, const uint8_t **bytes, size_t *have, size_t *end)
{
	struct tw_window *window = &lines->window;
	size_t looked = 0;
	*end = 0;
	for (;;) {
		int status = tw_window_view(window, lines->next, looked + 1, bytes, have);
		if (status < 0)
			return status;
		const uint8_t *found = *have > looked ? memchr(*bytes + looked, '\n', *have - looked) : NULL;
		if (found)
			*end = (size_t)(found - *bytes) + 1;
		if (found || *have <= looked || *have >= lines->limit)
			return 0;
		looked = *have;
		if (looked >= (window->chunk ? window->chunk : TW_WINDOW_CHUNK))
			window->chunk = looked < lines->limit / 2 ? 2 * looked : lines->limit;
	}
}

/* Finds the end of a line whose beginning is held; *next is the offset behind it. */
static int skip_rest(struct tw_text_lines *lines, uint64_t *next)
{
	for (;;) {
		const uint8_t *bytes;
		size_t have;
		int status = tw_window_view(&lines->window, *next, 1, &bytes, &have);
		if (status < 0 || have == 0)
			return status;
		const uint8_t *found = memchr(bytes, '\n', have);
		*next += found ? (size_t)(found - bytes) + 1 : have;
		if (found)
			return 0;
	}
}

int tw_text_lines_next(struct tw_text_lines *lines, struct tw_text_line *line)
{
	const uint8_t *bytes;
	size_t have, end;
	int status = 0;
	if (lines->in_long_line)
		status = skip_rest(lines, &lines->next);
	lines->in_long_line = false;
	if (status >= 0)
		status = find_end(lines, &bytes, &have, &end);
	if (status < 0 || have == 0)
		return status;
	size_t size = end ? end : have;
	bool cut = size > lines->limit || (!end && !lines->window.at_end);
	if (cut)
		size = lines->limit < size ? lines->limit : size;
	*line = (struct tw_text_line){bytes, size, lines->next, ++lines->number, cut};
	lines->next += size;
	lines->in_long_line = cut;
	return 1;
}

void tw_text_lines_free(struct tw_text_lines *lines)
{
	tw_window_free(&lines->window);
}
