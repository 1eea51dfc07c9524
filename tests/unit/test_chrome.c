/* test_chrome.c - events to Chrome's trace event JSON. The texts expected are written by hand from the "Trace Event
 * Format" document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"
#include "suite.h"

#include <math.h>

#include "export/chrome/chrome.h"

static int setup(void **state)
{
	return setup_for(state, "chrome");
}

#define HEAD HEAD_BEGIN "},\"traceEvents\":[\n"
#define HEAD_BEGIN                                                                                                     \
	"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":\"trackway " TW_VERSION_TEXT "\",\"format\":\"test\","  \
	"\"clock_start_ns\":\"1000\",\"ticks_per_second\":\"1000000000\""
#define TW_VERSION_TEXT "0.1.0"
/* Threads and processes without a name have no metadata. */
#define PROCESS ""
#define MAIN ""
#define WORKER ""
#define TAIL "\n]}\n"
#define UNWOUND "\"args\":{\"unwound\":true}}"
#define ON_MAIN "\"pid\":7,\"tid\":7,"

/* What stands between the head with the main thread's names and the end. */
static void expect(struct fixture *f, const char *events)
{
	static const char with_cpu[] = HEAD_BEGIN ",\"has_cpu\":true},\"traceEvents\":[\n" PROCESS MAIN;
	const char *head = f->reader.clock.has_cpu ? with_cpu : HEAD PROCESS MAIN;
	const char *text = finish(f);
	assert_memory_equal(text, head, strlen(head));
	text += strlen(head);
	size_t length = strlen(text);
	assert_true(length >= strlen(TAIL));
	assert_string_equal(text + length - strlen(TAIL), TAIL);
	f->text[text - f->text + (ptrdiff_t)(length - strlen(TAIL))] = '\0';
	assert_string_equal(text, events);
}

static void test_target(void **state)
{
	(void)state;
	assert_string_equal(tw_writer_format_of("a/trace.json"), "chrome");
	assert_int_equal(tw_writer_order("chrome"), TW_ORDER_TIME);
	assert_true(tw_writer_takes_events("chrome"));
	assert_false(tw_writer_takes_events("tracelog"));
	assert_false(tw_writer_takes_events("no such format"));
}

static void test_trace_without_events(void **state)
{
	assert_string_equal(finish(*state), "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":\"trackway 0.1.0\"},"
	                                    "\"traceEvents\":[\n]}\n");
}

static void test_nested_slices(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib), EVENT(0, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(0, TW_SLICE_END, f->main, f->leaf), EVENT(1, TW_SLICE_BEGIN, f->worker, f->fib),
	    EVENT(12345, TW_SLICE_BEGIN, f->main, f->leaf));
	PUT(f, EVENT(1234567, TW_SLICE_END, f->main, f->leaf), EVENT(1234567, TW_SLICE_END, f->main, f->fib),
	    EVENT(UINT64_C(123456789012345), TW_SLICE_END, f->worker, f->fib));
	assert_string_equal(
	    finish(f), HEAD PROCESS MAIN WORKER
	    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":1234.567,\"name\":\"fib\"},\n"
	    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.000,\"name\":\"leaf\"},\n"
	    "{\"ph\":\"X\",\"pid\":7,\"tid\":8,\"ts\":0.001,\"dur\":123456789012.344,\"name\":\"fib\"},\n"
	    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":12.345,\"dur\":1222.222,\"name\":\"leaf\"}" TAIL);
	expect_no_loss(f);
}

static void test_complete_slice(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(999, TW_SLICE_COMPLETE, f->main, f->fib, .value = 1001, .category = name(f, "io")));
	expect(f, "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.999,\"dur\":1.001,\"name\":\"fib\",\"cat\":\"io\"}");
}

/* What was read from JSON that Trackway wrote. */
static void test_complete_slice_flags(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(0, TW_SLICE_COMPLETE, f->main, f->fib, .value = 9, .flags = TW_FLAG_TAIL),
	    EVENT(1, TW_SLICE_COMPLETE, f->main, f->leaf, .value = 8, .flags = TW_FLAG_UNWOUND));
	expect(
	    f,
	    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.009,\"name\":\"fib\",\"args\":{\"tail\":true}},\n"
	    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"dur\":0.008,\"name\":\"leaf\"," UNWOUND);
}

static void test_unwound(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib), EVENT(10, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(20, TW_SLICE_BEGIN, f->main, name(f, "throws")), EVENT(50, TW_SLICE_END, f->main, f->fib));
	expect(f, "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.050,\"name\":\"fib\"},\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.010,\"dur\":0.040,\"name\":\"leaf\"," UNWOUND ",\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.020,\"dur\":0.030,\"name\":\"throws\"," UNWOUND);
	expect_no_loss(f);
}

static void test_open_slices(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib), EVENT(5, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(6, TW_SLICE_END, f->main, f->leaf));
	expect(f, "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\"},\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.005,\"dur\":0.001,\"name\":\"leaf\"}");
}

static void test_exit_without_entry(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(0, TW_SLICE_END, f->main, f->fib), EVENT(1, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(2, TW_SLICE_END, f->main, f->fib), EVENT(3, TW_SLICE_END, f->worker, f->leaf),
	    EVENT(4, TW_SLICE_END, f->main, f->leaf));
	assert_string_equal(finish(f), HEAD PROCESS MAIN WORKER
	                    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"dur\":0.003,\"name\":\"leaf\"}" TAIL);
	expect_loss(f, "exit without entry", 0, 3);
}

static void test_unnamed_end(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib), EVENT(1, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(2, TW_SLICE_END, f->main, 0), EVENT(3, TW_SLICE_END, f->main, 0));
	expect(f, "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.003,\"name\":\"fib\"},\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"dur\":0.001,\"name\":\"leaf\"}");
}

static void test_end_before_begin(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(9, TW_SLICE_BEGIN, f->main, f->fib), EVENT(3, TW_SLICE_END, f->main, f->fib));
	expect(f, "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.009,\"dur\":0.000,\"name\":\"fib\"}");
	expect_loss(f, "end before begin", 1, 0);
}

