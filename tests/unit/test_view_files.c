/* test_view_files.c - views of several files. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "view_scene.h"

/* Microseconds: a call from 0 to 5, and an arrow from 1 to 3. */
#define CALL(name, who)                                                                                                \
	"[{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5,\"args\":{\"who\":\"" who "\"}}," \
	"{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":1,\"ts\":1},"                           \
	"{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":1,\"ts\":3}]"

static const char *const two[] = {CALL("one", "A"), CALL("two", "B")};

/* The second begins 1 ms later: process and thread of each are two tracks, those of the second 2 and 3. */
static const struct example of_two[] = {
    {"/api/slice?track=1&lane=0&depth=0&item=0", 200, "{\"name\":\"one\""},
    {"/api/slice?track=3&lane=0&depth=0&item=0", 200, "{\"name\":\"two\""},
    {"/api/trace", 200,
     "{\"id\":3,\"parent\":2,\"kind\":\"thread\",\"name\":\"thread 1\",\"pid\":\"1\",\"tid\":\"1\",\"file\":1,"},
    {"/api/details?track=1&lane=0&depth=0&item=0", 200, "\"value\":\"A\""},
    {"/api/details?track=3&lane=0&depth=0&item=0", 200, "\"value\":\"B\""},
    {"/api/details?track=3&lane=0&depth=0&item=0", 200,
     "\"flows_in\":[{\"name\":\"f\",\"id\":\"7\",\"from\":{\"track\":3,\"time\":\"1001000\",\"lane\":0,\"depth\":0,\"item\":\"0\"},"
     "\"to\":{\"track\":3,\"time\":\"1003000\",\"lane\":0,\"depth\":0,\"item\":\"0\"}}]"},
    {"/api/flows?from=0&to=1000000", 200,
     "{\"flows\":[{\"name\":\"f\",\"id\":\"7\",\"from\":{\"track\":1,\"time\":\"1000\",\"lane\":0,\"depth\":0,\"item\":\"0\"},"
     "\"to\":{\"track\":1,\"time\":\"3000\",\"lane\":0,\"depth\":0,\"item\":\"0\"}}],\"more\":false}"},
    {"/api/flows?from=1000000&to=2000000", 200,
     "{\"flows\":[{\"name\":\"f\",\"id\":\"7\",\"from\":{\"track\":3,\"time\":\"1001000\",\"lane\":0,\"depth\":0,\"item\":\"0\"},"
     "\"to\":{\"track\":3,\"time\":\"1003000\",\"lane\":0,\"depth\":0,\"item\":\"0\"}}],\"more\":false}"},
    {"/api/flows?from=5000&to=1000000", 200, "{\"flows\":[],\"more\":false}"},
    {"/api/sql?query=select+name,ts+from+slice+order+by+id&from=0&to=1000000", 200, "{\"rows\":[[\"one\",0]],"},
    {"/api/sql?query=select+name,ts+from+slice+order+by+id&from=5000&to=1000001", 200, "{\"rows\":[[\"two\",0]],"},
    {"/api/sql?query=select+name+from+slice+order+by+id&from=4999&to=1000001", 200, "{\"rows\":[[\"one\"],[\"two\"]],"},
    /* Both say process 1: the second has got other numbers in the view. */
    {"/api/stat?tracks=1", 200, "\"functions\":[{\"name\":\"one\",\"count\":\"1\",\"open\":\"0\",\"total\":\"5000\""},
    {"/api/stat?tracks=3", 200, "\"functions\":[{\"name\":\"two\",\"count\":\"1\",\"open\":\"0\",\"total\":\"5000\""},
    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=1", 200, "{\"rows\":[[\"one\"]],"},
    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=3", 200, "{\"rows\":[[\"two\"]],"},
    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=2", 200, "{\"rows\":[[\"two\"]],"},
    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=1,3", 200, "{\"rows\":[[\"one\"],[\"two\"]],"},
    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=1,3&from=5000&to=1000001", 200,
     "{\"rows\":[[\"two\"]],"},
};

static void test_several_files(void **state)
{
	(void)state;
	static const int64_t offsets[] = {0, 1000000};
	struct scene scene;
	show_all(&scene, two, offsets, 2);
	expect_texts(&scene, of_two, sizeof of_two / sizeof *of_two);
	hide(&scene);
	/* What both have at one time and one place is told apart by the file that the process is of. */
	show_all(&scene, two, NULL, 2);
	expect_text(&scene, "/api/slice?track=3&lane=0&depth=0&item=0", 200, "\"file\":1,");
	expect_text(&scene, "/api/details?track=1&lane=0&depth=0&item=0", 200, "\"value\":\"A\"");
	expect_text(&scene, "/api/details?track=3&lane=0&depth=0&item=0", 200, "\"value\":\"B\"");
	hide(&scene);
}

