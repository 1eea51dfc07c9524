/* test_fdr_records.c - every record of XRay logs, both ways, with bytes from the format's tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fdr_bytes.h"
#include "suite.h"

#include <trackway/fdr.h>

enum { LAYOUTS = 3 };

/* ---- The header. ---- */

static const struct {
	const char *hex; /* the first records may follow */
	struct tw_fdr_header header;
} headers[] = {
    {"0500 0100 03000000 005ed0b2 00000000 00040000 00000000 0000000000000000",
     {.version = 5,
      .type = 1,
      .constant_tsc = true,
      .nonstop_tsc = true,
      .cycle_frequency = 3000000000,
      .buffer_size = 1024}},
    {"0100 0100 01000000 0100000000000000 ffffffffffffffff 0807060504030201",
     {.version = 1,
      .type = 1,
      .constant_tsc = true,
      .cycle_frequency = 1,
      .buffer_size = UINT64_MAX,
      .reserved = 0x0102030405060708}},
    {"0300 0100 feffffff ffffffffffffffff 0000000000000000 0000000000000000",
     {.version = 3, .type = 1, .nonstop_tsc = true, .reserved_bits = 0x3fffffff, .cycle_frequency = UINT64_MAX}},
    {"0300 0000 03000000 00ca9a3b00000000 0000000000000000 0000000000000000",
     {.version = 3, .constant_tsc = true, .nonstop_tsc = true, .cycle_frequency = 1000000000}},
    {"0001 0001 c0000000 00000000b2d05e00 0000000000000400 0000000000000000 80",
     {.version = 1,
      .type = 1,
      .constant_tsc = true,
      .nonstop_tsc = true,
      .cycle_frequency = 3000000000,
      .buffer_size = 1024,
      .layout = TW_FDR_BIG_MSB}},
    {"0005 0001 80000001 00000000b2d05e00 0000000000000400 0000000000000000 87",
     {.version = 5,
      .type = 1,
      .constant_tsc = true,
      .reserved_bits = 1,
      .cycle_frequency = 3000000000,
      .buffer_size = 1024,
      .layout = TW_FDR_BIG_MSB}},
    {"0004 0001 40000000 00000000b2d05e00 0000000000000400 0000000000000000",
     {.version = 4,
      .type = 1,
      .nonstop_tsc = true,
      .cycle_frequency = 3000000000,
      .buffer_size = 1024,
      .layout = TW_FDR_BIG_MSB}},
    {"0004 0001 00000003 00000000b2d05e00 0000000000000400 0000000000000000 0f",
     {.version = 4,
      .type = 1,
      .constant_tsc = true,
      .nonstop_tsc = true,
      .cycle_frequency = 3000000000,
      .buffer_size = 1024,
      .layout = TW_FDR_BIG_LSB}},
    {"0002 0001 00000006 00000000b2d05e00 0000000000000400 0000000000000001 0f",
     {.version = 2,
      .type = 1,
      .nonstop_tsc = true,
      .reserved_bits = 1,
      .cycle_frequency = 3000000000,
      .buffer_size = 1024,
      .reserved = 1,
      .layout = TW_FDR_BIG_LSB}},
    {"0002 0000 00000003 000000003b9aca00 0000000000000000 0000000000000000",
     {.version = 2,
      .constant_tsc = true,
      .nonstop_tsc = true,
      .cycle_frequency = 1000000000,
      .layout = TW_FDR_BIG_LSB}},
};

static void test_headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		const struct tw_fdr_header *wanted = &headers[i].header;
		struct tw_fdr_header found;
		uint8_t bytes[80], again[TW_FDR_HEADER_SIZE];
		size_t size = from_hex(headers[i].hex, bytes, sizeof bytes);
		assert_int_equal(tw_fdr_header_decode(bytes, size, &found), 0);
		assert_int_equal(found.version, wanted->version);
		assert_int_equal(found.type, wanted->type);
		assert_int_equal(found.constant_tsc, wanted->constant_tsc);
		assert_int_equal(found.nonstop_tsc, wanted->nonstop_tsc);
		assert_int_equal(found.reserved_bits, wanted->reserved_bits);
		assert_true(found.cycle_frequency == wanted->cycle_frequency);
		assert_true(found.buffer_size == wanted->buffer_size);
		assert_true(found.reserved == wanted->reserved);
		assert_int_equal(found.layout, wanted->layout);
		tw_fdr_header_encode(&found, again);
		expect_bytes(headers[i].hex, again, bytes, sizeof again);
	}
}

