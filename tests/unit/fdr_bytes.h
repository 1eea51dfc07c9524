/* fdr_bytes.h - XRay logs made by hand, byte by byte from the format's tables, for the tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_BYTES_H
#define FDR_BYTES_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

enum { BYTES_ROOM = 1 << 17 };

/* A log that grows; little endian. */
struct bytes {
	uint8_t data[BYTES_ROOM];
	size_t size;
	unsigned version;
};

/* ---- Numbers. ---- */

static inline void set_number(uint8_t *p, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static inline void add_number(struct bytes *b, uint64_t value, unsigned size)
{
	assert_in_range(size, 0, sizeof b->data - b->size);
	set_number(b->data + b->size, value, size);
	b->size += size;
}

static inline void add_text(struct bytes *b, const void *text, size_t size)
{
	assert_in_range(size, 0, sizeof b->data - b->size);
	memcpy(b->data + b->size, text, size);
	b->size += size;
}

static inline unsigned hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *found = strchr(digits, c);
	assert_true(c != '\0' && found != NULL);
	return (unsigned)(found - digits);
}

/* Reads "0f 1a 00" (spaces where one likes) and returns how many bytes there are. */
static inline size_t from_hex(const char *hex, uint8_t *bytes, size_t room)
{
	size_t count = 0;
	for (const char *p = hex; *p; p++) {
		if (*p == ' ')
			continue;
		assert_in_range(count, 0, room - 1);
		unsigned high = hex_digit(*p++);
		bytes[count++] = (uint8_t)(high << 4 | hex_digit(*p));
	}
	return count;
}

/* ---- The header. ---- */

static inline void add_header_of(struct bytes *b, unsigned version, unsigned type, uint32_t flags, uint64_t frequency,
                                 uint64_t buffer_size)
{
	b->size = 0;
	b->version = version;
	add_number(b, version, 2);
	add_number(b, type, 2);
	add_number(b, flags, 4);
	add_number(b, frequency, 8);
	add_number(b, buffer_size, 8);
	add_number(b, 0, 8);
}

/* A header with nothing to say against. 2 GHz: a tick is half a nanosecond. */
static inline void add_header(struct bytes *b, unsigned version)
{
	add_header_of(b, version, 1, 3, 2000000000, 4096);
}

static inline void add_basic_header(struct bytes *b, unsigned version)
{
	add_header_of(b, version, 0, 3, 2000000000, 0);
}

/* ---- Records. ---- */

/* Adds a metadata record and returns its 15 bytes, all 0. */
static inline uint8_t *add_metadata(struct bytes *b, unsigned kind)
{
	add_number(b, (uint64_t)kind << 1 | 1, 8);
	add_number(b, 0, 8);
	return b->data + b->size - 15;
}

static inline void add_function(struct bytes *b, unsigned action, uint32_t id, uint32_t delta)
{
	add_number(b, (uint64_t)id << 4 | action << 1, 4);
	add_number(b, delta, 4);
}

static inline void add_new_buffer(struct bytes *b, uint32_t thread)
{
	set_number(add_metadata(b, 0), thread, 4);
}

static inline void add_end_of_buffer(struct bytes *b)
{
	add_metadata(b, 1);
}

static inline void add_cpu(struct bytes *b, unsigned cpu, uint64_t tsc)
{
	uint8_t *body = add_metadata(b, 2);
	set_number(body, cpu, 2);
	set_number(body + 2, tsc, 8);
}

static inline void add_wrap(struct bytes *b, uint64_t tsc)
{
	set_number(add_metadata(b, 3), tsc, 8);
}

static inline void add_wall(struct bytes *b, uint64_t seconds, uint32_t microseconds)
{
	uint8_t *body = add_metadata(b, 4);
	set_number(body, seconds, 8);
	set_number(body + 8, microseconds, 4);
}

/* time: a delta in version 5, the counter before. */
static inline void add_custom(struct bytes *b, uint64_t time, unsigned cpu, const void *payload, uint32_t size)
{
	uint8_t *body = add_metadata(b, 5);
	set_number(body, size, 4);
	set_number(body + 4, time, b->version == 5 ? 4 : 8);
	if (b->version == 4)
		set_number(body + 12, cpu, 2);
	add_text(b, payload, size);
}

