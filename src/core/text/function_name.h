/* function_name.h - the name of a function that a trace knows by number. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TEXT_FUNCTION_NAME_H
#define CORE_TEXT_FUNCTION_NAME_H

#include "core/format.h"

/* Returns the name of function number id in the reader's dictionary: that of its namer, or "#7". UINT32_MAX when there
 * is no memory. */
uint32_t tw_function_name(struct tw_reader *reader, uint32_t id);

/* "#7", or "#1:7" of a shared object. Returns the length. */
size_t tw_function_number(char *text, size_t room, uint32_t id);

/* Several traces, each with a namer of its own, as one: `namer` is given for all of them. All live until the
 * readers are closed. */
struct tw_namers {
	struct tw_namer namer;
	struct tw_own_namer {
		const char *path; /* as it is opened */
		const struct tw_namer *namer;
	} * items;
	size_t count;
	const struct tw_namer *others; /* of all other traces; NULL: they have none */
	/* NULL, or gives that of one of several logs in a file, at an offset, which has none here. */
	const struct tw_namer *(*log)(void *context, const char *path, uint64_t offset);
	void *context;
};
void tw_namers_ready(struct tw_namers *namers);

/* The namer of one trace, or of one of several logs in it, at an offset; NULL where it has none. */
const struct tw_namer *tw_namer_of(const struct tw_namer *namer, const char *path);
const struct tw_namer *tw_namer_of_log(const struct tw_namer *namer, const char *path, uint64_t offset);

#endif
