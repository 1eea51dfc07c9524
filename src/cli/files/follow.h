/* follow.h - a trace that is still written to, read again as it grows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_FOLLOW_H
#define CLI_FILES_FOLLOW_H

#include <stdbool.h>

/* Reads and shows a trace as far as it is there. last: no more is to come. Returns enum tw_exit. */
typedef int (*tw_follow_fn)(void *context, char **path, bool last);

/* Calls `pass` whenever the file has grown, at most half of the time. A pipe ends where its writers have closed it; a
 * file does not, so that the user ends this. What is wrong is told by the last pass alone: what is cut off may come.
 * What has come of a pipe is kept in a temporary file, and is standard input for the passes. Returns the result of the
 * last pass, or TW_EXIT_FAILED after saying why the file cannot be followed. */
int tw_follow(char *path, tw_follow_fn pass, void *context);

#endif
