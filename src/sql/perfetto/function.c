/* function.c - functions whose body is a statement.
 *
 * Source: "Defining functions" of Perfetto's documentation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/function.h"

#include "sql/perfetto/narrow.h"

#include <stdlib.h>
#include <string.h>

bool sql_names_add(struct sql_names *names, char *name)
{
	if (!name || !tw_grow(&names->items, &names->room, names->count + 1, sizeof *names->items)) {
		free(name);
		return false;
	}
	names->items[names->count++] = name;
	return true;
}

void sql_names_free(struct sql_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

void sql_function_free(void *context)
{
	struct sql_function *function = context;
	if (!function)
		return;
	free(function->name);
	free(function->body);
	sql_names_free(&function->arguments);
	sql_names_free(&function->columns);
	free(function);
}

/* ---- The body. ---- */

/* Returns a variable that is no argument; NULL: all are. */
static const char *unknown_variable(const struct sql_function *function, sqlite3_stmt *statement)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
		const char *name = sqlite3_bind_parameter_name(statement, i);
		size_t k = 0;
		while (name && *name == '$' && k < function->arguments.count &&
		       sqlite3_stricmp(function->arguments.items[k], name + 1) != 0)
			k++;
		if (!name || *name != '$' || k == function->arguments.count)
			return name ? name : "?";
	}
	return NULL;
}

static char *mistake(const struct sql_function *function, sqlite3_stmt *statement)
{
	const char *variable = unknown_variable(function, statement);
	int columns = sqlite3_column_count(statement);
	if (variable)
		return sqlite3_mprintf("function %s has no argument %s", function->name, variable);
	if (columns == 0 || !sqlite3_stmt_readonly(statement))
		return sqlite3_mprintf("function %s: its body is no select", function->name);
	if (!function->table && columns != 1)
		return sqlite3_mprintf("function %s: its body gives %d columns, not one", function->name, columns);
	if (function->table && (size_t)columns != function->columns.count)
		return sqlite3_mprintf("function %s: its body gives %d columns, not %d", function->name, columns,
		                       (int)function->columns.count);
	for (int i = 0; function->table && i < columns; i++) {
		const char *name = sqlite3_column_name(statement, i);
		if (sqlite3_stricmp(name ? name : "", function->columns.items[i]) != 0)
			return sqlite3_mprintf("function %s: column %d is %s, but its body gives %s", function->name,
			                       i + 1, function->columns.items[i], name);
	}
	return NULL;
}

/* Prepares the body; where a column is ambiguous that Perfetto's tables do not have, the body is over tables without it
 * from now on. */
static sqlite3_stmt *prepare_body(struct sql_function *function, sqlite3 *db)
{
	sqlite3_stmt *statement = NULL;
	if (sqlite3_prepare_v2(db, function->body, -1, &statement, NULL) == SQLITE_OK || !sql_is_ambiguous(db))
		return statement;
	char *narrow = sql_narrow(function->body);
	if (narrow && sqlite3_prepare_v2(db, narrow, -1, &statement, NULL) == SQLITE_OK) {
		free(function->body);
		function->body = narrow;
	} else
		free(narrow);
	return statement;
}

/* What SQLite says, with the function's name where it is not there yet. */
static char *words_of(const struct sql_function *function, sqlite3 *db)
{
	const char *message = sqlite3_errmsg(db);
	bool named = strncmp(message, "function ", strlen("function ")) == 0;
	return named ? sqlite3_mprintf("%s", message) : sqlite3_mprintf("%s: %s", function->name, message);
}

sqlite3_stmt *sql_function_prepare(struct sql_function *function, char **error)
{
	*error = NULL;
	sqlite3 *db = function->aside ? sql_aside_open(function->aside, error) : function->calls->db;
	if (!db)
		return NULL;
	sqlite3_stmt *statement = prepare_body(function, db);
	*error = statement ? mistake(function, statement) : words_of(function, db);
	if (!*error)
		return statement;
	sqlite3_finalize(statement);
	return NULL;
}

bool sql_function_enter(struct sql_function *function, char **error)
{
	*error = NULL;
	if (function->calls->depth == SQL_CALLS_DEEPEST) {
		*error = sqlite3_mprintf("function %s: calls are more than %d deep", function->name, SQL_CALLS_DEEPEST);
		return false;
	}
	function->calls->depth++;
	return true;
}

void sql_function_leave(struct sql_function *function)
{
	function->calls->depth--;
}

void sql_function_bind(const struct sql_function *function, sqlite3_stmt *statement, size_t argument,
                       sqlite3_value *value)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++)
		if (sqlite3_stricmp(sqlite3_bind_parameter_name(statement, i) + 1,
		                    function->arguments.items[argument]) == 0)
			sqlite3_bind_value(statement, i, value);
}

/* ---- One value. ---- */

static void fail(sqlite3_context *context, char *error)
{
	if (error)
		sqlite3_result_error(context, error, -1);
	else
		sqlite3_result_error_nomem(context);
	sqlite3_free(error);
}

/* SQLite's words of a failure inside of a function that was called are kept. */
static void fail_step(sqlite3_context *context, const struct sql_function *function, int result)
{
	if (result == SQLITE_INTERRUPT || result == SQLITE_NOMEM)
		sqlite3_result_error_code(context, result);
	else
		sqlite3_result_error(context, sqlite3_errmsg(function->calls->db), -1);
}

static void give_value(sqlite3_context *context, const struct sql_function *function, sqlite3_stmt *statement)
{
	int result = sqlite3_step(statement);
	if (result == SQLITE_ROW) {
		sqlite3_result_value(context, sqlite3_column_value(statement, 0));
		result = sqlite3_step(statement);
		if (result == SQLITE_ROW) {
			fail(context, sqlite3_mprintf("function %s: its body gives more than one row", function->name));
			return;
		}
	}
	if (result != SQLITE_DONE)
		fail_step(context, function, result);
}

static void run_body(sqlite3_context *context, struct sql_function *function, sqlite3_value **values)
{
	char *error = NULL;
	sqlite3_stmt **kept = &function->kept[function->calls->depth - 1];
	sqlite3_stmt *statement = *kept ? *kept : sql_function_prepare(function, &error);
	if (!statement) {
		fail(context, error);
		return;
	}
	*kept = NULL;
	for (size_t i = 0; i < function->arguments.count; i++)
		sql_function_bind(function, statement, i, values[i]);
	give_value(context, function, statement);
	if (function->calls->kept) {
		sqlite3_reset(statement);
		*kept = statement;
	} else
		sqlite3_finalize(statement);
}

static void call(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sql_function *function = sqlite3_user_data(context);
	char *error;
	(void)argc;
	if (!sql_function_enter(function, &error)) {
		fail(context, error);
		return;
	}
	run_body(context, function, argv);
	sql_function_leave(function);
}

/* ---- What is known to SQLite. ---- */

int sql_function_register(struct sql_function *function)
{
	/* One without arguments is called once in a statement. */
	int flags = SQLITE_UTF8 | (function->arguments.count ? 0 : SQLITE_DETERMINISTIC);
	return sqlite3_create_function_v2(function->calls->db, function->name, (int)function->arguments.count, flags,
	                                  function, call, NULL, NULL, sql_function_free);
}

int sql_function_remove(sqlite3 *db, const char *name, size_t arguments, bool table)
{
	if (table)
		return sqlite3_create_module_v2(db, name, NULL, NULL, NULL);
	return sqlite3_create_function_v2(db, name, (int)arguments, SQLITE_UTF8, NULL, NULL, NULL, NULL, NULL);
}
