/* plain.c - records of which all that matters stands where their headers tell: the fast path of rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/loops.h"
#include "base/memory/memory.h"
#include "fxt/events/values.h"
#include "fxt/merge/links.h"
#include "fxt/walk/chunk.h"
#include "fxt/write/put.h"

#include <limits.h>

/* What a run of records keeps at hand. The clock and what else is seldom changed stay in the chunk: there are not
 * registers for all. */
struct run {
	struct fxt_chunk *chunk;
	const struct fxt_wish *wish;
	const uint8_t *timed; /* the last record with a time; NULL: there is none */
	bool clear; /* provider and clock of the turn are told, or it has been said that they are not; or nobody asks */
	unsigned index; /* of the last thread */
	const struct fxt_entry *thread;
	const struct fxt_seat *seat; /* of the thread; NULL: no records are made, or not yet of it */
	uint64_t seat_index;
};

TW_NOINLINE const struct fxt_entry *look_up_thread(const struct fxt_chunk *chunk, unsigned index, size_t place)
{
	return index ? fxt_thread_at(chunk->turn.provider, index, fxt_offset(chunk, place)) : NULL;
}

TW_NOINLINE const struct fxt_seat *look_up_seat(const struct fxt_chunk *chunk, const struct fxt_entry *thread)
{
	return chunk->links && thread ? fxt_linked_seat(chunk->links, thread->number) : NULL;
}

/* What an event leads to, besides its thread; NULL where something is inline, or not defined. */
TW_INLINE const struct fxt_pair *find(struct run *run, uint64_t header, size_t place)
{
	unsigned index = (unsigned)tw_bits(header, 24, 31);
	if (__builtin_expect(index != run->index, 0)) {
		run->index = index;
		run->thread = look_up_thread(run->chunk, index, place);
		run->seat = look_up_seat(run->chunk, run->thread);
		run->seat_index = run->seat ? fxt_seat_index(run->seat) : 0;
	}
	const struct fxt_pair *names = fxt_known_pair(run->chunk, header);
	if (__builtin_expect(!names, 0))
		names = fxt_look_up_pair(run->chunk, header, place);
	return run->thread ? names : NULL;
}

/* ---- Events. ---- */

/* The last word of an event: what stands behind the arguments. */
TW_INLINE uint64_t last_word(const uint8_t *bytes, uint64_t header, bool big)
{
	return tw_load64(bytes + (tw_bits(header, 4, 15) - 1) * TW_FXT_WORD, big);
}

/* Whether an event keeps the rules of its kind; *word is what stands behind its arguments, without which some are. */
TW_INLINE bool is_right(const struct run *run, const uint8_t *bytes, uint64_t header, uint64_t *word, bool big)
{
	unsigned kind = fxt_event_kinds[tw_bits(header, 16, 19)];
	uint64_t count = tw_bits(header, 20, 23);
	*word = 0;
	if (kind == TW_SLICE_BEGIN || kind == TW_SLICE_END ||
	    (kind == TW_INSTANT && count == 0 && tw_bits(header, 4, 15) == 2))
		return true;
	*word = last_word(bytes, header, big);
	if (kind == TW_SLICE_COMPLETE)
		return *word >= tw_load64(bytes + TW_FXT_WORD, big) && *word < run->chunk->first_without;
	if (kind == TW_INSTANT)
		return count == 0 && *word <= FXT_SCOPE_MAX;
	return kind != TW_COUNTER || count != 0;
}

TW_INLINE void add_row(struct run *run, size_t place, unsigned kind, const struct fxt_pair *names, uint64_t ticks,
                       uint64_t word)
{
	bool instant = kind == TW_INSTANT, complete = kind == TW_SLICE_COMPLETE;
	uint64_t time = tw_ticks_ns(&run->chunk->clock, ticks);
	fxt_set_time(run->chunk, time);
	struct tw_event *row = tw_slab_next(&run->chunk->slab);
	if (!row)
		return;
	row->time = time;
	row->offset = fxt_offset(run->chunk, place);
	row->value = complete ? tw_ticks_ns(&run->chunk->clock, word) - time : 0;
	row->id = kind >= TW_COUNTER && !complete ? word : 0;
	row->track = run->thread->number;
	row->name = names->name;
	row->category = names->category;
	row->other = 0;
	row->kind = (uint8_t)kind;
	row->cpu = 0;
	row->flags = instant ? fxt_scope_flags(word) : 0;
	row->provider = run->chunk->turn.number;
}

void fxt_brief_rows(struct fxt_chunk *chunk)
{
	if (chunk->brief_rows < chunk->untimed)
		fxt_time_rows(chunk);
	for (; chunk->brief_rows < chunk->slab.count; chunk->brief_rows++)
		tw_slab_add_key(&chunk->slab, (uint32_t)chunk->brief_rows);
}

/* ---- Events as they will be written. ---- */

/* Puts the arguments, and returns where they end; NULL where the name of one has not been written, or one does not fit.
 * Who puts the rest of the record has no address of its `put` taken: it stays in registers. */
