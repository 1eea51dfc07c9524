/* test_fxt_calls.c - calls of FXT archives dealt to parts: in any order of records, by any number of jobs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trackway/analysis.h>
#include <trackway/reader.h>

#include "base/bytes/bytes.h"
#include "base/memory/map.h"

#include "suite.h"

enum {
	THREADS = 5,
	DEPTH = 10,
	NAMES = 2 * DEPTH,
	RECORDS = 70000,
	WORDS = 5,
	ROOM = RECORDS * (WORDS + 1) * 8 + 4096
};

#define MAGIC UINT64_C(0x0016547846040010)
#define PROVIDER (UINT64_C(0) | 1 << 4 | 1 << 16 | 1 << 20)
#define INITIALIZATION (UINT64_C(1) | 2 << 4)
#define INT32_ARGUMENT (UINT64_C(1) | 1 << 4 | 1 << 16 | UINT64_C(7) << 32)

struct record {
	uint64_t words[WORDS];
	unsigned count;
};

static struct record records[RECORDS];
static size_t record_count;
static uint8_t bytes[ROOM];
static size_t size;
static uint64_t random_state;
static unsigned late;
static bool plain;      /* nothing is inline, and a name may be inside itself */
static bool arguments;  /* some have one */
static bool between;    /* others stand between them */
static uint32_t stride; /* ns between records, at most; 0: several have the same time */
static uint64_t ticks;  /* in a nanosecond */
static unsigned broken; /* records that were found to be */
static unsigned beyond; /* times beyond 64 bits of nanoseconds */

static uint32_t draw(uint32_t below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(((random_state >> 32) * below) >> 32);
}

/* ---- The calls, and what is expected of them. Unless they are plain, a name is of one depth, so that none is inside
 * itself. ---- */

static struct row {
	uint64_t count, open, unwound, total, self, min, max;
} expected[NAMES];

static struct stack {
	struct {
		unsigned name;
		uint64_t begin, children;
		bool complete;
	} calls[DEPTH];
	unsigned depth;
} stacks[THREADS];

enum { BEGIN = 2, END = 3, COMPLETE = 4 };

/* Some have thread and name inline. */
static void add(unsigned type, unsigned thread, unsigned name, uint64_t time, uint64_t end)
{
	struct record *record = &records[record_count++];
	bool is_inline = type != COMPLETE && !plain && !draw(16);
	char text[9];
	snprintf(text, sizeof text, "name%04u", name);
	record->words[1] = time;
	record->count = 2;
	if (is_inline) {
		record->words[2] = 1;
		record->words[3] = 100 + thread;
		record->words[4] = tw_load64((const uint8_t *)text, false);
		record->count = 5;
	}
	unsigned argument = arguments && draw(2);
	if (argument)
		record->words[record->count++] = INT32_ARGUMENT;
	if (type == COMPLETE)
		record->words[record->count++] = end;
	record->words[0] = 4 | (uint64_t)record->count << 4 | (uint64_t)type << 16 | (uint64_t)argument << 20 |
	                   (uint64_t)(is_inline ? 0 : thread + 1) << 24 |
	                   (uint64_t)(is_inline ? 0x8008 : name + 1) << 48;
}

static void open_call(unsigned thread, uint64_t time, bool completes)
{
	struct stack *stack = &stacks[thread];
	unsigned depth = stack->depth++, name = plain ? draw(NAMES) : 2 * depth + draw(2);
	stack->calls[depth].name = name;
	stack->calls[depth].begin = time;
	stack->calls[depth].children = 0;
	stack->calls[depth].complete = completes && draw(2);
	if (!stack->calls[depth].complete)
		add(BEGIN, thread, name, time, 0);
}

static bool is_inside(const struct stack *stack, unsigned depth, unsigned name)
{
	for (unsigned i = 0; i < depth; i++)
		if (stack->calls[i].name == name)
			return true;
	return false;
}

