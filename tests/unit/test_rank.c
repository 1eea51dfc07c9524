/* test_rank.c - the rank test, against values that others have published. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/rank.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static struct tw_bins bins_of(const uint64_t *values, size_t count)
{
	struct tw_bins bins = {0};
	for (size_t i = 0; i < count; i++)
		assert_true(tw_bins_add(&bins, values[i], 1));
	return bins;
}

static struct tw_rank compare(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count)
{
	struct tw_bins of_a = bins_of(a, a_count), of_b = bins_of(b, b_count);
	struct tw_rank rank = tw_rank_test(&of_a, &of_b);
	free(of_a.bins);
	free(of_b.bins);
	return rank;
}

static void assert_near(double value, double expected, double distance)
{
	if (!(fabs(value - expected) <= distance))
		fail_msg("%.17g is not %.17g", value, expected);
}

/* The example of scipy.stats.mannwhitneyu, method 'asymptotic': 17 and 0.11134688653314041. */
static void without_ties(void **state)
{
	(void)state;
	static const uint64_t males[] = {19, 22, 16, 29, 24}, females[] = {20, 11, 17, 12};
	struct tw_rank rank = compare(males, LENGTH(males), females, LENGTH(females));
	assert_near(rank.u, 17, 0);
	assert_near(rank.p, 0.11134688653314041, 1e-15);
	assert_true(rank.z > 0);
	rank = compare(females, LENGTH(females), males, LENGTH(males));
	assert_near(rank.u, 3, 0);
	assert_near(rank.p, 0.11134688653314041, 1e-15);
	assert_true(rank.z < 0);
}

/* The example of R's wilcox.test, the ozone of May and of August in `airquality`: W = 127.5, p-value = 0.0001208. */
static void with_ties(void **state)
{
	(void)state;
	static const uint64_t may[] = {41, 36, 12, 18, 28, 23, 19, 8, 7,  16, 11, 14,  18,
	                               14, 34, 6,  30, 11, 1,  11, 4, 32, 23, 45, 115, 37};
	static const uint64_t august[] = {39, 9,  16, 78, 35, 66, 122, 89,  110, 44, 28,  65, 22,
	                                  59, 23, 31, 44, 21, 9,  45,  168, 73,  76, 118, 84, 85};
	struct tw_rank rank = compare(may, LENGTH(may), august, LENGTH(august));
	assert_near(rank.u, 127.5, 0);
	assert_near(rank.p, 0.0001208, 0.00000005);
}

/* u is the smallest step away from the middle; the continuity correction takes half of it off: the normal approximation
 * has z = -0.5 / sqrt(2 * 2 * 5 / 12). */
static void next_to_equals(void **state)
{
	(void)state;
	static const uint64_t a[] = {1, 3}, b[] = {2, 4};
	struct tw_rank rank = compare(a, LENGTH(a), b, LENGTH(b));
	assert_near(rank.u, 1, 0);
	assert_near(rank.z, -0.5 / sqrt(20.0 / 12), 1e-15);
	assert_near(rank.p, 0.6985353583033387, 1e-15);
}

static void of_nothing_and_of_equals(void **state)
{
	(void)state;
	static const uint64_t same[] = {5, 5, 5, 5};
	assert_true(isnan(compare(same, 4, NULL, 0).p));
	assert_true(isnan(compare(NULL, 0, same, 4).p));
	assert_near(compare(same, 4, same, 3).p, 1, 0);
	assert_near(compare(same, 1, same, 1).p, 1, 0);
}

/* Many values of few kinds: counts are values. 2^40 pairs and more must not overflow. */
static void counts_are_values(void **state)
{
	(void)state;
	static const uint64_t one[] = {1, 1, 1, 2, 2, 3}, other[] = {1, 2, 2, 3, 3, 3, 3};
	struct tw_bins a = {0}, b = {0};
	for (size_t i = 0; i < 3; i++) {
		static const uint64_t of_a[] = {3, 2, 1}, of_b[] = {1, 2, 4};
		assert_true(tw_bins_add(&a, 3 - i, of_a[2 - i]));
		assert_true(tw_bins_add(&b, i + 1, of_b[i]));
	}
	struct tw_rank rank = compare(one, LENGTH(one), other, LENGTH(other)), counted = tw_rank_test(&a, &b);
	assert_near(counted.u, rank.u, 0);
	assert_near(counted.p, rank.p, 0);
	assert_true(tw_bins_add(&a, 1, UINT64_C(1) << 62) && tw_bins_add(&b, 2, UINT64_C(1) << 62));
	rank = tw_rank_test(&a, &b);
	assert_true(isfinite(rank.z) && rank.z < 0 && rank.p == 0);
	free(a.bins);
	free(b.bins);
}

/* The example of the paper (Benjamini and Hochberg 1995, "Controlling the false discovery rate", section 3.2): of 15
 * results the first four are rejected at 0.05. */
static void limits_what_is_false(void **state)
{
	(void)state;
	double p[] = {0.0459, 0.0001, 1,      0.0004, 0.0019, 0.0095, 0.0201, NAN,
	              0.0278, 0.0298, 0.0344, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590};
	assert_near(tw_rank_limit(p, LENGTH(p)), 0.0095, 0);
	double none[] = {NAN, 0.2, 0.051};
	assert_true(tw_rank_limit(none, LENGTH(none)) < 0);
	assert_true(tw_rank_limit(NULL, 0) < 0);
	assert_int_equal(tw_rank_meaning(NAN, 1), TW_UNTESTED);
	assert_int_equal(tw_rank_meaning(0.0095, 0.0095), TW_SIGNIFICANT);
	assert_int_equal(tw_rank_meaning(0.0201, 0.0095), TW_NOISE);
	assert_int_equal(tw_rank_meaning(0, -1), TW_NOISE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_ties),      cmocka_unit_test(with_ties),
	    cmocka_unit_test(next_to_equals),    cmocka_unit_test(of_nothing_and_of_equals),
	    cmocka_unit_test(counts_are_values), cmocka_unit_test(limits_what_is_false),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
