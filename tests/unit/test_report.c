/* test_report.c - folded stacks, flame graphs, call graphs and diffs from made-up profiles. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/report.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "suite.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Breadth first, as a tree may come: main calls b (150 ns, 50 in c) and a (30 ns); a second root has no time of its
 * own. */
static const struct tw_calltree_node sample[] = {
    {.name = ""},
    {.name = "main", .parent = 0, .depth = 1, .count = 1, .self = 20, .total = 200},
    {.name = "other", .parent = 0, .depth = 1, .count = 1, .self = 0, .total = 800},
    {.name = "b", .parent = 1, .depth = 2, .count = 3, .self = 100, .total = 150},
    {.name = "a;x\ny", .parent = 1, .depth = 2, .count = 2, .self = 30, .total = 30},
    {.name = "b", .parent = 2, .depth = 2, .count = 7, .self = 800, .total = 800},
    {.name = "c<d>(e&)\x01\xff\xef\xbf\xbf", .parent = 3, .depth = 3, .count = 1, .self = 50, .total = 50},
    {.name = "", .parent = 3, .depth = 3, .count = 1, .self = 0, .total = 0},
};

/* ---- What was written, as text ---- */

struct sink {
	FILE *file;
	struct tw_output out;
	char *text;
};

static void sink_open(struct sink *sink)
{
	sink->file = tmpfile();
	assert_non_null(sink->file);
	assert_int_equal(tw_output_fd(&sink->out, dup(fileno(sink->file))), 0);
}

static const char *sink_text(struct sink *sink)
{
	size_t size = tw_output_position(&sink->out);
	assert_int_equal(tw_output_close(&sink->out), 0);
	rewind(sink->file);
	sink->text = calloc(1, size + 1);
	assert_non_null(sink->text);
	assert_int_equal(fread(sink->text, 1, size, sink->file), size);
	return sink->text;
}

static void sink_free(struct sink *sink)
{
	free(sink->text);
	fclose(sink->file);
}

static size_t occurrences(const char *text, const char *what)
{
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
		count++;
	return count;
}

static void assert_holds(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("not found: %s\nin: %.3000s", what, text);
}

/* ---- Folded stacks ---- */

static void folds_depth_first_without_empty_stacks(void **state)
{
	(void)state;
	struct sink sink;
	sink_open(&sink);
	assert_int_equal(tw_folded_render(&sink.out, sample, LENGTH(sample)), 0);
	assert_string_equal(sink_text(&sink), "main 20\n"
	                                      "main;b 100\n"
	                                      "main;b;c<d>(e&) \xef\xbf\xbd\xef\xbf\xbd 50\n"
	                                      "main;a:x y 30\n"
	                                      "other;b 800\n");
	sink_free(&sink);
}

static void folds_nothing(void **state)
{
	(void)state;
	struct sink sink;
	sink_open(&sink);
	assert_int_equal(tw_folded_render(&sink.out, sample, 1), 0);
	assert_int_equal(tw_folded_render(&sink.out, NULL, 0), 0);
	assert_string_equal(sink_text(&sink), "");
	sink_free(&sink);
}

static void folds_deep_recursion(void **state)
{
	(void)state;
	enum { DEPTH = 2000 };
	struct tw_calltree_node *nodes = calloc(DEPTH + 1, sizeof *nodes);
	assert_non_null(nodes);
	nodes[0].name = "";
	for (uint32_t i = 1; i <= DEPTH; i++)
		nodes[i] = (struct tw_calltree_node){.name = "f", .parent = i - 1, .depth = i, .self = i == DEPTH};
	struct sink sink;
	sink_open(&sink);
	assert_int_equal(tw_folded_render(&sink.out, nodes, DEPTH + 1), 0);
	assert_int_equal(strlen(sink_text(&sink)), 2 * DEPTH + 2); /* "f;" each, the last "f ", "1\n" */
	sink_free(&sink);
	free(nodes);
}

