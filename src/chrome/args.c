/* args.c - members of an event's "args" to arguments of a row.
 *
 * Objects inside become arguments with dotted names, "frame.url", down to a few levels; deeper ones and arrays are kept
 * as their JSON text, and what is nested too deep is left out. The members that Trackway's own writer adds
 * (src/export/chrome/chrome.c) are taken back: marks become flags, the CPU goes into the row, and bytes, pointers and
 * large integers, which are written as strings, are again of their own types. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/digits.h"
#include "base/text/utf8.h"
#include "chrome/chrome.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLAT_DEPTH = 4, PREFIX_MAX = 256 };

/* ---- Strings. ---- */

static void check_text(struct chrome_fill *fill, const struct chrome_value *value, unsigned odd)
{
	if (fill->reader->options.checking != TW_CHECK_ALL)
		return;
	if (odd & CHROME_ODD_ESCAPE)
		chrome_report(fill->reader, CHROME_NOT_STRICT, fill->item, value->bytes,
		              "a string holds an escape that stands for no character");
	if (!tw_is_utf8(value->bytes, value->size))
		chrome_report(fill->reader, CHROME_UTF8, fill->item, value->bytes, "a string is not UTF-8");
}

struct chrome_value chrome_text_of(struct chrome_fill *fill, const struct chrome_value *value, bool keep)
{
	struct chrome_value text = *value;
	unsigned odd = 0;
	if (value->size && (keep || value->escaped)) {
		uint8_t *room = chrome_piece_room(fill->piece, value->size);
		if (!room) {
			fill->failed = true;
			text.size = 0;
			return text;
		}
		if (value->escaped)
			text.size = chrome_unescape(value, room, &odd);
		else
			memcpy(room, value->bytes, value->size);
		text.bytes = room;
	}
	check_text(fill, value, odd);
	return text;
}

uint32_t chrome_name_of(struct chrome_fill *fill, const struct chrome_value *value)
{
	if (!value->type)
		return 0;
	struct chrome_value text = chrome_text_of(fill, value, false);
	uint32_t name = chrome_name(fill->reader, text.bytes, text.size);
	fill->failed |= name == UINT32_MAX;
	return fill->failed ? 0 : name;
}

/* ---- One argument. ---- */

static void put(struct chrome_fill *fill, uint32_t name, struct tw_argument argument)
{
	if (fill->event->argument_count == UINT8_MAX) {
		fill->left_out++;
		return;
	}
	argument.name = name;
	tw_slab_argument(&fill->piece->slab, &argument);
}

static struct tw_argument text_argument(struct chrome_fill *fill, const struct chrome_value *value, bool keep)
{
	struct chrome_value text = keep ? chrome_text_of(fill, value, true) : *value;
	return (struct tw_argument){.type = TW_ARG_TEXT, .value.bytes = text.bytes, .size = (uint32_t)text.size};
}

static struct tw_argument number_argument(struct chrome_fill *fill, const struct chrome_value *value)
{
	uint64_t number;
	double real;
	bool negative = value->bytes[0] == '-';
	/* What is -0 is a double: no integer has that sign. */
	if (chrome_is_whole(value) && chrome_integer(value, &number) && (number || !negative)) {
		bool large = number > INT64_MAX && !negative;
		return (struct tw_argument){.type = large ? TW_ARG_UINT : TW_ARG_INT, .value.u = number};
	}
	if (!chrome_double(value, fill->state->c, &real))
		return text_argument(fill, value, true);
	return (struct tw_argument){.type = TW_ARG_DOUBLE, .value.d = real};
}

/* "0x1f": at most 16 digits, in lower case as Trackway writes them. */
static bool is_pointer(const struct chrome_value *value, uint64_t *number)
{
	if (value->size < 3 || value->size > 18 || value->bytes[0] != '0' || value->bytes[1] != 'x')
		return false;
	*number = 0;
	for (size_t i = 2; i < value->size; i++) {
		const char *digit = memchr("0123456789abcdef", value->bytes[i], 16);
		if (!digit)
			return false;
		*number = *number << 4 | (uint64_t)(digit - "0123456789abcdef");
	}
	return true;
}

