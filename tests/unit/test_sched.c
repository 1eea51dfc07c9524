/* test_sched.c - scheduling from hand-made events: running, runnable and idle times, latencies, limits, the picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/series/sched.h"
#include "core/format.h"
#include "files.h"
#include "suite.h"

enum { PROCESS = 9, START = 1000 };

/* ---- Events. ---- */

struct scene {
	struct tw_sched *sched;
	struct tw_dictionary *dictionary;
	struct tw_clock clock;
};

static void set_up(struct scene *scene, const struct tw_sched_options *options)
{
	*scene = (struct scene){.dictionary = tw_dictionary_new(), .clock = {.start_ns = START, .end_ns = START}};
	assert_int_equal(tw_sched_begin(&scene->sched, scene->dictionary, &scene->clock, options), 0);
}

static void tear_down(struct scene *scene)
{
	tw_sched_free(scene->sched);
	tw_dictionary_free(scene->dictionary);
}

/* Threads from 300 to 399 are of process 0, all others of PROCESS. */
static uint32_t track_of(struct scene *scene, uint64_t thread)
{
	uint64_t process = thread == 0 || (thread >= 300 && thread < 400) ? 0 : PROCESS;
	return tw_dictionary_add_track(scene->dictionary, &(struct tw_track){.process = process, .thread = thread});
}

static void feed(struct scene *scene, struct tw_event *event, const char *name, int64_t value)
{
	struct tw_argument argument = {.type = TW_ARG_INT, .value.i = value};
	const struct tw_batch batch = {.events = event, .count = 1, .arguments = &argument};
	if (name) {
		argument.name = tw_dictionary_text(scene->dictionary, name);
		event->argument_count = 1;
	}
	if (event->time > scene->clock.end_ns)
		scene->clock.end_ns = event->time;
	tw_sched_take(scene->sched, &batch);
}

static void switch_with(struct scene *scene, uint64_t time, uint16_t cpu, uint64_t from, uint64_t state, uint64_t to,
                        const char *name, int64_t value)
{
	struct tw_event event = {.kind = TW_SWITCH,
	                         .time = START + time,
	                         .cpu = cpu,
	                         .track = track_of(scene, from),
	                         .value = state,
	                         .other = track_of(scene, to)};
	feed(scene, &event, name, value);
}

static void switch_to(struct scene *scene, uint64_t time, uint64_t from, uint64_t state, uint64_t to)
{
	switch_with(scene, time, 0, from, state, to, NULL, 0);
}

static void wake(struct scene *scene, uint64_t time, uint64_t thread)
{
	struct tw_event event = {.kind = TW_WAKEUP, .time = START + time, .cpu = 1, .track = track_of(scene, thread)};
	feed(scene, &event, NULL, 0);
}

static const struct tw_sched_thread *thread_of(const struct scene *scene, uint64_t thread)
{
	const struct tw_sched_thread *row;
	for (size_t i = 0; (row = tw_sched_thread(scene->sched, i)); i++)
		if (row->thread == thread)
			return row;
	fail_msg("no thread %u", (unsigned)thread);
	return NULL;
}

static void expect_cpu(const struct scene *scene, size_t i, struct tw_sched_cpu expected)
{
	const struct tw_sched_cpu *row = tw_sched_cpu(scene->sched, i);
	assert_non_null(row);
	assert_int_equal(row->cpu, expected.cpu);
	assert_int_equal(row->busy_ns, expected.busy_ns);
	assert_int_equal(row->idle_ns, expected.idle_ns);
	assert_int_equal(row->unknown_ns, expected.unknown_ns);
	assert_int_equal(row->switches, expected.switches);
}

/* ---- Tests. ---- */

enum { A = 101, B = 102, IDLE = 0 };

/* A runs 0-10 and 30-50, and could have run 10-30; B runs 10-30 and 75-80, waits 5-10 and 40-70. */
static void play(struct scene *scene)
{
	switch_to(scene, 0, IDLE, TW_SCHED_RUNNING, A);
	wake(scene, 5, B);
	switch_to(scene, 10, A, TW_SCHED_RUNNING, B);
	switch_to(scene, 30, B, TW_SCHED_BLOCKED, A);
	wake(scene, 40, B);
	wake(scene, 42, B);
	switch_to(scene, 50, A, TW_SCHED_DEAD, IDLE);
	switch_to(scene, 70, IDLE, TW_SCHED_RUNNING, B);
	switch_to(scene, 75, A, 7, B); /* but B came, and not A */
	switch_to(scene, 80, B, 200, IDLE);
}