static void close_call(unsigned thread, uint64_t time)
{
	struct stack *stack = &stacks[thread];
	unsigned depth = --stack->depth, name = stack->calls[depth].name;
	uint64_t begin = stack->calls[depth].begin, duration = time - begin;
	expected[name].count++;
	expected[name].total += is_inside(stack, depth, name) ? 0 : duration;
	expected[name].self += duration - stack->calls[depth].children;
	expected[name].min = expected[name].count == 1 || duration < expected[name].min ? duration : expected[name].min;
	expected[name].max = duration > expected[name].max ? duration : expected[name].max;
	if (depth)
		stack->calls[depth - 1].children += duration;
	if (stack->calls[depth].complete)
		add(COMPLETE, thread, name, begin, time);
	else
		add(END, thread, name, time, 0);
}

static void make_calls(uint64_t seed, bool completes)
{
	uint64_t time = UINT64_C(10000000000); /* more than what begin_long_before() takes away */
	unsigned thread = 0;
	memset(expected, 0, sizeof expected);
	memset(stacks, 0, sizeof stacks);
	random_state = seed;
	for (record_count = 0; record_count < RECORDS - THREADS * DEPTH;) {
		thread = draw(20) ? thread : draw(THREADS);
		time += stride ? 1 + draw(stride) : draw(2);
		unsigned depth = stacks[thread].depth;
		if (depth == 0 || (depth < DEPTH && draw(2)))
			open_call(thread, time, completes);
		else
			close_call(thread, time);
	}
	for (thread = 0; thread < THREADS; thread++)
		while (stacks[thread].depth)
			close_call(thread, ++time);
}

/* ---- Archives. ---- */

static void put(const uint64_t *words, size_t count, bool big)
{
	for (size_t i = 0; i < count; i++, size += 8)
		tw_store64(bytes + size, words[i], big);
}

static void put_tables(bool big)
{
	put((uint64_t[]){MAGIC, PROVIDER, INITIALIZATION, ticks * 1000000000}, 4, big);
	for (uint64_t i = 0; i < NAMES; i++) {
		char text[9];
		snprintf(text, sizeof text, "name%04u", (unsigned)i);
		put((uint64_t[]){2 | 2 << 4 | (i + 1) << 16 | UINT64_C(8) << 32}, 1, big);
		memcpy(bytes + size, text, 8);
		size += 8;
	}
	for (uint64_t i = 0; i < 2 * THREADS; i++) /* each has two indices */
		put((uint64_t[]){3 | 3 << 4 | (i + 1) << 16, 1, 100 + i % THREADS}, 3, big);
}

/* An instant, a flow's step, a wake-up or a context switch, some with an argument. */
static void put_other(uint64_t time, bool big)
{
	const uint64_t index = 1 + draw(2 * THREADS), name = 1 + draw(NAMES), koid = 100 + draw(THREADS);
	const uint64_t others[][5] = {
	    {2, 4 | 2 << 4 | index << 24 | name << 48, time},
	    {3, 4 | 3 << 4 | 1 << 20 | index << 24 | name << 48, time, INT32_ARGUMENT},
	    {3, 4 | 3 << 4 | 9 << 16 | index << 24 | name << 48, time, 77},
	    {3, 8 | 3 << 4 | UINT64_C(2) << 60, time, koid},
	    {4, 8 | 4 << 4 | 1 << 16 | UINT64_C(2) << 60, time, koid, INT32_ARGUMENT},
	    {4, 8 | 4 << 4 | UINT64_C(2) << 36 | UINT64_C(1) << 60, time, koid, 100 + draw(THREADS)},
	};
	const uint64_t *other = others[draw(sizeof others / sizeof *others)];
	put(other + 1, other[0], big);
}

/* Text stays as it is in the other byte order. */
static void put_records(bool big, bool backwards)
{
	for (size_t i = 0; i < record_count; i++) {
		const struct record *record = &records[backwards ? record_count - 1 - i : i];
		if (between && !draw(4))
			put_other(record->words[1], big);
		put(record->words, record->count, big);
		if (record->count == 5)
			tw_store64(bytes + size - 8, record->words[4], false);
	}
}