/* ---- Names and times ---- */

static const struct tw_escape no_escapes[] = {{0, NULL}};

static void cuts_names_by_columns(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		size_t columns;
		const char *shown;
	} cases[] = {
	    {"abcdef", 0, "abcdef"},
	    {"abcdef", 6, "abcdef"},
	    {"abcdef", 5,
	     "ab\xe2\x80\xa6"
	     "ef"},
	    {"abcdefghij", 7, "abc\xe2\x80\xa6hij"},
	    {"", 0, "(no name)"},
	    {"", 4, "(n\xe2\x80\xa6)"},
	    {"\xe9\x96\xa2\xe6\x95\xb0", 4, "\xe9\x96\xa2\xe6\x95\xb0"}, /* two characters of two columns */
	    {"\xe9\x96\xa2\xe6\x95\xb0", 3, "\xe9\x96\xa2\xe2\x80\xa6"},
	    {"\xe4\xb8\x80\xe4\xb8\x81\xe4\xb8\x82\xe4\xb8\x83", 5, "\xe4\xb8\x80\xe2\x80\xa6\xe4\xb8\x83"},
	    {"\xc3\xa9\xc3\xa9", 2, "\xc3\xa9\xc3\xa9"},
	    {"\xc3", 0, "\xef\xbf\xbd"},                                 /* cut short */
	    {"\xed\xa0\x80", 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* half a surrogate pair */
	    {"a\tb\x7f", 0, "a b "},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct sink sink;
		sink_open(&sink);
		tw_put_name(&sink.out, cases[i].name, cases[i].columns, no_escapes);
		assert_string_equal(sink_text(&sink), cases[i].shown);
		sink_free(&sink);
	}
}

static void shows_times_with_units(void **state)
{
	(void)state;
	static const struct {
		uint64_t ns;
		const char *shown;
	} cases[] = {{0, "0 ns"},
	             {999, "999 ns"},
	             {1000, "1.000 us"},
	             {1234567, "1.235 ms"},
	             {999999499, "999.999 ms"},
	             {999999500, "1.000 s"},
	             {1000000000, "1.000 s"},
	             {UINT64_MAX, "18446744073.710 s"}};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct sink sink;
		sink_open(&sink);
		tw_put_time(&sink.out, cases[i].ns);
		assert_string_equal(sink_text(&sink), cases[i].shown);
		sink_free(&sink);
	}
}

/* ---- Flame graph ---- */

static const char *flame(struct sink *sink, uint32_t count, const struct tw_flame_options *options)
{
	sink_open(sink);
	assert_int_equal(tw_flame_render(&sink->out, sample, count, options), 0);
	return sink_text(sink);
}

/* As the page of `trackway view` has them: tests/browser/page_units.mjs. */
static void keeps_own_names(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		size_t columns;
		const char *shown;
	} cases[] = {
	    {"tracer::sky(tracer::vec)", 24, "tracer::sky(tracer::vec)"},
	    {"tracer::sky(tracer::vec)", 22, "tracer::sky(trac\xe2\x80\xa6:vec)"},
	    {"tracer::sky(tracer::vec)", 14, "tracer::sky(\xe2\x80\xa6)"},
	    {"tracer::sky(tracer::vec)", 11,
	     "sky(tra\xe2\x80\xa6"
	     "ec)"},
	    {"tracer::sky(tracer::vec)", 8, "sky"},
	    {"ns::shape<int>::draw(int) const", 15, "ns::\xe2\x80\xa6>::draw(\xe2\x80\xa6)"},
	    {"std::vector<std::pair<a, b>>::push_back(a&&)", 10, "push_back"},
	    {"(anonymous namespace)::f(int)", 6, "f"},
	    {"a name of many words", 11, "a nam\xe2\x80\xa6words"},
	    {"operator()(int, int, int)", 11, "opera\xe2\x80\xa6 int)"},
	    {"))(", 2, ")\xe2\x80\xa6"},
	    {"::", 1, "\xe2\x80\xa6"},
	    {"", 9, "(no name)"},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct sink sink;
		sink_open(&sink);
		tw_put_function(&sink.out, cases[i].name, cases[i].columns, no_escapes);
		assert_string_equal(sink_text(&sink), cases[i].shown);
		sink_free(&sink);
	}
}

