/* rows.c - a row as its table makes it: its texts, and whether the conditions leave it through. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text/fields.h"
#include "sql/tables/table.h"

#include <string.h>

/* ---- Rows. ---- */

void *sql_add_row(struct sql_cursor *cursor)
{
	size_t size = cursor->table->row_size;
	if (!tw_extend(&cursor->made.rows, &cursor->made.room, (cursor->made.count + 1) * size, 1))
		return NULL;
	void *row = cursor->made.rows + cursor->made.count++ * size;
	memset(row, 0, size);
	return row;
}

bool sql_keep_text(struct sql_cursor *cursor, const void *bytes, size_t length, struct sql_text *text)
{
	size_t place = cursor->made.text.length;
	if (!tw_text_add(&cursor->made.text, length ? bytes : "", length))
		return false;
	*text = sql_text_from(cursor, place);
	return true;
}

struct tw_output *sql_write(struct sql_cursor *cursor, struct tw_text *text)
{
	if (!cursor->made.out.buffer && tw_output_text(&cursor->made.out, text))
		return NULL;
	cursor->made.out.text = text;
	return &cursor->made.out;
}

static void put_argument(struct tw_json *json, const char *name, const struct tw_argument *argument)
{
	const char *word;
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_NULL:
		tw_json_text(json, name, NULL);
		return;
	case TW_ARG_BOOL:
		tw_json_bool(json, name, argument->value.u != 0);
		return;
	case TW_ARG_INT:
		tw_json_i64(json, name, argument->value.i);
		return;
	case TW_ARG_UINT:
	case TW_ARG_POINTER:
	case TW_ARG_KOID:
		tw_json_u64(json, name, argument->value.u);
		return;
	case TW_ARG_DOUBLE:
		word = tw_double_word(argument->value.d);
		if (word)
			tw_json_text(json, name, word);
		else
			tw_json_double(json, name, argument->value.d);
		return;
	case TW_ARG_TEXT:
		tw_json_bytes(json, name, (const char *)argument->value.bytes, argument->size);
		return;
	case TW_ARG_BYTES:
		tw_json_hex(json, name, argument->value.bytes, argument->size);
		return;
	}
}

static bool put_arguments(struct sql_cursor *cursor, struct tw_text *text, bool comma,
                          const struct tw_argument *arguments, size_t count)
{
	struct tw_json json = {.out = sql_write(cursor, text), .comma = comma};
	const struct tw_dictionary *dictionary = tw_reader_dictionary(cursor->scan.reader);
	if (!json.out)
		return false;
	for (size_t i = 0; i < count; i++)
		put_argument(&json, tw_dictionary_name(dictionary, arguments[i].name)->text, &arguments[i]);
	tw_output_flush(json.out);
	return !json.out->error;
}

bool sql_add_arguments(struct sql_cursor *cursor, struct tw_text *text, const struct tw_argument *arguments,
                       size_t count)
{
	return put_arguments(cursor, text, text->length > 0, arguments, count);
}

bool sql_keep_object(struct sql_cursor *cursor, const struct tw_text *inside, struct sql_text *text)
{
	size_t place = cursor->made.text.length;
	if (!tw_text_add(&cursor->made.text, "{", 1) ||
	    !tw_text_add(&cursor->made.text, inside->bytes, inside->length) || !tw_text_add(&cursor->made.text, "}", 1))
		return false;
	*text = sql_text_from(cursor, place);
	return true;
}

bool sql_keep_arguments(struct sql_cursor *cursor, const struct tw_argument *arguments, size_t count,
                        struct sql_text *text)
{
	size_t place = cursor->made.text.length;
	if (count == 0)
		return true;
	if (!tw_text_add(&cursor->made.text, "{", 1) ||
	    !put_arguments(cursor, &cursor->made.text, false, arguments, count) ||
	    !tw_text_add(&cursor->made.text, "}", 1))
		return false;
	*text = sql_text_from(cursor, place);
	return true;
}

int sql_no_memory(struct sql_cursor *cursor)
{
	return sql_session_fail(cursor->scan.session, TW_ERR_MEMORY, "%s: out of memory", cursor->table->name);
}

/* ---- Conditions. ---- */

static bool decide(const struct sql_match *match, const char *text, size_t length)
{
	if (match->equal && (strlen(match->equal) != length || memcmp(match->equal, text, length) != 0))
		return false;
	return !match->glob || sqlite3_strglob(match->glob, text) == 0;
}

/* Whether a name meets a condition on it. A name may get another text later in the file: so this leaves rows out, but
 * SQLite tests those that stay once more. */
bool sql_matches(struct sql_cursor *cursor, struct sql_match *match, uint32_t name)
{
	enum { YES = 1, NO };
	if (!match->equal && !match->glob)
		return true;
	if (name < match->room && match->verdicts[name])
		return match->verdicts[name] == YES;
	const struct tw_name *known = tw_dictionary_name(tw_reader_dictionary(cursor->scan.reader), name);
	bool yes = name && decide(match, known->text, known->length);
	if (tw_grow(&match->verdicts, &match->room, (size_t)name + 1, 1))
		match->verdicts[name] = yes ? YES : NO;
	return yes;
}

bool sql_on_track(struct sql_cursor *cursor, uint32_t track)
{
	return !cursor->query.one_track || sql_scan_track(&cursor->scan, track) == cursor->file.wanted;
}

bool sql_wants(struct sql_cursor *cursor, const struct tw_event *event)
{
	return sql_in_window(cursor, event->time) && sql_on_track(cursor, event->track) &&
	       sql_matches(cursor, &cursor->query.name, event->name) &&
	       sql_matches(cursor, &cursor->query.category, event->category);
}
