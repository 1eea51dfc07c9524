/* parsed_block.h - a block of a log with the numbers of its plain lines, found without a look at what is before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_PARSED_BLOCK_H
#define TRACELOG_LOG_PARSED_BLOCK_H

#include "tracelog/format/fast_decode.h"
#include "tracelog/log/line_block.h"

struct tracelog_parsed_block {
	struct tracelog_line_block block;
	unsigned unwanted; /* kinds of plain lines that are only looked at for threads and times, bits 1 << plain */
	struct tracelog_fast_line *entries;
	size_t entry_count, entry_room;
	uint32_t lines; /* how many there are */
	struct tracelog_fast_lists lists;
	bool failed; /* no memory */
};

/* Makes entries of the bytes, but for unwanted lines that tell nothing new. What a single line says is left to who
 * takes it: lists of one may be long. */
void tracelog_parse_block(struct tracelog_parsed_block *parsed);

void tracelog_parsed_block_free(struct tracelog_parsed_block *parsed);

#endif
