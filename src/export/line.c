/* line.c - pieces of JSON text in memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

enum { EXACT_BITS = 53 }; /* of the integers that a double holds */

const char tw_digit_pairs[201] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				 "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				 "8081828384858687888990919293949596979899";

const uint64_t tw_powers_of_ten[20] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

void tw_line_add_slowly(struct tw_line *line, const char *bytes, size_t size)
{
	if (!tw_text_add(&line->text, bytes, size))
		line->failed = true;
}

void tw_line_escaped(struct tw_line *line, const void *bytes, size_t size)
{
	struct tw_json_piece piece;
	for (size_t i = 0; i < size; i += piece.taken) {
		tw_json_next(&piece, (const char *)bytes + i, size - i);
		tw_line_add(line, piece.bytes, piece.length);
	}
}

void tw_line_string(struct tw_line *line, const void *bytes, size_t size)
{
	tw_line_text(line, "\"");
	tw_line_escaped(line, bytes, size);
	tw_line_text(line, "\"");
}

void tw_line_u64(struct tw_line *line, uint64_t value)
{
	char digits[20];
	tw_line_add(line, digits, (size_t)(tw_digits(digits, value) - digits));
}

void tw_line_hex(struct tw_line *line, uint64_t value)
{
	char text[24];
	size_t size = 0;
	unsigned digits = 1;
	while (digits < 16 && value >> (4 * digits))
		digits++;
	memcpy(text, "\"0x", 3);
	for (size = 3; digits; digits--)
		text[size++] = "0123456789abcdef"[(value >> (4 * (digits - 1))) & 15];
	text[size++] = '"';
	tw_line_add(line, text, size);
}

static void add_exact(struct tw_line *line, bool negative, uint64_t magnitude)
{
	const char *quote = magnitude > UINT64_C(1) << EXACT_BITS ? "\"" : "";
	tw_line_text(line, quote);
	tw_line_text(line, negative ? "-" : "");
	tw_line_u64(line, magnitude);
	tw_line_text(line, quote);
}

void tw_line_exact_u64(struct tw_line *line, uint64_t value)
{
	add_exact(line, false, value);
}

void tw_line_exact_i64(struct tw_line *line, int64_t value)
{
	add_exact(line, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void tw_line_double(struct tw_line *line, double value)
{
	char text[32];
	if (isfinite(value))
		tw_line_add(line, text, tw_format_double(text, value));
	else
		tw_line_text(line, isnan(value) ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
}

void tw_line_bytes(struct tw_line *line, const uint8_t *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	tw_line_text(line, "\"");
	for (size_t i = 0; i < size; i++)
		tw_line_add(line, (const char[]){digits[bytes[i] >> 4], digits[bytes[i] & 15]}, 2);
	tw_line_text(line, "\"");
}
