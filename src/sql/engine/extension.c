/* extension.c - the tables as an extension that SQLite's shell, Python and others can load. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/guard.h"
#include "sql/perfetto/script.h"
#include "sql/tables/table.h"

SQLITE_EXTENSION_INIT1

static void free_session(void *session)
{
	sql_session_free(session);
}

/* trackway_open('file'), trackway_open('file', 'program'): its tables are the connection's from now on. Gives the
 * number of files. */
static void open_trace(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sql_session *session = sqlite3_user_data(context);
	const char *path = (const char *)sqlite3_value_text(argv[0]);
	const char *program = argc > 1 ? (const char *)sqlite3_value_text(argv[1]) : NULL;
	if (!path) {
		sqlite3_result_error(context, "trackway_open wants the name of a file", -1);
		return;
	}
	if (session->cursors) {
		sqlite3_result_error(context, "trackway_open: a statement is reading the tables", -1);
		return;
	}
	int status = sql_session_add(session, path);
	bool added = status == 0;
	if (added)
		status = sql_file_try(session, session->count - 1);
	if (status == 0)
		status = sql_file_name(session, session->count - 1, program);
	if (added && status < 0)
		sql_session_remove_last(session);
	if (status < 0)
		sqlite3_result_error(context, session->error, -1);
	else
		sqlite3_result_int64(context, (sqlite3_int64)session->count);
}

static void free_script(void *script)
{
	sql_script_free(script);
}

/* trackway_include('slices.with_context'): what the module of Perfetto's makes is there from now on. */
static void include_module(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sql_script *script = sqlite3_user_data(context);
	const char *name = (const char *)sqlite3_value_text(argv[0]);
	struct sql_fault fault;
	(void)argc;
	if (!name || !sql_script_include(script, name, &fault))
		sqlite3_result_error(context, name ? fault.text : "trackway_include wants the name of a module", -1);
}

static int register_script(sqlite3 *db, struct sql_session *session)
{
	struct sql_script *script = sql_script_new(db, session, false);
	if (!script)
		return SQLITE_NOMEM;
	return sqlite3_create_function_v2(db, "trackway_include", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, script,
	                                  include_module, NULL, NULL, free_script);
}

TW_API int sqlite3_trackwaysqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

int sqlite3_trackwaysqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < SQL_SQLITE_LEAST) {
		*error = sqlite3_mprintf("trackway: SQLite is older than 3.38");
		return SQLITE_ERROR;
	}
	struct sql_session *session = sql_session_new(NULL);
	if (!session)
		return SQLITE_NOMEM;
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	int result =
	    sqlite3_create_function_v2(db, "trackway_open", 1, flags, session, open_trace, NULL, NULL, free_session);
	if (result == SQLITE_OK) /* the session is the first one's to free */
		result =
		    sqlite3_create_function_v2(db, "trackway_open", 2, flags, session, open_trace, NULL, NULL, NULL);
	if (result == SQLITE_OK)
		result = sql_register(db, session);
	if (result == SQLITE_OK)
		result = register_script(db, session);
	sql_guard_settings(db);
	if (result != SQLITE_OK)
		*error = sqlite3_mprintf("trackway: %s", sqlite3_errstr(result));
	return result;
}