static void test_before_the_start(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(UINT64_C(0) - 999, TW_INSTANT, f->main, f->fib));
	expect(f, "{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"ts\":-0.999,\"name\":\"fib\",\"s\":\"t\"}");
}

/* Four slots: fib goes as "B" when the fourth event comes, and leaf, complete, stays an "X". */
static void test_full_ring(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(tw_chrome_ring_new(f->writer->state, 4, CHROME_TEXT_RING), 0);
	f->arguments[0] = (struct tw_argument){.name = name(f, "n"), .type = TW_ARG_UINT, .value.u = 3};
	f->arguments[1] = (struct tw_argument){.name = name(f, "result"), .type = TW_ARG_UINT, .value.u = 2};
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib, .argument_count = 1),
	    EVENT(1, TW_SLICE_BEGIN, f->main, f->leaf), EVENT(2, TW_SLICE_END, f->main, f->leaf),
	    EVENT(3, TW_INSTANT, f->main, f->leaf), EVENT(4, TW_INSTANT, f->main, f->leaf),
	    EVENT(5, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(6, TW_SLICE_END, f->main, f->fib, .first_argument = 1, .argument_count = 1, .flags = TW_FLAG_TAIL));
	expect(f, "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"args\":{\"n\":3}},\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"dur\":0.001,\"name\":\"leaf\"},\n"
	          "{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"ts\":0.003,\"name\":\"leaf\",\"s\":\"t\"},\n"
	          "{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"ts\":0.004,\"name\":\"leaf\",\"s\":\"t\"},\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.005,\"dur\":0.001,\"name\":\"leaf\"," UNWOUND ",\n"
	          "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":0.006,\"name\":\"fib\","
	          "\"args\":{\"end\":{\"result\":2},\"tail\":true}}");
}

static void test_unwound_after_full_ring(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(tw_chrome_ring_new(f->writer->state, 2, CHROME_TEXT_RING), 0);
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib), EVENT(1, TW_SLICE_BEGIN, f->main, f->leaf),
	    EVENT(2, TW_SLICE_BEGIN, f->main, f->leaf), EVENT(3, TW_SLICE_END, f->main, f->fib));
	expect(f, "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\"},\n"
	          "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"name\":\"leaf\"},\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.002,\"dur\":0.001,\"name\":\"leaf\"," UNWOUND ",\n"
	          "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":0.003,\"name\":\"leaf\"," UNWOUND ",\n"
	          "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":0.003,\"name\":\"fib\"}");
}

/* Arguments longer than the ring of text push slices out; none is mixed up. */
static void test_full_text_ring(void **state)
{
	enum { COUNT = 300, SIZE = 60000, LINE = SIZE + 200 };
	struct fixture *f = *state;
	uint8_t *bytes = malloc(SIZE);
	char *expected = calloc(COUNT + 1, LINE);
	size_t used = 0;
	assert_non_null(bytes);
	assert_non_null(expected);
	f->arguments[0] =
	    (struct tw_argument){.name = name(f, "s"), .type = TW_ARG_TEXT, .value.bytes = bytes, .size = SIZE};
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib));
	used += (size_t)sprintf(expected, "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\"},\n");
	for (int i = 0; i < COUNT; i++) {
		bool odd = i % 2;
		memset(bytes, 'a' + i % 26, SIZE);
		PUT(f, EVENT(1, TW_SLICE_BEGIN, f->main, f->leaf, .argument_count = !odd),
		    EVENT(2, TW_SLICE_END, f->main, f->leaf, .argument_count = odd));
		used +=
		    (size_t)sprintf(expected + used,
		                    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"dur\":0.001,\"name\":\"leaf\","
		                    "\"args\":{%s\"s\":\"%.*s\"%s}},\n",
		                    odd ? "\"end\":{" : "", SIZE, (char *)bytes, odd ? "}" : "");
	}
	PUT(f, EVENT(3, TW_SLICE_END, f->main, f->fib));
	sprintf(expected + used, "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":0.003,\"name\":\"fib\"}");
	expect(f, expected);
	free(bytes);
	free(expected);
}

static void add_round(struct fixture *f, uint64_t round, int inside, char **expected)
{
	uint64_t begin = round * (uint64_t)(inside + 2), end = begin + (uint64_t)inside + 1;
	PUT(f, EVENT(begin, TW_SLICE_BEGIN, f->main, f->fib));
	*expected +=
	    sprintf(*expected, "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":%.3f,\"dur\":%.3f,\"name\":\"fib\"},\n",
	            (double)begin / 1000, (double)(end - begin) / 1000);
	for (uint64_t time = begin + 1; time < end; time++) {
		f->arguments[0].value.u = time;
		PUT(f, EVENT(time, TW_INSTANT, f->main, f->leaf, .argument_count = 1));
		*expected += sprintf(*expected,
		                     "{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"ts\":%.3f,\"name\":\"leaf\",\"s\":\"t\","
		                     "\"args\":{\"n\":%llu}},\n",
		                     (double)time / 1000, (unsigned long long)time);
	}
	PUT(f, EVENT(end, TW_SLICE_END, f->main, f->fib));
}

/* The rings grow until that of the events is full, and shrink when fewer wait. */
static void test_rings_grow_and_shrink(void **state)
{
	enum { ROUNDS = 8, INSIDE = 20000, FEW_FROM = 1600, FEW_TO = 2400, FEW = 100, LINE = 120 };
	struct fixture *f = *state;
	const struct chrome *chrome = f->writer->state;
	const size_t lines = ROUNDS * (INSIDE + 1) + (FEW_TO - FEW_FROM) * (FEW + 1);
	char *expected = malloc(lines * LINE), *to = expected;
	size_t most = 0;
	assert_non_null(expected);
	f->arguments[0] = (struct tw_argument){.name = name(f, "n"), .type = TW_ARG_UINT};
	for (unsigned i = 0; i < ROUNDS; i++) {
		add_round(f, i, INSIDE, &to);
		most = chrome->ring.slot_mask + 1 > most ? chrome->ring.slot_mask + 1 : most;
	}
	assert_int_equal(chrome->ring.slot_mask + 1, CHROME_SLOTS); /* it would grow again at once */
	for (unsigned i = FEW_FROM; i < FEW_TO; i++)
		add_round(f, i, FEW, &to);
	to[-2] = '\0';
	assert_int_equal(most, CHROME_SLOTS);
	assert_true(chrome->ring.slot_mask + 1 < CHROME_SLOTS);
	expect(f, expected);
	free(expected);
}

