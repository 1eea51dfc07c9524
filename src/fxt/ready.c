/* ready.c - events of an archive that is merged as they will be written: the commonest ones.
 *
 * Nearly all events differ from what they become in their time and in what they refer to by. Whether one has a word
 * behind its arguments, ends something, or comes late is chance: so the loop has no jump that depends on it. What it
 * leaves is for plain.c. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "fxt/chunk.h"
#include "fxt/links.h"

/* The document, "Event record". */
enum { INSTANT, COUNTER, BEGIN, END, COMPLETE, FLOW_END = 10, SCOPE_MAX = 2 };

enum {
	TEXT_MOST = 64, /* bytes of a text; longer ones are seldom */
	MOST = 4 * TW_FXT_WORD + TW_FXT_ARGUMENTS_MAX * (TW_FXT_WORD + TEXT_MOST) /* of an event, and a little more */
};

/* What the loop keeps at hand. */
struct run {
	struct fxt_chunk *chunk;
	unsigned index; /* of the last thread */
	uint64_t seat;  /* its index in what is written, where a header has it; 0: none */
};

static __attribute__((noinline)) void look_up_thread(struct run *run, unsigned index, size_t place)
{
	const struct fxt_chunk *chunk = run->chunk;
	const struct fxt_entry *thread =
	    index ? fxt_thread_at(chunk->turn.provider, index, fxt_offset(chunk, place)) : NULL;
	const struct fxt_seat *seat = thread && thread->wanted ? fxt_linked_seat(chunk->links, thread->number) : NULL;
	run->index = index;
	run->seat = seat ? fxt_seat_index(seat) << 24 : 0;
}

static __attribute__((noinline)) bool look_up_names(struct run *run, uint64_t header, size_t place,
                                                    struct fxt_linked_pair *found)
{
	struct fxt_chunk *chunk = run->chunk;
	const struct fxt_pair *pair = fxt_known_pair(chunk, header);
	pair = pair ? pair : fxt_look_up_pair(chunk, header, place);
	if (!pair)
		return false;
	uint64_t name = fxt_linked_name(chunk->links, pair->name);
	uint64_t category = fxt_linked_name(chunk->links, pair->category);
	if (!name != !pair->name || !category != !pair->category)
		return false;
	*found = (struct fxt_linked_pair){.key = pair->key, .bits = category << 32 | name << 48};
	return true;
}

/* ---- Arguments. ---- */

/* Words of an argument that is no text; 0: it is one, or nothing known. */
static const uint8_t value_words[FXT_TYPES] = {
    [TW_FXT_ARG_NULL] = 1,    [TW_FXT_ARG_INT32] = 1,  [TW_FXT_ARG_UINT32] = 1,
    [TW_FXT_ARG_INT64] = 2,   [TW_FXT_ARG_UINT64] = 2, [TW_FXT_ARG_DOUBLE] = 2,
    [TW_FXT_ARG_POINTER] = 2, [TW_FXT_ARG_KOID] = 2,   [TW_FXT_ARG_BOOL] = 1,
};

/* Puts a value as the writer does: numbers that fit 32 bits take that form. Returns its words. */
static size_t put_value(uint64_t header, uint64_t word, uint64_t name, uint8_t *to)
{
	unsigned type = fxt_type(header);
	uint64_t upper = header & FXT_BITS(32, 63), words = value_words[type];
	bool is_signed = type == TW_FXT_ARG_INT64, wide = is_signed || type == TW_FXT_ARG_UINT64;
	if (wide && (is_signed ? (int64_t)word == (int32_t)word : word <= UINT32_MAX)) {
		type = is_signed ? TW_FXT_ARG_INT32 : TW_FXT_ARG_UINT32;
		upper = word << 32;
		words = 1;
	} else if (words > 1 || type == TW_FXT_ARG_NULL) {
		upper = 0;
	} else if (type == TW_FXT_ARG_BOOL) {
		upper &= FXT_BITS(32, 32);
	}
	tw_store64(to, type | words << 4 | name << 16 | upper, false);
	tw_store64(to + TW_FXT_WORD, word, false);
	return words;
}

/* Puts a text, which stands in the record then. Returns its words; 0: it is long, or not defined. */
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

