/* test_fxt_rows.c - events of FXT archives as rows: the same whichever way they are made. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <trackway/reader.h>

#include "base/bytes/bytes.h"

#include "suite.h"

/* The frequency has no factor with 10^9: only counts of some seconds are converted by a multiplication. */
enum { RECORDS = 20000, WORDS = 16, THREADS = 3, NAMES = 6, TYPES = 11, FREQUENCY = 999999937 };

/* The document, "Event record". */
enum { INSTANT, COUNTER, BEGIN, END, COMPLETE, ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END, FLOW_BEGIN, FLOW_STEP, FLOW_END };

static const uint8_t kinds[TYPES] = {
    [INSTANT] = TW_INSTANT,
    [COUNTER] = TW_COUNTER,
    [BEGIN] = TW_SLICE_BEGIN,
    [END] = TW_SLICE_END,
    [COMPLETE] = TW_SLICE_COMPLETE,
    [ASYNC_BEGIN] = TW_ASYNC_BEGIN,
    [ASYNC_INSTANT] = TW_ASYNC_INSTANT,
    [ASYNC_END] = TW_ASYNC_END,
    [FLOW_BEGIN] = TW_FLOW_BEGIN,
    [FLOW_STEP] = TW_FLOW_STEP,
    [FLOW_END] = TW_FLOW_END,
};

struct expected {
	struct tw_event event;
	unsigned thread, name, category; /* from 0; names and categories: 0 is none */
	uint64_t values[2];              /* of the arguments */
};

static uint8_t bytes[(RECORDS + 32) * WORDS * 8];
static size_t size;
static struct expected expected[RECORDS];
static uint64_t random_state, now; /* now: in ticks */

static uint32_t draw(uint32_t below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(((random_state >> 32) * below) >> 32);
}

static void put(uint64_t word)
{
	tw_store64(bytes + size, word, false);
	size += 8;
}

/* ---- The archive. ---- */

static void put_tables(void)
{
	put(UINT64_C(0x0016547846040010));
	put(1 << 4 | 1 << 16 | 1 << 20); /* provider 1, without a name */
	put(1 | 2 << 4);
	put(FREQUENCY);
	for (unsigned i = 0; i < THREADS; i++) {
		put(3 | 3 << 4 | (uint64_t)(i + 1) << 16);
		put(1);
		put(100 + i);
	}
	for (unsigned i = 1; i < NAMES; i++) {
		put(2 | 2 << 4 | (uint64_t)i << 16 | UINT64_C(5) << 32);
		memcpy(bytes + size, "name0\0\0", 8);
		bytes[size + 4] = (uint8_t)('0' + i);
		size += 8;
	}
}

static uint64_t ns_of(uint64_t ticks)
{
	__extension__ typedef unsigned __int128 wide;
	return (uint64_t)((wide)ticks * 1000000000 / FREQUENCY);
}

/* Some have one or two arguments: an int32, an int64. */
static void put_arguments(struct expected *row)
{
	row->event.argument_count = (uint8_t)(draw(4) ? 0 : 1 + draw(2));
	for (unsigned i = 0; i < row->event.argument_count; i++) {
		uint64_t value = row->values[i] = draw(draw(2) ? 3 : 1000000);
		put((i ? 3 | 2 << 4 : 1 | 1 << 4 | value << 32) | 1 << 16);
		if (i)
			put(value);
	}
}

static bool has_last_word(unsigned type)
{
	return type == COUNTER || type >= COMPLETE || (type == INSTANT && draw(2));
}

/* What stands behind the arguments; one in 64 is wrong. */
static void put_last_word(struct expected *row, unsigned type)
{
	bool wrong = draw(64) == 0;
	uint64_t word = type == INSTANT    ? wrong ? 3 : draw(3)
	                   : type == COMPLETE ? wrong ? now - 1 : now + draw(100000)
	                                      : random_state;
	put(word);
	if (type == INSTANT)
		row->event.flags = (const uint8_t[]){0, TW_FLAG_PROCESS, TW_FLAG_GLOBAL, TW_FLAG_MORE}[word];
	else if (type != COMPLETE)
		row->event.id = word;
	else if (!wrong)
		row->event.value = ns_of(word) - row->event.time;
}

