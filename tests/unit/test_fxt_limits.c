/* test_fxt_limits.c - FXT records at and beyond every limit of the format, extensions, and large blobs in parts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <trackway/fxt.h>

#include "base/bytes/bytes.h"

#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ROOM = 1 << 20 };

static uint8_t out[ROOM], filler[ROOM];

static struct tw_fxt_string text_of(size_t length)
{
	return (struct tw_fxt_string){.reference = (uint16_t)(TW_FXT_STRING_INLINE | length),
	                              .length = (uint16_t)length,
	                              .bytes = filler};
}

static void expect_encoded(const char *what, const struct tw_fxt_record *record, int status)
{
	for (int big = 0; big < 2; big++) {
		size_t size = 0;
		int found = tw_fxt_encode(record, big, out, ROOM, &size);
		if (found != status)
			fail_msg("%s: %d, expected %d", what, found, status);
		if (status < 0)
			continue;
		struct tw_fxt_decoder decoder = {.bytes = out, .left = size, .big = big};
		struct tw_fxt_record again;
		assert_int_equal(tw_fxt_next(&decoder, &again), 1);
		assert_int_equal(again.kind, record->kind);
		assert_int_equal(again.size, size);
		assert_int_equal(again.trailing_size, record->trailing_size);
		assert_false(again.padded || again.reserved);
	}
}

/* ---- Encoding: the last value that fits and the first that does not. ---- */

