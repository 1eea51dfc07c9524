/* test_view.c - requests, and the answers of a view. doc/view.md says what is expected. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "view/serve/view.h"
#include "view/serve/window.h"

#include <trackway/analysis.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Requests. ---- */

static void test_addresses(void **state)
{
	(void)state;
	static const struct {
		const char *address;
		bool fine;
		const char *path, *value; /* of the parameter a */
	} examples[] = {
	    {"/", true, "/", NULL},
	    {"/x?a=1&b=2", true, "/x", "1"},
	    {"/x?b=2&a=%41%2f+c", true, "/x", "A/ c"},
	    {"/x?a", true, "/x", ""},
	    {"/x?&&a=1&", true, "/x", "1"},
	    {"/%2e%2e/x?a=1", true, "/%2e%2e/x", "1"},
	    {"/x?a=1&a=2", false, NULL, NULL},
	    {"/x?a=%4", false, NULL, NULL},
	    {"/x?a=%zz", false, NULL, NULL},
	    {"/x?a=%00", false, NULL, NULL},
	    {"", false, NULL, NULL},
	    {"http://127.0.0.1/", false, NULL, NULL},
	    {"/?1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&17", false, NULL, NULL},
	};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		struct view_request request = {.method = "GET", .address = examples[i].address};
		assert_int_equal(view_request_parse(&request), examples[i].fine);
		if (examples[i].fine) {
			const char *value = view_request_text(&request, "a");
			assert_string_equal(request.path, examples[i].path);
			assert_int_equal(value != NULL, examples[i].value != NULL);
			if (value && examples[i].value)
				assert_string_equal(value, examples[i].value);
		}
		view_request_free(&request);
	}
}

static void test_numbers(void **state)
{
	(void)state;
	static const struct {
		const char *address;
		bool fine;
		uint64_t value;
	} examples[] = {
	    {"/?a=0", true, 0},     {"/?a=18446744073709551615", true, UINT64_MAX},
	    {"/?a=", false, 0},     {"/?a=18446744073709551616", false, 0},
	    {"/?a=-1", false, 0},   {"/?a=1.5", false, 0},
	    {"/?a=0x10", false, 0}, {"/?a=%201", false, 0},
	    {"/?a=007", true, 7},   {"/?b=1", false, 0},
	};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		struct view_request request = {.method = "GET", .address = examples[i].address};
		uint64_t value = 0;
		assert_true(view_request_parse(&request));
		assert_int_equal(view_request_number(&request, "a", UINT64_MAX, &value), examples[i].fine);
		if (examples[i].fine)
			assert_int_equal(value, examples[i].value);
		view_request_free(&request);
	}
}

#define TOKEN "0123456789abcdef0123456789abcdef"

/* A page elsewhere, a name that leads here, and who does not have the cookie of this port are nobody. */
static void test_who_asks(void **state)
{
	(void)state;
	static const struct {
		const char *host, *origin, *cookie, *site;
		bool ours;
	} examples[] = {
	    {"127.0.0.1:80", NULL, "trackway-80=" TOKEN, NULL, true},
	    {"localhost:9000", "http://localhost:9000", "a=b; trackway-80=" TOKEN "; c=d", "same-origin", true},
	    {"localhost", NULL, "trackway-80=" TOKEN, "none", true},
	    {NULL, NULL, "trackway-80=" TOKEN, NULL, false},
	    {"evil.example", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1.evil.example:80", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"localhost.evil.example", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"localhost:80x", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"localhost:", NULL, "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", "http://evil.example", "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", "null", "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", "https://127.0.0.1:80", "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", "http://127.0.0.1:81", "trackway-80=" TOKEN, NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-80=" TOKEN, "cross-site", false},
	    {"127.0.0.1:80", NULL, "trackway-80=" TOKEN, "same-site", false},
	    {"127.0.0.1:80", NULL, NULL, NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-81=" TOKEN, NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-80=0123456789abcdef0123456789abcdee", NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-80=" TOKEN "0", NULL, false},
	    {"127.0.0.1:80", NULL, "trackway-80=", NULL, false},
	    {"127.0.0.1:80", NULL, "xtrackway-80=" TOKEN, NULL, false},
	};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const struct view_request request = {.host = examples[i].host,
		                                     .origin = examples[i].origin,
		                                     .cookie = examples[i].cookie,
		                                     .fetch_site = examples[i].site};
		assert_int_equal(view_request_is_ours(&request, 80, TOKEN), examples[i].ours);
	}
}

/* ---- Answers. ---- */

enum { FILES = 257 };

struct scene {
	size_t count;
	int files[FILES];
	char names[FILES][64], cookie[128];
	char *paths[FILES];
	struct view *view;
};

static void show_all(struct scene *scene, const char *const *traces, const int64_t *offsets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(traces[i]);
		scene->files[i] = memfd_create("trace", MFD_CLOEXEC);
		assert_int_equal(write(scene->files[i], traces[i], size), size);
		snprintf(scene->names[i], sizeof scene->names[i], "/proc/self/fd/%d", scene->files[i]);
		scene->paths[i] = scene->names[i];
	}
	const struct view_options options = {.paths = scene->paths, .count = count, .offsets = offsets};
	scene->count = count;
	assert_int_equal(view_open(&scene->view, &options), 0);
	view_wait(scene->view);
	snprintf(scene->cookie, sizeof scene->cookie, "trackway-0=%s", scene->view->token);
}

