/* walk_doubt.c - the walk where no record is seen at once: on around damage, or back where records before it have
 * swallowed others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "core/format.h"
#include "fxt/resync/judge.h"
#include "fxt/walk/walk_parts.h"

/* How many records may be taken back when it shows that bytes before them are missing. */
enum { TAKEN_BACK = 4 };

static void enter_garbage(struct fxt_walk *walk, const struct fxt_chunk *chunk, const struct fxt_judgement *judgement)
{
	size_t place = chunk->walked, left = chunk->end - place;
	walk->lost_from = fxt_offset(chunk, place);
	walk->fault = judgement->fault;
	walk->found = left >= TW_FXT_WORD ? tw_load64(chunk->bytes + place, walk->big) : 0;
}

static void leave_garbage(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	const struct fxt_piece piece = {.kind = FXT_LOST,
	                                .from = chunk->walked,
	                                .to = chunk->walked,
	                                .lost = fxt_offset(chunk, chunk->walked) - walk->lost_from,
	                                .fault = walk->fault,
	                                .found = walk->found};
	if (piece.lost)
		fxt_add_piece(chunk, &piece);
	walk->lost_from = UINT64_MAX;
}

/* What is told of the last record when its index is registered again is not true. */
static void forget_notes(struct fxt_provider *provider, struct fxt_chunk *chunk, uint64_t offset)
{
	while (chunk->note_count && chunk->notes[chunk->note_count - 1].record == offset) {
		enum fxt_rule rule = chunk->notes[--chunk->note_count].rule;
		provider->told_string &= rule != FXT_STRING_REPLACED;
		provider->told_thread &= rule != FXT_THREAD_REPLACED;
	}
}

/* The clock is what it was before the last turn. */
static void take_turn_back(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	chunk->turn_count--;
	const struct fxt_turn *turn = chunk->turn_count ? &chunk->turns[chunk->turn_count - 1] : &chunk->turn;
	fxt_state_withdraw_ticks(walk->state, &chunk->turns[chunk->turn_count], turn);
}

/* What the last record has set. */
static void take_back(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t place)
{
	uint64_t header = tw_load64(chunk->bytes + place, walk->big), offset = fxt_offset(chunk, place);
	unsigned type = fxt_type(header);
	if (type < TW_FXT_TYPE_EVENT)
		walk->scanned.end = 0;
	if (type == TW_FXT_TYPE_STRING)
		fxt_state_withdraw(walk->state, false, (unsigned)tw_bits(header, 16, 30), offset);
	else if (type == TW_FXT_TYPE_THREAD)
		fxt_state_withdraw(walk->state, true, (unsigned)tw_bits(header, 16, 23), offset);
	else if (type == TW_FXT_TYPE_INITIALIZATION)
		take_turn_back(walk, chunk);
	forget_notes(walk->state->current, chunk, offset);
}

/* Goes back to before the last record, as if it had not been passed. What it has set is as before; metadata cannot be
 * undone. False where there is none. */
static bool go_back(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	struct fxt_piece *piece = chunk->piece_count > chunk->decoded ? &chunk->pieces[chunk->piece_count - 1] : NULL;
	size_t last = walk->last;
	if (!piece || piece->kind != FXT_RECORDS || piece->to != chunk->walked || last < piece->from ||
	    last >= piece->to || fxt_type(tw_load64(chunk->bytes + last, walk->big)) == TW_FXT_TYPE_METADATA)
		return false;
	take_back(walk, chunk, last);
	piece->to = last;
	piece->count--;
	chunk->piece_count -= piece->from == piece->to;
	chunk->walked = last;
	walk->last = SIZE_MAX;
	return true;
}

/* Puts the places of a piece's last records, the last first, behind those that are in `places`; returns how many there
 * are then. Only records from `least` on, and behind the last metadata record, which cannot be undone. */
