/* walk.c - from record to record through an archive, around what is damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/walk.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "core/format.h"
#include "fxt/judge.h"

/* How many meanings of an index may wait to be decoded: looking one up goes through them. */
enum { MEANINGS = 8 };

/* How many records may be taken back when it shows that bytes before them are missing. */
enum { TAKEN_BACK = 4 };

/* A record that others depend on, at a place of the chunk. */
struct seen {
	struct fxt_chunk *chunk;
	size_t place;
	const uint8_t *bytes;
	uint64_t header, offset;
	size_t words;
};

/* What may be looked at from a place of the chunk on. */
static struct fxt_view view_from(const struct fxt_walk *walk, const struct fxt_chunk *chunk, size_t place)
{
	return (struct fxt_view){.state = walk->state,
	                         .bytes = chunk->bytes + place,
	                         .left = chunk->end - place,
	                         .at_end = chunk->at_end,
	                         .big = walk->big,
	                         .offset = fxt_offset(chunk, place)};
}

/* ---- What is noted in the chunk. ---- */

static void add_piece(struct fxt_chunk *chunk, const struct fxt_piece *piece)
{
	if (tw_grow(&chunk->pieces, &chunk->piece_room, chunk->piece_count + 1, sizeof *chunk->pieces))
		chunk->pieces[chunk->piece_count++] = *piece;
	else
		chunk->failed = true;
}

/* Records from one place to another, behind those there are. */
static void add_records(struct fxt_chunk *chunk, size_t from, size_t to, uint64_t count, bool big)
{
	struct fxt_piece *last = chunk->piece_count > chunk->decoded ? &chunk->pieces[chunk->piece_count - 1] : NULL;
	if (from == to)
		return;
	if (last && last->kind == FXT_RECORDS && last->to == from && last->big == big && !last->odd && !last->leapt) {
		last->to = to;
		last->count += count;
		return;
	}
	add_piece(chunk, &(struct fxt_piece){.kind = FXT_RECORDS, .big = big, .from = from, .to = to, .count = count});
}

static void add_turn(const struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	if (tw_grow(&chunk->turns, &chunk->turn_room, chunk->turn_count + 1, sizeof *chunk->turns))
		chunk->turns[chunk->turn_count++] = fxt_turn_of(walk->state);
	else
		chunk->failed = true;
}

/* ---- The records that others depend on. Each returns false for a barrier: nothing has been done. ---- */

/* Notes what is about tables: told when they change, which only the walk sees. */
static void note(const struct fxt_walk *walk, const struct seen *seen, enum fxt_rule rule, uint64_t number)
{
	if (walk->check)
		fxt_note(seen->chunk, rule, seen->place, seen->place, number, 0, NULL);
}

/* What came before a change that leaves nothing behind must have been decoded. */
static bool is_clear(struct fxt_walk *walk, const struct seen *seen)
{
	return walk->state->oldest == seen->offset;
}

static bool take_info(struct fxt_walk *walk, const struct seen *seen, uint32_t id)
{
	bool again = fxt_state_knows(walk->state, id);
	if (again && !is_clear(walk, seen))
		return false;
	if (again)
		note(walk, seen, FXT_PROVIDER_AGAIN, id);
	fxt_state_announce(walk->state, id, seen->bytes + TW_FXT_WORD, tw_bits(seen->header, 52, 59));
	return true;
}

static bool take_magic(struct fxt_walk *walk, const struct seen *seen)
{
	if (!seen->offset)
		return true;
	if (!is_clear(walk, seen))
		return false;
	note(walk, seen, FXT_SECOND_ARCHIVE, 0);
	fxt_state_reset(walk->state);
	return true;
}

static bool take_metadata(struct fxt_walk *walk, const struct seen *seen)
{
	uint32_t id = (uint32_t)tw_bits(seen->header, 20, 51);
	switch ((unsigned)fxt_kind(seen->header)) {
	case TW_FXT_PROVIDER_INFO:
		return take_info(walk, seen, id);
	case TW_FXT_PROVIDER_SECTION:
		if (!fxt_state_knows(walk->state, id))
			note(walk, seen, FXT_PROVIDER_UNKNOWN, id);
		fxt_state_turn(walk->state, id);
		return true;
	case TW_FXT_MAGIC:
		return take_magic(walk, seen);
	default:
		return true;
	}
}

