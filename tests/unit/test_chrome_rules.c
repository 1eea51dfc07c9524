/* test_chrome_rules.c - the rules of Chrome's trace event JSON, and its limits. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "chrome_events.h"
#include "suite.h"

#define GOOD "{\"ph\":\"i\",\"ts\":1,\"name\":\"g\"}"
#define READ "1000 instant 0/0 g\n"
#define LOST(n) "1000 lost none0/0  value=" n "\n"
#define MANY10(x) x x x x x x x x x x
#define DEEP "[[[[[[[[[["
#define PEED "]]]]]]]]]]"

/* Rule, record, byte, line, as note() has them. */
static const struct {
	const char *json, *findings, *events;
	bool all; /* found only when all rules are verified */
} broken[] = {
    {"[" GOOD ",\n{\"ph\":\"i\",\"ts\":1,}}\n,\n" GOOD "]", "chrome.malformed 49 49 2\n",
     READ "1000 instant 0/0 \n" LOST("4") READ, false},
    {"[" GOOD ",\n{\"ph\":\"i\",\"ts\":x},\n" GOOD "]", "chrome.malformed 31 46 2\n", READ LOST("19") READ, false},
    {"[" GOOD ",\n{\"ph\":\"i\",\"args\":{\"x\":1 \"y\":2}},\n" GOOD "]", "chrome.malformed 31 55 2\n",
     READ LOST("33") READ, false},
    {"[" GOOD ",\n{\"ph\":\"i\",\"args\":{\"x\" 1}},\n" GOOD "]", "chrome.malformed 31 53 2\n", READ LOST("27") READ,
     false},
    {"[" GOOD ",{\"ph\":\"i,\"ts\":2},\n" GOOD "," GOOD "]", "chrome.malformed 30 40 1\n", READ LOST("18") READ READ,
     false},
    {"[" GOOD ",{\"ph\":\"i\",\"args\":{\"x\":1,\n" GOOD "," GOOD "]", "chrome.malformed 30 55 2\n",
     READ LOST("25") READ READ, false},
    {"[" GOOD ",\"ts\":2},\n" GOOD "]", "chrome.not-an-event 30 30 1\nchrome.malformed 34 34 1\n",
     READ LOST("4") LOST("5") READ, false},
    {"{\"a\":1,2,\"traceEvents\":[" GOOD "]}", "chrome.malformed 7 7 1\n", "1000 lost none0/0  value=17\n" READ, false},
    {"[" GOOD ",{\"ph\":\"i\",\"ts\":2,\"na", "chrome.truncated 30 30 1\n", READ LOST("20"), false},
    {"[" GOOD ",\n{\"ph\":\"i\",\"name\":\"" GOOD, "chrome.malformed 31 51 2\n", READ LOST("18") READ, false},
    {"{\"traceEvents\":[" GOOD, "chrome.unclosed 44 44 1\n", READ, true},
    {"[" GOOD "]\n[" GOOD "]", "chrome.after-end 31 31 2\n", READ READ, false},
    {"[" GOOD "] x", "chrome.after-end 31 31 1\nchrome.malformed 31 31 1\n", READ LOST("1"), false},
    {"{\"traceEvents\":[]}", "chrome.no-events 18 18 1\n", "", false},
    {"[" GOOD ",{\"ph\":\"i\",\"args\":" MANY10(DEEP) DEEP DEEP DEEP "]},\n" GOOD "]", "chrome.malformed 30 30 1\n",
     READ LOST("151") READ, false},
    {"[" GOOD ",12, [\"ph\"],null," GOOD "]",
     "chrome.not-an-event 30 30 1\nchrome.not-an-event 34 34 1\nchrome.not-an-event 41 41 1\n",
     READ LOST("2") LOST("6") LOST("4") READ, false},
    {"[" GOOD ",{\"ts\":2,\"name\":\"x\"},{\"ph\":1,\"ts\":2}]",
     "chrome.phase-missing 30 30 1\nchrome.phase-missing 50 56 1\n",
     READ "2000 metadata none0/0 x\n2000 metadata none0/0  ph:int=1\n", false},
    {"[" GOOD ",{\"ph\":\"?\",\"ts\":2},{\"ph\":\"?\",\"ts\":3}]", "chrome.phase-unknown 30 37 1\n",
     READ "2000 metadata none0/0  ph:text=?\n3000 metadata none0/0  ph:text=?\n", false},
    {"[" GOOD ",{\"ph\":\"i\",\"name\":\"x\"}]", "chrome.time-missing 30 30 1\n", READ "1000 lost none0/0  value=21\n",
     false},
    {"[" GOOD ",{\"ph\":\"i\",\"ts\":\"now\"},{\"ph\":\"X\",\"ts\":1,\"dur\":true}]",
     "chrome.time-wrong 30 46 1\nchrome.time-wrong 52 75 1\n",
     READ "1000 lost none0/0  value=21\n1000 slice-complete 0/0 \n", false},
    {"{\"otherData\":{\"clock_start_ns\":\"5\"},\"traceEvents\":[{\"ph\":\"i\",\"ts\":-1}]}",
     "chrome.time-range 51 66 1\n", "0 instant 0/0 \n", false},
    {"[" GOOD ",\n {\"ph\":\"i\",\"ts\":1e30},\n{\"ph\":\"i\",\"ts\":-1e30}]",
     "chrome.time-range 32 47 2\nchrome.time-range 54 69 3\n", READ LOST("20") LOST("21"), false},
    {"[{\"ph\":\"i\",\"ts\":1,\"args\":{\"a\":1,\"d\":" MANY10(DEEP) DEEP DEEP DEEP "5" MANY10(PEED) PEED PEED PEED
     ",\"z\":2}}]",
     "chrome.nesting 1 25 1\n", "1000 instant 0/0  a:int=1 z:int=2\n", false},
    {"[{\"ph\":\"i\",\"ts\":1,\"args\":{\"o\":{\"d\":{\"e\":" MANY10(DEEP) DEEP DEEP DEEP "5" MANY10(PEED)
         PEED PEED PEED "},\"y\":\"}\"},\"z\":2}}]",
     "chrome.nesting 1 25 1\n", "1000 instant 0/0  o.y:text=} z:int=2\n", false},
    {"[{\"ph\":\"X\",\"ts\":1}]", "chrome.duration-missing 1 1 1\n", "1000 slice-complete 0/0 \n", false},
    {"[{\"ph\":\"X\",\"ts\":1,\"dur\":-2}]", "chrome.duration-negative 1 24 1\n", "1000 slice-complete 0/0 \n", false},
    {"[{\"ph\":\"X\",\"ts\":1,\"dur\":1e30}]", "chrome.time-range 1 24 1\n", "1000 slice-complete 0/0 \n", false},
    {"[{\"ph\":\"C\",\"ts\":1,\"args\":{\"a\":\".5\",\"b\":\"0x5\"}}]", "chrome.counter-value 1 40 1\n",
     "1000 counter process0/0  a:double=0.5 b:text=0x5\n", false},
    {"[{\"ph\":\"b\",\"ts\":1}]", "chrome.id-missing 1 1 1\n", "1000 async-begin 0/0 \n", false},
    {"[{\"ph\":\"i\",\"ts\":1,\"sf\":7},{\"ph\":\"i\",\"ts\":1,\"sf\":8}]", "chrome.member 1 23 1\n",
     "1000 instant 0/0 \n1000 instant 0/0 \n", false},
    {"[{\"sf\":7,\"ph\":\"i\",\"ts\":1,\"esf\":8,\"x\":0}]",
     "chrome.member 1 26 1\nchrome.member 1 34 1\nchrome.member 1 7 1\n", "1000 instant 0/0 \n", false},
    {"{\"powerTraceAsString\":\"\",\"traceEvents\":[" GOOD "]}", "chrome.member 22 22 1\n", READ, false},
    {"[" GOOD " " GOOD "]", "chrome.not-strict 30 30 1\n", READ READ, true},
    {"[" GOOD ",," GOOD "]", "chrome.not-strict 30 30 1\n", READ READ, true},
    {"[" GOOD ",]", "chrome.not-strict 30 30 1\n", READ, true},
    {"[," GOOD "]", "chrome.not-strict 1 1 1\n", READ, true},
    {"[{\"ph\":\"i\",\"ts\":1,\"name\":\"g\",}]", "chrome.not-strict 1 1 1\n", READ, true},
    {"[{\"ph\":\"i\",\"ts\":1,\"args\":{\"n\":[1,]}}]", "chrome.not-strict 1 1 1\n", "1000 instant 0/0  n:text=[1,]\n",
     true},
    {"[{\"ph\":\"i\",\"ts\":1,\"name\":\"\t\"}]", "chrome.not-strict 1 1 1\n", "1000 instant 0/0 \\x09\n", true},
    {"[{\"ph\":\"i\",\"ts\":1,\"args\":{\"n\":NaN}}]", "chrome.not-strict 1 1 1\n", "1000 instant 0/0  n:double=nan\n",
     true},
    {"[{\"ph\":\"i\",\"ts\":1,\"args\":{\"n\":Infinity,\"m\":-Infinity}}]", "chrome.not-strict 1 1 1\n",
     "1000 instant 0/0  n:double=inf m:double=-inf\n", true},
    {"[{\"ph\":\"i\",\"ts\":1,\"name\":\"\\x\"}]", "chrome.not-strict 1 26 1\n", "1000 instant 0/0 \\x\n", true},
    {"[{\"ph\":\"i\",\"ts\":1,\"name\":\"\xff\"}]", "chrome.utf8 1 26 1\n", "1000 instant 0/0 \\xff\n", true},
    /* outside of any event */
    {"{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1}],\"stackFrames\":{\"1\":{\"name\":\"\xff\"}}}", "chrome.utf8 0 0 0\n",
     "1000 instant 0/0 \n", true},
};

