/* script.c - statements as Perfetto's users write them.
 *
 * What is not SQLite's becomes SQLite's: a table of Perfetto's is a temporary one. Nothing here is let through that
 * guard.c would not let: SQLite prepares all of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/script.h"

#include "sql/perfetto/modules.h"
#include "sql/perfetto/narrow.h"
#include "sql/perfetto/parse.h"
#include "sql/perfetto/span.h"
#include "sql/tables/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A statement that is being prepared. */
struct preparing {
	struct sql_script *script;
	const char *text, *end; /* end: behind its semicolon */
	struct sql_own_statement own;
	struct sql_fault *fault;
	sqlite3_stmt *statement;
};

void sql_script_fault(const struct sql_script *script, size_t offset, struct sql_fault *fault)
{
	sql_fault_set(fault, offset, "%s", sqlite3_errmsg(script->calls.db));
	fault->code = sqlite3_errcode(script->calls.db);
	fault->placed = sqlite3_error_offset(script->calls.db) >= 0;
}

static size_t offset_of(const struct preparing *preparing, const struct sql_token *token)
{
	return (size_t)(token->at - preparing->text);
}

static bool no_memory(const struct preparing *preparing)
{
	return sql_fault_set(preparing->fault, 0, "out of memory");
}

static bool run(struct sql_script *script, char *statement)
{
	bool fine = statement && sqlite3_exec(script->calls.db, statement, NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_free(statement);
	return fine;
}

/* ---- What SQLite gets. ---- */

/* Prepares a statement; where a column is ambiguous that Perfetto's tables do not have, over tables without it.
 * SQLite's words are those of the statement as it was. */
static bool prepare_text(struct preparing *preparing, const char *text, sqlite3_stmt **statement, int *offset)
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

static bool prepare_source(struct preparing *preparing, struct sql_source *source, sqlite3_stmt **statement)
{
	int offset = -1;
	if (source->failed)
		return no_memory(preparing);
	if (prepare_text(preparing, source->text.bytes, statement, &offset))
		return true;
	preparing->fault->offset = sql_source_place(source, offset > 0 ? (size_t)offset : 0);
	return false;
}

/* A view is looked at by SQLite when it is used: whether its tables must be without a column is known now. */
static bool narrow_view(struct preparing *preparing, struct sql_source *source, size_t body)
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
	return fine || no_memory(preparing);
}

static bool expand(struct preparing *preparing, struct sql_source *source, const char *from, const char *end)
{
	return sql_macro_expand(preparing->script->macros, source, from, end, preparing->fault);
}

/* The body with its macros expanded, to be freed; NULL: *fault tells. */
static char *expand_body(struct preparing *preparing)
{
	struct sql_source source = {.written = preparing->text};
	if (expand(preparing, &source, preparing->own.body, preparing->own.end) && !source.failed) {
		free(source.pieces);
		return source.text.bytes;
	}
	sql_source_free(&source);
	return NULL;
}

/* `create table NAME as` and `create view NAME as` make what is temporary, as nothing else may be made. */
static const char *temporary_place(const char *text)
{
	struct sql_token create = sql_token_next(text), kind = sql_token_next(sql_token_end(&create));
	if (!sql_token_is(&create, "create") || (!sql_token_is(&kind, "view") && !sql_token_is(&kind, "table")))
		return NULL;
	struct sql_token name = sql_token_next(sql_token_end(&kind));
	if (sql_token_is(&name, "if"))
		for (size_t i = 0; i < 3; i++) /* if not exists */
			name = sql_token_next(sql_token_end(&name));
	struct sql_token as = sql_token_next(sql_token_end(&name));
	bool listed = sql_token_is(&kind, "view") && sql_token_is(&as, "(");
	return sql_token_names(&name) && (listed || sql_token_is(&as, "as")) ? kind.at : NULL;
}

/* What stands behind the first `as`, in the text that SQLite gets. */
static size_t body_place(const char *text)
{
	struct sql_token token = sql_token_next(text);
	while (token.kind && !sql_token_is(&token, "as"))
		token = sql_token_next(sql_token_end(&token));
	return (size_t)(sql_token_end(&token) - text);
}

