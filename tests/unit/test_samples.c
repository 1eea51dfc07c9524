/* test_samples.c - profiles and trees from made-up samples: every weight, recursion, classes, lines, threads, limits.
 *  */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trackway/analysis.h>

#include "core/format.h"

#include "suite.h"

enum { EVENTS = 32, ROWS = 16 };

/* A reader that gives these events. */
struct source {
	struct tw_format format;
	struct tw_event events[EVENTS];
	size_t count;
	struct tw_reader *reader;
	uint32_t tracks[2], klass, function[26];
};

static int read_source(struct tw_reader *reader, struct tw_batch *batch)
{
	struct source *source = reader->state;
	*batch = (struct tw_batch){.events = source->events, .count = source->count};
	source->count = 0;
	return (int)batch->count;
}

/* A step of a made-up trace: a sample on a track with a stack of letters, the outermost first. A capital letter is the
 * same function as the small one at another place (a line further down). */
struct step {
	char kind; /* S: ticks, wall time; C: CPU time; A: bytes, count */
	unsigned track;
	const char *stack;
	uint64_t value, id;
};

/* Functions a to d are of class "C1" in "m1.dll", e to z of "C2" in "m2.dll"; z has neither. Places of x have no file.
 *  */
static uint32_t add_function(struct source *source, char letter)
{
	struct tw_dictionary *dictionary = source->reader->dictionary;
	uint32_t *known = &source->function[letter - 'a'];
	char text[] = {letter, '\0'};
	if (*known)
		return *known;
	struct tw_name module = {.text = letter < 'e' ? "m1.dll" : "m2.dll", .length = 6};
	struct tw_name owner = {.text = letter < 'e' ? "C1" : "C2", .length = 2, .id = 70};
	owner.module = tw_dictionary_intern(dictionary, &module);
	struct tw_name name = {.text = text, .length = 1, .id = (uint64_t)letter};
	if (letter != 'z') {
		name.owner = tw_dictionary_intern(dictionary, &owner);
		name.module = owner.module;
	}
	return *known = tw_dictionary_intern(dictionary, &name);
}

static uint32_t add_stack(struct source *source, const char *letters)
{
	struct tw_dictionary *dictionary = source->reader->dictionary;
	uint32_t stack = 0;
	for (; *letters; letters++) {
		bool lower = *letters >= 'a';
		char letter = lower ? *letters : (char)(*letters - 'A' + 'a');
		struct tw_location location = {.name = add_function(source, letter), .address = lower ? 0x10 : 0x20};
		uint32_t place = tw_dictionary_add_location(dictionary, &location);
		if (letter != 'x')
			tw_dictionary_locate(dictionary, place, tw_dictionary_text(dictionary, "f.cs"),
			                     (uint32_t)(letter - 'a') * 10 + (lower ? 1 : 2));
		stack = tw_dictionary_push(dictionary, stack, place);
	}
	return stack;
}

static void open_source(struct source *source, const struct step *steps, size_t count)
{
	static const struct tw_read_options options;
	*source = (struct source){.format = {.name = "made-up", .reading.read = read_source}, .count = count};
	source->reader = tw_reader_new(&options);
	source->reader->format = &source->format;
	source->reader->traits.sampled = true;
	source->reader->state = source;
	struct tw_dictionary *dictionary = source->reader->dictionary;
	for (uint32_t i = 0; i < 2; i++)
		source->tracks[i] =
		    tw_dictionary_add_track(dictionary, &(struct tw_track){.process = 9, .thread = 100 + i});
	for (size_t i = 0; i < count; i++) {
		const struct step *step = &steps[i];
		source->events[i] = (struct tw_event){
		    .kind = step->kind == 'S'   ? TW_STACK_SAMPLE
		            : step->kind == 'C' ? TW_CPU_SAMPLE
		                                : TW_ALLOCATION_SAMPLE,
		    .time = i,
		    .track = source->tracks[step->track],
		    .value = step->value,
		    .id = step->id,
		    .other = add_stack(source, step->stack),
		};
	}
}

