/* calls.c - finds the begins and ends of calls in a chunk, and when threads were seen last: all that a profile needs of
 * it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/jobs/calls.h"

#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/memory/memory.h"
#include "fxt/events/events.h"
#include "fxt/format/layout.h"
#include "fxt/walk/pipeline.h"

#include <stdlib.h>

static void clear(struct fxt_calls *calls)
{
	calls->count = calls->waiting = calls->track_count = calls->seen_count = 0;
	tw_map_clear(&calls->by_track);
	memset(calls->latest, 0, sizeof calls->latest);
}

void fxt_calls_free(struct fxt_calls *calls)
{
	if (!calls)
		return;
	free(calls->room.calls);
	free(calls->items);
	free(calls->tracks);
	free(calls->seen);
	tw_map_free(&calls->by_track);
	free(calls);
}

/* ---- When threads were seen last, by events that are no calls: a call that never ends goes on until then. ---- */

static void keep_seen(struct fxt_chunk *chunk, const struct fxt_seen *seen)
{
	struct fxt_calls *calls = chunk->calls;
	if (tw_grow(&calls->seen, &calls->seen_room, calls->seen_count + 1, sizeof *calls->seen))
		calls->seen[calls->seen_count++] = *seen;
	else
		chunk->failed = true;
}

/* By a hash that is the same in each process: threads get their numbers in the order of these places. */
static inline void see(struct fxt_chunk *chunk, uint64_t koid, uint64_t time)
{
	struct fxt_seen *latest = &chunk->calls->latest[tw_mix64(koid) % FXT_SEEN];
	if (latest->koid != koid) {
		if (latest->time)
			keep_seen(chunk, latest);
		*latest = (struct fxt_seen){.koid = koid};
	}
	latest->time = time > latest->time ? time : latest->time;
}

/* ---- Cursors: what is known of a thread while its index keeps its meaning, in one run of the fast path. ---- */

/* What the options and the tables say of a thread, instead of a track. */
static const uint32_t UNWANTED = UINT32_MAX, UNKNOWN = UINT32_MAX - 1;

/* The number of a thread's track, or why it has none. */
static uint32_t find_track(struct fxt_chunk *chunk, unsigned index, const uint8_t *bytes)
{
	struct fxt_calls *calls = chunk->calls;
	const struct fxt_entry *entry = fxt_thread_of(chunk, index, (size_t)(bytes - chunk->bytes));
	struct fxt_track_calls *track = entry && entry->wanted ? fxt_calls_of(chunk, entry->number) : NULL;
	if (track)
		return (uint32_t)(track - calls->tracks);
	return entry ? UNWANTED : UNKNOWN;
}

static struct fxt_call_cursor *cursor_of(struct fxt_chunk *chunk, unsigned index, const uint8_t *bytes)
{
	struct fxt_name_cache *name_cache = chunk->decoder.name_cache;
	struct fxt_call_cursor *cursor = &name_cache->cursors[index];
	if (!cursor->met) {
		name_cache->met[index / 64] |= 1ull << index % 64;
		cursor->met = true;
		cursor->track = find_track(chunk, index, bytes);
		cursor->has_track = cursor->track < UNKNOWN;
	}
	return cursor;
}

static void set_last(struct fxt_track_calls *track, uint64_t time)
{
	if (track && time > track->last)
		track->last = time;
}

/* Tells a cursor's track when its thread was seen last, and forgets it. */
static void end_cursor(struct fxt_chunk *chunk, struct fxt_call_cursor *cursor)
{
	if (cursor->has_track)
		set_last(&chunk->calls->tracks[cursor->track], tw_ticks_ns(&chunk->decoder.clock, cursor->latest));
	*cursor = (struct fxt_call_cursor){0};
}

static void end_cursors(struct fxt_chunk *chunk)
{
	struct fxt_name_cache *name_cache = chunk->decoder.name_cache;
	for (unsigned i = 0; i < FXT_THREAD_REFERENCES / 64; i++)
		for (; name_cache->met[i]; name_cache->met[i] &= name_cache->met[i] - 1)
			end_cursor(chunk, &name_cache->cursors[i * 64 + (unsigned)__builtin_ctzll(name_cache->met[i])]);
}

