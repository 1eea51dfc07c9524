/* test_fdr_gaps.c - what is read of buffers that were hit: their other records, and nothing that never was. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_bytes.h"
#include "suite.h"

#include <trackway/trackway.h>

enum { SIZE = 4096, CALLS = 400, THREAD = 100, TICK = 100, ROOM_OF_ROWS = 8192, SECOND = 2000000000 };

/* ---- Logs. ---- */

static struct bytes log_, hurt;

/* Calls that nest three deep, each of the thread's own functions, 100 ticks from one to the next, a little more or less. */
static void add_calls(struct bytes *b, uint32_t thread, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		static const unsigned actions[] = {0, 0, 0, 1, 1, 1}, names[] = {1, 2, 3, 3, 2, 1};
		add_function(b, actions[i % 6], 10 * (thread - THREAD) + names[i % 6],
		             i % 2 ? TICK + i % 50 : TICK - i % 50);
	}
}

static size_t add_thread(struct bytes *b, uint32_t thread, uint64_t tsc)
{
	size_t start = begin_buffer(b, thread, 1, tsc);
	add_calls(b, thread, CALLS);
	end_buffer(b, start);
	return start;
}

static size_t starts[4];

/* Three threads with a buffer each, of which the second begins first. */
static void make_log(void)
{
	static const uint64_t begins[] = {50000000, 40000000, 60000000};
	add_header_of(&log_, 5, 1, 3, SECOND, SIZE);
	for (unsigned i = 0; i < 3; i++)
		starts[i] = add_thread(&log_, THREAD + i, begins[i]);
	starts[3] = log_.size;
	hurt = log_;
}

static void delete_bytes(size_t at, size_t size)
{
	memmove(hurt.data + at, hurt.data + at + size, hurt.size - at - size);
	hurt.size -= size;
}

/* ---- What is read. ---- */

struct row {
	uint64_t thread, ticks;
	uint32_t function;
};

static struct row rows[ROOM_OF_ROWS];
static size_t count;
static unsigned errors;

static void note(void *context, const struct tw_finding *finding)
{
	(void)context;
	errors += finding->severity == TW_ERROR;
}

static uint64_t field(const struct tw_record *record, const char *name)
{
	for (size_t i = 0; i < record->field_count; i++)
		if (strcmp(record->fields[i].name, name) == 0)
			return record->fields[i].value.u;
	fail_msg("%s has no %s", record->kind, name);
	return 0;
}

static void read_rows(const struct bytes *b)
{
	struct tw_reader *reader;
	struct tw_record record;
	struct tw_read_options options = {.on_finding = note};
	int status;
	count = errors = 0;
	assert_int_equal(tw_open_memory(&reader, "made", b->data, b->size, &options), 0);
	while ((status = tw_read_record(reader, &record)) > 0) {
		if (strncmp(record.kind, "function.", 9) != 0)
			continue;
		assert_true(count < ROOM_OF_ROWS);
		rows[count++] = (struct row){.thread = field(&record, "thread"),
		                             .ticks = field(&record, "tsc"),
		                             .function = (uint32_t)field(&record, "function_id")};
	}
	assert_int_equal(status, 0);
	tw_close(reader);
}

/* How many calls a thread has; all of them are its own functions. */
static size_t calls_of(uint32_t thread)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++) {
		if (rows[i].thread != thread)
			continue;
		assert_int_equal(rows[i].function / 10, thread - THREAD);
		assert_in_range(rows[i].function % 10, 1, 3);
		found++;
	}
	return found;
}

/* No other thread than those of the log. */
static void expect_threads(size_t first, size_t second, size_t third)
{
	const size_t wanted[] = {first, second, third};
	size_t sum = 0;
	for (unsigned i = 0; i < 3; i++) {
		if (calls_of(THREAD + i) != wanted[i])
			print_error("thread %u has %zu calls, expected %zu\n", i, calls_of(THREAD + i), wanted[i]);
		assert_int_equal(calls_of(THREAD + i), wanted[i]);
		sum += wanted[i];
	}
	assert_int_equal(count, sum);
}