/* A name that is met before the ring has been full stands before all events. */
static void test_names_come_first(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 0; i < CHROME_SLOTS / 2; i++)
		PUT(f, EVENT(i, TW_INSTANT, f->main, f->leaf));
	PUT(f, EVENT(CHROME_SLOTS, TW_INSTANT, f->worker, f->leaf));
	const char *text = finish(f);
	assert_memory_equal(text, HEAD PROCESS MAIN WORKER, strlen(HEAD PROCESS MAIN WORKER));
}

/* The argument of an end pushes the slice itself out. */
static void test_end_pushes_its_slice_out(void **state)
{
	enum { SIZE = 60000, FILL = 69 };
	struct fixture *f = *state;
	uint8_t bytes[SIZE];
	memset(bytes, 'x', SIZE);
	f->arguments[0] =
	    (struct tw_argument){.name = name(f, "s"), .type = TW_ARG_TEXT, .value.bytes = bytes, .size = SIZE};
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib, .argument_count = 1));
	for (int i = 1; i < FILL; i++)
		PUT(f, EVENT(0, TW_INSTANT, f->main, f->leaf, .argument_count = 1));
	PUT(f, EVENT(1, TW_SLICE_END, f->main, f->fib, .argument_count = 1));
	finish(f);
	char *begin =
	    strstr(f->text, "\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"args\":{\"s\":\"xxx");
	char *end =
	    strstr(f->text,
	           "\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"name\":\"fib\",\"args\":{\"end\":{\"s\":\"xxx");
	assert_non_null(begin);
	assert_non_null(end);
	assert_string_equal(strchr(end, 'x') + SIZE, "\"}}}\n]}\n");
}

static void test_names(void **state)
{
	struct fixture *f = *state;
	uint32_t quoted = name(f, "say \"hi\\\"\n\t\x01\x7f");
	uint32_t invalid = name(f, "\xc3\xa9\xff\xc3(\xe2\x82\xac");
	uint32_t zero = tw_dictionary_intern(f->reader.dictionary, &(struct tw_name){.text = "a\0b", .length = 3});
	uint32_t number = tw_dictionary_intern(f->reader.dictionary, &(struct tw_name){.text = "", .id = 12});
	uint32_t located =
	    tw_dictionary_intern(f->reader.dictionary,
	                         &(struct tw_name){.text = "f", .length = 1, .id = 3, .file = "a \"b\".c", .line = 44});
	PUT(f, EVENT(0, TW_INSTANT, f->main, quoted), EVENT(0, TW_INSTANT, f->main, invalid),
	    EVENT(0, TW_INSTANT, f->main, zero), EVENT(0, TW_INSTANT, f->main, number),
	    EVENT(0, TW_SLICE_COMPLETE, f->main, located, .category = located),
	    EVENT(0, TW_SLICE_COMPLETE, f->main, 0));
#define I "{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":"
#define S ",\"s\":\"t\"}"
	expect(
	    f, I
	    "\"say \\\"hi\\\\\\\"\\n\\t\\u0001\\u007f\"" S ",\n" I "\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd(\xe2\x82\xac\"" S
	    ",\n" I "\"a\\u0000b\"" S ",\n" I "\"function 12\"" S ",\n"
	    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.000,\"name\":\"f\",\"loc\":\"a \\\"b\\\".c:44\","
	    "\"cat\":\"f\"},\n"
	    "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.000,\"name\":\"\"}");
#undef I
#undef S
}

/* Where the cache of names is full the output is the same. */
static void test_names_without_cache(void **state)
{
	struct fixture *f = *state;
	struct chrome *chrome = f->writer->state;
	chrome->names.limit = 0;
	assert_int_equal(tw_chrome_ring_new(chrome, 2, CHROME_TEXT_RING), 0);
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib, .category = f->leaf),
	    EVENT(1, TW_SLICE_BEGIN, f->main, f->leaf), EVENT(2, TW_SLICE_END, f->main, f->leaf),
	    EVENT(3, TW_SLICE_END, f->main, f->fib));
	expect(f, "{\"ph\":\"B\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"cat\":\"leaf\"},\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"dur\":0.001,\"name\":\"leaf\"},\n"
	          "{\"ph\":\"E\",\"pid\":7,\"tid\":7,\"ts\":0.003,\"name\":\"fib\"}");
}

static void test_long_texts(void **state)
{
	enum { LONG = 70000 };
	struct fixture *f = *state;
	char *text = malloc(LONG + 1);
	assert_non_null(text);
	memset(text, 'y', LONG);
	text[LONG] = '\0';
	f->arguments[0] =
	    (struct tw_argument){.name = f->leaf, .type = TW_ARG_TEXT, .value.bytes = (uint8_t *)text, .size = LONG};
	PUT(f, EVENT(0, TW_INSTANT, f->main, name(f, text)),
	    EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 1));
	finish(f);
	char *at = strstr(f->text, "\"name\":\"yyy");
	assert_non_null(at);
	assert_memory_equal(strchr(at, 'y') + 32768, "\",\"s\":\"t\"},\n", 12);
	at = strstr(f->text, "\"args\":{\"leaf\":\"yyy");
	assert_non_null(at);
	assert_string_equal(strchr(at, 'y') + 65536, "\"}}\n]}\n");
	expect_loss(f, "long name", 1, 0);
	expect_loss(f, "long argument", 1, 0);
	free(text);
}

static void test_long_name_of_an_object(void **state)
{
	enum { LONG = 1025 };
	struct fixture *f = *state;
	char text[LONG + 1];
	memset(text, 'y', LONG);
	text[LONG] = '\0';
	f->arguments[0] =
	    (struct tw_argument){.name = f->leaf, .type = TW_ARG_KOID, .value.u = 26, .size = name(f, text)};
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 1));
	finish(f);
	char *at = strstr(f->text, "\"args\":{\"leaf\":\"0x1a (yyy");
	assert_non_null(at);
	assert_string_equal(strchr(at, 'y') + 1024, ")\"}}\n]}\n");
	expect_loss(f, "long name", 1, 0);
}

