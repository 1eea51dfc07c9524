/* lookup.c - rows of a table by an id, for joins. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "sql/cursor.h"

enum { OTHERS = 8 };

/* Where a row is. */
struct entry {
	int64_t key;
	uint32_t row;
};

struct sql_lookup {
	int plan;
	char *text;
	sqlite3_value *others[OTHERS]; /* the conditions, but for that on the id */
	int count;
	bool refused, ready;
	struct entry *entries; /* by key */
	size_t entry_count, at, end;
};

bool sql_lookup_can(const struct sql_column *column)
{
	static const bool ids[] = {
	    [SQL_RECORD] = true,  [SQL_TRACK] = true,  [SQL_THREAD] = true, [SQL_KNOWN_TRACK] = true,
	    [SQL_PROCESS] = true, [SQL_SERIES] = true, [SQL_STACK] = true,  [SQL_HIDDEN_FILE] = false,
	};
	return ids[column->value] && column->role == SQL_PLAIN;
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

static bool is_same(const struct sql_lookup *lookup, int plan, const char *text, int argc, sqlite3_value **argv,
                    int key)
{
	if (lookup->plan != plan || !lookup->text || strcmp(lookup->text, text) != 0 || lookup->count != argc - 1)
		return false;
	for (int i = 0, k = 0; i < argc; i++)
		if (i != key && !same_value(lookup->others[k++], argv[i]))
			return false;
	return true;
}

static void forget(struct sql_lookup *lookup)
{
	for (int i = 0; i < lookup->count; i++)
		sqlite3_value_free(lookup->others[i]);
	free(lookup->text);
	free(lookup->entries);
	*lookup = (struct sql_lookup){0};
}

/* Without memory nothing is remembered. */
static void remember(struct sql_lookup *lookup, int plan, const char *text, int argc, sqlite3_value **argv, int key)
{
	forget(lookup);
	lookup->plan = plan;
	for (int i = 0; i < argc; i++)
		if (i != key)
			lookup->others[lookup->count++] = sqlite3_value_dup(argv[i]);
	bool fine = true;
	for (int i = 0; i < lookup->count; i++)
		fine = fine && lookup->others[i];
	lookup->text = fine ? strdup(text) : NULL;
}

bool sql_lookup_again(struct sql_cursor *cursor, int plan, const char *text, int argc, sqlite3_value **argv, int key)
{
	if (argc > OTHERS || (!cursor->lookup && !(cursor->lookup = calloc(1, sizeof *cursor->lookup))))
		return false;
	if (is_same(cursor->lookup, plan, text, argc, argv, key))
		return !cursor->lookup->refused;
	remember(cursor->lookup, plan, text, argc, argv, key);
	return false;
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

/* Those of one key as they came. */
static int by_key(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	return a->key != b->key ? (a->key > b->key) - (a->key < b->key) : (a->row > b->row) - (a->row < b->row);
}

/* NULL is equal to nothing. */
int sql_lookup_make(struct sql_cursor *cursor, unsigned column)
{
	struct sql_lookup *lookup = cursor->lookup;
	const struct sql_column *key = &cursor->table->columns[column];
	lookup->entry_count = 0;
	lookup->entries = calloc(cursor->row_count + 1, sizeof *lookup->entries);
	if (!lookup->entries)
		return sql_no_memory(cursor);
	for (size_t i = 0; i < cursor->row_count; i++) {
		struct entry *entry = &lookup->entries[lookup->entry_count];
		entry->row = (uint32_t)i;
		lookup->entry_count +=
		    sql_cursor_key(cursor, key, cursor->rows + i * cursor->stride + key->place, &entry->key);
	}
	qsort(lookup->entries, lookup->entry_count, sizeof *lookup->entries, by_key);
	lookup->ready = true;
	return 0;
}

/* The first entry that is not before a key and a row. */
static size_t place_of(const struct sql_lookup *lookup, int64_t key, uint32_t row)
{
	const struct entry wanted = {key, row};
	size_t low = 0, high = lookup->entry_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_key(&lookup->entries[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void go(struct sql_cursor *cursor)
{
	const struct sql_lookup *lookup = cursor->lookup;
	cursor->ended = lookup->at == lookup->end;
	if (cursor->ended)
		return;
	uint32_t row = lookup->entries[lookup->at].row;
	cursor->row = cursor->rows + row * cursor->stride;
	cursor->row_number = row;
}

void sql_lookup_find(struct sql_cursor *cursor, sqlite3_value *value)
{
	struct sql_lookup *lookup = cursor->lookup;
	int type = sqlite3_value_type(value);
	int64_t key = sqlite3_value_int64(value);
	lookup->at = 0;
	lookup->end = type == SQLITE_NULL ? 0 : lookup->entry_count;
	if (type == SQLITE_INTEGER) {
		lookup->at = place_of(lookup, key, 0);
		lookup->end = place_of(lookup, key, UINT32_MAX);
	}
	go(cursor);
}

void sql_lookup_next(struct sql_cursor *cursor)
{
	cursor->lookup->at++;
	go(cursor);
}
