/* test_own.c - a program's own events: written in every format, read as every other trace, and refused where what they
 * name does not exist. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <trackway/trackway.h>

#include "files.h"
#include "suite.h"

enum { US = 1000, EVENTS = 8, THREAD = 11, PROCESS = 10 };

/* outer from 1000 us, 500 us long, with inner in it from 1100 us, 20 us long; a counter; a sample of outer;inner. */
struct own {
	struct tw_dictionary *dictionary;
	struct tw_own_trace trace;
	struct tw_argument arguments[2];
	struct tw_event events[EVENTS];
	size_t count, given; /* given: by read */
	uint32_t thread, outer, inner;
};

static uint32_t text(struct own *own, const char *bytes)
{
	return tw_dictionary_text(own->dictionary, bytes);
}

static void put(struct own *own, struct tw_event event)
{
	event.track = own->thread;
	own->events[own->count++] = event;
}

static int set_up(void **state)
{
	struct own *own = calloc(1, sizeof *own);
	assert_non_null(own);
	own->dictionary = tw_dictionary_new();
	assert_non_null(own->dictionary);
	const struct tw_track process = {.process = PROCESS, .kind = TW_TRACK_PROCESS};
	const struct tw_track thread = {.process = PROCESS, .thread = THREAD, .kind = TW_TRACK_THREAD};
	tw_dictionary_name_track(own->dictionary, tw_dictionary_add_track(own->dictionary, &process),
	                         text(own, "program"));
	own->thread = tw_dictionary_add_track(own->dictionary, &thread);
	tw_dictionary_name_track(own->dictionary, own->thread, text(own, "worker"));
	own->outer = text(own, "outer");
	own->inner = text(own, "inner");
	own->arguments[0] = (struct tw_argument){.name = text(own, "bytes"), .type = TW_ARG_UINT, .value = {.u = 4096}};
	own->trace = (struct tw_own_trace){.dictionary = own->dictionary, .clock = {.start_ns = 1000 * US}};
	put(own,
	    (struct tw_event){.kind = TW_SLICE_COMPLETE, .time = 1000 * US, .value = 500 * US, .name = own->outer});
	put(own, (struct tw_event){.kind = TW_SLICE_COMPLETE, .time = 1100 * US, .value = 20 * US, .name = own->inner});
	put(own,
	    (struct tw_event){.kind = TW_COUNTER, .time = 1200 * US, .name = text(own, "memory"), .argument_count = 1});
	*state = own;
	return 0;
}

static int tear_down(void **state)
{
	struct own *own = *state;
	tw_dictionary_free(own->dictionary);
	free(own);
	return 0;
}

static struct tw_batch all(const struct own *own)
{
	return (struct tw_batch){own->events, own->count, own->arguments};
}

/* The status of the first call that fails. */
static int write_own(const struct own *own, const char *path, const char *format)
{
	struct tw_reader *reader;
	struct tw_writer *writer;
	const struct tw_batch batch = all(own);
	assert_int_equal(tw_open_own(&reader, &own->trace, NULL), 0);
	assert_int_equal(tw_create(&writer, path, format, NULL), 0);
	int status = tw_write(writer, reader, &batch);
	if (status == 0)
		status = tw_finish(writer);
	if (status < 0)
		assert_true(*tw_writer_error(writer));
	tw_discard(writer);
	tw_close(reader);
	return status;
}

/* ---- Every format. ---- */

static void remove_output(const char *path)
{
	static const char *const files[] = {"stream", "metadata"};
	char file[128];
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		snprintf(file, sizeof file, "%s/%s", path, files[i]);
		unlink(file);
	}
	rmdir(path);
	unlink(path);
}

static void every_format_is_written(void **state)
{
	struct own *own = *state;
	char path[64];
	const char *format;
	snprintf(path, sizeof path, "own.%d", (int)getpid());
	for (size_t i = 0; (format = tw_writer_format_name(i)); i++) {
		if (!tw_writer_takes_events(format))
			continue;
		assert_int_equal(write_own(own, path, format), 0);
		assert_int_equal(access(path, F_OK), 0);
		remove_output(path);
	}
}

