/* test_fxt_musts.c - what the document says of every record: bits that must be 0, zeros behind each text and payload,
 * texts in UTF-8. Each bit and byte is set in its turn, and a rule tells it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <trackway/trackway.h>

#include "base/bytes/bytes.h"

#include "suite.h"

enum {
	WORDS = 12,
	FIELDS = 2,
	STREAMS = 3,
	ROOM = 2048,
	MANY = 40 /* events in a row: records behind them are looked at before anything else is read of the archive */
};

/* Bits of a word that must be 0. */
struct field {
	unsigned word, low, high;
};

/* Bytes at a word and behind it, filled with zeros to the next word. */
struct stream {
	unsigned word, length;
	bool text;
};

#define HEADER(type, size) ((uint64_t)(type) | (uint64_t)(size) << 4)
#define EVENT(type, size, arguments)                                                                                   \
	(HEADER(4, size) | (uint64_t)(type) << 16 | (uint64_t)(arguments) << 20 | UINT64_C(0x0001000101000000))
#define INSTANT(size) EVENT(0, size, 1), 5 /* with an argument in its third word */
#define NAMED_1 (UINT64_C(1) << 16)        /* an argument's name */
#define INLINE(length) (UINT64_C(0x8000) | (length))

/* By the document; of the profiler records by the newest sources. A stream's words are filled by the test. */
static const struct must {
	const char *what;
	uint64_t words[WORDS];
	unsigned count;
	struct field zeros[FIELDS]; /* up to one of word 0, bits 0 to 0 */
	struct stream streams[STREAMS];
} musts[] = {
    {"provider info", {HEADER(0, 2) | 1 << 16 | 2 << 20 | UINT64_C(3) << 52}, 2, {{0, 60, 63}}, {{1, 3, true}}},
    {"provider section", {HEADER(0, 1) | 2 << 16 | 1 << 20}, 1, {{0, 52, 63}}, {{0}}},
    {"provider event", {HEADER(0, 1) | 3 << 16 | 1 << 20}, 1, {{0, 56, 63}}, {{0}}},
    {"initialization", {HEADER(1, 2), 1000000000}, 2, {{0, 16, 63}}, {{0}}},
    {"string", {HEADER(2, 2) | 3 << 16 | UINT64_C(3) << 32}, 2, {{0, 31, 31}, {0, 47, 63}}, {{1, 3, true}}},
    {"thread", {HEADER(3, 3) | 2 << 16, 1, 3}, 3, {{0, 24, 63}}, {{0}}},
    {"event with inline names",
     {HEADER(4, 4) | 1 << 24 | INLINE(3) << 32 | INLINE(5) << 48, 5},
     4,
     {{0}},
     {{2, 3, true}, {3, 5, true}}},
    {"null", {INSTANT(3), HEADER(0, 1) | NAMED_1}, 3, {{2, 32, 63}}, {{0}}},
    {"int32 with an inline name", {INSTANT(4), HEADER(1, 2) | INLINE(3) << 16}, 4, {{0}}, {{3, 3, true}}},
    {"uint32", {INSTANT(3), HEADER(2, 1) | NAMED_1}, 3, {{0}}, {{0}}},
    {"int64", {INSTANT(4), HEADER(3, 2) | NAMED_1, 7}, 4, {{2, 32, 63}}, {{0}}},
    {"uint64", {INSTANT(4), HEADER(4, 2) | NAMED_1, 7}, 4, {{2, 32, 63}}, {{0}}},
    {"double", {INSTANT(4), HEADER(5, 2) | NAMED_1, 7}, 4, {{2, 32, 63}}, {{0}}},
    {"string argument", {INSTANT(4), HEADER(6, 2) | NAMED_1 | INLINE(5) << 32}, 4, {{2, 48, 63}}, {{3, 5, true}}},
    {"pointer", {INSTANT(4), HEADER(7, 2) | NAMED_1, 7}, 4, {{2, 32, 63}}, {{0}}},
    {"koid", {INSTANT(4), HEADER(8, 2) | NAMED_1, 7}, 4, {{2, 32, 63}}, {{0}}},
    {"bool", {INSTANT(3), HEADER(9, 1) | NAMED_1 | UINT64_C(1) << 32}, 3, {{2, 33, 63}}, {{0}}},
    {"blob argument", {INSTANT(4), HEADER(10, 2) | NAMED_1 | UINT64_C(5) << 32}, 4, {{0}}, {{3, 5, false}}},
    {"blob",
     {HEADER(5, 3) | INLINE(3) << 16 | UINT64_C(5) << 32 | UINT64_C(1) << 48},
     3,
     {{0, 47, 47}, {0, 56, 63}},
     {{1, 3, true}, {2, 5, false}}},
    {"userspace object", {HEADER(6, 3) | 1 << 16 | INLINE(3) << 24, 7}, 3, {{0, 44, 63}}, {{2, 3, true}}},
    {"kernel object", {HEADER(7, 3) | 1 << 16 | INLINE(3) << 24, 7}, 3, {{0, 44, 63}}, {{2, 3, true}}},
    {"context switch", {HEADER(8, 4) | UINT64_C(1) << 60, 5, 1, 2}, 4, {{0, 40, 59}}, {{0}}},
    {"thread wake-up", {HEADER(8, 3) | UINT64_C(2) << 60, 5, 1}, 3, {{0, 36, 59}}, {{0}}},
    {"log", {HEADER(9, 3) | 3 << 16 | UINT64_C(1) << 32, 5}, 3, {{0, 31, 31}, {0, 40, 63}}, {{2, 3, true}}},
    {"module",
     {HEADER(10, 4) | 1 << 20 | UINT64_C(3) << 44 | UINT64_C(2) << 52, 5},
     4,
     {{0, 60, 63}},
     {{2, 3, true}, {3, 2, false}}},
    {"mmap", {HEADER(10, 5) | 1 << 16 | 1 << 20, 5, 1, 2, 3}, 5, {{0, 47, 63}}, {{0}}},
    {"large blob with metadata",
     {HEADER(15, 7), INLINE(3) | INLINE(5) << 16 | UINT64_C(1) << 36, 0, 0, 5, 6},
     7,
     {{0, 44, 63}, {1, 44, 63}},
     {{2, 3, true}, {3, 5, true}, {6, 6, false}}},
    {"large blob without",
     {HEADER(15, 6) | UINT64_C(1) << 40, INLINE(3) | INLINE(5) << 16, 0, 0, 6},
     6,
     {{0, 44, 63}, {1, 32, 63}},
     {{2, 3, true}, {3, 5, true}, {5, 6, false}}},
};

