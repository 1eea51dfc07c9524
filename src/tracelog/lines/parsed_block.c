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
	entry->line = parsed->lines++;
	return next;
}

/* ---- Lines that nobody wants. ---- */

enum { THREADS = 256 };

/* The thread and the time that the entries have told. */
struct delivered_lines {
	uint32_t ms;
	unsigned times;            /* how many plain lines in a row had that time */
	uint64_t threads[THREADS]; /* by what a division leaves of their iids: iid plus 1 */
};

/* Whether an entry says nothing new, of its thread or the time. A time holds from its second line on
 * (tracelog_unwrap()); the third changes nothing. */
static inline bool is_told(struct delivered_lines *told, const struct tracelog_fast_line *entry)
{
	enum { HOLDS = 2 };
	if (entry->kind == TRACELOG_OTHER_LINE) {
		told->times = 0;
		return false;
	}
	told->times = told->times && told->ms == entry->ms ? told->times + 1 : 1;
	told->ms = entry->ms;
	if (entry->kind == TRACELOG_PROCESS_CPU)
		return told->times > HOLDS;
	uint64_t *thread = &told->threads[entry->thread % THREADS], is = (uint64_t)entry->thread + 1;
	bool known = *thread == is;
	*thread = is;
	return known && told->times > HOLDS;
}

/* ---- The block. ---- */

/* Takes the lines up to `end`. */
static void take_lines(struct tracelog_parsed_block *parsed, const uint8_t *line, const uint8_t *ended,
                       const uint8_t *end)
{
	struct delivered_lines told = {0};
	size_t count = 0;
	while (line < end && !parsed->failed) {
		parsed->failed = count == parsed->entry_room &&
		                 !tw_grow(&parsed->entries, &parsed->entry_room, count + 1, sizeof *parsed->entries);
		if (parsed->failed)
			break;
		struct tracelog_fast_line *entry = &parsed->entries[count];
		line = take_line(parsed, entry, line, ended);
		parsed->failed = parsed->lists.failed;
		bool drop = parsed->unwanted && is_told(&told, entry) && parsed->unwanted >> entry->kind & 1;
		if (drop && entry->kind == TRACELOG_ALLOCATION)
			parsed->lists.allocation_count = entry->first;
		count += !drop;
	}
	parsed->entry_count = count;
}

void tracelog_parse_block(struct tracelog_parsed_block *parsed)
{
	const uint8_t *line = parsed->block.bytes, *ended;
	size_t size = parsed->block.size;
	parsed->lists.frame_count = parsed->lists.allocation_count = 0;
	parsed->entry_count = 0;
	parsed->lines = 0;
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
