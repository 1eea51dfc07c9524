/* plain.c - records of which all that matters stands where their headers tell: the fast path of rows, and of records
 * that nobody looks at. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/memory/memory.h"
#include "fxt/events/events.h"
#include "fxt/format/layout.h"
#include "fxt/walk/chunk.h"

#include <limits.h>

/* ---- Events that nobody looks at: nothing is taken of them but their times. `make bench` measures log. ---- */

static uint32_t bit_unless(uint32_t kinds, enum tw_event_kind kind, unsigned bit)
{
	return kinds >> kind & 1 ? 0 : 1u << bit;
}

uint32_t fxt_skips(uint32_t kinds)
{
	uint32_t skips = bit_unless(kinds, TW_SWITCH, FXT_SKIPS_SCHEDULING + FXT_SWITCH) |
	                 bit_unless(kinds, TW_WAKEUP, FXT_SKIPS_SCHEDULING + FXT_WAKEUP);
	for (unsigned type = 0; type < FXT_EVENT_TYPES; type++)
		skips |= bit_unless(kinds, fxt_event_kinds[type], type);
	return skips;
}

/* ---- Rows. ---- */

/* What is kept at hand while rows are made. The clock and what else is seldom changed stay in the chunk: there are not
 * registers for all. */
struct plain_rows {
	struct fxt_chunk *chunk;
	const struct fxt_wish *wish;
	const uint8_t *timed; /* the last record with a time; NULL: there is none */
	bool clear;           /* provider and clock of the context are told, or reported as missing; or nobody asks */
	unsigned index;       /* of the last thread */
	const struct fxt_entry *thread;
};

/* Category and name of an event, whose thread it finds too; NULL where one of the three is inline or not registered. */
TW_INLINE const struct fxt_pair *find(struct plain_rows *rows, uint64_t header, size_t place)
{
	unsigned index = (unsigned)tw_bits(header, 24, 31);
	if (__builtin_expect(index != rows->index, 0)) {
		rows->index = index;
		rows->thread = rows->clear ? fxt_thread_of(rows->chunk, index, place) : NULL;
	}
	const struct fxt_pair *names = fxt_pair_of(rows->chunk, header, place);
	return rows->thread ? names : NULL;
}

/* ---- Events. ---- */

/* Whether an event keeps the rules of its kind; *word is what stands behind its arguments, of which `behind` is the
 * place: some have nothing there. */
TW_INLINE bool is_right(const struct plain_rows *rows, const uint8_t *bytes, uint64_t header, const uint8_t *behind,
                        uint64_t *word, bool big)
{
	unsigned kind = fxt_event_kinds[tw_bits(header, 16, 19)];
	uint64_t left = tw_bits(header, 4, 15) * TW_FXT_WORD - (uint64_t)(behind - bytes);
	*word = 0;
	if (kind == TW_SLICE_BEGIN || kind == TW_SLICE_END || (kind == TW_INSTANT && left == 0))
		return true;
	*word = tw_load64(bytes + (tw_bits(header, 4, 15) - 1) * TW_FXT_WORD, big);
	if (kind == TW_SLICE_COMPLETE)
		return *word >= tw_load64(bytes + TW_FXT_WORD, big) && *word < rows->chunk->decoder.first_without;
	if (kind == TW_INSTANT)
		return left == TW_FXT_WORD && *word <= FXT_SCOPE_MAX;
	return kind != TW_COUNTER || tw_bits(header, 20, 23) != 0;
}

TW_INLINE void add_row(struct plain_rows *rows, size_t place, unsigned kind, const struct fxt_pair *names,
                       uint64_t ticks, uint64_t word)
{
	bool instant = kind == TW_INSTANT, complete = kind == TW_SLICE_COMPLETE;
	uint64_t time = tw_ticks_ns(&rows->chunk->decoder.clock, ticks);
	if (!rows->chunk->decoder.timed) /* otherwise the last of all is enough */
		fxt_set_time(rows->chunk, time);
	struct tw_event *row = tw_slab_next(&rows->chunk->rows.slab);
	if (!row)
		return;
	row->time = time;
	row->offset = fxt_offset(rows->chunk, place);
	row->value = complete ? tw_ticks_ns(&rows->chunk->decoder.clock, word) - time : 0;
	row->id = kind >= TW_COUNTER && !complete ? word : 0;
	row->track = rows->thread->number;
	row->name = names->name;
	row->category = names->category;
	row->other = 0;
	row->kind = (uint8_t)kind;
	row->cpu = 0;
	row->flags = instant ? fxt_scope_flags(word) : 0;
	row->provider = rows->chunk->decoder.context.number;
}