/* ---- The fast path: events whose thread and names are indices, and scheduling records. It stops at the first other
 * record. `make bench` measures stat. The clock and what else seldom changes stay in the chunk: there are not registers
 * for all. ---- */

/* A row of records that the fast path takes. */
struct call_scan {
	struct fxt_chunk *chunk;
	bool switches;       /* scheduling records are looked at */
	const uint8_t *last; /* the last record taken; NULL: there is none */
};

/* What take_usual() must know of each type of event. */
static const struct call_shape {
	uint32_t complete; /* mask: its last word is the time at which it ends */
	uint32_t mark;     /* of the kind of call */
	uint32_t calls;    /* 1; 0: it is no call, and its place is used again */
} call_shapes[FXT_TYPES] = {
#define MARK(part) ((part) == FXT_CALL_BEGIN ? FXT_MARK_BEGIN : (part) == FXT_CALL_COMPLETE ? FXT_MARK_COMPLETE : 0)
#define X(type, row, part, last)                                                                                       \
	[type] = {.calls = (part) != FXT_NO_CALL,                                                                      \
	          .mark = MARK(part),                                                                                  \
	          .complete = (last) == FXT_LAST_END_TIME ? UINT32_MAX : 0},
    FXT_EVENT_LIST(X)
#undef X
#undef MARK
};

/* Takes a context switch or a wake-up. Returns its size; 0: it is another record, the legacy context switch too, or
 * something that it refers to is not registered. */
TW_NOINLINE size_t take_switch(struct fxt_chunk *chunk, const uint8_t *bytes, bool big)
{
	const uint64_t header = tw_load64(bytes, big);
	const struct fxt_switch found = fxt_switch(header);
	if (!found.koids) /* it may be of one word, the last one of the chunk */
		return 0;
	const size_t place = (size_t)(bytes - chunk->bytes), behind = place + fxt_switch_koid(found.koids);
	const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big);
	if (ticks - chunk->decoder.clock.base_tsc > chunk->decoder.clock.near ||
	    (found.arguments && !fxt_arguments_end(chunk, place, behind, found.arguments, FXT_REGISTERED)))
		return 0;
	see(chunk, tw_load64(bytes + fxt_switch_koid(0), big), tw_ticks_ns(&chunk->decoder.clock, ticks));
	return tw_bits(header, 4, 15) * TW_FXT_WORD;
}

/* Takes events whose names were looked up lately, of threads that were met, as most are, and scheduling records between
 * them. The processor cannot predict which events are calls, and of which threads, so no jump depends on it: an
 * event that is no call is written, too, and the next one takes its place. Returns the place of the first record that
 * it could not take. */
TW_INLINE const uint8_t *take_usual(struct call_scan *scan, const uint8_t *bytes, const uint8_t *to, bool big)
{
	struct fxt_chunk *const chunk = scan->chunk;
	const struct tw_ticks clock = chunk->decoder.clock;
	struct fxt_name_cache *const name_cache = chunk->decoder.name_cache;
	const uint64_t epoch = name_cache->pair_epoch;
	const uint8_t *const base = chunk->bytes, *last_taken = scan->last;
	struct fxt_call *made = chunk->calls->room.calls + chunk->calls->count;
	for (size_t size; bytes < to; last_taken = bytes, bytes += size) {
		const uint64_t header = tw_load64(bytes, big);
		const struct fxt_pair *names = &name_cache->pairs[tw_bits(header, 48, 63) % FXT_KNOWN];
		const struct call_shape *shape = &call_shapes[tw_bits(header, 16, 19)];
		struct fxt_call_cursor *cursor = &name_cache->cursors[tw_bits(header, 24, 31)];
		size = tw_bits(header, 4, 15) * TW_FXT_WORD;
		if (__builtin_expect(!(names->key == (header >> 32 | epoch) && fxt_type(header) == TW_FXT_TYPE_EVENT &&
		                       cursor->has_track),
		                     0)) {
			if (scan->switches && (size = take_switch(chunk, bytes, big)))
				continue;
			break;
		}
		const uint64_t ended =
		    tw_load64(bytes + TW_FXT_WORD + ((size - 2 * TW_FXT_WORD) & shape->complete), big);
		const uint64_t first = tw_load64(bytes + TW_FXT_WORD, big) - clock.base_tsc;
		const uint64_t last = ended - clock.base_tsc;
		if (first > last || last > clock.near ||
		    !fxt_has_registered(chunk, header, (size_t)(bytes - chunk->bytes)))
			break;
		made->track = cursor->track;
		made->name = names->name;
		made->origin = shape->mark | (uint32_t)(bytes - base);
		made->begin = tw_ticks_ns_after(&clock, first, clock.whole);
		made->end = tw_ticks_ns_after(&clock, last, clock.whole);
		made += shape->calls;
		cursor->latest = ended > cursor->latest ? ended : cursor->latest;
	}
	scan->last = last_taken;
	chunk->calls->count = (size_t)(made - chunk->calls->room.calls);
	return bytes;
}

