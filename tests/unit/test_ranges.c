/* test_ranges.c - a set of addresses as ranges, against one as bits. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collect/ranges.h"

#include "suite.h"

enum { ADDRESSES = 512 };

static void holds_what_was_added(void **state)
{
	(void)state;
	srand(3);
	for (int round = 0; round < 200; round++) {
		struct ranges ranges = {0};
		bool held[ADDRESSES] = {false};
		for (int i = 0; i < 40; i++) {
			unsigned start = (unsigned)rand() % ADDRESSES, length = (unsigned)rand() % 20;
			unsigned end = start + length < ADDRESSES ? start + length : ADDRESSES;
			assert_true(ranges_add(&ranges, start, end));
			for (unsigned at = start; at < end; at++)
				held[at] = true;
			for (unsigned at = 0; at < ADDRESSES; at++)
				assert_int_equal(ranges_hold(&ranges, at), held[at]);
			for (size_t k = 1; k < ranges.count; k++)
				assert_true(ranges.all[k - 1].end <= ranges.all[k].start);
		}
		free(ranges.all);
	}
}

static void says_when_it_is_full(void **state)
{
	(void)state;
	struct ranges ranges = {0};
	for (uint64_t i = RANGES_MOST; i-- > 0;)
		assert_true(ranges_add(&ranges, 10 * i, 10 * i + 5));
	assert_int_equal(ranges.count, RANGES_MOST);
	assert_false(ranges_add(&ranges, UINT64_MAX - 1, UINT64_MAX));
	assert_true(ranges_add(&ranges, 10 * RANGES_MOST - 6, UINT64_MAX));
	assert_true(ranges_add(&ranges, 0, UINT64_MAX));
	assert_int_equal(ranges.count, 1);
	assert_true(ranges_hold(&ranges, 0));
	assert_false(ranges_hold(&ranges, UINT64_MAX));
	free(ranges.all);
}

SUITE(ranges)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(holds_what_was_added),
	    cmocka_unit_test(says_when_it_is_full),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
