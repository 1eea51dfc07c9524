/* values.h - arguments of records, whose names and texts are references, to those of rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_EVENTS_VALUES_H
#define FXT_EVENTS_VALUES_H

#include "fxt/walk/chunk.h"

/* Whether all `count` arguments of an event at a place of the chunk, whose thread and names are references, are values
 * of one or two words, with names and texts that are defined: returns the place behind them, or 0. */
size_t fxt_are_values(struct fxt_chunk *chunk, size_t place, uint64_t count);

/* Whether all references to strings are registered that `count` arguments have, the first at a place `at`; place: of
 * their record, whose size is right. */
bool fxt_are_registered(struct fxt_chunk *chunk, size_t place, size_t at, uint64_t count);

/* The same of the arguments of an event whose thread and names are references. */
static inline bool fxt_has_registered(struct fxt_chunk *chunk, uint64_t header, size_t place)
{
	const uint64_t count = tw_bits(header, 20, 23);
	return count == 0 || fxt_are_registered(chunk, place, place + (size_t)2 * TW_FXT_WORD, count);
}

/* The argument at a place of the chunk, which is such a value; offset: of its record. */
struct tw_argument fxt_value_at(struct fxt_chunk *chunk, size_t at, uint64_t header, uint64_t offset);

/* Adds a fix for an argument of the last row, a pointer or koid: its object may have a name when the row is
 * committed. */
void fxt_refer(struct fxt_chunk *chunk, const struct tw_argument *argument, unsigned number, uint64_t process);

/* Makes an argument of the last row a number, where that is a counter and the text is one. */
void fxt_count_text(const struct tw_slab *slab, struct tw_argument *argument);

/* Adds such arguments of an event at a place to the last row. */
void fxt_add_values(struct fxt_chunk *chunk, size_t place, uint64_t count, uint64_t process);

#endif
