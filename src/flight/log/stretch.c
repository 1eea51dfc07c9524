/* stretch.c - copies of chunks that threads are writing to, and of them what is not older than a time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/stretch.h"

#include "flight/log/log.h"

#include <string.h>

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
enum {
	COUNT_AT = FLIGHT_EXTENTS_AT + 1,
	RECORDS_AT = FLIGHT_EXTENTS_AT + FLIGHT_METADATA,
	THREAD_AT = RECORDS_AT + 1,
	WALL_AT = RECORDS_AT + FLIGHT_METADATA,
	CPU_AT = FLIGHT_BEGUN - FLIGHT_METADATA,
	TRIES = 1000,
	NEW_CPU = 0x05,
	TSC_WRAP = 0x07,
	CUSTOM_EVENT = 0x0b,
	EXTENTS = 0x0f,
	TYPED_EVENT = 0x11
};

uint64_t flight_chunk_size(const uint8_t *log, uint64_t at, uint64_t size)
{
	uint32_t chunk;
	if (size - at < FLIGHT_BEGUN)
		return 0;
	memcpy(&chunk, log + at, sizeof chunk);
	const bool begun = chunk >= FLIGHT_SMALLEST / 2 && chunk <= size - at && (at + chunk) % FLIGHT_PAGE == 0 &&
	                   log[at + FLIGHT_EXTENTS_AT] == EXTENTS;
	return begun ? chunk : 0;
}

uint64_t flight_chunk_next(uint64_t at, uint64_t chunk_size)
{
	return chunk_size ? at + chunk_size : at / FLIGHT_PAGE * FLIGHT_PAGE + FLIGHT_PAGE;
}

/* How many bytes of a chunk are written: a thread may be at it. */
static uint64_t written(const uint8_t *chunk)
{
	return __atomic_load_n((const uint64_t *)(chunk + COUNT_AT), __ATOMIC_ACQUIRE);
}

bool flight_copy_chunk(uint8_t *to, const uint8_t *chunk, uint64_t size)
{
	for (unsigned i = 0; i < TRIES; i++) {
		const uint64_t count = written(chunk);
		uint8_t begin[FLIGHT_METADATA];
		if (count > size - RECORDS_AT)
			return false;
		memcpy(begin, chunk + CPU_AT, sizeof begin);
		memcpy(to, chunk, RECORDS_AT + count);
		memcpy(to + COUNT_AT, &count, sizeof count);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (written(chunk) >= count && memcmp(begin, chunk + CPU_AT, sizeof begin) == 0)
			return true;
	}
	return false;
}

/* ---- What is not older. ---- */

/* A walk over the records of a chunk. */
struct chunk_walk {
	uint8_t *at, *end;
	uint64_t tsc;
	uint16_t cpu;
};

static uint64_t load(const uint8_t *from, size_t size)
{
	uint64_t value = 0;
	memcpy(&value, from, size);
	return value;
}

/* Passes a record: its time, where it has one of its own, is added. Returns its size; 0: none is whole. */
static uint64_t pass(struct chunk_walk *walk, bool *has_time)
{
	const uint8_t *at = walk->at;
	const uint64_t have = (uint64_t)(walk->end - at);
	*has_time = false;
	if (have < FLIGHT_FUNCTION || (*at & 1 && have < FLIGHT_METADATA))
		return 0;
	if (!(*at & 1)) {
		*has_time = true;
		walk->tsc += load(at + 4, 4);
		return FLIGHT_FUNCTION;
	}
	if (*at == NEW_CPU) {
		walk->cpu = (uint16_t)load(at + 1, 2);
		walk->tsc = load(at + 3, 8);
	}
	if (*at == TSC_WRAP)
		walk->tsc = load(at + 1, 8);
	if (*at != CUSTOM_EVENT && *at != TYPED_EVENT)
		return FLIGHT_METADATA;
	const uint64_t size = FLIGHT_METADATA + load(at + 1, 4);
	*has_time = true;
	walk->tsc += (uint64_t)(int64_t)(int32_t)load(at + 5, 4);
	return size <= have ? size : 0;
}

/* Finds the first record that has a time, and not an earlier one. */
static bool find(struct chunk_walk *walk, uint64_t since)
{
	bool has_time;
	for (uint64_t size; (size = pass(walk, &has_time)); walk->at += size)
		if (has_time && walk->tsc >= since)
			return true;
	return false;
}

static void add_wall(uint8_t *record, uint64_t ticks, uint64_t frequency)
{
	enum { MICROSECONDS = 1000000 };
	if (!frequency)
		return;
	const uint64_t us =
	    load(record + 9, 4) + ticks / frequency * MICROSECONDS + ticks % frequency * MICROSECONDS / frequency;
	const uint64_t s = load(record + 1, 8) + us / MICROSECONDS;
	memcpy(record + 1, &s, sizeof s);
	memcpy(record + 9, &(uint32_t){(uint32_t)(us % MICROSECONDS)}, sizeof(uint32_t));
}

uint64_t flight_keep_since(uint8_t *chunk, uint64_t since, uint64_t frequency)
{
	const uint64_t begun = load(chunk + CPU_AT + 3, 8), count = load(chunk + COUNT_AT, 8);
	struct chunk_walk walk = {.at = chunk + RECORDS_AT, .end = chunk + RECORDS_AT + count};
	if (count == 0) /* a ring begins it anew */
		return 0;
	if (load(chunk + THREAD_AT, 4) == 0 || begun >= since)
		return RECORDS_AT + count;
	if (!find(&walk, since))
		return 0;
	if (walk.at < chunk + FLIGHT_BEGUN) /* it does not begin as chunks do */
		return RECORDS_AT + count;
	const uint64_t left = (uint64_t)(walk.end - walk.at), now_count = FLIGHT_BEGUN - RECORDS_AT + left;
	memset(walk.at + (*walk.at & 1 ? 5 : 4), 0, 4); /* its delta */
	memmove(chunk + FLIGHT_BEGUN, walk.at, left);
	memcpy(chunk + CPU_AT + 1, &walk.cpu, sizeof walk.cpu);
	memcpy(chunk + CPU_AT + 3, &walk.tsc, sizeof walk.tsc);
	add_wall(chunk + WALL_AT, walk.tsc - begun, frequency);
	memcpy(chunk + COUNT_AT, &now_count, sizeof now_count);
	return RECORDS_AT + now_count;
}
