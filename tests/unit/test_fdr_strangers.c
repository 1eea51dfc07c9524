/* test_fdr_strangers.c - what damage makes that looks like records of the log is not told. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr/fdr.h"

#include "fdr_seams.h"
#include "suite.h"

/* A buffer of another thread, which calls each of the functions that are called once elsewhere. */
static void add_other_buffer(void)
{
	size_t start = begin_buffer(&log_, THREAD + 1, 2, BEGIN);
	for (uint32_t function = 30; function < 34; function++)
		add_varied_pairs(&log_, function, 2);
	add_varied_pairs(&log_, 5, 2);
	end_buffer(&log_, start);
}

/* ---- Two buffers of version 1 that have become one, whole records. ---- */

/* The end of a buffer and the beginning of another are missing. So many calls end behind that, which the first one does
 * not have, before a counter that is so far behind. Returns how many calls of function 2, which stand there too, are
 * taken for the first one's thread. */
static size_t read_joined(uint32_t ends, uint64_t behind)
{
	add_header_of(&log_, 1, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_varied_pairs(&log_, 1, 20);
	add_function(&log_, 0, 5, TICK);
	uint64_t tsc = BEGIN + TICK;
	for (size_t at = start + 48; at < log_.size - 8; at += 8)
		tsc += log_.data[at + 4] | (uint64_t)log_.data[at + 5] << 8;
	for (uint32_t i = ends; i-- > 0;) {
		add_function(&log_, 1, 30 + i, TICK);
		tsc += TICK;
	}
	add_cpu(&log_, 1, tsc - behind);
	add_varied_pairs(&log_, 2, 20);
	end_buffer(&log_, start);
	add_other_buffer();
	read_rows(&log_);
	assert_int_equal(calls_of(THREAD, 1), 40);
	return calls_of(THREAD, 2);
}

/* Counters of processors differ, and where an exception is caught, calls end that never began. */
static void test_joined_without_a_size(void **state)
{
	(void)state;
	assert_int_equal(read_joined(3, 65537), 0);
	assert_int_equal(read_joined(2, 65537), 40);
	assert_int_equal(read_joined(3, 65536), 40);
}

/* ---- Bytes that were put in. ---- */

/* Eight bytes in the midst of a call: both that stand there are calls then, of functions that the log does not have. */
static void test_calls_of_strangers(void **state)
{
	static const uint8_t put_in[8] = {0x7f, 0x7f, 0x10, 0x20, 0x30, 0x00, 0xa0, 0xf6};
	(void)state;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_varied_pairs(&log_, 1, 40);
	size_t at = log_.size + 2;
	add_varied_pairs(&log_, 1, 40);
	end_buffer(&log_, start);
	add_buffer(&log_, THREAD + 1, 2, BEGIN);
	hurt = log_;
	insert_bytes(at, put_in, sizeof put_in);
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD, 0xf6a), 0);
	assert_in_range(calls_of(THREAD, 1), 158, 159); /* but that one, and the one behind it */
	assert_int_equal(count, calls_of(THREAD, 1) + 2);
}

/* A byte in the midst of a buffer: all behind it look like entries, of functions that are not to be believed for the calls
 * before them. */
