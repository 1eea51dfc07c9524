/* stream.c - events one after the other, out of a JSON document that is never held whole.
 *
 * An event is read where it lies in the window, which grows, up to a bound, until the event is whole. What is around
 * the events is skipped byte by byte. After damage the next object that can be read whole and has a phase is taken for
 * an event: text of an argument that looks like one would have to be a whole event itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/text/plural.h"
#include "chrome/chrome.h"
#include "chrome/members.h"
#include "chrome/place.h"
#include "core/filter/filter.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_LOOK = 1 << 12 }; /* bytes that are asked for when those at hand were too few */

/* ---- Lines. ---- */

bool chrome_mark(struct chrome_stream *stream)
{
	struct tw_reader *reader = stream->reader;
	struct chrome_state *state = reader->state;
	if (reader->options.checking != TW_CHECK_ALL)
		return true;
	if (!tw_grow(&state->marks, &state->mark_room, state->mark_count + 1, sizeof *state->marks))
		return false;
	state->marks[state->mark_count++] = (struct chrome_mark){stream->at, stream->line};
	return true;
}

struct tw_line_place chrome_line_of(struct tw_reader *reader, uint64_t offset)
{
	const struct chrome_state *state = reader->state;
	struct tw_window window = {.input = reader->input, .chunk = FIRST_LOOK};
	struct tw_line_place line = {0};
	const size_t marks =
	    tw_count_up_to(state->marks, state->mark_count, TW_KEY(struct chrome_mark, offset), offset);
	size_t have;
	const uint8_t *p;
	if (marks == 0 || !tw_input_repeatable(reader->input))
		return line;
	uint64_t at = state->marks[marks - 1].offset;
	line = state->marks[marks - 1].line;
	while (at < offset && tw_window_view(&window, at, 1, &p, &have) >= 0 && have) {
		const size_t size = offset - at < have ? (size_t)(offset - at) : have;
		line = chrome_line_behind(line, at, p, size);
		at += size;
	}
	tw_window_free(&window);
	return line;
}

/* ---- Telling. ---- */

/* How far into an item a place is; 0 of a place in what was kept of the document. */
static size_t inside_of(const struct chrome_item *item, const uint8_t *at)
{
	uintptr_t begin = (uintptr_t)item->bytes, place = (uintptr_t)at;
	return place >= begin && place - begin < item->size ? place - begin : 0;
}

void chrome_report(struct tw_reader *reader, enum chrome_rule rule, const struct chrome_item *item, const uint8_t *at,
                   const char *format, ...)
{
	char text[TW_ERROR_TEXT / 2];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	size_t inside = inside_of(item, at);
	tw_report_in_line(reader, &chrome_rules[rule], item->offset, item->offset + inside,
	                  chrome_line_behind(item->line, item->offset, item->bytes, inside), "%s", text);
}

bool chrome_first(struct chrome_stream *stream, uint64_t what)
{
	if (what < CHROME_NUMBERS) {
		uint64_t *numbers = &stream->reported_numbers[what / 64], before = *numbers;
		*numbers |= UINT64_C(1) << what % 64;
		return *numbers != before;
	}
	for (size_t i = 0; i < stream->reported_count; i++)
		if (stream->reported[i] == what)
			return false;
	if (stream->reported_count == sizeof stream->reported / sizeof *stream->reported)
		return false;
	stream->reported[stream->reported_count++] = what;
	return true;
}

static void report_here(struct chrome_stream *stream, enum chrome_rule rule, const char *text)
{
	tw_report_in_line(stream->reader, &chrome_rules[rule], stream->at, stream->at, stream->line, "%s", text);
}

