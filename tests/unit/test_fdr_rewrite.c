/* test_fdr_rewrite.c - other versions and byte orders, and event by event: what was in a log stays in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_rewrite.h"
#include "suite.h"

/* ---- Other versions and byte orders. ---- */

static void forget(struct events *events, bool process, bool big_lsb)
{
	size_t kept = 0;
	for (size_t i = 0; i < events->count; i++) {
		if (big_lsb && events->all[i].id >> 20 & 1)
			continue;
		events->all[kept] = events->all[i];
		if (process)
			events->all[kept].process = 0;
		kept++;
	}
	events->count = kept;
}

static uint64_t count_ids_of_bit_20(const struct events *events)
{
	uint64_t count = 0;
	for (size_t i = 0; i < events->count; i++)
		count += events->all[i].id >> 20 & 1;
	return count;
}

/* There and back: counts of the way there, events of both. */
static void expect_there_and_back(const char *name, unsigned version, enum tw_byte_order order)
{
	struct tw_rewrite_result result;
	static struct bytes first;
	bool little = source.data[0] != 0;
	enum tw_byte_order home = little ? TW_BYTES_LITTLE : source.data[4] ? TW_BYTES_BIG : TW_BYTES_BIG_LSB;
	bool lsb = order == TW_BYTES_BIG_LSB && home != TW_BYTES_BIG_LSB,
	     no_process = version < 3 && source.version >= 3;
	assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
	uint64_t dropped = (no_process ? count_records(&source, "pid") : 0) + (lsb ? count_ids_of_bit_20(&before) : 0);
	uint64_t changed = source.version == 4 && version != 4 ? count_records(&source, "custom-event") : 0;
	assert_true(rewrite(&source, &(struct tw_write_options){.version = version, .byte_order = order}, &result));
	first = target;
	assert_int_equal(first.version, version);
	assert_int_equal(first.data[0] != 0, order == TW_BYTES_LITTLE);
	if (result.records_dropped != dropped || result.records_changed != changed || result.lost_bytes)
		fail_msg("%s to version %u, order %d: %llu dropped, %llu changed", name, version, order,
		         (unsigned long long)result.records_dropped, (unsigned long long)result.records_changed);
	assert_int_equal(result.records_out, count_records(&first, NULL));
	forget(&before, no_process, lsb);
	assert_true(read_events(&first, TW_CHECK_ALL, &after));
	assert_int_equal(after.errors, 0);
	expect_same_events(name);
	assert_true(
	    rewrite(&first, &(struct tw_write_options){.version = source.version, .byte_order = home}, &result));
	assert_true(read_events(&target, TW_CHECK_ALL, &after));
	assert_int_equal(after.errors, 0);
	assert_int_equal(target.version, source.version);
	expect_same_events(name);
}

static void test_versions_and_orders(void **state)
{
	(void)state;
	for (size_t i = 0; i < LOGS; i++) {
		load_log(&source, logs[i]);
		for (unsigned version = 1; version <= 5; version++)
			for (unsigned order = TW_BYTES_LITTLE; order <= TW_BYTES_BIG_LSB; order++)
				expect_there_and_back(logs[i], version, (enum tw_byte_order)order);
	}
}

/* As the same bytes, when nothing is lost on the way: logs without fill, pids and custom events of version 4. */
static void test_there_and_back_is_the_same_bytes(void **state)
{
	struct tw_rewrite_result result;
	static struct bytes first;
	(void)state;
	for (size_t i = 0; i < LOGS; i++)
		for (unsigned order = TW_BYTES_LITTLE; order <= TW_BYTES_BIG; order++) {
			load_log(&source, logs[i]);
			bool little = source.data[0] != 0, lsb = !little && !source.data[4];
			if (lsb)
				continue;
			assert_true(rewrite(&source,
			                    &(struct tw_write_options){.byte_order = (enum tw_byte_order)order},
			                    &result));
			first = target;
			assert_true(
			    rewrite(&first,
			            &(struct tw_write_options){.byte_order = little ? TW_BYTES_LITTLE : TW_BYTES_BIG},
			            &result));
			assert_int_equal(target.size, source.size);
			assert_memory_equal(target.data, source.data, source.size);
		}
}

