/* test_fdr_seams.c - where bytes are missing or too many, what two halves look like is not told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/known.h"
#include "fdr_seams.h"
#include "suite.h"

/* ---- Halves of records. ---- */

/* Bytes are missing from the middle of a record on. The delta behind them, 0x440, and the function behind that look like
 * an entry of function 0x44, which the log has. */
static void test_halves_before_a_gap(void **state)
{
	(void)state;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_pairs(&log_, 0x44, 10);
	add_pairs(&log_, 0x24, 10);
	add_pairs(&log_, 1, 100);
	size_t from = log_.size - 8 + 4;
	add_pairs(&log_, 2, 60);
	size_t to = log_.size;
	add_function(&log_, 0, 0x24, 0x440);
	add_function(&log_, 1, 0x24, 0x5d7);
	add_pairs(&log_, 1, 100);
	end_buffer(&log_, start);
	add_buffer(&log_, THREAD + 1, 2, BEGIN);
	hurt = log_;
	delete_bytes(from, to - from);
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD, 0x44), 20);
	assert_int_equal(calls_of(THREAD, 2), 0);
	assert_in_range(calls_of(THREAD, 1), 199, 400);
}

/* So many bytes were put in behind the first one of a record. The last of them makes its rest look like a call of function
 * 5. Returns how many of its own calls are read. */
static size_t read_half(size_t size)
{
	uint8_t junk[32];
	memset(junk, 0xfe, sizeof junk);
	junk[size - 1] = 0x50;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_varied_pairs(&log_, 1, 20);
	size_t at = log_.size + 1;
	add_varied_pairs(&log_, 1, 20);
	end_buffer(&log_, start);
	start = begin_buffer(&log_, THREAD + 1, 1, BEGIN);
	add_varied_pairs(&log_, 5, 20);
	end_buffer(&log_, start);
	hurt = log_;
	insert_bytes(at, junk, size);
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD, 5), 0);
	assert_int_equal(calls_of(THREAD + 1, 5), 40);
	return calls_of(THREAD, 1);
}

static void test_half_behind_bytes_put_in(void **state)
{
	(void)state;
	assert_int_equal(read_half(20), 79);
	assert_int_equal(read_half(24), 79); /* where it was, by the records behind it */
}

/* A second buffer has begun where the counter that a record tells is far behind. Of the calls before it those that end
 * behind it, and not where the thread is, are the second one's; those that begin behind it say nothing. */
static void test_calls_over_a_counter(void **state)
{
	(void)state;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_pairs(&log_, 1, 50);
	add_function(&log_, 0, 5, TICK);
	size_t from = log_.size;
	add_pairs(&log_, 1, 50);
	end_buffer(&log_, start);
	start = begin_buffer(&log_, THREAD + 1, 1, BEGIN / 2);
	add_pairs(&log_, 3, 50);
	add_function(&log_, 0, 6, TICK);
	size_t to = log_.size;
	add_pairs(&log_, 3, 50);
	add_function(&log_, 0, 7, TICK);
	add_cpu(&log_, 2, BEGIN / 2 + 1000 * TICK);
	add_pairs(&log_, 4, 50);
	add_function(&log_, 0, 8, TICK);
	add_function(&log_, 1, 9, TICK);
	add_function(&log_, 1, 7, TICK);
	add_function(&log_, 1, 6, TICK);
	end_buffer(&log_, start);
	start = begin_buffer(&log_, THREAD + 2, 1, BEGIN);
	add_pairs(&log_, 1, 50);
	end_buffer(&log_, start);
	hurt = log_;
	delete_bytes(from, to - from);
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD, 3) + calls_of(THREAD, 4) + calls_of(THREAD, 7) + calls_of(THREAD, 8), 0);
	assert_int_equal(calls_of(THREAD, 1), 100);
	assert_int_equal(calls_of(THREAD, 5), 1);
	assert_int_equal(calls_of(THREAD + 2, 1), 100);
}

/* Version 1, without sizes: behind bytes that are no records, the counter that is told next is the one that was counted,
 * or it may be another buffer. offset: of that counter from where it is if nothing is missing. Returns how many calls of
 * function 3, which stand behind, are taken for the thread's. */
