/* resync.c - the walk where it sees no record at once: on around damage, or back into the last records where these have
 * swallowed others. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/resync/resync.h"

#include "base/bytes/bytes.h"
#include "core/format.h"
#include "fxt/walk/walk.h"

/* So many records may be taken back when it shows that bytes before them are missing. */
enum { TAKEN_BACK = 4 };

static bool is_in_garbage(const struct fxt_walk *walk)
{
	return walk->lost_from != UINT64_MAX;
}

/* The word where the walk is; 0 where there is none. */
static uint64_t found_word(const struct fxt_walk *walk, const struct fxt_chunk *chunk)
{
	bool here = chunk->end - chunk->walk.place >= TW_FXT_WORD;
	return here ? tw_load64(chunk->bytes + chunk->walk.place, walk->big) : 0;
}

/* ---- Garbage. ---- */

static void enter_garbage(struct fxt_walk *walk, const struct fxt_chunk *chunk, const char *fault)
{
	walk->lost_from = fxt_offset(chunk, chunk->walk.place);
	walk->fault = fault;
	walk->found = found_word(walk, chunk);
}

/* Adds so many bytes before a place that are no records. found: their first word. */
static void add_lost(struct fxt_chunk *chunk, size_t at, uint64_t lost, const char *fault, uint64_t found)
{
	const struct fxt_piece piece = {
	    .kind = FXT_LOST, .from = at, .to = at, .lost = lost, .fault = fault, .found = found};
	if (lost)
		fxt_add_piece(chunk, &piece);
}

static void leave_garbage(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	add_lost(chunk, chunk->walk.place, fxt_offset(chunk, chunk->walk.place) - walk->lost_from, walk->fault,
	         walk->found);
	walk->lost_from = UINT64_MAX;
}

static void pass_garbage(struct fxt_walk *walk, struct fxt_chunk *chunk, const struct fxt_place *place)
{
	if (!is_in_garbage(walk))
		enter_garbage(walk, chunk, place->fault);
	chunk->walk.place += (size_t)place->size;
	if (chunk->at_end || chunk->end - chunk->walk.place >= FXT_LOOK)
		leave_garbage(walk, chunk);
}

/* ---- Back over records, as if the walk had not passed them. ---- */

/* Takes back the notes about tables of the last record: it will be noted again if it is passed again. */
static void forget_notes(struct fxt_provider *provider, struct fxt_chunk *chunk, uint64_t offset)
{
	while (chunk->found.note_count && chunk->found.notes[chunk->found.note_count - 1].record == offset) {
		enum fxt_rule rule = chunk->found.notes[--chunk->found.note_count].rule;
		provider->replaced_string &= rule != FXT_STRING_REPLACED;
		provider->replaced_thread &= rule != FXT_THREAD_REPLACED;
	}
}

/* Sets the clock to what it was before the last context. */
static void take_context_back(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	chunk->walk.context_count--;
	const struct fxt_context *context =
	    chunk->walk.context_count ? &chunk->walk.contexts[chunk->walk.context_count - 1] : &chunk->decoder.context;
	fxt_state_withdraw_ticks(walk->state, &chunk->walk.contexts[chunk->walk.context_count], context);
}

/* Takes back what a record, the last one, has put into the tables. */
static void withdraw(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t at)
{
	uint64_t header = tw_load64(chunk->bytes + at, walk->big), offset = fxt_offset(chunk, at);
	unsigned type = fxt_type(header);
	if (type < TW_FXT_TYPE_EVENT)
		walk->scanned.end = 0;
	if (type == TW_FXT_TYPE_STRING)
		fxt_state_withdraw(walk->state, false, (unsigned)tw_bits(header, 16, 30), offset);
	else if (type == TW_FXT_TYPE_THREAD)
		fxt_state_withdraw(walk->state, true, (unsigned)tw_bits(header, 16, 23), offset);
	else if (type == TW_FXT_TYPE_INITIALIZATION)
		take_context_back(walk, chunk);
	forget_notes(walk->state->current, chunk, offset);
}

/* Goes back over the last record. False where there is none, or it is metadata, which cannot be taken back. */
static bool go_back(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	struct fxt_piece *piece = chunk->walk.piece_count > chunk->decoder.pieces_done
	                              ? &chunk->walk.pieces[chunk->walk.piece_count - 1]
	                              : NULL;
	size_t last = walk->last;
	if (!piece || piece->kind != FXT_RECORDS || piece->to != chunk->walk.place || last < piece->from ||
	    last >= piece->to || fxt_type(tw_load64(chunk->bytes + last, walk->big)) == TW_FXT_TYPE_METADATA)
		return false;
	withdraw(walk, chunk, last);
	piece->to = last;
	piece->count--;
	chunk->walk.piece_count -= piece->from == piece->to;
	chunk->walk.place = last;
	walk->last = SIZE_MAX;
	return true;
}

