/* chrome_events.h - what is read of a JSON text, as text, for the tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CHROME_EVENTS_H
#define TESTS_UNIT_CHROME_EVENTS_H

#include <trackway/trackway.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Events as text: "TIME KIND PID/TID NAME ..." a line, what is 0 or empty left out. ---- */

struct text {
	char bytes[1 << 18];
	size_t used;
};

static inline void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void add(struct text *text, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(text->bytes + text->used, sizeof text->bytes - text->used, format, arguments);
	va_end(arguments);
	assert_true(n >= 0 && (size_t)n < sizeof text->bytes - text->used);
	text->used += (size_t)n;
}

static inline void add_bytes(struct text *text, const uint8_t *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++)
		if (bytes[i] >= ' ' && bytes[i] <= '~')
			add(text, "%c", bytes[i]);
		else
			add(text, "\\x%02x", bytes[i]);
}

static inline void add_name(struct text *text, const struct tw_dictionary *dictionary, uint32_t number)
{
	const struct tw_name *name = tw_dictionary_name(dictionary, number);
	add_bytes(text, (const uint8_t *)name->text, name->length);
	if (name->file)
		add(text, "(%s:%u)", name->file, (unsigned)name->line);
}

static inline void add_argument(struct text *text, const struct tw_dictionary *dictionary,
                                const struct tw_argument *argument)
{
	add(text, " ");
	add_name(text, dictionary, argument->name);
	switch ((enum tw_argument_type)argument->type) {
	case TW_ARG_NULL:
		add(text, ":null");
		return;
	case TW_ARG_BOOL:
		add(text, ":bool=%" PRIu64, argument->value.u);
		return;
	case TW_ARG_INT:
		add(text, ":int=%" PRId64, argument->value.i);
		return;
	case TW_ARG_UINT:
		add(text, ":uint=%" PRIu64, argument->value.u);
		return;
	case TW_ARG_POINTER:
	case TW_ARG_KOID:
		add(text, ":pointer=%" PRIx64, argument->value.u);
		return;
	case TW_ARG_DOUBLE:
		add(text, ":double=%.17g", argument->value.d);
		return;
	case TW_ARG_TEXT:
	case TW_ARG_BYTES:
		add(text, argument->type == TW_ARG_TEXT ? ":text=" : ":bytes=");
		add_bytes(text, argument->value.bytes, argument->size);
		return;
	}
}

static inline void add_track(struct text *text, const struct tw_dictionary *dictionary, uint32_t number)
{
	static const char *const words[] = {
	    [TW_TRACK_THREAD] = "", [TW_TRACK_PROCESS] = "process", [TW_TRACK_CPU] = "cpu", [TW_TRACK_OTHER] = "none"};
	const struct tw_track *track = tw_dictionary_track(dictionary, number);
	add(text, "%s%" PRId64 "/%" PRId64, words[track->kind], (int64_t)track->process, (int64_t)track->thread);
	if (track->name) {
		add(text, "(");
		add_name(text, dictionary, track->name);
		add(text, ")");
	}
}

static inline void add_event(struct text *text, const struct tw_reader *reader, const struct tw_event *event,
                             const struct tw_argument *arguments)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	add(text, "%" PRIu64 " %s ", event->time, tw_event_kind_name(event->kind));
	add_track(text, dictionary, event->track);
	add(text, " ");
	add_name(text, dictionary, event->name);
	if (event->category) {
		add(text, " @");
		add_name(text, dictionary, event->category);
	}
	if (event->value)
		add(text, " value=%" PRIu64, event->value);
	if (event->id)
		add(text, " id=%" PRIx64, event->id);
	if (event->kind == TW_FLOW_END) {
		add(text, event->other == TW_FLOW_NEXT ? " next" : "");
	} else if (event->other) {
		add(text, " other=");
		add_track(text, dictionary, event->other);
	}
	if (event->cpu)
		add(text, " cpu=%u", event->cpu);
	if (event->flags)
		add(text, " flags=%u", event->flags);
	for (unsigned i = 0; i < event->argument_count; i++)
		add_argument(text, dictionary, &arguments[event->first_argument + i]);
	add(text, "\n");
}

/* ---- Findings as text: a rule a line. ---- */

static struct {
	const char *bytes;
	size_t size;
} document; /* that is being read */

static inline void look_at(const char *json, size_t size)
{
	document.bytes = json;
	document.size = size;
}

/* The column of a byte, counted by its line's bytes. */
static inline uint64_t column_of(uint64_t at)
{
	uint64_t column = 1;
	for (uint64_t i = 0; i < at && i < document.size; i++)
		column = document.bytes[i] == '\n' ? 1 : column + 1;
	return column;
}

static inline void note(void *context, const struct tw_finding *finding)
{
	assert_int_equal(finding->column, finding->line ? column_of(finding->at) : 0);
	add(context, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", finding->rule, finding->record, finding->at,
	    finding->line);
}

struct result {
	struct text events, findings;
	struct tw_clock clock;
};

static inline struct result *read_text(const char *json, size_t size, const struct tw_read_options *given)
{
	struct result *result = calloc(1, sizeof *result);
	struct tw_read_options options = given ? *given : (struct tw_read_options){0};
	struct tw_reader *reader;
	struct tw_batch batch;
	int count;
	assert_non_null(result);
	look_at(json, size);
	options.on_finding = note;
	options.finding_context = &result->findings;
	int status = tw_open_memory(&reader, "test", json, size, &options);
	if (status < 0)
		fail_msg("%s", tw_reader_error(reader));
	assert_string_equal(tw_reader_format(reader), "chrome");
	while ((count = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			add_event(&result->events, reader, &batch.events[i], batch.arguments);
	assert_int_equal(count, 0);
	result->clock = *tw_reader_clock(reader);
	tw_close(reader);
	return result;
}

#endif