static size_t find_last(const struct fxt_chunk *chunk, const struct fxt_piece *piece, size_t least, size_t *places,
                        size_t count)
{
	size_t room = TAKEN_BACK - count, found = 0, last[TAKEN_BACK];
	for (size_t at = piece->from, size; at < piece->to; at += size) {
		uint64_t header = tw_load64(chunk->bytes + at, piece->big);
		size = (size_t)fxt_size(header) * TW_FXT_WORD;
		if (fxt_type(header) == TW_FXT_TYPE_METADATA)
			found = 0;
		else if (at >= least)
			last[found++ % TAKEN_BACK] = at;
	}
	for (; found && room; room--)
		places[count++] = last[--found % TAKEN_BACK];
	return count;
}

/* Places of the records behind the last loss, the last of them first; returns how many. */
static size_t last_places(const struct fxt_walk *walk, const struct fxt_chunk *chunk, size_t *places)
{
	size_t count = 0, to = chunk->walked;
	size_t least = to > FXT_LOOK ? to - FXT_LOOK : 0;
	for (size_t i = chunk->piece_count; i > chunk->decoded && to > least && count < TAKEN_BACK; i--) {
		const struct fxt_piece *piece = &chunk->pieces[i - 1];
		if (piece->kind != FXT_RECORDS || piece->to != to || piece->big != walk->big)
			break;
		count = find_last(chunk, piece, least, places, count);
		to = count && places[count - 1] == piece->from ? piece->from : 0;
	}
	return count;
}

/* Goes back to before all records that may be taken back. */
static void go_far_back(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	size_t places[TAKEN_BACK], count = last_places(walk, chunk, places);
	bool back = true;
	for (size_t i = 0; i < count && back; i++) {
		walk->last = places[i];
		back = go_back(walk, chunk);
	}
}

/* Goes on at a place inside of a record that begins at `from`; what is before is lost. */
static void begin_inside(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t from, size_t at)
{
	fxt_add_piece(chunk, &(struct fxt_piece){.kind = FXT_LOST,
	                                         .from = at,
	                                         .to = at,
	                                         .lost = at - from,
	                                         .fault = "a record as long as it says",
	                                         .found = tw_load64(chunk->bytes + from, walk->big)});
	chunk->walked = at;
}

/* Looks for records that were swallowed before chunk->walked, where none begins. A record of which bytes are missing
 * has swallowed the beginning of the next, and that, read from a wrong place, may have done the same. If others begin
 * in the last records that lead to `next`, where records go on, those are taken back and the walk goes on with these.
 * Returns false where none do. */
static bool look_across(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t next)
{
	size_t places[TAKEN_BACK], end = chunk->walked, count = last_places(walk, chunk, places);
	size_t first = count ? places[count - 1] : end;
	const struct fxt_view view = fxt_view_from(walk, chunk, first);
	size_t at = first + fxt_look_across(&view, end - first, next - first);
	if (at == end)
		return false;
	for (size_t i = 0; i < count && chunk->walked > at; i++) {
		walk->last = places[i];
		if (!go_back(walk, chunk))
			return false;
	}
	begin_inside(walk, chunk, chunk->walked, at);
	return true;
}

/* Looks for records that were swallowed by the last one before a place in doubt: where bytes of it are missing its size
 * may still look right. It is taken back, and the walk goes on with those. Returns false where it holds none. */
static bool look_back(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	size_t last = walk->last, end = chunk->walked, size = end - last;
	if (last >= end)
		return false;
	const struct fxt_view view = fxt_view_from(walk, chunk, last);
	bool large = fxt_type(tw_load64(view.bytes, view.big)) == TW_FXT_TYPE_LARGE;
	size_t inside = fxt_look_inside(&view, size, large);
	if (inside == size || !go_back(walk, chunk))
		return false;
	if (!look_across(walk, chunk, last + inside))
		begin_inside(walk, chunk, last, last + inside);
	return true;
}