static void test_argument_values(void **state)
{
	static const uint8_t text[] = "ok\xff\"", raw[] = {0x00, 0xab}, printable[] = "hi";
	static const struct {
		struct tw_argument argument;
		const char *json;
	} cases[] = {
	    {{.type = TW_ARG_NULL}, "null"},
	    {{.type = TW_ARG_BOOL, .value.u = 1}, "true"},
	    {{.type = TW_ARG_BOOL}, "false"},
	    {{.type = TW_ARG_UINT, .value.u = 0}, "0"},
	    {{.type = TW_ARG_UINT, .value.u = UINT64_C(9007199254740992)}, "9007199254740992"},
	    {{.type = TW_ARG_UINT, .value.u = UINT64_C(9007199254740993)}, "\"9007199254740993\""},
	    {{.type = TW_ARG_UINT, .value.u = UINT64_MAX}, "\"18446744073709551615\""},
	    {{.type = TW_ARG_INT, .value.i = -5}, "-5"},
	    {{.type = TW_ARG_INT, .value.i = INT64_MIN}, "\"-9223372036854775808\""},
	    {{.type = TW_ARG_POINTER, .value.u = UINT64_MAX}, "\"0xffffffffffffffff\""},
	    {{.type = TW_ARG_KOID, .value.u = 0}, "\"0x0\""},
	    {{.type = TW_ARG_DOUBLE, .value.d = 0.1}, "0.1"},
	    {{.type = TW_ARG_DOUBLE, .value.d = -1e300}, "-1e+300"},
	    {{.type = TW_ARG_DOUBLE, .value.d = 0.30000000000000004}, "0.30000000000000004"},
	    {{.type = TW_ARG_DOUBLE, .value.d = (double)NAN}, "\"NaN\""},
	    {{.type = TW_ARG_DOUBLE, .value.d = (double)-INFINITY}, "\"-Infinity\""},
	    {{.type = TW_ARG_DOUBLE, .value.d = (double)INFINITY}, "\"Infinity\""},
	    {{.type = TW_ARG_TEXT, .value.bytes = text, .size = 4}, "\"ok\xef\xbf\xbd\\\"\""},
	    {{.type = TW_ARG_TEXT}, "\"\""},
	    {{.type = TW_ARG_BYTES, .value.bytes = raw, .size = 2}, "\"00ab\""},
	    {{.type = TW_ARG_BYTES, .value.bytes = printable, .size = 2}, "{\"hex\":\"6869\",\"text\":\"hi\"}"},
	};
	enum { CASES = sizeof cases / sizeof *cases };
	struct fixture *f = *state;
	char expected[CASES * 160] = "";
	for (size_t i = 0; i < CASES; i++) {
		f->arguments[0] = cases[i].argument;
		f->arguments[0].name = name(f, "v");
		PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 1));
		sprintf(expected + strlen(expected),
		        "%s{\"ph\":\"i\",%s\"ts\":0.000,\"name\":\"fib\",\"s\":\"t\",\"args\":{\"v\":%s}}",
		        i ? ",\n" : "", ON_MAIN, cases[i].json);
	}
	expect(f, expected);
	expect_no_loss(f);
}

static void test_argument_names(void **state)
{
	struct fixture *f = *state;
	uint32_t quoted = name(f, "\"a\"");
	for (unsigned i = 0; i < 5; i++)
		f->arguments[i] = (struct tw_argument){.name = i < 3 ? quoted : 0, .type = TW_ARG_UINT, .value.u = i};
	PUT(f, EVENT(0, TW_SLICE_COMPLETE, f->main, f->fib, .argument_count = 5));
	expect(f, "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.000,\"name\":\"fib\",\"args\":{"
	          "\"\\\"a\\\"\":0,\"\\\"a\\\" 2\":1,\"\\\"a\\\" 3\":2,\"argument\":3,\"argument 2\":4}}");
}

/* Keys that are alike only as they are written, and words that are ours. */
static void test_argument_names_alike(void **state)
{
	static const char *const texts[] = {"\xff", "\xfe", "a", "a 2", "end", "unwound"};
	struct fixture *f = *state;
	for (unsigned i = 0; i < 6; i++)
		f->arguments[i] = (struct tw_argument){.name = name(f, texts[i]), .type = TW_ARG_UINT, .value.u = i};
	f->arguments[6] = f->arguments[2];
	PUT(f, EVENT(0, TW_SLICE_COMPLETE, f->main, f->fib, .argument_count = 7));
	expect(f, "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.000,\"name\":\"fib\",\"args\":{"
	          "\"\xef\xbf\xbd\":0,\"\xef\xbf\xbd 2\":1,\"a\":2,\"a 2\":3,\"end 2\":4,\"unwound 2\":5,\"a 3\":2}}");
}

static void test_cpu_is_an_argument(void **state)
{
	struct fixture *f = *state;
	f->reader.clock.has_cpu = true;
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib, .cpu = 2),
	    EVENT(1, TW_SLICE_COMPLETE, f->main, f->leaf, .cpu = 2), EVENT(2, TW_INSTANT, f->main, f->leaf, .cpu = 0),
	    EVENT(3, TW_SLICE_END, f->main, f->fib, .cpu = 1));
	expect(f, "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.003,\"name\":\"fib\","
	          "\"args\":{\"cpu\":2,\"end\":{\"cpu\":1}}},\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"dur\":0.000,\"name\":\"leaf\"},\n"
	          "{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"ts\":0.002,\"name\":\"leaf\",\"s\":\"t\",\"args\":{\"cpu\":0}}");
}

static void test_instants(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib), EVENT(0, TW_INSTANT, f->main, f->fib, .flags = TW_FLAG_PROCESS),
	    EVENT(0, TW_INSTANT, f->main, f->fib, .flags = TW_FLAG_GLOBAL));
	expect(f, "{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"s\":\"t\"},\n"
	          "{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"s\":\"p\"},\n"
	          "{\"ph\":\"i\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"s\":\"g\"}");
}