static void test_no_headers(void **state)
{
	static const char *const wrong[] = {
	    "0000 0100", "0600 0100", "0100 0200", "0400 0000", "0006 0001",
	    "0001 0002", "0004 0000", "7f45 4c46", "0100 0001",
	};
	struct tw_fdr_header header;
	uint8_t bytes[TW_FDR_HEADER_SIZE] = {0};
	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		from_hex(wrong[i], bytes, sizeof bytes);
		assert_int_equal(tw_fdr_header_decode(bytes, sizeof bytes, &header), TW_ERR_FORMAT);
	}
	from_hex("0500 0100", bytes, sizeof bytes);
	for (size_t size = 0; size < sizeof bytes; size++)
		assert_int_equal(tw_fdr_header_decode(bytes, size, &header), TW_ERR_ROOM);
}

/* ---- Records. ---- */

/* Bytes that are not written out are 0. `used` is how many of a metadata record's 15 bytes mean something. */
static const struct record_case {
	const char *what;
	unsigned first, last; /* versions */
	enum tw_fdr_layout layout;
	size_t used;
	const char *hex;
	struct tw_fdr_record record;
	const char *payload;
} records[] = {
    {"enter",
     1,
     5,
     TW_FDR_LITTLE,
     0,
     "70563412 efcdab89",
     {.kind = TW_FDR_ENTER, .size = 8, .function_id = 0x1234567, .tsc_delta = 0x89abcdef},
     ""},
    {"exit",
     1,
     5,
     TW_FDR_LITTLE,
     0,
     "72563412 efcdab89",
     {.kind = TW_FDR_EXIT, .size = 8, .function_id = 0x1234567, .tsc_delta = 0x89abcdef},
     ""},
    {"tail exit",
     1,
     5,
     TW_FDR_LITTLE,
     0,
     "74563412 01000000",
     {.kind = TW_FDR_TAIL_EXIT, .size = 8, .function_id = 0x1234567, .tsc_delta = 1},
     ""},
    {"enter with arguments",
     1,
     5,
     TW_FDR_LITTLE,
     0,
     "76563412 ffffffff",
     {.kind = TW_FDR_ENTER_ARGS, .size = 8, .function_id = 0x1234567, .tsc_delta = UINT32_MAX},
     ""},
    {"function 0", 1, 5, TW_FDR_LITTLE, 0, "00000000 00000000", {.kind = TW_FDR_ENTER, .size = 8}, ""},
    {"last function",
     1,
     5,
     TW_FDR_LITTLE,
     0,
     "f2ffffff f0ffffff",
     {.kind = TW_FDR_EXIT, .size = 8, .function_id = 0xfffffff, .tsc_delta = 0xfffffff0},
     ""},
    {"enter, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     0,
     "01234567 89abcdef",
     {.kind = TW_FDR_ENTER, .size = 8, .function_id = 0x1234567, .tsc_delta = 0x89abcdef},
     ""},
    {"exit, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     0,
     "11234567 89abcdef",
     {.kind = TW_FDR_EXIT, .size = 8, .function_id = 0x1234567, .tsc_delta = 0x89abcdef},
     ""},
    {"tail exit, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     0,
     "21234567 00000001",
     {.kind = TW_FDR_TAIL_EXIT, .size = 8, .function_id = 0x1234567, .tsc_delta = 1},
     ""},
    {"enter with arguments, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     0,
     "3fffffff 00000000",
     {.kind = TW_FDR_ENTER_ARGS, .size = 8, .function_id = 0xfffffff},
     ""},
    {"enter, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     0,
     "12345670 89abcdef",
     {.kind = TW_FDR_ENTER, .size = 8, .function_id = 0x1234567, .tsc_delta = 0x89abcdef},
     ""},
    {"exit, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     0,
     "12345672 89abcdef",
     {.kind = TW_FDR_EXIT, .size = 8, .function_id = 0x1234567, .tsc_delta = 0x89abcdef},
     ""},
    {"tail exit, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     0,
     "fefffff4 00000001",
     {.kind = TW_FDR_TAIL_EXIT, .size = 8, .function_id = 0xfefffff, .tsc_delta = 1},
     ""},
    {"enter with arguments, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     0,
     "00000036 0000000a",
     {.kind = TW_FDR_ENTER_ARGS, .size = 8, .function_id = 3, .tsc_delta = 10},
     ""},

    {"new buffer",
     1,
     5,
     TW_FDR_LITTLE,
     4,
     "01 45230100",
     {.kind = TW_FDR_NEW_BUFFER, .size = 16, .value = 0x12345},
     ""},
    {"new buffer, negative",
     1,
     5,
     TW_FDR_LITTLE,
     4,
     "01 feffffff",
     {.kind = TW_FDR_NEW_BUFFER, .size = 16, .value = UINT64_MAX - 1},
     ""},
    {"new buffer, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     4,
     "80 00012345",
     {.kind = TW_FDR_NEW_BUFFER, .size = 16, .value = 0x12345},
     ""},
    {"new buffer, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     4,
     "01 00012345",
     {.kind = TW_FDR_NEW_BUFFER, .size = 16, .value = 0x12345},
     ""},
    {"end of buffer", 1, 1, TW_FDR_LITTLE, 0, "03", {.kind = TW_FDR_END_OF_BUFFER, .size = 16}, ""},
    {"end of buffer, msb", 1, 1, TW_FDR_BIG_MSB, 0, "81", {.kind = TW_FDR_END_OF_BUFFER, .size = 16}, ""},
    {"end of buffer, lsb", 1, 1, TW_FDR_BIG_LSB, 0, "03", {.kind = TW_FDR_END_OF_BUFFER, .size = 16}, ""},
    {"new cpu",
     1,
     5,
     TW_FDR_LITTLE,
     10,
     "05 0302 0807060504030201",
     {.kind = TW_FDR_NEW_CPU_ID, .size = 16, .cpu = 0x203, .tsc = 0x0102030405060708},
     ""},
    {"new cpu, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     10,
     "82 0203 0102030405060708",
     {.kind = TW_FDR_NEW_CPU_ID, .size = 16, .cpu = 0x203, .tsc = 0x0102030405060708},
     ""},
    {"new cpu, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     10,
     "05 0203 0102030405060708",
     {.kind = TW_FDR_NEW_CPU_ID, .size = 16, .cpu = 0x203, .tsc = 0x0102030405060708},
     ""},
    {"tsc wrap",
     1,
     5,
     TW_FDR_LITTLE,
     8,
     "07 ffffffffffffffff",
     {.kind = TW_FDR_TSC_WRAP, .size = 16, .tsc = UINT64_MAX},
     ""},
    {"tsc wrap, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     8,
     "83 0102030405060708",
     {.kind = TW_FDR_TSC_WRAP, .size = 16, .tsc = 0x0102030405060708},
     ""},
    {"tsc wrap, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     8,
     "07 0102030405060708",
     {.kind = TW_FDR_TSC_WRAP, .size = 16, .tsc = 0x0102030405060708},
     ""},
    {"wall time",
     1,
     5,
     TW_FDR_LITTLE,
     12,
     "09 0807060504030201 3f420f00",
     {.kind = TW_FDR_WALL_TIME, .size = 16, .value = 0x0102030405060708, .microseconds = 999999},
     ""},
    {"wall time, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     12,
     "84 0102030405060708 000f423f",
     {.kind = TW_FDR_WALL_TIME, .size = 16, .value = 0x0102030405060708, .microseconds = 999999},
     ""},
    {"wall time, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     12,
     "09 0102030405060708 000f423f",
     {.kind = TW_FDR_WALL_TIME, .size = 16, .value = 0x0102030405060708, .microseconds = 999999},
     ""},
    {"argument",
     1,
     5,
     TW_FDR_LITTLE,
     8,
     "0d 8877665544332211",
     {.kind = TW_FDR_CALL_ARGUMENT, .size = 16, .value = 0x1122334455667788},
     ""},
    {"argument, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     8,
     "86 1122334455667788",
     {.kind = TW_FDR_CALL_ARGUMENT, .size = 16, .value = 0x1122334455667788},
     ""},
    {"argument, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     8,
     "0d 1122334455667788",
     {.kind = TW_FDR_CALL_ARGUMENT, .size = 16, .value = 0x1122334455667788},
     ""},
    {"extents",
     2,
     5,
     TW_FDR_LITTLE,
     8,
     "0f 1a01000000000080",
     {.kind = TW_FDR_BUFFER_EXTENTS, .size = 16, .value = 0x800000000000011a},
     ""},
    {"extents, msb",
     2,
     5,
     TW_FDR_BIG_MSB,
     8,
     "87 000000000000011a",
     {.kind = TW_FDR_BUFFER_EXTENTS, .size = 16, .value = 0x11a},
     ""},
    {"extents, lsb",
     2,
     5,
     TW_FDR_BIG_LSB,
     8,
     "0f 000000000000011a",
     {.kind = TW_FDR_BUFFER_EXTENTS, .size = 16, .value = 0x11a},
     ""},
    {"pid", 3, 5, TW_FDR_LITTLE, 4, "13 64000000", {.kind = TW_FDR_PID, .size = 16, .value = 100}, ""},
    {"pid, negative", 3, 5, TW_FDR_LITTLE, 4, "13 ffffffff", {.kind = TW_FDR_PID, .size = 16, .value = UINT64_MAX}, ""},
    {"pid, msb", 3, 5, TW_FDR_BIG_MSB, 4, "89 00000064", {.kind = TW_FDR_PID, .size = 16, .value = 100}, ""},
    {"pid, lsb", 3, 5, TW_FDR_BIG_LSB, 4, "13 00000064", {.kind = TW_FDR_PID, .size = 16, .value = 100}, ""},

    {"custom event 1 to 3",
     1,
     3,
     TW_FDR_LITTLE,
     12,
     "0b 05000000 b2ca9a3b00000080 000000 68656c6c6f",
     {.kind = TW_FDR_CUSTOM_EVENT, .size = 21, .tsc = 0x800000003b9acab2, .payload_size = 5},
     "hello"},
    {"custom event 1 to 3, msb",
     1,
     3,
     TW_FDR_BIG_MSB,
     12,
     "85 00000005 800000003b9acab2 000000 68656c6c6f",
     {.kind = TW_FDR_CUSTOM_EVENT, .size = 21, .tsc = 0x800000003b9acab2, .payload_size = 5},
     "hello"},
    {"custom event 1 to 3, lsb",
     1,
     3,
     TW_FDR_BIG_LSB,
     12,
     "0b 00000005 800000003b9acab2 000000 68656c6c6f",
     {.kind = TW_FDR_CUSTOM_EVENT, .size = 21, .tsc = 0x800000003b9acab2, .payload_size = 5},
     "hello"},
    {"custom event 4",
     4,
     4,
     TW_FDR_LITTLE,
     14,
     "0b 05000000 b2ca9a3b00000080 0302 00 68656c6c6f",
     {.kind = TW_FDR_CUSTOM_EVENT, .size = 21, .tsc = 0x800000003b9acab2, .cpu = 0x203, .payload_size = 5},
     "hello"},
    {"custom event 4, msb",
     4,
     4,
     TW_FDR_BIG_MSB,
     14,
     "85 00000005 800000003b9acab2 0203 00 68656c6c6f",
     {.kind = TW_FDR_CUSTOM_EVENT, .size = 21, .tsc = 0x800000003b9acab2, .cpu = 0x203, .payload_size = 5},
     "hello"},
    {"custom event 4, lsb",
     4,
     4,
     TW_FDR_BIG_LSB,
     14,
     "0b 00000005 800000003b9acab2 0203 00 68656c6c6f",
     {.kind = TW_FDR_CUSTOM_EVENT, .size = 21, .tsc = 0x800000003b9acab2, .cpu = 0x203, .payload_size = 5},
     "hello"},
    {"custom event 5",
     5,
     5,
     TW_FDR_LITTLE,
     8,
     "0b 05000000 f9ffffff 00000000000000 68656c6c6f",
     {.kind = TW_FDR_CUSTOM_EVENT, .size = 21, .tsc_delta = (uint32_t)-7, .payload_size = 5},
     "hello"},
    {"custom event 5, msb",
     5,
     5,
     TW_FDR_BIG_MSB,
     8,
     "85 00000005 fffffff9 00000000000000 68656c6c6f",
     {.kind = TW_FDR_CUSTOM_EVENT, .size = 21, .tsc_delta = (uint32_t)-7, .payload_size = 5},
     "hello"},
    {"custom event 5, lsb",
     5,
     5,
     TW_FDR_BIG_LSB,
     8,
     "0b 00000005 fffffff9 00000000000000 68656c6c6f",
     {.kind = TW_FDR_CUSTOM_EVENT, .size = 21, .tsc_delta = (uint32_t)-7, .payload_size = 5},
     "hello"},
    {"typed event",
     1,
     5,
     TW_FDR_LITTLE,
     10,
     "11 06000000 09000000 2a01 0000000000 747970656421",
     {.kind = TW_FDR_TYPED_EVENT, .size = 22, .tsc_delta = 9, .event_type = 0x12a, .payload_size = 6},
     "typed!"},
    {"typed event, msb",
     1,
     5,
     TW_FDR_BIG_MSB,
     10,
     "88 00000006 00000009 012a 0000000000 747970656421",
     {.kind = TW_FDR_TYPED_EVENT, .size = 22, .tsc_delta = 9, .event_type = 0x12a, .payload_size = 6},
     "typed!"},
    {"typed event, lsb",
     1,
     5,
     TW_FDR_BIG_LSB,
     10,
     "11 00000006 00000009 012a 0000000000 747970656421",
     {.kind = TW_FDR_TYPED_EVENT, .size = 22, .tsc_delta = 9, .event_type = 0x12a, .payload_size = 6},
     "typed!"},
};

