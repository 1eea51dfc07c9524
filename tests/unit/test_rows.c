/* test_rows.c - events to CSV and JSON Lines. The texts expected are written by hand from RFC 4180 and RFC 8259. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"
#include "suite.h"

#include <math.h>

static int setup_csv(void **state)
{
	return setup_for(state, "csv");
}

static int setup_jsonl(void **state)
{
	return setup_for(state, "jsonl");
}

#define HEAD "time_ns,kind,process,thread,track,name,category,value,id,other,stack,cpu,flags,args,file,line\n"

static void test_trace_without_events(void **state)
{
	assert_string_equal(finish(*state), HEAD);
}

static void test_csv(void **state)
{
	struct fixture *f = *state;
	tw_dictionary_name_track(f->reader.dictionary, f->worker, f->leaf);
	uint32_t odd = name(f, "a \"b\", c\n\xff"),
		 function = tw_dictionary_intern(f->reader.dictionary, &(struct tw_name){.text = "", .id = 5});
	f->arguments[0] = (struct tw_argument){.name = odd, .type = TW_ARG_UINT, .value.u = 1};
	PUT(f, EVENT(5, TW_SLICE_BEGIN, f->main, f->fib, .category = f->cat),
	    EVENT(6, TW_SLICE_COMPLETE, f->worker, odd, .value = 4, .argument_count = 1),
	    EVENT(7, TW_SLICE_END, f->main, function, .flags = TW_FLAG_TAIL | TW_FLAG_CLIPPED),
	    EVENT(8, TW_COUNTER, f->main, f->fib, .id = UINT64_MAX),
	    EVENT(9, TW_SWITCH, f->main, 0, .value = 3, .other = f->worker, .cpu = 2),
	    EVENT(-1, TW_WAKEUP, f->main, 0));
	expect_no_loss(f);
	assert_string_equal(finish(f), HEAD "5,slice-begin,7,7,,fib,cat,,,,,,,,,\n"
	                                    "6,slice-complete,7,8,leaf,\"a \"\"b\"\", c\n\xef\xbf\xbd\",,4,,,,,,"
	                                    "\"{\"\"a \\\"\"b\\\"\", c\\n\xef\xbf\xbd\"\":1}\",,\n"
	                                    "7,slice-end,7,7,,function 5,,,,,,,tail clipped,,,\n"
	                                    "8,counter,7,7,,fib,,,18446744073709551615,,,,,,,\n"
	                                    "9,switch,7,7,,,,3,,7/8,,2,,,,\n"
	                                    "-1,wakeup,7,7,,,,,,,,0,,,,\n");
}

static void test_jsonl(void **state)
{
	struct fixture *f = *state;
	f->reader.clock.has_cpu = true;
	uint32_t x = name(f, "x");
	const struct tw_argument arguments[] = {
	    {.name = x, .type = TW_ARG_NULL},
	    {.name = x, .type = TW_ARG_BOOL, .value.u = 1},
	    {.name = x, .type = TW_ARG_INT, .value.i = -1},
	    {.name = name(f, "y"), .type = TW_ARG_UINT, .value.u = UINT64_MAX},
	    {.name = name(f, "p"), .type = TW_ARG_POINTER, .value.u = 16},
	    {.name = name(f, "k"), .type = TW_ARG_KOID, .value.u = 5},
	    {.name = name(f, "d"), .type = TW_ARG_DOUBLE, .value.d = 0.5},
	    {.name = name(f, "n"), .type = TW_ARG_DOUBLE, .value.d = NAN},
	    {.name = name(f, "t"), .type = TW_ARG_TEXT, .value.bytes = (const uint8_t *)"a\"", .size = 2},
	    {.name = 0, .type = TW_ARG_BYTES, .value.bytes = (const uint8_t *)"\0\xab", .size = 2},
	};
	memcpy(f->arguments, arguments, sizeof arguments);
	uint32_t stack = push(f, push(f, 0, PLACE(.name = f->fib)), PLACE(.name = f->leaf));
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 10, .cpu = 3, .flags = TW_FLAG_GLOBAL),
	    EVENT(1, TW_ALLOCATION_SAMPLE, f->main, f->cat, .value = UINT64_C(1) << 53, .id = (UINT64_C(1) << 53) + 1,
	          .other = stack));
	expect_no_loss(f);
	assert_string_equal(
	    finish(f),
	    "{\"time_ns\":0,\"kind\":\"instant\",\"process\":7,\"thread\":7,\"name\":\"fib\",\"cpu\":3,\"flags\":\"global\","
	    "\"args\":{\"x\":null,\"x 2\":true,\"x 3\":-1,\"y\":\"18446744073709551615\",\"p\":\"0x10\",\"k\":5,\"d\":0.5,"
	    "\"n\":\"NaN\",\"t\":\"a\\\"\",\"argument\":\"00ab\"}}\n"
	    "{\"time_ns\":1,\"kind\":\"allocation-sample\",\"process\":7,\"thread\":7,\"name\":\"cat\","
	    "\"value\":9007199254740992,\"id\":\"9007199254740993\",\"stack\":\"fib;leaf\",\"cpu\":0}\n");
}

/* The innermost frame's; of one that nothing more is known of the function's. */
static void test_source(void **state)
{
	struct fixture *f = *state;
	struct tw_dictionary *dictionary = f->reader.dictionary;
	struct tw_name placed = {.text = "placed", .length = 6, .file = "p.c", .line = 3};
	uint32_t here = tw_dictionary_add_location(dictionary, &(struct tw_location){.name = f->fib, .address = 1});
	uint32_t il = tw_dictionary_add_location(dictionary, &(struct tw_location){.name = f->fib, .address = 2});
	uint32_t there =
	    tw_dictionary_add_location(dictionary,
	                               &(struct tw_location){.name = tw_dictionary_intern(dictionary, &placed)});
	tw_dictionary_locate(dictionary, here, name(f, "a,b.cs"), 42);
	tw_dictionary_locate(dictionary, il, name(f, "IL_0007"), 0);
	uint32_t outer = tw_dictionary_push(dictionary, 0, there);
	PUT(f, EVENT(0, TW_STACK_SAMPLE, f->main, 0, .other = outer),
	    EVENT(1, TW_CPU_SAMPLE, f->main, 0, .value = 7, .other = tw_dictionary_push(dictionary, outer, here)),
	    EVENT(2, TW_CPU_SAMPLE, f->main, 0, .value = 7, .other = tw_dictionary_push(dictionary, outer, il)));
	expect_no_loss(f);
	assert_string_equal(finish(f), HEAD "0,stack-sample,7,7,,,,0,0,,placed,,,,p.c,3\n"
	                                    "1,cpu-sample,7,7,,,,7,,,placed;fib,,,,\"a,b.cs\",42\n"
	                                    "2,cpu-sample,7,7,,,,7,,,placed;fib,,,,IL_0007,\n");
}

