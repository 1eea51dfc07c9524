/* skim.c - the fast path of `check`, as skim.h tells. `make bench` measures check. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/jobs/skim.h"

#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/memory/memory.h"
#include "fxt/events/doubts.h"

#include <stdlib.h>
#include <string.h>

enum {
	DEPTH = 61, /* open durations of a thread, with the sentinel; where there are more, the leap ends */
	TWO = 2,    /* words of a record */
	THREE = 3,
	LEAST = TWO * TW_FXT_WORD, /* bytes of a record */
	LOW_HALVES = 1 << 12,      /* what bin_index() tells apart */
};

/* What is to be done with a record. */
enum bin {
	OTHER,    /* no event, or one that is not for the fast path */
	DURATION, /* a begin or end */
	STEP,     /* of an operation or flow */
	COMPLETE, /* without arguments, as the next two */
	PLAIN,    /* an instant */
	SCOPED,   /* an instant with a scope */
	DOUBTFUL, /* another event with arguments */
	BINS
};

/* Places of records in the chunk, by what is to be done with them. */
struct lists {
	uint32_t *next[BINS]; /* behind the last */
	uint32_t places[BINS][FXT_DOUBTS];
};

/* A duration that is open: the reference to its name, and the place of its begin. */
struct begun {
	uint32_t name, place;
};

/* The open durations of a thread. */
struct stack {
	uint64_t first, last;      /* as in struct fxt_skim_thread */
	struct begun *next;        /* behind the innermost */
	struct begun begun[DEPTH]; /* the first is a sentinel, with a name that no event has */
};

struct fxt_skimmer {
	struct stack stacks[FXT_SKIM_THREADS]; /* by index */
	bool used[FXT_SKIM_REFERENCES];        /* strings that records refer to */
	/* Threads that events belong to, but for those without arguments that begin or end durations. */
	bool threads[FXT_SKIM_THREADS];
	uint8_t bins[LOW_HALVES]; /* by bin_index() */
	struct lists lists, more;
	uint32_t ends[FXT_DOUBTS]; /* places of ends without a begin in the leap */
	struct fxt_doubts doubts;  /* events with arguments */
};

void fxt_skim_clear(struct fxt_skim *skim)
{
	skim->name_count = skim->thread_count = skim->left_count = 0;
	skim->from = skim->to = 0;
}

void fxt_skim_free(struct fxt_skim *skim)
{
	free(skim->names);
	free(skim->threads);
	free(skim->left);
}

/* ---- Arguments. ---- */

/* Whether an argument is a text that stands in the record and is right; `words` words are there from it on. */
static bool is_text(const uint8_t *bytes, size_t words, uint64_t header)
{
	uint64_t text = tw_bits(header, 32, 47), size = tw_bits(header, 4, 15);
	return fxt_type(header) == TW_FXT_ARG_STRING && !(header & (FXT_BITS(31, 31) | FXT_BITS(48, 63))) &&
	       text >= TW_FXT_STRING_INLINE && size == 1 + fxt_text_words(text) && size <= words &&
	       fxt_is_ascii(bytes + TW_FXT_WORD, text & FXT_TEXT_MAX);
}

/* Whether an argument is right, and marks the strings that it uses. `words` words are there from it on; whether a plain
 * one has more than these is not looked at. */
TW_INLINE bool take_argument(struct fxt_skimmer *skimmer, const uint8_t *bytes, size_t words, uint64_t header)
{
	const bool is_plain = fxt_is_plain_argument(header);
	const uint64_t text = is_plain & (fxt_type(header) == TW_FXT_ARG_STRING);
	skimmer->used[tw_bits(header, 16, 30)] = true;
	skimmer->used[tw_bits(header, 32, 46) & (0 - text)] = true;
	return is_plain || is_text(bytes, words, header);
}

/* Checks `count` arguments that begin at word `at` of a record of `end` words. numbers: they must be numbers. Returns
 * the word behind them, or 0 where one is wrong. */
TW_INLINE size_t take_arguments(struct fxt_skimmer *skimmer, const uint8_t *bytes, size_t at, size_t end,
                                uint64_t count, bool numbers, bool big)
{
	for (; count > 0 && at < end; count--) {
		const uint8_t *argument = bytes + at * TW_FXT_WORD;
		uint64_t header = tw_load64(argument, big);
		if (!take_argument(skimmer, argument, end - at, header) ||
		    (numbers && !fxt_is_number(fxt_type(header))))
			return 0;
		at += (size_t)tw_bits(header, 4, 15);
	}
	return count == 0 && at <= end ? at : 0;
}