/* 1000 ns are 1180 px, from 10 on: 200 ns are 236 px. */
static void flame_places_frames(void **state)
{
	(void)state;
	struct sink sink;
	const char *svg = flame(&sink, LENGTH(sample), &(struct tw_flame_options){.title = "t<1>"});
	assert_holds(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"");
	assert_holds(svg, "<title>t&lt;1&gt;</title>");
	assert_holds(svg, "1.000 us in 6 frames; left out: 1 frame narrower than 0.001 % (0.00 % of the time)");
	assert_holds(svg,
	             "data-v=\"0 0 1000 0 0\"><path d=\"M10 105h1179v16H10z\"/><text x=\"13\" y=\"117\">all</text>");
	assert_holds(svg,
	             "data-v=\"1 0 200 20 1\"><path d=\"M10 88h235v16H10z\"/><text x=\"13\" y=\"100\">main</text>");
	assert_holds(svg, "data-v=\"1 200 800 0 1\"><path d=\"M246 88h943v16H246z\"/>");
	assert_holds(svg, "data-v=\"2 150 30 30 2\"><title>a;x y</title><path d=\"M187 71h34.4v16H187z\"/>"
	                  "</g>"); /* of what is cut to fewer than six columns nothing is told */
	assert_holds(svg, "<title>c&lt;d&gt;(e&amp;) \xef\xbf\xbd\xef\xbf\xbd</title><path d=\"M10 54h58v16H10z\"/>");
	assert_int_equal(occurrences(svg, "<g class=\"c"), 6);
	sink_free(&sink);
}

/* The same name has the same colour wherever it is. */
static void flame_colours_by_name(void **state)
{
	(void)state;
	struct sink sink;
	const char *svg = flame(&sink, LENGTH(sample), NULL);
	const char *first = strstr(svg, "data-v=\"2 0 150 100 3\"");
	const char *second = strstr(svg, "data-v=\"2 0 800 800 7\"");
	assert_non_null(first);
	assert_non_null(second);
	assert_memory_equal(first - 5, second - 5, 5);
	sink_free(&sink);
}

static void flame_stands_on_its_head(void **state)
{
	(void)state;
	struct sink sink;
	const char *svg = flame(&sink, LENGTH(sample), &(struct tw_flame_options){.inverted = true});
	assert_holds(svg, "data-down=\"1\"");
	assert_holds(svg, "<path d=\"M10 54h1179v16H10z\"/><text x=\"13\" y=\"66\">all</text>");
	assert_holds(svg, "<path d=\"M10 71h235v16H10z\"/>");
	sink_free(&sink);
}

static void flame_has_units(void **state)
{
	(void)state;
	struct sink sink;
	const char *svg = flame(&sink, LENGTH(sample), NULL);
	assert_holds(svg, "data-unit=\"ns\" data-count=\"calls\"");
	sink_free(&sink);
	svg = flame(&sink, LENGTH(sample), &(struct tw_flame_options){.weight = TW_WEIGHT_SAMPLES});
	assert_holds(svg, "data-unit=\"\" data-count=\"samples\"");
	assert_holds(svg, "1,000 samples in 6 frames; left out: 1 frame narrower than 0.001 % (0.00 % of the samples)");
	sink_free(&sink);
	svg = flame(&sink, LENGTH(sample), &(struct tw_flame_options){.weight = TW_WEIGHT_COUNT});
	assert_holds(svg, "data-unit=\"\" data-count=\"calls\"");
	assert_holds(svg, "1,000 calls in 6 frames;");
	sink_free(&sink);
	svg = flame(&sink, LENGTH(sample), &(struct tw_flame_options){.weight = TW_WEIGHT_INSTRUCTIONS});
	assert_holds(svg, "data-unit=\"\" data-count=\"instructions\"");
	sink_free(&sink);
	svg = flame(&sink, LENGTH(sample), &(struct tw_flame_options){.weight = TW_WEIGHT_BYTES});
	assert_holds(svg, "data-unit=\"bytes\" data-count=\"allocations\"");
	assert_holds(svg, "1000 bytes in 6 frames;");
	sink_free(&sink);
}

