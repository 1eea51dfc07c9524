/* count.h - what is in a block of a log, counted without a look at what is before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_JOBS_COUNT_H
#define TRACELOG_JOBS_COUNT_H

#include "base/memory/map.h"
#include "tracelog/format/fast_decode.h"

/* What a thread did. Times are relative to the first of the block, in ms. */
struct tracelog_thread_count {
	uint64_t key; /* tracelog_thread_key() */
	uint64_t records, bytes, samples, ticks;
	int64_t first, last; /* first > last: nothing had a time */
};

/* A line that must be looked at in its turn. */
struct tracelog_mark {
	size_t at;
	uint64_t line; /* from the beginning of the block, from 0 */
};

enum { TRACELOG_COUNT_RECENT = 64 };

struct tracelog_count {
	const uint8_t *bytes; /* the bytes that were counted */
	size_t size;
	uint64_t lines;
	uint64_t kinds[TW_TRACELOG_KINDS];
	unsigned dialects; /* that all records may be of */
	unsigned pointers; /* bit 0: of 64 bits, bit 1: of 32 */
	bool timed;
	uint32_t start;          /* ms: the first time */
	int64_t low, high, last; /* relative to it */
	struct tracelog_thread_count *threads;
	size_t thread_count, thread_room;
	struct tw_map by_key;
	uint32_t recent[TRACELOG_COUNT_RECENT]; /* places of threads plus 1, by what a division leaves of their keys */
	struct tracelog_mark *marks;
	size_t mark_count, mark_room;
	bool failed; /* no memory */
};

/* Threads are told apart by their own number, or the system's. */
static inline uint64_t tracelog_thread_key(bool os, uint32_t number)
{
	return (uint64_t)os << 32 | number;
}

/* The row of a thread, made where there is none; NULL without memory. */
struct tracelog_thread_count *tracelog_count_thread(struct tracelog_count *count, uint64_t key);

/* Counts anew what is in bytes: whole lines, but perhaps the last of the log; TRACELOG_SLACK bytes more may be read. */
void tracelog_count(struct tracelog_count *count, const uint8_t *bytes, size_t size);

void tracelog_count_free(struct tracelog_count *count);

#endif
