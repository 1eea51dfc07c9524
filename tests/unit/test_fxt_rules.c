/* test_fxt_rules.c - each rule of FXT archives, broken by an archive that is otherwise good. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <trackway/trackway.h>
#include <zlib.h>

#include "base/bytes/bytes.h"

#include "suite.h"

enum { WORDS = 24, ROOM = 1 << 20 };

/* Headers by the document's bits. */
#define HEADER(type, size) ((uint64_t)(type) | (uint64_t)(size) << 4)
#define EVENT(type, size, arguments)                                                                                   \
	(HEADER(4, size) | (uint64_t)(type) << 16 | (uint64_t)(arguments) << 20 | UINT64_C(0x0001000101000000))
#define NAMED(type, size, name) ((EVENT(type, size, 0) & UINT64_C(0x0000ffffffffffff)) | (uint64_t)(name) << 48)
#define STRING(index, length, size) (HEADER(2, size) | (uint64_t)(index) << 16 | (uint64_t)(length) << 32)
#define MAGIC UINT64_C(0x0016547846040010)
#define INFO UINT64_C(0x0010000000110020), UINT64_C(0x70) /* provider 1, "p" */
#define SECOND UINT64_C(1000000000)
#define BEFORE MAGIC, INFO, HEADER(1, 2), SECOND
#define STRING_A STRING(1, 1, 2), 0x61
#define STRING_B STRING(2, 1, 2), 0x62
#define THREAD_1 HEADER(3, 3) | 1 << 16, 1, 2
#define GOOD BEFORE, STRING_A, STRING_B, THREAD_1
#define INSTANT EVENT(0, 2, 0), 5
#define INSTANTS INSTANT, INSTANT, INSTANT

