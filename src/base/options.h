/* options.h - structs of options that a caller may have in another size. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stddef.h>
#include <string.h>

/* Copies the caller's options, which begin with their struct_size, NULL: none. What they do not have is 0 in the copy,
 * whose struct_size is its own; of what only they have nothing is known here. first: their size where they tell 0. */
static inline void tw_copy_options(void *copy, size_t size, const void *options, size_t first)
{
	size_t have = 0;
	memset(copy, 0, size);
	if (options)
		memcpy(&have, options, sizeof have);
	if (options)
		memcpy(copy, options, have == 0 ? first : have < size ? have : size);
	memcpy(copy, &size, sizeof size);
}

/* A struct_size of 0 stands for the struct of release 0.1: until then for all members. */
#define TW_COPY_OPTIONS(copy, options, type)                                                                           \
	tw_copy_options(copy, sizeof(type), 1 ? (options) : (const type *)NULL, sizeof(type))

#endif
