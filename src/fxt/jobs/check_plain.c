/* check_plain.c - the fast path of checking: proves by a few bits that records keep all rules. Other records are left
 * to fxt_take_record(). `make bench` measures check: proved records take a fourth of the time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "fxt/events/events.h"
#include "fxt/format/layout.h"
#include "fxt/walk/chunk.h"

#include <limits.h>

/* ---- Records that are not simple. ---- */

enum proof {
	NOT_PLAIN,
	FINE,
	EVENT, /* arguments are right, the fixed words must still be looked at */
	SCOPED /* the same for an instant with a scope */
};

/* Whether an event is right as far as its arguments go. */
static enum proof judge_event(struct fxt_chunk *chunk, size_t place, uint64_t header)
{
	unsigned type = (unsigned)tw_bits(header, 16, 19);
	uint64_t count = tw_bits(header, 20, 23);
	bool in_record = tw_bits(header, 24, 31) == 0 || (header & (FXT_BITS(47, 47) | FXT_BITS(63, 63)));
	if (in_record || count == 0)
		return NOT_PLAIN;
	size_t at = fxt_arguments_end(chunk, place, place + (size_t)2 * TW_FXT_WORD, count,
	                              type == FXT_COUNTER ? FXT_NUMBERS : FXT_GOOD);
	bool scoped = type == FXT_INSTANT && at < place + tw_bits(header, 4, 15) * TW_FXT_WORD;
	return at == 0 ? NOT_PLAIN : scoped ? SCOPED : EVENT;
}

/* Whether a time is within 64 bits. */
static bool is_timed(struct tw_ticks *clock, uint64_t ticks)
{
	if (ticks - clock->base_tsc > clock->near)
		tw_ticks_move(clock, ticks);
	return clock->base_ns != UINT64_MAX;
}

/* Context switches and wake-ups make no steps. */
static enum proof judge_switch(struct fxt_chunk *chunk, size_t place, uint64_t header)
{
	const struct fxt_switch found = fxt_switch(header);
	const size_t behind = place + fxt_switch_koid(found.koids);
	uint64_t ticks = tw_load64(chunk->bytes + place + TW_FXT_WORD, chunk->decoder.big);
	if (!found.koids || found.state > FXT_STATE_KNOWN || !is_timed(&chunk->decoder.clock, ticks))
		return NOT_PLAIN;
	return !found.arguments || fxt_arguments_end(chunk, place, behind, found.arguments, FXT_GOOD) ? FINE
	                                                                                              : NOT_PLAIN;
}

TW_NOINLINE enum proof judge_other(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, uint64_t header)
{
	if (fxt_type(header) == TW_FXT_TYPE_EVENT)
		return judge_event(chunk, place, header);
	/* A filter of threads needs the koids of a context switch, which are not looked at here. */
	if (fxt_type(header) == TW_FXT_TYPE_SCHEDULING && wish->options->thread_count == 0)
		return judge_switch(chunk, place, header);
	return NOT_PLAIN;
}

/* ---- Events. The processor cannot predict the type of the next one: there are no jumps that depend on it, but masks,
 * with all bits set or none. ---- */

struct step_shape {
	uint64_t below;    /* the last word must be less than this (so UINT64_MAX is never proved) */
	uint64_t complete; /* mask: it is a time, not before that of the record and near the clock's base */
	uint64_t steps;    /* mask: it makes a step */
};

/* By type of event for two words, and 16 further on for three. Only begins, ends and instants without a scope have
 * two. */
static const struct step_shape step_shapes[2 * FXT_TYPES] = {
#define IF(condition, value) ((condition) ? (value) : 0)
#define BELOW(last)                                                                                                    \
	((last) == FXT_LAST_SCOPE        ? FXT_SCOPE_MAX + 1                                                           \
	 : (last) == FXT_LAST_COUNTER_ID ? 0 /* it must have arguments */                                              \
	                                 : IF((last) != FXT_LAST_NONE, UINT64_MAX))
#define X(type, row, part, last)                                                                                       \
	[type] = {.below = IF((last) <= FXT_LAST_SCOPE, UINT64_MAX),                                                   \
	          .steps = IF((last) == FXT_LAST_NONE, UINT64_MAX)},                                                   \
	[FXT_TYPES | (type)] = {.below = BELOW(last),                                                                  \
	                        .complete = IF((last) == FXT_LAST_END_TIME, UINT64_MAX),                               \
	                        .steps =                                                                               \
	                            IF((last) == FXT_LAST_CORRELATION_ID || (last) == FXT_LAST_END_TIME, UINT64_MAX)},
    FXT_EVENT_LIST(X)
#undef X
#undef BELOW
#undef IF
};

/* The shape of an event without arguments, which has two or three words. */
static inline const struct step_shape *shape_of(uint64_t header)
{
	return &step_shapes[tw_bits(header, 16, 19) | (header & FXT_TYPES)];
}

/* The shape of an event with arguments. */
static const struct step_shape *shape_with_arguments(uint64_t header, bool scoped)
{
	unsigned type = (unsigned)tw_bits(header, 16, 19);
	bool two = fxt_event_words[type] == 2 && !scoped;
	return type == FXT_COUNTER ? &step_shapes[FXT_INSTANT] : &step_shapes[type | (two ? 0 : FXT_TYPES)];
}

