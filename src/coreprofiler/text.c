/* text.c - a line that grows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/text.h"

#include <stdlib.h>
#include <string.h>

void text_begin(struct text *text, const char *start)
{
	text->bytes = text->inside;
	text->length = 0;
	text->room = TEXT_INSIDE;
	text->failed = false;
	text_string(text, start);
}

void text_end(struct text *text)
{
	if (text->bytes != text->inside)
		free(text->bytes);
	text->bytes = text->inside;
}

static bool grow(struct text *text, size_t size)
{
	const size_t room = 2 * (text->room + size);
	const bool inside = text->bytes == text->inside;
	char *bytes = text->failed ? NULL : realloc(inside ? NULL : text->bytes, room);
	if (!bytes) {
		text->failed = true;
		return false;
	}
	if (inside)
		memcpy(bytes, text->inside, text->length);
	text->bytes = bytes;
	text->room = room;
	return true;
}

void text_bytes(struct text *text, const char *bytes, size_t size)
{
	if (size > text->room - text->length && !grow(text, size))
		return;
	memcpy(text->bytes + text->length, bytes, size);
	text->length += size;
}

void text_string(struct text *text, const char *string)
{
	text_bytes(text, string, strlen(string));
}

void text_char(struct text *text, char c)
{
	text_bytes(text, &c, 1);
}

enum { DIGITS = 20 };

void text_decimal(struct text *text, uint64_t value)
{
	char digits[DIGITS], *at = digits + DIGITS;
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	text_bytes(text, at, (size_t)(digits + DIGITS - at));
}

static void hexadecimal(struct text *text, uint64_t value, size_t least, const char *alphabet)
{
	char digits[DIGITS], *at = digits + DIGITS;
	for (size_t count = 0; value || count < least; value >>= 4, count++)
		*--at = alphabet[value & 15];
	*--at = 'x';
	*--at = '0';
	text_bytes(text, at, (size_t)(digits + DIGITS - at));
}

static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";

void text_hex(struct text *text, uint64_t value)
{
	hexadecimal(text, value, 1, lower);
}

void text_hex8(struct text *text, uint32_t value)
{
	hexadecimal(text, value, 8, lower);
}

void text_pointer(struct text *text, uint64_t value)
{
	hexadecimal(text, value, 2 * sizeof(void *), upper);
}

void text_id(struct text *text, uint32_t id)
{
	if (id == TEXT_NO_ID)
		text_char(text, '?');
	else
		text_hex8(text, id);
}

void text_short_id(struct text *text, uint32_t id)
{
	if (id == TEXT_NO_ID)
		text_char(text, '?');
	else
		text_hex(text, id);
}

static bool is_half(uint32_t unit, uint32_t first)
{
	return unit >= first && unit < first + 0x400;
}

static void utf8(struct text *text, uint32_t c)
{
	char bytes[4];
	size_t size = 0;
	if (c < 0x80)
		bytes[size++] = (char)(c == '\n' || c == '\r' ? ' ' : c);
	else {
		const unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
		static const unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
		bytes[size++] = (char)(first[more] | c >> (6 * more));
		for (unsigned i = more; i-- > 0;)
			bytes[size++] = (char)(0x80 | (c >> (6 * i) & 0x3f));
	}
	text_bytes(text, bytes, size);
}

void text_utf16(struct text *text, const uint16_t *units, size_t most)
{
	enum { HIGH = 0xd800, LOW = 0xdc00, REPLACEMENT = 0xfffd };
	for (size_t i = 0; i < most && units[i]; i++) {
		uint32_t c = units[i];
		if (is_half(c, HIGH) && i + 1 < most && is_half(units[i + 1], LOW))
			c = 0x10000 + ((c - HIGH) << 10) + (units[++i] - (uint32_t)LOW);
		else if (is_half(c, HIGH) || is_half(c, LOW))
			c = REPLACEMENT;
		utf8(text, c);
	}
}