static void close_source(struct source *source)
{
	tw_dictionary_free(source->reader->dictionary);
	pthread_mutex_destroy(&source->reader->reports.lock);
	free(source->reader);
}

/* a calls b, which calls a again; a alone; b on another line of its own from another place of a; x without lines; no
 * stack. */
static const struct step steps[] = {
    {'S', 0, "ab", 2, 20}, {'S', 0, "aba", 3, 30},  {'S', 0, "a", 1, 10},  {'S', 1, "Ab", 4, 40},
    {'S', 1, "e", 5, 50},  {'C', 0, "aba", 700, 0}, {'A', 0, "ab", 64, 2}, {'A', 1, "eae", 100, 1},
    {'S', 0, "", 6, 60},   {'S', 0, "xX", 1, 10},   {'S', 0, "z", 1, 10},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct expected {
	const char *name, *caller;
	uint64_t thread, self, total, count;
};

struct scene {
	enum tw_profile_by by;
	enum tw_weight weight;
	struct expected rows[ROWS];
};

/* All by hand from `steps`. */
static const struct scene scenes[] = {
    /* Recursion: aba counts once for a, with a: 2 + 3 + 1 + 4. */
    {TW_BY_FUNCTION,
     TW_WEIGHT_DEFAULT,
     {{"(no stack)", NULL, 0, 6, 6, 6},
      {"a", NULL, 0, 4, 10, 4},
      {"b", NULL, 0, 6, 9, 6},
      {"e", NULL, 0, 5, 5, 5},
      {"x", NULL, 0, 1, 1, 1},
      {"z", NULL, 0, 1, 1, 1}}},
    {TW_BY_FUNCTION,
     TW_WEIGHT_WALL,
     {{"(no stack)", NULL, 0, 60, 60, 6},
      {"a", NULL, 0, 40, 100, 4},
      {"b", NULL, 0, 60, 90, 6},
      {"e", NULL, 0, 50, 50, 5},
      {"x", NULL, 0, 10, 10, 1},
      {"z", NULL, 0, 10, 10, 1}}},
    {TW_BY_FUNCTION, TW_WEIGHT_CPU, {{"a", NULL, 0, 700, 700, 4}, {"b", NULL, 0, 0, 700, 6}}},
    {TW_BY_FUNCTION,
     TW_WEIGHT_BYTES,
     {{"a", NULL, 0, 0, 164, 0}, {"b", NULL, 0, 64, 64, 2}, {"e", NULL, 0, 100, 100, 1}}},
    {TW_BY_FUNCTION,
     TW_WEIGHT_ALLOCATIONS,
     {{"a", NULL, 0, 0, 3, 0}, {"b", NULL, 0, 2, 2, 2}, {"e", NULL, 0, 1, 1, 1}}},
    {TW_BY_THREAD,
     TW_WEIGHT_SAMPLES,
     {{"(no stack)", NULL, 100, 6, 6, 6},
      {"a", NULL, 100, 4, 6, 4},
      {"a", NULL, 101, 0, 4, 0},
      {"b", NULL, 100, 2, 5, 2},
      {"b", NULL, 101, 4, 4, 4},
      {"e", NULL, 101, 5, 5, 5},
      {"x", NULL, 100, 1, 1, 1},
      {"z", NULL, 100, 1, 1, 1}}},
    {TW_BY_CALLER,
     TW_WEIGHT_SAMPLES,
     {{"(no stack)", NULL, 0, 6, 6, 6},
      {"a", NULL, 0, 1, 10, 1},
      {"a", "b", 0, 3, 3, 3},
      {"b", "a", 0, 6, 9, 6},
      {"e", NULL, 0, 5, 5, 5},
      {"x", NULL, 0, 0, 1, 0},
      {"x", "x", 0, 1, 1, 1},
      {"z", NULL, 0, 1, 1, 1}}},
    {TW_BY_CLASS,
     TW_WEIGHT_SAMPLES,
     {{"(no class)", NULL, 0, 1, 1, 1},
      {"(no stack)", NULL, 0, 6, 6, 6},
      {"C1", NULL, 0, 10, 10, 10},
      {"C2", NULL, 0, 6, 6, 6}}},
    {TW_BY_CLASS, TW_WEIGHT_BYTES, {{"C1", NULL, 0, 64, 164, 2}, {"C2", NULL, 0, 100, 100, 1}}},
    {TW_BY_MODULE,
     TW_WEIGHT_SAMPLES,
     {{"(no module)", NULL, 0, 1, 1, 1},
      {"(no stack)", NULL, 0, 6, 6, 6},
      {"m1.dll", NULL, 0, 10, 10, 10},
      {"m2.dll", NULL, 0, 6, 6, 6}}},
    {TW_BY_LINE,
     TW_WEIGHT_SAMPLES,
     {{"(no stack)", NULL, 0, 6, 6, 6},
      {"f.cs:1", NULL, 0, 4, 6, 4},
      {"f.cs:11", NULL, 0, 6, 9, 6},
      {"f.cs:2", NULL, 0, 0, 4, 0},
      {"f.cs:251", NULL, 0, 1, 1, 1},
      {"f.cs:41", NULL, 0, 5, 5, 5},
      {"x@0x10", NULL, 0, 0, 1, 0},
      {"x@0x20", NULL, 0, 1, 1, 1}}},
};

static void expect_rows(struct tw_profile *profile, const struct expected *expected, uint64_t times)
{
	size_t i = 0;
	for (; expected[i].name; i++) {
		const struct tw_profile_row *row = tw_profile_row(profile, i);
		assert_non_null(row);
		assert_string_equal(row->name, expected[i].name);
		assert_int_equal(row->caller != NULL, expected[i].caller != NULL);
		if (row->caller)
			assert_string_equal(row->caller, expected[i].caller);
		assert_int_equal(row->thread, expected[i].thread);
		assert_int_equal(row->self, times * expected[i].self);
		assert_int_equal(row->total, times * expected[i].total);
		assert_int_equal(row->count, times * expected[i].count);
		assert_int_equal(row->open + row->unwound + row->max_ns, 0);
	}
	assert_null(tw_profile_row(profile, i));
}

static void add(struct tw_profile *profile)
{
	struct source source;
	open_source(&source, steps, COUNT(steps));
	assert_int_equal(tw_profile_add(profile, source.reader), 0);
	close_source(&source);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t k = 0; k < 2 * COUNT(scenes); k++) {
		size_t i = k / 2;
		struct tw_profile *profile;
		struct tw_profile_options options = {.by = scenes[i].by,
		                                     .weight = scenes[i].weight,
		                                     .one_weight = k % 2};
		assert_int_equal(tw_profile_new(&profile, &options), 0);
		add(profile);
		expect_rows(profile, scenes[i].rows, 1);
		add(profile); /* a second trace with numbers of its own */
		expect_rows(profile, scenes[i].rows, 2);
		tw_profile_free(profile);
	}
}