enum { CASES = sizeof records / sizeof *records, ROOM = 64 };

static struct tw_fdr_decoder decoder_of(const uint8_t *bytes, size_t size, unsigned version, enum tw_fdr_layout layout)
{
	return (struct tw_fdr_decoder){.bytes = bytes, .left = size, .version = (uint16_t)version, .layout = layout};
}

static void expect_record(const struct record_case *c, const struct tw_fdr_record *found, bool padded)
{
	const struct tw_fdr_record *wanted = &c->record;
	bool same = found->kind == wanted->kind && found->size == wanted->size &&
	            found->function_id == wanted->function_id && found->tsc_delta == wanted->tsc_delta &&
	            found->tsc == wanted->tsc && found->value == wanted->value &&
	            found->microseconds == wanted->microseconds && found->cpu == wanted->cpu &&
	            found->event_type == wanted->event_type && found->payload_size == wanted->payload_size &&
	            found->padded == padded;
	if (!same)
		fail_msg("%s: some field is wrong (padded: %d)", c->what, found->padded);
	if (!wanted->payload_size)
		assert_null(found->payload);
	else
		assert_memory_equal(found->payload, c->payload, wanted->payload_size);
}

/* Decodes a case's bytes, followed by others, then encodes what came out. */
static void there_and_back(const struct record_case *c, unsigned version, const uint8_t *bytes, const uint8_t *clean,
                           bool padded)
{
	struct tw_fdr_decoder decoder = decoder_of(bytes, ROOM, version, c->layout);
	struct tw_fdr_record record;
	uint8_t again[ROOM];
	int size = (int)c->record.size;
	assert_int_equal(tw_fdr_next(&decoder, &record), size);
	assert_ptr_equal(decoder.bytes, bytes + size);
	assert_int_equal(decoder.left, ROOM - size);
	expect_record(c, &record, padded);
	memset(again, 0xee, sizeof again);
	assert_int_equal(tw_fdr_encode(&record, (uint16_t)version, c->layout, again, (size_t)size), size);
	expect_bytes(c->what, again, clean, (size_t)size);
	assert_int_equal(again[size], 0xee);
	for (size_t room = 0; room < (size_t)size; room++)
		assert_int_equal(tw_fdr_encode(&record, (uint16_t)version, c->layout, again, room), TW_ERR_ROOM);
}