/* As the Trace Event Format has them: microseconds from the start. */
static void chrome_has_what_was_given(void **state)
{
	static const char *const parts[] = {
	    "\"ts\":0.000,\"dur\":500.000,\"name\":\"outer\"",
	    "\"ts\":100.000,\"dur\":20.000,\"name\":\"inner\"",
	    "\"name\":\"worker\"",
	    "\"name\":\"program\"",
	    "\"bytes\":4096",
	};
	char path[64], *json;
	size_t size;
	snprintf(path, sizeof path, "own.%d.json", (int)getpid());
	assert_int_equal(write_own(*state, path, "chrome"), 0);
	json = read_text(path, &size);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!strstr(json, parts[i]))
			fail_msg("%s is not in %s", parts[i], json);
	free(json);
	unlink(path);
}

/* outer less inner: 480 us of its own, 20 us below. */
static void stacks_are_folded(void **state)
{
	struct own *own = *state;
	char path[64], *folded;
	size_t size;
	snprintf(path, sizeof path, "own.%d.folded", (int)getpid());
	assert_int_equal(write_own(own, path, "folded"), 0);
	folded = read_text(path, &size);
	assert_non_null(strstr(folded, "outer 480000\n"));
	assert_non_null(strstr(folded, "outer;inner 20000\n"));
	free(folded);
	unlink(path);
}

static void samples_have_stacks(void **state)
{
	struct own *own = *state;
	const uint32_t outer = tw_dictionary_add_location(own->dictionary, &(struct tw_location){.name = own->outer});
	const uint32_t inner = tw_dictionary_add_location(own->dictionary, &(struct tw_location){.name = own->inner});
	const uint32_t stack =
	    tw_dictionary_push(own->dictionary, tw_dictionary_push(own->dictionary, 0, outer), inner);
	char path[64], *folded;
	size_t size;
	own->count = 0;
	put(own, (struct tw_event){.kind = TW_CPU_SAMPLE, .time = 1000 * US, .value = 7 * US, .other = stack});
	snprintf(path, sizeof path, "own.%d.json", (int)getpid());
	assert_int_equal(write_own(own, path, "chrome"), 0);
	folded = read_text(path, &size);
	assert_non_null(strstr(folded, "outer"));
	assert_non_null(strstr(folded, "inner"));
	free(folded);
	unlink(path);
}

/* ---- Reading. ---- */

static int give(void *context, struct tw_batch *batch)
{
	struct own *own = context;
	if (own->given == own->count)
		return 0;
	*batch = (struct tw_batch){&own->events[own->given], 1, own->arguments};
	own->given++;
	return 1;
}

static void filters_choose(void **state)
{
	struct own *own = *state;
	const struct tw_read_options options = {.min_duration_ns = 100 * US};
	struct tw_reader *reader;
	struct tw_batch batch;
	size_t slices = 0;
	own->trace.read = give;
	own->trace.context = own;
	assert_int_equal(tw_open_own(&reader, &own->trace, &options), 0);
	assert_string_equal(tw_reader_format(reader), "own");
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++)
			if (batch.events[i].kind == TW_SLICE_COMPLETE) {
				slices++;
				assert_int_equal(batch.events[i].name, own->outer);
			}
	assert_int_equal(slices, 1);
	assert_int_equal(tw_reader_clock(reader)->end_ns, 1500 * US);
	tw_close(reader);
}

static void a_profile_adds_them_up(void **state)
{
	struct own *own = *state;
	struct tw_reader *reader;
	struct tw_profile *profile;
	const struct tw_profile_row *row;
	own->trace.read = give;
	own->trace.context = own;
	assert_int_equal(tw_open_own(&reader, &own->trace, NULL), 0);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	assert_int_equal(tw_profile_add(profile, reader), 0);
	uint64_t total = 0, self = 0;
	size_t rows = 0;
	for (; (row = tw_profile_row(profile, rows)); rows++) {
		total += row->total;
		self += row->self;
	}
	assert_int_equal(rows, 2);
	assert_int_equal(total, 520 * US);
	assert_int_equal(self, 500 * US);
	tw_profile_free(profile);
	tw_close(reader);
}

