/* memory.h - growing arrays. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEMORY_MEMORY_H
#define BASE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for at least `need` elements of `size` bytes in the array at *array, whose room is *room elements; new
 * room is zero. False when there is no memory: the array is as it was. */
bool tw_grow(void *array, size_t *room, size_t need, size_t size);

/* The same, but new room holds anything: what of it is never used takes no memory. */
bool tw_extend(void *array, size_t *room, size_t need, size_t size);

/* Gives the array room for exactly `count` elements, in the same way. */
bool tw_resize(void *array, size_t *room, size_t count, size_t size);

/* Sets elements of the array at *array to zero, from one to the one before another. */
void tw_clear(void *array, size_t from, size_t to, size_t size);

/* As calloc(), for memory that is soon read here and there before it is written. A page that is read first is given
 * twice by the system, which has to interrupt the other threads the second time: so each is written at once. `make
 * bench` measures convert to callgrind. */
void *tw_zeroed(size_t count, size_t size);

/* Appends bytes to a growing text that stays terminated. */
struct tw_text {
	char *bytes; /* NULL while empty */
	size_t length, room;
};

bool tw_text_add(struct tw_text *text, const char *bytes, size_t length);
void tw_text_free(struct tw_text *text);

#endif