static void make_archive(bool big, bool backwards)
{
	size = 0;
	put_tables(big);
	put_records(big, backwards);
}

/* ---- Reading. ---- */

static void take_finding(void *context, const struct tw_finding *finding)
{
	(void)context;
	if (strcmp(finding->rule, "fxt.record-broken") == 0)
		broken++;
	else if (strcmp(finding->rule, "fxt.time-overflow") == 0)
		beyond++;
	else if (strcmp(finding->rule, "fxt.late-record") != 0 && strcmp(finding->rule, "fxt.thread-undefined") != 0)
		fail_msg("%s: %s", finding->rule, finding->text);
	else
		late++;
}

static struct tw_profile *read_profile_by(enum tw_profile_by by, unsigned jobs, const struct tw_read_options *options)
{
	struct tw_read_options all = *options;
	struct tw_profile_options how = {.by = by, .jobs = jobs};
	struct tw_reader *reader;
	struct tw_profile *profile;
	all.on_finding = take_finding;
	all.jobs = jobs;
	late = broken = beyond = 0;
	assert_int_equal(tw_open_memory(&reader, "calls", bytes, size, &all), 0);
	assert_int_equal(tw_profile_new(&profile, &how), 0);
	assert_int_equal(tw_profile_add(profile, reader), 0);
	tw_close(reader);
	return profile;
}

static struct tw_profile *read_profile(unsigned jobs, const struct tw_read_options *options)
{
	return read_profile_by(TW_BY_FUNCTION, jobs, options);
}

static unsigned name_of(const struct tw_profile_row *row)
{
	unsigned name = (unsigned)strtoul(row->name + 4, NULL, 10);
	assert_in_range(name, 0, NAMES - 1);
	return name;
}

static void expect_rows(struct tw_profile *profile)
{
	size_t found = 0;
	for (const struct tw_profile_row *row; (row = tw_profile_row(profile, found)); found++) {
		const struct row *wanted = &expected[name_of(row)];
		assert_int_equal(row->count, wanted->count);
		assert_int_equal(row->open, wanted->open);
		assert_int_equal(row->unwound, wanted->unwound);
		assert_int_equal(row->total, wanted->total);
		assert_int_equal(row->self, wanted->self);
		assert_int_equal(row->min_ns, wanted->min);
		assert_int_equal(row->max_ns, wanted->max);
	}
	assert_int_equal(found, NAMES);
}

static void expect_calls(const struct tw_read_options *options)
{
	for (unsigned jobs = 1; jobs <= 4; jobs++) {
		struct tw_profile *profile = read_profile(jobs, options);
		expect_rows(profile);
		assert_int_equal(tw_profile_notes(profile)->exits_without_entry, 0);
		assert_int_equal(late + broken, 0);
		tw_profile_free(profile);
	}
}

/* ---- Tests. ---- */

static int set_up(void **state)
{
	(void)state;
	plain = arguments = between = false;
	stride = 1000;
	ticks = 1;
	return 0;
}

static void test_order_of_writers(void **state)
{
	(void)state;
	make_calls(1, true);
	make_archive(false, false);
	expect_calls(&(struct tw_read_options){0});
	make_archive(true, false);
	expect_calls(&(struct tw_read_options){0});
	expect_calls(&(struct tw_read_options){.order = TW_ORDER_TIME});
}

/* All of the archive is in the window. */
static void test_backwards(void **state)
{
	(void)state;
	make_calls(2, true);
	make_archive(false, true);
	expect_calls(&(struct tw_read_options){0});
}

/* Records near one another change places. */
static void test_shuffled(void **state)
{
	(void)state;
	make_calls(3, true);
	for (size_t i = 0; i + 500 < record_count; i++) {
		size_t other = i + draw(500);
		struct record swap = records[i];
		records[i] = records[other];
		records[other] = swap;
	}
	make_archive(false, false);
	expect_calls(&(struct tw_read_options){0});
}

