/* test_view_answers.c - the answers of a view. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "view_scene.h"

#include "sql/engine/session.h"
#include "view/serve/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Parameters that an address does not know, or that are none of their kind, are told, whatever else is asked. */
static void test_parameters(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/near?name=a&at=0&direction=next&track=x", 400, "track wants"},
	    {"/api/near?name=a&direction=next", 400, "/api/near: at is missing"},
	    {"/api/near?name=a&at=x&direction=next", 400, "at wants a time"},
	    {"/api/near?track=1&lane=0&depth=1&item=1", 400, "direction is missing"},
	    {"/api/near?track=1&lane=0&depth=1&item=9&direction=next", 400, "no slice is there"},
	    {"/api/near?direction=next", 400, "track is missing"},
	    {"/api/details?track=1&lane=0&depth=1&item=1&from=0", 400, "/api/details takes no parameter from"},
	    {"/api/details?track=1&lane=0&depth=1&item=1&limit=x", 400, "takes no parameter limit"},
	    {"/api/slice?track=1&lane=65536&depth=1&item=1", 400, "lane wants a number from 0 to 65535"},
	    {"/api/slice?track=1&lane=0&depth=1&item=1&nosuch=%3Cb%3E", 400, "takes no parameter nosuch"},
	    {"/api/trace?names=1", 400, "/api/trace takes no parameter names"},
	    {"/api/progress?x=%ff%22", 400, "takes no parameter x"},
	    {"/api/stat?from=1e3", 400, "from wants a number"},
	    {"/api/stat?tracks=1%202", 400, "tracks wants"},
	    {"/api/stat?before=1", 400, "takes no parameter before"},
	    {"/api/diff?tracks=1", 400, "takes no parameter tracks"},
	    {"/api/sql?query=select+1&limit=10001", 400, "limit wants"},
	    {"/api/sql", 400, "query is missing"},
	    {"/api/cancel?question=a&starts=0", 200, "found"},
	};
	struct scene scene;
	show(&scene, trace);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* Microseconds: a recursion, and two that begin at once. */
static const char links[] = "[{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":100},"
			    "{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":60},"
			    "{\"ph\":\"X\",\"name\":\"g\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":20},"
			    "{\"ph\":\"X\",\"name\":\"g\",\"pid\":1,\"tid\":2,\"ts\":70,\"dur\":10},"
			    "{\"ph\":\"i\",\"name\":\"tick\",\"pid\":1,\"tid\":2,\"ts\":50}]";

#define AT(lane, depth, item) "\"track\":1,\"lane\":" #lane ",\"depth\":" #depth ",\"item\":\"" #item "\""

static void test_find(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/find?track=1&begin=10000&name=g", 200, AT(0, 2, 0)},
	    {"/api/find?track=1&begin=70000&end=80000&depth=1&name=g", 200, AT(0, 1, 1)},
	    {"/api/find?track=1&begin=0&end=60000&depth=1&name=f", 200, AT(0, 1, 0)},
	    {"/api/find?track=1&begin=0&end=100000&depth=0&name=f", 200, AT(0, 0, 0)},
	    /* What is called otherwise now is as long, and as deep. */
	    {"/api/find?track=1&begin=0&end=60000&depth=1&name=%231:7", 200, AT(0, 1, 0)},
	    {"/api/find?track=1&begin=0&end=60000&depth=0&name=%231:7", 200, "{\"found\":false}"},
	    /* A part of it, as of a window. */
	    {"/api/find?track=1&begin=15000&end=30000&depth=2&name=g", 200, AT(0, 2, 0)},
	    {"/api/find?track=1&begin=15000&end=31000&depth=2&name=g", 200, "{\"found\":false}"},
	    {"/api/find?track=1&begin=50000&end=50000&name=tick", 200, AT(65535, 0, 0)},
	    {"/api/find?track=1&begin=11000&name=f", 200, "{\"found\":false}"},
	    {"/api/find?track=0&begin=10000&name=g", 200, "{\"found\":false}"},
	    {"/api/find?track=9&begin=10000&name=g", 200, "{\"found\":false}"},
	    {"/api/find?track=1&begin=9223372036854775807&name=g", 200, "{\"found\":false}"},
	    {"/api/find?track=1&name=g", 400, "begin is missing"},
	};
	struct scene scene;
	show(&scene, links);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* Of two that begin at once a name tells more than depth and end together, which other filters change. */
