/* runs.c - rows in a temporary file.
 *
 * A block is its head, rows, arguments, and what these lead to: there they tell places instead of pointers. A row that
 * is more than a block holds is one of its own, as long as it has to be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order/runs.h"

#include "base/bytes/temporary.h"
#include "base/memory/memory.h"
#include "core/order/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct head {
	uint32_t rows, arguments;
	uint64_t size; /* of the block */
};

_Static_assert(sizeof(struct head) == TW_RUN_HEAD, "the head of a block");

enum {
	INSIDE = TW_RUN_BLOCK - TW_RUN_HEAD,
	ROWS = INSIDE / sizeof(struct tw_event),
	ARGUMENTS = INSIDE / sizeof(struct tw_argument)
};

_Static_assert(sizeof(struct tw_event) + UINT8_MAX * sizeof(struct tw_argument) <= INSIDE,
               "a block holds all of a row but its bytes");

int tw_runs_open(struct tw_runs *runs, const char *directory)
{
	*runs = (struct tw_runs){.fd = tw_temporary_open(directory)};
	if (runs->fd < 0)
		return errno;
	runs->events = malloc(ROWS * sizeof *runs->events);
	runs->arguments = malloc(ARGUMENTS * sizeof *runs->arguments);
	runs->bytes = malloc(INSIDE);
	runs->block = malloc(TW_RUN_BLOCK);
	if (runs->events && runs->arguments && runs->bytes && runs->block)
		return 0;
	tw_runs_free(runs);
	return ENOMEM;
}

void tw_runs_free(struct tw_runs *runs)
{
	if (runs->fd >= 0)
		close(runs->fd);
	free(runs->events);
	free(runs->arguments);
	free(runs->bytes);
	free(runs->block);
	*runs = (struct tw_runs){.fd = -1};
}

/* ---- Writing. ---- */

static uint64_t bytes_of(const struct tw_argument *arguments, size_t count)
{
	uint64_t size = 0;
	for (size_t i = 0; i < count; i++)
		size += tw_has_bytes(&arguments[i]) ? arguments[i].size : 0;
	return size;
}

static int write_all(struct tw_runs *runs, const void *bytes, uint64_t size)
{
	const uint8_t *from = bytes;
	while (size) {
		ssize_t n = pwrite(runs->fd, from, size, (off_t)runs->size);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n <= 0)
			continue;
		from += n;
		size -= (uint64_t)n;
		runs->size += (uint64_t)n;
	}
	return 0;
}

static size_t place(uint8_t *to, const void *bytes, size_t size)
{
	if (size)
		memcpy(to, bytes, size);
	return size;
}

/* Writes what has been gathered as a block, with `bytes` of texts and payloads in all. */
static int write_block(struct tw_runs *runs, uint64_t bytes)
{
	size_t rows = runs->event_count * sizeof *runs->events;
	size_t arguments = runs->argument_count * sizeof *runs->arguments;
	const struct head head = {(uint32_t)runs->event_count, (uint32_t)runs->argument_count,
	                          sizeof head + rows + arguments + bytes};
	size_t used = place(runs->block, &head, sizeof head);
	used += place(runs->block + used, runs->events, rows);
	used += place(runs->block + used, runs->arguments, arguments);
	used += place(runs->block + used, runs->bytes, runs->byte_count);
	runs->event_count = runs->argument_count = runs->byte_count = 0;
	return write_all(runs, runs->block, used);
}

int tw_runs_flush(struct tw_runs *runs)
{
	return runs->event_count ? write_block(runs, runs->byte_count) : 0;
}

static bool fits(const struct tw_runs *runs, size_t arguments, uint64_t bytes)
{
	uint64_t used = (runs->event_count + 1) * sizeof *runs->events +
	                (runs->argument_count + arguments) * sizeof *runs->arguments + runs->byte_count;
	return used <= INSIDE && bytes <= INSIDE - used;
}