/* In each chunk what nests is found together; what is inside itself counts once, wherever the outer one begins. */
static void test_inside_itself(void **state)
{
	(void)state;
	plain = true;
	make_calls(5, true);
	make_archive(false, false);
	expect_calls(&(struct tw_read_options){0});
	make_archive(true, true);
	expect_calls(&(struct tw_read_options){0});
}

/* Calls of many seconds. */
static void test_long(void **state)
{
	(void)state;
	plain = true;
	stride = 400 * 1000 * 1000;
	make_calls(6, true);
	make_archive(false, false);
	expect_calls(&(struct tw_read_options){0});
}

static void test_others_between(void **state)
{
	(void)state;
	between = true;
	make_calls(11, true);
	make_archive(false, false);
	expect_calls(&(struct tw_read_options){0});
	plain = arguments = true;
	make_calls(12, true);
	make_archive(true, false);
	expect_calls(&(struct tw_read_options){0});
}

/* Begins and ends of one time stand in the order of the archive, whatever is inline. */
static void test_equal_times(void **state)
{
	(void)state;
	stride = 0;
	make_calls(15, false);
	make_archive(false, false);
	expect_calls(&(struct tw_read_options){0});
}

/* A call that does not end goes on until the last event of its thread, here an instant. */
static void test_goes_on(void **state)
{
	enum { LAST = 50 };
	(void)state;
	size = 0;
	put_tables(false);
	put((uint64_t[]){4 | 2 << 4 | BEGIN << 16 | 1 << 24 | UINT64_C(1) << 48, 5}, 2, false);
	for (uint64_t time = 6; time <= LAST; time++)
		put((uint64_t[]){4 | 2 << 4 | 1 << 24 | UINT64_C(1) << 48, time,
		                 4 | 2 << 4 | 2 << 24 | UINT64_C(1) << 48, time + LAST},
		    4, false);
	struct tw_profile *profile = read_profile(1, &(struct tw_read_options){0});
	const struct tw_profile_row *row = tw_profile_row(profile, 0);
	assert_int_equal(row->open, 1);
	assert_int_equal(row->total, LAST - 5);
	tw_profile_free(profile);
}

/* A time beyond what 64 bits of nanoseconds hold is told, whatever it is the time of: a tick is a millisecond. */
static void test_beyond(void **state)
{
	static const uint64_t plain_event = 4 | 2 << 4 | 1 << 24 | UINT64_C(1) << 48;
	static const uint64_t wakeup = 8 | 3 << 4 | UINT64_C(2) << 60;
	static const uint64_t odd[][3] = {{plain_event, UINT64_C(1) << 63}, {wakeup, UINT64_C(1) << 63, 100}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		size = 0;
		put_tables(false);
		put((uint64_t[]){INITIALIZATION, 1000}, 2, false);
		put((uint64_t[]){plain_event | BEGIN << 16, 5}, 2, false);
		put(odd[i], 2 + i, false);
		put((uint64_t[]){plain_event | END << 16, 9}, 2, false);
		struct tw_profile *profile = read_profile(1, &(struct tw_read_options){0});
		assert_int_equal(beyond, 1);
		assert_int_equal(tw_profile_row(profile, 0)->total, 4 * 1000 * 1000);
		tw_profile_free(profile);
	}
}

/* Such a time, which is the last there is, is one until which a thread went on, whether it is registered or not. */
static void test_open_beyond(void **state)
{
	static const uint8_t threads[] = {1, 200};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const uint64_t plain_event = 4 | 2 << 4 | (uint64_t)threads[i] << 24 | UINT64_C(1) << 48;
		size = 0;
		put_tables(false);
		put((uint64_t[]){INITIALIZATION, 1000}, 2, false);
		put((uint64_t[]){plain_event | BEGIN << 16, 5}, 2, false);
		put((uint64_t[]){plain_event, UINT64_C(1) << 63}, 2, false);
		struct tw_profile *profile = read_profile(1, &(struct tw_read_options){0});
		assert_int_equal(tw_profile_row(profile, 0)->total, UINT64_MAX - 5 * 1000 * 1000);
		tw_profile_free(profile);
	}
}