static void test_threads(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	play(&scene);
	assert_int_equal(tw_sched_end(scene.sched), 0);
	const struct tw_sched_thread *a = thread_of(&scene, A), *b = thread_of(&scene, B);
	assert_int_equal(a->running_ns, 10 + 20);
	assert_int_equal(a->runnable_ns, 20);
	assert_int_equal(a->switches, 2);
	assert_int_equal(a->wakeups, 0);
	assert_int_equal(a->latencies, 0);
	assert_int_equal(a->latency_max_ns, 0);
	assert_int_equal(a->left[TW_SCHED_RUNNING], 1);
	assert_int_equal(a->left[TW_SCHED_DEAD], 1);
	assert_int_equal(a->left[7], 1);
	assert_int_equal(b->running_ns, 20 + 5);
	assert_int_equal(b->runnable_ns, 5 + 30);
	assert_int_equal(b->switches, 3);
	assert_int_equal(b->wakeups, 3);
	assert_int_equal(b->latencies, 2);
	assert_int_equal(b->latency_min_ns, 5);
	assert_int_equal(b->latency_p50_ns, 5);
	assert_int_equal(b->latency_p90_ns, 30);
	assert_int_equal(b->latency_p99_ns, 30);
	assert_int_equal(b->latency_max_ns, 30);
	assert_int_equal(b->left[TW_SCHED_BLOCKED], 1);
	assert_int_equal(b->left[TW_SCHED_STATES - 1], 1);
	assert_null(tw_sched_thread(scene.sched, 2)); /* idle is none */
	tear_down(&scene);
}

/* The shortest and the longest are neither the first nor the last: 20, 5, 30 and 10 ns. */
static void test_latencies(void **state)
{
	static const uint64_t latencies[] = {20, 5, 30, 10};
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	for (size_t i = 0; i < 4; i++) {
		uint64_t time = 100 * i;
		wake(&scene, time, A);
		switch_to(&scene, time + latencies[i], IDLE, TW_SCHED_RUNNING, A);
		switch_to(&scene, time + 50, A, TW_SCHED_BLOCKED, IDLE);
	}
	assert_int_equal(tw_sched_end(scene.sched), 0);
	const struct tw_sched_thread *a = thread_of(&scene, A);
	assert_int_equal(a->latencies, 4);
	assert_int_equal(a->latency_min_ns, 5);
	assert_int_equal(a->latency_p50_ns, 10);
	assert_int_equal(a->latency_max_ns, 30);
	assert_int_equal(a->running_ns, 30 + 45 + 20 + 40);
	tear_down(&scene);
}

static void test_cpu(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	play(&scene);
	assert_int_equal(tw_sched_end(scene.sched), 0);
	expect_cpu(&scene, 0, (struct tw_sched_cpu){0, 10 + 20 + 20 + 5, 20, 5, 7});
	assert_null(tw_sched_cpu(scene.sched, 1)); /* a wake-up alone makes none */
	assert_int_equal(tw_sched_notes(scene.sched)->wrong_thread, 1);
	assert_int_equal(tw_sched_notes(scene.sched)->time_backwards, 0);
	assert_int_equal(tw_sched_notes(scene.sched)->left_out, 0);
	tear_down(&scene);
}

/* By weight, by priority 0 of process 0, and not by priority 0 of another process or by another priority. */
static void test_idle(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	switch_with(&scene, 0, 5, A, 3, 300, "incoming_priority", 0);
	switch_with(&scene, 10, 5, 300, 3, 301, "incoming_priority", 5);
	switch_with(&scene, 30, 5, 301, 3, B, "incoming_weight", INT32_MIN);
	switch_with(&scene, 60, 5, B, 3, A, "incoming_priority", 0);
	switch_with(&scene, 100, 5, A, 3, 301, "outgoing_weight", INT32_MIN + 1);
	switch_with(&scene, 150, 5, 301, 3, A, "outgoing_weight", INT32_MIN);
	assert_int_equal(tw_sched_end(scene.sched), 0);
	expect_cpu(&scene, 0, (struct tw_sched_cpu){5, 20 + 40, 10 + 30 + 50, 0, 6});
	assert_int_equal(thread_of(&scene, 301)->running_ns, 20);
	assert_int_equal(thread_of(&scene, A)->running_ns, 40);
	tear_down(&scene);
}