/* Puts the arguments of a record, and returns where they end; NULL where one is for others. */
static __attribute__((noinline)) uint8_t *put_arguments(struct fxt_chunk *chunk, const uint8_t *bytes, uint64_t count,
                                                        uint8_t *to)
{
	uint64_t offset = fxt_offset(chunk, (size_t)(bytes - chunk->bytes));
	const uint8_t *at = bytes + (size_t)2 * TW_FXT_WORD;
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
	return to;
}

/* ---- Events. ---- */

/* The time of a count that is near the base; whoever asks has looked. */
static inline uint64_t ns_of(const struct tw_ticks *clock, uint64_t ticks)
{
	return tw_ticks_ns_after(clock, ticks - clock->base_tsc, clock->whole);
}

static inline bool is_near(const struct tw_ticks *clock, uint64_t ticks)
{
	return ticks - clock->base_tsc <= clock->near;
}

/* Whether what stands behind the arguments is as it should be, and both times can be told by a multiplication. */
static inline bool is_right(const struct tw_ticks *clock, uint64_t without, unsigned type, uint64_t ticks,
                            uint64_t word)
{
	bool complete = type == COMPLETE, instant = type == INSTANT;
	uint64_t least = complete ? ticks : 0, end = complete ? word : ticks;
	uint64_t most = complete ? without - 1 : instant ? SCOPE_MAX : UINT64_MAX;
	return (word >= least) & (word <= most) & (ticks < without) & is_near(clock, ticks) & is_near(clock, end);
}

/* The place for the brief of an event of this time: those that are late are put in order afterwards. */
static inline struct tw_brief *next_brief(struct tw_slab *slab, uint64_t time)
{
	bool late = time < slab->brief_last;
	struct tw_brief *in_order = slab->briefs + slab->brief_count, *behind = slab->late + slab->late_count;
	slab->equals |= time == slab->brief_last;
	slab->late_count += late;
	slab->brief_count += !late;
	slab->brief_last = late ? slab->brief_last : time;
	return late ? behind : in_order;
}

/* Takes an event whose names are known; false where it is for others. */
static inline __attribute__((always_inline)) bool take(struct run *run, const struct tw_ticks *clock,
                                                       const uint8_t *bytes, uint64_t header, uint64_t names)
{
	enum { SAME = 0xff000f }; /* of a header: types, and how many arguments */
	struct fxt_chunk *chunk = run->chunk;
	struct tw_slab *slab = &chunk->slab;
	const struct fxt_shift *shift = &chunk->links->time;
	unsigned type = (unsigned)tw_bits(header, 16, 19);
	uint64_t count = tw_bits(header, 20, 23), size = tw_bits(header, 4, 15) * TW_FXT_WORD;
	bool complete = type == COMPLETE, bare = type == BEGIN || type == END;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, false), word = tw_load64(bytes + size - TW_FXT_WORD, false);
	word = bare ? 0 : word;
	uint64_t time = ns_of(clock, ticks), merged = time + shift->ns;
	uint64_t length = complete ? ns_of(clock, word) - time : 0;
	uint64_t last = complete ? merged + length : word;
	bool fits = (time - shift->from < shift->count) & (!complete | (last >= merged));
	if (!(is_right(clock, chunk->first_without, type, ticks, word) & fits) || type > FLOW_END)
		return false;
	uint8_t *start = slab->ready + slab->ready_size, *to = start + (size_t)2 * TW_FXT_WORD;
	if (count)
		to = put_arguments(chunk, bytes, count, to);
	else if (type == COUNTER)
		return false;
	if (!to)
		return false;
	tw_store64(start + TW_FXT_WORD, merged, false);
	tw_store64(to, last, false);
	to += bare ? 0 : TW_FXT_WORD;
	uint64_t words = (uint64_t)(to - start) / TW_FXT_WORD;
	tw_store64(start, (header & SAME) | words << 4 | run->seat | names, false);
	struct tw_brief *brief = next_brief(slab, time);
	brief->time = time;
	brief->length = length;
	brief->number = (uint32_t)slab->ready_size;
	brief->tags =
	    TW_BRIEF_READY | (complete ? TW_BRIEF_COMPLETE : 0) | ((uint32_t)(bytes - chunk->bytes) & TW_BRIEF_PLACE);
	slab->ready_size += (size_t)(to - start);
	return true;
}

