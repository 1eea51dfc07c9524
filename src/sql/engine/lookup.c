/* lookup.c - rows of a table that are kept, for joins. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/lookup.h"

#include "base/memory/order.h"
#include "core/format.h"
#include "sql/engine/cursor.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { CONDITIONS = 8 };

/* A kept row, and the key that it is found by. */
struct keyed_row {
	int64_t key;
	uint32_t row;
};

struct sql_lookup {
	int plan;
	char *text;
	sqlite3_value *values[CONDITIONS]; /* the values that conditions had at first */
	int count;
	unsigned varying; /* bits of conditions that have had several values, or are on the id */
	unsigned times;   /* how often it was asked */
	bool refused, ready;
	enum sql_found by;         /* what rows are found by */
	struct keyed_row *entries; /* by key */
	size_t entry_count, at, end;
};

size_t sql_lookup_room(const struct sql_session *session)
{
	enum { SHARE = 2 }; /* of the memory limit */
	size_t limit = session->options.memory_limit;
	return (limit ? limit : TW_DEFAULT_MEMORY) / SHARE;
}

bool sql_lookup_is_id(const struct sql_column *column)
{
	static const bool ids[] = {
	    [SQL_RECORD] = true,  [SQL_TRACK] = true,  [SQL_THREAD] = true, [SQL_KNOWN_TRACK] = true,
	    [SQL_PROCESS] = true, [SQL_SERIES] = true, [SQL_STACK] = true,  [SQL_FILE] = false,
	};
	return ids[column->value];
}

/* ---- What was asked. ---- */

static bool same_value(sqlite3_value *a, sqlite3_value *b)
{
	int type = sqlite3_value_type(a);
	if (type != sqlite3_value_type(b))
		return false;
	if (type == SQLITE_INTEGER)
		return sqlite3_value_int64(a) == sqlite3_value_int64(b);
	int size = sqlite3_value_bytes(a);
	return type == SQLITE_TEXT && size == sqlite3_value_bytes(b) &&
	       memcmp(sqlite3_value_text(a), sqlite3_value_text(b), (size_t)size) == 0;
}

/* Conditions that have other values than the first time. */
static unsigned differing(const struct sql_lookup *lookup, const struct sql_question *question)
{
	unsigned bits = 0;
	for (int i = 0; i < question->count; i++)
		if (!same_value(lookup->values[i], question->values[i]))
			bits |= 1u << i;
	return bits;
}

static void forget(struct sql_lookup *lookup)
{
	for (int i = 0; i < lookup->count; i++)
		sqlite3_value_free(lookup->values[i]);
	free(lookup->text);
	free(lookup->entries);
	*lookup = (struct sql_lookup){0};
}

static unsigned keys_of(const struct sql_question *question)
{
	const char *key = strchr(question->letters, SQL_LOOKUP_KEY);
	return key ? 1u << (key - question->letters) : 0;
}

/* Remembers a question, to compare the next ones with. Without memory nothing is remembered. */
static void remember(struct sql_lookup *lookup, const struct sql_question *question)
{
	forget(lookup);
	lookup->plan = question->plan;
	lookup->varying = keys_of(question);
	lookup->times = 1;
	bool fine = true;
	for (int i = 0; i < question->count; i++) {
		lookup->values[lookup->count++] = sqlite3_value_dup(question->values[i]);
		fine = fine && lookup->values[i];
	}
	lookup->text = fine ? strdup(question->text) : NULL;
}

/* How often a question must have been asked before its rows are kept. A subquery has its cursor opened anew each time,
 * and so have statements that follow one another and want little each: what only looks like a join must be asked for
 * longer. So must windows that an index finds. */
static unsigned times_needed(const struct sql_cursor *cursor, const struct sql_question *question)
{
	enum { SURE = 2, LIKELY = 4, SEEKING = 32 };
	const struct sql_lookup *lookup = cursor->lookup;
	const struct sql_survey *survey = cursor->scan.session->files[0].survey;
	unsigned others = lookup->varying & ~keys_of(question);
	if (cursor->reopened && !lookup->varying)
		return UINT_MAX;
	bool window = strpbrk(question->letters, "gGlLe") && cursor->table->reads.windowed;
	if (others && window && survey && survey->index)
		return SEEKING;
	return others && cursor->reopened ? LIKELY : SURE;
}

enum sql_lookup_answer sql_lookup_ask(struct sql_cursor *cursor, const struct sql_question *question)
{
	if (question->count > CONDITIONS || (!cursor->lookup && !(cursor->lookup = calloc(1, sizeof *cursor->lookup))))
		return SQL_LOOKUP_READ;
	struct sql_lookup *lookup = cursor->lookup;
	if (lookup->plan != question->plan || !lookup->text || strcmp(lookup->text, question->text) != 0) {
		remember(lookup, question);
		return SQL_LOOKUP_READ;
	}
	unsigned more = differing(lookup, question) & ~lookup->varying;
	if (lookup->ready && !more)
		return SQL_LOOKUP_KEPT;
	sql_lookup_drop(cursor);
	lookup->varying |= more;
	lookup->times++;
	return lookup->refused || lookup->times < times_needed(cursor, question) ? SQL_LOOKUP_READ : SQL_LOOKUP_HOLD;
}

