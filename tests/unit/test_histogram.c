/* test_histogram.c - percentiles of durations against sorted values, and the counts below them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_steps.h"
#include "suite.h"

#include "analysis/calls/histogram.h"

/* A profile of calls of "a" with these durations, in two traces when cut > 0. */
static struct tw_profile *profile_of(const uint64_t *values, size_t n, size_t cut)
{
	struct tw_profile *profile;
	uint32_t names[NAMES], tracks[TRACKS];
	struct tw_dictionary *dictionary = make_dictionary(names, tracks, false);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	for (size_t start = 0, end; start < n; start = end) {
		end = start < cut ? cut : n;
		void *part = tw_profile_consumer.open(profile, dictionary);
		for (size_t i = start; i < end; i++) {
			struct tw_event events[2] = {
			    {.time = 5, .kind = TW_SLICE_BEGIN, .name = names[0]},
			    {.time = 5 + values[i], .kind = TW_SLICE_END, .name = names[0]},
			};
			tw_consume_batch(&tw_profile_consumer, part, &(struct tw_batch){.events = events, .count = 2});
		}
		tw_profile_consumer.finish(part);
		assert_int_equal(tw_profile_consumer.merge(profile, part), 0);
		tw_profile_consumer.close(part);
	}
	assert_int_equal(tw_profile_consumer.settle(profile), 0);
	tw_dictionary_free(dictionary);
	return profile;
}

static void expect_percentiles(uint64_t *values, size_t n, size_t cut)
{
	struct tw_profile *profile = profile_of(values, n, cut);
	const struct tw_profile_row *row = tw_profile_row(profile, 0);
	qsort(values, n, sizeof *values, compare_u64);
	assert_int_equal(row->count, n);
	assert_int_equal(row->min_ns, values[0]);
	assert_int_equal(row->max_ns, values[n - 1]);
	expect_near(row->p50_ns, exact(values, n, 50));
	expect_near(row->p90_ns, exact(values, n, 90));
	expect_near(row->p99_ns, exact(values, n, 99));
	if (n <= TW_RAW_VALUES) {
		assert_int_equal(row->p50_ns, exact(values, n, 50));
		assert_int_equal(row->p99_ns, exact(values, n, 99));
	}
	tw_profile_free(profile);
}

static void test_percentiles(void **state)
{
	(void)state;
	static const size_t sizes[] = {1, 2, 3, 15, 16, 17, 18, 100, 1000, 200000};
	uint64_t seed = 88172645463325252u;
	uint64_t *values = malloc(200000 * sizeof *values);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		for (unsigned spread = 4; spread <= 62; spread += spread < 20 ? 1 : 7) {
			if (sizes[i] > 1000 && spread != 10 && spread != 34)
				continue;
			for (size_t k = 0; k < sizes[i]; k++) /* all sizes of number are as likely */
				values[k] = next_random(&seed) >> (64 - 1 - next_random(&seed) % spread);
			expect_percentiles(values, sizes[i], i % 2 ? sizes[i] / 3 : 0);
		}
	}
	free(values);
}

/* Every bucket: values from first to last stay within 1/128 of its middle, and buckets grow with values. */
static void test_buckets(void **state)
{
	(void)state;
	uint32_t before = 0;
	for (uint64_t value = 0; value < 300000; value++) {
		uint32_t bucket = tw_histogram_bucket(value);
		assert_true(bucket == before || bucket == before + 1 || value == 0);
		before = bucket;
	}
	assert_int_equal(tw_histogram_bucket(63), 63);
	assert_int_equal(tw_histogram_bucket(127), 127);
	assert_int_equal(tw_histogram_bucket(128), tw_histogram_bucket(129));
	assert_int_equal(tw_histogram_bucket(UINT64_MAX), TW_OCTAVES * TW_BUCKETS - 1);
}

/* Adding a histogram to itself doubles it: 16-bit and 32-bit counts overflow on the way. */
static void test_histogram_carries(void **state)
{
	(void)state;
	static const unsigned parts[] = {500, 900, 990};
	struct tw_budget budget = {.limit = 1 << 24};
	struct tw_histogram_pool pool;
	struct tw_histogram histogram;
	uint64_t results[3], values = 0;
	assert_true(tw_histogram_pool_init(&pool, &budget));
	assert_true(tw_histogram_init(&pool, &histogram));
	/* 85 % fives and 15 % nines, more than fit 16 bits of each */
	for (; values < 1000000; values++)
		tw_histogram_add(&pool, &histogram, values, values % 100 < 85 ? 5 : 9);
	for (int i = 0; i < 24; i++, values *= 2)
		tw_histogram_merge(&pool, &histogram, values, &pool, &histogram, values);
	tw_histogram_percentiles(&pool, &histogram, values, parts, results, 3);
	assert_int_equal(results[0], 5);
	assert_int_equal(results[1], 9);
	assert_int_equal(results[2], 9);
	static const unsigned edges[] = {849, 850, 851};
	tw_histogram_percentiles(&pool, &histogram, values, edges, results, 3);
	assert_int_equal(results[0], 5);
	assert_int_equal(results[1], 5);
	assert_int_equal(results[2], 9);
	assert_false(pool.starved);
	tw_histogram_pool_free(&pool);
}

