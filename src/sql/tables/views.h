/* views.h - what Perfetto's trace processor has under names of its own: as views, or told what it is here. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_TABLES_VIEWS_H
#define SQL_TABLES_VIEWS_H

#include "sql/engine/sqlite.h"

#include <stddef.h>

struct sql_alias {
	const char *name;
	const char *summary; /* begins small, no full stop */
	const char *select;
};

/* The last has no name. */
extern const struct sql_alias sql_aliases[];

/* Makes all views of a connection, as temporary ones, but those whose name a table of its database has. Returns one of
 * SQLite's results. */
int sql_views_make(sqlite3 *db);

/* What a table of Perfetto's that is not here is called; NULL: not known. */
const char *sql_table_instead(const char *name);

/* The name of such a table; NULL past the last. */
const char *sql_table_elsewhere(size_t i);

#endif
