/* chunks.c - the chunks of a log: handed out, of a ring used again, begun as buffers. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/chunks.h"

#include "flight/log/clock.h"
#include "flight/system.h"

#include <sys/mman.h>

void flight_lose(void)
{
	struct flight_log *log = flight_log;
	if (log->generation == 0)
		return;
	if (__atomic_fetch_add(&log->state->lost, 1, __ATOMIC_RELAXED) == 0)
		log->state->lost_since_ns = flight_kernel_time(CLOCK_MONOTONIC);
}

void flight_lose_in_handler(void)
{
	struct flight_log *log = flight_log;
	flight_lose();
	if (log->generation)
		__atomic_fetch_add(&log->losses->in_handlers, 1, __ATOMIC_RELAXED);
}

void flight_extend(struct flight_log *log, uint64_t end)
{
	uint64_t before = __atomic_load_n(&log->ends, __ATOMIC_RELAXED);
	while (before < end &&
	       !__atomic_compare_exchange_n(&log->ends, &before, end, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* All at once: a fault for each is dearer, and comes in the middle of calls. Kernels before 5.14 cannot. */
static void make_pages(uint8_t *chunk, uint64_t size)
{
	enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE */
	flight_call(SYS_madvise, (long)chunk, (long)size, POPULATE_WRITE, 0);
}

uint8_t *flight_more(struct flight_log *log, uint64_t size)
{
	if (log->full)
		return NULL;
	const uint64_t offset = __atomic_fetch_add(&log->used, size, __ATOMIC_RELAXED);
	if (offset + size > log->room || flight_file_grow(&log->file, offset, size)) {
		log->full = true;
		return NULL;
	}
	flight_extend(log, offset + size);
	make_pages(log->base + offset, size);
	return log->base + offset;
}

/* The oldest chunk of a thread's ring, empty again; NULL: the ring is not full. */
static uint8_t *oldest(struct flight_thread *thread, uint64_t size)
{
	if (thread->ring_count < FLIGHT_RING_CHUNKS)
		return NULL;
	uint8_t *chunk = thread->ring[thread->ring_next];
	__atomic_store_n((uint64_t *)(chunk + FLIGHT_EXTENTS_AT + 1), 0, __ATOMIC_RELEASE);
	flight_clear(chunk + FLIGHT_LEFT_AT, sizeof thread->last);
	flight_clear(chunk + FLIGHT_EXTENTS_AT + FLIGHT_METADATA, size - FLIGHT_EXTENTS_AT - FLIGHT_METADATA);
	return chunk;
}

static void keep_in_ring(struct flight_thread *thread, uint8_t *chunk)
{
	thread->ring[thread->ring_next] = chunk;
	thread->ring_next = (thread->ring_next + 1) % FLIGHT_RING_CHUNKS;
	thread->ring_count += thread->ring_count < FLIGHT_RING_CHUNKS;
}

/* ---- Metadata records. ---- */

enum { NEW_BUFFER = 0x01, NEW_CPU = 0x05, TSC_WRAP = 0x07, WALL_TIME = 0x09, EXTENTS = 0x0f, PID = 0x13 };

uint8_t *flight_put(uint8_t *at, uint8_t kind, size_t first, uint64_t a, uint64_t b)
{
	uint8_t record[FLIGHT_METADATA + 8] = {kind};
	flight_copy(record + 1, &a, first);
	flight_copy(record + 1 + first, &b, sizeof b);
	flight_copy(at, record, FLIGHT_METADATA);
	return at + FLIGHT_METADATA;
}

uint8_t *flight_put_cpu(struct flight_thread *thread, uint8_t *at, uint64_t now, uint32_t cpu)
{
	thread->cpu = cpu;
	thread->last = now;
	return flight_put(at, NEW_CPU, 2, cpu, now);
}

