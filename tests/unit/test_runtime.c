/* test_runtime.c - alloc, jit, gc and cpu from made-up events: what a runtime tells of itself. All expectations by
 * hand. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trackway/alloc.h>
#include <trackway/cpu.h>
#include <trackway/gc.h>
#include <trackway/jit.h>

#include "core/format.h"

#include "suite.h"

enum { EVENTS = 32, ARGUMENTS = 64, START = 5000, MS = 1000000 };

/* A reader that gives these events. */
struct source {
	struct tw_format format;
	struct tw_reader *reader;
	struct tw_event events[EVENTS];
	struct tw_argument arguments[ARGUMENTS];
	size_t count, argument_count;
	uint32_t process, main, worker; /* tracks of process 9: threads 1 and 2 */
};

static int read_source(struct tw_reader *reader, struct tw_batch *batch)
{
	struct source *source = reader->state;
	*batch = (struct tw_batch){.events = source->events, .count = source->count, .arguments = source->arguments};
	source->count = 0;
	return (int)batch->count;
}

static struct tw_dictionary *dictionary(struct source *source)
{
	return source->reader->dictionary;
}

static uint32_t name(struct source *source, const char *text)
{
	return tw_dictionary_text(dictionary(source), text);
}

static uint32_t track(struct source *source, uint64_t thread, enum tw_track_kind kind, const char *text)
{
	uint32_t number = tw_dictionary_add_track(dictionary(source),
	                                          &(struct tw_track){.process = 9, .thread = thread, .kind = kind});
	tw_dictionary_name_track(dictionary(source), number, name(source, text));
	return number;
}

static int set_up(void **state)
{
	static const struct tw_read_options options;
	struct source *source = calloc(1, sizeof *source);
	*state = source;
	source->format = (struct tw_format){.name = "made-up", .reading.read = read_source};
	source->reader = tw_reader_new(&options);
	source->reader->format = &source->format;
	source->reader->state = source;
	source->reader->clock = (struct tw_clock){.start_ns = START, .end_ns = START + 1000 * (uint64_t)MS};
	source->process = track(source, 0, TW_TRACK_PROCESS, "app");
	source->main = track(source, 1, TW_TRACK_THREAD, "main");
	source->worker = track(source, 2, TW_TRACK_THREAD, "worker");
	return 0;
}

static int tear_down(void **state)
{
	struct source *source = *state;
	tw_dictionary_free(source->reader->dictionary);
	pthread_mutex_destroy(&source->reader->reports.lock);
	free(source->reader);
	free(source);
	return 0;
}

/* Times are since the start. */
static struct tw_event *add(struct source *source, enum tw_event_kind kind, uint64_t time, uint32_t on,
                            const char *category, const char *text)
{
	struct tw_event *event = &source->events[source->count++];
	*event = (struct tw_event){
	    .kind = (uint8_t)kind,
	    .time = START + time,
	    .track = on,
	    .category = name(source, category),
	    .name = name(source, text),
	    .first_argument = (uint16_t)source->argument_count,
	};
	return event;
}

static void put(struct source *source, const char *text, struct tw_argument argument)
{
	argument.name = name(source, text);
	source->arguments[source->argument_count++] = argument;
	source->events[source->count - 1].argument_count++;
}

static void put_number(struct source *source, const char *text, int64_t value)
{
	put(source, text, (struct tw_argument){.type = TW_ARG_INT, .value.i = value});
}

static void put_text(struct source *source, const char *text, const char *value)
{
	put(source, text,
	    (struct tw_argument){.type = TW_ARG_TEXT,
	                         .value.bytes = (const uint8_t *)value,
	                         .size = (uint32_t)strlen(value)});
}

/* ---- alloc ---- */

static uint32_t push(struct source *source, uint32_t caller, const char *function)
{
	const struct tw_location place = {.name = name(source, function)};
	return tw_dictionary_push(dictionary(source), caller, tw_dictionary_add_location(dictionary(source), &place));
}

static void allocate(struct source *source, uint32_t on, const char *class, uint64_t count, uint64_t bytes,
                     uint32_t stack)
{
	struct tw_event *event = add(source, TW_ALLOCATION_SAMPLE, 1, on, "", class);
	event->value = bytes;
	event->id = count;
	event->other = stack;
}