bool sql_lookup_varies(const struct sql_cursor *cursor, int condition)
{
	return cursor->lookup->varying >> condition & 1;
}

bool sql_lookup_ready(const struct sql_cursor *cursor)
{
	return cursor->lookup && cursor->lookup->ready;
}

void sql_lookup_refuse(struct sql_cursor *cursor)
{
	cursor->lookup->refused = true;
}

void sql_lookup_drop(struct sql_cursor *cursor)
{
	if (!cursor->lookup)
		return;
	free(cursor->lookup->entries);
	cursor->lookup->entries = NULL;
	cursor->lookup->ready = false;
}

void sql_lookup_free(struct sql_cursor *cursor)
{
	if (cursor->lookup)
		forget(cursor->lookup);
	free(cursor->lookup);
	cursor->lookup = NULL;
}

/* ---- Rows. ---- */

/* Compares by key; rows of one key stay in the order they came in. */
static int by_key(const void *left, const void *right)
{
	const struct keyed_row *a = left, *b = right;
	return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : tw_compare(a->row, b->row);
}

/* Gets the key that the cursor's row is found by; false where it is NULL, which is equal to nothing. */
static bool key_of(struct sql_cursor *cursor, unsigned column, int64_t *key)
{
	*key = 0;
	if (column == UINT_MAX)
		return true;
	return sql_kept_key(cursor, sql_value_settled(cursor->table->columns[column].value),
	                    cursor->given.row + cursor->given.slots[column].place, key);
}

/* Goes to one of the rows that are kept. */
static void go_to_row(struct sql_cursor *cursor, size_t row)
{
	size_t file = 0;
	while (cursor->parts[file].end <= row)
		file++;
	cursor->scan.file = file;
	cursor->file.start = cursor->parts[file].start;
	cursor->given.row = cursor->made.rows + row * cursor->given.stride;
	cursor->given.number = (int64_t)row;
}

int sql_lookup_make(struct sql_cursor *cursor, unsigned column)
{
	struct sql_lookup *lookup = cursor->lookup;
	lookup->entry_count = 0;
	lookup->entries = calloc(cursor->made.count + 1, sizeof *lookup->entries);
	if (!lookup->entries)
		return sql_no_memory(cursor);
	for (size_t i = 0; i < cursor->made.count; i++) {
		struct keyed_row *entry = &lookup->entries[lookup->entry_count];
		entry->row = (uint32_t)i;
		go_to_row(cursor, i);
		lookup->entry_count += key_of(cursor, column, &entry->key);
	}
	qsort(lookup->entries, lookup->entry_count, sizeof *lookup->entries, by_key);
	lookup->by = column == UINT_MAX ? SQL_FOUND_NEVER : sql_column_found(&cursor->table->columns[column]);
	lookup->ready = true;
	return 0;
}

/* The first entry that is not before a key and a row. */
static size_t place_of(const struct sql_lookup *lookup, int64_t key, uint32_t row)
{
	const struct keyed_row wanted = {key, row};
	return tw_count_before(lookup->entries, lookup->entry_count, sizeof wanted, &wanted, by_key);
}

static void go(struct sql_cursor *cursor)
{
	const struct sql_lookup *lookup = cursor->lookup;
	cursor->file.none_left = lookup->at == lookup->end;
	if (!cursor->file.none_left)
		go_to_row(cursor, lookup->entries[lookup->at].row);
}

/* The key of a value that is of the type of those that rows are found by; false for others, which SQLite may turn into
 * that type. */
static bool key_of_value(enum sql_found by, sqlite3_value *value, int64_t *key)
{
	int type = sqlite3_value_type(value);
	if (type == SQLITE_TEXT) {
		const void *text = sqlite3_value_text(value);
		*key = sql_text_key(text, (size_t)sqlite3_value_bytes(value));
		return by == SQL_FOUND_BY_TEXT;
	}
	*key = type == SQLITE_FLOAT ? sql_real_key(sqlite3_value_double(value)) : sqlite3_value_int64(value);
	return by == SQL_FOUND_BY_NUMBER && (type == SQLITE_INTEGER || type == SQLITE_FLOAT);
}

void sql_lookup_find(struct sql_cursor *cursor, sqlite3_value *value)
{
	struct sql_lookup *lookup = cursor->lookup;
	int64_t key;
	lookup->at = 0;
	lookup->end = sqlite3_value_type(value) == SQLITE_NULL ? 0 : lookup->entry_count;
	if (key_of_value(lookup->by, value, &key)) {
		lookup->at = place_of(lookup, key, 0);
		lookup->end = place_of(lookup, key, UINT32_MAX);
	}
	go(cursor);
}

void sql_lookup_range(struct sql_cursor *cursor, const struct sql_bounds *bounds)
{
	struct sql_lookup *lookup = cursor->lookup;
	bool any = bounds->low <= bounds->high;
	lookup->at = any ? place_of(lookup, bounds->low, 0) : 0;
	lookup->end = any ? place_of(lookup, bounds->high, UINT32_MAX) : 0;
	go(cursor);
}

void sql_lookup_next(struct sql_cursor *cursor)
{
	cursor->lookup->at++;
	go(cursor);
}
