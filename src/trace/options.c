/* options.c - the words of TRACKWAY_TRACE_OPTIONS. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE_LEAST = 64 << 10 };

static bool is(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Returns the place of a text among words that end with NULL; -1: it is none of them. */
static int one_of(const char *text, size_t length, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (is(text, length, words[i]))
			return i;
	return -1;
}

static bool take_mode(struct trace_options *options, const char *text, size_t length)
{
	static const char *const words[] = {"streaming", "oneshot", "circular", NULL};
	int mode = one_of(text, length, words);
	options->mode = mode < 0 ? 0 : (uint32_t)mode;
	return mode >= 0;
}

static bool take_clock(struct trace_options *options, const char *text, size_t length)
{
	static const char *const words[] = {"monotonic", "tsc", NULL};
	options->clock = one_of(text, length, words);
	return options->clock >= 0;
}

static bool take_control(struct trace_options *options, const char *text, size_t length)
{
	static const char *const words[] = {"off", "on", NULL};
	int word = one_of(text, length, words);
	options->control = word == 1;
	return word >= 0;
}

static unsigned shift_of(const char *unit, size_t length)
{
	static const char *const units[] = {"K", "M", "G", "k", "m", "g", NULL};
	int place = length == 0 ? -1 : one_of(unit, length, units);
	return place >= 0 ? 10 * (unsigned)(place % 3 + 1) : length == 0 ? 0 : 64;
}

static bool take_size(struct trace_options *options, const char *text, size_t length)
{
	uint64_t size = 0;
	size_t digits = 0;
	for (; digits < length && text[digits] >= '0' && text[digits] <= '9' && size < UINT64_C(1) << 40; digits++)
		size = size * 10 + (uint64_t)(text[digits] - '0');
	unsigned shift = shift_of(text + digits, length - digits);
	if (digits == 0 || shift > 30 || size > UINT64_MAX >> 16 >> shift)
		return false;
	options->size = size << shift;
	return options->size >= SIZE_LEAST;
}

/* "net*:db": each as it stands, terminated. */
static bool take_categories(struct trace_options *options, const char *text, size_t length)
{
	if (length + 2 > sizeof options->categories)
		return false;
	memcpy(options->categories, text, length);
	memset(options->categories + length, 0, 2);
	for (size_t i = 0; i < length; i++)
		if (options->categories[i] == ':')
			options->categories[i] = 0;
	return length > 0;
}

static const struct {
	const char *name;
	bool (*take)(struct trace_options *options, const char *text, size_t length);
} settings[] = {
    {"mode", take_mode},       {"size", take_size},           {"clock", take_clock},
    {"control", take_control}, {"category", take_categories},
};

static bool take_word(struct trace_options *options, const char *word, size_t length)
{
	const char *equals = memchr(word, '=', length);
	if (!equals)
		return false;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (is(word, (size_t)(equals - word), settings[i].name))
			return settings[i].take(options, equals + 1, length - (size_t)(equals - word) - 1);
	return false;
}

const char *trace_options_parse(struct trace_options *options, const char *text)
{
	enum { LIMITED = 64 << 20 };
	memset(options, 0, sizeof *options);
	options->clock = -1;
	options->control = true;
	for (const char *word = text; word && *word;) {
		size_t length = strcspn(word, ",");
		if (!take_word(options, word, length))
			return word;
		word += length + (word[length] == ',');
	}
	if (options->size == 0 && options->mode != TW_TRACE_STREAMING)
		options->size = LIMITED;
	return NULL;
}

/* By its whole name, or by how it begins. */
static bool matches(const char *pattern, const char *category)
{
	size_t length = strlen(pattern);
	if (length && pattern[length - 1] == '*')
		return strncmp(pattern, category, length - 1) == 0;
	return strcmp(pattern, category) == 0;
}

bool trace_category_wanted(const struct trace_options *options, const char *category)
{
	if (!*options->categories)
		return true;
	for (const char *pattern = options->categories; *pattern; pattern += strlen(pattern) + 1)
		if (matches(pattern, category))
			return true;
	return false;
}
