/* test_counters.c - series from hand-made events: exact values, what tells series apart, limits, the picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/series/counters.h"
#include "core/format.h"
#include "files.h"
#include "suite.h"

enum { START = 1000 };

/* ---- Events. ---- */

struct scene {
	struct tw_counters *counters;
	struct tw_dictionary *dictionary;
	struct tw_clock clock;
};

static void set_up(struct scene *scene, const struct tw_counters_options *options)
{
	*scene = (struct scene){.dictionary = tw_dictionary_new(), .clock = {.start_ns = START, .end_ns = START}};
	assert_int_equal(tw_counters_new(&scene->counters, options), 0);
	tw_counters_begin(scene->counters, scene->dictionary, &scene->clock);
}

static void tear_down(struct scene *scene)
{
	tw_counters_free(scene->counters);
	tw_dictionary_free(scene->dictionary);
}

/* A counter of category "c", with one argument. */
static int count(struct scene *scene, uint64_t time, uint64_t process, const char *name, uint64_t id,
                 const char *series, struct tw_argument argument)
{
	struct tw_dictionary *dictionary = scene->dictionary;
	argument.name = tw_dictionary_text(dictionary, series);
	const struct tw_event event = {
	    .kind = TW_COUNTER,
	    .time = START + time,
	    .id = id,
	    .track = tw_dictionary_add_track(dictionary, &(struct tw_track){.process = process, .thread = 77}),
	    .name = tw_dictionary_text(dictionary, name),
	    .category = tw_dictionary_text(dictionary, "c"),
	    .argument_count = 1,
	};
	scene->clock.end_ns = event.time > scene->clock.end_ns ? event.time : scene->clock.end_ns;
	return tw_counters_take(scene->counters, &(struct tw_batch){&event, 1, &argument});
}

static struct tw_argument integer(int64_t value)
{
	return (struct tw_argument){.type = TW_ARG_INT, .value.i = value};
}

static struct tw_argument natural(uint64_t value)
{
	return (struct tw_argument){.type = TW_ARG_UINT, .value.u = value};
}

static struct tw_argument real(double value)
{
	return (struct tw_argument){.type = TW_ARG_DOUBLE, .value.d = value};
}

static void expect_int(const struct tw_counter_value *value, int64_t expected)
{
	assert_int_equal(value->type, TW_ARG_INT);
	assert_true(value->value.i == expected);
}

static void expect_uint(const struct tw_counter_value *value, uint64_t expected)
{
	assert_int_equal(value->type, TW_ARG_UINT);
	assert_true(value->value.u == expected);
}

static void expect_double(const struct tw_counter_value *value, double expected)
{
	assert_int_equal(value->type, TW_ARG_DOUBLE);
	assert_memory_equal(&value->value.d, &expected, sizeof expected);
}

/* ---- Tests. ---- */

static void test_values_of_a_series(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	count(&scene, 10, 1, "n", 0, "s", integer(4));
	count(&scene, 20, 1, "n", 0, "s", integer(-2));
	count(&scene, 35, 1, "n", 0, "s", integer(7));
	count(&scene, 50, 1, "n", 0, "s", integer(-2));
	tw_counters_end(scene.counters);
	const struct tw_counter_row *row = tw_counters_row(scene.counters, 0);
	assert_non_null(row);
	assert_null(tw_counters_row(scene.counters, 1));
	assert_int_equal(row->count, 4);
	expect_int(&row->first, 4);
	expect_int(&row->last, -2);
	expect_int(&row->min, -2);
	expect_int(&row->max, 7);
	assert_true(row->mean == 1.75);
	assert_int_equal(row->first_ns, 10);
	assert_int_equal(row->last_ns, 50);
	assert_string_equal(row->category, "c");
	assert_string_equal(row->name, "n");
	assert_string_equal(row->series, "s");
	assert_null(row->process_name);
	tear_down(&scene);
}

