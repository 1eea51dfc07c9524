/* fdr_seams.h - XRay logs from which bytes are taken, or into which some are put, and the calls that are read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FDR_SEAMS_H
#define FDR_SEAMS_H

#include "fdr_bytes.h"

#include <trackway/trackway.h>

enum { SIZE = 8192, THREAD = 100, TICK = 100, BEGIN = 50000000, ROWS = 4096 };

static struct bytes log_, hurt;

static inline void delete_bytes(size_t at, size_t size)
{
	memmove(hurt.data + at, hurt.data + at + size, hurt.size - at - size);
	hurt.size -= size;
}

static inline void insert_bytes(size_t at, const void *bytes, size_t size)
{
	memmove(hurt.data + at + size, hurt.data + at, hurt.size - at);
	memcpy(hurt.data + at, bytes, size);
	hurt.size += size;
}

/* ---- What is read. ---- */

struct row {
	uint64_t offset, tsc;
	uint32_t thread, function; /* thread: 0 where none is told */
	bool enters;
};

static struct row rows[ROWS];
static size_t count;

static inline uint64_t field(const struct tw_record *record, const char *name)
{
	for (size_t i = 0; i < record->field_count; i++)
		if (strcmp(record->fields[i].name, name) == 0)
			return record->fields[i].value.u;
	return 0;
}

static inline void read_rows_in(const struct bytes *b, enum tw_order order)
{
	struct tw_reader *reader;
	struct tw_record record;
	int status;
	count = 0;
	assert_int_equal(tw_open_memory(&reader, "made", b->data, b->size, &(struct tw_read_options){.order = order}),
	                 0);
	while ((status = tw_read_record(reader, &record)) > 0) {
		if (strncmp(record.kind, "function.", 9) != 0)
			continue;
		assert_in_range(count, 0, ROWS - 1);
		rows[count++] = (struct row){.offset = record.offset,
		                             .tsc = field(&record, "tsc"),
		                             .thread = (uint32_t)field(&record, "thread"),
		                             .function = (uint32_t)field(&record, "function_id"),
		                             .enters = strcmp(record.kind, "function.enter") == 0};
	}
	assert_int_equal(status, 0);
	tw_close(reader);
}

static inline void read_rows(const struct bytes *b)
{
	read_rows_in(b, TW_ORDER_TRACK);
}

static inline size_t calls_of(uint32_t thread, uint32_t function)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += rows[i].thread == thread && rows[i].function == function;
	return found;
}

static inline void add_pairs(struct bytes *b, uint32_t function, unsigned pairs)
{
	for (unsigned i = 0; i < 2 * pairs; i++)
		add_function(b, i % 2, function, TICK + i);
}

/* The same, but no delta is like another: what stands at the wrong byte is no function of the log. */
static inline void add_varied_pairs(struct bytes *b, uint32_t function, unsigned pairs)
{
	enum { STEP = 977, MOST = 4093 }; /* primes */
	static uint32_t delta;
	for (unsigned i = 0; i < 2 * pairs; i++)
		add_function(b, i % 2, function, TICK + (delta = (delta + STEP) % MOST));
}

#endif
