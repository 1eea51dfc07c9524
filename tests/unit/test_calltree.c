/* test_calltree.c - trees of calls from hand-made events: stacks, order, threads, merging, limits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_steps.h"
#include "suite.h"

enum { EVENTS = 64, NODES = 24 };

/* A node as it should be; the first with a NULL name ends a list. The root comes first. */
struct expected {
	const char *name;
	uint32_t parent;
	uint64_t thread;
	uint64_t count, open, total, self;
};

struct scene {
	const char *title;
	struct tw_calltree_options options;
	struct step steps[EVENTS];
	struct expected nodes[NODES];
	uint64_t exits;
};

static const struct scene scenes[] = {
    {"nothing", {0}, {{0}}, {{"", 0, 0, 0, 0, 0, 0}}, 0},
    {"every stack once, siblings by name",
     {0},
     {{'B', 0, 0, 'm', 0},
      {'B', 0, 10, 'z', 0},
      {'B', 0, 12, 'q', 0},
      {'E', 0, 17, 'q', 0},
      {'E', 0, 20, 'z', 0},
      {'B', 0, 30, 'b', 0},
      {'B', 0, 31, 'q', 0},
      {'E', 0, 33, 'q', 0},
      {'E', 0, 40, 'b', 0},
      {'B', 0, 50, 'z', 0},
      {'E', 0, 51, 'z', 0},
      {'E', 0, 100, 'm', 0},
      {'B', 0, 110, 'a', 0},
      {'E', 0, 115, 'a', 0}},
     {{"", 0, 0, 0, 0, 105, 0},
      {"a", 0, 0, 1, 0, 5, 5},
      {"m", 0, 0, 1, 0, 100, 79},
      {"b", 2, 0, 1, 0, 10, 8},
      {"q", 3, 0, 1, 0, 2, 2},
      {"z", 2, 0, 2, 0, 11, 6},
      {"q", 5, 0, 1, 0, 5, 5}},
     0},
    {"recursion is stacks of their own",
     {0},
     {{'B', 0, 0, 'f', 0},
      {'B', 0, 10, 'f', 0},
      {'B', 0, 20, 'g', 0},
      {'B', 0, 25, 'f', 0},
      {'E', 0, 30, 'f', 0},
      {'E', 0, 40, 'g', 0},
      {'E', 0, 60, 'f', 0},
      {'E', 0, 100, 'f', 0}},
     {{"", 0, 0, 0, 0, 100, 0},
      {"f", 0, 0, 1, 0, 100, 50},
      {"f", 1, 0, 1, 0, 50, 30},
      {"g", 2, 0, 1, 0, 20, 15},
      {"f", 3, 0, 1, 0, 5, 5}},
     0},
    {"unwound, open and unmatched",
     {0},
     {{'E', 0, 0, 'x', 0},
      {'B', 0, 0, 'a', 0},
      {'B', 0, 10, 'b', 0},
      {'B', 0, 20, 'c', 0},
      {'E', 0, 30, 'b', 0},
      {'B', 0, 40, 'c', 0},
      {'I', 0, 45, 'i', 0}},
     {{"", 0, 0, 0, 0, 45, 0},
      {"a", 0, 0, 1, 1, 45, 20},
      {"b", 1, 0, 1, 0, 20, 10},
      {"c", 2, 0, 1, 0, 10, 10},
      {"c", 1, 0, 1, 1, 5, 5}},
     1},
    {"tracks are merged",
     {0},
     {{'B', 0, 0, 'a', 0},
      {'B', 1, 1, 'a', 0},
      {'B', 1, 2, 'b', 0},
      {'X', 0, 3, 'b', 4},
      {'E', 1, 5, 'b', 0},
      {'E', 0, 10, 'a', 0},
      {'E', 1, 21, 'a', 0}},
     {{"", 0, 0, 0, 0, 30, 0}, {"a", 0, 0, 2, 0, 30, 23}, {"b", 1, 0, 2, 0, 7, 7}},
     0},
    {"or not: threads by name, which is text",
     {.per_thread = true},
     {{'B', 0, 0, 'a', 0},
      {'B', 1, 1, 'a', 0},
      {'B', 1, 2, 'b', 0},
      {'X', 0, 3, 'b', 4},
      {'E', 1, 5, 'b', 0},
      {'E', 0, 10, 'a', 0},
      {'E', 1, 21, 'a', 0},
      {'B', 1, 30, 'b', 0},
      {'E', 1, 31, 'b', 0},
      {'I', 2, 40, 'i', 0}},
     {{"", 0, 0, 0, 0, 31, 0},
      {"thread 100", 0, 100, 0, 0, 10, 0},
      {"a", 1, 100, 1, 0, 10, 6},
      {"b", 2, 100, 1, 0, 4, 4},
      {"thread 99", 0, 99, 0, 0, 21, 0},
      {"a", 4, 99, 1, 0, 20, 17},
      {"b", 5, 99, 1, 0, 3, 3},
      {"b", 4, 99, 1, 0, 1, 1}},
     0},
    {"short calls leave no node",
     {.min_duration_ns = 10, .per_thread = true},
     {{'B', 0, 0, 'a', 0},
      {'B', 0, 10, 'b', 0},
      {'B', 0, 11, 'c', 0},
      {'E', 0, 12, 'c', 0},
      {'E', 0, 19, 'b', 0},
      {'B', 0, 20, 'd', 0},
      {'E', 0, 30, 'd', 0},
      {'E', 0, 40, 'a', 0},
      {'B', 1, 50, 'a', 0},
      {'E', 1, 59, 'a', 0}},
     {{"", 0, 0, 0, 0, 40, 0},
      {"thread 100", 0, 100, 0, 0, 40, 0},
      {"a", 1, 100, 1, 0, 40, 30},
      {"d", 2, 100, 1, 0, 10, 10}},
     0},
};