static void show(struct scene *scene, const char *trace)
{
	show_all(scene, &trace, NULL, 1);
}

static void hide(struct scene *scene)
{
	view_close(scene->view);
	for (size_t i = 0; i < scene->count; i++)
		close(scene->files[i]);
}

static void ask(const struct scene *scene, const char *address, struct view_answer *answer)
{
	struct view_request request = {.method = "GET",
	                               .address = address,
	                               .host = "127.0.0.1:1",
	                               .cookie = scene->cookie};
	view_answer(scene->view, &request, answer);
	view_request_free(&request);
}

static void expect_text(const struct scene *scene, const char *address, unsigned status, const char *text)
{
	struct view_answer answer;
	ask(scene, address, &answer);
	assert_non_null(answer.body.bytes);
	if (answer.status != status || !strstr(answer.body.bytes, text))
		fail_msg("%s: %s is not in %s", address, text, answer.body.bytes);
	view_answer_free(&answer);
}

static double real_at(const uint8_t *bytes)
{
	uint64_t bits = tw_load64(bytes, false);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static void expect_reals(const uint8_t *bytes, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_true(real_at(bytes + 8 * i) == values[i]);
}

/* Microseconds: outer 0 to 100, with two short ones inside, and much later another. */
static const char trace[] =
    "[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"</script>\"}},"
    "{\"ph\":\"X\",\"name\":\"outer\",\"cat\":\"c\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":100},"
    "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":2},"
    "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":2,\"ts\":13,\"dur\":3,"
    "\"args\":{\"n\":18446744073709551615,\"text\":\"<b>\",\"yes\":true}},"
    "{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":2,\"ts\":11},"
    "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":2,\"ts\":14},"
    "{\"ph\":\"X\",\"name\":\"outer\",\"pid\":1,\"tid\":2,\"ts\":1000,\"dur\":24},"
    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":5,\"args\":{\"used\":7}},"
    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":6,\"args\":{\"used\":3}},"
    "{\"ph\":\"i\",\"name\":\"tick\",\"pid\":1,\"tid\":2,\"ts\":50}]";

/* A pixel is 32 us: a and b are in one. */
static void test_window(void **state)
{
	(void)state;
	struct scene scene;
	struct view_answer answer;
	show(&scene, trace);
	ask(&scene, "/api/window?from=0&to=1024000&width=32&names=0&tracks=1", &answer);
	assert_int_equal(answer.status, 200);
	const uint8_t *at = (const uint8_t *)answer.body.bytes;
	assert_memory_equal(at, "TWV1", 4);
	assert_int_equal(tw_load64(at + 16, false), 1024000);
	assert_int_equal(tw_load32(at + 24, false), 3);
	at += 40;
	/* Depth 0: two entries of one slice. */
	assert_memory_equal(at, "\x01\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0", 16);
	expect_reals(at + 16, (const double[]){0, 1000000, 100000, 1024000, 100000, 24000, 0, 1}, 8);
	assert_memory_equal(at + 80, "\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0", 16);
	at += 96;
	/* Depth 1: one of two, of which b is longer. */
	assert_memory_equal(at, "\x01\0\0\0\0\0\x01\0\0\0\0\0\x01\0\0\0", 16);
	expect_reals(at + 16, (const double[]){10000, 16000, 5000, 1}, 4);
	assert_memory_equal(at + 48, "\x02\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0", 16);
	at += 64;
	/* A point. */
	assert_memory_equal(at, "\x01\0\0\0\xff\xff\0\0\x02\0\0\0\x01\0\0\0", 16);
	expect_reals(at + 16, (const double[]){50000, 50000, 0, 0}, 4);
	at += 64;
	/* outer, b, tick. */
	assert_memory_equal(at, "\x05\0\0\0\x06\0\0\0\x0a\0\0\0\0\0\0\0outerbtick\0\0\0\0\0\0", 32);
	assert_int_equal(at + 32 - (const uint8_t *)answer.body.bytes, answer.body.length);
	view_answer_free(&answer);
	/* Names are sent once; a slice that is longer than the window is there whole. */
	ask(&scene, "/api/window?from=20000&to=30000&width=100&names=3&tracks=1,77", &answer);
	assert_int_equal(answer.body.length, 40 + 16 + 32 + 16);
	expect_reals((const uint8_t *)answer.body.bytes + 56, (const double[]){-20000, 80000, 100000, 0}, 4);
	view_answer_free(&answer);
	hide(&scene);
}

enum { MANY = 300, MANY_PIXELS = 64, STEP = 7000, PIXEL = 32000 };

struct many_entry {
	double begin, end, busy, item, longest;
	uint32_t count;
};