static void expect_findings(const char *json, const char *wanted, const char *events, enum tw_checking checking)
{
	struct result *result =
	    read_text(json, strlen(json), &(struct tw_read_options){.order = TW_ORDER_FILE, .checking = checking});
	if (strcmp(result->findings.bytes, wanted) != 0)
		fail_msg("%s\n%s-- instead of --\n%s", json, result->findings.bytes, wanted);
	if (strcmp(result->events.bytes, events) != 0)
		fail_msg("%s\n%s-- instead of --\n%s", json, result->events.bytes, events);
	free(result);
}

static void test_each_rule_broken(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
		if (broken[i].all)
			expect_findings(broken[i].json, broken[i].findings, broken[i].events, TW_CHECK_ALL);
		expect_findings(broken[i].json, broken[i].all ? "" : broken[i].findings, broken[i].events,
		                TW_CHECK_DAMAGE);
	}
}

/* Operations of one name, category and id, of which several are open at once, are told of once for each thread; those
 * of other processes by local ids are others. */
static void test_shared_keys(void **state)
{
#define OF(phase, pid, tid, ts, id)                                                                                    \
	"{\"ph\":\"" phase "\",\"pid\":" #pid ",\"tid\":" #tid ",\"ts\":" #ts ",\"cat\":\"c\",\"name\":\"n\"," id "}"
#define LOCAL "\"id2\":{\"local\":\"0x1\"}"
#define ID "\"id\":\"0x1\""
	static const struct {
		const char *json, *findings;
	} cases[] = {
	    {"[" OF("b", 1, 1, 1, ID) "," OF("e", 1, 1, 2, ID) "," OF("b", 1, 1, 2, ID) "," OF("e", 1, 1, 3, ID) "]",
	     ""},
	    {"[" OF("b", 1, 1, 1, LOCAL) "," OF("b", 2, 1, 2, LOCAL) "]", ""},
	    {"[" OF("b", 1, 1, 1, ID) "," OF("b", 1, 1, 2, ID) "," OF("b", 1, 1, 3, ID) "," OF("b", 2, 2, 4, ID) "]",
	     "chrome.async-shared-key 67 67 1\nchrome.async-shared-key 199 199 1\n"},
	};
#undef OF
#undef LOCAL
#undef ID
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tw_read_options options = {.checking = TW_CHECK_ALL};
		struct result *result = read_text(cases[i].json, strlen(cases[i].json), &options);
		assert_string_equal(result->findings.bytes, cases[i].findings);
		free(result);
	}
}