/* ---- Context switches and wake-ups: they tell koids of threads, which stay. ---- */

/* Takes one without arguments; false where it is for others. */
static __attribute__((noinline)) bool take_switch(struct fxt_chunk *chunk, const struct tw_ticks *clock,
                                                  const uint8_t *bytes, uint64_t header)
{
	enum { SWITCH = 1, WAKEUP = 2, SWITCH_WORDS = 4, WAKEUP_WORDS = 3 };
	struct tw_slab *slab = &chunk->slab;
	const struct fxt_shift *shift = &chunk->links->time;
	uint64_t type = tw_bits(header, 60, 63), words = type == SWITCH ? SWITCH_WORDS : WAKEUP_WORDS;
	if ((type != SWITCH && type != WAKEUP) || tw_bits(header, 4, 15) != words || tw_bits(header, 16, 19))
		return false;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, false), time = ns_of(clock, ticks);
	if (ticks >= chunk->first_without || !is_near(clock, ticks) || time - shift->from >= shift->count)
		return false;
	uint8_t *to = slab->ready + slab->ready_size;
	uint64_t same = FXT_BITS(0, 15) | FXT_BITS(20, 35) | FXT_BITS(60, 63) | (type == SWITCH ? FXT_BITS(36, 39) : 0);
	memcpy(to, bytes, words * TW_FXT_WORD);
	tw_store64(to, header & same, false);
	tw_store64(to + TW_FXT_WORD, time + shift->ns, false);
	*next_brief(slab, time) = (struct tw_brief){
	    .time = time,
	    .number = (uint32_t)slab->ready_size,
	    .tags = TW_BRIEF_SWITCH | ((uint32_t)(bytes - chunk->bytes) & TW_BRIEF_PLACE),
	};
	slab->ready_size += words * TW_FXT_WORD;
	return true;
}

/* ---- Runs. ---- */

static inline bool know_thread(struct run *run, uint64_t header, const uint8_t *bytes)
{
	unsigned index = (unsigned)tw_bits(header, 24, 31);
	if (__builtin_expect(index != run->index, 0))
		look_up_thread(run, index, (size_t)(bytes - run->chunk->bytes));
	return run->seat;
}

/* What a header has of names; UINT64_MAX where something is inline, not defined, or not written yet. */
static inline uint64_t names_of(struct run *run, uint64_t header, const uint8_t *bytes)
{
	struct fxt_memo *memo = run->chunk->memo;
	struct fxt_linked_pair *pair = &memo->linked[tw_bits(header, 48, 63) % FXT_KNOWN];
	if (__builtin_expect(pair->key == (header >> 32 | memo->pair_epoch), 1))
		return pair->bits;
	return look_up_names(run, header, (size_t)(bytes - run->chunk->bytes), pair) ? pair->bits : UINT64_MAX;
}

static inline __attribute__((always_inline)) bool take_event(struct run *run, const struct tw_ticks *clock,
                                                             const uint8_t *bytes, uint64_t header)
{
	uint64_t names = know_thread(run, header, bytes) ? names_of(run, header, bytes) : UINT64_MAX;
	return names != UINT64_MAX && take(run, clock, bytes, header, names);
}

static inline bool has_room(struct tw_slab *slab)
{
	if (__builtin_expect(slab->ready_room - slab->ready_size >= MOST, 1))
		return true;
	return tw_extend(&slab->ready, &slab->ready_room, slab->ready_size + MOST, 1);
}

const uint8_t *fxt_take_ready(struct fxt_chunk *chunk, const uint8_t *bytes, const uint8_t *end, const uint8_t **timed)
{
	struct run run = {.chunk = chunk, .index = UINT_MAX};
	const struct tw_ticks clock = chunk->clock;
	uint64_t header;
	if (!chunk->timed)
		return bytes;
	if (chunk->brief_rows != chunk->slab.count)
		fxt_brief_rows(chunk);
	for (; bytes < end; bytes += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(bytes, false);
		if (!has_room(&chunk->slab) ||
		    !(fxt_type(header) == TW_FXT_TYPE_EVENT
		          ? take_event(&run, &clock, bytes, header)
		          : fxt_type(header) == TW_FXT_TYPE_SCHEDULING && take_switch(chunk, &clock, bytes, header)))
			break;
		*timed = bytes;
	}
	return bytes;
}