/* Of one thread, now under one index and now under another. */
static void test_two_indices(void **state)
{
	(void)state;
	for (uint64_t seed = 13; seed < 15; seed++) {
		plain = seed == 13;
		make_calls(seed, true);
		for (size_t i = record_count / 2; i < record_count; i++)
			if (records[i].words[0] >> 24 & 255)
				records[i].words[0] += (uint64_t)(draw(2) * THREADS) << 24;
		make_archive(false, false);
		expect_calls(&(struct tw_read_options){0});
	}
}

static void test_arguments(void **state)
{
	(void)state;
	plain = arguments = true;
	make_calls(7, true);
	make_archive(false, false);
	expect_calls(&(struct tw_read_options){0});
	make_archive(true, false);
	expect_calls(&(struct tw_read_options){0});
}

/* Ticks shorter than a nanosecond: times are rounded down. */
static void test_short_ticks(void **state)
{
	(void)state;
	ticks = 4;
	plain = true;
	make_calls(9, true);
	for (size_t i = 0; i < record_count; i++)
		for (unsigned k = 1; k < records[i].count; k++)
			records[i].words[k] = ticks * records[i].words[k] + draw((uint32_t)ticks);
	make_archive(false, false);
	expect_calls(&(struct tw_read_options){0});
	make_archive(true, false);
	expect_calls(&(struct tw_read_options){0});
}

static uint64_t count_events(unsigned jobs)
{
	struct tw_reader *reader;
	struct tw_info info;
	const struct tw_read_options options = {.jobs = jobs, .on_finding = take_finding};
	assert_int_equal(tw_open_memory(&reader, "calls", bytes, size, &options), 0);
	assert_int_equal(tw_read_info(reader, jobs, &info), 0);
	uint64_t events = info.events;
	tw_close(reader);
	return events;
}

/* A slice that has fewer arguments than it says is none, wherever it stands among others. */
static void test_broken(void **state)
{
	enum { EVERY = 9000 };
	static const uint64_t slice = 4 | 4 << 4 | COMPLETE << 16 | 2 << 20 | 1 << 24 | UINT64_C(1) << 48;
	(void)state;
	plain = arguments = true;
	make_calls(8, true);
	for (size_t i = EVERY; i < record_count; i += EVERY) {
		memmove(&records[i + 1], &records[i], (record_count++ - i) * sizeof *records);
		records[i] = (struct record){.words = {slice, 5, INT32_ARGUMENT, 6}, .count = 4};
	}
	make_archive(false, false);
	for (unsigned jobs = 1; jobs <= 4; jobs++) {
		struct tw_profile *profile = read_profile(jobs, &(struct tw_read_options){0});
		expect_rows(profile);
		assert_int_equal(broken, record_count / EVERY);
		tw_profile_free(profile);
		assert_int_equal(count_events(jobs), record_count - record_count / EVERY);
	}
}

/* The same where it is a category that is not there. Of others it is. */
static void test_missing_category(void **state)
{
	enum { EVERY = 9000 };
	static const uint64_t category = UINT64_C(0x8008) << 32;
	static const uint64_t begin = 4 | 2 << 4 | BEGIN << 16 | 1 << 24 | UINT64_C(1) << 48;
	(void)state;
	plain = true;
	make_calls(10, true);
	for (size_t i = 0; i < record_count; i++) {
		struct record *record = &records[i];
		if (i % EVERY == 0) {
			memmove(record + 1, record, (record_count++ - i) * sizeof *record);
			*record = (struct record){.words = {begin | category, 5}, .count = 2};
		} else if (draw(2)) {
			record->words[0] += category + (1 << 4);
			record->words[3] = record->words[2];
			record->words[2] = tw_load64((const uint8_t *)"category", false);
			record->count++;
		}
	}
	make_archive(false, false);
	for (unsigned jobs = 1; jobs <= 4; jobs++) {
		struct tw_profile *profile = read_profile(jobs, &(struct tw_read_options){0});
		expect_rows(profile);
		assert_int_equal(broken, (record_count - 1) / EVERY + 1);
		tw_profile_free(profile);
	}
}