static void test_byte_among_many_calls(void **state)
{
	enum { MANY = 400 };
	(void)state;
	add_header_of(&log_, 5, 1, 3, 2000000000, (uint64_t)2 * SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	for (unsigned i = 0; i < 2 * MANY; i++)
		add_function(&log_, i % 2, 0x101, TICK);
	const size_t at = log_.size;
	for (unsigned i = 0; i < 2 * MANY; i++)
		add_function(&log_, i % 2, 0x101, TICK);
	end_buffer(&log_, start);
	add_buffer(&log_, THREAD + 1, 2, BEGIN);
	hurt = log_;
	insert_bytes(at, "", 1);
	read_rows(&hurt);
	assert_int_equal(count, calls_of(THREAD, 0x101) + 2);
	assert_in_range(calls_of(THREAD, 0x101), 4 * MANY - 4, 4 * MANY);
}

/* Eight bytes from the second one of a call on stand twice, so that a function the log does not have appears; those of two
 * calls do by chance. */
static void test_copy_by_chance(void **state)
{
	(void)state;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_varied_pairs(&log_, 0x123, 20);
	add_varied_pairs(&log_, 0x456, 20);
	add_function(&log_, 0, 0x123, TICK);
	add_function(&log_, 0, 0x123, TICK);
	add_varied_pairs(&log_, 0x456, 20);
	size_t at = log_.size + 1;
	add_varied_pairs(&log_, 0x123, 20);
	end_buffer(&log_, start);
	add_buffer(&log_, THREAD + 1, 2, BEGIN);
	hurt = log_;
	insert_bytes(at, log_.data + at - 8, 8);
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD, 0x123), 82);
	assert_int_equal(calls_of(THREAD, 0x456), 80);
	assert_int_equal(count, 164);
}

/* As many bytes as a buffer is too long, and a few more, are no records; but so many calls end behind them that never
 * began. Returns how many of function 3, which stand there too, are taken for its thread. */
static size_t read_longer(uint32_t ends)
{
	enum { LONGER = 40, JUNK = 44 };
	uint8_t junk[JUNK];
	memset(junk, 0xfe, sizeof junk);
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_function(&log_, 0, 5, TICK);
	add_varied_pairs(&log_, 1, 40);
	add_text(&log_, junk, sizeof junk);
	for (uint32_t i = 0; i < ends; i++)
		add_function(&log_, 1, 30 + i, TICK);
	add_varied_pairs(&log_, 3, 40);
	end_buffer(&log_, start);
	set_number(log_.data + start + 1, log_.size - start - 16 - LONGER, 8);
	add_other_buffer();
	read_rows(&log_);
	assert_int_equal(calls_of(THREAD, 1), 80);
	return calls_of(THREAD, 3);
}

static void test_ends_behind_bytes_put_in(void **state)
{
	(void)state;
	assert_int_equal(read_longer(2), 80); /* the first is not believed, right behind the gap */
	assert_int_equal(read_longer(3), 0);
}

/* ---- What stands beside damage. ---- */

