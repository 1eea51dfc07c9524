/* skim.c - the fast path of `check`, as skim.h tells. `make bench` measures check. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/skim.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "fxt/doubts.h"

enum {
	REFERENCES = 1 << 15, /* to strings, but for those in the record */
	THREADS = 256,
	DEPTH = 60 /* open durations of a thread, with the sentinel; where there are more, the leap ends */
};

#define INLINE static inline __attribute__((always_inline)) /* so that `big` is a constant */

/* A duration that is open: the reference to its name, and the place of its begin. */
struct begun {
	uint32_t name, place;
};

/* The open durations of a thread. */
struct stack {
	uint64_t events;
	uint64_t first, last;      /* as in struct fxt_skim_thread */
	struct begun *next;        /* behind the innermost */
	struct begun begun[DEPTH]; /* the first is a sentinel, with a name that no event has */
};

struct fxt_skimmer {
	struct stack stacks[THREADS]; /* by index; the first counts scheduling records, which have none */
	bool used[REFERENCES];        /* strings that records refer to */
	uint32_t *left;               /* places of events whose steps are not settled */
	size_t left_room;
	struct fxt_doubts doubts; /* events with arguments */
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
static bool take_argument(struct fxt_skimmer *skimmer, const uint8_t *bytes, size_t words, uint64_t header)
{
	bool is_plain = fxt_is_plain_argument(header);
	skimmer->used[tw_bits(header, 16, 30)] = true;
	if (is_plain && fxt_type(header) == TW_FXT_ARG_STRING)
		skimmer->used[tw_bits(header, 32, 46)] = true;
	return is_plain || is_text(bytes, words, header);
}

/* Checks `count` arguments that begin at word `at` of a record of `end` words. numbers: they must be numbers. Returns
 * the word behind them, or 0 where one is wrong. */
static size_t take_arguments(struct fxt_skimmer *skimmer, const uint8_t *bytes, size_t at, size_t end, uint64_t count,
                             bool numbers, bool big)
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
 * all the work that is done here for a record. So there are no jumps that depend on the type, but masks, with all bits
 * set or none. ---- */

struct shape {
	uint64_t below;    /* the looked-at word must be less than this; 0: there is no such event, the leap ends */
	uint64_t behind;   /* mask: that word is the last of the record, otherwise its time */
	uint64_t complete; /* mask: the last word is a time, and is taken from the record's time on */
	uint64_t other;    /* mask: neither begin nor end of a duration */
	uint32_t end;      /* mask: end of a duration */
	int8_t deeper;     /* how many more durations are open behind it: -1, 0 or 1 */
	uint8_t operation; /* 1: a step of an operation or flow, which is not settled here */
};

enum {
	LONGEST = INT32_MAX, /* ticks: longer complete durations are left to the slow path */
	SCOPES = 3,          /* of instants, by the document */
	TWO = 2,             /* words of a record */
	THREE = 3
};

#define SHAPE(type, words) ((type) << 2 | (words))

/* By fxt_shape(), for events without arguments; behind these by event type, for those with arguments. */
static const struct shape shapes[FXT_SHAPES + FXT_TYPES] = {
#define MASK UINT64_MAX
#define OTHER .below = UINT64_MAX, .other = MASK
#define BEGIN .below = UINT64_MAX, .deeper = 1
#define END .below = UINT64_MAX, .end = UINT32_MAX, .deeper = -1
#define COMPLETE .below = LONGEST, .behind = MASK, .complete = MASK, .other = MASK
#define OPERATION(type) [SHAPE(type, THREE)] = {OTHER, .operation = 1}, [FXT_SHAPES + (type)] = {OTHER, .operation = 1}
    [SHAPE(FXT_INSTANT, TWO)] = {OTHER},
    [SHAPE(FXT_INSTANT, THREE)] = {.below = SCOPES, .behind = MASK, .other = MASK},
    [SHAPE(FXT_BEGIN, TWO)] = {BEGIN},
    [SHAPE(FXT_END, TWO)] = {END},
    [SHAPE(FXT_COMPLETE, THREE)] = {COMPLETE},
    [FXT_SHAPES + FXT_INSTANT] = {OTHER},
    [FXT_SHAPES + FXT_COUNTER] = {OTHER},
    [FXT_SHAPES + FXT_BEGIN] = {BEGIN},
    [FXT_SHAPES + FXT_END] = {END},
    [FXT_SHAPES + FXT_COMPLETE] = {COMPLETE},
    OPERATION(5),
    OPERATION(6),
    OPERATION(7),
    OPERATION(8),
    OPERATION(9),
    OPERATION(10),
#undef OPERATION
#undef COMPLETE
#undef END
#undef BEGIN
#undef OTHER
#undef MASK
};

/* Whether the duration of a complete event, or the scope of an instant, is right. */
INLINE bool is_within(const struct shape *shape, const uint8_t *bytes, size_t size, uint64_t ticks, bool big)
{
	const uint64_t word = tw_load64(bytes + TW_FXT_WORD + ((size - 2 * TW_FXT_WORD) & shape->behind), big);
	return word - (ticks & shape->complete) < shape->below;
}

/* Whether the arguments of an event are right, and the word behind them. */
static bool has_right_arguments(struct fxt_skimmer *skimmer, const uint8_t *bytes, uint64_t count, bool big)
{
	const uint64_t header = tw_load64(bytes, big);
	const unsigned type = (unsigned)tw_bits(header, 16, 19);
	size_t size = tw_bits(header, 4, 15);
	size_t at = count ? take_arguments(skimmer, bytes, 2, size, count, type == FXT_COUNTER, big) : 0;
	if (at == 0 || size - at > 1)
		return false;
	if (type == FXT_COUNTER)
		return size > at;
	const struct shape *shape = &shapes[SHAPE(type, TWO + size - at)];
	return is_within(shape, bytes, size * TW_FXT_WORD, tw_load64(bytes + TW_FXT_WORD, big), big);
}

/* Whether a record is a right context switch or wake-up. These make no steps. */
static bool take_switch(struct fxt_skimmer *skimmer, const uint8_t *bytes, uint64_t header, bool big)
{
	enum { STATE_MAX = 5 }; /* the document, "Context Switch Record" */
	enum tw_fxt_kind kind = fxt_kind(header);
	uint64_t state = tw_bits(header, 36, 39), count = tw_bits(header, 16, 19);
	bool right = kind == TW_FXT_THREAD_WAKEUP || (kind == TW_FXT_CONTEXT_SWITCH && state <= STATE_MAX);
	size_t fixed = kind == TW_FXT_CONTEXT_SWITCH ? 4 : 3, size = tw_bits(header, 4, 15);
	return right && !(header & fxt_reserved(kind)) &&
	       (count ? take_arguments(skimmer, bytes, fixed, size, count, false, big) : fixed) == size;
}

enum taken { NOT_TAKEN, SETTLED, LEFT };

/* Takes an event that take_usual() could not: the thread's first begin or end, an end without a begin in the leap, or
 * one that ends the leap (NOT_TAKEN): out of order, too deep, or it ends another duration than the innermost. */
static enum taken take_unusual(struct stack *stack, uint64_t header, uint64_t ticks, size_t place)
{
	uint64_t type = tw_bits(header, 16, 19);
	bool first = stack->last == UINT64_MAX, begins = type == FXT_BEGIN;
	if (!begins && type != FXT_END)
		return SETTLED;
	if ((!first && ticks < stack->last) ||
	    (begins ? stack->next == stack->begun + DEPTH : stack->next > stack->begun + 1))
		return NOT_TAKEN;
	stack->first = first ? ticks : stack->first;
	stack->last = ticks;
	if (!begins)
		return LEFT;
	*stack->next++ = (struct begun){(uint32_t)tw_bits(header, 48, 63), (uint32_t)place};
	return SETTLED;
}

/* Takes an event as most are: a begin, or the end of the innermost duration, later than the thread's last; any other
 * event changes nothing. False where it is not: then nothing has been done. */
INLINE bool take_usual(struct stack *stack, const struct shape *shape, uint32_t name, uint64_t ticks, size_t place)
{
	struct begun *const next = stack->next;
	const uint64_t last = stack->last;
	if (((next[-1].name ^ name) & shape->end) || (ticks | shape->other) < last || next == stack->begun + DEPTH)
		return false;
	*next = (struct begun){name, (uint32_t)place};
	stack->next = next + shape->deeper;
	stack->last = (last & shape->other) | (ticks & ~shape->other);
	return true;
}

/* A row of records that is being skimmed. */
struct run {
	struct fxt_skimmer *skimmer;
	uint64_t all_ticks; /* all tick counts, or-ed: none is greater */
	size_t left_count;
	size_t last; /* place of the last one */
};

/* Takes an event, but for its arguments. False where the leap must end before it. */
INLINE bool take_event(struct run *run, const struct shape *shape, uint64_t header, uint64_t ticks, size_t place)
{
	struct fxt_skimmer *const skimmer = run->skimmer;
	const size_t thread = tw_bits(header, 24, 31);
	struct stack *const stack = &skimmer->stacks[thread];
	if (thread == 0)
		return false;
	skimmer->left[run->left_count] = (uint32_t)place;
	run->left_count += shape->operation;
	if (!take_usual(stack, shape, (uint32_t)(header >> 48), ticks, place)) {
		enum taken taken = take_unusual(stack, header, ticks, place);
		if (taken == NOT_TAKEN)
			return false;
		run->left_count += taken == LEFT;
	}
	stack->events++;
	skimmer->used[header >> 48] = true;
	skimmer->used[(uint16_t)(header >> 32)] = true;
	return true;
}

/* Takes records that begin before `limit`; returns the place of the first that it could not take, or that begins there
 * or behind. Events with arguments are listed, to be looked at later: which ones have some cannot be predicted. */
INLINE size_t take_some(struct run *run, const uint8_t *start, size_t place, size_t limit, size_t end, bool big)
{
	static const uint64_t inline_bits = FXT_BITS(47, 47) | FXT_BITS(63, 63),
			      more_bits = FXT_BITS(6, 15) | FXT_BITS(20, 23);
	uint32_t *const doubts = run->skimmer->doubts.places;
	size_t doubt_count = 0, size;
	for (; place < limit; place += size) {
		const uint8_t *const bytes = start + place;
		const uint64_t header = tw_load64(bytes, big), ticks = tw_load64(bytes + TW_FXT_WORD, big);
		size = tw_bits(header, 4, 15) * TW_FXT_WORD;
		if (size - 2 * TW_FXT_WORD > end - place - 2 * TW_FXT_WORD)
			break;
		if ((header & (FXT_BITS(0, 3) | inline_bits)) == TW_FXT_TYPE_EVENT) {
			const bool more = header & more_bits;
			const struct shape *shape =
			    &shapes[more ? FXT_SHAPES + tw_bits(header, 16, 19) : fxt_shape(header)];
			if (!is_within(shape, bytes, size, ticks, big) || !take_event(run, shape, header, ticks, place))
				break;
			doubts[doubt_count] = (uint32_t)place;
			doubt_count += more;
		} else if (take_switch(run->skimmer, bytes, header, big)) {
			run->skimmer->stacks[0].events++;
		} else {
			break;
		}
		run->all_ticks |= ticks;
		run->last = place;
	}
	run->skimmer->doubts.count = doubt_count;
	return place;
}

/* Checks the arguments of listed events. False where one is wrong. */
static bool settle_doubts(struct fxt_skimmer *skimmer, const struct fxt_chunk *chunk, bool big)
{
	struct fxt_doubts *doubts = &skimmer->doubts;
	uint32_t sorted[FXT_DOUBTS], from[FXT_ARGUMENT_COUNTS + 1];
	fxt_doubts_sort(doubts, chunk, big, sorted, from);
	for (unsigned n = 0; n < FXT_ARGUMENT_COUNTS; n++)
		for (uint32_t i = from[n]; i < from[n + 1]; i++)
			if (!has_right_arguments(skimmer, chunk->bytes + sorted[i], n, big))
				doubts->wrong = sorted[i] < doubts->wrong ? sorted[i] : doubts->wrong;
	doubts->count = 0;
	return doubts->wrong == SIZE_MAX;
}

/* Takes records up to `end`; returns the place behind them. Where arguments are wrong, doubts.wrong is the place of the
 * first such record. */
INLINE size_t take_run(struct run *run, const struct fxt_chunk *chunk, size_t place, size_t end, bool big)
{
	const uint8_t *const start = chunk->bytes;
	struct fxt_skimmer *const skimmer = run->skimmer;
	bool on = true;
	fxt_doubts_begin(&skimmer->doubts);
	while (on && end - place >= FXT_PLAIN_MAX * TW_FXT_WORD) {
		size_t limit = (size_t)(fxt_doubts_limit(&skimmer->doubts, start + place, start + end) - start);
		place = take_some(run, start, place, limit, end, big);
		on = settle_doubts(skimmer, chunk, big) && place >= limit;
	}
	return place;
}

/* ---- What is kept of a leap. ---- */

static bool keep_names(struct fxt_skim *skim, struct fxt_skimmer *skimmer)
{
	for (size_t i = 0; i < REFERENCES; i += sizeof(uint64_t)) {
		uint64_t some;
		memcpy(&some, &skimmer->used[i], sizeof some);
		for (size_t k = i; some && k < i + sizeof some; k++) {
			if (!skimmer->used[k])
				continue;
			if (!tw_grow(&skim->names, &skim->name_room, skim->name_count + 1, sizeof *skim->names))
				return false;
			skim->names[skim->name_count++] = (struct fxt_skim_name){.reference = (uint32_t)k};
		}
	}
	return true;
}

/* Keeps what a step will need: now the record's bytes are in a near cache. */
static bool keep_left(struct fxt_chunk *chunk, const struct fxt_leap *leap, size_t place)
{
	struct fxt_skim *skim = &chunk->skim;
	if (!tw_extend(&skim->left, &skim->left_room, skim->left_count + 1, sizeof *skim->left))
		return false;
	const uint8_t *bytes = chunk->bytes + place;
	uint64_t header = tw_load64(bytes, leap->big);
	skim->left[skim->left_count++] = (struct fxt_skim_left){
	    .header = header,
	    .ticks = tw_load64(bytes + TW_FXT_WORD, leap->big),
	    .word = tw_load64(bytes + (tw_bits(header, 4, 15) - 1) * TW_FXT_WORD, leap->big),
	    .place = (uint32_t)place,
	};
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
		kept = keep_left(chunk, leap, begun->place);
	return kept;
}

/* Keeps all threads, and adds up the number of records. */
static bool keep_threads(struct fxt_chunk *chunk, struct fxt_leap *leap, const struct fxt_skimmer *skimmer)
{
	bool kept = true;
	leap->count = skimmer->stacks[0].events;
	for (uint32_t i = 1; i < THREADS && kept; i++) {
		const struct stack *stack = &skimmer->stacks[i];
		leap->count += stack->events;
		kept = stack->events == 0 || keep_thread(chunk, leap, stack, i);
	}
	return kept;
}

static void clear(struct fxt_skimmer *skimmer)
{
	for (size_t i = 0; i < THREADS; i++) {
		struct stack *stack = &skimmer->stacks[i];
		stack->events = 0;
		stack->first = stack->last = UINT64_MAX;
		stack->begun[0].name = UINT32_MAX;
		stack->next = stack->begun + 1;
	}
	memset(skimmer->used, 0, sizeof skimmer->used);
}

/* Makes a thread's tables ready for a leap of so many bytes; NULL when there is no memory. */
static struct fxt_skimmer *prepare(struct fxt_scratch *scratch, size_t bytes)
{
	enum { LEAST = 2 * TW_FXT_WORD }; /* bytes of a record */
	if (!scratch->skimmer)
		scratch->skimmer = calloc(1, sizeof *scratch->skimmer);
	struct fxt_skimmer *skimmer = scratch->skimmer;
	if (!skimmer || !tw_extend(&skimmer->left, &skimmer->left_room, bytes / LEAST + 1, sizeof *skimmer->left))
		return NULL;
	return skimmer;
}

/* Skims the leap up to `end`. */
static void skim_to(struct run *run, const struct fxt_chunk *chunk, struct fxt_leap *leap, size_t end)
{
	clear(run->skimmer);
	*run = (struct run){.skimmer = run->skimmer};
	leap->to =
	    leap->big ? take_run(run, chunk, leap->from, end, true) : take_run(run, chunk, leap->from, end, false);
}

void fxt_skim(struct fxt_chunk *chunk, struct fxt_leap *leap, struct fxt_scratch *scratch)
{
	struct fxt_skim *skim = &chunk->skim;
	struct run run = {.skimmer = prepare(scratch, chunk->end - leap->from)};
	if (!run.skimmer)
		return;
	skim_to(&run, chunk, leap, chunk->end);
	if (run.skimmer->doubts.wrong != SIZE_MAX)
		skim_to(&run, chunk, leap, run.skimmer->doubts.wrong); /* what stands before it is right */
	leap->last = run.last;
	skim->ticks = run.all_ticks;
	bool kept = keep_names(skim, run.skimmer);
	for (size_t i = 0; i < run.left_count && kept; i++)
		kept = keep_left(chunk, leap, run.skimmer->left[i]);
	if (!kept || !keep_threads(chunk, leap, run.skimmer))
		leap->count = 0;
}

void fxt_skimmer_free(struct fxt_skimmer *skimmer)
{
	if (skimmer)
		free(skimmer->left);
	free(skimmer);
}

/* ---- When the walk has come by: what references mean. ---- */

static bool find_names(struct fxt_chunk *chunk, uint64_t offset)
{
	struct fxt_skim *skim = &chunk->skim;
	bool found = true;
	for (size_t i = 0; i < skim->name_count && found; i++)
		found = fxt_known_number(chunk, skim->names[i].reference, offset, &skim->names[i].number);
	return found;
}

/* Whether all threads are registered, each with a track of its own; makes piles for them. */
static bool find_threads(struct fxt_chunk *chunk, uint64_t offset)
{
	struct fxt_skim *skim = &chunk->skim;
	for (size_t i = 0; i < skim->thread_count; i++) {
		struct fxt_skim_thread *thread = &skim->threads[i];
		const struct fxt_entry *entry = fxt_thread_at(chunk->turn.provider, thread->index, offset);
		if (!entry || !fxt_steps_pile(&chunk->steps, entry->number))
			return false;
		thread->track = entry->number;
		for (size_t k = 0; k < i; k++)
			if (skim->threads[k].track == thread->track)
				return false;
	}
	return true;
}

/* Whether nothing else keeps the leap from counting: provider and clock are known or reported, rows have times, and no
 * time is beyond 64 bits. */
static bool is_right(const struct fxt_chunk *chunk, const struct fxt_piece *piece)
{
	bool told = (chunk->turn.initialized || chunk->told_clock) && (chunk->turn.announced || chunk->told_provider);
	bool timed = chunk->timed ? chunk->untimed == 0 : chunk->slab.count == 0;
	return told && timed && !piece->odd && chunk->first_without > LONGEST &&
	       chunk->skim.ticks < chunk->first_without - LONGEST;
}

/* Adds a step that is not settled: of an operation, a begin without its end, or an end without its begin. */
static void add_left(struct fxt_chunk *chunk, const struct fxt_skim_left *left, const uint32_t *tracks)
{
	struct fxt_steps *steps = &chunk->steps;
	struct fxt_step *step = fxt_steps_next(steps);
	uint64_t offset = fxt_offset(chunk, left->place);
	uint32_t category, name, track = tracks[tw_bits(left->header, 24, 31)];
	fxt_known_number(chunk, (unsigned)tw_bits(left->header, 32, 47), offset, &category);
	fxt_known_number(chunk, (unsigned)tw_bits(left->header, 48, 63), offset, &name);
	*step = (struct fxt_step){
	    .time = tw_ticks_ns(&chunk->clock, left->ticks),
	    .key = name,
	    .track = track,
	    .place = left->place,
	    .type = (uint32_t)tw_bits(left->header, 16, 19),
	};
	if (step->type < FXT_ASYNC_BEGIN) {
		fxt_steps_add_duration(steps, fxt_steps_pile(steps, track));
		return;
	}
	step->key = fxt_operation_key(category, name, left->word);
	fxt_steps_add(steps);
}

static bool has_durations(const struct fxt_skim_thread *thread)
{
	return thread->last != UINT64_MAX;
}

/* Settled durations must not begin before what piles have from records before the leap: else nothing is settled. */
static void join_before(struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->skim.thread_count; i++) {
		const struct fxt_skim_thread *thread = &chunk->skim.threads[i];
		const struct fxt_pile *pile = fxt_steps_pile(&chunk->steps, thread->track);
		if (has_durations(thread) && pile->first != UINT64_MAX)
			chunk->steps.mixed |= tw_ticks_ns(&chunk->clock, thread->first) < pile->last;
	}
}

