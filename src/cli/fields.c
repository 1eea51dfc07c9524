/* fields.c - the fields of a format's records, as text and as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fields.h"

#include "cli/show.h"

#include <math.h>

/* Fields within fields. */
static void put_all_json(struct tw_json *json, const struct tw_field *field)
{
	for (size_t i = 0; i < field->size; i++)
		tw_put_field_json(json, &field->value.fields[i]);
}

/* JSON has no word for what is not finite. */
static const char *word_for(double value)
{
	if (isnan(value))
		return "NaN";
	return isinf(value) ? value > 0 ? "Infinity" : "-Infinity" : NULL;
}

static void put_double_json(struct tw_json *json, const struct tw_field *field)
{
	const char *word = word_for(field->value.d);
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

static bool is_plain(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] <= ' ' || bytes[i] == '"' || bytes[i] == '\\' || bytes[i] == '=' || bytes[i] == 0x7f)
			return false;
	return size > 0;
}

static void put_quoted(struct tw_output *out, const char *bytes, size_t size)
{
	tw_put_char(out, '"');
	for (size_t i = 0, end; i < size; i = end) {
		if (bytes[i] == '"' || bytes[i] == '\\')
			tw_put_char(out, '\\');
		for (end = i + 1; end < size && bytes[end] != '"' && bytes[end] != '\\'; end++)
			;
		tw_put_safe(out, bytes + i, end - i);
	}
	tw_put_char(out, '"');
}

/* [1 2 3], {name=x type=int32 value=1} */
static void put_all_text(struct tw_output *out, const struct tw_field *field)
{
	bool object = field->type == TW_FIELD_OBJECT;
	tw_put_char(out, object ? '{' : '[');
	for (size_t i = 0; i < field->size; i++) {
		const struct tw_field *inner = &field->value.fields[i];
		if (i)
			tw_put_char(out, ' ');
		if (inner->name) {
			tw_put_text(out, inner->name);
			tw_put_char(out, '=');
		}
		tw_put_field_text(out, inner);
	}
	tw_put_char(out, object ? '}' : ']');
}

static void put_double_text(struct tw_output *out, double value)
{
	const char *word = word_for(value);
	if (word)
		tw_put_text(out, word);
	else
		tw_putf(out, "%.17g", value);
}

void tw_put_field_text(struct tw_output *out, const struct tw_field *field)
{
	switch (field->type) {
	case TW_FIELD_UINT:
		tw_put_u64(out, field->value.u);
		return;
	case TW_FIELD_INT:
		tw_put_i64(out, field->value.i);
		return;
	case TW_FIELD_HEX:
		tw_put_hex(out, field->value.u);
		return;
	case TW_FIELD_NS:
		tw_put_seconds(out, field->value.u);
		return;
	case TW_FIELD_BOOL:
		tw_put_text(out, field->value.u ? "true" : "false");
		return;
	case TW_FIELD_TEXT:
		if (is_plain(field->value.bytes, field->size))
			tw_put_safe(out, field->value.bytes, field->size);
		else
			put_quoted(out, field->value.bytes, field->size);
		return;
	case TW_FIELD_BYTES:
		put_quoted(out, field->value.bytes, field->size);
		return;
	case TW_FIELD_DOUBLE:
		put_double_text(out, field->value.d);
		return;
	case TW_FIELD_NULL:
		tw_put_text(out, "null");
		return;
	case TW_FIELD_ARRAY:
	case TW_FIELD_OBJECT:
		put_all_text(out, field);
		return;
	}
}