/* Entries of slices that begin each 7 us and last 0 to 5, in pixels of 32 us, by the words of doc/view.md. */
static size_t many_entries(struct many_entry entries[MANY])
{
	size_t count = 0;
	int before = -1; /* the pixel of the entry before, where another may be in it */
	for (int i = 0; i * STEP < MANY_PIXELS * PIXEL; i++) {
		const int begin = i * STEP, lasts = i * 5 % 6 * 1000, pixel = begin / PIXEL;
		const bool fits = begin + lasts <= (pixel + 1) * PIXEL;
		if (!fits || pixel != before)
			entries[count++] = (struct many_entry){.begin = begin, .item = i, .longest = lasts};
		struct many_entry *entry = &entries[count - 1];
		entry->end = begin + lasts;
		entry->busy += lasts;
		entry->item = lasts > entry->longest ? i : entry->item;
		entry->longest = lasts > entry->longest ? lasts : entry->longest;
		entry->count++;
		before = fits ? pixel : -1;
	}
	return count;
}

/* More than a block of them. */
static void test_window_of_many(void **state)
{
	(void)state;
	struct many_entry entries[MANY];
	struct tw_text text = {0};
	struct scene scene;
	struct view_answer answer;
	for (int i = 0; i < MANY; i++) {
		char line[128];
		int length = snprintf(line, sizeof line,
		                      "%c{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":%d}",
		                      i ? ',' : '[', i * STEP / 1000, i * 5 % 6);
		assert_true(tw_text_add(&text, line, (size_t)length));
	}
	assert_true(tw_text_add(&text, "]", 1));
	show(&scene, text.bytes);
	tw_text_free(&text);
	ask(&scene, "/api/window?from=0&to=2048000&width=64&names=0&tracks=1", &answer);
	const uint8_t *at = (const uint8_t *)answer.body.bytes + 40;
	const size_t count = many_entries(entries);
	assert_int_equal(tw_load32(at + 12, false), count);
	for (size_t i = 0; i < count; i++) {
		const double found[] = {entries[i].begin, entries[i].end, entries[i].busy, entries[i].item};
		for (size_t k = 0; k < 4; k++)
			assert_true(real_at(at + 16 + 8 * (k * count + i)) == found[k]);
		assert_int_equal(tw_load32(at + 16 + 32 * count + 4 * i, false), entries[i].count);
	}
	view_answer_free(&answer);
	hide(&scene);
}

static void test_counter(void **state)
{
	(void)state;
	struct scene scene;
	struct view_answer answer;
	show(&scene, trace);
	expect_text(&scene, "/api/trace", 200, "\"kind\":\"counter\",\"name\":\"memory\"");
	expect_text(&scene, "/api/trace", 200, "\"series\":[\"used\"]");
	ask(&scene, "/api/window?from=0&to=100000&width=10&names=0&tracks=2", &answer);
	assert_int_equal(answer.body.length, 40 + 16 + 32);
	assert_memory_equal(answer.body.bytes + 40, "\x02\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0", 16);
	expect_reals((const uint8_t *)answer.body.bytes + 56, (const double[]){5000, 3, 7, 3}, 4);
	view_answer_free(&answer);
	hide(&scene);
}

