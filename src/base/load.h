/* load.h - libraries that few commands need, loaded by the first who does.
 *
 * The relocations of some take longer than all else at the start of a program: one that is linked with them pays for
 * them each time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOAD_H
#define BASE_LOAD_H

#include <stddef.h>

/* A function of a library, and where in a struct its address goes. */
struct tw_loaded {
	const char *name;
	size_t offset;
};

/* Loads a library ("libedit.so.2"), which stays loaded, and sets the functions, members of a struct. Returns NULL, or
 * what is missing, in words that live until the thread loads again; then the functions are not to be called. Call it
 * before there are threads that call them. */
const char *tw_load(const char *library, void *functions, const struct tw_loaded *list, size_t count);

#endif