/* Adds the times of settled durations to their piles. */
static void join_after(struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->skim.thread_count; i++) {
		const struct fxt_skim_thread *thread = &chunk->skim.threads[i];
		struct fxt_pile *pile = fxt_steps_pile(&chunk->steps, thread->track);
		if (!has_durations(thread))
			continue;
		uint64_t first = tw_ticks_ns(&chunk->clock, thread->first);
		uint64_t last = tw_ticks_ns(&chunk->clock, thread->last);
		pile->last = pile->first == UINT64_MAX || last > pile->last ? last : pile->last;
		pile->first = first < pile->first ? first : pile->first;
	}
}

bool fxt_skim_take(struct fxt_chunk *chunk, const struct fxt_piece *piece)
{
	struct fxt_skim *skim = &chunk->skim;
	uint64_t offset = fxt_offset(chunk, piece->from);
	uint32_t tracks[THREADS];
	if (!is_right(chunk, piece) || !find_names(chunk, offset) || !find_threads(chunk, offset) ||
	    !fxt_steps_reserve(&chunk->steps, skim->left_count))
		return false;
	for (size_t i = 0; i < skim->thread_count; i++)
		tracks[skim->threads[i].index] = skim->threads[i].track;
	skim->from = chunk->steps.count;
	join_before(chunk);
	for (size_t i = 0; i < skim->left_count; i++)
		add_left(chunk, &skim->left[i], tracks);
	join_after(chunk);
	skim->to = chunk->steps.count;
	fxt_set_time(chunk,
	             tw_ticks_ns(&chunk->clock, tw_load64(chunk->bytes + chunk->leap.last + TW_FXT_WORD, chunk->big)));
	skim->clock = chunk->clock;
	return true;
}

