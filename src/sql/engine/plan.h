/* plan.h - which conditions and orders of a statement a table serves itself: planned, and taken when rows are read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_PLAN_H
#define SQL_ENGINE_PLAN_H

#include "sql/engine/cursor.h"
#include "sql/engine/lookup.h"

/* A table of a connection. */
struct sql_vtab {
	sqlite3_vtab base;
	const struct sql_table *table;
	struct sql_session *session;
	bool own; /* the session is this table's */
	/* The last cursor that was closed, with its rows, to be opened again: SQLite opens one for each run of a
	 * subquery. NULL: none. */
	struct sql_cursor *spare;
};

/* Plans what SQLite asks for: sqlite3_module's xBestIndex. */
int sql_plan_make(sqlite3_vtab *base, sqlite3_index_info *info);

/* Returns a question by its plan, and `count` values of conditions, as xFilter gets them. It points to all of these. */
struct sql_question sql_plan_question(int plan, const char *text, int count, sqlite3_value **values);

/* Whether there are as many files as when the plan was made. */
bool sql_plan_holds(const struct sql_session *session, const struct sql_question *question);

/* Whether rows are wanted in the order of names. */
bool sql_plan_is_grouped(const struct sql_question *question);

/* Sets the conditions of a cursor to those of a question; constant: only the conditions that had the same values in
 * each question. False when there is no memory. */
bool sql_plan_take(struct sql_cursor *cursor, const struct sql_question *question, bool constant);

/* Returns the column that the rows are found by, once they are kept; UINT_MAX: none. */
unsigned sql_plan_column(const struct sql_cursor *cursor, const struct sql_question *question);

/* Moves a cursor to the kept rows that a question asks for. */
void sql_plan_find(struct sql_cursor *cursor, const struct sql_question *question);

#endif
