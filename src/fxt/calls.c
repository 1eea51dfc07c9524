/* calls.c - the begins and ends of calls in a chunk, without rows: all that a profile needs of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/calls.h"

#include <limits.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "fxt/ahead.h"
#include "fxt/layout.h"

/* Chunks are shorter than 2^30 bytes. */
#define PLACE(place) ((uint32_t)(place)&0x3fffffff)

void fxt_calls_clear(struct fxt_calls *calls)
{
	calls->count = calls->waiting = calls->lane_count = calls->seen_count = 0;
	calls->by_track.count = 0;
	if (calls->by_track.slots)
		memset(calls->by_track.slots, 0, (calls->by_track.mask + 1) * sizeof *calls->by_track.slots);
	memset(calls->latest, 0, sizeof calls->latest);
}

void fxt_calls_free(struct fxt_calls *calls)
{
	if (!calls)
		return;
	free(calls->calls);
	free(calls->items);
	free(calls->lanes);
	free(calls->seen);
	tw_map_free(&calls->by_track);
	free(calls);
}

/* ---- When threads did something else: a call that is never ended goes on until then. ---- */

static void keep_seen(struct fxt_chunk *chunk, const struct fxt_seen *seen)
{
	struct fxt_calls *calls = chunk->calls;
	if (tw_grow(&calls->seen, &calls->seen_room, calls->seen_count + 1, sizeof *calls->seen))
		calls->seen[calls->seen_count++] = *seen;
	else
		chunk->failed = true;
}

static inline void see(struct fxt_chunk *chunk, uint64_t koid, uint64_t time)
{
	struct fxt_seen *latest = &chunk->calls->latest[tw_hash64(koid) % FXT_SEEN];
	if (latest->koid != koid) {
		if (latest->time)
			keep_seen(chunk, latest);
		*latest = (struct fxt_seen){.koid = koid};
	}
	latest->time = time > latest->time ? time : latest->time;
}

/* ---- The fast path: calls whose header tells all but their times, and events that are none. What it cannot do stops it. `make
 * bench` measures stat. ---- */

/* What a run keeps at hand. */
struct run {
	struct fxt_chunk *chunk;
	struct tw_ticks clock;
	uint64_t time;         /* of the last record */
	unsigned thread;       /* whose calls come; UINT_MAX: not known yet */
	struct fxt_lane *lane; /* NULL: the thread is not wanted */
};

/* Finds the lane of a thread: *lane is NULL where it is not wanted. False where it is inline or not defined. */
static bool find_lane(struct fxt_chunk *chunk, unsigned index, uint64_t offset, struct fxt_lane **lane)
{
	const struct fxt_entry *entry = index ? fxt_thread_at(chunk->turn.provider, index, offset) : NULL;
	*lane = entry && entry->wanted ? fxt_lane_of(chunk, entry->number) : NULL;
	return entry;
}

/* Makes a thread the one whose calls come. The run is not handed on: then it could not be kept in registers. */
static inline bool set_thread(struct run *run, unsigned index, uint64_t offset)
{
	struct fxt_lane *lane;
	if (!find_lane(run->chunk, index, offset, &lane))
		return false;
	run->thread = index;
	run->lane = lane;
	return true;
}

/* A begin, end or complete record at bytes; *call is for it. False where it is not for the fast path. */
static inline __attribute__((always_inline)) bool take_call(struct run *run, uint64_t header, const uint8_t *bytes,
                                                            unsigned kind, bool big, struct fxt_call **call)
{
	size_t place = (size_t)(bytes - run->chunk->bytes);
	uint64_t offset = fxt_offset(run->chunk, place);
	unsigned index = (unsigned)tw_bits(header, 24, 31), category = (unsigned)tw_bits(header, 32, 47);
	uint32_t name, unused;
	if ((index != run->thread && !set_thread(run, index, offset)) ||
	    !fxt_known_number(run->chunk, (unsigned)tw_bits(header, 48, 63), offset, &name) ||
	    (category < TW_FXT_STRING_INLINE && !fxt_known_number(run->chunk, category, offset, &unused)))
		return false;
	if (!run->lane)
		return true;
	/* Which kind comes is not to be foreseen: that of an end is cheaper than a branch. */
	size_t end_word = kind == TW_CALL_COMPLETE ? tw_bits(header, 4, 15) - 1 : 1;
	uint64_t time = tw_ticks_ns(&run->clock, tw_load64(bytes + TW_FXT_WORD, big));
	uint64_t end = tw_ticks_ns(&run->clock, tw_load64(bytes + end_word * TW_FXT_WORD, big));
	if (end < time || end == UINT64_MAX)
		return false;
	**call = (struct fxt_call){
	    .item = {.time = time, .duration = end - time, .name = name, .kind = kind & 3, .place = PLACE(place)},
	    .lane = (uint32_t)(run->lane - run->chunk->calls->lanes),
	};
	++*call;
	run->lane->count++;
	run->time = time;
	return true;
}