/* Slices of a thread that overlap by more than the 1 ns of rounding are told of once for each thread, at an end where one
 * of both has a record for its begin; those that nest, in whatever order they stand, and those of several threads are
 * not. */
static void test_overlaps(void **state)
{
#define SLICE(tid, ts, dur) "{\"ph\":\"X\",\"pid\":1,\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur "}"
#define EDGE(ph, name, ts) "{\"ph\":\"" ph "\",\"pid\":1,\"tid\":1,\"name\":\"" name "\",\"ts\":" #ts "}"
	static const struct {
		const char *json, *findings;
	} cases[] = {
	    {"[" SLICE(1, 0, 10.001) "," SLICE(1, 10, 5) "]", ""},
	    {"[" SLICE(1, 0, 10.002) "," SLICE(1, 10, 5) "]", "chrome.slices-overlap 48 48 1\n"},
	    {"[" SLICE(1, 2, 3) "," SLICE(1, 6, 1) "," SLICE(1, 0, 9) "," SLICE(1, 1, 8.001) "]", ""},
	    {"[" SLICE(1, 0, 9) "," SLICE(2, 5, 9) "]", ""},
	    {"[" SLICE(1, 0, 9) "," SLICE(1, 5, 9) "," SLICE(1, 6, 20) "," SLICE(2, 0, 9) "," SLICE(2, 5, 9) "]",
	     "chrome.slices-overlap 43 43 1\nchrome.slices-overlap 170 170 1\n"},
	    {"[" EDGE("B", "a", 0) "," SLICE(1, 50, 100) "," EDGE("E", "a", 100) "]",
	     "chrome.slices-overlap 91 91 1\n"},
	    {"[" SLICE(1, 0, 100) "," EDGE("B", "a", 50) "," SLICE(1, 60, 10) "," EDGE("E", "a", 150) "]",
	     "chrome.slices-overlap 135 135 1\n"},
	    {"[" EDGE("B", "a", 0) "," SLICE(1, 50, 50.001) "," EDGE("E", "a", 100) "," SLICE(1, 100, 5) "]", ""},
	    {"[" EDGE("B", "a", 0) "," EDGE("B", "b", 10) "," SLICE(1, 20, 30) "," EDGE("E", "b", 50) "," SLICE(
		 1, 50, 20) "," EDGE("E", "a", 70) "]",
	     ""},
	    {"[" EDGE("B", "a", 0) "," EDGE("B", "b", 10) "," SLICE(1, 20, 50) "," EDGE("E", "a", 60) "]",
	     "chrome.slices-overlap 136 136 1\n"},
	};
#undef SLICE
#undef EDGE
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct tw_read_options options = {.checking = TW_CHECK_ALL};
		struct result *result = read_text(cases[i].json, strlen(cases[i].json), &options);
		assert_string_equal(result->findings.bytes, cases[i].findings);
		free(result);
	}
}