static void test_long_arguments(void **state)
{
	struct fixture *f = *state;
	static uint8_t bytes[1 << 17];
	memset(bytes, 'x', sizeof bytes);
	for (unsigned i = 0; i < 12; i++)
		f->arguments[i] = (struct tw_argument){.type = TW_ARG_TEXT, .value.bytes = bytes, .size = sizeof bytes};
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 12));
	expect_loss(f, "long argument", 8, 0);
	expect_loss(f, "argument", 0, 4);
}

/* A key that looks like a numbered one is a key like any other. */
static void test_keys(void **state)
{
	struct fixture *f = *state;
	const uint32_t names[] = {name(f, "a"), name(f, "a 2"), name(f, "a"), name(f, "a")};
	for (unsigned i = 0; i < 4; i++)
		f->arguments[i] = (struct tw_argument){.name = names[i], .type = TW_ARG_UINT, .value.u = i};
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 4));
	assert_string_equal(finish(f),
	                    "{\"time_ns\":0,\"kind\":\"instant\",\"process\":7,\"thread\":7,\"name\":\"fib\","
	                    "\"args\":{\"a\":0,\"a 2\":1,\"a 3\":2,\"a 4\":3}}\n");
}

/* What becomes better known is told so from then on. */
static void test_written_anew(void **state)
{
	struct fixture *f = *state;
	struct tw_dictionary *dictionary = f->reader.dictionary;
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib));
	tw_dictionary_name_track(dictionary, f->main, f->leaf);
	PUT(f, EVENT(1, TW_INSTANT, f->main, f->fib));
	assert_true(tw_dictionary_rename(dictionary, f->fib, &(struct tw_name){.text = "fibonacci", .length = 9}));
	assert_true(tw_dictionary_rename(dictionary, f->leaf, &(struct tw_name){.text = "tree", .length = 4}));
	PUT(f, EVENT(2, TW_INSTANT, f->main, f->fib));
	uint32_t none = track(f, TW_TRACK_THREAD, 0, 9);
	PUT(f, EVENT(3, TW_INSTANT, none, f->fib));
	tw_dictionary_set_process(dictionary, none, 8);
	PUT(f, EVENT(4, TW_INSTANT, none, f->fib));
	assert_string_equal(finish(f), HEAD "0,instant,7,7,,fib,,,,,,,,,,\n"
	                                    "1,instant,7,7,leaf,fib,,,,,,,,,,\n"
	                                    "2,instant,7,7,tree,fibonacci,,,,,,,,,,\n"
	                                    "3,instant,0,9,,fibonacci,,,,,,,,,,\n"
	                                    "4,instant,8,9,,fibonacci,,,,,,,,,,\n");
}

static void test_keys_written_anew(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = f->fib, .type = TW_ARG_UINT, .value.u = 1};
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->cat, .argument_count = 1));
	assert_true(tw_dictionary_rename(f->reader.dictionary, f->fib, &(struct tw_name){.text = "n", .length = 1}));
	PUT(f, EVENT(1, TW_INSTANT, f->main, f->cat, .argument_count = 1));
	assert_string_equal(finish(f),
	                    "{\"time_ns\":0,\"kind\":\"instant\",\"process\":7,\"thread\":7,\"name\":\"cat\","
	                    "\"args\":{\"fib\":1}}\n"
	                    "{\"time_ns\":1,\"kind\":\"instant\",\"process\":7,\"thread\":7,\"name\":\"cat\","
	                    "\"args\":{\"n\":1}}\n");
}

SUITE(rows)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_trace_without_events, setup_csv, teardown),
	    cmocka_unit_test_setup_teardown(test_csv, setup_csv, teardown),
	    cmocka_unit_test_setup_teardown(test_jsonl, setup_jsonl, teardown),
	    cmocka_unit_test_setup_teardown(test_source, setup_csv, teardown),
	    cmocka_unit_test_setup_teardown(test_long_arguments, setup_jsonl, teardown),
	    cmocka_unit_test_setup_teardown(test_keys, setup_jsonl, teardown),
	    cmocka_unit_test_setup_teardown(test_written_anew, setup_csv, teardown),
	    cmocka_unit_test_setup_teardown(test_keys_written_anew, setup_jsonl, teardown),
	};
	return cmocka_run_group_tests_name("rows", tests, NULL, NULL);
}
