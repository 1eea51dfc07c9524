/* fields.h - the fields of records as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FIELDS_H
#define CORE_FIELDS_H

#include "base/json.h"

#include <trackway/reader.h>

/* Writes a field, and what is inside it. */
void tw_put_field_json(struct tw_json *json, const struct tw_field *field);

/* A word for a number that is not finite; NULL for others. */
const char *tw_double_word(double value);

#endif
