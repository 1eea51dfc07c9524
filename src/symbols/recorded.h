/* recorded.h - the programs that a log of the flight recorder names, and which numbers their functions have in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_RECORDED_H
#define SYMBOLS_RECORDED_H

#include <trackway/symbols.h>

/* Reads what the log at an offset of a file says of its programs: a line for each, the same for all runs of one
 * program. *list is NULL where it says nothing, and freed by the caller. Returns 0 or TW_ERR_MEMORY. */
int tw_recorded_list(const char *path, uint64_t offset, char **list);

/* Adds the functions of the programs of such a list to a handle without functions. Returns how many of them could not
 * be read, or are other ones by now (the error is about the last of them), or TW_ERR_MEMORY. */
int tw_symbols_add_recorded(struct tw_symbols *symbols, const char *list);

/* As tw_symbols_add_trace(), but for the lists beside traces. */
int tw_symbols_add_log(struct tw_symbols *symbols, const char *path);

/* Names of the logs of files that have several, each read when it is met: to a handle without functions. */
int tw_symbols_add_later(struct tw_symbols *symbols);

/* Who is told of logs that stand behind others in a file, as they are met: how many of their programs are missing, and
 * why the last is. */
void tw_symbols_on_missing(struct tw_symbols *symbols, void (*missing)(int count, const char *error));

/* Whether a program of a list has the build id of a file. */
bool tw_recorded_has(const char *list, const char *path);

#endif
