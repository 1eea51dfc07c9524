/* ready.c - the commonest events of an archive being merged, made ready: as the records that will be written.
 *
 * Such a record differs from that of the archive only in its time and its references. The processor cannot predict
 * whether an event has a word behind its arguments, ends something, or comes late: the loop has no jump that depends on
 * these. The events that it leaves out are for plain.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/memory/memory.h"
#include "fxt/merge/links.h"
#include "fxt/walk/chunk.h"

#include <limits.h>

enum {
	TEXT_MOST = 64, /* bytes of a text; longer ones are left out */
	MOST = 4 * TW_FXT_WORD + TW_FXT_ARGUMENTS_MAX * (TW_FXT_WORD + TEXT_MOST) /* of an event, and a little more */
};

/* State of the loop, a local variable: so the compiler knows that no store changes it, and can keep it in registers. */
struct loop {
	uint8_t *ready;            /* the slab's room for records */
	size_t used, enough;       /* bytes of it: used; up to which there is room for any record */
	struct tw_event_key *next; /* the slab's next brief, if none of the loop's were late */
	struct tw_event_key *late;
	size_t late_count; /* late ones of the loop */
	uint64_t last;     /* time of the last event that is not late */
	struct tw_ticks clock;
	uint64_t count; /* ticks from the clock's base on for which the simple arithmetic holds: find_ticks() */
	uint64_t shift;
	const uint8_t *bytes; /* of the chunk */
	struct fxt_linked_pair *pairs;
	uint64_t epoch;
	unsigned index; /* of the last event's thread */
	uint64_t seat;  /* that thread's index in what is written, shifted to its place in a header; 0: none */
};

TW_NOINLINE uint64_t look_up_seat(const struct fxt_chunk *chunk, unsigned index, size_t place)
{
	const struct fxt_entry *thread =
	    index ? fxt_thread_at(chunk->turn.provider, index, fxt_offset(chunk, place)) : NULL;
	const struct fxt_seat *seat = thread && thread->wanted ? fxt_linked_seat(chunk->links, thread->number) : NULL;
	return seat ? fxt_seat_index(seat) << 24 : 0;
}

#define UNKNOWN UINT64_MAX

/* The references to category and name as bits of the header to be written; UNKNOWN where one is inline, not registered,
 * or not written yet. */
TW_NOINLINE uint64_t look_up_names(struct fxt_chunk *chunk, uint64_t header, size_t place,
                                   struct fxt_linked_pair *found)
{
	const struct fxt_pair *pair = fxt_known_pair(chunk, header);
	pair = pair ? pair : fxt_look_up_pair(chunk, header, place);
	if (!pair)
		return UNKNOWN;
	uint64_t name = fxt_linked_name(chunk->links, pair->name);
	uint64_t category = fxt_linked_name(chunk->links, pair->category);
	if (!name != !pair->name || !category != !pair->category)
		return UNKNOWN;
	*found = (struct fxt_linked_pair){.key = pair->key, .bits = category << 32 | name << 48};
	return found->bits;
}

/* ---- Arguments. ---- */

/* Words of an argument by type; 0 of a text, of a koid, which may be another one in the whole, and of an unknown
 * type. */
static const uint8_t value_words[FXT_TYPES] = {
    [TW_FXT_ARG_NULL] = 1,   [TW_FXT_ARG_INT32] = 1,  [TW_FXT_ARG_UINT32] = 1,  [TW_FXT_ARG_INT64] = 2,
    [TW_FXT_ARG_UINT64] = 2, [TW_FXT_ARG_DOUBLE] = 2, [TW_FXT_ARG_POINTER] = 2, [TW_FXT_ARG_BOOL] = 1,
};

/* The bits of an argument's header that hold its value, by type. */
static const uint64_t upper_bits[FXT_TYPES] = {
    [TW_FXT_ARG_INT32] = FXT_BITS(32, 63),
    [TW_FXT_ARG_UINT32] = FXT_BITS(32, 63),
    [TW_FXT_ARG_BOOL] = FXT_BITS(32, 32),
};

/* Puts an argument that is no text as the writer does: integers that fit 32 bits take that form. Returns its words. */
static inline size_t put_value(uint64_t header, uint64_t word, uint64_t name, uint8_t *to)
{
	unsigned type = fxt_type(header), is_signed = type == TW_FXT_ARG_INT64, is_unsigned = type == TW_FXT_ARG_UINT64;
	unsigned fits = (is_signed & ((int64_t)word == (int32_t)word)) | (is_unsigned & (word <= UINT32_MAX));
	uint64_t all = 0 - (uint64_t)fits, words = value_words[type] - fits;
	uint64_t upper = (header & upper_bits[type]) | (word << 32 & all);
	type -= 2 * fits; /* from INT64 to INT32, and from UINT64 to UINT32 */
	tw_store64(to, type | words << 4 | name << 16 | upper, false);
	tw_store64(to + TW_FXT_WORD, word, false);
	return words;
}

