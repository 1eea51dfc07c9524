/* test_tracelog_rules.c - each rule about what the records of a TraceLog say together, broken by a log that is
 * otherwise good. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <trackway/trackway.h>

#include "suite.h"

enum { GOOD_LINES = 19, ROOM = 1 << 16 };

/* What the cases follow: a log that breaks no rule. */
static const char good[] =
    "prf stm 2018-06-25 07:24:28.049 +09:00\n"
    "prf cfg CollectionMethod Sampling\n"
    "prf cfg CpuTraceTimeoutMs 10\n"
    "fun nam 0x00000000 \"<UNMANAGED>\" \"\" \"\"\n"
    "thr crt 0xB6A01000 0x00000000\n"
    "thr aos 0x00000000 4200\n"
    "apd crf 0xB6A00100 0x00001068 0x00000000 \"host\"\n"
    "mod ldf 0xB6B00000 0xB4000000 0xB6C00000 0x00000000 \"a.dll\"\n"
    "asm ldf 0xB6C00000 0xB6A00100 0xB6B00000 0x00000000 \"a\"\n"
    "cls ldf 0xB6D00000 0x00000000 0xB6B00000 0x02000010 0x00000000\n"
    "cls nam 0x00000000 \"A\"\n"
    "jit cms 4200 2 0xB6E00000\n"
    "fun inf 0x00000002 0xB6E00000 0xB6D00000 0xB6B00000 0x06000001 0xB2000000:0x80 0x0:0x0:0x40 0x7:0x40:0x80\n"
    "fun nam 0x00000002 \"A::Main\" \"void\" \"()\"\n"
    "jit cmf 4200 3 0xB6E00000 0x00000000\n"
    "sam str 0x00000000 10 1 0:0 0x2 0x0\n"
    "thr cpu 0x00000000 10 9000\n"
    "gch gcs 4200 11 ? tfff\n"
    "gch gcf 4200 12\n";

