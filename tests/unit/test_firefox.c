/* test_firefox.c - events to the Firefox Profiler's processed profile format. What is expected is written by hand from
 * its documents and types. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"
#include "suite.h"

#include <math.h>

static int setup(void **state)
{
	return setup_for(state, "firefox");
}

/* Looks for a piece behind the one before. */
static const char *expect(const char *text, const char *piece)
{
	const char *found = strstr(text, piece);
	if (!found)
		fail_msg("no %s\nin %s", piece, text);
	return found + strlen(piece);
}

static void test_trace_without_events(void **state)
{
	const char *text = finish(*state);
	text = expect(text, "{\"meta\":{\"interval\":0.000001,\"startTime\":0.000000,");
	text = expect(text, "\"preprocessedProfileVersion\":48,");
	assert_string_equal(expect(text, "\"threads\":["), "]}\n");
}

static void test_slices_and_markers(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = f->fib, .type = TW_ARG_UINT, .value.u = 1};
	PUT(f, EVENT(5, TW_SLICE_BEGIN, f->main, f->fib),
	    EVENT(7, TW_INSTANT, f->main, f->cat, .category = f->leaf, .argument_count = 1),
	    EVENT(8, TW_SLICE_COMPLETE, f->main, f->leaf, .value = 2), EVENT(9, TW_LOST, f->main, 0, .value = 64),
	    EVENT(15, TW_SLICE_END, f->main, f->fib), EVENT(1000020, TW_SLICE_COMPLETE, f->main, f->fib, .value = 1));
	expect_no_loss(f);
	const char *text = finish(f);
	text = expect(
	    text,
	    "\"name\":\"thread 7\",\"processName\":\"process 7\",\"isMainThread\":true,\"pid\":\"7\",\"tid\":\"7\",");
	text = expect(text, "\"samples\":{\"weightType\":\"tracing-ms\","
	                    "\"time\":[0.000005,0.000008,0.000010,0.000015,1.000020],\"stack\":[0,1,0,null,0],"
	                    "\"weight\":[0.000003,0.000002,0.000005,0.000000,0.000001],\"length\":5}");
	text = expect(
	    text,
	    "\"markers\":{\"name\":[0,1],\"startTime\":[0.000007,0.000009],\"endTime\":[null,null],\"phase\":[0,0],"
	    "\"data\":[{\"type\":\"event\",\"category\":\"leaf\",\"args\":\"{\\\"fib\\\":1}\"},"
	    "{\"type\":\"event\",\"value\":64}],\"category\":[0,0],\"length\":2}");
	text = expect(
	    text,
	    "\"stackTable\":{\"frame\":[0,1],\"prefix\":[null,0],\"category\":[0,0],\"subcategory\":[0,0],\"length\":2}");
	text =
	    expect(text,
	           "\"frameTable\":{\"address\":[-1,-1],\"inlineDepth\":[0,0],\"category\":[0,0],\"subcategory\":[0,0],"
	           "\"func\":[0,1],\"nativeSymbol\":[null,null],\"innerWindowID\":[0,0],\"implementation\":[null,null],"
	           "\"line\":[null,null],\"column\":[null,null],\"length\":2}");
	text = expect(text, "\"funcTable\":{\"name\":[2,3],\"fileName\":[null,null],");
	assert_string_equal(expect(text, "\"stringArray\":["), "\"cat\",\"lost\",\"fib\",\"leaf\"]}]}\n");
}

/* What becomes better known is told so from then on: categories, and keys of arguments. */
static void test_written_anew(void **state)
{
	struct fixture *f = *state;
	struct tw_dictionary *dictionary = f->reader.dictionary;
	f->arguments[0] = (struct tw_argument){.name = f->fib, .type = TW_ARG_UINT, .value.u = 1};
	PUT(f, EVENT(7, TW_INSTANT, f->main, f->cat, .category = f->leaf, .argument_count = 1));
	assert_true(tw_dictionary_rename(dictionary, f->fib, &(struct tw_name){.text = "fibonacci", .length = 9}));
	assert_true(tw_dictionary_rename(dictionary, f->leaf, &(struct tw_name){.text = "tree", .length = 4}));
	PUT(f, EVENT(8, TW_INSTANT, f->main, f->cat, .category = f->leaf, .argument_count = 1));
	expect(finish(f), "\"data\":[{\"type\":\"event\",\"category\":\"leaf\",\"args\":\"{\\\"fib\\\":1}\"},"
	                  "{\"type\":\"event\",\"category\":\"tree\",\"args\":\"{\\\"fibonacci\\\":1}\"}]");
}