/* Whether a string is a number that Trackway wrote so because readers would have taken it for a double. */
static bool own_number(const struct chrome_value *value, struct tw_argument *argument)
{
	static const struct {
		const char *text;
		double value;
	} reals[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
	uint64_t number;
	if (value->escaped)
		return false;
	if (is_pointer(value, &number)) {
		*argument = (struct tw_argument){.type = TW_ARG_POINTER, .value.u = number};
		return true;
	}
	for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
		if (chrome_is(value, reals[i].text)) {
			*argument = (struct tw_argument){.type = TW_ARG_DOUBLE, .value.d = reals[i].value};
			return true;
		}
	if (value->size < 16 || !chrome_is_whole(value) || !chrome_integer(value, &number))
		return false;
	bool large = number > INT64_MAX && value->bytes[0] != '-';
	*argument = (struct tw_argument){.type = large ? TW_ARG_UINT : TW_ARG_INT, .value.u = number};
	return true;
}

/* A counter's value that is told as a string. */
static struct tw_argument counter_argument(struct chrome_fill *fill, const struct chrome_value *value)
{
	struct chrome_value number;
	double real;
	if (chrome_number(value, &number))
		return number_argument(fill, &number);
	if (!value->escaped && tw_loose_number(value->bytes, value->size, &real))
		return (struct tw_argument){.type = TW_ARG_DOUBLE, .value.d = real};
	chrome_report(fill->reader, CHROME_COUNTER_VALUE, fill->item, value->bytes,
	              "expected a number, found the string \"%.*s\"", (int)(value->size < 64 ? value->size : 64),
	              (const char *)value->bytes);
	return text_argument(fill, value, true);
}

/* Makes an argument of a string. A counter's is a number where it looks like one, as viewers take it. */
static struct tw_argument string_argument(struct chrome_fill *fill, const struct chrome_value *value)
{
	struct tw_argument argument;
	if (fill->state->stream.own && own_number(value, &argument))
		return argument;
	return fill->event->kind == TW_COUNTER ? counter_argument(fill, value) : text_argument(fill, value, true);
}

/* What a counter counts is a number. */
static void check_counter(struct chrome_fill *fill, const struct chrome_value *value)
{
	static const char *const found[] = {
	    [CHROME_TRUE] = "true",      [CHROME_FALSE] = "false",      [CHROME_NULL] = "null",
	    [CHROME_ARRAY] = "an array", [CHROME_OBJECT] = "an object",
	};
	const char *text = value->type < sizeof found / sizeof *found ? found[value->type] : NULL;
	if (fill->event->kind == TW_COUNTER && text)
		chrome_report(fill->reader, CHROME_COUNTER_VALUE, fill->item, value->bytes,
		              "expected a number, found %s", text);
}

static struct tw_argument argument_of(struct chrome_fill *fill, const struct chrome_value *value)
{
	check_counter(fill, value);
	switch ((enum chrome_type)value->type) {
	case CHROME_STRING:
		return string_argument(fill, value);
	case CHROME_NUMBER:
		return number_argument(fill, value);
	case CHROME_TRUE:
	case CHROME_FALSE:
		return (struct tw_argument){.type = TW_ARG_BOOL, .value.u = value->type == CHROME_TRUE};
	case CHROME_NAN:
		return (struct tw_argument){.type = TW_ARG_DOUBLE, .value.d = NAN};
	case CHROME_INFINITY:
	case CHROME_MINUS_INFINITY:
		return (struct tw_argument){.type = TW_ARG_DOUBLE,
		                            .value.d = value->type == CHROME_INFINITY ? INFINITY : -INFINITY};
	case CHROME_OBJECT:
	case CHROME_ARRAY:
		fill->reader->traits.altered.arguments++;
		return text_argument(fill, value, true);
	case CHROME_NULL:
	case CHROME_NOTHING:
		break;
	}
	return (struct tw_argument){.type = TW_ARG_NULL};
}

void chrome_argument(struct chrome_fill *fill, const char *name, const struct chrome_value *value)
{
	uint32_t number = chrome_name(fill->reader, name, strlen(name));
	if (number == UINT32_MAX)
		fill->failed = true;
	else
		put(fill, number, argument_of(fill, value));
}

static void put_scheduling(struct chrome_fill *fill, const char *name, const struct tw_argument *argument)
{
	uint32_t number = chrome_name(fill->reader, name, strlen(name));
	if (number == UINT32_MAX)
		fill->failed = true;
	else
		put(fill, number, *argument);
}

void chrome_priority(struct chrome_fill *fill, const char *name, const struct chrome_value *value)
{
	struct tw_argument argument = argument_of(fill, value);
	if (argument.type == TW_ARG_INT && argument.value.i >= 0)
		argument.type = TW_ARG_UINT;
	put_scheduling(fill, name, &argument);
}

void chrome_weight(struct chrome_fill *fill, const char *name, const struct chrome_value *value)
{
	struct tw_argument argument = argument_of(fill, value);
	put_scheduling(fill, name, &argument);
}

/* ---- What Trackway's writer adds. ---- */

static const struct {
	const char *key;
	uint8_t flag;
} marks[] = {
    {"tail", TW_FLAG_TAIL},
    {"clipped", TW_FLAG_CLIPPED},
    {"unwound", TW_FLAG_UNWOUND},
};

/* Of samples, and of messages. */
static const struct {
	const char *key;
	uint8_t kind;
	bool id; /* otherwise the value */
} sample_numbers[] = {
    {"weight", TW_STACK_SAMPLE, false},     {"wall_ns", TW_STACK_SAMPLE, true},    {"cpu_ns", TW_CPU_SAMPLE, false},
    {"bytes", TW_ALLOCATION_SAMPLE, false}, {"count", TW_ALLOCATION_SAMPLE, true}, {"severity", TW_LOG, false},
};

static bool take_sample_number(struct chrome_fill *fill, const struct chrome_value *key,
                               const struct chrome_value *value)
{
	uint64_t number;
	for (size_t i = 0; i < sizeof sample_numbers / sizeof *sample_numbers; i++)
		if (fill->event->kind == sample_numbers[i].kind && chrome_is(key, sample_numbers[i].key) &&
		    chrome_integer(value, &number)) {
			*(sample_numbers[i].id ? &fill->event->id : &fill->event->value) = number;
			return true;
		}
	return false;
}

/* Of a wake-up: the thread that woke the other, by its number. */
static bool take_waker(struct chrome_fill *fill, const struct chrome_value *key, const struct chrome_value *value)
{
	struct tw_argument waker = {.type = TW_ARG_KOID};
	if (fill->event->kind != TW_WAKEUP || !chrome_is(key, "waker") || !chrome_integer(value, &waker.value.u))
		return false;
	uint32_t track = chrome_koid_track(fill->reader, value);
	fill->failed |= track == UINT32_MAX;
	fill->event->other = fill->failed ? 0 : track;
	put_scheduling(fill, "waker", &waker);
	return true;
}

static bool take_mark(struct chrome_fill *fill, const struct chrome_value *key, const struct chrome_value *value)
{
	uint64_t cpu;
	if (fill->state->stream.own_cpu && chrome_is(key, "cpu") && chrome_integer(value, &cpu) && cpu <= UINT16_MAX) {
		fill->event->cpu = (uint16_t)cpu;
		return true;
	}
	if (take_sample_number(fill, key, value) || take_waker(fill, key, value))
		return true;
	for (size_t i = 0; i < sizeof marks / sizeof *marks && value->type == CHROME_TRUE; i++)
		if (chrome_is(key, marks[i].key)) {
			fill->event->flags |= marks[i].flag;
			return true;
		}
	return false;
}

static int nibble(uint8_t c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* {"hex":"6869","text":"hi"}: bytes. False when it is not just that. */
static bool take_bytes(struct chrome_fill *fill, uint32_t name, const struct chrome_value *object)
{
	struct chrome_scan scan = {.at = object->bytes + 1, .end = object->bytes + object->size};
	struct chrome_value key, hex, text, more;
	if (!chrome_next_member(&scan, &key, &hex) || !chrome_is(&key, "hex") || hex.type != CHROME_STRING ||
	    hex.size % 2 || !chrome_next_member(&scan, &key, &text) || !chrome_is(&key, "text") ||
	    chrome_next_member(&scan, &key, &more))
		return false;
	uint8_t *room = chrome_piece_room(fill->piece, hex.size / 2);
	fill->failed |= !room;
	for (size_t i = 0; room && i < hex.size; i += 2) {
		int high = nibble(hex.bytes[i]), low = nibble(hex.bytes[i + 1]);
		if (high < 0 || low < 0)
			return false;
		room[i / 2] = (uint8_t)(high << 4 | low);
	}
	put(fill, name,
	    (struct tw_argument){.type = TW_ARG_BYTES, .value.bytes = room, .size = room ? (uint32_t)hex.size / 2 : 0});
	return true;
}

/* ---- Objects. ---- */

/* What stands before the names of an inner object's members. */
struct prefix {
	const uint8_t *bytes;
	size_t size;
	unsigned depth;
};

static void take_object(struct chrome_fill *fill, const struct chrome_value *object, struct prefix prefix);

/* "outer" and "inner" to "outer.inner". */
static struct chrome_value join(struct chrome_fill *fill, struct prefix prefix, struct chrome_value key)
{
	if (!prefix.bytes)
		return key;
	uint8_t *room = chrome_piece_room(fill->piece, prefix.size + 1 + key.size);
	if (!room) {
		fill->failed = true;
		return key;
	}
	memcpy(room, prefix.bytes, prefix.size);
	room[prefix.size] = '.';
	memcpy(room + prefix.size + 1, key.bytes, key.size);
	return (struct chrome_value){.bytes = room, .size = prefix.size + 1 + key.size, .type = CHROME_STRING};
}

static bool is_empty(const struct chrome_value *object)
{
	struct chrome_scan scan = {.at = object->bytes + 1, .end = object->bytes + object->size};
	struct chrome_value key, value;
	return !chrome_next_member(&scan, &key, &value);
}

static bool is_flat(const struct chrome_value *value, const struct chrome_value *name, unsigned depth)
{
	return value->type == CHROME_OBJECT && depth < FLAT_DEPTH && name->size <= PREFIX_MAX && !is_empty(value);
}

static void take_member(struct chrome_fill *fill, const struct chrome_value *key, const struct chrome_value *value,
                        struct prefix prefix)
{
	bool own = fill->state->stream.own;
	if (own && prefix.depth == 0 && take_mark(fill, key, value))
		return;
	if (fill->end && prefix.depth == 0 && value->type == CHROME_OBJECT && chrome_is(key, "end")) {
		take_object(fill, value, (struct prefix){.depth = 1});
		return;
	}
	struct chrome_value name = join(fill, prefix, chrome_text_of(fill, key, false));
	uint32_t number = chrome_name(fill->reader, name.bytes, name.size);
	if (number == UINT32_MAX)
		fill->failed = true;
	else if (own && value->type == CHROME_OBJECT && take_bytes(fill, number, value))
		return;
	else if (is_flat(value, &name, prefix.depth))
		take_object(fill, value, (struct prefix){name.bytes, name.size, prefix.depth + 1});
	else if (!value->deep)
		put(fill, number, argument_of(fill, value));
}

static void take_object(struct chrome_fill *fill, const struct chrome_value *object, struct prefix prefix)
{
	struct chrome_scan scan = {.at = object->bytes + 1,
	                           .end = object->bytes + object->size,
	                           .depth = prefix.depth + 1};
	struct chrome_value key, value;
	while (!fill->failed && chrome_next_member(&scan, &key, &value))
		take_member(fill, &key, &value, prefix);
}

static void report_left_out(struct chrome_fill *fill)
{
	if (fill->left_out)
		chrome_report(fill->reader, CHROME_ARGUMENTS, fill->item, NULL, "%u arguments are left out",
		              fill->left_out);
}

void chrome_arguments(struct chrome_fill *fill, const struct chrome_value *value)
{
	if (value->type == CHROME_OBJECT)
		take_object(fill, value, (struct prefix){0});
	else if (value->type != CHROME_NOTHING && value->type != CHROME_NULL)
		chrome_argument(fill, "args", value);
	report_left_out(fill);
}

void chrome_prefixed_arguments(struct chrome_fill *fill, const struct chrome_value *object, const char *prefix)
{
	if (object->type != CHROME_OBJECT)
		return;
	struct chrome_scan scan = {.at = object->bytes + 1, .end = object->bytes + object->size};
	struct chrome_value key, value;
	const struct prefix before = {(const uint8_t *)prefix, strlen(prefix), 1};
	while (!fill->failed && chrome_next_member(&scan, &key, &value))
		if (!chrome_is(&key, "pid") && !chrome_is(&key, "tid") && !chrome_is(&key, "state") &&
		    !chrome_is(&key, "prio"))
			take_member(fill, &key, &value, before);
}
