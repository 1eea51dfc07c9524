/* quick.c - the commonest events to rows: the fast path of all that reads events.
 *
 * The processor cannot predict the type of the next event, and a mispredicted jump costs more than the work that it
 * could leave out. So what differs between types is in a table, and all rows are made in the same way. Events that do
 * not fit are for plain.c. `make bench` measures convert. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "fxt/events/values.h"
#include "fxt/walk/chunk.h"

#include <limits.h>

enum { SCOPE_MASK = 3, FIXED = 2 * TW_FXT_WORD }; /* FIXED: bytes of an event before its arguments */

/* State of the loop, a local variable: so the compiler knows that no store changes it, and can keep it in registers. */
struct loop {
	struct tw_ticks clock;
	uint64_t count; /* ticks from the clock's base on whose times are a multiplication: count_ticks() */
	const uint8_t *bytes;
	uint64_t base;    /* offset of the chunk's bytes */
	uint8_t provider; /* number of the turn's provider */
	struct fxt_pair *pairs;
	uint64_t epoch;
	unsigned index;                 /* of the last event's thread */
	const struct fxt_entry *thread; /* that thread; NULL: not registered, or not wanted */
	uint32_t track;
};

/* What differs between types of event. */
static const struct shape {
	uint64_t slice; /* mask: a complete slice, whose last word is its end */
	uint64_t most;  /* of other events: the greatest value of the last word */
	uint64_t id;    /* mask: the last word is the event's id */
	uint8_t kind;   /* of the row */
	uint8_t scope;  /* mask: an instant, whose last word is its scope */
} shapes[FXT_TYPES] = {
    [FXT_INSTANT] = {.most = FXT_SCOPE_MAX, .kind = TW_INSTANT, .scope = UINT8_MAX},
    [FXT_COUNTER] = {.most = UINT64_MAX, .id = UINT64_MAX, .kind = TW_COUNTER},
    [FXT_BEGIN] = {.most = UINT64_MAX, .kind = TW_SLICE_BEGIN},
    [FXT_END] = {.most = UINT64_MAX, .kind = TW_SLICE_END},
    [FXT_COMPLETE] = {.slice = UINT64_MAX, .kind = TW_SLICE_COMPLETE},
    [FXT_ASYNC_BEGIN] = {.most = UINT64_MAX, .id = UINT64_MAX, .kind = TW_ASYNC_BEGIN},
    [FXT_ASYNC_INSTANT] = {.most = UINT64_MAX, .id = UINT64_MAX, .kind = TW_ASYNC_INSTANT},
    [FXT_ASYNC_END] = {.most = UINT64_MAX, .id = UINT64_MAX, .kind = TW_ASYNC_END},
    [FXT_FLOW_BEGIN] = {.most = UINT64_MAX, .id = UINT64_MAX, .kind = TW_FLOW_BEGIN},
    [FXT_FLOW_STEP] = {.most = UINT64_MAX, .id = UINT64_MAX, .kind = TW_FLOW_STEP},
    [FXT_FLOW_END] = {.most = UINT64_MAX, .id = UINT64_MAX, .kind = TW_FLOW_END},
};

static const uint8_t scopes[] = {0, TW_FLAG_PROCESS, TW_FLAG_GLOBAL, 0};

TW_NOINLINE void look_up_thread(const struct fxt_chunk *chunk, struct loop *loop, unsigned index, size_t place)
{
	const struct fxt_entry *thread =
	    index ? fxt_thread_at(chunk->turn.provider, index, fxt_offset(chunk, place)) : NULL;
	loop->index = index;
	loop->thread = thread && thread->wanted ? thread : NULL;
	loop->track = thread ? thread->number : 0;
}

/* Category and name of an event; NULL where one is inline or not registered. */
TW_INLINE const struct fxt_pair *names_of(struct fxt_chunk *chunk, const struct loop *loop, uint64_t header,
                                          size_t place)
{
	const struct fxt_pair *pair = &loop->pairs[tw_bits(header, 48, 63) % FXT_KNOWN];
	return __builtin_expect(pair->key == (header >> 32 | loop->epoch), 1) ? pair
	                                                                      : fxt_look_up_pair(chunk, header, place);
}

