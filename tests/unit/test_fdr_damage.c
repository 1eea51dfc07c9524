/* test_fdr_damage.c - whatever happens to one buffer, every event of the others is delivered. */
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

#include "base/bytes/bytes.h"
#include "files.h"
#include "suite.h"

enum { ROOM = 1 << 14 };

static uint8_t whole[ROOM], damaged[ROOM];
static size_t size;
static bool wanted[ROOM]; /* by offset: an event comes from here in the undamaged log */
static bool found[ROOM];
static size_t borders[64], border_count; /* where buffers begin; the last is the end */
static uint32_t stride = 1;              /* TRACKWAY_STRIDE: with sanitizers this is only about memory */
static size_t share = 1;                 /* its square: one damage of so many is tried */

/* Whether a damage is tried: of neighbours, and of kinds at one place, each time another. */
static bool tried(size_t number)
{
	return number % share == 0;
}

static const char *log_name;

static void load(const char *name)
{
	char path[512];
	const char *root = getenv("TRACKWAY_SOURCE");
	log_name = name;
	snprintf(path, sizeof path, "%s/tests/data/xray/%s", root ? root : ".", name);
	size = read_file(path, whole, sizeof whole);
	assert_in_range(size, 64, sizeof whole - 1);
}

static void count_finding(void *context, const struct tw_finding *finding)
{
	uint64_t *count = context;
	assert_true(strlen(finding->text) > 0);
	*count += finding->severity == TW_ERROR;
}

/* Reads bytes to the end and marks where events came from. Returns the errors found, UINT64_MAX when nothing was
 * readable. */
static uint64_t read_all(const uint8_t *bytes, size_t length, enum tw_order order, bool *marks)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	uint64_t errors = 0;
	struct tw_read_options options = {.order = order, .on_finding = count_finding, .finding_context = &errors};
	memset(marks, 0, ROOM * sizeof *marks);
	int status = tw_open_memory(&reader, "test", bytes, length, &options);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			assert_in_range(batch.events[i].offset, 0, length);
			if (batch.events[i].kind != TW_LOST)
				marks[batch.events[i].offset] = true;
		}
	tw_close(reader);
	return status < 0 ? UINT64_MAX : errors;
}

/* Where the buffers of the undamaged log begin, from the first bytes that the format gives them. */
static void find_borders(void)
{
	bool big = whole[0] == 0, msb = big && whole[32] & 0x80;
	uint8_t extents = msb ? 0x87 : 0x0f, new_buffer = msb ? 0x80 : 0x01, wall = msb ? 0x84 : 0x09;
	border_count = 0;
	for (size_t at = 32; at + 48 <= size; at++) {
		size_t lead = whole[at] == extents && whole[at + 16] == new_buffer && whole[at + 32] == wall ? 16 : 0;
		if (lead || (whole[at] == new_buffer && whole[at + 16] == wall)) {
			borders[border_count++] = at;
			at += lead + 16;
		}
	}
	borders[border_count] = size;
	assert_true(border_count >= 2);
}

static void expect_others(size_t from, size_t to, size_t where, const char *what)
{
	if (!memcmp(wanted + 32, found + 32, from - 32) && !memcmp(wanted + to, found + to, size - to))
		return;
	for (size_t at = 32; at < size; at++)
		if (wanted[at] && (at < from || at >= to) && !found[at])
			fail_msg("%s: %s at 0x%zx loses the event at 0x%zx", log_name, what, where, at);
}

static void prepare(const char *name)
{
	load(name);
	find_borders();
	assert_int_equal(read_all(whole, size, TW_ORDER_TRACK, wanted), 0);
}

/* Runs one kind of damage over every byte of every buffer. */
static void damage_each(const char *name, void (*hurt)(size_t at, unsigned i), unsigned variants, const char *what)
{
	prepare(name);
	for (size_t k = 0; k < border_count; k++)
		for (size_t at = borders[k]; at < borders[k + 1]; at++)
			for (unsigned i = 0; i < variants; i++) {
				if (!tried(at + i))
					continue;
				memcpy(damaged, whole, size);
				hurt(at, i);
				assert_true(read_all(damaged, size, i & 1 ? TW_ORDER_FILE : TW_ORDER_TRACK, found) !=
				            UINT64_MAX);
				expect_others(borders[k], borders[k + 1], at, what);
			}
}

static void flip(size_t at, unsigned i)
{
	damaged[at] ^= (uint8_t)(1u << i);
}

static void smash(size_t at, unsigned i)
{
	static const uint8_t values[] = {0x00, 0xff, 0x0f, 0x01, 0x80};
	damaged[at] = values[i];
}

static const char *const logs[] = {
    "v1.xray", "v1-padded-zero.xray",  "v1-padded-garbage.xray", "v2.xray",        "v3-typed.xray",  "v4.xray",
    "v5.xray", "v5-out-of-order.xray", "be-msb-v1.xray",         "be-msb-v5.xray", "be-lsb-v5.xray", "le-py-v5.xray",
};

static void test_flips(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
		damage_each(logs[i], flip, 8, "a flipped bit");
}

static void test_smashed_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
		damage_each(logs[i], smash, 5, "a smashed byte");
}

