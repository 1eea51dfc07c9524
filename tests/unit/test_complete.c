/* test_complete.c - begins and ends as complete slices, and times since the start of a trace: options.complete_slices
 * and options.from_start. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <trackway/trackway.h>

#include "suite.h"

enum { START = 1000, MOST = 8 };

/* An event: kind, time since the start, duration of a complete slice, name, text of its argument. */
struct line {
	char kind;
	uint64_t time, duration;
	const char *name, *text;
};

struct trace {
	struct tw_dictionary *dictionary;
	struct tw_event events[MOST];
	struct tw_argument arguments[MOST];
	size_t count, given;
	uint64_t many; /* begins of slices that never end */
};

static const char letters[] = {
    [TW_SLICE_BEGIN] = 'B', [TW_SLICE_END] = 'E', [TW_SLICE_COMPLETE] = 'X', [TW_INSTANT] = 'I'};

static void put(struct trace *trace, const struct line *line, uint32_t track)
{
	const size_t i = trace->count++;
	trace->arguments[i] = (struct tw_argument){
	    .name = tw_dictionary_text(trace->dictionary, "argument"),
	    .type = TW_ARG_TEXT,
	    .value = {.bytes = (const uint8_t *)line->text},
	    .size = line->text ? (uint32_t)strlen(line->text) : 0,
	};
	trace->events[i] = (struct tw_event){
	    .time = START + line->time,
	    .value = line->duration,
	    .kind = (uint8_t)((const char *)memchr(letters, line->kind, sizeof letters) - letters),
	    .name = tw_dictionary_text(trace->dictionary, line->name),
	    .track = track,
	    .first_argument = (uint16_t)i,
	    .argument_count = line->text != NULL,
	};
}

static int give(void *context, struct tw_batch *batch)
{
	struct trace *trace = context;
	if (trace->many) {
		trace->many--;
		*batch = (struct tw_batch){trace->events, 1, trace->arguments};
		return 1;
	}
	if (trace->given == trace->count)
		return 0;
	*batch = (struct tw_batch){&trace->events[trace->given++], 1, trace->arguments};
	return 1;
}

/* What an event says: "X 10 for 20 name flags: texts". */
static void print(FILE *out, const struct tw_dictionary *names, const struct tw_batch *batch,
                  const struct tw_event *event)
{
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	fprintf(out, "%c %" PRIu64 " for %" PRIu64 " %s %u:", letters[event->kind], event->time, event->value,
	        tw_dictionary_name(names, event->name)->text, event->flags);
	for (size_t i = 0; i < event->argument_count; i++)
		fprintf(out, " %.*s", (int)arguments[i].size, (const char *)arguments[i].value.bytes);
	fputc('\n', out);
}

