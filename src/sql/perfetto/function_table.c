/* function_table.c - a function of a table: a virtual table whose hidden columns are the arguments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/function.h"

#include "sql/engine/vtab.h"

#include <stdlib.h>
#include <string.h>

struct function_table {
	sqlite3_vtab base;
	struct sql_function *function;
};

struct function_cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *statement; /* NULL: not prepared yet */
	sqlite3_int64 row;
	bool over;
};

/* ---- The table. ---- */

/* Arguments have a dollar sign: a column may have the same name. */
static int declare(sqlite3 *db, const struct sql_function *function)
{
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_str_appendall(text, "create table x(");
	for (size_t i = 0; i < function->columns.count; i++)
		sqlite3_str_appendf(text, "%s\"%w\"", i ? ", " : "", function->columns.items[i]);
	for (size_t i = 0; i < function->arguments.count; i++)
		sqlite3_str_appendf(text, ", \"$%w\" hidden", function->arguments.items[i]);
	sqlite3_str_appendall(text, ")");
	char *create = sqlite3_str_finish(text);
	int result = create ? sqlite3_declare_vtab(db, create) : SQLITE_NOMEM;
	sqlite3_free(create);
	return result;
}

static int connect(sqlite3 *db, void *context, int argc, const char *const *argv, sqlite3_vtab **made, char **error)
{
	struct function_table *table = sqlite3_malloc(sizeof *table);
	(void)argc, (void)argv, (void)error;
	if (!table)
		return SQLITE_NOMEM;
	*table = (struct function_table){.function = context};
	int result = declare(db, table->function);
	if (result != SQLITE_OK) {
		sqlite3_free(table);
		return result;
	}
	*made = &table->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

/* Every argument is needed; a plan in which one is not known yet is none. */
static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct sql_function *function = ((struct function_table *)base)->function;
	const int first = (int)function->columns.count;
	bool given[SQL_ARGUMENTS_MOST] = {false}, waits = false;
	for (int i = 0; i < info->nConstraint; i++) {
		int argument = info->aConstraint[i].iColumn - first;
		if (argument < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		waits = waits || !info->aConstraint[i].usable;
		if (!info->aConstraint[i].usable || given[argument])
			continue;
		given[argument] = true;
		info->aConstraintUsage[i].argvIndex = argument + 1;
		info->aConstraintUsage[i].omit = 1;
	}
	for (size_t i = 0; i < function->arguments.count; i++) {
		if (!given[i] && waits)
			return SQLITE_CONSTRAINT;
		if (!given[i])
			return sql_vtab_fail(base, sqlite3_mprintf("function %s wants %d argument%s", function->name,
			                                           (int)function->arguments.count,
			                                           function->arguments.count == 1 ? "" : "s"));
	}
	enum { COST = 100, ROWS = 25 };
	info->estimatedCost = COST;
	info->estimatedRows = ROWS;
	return SQLITE_OK;
}

/* ---- Rows. ---- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
	(void)base;
	return sql_vtab_open(made, sizeof(struct function_cursor));
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	sqlite3_finalize(((struct function_cursor *)base)->statement);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int step(struct function_cursor *cursor)
{
	int result = sqlite3_step(cursor->statement);
	cursor->row++;
	cursor->over = result != SQLITE_ROW;
	if (result == SQLITE_ROW || result == SQLITE_DONE)
		return SQLITE_OK;
	if (result == SQLITE_INTERRUPT || result == SQLITE_NOMEM)
		return result;
	return sql_vtab_fail(cursor->base.pVtab,
	                     sqlite3_mprintf("%s", sqlite3_errmsg(sqlite3_db_handle(cursor->statement))));
}

static int begin(struct function_cursor *cursor, int count, sqlite3_value **values)
{
	struct sql_function *function = ((struct function_table *)cursor->base.pVtab)->function;
	char *error;
	if (!cursor->statement)
		cursor->statement = sql_function_prepare(function, &error);
	if (!cursor->statement)
		return sql_vtab_fail(cursor->base.pVtab, error);
	sqlite3_reset(cursor->statement);
	for (int i = 0; i < count; i++)
		sql_function_bind(function, cursor->statement, (size_t)i, values[i]);
	cursor->row = 0;
	return step(cursor);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct sql_function *function = ((struct function_table *)base->pVtab)->function;
	char *error;
	(void)number, (void)text;
	if (!sql_function_enter(function, &error))
		return sql_vtab_fail(base->pVtab, error);
	int result = begin((struct function_cursor *)base, argc, argv);
	sql_function_leave(function);
	return result;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct sql_function *function = ((struct function_table *)base->pVtab)->function;
	char *error;
	if (!sql_function_enter(function, &error))
		return sql_vtab_fail(base->pVtab, error);
	int result = step((struct function_cursor *)base);
	sql_function_leave(function);
	return result;
}

static int at_end(sqlite3_vtab_cursor *base)
{
	return ((struct function_cursor *)base)->over;
}

/* An argument is not asked for: its condition is met. */
static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
	struct function_cursor *cursor = (struct function_cursor *)base;
	if (i < sqlite3_column_count(cursor->statement))
		sqlite3_result_value(context, sqlite3_column_value(cursor->statement, i));
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = ((struct function_cursor *)base)->row;
	return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = connect,
    .xBestIndex = plan,
    .xDisconnect = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = at_end,
    .xColumn = column,
    .xRowid = rowid,
};

int sql_function_register_table(struct sql_function *function)
{
	return sqlite3_create_module_v2(function->calls->db, function->name, &module, function, sql_function_free);
}