static void test_flags_are_arguments(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(0, TW_SLICE_BEGIN, f->main, f->fib, .flags = TW_FLAG_CLIPPED),
	    EVENT(1, TW_SLICE_END, f->main, f->fib, .flags = TW_FLAG_TAIL));
	expect(f, "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.001,\"name\":\"fib\","
	          "\"args\":{\"tail\":true,\"clipped\":true}}");
}

static void test_counter(void **state)
{
	static const uint8_t text[] = "no";
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = name(f, "used"), .type = TW_ARG_UINT, .value.u = UINT64_MAX};
	f->arguments[1] = (struct tw_argument){.name = name(f, "delta"), .type = TW_ARG_INT, .value.i = INT64_MIN};
	f->arguments[2] = (struct tw_argument){.name = name(f, "load"), .type = TW_ARG_DOUBLE, .value.d = 0.5};
	f->arguments[3] = (struct tw_argument){.name = f->leaf, .type = TW_ARG_TEXT, .value.bytes = text, .size = 2};
	f->arguments[4] = (struct tw_argument){.name = f->leaf, .type = TW_ARG_DOUBLE, .value.d = (double)NAN};
	f->reader.clock.has_cpu = true;
	PUT(f, EVENT(0, TW_COUNTER, f->main, f->fib, .argument_count = 5, .id = 255),
	    EVENT(0, TW_COUNTER, f->main, f->fib, .argument_count = 1, .first_argument = 2));
	expect(f, "{\"ph\":\"C\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"id\":\"0xff\","
	          "\"args\":{\"used\":18446744073709551615,\"delta\":-9223372036854775808,\"load\":0.5}},\n"
	          "{\"ph\":\"C\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"args\":{\"load\":0.5}}");
	expect_loss(f, "counter value", 0, 2);
}

/* A counter's series have no words of ours among them, and viewers show their names. */
static void test_names_of_series(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = name(f, "head"), .type = TW_ARG_UINT, .value.u = 1};
	f->arguments[1] = (struct tw_argument){.name = name(f, "tail"), .type = TW_ARG_UINT, .value.u = 2};
	f->arguments[2] = (struct tw_argument){.name = name(f, "end"), .type = TW_ARG_UINT, .value.u = 3};
	PUT(f, EVENT(0, TW_COUNTER, f->main, f->fib, .argument_count = 2),
	    EVENT(0, TW_SLICE_COMPLETE, f->main, f->fib, .argument_count = 3));
	expect(f, "{\"ph\":\"C\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\","
	          "\"args\":{\"head\":1,\"tail\":2}},\n"
	          "{\"ph\":\"X\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"dur\":0.000,\"name\":\"fib\","
	          "\"args\":{\"head\":1,\"tail 2\":2,\"end 2\":3}}");
}

static void test_async_and_flow(void **state)
{
	struct fixture *f = *state;
	uint32_t io = name(f, "io");
	PUT(f, EVENT(0, TW_ASYNC_BEGIN, f->main, f->fib, .id = 1), EVENT(0, TW_ASYNC_INSTANT, f->main, f->fib, .id = 1),
	    EVENT(0, TW_ASYNC_END, f->main, f->fib, .id = 1, .category = io),
	    EVENT(1, TW_FLOW_BEGIN, f->main, f->fib, .id = UINT64_MAX),
	    EVENT(1, TW_FLOW_STEP, f->main, f->fib, .id = 2),
	    EVENT(1, TW_FLOW_END, f->main, f->fib, .id = 2, .category = io));
#define ASYNC(phase, rest) "{\"ph\":\"" phase "\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\"," rest "}"
#define FLOW(phase, rest)                                                                                              \
	"{\"ph\":\"" phase "\",\"pid\":7,\"tid\":7,\"ts\":0.001,\"name\":\"fib\"," rest ",\"bp\":\"e\"}"
	static const char expected[] =
	    /* clang-format off */
	    ASYNC("b", "\"cat\":\"async\",\"id2\":{\"local\":\"0x1\"}") ",\n"
	    ASYNC("n", "\"cat\":\"async\",\"id2\":{\"local\":\"0x1\"}") ",\n"
	    ASYNC("e", "\"cat\":\"io\",\"id2\":{\"local\":\"0x1\"}") ",\n"
	    FLOW("s", "\"cat\":\"flow\",\"id\":\"0xffffffffffffffff\"") ",\n"
	    FLOW("t", "\"cat\":\"flow\",\"id\":\"0x2\"") ",\n"
	    FLOW("f", "\"cat\":\"io\",\"id\":\"0x2\"");
	/* clang-format on */
	expect(f, expected);
#undef ASYNC
#undef FLOW
	expect_no_loss(f);
}

/* Kinds that the format has nothing for: an instant with what they hold, and all but logs and gaps are counted. */
static void test_other_kinds(void **state)
{
	static const struct {
		struct tw_event event;
		const char *name, *category, *args;
		bool approximated;
	} cases[] = {
	    {{.kind = TW_LOG, .value = 1}, "log", "log", "\"severity\":1", false},
	    {{.kind = TW_OBJECT, .value = 1, .id = 255}, "object", "object", "\"type\":1,\"koid\":\"0xff\"", true},
	    {{.kind = TW_BLOB, .value = 9, .id = 2, .flags = TW_FLAG_PARTIAL},
	     "blob",
	     "blob",
	     "\"size\":9,\"type\":2,\"partial\":true",
	     true},
	    {{.kind = TW_INSTRUCTIONS, .value = 9, .id = 4096},
	     "instructions",
	     "instructions",
	     "\"count\":9,\"address\":\"0x1000\"",
	     true},
	    {{.kind = TW_LOST, .value = 77}, "lost", "lost", "\"bytes\":77", false},
	    {{.kind = TW_METADATA}, "metadata", "metadata", NULL, true},
	};
	struct fixture *f = *state;
	char expected[sizeof cases / sizeof *cases * 200] = "";
	push(f, push(f, 0, PLACE(.name = f->fib)), PLACE(.name = f->leaf));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tw_event event = cases[i].event;
		event.time = START;
		event.track = f->main;
		put(f, &event, 1);
		sprintf(expected + strlen(expected),
		        "%s{\"ph\":\"i\",%s\"ts\":0.000,\"name\":\"%s\",\"cat\":\"%s\",\"s\":\"t\"%s%s%s}",
		        i ? ",\n" : "", ON_MAIN, cases[i].name, cases[i].category, cases[i].args ? ",\"args\":{" : "",
		        cases[i].args ? cases[i].args : "", cases[i].args ? "}" : "");
	}
	expect(f, expected);
	size_t losses = 0;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (cases[i].approximated && (i == 0 || strcmp(cases[i].name, cases[i - 1].name) != 0)) {
			expect_loss(f, cases[i].name, 1, 0);
			losses++;
		}
	assert_null(tw_writer_loss(f->writer, losses));
}

