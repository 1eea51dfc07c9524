/* test_speedscope.c - events to speedscope's JSON, and texts that are written piece by piece. The texts expected are
 * written by hand from speedscope's description of its format. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"
#include "suite.h"

#include <errno.h>

#include "export/text/spool.h"

static int setup(void **state)
{
	return setup_for(state, "speedscope");
}

#define HEAD                                                                                                           \
	"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"trackway 0.1.0\","         \
	"\"profiles\":["
#define ON_MAIN "\"name\":\"process 7, thread 7"

static void expect(struct fixture *f, const char *profiles, const char *frames)
{
	char expected[4096];
	const char *shown = strstr(profiles, "(samples)") ? "\"activeProfileIndex\":0," : "";
	snprintf(expected, sizeof expected, HEAD "%s],%s\"shared\":{\"frames\":[%s]}}\n", profiles, shown, frames);
	assert_string_equal(finish(f), expected);
}

static void test_trace_without_events(void **state)
{
	expect(*state, "", "");
}

static void test_slices(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(5, TW_SLICE_BEGIN, f->main, f->fib), EVENT(6, TW_SLICE_COMPLETE, f->worker, f->leaf, .value = 4),
	    EVENT(7, TW_SLICE_BEGIN, f->main, f->leaf), EVENT(9, TW_SLICE_END, f->main, f->fib),
	    EVENT(11, TW_SLICE_BEGIN, f->main, f->fib), EVENT(12, TW_INSTANT, f->main, f->fib));
	expect_loss(f, "instant", 0, 1);
	expect(f,
	       "\n{\"type\":\"evented\"," ON_MAIN
	       "\",\"unit\":\"nanoseconds\",\"startValue\":5,\"endValue\":12,\"events\":["
	       "\n{\"type\":\"O\",\"frame\":0,\"at\":5},\n{\"type\":\"O\",\"frame\":1,\"at\":7}"
	       ",\n{\"type\":\"C\",\"frame\":1,\"at\":9},\n{\"type\":\"C\",\"frame\":0,\"at\":9}"
	       ",\n{\"type\":\"O\",\"frame\":0,\"at\":11},\n{\"type\":\"C\",\"frame\":0,\"at\":12}]},\n"
	       "{\"type\":\"evented\",\"name\":\"process 7, thread 8\",\"unit\":\"nanoseconds\",\"startValue\":6,"
	       "\"endValue\":10,\"events\":["
	       "\n{\"type\":\"O\",\"frame\":1,\"at\":6},\n{\"type\":\"C\",\"frame\":1,\"at\":10}]}",
	       "\n{\"name\":\"fib\"},\n{\"name\":\"leaf\"}");
}

/* speedscope refuses times that go back. */
static void test_time_goes_back(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(9, TW_SLICE_BEGIN, f->main, f->fib), EVENT(5, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(6, TW_SLICE_END, f->main, f->leaf), EVENT(10, TW_SLICE_END, f->main, f->fib));
	expect_loss(f, "time", 2, 0);
	expect(f,
	       "\n{\"type\":\"evented\"," ON_MAIN
	       "\",\"unit\":\"nanoseconds\",\"startValue\":9,\"endValue\":10,\"events\":["
	       "\n{\"type\":\"O\",\"frame\":0,\"at\":9},\n{\"type\":\"O\",\"frame\":1,\"at\":9}"
	       ",\n{\"type\":\"C\",\"frame\":1,\"at\":9},\n{\"type\":\"C\",\"frame\":0,\"at\":10}]}",
	       "\n{\"name\":\"fib\"},\n{\"name\":\"leaf\"}");
}

static void test_samples(void **state)
{
	struct fixture *f = *state;
	uint32_t stack = push_leaf(f, PLACE(.name = f->fib));
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_POINTER, .value.u = 0xab};
	f->arguments[1] = (struct tw_argument){.type = TW_ARG_POINTER, .value.u = 0xcd};
	PUT(f, EVENT(0, TW_STACK_SAMPLE, f->main, 0, .value = 2, .other = stack),
	    EVENT(1, TW_STACK_SAMPLE, f->main, 0, .value = 1, .argument_count = 2),
	    EVENT(2, TW_STACK_SAMPLE, f->main, 0, .value = 1, .id = 500, .other = stack),
	    EVENT(3, TW_CPU_SAMPLE, f->main, 0, .value = 300, .other = stack),
	    EVENT(4, TW_ALLOCATION_SAMPLE, f->main, f->cat, .value = 64, .id = 2, .other = stack));
	expect_loss(f, "allocation-sample", 1, 0);
	expect(
	    f,
	    "\n{\"type\":\"sampled\"," ON_MAIN " (samples)\",\"unit\":\"none\",\"startValue\":0,\"endValue\":4,"
	    "\"samples\":[\n[1,0],\n[3,2],\n[1,0]],\"weights\":[2,1,1]},\n"
	    "{\"type\":\"sampled\"," ON_MAIN
	    " (wall time)\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":500,"
	    "\"samples\":[\n[1,0]],\"weights\":[500]},\n"
	    "{\"type\":\"sampled\"," ON_MAIN " (CPU time)\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":300,"
	    "\"samples\":[\n[1,0]],\"weights\":[300]},\n"
	    "{\"type\":\"sampled\"," ON_MAIN " (allocated)\",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":64,"
	    "\"samples\":[\n[1,0,4]],\"weights\":[64]}",
	    "\n{\"name\":\"leaf\",\"file\":\"a.c\",\"line\":12},\n{\"name\":\"fib\"},\n{\"name\":\"0xab\"},\n{\"name\":\"0xcd\"}"
	    ",\n{\"name\":\"cat\"}");
}