static const struct {
	const char *rule;
	uint64_t words[WORDS]; /* after GOOD; up to the last that is not 0 */
} cases[] = {
    {"fxt.zero-size-record", {INSTANT, 0, INSTANTS}},
    {"fxt.garbage", {INSTANT, UINT64_C(0xfffffffffffffffb), INSTANTS}},
    {"fxt.record-broken", {EVENT(0, 2, 1), 5, INSTANTS}},
    {"fxt.record-truncated", {INSTANT, STRING(3, 16, 3), 0x6161616161616161}},
    {"fxt.second-archive", {MAGIC, INFO}},
    {"fxt.record-type", {HEADER(11, 1)}},
    {"fxt.metadata-type", {HEADER(0, 1) | 7 << 16}},
    {"fxt.event-type", {EVENT(12, 2, 0), 5}},
    {"fxt.scheduling-type", {HEADER(8, 1) | UINT64_C(7) << 60}},
    {"fxt.profiler-type", {HEADER(10, 1) | 5 << 16}},
    {"fxt.large-type", {HEADER(15, 1) | UINT64_C(3) << 36}},
    {"fxt.large-format", {HEADER(15, 1) | UINT64_C(2) << 40}},
    {"fxt.trace-info", {HEADER(0, 1) | 4 << 16 | 3 << 20}},
    {"fxt.argument-type", {EVENT(0, 3, 1), 5, HEADER(14, 1) | 1 << 16}},
    {"fxt.trailing-words", {EVENT(4, 4, 0), 5, 6, 7}},
    {"fxt.trailing-words", {EVENT(0, 4, 1), 5, HEADER(1, 2) | 1 << 16, 'a'}},
    {"fxt.trailing-words", {EVENT(0, 5, 1), 5, HEADER(6, 3) | 1 << 16 | UINT64_C(0x8001) << 32, 'a', 'a'}},
    {"fxt.reserved", {HEADER(3, 3) | 2 << 16 | UINT64_C(1) << 40, 1, 3}},
    {"fxt.padding", {STRING(3, 1, 2), 0x6161}},
    {"fxt.utf8", {STRING(3, 1, 2), 0xff}},
    {"fxt.utf8", {NAMED(0, 3, 0x8001), 5, 0xff}},
    {"fxt.string-undefined", {NAMED(0, 2, 9), 5}},
    {"fxt.string-index-zero", {STRING(0, 1, 2), 0x61}},
    {"fxt.string-replaced", {STRING(1, 1, 2), 0x63}},
    {"fxt.thread-undefined", {EVENT(0, 2, 0) | 8 << 24, 5}},
    {"fxt.thread-index-zero", {HEADER(3, 3), 1, 2}},
    {"fxt.thread-replaced", {HEADER(3, 3) | 1 << 16, 1, 9}},
    {"fxt.provider-unknown", {HEADER(0, 1) | 2 << 16 | 5 << 20}},
    {"fxt.provider-again", {INFO}},
    {"fxt.provider-event", {HEADER(0, 1) | 3 << 16 | 1 << 20 | UINT64_C(7) << 52}},
    {"fxt.records-dropped", {HEADER(0, 1) | 3 << 16 | 1 << 20}},
    {"fxt.frequency-zero", {HEADER(1, 2), 0, INSTANT}},
    {"fxt.initialization-again", {HEADER(1, 2), 7}},
    {"fxt.initialization-base", {HEADER(1, 4), SECOND, 1, 1}},
    {"fxt.time-overflow", {HEADER(1, 2), 1, EVENT(2, 2, 0), UINT64_MAX}},
    {"fxt.scope", {EVENT(0, 3, 0), 5, 3}},
    {"fxt.end-before-start", {EVENT(4, 3, 0), 10, 5}},
    {"fxt.end-before-start", {HEADER(1, 2), 100 * SECOND, EVENT(4, 3, 0), 10, 9}}, /* within a nanosecond */
    {"fxt.counter-empty", {EVENT(1, 3, 0), 5, 1}},
    {"fxt.counter-value", {EVENT(1, 4, 1), 5, HEADER(0, 1) | 1 << 16, 1}},
    {"fxt.counter-value", {EVENT(1, 4, 1), 5, HEADER(6, 1) | 1 << 16 | UINT64_C(1) << 32, 1}},
    {"fxt.counter-value", {EVENT(1, 5, 1), 5, HEADER(7, 2) | 1 << 16, 9, 1}},
    {"fxt.counter-value", {EVENT(1, 5, 1), 5, HEADER(8, 2) | 1 << 16, 9, 1}},
    {"fxt.counter-value", {EVENT(1, 4, 1), 5, HEADER(9, 1) | 1 << 16, 1}},
    {"fxt.counter-value", {EVENT(1, 4, 1), 5, HEADER(10, 1) | 1 << 16, 1}},
    {"fxt.thread-state", {HEADER(8, 4) | UINT64_C(6) << 36 | UINT64_C(1) << 60, 5, 2, 3}},
    {"fxt.thread-state", {HEADER(8, 2) | 6 << 24 | 1 << 28 | UINT64_C(1) << 36, 5}},
    {"fxt.thread-state", {HEADER(8, 2) | 1 << 24 | 1 << 28 | UINT64_C(1) << 36, 5}},
    {"fxt.blob-type", {HEADER(5, 1) | 1 << 16 | UINT64_C(4) << 48}},
    {"fxt.blob-type", {HEADER(5, 1) | 1 << 16}},
    {"fxt.thread-process", {HEADER(7, 2) | 2 << 16 | 1 << 24, 77}},
    {"fxt.thread-process", {HEADER(7, 4) | 2 << 16 | 1 << 24 | UINT64_C(1) << 40, 77, HEADER(4, 2) | 1 << 16, 1}},
    {"fxt.end-without-begin", {EVENT(3, 2, 0), 5}},
    {"fxt.end-mismatched", {EVENT(2, 2, 0), 5, NAMED(2, 2, 2), 6, EVENT(3, 2, 0), 7}},
    {"fxt.begin-without-end", {EVENT(2, 2, 0), 5}},
    {"fxt.slices-overlap", {EVENT(4, 3, 0), 5, 1100, EVENT(4, 3, 0), 1098, 1102}},
    {"fxt.slices-overlap",
     {EVENT(4, 3, 0), 5, 1100, EVENT(4, 3, 0), 10, 20, EVENT(4, 3, 0), 30, 40, EVENT(4, 3, 0), 50, 1102}},
    {"fxt.slices-overlap",
     {EVENT(4, 3, 0), 50, 1100, EVENT(4, 3, 0), 10, 60}}, /* the later one stands first, as damage may have it */
    {"fxt.slices-overlap",
     {EVENT(4, 3, 0), 5, 1100, EVENT(4, 5, 1), 90, HEADER(6, 2) | 1 << 16 | UINT64_C(0x8001) << 32, 'a', 1110}},
    {"fxt.slices-overlap", /* a begin and an end over the end of a complete slice, and over its begin */
     {EVENT(4, 3, 0), 5, 1100, EVENT(2, 2, 0), 1000, EVENT(3, 2, 0), 1102}},
    {"fxt.slices-overlap",
     {EVENT(4, 3, 0), 5, 1100, EVENT(2, 2, 0), 1050, EVENT(4, 3, 0), 1110, 1120, EVENT(3, 2, 0), 1110}},
    {"fxt.slices-overlap",
     {EVENT(2, 2, 0), 5, EVENT(4, 3, 0), 10, 1100, EVENT(3, 2, 0), 1000, EVENT(2, 2, 0), 1110, EVENT(3, 2, 0), 1120}},
    {"fxt.async-shared-key", /* once for the thread */
     {EVENT(5, 3, 0), 5, 1, EVENT(5, 3, 0), 6, 1, EVENT(5, 3, 0), 7, 1, EVENT(7, 3, 0), 8, 1, EVENT(7, 3, 0), 8, 1,
      EVENT(7, 3, 0), 9, 1}},
    {"fxt.async-without-begin", {EVENT(7, 3, 0), 5, 1}},
    {"fxt.async-without-begin", {EVENT(5, 3, 0), 5, 1, EVENT(6, 3, 0), 6, 2, EVENT(7, 3, 0), 7, 1}},
    {"fxt.async-without-end", {EVENT(5, 3, 0), 5, 1}},
    {"fxt.flow-without-begin", {EVENT(9, 3, 0), 5, 1}},
    {"fxt.flow-without-end", {EVENT(8, 3, 0), 5, 1}},
};

