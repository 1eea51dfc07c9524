/* test_tracelog_reader.c - small logs and the events that they are, worked out by hand. */
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

#include "core/dictionary.h"
#include "files.h"
#include "suite.h"

enum { ROOM = 1 << 16 };

#define MS 1000000.0

/* ---- Events as text. ---- */

struct sheet {
	char text[ROOM];
	size_t used;
};

static void __attribute__((format(printf, 2, 3))) put(struct sheet *sheet, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	sheet->used += (size_t)vsnprintf(sheet->text + sheet->used, ROOM - sheet->used, format, arguments);
	va_end(arguments);
	assert_true(sheet->used < ROOM);
}

static const char *text_of(const struct tw_dictionary *dictionary, uint32_t name)
{
	return tw_dictionary_name(dictionary, name)->text;
}

/* "outermost>innermost", each with its place where that is known. */
static void put_stack(struct sheet *sheet, const struct tw_dictionary *dictionary, uint32_t number)
{
	const struct tw_stack *stack = tw_dictionary_stack(dictionary, number);
	const struct tw_location *location = tw_dictionary_location(dictionary, stack->location);
	if (number == 0)
		return;
	put_stack(sheet, dictionary, stack->caller);
	put(sheet, "%s%s", stack->caller ? ">" : "", text_of(dictionary, location->name));
	if (location->file)
		put(sheet, "(%s:%u)", text_of(dictionary, location->file), location->line);
	else if (location->address)
		put(sheet, "(0x%" PRIx64 ")", location->address);
}

static void put_argument(struct sheet *sheet, const struct tw_dictionary *dictionary,
                         const struct tw_argument *argument)
{
	put(sheet, " %s=", text_of(dictionary, argument->name));
	switch (argument->type) {
	case TW_ARG_INT:
		put(sheet, "%" PRId64, argument->value.i);
		break;
	case TW_ARG_UINT:
		put(sheet, "%" PRIu64, argument->value.u);
		break;
	case TW_ARG_POINTER:
		put(sheet, "0x%" PRIx64, argument->value.u);
		if (argument->size)
			put(sheet, "(%s)", text_of(dictionary, (uint32_t)argument->size));
		break;
	case TW_ARG_DOUBLE:
		put(sheet, "%g", argument->value.d);
		break;
	case TW_ARG_TEXT:
		put(sheet, "%.*s", (int)argument->size, (const char *)argument->value.bytes);
		break;
	default:
		fail_msg("an argument of type %u", argument->type);
	}
}

/* "ms kind track category/name value id stack arguments", times in ms. */
static void put_event(struct sheet *sheet, const struct tw_dictionary *dictionary, const struct tw_batch *batch,
                      const struct tw_event *event)
{
	const struct tw_track *track = tw_dictionary_track(dictionary, event->track);
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	bool samples =
	    event->kind == TW_STACK_SAMPLE || event->kind == TW_CPU_SAMPLE || event->kind == TW_ALLOCATION_SAMPLE;
	put(sheet, "%g %s ", (double)event->time / MS, tw_event_kind_name(event->kind));
	if (track->kind == TW_TRACK_PROCESS)
		put(sheet, "process %" PRIu64 " ", track->process);
	else
		put(sheet, "%" PRIu64 " ", track->thread);
	put(sheet, "%s/%s", text_of(dictionary, event->category), text_of(dictionary, event->name));
	if (event->kind == TW_SLICE_COMPLETE || (event->kind == TW_STACK_SAMPLE && event->id))
		put(sheet, " %g ms", (double)(event->kind == TW_STACK_SAMPLE ? event->id : event->value) / MS);
	if (event->kind != TW_SLICE_COMPLETE && event->value)
		put(sheet, " value %" PRIu64, event->value);
	if (event->kind != TW_STACK_SAMPLE && event->id)
		put(sheet, " id 0x%" PRIx64, event->id);
	if (event->flags & TW_FLAG_UNWOUND)
		put(sheet, " unwound");
	if (samples) {
		put(sheet, " ");
		put_stack(sheet, dictionary, event->other);
	}
	for (size_t i = 0; i < event->argument_count; i++)
		put_argument(sheet, dictionary, &arguments[i]);
	put(sheet, "\n");
}

static void ignore(void *context, const struct tw_finding *finding)
{
	(void)context;
	(void)finding;
}