static inline void add_argument(struct bytes *b, uint64_t value)
{
	set_number(add_metadata(b, 6), value, 8);
}

static inline void add_extents(struct bytes *b, uint64_t size)
{
	set_number(add_metadata(b, 7), size, 8);
}

static inline void add_typed(struct bytes *b, uint32_t delta, unsigned type, const void *payload, uint32_t size)
{
	uint8_t *body = add_metadata(b, 8);
	set_number(body, size, 4);
	set_number(body + 4, delta, 4);
	set_number(body + 8, type, 2);
	add_text(b, payload, size);
}

static inline void add_pid(struct bytes *b, uint32_t process)
{
	set_number(add_metadata(b, 9), process, 4);
}

/* ---- Buffers. ---- */

/* Adds what a buffer of the version begins with, up to NewCPUId; process 7. Returns where it begins, for end_buffer(). */
static inline size_t begin_buffer(struct bytes *b, uint32_t thread, uint64_t seconds, uint64_t tsc)
{
	size_t start = b->size;
	if (b->version >= 2)
		add_extents(b, 0);
	add_new_buffer(b, thread);
	add_wall(b, seconds, 0);
	if (b->version >= 3)
		add_pid(b, 7);
	add_cpu(b, 0, tsc);
	return start;
}

/* Makes the extents what they must be; version 1: adds EndOfBuffer. */
static inline void end_buffer(struct bytes *b, size_t start)
{
	if (b->version == 1)
		add_end_of_buffer(b);
	else
		set_number(b->data + start + 1, b->size - start - 16, 8);
}

/* Entry and exit of a function, 10 ticks each. */
static inline void add_call(struct bytes *b, uint32_t id)
{
	add_function(b, 0, id, 10);
	add_function(b, 1, id, 10);
}

/* A buffer with one call. */
static inline void add_buffer(struct bytes *b, uint32_t thread, uint64_t seconds, uint64_t tsc)
{
	size_t start = begin_buffer(b, thread, seconds, tsc);
	add_call(b, 1);
	end_buffer(b, start);
}

/* ---- Basic logs. ---- */

static inline uint8_t *add_basic(struct bytes *b, unsigned kind, uint32_t id, uint64_t tsc, uint32_t thread)
{
	uint8_t *p = b->data + b->size;
	for (unsigned i = 0; i < 4; i++)
		add_number(b, 0, 8);
	p[3] = (uint8_t)kind;
	set_number(p + 4, id, 4);
	set_number(p + 8, tsc, 8);
	set_number(p + 16, thread, 4);
	if (b->version >= 3)
		set_number(p + 20, 7, 4);
	return p;
}

static inline void add_basic_argument(struct bytes *b, uint32_t id, uint32_t thread, uint64_t value)
{
	uint8_t *p = b->data + b->size;
	for (unsigned i = 0; i < 4; i++)
		add_number(b, 0, 8);
	set_number(p, 1, 2);
	set_number(p + 4, id, 4);
	set_number(p + 8, thread, 4);
	set_number(p + 12, 7, 4);
	set_number(p + 16, value, 8);
}

/* ---- Logs that others wrote. ---- */

static inline FILE *open_data(const char *name)
{
	char path[512];
	const char *data = getenv("TW_TEST_DATA"), *source = getenv("TRACKWAY_SOURCE");
	if (data)
		snprintf(path, sizeof path, "%s/xray/%s", data, name);
	else
		snprintf(path, sizeof path, "%s/tests/data/xray/%s", source ? source : ".", name);
	return fopen(path, "rb");
}

static inline void load_log(struct bytes *b, const char *name)
{
	FILE *file = open_data(name);
	if (!file)
		fail_msg("cannot open the log %s", name);
	b->size = fread(b->data, 1, sizeof b->data, file);
	fclose(file);
	assert_in_range(b->size, 64, sizeof b->data - 1);
	b->version = b->data[0] | b->data[1];
}

static inline void expect_bytes(const char *what, const uint8_t *found, const uint8_t *wanted, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (found[i] != wanted[i])
			fail_msg("%s: byte %zu is %02x, expected %02x", what, i, found[i], wanted[i]);
}

#endif