/* ---- Many counts: near and far. ---- */

enum { MANY = 640, OCTAVES = 12, TIMES = 20 };

/* What is known of a function without any of our own counting. */
struct plain {
	uint64_t count, total, min, max;
};

/* Complete slices one after the other: of function f, durations of OCTAVES sizes. */
static void add_many(struct tw_profile *profile, uint32_t functions, struct plain *plain)
{
	struct tw_dictionary *dictionary = tw_dictionary_new();
	uint32_t track = tw_dictionary_add_track(dictionary, &(struct tw_track){.process = 9, .thread = 100});
	tw_profile_consumer.begin(profile, 1);
	void *part = tw_profile_consumer.open(profile, dictionary);
	uint64_t time = 0;
	for (uint32_t i = 0; i < functions * OCTAVES * TIMES; i++) {
		uint32_t f = i % functions;
		char text[16];
		int length = snprintf(text, sizeof text, "f%u", f);
		struct tw_name name = {.text = text, .length = (size_t)length, .id = f + 1};
		uint64_t duration = (UINT64_C(64) << i / functions % OCTAVES) + f % 60;
		const struct tw_event event = {.time = time,
		                               .value = duration,
		                               .track = track,
		                               .name = tw_dictionary_intern(dictionary, &name),
		                               .kind = TW_SLICE_COMPLETE};
		tw_consume_batch(&tw_profile_consumer, part, &(struct tw_batch){.events = &event, .count = 1});
		time += duration;
		plain[f].min = plain[f].count && plain[f].min < duration ? plain[f].min : duration;
		plain[f].max = duration > plain[f].max ? duration : plain[f].max;
		plain[f].total += duration;
		plain[f].count++;
	}
	tw_profile_consumer.finish(part);
	assert_int_equal(tw_profile_consumer.merge(profile, part), 0);
	tw_profile_consumer.close(part);
	tw_dictionary_free(dictionary);
	assert_int_equal(tw_profile_consumer.settle(profile), 0);
}

static void counts_many(uint32_t functions)
{
	static struct plain plain[MANY];
	struct tw_profile *profile;
	memset(plain, 0, sizeof plain);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	add_many(profile, functions, plain);
	const struct tw_profile_row *row;
	uint32_t rows = 0;
	for (; (row = tw_profile_row(profile, rows)); rows++) {
		const struct plain *p = &plain[row->id - 1];
		assert_int_equal(row->count, p->count);
		assert_int_equal(row->total, p->total);
		assert_int_equal(row->min_ns, p->min);
		assert_int_equal(row->max_ns, p->max);
		uint64_t middle = (UINT64_C(64) << (OCTAVES / 2 - 1)) + (row->id - 1) % 60; /* half are not longer */
		assert_in_range(row->p50_ns, middle - middle / 100, middle + middle / 100);
	}
	assert_int_equal(rows, functions);
	tw_profile_free(profile);
}

/* 40 functions have 480 chunks of counts, 640 have 7,680: more than are near. */
static void test_many_counts(void **state)
{
	(void)state;
	counts_many(40);
	counts_many(MANY);
}

/* Each use may take what is not kept for the others: of eight parts one, one and two. */
static void test_what_is_kept(void **state)
{
	static const size_t most[] = {[TW_FOR_STACKS] = 5000, [TW_FOR_ROWS] = 5000, [TW_FOR_COUNTS] = 6000};
	struct tw_budget budget;
	(void)state;
	for (unsigned use = 0; use < TW_BUDGET_USES; use++) {
		tw_budget_reset(&budget, 8000, 1);
		assert_int_equal(tw_budget_most(&budget, use), most[use]);
		assert_false(tw_budget_take(&budget, use, most[use] + 1));
		assert_true(tw_budget_take(&budget, use, most[use]));
	}
}

SUITE(histogram)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_percentiles),       cmocka_unit_test(test_buckets),
	    cmocka_unit_test(test_histogram_carries), cmocka_unit_test(test_many_counts),
	    cmocka_unit_test(test_what_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