static void flame_counts_what_it_leaves_out(void **state)
{
	(void)state;
	static const struct {
		struct tw_flame_options options;
		size_t frames;
		const char *summary;
	} cases[] = {
	    {{.min_share = -1}, 6, "in 6 frames; left out: 1 frame without time (0.00 % of the time)"},
	    {{.min_share = 0.1}, 4, "in 4 frames; left out: 3 frames narrower than 10 % (8.00 % of the time)"},
	    {{.max_depth = 1},
	     2,
	     "in 2 frames; left out: 1 frame narrower than 0.001 %, 4 frames deeper than 1 (98.00 % of the time)"},
	    {{.min_share = 0.5, .max_depth = 2},
	     2,
	     "in 2 frames; left out: 5 frames narrower than 50 % (20.00 % of the time)"},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct sink sink;
		const char *svg = flame(&sink, LENGTH(sample), &cases[i].options);
		assert_holds(svg, cases[i].summary);
		assert_int_equal(occurrences(svg, "<g class=\"c"), cases[i].frames);
		sink_free(&sink);
	}
}

static void flame_of_nothing_is_a_picture(void **state)
{
	(void)state;
	for (uint32_t count = 0; count < 2; count++) {
		struct sink sink;
		const char *svg = flame(&sink, count, NULL);
		assert_holds(svg, "no time was spent in any call");
		assert_int_equal(occurrences(svg, "data-v="), count);
		assert_holds(svg, "</svg>\n");
		sink_free(&sink);
	}
}

/* Nothing may be fetched: the only addresses are names of namespaces. */
static void flame_needs_no_network(void **state)
{
	(void)state;
	struct sink sink;
	const char *html = flame(&sink, LENGTH(sample), &(struct tw_flame_options){.form = TW_FLAME_HTML});
	assert_memory_equal(html, "<!DOCTYPE html>", 15);
	assert_int_equal(occurrences(html, "://"), occurrences(html, "http://www.w3.org/"));
	assert_int_equal(occurrences(html, "src="), 0);
	assert_int_equal(occurrences(html, "@import") + occurrences(html, "url("), 0);
	assert_int_equal(occurrences(html, "]]>"), 1);
	sink_free(&sink);
}

/* ---- Call graph ---- */

static struct tw_profile_row functions[] = {
    {.name = "main", .id = 1, .count = 1, .total = 1000, .self = 100, .file = "m.c", .line = 3},
    {.name = "f \"q\" \\n & <x>", .id = 2, .count = 5, .open = 1, .total = 900, .self = 800},
    {.name = "f \"q\" \\n & <x>", .id = 9, .count = 2, .total = 100, .self = 100},
};

static struct tw_profile_row callers[] = {
    {.name = "main", .id = 1, .count = 1, .total = 1000},
    {.name = "f \"q\" \\n & <x>", .id = 2, .caller = "main", .caller_id = 1, .count = 1, .total = 900},
    {.name = "f \"q\" \\n & <x>", .id = 2, .caller = "f \"q\" \\n & <x>", .caller_id = 2, .count = 4, .total = 300},
    {.name = "f \"q\" \\n & <x>", .id = 9, .caller = "f \"q\" \\n & <x>", .caller_id = 2, .count = 2, .total = 100},
    {.name = "nowhere", .caller = "main", .caller_id = 1, .count = 1, .total = 1},
};