static void allocate_all(struct source *source)
{
	uint32_t a = push(source, 0, "a"), ab = push(source, a, "b"), b = push(source, 0, "b");
	allocate(source, source->main, "String", 2, 64, ab);
	allocate(source, source->main, "String", 1, 10, b);
	allocate(source, source->worker, "String", 3, 30, ab);
	allocate(source, source->worker, "Object", 5, 120, a);
	allocate(source, source->main, "Object", 1, 24, 0);
}

static void expect_allocations(struct source *source, enum tw_alloc_by by, const struct tw_alloc_row *expected)
{
	struct tw_alloc *alloc;
	size_t i = 0;
	allocate_all(source);
	assert_int_equal(tw_alloc_read(&alloc, source->reader, &(struct tw_alloc_options){.by = by}), 0);
	for (; expected[i].name; i++) {
		const struct tw_alloc_row *row = tw_alloc_row(alloc, i);
		assert_non_null(row);
		assert_string_equal(row->name, expected[i].name);
		assert_int_equal(row->where != NULL, expected[i].where != NULL);
		if (row->where)
			assert_string_equal(row->where, expected[i].where);
		assert_int_equal(row->thread, expected[i].thread);
		assert_int_equal(row->count, expected[i].count);
		assert_int_equal(row->bytes, expected[i].bytes);
	}
	assert_null(tw_alloc_row(alloc, i));
	tw_alloc_free(alloc);
}

static void test_alloc_by_class(void **state)
{
	static const struct tw_alloc_row rows[] = {{.name = "Object", .count = 6, .bytes = 144},
	                                           {.name = "String", .count = 6, .bytes = 104},
	                                           {0}};
	expect_allocations(*state, TW_ALLOC_BY_CLASS, rows);
}

static void test_alloc_by_function(void **state)
{
	static const struct tw_alloc_row rows[] = {{.name = "Object", .count = 1, .bytes = 24},
	                                           {.name = "Object", .where = "a", .count = 5, .bytes = 120},
	                                           {.name = "String", .where = "b", .count = 6, .bytes = 104},
	                                           {0}};
	expect_allocations(*state, TW_ALLOC_BY_FUNCTION, rows);
}

static void test_alloc_by_stack(void **state)
{
	static const struct tw_alloc_row rows[] = {{.name = "Object", .count = 1, .bytes = 24},
	                                           {.name = "Object", .where = "a", .count = 5, .bytes = 120},
	                                           {.name = "String", .where = "a;b", .count = 5, .bytes = 94},
	                                           {.name = "String", .where = "b", .count = 1, .bytes = 10},
	                                           {0}};
	expect_allocations(*state, TW_ALLOC_BY_STACK, rows);
}

static void test_alloc_by_thread(void **state)
{
	static const struct tw_alloc_row rows[] = {
	    {.name = "Object", .where = "main", .thread = 1, .count = 1, .bytes = 24},
	    {.name = "Object", .where = "worker", .thread = 2, .count = 5, .bytes = 120},
	    {.name = "String", .where = "main", .thread = 1, .count = 3, .bytes = 74},
	    {.name = "String", .where = "worker", .thread = 2, .count = 3, .bytes = 30},
	    {0}};
	expect_allocations(*state, TW_ALLOC_BY_THREAD, rows);
}

static void test_alloc_limit(void **state)
{
	struct source *source = *state;
	struct tw_alloc *alloc;
	allocate_all(source);
	assert_int_equal(tw_alloc_read(&alloc, source->reader, &(struct tw_alloc_options){.memory_limit = 1}), 0);
	assert_null(tw_alloc_row(alloc, 0));
	assert_int_equal(tw_alloc_left_out(alloc), 5);
	tw_alloc_free(alloc);
}

/* ---- jit ---- */

static void compile(struct source *source, uint32_t on, const char *category, const char *function, uint64_t ns,
                    int64_t code, int64_t status)
{
	add(source, TW_SLICE_COMPLETE, 10, on, category, function)->value = ns;
	if (code)
		put_number(source, "code_bytes", code);
	if (status)
		put_number(source, "status", status);
}