static void test_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++)
		for (unsigned version = records[i].first; version <= records[i].last; version++) {
			uint8_t bytes[ROOM] = {0};
			from_hex(records[i].hex, bytes, sizeof bytes);
			there_and_back(&records[i], version, bytes, bytes, false);
		}
}

/* Every kind in every layout and version that has it. */
static void test_cases_are_complete(void **state)
{
	static const unsigned from[TW_FDR_KINDS] = {[TW_FDR_BUFFER_EXTENTS] = 2, [TW_FDR_PID] = 3};
	bool met[TW_FDR_KINDS][LAYOUTS][6] = {0};
	(void)state;
	for (size_t i = 0; i < CASES; i++)
		for (unsigned version = records[i].first; version <= records[i].last; version++)
			met[records[i].record.kind][records[i].layout][version] = true;
	for (unsigned kind = 0; kind < TW_FDR_KINDS; kind++)
		for (unsigned layout = 0; tw_fdr_kind_name(kind) && layout < LAYOUTS; layout++)
			for (unsigned version = from[kind] ? from[kind] : 1;
			     version <= (kind == TW_FDR_END_OF_BUFFER ? 1 : 5); version++)
				if (!met[kind][layout][version])
					fail_msg("no case for %s in layout %u, version %u", tw_fdr_kind_name(kind),
					         layout, version);
}