static void test_answers(void **state)
{
	(void)state;
	static const struct {
		const char *address;
		unsigned status;
		const char *text;
	} examples[] = {
	    {"/api/progress", 200, "\"state\":\"done\""},
	    {"/api/trace", 200,
	     "\"kind\":\"thread\",\"name\":\"</script>\",\"pid\":\"1\",\"tid\":\"2\",\"file\":0,\"sort\":0,\"lanes\":[2]"},
	    {"/api/slice?track=1&lane=0&depth=1&item=1", 200, "\"name\":\"b\""},
	    {"/api/slice?track=1&lane=0&depth=1&item=1", 200, "\"callers\":[{\"name\":\"outer\""},
	    {"/api/slice?track=1&lane=0&depth=1&item=2", 400, "no slice is there"},
	    {"/api/slice?track=9&lane=0&depth=0&item=0", 400, "no slice is there"},
	    {"/api/slice?track=2&lane=0&depth=0&item=0", 400, "no slice is there"},
	    {"/api/near?name=outer&at=0&direction=next", 200, "\"begin\":\"1000000\""},
	    {"/api/near?name=outer&at=1000000&direction=previous", 200, "\"begin\":\"0\""},
	    {"/api/near?name=outer&at=1000000&direction=next", 200, "{\"found\":false}"},
	    {"/api/near?name=out&at=0&direction=next", 200, "{\"found\":false}"},
	    {"/api/near?track=1&lane=0&depth=1&item=1&direction=previous", 200, "\"name\":\"a\""},
	    {"/api/near?name=outer&at=0&direction=up", 400, "near wants"},
	    {"/api/stat", 200,
	     "{\"name\":\"outer\",\"count\":\"2\",\"open\":\"0\",\"total\":\"124000\",\"self\":\"119000\""},
	    {"/api/stat?from=0&to=12000&tracks=1", 200,
	     "{\"name\":\"a\",\"count\":\"1\",\"open\":\"0\",\"total\":\"2000\""},
	    {"/api/search?text=OUT&limit=5", 200,
	     "{\"names\":[{\"name\":\"outer\",\"count\":\"2\",\"total\":\"124000\"}],\"more\":false}"},
	    {"/api/search?limit=1", 200, "\"more\":true"},
	    {"/api/stat?tracks=2", 400, "none"},
	    {"/api/stat?from=5&to=5", 400, "none"},
	    {"/api/flame", 200, "\"name\":\"outer\",\"depth\":1,\"count\":2"},
	    {"/api/window?from=0&to=1&width=0&names=0&tracks=1", 400, "a window wants"},
	    {"/api/window?from=1&to=1&width=9&names=0&tracks=1", 400, "a window wants"},
	    {"/api/window?from=0&to=1&width=16385&names=0&tracks=1", 400, "a window wants"},
	    {"/api/window?from=0&to=1&width=9&names=0&tracks=1,,2", 400, "a window wants"},
	    {"/api/window?from=0&to=1&width=9&names=0", 400, "a window wants"},
	    {"/api/slice?track=1&lane=0&depth=0&item=0", 200,
	     "\"child_count\":\"2\",\"children\":[{\"name\":\"a\",\"track\":1,\"lane\":0,\"depth\":1,\"item\":\"0\""},
	    {"/api/slice?track=1&lane=0&depth=0&item=1", 200, "\"child_count\":\"0\",\"children\":[]"},
	    {"/api/details?track=1&lane=0&depth=1&item=1", 200,
	     "\"arguments\":[{\"name\":\"n\",\"type\":\"integer\",\"value\":\"18446744073709551615\"},"
	     "{\"name\":\"text\",\"type\":\"text\",\"value\":\"<b>\"},{\"name\":\"yes\",\"type\":\"boolean\",\"value\":\"true\"}]"},
	    {"/api/details?track=1&lane=0&depth=1&item=1", 200,
	     "\"flows_in\":[{\"name\":\"f\",\"id\":\"7\",\"from\":{\"track\":1,\"time\":\"11000\",\"lane\":0,\"depth\":1,\"item\":\"0\"},"
	     "\"to\":{\"track\":1,\"time\":\"14000\",\"lane\":0,\"depth\":1,\"item\":\"1\"}}],\"flows_out\":[],\"more\":false"},
	    {"/api/details?track=1&lane=65535&depth=0&item=0", 200, "{\"found\":true,\"arguments\":[]"},
	    {"/api/details?track=1&lane=0&depth=1&item=2", 400, "no slice is there"},
	    {"/api/flows?from=0&to=11001", 200, "{\"flows\":[{\"name\":\"f\""},
	    {"/api/flows?from=0&to=11000", 200, "{\"flows\":[],\"more\":false}"},
	    {"/api/flows?from=14001&to=20000", 200, "{\"flows\":[],\"more\":false}"},
	    {"/api/flows?from=1&to=1", 400, "flows wants"},
	    {"/api/flows?from=0&to=9&limit=0", 400, "flows wants"},
	    {"/api/question?question=a", 200, "{\"found\":false}"},
	    {"/api/cancel?question=a", 200, "{\"found\":false}"},
	    {"/api/cancel?question=a%20b", 400, "no name"},
	    {"/api/cancel", 400, "missing"},
	    {"/api/stat?question=%3Cb%3E", 400, "up to 64"},
	    {"/api/../api/trace", 404, "nothing"},
	    {"/app.js/", 404, "nothing"},
	    {"/etc/passwd", 404, "nothing"},
	};
	struct scene scene;
	show(&scene, trace);
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		expect_text(&scene, examples[i].address, examples[i].status, examples[i].text);
	hide(&scene);
}