/* Says once for each kind what is not quite JSON. */
static void report_odd(struct chrome_stream *stream, unsigned odd, const struct chrome_item *item)
{
	static const struct {
		unsigned odd;
		const char *text;
	} texts[] = {
	    {CHROME_ODD_COMMA, "a comma is missing, or there is one too many"},
	    {CHROME_ODD_CONTROL, "a string holds a control character that should be escaped"},
	    {CHROME_ODD_CONSTANT, "NaN and Infinity are no JSON"},
	};
	unsigned fresh = odd & ~stream->reported_odd;
	stream->reported_odd |= odd;
	if (!fresh || stream->reader->options.checking != TW_CHECK_ALL)
		return;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (fresh & texts[i].odd)
			chrome_report(stream->reader, CHROME_NOT_STRICT, item, NULL, "%s", texts[i].text);
}

/* Reports a comma that is odd outside of events. */
static void report_comma(struct chrome_stream *stream)
{
	struct chrome_item here = {.offset = stream->at, .line = stream->line};
	report_odd(stream, CHROME_ODD_COMMA, &here);
}

/* ---- Damage. ---- */

struct damage {
	enum chrome_rule rule;
	uint64_t at;
	struct tw_line_place line;
	const char *expected;
};

/* Reads an object, as much of the file as it takes. *found is CHROME_MORE where the file ends inside, or the bound
 * does. */
static int scan_at(struct tw_reader *reader, struct tw_window *window, uint64_t offset, struct chrome_item *item,
                   struct chrome_scan *scan, enum chrome_status *found)
{
	size_t want = 1, have, limit = chrome_event_limit(reader);
	const uint8_t *p;
	for (;;) {
		int status = chrome_view(reader, window, offset, want, &p, &have);
		if (status < 0)
			return status;
		*scan = (struct chrome_scan){.at = p, .end = p + (have < limit ? have : limit)};
		item->bytes = p;
		*found = chrome_scan_event(scan, item);
		if (*found != CHROME_MORE || have < want || have >= limit)
			return 0;
		want = have * 2 > FIRST_LOOK ? have * 2 : FIRST_LOOK;
		want = want < limit ? want : limit;
	}
}

/* Whether an event may be taken up at `at`, after damage: 1, 0, or a negative status. */
static int plausible(struct chrome_stream *stream)
{
	struct chrome_item item;
	struct chrome_scan scan;
	struct chrome_value key;
	enum chrome_status found;
	const uint8_t *p;
	size_t have;
	int status = chrome_peek(stream, CHROME_KEY_MAX, &p, &have);
	if (status < 0)
		return status;
	scan = (struct chrome_scan){.at = p + 1, .end = p + have};
	if (chrome_scan_key(&scan, &key) <= 0 || !chrome_is_member(&key))
		return 0;
	status = scan_at(stream->reader, &stream->reader->window, stream->at, &item, &scan, &found);
	return status < 0 ? status : found == CHROME_GOOD && chrome_phase_of(&item) != '\0';
}

/* Goes on to the next event after the byte at hand, or to the end. Returns 1 when there is one, 0, or a negative
 * status. */
static int resync(struct chrome_stream *stream)
{
	const uint8_t *p;
	size_t have, step = 1;
	for (;;) {
		int status = chrome_peek(stream, step + 1, &p, &have);
		if (status < 0)
			return status;
		if (have < step)
			step = have;
		const uint8_t *brace = memchr(p + step, '{', have - step);
		bool end = have <= step;
		chrome_pass(stream, p, brace ? (size_t)(brace - p) : have);
		if (end)
			return 0;
		step = brace != NULL;
		status = brace ? plausible(stream) : 0;
		if (status)
			return status;
	}
}

/* Makes the item a gap from `from` to the byte at hand. Returns 1. */
static int gap(struct chrome_stream *stream, uint64_t from, struct tw_line_place line, struct chrome_item *item)
{
	*item = (struct chrome_item){.offset = from, .line = line, .lost = stream->at - from};
	stream->lost += item->lost;
	return item->lost ? 1 : CHROME_AGAIN;
}

