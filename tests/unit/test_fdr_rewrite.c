/* test_fdr_rewrite.c - repair, other versions and byte orders, and event by event: what was in a log stays in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_bytes.h"

#include <trackway/trackway.h>
#include <unistd.h>

enum { EVENTS_MAX = 1 << 12 };

/* An event by itself: no numbers of a dictionary, no pointers. */
struct plain {
	uint64_t time, thread, process, id;
	uint32_t kind, flags, cpu, arguments;
	char name[24];
	uint64_t values[4]; /* numbers, or a hash of data */
	uint64_t offset;    /* not compared */
};

struct events {
	struct plain all[EVENTS_MAX];
	size_t count;
	uint64_t errors, lost;
};

static struct bytes source, target;
static struct events before, after;
static char path[64];

/* ---- Reading. ---- */

static void take_value(struct plain *plain, unsigned i, const struct tw_argument *argument)
{
	if (argument->type != TW_ARG_BYTES) {
		plain->values[i] = argument->value.u;
		return;
	}
	uint64_t hash = 14695981039346656037u ^ argument->size;
	for (uint64_t k = 0; k < argument->size; k++)
		hash = (hash ^ argument->value.bytes[k]) * 1099511628211u;
	plain->values[i] = hash;
}

static void take_event(struct events *events, const struct tw_dictionary *dictionary, const struct tw_event *event,
                       const struct tw_argument *arguments)
{
	const struct tw_track *track = tw_dictionary_track(dictionary, event->track);
	const struct tw_name *name = tw_dictionary_name(dictionary, event->name);
	if (event->kind == TW_LOST) {
		events->lost += event->value;
		return;
	}
	assert_in_range(events->count, 0, EVENTS_MAX - 1);
	struct plain *plain = &events->all[events->count++];
	memset(plain, 0, sizeof *plain);
	plain->time = event->time;
	plain->thread = track->thread;
	plain->process = track->process;
	plain->id = name->id;
	plain->kind = event->kind;
	plain->flags = event->flags;
	plain->cpu = event->cpu;
	plain->arguments = event->argument_count;
	plain->offset = event->offset;
	snprintf(plain->name, sizeof plain->name, "%s", name->text);
	for (unsigned i = 0; i < event->argument_count; i++)
		take_value(plain, i < 3 ? i : 3, &arguments[event->first_argument + i]);
}

static void count_error(void *context, const struct tw_finding *finding)
{
	uint64_t *errors = context;
	*errors += finding->severity == TW_ERROR;
	if (finding->severity == TW_ERROR && getenv("TW_TEST_SHOW"))
		print_message("%s at 0x%llx: %s\n", finding->rule, (unsigned long long)finding->record, finding->text);
}

/* False when nothing is readable. */
static bool read_events(const struct bytes *b, enum tw_checking checking, struct events *events)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	struct tw_read_options options = {.checking = checking,
	                                  .on_finding = count_error,
	                                  .finding_context = &events->errors};
	events->count = events->errors = events->lost = 0;
	int status = tw_open_memory(&reader, "test", b->data, b->size, &options);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++)
			take_event(events, tw_reader_dictionary(reader), &batch.events[i], batch.arguments);
	tw_close(reader);
	return status >= 0;
}

static int compare(const void *left, const void *right)
{
	return memcmp(left, right, offsetof(struct plain, offset));
}

static void expect_same_events(const char *what)
{
	for (size_t i = 0; i < before.count && i < after.count; i++)
		if (compare(&before.all[i], &after.all[i]) != 0)
			fail_msg("%s: event %zu was %s %s at %llu ns, from 0x%llx, now %s %s at %llu ns, from 0x%llx",
			         what, i, tw_event_kind_name(before.all[i].kind), before.all[i].name,
			         (unsigned long long)before.all[i].time, (unsigned long long)before.all[i].offset,
			         tw_event_kind_name(after.all[i].kind), after.all[i].name,
			         (unsigned long long)after.all[i].time, (unsigned long long)after.all[i].offset);
	if (before.count != after.count)
		fail_msg("%s: %zu events, expected %zu", what, after.count, before.count);
	assert_true(before.count > 0);
}

/* ---- Writing. ---- */