static const struct limit {
	const char *what;
	struct tw_fxt_record record;
	int status;
} limits[] = {
    {"string index", {.kind = TW_FXT_STRING, .index = 0x7fff}, 0},
    {"string index", {.kind = TW_FXT_STRING, .index = 0x8000}, TW_ERR_VALUE},
    {"string of 32000", {.kind = TW_FXT_STRING, .index = 1, .payload = filler, .payload_size = 32000}, 0},
    {"string of 32752", {.kind = TW_FXT_STRING, .index = 1, .payload = filler, .payload_size = 32752}, 0},
    {"string beyond 4095 words", {.kind = TW_FXT_STRING, .payload = filler, .payload_size = 32753}, TW_ERR_VALUE},
    {"string of 32767", {.kind = TW_FXT_STRING, .payload = filler, .payload_size = 32767}, TW_ERR_VALUE},
    {"string of 32768", {.kind = TW_FXT_STRING, .payload = filler, .payload_size = 32768}, TW_ERR_VALUE},
    {"string without bytes", {.kind = TW_FXT_STRING, .payload_size = 1}, TW_ERR_VALUE},
    {"thread index", {.kind = TW_FXT_THREAD, .index = 255}, 0},
    {"thread index", {.kind = TW_FXT_THREAD, .index = 256}, TW_ERR_VALUE},
    {"provider id", {.kind = TW_FXT_PROVIDER_SECTION, .id = UINT32_MAX}, 0},
    {"provider id", {.kind = TW_FXT_PROVIDER_SECTION, .id = UINT64_C(1) << 32}, TW_ERR_VALUE},
    {"provider name", {.kind = TW_FXT_PROVIDER_INFO, .name = {.length = 255, .bytes = filler}}, 0},
    {"provider name", {.kind = TW_FXT_PROVIDER_INFO, .name = {.length = 256, .bytes = filler}}, TW_ERR_VALUE},
    {"provider event", {.kind = TW_FXT_PROVIDER_EVENT, .object_type = 15}, 0},
    {"provider event", {.kind = TW_FXT_PROVIDER_EVENT, .object_type = 16}, TW_ERR_VALUE},
    {"magic with more", {.kind = TW_FXT_MAGIC, .trailing = filler, .trailing_size = 8}, TW_ERR_VALUE},
    {"legacy cpu", {.kind = TW_FXT_LEGACY_CONTEXT_SWITCH, .cpu = 255}, 0},
    {"legacy cpu", {.kind = TW_FXT_LEGACY_CONTEXT_SWITCH, .cpu = 256}, TW_ERR_VALUE},
    {"cpu", {.kind = TW_FXT_CONTEXT_SWITCH, .cpu = 65535}, 0},
    {"state", {.kind = TW_FXT_CONTEXT_SWITCH, .state = 15}, 0},
    {"state", {.kind = TW_FXT_CONTEXT_SWITCH, .state = 16}, TW_ERR_VALUE},
    {"arguments", {.kind = TW_FXT_INSTANT, .thread = {.index = 1}, .argument_count = 15}, 0},
    {"arguments", {.kind = TW_FXT_INSTANT, .thread = {.index = 1}, .argument_count = 16}, TW_ERR_VALUE},
    {"arguments of an object", {.kind = TW_FXT_KERNEL_OBJECT, .argument_count = 16}, TW_ERR_VALUE},
    {"arguments of a blob", {.kind = TW_FXT_LARGE_BLOB, .argument_count = 16, .payload = filler}, TW_ERR_VALUE},
    {"log message", {.kind = TW_FXT_LOG, .thread = {.index = 1}, .payload = filler, .payload_size = 32744}, 0},
    {"log message",
     {.kind = TW_FXT_LOG, .thread = {.index = 1}, .payload = filler, .payload_size = 32745},
     TW_ERR_VALUE},
    {"blob", {.kind = TW_FXT_BLOB, .payload = filler, .payload_size = 32752}, 0},
    {"blob", {.kind = TW_FXT_BLOB, .payload = filler, .payload_size = 32760}, TW_ERR_VALUE},
    {"module id", {.kind = TW_FXT_PROFILER_MODULE, .wide_process = true, .id = 65535}, 0},
    {"module id", {.kind = TW_FXT_PROFILER_MODULE, .wide_process = true, .id = 65536}, TW_ERR_VALUE},
    {"build id", {.kind = TW_FXT_PROFILER_MODULE, .payload = filler, .payload_size = 256}, TW_ERR_VALUE},
    {"mapping flags", {.kind = TW_FXT_PROFILER_MMAP, .object_type = 8}, TW_ERR_VALUE},
    {"addresses", {.kind = TW_FXT_PROFILER_BACKTRACE, .payload = filler, .payload_size = 255 * 8}, 0},
    {"addresses", {.kind = TW_FXT_PROFILER_BACKTRACE, .payload = filler, .payload_size = 256 * 8}, TW_ERR_VALUE},
    {"half an address", {.kind = TW_FXT_PROFILER_BACKTRACE, .payload = filler, .payload_size = 4}, TW_ERR_VALUE},
    {"backtrace flags", {.kind = TW_FXT_PROFILER_BACKTRACE, .flags = 1 << 28}, TW_ERR_VALUE},
    {"blob format", {.kind = TW_FXT_LARGE_BLOB, .format = 1, .payload = filler}, 0},
    {"blob format", {.kind = TW_FXT_LARGE_BLOB, .format = 2, .payload = filler}, TW_ERR_VALUE},
    {"large blob", {.kind = TW_FXT_LARGE_BLOB, .format = 1, .payload = filler, .payload_size = 40000}, 0},
    {"endless blob", {.kind = TW_FXT_LARGE_BLOB, .format = 1, .payload_size = UINT64_MAX}, TW_ERR_VALUE},
    {"half a word behind a blob", {.kind = TW_FXT_LARGE_BLOB, .payload_size = 8, .trailing_size = 4}, TW_ERR_VALUE},
    {"trailing words", {.kind = TW_FXT_INITIALIZATION, .trailing = filler, .trailing_size = 8}, 0},
    {"half a trailing word", {.kind = TW_FXT_THREAD, .trailing = filler, .trailing_size = 4}, TW_ERR_VALUE},
    {"no such kind", {.kind = TW_FXT_KINDS}, TW_ERR_VALUE},
};

static void test_encoded_up_to_each_limit(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(limits); i++) {
		expect_encoded(limits[i].what, &limits[i].record, limits[i].status);
	}
}

