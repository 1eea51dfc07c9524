/* notes.c - what the recorder itself tells in a log: custom events in chunks that no ring overwrites. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "flight/log/notes.h"

#include "flight/log/chunks.h"
#include "flight/system.h"

enum { CUSTOM_EVENT = 0x0b };

/* Not beside what each record reads. */
_Alignas(FLIGHT_UNSHARED) struct flight_thread flight_notes;
static _Alignas(FLIGHT_UNSHARED) uint32_t notes_busy;

static bool enter_notes(void)
{
	enum { TRIES = 1000 };
	for (unsigned i = 0; i < TRIES; i++) {
		if (!__atomic_exchange_n(&notes_busy, 1, __ATOMIC_ACQUIRE))
			return true;
		flight_call(SYS_sched_yield, 0, 0, 0, 0);
	}
	return false;
}

void flight_free_notes(void)
{
	notes_busy = 0;
}

void flight_begin_notes(struct flight_log *log, struct flight_thread *writer, uint8_t *chunk, uint64_t size)
{
	flight_begin_thread(log, writer);
	writer->tid = 0; /* of no thread */
	flight_begin_chunk(log, writer, chunk, size, flight_now());
}

void *flight_begin_table(const struct flight_thread *writer, const char *kind, size_t kind_size, size_t size)
{
	uint8_t *at = flight_put(writer->at, CUSTOM_EVENT, 4, kind_size + size, 0);
	flight_copy(at, kind, kind_size);
	return at + kind_size;
}

/* The chunk with room for `size` bytes more. Rings have no part in it. */
static bool make_room(struct flight_log *log, size_t size)
{
	if (flight_notes.generation == flight_own_generation(log) &&
	    (size_t)(flight_notes.end - flight_notes.at) >= size)
		return true;
	uint64_t chunk = FLIGHT_SMALLEST;
	while (chunk < size + 2 * FLIGHT_SMALLEST)
		chunk *= 2;
	uint8_t *place = flight_more(log, chunk);
	if (!place)
		return false;
	flight_begin_notes(log, &flight_notes, place, chunk);
	flight_notes.generation = flight_own_generation(log);
	return true;
}

static void put_note(const char *kind, size_t kind_size, const char *text, size_t size)
{
	const uint64_t now = flight_now(), delta = now - flight_notes.last;
	uint8_t *at = flight_notes.at;
	if (delta > INT32_MAX)
		at = flight_put_cpu(&flight_notes, at, now, 0);
	at = flight_put(at, CUSTOM_EVENT, 4, kind_size + size, delta > INT32_MAX ? 0 : delta);
	flight_copy(at, kind, kind_size);
	flight_copy(at + kind_size, text, size);
	flight_notes.last = now;
	flight_commit(&flight_notes, at + kind_size + size);
}

bool flight_note(const char *kind, size_t kind_size, const char *text, size_t size)
{
	struct flight_log *log = flight_log;
	if (flight_own_generation(log) == 0 || !enter_notes())
		return false;
	const bool fits = make_room(log, kind_size + size + 3 * FLIGHT_METADATA);
	if (fits)
		put_note(kind, kind_size, text, size);
	__atomic_store_n(&notes_busy, 0, __ATOMIC_RELEASE);
	return fits;
}
