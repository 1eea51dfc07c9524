/* fields.c - the fields of records as JSON, and what `info` of several formats tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/fields.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/* Writes the fields inside of a field. */
static void put_all_json(struct tw_json *json, const struct tw_field *field)
{
	for (size_t i = 0; i < field->size; i++)
		tw_put_field_json(json, &field->value.fields[i]);
}

/* JSON has no number that is not finite: they are written as words. */
const char *tw_double_word(double value)
{
	if (isnan(value))
		return "NaN";
	return isinf(value) ? value > 0 ? "Infinity" : "-Infinity" : NULL;
}

static void put_double_json(struct tw_json *json, const struct tw_field *field)
{
	const char *word = tw_double_word(field->value.d);
	if (word)
		tw_json_text(json, field->name, word);
	else
		tw_json_double(json, field->name, field->value.d);
}

void tw_put_field_json(struct tw_json *json, const struct tw_field *field)
{
	switch (field->type) {
	case TW_FIELD_UINT:
	case TW_FIELD_HEX:
	case TW_FIELD_NS:
		tw_json_u64(json, field->name, field->value.u);
		return;
	case TW_FIELD_INT:
		tw_json_i64(json, field->name, field->value.i);
		return;
	case TW_FIELD_BOOL:
		tw_json_bool(json, field->name, field->value.u != 0);
		return;
	case TW_FIELD_TEXT:
		tw_json_bytes(json, field->name, field->value.bytes, field->size);
		return;
	case TW_FIELD_BYTES:
		tw_json_hex(json, field->name, field->value.bytes, field->size);
		return;
	case TW_FIELD_DOUBLE:
		put_double_json(json, field);
		return;
	case TW_FIELD_NULL:
		tw_json_text(json, field->name, NULL);
		return;
	case TW_FIELD_ARRAY:
		tw_json_array(json, field->name);
		put_all_json(json, field);
		tw_json_array_end(json);
		return;
	case TW_FIELD_OBJECT:
		tw_json_object(json, field->name);
		put_all_json(json, field);
		tw_json_object_end(json);
		return;
	}
}

bool tw_wall_field(struct tw_field *field, uint64_t us, char room[TW_WALL_ROOM])
{
	static const uint64_t most = UINT64_C(253402300800000000);
	time_t seconds = (time_t)(us / 1000000);
	struct tm utc;
	if (us >= most || !gmtime_r(&seconds, &utc))
		return false;
	size_t length = strftime(room, TW_WALL_ROOM, "%Y-%m-%dT%H:%M:%S", &utc);
	length += (size_t)snprintf(room + length, TW_WALL_ROOM - length, ".%06uZ", (unsigned)(us % 1000000));
	*field = (struct tw_field){.name = "wall_start", .type = TW_FIELD_TEXT, .value.bytes = room, .size = length};
	return true;
}