/* One in 32 has its name inline, as no others have. */
static void put_event(struct expected *row)
{
	unsigned type = draw(TYPES);
	bool is_inline = draw(32) == 0;
	size_t start = size;
	size += 8;
	*row = (struct expected){.thread = draw(THREADS), .name = draw(NAMES), .category = draw(NAMES)};
	row->event.time = ns_of(now);
	row->event.offset = start;
	row->event.kind = kinds[type];
	put(now);
	if (is_inline)
		put(tw_load64((const uint8_t *)"inline!!", false));
	put_arguments(row);
	if (has_last_word(type))
		put_last_word(row, type);
	tw_store64(bytes + start,
	           4 | (size - start) / 8 << 4 | type << 16 | (uint64_t)row->event.argument_count << 20 |
	               (uint64_t)(row->thread + 1) << 24 | (uint64_t)row->category << 32 |
	               (uint64_t)(is_inline ? 0x8008 : row->name) << 48,
	           false);
	row->name = is_inline ? NAMES : row->name;
}

/* A tick count some hours later whose time is as near to the next nanosecond as can be: what is added by rounding shows
 * there. FREQUENCY is 10^9 - 63. */
static uint64_t much_later(void)
{
	enum { LESS = 63, SECONDS = 10000 };
	uint64_t least = 1;
	while (least * FREQUENCY % LESS != 1)
		least++;
	return (now / FREQUENCY + SECONDS) * FREQUENCY + (least * FREQUENCY - 1) / LESS;
}

static void make(uint64_t seed)
{
	random_state = seed;
	size = 0;
	now = 1000;
	put_tables();
	for (size_t i = 0; i < RECORDS; i++) {
		now = draw(1000) ? now + 2 + draw(5000) : much_later();
		put_event(&expected[i]);
	}
}

/* ---- Reading. ---- */

static void check_name(const struct tw_reader *reader, uint32_t number, unsigned name)
{
	const struct tw_name *found = tw_dictionary_name(tw_reader_dictionary(reader), number);
	const char texts[NAMES + 1][9] = {"", "name1", "name2", "name3", "name4", "name5", "inline!!"};
	assert_string_equal(found->text, texts[name]);
}

static void check_arguments(const struct tw_batch *batch, const struct tw_event *event, const struct expected *row)
{
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	assert_int_equal(event->argument_count, row->event.argument_count);
	for (unsigned i = 0; i < event->argument_count; i++) {
		assert_int_equal(arguments[i].type, TW_ARG_INT);
		assert_int_equal(arguments[i].value.u, row->values[i]);
	}
}

static void check_row(const struct tw_reader *reader, const struct tw_batch *batch, const struct tw_event *event,
                      const struct expected *row)
{
	const struct tw_track *track = tw_dictionary_track(tw_reader_dictionary(reader), event->track);
	assert_int_equal(event->offset, row->event.offset);
	assert_int_equal(event->kind, row->event.kind);
	assert_int_equal(event->time, row->event.time);
	assert_int_equal(event->value, row->event.value);
	assert_int_equal(event->id, row->event.id);
	assert_int_equal(event->flags, row->event.flags);
	assert_int_equal(track->thread, 100 + row->thread);
	assert_int_equal(event->other, 0);
	assert_int_equal(event->cpu, 0);
	assert_int_equal(event->provider, 1);
	check_name(reader, event->name, row->name);
	check_name(reader, event->category, row->category);
	check_arguments(batch, event, row);
}

static void check_all(const struct tw_read_options *options)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	size_t count = 0;
	assert_int_equal(tw_open_memory(&reader, "test", bytes, size, options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++, count++)
			check_row(reader, &batch, &batch.events[i], &expected[count]);
	assert_int_equal(count, RECORDS);
	tw_close(reader);
}

/* Rows of all events; of those of threads that are asked for, which are all; and where every rule is looked at. */
static void test_ways(void **state)
{
	static const uint64_t threads[THREADS] = {100, 101, 102};
	const struct tw_read_options ways[] = {
	    {.jobs = 1},
	    {.jobs = 3, .order = TW_ORDER_TIME},
	    {.jobs = 1, .threads = threads, .thread_count = THREADS},
	    {.jobs = 1, .checking = TW_CHECK_ALL},
	};
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		make(seed);
		for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
			check_all(&ways[i]);
	}
}

SUITE(fxt_rows)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
