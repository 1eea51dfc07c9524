/* macro.c - macros, and statements in which they are called.
 *
 * A call becomes the text of the macro with its arguments in it, and what is called there is expanded in turn. The
 * arguments are expanded where they stand: a!(a!(1)) is no recursion. Source: "Defining macros" of Perfetto's
 * documentation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/macro.h"

#include "sql/perfetto/intersect.h"
#include "sql/perfetto/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	BYTES_MOST = 1 << 20, /* of a statement that is expanded */
	CALLS_MOST = 10000,   /* in one */
	DEEPEST = 50          /* calls inside of calls */
};

/* The expansion of a statement. */
struct expansion {
	struct sql_macro *macros;
	struct sql_fault *fault;
	size_t place; /* of the outermost call in what was written */
	size_t calls;
	unsigned depth;
};

/* A call: its name, and between its brackets the arguments. */
struct macro_call {
	struct sql_token name;
	const char *begin, *end; /* of what is in the brackets */
};

/* ---- The list. ---- */

void sql_macro_free(struct sql_macro *macro)
{
	if (!macro)
		return;
	for (size_t i = 0; i < macro->count; i++)
		free(macro->arguments[i]);
	free(macro->name);
	free(macro->body);
	free(macro);
}

static struct sql_macro **find(struct sql_macro **list, const char *name, size_t length)
{
	while (*list && !(strlen((*list)->name) == length && strncasecmp((*list)->name, name, length) == 0))
		list = &(*list)->next;
	return list;
}

struct sql_macro *sql_macro_named(struct sql_macro *list, const char *name)
{
	return *find(&list, name, strlen(name));
}

bool sql_macro_remove(struct sql_macro **list, const char *name)
{
	struct sql_macro **at = find(list, name, strlen(name)), *gone = *at;
	if (!gone)
		return false;
	*at = gone->next;
	sql_macro_free(gone);
	return true;
}

void sql_macro_add(struct sql_macro **list, struct sql_macro *macro)
{
	(void)sql_macro_remove(list, macro->name);
	macro->next = *list;
	*list = macro;
}

/* ---- Calls. ---- */

static bool opens(const struct sql_token *token)
{
	return sql_token_is(token, "(");
}

/* Whether a word begins a call. */
static bool is_call(const struct sql_token *word)
{
	if (word->kind != SQL_TOKEN_WORD)
		return false;
	struct sql_token mark = sql_token_at(sql_token_end(word));
	struct sql_token open = sql_token_next(sql_token_end(&mark));
	return sql_token_is(&mark, "!") && opens(&open);
}

bool sql_macro_called(const char *from, const char *end)
{
	for (struct sql_token token = sql_token_next(from); token.kind && token.at < end;
	     token = sql_token_next(sql_token_end(&token)))
		if (is_call(&token))
			return true;
	return false;
}

/* The end of an argument: its comma, or the bracket that closes the call; NULL: there is none. */
static const char *argument_end(const char *from, const char *end)
{
	size_t depth = 0;
	for (struct sql_token token = sql_token_next(from); token.kind && token.at < end;
	     token = sql_token_next(sql_token_end(&token))) {
		if (depth == 0 && (sql_token_is(&token, ",") || sql_token_is(&token, ")")))
			return token.at;
		depth += opens(&token);
		depth -= sql_token_is(&token, ")");
	}
	return NULL;
}

/* Finds the brackets of a call; false where they are not closed. */
static bool take_call(struct macro_call *call, struct sql_token name, const char *end)
{
	struct sql_token mark = sql_token_at(sql_token_end(&name));
	struct sql_token open = sql_token_next(sql_token_end(&mark));
	*call = (struct macro_call){.name = name, .begin = sql_token_end(&open)};
	const char *at = call->begin;
	for (; at; at++) {
		at = argument_end(at, end);
		if (!at || *at == ')')
			break;
	}
	call->end = at;
	return at;
}

/* ---- Expansion. ---- */