/* Nothing to remark: what pairs, pairs. An end without a name ends the innermost. */
static const uint64_t fine[] = {
    GOOD,
    HEADER(8, 4) | UINT64_C(1) << 36 | UINT64_C(1) << 60, /* a thread that could go on leaves its CPU */
    4,
    2,
    3,
    EVENT(2, 2, 0),
    5,
    EVENT(4, 3, 0), /* a complete slice around those with a begin and an end, and one inside */
    5,
    20,
    NAMED(2, 2, 2),
    6,
    EVENT(4, 3, 0),
    6,
    7,
    NAMED(3, 2, 0),
    7,
    EVENT(3, 2, 0),
    8,
    EVENT(5, 3, 0),
    8,
    1,
    EVENT(5, 3, 0),
    9,
    2,
    EVENT(7, 3, 0),
    10,
    1,
    EVENT(6, 3, 0),
    11,
    2,
    EVENT(7, 3, 0),
    12,
    2,
    EVENT(8, 3, 0),
    13,
    1,
    EVENT(9, 3, 0),
    14,
    1,
    EVENT(10, 3, 0),
    15,
    1,
};

/* Complete slices that nest, but for 1 ns of rounding: the one around them last, and first. */
#define NESTED                                                                                                         \
	EVENT(4, 3, 0), 1100, 1200, EVENT(4, 3, 0), 1199, 1300, EVENT(4, 3, 0), 1310, 1320, EVENT(4, 3, 0), 1330,      \
	    1340, EVENT(4, 3, 0), 1305, 1350, EVENT(4, 3, 0), 1400, 1500, EVENT(4, 3, 0), 1410, 1420, EVENT(4, 3, 0),  \
	    1430, 1440, EVENT(4, 3, 0), 1450, 1501

/* The last values that are right. */
static const uint64_t limits[] = {
    GOOD,
    NESTED,
    HEADER(8, 4) | UINT64_C(5) << 36 | UINT64_C(1) << 60,
    4,
    2,
    3,
    HEADER(8, 2) | 5 << 24 | 1 << 28 | UINT64_C(1) << 36,
    5,
    EVENT(0, 3, 0),
    5,
    0,
    EVENT(0, 3, 0),
    5,
    2,
    EVENT(4, 3, 0),
    5,
    5,
    EVENT(1, 11, 5),
    5,
    HEADER(1, 1) | 1 << 16,
    HEADER(2, 1) | 1 << 16,
    HEADER(3, 2) | 1 << 16,
    7,
    HEADER(4, 2) | 1 << 16,
    7,
    HEADER(5, 2) | 1 << 16,
    0,
    1,
    HEADER(5, 1) | 1 << 16 | UINT64_C(1) << 48,
    HEADER(5, 1) | 1 << 16 | UINT64_C(3) << 48,
    HEADER(7, 2) | 1 << 16 | 1 << 24,
    76,
    HEADER(7, 2) | 3 << 16 | 1 << 24,
    78,
    HEADER(7, 6) | 2 << 16 | 1 << 24 | UINT64_C(2) << 40,
    77,
    HEADER(8, 2) | 1 << 16,
    1,
    HEADER(4, 2) | 1 << 16,
    1,
    STRING(0x7fff, 1, 2),
    0x61,
    HEADER(3, 3) | 255 << 16,
    1,
    3,
    NAMED(0, 2, 0x7fff) | UINT64_C(255) << 24,
    6,
};

static uint8_t bytes[ROOM];
static char found[4096];
static uint64_t digest; /* of what was found, and where */

static void remember(void *context, const struct tw_finding *finding)
{
	size_t used = strlen(found);
	(void)context;
	assert_true(strlen(finding->text) > 0);
	digest = (digest + finding->record) * UINT64_C(0xd6e8feb86659fd93);
	for (const char *c = finding->text; *c; c++)
		digest = digest * 31 + (uint8_t)*c;
	snprintf(found + used, sizeof found - used, " %s", finding->rule);
}

static void read_all(const uint8_t *archive, size_t size, struct tw_read_options options)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	options.checking = TW_CHECK_ALL;
	options.on_finding = remember;
	options.jobs = 1;
	*found = '\0';
	digest = 0;
	int status = tw_open_memory(&reader, "test", archive, size, &options);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		;
	assert_int_equal(status, 0);
	tw_close(reader);
}

/* Who asks for findings alone has the same ones: they are found another way. */
static const char *check(const uint8_t *archive, size_t size, struct tw_read_options options)
{
	char with_events[sizeof found];
	read_all(archive, size, options);
	memcpy(with_events, found, sizeof found);
	uint64_t digest_with_events = digest;
	options.findings_only = true;
	read_all(archive, size, options);
	assert_string_equal(found, with_events);
	assert_int_equal(digest, digest_with_events);
	return found;
}

/* Puts words at the end of the archive. Texts are the same in both orders; here they are all words of one byte that is a
 * letter or no ASCII. */
static size_t put_words(size_t size, const uint64_t *words, size_t count, bool big)
{
	for (size_t i = 0; i < count; i++, size += 8)
		tw_store64(bytes + size, words[i], big && (words[i] < 'a' || words[i] > UINT8_MAX));
	return size;
}

static size_t put(const uint64_t *words, size_t count, bool big)
{
	return put_words(0, words, count, big);
}

static void require(const char *rule, const char *where)
{
	char wanted[80];
	snprintf(wanted, sizeof wanted, " %s", rule);
	if (!strstr(found, wanted))
		fail_msg("%s: wanted%s, found%s", where, wanted, found);
}

