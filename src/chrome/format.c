/* format.c - Chrome's trace event JSON as a format: finding and opening it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"
#include "core/filter/filter.h"

#include <stdlib.h>
#include <string.h>

/* Filters need times since the start and each thread's events in order; the records that pass them are read again. */
static int prepare_input(struct tw_reader *reader)
{
	if (reader->options.order != TW_ORDER_FILE || !tw_filter_needed(&reader->options))
		return 0;
	reader->options.order = TW_ORDER_TIME;
	if (tw_input_seekable(reader->input))
		return 0;
	int status = tw_input_spool(reader->input, reader->options.temporary_directory);
	return status < 0 ? tw_fail(reader, status, "%s", tw_input_error(reader->input)) : 0;
}

static bool holds(const uint8_t *bytes, size_t size, const char *text)
{
	return memmem(bytes, size, text, strlen(text)) != NULL;
}

static size_t pass_blanks(const uint8_t *bytes, size_t at, size_t end)
{
	while (at < end && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' || bytes[at] == '\t'))
		at++;
	return at;
}

/* Whether a member that has the key begins with a value. */
static bool has_member(const uint8_t *bytes, size_t size, const char *key, const char *value)
{
	const uint8_t *found = memmem(bytes, size, key, strlen(key));
	size_t at = found ? pass_blanks(bytes, (size_t)(found - bytes) + strlen(key), size) : size;
	at = at < size && bytes[at] == ':' ? pass_blanks(bytes, at + 1, size) : size;
	return size - at >= strlen(value) && memcmp(bytes + at, value, strlen(value)) == 0;
}

/* Whether the first bytes tell of samples, and of no slice: then the file is a profile. */
static int note_samples(struct tw_reader *reader)
{
	static const char *const slices[] = {"\"ph\":\"X\"", "\"ph\":\"B\"", "\"ph\": \"X\"", "\"ph\": \"B\""};
	enum { LOOK = 1 << 16 };
	const uint8_t *bytes;
	size_t have;
	if (tw_window_view(&reader->window, 0, 1, &bytes, &have) < 0)
		return tw_fail(reader, TW_ERR_SYSTEM, "%s", tw_input_error(reader->input));
	have = have < LOOK ? have : LOOK;
	bool sampled = holds(bytes, have, "\"callFrame\"") || holds(bytes, have, "\"sf\"");
	for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
		sampled = sampled && !holds(bytes, have, slices[i]);
	static const char events[] = "\"traceEvents\"";
	const uint8_t *begin = memmem(bytes, have, events, strlen(events));
	const size_t head = begin ? (size_t)(begin - bytes) : have;
	bool own = holds(bytes, head, "\"otherData\"") && has_member(bytes, head, "\"writer\"", "\"trackway ");
	reader->traits.sampled = sampled || (own && has_member(bytes, head, "\"sampled\"", "true"));
	if (own) /* its head is written anew */
		reader->traits.document = reader->traits.frames = NULL;
	return 0;
}

static int open_chrome(struct tw_reader *reader)
{
	struct chrome_state *state = calloc(1, sizeof *state);
	reader->state = state;
	if (!state)
		return tw_fail_memory(reader);
	reader->clock.ticks_per_second = 1000000000;
	reader->traits.rounding = 1; /* microseconds with three decimals */
	reader->traits.ends_unordered = true;
	state->times.earliest = INT64_MAX;
	reader->traits.document = &state->stream.document;
	reader->traits.frames = &state->stream.parts[CHROME_PART_FRAMES];
	state->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	state->order.current = calloc(1, sizeof *state->order.current);
	if (!state->c || !state->order.current)
		return tw_fail_memory(reader);
	int status = prepare_input(reader);
	if (status >= 0)
		status = note_samples(reader);
	if (status >= 0)
		status = chrome_stream_open(reader, &state->stream);
	return status;
}

static void close_chrome(struct tw_reader *reader)
{
	struct chrome_state *state = reader->state;
	chrome_order_free(state);
	tw_overlaps_free(&state->overlaps);
	tw_shared_keys_free(&state->shared);
	chrome_names_free(&state->names);
	chrome_records_free(state->records);
	free(state->marks);
	chrome_summary_free(state->summary);
	if (state->c)
		freelocale(state->c);
	free(state->tracks);
	chrome_profiles_free(state->profiles);
	tw_text_free(&state->stream.document);
	for (size_t i = 0; i < CHROME_PARTS; i++)
		tw_text_free(&state->stream.parts[i]);
	free(state);
	reader->state = NULL;
}

/* ---- The format. ---- */

/* Whether what tells comes after much else: what devices there are, how it was recorded, the arguments of an event. */
static int probe_further(const uint8_t *bytes, size_t size)
{
	if (size <= TW_PROBE_SIZE)
		return size == TW_PROBE_SIZE ? TW_PROBE_MORE : 0;
	bool events = holds(bytes, size, "\"ph\"") && holds(bytes, size, "\"ts\"");
	bool profile = holds(bytes, size, "\"callFrame\"") && holds(bytes, size, "\"nodes\"");
	bool samples = holds(bytes, size, "\"stackFrames\"") && holds(bytes, size, "\"samples\"");
	return events || profile || samples || holds(bytes, size, "\"traceEvents\"") ? 90 : 0;
}

/* Whether there is nothing but an array of nothing: a recording in which nothing happened. */
static bool is_empty_array(const uint8_t *bytes, size_t at, size_t size)
{
	if (size >= TW_PROBE_SIZE || bytes[at] != '[')
		return false;
	at = pass_blanks(bytes, at + 1, size);
	return at < size && bytes[at] == ']' && pass_blanks(bytes, at + 1, size) == size;
}

/* JSON alone is not enough: it must name what only these files have. */
static int probe(const uint8_t *bytes, size_t size)
{
	static const struct {
		const char *text, *more;
		int sure;
	} signs[] = {
	    {"\"traceEvents\"", "", 90},        {"\"ph\"", "", 80},
	    {"\"systemTraceEvents\"", "", 80},  {"\"displayTimeUnit\"", "", 60},
	    {"\"pid\"", "\"tid\"", 50},         {"\"pid\"", "\"ts\"", 50},
	    {"\"source\"", "\"DevTools\"", 50}, {"\"nodes\"", "\"callFrame\"", 80},
	};
	size_t at = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	at = pass_blanks(bytes, at, size);
	if (at == size)
		return size == TW_PROBE_SIZE ? TW_PROBE_MORE : 0;
	if (bytes[at] != '[' && bytes[at] != '{')
		return 0;
	size_t first = size - at < TW_PROBE_SIZE ? size : at + TW_PROBE_SIZE;
	if (is_empty_array(bytes, at, size))
		return 50;
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (holds(bytes, first, signs[i].text) && holds(bytes, first, signs[i].more))
			return signs[i].sure;
	return probe_further(bytes, size);
}

const struct tw_format tw_format_chrome = {
    .name = "chrome",
    .title = "Chrome trace event JSON (Chrome, Perfetto, many tracers)",
    .rules = chrome_rules,
    .rule_count = CHROME_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_TIME,
	    .samples_beside = true,
	    .has_reach = true,
	},
    .files =
	{
	    .probe = probe,
	},
    .reading =
	{
	    .open = open_chrome,
	    .look = chrome_look,
	    .read = chrome_read,
	    .check = chrome_check,
	    .read_record = chrome_read_record,
	    .close = close_chrome,
	},
    .survey =
	{
	    .info = chrome_info,
	},
};
