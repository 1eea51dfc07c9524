/* fields.h - the fields of records as JSON, and what `info` of several formats tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_TEXT_FIELDS_H
#define CORE_TEXT_FIELDS_H

#include "base/text/json.h"

#include <trackway/reader.h>

/* Writes a field, and what is inside it. */
void tw_put_field_json(struct tw_json *json, const struct tw_field *field);

/* Fields of a record that are put together; whoever adds has made room. */
struct tw_field_list {
	struct tw_field *fields;
	size_t count;
};

static inline struct tw_field *tw_add_field(struct tw_field_list *list, const char *name, enum tw_field_type type)
{
	struct tw_field *field = &list->fields[list->count++];
	*field = (struct tw_field){.name = name, .type = type};
	return field;
}

/* Adds a number as it stands in 64 bits. */
static inline void tw_add_number(struct tw_field_list *list, const char *name, enum tw_field_type type, uint64_t value)
{
	tw_add_field(list, name, type)->value.u = value;
}

static inline void tw_add_bytes(struct tw_field_list *list, const char *name, enum tw_field_type type,
                                const void *bytes, size_t size)
{
	struct tw_field *field = tw_add_field(list, name, type);
	field->value.bytes = bytes;
	field->size = size;
}

/* A word for a number that is not finite; NULL for others. */
const char *tw_double_word(double value);

/* The field wall_start: microseconds since 1970, as ISO 8601 writes them; the text is put into room. False where that
 * is past the year 9999, which is damage. */
enum { TW_WALL_ROOM = 32 };
bool tw_wall_field(struct tw_field *field, uint64_t us, char room[TW_WALL_ROOM]);

#endif
