/* parse.h - Perfetto's own statements, taken apart. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_PARSE_H
#define SQL_PERFETTO_PARSE_H

#include "sql/perfetto/function.h"
#include "sql/perfetto/tokens.h"

enum sql_own {
	SQL_OWN_NONE, /* SQLite's */
	SQL_OWN_TABLE,
	SQL_OWN_VIEW,
	SQL_OWN_INDEX,
	SQL_OWN_FUNCTION,
	SQL_OWN_MACRO,
	SQL_OWN_INCLUDE,
	SQL_OWN_DROP
};

/* Where its parts stand in the text. */
struct sql_own_statement {
	enum sql_own kind, dropped; /* dropped: what `drop` is about */
	bool replaces, if_exists;
	struct sql_token name; /* of a module all of its words: a.b.* */
	struct sql_names arguments, columns;
	int types[SQL_ARGUMENTS_MOST]; /* of the columns: typed.h */
	bool returns_table;
	const char *body, *end; /* end: the semicolon, or the end of the text */
};

/* Takes the statement at the begin of a text; free it in any case. False: *fault tells. */
bool sql_own_parse(const char *text, struct sql_own_statement *own, struct sql_fault *fault);
void sql_own_free(struct sql_own_statement *own);

/* The semicolon that ends a statement, or the end of the text. */
const char *sql_statement_end(const char *text);

#endif