/* The Trace Event Format, "Sample events" and "Stack frames": each frame once, by the number of its stack. */
static void test_samples(void **state)
{
	struct fixture *f = *state;
	uint32_t fib = push(f, 0, PLACE(.name = f->fib)), leaf = push(f, fib, PLACE(.name = f->leaf));
	PUT(f, EVENT(0, TW_STACK_SAMPLE, f->main, f->leaf, .value = 10, .id = 20, .other = leaf),
	    EVENT(0, TW_CPU_SAMPLE, f->main, 0, .value = 10, .other = fib),
	    EVENT(0, TW_ALLOCATION_SAMPLE, f->main, f->fib, .value = 64, .id = 2, .category = f->leaf));
	const char *text = finish(f);
	static const char expected[] =
	    "{\"ph\":\"P\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"leaf\",\"cat\":\"stack-sample\",\"sf\":2,"
	    "\"args\":{\"weight\":10,\"wall_ns\":20}},\n"
	    "{\"ph\":\"P\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"cpu-sample\",\"cat\":\"cpu-sample\",\"sf\":1,"
	    "\"args\":{\"cpu_ns\":10}},\n"
	    "{\"ph\":\"P\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"cat\":\"allocation-sample\","
	    "\"args\":{\"bytes\":64,\"count\":2}}\n"
	    "],\"stackFrames\":{\n\"1\":{\"name\":\"fib\"},\n\"2\":{\"name\":\"leaf\",\"parent\":1}}}\n";
	assert_true(strlen(text) > strlen(HEAD PROCESS MAIN));
	assert_string_equal(text + strlen(HEAD PROCESS MAIN), expected);
	expect_no_loss(f);
}

/* Of a trace of samples the frames come first: who reads the events knows them already. */
static void test_frames_in_front(void **state)
{
	struct fixture *f = *state;
	f->reader.traits.sampled = true;
	uint32_t fib = push(f, 0, PLACE(.name = f->fib));
	PUT(f, EVENT(0, TW_STACK_SAMPLE, f->main, f->fib, .value = 1, .other = fib));
	const char *text = finish(f);
	static const char expected[] = HEAD_BEGIN
	    ",\"sampled\":true},\"stackFrames\":{\n\"1\":{\"name\":\"fib\"}},\"traceEvents\":[\n" PROCESS MAIN
	    "{\"ph\":\"P\",\"pid\":7,\"tid\":7,\"ts\":0.000,\"name\":\"fib\",\"cat\":\"stack-sample\","
	    "\"sf\":1,\"args\":{\"weight\":1}}" TAIL;
	assert_string_equal(text, expected);
}

/* What stands behind the events, of which there are none. */
static void expect_system(struct fixture *f, const char *events)
{
	static const char head[] = HEAD "],\"systemTraceEvents\":{\"type\":\"fuchsia\",\"events\":[\n",
			  tail[] = "\n]}}\n";
	const char *text = finish(f);
	size_t length = strlen(text);
	assert_memory_equal(text, head, strlen(head));
	assert_true(length > strlen(head) + strlen(tail));
	assert_string_equal(text + length - strlen(tail), tail);
	f->text[length - strlen(tail)] = '\0';
	assert_string_equal(text + strlen(head), events);
	expect_no_loss(f);
}

/* Fuchsia's converter: a legacy switch has processes and priorities, one of today threads and weights alone. Nobody has
 * an event, so nobody has metadata. */
static void test_scheduling(void **state)
{
	struct fixture *f = *state;
	uint32_t idle = track(f, TW_TRACK_THREAD, 0, UINT64_C(4298180312)), server = track(f, TW_TRACK_PROCESS, 7, 0);
	tw_dictionary_name_track(f->reader.dictionary, server, name(f, "sh \"x\""));
	f->arguments[0] = (struct tw_argument){.name = name(f, "outgoing_weight"), .type = TW_ARG_INT, .value.i = 16};
	f->arguments[1] =
	    (struct tw_argument){.name = name(f, "incoming_weight"), .type = TW_ARG_INT, .value.i = INT32_MIN};
	f->arguments[2] = (struct tw_argument){.name = name(f, "outgoing_priority"), .type = TW_ARG_UINT};
	f->arguments[3] =
	    (struct tw_argument){.name = name(f, "incoming_priority"), .type = TW_ARG_UINT, .value.u = 20};
	f->arguments[4] = (struct tw_argument){.name = f->leaf, .type = TW_ARG_UINT, .value.u = 4};
	PUT(f, EVENT(1, TW_SWITCH, f->worker, 0, .value = 3, .other = idle, .cpu = 5, .argument_count = 2),
	    EVENT(2, TW_SWITCH, idle, 0, .other = f->worker, .argument_count = 3, .first_argument = 2),
	    EVENT(3, TW_SWITCH, idle, 0, .value = 9, .other = f->worker));
	expect_system(
	    f, "{\"ph\":\"p\",\"pid\":7,\"name\":\"sh \\\"x\\\"\"},\n"
	       "{\"ph\":\"t\",\"pid\":7,\"tid\":8,\"name\":\"\"},\n"
	       "{\"ph\":\"k\",\"ts\":0.001,\"cpu\":5,\"out\":{\"tid\":8,\"state\":3,\"prio\":16},"
	       "\"in\":{\"tid\":4298180312,\"prio\":-2147483648}},\n"
	       "{\"ph\":\"k\",\"ts\":0.002,\"cpu\":0,\"out\":{\"pid\":0,\"tid\":4298180312,\"state\":0,\"prio\":0},"
	       "\"in\":{\"pid\":7,\"tid\":8,\"prio\":20},\"args\":{\"leaf\":4}},\n"
	       "{\"ph\":\"k\",\"ts\":0.003,\"cpu\":0,\"out\":{\"tid\":4298180312,\"state\":9},"
	       "\"in\":{\"pid\":7,\"tid\":8}}");
}

