/* value.c - the values of rows, as SQLite has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/cursor.h"

#include "base/memory/map.h"

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

/* ---- Numbers. ---- */

static void put_number(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	(void)cursor;
	sqlite3_result_int64(context, (int64_t)large(place));
}

static void put_small(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	(void)cursor;
	sqlite3_result_int64(context, small(place));
}

static void put_real(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	double real;
	(void)cursor;
	memcpy(&real, place, sizeof real);
	sqlite3_result_double(context, real);
}

static void put_time(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	sqlite3_result_int64(context, (int64_t)(large(place) - cursor->file.start));
}

/* ---- Ids. ---- */

static bool id_of(const struct sql_cursor *cursor, uint32_t number, int64_t *id)
{
	*id = (int64_t)((uint64_t)cursor->scan.file << SQL_TRACK_SHIFT | number);
	return number != 0;
}

/* Of a track, and of one that is a thread. */
static uint32_t track_number(struct sql_cursor *cursor, enum sql_value value, const void *place)
{
	const struct sql_survey *survey = cursor->scan.session->files[cursor->scan.file].survey;
	uint32_t number = sql_scan_track(&cursor->scan, small(place));
	bool fits = value == SQL_TRACK || survey->tracks.items[number].kind == TW_TRACK_THREAD;
	return number && fits ? number : 0;
}

bool sql_cursor_key(struct sql_cursor *cursor, const struct sql_column *column, const void *place, int64_t *key)
{
	if (column->value == SQL_RECORD) {
		*key = (int64_t)((uint64_t)cursor->scan.file << SQL_FILE_SHIFT ^ large(place));
		return large(place) != UINT64_MAX;
	}
	if (column->value == SQL_TRACK || column->value == SQL_THREAD)
		return id_of(cursor, track_number(cursor, column->value, place), key);
	if (column->value == SQL_SERIES) /* beside the numbers of the tracks that threads are */
		return id_of(cursor, small(place) | UINT32_C(1) << 31, key) && small(place);
	return id_of(cursor, small(place), key);
}

static void put_key(struct sql_cursor *cursor, sqlite3_context *context, enum sql_value value, const void *place)
{
	const struct sql_column column = {.value = value};
	int64_t key;
	if (sql_cursor_key(cursor, &column, place, &key))
		sqlite3_result_int64(context, key);
}

static void put_record(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	put_key(cursor, context, SQL_RECORD, place);
}

static void put_known(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	put_key(cursor, context, SQL_STACK, place);
}

static void put_series(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	put_key(cursor, context, SQL_SERIES, place);
}

static void put_track(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	put_key(cursor, context, SQL_TRACK, place);
}

static void put_thread(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	put_key(cursor, context, SQL_THREAD, place);
}

/* ---- Without the reader, whose numbers end with it. ---- */

enum sql_value sql_value_settled(enum sql_value value)
{
	if (value == SQL_TRACK || value == SQL_THREAD)
		return SQL_KNOWN_TRACK;
	return value == SQL_NAME ? SQL_KNOWN_NAME : value;
}

bool sql_settle(struct sql_cursor *cursor, enum sql_value value, void *place)
{
	uint32_t number = small(place);
	if (value == SQL_TRACK || value == SQL_THREAD) {
		number = track_number(cursor, value, place);
	} else {
		const struct sql_scan_name *name = number ? sql_scan_name(&cursor->scan, number) : NULL;
		if (number && !name)
			return false;
		number = name ? name->number : 0;
	}
	memcpy(place, &number, sizeof number);
	return true;
}

/* ---- Texts. The session's live as long as SQLite can want them. ---- */

static void put_name(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	uint32_t number = small(place);
	const struct sql_scan_name *name = number ? sql_scan_name(&cursor->scan, number) : NULL;
	if (name)
		sqlite3_result_text64(context, name->text, name->length, SQLITE_STATIC, SQLITE_UTF8);
	else if (number)
		sqlite3_result_error_nomem(context);
}

static void put_known_name(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	const struct tw_name *name = tw_dictionary_name(cursor->scan.session->names, small(place));
	if (small(place))
		sqlite3_result_text64(context, name->text, name->length, SQLITE_STATIC, SQLITE_UTF8);
}

static void put_word(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	const char *word;
	(void)cursor;
	memcpy(&word, place, sizeof word);
	sqlite3_result_text(context, word, -1, SQLITE_STATIC);
}

static void put_file(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	(void)place;
	sqlite3_result_text(context, cursor->scan.session->files[cursor->scan.file].path, -1, SQLITE_STATIC);
}

