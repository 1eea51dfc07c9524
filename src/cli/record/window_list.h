/* window_list.h - windows of a program as a list tells them, or SimPoint's files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RECORD_WINDOW_LIST_H
#define CLI_RECORD_WINDOW_LIST_H

#include "collect/flush.h"

#include <stdbool.h>

enum { TW_WINDOW_FAULT_ROOM = PATH_MAX + 256 };

/* Adds a window. Returns false, and why as `fault` of TW_WINDOW_FAULT_ROOM bytes, where it is none or there are too
 * many. */
bool tw_window_add(struct collect_windows *windows, const struct collect_window *window, char *fault);

/* Whether a file is SimPoint's, by its name. */
bool tw_window_list_is_simpoints(const char *path);

/* Adds the windows of a file, of which there must be one. interval: of SimPoint's file, 0: a million. Returns as
 * above. */
bool tw_window_list_read(struct collect_windows *windows, const char *path, uint64_t interval, char *fault);

#endif
