/* sql_archives.h - traces of random calls, long enough for an index, in three formats. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ARCHIVES_H
#define SQL_ARCHIVES_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/bytes.h"

/* ---- An archive whose threads take turns of hundreds of records, so that a block has times of its own. ---- */

struct archive {
	uint8_t *bytes;
	size_t size, room;
	uint32_t random;
};

static inline uint32_t draw(struct archive *archive, uint32_t below)
{
	archive->random = archive->random * 1664525 + 1013904223;
	return (archive->random >> 8) % below;
}

static inline void put_word(struct archive *archive, uint64_t word)
{
	if (archive->size + 8 > archive->room) {
		archive->room = archive->room ? 2 * archive->room : 1 << 16;
		archive->bytes = realloc(archive->bytes, archive->room);
		assert_non_null(archive->bytes);
	}
	for (int i = 0; i < 8; i++)
		archive->bytes[archive->size++] = (uint8_t)(word >> (8 * i));
}

static inline void put_string(struct archive *archive, uint64_t index, char letter)
{
	put_word(archive, 2 | 2 << 4 | index << 16 | UINT64_C(1) << 32);
	put_word(archive, (uint8_t)letter);
}

enum { THREADS = 3, NAMES = 5, INSTANT = 0, BEGIN = 2, END = 3, COMPLETE = 4 };

static inline void put_event(struct archive *archive, uint64_t kind, uint64_t thread, uint64_t name, uint64_t time,
                             uint64_t end)
{
	put_word(archive,
	         4 | (kind == COMPLETE ? 3u : 2u) << 4 | kind << 16 | thread << 24 | UINT64_C(1) << 32 | name << 48);
	put_word(archive, time);
	if (kind == COMPLETE)
		put_word(archive, end);
}

/* Some hundred records of a thread; times only grow. Some slices have no end, and some ends none to end. */
static inline void put_turn(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[], unsigned *depth)
{
	for (int i = 0; i < 300; i++) {
		uint64_t name = 1 + draw(archive, NAMES);
		*time += 1 + draw(archive, 900);
		uint32_t what = draw(archive, 100);
		if (what < 35 && *depth < 12) {
			put_event(archive, BEGIN, thread, name, *time, 0);
			stack[(*depth)++] = name;
		} else if (what < 70 && *depth) {
			put_event(archive, END, thread, stack[--*depth], *time, 0);
		} else if (what < 72) {
			put_event(archive, END, thread, name, *time, 0);
			*depth = *depth > 3 ? *depth - 1 : *depth;
		} else if (what < 90) {
			put_event(archive, COMPLETE, thread, name, *time, *time + draw(archive, 3000));
		} else {
			put_event(archive, INSTANT, thread, name, *time, 0);
		}
	}
}

/* The same of calls that nest, complete slices written when they end; a few go on from turn to turn. */
static inline void put_nesting_turn(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[],
                                    unsigned *depth)
{
	for (int i = 0; i < 300; i++) {
		uint64_t name = 1 + draw(archive, NAMES), begin = *time += 1 + draw(archive, 900);
		uint32_t what = draw(archive, 3);
		if (what == 0 && *depth < 12) {
			put_event(archive, BEGIN, thread, name, *time, 0);
			stack[(*depth)++] = name;
		} else if (what == 1 && *depth) {
			put_event(archive, END, thread, stack[--*depth], *time, 0);
		} else {
			put_event(archive, COMPLETE, thread, name, begin, *time += 1 + draw(archive, 900));
		}
	}
}

typedef void put_turn_fn(struct archive *archive, uint64_t thread, uint64_t *time, uint64_t stack[], unsigned *depth);

static inline void make_archive_of(struct archive *archive, put_turn_fn *turn_of, int turns)
{
	uint64_t times[THREADS] = {1000, 1001, 1002}, stacks[THREADS][16];
	unsigned depths[THREADS] = {0};
	put_word(archive, UINT64_C(0x0016547846040010));
	put_word(archive, 1 | 2 << 4);
	put_word(archive, 1000000000);
	for (uint64_t i = 1; i <= NAMES; i++)
		put_string(archive, i, (char)('a' + i - 1));
	for (uint64_t i = 1; i <= THREADS; i++) {
		put_word(archive, 3 | 3 << 4 | i << 16);
		put_word(archive, 7);
		put_word(archive, 70 + i);
	}
	for (int turn = 0; turn < turns; turn++)
		turn_of(archive, 1 + (uint64_t)turn % THREADS, &times[turn % THREADS], stacks[turn % THREADS],
		        &depths[turn % THREADS]);
}

