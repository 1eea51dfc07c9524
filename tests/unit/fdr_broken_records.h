/* fdr_broken_records.h - XRay logs in which a record breaks a rule. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FDR_BROKEN_RECORDS_H
#define TESTS_UNIT_FDR_BROKEN_RECORDS_H

#include "fdr_bytes.h"

#include <trackway/fdr.h>

static inline void record_cut(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_number(b, 0x10, 4);
	end_buffer(b, start);
}

static inline void kind_10(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_metadata(b, 10);
	end_buffer(b, start);
}

static inline void function_kind_4(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_function(b, 4, 1, 0);
	end_buffer(b, start);
}

static inline void event_of_nothing(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_custom(b, 0, 0, "", 0);
	end_buffer(b, start);
}

static inline void event_negative(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	set_number(add_metadata(b, 8), UINT32_MAX, 4);
	end_buffer(b, start);
}

static inline void event_large(struct bytes *b)
{
	static const char payload[1000];
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_custom(b, 0, 0, payload, sizeof payload);
	end_buffer(b, start);
}

/* Bytes that could begin a NewBuffer record, but no WallTime is behind it. */
static inline void almost_buffer(struct bytes *b)
{
	static const uint8_t left_over[] = {1, 0x30, 0, 0, 0};
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	for (unsigned i = 0; i < 8; i++)
		add_call(b, 1);
	add_text(b, left_over, sizeof left_over);
	for (unsigned i = 0; i < 8; i++)
		add_call(b, 1);
	end_buffer(b, start);
}

/* A buffer of calls whose extents are wrong, with bytes in it that could be NewBuffer and WallTime, but for a thread
 * and a time that cannot be; and another buffer. behind: how far behind
 * damage they are, 0: there is none. */
static inline void add_almost_start(struct bytes *b, size_t behind)
{
	static const uint8_t no_record[12] = {0x15};
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	for (unsigned i = 0; i < 8; i++)
		add_call(b, 1);
	if (behind)
		add_text(b, no_record, sizeof no_record);
	for (size_t at = sizeof no_record; at < behind; at += 8)
		add_function(b, at / 8 % 2 == 0, 1, 10);
	add_new_buffer(b, 0x720000);
	set_number(add_metadata(b, 4), UINT64_MAX, 8);
	for (unsigned i = 0; i < 8; i++)
		add_call(b, 1);
	set_number(b->data + start + 1, b->size - start - 8, 8);
	add_buffer(b, 1, 2, 100000);
}

static inline void almost_start(struct bytes *b)
{
	add_almost_start(b, 0);
}

/* The search for the next buffer looks at 4096 bytes first: of the time, one byte is not among them. */
static inline void almost_start_at_edge(struct bytes *b)
{
	add_almost_start(b, 4096 - 28);
}

/* Three records of nothing but zeros between two calls. */
static inline void zeros_before_calls(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_call(b, 1);
	for (int i = 0; i < 3; i++)
		add_function(b, 0, 0, 0);
	for (int i = 0; i < 8; i++)
		add_call(b, 1);
	end_buffer(b, start);
}

static inline void zeros_between(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_function(b, 0, 1, 10);
	for (int i = 0; i < 3; i++)
		add_function(b, 0, 0, 0);
	add_function(b, 1, 1, 10);
	end_buffer(b, start);
}

/* As LLVM's runtime writes it: the extents, and with them the file, lack 16 bytes for each typed event. */
static inline void typed_cut(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_typed(b, 0, 1, "typed", 5);
	add_custom(b, 0, 0, "custom", 6);
	b->size -= 16;
	end_buffer(b, start);
}

/* The event that lacks the bytes is the only one: all of its header is there, or not even that. */
static inline void typed_alone(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_typed(b, 0, 1, "a typed event that is longer", 28);
	b->size -= 16;
	end_buffer(b, start);
}

static inline void typed_alone_and_short(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_typed(b, 0, 1, "typed", 5);
	b->size -= 16;
	end_buffer(b, start);
}

/* More is missing than the runtime forgets. */
static inline void typed_damaged(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_typed(b, 0, 1, "a typed event that is longer", 28);
	b->size -= 17;
	end_buffer(b, start);
}

static inline void typed_whole(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_typed(b, 0, 1, "typed", 5);
	end_buffer(b, start);
}

static inline void argument_alone(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_call(b, 1);
	add_argument(b, 1);
	end_buffer(b, start);
}

static inline void no_argument(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_function(b, 3, 1, 0);
	add_function(b, 1, 1, 0);
	end_buffer(b, start);
}

static inline void no_argument_at_end(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_function(b, 3, 1, 0);
	end_buffer(b, start);
	start = begin_buffer(b, 1, 2, 200);
	add_function(b, 1, 1, 0);
	end_buffer(b, start);
}

static inline void padding(struct bytes *b)
{
	add_header(b, 5);
	add_buffer(b, 1, 1, 100);
	b->data[63] = 1;
}

static inline void garbage_in_fill(struct bytes *b)
{
	add_header_of(b, 1, 1, 3, 2000000000, 256);
	add_buffer(b, 1, 1, 100);
	while (b->size < 32 + 256)
		add_number(b, b->size >= 200, 1);
	add_buffer(b, 1, 2, 200);
}

static inline void wide_delta(struct bytes *b)
{
	add_header(b, 5);
	size_t start = begin_buffer(b, 1, 1, 100);
	add_function(b, 0, 1, 0x7fffffff);
	add_function(b, 1, 1, 0x80000000);
	end_buffer(b, start);
}

static inline void basic_cut(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	add_basic(b, 1, 1, 110, 1);
	add_number(b, 0, 5);
}

static inline void basic_zeros(struct bytes *b)
{
	static const uint8_t zeros[32];
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	add_text(b, zeros, sizeof zeros);
	add_basic(b, 1, 1, 110, 1);
}

static inline void basic_padding_alone(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	uint8_t *record = add_basic(b, 0, 1, 105, 1);
	memset(record, 0, TW_BASIC_RECORD_SIZE);
	record[31] = 1;
	add_basic(b, 1, 1, 110, 1);
}

static inline void basic_type_2(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	add_basic(b, 1, 1, 110, 1)[0] = 2;
	add_basic(b, 1, 1, 110, 1);
}

static inline void basic_kind_4(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	add_basic(b, 4, 1, 105, 1);
	add_basic(b, 1, 1, 110, 1);
}

static inline void basic_tail_exit(struct bytes *b)
{
	add_basic_header(b, 1);
	add_basic(b, 0, 1, 100, 1);
	add_basic(b, 2, 1, 110, 1);
}

static inline void basic_argument_alone(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	add_basic_argument(b, 1, 1, 5);
	add_basic(b, 1, 1, 110, 1);
}

static inline void basic_argument_of_other(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 3, 1, 100, 1);
	add_basic_argument(b, 2, 1, 5);
	add_basic(b, 1, 1, 110, 1);
}

static inline void basic_no_argument(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 3, 1, 100, 1);
	add_basic(b, 1, 1, 110, 1);
}

static inline void basic_padding(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	add_basic(b, 1, 1, 110, 1)[31] = 1;
}

static inline void basic_counter_back(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
	add_basic(b, 1, 1, 99, 1);
}

static inline void basic_nothing(struct bytes *b)
{
	add_basic_header(b, 3);
}

static inline void basic_open(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 0, 1, 100, 1);
}

static inline void basic_exit_only(struct bytes *b)
{
	add_basic_header(b, 3);
	add_basic(b, 1, 1, 100, 1);
}

#endif