/* Whether a strange record stands between one that has no flaw and others: then nothing is missing before it. */
static bool is_between(struct fxt_walk *walk, const struct fxt_chunk *chunk, const struct fxt_judgement *judgement)
{
	if (!judgement->joins || walk->last >= chunk->walked)
		return false;
	const struct fxt_view view = fxt_view_from(walk, chunk, walk->last);
	return fxt_is_flawless(&view, 0);
}

/* Whether the records before a place in doubt hold the beginning of others. The walk goes on with those. */
static bool look_behind(struct fxt_walk *walk, struct fxt_chunk *chunk, const struct fxt_judgement *judgement)
{
	const struct fxt_view view = fxt_view_from(walk, chunk, chunk->walked);
	if (judgement->verdict >= FXT_IS_SWAPPED || walk->lost_from != UINT64_MAX ||
	    is_between(walk, chunk, judgement) || fxt_is_large_begun(&view, 0))
		return false;
	if (look_back(walk, chunk))
		return true;
	size_t next = judgement->verdict == FXT_IS_GARBAGE ? chunk->walked + (size_t)judgement->size : chunk->end;
	bool goes_on = judgement->verdict == FXT_IS_GARBAGE && (chunk->at_end || chunk->end - next >= FXT_LOOK);
	return goes_on && look_across(walk, chunk, next);
}

static void pass_garbage(struct fxt_walk *walk, struct fxt_chunk *chunk, const struct fxt_judgement *judgement)
{
	if (walk->lost_from == UINT64_MAX)
		enter_garbage(walk, chunk, judgement);
	chunk->walked += (size_t)judgement->size;
	bool more = !chunk->at_end && chunk->end - chunk->walked < FXT_LOOK;
	if (!more)
		leave_garbage(walk, chunk);
}

static void pass_odd(struct fxt_chunk *chunk, const struct fxt_judgement *judgement, enum fxt_piece_kind kind, bool big)
{
	size_t left = chunk->end - chunk->walked;
	size_t size = judgement->size < left ? (size_t)judgement->size : left;
	const struct fxt_piece piece = {.kind = kind,
	                                .from = chunk->walked,
	                                .to = chunk->walked + size,
	                                .lost = judgement->size,
	                                .fault = judgement->fault,
	                                .found =
	                                    left >= TW_FXT_WORD ? tw_load64(chunk->bytes + chunk->walked, big) : 0};
	fxt_add_piece(chunk, &piece);
	chunk->walked += size;
}

/* How much of a broken record is its own: where a word of it is missing, the last within its size may be the next
 * record's. A header of a section would be all of that record, and what follows belong to a wrong provider. */
static uint64_t own_size(const struct fxt_walk *walk, const struct fxt_chunk *chunk, uint64_t size)
{
	if (size < 2 * TW_FXT_WORD || size > chunk->end - chunk->walked)
		return size;
	uint64_t last = tw_load64(chunk->bytes + chunk->walked + size - TW_FXT_WORD, walk->big);
	bool section = fxt_kind(last) == TW_FXT_PROVIDER_SECTION && fxt_size(last) == 1 &&
	               !(last & fxt_reserved(TW_FXT_PROVIDER_SECTION)) &&
	               fxt_state_knows(walk->state, (uint32_t)tw_bits(last, 20, 51));
	return section ? size - TW_FXT_WORD : size;
}

/* Whether the payload of a large record that begins here is asked for: that of a blob goes with its thread. */
static bool is_wanted(const struct fxt_walk *walk, const struct tw_fxt_record *record, uint64_t offset)
{
	if (fxt_is_foreign(walk))
		return false;
	if (!walk->options || record->kind != TW_FXT_LARGE_BLOB || record->format != 0)
		return true;
	if (record->thread.index == 0)
		return tw_thread_wanted(walk->options, record->thread.thread);
	const struct fxt_entry *entry = fxt_thread_at(walk->state->current, record->thread.index, offset);
	return entry ? entry->wanted : walk->options->thread_count == 0;
}