/* All weights come of one pass, and what is known of functions is in their rows. */
static void test_all_weights(void **state)
{
	(void)state;
	struct tw_profile *profile;
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	assert_int_equal(tw_profile_weight(profile), TW_WEIGHT_DEFAULT);
	add(profile);
	assert_int_equal(tw_profile_weight(profile), TW_WEIGHT_SAMPLES);
	const struct tw_profile_row *row = tw_profile_row(profile, 1);
	static const struct tw_weighed a[] = {{4, 10}, {700, 700}, {40, 100}, {0, 164}, {0, 3}};
	for (size_t i = 0; i < COUNT(a); i++) {
		assert_int_equal(row->weighed[TW_WEIGHT_SAMPLES + i].self, a[i].self);
		assert_int_equal(row->weighed[TW_WEIGHT_SAMPLES + i].total, a[i].total);
	}
	assert_string_equal(row->owner, "C1");
	assert_string_equal(row->module, "m1.dll");
	assert_null(tw_profile_row(profile, 5)->owner);
	tw_profile_free(profile);
}

static void test_line_is_known(void **state)
{
	(void)state;
	struct tw_profile *profile;
	assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.by = TW_BY_LINE}), 0);
	add(profile);
	assert_string_equal(tw_profile_row(profile, 2)->file, "f.cs");
	assert_int_equal(tw_profile_row(profile, 2)->line, 11);
	assert_null(tw_profile_row(profile, 6)->file);
	tw_profile_free(profile);
}