/* All events of a log of the kinds whose bits are set, when all of it has been read. */
static void read_events(struct sheet *sheet, const char *log, size_t size, uint32_t kinds,
                        const struct tw_read_options *options)
{
	static struct tw_event events[4096];
	static struct tw_argument arguments[8192];
	struct tw_read_options all = options ? *options : (struct tw_read_options){0};
	struct tw_reader *reader;
	struct tw_batch batch;
	size_t count = 0, used = 0;
	int status;
	all.on_finding = all.on_finding ? all.on_finding : ignore;
	all.format = "tracelog";
	assert_int_equal(tw_open_memory(&reader, "test", log, size, &all), 0);
	while ((status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			if (!(kinds >> batch.events[i].kind & 1))
				continue;
			assert_true(count < 4096 && used + 256 < 8192);
			events[count] = batch.events[i];
			if (batch.events[i].argument_count)
				memcpy(arguments + used, tw_event_arguments(&batch, &batch.events[i]),
				       batch.events[i].argument_count * sizeof *arguments);
			events[count++].first_argument = (uint16_t)used;
			used += batch.events[i].argument_count;
		}
	assert_int_equal(status, 0);
	/* Texts live as long as the dictionary. */
	const struct tw_batch whole = {.events = events, .count = count, .arguments = arguments};
	sheet->used = 0;
	sheet->text[0] = '\0';
	for (size_t i = 0; i < count; i++)
		put_event(sheet, tw_reader_dictionary(reader), &whole, &events[i]);
	tw_close(reader);
}

static void check_with(const char *log, uint32_t kinds, const struct tw_read_options *options, const char *expected)
{
	static struct sheet sheet;
	read_events(&sheet, log, strlen(log), kinds, options);
	assert_string_equal(sheet.text, expected);
}

static void check(const char *log, uint32_t kinds, const char *expected)
{
	check_with(log, kinds, NULL, expected);
}

#define BIT(kind) (UINT32_C(1) << (kind))
#define SAMPLES BIT(TW_STACK_SAMPLE)
#define NAMES                                                                                                          \
	"thr crt 0x1000 0x00000000\nfun nam 0x00000000 \"a\" \"\" \"\"\nfun nam 0x00000001 \"b\" \"\" \"\"\n"          \
	"fun nam 0x00000002 \"c\" \"\" \"\"\ncls nam 0x00000000 \"C\"\ncls nam 0x00000001 \"D\"\n"

/* ---- Stacks. ---- */

static void test_deltas(void **state)
{
	(void)state;
	check(NAMES "sam str 0x00000000 10 1 0:0 0x0 0x1 0x2\n" /* a b c */
	            "sam str 0x00000000 20 2 3:3\n"             /* again */
	            "sam str 0x00000000 30 1 1:3 0x2\n"         /* a c */
	            "sam str 0x00000000 40 0 0:2 0x1\n"         /* no sample */
	            "sam str 0x00000000 50 1 1:1 0x1\n"         /* b b: recursion */
	            "sam str 0x00000000 60 1 0:2\n",            /* empty */
	      SAMPLES,
	      "10 stack-sample 0 /c value 1 a>b>c\n"
	      "20 stack-sample 0 /c 10 ms value 2 a>b>c\n"
	      "30 stack-sample 0 /c 10 ms value 1 a>c\n"
	      "50 stack-sample 0 /b 20 ms value 1 b>b\n"
	      "60 stack-sample 0 / 10 ms value 1 \n");
}

/* Each thread has a stack of its own, and the first of each is empty. */
static void test_threads(void **state)
{
	(void)state;
	check(NAMES "thr crt 0x2000 0x00000001\n"
	            "sam str 0x00000000 10 1 0:0 0x0\n"
	            "sam str 0x00000001 10 1 0:0 0x1\n"
	            "sam str 0x00000000 20 1 1:1 0x2\n"
	            "sam str 0x00000001 21 1 1:1\n",
	      SAMPLES,
	      "10 stack-sample 0 /a value 1 a\n"
	      "10 stack-sample 1 /b value 1 b\n"
	      "20 stack-sample 0 /c 10 ms value 1 a>c\n"
	      "21 stack-sample 1 /b 11 ms value 1 b\n");
}

/* Section 4 of the facts: of the frames that stay, those that are there stay; what is missing is not known. */
static void test_mismatch(void **state)
{
	(void)state;
	check(NAMES "sam str 0x00000000 10 1 0:0 0x0 0x1 0x2\n"
	            "sam str 0x00000000 20 1 1:5 0x2\n"  /* deeper before than it was: a c */
	            "sam str 0x00000000 30 1 4:4 0x1\n"  /* a c and two that nobody told */
	            "sam str 0x00000000 40 1 1:2\n"      /* less deep before: a */
	            "sam str 0x00000000 50 1 9:1 0x1\n", /* more stay than there are: a b */
	      SAMPLES,
	      "10 stack-sample 0 /c value 1 a>b>c\n"
	      "20 stack-sample 0 /c 10 ms value 1 a>c\n"
	      "30 stack-sample 0 /b 10 ms value 1 a>c>(unknown)>(unknown)>b\n"
	      "40 stack-sample 0 /a 10 ms value 1 a\n"
	      "50 stack-sample 0 /b 10 ms value 1 a>b\n");
}

static void test_instructions(void **state)
{
	(void)state;
	check(NAMES "sam str 0x00000000 10 1 0:0 0x0:0x10 0x1:0x20\n"
	            "sam str 0x00000000 20 1 1:2:0x14 0x1:0x24\n" /* a has gone on */
	            "sam str 0x00000000 30 1 2:2:0x28\n"
	            "sam str 0x00000000 40 1 2:2:?\n"
	            "sam str 0x00000000 50 1 2:2\n"
	            "sam mem 0x00000000 50 0x0:2:48:0x30 0x1:1:24\n",
	      SAMPLES | BIT(TW_ALLOCATION_SAMPLE),
	      "10 stack-sample 0 /b value 1 a(0x10)>b(0x20)\n"
	      "20 stack-sample 0 /b 10 ms value 1 a(0x14)>b(0x24)\n"
	      "30 stack-sample 0 /b 10 ms value 1 a(0x14)>b(0x28)\n"
	      "40 stack-sample 0 /b 10 ms value 1 a(0x14)>b\n"
	      "50 stack-sample 0 /b 10 ms value 1 a(0x14)>b\n"
	      "50 allocation-sample 0 /C value 48 id 0x2 a(0x14)>b(0x30)\n"
	      "50 allocation-sample 0 /D value 24 id 0x1 a(0x14)>b\n");
}

/* 200,000 frames in one record. */
static void test_deep(void **state)
{
	enum { FRAMES = 200000 };
	char *log = malloc(FRAMES * 4 + ROOM);
	struct tw_reader *reader;
	struct tw_batch batch;
	(void)state;
	assert_non_null(log);
	size_t used = (size_t)sprintf(log, "%ssam str 0x00000000 10 1 0:0", NAMES);
	for (unsigned i = 0; i < FRAMES; i++)
		used += (size_t)sprintf(log + used, " 0x%x", i % 3);
	used += (size_t)sprintf(log + used, "\nsam str 0x00000000 20 1 %d:%d\n", FRAMES - 1, FRAMES);
	assert_int_equal(tw_open_memory(&reader, "test", log, used, NULL), 0);
	uint32_t depths[2] = {0}, samples = 0;
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++)
			if (batch.events[i].kind == TW_STACK_SAMPLE && samples < 2)
				depths[samples++] =
				    tw_dictionary_stack(tw_reader_dictionary(reader), batch.events[i].other)->depth;
	assert_int_equal(depths[0], FRAMES);
	assert_int_equal(depths[1], FRAMES - 1);
	assert_int_equal(tw_reader_findings(reader, TW_WARNING), 0);
	tw_close(reader);
	free(log);
}

