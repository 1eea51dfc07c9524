/* line.h - what a record of an xtrace tells, as a line for people. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_FORMAT_LINE_H
#define XTRACE_FORMAT_LINE_H

#include "xtrace/format/fields.h"

enum { XTRACE_TOKEN_TEXT = 1 << 15, XTRACE_LINE_TEXT = 1 << 16 }; /* bytes, at most: of a token, of a line */

/* The line of one record: all zero to begin. */
struct xtrace_line {
	char text[XTRACE_LINE_TEXT];
	size_t length;
	size_t column; /* where its tokens stand */
	size_t token_count;
};

/* Where an instruction is. */
struct xtrace_at {
	uint64_t index; /* instructions of its thread before it */
	uint64_t pc;
	bool has_pc;
	bool named;              /* there are names: lines have a column for them */
	const uint64_t *thread;  /* NULL: there is one only */
	struct tw_name function; /* of the PC; no text: not known */
	struct tw_range range;   /* of the function */
};

static inline void xtrace_line_clear(struct xtrace_line *line)
{
	line->token_count = line->length = 0;
}

/* Begins the line of an instruction, whose disassembly is a text of `size` bytes. */
void xtrace_line_begin(struct xtrace_line *line, const struct xtrace_at *at, const struct tw_xtrace_token *token,
                       const char *text, size_t size);

/* Adds a token of the instruction. */
void xtrace_line_add_token(struct xtrace_line *line, const struct tw_xtrace_token *token);

/* Whether there is room for any other token. */
static inline bool xtrace_line_has_room(const struct xtrace_line *line)
{
	return line->token_count < XTRACE_TOKENS_MOST && line->length < sizeof line->text - XTRACE_TOKEN_TEXT;
}

void xtrace_line_put_snapshot(struct xtrace_line *line, const struct tw_xtrace_snapshot *snapshot);

#endif
