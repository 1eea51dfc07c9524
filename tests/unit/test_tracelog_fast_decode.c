/* test_tracelog_fast_decode.c - what is read from plain lines of a TraceLog in a hurry is what the decoder reads. */
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

#include "core/threads/pipeline.h"
#include "files.h"
#include "suite.h"
#include "tracelog/format/layout.h"
#include "tracelog/lines/parsed_block.h"

enum { ROOM = 1 << 19 };

static unsigned plain_lines;

static void compare_frames(const struct tracelog_parsed_block *parsed, const struct tracelog_fast_line *entry,
                           const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	struct tw_tracelog_fault fault;
	for (size_t i = 0; i < entry->count; i++) {
		assert_int_equal(tw_tracelog_next(record, &list, &item, &fault), 1);
		assert_int_equal(item.odd, 0);
		if (entry->kind == TRACELOG_SAMPLE) {
			const struct tracelog_frame *frame = &parsed->lists.frames[entry->first + i];
			assert_int_equal(frame->iid, item.iid);
			assert_int_equal(frame->ip, item.ip_known ? item.ip : 0);
			continue;
		}
		const struct tracelog_allocation *allocation = &parsed->lists.allocations[entry->first + i];
		assert_int_equal(allocation->iid, item.iid);
		assert_int_equal(allocation->count, item.count);
		assert_int_equal(allocation->bytes, item.bytes);
		assert_int_equal(allocation->ip, item.ip_known ? item.ip : 0);
	}
	assert_int_equal(tw_tracelog_next(record, &list, &item, &fault), 0);
}

/* Where only part of it is wanted, what is told is the same. */
static void compare_judged(const struct tracelog_parsed_block *parsed, const struct tracelog_fast_line *entry)
{
	struct tracelog_fast_line judged = {0};
	const uint8_t *line = parsed->block.bytes + entry->at, *next = tracelog_fast_decode_head(&judged, line);
	if (entry->kind == TRACELOG_OTHER_LINE) {
		assert_null(next);
		return;
	}
	assert_ptr_equal(next, line + entry->size);
	assert_int_equal(judged.kind, entry->kind);
	assert_int_equal(judged.ms, entry->ms);
	assert_int_equal(judged.ip_known, entry->ip_known);
	assert_int_equal(judged.ip_style, entry->ip_style);
	if (entry->kind != TRACELOG_PROCESS_CPU)
		assert_int_equal(judged.thread, entry->thread);
	if (entry->kind == TRACELOG_SAMPLE)
		assert_int_equal(judged.number, entry->number);
}

static void compare(const struct tracelog_parsed_block *parsed, const struct tracelog_fast_line *entry)
{
	static const enum tw_tracelog_kind kinds[] = {[TRACELOG_SAMPLE] = TW_TRACELOG_SAM_STR,
	                                              [TRACELOG_ALLOCATION] = TW_TRACELOG_SAM_MEM,
	                                              [TRACELOG_THREAD_CPU] = TW_TRACELOG_THR_CPU,
	                                              [TRACELOG_PROCESS_CPU] = TW_TRACELOG_PRC_CPU};
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault;
	if (parsed->block.bytes[entry->at + entry->size - 1] == '\n')
		compare_judged(parsed, entry);
	if (entry->kind == TRACELOG_OTHER_LINE)
		return;
	plain_lines++;
	assert_int_equal(tw_tracelog_decode(parsed->block.bytes + entry->at, entry->size, &record, &fault), 0);
	assert_int_equal(record.odd, 0);
	assert_int_equal(record.kind, kinds[entry->kind]);
	assert_int_equal(record.kind, tracelog_kind_of_line(entry->kind));
	assert_int_equal(tw_tracelog_dialects(&record),
	                 tracelog_dialects_by(record.kind, entry->ip_known, entry->ip_style));
	assert_int_equal(record.ms, entry->ms);
	if (entry->kind != TRACELOG_PROCESS_CPU)
		assert_int_equal(record.thread, entry->thread);
	if (entry->kind == TRACELOG_SAMPLE) {
		assert_true(record.has_count);
		assert_int_equal(record.count, entry->number);
		assert_int_equal(record.match, entry->match);
		assert_int_equal(record.depth, entry->depth);
		assert_int_equal(record.has_ip, entry->has_ip);
		assert_int_equal(record.ip_known ? record.ip : 0, entry->ip);
	}
	if (entry->kind == TRACELOG_SAMPLE || entry->kind == TRACELOG_ALLOCATION)
		compare_frames(parsed, entry, &record);
	else
		assert_int_equal(record.us, entry->number);
}