/* ---- Places. ---- */

#define CODE "fun inf 0x00000000 0xE000 0x0 0x0 0x06000001 0x1000:0x40 0x2000:0x20 "
#define MAP "0xfffffffe:0x0:0x8 0x0:0x8:0x10 0x7:0x10:0x50 0x7:0x8:0x20 0xfffffffd:0x50:0x58 0xffffffff:0x58:0x60\n"

/* The first range that has the offset counts; a second block goes on where the first ends: 0x40 of it is 0x2000. */
static void test_offsets(void **state)
{
	(void)state;
	check(NAMES "sam str 0x00000000 1 1 0:0 0x0:0x1012\n" /* before its code is known */
	      CODE MAP "sam str 0x00000000 2 1 0:1 0x0:0x1000\n"
	            "sam str 0x00000000 3 1 0:1 0x0:0x1008\n"
	            "sam str 0x00000000 4 1 0:1 0x0:0x103f\n"
	            "sam str 0x00000000 5 1 0:1 0x0:0x2000\n"
	            "sam str 0x00000000 6 1 0:1 0x0:0x2010\n"
	            "sam str 0x00000000 7 1 0:1 0x0:0x2018\n"
	            "sam str 0x00000000 8 1 0:1 0x0:0x1040\n",
	      SAMPLES,
	      "1 stack-sample 0 /a value 1 a(IL_0007:0)\n"
	      "2 stack-sample 0 /a 1 ms value 1 a(IL_prolog:0)\n"
	      "3 stack-sample 0 /a 1 ms value 1 a(IL_0000:0)\n"
	      "4 stack-sample 0 /a 1 ms value 1 a(IL_0007:0)\n"
	      "5 stack-sample 0 /a 1 ms value 1 a(IL_0007:0)\n"
	      "6 stack-sample 0 /a 1 ms value 1 a(IL_epilog:0)\n"
	      "7 stack-sample 0 /a 1 ms value 1 a(0x2018)\n"
	      "8 stack-sample 0 /a 1 ms value 1 a(0x1040)\n");
}

/* Of 1,025 bodies of a function the newest 1,024 are looked through: the oldest, at 0x1000, is not. */
static void test_bodies(void **state)
{
	enum { BODIES = 1025, LINE = 80 };
	static char log[BODIES * LINE] = NAMES;
	(void)state;
	size_t used = strlen(log);
	for (unsigned i = 1; i <= BODIES; i++)
		used += (size_t)snprintf(log + used, sizeof log - used,
		                         "fun inf 0x00000000 0xE000 0x0 0x0 0x06000001 0x%x000:0x10 0x7:0x0:0x10\n", i);
	(void)snprintf(log + used, sizeof log - used,
	               "sam str 0x00000000 1 1 0:0 0x0:0x1000\n"
	               "sam str 0x00000000 2 1 0:1 0x0:0x2000\n"
	               "sam str 0x00000000 3 1 0:1 0x0:0x401000\n");
	check(log, SAMPLES,
	      "1 stack-sample 0 /a value 1 a(0x1000)\n"
	      "2 stack-sample 0 /a 1 ms value 1 a(IL_0007:0)\n"
	      "3 stack-sample 0 /a 1 ms value 1 a(IL_0007:0)\n");
}

