/* test_view_sql.c - questions in SQL to a view. doc/sql.md says what the tables have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "view_scene.h"

/* Questions as a page writes them, but for their blanks. */
static void expect_answers(const struct example *examples, size_t count)
{
	struct scene scene;
	show(&scene, trace);
	for (size_t i = 0; i < count; i++) {
		char address[512];
		size_t length = (size_t)snprintf(address, sizeof address, "/api/sql?%s", examples[i].address);
		for (size_t at = 0; at < length; at++)
			address[at] = (char)(address[at] == ' ' ? '+' : address[at]);
		expect_text(&scene, address, examples[i].status, examples[i].text);
	}
	hide(&scene);
}

static void test_values(void **state)
{
	(void)state;
	static const struct example examples[] = {
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
	    {"query=--", 200, "{\"rows\":[],\"more\":false,\"limit\":1000,\"columns\":[],"},
	};
	expect_answers(examples, sizeof examples / sizeof *examples);
}

/* Tables of a window, and of some tracks. */
static void test_window(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"query=select name from slice order by ts&from=11500&to=13000", 200, "{\"rows\":[[\"outer\"],[\"a\"]],"},
	    {"query=select name from slice order by ts&from=12000&to=13000", 200, "{\"rows\":[[\"outer\"]],"},
	    {"query=select count(*) from main.slice&from=12000&to=13000", 200, "{\"rows\":[[4]],"},
	    {"query=select count(*) from slice&tracks=1", 200, "{\"rows\":[[4]],"},
	    {"query=select count(*) from slice&tracks=0", 200, "{\"rows\":[[4]],"},
	    {"query=select count(*) from instant&from=50000&to=50001", 200, "{\"rows\":[[1]],"},
	    {"query=select count(*) from instant&from=50001&to=60000", 200, "{\"rows\":[[0]],"},
	    {"query=select count(*) from slice&tracks=2", 400, "none"},
	};
	expect_answers(examples, sizeof examples / sizeof *examples);
}

static void test_statements(void **state)
{
	(void)state;
	static const struct example examples[] = {
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
	};
	expect_answers(examples, sizeof examples / sizeof *examples);
}

/* What is wrong, where, and what may have been meant. */
static void test_hints(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"query=select%0A m!()", 400, "{\"error\":\"no such macro: m\",\"line\":2,\"column\":2}"},
	    {"query=include perfetto module nothing", 400,
	     "{\"error\":\"no such module: nothing\",\"line\":1,\"column\":25}"},
	    {"query=select * from slise", 400, "no such table: slise; did you mean slice?"},
	    {"query=select nmae from slice", 400, "no such column: nmae; did you mean name?"},
	    {"query=select time_to_ms(dur) from slice", 400,
	     "no such function: time_to_ms; include perfetto module time.conversion makes it"},
	    {"query=select trace_dru()", 400, "no such function: trace_dru; did you mean trace_dur?"},
	    {"query=include perfetto module time.conversions", 400, "; did you mean time.conversion?"},
	    {"query=select%0Afoo from slice", 400, "{\"error\":\"no such column: foo\",\"line\":2,\"column\":1}"},
	};
	expect_answers(examples, sizeof examples / sizeof *examples);
}

/* What a statement may not do. */
static void test_refused(void **state)
{
	(void)state;
	static const struct example examples[] = {
	    {"query=attach 'none.db' as x", 400, "not authorized"},
	    {"query=select load_extension('x')", 400, "not authorized"},
	    {"query=pragma journal_mode=off", 400, "not authorized"},
	    {"query=vacuum into 'none.db'", 400, "authorization denied"},
	    {"query=create table t(a)", 400, "not authorized"},
	    {"query=create virtual table temp.t using trackway('none.fxt')", 400, "not authorized"},
	    {"query=select length(zeroblob(67108864))", 200, "{\"rows\":[[67108864]],"},
	    {"query=select length(zeroblob(67108865))", 400, "too big"},
	    {"query=select 1&limit=10001", 400, "limit wants"},
	    {"query=select 1&limit=0", 400, "limit wants"},
	    {"limit=1", 400, "query is missing"},
	};
	expect_answers(examples, sizeof examples / sizeof *examples);
}

SUITE(view_sql)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values), cmocka_unit_test(test_window),  cmocka_unit_test(test_statements),
	    cmocka_unit_test(test_hints),  cmocka_unit_test(test_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
