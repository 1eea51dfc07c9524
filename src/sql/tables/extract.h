/* extract.h - extract_arg(arg_set_id, key): an argument of a slice or another event. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_TABLES_EXTRACT_H
#define SQL_TABLES_EXTRACT_H

#include "sql/engine/session.h"
#include "sql/engine/sqlite.h"

/* Makes the function known to a connection. Returns one of SQLite's results. */
int sql_extract_register(sqlite3 *db, struct sql_session *session);

#endif
