/* beside.h - what a trace tells functions by, and the list of programs beside one of instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_BESIDE_H
#define SYMBOLS_BESIDE_H

#include <stdbool.h>

/* The path of the list that `record` wrote, for tw_symbols_add_maps(): of a directory with one trace, or of a file of a
 * trace. The caller frees it; NULL where there is none. */
char *tw_symbols_list_beside(const char *path);

/* Whether a trace tells its functions by addresses, as xtraces do, and not by their numbers. It is opened: a pipe would
 * lose its first bytes. */
bool tw_symbols_by_address(const char *path);

#endif
