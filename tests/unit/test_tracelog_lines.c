/* test_tracelog_lines.c - a log from line to line: each rule of single lines, long lines, and what is found as
 * TraceLog. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <trackway/trackway.h>

#include "core/text/lines.h"

#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TEXT = 4096 };

/* ---- Rules. ---- */

static char found[TEXT];

static void remember(void *context, const struct tw_finding *finding)
{
	size_t used = strlen(found);
	(void)context;
	assert_true(strlen(finding->text) > 0);
	snprintf(found + used, sizeof found - used, " %s:%" PRIu64 "@%" PRIu64, finding->rule, finding->line,
	         finding->at - finding->record);
}

/* Lists all records; returns their kinds. */
static const char *list(const char *log, size_t size, struct tw_read_options options)
{
	static char kinds[TEXT];
	struct tw_reader *reader;
	struct tw_record record;
	options.checking = TW_CHECK_ALL;
	options.on_finding = remember;
	options.format = "tracelog";
	*found = *kinds = '\0';
	int status = tw_open_memory(&reader, "test", log, size, &options);
	while (status >= 0 && (status = tw_read_record(reader, &record)) > 0) {
		size_t used = strlen(kinds);
		snprintf(kinds + used, sizeof kinds - used, " %s", record.kind);
	}
	assert_int_equal(status, 0);
	tw_close(reader);
	return kinds;
}

/* A log, its records, and the findings: rule, line, and the guilty byte in the line. What is told once tells the
 * first. */
static const struct {
	const char *log, *kinds, *findings;
} cases[] = {
    {"prf tps 1\nprf trs 2\n", " prf-tps prf-trs", ""},
    {"prf tps 1\nprf tps x\nprf trs 2\n", " prf-tps unknown prf-trs", " tracelog.bad-field:2@8"},
    {"prf tps 1\nname\" \"void\" \"()\"\nprf trs 2\n", " prf-tps unknown prf-trs", " tracelog.no-record:2@0"},
    {"gch alt 1 0x1:2:3 0x1:2 0x2:3:4\n", " gch-alt", " tracelog.bad-item:1@23"},
    {"new one 1 2\nnew two\nprf tps 1\n", " unknown unknown prf-tps", " tracelog.unknown-kind:1@0"},
    {"prf tps 1\nprf trs", " prf-tps unknown", " tracelog.cut-line:2@7"},
    {"prf tps 1\nprf trs 2", " prf-tps prf-trs", " tracelog.cut-line:2@0"},
    {"prf tps 1\nsam str 0x00000000 1 1 0:0 0x2:", " prf-tps sam-str", " tracelog.cut-line:2@0"},
    {"prf tps 1\n\n \nprf tps 2\n", " prf-tps prf-tps", " tracelog.empty-line:2@0"},
    {"prf tps 1\r\nprf tps 2\r\n", " prf-tps prf-tps", " tracelog.crlf:1@0"},
    {"prf tps 1\nprf  tps 2\n", " prf-tps prf-tps", " tracelog.blanks:2@0"},
    {"gch alt 1 0x1:2:3  0x2:3:4\n", " gch-alt", " tracelog.blanks:1@17"},
    {"\xEF\xBB\xBFprf tps 1\n", " prf-tps", " tracelog.bom:1@0"},
    {"mod ata 0x0000abcd 0x0000ABCD\n", " mod-ata", " tracelog.case:1@0"},
    {"thr dst 0x1\n", " thr-dst", " tracelog.digits:1@0"},
    {"cls nam 0x00000001 \"a\"b\"\n", " cls-nam", " tracelog.quotes:1@0"},
    {"prc cpu 1 -3\n", " prc-cpu", " tracelog.negative-usage:1@0"},
    {"prf tps 2147483648\n", " prf-tps", " tracelog.unsigned-time:1@0"},
    {"prf tps 1 2 3\nthr dst 0x00000001\t0x1\nprf trs 2\n", " prf-tps thr-dst prf-trs",
     " tracelog.surplus:1@10 tracelog.surplus:2@19 tracelog.blanks:2@0"},
    {"cls nam 0x00000001 \"\xff\"\n", " cls-nam", " tracelog.utf8:1@20"},
    {"fun nam 0x00000001 \"a\" \"b\" \"\xc3\"\n", " fun-nam", " tracelog.utf8:1@28"},
};