/* Operations begin and end; the ends have no start. */
static void test_async(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(2000001, TW_ASYNC_BEGIN, f->main, f->cat, .id = 1),
	    EVENT(2000004, TW_ASYNC_INSTANT, f->main, f->fib, .id = 1),
	    EVENT(12000009, TW_ASYNC_END, f->main, f->cat, .id = 1));
	const char *text = finish(f);
	text = expect(text, "\"markers\":{\"name\":[0,1,0],\"startTime\":[2.000001,2.000004,null],"
	                    "\"endTime\":[null,null,12.000009],\"phase\":[2,0,3],"
	                    "\"data\":[{\"type\":\"event\"},{\"type\":\"event\"},{\"type\":\"event\"}],"
	                    "\"category\":[0,0,0],\"length\":3}");
	expect(text, "\"stringArray\":[\"cat\",\"fib\"]");
}

/* The profiler's counter is what has come since the sample before, and its first count is nothing to it. Each has the
 * number of its thread: the worker's is the second. */
static void test_counters(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = f->fib, .type = TW_ARG_UINT, .value.u = 40};
	f->arguments[1] = (struct tw_argument){.name = f->leaf, .type = TW_ARG_DOUBLE, .value.d = 2.5};
	f->arguments[2] =
	    (struct tw_argument){.name = f->cat, .type = TW_ARG_TEXT, .value.bytes = (const uint8_t *)"x"};
	f->arguments[3] = (struct tw_argument){.name = f->fib, .type = TW_ARG_INT, .value.i = -2};
	f->arguments[4] = (struct tw_argument){.name = f->fib, .type = TW_ARG_DOUBLE, .value.d = INFINITY};
	PUT(f, EVENT(1, TW_SLICE_COMPLETE, f->main, f->fib, .value = 2),
	    EVENT(5, TW_COUNTER, f->worker, f->cat, .category = f->leaf, .argument_count = 3),
	    EVENT(7, TW_COUNTER, f->worker, f->cat, .category = f->leaf, .first_argument = 3, .argument_count = 1),
	    EVENT(6, TW_COUNTER, f->main, f->cat, .id = 26, .argument_count = 1),
	    EVENT(9, TW_COUNTER, f->main, f->cat, .id = 26, .first_argument = 4, .argument_count = 1));
	expect_loss(f, "counter", 3, 1);
	const char *text = finish(f);
	text =
	    expect(text,
	           "\"counters\":[{\"name\":\"cat fib\",\"category\":\"Memory\",\"description\":\"leaf\",\"pid\":\"7\","
	           "\"mainThreadIndex\":1,\"samples\":{\"time\":[0.000005,0.000005,0.000007],\"count\":[0,40,-42],"
	           "\"length\":3}},\n");
	text = expect(
	    text,
	    "{\"name\":\"cat leaf\",\"category\":\"Memory\",\"description\":\"leaf\",\"pid\":\"7\","
	    "\"mainThreadIndex\":1,\"samples\":{\"time\":[0.000005,0.000005],\"count\":[0,2.5],\"length\":2}},\n");
	text =
	    expect(text,
	           "{\"name\":\"cat fib 0x1a\",\"category\":\"Memory\",\"description\":\"\",\"pid\":\"7\","
	           "\"mainThreadIndex\":0,\"samples\":{\"time\":[0.000006,0.000006],\"count\":[0,40],\"length\":2}}],"
	           "\"threads\":[");
	text = expect(text, "\"tid\":\"7\"");
	text = expect(text, "\"tid\":\"8\"");
	assert_null(strstr(text, "\"tid\""));
}