/* Macros are expanded, and what is made becomes temporary. */
static bool prepare_made(struct preparing *preparing, const char *kind, const char *end)
{
	struct sql_source source = {.written = preparing->text};
	struct sql_token word = sql_token_at(kind ? kind : end);
	if (kind) {
		sql_source_keep(&source, preparing->text, kind);
		sql_source_make(&source, kind, "temp ", strlen("temp "));
	}
	bool fine = expand(preparing, &source, kind ? kind : preparing->text, end);
	if (fine && sql_token_is(&word, "view"))
		fine = narrow_view(preparing, &source, body_place(source.text.bytes));
	fine = fine && prepare_source(preparing, &source, &preparing->statement);
	sql_source_free(&source);
	preparing->end = *end ? end + 1 : end;
	return fine;
}

static bool prepare_plain(struct preparing *preparing)
{
	sqlite3 *db = preparing->script->calls.db;
	const char *text = preparing->text, *kind = temporary_place(text), *end = sql_statement_end(text);
	if (kind || sql_macro_called(text, end))
		return prepare_made(preparing, kind, end);
	if (sqlite3_prepare_v2(db, text, -1, &preparing->statement, &preparing->end) == SQLITE_OK)
		return true;
	if (sql_is_ambiguous(db))
		return prepare_made(preparing, NULL, end);
	int offset = sqlite3_error_offset(db);
	sql_script_fault(preparing->script, offset > 0 ? (size_t)offset : 0, preparing->fault);
	return false;
}

/* ---- Tables and views. ---- */

/* Whether the columns of the body are those that the statement lists. */
static bool check_columns(struct preparing *preparing, sqlite3_stmt *body)
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

static bool check_body(struct preparing *preparing)
{
	struct sql_source source = {.written = preparing->text};
	sqlite3_stmt *body = NULL;
	bool fine = expand(preparing, &source, preparing->own.body, preparing->own.end) &&
	            prepare_source(preparing, &source, &body) && check_columns(preparing, body);
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

/* The statement that SQLite gets: the first words are made, the body stands as it was written. */
static bool prepare_relation(struct preparing *preparing, const char *kind)
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
	bool fine = expand(preparing, &source, own->body, own->end);
	if (fine && own->kind == SQL_OWN_VIEW)
		fine = narrow_view(preparing, &source, body);
	fine = fine && prepare_source(preparing, &source, &preparing->statement);
	sql_source_free(&source);
	return fine;
}

/* What there was of the name stays when the new one is wrong. */
static bool replace_relation(struct preparing *preparing, const char *kind, const char *name)
{
	struct sql_script *script = preparing->script;
	const char *old = kind_of(script, name);
	if (!old)
		return prepare_relation(preparing, kind);
	if (!run(script, sqlite3_mprintf("savepoint replaces; drop %s temp.\"%w\"", old, name))) {
		sql_script_fault(script, offset_of(preparing, &preparing->own.name), preparing->fault);
		return false;
	}
	bool fine = prepare_relation(preparing, kind);
	run(script, sqlite3_mprintf(fine ? "release replaces" : "rollback to replaces; release replaces"));
	return fine;
}

static bool create_relation(struct preparing *preparing)
{
	const struct sql_own_statement *own = &preparing->own;
	const char *kind = own->kind == SQL_OWN_VIEW ? "view" : "table";
	if (own->kind != SQL_OWN_INDEX && !check_body(preparing))
		return false;
	char *name = sql_token_name(&own->name);
	if (!name)
		return no_memory(preparing);
	bool fine = own->replaces ? replace_relation(preparing, kind, name) : prepare_relation(preparing, kind);
	free(name);
	return fine;
}

/* ---- Functions and macros. ---- */

static size_t find(const struct sql_names *names, const char *name)
{
	size_t i = 0;
	while (i < names->count && sqlite3_stricmp(names->items[i], name) != 0)
		i++;
	return i;
}