/* Names are single letters, their ids the letters' numbers; track t is thread 100 - t of process 9. */
static struct tw_event add_event(struct tw_dictionary *dictionary, const struct step *step)
{
	struct tw_name name = {.text = &step->name, .length = 1, .id = (uint64_t)step->name};
	struct tw_track track = {.process = 9, .thread = 100 - step->track};
	uint32_t number = tw_dictionary_add_track(dictionary, &track);
	return event_of(step, number, tw_dictionary_intern(dictionary, &name));
}

/* Adds those steps whose track has a bit in `tracks`. first: a name that takes number 1 of the dictionary. */
static void add_steps(struct tw_calltree *tree, const struct step *steps, unsigned tracks, const char *first)
{
	struct tw_event events[EVENTS];
	size_t count = 0;
	struct tw_dictionary *dictionary = tw_dictionary_new();
	tw_dictionary_text(dictionary, first);
	for (; steps->kind; steps++)
		if (tracks >> steps->track & 1)
			events[count++] = add_event(dictionary, steps);
	void *part = tw_calltree_consumer.open(tree, dictionary);
	assert_non_null(part);
	tw_consume_batch(&tw_calltree_consumer, part, &(struct tw_batch){.events = events, .count = count});
	tw_calltree_consumer.finish(part);
	assert_false(tw_calltree_consumer.folded(tree, part));
	assert_int_equal(tw_calltree_consumer.merge(tree, part), 0);
	tw_calltree_consumer.close(part);
	tw_dictionary_free(dictionary);
	assert_int_equal(tw_calltree_consumer.settle(tree), 0);
}

static void expect_nodes(struct tw_calltree *tree, const struct expected *expected, uint64_t times)
{
	uint32_t i = 0;
	for (; expected[i].name; i++) {
		const struct expected *e = &expected[i];
		const struct tw_calltree_node *node = tw_calltree_node(tree, i);
		assert_non_null(node);
		assert_string_equal(node->name, e->name);
		assert_int_equal(node->id, strlen(e->name) == 1 ? e->name[0] : 0);
		assert_int_equal(node->parent, e->parent);
		assert_int_equal(node->depth, i ? tw_calltree_node(tree, e->parent)->depth + 1 : 0);
		assert_int_equal(node->thread, e->thread);
		assert_int_equal(node->process, e->thread ? 9 : 0);
		assert_int_equal(node->count, e->count * times);
		assert_int_equal(node->open, e->open * times);
		assert_int_equal(node->total, e->total * times);
		assert_int_equal(node->self, e->self * times);
	}
	assert_null(tw_calltree_node(tree, i));
}