static void test_padding(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++) {
		const struct record_case *c = &records[i];
		uint8_t clean[ROOM] = {0}, bytes[ROOM];
		from_hex(c->hex, clean, sizeof clean);
		for (size_t at = c->used + 1; c->record.size > TW_FDR_FUNCTION_SIZE && at < TW_FDR_METADATA_SIZE;
		     at++) {
			memcpy(bytes, clean, sizeof bytes);
			bytes[at] = 0x80;
			there_and_back(c, c->last, bytes, clean, true);
		}
		if (c->record.size == TW_FDR_FUNCTION_SIZE && c->layout == TW_FDR_BIG_LSB) {
			memcpy(bytes, clean, sizeof bytes);
			bytes[3] |= 1; /* where the word's discriminant is, but not the byte's */
			there_and_back(c, c->last, bytes, clean, true);
		}
	}
}

static void test_cut_records(void **state)
{
	(void)state;
	for (size_t i = 0; i < CASES; i++)
		for (size_t size = 0; size < records[i].record.size; size++) {
			const struct record_case *c = &records[i];
			uint8_t bytes[ROOM] = {0};
			size_t least = c->record.size < TW_FDR_METADATA_SIZE ? c->record.size : TW_FDR_METADATA_SIZE;
			from_hex(c->hex, bytes, sizeof bytes);
			struct tw_fdr_decoder decoder = decoder_of(bytes, size, c->first, c->layout);
			struct tw_fdr_record record;
			assert_int_equal(tw_fdr_next(&decoder, &record), size ? TW_ERR_ROOM : 0);
			assert_ptr_equal(decoder.bytes, bytes);
			assert_int_equal(decoder.left, size);
			if (size)
				assert_int_equal(decoder.need, size < least ? least : c->record.size);
			if (size >= TW_FDR_METADATA_SIZE)
				assert_int_equal(record.kind, c->record.kind);
		}
}