void flight_begin_chunk(struct flight_log *log, struct flight_thread *thread, uint8_t *chunk, uint64_t size,
                        uint64_t now)
{
	const uint64_t wall = flight_kernel_time(CLOCK_MONOTONIC);
	flight_copy(chunk, &(uint32_t){(uint32_t)size}, sizeof(uint32_t));
	thread->extents = (uint64_t *)(chunk + FLIGHT_EXTENTS_AT + 1);
	thread->end = chunk + size;
	thread->begun = now;
	uint8_t *at = chunk + FLIGHT_EXTENTS_AT + FLIGHT_METADATA;
	at = flight_put(at, NEW_BUFFER, 4, thread->tid, 0);
	at = flight_put(at, WALL_TIME, 8, wall / FLIGHT_SECOND, wall % FLIGHT_SECOND / 1000);
	at = flight_put(at, PID, 4, log->pid, 0);
	at = flight_put_cpu(thread, at, now, thread->cpu);
	chunk[FLIGHT_EXTENTS_AT] = EXTENTS;
	flight_commit(thread, at);
}

/* The size of a chunk that has room for a record of `room` bytes; 0: that of a ring has not. */
static uint64_t chunk_for(const struct flight_log *log, const struct flight_thread *thread, uint64_t room)
{
	uint64_t size = log->ring_chunk ? log->ring_chunk : thread->next_chunk;
	while (size - FLIGHT_BEGUN < room && !log->ring_chunk)
		size *= 2;
	return size - FLIGHT_BEGUN < room ? 0 : size;
}

/* The chunk that a thread has left tells when: what is older than a time is found without its records. */
static void leave(const struct flight_thread *thread)
{
	if (thread->extents)
		flight_copy((uint8_t *)thread->extents - FLIGHT_EXTENTS_AT - 1 + FLIGHT_LEFT_AT, &thread->last,
		            sizeof thread->last);
}

/* Threads with few calls come back soon, too: each chunk notes the clocks. */
static bool fills_slowly(const struct flight_log *log, const struct flight_thread *thread, uint64_t now)
{
	enum { LONG = 10 }; /* seconds */
	return thread->extents && now - thread->begun >= LONG * flight_frequency(log);
}

static bool next_chunk(struct flight_log *log, struct flight_thread *thread, uint64_t room, uint64_t now)
{
	const uint64_t size = chunk_for(log, thread, room);
	if (!size)
		return false;
	uint8_t *chunk = log->ring_chunk ? oldest(thread, size) : NULL;
	chunk = chunk ? chunk : flight_more(log, size);
	if (!chunk)
		return false;
	leave(thread);
	if (log->ring_chunk)
		keep_in_ring(thread, chunk);
	thread->next_chunk *= thread->next_chunk < FLIGHT_LARGEST && !fills_slowly(log, thread, now) ? 4 : 1;
	flight_begin_chunk(log, thread, chunk, size, now);
	flight_note_clock(log);
	return true;
}

void flight_begin_thread(struct flight_log *log, struct flight_thread *thread)
{
	flight_clear(thread, sizeof *thread);
	thread->generation = log->generation;
	thread->tid = (uint32_t)flight_call(SYS_gettid, 0, 0, 0, 0);
	thread->next_chunk = FLIGHT_SMALLEST;
}

bool flight_join(struct flight_thread *thread)
{
	struct flight_log *log = flight_log;
	struct flight_call *calls = thread->calls;
	const uint32_t before = thread->tid;
	if (log->generation == 0)
		return false;
	flight_begin_thread(log, thread);
	thread->calls = calls && before == thread->tid ? calls : flight_take_calls(log->pid, thread->tid);
	thread->most = thread->calls ? FLIGHT_CALLS_MOST : 0;
	return true;
}

bool flight_prepare(struct flight_thread *thread, uint64_t now, uint32_t cpu, uint64_t size)
{
	struct flight_log *log = flight_log;
	if (log->generation == 0)
		return false;
	flight_note_pair(log, now);
	const uint64_t room = size + FLIGHT_METADATA; /* with what may stand before it */
	if ((uint64_t)(thread->end - thread->at) < room) {
		thread->cpu = cpu;
		const bool good = next_chunk(log, thread, room, now);
		thread->floor = thread->at;
		if (!good)
			flight_lose();
		return good;
	}
	if (cpu != thread->cpu || now < thread->last)
		thread->at = flight_put_cpu(thread, thread->at, now, cpu);
	else if (now - thread->last > INT32_MAX) {
		thread->at = flight_put(thread->at, TSC_WRAP, 8, now, 0);
		thread->last = now;
	}
	thread->floor = thread->at;
	return true;
}
