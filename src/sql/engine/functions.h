/* functions.h - functions that SQLite has not by itself, and that pasted statements call: X regexp Y, percentile(). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_FUNCTIONS_H
#define SQL_ENGINE_FUNCTIONS_H

#include "sql/engine/sqlite.h"

/* Makes them known to a connection. Returns one of SQLite's results. */
int sql_functions_register(sqlite3 *db);

#endif