/* A function that the byte order cannot hold takes its arguments with it, but not the time that passed. */
static void test_dropped_functions_keep_time(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	add_header(&source, 5);
	size_t start = begin_buffer(&source, 1, 1, 1000);
	add_function(&source, 0, 1, 10);
	add_function(&source, 3, 1 << 20, 100);
	add_argument(&source, 5);
	add_function(&source, 1, 1 << 20, 1000);
	add_function(&source, 1, 1, 10000);
	end_buffer(&source, start);
	assert_true(rewrite(&source, &(struct tw_write_options){.byte_order = TW_BYTES_BIG_LSB}, &result));
	assert_int_equal(result.records_dropped, 3);
	assert_true(read_events(&target, TW_CHECK_ALL, &after));
	assert_int_equal(after.count, 2);
	assert_int_equal(after.all[0].time, 1010 / 2);
	assert_int_equal(after.all[1].time, 12110 / 2);
}

/* A delta of a function has 32 bits, one of a custom event 32 with a sign: what fits them needs no TSC wrap, one tick
 * more does. */
static void test_widest_deltas(void **state)
{
	static const int64_t widest[] = {INT32_MAX, INT64_C(1) + INT32_MAX, INT32_MIN, INT64_C(-1) + INT32_MIN};
	struct tw_rewrite_result result;
	(void)state;
	for (uint64_t more = 0; more < 2; more++) {
		add_header(&source, 5);
		size_t start = begin_buffer(&source, 1, 1, 1000);
		add_function(&source, 0, 1, 10);
		add_function(&source, 0, 1 << 20, 1 + (uint32_t)more); /* dropped */
		add_function(&source, 1, 1, UINT32_MAX - 1);
		end_buffer(&source, start);
		assert_true(rewrite(&source, &(struct tw_write_options){.byte_order = TW_BYTES_BIG_LSB}, &result));
		assert_int_equal(count_records(&target, "tsc-wrap"), more);
		assert_true(read_events(&target, TW_CHECK_DAMAGE, &after));
		assert_int_equal(after.all[1].time, (UINT64_C(1010) + UINT32_MAX + more) / 2);
	}
	for (size_t i = 0; i < sizeof widest / sizeof *widest; i++) {
		const uint64_t begin = UINT64_C(100) << 32, event = begin + 10 + (uint64_t)widest[i];
		add_header(&source, 4);
		size_t start = begin_buffer(&source, 1, 1, begin);
		add_function(&source, 0, 1, 10);
		add_custom(&source, event, 0, "far", 3);
		end_buffer(&source, start);
		assert_true(rewrite(&source, &(struct tw_write_options){.version = 5}, &result));
		assert_int_equal(count_records(&target, "tsc-wrap"), i % 2);
		assert_true(read_events(&target, TW_CHECK_DAMAGE, &after));
		assert_true(after.all[1].time == event / 2);
	}
}

/* Events whose time is absolute in old versions and relative in the newest, also where it goes back or far. */
static void test_event_times_across_versions(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	for (unsigned version = 1; version <= 4; version++) {
		add_header(&source, version);
		size_t start = begin_buffer(&source, 1, 1, UINT64_C(100) << 32);
		add_function(&source, 0, 1, 10);
		add_custom(&source, (UINT64_C(100) << 32) + 15, 0, "soon", 4);
		add_custom(&source, UINT64_C(200) << 32, 0, "late", 4);
		add_custom(&source, UINT64_C(50) << 32, 0, "early", 5);
		add_function(&source, 1, 1, 20);
		end_buffer(&source, start);
		assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
		assert_true(rewrite(&source, &(struct tw_write_options){.version = 5}, &result));
		assert_true(read_events(&target, TW_CHECK_DAMAGE, &after));
		forget(&before, version >= 3 ? false : true, false);
		expect_same_events("absolute times");
		uint64_t base = UINT64_C(100) << 31;
		const uint64_t times[] = {base + 5, base + 7, base * 2, base / 2, base + 15};
		for (size_t i = 0; i < 5; i++)
			assert_true(after.all[i].time == times[i]);
	}
}

/* The document's thread ids have 2 bytes, and what stands behind them means nothing: 0x12340065 is thread 0x65. It stays
 * that in versions and byte orders where such a number would be read otherwise. */
static void test_thread_ids_of_the_document(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	for (unsigned version = 1; version <= 5; version++)
		for (unsigned order = TW_BYTES_LITTLE; order <= TW_BYTES_BIG_LSB; order++) {
			add_header(&source, 1);
			size_t start = begin_buffer(&source, 0x12340065, 1, 1000);
			add_function(&source, 0, 1, 10);
			end_buffer(&source, start);
			assert_true(rewrite(&source,
			                    &(struct tw_write_options){.version = version,
			                                               .byte_order = (enum tw_byte_order)order},
			                    &result));
			assert_int_equal(result.records_changed, 0);
			assert_true(read_events(&target, TW_CHECK_DAMAGE, &after));
			assert_int_equal(after.count, 1);
			assert_int_equal(after.all[0].thread, 0x65);
		}
}