/* ---- Trees. ---- */

struct branch {
	const char *name;
	uint32_t depth;
	uint64_t self, total, count;
};

static void expect_tree(const struct tw_calltree_options *options, const struct branch *expected)
{
	struct tw_calltree *tree;
	struct source source;
	uint32_t i = 0;
	open_source(&source, steps, COUNT(steps));
	assert_int_equal(tw_calltree_new(&tree, options), 0);
	assert_int_equal(tw_calltree_add(tree, source.reader), 0);
	close_source(&source);
	for (; expected[i].name; i++) {
		const struct tw_calltree_node *node = tw_calltree_node(tree, i);
		assert_non_null(node);
		assert_string_equal(node->name, expected[i].name);
		assert_int_equal(node->depth, expected[i].depth);
		assert_int_equal(node->self, expected[i].self);
		assert_int_equal(node->total, expected[i].total);
		assert_int_equal(node->count, expected[i].count);
	}
	assert_null(tw_calltree_node(tree, i));
	tw_calltree_free(tree);
}

static void test_tree(void **state)
{
	(void)state;
	expect_tree(NULL, (const struct branch[]){{"", 0, 0, 23, 0},
	                                          {"(no stack)", 1, 6, 6, 6},
	                                          {"a", 1, 1, 10, 1},
	                                          {"b", 2, 6, 9, 6},
	                                          {"a", 3, 3, 3, 3},
	                                          {"e", 1, 5, 5, 5},
	                                          {"x", 1, 0, 1, 0},
	                                          {"x", 2, 1, 1, 1},
	                                          {"z", 1, 1, 1, 1},
	                                          {0}});
}

static void test_tree_of_bytes(void **state)
{
	(void)state;
	expect_tree(&(struct tw_calltree_options){.weight = TW_WEIGHT_BYTES, .per_thread = true},
	            (const struct branch[]){{"", 0, 0, 164, 0},
	                                    {"thread 100", 1, 0, 64, 0},
	                                    {"a", 2, 0, 64, 0},
	                                    {"b", 3, 64, 64, 2},
	                                    {"thread 101", 1, 0, 100, 0},
	                                    {"e", 2, 0, 100, 0},
	                                    {"a", 3, 0, 100, 0},
	                                    {"e", 4, 100, 100, 1},
	                                    {0}});
}

/* ---- What cannot be. ---- */

static void test_no_samples(void **state)
{
	(void)state;
	struct tw_profile *profile;
	struct source source;
	open_source(&source, steps, 1);
	source.reader->traits.sampled = false;
	assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.weight = TW_WEIGHT_BYTES}), 0);
	assert_int_equal(tw_profile_add(profile, source.reader), TW_ERR_VALUE);
	assert_non_null(strstr(tw_reader_error(source.reader), "no weight \"bytes\""));
	tw_profile_free(profile);
	assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.by = TW_BY_CLASS}), 0);
	assert_int_equal(tw_profile_add(profile, source.reader), TW_ERR_VALUE);
	tw_profile_free(profile);
	close_source(&source);
}

/* Calls and samples are no sum; asked for, one of them is taken of both. */
static void test_mixed(void **state)
{
	(void)state;
	struct tw_profile *profile;
	struct source source;
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	add(profile);
	open_source(&source, steps, 1);
	source.reader->traits.sampled = false;
	assert_int_equal(tw_profile_add(profile, source.reader), TW_ERR_VALUE);
	assert_non_null(strstr(tw_reader_error(source.reader), "calls"));
	tw_profile_free(profile);
	close_source(&source);
}

