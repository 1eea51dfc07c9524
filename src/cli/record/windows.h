/* windows.h - which parts of a program are recorded (xtrace). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RECORD_WINDOWS_H
#define CLI_RECORD_WINDOWS_H

#include "cli/record/record.h"

struct collect_windows;

/* Whether not all of a program is to be recorded. */
bool tw_windows_wanted(const struct tw_record_options *options);

/* Fills in what is asked for: nothing where all is to be recorded. Returns 0, or TW_EXIT_FAILED after saying what is
 * wrong. */
int tw_windows_fill(struct collect_windows *windows, const struct tw_record_options *options);

/* Tells of windows that were not come to; of: by a program, or a machine. */
void tw_windows_say_missing(const struct collect_windows *windows, const char *of);

#endif
