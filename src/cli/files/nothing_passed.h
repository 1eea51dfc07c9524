/* nothing_passed.h - what is said where a command has nothing to show, or not all: on standard error. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_NOTHING_PASSED_H
#define CLI_FILES_NOTHING_PASSED_H

#include "cli/options/options.h"

#include <trackway/reader.h>

/* Says on standard error how many of `what` ("sample") were left out; of: " of other series", or "". Returns whether
 * any were. */
bool tw_say_left_out(uint64_t count, const char *what, const char *of);

/* Says on standard error that nothing passes the filters, where there are some. function_alone: all but --function let
 * something through. */
void tw_say_nothing(const struct tw_common *common, bool function_alone);

/* Says on standard error that nothing passes the filters, or only what they do not choose from, where it is so. kinds:
 * how many events of each kind pass. */
void tw_say_passed(const struct tw_common *common, const uint64_t kinds[static TW_EVENT_KINDS]);

/* Says something of the filters, where there are some: "nothing passes". function_alone: all but --function let
 * something through. */
void tw_say_filters(const struct tw_common *common, const char *text, bool function_alone);

/* Says how functions get names where some of a reader have a number only, as in an XRay log. Returns whether it did. */
bool tw_say_numbers_in(const struct tw_common *common, const struct tw_reader *reader);

/* The same where that is known. */
void tw_say_numbers_only(void);

/* Says that times are ticks, where they are that and are about to be taken for nanoseconds. */
void tw_say_ticks_in(const struct tw_reader *reader);

/* Says on standard error that the trace has no `what`, or that none passes the filters. */
void tw_say_none(const struct tw_common *common, const char *what);

#endif