/* As the plug-in of Visual Studio leaves a log: the place of an instruction is the number of a line; 0 is none. */
static void test_lines(void **state)
{
	(void)state;
	check(NAMES "fil src 0x00000005 \"C:\\P.cs\"\n"
	            "lin src 0x00000001 0x00000005 0x00000000 10 13 10 42\n"
	            "sam str 0x00000000 1 1 0:0 0x0:0x1 0x1:0x2\n"
	            "sam str 0x00000000 2 1 0:2 0x0:0x0\n"
	            "lin src 0x00000002 0x00000005 0x00000001 20 1 21 2\n", /* late */
	      SAMPLES,
	      "1 stack-sample 0 /b value 1 a(C:\\P.cs:10)>b(C:\\P.cs:20)\n"
	      "2 stack-sample 0 /a 1 ms value 1 a\n");
}

/* ---- Times. ---- */

/* Negative after 24.8 days, from the start after 49.7; small steps back are none. */
static void test_wrap(void **state)
{
	(void)state;
	check(NAMES "sam str 0x00000000 2147483640 1 0:0 0x0\n"
	            "sam str 0x00000000 -2147483646 1 1:1\n" /* 2147483650 */
	            "sam str 0x00000000 -1000000000 1 1:1\n" /* 3294967296, 13 days on */
	            "sam str 0x00000000 -999999999 1 1:1\n"  /* as the next line says, too */
	            "sam str 0x00000000 -10 1 1:1\n"         /* 4294967286 */
	            "thr crt 0x2000 0x00000001\n"
	            "sam str 0x00000001 10 1 0:0 0x0\n" /* 4294967306 */
	            "sam str 0x00000000 -5 1 1:1\n"     /* 4294967291 */
	            "sam str 0x00000001 20 1 1:1\n",
	      SAMPLES,
	      "2.14748e+09 stack-sample 0 /a value 1 a\n"
	      "2.14748e+09 stack-sample 0 /a 10 ms value 1 a\n"
	      "3.29497e+09 stack-sample 0 /a 1.14748e+09 ms value 1 a\n"
	      "3.29497e+09 stack-sample 0 /a 1 ms value 1 a\n"
	      "4.29497e+09 stack-sample 0 /a 1e+09 ms value 1 a\n"
	      "4.29497e+09 stack-sample 0 /a 5 ms value 1 a\n"
	      "4.29497e+09 stack-sample 1 /a value 1 a\n"
	      "4.29497e+09 stack-sample 1 /a 10 ms value 1 a\n");
}

/* One line with a time from nowhere does not take the others along. */
static void test_outlier(void **state)
{
	(void)state;
	check(NAMES "sam str 0x00000000 10 1 0:0 0x0\n"
	            "thr cpu 0x00000000 -300000000 5\n"
	            "sam str 0x00000000 20 1 1:1\n"
	            "sam str 0x00000000 30 1 1:1\n",
	      SAMPLES,
	      "10 stack-sample 0 /a value 1 a\n20 stack-sample 0 /a 10 ms value 1 a\n"
	      "30 stack-sample 0 /a 10 ms value 1 a\n");
	/* Two of them, the one later than the other. */
	check(NAMES "sam str 0x00000000 10 1 0:0 0x0\n"
	            "thr cpu 0x00000000 300000000 5\n"
	            "thr cpu 0x00000000 1000000000 5\n"
	            "sam str 0x00000000 20 1 1:1\n",
	      SAMPLES, "10 stack-sample 0 /a value 1 a\n20 stack-sample 0 /a 10 ms value 1 a\n");
}

/* Nothing is before the start of the log: a negative time just behind it is one just below the first wrap. */
static void test_below_the_start(void **state)
{
	static const char log[] = "thr crt 0x1000 0x00000000\nprc cpu 10 1\nprc cpu -5 1\nprc cpu 20 1\n";
	static const uint64_t ms[] = {10, 20, 4294967291};
	struct tw_reader *reader;
	struct tw_batch batch;
	size_t found = 0;
	(void)state;
	assert_int_equal(tw_open_memory(&reader, "test", log, sizeof log - 1, NULL), 0);
	while (tw_read(reader, &batch) > 0)
		for (size_t i = 0; i < batch.count; i++)
			if (batch.events[i].kind == TW_COUNTER) {
				const uint64_t expected = found < sizeof ms / sizeof *ms ? ms[found] : 0;
				assert_int_equal(batch.events[i].time, expected * 1000000);
				found++;
			}
	assert_int_equal(found, 3);
	tw_close(reader);
}

/* Lines that are days apart, through two wraps of 49.7 days. */
static void test_far_apart(void **state)
{
	enum { LINES = 60, MS_PER_DAY = 86400000 };
	static const uint64_t apart[] = {2, 10, 20};
	static char log[LINES * 64];
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct tw_reader *reader;
		struct tw_batch batch;
		size_t used = (size_t)snprintf(log, sizeof log, "thr crt 0x1000 0x00000000\n");
		uint64_t line = 0, step = apart[i] * MS_PER_DAY;
		for (unsigned j = 0; j < LINES; j++)
			used += (size_t)snprintf(log + used, sizeof log - used, "prc cpu %d 1\n",
			                         (int32_t)(uint32_t)(j * step));
		assert_int_equal(tw_open_memory(&reader, "test", log, used, NULL), 0);
		while (tw_read(reader, &batch) > 0)
			for (size_t k = 0; k < batch.count; k++)
				if (batch.events[k].kind == TW_COUNTER)
					assert_int_equal(batch.events[k].time, line++ * step * 1000000);
		assert_int_equal(line, LINES);
		tw_close(reader);
	}
}