static void test_many_counters(void **state)
{
	enum { MOST = 1024, MORE = 5 };
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = f->fib, .type = TW_ARG_UINT, .value.u = 1};
	for (unsigned i = 1; i <= MOST + MORE; i++)
		PUT(f, EVENT(i, TW_COUNTER, f->main, f->cat, .id = i, .argument_count = 1));
	PUT(f, EVENT(MOST + MORE + 1, TW_COUNTER, f->main, f->cat, .id = 1, .argument_count = 1));
	expect_loss(f, "counter", MOST + 1, MORE);
	const char *text = expect(finish(f), "{\"name\":\"cat fib 0x1\",");
	text = expect(text, "\"count\":[0,1,0],\"length\":3}}");
	text = expect(text, "{\"name\":\"cat fib 0x400\",");
	expect(text, "\"count\":[0,1],\"length\":2}}],\"threads\":[");
}

/* A slice of 3 ns every 10 ns: more samples than stay in memory. What is expected is a list of all cells. */
static void test_many_samples(void **state)
{
	enum { SLICES = 30000 };
	struct fixture *f = *state;
	char *columns[3];
	FILE *out[3];
	size_t sizes[3];
	for (size_t i = 0; i < 3; i++)
		out[i] = open_memstream(&columns[i], &sizes[i]);
	for (unsigned i = 0; i < SLICES; i++) {
		PUT(f, EVENT(10 * i, TW_SLICE_COMPLETE, f->main, f->fib, .value = 3));
		fprintf(out[0], "%s0.%06u", i ? "," : "", 10 * i);
		fprintf(out[1], "%s0", i ? "," : "");
		fprintf(out[2], "%s0.000003", i ? "," : "");
		if (i + 1 == SLICES)
			break;
		fprintf(out[0], ",0.%06u", 10 * i + 3);
		fprintf(out[1], ",null");
		fprintf(out[2], ",0.000000");
	}
	const char *text = expect(finish(f), "\"samples\":{\"weightType\":\"tracing-ms\",");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(fclose(out[i]), 0);
		text = strchr(text, '[') + 1;
		assert_true(strlen(text) > sizes[i]);
		assert_memory_equal(text, columns[i], sizes[i]);
		text += sizes[i];
		assert_int_equal(*text, ']');
		free(columns[i]);
	}
	expect(text, "],\"length\":59999}");
}

/* Files and addresses are strings behind the names. */
static void test_samples(void **state)
{
	struct fixture *f = *state;
	uint32_t stack = push_leaf(f, NULL);
	f->arguments[0] = (struct tw_argument){.type = TW_ARG_POINTER, .value.u = 0xab};
	PUT(f, EVENT(0, TW_STACK_SAMPLE, f->worker, 0, .value = 2, .other = stack),
	    EVENT(1, TW_STACK_SAMPLE, f->worker, 0, .value = 1, .argument_count = 1),
	    EVENT(2, TW_ALLOCATION_SAMPLE, f->worker, 0, .value = 64, .id = 2, .other = stack));
	expect_loss(f, "allocation-sample", 1, 0);
	const char *text = finish(f);
	text =
	    expect(text,
	           "\"name\":\"thread 8 (samples)\",\"processName\":\"process 7\",\"isMainThread\":false,\"pid\":\"7\","
	           "\"tid\":\"8 (samples)\"");
	text = expect(text, "\"samples\":{\"weightType\":\"samples\",\"time\":[0.000000,0.000001],\"stack\":[0,1],"
	                    "\"weight\":[2,1],\"length\":2}");
	text = expect(text, "\"line\":[12,null]");
	text = expect(text, "\"funcTable\":{\"name\":[0,2],\"fileName\":[1,null]");
	text = expect(text, "\"stringArray\":[\"leaf\",\"a.c\",\"0xab\"]}");
	expect(text,
	       "\"samples\":{\"weightType\":\"bytes\",\"time\":[0.000002],\"stack\":[0],\"weight\":[64],\"length\":1}");
}