/* doc/sql.md says what the tables have. */
static void test_sql(void **state)
{
	(void)state;
	static const struct {
		const char *query;
		unsigned status;
		const char *text;
	} examples[] = {
	    {"query=select name,dur from slice where depth=1 order by ts", 200,
	     "{\"rows\":[[\"a\",2000],[\"b\",3000]],\"more\":false,\"limit\":1000,\"columns\":[{\"name\":\"name\",\"type\":"
	     "\"text\"},{\"name\":\"dur\",\"type\":\"integer\"}],\"elapsed\":\""},
	    {"query=select 1 n,1.5,null,x'00ff' union all select 'a',2.5,null,null", 200,
	     "{\"rows\":[[1,1.5,null,{\"blob\":\"00ff\"}],[\"a\",2.5,null,null]],\"more\":false"},
	    {"query=select 1 n,1.5,null,x'00ff' union all select 'a',2.5,null,null", 200,
	     "{\"name\":\"n\",\"type\":\"any\"},{\"name\":\"1.5\",\"type\":\"real\"},{\"name\":\"null\",\"type\":\"null\"},"
	     "{\"name\":\"x'00ff'\",\"type\":\"blob\"}"},
	    {"query=select 9007199254740991,9007199254740992,-9007199254740992", 200,
	     "[[9007199254740991,\"9007199254740992\",\"-9007199254740992\"]]"},
	    {"query=select name from slice order by ts&limit=2", 200,
	     "[[\"outer\"],[\"a\"]],\"more\":true,\"limit\":2"},
	    {"query=select name from slice order by ts&limit=4", 200, "\"more\":false"},
	    {"query=select name from slice order by ts&from=11500&to=13000", 200, "{\"rows\":[[\"outer\"],[\"a\"]],"},
	    {"query=select name from slice order by ts&from=12000&to=13000", 200, "{\"rows\":[[\"outer\"]],"},
	    {"query=select count(*) from main.slice&from=12000&to=13000", 200, "{\"rows\":[[4]],"},
	    {"query=select count(*) from slice&tracks=1", 200, "{\"rows\":[[4]],"},
	    {"query=select count(*) from slice&tracks=0", 200, "{\"rows\":[[4]],"},
	    {"query=select count(*) from instant&from=50000&to=50001", 200, "{\"rows\":[[1]],"},
	    {"query=select count(*) from instant&from=50001&to=60000", 200, "{\"rows\":[[0]],"},
	    {"query=select count(*) from slice&tracks=2", 400, "none"},
	    {"query=create temp table t(a); insert into t values (3); select a from t; drop table t", 200,
	     "{\"rows\":[[3]],"},
	    {"query=create perfetto function f(x int) returns int as select $x * 2; select f(4)", 200,
	     "{\"rows\":[[8]],"},
	    {"query=create perfetto macro m(a Expr) returns Expr as $a - 1; select m!(4)", 200, "{\"rows\":[[3]],"},
	    {"query=create perfetto table t as select count(*) as n from slice; select n from t", 200,
	     "{\"rows\":[[4]],"},
	    {"query=include perfetto module slices.with_context; select count(*) from thread_or_process_slice", 200,
	     "{\"rows\":[[4]],"},
	    {"query=create view a as select 1 as ts, 5 as dur, 7 as x; create view b as select 3 as ts, 9 as dur, 8 as y; "
	     "create virtual table s using span_join(a, b); select * from s",
	     200, "{\"rows\":[[3,3,7,8]],"},
	    {"query=select%0A m!()", 400, "{\"error\":\"no such macro: m\",\"line\":2,\"column\":2}"},
	    {"query=include perfetto module nothing", 400,
	     "{\"error\":\"no such module: nothing\",\"line\":1,\"column\":25}"},
	    {"query=select * from slise", 400, "no such table: slise; did you mean slice?"},
	    {"query=select nmae from slice", 400, "no such column: nmae; did you mean name?"},
	    {"query=select time_to_ms(dur) from slice", 400,
	     "no such function: time_to_ms; include perfetto module time.conversion makes it"},
	    {"query=select trace_dru()", 400, "no such function: trace_dru; did you mean trace_dur?"},
	    {"query=include perfetto module time.conversions", 400, "; did you mean time.conversion?"},
	    {"query=--", 200, "{\"rows\":[],\"more\":false,\"limit\":1000,\"columns\":[],"},
	    {"query=select%0Afoo from slice", 400, "{\"error\":\"no such column: foo\",\"line\":2,\"column\":1}"},
	    {"query=attach 'none.db' as x", 400, "not authorized"},
	    {"query=select load_extension('x')", 400, "not authorized"},
	    {"query=pragma journal_mode=off", 400, "not authorized"},
	    {"query=vacuum into 'none.db'", 400, "authorization denied"},
	    {"query=create table t(a)", 400, "not authorized"},
	    {"query=create virtual table temp.t using trackway('none.fxt')", 400, "not authorized"},
	    {"query=select length(zeroblob(67108864))", 200, "{\"rows\":[[67108864]],"},
	    {"query=select length(zeroblob(67108865))", 400, "too big"},
	    {"query=select 1&limit=10001", 400, "sql wants"},
	    {"query=select 1&limit=0", 400, "sql wants"},
	    {"limit=1", 400, "sql wants"},
	};
	struct scene scene;
	show(&scene, trace);
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		char address[512];
		size_t length = (size_t)snprintf(address, sizeof address, "/api/sql?%s", examples[i].query);
		for (size_t at = 0; at < length; at++)
			address[at] = (char)(address[at] == ' ' ? '+' : address[at]);
		expect_text(&scene, address, examples[i].status, examples[i].text);
	}
	hide(&scene);
}

/* ---- Several files. ---- */

/* Microseconds: a call from 0 to 5, and an arrow from 1 to 3. */
#define CALL(name, who)                                                                                                \
	"[{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5,\"args\":{\"who\":\"" who "\"}}," \
	"{\"ph\":\"s\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":1,\"ts\":1},"                           \
	"{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"f\",\"cat\":\"c\",\"id\":7,\"pid\":1,\"tid\":1,\"ts\":3}]"

static const char *const two[] = {CALL("one", "A"), CALL("two", "B")};