/* A call right before bytes that are no records. Returns how many calls of function 2 are read. */
static size_t read_before_junk(uint32_t delta)
{
	static const uint8_t junk[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_varied_pairs(&log_, 2, 20);
	add_varied_pairs(&log_, 1, 20);
	add_function(&log_, 1, 2, delta);
	add_text(&log_, junk, sizeof junk);
	add_varied_pairs(&log_, 1, 20);
	end_buffer(&log_, start);
	add_buffer(&log_, THREAD + 1, 2, BEGIN);
	read_rows(&log_);
	assert_in_range(calls_of(THREAD, 1), 79, 80);
	return calls_of(THREAD, 2);
}

/* The zeros that a call ends with may be those of a metadata record of which the rest is missing. */
static void test_no_ticks_before_a_gap(void **state)
{
	(void)state;
	assert_int_equal(read_before_junk(1), 41);
	assert_int_equal(read_before_junk(0), 40);
}

/* Functions that are called once are no damage where damage is elsewhere in the buffer. */
static void test_calls_once(void **state)
{
	enum { ONCE = 4 };
	(void)state;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	for (uint32_t i = 0; i < ONCE; i++)
		add_varied_pairs(&log_, 300 + i, 1);
	add_varied_pairs(&log_, 1, 20);
	size_t at = log_.size - 8;
	add_varied_pairs(&log_, 1, 20);
	end_buffer(&log_, start);
	start = begin_buffer(&log_, THREAD + 1, 1, BEGIN);
	add_varied_pairs(&log_, 1, 40);
	end_buffer(&log_, start);
	hurt = log_;
	delete_bytes(at, 13);
	read_rows(&hurt);
	for (uint32_t i = 0; i < ONCE; i++)
		assert_int_equal(calls_of(THREAD, 300 + i), 2);
}

/* The counters that are told. */
static size_t read_counters(const struct bytes *b, uint64_t *most)
{
	struct tw_reader *reader;
	struct tw_record record;
	size_t counters = 0;
	assert_int_equal(tw_open_memory(&reader, "made", b->data, b->size, &(struct tw_read_options){0}), 0);
	while (tw_read_record(reader, &record) > 0) {
		if (strcmp(record.kind, "new-cpu-id") != 0)
			continue;
		uint64_t tsc = field(&record, "absolute_tsc");
		*most = tsc > *most ? tsc : *most;
		counters++;
	}
	tw_close(reader);
	return counters;
}

/* Where the unused bytes of a log are 0, a record with others in them and a counter that no other record is near is what
 * damage looks like. */
static void test_counter_of_damage(void **state)
{
	enum { THREADS = 5, JUNK = 300 };
	uint64_t most = 0;
	(void)state;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	for (uint32_t i = 0; i < THREADS; i++) {
		size_t start = begin_buffer(&log_, THREAD + i, 1, BEGIN);
		add_varied_pairs(&log_, 1, 20);
		end_buffer(&log_, start);
	}
	size_t start = begin_buffer(&log_, THREAD, 2, BEGIN + 1000000);
	add_cpu(&log_, 0, UINT64_C(8907762172864));
	log_.data[log_.size - 1] = 0x1a;
	set_number(log_.data + start + 1, 896, 8);
	memset(log_.data + log_.size, 0xff, JUNK);
	log_.size += JUNK;
	add_buffer(&log_, THREAD + 1, 2, BEGIN);
	assert_int_equal(read_counters(&log_, &most), THREADS + 2);
	assert_int_equal(most, BEGIN + 1000000);
}

/* ---- Bytes that were written over. ---- */

/* A log of whose first buffer the beginning ends at 80, and its calls at 80 + 8 * CALLS. */
enum { LEAD = 80, CALLS = 160 };

static size_t make_log(void)
{
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_varied_pairs(&log_, 1, CALLS / 2);
	end_buffer(&log_, start);
	add_buffer(&log_, THREAD + 1, 2, BEGIN);
	hurt = log_;
	return start;
}

/* No other function than the log's, and so many calls. */
static void expect_calls(size_t least, size_t most)
{
	read_rows(&hurt);
	assert_in_range(calls_of(THREAD, 1), least, most);
	assert_int_equal(count, calls_of(THREAD, 1) + calls_of(THREAD + 1, 1));
}

/* Bytes that are alike are no calls, though each eight of them could be one: 0x10 is the beginning of an entry. */
static void test_one_byte(void **state)
{
	enum { HIT = 8 };
	(void)state;
	size_t start = make_log();
	memset(hurt.data + start + LEAD + 40 * 8, 0x10, (size_t)HIT * 8);
	expect_calls(CALLS - HIT - 1, CALLS - HIT);
}

/* The first byte of a WallTime or Pid record, so that two calls stand there. */
static void test_calls_in_the_lead(void **state)
{
	(void)state;
	size_t start = make_log();
	for (size_t at = 32; at < LEAD - 16; at += 16) {
		hurt = log_;
		hurt.data[start + at] = 0x20;
		read_rows(&hurt);
		assert_int_equal(count, CALLS + 2);
		assert_int_equal(rows[0].offset, start + LEAD);
	}
	hurt = log_;
	/* of the NewBuffer a call and bytes that are none: WallTime stands behind both */
	set_number(hurt.data + start + 16, 1 << 4 | (uint64_t)TICK << 32, 8);
	hurt.data[start + 24] = 0x0e;
	read_rows(&hurt);
	assert_int_equal(count, CALLS + 2);
	assert_int_equal(rows[0].offset, start + LEAD);
}

/* The same of an argument. */
static void test_calls_for_an_argument(void **state)
{
	(void)state;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
	add_varied_pairs(&log_, 1, CALLS / 2);
	add_function(&log_, 3, 1, TICK);
	const size_t at = log_.size;
	add_argument(&log_, 0x1234567890);
	add_function(&log_, 1, 1, TICK);
	add_varied_pairs(&log_, 1, 20);
	end_buffer(&log_, start);
	add_buffer(&log_, THREAD + 1, 2, BEGIN);
	hurt = log_;
	hurt.data[at] = 0x20;
	expect_calls(CALLS + 42, CALLS + 42);
}

/* A log with another clock follows, whose entries with arguments have none: what stands in place of an argument is
 * damage all the same, for those who have read up to there and those who have not. */
static void test_another_log_is_not_known(void **state)
{
	static const enum tw_order orders[] = {TW_ORDER_FILE, TW_ORDER_TRACK, TW_ORDER_TIME};
	enum { OTHERS = 4 };
	(void)state;
	test_calls_for_an_argument(state);
	const size_t calls = count;
	for (size_t behind = 0; behind < 2; behind++) {
		if (behind) {
			log_.size = 0;
			add_header_of(&log_, 5, 1, 3, 3000000000, SIZE);
			const size_t start = begin_buffer(&log_, THREAD + 2, 1, BEGIN);
			for (unsigned i = 0; i < OTHERS; i++)
				add_function(&log_, 3, 3, TICK);
			end_buffer(&log_, start);
			add_text(&hurt, log_.data, log_.size);
		}
		for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
			read_rows_in(&hurt, orders[i]);
			assert_int_equal(count, calls + (behind ? OTHERS : 0));
			assert_int_equal(calls_of(THREAD, 1) + calls_of(THREAD + 1, 1), calls);
		}
	}
}

