/* fdr_broken_logs.h - XRay logs whose header, functions or buffers break a rule. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FDR_BROKEN_LOGS_H
#define TESTS_UNIT_FDR_BROKEN_LOGS_H

#include "fdr_bytes.h"

#include <zlib.h>

static inline void header_reserved_bits(struct bytes *b)
{
	add_header_of(b, 5, 1, 3 | 4, 2000000000, 4096);
	add_buffer(b, 1, 1, 100);
}

static inline void header_reserved_bytes(struct bytes *b)
{
	add_header(b, 5);
	b->data[31] = 1;
	add_buffer(b, 1, 1, 100);
}

static inline void flags_unset(struct bytes *b)
{
	add_header_of(b, 5, 1, 1, 2000000000, 4096);
	add_buffer(b, 1, 1, 100);
}

static inline void frequency_zero(struct bytes *b)
{
	add_header_of(b, 5, 1, 3, 0, 4096);
	add_buffer(b, 1, 1, 100);
}

static inline void frequency_low(struct bytes *b)
{
	add_header_of(b, 5, 1, 3, 999999, 4096);
	add_buffer(b, 1, 1, 100);
}

static inline void frequency_high(struct bytes *b)
{
	add_header_of(b, 5, 1, 3, 100000000001, 4096);
	add_buffer(b, 1, 1, 100);
}

static inline void frequency_of_clock(struct bytes *b)
{
	add_header_of(b, 5, 1, 3, 1000000000, 4096);
	add_buffer(b, 1, 1, 100);
}

/* Logs behind each other: the second has the same header. */
static inline void two_logs(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	add_text(b, b->data, 32);
	add_buffer(b, 2, 1, 200);
}

/* The header of another log: its type, and its frequency. */
static inline void add_another(struct bytes *b, unsigned version, unsigned type, uint64_t frequency)
{
	add_number(b, version, 2);
	add_number(b, type, 2);
	add_number(b, 3, 4);
	add_number(b, frequency, 8);
	add_number(b, 4096, 8);
	add_number(b, 0, 8);
}

static inline void two_clocks(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	add_another(b, 5, 1, 2000000001);
	add_buffer(b, 2, 1, 200);
}

static inline void two_kinds(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	add_another(b, 3, 0, 2000000000);
	add_basic(b, 0, 1, 200, 1);
	add_basic(b, 1, 1, 210, 1);
}

static inline void two_kinds_basic_first(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	add_basic(b, 1, 1, 110, 1);
	add_another(b, 5, 1, 2000000000);
	b->version = 5;
	add_buffer(b, 1, 1, 200);
}

/* The bytes of a file of the mode xray-profiling. */
static inline void profiling_behind(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	add_text(b, "forpyarx\x24\x04\x18\x20\0\0\0\0", 16);
}

/* One more than are read. */
static inline void many_logs(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	for (unsigned i = 0; i < 64; i++) {
		add_another(b, 5, 1, 2000000001 + i % 2);
		add_buffer(b, 1, 1, 100);
	}
}

static inline void two_logs_of_version_1(struct bytes *b)
{
	add_header(b, 1);
	add_buffer(b, 1, 1, 100);
	add_text(b, b->data, 32);
	add_buffer(b, 2, 1, 200);
}

static inline void two_basic_logs(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	add_basic(b, 1, 1, 110, 1);
	add_text(b, b->data, 32);
	add_basic(b, 0, 1, 200, 1);
	add_basic(b, 1, 1, 210, 1);
}

/* A gzip file whose last bytes, the checksum and the size, are missing. */
static inline void cut_gzip(struct bytes *b)
{
	static struct bytes log;
	z_stream z = {0};
	add_header(&log, 5);
	add_buffer(&log, 1, 1, 100);
	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = log.data;
	z.avail_in = (uInt)log.size;
	z.next_out = b->data;
	z.avail_out = sizeof b->data;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	b->size = z.total_out - 8;
	deflateEnd(&z);
}

static inline void function_zero(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_call(b, 0);
	end_buffer(b, start);
}

static inline void counter_back(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_call(b, 1);
	add_cpu(b, 1, 119);
	end_buffer(b, start);
}

static inline void counter_back_by_delta(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_custom(b, (uint32_t)-1, 0, "x", 1);
	end_buffer(b, start);
}

static inline void exit_only(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_function(b, 1, 1, 0);
	end_buffer(b, start);
}

/* 0 is an id like any other: it does not end what is open. */
static inline void exit_of_zero(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_function(b, 0, 1, 0);
	add_function(b, 1, 0, 0);
	add_function(b, 1, 1, 0);
	end_buffer(b, start);
}

static inline void exit_below(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_function(b, 0, 1, 0);
	add_function(b, 0, 2, 0);
	add_function(b, 1, 1, 0);
	end_buffer(b, start);
}

static inline void entry_only(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_function(b, 0, 1, 0);
	end_buffer(b, start);
}

static inline void many_names(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	for (uint32_t id = 1; id < 20; id++)
		add_call(b, id);
	end_buffer(b, start);
}

static inline void empty_buffers(struct bytes *b)
{
	add_header(b, 5);
	for (uint32_t i = 1; i < 10; i++)
		end_buffer(b, begin_buffer(b, 1, i, 100 * i));
}

