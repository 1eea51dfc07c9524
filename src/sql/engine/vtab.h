/* vtab.h - what virtual tables do alike. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_VTAB_H
#define SQL_ENGINE_VTAB_H

#include "sql/engine/sqlite.h"

#include <string.h>

/* Puts a text of sqlite3_mprintf() as the error of a table, which frees it. NULL: there was no memory. Returns the
 * status to return. */
static inline int sql_vtab_fail(sqlite3_vtab *table, char *error)
{
	if (!error)
		return SQLITE_NOMEM;
	sqlite3_free(table->zErrMsg);
	table->zErrMsg = error;
	return SQLITE_ERROR;
}

/* Makes a cursor of a size, all 0, which begins with a sqlite3_vtab_cursor. */
static inline int sql_vtab_open(sqlite3_vtab_cursor **made, size_t size)
{
	*made = sqlite3_malloc64(size);
	if (!*made)
		return SQLITE_NOMEM;
	memset(*made, 0, size);
	return SQLITE_OK;
}

#endif
