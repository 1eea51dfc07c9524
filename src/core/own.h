/* own.h - what writers ask about a trace of a program's own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_OWN_H
#define CORE_OWN_H

#include <trackway/own.h>

#include <stdbool.h>

/* Whether tw_open_own() has opened it. */
bool tw_is_own(const struct tw_reader *reader);

/* Returns what of an event of its batch does not exist ("track"), and which event it is; NULL: all do. */
const char *tw_own_wrong(const struct tw_reader *reader, const struct tw_batch *batch, size_t *number);

#endif
