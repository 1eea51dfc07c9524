/* line.c - pieces of JSON text in memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/text/line.h"

#include "base/text/json.h"

#include <math.h>

enum { EXACT_BITS = 53 }; /* of the integers that a double holds */

bool tw_line_reserve(struct tw_line *line, size_t more)
{
	struct tw_text *text = &line->text;
	if (!tw_extend(&text->bytes, &text->room, text->length + more + 1, 1))
		line->failed = true;
	else
		text->bytes[text->length] = '\0';
	return text->room - text->length > more;
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

enum { HEX_MAX = 16, BITS = 64 };

static inline char *put_hex(char *p, uint64_t value)
{
	size_t digits = (size_t)(BITS + 3 - __builtin_clzll(value | 1)) / 4;
	for (size_t i = digits; i > 0; value >>= 4)
		p[--i] = "0123456789abcdef"[value & 15];
	return p + digits;
}

void tw_line_hex_digits(struct tw_line *line, uint64_t value)
{
	char *p = tw_line_room(line, HEX_MAX);
	if (p)
		tw_line_end(line, put_hex(p, value));
}

void tw_line_hex(struct tw_line *line, uint64_t value)
{
	char *p = tw_line_room(line, HEX_MAX + 4);
	if (!p)
		return;
	memcpy(p, "\"0x", 3);
	p = put_hex(p + 3, value);
	*p = '"';
	tw_line_end(line, p + 1);
}

void tw_line_exact(struct tw_line *line, bool negative, uint64_t magnitude)
{
	bool quoted = magnitude > UINT64_C(1) << EXACT_BITS;
	char *p = tw_line_room(line, TW_DIGITS_MAX + 3);
	if (!p)
		return;
	*p = '"';
	p += quoted;
	*p = '-';
	p = tw_digits(p + negative, magnitude);
	*p = '"';
	tw_line_end(line, p + quoted);
}

void tw_line_exact_u64(struct tw_line *line, uint64_t value)
{
	tw_line_exact(line, false, value);
}

void tw_line_exact_i64(struct tw_line *line, int64_t value)
{
	tw_line_exact(line, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void tw_line_double(struct tw_line *line, double value)
{
	char *p = isfinite(value) ? tw_line_room(line, TW_DOUBLE_MAX) : NULL;
	if (p)
		tw_line_end(line, tw_double_digits(p, value));
	else if (!isfinite(value))
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
