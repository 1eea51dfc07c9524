/* test_ticks.c - counts of a clock to nanoseconds, against exact arithmetic. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/ticks.h"

#include "suite.h"

__extension__ typedef unsigned __int128 wide;

static uint64_t exact_ns(uint64_t tsc, uint64_t frequency)
{
	wide ns = (wide)tsc * 1000000000u / frequency;
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static void expect_time(struct tw_ticks *clock, uint64_t tsc)
{
	uint64_t found = tw_ticks_ns(clock, tsc), wanted = exact_ns(tsc, clock->frequency);
	if (found != wanted)
		fail_msg("%llu ticks at %llu Hz are %llu ns, expected %llu", (unsigned long long)tsc,
		         (unsigned long long)clock->frequency, (unsigned long long)found, (unsigned long long)wanted);
}

static const uint64_t frequencies[] = {
    1,          2,          3,          7,          1000,       32768,       999999,       24000000,         999999999,
    1000000000, 1000000001, 2100000001, 3000000000, 4294967296, 99999999977, 999999999989, TW_FREQUENCY_MAX,
};
enum { FREQUENCIES = sizeof frequencies / sizeof *frequencies };

/* Places where the arithmetic might slip: around powers of 2, where time leaves 64 bits, forwards and backwards. */
static void test_clock_at_edges(void **state)
{
	(void)state;
	for (size_t i = 0; i < FREQUENCIES; i++) {
		struct tw_ticks up, down, jump;
		tw_ticks_set(&up, frequencies[i]);
		tw_ticks_set(&down, frequencies[i]);
		tw_ticks_set(&jump, frequencies[i]);
		uint64_t last = (uint64_t)((wide)UINT64_MAX * frequencies[i] / 1000000000u);
		for (unsigned bit = 0; bit < 64; bit++)
			for (uint64_t d = 0; d < 7; d++) {
				expect_time(&up, (UINT64_C(1) << bit) + d - 3);
				expect_time(&down, (UINT64_C(1) << (63 - bit)) + 3 - d);
				expect_time(&jump, d & 1 ? last + (UINT64_C(1) << bit) : last - (UINT64_C(1) << bit));
			}
		expect_time(&jump, 0);
		expect_time(&jump, UINT64_MAX);
		expect_time(&jump, UINT64_MAX - 1);
		expect_time(&jump, 0);
	}
}

/* Steps of all sizes from a base, as deltas do. */
static void test_clock_in_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < FREQUENCIES; i++) {
		struct tw_ticks clock;
		uint64_t tsc = UINT64_C(1234567890123456789), random = 88172645463325252u;
		tw_ticks_set(&clock, frequencies[i]);
		for (unsigned step = 0; step < 20000; step++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			expect_time(&clock, tsc);
			tsc += random >> (31 + step % 33);
			if (step % 1000 == 999)
				tsc -= random >> 20;
		}
	}
}

/* The first tick count whose time is just short of the next nanosecond, at a frequency that is a prime: -1 / 10^9. */
static uint64_t hardest_count(uint64_t prime)
{
	wide power = 1, square = 1000000000 % prime;
	for (uint64_t rest = prime - 2; rest; rest >>= 1) {
		if (rest & 1)
			power = power * square % prime;
		square = square * square % prime;
	}
	return prime - (uint64_t)power;
}

/* As far from a base as a multiplication reaches, and further, where rounding would show first. */
static void test_clock_far_from_base(void **state)
{
	static const uint64_t primes[] = {999999937, 2147483647, 4294967291, 99999999977, 999999999989};
	(void)state;
	for (size_t i = 0; i < sizeof primes / sizeof *primes; i++) {
		struct tw_ticks clock;
		tw_ticks_set(&clock, primes[i]);
		const uint64_t base = 10 * primes[i];
		tw_ticks_move(&clock, base);
		const uint64_t far = clock.near;
		assert_true(primes[i] > UINT32_MAX ? far == 0 : far >= primes[i]);
		for (uint64_t after = hardest_count(primes[i]); after <= far + 2 * primes[i]; after += primes[i]) {
			expect_time(&clock, base + after);
			assert_true(far == 0 || (clock.base_tsc == base) == (after <= far));
		}
	}
}

/* A base is the last count whose time is a whole number. */
static void test_clock_base(void **state)
{
	static const struct {
		uint64_t frequency, period;
	} cases[] = {{1, 1}, {24000000, 3}, {1000000000, 1}, {2400000000, 12}, {2100000001, 2100000001}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const uint64_t period = cases[i].period, tsc = 7 * period + period / 2;
		struct tw_ticks clock;
		tw_ticks_set(&clock, cases[i].frequency);
		tw_ticks_move(&clock, tsc);
		assert_int_equal(clock.base_tsc, 7 * period);
		assert_int_equal(clock.base_ns, exact_ns(7 * period, cases[i].frequency));
		expect_time(&clock, tsc);
	}
}

SUITE(ticks)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_clock_at_edges),
	    cmocka_unit_test(test_clock_in_steps),
	    cmocka_unit_test(test_clock_far_from_base),
	    cmocka_unit_test(test_clock_base),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