/* Version 1 has no place for a number that its readers take for 2 bytes: that is counted. */
static void test_thread_ids_that_version_1_has_not(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		add_header(&source, 5);
		size_t start = begin_buffer(&source, (1 << 22) + more, 1, 1000);
		add_function(&source, 0, 1, 10);
		end_buffer(&source, start);
		assert_true(rewrite(&source, &(struct tw_write_options){.version = 1}, &result));
		assert_int_equal(result.records_changed, more);
		assert_true(read_events(&target, TW_CHECK_DAMAGE, &after));
		assert_int_equal(after.all[0].thread, more ? more : 1 << 22); /* the low 22 bits */
	}
}

static void test_basic_versions_and_orders(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	for (size_t i = 0; i < BASIC_LOGS; i++)
		for (unsigned version = 1; version <= 3; version++)
			for (unsigned order = TW_BYTES_LITTLE; order <= TW_BYTES_BIG; order++) {
				load_log(&source, basic_logs[i]);
				assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
				assert_true(rewrite(&source,
				                    &(struct tw_write_options){.version = version,
				                                               .byte_order = (enum tw_byte_order)order},
				                    &result));
				assert_true(read_events(&target, TW_CHECK_ALL, &after));
				assert_int_equal(target.version, version);
				assert_int_equal(after.errors + result.records_dropped + result.lost_bytes, 0);
				forget(&before, version < 3, false);
				for (size_t k = 0; version < 2 && k < before.count; k++)
					before.all[k].flags &= ~(uint32_t)TW_FLAG_TAIL;
				if (before.count || after.count)
					expect_same_events(basic_logs[i]);
			}
}

static void test_versions_that_are_none(void **state)
{
	struct tw_reader *reader;
	struct tw_rewrite_result result;
	static const char *const names[] = {"v5.xray", "basic-v3.xray"};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		load_log(&source, names[i]);
		unlink(path);
		assert_int_equal(tw_open_memory(&reader, "test", source.data, source.size, NULL), 0);
		assert_int_equal(tw_transcode(reader, path, &(struct tw_write_options){.version = i ? 4 : 6}, &result),
		                 TW_ERR_VALUE);
		assert_true(strlen(tw_reader_error(reader)) > 0);
		assert_int_equal(access(path, F_OK), -1);
		tw_close(reader);
	}
}

/* ---- Version 1, where only the records tell where a buffer ends. ---- */

/* The first two records of a buffer, as bytes of something else. */
static const uint8_t *start_of_a_buffer(uint32_t microseconds)
{
	static struct bytes start;
	start.size = 0;
	add_new_buffer(&start, 9);
	add_wall(&start, 1, microseconds);
	return start.data;
}

/* Function ids whose bytes stand where those of NewBuffer, WallTime and NewCPUId would: a log without damage is read as
 * it is. */
static void test_functions_that_look_like_a_buffer(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	add_header(&source, 1);
	size_t start = begin_buffer(&source, 1, 1, 100);
	for (unsigned i = 0; i < 5; i++) {
		static const uint32_t ids[] = {16, 2, 144, 2, 80};
		add_function(&source, 0, ids[i], 0);
	}
	end_buffer(&source, start);
	add_buffer(&source, 2, 1, 100);
	assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
	assert_int_equal(before.errors, 0);
	assert_int_equal(before.count, 7);
	assert_true(rewrite(&source, NULL, &result));
	assert_int_equal(target.size, source.size);
	assert_memory_equal(target.data, source.data, source.size);
}

/* An event that holds the beginning of a buffer cannot be told from one whose size is damaged: version 1 has no place
 * for it. With a time that cannot be it is only bytes. */
static void test_events_that_hold_a_buffer(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		add_header(&source, 5);
		size_t start = begin_buffer(&source, 1, 1, 100);
		add_function(&source, 0, 1, 10);
		add_custom(&source, 10, 0, start_of_a_buffer(i ? 1000000 : 999999), 32);
		add_function(&source, 1, 1, 10);
		end_buffer(&source, start);
		add_buffer(&source, 2, 1, 100);
		assert_true(rewrite(&source, &(struct tw_write_options){.version = 1}, &result));
		assert_int_equal(result.records_dropped, 2 + !i); /* the Pids too */
		assert_true(read_events(&target, TW_CHECK_ALL, &after));
		assert_int_equal(after.errors, 0);
		assert_int_equal(after.count, 4 + i);
		assert_int_equal(after.all[1 + i].time, 130 / 2); /* of the exit */
	}
}

