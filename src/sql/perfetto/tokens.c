/* tokens.c - the words and signs of a statement.
 *
 * Sources: "SQLite Keywords", "SQL Comment Syntax", "Literal Values" and "Variables" of SQLite's documentation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/perfetto/tokens.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Bytes beyond ASCII are letters. */
static bool begins_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool is_in_word(char c)
{
	return begins_word(c) || is_digit(c) || c == '$';
}

static size_t word_length(const char *at)
{
	size_t length = 0;
	while (is_in_word(at[length]))
		length++;
	return length;
}

/* Spaces and comments; one that is not closed goes to the end. 0: none. */
static size_t space_length(const char *at)
{
	size_t length = 0;
	if (at[0] == '-' && at[1] == '-')
		return strcspn(at, "\n");
	if (at[0] == '/' && at[1] == '*') {
		const char *end = strstr(at + 2, "*/");
		return end ? (size_t)(end + 2 - at) : strlen(at);
	}
	while (is_space(at[length]))
		length++;
	return length;
}

/* With both quotes; a quote stands twice inside, but in brackets. 0: it is not closed. */
static size_t quoted_length(const char *at)
{
	char close = (char)(*at == '[' ? ']' : *at);
	for (const char *p = at + 1; *p; p++) {
		if (*p != close)
			continue;
		if (close == ']' || p[1] != close)
			return (size_t)(p + 1 - at);
		p++;
	}
	return 0;
}

static struct sql_token quoted(const char *at, enum sql_token_kind kind)
{
	size_t length = quoted_length(at);
	if (!length)
		return (struct sql_token){SQL_TOKEN_OPEN, at, strlen(at)};
	return (struct sql_token){kind, at, length};
}

/* Digits with a point and an exponent, or hexadecimal ones; letters right behind are a mistake that SQLite tells. */
static size_t number_length(const char *at)
{
	size_t length = 0;
	while (is_in_word(at[length]) || at[length] == '.' ||
	       ((at[length] == '+' || at[length] == '-') && length && (at[length - 1] | 0x20) == 'e' &&
	        (at[1] | 0x20) != 'x'))
		length++;
	return length;
}

struct sql_token sql_token_at(const char *at)
{
	size_t length = space_length(at);
	if (!*at)
		return (struct sql_token){SQL_TOKEN_END, at, 0};
	if (length)
		return (struct sql_token){SQL_TOKEN_SPACE, at, length};
	if (*at == '\'')
		return quoted(at, SQL_TOKEN_TEXT);
	if (*at == '"' || *at == '`' || *at == '[')
		return quoted(at, SQL_TOKEN_NAME);
	if ((*at == 'x' || *at == 'X') && at[1] == '\'') {
		struct sql_token bytes = quoted(at + 1, SQL_TOKEN_TEXT);
		return (struct sql_token){bytes.kind, at, bytes.length + 1};
	}
	if (begins_word(*at))
		return (struct sql_token){SQL_TOKEN_WORD, at, word_length(at)};
	if (is_digit(*at) || (*at == '.' && is_digit(at[1])))
		return (struct sql_token){SQL_TOKEN_NUMBER, at, number_length(at)};
	if (strchr("?:@$#", *at) && (length = word_length(at + 1)) > 0)
		return (struct sql_token){SQL_TOKEN_VARIABLE, at, length + 1};
	return (struct sql_token){SQL_TOKEN_SIGN, at, at[0] == '!' && at[1] == '=' ? 2 : 1};
}

struct sql_token sql_token_next(const char *at)
{
	struct sql_token token = sql_token_at(at);
	while (token.kind == SQL_TOKEN_SPACE)
		token = sql_token_at(sql_token_end(&token));
	return token;
}

bool sql_token_is(const struct sql_token *token, const char *word)
{
	return (token->kind == SQL_TOKEN_WORD || token->kind == SQL_TOKEN_SIGN) && strlen(word) == token->length &&
	       strncasecmp(token->at, word, token->length) == 0;
}

char *sql_token_name(const struct sql_token *token)
{
	char *name = malloc(token->length + 1), *to = name;
	const char *from = token->at, *end = sql_token_end(token);
	if (!name)
		return NULL;
	char close = (char)(*from == '[' ? ']' : *from);
	if (token->kind == SQL_TOKEN_NAME || token->kind == SQL_TOKEN_TEXT) {
		from++;
		end--;
	} else
		close = '\0';
	for (; from < end; from++) {
		from += close && from + 1 < end && *from == close && from[1] == close;
		*to++ = *from;
	}
	*to = '\0';
	return name;
}
