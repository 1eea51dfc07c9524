/* fields.h - the fields of records as JSON, and what `info` of several formats tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TEXT_FIELDS_H
#define CORE_TEXT_FIELDS_H

#include "base/text/json.h"

#include <trackway/reader.h>

/* Writes a field, and what is inside it. */
void tw_put_field_json(struct tw_json *json, const struct tw_field *field);

/* A word for a number that is not finite; NULL for others. */
const char *tw_double_word(double value);

/* The field wall_start: microseconds since 1970, as ISO 8601 writes them; the text is put into room. False where that
 * is past the year 9999, which is damage. */
enum { TW_WALL_ROOM = 32 };
bool tw_wall_field(struct tw_field *field, uint64_t us, char room[TW_WALL_ROOM]);

#endif
