/* test_fxt_missing.c - bytes missing of small archives, and what chance makes of the rest: every event elsewhere is
 * delivered. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt_archive.h"
#include "suite.h"

/* ---- Bytes missing of a record, which swallows as many of the next. ---- */

static void put_text(const char *text, size_t length)
{
	memset(whole + size, 0, (length + 7) / 8 * 8);
	memcpy(whole + size, text, length);
	size += (length + 7) / 8 * 8;
}

static void lose(size_t from, size_t length)
{
	memcpy(damaged, whole, from);
	memcpy(damaged + from, whole + from + length, size - from - length);
	read_all(whole, size, TW_ORDER_FILE, wanted);
	read_all(damaged, size - length, TW_ORDER_FILE, found);
}

/* The initialization record ends in the string record behind it: that one is read, and the clock is as it was. */
static void test_short_initialization(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(0x21);
		size_t clock = size;
		put(1000);
		put(UINT64_C(0x300010022)); /* string 1 */
		put_text("cat", 3);
		put_named(0, 1, 1000, 5);
		lose(clock, 8);
		expect_others(clock - 8, clock + 8, (size_t)-8, "bytes missing of the initialization record");
		assert_true(lost == 8 && errors == 1);
		struct tw_reader *reader;
		struct tw_batch batch;
		assert_int_equal(tw_open_memory(&reader, "test", damaged, size - 8, NULL), 0);
		assert_true(tw_read(reader, &batch) > 0);
		const struct tw_event *last = &batch.events[batch.count - 1];
		assert_string_equal(tw_dictionary_name(tw_reader_dictionary(reader), last->name)->text, "cat");
		assert_int_equal(last->time, 1004); /* ns: nothing says how long a tick is */
		tw_close(reader);
	}
}

/* A provider info record that ends in a string record: nothing is announced. Where its name is whole, it is. */
static void test_short_provider(void **state)
{
	enum { NAME = 16, MISSING = 15 };
	(void)state;
	for (unsigned i = 0; i < 2 * MISSING; i++) {
		size_t missing = i / 2 + 1;
		size = 0;
		big = i & 1;
		put_head();
		put(UINT64_C(0x300010022)); /* string 1 */
		put_text("cat", 3);
		size_t info = size;
		put(UINT64_C(0x210030) | (uint64_t)NAME << 52); /* of provider 2 */
		put_text("sixteen letters.", NAME);
		size_t behind = size;
		put(UINT64_C(0x400020022)); /* string 2 */
		put_text("name", 4);
		put_named(2, EMPTY, 1000, 20);
		lose(behind - missing, missing);
		expect_others(info, behind, -missing, "bytes missing of a provider's name");
		assert_true(errors == 1);
		assert_true(lost == behind - info - missing);
		memcpy(damaged, whole, size);
		memset(damaged + behind, 0xff, 8);
		read_all(damaged, size, TW_ORDER_FILE, found);
		assert_true(lost == 16 && errors == 2); /* nobody has registered thread 1 again */
		expect_others(behind, behind + 16, 0, "damage behind a provider's name");
	}
}

/* Random bytes that begin as a provider info record does are none: what refers to the tables still does. */
static void test_chance_provider(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_C(0x300010022)); /* string 1 */
		put_text("cat", 3);
		put(UINT64_MAX);
		put(UINT64_C(0x00a0007000110030)); /* ten bytes of name */
		put(UINT64_C(0x2379a40000));
		put(UINT64_C(0x0101001144000000));
		put(UINT64_C(0x000000237a6c0003));
		put_named(0, 1, 2000, 10);
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(lost == 40 && errors == 1);
	}
}

/* A name that was lost before does not make worse what refers to it. */
static void test_short_unnamed(void **state)
{
	enum { RECORD = 16, MISSING = 7 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_named(2, 5, 1000, 20); /* nothing is registered as 5 */
		for (size_t k = 1; k <= MISSING; k++) {
			size_t from = size - 10 * RECORD;
			lose(from - k, k);
			expect_others(from - RECORD, from, (size_t)-k, "bytes missing before an unknown name");
		}
	}
}

/* Nor what no record behind it refers to, as long as the damaged one does. */
static void test_short_unnamed_twice(void **state)
{
	enum { MISSING = 7 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_C(0x400010022)); /* string 1 */
		put_text("step", 4);
		put_named(2, 5, 1000, 1); /* nothing is registered as 5 */
		size_t from = size;
		put_named(3, 5, 1001, 1);
		put_named(0, 1, 1002, 20);
		for (size_t k = 1; k <= MISSING; k++) {
			lose(from - k, k);
			expect_others(from - 16, from, (size_t)-k, "bytes missing of an unknown name");
		}
	}
}

