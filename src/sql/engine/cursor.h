/* cursor.h - rows of one table, file after file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_CURSOR_H
#define SQL_ENGINE_CURSOR_H

#include "sql/tables/table.h"

/* Begins with the first file; conditions, in_order and needs are set. All of these return 0 or a negative status, text
 * in session->error. */
int sql_cursor_start(struct sql_cursor *cursor);

/* Begins as sql_cursor_start() does and makes all rows. Of each the columns are kept that are used, and one more.
 * Returns > 0, 0 when they are more than `limit` bytes, or a negative status, text in session->error. */
int sql_cursor_hold(struct sql_cursor *cursor, unsigned column, size_t limit);

/* Goes to the next row. Past the last one file.none_left is set. */
int sql_cursor_next(struct sql_cursor *cursor);

/* Forgets files and conditions. */
void sql_cursor_reset(struct sql_cursor *cursor);

void sql_cursor_free(struct sql_cursor *cursor);

/* The number of the row: the same in every scan of the table. */
int64_t sql_cursor_id(const struct sql_cursor *cursor);

/* The id that a column has at its place in a row; false where it is NULL. */
bool sql_cursor_key(struct sql_cursor *cursor, const struct sql_column *column, const void *place, int64_t *key);

/* What the values of a column are found by among kept rows: the number that SQLite gets, or a hash of the text that it
 * gets. Numbers that are equal have one key, be they whole or real. */
enum sql_found { SQL_FOUND_NEVER, SQL_FOUND_BY_NUMBER, SQL_FOUND_BY_TEXT };
enum sql_found sql_column_found(const struct sql_column *column);
int64_t sql_text_key(const void *text, size_t length);
int64_t sql_real_key(double real);

/* The number that the value at its place in a kept row is found by; false where it is NULL. */
bool sql_kept_key(struct sql_cursor *cursor, enum sql_value value, const void *place, int64_t *key);

/* Returns the kind of value that one becomes in a kept row, whose file is no longer open. */
enum sql_value sql_value_settled(enum sql_value value);

/* Turns the value at a place into that kind. False when there is no memory. */
bool sql_settle(struct sql_cursor *cursor, enum sql_value value, void *place);

/* What gives SQLite values of a kind, and what rows have in common which are grouped. */
sql_put_fn sql_cursor_putter(enum sql_value value);
void sql_cursor_put_group(struct sql_cursor *cursor, sqlite3_context *context, const void *place);

/* Gives SQLite the value of column i in the row. */
static inline void sql_cursor_value(struct sql_cursor *cursor, sqlite3_context *context, unsigned i)
{
	cursor->given.slots[i].put(cursor, context, cursor->given.row + cursor->given.slots[i].place);
}

#endif