/* Takes the names that were parsed. */
static struct sql_names take(struct sql_names *names)
{
	struct sql_names taken = *names;
	*names = (struct sql_names){0};
	return taken;
}

/* Looks at the body before the function is known, but for one that calls itself. */
static bool check_function(struct preparing *preparing, struct sql_function *function)
{
	char *error = NULL;
	sqlite3_stmt *statement = sql_function_prepare(function, &error);
	if (!statement) {
		size_t offset = (size_t)(preparing->own.body - preparing->text);
		sql_fault_set(preparing->fault, offset, "%s", error ? error : "out of memory");
	}
	sqlite3_finalize(statement);
	sqlite3_free(error);
	return statement;
}

static struct sql_function *new_function(struct preparing *preparing)
{
	struct sql_own_statement *own = &preparing->own;
	char *body = expand_body(preparing);
	struct sql_function *function = body ? calloc(1, sizeof *function) : NULL;
	if (!function) {
		if (body)
			no_memory(preparing);
		free(body);
		return NULL;
	}
	*function = (struct sql_function){
	    .calls = &preparing->script->calls,
	    .aside = !preparing->script->ready && own->returns_table ? preparing->script->aside : NULL,
	    .name = sql_token_name(&own->name),
	    .body = body,
	    .arguments = take(&own->arguments),
	    .columns = take(&own->columns),
	    .table = own->returns_table,
	};
	if (function->name)
		return function;
	sql_function_free(function);
	no_memory(preparing);
	return NULL;
}

/* Remembers which kind of function has a name. */
static bool note_function(struct sql_script *script, const char *name, bool table)
{
	struct sql_names *names = table ? &script->tables : &script->scalars;
	if (find(names, name) < names->count)
		return true;
	return sql_names_add(names, strdup(name));
}

static bool is_function(const struct sql_script *script, const char *name)
{
	return find(&script->scalars, name) < script->scalars.count ||
	       find(&script->tables, name) < script->tables.count;
}

static bool register_function(struct preparing *preparing, struct sql_function *function)
{
	struct sql_script *script = preparing->script;
	size_t offset = offset_of(preparing, &preparing->own.name);
	if (!note_function(script, function->name, function->table)) {
		sql_function_free(function);
		return no_memory(preparing);
	}
	int result = function->table ? sql_function_register_table(function) : sql_function_register(function);
	if (result == SQLITE_OK)
		return true;
	sql_script_fault(script, offset, preparing->fault);
	return false;
}

/* Of one that calls itself, the name is not known while its body is looked at: then it must be. */
static bool calls_itself(const struct sql_function *function)
{
	for (struct sql_token token = sql_token_next(function->body); token.kind;
	     token = sql_token_next(sql_token_end(&token)))
		if (sql_token_is(&token, function->name))
			return true;
	return false;
}

/* Tables of the trace are modules, too: a function would take the place of one. */
static bool is_table(const char *name)
{
	for (size_t i = 0; sql_tables[i]; i++)
		if (sqlite3_stricmp(sql_tables[i]->name, name) == 0)
			return true;
	return false;
}

static bool create_function(struct preparing *preparing)
{
	struct sql_function *function = new_function(preparing);
	if (!function)
		return false;
	if (is_table(function->name)) {
		sql_fault_set(preparing->fault, offset_of(preparing, &preparing->own.name), "%s is a table",
		              function->name);
		sql_function_free(function);
		return false;
	}
	if (is_function(preparing->script, function->name) && !preparing->own.replaces) {
		sql_fault_set(preparing->fault, offset_of(preparing, &preparing->own.name),
		              "function %s already exists", function->name);
		sql_function_free(function);
		return false;
	}
	if (preparing->script->ready && !calls_itself(function) && !check_function(preparing, function)) {
		sql_function_free(function);
		return false;
	}
	return register_function(preparing, function);
}

