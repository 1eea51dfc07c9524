/* beside.h - the list of the programs that a trace of instructions is of, where one lies beside it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_BESIDE_H
#define SYMBOLS_BESIDE_H

/* The path of the list that `record` wrote, for tw_symbols_add_maps(): of a directory with one trace, or of a file of a
 * trace. The caller frees it; NULL where there is none. */
char *tw_symbols_list_beside(const char *path);

#endif
