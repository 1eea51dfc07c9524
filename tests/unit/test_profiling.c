/* test_profiling.c - xray-profiling logs made from the table of their format: what is read of good and of damaged ones,
 * and what repair makes of these. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "files.h"
#include "suite.h"

#include <string.h>
#include <trackway/trackway.h>
#include <unistd.h>

enum { ROOM = 1 << 13, RULES = 80 };

struct log {
	uint8_t bytes[ROOM];
	size_t size, block;
	bool big;
};

/* ---- Making a log, field by field. ---- */

static void put(struct log *log, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		log->bytes[log->size + i] = (uint8_t)(value >> 8 * (log->big ? size - 1 - i : i));
	log->size += size;
}

static void put_header(struct log *log, uint64_t process)
{
	put(log, 0x7872617970726f66, 8);
	put(log, 0x20180424, 8);
	put(log, 1500000000000000000, 8);
	put(log, process, 8);
}

static void begin(struct log *log, bool big)
{
	*log = (struct log){.big = big};
	put_header(log, 77);
}

static void begin_block(struct log *log, uint32_t number, uint64_t thread)
{
	log->block = log->size;
	put(log, 0, 4);
	put(log, number, 4);
	put(log, thread, 8);
}

static void end_block(struct log *log)
{
	const size_t end = log->size;
	log->size = log->block;
	put(log, end - log->block, 4);
	log->size = end;
}

/* The functions from the outermost on, as letters: "ab" is function 2 called by function 1. */
static void put_path(struct log *log, const char *path, uint64_t calls, uint64_t ticks)
{
	for (size_t i = strlen(path); i-- > 0;)
		put(log, (uint64_t)path[i] - 'a' + 1, 4);
	put(log, 0, 4);
	put(log, calls, 8);
	put(log, ticks, 8);
}

/* Two threads. In the first, a calls b twice and itself once; a's second tree is the same path again. */
static void make_good(struct log *log, bool big)
{
	begin(log, big);
	begin_block(log, 0, 100);
	put_path(log, "a", 1, 1000);
	put_path(log, "ab", 2, 300);
	put_path(log, "aa", 1, 200);
	put_path(log, "aab", 1, 50);
	put_path(log, "a", 1, 500);
	end_block(log);
	begin_block(log, 1, 101);
	put_path(log, "c", 7, 70);
	end_block(log);
}

/* ---- Reading it. ---- */

struct reported {
	const char *rules[RULES];
	uint64_t offsets[RULES];
	size_t count;
};

static void take_finding(void *context, const struct tw_finding *finding)
{
	struct reported *reported = context;
	assert_true(reported->count < RULES);
	reported->rules[reported->count] = finding->rule;
	reported->offsets[reported->count++] = finding->record;
}

static struct tw_reader *open_log(const struct log *log, struct reported *reported, uint64_t frequency)
{
	struct tw_reader *reader;
	const struct tw_read_options options = {.on_finding = take_finding,
	                                        .finding_context = reported,
	                                        .frequency = frequency};
	*reported = (struct reported){0};
	assert_int_equal(tw_open_memory(&reader, "log", log->bytes, log->size, &options), 0);
	assert_string_equal(tw_reader_format(reader), "xray-profiling");
	return reader;
}

