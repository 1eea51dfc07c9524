/* sqlite.c - SQLite, loaded by the first who asks a question. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/sqlite.h"

#include "base/load.h"

const sqlite3_api_routines *sqlite3_api;

TW_DLOPEN_NOTE("libsqlite3.so.0", "sql", "Questions in SQL, and those of the page of view", "recommended")

/* The two functions that lead to all others: SQLite hands its table of functions to extensions, and this is one. */
struct first_functions {
	__typeof__(sqlite3_api->auto_extension) auto_extension;
	__typeof__(sqlite3_api->open) open;
};

static const struct tw_loaded functions[] = {
    {"sqlite3_auto_extension", offsetof(struct first_functions, auto_extension)},
    {"sqlite3_open", offsetof(struct first_functions, open)},
};

/* Is called for each connection that is opened. */
static int keep(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	(void)db;
	(void)error;
	sqlite3_api = api;
	return SQLITE_OK;
}

static const char *find_functions(void)
{
	struct first_functions library;
	sqlite3 *db = NULL;
	const char *missing = tw_load("libsqlite3.so.0", &library, functions, sizeof functions / sizeof *functions);
	if (missing)
		return missing;
	if (library.auto_extension((void (*)(void))keep) == SQLITE_NOMEM ||
	    library.open(":memory:", &db) == SQLITE_NOMEM)
		return "out of memory";
	if (!sqlite3_api)
		return "the library takes no extensions";
	sqlite3_cancel_auto_extension((void (*)(void))keep);
	sqlite3_close(db);
	return NULL;
}

const char *sql_sqlite_load(void)
{
	const char *missing = sqlite3_api ? NULL : find_functions();
	if (missing)
		return missing;
	return sqlite3_libversion_number() < SQL_SQLITE_LEAST ? "the library is older than 3.38" : NULL;
}
