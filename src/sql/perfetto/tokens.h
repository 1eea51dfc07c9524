/* tokens.h - the words and signs of a statement, by the rules of SQLite's own tokenizer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_TOKENS_H
#define SQL_PERFETTO_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

enum sql_token_kind {
	SQL_TOKEN_END,
	SQL_TOKEN_SPACE, /* and comments */
	SQL_TOKEN_WORD,
	SQL_TOKEN_NAME, /* "a", `a` or [a] */
	SQL_TOKEN_TEXT, /* 'a' */
	SQL_TOKEN_NUMBER,
	SQL_TOKEN_VARIABLE, /* ?1, :a, @a, $a, #a */
	SQL_TOKEN_SIGN,     /* one letter, or != */
	SQL_TOKEN_OPEN      /* a quote that is not closed: to the end of the text */
};

struct sql_token {
	enum sql_token_kind kind;
	const char *at;
	size_t length;
};

/* The token at a place of a terminated text; past spaces and comments. */
struct sql_token sql_token_at(const char *at);
struct sql_token sql_token_next(const char *at);

static inline const char *sql_token_end(const struct sql_token *token)
{
	return token->at + token->length;
}

/* Whether a token is a keyword, whatever its letters' case, or a sign. */
bool sql_token_is(const struct sql_token *token, const char *word);

/* Whether a token can name something: a word, or quoted. */
static inline bool sql_token_names(const struct sql_token *token)
{
	return token->kind == SQL_TOKEN_WORD || token->kind == SQL_TOKEN_NAME;
}

/* The name without its quotes, to be freed; NULL when there is no memory. */
char *sql_token_name(const struct sql_token *token);

#endif