static void test_pauses(void **state)
{
	(void)state;
	check(NAMES "apd crf 0x100 0x1068 0x00000000 \"host\"\n"
	            "sam str 0x00000000 10 1 0:0 0x0\n"
	            "prf tps 15\nprf trs 500\n"
	            "sam str 0x00000000 510 1 1:1\n"
	            "sam str 0x00000000 520 1 1:1\n",
	      SAMPLES | BIT(TW_SLICE_BEGIN) | BIT(TW_SLICE_END),
	      "10 stack-sample 0 /a value 1 a\n"
	      "15 slice-begin process 4200 /paused\n"
	      "500 slice-end process 4200 /paused\n"
	      "510 stack-sample 0 /a 10 ms value 1 a\n"
	      "520 stack-sample 0 /a 10 ms value 1 a\n");
}

/* Without a timer, time goes to the stack that was there since the record before; CPU time is shared by it. */
static void test_instrumentation(void **state)
{
	(void)state;
	check(NAMES "prf cfg CollectionMethod Instrumentation\n"
	            "sam str 0x00000000 10 0 0:0 0x0\n"
	            "sam str 0x00000000 30 0 1:1 0x1\n" /* 20 ms in a */
	            "sam str 0x00000000 30 0 2:2 0x2\n" /* none in b */
	            "prf tps 35\nprf trs 100\n"
	            "sam str 0x00000000 105 0 1:3\n" /* 5 ms in c, without the pause */
	            "thr cpu 0x00000000 105 25\n",
	      SAMPLES | BIT(TW_CPU_SAMPLE),
	      "30 stack-sample 0 /a 20 ms a\n"
	      "105 stack-sample 0 /c 5 ms a>b>c\n"
	      "105 cpu-sample 0 /a value 20000 a\n"
	      "105 cpu-sample 0 /c value 5000 a>b>c\n");
	check(NAMES "prf cfg CollectionMethod Sampling\n"
	            "sam str 0x00000000 10 0 0:0 0x0\n"
	            "sam str 0x00000000 30 0 1:1 0x1\n",
	      SAMPLES, "");
}

/* ---- CPU time. ---- */

static void test_usage(void **state)
{
	(void)state;
	check(NAMES "prf cfg CpuTraceTimeoutMs 20\n"
	            "thr cpu 0x00000000 20 5000\n"
	            "prc cpu 20 30000\n"
	            "prc cpu 30 10000\n"
	            "thr cpu 0x00000000 30 18446744073709551586\n"
	            "thr cpu 0x00000000 30 10\n",
	      BIT(TW_COUNTER),
	      "20 counter 0 cpu/thread CPU us=5000 percent=25 interval_us=20000\n"
	      "20 counter process 0 cpu/process CPU us=30000 percent=150 interval_us=20000\n"
	      "30 counter process 0 cpu/process CPU us=10000 percent=100\n"
	      "30 counter 0 cpu/thread CPU us=-30 percent=-0.3\n"
	      "30 counter 0 cpu/thread CPU us=10\n");
}

/* 10 us over 3 ticks, 1 and 2: 3333 and 6667 ns. Then 7 us without a sample; then 20 us taken back from 21; then by
 * time. */
static void test_share(void **state)
{
	(void)state;
	check(NAMES "sam str 0x00000000 10 1 0:0 0x0\n"
	            "sam str 0x00000000 20 2 1:1 0x1\n"
	            "thr cpu 0x00000000 20 10\n"
	            "thr cpu 0x00000000 30 7\n"
	            "sam str 0x00000000 40 1 1:2\n"
	            "thr cpu 0x00000000 40 18446744073709551596\n"
	            "sam str 0x00000000 50 1 1:1\n"
	            "thr cpu 0x00000000 50 21\n"
	            "str sam 0x00000000 60 ? 1:1\n"
	            "str sam 0x00000000 90 ? 1:1 0x1\n"
	            "thr cpu 0x00000000 90 4\n",
	      BIT(TW_CPU_SAMPLE),
	      "20 cpu-sample 0 /a value 3333 a\n"
	      "20 cpu-sample 0 /b value 6667 a>b\n"
	      "30 cpu-sample 0 / value 7000 \n"
	      "50 cpu-sample 0 /a value 1000 a\n"
	      "90 cpu-sample 0 /a value 1000 a\n"
	      "90 cpu-sample 0 /b value 3000 a>b\n");
}

/* ---- Compilations and collections. ---- */

/* A pointer means what it was announced as when the compilation ends; threads by either number; one inside another. */
static void test_compilations(void **state)
{
	(void)state;
	check(NAMES "thr aos 0x00000000 4200\n"
	            "fun inf 0x00000000 0xE000 0x0 0x0 0x06000001\n"
	            "jit cms 4200 10 0xE000\n"
	            "jit css 0x00000000 11 0xE100\n"
	            "fun inf 0x00000001 0xE100 0x0 0x0 0x06000002\n"
	            "jit csf 0x00000000 12 0xE100\n"
	            "fun inf 0x00000002 0xE000 0x0 0x0 0x06000003 0x1000:0x40 0x2000:0x20\n"
	            "jit cmf 4200 15 0xE000 0x80004005\n"
	            "jit cms 4200 20 0xE100\n"
	            "jit cms 4200 21 0xE000\n"
	            "jit cmf 4200 22 0xE100 0x00000000\n"
	            "jit cms 4200 30 0xE100\n",
	      BIT(TW_SLICE_COMPLETE) | BIT(TW_SLICE_BEGIN),
	      "10 slice-complete 0 jit/c 5 ms code_bytes=96 body=1 status=0x80004005\n"
	      "11 slice-complete 0 jit-cached/b 1 ms body=1\n"
	      "20 slice-complete 0 jit/b 2 ms body=2\n"
	      "21 slice-complete 0 jit/c 1 ms unwound body=1\n"
	      "30 slice-begin 0 jit/b body=3\n");
}