/* Stacks of a track have numbers in the order of its events, whatever they are. */
static void test_samples_between_slices(void **state)
{
	struct fixture *f = *state;
	uint32_t stack = push(f, 0, PLACE(.name = f->leaf));
	PUT(f, EVENT(5, TW_SLICE_BEGIN, f->main, f->fib),
	    EVENT(6, TW_STACK_SAMPLE, f->main, 0, .value = 1, .other = stack),
	    EVENT(7, TW_SLICE_COMPLETE, f->main, f->leaf, .value = 1), EVENT(8, TW_INSTANT, f->main, f->cat));
	PUT(f, EVENT(10, TW_SLICE_END, f->main, f->fib));
	const char *text = expect(finish(f), "\"time\":[0.000005,0.000007,0.000008],\"stack\":[0,2,0],");
	text = expect(text, "\"stackTable\":{\"frame\":[0,1,2],\"prefix\":[null,null,0],");
	text = expect(text, "\"stringArray\":[\"cat\",\"fib\",\"leaf\"]}");
	text = expect(text, "\"tid\":\"7 (samples)\"");
	text = expect(text, "\"stack\":[1],\"weight\":[1],");
	expect(text, "\"stringArray\":[\"fib\",\"leaf\"]}"); /* markers are not of this thread, nor are their names */
}

/* More tracks than have a place of their own while their calls wait, and more calls than wait. */
static void test_many_tracks(void **state)
{
	enum { TRACKS = 150, LEAVES = 100, STEP = 1000 };
	static const uint8_t kinds[] = {TW_SLICE_BEGIN, TW_SLICE_COMPLETE, TW_SLICE_END};
	struct fixture *f = *state;
	uint32_t tracks[TRACKS];
	for (unsigned i = 0; i < TRACKS; i++)
		tracks[i] = track(f, TW_TRACK_THREAD, 9, 100 + i);
	for (unsigned k = 0; k <= LEAVES + 1; k++)
		for (unsigned i = 0; i < TRACKS; i++) {
			unsigned what = k == 0 ? 0 : k <= LEAVES ? 1 : 2;
			PUT(f, EVENT(k * STEP + i, kinds[what], tracks[i], what == 1 ? f->leaf : f->fib,
			             .value = what == 1));
		}
	const char *text = finish(f);
	for (unsigned i = 0; i < TRACKS; i++) {
		char piece[80];
		snprintf(piece, sizeof piece, "\"name\":\"thread %u\"", 100 + i);
		text = expect(text, piece);
		snprintf(piece, sizeof piece, "\"time\":[0.%06u,0.%06u,0.%06u,0.%06u,", i, STEP + i, STEP + i + 1,
		         2 * STEP + i);
		text = expect(text, piece);
		text = expect(text, "\"stack\":[0,1,0,1,0,");
		text = expect(text, "\"length\":201},");
		text = expect(text, "\"stackTable\":{\"frame\":[0,1],\"prefix\":[null,0],");
	}
}

/* Threads behind the last event that have none, as those of an XRay log whose buffers are empty. */
static void test_tracks_without_events(void **state)
{
	enum { TRACKS = 100000 };
	struct fixture *f = *state;
	PUT(f, EVENT(5, TW_SLICE_COMPLETE, f->main, f->fib, .value = 2));
	for (unsigned i = 0; i < TRACKS; i++)
		track(f, TW_TRACK_THREAD, 9, 100 + i);
	const char *text = expect(finish(f), "\"name\":\"thread 7\"");
	assert_null(strstr(text, "\"name\":\"thread"));
}

SUITE(firefox)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_trace_without_events, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_slices_and_markers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_written_anew, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_async, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_counters, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_many_counters, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_many_samples, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_samples, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_samples_between_slices, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_many_tracks, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_tracks_without_events, setup, teardown),
	};
	return cmocka_run_group_tests_name("firefox", tests, NULL, NULL);
}