static void nothing_is_read_without_a_function(void **state)
{
	struct own *own = *state;
	struct tw_reader *reader;
	struct tw_batch batch;
	assert_int_equal(tw_open_own(&reader, &own->trace, NULL), 0);
	assert_int_equal(tw_read(reader, &batch), TW_ERR_UNSUPPORTED);
	assert_true(*tw_reader_error(reader));
	tw_close(reader);
}

/* ---- Wrong use. ---- */

static int write_one(struct own *own, struct tw_event event)
{
	char path[64];
	own->events[0] = event;
	own->count = 1;
	snprintf(path, sizeof path, "own.%d.wrong", (int)getpid());
	return write_own(own, path, "csv");
}

static void what_does_not_exist_is_refused(void **state)
{
	struct own *own = *state;
	const uint32_t none = 1000000;
	const struct tw_event wrong[] = {
	    {.kind = TW_EVENT_KINDS},
	    {.kind = TW_INSTANT, .name = none},
	    {.kind = TW_INSTANT, .category = none},
	    {.kind = TW_INSTANT, .track = none},
	    {.kind = TW_INSTANT, .provider = 9},
	    {.kind = TW_INSTANT, .other = 1},
	    {.kind = TW_SWITCH, .other = none},
	    {.kind = TW_CPU_SAMPLE, .other = none},
	    {.kind = TW_FLOW_END, .other = 2},
	    {.kind = TW_BLOB, .other = 3, .argument_count = 1},
	    {.kind = TW_SLICE_COMPLETE, .time = 2, .value = UINT64_MAX - 1},
	    {.kind = TW_LOG},
	    {.kind = TW_COUNTER},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(write_one(own, wrong[i]), TW_ERR_VALUE);
	assert_int_equal(write_one(own, (struct tw_event){.kind = TW_INSTANT, .track = own->thread}), 0);
	own->arguments[0].name = none;
	assert_int_equal(write_one(own, (struct tw_event){.kind = TW_INSTANT, .argument_count = 1}), TW_ERR_VALUE);
	own->arguments[0] = (struct tw_argument){.type = TW_ARG_TEXT, .size = 3};
	assert_int_equal(write_one(own, (struct tw_event){.kind = TW_INSTANT, .argument_count = 1}), TW_ERR_VALUE);
	own->arguments[0] = (struct tw_argument){.type = 99};
	assert_int_equal(write_one(own, (struct tw_event){.kind = TW_INSTANT, .argument_count = 1}), TW_ERR_VALUE);
	char path[64];
	snprintf(path, sizeof path, "own.%d.wrong", (int)getpid());
	unlink(path);
	assert_int_equal(tw_dictionary_push(own->dictionary, none, 0), TW_NO_NUMBER);
	assert_int_equal(tw_dictionary_push(own->dictionary, 0, none), TW_NO_NUMBER);
}

static void a_writer_needs_a_reader(void **state)
{
	struct own *own = *state;
	const struct tw_batch batch = all(own);
	const char *format;
	for (size_t i = 0; (format = tw_writer_format_name(i)); i++) {
		struct tw_writer *writer;
		if (!tw_writer_takes_events(format) || strcmp(format, "ctf") == 0)
			continue;
		assert_int_equal(tw_create(&writer, "/dev/null", format, NULL), 0);
		assert_int_equal(tw_write(writer, NULL, &batch), TW_ERR_VALUE);
		assert_true(*tw_writer_error(writer));
		tw_discard(writer);
	}
	struct tw_reader *reader;
	assert_int_equal(tw_open_own(&reader, &(struct tw_own_trace){0}, NULL), TW_ERR_VALUE);
	assert_true(*tw_reader_error(reader));
	tw_close(reader);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

SUITE(own)
{
	const struct CMUnitTest tests[] = {
	    TEST(every_format_is_written),
	    TEST(chrome_has_what_was_given),
	    TEST(stacks_are_folded),
	    TEST(samples_have_stacks),
	    TEST(filters_choose),
	    TEST(a_profile_adds_them_up),
	    TEST(nothing_is_read_without_a_function),
	    TEST(what_does_not_exist_is_refused),
	    TEST(a_writer_needs_a_reader),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
