/* instead.h - what else is in a trace in which a command finds nothing, and which command shows that. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FILES_INSTEAD_H
#define CLI_FILES_INSTEAD_H

#include "cli/options/options.h"

/* Beside the kinds of event: the tasks of cores, which xtraces tell. */
enum { TW_INSTEAD_TASKS = 2 << TW_EVENT_KINDS };

/* Says so on standard error, unless filters are given: they are told instead. what: what there is none of, "call";
 * NULL: that has been told. wanted: kinds of event, as bits. Files are read again for it; what cannot be read again is
 * passed over. */
void tw_say_instead(const struct tw_common *common, const char *what, uint32_t wanted, char **paths, size_t count);

#endif
