/* test_clickhouse.c - blocks of ClickHouse's Native format, byte by byte, and the digest by which traces are known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/sha256.h"
#include "export/clickhouse/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "suite.h"

/* ---- Blocks. The bytes are by "Native Format" and "LowCardinality Data Type" of ClickHouse's documents. ---- */

static struct tw_native_block block_of(const char *name, enum tw_native_type type)
{
	struct tw_native_block block = {.columns = calloc(1, sizeof *block.columns), .column_count = 1};
	assert_non_null(block.columns);
	block.columns[0].name = name;
	block.columns[0].type = type;
	return block;
}

static void expect_bytes(struct tw_native_block *block, const void *bytes, size_t size)
{
	struct tw_line line = {0};
	tw_native_put(block, &line);
	assert_false(block->failed);
	assert_int_equal(line.text.length, size);
	assert_memory_equal(line.text.bytes, bytes, size);
	tw_text_free(&line.text);
	tw_native_free(block);
}

static void test_numbers(void **state)
{
	static const char bytes[] = "\x01\x02\x01"
				    "a\x06UInt16\x02\x01\xff\xff";
	struct tw_native_block block = block_of("a", TW_NATIVE_U16);
	(void)state;
	tw_native_number(&block, 0, 0x102);
	tw_native_end_row(&block);
	tw_native_number(&block, 0, UINT64_MAX);
	tw_native_end_row(&block);
	expect_bytes(&block, bytes, sizeof bytes - 1);
}

static void test_double_and_day(void **state)
{
	static const char one[] = "\x01\x01\x01"
				  "d\x07"
				  "Float64\0\0\0\0\0\0\xf8\xbf";
	static const char two[] = "\x01\x01\x01"
				  "d\x04"
				  "Date\x5a\x4d";
	struct tw_native_block block = block_of("d", TW_NATIVE_DOUBLE);
	(void)state;
	tw_native_double(&block, 0, -1.5);
	tw_native_end_row(&block);
	expect_bytes(&block, one, sizeof one - 1);
	block = block_of("d", TW_NATIVE_DAY);
	tw_native_number(&block, 0, 19802); /* 2024-03-20 */
	tw_native_end_row(&block);
	expect_bytes(&block, two, sizeof two - 1);
}

/* A text of 300 bytes has a length of two: 0xac 0x02. */
static void test_texts(void **state)
{
	char long_text[300], bytes[13 + 1 + 2 + sizeof long_text] = "\x01\x02\x01t\x06String";
	struct tw_native_block block = block_of("t", TW_NATIVE_TEXT);
	(void)state;
	memset(long_text, 'x', sizeof long_text);
	bytes[11] = 1;
	bytes[12] = '\0';
	bytes[13] = (char)0xac;
	bytes[14] = 2;
	memcpy(bytes + 15, long_text, sizeof long_text);
	tw_native_text(&block, 0, "", 1);
	tw_native_end_row(&block);
	tw_native_text(&block, 0, long_text, sizeof long_text);
	tw_native_end_row(&block);
	expect_bytes(&block, bytes, 15 + sizeof long_text);
}

/* The ends of all arrays, and then the texts. */
static void test_arrays(void **state)
{
	static const char bytes[] = "\x01\x03\x01"
				    "l\x0d"
				    "Array(String)"
				    "\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"
				    "\x01"
				    "a\x02"
				    "bc\0";
	static const char *const first[] = {"a", "bc"}, *const last[] = {""};
	struct tw_native_block block = block_of("l", TW_NATIVE_TEXTS);
	(void)state;
	tw_native_texts(&block, 0, first, 2);
	tw_native_end_row(&block);
	tw_native_texts(&block, 0, NULL, 0);
	tw_native_end_row(&block);
	tw_native_texts(&block, 0, last, 1);
	tw_native_end_row(&block);
	expect_bytes(&block, bytes, sizeof bytes - 1);
}

