/* parsed_block.c - a block of a log with the numbers of its commonest lines, found without the lines before it.
 *
 * This, in another thread, is what lets `stat` keep up with the disk (bench/). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/lines/parsed_block.h"

#include "base/loops.h"
#include "base/memory/memory.h"

#include <stdlib.h>
#include <string.h>

/* Returns the size of a line that is not plain. */
static size_t line_size(const uint8_t *line, size_t left)
{
	const uint8_t *end = memchr(line, '\n', left);
	return end ? (size_t)(end - line) + 1 : left;
}

/* Makes an entry of a line; the bytes before `ended` are whole lines. Returns what is behind it. */
static const uint8_t *take_line(struct tracelog_parsed_block *parsed, struct tracelog_fast_line *entry,
                                const uint8_t *line, const uint8_t *ended)
{
	const struct tracelog_line_block *block = &parsed->block;
	const uint8_t *next = line < ended ? tracelog_fast_decode(&parsed->lists, entry, line) : NULL;
	if (!next) {
		entry->kind = TRACELOG_OTHER_LINE;
		next = line + line_size(line, block->size - (size_t)(line - block->bytes));
	}
	entry->at = (uint32_t)(line - block->bytes);
	entry->size = (uint32_t)(next - line);
	return next;
}

/* Takes the lines up to `end`. */
static void take_lines(struct tracelog_parsed_block *parsed, const uint8_t *line, const uint8_t *ended,
                       const uint8_t *end)
{
	while (line < end && !parsed->failed) {
		size_t count = parsed->entry_count;
		parsed->failed = count == parsed->entry_room &&
		                 !tw_grow(&parsed->entries, &parsed->entry_room, count + 1, sizeof *parsed->entries);
		if (parsed->failed)
			break;
		line = take_line(parsed, &parsed->entries[count], line, ended);
		parsed->failed = parsed->lists.failed;
		parsed->entry_count++;
	}
}

void tracelog_parse_block(struct tracelog_parsed_block *parsed)
{
	const uint8_t *line = parsed->block.bytes, *ended;
	size_t size = parsed->block.size;
	parsed->lists.frame_count = parsed->lists.allocation_count = 0;
	parsed->entry_count = 0;
	if (!size)
		return;
	const uint8_t *last = parsed->block.single ? NULL : memrchr(line, '\n', size);
	ended = last && tw_loop_is_on(TW_LOOP_TRACELOG_LINES) ? last + 1 : line;
	take_lines(parsed, line, ended, line + size);
}

void tracelog_parsed_block_free(struct tracelog_parsed_block *parsed)
{
	tracelog_line_block_free(&parsed->block);
	free(parsed->entries);
	tracelog_fast_lists_free(&parsed->lists);
	*parsed = (struct tracelog_parsed_block){0};
}