/* The end of a duration has no name, but what it measured. */
static void test_short_nameless(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_named(0, EMPTY, 1000, 5);
		size_t from = size;
		put(UINT64_C(0x01130034)); /* with an argument */
		put(1001);
		put(UINT64_C(0x580000011)); /* int32 without a name */
		put_named(0, EMPTY, 1002, 20);
		for (size_t k = 1; k < 8; k++) {
			lose(from - k, k);
			expect_others(from - 16, from, (size_t)-k, "bytes missing before the end of a duration");
		}
	}
}

/* A blob that holds records is not one that has swallowed them, whatever comes behind it. */
static void test_blob_of_records(void **state)
{
	enum { RECORD = 16, HELD = 10 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_C(0x80000005) | (1 + HELD * RECORD / 8) << 4 | (uint64_t)(HELD * RECORD) << 32);
		put_named(0, EMPTY, 1000, HELD);
		size_t behind = size;
		put_named(0, EMPTY, 2000, HELD);
		read_all(whole, size, TW_ORDER_FILE, wanted);
		memcpy(damaged, whole, size);
		memset(damaged + behind, 0xff, 8);
		read_all(damaged, size, TW_ORDER_FILE, found);
		expect_others(behind, behind + RECORD, 0, "damage behind a blob");
		assert_true(lost == RECORD && errors == 1);
	}
}

/* The same wherever it is in what is read at a time. */
static void test_short_anywhere(void **state)
{
	enum { STEP = 4000, PIECE = 1 << 18, NAME = 40 };
	(void)state;
	big = false;
	for (size_t place = PIECE - 10 * STEP; place < PIECE + STEP; place += STEP) {
		size = 0;
		put_head();
		while (size < place)
			put_named(0, EMPTY, size, 1);
		size_t from = size;
		put(UINT64_C(0x01000074) | (uint64_t)(0x8000 | NAME) << 48);
		put(size);
		put_text("the quick brown fox jumps over all dogs", NAME);
		size_t to = size;
		while (size < PIECE + 20 * STEP)
			put_named(0, EMPTY, size, 1);
		lose(to - 8, 8);
		expect_others(from, to, (size_t)-8, "bytes missing of a name");
		assert_true(lost == to - from - 8 && errors == 1);
	}
}

/* Damaged bytes make the header of a legacy context switch to thread 86, which nothing is known of. As its outgoing
 * thread a string record would fit in. */
static void test_chance(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_MAX);
		put(UINT64_C(0x56000000048));
		put(1);
		put(UINT64_C(0x400010022)); /* string 1 */
		put_text("step", 4);
		put_named(0, 1, 2000, 10);
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(lost == 24 && errors == 1);
	}
}

/* A byte too many, and seven of the record before it, are a blob of no bytes, of a name that nobody has registered. */
static void test_blob_of_chance(void **state)
{
	(void)state;
	size = 0;
	big = true;
	put_head();
	put(UINT64_C(0x01040034) | UINT64_C(0x8000) << 48); /* complete */
	put(0x235938);
	put(0x235a00);
	size_t from = size;
	put_named(0, EMPTY, 0x235a64, 10);
	read_all(whole, size, TW_ORDER_FILE, wanted);
	memcpy(damaged, whole, from);
	damaged[from] = 0x15;
	memcpy(damaged + from + 1, whole + from, size - from);
	read_all(damaged, size + 1, TW_ORDER_FILE, found);
	expect_others(from, from, 1, "a byte too many");
	assert_true(lost == 1 && errors == 1);
}

/* Records of one word, up to the end of what is read at a time: nothing behind it is looked at, as asan tells. */
static void test_words(void **state)
{
	enum { WORDS = 1 << 16 };
	(void)state;
	big = false;
	size = 0;
	put_head();
	for (unsigned i = 0; i < WORDS; i++)
		put(UINT64_C(0x120010)); /* section of provider 1 */
	for (unsigned order = TW_ORDER_TRACK; order <= TW_ORDER_FILE; order++) {
		read_all(whole, size, (enum tw_order)order, found);
		assert_true(lost == 0 && errors == 0);
	}
}