/* The thread of an event by its index; NULL: it is inline, or the record is another one. */
static const struct fxt_call_cursor *thread_of(struct fxt_chunk *chunk, uint64_t header, const uint8_t *bytes)
{
	const unsigned index = (unsigned)tw_bits(header, 24, 31);
	return fxt_type(header) == TW_FXT_TYPE_EVENT && index ? cursor_of(chunk, index, bytes) : NULL;
}

/* Looks up what take_usual() did not know of a record, and brings the clock near it. False where it is not for the fast
 * path. */
static bool look_up(struct fxt_chunk *chunk, uint64_t header, const uint8_t *bytes, bool big)
{
	const struct fxt_call_cursor *thread = thread_of(chunk, header, bytes);
	const struct fxt_pair *names =
	    thread && thread->has_track ? fxt_pair_of(chunk, header, (size_t)(bytes - chunk->bytes)) : NULL;
	if (!names && !fxt_switch(header).koids)
		return false;
	return tw_ticks_ns(&chunk->decoder.clock, tw_load64(bytes + TW_FXT_WORD, big)) != UINT64_MAX;
}

/* Sets the time of the last record. */
static void end_scan(const struct call_scan *scan, bool big)
{
	struct fxt_chunk *chunk = scan->chunk;
	end_cursors(chunk);
	if (scan->last) {
		chunk->decoder.time = tw_ticks_ns(&chunk->decoder.clock, tw_load64(scan->last + TW_FXT_WORD, big));
		chunk->decoder.timed = true;
	}
}

