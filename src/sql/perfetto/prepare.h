/* prepare.h - what SQLite gets of a statement. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_PREPARE_H
#define SQL_PERFETTO_PREPARE_H

#include "sql/perfetto/parse.h"
#include "sql/perfetto/script.h"

/* A statement that is being prepared. */
struct sql_preparing {
	struct sql_script *script;
	const char *text, *end; /* end: behind its semicolon */
	struct sql_own_statement own;
	struct sql_fault *fault;
	sqlite3_stmt *statement;
};

/* Where a token stands in the text of the statement. */
size_t sql_prepare_offset(const struct sql_preparing *preparing, const struct sql_token *token);

/* Says so; returns false. */
bool sql_prepare_no_memory(const struct sql_preparing *preparing);

/* Runs a statement that sqlite3_mprintf() has made, and frees it. */
bool sql_prepare_run(struct sql_script *script, char *statement);

/* Adds what stands between two places, with macros expanded. */
bool sql_prepare_expand(struct sql_preparing *preparing, struct sql_source *source, const char *from, const char *end);

/* A view is looked at by SQLite when it is used: takes the columns away of which one is ambiguous. body: where its
 * select begins in the source. */
bool sql_prepare_narrow(struct sql_preparing *preparing, struct sql_source *source, size_t body);

/* Prepares the text of a source. */
bool sql_prepare_source(struct sql_preparing *preparing, struct sql_source *source, sqlite3_stmt **statement);

#endif
