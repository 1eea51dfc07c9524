/* test_fdr_clean.c - XRay logs without fault: no rule finds anything, in any order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_findings.h"
#include "suite.h"

static void expect_clean(const struct bytes *b, enum tw_order order)
{
	struct findings f;
	check_log(b, order, 0, 0, &f);
	if (f.count) {
		list(&f);
		fail_msg("version %u, order %d: a finding in a log without fault", b->version, order);
	}
}

/* Two threads, whose buffers interleave and whose calls go on from one buffer to the next; every kind of record. */
static void make_clean(struct bytes *b, unsigned version)
{
	add_header(b, version);
	for (unsigned i = 0; i < 4; i++) {
		uint32_t thread = 1 + (i & 1);
		uint64_t tsc = 10000 - 5000 * (i & 1) + 1000 * i;
		size_t start = begin_buffer(b, thread, 10 + i, tsc);
		if (i < 2)
			add_function(b, 0, 10 + thread, 1);
		add_call(b, 1);
		add_function(b, 3, 2, 1);
		add_argument(b, 99);
		add_function(b, 2, 2, 1);
		add_cpu(b, 3, tsc + 100);
		add_custom(b, version == 5 ? 1 : tsc + 101, 3, "event", 5);
		add_wrap(b, tsc + 200);
		if (i >= 2)
			add_function(b, 1, 10 + thread, 1);
		end_buffer(b, start);
	}
}

/* Two threads with counters far apart, of which the second's goes on by deltas of more than 31 bits: behind one a
 * counter tells that it is right, behind the last one nothing does. */
static void make_wide(struct bytes *b, bool has_cpu)
{
	const uint64_t later = UINT64_C(1) << 33;
	add_header(b, 5);
	add_buffer(b, 1, 1, later);
	size_t start = begin_buffer(b, 2, 2, 100);
	b->size -= has_cpu ? 0 : 16;
	add_call(b, 1);
	add_function(b, 0, 1, UINT32_MAX - 15);
	add_function(b, 1, 1, 10);
	add_cpu(b, 1, later + 200);
	add_function(b, 0, 1, 10);
	add_function(b, 1, 1, UINT32_MAX - 15);
	end_buffer(b, start);
}

/* The counter of another thread, whose buffer was read before, says nothing about a delta. */
static void test_counters_of_other_threads(void **state)
{
	static const enum tw_order orders[] = {TW_ORDER_TRACK, TW_ORDER_TIME, TW_ORDER_FILE};
	static struct bytes b;
	struct findings f;
	(void)state;
	for (size_t i = 0; i < 2 * sizeof orders / sizeof *orders; i++) {
		make_wide(&b, i & 1);
		check_log(&b, orders[i / 2], 0, 0, &f);
		for (size_t k = 0; k < f.count; k++)
			if (f.all[k].severity == TW_ERROR)
				fail_msg("order %d: %s at 0x%llx", orders[i / 2], f.all[k].rule,
				         (unsigned long long)f.all[k].at);
	}
}

static void test_clean_logs(void **state)
{
	static struct bytes b;
	(void)state;
	for (unsigned version = 1; version <= 5; version++) {
		make_clean(&b, version);
		expect_clean(&b, TW_ORDER_TRACK);
		expect_clean(&b, TW_ORDER_TIME);
		expect_clean(&b, TW_ORDER_FILE);
	}
}

static void test_clean_basic_logs(void **state)
{
	static struct bytes b;
	(void)state;
	for (unsigned version = 1; version <= 3; version++) {
		add_basic_header(&b, version);
		add_basic(&b, 0, 1, 100, 1);
		add_basic(&b, 3, 2, 110, 1);
		add_basic_argument(&b, 2, 1, 99);
		add_basic(&b, 0, 1, 50, 2);
		add_basic(&b, 1, 1, 60, 2);
		add_basic(&b, version >= 2 ? 2 : 1, 2, 120, 1);
		add_basic(&b, 1, 1, 130, 1);
		expect_clean(&b, TW_ORDER_TRACK);
		expect_clean(&b, TW_ORDER_TIME);
		expect_clean(&b, TW_ORDER_FILE);
	}
}

/* In order of time the rows of threads come in turns, many times: each thread has a stack of its own. */
static void test_clean_threads_in_turns(void **state)
{
	static struct bytes b;
	(void)state;
	add_header_of(&b, 5, 1, 3, 2000000000, 65536);
	for (uint32_t thread = 1; thread <= 3; thread++) {
		size_t start = begin_buffer(&b, thread, 1, 100 + thread);
		for (uint32_t i = 0; i < 300; i++)
			add_function(&b, 0, 1000 * thread + i, 3);
		for (uint32_t i = 300; i-- > 0;)
			add_function(&b, 1, 1000 * thread + i, 3);
		end_buffer(&b, start);
	}
	expect_clean(&b, TW_ORDER_TRACK);
	expect_clean(&b, TW_ORDER_TIME);
	expect_clean(&b, TW_ORDER_FILE);
}

SUITE(fdr_clean)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_clean_logs),
	    cmocka_unit_test(test_counters_of_other_threads),
	    cmocka_unit_test(test_clean_basic_logs),
	    cmocka_unit_test(test_clean_threads_in_turns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
