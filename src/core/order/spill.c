/* spill.c - rows in a temporary file.
 *
 * A block is its head, rows, arguments, and what these lead to: there they tell places instead of pointers. A row that
 * is more than a block holds is one of its own, as long as it has to be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order/spill.h"

#include "base/bytes/temporary.h"
#include "base/bytes/whole.h"
#include "base/memory/memory.h"
#include "core/order/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct block_head {
	uint32_t rows, arguments;
	uint64_t size; /* of the block */
};

_Static_assert(sizeof(struct block_head) == TW_SPILL_HEAD, "the head of a block");

enum {
	INSIDE = TW_SPILL_BLOCK - TW_SPILL_HEAD,
	ROWS = INSIDE / sizeof(struct tw_event),
	ARGUMENTS = INSIDE / sizeof(struct tw_argument)
};

_Static_assert(sizeof(struct tw_event) + UINT8_MAX * sizeof(struct tw_argument) <= INSIDE,
               "a block holds all of a row but its bytes");

int tw_spill_open(struct tw_spill *spill, const char *directory)
{
	*spill = (struct tw_spill){.fd = tw_temporary_open(directory)};
	if (spill->fd < 0)
		return errno;
	spill->events = malloc(ROWS * sizeof *spill->events);
	spill->arguments = malloc(ARGUMENTS * sizeof *spill->arguments);
	spill->bytes = malloc(INSIDE);
	spill->block = malloc(TW_SPILL_BLOCK);
	if (spill->events && spill->arguments && spill->bytes && spill->block)
		return 0;
	tw_spill_free(spill);
	return ENOMEM;
}

void tw_spill_free(struct tw_spill *spill)
{
	if (spill->fd >= 0)
		close(spill->fd);
	free(spill->events);
	free(spill->arguments);
	free(spill->bytes);
	free(spill->block);
	*spill = (struct tw_spill){.fd = -1};
}

/* ---- Writing. ---- */

static uint64_t bytes_of(const struct tw_argument *arguments, size_t count)
{
	uint64_t size = 0;
	for (size_t i = 0; i < count; i++)
		size += tw_has_bytes(&arguments[i]) ? arguments[i].size : 0;
	return size;
}

static int append(struct tw_spill *spill, const void *bytes, uint64_t size)
{
	const int error = tw_write_whole_at(spill->fd, bytes, size, spill->size);
	spill->size += error ? 0 : size;
	return error;
}

static size_t place(uint8_t *to, const void *bytes, size_t size)
{
	if (size)
		memcpy(to, bytes, size);
	return size;
}

/* Writes what has been gathered as a block, with `bytes` of texts and payloads in all. */
static int write_block(struct tw_spill *spill, uint64_t bytes)
{
	size_t rows = spill->event_count * sizeof *spill->events;
	size_t arguments = spill->argument_count * sizeof *spill->arguments;
	const struct block_head head = {(uint32_t)spill->event_count, (uint32_t)spill->argument_count,
	                                sizeof head + rows + arguments + bytes};
	size_t used = place(spill->block, &head, sizeof head);
	used += place(spill->block + used, spill->events, rows);
	used += place(spill->block + used, spill->arguments, arguments);
	used += place(spill->block + used, spill->bytes, spill->byte_count);
	spill->event_count = spill->argument_count = spill->byte_count = 0;
	return append(spill, spill->block, used);
}

int tw_spill_flush(struct tw_spill *spill)
{
	return spill->event_count ? write_block(spill, spill->byte_count) : 0;
}

static bool fits(const struct tw_spill *spill, size_t arguments, uint64_t bytes)
{
	uint64_t used = (spill->event_count + 1) * sizeof *spill->events +
	                (spill->argument_count + arguments) * sizeof *spill->arguments + spill->byte_count;
	return used <= INSIDE && bytes <= INSIDE - used;
}

/* A row and its arguments, which lead to places from `at` on. */
static void add(struct tw_spill *spill, const struct tw_event *row, const struct tw_argument *arguments, uint64_t at)
{
	struct tw_argument *to = spill->arguments + spill->argument_count;
	struct tw_event *event = &spill->events[spill->event_count++];
	*event = *row;
	event->first_argument = (uint16_t)spill->argument_count;
	for (size_t i = 0; i < row->argument_count; i++) {
		to[i] = arguments[i];
		if (!tw_has_bytes(&arguments[i]))
			continue;
		to[i].value.u = at;
		at += arguments[i].size;
	}
	spill->argument_count += row->argument_count;
}