/* A context switch or a wake-up of today. False for all others. */
static inline bool take_switch(struct run *run, uint64_t header, const uint8_t *bytes, bool big)
{
	uint64_t kind = tw_bits(header, 60, 63);
	if (fxt_type(header) != TW_FXT_TYPE_SCHEDULING || kind < 1 || kind > 2)
		return false;
	run->time = tw_ticks_ns(&run->clock, tw_load64(bytes + TW_FXT_WORD, big));
	see(run->chunk, tw_load64(bytes + 2 * TW_FXT_WORD, big), run->time);
	return run->time != UINT64_MAX;
}

/* Takes records up to one that is not for the fast path, or until there is no room. Returns that one's place. */
static inline __attribute__((always_inline)) size_t take_run(struct fxt_chunk *chunk, bool switches, size_t place,
                                                             size_t end, bool big)
{
	struct fxt_calls *calls = chunk->calls;
	struct run run = {chunk, chunk->clock, chunk->time, UINT_MAX, NULL};
	struct fxt_call *call = calls->calls + calls->count, *last = calls->calls + calls->room;
	uint64_t header;
	for (; place < end && call < last; place += (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD) {
		const uint8_t *bytes = chunk->bytes + place;
		header = tw_load64(bytes, big);
		unsigned kind = (unsigned)tw_bits(header, 16, 19) - (TW_FXT_DURATION_BEGIN - TW_FXT_INSTANT);
		if (fxt_type(header) == TW_FXT_TYPE_EVENT) {
			if (kind <= TW_CALL_COMPLETE && !take_call(&run, header, bytes, kind, big, &call))
				break;
		} else if (!switches || !take_switch(&run, header, bytes, big)) {
			break;
		}
	}
	calls->count = (size_t)(call - calls->calls);
	chunk->clock = run.clock;
	chunk->timed |= run.time != UINT64_MAX;
	chunk->time = run.time;
	return place;
}

/* ---- All other records: as rows, which calls wait for. ---- */

static bool make_room(struct fxt_chunk *chunk)
{
	struct fxt_calls *calls = chunk->calls;
	bool room =
	    calls->count < calls->room || tw_grow(&calls->calls, &calls->room, calls->count + 1, sizeof *calls->calls);
	chunk->failed |= !room;
	return room;
}

static void add_waiting(struct fxt_chunk *chunk, const struct tw_event *row, size_t place)
{
	struct fxt_calls *calls = chunk->calls;
	if (!make_room(chunk))
		return;
	calls->waiting++;
	calls->calls[calls->count++] = (struct fxt_call){
	    .item = {.time = row->time, .duration = row->value, .kind = row->kind & 3u, .place = PLACE(place)},
	    .lane = UINT32_MAX,
	    .below = (uint32_t)(row - chunk->slab.events),
	};
}

/* Returns the record's size, as far as it is in the chunk. */
static size_t take_record(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	const struct tw_slab *slab = &chunk->slab;
	size_t rows = slab->count, size = fxt_take_record(chunk, wish, place, end);
	if (slab->count > rows && slab->events[slab->count - 1].kind <= TW_SLICE_COMPLETE)
		add_waiting(chunk, &slab->events[slab->count - 1], place);
	return size;
}

/* Records of which all is known: what events say is where their headers tell. */
static void take_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	bool switches = wish->options->thread_count == 0;
	while (place < end && make_room(chunk)) {
		size_t from = place;
		place = chunk->big ? take_run(chunk, switches, place, end, true)
		                   : take_run(chunk, switches, place, end, false);
		if (place == from)
			place += take_record(chunk, wish, place, end);
	}
}

