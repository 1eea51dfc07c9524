/* line.c - what a record of an xtrace tells, as a line for people. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/format/line.h"

#include "base/bytes/bytes.h"
#include "base/text/digits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	FUNCTION_COLUMN = 28, /* characters that most functions and offsets fit in */
	FUNCTION_MOST = 1024  /* characters of a name in a line */
};

static inline void put(struct xtrace_line *line, const char *text, size_t size)
{
	memcpy(line->text + line->length, text, size);
	line->length += size;
}

static void put_text(struct xtrace_line *line, const char *text)
{
	put(line, text, strlen(text));
}

/* Adds a number in hexadecimal with at least so many digits. */
static void put_digits(struct xtrace_line *line, uint64_t value, unsigned least)
{
	static const char digits[] = "0123456789abcdef";
	unsigned count = value ? (unsigned)(64 - __builtin_clzll(value) + 3) / 4 : 1;
	count = count > least ? count : least;
	char *p = line->text + line->length;
	for (unsigned i = 0; i < count; i++)
		p[i] = digits[value >> (4 * (count - 1 - i)) & 15];
	line->length += count;
}

static void put_hex(struct xtrace_line *line, uint64_t value)
{
	put(line, "0x", 2);
	put_digits(line, value, 1);
}

/* Spaces up to a column; none where it is behind. */
static void pad(struct xtrace_line *line, size_t column)
{
	if (line->length < column) {
		memset(line->text + line->length, ' ', column - line->length);
		line->length = column;
	}
}

/* What was loaded or stored, as one number. */
static void put_value(struct xtrace_line *line, const uint8_t *bytes, size_t size)
{
	put(line, " = 0x", 5);
	if (size == 8)
		put_digits(line, tw_load64(bytes, false), 1);
	else
		for (size_t i = size; i-- > 0;)
			put_digits(line, bytes[i], 2);
}

static void put_words(struct xtrace_line *line, const uint8_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		put(line, " ", 1);
		put_hex(line, tw_xtrace_word(words, i));
	}
}

void xtrace_line_add_token(struct xtrace_line *line, const struct tw_xtrace_token *token)
{
	bool access = token->kind == TW_XTRACE_LOAD || token->kind == TW_XTRACE_STORE;
	if (line->token_count == 0)
		pad(line, line->column);
	put(line, line->token_count++ ? ", " : "  ", 2);
	put_text(line, tw_xtrace_kind_name(token->kind));
	if (token->kind == TW_XTRACE_ALLGPR) {
		put_words(line, token->payload, TW_XTRACE_REGISTERS);
		return;
	}
	put(line, " ", 1);
	put_hex(line, token->value);
	if (access)
		put_value(line, token->payload, token->payload_size);
	else if (token->kind == TW_XTRACE_SYSCALL_VEC)
		put_words(line, token->payload, 2 * (size_t)token->value);
}

/* "main+0x10". */
static void put_function(struct xtrace_line *line, const struct xtrace_at *at)
{
	size_t column = line->length + 2 + FUNCTION_COLUMN;
	put(line, "  ", 2);
	if (at->function.text) {
		size_t length = at->function.length;
		put(line, at->function.text, length < FUNCTION_MOST ? length : FUNCTION_MOST);
		if (at->pc > at->range.start) {
			put(line, "+", 1);
			put_hex(line, at->pc - at->range.start);
		}
	}
	pad(line, column);
}

/* A number that ends at a column, or behind it. */
static void put_number(struct xtrace_line *line, uint64_t number, size_t column)
{
	char text[TW_DIGITS_MAX];
	size_t size = (size_t)(tw_digits(text, number) - text);
	pad(line, column > size ? column - size : 0);
	put(line, text, size);
}

void xtrace_line_begin(struct xtrace_line *line, const struct xtrace_at *at, const struct tw_xtrace_token *token,
                       const char *text, size_t size)
{
	enum { INDEX = 9, PC_DIGITS = 12, TEXT_COLUMN = 40 };
	if (at->thread) {
		put_number(line, *at->thread, 0);
		put(line, "  ", 2);
	}
	put_number(line, at->index, INDEX);
	put(line, "  0x", 4);
	if (at->has_pc)
		put_digits(line, at->pc, PC_DIGITS);
	else
		put(line, "????????????", PC_DIGITS);
	if (at->named)
		put_function(line, at);
	put(line, "  EL", 4);
	line->text[line->length++] = (char)('0' + token->level);
	put(line, "  ", 2);
	put_digits(line, token->opcode, 8);
	put(line, "  ", 2);
	line->column = line->length + TEXT_COLUMN;
	put(line, text, size);
}

void xtrace_line_put_snapshot(struct xtrace_line *line, const struct tw_xtrace_snapshot *snapshot)
{
	line->length = (size_t)snprintf(line->text, sizeof line->text,
	                                "# snapshot: %" PRIu64 " instructions before, %" PRIu64
	                                " of them of user mode; index %" PRIu64 " of file %" PRIu64,
	                                snapshot->count, snapshot->user_count, snapshot->index, snapshot->file);
}
