/* test_fdr_repair.c - repair: what was whole in a log stays as it is, and what is damaged goes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_rewrite.h"
#include "suite.h"

/* ---- What is whole. ---- */

static void expect_untouched(const char *name)
{
	struct tw_rewrite_result result;
	unsigned tails = 0;
	load_log(&source, name);
	assert_true(rewrite(&source, NULL, &result));
	if (target.size != source.size)
		fail_msg("%s: %zu bytes after repair, %zu before", name, target.size, source.size);
	for (size_t i = 32; source.version == 1 && source.data[2] + source.data[3] == 0 && i < source.size; i += 32)
		if (source.data[i + 3] == 2) { /* tail exits of basic logs came with version 2 */
			source.data[i + 3] = 1;
			tails++;
		}
	for (size_t i = 0; i < source.size; i++)
		if (target.data[i] != source.data[i])
			fail_msg("%s: byte 0x%zx is %02x after repair, %02x before", name, i, target.data[i],
			         source.data[i]);
	assert_int_equal(result.lost_bytes, 0);
	assert_int_equal(result.records_dropped, 0);
	assert_int_equal(result.records_changed, tails);
	assert_int_equal(result.records_in, result.records_out);
	assert_int_equal(result.records_in, count_records(&source, NULL));
}

static void test_repair_of_whole_logs(void **state)
{
	(void)state;
	for (size_t i = 0; i < LOGS; i++)
		expect_untouched(logs[i]);
	for (size_t i = 0; i < BASIC_LOGS; i++)
		expect_untouched(basic_logs[i]);
}

/* Fill, padding and reserved bits become 0, and nothing else changes. */
static void test_repair_clears_what_means_nothing(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	load_log(&source, "v1-padded-garbage.xray");
	assert_true(rewrite(&source, NULL, &result));
	load_log(&source, "v1-padded-zero.xray");
	assert_int_equal(target.size, source.size);
	assert_memory_equal(target.data, source.data, source.size);

	load_log(&source, "v5.xray");
	static struct bytes dirty;
	dirty = source;
	static const size_t unused[] = {7, 24, 31, 0x29, 0x2f, 0x35, 0x3f, 0x4d, 0x55, 0x6b, 0x91, 0xc1, 0xc7, 0xe7};
	for (size_t i = 0; i < sizeof unused / sizeof *unused; i++)
		dirty.data[unused[i]] ^= 0xfc;
	assert_true(rewrite(&dirty, NULL, &result));
	assert_int_equal(target.size, source.size);
	assert_memory_equal(target.data, source.data, source.size);
}

/* ---- What is damaged. ---- */

/* Where the buffers of an undamaged log begin, from the first bytes that the format gives them. */
static size_t find_buffer(const struct bytes *b, size_t at)
{
	bool msb = b->data[0] == 0 && b->data[32] & 0x80;
	uint8_t extents = msb ? 0x87 : 0x0f, new_buffer = msb ? 0x80 : 0x01, wall = msb ? 0x84 : 0x09;
	for (; at + 48 <= b->size; at++) {
		size_t lead = b->data[at] == extents ? 16 : 0;
		if (b->data[at + lead] == new_buffer && b->data[at + lead + 16] == wall)
			return at;
	}
	return b->size;
}

/* Every event of the others must be in what was repaired. */
static void expect_others(const char *name, size_t from, size_t to, size_t at)
{
	static bool used[EVENTS_MAX];
	memset(used, 0, sizeof used);
	for (size_t i = 0; i < before.count; i++) {
		size_t k = 0;
		if (before.all[i].offset >= from && before.all[i].offset < to)
			continue;
		while (k < after.count && (used[k] || compare(&before.all[i], &after.all[k]) != 0))
			k++;
		if (k == after.count)
			fail_msg("%s: repair after damage at 0x%zx loses the event from 0x%llx", name, at,
			         (unsigned long long)before.all[i].offset);
		used[k] = true;
	}
}