/* ---- Damage. ---- */

static void test_undamaged(void **state)
{
	(void)state;
	make_log();
	read_rows(&log_);
	expect_threads(CALLS, CALLS, CALLS);
	assert_int_equal(errors, 0);
}

/* Zeros over the end of one buffer and the beginning of the next: no calls of function 0, none that go to another
 * thread, and the third buffer is whole. */
static void test_zeros_over_a_border(void **state)
{
	enum { LOST = 20 };
	(void)state;
	make_log();
	memset(hurt.data + starts[1] - LOST * 8, 0, LOST * 8 + 80 + LOST * 8);
	read_rows(&hurt);
	expect_threads(CALLS - LOST, 0, CALLS);
	assert_int_not_equal(errors, 0);
}

/* Thirteen bytes deleted: all that follows goes on, and no time is far from the others. */
static void test_thirteen_bytes(void **state)
{
	(void)state;
	make_log();
	for (size_t at = starts[1] + 80; at < starts[1] + 80 + 64; at++) {
		hurt = log_;
		delete_bytes(at, 13);
		read_rows(&hurt);
		assert_int_equal(calls_of(THREAD), CALLS);
		assert_int_equal(calls_of(THREAD + 2), CALLS);
		assert_in_range(calls_of(THREAD + 1), CALLS - 4, CALLS);
		assert_int_equal(count, 2 * CALLS + calls_of(THREAD + 1));
		for (size_t i = 0; i < count; i++)
			assert_in_range(rows[i].ticks, 40000000, 60000000 + 2 * CALLS * TICK);
	}
}

/* The end of one buffer and the beginning of the next are gone, and the records behind go on at the right byte: those
 * are of another thread. */
static void test_joined_buffers(void **state)
{
	(void)state;
	make_log();
	add_header_of(&log_, 5, 1, 3, SECOND, SIZE);
	starts[0] = add_thread(&log_, THREAD, 50000000);
	starts[1] = begin_buffer(&log_, THREAD + 1, 1, 40000000);
	add_calls(&log_, THREAD + 1, CALLS / 2);
	add_cpu(&log_, 1, 40000000 + CALLS * TICK);
	add_calls(&log_, THREAD + 1, CALLS / 2);
	end_buffer(&log_, starts[1]);
	starts[2] = add_thread(&log_, THREAD + 2, 60000000);
	hurt = log_;
	delete_bytes(starts[1] - 60 * 8, 60 * 8 + 80 + 63 * 8); /* the rest begins with an exit */
	read_rows(&hurt);
	assert_in_range(calls_of(THREAD), CALLS - 60 - 2, CALLS - 60);
	assert_int_equal(calls_of(THREAD + 1), 0);
	assert_int_equal(count, calls_of(THREAD) + CALLS);
	assert_int_not_equal(errors, 0);
}

/* The same, where nothing tells a counter any more, but both are longer than a buffer may be. */
static void test_longer_than_a_buffer(void **state)
{
	(void)state;
	make_log();
	delete_bytes(starts[1] - 8 * 8, 8 * 8 + 80 + 8 * 8);
	read_rows(&hurt);
	assert_in_range(calls_of(THREAD), CALLS - 16, CALLS - 8);
	assert_int_equal(calls_of(THREAD + 1), 0);
	assert_int_equal(calls_of(THREAD + 2), CALLS);
}

enum {
	OPEN = 200,
	EXIT = 303
}; /* so many calls of a thread leave two open; from so many on, the next three are exits */

/* The file ends before the size that the buffer says, but what it ends with is the end of another buffer. `more` bytes
 * are missing besides: with some, the records behind are at another byte. */
static void join_at_the_end(size_t more)
{
	make_log();
	const size_t at = starts[1] + 80 + (size_t)OPEN * 8;
	delete_bytes(at, starts[2] + 80 + (size_t)EXIT * 8 + more - at);
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD), CALLS);
	assert_in_range(calls_of(THREAD + 1), OPEN - 2, OPEN);
	assert_int_equal(count, calls_of(THREAD) + calls_of(THREAD + 1));
	assert_int_not_equal(errors, 0);
}

