/* test_base.c - bytes, maps, growing arrays, UTF-8, digits, work behind the caller and in parallel. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/behind.h"
#include "base/bytes/bytes.h"
#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "base/text/digits.h"
#include "base/text/scan.h"
#include "base/text/utf8.h"
#include "base/threads/parallel.h"

#include "suite.h"

/* ---- Bytes. ---- */

static void test_loads(void **state)
{
	(void)state;
	static const uint8_t bytes[] = {0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
	const uint8_t *odd = bytes + 1;
	assert_int_equal(tw_load16(odd, false), 0x2211);
	assert_int_equal(tw_load16(odd, true), 0x1122);
	assert_int_equal(tw_load32(odd, false), 0x44332211);
	assert_int_equal(tw_load32(odd, true), 0x11223344);
	assert_true(tw_load64(odd, false) == UINT64_C(0x8877665544332211));
	assert_true(tw_load64(odd, true) == UINT64_C(0x1122334455667788));
}

static void test_stores(void **state)
{
	(void)state;
	uint8_t bytes[9] = {0};
	tw_store16(bytes + 1, 0x1122, true);
	assert_memory_equal(bytes, "\0\x11\x22\0", 4);
	tw_store16(bytes + 1, 0x1122, false);
	assert_memory_equal(bytes, "\0\x22\x11\0", 4);
	tw_store32(bytes + 1, 0x11223344, true);
	assert_memory_equal(bytes, "\0\x11\x22\x33\x44\0", 6);
	tw_store32(bytes + 1, 0x11223344, false);
	assert_memory_equal(bytes, "\0\x44\x33\x22\x11\0", 6);
	tw_store64(bytes + 1, UINT64_C(0x1122334455667788), true);
	assert_memory_equal(bytes, "\0\x11\x22\x33\x44\x55\x66\x77\x88", 9);
	tw_store64(bytes + 1, UINT64_C(0x1122334455667788), false);
	assert_memory_equal(bytes, "\0\x88\x77\x66\x55\x44\x33\x22\x11", 9);
}

static void test_bits(void **state)
{
	(void)state;
	uint64_t word = UINT64_C(0xfedcba9876543210);
	assert_int_equal(tw_bits(word, 0, 3), 0);
	assert_int_equal(tw_bits(word, 4, 15), 0x321);
	assert_int_equal(tw_bits(word, 63, 63), 1);
	assert_int_equal(tw_bits(word, 32, 63), 0xfedcba98);
	assert_true(tw_bits(word, 0, 63) == word);
	assert_false(tw_any_set((const uint8_t *)"\0\0\0", 3));
	assert_true(tw_any_set((const uint8_t *)"\0\0\1", 3));
	assert_false(tw_any_set((const uint8_t *)"\1", 0));
}

/* ---- Maps. ---- */

static void test_map(void **state)
{
	(void)state;
	struct tw_map map = {0};
	uint32_t value;
	assert_false(tw_map_find(&map, 0, &value));
	assert_null(tw_map_stored(&map, 0));
	for (uint32_t i = 0; i < 10000; i++)
		assert_true(tw_map_add(&map, (uint64_t)i << 20, i * 3));
	assert_int_equal(map.count, 10000);
	for (uint32_t i = 0; i < 10000; i++) {
		assert_true(tw_map_find(&map, (uint64_t)i << 20, &value));
		assert_int_equal(value, i * 3);
		assert_false(tw_map_find(&map, ((uint64_t)i << 20) + 1, &value));
	}
	*tw_map_stored(&map, 5 << 20) = 100;
	assert_true(tw_map_find(&map, 5 << 20, &value));
	assert_int_equal(value, 99);
	tw_map_free(&map);
	assert_false(tw_map_find(&map, 0, &value));
}

static void test_map_with_equal_keys(void **state)
{
	(void)state;
	struct tw_map map = {0};
	uint64_t sum = 0;
	for (uint32_t i = 1; i <= 100; i++)
		assert_true(tw_map_add(&map, i % 2, i));
	size_t slot = SIZE_MAX;
	uint32_t value, count = 0;
	for (; tw_map_next(&map, 1, &slot, &value); count++)
		sum += value;
	assert_int_equal(count, 50);
	assert_int_equal(sum, 2500); /* 1 + 3 + ... + 99 */
	slot = SIZE_MAX;
	assert_false(tw_map_next(&map, 7, &slot, &value));
	tw_map_free(&map);
}

static void test_hash(void **state)
{
	(void)state;
	static const char text[] = "abcdefghijklmnopqrstuvwxyz";
	struct tw_map seen = {0};
	uint32_t value;
	for (size_t size = 0; size < sizeof text; size++)
		for (uint64_t seed = 0; seed < 20; seed++) {
			uint64_t hash = tw_hash_bytes(text, size, seed);
			assert_true(hash == tw_hash_bytes(text, size, seed));
			assert_false(tw_map_find(&seen, hash, &value));
			assert_true(tw_map_add(&seen, hash, 0));
		}
	tw_map_free(&seen);
}

/* Threads that tw_mix64() would give one hash, as in a trace made to be slow, have as many as others. */
static void test_hash_is_of_this_process(void **state)
{
	(void)state;
	enum { PAIRS = 1 << 12 };
	static bool taken[PAIRS];
	size_t places = 0;
	for (uint64_t process = 1; process <= PAIRS; process++) {
		bool *place = &taken[tw_hash_two(process, UINT64_C(0x123456789abcdef) ^ tw_mix64(process)) % PAIRS];
		places += !*place;
		*place = true;
	}
	assert_in_range(places, PAIRS / 2, PAIRS);
	assert_true(tw_hash_key.offset != UINT64_C(0x243f6a8885a308d3)); /* 1 in 2^64 runs may choose this one */
}

/* ---- Growing arrays. ---- */

static void test_grow(void **state)
{
	(void)state;
	uint32_t *array = NULL;
	size_t room = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_true(tw_grow(&array, &room, i + 1, sizeof *array));
		assert_true(room > i);
		assert_int_equal(array[i], 0);
		array[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	size_t before = room;
	assert_false(tw_grow(&array, &room, SIZE_MAX / 2, sizeof *array));
	assert_int_equal(room, before);
	assert_int_equal(array[999], 999);
	free(array);
}

static void test_search(void **state)
{
	(void)state;
	struct item {
		char other;
		uint64_t number;
	};
	static const struct item items[] = {{'a', 0}, {'b', 3}, {'c', 3}, {'d', 9}, {'e', UINT64_MAX}};
	const struct tw_key key = TW_KEY(struct item, number);
	static const struct {
		uint64_t number;
		size_t below, up_to;
	} cases[] = {
	    {0, 0, 1},          {1, 1, 1},  {2, 1, 1},
	    {3, 1, 3},          {4, 3, 3},  {8, 3, 3},
	    {9, 3, 4},          {10, 4, 4}, {UINT64_MAX - 1, 4, 4},
	    {UINT64_MAX, 4, 5},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(tw_count_below(items, 5, key, cases[i].number), cases[i].below);
		assert_int_equal(tw_count_up_to(items, 5, key, cases[i].number), cases[i].up_to);
		assert_int_equal(tw_count_below(NULL, 0, key, cases[i].number), 0);
		assert_int_equal(tw_count_up_to(NULL, 0, key, cases[i].number), 0);
	}
}

static void test_text(void **state)
{
	(void)state;
	struct tw_text text = {0};
	assert_true(tw_text_add(&text, "", 0));
	assert_string_equal(text.bytes, "");
	assert_true(tw_text_add(&text, "ab", 2));
	assert_true(tw_text_add(&text, "\0c", 2));
	assert_int_equal(text.length, 4);
	assert_memory_equal(text.bytes, "ab\0c", 5);
	tw_text_free(&text);
	assert_null(text.bytes);
}

/* ---- UTF-8. Source: RFC 3629, section 4, and the Unicode Standard, table 3-7. ---- */

static void test_printable(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		bool text;
	} texts[] = {
	    {"hello", true},    {"\xc3\xbcn\xc3\xaf", true}, {"a\tb\r\n", true},
	    {"a\x1b[m", false}, {"\xc2\x85", false},         {"\xe2\x80\xa9", false},
	    {"a\x7f", false},   {"\xf0\x9f\x98\x80", true},  {"\xc3", false},
	    {"", false},
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_int_equal(tw_is_printable((const uint8_t *)texts[i].bytes, strlen(texts[i].bytes)),
		                 texts[i].text);
	assert_false(tw_is_printable((const uint8_t *)"a\0", 2));
}

static void test_utf8(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t length;
	} cases[] = {
	    {"a", 1},
	    {"\x7f", 1},
	    {"\x80", 0},
	    {"\xbf", 0},
	    {"\xc0\x80", 0},
	    {"\xc1\xbf", 0},
	    {"\xc2\x80", 2},
	    {"\xc2\x7f", 0},
	    {"\xc2", 0},
	    {"\xdf\xbf", 2},
	    {"\xdf\xc0", 0},
	    {"\xe0\x9f\xbf", 0}, /* could be shorter */
	    {"\xe0\xa0\x80", 3},
	    {"\xe2\x82\xac", 3}, /* the euro sign */
	    {"\xe2\x82", 0},
	    {"\xe2\x82\x41", 0},
	    {"\xed\x9f\xbf", 3},
	    {"\xed\xa0\x80", 0}, /* a surrogate */
	    {"\xef\xbf\xbf", 3},
	    {"\xf0\x8f\xbf\xbf", 0},
	    {"\xf0\x90\x80\x80", 4},
	    {"\xf0\x9f\x98\x80", 4},
	    {"\xf0\x9f\x98", 0},
	    {"\xf4\x8f\xbf\xbf", 4}, /* U+10FFFF */
	    {"\xf4\x90\x80\x80", 0},
	    {"\xf5\x80\x80\x80", 0},
	    {"\xff", 0},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t size = strlen(cases[i].bytes);
		uint8_t text[8] = "a";
		memcpy(text + 1, cases[i].bytes, size);
		text[1 + size] = 'b';
		assert_int_equal(tw_utf8_length(cases[i].bytes, size), cases[i].length);
		assert_int_equal(tw_is_utf8(text, size + 2), cases[i].length == size);
	}
	assert_true(tw_is_utf8(NULL, 0));
	assert_int_equal(tw_utf8_length("", 0), 0);
	assert_int_equal(tw_utf8_code("a", 1), 'a');
	assert_int_equal(tw_utf8_code("\xc2\x85", 2), 0x85);
	assert_int_equal(tw_utf8_code("\xe2\x80\xae", 3), 0x202e);
	assert_int_equal(tw_utf8_code("\xf3\xa0\x81\xbf", 4), 0xe007f);
	assert_int_equal(tw_utf8_length("", 1), 1); /* NUL is a character */
}

/* ---- Work behind the caller. ---- */

enum { BEHIND_PIECES = 3, BEHIND_ROUNDS = 1000 };

struct behind_work {
	pthread_t caller;
	unsigned pieces[BEHIND_PIECES]; /* what the caller has put into each; 0: it is free */
	unsigned done, wrong;
};

static void work_behind(void *context, void *piece)
{
	struct behind_work *work = context;
	unsigned *number = piece;
	work->wrong += *number != ++work->done || pthread_equal(work->caller, pthread_self());
	*number = 0;
}

static struct tw_behind *new_behind(struct behind_work *work)
{
	*work = (struct behind_work){.caller = pthread_self()};
	void *list[BEHIND_PIECES];
	for (size_t i = 0; i < BEHIND_PIECES; i++)
		list[i] = &work->pieces[i];
	return tw_behind_new(work_behind, work, list, BEHIND_PIECES);
}

static void test_behind(void **state)
{
	(void)state;
	struct behind_work work;
	struct tw_behind *behind = new_behind(&work);
	assert_non_null(behind);
	for (unsigned i = 1; i <= BEHIND_ROUNDS; i++) {
		unsigned *piece = tw_behind_piece(behind);
		assert_ptr_equal(piece, &work.pieces[(i - 1) % BEHIND_PIECES]);
		assert_ptr_equal(tw_behind_piece(behind), piece);
		assert_int_equal(*piece, 0);
		*piece = i;
		tw_behind_put(behind);
	}
	tw_behind_end(behind);
	assert_int_equal(work.done, BEHIND_ROUNDS);
	assert_int_equal(work.wrong, 0);
	tw_behind_free(behind);
	tw_behind_free(NULL);
}

static void test_behind_given_up(void **state)
{
	(void)state;
	struct behind_work work;
	struct tw_behind *behind = new_behind(&work);
	assert_non_null(behind);
	*(unsigned *)tw_behind_piece(behind) = 1;
	tw_behind_put(behind);
	*(unsigned *)tw_behind_piece(behind) = 2; /* and not handed over */
	tw_behind_free(behind);
	assert_true(work.done <= 1);
	assert_int_equal(work.wrong, 0);
	assert_int_equal(work.pieces[1], 2);
}

/* ---- Digits: as printf has them. ---- */

static void test_digits(void **state)
{
	(void)state;
	char ours[24], theirs[24];
	for (int shift = 0; shift < 64; shift++)
		for (int add = -1; add <= 1; add++) {
			uint64_t values[] = {(UINT64_C(1) << shift) + (uint64_t)add,
			                     tw_powers_of_ten[shift % 20] + (uint64_t)add};
			for (size_t i = 0; i < 2; i++) {
				*tw_digits(ours, values[i]) = '\0';
				snprintf(theirs, sizeof theirs, "%llu", (unsigned long long)values[i]);
				assert_string_equal(ours, theirs);
			}
		}
}

static void test_groups(void **state)
{
	(void)state;
	static const char *const groups[][2] = {
	    {"0", "0"},
	    {"999", "999"},
	    {"1000", "1,000"},
	    {"-100", "-100"},
	    {"-1000", "-1,000"},
	    {"1234567.1234", "1,234,567.1234"},
	    {"1e+300", "1e+300"},
	    {"", ""},
	    {"18446744073709551615", "18,446,744,073,709,551,615"},
	};
	char text[32];
	for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
		tw_group_digits(text, groups[i][0]);
		assert_string_equal(text, groups[i][1]);
	}
}