static void compile_all(struct source *source)
{
	compile(source, source->main, "jit", "f", 300, 40, 0);
	compile(source, source->worker, "jit", "f", 500, 60, 0);
	compile(source, source->main, "jit-cached", "f", 7, 99, 0);
	compile(source, source->main, "jit", "g", 20, 0, 5);
	add(source, TW_SLICE_BEGIN, 20, source->main, "jit", "g");
	put_number(source, "code_bytes", 1000); /* of an earlier compilation: what becomes of this one is not known */
	compile(source, source->main, "gc", "f", 1000, 0, 0);
}

static void expect_compilations(struct source *source, enum tw_jit_by by, const struct tw_jit_row *expected)
{
	struct tw_jit *jit;
	size_t i = 0;
	compile_all(source);
	assert_int_equal(tw_jit_read(&jit, source->reader, &(struct tw_jit_options){.by = by}), 0);
	for (; expected[i].name; i++) {
		const struct tw_jit_row *row = tw_jit_row(jit, i), *e = &expected[i];
		assert_non_null(row);
		assert_string_equal(row->name, e->name);
		assert_int_equal(row->thread, e->thread);
		assert_int_equal(row->compiled, e->compiled);
		assert_int_equal(row->compiled_ns, e->compiled_ns);
		assert_int_equal(row->self_ns, e->self_ns);
		assert_int_equal(row->max_ns, e->max_ns);
		assert_int_equal(row->cached, e->cached);
		assert_int_equal(row->cached_ns, e->cached_ns);
		assert_int_equal(row->failed, e->failed);
		assert_int_equal(row->open, e->open);
		assert_int_equal(row->code_bytes, e->code_bytes);
	}
	assert_null(tw_jit_row(jit, i));
	tw_jit_free(jit);
}

static void test_jit_by_function(void **state)
{
	static const struct tw_jit_row rows[] = {
	    {.name = "f",
	     .compiled = 2,
	     .compiled_ns = 800,
	     .self_ns = 773, /* all begin at once: what the search and g took is theirs */
	     .max_ns = 500,
	     .cached = 1,
	     .cached_ns = 7,
	     .code_bytes = 100},
	    {.name = "g", .compiled = 1, .compiled_ns = 20, .self_ns = 20, .max_ns = 20, .failed = 1, .open = 1},
	    {0}};
	expect_compilations(*state, TW_JIT_BY_FUNCTION, rows);
}

static void test_jit_by_thread(void **state)
{
	static const struct tw_jit_row rows[] = {{.name = "main",
	                                          .thread = 1,
	                                          .compiled = 2,
	                                          .compiled_ns = 300,
	                                          .self_ns = 293,
	                                          .max_ns = 300,
	                                          .cached = 1,
	                                          .cached_ns = 7,
	                                          .failed = 1,
	                                          .open = 1,
	                                          .code_bytes = 40},
	                                         {.name = "worker",
	                                          .thread = 2,
	                                          .compiled = 1,
	                                          .compiled_ns = 500,
	                                          .self_ns = 500,
	                                          .max_ns = 500,
	                                          .code_bytes = 60},
	                                         {0}};
	expect_compilations(*state, TW_JIT_BY_THREAD, rows);
}

/* ---- gc ---- */

static void collect(struct source *source, uint64_t time, uint64_t pause, const char *generations)
{
	add(source, TW_SLICE_COMPLETE, time, source->main, "gc", "GC")->value = pause;
	put_text(source, "reason", "induced");
	put_text(source, "generations", generations);
}

static void look(struct source *source, uint64_t time, const char *class, int64_t count, int64_t bytes)
{
	add(source, TW_COUNTER, time, source->process, "heap", class)->id = (uint64_t)(unsigned char)*class;
	put_number(source, "count", count);
	put_number(source, "bytes", bytes);
}

