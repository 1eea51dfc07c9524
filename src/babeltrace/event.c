/* event.c - an event's fields as babeltrace2 has them: what rows of events say, with arguments of their own types. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "babeltrace/event.h"

#include "export/text/clean.h"
#include "export/text/labels.h"

static void render_name(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece)
{
	tw_line_clean(line, name->text, tw_name_cut(name->length, piece));
	tw_label_number(line, name);
}

void tw_babel_filler_init(struct tw_babel_filler *filler)
{
	tw_cells_init(&filler->cells, &filler->writer, render_name);
}

void tw_babel_filler_free(struct tw_babel_filler *filler)
{
	tw_cells_free(&filler->cells);
	tw_text_free(&filler->text.text);
}

/* ---- Shapes. ---- */

/* A pointer or a number of an object whose name is known is the text "0x1f (name)". */
static enum tw_babel_form form_of(const struct tw_argument *argument)
{
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_NULL:
		return TW_BABEL_NOTHING;
	case TW_ARG_BOOL:
		return TW_BABEL_BOOL;
	case TW_ARG_INT:
		return TW_BABEL_INT;
	case TW_ARG_UINT:
		return TW_BABEL_UINT;
	case TW_ARG_POINTER:
		return argument->size ? TW_BABEL_TEXT : TW_BABEL_HEX;
	case TW_ARG_KOID:
		return argument->size ? TW_BABEL_TEXT : TW_BABEL_UINT;
	case TW_ARG_DOUBLE:
		return TW_BABEL_DOUBLE;
	case TW_ARG_TEXT:
	case TW_ARG_BYTES:
		return TW_BABEL_TEXT;
	}
	return TW_BABEL_NOTHING;
}

void tw_babel_shape_of(const struct tw_babel_filler *filler, const struct tw_event *event, struct tw_babel_shape *shape)
{
	const struct tw_argument *arguments = tw_event_arguments(filler->cells.batch, event);
	shape->filled = tw_cells_filled(&filler->cells, event);
	shape->kind = event->kind;
	shape->count = event->argument_count;
	shape->listed = false;
	for (unsigned i = 0; i < event->argument_count; i++)
		shape->members[i] = (struct tw_babel_member){.name = arguments[i].name, .form = form_of(&arguments[i])};
}

/* ---- Fields. ---- */

/* Gives a field the filler's text. */
static bool set_text(struct tw_babel_filler *filler, bt_field *field)
{
	return !filler->text.failed &&
	       bt_field_string_set_value(field, filler->text.text.bytes) == BT_FIELD_STRING_SET_VALUE_STATUS_OK;
}

static void add_hex(struct tw_line *line, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < size; i++)
		tw_line_add(line, (const char[]){digits[bytes[i] >> 4], digits[bytes[i] & 15]}, 2);
}

static void add_object(struct tw_babel_filler *filler, const struct tw_argument *argument)
{
	const struct tw_name *object = tw_dictionary_name(filler->cells.dictionary, argument->size);
	struct tw_rendered piece = {0};
	tw_line_text(&filler->text, "0x");
	tw_line_hex_digits(&filler->text, argument->value.u);
	tw_line_text(&filler->text, " (");
	tw_line_clean(&filler->text, object->text, tw_name_cut(object->length, &piece));
	tw_line_text(&filler->text, ")");
}

static bool set_argument_text(struct tw_babel_filler *filler, const struct tw_argument *argument, bt_field *field)
{
	tw_line_clear(&filler->text);
	tw_line_text(&filler->text, "");
	if (argument->type == TW_ARG_TEXT)
		tw_line_clean(&filler->text, (const char *)argument->value.bytes,
		              tw_args_size(&filler->cells.args, argument));
	else if (argument->type == TW_ARG_BYTES)
		add_hex(&filler->text, argument->value.bytes, tw_args_size(&filler->cells.args, argument));
	else
		add_object(filler, argument);
	return set_text(filler, field);
}

static bool set_argument(struct tw_babel_filler *filler, const struct tw_argument *argument, enum tw_babel_form form,
                         bt_field *field)
{
	switch (form) {
	case TW_BABEL_NOTHING:
		return true;
	case TW_BABEL_BOOL:
		bt_field_bool_set_value(field, argument->value.u != 0);
		return true;
	case TW_BABEL_INT:
		bt_field_integer_signed_set_value(field, argument->value.i);
		return true;
	case TW_BABEL_UINT:
	case TW_BABEL_HEX:
		bt_field_integer_unsigned_set_value(field, argument->value.u);
		return true;
	case TW_BABEL_DOUBLE:
		bt_field_real_double_precision_set_value(field, argument->value.d);
		return true;
	case TW_BABEL_TEXT:
		return set_argument_text(filler, argument, field);
	}
	return false;
}

static bool set_arguments(struct tw_babel_filler *filler, const struct tw_event *event,
                          const struct tw_babel_shape *shape, bt_field *structure)
{
	const struct tw_argument *arguments = tw_event_arguments(filler->cells.batch, event);
	bool done = true;
	for (unsigned i = 0; done && i < shape->count; i++)
		done = set_argument(filler, &arguments[i], shape->members[i].form,
		                    bt_field_structure_borrow_member_field_by_index(structure, i));
	return done;
}

static bool set_column(struct tw_babel_filler *filler, const struct tw_event *event, enum tw_column_id column,
                       bt_field *field)
{
	struct tw_cell cell = tw_columns[column].cell(&filler->cells, event);
	if (tw_babel_is_number(column)) { /* numbers of threads that are negative have 64 bits, as in CTF */
		bt_field_integer_unsigned_set_value(field, cell.form == TW_CELL_NEGATIVE ? -cell.number : cell.number);
		return true;
	}
	tw_line_clear(&filler->text);
	tw_line_text(&filler->text, "");
	if (cell.form == TW_CELL_NAME)
		tw_cells_add_name(&filler->cells, &filler->text, &cell);
	else
		tw_line_clean(&filler->text, cell.bytes, cell.size);
	return !tw_cells_failed(&filler->cells) && set_text(filler, field);
}

static bool set_columns(struct tw_babel_filler *filler, const struct tw_event *event,
                        const struct tw_babel_shape *shape, bt_field *structure, const enum tw_column_id *columns,
                        size_t count)
{
	uint64_t member = 0;
	bool done = true;
	for (size_t i = 0; done && i < count; i++) {
		if (!(shape->filled >> columns[i] & 1))
			continue;
		bt_field *field = bt_field_structure_borrow_member_field_by_index(structure, member++);
		done = columns[i] == TW_COLUMN_ARGS && !shape->listed ? set_arguments(filler, event, shape, field)
		                                                      : set_column(filler, event, columns[i], field);
	}
	return done;
}

bool tw_babel_fill(struct tw_babel_filler *filler, const struct tw_event *event, const struct tw_babel_shape *shape,
                   bt_event *to)
{
	return set_columns(filler, event, shape, bt_event_borrow_specific_context_field(to), tw_babel_context,
	                   tw_babel_context_count) &&
	       set_columns(filler, event, shape, bt_event_borrow_payload_field(to), tw_babel_payload,
	                   tw_babel_payload_count);
}