/* ---- Calls that do not nest: rows by thread are made of one event after the other, whatever the events are. ---- */

static void expect_sums_of_threads(void)
{
	struct tw_profile *profile = read_profile_by(TW_BY_THREAD, 1, &(struct tw_read_options){0});
	memset(expected, 0, sizeof expected);
	for (size_t i = 0; i < NAMES; i++)
		expected[i].min = UINT64_MAX;
	const struct tw_profile_row *row;
	for (size_t i = 0; (row = tw_profile_row(profile, i)); i++) {
		struct row *sum = &expected[name_of(row)];
		assert_true(row->count > row->open);
		sum->count += row->count;
		sum->open += row->open;
		sum->unwound += row->unwound;
		sum->total += row->total;
		sum->self += row->self;
		sum->min = row->min_ns < sum->min ? row->min_ns : sum->min;
		sum->max = row->max_ns > sum->max ? row->max_ns : sum->max;
	}
	uint64_t strays = tw_profile_notes(profile)->exits_without_entry;
	tw_profile_free(profile);
	for (unsigned jobs = 1; jobs <= 4; jobs++) {
		profile = read_profile(jobs, &(struct tw_read_options){0});
		expect_rows(profile);
		assert_int_equal(tw_profile_notes(profile)->exits_without_entry, strays);
		tw_profile_free(profile);
	}
}

static void end_another(struct record *record)
{
	record->words[0] = (record->words[0] & ~(UINT64_C(0xffff) << 48)) | (uint64_t)(1 + draw(NAMES)) << 48;
}

static void move_begin(struct record *record)
{
	record->words[1] -= 1 + draw(3 * stride);
}

static void move_end(struct record *record)
{
	record->words[2] += 1 + draw(3 * stride);
}

static void begin_long_before(struct record *record)
{
	record->words[1] -= UINT64_C(5000000000) + draw(stride);
}

static void become_instant(struct record *record)
{
	record->words[0] &= ~(UINT64_C(15) << 16);
}

static void take_time_before(struct record *record)
{
	record->words[1] = record[-1].words[1];
}

/* Each kind of flaw by itself, and few of it: most stretches of a thread have none, or one. */
static void test_flaws(void **state)
{
	enum { EVERY = 6000, TIMES = 6 };
	static const struct {
		unsigned type;
		void (*make)(struct record *record);
	} flaws[] = {
	    {END, end_another},        {END, become_instant},   {BEGIN, become_instant},
	    {COMPLETE, move_begin},    {COMPLETE, move_end},    {COMPLETE, begin_long_before},
	    {BEGIN, take_time_before}, {END, take_time_before}, {COMPLETE, take_time_before},
	};
	(void)state;
	plain = true;
	for (size_t k = 0; k < TIMES * (sizeof flaws / sizeof *flaws); k++) {
		make_calls(100 + k, true);
		for (size_t i = 1 + draw(EVERY), made = 0; i < record_count; i += made ? EVERY : 1) {
			made = (records[i].words[0] >> 16 & 15) == flaws[k / TIMES].type;
			if (made)
				flaws[k / TIMES].make(&records[i]);
		}
		make_archive(false, false);
		expect_sums_of_threads();
	}
}

/* More rows than have batches. */
static void test_many_names(void **state)
{
	enum { MANY = 5000 };
	(void)state;
	size = 0;
	put_tables(false);
	for (uint64_t i = 1; i <= MANY; i++)
		put((uint64_t[]){2 | 2 << 4 | i << 16 | UINT64_C(8) << 32, UINT64_C(0x0101010101010101) + i * i}, 2,
		    false);
	for (uint64_t i = 1, time = 0; i <= MANY; i++, time += i)
		put((uint64_t[]){4 | 2 << 4 | BEGIN << 16 | 1 << 24 | i << 48, time,
		                 4 | 2 << 4 | END << 16 | 1 << 24 | i << 48, time + i},
		    4, false);
	struct tw_profile *profile = read_profile(2, &(struct tw_read_options){0});
	uint64_t sum = 0;
	size_t found = 0;
	for (const struct tw_profile_row *row; (row = tw_profile_row(profile, found)); found++) {
		assert_int_equal(row->count, 1);
		assert_int_equal(row->min_ns, row->total);
		sum += row->self;
	}
	assert_int_equal(found, MANY);
	assert_int_equal(sum, (uint64_t)MANY * (MANY + 1) / 2);
	tw_profile_free(profile);
}