/* Skips what cannot be read. Where nothing follows an event that is cut off it is no damage. */
static int take_damage(struct chrome_stream *stream, struct chrome_item *item, struct damage damage)
{
	struct tw_reader *reader = stream->reader;
	const struct tw_line_place line = stream->line;
	uint64_t from = stream->at;
	int found = resync(stream);
	if (found < 0)
		return found;
	if (damage.rule == CHROME_TRUNCATED && found)
		damage.rule = CHROME_MALFORMED;
	tw_report_in_line(reader, &chrome_rules[damage.rule], from, damage.at, damage.line,
	                  "expected %s; %llu byte%s skipped", damage.expected, (unsigned long long)(stream->at - from),
	                  tw_plural(stream->at - from));
	stream->place = found ? CHROME_IN_EVENTS : CHROME_AT_END;
	stream->comma = true;
	return gap(stream, from, line, item);
}

static int take_bad(struct chrome_stream *stream, struct chrome_item *item, const struct chrome_scan *scan,
                    const uint8_t *start)
{
	size_t inside = (size_t)(scan->at - start);
	return take_damage(stream, item,
	                   (struct damage){scan->too_deep ? CHROME_NESTING : CHROME_MALFORMED, stream->at + inside,
	                                   chrome_line_behind(stream->line, stream->at, start, inside), scan->problem});
}

static int take_odd_byte(struct chrome_stream *stream, struct chrome_item *item, const char *expected)
{
	return take_damage(stream, item, (struct damage){CHROME_MALFORMED, stream->at, stream->line, expected});
}

/* ---- Events. ---- */

/* Skips white space. Returns 1 and the byte after it, 0 at the end, or a negative status. */
static int next_byte(struct chrome_stream *stream, uint8_t *byte)
{
	const uint8_t *p;
	size_t have;
	*byte = '\0';
	for (;;) {
		int status = chrome_peek(stream, 1, &p, &have);
		if (status < 0 || have == 0)
			return status;
		size_t n = 0;
		while (n < have && chrome_is_space(p[n])) {
			if (p[n] == '\n')
				stream->line = (struct tw_line_place){stream->line.number + 1, stream->at + n + 1};
			n++;
		}
		stream->at += n;
		if (n < have) {
			*byte = p[n];
			return 1;
		}
	}
}

/* Takes an event of which only `size` bytes are there: it is cut off, or too long. */
static int take_cut(struct chrome_stream *stream, struct chrome_item *item, size_t size)
{
	bool large = size >= chrome_event_limit(stream->reader);
	return take_damage(stream, item,
	                   (struct damage){large ? CHROME_EVENT_TOO_LARGE : CHROME_TRUNCATED, stream->at, stream->line,
	                                   large ? "a smaller event" : "the end of the event"});
}

static int take_event(struct chrome_stream *stream, struct chrome_item *item)
{
	struct chrome_scan scan;
	enum chrome_status found;
	item->offset = stream->at;
	item->line = stream->line;
	item->lost = 0;
	int status = scan_at(stream->reader, &stream->reader->window, stream->at, item, &scan, &found);
	if (status < 0)
		return status;
	if (found == CHROME_BAD)
		return take_bad(stream, item, &scan, item->bytes);
	if (found == CHROME_MORE)
		return take_cut(stream, item, (size_t)(scan.end - item->bytes));
	if (!stream->comma && stream->form != CHROME_FORM_LINES)
		item->odd |= CHROME_ODD_COMMA;
	stream->comma = false;
	report_odd(stream, item->odd, item);
	if (item->deep)
		chrome_report(stream->reader, CHROME_NESTING, item, item->deep,
		              "the value is nested too deep: it is left out");
	chrome_pass(stream, item->bytes, item->size);
	if (item->size == 2)
		return CHROME_AGAIN; /* "{}" ends the arrays of writers that put a comma after every event */
	stream->items++;
	return 1;
}

