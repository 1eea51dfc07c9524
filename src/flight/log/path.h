/* path.h - new files, named by a pattern. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FLIGHT_PATH_H
#define FLIGHT_PATH_H

#include <stdint.h>

enum { FLIGHT_PATH = 4096 + 64 };

/* Makes a file: the pattern has "%p" for the process. A file that is there is never written to: "-1" and so on go
 * before the ending. Returns its descriptor, or -1 and errno; `path` is its name. Also for signal handlers. */
int flight_make_file(const char *pattern, uint32_t pid, char path[static FLIGHT_PATH]);

/* The path of the program; where /proc is not mounted, as it was called. "": it cannot be told. From any place. */
const char *flight_program_path(char path[static FLIGHT_PATH]);

#endif
