/* has_lines.h - whether a log has lines of its source, whose numbers stand in the place of instructions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_JOBS_HAS_LINES_H
#define TRACELOG_JOBS_HAS_LINES_H

#include <stdbool.h>

struct tw_reader;

/* Looks through the log before it is read, from the input spooled where it has to be; the first instruction that is no
 * number of a line ends the look. Returns 0 or a negative status, which has been told. */
int tracelog_has_lines(struct tw_reader *reader, bool *has);

#endif
