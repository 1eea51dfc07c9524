/* test_view_rows.c - the rows of a view's index: items packed in blocks, and the levels above them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/map.h"
#include "view/index/few.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite.h"

enum { SLICES = 20000 };

/* Slices with gaps, some of no length: the same each time. */
static void make_slices(struct view_slice *slices)
{
	uint64_t time = 0;
	for (uint64_t i = 0; i < SLICES; i++) {
		uint64_t chance = tw_mix64(i);
		time += chance % 7;
		slices[i] = (struct view_slice){.begin = time,
		                                .end = time + (chance >> 8) % 50,
		                                .offset = 24 * (chance >> 40) + 3,
		                                .name = (uint32_t)(chance >> 16) % 500};
		time = slices[i].end;
	}
}

static struct view_busy plain_sum(const struct view_slice *slices, uint64_t from, uint64_t to)
{
	struct view_busy sum = {.item = from};
	for (uint64_t i = from; i < to; i++) {
		uint64_t lasts = slices[i].end - slices[i].begin;
		sum.busy += lasts;
		if (lasts > sum.longest) {
			sum.longest = lasts;
			sum.item = i;
		}
	}
	return sum;
}

static void expect_sums(const struct view_row *row, const struct view_store *store, const struct view_slice *slices)
{
	for (uint64_t i = 0; i < 400; i++) {
		uint64_t from = tw_mix64(i) % SLICES, to = from + 1 + tw_mix64(i + 1000) % (SLICES - from);
		const struct view_busy sum = view_row_busy(row, store, from, to), plain = plain_sum(slices, from, to);
		assert_int_equal(sum.busy, plain.busy);
		assert_int_equal(sum.longest, plain.longest);
		assert_int_equal(sum.item, plain.item);
	}
}

static void expect_places(const struct view_row *row, const struct view_store *store, const struct view_slice *slices)
{
	for (uint64_t i = 0; i < 400; i++) {
		uint64_t from = tw_mix64(i) % SLICES, time = tw_mix64(i + 500) % (slices[SLICES - 1].begin + 10);
		uint64_t plain = from;
		while (plain < SLICES && slices[plain].begin < time)
			plain++;
		assert_int_equal(view_row_begin_at(row, store, from, time), plain);
	}
}

static void expect_slice(struct view_slice slice, const struct view_slice *as)
{
	assert_int_equal(slice.begin, as->begin);
	assert_int_equal(slice.end, as->end);
	assert_int_equal(slice.offset, as->offset);
	assert_int_equal(slice.name, as->name);
}

/* Numbers of every width, at a block's ends and in the middle: 64 bits and none. In one column a seventh are wide, in one
 * the last alone. */
static void test_packed_widths(void **state)
{
	(void)state;
	struct view_store store;
	assert_int_equal(view_store_open(&store, NULL, VIEW_ROOM_LEAST), 0);
	for (unsigned bits = 0; bits <= 64; bits++) {
		uint64_t numbers[VIEW_BLOCK_COLUMNS][VIEW_BLOCK], plain[VIEW_BLOCK_COLUMNS][VIEW_BLOCK];
		struct view_packed packed = {.place = 0};
		for (unsigned k = 0; k < VIEW_BLOCK_COLUMNS; k++)
			for (unsigned i = 0; i < VIEW_BLOCK; i++)
				numbers[k][i] = bits ? tw_mix64(i * 8 + k) >> (64 - bits) : 0;
		for (unsigned i = 0; i < VIEW_BLOCK; i++) {
			numbers[1][i] >>= i % 7 ? (bits + 1) / 2 : 0;
			numbers[2][i] >>= i < VIEW_BLOCK - 1 && bits ? bits - 1 : 0;
		}
		memcpy(plain, numbers, sizeof plain);
		assert_true(view_pack(&packed, &store, numbers, VIEW_BLOCK_COLUMNS));
		for (unsigned k = 0; k < VIEW_BLOCK_COLUMNS; k++)
			for (unsigned i = 0; i < VIEW_BLOCK; i++)
				assert_int_equal(view_packed_at(&packed, &store, k, i), plain[k][i]);
		for (unsigned k = 0; k < VIEW_BLOCK_COLUMNS; k++) {
			view_unpack(&packed, &store, k, numbers[k]);
			assert_memory_equal(numbers[k], plain[k], sizeof plain[k]);
		}
	}
	view_store_close(&store);
}

