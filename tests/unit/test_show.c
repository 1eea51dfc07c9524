/* test_show.c - numbers as people read and write them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options/parse.h"
#include "cli/output/show.h"

#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Four digits and a unit, rounded half up. */
static void test_durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
	    {0, "0 ns"},
	    {999, "999 ns"},
	    {1000, "1.000 us"},
	    {1234, "1.234 us"},
	    {9999, "9.999 us"},
	    {10004, "10.00 us"},
	    {10005, "10.01 us"},
	    {999949, "999.9 us"},
	    {999950, "1.000 ms"},
	    {9999499, "9.999 ms"},
	    {9999500, "10.00 ms"}, /* not 10.000 */
	    {9999999, "10.00 ms"},
	    {99995000, "100.0 ms"},
	    {1234567890, "1.235 s"},
	    {999999999999, "1000 s"},
	    {3600000000000, "3600 s"},
	    {UINT64_MAX, "18446744074 s"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(tw_show_duration(rows[i].ns).text, rows[i].text);
}

static void test_counts(void **state)
{
	(void)state;
	assert_string_equal(tw_show_count(0).text, "0");
	assert_string_equal(tw_show_count(999).text, "999");
	assert_string_equal(tw_show_count(1000).text, "1,000");
	assert_string_equal(tw_show_count(1234567).text, "1,234,567");
	assert_string_equal(tw_show_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
	assert_string_equal(tw_show_id(1234567).text, "1234567");
	assert_string_equal(tw_show_plural(1, "error").text, "1 error");
	assert_string_equal(tw_show_plural(0, "error").text, "0 errors");
	assert_string_equal(tw_show_plural(1001, "error").text, "1,001 errors");
	assert_string_equal(tw_show_such_as(1, "program").text, "");
	assert_string_equal(tw_show_such_as(1001, "program").text, "1,001 programs, such as ");
	assert_string_equal(tw_show_percent(1, 3).text, "33.3 %");
	assert_string_equal(tw_show_percent(1, 0).text, "0.0 %");
	assert_string_equal(tw_show_change(5, tw_show_duration(5)).text, "+5 ns");
	assert_string_equal(tw_show_change(-5, tw_show_count(5)).text, "-5");
	assert_string_equal(tw_show_change(0, tw_show_count(0)).text, "0");
}

static void test_sizes(void **state)
{
	(void)state;
	assert_string_equal(tw_show_size(0).text, "0 bytes");
	assert_string_equal(tw_show_size(1).text, "1 byte");
	assert_string_equal(tw_show_size(1023).text, "1023 bytes");
	assert_string_equal(tw_show_size(1024).text, "1.0 KiB");
	assert_string_equal(tw_show_size(1536).text, "1.5 KiB");
	assert_string_equal(tw_show_size(UINT64_C(3) << 40).text, "3.0 TiB");
	assert_string_equal(tw_show_size(UINT64_MAX).text, "16.0 EiB");
}

/* problem: NULL where the text is a number. */
struct number {
	const char *text;
	uint64_t value;
	const char *problem;
};

static void expect(const char *(*parse)(const char *text, uint64_t *value), const struct number *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value = 0;
		const char *problem = parse(rows[i].text, &value);
		if (rows[i].problem && !(problem && strcmp(problem, rows[i].problem) == 0))
			fail_msg("\"%s\": %s, not: %s", rows[i].text, problem ? problem : "a number", rows[i].problem);
		if (!rows[i].problem && (problem || value != rows[i].value))
			fail_msg("\"%s\": %s, %llu", rows[i].text, problem ? problem : "another number",
			         (unsigned long long)value);
	}
}

static void test_numbers(void **state)
{
	static const struct number counts[] = {
	    {"0", 0, NULL},
	    {"123", 123, NULL},
	    {"18446744073709551615", UINT64_MAX, NULL},
	    {"18446744073709551616", 0, "is too large"},
	    {"0x7b", 123, NULL},
	    {"0xFfffffffffffffff", UINT64_MAX, NULL},
	    {"0x10000000000000000", 0, "is too large"},
	    {"0x", 0, "is not a number"},
	    {"0xg", 0, "is not a number"},
	    {"12a", 0, "is not a whole number"},
	    {"", 0, "is not a number"},
	    {"-1", 0, "is not a number"},
	};
	(void)state;
	expect(tw_parse_count, counts, COUNT(counts));
}

static void test_units(void **state)
{
	static const char no_time[] = "is not a number with a unit: ns, us, ms, s";
	static const struct number times[] = {
	    {"100", 100, NULL},
	    {"1.5ms", 1500000, NULL},
	    {"2s", 2000000000, NULL},
	    {"0.000000001s", 1, NULL},
	    {"0.0000000001s", 0, "is finer than a nanosecond"},
	    {"18446744073.709551615s", UINT64_MAX, NULL},
	    {"18446744073.709551616s", 0, "is too large"},
	    {"1.ms", 0, no_time},
	    {"1 ms", 0, no_time},
	    {"1h", 0, no_time},
	};
	static const struct number sizes[] = {
	    {"4096", 4096, NULL},
	    {"64K", 65536, NULL},
	    {"64KiB", 65536, NULL},
	    {"1.5G", 1610612736, NULL},
	    {"0.3K", 0, "is no whole number of bytes"},
	    {"16777216T", 0, "is too large"},
	};
	static const struct number frequencies[] = {
	    {"24000000", 24000000, NULL},
	    {"24MHz", 24000000, NULL},
	    {"2.1GHz", 2100000000, NULL},
	    {"32.768kHz", 32768, NULL},
	    {"5Hz", 5, NULL},
	    {"0.5Hz", 0, "is no whole number of hertz"},
	    {"2.1Ghz", 0, "is not a number with a unit: Hz, kHz, MHz, GHz"},
	    {"18446744074GHz", 0, "is too large"},
	};
	(void)state;
	expect(tw_parse_hertz, frequencies, COUNT(frequencies));
	expect(tw_parse_duration, times, COUNT(times));
	expect(tw_parse_size, sizes, COUNT(sizes));
}

SUITE(show)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_durations), cmocka_unit_test(test_counts), cmocka_unit_test(test_sizes),
	    cmocka_unit_test(test_numbers),   cmocka_unit_test(test_units),
	};
	return cmocka_run_group_tests_name("show", tests, NULL, NULL);
}