static void test_joined_at_the_end_of_the_file(void **state)
{
	(void)state;
	join_at_the_end(0);
	assert_int_equal(calls_of(THREAD + 1), OPEN);
	join_at_the_end(5);
}

/* A file that was cut ends the last buffer, whether in a record or between two. */
static void test_cut_file(void **state)
{
	(void)state;
	make_log();
	for (unsigned more = 0; more < 8; more++) {
		hurt.size = starts[2] + 80 + (size_t)EXIT * 8 + more;
		read_rows(&hurt);
		expect_threads(CALLS, CALLS, EXIT);
	}
}

/* Two buffers have become one that is shorter than the first says. The counter that the second tells would fit the
 * first, too. */
static void test_joined_with_a_counter_that_fits(void **state)
{
	(void)state;
	make_log();
	add_header_of(&log_, 5, 1, 3, SECOND, SIZE);
	starts[0] = add_thread(&log_, THREAD, 50000000);
	starts[1] = begin_buffer(&log_, THREAD + 1, 1, 50000000);
	add_calls(&log_, THREAD + 1, CALLS / 4);
	add_cpu(&log_, 1, 50000000 + OPEN * TICK + 2000);
	add_calls(&log_, THREAD + 1, CALLS / 4);
	end_buffer(&log_, starts[1]);
	starts[2] = add_thread(&log_, THREAD + 2, 60000000);
	hurt = log_;
	const size_t at = starts[0] + 80 + (size_t)OPEN * 8;
	delete_bytes(at, starts[1] + 80 + 63 * 8 + 3 - at);
	read_rows(&hurt);
	assert_in_range(calls_of(THREAD), OPEN - 2, OPEN);
	assert_int_equal(calls_of(THREAD + 2), CALLS);
	assert_int_equal(count, calls_of(THREAD) + CALLS);
}

/* Two buffers have become one that is longer than the first says, and no longer than one may be; all bytes are records:
 * exits of calls that the first has not. */
static void test_joined_to_a_longer_one(void **state)
{
	enum { BEGUN = 153 };
	(void)state;
	make_log();
	const size_t at = starts[0] + 80 + (size_t)OPEN * 8;
	delete_bytes(at, starts[1] + 80 + BEGUN * 8 - at);
	read_rows(&hurt);
	expect_threads(OPEN, 0, CALLS);
	assert_int_not_equal(errors, 0);
}

/* Version 1 without sizes: buffers with fill behind them, of which none is longer than the header says. */
static void test_joined_with_fill(void **state)
{
	(void)state;
	add_header_of(&log_, 1, 1, 3, SECOND, SIZE);
	for (unsigned i = 0; i < 3; i++) {
		starts[i] = add_thread(&log_, THREAD + i, 50000000 + i * 1000000);
		while (log_.size < starts[i] + SIZE)
			add_number(&log_, 0, 1);
	}
	hurt = log_;
	const size_t at = starts[0] + 48 + (size_t)OPEN * 8;
	delete_bytes(at, starts[1] + 48 + 63 * 8 - at);
	read_rows(&hurt);
	expect_threads(OPEN, 0, CALLS);
}

/* A delta of 4.29 seconds in a log of microseconds. */
static void test_smashed_delta(void **state)
{
	enum { AT = 101 };
	(void)state;
	make_log();
	size_t start = begin_buffer(&log_, THREAD, 1, 70000000);
	add_calls(&log_, THREAD, CALLS / 2);
	add_cpu(&log_, 1, 70000000 + CALLS * TICK);
	add_calls(&log_, THREAD, CALLS / 2);
	end_buffer(&log_, start);
	hurt = log_;
	set_number(hurt.data + start + 80 + AT * 8 + 4, UINT32_MAX, 4);
	read_rows(&hurt);
	assert_int_equal(errors, 1);
	for (size_t i = 0; i < count; i++)
		assert_in_range(rows[i].ticks, 40000000, 70000000 + 2 * CALLS * TICK);
	assert_int_equal(count, 4 * CALLS - 1);
}