/* Puts an argument that is a text, inline. Returns its words; 0 where it is longer than TEXT_MOST or not registered. */
static size_t put_text(struct fxt_chunk *chunk, const uint8_t *at, uint64_t offset, uint64_t name, uint8_t *to)
{
	uint64_t reference = tw_bits(tw_load64(at, false), 32, 47), size = reference & FXT_TEXT_MAX;
	const uint8_t *text = at + TW_FXT_WORD;
	uint32_t unused;
	if (!(reference & TW_FXT_STRING_INLINE)) {
		const struct fxt_entry *entry =
		    reference ? fxt_string_at(chunk->turn.provider, (unsigned)reference, offset) : NULL;
		if (!fxt_known_number(chunk, (unsigned)reference, offset, &unused))
			return 0;
		text = (const uint8_t *)(entry ? entry->text : "");
		size = entry ? entry->length : 0;
	}
	if (size > TEXT_MOST)
		return 0;
	uint64_t words = fxt_words(size);
	memset(to + words * TW_FXT_WORD, 0, TW_FXT_WORD);
	memcpy(to + TW_FXT_WORD, text, size);
	tw_store64(to,
	           TW_FXT_ARG_STRING | (1 + words) << 4 | name << 16 | (size ? (TW_FXT_STRING_INLINE | size) << 32 : 0),
	           false);
	return 1 + words;
}

/* Puts `count` arguments, as they will be written, to `to`. Returns where they end, and moves *from behind those read;
 * NULL where one must be left out. */
TW_NOINLINE uint8_t *put_arguments(struct fxt_chunk *chunk, uint64_t count, const uint8_t **from, uint8_t *to)
{
	uint64_t offset = fxt_offset(chunk, (size_t)(*from - chunk->bytes));
	const uint8_t *at = *from;
	for (; count > 0; count--) {
		uint64_t header = tw_load64(at, false), words = tw_bits(header, 4, 15);
		uint32_t number;
		bool text = fxt_type(header) == TW_FXT_ARG_STRING;
		if ((!text && words != value_words[fxt_type(header)]) || words == 0 ||
		    !fxt_known_number(chunk, (unsigned)tw_bits(header, 16, 31), offset, &number))
			return NULL;
		uint64_t name = fxt_linked_name(chunk->links, number);
		size_t put = text ? put_text(chunk, at, offset, name, to)
		                  : put_value(header, words > 1 ? tw_load64(at + TW_FXT_WORD, false) : 0, name, to);
		if (put == 0 || !name != !number)
			return NULL;
		at += words * TW_FXT_WORD;
		to += put * TW_FXT_WORD;
	}
	*from = at;
	return to;
}

/* ---- Events. ---- */

/* The time of so many ticks after the base. */
static inline uint64_t ns_of(const struct tw_ticks *clock, uint64_t ticks)
{
	return tw_ticks_ns_after(clock, ticks, clock->whole);
}

/* Adds the brief of a record that was put behind the others. Briefs of late ones are put in order afterwards. */
TW_INLINE void add(struct loop *loop, const uint8_t *bytes, size_t size, uint64_t time, uint32_t tags)
{
	bool late = time < loop->last;
	struct tw_event_key *brief = late ? loop->late + loop->late_count : loop->next - loop->late_count;
	loop->late_count += late;
	loop->next++;
	loop->last = late ? loop->last : time;
	*brief = (struct tw_event_key){
	    .time = time,
	    .number = (uint32_t)loop->used,
	    .tags = tags | ((uint32_t)(bytes - loop->bytes) & TW_KEY_PLACE),
	};
	loop->used += size;
}

TW_INLINE bool know_thread(const struct fxt_chunk *chunk, struct loop *loop, uint64_t header, const uint8_t *bytes)
{
	unsigned index = (unsigned)tw_bits(header, 24, 31);
	if (__builtin_expect(index != loop->index, 0)) {
		loop->index = index;
		loop->seat = look_up_seat(chunk, index, (size_t)(bytes - loop->bytes));
	}
	return loop->seat;
}