/* Numbers that a double cannot tell apart. */
static void test_exact(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	count(&scene, 0, 1, "a", 0, "s", natural(UINT64_MAX - 1));
	count(&scene, 0, 1, "a", 0, "s", natural(UINT64_MAX));
	count(&scene, 0, 1, "a", 0, "s", natural(UINT64_MAX - 2));
	count(&scene, 0, 1, "b", 0, "s", integer(INT64_MIN + 1));
	count(&scene, 0, 1, "b", 0, "s", integer(INT64_MIN));
	count(&scene, 0, 1, "b", 0, "s", integer(INT64_MAX));
	count(&scene, 0, 1, "c", 0, "s", natural(UINT64_MAX));
	count(&scene, 0, 1, "c", 0, "s", integer(-1));
	count(&scene, 0, 1, "c", 0, "s", real(0x1p64)); /* one more than UINT64_MAX */
	tw_counters_end(scene.counters);
	expect_uint(&tw_counters_row(scene.counters, 0)->max, UINT64_MAX);
	expect_uint(&tw_counters_row(scene.counters, 0)->min, UINT64_MAX - 2);
	expect_int(&tw_counters_row(scene.counters, 1)->min, INT64_MIN);
	expect_int(&tw_counters_row(scene.counters, 1)->max, INT64_MAX);
	/* -2^63 + 1 - 2^63 + 2^63 - 1 = -2^63 */
	assert_true(tw_counters_row(scene.counters, 1)->mean == -0x1p63 / 3);
	expect_int(&tw_counters_row(scene.counters, 2)->min, -1);
	expect_double(&tw_counters_row(scene.counters, 2)->max, 0x1p64);
	tear_down(&scene);
}

static void test_doubles(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	count(&scene, 0, 1, "d", 0, "s", integer(5));
	count(&scene, 1, 1, "d", 0, "s", real(5.0)); /* the earlier of equal ones stays */
	count(&scene, 2, 1, "d", 0, "s", real(0.25));
	count(&scene, 3, 1, "d", 0, "s", real((double)NAN));
	count(&scene, 4, 1, "d", 0, "s", real((double)INFINITY));
	count(&scene, 5, 1, "d", 0, "s", (struct tw_argument){.type = TW_ARG_TEXT, .value.bytes = (const uint8_t *)""});
	count(&scene, 6, 1, "d", 0, "s", (struct tw_argument){.type = TW_ARG_KOID, .value.u = 99});
	count(&scene, 7, 1, "e", 0, "s", real((double)NAN));
	tw_counters_end(scene.counters);
	const struct tw_counter_row *row = tw_counters_row(scene.counters, 0);
	assert_int_equal(row->count, 3);
	assert_int_equal(row->not_numbers, 4);
	expect_int(&row->max, 5);
	expect_double(&row->min, 0.25);
	assert_true(fabs(row->mean - 10.25 / 3) < 1e-15);
	assert_int_equal(row->last_ns, 2);
	row = tw_counters_row(scene.counters, 1);
	assert_int_equal(row->count, 0);
	assert_int_equal(row->not_numbers, 1);
	tear_down(&scene);
}

/* Each part of what tells series apart, in the order of rows. */
static void test_series(void **state)
{
	static const struct {
		uint64_t process;
		const char *name;
		uint64_t id;
		const char *series;
	} expected[] = {{1, "n", 0, "s"}, {1, "n", 0, "t"}, {1, "n", 5, "s"}, {1, "o", 0, "s"}, {2, "n", 0, "s"}};
	enum { SERIES = sizeof expected / sizeof *expected };
	(void)state;
	struct scene scene;
	struct tw_track process = {.process = 2, .kind = TW_TRACK_PROCESS};
	set_up(&scene, NULL);
	for (size_t i = SERIES; i-- > 0;)
		for (size_t k = 0; k <= i; k++)
			count(&scene, k, expected[i].process, expected[i].name, expected[i].id, expected[i].series,
			      integer((int64_t)i));
	tw_dictionary_name_track(scene.dictionary, tw_dictionary_add_track(scene.dictionary, &process),
	                         tw_dictionary_text(scene.dictionary, "second"));
	tw_counters_end(scene.counters);
	for (size_t i = 0; i < SERIES; i++) {
		const struct tw_counter_row *row = tw_counters_row(scene.counters, i);
		assert_int_equal(row->process, expected[i].process);
		assert_string_equal(row->name, expected[i].name);
		assert_int_equal(row->id, expected[i].id);
		assert_string_equal(row->series, expected[i].series);
		assert_int_equal(row->count, i + 1);
		expect_int(&row->first, (int64_t)i);
	}
	assert_null(tw_counters_row(scene.counters, SERIES));
	assert_string_equal(tw_counters_row(scene.counters, SERIES - 1)->process_name, "second");
	tear_down(&scene);
}

/* A second trace with the same series has rows of its own. */
static void test_traces(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	count(&scene, 5, 1, "n", 0, "s", integer(1));
	tw_counters_end(scene.counters);
	tw_counters_begin(scene.counters, scene.dictionary, &scene.clock);
	count(&scene, 6, 1, "n", 0, "s", integer(2));
	count(&scene, 7, 1, "n", 0, "s", integer(3));
	tw_counters_end(scene.counters);
	assert_int_equal(tw_counters_row(scene.counters, 0)->trace, 0);
	assert_int_equal(tw_counters_row(scene.counters, 0)->count, 1);
	assert_true(tw_counters_row(scene.counters, 0)->mean == 1);
	assert_int_equal(tw_counters_row(scene.counters, 1)->trace, 1);
	assert_true(tw_counters_row(scene.counters, 1)->mean == 2.5);
	assert_null(tw_counters_row(scene.counters, 2));
	tear_down(&scene);
}

