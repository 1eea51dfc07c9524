/* spill.h - temporary files of queries, which take so much of a disk and no more. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_SPILL_H
#define SQL_ENGINE_SPILL_H

#include "sql/engine/sqlite.h"

#include <stddef.h>

/* How much the files of some connections take. */
struct sql_spill;

/* Opens a connection without a database, whose temporary files may take 16 times a memory limit (0: the default), with
 * those of others of the same spill. *spill is made where it is NULL. Returns one of SQLite's results. */
int sql_spill_open(struct sql_spill **spill, size_t memory, sqlite3 **db);

/* What stands behind SQLite's words for the last fault of a connection: that the limit is why, or nothing. */
const char *sql_spill_hint(sqlite3 *db, int code);

/* The connections are closed before. */
void sql_spill_free(struct sql_spill *spill);

#endif