/* Takes `count` bytes out, or puts them in: the buffers behind are elsewhere, and all there. */
static void shift_each(const char *name, size_t count, bool out)
{
	prepare(name);
	for (size_t k = 0; k < border_count; k++)
		for (size_t at = borders[k]; at + (out ? count : 1) <= borders[k + 1]; at++) {
			if (!tried(at + count))
				continue;
			size_t length = out ? size - count : size + count;
			size_t behind = at + (out ? count : 0), moved = behind + length - size;
			memcpy(damaged, whole, at);
			memset(damaged + at, 0x5a, count);
			memcpy(damaged + moved, whole + behind, size - behind);
			assert_true(read_all(damaged, length, at & 1 ? TW_ORDER_FILE : TW_ORDER_TRACK, found) !=
			            UINT64_MAX);
			memmove(found + behind, found + moved, (size - behind) * sizeof *found);
			expect_others(borders[k], borders[k + 1], at, out ? "a gap" : "what was put in");
		}
}

static void test_shifts(void **state)
{
	static const size_t counts[] = {1, 2, 8, 13, 16, 30};
	(void)state;
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
		for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
			shift_each(logs[i], counts[k], true);
			shift_each(logs[i], counts[k], false);
		}
}

static void test_cuts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
		prepare(logs[i]);
		for (size_t length = 32; length < size; length++) {
			if (!tried(length + i))
				continue;
			memcpy(damaged, whole, length);
			read_all(damaged, length, length & 1 ? TW_ORDER_TRACK : TW_ORDER_TIME, found);
			size_t last = 32;
			for (size_t k = 0; k < border_count && borders[k] <= length; k++)
				last = borders[k];
			expect_others(last, size, length, "a cut");
		}
	}
}

/* Bytes of any kind between two buffers. */
static void test_junk_between(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
		prepare(logs[i]);
		for (size_t length = 1; length < 200; length += 7)
			for (unsigned fill = 0; fill < 256; fill += 5) {
				size_t at = borders[1];
				if (!tried(length + fill))
					continue;
				memcpy(damaged, whole, at);
				memset(damaged + at, (int)fill, length);
				memcpy(damaged + at + length, whole + at, size - at);
				read_all(damaged, size + length, TW_ORDER_TRACK, found);
				memmove(found + at, found + at + length, (ROOM - at - length) * sizeof *found);
				expect_others(borders[0], borders[1], at, "junk");
			}
	}
}

/* ---- Buffers from which a walk, moved by four bytes, goes over all that follow. ---- */

enum { MANY = 40000 };

static uint8_t *put_metadata(uint8_t *to, unsigned kind, uint64_t value, uint32_t more)
{
	memset(to, 0, 16);
	to[0] = (uint8_t)(kind << 1 | 1);
	tw_store64(to + 1, value, false);
	tw_store32(to + 9, more, false);
	return to + 16;
}

/* BufferExtents that end where an event of four bytes begins, and then four bytes of nothing. Version 1 has none. */
static uint8_t *put_buffer(uint8_t *to, unsigned version, bool has_pid, uint32_t thread)
{
	if (version > 1)
		to = put_metadata(to, 7, has_pid ? 48 : 32, 0);
	to = put_metadata(to, 0, thread, 0);
	to = put_metadata(to, 4, 1000, 5000000);
	if (has_pid)
		to = put_metadata(to, 9, 6, 0);
	to = put_metadata(to, 5, 4, 0);
	memset(to, 0, 8);
	return to + 8;
}

/* The same without extents: a call whose delta, four bytes further on, is an event of four bytes, and four bytes of
 * nothing. */
static uint8_t *put_bare_buffer(uint8_t *to, uint32_t thread)
{
	to = put_metadata(to, 0, thread, 0);
	to = put_metadata(to, 4, 1000, 5);
	to = put_metadata(to, 9, 6, 0);
	tw_store32(to, 1 << 4, false);
	tw_store32(to + 4, 5 << 1 | 1 | 4 << 8, false);
	memset(to + 8, 0, 4);
	return to + 12;
}

/* Reads them all. To go over the rest of the file for each would take longer than a test may. */
static void expect_read(unsigned version, bool has_pid, bool bare)
{
	const uint32_t many = (bare ? 10 * MANY : MANY) / stride;
	uint8_t *log = calloc(many + 1, 96), *end = log + 32;
	struct tw_reader *reader;
	struct tw_batch batch;
	assert_non_null(log);
	tw_store32(log, 1 << 16 | version, false);
	tw_store32(log + 4, 3, false);
	tw_store64(log + 8, 1000000000, false);
	for (uint32_t i = 0; i < many; i++)
		end = bare ? put_bare_buffer(end, i & 0xfe) : put_buffer(end, version, has_pid, i & 0xfe);
	tw_store64(log + 16, (uint64_t)(end - log - 32) / many, false);
	int status = tw_open_memory(&reader, "test", log, (size_t)(end - log), NULL);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		continue;
	assert_int_equal(status, 0);
	tw_close(reader);
	free(log);
}

static void test_many_walks(void **state)
{
	(void)state;
	expect_read(1, false, false);
	expect_read(3, false, false);
	expect_read(3, true, false);
	expect_read(3, true, true);
}

SUITE(fdr_damage)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_flips), cmocka_unit_test(test_smashed_bytes), cmocka_unit_test(test_shifts),
	    cmocka_unit_test(test_cuts),  cmocka_unit_test(test_junk_between),  cmocka_unit_test(test_many_walks),
	};
	const char *given = getenv("TRACKWAY_STRIDE");
	long number = given ? strtol(given, NULL, 10) : 1;
	stride = number > 1 && number < MANY ? (uint32_t)number : 1;
	share = (size_t)stride * stride;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
