/* parse.c - numbers, sizes and times as people write them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/parse.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit time_units[] = {
    {"", 1}, {"ns", 1}, {"us", 1000}, {"\xc2\xb5s", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0},
};

static const struct unit size_units[] = {
    {"", 1},        {"B", 1},         {"K", 1 << 10},    {"KiB", 1 << 10},    {"M", 1 << 20}, {"MiB", 1 << 20},
    {"G", 1 << 30}, {"GiB", 1 << 30}, {"T", 1ULL << 40}, {"TiB", 1ULL << 40}, {NULL, 0},
};

static const struct unit frequency_units[] = {
    {"", 1}, {"Hz", 1}, {"kHz", 1000}, {"MHz", 1000000}, {"GHz", 1000000000}, {NULL, 0},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes decimal digits; false when they do not fit. */
static bool take_digits(const char **text, uint64_t *value)
{
	for (*value = 0; is_digit(**text); ++*text) {
		uint64_t digit = (uint64_t)(**text - '0');
		if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, digit, value))
			return false;
	}
	return true;
}

static const struct unit *unit_named(const struct unit *units, const char *name)
{
	while (units->name && strcmp(units->name, name) != 0)
		units++;
	return units->name ? units : NULL;
}

/* The value of the digits after the point in a unit, from the last to the first: every step comes out whole if and only
 * if the end does. */
static bool take_fraction(const char **text, uint64_t factor, uint64_t *value)
{
	const char *begin = *text, *end = begin;
	while (is_digit(*end))
		end++;
	*text = end;
	for (*value = 0; end > begin; *value /= 10) {
		*value += (uint64_t)(*--end - '0') * factor;
		if (*value % 10)
			return false;
	}
	return true;
}

static const char *parse_unit(const char *text, const struct unit *units, uint64_t *value, const char *no_unit,
                              const char *too_fine)
{
	uint64_t whole, part = 0;
	const char *p = text;
	if (!is_digit(*p))
		return "is not a number";
	if (!take_digits(&p, &whole))
		return "is too large";
	const char *digits = *p == '.' ? p + 1 : NULL;
	const char *name = digits ? digits + strspn(digits, "0123456789") : p;
	const struct unit *unit = unit_named(units, name);
	if (!unit || digits == name)
		return no_unit;
	if (digits && !take_fraction(&digits, unit->factor, &part))
		return too_fine;
	if (__builtin_mul_overflow(whole, unit->factor, value) || __builtin_add_overflow(*value, part, value))
		return "is too large";
	return NULL;
}

const char *tw_parse_duration(const char *text, uint64_t *ns)
{
	return parse_unit(text, time_units, ns, "is not a number with a unit: ns, us, ms, s",
	                  "is finer than a nanosecond");
}

const char *tw_parse_size(const char *text, uint64_t *bytes)
{
	return parse_unit(text, size_units, bytes, "is not a number with a unit: B, K, M, G, T",
	                  "is no whole number of bytes");
}

const char *tw_parse_hertz(const char *text, uint64_t *hertz)
{
	return parse_unit(text, frequency_units, hertz, "is not a number with a unit: Hz, kHz, MHz, GHz",
	                  "is no whole number of hertz");
}

static const char *parse_hex(const char *text, uint64_t *value)
{
	const char *p = text;
	for (*value = 0; *p; p++) {
		const bool digit = is_digit(*p), letter = memchr("ABCDEFabcdef", *p, 12);
		if (!(digit || letter) || p - text > 15)
			return digit || letter ? "is too large" : "is not a number";
		*value = *value << 4 | (uint64_t)(digit ? *p - '0' : (*p | ('A' ^ 'a')) - 'a' + 10);
	}
	return p == text ? "is not a number" : NULL;
}

const char *tw_parse_count(const char *text, uint64_t *value)
{
	if (text[0] == '0' && text[1] == 'x')
		return parse_hex(text + 2, value);
	const char *p = text;
	if (!is_digit(*p))
		return "is not a number";
	if (!take_digits(&p, value))
		return "is too large";
	return *p ? "is not a whole number" : NULL;
}
