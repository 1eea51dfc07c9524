/* plain.c - records of which all that matters stands where their headers tell: the fast path of rows and of checking. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "fxt/chunk.h"

/* The document, "Context Switch Record" and "Instant event". */
enum { STATE_RUNNING = 1, STATE_MAX = 5, SCOPE_MAX = 2 };

#define INLINE static inline __attribute__((always_inline)) /* so that `big` is a constant */

/* What a run of records keeps at hand. */
struct run {
	struct fxt_chunk *chunk;
	const struct fxt_wish *wish;
	struct fxt_provider *provider;
	struct tw_ticks clock;
	uint64_t first_without; /* the least tick count whose time is beyond 64 bits */
	uint64_t ticks;         /* of the last record */
	bool timed;             /* there was one */
	bool clear; /* provider and clock of the turn are told, or it has been said that they are not; or nobody asks */
	bool exact; /* all that headers say adds up to sizes, and nothing is unknown */
	unsigned index; /* of the last thread */
	const struct fxt_entry *thread;
	struct fxt_step *step; /* where the next goes; NULL: rows are asked for */
};

/* What an event leads to, besides its thread. */
struct names {
	uint32_t category, name;
};

/* False where something is inline, or not defined. */
INLINE bool find(struct run *run, uint64_t header, uint64_t offset, struct names *names)
{
	unsigned index = (unsigned)tw_bits(header, 24, 31);
	if (index != run->index) {
		run->index = index;
		run->thread = index ? fxt_thread_at(run->provider, index, offset) : NULL;
	}
	return run->thread &&
	       fxt_known_number(run->chunk, (unsigned)tw_bits(header, 32, 47), offset, &names->category) &&
	       fxt_known_number(run->chunk, (unsigned)tw_bits(header, 48, 63), offset, &names->name);
}

/* ---- Rules. ---- */

static bool is_number(unsigned type)
{
	return type >= TW_FXT_ARG_INT32 && type <= TW_FXT_ARG_DOUBLE;
}

/* Words of the arguments from a word of a record on, which are known to fill it; 0 where they must be looked at: one has a text in
 * it, or leads nowhere, or `numbers` are asked for and it is none. */
INLINE size_t arguments_words(const struct run *run, size_t place, size_t from, uint64_t count, bool numbers, bool big)
{
	size_t at = from;
	uint64_t offset = fxt_offset(run->chunk, place);
	for (uint32_t unused; count > 0; count--) {
		uint64_t header = tw_load64(run->chunk->bytes + place + at * TW_FXT_WORD, big);
		unsigned type = fxt_type(header);
		bool text = type == TW_FXT_ARG_STRING;
		if ((numbers && !is_number(type)) || type >= TW_FXT_ARG_BLOB ||
		    !fxt_known_number(run->chunk, (unsigned)tw_bits(header, 16, 31), offset, &unused) ||
		    (text && !fxt_known_number(run->chunk, (unsigned)tw_bits(header, 32, 47), offset, &unused)))
			return 0;
		at += (size_t)tw_bits(header, 4, 15);
	}
	return at - from;
}

/* Whether an event of a kind with this time and last word keeps the rules of its kind. */
INLINE bool is_right(unsigned kind, uint64_t header, uint64_t ticks, uint64_t word)
{
	if (kind == TW_INSTANT)
		return word <= SCOPE_MAX;
	if (kind == TW_SLICE_COMPLETE)
		return word >= ticks;
	return kind != TW_COUNTER || tw_bits(header, 20, 23) != 0;
}

/* ---- Events. ---- */

/* Words before what stands behind the arguments; 0 where they must be looked at. */
INLINE size_t words_before(const struct run *run, uint64_t header, size_t place, bool big)
{
	uint64_t count = tw_bits(header, 20, 23);
	if (count == 0)
		return 2;
	bool counter = tw_bits(header, 16, 19) == TW_FXT_COUNTER - TW_FXT_INSTANT;
	size_t more = run->exact && run->wish->findings ? arguments_words(run, place, 2, count, counter, big) : 0;
	return more ? 2 + more : 0;
}

INLINE void add_row(struct run *run, size_t place, unsigned kind, const struct names *names, uint64_t ticks,
                    uint64_t word)
{
	bool instant = kind == TW_INSTANT, complete = kind == TW_SLICE_COMPLETE;
	uint64_t time = tw_ticks_ns(&run->clock, ticks);
	fxt_set_time(run->chunk, time);
	struct tw_event *row = tw_slab_next(&run->chunk->slab);
	if (!row)
		return;
	row->time = time;
	row->offset = fxt_offset(run->chunk, place);
	row->value = complete ? tw_ticks_ns(&run->clock, word) - time : 0;
	row->id = kind >= TW_COUNTER && !complete ? word : 0;
	row->track = run->thread->number;
	row->name = names->name;
	row->category = names->category;
	row->other = 0;
	row->kind = (uint8_t)kind;
	row->cpu = 0;
	row->flags = instant ? fxt_scope_flags(word) : 0;
}

