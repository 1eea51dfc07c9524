/* line_block.h - a log in blocks of whole lines, which do not need each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LINES_LINE_BLOCK_H
#define TRACELOG_LINES_LINE_BLOCK_H

#include "core/text/lines.h"

enum { TRACELOG_SLACK = 16 };

struct tracelog_line_block {
	uint8_t *bytes; /* whole lines, or the only part of one that is there; TRACELOG_SLACK bytes more may be read */
	size_t size, room;
	uint64_t offset; /* in the log */
	bool single;     /* one line alone: the last, or one that is longer than a block */
	bool cut;        /* a line that is too long: only its beginning is here */
};

/* Takes what comes next: as many whole lines as there are, about TW_WINDOW_CHUNK bytes at most, or else one line.
 * Returns 1, 0 at the end, or a negative status. */
int tracelog_line_block_read(struct tw_text_lines *lines, struct tracelog_line_block *block);

void tracelog_line_block_free(struct tracelog_line_block *block);

#endif