static inline void make_archive(struct archive *archive)
{
	make_archive_of(archive, put_turn, 150);
}

static inline void make_nesting_archive(struct archive *archive)
{
	make_archive_of(archive, put_nesting_turn, 150);
}

static inline void write_archive(const struct archive *archive, const char *path)
{
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(archive->bytes, 1, archive->size, file), archive->size);
	fclose(file);
}

/* ---- The same of an XRay log (version 5, little-endian): metadata of 16 bytes, kind << 1 | 1 first; calls of 8.
 * ---- */

enum { NEW_BUFFER, NEW_CPU = 2, WRAP, WALL, CUSTOM, ARGUMENT, EXTENTS, PID = 9, ENTER = 0, EXIT = 1, ENTER_ARGS = 3 };

/* A metadata record: 15 bytes after the kind, of two words. */
static inline void put_metadata(struct archive *archive, unsigned kind, uint64_t first, uint64_t second)
{
	put_word(archive, kind << 1 | 1 | first << 8);
	put_word(archive, first >> 56 | second << 8);
}

static inline void put_call(struct archive *archive, unsigned action, uint32_t function, uint32_t delta)
{
	put_word(archive, function << 4 | action << 1 | (uint64_t)delta << 32);
}

struct xray_thread {
	uint64_t number, tsc;
	uint32_t stack[16];
	unsigned depth;
};

/* A record that is no call. */
static inline void put_other(struct archive *archive, struct xray_thread *thread, uint32_t what)
{
	thread->tsc += 7;
	if (what == 0)
		put_metadata(archive, NEW_CPU, draw(archive, 8) | thread->tsc << 16, thread->tsc >> 48);
	else if (what == 1)
		put_metadata(archive, WRAP, thread->tsc, 0);
	else
		put_metadata(archive, CUSTOM, 8 | (uint64_t)7 << 32, 0);
	if (what == 2)
		put_word(archive, 0x0807060504030201);
}

static inline void put_calls(struct archive *archive, struct xray_thread *thread)
{
	for (int i = 0; i < 400; i++) {
		uint32_t what = draw(archive, 100), delta = 1 + draw(archive, 900), name = 1 + draw(archive, NAMES);
		if (what < 3) {
			put_other(archive, thread, what);
			continue;
		}
		thread->tsc += delta;
		if (what >= 50 || thread->depth == 12) {
			put_call(archive, EXIT, thread->depth ? thread->stack[--thread->depth] : name, delta);
			continue;
		}
		thread->stack[thread->depth++] = name;
		put_call(archive, what < 6 ? ENTER_ARGS : ENTER, name, delta);
		if (what < 6)
			put_metadata(archive, ARGUMENT, 1, 0);
	}
}

static inline void put_buffer(struct archive *archive, struct xray_thread *thread, uint64_t turn)
{
	size_t extents = archive->size;
	put_metadata(archive, EXTENTS, 0, 0);
	put_metadata(archive, NEW_BUFFER, thread->number, 0);
	put_metadata(archive, WALL, 1000, turn);
	put_metadata(archive, PID, 7, 0);
	put_metadata(archive, NEW_CPU, 1 | thread->tsc << 16, thread->tsc >> 48);
	put_calls(archive, thread);
	tw_store64(archive->bytes + extents + 1, archive->size - extents - 16, false);
}

static inline void make_log(struct archive *archive)
{
	struct xray_thread threads[THREADS] = {{.number = 71, .tsc = 3000},
	                                       {.number = 72, .tsc = 2000},
	                                       {.number = 73, .tsc = 4000}};
	put_word(archive, 5u | 1u << 16 | UINT64_C(3) << 32);
	put_word(archive, 1000000000);
	put_word(archive, 1 << 16);
	put_word(archive, 0);
	for (uint64_t turn = 0; turn < 150; turn++)
		put_buffer(archive, &threads[turn % THREADS], turn);
}

/* ---- The same for a TraceLog, whose lines say what has changed. ---- */

enum { LOG_THREADS = 5, LOG_FUNCTIONS = 40, LOG_LINES = 20000 };

struct lines {
	struct archive *archive;
	unsigned ms;
	unsigned depths[LOG_THREADS];
	unsigned known; /* functions that have a name; others get one behind their first samples */
	unsigned compiling;
	bool collecting;
};