struct seen {
	unsigned count, stop_at;
	struct tw_counter_sample last;
};

static int take_sample(void *context, const struct tw_counter_sample *sample)
{
	struct seen *seen = context;
	seen->last = *sample;
	return ++seen->count == seen->stop_at ? 42 : 0;
}

static void test_samples(void **state)
{
	(void)state;
	struct scene scene;
	struct seen seen = {.stop_at = 2};
	const struct tw_counters_options options = {.counter = "n*", .on_sample = take_sample, .context = &seen};
	set_up(&scene, &options);
	assert_int_equal(count(&scene, 3, 1, "n", 0, "s", integer(1)), 0);
	assert_int_equal(count(&scene, 4, 1, "other", 0, "s", integer(2)), 0);
	assert_int_equal(count(&scene, 5, 2, "new", 8, "t", natural(UINT64_MAX)), 42);
	tw_counters_end(scene.counters);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.last.time, 5);
	assert_int_equal(seen.last.process, 2);
	assert_int_equal(seen.last.thread, 77);
	assert_int_equal(seen.last.id, 8);
	assert_string_equal(seen.last.series, "t");
	expect_uint(&seen.last.value, UINT64_MAX);
	assert_null(tw_counters_row(scene.counters, 2)); /* "other" is none */
	tear_down(&scene);
}

static void test_memory_limit(void **state)
{
	enum { SERIES = 20000 };
	(void)state;
	struct scene scene;
	const struct tw_counters_options options = {.memory_limit = 1 << 20};
	size_t rows = 0;
	set_up(&scene, &options);
	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < SERIES; i++)
			count(&scene, i, 1, "n", i, "s", integer(1));
	tw_counters_end(scene.counters);
	while (tw_counters_row(scene.counters, rows))
		rows++;
	assert_true(rows > 100 && rows < SERIES);
	assert_int_equal(tw_counters_left_out(scene.counters), 2 * (SERIES - rows));
	assert_int_equal(tw_counters_row(scene.counters, rows - 1)->count, 2);
	assert_true(atomic_load(&scene.counters->budget.used[TW_FOR_ROWS]) <= options.memory_limit);
	tear_down(&scene);
}

/* ---- The picture. ---- */

static char *render(const struct scene *scene)
{
	char path[] = "/tmp/test_counters.XXXXXX";
	size_t size;
	assert_true(close(mkstemp(path)) == 0);
	assert_int_equal(tw_counters_plot(scene->counters, path, NULL), 0);
	char *text = read_text(path, &size);
	assert_true(size > 0);
	unlink(path);
	return text;
}

/* Three samples over 1024 ns, a pixel each: 0 at the bottom until 512, then 10, then 5 from 1023 on. */
static void test_chart(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, &(struct tw_counters_options){.plot = true});
	count(&scene, 0, 1, "n", 0, "s", integer(0));
	count(&scene, 512, 1, "n", 0, "s", integer(10));
	count(&scene, 1023, 1, "n", 0, "s", integer(5));
	scene.clock.end_ns = START + 1024;
	tw_counters_end(scene.counters);
	char *text = render(&scene);
	/* The box: 80 high, its top at 76, its left edge at 130. */
	assert_non_null(strstr(text, "d=\"M130 156H642V76H1153V116h1\""));
	assert_non_null(strstr(text, "n: s (c, process 1, 3 samples)"));
	assert_null(strstr(text, "<circle"));
	assert_null(strstr(text, "class=\"held\"")); /* the line ends at the right edge */
	free(text);
	tear_down(&scene);
}

/* One sample is a dot; the axis is from 0, with lines at round numbers. */
static void test_lone_sample(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, &(struct tw_counters_options){.plot = true});
	count(&scene, 512, 1, "n", 0, "s", integer(7));
	scene.clock.end_ns = START + 1024;
	tw_counters_end(scene.counters);
	char *text = render(&scene);
	assert_non_null(strstr(text, "<circle class=\"dot\" r=\"2.5\" cx=\"642\" cy=\"76\"/>"));
	assert_non_null(strstr(text, "<path class=\"held\" d=\"M643 76H1154\"/>"));
	static const char *const numbers[] = {">0</text>", ">2</text>", ">4</text>", ">6</text>"};
	for (size_t i = 0; i < 4; i++)
		assert_non_null(strstr(text, numbers[i]));
	assert_null(strstr(text, ">7</text>"));
	free(text);
	tear_down(&scene);
}

