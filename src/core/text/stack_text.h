/* stack_text.h - a stack as text, "main;parse;read", and where in the source its frames are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TEXT_STACK_TEXT_H
#define CORE_TEXT_STACK_TEXT_H

#include "base/memory/memory.h"

#include <trackway/event.h>

enum tw_stack_fit { TW_STACK_NO_MEMORY, TW_STACK_WHOLE, TW_STACK_CUT };

/* Fills a text with the names of a stack's functions, the outermost first, ';' between them (a ';' in a name becomes
 * ':', one without a name is "?"). Of a stack that needs more than `most` bytes the innermost functions are there,
 * behind "...". */
enum tw_stack_fit tw_stack_text(struct tw_text *text, const struct tw_dictionary *dictionary, uint32_t stack,
                                size_t most);

/* A place in the source; file: NULL where it is not known; line: 0 the same. */
struct tw_source {
	const char *file;
	size_t length;
	uint32_t line;
};

/* Where a function is, and where a location is: in its function, where nothing more is known. */
struct tw_source tw_source_of_name(const struct tw_dictionary *dictionary, uint32_t name);
struct tw_source tw_source_of_location(const struct tw_dictionary *dictionary, uint32_t location);

/* Where the innermost frame of a stack is; nowhere for the empty stack. */
struct tw_source tw_source_of_stack(const struct tw_dictionary *dictionary, uint32_t stack);

#endif
