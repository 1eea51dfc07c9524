/* guard.c - what statements may do.
 *
 * A query may have been written by somebody else than who runs it. Sources: "Defense Against The Dark Arts" and
 * "Compile-Time Authorization Callbacks" of SQLite's documentation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/guard.h"

#include <stdbool.h>
#include <string.h>

/* ---- Settings. ---- */

void sql_guard_settings(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
}

/* ---- Statements. ---- */

static bool is_one_of(const char *name, const char *const *names)
{
	while (name && *names && sqlite3_stricmp(name, *names) != 0)
		names++;
	return name && *names;
}

/* Functions that load code, or take or give addresses or files. */
static bool is_function_allowed(const char *name)
{
	static const char *const refused[] = {"load_extension", "fts3_tokenizer", "readfile",
	                                      "writefile",      "edit",           NULL};
	return !is_one_of(name, refused);
}

/* Pragmas that tell what there is. */
static bool is_pragma_allowed(const char *name)
{
	static const char *const allowed[] = {"table_info",          "table_xinfo", "table_list",     "index_list",
	                                      "index_info",          "index_xinfo", "database_list",  "function_list",
	                                      "module_list",         "pragma_list", "collation_list", "compile_options",
	                                      "case_sensitive_like", NULL};
	return is_one_of(name, allowed);
}

/* Rows may be changed in the temporary database, and SQLite notes in its own tables what has been made; it does not let
 * statements write there. */
static bool is_change_allowed(const char *table, const char *database)
{
	static const char *const schemas[] = {"sqlite_master", "sqlite_temp_master", NULL};
	return is_one_of(table, schemas) || (database && strcmp(database, "temp") == 0);
}

/* Modules whose tables read what the connection has; `trackway` opens a file. */
static bool is_module_allowed(const char *name, enum sql_guard guard)
{
	static const char *const spans[] = {"span_join", "span_left_join", "span_outer_join", NULL};
	return is_one_of(name, spans) || (guard == SQL_GUARD_NAMED && name && sqlite3_stricmp(name, "trackway") == 0);
}

static bool is_allowed(int action, const char *first, const char *second, const char *database, enum sql_guard guard)
{
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
	case SQLITE_CREATE_TEMP_TABLE:
	case SQLITE_CREATE_TEMP_INDEX:
	case SQLITE_CREATE_TEMP_VIEW:
	case SQLITE_CREATE_TEMP_TRIGGER:
	case SQLITE_DROP_TEMP_TABLE:
	case SQLITE_DROP_TEMP_INDEX:
	case SQLITE_DROP_TEMP_VIEW:
	case SQLITE_DROP_TEMP_TRIGGER:
	case SQLITE_DROP_VTABLE:
	case SQLITE_DELETE: /* a part of dropping one: rows of ours cannot be deleted */
		return true;
	case SQLITE_INSERT:
	case SQLITE_UPDATE:
		return is_change_allowed(first, database);
	case SQLITE_REINDEX:
		return database && strcmp(database, "temp") == 0;
	case SQLITE_CREATE_VTABLE:
		return is_module_allowed(second, guard);
	case SQLITE_FUNCTION:
		return is_function_allowed(second);
	case SQLITE_PRAGMA:
		return is_pragma_allowed(first);
	default:
		return false;
	}
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
	const enum sql_guard *guard = context;
	(void)trigger;
	return is_allowed(action, first, second, database, *guard) ? SQLITE_OK : SQLITE_DENY;
}

int sql_guard_statements(sqlite3 *db, enum sql_guard guard)
{
	static enum sql_guard guards[] = {SQL_GUARD_GIVEN, SQL_GUARD_NAMED};
	return sqlite3_set_authorizer(db, authorize, &guards[guard]);
}

/* ---- Memory. ---- */

void sql_guard_memory(size_t limit)
{
	sqlite3_hard_heap_limit64((sqlite3_int64)limit);
}

/* What was asked for last is not known: the largest there was stands for it. */
bool sql_guard_memory_reached(void)
{
	sqlite3_int64 limit = sqlite3_hard_heap_limit64(-1);
	int now = 0, largest = 0;
	sqlite3_status(SQLITE_STATUS_MALLOC_SIZE, &now, &largest, 0);
	return limit > 0 && largest > limit - sqlite3_memory_highwater(0);
}