static bool refuse(struct expansion *expansion, const char *format, const char *name)
{
	char text[128];
	(void)snprintf(text, sizeof text, format, name);
	return sql_fault_set(expansion->fault, expansion->place, "%s", text);
}

static bool expand_text(struct expansion *expansion, struct tw_text *to, const char *from, const char *end);

/* Expands the arguments of a call; their number may be wrong. */
static bool take_arguments(struct expansion *expansion, const struct macro_call *call, struct tw_text *arguments,
                           size_t *count)
{
	struct sql_token first = sql_token_next(call->begin);
	*count = 0;
	if (first.at >= call->end)
		return true;
	for (const char *at = call->begin, *end = NULL; end != call->end; at = end + 1) {
		end = argument_end(at, call->end + 1);
		if (*count == SQL_ARGUMENTS_MOST) {
			++*count;
			return true;
		}
		first = sql_token_next(at);
		if (!tw_text_add(&arguments[*count], "", 0))
			return refuse(expansion, "out of memory", "");
		if (!expand_text(expansion, &arguments[(*count)++], first.at < end ? first.at : end, end))
			return false;
	}
	return true;
}

static const struct tw_text *argument_of(const struct sql_macro *macro, const struct tw_text *arguments,
                                         const struct sql_token *variable)
{
	if (variable->kind != SQL_TOKEN_VARIABLE || *variable->at != '$')
		return NULL;
	for (size_t i = 0; i < macro->count; i++)
		if (strlen(macro->arguments[i]) == variable->length - 1 &&
		    strncasecmp(macro->arguments[i], variable->at + 1, variable->length - 1) == 0)
			return &arguments[i];
	return NULL;
}

static bool add(struct expansion *expansion, struct tw_text *to, const char *bytes, size_t length)
{
	if (to->length + length > BYTES_MOST)
		return refuse(expansion, "macros make more than 1 MiB of this statement", "");
	return tw_text_add(to, bytes, length) || refuse(expansion, "out of memory", "");
}

/* The text of a macro with its arguments in it. */
static bool fill_in(struct expansion *expansion, const struct sql_macro *macro, const struct tw_text *arguments,
                    struct tw_text *filled)
{
	if (!tw_text_add(filled, "", 0))
		return refuse(expansion, "out of memory", "");
	for (struct sql_token token = sql_token_at(macro->body); token.kind;
	     token = sql_token_at(sql_token_end(&token))) {
		const struct tw_text *argument = argument_of(macro, arguments, &token);
		if (!add(expansion, filled, argument ? argument->bytes : token.at,
		         argument ? argument->length : token.length))
			return false;
	}
	return true;
}

static bool expand_macro(struct expansion *expansion, struct tw_text *to, struct sql_macro *macro,
                         const struct tw_text *arguments)
{
	struct tw_text filled = {0};
	macro->open = true;
	expansion->depth++;
	bool fine = fill_in(expansion, macro, arguments, &filled) &&
	            expand_text(expansion, to, filled.bytes, filled.bytes + filled.length);
	expansion->depth--;
	macro->open = false;
	tw_text_free(&filled);
	return fine;
}

static bool check(struct expansion *expansion, const struct sql_macro *macro, const char *name)
{
	if (!macro)
		return refuse(expansion, "no such macro: %s", name);
	if (macro->open)
		return refuse(expansion, "macro %s calls itself", name);
	if (++expansion->calls > CALLS_MOST)
		return refuse(expansion, "more than 10,000 calls of macros in this statement", "");
	return expansion->depth < DEEPEST || refuse(expansion, "macro %s: calls are more than 50 deep", name);
}