/* Version 1; indexes of 8 bits, keys that stand here; three keys, the first of them empty; four rows. */
static void test_names(void **state)
{
	static const char bytes[] = "\x01\x04\x01"
				    "n\x16LowCardinality(String)"
				    "\x01\0\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"
				    "\0\x05"
				    "alpha\x01"
				    "b\x04\0\0\0\0\0\0\0\x01\x02\0\x01";
	struct tw_native_block block = block_of("n", TW_NATIVE_NAME);
	(void)state;
	assert_false(tw_native_known(&block, 0, 7));
	tw_native_key(&block, 0, 7, "alpha", 5);
	tw_native_end_row(&block);
	tw_native_word(&block, 0, "b");
	tw_native_end_row(&block);
	assert_true(tw_native_known(&block, 0, 0));
	tw_native_end_row(&block);
	assert_true(tw_native_known(&block, 0, 7));
	tw_native_end_row(&block);
	expect_bytes(&block, bytes, sizeof bytes - 1);
}

/* As many keys as need indexes of 16 and of 32 bits; and a block that is cleared knows none of them. */
static void expect_index(uint32_t keys, const char *flags, size_t width)
{
	enum { HEAD = 2, TYPE = 2 + 23, VERSION = 8 };
	struct tw_native_block block = block_of("n", TW_NATIVE_NAME);
	struct tw_line line = {0};
	tw_native_key(&block, 0, 1, "before", 6);
	tw_native_end_row(&block);
	tw_native_clear(&block);
	for (uint32_t i = 1; i <= keys; i++) {
		assert_false(tw_native_known(&block, 0, i));
		tw_native_key(&block, 0, i, "k", 1);
		tw_native_end_row(&block);
	}
	size_t count = keys < 1 << 14 ? 2 : 3; /* bytes of the number of rows */
	tw_native_put(&block, &line);
	assert_memory_equal(line.text.bytes + 1 + count + TYPE + VERSION, flags, 2);
	assert_int_equal(line.text.length, 1 + count + TYPE + 3 * 8 + 1 + 2 * (size_t)keys + 8 + keys * width);
	uint32_t last = 0;
	memcpy(&last, line.text.bytes + line.text.length - width, width);
	assert_int_equal(last, keys);
	tw_text_free(&line.text);
	tw_native_free(&block);
}

static void test_many_names(void **state)
{
	(void)state;
	expect_index(255, "\x00\x06", 1);
	expect_index(256, "\x01\x06", 2);
	expect_index(65535, "\x01\x06", 2);
	expect_index(65536, "\x02\x06", 4);
}

static void test_statement(void **state)
{
	static const char statement[] =
	    "CREATE TABLE IF NOT EXISTS log (trace LowCardinality(String), day Date, block UInt32, track UInt32, time "
	    "UInt64, id UInt64, process UInt64, thread UInt64, thread_name LowCardinality(String), process_name "
	    "LowCardinality(String), name LowCardinality(String), category LowCardinality(String), severity UInt32, text "
	    "String) ENGINE = MergeTree() PARTITION BY day ORDER BY (trace, track, time)";
	struct tw_line line = {0};
	(void)state;
	tw_schema_put_create(&line, &tw_schema[TW_TABLE_LOG], NULL);
	assert_string_equal(line.text.bytes, statement);
	tw_text_free(&line.text);
}

/* ---- Digests: FIPS 180-4's examples, and the lengths around the end of a block by sha256sum. ---- */

static void expect_digest(const char *bytes, size_t size, size_t piece, const char *digest)
{
	struct tw_sha256 sum;
	uint8_t made[TW_SHA256_BYTES];
	char text[2 * sizeof made + 1];
	tw_sha256_begin(&sum);
	for (size_t at = 0; at < size; at += piece)
		tw_sha256_add(&sum, bytes + at, size - at < piece ? size - at : piece);
	tw_sha256_end(&sum, made);
	for (size_t i = 0; i < sizeof made; i++)
		snprintf(text + 2 * i, 3, "%02x", made[i]);
	assert_string_equal(text, digest);
}

static void test_digests(void **state)
{
	static char many[1000000];
	static const struct {
		size_t size;
		const char *digest;
	} lengths[] = {
	    {0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
	    {55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
	    {56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
	    {63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
	    {64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
	    {65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
	    {119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"},
	    {120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"},
	    {1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};
	(void)state;
	memset(many, 'a', sizeof many);
	expect_digest("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		expect_digest(many, lengths[i].size, sizeof many, lengths[i].digest);
		expect_digest(many, lengths[i].size, 7, lengths[i].digest);
	}
}

SUITE(clickhouse)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_numbers),   cmocka_unit_test(test_double_and_day), cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_arrays),    cmocka_unit_test(test_names),          cmocka_unit_test(test_many_names),
	    cmocka_unit_test(test_statement), cmocka_unit_test(test_digests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