/* The page moves the second by 1 ms: what is asked then is as by an offset of the command. */
static void test_moved(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/trace?starts=0,1000000", 200, "\"end\":\"1005000\""},
	    {"/api/trace?starts=0,1000000", 200, "\"start\":\"1000000\""},
	    {"/api/progress?starts=1000,0", 200, "\"end\":\"6000\""},
	    {"/api/slice?track=3&lane=0&depth=0&item=0&starts=0,1000000", 200,
	     "\"begin\":\"1000000\",\"end\":\"1005000\""},
	    {"/api/slice?track=1&lane=0&depth=0&item=0&starts=1000,0", 200, "\"begin\":\"1000\",\"end\":\"6000\""},
	    {"/api/near?name=two&at=999999&direction=next&starts=0,1000000", 200, "\"begin\":\"1000000\""},
	    {"/api/near?name=two&at=1000000&direction=next&starts=0,1000000", 200, "{\"found\":false}"},
	    {"/api/near?name=two&at=1000001&direction=previous&starts=0,1000000", 200, "\"begin\":\"1000000\""},
	    {"/api/near?name=two&at=1000000&direction=previous&starts=0,1000000", 200, "{\"found\":false}"},
	    {"/api/near?name=two&at=9&direction=next&starts=0,1000000", 200, "\"begin\":\"1000000\""},
	    {"/api/stat?from=4000&to=1001000&starts=0,1000000", 200,
	     "\"name\":\"one\",\"count\":\"1\",\"open\":\"0\",\"total\":\"1000\""},
	    {"/api/stat?from=4000&to=1001000&starts=0,1000000", 200,
	     "\"name\":\"two\",\"count\":\"1\",\"open\":\"0\",\"total\":\"1000\""},
	    {"/api/stat?from=5000&to=1000000&starts=0,1000000", 200, "\"functions\":[]"},
	    {"/api/stat?from=0&to=2000000&tracks=3&starts=0,1000000", 200, "\"functions\":[{\"name\":\"two\""},
	    {"/api/stat?from=0&to=2000000&tracks=1&starts=0,1000000", 200, "\"functions\":[{\"name\":\"one\""},
	    {"/api/flame?from=1000000&to=2000000&starts=0,1000000", 200, "\"name\":\"two\",\"depth\":1,\"count\":1"},
	    {"/api/search?starts=0,1000000&text=two", 200, "\"total\":\"5000\""},
	    {"/api/diff?from=4000&to=1001000&starts=0,1000000", 200, "\"name\":\"one\",\"self\":[\"1000\",\"0\"]"},
	    {"/api/diff?from=4000&to=1001000&starts=0,1000000", 200, "\"name\":\"two\",\"self\":[\"0\",\"1000\"]"},
	    {"/api/trace?starts=0", 400, "starts wants"},
	    {"/api/trace?starts=0,1,2", 400, "starts wants"},
	    {"/api/trace?starts=1,1", 400, "starts wants"},
	    {"/api/trace?starts=0,-1", 400, "starts wants"},
	    {"/api/trace?starts=", 400, "starts wants"},
	    {"/api/trace?starts=0,9223372036854775808", 400, "starts wants"},
	};
	struct scene scene;
	char address[256];
	show_all(&scene, two, NULL, 2);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	for (size_t i = 0; i < sizeof of_two / sizeof *of_two; i++) {
		snprintf(address, sizeof address, "%s%cstarts=0,1000000", of_two[i].address,
		         strchr(of_two[i].address, '?') ? '&' : '?');
		expect_text(&scene, address, of_two[i].status, of_two[i].text);
	}
	hide(&scene);
}

/* An answer of a view; what differs between two runs is 0. */
static void ask_of(const struct scene *scene, const char *address, const char *starts, struct view_answer *answer)
{
	enum { GENERATION = 4, SIZE = 4 };
	char with[256];
	snprintf(with, sizeof with, "%s%s", address, starts);
	ask(scene, with, answer);
	if (answer->status != 200)
		fail_msg("%s: %s", with, answer->body.bytes);
	if (strncmp(address, "/api/window", strlen("/api/window")) == 0)
		memset(answer->body.bytes + GENERATION, 0, SIZE);
	char *elapsed = strstr(answer->body.bytes, "\"elapsed\"");
	if (elapsed)
		answer->body.length = (size_t)(elapsed - answer->body.bytes);
}