/* The longer record tells the wall time of a tick. */
static void take_wall(struct fxt_provider *provider, const struct seen *seen, bool big)
{
	struct tw_ticks clock;
	provider->has_wall = false;
	if (seen->words < 4 || provider->frequency > TW_FREQUENCY_MAX)
		return;
	tw_ticks_set(&clock, provider->frequency);
	uint64_t ns = tw_ticks_ns(&clock, tw_load64(seen->bytes + 2 * TW_FXT_WORD, big));
	uint64_t wall = tw_load64(seen->bytes + 3 * TW_FXT_WORD, big);
	provider->has_wall = ns <= INT64_MAX && wall <= INT64_MAX;
	provider->wall_ns = provider->has_wall ? (int64_t)wall - (int64_t)ns : 0;
}

static bool take_initialization(struct fxt_walk *walk, const struct seen *seen)
{
	struct fxt_provider *provider = walk->state->current;
	uint64_t frequency = tw_load64(seen->bytes + TW_FXT_WORD, walk->big);
	if (frequency == 0)
		return true;
	if (provider->initialized && provider->frequency != frequency)
		note(walk, seen, FXT_INITIALIZATION_AGAIN, frequency);
	fxt_state_set_ticks(walk->state, frequency);
	take_wall(provider, seen, walk->big);
	return true;
}

/* Told once for each provider: there are writers with few indices, which they use again and again. */
static void check_string(const struct fxt_walk *walk, const struct seen *seen, unsigned index)
{
	struct fxt_provider *provider = walk->state->current;
	const struct fxt_entry *entry =
	    walk->check && !provider->told_string ? fxt_string_at(provider, index, seen->offset) : NULL;
	size_t length = tw_bits(seen->header, 32, 46);
	if (!entry || (entry->length == length && memcmp(entry->text, seen->bytes + TW_FXT_WORD, length) == 0))
		return;
	provider->told_string = true;
	note(walk, seen, FXT_STRING_REPLACED, provider->id);
}

static void check_thread(const struct fxt_walk *walk, const struct seen *seen, unsigned index, uint64_t process,
                         uint64_t thread)
{
	struct fxt_provider *provider = walk->state->current;
	const struct fxt_entry *entry =
	    walk->check && !provider->told_thread ? fxt_thread_at(provider, index, seen->offset) : NULL;
	if (!entry || (entry->process == process && entry->thread == thread))
		return;
	provider->told_thread = true;
	note(walk, seen, FXT_THREAD_REPLACED, provider->id);
}

static bool take_string(struct fxt_walk *walk, const struct seen *seen)
{
	unsigned index = (unsigned)tw_bits(seen->header, 16, 30);
	if (index == 0)
		return true;
	if (fxt_state_meanings(walk->state, false, index) >= MEANINGS)
		return false;
	check_string(walk, seen, index);
	fxt_state_string(walk->state, index, seen->bytes + TW_FXT_WORD, tw_bits(seen->header, 32, 46), seen->offset);
	return true;
}

static bool take_thread(struct fxt_walk *walk, const struct seen *seen)
{
	unsigned index = (unsigned)tw_bits(seen->header, 16, 23);
	if (index == 0)
		return true;
	if (fxt_state_meanings(walk->state, true, index) >= MEANINGS)
		return false;
	uint64_t process = tw_load64(seen->bytes + TW_FXT_WORD, walk->big);
	uint64_t thread = tw_load64(seen->bytes + 2 * TW_FXT_WORD, walk->big);
	check_thread(walk, seen, index, process, thread);
	fxt_state_thread(walk->state, index, process, thread, seen->offset);
	return true;
}

static bool (*const takers[])(struct fxt_walk *, const struct seen *) = {
    [TW_FXT_TYPE_METADATA] = take_metadata,
    [TW_FXT_TYPE_INITIALIZATION] = take_initialization,
    [TW_FXT_TYPE_STRING] = take_string,
    [TW_FXT_TYPE_THREAD] = take_thread,
};

