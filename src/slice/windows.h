/* windows.h - the windows of a long program that a trace has, by the list that `record` puts beside it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SLICE_WINDOWS_H
#define SLICE_WINDOWS_H

#include "slice/tool.h"

#include <stddef.h>

struct slice_windows {
	struct slice_window *items;
	size_t count, room;
};

/* Reads the list of the set that is open. Returns 0 or a negative status, which the reader explains: there may be none.
 * Free it in any case. */
int slice_windows_read(struct slice_windows *windows, struct tw_reader *reader);
void slice_windows_free(struct slice_windows *windows);

#endif
