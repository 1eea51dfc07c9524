/* typed.c - the types that columns of a table are listed with.
 *
 * Source: "PerfettoSQL Syntax" of Perfetto's documentation, and the types in the schemas of its standard library. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/typed.h"

#include "base/text/nearest.h"

#include <string.h>

/* kind: of SQLite's values; 0: any. */
static const struct {
	const char *name;
	int kind;
} types[] = {
    {"BOOL", SQLITE_INTEGER},      {"INT", SQLITE_INTEGER},      {"UINT", SQLITE_INTEGER}, {"LONG", SQLITE_INTEGER},
    {"TIMESTAMP", SQLITE_INTEGER}, {"DURATION", SQLITE_INTEGER}, {"ID", SQLITE_INTEGER},   {"JOINID", SQLITE_INTEGER},
    {"ARGSETID", SQLITE_INTEGER},  {"FLOAT", SQLITE_FLOAT},      {"DOUBLE", SQLITE_FLOAT}, {"STRING", SQLITE_TEXT},
    {"BYTES", SQLITE_BLOB},        {"BLOB", SQLITE_BLOB},        {"PROTO", SQLITE_BLOB},   {"ANY", 0},
};

enum { TYPES = sizeof types / sizeof *types };

static const char *const kinds[] = {"", "INTEGER", "REAL", "TEXT", "BLOB", "NULL"};

int sql_type_named(const struct sql_token *word)
{
	for (int i = 0; i < TYPES; i++)
		if (sql_token_is(word, types[i].name))
			return i;
	return -1;
}

static const char *type_at(void *context, size_t i)
{
	(void)context;
	return i < TYPES ? types[i].name : NULL;
}

const char *sql_type_like(const struct sql_token *word)
{
	char upper[16];
	if (word->length >= sizeof upper)
		return NULL;
	for (size_t i = 0; i < word->length; i++)
		upper[i] = (char)(word->at[i] >= 'a' && word->at[i] <= 'z' ? word->at[i] - 'a' + 'A' : word->at[i]);
	upper[word->length] = '\0';
	return tw_nearest(upper, type_at, NULL);
}

/* ---- Values. ---- */

/* A real number without a fraction is a whole one, and the other way about. */
static bool is_of(sqlite3_value *value, int kind)
{
	const int found = sqlite3_value_type(value);
	if (found == SQLITE_NULL || found == kind || kind == 0)
		return true;
	if (kind == SQLITE_INTEGER && found == SQLITE_FLOAT)
		return sqlite3_value_double(value) == (double)sqlite3_value_int64(value);
	return kind == SQLITE_FLOAT && found == SQLITE_INTEGER;
}

/* trackway_typed(value, type, 'column'): the value. */
static void check(sqlite3_context *context, int count, sqlite3_value **values)
{
	static const char *const words[] = {"", "a whole number", "a real number", "a text", "bytes", "NULL"};
	const int type = sqlite3_value_int(values[1]);
	(void)count;
	if (type >= 0 && type < TYPES && !is_of(values[0], types[type].kind)) {
		char *error = sqlite3_mprintf("column %s is %s, but a row has %s", sqlite3_value_text(values[2]),
		                              types[type].name, words[sqlite3_value_type(values[0])]);
		if (error)
			sqlite3_result_error(context, error, -1);
		else
			sqlite3_result_error_nomem(context);
		sqlite3_free(error);
	} else {
		sqlite3_result_value(context, values[0]);
	}
}

int sql_typed_register(sqlite3 *db)
{
	return sqlite3_create_function_v2(db, "trackway_typed", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, check,
	                                  NULL, NULL, NULL);
}

/* ---- Columns. ---- */

bool sql_typed_add(struct tw_text *text, const char *column, int type)
{
	char *made = types[type].kind ? sqlite3_mprintf("cast(trackway_typed(\"%w\", %d, %Q) as %s) as \"%w\"", column,
	                                                type, column, kinds[types[type].kind], column)
	                              : sqlite3_mprintf("\"%w\"", column);
	bool fine = made && tw_text_add(text, made, strlen(made));
	sqlite3_free(made);
	return fine;
}