/* Numbers of the axis are round, whatever the values are, and 0 is one of them. */
static void test_edges(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, &(struct tw_counters_options){.plot = true});
	count(&scene, 0, 1, "n", 0, "double", real(-0.99591733785503833));
	count(&scene, 1, 1, "n", 0, "double", real(0.5));
	count(&scene, 0, 1, "n", 0, "integer", integer(INT64_MIN));
	count(&scene, 1, 1, "n", 0, "integer", integer(99999999999999));
	tw_counters_end(scene.counters);
	char *text = render(&scene);
	static const char *const numbers[] = {">-0.5</text>", ">0</text>", ">0.5</text>", ">-5e+18</text>"};
	for (size_t i = 0; i < 4; i++)
		assert_non_null(strstr(text, numbers[i]));
	assert_null(strstr(text, "0.9959"));
	assert_non_null(strstr(text, "role=\"img\" aria-labelledby=\"name what\">\n<title id=\"name\">"));
	free(text);
	tear_down(&scene);
}

/* A spike among a million samples is seen, and the picture stays small. */
static void test_spike(void **state)
{
	enum { SAMPLES = 1000000, SPIKE = 333333 };
	(void)state;
	struct scene scene;
	set_up(&scene, &(struct tw_counters_options){.plot = true});
	for (uint64_t i = 0; i < SAMPLES; i++)
		count(&scene, i * 10, 1, "n", 0, "s", integer(i == SPIKE ? 1000 : (int64_t)(i % 3)));
	tw_counters_end(scene.counters);
	const struct tw_columns *chart = &scene.counters->all[0].chart;
	const struct tw_chart_column *columns = chart->items;
	const size_t spike = (size_t)SPIKE * 10 >> chart->shift;
	double greatest[2] = {0};
	for (size_t i = 0; i < TW_COLUMNS; i++)
		greatest[i == spike] = fmax(greatest[i == spike], columns[i].max);
	assert_true(greatest[1] == 1000 && greatest[0] == 2);
	char *text = render(&scene);
	assert_true(strlen(text) < 60000);
	free(text);
	tear_down(&scene);
}

/* Three stretches: two touch in the picture, and are drawn as one; one nanosecond is a pixel. */
static bool some_stretches(const void *context, size_t i, struct tw_stretch *stretch)
{
	static const struct tw_stretch all[] = {{0, 1}, {1, 3}, {512, 514}};
	(void)context;
	if (i < sizeof all / sizeof *all)
		*stretch = all[i];
	return i < sizeof all / sizeof *all;
}

static void test_stretches_and_sizes(void **state)
{
	enum { MIB = 1 << 20 };
	(void)state;
	struct scene scene;
	set_up(&scene, &(struct tw_counters_options){.plot = true});
	count(&scene, 0, 1, "n", 0, "bytes", integer(50 * MIB));
	count(&scene, 1023, 1, "n", 3, "bytes", integer(1));
	scene.counters->charting = (struct tw_charting){.stretch = some_stretches, .stretches = "shaded: some"};
	scene.clock.end_ns = START + 1024;
	tw_counters_end(scene.counters);
	char *text = render(&scene);
	assert_non_null(strstr(text, "class=\"stretch\" d=\"M130 76H133v80H130zM642 76H644v80H642z\"/>"));
	assert_non_null(strstr(text, ">shaded: some</text>"));
	static const char *const numbers[] = {">0</text>", ">20 MiB</text>", ">40 MiB</text>", "process 1, id 3,"};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		assert_non_null(strstr(text, numbers[i]));
	free(text);
	tear_down(&scene);
}

static void test_nothing_to_plot(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	tw_counters_end(scene.counters);
	assert_int_equal(tw_counters_plot(scene.counters, "/dev/null", NULL), TW_ERR_UNSUPPORTED);
	tear_down(&scene);
}

SUITE(counters)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values_of_a_series),
	    cmocka_unit_test(test_exact),
	    cmocka_unit_test(test_doubles),
	    cmocka_unit_test(test_series),
	    cmocka_unit_test(test_traces),
	    cmocka_unit_test(test_samples),
	    cmocka_unit_test(test_memory_limit),
	    cmocka_unit_test(test_chart),
	    cmocka_unit_test(test_spike),
	    cmocka_unit_test(test_nothing_to_plot),
	    cmocka_unit_test(test_edges),
	    cmocka_unit_test(test_lone_sample),
	    cmocka_unit_test(test_stretches_and_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