/* A kernel object that is the name of a process or a thread is no event. */
static void test_naming_objects(void **state)
{
	struct fixture *f = *state;
	uint32_t server = track(f, TW_TRACK_PROCESS, 7, 0);
	tw_dictionary_name_track(f->reader.dictionary, server, f->fib);
	tw_dictionary_name_track(f->reader.dictionary, f->worker, f->leaf);
	f->arguments[0] = (struct tw_argument){.name = name(f, "process"), .type = TW_ARG_KOID, .value.u = 7};
	PUT(f, EVENT(0, TW_OBJECT, server, f->fib, .value = 1, .id = 7),
	    EVENT(0, TW_OBJECT, f->worker, f->leaf, .value = 2, .id = 8, .argument_count = 1));
	assert_string_equal(
	    finish(f),
	    HEAD "{\"ph\":\"M\",\"pid\":7,\"tid\":7,\"name\":\"process_name\",\"args\":{\"name\":\"fib\"}},\n"
		 "{\"ph\":\"M\",\"pid\":7,\"tid\":8,\"name\":\"thread_name\",\"args\":{\"name\":\"leaf\"}}" TAIL);
	expect_no_loss(f);
}

/* FXT's reader has a wake-up's `other` from the koid argument "waker", which is told once. */
static void test_waker_once(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = name(f, "waker"), .type = TW_ARG_KOID, .value.u = 8};
	f->arguments[1] = (struct tw_argument){.name = name(f, "weight"), .type = TW_ARG_INT, .value.i = -4};
	f->arguments[2] = (struct tw_argument){.name = name(f, "waker"), .type = TW_ARG_UINT, .value.u = 3};
	PUT(f, EVENT(0, TW_WAKEUP, f->main, 0, .other = f->worker, .argument_count = 2),
	    EVENT(0, TW_WAKEUP, f->main, 0, .first_argument = 2, .argument_count = 1));
	expect_system(f, "{\"ph\":\"t\",\"pid\":7,\"tid\":7,\"name\":\"\"},\n"
	                 "{\"ph\":\"w\",\"ts\":0.000,\"cpu\":0,\"tid\":7,\"prio\":-4,\"args\":{\"waker\":8}},\n"
	                 "{\"ph\":\"w\",\"ts\":0.000,\"cpu\":0,\"pid\":7,\"tid\":7,\"args\":{\"waker\":3}}");
}

static void test_track_names(void **state)
{
	struct fixture *f = *state;
	uint32_t big = track(f, TW_TRACK_THREAD, UINT64_C(1) << 40, UINT64_MAX);
	uint32_t cpu = track(f, TW_TRACK_CPU, 0, 3), same = track(f, TW_TRACK_THREAD, 0, 3);
	uint32_t process = track(f, TW_TRACK_PROCESS, 9, 0);
	tw_dictionary_name_track(f->reader.dictionary, process, name(f, "sh \"x\""));
	PUT(f, EVENT(0, TW_INSTANT, big, f->fib), EVENT(0, TW_INSTANT, cpu, f->fib), EVENT(0, TW_INSTANT, same, f->fib),
	    EVENT(0, TW_INSTANT, process, f->fib), EVENT(0, TW_INSTANT, 999, f->fib));
#define M(pid, tid, what, name)                                                                                        \
	"{\"ph\":\"M\",\"pid\":" pid ",\"tid\":" tid ",\"name\":\"" what "\",\"args\":{\"name\":\"" name "\"}},\n"
	static const char names[] = HEAD M("4294967294", "4294967294", "process_name", "process 1099511627776")
	    M("4294967294", "4294967292", "thread_name", "thread 18446744073709551615")
		M("0", "4294967291", "thread_name", "CPU 3") M("9", "9", "process_name", "sh \\\"x\\\"")
		    M("9", "4294967289", "thread_name", "sh \\\"x\\\"") M("0", "4294967295", "thread_name", "track 0");
#undef M
	finish(f);
	assert_memory_equal(f->text, names, sizeof names - 1);
	expect_loss(f, "process or thread id", 1, 0);
}

/* What is described behind its first event gets its name at the end, and so does what is named anew. */
static void test_late_names(void **state)
{
	struct fixture *f = *state;
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib));
	tw_dictionary_name_track(f->reader.dictionary, f->main, f->leaf);
	uint32_t process = track(f, TW_TRACK_PROCESS, 7, 0);
	tw_dictionary_name_track(f->reader.dictionary, process, name(f, "shell"));
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib));
	expect(f, "{\"ph\":\"i\"," ON_MAIN "\"ts\":0.000,\"name\":\"fib\",\"s\":\"t\"},\n"
	          "{\"ph\":\"i\"," ON_MAIN "\"ts\":0.000,\"name\":\"fib\",\"s\":\"t\"},\n"
	          "{\"ph\":\"M\"," ON_MAIN "\"name\":\"process_name\",\"args\":{\"name\":\"shell\"}},\n"
	          "{\"ph\":\"M\"," ON_MAIN "\"name\":\"thread_name\",\"args\":{\"name\":\"leaf\"}}");
}

static void test_written_anew(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] = (struct tw_argument){.name = f->leaf, .type = TW_ARG_UINT, .value.u = 1};
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 1));
	assert_true(tw_dictionary_rename(f->reader.dictionary, f->fib, &(struct tw_name){.text = "f", .length = 1}));
	assert_true(tw_dictionary_rename(f->reader.dictionary, f->leaf, &(struct tw_name){.text = "n", .length = 1}));
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 1));
	expect(f, "{\"ph\":\"i\"," ON_MAIN "\"ts\":0.000,\"name\":\"f\",\"s\":\"t\",\"args\":{\"leaf\":1}},\n"
	          "{\"ph\":\"i\"," ON_MAIN "\"ts\":0.000,\"name\":\"f\",\"s\":\"t\",\"args\":{\"n\":1}}");
}