static void test_find_by_name(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/find?track=1&begin=0&end=100000&depth=0&name=y", 200, AT(0, 1, 0)},
	    {"/api/find?track=1&begin=0&end=60000&depth=1&name=x", 200, AT(0, 0, 0)},
	    {"/api/find?track=1&begin=0&end=60000&depth=1&name=z", 200, AT(0, 1, 0)},
	};
	struct scene scene;
	show(&scene, "[{\"ph\":\"X\",\"name\":\"x\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":100},"
	             "{\"ph\":\"X\",\"name\":\"y\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":60}]");
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* Slices that damage has put before the start of the trace are named as all others are. */
static void test_find_early(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/find?track=1&begin=-65000&end=35000&depth=0&name=f", 200, AT(0, 0, 0)},
	    {"/api/find?track=1&begin=-55000&end=-35000&depth=2&name=g", 200,
	     "\"begin\":\"-55000\",\"end\":\"-35000\""},
	    {"/api/find?track=1&begin=5000&end=15000&depth=1&name=g", 200, AT(0, 1, 1)},
	    {"/api/slice?track=1&lane=0&depth=2&item=0", 200, "\"begin\":\"-55000\",\"end\":\"-35000\""},
	    {"/api/near?text=f&at=-65000&direction=next&track=1&lane=0&depth=0&item=0", 200, AT(0, 1, 0)},
	    {"/api/near?text=g&at=-65000&direction=next&track=1&lane=0&depth=1&item=0", 200, AT(0, 2, 0)},
	    {"/api/near?name=g&at=-65000&direction=next&track=1&lane=0&depth=1&item=0", 200, AT(0, 2, 0)},
	    {"/api/near?text=g&at=-70000&direction=previous", 200, "{\"found\":false}"},
	    {"/api/find?track=1&begin=-&name=g", 400,
	     "begin wants a time of up to 9223372036854775807 ns, which may be"},
	    {"/api/find?track=1&begin=-9223372036854775808&name=g", 400, "begin wants a time"},
	    {"/api/find?track=1&begin=-9223372036854775807&name=g", 200, "{\"found\":false}"},
	};
	struct scene scene;
	show(&scene, links);
	scene.view->reading.start += 65000;
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* Microseconds. Of one time the last is the value, but all are least and most. */
static const char counted[] = "[{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":10,\"args\":{\"v\":9}},"
			      "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":10,\"args\":{\"v\":1}},"
			      "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":20,\"args\":{\"v\":4}},"
			      "{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":40,\"args\":{\"v\":8}},"
			      "{\"ph\":\"i\",\"name\":\"start\",\"pid\":1,\"tid\":1,\"ts\":0}]";

#define SUMS(first, min, mean, max, last)                                                                              \
	"\"series\":0,\"first\":" #first ",\"min\":" #min ",\"mean\":" #mean ",\"max\":" #max ",\"last\":" #last "}]"

static void test_counters(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/counters?from=0&to=30000&tracks=0,1,2,3,9", 200, SUMS(1, 1, 2.5, 9, 4)},
	    {"/api/counters?from=15000&to=25000&tracks=0,1,2", 200, SUMS(1, 1, 2.5, 4, 4)},
	    {"/api/counters?from=10000&to=20000&tracks=0,1,2", 200, SUMS(1, 1, 1, 9, 1)},
	    {"/api/counters?from=30000&to=40000&tracks=0,1,2", 200, SUMS(4, 4, 4, 8, 8)}, /* all ends there */
	    {"/api/counters?from=30000&to=39999&tracks=0,1,2", 200, SUMS(4, 4, 4, 4, 4)},
	    {"/api/counters?from=5000&to=15000&tracks=0,1,2&starts=0", 200, SUMS(1, 1, 1, 9, 1)},
	    {"/api/counters?from=0&to=10000&tracks=0,1,2", 200, "{\"counters\":[]}"},
	    {"/api/counters?from=0&to=10000", 400, "tracks is missing"},
	};
	struct scene scene;
	show(&scene, counted);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* From one call to the next whose name holds a text: of those that begin at once the outer is the first. */
