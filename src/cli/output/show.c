/* show.c - how numbers and texts look to people, in one place. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/show.h"

#include "base/text/digits.h"
#include "base/text/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

struct tw_shown tw_show_count(uint64_t count)
{
	char digits[TW_DIGITS_MAX + 1] = "";
	struct tw_shown shown;
	tw_digits(digits, count);
	tw_group_digits(shown.text, digits);
	return shown;
}

struct tw_shown tw_show_id(uint64_t id)
{
	struct tw_shown shown = {""};
	tw_digits(shown.text, id);
	return shown;
}

struct tw_shown tw_show_task(uint64_t id)
{
	struct tw_shown shown = {""};
	tw_task_digits(shown.text, id);
	return shown;
}

/* Without printf, which took two thirds of the time of a table of a thousand functions. */
static void put_unit(char *p, const char *name)
{
	*p++ = ' ';
	memcpy(p, name, strlen(name) + 1);
}

/* A number of `unit`s with four digits, rounded half up: value / unit < 1000, or any size in the last unit. */
static bool show_in(struct tw_shown *shown, uint64_t value, uint64_t unit, const char *name, bool last)
{
	uint64_t whole = value / unit;
	unsigned decimals = whole >= 1000 ? 0 : whole >= 100 ? 1 : whole >= 10 ? 2 : 3;
	static const uint64_t scales[] = {1, 10, 100, 1000};
	uint64_t scale = scales[decimals];
	uint64_t rounded = whole * scale + ((value % unit) * scale + unit / 2) / unit;
	if (rounded / scale >= 1000 && !last)
		return false;
	if (rounded >= 10000 && decimals) { /* 9.9996 became 10.000 */
		rounded /= 10;
		decimals--;
	}
	put_unit(decimals ? tw_decimal(shown->text, rounded, decimals) : tw_digits(shown->text, rounded), name);
	return true;
}

struct tw_shown tw_show_duration(uint64_t ns)
{
	struct tw_shown shown = {""};
	if (ns < 1000)
		put_unit(tw_digits(shown.text, ns), "ns");
	else if (!show_in(&shown, ns, 1000, "us", false) && !show_in(&shown, ns, 1000000, "ms", false))
		show_in(&shown, ns, 1000000000, "s", true);
	return shown;
}

