/* beside.h - what a trace tells functions by, and the list of programs beside one of instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_BESIDE_H
#define SYMBOLS_BESIDE_H

#include <stdbool.h>

/* Finds the list that `record` wrote, for tw_symbols_add_maps(): of a directory with one trace, or of a file of one.
 * *list is its path, which the caller frees; NULL where there is none. Returns 0 or TW_ERR_MEMORY. */
int tw_symbols_list_beside(const char *path, char **list);

/* Returns 1 where a trace tells its functions by addresses, as xtraces do, 0 where by their numbers or not at all, or
 * TW_ERR_MEMORY. It is opened: a pipe would lose its first bytes. *sure: it could be. */
int tw_symbols_by_address(const char *path, bool *sure);

#endif
