/* test_stack_tree.c - slices and samples to pprof's and callgrind's profiles and to folded stacks. What is expected is
 * written by hand from profile.proto and from valgrind's description of its format. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"
#include "suite.h"

#include <zlib.h>

static int setup_pprof(void **state)
{
	return setup_for(state, "pprof");
}

static int setup_callgrind(void **state)
{
	return setup_for(state, "callgrind");
}

/* fib from 5 to 15, and leaf in it from 7 to 9. */
static void put_calls(struct fixture *f)
{
	PUT(f, EVENT(5, TW_SLICE_BEGIN, f->main, f->fib), EVENT(7, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(9, TW_SLICE_END, f->main, f->leaf), EVENT(15, TW_SLICE_END, f->main, f->fib));
}

/* ---- pprof. ---- */

static void expect_bytes(struct fixture *f, const char *expected, size_t size)
{
	char bytes[1024];
	assert_int_equal(tw_finish(f->writer), 0);
	gzFile file = gzopen(f->path, "rb");
	assert_non_null(file);
	assert_false(gzdirect(file));
	assert_int_equal(gzread(file, bytes, sizeof bytes), size);
	gzclose(file);
	assert_memory_equal(bytes, expected, size);
}

#define EXPECT_BYTES(f, text) expect_bytes(f, text, sizeof(text) - 1)

#define KEYS "\x32\x00\x32\x06thread\x32\x07process"
#define FUNCTION_FIB "\x2a\x06\x08\x01\x10\x07\x18\x07\x22\x08\x08\x01\x10\x01\x22\x02\x08\x01"
#define FUNCTION_LEAF "\x2a\x06\x08\x02\x10\x08\x18\x08\x22\x08\x08\x02\x10\x01\x22\x02\x08\x02"
#define MAPPING "\x1a\x04\x08\x01\x38\x01"
#define TRACK "\x32\x08thread 7\x32\x09process 7"
#define LABELS_WORKER "\x1a\x04\x08\x01\x10\x0b\x1a\x04\x08\x02\x10\x0c"
#define LABELS "\x1a\x04\x08\x01\x10\x09\x1a\x04\x08\x02\x10\x0a"

static void test_pprof_slices(void **state)
{
	struct fixture *f = *state;
	put_calls(f);
	EXPECT_BYTES(f,
	             KEYS "\x32\x05"
	                  "calls\x32\x05"
	                  "count\x0a\x04\x08\x03\x10\x04\x32\x04wall\x32\x0bnanoseconds\x0a\x04\x08\x05\x10\x06"
	                  "\x32\x03"
	                  "fib" FUNCTION_FIB "\x32\x04leaf" FUNCTION_LEAF MAPPING TRACK
	                  "\x12\x13\x0a\x01\x01\x12\x02\x01\x08" LABELS
	                  "\x12\x14\x0a\x02\x02\x01\x12\x02\x01\x02" LABELS "\x70\x05"); /* default_sample_type: wall */
}

/* Threads take turns; their stacks stand together, and what they are called stands once. */
static void test_pprof_turns(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(5, TW_SLICE_BEGIN, f->main, f->fib), EVENT(6, TW_SLICE_BEGIN, f->worker, f->fib),
	    EVENT(7, TW_SLICE_BEGIN, f->main, f->leaf), EVENT(8, TW_SLICE_BEGIN, f->worker, f->leaf),
	    EVENT(9, TW_SLICE_END, f->main, f->leaf), EVENT(10, TW_SLICE_END, f->worker, f->leaf));
	PUT(f, EVENT(15, TW_SLICE_END, f->main, f->fib), EVENT(16, TW_SLICE_END, f->worker, f->fib));
	EXPECT_BYTES(f, KEYS "\x32\x05"
	                     "calls\x32\x05"
	                     "count\x0a\x04\x08\x03\x10\x04\x32\x04wall\x32\x0bnanoseconds\x0a\x04\x08\x05\x10\x06"
	                     "\x32\x03"
	                     "fib" FUNCTION_FIB "\x32\x04leaf" FUNCTION_LEAF MAPPING TRACK
	                     "\x12\x13\x0a\x01\x01\x12\x02\x01\x08" LABELS
	                     "\x12\x14\x0a\x02\x02\x01\x12\x02\x01\x02" LABELS "\x32\x08thread 8\x32\x09process 7"
	                     "\x12\x13\x0a\x01\x01\x12\x02\x01\x08" LABELS_WORKER
	                     "\x12\x14\x0a\x02\x02\x01\x12\x02\x01\x02" LABELS_WORKER "\x70\x05");
}