/* A typed event has no place before version 5, but its time goes on. */
static void test_dropped_events_keep_time(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	add_header(&source, 5);
	size_t start = begin_buffer(&source, 1, 1, 100);
	add_function(&source, 0, 1, 10);
	add_typed(&source, 20, 1, "typed", 5);
	add_function(&source, 1, 1, 30);
	end_buffer(&source, start);
	for (unsigned version = 1; version <= 5; version++) {
		assert_true(rewrite(&source, &(struct tw_write_options){.version = version}, &result));
		assert_true(read_events(&target, TW_CHECK_ALL, &after));
		assert_int_equal(after.all[after.count - 1].time, 160 / 2);
	}
}

/* Where WallTime is missing, version 1 gets one; the order of the thread's buffers stays that of their counts. */
static void test_version_1_without_wall_time(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	add_header(&source, 3);
	add_buffer(&source, 1, 5, 100);
	size_t start = source.size;
	add_extents(&source, 0);
	add_new_buffer(&source, 1);
	add_pid(&source, 7);
	add_cpu(&source, 0, 200);
	add_call(&source, 2);
	end_buffer(&source, start);
	assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
	assert_true(rewrite(&source, &(struct tw_write_options){.version = 1}, &result));
	assert_true(read_events(&target, TW_CHECK_ALL, &after));
	assert_int_equal(after.errors, 0);
	forget(&before, true, false);
	expect_same_events("without WallTime");
}

/* A WallTime of 0 is none: the buffers of its thread are in the order of their counts. */
static void test_wall_time_of_0(void **state)
{
	(void)state;
	for (uint16_t version = 1; version <= 5; version++) {
		add_header(&source, version);
		add_buffer(&source, 1, 5, 100);
		add_buffer(&source, 1, 0, 200);
		assert_true(read_events(&source, TW_CHECK_ALL, &before));
		assert_int_equal(before.errors, 0);
		assert_int_equal(before.all[0].time, 110 / 2);
		assert_true(before.all[before.count - 1].time > 200 / 2);
	}
}

/* Events with absolute times, in buffers without a count: the one that counts is that of the thread's buffer before,
 * which stands elsewhere in the file. */
static void test_event_times_without_counts(void **state)
{
	struct tw_rewrite_result result;
	(void)state;
	add_header(&source, 4);
	add_buffer(&source, 1, 1, 1000);
	add_buffer(&source, 2, 1, 500000);
	size_t start = source.size;
	add_extents(&source, 0);
	add_new_buffer(&source, 1);
	add_wall(&source, 2, 0);
	add_pid(&source, 7);
	add_function(&source, 0, 3, 10);
	add_custom(&source, 1050, 0, "event", 5);
	add_function(&source, 1, 3, 100);
	end_buffer(&source, start);
	assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
	assert_true(rewrite(&source, &(struct tw_write_options){.version = 5}, &result));
	assert_true(read_events(&target, TW_CHECK_DAMAGE, &after));
	expect_same_events("to version 5");
	assert_int_equal(after.all[3].time, 1050 / 2);
	static struct bytes newest;
	newest = target;
	assert_true(rewrite(&newest, &(struct tw_write_options){.version = 2}, &result));
	assert_true(read_events(&target, TW_CHECK_DAMAGE, &after));
	forget(&before, true, false);
	expect_same_events("and back");
}

/* ---- Event by event. ---- */

static void write_events(const struct bytes *from, const struct tw_write_options *options, uint64_t *left_out)
{
	struct tw_reader *reader;
	struct tw_writer *writer;
	struct tw_batch batch;
	struct tw_read_options how = {.order = tw_writer_order("xray-fdr")};
	int status = tw_open_memory(&reader, "test", from->data, from->size, &how);
	assert_int_equal(status, 0);
	assert_int_equal(tw_create(&writer, path, "xray-fdr", options), 0);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		status = tw_write(writer, reader, &batch);
	assert_int_equal(status, 0);
	assert_int_equal(tw_finish(writer), 0);
	*left_out = 0;
	for (size_t i = 0; tw_writer_loss(writer, i); i++)
		*left_out += tw_writer_loss(writer, i)->left_out;
	tw_discard(writer);
	tw_close(reader);
	load_target();
}