/* Values of arguments: the last that fits and the first that does not. 4,092 words of blob with the headers and the
 * time are 4,095. */
static void test_argument_limits(void **state)
{
	static const struct {
		struct tw_fxt_argument argument;
		int status;
	} cases[] = {
	    {{.type = TW_FXT_ARG_INT32, .value.i = INT32_MIN}, 0},
	    {{.type = TW_FXT_ARG_INT32, .value.i = INT64_C(-1) + INT32_MIN}, TW_ERR_VALUE},
	    {{.type = TW_FXT_ARG_INT32, .value.i = INT64_C(1) << 31}, TW_ERR_VALUE},
	    {{.type = TW_FXT_ARG_UINT32, .value.u = UINT32_MAX}, 0},
	    {{.type = TW_FXT_ARG_UINT32, .value.u = UINT64_C(1) << 32}, TW_ERR_VALUE},
	    {{.type = TW_FXT_ARG_BOOL, .value.u = 1}, 0},
	    {{.type = TW_FXT_ARG_BOOL, .value.u = 2}, TW_ERR_VALUE},
	    {{.type = TW_FXT_ARG_BLOB, .bytes = filler, .size = 4092 * 8}, 0},
	    {{.type = TW_FXT_ARG_BLOB, .bytes = filler, .size = 4092 * 8 + 1}, TW_ERR_VALUE},
	    {{.type = TW_FXT_ARG_BLOB, .size = 1}, TW_ERR_VALUE},
	    {{.type = TW_FXT_ARG_BLOB, .bytes = filler, .size = UINT32_MAX}, TW_ERR_VALUE},
	    {{.type = 11, .value.u = UINT32_MAX, .bytes = filler, .size = 8}, 0},
	    {{.type = 11, .bytes = filler, .size = 9}, TW_ERR_VALUE},
	    {{.type = 16}, TW_ERR_VALUE},
	    {{.type = TW_FXT_ARG_NULL, .trailing = filler, .trailing_size = 16}, 0},
	    {{.type = TW_FXT_ARG_NULL, .trailing = filler, .trailing_size = 15}, TW_ERR_VALUE},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tw_fxt_record record = {.kind = TW_FXT_INSTANT, .thread = {.index = 1}, .argument_count = 1};
		record.arguments[0] = cases[i].argument;
		expect_encoded("argument", &record, cases[i].status);
	}
}

static void test_longest_text_of_a_record(void **state)
{
	(void)state;
	struct tw_fxt_record record = {.kind = TW_FXT_INSTANT, .thread = {.index = 1}, .name = text_of(32744)};
	expect_encoded("text", &record, 0); /* 2 + 4,093 words */
	record.name = text_of(32745);
	expect_encoded("text", &record, TW_ERR_VALUE);
	record.name = text_of(0); /* inline and empty: 0x8000 */
	expect_encoded("text", &record, TW_ERR_VALUE);
	record.as_found = true;
	expect_encoded("text", &record, 0);
	record.as_found = false;
	record.kind = TW_FXT_LARGE_BLOB;
	record.payload = filler;
	record.name = text_of(32767);
	record.category = text_of(32767);
	expect_encoded("text", &record, 0); /* large records have room for both */
	record.name.length = 32768;
	expect_encoded("text", &record, TW_ERR_VALUE);
	record.name = (struct tw_fxt_string){.reference = TW_FXT_STRING_INLINE, .length = 1};
	expect_encoded("text", &record, TW_ERR_VALUE);
}

/* ---- Decoding: records that say more than they have, and how far the decoder believes them. ---- */

struct words {
	uint64_t word[8];
	size_t count;
};

static int decode(const struct words *words, struct tw_fxt_decoder *decoder, struct tw_fxt_record *record)
{
	static uint8_t bytes[64];
	for (size_t i = 0; i < words->count; i++)
		tw_store64(bytes + 8 * i, words->word[i], false);
	*decoder = (struct tw_fxt_decoder){.bytes = bytes, .left = 8 * words->count};
	return tw_fxt_next(decoder, record);
}