/* Whether the arguments of an event are such as this path takes, or there are none where there need be none. */
TW_INLINE bool has_values(struct fxt_chunk *chunk, unsigned type, uint64_t count, size_t place)
{
	return count == 0 ? type != FXT_COUNTER : type != FXT_INSTANT && fxt_are_values(chunk, place, count);
}

/* Makes the row of an event; false where it is left to plain.c. */
TW_INLINE bool take_event(struct fxt_chunk *chunk, struct loop *loop, const uint8_t *bytes, uint64_t header)
{
	unsigned type = (unsigned)tw_bits(header, 16, 19), index = (unsigned)tw_bits(header, 24, 31);
	uint64_t count = tw_bits(header, 20, 23), size = tw_bits(header, 4, 15) * TW_FXT_WORD;
	const struct shape *shape = &shapes[type];
	size_t place = (size_t)(bytes - loop->bytes);
	if (__builtin_expect(index != loop->index, 0))
		look_up_thread(chunk, loop, index, place);
	const struct fxt_pair *names = names_of(chunk, loop, header, place);
	if (!loop->thread || !names || type > FXT_FLOW_END || !has_values(chunk, type, count, place))
		return false;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, false), word = tw_load64(bytes + size - TW_FXT_WORD, false);
	word = size > FIXED ? word : 0; /* an instant may have no scope */
	uint64_t begin = ticks - loop->clock.base_tsc, slice = shape->slice;
	uint64_t behind = word - (ticks & slice); /* of a slice what it lasts */
	if (!((begin < loop->count) & (behind <= shape->most + ((loop->count - 1 - begin) & slice))))
		return false;
	uint64_t time = tw_ticks_ns_after(&loop->clock, begin, loop->clock.whole);
	uint64_t end = tw_ticks_ns_after(&loop->clock, begin + (behind & slice), loop->clock.whole);
	struct tw_event *row = tw_slab_next(&chunk->slab);
	if (!row)
		return false;
	row->time = time;
	row->offset = loop->base + place;
	row->value = end - time;
	row->id = word & shape->id;
	row->track = loop->track;
	row->name = names->name;
	row->category = names->category;
	row->other = 0;
	row->kind = shape->kind;
	row->cpu = 0;
	row->flags = scopes[word & shape->scope & SCOPE_MASK];
	row->provider = loop->provider;
	if (count)
		fxt_add_values(chunk, place, count, loop->thread->process);
	return true;
}

/* For how many ticks from the clock's base on a multiplication gives the time. */
static uint64_t count_ticks(const struct fxt_chunk *chunk)
{
	const struct tw_ticks *clock = &chunk->clock;
	uint64_t left = chunk->first_without > clock->base_tsc ? chunk->first_without - clock->base_tsc : 0;
	return clock->near && clock->near < left ? clock->near + 1 : clock->near ? left : 0;
}

static struct loop begin_loop(const struct fxt_chunk *chunk)
{
	return (struct loop){
	    .clock = chunk->clock,
	    .count = count_ticks(chunk),
	    .bytes = chunk->bytes,
	    .base = chunk->base,
	    .provider = chunk->turn.number,
	    .pairs = chunk->memo->pairs,
	    .epoch = chunk->memo->pair_epoch,
	    .index = UINT_MAX,
	};
}

TW_INLINE bool take(struct fxt_chunk *chunk, struct loop *loop, const uint8_t *bytes, uint64_t header)
{
	if (__builtin_expect(fxt_type(header) == TW_FXT_TYPE_EVENT, 1))
		return take_event(chunk, loop, bytes, header);
	return fxt_type(header) == TW_FXT_TYPE_SCHEDULING && fxt_take_switch(chunk, header, bytes);
}

const uint8_t *fxt_take_quick(struct fxt_chunk *chunk, const uint8_t *bytes, const uint8_t *to, const uint8_t **timed)
{
	if (!chunk->timed)
		return bytes;
	struct loop loop = begin_loop(chunk);
	const uint8_t *last = *timed;
	for (uint64_t header; bytes < to; bytes += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(bytes, false);
		if (!take(chunk, &loop, bytes, header))
			break;
		last = bytes;
	}
	*timed = last;
	return bytes;
}
