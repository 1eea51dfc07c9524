/* digest.c - a stretch of a log with the numbers of its plain lines, found without a look at what is before it.
 *
 * This, in another thread, is what lets `stat` keep up with the disk (bench/). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The size of a line that is not plain. */
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
	return next;
}

void tracelog_digest(struct tracelog_digest *digest)
{
	const uint8_t *line = digest->stretch.bytes, *ended = line, *end = line;
	struct tracelog_lists *lists = &digest->lists;
	size_t size = digest->stretch.size, count = 0;
	if (size) {
		const uint8_t *last = digest->stretch.single ? NULL : memrchr(line, '\n', size);
		ended = last ? last + 1 : line;
		end = line + size;
	}
	lists->frame_count = lists->allocation_count = 0;
	for (; line < end && !digest->failed; count++) {
		digest->failed = count == digest->entry_room &&
		                 !tw_grow(&digest->entries, &digest->entry_room, count + 1, sizeof *digest->entries);
		if (digest->failed)
			break;
		line = take_line(digest, &digest->entries[count], line, ended);
		digest->failed = lists->failed;
	}
	digest->entry_count = count;
}

void tracelog_digest_free(struct tracelog_digest *digest)
{
	tracelog_stretch_free(&digest->stretch);
	free(digest->entries);
	tracelog_lists_free(&digest->lists);
	*digest = (struct tracelog_digest){0};
}