TW_INLINE uint64_t names_of(struct fxt_chunk *chunk, const struct loop *loop, uint64_t header, const uint8_t *bytes)
{
	struct fxt_linked_pair *pair = &loop->pairs[tw_bits(header, 48, 63) % FXT_KNOWN];
	if (__builtin_expect(pair->key == (header >> 32 | loop->epoch), 1))
		return pair->bits;
	return look_up_names(chunk, header, (size_t)(bytes - loop->bytes), pair);
}

/* What the word behind the arguments is, by type of event. */
static const struct shape {
	uint64_t slice; /* mask: the end of a complete slice */
	uint64_t most;  /* of other events: the greatest value that it may have */
	uint64_t tail;  /* bytes that it takes in what is written */
} shapes[FXT_TYPES] = {
    [FXT_INSTANT] = {0, FXT_SCOPE_MAX, TW_FXT_WORD},
    [FXT_COUNTER] = {0, UINT64_MAX, TW_FXT_WORD},
    [FXT_BEGIN] = {0, UINT64_MAX, 0},
    [FXT_END] = {0, UINT64_MAX, 0},
    [FXT_COMPLETE] = {UINT64_MAX, 0, TW_FXT_WORD},
    [FXT_ASYNC_BEGIN] = {0, UINT64_MAX, TW_FXT_WORD},
    [FXT_ASYNC_INSTANT] = {0, UINT64_MAX, TW_FXT_WORD},
    [FXT_ASYNC_END] = {0, UINT64_MAX, TW_FXT_WORD},
    [FXT_FLOW_BEGIN] = {0, UINT64_MAX, TW_FXT_WORD},
    [FXT_FLOW_STEP] = {0, UINT64_MAX, TW_FXT_WORD},
    [FXT_FLOW_END] = {0, UINT64_MAX, TW_FXT_WORD},
};

/* Takes an event; false where it must be left out. */
TW_INLINE bool take_event(struct fxt_chunk *chunk, struct loop *loop, const uint8_t *bytes, uint64_t header)
{
	enum { SAME = 0xff000f }; /* of a header: types, and how many arguments */
	unsigned type = (unsigned)tw_bits(header, 16, 19);
	uint64_t count = tw_bits(header, 20, 23), size = tw_bits(header, 4, 15) * TW_FXT_WORD;
	uint64_t names = know_thread(chunk, loop, header, bytes) ? names_of(chunk, loop, header, bytes) : UNKNOWN;
	if (names == UNKNOWN || type > FXT_FLOW_END)
		return false;
	uint8_t *start = loop->ready + loop->used, *to = start + (size_t)2 * TW_FXT_WORD;
	const uint8_t *at = bytes + (size_t)2 * TW_FXT_WORD;
	if (count)
		to = put_arguments(chunk, count, &at, to);
	else if (type == FXT_COUNTER)
		return false;
	if (!to)
		return false;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, false), word = tw_load64(bytes + size - TW_FXT_WORD, false);
	word = at < bytes + size ? word : 0; /* an instant may have no scope */
	const struct shape *shape = &shapes[type];
	uint64_t begin = ticks - loop->clock.base_tsc, slice = shape->slice;
	uint64_t behind = word - (ticks & slice); /* of a slice what it lasts */
	if (!((begin < loop->count) & (behind <= shape->most + ((loop->count - 1 - begin) & slice))))
		return false;
	uint64_t time = ns_of(&loop->clock, begin), end = ns_of(&loop->clock, begin + (behind & slice));
	tw_store64(start + TW_FXT_WORD, time + loop->shift, false);
	tw_store64(to, (word & ~slice) | ((end + loop->shift) & slice), false);
	to += shape->tail;
	size = (size_t)(to - start);
	tw_store64(start, (header & SAME) | size / TW_FXT_WORD << 4 | loop->seat | names, false);
	add(loop, bytes, size, time, TW_KEY_READY);
	return true;
}

/* ---- Context switches and wake-ups: they tell koids of threads, which stay. ---- */

