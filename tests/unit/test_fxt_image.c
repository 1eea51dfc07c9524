/* test_fxt_image.c - times of images: ticks of any clock become CLOCK_MONOTONIC, within a microsecond. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "fxt/image/image.h"

enum { SECOND = 1000000000, MICROSECOND = 1000 };

/* A clock of 2.3 GHz that wanders: ticks at a time in ns. Its speed changes by some 20 millionths over an hour, as that of
 * CLOCK_MONOTONIC does under NTP. */
static uint64_t wandering(uint64_t ns)
{
	double seconds = (double)ns / SECOND, hours = seconds / 3600;
	double drift = hours - (double)(uint64_t)hours; /* a saw, from hour to hour */
	uint64_t base = (uint64_t)hours * 3600 * 2300000000u;
	double within = (seconds - (double)((uint64_t)hours * 3600)) * 2300000000.0;
	return base + (uint64_t)(within * (1 + 20e-6 * (drift - 1)));
}

/* Measured with an error of up to 200 ns, as a thread that waits between two clocks makes. */
static uint64_t noise(uint64_t i)
{
	return i * 2654435761u % 401;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* 24 hours, a pair each 10 s: as chunks that are handed out make them. */
static void a_day(void **state)
{
	enum { DAY = 86400, APART = 10 };
	const uint64_t start = 5000 * (uint64_t)SECOND;
	struct fxt_image_times times = {.ticks_per_second = 2290000000};
	(void)state;
	for (uint64_t s = 0; s <= DAY; s += APART) {
		uint64_t ns = s * SECOND;
		const struct image_pair pair = {wandering(ns), start + ns + noise(s) - 200};
		assert_true(fxt_image_times_add(&times, pair));
	}
	fxt_image_times_fit(&times);
	for (uint64_t s = 1; s < DAY; s += 7) {
		uint64_t ns = s * SECOND + 123456789;
		assert_true(distance(fxt_image_time(&times, wandering(ns)), start + ns) < MICROSECOND);
	}
	free(times.pairs);
}

/* Ticks go forward, and so do times, whatever the pairs say. */
static void never_back(void **state)
{
	struct fxt_image_times times = {.ticks_per_second = SECOND};
	const struct image_pair pairs[] = {{5000000, 9000000}, {1000000, 5000000},  {6000000, 8000000},
	                                   {1000001, 5000001}, {9000000, 20000000}, {9000000, 1}};
	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		assert_true(fxt_image_times_add(&times, pairs[i]));
	fxt_image_times_fit(&times);
	for (uint64_t ticks = 0, last = 0; ticks < 12000000; ticks += 1000) {
		uint64_t ns = fxt_image_time(&times, ticks);
		assert_true(ns >= last);
		last = ns;
	}
	assert_int_equal(fxt_image_time(&times, 1000000), 5000000);
	assert_int_equal(fxt_image_time(&times, 3000000), 7000000);
	free(times.pairs);
}

/* One pair, and the speed that was measured at the start; ends of what 64 bits hold. */
static void few_pairs(void **state)
{
	struct fxt_image_times times = {.ticks_per_second = 2 * (uint64_t)SECOND};
	(void)state;
	assert_int_equal(fxt_image_time(&times, 77), 77);
	assert_true(fxt_image_times_add(&times, (struct image_pair){1000, 50000}));
	fxt_image_times_fit(&times);
	assert_int_equal(fxt_image_time(&times, 3000), 51000);
	assert_int_equal(fxt_image_time(&times, 0), 49500);
	assert_true(fxt_image_time(&times, UINT64_MAX) > UINT64_MAX / 4);
	times.pairs[0] = (struct image_pair){UINT64_MAX, 10};
	assert_int_equal(fxt_image_time(&times, 0), 0);
	times.pairs[0] = (struct image_pair){0, UINT64_MAX - 1};
	assert_int_equal(fxt_image_time(&times, 1000), UINT64_MAX);
	times.plain = true;
	assert_int_equal(fxt_image_time(&times, 1000), 1000);
	free(times.pairs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_day),
	    cmocka_unit_test(never_back),
	    cmocka_unit_test(few_pairs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