static void compare_all(struct tracelog_parsed_block *parsed, const char *text, size_t size)
{
	size_t at = 0;
	assert_true(size + TRACELOG_SLACK <= parsed->block.room);
	memcpy(parsed->block.bytes, text, size);
	memset(parsed->block.bytes + size, '7', TRACELOG_SLACK);
	parsed->block.size = size;
	tracelog_parse_block(parsed);
	assert_false(parsed->failed);
	for (size_t i = 0; i < parsed->entry_count; i++) {
		assert_int_equal(parsed->entries[i].at, at);
		at += parsed->entries[i].size;
		compare(parsed, &parsed->entries[i]);
	}
	assert_int_equal(at, size);
}

static struct tracelog_parsed_block new_block(void)
{
	struct tracelog_parsed_block parsed = {.block = {.bytes = malloc(ROOM), .room = ROOM}};
	assert_non_null(parsed.block.bytes);
	return parsed;
}

static size_t read_log(const char *name, char *text)
{
	char path[512];
	snprintf(path, sizeof path, "%s/tracelog/%s", getenv("TW_TEST_DATA"), name);
	return read_file(path, text, ROOM - TRACELOG_SLACK);
}

/* Nearly all lines of these kinds are plain in a log as the profiler writes it. */
static void test_plain(void **state)
{
	static char text[ROOM];
	struct tracelog_parsed_block parsed = new_block();
	(void)state;
	size_t size = read_log("small-d2-64.log", text);
	plain_lines = 0;
	compare_all(&parsed, text, size);
	assert_int_equal(plain_lines, 199 + 277 + 796 + 796); /* grep -c: prc cpu, sam mem, sam str, thr cpu */
	tracelog_parsed_block_free(&parsed);
}

/* What a mistake makes of a line is never read another way. */
static void test_mutations(void **state)
{
	static const char *const lines[] = {
	    "sam str 0x0000000a 20 1 12:13:0x00007F0100000014 0x2:0x00007F01B2000014 0xf3 0x4:?\n",
	    "sam str 0x00000000 20 1 2:2:B2000014 0x2:7F01B2000014 0x0\n",
	    "sam mem 0x00000000 70 0x0:3:96:0xB2000024 0x1:1:4096\n",
	    "thr cpu 0x00000000 80 9876\n",
	    "prc cpu 80 12345\n",
	};
	static const char bytes[] = "0123456789abcdefABCDEFxX?: \t\r\n-\"g@`\x80\xff/;G\x01";
	struct tracelog_parsed_block parsed = new_block();
	char text[512];
	(void)state;
	plain_lines = 0;
	for (size_t line = 0; line < sizeof lines / sizeof *lines; line++) {
		size_t size = strlen(lines[line]);
		compare_all(&parsed, lines[line], size);
		assert_int_equal(plain_lines, 1);
		for (size_t at = 0; at < size; at++) {
			for (size_t i = 0; i < sizeof bytes - 1; i++) {
				memcpy(text, lines[line], size);
				text[at] = bytes[i];
				compare_all(&parsed, text, size);
				memmove(text + at + 1, lines[line] + at, size - at); /* one more */
				compare_all(&parsed, text, size + 1);
			}
			memcpy(text, lines[line], at);
			memcpy(text + at, lines[line] + at + 1, size - at - 1); /* one less */
			compare_all(&parsed, text, size - 1);
			compare_all(&parsed, lines[line], at); /* the end is missing */
		}
		plain_lines = 0;
	}
	tracelog_parsed_block_free(&parsed);
}

static void test_which_numbers_are_plain(void **state)
{
	static const struct {
		const char *line;
		bool plain;
	} cases[] = {
	    {"thr cpu 0x00000000 999999999 9999999999999999999\n", true},
	    {"thr cpu 0x00000000 1000000000 1\n", false},
	    {"thr cpu 0x00000000 -1 1\n", false},
	    {"thr cpu 0x00000000 1 18446744073709551586\n", false},
	    {"thr cpu 0x00000000 1 -30\n", false},
	    {"thr cpu 0x00000000 01 1\n", false},
	    {"thr cpu 0x0000000A 1 1\n", false},
	    {"thr cpu 0x0000000 1 1\n", false},
	    {"sam str 0x00000000 1 1 0:0 0xfffffffff\n", false},
	    {"sam str 0x00000000 1 1 0:0 0xffffffff\n", true},
	    {"sam str 0x00000000 1 1 0:0 0x01\n", false},
	    {"sam str 0x00000000 1 1 0:0 0x1:0x0000000000000001\n", true},
	    {"sam str 0x00000000 1 1 0:0 0x1:0x00000000000000001\n", false},
	    {"sam str 0x00000000 1 1 0:0 0x1:0x0123456789\n", false},
	    {"sam str 0x00000000 1 1 0:0 0x1:0x123456789A\n", true},
	    {"sam str 0x00000000 1 1 0:0 0x1:0x123456789a\n", false},
	    {"sam str 0x00000000 1 ? 0:0 0x1\n", false},
	    {"sam mem 0x00000000 71\n", true},
	    {"sam mem 0x00000000 71 \n", false},
	};
	struct tracelog_parsed_block parsed = new_block();
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		plain_lines = 0;
		compare_all(&parsed, cases[i].line, strlen(cases[i].line));
		assert_int_equal(plain_lines, cases[i].plain);
	}
	tracelog_parsed_block_free(&parsed);
}