/* The same of a NewCPUId, the first and another one. Returns how many calls are read that are none. */
static size_t read_halved(uint64_t tsc, bool first)
{
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, tsc);
	add_varied_pairs(&log_, 1, CALLS / 2);
	const size_t at = first ? start + LEAD - 16 : log_.size;
	add_cpu(&log_, 1, tsc + 100000000);
	add_varied_pairs(&log_, 1, CALLS / 2);
	end_buffer(&log_, start);
	add_buffer(&log_, THREAD + 1, 2, tsc);
	hurt = log_;
	hurt.data[at] = 0x20;
	read_rows(&hurt);
	assert_in_range(calls_of(THREAD, 1), (size_t)2 * CALLS, (size_t)2 * CALLS + 1);
	return count - 2 - (size_t)2 * CALLS;
}

/* The second of the calls has the counter's first bytes: 0x22 is the exit of function 2, 0x12 that of function 1, which
 * the log has, so that both may be calls. */
static void test_calls_for_a_counter(void **state)
{
	static const struct {
		uint64_t tsc;
		size_t expected;
	} cases[] = {{BEGIN, 0}, {UINT64_C(0x226655443322), 0}, {UINT64_C(0x126655443322), 2}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(read_halved(cases[i].tsc, true), cases[i].expected);
		assert_int_equal(read_halved(cases[i].tsc, false), cases[i].expected);
	}
}

/* Bytes of several arguments that mean nothing are not 0, as LLVM's runtime leaves them. */
static void add_call_of(unsigned arguments)
{
	add_function(&log_, 3, 1, TICK);
	for (unsigned i = 0; i < arguments; i++) {
		add_argument(&log_, i + 1);
		log_.data[log_.size - 1] = arguments > 1 ? 0x80 : 0;
	}
	add_function(&log_, 1, 1, TICK);
}

/* Buffers are looked at 64 KiB at a time: what ends between an entry and its argument, or in the midst of that, is no
 * damage, whether or not there is some behind it. */
