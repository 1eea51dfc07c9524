/* parse.c - Perfetto's own statements, taken apart.
 *
 * Source: "PerfettoSQL Syntax" of Perfetto's documentation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/parse.h"

#include "sql/perfetto/typed.h"

#include <string.h>

struct parser {
	const char *text;
	struct sql_token token; /* the next */
	struct sql_fault *fault;
};

static void advance(struct parser *parser)
{
	parser->token = sql_token_next(sql_token_end(&parser->token));
}

static bool skip(struct parser *parser, const char *word)
{
	if (!sql_token_is(&parser->token, word))
		return false;
	advance(parser);
	return true;
}

static bool refuse(struct parser *parser, const char *wanted)
{
	enum { SHOWN = 40 };
	const struct sql_token *token = &parser->token;
	size_t offset = (size_t)(token->at - parser->text);
	if (token->kind == SQL_TOKEN_END)
		return sql_fault_set(parser->fault, offset, "%s is missing", wanted);
	return sql_fault_set(parser->fault, offset, "%s is wanted, not %.*s", wanted,
	                     (int)(token->length < SHOWN ? token->length : SHOWN), token->at);
}

static bool want(struct parser *parser, const char *word)
{
	return skip(parser, word) || refuse(parser, word);
}

static bool take_name(struct parser *parser, const char *what, struct sql_token *name)
{
	if (!sql_token_names(&parser->token))
		return refuse(parser, what);
	*name = parser->token;
	advance(parser);
	return true;
}

static bool refuse_type(struct parser *parser, const struct sql_token *word)
{
	enum { SHOWN = 40 };
	const char *like = sql_type_like(word);
	return sql_fault_set(parser->fault, (size_t)(word->at - parser->text), "no such type: %.*s%s%s%s",
	                     (int)(word->length < SHOWN ? word->length : SHOWN), word->at,
	                     like ? "; did you mean " : "", like ? like : "", like ? "?" : "");
}

/* A type may have brackets: JOINID(thread.id). type: NULL: it is of a macro, and means nothing. */
static bool take_type(struct parser *parser, int *type)
{
	struct sql_token word;
	if (!take_name(parser, "a type", &word))
		return false;
	if (type && (*type = sql_type_named(&word)) < 0)
		return refuse_type(parser, &word);
	if (!skip(parser, "("))
		return true;
	while (parser->token.kind && !sql_token_is(&parser->token, ")") && !sql_token_is(&parser->token, ";"))
		advance(parser);
	return want(parser, ")");
}

static bool add_name(struct parser *parser, const struct sql_token *name, struct sql_names *names)
{
	size_t offset = (size_t)(name->at - parser->text);
	if (names->count == SQL_ARGUMENTS_MOST)
		return sql_fault_set(parser->fault, offset, "more than %d names", SQL_ARGUMENTS_MOST);
	char *copy = sql_token_name(name);
	for (size_t i = 0; copy && i < names->count; i++)
		if (sqlite3_stricmp(names->items[i], copy) == 0)
			sql_fault_set(parser->fault, offset, "%s stands twice in the list", names->items[i]);
	if (*parser->fault->text) {
		(void)sql_names_add(names, copy);
		return false;
	}
	return sql_names_add(names, copy) || sql_fault_set(parser->fault, offset, "out of memory");
}

/* Names with types, in brackets. types: NULL: they are a macro's. */
static bool take_list(struct parser *parser, struct sql_names *names, int *types)
{
	struct sql_token name = {.at = parser->text};
	int type = 0;
	if (!want(parser, "("))
		return false;
	if (skip(parser, ")"))
		return true;
	do {
		if (!take_name(parser, "a name", &name) || !take_type(parser, types ? &type : NULL) ||
		    !add_name(parser, &name, names))
			return false;
		if (types)
			types[names->count - 1] = type;
	} while (skip(parser, ","));
	return want(parser, ")");
}

static bool take_body(struct parser *parser, struct sql_own_statement *own)
{
	if (!want(parser, "as"))
		return false;
	own->body = parser->token.at;
	return own->body < own->end ||
	       sql_fault_set(parser->fault, (size_t)(own->end - parser->text), "nothing stands behind as");
}

/* ---- The kinds. ---- */

static bool take_relation(struct parser *parser, struct sql_own_statement *own)
{
	if (!take_name(parser, "a name", &own->name))
		return false;
	if (sql_token_is(&parser->token, "(") && !take_list(parser, &own->columns, own->types))
		return false;
	return take_body(parser, own);
}