static void expect_same(const struct scene *one, const char *address, const char *starts, const struct scene *other,
                        const char *address_there, const char *starts_there)
{
	struct view_answer answer, there;
	ask_of(one, address, starts, &answer);
	ask_of(other, address_there, starts_there, &there);
	if (answer.body.length != there.body.length ||
	    memcmp(answer.body.bytes, there.body.bytes, answer.body.length) != 0)
		fail_msg("%s: %s is %s with %s%s", address, answer.body.bytes, there.body.bytes, address_there,
		         starts_there);
	view_answer_free(&answer);
	view_answer_free(&there);
}

/* --offset of the command, the same of the page, and a window that is moved by hand: one answer. */
static void test_offsets_are_starts(void **state)
{
	(void)state;
#define WINDOW "from=1001000&to=1004000"
	static const char *const addresses[] = {
	    "/api/progress?",
	    "/api/window?width=3&names=0&tracks=0,1,2,3&" WINDOW,
	    "/api/slice?track=1&lane=0&depth=0&item=0",
	    "/api/slice?track=3&lane=0&depth=0&item=0",
	    "/api/near?name=two&at=0&direction=next",
	    "/api/near?name=one&at=2000000&direction=previous",
	    "/api/find?track=3&begin=1000000&name=two",
	    "/api/search?text=o",
	    "/api/stat?" WINDOW,
	    "/api/stat?tracks=1&" WINDOW,
	    "/api/stat?tracks=3&" WINDOW,
	    "/api/stat?tracks=1,3&" WINDOW,
	    "/api/stat?tracks=2&" WINDOW,
	    "/api/flame?" WINDOW,
	    "/api/flame?tracks=1&" WINDOW,
	    "/api/flame?tracks=3&" WINDOW,
	    "/api/diff?" WINDOW,
	    "/api/diff-flame?" WINDOW,
	    "/api/details?track=1&lane=0&depth=0&item=0",
	    "/api/details?track=3&lane=0&depth=0&item=0",
	    "/api/flows?" WINDOW,
	    "/api/sql?query=select+name,ts+from+slice+order+by+id&" WINDOW,
	    "/api/sql?query=select+name,ts+from+slice+order+by+id&tracks=1&" WINDOW,
	    "/api/sql?query=select+name,ts+from+slice+order+by+id&tracks=3&" WINDOW,
	};
#undef WINDOW
	/* Tracks have their numbers in the order of time: what is 1 ms later is track 3. */
	static const struct {
		int64_t offsets[2];
		const char *starts, *later, *by_hand, *name;
	} cases[] = {
	    {{0, 1000000},
	     "&starts=0,1000000",
	     "/api/stat?tracks=3&from=1001000&to=1004000",
	     "/api/stat?tracks=3&from=1000&to=4000",
	     "\"functions\":[{\"name\":\"two\",\"count\":\"1\",\"open\":\"0\",\"total\":\"3000\""},
	    {{0, -1000000},
	     "&starts=1000000,0",
	     "/api/stat?tracks=3&from=1001000&to=1004000",
	     "/api/stat?tracks=1&from=1000&to=4000",
	     "\"functions\":[{\"name\":\"one\",\"count\":\"1\",\"open\":\"0\",\"total\":\"3000\""},
	};
	struct scene moved, plain;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		show_all(&moved, two, cases[i].offsets, 2);
		show_all(&plain, two, NULL, 2);
		for (size_t k = 0; k < sizeof addresses / sizeof *addresses; k++) {
			expect_same(&moved, addresses[k], "", &moved, addresses[k], cases[i].starts);
			if (i == 0)
				expect_same(&moved, addresses[k], "", &plain, addresses[k], cases[i].starts);
		}
		expect_text(&moved, cases[i].later, 200, cases[i].name);
		expect_same(&moved, cases[i].later, "", &plain, cases[i].by_hand, "");
		hide(&moved);
		hide(&plain);
	}
}

/* The second is moved by 1 ms, and has one sample alone, 7 us behind its start. */
static void test_moved_sample(void **state)
{
	(void)state;
	static const char *const files[] = {
	    "[{\"ph\":\"X\",\"name\":\"one\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5}]",
	    "[{\"ph\":\"i\",\"name\":\"start\",\"pid\":1,\"tid\":1,\"ts\":0},"
	    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":7,\"args\":{\"used\":7}}]"};
	struct scene scene;
	show_all(&scene, files, NULL, 2);
	expect_text(&scene, "/api/trace?starts=0,1000000", 200, "\"end\":\"1007000\"");
	hide(&scene);
}

