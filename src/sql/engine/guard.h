/* guard.h - what statements may do: read, and keep rows of their own for as long as the connection lives. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_GUARD_H
#define SQL_ENGINE_GUARD_H

#include "sql/engine/sqlite.h"

#include <stdbool.h>
#include <stddef.h>

/* Switches off in a connection, which may be somebody else's, what no query needs: tables are not changed behind
 * SQLite's back, and no address is taken for a tokenizer of fts3. */
void sql_guard_settings(sqlite3 *db);

/* The traces that statements may read: the given ones, or whatever file a statement names. */
enum sql_guard { SQL_GUARD_GIVEN, SQL_GUARD_NAMED };

/* Allows a connection of ours queries, what is temporary, and with SQL_GUARD_NAMED `create virtual table ... using
 * trackway`: no statement opens, makes or changes a file but for reading a trace. Returns one of SQLite's results. */
int sql_guard_statements(sqlite3 *db, enum sql_guard guard);

/* Limits the memory that SQLite takes, in all connections together. */
void sql_guard_memory(size_t limit);

/* Whether that limit is why the last statement found no memory. */
bool sql_guard_memory_reached(void);

#endif
