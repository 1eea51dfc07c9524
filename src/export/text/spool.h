/* spool.h - texts that are written piece by piece in any order, and put one behind the other in the end.
 *
 * Formats that want all of a thread in one place get it so without holding it in memory: what does not fit lies in a
 * temporary file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TEXT_SPOOL_H
#define EXPORT_TEXT_SPOOL_H

#include "base/bytes/output.h"

#include <stdatomic.h>

enum {
	SPOOL_BLOCK = 32 << 10,
	SPOOL_PIECE = SPOOL_BLOCK - 16,
	SPOOL_MEMORY = 64 << 20,
	SPOOL_SHARE = 4 /* the part of the memory limit that a target gives to it */
};

/* One of the texts: blocks that were put away, and its end. */
struct tw_spool_text {
	uint8_t *bytes; /* the end of the text; room for the head of a block is in front of it */
	size_t used, room;
	uint64_t first, next; /* numbers of blocks: of the first, and the one that the end will have */
	uint64_t blocks;      /* how many were put away */
};

/* All zero but `directory`, `fd` and the limits to begin. */
struct tw_spool {
	const char *directory; /* for the temporary file; NULL: /tmp */
	int fd;                /* -1 while there is none */
	/* errno of the first failure, ENOMEM too; then everything is dropped. Several threads may read. */
	atomic_int error;
	size_t memory_limit; /* bytes of all ends in memory; 0: SPOOL_MEMORY */
	size_t memory;
	size_t keep_limit; /* bytes of blocks that stay in memory; 0: none do */
	size_t kept_bytes;
	uint8_t **kept; /* blocks that stay in memory, by number; NULL: it is in the file */
	size_t kept_room;
	uint64_t block_count;
	/* By the caller's number, which most have nothing of: the place in `texts`, plus 1; 0: nothing was added. */
	uint32_t *places;
	size_t place_room;
	struct tw_spool_text *texts;
	size_t text_count, text_room;
};

/* One of the texts; NULL: nothing was added. */
static inline struct tw_spool_text *tw_spool_text(const struct tw_spool *spool, size_t number)
{
	return number < spool->place_room && spool->places[number] ? &spool->texts[spool->places[number] - 1] : NULL;
}

/* Makes room where there is none yet. */
uint8_t *tw_spool_make_room(struct tw_spool *spool, size_t text, size_t size);

/* The place for up to SPOOL_PIECE more bytes of a text, to be filled by the caller; then tell how many with took. NULL
 * after an error. `make bench` measures convert. */
static inline uint8_t *tw_spool_room(struct tw_spool *spool, size_t number, size_t size)
{
	const struct tw_spool_text *text = tw_spool_text(spool, number);
	if (!text || text->room - text->used < size || spool->error)
		return tw_spool_make_room(spool, number, size);
	return text->bytes + text->used;
}

static inline void tw_spool_took(struct tw_spool *spool, size_t number, size_t size)
{
	tw_spool_text(spool, number)->used += size;
}

/* Adds to a text. */
void tw_spool_add(struct tw_spool *spool, size_t text, const void *bytes, size_t size);

/* Whether anything was added. */
bool tw_spool_has(const struct tw_spool *spool, size_t text);

/* A place in a text that is read; all zero but `text` to begin. */
struct tw_spool_cursor {
	size_t text;
	uint64_t done, at; /* blocks of the file that were read, and the next one */
	bool ended;
};

/* Gives the next bytes of what was added: those of one block; they live in `block`, or as long as the text. What was
 * added as one piece of up to SPOOL_PIECE bytes is not torn apart. False at the end, and after an error. */
bool tw_spool_next(struct tw_spool *spool, struct tw_spool_cursor *cursor, uint8_t block[SPOOL_BLOCK],
                   const uint8_t **bytes, size_t *size);

/* What a block holds: `bytes`, or where they are NULL, what tw_spool_load() reads. */
struct tw_spool_part {
	const uint8_t *bytes;
	size_t size;
	uint64_t offset;
};

/* As tw_spool_next(), but for reading it, which several threads may do. */
bool tw_spool_find(struct tw_spool *spool, struct tw_spool_cursor *cursor, struct tw_spool_part *part);

/* The bytes, as long as the text lives or in `block`; NULL after an error. */
const uint8_t *tw_spool_load(struct tw_spool *spool, const struct tw_spool_part *part, uint8_t block[SPOOL_BLOCK]);

/* Writes all that was added. */
void tw_spool_put(struct tw_spool *spool, size_t text, struct tw_output *out);

void tw_spool_free(struct tw_spool *spool);

#endif