/* The cursor's move when it goes on: SQLite takes a copy. */
static void put_own_text(struct sql_cursor *cursor, sqlite3_context *context, const struct sql_text *text)
{
	if (text->there)
		sqlite3_result_text64(context, text->length ? cursor->made.text.bytes + text->place : "", text->length,
		                      SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void put_text(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	struct sql_text text;
	memcpy(&text, place, sizeof text);
	put_own_text(cursor, context, &text);
}

static void put_any(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	struct sql_any any;
	memcpy(&any, place, sizeof any);
	if (any.type == SQL_ANY_NUMBER)
		sqlite3_result_int64(context, any.value.i);
	else if (any.type == SQL_ANY_REAL)
		sqlite3_result_double(context, any.value.d);
	else if (any.type == SQL_ANY_TEXT)
		put_own_text(cursor, context, &any.value.text);
}

static const sql_put_fn putters[] = {
    [SQL_NUMBER] = put_number,     [SQL_UNSIGNED] = put_number,
    [SQL_SMALL] = put_small,       [SQL_REAL] = put_real,
    [SQL_TIME] = put_time,         [SQL_RECORD] = put_record,
    [SQL_TRACK] = put_track,       [SQL_THREAD] = put_thread,
    [SQL_KNOWN_TRACK] = put_known, [SQL_PROCESS] = put_known,
    [SQL_SERIES] = put_series,     [SQL_STACK] = put_known,
    [SQL_NAME] = put_name,         [SQL_KNOWN_NAME] = put_known_name,
    [SQL_WORD] = put_word,         [SQL_TEXT] = put_text,
    [SQL_ANY] = put_any,           [SQL_FILE] = put_file,
};

int64_t sql_cursor_id(const struct sql_cursor *cursor)
{
	const struct sql_column *first = &cursor->table->columns[0];
	if (first->value != SQL_RECORD || cursor->groups)
		return cursor->given.number;
	return (int64_t)((uint64_t)cursor->scan.file << SQL_FILE_SHIFT ^
	                 large(cursor->given.row + cursor->given.slots[0].place));
}

/* ---- Looking up rows. ---- */

/* What values of different types are declared as tells how SQLite compares them. */
static enum sql_found found_as_declared(const char *type)
{
	return strcmp(type, "TEXT") == 0 ? SQL_FOUND_BY_TEXT : *type ? SQL_FOUND_BY_NUMBER : SQL_FOUND_NEVER;
}

enum sql_found sql_column_found(const struct sql_column *column)
{
	switch (column->value) {
	case SQL_NUMBER:
	case SQL_UNSIGNED:
	case SQL_SMALL:
	case SQL_REAL:
	case SQL_TIME:
	case SQL_RECORD:
	case SQL_TRACK:
	case SQL_THREAD:
	case SQL_KNOWN_TRACK:
	case SQL_PROCESS:
	case SQL_SERIES:
	case SQL_STACK:
		return SQL_FOUND_BY_NUMBER;
	case SQL_NAME:
	case SQL_KNOWN_NAME:
	case SQL_WORD:
	case SQL_TEXT:
		return SQL_FOUND_BY_TEXT;
	case SQL_ANY:
		return found_as_declared(column->type);
	case SQL_FILE:
		return SQL_FOUND_NEVER;
	}
	return SQL_FOUND_NEVER;
}

int64_t sql_text_key(const void *text, size_t length)
{
	return (int64_t)tw_mix_bytes(text, length, 0);
}

/* The key of a real number: where it is whole, the key of that integer. */
int64_t sql_real_key(double real)
{
	const double most = 9223372036854775808.0; /* 2^63 */
	int64_t key;
	if (real >= -most && real < most && (double)(int64_t)real == real)
		return (int64_t)real;
	memcpy(&key, &real, sizeof key);
	return key;
}

static bool own_text_key(const struct sql_cursor *cursor, const struct sql_text *text, int64_t *key)
{
	if (text->there)
		*key = sql_text_key(text->length ? cursor->made.text.bytes + text->place : "", text->length);
	return text->there;
}

static bool word_key(const void *place, int64_t *key)
{
	const char *word;
	memcpy(&word, place, sizeof word);
	if (word)
		*key = sql_text_key(word, strlen(word));
	return word;
}

static bool any_key(const struct sql_cursor *cursor, const void *place, int64_t *key)
{
	struct sql_any any;
	memcpy(&any, place, sizeof any);
	if (any.type == SQL_ANY_TEXT)
		return own_text_key(cursor, &any.value.text, key);
	*key = any.type == SQL_ANY_REAL ? sql_real_key(any.value.d) : any.value.i;
	return any.type != SQL_ANY_NULL;
}

bool sql_kept_key(struct sql_cursor *cursor, enum sql_value value, const void *place, int64_t *key)
{
	const struct tw_name *name;
	struct sql_text text;
	double real;
	switch (value) {
	case SQL_KNOWN_NAME:
		name = tw_dictionary_name(cursor->scan.session->names, small(place));
		*key = sql_text_key(name->text, name->length);
		return small(place) != 0;
	case SQL_WORD:
		return word_key(place, key);
	case SQL_TEXT:
		memcpy(&text, place, sizeof text);
		return own_text_key(cursor, &text, key);
	case SQL_ANY:
		return any_key(cursor, place, key);
	case SQL_REAL:
		memcpy(&real, place, sizeof real);
		*key = sql_real_key(real);
		return true;
	case SQL_SMALL:
		*key = small(place);
		return true;
	case SQL_NUMBER:
	case SQL_UNSIGNED:
		*key = (int64_t)large(place);
		return true;
	case SQL_TIME:
		*key = (int64_t)(large(place) - cursor->file.start);
		return true;
	default:
		return sql_cursor_key(cursor, &(struct sql_column){.value = value}, place, key);
	}
}

sql_put_fn sql_cursor_putter(enum sql_value value)
{
	return putters[value];
}

/* All rows that are given together have one. */
void sql_cursor_put_group(struct sql_cursor *cursor, sqlite3_context *context, const void *place)
{
	(void)place;
	const struct sql_group_value *value = &cursor->given.group_value;
	if (value->there && value->text)
		sqlite3_result_text64(context, value->text, value->length, SQLITE_STATIC, SQLITE_UTF8);
	else if (value->there)
		sqlite3_result_int64(context, value->id);
}