/* An event of more than a sixteenth of the limit, whole and cut off, among small ones. */
static void test_event_too_large(void **state)
{
	enum { SIZE = 80000 };
	(void)state;
	char *json = malloc(SIZE + 256);
	assert_non_null(json);
	int n = sprintf(json, "[" GOOD ",{\"ph\":\"i\",\"name\":\"");
	memset(json + n, 'x', SIZE);
	strcpy(json + n + SIZE, "\"}," GOOD "]");
	const struct tw_read_options options = {.memory_limit = 1 << 20};
	struct result *result = read_text(json, strlen(json), &options);
	assert_string_equal(result->findings.bytes, "chrome.event-too-large 30 30 1\n");
	assert_string_equal(result->events.bytes, READ "1000 lost none0/0  value=80021\n" READ);
	free(result);
	free(json);
}

static void test_arguments_limit(void **state)
{
	(void)state;
	char json[8192];
	int n = sprintf(json, "[{\"ph\":\"i\",\"ts\":1,\"args\":{\"x\":0");
	for (int i = 1; i < 300; i++)
		n += sprintf(json + n, ",\"x%d\":%d", i, i);
	strcpy(json + n, "}}]");
	struct result *result = read_text(json, strlen(json), NULL);
	assert_string_equal(result->findings.bytes, "chrome.arguments 1 1 1\n");
	assert_non_null(strstr(result->events.bytes, " x254:int=254\n"));
	free(result);
}