/* Samples at two lines of a function are two locations; the innermost comes first. */
static void test_pprof_samples(void **state)
{
	struct fixture *f = *state;
	uint32_t stack = push_leaf(f, PLACE(.name = f->fib));
	PUT(f, EVENT(0, TW_CPU_SAMPLE, f->main, 0, .value = 100, .other = stack),
	    EVENT(1, TW_CPU_SAMPLE, f->main, 0, .value = 20, .other = stack), EVENT(1, TW_INSTANT, f->main, f->fib));
	expect_loss(f, "instant", 0, 1);
	EXPECT_BYTES(f, KEYS "\x32\x03"
	                     "cpu\x32\x0bnanoseconds\x0a\x04\x08\x03\x10\x04"
	                     /* leaf, in a.c: function 1 with file 6, location 1 at 16 and line 12 */
	                     "\x32\x04leaf\x32\x03"
	                     "a.c\x2a\x08\x08\x01\x10\x05\x18\x05\x20\x06"
	                     "\x22\x0c\x08\x01\x10\x01\x18\x10\x22\x04\x08\x01\x10\x0c"
	                     /* fib: function 2, location 2 */
	                     "\x32\x03"
	                     "fib\x2a\x06\x08\x02\x10\x07\x18\x07\x22\x08\x08\x02\x10\x01\x22\x02\x08\x02"
	                     "\x1a\x08\x08\x01\x38\x01\x40\x01\x48\x01"
	                     "\x32\x08thread 7\x32\x09process 7"
	                     "\x12\x13\x0a\x02\x01\x02\x12\x01\x78\x1a\x04\x08\x01\x10\x08\x1a\x04\x08\x02\x10\x09"
	                     "\x70\x03");
}

/* The first location of each sample: messages are short here, and their numbers one byte each. */
static void expect_leaves(struct fixture *f, const char *expected, size_t count)
{
	enum { SAMPLE = 0x12, LOCATION_AT = 4 };
	char bytes[1024];
	size_t found = 0;
	assert_int_equal(tw_finish(f->writer), 0);
	gzFile file = gzopen(f->path, "rb");
	assert_non_null(file);
	int size = gzread(file, bytes, sizeof bytes);
	gzclose(file);
	for (int at = 0; at < size; at += 2 + bytes[at + 1])
		if (bytes[at] == SAMPLE) {
			assert_true(found < count);
			assert_int_equal(bytes[at + LOCATION_AT], expected[found++]);
		}
	assert_int_equal(found, count);
}

/* Stacks of a thread stand in the order of its events. */
static void test_pprof_samples_between_slices(void **state)
{
	struct fixture *f = *state;
	uint32_t stack = push(f, 0, PLACE(.name = f->leaf));
	PUT(f, EVENT(5, TW_SLICE_BEGIN, f->main, f->fib));
	PUT(f, EVENT(6, TW_STACK_SAMPLE, f->main, 0, .value = 1, .other = stack));
	PUT(f, EVENT(7, TW_SLICE_COMPLETE, f->main, f->leaf, .value = 1), EVENT(10, TW_SLICE_END, f->main, f->fib));
	expect_leaves(f, "\1\2\3", 3);
}

/* ---- callgrind. ---- */

#define HEAD "# callgrind format\nversion: 1\ncreator: trackway 0.1.0\npositions: line\nevents: "

static void test_callgrind_nothing(void **state)
{
	assert_string_equal(finish(*state), HEAD "ns\n\ntotals: 0\n");
}

static void test_callgrind_calls(void **state)
{
	struct fixture *f = *state;
	put_calls(f);
	put_calls(f);
	assert_string_equal(finish(f), HEAD "ns\n"
	                                    "\nfl=???\nfn=(1) fib\ncfi=???\ncfn=(2) leaf\ncalls=2 0\n0 4\n0 16\n"
	                                    "\nfl=???\nfn=(2)\n0 4\n"
	                                    "\ntotals: 20\n");
}

/* A function inside itself is another function. */
static void test_callgrind_recursion(void **state)
{
	struct fixture *f = *state;
	uint32_t fact =
	    tw_dictionary_intern(f->reader.dictionary,
	                         &(struct tw_name){.text = "fact\n", .length = 5, .file = "a.c", .line = 3});
	PUT(f, EVENT(5, TW_SLICE_BEGIN, f->main, fact), EVENT(10, TW_SLICE_BEGIN, f->main, fact),
	    EVENT(12, TW_SLICE_COMPLETE, f->main, f->leaf, .value = 2), EVENT(20, TW_SLICE_END, f->main, fact),
	    EVENT(25, TW_SLICE_END, f->main, fact));
	assert_string_equal(finish(f), HEAD "ns\n"
	                                    "\nfl=a.c\nfn=(1) fact \ncfi=a.c\ncfn=(2) fact '2\ncalls=1 3\n3 10\n3 10\n"
	                                    "\nfl=a.c\nfn=(2)\ncfi=???\ncfn=(3) leaf\ncalls=1 0\n3 2\n3 8\n"
	                                    "\nfl=???\nfn=(3)\n0 2\n"
	                                    "\ntotals: 20\n");
}