/* Thread 4300 is none of the managed; a collection in the background ends in another thread than it began. A thread
 * of the system stands behind all numbers of the profiler. */
static void test_collections(void **state)
{
	(void)state;
	check(NAMES "thr aos 0x00000000 4200\nthr crt 0x2000 0x00000001\nthr aos 0x00000001 4201\n"
	            "gch gcs 4200 10 induced tttt\n"
	            "gch gcs 4201 11 ? ttff\n"
	            "gch gcf 4201 13\n"
	            "gch gcf 4300 20\n"
	            "thr aos 0x00000001 4200\n"
	            "gch gcs 4200 30 ? tfff\n"
	            "gch gcf 4200 31\n"
	            "gch gcs 4300 40 ? tfff\n"
	            "gch gcf 4300 41\n"
	            "gch gcs ? 50 ? tfff\n"
	            "gch gcf ? 52\n",
	      BIT(TW_SLICE_COMPLETE),
	      "10 slice-complete 0 gc/GC 10 ms reason=induced generations=0 1 2 LOH\n"
	      "11 slice-complete 1 gc/GC 2 ms reason=? generations=0 1\n"
	      "30 slice-complete 1 gc/GC 1 ms reason=? generations=0\n"
	      "40 slice-complete 4294971596 gc/GC 1 ms reason=? generations=0\n"
	      "50 slice-complete 18446744071562067967 gc/GC 2 ms reason=? generations=0\n");
}

/* A class that is in no table any more has nothing on the heap. */
static void test_heap(void **state)
{
	(void)state;
	check(NAMES "gch alt 10 0x0:120:5760 0x1:4:131072\n"
	            "gch alt 20 0x1:5:131073\n"
	            "gch alt 30\n"
	            "gch gen 30 loh:1:2 gen2:3:4 gen1:5:6 gen0:7:8\n",
	      BIT(TW_COUNTER),
	      "10 counter process 0 heap/C count=120 bytes=5760\n"
	      "10 counter process 0 heap/D id 0x1 count=4 bytes=131072\n"
	      "20 counter process 0 heap/D id 0x1 count=5 bytes=131073\n"
	      "20 counter process 0 heap/C count=0 bytes=0\n"
	      "30 counter process 0 heap/D id 0x1 count=0 bytes=0\n"
	      "30 counter process 0 generation/LOH allocated=1 reserved=2\n"
	      "30 counter process 0 generation/generation 2 allocated=3 reserved=4\n"
	      "30 counter process 0 generation/generation 1 allocated=5 reserved=6\n"
	      "30 counter process 0 generation/generation 0 allocated=7 reserved=8\n");
}

/* ---- Objects, names, metadata, gaps. ---- */

static void test_objects(void **state)
{
	(void)state;
	check("prf stm 2018-06-25 07:24:28.049 +09:00\nprf cfg SamplingTimeoutMs 10\n"
	      "thr crt 0x1000 0x00000000\nthr aos 0x00000000 4200\n"
	      "apd crf 0x100 0x1068 0x00000000 \"host\"\n"
	      "mod ldf 0x200 0x4000 0x300 0x00000000 \"a.dll\"\n"
	      "asm ldf 0x300 0x100 0x200 0x00000000 \"a\"\n"
	      "cls ldf 0x400 0x00000007 0x200 0x02000010 0x00000000\n"
	      "cls nam 0x00000007 \"C\"\n"
	      "prf tps 5\nthr dst 0x00000000\nwhat is this\n",
	      UINT32_MAX & ~BIT(TW_SLICE_BEGIN),
	      "0 metadata process 4200 session/start time=2018-06-25 07:24:28.049 +09:00\n"
	      "0 metadata process 4200 configuration/SamplingTimeoutMs value=10\n"
	      "0 object 0 thread/thread id 0x1000 iid=0 change=created\n"
	      "0 object 0 thread/OS thread 4200 id 0x1000 iid=0 change=assigned os_thread=4200\n"
	      "0 object process 4200 domain/host id 0x100 process=4200\n"
	      "0 object process 4200 module/a.dll id 0x200 base=0x4000 assembly=0x300(a)\n"
	      "0 object process 4200 assembly/a id 0x300 domain=0x100(host) module=0x200(a.dll)\n"
	      "0 object process 4200 class/C id 0x400 iid=7 module=0x200(a.dll)\n"
	      "5 object 0 thread/OS thread 4200 id 0x1000 iid=0 change=destroyed\n"
	      "5 lost process 4200 / value 13\n");
}

