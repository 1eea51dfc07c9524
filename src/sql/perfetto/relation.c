/* relation.c - create perfetto table, view and index: what is made is temporary. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/relation.h"

#include "sql/perfetto/typed.h"
#include "sql/tables/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the columns of the body are those that the statement lists. */
static bool check_columns(struct sql_preparing *preparing, sqlite3_stmt *body)
{
	const struct sql_names *columns = &preparing->own.columns;
	size_t offset = (size_t)(preparing->own.body - preparing->text);
	int count = sqlite3_column_count(body);
	if (count == 0 || !sqlite3_stmt_readonly(body))
		return sql_fault_set(preparing->fault, offset, "this is no select");
	if (columns->count && (size_t)count != columns->count)
		return sql_fault_set(preparing->fault, offset, "%zu columns are listed, but the select gives %d",
		                     columns->count, count);
	for (size_t i = 0; i < columns->count; i++) {
		const char *name = sqlite3_column_name(body, (int)i);
		if (sqlite3_stricmp(name ? name : "", columns->items[i]) != 0)
			return sql_fault_set(preparing->fault, offset, "column %zu is %s, but the select gives %s",
			                     i + 1, columns->items[i], name ? name : "");
	}
	return true;
}

static bool check_body(struct sql_preparing *preparing)
{
	struct sql_source source = {.written = preparing->text};
	sqlite3_stmt *body = NULL;
	bool fine = sql_prepare_expand(preparing, &source, preparing->own.body, preparing->own.end) &&
	            sql_prepare_source(preparing, &source, &body) && check_columns(preparing, body);
	sqlite3_finalize(body);
	sql_source_free(&source);
	return fine;
}

/* 'table', 'view' or 'index', if there is a temporary one of that name; NULL otherwise. */
static const char *kind_of(const struct sql_script *script, const char *name)
{
	static const char *const kinds[] = {"table", "view", "index", NULL};
	sqlite3_stmt *find = NULL;
	const char *found = NULL;
	if (sqlite3_prepare_v2(
		script->calls.db,
		"select type from temp.sqlite_schema where name = ?1 collate nocase and type <> 'trigger'", -1, &find,
		NULL) == SQLITE_OK &&
	    sqlite3_bind_text(find, 1, name, -1, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(find) == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(find, 0);
		for (size_t i = 0; type && kinds[i] && !found; i++)
			found = strcmp(type, kinds[i]) == 0 ? kinds[i] : NULL;
	}
	sqlite3_finalize(find);
	return found;
}

/* `select x, y from (`: with a look at each value, of a table whose columns are listed. */
static bool make_typed(const struct sql_preparing *preparing, struct sql_source *source)
{
	const struct sql_own_statement *own = &preparing->own;
	struct tw_text made = {0};
	bool fine = tw_text_add(&made, "select ", strlen("select "));
	for (size_t i = 0; i < own->columns.count && fine; i++)
		fine = (i == 0 || tw_text_add(&made, ", ", strlen(", "))) &&
		       sql_typed_add(&made, own->columns.items[i], own->types[i]);
	fine = fine && tw_text_add(&made, " from (", strlen(" from ("));
	if (fine)
		sql_source_make(source, own->body, made.bytes, made.length);
	source->failed |= !fine;
	tw_text_free(&made);
	return fine;
}

/* The statement that SQLite gets: the first words are made, the body stands as it was written. */
static bool prepare_relation(struct sql_preparing *preparing, const char *kind)
{
	const struct sql_own_statement *own = &preparing->own;
	struct sql_source source = {.written = preparing->text};
	bool index = own->kind == SQL_OWN_INDEX;
	char first[32];
	int length = snprintf(first, sizeof first, index ? "create index temp." : "create temp %s ", kind);
	sql_source_make(&source, own->name.at, first, (size_t)length);
	sql_source_keep(&source, own->name.at, sql_token_end(&own->name));
	sql_source_make(&source, own->body, index ? " " : " as ", index ? 1 : strlen(" as "));
	size_t body = source.text.length;
	const bool typed = own->kind == SQL_OWN_TABLE && own->columns.count && make_typed(preparing, &source);
	bool fine = sql_prepare_expand(preparing, &source, own->body, own->end);
	if (typed)
		sql_source_make(&source, own->end, "\n)", strlen("\n)")); /* the body may end with a comment */
	if (fine && own->kind == SQL_OWN_VIEW)
		fine = sql_prepare_narrow(preparing, &source, body);
	fine = fine && sql_prepare_source(preparing, &source, &preparing->statement);
	sql_source_free(&source);
	return fine;
}

/* What there was of the name stays when the new one is wrong. */
static bool replace_relation(struct sql_preparing *preparing, const char *kind, const char *name)
{
	struct sql_script *script = preparing->script;
	const char *old = kind_of(script, name);
	if (!old)
		return prepare_relation(preparing, kind);
	if (!sql_prepare_run(script, sqlite3_mprintf("savepoint replaces; drop %s temp.\"%w\"", old, name))) {
		sql_script_fault(script, sql_prepare_offset(preparing, &preparing->own.name), preparing->fault);
		return false;
	}
	bool fine = prepare_relation(preparing, kind);
	sql_prepare_run(script, sqlite3_mprintf(fine ? "release replaces" : "rollback to replaces; release replaces"));
	return fine;
}

/* Tables of the trace stand in the database itself: what is temporary would hide one. */
bool sql_relation_is_builtin(const char *name)
{
	for (size_t i = 0; sql_tables[i]; i++)
		if (sqlite3_stricmp(sql_tables[i]->name, name) == 0)
			return true;
	return false;
}

bool sql_relation_refuse(struct sql_preparing *preparing, const struct sql_token *token, const char *name)
{
	return sql_fault_set(preparing->fault, sql_prepare_offset(preparing, token),
	                     "%s is a table of the trace: create or replace perfetto hides it", name);
}

bool sql_relation_create(struct sql_preparing *preparing)
{
	const struct sql_own_statement *own = &preparing->own;
	const char *kind = own->kind == SQL_OWN_VIEW ? "view" : "table";
	if (own->kind != SQL_OWN_INDEX && !check_body(preparing))
		return false;
	char *name = sql_token_name(&own->name);
	if (!name)
		return sql_prepare_no_memory(preparing);
	bool fine;
	if (own->kind != SQL_OWN_INDEX && !own->replaces && sql_relation_is_builtin(name))
		fine = sql_relation_refuse(preparing, &own->name, name);
	else
		fine = own->replaces ? replace_relation(preparing, kind, name) : prepare_relation(preparing, kind);
	free(name);
	return fine;
}

bool sql_relation_drop(struct sql_script *script, enum sql_own kind, const char *name)
{
	static const char *const words[] = {
	    [SQL_OWN_TABLE] = "table", [SQL_OWN_VIEW] = "view", [SQL_OWN_INDEX] = "index"};
	const char *there = kind_of(script, name);
	return there && strcmp(there, words[kind]) == 0 &&
	       sql_prepare_run(script, sqlite3_mprintf("drop %s temp.\"%w\"", there, name));
}
