/* members.c - what a JSON document holds beside its events: skipped, or kept to be written again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/members.h"

#include "chrome/place.h"
#include "core/filter/filter.h"

#include <string.h>

/* ---- Values that are skipped. ---- */

/* Where in a value that is skipped the next byte is. */
struct skip {
	uint64_t depth; /* of brackets */
	bool string, escaped, word;
};

/* Takes a byte in a string; whether the value ends with it. */
static bool skip_in_string(struct skip *skip, uint8_t c)
{
	bool over = c == '"' && !skip->escaped && skip->depth == 0;
	skip->string = c != '"' || skip->escaped;
	skip->escaped = c == '\\' && !skip->escaped;
	return over;
}

static bool skip_byte(struct skip *skip, uint8_t c)
{
	if (skip->string)
		return skip_in_string(skip, c);
	if (c == '}' || c == ']') {
		skip->depth -= skip->depth > 0;
		return skip->depth == 0;
	}
	skip->string = c == '"';
	skip->depth += c == '{' || c == '[';
	skip->word = skip->depth == 0 && !skip->string && !chrome_is_space(c);
	return false;
}

/* Keeps text of a member that is skipped, where it is wanted and there is room. */
static bool keep(const struct chrome_stream *stream, struct tw_text *text, const void *p, size_t size)
{
	return text && text->length + size <= chrome_event_limit(stream->reader) && tw_text_add(text, p, size);
}

/* Skips a value of any size and depth, looking at nothing but brackets and strings. Where *kept is true its text is
 * added to `text`; it becomes false where there was no room. Returns 1, 0 when the file ends first, or a negative
 * status. */
static int skip_and_keep(struct chrome_stream *stream, struct tw_text *text, bool *kept)
{
	struct skip skip = {.depth = 0};
	const uint8_t *p;
	size_t have;
	for (;;) {
		int status = chrome_peek(stream, 1, &p, &have);
		if (status < 0 || have == 0)
			return status;
		for (size_t i = 0; i < have; i++) {
			bool after = skip.word && (p[i] == ',' || p[i] == '}' || p[i] == ']' || chrome_is_space(p[i]));
			if (after || skip_byte(&skip, p[i])) {
				*kept = *kept && keep(stream, text, p, after ? i : i + 1);
				chrome_pass(stream, p, after ? i : i + 1);
				return 1;
			}
		}
		*kept = *kept && keep(stream, text, p, have);
		chrome_pass(stream, p, have);
	}
}

/* ---- Members. ---- */

static void report_left_out(struct chrome_stream *stream, const struct chrome_value *key, uint64_t at,
                            struct tw_line_place line)
{
	tw_report_in_line(stream->reader, &chrome_rules[CHROME_MEMBER], at, at, line,
	                  "\"%.*s\" of the document is left out", (int)key->size, (const char *)key->bytes);
}

/* Which part of a profile a member is; CHROME_PARTS: none. */
static enum chrome_part part_of(const struct chrome_value *key)
{
	static const char *const keys[CHROME_PARTS] = {
	    [CHROME_PART_NODES] = "nodes",     [CHROME_PART_SAMPLES] = "samples", [CHROME_PART_DELTAS] = "timeDeltas",
	    [CHROME_PART_START] = "startTime", [CHROME_PART_END] = "endTime",     [CHROME_PART_FRAMES] = "stackFrames",
	};
	enum chrome_part part = 0;
	while (part < CHROME_PARTS && !chrome_is(key, keys[part]))
		part++;
	return part;
}

bool chrome_samples_apart(const struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	return reader->request.merged || options->thread_count || tw_filter_needed(options);
}

/* Skips a member of the document; what is to be written again is kept, and so are samples of stacks, but for what is
 * too large. */
