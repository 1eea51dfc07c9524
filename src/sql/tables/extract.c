/* extract.c - extract_arg(arg_set_id, key): an argument of a slice or another event. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/extract.h"

#include "sql/tables/table.h"

#include <stdlib.h>

/* A connection of its own, which lives as long as the session: a statement of the owner's would keep its connection
 * from being closed. */
struct sql_extract {
	sqlite3 *db;
	sqlite3_stmt *find;
};

static const char find[] = "select coalesce(int_value, real_value, string_value) from args where arg_set_id = ?1 and "
			   "key = ?2";

static void free_extract(struct sql_extract *extract)
{
	sqlite3_finalize(extract->find);
	sqlite3_close(extract->db);
	free(extract);
}

static int open_extract(struct sql_session *session)
{
	if (session->extract)
		return SQLITE_OK;
	struct sql_extract *extract = calloc(1, sizeof *extract);
	if (!extract)
		return SQLITE_NOMEM;
	int result = sqlite3_open(":memory:", &extract->db);
	result = result == SQLITE_OK ? sql_register_tables(extract->db, session) : result;
	result = result == SQLITE_OK ? sqlite3_prepare_v2(extract->db, find, -1, &extract->find, NULL) : result;
	if (result != SQLITE_OK) {
		free_extract(extract);
		return result;
	}
	session->extract = extract;
	session->free_extract = free_extract;
	return SQLITE_OK;
}

static void extract_arg(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	struct sql_session *session = sqlite3_user_data(context);
	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
		return;
	int result = open_extract(session);
	if (result != SQLITE_OK) {
		sqlite3_result_error_code(context, result);
		return;
	}
	sqlite3_stmt *statement = session->extract->find;
	sqlite3_bind_value(statement, 1, argv[0]);
	sqlite3_bind_value(statement, 2, argv[1]);
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		sqlite3_result_value(context, sqlite3_column_value(statement, 0));
	else if (result == SQLITE_INTERRUPT || result == SQLITE_NOMEM)
		sqlite3_result_error_code(context, result);
	else if (result != SQLITE_DONE)
		sqlite3_result_error(context, sqlite3_errmsg(session->extract->db), -1);
	sqlite3_reset(statement);
}

int sql_extract_register(sqlite3 *db, struct sql_session *session)
{
	return sqlite3_create_function_v2(db, "extract_arg", 2, SQLITE_UTF8, session, extract_arg, NULL, NULL, NULL);
}