static void test_each_rule_broken(void **state)
{
	static const uint64_t good[] = {GOOD};
	enum { GOOD_WORDS = sizeof good / sizeof *good };
	(void)state;
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		uint64_t words[GOOD_WORDS + WORDS];
		size_t count = GOOD_WORDS + WORDS;
		memcpy(words, good, sizeof good);
		memcpy(words + GOOD_WORDS, cases[i / 2].words, sizeof cases->words);
		while (words[count - 1] == 0)
			count--;
		check(bytes, put(words, count, i & 1), (struct tw_read_options){0});
		require(cases[i / 2].rule, i & 1 ? "big endian" : "little endian");
	}
}

static void test_fine_records_break_no_rule(void **state)
{
	(void)state;
	for (unsigned order = TW_ORDER_TRACK; order <= TW_ORDER_FILE; order++)
		assert_string_equal(check(bytes, put(fine, sizeof fine / sizeof *fine, order & 1),
		                          (struct tw_read_options){.order = (enum tw_order)order}),
		                    "");
	for (unsigned big = 0; big < 2; big++)
		assert_string_equal(check(bytes, put(limits, sizeof limits / sizeof *limits, big),
		                          (struct tw_read_options){0}),
		                    "");
}

static void test_beginnings(void **state)
{
	static const uint64_t no_magic[] = {INFO, HEADER(1, 2), SECOND, STRING_A, THREAD_1, INSTANT};
	static const uint64_t no_provider[] = {MAGIC, HEADER(1, 2), SECOND, STRING_A, THREAD_1, INSTANT};
	static const uint64_t no_clock[] = {MAGIC, INFO, STRING_A, THREAD_1, INSTANT, INSTANT};
	(void)state;
	check(bytes, put(no_magic, sizeof no_magic / 8, true), (struct tw_read_options){0});
	assert_string_equal(found, " fxt.magic-missing");
	check(bytes, put(no_provider, sizeof no_provider / 8, false), (struct tw_read_options){0});
	assert_string_equal(found, " fxt.provider-missing");
	check(bytes, put(no_clock, sizeof no_clock / 8, false), (struct tw_read_options){0});
	assert_string_equal(found, " fxt.initialization-missing");
}

static void test_long_string(void **state)
{
	static const uint64_t head[] = {GOOD, STRING(3, 32001, 4002)};
	(void)state;
	size_t size = put(head, sizeof head / 8, false);
	memset(bytes + size, 0, 4001 * 8);
	memset(bytes + size, 'x', 32001);
	check(bytes, size + 4001 * 8, (struct tw_read_options){0});
	assert_string_equal(found, " fxt.string-too-long");
	tw_store64(bytes + size - 8, STRING(3, 32000, 4001), false);
	check(bytes, size + 4000 * 8, (struct tw_read_options){0});
	assert_string_equal(found, "");
}

/* Reads an archive whose first event is of tick 1, in order. */
static void expect_in_order(size_t size)
{
	const struct tw_read_options options = {.order = TW_ORDER_TIME, .reorder_window = 1, .jobs = 1};
	struct tw_reader *reader;
	struct tw_batch batch;
	uint64_t last = 1, events = 0;
	assert_int_equal(tw_open_memory(&reader, "test", bytes, size, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++, events++) {
			assert_in_range(batch.events[i].time, last, 1000);
			last = batch.events[i].time;
		}
	assert_int_equal(events, (size - sizeof(uint64_t[]){GOOD}) / 16);
	assert_int_equal(tw_reader_clock(reader)->start_ns, 1);
	tw_close(reader);
}

/* The window is a chunk; what comes after two of them is late, but in order. */
static void test_late(void **state)
{
	static const uint64_t head[] = {GOOD};
	static const uint64_t slice[] = {EVENT(2, 2, 0), 1000, EVENT(3, 2, 0), 1000};
	static const uint64_t early[] = {EVENT(2, 2, 0), 1, EVENT(3, 2, 0), 2};
	(void)state;
	size_t size = put(head, sizeof head / 8, false);
	for (; size < ROOM - 64; size += sizeof slice)
		for (size_t i = 0; i < 4; i++)
			tw_store64(bytes + size + 8 * i, slice[i], false);
	for (size_t i = 0; i < 4; i++)
		tw_store64(bytes + size + 8 * i, early[i], false);
	check(bytes, size + sizeof early, (struct tw_read_options){.order = TW_ORDER_TIME, .reorder_window = 1});
	assert_string_equal(found, "");
	expect_in_order(size + sizeof early);
}

/* An operation ends before it begins, as the order of time tells; the record of its end comes late, behind the begin. */
static void test_late_end(void **state)
{
	static const uint64_t head[] = {GOOD, EVENT(5, 3, 0), 1000, 7}, end[] = {EVENT(7, 3, 0), 1, 7};
	static const uint64_t instant[] = {EVENT(0, 2, 0), 1000};
	(void)state;
	size_t size = put(head, sizeof head / 8, false);
	while (size < ROOM - 64)
		size = put_words(size, instant, 2, false);
	size = put_words(size, end, 3, false);
	check(bytes, size, (struct tw_read_options){.order = TW_ORDER_TIME, .reorder_window = 1});
	assert_string_equal(found, " fxt.async-without-begin fxt.async-without-end");
}

/* Puts words at the end of the archive, and behind them instants of a time up to where a chunk ends. */
static size_t put_chunk(size_t size, const uint64_t *words, size_t count, uint64_t time, bool big)
{
	enum { CHUNK = 1 << 18 };
	const uint64_t instant[] = {EVENT(0, 2, 0), time};
	size = put_words(size, words, count, big);
	while (size % CHUNK)
		size = put_words(size, instant, 2, big);
	return size;
}

/* The same where records are taken in one go that nothing depends on: behind others, in a chunk of their own. */
static void test_cases_in_chunk(void **state)
{
	static const uint64_t good[] = {GOOD}, instants[] = {INSTANTS, INSTANTS, INSTANTS};
	(void)state;
	for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
		size_t count = WORDS;
		while (cases[i / 2].words[count - 1] == 0)
			count--;
		size_t size = put_chunk(0, good, sizeof good / 8, 5, i & 1);
		size = put_words(size, instants, sizeof instants / 8, i & 1);
		size = put_words(size, instants, sizeof instants / 8, i & 1);
		check(bytes, put_words(size, cases[i / 2].words, count, i & 1), (struct tw_read_options){0});
		require(cases[i / 2].rule, i & 1 ? "big endian" : "little endian");
	}
}