/* ---- All steps, settled ones too. ---- */

/* The numbers of the names and tracks that a leap refers to. */
struct meaning {
	uint32_t names[REFERENCES], tracks[THREADS];
};

static struct meaning *meaning_of(const struct fxt_skim *skim)
{
	struct meaning *meaning = malloc(sizeof *meaning);
	if (!meaning)
		return NULL;
	for (size_t i = 0; i < skim->name_count; i++)
		meaning->names[skim->names[i].reference] = skim->names[i].number;
	for (size_t i = 0; i < skim->thread_count; i++)
		meaning->tracks[skim->threads[i].index] = skim->threads[i].track;
	return meaning;
}

static int compare_places(const void *left, const void *right)
{
	const struct fxt_step *a = left, *b = right;
	return (a->place > b->place) - (a->place < b->place);
}

/* Adds the steps of the leap in the order of the records: copies of those in `left`, and new ones for settled pairs. */
static void add_all(struct fxt_chunk *chunk, struct fxt_step *left, size_t count, const struct meaning *meaning)
{
	struct fxt_skim *skim = &chunk->skim;
	struct fxt_steps *steps = &chunk->steps;
	uint64_t header;
	if (count)
		qsort(left, count, sizeof *left, compare_places);
	for (size_t place = chunk->leap.from; place < chunk->leap.to; place += tw_bits(header, 4, 15) * TW_FXT_WORD) {
		header = tw_load64(chunk->bytes + place, chunk->leap.big);
		unsigned type = (unsigned)tw_bits(header, 16, 19);
		struct fxt_step *step = &steps->all[steps->count];
		if (count && left->place == place) {
			*step = *left++;
			count--;
		} else if (fxt_type(header) == TW_FXT_TYPE_EVENT && (type == FXT_BEGIN || type == FXT_END)) {
			*step = (struct fxt_step){
			    .time = tw_ticks_ns(&skim->clock,
			                        tw_load64(chunk->bytes + place + TW_FXT_WORD, chunk->leap.big)),
			    .key = meaning->names[tw_bits(header, 48, 63)],
			    .track = meaning->tracks[tw_bits(header, 24, 31)],
			    .place = (uint32_t)place,
			    .type = type,
			};
		} else {
			continue;
		}
		steps->count++;
	}
}