static void test_tree_of_each_scene(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(scenes); i++) {
		const struct scene *scene = &scenes[i];
		struct tw_calltree *tree;
		print_message("# %s\n", scene->title);
		assert_int_equal(tw_calltree_new(&tree, &scene->options), 0);
		add_steps(tree, scene->steps, ~0u, "q");
		expect_nodes(tree, scene->nodes, 1);
		assert_int_equal(tw_calltree_notes(tree)->exits_without_entry, scene->exits);
		assert_int_equal(tw_calltree_notes(tree)->rows_folded, 0);
		add_steps(tree, scene->steps, ~0u, "zz"); /* a second trace, with other numbers */
		expect_nodes(tree, scene->nodes, 2);
		tw_calltree_free(tree);
	}
	tw_calltree_free(NULL);
}

/* Parts, whose dictionaries differ, in any order. */
static void test_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(scenes); i++) {
		for (unsigned order = 0; order < 2; order++) {
			struct tw_calltree *tree;
			assert_int_equal(tw_calltree_new(&tree, &scenes[i].options), 0);
			for (unsigned part = 0; part < 2; part++)
				add_steps(tree, scenes[i].steps, part == order ? 1 : ~1u, part ? "b" : "z");
			expect_nodes(tree, scenes[i].nodes, 1);
			tw_calltree_free(tree);
		}
	}
}

/* Adds a part with one call. */
static void add_call(struct tw_calltree *tree, const char *name, size_t length, uint64_t duration)
{
	struct tw_dictionary *dictionary = tw_dictionary_new();
	void *part = tw_calltree_consumer.open(tree, dictionary);
	struct tw_event event = {
	    .value = duration,
	    .track = tw_dictionary_add_track(dictionary, &(struct tw_track){.thread = 1}),
	    .name = tw_dictionary_intern(dictionary, &(struct tw_name){.text = name, .length = length}),
	    .kind = TW_SLICE_COMPLETE,
	};
	tw_consume_batch(&tw_calltree_consumer, part, &(struct tw_batch){.events = &event, .count = 1});
	tw_calltree_consumer.finish(part);
	assert_int_equal(tw_calltree_consumer.merge(tree, part), 0);
	tw_calltree_consumer.close(part);
	tw_dictionary_free(dictionary);
}

/* Damage puts NULs into names: the order of those that are the same before it does not depend on the parts either. */
static void test_names_with_nul(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t length;
	} names[] = {{"a", 1}, {"a\0b", 3}, {"a\0c", 3}, {"a\0cc", 4}};
	for (size_t first = 0; first < COUNT(names); first++) {
		struct tw_calltree *tree;
		assert_int_equal(tw_calltree_new(&tree, &(struct tw_calltree_options){0}), 0);
		for (size_t i = 0; i < COUNT(names); i++) {
			size_t which = (first + i) % COUNT(names);
			add_call(tree, names[which].text, names[which].length, which + 1);
		}
		assert_int_equal(tw_calltree_consumer.settle(tree), 0);
		for (uint32_t i = 0; i < COUNT(names); i++)
			assert_int_equal(tw_calltree_node(tree, 1 + i)->total, i + 1);
		tw_calltree_free(tree);
	}
}

/* A track per function, each calling all of them to a depth: more stacks than there is memory for. */
static struct tw_calltree *deep(const struct tw_calltree_options *options, uint32_t functions, uint32_t depth)
{
	struct tw_calltree *tree;
	struct tw_dictionary *dictionary = tw_dictionary_new();
	assert_int_equal(tw_calltree_new(&tree, options), 0);
	void *part = tw_calltree_consumer.open(tree, dictionary);
	uint64_t time = 0;
	for (uint32_t first = 1; first <= functions; first++)
		for (uint32_t i = 0; i < 2 * depth; i++) {
			uint64_t level = i < depth ? i : 2 * depth - 1 - i;
			struct tw_name name = {.text = "", .id = 1 + (first + level) % functions};
			struct tw_event event = {
			    .time = time++,
			    .track = tw_dictionary_add_track(dictionary, &(struct tw_track){.thread = first}),
			    .name = tw_dictionary_intern(dictionary, &name),
			    .kind = i < depth ? TW_SLICE_BEGIN : TW_SLICE_END,
			};
			tw_consume_batch(&tw_calltree_consumer, part, &(struct tw_batch){.events = &event, .count = 1});
		}
	tw_calltree_consumer.finish(part);
	assert_int_equal(tw_calltree_consumer.merge(tree, part), 0);
	assert_int_equal(tw_calltree_consumer.settle(tree), 0);
	tw_calltree_consumer.close(part);
	tw_dictionary_free(dictionary);
	return tree;
}

