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

void tracelog_digest(struct tracelog_digest *digest)
{
	const uint8_t *last = digest->size ? memrchr(digest->bytes, '\n', digest->size) : NULL;
	size_t ended = last ? (size_t)(last - digest->bytes) + 1 : 0;
	struct tracelog_lists *lists = &digest->lists;
	lists->frame_count = lists->allocation_count = 0;
	size_t at = 0, count = 0;
	for (; at < digest->size && !digest->failed; count++) {
		const uint8_t *line = digest->bytes + at;
		if (count == digest->entry_room &&
		    !tw_grow(&digest->entries, &digest->entry_room, count + 1, sizeof *digest->entries)) {
			digest->failed = true;
			break;
		}
		struct tracelog_entry *entry = &digest->entries[count];
		const uint8_t *next = at < ended ? tracelog_take_plain(lists, entry, line) : NULL;
		if (!next)
			entry->plain = TRACELOG_LINE;
		entry->at = (uint32_t)at;
		entry->size = (uint32_t)(next ? (size_t)(next - line) : line_size(line, digest->size - at));
		digest->failed = lists->failed;
		at += entry->size;
	}
	digest->entry_count = count;
}

void tracelog_digest_free(struct tracelog_digest *digest)
{
	free(digest->bytes);
	free(digest->entries);
	tracelog_lists_free(&digest->lists);
	*digest = (struct tracelog_digest){0};
}