static void test_argument_beyond_a_window(void **state)
{
	enum { WINDOW = 1 << 16, HIT = 8, LARGE = 511, OTHERS = 4 + 40 };
	(void)state;
	for (unsigned inside = 0; inside <= 8; inside += 8) {
		log_.size = 0;
		add_header_of(&log_, 5, 1, 3, 2000000000, 2 * WINDOW);
		const size_t start = begin_buffer(&log_, THREAD, 1, BEGIN);
		for (unsigned i = 0; i < LARGE; i++)
			add_call_of(7);
		add_call_of(1);
		if (!inside)
			add_function(&log_, 0, 1, TICK);
		assert_int_equal(log_.size + 8, start + WINDOW - inside);
		add_call_of(1);
		add_varied_pairs(&log_, 1, 20);
		end_buffer(&log_, start);
		const size_t calls = 2 * LARGE + OTHERS + !inside;
		hurt = log_;
		read_rows(&hurt);
		assert_int_equal(count, calls);
		assert_int_equal(calls_of(THREAD, 1), calls);
		memset(hurt.data + hurt.size - 20 * 8, 0x10, (size_t)HIT * 8);
		read_rows(&hurt);
		assert_int_equal(count, calls_of(THREAD, 1));
		assert_in_range(count, calls - HIT - 1, calls - HIT);
	}
}

/* Version 1 without fill: all between the counter told last and the next buffer's is gone, whole records. */
static void test_joined_at_a_counter(void **state)
{
	(void)state;
	add_header_of(&log_, 1, 1, 3, 2000000000, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, BEGIN + 1000000);
	add_varied_pairs(&log_, 1, 20);
	add_cpu(&log_, 1, BEGIN + 2000000);
	add_function(&log_, 0, 5, TICK);
	add_cpu(&log_, 1, BEGIN);
	for (uint32_t function = 30; function < 33; function++)
		add_function(&log_, 1, function, TICK);
	add_varied_pairs(&log_, 2, 20);
	end_buffer(&log_, start);
	add_other_buffer();
	read_rows(&log_);
	assert_int_equal(calls_of(THREAD, 1), 40);
	assert_int_equal(calls_of(THREAD, 2), 0);
}

/* A size that is less than that of the buffers is damage of the header: they are read all the same. */
static void test_buffers_larger_than_their_size(void **state)
{
	static const uint32_t sizes[] = {17, 100, 200};
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		log_.size = 0;
		add_header_of(&log_, 1, 1, 3, 2000000000, sizes[i]);
		for (uint32_t k = 0; k < 3; k++) {
			const size_t start = begin_buffer(&log_, THREAD + k, 1, BEGIN + 100000000 * k);
			add_varied_pairs(&log_, 1, 20);
			end_buffer(&log_, start);
		}
		read_rows(&log_);
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(calls_of(THREAD + k, 1), 40);
		assert_int_equal(count, 120);
	}
}

/* ---- Logs of a flight recorder as the program left them: doc/formats/xray-fdr.md, "Logs of the flight recorder". ---- */

enum { PAGE = 4096, PAIRS = 40 };

/* A chunk of a page with a buffer; the first one ends there with the header before it. */
static void add_chunk(uint32_t thread)
{
	static const uint8_t head[15];
	const size_t chunk = log_.size;
	add_text(&log_, head, sizeof head);
	set_number(log_.data + chunk, PAGE - chunk % PAGE, 4);
	const size_t start = begin_buffer(&log_, thread, 1 + thread, BEGIN + UINT64_C(1000000) * thread);
	add_varied_pairs(&log_, thread, PAIRS);
	end_buffer(&log_, start);
	while (log_.size % PAGE)
		add_number(&log_, 0, 1);
}

/* Three chunks, between the first two one that was handed out and not begun. Returns where the calls of the second thread
 * end. */