static struct tw_calltree *hostile(size_t limit, bool per_thread, uint32_t functions, uint32_t depth)
{
	return deep(&(struct tw_calltree_options){.per_thread = per_thread, .memory_limit = limit}, functions, depth);
}

static void test_memory_limit(void **state)
{
	(void)state;
	enum { FUNCTIONS = 100, DEPTH = 60 };
	static const size_t limits[] = {1, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 19, 0};
	for (size_t i = 0; i < 2 * COUNT(limits); i++) {
		size_t limit = limits[i / 2];
		struct tw_calltree *tree = hostile(limit, i % 2, FUNCTIONS, DEPTH);
		uint64_t count = 0, self = 0, other = 0;
		for (uint32_t n = 1; tw_calltree_node(tree, n); n++) {
			const struct tw_calltree_node *node = tw_calltree_node(tree, n);
			count += node->count;
			self += node->self;
			other += strcmp(node->name, "(other)") == 0 ? node->count : 0;
			assert_true(node->parent < n);
			assert_true(node->total >= node->self);
		}
		assert_int_equal(count, FUNCTIONS * DEPTH);
		assert_int_equal(self, tw_calltree_node(tree, 0)->total);
		assert_int_equal(other, tw_calltree_notes(tree)->rows_folded);
		assert_int_equal(tw_calltree_notes(tree)->exits_without_entry, 0);
		assert_int_equal(other != 0, limit != 0);
		if (limit == 0 || limit >= 1 << 18) /* the stacks themselves had room: no time is lost */
			assert_int_equal(self, FUNCTIONS * (2 * DEPTH - 1));
		tw_calltree_free(tree);
	}
}

/* f calls f and so on, each 2 ns around the next; the innermost takes 1 ns. Beyond the third they are one node, whose
 * time is that of the outermost of them. */
static void test_depth_limit(void **state)
{
	(void)state;
	for (int per_thread = 0; per_thread < 2; per_thread++) {
		struct tw_calltree_options options = {.per_thread = per_thread, .max_depth = 3};
		struct tw_calltree *tree = deep(&options, 1, 10);
		uint32_t top = per_thread ? 2 : 1;
		for (uint32_t i = 0; i < 3; i++) {
			assert_int_equal(tw_calltree_node(tree, top + i)->self, 2);
			assert_int_equal(tw_calltree_node(tree, top + i)->total, 19 - 2 * i);
		}
		const struct tw_calltree_node *node = tw_calltree_node(tree, top + 3);
		assert_string_equal(node->name, "(deeper)");
		assert_int_equal(node->depth, top + 3);
		assert_int_equal(node->count, 7);
		assert_int_equal(node->total, 13);
		assert_int_equal(node->self, 13);
		assert_null(tw_calltree_node(tree, top + 4));
		assert_int_equal(tw_calltree_node(tree, 0)->total, 19);
		assert_int_equal(tw_calltree_notes(tree)->too_deep, 7);
		tw_calltree_free(tree);
	}
}

/* A deep recursion, and many siblings in order. */
static void test_large(void **state)
{
	(void)state;
	struct tw_calltree *tree = hostile(0, false, 1, 200000);
	assert_int_equal(tw_calltree_node(tree, 200000)->depth, 200000);
	assert_int_equal(tw_calltree_node(tree, 1)->total, 399999);
	assert_int_equal(tw_calltree_node(tree, 200000)->total, 1);
	assert_null(tw_calltree_node(tree, 200001));
	tw_calltree_free(tree);
	tree = hostile(0, false, 20000, 1);
	for (uint32_t i = 1; i <= 20000; i++)
		assert_int_equal(tw_calltree_node(tree, i)->id, i);
	assert_null(tw_calltree_node(tree, 20001));
	tw_calltree_free(tree);
}

SUITE(calltree)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tree_of_each_scene),
	    cmocka_unit_test(test_parts),
	    cmocka_unit_test(test_memory_limit),
	    cmocka_unit_test(test_depth_limit),
	    cmocka_unit_test(test_large),
	    cmocka_unit_test(test_names_with_nul),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