/* The line is that of the finding, counted from 1 behind the good ones. */
static const struct {
	const char *rule;
	unsigned line;
	const char *text;
} cases[] = {
    {"tracelog.start-again", 1, "prf stm 2018-06-25 07:24:29.000 +09:00\n"},
    {"tracelog.time-backwards", 2, "sam str 0x00000000 20 1 2:2\nsam str 0x00000000 19 1 2:2\n"},
    {"tracelog.time-backwards", 2, "thr cpu 0x00000000 20 5\nthr cpu 0x00000000 19 5\n"},
    {"tracelog.pause-again", 2, "prf tps 20\nprf tps 21\n"},
    {"tracelog.resume-without-pause", 1, "prf trs 20\n"},
    {"tracelog.resume-without-pause", 3, "prf tps 20\nprf trs 21\nprf trs 22\n"},
    {"tracelog.sample-while-paused", 2, "prf tps 20\nsam str 0x00000000 21 1 2:2\n"},
    {"tracelog.thread-unknown", 1, "sam str 0x00000007 20 1 0:0 0x2\n"},
    {"tracelog.thread-unknown", 1, "sam mem 0x00000007 20 0x0:1:2\n"},
    {"tracelog.thread-unknown", 1, "thr cpu 0x00000007 20 5\n"},
    {"tracelog.thread-unknown", 1, "thr aos 0x00000007 4207\n"},
    {"tracelog.thread-unknown", 1, "thr dst 0x00000007\n"},
    {"tracelog.thread-destroyed", 2, "thr dst 0x00000000\nsam str 0x00000000 20 1 2:2\n"},
    {"tracelog.thread-destroyed", 2, "thr dst 0x00000000\nthr aos 0x00000000 4201\n"},
    {"tracelog.thread-destroyed", 2, "thr dst 0x00000000\nthr dst 0x00000000\n"},
    {"tracelog.thread-again", 1, "thr crt 0xB6A02000 0x00000000\n"},
    {"tracelog.thread-pointer", 1, "thr crt 0xB6A01000 0x00000001\n"},
    {"tracelog.thread-of-system", 1, "gch gcs 4300 20 ? tfff\ngch gcf 4300 21\n"},
    {"tracelog.domain-unknown", 1, "asm ldf 0xB6C00100 0xB6A00900 0xB6B00000 0x00000000 \"b\"\n"},
    {"tracelog.assembly-unknown", 1, "mod ldf 0xB6B00100 0xB4000000 0xB6C00900 0x00000000 \"b.dll\"\n"},
    {"tracelog.assembly-unknown", 1, "mod ata 0xB6B00000 0xB6C00900\n"},
    {"tracelog.module-unknown", 1, "mod ata 0xB6B00900 0xB6C00000\n"},
    {"tracelog.module-unknown", 1, "cls ldf 0xB6D00100 0x00000001 0xB6B00900 0x02000011 0x00000000\n"},
    {"tracelog.class-unknown", 1, "sam mem 0x00000000 20 0x9:1:2\n"},
    {"tracelog.class-unknown", 1, "gch alt 20 0x9:1:2\n"},
    {"tracelog.class-unknown", 1,
     "fun inf 0x00000003 0xB6E00100 0xB6D00900 0xB6B00000 0x06000002\nfun nam 0x00000003 \"A::B\" \"void\" \"()\"\n"},
    {"tracelog.function-unknown", 1, "sam str 0x00000000 20 1 2:2 0x9\n"},
    {"tracelog.function-unknown", 2, "jit css 4200 20 0xB6E00900\njit csf 4200 21 0xB6E00900\n"},
    {"tracelog.function-unnamed", 1, "fun inf 0x00000003 0xB6E00100 0xB6D00000 0xB6B00000 0x06000002\n"},
    {"tracelog.name-again", 1, "fun nam 0x00000002 \"A::Other\" \"void\" \"()\"\n"},
    {"tracelog.name-again", 1, "cls nam 0x00000000 \"Other\"\n"},
    {"tracelog.iid-again", 1, "fun inf 0x00000002 0xB6E00100 0xB6D00000 0xB6B00000 0x06000002\n"},
    {"tracelog.iid-again", 1, "cls ldf 0xB6D00100 0x00000000 0xB6B00000 0x02000011 0x00000000\n"},
    {"tracelog.pointer-reused", 1,
     "fun inf 0x00000003 0xB6E00000 0xB6D00000 0xB6B00000 0x06000002\nfun nam 0x00000003 \"A::B\" \"void\" \"()\"\n"},
    {"tracelog.pointer-reused", 1, "mod ldf 0xB6B00000 0xB4100000 0xB6C00000 0x00000000 \"b.dll\"\n"},
    {"tracelog.status", 1, "mod ldf 0xB6B00100 0xB4100000 0xB6C00000 0x80070002 \"b.dll\"\n"},
    {"tracelog.map-reversed", 1,
     "fun inf 0x00000002 0xB6E00000 0xB6D00000 0xB6B00000 0x06000001 0xB2000000:0x80 0x0:0x40:0x20\n"},
    {"tracelog.map-outside-code", 1,
     "fun inf 0x00000002 0xB6E00000 0xB6D00000 0xB6B00000 0x06000001 0xB2000000:0x80 0x0:0x40:0x81\n"},
    {"tracelog.map-outside-code", 1, "fun inf 0x00000002 0xB6E00000 0xB6D00000 0xB6B00000 0x06000001 0x0:0x0:0x1\n"},
    {"tracelog.map-overlap", 1,
     "fun inf 0x00000002 0xB6E00000 0xB6D00000 0xB6B00000 0x06000001 0xB2000000:0x80 0x7:0x20:0x40 0x0:0x0:0x21\n"},
    {"tracelog.file-unknown", 1, "lin src 0x00000001 0x00000005 0x00000002 10 13 10 42\n"},
    {"tracelog.depth-mismatch", 1, "sam str 0x00000000 20 1 1:1 0x2\n"},
    {"tracelog.depth-mismatch", 1, "sam str 0x00000000 20 1 3:3\n"},
    {"tracelog.match-above-size", 1, "sam str 0x00000000 20 1 3:2\n"},
    {"tracelog.ip-without-frame", 1, "sam str 0x00000000 20 1 0:2:0xB2000010 0x2\n"},
    {"tracelog.count-unknown", 1, "str sam 0x00000000 20 ? 2:2\n"},
    {"tracelog.count-zero", 1, "sam str 0x00000000 20 0 2:2\nsam str 0x00000000 21 1 2:2\n"},
    {"tracelog.count-zero", 1, "sam str 0x00000000 20 0 2:2\n"},
    {"tracelog.usage-taken-back", 1, "thr cpu 0x00000000 20 18446744073709551586\n"},
    {"tracelog.usage-above-interval", 1, "thr cpu 0x00000000 20 12001\n"},
    {"tracelog.usage-above-interval", 2, "prc cpu 20 0\nprc cpu 30 12288000\n"},
    {"tracelog.jit-without-start", 1, "jit cmf 4200 20 0xB6E00000 0x00000000\n"},
    {"tracelog.jit-without-start", 2, "jit cms 4200 20 0xB6E00000\njit csf 4200 20 0xB6E00000\n"},
    {"tracelog.jit-without-finish", 1, "jit cms 4200 20 0xB6E00000\n"},
    {"tracelog.jit-without-finish", 2,
     "jit cms 4200 20 0xB6E00000\njit css 4200 20 0xB6E00000\njit cmf 4200 20 0xB6E00000 0x00000000\n"},
    {"tracelog.jit-without-finish", 1, "jit cms 4200 20 0xB6E00000\nthr dst 0x00000000\n"},
    {"tracelog.gc-without-start", 1, "gch gcf 4200 20\n"},
    {"tracelog.gc-without-finish", 1, "gch gcs 4200 20 ? tfff\n"},
    {"tracelog.gc-overlap", 2, "gch gcs 4200 20 ? tttt\ngch gcs 4200 21 ? tfff\ngch gcf 4200 22\ngch gcf 4200 23\n"},
    {"tracelog.heap-above-reserved", 1, "gch gen 20 loh:2:1 gen2:0:1 gen1:0:1 gen0:0:1\n"},
    {"tracelog.dialects-mixed", 1, "gch gcs 0x00000000 20 ? tfff\ngch gcf 4200 21\n"}, /* d2 in one of d3 */
    {"tracelog.dialects-mixed", 1, "str sam 0x00000000 20 1 2:2\nstr sam 0x00000000 20 1 2:2\n"},
    {"tracelog.dialects-mixed", 1, "sam str 0x00000000 20 1 2:2:B2000000\n"},
    {"tracelog.setting-value", 1, "prf cfg CollectionMethod Always\n"},
    {"tracelog.setting-value", 1, "prf cfg LineTraceEnabled 1\n"},
    {"tracelog.setting-value", 1, "prf cfg SamplingTimeoutMs -1\n"},
    {"tracelog.setting-value", 1, "prf cfg SamplingTimeoutMs 18446744073709551616\n"},
    {"tracelog.setting-again", 1, "prf cfg CpuTraceTimeoutMs 11\n"},
    {"tracelog.setting-contradicted", 2, "prf cfg LineTraceEnabled F\nsam str 0x00000000 20 1 2:2 0x2:0xB2000000\n"},
    {"tracelog.setting-contradicted", 2, "prf cfg LineTraceEnabled F\nsam mem 0x00000000 20 0x0:1:2:0xB2000000\n"},
    {"tracelog.setting-contradicted", 2, "prf cfg MemoryTraceEnabled F\nsam mem 0x00000000 20 0x0:1:2\n"},
    {"tracelog.setting-contradicted", 2, "prf cfg CpuTraceThreadEnabled F\nthr cpu 0x00000000 20 5\n"},
    {"tracelog.setting-contradicted", 2, "prf cfg CpuTraceProcessEnabled F\nprc cpu 20 5\nprc cpu 30 5\n"},
    {"tracelog.usage-while-paused", 2, "prf tps 20\nthr cpu 0x00000000 21 5\nprf trs 22\n"},
    {"tracelog.os-thread-shared", 2, "thr crt 0xB6A02000 0x00000001\nthr aos 0x00000001 4200\n"},
    {"tracelog.process-again", 1, "apd crf 0xB6A00200 0x00001069 0x00000000 \"guest\"\n"},
    {"tracelog.module-attached-again", 1, "mod ata 0xB6B00000 0xB6C00900\n"},
    {"tracelog.class-unnamed", 1, "cls ldf 0xB6D00100 0x00000001 0xB6B00000 0x02000011 0x00000000\n"},
    {"tracelog.name-missing", 1, "mod ldf 0xB6B00100 0xB4100000 0xB6C00000 0x00000000 \"UNKNOWN\"\n"},
    {"tracelog.name-missing", 1, "cls nam 0x00000001 \"<EMPTY>\"\n"},
    {"tracelog.ip-outside-code", 1, "sam str 0x00000000 20 1 1:2:0xB2000081\n"},
    {"tracelog.ip-outside-code", 1, "sam str 0x00000000 20 1 2:2 0x2:0xB1FFFFFF\nsam str 0x00000000 21 1 3:3\n"},
    {"tracelog.ip-outside-code", 2, "sam str 0x00000000 20 1 1:2\nsam mem 0x00000000 20 0x0:1:2:0xB2000081\n"},
    {"tracelog.line-unknown", 3,
     "fil src 0x00000001 \"a.cs\"\nlin src 0x00000005 0x00000001 0x00000002 10 13 10 42\n"
     "sam str 0x00000000 20 1 1:2:0x6\n"},
    {"tracelog.line-before-function", 2,
     "fil src 0x00000001 \"a.cs\"\nlin src 0x00000005 0x00000001 0x00000003 10 13 10 42\n"
     "fun nam 0x00000003 \"A::B\" \"void\" \"()\"\n"},
    {"tracelog.source-again", 2, "fil src 0x00000001 \"a.cs\"\nfil src 0x00000001 \"b.cs\"\n"},
    {"tracelog.source-again", 3,
     "fil src 0x00000001 \"a.cs\"\nlin src 0x00000005 0x00000001 0x00000002 10 13 10 42\n"
     "lin src 0x00000005 0x00000001 0x00000002 10 13 10 43\n"},
    {"tracelog.stack-missing", 2, "thr crt 0xB6A02000 0x00000001\nsam mem 0x00000001 20 0x0:1:2\n"},
    {"tracelog.empty-objects", 1, "sam mem 0x00000000 20 0x0:1:0\n"},
    {"tracelog.empty-objects", 1, "gch alt 20 0x0:0:24\n"},
    {"tracelog.generation-flags", 1, "gch gcs 4200 20 ? tffff\ngch gcf 4200 21\n"},
    {"tracelog.generation-flags", 1, "gch gcs 4200 20 ? tff\ngch gcf 4200 21\n"},
    {"tracelog.generations", 1, "gch gen 20 loh:0:1 gen2:0:1 gen1:0:1\n"},
    {"tracelog.generations", 1, "gch gen 20 loh:0:1 gen2:0:1 gen1:0:1 gen0:0:1 poh:0:1 x:0:1\n"},
    {"tracelog.generations", 1, "gch gen 20 loh:0:1 gen2:0:1 gen1:0:1 gen0:0:1 gen2:0:1\n"},
    {"tracelog.generations", 1, "gch gen 20 loh:0:1 gen2:0:1 gen0:0:1 other:0:1\n"},
    {"tracelog.class-twice", 1, "gch alt 20 0x0:1:24 0x0:2:48\n"},
};