enum { MANY = 200 };

/* One call to each of many functions, one after the other, of 3 ns each. */
static void call_many(struct fixture *f, uint64_t begin, uint32_t caller)
{
	PUT(f, EVENT(begin, TW_SLICE_BEGIN, f->main, caller));
	for (uint64_t i = 0; i < MANY; i++) {
		char text[16];
		snprintf(text, sizeof text, "f%u", (unsigned)i);
		PUT(f, EVENT(begin + 3 * i, TW_SLICE_COMPLETE, f->main, name(f, text), .value = 3));
	}
	PUT(f, EVENT(begin + 3 * MANY + 7, TW_SLICE_END, f->main, caller));
}

/* Costs of functions are found by several threads: the file is the same. fib is called twice, then leaf. */
static void expect_many(void **state, unsigned jobs)
{
	struct fixture *f = *state;
	static char expected[64 * 1024];
	char *end = expected + sizeof expected, *p = expected;
	f->reader.options.jobs = jobs;
	call_many(f, 0, f->fib);
	call_many(f, 1000, f->fib);
	call_many(f, 2000, f->leaf);
	p += snprintf(p, (size_t)(end - p), "%sns\n\nfl=???\nfn=(1) fib\n", HEAD);
	for (int i = MANY; i-- > 0;)
		p += snprintf(p, (size_t)(end - p), "cfi=???\ncfn=(%d) f%d\ncalls=2 0\n0 6\n", i + 2, i);
	p += snprintf(p, (size_t)(end - p), "0 14\n");
	for (int i = 0; i < MANY; i++)
		p += snprintf(p, (size_t)(end - p), "\nfl=???\nfn=(%d)\n0 9\n", i + 2);
	p += snprintf(p, (size_t)(end - p), "\nfl=???\nfn=(%d) leaf\n", MANY + 2);
	for (int i = MANY; i-- > 0;)
		p += snprintf(p, (size_t)(end - p), "cfi=???\ncfn=(%d)\ncalls=1 0\n0 3\n", i + 2);
	snprintf(p, (size_t)(end - p), "0 7\n\ntotals: %d\n", 3 * (3 * MANY + 7));
	assert_string_equal(finish(f), expected);
}

static void test_callgrind_one_thread(void **state)
{
	expect_many(state, 1);
}

static void test_callgrind_threads(void **state)
{
	expect_many(state, 8);
}

static void test_callgrind_samples(void **state)
{
	struct fixture *f = *state;
	uint32_t file = name(f, "a.c"), stacks[2];
	for (uint32_t i = 0; i < 2; i++)
		stacks[i] = push(f, 0, PLACE(.name = f->leaf, .file = file, .line = 12 + i, .address = 16 + i));
	PUT(f, EVENT(0, TW_STACK_SAMPLE, f->main, 0, .value = 1, .id = 7, .other = stacks[0]),
	    EVENT(1, TW_STACK_SAMPLE, f->worker, 0, .value = 2, .id = 9, .other = stacks[1]),
	    EVENT(2, TW_ALLOCATION_SAMPLE, f->main, f->cat, .value = 64, .id = 2, .other = stacks[0]));
	expect_no_loss(f);
	assert_string_equal(finish(f), HEAD "samples wall_ns objects bytes\n"
	                                    "\nfl=a.c\nfn=(1) leaf\n"
	                                    "cfi=???\ncfn=(2) cat\ncalls=1 0\n12 0 0 2 64\n"
	                                    "13 2 9 0 0\n"
	                                    "12 1 7 0 0\n"
	                                    "\nfl=???\nfn=(2)\n0 0 0 2 64\n"
	                                    "\ntotals: 3 16 2 64\n");
}

/* Without memory for stacks the weights are still there. */
static void test_callgrind_without_room(void **state)
{
	struct fixture *f = *state;
	f->reader.options.memory_limit = 1;
	PUT(f, EVENT(2, TW_CPU_SAMPLE, f->main, 0, .value = 64, .other = push(f, 0, PLACE(.name = f->leaf))));
	expect_loss(f, "stack", 1, 0);
	assert_string_equal(finish(f), HEAD "cpu_ns\n\nfl=???\nfn=(other)\n0 64\n\ntotals: 64\n");
}

/* ---- folded. ---- */

static int setup_folded(void **state)
{
	return setup_for(state, "folded");
}