static void test_gc_collections(void **state)
{
	struct source *source = *state;
	struct tw_gc *gc;
	collect(source, 300, 40, "0 1");
	collect(source, 100, 10, "0");
	collect(source, 200, 30, "0 1 2 LOH");
	add(source, TW_SLICE_BEGIN, 400, source->worker, "gc", "GC");
	add(source, TW_SLICE_COMPLETE, 500, source->worker, "", "last")->value = 2000 * (uint64_t)MS;
	assert_int_equal(tw_gc_read(&gc, source->reader, NULL), 0);
	const struct tw_gc_totals *totals = tw_gc_totals(gc);
	assert_int_equal(totals->collections, 4);
	assert_int_equal(totals->ended, 3);
	assert_int_equal(totals->pause_ns, 80);
	assert_int_equal(totals->min_ns, 10);
	assert_int_equal(totals->p50_ns, 30); /* nearest rank: 2nd, 3rd and 3rd of 3 */
	assert_int_equal(totals->p90_ns, 40);
	assert_int_equal(totals->p99_ns, 40);
	assert_int_equal(totals->max_ns, 40);
	assert_int_equal(totals->covered_ns, 80);
	assert_int_equal(totals->span_ns, 500 + 2000 * (uint64_t)MS);
	assert_int_equal(tw_gc_collection(gc, 0)->time_ns, 100);
	assert_string_equal(tw_gc_collection(gc, 1)->generations, "0 1 2 LOH");
	assert_string_equal(tw_gc_collection(gc, 2)->reason, "induced");
	assert_int_equal(tw_gc_collection(gc, 2)->thread, 1);
	assert_true(tw_gc_collection(gc, 3)->open);
	assert_string_equal(tw_gc_collection(gc, 3)->reason, "");
	assert_null(tw_gc_collection(gc, 4));
	tw_gc_free(gc);
}

/* Three looks; "B" is gone in the second, "C" comes in the third. */
static void look_thrice(struct source *source)
{
	look(source, 100, "A", 10, 1000);
	look(source, 100, "B", 2, 500);
	look(source, 200, "A", 20, 1800);
	look(source, 200, "B", 0, 0);
	look(source, 300, "A", 5, 100);
	look(source, 300, "C", 1, 7);
}

static void expect_class(const struct tw_gc_class *row, const char *text, const struct tw_gc_class *expected)
{
	assert_non_null(row);
	if (text)
		assert_string_equal(row->name, text);
	assert_int_equal(row->count, expected->count);
	assert_int_equal(row->bytes, expected->bytes);
	assert_int_equal(row->most_count, expected->most_count);
	assert_int_equal(row->most_bytes, expected->most_bytes);
	assert_int_equal(row->from_count, expected->from_count);
	assert_int_equal(row->from_bytes, expected->from_bytes);
	assert_int_equal(row->to_count, expected->to_count);
	assert_int_equal(row->to_bytes, expected->to_bytes);
}

static void test_gc_heap(void **state)
{
	struct source *source = *state;
	struct tw_gc *gc;
	look_thrice(source);
	const struct tw_gc_options options = {.from_ns = 150, .to_ns = 300};
	assert_int_equal(tw_gc_read(&gc, source->reader, &options), 0);
	assert_int_equal(tw_gc_totals(gc)->looks, 3);
	expect_class(tw_gc_class(gc, 0), "A", &(struct tw_gc_class){NULL, NULL, 5, 100, 20, 1800, 10, 1000, 5, 100});
	expect_class(tw_gc_class(gc, 1), "B", &(struct tw_gc_class){NULL, NULL, 0, 0, 2, 500, 2, 500, 0, 0});
	expect_class(tw_gc_class(gc, 2), "C", &(struct tw_gc_class){NULL, NULL, 1, 7, 1, 7, 0, 0, 1, 7});
	assert_null(tw_gc_class(gc, 3));
	/* Together 1500, 1800 and 107 bytes; halfway through a look there is never more. */
	expect_class(tw_gc_heap(gc), NULL, &(struct tw_gc_class){NULL, NULL, 6, 107, 20, 1800, 12, 1500, 6, 107});
	tw_gc_free(gc);
}

static void generation(struct source *source, const char *text, int64_t allocated, int64_t reserved)
{
	add(source, TW_COUNTER, 100, source->process, "generation", text);
	put_number(source, "allocated", allocated);
	put_number(source, "reserved", reserved);
}

static int stop_at_second(void *context, const struct tw_gc_sample *sample)
{
	unsigned *seen = context;
	assert_int_equal(sample->first, *seen ? 2 : 10);
	return ++*seen == 2 ? 77 : 0;
}

