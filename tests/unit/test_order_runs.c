/* test_order_runs.c - rows in no order, put into that of time by way of a temporary file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "core/order/sorted_runs.h"

#include "suite.h"

enum { FEW = 1 }; /* bytes of memory: eight runs at once */

static void put(struct tw_sorted_runs *runs, const struct tw_event *event, const struct tw_argument *arguments)
{
	assert_int_equal(tw_sorted_runs_put(runs, &(struct tw_batch){event, 1, arguments}), 0);
}

static void put_at(struct tw_sorted_runs *runs, uint64_t time, uint64_t offset)
{
	put(runs, &(struct tw_event){.time = time, .offset = offset, .kind = TW_INSTANT}, NULL);
}

static struct tw_sorted_runs *new_runs(size_t memory)
{
	struct tw_sorted_runs *runs;
	assert_int_equal(tw_sorted_runs_new(&runs, NULL, memory), 0);
	return runs;
}

/* Takes all rows and compares their offsets; frees the runs. */
static void expect(struct tw_sorted_runs *runs, const uint64_t *offsets, size_t count)
{
	struct tw_batch batch;
	size_t taken = 0;
	assert_int_equal(tw_sorted_runs_end(runs), 0);
	do {
		assert_int_equal(tw_sorted_runs_next(runs, &batch), 0);
		for (size_t i = 0; i < batch.count; i++, taken++) {
			assert_true(taken < count);
			assert_int_equal(batch.events[i].offset, offsets[taken]);
		}
	} while (batch.count);
	assert_int_equal(taken, count);
	tw_sorted_runs_free(runs);
}

static void nothing(void **state)
{
	(void)state;
	expect(new_runs(FEW), NULL, 0);
	tw_sorted_runs_free(NULL);
}

/* Threads one behind the other: 1000 runs, of which eight are merged at once. */
static void runs_are_merged_in_rounds(void **state)
{
	enum { RUNS = 1000, ROWS = 7 };
	static uint64_t offsets[RUNS * ROWS];
	static const size_t memories[] = {FEW, 1 << 26};
	(void)state;
	for (uint64_t row = 0; row < ROWS; row++)
		for (uint64_t run = 0; run < RUNS; run++)
			offsets[row * RUNS + run] = run * ROWS + row;
	for (size_t k = 0; k < sizeof memories / sizeof *memories; k++) {
		struct tw_sorted_runs *runs = new_runs(memories[k]);
		for (uint64_t run = 0; run < RUNS; run++)
			for (uint64_t row = 0; row < ROWS; row++)
				put_at(runs, 10 + row, run * ROWS + row); /* of one time: as they came */
		expect(runs, offsets, RUNS * ROWS);
	}
}

/* Whatever order: as if all had been sorted in memory, those of one time as they came. */
static void random_times(void **state)
{
	enum { ROWS = 20000 };
	static uint64_t offsets[ROWS];
	struct tw_sorted_runs *runs = new_runs(FEW);
	uint64_t number = 1;
	size_t count = 0;
	static uint64_t times[ROWS];
	(void)state;
	for (uint64_t i = 0; i < ROWS; i++) {
		number = number * UINT64_C(6364136223846793005) + 1442695040888963407;
		times[i] = number >> 60 == 0 ? UINT64_MAX : number >> 54;
		put_at(runs, times[i], i);
	}
	for (uint64_t time = 0; time <= 1 << 10; time++)
		for (uint64_t i = 0; i < ROWS; i++)
			if (times[i] == (time == 1 << 10 ? UINT64_MAX : time))
				offsets[count++] = i;
	expect(runs, offsets, count);
}

/* A slice that contains others of its time stands before them, in whatever run it is. */
static void slices_of_one_time_nest(void **state)
{
	static const uint64_t offsets[] = {7, 3, 1, 8, 5};
	struct tw_sorted_runs *runs = new_runs(FEW);
	struct tw_event slice = {.kind = TW_SLICE_COMPLETE, .time = 10, .track = 1, .value = 2, .offset = 1};
	(void)state;
	put(runs, &slice, NULL);
	put_at(runs, 20, 5);
	slice = (struct tw_event){.kind = TW_SLICE_COMPLETE, .time = 10, .track = 1, .value = 3, .offset = 3};
	put(runs, &slice, NULL);
	put_at(runs, 12, 8);
	slice = (struct tw_event){.kind = TW_SLICE_COMPLETE, .time = 10, .track = 1, .value = 4, .offset = 7};
	put(runs, &slice, NULL);
	expect(runs, offsets, sizeof offsets / sizeof *offsets);
}

/* Arguments lead to copies: of a row that is larger than a block, and of very many of one time. */
static void arguments_are_kept(void **state)
{
	enum { RUNS = 12, ROWS = 30, LARGE = 300000 };
	struct tw_sorted_runs *runs = new_runs(FEW);
	char *text = malloc(LARGE);
	size_t taken = 0;
	struct tw_batch batch;
	(void)state;
	assert_non_null(text);
	for (unsigned run = 0; run < RUNS; run++)
		for (unsigned row = 0; row < ROWS; row++) {
			memset(text, 'a' + (int)run, LARGE);
			const struct tw_argument arguments[] = {
			    {.type = TW_ARG_UINT, .name = 3, .value.u = run * ROWS + row},
			    {.type = TW_ARG_TEXT, .value.bytes = (uint8_t *)text, .size = row == 7 ? LARGE : row},
			};
			put(runs, &(struct tw_event){.time = row, .argument_count = 2}, arguments);
		}
	assert_int_equal(tw_sorted_runs_end(runs), 0);
	do {
		assert_int_equal(tw_sorted_runs_next(runs, &batch), 0);
		for (size_t i = 0; i < batch.count; i++, taken++) {
			const struct tw_argument *arguments = tw_event_arguments(&batch, &batch.events[i]);
			const size_t run = taken % RUNS, row = taken / RUNS, size = row == 7 ? LARGE : row;
			assert_int_equal(batch.events[i].time, row);
			assert_int_equal(arguments[0].value.u, run * ROWS + row);
			assert_int_equal(arguments[1].size, size);
			for (size_t k = 0; k<size; k += size> 1 ? size - 1 : 1)
				assert_int_equal(arguments[1].value.bytes[k], 'a' + run);
		}
	} while (batch.count);
	assert_int_equal(taken, RUNS * ROWS);
	tw_sorted_runs_free(runs);
	free(text);
}

static void no_place_for_the_file(void **state)
{
	struct tw_sorted_runs *runs;
	(void)state;
	assert_int_equal(tw_sorted_runs_new(&runs, "/nonexistent", FEW), ENOENT);
	assert_null(runs);
}

SUITE(order_runs)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing),
	    cmocka_unit_test(runs_are_merged_in_rounds),
	    cmocka_unit_test(random_times),
	    cmocka_unit_test(slices_of_one_time_nest),
	    cmocka_unit_test(arguments_are_kept),
	    cmocka_unit_test(no_place_for_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
