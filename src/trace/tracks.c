/* tracks.c - tracks of the program's own, and names of its threads: they outlive recordings, and stand before them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/session.h"

#include <string.h>
#include <sys/mman.h>

enum { BLOCK = 1 << 10, BLOCKS = 1 << 12, KNOWN_LEAST = 1 << 10, NAME = 104 };

static struct trace_session *const session = &trace_session;

struct program_track {
	_Atomic uint64_t place; /* the recording that it stands in << 32 | its number there */
	uint64_t id;            /* the program's own number of it, where it has one */
	uint32_t number, reserved;
	char name[NAME];
};

/* A track's number is that of its place here, from 1 on; blocks stay where they are. */
static struct program_track *_Atomic blocks[BLOCKS];
static _Atomic uint32_t count;

/* Tracks that the program knows by numbers: open addressing, at most half of it is used. */
static struct {
	struct program_track **tracks;
	uint64_t room, used; /* room: a power of two */
} known;

/* No character of UTF-8 is cut in two. */
static void keep_name(char *to, size_t room, const char *name)
{
	size_t length = strlen(name);
	length = length < room ? length : room - 1;
	while (name[length] && length && ((uint8_t)name[length] & 0xc0) == 0x80)
		length--;
	memcpy(to, name, length);
	to[length] = 0;
}

/* ---- Tracks. Locked. ---- */

static struct program_track *track_at(uint32_t number)
{
	uint32_t place = number - 1;
	if (place >= atomic_load_explicit(&count, memory_order_acquire))
		return NULL;
	return &atomic_load_explicit(&blocks[place / BLOCK], memory_order_relaxed)[place % BLOCK];
}

static struct program_track *new_track(const char *name, uint64_t id)
{
	uint32_t place = atomic_load_explicit(&count, memory_order_relaxed);
	if (place / BLOCK >= BLOCKS)
		return NULL;
	struct program_track *block = atomic_load_explicit(&blocks[place / BLOCK], memory_order_relaxed);
	block = block ? block : trace_map(BLOCK * sizeof *block);
	if (!block)
		return NULL;
	atomic_store_explicit(&blocks[place / BLOCK], block, memory_order_relaxed);
	struct program_track *track = &block[place % BLOCK];
	track->id = id;
	track->number = place + 1;
	keep_name(track->name, sizeof track->name, name);
	atomic_store_explicit(&count, place + 1, memory_order_release);
	return track;
}

/* The track begins in the recording that goes on. */
static uint32_t put(struct program_track *track, const char *name)
{
	uint64_t state = atomic_load_explicit(&session->state, memory_order_relaxed);
	uint32_t number = trace_put_track(name);
	atomic_store_explicit(&track->place, state << 32 | number, memory_order_release);
	return number;
}

static uint32_t take(struct program_track *track, const char *name)
{
	if (!track)
		return 0;
	if (atomic_load_explicit(&session->state, memory_order_relaxed))
		put(track, name);
	return track->number;
}

uint32_t trace_track(const char *name)
{
	name = trace_text(name);
	return take(new_track(name, 0), name);
}

static struct program_track **place_of(uint64_t id)
{
	uint64_t at = id * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (known.room - 1);
	while (known.tracks[at] && known.tracks[at]->id != id)
		at = (at + 1) & (known.room - 1);
	return &known.tracks[at];
}

static bool grow(void)
{
	struct program_track **old = known.tracks;
	uint64_t old_room = known.room, room = old_room ? old_room * 2 : KNOWN_LEAST;
	if (known.used * 2 < known.room)
		return true;
	struct program_track **tracks = trace_map(room * sizeof(struct program_track *));
	if (!tracks)
		return false;
	known.tracks = tracks;
	known.room = room;
	for (uint64_t i = 0; i < old_room; i++)
		if (old[i])
			*place_of(old[i]->id) = old[i];
	if (old)
		munmap((void *)old, old_room * sizeof(struct program_track *));
	return true;
}

uint32_t trace_virtual_thread(const char *name, uint64_t id)
{
	struct program_track **place = grow() ? place_of(id) : NULL;
	if (place && *place)
		return (*place)->number;
	name = trace_text(name);
	struct program_track *track = place ? new_track(name, id) : NULL;
	if (track) {
		*place = track;
		known.used++;
	}
	return take(track, name);
}

/* ---- Not locked. ---- */

uint32_t trace_track_number(uint32_t track_number, uint32_t state)
{
	struct program_track *track = track_at(track_number);
	uint64_t place = track ? atomic_load_explicit(&track->place, memory_order_acquire) : 0;
	uint32_t number = (uint32_t)place;
	if (!track || place >> 32 == state)
		return track ? number : 0;
	if (!trace_lock())
		return 0;
	place = atomic_load_explicit(&track->place, memory_order_relaxed);
	if (atomic_load_explicit(&session->state, memory_order_relaxed) != state)
		number = 0;
	else
		number = place >> 32 == state ? (uint32_t)place : put(track, track->name);
	trace_unlock();
	return number;
}

/* ---- Names of threads. ---- */

enum { NAMES = 1 << 14, THREAD_NAME = 128 };

union name {
	union name *next; /* of those that no thread has any more */
	char text[THREAD_NAME];
};

static __thread union name *own __attribute__((tls_model("initial-exec")));
static union name *unused, *fresh, *fresh_end;

static union name *new_name(void)
{
	union name *name = unused;
	if (name) {
		unused = name->next;
		return name;
	}
	if (fresh == fresh_end) {
		fresh = trace_map(NAMES);
		fresh_end = fresh ? fresh + NAMES / sizeof *fresh : NULL;
	}
	return fresh ? fresh++ : NULL;
}

bool trace_keep_name(const char *name)
{
	own = own ? own : new_name();
	if (own)
		keep_name(own->text, sizeof own->text, trace_text(name));
	return own;
}

void trace_forget_name(void)
{
	if (own) {
		own->next = unused;
		unused = own;
	}
	own = NULL;
}

const char *trace_kept_name(void)
{
	return own ? own->text : NULL;
}