static void test_gc_generations_and_samples(void **state)
{
	struct source *source = *state;
	struct tw_gc *gc;
	unsigned seen = 0;
	generation(source, "LOH", 10, 100);
	generation(source, "generation 0", 5, 50);
	generation(source, "LOH", 8, 120);
	assert_int_equal(tw_gc_read(&gc, source->reader, &(struct tw_gc_options){.plot = true}), 0);
	const struct tw_gc_generation *loh = tw_gc_generation(gc, 0);
	assert_string_equal(loh->name, "LOH");
	assert_int_equal(loh->allocated, 8);
	assert_int_equal(loh->most_allocated, 10);
	assert_int_equal(loh->most_reserved, 120);
	assert_int_equal(loh->samples, 2);
	assert_string_equal(tw_gc_generation(gc, 1)->name, "generation 0");
	assert_null(tw_gc_generation(gc, 2));
	assert_int_equal(tw_gc_plot(gc, "/dev/null", NULL), 0);
	tw_gc_free(gc);
	source->argument_count = 0;
	tw_use_not(source->reader);
	look_thrice(source);
	const struct tw_gc_options options = {.on_sample = stop_at_second, .context = &seen};
	assert_int_equal(tw_gc_read(&gc, source->reader, &options), 77);
	assert_int_equal(tw_gc_plot(gc, "/dev/null", NULL), TW_ERR_UNSUPPORTED);
	tw_gc_free(gc);
}

/* ---- cpu ---- */

static void use(struct source *source, uint64_t time, uint32_t on, int64_t us, double percent)
{
	add(source, TW_COUNTER, time, on, "cpu", on == source->process ? "process CPU" : "thread CPU")->id = on;
	put_number(source, "us", us);
	if (percent >= 0)
		put(source, "percent", (struct tw_argument){.type = TW_ARG_DOUBLE, .value.d = percent});
}

/* Every 10 ms: the worker 100 %, 50 %, then after 20 ms 25 %; main has no percentage at first, and takes 1 ms back. */
static void test_cpu(void **state)
{
	struct source *source = *state;
	struct tw_cpu *cpu;
	use(source, 10 * MS, source->worker, 10000, 100);
	use(source, 20 * MS, source->worker, 5000, 50);
	use(source, 40 * MS, source->worker, 5000, 25);
	use(source, 10 * MS, source->main, 3000, -1);
	use(source, 20 * MS, source->main, -1000, -1);
	use(source, 40 * MS, source->process, 40000, 200);
	assert_int_equal(tw_cpu_read(&cpu, source->reader, &(struct tw_cpu_options){.plot = true}), 0);
	const struct tw_cpu_row *process = tw_cpu_row(cpu, 0), *main_row = tw_cpu_row(cpu, 1),
				*worker = tw_cpu_row(cpu, 2);
	assert_null(tw_cpu_row(cpu, 3));
	assert_true(process->whole && !main_row->whole && !worker->whole);
	assert_string_equal(process->process_name, "app");
	assert_null(process->name);
	assert_int_equal(process->total_ns, 40 * MS);
	assert_true(process->max_percent == 200 && process->mean_percent == 200);
	assert_string_equal(main_row->name, "main");
	assert_int_equal(main_row->total_ns, 2 * MS);
	assert_int_equal(main_row->timed, 0);
	assert_int_equal(worker->total_ns, 20 * MS);
	assert_int_equal(worker->samples, 3);
	assert_true(worker->max_percent == 100);
	assert_true(worker->mean_percent == 50); /* 20 ms of 40 */
	assert_int_equal(worker->first_ns, 10 * MS);
	assert_int_equal(worker->last_ns, 40 * MS);
	assert_int_equal(tw_cpu_plot(cpu, "/dev/null", "x"), 0);
	tw_cpu_free(cpu);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

SUITE(runtime)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_alloc_by_class),
	    TEST(test_alloc_by_function),
	    TEST(test_alloc_by_stack),
	    TEST(test_alloc_by_thread),
	    TEST(test_alloc_limit),
	    TEST(test_jit_by_function),
	    TEST(test_jit_by_thread),
	    TEST(test_gc_collections),
	    TEST(test_gc_heap),
	    TEST(test_gc_generations_and_samples),
	    TEST(test_cpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
