/* line.h - pieces of JSON text in memory, and digits for hot loops. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_LINE_H
#define EXPORT_LINE_H

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

/* Text that grows; all zero to begin. `failed` says that there was no memory once, and stays. */
struct tw_line {
	struct tw_text text;
	bool failed;
};

/* Adds bytes where there is no room yet. */
void tw_line_add_slowly(struct tw_line *line, const char *bytes, size_t size);

/* Inline: most pieces are a few bytes, and many are constants. `make bench` measures convert. */
static inline void tw_line_add(struct tw_line *line, const char *bytes, size_t size)
{
	struct tw_text *text = &line->text;
	if (text->room - text->length <= size) {
		tw_line_add_slowly(line, bytes, size);
		return;
	}
	if (size)
		memcpy(text->bytes + text->length, bytes, size);
	text->length += size;
	text->bytes[text->length] = '\0';
}

static inline void tw_line_text(struct tw_line *line, const char *text)
{
	tw_line_add(line, text, strlen(text));
}

/* A JSON string, quotes included. What is not UTF-8 becomes U+FFFD, one a byte. */
void tw_line_string(struct tw_line *line, const void *bytes, size_t size);

/* The inside of a JSON string: no quotes. */
void tw_line_escaped(struct tw_line *line, const void *bytes, size_t size);

void tw_line_u64(struct tw_line *line, uint64_t value);
void tw_line_hex(struct tw_line *line, uint64_t value); /* "0x1f", a string */

/* A number only if a double holds it exactly, which is what most readers of JSON take it for; otherwise a string. */
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

extern const char tw_digit_pairs[201]; /* "000102...99" */
extern const uint64_t tw_powers_of_ten[20];

/* Writes a number (at most 20 digits) and returns the place after it. */
static inline char *tw_digits(char *p, uint64_t value)
{
	/* 1233 / 4096 is log10(2): a guess from the bits that is right or one too low. */
	size_t count = (size_t)((64 - __builtin_clzll(value | 1)) * 1233 >> 12);
	count += value >= tw_powers_of_ten[count] || count == 0;
	char *end = p + count;
	for (p = end; value >= 100; value /= 100)
		memcpy(p -= 2, tw_digit_pairs + value % 100 * 2, 2);
	if (value >= 10)
		memcpy(p - 2, tw_digit_pairs + value * 2, 2);
	else
		p[-1] = (char)('0' + value);
	return end;
}

/* Writes nanoseconds as microseconds with three decimals. */
static inline char *tw_micros(char *p, uint64_t ns)
{
	p = tw_digits(p, ns / 1000);
	unsigned rest = (unsigned)(ns % 1000);
	p[0] = '.';
	p[1] = (char)('0' + rest / 100);
	memcpy(p + 2, tw_digit_pairs + rest % 100 * 2, 2);
	return p + 4;
}

#endif