/* A row and its arguments, which lead to places from `at` on. */
static void add(struct tw_runs *runs, const struct tw_event *row, const struct tw_argument *arguments, uint64_t at)
{
	struct tw_argument *to = runs->arguments + runs->argument_count;
	struct tw_event *event = &runs->events[runs->event_count++];
	*event = *row;
	event->first_argument = (uint16_t)runs->argument_count;
	for (size_t i = 0; i < row->argument_count; i++) {
		to[i] = arguments[i];
		if (!tw_has_bytes(&arguments[i]))
			continue;
		to[i].value.u = at;
		at += arguments[i].size;
	}
	runs->argument_count += row->argument_count;
}

static int put_large(struct tw_runs *runs, const struct tw_event *row, const struct tw_argument *arguments,
                     uint64_t bytes)
{
	add(runs, row, arguments, 0);
	int error = write_block(runs, bytes);
	for (size_t i = 0; i < row->argument_count && !error; i++)
		if (tw_has_bytes(&arguments[i]))
			error = write_all(runs, arguments[i].value.bytes, arguments[i].size);
	return error;
}

int tw_runs_put(struct tw_runs *runs, const struct tw_event *row, const struct tw_argument *arguments)
{
	uint64_t bytes = bytes_of(arguments, row->argument_count);
	int error = fits(runs, row->argument_count, bytes) ? 0 : tw_runs_flush(runs);
	if (error)
		return error;
	if (!fits(runs, row->argument_count, bytes))
		return put_large(runs, row, arguments, bytes);
	add(runs, row, arguments, runs->byte_count);
	for (size_t i = 0; i < row->argument_count; i++) {
		if (!tw_has_bytes(&arguments[i]) || arguments[i].size == 0)
			continue;
		memcpy(runs->bytes + runs->byte_count, arguments[i].value.bytes, (size_t)arguments[i].size);
		runs->byte_count += (size_t)arguments[i].size;
	}
	return 0;
}

/* ---- Reading. ---- */

int tw_run_open(struct tw_run_cursor *cursor, const struct tw_runs *runs, const struct tw_run *run)
{
	*cursor = (struct tw_run_cursor){.fd = runs->fd, .left = *run, .block = malloc(TW_RUN_BLOCK)};
	return cursor->block ? 0 : ENOMEM;
}

void tw_run_close(struct tw_run_cursor *cursor)
{
	free(cursor->block);
	*cursor = (struct tw_run_cursor){.fd = -1};
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
static int read_block(struct tw_run_cursor *cursor, struct head *head)
{
	uint64_t left = cursor->left.end - cursor->left.begin;
	int error =
	    read_all(cursor->fd, cursor->block, left < TW_RUN_BLOCK ? (size_t)left : TW_RUN_BLOCK, cursor->left.begin);
	if (!error)
		memcpy(head, cursor->block, sizeof *head);
	return error;
}

int tw_run_next(struct tw_run_cursor *cursor, struct tw_batch *batch)
{
	struct head head = {0};
	*batch = (struct tw_batch){0};
	cursor->bytes = 0;
	int error = cursor->left.begin < cursor->left.end ? read_block(cursor, &head) : 0;
	if (error || head.rows == 0)
		return error;
	size_t rows = sizeof head, arguments = rows + head.rows * sizeof(struct tw_event);
	size_t bytes = arguments + head.arguments * sizeof(struct tw_argument);
	struct tw_argument *first = (struct tw_argument *)(cursor->block + arguments);
	if (head.size > TW_RUN_BLOCK) {
		cursor->bytes = cursor->left.begin + bytes;
		cursor->size = (size_t)(head.size - bytes);
	} else {
		point(first, head.arguments, cursor->block + bytes);
	}
	cursor->left.begin += head.size;
	*batch = (struct tw_batch){(const struct tw_event *)(cursor->block + rows), head.rows, first};
	return 0;
}

int tw_run_fetch(const struct tw_run_cursor *cursor, uint8_t **bytes, size_t *room, struct tw_argument *arguments,
                 size_t count)
{
	if (!tw_extend(bytes, room, cursor->size, 1))
		return ENOMEM;
	int error = read_all(cursor->fd, *bytes, cursor->size, cursor->bytes);
	if (!error)
		point(arguments, count, *bytes);
	return error;
}