/* ---- Records. The processor cannot predict which types follow one another, and a mispredicted jump takes as long as
 * all the work that is done here for a record. So records are first listed by what is to be done with them, without
 * jumps that depend on the type, and then taken list by list. ---- */

/* What an event of this type, with so many arguments, is listed as; `size` is the low bits of its size. */
static enum bin bin_of(unsigned type, unsigned count, unsigned size)
{
	bool duration = type == FXT_BEGIN || type == FXT_END, step = type >= FXT_ASYNC_BEGIN;
	if (type >= FXT_EVENT_TYPES)
		return OTHER;
	if (count)
		return duration ? DURATION : step ? STEP : DOUBTFUL;
	if (size == TWO)
		return duration ? DURATION : type == FXT_INSTANT ? PLAIN : OTHER;
	if (size == THREE)
		return step ? STEP : type == FXT_COMPLETE ? COMPLETE : type == FXT_INSTANT ? SCOPED : OTHER;
	return OTHER;
}

/* Bits 4 to 7, of the size, and 16 to 23, type and number of arguments, as one number. */
TW_INLINE uint32_t bin_index(uint64_t header)
{
	static const uint32_t bits = (uint32_t)(FXT_BITS(4, 7) | FXT_BITS(16, 23)), to_the_top = 1 << 16 | 1 << 8;
	return ((uint32_t)header & bits) * to_the_top >> 20;
}

static void make_bins(uint8_t bins[static LOW_HALVES])
{
	for (unsigned i = 0; i < LOW_HALVES; i++)
		bins[i] = (uint8_t)bin_of(i >> 4 & 0xf, i >> 8, i & 0xf);
}

/* A row of records that is being skimmed. */
struct run {
	struct fxt_skimmer *skimmer;
	const uint8_t *start;   /* the chunk's bytes */
	size_t end;             /* of the run, in them */
	uint64_t all_ticks;     /* all tick counts, or-ed: none is greater */
	uint64_t count;         /* of records */
	size_t end_count, kept; /* ends: how many are listed, how many of them are kept */
	size_t last;            /* place of the last record */
	bool failed;            /* no memory */
};

static void note_wrong(struct run *run, size_t place)
{
	size_t *wrong = &run->skimmer->doubts.wrong;
	*wrong = place < *wrong ? place : *wrong;
}

/* Marks what an event refers to. False where its thread stands in the record. */
TW_INLINE bool mark(struct fxt_skimmer *skimmer, uint64_t header)
{
	const size_t thread = tw_bits(header, 24, 31);
	skimmer->used[header >> 48] = true;
	skimmer->used[(uint16_t)(header >> 32)] = true;
	skimmer->threads[thread] = true;
	return thread != 0;
}

static void clear_lists(struct lists *lists)
{
	for (unsigned i = 0; i < BINS; i++)
		lists->next[i] = lists->places[i];
}

/* Lists the record at a place; returns its size, or 0 where there is no record. */
TW_INLINE size_t list_one(const uint8_t *bins, struct lists *lists, const uint8_t *start, size_t place, bool big)
{
	static const uint64_t usual = FXT_BITS(0, 3) | FXT_BITS(47, 47) | FXT_BITS(63, 63);
	const uint64_t header = tw_load64(start + place, big);
	const size_t size = tw_bits(header, 4, 15) * TW_FXT_WORD;
	const uint64_t event = 0 - (uint64_t)((header & usual) == TW_FXT_TYPE_EVENT); /* a mask */
	if (size < LEAST)
		return 0;
	*lists->next[bins[bin_index(header & event)]]++ = (uint32_t)place;
	return size;
}

/* Lists records that begin before `limit`; returns the place behind them. */
TW_INLINE size_t list_some(struct run *run, struct lists *lists, size_t place, size_t limit, bool big)
{
	for (size_t size = 1; place < limit && size; place += size)
		size = list_one(run->skimmer->bins, lists, run->start, place, big);
	return place;
}

/* Puts lists behind others. */
static void join_lists(struct lists *lists, const struct lists *more)
{
	for (unsigned i = 0; i < BINS; i++) {
		const size_t count = (size_t)(more->next[i] - more->places[i]);
		memcpy(lists->next[i], more->places[i], count * sizeof(uint32_t));
		lists->next[i] += count;
	}
}