static size_t make_unfinished(void)
{
	static const uint8_t unbegun[2 * PAGE];
	log_.size = 0;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	memcpy(log_.data + 24, "twflight", 8);
	add_chunk(1);
	add_text(&log_, unbegun, sizeof unbegun);
	add_chunk(2);
	add_chunk(3);
	return (size_t)3 * PAGE + 15 + 80 + (size_t)2 * PAIRS * 8;
}

/* Bytes that were put in, or are missing, move all chunks behind them: none is passed in silence. */
static void test_chunks_that_moved(void **state)
{
	static const uint8_t junk[13] = {0x7f, 0x35, 0x7f, 0x11, 0x7f, 0x35, 0x7f, 0x11, 0x7f, 0x35, 0x7f, 0x11, 0x7f};
	(void)state;
	const size_t end = make_unfinished();
	read_rows(&log_);
	assert_int_equal(count, 3 * 2 * PAIRS);
	for (size_t size = 1; size <= sizeof junk; size += 4)
		for (unsigned missing = 0; missing < 2; missing++) {
			hurt = log_;
			if (missing)
				delete_bytes(end - 80, size);
			else
				insert_bytes(end - 80, junk, size);
			read_rows(&hurt);
			assert_int_equal(calls_of(1, 1), 2 * PAIRS);
			assert_in_range(calls_of(2, 2), 2 * PAIRS - 12, 2 * PAIRS);
			assert_int_equal(calls_of(3, 3), 2 * PAIRS);
			assert_int_equal(count, calls_of(2, 2) + (size_t)4 * PAIRS);
		}
}

/* ---- The table of names. ---- */

/* How large the table is once an id has been asked for behind so many that are too large for it. */
static size_t room_behind(uint32_t others, uint32_t id)
{
	enum { FAR = 1 << 21 };
	struct fdr_names names = {0};
	struct tw_reader *reader;
	add_header_of(&log_, 5, 1, 3, 2000000000, SIZE);
	assert_int_equal(tw_open_memory(&reader, "made", log_.data, log_.size, NULL), 0);
	for (uint32_t i = 0; i < others; i++)
		fdr_make_name(reader, &names, FAR + i);
	fdr_make_name(reader, &names, id);
	const size_t room = names.near_room;
	fdr_names_free(&names);
	tw_close(reader);
	return room;
}

/* An id that damage has made up costs no large table: those that are, or come in the order of ids, have a place. */
static void test_room_for_ids(void **state)
{
	(void)state;
	assert_int_equal(room_behind(0, 4095), 4096);
	assert_int_equal(room_behind(0, 4096), 0);
	assert_int_equal(room_behind(15, 4096), 0);
	assert_int_equal(room_behind(16, 4096), 8192);
	assert_int_equal(room_behind(4095, (1 << 20) - 1), 1 << 20);
	assert_int_equal(room_behind(5000, 1 << 20), 0);
}

SUITE(fdr_strangers)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_joined_without_a_size),    cmocka_unit_test(test_calls_of_strangers),
	    cmocka_unit_test(test_copy_by_chance),           cmocka_unit_test(test_ends_behind_bytes_put_in),
	    cmocka_unit_test(test_no_ticks_before_a_gap),    cmocka_unit_test(test_calls_once),
	    cmocka_unit_test(test_counter_of_damage),        cmocka_unit_test(test_one_byte),
	    cmocka_unit_test(test_calls_in_the_lead),        cmocka_unit_test(test_calls_for_an_argument),
	    cmocka_unit_test(test_joined_at_a_counter),      cmocka_unit_test(test_buffers_larger_than_their_size),
	    cmocka_unit_test(test_argument_beyond_a_window), cmocka_unit_test(test_calls_for_a_counter),
	    cmocka_unit_test(test_byte_among_many_calls),    cmocka_unit_test(test_another_log_is_not_known),
	    cmocka_unit_test(test_chunks_that_moved),        cmocka_unit_test(test_room_for_ids),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