/* ---- What is no record. ---- */

static void expect_failure(uint8_t *bytes, unsigned version, enum tw_fdr_layout layout, int status, unsigned kind)
{
	struct tw_fdr_decoder decoder = decoder_of(bytes, ROOM, version, layout);
	struct tw_fdr_record record;
	assert_int_equal(tw_fdr_next(&decoder, &record), status);
	assert_int_equal(record.kind, kind);
	assert_ptr_equal(decoder.bytes, bytes);
	assert_int_equal(decoder.left, ROOM);
}

static void test_unknown_kinds(void **state)
{
	(void)state;
	for (unsigned version = 1; version <= 5; version++) {
		for (unsigned kind = 10; kind < 128; kind++) {
			uint8_t lsb[ROOM] = {(uint8_t)(kind << 1 | 1)}, msb[ROOM] = {(uint8_t)(0x80 | kind)};
			expect_failure(lsb, version, TW_FDR_LITTLE, TW_ERR_FORMAT, 16 + kind);
			expect_failure(lsb, version, TW_FDR_BIG_LSB, TW_ERR_FORMAT, 16 + kind);
			expect_failure(msb, version, TW_FDR_BIG_MSB, TW_ERR_FORMAT, 16 + kind);
		}
		for (unsigned kind = 4; kind < 8; kind++) {
			uint8_t little[ROOM] = {(uint8_t)(kind << 1)}, msb[ROOM] = {(uint8_t)(kind << 4)};
			uint8_t lsb[ROOM] = {0, 0, 0, (uint8_t)(kind << 1)};
			expect_failure(little, version, TW_FDR_LITTLE, TW_ERR_FORMAT, kind);
			expect_failure(lsb, version, TW_FDR_BIG_LSB, TW_ERR_FORMAT, kind);
			expect_failure(msb, version, TW_FDR_BIG_MSB, TW_ERR_FORMAT, kind);
		}
	}
}

static void test_event_sizes(void **state)
{
	static const char *const sizes[] = {"00000000", "ffffffff", "00000080",
	                                    "80000000"}; /* 0, -1, the least, 0x80 */
	static const int statuses[] = {TW_ERR_VALUE, TW_ERR_VALUE, TW_ERR_VALUE, TW_ERR_ROOM};
	(void)state;
	for (unsigned version = 1; version <= 5; version++)
		for (unsigned i = 0; i < 4; i++) {
			uint8_t custom[ROOM] = {0x0b}, typed[ROOM] = {0x11};
			from_hex(sizes[i], custom + 1, 4);
			from_hex(sizes[i], typed + 1, 4);
			expect_failure(custom, version, TW_FDR_LITTLE, statuses[i], TW_FDR_CUSTOM_EVENT);
			expect_failure(typed, version, TW_FDR_LITTLE, statuses[i], TW_FDR_TYPED_EVENT);
		}
	uint8_t huge[ROOM] = {0x88, 0x7f, 0xff, 0xff, 0xff};
	struct tw_fdr_decoder decoder = decoder_of(huge, ROOM, 5, TW_FDR_BIG_MSB);
	struct tw_fdr_record record;
	assert_int_equal(tw_fdr_next(&decoder, &record), TW_ERR_ROOM);
	assert_true(decoder.need == (size_t)INT32_MAX + 16);
}

/* EndOfBuffer is read in every version, that a checker may tell of it. */
static void test_end_of_buffer_is_read(void **state)
{
	(void)state;
	for (unsigned version = 1; version <= 5; version++) {
		uint8_t bytes[ROOM] = {0x03};
		struct tw_fdr_decoder decoder = decoder_of(bytes, ROOM, version, TW_FDR_LITTLE);
		struct tw_fdr_record record;
		assert_int_equal(tw_fdr_next(&decoder, &record), 16);
		assert_int_equal(record.kind, TW_FDR_END_OF_BUFFER);
	}
}

static void test_kind_names(void **state)
{
	(void)state;
	assert_string_equal(tw_fdr_kind_name(TW_FDR_TAIL_EXIT), "function.tail-exit");
	assert_string_equal(tw_fdr_kind_name(TW_FDR_PID), "pid");
	for (unsigned kind = 0; kind < 200; kind++)
		assert_int_equal(tw_fdr_kind_name(kind) != NULL, kind < 4 || (kind >= 16 && kind < 26));
}

/* ---- What cannot be written. ---- */

static int encode(struct tw_fdr_record record, unsigned version, enum tw_fdr_layout layout)
{
	uint8_t out[ROOM];
	return tw_fdr_encode(&record, (uint16_t)version, layout, out, sizeof out);
}