/* The same by two walks in turns, as a walk waits for the size of each record before it can go on. The second one
 * begins in the middle, at records that follow one another; it counts if the first one leads there. */
TW_INLINE size_t list_by_two(struct run *run, const struct fxt_chunk *chunk, size_t place, size_t limit, bool big)
{
	enum { IN_A_ROW = 4 }; /* where it is by chance, the first walk does not lead there */
	const uint8_t *const start = run->start, *const bins = run->skimmer->bins;
	struct lists *const lists = &run->skimmer->lists, *const more = &run->skimmer->more;
	const size_t half = (limit - place) / (2 * TW_FXT_WORD) * TW_FXT_WORD;
	const size_t middle = fxt_find_records(chunk, place + half, IN_A_ROW, big);
	size_t ahead = middle;
	clear_lists(lists);
	if (middle && middle < limit) {
		clear_lists(more);
		while (place < middle && ahead < limit) {
			const size_t size = list_one(bins, lists, start, place, big);
			if (!size)
				break;
			place += size;
			const size_t other = list_one(bins, more, start, ahead, big);
			if (!other)
				break;
			ahead += other;
		}
		place = list_some(run, lists, place, middle, big);
		if (place == middle) {
			place = ahead;
			join_lists(lists, more);
		}
	}
	return list_some(run, lists, place, limit, big);
}

/* Lists an event whose arguments, and size, are still to be checked, if it has more than `words` words. */
TW_INLINE size_t list_doubt(struct fxt_doubts *doubts, size_t count, uint64_t header, uint32_t words, uint32_t place)
{
	doubts->places[count] = place;
	return count + fxt_is_doubtful(header, words);
}

enum taken { NOT_TAKEN, SETTLED, LEFT };

/* Takes a begin or end that take_usual() could not: the thread's first, an end without a begin in the leap, or
 * one that ends the leap (NOT_TAKEN): out of order, too deep, or it ends another duration than the innermost. */
static enum taken take_unusual(struct stack *stack, uint64_t header, uint64_t ticks, uint32_t place)
{
	bool first = stack->last == UINT64_MAX, begins = tw_bits(header, 16, 19) == FXT_BEGIN;
	if (tw_bits(header, 24, 31) == 0 || (!first && ticks < stack->last) ||
	    (begins ? stack->next == stack->begun + DEPTH : stack->next > stack->begun + 1))
		return NOT_TAKEN;
	stack->first = first ? ticks : stack->first;
	stack->last = ticks;
	if (!begins)
		return LEFT;
	*stack->next++ = (struct begun){(uint32_t)tw_bits(header, 48, 63), place};
	return SETTLED;
}

/* Takes a begin, or the end of the innermost duration, later than the thread's last. False where it is none: then
 * nothing has been done. */
TW_INLINE bool take_usual(struct stack *stack, uint64_t header, uint64_t ticks, uint32_t place)
{
	struct begun *const next = stack->next;
	const uint64_t name = header >> 48, end = 0u - tw_bits(header, 16, 16); /* a mask */
	if (((next[-1].name ^ name) & end) || ticks < stack->last || next == stack->begun + DEPTH)
		return false;
	*next = (struct begun){(uint32_t)name, place};
	stack->next = next + (int64_t)(end | 1);
	stack->last = ticks;
	return true;
}

TW_INLINE void take_durations(struct run *run, bool big)
{
	struct fxt_skimmer *const skimmer = run->skimmer;
	size_t doubt_count = skimmer->doubts.count;
	uint64_t all_ticks = 0;
	for (const uint32_t *at = skimmer->lists.places[DURATION], *to = skimmer->lists.next[DURATION]; at < to; at++) {
		const uint8_t *const bytes = run->start + *at;
		const uint64_t header = tw_load64(bytes, big), ticks = tw_load64(bytes + TW_FXT_WORD, big);
		struct stack *const stack = &skimmer->stacks[tw_bits(header, 24, 31)];
		if (!take_usual(stack, header, ticks, *at)) {
			enum taken taken = take_unusual(stack, header, ticks, *at);
			if (taken == NOT_TAKEN) {
				note_wrong(run, *at);
				break;
			}
			skimmer->ends[run->end_count] = *at;
			run->end_count += taken == LEFT;
		}
		skimmer->used[header >> 48] = true;
		skimmer->used[(uint16_t)(header >> 32)] = true;
		all_ticks |= ticks;
		doubt_count = list_doubt(&skimmer->doubts, doubt_count, header, FXT_TWO_WORDS, *at);
	}
	run->all_ticks |= all_ticks;
	skimmer->doubts.count = doubt_count;
}

