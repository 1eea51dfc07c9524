/* lines.h - a text from line to line, whatever it comes from. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TEXT_LINES_H
#define CORE_TEXT_LINES_H

#include "base/bytes/input.h"

/* One line. Borrowed until the next call. */
struct tw_text_line {
	const uint8_t *bytes;
	size_t size;     /* bytes, with the LF; the last line of a log may have none */
	uint64_t offset; /* of its first byte */
	uint64_t number; /* from 1 */
	bool cut;        /* longer than the memory limit: only its beginning is here */
};

/* All zero but `window` and `limit` is the start: a window that has nothing but its input, or one that is moved here
 * from a reader, which has looked at the beginning. */
struct tw_text_lines {
	struct tw_window window;
	size_t limit; /* bytes of a line that are held at most */
	uint64_t next;
	uint64_t number;
	bool in_long_line; /* the rest of a line that was cut comes next */
};

/* Gives the next line as soon as it is there: a text may come from a FIFO that is still written to. Returns 1, 0 at the
 * end, or a negative status. */
int tw_text_lines_next(struct tw_text_lines *lines, struct tw_text_line *line);

void tw_text_lines_free(struct tw_text_lines *lines);

#endif
