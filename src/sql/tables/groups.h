/* groups.h - rows put together by name or track, so that `group by name` sorts names, not rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_TABLES_GROUPS_H
#define SQL_TABLES_GROUPS_H

#include "sql/tables/table.h"

/* Whether rows can be put together by a column. */
bool sql_groups_by(const struct sql_column *column);

/* Whether the columns that are asked for, beside that of the name, can be kept apart from their row: texts of the
 * cursor's cannot. Of several files they must not depend on the file. */
bool sql_groups_fit(const struct sql_table *table, uint64_t used, unsigned column, bool several);

/* NULL when there is no memory. The cursor's columns that are used are known; column is the name's. */
struct sql_groups *sql_groups_new(struct sql_cursor *cursor, unsigned column);

/* Whether they are those of column `name`: then the condition on it need not be looked at before. */
bool sql_groups_have_names(const struct sql_groups *groups);

/* Takes one row of the table. False when there is no memory. Then, now and then, looks whether it is time to write to
 * the temporary file: 0 or a negative status, text in session->error. Both may be called in another thread than the one
 * that reads. */
bool sql_groups_put(struct sql_groups *groups, const void *row);
int sql_groups_settle(struct sql_groups *groups);

/* Takes the cursor's rows away, and settles; may be called in another thread than the one that reads. Returns 0 or a
 * negative status, text in session->error. */
int sql_groups_take(struct sql_groups *groups);

/* After the last row of a file, which is still open: leaves out those of names that are not wanted. Returns 0 or a
 * negative status, text in session->error. */
int sql_groups_end_file(struct sql_groups *groups);

/* After the last file: puts them in order, as SQLite compares texts and numbers. */
void sql_groups_sort(struct sql_groups *groups);

/* Makes the next rows the cursor's, as they are kept: all of one name, before those of the next. Returns > 0, 0 when
 * there are none left, or a negative status. */
int sql_groups_give(struct sql_groups *groups);

void sql_groups_free(struct sql_groups *groups);

#endif