/* Keeps what a step will need, while the record's bytes are in a near cache; of an operation's also its last word. */
TW_INLINE void keep_left(struct fxt_skim *skim, const uint8_t *bytes, uint32_t place, uint64_t word, bool big)
{
	skim->left[skim->left_count++] = (struct fxt_skim_left){
	    .header = tw_load64(bytes, big),
	    .ticks = tw_load64(bytes + TW_FXT_WORD, big),
	    .word = word,
	    .place = place,
	};
}

/* Keeps ends without a begin that stand before a place. */
TW_INLINE void keep_ends(struct run *run, struct fxt_skim *skim, size_t place, bool big)
{
	const uint32_t *const ends = run->skimmer->ends;
	for (; run->kept < run->end_count && ends[run->kept] < place; run->kept++)
		keep_left(skim, run->start + ends[run->kept], ends[run->kept], 0, big);
}

/* Takes steps of operations and flows, and keeps them and ends without a begin. */
TW_INLINE void take_steps(struct run *run, struct fxt_skim *skim, bool big)
{
	struct fxt_skimmer *const skimmer = run->skimmer;
	const uint32_t *at = skimmer->lists.places[STEP], *const to = skimmer->lists.next[STEP];
	const size_t count = (size_t)(to - at) + run->end_count;
	size_t doubt_count = skimmer->doubts.count;
	run->failed = !tw_extend(&skim->left, &skim->left_room, skim->left_count + count, sizeof *skim->left);
	if (run->failed)
		return;
	for (; at < to; at++) {
		const uint8_t *bytes = run->start + *at;
		const uint64_t header = tw_load64(bytes, big);
		const size_t size = tw_bits(header, 4, 15) * TW_FXT_WORD;
		if (!mark(skimmer, header) || size > run->end - *at) {
			note_wrong(run, *at);
			break;
		}
		keep_ends(run, skim, *at, big);
		keep_left(skim, bytes, *at, tw_load64(bytes + size - TW_FXT_WORD, big), big);
		run->all_ticks |= tw_load64(bytes + TW_FXT_WORD, big);
		doubt_count = list_doubt(&skimmer->doubts, doubt_count, header, FXT_THREE_WORDS, *at);
	}
	keep_ends(run, skim, SIZE_MAX, big);
	skimmer->doubts.count = doubt_count;
}

/* Takes events that have no arguments. complete: mask: their last word is a time, taken from the record's time on; it
 * must be at most `most`. `words` is their size. */
TW_INLINE void take_plain(struct run *run, enum bin bin, size_t words, uint64_t complete, uint64_t most, bool big)
{
	struct fxt_skimmer *const skimmer = run->skimmer;
	uint64_t all_ticks = 0;
	for (const uint32_t *at = skimmer->lists.places[bin], *to = skimmer->lists.next[bin]; at < to; at++) {
		const uint8_t *const bytes = run->start + *at;
		const uint64_t header = tw_load64(bytes, big), ticks = tw_load64(bytes + TW_FXT_WORD, big);
		const uint64_t word = tw_load64(bytes + (words - 1) * TW_FXT_WORD, big);
		if (!mark(skimmer, header) || tw_bits(header, 4, 15) != words || word - (ticks & complete) > most)
			note_wrong(run, *at);
		all_ticks |= ticks;
	}
	run->all_ticks |= all_ticks;
}

/* Takes other events with arguments, but for these. */
TW_INLINE void take_doubtful(struct run *run, bool big)
{
	struct fxt_skimmer *const skimmer = run->skimmer;
	for (const uint32_t *at = skimmer->lists.places[DOUBTFUL], *to = skimmer->lists.next[DOUBTFUL]; at < to; at++) {
		const uint8_t *const bytes = run->start + *at;
		mark(skimmer, tw_load64(bytes, big));
		run->all_ticks |= tw_load64(bytes + TW_FXT_WORD, big);
		skimmer->doubts.places[skimmer->doubts.count++] = *at;
	}
}