static bool take_function(struct parser *parser, struct sql_own_statement *own)
{
	int type;
	if (!take_name(parser, "a name", &own->name) || !take_list(parser, &own->arguments, own->types) ||
	    !want(parser, "returns"))
		return false;
	own->returns_table = skip(parser, "table");
	if (own->returns_table ? !take_list(parser, &own->columns, own->types) : !take_type(parser, &type))
		return false;
	return take_body(parser, own);
}

static bool take_macro(struct parser *parser, struct sql_own_statement *own)
{
	return take_name(parser, "a name", &own->name) && take_list(parser, &own->arguments, NULL) &&
	       want(parser, "returns") && take_type(parser, NULL) && take_body(parser, own);
}

/* `on table(columns)` is the body. */
static bool take_index(struct parser *parser, struct sql_own_statement *own)
{
	if (!take_name(parser, "a name", &own->name))
		return false;
	own->body = parser->token.at;
	return true;
}

static bool take_module(struct parser *parser, struct sql_own_statement *own)
{
	if (!want(parser, "module"))
		return false;
	own->name = parser->token;
	while (parser->token.at < own->end) {
		if (parser->token.kind != SQL_TOKEN_WORD && !sql_token_is(&parser->token, ".") &&
		    !sql_token_is(&parser->token, "*"))
			return refuse(parser, "the name of a module");
		own->name.length = (size_t)(sql_token_end(&parser->token) - own->name.at);
		advance(parser);
	}
	return own->name.at < own->end || refuse(parser, "the name of a module");
}

static enum sql_own kind_of(const struct sql_token *word)
{
	static const struct {
		const char *word;
		enum sql_own kind;
	} kinds[] = {
	    {"table", SQL_OWN_TABLE}, {"view", SQL_OWN_VIEW},         {"index", SQL_OWN_INDEX},
	    {"macro", SQL_OWN_MACRO}, {"function", SQL_OWN_FUNCTION},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (sql_token_is(word, kinds[i].word))
			return kinds[i].kind;
	return SQL_OWN_NONE;
}

static bool take_kind(struct parser *parser, enum sql_own *kind)
{
	*kind = kind_of(&parser->token);
	if (*kind == SQL_OWN_NONE)
		return refuse(parser, "table, view, index, function or macro");
	advance(parser);
	return true;
}

static bool take_drop(struct parser *parser, struct sql_own_statement *own)
{
	own->kind = SQL_OWN_DROP;
	if (!take_kind(parser, &own->dropped))
		return false;
	if (sql_token_is(&parser->token, "if")) {
		advance(parser);
		if (!want(parser, "exists"))
			return false;
		own->if_exists = true;
	}
	if (!take_name(parser, "a name", &own->name))
		return false;
	return parser->token.at >= own->end || refuse(parser, "the end of the statement");
}

static bool take_create(struct parser *parser, struct sql_own_statement *own)
{
	static bool (*const takes[])(struct parser *, struct sql_own_statement *) = {
	    [SQL_OWN_TABLE] = take_relation,    [SQL_OWN_VIEW] = take_relation, [SQL_OWN_INDEX] = take_index,
	    [SQL_OWN_FUNCTION] = take_function, [SQL_OWN_MACRO] = take_macro,
	};
	return take_kind(parser, &own->kind) && takes[own->kind] && takes[own->kind](parser, own);
}

/* ---- A statement. ---- */

const char *sql_statement_end(const char *text)
{
	struct sql_token token = sql_token_next(text);
	while (token.kind && !sql_token_is(&token, ";"))
		token = sql_token_next(sql_token_end(&token));
	return token.at;
}

bool sql_own_parse(const char *text, struct sql_own_statement *own, struct sql_fault *fault)
{
	struct parser parser = {.text = text, .token = sql_token_next(text), .fault = fault};
	struct sql_token first = parser.token;
	*own = (struct sql_own_statement){0};
	*fault = (struct sql_fault){.offset = 0};
	bool create = skip(&parser, "create"), drop = !create && skip(&parser, "drop"),
	     include = !create && !drop && skip(&parser, "include");
	if (create && sql_token_is(&parser.token, "or")) {
		advance(&parser);
		own->replaces = skip(&parser, "replace");
	}
	if ((!create && !drop && !include) || !skip(&parser, "perfetto"))
		return true;
	own->end = sql_statement_end(first.at);
	if (include) {
		own->kind = SQL_OWN_INCLUDE;
		return take_module(&parser, own);
	}
	return drop ? take_drop(&parser, own) : take_create(&parser, own);
}

void sql_own_free(struct sql_own_statement *own)
{
	sql_names_free(&own->arguments);
	sql_names_free(&own->columns);
}
