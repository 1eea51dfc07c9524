/* cursor.h - rows of one table, file after file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_CURSOR_H
#define SQL_CURSOR_H

#include "sql/table.h"

/* Begins with the first file; conditions, in_order and needs are set. All of these return 0 or a negative status, told in
 * session->error. */
int sql_cursor_start(struct sql_cursor *cursor);

/* Goes to the next row. Past the last one `ended` is set. */
int sql_cursor_next(struct sql_cursor *cursor);

/* Forgets files and conditions. */
void sql_cursor_reset(struct sql_cursor *cursor);

void sql_cursor_free(struct sql_cursor *cursor);

/* The number of the row: the same in every scan of the table. */
int64_t sql_cursor_id(const struct sql_cursor *cursor);

/* Gives SQLite the value of column i in the row. */
void sql_cursor_value(struct sql_cursor *cursor, sqlite3_context *context, unsigned i);

#endif
