/* lookup.h - rows of a table that are kept, for joins: SQLite asks the inner table once for each row of the outer
 * one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_LOOKUP_H
#define SQL_ENGINE_LOOKUP_H

#include "sql/tables/table.h"

/* Bytes that rows of a table which are kept may take. */
size_t sql_lookup_room(const struct sql_session *session);

/* Whether values of a column are ids. */
bool sql_lookup_is_id(const struct sql_column *column);

/* What SQLite asks for: a plan, as a number and a text that ends with a letter for each condition, and their values. */
struct sql_question {
	int plan;
	const char *text, *letters; /* letters: the end of the text */
	int count;
	sqlite3_value **values;
};

enum { SQL_LOOKUP_KEY = 'k' }; /* the letter of the condition that says nothing but which rows are to be found */

enum sql_lookup_answer {
	SQL_LOOKUP_READ, /* nothing is kept: the file must be read */
	SQL_LOOKUP_HOLD, /* keep all rows that meet the conditions which have always had the same value */
	SQL_LOOKUP_KEPT  /* the rows are kept */
};

/* Says how a question is answered. Rows are worth keeping when the same is asked again, be it with other values. */
enum sql_lookup_answer sql_lookup_ask(struct sql_cursor *cursor, const struct sql_question *question);

/* Whether a condition has had several values. */
bool sql_lookup_varies(const struct sql_cursor *cursor, int condition);

/* Whether the rows are kept. */
bool sql_lookup_ready(const struct sql_cursor *cursor);

/* Keeps the rows that the cursor has, which are all that meet the conditions that do not vary. column: the one that
 * they are sorted and found by; UINT_MAX: none. Returns 0 or TW_ERR_MEMORY. */
int sql_lookup_make(struct sql_cursor *cursor, unsigned column);

/* Says that there are too many rows to be kept: it is not tried again. */
void sql_lookup_refuse(struct sql_cursor *cursor);

/* Goes to the rows that have a value, and maybe others; to all where it is not of the column's type, for which SQLite
 * has rules of its own. */
void sql_lookup_find(struct sql_cursor *cursor, sqlite3_value *value);

/* Goes to those between bounds. */
void sql_lookup_range(struct sql_cursor *cursor, const struct sql_bounds *bounds);

/* Goes to the next of them. */
void sql_lookup_next(struct sql_cursor *cursor);

/* Bytes that are kept beside each row. */
enum { SQL_LOOKUP_COST = 16 };

/* Forgets the rows, but not what was asked. */
void sql_lookup_drop(struct sql_cursor *cursor);
void sql_lookup_free(struct sql_cursor *cursor);

#endif