/* A large record of `size` bytes that goes on behind the chunk. Returns how much of it passes at once. */
static size_t begin_large(struct fxt_walk *walk, const struct fxt_view *view, uint64_t size)
{
	struct tw_fxt_decoder decoder = {.bytes = view->bytes, .left = view->left, .big = view->big};
	struct tw_fxt_record record;
	uint64_t header = tw_load64(view->bytes, view->big);
	if (tw_fxt_next(&decoder, &record) != 1)
		record = (struct tw_fxt_record){.kind = TW_FXT_UNKNOWN};
	size_t payload = record.payload_here > FXT_SHOWN ? (size_t)record.payload_here - FXT_SHOWN : 0;
	walk->in_doubt =
	    record.kind == TW_FXT_UNKNOWN || (header & fxt_reserved(record.kind)) || record.trailing_size > FXT_LOOK;
	walk->unwanted = !is_wanted(walk, &record, view->offset);
	walk->blob_left = size - (view->left - payload);
	size_t here = view->left - fxt_waiting(walk, payload, view->at_end);
	uint64_t end = record.payload ? (size_t)(record.payload - view->bytes) + record.payload_size : size;
	walk->blob_left = size - here;
	walk->bytes_left = end > here ? end - here : 0;
	return here;
}

/* A record with something unknown in it, or a large one of which the beginning is here. */
static bool pass_record(struct fxt_walk *walk, struct fxt_chunk *chunk, const struct fxt_judgement *judgement)
{
	size_t place = chunk->walked;
	const struct fxt_view view = fxt_view_from(walk, chunk, place);
	uint64_t header = tw_load64(view.bytes, walk->big);
	if (tw_bits(header, 0, 3) < TW_FXT_TYPE_EVENT &&
	    !fxt_define(walk, chunk, place, header, (size_t)judgement->size / TW_FXT_WORD))
		return false;
	fxt_pass_time(walk, chunk, header);
	chunk->walked +=
	    judgement->size > view.left ? begin_large(walk, &view, judgement->size) : (size_t)judgement->size;
	if (fxt_is_foreign(walk) && !fxt_is_needed(fxt_type(header))) {
		fxt_pass_over(walk, chunk, place, chunk->walked);
		return true;
	}
	fxt_add_piece(chunk,
	              &(struct fxt_piece){
			  .kind = FXT_RECORDS, .big = walk->big, .odd = true, .from = place, .to = chunk->walked});
	return true;
}

bool fxt_pass_doubt(struct fxt_walk *walk, struct fxt_chunk *chunk, enum fxt_walked *walked)
{
	bool in_garbage = walk->lost_from != UINT64_MAX;
	const struct fxt_view view = fxt_view_from(walk, chunk, chunk->walked);
	struct fxt_judgement judgement = fxt_judge(&view, in_garbage);
	if (look_behind(walk, chunk, &judgement))
		return true;
	switch (judgement.verdict) {
	case FXT_IS_RECORD:
		if (pass_record(walk, chunk, &judgement))
			return true;
		*walked = FXT_BARRIER;
		return false;
	case FXT_IS_BROKEN:
		judgement.size = own_size(walk, chunk, judgement.size);
		pass_odd(chunk, &judgement, FXT_BROKEN, walk->big);
		return true;
	case FXT_IS_CUT:
		pass_odd(chunk, &judgement, FXT_CUT, walk->big);
		return true;
	case FXT_IS_GARBAGE:
		pass_garbage(walk, chunk, &judgement);
		return true;
	case FXT_IS_SWAPPED:
		if (in_garbage)
			leave_garbage(walk, chunk);
		walk->big = !walk->big;
		return true;
	case FXT_WANTS_LAST:
		if (!in_garbage)
			go_far_back(walk, chunk);
		return false;
	case FXT_WANTS_MORE:
		return false;
	}
	return false;
}
