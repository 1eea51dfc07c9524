/* utf8.c - what is UTF-8 and what is not. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/utf8.h"

#include <stdio.h>

/* RFC 3629, section 4: first byte from .. to, then the range of the second byte; the others are 80 .. BF. */
static const struct {
	uint8_t from, to, length, low, high;
} forms[] = {
    {0x00, 0x7f, 1, 0, 0},       {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

size_t tw_utf8_length(const char *bytes, size_t size)
{
	const uint8_t *p = (const uint8_t *)bytes;
	for (size_t i = 0; size && i < sizeof forms / sizeof *forms; i++) {
		if (p[0] < forms[i].from || p[0] > forms[i].to)
			continue;
		size_t length = forms[i].length;
		if (size < length)
			return 0;
		if (length > 1 && (p[1] < forms[i].low || p[1] > forms[i].high))
			return 0;
		for (size_t k = 2; k < length; k++)
			if (p[k] < 0x80 || p[k] > 0xbf)
				return 0;
		return length;
	}
	return 0;
}

bool tw_is_utf8(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0, length; i < size; i += length) {
		length = bytes[i] < 0x80 ? 1 : tw_utf8_length((const char *)bytes + i, size - i);
		if (length == 0)
			return false;
	}
	return true;
}

uint32_t tw_utf8_code(const char *bytes, size_t length)
{
	const uint8_t *p = (const uint8_t *)bytes;
	uint32_t code = length == 1 ? p[0] : p[0] & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++)
		code = code << 6 | (p[i] & 0x3fu);
	return code;
}

/* Source: the Unicode Character Database, categories Cc, Cf, Zl and Zp; Bidi_Control. */
static const struct {
	uint32_t first, last;
	bool obeyed;
} hidden[] = {
    {0x00, 0x1f, true},      {0x7f, 0x9f, true},        {0xad, 0xad, false},     {0x61c, 0x61c, true},
    {0x180e, 0x180e, false}, {0x200b, 0x200d, false},   {0x200e, 0x200f, true},  {0x2028, 0x202e, true},
    {0x2060, 0x2065, false}, {0x2066, 0x2069, true},    {0x206a, 0x206f, false}, {0xfeff, 0xfeff, false},
    {0xfff9, 0xfffb, false}, {0xe0000, 0xe007f, false},
};

static bool is_in(uint32_t code, bool all)
{
	for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return all || hidden[i].obeyed;
	return false;
}

bool tw_is_obeyed(uint32_t code)
{
	return is_in(code, false);
}

static bool is_space(uint32_t code)
{
	return code == '\t' || code == '\n' || code == '\r';
}

bool tw_is_printable(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0, length = 1; i < size; i += length, length = 1) {
		if (bytes[i] >= 0x20 && bytes[i] < 0x7f)
			continue;
		length = tw_utf8_length((const char *)bytes + i, size - i);
		const uint32_t code = tw_utf8_code((const char *)bytes + i, length);
		if (!length || (tw_is_obeyed(code) && !is_space(code)))
			return false;
	}
	return size > 0;
}

bool tw_is_hidden(uint32_t code)
{
	return is_in(code, true);
}

size_t tw_escape_character(char *escape, const char *bytes, size_t length)
{
	unsigned code = length ? tw_utf8_code(bytes, length) : (unsigned char)*bytes;
	return (size_t)snprintf(escape, TW_ESCAPE_ROOM, length > 1 ? "\\u{%x}" : "\\x%02x", code);
}