static int put_large(struct tw_spill *spill, const struct tw_event *row, const struct tw_argument *arguments,
                     uint64_t bytes)
{
	add(spill, row, arguments, 0);
	int error = write_block(spill, bytes);
	for (size_t i = 0; i < row->argument_count && !error; i++)
		if (tw_has_bytes(&arguments[i]))
			error = append(spill, arguments[i].value.bytes, arguments[i].size);
	return error;
}

int tw_spill_put(struct tw_spill *spill, const struct tw_event *row, const struct tw_argument *arguments)
{
	uint64_t bytes = bytes_of(arguments, row->argument_count);
	int error = fits(spill, row->argument_count, bytes) ? 0 : tw_spill_flush(spill);
	if (error)
		return error;
	if (!fits(spill, row->argument_count, bytes))
		return put_large(spill, row, arguments, bytes);
	add(spill, row, arguments, spill->byte_count);
	for (size_t i = 0; i < row->argument_count; i++) {
		if (!tw_has_bytes(&arguments[i]) || arguments[i].size == 0)
			continue;
		memcpy(spill->bytes + spill->byte_count, arguments[i].value.bytes, (size_t)arguments[i].size);
		spill->byte_count += (size_t)arguments[i].size;
	}
	return 0;
}

/* ---- Reading. ---- */

int tw_spill_cursor_open(struct tw_spill_cursor *cursor, const struct tw_spill *spill, const struct tw_spill_run *run)
{
	*cursor = (struct tw_spill_cursor){.fd = spill->fd, .left = *run, .block = malloc(TW_SPILL_BLOCK)};
	return cursor->block ? 0 : ENOMEM;
}

void tw_spill_cursor_close(struct tw_spill_cursor *cursor)
{
	free(cursor->block);
	*cursor = (struct tw_spill_cursor){.fd = -1};
}

static int read_all(int fd, void *bytes, size_t size, uint64_t offset)
{
	uint8_t *to = bytes;
	while (size) {
		ssize_t n = pread(fd, to, size, (off_t)offset);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n == 0)
			return EIO; /* shorter than it was written */
		if (n < 0)
			continue;
		to += n;
		size -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* From places to pointers. */
static void point(struct tw_argument *arguments, size_t count, const uint8_t *bytes)
{
	for (size_t i = 0; i < count; i++)
		if (tw_has_bytes(&arguments[i]))
			arguments[i].value.bytes = bytes + arguments[i].value.u;
}

/* Reads the next block, or as much of it as the room holds. */
static int read_block(struct tw_spill_cursor *cursor, struct block_head *head)
{
	uint64_t left = cursor->left.end - cursor->left.begin;
	int error = read_all(cursor->fd, cursor->block, left < TW_SPILL_BLOCK ? (size_t)left : TW_SPILL_BLOCK,
	                     cursor->left.begin);
	if (!error)
		memcpy(head, cursor->block, sizeof *head);
	return error;
}

int tw_spill_next(struct tw_spill_cursor *cursor, struct tw_batch *batch)
{
	struct block_head head = {0};
	*batch = (struct tw_batch){0};
	cursor->bytes = 0;
	int error = cursor->left.begin < cursor->left.end ? read_block(cursor, &head) : 0;
	if (error || head.rows == 0)
		return error;
	size_t rows = sizeof head, arguments = rows + head.rows * sizeof(struct tw_event);
	size_t bytes = arguments + head.arguments * sizeof(struct tw_argument);
	struct tw_argument *first = (struct tw_argument *)(cursor->block + arguments);
	if (head.size > TW_SPILL_BLOCK) {
		cursor->bytes = cursor->left.begin + bytes;
		cursor->size = (size_t)(head.size - bytes);
	} else {
		point(first, head.arguments, cursor->block + bytes);
	}
	cursor->left.begin += head.size;
	*batch = (struct tw_batch){(const struct tw_event *)(cursor->block + rows), head.rows, first};
	return 0;
}

int tw_spill_fetch(const struct tw_spill_cursor *cursor, uint8_t **bytes, size_t *room, struct tw_argument *arguments,
                   size_t count)
{
	if (!tw_extend(bytes, room, cursor->size, 1))
		return ENOMEM;
	int error = read_all(cursor->fd, *bytes, cursor->size, cursor->bytes);
	if (!error)
		point(arguments, count, *bytes);
	return error;
}
