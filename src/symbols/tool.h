/* tool.h - what the tool asks of programs and of the traces that name them, beyond the public header. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYMBOLS_TOOL_H
#define SYMBOLS_TOOL_H

#include <trackway/symbols.h>

#include <stdbool.h>
#include <stdint.h>

/* ---- built.c: how a program was built, for recorders of its calls. ---- */

/* Says why the flight recorder, given to a program, records no calls of it: a constant, what it is and what would do
 * instead. NULL: the file does not tell; or it is no ELF file, or cannot be read. */
const char *tw_built_why_not(const char *path);

/* ---- recorded.c: the programs that a log of the flight recorder names, and the numbers of their functions. ---- */

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

/* ---- fit.c: whether the programs that give names are those of a log. ---- */

enum { TW_MISFIT_TEXT = 256 };

/* Looks at the first records of an XRay log: whether the functions that it has are in the maps of the handle, and have
 * the sleds that its records come from. A function that does not fit has no name from then on, nor has one of a program
 * with another build id than the log tells of, where the log is the only one (alone). *why is "", or what does
 * not fit, "of PROGRAM: REASON"; another program than the one that was traced is the cause. What is no XRay log, or
 * cannot be read, fits. Nothing may use the namer meanwhile. Returns 0 or TW_ERR_MEMORY. */
int tw_symbols_fit(struct tw_symbols *symbols, const char *path, bool alone, char why[static TW_MISFIT_TEXT]);

/* ---- beside.c: what a trace tells functions by, and the list of programs beside one of instructions. ---- */

/* Finds the list that `record` wrote, for tw_symbols_add_maps(): of a directory with one trace, or of a file of one.
 * *list is its path, which the caller frees; NULL where there is none. Returns 0 or TW_ERR_MEMORY. */
int tw_symbols_list_beside(const char *path, char **list);

/* Returns 1 where a trace tells its functions by addresses, as xtraces do, 0 where by their numbers or not at all, or
 * TW_ERR_MEMORY. It is opened: a pipe would lose its first bytes. *sure: it could be. */
int tw_symbols_by_address(const char *path, bool *sure);

#endif