/* Records are of two words or more: there is room. */
INLINE void add_step(struct run *run, size_t place, unsigned kind, const struct names *names, uint64_t ticks,
                     uint64_t word)
{
	bool slice = kind <= TW_SLICE_END;
	uint64_t key =
	    slice ? (uint64_t)names->name * FXT_STEP_KINDS : fxt_operation_key(names->category, names->name, word);
	*run->step++ = (struct fxt_step){
	    .time = tw_ticks_ns(&run->clock, ticks),
	    .what = key | kind,
	    .track = run->thread->number,
	    .place = (uint32_t)place,
	};
}

INLINE bool take_event(struct run *run, uint64_t header, size_t place, bool big)
{
	static const uint8_t extra[FXT_TYPES] = {0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1};
	unsigned type = (unsigned)tw_bits(header, 16, 19), kind = fxt_event_kinds[type];
	bool looked_at = run->wish->kinds >> kind & 1;
	struct names names;
	size_t before = words_before(run, header, place, big), size = (size_t)tw_bits(header, 4, 15);
	/* An instant may have its scope. */
	if (!before || type > TW_FXT_FLOW_END - TW_FXT_INSTANT || size - before - extra[type] > (type == 0))
		return false;
	if (!looked_at && !run->wish->check)
		return true;
	const uint8_t *bytes = run->chunk->bytes + place;
	uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big);
	uint64_t word = size > before ? tw_load64(bytes + (size - 1) * TW_FXT_WORD, big) : 0;
	bool complete = kind == TW_SLICE_COMPLETE;
	if (!run->clear || ticks >= run->first_without || (complete && word >= run->first_without) ||
	    !is_right(kind, header, ticks, word) || !find(run, header, fxt_offset(run->chunk, place), &names))
		return false;
	if (!run->thread->wanted)
		return true;
	run->ticks = ticks;
	run->timed = true;
	if (looked_at && run->step)
		add_step(run, place, kind, &names, ticks, word);
	else if (looked_at)
		add_row(run, place, kind, &names, ticks, word);
	return true;
}

/* ---- Context switches and wake-ups, of which no row is asked for. ---- */

INLINE bool check_switch(struct run *run, uint64_t header, size_t place, bool big)
{
	uint64_t kind = tw_bits(header, 60, 63), state = tw_bits(header, 36, 39), count = tw_bits(header, 16, 19);
	uint64_t ticks = tw_load64(run->chunk->bytes + place + TW_FXT_WORD, big);
	bool right = kind == 2 || (kind == 1 && state != STATE_RUNNING && state <= STATE_MAX);
	if (!right || !run->clear || run->wish->options->thread_count || ticks >= run->first_without)
		return false;
	if (count && !arguments_words(run, place, kind == 1 ? 4 : 3, count, false, big))
		return false;
	run->ticks = ticks;
	run->timed = true;
	return true;
}

/* ---- Runs. ---- */

INLINE size_t take_run(struct run *start, size_t place, size_t end, bool big)
{
	struct run run = *start;
	bool switches = run.exact && run.wish->findings;
	while (place < end) {
		uint64_t header = tw_load64(run.chunk->bytes + place, big);
		bool event = fxt_type(header) == TW_FXT_TYPE_EVENT;
		if (!event && !(switches && fxt_type(header) == TW_FXT_TYPE_SCHEDULING))
			break;
		if (event ? !take_event(&run, header, place, big) : !check_switch(&run, header, place, big))
			break;
		place += (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	if (run.timed)
		fxt_set_time(run.chunk, tw_ticks_ns(&run.clock, run.ticks));
	run.chunk->clock = run.clock;
	if (run.step)
		run.chunk->steps.count = (size_t)(run.step - run.chunk->steps.steps);
	return place;
}

/* Where the next step of a chunk goes; NULL where rows are asked for. */
static struct fxt_step *make_room(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t size)
{
	struct fxt_steps *steps = &chunk->steps;
	if (!wish->findings)
		return NULL;
	if (tw_grow(&steps->steps, &steps->room, steps->count + size / (2 * TW_FXT_WORD) + 1, sizeof *steps->steps))
		return steps->steps + steps->count;
	chunk->failed = true;
	return NULL;
}

size_t fxt_take_plain(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, const struct fxt_piece *piece)
{
	bool told = (chunk->turn.initialized || chunk->told_clock) && (chunk->turn.announced || chunk->told_provider);
	struct run run = {
	    .chunk = chunk,
	    .wish = wish,
	    .provider = chunk->turn.provider,
	    .clock = chunk->clock,
	    .first_without = tw_ticks_of(UINT64_MAX, chunk->clock.frequency),
	    .clear = told || !wish->check,
	    .exact = !piece->odd,
	    .index = UINT_MAX,
	    .step = make_room(chunk, wish, piece->to - place),
	};
	return piece->big ? take_run(&run, place, piece->to, true) : take_run(&run, place, piece->to, false);
}