static void expect_repaired(const char *name, const struct bytes *damaged, size_t at)
{
	struct tw_rewrite_result result;
	if (!rewrite(damaged, NULL, &result)) {
		assert_in_range(at, 0, 31);
		return;
	}
	if (!read_events(&target, TW_CHECK_ALL, &after))
		fail_msg("%s: after damage at 0x%zx what was repaired cannot be read", name, at);
	if (after.errors || after.lost)
		fail_msg("%s of %zu bytes: after damage at 0x%zx (0x%02x) what was repaired has %llu errors, %llu lost "
		         "bytes",
		         name, damaged->size, at, damaged->data[at], (unsigned long long)after.errors,
		         (unsigned long long)after.lost);
}

static void test_repair_of_damaged_logs(void **state)
{
	static const char *const names[] = {
	    "v1.xray", "v1-padded-garbage.xray", "v2-typed.xray",  "v3.xray",        "v4.xray",
	    "v5.xray", "v5-out-of-order.xray",   "be-msb-v1.xray", "be-msb-v5.xray", "be-lsb-v5.xray"};
	static const uint8_t values[] = {0x00, 0xff, 0x0f, 0x01, 0x80, 0x03, 0x0b, 0x11, 0x09, 0x05, 0x13};
	static struct bytes damaged;
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		load_log(&source, names[i]);
		assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
		size_t next;
		for (size_t from = find_buffer(&source, 32); from < source.size; from = next) {
			next = find_buffer(&source, from + 17);
			size_t last = next - from < 400 ? next : from + 400; /* not all of the fill */
			for (size_t at = from, n = i; at < last; at += at < from + 96 ? 1 : 3)
				for (size_t k = 0; k < (at < from + 96 ? 3 : 1); k++, n++) {
					damaged = source;
					damaged.data[at] = (uint8_t)(n & 1 ? damaged.data[at] ^ 1u << n / 2 % 8
					                                   : values[n / 2 % sizeof values]);
					expect_repaired(names[i], &damaged, at);
					expect_others(names[i], from, next, at);
				}
		}
	}
}

/* The size of the first event, damaged, makes functions of the next buffer's first records: that buffer is found all
 * the same. */
static void test_buffer_decoded_across(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	load_log(&source, "v1-typed.xray");
	assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
	assert_int_equal(source.data[0x99], 20);
	for (unsigned size = 21; size < 128; size++) {
		source.data[0x99] = (uint8_t)size;
		assert_true(rewrite(&source, NULL, &result));
		assert_true(read_events(&target, TW_CHECK_ALL, &after));
		assert_int_equal(after.errors, 0);
		expect_others("v1-typed.xray", 0x20, 0x13a, 0x99);
	}
}

static void test_repair_after_damaged_headers(void **state)
{
	static struct bytes damaged;
	(void)state;
	for (size_t i = 0; i < LOGS; i++) {
		load_log(&source, logs[i]);
		for (size_t at = 0; at < 32; at++)
			for (unsigned bit = at < 4 ? 0 : (unsigned)(at + i) % 4; bit < 8; bit += at < 4 ? 1 : 4) {
				damaged = source;
				damaged.data[at] ^= (uint8_t)(1u << bit);
				expect_repaired(logs[i], &damaged, at);
			}
	}
}

static void test_repair_of_cut_logs(void **state)
{
	static struct bytes cut;
	(void)state;
	for (size_t i = 0; i < LOGS; i++) {
		load_log(&source, logs[i]);
		cut = source;
		for (cut.size = 33; cut.size < source.size; cut.size += cut.size % 9 + 1)
			expect_repaired(logs[i], &cut, 0);
	}
}

/* Where buffers have the size that the header says, the last one that was cut gets it, too: in its records, or in its
 * fill. */