/* More names than a third of the limit holds, at about 128 bytes each. */
static void test_name_limit(void **state)
{
	enum { COUNT = 4000, LIMIT = 1 << 20 };
	(void)state;
	char *json = malloc(COUNT * 64);
	assert_non_null(json);
	size_t n = (size_t)sprintf(json, "[");
	for (int i = 0; i < COUNT; i++)
		n += (size_t)sprintf(json + n, "{\"ph\":\"i\",\"ts\":%d,\"name\":\"name %d\"},", i, i);
	n += (size_t)sprintf(json + n, "{\"ph\":\"i\",\"ts\":%d,\"name\":\"name 0\"}]", COUNT);
	struct tw_reader *reader;
	struct tw_batch batch;
	struct text findings = {.used = 0};
	const struct tw_read_options options = {.memory_limit = LIMIT,
	                                        .on_finding = note,
	                                        .finding_context = &findings};
	look_at(json, n);
	assert_int_equal(tw_open_memory(&reader, "test", json, n, &options), 0);
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	const char *last = "", *before = "";
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			before = last;
			last = tw_dictionary_name(dictionary, batch.events[i].name)->text;
		}
	assert_string_equal(before, "(other)");
	assert_string_equal(last, "name 0");
	assert_string_equal(findings.bytes, "chrome.name-limit 0 0 0\n");
	assert_true(tw_dictionary_names(dictionary) < LIMIT / 3 / 128);
	tw_close(reader);
	free(json);
}

/* All times of a text in the order in which they come, and what was found. */
struct times {
	uint64_t *ns;
	size_t count;
	struct text findings;
	uint64_t start_ns;
};

static struct times times_of(const char *json, size_t size, size_t most, size_t memory)
{
	struct times all = {.ns = calloc(most, sizeof *all.ns)};
	struct tw_reader *reader;
	struct tw_batch batch;
	const struct tw_read_options options = {.order = TW_ORDER_TIME,
	                                        .memory_limit = memory,
	                                        .on_finding = note,
	                                        .finding_context = &all.findings};
	assert_non_null(all.ns);
	look_at(json, size);
	assert_int_equal(tw_open_memory(&reader, "test", json, size, &options), 0);
	for (int got; (got = tw_read(reader, &batch)) != 0;) {
		assert_true(got > 0 && all.count + batch.count <= most);
		for (size_t i = 0; i < batch.count; i++)
			all.ns[all.count++] = batch.events[i].time;
	}
	all.start_ns = tw_reader_clock(reader)->start_ns;
	tw_close(reader);
	return all;
}

/* However late an event comes, it stands where its time is, and the trace begins with the first: a limit of 1 MiB
 * leaves a window of 32 KiB. */
static void test_late(void **state)
{
	enum { COUNT = 20000, LATE = 1 + COUNT / 1000 };
	static const size_t limits[] = {0, 1 << 20};
	(void)state;
	char *json = malloc((COUNT + LATE) * 40);
	assert_non_null(json);
	size_t n = (size_t)sprintf(json, "[");
	for (int i = 0; i < COUNT; i++)
		n += (size_t)sprintf(json + n, "{\"ph\":\"i\",\"ts\":%d.5},\n", i + 2);
	for (int i = 0; i < LATE; i++)
		n += (size_t)sprintf(json + n, "{\"ph\":\"i\",\"ts\":%d},\n", 1 + 1000 * i);
	for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
		struct times all = times_of(json, n, COUNT + LATE, limits[k]);
		assert_int_equal(all.count, COUNT + LATE);
		assert_int_equal(all.ns[0], 1000);
		assert_int_equal(all.ns[1], 2500);
		assert_int_equal(all.start_ns, 1000);
		for (size_t i = 1; i < all.count; i++)
			assert_true(all.ns[i - 1] <= all.ns[i]);
		assert_string_equal(all.findings.bytes, "");
		free(all.ns);
	}
	free(json);
}