/* What comes near and is right: nothing is told of these behind the good log. */
static const char *const fine[] = {
    "gch gen 20 loh:0:1 gen2:0:1 gen1:0:1 gen0:0:1 poh:0:1\n",
    "prf cfg CpuTraceTimeoutMs 10\n",
    "prf cfg LineTraceEnabled F\nsam str 0x00000000 20 1 2:2:? 0x2\nsam mem 0x00000000 20 0x0:1:2\n",
    "prf cfg TracingSuspendedOnStart T\nprf trs 20\n",
    "prf tps 20\nprf trs 30\nthr cpu 0x00000000 31 5\n",
    "prf tps 20\nthr cpu 0x00000000 20 5\nprf trs 30\n",
    "thr dst 0x00000000\nthr crt 0xB6A02000 0x00000001\nthr aos 0x00000001 4200\n",
    "thr aos 0x00000000 4201\nthr crt 0xB6A02000 0x00000001\nthr aos 0x00000001 4200\n",
    "apd crf 0xB6A00200 0x00001068 0x00000000 \"guest\"\n",
    "mod ata 0xB6B00000 0xB6C00000\n",
    "cls nam 0x00000001 \"A[]\"\nsam mem 0x00000000 20 0x1:1:24\n",
    /* The class of an array is announced by nobody. */
    "fun inf 0x00000003 0xB6E00100 0xB6D00900 0xB6B00000 0x06000002\nfun nam 0x00000003 \"A[]::Get\" \"A\" \"(int)\"\n",
    "fun inf 0x00000003 0xB6E00100 0xB6D00900 0xB6B00000 0x06000002\n"
    "fun nam 0x00000003 \"A[,,]::Get\" \"A\" \"(int)\"\n",
    /* Where a call returns to that is the last instruction. */
    "sam str 0x00000000 20 1 1:2:0xB2000080\nsam str 0x00000000 20 1 1:1:0xB2000000\n",
    /* Compiled again: the stack may be in the code of the first time. */
    "fun inf 0x00000002 0xB6E00000 0xB6D00000 0xB6B00000 0x06000001 0xB3000000:0x80\n"
    "sam str 0x00000000 20 1 1:2:0xB2000010\n",
    "fil src 0x00000001 \"a.cs\"\nlin src 0x00000005 0x00000001 0x00000002 10 13 10 42\n"
    "lin src 0x00000005 0x00000001 0x00000002 10 13 10 42\nsam str 0x00000000 20 1 1:2:0x5\n"
    "sam str 0x00000000 30 1 1:1:0x0\n",
    "gch alt 20 0x0:1:24\ngch alt 30 0x0:1:24\ngch alt 40\n",
    "gch gen 20 loh:0:1 gen2:0:1 gen1:0:1 gen0:0:1\n",
    "gch gen 20 large:0:1 two:0:1 one:0:1 zero:0:1\n",
};