static size_t read_without_size(uint64_t offset)
{
	static const uint8_t junk[5] = {0xfe, 0xfe, 0xfe, 0xfe, 0xfe};
	add_header_of(&log_, 1, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_pairs(&log_, 1, 20);
	size_t at = log_.size;
	add_pairs(&log_, 3, 20);
	add_cpu(&log_, 2, BEGIN + 4780 + 4780 + offset); /* 40 times 100, and 0 to 39 */
	add_pairs(&log_, 3, 20);
	end_buffer(&log_, start);
	start = begin_buffer(&log_, THREAD + 2, 1, BEGIN);
	add_pairs(&log_, 1, 50);
	add_pairs(&log_, 3, 50);
	end_buffer(&log_, start);
	hurt = log_;
	insert_bytes(at, junk, sizeof junk);
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD, 1), 40);
	return calls_of(THREAD, 3);
}

static void test_counter_behind_a_gap(void **state)
{
	(void)state;
	assert_int_equal(read_without_size(0), 79);
	assert_int_equal(read_without_size(65536), 79);
	assert_int_equal(read_without_size(65537 + 4 * TICK), 0);
	assert_int_equal(read_without_size((uint64_t)0 - 65536), 79);
	assert_int_equal(read_without_size((uint64_t)0 - 65537 - 4 * TICK), 0);
}

/* ---- A buffer that is longer than it says. ---- */

/* Puts an event with a payload, and bytes that are no records, into a buffer of 200 calls, behind the first 20. Returns
 * how many calls of it are read. */
static size_t read_longer(uint32_t payload)
{
	enum { JUNK = 40 };
	static const char text[64];
	static struct bytes event;
	uint8_t junk[JUNK];
	memset(junk, 0xfe, sizeof junk);
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_pairs(&log_, 1, 10);
	size_t at = log_.size;
	add_pairs(&log_, 1, 90);
	end_buffer(&log_, start);
	add_buffer(&log_, THREAD + 1, 2, BEGIN);
	hurt = log_;
	event = (struct bytes){.version = 5};
	add_custom(&event, 1, 0, text, payload);
	add_text(&event, junk, sizeof junk);
	insert_bytes(at, event.data, event.size);
	read_rows(&hurt);
	return calls_of(THREAD, 1);
}

/* Of what is too much some bytes are no records: it was put in. If 24 bytes more are records than that, or fewer, it is
 * one buffer all the same; from 25 on it may be the end of another one. */
static void test_longer_by_records(void **state)
{
	(void)state;
	assert_int_equal(read_longer(8), 200);
	assert_int_equal(read_longer(9), 20);
}

/* The end of a buffer is missing with the beginning of another, whole records: where the first one's size leads, calls of
 * the second go on, as they do before, up to the end of the file. The first exit there that is not that of the innermost
 * call shows it. */
static void test_size_into_another(void **state)
{
	(void)state;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD + 2, 1, BEGIN);
	add_varied_pairs(&log_, 7, 20);
	end_buffer(&log_, start);
	start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_varied_pairs(&log_, 1, 50);
	add_function(&log_, 0, 5, TICK);
	size_t from = log_.size;
	add_varied_pairs(&log_, 1, 50);
	end_buffer(&log_, start);
	start = begin_buffer(&log_, THREAD + 1, 1, BEGIN);
	add_function(&log_, 0, 7, TICK);
	size_t to = log_.size;
	for (unsigned i = 0; i < 2; i++) {
		add_varied_pairs(&log_, 3, 20);
		add_function(&log_, 1 - i, 7, TICK);
		add_varied_pairs(&log_, 3, 20);
	}
	end_buffer(&log_, start);
	hurt = log_;
	delete_bytes(from, to - from);
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD, 1), 100);
	assert_int_equal(calls_of(THREAD, 5), 1);
	assert_int_equal(calls_of(THREAD, 3) + calls_of(THREAD, 7), 0);
	assert_int_equal(calls_of(THREAD + 2, 7), 40);
}

/* The end of a buffer and the beginning of another are missing, but no more than 27 bytes by the size; 5 are halves of
 * records. Behind that, calls end of which the first has none open: so many. Returns how many calls of function 3, which
 * stand there too, are taken for the first one's thread. */