/* A window of both, from 1 us before the second to 9 us after it; a pixel is 1 us. */
static void test_window_of_moved(void **state)
{
	(void)state;
	static const char address[] = "/api/window?from=999000&to=1009000&width=10&names=0&tracks=1,3&starts=0,1000000";
	struct scene scene;
	struct view_answer answer;
	show_all(&scene, two, NULL, 2);
	ask(&scene, address, &answer);
	const uint8_t *at = (const uint8_t *)answer.body.bytes;
	assert_int_equal(tw_load32(at + 24, false), 1); /* the row of the second alone */
	assert_int_equal(tw_load32(at + 40, false), 3);
	assert_true(real_at(at + 56) == 1000);
	assert_true(real_at(at + 64) == 6000);
	view_answer_free(&answer);
	hide(&scene);
}

/* Each on its own clock, whatever the offsets. */
static void test_diff(void **state)
{
	(void)state;
	static const int64_t offsets[] = {0, 1000000};
#define SLICE(name, from, wide)                                                                                        \
	"{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" from ",\"dur\":" wide "}"
	static const char *const traces[] = {
	    "[" SLICE("m", "0", "9") "," SLICE("f", "1", "2") "]",
	    "[" SLICE("m", "0", "9") "," SLICE("f", "1", "6") "," SLICE("g", "9", "1") "]",
	    "a;b 3\na 4\n",
	};
#undef SLICE
	static const struct example examples[] = {
	    {"/api/diff", 200, "{\"weight\":\"calls\",\"functions\":["},
	    {"/api/diff", 200,
	     "{\"name\":\"m\",\"self\":[\"7000\",\"3000\"],\"total\":[\"9000\",\"9000\"],\"count\":[\"1\",\"1\"],"},
	    {"/api/diff", 200,
	     "{\"name\":\"g\",\"self\":[\"0\",\"1000\"],\"total\":[\"0\",\"1000\"],\"count\":[\"0\",\"1\"],"},
	    {"/api/diff?tracks=1", 400, "/api/diff takes no parameter tracks"},
	    {"/api/diff?before=1&after=0", 200, "{\"name\":\"m\",\"self\":[\"3000\",\"7000\"],"},
	    /* The second has begun 3 us before the end. */
	    {"/api/diff?from=8000&to=1003000", 200, "{\"name\":\"m\",\"self\":[\"1000\",\"1000\"],"},
	    {"/api/diff?from=8000&to=1003000", 200, "{\"name\":\"f\",\"self\":[\"0\",\"2000\"],"},
	    {"/api/diff?from=20000&to=900000", 200, "\"functions\":[]}"},
	    {"/api/diff-flame", 200,
	     "{\"name\":\"\",\"depth\":0,\"total\":\"10000\",\"self\":\"0\",\"count\":\"0\",\"before\":\"9000\"}\n"
	     "{\"name\":\"m\",\"depth\":1,\"total\":\"9000\",\"self\":\"3000\",\"count\":\"1\",\"before\":\"9000\"}\n"
	     "{\"name\":\"f\",\"depth\":2,\"total\":\"6000\",\"self\":\"6000\",\"count\":\"1\",\"before\":\"2000\"}\n"
	     "{\"name\":\"g\",\"depth\":1,\"total\":\"1000\",\"self\":\"1000\",\"count\":\"1\",\"before\":\"0\"}\n"},
	    {"/api/diff?before=2", 400, "cannot be compared"},
	    {"/api/diff-flame?before=2", 400, "cannot be compared"},
	    {"/api/diff?before=3", 400, "no two files"},
	    {"/api/diff?after=x", 400, "after wants a number"},
	    {"/api/diff?from=2&to=1", 400, "the window"},
	};
	struct scene scene;
	show_all(&scene, traces, offsets, 2);
	for (size_t i = 0; i < 9; i++)
		expect_text(&scene, examples[i].address, examples[i].status, examples[i].text);
	hide(&scene);
	show_all(&scene, traces, NULL, 3);
	for (size_t i = 9; i < sizeof examples / sizeof *examples; i++)
		expect_text(&scene, examples[i].address, examples[i].status, examples[i].text);
	hide(&scene);
	show(&scene, traces[0]);
	expect_text(&scene, "/api/diff", 400, "no two files");
	hide(&scene);
}