struct seen {
	const char *rule;
	unsigned line, matched;
	unsigned others;
	char first[512];
	const char *log;
};

static void note(void *context, const struct tw_finding *finding)
{
	struct seen *seen = context;
	const char *at = seen->log;
	for (uint64_t line = 1; line < finding->line; line++)
		at = strchr(at, '\n') + 1;
	bool placed = finding->record == (uint64_t)(at - seen->log);
	if (seen->rule && strcmp(finding->rule, seen->rule) == 0 && finding->line == seen->line && placed)
		seen->matched++;
	else
		snprintf(seen->first, sizeof seen->first, "%s at line %llu, offset %llu: %s", finding->rule,
		         (unsigned long long)finding->line, (unsigned long long)finding->record, finding->text);
	seen->others++;
}

static void read_all(const char *log, const struct tw_read_options *options)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	int count;
	assert_int_equal(tw_open_memory(&reader, "test", log, strlen(log), options), 0);
	assert_string_equal(tw_reader_format(reader), "tracelog");
	while ((count = tw_read(reader, &batch)) > 0)
		;
	assert_int_equal(count, 0);
	tw_close(reader);
}

static void check(const char *log, struct seen *seen)
{
	seen->log = log;
	read_all(log, &(struct tw_read_options){.checking = TW_CHECK_ALL,
	                                        .findings_only = true,
	                                        .on_finding = note,
	                                        .finding_context = seen});
}