static const char *graph(struct sink *sink, const struct tw_graph_options *options)
{
	const struct tw_rows nodes = {.rows = functions, .count = LENGTH(functions)};
	const struct tw_rows edges = {.rows = callers, .count = LENGTH(callers)};
	sink_open(sink);
	assert_int_equal(tw_graph_render(&sink->out, &nodes, &edges, options), 0);
	return sink_text(sink);
}

static void graph_is_dot(void **state)
{
	(void)state;
	struct sink sink;
	const char *dot = graph(&sink, &(struct tw_graph_options){.title = "a \"log\""});
	assert_holds(dot, "digraph calls {\n\tlabel=\"a \\\"log\\\"\";\n");
	assert_holds(
	    dot,
	    "\tn0 [label=\"f \\\"q\\\" \\\\n &amp; <x>\\ntotal 900 ns (90.0 %)\\nself 800 ns (80.0 %)\\n5 calls\"");
	assert_holds(
	    dot, "\tn2 [label=\"main\\ntotal 1.000 us (100.0 %)\\nself 100 ns (10.0 %)\\n1 call\", tooltip=\"main\"");
	assert_holds(dot, "\tn2 -> n0 [label=\"1 call\\n900 ns\", penwidth=4.60];\n");
	assert_holds(dot, "\tn0 -> n0 [label=\"4 calls\\n300 ns\", penwidth=2.20];\n");
	assert_holds(dot, "\tn0 -> n1 [label=\"2 calls\\n100 ns\"");
	assert_int_equal(occurrences(dot, "->"), 3);
	assert_holds(dot, "left out: 0 functions, 1 edges");
	sink_free(&sink);
}

/* Samples and bytes have units of their own, and no counts beside them that say the same. */
static void graph_of_samples(void **state)
{
	(void)state;
	struct sink sink;
	const char *dot = graph(&sink, &(struct tw_graph_options){.weight = TW_WEIGHT_SAMPLES});
	assert_holds(dot, "\tn2 [label=\"main\\ntotal 1,000 samples (100.0 %)\\nself 100 samples (10.0 %)\", tooltip");
	assert_holds(dot, "\tn2 -> n0 [label=\"900 samples\", penwidth=4.60];\n");
	sink_free(&sink);
	dot = graph(&sink, &(struct tw_graph_options){.weight = TW_WEIGHT_BYTES});
	assert_holds(dot, "\\ntotal 1000 bytes (100.0 %)\\nself 100 bytes (10.0 %)\\n1 allocation\", tooltip");
	sink_free(&sink);
	const char *json = graph(&sink, &(struct tw_graph_options){.form = TW_GRAPH_JSON, .weight = TW_WEIGHT_BYTES});
	assert_holds(json, "\"open\":0,\"weight\":\"bytes\",\"total\":1000,\"self\":100}\n");
	assert_holds(json, "\"to\":0,\"count\":1,\"weight\":\"bytes\",\"total\":900}\n");
	sink_free(&sink);
	json = graph(&sink, &(struct tw_graph_options){.form = TW_GRAPH_JSON, .weight = TW_WEIGHT_CPU});
	assert_holds(json, "\"weight\":\"cpu\",\"total\":1000,\"self\":100,\"total_ns\":1000,\"self_ns\":100}\n");
	sink_free(&sink);
}

