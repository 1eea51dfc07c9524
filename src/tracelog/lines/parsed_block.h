/* parsed_block.h - a block of a log with the numbers of its commonest lines, found without the lines before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LINES_PARSED_BLOCK_H
#define TRACELOG_LINES_PARSED_BLOCK_H

#include "tracelog/format/fast_decode.h"
#include "tracelog/lines/line_block.h"

struct tracelog_parsed_block {
	struct tracelog_line_block block;
	struct tracelog_fast_line *entries; /* one a line */
	size_t entry_count, entry_room;
	struct tracelog_fast_lists lists;
	bool failed; /* no memory */
};

/* Makes entries of the lines of the block. A block of a single line, whose list may be long, is one entry to be
 * decoded. */
void tracelog_parse_block(struct tracelog_parsed_block *parsed);

void tracelog_parsed_block_free(struct tracelog_parsed_block *parsed);

#endif