static void test_good_log_breaks_no_rule(void **state)
{
	struct seen seen = {0};
	(void)state;
	check(good, &seen);
	assert_string_equal(seen.first, "");
}

static void test_rules(void **state)
{
	static char log[ROOM];
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct seen seen = {.rule = cases[i].rule, .line = GOOD_LINES + cases[i].line};
		snprintf(log, sizeof log, "%s%s", good, cases[i].text);
		check(log, &seen);
		if (seen.matched != 1)
			fail_msg("%s by %s: %u times; also %s", cases[i].rule, cases[i].text, seen.matched, seen.first);
	}
}

static void test_fine_lines_break_no_rule(void **state)
{
	static char log[ROOM];
	(void)state;
	for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
		struct seen seen = {0};
		snprintf(log, sizeof log, "%s%s", good, fine[i]);
		check(log, &seen);
		if (*seen.first)
			fail_msg("%s: %s", fine[i], seen.first);
	}
}

/* A process may have many processors, how many is not told: 1024 are more than it can have. */
static void test_usage_of_process(void **state)
{
	static char log[ROOM];
	struct seen seen = {0};
	(void)state;
	snprintf(log, sizeof log, "%s%s", good, "prc cpu 20 0\nprc cpu 30 12287999\n");
	check(log, &seen);
	assert_string_equal(seen.first, "");
}

