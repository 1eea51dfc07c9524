/* programs.h - which AArch64 program a path is executed by: itself, or the interpreter of a script. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_PROGRAMS_H
#define COLLECT_PROGRAMS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Words of a command line, the caller's to free. */
struct program_words {
	char **items;
	size_t count, room;
};

/* Adds a copy of a word at a place. Returns false without memory. */
bool program_words_add(struct program_words *words, size_t at, const char *word);
void program_words_free(struct program_words *words);

/* Finds the program. sysroot: where what begins with / is looked for first; NULL: nowhere. Of a script the words get
 * its interpreter, as Linux gives it, in the place of the first. path: the program; where there is none, the last file
 * that was looked at. Returns 0; 1: it is no AArch64 program; an errno, negative. */
int program_find(const char *sysroot, const char *name, struct program_words *words, char path[PATH_MAX]);

#endif
