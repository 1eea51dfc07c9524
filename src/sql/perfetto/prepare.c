/* prepare.c - what SQLite gets of a statement: macros are expanded, ambiguous columns taken away. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/prepare.h"

#include "sql/engine/spill.h"
#include "sql/perfetto/narrow.h"

#include <stdlib.h>
#include <string.h>

void sql_script_fault(const struct sql_script *script, size_t offset, struct sql_fault *fault)
{
	const int code = sqlite3_errcode(script->calls.db);
	sql_fault_set(fault, offset, "%s%s", sqlite3_errmsg(script->calls.db), sql_spill_hint(script->calls.db, code));
	fault->code = code;
	fault->placed = sqlite3_error_offset(script->calls.db) >= 0;
}

size_t sql_prepare_offset(const struct sql_preparing *preparing, const struct sql_token *token)
{
	return (size_t)(token->at - preparing->text);
}

bool sql_prepare_no_memory(const struct sql_preparing *preparing)
{
	return sql_fault_set(preparing->fault, 0, "out of memory");
}

bool sql_prepare_run(struct sql_script *script, char *statement)
{
	bool fine = statement && sqlite3_exec(script->calls.db, statement, NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_free(statement);
	return fine;
}

/* Prepares a statement; where a column is ambiguous that Perfetto's tables do not have, over tables without it.
 * SQLite's words are those of the statement as it was. */
static bool prepare_text(struct sql_preparing *preparing, const char *text, sqlite3_stmt **statement, int *offset)
{
	sqlite3 *db = preparing->script->calls.db;
	if (sqlite3_prepare_v2(db, text, -1, statement, NULL) == SQLITE_OK)
		return true;
	*offset = sqlite3_error_offset(db);
	sql_script_fault(preparing->script, 0, preparing->fault);
	char *narrow = sql_is_ambiguous(db) ? sql_narrow(text) : NULL;
	bool fine = narrow && sqlite3_prepare_v2(db, narrow, -1, statement, NULL) == SQLITE_OK;
	free(narrow);
	return fine;
}

bool sql_prepare_source(struct sql_preparing *preparing, struct sql_source *source, sqlite3_stmt **statement)
{
	int offset = -1;
	if (source->failed)
		return sql_prepare_no_memory(preparing);
	if (prepare_text(preparing, source->text.bytes, statement, &offset))
		return true;
	preparing->fault->offset = sql_source_place(source, offset > 0 ? (size_t)offset : 0);
	return false;
}

/* A view is looked at by SQLite when it is used: whether its tables must be without a column is known now. */
bool sql_prepare_narrow(struct sql_preparing *preparing, struct sql_source *source, size_t body)
{
	sqlite3 *db = preparing->script->calls.db;
	sqlite3_stmt *select = NULL;
	if (source->failed || sqlite3_prepare_v2(db, source->text.bytes + body, -1, &select, NULL) == SQLITE_OK ||
	    !sql_is_ambiguous(db)) {
		sqlite3_finalize(select);
		return true;
	}
	char *narrow = sql_narrow(source->text.bytes + body);
	source->text.length = body;
	source->text.bytes[body] = '\0';
	bool fine = narrow && tw_text_add(&source->text, narrow, strlen(narrow));
	free(narrow);
	return fine || sql_prepare_no_memory(preparing);
}

bool sql_prepare_expand(struct sql_preparing *preparing, struct sql_source *source, const char *from, const char *end)
{
	return sql_macro_expand(preparing->script->macros, source, from, end, preparing->fault);
}
