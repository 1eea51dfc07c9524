/* spool.c - texts that are written piece by piece in any order.
 *
 * A block is the number of the block that follows it in its text, how many bytes of it are used, and these. It lies in
 * the temporary file, in the place of its number, or is kept in memory as it is. The number of the next block is given
 * out when the one before is put away. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/text/spool.h"

#include "base/bytes/bytes.h"
#include "base/bytes/temporary.h"
#include "base/bytes/whole.h"
#include "base/memory/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	HEAD = SPOOL_BLOCK - SPOOL_PIECE,
	BESIDE = HEAD + 16, /* bytes that an end takes beside its room */
	FIRST_ROOM = 64,    /* hundreds of thousands of threads may have a record or two each */
	CAPACITY = SPOOL_PIECE
};

static void fail(struct tw_spool *spool, int error)
{
	if (!spool->error)
		spool->error = error ? error : EIO;
}

/* ---- Blocks. ---- */

static bool read_at(struct tw_spool *spool, uint8_t *bytes, size_t size, uint64_t offset)
{
	while (size) {
		ssize_t n = pread(spool->fd, bytes, size, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fail(spool, n ? errno : EIO);
			return false;
		}
		bytes += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return true;
}

static bool have_file(struct tw_spool *spool)
{
	if (spool->fd >= 0)
		return true;
	spool->fd = tw_temporary_open(spool->directory);
	if (spool->fd < 0)
		fail(spool, errno);
	return spool->fd >= 0;
}

/* Returns the memory of a text's end as a block, head included; NULL: there is none yet. */
static uint8_t *block_of(const struct tw_spool_text *text)
{
	return text->bytes ? text->bytes - HEAD : NULL;
}

/* Makes a block of the end of a text. Returns its number. */
static uint64_t end_block(struct tw_spool *spool, struct tw_spool_text *text)
{
	uint8_t *block = block_of(text);
	if (text->blocks++ == 0)
		text->first = text->next = spool->block_count++;
	uint64_t number = text->next;
	text->next = spool->block_count++;
	tw_store64(block, text->next, false);
	tw_store64(block + 8, text->used, false);
	text->used = 0;
	return number;
}

/* Moves the end of a text to the file: in one go, because pages that are written in part are cleared first. */
static void flush_text(struct tw_spool *spool, struct tw_spool_text *text)
{
	if (!text->used || !have_file(spool))
		return;
	size_t size = HEAD + text->used;
	const int error = tw_write_whole_at(spool->fd, block_of(text), size, end_block(spool, text) * SPOOL_BLOCK);
	if (error)
		fail(spool, error);
}

/* Keeps the end of a text, which is a block, where there is room for it and a new one. */
static bool keep_block(struct tw_spool *spool, struct tw_spool_text *text)
{
	if (spool->kept_bytes + SPOOL_BLOCK > spool->keep_limit ||
	    !tw_grow(&spool->kept, &spool->kept_room, spool->block_count + 2, sizeof *spool->kept))
		return false;
	uint8_t *fresh = malloc(SPOOL_BLOCK);
	if (!fresh)
		return false;
	uint8_t *block = block_of(text);
	spool->kept[end_block(spool, text)] = block;
	spool->kept_bytes += SPOOL_BLOCK;
	text->bytes = fresh + HEAD;
	return true;
}

/* ---- Ends. ---- */

static void flush_all(struct tw_spool *spool)
{
	for (size_t i = 0; i < spool->text_count; i++) {
		struct tw_spool_text *text = &spool->texts[i];
		flush_text(spool, text);
		free(block_of(text));
		text->bytes = NULL;
		text->room = 0;
	}
	spool->memory = 0;
}

/* Makes the end of a text longer, up to a block; false where it is one already. */
static bool lengthen(struct tw_spool *spool, struct tw_spool_text *text)
{
	size_t limit = spool->memory_limit ? spool->memory_limit : SPOOL_MEMORY;
	size_t room = text->room ? text->room * 2 : FIRST_ROOM;
	room = room < CAPACITY ? room : CAPACITY;
	if (text->room == CAPACITY)
		return false;
	if (spool->memory + BESIDE + room - text->room > limit)
		flush_all(spool);
	uint8_t *block = realloc(block_of(text), HEAD + room);
	if (!block) {
		fail(spool, ENOMEM);
		return false;
	}
	spool->memory += room - text->room + (text->room ? 0 : BESIDE);
	text->bytes = block + HEAD;
	text->room = room;
	return true;
}

static bool add_text(struct tw_spool *spool, size_t number)
{
	if (spool->text_count == UINT32_MAX ||
	    !tw_grow(&spool->places, &spool->place_room, number + 1, sizeof *spool->places) ||
	    !tw_grow(&spool->texts, &spool->text_room, spool->text_count + 1, sizeof *spool->texts))
		return false;
	spool->places[number] = (uint32_t)++spool->text_count;
	return true;
}

uint8_t *tw_spool_make_room(struct tw_spool *spool, size_t number, size_t size)
{
	assert(size <= SPOOL_PIECE);
	if (!tw_spool_text(spool, number) && !add_text(spool, number))
		fail(spool, ENOMEM);
	while (!spool->error) {
		struct tw_spool_text *text = tw_spool_text(spool, number);
		if (text->room - text->used >= size)
			return text->bytes + text->used;
		if (!lengthen(spool, text) && !spool->error && !keep_block(spool, text))
			flush_text(spool, text);
	}
	return NULL;
}

void tw_spool_add(struct tw_spool *spool, size_t number, const void *bytes, size_t size)
{
	const uint8_t *from = bytes;
	for (size_t part; size; from += part, size -= part) {
		part = size < SPOOL_PIECE ? size : SPOOL_PIECE;
		uint8_t *room = tw_spool_room(spool, number, part);
		if (!room)
			return;
		memcpy(room, from, part);
		tw_spool_took(spool, number, part);
	}
}

bool tw_spool_has(const struct tw_spool *spool, size_t number)
{
	const struct tw_spool_text *text = tw_spool_text(spool, number);
	return text && (text->blocks || text->used);
}

/* Finds the next block that was put away, and reads the head of one in the file. */
static bool find_block(struct tw_spool *spool, struct tw_spool_cursor *cursor, struct tw_spool_part *part)
{
	const uint8_t *kept = cursor->at < spool->kept_room ? spool->kept[cursor->at] : NULL;
	uint8_t read[HEAD];
	uint64_t offset = cursor->at * SPOOL_BLOCK;
	if (!kept && !read_at(spool, read, HEAD, offset))
		return false;
	const uint8_t *head = kept ? kept : read;
	cursor->at = tw_load64(head, false);
	cursor->done++;
	*part = (struct tw_spool_part){.bytes = kept ? kept + HEAD : NULL,
	                               .size = (size_t)tw_load64(head + 8, false),
	                               .offset = offset + HEAD};
	return part->size <= CAPACITY;
}

bool tw_spool_find(struct tw_spool *spool, struct tw_spool_cursor *cursor, struct tw_spool_part *part)
{
	if (cursor->ended || !tw_spool_has(spool, cursor->text) || spool->error)
		return false;
	const struct tw_spool_text *text = tw_spool_text(spool, cursor->text);
	if (!cursor->done)
		cursor->at = text->first;
	if (cursor->done < text->blocks)
		return find_block(spool, cursor, part);
	cursor->ended = true;
	*part = (struct tw_spool_part){.bytes = text->bytes, .size = text->used};
	return text->used > 0;
}

const uint8_t *tw_spool_load(struct tw_spool *spool, const struct tw_spool_part *part, uint8_t block[SPOOL_BLOCK])
{
	if (part->bytes)
		return part->bytes;
	return read_at(spool, block, part->size, part->offset) ? block : NULL;
}

bool tw_spool_next(struct tw_spool *spool, struct tw_spool_cursor *cursor, uint8_t block[SPOOL_BLOCK],
                   const uint8_t **bytes, size_t *size)
{
	struct tw_spool_part part;
	if (!tw_spool_find(spool, cursor, &part))
		return false;
	*size = part.size;
	return (*bytes = tw_spool_load(spool, &part, block)) != NULL;
}

void tw_spool_put(struct tw_spool *spool, size_t number, struct tw_output *out)
{
	struct tw_spool_cursor cursor = {.text = number};
	uint8_t block[SPOOL_BLOCK];
	const uint8_t *bytes;
	size_t size;
	while (tw_spool_next(spool, &cursor, block, &bytes, &size))
		tw_put(out, bytes, size);
}

void tw_spool_free(struct tw_spool *spool)
{
	for (size_t i = 0; i < spool->text_count; i++)
		free(block_of(&spool->texts[i]));
	for (size_t i = 0; i < spool->kept_room; i++)
		free(spool->kept[i]);
	free(spool->kept);
	free(spool->texts);
	free(spool->places);
	if (spool->fd >= 0)
		close(spool->fd);
	*spool = (struct tw_spool){.fd = -1};
}