/* Adds all steps to piles and lists once more, which pairs begins with ends. */
static void pair_up(struct fxt_steps *steps)
{
	size_t count = steps->count;
	steps->loose_count = steps->pile_count = 0;
	tw_map_clear(&steps->by_track);
	steps->count = 1;
	while (steps->count < count && !steps->failed) {
		const struct fxt_step *step = fxt_steps_next(steps);
		if (step->type == FXT_BEGIN || step->type == FXT_END) {
			struct fxt_pile *pile = fxt_steps_pile(steps, step->track);
			if (pile)
				fxt_steps_add_duration(steps, pile);
		} else {
			fxt_steps_add(steps);
		}
	}
}

void fxt_skim_expand(struct fxt_chunk *chunk)
{
	enum { LEAST = 2 * TW_FXT_WORD }; /* bytes of a record */
	struct fxt_skim *skim = &chunk->skim;
	struct fxt_steps *steps = &chunk->steps;
	if (skim->from == 0)
		return;
	size_t behind = steps->count - skim->from, left = skim->to - skim->from;
	struct meaning *meaning = meaning_of(skim);
	struct fxt_step *copy = malloc((behind + 1) * sizeof *copy);
	if (!meaning || !copy || !fxt_steps_reserve(steps, (chunk->leap.to - chunk->leap.from) / LEAST)) {
		steps->failed = true;
	} else {
		memcpy(copy, steps->all + skim->from, behind * sizeof *copy);
		steps->count = skim->from;
		add_all(chunk, copy, left, meaning);
		memcpy(steps->all + steps->count, copy + left, (behind - left) * sizeof *copy);
		steps->count += behind - left;
		pair_up(steps);
	}
	skim->from = 0;
	free(meaning);
	free(copy);
}