static bool create_macro(struct preparing *preparing)
{
	struct sql_own_statement *own = &preparing->own;
	struct sql_macro *macro = calloc(1, sizeof *macro);
	size_t length = (size_t)(own->end - own->body);
	if (!macro)
		return no_memory(preparing);
	macro->name = sql_token_name(&own->name);
	macro->body = strndup(own->body, length);
	for (; macro->count < own->arguments.count; macro->count++) {
		macro->arguments[macro->count] = own->arguments.items[macro->count];
		own->arguments.items[macro->count] = NULL;
	}
	if (!macro->name || !macro->body) {
		sql_macro_free(macro);
		return no_memory(preparing);
	}
	if (!own->replaces && sql_macro_named(preparing->script->macros, macro->name)) {
		sql_fault_set(preparing->fault, offset_of(preparing, &own->name), "macro %s already exists",
		              macro->name);
		sql_macro_free(macro);
		return false;
	}
	sql_macro_add(&preparing->script->macros, macro);
	return true;
}

/* ---- Taking away. ---- */

static bool drop_function(struct sql_script *script, const char *name)
{
	size_t scalar = find(&script->scalars, name), table = find(&script->tables, name);
	bool is_table = table < script->tables.count;
	struct sql_names *names = is_table ? &script->tables : &script->scalars;
	size_t at = is_table ? table : scalar;
	if (at == names->count)
		return false;
	for (int arguments = 0; arguments <= (is_table ? 0 : SQL_ARGUMENTS_MOST); arguments++)
		(void)sql_function_remove(script->calls.db, name, (size_t)arguments, is_table);
	free(names->items[at]);
	names->items[at] = names->items[--names->count];
	return true;
}

static bool drop_relation(struct sql_script *script, enum sql_own kind, const char *name)
{
	static const char *const words[] = {
	    [SQL_OWN_TABLE] = "table", [SQL_OWN_VIEW] = "view", [SQL_OWN_INDEX] = "index"};
	const char *there = kind_of(script, name);
	return there && strcmp(there, words[kind]) == 0 &&
	       run(script, sqlite3_mprintf("drop %s temp.\"%w\"", there, name));
}

static bool drop(struct preparing *preparing)
{
	static const char *const words[] = {[SQL_OWN_TABLE] = "table",
	                                    [SQL_OWN_VIEW] = "view",
	                                    [SQL_OWN_INDEX] = "index",
	                                    [SQL_OWN_FUNCTION] = "function",
	                                    [SQL_OWN_MACRO] = "macro"};
	const struct sql_own_statement *own = &preparing->own;
	char *name = sql_token_name(&own->name);
	if (!name)
		return no_memory(preparing);
	bool there = own->dropped == SQL_OWN_MACRO      ? sql_macro_remove(&preparing->script->macros, name)
	             : own->dropped == SQL_OWN_FUNCTION ? drop_function(preparing->script, name)
	                                                : drop_relation(preparing->script, own->dropped, name);
	bool fine = there || own->if_exists ||
	            sql_fault_set(preparing->fault, offset_of(preparing, &own->name), "no such %s: %s",
	                          words[own->dropped], name);
	free(name);
	return fine;
}

/* ---- Modules. ---- */

/* Tells the place in a module of what is wrong there. */
static void place_in_module(const struct sql_module *module, const char *at, struct sql_fault *fault)
{
	struct sql_fault inner = *fault;
	unsigned line = 1;
	for (const char *p = module->text; p < at + inner.offset; p++)
		line += *p == '\n';
	sql_fault_set(fault, 0, "module %s:%u: %.400s", module->name, line, inner.text);
}

static bool step_all(const struct sql_script *script, sqlite3_stmt *statement, struct sql_fault *fault)
{
	int result = SQLITE_DONE;
	while (statement && (result = sqlite3_step(statement)) == SQLITE_ROW)
		continue;
	if (result != SQLITE_DONE)
		sql_script_fault(script, 0, fault);
	return result == SQLITE_DONE;
}

static bool run_module(struct sql_script *script, const struct sql_module *module, struct sql_fault *fault)
{
	const char *end;
	for (const char *at = module->text; *at; at = end) {
		sqlite3_stmt *statement = NULL;
		bool fine = sql_script_prepare(script, at, &statement, &end, fault) == SQLITE_OK &&
		            step_all(script, statement, fault);
		sqlite3_finalize(statement);
		if (!fine) {
			place_in_module(module, at, fault);
			return false;
		}
	}
	return true;
}