TW_NOINLINE uint8_t *put_values(struct fxt_chunk *chunk, size_t place, uint64_t count, struct fxt_put put)
{
	size_t at = place + (size_t)2 * TW_FXT_WORD;
	uint64_t offset = fxt_offset(chunk, place);
	for (; count > 0; count--) {
		uint64_t header = tw_load64(chunk->bytes + at, chunk->big);
		const struct tw_argument argument = fxt_value_at(chunk, at, header, offset);
		const struct fxt_label label = {.reference = fxt_linked_name(chunk->links, argument.name)};
		if (!label.reference != !argument.name || fxt_put_argument(&put, &label, &argument, 1) != FXT_FITS)
			return NULL;
		at += (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	return put.at;
}

/* Makes room for a record of this size and for FXT_READY_LEAST bytes behind it: short ones are copied in one go. */
TW_NOINLINE bool make_room(struct tw_slab *slab, size_t size)
{
	return tw_extend(&slab->ready, &slab->ready_room, slab->ready_size + size + FXT_READY_LEAST, 1);
}

TW_INLINE bool begin_ready(struct fxt_chunk *chunk, bool is_short, struct fxt_put *put)
{
	struct tw_slab *slab = &chunk->slab;
	if (__builtin_expect(slab->ready_room - slab->ready_size < 2 * FXT_READY_LEAST, 0) &&
	    !make_room(slab, FXT_READY_LEAST))
		return false;
	uint8_t *start = is_short ? slab->ready + slab->ready_size : chunk->record;
	*put = (struct fxt_put){.start = start, .at = start + TW_FXT_WORD, .big = false};
	return true;
}

/* Takes a record that was made apart. */
TW_NOINLINE bool append(struct tw_slab *slab, const uint8_t *record, size_t size)
{
	if (slab->ready_room - slab->ready_size < size + FXT_READY_LEAST && !make_room(slab, size))
		return false;
	memcpy(slab->ready + slab->ready_size, record, size);
	return true;
}

TW_INLINE bool end_ready(struct fxt_chunk *chunk, const struct fxt_put *put, uint64_t header, uint64_t time,
                         uint32_t tags)
{
	struct tw_slab *slab = &chunk->slab;
	tw_store64(put->start, header | (uint64_t)fxt_put_words(put) << 4, false);
	size_t size = (size_t)(put->at - put->start);
	if (put->start == chunk->record && !append(slab, put->start, size))
		return false;
	if (__builtin_expect(chunk->brief_rows != slab->count, 0))
		fxt_brief_rows(chunk);
	struct tw_event_key *brief = tw_slab_next_key(slab, time);
	brief->time = time;
	brief->number = (uint32_t)slab->ready_size;
	brief->tags = tags;
	slab->ready_size += size;
	return true;
}

/* Makes a record as the writer makes it of a row. Returns false where a string or thread that it refers to has not been
 * written yet. */
TW_INLINE bool add_ready(struct run *run, size_t place, uint64_t header, const struct fxt_pair *names, uint64_t ticks,
                         uint64_t word)
{
	enum { SAME = 0xff000f }; /* of a header: types, and how many arguments */
	struct fxt_chunk *chunk = run->chunk;
	const struct fxt_links *links = chunk->links;
	unsigned kind = fxt_event_kinds[tw_bits(header, 16, 19)];
	uint64_t name = fxt_linked_name(links, names->name), category = fxt_linked_name(links, names->category);
	uint64_t count = tw_bits(header, 20, 23);
	struct fxt_put put;
	if (!name != !names->name || !category != !names->category || !begin_ready(chunk, count == 0, &put))
		return false;
	uint64_t time = tw_ticks_ns(&chunk->clock, ticks), merged = fxt_merged_time(&links->time, time);
	bool complete = kind == TW_SLICE_COMPLETE;
	uint64_t length = complete ? tw_ticks_ns(&chunk->clock, word) - time : 0;
	if (merged + length < merged) /* the record would not tell the length */
		return false;
	fxt_put_word(&put, merged);
	if (run->seat_index == 0) {
		fxt_put_word(&put, run->seat->process);
		fxt_put_word(&put, run->seat->thread);
	}
	if (count)
		put.at = put_values(chunk, place, count, put);
	if (!put.at)
		return false;
	if (kind != TW_SLICE_BEGIN && kind != TW_SLICE_END)
		fxt_put_word(&put, complete ? merged + length : word);
	fxt_set_time(chunk, time);
	return end_ready(chunk, &put, (header & SAME) | run->seat_index << 24 | category << 32 | name << 48, time,
	                 TW_KEY_READY | ((uint32_t)place & TW_KEY_PLACE));
}

TW_INLINE bool take_event(struct run *run, uint64_t header, const uint8_t *bytes, bool big)
{
	unsigned kind = fxt_event_kinds[tw_bits(header, 16, 19)];
	bool looked_at = run->wish->kinds >> kind & 1;
	size_t place = (size_t)(bytes - run->chunk->bytes);
	uint64_t count = tw_bits(header, 20, 23), word;
	if (count && !(looked_at && !run->wish->check && fxt_are_values(run->chunk, place, count)))
		return false;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big);
	const struct fxt_pair *names = find(run, header, place);
	if (!names || !run->clear || ticks >= run->chunk->first_without)
		return false;
	if (!is_right(run, bytes, header, &word, big))
		return false;
	if (!run->thread->wanted) {
		fxt_pass_by(run->chunk, tw_ticks_ns(&run->chunk->clock, ticks));
		return true;
	}
	run->timed = bytes;
	if (run->seat && add_ready(run, place, header, names, ticks, word))
		return true;
	if (looked_at)
		add_row(run, place, kind, names, ticks, word);
	if (count && looked_at)
		fxt_add_values(run->chunk, place, count, run->thread->process);
	return true;
}

/* ---- Context switches and wake-ups. ---- */

TW_NOINLINE void wait_for_koid(struct fxt_chunk *chunk, enum fxt_fix_kind kind, uint64_t koid)
{
	fxt_add_fix(chunk, &(struct fxt_fix){.kind = (uint8_t)kind, .b = koid});
}

/* They tell koids of threads only. */
TW_INLINE bool make_switch(struct fxt_chunk *chunk, uint64_t header, const uint8_t *bytes, bool big)
{
	uint64_t type = tw_bits(header, 60, 63);
	uint64_t words = type == FXT_SWITCH ? FXT_SWITCH_WORDS : type == FXT_WAKEUP ? FXT_WAKEUP_WORDS : 0;
	if (tw_bits(header, 4, 15) != words || tw_bits(header, 16, 19))
		return false;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big); /* there is none in a record of one word */
	if (ticks >= chunk->first_without)
		return false;
	fxt_set_time(chunk, tw_ticks_ns(&chunk->clock, ticks));
	const struct tw_event event = {
	    .time = chunk->time,
	    .offset = fxt_offset(chunk, (size_t)(bytes - chunk->bytes)),
	    .value = type == FXT_SWITCH ? tw_bits(header, 36, 39) : 0,
	    .kind = type == FXT_SWITCH ? TW_SWITCH : TW_WAKEUP,
	    .cpu = (uint16_t)tw_bits(header, 20, 35),
	    .provider = chunk->turn.number,
	};
	if (!tw_slab_add(&chunk->slab, &event))
		return true;
	wait_for_koid(chunk, FXT_FIX_TRACK_BY_KOID, tw_load64(bytes + 2 * TW_FXT_WORD, big));
	if (type == FXT_SWITCH)
		wait_for_koid(chunk, FXT_FIX_OTHER_BY_KOID, tw_load64(bytes + 3 * TW_FXT_WORD, big));
	return true;
}