/* Sums stay at the end; stacks beyond the limit are counted, and told. */
static void test_limits(void **state)
{
	(void)state;
	static const struct step large[] = {{'S', 0, "a", UINT64_MAX, 1},
	                                    {'S', 0, "ab", UINT64_MAX, 1},
	                                    {'S', 0, "b", 5, 1}};
	struct tw_profile *profile;
	struct source source;
	open_source(&source, large, COUNT(large));
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	assert_int_equal(tw_profile_add(profile, source.reader), 0);
	assert_true(tw_profile_row(profile, 0)->total == UINT64_MAX);
	assert_true(tw_profile_row(profile, 1)->self == UINT64_MAX);
	tw_profile_free(profile);
	close_source(&source);
	open_source(&source, steps, COUNT(steps));
	assert_int_equal(tw_profile_new(&profile, &(struct tw_profile_options){.memory_limit = 1}), 0);
	assert_int_equal(tw_profile_add(profile, source.reader), 0);
	assert_string_equal(tw_profile_row(profile, 0)->name, "(other)");
	assert_int_equal(tw_profile_row(profile, 0)->self, 23);
	assert_int_equal(tw_profile_notes(profile)->rows_folded, COUNT(steps));
	tw_profile_free(profile);
	close_source(&source);
}

/* A recursion as deep as a log may tell takes no stack of ours and no square of time. */
static void test_deep(void **state)
{
	(void)state;
	enum { DEPTH = 200000 };
	struct tw_profile *profile;
	struct source source;
	open_source(&source, steps, 1);
	uint32_t place = tw_dictionary_add_location(source.reader->dictionary,
	                                            &(struct tw_location){.name = add_function(&source, 'q')});
	uint32_t stack = 0;
	for (int i = 0; i < DEPTH; i++)
		stack = tw_dictionary_push(source.reader->dictionary, stack, place);
	source.events[0].other = stack;
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	assert_int_equal(tw_profile_add(profile, source.reader), 0);
	assert_int_equal(tw_profile_row(profile, 0)->total, 2);
	assert_int_equal(tw_profile_row(profile, 0)->self, 2);
	assert_null(tw_profile_row(profile, 1));
	tw_profile_free(profile);
	close_source(&source);
}

/* Of several traces as one, functions still know their class and module. */
static void test_merged(void **state)
{
	(void)state;
	char paths[2][4096];
	const char *data = getenv("TW_TEST_DATA");
	assert_non_null(data);
	snprintf(paths[0], sizeof paths[0], "%s/fxt/oneshot_all.fxt", data);
	snprintf(paths[1], sizeof paths[1], "%s/tracelog/kinds.log", data);
	const struct tw_merge_source sources[] = {{.path = paths[0]}, {.path = paths[1]}};
	struct tw_reader *reader;
	struct tw_batch batch;
	const struct tw_name *function = NULL;
	assert_int_equal(tw_open_merged(&reader, sources, 2, NULL, NULL), 0);
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	while (tw_read(reader, &batch) > 0)
		;
	for (uint32_t i = 1; i < tw_dictionary_names(dictionary); i++)
		if (strcmp(tw_dictionary_name(dictionary, i)->text, "App.Program::Main") == 0)
			function = tw_dictionary_name(dictionary, i);
	assert_non_null(function);
	assert_string_equal(tw_dictionary_name(dictionary, function->owner)->text, "System.String");
	assert_string_equal(tw_dictionary_name(dictionary, function->module)->text,
	                    "/usr/share/dotnet/shared/System.Private.CoreLib.dll");
	tw_close(reader);
}