static void test_place_and_text_of_each_fault(void **state)
{
	static const struct {
		struct words words;
		size_t at;
		const char *fault;
	} cases[] = {
	    {{{0x0014}, 1}, 8, "a time"},
	    {{{0x0000000000000024, 1}, 2}, 16, "the process of a thread that is given inline"},
	    {{{0x0000000000000034, 1, 2}, 3}, 24, "the thread that is given inline"},
	    {{{0x0000800901000034, 1, 2}, 3}, 16, "a category"},
	    {{{0x8009000001000034, 1, 2}, 3}, 16, "a name"},
	    {{{0x0000000001010024, 1}, 2}, 16, "the counter's id"},
	    {{{0x0000000001040024, 1}, 2}, 16, "the time of the end"},
	    {{{0x0000000001050024, 1}, 2}, 16, "a correlation id"},
	    {{{0x0000000001100024, 1}, 2}, 16, "as many arguments as the header says"},
	    {{{0x0000000001200034, 1, 0x10}, 3}, 24, "as many arguments as the header says"},
	    {{{0x0000000001100034, 1, 0x00}, 3}, 16, "an argument of at least one word"},
	    {{{0x0000000001100034, 1, 0x20}, 3}, 16, "an argument that ends within its record"},
	    {{{0x0000000001100034, 1, 0x80010010}, 3}, 24, "the name of an argument, within its size"},
	    {{{0x0000000001100044, 1, 0x13, 2}, 4}, 24, "the value of an argument, within its size"},
	    {{{0x0000000001100044, 1, 0x800900000026, 2}, 4}, 24, "the text of an argument, within its size"},
	    {{{0x0000000001100044, 1, 0x90000002a, 2}, 4}, 24, "the bytes of an argument, within its size"},
	    {{{0x0000000001100044, 1, 0xffffffff0000002a, 2}, 4}, 24, "the bytes of an argument, within its size"},
	    {{{0x0000000900010022, 1}, 2}, 8, "the text of a string record"},
	    {{{0x0000000000010023, 1}, 2}, 16, "the thread that is given inline"},
	    {{{0x0000000000000011}, 1}, 8, "the ticks of a second"},
	    {{{0x0090000000010020, 1}, 2}, 8, "the name of a provider"},
	    {{{0x0000000900000025, 1}, 2}, 8, "the bytes of a blob"},
	    {{{0x0000000180010015}, 1}, 8, "the name of a blob"},
	    {{{0x0000000000010016}, 1}, 8, "the pointer of an object"},
	    {{{0x0000000000000026, 1}, 2}, 16, "the process that is given inline"},
	    {{{0x0000008001010026, 1}, 2}, 16, "the name of an object"},
	    {{{0x0000000000010017}, 1}, 8, "the koid of an object"},
	    {{{0x1000000000000028, 1}, 2}, 16, "the outgoing thread"},
	    {{{0x1000000000000038, 1, 2}, 3}, 24, "the incoming thread"},
	    {{{0x2000000000000028, 1}, 2}, 16, "the waking thread"},
	    {{{0x0000000100090029, 1}, 2}, 16, "the message of a log record"},
	    {{{0x000000002012003a, 1, 2}, 3}, 16, "as many addresses as the header says"},
	    {{{0x000000000000001f}, 1}, 8, "the second header of a large blob"},
	    {{{0x000001000000003f, 0, 1}, 3}, 16, "a size of a large blob that ends within its record"},
	    {{{0x000001000000003f, 0, UINT64_MAX}, 3}, 16, "a size of a large blob that ends within its record"},
	    {{{0x000001000000002f, 0}, 2}, 16, "the size of a large blob"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tw_fxt_decoder decoder;
		struct tw_fxt_record record;
		int status = decode(&cases[i].words, &decoder, &record);
		if (status != TW_ERR_VALUE)
			fail_msg("case %zu, %s: %d", i, cases[i].fault, status);
		assert_string_equal(decoder.fault, cases[i].fault);
		assert_int_equal(decoder.at, cases[i].at);
		assert_int_equal(decoder.left, 8 * cases[i].words.count);
		assert_int_equal(record.header, cases[i].words.word[0]);
		assert_int_equal(record.size, 8 * cases[i].words.count);
	}
}

static void test_sizes_that_are_refused(void **state)
{
	struct tw_fxt_record record;
	struct tw_fxt_decoder decoder;
	(void)state;
	assert_int_equal(decode(&(struct words){{0x0000000001000004, 1}, 2}, &decoder, &record), TW_ERR_FORMAT);
	assert_int_equal(record.kind, TW_FXT_INSTANT);
	assert_int_equal(decode(&(struct words){{0, 0}, 2}, &decoder, &record), TW_ERR_FORMAT);
	assert_int_equal(decode(&(struct words){{0x000000000000000f, 1}, 2}, &decoder, &record), TW_ERR_FORMAT);
	assert_int_equal(decode(&(struct words){{0x0000000001000034, 1}, 2}, &decoder, &record), TW_ERR_ROOM);
	assert_int_equal(decoder.need, 24);
	assert_int_equal(decode(&(struct words){{0x000000000100fff4, 1}, 2}, &decoder, &record), TW_ERR_ROOM);
	assert_int_equal(decoder.need, 4095 * 8);
	decoder = (struct tw_fxt_decoder){.bytes = filler, .left = 7};
	assert_int_equal(tw_fxt_next(&decoder, &record), TW_ERR_ROOM);
	assert_int_equal(decoder.need, 8);
	decoder.left = 0;
	assert_int_equal(tw_fxt_next(&decoder, &record), 0);
}

/* ---- Extensions. ---- */

/* Words behind what is known, in the record and in an argument: kept. The first behind an instant is its scope. */
static void test_extensions(void **state)
{
	static const struct {
		struct words words;
		uint64_t trailing, of_argument;
	} cases[] = {
	    {{{0x0000000001000044, 1, 2, 3}, 4}, 8, 0}, /* scope, then another */
	    {{{0x0000000001020044, 1, 2, 3}, 4}, 16, 0},
	    {{{0x0000000001040044, 1, 2, 3}, 4}, 8, 0},
	    {{{0x0000000001120054, 1, 0x20, 2, 3}, 5}, 8, 8},
	    {{{0x0000000001120054, 1, 0x33, 2, 3}, 5}, 0, 8},
	    {{{0x0000000001120054, 1, 0x100000003a, 2, 3}, 5}, 0, 0},
	    {{{0x0000000001120054, 1, 0x080000003a, 2, 3}, 5}, 0, 8},
	    {{{0x0000000000000031, 1, 2}, 3}, 8, 0},
	    {{{0x0000000000000051, 1, 2, 3, 4}, 5}, 8, 0},
	    {{{0x0000000000010043, 1, 2, 3}, 4}, 8, 0},
	    {{{0x0000000000020020, 1}, 2}, 8, 0},
	    {{{0x0000000800010032, 1, 2}, 3}, 8, 0},
	    {{{0x0000000800000035, 1, 2}, 3}, 8, 0},
	    {{{0x000001000000004f, 0, 0, 1}, 4}, 8, 0},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tw_fxt_decoder decoder;
		struct tw_fxt_record record;
		size_t size = 0;
		assert_int_equal(decode(&cases[i].words, &decoder, &record), 1);
		assert_int_equal(record.trailing_size, cases[i].trailing);
		assert_int_equal(record.argument_count ? record.arguments[0].trailing_size : 0, cases[i].of_argument);
		assert_int_equal(tw_fxt_encode(&record, false, out, ROOM, &size), 0);
		assert_int_equal(size, 8 * cases[i].words.count);
		assert_memory_equal(out, decoder.bytes - size, size);
	}
}

/* The words of an inline process: as many as fill the record. The document has one, the engine writes two. */
static void test_inline_process(void **state)
{
	static const struct {
		struct words words;
		bool wide;
		uint64_t process, thread;
		size_t trailing;
	} cases[] = {
	    {{{0x0000000000000036, 1, 2}, 3}, false, 2, 0, 0},
	    {{{0x0000000000000046, 1, 2, 3}, 4}, true, 2, 3, 0},
	    {{{0x0000000000000056, 1, 2, 3, 4}, 5}, false, 2, 0, 16},
	    {{{0x0000010000000046, 1, 2, 0x10}, 4}, false, 2, 0, 0},
	    {{{0x0000010000000056, 1, 2, 3, 0x10}, 5}, true, 2, 3, 0},
	    {{{0x0000008001000056, 1, 2, 3, 'x'}, 5}, true, 2, 3, 0},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tw_fxt_decoder decoder;
		struct tw_fxt_record record;
		assert_int_equal(decode(&cases[i].words, &decoder, &record), 1);
		assert_int_equal(record.wide_process, cases[i].wide);
		assert_int_equal(record.thread.process, cases[i].process);
		assert_int_equal(record.thread.thread, cases[i].thread);
		assert_int_equal(record.trailing_size, cases[i].trailing);
	}
}

static void test_unknown_types_are_kept(void **state)
{
	static const struct words cases[] = {
	    {{0x000000000000002b, 1}, 2},    /* record type 11 */
	    {{0x0000000000050020, 1}, 2},    /* metadata type 5 */
	    {{0x0016547846140010}, 1},       /* trace information type 1 */
	    {{0x0016547847040010}, 1},       /* another magic number */
	    {{0x12347777010b0034, 1, 2}, 3}, /* event type 11 */
	    {{0x3000000000000038, 1, 2}, 3}, /* scheduling type 3 */
	    {{0x000000000003002a, 1}, 2},    /* profiler type 3 */
	    {{0x000000100000003f, 1, 2}, 3}, /* large type 1 */
	    {{0x000002000000003f, 1, 2}, 3}, /* blob format 2 */
	    {{0xffffffffffff001c}, 1},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tw_fxt_decoder decoder;
		struct tw_fxt_record record;
		size_t size = 0;
		assert_int_equal(decode(&cases[i], &decoder, &record), 1);
		assert_int_equal(record.kind, TW_FXT_UNKNOWN);
		assert_int_equal(record.payload_size, 8 * (cases[i].count - 1));
		assert_int_equal(tw_fxt_encode(&record, false, out, ROOM, &size), 0);
		assert_int_equal(size, 8 * cases[i].count);
		assert_memory_equal(out, decoder.bytes - size, size);
	}
}

/* Bits that should be 0: seen, and 0 when the record is written. */
static void test_reserved_and_padding(void **state)
{
	static const struct {
		struct words words;
		bool reserved, padded;
	} cases[] = {
	    {{{0x0000000100010022, 0x0000000000000041}, 2}, false, false},
	    {{{0x0000000100010022, 0x0100000000000041}, 2}, false, true},
	    {{{0x0000000180010022, 0x0000000000000041}, 2}, true, false},
	    {{{0x0001000100010022, 0x0000000000000041}, 2}, true, false},
	    {{{0x0000000001120034, 1, 0x0000000100000010}, 3}, true, false},
	    {{{0x0000000001120034, 1, 0x0000000200000019}, 3}, true, false},
	    {{{0x0000000001120044, 1, 0x0000000180010020, 0x4142}, 4}, true, true},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct tw_fxt_decoder decoder;
		struct tw_fxt_record record;
		size_t size = 0;
		assert_int_equal(decode(&cases[i].words, &decoder, &record), 1);
		assert_int_equal(record.reserved, cases[i].reserved);
		assert_int_equal(record.padded, cases[i].padded);
		assert_int_equal(tw_fxt_encode(&record, false, out, ROOM, &size), 0);
		decoder = (struct tw_fxt_decoder){.bytes = out, .left = size};
		assert_int_equal(tw_fxt_next(&decoder, &record), 1);
		assert_false(record.reserved || record.padded);
	}
}

/* ---- Large blobs. ---- */

/* 5,000 words of blob behind a header that is built by hand: decoded from the first byte that suffices. */
static void test_large_in_parts(void **state)
{
	enum { HEAD = 5 * 8, PAYLOAD = 5000 * 8 - 3, SIZE = HEAD + 5000 * 8 };
	static uint8_t bytes[SIZE];
	struct tw_fxt_record record;
	(void)state;
	memset(bytes + HEAD, 0xab, PAYLOAD);
	tw_store64(bytes, 0xf | UINT64_C(5005) << 4, false);
	tw_store64(bytes + 8, UINT64_C(7) | UINT64_C(0x8005) << 16 | UINT64_C(1) << 36, false); /* thread 1 */
	memcpy(bytes + 16, "large\0\0", 8);
	tw_store64(bytes + 24, 1234, false);
	tw_store64(bytes + 32, PAYLOAD, false);
	for (size_t left = 8; left < HEAD; left++) {
		struct tw_fxt_decoder decoder = {.bytes = bytes, .left = left};
		assert_int_equal(tw_fxt_next(&decoder, &record), TW_ERR_ROOM);
		assert_in_range(decoder.need, left + 1, HEAD);
	}
	for (size_t left = HEAD; left <= SIZE; left += 999) {
		struct tw_fxt_decoder decoder = {.bytes = bytes, .left = left};
		assert_int_equal(tw_fxt_next(&decoder, &record), 1);
		assert_int_equal(decoder.left, 0);
		assert_int_equal(record.size, SIZE);
		assert_int_equal(record.time, 1234);
		assert_int_equal(record.payload_size, PAYLOAD);
		assert_int_equal(record.payload_here, left - HEAD < PAYLOAD ? left - HEAD : PAYLOAD);
		assert_ptr_equal(record.payload, bytes + HEAD);
	}
	size_t size = 0;
	record.payload = NULL; /* only what precedes it */
	assert_int_equal(tw_fxt_encode(&record, false, out, HEAD, &size), 0);
	assert_int_equal(size, HEAD);
	assert_memory_equal(out, bytes, HEAD);
}

/* A size of 32 bits, beyond memory: 32 GiB less a word. */
static void test_largest(void **state)
{
	uint8_t bytes[24];
	struct tw_fxt_record record;
	struct tw_fxt_decoder decoder = {.bytes = bytes, .left = sizeof bytes, .big = true};
	uint64_t payload = (UINT64_C(0xffffffff) - 3) * 8;
	size_t size = 0;
	(void)state;
	tw_store64(bytes, UINT64_C(0x0000010fffffffff), true);
	tw_store64(bytes + 8, 0, true);
	tw_store64(bytes + 16, payload, true);
	assert_int_equal(tw_fxt_next(&decoder, &record), 1);
	assert_true(record.size == UINT64_C(0xffffffff) * 8);
	assert_true(record.payload_size == payload && record.payload_here == 0);
	record.payload = NULL;
	assert_int_equal(tw_fxt_encode(&record, true, out, ROOM, &size), 0);
	assert_int_equal(size, sizeof bytes);
	assert_memory_equal(out, bytes, sizeof bytes);
	record.payload_size++;
	assert_int_equal(tw_fxt_encode(&record, true, out, ROOM, &size), TW_ERR_VALUE);
}

SUITE(fxt_limits)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_encoded_up_to_each_limit),
	    cmocka_unit_test(test_argument_limits),
	    cmocka_unit_test(test_longest_text_of_a_record),
	    cmocka_unit_test(test_place_and_text_of_each_fault),
	    cmocka_unit_test(test_sizes_that_are_refused),
	    cmocka_unit_test(test_extensions),
	    cmocka_unit_test(test_inline_process),
	    cmocka_unit_test(test_unknown_types_are_kept),
	    cmocka_unit_test(test_reserved_and_padding),
	    cmocka_unit_test(test_large_in_parts),
	    cmocka_unit_test(test_largest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
