/* test_cover.c - which of several intervals holds a number, against a look at each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/cover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "suite.h"

enum { SPANS_MAX = 12, NUMBERS = 40 };

static uint32_t first_of(const struct tw_interval *spans, uint32_t count, uint64_t number)
{
	for (uint32_t i = 0; i < count; i++)
		if (spans[i].start <= number && number < spans[i].end)
			return i;
	return TW_NO_SPAN;
}

static void expect_alike(const struct tw_interval *spans, uint32_t count, const uint64_t *numbers, size_t number_count)
{
	struct tw_edge edges[2 * SPANS_MAX];
	size_t edge_count;
	assert_true(tw_cover_make(spans, count, edges, &edge_count));
	assert_in_range(edge_count, 0, 2 * (uint64_t)count);
	for (size_t i = 0; i < number_count; i++)
		assert_int_equal(tw_cover_find(edges, edge_count, numbers[i]), first_of(spans, count, numbers[i]));
}

static void test_ends_of_intervals(void **state)
{
	(void)state;
	static const struct tw_interval spans[] = {{10, 20}, {5, 12}, {20, 20}, {30, 25}, {UINT64_MAX - 1, UINT64_MAX},
	                                           {0, 3}};
	static const uint64_t numbers[] = {
	    0, 2, 3, 4, 5, 9, 10, 11, 12, 19, 20, 25, 29, 30, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX};
	for (uint32_t count = 0; count <= sizeof spans / sizeof *spans; count++)
		expect_alike(spans, count, numbers, sizeof numbers / sizeof *numbers);
}

static void test_at_random(void **state)
{
	(void)state;
	uint64_t numbers[NUMBERS], seed = 1;
	for (uint64_t i = 0; i < NUMBERS; i++)
		numbers[i] = i;
	for (unsigned round = 0; round < 5000; round++) {
		struct tw_interval spans[SPANS_MAX];
		for (unsigned i = 0; i < SPANS_MAX; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			spans[i] = (struct tw_interval){seed >> 40 & 31, seed >> 50 & 31};
		}
		expect_alike(spans, round % (SPANS_MAX + 1), numbers, NUMBERS);
	}
}

SUITE(cover)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ends_of_intervals),
	    cmocka_unit_test(test_at_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
