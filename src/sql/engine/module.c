/* module.c - the virtual tables to SQLite: declared and read. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/format.h"
#include "sql/engine/lookup.h"
#include "sql/engine/plan.h"
#include "sql/engine/vtab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a module is registered with. */
struct table_module {
	const struct sql_table *table; /* NULL: the argument says which */
	struct sql_session *session;   /* the connection's */
};

/* ---- Connecting. ---- */

static const struct sql_table *table_named(const char *name)
{
	for (size_t i = 0; sql_tables[i]; i++)
		if (sqlite3_stricmp(sql_tables[i]->name, name) == 0)
			return sql_tables[i];
	return NULL;
}

/* An argument of `create virtual table`, without its quotes. NULL when there is no memory. */
static char *argument(const char *text)
{
	char quote = (char)(*text == '\'' || *text == '"' ? *text : '\0');
	char *copy = malloc(strlen(text) + 1), *to = copy;
	if (!copy)
		return NULL;
	for (const char *from = text + (quote != 0); *from && !(quote && from[0] == quote && from[1] != quote);
	     from++) {
		from += quote && from[0] == quote; /* it stands twice inside */
		*to++ = *from;
	}
	*to = '\0';
	return copy;
}

static int declare(sqlite3 *db, const struct sql_table *table)
{
	struct tw_text text = {0};
	bool fine = tw_text_add(&text, "CREATE TABLE x(", 15);
	for (size_t i = 0; i < table->column_count && fine; i++) {
		char column[64];
		int length = snprintf(column, sizeof column, "%s\"%s\" %s%s", i ? ", " : "", table->columns[i].name,
		                      table->columns[i].type, table->columns[i].role == SQL_IS_HIDDEN ? " hidden" : "");
		fine = tw_text_add(&text, column, (size_t)length);
	}
	fine = fine && tw_text_add(&text, ")", 1);
	int result = fine ? sqlite3_declare_vtab(db, text.bytes) : SQLITE_NOMEM;
	tw_text_free(&text);
	return result;
}

/* The file and the table that the arguments name; from the third on they are the user's. */
static int choose(struct sql_vtab *vtab, int argc, const char *const *argv, char **error)
{
	enum { FILE_ARGUMENT = 3, TABLE_ARGUMENT };
	char *table = argc > TABLE_ARGUMENT ? argument(argv[TABLE_ARGUMENT]) : NULL;
	char *file = argument(argv[FILE_ARGUMENT]);
	if (table && !vtab->table)
		vtab->table = table_named(table);
	else if (!vtab->table)
		vtab->table = table_named("slice");
	if (!vtab->table)
		*error = sqlite3_mprintf("there is no table %s", table);
	free(table);
	vtab->session = file ? sql_session_new(NULL) : NULL;
	vtab->own = true;
	int status = vtab->session ? sql_session_add(vtab->session, file) : TW_ERR_MEMORY;
	if (status == 0)
		status = sql_file_name(vtab->session, 0, NULL);
	free(file);
	if (status == TW_ERR_MEMORY)
		return SQLITE_NOMEM;
	if (status < 0 && !*error)
		*error = sqlite3_mprintf("%s", vtab->session->error);
	return status == 0 && vtab->table ? SQLITE_OK : SQLITE_ERROR;
}