TW_INLINE bool take_event(struct plain_rows *rows, uint64_t header, const uint8_t *bytes, bool big)
{
	unsigned kind = fxt_event_kinds[tw_bits(header, 16, 19)];
	bool looked_at = rows->wish->kinds >> kind & 1;
	size_t place = (size_t)(bytes - rows->chunk->bytes);
	size_t behind = place + (size_t)2 * TW_FXT_WORD;
	uint64_t count = tw_bits(header, 20, 23), word;
	if (count)
		behind = looked_at && !rows->wish->check
		             ? fxt_arguments_end(rows->chunk, place, behind, count, FXT_VALUES)
		             : 0;
	if (behind == 0)
		return false;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big);
	const struct fxt_pair *names = find(rows, header, place);
	if (!names || ticks >= rows->chunk->decoder.first_without ||
	    !is_right(rows, bytes, header, rows->chunk->bytes + behind, &word, big))
		return false;
	if (!rows->thread->wanted) {
		fxt_pass_by(rows->chunk, tw_ticks_ns(&rows->chunk->decoder.clock, ticks));
		return true;
	}
	rows->timed = bytes;
	if (looked_at)
		add_row(rows, place, kind, names, ticks, word);
	if (count && looked_at)
		fxt_add_values(rows->chunk, place, count, rows->thread->process);
	return true;
}

/* ---- Context switches and wake-ups. ---- */

TW_NOINLINE void wait_for_koid(struct fxt_chunk *chunk, bool other, uint64_t koid)
{
	fxt_add_fix(chunk, &(struct fxt_fix){.kind = FXT_FIX_TRACK_BY_KOID, .other = other, .b = koid});
}

/* Makes the row of a context switch or a wake-up, which have koids of threads alone: the commit finds the tracks. */
TW_INLINE bool take_switch(struct plain_rows *rows, uint64_t header, const uint8_t *bytes, bool big)
{
	struct fxt_chunk *chunk = rows->chunk;
	const struct fxt_switch found = fxt_switch(header);
	const bool is_switch = found.koids == 2;
	if (rows->wish->check || rows->wish->options->thread_count || !found.koids || found.arguments ||
	    fxt_size(header) * TW_FXT_WORD != fxt_switch_koid(found.koids))
		return false;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big);
	if (ticks >= chunk->decoder.first_without)
		return false;
	rows->timed = bytes;
	fxt_set_time(chunk, tw_ticks_ns(&chunk->decoder.clock, ticks));
	const struct tw_event event = {
	    .time = chunk->decoder.time,
	    .offset = fxt_offset(chunk, (size_t)(bytes - chunk->bytes)),
	    .value = found.state,
	    .kind = is_switch ? TW_SWITCH : TW_WAKEUP,
	    .cpu = found.cpu,
	    .provider = chunk->decoder.context.number,
	};
	if (!tw_slab_add(&chunk->rows.slab, &event))
		return true;
	wait_for_koid(chunk, false, tw_load64(bytes + fxt_switch_koid(0), big));
	if (is_switch)
		wait_for_koid(chunk, true, tw_load64(bytes + fxt_switch_koid(1), big));
	return true;
}

/* ---- Runs. ---- */

TW_INLINE size_t take_records(struct plain_rows *start, size_t place, size_t end, bool big)
{
	struct plain_rows rows = *start;
	struct fxt_chunk *chunk = rows.chunk;
	const uint8_t *bytes = chunk->bytes + place, *const to = chunk->bytes + end;
	const uint32_t skips = rows.wish->skips;
	uint64_t header;
	for (; bytes < to; bytes += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(bytes, big);
		if (skips && fxt_is_skipped(skips, header)) {
			rows.timed = bytes;
			fxt_set_time(chunk, tw_ticks_ns(&chunk->decoder.clock, tw_load64(bytes + TW_FXT_WORD, big)));
			fxt_pass_by(chunk, chunk->decoder.time);
			continue;
		}
		if (fxt_type(header) == TW_FXT_TYPE_EVENT ? !take_event(&rows, header, bytes, big)
		                                          : !take_switch(&rows, header, bytes, big))
			break;
	}
	if (rows.timed)
		fxt_set_time(chunk, tw_ticks_ns(&chunk->decoder.clock, tw_load64(rows.timed + TW_FXT_WORD, big)));
	return (size_t)(bytes - chunk->bytes);
}

size_t fxt_take_plain(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	struct plain_rows rows = {
	    .chunk = chunk,
	    .wish = wish,
	    .clear = !wish->check || fxt_is_context_settled(chunk),
	    .index = UINT_MAX,
	};
	return chunk->decoder.big ? take_records(&rows, place, end, true) : take_records(&rows, place, end, false);
}