static int skip_member(struct chrome_stream *stream, const struct chrome_value *key)
{
	const struct tw_line_place line = stream->line;
	const uint64_t at = stream->at;
	const enum chrome_part part = stream->system ? CHROME_PARTS : part_of(key);
	const bool apart = part < CHROME_PARTS && (stream->own || chrome_samples_apart(stream->reader));
	const bool whole = stream->reader->request.texts && key->size < CHROME_KEY_MAX && !apart;
	struct tw_text *text = whole ? &stream->document : part < CHROME_PARTS ? &stream->parts[part] : NULL;
	const size_t before = text && whole ? text->length : 0;
	bool wanted = text && !stream->system, kept = wanted;
	if (wanted && !whole)
		text->length = 0;
	if (kept && whole)
		kept = keep(stream, text, ",\"", 2) && keep(stream, text, key->bytes, key->size) &&
		       keep(stream, text, "\":", 2);
	int status = skip_and_keep(stream, text, &kept);
	if (kept && !whole)
		kept = keep(stream, text, " ", 1); /* a number ends where a word does not go on */
	if (wanted && (status <= 0 || !kept))
		text->length = before;
	if (wanted && !kept)
		report_left_out(stream, key, at, line);
	return status;
}

/* What Trackway's own writer tells of the trace. */
static void take_other_data(struct chrome_stream *stream, const struct chrome_value *object)
{
	static const char own[] = "trackway ";
	struct chrome_scan scan = {.at = object->bytes + 1, .end = object->bytes + object->size};
	struct chrome_value key, value;
	while (chrome_next_member(&scan, &key, &value)) {
		if (chrome_is(&key, "clock_start_ns"))
			stream->has_start = chrome_integer(&value, &stream->start_ns);
		else if (chrome_is(&key, "wall_start_ns"))
			chrome_integer(&value, &stream->wall_ns);
		else if (chrome_is(&key, "has_cpu"))
			stream->own_cpu = value.type == CHROME_TRUE;
		else if (chrome_is(&key, "writer") && value.type == CHROME_STRING && value.size > strlen(own))
			stream->own = memcmp(value.bytes, own, strlen(own)) == 0;
	}
	stream->own_cpu &= stream->own;
}

/* Looks at it; it is skipped afterwards. */
static int other_data(struct chrome_stream *stream)
{
	enum { OTHER_DATA_MAX = 1 << 16 };
	const uint8_t *p;
	size_t have;
	struct chrome_value value;
	int status = chrome_peek(stream, OTHER_DATA_MAX, &p, &have);
	if (status < 0)
		return status;
	struct chrome_scan scan = {.at = p, .end = p + have};
	if (chrome_scan_value(&scan, &value) == CHROME_GOOD && value.type == CHROME_OBJECT && !stream->items)
		take_other_data(stream, &value);
	return 0;
}

/* Members of the document that hold what could be events, but not as Trackway reads them. */
static bool is_left_out(const struct chrome_value *key)
{
	static const char *const keys[] = {"systemTraceEvents", "powerTraceAsString", "androidProcessDump"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (chrome_is(key, keys[i]))
			return true;
	return false;
}

int chrome_take_member(struct chrome_stream *stream, const struct chrome_value *key, uint8_t first)
{
	int status = 0;
	bool events = chrome_is(key, stream->system ? "events" : "traceEvents");
	if (events && first == '[') {
		stream->at++;
		stream->place = CHROME_IN_EVENTS;
		stream->comma = true;
		return CHROME_AGAIN;
	}
	if (chrome_is(key, "systemTraceEvents") && first == '{' && !stream->system) {
		stream->at++;
		stream->system = true;
		return CHROME_AGAIN;
	}
	if (is_left_out(key) && !stream->reader->request.texts)
		tw_report_in_line(stream->reader, &chrome_rules[CHROME_MEMBER], stream->at, stream->at, stream->line,
		                  "\"%.*s\" of the document is left out", (int)key->size, (const char *)key->bytes);
	if (chrome_is(key, "otherData"))
		status = other_data(stream);
	return status < 0 ? status : skip_member(stream, key);
}