static void test_near_text(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/near?text=F&at=0&direction=next", 200, AT(0, 0, 0)},
	    {"/api/near?text=f&at=0&direction=next&track=1&lane=0&depth=0&item=0", 200, AT(0, 1, 0)},
	    {"/api/near?text=f&at=0&direction=next&track=1&lane=0&depth=1&item=0", 200, "{\"found\":false}"},
	    {"/api/near?text=f&at=0&direction=previous&track=1&lane=0&depth=1&item=0", 200, AT(0, 0, 0)},
	    {"/api/near?text=f&at=0&direction=previous&track=1&lane=0&depth=0&item=0", 200, "{\"found\":false}"},
	    {"/api/near?text=f&at=1&direction=previous", 200, AT(0, 1, 0)},
	    {"/api/near?text=G&at=10000&direction=next&track=1&lane=0&depth=2&item=0", 200, AT(0, 1, 1)},
	    {"/api/near?text=&at=70000&direction=previous&track=1&lane=0&depth=1&item=1", 200, AT(0, 2, 0)},
	    {"/api/near?text=ick&at=0&direction=next", 200, "{\"found\":false}"}, /* which is no call */
	    {"/api/near?text=f&direction=next", 400, "at is missing"},
	};
	struct scene scene;
	show(&scene, links);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* Of what the command leaves out by time a slice has a part. */
static void test_find_in_window(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/find?track=1&begin=10000&end=30000&depth=2&name=g", 200, AT(0, 2, 0)},
	    {"/api/find?track=1&begin=0&end=100000&depth=0&name=f", 200, AT(0, 0, 0)},
	    {"/api/find?track=1&begin=0&end=60000&depth=1&name=f", 200, AT(0, 1, 0)},
	    {"/api/find?track=1&begin=70000&end=80000&depth=1&name=g", 200, "{\"found\":false}"},
	    {"/api/find?track=1&begin=0&end=5000&depth=0&name=f", 200, "{\"found\":false}"},
	};
	struct scene scene;
	const char *const traces[] = {links};
	scene.read = (struct tw_read_options){.from_ns = 20000, .to_ns = 50000};
	show_read(&scene, traces, NULL, 1);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

static void test_index(void **state)
{
	(void)state;
	static const struct example examples[] = {
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
	    {"/api/near?name=outer&at=0&direction=next&tracks=0,1", 200, "\"begin\":\"1000000\""},
	    {"/api/near?name=outer&at=0&direction=next&tracks=0,9", 200, "{\"found\":false}"},
	    {"/api/near?name=outer&at=0&direction=next&tracks=1,,0", 400, "tracks wants"},
	    {"/api/near?track=1&lane=0&depth=1&item=1&direction=previous", 200, "\"name\":\"a\""},
	    {"/api/near?name=outer&at=0&direction=up", 400, "direction wants next or previous"},
	    {"/api/window?from=0&to=1&width=0&names=0&tracks=1", 400, "width wants a number from 1 to 16384"},
	    {"/api/window?from=1&to=1&width=9&names=0&tracks=1", 400, "a window wants"},
	    {"/api/window?from=0&to=1&width=16385&names=0&tracks=1", 400, "width wants"},
	    {"/api/window?from=0&to=1&width=9&names=0&tracks=1,,2", 400,
	     "tracks wants numbers up to 4294967295, with commas between"},
	    {"/api/window?from=0&to=1&width=9&names=0", 400, "/api/window: tracks is missing"},
	    {"/api/window?from=0&to=1&width=9&names=0&tracks=1&outer=2", 400, "outer wants a number from 0 to 1"},
	    {"/api/slice?track=1&lane=0&depth=0&item=0", 200,
	     "\"child_count\":\"2\",\"children\":[{\"name\":\"a\",\"track\":1,\"lane\":0,\"depth\":1,\"item\":\"0\""},
	    {"/api/slice?track=1&lane=0&depth=0&item=1", 200, "\"child_count\":\"0\",\"children\":[]"},
	};
	struct scene scene;
	show(&scene, trace);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* For these the trace is read once more. */
static void test_read_again(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/stat", 200,
	     "{\"name\":\"outer\",\"count\":\"2\",\"open\":\"0\",\"total\":\"124000\",\"self\":\"119000\""},
	    {"/api/stat?from=0&to=12000&tracks=1", 200,
	     "{\"name\":\"a\",\"count\":\"1\",\"open\":\"0\",\"total\":\"2000\""},
	    {"/api/search?text=OUT&limit=5", 200,
	     "{\"weight\":\"calls\",\"names\":[{\"name\":\"outer\",\"count\":\"2\",\"total\":\"124000\"}],\"more\":false}"},
	    {"/api/search?limit=1", 200, "\"more\":true"},
	    {"/api/stat?tracks=2", 400, "none"},
	    {"/api/stat?from=5&to=5", 400, "none"},
	    {"/api/flame", 200, "\"name\":\"outer\",\"depth\":1,\"count\":2"},
	};
	struct scene scene;
	show(&scene, trace);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* What the tables of SQL know of a slice. */