/* The trace's own hints, also those that come behind all events; of several files those of each. */
static void test_sort_index(void **state)
{
	(void)state;
	static const char wishes[] =
	    "[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":5},"
	    "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":1,\"args\":{\"sort_index\":7}},"
	    "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":2,\"args\":{\"sort_index\":-9999999999}},"
	    "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":3,\"args\":{\"sort_index\":4}}]";
	static const char *const places[] = {
	    "\"pid\":\"1\",\"tid\":null,\"file\":0,\"sort\":7,",
	    "\"pid\":\"1\",\"tid\":\"2\",\"file\":0,\"sort\":-2147483648,",
	};
	const char *const traces[] = {wishes, two[0]};
	for (size_t count = 1; count <= 2; count++) {
		struct scene scene;
		show_all(&scene, traces, NULL, count);
		for (size_t i = 0; i < sizeof places / sizeof *places; i++)
			expect_text(&scene, "/api/trace", 200, places[i]);
		if (count == 2)
			expect_text(&scene, "/api/trace", 200, "\"file\":1,\"sort\":0,");
		hide(&scene);
	}
}

/* One name of two categories, in turn: each slice has its own, and the name is sent once. */
static void test_categories(void **state)
{
	(void)state;
#define SLICE(category, time)                                                                                          \
	"{\"ph\":\"X\",\"name\":\"a\",\"cat\":\"" category "\",\"pid\":1,\"tid\":2,\"ts\":" time ",\"dur\":5}"
	static const char turns[] =
	    "[" SLICE("one", "0") "," SLICE("two", "10") "," SLICE("one", "20") "," SLICE("two", "30") "]";
#undef SLICE
	static const char *const categories[] = {"\"category\":\"one\"", "\"category\":\"two\""};
	struct scene scene;
	struct view_answer answer;
	show(&scene, turns);
	for (unsigned i = 0; i < 4; i++) {
		char address[64];
		snprintf(address, sizeof address, "/api/slice?track=1&lane=0&depth=0&item=%u", i);
		expect_text(&scene, address, 200, categories[i % 2]);
	}
	ask(&scene, "/api/window?from=0&to=40000&width=1000&tracks=1&names=0", &answer);
	assert_int_equal(answer.status, 200);
	assert_int_equal(tw_load32((const uint8_t *)answer.body.bytes + 32, false), 1);
	view_answer_free(&answer);
	hide(&scene);
}

/* Without a process it is not known of which file a track is: then it is of none rather than of another one. */
static void test_files_without_processes(void **state)
{
	(void)state;
	static const char event[] = "[{\"ph\":\"X\",\"name\":\"a\",\"tid\":1,\"ts\":0,\"dur\":5}]";
	const char *const same[] = {event, event};
	struct scene scene;
	show_all(&scene, same, NULL, 2);
	expect_text(&scene, "/api/slice?track=0&lane=0&depth=0&item=0", 200, "\"file\":null,");
	expect_text(&scene, "/api/details?track=0&lane=0&depth=0&item=0", 200, "{\"found\":false,\"arguments\":[]");
	expect_text(&scene, "/api/sql?query=select+1&tracks=0", 400, "of which of the files a track is is not known");
	expect_text(&scene, "/api/stat?tracks=0", 200, "\"name\":\"a\",\"count\":\"2\"");
	expect_text(&scene, "/api/stat?tracks=0&starts=0,1", 400, "of which of the files a track is is not known");
	hide(&scene);
}

/* SQL has up to 256. */
static void test_too_many_files(void **state)
{
	(void)state;
	static const char *traces[FILES];
	static struct scene scene;
	for (size_t i = 0; i < FILES; i++)
		traces[i] = two[0];
	show_all(&scene, traces, NULL, FILES);
	for (unsigned i = 0; i < 2; i++)
		expect_text(&scene, "/api/sql?query=select+count(*)+from+slice", 400, "more than 256 files");
	hide(&scene);
}

SUITE(view_files)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_several_files),
	    cmocka_unit_test(test_moved),
	    cmocka_unit_test(test_offsets_are_starts),
	    cmocka_unit_test(test_moved_sample),
	    cmocka_unit_test(test_window_of_moved),
	    cmocka_unit_test(test_diff),
	    cmocka_unit_test(test_sort_index),
	    cmocka_unit_test(test_categories),
	    cmocka_unit_test(test_files_without_processes),
	    cmocka_unit_test(test_too_many_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
