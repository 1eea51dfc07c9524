/* script.c - statements as Perfetto's users write them.
 *
 * What is not SQLite's becomes SQLite's: a table of Perfetto's is a temporary one. Nothing here is let through that
 * guard.c would not let: SQLite prepares all of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/script.h"

#include "sql/perfetto/modules.h"
#include "sql/perfetto/narrow.h"
#include "sql/perfetto/relation.h"
#include "sql/perfetto/span.h"
#include "sql/perfetto/typed.h"
#include "sql/tables/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What SQLite gets. ---- */

/* The body with its macros expanded, to be freed; NULL: *fault tells. */
static char *expand_body(struct sql_preparing *preparing)
{
	struct sql_source source = {.written = preparing->text};
	if (sql_prepare_expand(preparing, &source, preparing->own.body, preparing->own.end) && !source.failed) {
		free(source.pieces);
		return source.text.bytes;
	}
	sql_source_free(&source);
	return NULL;
}

/* `create table NAME as` and `create view NAME as` make what is temporary, as nothing else may be made. */
static const char *temporary_place(const char *text, struct sql_token *name)
{
	struct sql_token create = sql_token_next(text), kind = sql_token_next(sql_token_end(&create));
	if (!sql_token_is(&create, "create") || (!sql_token_is(&kind, "view") && !sql_token_is(&kind, "table")))
		return NULL;
	*name = sql_token_next(sql_token_end(&kind));
	if (sql_token_is(name, "if"))
		for (size_t i = 0; i < 3; i++) /* if not exists */
			*name = sql_token_next(sql_token_end(name));
	struct sql_token as = sql_token_next(sql_token_end(name));
	bool listed = sql_token_is(&kind, "view") && sql_token_is(&as, "(");
	return sql_token_names(name) && (listed || sql_token_is(&as, "as")) ? kind.at : NULL;
}

/* Whether what is made would hide a table of the trace. */
static bool hides(struct sql_preparing *preparing, const struct sql_token *token)
{
	char *name = sql_token_name(token);
	const bool is = name && sql_relation_is_builtin(name);
	if (is)
		(void)sql_relation_refuse(preparing, token, name);
	free(name);
	return is;
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
static bool prepare_made(struct sql_preparing *preparing, const char *kind, const char *end)
{
	struct sql_source source = {.written = preparing->text};
	struct sql_token word = sql_token_at(kind ? kind : end);
	if (kind) {
		sql_source_keep(&source, preparing->text, kind);
		sql_source_make(&source, kind, "temp ", strlen("temp "));
	}
	bool fine = sql_prepare_expand(preparing, &source, kind ? kind : preparing->text, end);
	if (fine && sql_token_is(&word, "view"))
		fine = sql_prepare_narrow(preparing, &source, body_place(source.text.bytes));
	fine = fine && sql_prepare_source(preparing, &source, &preparing->statement);
	sql_source_free(&source);
	preparing->end = *end ? end + 1 : end;
	return fine;
}

static bool prepare_plain(struct sql_preparing *preparing)
{
	sqlite3 *db = preparing->script->calls.db;
	struct sql_token name;
	const char *text = preparing->text, *kind = temporary_place(text, &name), *end = sql_statement_end(text);
	if (kind && hides(preparing, &name))
		return false;
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
static bool check_function(struct sql_preparing *preparing, struct sql_function *function)
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

static struct sql_function *new_function(struct sql_preparing *preparing)
{
	struct sql_own_statement *own = &preparing->own;
	char *body = expand_body(preparing);
	struct sql_function *function = body ? calloc(1, sizeof *function) : NULL;
	if (!function) {
		if (body)
			sql_prepare_no_memory(preparing);
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
	sql_prepare_no_memory(preparing);
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

static bool register_function(struct sql_preparing *preparing, struct sql_function *function)
{
	struct sql_script *script = preparing->script;
	size_t offset = sql_prepare_offset(preparing, &preparing->own.name);
	if (!note_function(script, function->name, function->table)) {
		sql_function_free(function);
		return sql_prepare_no_memory(preparing);
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

static bool create_function(struct sql_preparing *preparing)
{
	struct sql_function *function = new_function(preparing);
	if (!function)
		return false;
	if (sql_relation_is_builtin(function->name)) { /* which is a module: the function would take its place */
		sql_fault_set(preparing->fault, sql_prepare_offset(preparing, &preparing->own.name), "%s is a table",
		              function->name);
		sql_function_free(function);
		return false;
	}
	if (is_function(preparing->script, function->name) && !preparing->own.replaces) {
		sql_fault_set(preparing->fault, sql_prepare_offset(preparing, &preparing->own.name),
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

static bool create_macro(struct sql_preparing *preparing)
{
	struct sql_own_statement *own = &preparing->own;
	struct sql_macro *macro = calloc(1, sizeof *macro);
	size_t length = (size_t)(own->end - own->body);
	if (!macro)
		return sql_prepare_no_memory(preparing);
	macro->name = sql_token_name(&own->name);
	macro->body = strndup(own->body, length);
	for (; macro->count < own->arguments.count; macro->count++) {
		macro->arguments[macro->count] = own->arguments.items[macro->count];
		own->arguments.items[macro->count] = NULL;
	}
	if (!macro->name || !macro->body) {
		sql_macro_free(macro);
		return sql_prepare_no_memory(preparing);
	}
	if (!own->replaces && sql_macro_named(preparing->script->macros, macro->name)) {
		sql_fault_set(preparing->fault, sql_prepare_offset(preparing, &own->name), "macro %s already exists",
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

static bool drop(struct sql_preparing *preparing)
{
	static const char *const words[] = {[SQL_OWN_TABLE] = "table",
	                                    [SQL_OWN_VIEW] = "view",
	                                    [SQL_OWN_INDEX] = "index",
	                                    [SQL_OWN_FUNCTION] = "function",
	                                    [SQL_OWN_MACRO] = "macro"};
	const struct sql_own_statement *own = &preparing->own;
	char *name = sql_token_name(&own->name);
	if (!name)
		return sql_prepare_no_memory(preparing);
	bool there = own->dropped == SQL_OWN_MACRO      ? sql_macro_remove(&preparing->script->macros, name)
	             : own->dropped == SQL_OWN_FUNCTION ? drop_function(preparing->script, name)
	                                                : sql_relation_drop(preparing->script, own->dropped, name);
	bool fine = there || own->if_exists ||
	            sql_fault_set(preparing->fault, sql_prepare_offset(preparing, &own->name), "no such %s: %s",
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

static bool include(struct sql_preparing *preparing)
{
	struct sql_token *name = &preparing->own.name;
	char *module = strndup(name->at, name->length);
	if (!module)
		return sql_prepare_no_memory(preparing);
	size_t offset = sql_prepare_offset(preparing, name);
	bool fine = sql_script_include(preparing->script, module, preparing->fault);
	preparing->fault->offset = offset;
	free(module);
	return fine;
}

/* ---- A statement. ---- */

static bool carry_out(struct sql_preparing *preparing)
{
	static bool (*const ways[])(struct sql_preparing * preparing) = {
	    [SQL_OWN_NONE] = prepare_plain,       [SQL_OWN_TABLE] = sql_relation_create,
	    [SQL_OWN_VIEW] = sql_relation_create, [SQL_OWN_INDEX] = sql_relation_create,
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
	struct sql_preparing preparing = {.script = script, .text = text, .end = text, .fault = fault};
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
	if (script->aside && sql_span_register(&script->calls) == SQLITE_OK && sql_typed_register(db) == SQLITE_OK &&
	    run_module(script, &always, &fault)) {
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
