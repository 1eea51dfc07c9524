/* calls.c - the begins and ends of calls in a chunk, without rows: all that a profile needs of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/calls.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "fxt/ahead.h"
#include "fxt/layout.h"

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

static void see(struct fxt_chunk *chunk, uint64_t koid, uint64_t time)
{
	struct fxt_seen *latest = &chunk->calls->latest[tw_hash64(koid) % FXT_SEEN];
	if (latest->koid != koid) {
		if (latest->time)
			keep_seen(chunk, latest);
		*latest = (struct fxt_seen){.koid = koid};
	}
	latest->time = time > latest->time ? time : latest->time;
}

/* A context switch or a wake-up of today. False for all others. */
static bool take_switch(struct fxt_chunk *chunk, const struct fxt_wish *wish, uint64_t header, size_t place)
{
	uint64_t kind = tw_bits(header, 60, 63);
	if (fxt_type(header) != TW_FXT_TYPE_SCHEDULING || kind < 1 || kind > 2 || wish->options->thread_count)
		return false;
	const uint8_t *words = chunk->bytes + place;
	see(chunk, tw_load64(words + 2 * TW_FXT_WORD, chunk->big),
	    fxt_time(chunk, tw_load64(words + TW_FXT_WORD, chunk->big), place));
	return true;
}

/* ---- Calls. ---- */

static struct fxt_call *add_call(struct fxt_chunk *chunk, uint64_t time, uint64_t duration, unsigned kind, size_t place)
{
	struct fxt_calls *calls = chunk->calls;
	if (calls->count == calls->room &&
	    !tw_grow(&calls->calls, &calls->room, calls->count + 1, sizeof *calls->calls)) {
		chunk->failed = true;
		return NULL;
	}
	struct fxt_call *call = &calls->calls[calls->count++];
	call->item = (struct tw_call_item){.time = time,
	                                   .duration = duration,
	                                   .kind = kind & 3,
	                                   .place = (uint32_t)place & 0x3fffffff};
	return call;
}

/* Whether a reference leads to a string without a look into the record, and its number. */
static inline bool find_name(const struct fxt_chunk *chunk, unsigned reference, uint64_t offset, uint32_t *number)
{
	*number = 0;
	if (reference == 0)
		return true;
	if (reference >= TW_FXT_STRING_INLINE)
		return false;
	const struct fxt_entry *entry = fxt_string_at(chunk->turn.provider, reference, offset);
	*number = entry ? entry->number : 0;
	return entry;
}

/* A begin, end or complete record whose header tells all but its times. False for others: nothing has been done. */
static bool take_call(struct fxt_chunk *chunk, uint64_t header, size_t place, unsigned kind)
{
	const uint8_t *bytes = chunk->bytes + place;
	uint64_t offset = fxt_offset(chunk, place);
	unsigned index = (unsigned)tw_bits(header, 24, 31), category = (unsigned)tw_bits(header, 32, 47);
	uint32_t name, unused;
	if (index == 0 || !find_name(chunk, (unsigned)tw_bits(header, 48, 63), offset, &name) ||
	    (category < TW_FXT_STRING_INLINE && !find_name(chunk, category, offset, &unused)))
		return false;
	const struct fxt_entry *thread = fxt_thread_at(chunk->turn.provider, index, offset);
	if (!thread || !thread->wanted)
		return thread;
	uint64_t time = fxt_time(chunk, tw_load64(bytes + TW_FXT_WORD, chunk->big), place), duration = 0;
	if (kind == TW_CALL_COMPLETE)
		duration = fxt_duration(chunk, time,
		                        tw_load64(bytes + (fxt_size(header) - 1) * TW_FXT_WORD, chunk->big), place);
	struct fxt_call *call = add_call(chunk, time, duration, kind, place);
	if (call) {
		call->item.name = name;
		call->track = thread->number;
	}
	return true;
}

/* Any record, as rows. Calls wait for theirs to be complete. Returns its size, as far as it is in the chunk. */
static size_t take_record(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	const struct tw_slab *slab = &chunk->slab;
	size_t rows = slab->count, size = fxt_take_record(chunk, wish, place, end);
	const struct tw_event *row = slab->count > rows ? &slab->events[slab->count - 1] : NULL;
	struct fxt_call *call = NULL;
	if (row && row->kind <= TW_SLICE_COMPLETE)
		call = add_call(chunk, row->time, row->value, row->kind, place);
	if (call) {
		call->track = UINT32_MAX;
		call->below = (uint32_t)slab->count - 1;
		chunk->calls->waiting++;
	}
	return size;
}

/* Records of which all is known: what events say is where their headers tell. */
static void take_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	const bool big = chunk->big;
	while (place < end) {
		uint64_t header = tw_load64(chunk->bytes + place, big);
		unsigned kind = (unsigned)tw_bits(header, 16, 19) - (TW_FXT_DURATION_BEGIN - TW_FXT_INSTANT);
		bool event = fxt_type(header) == TW_FXT_TYPE_EVENT;
		bool taken = event ? kind > TW_CALL_COMPLETE || take_call(chunk, header, place, kind)
		                   : take_switch(chunk, wish, header, place);
		place += taken ? fxt_size(header) * (size_t)TW_FXT_WORD : take_record(chunk, wish, place, end);
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

static void find_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish)
{
	if (!chunk->calls)
		chunk->calls = calloc(1, sizeof *chunk->calls);
	chunk->failed |= !chunk->calls;
	if (chunk->failed)
		return;
	if (chunk->decoded == 0) {
		fxt_calls_clear(chunk->calls);
		chunk->time = UINT64_MAX;
	}
	fxt_turn_to(chunk, &chunk->turn);
	for (; chunk->decoded < chunk->piece_count; chunk->decoded++)
		take_piece(chunk, wish, &chunk->pieces[chunk->decoded]);
}

static void sort_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct tw_slab_scratch *scratch)
{
	(void)wish;
	if (!chunk->failed && chunk->calls->waiting == 0)
		fxt_lanes_sort(chunk, scratch);
}

const struct fxt_work fxt_calls_work = {find_calls, sort_calls};

/* ---- What waited. ---- */

static void complete_calls(struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->calls->count; i++) {
		struct fxt_call *call = &chunk->calls->calls[i];
		if (call->track != UINT32_MAX)
			continue;
		const struct tw_event *row = &chunk->slab.events[call->below];
		call->item.name = row->name;
		call->track = row->track;
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

void fxt_calls_commit(struct fxt_chunk *chunk, struct fxt_state *state, struct tw_slab_scratch *scratch)
{
	struct fxt_calls *calls = chunk->calls;
	if (chunk->failed)
		return;
	if (calls->waiting) {
		complete_calls(chunk);
		fxt_lanes_sort(chunk, scratch);
	}
	set_seen(chunk, state, calls->latest, FXT_SEEN);
	set_seen(chunk, state, calls->seen, calls->seen_count);
	for (size_t i = 0; i < chunk->slab.count; i++) {
		const struct tw_event *row = &chunk->slab.events[i];
		if (row->kind > TW_SLICE_COMPLETE && row->track)
			set_last(chunk, row->track, row->time);
	}
}