/* Meaning that is lost is told without being asked; all else is not. */
static void test_without_check(void **state)
{
	static char log[ROOM];
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct seen seen = {.rule = cases[i].rule, .line = GOOD_LINES + cases[i].line, .log = log};
		bool lost = strcmp(cases[i].rule, "tracelog.depth-mismatch") == 0 ||
		            strcmp(cases[i].rule, "tracelog.match-above-size") == 0;
		snprintf(log, sizeof log, "%s%s", good, cases[i].text);
		read_all(log, &(struct tw_read_options){.on_finding = note, .finding_context = &seen});
		assert_int_equal(seen.matched, lost);
	}
}

static void check_one(const char *log, const char *rule, unsigned line)
{
	struct seen seen = {.rule = rule, .line = line};
	check(log, &seen);
	assert_int_equal(seen.matched, 1);
}

static void test_start_late(void **state)
{
	(void)state;
	check_one("prf cfg CollectionMethod Sampling\nprf stm 2018-06-25 07:24:28.049\n", "tracelog.start-late", 2);
}

/* Records of no ticks are what Instrumentation mode has. */
static void test_instrumentation(void **state)
{
	struct seen seen = {0};
	(void)state;
	check(
	    "prf cfg CollectionMethod Instrumentation\nthr crt 0x1000 0x00000000\nfun nam 0x00000000 \"a\" \"\" \"\"\n"
	    "sam str 0x00000000 1 0 0:0 0x0\nsam str 0x00000000 2 0 0:1\n",
	    &seen);
	assert_null(strstr(seen.first, "count-zero"));
	static const char *const methods[] = {"Instrumentation", "None"};
	for (size_t i = 0; i < 2; i++) {
		char log[256];
		snprintf(log, sizeof log,
		         "prf cfg CollectionMethod %s\nthr crt 0x1000 0x00000000\nsam str 0x00000000 1 1 0:0\n",
		         methods[i]);
		check_one(log, "tracelog.ticks-without-timer", 3);
	}
}

/* The process has the number of its main thread. */
static void test_process_without_thread(void **state)
{
	(void)state;
	check_one("thr crt 0x1000 0x00000000\nthr aos 0x00000000 4201\n"
	          "apd crf 0xB6A00100 0x00001068 0x00000000 \"host\"\n",
	          "tracelog.process-no-thread", 3);
}