/* ---- What a recorder lost: doc/recording.md, "In the archive". ---- */

/* "bytes_overwritten", "events_dropped", "events_cut", "scopes_unkept" */
#define OVERWRITTEN_TEXT UINT64_C(0x766f5f7365747962), UINT64_C(0x6574746972777265), UINT64_C(0x6e)
#define DROPPED_TEXT UINT64_C(0x645f73746e657665), UINT64_C(0x646570706f72)
#define CUT_TEXT UINT64_C(0x635f73746e657665), UINT64_C(0x7475)
#define DEEP_TEXT UINT64_C(0x755f7365706f6373), UINT64_C(0x7470656b6e)
#define OBJECT(type, size, arguments) (HEADER(7, size) | (type) << 16 | 1 << 24 | UINT64_C(arguments) << 40)
#define FULL(provider) (HEADER(0, 1) | 3 << 16 | (provider) << 20)
#define RING OBJECT(1, 7, 1), 70, HEADER(4, 5) | UINT64_C(0x8011) << 16, OVERWRITTEN_TEXT, 4096
#define DROPS OBJECT(1, 6, 1), 70, HEADER(4, 4) | UINT64_C(0x800e) << 16, DROPPED_TEXT, 3
#define OF_THREAD                                                                                                      \
	OBJECT(2, 8, 2), 71, HEADER(8, 2) | 1 << 16, 70, HEADER(4, 4) | UINT64_C(0x800e) << 16, DROPPED_TEXT, 2
#define BOTH                                                                                                           \
	OBJECT(1, 11, 2), 70, HEADER(4, 4) | UINT64_C(0x800e) << 16, DROPPED_TEXT, 3,                                  \
	    HEADER(4, 5) | UINT64_C(0x8011) << 16, OVERWRITTEN_TEXT, 4096
#define CUT_AND_DEEP                                                                                                   \
	OBJECT(1, 10, 2), 70, HEADER(4, 4) | UINT64_C(0x800a) << 16, CUT_TEXT, 5,                                      \
	    HEADER(4, 4) | UINT64_C(0x800d) << 16, DEEP_TEXT, 9
#define BY_REFERENCE                                                                                                   \
	STRING(3, 17, 4), OVERWRITTEN_TEXT, OBJECT(1, 3, 1), 70, HEADER(2, 1) | 3 << 16 | UINT64_C(4096) << 32

/* A provider event behind what a ring overwrote says nothing more: that is no warning. */
static void test_losses(void **state)
{
	static const struct {
		uint64_t words[WORDS];
		const char *found;
	} losses[] = {
	    {{RING, FULL(1)}, " fxt.image-overwritten"},
	    {{BY_REFERENCE, FULL(1)}, " fxt.image-overwritten"},
	    {{RING, INSTANTS, FULL(1)}, " fxt.image-overwritten"},
	    {{RING, FULL(1), FULL(1)}, " fxt.image-overwritten fxt.records-dropped"},
	    {{RING, FULL(2)}, " fxt.image-overwritten fxt.records-dropped"},
	    {{RING, DROPS, FULL(1)}, " fxt.image-overwritten fxt.image-dropped fxt.records-dropped"},
	    {{CUT_AND_DEEP}, " fxt.image-cut fxt.scopes-unkept"},
	    {{RING, CUT_AND_DEEP, FULL(1)}, " fxt.image-overwritten fxt.image-cut fxt.scopes-unkept"},
	    {{BOTH, FULL(1)}, " fxt.image-dropped fxt.image-overwritten fxt.records-dropped"},
	    {{DROPS, OF_THREAD, FULL(1)}, " fxt.image-dropped fxt.thread-dropped fxt.records-dropped"},
	};
	static const uint64_t good[] = {GOOD};
	(void)state;
	for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
		size_t count = WORDS;
		while (losses[i].words[count - 1] == 0)
			count--;
		size_t size = put(good, sizeof good / 8, false);
		check(bytes, put_words(size, losses[i].words, count, false), (struct tw_read_options){0});
		assert_string_equal(found, losses[i].found);
	}
}

/* A pair that began before another one, of the same thread, though its record comes later: of the chunk before, and behind
 * a pair that is inside a third one. */