/* Adds the places of a piece's last records to the `count` that are in `places`, the last record first; returns how
 * many there are then. Only records from `least` on, and behind the last metadata. */
static size_t add_last_places(const struct fxt_chunk *chunk, const struct fxt_piece *piece, size_t least,
                              size_t *places, size_t count)
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

/* The places of the last records, up to TAKEN_BACK, the last record first: none before damage or before bytes that were
 * decoded. Returns how many. */
static size_t last_places(const struct fxt_walk *walk, const struct fxt_chunk *chunk, size_t *places)
{
	size_t count = 0, to = chunk->walk.place;
	size_t least = to > FXT_LOOK ? to - FXT_LOOK : 0;
	for (size_t i = chunk->walk.piece_count; i > chunk->decoder.pieces_done && to > least && count < TAKEN_BACK;
	     i--) {
		const struct fxt_piece *piece = &chunk->walk.pieces[i - 1];
		if (piece->kind != FXT_RECORDS || piece->to != to || piece->big != walk->big)
			break;
		count = add_last_places(chunk, piece, least, places, count);
		to = count && places[count - 1] == piece->from ? piece->from : 0;
	}
	return count;
}

/* Goes back over records at `places` until the walk is at `least` or before it. False where one cannot be taken
 * back. */
static bool go_back_to(struct fxt_walk *walk, struct fxt_chunk *chunk, const size_t *places, size_t count, size_t least)
{
	for (size_t i = 0; i < count && chunk->walk.place > least; i++) {
		walk->last = places[i];
		if (!go_back(walk, chunk))
			return false;
	}
	return true;
}

static void go_back_over_all(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	size_t places[TAKEN_BACK], count = last_places(walk, chunk, places);
	go_back_to(walk, chunk, places, count, 0);
}

/* ---- Into records that have swallowed others. ---- */

/* Goes on at a place inside of the record at `from`, of which the bytes before the place are lost. */
static void go_on_inside(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t from, size_t at)
{
	add_lost(chunk, at, at - from, "a record as long as it says", tw_load64(chunk->bytes + from, walk->big));
	chunk->walk.place = at;
}

/* Goes on with records that begin in one of the last records and lead to `next`, where records go on. A record of which
 * bytes are missing swallows the beginning of the next; that one, read from a wrong place, may do the same. Returns
 * false where there are no such records. */
static bool go_on_across(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t next)
{
	size_t places[TAKEN_BACK], end = chunk->walk.place, count = last_places(walk, chunk, places);
	size_t first = count ? places[count - 1] : end;
	const struct fxt_view view = fxt_view_from(walk, chunk, first);
	size_t at = first + fxt_find_swallowed_across(&view, end - first, next - first);
	if (at == end)
		return false;
	if (!go_back_to(walk, chunk, places, count, at))
		return false;
	go_on_inside(walk, chunk, chunk->walk.place, at);
	return true;
}

/* Goes on with records that the last record has swallowed: where bytes of it are missing its size may still look right.
 * Returns false where it has swallowed none. */
static bool go_on_in_last(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	size_t last = walk->last, end = chunk->walk.place, size = end - last;
	if (last >= end)
		return false;
	const struct fxt_view view = fxt_view_from(walk, chunk, last);
	bool large = fxt_type(fxt_header_at(&view, 0)) == TW_FXT_TYPE_LARGE;
	size_t inside = fxt_find_swallowed(&view, size, large);
	if (inside == size || !go_back(walk, chunk))
		return false;
	if (!go_on_across(walk, chunk, last + inside))
		go_on_inside(walk, chunk, last, last + inside);
	return true;
}

/* Whether a strange record stands between a record without flaw and others: then nothing is missing before it. */
static bool is_between(struct fxt_walk *walk, const struct fxt_chunk *chunk, const struct fxt_place *place)
{
	if (!place->joins || walk->last >= chunk->walk.place)
		return false;
	const struct fxt_view view = fxt_view_from(walk, chunk, walk->last);
	return fxt_is_flawless(&view, 0);
}