/* Threads do not wait for one another; what is late on its own thread is read again, in order. */
static void test_window(void **state)
{
	(void)state;
	make_calls(4, false);
	make_archive(false, false);
	expect_calls(&(struct tw_read_options){.reorder_window = 1});
	make_archive(false, true);
	expect_calls(&(struct tw_read_options){.reorder_window = 1});
}

/* Puts the threads that a reader knows, in its order, after a profile of wake-ups alone. */
static void take_threads(uint64_t threads[static THREADS], struct tw_hash_key key)
{
	struct tw_profile_options how = {.by = TW_BY_FUNCTION};
	struct tw_reader *reader;
	struct tw_profile *profile;
	const struct tw_hash_key before = tw_hash_key;
	tw_hash_key = key;
	assert_int_equal(tw_open_memory(&reader, "calls", bytes, size, NULL), 0);
	assert_int_equal(tw_profile_new(&profile, &how), 0);
	assert_int_equal(tw_profile_add(profile, reader), 0);
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	assert_int_equal(tw_dictionary_tracks(dictionary), THREADS + 1);
	for (uint32_t i = 0; i < THREADS; i++)
		threads[i] = tw_dictionary_track(dictionary, i + 1)->thread;
	tw_profile_free(profile);
	tw_close(reader);
	tw_hash_key = before;
}

/* The key of the hashes is another one in each process; the order of what is read is not. */
static void test_order_of_threads(void **state)
{
	(void)state;
	const uint64_t wakeup = 8 | 3 << 4 | UINT64_C(2) << 60;
	uint64_t first[THREADS], again[THREADS];
	size = 0;
	put((uint64_t[]){MAGIC, PROVIDER, INITIALIZATION, 1000000000}, 4, false);
	for (uint64_t i = 0; i < 10 * THREADS; i++)
		put((uint64_t[]){wakeup, i, 100 + i % THREADS}, 3, false);
	take_threads(first, (struct tw_hash_key){1, 3});
	for (uint64_t i = 1; i < 20; i++) {
		take_threads(again, (struct tw_hash_key){tw_mix64(i), tw_mix64(~i) | 1});
		assert_memory_equal(first, again, sizeof first);
	}
}

SUITE(fxt_calls)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_order_of_writers, set_up),
	    cmocka_unit_test_setup(test_backwards, set_up),
	    cmocka_unit_test_setup(test_shuffled, set_up),
	    cmocka_unit_test_setup(test_inside_itself, set_up),
	    cmocka_unit_test_setup(test_long, set_up),
	    cmocka_unit_test_setup(test_others_between, set_up),
	    cmocka_unit_test_setup(test_two_indices, set_up),
	    cmocka_unit_test_setup(test_equal_times, set_up),
	    cmocka_unit_test_setup(test_goes_on, set_up),
	    cmocka_unit_test_setup(test_beyond, set_up),
	    cmocka_unit_test_setup(test_open_beyond, set_up),
	    cmocka_unit_test_setup(test_arguments, set_up),
	    cmocka_unit_test_setup(test_short_ticks, set_up),
	    cmocka_unit_test_setup(test_broken, set_up),
	    cmocka_unit_test_setup(test_missing_category, set_up),
	    cmocka_unit_test_setup(test_flaws, set_up),
	    cmocka_unit_test_setup(test_many_names, set_up),
	    cmocka_unit_test_setup(test_window, set_up),
	    cmocka_unit_test_setup(test_order_of_threads, set_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
