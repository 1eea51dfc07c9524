/* test_estimates.c - samples of what is allocated: what they stand for adds up to what there was. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coreprofiler/profiler.h"

#include "suite.h"

enum { EVERY = 4096, OBJECTS = 1000000 };

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* By arithmetic: of n objects of likelihood p each, estimated as 1 / p each, the deviation is the root of n (1 - p) / p.
 * p = 1 - exp(-size / EVERY): 0.0058425, 0.632121, 1 - 1.1e-7. Four times that, and 1 for what is rounded. */
static void samples_stand_for_all(void **state)
{
	(void)state;
	static const struct {
		uint64_t size, deviation;
	} rows[] = {{24, 13045}, {4096, 763}, {65536, 0}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct profiler_chance chance = {.state = 1 + i};
		struct profiler_amount sum = {0}, one;
		for (unsigned k = 0; k < OBJECTS; k++)
			if (profiler_is_sample(&chance, rows[i].size, EVERY, &one)) {
				assert_int_equal(one.bytes, one.count * rows[i].size);
				sum.count += one.count;
				sum.bytes += one.bytes;
			}
		assert_true(difference(sum.count, OBJECTS) <= 4 * rows[i].deviation + 1);
		assert_int_equal(sum.bytes, sum.count * rows[i].size);
	}
}

/* How many samples there are: n p, with a deviation of the root of n p (1 - p): 5842 and 76, 632121 and 482. */
static void samples_are_as_many_as_bytes_make(void **state)
{
	(void)state;
	static const struct {
		uint64_t size, count, deviation;
	} rows[] = {{24, 5842, 76}, {4096, 632121, 482}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct profiler_chance chance = {.state = 7 + i};
		struct profiler_amount one;
		uint64_t count = 0;
		for (unsigned k = 0; k < OBJECTS; k++)
			count += profiler_is_sample(&chance, rows[i].size, EVERY, &one);
		assert_true(difference(count, rows[i].count) <= 4 * rows[i].deviation);
	}
}

/* 102,400 bytes are 4,266 2/3 of 24: that many on average, and at least one of what is larger. */
static void bytes_are_objects(void **state)
{
	(void)state;
	struct profiler_chance chance = {.state = 3};
	uint64_t sum = 0;
	for (unsigned i = 0; i < 3000; i++) {
		const uint64_t count = profiler_objects_in(&chance, 102400, 24);
		assert_true(count == 4266 || count == 4267);
		sum += count;
	}
	assert_true(difference(sum, UINT64_C(12800000)) < 4 * 26); /* the root of 3000 * 2/3 * 1/3 */
	assert_int_equal(profiler_objects_in(&chance, 1000, 1000000), 1);
	assert_int_equal(profiler_objects_in(&chance, 1000, 0), 1);
}

SUITE(estimates)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(samples_stand_for_all),
	    cmocka_unit_test(samples_are_as_many_as_bytes_make),
	    cmocka_unit_test(bytes_are_objects),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