TW_INLINE bool take_switch(struct run *run, uint64_t header, const uint8_t *bytes, bool big)
{
	if (fxt_type(header) != TW_FXT_TYPE_SCHEDULING || run->wish->check || run->wish->options->thread_count ||
	    !make_switch(run->chunk, header, bytes, big))
		return false;
	run->timed = bytes;
	return true;
}

/* ---- Runs. ---- */

/* Takes what the loops for the commonest records take. */
TW_INLINE const uint8_t *take_many(struct run *run, const uint8_t *bytes, const uint8_t *to)
{
	const uint8_t *timed = run->timed;
	if (run->chunk->links)
		bytes = fxt_take_ready(run->chunk, bytes, to, &timed);
	run->timed = timed;
	return bytes;
}

TW_INLINE size_t take_run(struct run *start, size_t place, size_t end, bool big)
{
	struct run run = *start;
	struct fxt_chunk *chunk = run.chunk;
	const uint8_t *bytes = chunk->bytes + place, *const to = chunk->bytes + end;
	uint64_t header;
	for (; bytes < to; bytes += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		if (run.wish->skips && (bytes = fxt_skip(chunk, run.wish->skips, bytes, to, big)) == to)
			break;
		if (!big && (bytes = take_many(&run, bytes, to)) == to)
			break;
		header = tw_load64(bytes, big);
		if (fxt_type(header) == TW_FXT_TYPE_EVENT ? !take_event(&run, header, bytes, big)
		                                          : !take_switch(&run, header, bytes, big))
			break;
	}
	if (run.timed)
		fxt_set_time(chunk, tw_ticks_ns(&chunk->clock, tw_load64(run.timed + TW_FXT_WORD, big)));
	return (size_t)(bytes - chunk->bytes);
}

size_t fxt_take_plain(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, const struct fxt_piece *piece)
{
	bool told = fxt_is_turn_told(chunk);
	struct run run = {
	    .chunk = chunk,
	    .wish = wish,
	    .clear = told || !wish->check,
	    .index = UINT_MAX,
	};
	if (piece->odd || !tw_loop_is_on(TW_LOOP_FXT_ROWS))
		return place;
	return piece->big ? take_run(&run, place, piece->to, true) : take_run(&run, place, piece->to, false);
}