static inline void tiny_buffer_size(struct bytes *b)
{
	add_header_of(b, 5, 1, 3, 2000000000, 79);
	end_buffer(b, begin_buffer(b, 1, 1, 100));
}

static inline void nothing(struct bytes *b)
{
	add_header(b, 5);
}

static inline void junk_at_end(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	add_text(b, "\xff\xff\xff", 3);
}

static inline void junk_between(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	add_text(b, "\xff\xff\xff", 3);
	add_buffer(b, 1, 2, 200);
}

static inline void no_extents(struct bytes *b)
{
	add_header(b, 5);
	add_new_buffer(b, 1);
	add_wall(b, 1, 0);
	add_pid(b, 7);
	add_cpu(b, 0, 100);
	add_call(b, 1);
}

static inline void extents_in_version_1(struct bytes *b)
{
	add_header(b, 1);
	add_extents(b, 64);
	end_buffer(b, begin_buffer(b, 1, 1, 100));
}

static inline void extents_short(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	b->data[33] -= 3;
	add_buffer(b, 1, 2, 200);
}

static inline void extents_long(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	b->data[33] += 5;
	add_buffer(b, 1, 2, 200);
}

static inline void cut_between_records(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_call(b, 1);
	add_call(b, 1);
	end_buffer(b, start);
	b->size -= 16;
}

static inline void cut_in_record(struct bytes *b)
{
	cut_between_records(b);
	b->size += 3;
}

static inline void overrun(struct bytes *b)
{
	add_header_of(b, 5, 1, 3, 2000000000, 80);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_call(b, 1);
	add_call(b, 1);
	end_buffer(b, start);
}

static inline void new_buffer_again(struct bytes *b)
{
	add_header(b, 5);
	size_t start = b->size;
	add_extents(b, 0);
	add_new_buffer(b, 1);
	add_new_buffer(b, 2);
	add_wall(b, 1, 0);
	add_pid(b, 7);
	add_cpu(b, 0, 100);
	add_call(b, 1);
	end_buffer(b, start);
}

/* The extents lead over a buffer to the one after it, and are larger than a buffer may be. */
static inline void extents_over_a_full_buffer(struct bytes *b)
{
	static const char payload[3000];
	add_header(b, 5);
	for (unsigned i = 1; i <= 3; i++) {
		size_t start = begin_buffer(b, i, i, 100 * i);
		add_custom(b, 0, 0, payload, sizeof payload);
		end_buffer(b, start);
	}
	set_number(b->data + 33, 2 * (80 + 16 + 3000) - 16, 8);
}

static inline void buffer_in_buffer(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_call(b, 1);
	add_buffer(b, 1, 2, 200);
	end_buffer(b, start);
}

static inline void extents_alone(struct bytes *b)
{
	add_header(b, 5);
	add_extents(b, 0);
}

static inline void new_buffer_smashed(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	b->data[48] = 0x41;
}

static inline void no_wall(struct bytes *b)
{
	add_header(b, 2);
	add_extents(b, 48);
	add_new_buffer(b, 1);
	add_cpu(b, 0, 100);
	add_call(b, 1);
}

static inline void no_wall_later(struct bytes *b)
{
	add_header(b, 2);
	add_buffer(b, 1, 1, 100);
	add_extents(b, 48);
	add_new_buffer(b, 1);
	add_cpu(b, 0, 200);
	add_call(b, 1);
}

static inline void wall_again(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_wall(b, 2, 0);
	end_buffer(b, start);
}

static inline void microseconds(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	set_number(b->data + 73, 1000000, 4);
}

static inline void no_pid(struct bytes *b)
{
	add_header(b, 3);
	add_extents(b, 48);
	add_new_buffer(b, 1);
	add_wall(b, 1, 0);
	add_cpu(b, 0, 100);
}

static inline void pid_early(struct bytes *b)
{
	add_header(b, 2);
	add_extents(b, 64);
	add_new_buffer(b, 1);
	add_wall(b, 1, 0);
	add_pid(b, 7);
	add_cpu(b, 0, 100);
}

static inline void pid_again(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_pid(b, 7);
	end_buffer(b, start);
}

static inline void no_cpu(struct bytes *b)
{
	add_header(b, 5);
	add_extents(b, 64);
	add_new_buffer(b, 1);
	add_wall(b, 1, 0);
	add_pid(b, 7);
	add_call(b, 1);
}

static inline void thread_of_document(struct bytes *b)
{
	add_header(b, 1);
	add_buffer(b, 0x12340065, 1, 100);
}

static inline void end_in_version_5(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_end_of_buffer(b);
	end_buffer(b, start);
}

static inline void no_end(struct bytes *b)
{
	add_header(b, 1);
	begin_buffer(b, 1, 1, 100);
	add_call(b, 1);
	add_buffer(b, 1, 2, 200);
}

static inline void twice(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	add_buffer(b, 1, 1, 100);
}

static inline void wrong_order(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 2, 200);
	add_buffer(b, 1, 1, 100);
}

static inline void overlap(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	add_buffer(b, 1, 2, 119);
}

#endif