static uint8_t archive[ROOM];
static size_t size;
static bool big;
static unsigned before; /* events before the record */
static char found[4096];

static void put(uint64_t word)
{
	tw_store64(archive + size, word, big);
	size += 8;
}

static void put_text(const char *text)
{
	memset(archive + size, 0, 8);
	memcpy(archive + size, text, strlen(text));
	size += 8;
}

static void put_head(void)
{
	size = 0;
	put(0x0016547846040010);
	put(UINT64_C(0x0010000000110020)); /* provider 1 */
	put_text("p");
	put(HEADER(1, 2));
	put(1000000000);
	put(HEADER(2, 2) | 1 << 16 | UINT64_C(1) << 32); /* string 1 */
	put_text("a");
	put(HEADER(3, 3) | 1 << 16); /* thread 1 */
	put(1);
	put(2);
}

/* The record, and events behind it: what it breaks does not make it garbage. Returns where it is. */
static size_t put_record(const struct must *must)
{
	put_head();
	for (unsigned i = 0; i < before; i++) {
		put(EVENT(0, 2, 0));
		put(4);
	}
	size_t place = size;
	for (unsigned i = 0; i < must->count; i++)
		put(must->words[i]);
	for (unsigned i = 0; i < STREAMS && must->streams[i].word; i++) {
		memset(archive + place + (size_t)must->streams[i].word * 8, 0, 8);
		memset(archive + place + (size_t)must->streams[i].word * 8, 'x', must->streams[i].length);
	}
	for (unsigned i = 0; i < 4; i++) {
		put(EVENT(0, 2, 0));
		put(6 + i);
	}
	return place;
}

static void remember(void *context, const struct tw_finding *finding)
{
	size_t used = strlen(found);
	(void)context;
	snprintf(found + used, sizeof found - used, " %s@%u", finding->rule, (unsigned)finding->record);
}

static void read_all(bool findings_only)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	const struct tw_read_options options = {.checking = TW_CHECK_ALL,
	                                        .on_finding = remember,
	                                        .findings_only = findings_only,
	                                        .jobs = 1};
	*found = '\0';
	int status = tw_open_memory(&reader, "test", archive, size, &options);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		;
	assert_int_equal(status, 0);
	tw_close(reader);
}

/* A rule tells it, of that record, to who asks for events and to who does not; NULL: none of the three does. */
static void expect(const char *rule, const struct must *must, size_t place, unsigned word, unsigned bit)
{
	char wanted[64];
	for (unsigned i = 0; i < 2; i++) {
		read_all(i);
		snprintf(wanted, sizeof wanted, " %s@%zu", rule ? rule : "", place);
		bool there = rule ? strstr(found, wanted) != NULL
		                  : !strstr(found, "fxt.reserved") && !strstr(found, "fxt.padding") &&
		                        !strstr(found, "fxt.utf8");
		if (!there)
			fail_msg("%s, word %u, bit or byte %u: %s, not:%s", must->what, word, bit, rule ? rule : "none",
			         found);
	}
}

static void set_bits(const struct must *must)
{
	for (const struct field *zeros = must->zeros; zeros < must->zeros + FIELDS && zeros->high; zeros++)
		for (unsigned bit = zeros->low; bit <= zeros->high; bit++) {
			size_t place = put_record(must);
			uint8_t *word = archive + place + (size_t)zeros->word * 8;
			tw_store64(word, tw_load64(word, big) | UINT64_C(1) << bit, big);
			expect("fxt.reserved", must, place, zeros->word, bit);
		}
}

static void fill(const struct must *must)
{
	for (const struct stream *stream = must->streams; stream < must->streams + STREAMS && stream->word; stream++)
		for (unsigned byte = 0; byte < 8; byte++) {
			size_t place = put_record(must);
			bool padding = byte >= stream->length;
			archive[place + (size_t)stream->word * 8 + byte] = 0xff; /* never in UTF-8 */
			expect(padding        ? "fxt.padding"
			       : stream->text ? "fxt.utf8"
			                      : NULL,
			       must, place, stream->word, byte);
		}
}

static void test_all(void)
{
	for (unsigned order = 0; order < 2; order++)
		for (size_t i = 0; i < sizeof musts / sizeof *musts; i++) {
			big = order;
			expect(NULL, &musts[i], put_record(&musts[i]), 0, 0);
			set_bits(&musts[i]);
			fill(&musts[i]);
		}
}

static void test_musts(void **state)
{
	(void)state;
	before = 0;
	test_all();
}

static void test_musts_behind_many(void **state)
{
	(void)state;
	before = MANY;
	test_all();
}

SUITE(fxt_musts)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_musts),
	    cmocka_unit_test(test_musts_behind_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