/* 64 slices, 3 ns apart, each of one: 2 bits for that, 1 for how long. Before the last are 1000 ns, 10 bits: 8 more for one
 * of them. Records are 24 bytes apart, 3 of 8: twice that, as it is ahead, takes 3 bits. */
static void test_packed_size(void **state)
{
	(void)state;
	struct view_store store;
	struct view_row row = {.kind = VIEW_SLICES};
	assert_int_equal(view_store_open(&store, NULL, VIEW_ROOM_LEAST), 0);
	for (uint64_t i = 0; i < VIEW_BLOCK; i++) {
		const uint64_t begin = 4 * i + (i == VIEW_BLOCK - 1 ? 997 : 0);
		const struct view_slice slice = {.begin = begin,
		                                 .end = begin + 1,
		                                 .offset = (1 << 20) + 24 * i,
		                                 .name = 0};
		assert_true(view_row_add_slice(&row, &store, &slice));
	}
	const struct view_block *block = view_column_at(&row.packs->blocks, &store, sizeof *block, 0);
	const uint8_t bits[VIEW_BLOCK_COLUMNS] = {0, 2, 1, 3}, more[VIEW_BLOCK_COLUMNS] = {0, 8, 0, 0};
	assert_memory_equal(block->packed.bits, bits, sizeof bits);
	assert_memory_equal(block->packed.more, more, sizeof more);
	assert_int_equal(block->packed.shift, 3);
	view_row_free(&row, &store);
	view_few_free(&store);
	view_store_close(&store);
}

/* Times are multiples of 4 ns: the gap takes 8 bits of 10, how long they last 1 of 3. */
static void test_packed_times(void **state)
{
	(void)state;
	struct view_store store;
	struct view_row row = {.kind = VIEW_SLICES};
	assert_int_equal(view_store_open(&store, NULL, VIEW_ROOM_LEAST), 0);
	for (uint64_t i = 0; i < VIEW_BLOCK; i++) {
		const uint64_t begin = 3 + 1004 * i;
		assert_true(view_row_add_slice(&row, &store, &(struct view_slice){.begin = begin, .end = begin + 4}));
	}
	const struct view_block *block = view_column_at(&row.packs->blocks, &store, sizeof *block, 0);
	assert_int_equal(block->packed.time_shift, 2);
	assert_in_range(block->packed.bits[1], 0, 8);
	assert_int_equal(block->packed.bits[2], 1);
	for (uint64_t i = 0; i < VIEW_BLOCK; i++) {
		assert_int_equal(view_row_begin(&row, &store, i), 3 + 1004 * i);
		assert_int_equal(view_row_end(&row, &store, i), 7 + 1004 * i);
	}
	view_row_free(&row, &store);
	view_few_free(&store);
	view_store_close(&store);
}

static void test_row_of_slices(void **state)
{
	(void)state;
	static struct view_slice slices[SLICES];
	struct view_store store;
	struct view_row row = {.kind = VIEW_SLICES};
	make_slices(slices);
	assert_int_equal(view_store_open(&store, NULL, VIEW_ROOM_LEAST), 0);
	for (size_t i = 0; i < SLICES; i++)
		assert_true(view_row_add_slice(&row, &store, &slices[i]));
	assert_int_equal(row.last, slices[SLICES - 1].end);
	/* Of 20000 items: 312 blocks of 64, 19 sums of 16 of these, and one of those. */
	assert_int_equal(row.packs->blocks.count, 312);
	assert_int_equal(row.packs->level_count, 2);
	assert_int_equal(row.packs->levels[0].count, 19);
	assert_int_equal(row.packs->levels[1].count, 1);
	for (uint64_t i = 0; i < SLICES; i++)
		expect_slice(view_row_slice(&row, &store, i), &slices[i]);
	expect_sums(&row, &store, slices);
	expect_places(&row, &store, slices);
	view_row_free(&row, &store);
	view_few_free(&store);
	view_store_close(&store);
}

