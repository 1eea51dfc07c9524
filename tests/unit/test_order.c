/* test_order.c - rows in slabs, and slabs in time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "core/order/slab.h"

#include "suite.h"

static void sort(struct tw_slab *slab)
{
	struct tw_slab_scratch scratch = {0};
	tw_slab_sort(slab, &scratch);
	assert_false(slab->failed);
	tw_slab_scratch_free(&scratch);
}

static void add(struct tw_slab *slab, uint64_t time, uint64_t offset)
{
	assert_non_null(tw_slab_add(slab, &(struct tw_event){.time = time, .offset = offset, .kind = TW_INSTANT}));
}

static void add_complete(struct tw_slab *slab, uint64_t time, uint64_t duration, uint64_t offset)
{
	const struct tw_event event = {.time = time, .value = duration, .offset = offset, .kind = TW_SLICE_COMPLETE};
	assert_non_null(tw_slab_add(slab, &event));
}

/* Takes all rows and compares their offsets. */
static void expect(struct tw_sorter *sorter, const uint64_t *offsets, size_t count)
{
	struct tw_batch batch;
	size_t taken = 0;
	for (int got; (got = tw_sorter_next(sorter, true, &batch)) > 0;)
		for (size_t i = 0; i < batch.count; i++, taken++) {
			assert_true(taken < count);
			assert_int_equal(batch.events[i].offset, offsets[taken]);
		}
	assert_int_equal(taken, count);
}

/* However the room grows: by doubling, or to what is asked for. */
static void all_room_has_bases(void **state)
{
	(void)state;
	for (size_t rows = 1; rows < 20 * TW_SLAB_BLOCK; rows += 97) {
		struct tw_slab slab = {0};
		assert_true(tw_slab_reserve(&slab, rows, 0));
		assert_true(tw_slab_reserve(&slab, slab.room + 1, 0));
		assert_true(slab.base_room * TW_SLAB_BLOCK >= slab.room);
		tw_slab_free(&slab);
	}
}

static void sorted_rows_need_no_order(void **state)
{
	(void)state;
	struct tw_slab slab = {0};
	struct tw_sorter sorter = {0};
	struct tw_batch batch;
	for (uint64_t i = 0; i < 600; i++)
		add(&slab, i / 2, i);
	sort(&slab);
	assert_true(slab.sorted);
	tw_sorter_put(&sorter, &slab);
	for (size_t at = 0; at < 600; at += batch.count) {
		assert_true(tw_sorter_next(&sorter, true, &batch) > 0);
		assert_memory_equal(batch.events, slab.events + at, batch.count * sizeof *batch.events);
	}
	assert_ptr_equal(tw_sorter_done(&sorter), &slab);
	assert_null(tw_sorter_done(&sorter));
	tw_sorter_free(&sorter);
	tw_slab_free(&slab);
}

static void a_slice_comes_before_those_inside_it(void **state)
{
	(void)state;
	struct tw_slab slab = {0};
	struct tw_sorter sorter = {0};
	add_complete(&slab, 20, 5, 0);  /* written at their ends: the innermost first */
	add_complete(&slab, 10, 15, 1); /* ends with the first */
	add_complete(&slab, 10, 30, 2); /* begins with the second */
	add(&slab, 10, 3);
	sort(&slab);
	assert_false(slab.sorted);
	tw_sorter_put(&sorter, &slab);
	expect(&sorter, (const uint64_t[]){2, 1, 3, 0}, 4);
	assert_int_equal(sorter.late, 0);
	tw_sorter_free(&sorter);
	tw_slab_free(&slab);
}

static void what_is_between_slices_of_one_time_stays_there(void **state)
{
	(void)state;
	struct tw_slab slab = {0};
	struct tw_sorter sorter = {0};
	add_complete(&slab, 10, 5, 0); /* inside the next one, though nothing else is out of order */
	add(&slab, 10, 1);
	add_complete(&slab, 10, 30, 2);
	add_complete(&slab, 20, 5, 3);
	add(&slab, 21, 4);
	add_complete(&slab, 21, 30, 5);
	sort(&slab);
	assert_false(slab.sorted);
	tw_sorter_put(&sorter, &slab);
	expect(&sorter, (const uint64_t[]){2, 1, 0, 3, 4, 5}, 6);
	tw_sorter_free(&sorter);
	tw_slab_free(&slab);
}

static void an_end_and_a_begin_of_one_time_keep_their_order(void **state)
{
	(void)state;
	struct tw_slab slab = {0};
	struct tw_sorter sorter = {0};
	const enum tw_event_kind kinds[] = {TW_SLICE_BEGIN, TW_SLICE_END, TW_SLICE_BEGIN, TW_SLICE_END};
	const uint64_t times[] = {1, 5, 5, 5};
	for (size_t i = 0; i < 4; i++)
		tw_slab_add(&slab, &(struct tw_event){.time = times[i], .offset = i, .kind = (uint8_t)kinds[i]});
	add(&slab, 0, 4);
	sort(&slab);
	tw_sorter_put(&sorter, &slab);
	expect(&sorter, (const uint64_t[]){4, 0, 1, 2, 3}, 5);
	tw_sorter_free(&sorter);
	tw_slab_free(&slab);
}