static void test_rules(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_string_equal(list(cases[i].log, strlen(cases[i].log), (struct tw_read_options){0}),
		                    cases[i].kinds);
		assert_string_equal(found, cases[i].findings);
	}
}

static void test_nul(void **state)
{
	static const char log[] = "cls nam 0x00000001 \"a\0b\"\nprf\0tps 1\n";
	(void)state;
	assert_string_equal(list(log, sizeof log - 1, (struct tw_read_options){0}), " cls-nam unknown");
	assert_string_equal(found, " tracelog.no-record:2@0 tracelog.nul:1@21");
}

/* The rest of a line that is too long is not taken for another one. */
static void test_long_line(void **state)
{
	static char log[1 << 19];
	(void)state;
	memset(log, 'x', sizeof log);
	memcpy(log, "prf tps 1\n", 10);
	memcpy(log + 10, "cls nam 0x00000001 \"", 20);
	memcpy(log + sizeof log - 22, "prf tps 2 x\nprf tps 4\n", 22);
	const char *kinds = list(log, sizeof log, (struct tw_read_options){.memory_limit = 1 << 14});
	assert_string_equal(kinds, " prf-tps unknown prf-tps");
	assert_string_equal(found, " tracelog.long-line:2@262144");
}

/* More items than may be shown. */
static void test_long_list(void **state)
{
	enum { ITEMS = 1000, SIZE = 30 + ITEMS * 4 };
	static char log[SIZE + 1];
	(void)state;
	size_t at = (size_t)snprintf(log, sizeof log, "sam str 0x00000000 1 1 0:0");
	for (size_t i = 0; i < ITEMS; i++, at += 4)
		memcpy(log + at, " 0x1", 4);
	log[at++] = '\n';
	list(log, at, (struct tw_read_options){.memory_limit = 1 << 20});
	assert_string_equal(found, "");
	list(log, at, (struct tw_read_options){.memory_limit = 1 << 17});
	assert_string_equal(found, " tracelog.long-list:1@0");
}

/* A sample of 200,000 frames is legal. */
static void test_deep_stack(void **state)
{
	enum { FRAMES = 200000, FRAME = 22, ROOM = 64 + FRAMES * FRAME };
	char *log = malloc(ROOM);
	(void)state;
	assert_non_null(log);
	size_t at = (size_t)snprintf(log, ROOM, "sam str 0x00000000 1 1 0:0");
	for (size_t i = 0; i < FRAMES; i++)
		at += (size_t)snprintf(log + at, ROOM - at, " 0x%x:0x00000000", (unsigned)i & 15);
	log[at++] = '\n';
	struct tw_read_options options = {.format = "tracelog"};
	struct tw_reader *reader;
	struct tw_record record;
	assert_int_equal(tw_open_memory(&reader, "test", log, at, &options), 0);
	assert_int_equal(tw_read_record(reader, &record), 1);
	assert_string_equal(record.fields[record.field_count - 1].name, "frames");
	assert_int_equal(record.fields[record.field_count - 1].size, FRAMES);
	tw_close(reader);
	free(log);
}

/* Every line of a log that is spoilt costs only itself. */
static void test_one_bad_line(void **state)
{
	static const char log[] = "prf tps 1\nprf trs 2\ngch alt 3\nthr dst 0x00000001\n";
	static const char *const kinds[] = {" unknown prf-trs gch-alt thr-dst", " prf-tps unknown gch-alt thr-dst",
	                                    " prf-tps prf-trs unknown thr-dst", " prf-tps prf-trs gch-alt unknown"};
	char spoilt[sizeof log];
	char *line = spoilt;
	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		memcpy(spoilt, log, sizeof log);
		char *end = strchr(line, '\n');
		memset(line, '\xfe', (size_t)(end - line));
		assert_string_equal(list(spoilt, sizeof log - 1, (struct tw_read_options){0}), kinds[i]);
		line = end + 1;
	}
}