static void test_switches_out_of_order(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	switch_with(&scene, 50, 9, A, 3, B, NULL, 0);
	switch_with(&scene, 50, 2, B, 3, A, NULL, 0);
	switch_with(&scene, 40, 9, B, 3, A, NULL, 0); /* the clock goes back */
	switch_with(&scene, 60, 2, A, 3, 301, NULL, 0);
	assert_int_equal(tw_sched_end(scene.sched), 0);
	expect_cpu(&scene, 0, (struct tw_sched_cpu){2, 10, 0, 0, 2});
	expect_cpu(&scene, 1, (struct tw_sched_cpu){9, 0, 0, 0, 2});
	assert_int_equal(tw_sched_notes(scene.sched)->time_backwards, 1);
	assert_int_equal(tw_sched_thread(scene.sched, 0)->thread, 301); /* process 0 */
	assert_int_equal(tw_sched_thread(scene.sched, 1)->thread, A);
	assert_int_equal(tw_sched_thread(scene.sched, 2)->thread, B);
	tear_down(&scene);
}

static void test_names(void **state)
{
	(void)state;
	struct scene scene;
	struct tw_track process = {.process = PROCESS, .kind = TW_TRACK_PROCESS};
	set_up(&scene, NULL);
	switch_to(&scene, 0, B, 3, A);
	tw_dictionary_name_track(scene.dictionary, track_of(&scene, A), tw_dictionary_text(scene.dictionary, "main"));
	tw_dictionary_name_track(scene.dictionary, tw_dictionary_add_track(scene.dictionary, &process),
	                         tw_dictionary_text(scene.dictionary, "server"));
	assert_int_equal(tw_sched_end(scene.sched), 0);
	assert_string_equal(thread_of(&scene, A)->name, "main");
	assert_string_equal(thread_of(&scene, A)->process_name, "server");
	assert_null(thread_of(&scene, B)->name);
	assert_string_equal(tw_sched_state_name(0), "new");
	assert_string_equal(tw_sched_state_name(TW_SCHED_DEAD), "dead");
	assert_null(tw_sched_state_name(6));
	tear_down(&scene);
}

/* However many threads there are, memory is bounded and what is left out is counted. */
static void test_limit(void **state)
{
	enum { THREADS = 20000 };
	(void)state;
	struct scene scene;
	const struct tw_sched_options options = {.memory_limit = 1 << 20};
	set_up(&scene, &options);
	for (uint64_t i = 0; i < THREADS; i++)
		switch_to(&scene, i, 1000 + i, 3, 1001 + i);
	assert_int_equal(tw_sched_end(scene.sched), 0);
	assert_true(tw_sched_notes(scene.sched)->left_out > 0);
	assert_true(tw_sched_notes(scene.sched)->left_out < THREADS);
	assert_true(atomic_load(&scene.sched->budget.used[TW_FOR_ROWS]) <= options.memory_limit / 8 * 5);
	expect_cpu(&scene, 0, (struct tw_sched_cpu){0, THREADS - 1, 0, 0, THREADS});
	tear_down(&scene);
}

/* ---- The picture. ---- */

static char *render(const struct scene *scene)
{
	char path[] = "/tmp/test_sched.XXXXXX";
	size_t size;
	assert_true(close(mkstemp(path)) == 0);
	assert_int_equal(tw_sched_plot(scene->sched, path, "a <b> & c"), 0);
	char *text = read_text(path, &size);
	assert_true(size > 0);
	unlink(path);
	return text;
}