/* Times may differ by a tick, here at least a third of a nanosecond. */
static void expect_written(const char *name, const struct tw_write_options *options)
{
	uint64_t left_out;
	bool lsb = options->byte_order == TW_BYTES_BIG_LSB;
	assert_true(read_events(&source, TW_CHECK_DAMAGE, &before));
	uint64_t dropped = lsb ? count_ids_of_bit_20(&before) : 0;
	write_events(&source, options, &left_out);
	if (left_out != dropped)
		fail_msg("%s: %llu left out, expected %llu", name, (unsigned long long)left_out,
		         (unsigned long long)dropped);
	forget(&before, options->version == 1 || options->version == 2, lsb);
	assert_true(read_events(&target, TW_CHECK_ALL, &after));
	assert_int_equal(after.errors, 0);
	for (size_t i = 0; i < before.count && i < after.count; i++) {
		uint64_t a = before.all[i].time, b = after.all[i].time;
		if ((a > b ? a - b : b - a) <= 1)
			after.all[i].time = a;
	}
	expect_same_events(name);
}

static void test_event_by_event(void **state)
{
	(void)state;
	for (size_t i = 0; i < LOGS; i++) {
		load_log(&source, logs[i]);
		for (unsigned version = 0; version <= 5; version++)
			for (unsigned order = TW_BYTES_AS_SOURCE; order <= TW_BYTES_BIG_LSB; order++)
				expect_written(logs[i],
				               &(struct tw_write_options){.version = version,
				                                          .byte_order = (enum tw_byte_order)order});
	}
}

/* Small buffers: the same events, in more of them. */
static void test_event_by_event_in_many_buffers(void **state)
{
	(void)state;
	add_header_of(&source, 5, 1, 3, 2000000000, 65536);
	for (uint32_t thread = 1; thread <= 3; thread++) {
		size_t start = begin_buffer(&source, thread, 1, 100 + thread);
		for (uint32_t i = 1; i < 400; i++) {
			add_function(&source, i % 7 ? 0 : 3, i, i * 1000);
			for (uint32_t k = 0; i % 7 == 0 && k < i % 3; k++)
				add_argument(&source, (uint64_t)i << 40 | k);
			if (i % 11 == 0)
				add_typed(&source, 3, i, "typed", 5);
			if (i % 13 == 0)
				add_cpu(&source, i, 1000000000 + 1000000 * (uint64_t)i);
			add_function(&source, i % 5 ? 1 : 2, i, 7);
		}
		end_buffer(&source, start);
	}
	for (unsigned version = 1; version <= 5; version++)
		expect_written("many buffers", &(struct tw_write_options){.version = version, .buffer_size = 512});
	assert_true(count_records(&target, "new-buffer") > 60);
}

static void test_written_functions_keep_time(void **state)
{
	(void)state;
	add_header(&source, 5);
	size_t start = begin_buffer(&source, 1, 1, 1000);
	add_function(&source, 0, 1, 10);
	add_function(&source, 0, 1 << 20, 100);
	add_function(&source, 1, 1 << 20, 1000);
	add_function(&source, 1, 1, 10000);
	end_buffer(&source, start);
	expect_written("dropped", &(struct tw_write_options){.byte_order = TW_BYTES_BIG_LSB});
}

SUITE(fdr_rewrite)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_versions_and_orders),
	    cmocka_unit_test(test_there_and_back_is_the_same_bytes),
	    cmocka_unit_test(test_dropped_functions_keep_time),
	    cmocka_unit_test(test_widest_deltas),
	    cmocka_unit_test(test_event_times_across_versions),
	    cmocka_unit_test(test_thread_ids_of_the_document),
	    cmocka_unit_test(test_thread_ids_that_version_1_has_not),
	    cmocka_unit_test(test_basic_versions_and_orders),
	    cmocka_unit_test(test_versions_that_are_none),
	    cmocka_unit_test(test_functions_that_look_like_a_buffer),
	    cmocka_unit_test(test_events_that_hold_a_buffer),
	    cmocka_unit_test(test_dropped_events_keep_time),
	    cmocka_unit_test(test_version_1_without_wall_time),
	    cmocka_unit_test(test_wall_time_of_0),
	    cmocka_unit_test(test_event_times_without_counts),
	    cmocka_unit_test(test_event_by_event),
	    cmocka_unit_test(test_event_by_event_in_many_buffers),
	    cmocka_unit_test(test_written_functions_keep_time),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
