/* fields.c - the fields of records as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/fields.h"

#include "cli/output/show.h"

/* Whether a text stands without quotes: ASCII without what has a meaning here. */
static bool is_plain(const char *bytes, size_t size)
{
	enum { DELETE = 0x7f };
	for (size_t i = 0; i < size; i++) {
		const unsigned char c = (unsigned char)bytes[i];
		if (c <= ' ' || c == '"' || c == '\\' || c == '=' || c >= DELETE)
			return false;
	}
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
	const char *word = tw_double_word(value);
	if (word)
		tw_put_text(out, word);
	else
		tw_put_double(out, value);
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