static void test_facts(void **state)
{
	(void)state;
	static const struct example examples[] = {
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
	    {"/api/flows?from=0&to=9&limit=0", 400, "limit wants a number from 1 to 10000"},
	};
	struct scene scene;
	show(&scene, trace);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

static uint64_t scans_of(const struct scene *scene)
{
	return view_tables_session(scene->view, VIEW_FOR_PAGE)->scans;
}

/* Flows are read once: details of another slice read the table that it is in, and flows of a window nothing. */
static void test_flows_kept(void **state)
{
	(void)state;
	static const char details[] = "/api/details?track=1&lane=0&depth=1&item=1",
			  flows[] = "/api/flows?from=0&to=11001";
	struct scene scene;
	show(&scene, trace);
	expect_text(&scene, details, 200, "\"flows_in\":[{\"name\":\"f\"");
	uint64_t scans = scans_of(&scene);
	expect_text(&scene, details, 200, "\"flows_in\":[{\"name\":\"f\"");
	assert_int_equal(scans_of(&scene), scans + 1);
	expect_text(&scene, flows, 200, "{\"flows\":[{\"name\":\"f\"");
	assert_int_equal(scans_of(&scene), scans + 1);
	/* Of some tracks they are read. */
	expect_text(&scene, "/api/flows?from=0&to=11001&tracks=1", 200, "{\"flows\":[{\"name\":\"f\"");
	assert_true(scans_of(&scene) > scans + 1);
	/* A file that has grown has others. */
	static const char more[] =
	    ",{\"ph\":\"s\",\"name\":\"g\",\"cat\":\"c\",\"id\":8,\"pid\":1,\"tid\":2,\"ts\":12},"
	    "{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"g\",\"cat\":\"c\",\"id\":8,\"pid\":1,\"tid\":2,\"ts\":15}]";
	assert_int_equal(pwrite(scene.files[0], more, sizeof more - 1, sizeof trace - 2), sizeof more - 1);
	expect_text(&scene, details, 200, "{\"name\":\"g\"");
	expect_text(&scene, "/api/flows?from=0&to=12001", 200, "{\"name\":\"g\"");
	hide(&scene);
}

/* Of an operation no table of others is read. */
static void test_operation(void **state)
{
	(void)state;
	static const char text[] =
	    "[{\"ph\":\"b\",\"name\":\"load\",\"cat\":\"c\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":1,"
	    "\"args\":{\"size\":7}},"
	    "{\"ph\":\"e\",\"name\":\"load\",\"cat\":\"c\",\"id\":1,\"pid\":1,\"tid\":2,\"ts\":9}]";
	struct scene scene;
	show(&scene, text);
	expect_text(&scene, "/api/trace", 200, "{\"id\":1,\"parent\":0,\"kind\":\"async\"");
	for (uint64_t i = 0, scans = 0; i < 2; i++, scans = scans_of(&scene)) {
		expect_text(&scene, "/api/details?track=1&lane=0&depth=0&item=0", 200, "\"name\":\"size\"");
		if (i)
			assert_int_equal(scans_of(&scene), scans + 1);
	}
	hide(&scene);
}

/* Questions that there are not, and addresses. */
static void test_nothing(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/question?question=a", 200, "{\"found\":false}"},
	    {"/api/cancel?question=a", 200, "{\"found\":false}"},
	    {"/api/cancel?question=a%20b", 400, "question wants a name"},
	    {"/api/cancel", 400, "missing"},
	    {"/api/stat?question=%3Cb%3E", 400, "up to 64"},
	    {"/api/../api/trace", 404, "nothing"},
	    {"/app.js/", 404, "nothing"},
	    {"/etc/passwd", 404, "nothing"},
	};
	struct scene scene;
	show(&scene, trace);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
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
	snprintf(token, sizeof token, "/?token=%s", scene.view->server.token);
	snprintf(ticket, sizeof ticket, "/?token=%s", scene.view->server.ticket);
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
	expect_text(&scene, "/api/search?limit=-1", 400, "limit wants");
	expect_text(&scene, "/api/search?limit=1001", 400, "a limit up to 1000");
	hide(&scene);
}

