/* recorded.h - the programs that a log of the flight recorder names, and which numbers their functions have in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_RECORDED_H
#define SYMBOLS_RECORDED_H

#include <trackway/symbols.h>

/* Reads what the log says of its programs: a line for each, the same for all runs of one program. *list is NULL where
 * it says nothing, and freed by the caller. Returns 0 or TW_ERR_MEMORY. */
int tw_recorded_list(const char *path, char **list);

/* Adds the functions of the programs of such a list to a handle without functions. Returns how many of them could not
 * be read, or are other ones by now (the error is about the last of them), or TW_ERR_MEMORY. */
int tw_symbols_add_recorded(struct tw_symbols *symbols, const char *list);

/* Whether a program of a list has the build id of a file. */
bool tw_recorded_has(const char *list, const char *path);

#endif
