/* own.c - a trace of a program's own events, as a format that reads nothing but them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/own.h"

#include "base/options.h"
#include "core/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BIT(kind) (UINT32_C(1) << (kind))

/* What `other` of an event is the number of. */
enum {
	OTHER_TRACK = BIT(TW_SWITCH) | BIT(TW_WAKEUP) | BIT(TW_OBJECT),
	OTHER_STACK = BIT(TW_STACK_SAMPLE) | BIT(TW_CPU_SAMPLE) | BIT(TW_ALLOCATION_SAMPLE),
	FIRST_ARGUMENT = BIT(TW_LOG) | BIT(TW_BLOB) | BIT(TW_COUNTER) /* one argument at least */
};

/* ---- Events that writers can take. ---- */

static uint32_t most_of_other(const struct tw_dictionary *dictionary, unsigned kind)
{
	if (BIT(kind) & OTHER_TRACK)
		return tw_dictionary_tracks(dictionary) - 1;
	if (BIT(kind) & OTHER_STACK)
		return tw_dictionary_stacks(dictionary) - 1;
	if (kind == TW_FLOW_END)
		return TW_FLOW_NEXT;
	return kind == TW_BLOB ? TW_BLOB_LATER_PART : 0;
}

static bool are_good(const struct tw_dictionary *dictionary, const struct tw_argument *arguments, size_t count)
{
	const uint32_t names = tw_dictionary_names(dictionary);
	for (size_t i = 0; i < count; i++) {
		const struct tw_argument *argument = &arguments[i];
		bool bytes = argument->type == TW_ARG_TEXT || argument->type == TW_ARG_BYTES;
		bool object = argument->type == TW_ARG_POINTER || argument->type == TW_ARG_KOID;
		if (argument->name >= names || argument->type > TW_ARG_BYTES || argument->raw ||
		    (bytes && argument->size && !argument->value.bytes) || (object && argument->size >= names))
			return false;
	}
	return true;
}

/* Returns what is wrong with an event; NULL: nothing. */
static const char *wrong(const struct tw_dictionary *dictionary, const struct tw_batch *batch,
                         const struct tw_event *event)
{
	const uint32_t names = tw_dictionary_names(dictionary);
	if (event->kind >= TW_EVENT_KINDS)
		return "kind";
	if (event->name >= names || event->category >= names)
		return "name";
	if (event->track >= tw_dictionary_tracks(dictionary))
		return "track";
	if (event->provider >= tw_dictionary_providers(dictionary))
		return "provider";
	if (event->other > most_of_other(dictionary, event->kind))
		return "other number";
	if (event->kind == TW_SLICE_COMPLETE && event->value > UINT64_MAX - event->time)
		return "duration";
	if (event->argument_count < (BIT(event->kind) & FIRST_ARGUMENT ? 1 : 0))
		return "count of arguments";
	if (event->argument_count && !batch->arguments)
		return "count of arguments";
	return are_good(dictionary, tw_event_arguments(batch, event), event->argument_count) ? NULL : "argument";
}

const char *tw_own_wrong(const struct tw_reader *reader, const struct tw_batch *batch, size_t *number)
{
	const char *what = NULL;
	for (*number = 0; *number < batch->count; ++*number)
		if ((what = wrong(reader->dictionary, batch, &batch->events[*number])))
			break;
	return what;
}

/* ---- The format. ---- */

static int read_own(struct tw_reader *reader, struct tw_batch *batch)
{
	const struct tw_own_trace *trace = reader->state;
	size_t number;
	if (!trace->read)
		return tw_fail(reader, TW_ERR_UNSUPPORTED, "%s: it has no events to read", reader->path);
	int count = trace->read(trace->context, batch);
	if (count < 0)
		return tw_fail(reader, count, "%s: %s", reader->path, tw_status_text(count));
	batch->count = (size_t)count;
	const char *what = tw_own_wrong(reader, batch, &number);
	if (what)
		return tw_fail(reader, TW_ERR_VALUE, "%s: event %zu of a batch has a %s that does not exist",
		               reader->path, number, what);
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		uint64_t end = event->time + (event->kind == TW_SLICE_COMPLETE ? event->value : 0);
		reader->clock.end_ns = end > reader->clock.end_ns ? end : reader->clock.end_ns;
	}
	return count;
}

static int open_own(struct tw_reader *reader)
{
	(void)reader; /* tw_open_own() has done it */
	return 0;
}

/* The dictionary is the caller's. */
static void close_own(struct tw_reader *reader)
{
	reader->dictionary = NULL;
	free(reader->state);
}

static const struct tw_format own = {
    .name = "own",
    .title = "events of a program",
    .traits = {.samples_beside = true},
    .reading = {.open = open_own, .read = read_own, .close = close_own},
};

bool tw_is_own(const struct tw_reader *reader)
{
	return reader->format == &own;
}

/* Puts the caller's dictionary in the place of the reader's. */
static int take_trace(struct tw_reader *reader, const struct tw_own_trace *trace)
{
	struct tw_own_trace *copy = malloc(sizeof *copy);
	reader->path = reader->own.path = strdup(trace->name ? trace->name : "a trace of its own");
	if (!copy || !reader->path) {
		free(copy);
		return tw_fail_memory(reader);
	}
	TW_COPY_OPTIONS(copy, trace, struct tw_own_trace);
	tw_dictionary_free(reader->dictionary);
	reader->dictionary = trace->dictionary;
	reader->state = copy;
	reader->clock = trace->clock;
	if (reader->clock.ticks_per_second == 0)
		reader->clock.ticks_per_second = 1000000000;
	reader->reports.file = reader->path;
	return 0;
}

int tw_open_own(struct tw_reader **reader, const struct tw_own_trace *trace, const struct tw_read_options *options)
{
	*reader = tw_reader_new(options);
	if (!*reader)
		return TW_ERR_MEMORY;
	if (!trace->dictionary)
		return tw_opened(*reader, tw_fail(*reader, TW_ERR_VALUE, "a trace of its own needs a dictionary"));
	(*reader)->format = &own;
	int status = take_trace(*reader, trace);
	return tw_opened(*reader, status < 0 ? status : tw_open_format(*reader));
}