/* How many files without a name there are, but for those of memory. */
static size_t temporary_files(void)
{
	size_t count = 0;
	for (int i = 0; i < 256; i++) {
		char path[64], target[256] = "";
		snprintf(path, sizeof path, "/proc/self/fd/%d", i);
		const ssize_t length = readlink(path, target, sizeof target - 1);
		count += length > 0 && strstr(target, " (deleted)") && strncmp(target, "/memfd:", 7) != 0;
	}
	return count;
}

enum { INNER = 200000 };

/* Calls, and behind them one that holds them all. Freed by the caller. */
static char *late_text(void)
{
	enum { LINE = 72 };
	char *text = malloc((INNER + 2) * LINE), *at = text;
	assert_non_null(text);
	at += sprintf(at, "[");
	for (unsigned i = 1; i <= INNER; i++)
		at +=
		    sprintf(at, "{\"ph\":\"X\",\"name\":\"inner\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":1},\n", 2 * i);
	sprintf(at, "{\"ph\":\"X\",\"name\":\"outer\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":%u}]", 2 * INNER + 1);
	return text;
}

/* What comes later than is waited for begins the index anew: it holds all that came before. */
static void test_late(void **state)
{
	(void)state;
	struct scene scene;
	char *text = late_text();
	show(&scene, text);
	assert_int_equal(temporary_files(), 1); /* the index alone: not what events were put in order with */
	expect_text(&scene, "/api/trace", 200, "\"lanes\":[2],\"points\":false,\"slices\":\"200001\"");
	expect_text(&scene, "/api/slice?track=1&lane=0&depth=0&item=0", 200,
	            "\"name\":\"outer\",\"track\":1,\"lane\":0,\"depth\":0,\"item\":\"0\",\"begin\":\"0\","
	            "\"end\":\"400001000\"");
	expect_text(
	    &scene, "/api/slice?track=1&lane=0&depth=1&item=199999", 200,
	    "\"name\":\"inner\",\"track\":1,\"lane\":0,\"depth\":1,\"item\":\"199999\",\"begin\":\"399999000\"");
	/* A block of 64 has 48 bytes, 64 numbers of 7 bits twice and of 8, and 2 of sums: microseconds are multiples of 8 ns.
	 * The first pass is given back. */
	assert_in_range(scene.view->index.store.used, INNER / 64 * 226, INNER / 64 * 226 * 21 / 20);
	hide(&scene);
	free(text);
}