static void test_row_of_samples(void **state)
{
	(void)state;
	struct view_store store;
	struct view_row row = {.kind = VIEW_COUNTER};
	assert_int_equal(view_store_open(&store, NULL, VIEW_ROOM_LEAST), 0);
	/* A saw: 0 to 99, and again. */
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(view_row_add_sample(&row, &store, &(struct view_sample){i * 10, (double)(i % 100)}));
	const struct {
		uint64_t from, to;
		double least, most;
	} examples[] = {{0, 1000, 0, 99}, {3, 50, 3, 49}, {95, 105, 0, 99}, {7, 8, 7, 7}, {216, 296, 16, 95}};
	for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
		const struct view_range range = view_row_range(&row, &store, examples[i].from, examples[i].to);
		assert_true(range.least == examples[i].least && range.most == examples[i].most);
	}
	view_row_free(&row, &store);
	view_few_free(&store);
	view_store_close(&store);
}

/* ---- Rows that have few items: these stand with those of others. ---- */

enum { ROWS = 300 };

static struct view_sample nth_sample(uint64_t row, uint64_t i)
{
	static const double values[] = {0, -1, 0.1, 1e300, 65536, -2.5e-9};
	return (struct view_sample){.time = 1000 * i + row, .value = values[(row + i) % 6] * (double)(row + 1)};
}

static struct view_slice nth_slice(uint64_t row, uint64_t i)
{
	const uint64_t begin = (i + 1) << 40 >> row % 40, chance = tw_mix64(row * ROWS + i);
	return (struct view_slice){.begin = begin,
	                           .end = begin + chance % 1000,
	                           .offset = chance >> 20,
	                           .name = (uint32_t)chance % 1000};
}

/* So many items a row: none, one, blocks and what is left of them, more than have no tail. */
static uint64_t count_of(uint64_t row)
{
	static const uint64_t counts[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 200};
	return counts[row % 10];
}

static void expect_few(const struct view_row *row, const struct view_store *store, uint64_t number)
{
	assert_int_equal(row->count, count_of(number));
	for (uint64_t i = 0; i < row->count; i++) {
		const struct view_sample plain = nth_sample(number, i);
		const struct view_slice slice = nth_slice(number, i);
		if (row->kind == VIEW_SLICES) {
			expect_slice(view_row_slice(row, store, i), &slice);
			assert_int_equal(view_row_end(row, store, i), slice.end);
		} else {
			const struct view_sample sample = view_row_sample(row, store, i);
			assert_int_equal(sample.time, plain.time);
			assert_memory_equal(&sample.value, &plain.value, sizeof plain.value);
			assert_int_equal(view_row_begin_at(row, store, 0, plain.time), i);
		}
	}
}

static void test_few(void **state)
{
	(void)state;
	static struct view_row rows[ROWS];
	struct view_store store;
	assert_int_equal(view_store_open(&store, NULL, VIEW_ROOM_LEAST), 0);
	for (uint64_t i = 0; i < ROWS; i++)
		rows[i].kind = i % 2 ? VIEW_SLICES : VIEW_COUNTER;
	for (uint64_t i = 0; i < 200; i++)
		for (uint64_t row = 0; row < ROWS; row++) {
			const struct view_sample sample = nth_sample(row, i);
			const struct view_slice slice = nth_slice(row, i);
			if (i < count_of(row) && row % 2)
				assert_true(view_row_add_slice(&rows[row], &store, &slice));
			else if (i < count_of(row))
				assert_true(view_row_add_sample(&rows[row], &store, &sample));
		}
	for (uint64_t i = 0; i < ROWS; i++)
		expect_few(&rows[i], &store, i);
	for (uint64_t i = 0; i < ROWS; i++)
		view_row_free(&rows[i], &store);
	view_few_free(&store);
	view_store_close(&store);
}