/* A pointer or koid whose object is known is shown with its name. */
static void test_references(void **state)
{
	struct fixture *f = *state;
	f->arguments[0] =
	    (struct tw_argument){.name = f->leaf, .type = TW_ARG_POINTER, .value.u = 16, .size = name(f, "a \"b\"")};
	f->arguments[1] = (struct tw_argument){.name = f->fib, .type = TW_ARG_KOID, .value.u = 17};
	PUT(f, EVENT(0, TW_INSTANT, f->main, f->fib, .argument_count = 2));
	expect(f, "{\"ph\":\"i\"," ON_MAIN "\"ts\":0.000,\"name\":\"fib\",\"s\":\"t\",\"args\":{"
	          "\"leaf\":\"0x10 (a \\\"b\\\")\",\"fib\":\"0x11\"}}");
}

/* More open slices than there is memory for: those are left out, and the ends still go to the right ones. */
static void test_deep(void **state)
{
	enum { DEEP = 100 };
	struct fixture *f = *state;
	f->reader.options.memory_limit = 128 * 16; /* frames of 128 bytes each */
	for (unsigned i = 0; i < DEEP; i++)
		PUT(f, EVENT(i, TW_SLICE_BEGIN, f->main, f->fib));
	for (unsigned i = 0; i < DEEP; i++)
		PUT(f, EVENT(2 * DEEP + i, TW_SLICE_END, f->main, f->fib));
	finish(f);
	expect_loss(f, "slice beyond the memory limit", 0, DEEP - 16);
	char last[120];
	snprintf(last, sizeof last, "{\"ph\":\"X\",%s\"ts\":0.000,\"dur\":0.299,\"name\":\"fib\"},\n", ON_MAIN);
	assert_non_null(strstr(f->text, last));
	snprintf(last, sizeof last, "{\"ph\":\"X\",%s\"ts\":0.015,\"dur\":0.269,\"name\":\"fib\"}\n]}\n", ON_MAIN);
	assert_non_null(strstr(f->text, last));
}

/* Tracks with a call each, one after the other, of which room is for two: what an empty one keeps is taken. */
static void test_many_tracks_in_turn(void **state)
{
	enum { MANY = 50 };
	struct fixture *f = *state;
	f->reader.options.memory_limit = 128 * 16; /* frames of 128 bytes each, 8 of them at a time */
	for (uint32_t i = 0; i < MANY; i++) {
		const uint32_t number = track(f, TW_TRACK_THREAD, 7, 1000 + i);
		PUT(f, EVENT(2 * i, TW_SLICE_BEGIN, number, f->fib), EVENT(2 * i + 1, TW_SLICE_END, number, f->fib));
	}
	finish(f);
	expect_no_loss(f);
}

/* With one call open in each, no more than two have room; those that are left out are counted. */
static void test_many_tracks_at_once(void **state)
{
	enum { MANY = 50 };
	struct fixture *f = *state;
	f->reader.options.memory_limit = 128 * 16;
	for (uint32_t i = 0; i < MANY; i++)
		PUT(f, EVENT(i, TW_SLICE_BEGIN, track(f, TW_TRACK_THREAD, 7, 1000 + i), f->fib));
	finish(f);
	expect_loss(f, "slice beyond the memory limit", 0, MANY - 2);
}

/* Ends that match nothing in a deep stack: each would look at all of it. */
static void test_match_far(void **state)
{
	enum { DEEP = 200000 };
	(void)state;
	struct tw_open_room room = {.limit = 1 << 20};
	struct tw_open_slices open = {0};
	size_t place;
	assert_int_equal(tw_open_match(&open, 1, &place), 0);
	for (uint32_t i = 0; i < DEEP; i++)
		assert_int_equal(tw_open_begin(&open, &room, 1 + i % 1000, i), 0);
	for (uint32_t i = 0; i < DEEP; i++)
		assert_int_equal(tw_open_match(&open, 5000, &place), 0);
	for (uint32_t i = DEEP; i > 100; i--) {
		assert_int_equal(tw_open_match(&open, 1 + (i + 500) % 1000, &place), 1);
		assert_int_equal(place, i >= 500 ? i - 500 : SIZE_MAX);
		assert_int_equal(tw_open_close(&open, &room).slot, i - 1);
		if (i == 1000)
			break;
	}
	tw_open_free(&open);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

SUITE(chrome)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_target),
	    TEST(test_trace_without_events),
	    TEST(test_nested_slices),
	    TEST(test_complete_slice),
	    TEST(test_complete_slice_flags),
	    TEST(test_unwound),
	    TEST(test_open_slices),
	    TEST(test_exit_without_entry),
	    TEST(test_unnamed_end),
	    TEST(test_end_before_begin),
	    TEST(test_before_the_start),
	    TEST(test_full_ring),
	    TEST(test_unwound_after_full_ring),
	    TEST(test_full_text_ring),
	    TEST(test_rings_grow_and_shrink),
	    TEST(test_names_come_first),
	    TEST(test_end_pushes_its_slice_out),
	    TEST(test_names),
	    TEST(test_names_without_cache),
	    TEST(test_long_texts),
	    TEST(test_long_name_of_an_object),
	    TEST(test_argument_values),
	    TEST(test_argument_names),
	    TEST(test_argument_names_alike),
	    TEST(test_cpu_is_an_argument),
	    TEST(test_instants),
	    TEST(test_flags_are_arguments),
	    TEST(test_counter),
	    TEST(test_names_of_series),
	    TEST(test_async_and_flow),
	    TEST(test_other_kinds),
	    TEST(test_samples),
	    TEST(test_frames_in_front),
	    TEST(test_samples),
	    TEST(test_frames_in_front),
	    TEST(test_scheduling),
	    TEST(test_naming_objects),
	    TEST(test_waker_once),
	    TEST(test_track_names),
	    TEST(test_late_names),
	    TEST(test_written_anew),
	    TEST(test_references),
	    TEST(test_deep),
	    TEST(test_many_tracks_in_turn),
	    TEST(test_many_tracks_at_once),
	    cmocka_unit_test(test_match_far),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