/* The first look finds the earliest time: also in what is not plain, and where keys and brackets stand in strings and
 * in arguments. */
static void test_first_look(void **state)
{
	static const struct {
		const char *json;
		uint64_t start_ns;
	} cases[] = {
	    {"[{\"ph\":\"X\",\"ts\":9,\"dur\":1},{\"ph\":\"X\",\"ts\":3.0019,\"dur\":1}]", 3001},
	    {"[{\"ph\":\"X\",\"ts\":9,\"dur\":1,\"args\":{\"ts\":1}},{\"ph\":\"i\",\"ts\":\"4\"}]", 4000},
	    {"[{\"name\":\"ts\",\"cat\":\"\\\"ts\\\":1}{\",\"ph\":\"i\",\"ts\" : 9 },{\"ts\":5,\"ph\":\"i\"}]", 5000},
	    {"[{\"ph\":\"M\",\"ts\":0,\"name\":\"x\"},{\"ph\":\"i\",\"ts\":7e0},{\"ph\":\"i\",\"ts\":8}]", 7000},
	    {"[{\"ph\":\"i\",\"ts\":9},{\"\\u0074s\":2,\"ph\":\"i\"},{\"ph\":\"i\",\"ts\":8}]", 2000},
	    {"[{\"ph\":\"i\",\"ts\":9},{\"ph\":\"i\",\"ts\":1,,},{\"ph\":\"i\",\"ts\":8}]", 8000},
	    {"{\"traceEvents\":[{\"ph\":\"i\",\"ts\":9}],\"x\":[{\"ph\":\"i\",\"ts\":1}]}", 9000},
	    {"[{\"ph\":\"i\",\"ts\":9,\"ts\":6},{\"ph\":\"i\",\"ts\":7}]", 6000},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct times all = times_of(cases[i].json, strlen(cases[i].json), 8, 0);
		assert_int_equal(all.start_ns, cases[i].start_ns);
		free(all.ns);
	}
}

/* Cut at every byte: what is whole is read, and the rest is counted. */
static void test_cut_everywhere(void **state)
{
	static const char json[] = "{\"traceEvents\":[" GOOD "," GOOD "," GOOD "],\"a\":[1]}";
	(void)state;
	for (size_t size = 16; size < sizeof json; size++) {
		struct result *result = read_text(json, size, NULL);
		size_t whole = 0, events = 0, lost = 0, from = 16;
		for (size_t at = 16; at + strlen(GOOD) <= size && whole < 3; at += strlen(GOOD) + 1)
			whole++;
		from += whole * (strlen(GOOD) + 1);
		for (const char *line = result->events.bytes; *line; line = strchr(line, '\n') + 1)
			if (strncmp(line, READ, strlen(READ)) == 0)
				events++;
			else if (strstr(line, "lost"))
				lost = strtoul(strstr(line, "value=") + 6, NULL, 10);
		assert_int_equal(events, whole);
		/* After the events a key may be cut: it begins at byte 104, and its colon is byte 107. */
		if (whole == 3)
			assert_int_equal(lost, size > 104 && size <= 107 ? size - 104 : 0);
		else
			assert_int_equal(lost, size > from ? size - from : 0);
		free(result);
	}
}

SUITE(chrome_rules)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_rule_broken),
	    cmocka_unit_test(test_overlaps),
	    cmocka_unit_test(test_shared_keys),
	    cmocka_unit_test(test_event_too_large),
	    cmocka_unit_test(test_arguments_limit),
	    cmocka_unit_test(test_name_limit),
	    cmocka_unit_test(test_late),
	    cmocka_unit_test(test_first_look),
	    cmocka_unit_test(test_cut_everywhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
