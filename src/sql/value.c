/* value.c - the values of rows, as SQLite has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/cursor.h"

#include <string.h>

/* Every number in a row may stand at any place: rows are bytes. */
static uint32_t small(const void *place)
{
	uint32_t value;
	memcpy(&value, place, sizeof value);
	return value;
}

static uint64_t large(const void *place)
{
	uint64_t value;
	memcpy(&value, place, sizeof value);
	return value;
}

static void put_id(struct sql_cursor *cursor, sqlite3_context *context, uint32_t number)
{
	if (number)
		sqlite3_result_int64(context, (int64_t)((uint64_t)cursor->scan.file << SQL_TRACK_SHIFT | number));
}

static void put_thread(struct sql_cursor *cursor, sqlite3_context *context, uint32_t number)
{
	const struct sql_survey *survey = cursor->scan.session->files[cursor->scan.file].survey;
	if (number && survey->tracks[number].kind == TW_TRACK_THREAD)
		put_id(cursor, context, number);
}

static void put_name(struct sql_cursor *cursor, sqlite3_context *context, uint32_t number)
{
	const struct sql_scan_name *name = number ? sql_scan_name(&cursor->scan, number) : NULL;
	if (name)
		sqlite3_result_text64(context, name->text, name->length, SQLITE_STATIC, SQLITE_UTF8);
	else if (number)
		sqlite3_result_error_nomem(context);
}

static void put_known_name(struct sql_cursor *cursor, sqlite3_context *context, uint32_t number)
{
	const struct tw_name *name = tw_dictionary_name(cursor->scan.session->names, number);
	if (number)
		sqlite3_result_text64(context, name->text, name->length, SQLITE_STATIC, SQLITE_UTF8);
}

/* The cursor's texts move when it goes on: SQLite takes a copy. */
static void put_text(struct sql_cursor *cursor, sqlite3_context *context, const struct sql_text *text)
{
	if (text->there)
		sqlite3_result_text64(context, text->length ? cursor->text.bytes + text->place : "", text->length,
		                      SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void put_any(struct sql_cursor *cursor, sqlite3_context *context, const struct sql_any *any)
{
	if (any->type == SQL_NUMBER)
		sqlite3_result_int64(context, any->value.i);
	else if (any->type == SQL_REAL)
		sqlite3_result_double(context, any->value.d);
	else if (any->type == SQL_TEXT)
		put_text(cursor, context, &any->value.text);
}

static void put_record(const struct sql_cursor *cursor, sqlite3_context *context, uint64_t offset)
{
	if (offset != UINT64_MAX)
		sqlite3_result_int64(context, (int64_t)((uint64_t)cursor->scan.file << SQL_FILE_SHIFT ^ offset));
}

int64_t sql_cursor_id(const struct sql_cursor *cursor)
{
	const struct sql_column *first = &cursor->table->columns[0];
	const uint8_t *row = cursor->rows + cursor->at * cursor->table->row_size;
	if (first->value != SQL_RECORD || cursor->groups)
		return cursor->row_number;
	return (int64_t)((uint64_t)cursor->scan.file << SQL_FILE_SHIFT ^ large(row + first->place));
}

void sql_cursor_value(struct sql_cursor *cursor, sqlite3_context *context, const struct sql_column *column)
{
	const void *place = cursor->rows + cursor->at * cursor->table->row_size + column->place;
	struct sql_text text;
	struct sql_any any;
	double real;
	const char *word;
	switch (column->value) {
	case SQL_NUMBER:
	case SQL_UNSIGNED:
		sqlite3_result_int64(context, (int64_t)large(place));
		return;
	case SQL_SMALL:
		sqlite3_result_int64(context, small(place));
		return;
	case SQL_REAL:
		memcpy(&real, place, sizeof real);
		sqlite3_result_double(context, real);
		return;
	case SQL_TIME:
		sqlite3_result_int64(context, (int64_t)(large(place) - cursor->start));
		return;
	case SQL_RECORD:
		put_record(cursor, context, large(place));
		return;
	case SQL_TRACK:
		put_id(cursor, context, sql_scan_track(&cursor->scan, small(place)));
		return;
	case SQL_THREAD:
		put_thread(cursor, context, sql_scan_track(&cursor->scan, small(place)));
		return;
	case SQL_KNOWN_TRACK:
	case SQL_PROCESS:
	case SQL_STACK:
		put_id(cursor, context, small(place));
		return;
	case SQL_SERIES:
		/* Beside the numbers of the tracks that threads are. */
		if (small(place))
			put_id(cursor, context, small(place) | UINT32_C(1) << 31);
		return;
	case SQL_NAME:
		put_name(cursor, context, small(place));
		return;
	case SQL_KNOWN_NAME:
		put_known_name(cursor, context, small(place));
		return;
	case SQL_WORD:
		memcpy(&word, place, sizeof word);
		sqlite3_result_text(context, word, -1, SQLITE_STATIC);
		return;
	case SQL_TEXT:
		memcpy(&text, place, sizeof text);
		put_text(cursor, context, &text);
		return;
	case SQL_ANY:
		memcpy(&any, place, sizeof any);
		put_any(cursor, context, &any);
		return;
	case SQL_FILE:
	case SQL_HIDDEN_FILE:
		sqlite3_result_text(context, cursor->scan.session->files[cursor->scan.file].path, -1, SQLITE_STATIC);
		return;
	}
}