static void expect_text(struct fixture *f, const char *expected)
{
	char text[1024] = "";
	assert_int_equal(tw_finish(f->writer), 0);
	assert_true(read_file(f->path, text, sizeof text - 1) < sizeof text - 1);
	assert_string_equal(text, expected);
}

static void test_folded_nothing(void **state)
{
	expect_text(*state, "");
}

/* 10 ns, of which 2 are leaf's. */
static void test_folded_slices(void **state)
{
	struct fixture *f = *state;
	put_calls(f);
	expect_text(f, "fib 8\nfib;leaf 2\n");
}

/* Two places of one function are one line; slices are not what is counted, where samples are and are asked for. */
static void test_folded_samples(void **state)
{
	struct fixture *f = *state;
	tw_discard(f->writer);
	assert_int_equal(tw_create(&f->writer, f->path, "folded", &(struct tw_write_options){.weight = "samples"}), 0);
	uint32_t stacks[2];
	for (uint64_t i = 0; i < 2; i++) {
		stacks[i] = push(f, 0, PLACE(.name = f->fib, .address = 16 + i));
		stacks[i] = push(f, stacks[i], PLACE(.name = f->leaf));
	}
	put_calls(f);
	PUT(f, {.kind = TW_STACK_SAMPLE, .track = f->main, .value = 3, .id = 50, .other = stacks[0]},
	    {.kind = TW_STACK_SAMPLE, .track = f->main, .value = 4, .id = 60, .other = stacks[1]});
	expect_text(f, "fib;leaf 7\n");
}

/* 100 calls inside of 4,096, each of which takes 1 ns longer than the next, as the innermost does. */
static void test_folded_deep(void **state)
{
	enum { DEPTH = 4096, INSIDE = 100 };
	struct fixture *f = *state;
	char *expected = calloc(4, DEPTH + 8), *text = calloc(4, DEPTH + 8);
	assert_non_null(expected);
	assert_non_null(text);
	for (uint64_t i = 0; i < DEPTH + INSIDE; i++) {
		PUT(f, EVENT(i < DEPTH ? 1 : i - DEPTH + 1, TW_SLICE_BEGIN, f->main, f->fib));
		memcpy(expected + 4 * i, "fib;", i < DEPTH ? 4 : 0);
	}
	PUT(f, EVENT(INSIDE + 1, TW_INSTANT, f->main, f->fib));
	strcpy(expected + 4 * DEPTH, "(deeper) 100\n");
	assert_int_equal(tw_finish(f->writer), 0);
	expect_loss(f, "deep stack", INSIDE, 0);
	read_file(f->path, text, 4 * (DEPTH + 8) - 1);
	assert_string_equal(text, expected);
	free(expected);
	free(text);
}

static void test_folded_weight(void **state)
{
	struct fixture *f = *state;
	tw_discard(f->writer);
	assert_int_equal(tw_create(&f->writer, f->path, "folded", &(struct tw_write_options){.weight = "x"}),
	                 TW_ERR_VALUE);
	assert_non_null(strstr(tw_writer_error(f->writer), "no weight"));
}

SUITE(stack_tree)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_folded_nothing, setup_folded, teardown),
	    cmocka_unit_test_setup_teardown(test_folded_slices, setup_folded, teardown),
	    cmocka_unit_test_setup_teardown(test_folded_samples, setup_folded, teardown),
	    cmocka_unit_test_setup_teardown(test_folded_deep, setup_folded, teardown),
	    cmocka_unit_test_setup_teardown(test_folded_weight, setup_folded, teardown),
	    cmocka_unit_test_setup_teardown(test_pprof_slices, setup_pprof, teardown),
	    cmocka_unit_test_setup_teardown(test_pprof_turns, setup_pprof, teardown),
	    cmocka_unit_test_setup_teardown(test_pprof_samples_between_slices, setup_pprof, teardown),
	    cmocka_unit_test_setup_teardown(test_pprof_samples, setup_pprof, teardown),
	    cmocka_unit_test_setup_teardown(test_callgrind_nothing, setup_callgrind, teardown),
	    cmocka_unit_test_setup_teardown(test_callgrind_calls, setup_callgrind, teardown),
	    cmocka_unit_test_setup_teardown(test_callgrind_recursion, setup_callgrind, teardown),
	    cmocka_unit_test_setup_teardown(test_callgrind_one_thread, setup_callgrind, teardown),
	    cmocka_unit_test_setup_teardown(test_callgrind_threads, setup_callgrind, teardown),
	    cmocka_unit_test_setup_teardown(test_callgrind_samples, setup_callgrind, teardown),
	    cmocka_unit_test_setup_teardown(test_callgrind_without_room, setup_callgrind, teardown),
	};
	return cmocka_run_group_tests_name("stack_tree", tests, NULL, NULL);
}