/* Whether a record is a right context switch or wake-up with arguments. */
static bool is_switch(struct fxt_skimmer *skimmer, const uint8_t *bytes, bool big)
{
	const uint64_t header = tw_load64(bytes, big);
	enum tw_fxt_kind kind = fxt_kind(header);
	uint64_t state = tw_bits(header, 36, 39), count = tw_bits(header, 16, 19);
	bool right = kind == TW_FXT_THREAD_WAKEUP || (kind == TW_FXT_CONTEXT_SWITCH && state <= FXT_STATE_KNOWN);
	size_t fixed = kind == TW_FXT_CONTEXT_SWITCH ? FXT_SWITCH_WORDS : FXT_WAKEUP_WORDS,
	       size = tw_bits(header, 4, 15);
	return right && !(header & fxt_reserved(kind)) && count &&
	       take_arguments(skimmer, bytes, fixed, size, count, false, big) == size;
}

/* Whether a header is that of a right context switch or wake-up without arguments. */
static inline bool is_plain_switch(uint64_t header)
{
	static const uint64_t bits = FXT_BITS(0, 3) | FXT_BITS(16, 19) | FXT_BITS(40, 59);
	static const uint8_t states[FXT_TYPES] = {[FXT_SWITCH] = FXT_STATE_KNOWN + 1, [FXT_WAKEUP] = 1};
	static const uint8_t sizes[FXT_TYPES] = {[FXT_SWITCH] = FXT_SWITCH_WORDS, [FXT_WAKEUP] = FXT_WAKEUP_WORDS};
	const unsigned type = (unsigned)tw_bits(header, 60, 63);
	const bool no_more = (header & bits) == TW_FXT_TYPE_SCHEDULING, of_size = tw_bits(header, 4, 15) == sizes[type];
	const bool in_state = tw_bits(header, 36, 39) < states[type];
	return no_more & of_size & in_state;
}

/* Takes records that are no events. Returns the place of the first one that is not right, or `place`. */
TW_INLINE size_t take_others(struct run *run, size_t place, bool big)
{
	struct fxt_skimmer *const skimmer = run->skimmer;
	for (const uint32_t *at = skimmer->lists.places[OTHER], *to = skimmer->lists.next[OTHER]; at < to; at++) {
		const uint8_t *const bytes = run->start + *at;
		const uint64_t header = tw_load64(bytes, big);
		if (tw_bits(header, 4, 15) * TW_FXT_WORD > run->end - *at ||
		    (!is_plain_switch(header) && !is_switch(skimmer, bytes, big)))
			return *at;
		run->all_ticks |= tw_load64(bytes + TW_FXT_WORD, big);
	}
	return place;
}

/* Takes records from `place` on off all lists. */
static void cut_lists(struct lists *lists, size_t place)
{
	for (unsigned i = 0; i < BINS; i++)
		while (lists->next[i] > lists->places[i] && lists->next[i][-1] >= place)
			lists->next[i]--;
}

static void count_lists(struct run *run)
{
	for (unsigned i = 0; i < BINS; i++) {
		const uint32_t *list = run->skimmer->lists.places[i], *next = run->skimmer->lists.next[i];
		run->count += (uint64_t)(next - list);
		run->last = next > list && next[-1] > run->last ? next[-1] : run->last;
	}
}

struct shape {
	uint64_t most;     /* that the last word may be */
	uint64_t complete; /* mask: the last word is a time, and is taken from the record's time on */
	bool fits;         /* there is such an event */
};

/* Of events with arguments, by type and the number of words behind the arguments. */
static const struct shape shapes[FXT_EVENT_TYPES][2] = {
#define ANY                                                                                                            \
	{                                                                                                              \
		.most = UINT64_MAX, .fits = true                                                                       \
	}
    [FXT_INSTANT] = {ANY, {.most = FXT_SCOPE_MAX, .fits = true}},
    [FXT_COUNTER] = {[1] = ANY},
    [FXT_BEGIN] = {ANY},
    [FXT_END] = {ANY},
    [FXT_COMPLETE] = {[1] = {.most = FXT_SKIM_LONGEST - 1, .complete = UINT64_MAX, .fits = true}},
    [FXT_ASYNC_BEGIN] = {[1] = ANY},
    [FXT_ASYNC_INSTANT] = {[1] = ANY},
    [FXT_ASYNC_END] = {[1] = ANY},
    [FXT_FLOW_BEGIN] = {[1] = ANY},
    [FXT_FLOW_STEP] = {[1] = ANY},
    [FXT_FLOW_END] = {[1] = ANY},
#undef ANY
};

