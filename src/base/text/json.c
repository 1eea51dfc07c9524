/* json.c - writing JSON text to an output. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"

#include "base/text/digits.h"
#include "base/text/utf8.h"

#include <math.h>

enum { UNIT = 6 };

/* 16 bits: \u202e */
static size_t escape_unit(char *out, uint32_t unit)
{
	static const char digits[] = "0123456789abcdef";
	memcpy(out,
	       (const char[]){'\\', 'u', digits[unit >> 12], digits[unit >> 8 & 15], digits[unit >> 4 & 15],
	                      digits[unit & 15]},
	       UNIT);
	return UNIT;
}

static size_t escape(char *out, unsigned char c)
{
	static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt";
	for (const char *n = names; *n; n += 2)
		if ((unsigned char)*n == c) {
			memcpy(out, (const char[]){'\\', n[1]}, 2);
			return 2;
		}
	return escape_unit(out, c);
}

/* A code point of 0x80 and above. */
static size_t escape_code(char *out, uint32_t code)
{
	enum { BEYOND = 0x10000, HIGH = 0xd800, LOW = 0xdc00, LOW_BITS = 10 };
	if (code < BEYOND)
		return escape_unit(out, code);
	escape_unit(out, HIGH + ((code - BEYOND) >> LOW_BITS));
	return UNIT + escape_unit(out + UNIT, LOW + ((code - BEYOND) & ((1u << LOW_BITS) - 1)));
}

void tw_json_special(struct tw_json_piece *piece, const char *bytes, size_t size)
{
	unsigned char c = (unsigned char)*bytes;
	size_t length = c < 0x80 ? 0 : tw_utf8_length(bytes, size);
	piece->taken = length ? length : 1;
	piece->bytes = length ? bytes : c < 0x80 ? piece->escape : "\xef\xbf\xbd";
	piece->length = length ? length : c < 0x80 ? escape(piece->escape, c) : 3;
	if (length && tw_is_hidden(tw_utf8_code(bytes, length))) {
		piece->bytes = piece->escape;
		piece->length = escape_code(piece->escape, tw_utf8_code(bytes, length));
	}
}

void tw_json_put_string(struct tw_output *out, const char *bytes, size_t size)
{
	struct tw_json_piece piece;
	tw_put_char(out, '"');
	for (size_t i = 0; i < size; i += piece.taken) {
		tw_json_next(&piece, bytes + i, size - i);
		tw_put(out, piece.bytes, piece.length);
	}
	tw_put_char(out, '"');
}

static void begin(struct tw_json *json, const char *key)
{
	if (json->comma)
		tw_put_char(json->out, ',');
	json->comma = true;
	if (key) {
		tw_json_put_string(json->out, key, strlen(key));
		tw_put_char(json->out, ':');
	}
}

static void open_bracket(struct tw_json *json, const char *key, char bracket)
{
	begin(json, key);
	tw_put_char(json->out, bracket);
	json->comma = false;
}

static void close_bracket(struct tw_json *json, char bracket)
{
	tw_put_char(json->out, bracket);
	json->comma = true;
}

void tw_json_object(struct tw_json *json, const char *key)
{
	open_bracket(json, key, '{');
}

void tw_json_object_end(struct tw_json *json)
{
	close_bracket(json, '}');
}

void tw_json_array(struct tw_json *json, const char *key)
{
	open_bracket(json, key, '[');
}

void tw_json_array_end(struct tw_json *json)
{
	close_bracket(json, ']');
}

void tw_json_bytes(struct tw_json *json, const char *key, const char *bytes, size_t size)
{
	begin(json, key);
	tw_json_put_string(json->out, bytes, size);
}

void tw_json_text(struct tw_json *json, const char *key, const char *text)
{
	begin(json, key);
	if (text)
		tw_json_put_string(json->out, text, strlen(text));
	else
		tw_put_text(json->out, "null");
}

void tw_json_system(struct tw_json *json, const char *key, const char *word)
{
	enum { BYTE = 0xdc00 };
	struct tw_json_piece piece;
	const size_t size = word ? strlen(word) : 0;
	if (!word || tw_is_utf8((const uint8_t *)word, size)) {
		tw_json_text(json, key, word);
		return;
	}
	begin(json, key);
	tw_put_char(json->out, '"');
	for (size_t i = 0; i < size; i += piece.taken) {
		tw_json_next(&piece, word + i, size - i);
		const unsigned char c = (unsigned char)word[i];
		if (piece.taken == 1 && c >= 0x80) {
			piece.bytes = piece.escape;
			piece.length = escape_unit(piece.escape, BYTE + c);
		}
		tw_put(json->out, piece.bytes, piece.length);
	}
	tw_put_char(json->out, '"');
}

void tw_json_hex(struct tw_json *json, const char *key, const void *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = bytes;
	begin(json, key);
	tw_put_char(json->out, '"');
	for (size_t i = 0; i < size; i++) {
		tw_put_char(json->out, digits[p[i] >> 4]);
		tw_put_char(json->out, digits[p[i] & 15]);
	}
	tw_put_char(json->out, '"');
}

void tw_json_u64(struct tw_json *json, const char *key, uint64_t value)
{
	begin(json, key);
	tw_put_u64(json->out, value);
}

void tw_json_task(struct tw_json *json, const char *key, uint64_t id)
{
	begin(json, key);
	if (id == TW_UNKNOWN_TASK)
		tw_put_text(json->out, "null");
	else
		tw_put_task(json->out, id);
}

void tw_json_known_task(struct tw_json *json, const char *key, uint64_t id, bool known)
{
	if (known)
		tw_json_task(json, key, id);
	else
		tw_json_text(json, key, NULL);
}

void tw_json_known(struct tw_json *json, const char *key, uint64_t value, bool known)
{
	if (known)
		tw_json_u64(json, key, value);
	else
		tw_json_text(json, key, NULL);
}

void tw_json_change(struct tw_json *json, const char *key, uint64_t from, uint64_t to)
{
	begin(json, key);
	if (to < from)
		tw_put_char(json->out, '-');
	tw_put_u64(json->out, to < from ? from - to : to - from);
}

void tw_json_i64(struct tw_json *json, const char *key, int64_t value)
{
	begin(json, key);
	tw_put_i64(json->out, value);
}

void tw_json_bool(struct tw_json *json, const char *key, bool value)
{
	begin(json, key);
	tw_put_text(json->out, value ? "true" : "false");
}

void tw_json_double(struct tw_json *json, const char *key, double value)
{
	begin(json, key);
	if (isfinite(value))
		tw_put_double(json->out, value);
	else
		tw_put_text(json->out, "null");
}

void tw_json_fixed(struct tw_json *json, const char *key, double value, int decimals)
{
	begin(json, key);
	if (isfinite(value))
		tw_putf(json->out, "%.*f", decimals, value);
	else
		tw_put_text(json->out, "null");
}

void tw_json_line_end(struct tw_json *json)
{
	tw_put_char(json->out, '\n');
	json->comma = false;
}

void tw_json_object_line_end(struct tw_json *json)
{
	tw_json_object_end(json);
	tw_json_line_end(json);
}