/* The second begins 1 ms later: process and thread of each are two tracks, those of the second 2 and 3. */
static void test_several_files(void **state)
{
	(void)state;
	static const int64_t offsets[] = {0, 1000000};
	static const struct {
		const char *address;
		unsigned status;
		const char *text;
	} examples[] = {
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
	    {"/api/sql?query=select+name,ts+from+slice+order+by+id&from=5000&to=1000001", 200,
	     "{\"rows\":[[\"two\",0]],"},
	    {"/api/sql?query=select+name+from+slice+order+by+id&from=4999&to=1000001", 200,
	     "{\"rows\":[[\"one\"],[\"two\"]],"},
	    /* Both say process 1: the second has got other numbers in the view. */
	    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=1", 200, "{\"rows\":[[\"one\"]],"},
	    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=3", 200, "{\"rows\":[[\"two\"]],"},
	    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=2", 200, "{\"rows\":[[\"two\"]],"},
	    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=1,3", 200, "{\"rows\":[[\"one\"],[\"two\"]],"},
	    {"/api/sql?query=select+name+from+slice+order+by+id&tracks=1,3&from=5000&to=1000001", 200,
	     "{\"rows\":[[\"two\"]],"},
	};
	struct scene scene;
	show_all(&scene, two, offsets, 2);
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
		expect_text(&scene, examples[i].address, examples[i].status, examples[i].text);
	hide(&scene);
	/* What both have at one time and one place is told apart by the file that the process is of. */
	show_all(&scene, two, NULL, 2);
	expect_text(&scene, "/api/slice?track=3&lane=0&depth=0&item=0", 200, "\"file\":1,");
	expect_text(&scene, "/api/details?track=1&lane=0&depth=0&item=0", 200, "\"value\":\"A\"");
	expect_text(&scene, "/api/details?track=3&lane=0&depth=0&item=0", 200, "\"value\":\"B\"");
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
	static const struct {
		const char *address;
		unsigned status;
		const char *text;
	} examples[] = {
	    {"/api/diff", 200, "{\"weight\":\"calls\",\"functions\":["},
	    {"/api/diff", 200,
	     "{\"name\":\"m\",\"self\":[\"7000\",\"3000\"],\"total\":[\"9000\",\"9000\"],\"count\":[\"1\",\"1\"],"},
	    {"/api/diff", 200,
	     "{\"name\":\"g\",\"self\":[\"0\",\"1000\"],\"total\":[\"0\",\"1000\"],\"count\":[\"0\",\"1\"],"},
	    {"/api/diff?tracks=1", 200, "{\"name\":\"g\",\"self\":[\"0\",\"1000\"],"},
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
	    {"/api/diff?after=x", 400, "no two files"},
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

/* Without a process it is not known of which file a track is: then it is of none rather than of another one. */
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

/* Each question that reads it again says why it cannot. */
static void test_unreadable(void **state)
{
	(void)state;
	static const char *const questions[] = {"stat",
	                                        "flame",
	                                        "search",
	                                        "flows?from=0&to=9",
	                                        "sql?query=select+1+from+slice",
	                                        "details?track=1&lane=0&depth=0&item=0"};
	struct scene scene;
	struct tw_text page = {0};
	bool whole;
	show(&scene, trace);
	assert_int_equal(ftruncate(scene.files[0], 0), 0);
	for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
		char address[128];
		snprintf(address, sizeof address, "/api/%s", questions[i]);
		expect_text(&scene, address, 400, "{\"error\":\"/proc/self/fd/");
	}
	assert_int_equal(view_export(scene.view, SIZE_MAX, &page, &whole), TW_ERR_SYSTEM);
	assert_non_null(strstr(view_error(scene.view), "the file is empty"));
	tw_text_free(&page);
	hide(&scene);
}

/* Who reads is told what the input knows of it. */
static void test_cut_while_read(void **state)
{
	(void)state;
	enum { EVENTS = 200000, LEFT = 1 << 20 };
	static const char event[] = "{\"ph\":\"i\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1},\n";
	const struct tw_read_options options = {.order = TW_ORDER_TRACK};
	struct tw_reader *reader;
	struct tw_batch batch;
	char path[64];
	int got = 0, file = memfd_create("trace", MFD_CLOEXEC);
	FILE *out = fdopen(file, "w");
	assert_non_null(out);
	fputc('[', out);
	for (size_t i = 0; i < EVENTS; i++)
		fputs(event, out);
	assert_int_equal(fflush(out), 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	assert_int_equal(tw_open(&reader, path, &options), 0);
	assert_int_equal(ftruncate(file, LEFT), 0);
	while ((got = tw_read(reader, &batch)) > 0)
		;
	assert_int_equal(got, TW_ERR_SYSTEM);
	assert_non_null(strstr(tw_reader_error(reader), path));
	assert_non_null(strstr(tw_reader_error(reader), "was cut while it was read: 1048576 bytes are left"));
	tw_close(reader);
	assert_int_equal(fclose(out), 0);
}

/* What comes later than is waited for begins the index anew: it holds all that came before. */
static void test_late(void **state)
{
	(void)state;
	enum { INNER = 200000, LINE = 72 };
	struct scene scene;
	char *text = malloc((INNER + 2) * LINE), *at = text;
	assert_non_null(text);
	at += sprintf(at, "[");
	for (unsigned i = 1; i <= INNER; i++)
		at +=
		    sprintf(at, "{\"ph\":\"X\",\"name\":\"inner\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1},\n", 2 * i);
	sprintf(at, "{\"ph\":\"X\",\"name\":\"outer\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":%u}]", 2 * INNER + 1);
	show(&scene, text);
	expect_text(&scene, "/api/trace", 200, "\"lanes\":[2],\"points\":false,\"slices\":\"200001\"");
	expect_text(&scene, "/api/slice?track=1&lane=0&depth=0&item=0", 200,
	            "\"name\":\"outer\",\"track\":1,\"lane\":0,\"depth\":0,\"item\":\"0\",\"begin\":\"0\","
	            "\"end\":\"400001000\"");
	expect_text(
	    &scene, "/api/slice?track=1&lane=0&depth=1&item=199999", 200,
	    "\"name\":\"inner\",\"track\":1,\"lane\":0,\"depth\":1,\"item\":\"199999\",\"begin\":\"399999000\"");
	/* A block of 64 has 64 bytes, 64 numbers of 10 bits twice and of 8, and 2 of sums. The first pass is given back. */
	assert_in_range(scene.view->index.store.used, INNER / 64 * 288, INNER / 64 * 288 * 5 / 4);
	hide(&scene);
	free(text);
}

/* A pipe in the place of the file is not waited for. */
static void test_pipe_instead(void **state)
{
	(void)state;
	struct scene scene;
	int ends[2];
	show(&scene, trace);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[0], scene.files[0]), scene.files[0]);
	expect_text(&scene, "/api/stat", 400, "what was a file is none any more");
	expect_text(&scene, "/api/sql?query=select+count(*)+from+slice", 400, "no regular file");
	close(ends[0]);
	close(ends[1]);
	hide(&scene);
}