/* Bytes are missing up to the middle of a NewCPUId record, of whose 16 bytes the last 8 are zeros where the counter is
 * below 2^40: they are no call of function 0. So few bytes cannot have been the beginning of another buffer: it is one. */
static void test_end_of_a_record(void **state)
{
	enum { LOST = 4 };
	(void)state;
	make_log();
	size_t start = begin_buffer(&log_, THREAD, 1, 70000000);
	add_calls(&log_, THREAD, CALLS / 2);
	size_t cpu = log_.size;
	add_cpu(&log_, 1, 70000000 + CALLS / 2 * TICK);
	add_calls(&log_, THREAD, 6);
	add_cpu(&log_, 1, 70000000 + (CALLS / 2 + 7) * TICK);
	add_calls(&log_, THREAD, CALLS / 2);
	end_buffer(&log_, start);
	hurt = log_;
	delete_bytes(cpu - LOST * 8, LOST * 8 + 8);
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD), CALLS + CALLS - LOST + 6);
	expect_threads(CALLS + CALLS - LOST + 6, CALLS, CALLS);
	assert_int_not_equal(errors, 0);
}

/* A stretch that stands twice, with a record that tells the counter: it goes back there, and it is one buffer all the
 * same, of which the copy is not read. */
static void test_copied_counter(void **state)
{
	enum { STRETCH = 40 * 8 + 16 };
	(void)state;
	make_log();
	size_t start = begin_buffer(&log_, THREAD, 1, 70000000);
	add_calls(&log_, THREAD, CALLS / 2);
	size_t at = log_.size - 20 * 8;
	add_cpu(&log_, 1, 70000000 + CALLS / 2 * TICK);
	add_calls(&log_, THREAD, CALLS / 2);
	end_buffer(&log_, start);
	hurt = log_;
	memmove(hurt.data + at + STRETCH, hurt.data + at, hurt.size - at);
	hurt.size += STRETCH;
	read_rows(&hurt);
	expect_threads(2 * CALLS, CALLS, CALLS);
	assert_int_equal(errors, 2); /* the size of the buffer, and the copy */
}

/* Version 1 has no sizes. The second byte of the record of function 0x10 is that of a NewBuffer record; 16 bytes on, the
 * argument begins like a WallTime record; and behind that comes the second byte of function 0x50, that of a NewCPUId
 * record. What would be no thread has bytes behind it that are not 0, which the log's NewBuffer records have not. */
static void test_argument_like_a_buffer(void **state)
{
	enum { BEHIND = 600 };
	(void)state;
	add_header_of(&log_, 1, 1, 3, SECOND, 4 * SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, 50000000);
	add_calls(&log_, THREAD, 6);
	add_function(&log_, 1, 0x10, TICK);
	add_function(&log_, 3, 0x20, TICK);
	add_argument(&log_, 0x09);
	add_function(&log_, 0, 0x50, TICK);
	add_calls(&log_, THREAD, BEHIND);
	end_buffer(&log_, start);
	add_thread(&log_, THREAD + 1, 60000000);
	read_rows(&log_);
	assert_int_equal(errors, 0);
	assert_int_equal(count, 6 + 3 + BEHIND + CALLS);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(rows[i].thread, THREAD + (i >= 6 + 3 + BEHIND));
}

/* A byte is put in six calls before the end, and from there on all look like entries of other functions up to where the
 * buffer's size leads: a byte before the next buffer. */
static void test_shifted_to_the_end(void **state)
{
	enum { LEFT = 6 };
	(void)state;
	make_log();
	const size_t at = starts[2] - LEFT * 8;
	memmove(hurt.data + at + 1, hurt.data + at, hurt.size - at);
	hurt.data[at] = 0;
	hurt.size++;
	read_rows(&hurt);
	assert_int_equal(calls_of(THREAD), CALLS);
	assert_int_equal(calls_of(THREAD + 2), CALLS);
	assert_in_range(calls_of(THREAD + 1), CALLS - 2, CALLS);
	assert_int_equal(count, 2 * CALLS + calls_of(THREAD + 1));
	assert_int_not_equal(errors, 0);
}