static void check(const struct line *lines, const struct tw_read_options *options, const char *expected)
{
	struct trace trace = {.dictionary = tw_dictionary_new()};
	const uint32_t track = tw_dictionary_add_track(trace.dictionary, &(struct tw_track){.process = 1, .thread = 2});
	for (; lines->kind; lines++)
		put(&trace, lines, track);
	struct tw_reader *reader = NULL;
	struct tw_batch batch;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const struct tw_own_trace own = {.dictionary = trace.dictionary,
	                                 .clock = {.start_ns = START},
	                                 .read = give,
	                                 .context = &trace};
	assert_int_equal(tw_open_own(&reader, &own, options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++)
			print(out, trace.dictionary, &batch, &batch.events[i]);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	tw_close(reader);
	tw_dictionary_free(trace.dictionary);
}

static const struct tw_read_options complete = {.complete_slices = true, .from_start = true};

static void a_slice_has_the_arguments_of_both(void **state)
{
	(void)state;
	check((const struct line[]){{'B', 0, 0, "a", NULL},
	                            {'B', 10, 0, "b", "in"},
	                            {'I', 12, 0, "x", "at"},
	                            {'E', 20, 0, "b", "out"},
	                            {'E', 30, 0, "", NULL},
	                            {0}},
	      &complete,
	      "I 12 for 0 x 0: at\n"
	      "X 10 for 10 b 0: in out\n"
	      "X 0 for 30 a 0:\n");
}

static void others_end_slices(void **state)
{
	(void)state;
	check((const struct line[]){{'B', 0, 0, "a", NULL},
	                            {'B', 5, 0, "b", "in"},
	                            {'E', 9, 0, "a", "out"},
	                            {'E', 10, 0, "z", "lost"},
	                            {'B', 11, 0, "c", NULL},
	                            {'I', 17, 0, "x", NULL},
	                            {0}},
	      &complete,
	      "X 5 for 4 b 64: in\n"
	      "X 0 for 9 a 0: out\n"
	      "I 17 for 0 x 0:\n"
	      "X 11 for 6 c 4:\n");
}

static void complete_slices_come_as_they_are(void **state)
{
	(void)state;
	check((const struct line[]){{'X', 0, 10, "c", "whole"}, {'B', 2, 0, "a", NULL}, {'E', 5, 0, "a", NULL}, {0}},
	      &complete,
	      "X 0 for 10 c 0: whole\n"
	      "X 2 for 3 a 0:\n");
}

static void short_ones_are_left_out(void **state)
{
	static const struct tw_read_options slow = {.min_duration_ns = 10, .complete_slices = true, .from_start = true};
	(void)state;
	check((const struct line[]){{'B', 0, 0, "a", NULL},
	                            {'B', 1, 0, "b", NULL},
	                            {'E', 10, 0, "b", NULL},
	                            {'E', 10, 0, "a", NULL},
	                            {0}},
	      &slow, "X 0 for 10 a 0:\n");
}

static void each_alone(void **state)
{
	static const struct line lines[] = {{'B', 3, 0, "a", NULL}, {'E', 5, 0, "a", NULL}, {0}};
	(void)state;
	check(lines, &(struct tw_read_options){.from_start = true},
	      "B 3 for 0 a 0:\n"
	      "E 5 for 0 a 0:\n");
	check(lines, &(struct tw_read_options){.complete_slices = true}, "X 1003 for 2 a 0:\n");
}

/* A begin takes more than 64 bytes: a million of them are more than 64 MiB. */
static void too_many_are_a_limit(void **state)
{
	(void)state;
	struct trace trace = {.dictionary = tw_dictionary_new(), .many = 1000000};
	const struct tw_read_options small = {.complete_slices = true, .memory_limit = 1 << 22};
	put(&trace, &(struct line){'B', 0, 0, "a", NULL}, 0);
	struct tw_reader *reader;
	struct tw_batch batch;
	const struct tw_own_trace own = {.dictionary = trace.dictionary, .read = give, .context = &trace};
	assert_int_equal(tw_open_own(&reader, &own, &small), 0);
	assert_int_equal(tw_read(reader, &batch), TW_ERR_LIMIT);
	assert_non_null(strstr(tw_reader_error(reader), "more slices are open at once"));
	tw_close(reader);
	tw_dictionary_free(trace.dictionary);
}

static void they_are_not_written(void **state)
{
	(void)state;
	struct tw_dictionary *dictionary = tw_dictionary_new();
	const struct tw_own_trace own = {.dictionary = dictionary};
	const struct tw_read_options file = {.order = TW_ORDER_FILE, .from_start = true};
	struct tw_reader *reader;
	struct tw_writer *writer;
	assert_int_equal(tw_open_own(&reader, &own, &file), TW_ERR_VALUE);
	assert_non_null(strstr(tw_reader_error(reader), "order of the file"));
	tw_close(reader);
	assert_int_equal(tw_open_own(&reader, &own, &complete), 0);
	assert_int_equal(tw_create_memory(&writer, "chrome", NULL), 0);
	assert_int_equal(tw_write(writer, reader, &(struct tw_batch){0}), TW_ERR_VALUE);
	assert_non_null(strstr(tw_writer_error(writer), "not to be written"));
	tw_discard(writer);
	tw_close(reader);
	tw_dictionary_free(dictionary);
}

SUITE(complete)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_slice_has_the_arguments_of_both),
	    cmocka_unit_test(others_end_slices),
	    cmocka_unit_test(complete_slices_come_as_they_are),
	    cmocka_unit_test(short_ones_are_left_out),
	    cmocka_unit_test(each_alone),
	    cmocka_unit_test(too_many_are_a_limit),
	    cmocka_unit_test(they_are_not_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
