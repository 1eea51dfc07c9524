/* text.c - strings and numbers of JSON: escapes, times without rounding, integers, doubles. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- Escapes. ---- */

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The number after "\u" at p; -1 when there are not four digits. */
static int32_t code_unit(const uint8_t *p, const uint8_t *end)
{
	int32_t unit = 0;
	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		int digit = hex_digit(p[i]);
		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

static uint8_t *put_utf8(uint8_t *out, uint32_t c)
{
	if (c < 0x80) {
		*out++ = (uint8_t)c;
		return out;
	}
	if (c < 0x800) {
		*out++ = (uint8_t)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*out++ = (uint8_t)(0xe0 | c >> 12);
		} else {
			*out++ = (uint8_t)(0xf0 | c >> 18);
			*out++ = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		}
		*out++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	}
	*out++ = (uint8_t)(0x80 | (c & 0x3f));
	return out;
}

/* Takes "\uXXXX", and its second half where it is the first of a pair. */
static const uint8_t *take_unit(const uint8_t *p, const uint8_t *end, int32_t unit, uint8_t **out, unsigned *odd)
{
	enum { REPLACEMENT = 0xfffd };
	uint32_t c = (uint32_t)unit;
	p += 6;
	if (unit >= 0xd800 && unit < 0xdc00) {
		int32_t low = code_unit(p, end);
		bool pair = low >= 0xdc00 && low < 0xe000;
		c = pair ? 0x10000 + ((c - 0xd800) << 10) + (uint32_t)(low - 0xdc00) : REPLACEMENT;
		p += pair ? 6 : 0;
	} else if (unit >= 0xdc00 && unit < 0xe000) {
		c = REPLACEMENT;
	}
	if (c == REPLACEMENT && unit != REPLACEMENT)
		*odd |= CHROME_ODD_ESCAPE;
	*out = put_utf8(*out, c);
	return p;
}