static bool take(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t place, uint64_t header, size_t words)
{
	const struct seen seen = {chunk, place, chunk->bytes + place, header, fxt_offset(chunk, place), words};
	if (!takers[tw_bits(header, 0, 3)](walk, &seen))
		return false;
	if (tw_bits(header, 0, 3) <= TW_FXT_TYPE_INITIALIZATION)
		add_turn(walk, chunk);
	return true;
}

/* ---- Providers that are left out. ---- */

static bool chooses(const struct fxt_walk *walk)
{
	return walk->options && walk->options->provider;
}

/* Whether what the current provider writes is left out. */
static bool is_foreign(const struct fxt_walk *walk)
{
	return chooses(walk) && !walk->state->current->wanted;
}

/* What others need, whoever writes it: what turns to a provider and its clock, and objects, which name things of
 * all. */
static const bool needed[FXT_TYPES] = {
    [TW_FXT_TYPE_METADATA] = true, [TW_FXT_TYPE_INITIALIZATION] = true, [TW_FXT_TYPE_STRING] = true,
    [TW_FXT_TYPE_THREAD] = true,   [TW_FXT_TYPE_KERNEL_OBJECT] = true,  [TW_FXT_TYPE_USERSPACE_OBJECT] = true,
};

/* Events of a provider tell which one themselves. */
static bool is_others_event(const struct fxt_walk *walk, uint64_t header)
{
	return chooses(walk) && fxt_kind(header) == TW_FXT_PROVIDER_EVENT &&
	       !fxt_state_wants(walk->state, (uint32_t)tw_bits(header, 20, 51));
}

/* ---- Places in doubt. ---- */

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
		add_piece(chunk, &piece);
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
	fxt_state_withdraw_ticks(walk->state, turn->initialized, turn->frequency);
	walk->state->current->has_wall = turn->has_wall;
	walk->state->current->wall_ns = turn->wall_ns;
}

/* What the last record has set. */
static void take_back(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t place)
{
	uint64_t header = tw_load64(chunk->bytes + place, walk->big), offset = fxt_offset(chunk, place);
	unsigned type = fxt_type(header);
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
	piece->leapt = false; /* what was told of it is not true */
	piece->count--;
	chunk->piece_count -= piece->from == piece->to;
	chunk->walked = last;
	walk->last = SIZE_MAX;
	return true;
}

/* Places of the last records of a piece that begin at `least` or later, put before those there are; returns how many
 * there are then. Metadata ends them: it cannot be undone. */
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

/* Goes back to before the record that another is in, at a place, and takes what is before it for lost. */
static void begin_inside(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t from, size_t at)
{
	add_piece(chunk, &(struct fxt_piece){.kind = FXT_LOST,
	                                     .from = at,
	                                     .to = at,
	                                     .lost = at - from,
	                                     .fault = "a record as long as it says",
	                                     .found = tw_load64(chunk->bytes + from, walk->big)});
	chunk->walked = at;
}

/* The records before a place where none begins: where bytes of one are missing it has swallowed the beginning of
 * another, and so may have what follows it. They are taken back if others begin in them that lead to where records go
 * on. False where none do. */