bool sql_script_include(struct sql_script *script, const char *name, struct sql_fault *fault)
{
	const struct sql_module *module;
	bool known = false, fine = true;
	for (size_t i = 0; (module = sql_module_at(i)) && fine; i++) {
		if (!sql_module_matches(module, name))
			continue;
		known = true;
		if (find(&script->included, module->name) < script->included.count)
			continue;
		if (!sql_names_add(&script->included, strdup(module->name)))
			return sql_fault_set(fault, 0, "out of memory");
		fine = run_module(script, module, fault);
		if (!fine) /* it may be included again */
			free(script->included.items[--script->included.count]);
	}
	return fine && (known || sql_fault_set(fault, 0, "no such module: %.100s", name));
}

static bool include(struct preparing *preparing)
{
	struct sql_token *name = &preparing->own.name;
	char *module = strndup(name->at, name->length);
	if (!module)
		return no_memory(preparing);
	size_t offset = offset_of(preparing, name);
	bool fine = sql_script_include(preparing->script, module, preparing->fault);
	preparing->fault->offset = offset;
	free(module);
	return fine;
}

/* ---- A statement. ---- */

static bool carry_out(struct preparing *preparing)
{
	static bool (*const ways[])(struct preparing * preparing) = {
	    [SQL_OWN_NONE] = prepare_plain,       [SQL_OWN_TABLE] = create_relation,
	    [SQL_OWN_VIEW] = create_relation,     [SQL_OWN_INDEX] = create_relation,
	    [SQL_OWN_FUNCTION] = create_function, [SQL_OWN_MACRO] = create_macro,
	    [SQL_OWN_INCLUDE] = include,          [SQL_OWN_DROP] = drop,
	};
	const struct sql_own_statement *own = &preparing->own;
	preparing->end = own->kind == SQL_OWN_NONE ? preparing->text : *own->end ? own->end + 1 : own->end;
	return ways[own->kind](preparing);
}

int sql_script_prepare(struct sql_script *script, const char *text, sqlite3_stmt **statement, const char **end,
                       struct sql_fault *fault)
{
	struct preparing preparing = {.script = script, .text = text, .end = text, .fault = fault};
	bool fine = sql_own_parse(text, &preparing.own, fault) && carry_out(&preparing);
	sql_own_free(&preparing.own);
	*statement = fine ? preparing.statement : NULL;
	*end = preparing.end;
	if (!fine)
		sqlite3_finalize(preparing.statement);
	return fine ? SQLITE_OK : SQLITE_ERROR;
}

/* ---- The connection's. ---- */

struct sql_script *sql_script_new(sqlite3 *db, struct sql_session *session, bool kept)
{
	static const struct sql_module prelude = {"prelude", NULL};
	struct sql_script *script = calloc(1, sizeof *script);
	struct sql_fault fault;
	if (!script)
		return NULL;
	script->calls = (struct sql_calls){.db = db, .kept = kept};
	script->aside = sql_aside_new(session);
	struct sql_module always = prelude;
	always.text = sql_module_prelude;
	if (script->aside && sql_span_register(&script->calls) == SQLITE_OK && run_module(script, &always, &fault)) {
		script->ready = true;
		return script;
	}
	sql_script_free(script);
	return NULL;
}

void sql_script_close(struct sql_script *script)
{
	sqlite3_stmt *statement;
	while (script && (statement = sqlite3_next_stmt(script->calls.db, NULL)))
		sqlite3_finalize(statement);
}

void sql_script_free(struct sql_script *script)
{
	if (!script)
		return;
	while (script->macros)
		(void)sql_macro_remove(&script->macros, script->macros->name);
	sql_aside_free(script->aside);
	sql_names_free(&script->included);
	sql_names_free(&script->scalars);
	sql_names_free(&script->tables);
	free(script);
}
