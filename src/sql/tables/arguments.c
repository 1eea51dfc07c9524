/* arguments.c - the table of arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/digits.h"
#include "base/text/utf8.h"
#include "core/text/fields.h"
#include "sql/tables/slices.h"
#include "sql/tables/tables.h"

#include <inttypes.h>
#include <stdio.h>

struct argument_row {
	uint64_t id, set;
	uint32_t key;
	const char *type;
	struct sql_any integer, real, text;
	struct sql_text shown;
};

enum { DISPLAY_VALUE = 8 }; /* column */

#define AT(member) offsetof(struct argument_row, member)
static const struct sql_column columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of its record, and its number in it"},
    {"arg_set_id", "INTEGER", SQL_RECORD, AT(set), SQL_PLAIN,
     "what it is an argument of: slice.arg_set_id, and others"},
    {"flat_key", "TEXT", SQL_NAME, AT(key), SQL_PLAIN, "its name"},
    {"key", "TEXT", SQL_NAME, AT(key), SQL_IS_NAME, "its name"},
    {"int_value", "INTEGER", SQL_ANY, AT(integer), SQL_PLAIN, "whole numbers, pointers, koids, and truth as 0 or 1"},
    {"string_value", "TEXT", SQL_ANY, AT(text), SQL_PLAIN,
     "texts; bytes as hexadecimal digits; of pointers and koids the name of the object, if known"},
    {"real_value", "REAL", SQL_ANY, AT(real), SQL_PLAIN, "numbers with a point"},
    {"value_type", "TEXT", SQL_WORD, AT(type), SQL_PLAIN,
     "'null', 'bool', 'int', 'uint', 'pointer', 'koid', 'real', 'string', 'bytes'"},
    {"display_value", "TEXT", SQL_TEXT, AT(shown), SQL_IS_COSTLY,
     "the value as text, whatever its type: pointers in hexadecimal digits, truth as true or false; bytes "
     "that are text as that text"},
    {"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"},
};
#undef AT

static const char *const types[] = {
    [TW_ARG_NULL] = "null",   [TW_ARG_BOOL] = "bool",       [TW_ARG_INT] = "int",
    [TW_ARG_UINT] = "uint",   [TW_ARG_POINTER] = "pointer", [TW_ARG_KOID] = "koid",
    [TW_ARG_DOUBLE] = "real", [TW_ARG_TEXT] = "string",     [TW_ARG_BYTES] = "bytes",
};

/* The slices that are open, for arguments at ends: these belong to the slice that ends. */
struct open_slices {
	struct sql_slices slices;
	uint64_t ended; /* the slice that ended last; UINT64_MAX: none */
};

static bool keep_hex(struct sql_cursor *cursor, const struct tw_argument *argument, struct sql_text *text)
{
	static const char digits[] = "0123456789abcdef";
	size_t place = cursor->made.text.length;
	for (size_t i = 0; i < argument->size; i++) {
		uint8_t byte = argument->value.bytes[i];
		if (!tw_text_add(&cursor->made.text, (const char[]){digits[byte >> 4], digits[byte & 15]}, 2))
			return false;
	}
	*text = sql_text_from(cursor, place);
	return true;
}

/* Keeps the name of the object that a pointer or koid stands for, where it is known. False when there is no memory. */
static bool keep_object(struct sql_cursor *cursor, struct argument_row *row, const struct tw_argument *argument)
{
	bool refers = argument->type == TW_ARG_POINTER || argument->type == TW_ARG_KOID;
	if (!refers || argument->size == 0 || argument->size >= UINT32_MAX)
		return true;
	const struct tw_name *name =
	    tw_dictionary_name(tw_reader_dictionary(cursor->scan.reader), (uint32_t)argument->size);
	row->text.type = SQL_ANY_TEXT;
	return sql_keep_text(cursor, name->text, name->length, &row->text.value.text);
}