static void test_encode_limits(void **state)
{
	(void)state;
	for (unsigned version = 1; version <= 5; version++)
		for (unsigned l = 0; l < LAYOUTS; l++) {
			enum tw_fdr_layout layout = (enum tw_fdr_layout)l;
			for (unsigned kind = 0; kind < 4; kind++)
				assert_int_equal(encode((struct tw_fdr_record){.kind = (enum tw_fdr_kind)kind,
				                                               .function_id = 1 << 28},
				                        version, layout),
				                 TW_ERR_VALUE);
			assert_int_equal(encode((struct tw_fdr_record){.kind = TW_FDR_END_OF_BUFFER}, version, layout),
			                 version == 1 ? 16 : TW_ERR_VALUE);
			assert_int_equal(encode((struct tw_fdr_record){.kind = TW_FDR_BUFFER_EXTENTS}, version, layout),
			                 version >= 2 ? 16 : TW_ERR_VALUE);
			assert_int_equal(encode((struct tw_fdr_record){.kind = TW_FDR_PID}, version, layout),
			                 version >= 3 ? 16 : TW_ERR_VALUE);
			assert_int_equal(encode((struct tw_fdr_record){.kind = TW_FDR_CUSTOM_EVENT}, version, layout),
			                 TW_ERR_VALUE);
			assert_int_equal(encode((struct tw_fdr_record){.kind = TW_FDR_TYPED_EVENT}, version, layout),
			                 TW_ERR_VALUE);
			for (unsigned kind = 4; kind < 200; kind = kind == 15 ? 26 : kind + 1)
				assert_int_equal(encode((struct tw_fdr_record){.kind = (enum tw_fdr_kind)kind}, version,
				                        layout),
				                 TW_ERR_VALUE);
		}
	assert_int_equal(encode((struct tw_fdr_record){.kind = TW_FDR_TYPED_EVENT, .payload_size = 0x80000000}, 5,
	                        TW_FDR_LITTLE),
	                 TW_ERR_VALUE);
	/* without its payload, which follows */
	assert_int_equal(encode((struct tw_fdr_record){.kind = TW_FDR_TYPED_EVENT, .payload_size = 1000000}, 5,
	                        TW_FDR_LITTLE),
	                 16);
}

/* In this layout bit 20 of the id is where a reader looks for the discriminant. */
static void test_encode_ids(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 28; bit++) {
		struct tw_fdr_record record = {.kind = TW_FDR_ENTER, .function_id = 1u << bit};
		assert_int_equal(encode(record, 5, TW_FDR_LITTLE), 8);
		assert_int_equal(encode(record, 5, TW_FDR_BIG_MSB), 8);
		assert_int_equal(encode(record, 5, TW_FDR_BIG_LSB), bit == 20 ? TW_ERR_VALUE : 8);
	}
}

/* ---- Logs that LLVM's writer and a script wrote, as xxd shows them. ---- */

struct seen {
	size_t offset;
	enum tw_fdr_kind kind;
	uint64_t number; /* function id, value, tsc or size of the payload */
	uint64_t delta;  /* of a function or event; microseconds; cpu */
};

static uint64_t number_of(const struct tw_fdr_record *r)
{
	if (r->payload_size)
		return r->payload_size;
	return r->kind <= TW_FDR_ENTER_ARGS ? r->function_id : r->tsc ? r->tsc : r->value;
}

static void expect_log(const char *name, const struct seen *wanted, size_t count, size_t all)
{
	static struct bytes log;
	struct tw_fdr_header header;
	struct tw_fdr_record record;
	load_log(&log, name);
	assert_int_equal(tw_fdr_header_decode(log.data, log.size, &header), 0);
	struct tw_fdr_decoder decoder = decoder_of(log.data + 32, log.size - 32, header.version, header.layout);
	size_t n = 0;
	for (int status; (status = tw_fdr_next(&decoder, &record)) != 0; n++) {
		assert_true(status > 0);
		size_t offset = (size_t)(decoder.bytes - log.data) - record.size;
		if (n >= count)
			continue;
		uint64_t delta = record.tsc_delta + record.microseconds + (uint64_t)record.cpu;
		if (offset != wanted[n].offset || record.kind != wanted[n].kind ||
		    number_of(&record) != wanted[n].number || delta != wanted[n].delta)
			fail_msg("%s: record %zu is %s at 0x%zx: 0x%llx, 0x%llx", name, n,
			         tw_fdr_kind_name((unsigned)record.kind), offset,
			         (unsigned long long)number_of(&record), (unsigned long long)delta);
	}
	assert_int_equal(n, all);
}

