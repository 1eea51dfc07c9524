/* test_children.c - nodes found by their parent and a key: few, as many as a chain may have, and more. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "export/profiles/children.h"

#include "suite.h"

enum { PARENTS = 24, TOP = PARENTS + 1, KEY = 7 };

/* Parent n has n children with the keys 7, 14, ... to n * 7, which came in turns. */
static uint32_t number_of(uint32_t parent, uint32_t child)
{
	return TOP + child * PARENTS + parent;
}

static void expect_children(const struct tw_children *children, uint32_t parent, uint32_t count)
{
	uint32_t node;
	for (uint32_t i = 1; i <= count; i++) {
		assert_true(tw_children_find(children, parent, i * KEY, &node));
		assert_int_equal(node, number_of(parent, i));
	}
	assert_false(tw_children_find(children, parent, (count + 1) * KEY, &node));
	assert_false(tw_children_find(children, parent, 0, &node));
	assert_false(tw_children_find(children, parent, KEY + 1, &node));
}

static void test_found_by_parent_and_key(void **state)
{
	struct tw_children children = {0};
	(void)state;
	expect_children(&children, 0, 0);
	for (uint32_t i = 1; i <= PARENTS; i++)
		for (uint32_t parent = i; parent <= PARENTS; parent++) {
			expect_children(&children, parent, i - 1);
			assert_true(tw_children_add(&children, parent, i * KEY, number_of(parent, i)));
			expect_children(&children, parent, i);
		}
	for (uint32_t parent = 0; parent <= PARENTS; parent++)
		expect_children(&children, parent, parent);
	assert_true(children.others.count > 0);
	tw_children_free(&children);
}

/* A child is a parent, too, and may have the number 1 or its parent's key. */
static void test_path(void **state)
{
	enum { DEPTH = 1000 };
	struct tw_children children = {0};
	uint32_t node;
	(void)state;
	for (uint32_t i = 0; i < DEPTH; i++)
		assert_true(tw_children_add(&children, i, 5, i + 1));
	for (uint32_t i = 0; i < DEPTH; i++) {
		assert_true(tw_children_find(&children, i, 5, &node));
		assert_int_equal(node, i + 1);
		assert_false(tw_children_find(&children, i, 6, &node));
	}
	assert_false(tw_children_find(&children, DEPTH, 5, &node));
	assert_int_equal(children.others.count, 0);
	tw_children_free(&children);
}

SUITE(children)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_found_by_parent_and_key),
	    cmocka_unit_test(test_path),
	};
	return cmocka_run_group_tests_name("children", tests, NULL, NULL);
}