/* Whether the arguments of an event are right, and the word behind them. `left` bytes are there. */
TW_INLINE bool has_right_arguments(struct fxt_skimmer *skimmer, const uint8_t *bytes, size_t left, uint64_t count,
                                   bool big)
{
	const uint64_t header = tw_load64(bytes, big), ticks = tw_load64(bytes + TW_FXT_WORD, big);
	const unsigned type = (unsigned)tw_bits(header, 16, 19);
	size_t size = tw_bits(header, 4, 15), at = 0;
	if (count && size * TW_FXT_WORD <= left && tw_bits(header, 24, 31))
		at = take_arguments(skimmer, bytes, TWO, size, count, type == FXT_COUNTER, big);
	if (at == 0 || size - at > 1)
		return false;
	const struct shape *shape = &shapes[type][size - at];
	const uint64_t word = tw_load64(bytes + (size - 1) * TW_FXT_WORD, big);
	return shape->fits && word - (ticks & shape->complete) <= shape->most;
}

/* Checks the arguments of listed events. */
TW_INLINE void settle_doubts(struct run *run, const struct fxt_chunk *chunk, bool big)
{
	struct fxt_doubts *doubts = &run->skimmer->doubts;
	uint32_t sorted[FXT_DOUBTS], from[FXT_ARGUMENT_COUNTS + 1];
	fxt_doubts_sort_events(doubts, chunk, big, sorted, from);
	for (unsigned n = 0; n < FXT_ARGUMENT_COUNTS; n++)
		for (uint32_t i = from[n]; i < from[n + 1]; i++)
			if (!has_right_arguments(run->skimmer, run->start + sorted[i], run->end - sorted[i], n, big))
				note_wrong(run, sorted[i]);
	doubts->count = 0;
}

/* Takes records up to `end`; returns the place behind them. Where one is wrong, doubts.wrong is the place of the first
 * such record. */
TW_INLINE size_t take_run(struct run *run, struct fxt_chunk *chunk, size_t place, size_t end, bool big)
{
	struct fxt_skimmer *const skimmer = run->skimmer;
	bool on = true;
	run->start = chunk->bytes;
	run->end = end;
	fxt_doubts_begin(&skimmer->doubts);
	while (on && end - place >= FXT_PLAIN_MAX * TW_FXT_WORD) {
		size_t limit =
		    (size_t)(fxt_doubts_limit(&skimmer->doubts, run->start + place, run->start + end) - run->start);
		size_t listed = list_by_two(run, chunk, place, limit, big);
		place = take_others(run, listed, big);
		on = place == listed && place >= limit;
		if (place != listed)
			cut_lists(&skimmer->lists, place);
		count_lists(run);
		run->end_count = run->kept = 0;
		take_durations(run, big);
		take_steps(run, &chunk->skim, big);
		take_plain(run, COMPLETE, THREE, UINT64_MAX, FXT_SKIM_LONGEST - 1, big);
		take_plain(run, PLAIN, TWO, 0, UINT64_MAX, big);
		take_plain(run, SCOPED, THREE, 0, FXT_SCOPE_MAX, big);
		take_doubtful(run, big);
		settle_doubts(run, chunk, big);
		on = on && !run->failed && skimmer->doubts.wrong == SIZE_MAX;
	}
	return place;
}

/* ---- What is kept of a leap. ---- */

static bool keep_names(struct fxt_skim *skim, const struct fxt_skimmer *skimmer)
{
	enum { SOME = 64 }; /* references that are looked at together */
	static const bool none[SOME];
	for (uint32_t from = 0; from < FXT_SKIM_REFERENCES; from += SOME) {
		if (memcmp(skimmer->used + from, none, sizeof none) == 0)
			continue;
		if (!tw_extend(&skim->names, &skim->name_room, skim->name_count + SOME, sizeof *skim->names))
			return false;
		for (uint32_t i = from; i < from + SOME; i++) {
			skim->names[skim->name_count] = (struct fxt_skim_name){.reference = i};
			skim->name_count += skimmer->used[i];
		}
	}
	return true;
}