/* What follows looks like records of strange types, because the bytes are alike. */
static void test_short_before_strange(void **state)
{
	enum { NAME = 32000, BLOB = 32736 };
	(void)state;
	big = false;
	size = 0;
	put_head();
	size_t from = size;
	size = put_long(size, UINT64_C(4) | 1 << 24 | (uint64_t)(0x8000 | NAME) << 48, 5700, NAME);
	size_t to = size;
	size = put_long(size, UINT64_C(5) | (uint64_t)BLOB << 32 | UINT64_C(1) << 48, 0, BLOB);
	for (size_t i = 0; i < BLOB; i++)
		whole[size - BLOB + i] = (uint8_t)(7 * i);
	put_named(0, EMPTY, 5800, 4);
	for (size_t length = 1; length < 1200; length += 7) {
		lose(from + 5000, length);
		expect_others(from, to, -length, "bytes missing of a long name");
	}
}

static void put_string(unsigned index, const char *text)
{
	size_t length = strlen(text);
	put(2 | (1 + (length + 7) / 8) << 4 | (uint64_t)index << 16 | (uint64_t)length << 32);
	put_text(text, length);
}

/* Chance makes the section of a provider that was not announced: with what is no record behind it, it takes the names of
 * nobody away. */
static void test_chance_section(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_string(1, "cat");
		put(UINT64_C(0x8700020010));
		put(0);
		put_named(0, 1, 80, 4);
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(lost == 16 && errors == 1);
	}
}

/* A record of a type that nobody knows is one between good ones. The end of a slice at tick 74 looks like a module that
 * ends where it does; half a number and half of its header, like an event of known names. */
static void test_unknown_between(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_string(0x3b, "cat");
		put_string(0x80, "name");
		put(UINT64_C(0x0080003b01040034)); /* complete */
		put(70);
		put(74);
		put(0x80003b);
		put(5);
		put(7);
		put_named(0, 0x80, 80, 4);
		put(UINT64_C(0x0080003b01120044)); /* begin, with a number */
		put(90);
		put(0x800024);
		put(UINT64_C(0x4412345678));
		put(0x80003b);
		put(5);
		put(7);
		put_named(0, 0x80, 100, 4);
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(lost == 0 && errors == 0);
	}
}

/* An argument of eight bytes, whose name is string 16, looks like a module of thread 1, without a name. It is the last of
 * a wake-up that holds an argument of an unknown type, and ends where that does. */
static void test_blob_argument(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put_string(16, "key");
		size_t at = size;
		put(UINT64_C(0x2000000000020068)); /* wake-up, 6 words, 2 arguments */
		put(70);
		put(2);
		put(0x10001c); /* type 12, name 16 */
		put(UINT64_C(0x80010002a));
		put(UINT64_C(0x0123456789abcdef));
		put_named(0, EMPTY, 80, 4);
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(found[at] && lost == 0 && errors == 0);
	}
}

/* Behind a string record of which bytes are missing stand two records, and something that is none: they are not as many
 * as tell by themselves that they are some, but they leave nothing out between it and what can be told for a record.
 * Where what is missing is as much as the next header's first zeros, it may be these as well. */
static void test_short_before_few(void **state)
{
	enum { TEXT = 4, PADDING = 4, PAYLOAD = 37 };
	(void)state;
	for (unsigned i = 0; i < 2 * PADDING; i++) {
		size_t missing = i / 2 + 1;
		size = 0;
		big = i & 1 && missing > 1;
		put_head();
		size_t from = size;
		put_string(31, "blob");
		size_t to = size;
		put(UINT64_C(0x00010025001f0065));
		put_text("this is some data that we are writing", PAYLOAD);
		put_string(32, "empty");
		put(0);
		put_named(0, 32, 1000, 5);
		lose(to - missing, missing);
		expect_others(from, to, -missing, "bytes missing of a string's padding");
		assert_true(wanted[to] && lost == 16 - missing + 8 &&
		            errors == 3); /* the third: the name of the blob */
	}
}

/* With two bytes missing of one string record, the next begins as a blob of no bytes, whose type does not exist, before
 * the reader comes to what is none. */
static void test_short_before_chance(void **state)
{
	(void)state;
	size = 0;
	big = false;
	put_head();
	put_string(1, "cat");
	put_string(20, "x");
	size_t to = size;
	put_string(21, "y");
	put_string(22, "z");
	put_named(0, 21, 1000, 5);
	lose(to - 2, 2);
	expect_others(to, to, (size_t)-2, "bytes missing of a string's padding");
	assert_true(lost == 14 && errors == 1);
}

/* A byte is missing of the header of a context switch: with the last zero of the blob before it, it looks like one of the
 * old form, of threads that nobody registered. */