static void graph_is_json_lines(void **state)
{
	(void)state;
	struct sink sink;
	assert_string_equal(
	    graph(&sink, &(struct tw_graph_options){.form = TW_GRAPH_JSON}),
	    "{\"type\":\"node\",\"id\":0,\"name\":\"f \\\"q\\\" \\\\n & "
	    "<x>\",\"function_id\":2,\"file\":null,\"line\":0,"
	    "\"count\":5,\"open\":1,\"total_ns\":900,\"self_ns\":800}\n"
	    "{\"type\":\"node\",\"id\":1,\"name\":\"f \\\"q\\\" \\\\n & "
	    "<x>\",\"function_id\":9,\"file\":null,\"line\":0,"
	    "\"count\":2,\"open\":0,\"total_ns\":100,\"self_ns\":100}\n"
	    "{\"type\":\"node\",\"id\":2,\"name\":\"main\",\"function_id\":1,\"file\":\"m.c\",\"line\":3,"
	    "\"count\":1,\"open\":0,\"total_ns\":1000,\"self_ns\":100}\n"
	    "{\"type\":\"edge\",\"from\":null,\"to\":2,\"count\":1,\"total_ns\":1000}\n"
	    "{\"type\":\"edge\",\"from\":2,\"to\":0,\"count\":1,\"total_ns\":900}\n"
	    "{\"type\":\"edge\",\"from\":0,\"to\":0,\"count\":4,\"total_ns\":300}\n"
	    "{\"type\":\"edge\",\"from\":0,\"to\":1,\"count\":2,\"total_ns\":100}\n"
	    "{\"type\":\"left-out\",\"nodes\":0,\"edges\":1}\n");
	sink_free(&sink);
}

static void graph_keeps_the_top(void **state)
{
	(void)state;
	struct sink sink;
	const char *dot = graph(&sink, &(struct tw_graph_options){.top = 2});
	assert_int_equal(occurrences(dot, "tooltip="), 2);
	assert_int_equal(occurrences(dot, "->"), 2);
	assert_int_equal(occurrences(dot, "\tn1 "), 0);
	assert_holds(dot, "left out: 1 functions, 2 edges");
	sink_free(&sink);
}

static void graph_of_nothing(void **state)
{
	(void)state;
	const struct tw_rows none = {0};
	struct sink sink;
	sink_open(&sink);
	assert_int_equal(tw_graph_render(&sink.out, &none, &none, &(struct tw_graph_options){.form = TW_GRAPH_JSON}),
	                 0);
	assert_string_equal(sink_text(&sink), "");
	sink_free(&sink);
}

/* ---- Diff ---- */

static struct tw_profile_row before[] = {
    {.name = "gone", .count = 4, .total = 40, .self = 40, .p50_ns = 10},
    {.name = "same", .count = 2, .total = 500, .self = 7, .p50_ns = 3},
    {.name = "twin", .id = 1, .count = 10, .open = 9, .total = 100, .self = 60, .p50_ns = 99},
    {.name = "twin", .id = 2, .count = 3, .total = 50, .self = 40, .p50_ns = 15},
};

static struct tw_profile_row after[] = {
    {.name = "fresh", .count = 1, .total = UINT64_MAX, .self = 1, .p50_ns = 1},
    {.name = "same", .count = 2, .total = 900, .self = 7, .p50_ns = 3},
    {.name = "twin", .id = 1, .count = 26, .total = 300, .self = 300, .p50_ns = 12},
};

static struct tw_diff *diff_by(enum tw_diff_by by)
{
	const struct tw_rows runs[] = {{.rows = before, .count = LENGTH(before)},
	                               {.rows = after, .count = LENGTH(after)}};
	struct tw_diff *diff;
	assert_int_equal(tw_diff_of_rows(&diff, runs, 1, 1, by), 0);
	return diff;
}

static void assert_value(struct tw_diff_value value, uint64_t a, uint64_t b, int64_t change, double ratio)
{
	assert_int_equal(value.a, a);
	assert_int_equal(value.b, b);
	assert_int_equal(value.change, change);
	if (isinf(ratio))
		assert_true(isinf(value.ratio) && value.ratio > 0);
	else
		assert_true(fabs(value.ratio - ratio) < 1e-12);
}