static void test_late_in_chunk(void **state)
{
	enum { CHUNK = 1 << 18 };
	static const uint64_t good[] = {GOOD, EVENT(0, 3, 0), 5, 1}, instant[] = {INSTANT};
	static const uint64_t begin[] = {EVENT(2, 2, 0), 300}, ends[] = {EVENT(3, 2, 0), 500, EVENT(3, 2, 0), 600};
	static const uint64_t pair[] = {EVENT(2, 2, 0), 100, NAMED(2, 2, 2), 200, NAMED(3, 2, 2), 400};
	(void)state;
	for (unsigned behind = 0; behind < 2; behind++) {
		size_t size = put(good, sizeof good / 8, false);
		while (size % CHUNK != CHUNK - 8)
			size = put_words(size, instant, 2, false);
		size = put_words(size, behind ? instant : begin, 2, false);
		for (unsigned i = 0; i < 20; i++)
			size = put_words(size, instant, 2, false);
		size = put_words(size, pair, 6, false);
		size = behind ? put_words(size, begin, 2, false) : size;
		check(bytes, put_words(size, ends, 4, false), (struct tw_read_options){0});
		assert_string_equal(found, " fxt.end-mismatched fxt.end-without-begin");
	}
}

static void test_overflow_in_chunk(void **state)
{
	static const uint64_t good[] = {MAGIC, INFO, HEADER(1, 2), 1, STRING_A, STRING_B, THREAD_1};
	static const uint64_t instants[] = {INSTANTS, INSTANTS, INSTANTS, INSTANTS, INSTANTS, INSTANTS};
	static const uint64_t far[] = {EVENT(0, 2, 0), UINT64_C(1) << 62, INSTANT};
	(void)state;
	size_t size = put_chunk(0, good, sizeof good / 8, 5, false);
	size = put_words(size, instants, sizeof instants / 8, false);
	check(bytes, put_words(size, far, sizeof far / 8, false), (struct tw_read_options){0});
	assert_string_equal(found, " fxt.time-overflow");
}

/* A duration that begins and ends in one chunk, and another one of the thread, in the next chunks, between: whether the
 * first has begun by the time that the other comes or not, depends on the window. */
static void test_overtaken(void **state)
{
	enum { OTHER = 1 << 24 }; /* thread 2 instead of 1 */
	static const uint64_t head[] = {
	    GOOD, HEADER(3, 3) | 2 << 16, 1,   3, EVENT(0, 3, 0), 10, 0, EVENT(2, 2, 0) + OTHER,
	    100,  EVENT(3, 2, 0) + OTHER, 5000};
	static const uint64_t pair[] = {EVENT(2, 2, 0), 50, EVENT(3, 2, 0), SECOND};
	static const uint64_t begin[] = {NAMED(2, 2, 2), 6000}, end[] = {NAMED(3, 2, 2), 2 * SECOND};
	static const uint64_t inside[] = {NAMED(2, 2, 2), 6000, NAMED(3, 2, 2), 7000};
	static const uint64_t across[] = {NAMED(2, 2, 2), 6000, NAMED(3, 2, 2), 2 * SECOND};
	static const uint64_t windows[] = {1 << 19, 1 << 20};
	(void)state;
	for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
		const struct tw_read_options options = {.order = TW_ORDER_TIME, .reorder_window = windows[i]};
		size_t two =
		    put_chunk(put_chunk(0, head, sizeof head / 8, 5000, false), pair, sizeof pair / 8, 5000, false);
		size_t three = put_chunk(two, begin, sizeof begin / 8, 6000, false);
		put_chunk(three, end, sizeof end / 8, 7000, false);
		check(bytes, three + sizeof end, options);
		assert_string_equal(found, " fxt.end-mismatched fxt.end-without-begin");
		put_chunk(two, inside, sizeof inside / 8, 7000, false);
		check(bytes, three, options);
		assert_string_equal(found, "");
		put_chunk(two, across, sizeof across / 8, 7000, false);
		check(bytes, three, options);
		assert_string_equal(found, " fxt.end-mismatched fxt.end-without-begin");
	}
}

/* ---- Archives by chance. ---- */

/* What at times is not as it should be. */
enum error { NO_ERROR, TIME, NAME, THREAD, SCOPE, COUNTER, COMPLETE, SWITCH, SOME_STRING, OTHER_STRING, ERRORS };

/* The threads of an archive and their durations. */
struct chance {
	uint64_t state, time;
	enum error error;
	struct {
		uint8_t names[100];
		unsigned depth;
	} threads[4];
};

static uint32_t draw(struct chance *chance, uint32_t below)
{
	chance->state = chance->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(((chance->state >> 32) * below) >> 32);
}

static bool errs(struct chance *chance, enum error error)
{
	enum { SELDOM = 3000 };
	return error == chance->error && draw(chance, SELDOM) == 0;
}

static uint64_t advance(struct chance *chance)
{
	chance->time += draw(chance, 100);
	return errs(chance, TIME) ? chance->time - draw(chance, 1000) : chance->time;
}

/* Threads go down and up again, at times deep. */
static size_t put_duration(struct chance *chance, size_t size, unsigned thread)
{
	enum { DEEP = 100, USUAL = 8, PHASE = 20000, OFTEN = 8 };
	bool deep = chance->time / PHASE % OFTEN == 0;
	unsigned depth = chance->threads[thread].depth, limit = deep ? DEEP : USUAL;
	bool begins = depth == 0 || (depth < limit && draw(chance, deep ? 4 : 2));
	uint8_t *name = &chance->threads[thread].names[begins ? depth : depth - 1];
	chance->threads[thread].depth += begins ? 1u : UINT_MAX;
	if (begins)
		*name = (uint8_t)(1 + draw(chance, 2));
	unsigned shown = errs(chance, NAME) ? draw(chance, 4) : *name;
	const uint64_t words[] = {NAMED(begins ? 2 : 3, 2, shown) + (uint64_t)thread * (1 << 24), advance(chance)};
	return put_words(size, words, 2, false);
}

