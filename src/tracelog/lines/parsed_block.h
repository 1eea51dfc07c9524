/* parsed_block.h - a block of a log with the numbers of its commonest lines, found without the lines before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LINES_PARSED_BLOCK_H
#define TRACELOG_LINES_PARSED_BLOCK_H

#include "tracelog/format/fast_decode.h"
#include "tracelog/lines/line_block.h"

struct tracelog_parsed_block {
	struct tracelog_line_block block;
	unsigned
	    unwanted; /* kinds of line that tell nothing but threads and times, bits 1 << enum tracelog_line_kind */
	struct tracelog_fast_line *entries;
	size_t entry_count, entry_room;
	uint32_t lines; /* how many there are */
	struct tracelog_fast_lists lists;
	bool failed; /* no memory */
};

/* Makes entries of the lines of the block, but for unwanted ones that tell neither a new thread nor a new time. A block
 * of a single line, whose list may be long, is one entry to be decoded. */
void tracelog_parse_block(struct tracelog_parsed_block *parsed);

void tracelog_parsed_block_free(struct tracelog_parsed_block *parsed);

#endif