/* As Perfetto shows values. False when there is no memory. */
static bool show_value(struct sql_cursor *cursor, struct argument_row *row, const struct tw_argument *argument)
{
	const char *word;
	char text[64];
	int length = 0;
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_NULL:
		return true;
	case TW_ARG_BOOL:
		length = snprintf(text, sizeof text, "%s", argument->value.u ? "true" : "false");
		break;
	case TW_ARG_INT:
		length = snprintf(text, sizeof text, "%" PRIi64, argument->value.i);
		break;
	case TW_ARG_UINT:
	case TW_ARG_KOID:
		length = snprintf(text, sizeof text, "%" PRIu64, argument->value.u);
		break;
	case TW_ARG_POINTER:
		length = snprintf(text, sizeof text, "0x%" PRIx64, argument->value.u);
		break;
	case TW_ARG_DOUBLE:
		word = tw_double_word(argument->value.d);
		length = word ? snprintf(text, sizeof text, "%s", word)
		              : (int)(tw_double_digits(text, argument->value.d) - text);
		break;
	case TW_ARG_BYTES:
		if (tw_is_printable(argument->value.bytes, argument->size))
			return sql_keep_text(cursor, argument->value.bytes, argument->size, &row->shown);
		row->shown = row->text.value.text;
		return true;
	case TW_ARG_TEXT:
		row->shown = row->text.value.text;
		return true;
	}
	return sql_keep_text(cursor, text, (size_t)length, &row->shown);
}

/* False when there is no memory. */
static bool set_value(struct sql_cursor *cursor, struct argument_row *row, const struct tw_argument *argument)
{
	row->integer.type = row->real.type = row->text.type = SQL_ANY_NULL;
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_NULL:
		return true;
	case TW_ARG_BOOL:
	case TW_ARG_INT:
	case TW_ARG_UINT:
	case TW_ARG_POINTER:
	case TW_ARG_KOID:
		row->integer.type = SQL_ANY_NUMBER;
		row->integer.value.i = argument->type == TW_ARG_BOOL ? argument->value.u != 0 : argument->value.i;
		return keep_object(cursor, row, argument);
	case TW_ARG_DOUBLE:
		row->real.type = SQL_ANY_REAL;
		row->real.value.d = argument->value.d;
		return true;
	case TW_ARG_TEXT:
		row->text.type = SQL_ANY_TEXT;
		return sql_keep_text(cursor, argument->value.bytes, argument->size, &row->text.value.text);
	case TW_ARG_BYTES:
		row->text.type = SQL_ANY_TEXT;
		return keep_hex(cursor, argument, &row->text.value.text);
	}
	return true;
}

static int add_rows(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments,
                    uint64_t set)
{
	for (unsigned i = 0; i < event->argument_count; i++) {
		struct argument_row *row =
		    sql_matches(cursor, &cursor->query.name, arguments[i].name) ? sql_add_row(cursor) : NULL;
		if (!row && sql_matches(cursor, &cursor->query.name, arguments[i].name))
			return sql_no_memory(cursor);
		if (!row)
			continue;
		row->id = event->offset + i; /* fewer than the record has bytes */
		row->set = set;
		row->key = arguments[i].name;
		row->type = types[arguments[i].type];
		if (!set_value(cursor, row, &arguments[i]) ||
		    (sql_uses(cursor, DISPLAY_VALUE) && !show_value(cursor, row, &arguments[i])))
			return sql_no_memory(cursor);
	}
	return 0;
}

static void note_end(struct sql_slices *slices, const struct sql_slice *slice, uint64_t duration, uint64_t self,
                     enum tw_call_end how)
{
	(void)duration;
	(void)self;
	if (how == TW_CALL_ENDED && !slice->complete)
		((struct open_slices *)slices)->ended = slice->id;
}

static int begin(struct sql_cursor *cursor)
{
	struct open_slices *owner = cursor->state;
	owner->slices.ended = note_end;
	return sql_slices_begin(&owner->slices, cursor);
}

static int take(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct open_slices *owner = cursor->state;
	owner->ended = UINT64_MAX;
	int status = sql_slices_take(&owner->slices, event, NULL);
	bool of_slice = event->kind == TW_SLICE_END && owner->ended != UINT64_MAX;
	if (status < 0 || !event->argument_count)
		return status;
	return add_rows(cursor, event, arguments, of_slice ? owner->ended : event->offset);
}

static void end(struct sql_cursor *cursor)
{
	sql_slices_free(cursor->state);
}

const struct sql_table sql_table_args = {
    .name = "args",
    .summary = "the arguments of slices and other events",
    SQL_COLUMNS(columns),
    .row_size = sizeof(struct argument_row),
    .reads.kinds = UINT32_MAX,
    .state_size = sizeof(struct open_slices),
    .begin = begin,
    .take = take,
    .end = end,
};