/* Goes on with records that begin in those before a place. Returns false where none do. */
static bool go_on_in_records(struct fxt_walk *walk, struct fxt_chunk *chunk, const struct fxt_place *place)
{
	const struct fxt_view view = fxt_view_from(walk, chunk, chunk->walk.place);
	if (place->kind >= FXT_PLACE_SWAPPED || is_in_garbage(walk) || is_between(walk, chunk, place) ||
	    fxt_is_large_begun(&view, 0))
		return false;
	if (go_on_in_last(walk, chunk))
		return true;
	if (place->kind != FXT_PLACE_GARBAGE)
		return false;
	size_t next = chunk->walk.place + (size_t)place->size;
	return (chunk->at_end || chunk->end - next >= FXT_LOOK) && go_on_across(walk, chunk, next);
}

/* ---- Records that are broken, cut or strange. ---- */

static void pass_broken(const struct fxt_walk *walk, struct fxt_chunk *chunk, const struct fxt_place *place,
                        enum fxt_piece_kind kind)
{
	size_t left = chunk->end - chunk->walk.place;
	size_t size = place->size < left ? (size_t)place->size : left;
	const struct fxt_piece piece = {.kind = kind,
	                                .from = chunk->walk.place,
	                                .to = chunk->walk.place + size,
	                                .lost = place->size,
	                                .fault = place->fault,
	                                .found = found_word(walk, chunk)};
	fxt_add_piece(chunk, &piece);
	chunk->walk.place += size;
}

/* The size of a broken record without the section that may follow it. Where a word of the record is missing, its size
 * takes in one word of the next: if that is a section's only word, all records behind it have a wrong provider. */
static uint64_t own_size(const struct fxt_walk *walk, const struct fxt_chunk *chunk, uint64_t size)
{
	if (size < 2 * TW_FXT_WORD || size > chunk->end - chunk->walk.place)
		return size;
	uint64_t last = tw_load64(chunk->bytes + chunk->walk.place + size - TW_FXT_WORD, walk->big);
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
	uint64_t header = fxt_header_at(view, 0);
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

/* A record with something unknown in it, or a large one of which the beginning is here. False at a barrier. */
static bool pass_record(struct fxt_walk *walk, struct fxt_chunk *chunk, uint64_t size)
{
	size_t at = chunk->walk.place;
	const struct fxt_view view = fxt_view_from(walk, chunk, at);
	uint64_t header = fxt_header_at(&view, 0);
	if (fxt_type(header) < TW_FXT_TYPE_EVENT && !fxt_define(walk, chunk, at, header, (size_t)size / TW_FXT_WORD))
		return false;
	fxt_pass_time(walk, chunk, header);
	chunk->walk.place += size > view.left ? begin_large(walk, &view, size) : (size_t)size;
	if (fxt_is_foreign(walk) && !fxt_is_needed(fxt_type(header)))
		fxt_pass_over(walk, chunk, at, chunk->walk.place);
	else
		fxt_add_piece(chunk, &(struct fxt_piece){.kind = FXT_RECORDS,
		                                         .big = walk->big,
		                                         .odd = true,
		                                         .from = at,
		                                         .to = chunk->walk.place});
	return true;
}

bool fxt_resync(struct fxt_walk *walk, struct fxt_chunk *chunk, enum fxt_walked *walked)
{
	const struct fxt_view view = fxt_view_from(walk, chunk, chunk->walk.place);
	struct fxt_place place = fxt_classify(&view, is_in_garbage(walk));
	if (go_on_in_records(walk, chunk, &place))
		return true;
	switch (place.kind) {
	case FXT_PLACE_RECORD:
		if (pass_record(walk, chunk, place.size))
			return true;
		*walked = FXT_BARRIER;
		return false;
	case FXT_PLACE_BROKEN:
		place.size = own_size(walk, chunk, place.size);
		pass_broken(walk, chunk, &place, FXT_BROKEN);
		return true;
	case FXT_PLACE_CUT:
		pass_broken(walk, chunk, &place, FXT_CUT);
		return true;
	case FXT_PLACE_GARBAGE:
		pass_garbage(walk, chunk, &place);
		return true;
	case FXT_PLACE_SWAPPED:
		if (is_in_garbage(walk))
			leave_garbage(walk, chunk);
		walk->big = !walk->big;
		return true;
	case FXT_PLACE_NEEDS_LAST:
		if (!is_in_garbage(walk))
			go_back_over_all(walk, chunk);
		return false;
	case FXT_PLACE_NEEDS_BYTES:
		return false;
	}
	return false;
}