/* All but the last 7 bytes of a NewCPUId record are random, and so are the two calls before it: those 7, zeros, and the
 * byte before them look like a call of function 1, which the log has. */
static void test_zeros_behind_a_gap(void **state)
{
	(void)state;
	make_log();
	size_t start = begin_buffer(&log_, THREAD, 1, 70000000);
	add_calls(&log_, THREAD, CALLS / 2);
	size_t cpu = log_.size;
	add_cpu(&log_, 1, 70000000 + CALLS / 2 * TICK);
	add_calls(&log_, THREAD, CALLS / 2);
	end_buffer(&log_, start);
	hurt = log_;
	memset(hurt.data + cpu - 16, 0xfe, 16 + 8);
	hurt.data[cpu + 8] = 1 << 4 | 1 << 1; /* an exit of function 1 */
	read_rows(&hurt);
	expect_threads(2 * CALLS - 2, CALLS, CALLS);
}

/* ---- What is told of records beside damage. ---- */

/* Function records of kinds that there are not (action 7), then a NewCPUId record 40 calls further on. */
static size_t make_doubtful(void)
{
	enum { BEFORE = 100, HIT = 2, BEHIND = 40 };
	make_log();
	add_header_of(&log_, 5, 1, 3, SECOND, SIZE);
	size_t start = begin_buffer(&log_, THREAD, 1, 70000000);
	size_t hit = log_.size + BEFORE * 8;
	add_calls(&log_, THREAD, BEFORE + HIT + BEHIND);
	add_cpu(&log_, 1, 70000000 + 2 * CALLS * TICK);
	add_calls(&log_, THREAD, BEFORE);
	end_buffer(&log_, start);
	hurt = log_;
	memset(hurt.data + hit, 0xfe, HIT * 8);
	return hit;
}

static bool has_mark(const struct tw_record *record, const char *name)
{
	for (size_t i = 0; i < record->field_count; i++)
		if (strcmp(record->fields[i].name, name) == 0)
			return record->fields[i].type == TW_FIELD_BOOL && record->fields[i].value.u;
	return false;
}

/* The record before the damage is suspect; the times of those behind it are not certain up to the counter. */
static void test_doubt_of_records(void **state)
{
	struct tw_reader *reader;
	struct tw_record record;
	unsigned suspect = 0, uncertain = 0;
	(void)state;
	size_t hit = make_doubtful();
	assert_int_equal(tw_open_memory(&reader, "made", hurt.data, hurt.size, &(struct tw_read_options){0}), 0);
	while (tw_read_record(reader, &record) > 0) {
		assert_int_equal(has_mark(&record, "suspect"), record.offset == hit - 8);
		suspect += has_mark(&record, "suspect");
		uncertain += has_mark(&record, "time_uncertain");
		if (has_mark(&record, "time_uncertain"))
			assert_in_range(record.offset, hit + 16, hit + 16 + 39 * 8);
	}
	tw_close(reader);
	assert_int_equal(suspect, 1);
	assert_int_equal(uncertain, 40);
}

static void test_doubt_of_events(void **state)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	unsigned uncertain = 0;
	(void)state;
	size_t hit = make_doubtful();
	assert_int_equal(tw_open_memory(&reader, "made", hurt.data, hurt.size, &(struct tw_read_options){0}), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			const struct tw_event *event = &batch.events[i];
			bool beside =
			    event->kind != TW_LOST && event->offset >= hit - 8 && event->offset <= hit + 16 + 39 * 8;
			assert_int_equal(event->flags, beside ? TW_FLAG_UNCERTAIN : 0);
			uncertain += beside;
		}
	tw_close(reader);
	assert_int_equal(uncertain, 41);
}