static void diff_sums_and_matches_by_name(void **state)
{
	(void)state;
	struct tw_diff *diff = diff_by(TW_DIFF_SELF);
	const struct tw_diff_row *twin = tw_diff_row(diff, 0);
	assert_string_equal(twin->name, "twin");
	assert_int_equal(twin->status, TW_DIFF_BOTH);
	assert_value(twin->self, 100, 300, 200, 3);
	assert_value(twin->count, 13, 26, 13, 2);
	assert_value(twin->total, 150, 300, 150, 2);
	assert_value(twin->p50_ns, 15, 12, -3, 0.8); /* of three ended calls, not of the one */
	const struct tw_diff_row *gone = tw_diff_row(diff, 1);
	assert_string_equal(gone->name, "gone");
	assert_int_equal(gone->status, TW_DIFF_ONLY_A);
	assert_value(gone->self, 40, 0, -40, 0);
	const struct tw_diff_row *fresh = tw_diff_row(diff, 2);
	assert_int_equal(fresh->status, TW_DIFF_ONLY_B);
	assert_value(fresh->total, 0, UINT64_MAX, INT64_MAX, INFINITY);
	assert_value(tw_diff_row(diff, 3)->self, 7, 7, 0, 1);
	assert_null(tw_diff_row(diff, 4));
	tw_diff_free(diff);
}

static void diff_sorts_by_size_of_change(void **state)
{
	(void)state;
	static const struct {
		enum tw_diff_by by;
		const char *names[4];
	} cases[] = {
	    {TW_DIFF_SELF, {"twin", "gone", "fresh", "same"}},
	    {TW_DIFF_TOTAL, {"fresh", "same", "twin", "gone"}},
	    {TW_DIFF_COUNT, {"twin", "gone", "fresh", "same"}},
	    {TW_DIFF_P50, {"gone", "twin", "fresh", "same"}},
	};
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct tw_diff *diff = diff_by(cases[i].by);
		for (size_t k = 0; k < 4; k++)
			assert_string_equal(tw_diff_row(diff, k)->name, cases[i].names[k]);
		tw_diff_free(diff);
	}
}

