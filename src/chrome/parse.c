/* parse.c - JSON text in memory: values and the members of an event, without recursion and without copies.
 *
 * Source: RFC 8259. More is taken than it allows where tracers write so: a comma before a closing bracket, NaN and
 * Infinity, control characters in strings. `odd` tells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/parse.h"

#include "base/bytes/bytes.h"
#include "base/inline.h"

#include <string.h>

static enum chrome_status bad(struct chrome_scan *scan, const char *problem)
{
	scan->problem = problem;
	return CHROME_BAD;
}

/* Whether there is a byte after white space. */
static inline bool skip_space(struct chrome_scan *scan)
{
	while (scan->at < scan->end && chrome_is_space(*scan->at))
		scan->at++;
	return scan->at < scan->end;
}

/* ---- Strings. ---- */

/* The first quote, backslash or control character: eight bytes at a time, with a bit set in each byte that is one (or
 * that is above one that is: the first is right). */
static inline const uint8_t *plain_end(const uint8_t *p, const uint8_t *end)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
	for (; end - p >= 8; p += 8) {
		uint64_t word = tw_load64(p, false), quote = word ^ ones * '"', slash = word ^ ones * '\\';
		uint64_t found = ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash);
		if (found & tops)
			return p + __builtin_ctzll(found & tops) / 8;
	}
	while (p < end && *p >= 0x20 && *p != '"' && *p != '\\')
		p++;
	return p;
}

static inline enum chrome_status scan_string(struct chrome_scan *scan, struct chrome_value *value)
{
	const uint8_t *start = scan->at + 1, *p = start;
	value->type = CHROME_STRING;
	value->escaped = false;
	for (;;) {
		p = plain_end(p, scan->end);
		if (p == scan->end)
			return CHROME_MORE;
		if (*p == '"')
			break;
		if (*p != '\\') {
			scan->odd |= CHROME_ODD_CONTROL;
			p++;
			continue;
		}
		value->escaped = true;
		if (scan->end - p < 2)
			return CHROME_MORE;
		p += 2;
	}
	value->bytes = start;
	value->size = (size_t)(p - start);
	scan->at = p + 1;
	return CHROME_GOOD;
}

/* ---- Numbers and words. ---- */

static bool is_word(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
	       c == '.';
}

