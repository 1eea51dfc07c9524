/* wanted.h - which records the filters let through: those of the events that they let through. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FILTER_WANTED_H
#define CORE_FILTER_WANTED_H

#include <trackway/reader.h>

/* Records are told apart by their offsets, at least so many bytes from one to the next. */
enum { TW_WANTED_UNIT = 8 };

struct tw_wanted;

/* Reads all events to find out, from the input spooled where it has to be. clipped: also records of slices that only
 * reach into the window. Returns 0 or a negative status; free it in any case. */
int tw_wanted_new(struct tw_wanted **wanted, struct tw_reader *reader, bool clipped);

/* Whether any is. */
bool tw_wanted_any(const struct tw_wanted *wanted);

/* Whether the record at an offset is wanted. */
bool tw_is_wanted(const struct tw_wanted *wanted, uint64_t offset);

void tw_wanted_free(struct tw_wanted *wanted);

#endif
