/* typed.h - the types that columns of a table are listed with. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_TYPED_H
#define SQL_PERFETTO_TYPED_H

#include "base/memory/memory.h"
#include "sql/engine/sqlite.h"
#include "sql/perfetto/tokens.h"

#include <stdbool.h>

/* Which type a word is: its number. Negative: none. */
int sql_type_named(const struct sql_token *word);

/* The type whose name is like a mistyped word; NULL: there is none. */
const char *sql_type_like(const struct sql_token *word);

/* Makes known to a connection the function that looks at values. Returns one of SQLite's results. */
int sql_typed_register(sqlite3 *db);

/* Adds a column of a select of which the values must be of a type, or NULL: "check(x) as x". */
bool sql_typed_add(struct tw_text *text, const char *column, int type);

#endif