/* Whether a header is that of an event without arguments, whose names are indices. Its size is known to be right. */
static inline bool is_simple(uint64_t header)
{
	static const uint64_t more = FXT_BITS(0, 3) | FXT_BITS(20, 23) | FXT_BITS(47, 47) | FXT_BITS(63, 63);
	return (header & more) == TW_FXT_TYPE_EVENT;
}

/* Whether a time, and the last word of an event, are right. Times near the base of the clock are within 64 bits. */
TW_INLINE bool is_right(const struct tw_ticks *clock, const struct step_shape *shape, uint64_t ticks, uint64_t word)
{
	uint64_t since = ticks - clock->base_tsc;
	return (since <= clock->near) & (((word - ticks) & shape->complete) <= clock->near - since) &
	       (word < shape->below);
}

/* The thread of an event; NULL where it is not registered, or left out. */
TW_NOINLINE const struct fxt_entry *look_up_thread(const struct fxt_chunk *chunk, unsigned index, size_t place)
{
	const struct fxt_entry *thread = fxt_thread_of(chunk, index, place);
	return thread && thread->wanted ? thread : NULL;
}

/* Category and name of an event; NULL where one is not registered. */
TW_INLINE const struct fxt_pair *names_of(struct fxt_chunk *chunk, uint64_t epoch, uint64_t header, size_t place)
{
	const struct fxt_pair *names = &chunk->decoder.name_cache->pairs[tw_bits(header, 48, 63) % FXT_KNOWN];
	return names->key == (header >> 32 | epoch) ? names : fxt_look_up_pair(chunk, header, place);
}

/* ---- Runs. ---- */

TW_INLINE size_t check_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end, bool big)
{
	const struct tw_ticks clock = chunk->decoder.clock;
	const uint64_t epoch = chunk->decoder.name_cache->pair_epoch;
	const uint8_t *const start = chunk->bytes, *bytes = start + place, *const to = start + end, *timed = NULL;
	struct fxt_steps *const steps = &chunk->steps;
	const struct fxt_entry *thread = NULL;
	unsigned index = UINT_MAX;
	uint64_t header, count = steps->count, complete = 0, least = UINT64_MAX, latest = 0;
	for (; bytes < to; bytes += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(bytes, big);
		const struct step_shape *shape = shape_of(header);
		if (!is_simple(header)) {
			enum proof proof = judge_other(chunk, wish, (size_t)(bytes - start), header);
			if (proof == NOT_PLAIN)
				break;
			if (proof == FINE) {
				const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big);
				least = ticks < least ? ticks : least;
				latest = ticks > latest ? ticks : latest;
				timed = bytes;
				continue;
			}
			shape = shape_with_arguments(header, proof == SCOPED);
		}
		if (index != tw_bits(header, 24, 31)) {
			index = (unsigned)tw_bits(header, 24, 31);
			thread = look_up_thread(chunk, index, (size_t)(bytes - start));
			if (!thread)
				break;
		}
		const struct fxt_pair *names = names_of(chunk, epoch, header, (size_t)(bytes - start));
		const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big);
		const uint64_t word = tw_load64(bytes + (tw_bits(header, 4, 15) - 1) * TW_FXT_WORD, big);
		if (!names || !is_right(&clock, shape, ticks, word))
			break;
		struct fxt_step *step = &steps->all[count];
		step->time = tw_ticks_ns_after(&clock, ticks - clock.base_tsc, clock.whole);
		step->track = thread->number;
		step->place = (uint32_t)(bytes - start);
		step->type = (uint32_t)tw_bits(header, 16, 19);
		const uint64_t key =
		    step->type < FXT_ASYNC_BEGIN ? names->name : fxt_operation_key(names->category, names->name, word);
		const uint64_t end_time = tw_ticks_ns_after(&clock, word - clock.base_tsc, clock.whole);
		step->key = key ^ ((key ^ end_time) & shape->complete);
		complete |= shape->complete;
		count += shape->steps & 1;
		least = ticks < least ? ticks : least;
		latest = ticks > latest ? ticks : latest;
		timed = bytes;
	}
	steps->complete |= complete != 0;
	steps->count = count;
	if (timed) {
		fxt_pass_by(chunk, tw_ticks_ns(&chunk->decoder.clock, least));
		fxt_pass_by(chunk, tw_ticks_ns(&chunk->decoder.clock, latest));
		fxt_set_time(chunk, tw_ticks_ns(&chunk->decoder.clock, tw_load64(timed + TW_FXT_WORD, big)));
	}
	return (size_t)(bytes - start);
}

size_t fxt_check_plain(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	enum { LEAST = 2 * TW_FXT_WORD }; /* bytes of a record that has a step */
	if (!fxt_is_context_settled(chunk) || !fxt_steps_reserve(&chunk->steps, (end - place) / LEAST + 1))
		return place;
	return chunk->decoder.big ? check_records(chunk, wish, place, end, true)
	                          : check_records(chunk, wish, place, end, false);
}
