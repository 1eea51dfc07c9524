/* spooled_stdin.h - standard input that is read more than once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_SPOOLED_STDIN_H
#define CLI_FILES_SPOOLED_STDIN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether "-" is among the paths. */
bool tw_reads_stdin(char **paths, size_t count);

/* Where "-" is among the paths: makes standard input a file that can be rewound (a pipe is copied to one without a
 * name, in $TMPDIR or /tmp). Pipes with a name are refused. Returns 0, or TW_EXIT_FAILED after saying why. */
int tw_spool_stdin(char **paths, size_t count);

/* Rewinds standard input where the path is "-". */
void tw_rewind_stdin(const char *path);

/* The same where "-" is among the paths. */
void tw_rewind_input(char **paths, size_t count);

#endif