/* What a function belongs to, whatever comes first. */
static void test_names(void **state)
{
	static const char log[] = "thr crt 0x1000 0x00000000\nsam str 0x00000000 1 1 0:0 0x5\n"
				  "fun inf 0x00000005 0xE000 0x400 0x200 0x06000001\n"
				  "cls ldf 0x400 0x00000007 0x200 0x02000010 0x00000000\n"
				  "mod ldf 0x200 0x4000 0x300 0x00000000 \"a.dll\"\n"
				  "cls nam 0x00000007 \"C\"\nfun nam 0x00000005 \"C::m\" \"void\" \"()\"\n";
	struct tw_reader *reader;
	struct tw_batch batch;
	uint32_t number = 0;
	(void)state;
	assert_int_equal(tw_open_memory(&reader, "test", log, sizeof log - 1, NULL), 0);
	/* All of it stands in the window by the first batch, so that names are there in time. */
	assert_true(tw_read(reader, &batch) > 0);
	for (size_t i = 0; i < batch.count; i++)
		number = batch.events[i].kind == TW_STACK_SAMPLE ? batch.events[i].name : number;
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	const struct tw_name *name = tw_dictionary_name(dictionary, number);
	assert_string_equal(name->text, "C::m");
	assert_int_equal(name->id, 5);
	assert_string_equal(text_of(dictionary, name->owner), "C");
	assert_string_equal(text_of(dictionary, name->module), "a.dll");
	assert_string_equal(text_of(dictionary, tw_dictionary_name(dictionary, name->owner)->module), "a.dll");
	tw_close(reader);
}

/* A pointer that is used again means the new module, and the functions of the old one keep theirs. */
static void test_reuse(void **state)
{
	static const char log[] =
	    "mod ldf 0x200 0x4000 0x0 0x00000000 \"a.dll\"\n"
	    "fun inf 0x00000005 0xE000 0x0 0x200 0x06000001\nfun nam 0x00000005 \"x\" \"\" \"\"\n"
	    "mod ldf 0x200 0x4000 0x0 0x00000000 \"b.dll\"\n"
	    "fun inf 0x00000006 0xE000 0x0 0x200 0x06000001\nfun nam 0x00000006 \"y\" \"\" \"\"\n";
	struct tw_reader *reader;
	struct tw_batch batch;
	(void)state;
	assert_int_equal(tw_open_memory(&reader, "test", log, sizeof log - 1, NULL), 0);
	while (tw_read(reader, &batch) > 0)
		;
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	unsigned found = 0;
	for (uint32_t i = 0; i < tw_dictionary_names(dictionary); i++) {
		const struct tw_name *name = tw_dictionary_name(dictionary, i);
		if (strcmp(name->text, "x") == 0 && ++found)
			assert_string_equal(text_of(dictionary, name->module), "a.dll");
		if (strcmp(name->text, "y") == 0 && ++found)
			assert_string_equal(text_of(dictionary, name->module), "b.dll");
	}
	assert_int_equal(found, 2);
	tw_close(reader);
}

/* ---- Options. ---- */

#define TWO                                                                                                            \
	NAMES "thr crt 0x2000 0x00000001\nprf tps 1\nprf trs 2\nsam str 0x00000000 10 1 0:0 0x0\n"                     \
	      "sam str 0x00000001 15 1 0:0 0x1\nsam str 0x00000000 20 1 1:1 0x2\nsam mem 0x00000001 12 0x0:1:24\n"

static void test_options(void **state)
{
	const uint64_t threads[] = {1};
	const uint32_t kinds = SAMPLES | BIT(TW_ALLOCATION_SAMPLE) | BIT(TW_SLICE_BEGIN);
	(void)state;
	check_with(TWO, kinds, &(struct tw_read_options){.threads = threads, .thread_count = 1},
	           "12 allocation-sample 1 /C value 24 id 0x1 b\n15 stack-sample 1 /b value 1 b\n");
	check_with(TWO, kinds, &(struct tw_read_options){.from_ns = 12000000, .to_ns = 16000000},
	           "12 allocation-sample 1 /C value 24 id 0x1 b\n15 stack-sample 1 /b value 1 b\n");
	check_with(NAMES "fun inf 0x00000000 0xE000 0x0 0x0 0x1\nfun inf 0x00000001 0xE100 0x0 0x0 0x2\n"
	                 "jit cms 0x00000000 10 0xE000\njit cmf 0x00000000 11 0xE000 0x00000000\n"
	                 "jit css 0x00000000 12 0xE100\njit csf 0x00000000 13 0xE100\n",
	           BIT(TW_SLICE_COMPLETE), &(struct tw_read_options){.function = "b", .category = "jit-*"},
	           "12 slice-complete 0 jit-cached/b 1 ms body=1\n");
	check_with(
	    TWO, SAMPLES | BIT(TW_ALLOCATION_SAMPLE), &(struct tw_read_options){.order = TW_ORDER_FILE},
	    "10 stack-sample 0 /a value 1 a\n15 stack-sample 1 /b value 1 b\n20 stack-sample 0 /c 10 ms value 1 a>c\n"
	    "12 allocation-sample 1 /C value 24 id 0x1 b\n");
	check_with(TWO, UINT32_MAX, &(struct tw_read_options){.checking = TW_CHECK_ALL, .findings_only = true}, "");
}

/* ---- Damage. ---- */