static void take_odd_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	while (place < end)
		place += take_record(chunk, wish, place, end);
}

static void take_piece(struct fxt_chunk *chunk, const struct fxt_wish *wish, const struct fxt_piece *piece)
{
	chunk->big = piece->big;
	if (piece->kind != FXT_RECORDS)
		fxt_decode_piece(chunk, wish, piece);
	else if (piece->odd)
		take_odd_records(chunk, wish, piece->from, piece->to);
	else
		take_records(chunk, wish, piece->from, piece->to);
}

/* What was found is no more needed when it is in order, so that one array, which stays in the processor's cache, does for all chunks
 * of a thread. `make bench` measures stat. */
static void borrow_room(struct fxt_calls *calls, struct fxt_scratch *scratch)
{
	if (calls->calls)
		return;
	calls->calls = scratch->calls;
	calls->room = scratch->call_room;
	scratch->calls = NULL;
	scratch->call_room = 0;
}

static void return_room(struct fxt_calls *calls, struct fxt_scratch *scratch)
{
	free(scratch->calls);
	scratch->calls = calls->calls;
	scratch->call_room = calls->room;
	calls->calls = NULL;
	calls->room = 0;
}

static void find_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	if (!chunk->calls)
		chunk->calls = calloc(1, sizeof *chunk->calls);
	chunk->failed |= !chunk->calls;
	if (chunk->failed)
		return;
	borrow_room(chunk->calls, scratch);
	if (chunk->decoded == 0)
		fxt_calls_clear(chunk->calls);
	fxt_turn_to(chunk, &chunk->turn);
	for (; chunk->decoded < chunk->piece_count; chunk->decoded++)
		take_piece(chunk, wish, &chunk->pieces[chunk->decoded]);
}

static void sort_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)wish;
	if (chunk->failed || chunk->calls->waiting)
		return;
	fxt_lanes_sort(chunk, scratch);
	return_room(chunk->calls, scratch);
}

const struct fxt_work fxt_calls_work = {find_calls, sort_calls};

/* ---- What waited. ---- */

static void complete_calls(struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->calls->count; i++) {
		struct fxt_call *call = &chunk->calls->calls[i];
		if (call->lane != UINT32_MAX)
			continue;
		const struct tw_event *row = &chunk->slab.events[call->below];
		struct fxt_lane *lane = fxt_lane_of(chunk, row->track);
		if (!lane)
			return;
		lane->count++;
		call->lane = (uint32_t)(lane - chunk->calls->lanes);
		call->item.name = row->name;
	}
}

static void set_last(struct fxt_chunk *chunk, uint32_t track, uint64_t time)
{
	struct fxt_lane *lane = fxt_lane_of(chunk, track);
	if (lane && time > lane->last)
		lane->last = time;
}

static void set_seen(struct fxt_chunk *chunk, struct fxt_state *state, const struct fxt_seen *seen, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (seen[i].time)
			set_last(chunk, fxt_state_track_of_thread(state, seen[i].koid), seen[i].time);
}

void fxt_calls_commit(struct fxt_chunk *chunk, struct fxt_state *state, struct fxt_scratch *scratch)
{
	struct fxt_calls *calls = chunk->calls;
	if (chunk->failed)
		return;
	if (calls->waiting) {
		complete_calls(chunk);
		if (!chunk->failed)
			fxt_lanes_sort(chunk, scratch);
	}
	set_seen(chunk, state, calls->latest, FXT_SEEN);
	set_seen(chunk, state, calls->seen, calls->seen_count);
	for (size_t i = 0; i < chunk->slab.count; i++) {
		const struct tw_event *row = &chunk->slab.events[i];
		if (row->kind > TW_SLICE_COMPLETE && row->track && !(row->flags & FXT_FLAG_FOREIGN))
			set_last(chunk, row->track, row->time);
	}
}