/* Writes "thread path calls self" for each sample, and "lost bytes". */
static void put_events(const struct log *log, struct reported *reported, uint64_t frequency, char *text, size_t room)
{
	struct tw_reader *reader = open_log(log, reported, frequency);
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	struct tw_batch batch;
	size_t used = 0;
	int status;
	*text = '\0';
	while ((status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			char path[16] = "";
			for (uint32_t stack = event->other; stack;
			     stack = tw_dictionary_stack(dictionary, stack)->caller) {
				const struct tw_stack *frame = tw_dictionary_stack(dictionary, stack);
				const uint32_t name = tw_dictionary_location(dictionary, frame->location)->name;
				path[frame->depth - 1] = (char)('a' + tw_dictionary_name(dictionary, name)->id - 1);
			}
			if (event->kind == TW_LOST)
				used += (size_t)snprintf(text + used, room - used, "lost %d\n", (int)event->value);
			else
				used += (size_t)snprintf(text + used, room - used, "%d %s %d %d\n",
				                         (int)tw_dictionary_track(dictionary, event->track)->thread,
				                         path, (int)event->value, (int)event->id);
		}
	assert_int_equal(status, 0);
	tw_close(reader);
}

static void check(const struct log *log, const char *events, const char *rule, uint64_t offset)
{
	char text[512];
	struct reported reported;
	put_events(log, &reported, 0, text, sizeof text);
	assert_string_equal(text, events);
	assert_int_equal(reported.count, rule != NULL);
	if (rule) {
		assert_string_equal(reported.rules[0], rule);
		assert_int_equal(reported.offsets[0], offset);
	}
}

/* a: 1000 + 500, less 300 and 200; aa: 200 less 50. */
static const char good_events[] = "100 a 2 1000\n100 ab 2 300\n100 aa 1 150\n100 aab 1 50\n101 c 7 70\n";

static void test_good(void **state)
{
	(void)state;
	struct log log;
	make_good(&log, false);
	check(&log, good_events, NULL, 0);
	make_good(&log, true);
	check(&log, good_events, NULL, 0);
}

/* A tick of 2 GHz is half a nanosecond. */
static void test_frequency(void **state)
{
	(void)state;
	char text[512];
	struct reported reported;
	struct log log;
	make_good(&log, false);
	put_events(&log, &reported, 2000000000, text, sizeof text);
	assert_string_equal(text, "100 a 2 500\n100 ab 2 150\n100 aa 1 75\n100 aab 1 25\n101 c 7 35\n");
}

static void test_profile(void **state)
{
	(void)state;
	struct reported reported;
	struct log log;
	struct tw_profile *profile;
	make_good(&log, false);
	struct tw_reader *reader = open_log(&log, &reported, 1000000000);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	assert_int_equal(tw_profile_add(profile, reader), 0);
	assert_int_equal(tw_profile_weight(profile), TW_WEIGHT_CALLS);
	const struct tw_profile_row *a = tw_profile_row(profile, 0), *b = tw_profile_row(profile, 1);
	/* Recursion counts once for the total. */
	assert_int_equal(a->id, 1);
	assert_int_equal(a->count, 3);
	assert_int_equal(a->summed, 3);
	assert_int_equal(a->total, 1500);
	assert_int_equal(a->self, 1150);
	assert_int_equal(b->id, 2);
	assert_int_equal(b->count, 3);
	assert_int_equal(b->self, 350);
	tw_profile_free(profile);
	tw_close(reader);
}

/* Without a frequency the sums are of ticks, which are no sum with times. */
static void test_ticks(void **state)
{
	(void)state;
	struct reported reported;
	struct log log;
	struct tw_profile *profile;
	make_good(&log, false);
	struct tw_reader *ticks = open_log(&log, &reported, 0), *times = open_log(&log, &reported, 1000);
	assert_int_equal(tw_profile_new(&profile, NULL), 0);
	assert_int_equal(tw_profile_add(profile, ticks), 0);
	assert_int_equal(tw_profile_weight(profile), TW_WEIGHT_TICKS);
	assert_int_equal(tw_profile_add(profile, times), TW_ERR_VALUE);
	tw_profile_free(profile);
	tw_close(ticks);
	tw_close(times);
}

static void test_no_paths(void **state)
{
	(void)state;
	struct log log;
	begin(&log, false);
	check(&log, "", "xray-profiling.empty", 32);
}

static void test_version(void **state)
{
	(void)state;
	struct log log;
	make_good(&log, false);
	log.bytes[8] ^= 1;
	check(&log, good_events, "xray-profiling.version", 0);
}

/* The last path lacks a byte: it is lost, and nothing else. */
static void test_cut(void **state)
{
	(void)state;
	char text[512];
	struct reported reported;
	struct log log;
	make_good(&log, false);
	log.size--;
	put_events(&log, &reported, 0, text, sizeof text);
	assert_string_equal(text, "100 a 2 1000\n100 ab 2 300\n100 aa 1 150\n100 aab 1 50\nlost 23\n");
	assert_int_equal(reported.count, 2);
	assert_string_equal(reported.rules[0], "xray-profiling.cut-block");
	assert_string_equal(reported.rules[1], "xray-profiling.path");
}

static void test_block_size(void **state)
{
	(void)state;
	for (int change = -8; change <= 8; change += 16) {
		struct log log;
		make_good(&log, false);
		log.bytes[32] = (uint8_t)(log.bytes[32] + change);
		check(&log, good_events, "xray-profiling.block-size", 32);
	}
}

static void test_no_block(void **state)
{
	(void)state;
	struct log log;
	begin(&log, false);
	put(&log, 3, 4);
	put(&log, 0, 8);
	begin_block(&log, 0, 5);
	put_path(&log, "a", 1, 2);
	end_block(&log);
	check(&log, "lost 12\n5 a 1 2\n", "xray-profiling.no-block", 32);
}

static void test_block_number(void **state)
{
	(void)state;
	struct log log;
	begin(&log, false);
	begin_block(&log, 1, 5);
	put_path(&log, "a", 1, 2);
	end_block(&log);
	check(&log, "5 a 1 2\n", "xray-profiling.block-number", 32);
}

/* Zeros over the second path: it has no functions, and the others stay. */
static void test_path(void **state)
{
	(void)state;
	struct log log;
	begin(&log, false);
	begin_block(&log, 0, 5);
	put_path(&log, "a", 1, 20);
	memset(log.bytes + log.size, 0, 24);
	log.size += 24;
	put_path(&log, "b", 3, 4);
	end_block(&log);
	check(&log, "5 a 1 20\nlost 24\n5 b 3 4\n", "xray-profiling.path", 32 + 16 + 24);
}

/* Ids without an end: what is asked from each of them is known from the one before. Otherwise this takes an hour. */
static void test_no_end(void **state)
{
	(void)state;
	enum { SIZE = 1 << 22 };
	static uint8_t bytes[SIZE];
	struct log log;
	struct reported reported = {0};
	struct tw_reader *reader;
	struct tw_batch batch;
	begin(&log, false);
	begin_block(&log, 0, 5);
	memset(bytes, 1, sizeof bytes);
	memcpy(bytes, log.bytes, log.size);
	tw_store32(bytes + 32, SIZE - 32, false);
	const struct tw_read_options options = {.on_finding = take_finding, .finding_context = &reported};
	assert_int_equal(tw_open_memory(&reader, "log", bytes, SIZE, &options), 0);
	while (tw_read(reader, &batch) > 0)
		;
	assert_string_equal(reported.rules[0], "xray-profiling.path");
	tw_close(reader);
}

static void test_no_caller(void **state)
{
	(void)state;
	struct log log;
	begin(&log, false);
	begin_block(&log, 0, 5);
	put_path(&log, "ab", 1, 20);
	end_block(&log);
	check(&log, "5 ab 1 20\n", "xray-profiling.no-caller", 48);
}

static void test_long_callees(void **state)
{
	(void)state;
	struct log log;
	begin(&log, false);
	begin_block(&log, 0, 5);
	put_path(&log, "a", 1, 20);
	put_path(&log, "ab", 1, 30);
	end_block(&log);
	check(&log, "5 a 1 0\n5 ab 1 30\n", "xray-profiling.long-callees", 48);
}

static void test_limit(void **state)
{
	(void)state;
	struct log log;
	struct reported reported = {0};
	struct tw_reader *reader;
	struct tw_batch batch;
	make_good(&log, false);
	const struct tw_read_options options = {.on_finding = take_finding,
	                                        .finding_context = &reported,
	                                        .memory_limit = 2048};
	assert_int_equal(tw_open_memory(&reader, "log", log.bytes, log.size, &options), 0);
	/* The shallow ones of both threads. */
	assert_int_equal(tw_read(reader, &batch), 2);
	assert_string_equal(reported.rules[0], "xray-profiling.limit");
	assert_int_equal(reported.count, 1);
	tw_close(reader);
}

/* ---- Repair. ---- */

static void check_repair(const struct log *damaged, const struct log *expected, uint64_t lost)
{
	char path[] = "/tmp/trackway-profiling-XXXXXX";
	uint8_t bytes[ROOM];
	struct tw_rewrite_result result;
	struct reported reported;
	int file = mkstemp(path);
	assert_true(file >= 0);
	close(file);
	struct tw_reader *reader = open_log(damaged, &reported, 0);
	assert_int_equal(tw_repair(reader, path, &result), 0);
	assert_int_equal(result.lost_bytes, lost);
	assert_int_equal(read_file(path, bytes, sizeof bytes), expected->size);
	assert_memory_equal(bytes, expected->bytes, expected->size);
	tw_close(reader);
	unlink(path);
}

static void test_repair(void **state)
{
	(void)state;
	struct log good, damaged, expected;
	make_good(&good, false);
	check_repair(&good, &good, 0);
	make_good(&damaged, false);
	damaged.bytes[32] += 8; /* of the first block's size */
	check_repair(&damaged, &good, 0);
	make_good(&damaged, true);
	damaged.size--;
	begin(&expected, true);
	memcpy(expected.bytes, damaged.bytes, damaged.size - 23);
	expected.size = expected.block = damaged.size - 23 - 16;
	begin_block(&expected, 1, 101);
	end_block(&expected);
	check_repair(&damaged, &expected, 23);
}

/* Logs one behind the other. That of a child begins with its parent's paths, which count once; one of the same process,
 * or of another machine, counts all. */
static void test_two_logs(void **state)
{
	static const char *const events[] = {
	    "100 a 2 1000\n100 ab 2 300\n100 aa 1 150\n100 aab 1 50\n101 c 7 70\n200 d 4 10\n",
	    "100 a 2 1000\n100 ab 2 300\n100 aa 1 150\n100 aab 1 50\n101 c 7 70\n200 a 1 700\n200 ab 2 300\n200 d 4 10\n"};
	(void)state;
	char text[512];
	struct reported reported;
	struct log log;
	for (int big = 0; big < 2; big++) {
		make_good(&log, false);
		const size_t second = log.size;
		log.big = big;
		put_header(&log, 78);
		begin_block(&log, 0, 200);
		put_path(&log, "a", 1, 1000);
		put_path(&log, "ab", 2, 300);
		put_path(&log, "d", 4, 10);
		end_block(&log);
		check(&log, events[big], "xray-profiling.another-log", second);
		check_repair(&log, &log, 0);
	}
	make_good(&log, false);
	log.bytes[log.block] += 8;
	put_header(&log, 77);
	begin_block(&log, 0, 100);
	put_path(&log, "a", 1, 1000);
	end_block(&log);
	put_events(&log, &reported, 0, text, sizeof text);
	assert_string_equal(text, "100 a 3 2000\n100 ab 2 300\n100 aa 1 150\n100 aab 1 50\n101 c 7 70\n");
	assert_int_equal(reported.count, 2);
	assert_string_equal(reported.rules[0], "xray-profiling.block-size");
	assert_string_equal(reported.rules[1], "xray-profiling.another-log");
}

/* The header of a basic log of version 3 at 2.3 GHz, and of an FDR log of version 5; records behind them are no blocks. */
/* The header of a basic log or of an FDR log, and what stands behind it: an entry, or the beginning of a buffer. */
static void put_other(struct log *log, unsigned type, uint64_t frequency)
{
	put(log, type ? 5 : 3, 2);
	put(log, type, 2);
	put(log, 0x3f, 4);
	put(log, frequency, 8);
	put(log, 0, 8);
	put(log, 0, 8);
	put(log, type ? 0x0f : 0, 1);
	put(log, 0, 3);
	put(log, 1, 4);
	put(log, 100, 8);
	put(log, 1, 8);
	put(log, 0, 8);
}

static void test_other_kind(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++)
		for (unsigned type = 0; type < 2; type++) {
			char events[512];
			struct log log;
			struct reported reported;
			make_good(&log, big);
			const size_t second = log.size;
			put_other(&log, type, 2300000000);
			put_events(&log, &reported, 0, events, sizeof events);
			assert_memory_equal(events, good_events, sizeof good_events - 1);
			assert_string_equal(reported.rules[0], "xray-profiling.foreign-log");
			assert_int_equal(reported.offsets[0], second);
		}
}