static void test_decimals(void **state)
{
	(void)state;
	static const struct {
		uint64_t value;
		unsigned decimals;
		const char *text;
	} cases[] = {
	    {0, 3, "0.000"},
	    {7, 3, "0.007"},
	    {1234, 3, "1.234"},
	    {999999, 6, "0.999999"},
	    {1000000, 6, "1.000000"},
	    {UINT64_MAX, 3, "18446744073709551.615"},
	    {UINT64_MAX, 6, "18446744073709.551615"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[TW_DIGITS_MAX + 2];
		*tw_decimal(text, cases[i].value, cases[i].decimals) = '\0';
		assert_string_equal(text, cases[i].text);
	}
}

static void test_microseconds(void **state)
{
	static const uint64_t more[] = {999999, 1000000, 1000001, 123456789012, UINT64_MAX};
	(void)state;
	for (uint64_t i = 0; i < 20000 + sizeof more / sizeof *more; i++) {
		uint64_t ns = i < 10000 ? i : i < 20000 ? 990000 + i % 10000 : more[i - 20000];
		char ours[TW_DIGITS_MAX + 3], theirs[TW_DIGITS_MAX + 3];
		snprintf(theirs, sizeof theirs, "%llu.%03llu", (unsigned long long)ns / 1000,
		         (unsigned long long)ns % 1000);
		*tw_microseconds(ours, ns) = '\0';
		assert_string_equal(ours, theirs);
	}
}

static void test_scan(void **state)
{
	static const struct {
		const char *text;
		int base;
		bool found;
		uint64_t value;
		size_t taken;
	} cases[] = {
	    {"0", 10, true, 0, 1},
	    {"12:", 10, true, 12, 2},
	    {"18446744073709551615x", 10, true, UINT64_MAX, 20},
	    {"18446744073709551616", 10, false, 0, 0},
	    {"ffffffffffffffff-", 16, true, UINT64_MAX, 16},
	    {"10000000000000000", 16, false, 0, 0},
	    {"a", 10, false, 0, 0},
	    {"", 10, false, 0, 0},
	    {" 1", 10, false, 0, 0},
	    {"-1", 10, false, 0, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *text = cases[i].text;
		uint64_t value = 0;
		assert_int_equal(tw_scan_number(&text, cases[i].base, &value), cases[i].found);
		assert_int_equal(value, cases[i].value);
		assert_int_equal(text - cases[i].text, cases[i].taken);
	}
}

/* With 15 digits where they are enough, else 17: found out the long way. */
static void expect_double(double value)
{
	char ours[TW_DOUBLE_MAX + 1], theirs[64];
	snprintf(theirs, sizeof theirs, "%.15g", value);
	if (strtod(theirs, NULL) != value)
		snprintf(theirs, sizeof theirs, "%.17g", value);
	*tw_double_digits(ours, value) = '\0';
	assert_string_equal(ours, theirs);
}

static void test_doubles(void **state)
{
	(void)state;
	static const double cases[] = {
	    0,
	    -0.0,
	    1,
	    -1,
	    0.1,
	    -0.1,
	    0.001,
	    0.0001,
	    0.00012,
	    0.000099999,
	    1e-5,
	    0.3,
	    2.0 / 3,
	    1e14,
	    1e15 - 1,
	    1e15,
	    1e16,
	    1e22,
	    1e300,
	    5e-324,
	    0x1p53,
	    0x1p-1074,
	    123.4567,
	    3.141593,
	    3.1415927,
	    0.5,
	    100000,
	    1.25e10,
	    999999999999999.9,
	    0.1 + 0.2,
	    4503599627370497.5,
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect_double(cases[i]);
	for (uint64_t i = 1; i < 200000; i++) {
		uint64_t bits = tw_hash64(i);
		double any, few = (double)(bits >> (i % 60)) / (double)tw_powers_of_ten[i % 10];
		memcpy(&any, &bits, sizeof any);
		expect_double(i % 2 ? few : -few);
		if (isfinite(any))
			expect_double(any);
	}
}

/* ---- Threads. ---- */

static void mark(void *context, unsigned i)
{
	unsigned *marks = context;
	marks[i]++;
}

static void test_parallel(void **state)
{
	(void)state;
	unsigned marks[301] = {0};
	tw_parallel(0, mark, marks);
	assert_int_equal(marks[0], 0);
	tw_parallel(300, mark, marks);
	for (size_t i = 0; i < 300; i++)
		assert_int_equal(marks[i], 1);
	assert_int_equal(marks[300], 0);
	assert_true(tw_processors() >= 1);
}

SUITE(base)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_loads),
	    cmocka_unit_test(test_stores),
	    cmocka_unit_test(test_bits),
	    cmocka_unit_test(test_map),
	    cmocka_unit_test(test_map_with_equal_keys),
	    cmocka_unit_test(test_hash),
	    cmocka_unit_test(test_hash_is_of_this_process),
	    cmocka_unit_test(test_grow),
	    cmocka_unit_test(test_search),
	    cmocka_unit_test(test_text),
	    cmocka_unit_test(test_utf8),
	    cmocka_unit_test(test_printable),
	    cmocka_unit_test(test_behind),
	    cmocka_unit_test(test_behind_given_up),
	    cmocka_unit_test(test_digits),
	    cmocka_unit_test(test_groups),
	    cmocka_unit_test(test_microseconds),
	    cmocka_unit_test(test_scan),
	    cmocka_unit_test(test_decimals),
	    cmocka_unit_test(test_doubles),
	    cmocka_unit_test(test_parallel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