/* What two paths are counted by as one trace: by samples where each tells by them where time goes. */
static enum tw_weight merged_weight(const char *first, const char *second)
{
	char paths[2][4096];
	snprintf(paths[0], sizeof paths[0], "%s/%s", getenv("TW_TEST_DATA"), first);
	snprintf(paths[1], sizeof paths[1], "%s/%s", getenv("TW_TEST_DATA"), second);
	const struct tw_merge_source sources[] = {{.path = paths[0]}, {.path = paths[1]}};
	struct tw_reader *reader;
	struct tw_profile *profile;
	assert_int_equal(tw_open_merged(&reader, sources, 2, NULL, NULL), 0);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	assert_int_equal(tw_profile_add(profile, reader), 0);
	enum tw_weight weight = tw_profile_weight(profile);
	tw_profile_free(profile);
	tw_close(reader);
	return weight;
}

static void test_merged_weight(void **state)
{
	(void)state;
	assert_int_equal(merged_weight("tracelog/kinds.log", "tracelog/small-d2-64.log"), TW_WEIGHT_SAMPLES);
	assert_int_equal(merged_weight("tracelog/kinds.log", "fxt/oneshot_all.fxt"), TW_WEIGHT_CALLS);
	assert_int_equal(merged_weight("fxt/oneshot_all.fxt", "tracelog/kinds.log"), TW_WEIGHT_CALLS);
}

/* Without ticks wall time is what is counted, where nobody says; the first trace tells. */
static void test_no_ticks(void **state)
{
	(void)state;
	static const struct step without[] = {{'S', 0, "ab", 0, 20}, {'C', 0, "a", 5, 0}},
				 with[] = {{'S', 0, "ab", 2, 30}};
	static const struct {
		const struct step *first, *second;
		enum tw_weight asked, weight;
		uint64_t self;
	} cases[] = {
	    {without, without, TW_WEIGHT_DEFAULT, TW_WEIGHT_WALL, 40},
	    {without, with, TW_WEIGHT_DEFAULT, TW_WEIGHT_WALL, 50},
	    {with, without, TW_WEIGHT_DEFAULT, TW_WEIGHT_SAMPLES, 2},
	    {without, with, TW_WEIGHT_SAMPLES, TW_WEIGHT_SAMPLES, 2},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tw_profile *profile;
		struct tw_calltree *tree;
		const struct tw_profile_options options = {.weight = cases[i].asked};
		const struct tw_calltree_options tree_options = {.weight = cases[i].asked};
		const struct step *traces[] = {cases[i].first, cases[i].second, cases[i].first, cases[i].second};
		struct source sources[4];
		for (size_t k = 0; k < COUNT(traces); k++)
			open_source(&sources[k], traces[k], traces[k] == with ? COUNT(with) : COUNT(without));
		assert_int_equal(tw_profile_new(&profile, &options), 0);
		assert_int_equal(tw_calltree_new(&tree, &tree_options), 0);
		assert_int_equal(tw_profile_add(profile, sources[0].reader), 0);
		assert_int_equal(tw_profile_add(profile, sources[1].reader), 0);
		assert_int_equal(tw_calltree_add(tree, sources[2].reader), 0);
		assert_int_equal(tw_calltree_add(tree, sources[3].reader), 0);
		assert_int_equal(tw_profile_weight(profile), cases[i].weight);
		assert_int_equal(tw_calltree_weight(tree), cases[i].weight);
		assert_string_equal(tw_profile_row(profile, 1)->name, "b");
		assert_int_equal(tw_profile_row(profile, 1)->self, cases[i].self);
		assert_int_equal(tw_calltree_node(tree, 0)->total, cases[i].self);
		for (size_t k = 0; k < COUNT(traces); k++)
			close_source(&sources[k]);
		tw_profile_free(profile);
		tw_calltree_free(tree);
	}
}

SUITE(samples)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),   cmocka_unit_test(test_all_weights),   cmocka_unit_test(test_line_is_known),
	    cmocka_unit_test(test_tree),   cmocka_unit_test(test_tree_of_bytes), cmocka_unit_test(test_no_samples),
	    cmocka_unit_test(test_mixed),  cmocka_unit_test(test_limits),        cmocka_unit_test(test_deep),
	    cmocka_unit_test(test_merged), cmocka_unit_test(test_merged_weight), cmocka_unit_test(test_no_ticks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