static void rows_that_come_too_late_are_counted(void **state)
{
	(void)state;
	struct tw_slab slabs[2] = {0};
	struct tw_sorter sorter = {0};
	struct tw_batch batch;
	add(&slabs[0], 10, 0);
	add(&slabs[0], 100, 1);
	add(&slabs[1], 40, 2);
	add(&slabs[1], 110, 3);
	for (size_t i = 0; i < 2; i++)
		sort(&slabs[i]);
	tw_sorter_put(&sorter, &slabs[0]);
	assert_int_equal(tw_sorter_first(&sorter), 10);
	assert_int_equal(tw_sorter_next(&sorter, false, &batch), 2);
	assert_int_equal(tw_sorter_next(&sorter, false, &batch), 0);
	tw_sorter_put(&sorter, &slabs[1]);
	assert_ptr_equal(tw_sorter_done(&sorter), &slabs[0]);
	expect(&sorter, (const uint64_t[]){2, 3}, 2);
	assert_int_equal(sorter.late, 1);
	assert_int_equal(sorter.late_offset, 2);
	assert_int_equal(sorter.latest_by, 60);
	tw_sorter_free(&sorter);
	for (size_t i = 0; i < 2; i++)
		tw_slab_free(&slabs[i]);
}

/* In one slab, and in two. */
static void a_begin_keeps_slices_apart_and_an_end_those_without_length(void **state)
{
	(void)state;
	static const struct tw_event rows[] = {
	    {.track = 1, .kind = TW_SLICE_COMPLETE, .value = 0}, /* before the begin, whatever is longer */
	    {.track = 2, .kind = TW_SLICE_COMPLETE, .value = 7},
	    {.track = 1, .kind = TW_SLICE_BEGIN},
	    {.track = 2, .kind = TW_INSTANT},
	    {.track = 1, .kind = TW_SLICE_COMPLETE, .value = 1},
	    {.track = 1, .kind = TW_SLICE_COMPLETE, .value = 3},
	    {.track = 2, .kind = TW_SLICE_COMPLETE, .value = 9},
	    {.track = 2, .kind = TW_SLICE_END},
	    {.track = 2, .kind = TW_SLICE_COMPLETE, .value = 12},
	    {.track = 1, .kind = TW_SLICE_COMPLETE, .value = 2},
	    {.track = 3, .kind = TW_SLICE_COMPLETE, .value = 0}, /* may be inside of what ends */
	    {.track = 3, .kind = TW_SLICE_COMPLETE, .value = 3},
	    {.track = 3, .kind = TW_SLICE_END},
	    {.track = 3, .kind = TW_SLICE_COMPLETE, .value = 5},
	};
	static const uint64_t order[] = {0, 8, 2, 3, 5, 9, 6, 7, 1, 4, 13, 10, 12, 11};
	enum { COUNT = sizeof rows / sizeof *rows };
	for (size_t first = 0; first <= COUNT; first++) { /* rows in the first of two slabs */
		struct tw_slab slabs[2] = {0};
		struct tw_sorter sorter = {0};
		for (size_t i = 0; i < COUNT; i++) {
			struct tw_event row = rows[i];
			row.time = 5;
			row.offset = i;
			tw_slab_add(&slabs[i >= first], &row);
		}
		for (size_t i = 0; i < 2; i++) {
			sort(&slabs[i]);
			tw_sorter_put(&sorter, &slabs[i]);
		}
		expect(&sorter, order, COUNT);
		tw_sorter_free(&sorter);
		for (size_t i = 0; i < 2; i++)
			tw_slab_free(&slabs[i]);
	}
}

static void a_slab_is_in_use_until_all_its_rows_are_delivered(void **state)
{
	(void)state;
	struct tw_slab slabs[2] = {0};
	struct tw_sorter sorter = {0};
	struct tw_batch batch;
	for (uint64_t i = 0; i < 5 * TW_SLAB_BLOCK; i++)
		add_complete(&slabs[i % 2], 10, i, i);
	for (size_t i = 0; i < 2; i++) {
		sort(&slabs[i]);
		tw_sorter_put(&sorter, &slabs[i]);
	}
	for (uint64_t left = 5 * TW_SLAB_BLOCK; left > 0; left -= batch.count) {
		assert_null(tw_sorter_done(&sorter));
		assert_int_equal(tw_sorter_first(&sorter), 10);
		assert_int_equal(tw_sorter_next(&sorter, false, &batch), TW_SLAB_BLOCK);
		for (size_t i = 0; i < batch.count; i++)
			assert_int_equal(batch.events[i].offset, left - 1 - i);
	}
	assert_int_equal(tw_sorter_next(&sorter, false, &batch), 0);
	assert_ptr_equal(tw_sorter_done(&sorter), &slabs[0]);
	assert_ptr_equal(tw_sorter_done(&sorter), &slabs[1]);
	assert_int_equal(tw_sorter_first(&sorter), UINT64_MAX);
	tw_sorter_free(&sorter);
	for (size_t i = 0; i < 2; i++)
		tw_slab_free(&slabs[i]);
}

