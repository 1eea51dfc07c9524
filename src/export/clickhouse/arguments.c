/* arguments.c - the arguments of events as rows of ClickHouse. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/clickhouse/clickhouse.h"
#include "export/text/args.h"
#include "export/text/labels.h"

static const char *const types[] = {
    [TW_ARG_NULL] = "null",     [TW_ARG_BOOL] = "bool",       [TW_ARG_INT] = "int",
    [TW_ARG_UINT] = "uint",     [TW_ARG_POINTER] = "pointer", [TW_ARG_KOID] = "koid",
    [TW_ARG_DOUBLE] = "double", [TW_ARG_TEXT] = "text",       [TW_ARG_BYTES] = "bytes",
};

double tw_clickhouse_number(const struct tw_argument *argument)
{
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_INT:
		return (double)argument->value.i;
	case TW_ARG_DOUBLE:
		return argument->value.d;
	case TW_ARG_BOOL:
	case TW_ARG_UINT:
	case TW_ARG_POINTER:
	case TW_ARG_KOID:
		return (double)argument->value.u;
	case TW_ARG_NULL:
	case TW_ARG_TEXT:
	case TW_ARG_BYTES:
		break;
	}
	return 0;
}

static size_t bytes_of(struct clickhouse *clickhouse, const struct tw_argument *argument)
{
	tw_count_unknown(clickhouse->writer, argument);
	if (argument->size <= ARGS_VALUE_MAX)
		return argument->size;
	tw_count_loss(clickhouse->writer, "long argument", true);
	return ARGS_VALUE_MAX;
}

/* " (name)" of the object that a pointer or a number stands for, where it is known. */
static void add_object(struct clickhouse *clickhouse, const struct tw_argument *argument)
{
	const struct tw_name *object = tw_dictionary_name(clickhouse->dictionary, argument->size);
	if (object->length == 0)
		return;
	tw_line_text(&clickhouse->text, " (");
	tw_label_name(&clickhouse->text, object);
	tw_line_text(&clickhouse->text, ")");
}

static void add_hex(struct tw_line *line, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char *p = tw_line_room(line, 2 * size);
	if (!p)
		return;
	for (size_t i = 0; i < size; i++) {
		*p++ = digits[bytes[i] >> 4];
		*p++ = digits[bytes[i] & 15];
	}
	tw_line_end(line, p);
}

static void add_int(struct tw_line *line, int64_t value)
{
	if (value < 0)
		tw_line_text(line, "-");
	tw_line_u64(line, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void add_double(struct tw_line *line, double value)
{
	char *p = tw_line_room(line, TW_DOUBLE_MAX);
	if (value - value != 0)
		tw_line_text(line, value > 0 ? "inf" : value < 0 ? "-inf" : "nan");
	else if (p)
		tw_line_end(line, tw_double_digits(p, value));
}

static void add_value(struct clickhouse *clickhouse, const struct tw_argument *argument)
{
	struct tw_line *line = &clickhouse->text;
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_NULL:
		return;
	case TW_ARG_BOOL:
		tw_line_text(line, argument->value.u ? "true" : "false");
		return;
	case TW_ARG_INT:
		add_int(line, argument->value.i);
		return;
	case TW_ARG_UINT:
		tw_line_u64(line, argument->value.u);
		return;
	case TW_ARG_KOID:
		tw_line_u64(line, argument->value.u);
		add_object(clickhouse, argument);
		return;
	case TW_ARG_POINTER:
		tw_label_address(line, argument->value.u);
		add_object(clickhouse, argument);
		return;
	case TW_ARG_DOUBLE:
		add_double(line, argument->value.d);
		return;
	case TW_ARG_TEXT:
		tw_line_add(line, (const char *)argument->value.bytes, bytes_of(clickhouse, argument));
		return;
	case TW_ARG_BYTES:
		add_hex(line, argument->value.bytes, bytes_of(clickhouse, argument));
		return;
	}
}

/* Gives a column the value as text. */
void tw_clickhouse_value(struct clickhouse *clickhouse, struct tw_native_block *block, size_t column,
                         const struct tw_argument *argument)
{
	struct tw_line *line = &clickhouse->text;
	tw_line_clear(line);
	add_value(clickhouse, argument);
	clickhouse->failed |= line->failed;
	tw_native_text(block, column, line->text.bytes, line->text.length);
}

void tw_clickhouse_argument(struct clickhouse *clickhouse, const struct tw_event *event, uint64_t id,
                            const struct tw_argument *argument)
{
	struct tw_native_block *block =
	    tw_clickhouse_track_row(clickhouse, TW_TABLE_ARGUMENT, event->track, event->time, id);
	tw_native_word(block, ARGUMENT_KIND, tw_event_kind_name(event->kind));
	tw_clickhouse_name(clickhouse, block, ARGUMENT_NAME, argument->name);
	tw_native_word(block, ARGUMENT_TYPE, types[argument->type <= TW_ARG_BYTES ? argument->type : TW_ARG_NULL]);
	tw_native_double(block, ARGUMENT_NUMBER, tw_clickhouse_number(argument));
	tw_clickhouse_value(clickhouse, block, ARGUMENT_TEXT, argument);
	tw_clickhouse_end_row(clickhouse, TW_TABLE_ARGUMENT);
}

void tw_clickhouse_arguments(struct clickhouse *clickhouse, const struct tw_event *event, uint64_t id, unsigned first)
{
	for (unsigned i = first; i < event->argument_count; i++)
		tw_clickhouse_argument(clickhouse, event, id, &clickhouse->arguments[event->first_argument + i]);
}