static const uint8_t *take_escape(const uint8_t *p, const uint8_t *end, uint8_t **out, unsigned *odd)
{
	static const char names[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	int32_t unit = code_unit(p, end);
	if (unit >= 0)
		return take_unit(p, end, unit, out, odd);
	for (const char *n = names; *n; n += 2)
		if (end - p > 1 && (uint8_t)*n == p[1]) {
			*(*out)++ = (uint8_t)n[1];
			return p + 2;
		}
	*odd |= CHROME_ODD_ESCAPE;
	*(*out)++ = *p;
	return p + 1;
}

size_t chrome_unescape(const struct chrome_value *value, uint8_t *out, unsigned *odd)
{
	const uint8_t *p = value->bytes, *end = p + value->size;
	uint8_t *start = out;
	while (p < end) {
		const uint8_t *slash = memchr(p, '\\', (size_t)(end - p));
		size_t plain = (size_t)((slash ? slash : end) - p);
		memcpy(out, p, plain);
		out += plain;
		p += plain;
		if (slash)
			p = take_escape(p, end, &out, odd);
	}
	return (size_t)(out - start);
}

/* ---- Times. ---- */

enum { NS_DIGITS = 3, REST_DIGITS = 9, REST = 1000000000 };

/* A decimal number taken apart: its digits, with or without the point among them, and the power of ten of the first. */
struct decimal {
	const uint8_t *digits, *end;
	int64_t point; /* how many digits are before the point; may be negative */
	bool negative;
};

/* The exponent: far beyond what matters it stays where it is. */
static int64_t exponent_of(const uint8_t *p, const uint8_t *end)
{
	enum { FAR = 1000000000 };
	int64_t exponent = 0;
	bool negative = p < end && *p == '-';
	for (p += p < end && (*p == '-' || *p == '+'); p < end; p++)
		exponent = exponent < FAR ? exponent * 10 + (*p - '0') : exponent;
	return negative ? -exponent : exponent;
}

static struct decimal take_apart(const uint8_t *p, const uint8_t *end)
{
	struct decimal decimal = {.negative = p < end && *p == '-'};
	decimal.digits = p += decimal.negative;
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	decimal.point = p - decimal.digits;
	while (p < end && (*p == '.' || (*p >= '0' && *p <= '9')))
		p++;
	decimal.end = p;
	if (p < end)
		decimal.point += exponent_of(p + 1, end);
	return decimal;
}

/* Adds a digit; false when the number would not fit. */
static bool add_digit(uint64_t *number, unsigned digit)
{
	if (*number > ((uint64_t)INT64_MAX - digit) / 10)
		return false;
	*number = *number * 10 + digit;
	return true;
}

static struct chrome_exact_time rounded_down(bool negative, uint64_t ns, uint32_t rest, bool more)
{
	struct chrome_exact_time time = {.ns = (int64_t)ns, .rest = rest};
	if (!negative)
		return time;
	time.ns = -(int64_t)ns;
	if (rest == 0 && !more)
		return time;
	time.ns--;
	time.rest = rest ? REST - rest - (more && rest < REST - 1 ? 1 : 0) : REST - 1;
	return time;
}

static struct chrome_exact_time too_wide(bool negative)
{
	return (struct chrome_exact_time){.ns = negative ? -INT64_MAX : INT64_MAX, .wide = true};
}

/* The digits up to the nanoseconds, then nine more, then whether there is more. */
static struct chrome_exact_time time_of(struct decimal decimal)
{
	uint64_t ns = 0;
	uint32_t rest = 0;
	bool more = false;
	int64_t place = decimal.point + NS_DIGITS; /* digits that nanoseconds still take */
	const uint8_t *p = decimal.digits;
	while (p < decimal.end && (*p == '0' || *p == '.'))
		place -= *p++ != '.';
	for (; p < decimal.end; p++) {
		if (*p == '.')
			continue;
		unsigned digit = (unsigned)(*p - '0');
		if (place > 0 && !add_digit(&ns, digit))
			return too_wide(decimal.negative);
		if (place <= 0 && place > -REST_DIGITS) {
			uint32_t weight = 1;
			for (int64_t i = -REST_DIGITS + 1; i < place; i++)
				weight *= 10;
			rest += digit * weight;
		} else if (place <= 0) {
			more |= digit != 0;
		}
		place--;
	}
	for (; ns && place > 0; place--)
		if (!add_digit(&ns, 0))
			return too_wide(decimal.negative);
	return rounded_down(decimal.negative, ns, rest, more);
}

bool chrome_number(const struct chrome_value *value, struct chrome_value *number)
{
	*number = *value;
	if (value->type == CHROME_NUMBER)
		return true;
	if (value->type != CHROME_STRING || value->size == 0 || value->size > 64)
		return false;
	uint8_t text[65];
	memcpy(text, value->bytes, value->size);
	text[value->size] = ' ';
	struct chrome_scan scan = {.at = text, .end = text + value->size + 1};
	bool is = chrome_scan_value(&scan, number) > 0 && number->type == CHROME_NUMBER && scan.at == scan.end - 1 &&
	          number->size == value->size;
	number->bytes = value->bytes;
	return is;
}

bool chrome_micros(const struct chrome_value *value, struct chrome_exact_time *time)
{
	struct chrome_value number;
	if (!chrome_number(value, &number))
		return false;
	*time = time_of(take_apart(number.bytes, number.bytes + number.size));
	return true;
}

/* ---- Integers and doubles. ---- */

bool chrome_is_whole(const struct chrome_value *value)
{
	for (size_t i = 0; i < value->size; i++)
		if (value->bytes[i] > '9' || value->bytes[i] == '.')
			return false;
	return true;
}

bool chrome_integer(const struct chrome_value *value, uint64_t *number)
{
	struct chrome_value found;
	if (!chrome_number(value, &found))
		return false;
	struct decimal decimal = take_apart(found.bytes, found.bytes + found.size);
	uint64_t sum = 0;
	int64_t place = decimal.point;
	for (const uint8_t *p = decimal.digits; p < decimal.end && place > 0; p++) {
		if (*p == '.')
			continue;
		if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *p - '0', &sum))
			return false;
		place--;
	}
	for (; sum && place > 0; place--)
		if (__builtin_mul_overflow(sum, 10, &sum))
			return false;
	if (decimal.negative && sum > (uint64_t)INT64_MAX + 1)
		return false;
	*number = decimal.negative ? -sum : sum;
	return true;
}

static bool is_hex(const struct chrome_value *value, uint64_t *number)
{
	if (value->size < 3 || value->size > 18 || value->bytes[0] != '0' || (value->bytes[1] | 0x20) != 'x')
		return false;
	*number = 0;
	for (size_t i = 2; i < value->size; i++) {
		uint8_t c = value->bytes[i], letter = (uint8_t)((c | 0x20) - 'a');
		if ((c < '0' || c > '9') && letter > 5)
			return false;
		*number = *number << 4 | (uint64_t)(c <= '9' ? c - '0' : letter + 10);
	}
	return true;
}

bool chrome_id_number(const struct chrome_value *value, uint64_t *number)
{
	return (value->type == CHROME_STRING && is_hex(value, number)) || chrome_integer(value, number);
}

bool chrome_double(const struct chrome_value *value, locale_t c, double *number)
{
	char text[1024];
	if (value->size >= sizeof text)
		return false;
	memcpy(text, value->bytes, value->size);
	text[value->size] = '\0';
	*number = strtod_l(text, NULL, c);
	return true;
}
