/* fxt_archive.h - an archive that is made or loaded, damaged, and read again: for the tests of damage. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_FXT_ARCHIVE_H
#define TESTS_FXT_ARCHIVE_H

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

enum { ROOM = 1 << 20, PART = 2200, RECORDS = ROOM / 8, LARGE = 600000 };

static uint8_t whole[ROOM], damaged[ROOM];
static size_t size;
static bool big;
static size_t records[RECORDS], record_count; /* where records begin; the last is the end */
static bool wanted[ROOM], found[ROOM];        /* by offset: an event comes from here */
static uint64_t lost, errors;

/* ---- The archive. ---- */

/* By the sizes of the headers alone. */
static inline void find_records(size_t most)
{
	record_count = 0;
	for (size_t at = 0; at < most;) {
		uint64_t header = tw_load64(whole + at, big);
		records[record_count] = at;
		at += 8 * (size_t)((header & 15) == 15 ? header >> 4 & UINT32_MAX : header >> 4 & 0xfff);
		record_count += at <= most;
		size = at <= most ? at : records[record_count];
	}
	records[record_count] = size;
}

static inline void load(const char *name, size_t most)
{
	char path[512];
	snprintf(path, sizeof path, "%s/fxt/%s", getenv("TW_TEST_DATA"), name);
	size_t read = read_file(path, whole, sizeof whole);
	big = false;
	find_records(most < read ? most : read);
}

/* The same archive in the other byte order. */
static inline void turn(void)
{
	struct tw_reader *reader;
	struct tw_rewrite_result result;
	char path[] = "/tmp/fxt_damage_XXXXXX";
	int descriptor = mkstemp(path);
	const struct tw_write_options options = {.byte_order = TW_BYTES_BIG};
	assert_true(descriptor >= 0);
	assert_int_equal(tw_open_memory(&reader, "test", whole, size, NULL), 0);
	assert_int_equal(tw_transcode(reader, path, &options, &result), 0);
	tw_close(reader);
	assert_int_equal(read_file(path, whole, sizeof whole), size);
	fclose(fdopen(descriptor, "rb"));
	remove(path);
	big = true;
}

/* ---- Reading. ---- */

static inline void count_finding(void *context, const struct tw_finding *finding)
{
	(void)context;
	assert_true(strlen(finding->text) > 0);
	errors += finding->severity == TW_ERROR;
}

static inline void read_all(const uint8_t *bytes, size_t length, enum tw_order order, bool *marks)
{
	struct tw_reader *reader;
	struct tw_batch batch;
	const struct tw_read_options options = {.format = "fxt",
	                                        .order = order,
	                                        .jobs = 1,
	                                        .on_finding = count_finding};
	memset(marks, 0, ROOM);
	lost = errors = 0;
	int status = tw_open_memory(&reader, "test", bytes, length, &options);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		for (size_t i = 0; i < batch.count; i++) {
			assert_in_range(batch.events[i].offset, 0, length);
			if (batch.events[i].kind == TW_LOST)
				lost += batch.events[i].value;
			else
				marks[batch.events[i].offset] = true;
		}
	assert_true(status == 0 || length == 0);
	tw_close(reader);
}

/* Events outside [from, to) must be there, those behind it moved by so many bytes. */
static inline void expect_others(size_t from, size_t to, size_t moved, const char *what)
{
	for (size_t at = 0; at < size; at++)
		if (wanted[at] && (at < from ? !found[at] : at >= to && !found[at + moved]))
			fail_msg("%s at 0x%zx, to 0x%zx, loses the event at 0x%zx", what, from, to + moved, at);
}

/* ---- Making one. ---- */

static inline void put(uint64_t word)
{
	tw_store64(whole + size, word, big);
	size += 8;
}

static inline void put_instant(uint64_t time)
{
	put(0x0000800001000024 | UINT64_C(0x8000) << 48); /* thread 1, empty inline strings */
	put(time);
}

static inline void put_head(void)
{
	put(0x0016547846040010);
	put(0x0000000000110010); /* provider 1 without a name */
	put(0x10033);            /* thread 1 */
	put(1);
	put(2);
}

enum { EMPTY = 0x8000 }; /* an inline string */

/* Instants, or whatever type it is, of so many ticks and more. */
static inline void put_named(unsigned type, unsigned name, uint64_t time, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		put(UINT64_C(0x01000024) | (uint64_t)type << 16 | (uint64_t)name << 48);
		put(time + i);
	}
}

static inline size_t put_word(size_t at, uint64_t word)
{
	tw_store64(whole + at, word, big);
	return at + 8;
}

/* A record with so many bytes of text behind its header: an instant's name, a log's message, a blob. */
static inline size_t put_long(size_t at, uint64_t header, uint64_t time, size_t length)
{
	put_word(at, header | (uint64_t)(length / 8 + 1 + (time != 0)) << 4);
	at = time ? put_word(at + 8, time) : at + 8;
	memset(whole + at, 'x', length);
	return at + length;
}

#endif