/* All that ran is in the columns, to the nanosecond, however often they were made wider. */
static void test_columns(void **state)
{
	enum { SWITCHES = 50000 };
	(void)state;
	struct scene scene;
	const struct tw_sched_options options = {.plot = true};
	uint64_t time = 0, drawn = 0;
	set_up(&scene, &options);
	for (uint64_t i = 0; i < SWITCHES; i++) {
		time += 1 + i * i % 997;
		switch_to(&scene, time, i % 2 ? A : B, 3, i % 2 ? B : A);
	}
	assert_int_equal(tw_sched_end(scene.sched), 0);
	const struct tw_columns *columns = &scene.sched->cores.items[0].columns;
	for (size_t i = 0; i < TW_COLUMNS; i++) {
		const struct tw_sched_column *column = &((const struct tw_sched_column *)columns->items)[i];
		assert_true(column->busy <= UINT64_C(1) << columns->shift);
		assert_true(column->most <= column->busy);
		drawn += column->busy;
	}
	assert_int_equal(drawn, tw_sched_cpu(scene.sched, 0)->busy_ns);
	assert_true(time >> columns->shift >= TW_COLUMNS / 2);
	char *text = render(&scene);
	assert_true(strlen(text) < 200 * TW_COLUMNS);
	free(text);
	tear_down(&scene);
}

/* Twelve threads have a colour of their own, each another one; the others share one, which the legend tells. */
static void test_legend(void **state)
{
	(void)state;
	for (uint64_t threads = 12; threads <= 14; threads++) {
		struct scene scene;
		set_up(&scene, &(struct tw_sched_options){.plot = true});
		uint64_t time = 0, next = 1000;
		for (; next < 1000 + threads; next++, time += 2000 - next) /* the last ones run for the shortest */
			switch_to(&scene, time, next == 1000 ? 0 : next - 1, 3, next);
		switch_to(&scene, time, next - 1, 3, 0);
		assert_int_equal(tw_sched_end(scene.sched), 0);
		char *text = render(&scene);
		for (unsigned i = 0; i < 12; i++) {
			char square[64]; /* in the legend */
			snprintf(square, sizeof square, "<path class=\"c%u\" d=\"M130 ", i);
			assert_non_null(strstr(text, square));
		}
		assert_int_equal(strstr(text, " other thread") != NULL, threads > 12);
		assert_int_equal(strstr(text, ">1 other thread: ") != NULL, threads == 13);
		assert_int_equal(strstr(text, ">2 other threads: ") != NULL, threads == 14);
		free(text);
		tear_down(&scene);
	}
}

/* A has three quarters of the time, in turns with B and C: all bars are A's, and full. */
static void test_majority(void **state)
{
	enum { TURNS = 4096, C = 103 };
	(void)state;
	struct scene scene;
	const struct tw_sched_options options = {.plot = true};
	set_up(&scene, &options);
	for (uint64_t i = 0; i < TURNS; i++) {
		uint64_t other = i % 2 ? B : C;
		switch_to(&scene, 8 * i, i % 2 ? C : B, 3, A);
		switch_to(&scene, 8 * i + 6, A, 3, other);
	}
	assert_int_equal(tw_sched_end(scene.sched), 0);
	const struct tw_columns *columns = &scene.sched->cores.items[0].columns;
	assert_int_equal(columns->shift, 5); /* 32768 ns in 1024 columns */
	for (size_t i = 0; i + 1 < TW_COLUMNS; i++)
		assert_int_equal(((const struct tw_sched_column *)columns->items)[i].track, track_of(&scene, A));
	char *text = render(&scene);
	assert_non_null(strstr(text, "<title id=\"name\">a &lt;b&gt; &amp; c</title>"));
	assert_non_null(
	    strstr(text, "<path class=\"c11\" d=\"M130 64V40H")); /* one bar from the left edge, of full height */
	free(text);
	tear_down(&scene);
}

static void test_nothing_to_plot(void **state)
{
	(void)state;
	struct scene scene;
	set_up(&scene, NULL);
	assert_int_equal(tw_sched_end(scene.sched), 0);
	assert_int_equal(tw_sched_plot(scene.sched, "/dev/null", NULL), TW_ERR_UNSUPPORTED);
	tear_down(&scene);
}

SUITE(sched)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_latencies),
	    cmocka_unit_test(test_cpu),
	    cmocka_unit_test(test_idle),
	    cmocka_unit_test(test_switches_out_of_order),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_columns),
	    cmocka_unit_test(test_majority),
	    cmocka_unit_test(test_legend),
	    cmocka_unit_test(test_nothing_to_plot),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