/* ---- Against a sort of everything. ---- */

struct reference {
	uint64_t time, offset;
};

static int by_time(const void *a, const void *b)
{
	const struct reference *left = a, *right = b;
	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->offset < right->offset ? -1 : 1;
}

enum { SLABS = 7, ROWS = 700 };

static void fill(struct tw_slab *slabs, struct reference *all, uint32_t seed, uint32_t jitter)
{
	size_t count = 0;
	for (size_t i = 0; i < SLABS; i++, sort(&slabs[i - 1]))
		for (size_t k = 0; k < ROWS; k++, count++) {
			seed = seed * 1664525 + 1013904223;
			uint64_t time = count + (seed >> 8) % jitter;
			all[count] = (struct reference){time, count};
			add(&slabs[i], time, count);
			for (size_t n = 0; n < count % 3; n++)
				tw_slab_argument(&slabs[i],
				                 &(struct tw_argument){.type = TW_ARG_UINT, .value.u = count + n});
		}
}

static void compare(struct tw_sorter *sorter, const struct reference *all)
{
	struct tw_batch batch;
	size_t taken = 0;
	while (tw_sorter_next(sorter, true, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++, taken++) {
			const struct tw_event *event = &batch.events[i];
			assert_int_equal(event->offset, all[taken].offset);
			assert_int_equal(event->argument_count, event->offset % 3);
			for (size_t n = 0; n < event->argument_count; n++)
				assert_int_equal(batch.arguments[event->first_argument + n].value.u, event->offset + n);
		}
	assert_int_equal(taken, SLABS * ROWS);
}

static void merging_is_sorting(void **state)
{
	(void)state;
	static const uint32_t jitters[] = {1, 2, 10, 300, 5000, 1000000};
	struct reference *all = calloc(SLABS * ROWS, sizeof *all);
	assert_non_null(all);
	for (size_t j = 0; j < sizeof jitters / sizeof *jitters; j++) {
		struct tw_slab slabs[SLABS] = {0};
		struct tw_sorter sorter = {0};
		fill(slabs, all, (uint32_t)j, jitters[j]);
		qsort(all, SLABS * ROWS, sizeof *all, by_time);
		for (size_t i = 0; i < SLABS; i++)
			tw_sorter_put(&sorter, &slabs[i]);
		compare(&sorter, all);
		assert_int_equal(sorter.late, 0);
		tw_sorter_free(&sorter);
		for (size_t i = 0; i < SLABS; i++)
			tw_slab_free(&slabs[i]);
	}
	free(all);
}

/* Rows of times that are far apart, in the order of the file and in that of time. */
static void any_times_are_sorted(void **state)
{
	(void)state;
	static const struct {
		uint64_t times[6];
		uint64_t order[6];
	} cases[] = {
	    {{0, 5, 3, 4, 4, 0}, {0, 5, 2, 3, 4, 1}},
	    {{UINT64_MAX, 0, UINT64_MAX, 7, UINT64_MAX - 1, 7}, {1, 3, 5, 4, 0, 2}},
	    {{UINT64_C(1) << 62, 1, UINT64_C(1) << 61, (UINT64_C(1) << 62) + 1, 1, 0}, {5, 1, 4, 2, 0, 3}},
	    {{UINT64_C(1) << 40, (UINT64_C(1) << 40) - 1, 1, UINT64_C(1) << 40, 2, 1}, {2, 5, 4, 1, 0, 3}},
	    {{9, 8, 7, 6, 5, 4}, {5, 4, 3, 2, 1, 0}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tw_slab slab = {0};
		struct tw_sorter sorter = {0};
		for (uint64_t k = 0; k < 6; k++)
			add(&slab, cases[i].times[k], k);
		sort(&slab);
		tw_sorter_put(&sorter, &slab);
		expect(&sorter, cases[i].order, 6);
		tw_sorter_free(&sorter);
		tw_slab_free(&slab);
	}
}

SUITE(order)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_room_has_bases),
	    cmocka_unit_test(sorted_rows_need_no_order),
	    cmocka_unit_test(a_slice_comes_before_those_inside_it),
	    cmocka_unit_test(what_is_between_slices_of_one_time_stays_there),
	    cmocka_unit_test(an_end_and_a_begin_of_one_time_keep_their_order),
	    cmocka_unit_test(rows_that_come_too_late_are_counted),
	    cmocka_unit_test(a_begin_keeps_slices_apart_and_an_end_those_without_length),
	    cmocka_unit_test(a_slab_is_in_use_until_all_its_rows_are_delivered),
	    cmocka_unit_test(merging_is_sorting),
	    cmocka_unit_test(any_times_are_sorted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