/* ---- Lines. ---- */

static void expect_lines(const char *log, size_t limit, const char *expected)
{
	struct tw_input *input;
	struct tw_text_line line;
	char text[TEXT] = "";
	assert_int_equal(tw_input_memory(&input, "test", log, strlen(log)), 0);
	struct tw_text_lines lines = {.window = {.input = input, .chunk = 4}, .limit = limit};
	int status;
	while ((status = tw_text_lines_next(&lines, &line)) > 0) {
		size_t used = strlen(text);
		snprintf(text + used, sizeof text - used, "%" PRIu64 "@%" PRIu64 "%s<%.*s>", line.number, line.offset,
		         line.cut ? "!" : "", (int)line.size, (const char *)line.bytes);
	}
	assert_int_equal(status, 0);
	assert_string_equal(text, expected);
	tw_text_lines_free(&lines);
	tw_input_close(input);
}

static void test_lines(void **state)
{
	(void)state;
	expect_lines("", 100, "");
	expect_lines("\n", 100, "1@0<\n>");
	expect_lines("a\nbc\n\nd", 100, "1@0<a\n>2@2<bc\n>3@5<\n>4@6<d>");
	expect_lines("abcdefghijklmnopqrstuvwxyz\nb\n", 100, "1@0<abcdefghijklmnopqrstuvwxyz\n>2@27<b\n>");
	expect_lines("abcdefghijklmnopqrstuvwxyz\nb\n", 10, "1@0!<abcdefghij>2@27<b\n>");
	expect_lines("abcdefghi\nb\n", 10, "1@0<abcdefghi\n>2@10<b\n>");
	expect_lines("abcdefghij\nb\n", 10, "1@0!<abcdefghij>2@11<b\n>");
	expect_lines("a\nabcdefghijklmnop", 10, "1@0<a\n>2@2!<abcdefghij>");
}

/* ---- Finding the format. ---- */

static void expect_format(const char *bytes, const char *format)
{
	struct tw_reader *reader;
	int status = tw_open_memory(&reader, "test", bytes, strlen(bytes), NULL);
	assert_int_equal(status, format ? 0 : TW_ERR_FORMAT);
	assert_string_equal(tw_reader_format(reader), format ? format : "");
	tw_close(reader);
}

static void test_probe(void **state)
{
	(void)state;
	expect_format("prf stm 2018-06-25 07:24:28.049\n", "tracelog");
	expect_format("\xEF\xBB\xBFprf stm 2018-06-25 07:24:28.049\r\n", "tracelog");
	expect_format("prf cfg CollectionMethod Sampling", "tracelog");
	expect_format("str sam 0x00000000 1 ? 0:0\n", "tracelog");
	/* Joined late: in the middle of a line. */
	expect_format("0B2000014 0x3 0x4\nthr cpu 0x00000000 80 9876\nthr c", "tracelog");
	expect_format("am str 0x00000000 1 1 0:0\nsam mem 0x00000000 1\n", "tracelog");
	/* Kinds to come. */
	expect_format("prf new 1\nabc def\nprf tps 1\n", "tracelog");
	expect_format("prf new 1\nabc def\n", NULL);
	expect_format("some text\n", NULL);
	expect_format("samples are strange\nfunction names\n", NULL);
	expect_format("\n", NULL);
}

SUITE(tracelog_lines)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rules),     cmocka_unit_test(test_nul),        cmocka_unit_test(test_long_line),
	    cmocka_unit_test(test_long_list), cmocka_unit_test(test_deep_stack), cmocka_unit_test(test_one_bad_line),
	    cmocka_unit_test(test_lines),     cmocka_unit_test(test_probe),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