/* What counts calls tells how many of their records are uncertain. */
static void test_doubt_of_calls(void **state)
{
	struct tw_reader *reader;
	struct tw_profile *profile;
	(void)state;
	make_doubtful();
	for (unsigned order = TW_ORDER_TIME; order <= TW_ORDER_TRACK; order++)
		for (unsigned i = 0; i < 2; i++) {
			const struct bytes *b = i ? &hurt : &log_;
			struct tw_read_options options = {.order = order};
			assert_int_equal(tw_open_memory(&reader, "made", b->data, b->size, &options), 0);
			assert_int_equal(tw_profile_new(&profile, NULL), 0);
			assert_int_equal(tw_profile_add(profile, reader), 0);
			assert_int_equal(tw_profile_notes(profile)->uncertain, i ? 41 : 0);
			tw_profile_free(profile);
			tw_close(reader);
		}
}

struct found {
	unsigned suspect, uncertain;
	uint64_t suspect_at, uncertain_at;
};

static void note_doubt(void *context, const struct tw_finding *finding)
{
	struct found *found = context;
	if (strcmp(finding->rule, "fdr.suspect") == 0) {
		found->suspect++;
		found->suspect_at = finding->record;
	} else if (strcmp(finding->rule, "fdr.time-uncertain") == 0) {
		found->uncertain++;
		found->uncertain_at = finding->record;
	}
}

static struct found check(const struct bytes *b)
{
	struct found found = {0};
	struct tw_reader *reader;
	struct tw_batch batch;
	struct tw_read_options options = {.checking = TW_CHECK_ALL,
	                                  .on_finding = note_doubt,
	                                  .finding_context = &found};
	assert_int_equal(tw_open_memory(&reader, "made", b->data, b->size, &options), 0);
	while (tw_read(reader, &batch) > 0)
		continue;
	tw_close(reader);
	return found;
}

static void test_doubt_is_checked(void **state)
{
	(void)state;
	size_t hit = make_doubtful();
	struct found found = check(&hurt);
	assert_int_equal(found.suspect, 1);
	assert_int_equal(found.suspect_at, hit - 8);
	assert_int_equal(found.uncertain, 1);
	assert_int_equal(found.uncertain_at, hit + 16);
	found = check(&log_);
	assert_int_equal(found.suspect + found.uncertain, 0);
}

/* A thread that idles for an hour: TSCWrap, NewCPUId or the largest delta of LLVM's runtime tell it. */
static void test_idle_thread(void **state)
{
	const uint64_t hour = (uint64_t)3600 * SECOND;
	(void)state;
	make_log();
	size_t start = begin_buffer(&log_, THREAD, 1, 70000000);
	add_calls(&log_, THREAD, 6);
	add_wrap(&log_, 70000000 + hour);
	add_calls(&log_, THREAD, 6);
	add_cpu(&log_, 1, 70000000 + 2 * hour);
	add_calls(&log_, THREAD, 5);
	add_function(&log_, 1, 1, INT32_MAX);
	end_buffer(&log_, start);
	read_rows(&log_);
	assert_int_equal(errors, 0);
	assert_int_equal(count, 3 * CALLS + 18);
}

SUITE(fdr_gaps)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_undamaged),
	    cmocka_unit_test(test_zeros_over_a_border),
	    cmocka_unit_test(test_thirteen_bytes),
	    cmocka_unit_test(test_joined_buffers),
	    cmocka_unit_test(test_longer_than_a_buffer),
	    cmocka_unit_test(test_joined_at_the_end_of_the_file),
	    cmocka_unit_test(test_cut_file),
	    cmocka_unit_test(test_joined_with_a_counter_that_fits),
	    cmocka_unit_test(test_joined_to_a_longer_one),
	    cmocka_unit_test(test_joined_with_fill),
	    cmocka_unit_test(test_smashed_delta),
	    cmocka_unit_test(test_end_of_a_record),
	    cmocka_unit_test(test_copied_counter),
	    cmocka_unit_test(test_argument_like_a_buffer),
	    cmocka_unit_test(test_shifted_to_the_end),
	    cmocka_unit_test(test_zeros_behind_a_gap),
	    cmocka_unit_test(test_doubt_of_records),
	    cmocka_unit_test(test_doubt_of_events),
	    cmocka_unit_test(test_doubt_of_calls),
	    cmocka_unit_test(test_doubt_is_checked),
	    cmocka_unit_test(test_idle_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