/* Means of the runs; p50 of those in which a call ended; a function that is in one run of a side is on that side. */
static void diff_of_several_runs(void **state)
{
	(void)state;
	static struct tw_profile_row runs[8][3] = {
	    {{.name = "f", .count = 2, .self = 10, .p50_ns = 5}, {.name = "once", .count = 1, .open = 1, .self = 4}},
	    {{.name = "f", .count = 2, .self = 11, .p50_ns = 6}, {.name = "once", .count = 1, .self = 6, .p50_ns = 6}},
	    {{.name = "f", .count = 2, .self = 12, .p50_ns = 7}},
	    {{.name = "f", .count = 3, .self = 13, .p50_ns = 8}},
	    {{.name = "f", .count = 4, .self = 20, .p50_ns = 5}, {.name = "new", .count = 1, .self = 2, .p50_ns = 2}},
	    {{.name = "f", .count = 4, .self = 21, .p50_ns = 6}},
	    {{.name = "f", .count = 4, .self = 22, .p50_ns = 7}},
	    {{.name = "f", .count = 4, .self = 23, .p50_ns = 8}},
	};
	static const size_t counts[8] = {2, 2, 1, 1, 2, 1, 1, 1};
	struct tw_rows rows[8];
	struct tw_diff *diff;
	for (size_t i = 0; i < 8; i++)
		rows[i] = (struct tw_rows){.rows = runs[i], .count = counts[i]};
	assert_int_equal(tw_diff_of_rows(&diff, rows, 4, 4, TW_DIFF_SELF), 0);
	const struct tw_diff_row *f = tw_diff_row(diff, 0), *once = tw_diff_row(diff, 1), *fresh = tw_diff_row(diff, 2);
	assert_string_equal(f->name, "f");
	assert_value(f->self, 12, 22, 10, 22.0 / 12); /* 11.5 and 21.5 */
	assert_value(f->count, 2, 4, 2, 2);           /* 2.25 */
	assert_int_equal(f->significance, TW_SIGNIFICANT);
	assert_true(fabs(f->low - 7) < 1e-12 && fabs(f->high - 13) < 1e-12);
	assert_string_equal(once->name, "once");
	assert_int_equal(once->status, TW_DIFF_ONLY_A);
	assert_int_equal(once->p50_ns.a, 6);
	assert_int_equal(once->self.a, 3); /* (4 + 6 + 0 + 0) / 4 */
	assert_int_equal(once->significance, TW_NOISE);
	assert_int_equal(fresh->status, TW_DIFF_ONLY_B);
	tw_diff_free(diff);
	assert_int_equal(tw_diff_of_rows(&diff, rows, 4, 4, TW_DIFF_P50), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(tw_diff_row(diff, i)->significance, TW_NOISE);
	tw_diff_free(diff);
}

static void diff_of_nothing(void **state)
{
	(void)state;
	const struct tw_rows none[2] = {{0}};
	struct tw_diff *diff;
	assert_int_equal(tw_diff_of_rows(&diff, none, 1, 1, TW_DIFF_TOTAL), 0);
	assert_null(tw_diff_row(diff, 0));
	tw_diff_free(diff);
	tw_diff_free(NULL);
}

/* ---- Files ---- */

static void errors_of_files_have_a_status(void **state)
{
	(void)state;
	struct tw_output out;
	errno = 0;
	assert_int_equal(tw_report_open(&out, "/nonexistent/flame.svg"), TW_ERR_SYSTEM);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(tw_report_open(&out, "/dev/full"), 0);
	assert_int_equal(tw_flame_render(&out, sample, LENGTH(sample), NULL), 0);
	errno = 0;
	assert_int_equal(tw_report_close(&out, 0), TW_ERR_SYSTEM);
	assert_int_equal(errno, ENOSPC);
}

/* A report that failed leaves no file. */
static void a_failed_report_leaves_no_file(void **state)
{
	(void)state;
	char directory[] = "/tmp/test_report.XXXXXX";
	assert_non_null(mkdtemp(directory));
	char path[sizeof directory + 8];
	snprintf(path, sizeof path, "%s/x.svg", directory);
	struct tw_output out;
	assert_int_equal(tw_report_open(&out, path), 0);
	tw_put_text(&out, "half");
	assert_int_equal(tw_report_close(&out, TW_ERR_MEMORY), TW_ERR_MEMORY);
	assert_int_equal(rmdir(directory), 0); /* it is empty */
}

SUITE(report)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(folds_depth_first_without_empty_stacks),
	    cmocka_unit_test(folds_nothing),
	    cmocka_unit_test(folds_deep_recursion),
	    cmocka_unit_test(cuts_names_by_columns),
	    cmocka_unit_test(keeps_own_names),
	    cmocka_unit_test(shows_times_with_units),
	    cmocka_unit_test(flame_places_frames),
	    cmocka_unit_test(flame_colours_by_name),
	    cmocka_unit_test(flame_stands_on_its_head),
	    cmocka_unit_test(flame_counts_what_it_leaves_out),
	    cmocka_unit_test(flame_of_nothing_is_a_picture),
	    cmocka_unit_test(flame_needs_no_network),
	    cmocka_unit_test(graph_is_dot),
	    cmocka_unit_test(graph_is_json_lines),
	    cmocka_unit_test(graph_of_samples),
	    cmocka_unit_test(flame_has_units),
	    cmocka_unit_test(graph_keeps_the_top),
	    cmocka_unit_test(graph_of_nothing),
	    cmocka_unit_test(diff_sums_and_matches_by_name),
	    cmocka_unit_test(diff_sorts_by_size_of_change),
	    cmocka_unit_test(diff_of_several_runs),
	    cmocka_unit_test(diff_of_nothing),
	    cmocka_unit_test(errors_of_files_have_a_status),
	    cmocka_unit_test(a_failed_report_leaves_no_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