/* Digits are taken in words: each number of them is another case. */
static void test_lengths(void **state)
{
	static const struct {
		const char *before, *digits, *behind;
		size_t most; /* of digits in a plain line */
	} fields[] = {
	    {"prc cpu ", "98765432109876543210", " 1\n", 9},
	    {"prc cpu 1 ", "98765432109876543210", "\n", 19},
	    {"sam str 0x00000001 1 1 ", "12345678901234567890", ":2\n", 9},
	    {"sam str 0x00000001 1 1 1:2 0x", "a9f8123c4d5", "\n", 8},
	    {"sam str 0x00000001 1 1 1:2 0x", "9af8123c4d5", ":?\n", 8},
	    {"sam str 0x00000001 1 1 1:2:0x", "F9A8123C4D5E6F708", "\n", 16},
	    {"sam str 0x00000001 1 1 1:2 0x1:", "9FA8123C4D5E6F708", " 0x2\n", 16},
	};
	struct tracelog_parsed_block parsed = new_block();
	char text[128];
	(void)state;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		for (size_t digits = 0; digits <= strlen(fields[i].digits); digits++) {
			int size = snprintf(text, sizeof text, "%s%.*s%s", fields[i].before, (int)digits,
			                    fields[i].digits, fields[i].behind);
			plain_lines = 0;
			compare_all(&parsed, text, (size_t)size);
			assert_int_equal(plain_lines, digits && digits <= fields[i].most);
		}
	}
	tracelog_parsed_block_free(&parsed);
}

/* ---- Order. ---- */

enum { PIECES = 4, NUMBERS = 1000 };

struct counter {
	unsigned next, fail_at;
};

static int read_number(void *context, void *piece)
{
	struct counter *counter = context;
	if (counter->next == counter->fail_at)
		return TW_ERR_SYSTEM;
	*(unsigned *)piece = counter->next;
	return counter->next++ < NUMBERS;
}

static void square(void *context, void *piece)
{
	unsigned *number = piece;
	(void)context;
	*number *= *number;
}

static void go_round(unsigned jobs, unsigned fail_at, unsigned stop_at)
{
	static const struct tw_pipeline_steps activity = {read_number, square};
	struct counter counter = {.fail_at = fail_at};
	unsigned numbers[PIECES], i = 0;
	void *pieces[PIECES], *piece;
	int status = 1;
	for (unsigned k = 0; k < PIECES; k++)
		pieces[k] = &numbers[k];
	struct tw_pipeline *ahead = tw_pipeline_new(&activity, &counter, pieces, PIECES, jobs);
	assert_non_null(ahead);
	for (; i < stop_at && (status = tw_pipeline_next(ahead, &piece)) > 0; i++)
		assert_int_equal(*(unsigned *)piece, i * i);
	if (stop_at > NUMBERS) {
		assert_int_equal(i, fail_at < NUMBERS ? fail_at : NUMBERS);
		assert_int_equal(status, fail_at < NUMBERS ? TW_ERR_SYSTEM : 0);
		assert_int_equal(tw_pipeline_next(ahead, &piece), status);
	}
	tw_pipeline_free(ahead);
}

static void test_same_with_any_number_of_jobs(void **state)
{
	(void)state;
	for (unsigned jobs = 1; jobs <= 8; jobs++) {
		go_round(jobs, UINT32_MAX, UINT32_MAX);
		go_round(jobs, 0, UINT32_MAX);
		go_round(jobs, 500, UINT32_MAX);
		go_round(jobs, UINT32_MAX, 300);
		go_round(jobs, UINT32_MAX, 0);
	}
	tw_pipeline_free(NULL);
}

SUITE(tracelog_fast_decode)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plain),
	    cmocka_unit_test(test_mutations),
	    cmocka_unit_test(test_which_numbers_are_plain),
	    cmocka_unit_test(test_lengths),
	    cmocka_unit_test(test_same_with_any_number_of_jobs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