static char *read_log(const char *name, size_t *size)
{
	char path[512];
	snprintf(path, sizeof path, "%s/tracelog/%s", getenv("TW_TEST_DATA"), name);
	char *bytes = malloc(ROOM);
	*size = read_file(path, bytes, ROOM);
	return bytes;
}

static size_t count_lost(const char *text)
{
	size_t count = 0;
	for (; (text = strstr(text, " lost ")); text++)
		count++;
	return count;
}

/* Each line but one of a log with every kind of record: how many lines are lost, and what is said of the others. */
static void test_each_line(void **state)
{
	static struct sheet sheet;
	static const char garbage[] = "%%% \x01\xff garbage";
	size_t size, lines = 0;
	char *log = read_log("kinds.log", &size), *broken = malloc(ROOM);
	(void)state;
	for (size_t at = 0; at < size; lines++) {
		size_t end = (size_t)((const char *)memchr(log + at, '\n', size - at) - log);
		size_t used = 0;
		memcpy(broken, log, at);
		used = at;
		memcpy(broken + used, garbage, sizeof garbage - 1);
		used += sizeof garbage - 1;
		memcpy(broken + used, log + end, size - end);
		used += size - end;
		read_events(&sheet, broken, used, UINT32_MAX, NULL);
		assert_int_equal(count_lost(sheet.text), 1);
		/* The last records are there, whatever is not. */
		assert_true(at > size - 300 || strstr(sheet.text, "change=destroyed"));
		at = end + 1;
	}
	assert_true(lines > 60);
	free(broken);
	free(log);
}

/* ---- The dictionary. ---- */

static void test_dictionary(void **state)
{
	struct tw_dictionary *dictionary = tw_dictionary_new();
	(void)state;
	uint32_t a = tw_dictionary_text(dictionary, "a"), b = tw_dictionary_text(dictionary, "b");
	struct tw_location at_a = {.name = a}, at_a_too = {.name = a, .address = 16}, at_b = {.name = b};
	assert_int_equal(tw_dictionary_find_location(dictionary, &at_a), UINT32_MAX);
	uint32_t la = tw_dictionary_add_location(dictionary, &at_a);
	uint32_t la2 = tw_dictionary_add_location(dictionary, &at_a_too);
	uint32_t lb = tw_dictionary_add_location(dictionary, &at_b);
	assert_int_equal(tw_dictionary_add_location(dictionary, &at_a), la);
	assert_int_equal(tw_dictionary_find_location(dictionary, &at_a_too), la2);
	assert_true(la != la2 && la2 != lb && la != lb && la > 0);

	assert_int_equal(tw_dictionary_find_push(dictionary, 0, la), UINT32_MAX);
	uint32_t s1 = tw_dictionary_push(dictionary, 0, la), s2 = tw_dictionary_push(dictionary, s1, lb);
	assert_int_equal(tw_dictionary_push(dictionary, 0, la), s1);
	assert_int_equal(tw_dictionary_find_push(dictionary, s1, lb), s2);
	assert_int_equal(tw_dictionary_stack(dictionary, s2)->depth, 2);
	assert_int_equal(tw_dictionary_stack(dictionary, s2)->caller, s1);
	assert_int_equal(tw_dictionary_stack(dictionary, s2)->location, lb);
	assert_int_equal(tw_dictionary_stack(dictionary, 0)->depth, 0);
	assert_int_equal(tw_dictionary_stack(dictionary, 999)->depth, 0);
	assert_int_equal(tw_dictionary_stacks(dictionary), 3);

	tw_dictionary_locate(dictionary, la2, b, 12);
	assert_int_equal(tw_dictionary_location(dictionary, la2)->line, 12);
	assert_int_equal(tw_dictionary_location(dictionary, la2)->file, b);
	assert_int_equal(tw_dictionary_location(dictionary, 999)->line, 0);

	/* A name keeps its number, and is found by its new text. */
	struct tw_name name = {.text = "c", .length = 1, .id = 7, .owner = b};
	assert_true(tw_dictionary_rename(dictionary, a, &name));
	assert_string_equal(text_of(dictionary, a), "c");
	assert_int_equal(tw_dictionary_find(dictionary, &name), a);
	assert_int_equal(tw_dictionary_name(dictionary, a)->owner, b);
	assert_int_equal(tw_dictionary_find(dictionary, &(struct tw_name){.text = "a", .length = 1}), UINT32_MAX);
	tw_dictionary_free(dictionary);
}

SUITE(tracelog_reader)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_deltas),
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_mismatch),
	    cmocka_unit_test(test_instructions),
	    cmocka_unit_test(test_deep),
	    cmocka_unit_test(test_offsets),
	    cmocka_unit_test(test_bodies),
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_wrap),
	    cmocka_unit_test(test_outlier),
	    cmocka_unit_test(test_below_the_start),
	    cmocka_unit_test(test_far_apart),
	    cmocka_unit_test(test_pauses),
	    cmocka_unit_test(test_instrumentation),
	    cmocka_unit_test(test_usage),
	    cmocka_unit_test(test_share),
	    cmocka_unit_test(test_compilations),
	    cmocka_unit_test(test_collections),
	    cmocka_unit_test(test_heap),
	    cmocka_unit_test(test_objects),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_reuse),
	    cmocka_unit_test(test_options),
	    cmocka_unit_test(test_each_line),
	    cmocka_unit_test(test_dictionary),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