static inline void put_line(struct lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void put_line(struct lines *lines, const char *format, ...)
{
	char line[1024];
	struct archive *archive = lines->archive;
	va_list arguments;
	va_start(arguments, format);
	int size = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	assert_true(size > 0 && size < (int)sizeof line);
	for (int i = 0; i <= size; i++) {
		if (archive->size % 8 == 0) /* makes room */
			put_word(archive, 0), archive->size -= 8;
		archive->bytes[archive->size++] = (uint8_t)(i < size ? line[i] : '\n');
	}
}

static inline void put_stack(struct lines *lines, unsigned thread)
{
	char frames[256] = "", at[32] = "";
	struct archive *archive = lines->archive;
	unsigned depth = lines->depths[thread], least = depth < 4 || draw(archive, 900) == 0 ? 0 : 4;
	unsigned match = least + draw(archive, depth - least + 1), more = draw(archive, 4);
	for (unsigned i = 0; i < more; i++) {
		size_t used = strlen(frames);
		unsigned function = draw(archive, lines->known + 1 < LOG_FUNCTIONS ? lines->known + 1 : LOG_FUNCTIONS);
		snprintf(frames + used, sizeof frames - used, draw(archive, 2) ? " 0x%x:0xB20000%02X" : " 0x%x",
		         function, 16 + draw(archive, 4) * 16);
	}
	if (match && draw(archive, 2))
		snprintf(at, sizeof at, ":0xB20001%02X", 16 + draw(archive, 3));
	put_line(lines, "sam str 0x%08x %u %u %u:%u%s%s", thread, lines->ms, draw(archive, 4), match, depth, at,
	         frames);
	lines->depths[thread] = match + more > 14 ? match : match + more;
	if (match + more > 14) /* it becomes too deep: all but what stayed is gone again */
		put_line(lines, "sam str 0x%08x %u 1 %u:%u", thread, lines->ms, match, match + more);
}

static inline void put_work(struct lines *lines, unsigned thread)
{
	if (lines->collecting)
		put_line(lines, "gch gcf %u %u", 4200 + thread, lines->ms);
	else
		put_line(lines, "gch gcs %u %u ? tfff", 4200 + thread, lines->ms);
	lines->collecting = !lines->collecting;
	if (lines->known == LOG_FUNCTIONS)
		return;
	put_line(lines, "jit cms 4200 %u 0xB6E0%04X", lines->ms, lines->known);
	put_line(lines, "fun inf 0x%08x 0xB6E0%04X 0xB6D00000 0xB6B00000 0x06000001 0xB2000000:0x200", lines->known,
	         lines->known);
	put_line(lines, "fun nam 0x%08x \"F%u\" \"void\" \"()\"", lines->known, lines->known);
	put_line(lines, "jit cmf 4200 %u 0xB6E0%04X 0x00000000", lines->ms + 2, lines->known);
	lines->known++;
}

static inline void put_any(struct lines *lines)
{
	struct archive *archive = lines->archive;
	unsigned thread = draw(archive, LOG_THREADS), what = draw(archive, 1000);
	lines->ms += draw(archive, 3);
	if (thread + 1 == LOG_THREADS && draw(archive, 400)) /* it seldom does anything */
		thread = 0;
	if (what < 600)
		put_stack(lines, thread);
	else if (what < 780)
		put_line(lines, "thr cpu 0x%08x %u %" PRIu64, thread, lines->ms,
		         draw(archive, 300) ? (uint64_t)draw(archive, 3000) : UINT64_MAX - draw(archive, 900000));
	else if (what < 850)
		put_line(lines, "prc cpu %u %u", lines->ms, draw(archive, 9000));
	else if (what < 996)
		put_line(lines, "sam mem 0x%08x %u 0x%x:1:%u", thread, lines->ms, draw(archive, 3),
		         8 + draw(archive, 99));
	else if (what < 998)
		put_line(lines, "gch alt %u 0x%x:2:%u", lines->ms, draw(archive, 3), 16 + draw(archive, 999));
	else
		put_work(lines, thread);
}

static inline void make_lines(struct archive *archive)
{
	struct lines lines = {.archive = archive, .ms = 100};
	put_line(&lines, "prf stm 2018-06-25 07:24:28.049 +09:00");
	put_line(&lines, "prf cfg CollectionMethod Sampling");
	put_line(&lines, "prf cfg CpuTraceTimeoutMs 10");
	for (unsigned i = 0; i < 3; i++)
		put_line(&lines, "cls nam 0x%08x \"C%u\"", i, i);
	for (unsigned i = 0; i < LOG_THREADS; i++) {
		put_line(&lines, "thr crt 0xB6A0%04X 0x%08x", 4096 * i, i);
		put_line(&lines, "thr aos 0x%08x %u", i, 4200 + i);
	}
	for (unsigned i = 0; i < LOG_LINES; i++)
		put_any(&lines);
}

#endif
