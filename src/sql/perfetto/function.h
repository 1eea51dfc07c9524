/* function.h - functions whose body is a statement: of one value, or of a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_FUNCTION_H
#define SQL_PERFETTO_FUNCTION_H

#include "sql/engine/sqlite.h"
#include "sql/perfetto/aside.h"
#include "sql/perfetto/macro.h"

enum { SQL_CALLS_DEEPEST = 100 }; /* functions inside of functions */

struct sql_names {
	char **items;
	size_t count, room;
};

/* What functions of a connection have in common. */
struct sql_calls {
	sqlite3 *db;
	unsigned depth; /* of calls that go on */
	bool kept;      /* statements are kept from call to call: whoever closes the connection finalizes them first */
};

struct sql_function {
	struct sql_calls *calls;
	struct sql_aside *aside; /* where its body is run; NULL: in the connection itself */
	char *name, *body;
	struct sql_names arguments;
	struct sql_names columns; /* of a table */
	bool table;
	sqlite3_stmt *kept[SQL_CALLS_DEEPEST]; /* by depth, while they are not used; not the function's to finalize */
};

bool sql_names_add(struct sql_names *names, char *name);
void sql_names_free(struct sql_names *names);

/* Makes a function of one value known to its connection, which frees it; function_table.c: one of a table. Return one
 * of SQLite's results. */
int sql_function_register(struct sql_function *function);
int sql_function_register_table(struct sql_function *function);

/* Takes it away. */
int sql_function_remove(sqlite3 *db, const char *name, size_t arguments, bool table);

void sql_function_free(void *function);

/* Prepares the body with an argument for each of its variables. NULL: *error tells, to be freed by sqlite3_free(), or
 * there was no memory. */
sqlite3_stmt *sql_function_prepare(struct sql_function *function, char **error);

/* One of these at the begin of whatever runs a body, the other at its end. False: calls are too deep; *error tells. */
bool sql_function_enter(struct sql_function *function, char **error);
void sql_function_leave(struct sql_function *function);

/* Gives a body the value of an argument, wherever it stands. */
void sql_function_bind(const struct sql_function *function, sqlite3_stmt *statement, size_t argument,
                       sqlite3_value *value);

#endif