/* ---- The spool. ---- */

enum { PIECES = 40000, TEXTS = 7 };

static size_t piece(char *text, unsigned i)
{
	return (size_t)sprintf(text, "%u,", i * i);
}

/* Pieces go round over all texts; each comes back whole, however little memory there is, and wherever its blocks are. */
static void spool_with(size_t memory, size_t keep, bool in_file)
{
	struct tw_spool spool = {.fd = -1, .memory_limit = memory, .keep_limit = keep};
	struct tw_output out;
	char path[64], text[32];
	for (unsigned i = 0; i < PIECES; i++)
		tw_spool_add(&spool, i % TEXTS, text, piece(text, i));
	assert_false(tw_spool_has(&spool, TEXTS));
	snprintf(path, sizeof path, "/tmp/test_spool.%d", (int)getpid());
	assert_int_equal(tw_output_open(&out, path), 0);
	for (size_t number = 0; number <= TEXTS; number++)
		tw_spool_put(&spool, number, &out);
	assert_int_equal(spool.error, 0);
	assert_int_equal(spool.fd >= 0, in_file);
	assert_true(spool.kept_bytes <= keep);
	assert_int_equal(tw_output_close(&out), 0);
	tw_spool_free(&spool);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	for (unsigned first = 0; first < TEXTS; first++)
		for (unsigned i = first; i < PIECES; i += TEXTS) {
			unsigned found = 0;
			assert_int_equal(fscanf(file, "%u,", &found), 1);
			assert_int_equal(found, i * i);
		}
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
	unlink(path);
}

static void test_spool_in_any_memory(void **state)
{
	(void)state;
	spool_with(0, 0, true);
	spool_with(4096, 0, true);
	spool_with(SPOOL_BLOCK * TEXTS, 0, true);
	spool_with(0, SPOOL_BLOCK * TEXTS / 2, true);
	spool_with(4096, SPOOL_BLOCK * TEXTS, true); /* texts never have a block of memory */
	spool_with(0, SPOOL_BLOCK * TEXTS * 2, false);
}

/* Texts with a few bytes each, of which most numbers have none: each takes 64 bytes, and 32 beside them. Where that is one
 * byte too much, those so far go to the file. */
static void test_spool_of_short_texts(void **state)
{
	enum { COUNT = 1000, APART = 97, EACH = 64 + 32 };
	(void)state;
	for (unsigned less = 0; less < 2; less++) {
		struct tw_spool spool = {.fd = -1, .memory_limit = COUNT * EACH - less};
		uint8_t block[SPOOL_BLOCK];
		char text[32];
		for (unsigned i = 0; i < COUNT; i++)
			tw_spool_add(&spool, (size_t)i * APART, text, piece(text, i));
		assert_int_equal(spool.text_count, COUNT);
		assert_int_equal(spool.fd >= 0, less);
		assert_int_equal(spool.memory, less ? EACH : COUNT * EACH);
		assert_false(tw_spool_has(&spool, 1));
		for (unsigned i = 0; i < COUNT; i++) {
			struct tw_spool_cursor cursor = {.text = (size_t)i * APART};
			const uint8_t *bytes;
			size_t size;
			assert_true(tw_spool_next(&spool, &cursor, block, &bytes, &size));
			assert_int_equal(size, piece(text, i));
			assert_memory_equal(bytes, text, size);
			assert_false(tw_spool_next(&spool, &cursor, block, &bytes, &size));
		}
		assert_int_equal(spool.error, 0);
		tw_spool_free(&spool);
	}
}

static void test_spool_without_room(void **state)
{
	(void)state;
	struct tw_spool spool = {.fd = -1, .memory_limit = 1024, .directory = "/nonexistent"};
	for (unsigned i = 0; i < 1000; i++)
		tw_spool_add(&spool, i % 3, "0123456789", 10);
	assert_int_equal(spool.error, ENOENT);
	tw_spool_free(&spool);
}

SUITE(speedscope)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_trace_without_events, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_slices, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_time_goes_back, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_samples, setup, teardown),
	    cmocka_unit_test(test_spool_in_any_memory),
	    cmocka_unit_test(test_spool_of_short_texts),
	    cmocka_unit_test(test_spool_without_room),
	};
	return cmocka_run_group_tests_name("speedscope", tests, NULL, NULL);
}