/* What is no duration: an instant, a counter, a complete duration, operations, a flow, a switch, a string. */
static size_t put_other(struct chance *chance, size_t size, unsigned thread)
{
	const uint64_t time = advance(chance), on = (uint64_t)thread * (1 << 24), id = draw(chance, 3);
	const struct {
		uint64_t words[6];
		size_t count;
	} others[] = {
	    {{EVENT(0, 2, 0) + on, time}, 2},
	    {{EVENT(0, 3, 0) + on, time, errs(chance, SCOPE) ? 3 : id}, 3},
	    {{EVENT(1, 4, 1) + on, time, HEADER(errs(chance, COUNTER) ? 9 : 1, 1) | 1 << 16, id}, 4},
	    {{EVENT(4, 3, 0) + on, time, errs(chance, COMPLETE) ? 1 : time + id}, 3},
	    {{EVENT(4, 5, 1) + on, time, HEADER(6, 2) | 1 << 16 | UINT64_C(0x8001) << 32, 'a', time + id}, 5},
	    {{EVENT(5 + id, 3, 0) + on, time, id}, 3},
	    {{EVENT(8 + id, 3, 0) + on, time, id}, 3},
	    {{HEADER(8, 4) | (errs(chance, SWITCH) ? UINT64_C(9) : 1 + id) << 36 | UINT64_C(1) << 60, time, 2, 3}, 4},
	    {{STRING(1 + id, 1, 2), 'a' + (chance->error == OTHER_STRING ? id + 1 : id)}, 2},
	};
	bool string = errs(chance, SOME_STRING) || errs(chance, OTHER_STRING);
	size_t which = string ? 8 : draw(chance, 8);
	return put_words(size, others[which].words, others[which].count, false);
}

/* However records follow one another, they have the same findings for who asks for events. */
static void test_chance(void **state)
{
	static const uint64_t head[] = {GOOD, HEADER(3, 3) | 2 << 16, 1, 3, HEADER(3, 3) | 3 << 16, 1, 4};
	(void)state;
	for (uint32_t i = 0; i < 2 * ERRORS; i++) {
		struct chance chance = {.state = i, .time = 1000, .error = (enum error)(i % ERRORS)};
		size_t size = put(head, sizeof head / 8, false);
		while (size < ROOM - 64) {
			unsigned thread = errs(&chance, THREAD) ? draw(&chance, 4) : 1 + draw(&chance, 2);
			size =
			    draw(&chance, 2) ? put_duration(&chance, size, thread) : put_other(&chance, size, thread);
		}
		check(bytes, size,
		      (struct tw_read_options){.order = TW_ORDER_TIME, .reorder_window = i < ERRORS ? 1 << 19 : 1});
	}
}

/* A text may hold what looks like records in a row, here ends of durations that have not begun. */
static void test_records_in_texts(void **state)
{
	enum { LENGTH = 24000, WORDS_OF_TEXT = LENGTH / 8 };
	static const uint64_t good[] = {GOOD}, end[] = {EVENT(3, 2, 0), 5}, instants[] = {INSTANTS, INSTANTS};
	static const uint64_t event[] = {EVENT(0, 3 + WORDS_OF_TEXT, 1), 5,
	                                 HEADER(6, 1 + WORDS_OF_TEXT) | 1 << 16 | (UINT64_C(0x8000) | LENGTH) << 32};
	(void)state;
	size_t size = put(good, sizeof good / 8, false);
	while (size + 4 * sizeof instants + sizeof event + LENGTH <= ROOM) {
		for (unsigned i = 0; i < 4; i++)
			size = put_words(size, instants, sizeof instants / 8, false);
		size = put_words(size, event, sizeof event / 8, false);
		for (unsigned i = 0; i < WORDS_OF_TEXT; i += 2)
			size = put_words(size, end, sizeof end / 8, false);
	}
	check(bytes, size, (struct tw_read_options){0});
	assert_string_equal(found, "");
}

/* The last nanosecond is a time as any other. */
static void test_no_overflow(void **state)
{
	static const uint64_t words[] = {GOOD, HEADER(1, 2), 1000000000, EVENT(2, 2, 0), UINT64_MAX};
	(void)state;
	check(bytes, put(words, sizeof words / 8, false), (struct tw_read_options){0});
	assert_null(strstr(found, "fxt.time-overflow"));
}

/* A time that is beyond 64 bits changes none of those before it. */
static void test_overflow(void **state)
{
	static const uint64_t words[] = {
	    GOOD, HEADER(1, 2), 1, EVENT(2, 2, 0), 5, EVENT(0, 2, 0), UINT64_C(1) << 62, EVENT(3, 2, 0), 6};
	static const uint64_t times[] = {5000000000, UINT64_MAX, 6000000000};
	struct tw_reader *reader;
	struct tw_batch batch;
	(void)state;
	size_t size = put(words, sizeof words / 8, false), seen = 0;
	check(bytes, size, (struct tw_read_options){0});
	require("fxt.time-overflow", "at 1 Hz");
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .jobs = 1};
	assert_int_equal(tw_open_memory(&reader, "test", bytes, size, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++)
			if (batch.events[i].time >= times[0])
				assert_int_equal(batch.events[i].time, times[seen++]);
	assert_int_equal(seen, 3);
	tw_close(reader);
}

