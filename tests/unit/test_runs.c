/* test_runs.c - the permutation test of runs: against the definition, written out, and over all splits of one side. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/runs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "suite.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

enum { MOST = 16 };

/* The P of the definition: how many of all ways to deal the values are at least as far on this side, of the side that
 * is the less likely, twice. Sums of a side tell what means do, because sides have always as many. */
static double p_of(const double *values, unsigned before, unsigned all)
{
	unsigned ways = 0, below = 0, above = 0;
	double seen = 0;
	for (unsigned i = before; i < all; i++)
		seen += values[i];
	for (uint32_t dealt = 0; dealt < 1u << all; dealt++) {
		double sum = 0;
		if ((unsigned)__builtin_popcount(dealt) != all - before)
			continue;
		for (unsigned i = 0; i < all; i++)
			sum += dealt >> i & 1 ? values[i] : 0;
		ways++;
		below += sum <= seen;
		above += sum >= seen;
	}
	double tail = (double)(below < above ? below : above) / ways;
	return tail < 0.5 ? 2 * tail : 1;
}

static double next_value(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return (double)(*state >> 12);
}

static void the_p_is_that_of_the_definition(void **state)
{
	(void)state;
	static const unsigned sides[][2] = {{4, 4}, {4, 5}, {6, 4}, {5, 5}, {7, 7}};
	uint32_t seed = 1;
	for (size_t i = 0; i < LENGTH(sides); i++) {
		double values[MOST];
		unsigned all = sides[i][0] + sides[i][1];
		for (unsigned turn = 0; turn < 8; turn++) {
			for (unsigned k = 0; k < all; k++)
				values[k] = next_value(&seed) + (k >= sides[i][0] ? turn * 100000.0 : 0);
			struct tw_runs_change change = tw_runs_compare(values, sides[i][0], sides[i][1]);
			double p = p_of(values, sides[i][0], all);
			assert_true(fabs(change.p - p) < 1e-12);
			assert_int_equal(change.significance, p <= 0.05 ? TW_SIGNIFICANT : TW_NOISE);
			assert_int_equal(change.significance == TW_SIGNIFICANT, change.low > 0 || change.high < 0);
		}
	}
}

/* Four against four have 70 ways: one that is on the outside of all others has a P of 2 in 70, the next of 4. */
static void four_against_four(void **state)
{
	(void)state;
	static const double apart[] = {1, 2, 3, 4, 5, 6, 7, 8}, mixed[] = {1, 2, 3, 5, 4, 6, 7, 8};
	struct tw_runs_change change = tw_runs_compare(apart, 4, 4);
	assert_true(fabs(change.p - 2.0 / 70) < 1e-12);
	assert_int_equal(change.significance, TW_SIGNIFICANT);
	/* The changes that are not refused: from the nearest two values to the farthest two. */
	assert_true(fabs(change.low - 1) < 1e-12 && fabs(change.high - 7) < 1e-12);
	change = tw_runs_compare(mixed, 4, 4);
	assert_true(fabs(change.p - 4.0 / 70) < 1e-12);
	assert_int_equal(change.significance, TW_NOISE);
	assert_true(change.low < 0 && change.high > 0);
}

static void few_runs_are_not_tested(void **state)
{
	(void)state;
	static const double values[] = {1, 1, 1, 9, 9, 9, 9, 9};
	static const size_t sides[][2] = {{1, 1}, {3, 3}, {3, 5}, {5, 3}};
	for (size_t i = 0; i < LENGTH(sides); i++) {
		struct tw_runs_change change = tw_runs_compare(values, sides[i][0], sides[i][1]);
		assert_int_equal(change.significance, TW_UNTESTED);
		assert_true(isnan(change.p) && isnan(change.low) && isnan(change.high));
	}
}

static void equal_runs_are_noise(void **state)
{
	(void)state;
	static const double same[] = {7, 7, 7, 7, 7, 7, 7, 7};
	/* In another order these sums are not the same to the last bit. */
	static const double tenths[] = {0.1, 0.2, 0.3, 0.7, 0.3, 0.2, 0.7, 0.1};
	struct tw_runs_change change = tw_runs_compare(same, 4, 4);
	assert_int_equal(change.significance, TW_NOISE);
	assert_true(change.p == 1 && change.low == 0 && change.high == 0);
	change = tw_runs_compare(tenths, 4, 4);
	assert_true(change.p == 1);
}

/* Of eight runs of one program that all differ, over all splits of four against four, one in 35 is marked. */
static void one_split_in_thirty_five_is_marked(void **state)
{
	(void)state;
	double runs[8];
	uint32_t seed = 7;
	for (unsigned i = 0; i < 8; i++)
		runs[i] = next_value(&seed);
	unsigned marked = 0, splits = 0;
	for (unsigned chosen = 0; chosen < 256; chosen++) {
		double dealt[8];
		size_t first = 0, second = 4;
		if (__builtin_popcount(chosen) != 4 || !(chosen & 1))
			continue;
		for (unsigned i = 0; i < 8; i++)
			dealt[chosen >> i & 1 ? first++ : second++] = runs[i];
		marked += tw_runs_compare(dealt, 4, 4).significance == TW_SIGNIFICANT;
		splits++;
	}
	assert_int_equal(splits, 35);
	assert_int_equal(marked, 1);
}

/* Where there are too many ways some are chosen, the same ones every time. */
static void many_runs_are_dealt_at_random(void **state)
{
	(void)state;
	double values[40];
	uint32_t seed = 3;
	for (size_t i = 0; i < LENGTH(values); i++)
		values[i] = next_value(&seed);
	struct tw_runs_change change = tw_runs_compare(values, 20, 20), again = tw_runs_compare(values, 20, 20);
	assert_true(change.p == again.p && change.low == again.low && change.high == again.high);
	assert_int_equal(change.significance, TW_NOISE);
	for (size_t i = 20; i < LENGTH(values); i++)
		values[i] += 10000000;
	change = tw_runs_compare(values, 20, 20);
	assert_int_equal(change.significance, TW_SIGNIFICANT);
	assert_true(change.low > 9000000 && change.high < 11000000);
}

SUITE(runs)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_p_is_that_of_the_definition),
	    cmocka_unit_test(four_against_four),
	    cmocka_unit_test(few_runs_are_not_tested),
	    cmocka_unit_test(equal_runs_are_noise),
	    cmocka_unit_test(one_split_in_thirty_five_is_marked),
	    cmocka_unit_test(many_runs_are_dealt_at_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
