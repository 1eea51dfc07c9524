/* register.c - tables, functions and views made known to a connection, and where the tables of other tools are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/functions.h"
#include "sql/tables/extract.h"
#include "sql/tables/table.h"
#include "sql/tables/views.h"

/* Refuses the name of a table that other tools have, with the table that has its rows here. A virtual table's xConnect
 * is the only place where SQLite lets us say so. */
static int refuse_name(sqlite3 *db, void *name, int argc, const char *const *argv, sqlite3_vtab **made, char **error)
{
	(void)db, (void)argc, (void)argv, (void)made;
	*error = sqlite3_mprintf("no such table: %s; here that is %s", name, sql_table_instead(name));
	return SQLITE_ERROR;
}

static const sqlite3_module elsewhere = {
    .xConnect = refuse_name,
};

int sql_register(sqlite3 *db, struct sql_session *session)
{
	int result = sql_register_tables(db, session);
	const char *name;
	for (size_t i = 0; (name = sql_table_elsewhere(i)) && result == SQLITE_OK; i++)
		result = sqlite3_create_module_v2(db, name, &elsewhere, (void *)(uintptr_t)name, NULL);
	result = result == SQLITE_OK ? sql_extract_register(db, session) : result;
	result = result == SQLITE_OK ? sql_functions_register(db) : result;
	return result == SQLITE_OK ? sql_views_make(db) : result;
}