/* What begins anew and may open no file tells that. */
static void test_no_files(void **state)
{
	(void)state;
	char *late = late_text();
	char path[64], *paths[] = {path};
	const int file = memfd_create("trace", MFD_CLOEXEC);
	assert_int_equal(write(file, late, strlen(late)), strlen(late));
	free(late);
	snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	const struct view_options options = {.paths = paths, .count = 1};
	struct view *view = view_new(&options);
	struct rlimit limit;
	assert_int_equal(view_begin(view), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	view_read(view);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(view->reading.state, VIEW_FAILED);
	assert_non_null(strstr(view->reading.error, strerror(EMFILE)));
	view_free(view);
	close(file);
}

static const char *const reading[] = {"stat",
                                      "flame",
                                      "search",
                                      "flows?from=0&to=9",
                                      "sql?query=select+1+from+slice",
                                      "details?track=1&lane=0&depth=0&item=0"};

static void expect_readings(const struct scene *scene, unsigned status, const char *text)
{
	for (size_t i = 0; i < sizeof reading / sizeof *reading; i++) {
		char address[128];
		snprintf(address, sizeof address, "/api/%s", reading[i]);
		expect_text(scene, address, status, text);
	}
}

/* Each question that reads it again is of the file that the picture is of, which may have grown, or of none. */
static void test_other_file(void **state)
{
	(void)state;
	static const struct timespec other[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct scene scene;
	show(&scene, trace);
	expect_readings(&scene, 200, "");
	assert_int_equal(lseek(scene.files[0], 0, SEEK_END), sizeof trace - 1);
	assert_int_equal(write(scene.files[0], "  ", 2), 2);
	expect_readings(&scene, 200, "");
	assert_int_equal(ftruncate(scene.files[0], sizeof trace - 2), 0);
	expect_readings(&scene, 400, "was cut off: the picture is of what it was");
	assert_int_equal(pwrite(scene.files[0], "]", 1, sizeof trace - 2), 1);
	assert_int_equal(futimens(scene.files[0], other), 0);
	expect_readings(&scene, 400, "is another file now: the picture is of what it was");
	expect_text(&scene, "/api/slice?track=1&lane=0&depth=1&item=1", 200, "\"name\":\"b\"");
	hide(&scene);
}

/* Each question that reads it again says why it cannot. */
static void test_unreadable(void **state)
{
	(void)state;
	struct scene scene;
	struct tw_text page = {0};
	bool whole;
	show(&scene, trace);
	assert_int_equal(ftruncate(scene.files[0], 0), 0);
	expect_readings(&scene, 400, "{\"error\":\"/proc/self/fd/");
	assert_int_equal(view_export(scene.view, SIZE_MAX, "", &page, &whole), TW_ERR_SYSTEM);
	assert_non_null(strstr(view_error(scene.view), "was cut off"));
	tw_text_free(&page);
	hide(&scene);
}

/* A time that damage has made is not what is seen at first; where there is no damage it is. */
static void test_bulk(void **state)
{
	(void)state;
	static const char far_away[] =
	    "{\"ph\":\"X\",\"name\":\"far\",\"pid\":1,\"tid\":9,\"ts\":1000000000,\"dur\":1}";
	char text[2048];
	size_t length = (size_t)snprintf(text, sizeof text, "[");
	for (unsigned i = 0; i < 8; i++)
		length += (size_t)snprintf(text + length, sizeof text - length,
		                           "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":1},",
		                           i / 4, 10 * i);
	static const struct {
		const char *end, *bulk;
	} cases[] = {{"]", "\"bulk\":null"},
	             {",{\"ph\":\"X\",\"name\":\"cut", "\"bulk\":{\"from\":\"0\",\"to\":\"73501\"}"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct scene scene;
		snprintf(text + length, sizeof text - length, "%s%s", far_away, cases[i].end);
		show(&scene, text);
		expect_text(&scene, "/api/trace", 200, cases[i].bulk);
		hide(&scene);
	}
}

/* Counters of one name have their numbers; of a call that never ended no duration is told. */
static void test_instances(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"/api/trace", 200, "\"kind\":\"counter\",\"name\":\"memory\","},
	    {"/api/trace", 200, "\"kind\":\"counter\",\"name\":\"memory 18\","},
	    {"/api/stat", 200, "\"max\":\"0\",\"ended\":false,"},
	    {"/api/stat", 200, "\"max\":\"3000\",\"ended\":true,"},
	};
	struct scene scene;
	show(&scene, "[{\"ph\":\"C\",\"name\":\"memory\",\"pid\":1,\"ts\":5,\"args\":{\"used\":7}},"
	             "{\"ph\":\"C\",\"name\":\"memory\",\"id\":\"0x12\",\"pid\":1,\"ts\":5,\"args\":{\"used\":9}},"
	             "{\"ph\":\"B\",\"name\":\"endless\",\"pid\":1,\"tid\":2,\"ts\":0},"
	             "{\"ph\":\"X\",\"name\":\"short\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":3}]");
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* Samples have no duration: what counts them refuses --min-duration, and the names of samples are found all the same. */
static void test_durations_of_samples(void **state)
{
	(void)state;
	static const char words[] = "{\"error\":\"--min-duration is about calls: samples have no duration\"}";
	static const struct example examples[] = {
	    {"/api/stat", 400, words},
	    {"/api/flame", 400, words},
	    {"/api/diff", 400, words},
	    {"/api/diff-flame", 400, words},
	    {"/api/search?text=stack", 200, "\"weight\":\"samples\",\"names\":[{\"name\":\"stacked\""},
	};
	static const char samples[] = "{\"stackFrames\":{\"1\":{\"name\":\"stacked\"}},\"traceEvents\":["
				      "{\"ph\":\"P\",\"name\":\"s\",\"pid\":1,\"tid\":2,\"ts\":1,\"sf\":\"1\"},"
				      "{\"ph\":\"P\",\"name\":\"s\",\"pid\":1,\"tid\":2,\"ts\":2,\"sf\":\"1\"}]}";
	const char *const traces[] = {samples, samples};
	struct scene scene = {.read = {.min_duration_ns = 5}};
	show_read(&scene, traces, NULL, 2);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
}

