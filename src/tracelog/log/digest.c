/* digest.c - a stretch of a log with the numbers of its plain lines, found without a look at what is before it.
 *
 * This, in another thread, is what lets `stat` keep up with the disk (bench/). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/digest.h"

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
static const uint8_t *take_line(struct tracelog_digest *digest, struct tracelog_entry *entry, const uint8_t *line,
                                const uint8_t *ended)
{
	const struct tracelog_stretch *stretch = &digest->stretch;
	const uint8_t *next = line < ended ? tracelog_take_plain(&digest->lists, entry, line) : NULL;
	if (!next) {
		entry->plain = TRACELOG_LINE;
		next = line + line_size(line, stretch->size - (size_t)(line - stretch->bytes));
	}
	entry->at = (uint32_t)(line - stretch->bytes);
	entry->size = (uint32_t)(next - line);
	entry->line = digest->lines++;
	return next;
}

/* ---- Lines that nobody wants. ---- */

enum { THREADS = 256 };

/* What has been told to the one who takes the entries. */
struct told {
	uint32_t ms;
	unsigned times;            /* how many plain lines in a row had that time */
	uint64_t threads[THREADS]; /* by what a division leaves of their iids: iid plus 1 */
};

/* Whether an entry says nothing new, of its thread or the time. A time holds from its second line on
 * (tracelog_unwrap()); the third changes nothing. */
static inline bool is_told(struct told *told, const struct tracelog_entry *entry)
{
	enum { HOLDS = 2 };
	if (entry->plain == TRACELOG_LINE) {
		told->times = 0;
		return false;
	}
	told->times = told->times && told->ms == entry->ms ? told->times + 1 : 1;
	told->ms = entry->ms;
	if (entry->plain == TRACELOG_PROCESS_CPU)
		return told->times > HOLDS;
	uint64_t *thread = &told->threads[entry->thread % THREADS], is = (uint64_t)entry->thread + 1;
	bool known = *thread == is;
	*thread = is;
	return known && told->times > HOLDS;
}

/* ---- The stretch. ---- */

/* Takes the lines up to `end`. */
static void take_lines(struct tracelog_digest *digest, const uint8_t *line, const uint8_t *ended, const uint8_t *end)
{
	struct told told = {0};
	size_t count = 0;
	while (line < end && !digest->failed) {
		digest->failed = count == digest->entry_room &&
		                 !tw_grow(&digest->entries, &digest->entry_room, count + 1, sizeof *digest->entries);
		if (digest->failed)
			break;
		struct tracelog_entry *entry = &digest->entries[count];
		line = take_line(digest, entry, line, ended);
		digest->failed = digest->lists.failed;
		bool drop = digest->unwanted && is_told(&told, entry) && digest->unwanted >> entry->plain & 1;
		if (drop && entry->plain == TRACELOG_ALLOCATION)
			digest->lists.allocation_count = entry->first;
		count += !drop;
	}
	digest->entry_count = count;
}

void tracelog_digest(struct tracelog_digest *digest)
{
	const uint8_t *line = digest->stretch.bytes, *ended;
	size_t size = digest->stretch.size;
	digest->lists.frame_count = digest->lists.allocation_count = 0;
	digest->entry_count = 0;
	digest->lines = 0;
	if (!size)
		return;
	const uint8_t *last = digest->stretch.single ? NULL : memrchr(line, '\n', size);
	ended = last ? last + 1 : line;
	take_lines(digest, line, ended, line + size);
}

void tracelog_digest_free(struct tracelog_digest *digest)
{
	tracelog_stretch_free(&digest->stretch);
	free(digest->entries);
	tracelog_lists_free(&digest->lists);
	*digest = (struct tracelog_digest){0};
}