/* Keeps a begin that is open. */
static bool keep_begin(struct fxt_chunk *chunk, const struct fxt_leap *leap, uint32_t place)
{
	struct fxt_skim *skim = &chunk->skim;
	if (!tw_extend(&skim->left, &skim->left_room, skim->left_count + 1, sizeof *skim->left))
		return false;
	keep_left(skim, chunk->bytes + place, place, 0, leap->big);
	return true;
}

/* Keeps a thread, and the begins of its durations that are still open. */
static bool keep_thread(struct fxt_chunk *chunk, const struct fxt_leap *leap, const struct stack *stack, uint32_t index)
{
	struct fxt_skim *skim = &chunk->skim;
	if (!tw_grow(&skim->threads, &skim->thread_room, skim->thread_count + 1, sizeof *skim->threads))
		return false;
	skim->threads[skim->thread_count++] =
	    (struct fxt_skim_thread){.first = stack->first, .last = stack->last, .index = index};
	bool kept = true;
	for (const struct begun *begun = stack->begun + 1; begun < stack->next && kept; begun++)
		kept = keep_begin(chunk, leap, begun->place);
	return kept;
}

static bool keep_threads(struct fxt_chunk *chunk, const struct fxt_leap *leap, const struct fxt_skimmer *skimmer)
{
	bool kept = true;
	for (uint32_t i = 1; i < FXT_SKIM_THREADS && kept; i++) {
		const struct stack *stack = &skimmer->stacks[i];
		if (skimmer->threads[i] || stack->last != UINT64_MAX)
			kept = keep_thread(chunk, leap, stack, i);
	}
	return kept;
}

static void clear(struct fxt_skimmer *skimmer)
{
	for (size_t i = 0; i < FXT_SKIM_THREADS; i++) {
		struct stack *stack = &skimmer->stacks[i];
		stack->first = stack->last = UINT64_MAX;
		stack->begun[0].name = UINT32_MAX;
		stack->next = stack->begun + 1;
	}
	skimmer->stacks[0].next = skimmer->stacks[0].begun + DEPTH; /* full: it is no thread */
	memset(skimmer->used, 0, sizeof skimmer->used);
	memset(skimmer->threads, 0, sizeof skimmer->threads);
}

static struct fxt_skimmer *new_skimmer(void)
{
	struct fxt_skimmer *skimmer = calloc(1, sizeof *skimmer);
	if (skimmer)
		make_bins(skimmer->bins);
	return skimmer;
}

/* Skims the leap up to `end`. */
static void skim_to(struct run *run, struct fxt_chunk *chunk, struct fxt_leap *leap, size_t end)
{
	clear(run->skimmer);
	chunk->skim.left_count = 0;
	*run = (struct run){.skimmer = run->skimmer};
	leap->to =
	    leap->big ? take_run(run, chunk, leap->from, end, true) : take_run(run, chunk, leap->from, end, false);
}

/* Skims the leap. Returns its bytes. */
static size_t skim(struct run *run, struct fxt_chunk *chunk, struct fxt_leap *leap)
{
	skim_to(run, chunk, leap, chunk->end);
	if (run->skimmer->doubts.wrong != SIZE_MAX)
		skim_to(run, chunk, leap, run->skimmer->doubts.wrong); /* what stands before it is right */
	return leap->to - leap->from;
}

/* Skims the leap, or what stands behind it where that is longer. */
static void skim_most(struct run *run, struct fxt_chunk *chunk, struct fxt_leap *leap)
{
	const size_t size = skim(run, chunk, leap);
	const struct fxt_leap first = *leap;
	if (size >= (chunk->end - first.from) / 2)
		return;
	const bool more = fxt_leap_over(chunk, leap);
	if (more && skim(run, chunk, leap) >= size)
		return;
	*leap = first;
	if (more)
		skim(run, chunk, leap);
}

void fxt_skim(struct fxt_chunk *chunk, struct fxt_leap *leap, struct fxt_scratch *scratch)
{
	struct fxt_skim *skim = &chunk->skim;
	if (!scratch->skimmer)
		scratch->skimmer = new_skimmer();
	struct run run = {.skimmer = scratch->skimmer};
	if (!run.skimmer)
		return;
	skim_most(&run, chunk, leap);
	leap->last = run.last;
	leap->count = run.count;
	skim->ticks = run.all_ticks;
	if (run.failed || !keep_names(skim, run.skimmer) || !keep_threads(chunk, leap, run.skimmer))
		leap->count = 0;
}

void fxt_skimmer_free(struct fxt_skimmer *skimmer)
{
	free(skimmer);
}