static size_t read_shorter(uint32_t open)
{
	enum { TAIL = 640, BEHIND = 608, EACH = 7 * 8 }; /* bytes */
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_function(&log_, 0, 5, TICK);
	add_varied_pairs(&log_, 1, 50);
	size_t from = log_.size + 3;
	add_varied_pairs(&log_, 1, TAIL / 16);
	end_buffer(&log_, start);
	start = begin_buffer(&log_, THREAD + 1, 1, BEGIN);
	for (uint32_t i = 0; i < open; i++)
		add_function(&log_, 0, 30 + i, TICK);
	size_t to = log_.size - 2;
	for (uint32_t i = open; i-- > 0;) {
		add_function(&log_, 1, 30 + i, TICK);
		add_varied_pairs(&log_, 3, 3);
	}
	add_varied_pairs(&log_, 3, (BEHIND - open * EACH) / 16);
	end_buffer(&log_, start);
	start = begin_buffer(&log_, THREAD + 2, 1, BEGIN);
	for (uint32_t i = 0; i < open; i++)
		add_varied_pairs(&log_, 30 + i, 2);
	add_varied_pairs(&log_, 5, 20);
	add_varied_pairs(&log_, 3, 20);
	end_buffer(&log_, start);
	hurt = log_;
	delete_bytes(from, to - from);
	read_rows(&hurt);
	assert_in_range(calls_of(THREAD, 1), 100, 101); /* the one that was hit */
	assert_int_equal(calls_of(THREAD + 2, 3), 40);
	return calls_of(THREAD, 3);
}

/* With the records beside the halves that are not believed there is room for six calls: that many entries may be missing.
 * The first exit is one of these. */
static void test_shorter_by_calls(void **state)
{
	(void)state;
	assert_int_equal(read_shorter(7), 67);
	assert_int_equal(read_shorter(8), 0);
}

/* ---- Threads and times that never were. ---- */

static void make_three(void)
{
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	for (unsigned i = 0; i < 3; i++) {
		size_t start = begin_buffer(&log_, 0x1210 + i, 1, BEGIN + 1000 * i);
		add_pairs(&log_, 1 + i, 50);
		add_cpu(&log_, 1, BEGIN + 1000 * i + 200 * TICK);
		add_pairs(&log_, 1 + i, 20);
		end_buffer(&log_, start);
	}
	hurt = log_;
}

static void take_thread(void *context, const struct tw_finding *finding)
{
	*(unsigned *)context += strcmp(finding->rule, "fdr.new-buffer-missing") == 0;
}

/* Zeros from the middle of a thread's number on: 0x1211 becomes 0x11. No other buffer is of it, and no time follows, so
 * that its calls are of no known thread; repaired, too. */
