/* rows.h - events kept for later, with their arguments: a queue and a stack in one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ORDER_ROWS_H
#define CORE_ORDER_ROWS_H

#include <trackway/event.h>

#include <stdbool.h>

struct tw_row {
	struct tw_event event; /* first_argument means nothing here */
	size_t argument, byte; /* where its arguments and their bytes begin */
	uint8_t state;         /* the caller's */
};

/* All zero is empty. Memory is used again, and only grows with the most that was held at once. */
struct tw_event_rows {
	struct tw_row *rows; /* those from head to count are held */
	size_t head, count, room;
	uint64_t gone; /* rows that stood before rows[0]: row i is the (gone + i)th that was ever added */
	struct tw_argument *arguments; /* value.u of text and bytes is an offset into `bytes` */
	size_t argument_count, argument_room;
	uint8_t *bytes;
	size_t byte_count, byte_room;
};

/* Whether the value of an argument is in `bytes`. */
static inline bool tw_has_bytes(const struct tw_argument *argument)
{
	return argument->type == TW_ARG_TEXT || argument->type == TW_ARG_BYTES;
}

static inline size_t tw_event_rows_held(const struct tw_event_rows *rows)
{
	return rows->count - rows->head;
}

/* Bytes of memory that the rows held take. */
size_t tw_event_rows_size(const struct tw_event_rows *rows);

/* Adds a row at the back, with copies of event->argument_count arguments. base: what their byte offsets count from;
 * NULL when they hold pointers. False when there is no memory. */
bool tw_event_rows_add(struct tw_event_rows *rows, const struct tw_event *event, const struct tw_argument *arguments,
                       const uint8_t *base, uint8_t state);

/* Takes n rows away at the front. Indexes may change, `gone` tells by how much. */
void tw_event_rows_shift(struct tw_event_rows *rows, size_t n);

/* Takes the row at the back away. */
void tw_event_rows_pop(struct tw_event_rows *rows);

void tw_event_rows_free(struct tw_event_rows *rows);

enum { TW_ROW_BATCH = 256 };

/* A batch that is made of rows. All zero to begin. */
struct tw_row_batch {
	struct tw_event events[TW_ROW_BATCH];
	struct tw_argument *arguments;
	size_t argument_room;
};

/* Makes a batch of the first rows, which must stay for the bytes of their arguments. Returns how many, or
 * TW_ERR_MEMORY. */
int tw_row_batch_make(struct tw_row_batch *made, const struct tw_event_rows *rows, struct tw_batch *batch);

void tw_row_batch_free(struct tw_row_batch *made);

#endif