/* Skips a value that is no object where an event should be. */
static int take_value(struct chrome_stream *stream, struct chrome_item *item)
{
	const uint8_t *p;
	size_t have, want = FIRST_LOOK, limit = chrome_event_limit(stream->reader);
	struct chrome_value value;
	for (;; want = have * 2) {
		int status = chrome_peek(stream, want, &p, &have);
		if (status < 0)
			return status;
		struct chrome_scan scan = {.at = p, .end = p + have};
		enum chrome_status found = chrome_scan_value(&scan, &value);
		if (found == CHROME_BAD || (found == CHROME_MORE && (have < want || have >= limit)))
			return take_odd_byte(stream, item, "an event");
		if (found == CHROME_MORE)
			continue;
		const struct tw_line_place line = stream->line;
		uint64_t from = stream->at;
		report_here(stream, CHROME_NOT_AN_EVENT, "expected an event, found another value");
		chrome_pass(stream, p, (size_t)(scan.at - p));
		stream->comma = false;
		return gap(stream, from, line, item);
	}
}

static int end_early(struct chrome_stream *stream)
{
	if (stream->form != CHROME_FORM_LINES && stream->reader->options.checking == TW_CHECK_ALL)
		report_here(stream, CHROME_UNCLOSED, "expected a closing bracket, found the end of the file");
	stream->place = CHROME_AT_END;
	return 0;
}

static int next_event(struct chrome_stream *stream, struct chrome_item *item)
{
	uint8_t byte;
	for (;;) {
		int status = next_byte(stream, &byte);
		if (status <= 0)
			return status < 0 ? status : end_early(stream);
		if (byte == '{')
			return take_event(stream, item);
		if (byte != ',')
			break;
		if (stream->comma)
			report_comma(stream);
		stream->comma = true;
		stream->at++;
	}
	if (byte != ']' || stream->form == CHROME_FORM_LINES)
		return take_value(stream, item);
	if (stream->comma && stream->items)
		report_comma(stream);
	stream->at++;
	stream->place = stream->form == CHROME_FORM_OBJECT ? CHROME_IN_MEMBERS : CHROME_AFTER;
	return CHROME_AGAIN;
}

/* ---- Members of the document, and documents. ---- */

static int take_member(struct chrome_stream *stream, struct chrome_item *item)
{
	const uint8_t *p;
	size_t have;
	struct chrome_value key;
	uint8_t name[CHROME_KEY_MAX], first;
	int status = chrome_peek(stream, CHROME_KEY_MAX, &p, &have);
	if (status < 0)
		return status;
	struct chrome_scan scan = {.at = p, .end = p + have};
	enum chrome_status found = chrome_scan_key(&scan, &key);
	if (found == CHROME_BAD)
		return take_bad(stream, item, &scan, p);
	if (found == CHROME_MORE)
		return take_damage(stream, item,
		                   (struct damage){have < CHROME_KEY_MAX ? CHROME_TRUNCATED : CHROME_MALFORMED,
		                                   stream->at, stream->line, "a key of the document"});
	/* Its bytes move with the next look: keys that mean something are short. */
	key.size = key.size < sizeof name ? key.size : sizeof name;
	memcpy(name, key.bytes, key.size);
	key.bytes = name;
	chrome_pass(stream, p, (size_t)(scan.at - p));
	status = next_byte(stream, &first);
	if (status > 0)
		status = chrome_take_member(stream, &key, first);
	if (status == 0)
		return end_early(stream);
	return status < 0 ? status : CHROME_AGAIN;
}

static int next_member(struct chrome_stream *stream, struct chrome_item *item)
{
	for (;;) {
		uint8_t byte;
		int status = next_byte(stream, &byte);
		if (status <= 0)
			return status < 0 ? status : end_early(stream);
		if (byte == '"')
			return take_member(stream, item);
		if (byte != ',' && byte != '}')
			return take_odd_byte(stream, item, "a member of the document");
		stream->at++;
		if (byte == '}') {
			stream->place = stream->system ? CHROME_IN_MEMBERS : CHROME_AFTER;
			stream->system = false;
			return CHROME_AGAIN;
		}
	}
}

/* An event, or a document that holds them? Only events have phases. */
static int begins_with_event(struct chrome_stream *stream)
{
	enum { LOOK = 1 << 16 };
	const uint8_t *p;
	size_t have;
	struct chrome_item item;
	int status = chrome_peek(stream, LOOK, &p, &have);
	if (status < 0)
		return status;
	struct chrome_scan scan = {.at = p, .end = p + (have < LOOK ? have : LOOK)};
	item.bytes = p;
	chrome_scan_event(&scan, &item);
	return chrome_phase_of(&item) != '\0';
}

