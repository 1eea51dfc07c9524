/* line.h - lines of small text files. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_TEXT_LINE_H
#define BASE_TEXT_LINE_H

#include <stdio.h>

/* Reads a line with its end, and terminates it. size: of the room. Returns 1, 0 where there is no more, or -1 where the
 * line is longer than the room or has a zero byte. */
int tw_read_line(FILE *file, char *line, size_t size);

#endif
