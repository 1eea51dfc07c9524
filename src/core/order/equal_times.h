/* equal_times.h - rows of one time, and which of them goes first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ORDER_EQUAL_TIMES_H
#define CORE_ORDER_EQUAL_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tw_slab;

/* A row of a slab. */
struct tw_equal_row {
	const struct tw_slab *slab;
	uint32_t row;
};

/* Rows of one time; all zero is empty, and memory is used again. */
struct tw_equal_times {
	struct tw_equal_row *rows;
	size_t count, room;
	struct tw_equal_slice *slices; /* while they are put in order */
	struct tw_equal_row *spare;
	size_t slice_room, spare_room;
	bool trackless; /* slices of track 0 were among those that were put in order */
};

/* Adds a row behind the others. False when there is no memory. */
bool tw_equal_times_add(struct tw_equal_times *equal, const struct tw_slab *slab, uint32_t row);

/* Puts rows in order that stand as in their file. The complete slices of a track stand the longest first, because that
 * one contains the others; but they stay between those begins of their track between which they stood, those without
 * length also between the same ends, and all else stays in its place. Parts of the rows may have been put in order
 * before. False when there is no memory. */
bool tw_equal_times_nest(struct tw_equal_times *equal);

void tw_equal_times_free(struct tw_equal_times *equal);

#endif