static bool fill_call(struct expansion *expansion, struct tw_text *to, const struct macro_call *call,
                      struct sql_macro *macro)
{
	struct tw_text arguments[SQL_ARGUMENTS_MOST] = {0};
	size_t count;
	bool fine = take_arguments(expansion, call, arguments, &count);
	if (fine && count != macro->count)
		fine = sql_fault_set(expansion->fault, expansion->place, "macro %s wants %zu argument%s, not %zu",
		                     macro->name, macro->count, macro->count == 1 ? "" : "s", count);
	fine = fine && expand_macro(expansion, to, macro, arguments);
	for (size_t i = 0; i < SQL_ARGUMENTS_MOST; i++)
		tw_text_free(&arguments[i]);
	return fine;
}

/* The one macro that is no text. */
static bool expand_intersection(struct expansion *expansion, struct tw_text *to, const struct macro_call *call)
{
	struct tw_text arguments[SQL_ARGUMENTS_MOST] = {0};
	const char *wrong;
	size_t count;
	bool fine = take_arguments(expansion, call, arguments, &count);
	if (fine && count != 2)
		fine = refuse(expansion, "%s wants 2 arguments", SQL_INTERSECT_MACRO);
	if (fine && !sql_intersect_add(to, arguments[0].bytes, arguments[1].bytes, &wrong))
		fine = refuse(expansion, "%s", wrong);
	for (size_t i = 0; i < SQL_ARGUMENTS_MOST; i++)
		tw_text_free(&arguments[i]);
	return fine;
}

static bool expand_call(struct expansion *expansion, struct tw_text *to, const struct macro_call *call)
{
	char name[64];
	(void)snprintf(name, sizeof name, "%.*s", (int)(call->name.length < 60 ? call->name.length : 60),
	               call->name.at);
	if (sql_token_is(&call->name, SQL_INTERSECT_MACRO))
		return expand_intersection(expansion, to, call);
	struct sql_macro *macro = *find(&expansion->macros, call->name.at, call->name.length);
	return check(expansion, macro, name) && macro && fill_call(expansion, to, call, macro);
}

static bool expand_text(struct expansion *expansion, struct tw_text *to, const char *from, const char *end)
{
	struct macro_call call;
	for (struct sql_token token = sql_token_at(from); token.kind && token.at < end;) {
		if (!is_call(&token)) {
			if (!add(expansion, to, token.at, token.length))
				return false;
			token = sql_token_at(sql_token_end(&token));
			continue;
		}
		if (!take_call(&call, token, end))
			return refuse(expansion, "the brackets of a macro's call are not closed", "");
		if (!expand_call(expansion, to, &call))
			return false;
		token = sql_token_at(call.end + 1);
	}
	return true;
}

/* Adds a call of a macro in the text that was written. *at: where the call begins; then what follows it. */
static bool expand_written(struct expansion *expansion, struct sql_source *source, const char **at, const char *end)
{
	struct macro_call call;
	struct tw_text made = {0};
	expansion->place = (size_t)(*at - source->written);
	if (!take_call(&call, sql_token_at(*at), end))
		return refuse(expansion, "the brackets of a macro's call are not closed", "");
	bool fine = tw_text_add(&made, "", 0) && expand_call(expansion, &made, &call);
	if (fine && source->text.length + made.length > BYTES_MOST)
		fine = refuse(expansion, "macros make more than 1 MiB of this statement", "");
	if (fine)
		sql_source_make(source, *at, made.bytes, made.length);
	tw_text_free(&made);
	*at = call.end + 1;
	return fine;
}

bool sql_macro_expand(struct sql_macro *list, struct sql_source *source, const char *from, const char *end,
                      struct sql_fault *fault)
{
	struct expansion expansion = {.macros = list, .fault = fault};
	const char *kept = from, *at = from;
	while (at < end) {
		struct sql_token token = sql_token_at(at);
		if (!token.kind)
			break;
		if (!is_call(&token)) {
			at = sql_token_end(&token);
			continue;
		}
		if (kept < at)
			sql_source_keep(source, kept, at);
		if (!expand_written(&expansion, source, &at, end))
			return false;
		kept = at;
	}
	if (kept < end)
		sql_source_keep(source, kept, end);
	return !source->failed || sql_fault_set(fault, (size_t)(from - source->written), "out of memory");
}
