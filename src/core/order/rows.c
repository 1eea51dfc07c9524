/* rows.c - events kept for later, with their arguments: a queue and a stack in one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order/rows.h"

#include "base/memory/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are gone stay in memory until they are so many, and half of all: moving the rest then costs little a
 * row. */
enum { GONE_ROWS = 64 };

size_t tw_event_rows_size(const struct tw_event_rows *rows)
{
	if (rows->head == rows->count)
		return 0;
	const struct tw_row *first = &rows->rows[rows->head];
	return tw_event_rows_held(rows) * sizeof *rows->rows +
	       (rows->argument_count - first->argument) * sizeof *rows->arguments + (rows->byte_count - first->byte);
}

static bool make_room(struct tw_event_rows *rows, const struct tw_argument *arguments, size_t n)
{
	size_t need = rows->byte_count;
	for (size_t i = 0; i < n; i++) {
		if (!tw_has_bytes(&arguments[i]))
			continue;
		if (arguments[i].size > SIZE_MAX - need)
			return false;
		need += (size_t)arguments[i].size;
	}
	return tw_grow(&rows->rows, &rows->room, rows->count + 1, sizeof *rows->rows) &&
	       tw_grow(&rows->arguments, &rows->argument_room, rows->argument_count + n, sizeof *rows->arguments) &&
	       tw_grow(&rows->bytes, &rows->byte_room, need, 1);
}

static void add_argument(struct tw_event_rows *rows, const struct tw_argument *argument, const uint8_t *base)
{
	struct tw_argument *copy = &rows->arguments[rows->argument_count++];
	*copy = *argument;
	if (!tw_has_bytes(argument))
		return;
	const uint8_t *bytes = base ? base + argument->value.u : argument->value.bytes;
	copy->value.u = rows->byte_count;
	if (argument->size)
		memcpy(rows->bytes + rows->byte_count, bytes, (size_t)argument->size);
	rows->byte_count += (size_t)argument->size;
}

bool tw_event_rows_add(struct tw_event_rows *rows, const struct tw_event *event, const struct tw_argument *arguments,
                       const uint8_t *base, uint8_t state)
{
	if (!make_room(rows, arguments, event->argument_count))
		return false;
	rows->rows[rows->count++] = (struct tw_row){
	    .event = *event,
	    .argument = rows->argument_count,
	    .byte = rows->byte_count,
	    .state = state,
	};
	for (size_t i = 0; i < event->argument_count; i++)
		add_argument(rows, &arguments[i], base);
	return true;
}

/* Moves the rows held to the front of their arrays. */
static void pack(struct tw_event_rows *rows)
{
	size_t argument = rows->argument_count, byte = rows->byte_count;
	if (rows->head < rows->count) {
		argument = rows->rows[rows->head].argument;
		byte = rows->rows[rows->head].byte;
		memmove(rows->rows, rows->rows + rows->head, tw_event_rows_held(rows) * sizeof *rows->rows);
	}
	rows->count -= rows->head;
	rows->gone += rows->head;
	rows->head = 0;
	rows->argument_count -= argument;
	rows->byte_count -= byte;
	for (size_t i = 0; i < rows->count; i++) {
		rows->rows[i].argument -= argument;
		rows->rows[i].byte -= byte;
	}
	for (size_t i = 0; i < rows->argument_count; i++) {
		rows->arguments[i] = rows->arguments[argument + i];
		if (tw_has_bytes(&rows->arguments[i]))
			rows->arguments[i].value.u -= byte;
	}
	if (rows->byte_count)
		memmove(rows->bytes, rows->bytes + byte, rows->byte_count);
}

void tw_event_rows_shift(struct tw_event_rows *rows, size_t n)
{
	assert(n <= tw_event_rows_held(rows));
	rows->head += n;
	if (rows->head == rows->count || (rows->head >= GONE_ROWS && rows->head >= rows->count / 2))
		pack(rows);
}

void tw_event_rows_pop(struct tw_event_rows *rows)
{
	assert(tw_event_rows_held(rows));
	rows->count--;
	rows->argument_count = rows->rows[rows->count].argument;
	rows->byte_count = rows->rows[rows->count].byte;
}

void tw_event_rows_free(struct tw_event_rows *rows)
{
	free(rows->rows);
	free(rows->arguments);
	free(rows->bytes);
	*rows = (struct tw_event_rows){0};
}

static void copy_arguments(const struct tw_event_rows *rows, const struct tw_row *row, struct tw_argument *arguments)
{
	for (size_t i = 0; i < row->event.argument_count; i++) {
		arguments[i] = rows->arguments[row->argument + i];
		if (tw_has_bytes(&arguments[i]))
			arguments[i].value.bytes =
			    rows->bytes ? rows->bytes + arguments[i].value.u : (const uint8_t *)"";
	}
}

int tw_row_batch_make(struct tw_row_batch *made, const struct tw_event_rows *rows, struct tw_batch *batch)
{
	size_t held = tw_event_rows_held(rows), count = held < TW_ROW_BATCH ? held : TW_ROW_BATCH, used = 0;
	for (size_t i = 0; i < count; i++) {
		const struct tw_row *row = &rows->rows[rows->head + i];
		size_t n = row->event.argument_count;
		if (!tw_grow(&made->arguments, &made->argument_room, used + n, sizeof *made->arguments))
			return TW_ERR_MEMORY;
		if (n)
			copy_arguments(rows, row, made->arguments + used);
		made->events[i] = row->event;
		made->events[i].first_argument = (uint16_t)used;
		used += n;
	}
	*batch = (struct tw_batch){.events = made->events, .count = count, .arguments = made->arguments};
	return (int)count;
}

void tw_row_batch_free(struct tw_row_batch *made)
{
	free(made->arguments);
}