/* ---- Questions. ---- */

static atomic_uint answered;

static void *ask_without_end(void *context)
{
	const struct scene *scene = context;
	expect_text(scene,
	            "/api/sql?question=q-1&query=with+recursive+n(i)+as+(select+1+union+all+select+i%2B1+from+n)"
	            "+select+max(i)+from+n",
	            409, "{\"error\":\"interrupted\"}");
	atomic_fetch_add(&answered, 1);
	return NULL;
}

/* A question without an end is ended; one more that waits for it, too; and the next is answered. */
static void test_cancel(void **state)
{
	(void)state;
	struct scene scene;
	pthread_t first, second;
	show(&scene, trace);
	assert_int_equal(pthread_create(&first, NULL, ask_without_end, &scene), 0);
	assert_int_equal(pthread_create(&second, NULL, ask_without_end, &scene), 0);
	struct view_question_state about;
	while (!view_question_find(&scene.view->questions, "q-1", &about))
		sched_yield();
	assert_string_equal(about.asked, "sql");
	while (atomic_load(&answered) < 2) {
		struct view_answer answer;
		ask(&scene, "/api/cancel?question=q-1", &answer);
		assert_int_equal(answer.status, 200);
		view_answer_free(&answer);
		sched_yield();
	}
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	expect_text(&scene, "/api/sql?question=q-1&query=select+1", 200, "[[1]]");
	hide(&scene);
}

/* Reading ends where it is told to, be it by events or by calls. */
static void test_stop(void **state)
{
	(void)state;
	static const char *const files[] = {"/fxt/oneshot_all.fxt", "/xray/v5.xray", "/chrome/phases.json"};
	volatile int stop = 0;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		for (unsigned jobs = 1; jobs < 3; jobs++) {
			char path[512];
			struct tw_reader *reader;
			struct tw_batch batch;
			struct tw_profile *profile;
			const struct tw_read_options options = {.stop = &stop, .jobs = jobs};
			const struct tw_profile_options profiled = {.jobs = jobs};
			snprintf(path, sizeof path, "%s%s", getenv("TW_TEST_DATA"), files[i]);
			stop = 0;
			assert_int_equal(tw_open(&reader, path, &options), 0);
			assert_true(tw_read(reader, &batch) > 0);
			stop = 1;
			assert_int_equal(tw_read(reader, &batch), TW_ERR_LIMIT);
			assert_non_null(strstr(tw_reader_error(reader), "interrupted"));
			tw_close(reader);
			assert_int_equal(tw_open(&reader, path, &options), 0);
			assert_int_equal(tw_profile_new(&profile, &profiled), 0);
			assert_int_equal(tw_profile_add(profile, reader), TW_ERR_LIMIT);
			tw_profile_free(profile);
			tw_close(reader);
		}
}

