/* lookup.h - rows of a table by an id, for joins: SQLite asks the inner table once for each row of the outer one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_LOOKUP_H
#define SQL_LOOKUP_H

#include "sql/table.h"

/* Whether values of a column are ids that rows can be found by. */
bool sql_lookup_can(const struct sql_column *column);

/* Tells what is asked for: a plan, and its conditions, of which number `key` is that on the id. Returns whether it is not the first time
 * that it is asked with all others the same, and there is room for the rows: then they are worth keeping, or have been kept. */
bool sql_lookup_again(struct sql_cursor *cursor, int plan, const char *text, int argc, sqlite3_value **argv, int key);

/* Whether the rows are kept. */
bool sql_lookup_ready(const struct sql_cursor *cursor);

/* Keeps the rows that the cursor has, which are all that the other conditions leave, by a column. Returns 0 or TW_ERR_MEMORY. */
int sql_lookup_make(struct sql_cursor *cursor, unsigned column);

/* There are too many rows to be kept: not again. */
void sql_lookup_refuse(struct sql_cursor *cursor);

/* Goes to the rows of an id; to all where the value is no whole number, which SQLite compares in its own way. */
void sql_lookup_find(struct sql_cursor *cursor, sqlite3_value *value);

/* Goes to the next of them. */
void sql_lookup_next(struct sql_cursor *cursor);

/* What is kept beside a row. */
enum { SQL_LOOKUP_COST = 16 };

/* Forgets the rows, but not what was asked. */
void sql_lookup_drop(struct sql_cursor *cursor);
void sql_lookup_free(struct sql_cursor *cursor);

#endif
