/* fuzz_own.c - events of a program, with any numbers in them, to every target: refused, or written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <string.h>

#include <trackway/own.h>
#include <trackway/writer.h>

enum { NUMBERS = 6, EVENTS = 64, ARGUMENTS = 8 };

/* Bytes that are used up, then zeros. */
struct feed {
	const uint8_t *bytes;
	size_t left;
};

static uint64_t take(struct feed *feed, size_t size)
{
	uint64_t value = 0;
	size_t n = size < feed->left ? size : feed->left;
	memcpy(&value, feed->bytes, n);
	feed->bytes += n;
	feed->left -= n;
	return value;
}

/* A few of each: what events name mostly exists. */
static struct tw_dictionary *make_dictionary(struct feed *feed)
{
	struct tw_dictionary *dictionary = tw_dictionary_new();
	fuzz_require(dictionary != NULL, "a dictionary");
	for (uint32_t i = 0; i < NUMBERS; i++) {
		char text[2] = {(char)take(feed, 1), '\0'};
		struct tw_name name = {.text = text, .length = take(feed, 1) % 3, .id = take(feed, 1) % 4};
		tw_dictionary_intern(dictionary, &name);
		struct tw_track track = {.process = take(feed, 1),
		                         .thread = take(feed, 1),
		                         .kind = (enum tw_track_kind)(take(feed, 1) % (TW_TRACK_OTHER + 1))};
		tw_dictionary_name_track(dictionary, tw_dictionary_add_track(dictionary, &track),
		                         (uint32_t)take(feed, 1) % NUMBERS);
		struct tw_location location = {.name = (uint32_t)take(feed, 1) % NUMBERS, .address = take(feed, 1)};
		tw_dictionary_push(dictionary, (uint32_t)take(feed, 1) % NUMBERS,
		                   tw_dictionary_add_location(dictionary, &location));
	}
	return dictionary;
}

static void make_arguments(struct feed *feed, struct tw_argument *arguments)
{
	static const uint8_t bytes[] = "\0\x1b[0m\xff<&\"'\n";
	for (size_t i = 0; i < ARGUMENTS; i++) {
		struct tw_argument *argument = &arguments[i];
		*argument = (struct tw_argument){.name = (uint32_t)take(feed, 1) % (NUMBERS + 1),
		                                 .type = (uint8_t)(take(feed, 1) % (TW_ARG_BYTES + 2))};
		if (argument->type >= TW_ARG_TEXT) {
			argument->value.bytes = bytes;
			argument->size = (uint32_t)(take(feed, 1) % sizeof bytes);
		} else {
			argument->value.u = take(feed, sizeof(uint64_t));
		}
	}
}

static struct tw_event make_event(struct feed *feed)
{
	struct tw_event event = {
	    .kind = (uint8_t)(take(feed, 1) % (TW_EVENT_KINDS + 1)),
	    .flags = (uint8_t)take(feed, 1),
	    .name = (uint32_t)take(feed, 1) % (NUMBERS + 2),
	    .category = (uint32_t)take(feed, 1) % (NUMBERS + 1),
	    .track = (uint32_t)take(feed, 1) % (NUMBERS + 1),
	    .other = (uint32_t)take(feed, 1) % NUMBERS,
	    .cpu = (uint16_t)take(feed, 1),
	    .time = take(feed, take(feed, 1) % (sizeof(uint64_t) + 1)),
	    .value = take(feed, take(feed, 1) % (sizeof(uint64_t) + 1)),
	    .id = take(feed, take(feed, 1) % (sizeof(uint64_t) + 1)),
	};
	event.argument_count = (uint8_t)(take(feed, 1) % (ARGUMENTS / 2));
	event.first_argument = (uint16_t)(take(feed, 1) % (ARGUMENTS / 2));
	return event;
}

static void write_to(struct tw_reader *reader, const struct tw_event *events, size_t count,
                     const struct tw_argument *arguments, const char *format)
{
	struct tw_writer *writer = NULL;
	int status = tw_create(&writer, "/dev/null", format, NULL);
	/* One by one: a batch is refused whole. */
	for (size_t i = 0; i < count && status == 0; i++) {
		const struct tw_batch batch = {&events[i], 1, arguments};
		status = tw_write(writer, reader, &batch);
		fuzz_require(status == 0 || tw_writer_error(writer)[0], "a text for every failure");
		if (status == TW_ERR_VALUE)
			status = 0;
	}
	if (status == 0)
		tw_finish(writer);
	tw_discard(writer);
}

FUZZ_TARGET(own, const uint8_t *bytes, size_t size)
{
	struct feed feed = {bytes, size};
	struct tw_event events[EVENTS];
	struct tw_argument arguments[ARGUMENTS];
	struct tw_reader *reader;
	const char *format;
	size_t count = 0;
	struct tw_own_trace trace = {
	    .dictionary = make_dictionary(&feed),
	    .clock = {.start_ns = take(&feed, 1), .has_cpu = take(&feed, 1) & 1, .has_wall = take(&feed, 1) & 1},
	};
	make_arguments(&feed, arguments);
	while (count < EVENTS && feed.left)
		events[count++] = make_event(&feed);
	fuzz_require(tw_open_own(&reader, &trace, NULL) == 0, "a trace of its own");
	for (size_t i = 0; (format = tw_writer_format_name(i)); i++)
		if (tw_writer_takes_events(format) && strcmp(format, "ctf") != 0)
			write_to(reader, events, count, arguments, format);
	tw_close(reader);
	tw_dictionary_free(trace.dictionary);
	return 0;
}