static bool look_across(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t next)
{
	size_t places[TAKEN_BACK], end = chunk->walked, count = last_places(walk, chunk, places);
	size_t first = count ? places[count - 1] : end;
	const struct fxt_view view = view_from(walk, chunk, first);
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

/* The record before a place in doubt: where bytes of it are missing it has swallowed others, though its size looks
 * right. It is taken back, and the walk goes on with those. False where it holds none. */
static bool look_back(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	size_t last = walk->last, end = chunk->walked, size = end - last;
	if (last >= end)
		return false;
	const struct fxt_view view = view_from(walk, chunk, last);
	size_t inside = fxt_look_inside(&view, size);
	if (inside == size || !go_back(walk, chunk))
		return false;
	if (!look_across(walk, chunk, last + inside))
		begin_inside(walk, chunk, last, last + inside);
	return true;
}

/* Whether a strange record stands between one that has no flaw and others: nothing is missing there. */
static bool is_between(const struct fxt_walk *walk, const struct fxt_chunk *chunk,
                       const struct fxt_judgement *judgement)
{
	if (!judgement->joins || walk->last >= chunk->walked)
		return false;
	const struct fxt_view view = view_from(walk, chunk, walk->last);
	return fxt_is_flawless(&view, 0);
}

/* Whether the records before a place in doubt hold the beginning of others. The walk goes on with those. */
static bool look_behind(struct fxt_walk *walk, struct fxt_chunk *chunk, const struct fxt_judgement *judgement)
{
	if (judgement->verdict >= FXT_IS_SWAPPED || walk->lost_from != UINT64_MAX || is_between(walk, chunk, judgement))
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
	add_piece(chunk, &piece);
	chunk->walked += size;
}

/* Whether the payload of a large record that begins here is asked for: that of a blob goes with its thread. */
static bool is_wanted(const struct fxt_walk *walk, const struct fxt_chunk *chunk, size_t place)
{
	struct tw_fxt_decoder decoder = {.bytes = chunk->bytes + place, .left = chunk->end - place, .big = walk->big};
	struct tw_fxt_record record;
	if (is_foreign(walk))
		return false;
	if (!walk->options || tw_fxt_next(&decoder, &record) != 1 || record.kind != TW_FXT_LARGE_BLOB ||
	    record.format != 0)
		return true;
	if (record.thread.index == 0)
		return tw_thread_wanted(walk->options, record.thread.thread);
	const struct fxt_entry *entry =
	    fxt_thread_at(walk->state->current, record.thread.index, fxt_offset(chunk, place));
	return entry ? entry->wanted : walk->options->thread_count == 0;
}

/* A record with something unknown in it, or a large one of which the beginning is here. */
static bool pass_record(struct fxt_walk *walk, struct fxt_chunk *chunk, const struct fxt_judgement *judgement)
{
	size_t place = chunk->walked, left = chunk->end - place;
	uint64_t header = tw_load64(chunk->bytes + place, walk->big);
	if (tw_bits(header, 0, 3) < TW_FXT_TYPE_EVENT &&
	    !take(walk, chunk, place, header, (size_t)judgement->size / TW_FXT_WORD))
		return false;
	size_t here = judgement->size > left ? left : (size_t)judgement->size;
	if (judgement->size > left) {
		walk->in_doubt = fxt_kind(header) == TW_FXT_UNKNOWN || (header & fxt_reserved(fxt_kind(header)));
		here -= walk->in_doubt && left > 2 * FXT_LOOK ? FXT_LOOK : 0;
		walk->blob_left = judgement->size - here;
		walk->unwanted = !is_wanted(walk, chunk, place);
	}
	chunk->walked += here;
	if (is_foreign(walk) && !needed[fxt_type(header)])
		return true;
	add_piece(chunk, &(struct fxt_piece){
			     .kind = FXT_RECORDS, .big = walk->big, .odd = true, .from = place, .to = chunk->walked});
	return true;
}

/* Goes past a place in doubt. False where the walk must stop: for more bytes, or at a barrier. */
static bool pass(struct fxt_walk *walk, struct fxt_chunk *chunk, enum fxt_walked *walked)
{
	bool in_garbage = walk->lost_from != UINT64_MAX;
	const struct fxt_view view = view_from(walk, chunk, chunk->walked);
	const struct fxt_judgement judgement = fxt_judge(&view, in_garbage);
	if (look_behind(walk, chunk, &judgement))
		return true;
	switch (judgement.verdict) {
	case FXT_IS_RECORD:
		if (pass_record(walk, chunk, &judgement))
			return true;
		*walked = FXT_BARRIER;
		return false;
	case FXT_IS_BROKEN:
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

/* ---- The walk. ---- */

/* The order in which more records follow one another, at the first place where that is not the same: what stands before
 * may be damaged, the magic number above all. */
static bool looks_big(const uint8_t *bytes, size_t left)
{
	unsigned little = 0, big = 0;
	for (size_t at = 0; at < left && at < FXT_LOOK && little == big; at += TW_FXT_WORD) {
		size_t size = left - at < TW_PROBE_SIZE ? left - at : TW_PROBE_SIZE;
		fxt_chain(bytes + at, size, false, &little);
		fxt_chain(bytes + at, size, true, &big);
	}
	return big > little;
}

void fxt_walk_begin(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	const uint8_t *bytes = chunk->bytes + chunk->walked;
	size_t left = chunk->end - chunk->walked;
	if (left >= TW_FXT_WORD && tw_fxt_magic(bytes, &walk->big) == 0)
		return;
	walk->big = looks_big(bytes, left);
	if (left)
		fxt_note(chunk, FXT_MAGIC_MISSING, chunk->walked, chunk->walked, 0, 0, NULL);
}

/* Hops over events that are as they should be, and counts them. Returns the place of what is none; *last is that of the
 * last one. `make bench` measures info. */
static inline __attribute__((always_inline)) size_t pass_events(const uint8_t *bytes, size_t place, size_t end,
                                                                bool big, size_t *last, uint64_t *count)
{
	const uint8_t *at = bytes + place, *before = NULL;
	uint64_t header, counted = 0;
	for (; (size_t)(bytes + end - at) >= FXT_PLAIN_MAX * TW_FXT_WORD; at += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(at, big);
		if (!fxt_is_plain(header) &&
		    (fxt_type(header) != TW_FXT_TYPE_EVENT ||
		     !fxt_measure_event(header, at, (size_t)(bytes + end - at) / TW_FXT_WORD, big)))
			break;
		before = at;
		counted++;
	}
	*last = before ? (size_t)(before - bytes) : *last;
	*count += counted;
	return (size_t)(at - bytes);
}

/* A record that is no event, where providers are chosen. False at a barrier. */
static bool choose(struct fxt_walk *walk, struct fxt_chunk *chunk, size_t place, uint64_t header, size_t words)
{
	unsigned type = fxt_type(header);
	if (is_others_event(walk, header))
		return true;
	if (type < TW_FXT_TYPE_EVENT && !take(walk, chunk, place, header, words))
		return false;
	if (needed[type] || !is_foreign(walk))
		add_records(chunk, place, place + words * TW_FXT_WORD, 1, walk->big);
	return true;
}

/* Records that are as they should be, up to a place. */
struct stretch {
	size_t from, place;
	size_t last; /* place of the last record */
	uint64_t count;
};

/* A record that is none of those that are hopped over. False at a barrier. */
static bool pass_one(struct fxt_walk *walk, struct fxt_chunk *chunk, struct stretch *stretch, size_t words)
{
	size_t place = stretch->place;
	uint64_t header = tw_load64(chunk->bytes + place, walk->big);
	bool choosy = chooses(walk);
	if (choosy && !is_foreign(walk))
		add_records(chunk, stretch->from, place, stretch->count, walk->big);
	if (choosy)
		*stretch = (struct stretch){.from = place, .place = place, .last = stretch->last};
	bool clear = choosy ? choose(walk, chunk, place, header, words)
	                    : fxt_type(header) >= TW_FXT_TYPE_EVENT || take(walk, chunk, place, header, words);
	if (!clear)
		return false;
	stretch->last = place;
	stretch->place += words * TW_FXT_WORD;
	stretch->from = choosy ? stretch->place : stretch->from;
	stretch->count += !choosy;
	return true;
}

/* Hops over what needs no look, and over the chunk's leap if its first record is one of those that follow one
 * another. */
static void hop(const struct fxt_walk *walk, struct fxt_chunk *chunk, struct stretch *stretch)
{
	const struct fxt_leap *leap = &chunk->leap;
	bool leaps = leap->count && leap->big == walk->big && leap->from >= stretch->place && !chooses(walk);
	size_t end = leaps ? leap->from : chunk->end;
	stretch->place = walk->big
	                     ? pass_events(chunk->bytes, stretch->place, end, true, &stretch->last, &stretch->count)
	                     : pass_events(chunk->bytes, stretch->place, end, false, &stretch->last, &stretch->count);
	if (!leaps || stretch->place != end)
		return;
	add_records(chunk, stretch->from, stretch->place, stretch->count, walk->big);
	add_piece(chunk, &(struct fxt_piece){.kind = FXT_RECORDS,
	                                     .big = leap->big,
	                                     .leapt = true,
	                                     .from = leap->from,
	                                     .to = leap->to,
	                                     .count = leap->count});
	*stretch = (struct stretch){.from = leap->to, .place = leap->to, .last = leap->last};
}

/* Whether metadata needs a further look. What a provider info record does cannot be undone, if it has a name; and what
 * follows a section of a provider that was not announced has no names. */
static bool is_doubtful(const struct fxt_walk *walk, uint64_t header)
{
	switch ((unsigned)fxt_kind(header)) {
	case TW_FXT_PROVIDER_INFO:
		return fxt_size(header) > 1;
	case TW_FXT_PROVIDER_SECTION:
		return !fxt_state_knows(walk->state, (uint32_t)tw_bits(header, 20, 51));
	default:
		return false;
	}
}

/* Whether a record that measures right may be passed. */
static bool may_be_passed(const struct fxt_walk *walk, const struct fxt_chunk *chunk, size_t place)
{
	uint64_t header = tw_load64(chunk->bytes + place, walk->big);
	if (fxt_type(header) != TW_FXT_TYPE_METADATA || !is_doubtful(walk, header))
		return true;
	const struct fxt_view view = view_from(walk, chunk, place);
	return fxt_is_turn(&view);
}

/* Records that are as they should be. False at a barrier. */
static bool pass_records(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	struct stretch stretch = {.from = chunk->walked, .place = chunk->walked, .last = SIZE_MAX};
	bool clear = true;
	while (clear) {
		hop(walk, chunk, &stretch);
		const uint8_t *bytes = chunk->bytes + stretch.place;
		size_t left = (chunk->end - stretch.place) / TW_FXT_WORD;
		size_t words = left ? fxt_measure(tw_load64(bytes, walk->big), bytes, left, walk->big) : 0;
		if (words == 0 || !may_be_passed(walk, chunk, stretch.place))
			break;
		clear = pass_one(walk, chunk, &stretch, words);
	}
	chunk->walked = stretch.place;
	walk->last = stretch.last;
	if (!is_foreign(walk))
		add_records(chunk, stretch.from, stretch.place, stretch.count, walk->big);
	return clear;
}

/* How much of a large record goes on here. Of one in doubt the last bytes wait for more: records may begin there. */
static size_t payload_here(struct fxt_walk *walk, const struct fxt_chunk *chunk)
{
	size_t left = chunk->end - chunk->walked;
	size_t size = walk->blob_left < left ? (size_t)walk->blob_left : left;
	if (!walk->in_doubt)
		return size;
	const struct fxt_view view = view_from(walk, chunk, chunk->walked);
	size_t here = fxt_look_for(&view, size);
	walk->ends_early = here < size;
	if (here < size || walk->blob_left == size || chunk->at_end)
		return here;
	return left < FXT_LOOK ? 0 : left - FXT_LOOK + 1;
}

/* More of a large record. */
static void pass_payload(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	size_t size = payload_here(walk, chunk), to = chunk->walked + size;
	walk->blob_left -= size;
	const struct fxt_piece piece = {.kind = FXT_PAYLOAD,
	                                .from = chunk->walked,
	                                .to = to,
	                                .last = walk->blob_left == 0 || chunk->at_end || walk->ends_early,
	                                .lost = walk->blob_left,
	                                .found = walk->ends_early ? tw_load64(chunk->bytes + to, walk->big) : 0};
	if (!walk->unwanted && (size || piece.last))
		add_piece(chunk, &piece);
	chunk->walked = to;
	if (piece.last)
		walk->blob_left = 0;
	walk->ends_early = false;
}

enum fxt_walked fxt_walk(struct fxt_walk *walk, struct fxt_chunk *chunk)
{
	enum fxt_walked walked = FXT_WALKED;
	if (walk->blob_left)
		pass_payload(walk, chunk);
	while (!walk->blob_left && (chunk->walked < chunk->end || (chunk->at_end && walk->lost_from != UINT64_MAX))) {
		if (walk->lost_from == UINT64_MAX && !pass_records(walk, chunk))
			return FXT_BARRIER;
		if (chunk->walked == chunk->end && walk->lost_from == UINT64_MAX)
			break;
		if (!pass(walk, chunk, &walked))
			break;
	}
	if (walk->blob_left && chunk->at_end)
		pass_payload(walk, chunk); /* none is left: it is cut */
	return walked;
}