/* Takes one without arguments; false where it must be left out. */
TW_INLINE bool take_switch(struct loop *loop, const uint8_t *bytes, uint64_t header)
{
	uint64_t type = tw_bits(header, 60, 63), words = type == FXT_SWITCH ? FXT_SWITCH_WORDS : FXT_WAKEUP_WORDS;
	if ((type != FXT_SWITCH && type != FXT_WAKEUP) || tw_bits(header, 4, 15) != words || tw_bits(header, 16, 19))
		return false;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, false) - loop->clock.base_tsc;
	if (ticks >= loop->count)
		return false;
	uint64_t time = ns_of(&loop->clock, ticks);
	uint8_t *to = loop->ready + loop->used;
	uint64_t same =
	    FXT_BITS(0, 15) | FXT_BITS(20, 35) | FXT_BITS(60, 63) | (type == FXT_SWITCH ? FXT_BITS(36, 39) : 0);
	memcpy(to, bytes, words * TW_FXT_WORD);
	tw_store64(to, header & same, false);
	tw_store64(to + TW_FXT_WORD, time + loop->shift, false);
	add(loop, bytes, words * TW_FXT_WORD, time, TW_KEY_SWITCH);
	return true;
}

/* ---- Runs. ---- */

/* Whether merging adds the same to all times from `ns` to `ns` + `more`. */
static bool moves(const struct fxt_shift *shift, uint64_t ns, uint64_t more)
{
	return ns >= shift->from && ns - shift->from < shift->count && more < shift->count - (ns - shift->from);
}

/* For how many ticks from the clock's base on a multiplication gives the time, and an addition the merged time. The
 * base is moved to where the latter begins to hold: before that there are few events, if any. */
static uint64_t find_ticks(struct tw_ticks *clock, const struct fxt_shift *shift)
{
	__extension__ typedef unsigned __int128 wide;
	if (clock->base_ns < shift->from) {
		wide first = (wide)shift->from * clock->frequency / TW_NS_PER_SECOND + clock->period;
		if (first > UINT64_MAX)
			return 0;
		tw_ticks_move(clock, (uint64_t)first);
	}
	uint64_t most = ns_of(clock, clock->near) - clock->base_ns;
	return clock->near && moves(shift, clock->base_ns, most) ? clock->near + 1 : 0;
}

static struct loop begin(struct fxt_chunk *chunk)
{
	const struct tw_slab *slab = &chunk->slab;
	const struct fxt_shift *shift = &chunk->links->time;
	uint64_t count = find_ticks(&chunk->clock, shift);
	return (struct loop){
	    .ready = slab->ready,
	    .used = slab->ready_size,
	    .enough = slab->ready_room > MOST ? slab->ready_room - MOST : 0,
	    .next = slab->keys + slab->key_count,
	    .late = slab->late + slab->late_count,
	    .last = slab->last_key,
	    .clock = chunk->clock,
	    .count = count,
	    .shift = shift->ns,
	    .bytes = chunk->bytes,
	    .pairs = chunk->memo->linked,
	    .epoch = chunk->memo->pair_epoch,
	    .index = UINT_MAX,
	};
}

static void end(struct fxt_chunk *chunk, const struct loop *loop)
{
	struct tw_slab *slab = &chunk->slab;
	slab->ready_size = loop->used;
	slab->key_count = (size_t)(loop->next - slab->keys) - loop->late_count;
	slab->late_count += loop->late_count;
	slab->last_key = loop->last;
}

TW_NOINLINE bool make_room(struct tw_slab *slab, size_t used)
{
	return tw_extend(&slab->ready, &slab->ready_room, used + MOST + 1, 1);
}

TW_INLINE bool has_room(struct fxt_chunk *chunk, struct loop *loop)
{
	if (__builtin_expect(loop->used < loop->enough, 1))
		return true;
	if (!make_room(&chunk->slab, loop->used))
		return false;
	loop->ready = chunk->slab.ready;
	loop->enough = chunk->slab.ready_room - MOST;
	return true;
}

TW_INLINE bool take(struct fxt_chunk *chunk, struct loop *loop, const uint8_t *bytes, uint64_t header)
{
	unsigned type = fxt_type(header);
	if (!has_room(chunk, loop))
		return false;
	if (type == TW_FXT_TYPE_EVENT)
		return take_event(chunk, loop, bytes, header);
	return type == TW_FXT_TYPE_SCHEDULING && take_switch(loop, bytes, header);
}

const uint8_t *fxt_take_ready(struct fxt_chunk *chunk, const uint8_t *bytes, const uint8_t *to, const uint8_t **timed)
{
	if (!chunk->timed)
		return bytes;
	if (chunk->brief_rows != chunk->slab.count)
		fxt_brief_rows(chunk);
	struct loop loop = begin(chunk);
	const uint8_t *last = *timed;
	uint64_t header;
	for (; bytes < to; bytes += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(bytes, false);
		if (!take(chunk, &loop, bytes, header))
			break;
		last = bytes;
	}
	end(chunk, &loop);
	*timed = last;
	return bytes;
}