static void test_half_a_thread(void **state)
{
	enum { LOST = 100 };
	struct tw_reader *reader;
	struct tw_batch batch;
	unsigned reported = 0;
	(void)state;
	make_three();
	size_t second = 32 + (log_.size - 32) / 3;
	memset(hurt.data + second + 16 + 2, 0, LOST);
	read_rows(&hurt);
	assert_int_equal(calls_of(0x1210, 1), 140);
	assert_int_equal(calls_of(0x1212, 3), 140);
	assert_in_range(calls_of(0, 2), 100, 139);
	assert_int_equal(count, calls_of(0, 2) + 280);
	struct tw_read_options options = {.on_finding = take_thread, .finding_context = &reported};
	assert_int_equal(tw_open_memory(&reader, "made", hurt.data, hurt.size, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_track *track =
			    tw_dictionary_track(tw_reader_dictionary(reader), batch.events[i].track);
			const uint64_t thread = batch.events[i].track ? track->thread : 0;
			assert_true(thread == 0 || thread == 0x1210 || thread == 0x1212);
		}
	tw_close(reader);
	assert_int_equal(reported, 1);
}

/* A run of ones over the end of one buffer and the beginning of the next: bytes of NewBuffer's kind are no buffers, if
 * what they tell is no thread. */
static void test_ones_over_a_border(void **state)
{
	(void)state;
	make_three();
	size_t second = 32 + (log_.size - 32) / 3;
	memset(hurt.data + second - 64, 1, 200);
	read_rows(&hurt);
	assert_in_range(calls_of(0x1210, 1), 120, 140);
	assert_int_equal(calls_of(0x1212, 3), 140);
	assert_int_equal(count, calls_of(0x1210, 1) + 140);
}

/* The end of a WallTime record, 3000 microseconds and zeros, stands before NewCPUId as a call would; none is there. */
static void test_half_a_time(void **state)
{
	(void)state;
	make_three();
	size_t second = 32 + (log_.size - 32) / 3;
	set_number(hurt.data + second + 32 + 9, 3000 << 4, 4);
	hurt.data[second + 32] = 0xfe;
	hurt.data[second + 40] = 0x10;
	read_rows(&hurt);
	assert_int_equal(calls_of(0, 2), 140); /* no other buffer is of 0x1211, and no time follows */
	assert_int_equal(count, 3 * 140);
}

/* The first NewCPUId of a thread is hit: until the next one its times are counted back from that. */
static void test_times_before_the_first_counter(void **state)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	uint64_t first = UINT64_MAX, last = 0;
	(void)state;
	make_three();
	size_t second = 32 + (log_.size - 32) / 3;
	memset(hurt.data + second + 64, 0xff, 16);
	assert_int_equal(tw_open_memory(&reader, "made", hurt.data, hurt.size, &(struct tw_read_options){0}), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			first = batch.events[i].time < first ? batch.events[i].time : first;
			last = batch.events[i].time > last ? batch.events[i].time : last;
		}
	tw_close(reader);
	assert_in_range(first, BEGIN / 2 - 1, BEGIN / 2 + 300 * TICK); /* of 2 GHz */
	assert_in_range(last, BEGIN / 2, BEGIN / 2 + 300 * TICK);
}

/* ---- Counters that the buffers before and behind contradict. ---- */

enum { BUFFERS = 5 };

static const uint64_t UP = UINT64_C(1) << 50, FAR = UINT64_C(1)
                                                    << 42; /* ticks: since the machine began; half an hour */

struct times {
	uint64_t first, last;
	unsigned errors, uncertain;
};

static void count_errors(void *context, const struct tw_finding *finding)
{
	*(unsigned *)context += finding->severity == TW_ERROR;
}

/* Buffers of two threads, a second of the clock from one to the next, which begin with these counters. */
static struct times read_counters(const uint64_t *counters, enum tw_order order)
{
	struct times t = {.first = UINT64_MAX};
	struct tw_read_options options = {.order = order, .on_finding = count_errors, .finding_context = &t.errors};
	struct tw_reader *reader;
	struct tw_batch batch;
	add_header_of(&log_, 5, 1, 3, 1000000000, SIZE);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		size_t start = begin_buffer(&log_, THREAD + i % 2, 1 + i, counters[i]);
		add_pairs(&log_, 1, 10);
		end_buffer(&log_, start);
	}
	assert_int_equal(tw_open_memory(&reader, "made", log_.data, log_.size, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const uint64_t time = batch.events[i].time;
			t.first = time < t.first ? time : t.first;
			t.last = time > t.last ? time : t.last;
			t.uncertain += (batch.events[i].flags & TW_FLAG_UNCERTAIN) != 0;
		}
	tw_close(reader);
	return t;
}

/* One counter is damaged, of a buffer that began between two others: its times are counted on from its thread's last. */
static void test_contradicted_counter(void **state)
{
	static const uint64_t smashed[] = {0, 1000, UP + 2 * TICK - FAR - 1, UP + 4 * TICK + FAR + 1,
	                                   UINT64_C(0x1234567812345678)};
	(void)state;
	for (size_t i = 0; i < 2 * sizeof smashed / sizeof *smashed; i++) {
		const uint64_t counters[BUFFERS] = {UP, UP + TICK, UP + 2 * TICK, smashed[i / 2], UP + 4 * TICK};
		const struct times t = read_counters(counters, i % 2 ? TW_ORDER_TIME : TW_ORDER_TRACK);
		assert_int_equal(t.errors, 1);
		assert_int_equal(t.uncertain, 20);
		assert_true(t.first >= UP && t.last < UP + 100 * TICK);
	}
}