static int disconnect(sqlite3_vtab *base)
{
	struct sql_vtab *vtab = (struct sql_vtab *)base;
	if (vtab->spare)
		sql_cursor_free(vtab->spare);
	if (vtab->own)
		sql_session_free(vtab->session);
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int connect(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **made, char **error)
{
	const struct table_module *source = context;
	struct sql_vtab *vtab = sqlite3_malloc(sizeof *vtab);
	int result = SQLITE_OK;
	if (!vtab)
		return SQLITE_NOMEM;
	*vtab = (struct sql_vtab){.table = source->table, .session = source->session};
	if (argc > 3) {
		result = choose(vtab, argc, argv, error);
	} else if (!vtab->table) {
		*error = sqlite3_mprintf("trackway wants a file, and maybe the name of a table");
		result = SQLITE_ERROR;
	}
	if (result == SQLITE_OK)
		result = declare(db, vtab->table);
	if (result != SQLITE_OK) {
		disconnect(&vtab->base);
		return result;
	}
	*made = &vtab->base;
	return SQLITE_OK;
}

/* ---- Reading. ---- */

/* NULL when there is no memory. */
static struct sql_cursor *new_cursor(const struct sql_vtab *vtab)
{
	struct sql_cursor *cursor = calloc(1, sizeof *cursor);
	if (!cursor)
		return NULL;
	cursor->table = vtab->table;
	cursor->scan.session = vtab->session;
	if (vtab->table->state_size && !(cursor->state = calloc(1, vtab->table->state_size))) {
		free(cursor);
		return NULL;
	}
	return cursor;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
	struct sql_vtab *vtab = (struct sql_vtab *)base;
	struct sql_cursor *cursor = vtab->spare ? vtab->spare : new_cursor(vtab);
	if (!cursor)
		return SQLITE_NOMEM;
	cursor->reopened = vtab->spare;
	vtab->spare = NULL;
	vtab->session->cursors++;
	*made = &cursor->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	struct sql_vtab *vtab = (struct sql_vtab *)base->pVtab;
	vtab->session->cursors--;
	if (!cursor->lookup || vtab->spare) {
		sql_cursor_free(cursor);
		return SQLITE_OK;
	}
	if (!sql_lookup_ready(cursor))
		sql_cursor_reset(cursor);
	vtab->spare = cursor;
	return SQLITE_OK;
}

static int result_of(struct sql_cursor *cursor, int status)
{
	const struct sql_session *session = cursor->scan.session;
	if (status >= 0)
		return SQLITE_OK;
	if (sql_session_stops(session))
		return SQLITE_INTERRUPT;
	return status == TW_ERR_MEMORY ? SQLITE_NOMEM
	                               : sql_vtab_fail(cursor->base.pVtab, sqlite3_mprintf("%s", session->error));
}

static void refuse(struct sql_cursor *cursor)
{
	const struct sql_session *session = cursor->scan.session;
	sql_lookup_refuse(cursor);
	if (session->hooks.not_kept)
		session->hooks.not_kept(session->hooks.context, cursor->table->name);
}

/* Keeps all rows sorted by a column, to find those of an id or a time. one_of_two: each cursor gets half, because
 * SQLite opens the next before it closes the one before. Returns > 0, 0 where there are too many rows, or a negative
 * status. */
static int keep_rows(struct sql_cursor *cursor, unsigned column, bool one_of_two)
{
	size_t limit = sql_lookup_room(cursor->scan.session);
	int status = sql_cursor_hold(cursor, column, one_of_two ? limit / 2 : limit);
	if (status > 0) {
		int made = sql_lookup_make(cursor, column);
		return made < 0 ? made : 1;
	}
	if (status == 0)
		refuse(cursor);
	return status;
}

/* Says how a question is answered. Rows that are wanted group by group are not kept. */
static enum sql_lookup_answer ask(struct sql_cursor *cursor, const struct sql_question *question)
{
	if (cursor->scan.session->count == 0 || sql_plan_is_grouped(question)) {
		sql_lookup_free(cursor);
		return SQL_LOOKUP_READ;
	}
	return sql_lookup_ask(cursor, question);
}

/* Checks that no file has changed since its survey. Returns 0 or a negative status. */
static int check_files(struct sql_session *session)
{
	int status = 0;
	for (size_t i = 0; i < session->count && status == 0; i++)
		status = sql_file_check(session, i);
	return status;
}

static int filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc, sqlite3_value **argv)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	const struct sql_question question = sql_plan_question(plan, text, argc, argv);
	if (!sql_plan_holds(cursor->scan.session, &question))
		return SQLITE_SCHEMA; /* SQLite makes the plan anew */
	enum sql_lookup_answer answer = ask(cursor, &question);
	int kept = answer == SQL_LOOKUP_KEPT;
	bool reopened = cursor->reopened;
	int status = kept && reopened ? check_files(cursor->scan.session) : 0;
	cursor->reopened = false;
	if (status < 0)
		return result_of(cursor, status);
	if (answer == SQL_LOOKUP_HOLD) {
		if (!sql_plan_take(cursor, &question, true))
			return SQLITE_NOMEM;
		kept = keep_rows(cursor, sql_plan_column(cursor, &question), reopened);
	}
	if (kept > 0)
		sql_plan_find(cursor, &question);
	if (kept)
		return result_of(cursor, kept);
	if (!sql_plan_take(cursor, &question, false))
		return SQLITE_NOMEM;
	return result_of(cursor, sql_cursor_start(cursor));
}

static int next(sqlite3_vtab_cursor *base)
{
	struct sql_cursor *cursor = (struct sql_cursor *)base;
	return result_of(cursor, sql_cursor_next(cursor));
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return ((struct sql_cursor *)base)->file.none_left;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
	sql_cursor_value((struct sql_cursor *)base, context, (unsigned)i);
	return SQLITE_OK;
}

/* SQLite compares the rows of two scans by their number: a row's number must not depend on the rows that a scan leaves
 * out. */
static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	const struct sql_cursor *cursor = (struct sql_cursor *)base;
	*id = sql_cursor_id(cursor);
	return SQLITE_OK;
}

static const sqlite3_module module = {
    .xCreate = connect,
    .xConnect = connect,
    .xBestIndex = sql_plan_make,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};

static int add_module(sqlite3 *db, const char *name, const struct sql_table *table, struct sql_session *session)
{
	struct table_module *source = sqlite3_malloc(sizeof *source);
	if (!source)
		return SQLITE_NOMEM;
	*source = (struct table_module){table, session};
	return sqlite3_create_module_v2(db, name, &module, source, sqlite3_free);
}

int sql_register_tables(sqlite3 *db, struct sql_session *session)
{
	int result = add_module(db, "trackway", NULL, session);
	for (size_t i = 0; sql_tables[i] && result == SQLITE_OK; i++)
		result = add_module(db, sql_tables[i]->name, sql_tables[i], session);
	return result;
}