static void load_target(void)
{
	FILE *file = fopen(path, "rb");
	assert_non_null(file);
	target.size = fread(target.data, 1, sizeof target.data, file);
	fclose(file);
	target.version = target.data[0] | target.data[1];
}

/* Repairs, or with options transcodes, the first into the second. False when nothing is readable. */
static bool rewrite(const struct bytes *from, const struct tw_write_options *options, struct tw_rewrite_result *result)
{
	struct tw_reader *reader;
	int status = tw_open_memory(&reader, "test", from->data, from->size, NULL);
	if (status >= 0) {
		status = options ? tw_transcode(reader, path, options, result) : tw_repair(reader, path, result);
		if (status < 0)
			fail_msg("%s", tw_reader_error(reader));
	}
	tw_close(reader);
	if (status < 0)
		return false;
	load_target();
	assert_int_equal(result->bytes_out, target.size);
	return true;
}

/* Counts the records of a kind in a log without damage or fill. */
static uint64_t count_records(const struct bytes *b, const char *kind)
{
	struct tw_reader *reader;
	struct tw_record record;
	struct tw_read_options options = {.order = TW_ORDER_FILE};
	uint64_t count = 0;
	assert_int_equal(tw_open_memory(&reader, "test", b->data, b->size, &options), 0);
	while (tw_read_record(reader, &record) > 0)
		count += !kind || strcmp(record.kind, kind) == 0;
	tw_close(reader);
	return count;
}

/* ---- Repair of what is whole. ---- */

static const char *const logs[] = {
    "v1.xray",
    "v1-functions-only.xray",
    "v1-out-of-order.xray",
    "v1-padded-zero.xray",
    "v1-typed.xray",
    "v2.xray",
    "v2-functions-only.xray",
    "v2-out-of-order.xray",
    "v2-typed.xray",
    "v3.xray",
    "v3-functions-only.xray",
    "v3-out-of-order.xray",
    "v3-typed.xray",
    "v4.xray",
    "v4-functions-only.xray",
    "v4-out-of-order.xray",
    "v4-typed.xray",
    "v5.xray",
    "v5-functions-only.xray",
    "v5-out-of-order.xray",
    "be-msb-v1.xray",
    "be-msb-v2.xray",
    "be-msb-v3.xray",
    "be-msb-v4.xray",
    "be-msb-v5.xray",
    "be-lsb-v1.xray",
    "be-lsb-v2.xray",
    "be-lsb-v3.xray",
    "be-lsb-v4.xray",
    "be-lsb-v5.xray",
    "le-py-v5.xray",
};
static const char *const basic_logs[] = {
    "basic-v1.xray",    "basic-v2.xray",    "basic-v3.xray",           "basic-be-v1.xray",
    "basic-be-v2.xray", "basic-be-v3.xray", "basic-v3-arg-first.xray",
};
enum { LOGS = sizeof logs / sizeof *logs, BASIC_LOGS = sizeof basic_logs / sizeof *basic_logs };

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

/* ---- Repair of what is damaged. ---- */

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

static int set_up(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "%s/test_fdr_rewrite.%d", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
	         (int)getpid());
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_repair_of_whole_logs),
	    cmocka_unit_test(test_repair_clears_what_means_nothing),
	    cmocka_unit_test(test_versions_and_orders),
	    cmocka_unit_test(test_there_and_back_is_the_same_bytes),
	    cmocka_unit_test(test_dropped_functions_keep_time),
	    cmocka_unit_test(test_event_times_across_versions),
	    cmocka_unit_test(test_basic_versions_and_orders),
	    cmocka_unit_test(test_versions_that_are_none),
	    cmocka_unit_test(test_repair_of_damaged_logs),
	    cmocka_unit_test(test_buffer_decoded_across),
	    cmocka_unit_test(test_repair_after_damaged_headers),
	    cmocka_unit_test(test_repair_of_cut_logs),
	    cmocka_unit_test(test_repair_drops_what_is_twice),
	    cmocka_unit_test(test_repair_drops_what_becomes_twice),
	    cmocka_unit_test(test_repair_saves_inner_buffers),
	    cmocka_unit_test(test_repair_counts_what_is_missing),
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