static int start(struct chrome_stream *stream, uint8_t byte)
{
	int lines = byte == '{' ? begins_with_event(stream) : 0;
	if (lines < 0)
		return lines;
	stream->form = lines ? CHROME_FORM_LINES : byte == '[' ? CHROME_FORM_ARRAY : CHROME_FORM_OBJECT;
	stream->place = stream->form == CHROME_FORM_OBJECT ? CHROME_IN_MEMBERS : CHROME_IN_EVENTS;
	stream->at += lines ? 0 : 1;
	stream->comma = true;
	return CHROME_AGAIN;
}

static int next_document(struct chrome_stream *stream, struct chrome_item *item)
{
	uint8_t byte;
	int status = next_byte(stream, &byte);
	if (status == 0)
		stream->place = CHROME_AT_END;
	if (status <= 0)
		return status;
	report_here(stream, CHROME_AFTER_END, "expected the end of the file");
	return byte == '{' || byte == '[' ? start(stream, byte) : take_odd_byte(stream, item, "another document");
}

/* ---- The stream. ---- */

int chrome_stream_open(struct tw_reader *reader, struct chrome_stream *stream)
{
	static const char mark[] = "\xef\xbb\xbf";
	const uint8_t *p;
	size_t have;
	uint8_t byte = 0;
	stream->reader = reader;
	stream->line = (struct tw_line_place){1, stream->at};
	int status = chrome_peek(stream, strlen(mark), &p, &have);
	if (status < 0)
		return status;
	if (have >= strlen(mark) && memcmp(p, mark, strlen(mark)) == 0)
		stream->at = strlen(mark);
	status = next_byte(stream, &byte);
	if (status < 0)
		return status;
	if (status == 0 || (byte != '[' && byte != '{'))
		return tw_fail(reader, TW_ERR_FORMAT, "%s: offset 0x%llx: expected [ or {, found no JSON of events",
		               tw_input_name(reader->input), (unsigned long long)stream->at);
	status = start(stream, byte);
	return status < 0 ? status : 0;
}

static int ended(struct chrome_stream *stream)
{
	struct tw_input *input = stream->reader->input;
	if (tw_input_damaged(input) && chrome_first(stream, CHROME_REPORTED_COMPRESSION))
		report_here(stream, CHROME_COMPRESSION, tw_input_damage(input));
	if (!stream->items && !stream->parts[CHROME_PART_SAMPLES].length && !stream->document.length &&
	    chrome_first(stream, CHROME_REPORTED_NO_EVENTS))
		report_here(stream, CHROME_NO_EVENTS, "there is no event");
	return 0;
}

int chrome_next(struct chrome_stream *stream, struct chrome_item *item)
{
	int status = CHROME_AGAIN;
	while (status == CHROME_AGAIN)
		switch (stream->place) {
		case CHROME_IN_EVENTS:
			status = next_event(stream, item);
			break;
		case CHROME_IN_MEMBERS:
			status = next_member(stream, item);
			break;
		case CHROME_AT_START:
		case CHROME_AFTER:
			status = next_document(stream, item);
			break;
		case CHROME_AT_END:
			return ended(stream);
		}
	return status ? status : ended(stream);
}

int chrome_item_at(struct tw_reader *reader, struct tw_window *window, uint64_t offset, struct chrome_item *item)
{
	struct chrome_scan scan;
	enum chrome_status found;
	*item = (struct chrome_item){.offset = offset};
	int status = scan_at(reader, window, offset, item, &scan, &found);
	if (status < 0)
		return status;
	return found == CHROME_GOOD ? 1
	                            : tw_fail(reader, TW_ERR_SYSTEM, "%s: offset 0x%llx: changed while it was read",
	                                      tw_input_name(reader->input), (unsigned long long)offset);
}
