/* narrow.h - tables with Perfetto's columns alone, for statements to which one of ours more is ambiguous. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_NARROW_H
#define SQL_PERFETTO_NARROW_H

#include "sql/engine/sqlite.h"

#include <stdbool.h>

/* Whether the last statement was refused as a column is in two tables. */
bool sql_is_ambiguous(sqlite3 *db);

/* Returns the text of a statement with tables of Perfetto's columns alone, to be freed; NULL where there is none in it,
 * or no memory. */
char *sql_narrow(const char *text);

#endif