static const uint8_t *digits_end(const uint8_t *p, const uint8_t *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

static bool is_number(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from = p + (p < end && *p == '-');
	p = digits_end(from, end);
	if (p == from)
		return false;
	if (p < end && *p == '.') {
		from = ++p;
		p = digits_end(p, end);
		if (p == from)
			return false;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		from = p += p < end && (*p == '+' || *p == '-');
		p = digits_end(p, end);
		if (p == from)
			return false;
	}
	return p == end;
}

static enum chrome_type word_type(const uint8_t *p, size_t size)
{
	static const struct {
		const char *text;
		enum chrome_type type;
	} words[] = {
	    {"true", CHROME_TRUE}, {"false", CHROME_FALSE},       {"null", CHROME_NULL},
	    {"NaN", CHROME_NAN},   {"Infinity", CHROME_INFINITY}, {"-Infinity", CHROME_MINUS_INFINITY},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (size == strlen(words[i].text) && memcmp(p, words[i].text, size) == 0)
			return words[i].type;
	return CHROME_NOTHING;
}

static inline enum chrome_status scan_word(struct chrome_scan *scan, struct chrome_value *value)
{
	const uint8_t *start = scan->at, *p = start;
	while (p < scan->end && is_word(*p))
		p++;
	if (p == scan->end)
		return CHROME_MORE;
	*value = (struct chrome_value){.bytes = start, .size = (size_t)(p - start), .type = CHROME_NUMBER};
	if (!is_number(start, p))
		value->type = (uint8_t)word_type(start, value->size);
	if (value->type == CHROME_NOTHING)
		return bad(scan, "a value");
	if (value->type >= CHROME_NAN)
		scan->odd |= CHROME_ODD_CONSTANT;
	scan->at = p;
	return CHROME_GOOD;
}

/* ---- Brackets. ---- */

/* The brackets that are open: a bit each, set for objects. */
struct nest {
	uint64_t bits[CHROME_DEPTH / 64];
	unsigned depth;
};

static bool in_object(const struct nest *nest)
{
	unsigned i = nest->depth - 1;
	return nest->bits[i / 64] >> (i % 64) & 1;
}

static void push(struct nest *nest, bool object)
{
	uint64_t bit = UINT64_C(1) << (nest->depth % 64), *word = &nest->bits[nest->depth / 64];
	*word = object ? *word | bit : *word & ~bit;
	nest->depth++;
}

enum chrome_status chrome_scan_key(struct chrome_scan *scan, struct chrome_value *key)
{
	if (!skip_space(scan))
		return CHROME_MORE;
	if (*scan->at != '"')
		return bad(scan, "a key");
	enum chrome_status status = scan_string(scan, key);
	if (status <= 0)
		return status;
	if (!skip_space(scan))
		return CHROME_MORE;
	if (*scan->at != ':')
		return bad(scan, "a colon");
	scan->at++;
	return CHROME_GOOD;
}

static bool closes(const struct nest *nest, uint8_t c)
{
	return c == (in_object(nest) ? '}' : ']');
}

/* After a value: closing brackets, then a comma and the key of the next value, unless all is closed. */
static enum chrome_status after_value(struct chrome_scan *scan, struct nest *nest)
{
	struct chrome_value key;
	while (nest->depth) {
		if (!skip_space(scan))
			return CHROME_MORE;
		if (closes(nest, *scan->at)) {
			scan->at++;
			nest->depth--;
			continue;
		}
		if (*scan->at != ',')
			return bad(scan, "a comma or a closing bracket");
		scan->at++;
		if (!skip_space(scan))
			return CHROME_MORE;
		if (!closes(nest, *scan->at))
			return in_object(nest) ? chrome_scan_key(scan, &key) : CHROME_GOOD;
		scan->odd |= CHROME_ODD_COMMA;
	}
	return CHROME_GOOD;
}

/* An opening bracket, up to the first value inside, or what follows when there is none. */
static enum chrome_status open_bracket(struct chrome_scan *scan, struct nest *nest)
{
	struct chrome_value key;
	if (nest->depth + scan->depth >= CHROME_DEPTH) {
		scan->too_deep = true;
		return bad(scan, "a value that is nested less deep");
	}
	push(nest, *scan->at++ == '{');
	if (!skip_space(scan))
		return CHROME_MORE;
	if (closes(nest, *scan->at))
		return after_value(scan, nest);
	return in_object(nest) ? chrome_scan_key(scan, &key) : CHROME_GOOD;
}

static enum chrome_status scan_nested(struct chrome_scan *scan, struct chrome_value *value)
{
	const uint8_t *start = scan->at;
	struct chrome_value inside;
	struct nest nest = {.depth = 0};
	do {
		enum chrome_status status;
		if (!skip_space(scan))
			return CHROME_MORE;
		if (*scan->at == '{' || *scan->at == '[') {
			status = open_bracket(scan, &nest);
		} else {
			status = *scan->at == '"' ? scan_string(scan, &inside) : scan_word(scan, &inside);
			if (status > 0)
				status = after_value(scan, &nest);
		}
		if (status <= 0)
			return status;
	} while (nest.depth);
	*value = (struct chrome_value){.bytes = start,
	                               .size = (size_t)(scan->at - start),
	                               .type = *start == '{' ? CHROME_OBJECT : CHROME_ARRAY};
	return CHROME_GOOD;
}

/* Skips a value that is nested too deep, looking at nothing but brackets and strings. */
static enum chrome_status skip_deep(struct chrome_scan *scan, const uint8_t *start)
{
	struct chrome_value string;
	size_t depth = 0;
	scan->at = start;
	do {
		if (scan->at == scan->end)
			return CHROME_MORE;
		uint8_t c = *scan->at;
		if (c == '"') {
			enum chrome_status status = scan_string(scan, &string);
			if (status <= 0)
				return status;
			continue;
		}
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		scan->at++;
	} while (depth);
	return CHROME_GOOD;
}

enum chrome_status chrome_scan_value(struct chrome_scan *scan, struct chrome_value *value)
{
	if (!skip_space(scan))
		return CHROME_MORE;
	if (*scan->at == '"')
		return scan_string(scan, value);
	if (*scan->at == '{' || *scan->at == '[')
		return scan_nested(scan, value);
	return scan_word(scan, value);
}

/* The same; of a value that is nested too deep no more is seen than where it ends. */
static enum chrome_status scan_value_or_skip(struct chrome_scan *scan, struct chrome_value *value)
{
	if (!skip_space(scan))
		return CHROME_MORE;
	const uint8_t *start = scan->at;
	enum chrome_status status = chrome_scan_value(scan, value);
	value->deep = false;
	if (status != CHROME_BAD || !scan->too_deep)
		return status;
	scan->too_deep = false;
	status = skip_deep(scan, start);
	*value = (struct chrome_value){.bytes = start,
	                               .size = (size_t)(scan->at - start),
	                               .type = *start == '{' ? CHROME_OBJECT : CHROME_ARRAY,
	                               .deep = true};
	return status;
}

bool chrome_next_member(struct chrome_scan *scan, struct chrome_value *key, struct chrome_value *value)
{
	while (skip_space(scan) && *scan->at == ',')
		scan->at++;
	return scan->at < scan->end && *scan->at == '"' && chrome_scan_key(scan, key) > 0 &&
	       scan_value_or_skip(scan, value) > 0;
}

/* ---- Events. ---- */

enum { KNOWN_MAX = 256 }; /* bytes of a string that may be a known one, with its escapes */

/* A string without its escapes, where it is short enough. */
static struct chrome_value unescaped(const struct chrome_value *value, uint8_t room[static KNOWN_MAX])
{
	unsigned odd = 0;
	if (!value->escaped || value->size > KNOWN_MAX)
		return *value;
	return (struct chrome_value){.bytes = room, .size = chrome_unescape(value, room, &odd), .type = value->type};
}

char chrome_escaped_phase(const struct chrome_value *value)
{
	uint8_t room[KNOWN_MAX];
	const struct chrome_value plain = unescaped(value, room);
	if (plain.size != 1)
		return '\0';
	return (char)plain.bytes[0];
}

bool chrome_is(const struct chrome_value *value, const char *text)
{
	uint8_t room[KNOWN_MAX];
	const struct chrome_value plain = unescaped(value, room);
	return plain.size == strlen(text) && memcmp(plain.bytes, text, plain.size) == 0;
}

static inline unsigned known_member(const struct chrome_value *key)
{
	static const struct {
		char text[9];
		uint8_t size;
	} keys[] = {
#define X(id, key) {key, sizeof key - 1},
	    CHROME_MEMBER_LIST(X)
#undef X
	};
	unsigned i = 0;
	while (i < CHROME_MEMBERS && (keys[i].size != key->size || memcmp(keys[i].text, key->bytes, key->size) != 0))
		i++;
	return i;
}

TW_NOINLINE unsigned escaped_member(const struct chrome_value *key)
{
	uint8_t room[KNOWN_MAX];
	const struct chrome_value plain = unescaped(key, room);
	return known_member(&plain);
}

static inline unsigned member_of(const struct chrome_value *key)
{
	return __builtin_expect(key->escaped, 0) ? escaped_member(key) : known_member(key);
}

bool chrome_is_member(const struct chrome_value *key)
{
	return member_of(key) < CHROME_MEMBERS;
}

/* One key and its value, and the comma or bracket after it. Returns CHROME_MORE, CHROME_BAD, or CHROME_GOOD and
 * *last. */
static enum chrome_status scan_member(struct chrome_scan *scan, struct chrome_item *item, bool *last)
{
	struct chrome_value key, value;
	enum chrome_status status = chrome_scan_key(scan, &key);
	if (status > 0)
		status = scan_value_or_skip(scan, &value);
	if (status <= 0)
		return status;
	unsigned member = member_of(&key);
	if (value.deep)
		item->deep = value.bytes;
	if (value.deep && (member != CHROME_ARGS || value.type != CHROME_OBJECT))
		value = (struct chrome_value){.type = CHROME_NOTHING};
	if (member < CHROME_MEMBERS)
		item->values[member] = value;
	else if (item->other_count < CHROME_OTHERS)
		item->others[item->other_count++] = key;
	if (!skip_space(scan))
		return CHROME_MORE;
	bool comma = *scan->at == ',';
	if (comma) {
		scan->at++;
		if (!skip_space(scan))
			return CHROME_MORE;
	}
	*last = *scan->at == '}';
	if (!*last && !comma)
		return bad(scan, "a comma or the end of the event");
	if (*last && comma)
		scan->odd |= CHROME_ODD_COMMA;
	return CHROME_GOOD;
}

enum chrome_status chrome_scan_event(struct chrome_scan *scan, struct chrome_item *item)
{
	const uint8_t *start = scan->at++;
	memset(item->values, 0, sizeof item->values);
	item->other_count = 0;
	item->deep = NULL;
	if (!skip_space(scan))
		return CHROME_MORE;
	for (bool last = *scan->at == '}'; !last;) {
		enum chrome_status status = scan_member(scan, item, &last);
		if (status <= 0)
			return status;
	}
	scan->at++;
	item->bytes = start;
	item->size = (size_t)(scan->at - start);
	item->odd = scan->odd;
	return CHROME_GOOD;
}
