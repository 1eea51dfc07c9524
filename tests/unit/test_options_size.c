/* test_options_size.c - structs that the caller has in another size: what is behind it is not looked at. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <trackway/trackway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "suite.h"

/* As an older program has them: up to a member, with garbage behind that no default is. */
#define OLDER(type, name, member)                                                                                      \
	type name;                                                                                                     \
	memset(&name, 0xa5, sizeof name);                                                                              \
	memset(&name, 0, offsetof(type, member));                                                                      \
	name.struct_size = offsetof(type, member)

static const char stacks[] = "main;work 3\nmain;rest 1\n";

static void test_copy(void **state)
{
	(void)state;
	struct sized {
		size_t struct_size;
		uint32_t first, second, third;
	} copy;
	static const struct {
		size_t size;
		uint32_t first, second, third;
	} rows[] = {
	    {0, 1, 2, 0}, /* the first version had two */
	    {sizeof(size_t), 0, 0, 0},
	    {offsetof(struct sized, second), 1, 0, 0},
	    {offsetof(struct sized, third), 1, 2, 0},
	    {sizeof(struct sized), 1, 2, 3},
	    {sizeof(struct sized) + 8, 1, 2, 3}, /* a newer one */
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct {
			struct sized known;
			uint64_t more;
		} given = {.known = {rows[i].size, 1, 2, 3}, .more = UINT64_MAX};
		tw_copy_options(&copy, sizeof copy, &given, offsetof(struct sized, third));
		assert_int_equal(copy.struct_size, sizeof copy);
		assert_int_equal(copy.first, rows[i].first);
		assert_int_equal(copy.second, rows[i].second);
		assert_int_equal(copy.third, rows[i].third);
	}
	tw_copy_options(&copy, sizeof copy, NULL, sizeof copy);
	assert_int_equal(copy.struct_size, sizeof copy);
	assert_int_equal(copy.first, 0);
}

/* A number that is none would be refused. */
static void test_read(void **state)
{
	(void)state;
	struct tw_reader *reader = NULL;
	OLDER(struct tw_read_options, options, order);
	options.format = "folded";
	assert_int_equal(tw_open_memory(&reader, "stacks", stacks, sizeof stacks - 1, &options), 0);
	tw_close(reader);
	options.struct_size = offsetof(struct tw_read_options, checking);
	assert_int_equal(tw_open_memory(&reader, "stacks", stacks, sizeof stacks - 1, &options), TW_ERR_VALUE);
	tw_close(reader);
	options.struct_size = offsetof(struct tw_read_options, order);
	options.format = "none";
	assert_int_equal(tw_open_memory(&reader, "stacks", stacks, sizeof stacks - 1, &options), TW_ERR_FORMAT);
	tw_close(reader);
}

static void test_write(void **state)
{
	(void)state;
	struct tw_writer *writer = NULL;
	OLDER(struct tw_write_options, options, byte_order);
	assert_int_equal(tw_create_memory(&writer, "fxt", &options), 0);
	tw_discard(writer);
	options.struct_size = sizeof options;
	assert_int_equal(tw_create_memory(&writer, "fxt", &options), TW_ERR_VALUE);
	tw_discard(writer);
}

static struct tw_reader *open_stacks(void)
{
	struct tw_reader *reader = NULL;
	assert_int_equal(tw_open_memory(&reader, "stacks", stacks, sizeof stacks - 1, NULL), 0);
	return reader;
}

static void test_analyses(void **state)
{
	(void)state;
	struct tw_alloc *alloc = NULL;
	struct tw_jit *jit = NULL;
	OLDER(struct tw_alloc_options, by_alloc, by);
	OLDER(struct tw_jit_options, by_jit, by);
	for (size_t sized = 0; sized < 2; sized++) {
		struct tw_reader *reader = open_stacks();
		assert_int_equal(tw_alloc_read(&alloc, reader, &by_alloc), sized ? TW_ERR_VALUE : 0);
		tw_alloc_free(alloc);
		tw_close(reader);
		reader = open_stacks();
		assert_int_equal(tw_jit_read(&jit, reader, &by_jit), sized ? TW_ERR_VALUE : 0);
		tw_jit_free(jit);
		tw_close(reader);
		by_alloc.struct_size = sizeof by_alloc;
		by_jit.struct_size = sizeof by_jit;
	}
}

static void test_pictures(void **state)
{
	(void)state;
	struct tw_calltree *tree = NULL;
	struct tw_reader *reader = open_stacks();
	OLDER(struct tw_calltree_options, options, weight);
	assert_int_equal(tw_calltree_new(&tree, &options), 0);
	assert_int_equal(tw_calltree_add(tree, reader), 0);
	OLDER(struct tw_flame_options, flame, form);
	assert_int_equal(tw_flame_write(tree, "/dev/null", &flame), 0);
	flame.struct_size = sizeof flame;
	assert_int_equal(tw_flame_write(tree, "/dev/null", &flame), TW_ERR_VALUE);
	tw_calltree_free(tree);
	tw_close(reader);
}

static int64_t give(void *context, void *bytes, size_t size)
{
	size_t *at = context, left = sizeof stacks - 1 - *at, count = size < left ? size : left;
	memcpy(bytes, stacks + *at, count);
	*at += count;
	return (int64_t)count;
}

/* A newer program has more members, which this library does not look at. */
static void test_newer(void **state)
{
	(void)state;
	size_t at = 0;
	struct {
		struct tw_stream known;
		uint64_t more;
	} stream = {.known = {.struct_size = sizeof stream, .read = give, .context = &at}, .more = UINT64_MAX};
	struct tw_reader *reader = NULL;
	struct tw_batch batch;
	assert_int_equal(tw_open_stream(&reader, &stream.known, NULL), 0);
	assert_int_equal(tw_read(reader, &batch), 2);
	tw_close(reader);
}

SUITE(options_size)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_copy),     cmocka_unit_test(test_read),     cmocka_unit_test(test_write),
	    cmocka_unit_test(test_analyses), cmocka_unit_test(test_pictures), cmocka_unit_test(test_newer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