/* Takes records up to the first that is not for the fast path; returns its place. */
TW_INLINE size_t take_usual_records(struct fxt_chunk *chunk, bool switches, size_t place, size_t end, bool big)
{
	struct call_scan scan = {.chunk = chunk, .switches = switches};
	const uint8_t *bytes = chunk->bytes + place, *const to = chunk->bytes + end;
	for (const uint8_t *looked_up = NULL;;) {
		bytes = take_usual(&scan, bytes, to, big);
		if (bytes == to)
			break;
		const uint64_t header = tw_load64(bytes, big);
		if (bytes != looked_up && look_up(chunk, header, bytes, big)) {
			looked_up = bytes;
			continue;
		}
		const struct fxt_call_cursor *thread = thread_of(chunk, header, bytes);
		if (!thread || thread->track != UNWANTED) /* the options leave no others out */
			break;
		scan.last = bytes;
		bytes += tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	end_scan(&scan, big);
	return (size_t)(bytes - chunk->bytes);
}

/* ---- All other records: they become rows, and a call waits until its row is committed. ---- */

/* Makes sure that there is room for as many more calls as there can be records between two places: at first, as many as
 * a chunk of usual size can have. What is not used of it takes no memory. */
static bool make_room(struct fxt_chunk *chunk, size_t from, size_t to)
{
	enum { LEAST = 2 * TW_FXT_WORD }; /* bytes of a call */
	struct fxt_call_room *room = &chunk->calls->room;
	const size_t bytes = room->calls ? to - from : chunk->room;
	/* take_usual() writes one more, which may be none. */
	const bool made =
	    tw_extend(&room->calls, &room->room, chunk->calls->count + bytes / LEAST + 1, sizeof *room->calls);
	chunk->failed |= !made;
	return made;
}

static void add_waiting(struct fxt_chunk *chunk, const struct tw_event *row, size_t place)
{
	struct fxt_calls *calls = chunk->calls;
	if (!make_room(chunk, place, place))
		return;
	calls->waiting++;
	calls->room.calls[calls->count++] = (struct fxt_call){
	    .track = UINT32_MAX,
	    .begin = row->time,
	    .end = row->time + (row->kind == TW_SLICE_COMPLETE ? row->value : 0),
	    .name = (uint32_t)(row - chunk->rows.slab.events),
	    .origin = fxt_origin(row->kind, place),
	};
}

static size_t take_record(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	const struct tw_slab *slab = &chunk->rows.slab;
	size_t rows = slab->count, size = fxt_take_record(chunk, wish, place, end);
	if (slab->count > rows && slab->events[slab->count - 1].kind <= TW_SLICE_COMPLETE)
		add_waiting(chunk, &slab->events[slab->count - 1], place);
	return size;
}

static size_t take_in_loop(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	const bool switches = wish->options->thread_count == 0;
	if (!make_room(chunk, place, end))
		return place;
	return chunk->decoder.big ? take_usual_records(chunk, switches, place, end, true)
	                          : take_usual_records(chunk, switches, place, end, false);
}

/* Hands on room for calls to who has none. They are no longer needed once they are in tracks, so the room of a thread
 * goes from chunk to chunk: what was used lately is in the processor's cache. `make bench` measures stat. */
static void hand_on(struct fxt_call_room *from, struct fxt_call_room *to)
{
	if (to->calls)
		return;
	*to = *from;
	*from = (struct fxt_call_room){0};
}

void fxt_find_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	static const struct fxt_way calls = {TW_LOOP_FXT_CALLS, take_in_loop, take_record};
	if (!chunk->calls)
		chunk->calls = calloc(1, sizeof *chunk->calls);
	chunk->failed |= !chunk->calls;
	if (chunk->failed)
		return;
	if (chunk->decoder.pieces_done == 0) {
		clear(chunk->calls);
		hand_on(&scratch->calls, &chunk->calls->room);
	}
	fxt_take_pieces(chunk, wish, &calls);
}

void fxt_found_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)wish;
	if (chunk->failed || chunk->calls->waiting)
		return;
	fxt_sort_calls(chunk, scratch);
	hand_on(&chunk->calls->room, &scratch->calls);
}

/* ---- Calls that waited for the commit. ---- */

static void complete_calls(struct fxt_chunk *chunk)
{
	struct fxt_call *const calls = chunk->calls->room.calls, *const end = calls + chunk->calls->count;
	for (struct fxt_call *call = calls; call < end; call++) {
		if (call->track != UINT32_MAX)
			continue;
		const struct tw_event *row = &chunk->rows.slab.events[call->name];
		struct fxt_track_calls *track = fxt_calls_of(chunk, row->track);
		if (!track)
			return;
		call->track = (uint32_t)(track - chunk->calls->tracks);
		call->name = row->name;
	}
}

static void set_seen(struct fxt_chunk *chunk, struct fxt_state *state, const struct fxt_seen *seen, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (seen[i].time)
			set_last(fxt_calls_of(chunk, fxt_state_track_of_thread(state, seen[i].koid)), seen[i].time);
}

void fxt_calls_commit(struct fxt_chunk *chunk, struct fxt_state *state, struct fxt_scratch *scratch)
{
	struct fxt_calls *calls = chunk->calls;
	if (chunk->failed)
		return;
	if (calls->waiting) {
		complete_calls(chunk);
		if (!chunk->failed)
			fxt_sort_calls(chunk, scratch);
	}
	set_seen(chunk, state, calls->latest, FXT_SEEN);
	set_seen(chunk, state, calls->seen, calls->seen_count);
	for (size_t i = 0; i < chunk->rows.slab.count; i++) {
		const struct tw_event *row = &chunk->rows.slab.events[i];
		if (!tw_is_call(row) && tw_goes_on(row))
			set_last(fxt_calls_of(chunk, row->track), row->time);
	}
}