/* 6400 rows of one sample, 1000 ns apart, whose values have 32 digits: all but the first, sign and exponent are 43 bits, the
 * way to the next sample is 11. That is 432 bytes for 64, and a block has 72 itself. */
static void test_lone_samples(void **state)
{
	(void)state;
	enum { LONE = 6400 };
	struct view_store store;
	assert_int_equal(view_store_open(&store, NULL, VIEW_ROOM_LEAST), 0);
	for (uint64_t i = 0; i < LONE; i++) {
		struct view_row row = {.kind = VIEW_COUNTER};
		const struct view_sample sample = {.time = 1000 * i, .value = (double)(tw_mix64(i) >> 32 | 0x80000001)};
		assert_true(view_row_add_sample(&row, &store, &sample));
		assert_int_equal(view_row_begin(&row, &store, 0), sample.time);
	}
	assert_in_range(store.used, LONE / 64 * 500, LONE / 64 * 504 * 21 / 20);
	view_few_free(&store);
	view_store_close(&store);
}

/* Samples a minute from each other: blocks have no anchors for their times. */
static void test_far_samples(void **state)
{
	(void)state;
	enum { FAR = 200 };
	static struct view_row rows[FAR];
	struct view_store store;
	assert_int_equal(view_store_open(&store, NULL, VIEW_ROOM_LEAST), 0);
	for (uint64_t i = 0; i < FAR; i++) {
		rows[i].kind = VIEW_COUNTER;
		assert_true(view_row_add_sample(&rows[i], &store, &(struct view_sample){i * 60000000000, (double)i}));
	}
	for (uint64_t i = 0; i < FAR; i++) {
		const struct view_sample sample = view_row_sample(&rows[i], &store, 0);
		assert_int_equal(sample.time, i * 60000000000);
		assert_true(sample.value >= (double)i && sample.value <= (double)i);
	}
	view_few_free(&store);
	view_store_close(&store);
}

/* Bytes that are allocated; 0 where that is not told. */
static size_t allocated(void)
{
#ifdef __GLIBC__
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

/* In memory a row of a block takes no more than its packs, and where the block is. */
static void test_memory_of_rows(void **state)
{
	(void)state;
	enum { MANY = 1000, MOST = 160 };
	static struct view_row rows[MANY];
	struct view_store store;
	assert_int_equal(view_store_open(&store, NULL, VIEW_ROOM_LEAST), 0);
	assert_true(view_row_times_room(&store));
	const size_t before = allocated();
	for (uint64_t i = 0; i < MANY * VIEW_BLOCK; i++) {
		struct view_row *row = &rows[i % MANY];
		row->kind = VIEW_COUNTER;
		assert_true(view_row_add_sample(row, &store, &(struct view_sample){i, (double)i}));
	}
	const size_t after = allocated();
	assert_in_range(after - before, 0, MANY * MOST);
	for (unsigned i = 0; i < MANY; i++)
		view_row_free(&rows[i], &store);
	view_few_free(&store);
	view_store_close(&store);
}

SUITE(view_rows)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_packed_widths),  cmocka_unit_test(test_packed_size),
	    cmocka_unit_test(test_packed_times),   cmocka_unit_test(test_row_of_slices),
	    cmocka_unit_test(test_row_of_samples), cmocka_unit_test(test_few),
	    cmocka_unit_test(test_lone_samples),   cmocka_unit_test(test_memory_of_rows),
	    cmocka_unit_test(test_far_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