/* The 64th log is of the mode xray-profiling, and another follows. */
static void test_too_many_kinds(void **state)
{
	static char events[4096];
	static struct log log, last;
	static struct reported reported;
	(void)state;
	make_good(&log, false);
	for (unsigned i = 0; i < 62; i++)
		put_other(&log, 0, 2300000000 + i % 2);
	make_good(&last, false);
	memcpy(log.bytes + log.size, last.bytes, last.size);
	log.size += last.size;
	const size_t after = log.size;
	put_other(&log, 0, 2300000000);
	put_events(&log, &reported, 0, events, sizeof events);
	size_t found = 0;
	for (size_t i = 0; i < reported.count; i++)
		if (strcmp(reported.rules[i], "xray-profiling.too-many-logs") == 0) {
			assert_int_equal(reported.offsets[i], after);
			found++;
		}
	assert_int_equal(found, 1);
}

SUITE(profiling)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),
	    cmocka_unit_test(test_frequency),
	    cmocka_unit_test(test_profile),
	    cmocka_unit_test(test_ticks),
	    cmocka_unit_test(test_no_paths),
	    cmocka_unit_test(test_version),
	    cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_block_size),
	    cmocka_unit_test(test_no_block),
	    cmocka_unit_test(test_block_number),
	    cmocka_unit_test(test_path),
	    cmocka_unit_test(test_no_end),
	    cmocka_unit_test(test_no_caller),
	    cmocka_unit_test(test_long_callees),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_repair),
	    cmocka_unit_test(test_two_logs),
	    cmocka_unit_test(test_other_kind),
	    cmocka_unit_test(test_too_many_kinds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