/* Of a process those threads that the command has left. */
static void test_process_of_some_threads(void **state)
{
	(void)state;
	static const char only[] = "\"functions\":[{\"name\":\"a\",\"count\":\"1\"",
			  end[] = "\"max\":\"3000\",\"ended\":true,\"file\":null,\"line\":0}]}";
	static const struct example examples[] = {
	    {"/api/stat?tracks=0", 200, only},
	    {"/api/stat?tracks=0", 200, end},
	    {"/api/stat?tracks=1,0", 200, only},
	};
	static const uint64_t threads[] = {2};
	const char *const traces[] = {"[{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":2,\"ts\":0,\"dur\":3},"
	                              "{\"ph\":\"X\",\"name\":\"b\",\"pid\":1,\"tid\":3,\"ts\":0,\"dur\":5}]"};
	struct scene scene = {.read = {.threads = threads, .thread_count = 1}};
	show_read(&scene, traces, NULL, 1);
	expect_texts(&scene, examples, sizeof examples / sizeof *examples);
	hide(&scene);
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
	expect_text(&scene, "/api/stat", 400, "is another file now");
	expect_text(&scene, "/api/sql?query=select+count(*)+from+slice", 400, "is another file now");
	close(ends[0]);
	close(ends[1]);
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

SUITE(view_answers)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_index),
	    cmocka_unit_test(test_read_again),
	    cmocka_unit_test(test_facts),
	    cmocka_unit_test(test_nothing),
	    cmocka_unit_test(test_flows_kept),
	    cmocka_unit_test(test_operation),
	    cmocka_unit_test(test_entering),
	    cmocka_unit_test(test_limits),
	    cmocka_unit_test(test_late),
	    cmocka_unit_test(test_other_file),
	    cmocka_unit_test(test_unreadable),
	    cmocka_unit_test(test_bulk),
	    cmocka_unit_test(test_instances),
	    cmocka_unit_test(test_pipe_instead),
	    cmocka_unit_test(test_cut_while_read),
	    cmocka_unit_test(test_parameters),
	    cmocka_unit_test(test_find),
	    cmocka_unit_test(test_find_in_window),
	    cmocka_unit_test(test_find_by_name),
	    cmocka_unit_test(test_find_early),
	    cmocka_unit_test(test_near_text),
	    cmocka_unit_test(test_counters),
	    cmocka_unit_test(test_no_files),
	    cmocka_unit_test(test_process_of_some_threads),
	    cmocka_unit_test(test_durations_of_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