static void test_repair_fills_what_was_cut(void **state)
{
	enum { SIZE = 512, RECORDS = 48 + 8 * 16 + 16 };
	static struct bytes log_;
	struct tw_rewrite_result result;
	(void)state;
	add_header_of(&log_, 1, 1, 3, 2000000000, SIZE);
	for (unsigned i = 0; i < 3; i++) {
		size_t start = begin_buffer(&log_, i + 1, i + 1, 100 * i + 100);
		for (unsigned call = 0; call < 8; call++)
			add_call(&log_, 1);
		end_buffer(&log_, start);
		while (log_.size < start + SIZE)
			add_number(&log_, 0, 1);
	}
	const size_t whole = log_.size;
	for (size_t cut = SIZE - RECORDS - 64; cut < SIZE - RECORDS + 64; cut += 61) {
		log_.size = whole - cut;
		assert_true(rewrite(&log_, NULL, &result));
		assert_int_equal(target.size, whole);
	}
}

static void test_repair_drops_what_is_twice(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	add_header(&source, 5);
	add_buffer(&source, 1, 1, 100);
	add_buffer(&source, 1, 2, 200);
	static struct bytes once;
	once = source;
	add_buffer(&source, 1, 1, 100);
	assert_true(rewrite(&source, NULL, &result));
	assert_int_equal(target.size, once.size);
	assert_memory_equal(target.data, once.data, once.size);
}

/* Buffers that differ only in what means nothing are the same buffer once repaired. */
static void test_repair_drops_what_becomes_twice(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	add_header(&source, 5);
	add_buffer(&source, 1, 1, 100);
	static struct bytes once;
	once = source;
	add_buffer(&source, 1, 1, 100);
	source.data[once.size + 31] = 0xcc;
	assert_true(rewrite(&source, NULL, &result));
	assert_int_equal(target.size, once.size);
	assert_memory_equal(target.data, once.data, once.size);
}

/* Extents that lead over another buffer, and both would fit a buffer: the inner one is saved all the same. */
static void test_repair_saves_inner_buffers(void **state)
{
	struct tw_rewrite_result result;
	static struct bytes good;
	(void)state;
	add_header(&good, 5);
	for (unsigned i = 1; i <= 3; i++)
		add_buffer(&good, i, i, 100 * i);
	source = good;
	set_number(source.data + 33, 2 * 96 - 16, 8);
	assert_true(rewrite(&source, NULL, &result));
	assert_int_equal(result.lost_bytes, 0);
	assert_int_equal(target.size, good.size);
	assert_memory_equal(target.data, good.data, good.size);
}

static void test_repair_counts_what_is_missing(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	for (unsigned cut = 1; cut <= 40; cut++) {
		add_header(&source, 5);
		add_buffer(&source, 1, 1, 100);
		add_buffer(&source, 2, 1, 100);
		source.size -= cut;
		assert_true(rewrite(&source, NULL, &result));
		assert_int_equal(result.missing_bytes, cut);
		/* what is left of an exit, an entry, NewCPUId, Pid */
		assert_int_equal(result.lost_bytes, (cut <= 8 ? 8 : cut <= 16 ? 16 : cut <= 32 ? 32 : 48) - cut);
	}
	add_header(&source, 1);
	add_buffer(&source, 1, 1, 100);
	source.size -= 16;
	assert_true(rewrite(&source, NULL, &result));
	assert_int_equal(result.missing_bytes, 16);
	assert_int_equal(result.lost_bytes, 0);
}

SUITE(fdr_repair)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_repair_of_whole_logs),
	    cmocka_unit_test(test_repair_clears_what_means_nothing),
	    cmocka_unit_test(test_repair_of_damaged_logs),
	    cmocka_unit_test(test_buffer_decoded_across),
	    cmocka_unit_test(test_repair_after_damaged_headers),
	    cmocka_unit_test(test_repair_of_cut_logs),
	    cmocka_unit_test(test_repair_fills_what_was_cut),
	    cmocka_unit_test(test_repair_drops_what_is_twice),
	    cmocka_unit_test(test_repair_drops_what_becomes_twice),
	    cmocka_unit_test(test_repair_saves_inner_buffers),
	    cmocka_unit_test(test_repair_counts_what_is_missing),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
