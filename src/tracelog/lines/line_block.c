/* line_block.c - a log in blocks of whole lines, which do not need each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/lines/line_block.h"

#include "base/memory/memory.h"

#include <trackway/status.h>

#include <stdlib.h>
#include <string.h>

static bool keep_bytes(struct tracelog_line_block *block, const uint8_t *bytes, size_t size)
{
	if (!tw_grow(&block->bytes, &block->room, size + TRACELOG_SLACK, 1))
		return false;
	memcpy(block->bytes, bytes, size);
	memset(block->bytes + size, 0, TRACELOG_SLACK);
	block->size = size;
	return true;
}

/* Takes a line that is longer than what is held at once, or the last, which may have no end. What is read ahead for
 * it is not for the lines behind it. */
static int read_line(struct tw_text_lines *lines, struct tracelog_line_block *block)
{
	struct tw_text_line line;
	size_t chunk = lines->window.chunk;
	int status = tw_text_lines_next(lines, &line);
	lines->window.chunk = chunk;
	if (status <= 0)
		return status;
	block->offset = line.offset;
	block->single = true;
	block->cut = line.cut;
	return keep_bytes(block, line.bytes, line.size) ? 1 : TW_ERR_MEMORY;
}

/* Finds as many whole lines as the window can show at once; *size is 0 where not even one ends there. */
static int find_lines(struct tw_text_lines *lines, const uint8_t **bytes, size_t *size)
{
	size_t have = 0, looked;
	const uint8_t *end;
	do {
		looked = have;
		int status = tw_window_view(&lines->window, lines->next, looked + 1, bytes, &have);
		if (status < 0)
			return status;
		have = have < TW_WINDOW_CHUNK ? have : TW_WINDOW_CHUNK;
		end = have > looked ? memrchr(*bytes + looked, '\n', have - looked) : NULL;
	} while (!end && have > looked && have < TW_WINDOW_CHUNK);
	*size = end ? (size_t)(end - *bytes) + 1 : 0;
	return 0;
}

/* The window's buffer becomes the block's, so that nothing but the beginning of a line is copied, where that is
 * less than the lines themselves. */
static bool keep_lines(struct tw_window *window, struct tracelog_line_block *block, const uint8_t *bytes, size_t size)
{
	if (bytes != window->bytes || window->used - size > size)
		return keep_bytes(block, bytes, size);
	block->size = size;
	return tw_window_exchange(window, size, &block->bytes, &block->room) == 0 &&
	       tw_grow(&block->bytes, &block->room, size + TRACELOG_SLACK, 1);
}

int tracelog_line_block_read(struct tw_text_lines *lines, struct tracelog_line_block *block)
{
	const uint8_t *bytes;
	size_t size = 0;
	int status = lines->in_long_line ? 0 : find_lines(lines, &bytes, &size);
	if (status < 0)
		return status;
	if (!size)
		return read_line(lines, block);
	block->single = block->cut = false;
	block->offset = lines->next;
	lines->next += size;
	return keep_lines(&lines->window, block, bytes, size) ? 1 : TW_ERR_MEMORY;
}

void tracelog_line_block_free(struct tracelog_line_block *block)
{
	free(block->bytes);
	*block = (struct tracelog_line_block){0};
}