static void test_log_of_llvm(void **state)
{
	static const struct seen first[] = {
	    {0x20, TW_FDR_BUFFER_EXTENTS, 0x11a, 0},
	    {0x30, TW_FDR_NEW_BUFFER, 101, 0},
	    {0x40, TW_FDR_WALL_TIME, 10, 500},
	    {0x50, TW_FDR_PID, 100, 0},
	    {0x60, TW_FDR_NEW_CPU_ID, 1000000000, 3},
	    {0x70, TW_FDR_ENTER, 1, 0},
	    {0x78, TW_FDR_ENTER, 2, 100},
	    {0x80, TW_FDR_ENTER_ARGS, 3, 10},
	    {0x88, TW_FDR_CALL_ARGUMENT, 0x1122334455667788, 0},
	    {0x98, TW_FDR_EXIT, 3, 20},
	    {0xa0, TW_FDR_TAIL_EXIT, 2, 30},
	    {0xa8, TW_FDR_ENTER, 4, 5},
	    {0xb0, TW_FDR_EXIT, 4, 6},
	    {0xb8, TW_FDR_CUSTOM_EVENT, 20, 7},
	    {0xdc, TW_FDR_TYPED_EVENT, 6, 9},
	    {0xf2, TW_FDR_ENTER, 0xfffffff, 11},
	    {0xfa, TW_FDR_EXIT, 0xfffffff, 0xfffffff0},
	    {0x102, TW_FDR_TSC_WRAP, 0x23b9aca00, 0},
	    {0x112, TW_FDR_ENTER, 5, 0},
	    {0x11a, TW_FDR_EXIT, 5, 3},
	    {0x122, TW_FDR_NEW_CPU_ID, 0x23b9aca32, 1},
	    {0x132, TW_FDR_ENTER, 6, 0},
	    {0x13a, TW_FDR_EXIT, 6, 13},
	    {0x142, TW_FDR_EXIT, 1, 40},
	    {0x14a, TW_FDR_BUFFER_EXTENTS, 0x11a, 0},
	    {0x15a, TW_FDR_NEW_BUFFER, 102, 0},
	};
	(void)state;
	expect_log("v5.xray", first, sizeof first / sizeof *first, 3 * 24);
}

static void test_logs_of_big_endian(void **state)
{
	static const struct seen msb[] = {
	    {0x20, TW_FDR_NEW_BUFFER, 101, 0},
	    {0x30, TW_FDR_WALL_TIME, 10, 500},
	    {0x40, TW_FDR_NEW_CPU_ID, 1000000000, 3},
	    {0x50, TW_FDR_ENTER, 1, 0},
	    {0x58, TW_FDR_ENTER, 2, 100},
	    {0x60, TW_FDR_ENTER_ARGS, 3, 10},
	    {0x68, TW_FDR_CALL_ARGUMENT, 0x1122334455667788, 0},
	    {0x78, TW_FDR_EXIT, 3, 20},
	    {0x80, TW_FDR_EXIT, 2, 5},
	    {0x88, TW_FDR_EXIT, 1, 6},
	    {0x90, TW_FDR_END_OF_BUFFER, 0, 0},
	    {0xa0, TW_FDR_NEW_BUFFER, 102, 0},
	};
	static const struct seen lsb[] = {
	    {0x20, TW_FDR_BUFFER_EXTENTS, 128, 0},
	    {0x30, TW_FDR_NEW_BUFFER, 101, 0},
	    {0x40, TW_FDR_WALL_TIME, 10, 500},
	    {0x50, TW_FDR_PID, 100, 0},
	    {0x60, TW_FDR_NEW_CPU_ID, 1000000000, 3},
	    {0x70, TW_FDR_ENTER, 1, 0},
	    {0x78, TW_FDR_ENTER, 2, 100},
	    {0x80, TW_FDR_ENTER_ARGS, 3, 10},
	    {0x88, TW_FDR_CALL_ARGUMENT, 0x1122334455667788, 0},
	    {0x98, TW_FDR_EXIT, 3, 20},
	    {0xa0, TW_FDR_EXIT, 2, 5},
	    {0xa8, TW_FDR_EXIT, 1, 6},
	    {0xb0, TW_FDR_BUFFER_EXTENTS, 128, 0},
	};
	(void)state;
	expect_log("be-msb-v1.xray", msb, sizeof msb / sizeof *msb, 2 * 11);
	expect_log("be-lsb-v4.xray", lsb, sizeof lsb / sizeof *lsb, 2 * 12);
}

SUITE(fdr_records)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_headers),
	    cmocka_unit_test(test_no_headers),
	    cmocka_unit_test(test_records),
	    cmocka_unit_test(test_cases_are_complete),
	    cmocka_unit_test(test_padding),
	    cmocka_unit_test(test_cut_records),
	    cmocka_unit_test(test_unknown_kinds),
	    cmocka_unit_test(test_event_sizes),
	    cmocka_unit_test(test_end_of_buffer_is_read),
	    cmocka_unit_test(test_kind_names),
	    cmocka_unit_test(test_encode_limits),
	    cmocka_unit_test(test_encode_ids),
	    cmocka_unit_test(test_log_of_llvm),
	    cmocka_unit_test(test_logs_of_big_endian),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
