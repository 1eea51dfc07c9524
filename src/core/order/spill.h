/* spill.h - rows in a temporary file: many runs, one behind the other, each to be read block by block. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ORDER_SPILL_H
#define CORE_ORDER_SPILL_H

#include <trackway/event.h>

#include <stdint.h>

enum {
	TW_SPILL_BLOCK = 1 << 14, /* bytes; one row may have more */
	TW_SPILL_HEAD = 16
};

/* Where a run is in the file. */
struct tw_spill_run {
	uint64_t begin, end;
};

/* The file, and the block that is filled. */
struct tw_spill {
	int fd;
	uint64_t size;
	struct tw_event *events; /* room for as many as a block holds of them alone */
	struct tw_argument *arguments;
	uint8_t *bytes; /* of texts and payloads */
	size_t event_count, argument_count, byte_count;
	uint8_t *block; /* as it is written */
};

/* Begins a file without a name in a directory (NULL: /tmp). Returns 0 or an errno; then there is nothing to free. */
int tw_spill_open(struct tw_spill *spill, const char *directory);
void tw_spill_free(struct tw_spill *spill);

/* Where the next run begins. */
static inline uint64_t tw_spill_end(const struct tw_spill *spill)
{
	return spill->size;
}

/* Adds a row. Returns 0 or an errno. */
int tw_spill_put(struct tw_spill *spill, const struct tw_event *row, const struct tw_argument *arguments);

/* Writes what has not been written: the run ends here. Returns 0 or an errno. */
int tw_spill_flush(struct tw_spill *spill);

/* A run that is read. */
struct tw_spill_cursor {
	int fd;
	struct tw_spill_run left;
	uint8_t *block; /* TW_SPILL_BLOCK bytes */
	uint64_t bytes; /* offset of a row's texts and payloads, where they are not in the block; otherwise 0 */
	size_t size;    /* how many bytes they are */
};

/* Returns 0 or an errno; the cursor is to be freed in any case. */
int tw_spill_cursor_open(struct tw_spill_cursor *cursor, const struct tw_spill *spill, const struct tw_spill_run *run);
void tw_spill_cursor_close(struct tw_spill_cursor *cursor);

/* Gives the next rows, which live until the next call; none at the end. Returns 0 or an errno. */
int tw_spill_next(struct tw_spill_cursor *cursor, struct tw_batch *batch);

/* Where `bytes` of the cursor says so: reads them into a growing array and lets the row's arguments, or a copy of them,
 * point there. Returns 0 or an errno. */
int tw_spill_fetch(const struct tw_spill_cursor *cursor, uint8_t **bytes, size_t *room, struct tw_argument *arguments,
                   size_t count);

#endif
