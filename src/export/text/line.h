/* line.h - pieces of JSON text in memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_TEXT_LINE_H
#define EXPORT_TEXT_LINE_H

#include "base/memory/memory.h"
#include "base/text/digits.h"

#include <stdint.h>
#include <string.h>

/* Text that grows; all zero to begin. `failed` says that there was no memory once, and stays. */
struct tw_line {
	struct tw_text text;
	bool failed;
};

/* Makes room for more bytes and the zero behind them; false when there is no memory. */
bool tw_line_reserve(struct tw_line *line, size_t more);

/* The place for up to `more` bytes, which tw_line_end() tells the end of; NULL when there is no memory. Inline: most
 * pieces are a few bytes, and many are constants. `make bench` measures convert. */
static inline char *tw_line_room(struct tw_line *line, size_t more)
{
	const struct tw_text *text = &line->text;
	if (text->room - text->length <= more && !tw_line_reserve(line, more))
		return NULL;
	return text->bytes + text->length;
}

static inline void tw_line_end(struct tw_line *line, char *end)
{
	*end = '\0';
	line->text.length = (size_t)(end - line->text.bytes);
}

static inline void tw_line_add(struct tw_line *line, const char *bytes, size_t size)
{
	char *p = tw_line_room(line, size);
	if (!p)
		return;
	if (size)
		memcpy(p, bytes, size);
	tw_line_end(line, p + size);
}

static inline void tw_line_text(struct tw_line *line, const char *text)
{
	tw_line_add(line, text, strlen(text));
}

/* A JSON string, quotes included. What is not UTF-8 becomes U+FFFD, one a byte. */
void tw_line_string(struct tw_line *line, const void *bytes, size_t size);

/* The inside of a JSON string: no quotes. */
void tw_line_escaped(struct tw_line *line, const void *bytes, size_t size);

static inline void tw_line_u64(struct tw_line *line, uint64_t value)
{
	char *p = tw_line_room(line, TW_DIGITS_MAX);
	if (p)
		tw_line_end(line, tw_digits(p, value));
}

/* The number of a process or a thread. */
static inline void tw_line_task(struct tw_line *line, uint64_t id)
{
	char *p = tw_line_room(line, TW_DIGITS_MAX);
	if (p)
		tw_line_end(line, tw_task_digits(p, id));
}

void tw_line_hex(struct tw_line *line, uint64_t value);        /* "0x1f", a string */
void tw_line_hex_digits(struct tw_line *line, uint64_t value); /* 1f */

/* A number only if a double holds it exactly, which is what most readers of JSON take it for; otherwise a string. */
void tw_line_exact(struct tw_line *line, bool negative, uint64_t magnitude);
void tw_line_exact_u64(struct tw_line *line, uint64_t value);
void tw_line_exact_i64(struct tw_line *line, int64_t value);

/* The shortest of 15 or 17 digits that gives the value back; "NaN", "Infinity" and "-Infinity" are strings. */
void tw_line_double(struct tw_line *line, double value);

/* Bytes as a string of two hexadecimal digits each. */
void tw_line_bytes(struct tw_line *line, const uint8_t *bytes, size_t size);

/* Forgets the text and keeps the memory. */
static inline void tw_line_clear(struct tw_line *line)
{
	line->text.length = 0;
}

#endif