static void test_short_switch(void **state)
{
	enum { PAYLOAD = 10, MISSING = 6 /* the byte of the header that is missing */ };
	(void)state;
	size = 0;
	big = true;
	put_head();
	put_string(1, "cat");
	size_t blob = size;
	put(UINT64_C(0x0001000a80020045));
	put_text("bl", 2);
	put_text("abcdefgh36", PAYLOAD);
	size_t from = size;
	put(UINT64_C(0x1000003000000048));
	put(0x55a);
	put(0x65);
	put(0x66);
	size_t to = size;
	put_named(0, 1, 1000, 5);
	put_named(0, 1, 1001, 5);
	lose(from + MISSING, 1);
	expect_others(from, to, (size_t)-1, "a byte missing of a context switch");
	assert_true(found[blob] && lost == to - from - 1 && errors == 1);
}

static void put_complete(uint64_t time, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		put(UINT64_C(0x0005000101140044)); /* string 5, with an argument */
		put(time + 10 * i);
		put(UINT64_C(0x700060011)); /* int32, string 6 */
		put(time + 10 * i + 5);
	}
}

/* Eight bytes too many behind the first of a complete event's header: the other seven and the last of these are a legacy
 * context switch of thread 16, which nobody has registered. */
static void test_switch_of_chance(void **state)
{
	static const uint8_t more[] = {0x8b, 0x57, 0x51, 0x12, 0xd4, 0xeb, 0xe1, 0x48};
	(void)state;
	size = 0;
	big = false;
	put_head();
	put_string(1, "cat");
	put_string(5, "many");
	put_string(6, "i");
	put_complete(1000, 5);
	size_t from = size;
	put_complete(1050, 1);
	size_t to = size;
	put_complete(1060, 80); /* as many as the first word says */
	read_all(whole, size, TW_ORDER_FILE, wanted);
	memcpy(damaged, whole, from + 1);
	memcpy(damaged + from + 1, more, sizeof more);
	memcpy(damaged + from + 1 + sizeof more, whole + from + 1, size - from - 1);
	read_all(damaged, size + sizeof more, TW_ORDER_FILE, found);
	expect_others(from, to, sizeof more, "eight bytes too many");
	assert_true(!found[from + sizeof more] && lost == to - from + sizeof more && errors == 1);
}

/* More than one of a thread that nobody has registered: its record may be what is lost. */
static void test_switches_of_nobody(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		put(UINT64_MAX);
		size_t from = size;
		for (unsigned k = 0; k < 3; k++) {
			put(UINT64_C(0x01103000028)); /* of thread 16 to thread 1 */
			put(1000 + k);
		}
		read_all(whole, size, TW_ORDER_FILE, found);
		assert_true(found[from] && found[from + 16] && lost == 8);
	}
}

/* A word is missing of a blob, so that the header of a log record is seen in it whose message would be a string record
 * and an event: no text has such bytes, and it ends where the event does. */
static void test_short_before_flawed(void **state)
{
	enum { BLOB = 32, MESSAGE = 32 };
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		size = 0;
		big = i;
		put_head();
		size_t from = size;
		put(UINT64_C(0x0001001800000045));
		put(0);
		put(UINT64_C(0x69) | (uint64_t)MESSAGE << 16 | UINT64_C(1) << 32);
		put(1);
		put_string(1, "name");
		put_named(0, 1, UINT64_C(0xfedcba98), 6);
		lose(from + 8, 8);
		expect_others(from, from + BLOB, (size_t)-8, "a word missing of a blob");
		assert_true(lost == BLOB - 8 && errors == 1);
	}
}

SUITE(fxt_missing)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_short_initialization),
	    cmocka_unit_test(test_short_provider),
	    cmocka_unit_test(test_chance_provider),
	    cmocka_unit_test(test_short_unnamed),
	    cmocka_unit_test(test_short_unnamed_twice),
	    cmocka_unit_test(test_short_nameless),
	    cmocka_unit_test(test_blob_of_records),
	    cmocka_unit_test(test_short_anywhere),
	    cmocka_unit_test(test_short_before_strange),
	    cmocka_unit_test(test_chance),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_blob_of_chance),
	    cmocka_unit_test(test_unknown_between),
	    cmocka_unit_test(test_blob_argument),
	    cmocka_unit_test(test_chance_section),
	    cmocka_unit_test(test_short_before_few),
	    cmocka_unit_test(test_short_before_chance),
	    cmocka_unit_test(test_short_switch),
	    cmocka_unit_test(test_switch_of_chance),
	    cmocka_unit_test(test_switches_of_nobody),
	    cmocka_unit_test(test_short_before_flawed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