/* Those of a name are ended together; SQL leaves places to others. */
static void test_places(void **state)
{
	(void)state;
	struct view_questions questions = {.wake = -1};
	struct view_question *asked[VIEW_QUESTIONS];
	view_questions_init(&questions);
	for (size_t i = 0; i < VIEW_QUESTIONS_OF_SQL; i++) {
		asked[i] = view_question_begin(&questions, "sql", "a", -1, VIEW_QUESTIONS_OF_SQL);
		assert_non_null(asked[i]);
	}
	assert_null(view_question_begin(&questions, "sql", "a", -1, VIEW_QUESTIONS_OF_SQL));
	for (size_t i = VIEW_QUESTIONS_OF_SQL; i < VIEW_QUESTIONS; i++) {
		asked[i] = view_question_begin(&questions, "stat", "b", -1, VIEW_QUESTIONS);
		assert_non_null(asked[i]);
	}
	assert_true(view_question_cancel(&questions, "a"));
	for (size_t i = 0; i < VIEW_QUESTIONS; i++)
		assert_int_equal(view_question_stops(asked[i]), i < VIEW_QUESTIONS_OF_SQL);
	for (size_t i = 0; i < VIEW_QUESTIONS; i++)
		view_question_end(&questions, asked[i]);
	view_questions_free(&questions);
}

/* A name is kept up to 4096 bytes, and an address is read up to 64 KiB. */
static void test_limits(void **state)
{
	(void)state;
	static char name[5000], trace_of[6000], address[VIEW_ADDRESS_MOST + 2];
	struct scene scene;
	memset(name, 'n', sizeof name - 1);
	snprintf(trace_of, sizeof trace_of, "[{\"ph\":\"X\",\"name\":\"%s\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":5}]",
	         name);
	show(&scene, trace_of);
	snprintf(address, sizeof address, "/api/near?at=9&direction=previous&name=%s", name);
	expect_text(&scene, address, 200, "{\"found\":true");
	memset(address, 'n', sizeof address - 1);
	address[0] = '/';
	expect_text(&scene, address, 400, "the address is too long");
	expect_text(&scene, "/api/search?limit=1000", 200, "\"more\":false");
	expect_text(&scene, "/api/search?limit=-1", 400, "a limit up to 1000");
	expect_text(&scene, "/api/search?limit=1001", 400, "a limit up to 1000");
	hide(&scene);
}

static unsigned status_of(const struct scene *scene, const struct view_request *asked, bool *enters)
{
	struct view_request request = *asked;
	struct view_answer answer;
	view_answer(scene->view, &request, &answer);
	unsigned status = answer.status;
	*enters = answer.enters;
	view_request_free(&request);
	view_answer_free(&answer);
	return status;
}

/* The token opens the page again and again, the ticket once. */
static void test_entering(void **state)
{
	(void)state;
	struct scene scene;
	char token[64], ticket[64];
	bool enters;
	show(&scene, trace);
	snprintf(token, sizeof token, "/?token=%s", scene.view->token);
	snprintf(ticket, sizeof ticket, "/?token=%s", scene.view->ticket);
	const struct view_request by_token = {.method = "GET", .address = token, .host = "127.0.0.1:1"},
				  by_ticket = {.method = "GET", .address = ticket, .host = "127.0.0.1:1"},
				  elsewhere = {.method = "GET", .address = token, .host = "evil.example"},
				  bare = {.method = "GET", .address = "/", .host = "127.0.0.1:1"},
				  post = {.method = "POST",
	                                  .address = "/api/trace",
	                                  .host = "127.0.0.1:1",
	                                  .cookie = scene.cookie};
	assert_int_equal(status_of(&scene, &by_token, &enters), 303);
	assert_true(enters);
	assert_int_equal(status_of(&scene, &by_token, &enters), 303);
	assert_int_equal(status_of(&scene, &by_ticket, &enters), 303);
	assert_int_equal(status_of(&scene, &by_ticket, &enters), 403);
	assert_false(enters);
	assert_int_equal(status_of(&scene, &elsewhere, &enters), 403);
	assert_int_equal(status_of(&scene, &bare, &enters), 403);
	assert_int_equal(status_of(&scene, &post, &enters), 405);
	hide(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_who_asks),
	    cmocka_unit_test(test_window),
	    cmocka_unit_test(test_window_of_many),
	    cmocka_unit_test(test_counter),
	    cmocka_unit_test(test_answers),
	    cmocka_unit_test(test_entering),
	    cmocka_unit_test(test_sql),
	    cmocka_unit_test(test_cancel),
	    cmocka_unit_test(test_stop),
	    cmocka_unit_test(test_several_files),
	    cmocka_unit_test(test_sort_index),
	    cmocka_unit_test(test_categories),
	    cmocka_unit_test(test_diff),
	    cmocka_unit_test(test_too_many_files),
	    cmocka_unit_test(test_unreadable),
	    cmocka_unit_test(test_late),
	    cmocka_unit_test(test_pipe_instead),
	    cmocka_unit_test(test_cut_while_read),
	    cmocka_unit_test(test_files_without_processes),
	    cmocka_unit_test(test_places),
	    cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