/* The span goes up to it. */
static void test_overflow_span(void **state)
{
	static const uint64_t words[] = {GOOD, HEADER(1, 2), 1, EVENT(2, 2, 0), 5, EVENT(3, 2, 0), UINT64_C(1) << 62};
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .jobs = 1};
	struct tw_reader *reader;
	struct tw_info info;
	(void)state;
	size_t size = put(words, sizeof words / 8, false);
	assert_int_equal(tw_open_memory(&reader, "test", bytes, size, &options), 0);
	assert_int_equal(tw_read_info(reader, 1, &info), 0);
	assert_int_equal(info.clock_start_ns + info.span_ns, UINT64_MAX);
	assert_int_equal(info.threads[0].end_ns, info.span_ns);
	tw_close(reader);
}

/* The newest sources of Fuchsia give the process of a mapping alone, older ones that and a thread: five words behind the
 * header, or six. info counts the thread where one is told. */
static void test_threads_of_mappings(void **state)
{
	static const uint64_t alone[] = {GOOD, HEADER(10, 6) | 1 << 16, 5, 50, 0x1000, 0x2000, 0x3000};
	static const uint64_t both[] = {GOOD, HEADER(10, 7) | 1 << 16, 5, 50, 60, 0x1000, 0x2000, 0x3000};
	const struct tw_read_options options = {.jobs = 1};
	(void)state;
	for (unsigned named = 0; named < 2; named++) {
		struct tw_reader *reader;
		struct tw_info info;
		size_t size = named ? put(both, sizeof both / 8, false) : put(alone, sizeof alone / 8, false);
		assert_int_equal(tw_open_memory(&reader, "test", bytes, size, &options), 0);
		assert_int_equal(tw_read_info(reader, 1, &info), 0);
		assert_int_equal(info.thread_count, named);
		if (named)
			assert_int_equal(info.threads[0].thread, 60);
		tw_close(reader);
	}
}

/* Durations and operations that are open. */
static void test_memory_limits_are_reported(void **state)
{
	enum { OPEN = 200 };
	static const uint64_t good[] = {GOOD};
	(void)state;
	for (unsigned operations = 0; operations < 2; operations++) {
		size_t size = put(good, sizeof good / 8, false);
		for (uint64_t i = 1; i <= OPEN; i++) {
			const uint64_t begin[] = {operations ? EVENT(5, 3, 0) : EVENT(2, 2, 0), 5, i};
			size = put_words(size, begin, operations ? 3 : 2, false);
		}
		check(bytes, size, (struct tw_read_options){.memory_limit = 16 << 10});
		require("fxt.pair-limit", "16 KiB");
		check(bytes, size, (struct tw_read_options){.memory_limit = 7 << 10});
		require("fxt.name-limit", "7 KiB");
	}
}

/* However many are open above it, an end finds the begin of its name. */
static void test_end_far_below(void **state)
{
	enum { DEEP = 3000 };
	static const uint64_t good[] = {GOOD, NAMED(2, 2, 2), 5}, begin[] = {EVENT(2, 2, 0), 6};
	static const uint64_t end[] = {NAMED(3, 2, 2), 7};
	(void)state;
	size_t size = put(good, sizeof good / 8, false);
	for (unsigned i = 0; i < DEEP; i++)
		size = put_words(size, begin, 2, false);
	check(bytes, put_words(size, end, 2, false), (struct tw_read_options){0});
	assert_string_equal(found, " fxt.end-mismatched");
}

static void test_compression(void **state)
{
	static uint8_t packed[4096];
	z_stream stream = {.next_in = bytes, .next_out = packed, .avail_out = sizeof packed};
	(void)state;
	stream.avail_in = (uInt)put(fine, sizeof fine / sizeof *fine, false);
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	check(packed, stream.total_out - 8, (struct tw_read_options){0});
	require("fxt.compression", "gzip without its end");
	deflateEnd(&stream);
}

SUITE(fxt_rules)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_each_rule_broken),
	    cmocka_unit_test(test_fine_records_break_no_rule),
	    cmocka_unit_test(test_beginnings),
	    cmocka_unit_test(test_long_string),
	    cmocka_unit_test(test_late),
	    cmocka_unit_test(test_late_end),
	    cmocka_unit_test(test_memory_limits_are_reported),
	    cmocka_unit_test(test_end_far_below),
	    cmocka_unit_test(test_compression),
	    cmocka_unit_test(test_no_overflow),
	    cmocka_unit_test(test_overflow),
	    cmocka_unit_test(test_overflow_span),
	    cmocka_unit_test(test_threads_of_mappings),
	    cmocka_unit_test(test_overtaken),
	    cmocka_unit_test(test_cases_in_chunk),
	    cmocka_unit_test(test_overflow_in_chunk),
	    cmocka_unit_test(test_late_in_chunk),
	    cmocka_unit_test(test_losses),
	    cmocka_unit_test(test_chance),
	    cmocka_unit_test(test_records_in_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