/* An allocation is what a record of no ticks is for. */
static void test_zero_before_allocation(void **state)
{
	static char log[ROOM];
	struct seen seen = {0};
	(void)state;
	snprintf(log, sizeof log, "%s%s", good, "sam str 0x00000000 20 0 1:2\nsam mem 0x00000000 20 0x0:1:24\n");
	check(log, &seen);
	assert_string_equal(seen.first, "");
}

static void count_rule(void *context, const struct tw_finding *finding)
{
	struct seen *seen = context;
	seen->matched += strcmp(finding->rule, seen->rule) == 0;
}

/* More than 4 MiB after what comes late: it is in order, and nothing is told. */
static void test_late(void **state)
{
	enum { FILL = 5 << 20 };
	char *log = malloc(FILL + ROOM);
	size_t used = 0;
	(void)state;
	assert_non_null(log);
	used += (size_t)sprintf(log, "thr crt 0x1000 0x00000000\nthr crt 0x2000 0x00000001\n");
	while (used < FILL)
		used += (size_t)sprintf(log + used, "thr cpu 0x00000000 1000 5\n");
	sprintf(log + used, "thr cpu 0x00000001 10 5\n");
	struct tw_reader *reader;
	struct tw_batch batch;
	struct seen seen = {.rule = "tracelog.late"};
	const struct tw_read_options options = {.order = TW_ORDER_TIME,
	                                        .on_finding = count_rule,
	                                        .finding_context = &seen};
	uint64_t last = 0, events = 0;
	assert_int_equal(tw_open_memory(&reader, "test", log, strlen(log), &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++, events++) {
			assert_true(batch.events[i].time >= last);
			last = batch.events[i].time;
		}
	assert_int_equal(seen.matched, 0);
	assert_true(events > FILL / 32);
	tw_close(reader);
	free(log);
}

/* Distinct stacks, and distinct functions, without end: memory does not follow. */
static void check_limit(const char *rule, unsigned functions)
{
	enum { RECORDS = 60000, LIMIT = 1 << 20 };
	char *log = malloc(RECORDS * 64);
	struct seen seen = {.rule = rule};
	struct tw_reader *reader;
	struct tw_batch batch;
	const struct tw_read_options options = {.memory_limit = LIMIT,
	                                        .on_finding = count_rule,
	                                        .finding_context = &seen};
	uint64_t ticks = 0;
	size_t used = (size_t)sprintf(log, "thr crt 0x1000 0x00000000\nsam str 0x00000000 1 1 0:0\n");
	for (unsigned i = 1; i <= RECORDS; i++)
		used += (size_t)sprintf(log + used, "sam str 0x00000000 %u 1 0:%u 0x%x 0x%x\n", i, i > 1 ? 2 : 0,
		                        i / functions, i % functions);
	assert_int_equal(tw_open_memory(&reader, "test", log, used, &options), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++)
			ticks += batch.events[i].kind == TW_STACK_SAMPLE ? batch.events[i].value : 0;
	assert_int_equal(seen.matched, 1);
	assert_int_equal(ticks, RECORDS + 1);
	assert_true(tw_dictionary_stacks(tw_reader_dictionary(reader)) < LIMIT / 32);
	assert_true(tw_dictionary_names(tw_reader_dictionary(reader)) < LIMIT / 32);
	tw_close(reader);
	free(log);
}

static void test_memory_limits_are_reported(void **state)
{
	(void)state;
	check_limit("tracelog.table-limit", 1);
	check_limit("tracelog.stack-limit", 256);
}

SUITE(tracelog_rules)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good_log_breaks_no_rule),
	    cmocka_unit_test(test_rules),
	    cmocka_unit_test(test_fine_lines_break_no_rule),
	    cmocka_unit_test(test_without_check),
	    cmocka_unit_test(test_start_late),
	    cmocka_unit_test(test_instrumentation),
	    cmocka_unit_test(test_process_without_thread),
	    cmocka_unit_test(test_usage_of_process),
	    cmocka_unit_test(test_zero_before_allocation),
	    cmocka_unit_test(test_late),
	    cmocka_unit_test(test_memory_limits_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
