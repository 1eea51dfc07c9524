/* test_fdr_gaps.c - what is read of buffers that were hit: their other records, and nothing that never was. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_bytes.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_undamaged),
	    cmocka_unit_test(test_zeros_over_a_border),
	    cmocka_unit_test(test_thirteen_bytes),
	    cmocka_unit_test(test_joined_buffers),
	    cmocka_unit_test(test_longer_than_a_buffer),
	    cmocka_unit_test(test_smashed_delta),
	    cmocka_unit_test(test_idle_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