struct tw_shown tw_show_size(uint64_t bytes)
{
	static const char *const names[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	struct tw_shown shown;
	size_t unit = 0;
	while (unit < 6 && bytes >> (10 * (unit + 1)))
		unit++;
	double value = (double)bytes / (double)(UINT64_C(1) << (10 * unit));
	snprintf(shown.text, sizeof shown.text, "%.*f %s", unit ? 1 : 0, value,
	         unit || bytes != 1 ? names[unit] : "byte");
	return shown;
}

struct tw_shown tw_show_weight(enum tw_weight weight, uint64_t value)
{
	static struct tw_shown (*const shows[])(uint64_t) = {
	    [TW_UNIT_COUNT] = tw_show_count, [TW_UNIT_NS] = tw_show_duration, [TW_UNIT_BYTES] = tw_show_size};
	return shows[tw_weight_unit(weight)](value);
}

const char *tw_weight_title(enum tw_weight weight)
{
	enum tw_weight count = tw_weight_count(weight);
	return count == TW_WEIGHT_CALLS ? "CALLS" : count == TW_WEIGHT_SAMPLES ? "SAMPLES" : "ALLOCATIONS";
}

struct tw_shown tw_show_counted(enum tw_weight weight, uint64_t count)
{
	enum tw_weight counted = tw_weight_count(weight);
	return tw_show_plural(count, counted == TW_WEIGHT_CALLS     ? "call"
	                             : counted == TW_WEIGHT_SAMPLES ? "sample"
	                                                            : "allocation");
}

struct tw_shown tw_show_percent(uint64_t part, uint64_t whole)
{
	struct tw_shown shown;
	snprintf(shown.text, sizeof shown.text, "%.1f %%", whole ? 100.0 * (double)part / (double)whole : 0.0);
	return shown;
}

struct tw_shown tw_show_change(int64_t change, struct tw_shown size)
{
	struct tw_shown shown;
	snprintf(shown.text, sizeof shown.text, "%s%.40s", change < 0 ? "-" : change > 0 ? "+" : "", size.text);
	return shown;
}

/* Three decimals are enough for people, and as many digits before them as the values have; where there is nothing
 * before them, six digits. */
struct tw_shown tw_show_number(double value)
{
	char text[TW_SHOW_ROOM];
	struct tw_shown shown;
	bool plain = fabs(value) >= 1 && fabs(value) < 1e15;
	int length = snprintf(text, sizeof text, plain ? "%.3f" : "%.6g", value);
	while (plain && text[length - 1] == '0')
		text[--length] = '\0';
	if (plain && text[length - 1] == '.')
		text[--length] = '\0';
	tw_group_digits(shown.text, text);
	return shown;
}

struct tw_shown tw_show_plural(uint64_t count, const char *word)
{
	struct tw_shown shown;
	snprintf(shown.text, sizeof shown.text, "%.26s %.15s%s", tw_show_count(count).text, word,
	         count == 1 ? "" : "s");
	return shown;
}

struct tw_shown tw_show_such_as(uint64_t count, const char *word)
{
	struct tw_shown shown = {.text = ""};
	if (count > 1)
		snprintf(shown.text, sizeof shown.text, "%.36s, such as ", tw_show_plural(count, word).text);
	return shown;
}

void tw_put_seconds(struct tw_output *out, uint64_t ns)
{
	char digits[9];
	uint64_t part = ns % 1000000000;
	tw_put_u64(out, ns / 1000000000);
	tw_put_char(out, '.');
	for (size_t i = sizeof digits; i-- > 0; part /= 10)
		digits[i] = (char)('0' + part % 10);
	tw_put(out, digits, sizeof digits);
}

/* What is at the front of a text: bytes that are shown as they are, or a character, or a byte, that is not. */
struct safe_text {
	size_t taken;
	size_t length; /* of what is shown instead; 0: they are shown as they are */
	char text[TW_ESCAPE_ROOM];
};

static size_t count_plain(const char *bytes, size_t size)
{
	size_t count = 0;
	while (count < size && bytes[count] >= ' ' && bytes[count] <= '~')
		count++;
	return count;
}

static struct safe_text show_safe(const char *bytes, size_t size)
{
	struct safe_text safe = {.taken = count_plain(bytes, size)};
	if (safe.taken)
		return safe;
	size_t length = (unsigned char)*bytes < 0x80 ? 0 : tw_utf8_length(bytes, size);
	if (length == 0 || tw_is_hidden(tw_utf8_code(bytes, length)))
		safe.length = tw_escape_character(safe.text, bytes, length);
	safe.taken = length ? length : 1;
	return safe;
}

void tw_put_safe(struct tw_output *out, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size;) {
		const struct safe_text safe = show_safe(bytes + i, size - i);
		tw_put(out, safe.length ? safe.text : bytes + i, safe.length ? safe.length : safe.taken);
		i += safe.taken;
	}
}

bool tw_text_add_safe(struct tw_text *text, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size;) {
		const struct safe_text safe = show_safe(bytes + i, size - i);
		if (!tw_text_add(text, safe.length ? safe.text : bytes + i, safe.length ? safe.length : safe.taken))
			return false;
		i += safe.taken;
	}
	return tw_text_add(text, "", 0);
}

/* The columns of the character at the front of a text, and its bytes. What no table of the C library knows has one. */
static size_t columns_of(const char *text, size_t *size)
{
	*size = (unsigned char)*text < 0x80 ? 0 : tw_utf8_length(text, strnlen(text, 4));
	int columns = *size ? wcwidth((wchar_t)tw_utf8_code(text, *size)) : 1;
	*size += *size == 0;
	return columns < 0 ? 1 : (size_t)columns;
}

size_t tw_text_columns(const char *text)
{
	size_t columns = 0;
	for (size_t size; *text; text += size)
		columns += columns_of(text, &size);
	return columns;
}

size_t tw_text_within(const char *text, size_t columns)
{
	size_t taken = 0;
	for (size_t size; text[taken]; taken += size) {
		size_t more = columns_of(text + taken, &size);
		if (more > columns)
			break;
		columns -= more;
	}
	return taken;
}

const char *tw_shown_path(const char *path)
{
	return strcmp(path, "-") == 0 ? "<stdin>" : path;
}

bool tw_text_add_files(struct tw_text *text, char **paths, size_t count)
{
	bool fine = true;
	for (size_t i = 0; i < count && fine; i++) {
		const char *path = tw_shown_path(paths[i]), *slash = strrchr(path, '/');
		const char *name = slash && slash[1] ? slash + 1 : path;
		fine = tw_text_add(text, ", ", i ? 2 : 0) && tw_text_add(text, name, strlen(name));
	}
	return fine;
}
