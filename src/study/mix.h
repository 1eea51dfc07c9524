/* mix.h - the instruction mix of a trace, to be compared with that of another. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_MIX_H
#define STUDY_MIX_H

#include "analysis/compare/spread.h"

/* Instructions of a thread that a value of a row is the count of. */
enum { STUDY_MIX_INTERVAL = 10000 };

/* Counts the instructions of an xtrace into a spread: a row for each class, and one for each operation (category: its
 * class). A reader not read from. Returns 0, TW_ERR_UNSUPPORTED for other formats, or another negative status. */
int study_mix_read(struct tw_spread *spread, struct tw_reader *reader);

#endif