/* It is no damage where processors differ, where a machine slept and its counter begins anew, and where nothing tells
 * which of two is wrong. */
static void test_counters_that_differ(void **state)
{
	static const uint64_t all[][BUFFERS] = {
	    {UP, UP + TICK, UP + 2 * TICK, UP + 2 * TICK - FAR, UP + 4 * TICK},
	    {UP, UP + TICK, UP + 2 * TICK, UP + 4 * TICK + FAR, UP + 4 * TICK},
	    {UP, UP + TICK, UP + 2 * TICK, 1000, 1000 + TICK},
	    {UP, UP + TICK, UP + 2 * TICK, UP + 3 * TICK, 1000},
	    {UP, 2 * UP, 3 * UP, 4 * UP, 5 * UP},
	    {UP, UP + FAR / 2 + 1, UP - FAR, UP, 2 * UP},
	};
	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const struct times t = read_counters(all[i], TW_ORDER_TRACK);
		assert_int_equal(t.errors + t.uncertain, 0);
	}
}

/* Of what may be a WallTime record at the end of the file no time is there: the thread before it must make sense. */
static void test_start_at_the_end(void **state)
{
	const struct fdr_log log = {.header = {.version = 5, .layout = TW_FDR_LITTLE}};
	static const uint8_t bytes[][20] = {
	    {1, 0x00, 0x00, 0xe0, 0x01, [16] = 9},
	    {1, 0xa0, 0x0f, 0x00, 0x00, [16] = 9},
	};
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(fdr_is_wall_time(&log, bytes[i] + 16, 4), i);
}

/* ---- Basic logs. ---- */

static const uint64_t DAYS = UINT64_C(1) << 50; /* ticks */

/* Whether a row is one of the log, or stands where the record begins that was hit. */
static void expect_basic(const struct row *row, size_t hit)
{
	const size_t i = (size_t)(row->tsc - DAYS) / 1000;
	if (row->offset == hit)
		return;
	assert_int_equal(row->tsc, DAYS + 1000 * i);
	assert_int_equal(row->enters, i % 2 == 0);
	assert_int_equal(row->function, 10 + i / 2);
	assert_int_equal(row->thread, 4001);
}

/* Bytes deleted, or put in, anywhere in a record: all others are read, but for one at most. */
static void test_basic_realigns(void **state)
{
	enum { RECORD = 32, COUNT = 40, HIT = 12 };
	const uint8_t others[RECORD] = {0};
	(void)state;
	for (unsigned version = 1; version <= 3; version++) {
		add_basic_header(&log_, version);
		for (unsigned i = 0; i < COUNT; i++)
			add_basic(&log_, i % 2, 10 + i / 2, DAYS + 1000 * i, 4001);
		for (unsigned i = 1; i < RECORD * RECORD; i++) {
			const size_t size = i % RECORD, at = 32 + HIT * RECORD + i / RECORD;
			hurt = log_;
			if (size == 0)
				continue;
			if (version == 3 && i % 2)
				insert_bytes(at, others, size);
			else
				delete_bytes(at, size);
			read_rows(&hurt);
			for (size_t k = 0; k < count; k++)
				expect_basic(&rows[k], at / RECORD * RECORD);
			assert_in_range(count, COUNT - 3, COUNT);
		}
	}
}

SUITE(fdr_seams)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_halves_before_a_gap),
	    cmocka_unit_test(test_half_behind_bytes_put_in),
	    cmocka_unit_test(test_calls_over_a_counter),
	    cmocka_unit_test(test_counter_behind_a_gap),
	    cmocka_unit_test(test_longer_by_records),
	    cmocka_unit_test(test_size_into_another),
	    cmocka_unit_test(test_shorter_by_calls),
	    cmocka_unit_test(test_half_a_thread),
	    cmocka_unit_test(test_ones_over_a_border),
	    cmocka_unit_test(test_half_a_time),
	    cmocka_unit_test(test_times_before_the_first_counter),
	    cmocka_unit_test(test_contradicted_counter),
	    cmocka_unit_test(test_counters_that_differ),
	    cmocka_unit_test(test_start_at_the_end),
	    cmocka_unit_test(test_basic_realigns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
