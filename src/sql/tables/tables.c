/* tables.c - all tables that there are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/tables.h"

const struct sql_table *const sql_tables[] = {
#define X(name) &sql_table_##name,
    SQL_TABLE_LIST(X)
#undef X
	NULL,
};
