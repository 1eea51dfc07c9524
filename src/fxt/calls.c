/* calls.c - finds the begins and ends of calls in a chunk, and when threads were seen last: all that a profile needs of
 * it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/calls.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "fxt/ahead.h"
#include "fxt/doubts.h"
#include "fxt/layout.h"

#include <limits.h>
#include <stdlib.h>

void fxt_calls_clear(struct fxt_calls *calls)
{
	calls->count = calls->waiting = calls->stretch_count = calls->lane_count = calls->seen_count = 0;
	calls->by_track.count = 0;
	if (calls->by_track.slots)
		memset(calls->by_track.slots, 0, (calls->by_track.mask + 1) * sizeof *calls->by_track.slots);
	memset(calls->latest, 0, sizeof calls->latest);
}

void fxt_calls_free(struct fxt_calls *calls)
{
	if (!calls)
		return;
	free(calls->calls);
	free(calls->stretches);
	free(calls->items);
	free(calls->nested);
	free(calls->lanes);
	free(calls->seen);
	tw_map_free(&calls->by_track);
	free(calls);
}

/* ---- When threads were seen last, by events that are no calls: a call that never ends goes on until then. ---- */

static void keep_seen(struct fxt_chunk *chunk, const struct fxt_seen *seen)
{
	struct fxt_calls *calls = chunk->calls;
	if (tw_grow(&calls->seen, &calls->seen_room, calls->seen_count + 1, sizeof *calls->seen))
		calls->seen[calls->seen_count++] = *seen;
	else
		chunk->failed = true;
}

/* By a hash that is the same in each process: threads get their numbers in the order of these places. */
static inline void see(struct fxt_chunk *chunk, uint64_t koid, uint64_t time)
{
	struct fxt_seen *latest = &chunk->calls->latest[tw_mix64(koid) % FXT_SEEN];
	if (latest->koid != koid) {
		if (latest->time)
			keep_seen(chunk, latest);
		*latest = (struct fxt_seen){.koid = koid};
	}
	latest->time = time > latest->time ? time : latest->time;
}

/* ---- Stretches. ---- */

static void begin_stretch(struct fxt_chunk *chunk, uint32_t lane)
{
	struct fxt_calls *calls = chunk->calls;
	if (calls->stretch_count < calls->stretch_room ||
	    tw_grow(&calls->stretches, &calls->stretch_room, calls->stretch_count + 1, sizeof *calls->stretches))
		calls->stretches[calls->stretch_count++] = (struct fxt_stretch){lane, (uint32_t)calls->count};
	else
		chunk->failed = true;
}

/* ---- The fast path: events whose thread and names are indices, and scheduling records. It stops at the first other
 * record. `make bench` measures stat. The clock and what else seldom changes stay in the chunk: there are not registers
 * for all. ---- */

/* A row of records that the fast path takes. */
struct run {
	struct fxt_chunk *chunk;
	struct fxt_call *call;     /* where the next one goes */
	size_t before;             /* how many calls the chunk had before the run */
	const uint8_t *timed;      /* the last record with a time that is no event; NULL: there is none */
	unsigned thread;           /* index of the thread whose calls come; UINT_MAX: not known yet */
	bool wanted;               /* the options let that thread through */
	uint32_t usual;            /* USUAL_BITS of the header of an event of that thread */
	struct fxt_doubts *doubts; /* NULL: the walk has checked the records */
	const uint8_t *last;       /* a record taken, from which it is not far to the last one; NULL: there is none */
};

/* The bits of a header that tell whether it is an event of the same thread as the one before. */
#define USUAL_BITS ((uint32_t)(FXT_BITS(0, 3) | FXT_BITS(24, 31)))

/* Notes when a thread was seen, by its index, which keeps its meaning to the end of the run. */
static inline void see_going_on(struct fxt_calls *calls, unsigned index, uint64_t ticks)
{
	uint64_t *went_on = &calls->went_on[index / 64], bit = 1ull << index % 64;
	uint64_t latest = *went_on & bit ? calls->latest_ticks[index] : 0;
	calls->latest_ticks[index] = ticks > latest ? ticks : latest;
	*went_on |= bit;
}

static void set_last(struct fxt_lane *lane, uint64_t time)
{
	if (lane && time > lane->last)
		lane->last = time;
}

/* Tells the lanes when their threads were seen last in the run that began at a place. */
static void keep_going_on(struct fxt_chunk *chunk, size_t place)
{
	struct fxt_calls *calls = chunk->calls;
	for (unsigned i = 0; i < FXT_THREAD_REFERENCES / 64; i++)
		for (; calls->went_on[i]; calls->went_on[i] &= calls->went_on[i] - 1) {
			unsigned index = i * 64 + (unsigned)__builtin_ctzll(calls->went_on[i]);
			const struct fxt_entry *entry =
			    fxt_thread_at(chunk->turn.provider, index, fxt_offset(chunk, place));
			if (!entry || entry->wanted) /* threads that are not registered are track 0 */
				set_last(fxt_lane_of(chunk, entry ? entry->number : 0),
				         tw_ticks_ns(&chunk->clock, calls->latest_ticks[index]));
		}
}

/* What the options and the tables say of a thread, instead of a lane. */
static const uint32_t UNWANTED = UINT32_MAX, UNKNOWN = UINT32_MAX - 1;

/* Forgets what calls are called when the references in their headers may mean something else. */
static void begin_called(struct fxt_memo *memo)
{
	if (memo->called_epoch == memo->pair_epoch)
		return;
	memset(memo->called, 0, sizeof memo->called);
	memo->called_epoch = memo->pair_epoch;
}

/* The number of a thread's lane, whose calls come; UNKNOWN where the thread is inline or not registered. */
static __attribute__((noinline)) uint32_t find_lane(struct fxt_chunk *chunk, unsigned index, const uint8_t *bytes)
{
	uint64_t offset = fxt_offset(chunk, (size_t)(bytes - chunk->bytes));
	const struct fxt_entry *entry = index ? fxt_thread_at(chunk->turn.provider, index, offset) : NULL;
	const struct fxt_lane *lane = entry && entry->wanted ? fxt_lane_of(chunk, entry->number) : NULL;
	begin_called(chunk->memo);
	if (!lane)
		return entry ? UNWANTED : UNKNOWN;
	return (uint32_t)(lane - chunk->calls->lanes);
}

/* The same, looked up once in a run. */
static inline uint32_t lane_of_thread(struct fxt_chunk *chunk, unsigned index, const uint8_t *bytes)
{
	struct fxt_calls *calls = chunk->calls;
	uint64_t *met = &calls->met[index / 64], bit = 1ull << index % 64;
	if (!(*met & bit))
		calls->lane_of_thread[index] = find_lane(chunk, index, bytes);
	*met |= bit;
	return calls->lane_of_thread[index];
}

/* Begins a stretch of another thread's calls. False where the thread is inline or not registered. */
static inline bool set_thread(struct run *run, unsigned index, const uint8_t *bytes)
{
	struct fxt_chunk *chunk = run->chunk;
	uint32_t lane = lane_of_thread(chunk, index, bytes);
	run->wanted = lane < UNKNOWN;
	run->thread = lane != UNKNOWN ? index : UINT_MAX;
	run->usual = TW_FXT_TYPE_EVENT | index << 24;
	if (run->wanted) {
		chunk->calls->count = (size_t)(run->call - chunk->calls->calls);
		begin_stretch(chunk, lane);
	}
	return lane != UNKNOWN;
}

/* The names of a call; NULL where the name is inline or not registered. The category may be inline: profiles do not use
 * it. */
static __attribute__((noinline)) const struct fxt_pair *look_up(struct fxt_chunk *chunk, uint64_t header,
                                                                const uint8_t *bytes)
{
	const bool is_inline = tw_bits(header, 47, 47);
	header &= is_inline ? ~FXT_BITS(32, 47) : UINT64_MAX;
	const struct fxt_pair *names = fxt_known_pair(chunk, header);
	if (!names)
		names = fxt_look_up_pair(chunk, header, (size_t)(bytes - chunk->bytes));
	if (names && !is_inline)
		chunk->memo->called[tw_bits(header, 48, 63) % FXT_KNOWN] =
		    (struct fxt_called){(uint32_t)(header >> 32), names->name};
	return names;
}

/* When a call begins and when it ends. */
struct times {
	uint64_t begin, end;
};

static __attribute__((noinline)) struct times far_times(struct fxt_chunk *chunk, uint64_t begin, uint64_t end)
{
	uint64_t time = tw_ticks_ns(&chunk->clock, begin);
	return (struct times){time, tw_ticks_ns(&chunk->clock, end)};
}

static inline struct times times_of(struct fxt_chunk *chunk, uint64_t begin, uint64_t end)
{
	const struct tw_ticks *clock = &chunk->clock;
	uint64_t first = begin - clock->base_tsc, last = end - clock->base_tsc;
	if (__builtin_expect((first > clock->near) | (last > clock->near), 0))
		return far_times(chunk, begin, end);
	return (struct times){tw_ticks_ns_after(clock, first, clock->whole),
	                      tw_ticks_ns_after(clock, last, clock->whole)};
}

/* The place in a record of the time at which the call ends; of a begin or an end, of its time. */
static inline size_t end_place(uint64_t header, unsigned kind)
{
	return kind == TW_CALL_COMPLETE ? (tw_bits(header, 4, 15) - 1) * TW_FXT_WORD : TW_FXT_WORD;
}

/* What take_usual() must know of each type of event. */
static const struct {
	uint32_t complete[FXT_TYPES]; /* mask: its last word is the time at which it ends */
	uint32_t mark[FXT_TYPES];     /* of the kind of call */
	uint32_t bytes[FXT_TYPES];    /* how far the next call is from this one; 0: it is no call, and its place is used
	                            * again */
	uint32_t plain[FXT_TYPES]; /* the header's type of event, size and number of arguments when it has none; where
	                            * it always has some: what no header has */
} types = {
#define CALL sizeof(struct fxt_call)
#define PLAIN(type, words) [type] = (type) << 16 | (words) << 4
    .complete = {[FXT_COMPLETE] = UINT32_MAX},
    .mark = {[FXT_BEGIN] = FXT_MARK_BEGIN, [FXT_COMPLETE] = FXT_MARK_COMPLETE},
    .bytes = {[FXT_BEGIN] = CALL, [FXT_END] = CALL, [FXT_COMPLETE] = CALL},
    .plain = {PLAIN(FXT_INSTANT, 2), PLAIN(FXT_BEGIN, 2), PLAIN(FXT_END, 2), PLAIN(FXT_COMPLETE, 3),
              PLAIN(FXT_ASYNC_BEGIN, 3), PLAIN(FXT_ASYNC_INSTANT, 3), PLAIN(FXT_ASYNC_END, 3), PLAIN(FXT_FLOW_BEGIN, 3),
              PLAIN(FXT_FLOW_STEP, 3), PLAIN(FXT_FLOW_END, 3)},
#undef PLAIN
#undef CALL
};

/* Takes events of the current thread whose names were looked up lately, as most are. The processor cannot predict which
 * of them are calls and which have arguments, so no jump depends on it: an event that is no call is written, too, and
 * the next one takes its place; events with arguments are listed, and their sizes checked later. Returns the place of
 * the first record that it could not take, or that is too near to the end. `whole` is the clock's. */
static inline __attribute__((always_inline)) const uint8_t *take_usual(struct run *run, const uint8_t *bytes,
                                                                       const uint8_t *to, bool doubting, uint64_t whole,
                                                                       bool big)
{
	struct fxt_chunk *const chunk = run->chunk;
	const struct tw_ticks clock = chunk->clock;
	const struct fxt_called *const known = chunk->memo->called;
	const uint8_t *const limit = run->wanted ? fxt_doubts_limit(run->doubts, bytes, to) : bytes,
			     *const from = bytes, *const base = chunk->bytes;
	const uint32_t usual = run->usual;
	uint32_t *doubt = doubting ? run->doubts->places + run->doubts->count : NULL;
	struct fxt_call *call = run->call;
	uint64_t latest = 0;
	while (bytes < limit) {
		const uint32_t references = tw_load32(bytes + (big ? 0 : 4), big);
		const uint32_t shape = tw_load32(bytes + (big ? 4 : 0), big) ^ usual;
		const struct fxt_called *called = &known[(references >> 16) % FXT_KNOWN];
		const size_t type = tw_bits(shape, 16, 19), size = tw_bits(shape, 4, 15) * TW_FXT_WORD;
		if ((shape & USUAL_BITS) || called->references != references)
			break;
		if (doubting && !fxt_is_there(size, bytes, to))
			break;
		const uint8_t *end = bytes + TW_FXT_WORD + ((size - 2 * TW_FXT_WORD) & types.complete[type]);
		uint64_t first = tw_load64(bytes + TW_FXT_WORD, big) - clock.base_tsc;
		uint64_t last = tw_load64(end, big) - clock.base_tsc;
		if (first > last || last > clock.near)
			break;
		/* The times come last: until then there are registers for all. */
		struct fxt_call *const made = call;
		const uint32_t place = (uint32_t)(bytes - base);
		made->name = called->name;
		made->origin = types.mark[type] | place;
		call = (struct fxt_call *)((char *)call + types.bytes[type]);
		if (doubting) {
			*doubt = place;
			doubt += shape != types.plain[type];
		}
		made->begin = tw_ticks_ns_after(&clock, first, whole);
		made->end = tw_ticks_ns_after(&clock, last, whole);
		latest = last > latest ? last : latest;
		bytes += size;
	}
	if (bytes > from) {
		see_going_on(chunk->calls, run->thread, clock.base_tsc + latest);
		run->last = from;
	}
	run->call = call;
	if (doubting)
		run->doubts->count = (size_t)(doubt - run->doubts->places);
	return bytes;
}

/* Takes a begin, end or complete event. False where it is not for the fast path. */
static inline __attribute__((always_inline)) bool take_call(struct run *run, uint64_t header, const uint8_t *bytes,
                                                            unsigned kind, bool big)
{
	struct fxt_chunk *chunk = run->chunk;
	unsigned index = (unsigned)tw_bits(header, 24, 31);
	if (__builtin_expect(index != run->thread, 0) && !set_thread(run, index, bytes))
		return false;
	const struct fxt_pair *names = look_up(chunk, header, bytes);
	if (!names || !run->wanted)
		return names;
	const uint64_t begin = tw_load64(bytes + TW_FXT_WORD, big),
		       end = tw_load64(bytes + end_place(header, kind), big);
	const struct times times = times_of(chunk, begin, end);
	if (end < begin || times.end == UINT64_MAX)
		return false;
	see_going_on(chunk->calls, index, end);
	*run->call++ = (struct fxt_call){
	    .begin = times.begin,
	    .end = times.end,
	    .name = names->name,
	    .origin = fxt_origin(kind, (size_t)(bytes - chunk->bytes)),
	};
	return true;
}

/* Takes an event that is no call. False where its thread is inline. */
static inline __attribute__((always_inline)) bool take_other(const struct run *run, uint64_t header,
                                                             const uint8_t *bytes, bool big)
{
	unsigned index = (unsigned)tw_bits(header, 24, 31);
	if (!index)
		return false;
	see_going_on(run->chunk->calls, index, tw_load64(bytes + TW_FXT_WORD, big));
	return true;
}

/* Takes context switches and wake-ups without arguments, whose sizes are right. Returns the place of the first other
 * record. */
static inline __attribute__((always_inline)) const uint8_t *take_switches(struct run *run, const uint8_t *bytes,
                                                                          const uint8_t *to, bool big)
{
	struct fxt_chunk *chunk = run->chunk;
	for (;;) {
		const size_t left = (size_t)(to - bytes) / TW_FXT_WORD;
		const size_t words = left ? 2 + fxt_plain_koids(tw_load64(bytes, big)) : 2;
		if (words == 2 || words > left)
			return bytes;
		uint64_t time = tw_ticks_ns(&chunk->clock, tw_load64(bytes + TW_FXT_WORD, big));
		if (time == UINT64_MAX)
			return bytes;
		see(chunk, tw_load64(bytes + 2 * TW_FXT_WORD, big), time);
		run->timed = run->last = bytes;
		bytes += words * TW_FXT_WORD;
	}
}

/* Takes a context switch or a wake-up. False for any other record, the legacy context switch too. */
static __attribute__((noinline)) bool take_switch(struct fxt_chunk *chunk, uint64_t header, const uint8_t *bytes,
                                                  bool big)
{
	uint64_t type = tw_bits(header, 60, 63);
	if (fxt_type(header) != TW_FXT_TYPE_SCHEDULING || (type != FXT_SWITCH && type != FXT_WAKEUP))
		return false;
	uint64_t time = tw_ticks_ns(&chunk->clock, tw_load64(bytes + TW_FXT_WORD, big));
	see(chunk, tw_load64(bytes + 2 * TW_FXT_WORD, big), time);
	return time != UINT64_MAX;
}

/* Whether a record's header and its size agree. */
static inline __attribute__((always_inline)) bool is_right(uint64_t header, const uint8_t *bytes, const uint8_t *to,
                                                           bool big)
{
	return fxt_is_plain(header) || fxt_measure(header, bytes, (size_t)(to - bytes) / TW_FXT_WORD, big) != 0;
}

/* Takes a record that take_usual() could not. False where it is not for the fast path either. */
static inline __attribute__((always_inline)) bool take_unusual(struct run *run, uint64_t header, const uint8_t *bytes,
                                                               bool switches, bool big)
{
	unsigned kind = (unsigned)tw_bits(header, 16, 19) - FXT_BEGIN;
	if (fxt_type(header) == TW_FXT_TYPE_EVENT)
		return kind > TW_CALL_COMPLETE ? take_other(run, header, bytes, big)
		                               : take_call(run, header, bytes, kind, big);
	if (!switches || !take_switch(run->chunk, header, bytes, big))
		return false;
	run->timed = bytes;
	return true;
}

/* Whether a call of another thread comes, for take_usual(). */
static inline bool turns(struct run *run, uint64_t header, const uint8_t *bytes)
{
	unsigned kind = (unsigned)tw_bits(header, 16, 19) - FXT_BEGIN;
	unsigned index = (unsigned)tw_bits(header, 24, 31);
	return fxt_type(header) == TW_FXT_TYPE_EVENT && kind <= TW_CALL_COMPLETE && index != run->thread &&
	       set_thread(run, index, bytes) && run->wanted;
}

/* Sets the time of the last record that has one, a call or not. */
static void end_run(const struct run *run, bool big)
{
	struct fxt_chunk *chunk = run->chunk;
	struct fxt_calls *calls = chunk->calls;
	const uint8_t *timed = run->timed;
	size_t count = (size_t)(run->call - calls->calls);
	if (count > run->before) {
		const uint8_t *call = chunk->bytes + FXT_CALL_PLACE(calls->calls[count - 1].origin);
		timed = !timed || call > timed ? call : timed;
	}
	calls->count = count;
	if (timed) {
		chunk->time = tw_ticks_ns(&chunk->clock, tw_load64(timed + TW_FXT_WORD, big));
		chunk->timed = true;
	}
}

/* The place of the last record before an end, from that of another one on. */
static size_t last_before(const struct fxt_chunk *chunk, size_t place, size_t end, bool big)
{
	size_t last;
	do {
		last = place;
		place += tw_bits(tw_load64(chunk->bytes + place, big), 4, 15) * TW_FXT_WORD;
	} while (place < end);
	return last;
}

/* Takes records up to the first that is not for the fast path; returns its place. leap: NULL where the walk has checked
 * the records; otherwise they are checked here, and counted there. */
static inline __attribute__((always_inline)) size_t take_run(struct fxt_chunk *chunk, bool switches, size_t place,
                                                             size_t end, bool big, struct fxt_leap *leap,
                                                             struct fxt_doubts *doubts)
{
	struct fxt_calls *calls = chunk->calls;
	struct run run = {.chunk = chunk,
	                  .call = calls->calls + calls->count,
	                  .before = calls->count,
	                  .thread = UINT_MAX,
	                  .doubts = doubts};
	const uint8_t *bytes = chunk->bytes + place, *const to = chunk->bytes + end;
	const size_t least = leap ? FXT_PLAIN_MAX * TW_FXT_WORD : 1;
	memset(calls->met, 0, sizeof calls->met);
	for (;;) {
		const uint64_t whole = chunk->clock.whole;
		bytes = whole
		            ? take_usual(&run, bytes, to, leap != NULL, whole, big)
		            : take_usual(&run, bytes, to, leap != NULL, 0, big); /* most ticks are shorter than that */
		if (leap && doubts->count == FXT_DOUBTS && !fxt_doubts_settle(doubts, chunk, big))
			break;
		const uint8_t *const from = bytes;
		if (switches)
			bytes = take_switches(&run, bytes, to, big);
		if ((size_t)(to - bytes) < least)
			break;
		const uint64_t header = tw_load64(bytes, big);
		if (turns(&run, header, bytes) || bytes != from)
			continue;
		if ((leap && !is_right(header, bytes, to, big)) || !take_unusual(&run, header, bytes, switches, big))
			break;
		run.last = bytes;
		bytes += tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	end_run(&run, big);
	keep_going_on(chunk, place);
	if (leap && run.last) {
		leap->last = last_before(chunk, (size_t)(run.last - chunk->bytes), (size_t)(bytes - chunk->bytes), big);
		leap->count = 1;
	}
	return (size_t)(bytes - chunk->bytes);
}

/* ---- All other records: they become rows, and a call waits until its row is committed. ---- */

/* Makes room for as many calls as a chunk of usual size can have. What is not used of it takes no memory. */
static void begin_room(const struct fxt_chunk *chunk)
{
	struct fxt_calls *calls = chunk->calls;
	calls->room = chunk->room / (2 * TW_FXT_WORD) + 1;
	calls->calls = malloc(calls->room * sizeof *calls->calls);
	calls->room = calls->calls ? calls->room : 0;
}

/* Makes sure that there is room for as many more calls as there can be records between two places. */
static bool make_room(struct fxt_chunk *chunk, size_t from, size_t to)
{
	enum { LEAST = 2 * TW_FXT_WORD }; /* bytes of a call */
	struct fxt_calls *calls = chunk->calls;
	size_t need = calls->count + (to - from) / LEAST + 1;
	if (!calls->calls)
		begin_room(chunk);
	bool room =
	    (calls->calls && need <= calls->room) || tw_grow(&calls->calls, &calls->room, need, sizeof *calls->calls);
	chunk->failed |= !room;
	return room;
}

static void add_waiting(struct fxt_chunk *chunk, const struct tw_event *row, size_t place)
{
	struct fxt_calls *calls = chunk->calls;
	if (!make_room(chunk, place, place))
		return;
	begin_stretch(chunk, UINT32_MAX);
	calls->waiting++;
	calls->calls[calls->count++] = (struct fxt_call){
	    .begin = row->time,
	    .end = row->time + (row->kind == TW_SLICE_COMPLETE ? row->value : 0),
	    .name = (uint32_t)(row - chunk->slab.events),
	    .origin = fxt_origin(row->kind, place),
	};
}

/* Returns the record's size, as far as it is in the chunk. */
static size_t take_record(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	const struct tw_slab *slab = &chunk->slab;
	size_t rows = slab->count, size = fxt_take_record(chunk, wish, place, end);
	if (slab->count > rows && slab->events[slab->count - 1].kind <= TW_SLICE_COMPLETE)
		add_waiting(chunk, &slab->events[slab->count - 1], place);
	return size;
}

/* Takes records that the walk has checked and that have nothing unknown in them. */
static void take_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	bool switches = wish->options->thread_count == 0;
	while (place < end && make_room(chunk, place, end)) {
		size_t from = place;
		place = chunk->big ? take_run(chunk, switches, place, end, true, NULL, NULL)
		                   : take_run(chunk, switches, place, end, false, NULL, NULL);
		if (place == from)
			place += take_record(chunk, wish, place, end);
	}
}

static void take_odd_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	while (place < end)
		place += take_record(chunk, wish, place, end);
}

static void take_piece(struct fxt_chunk *chunk, const struct fxt_wish *wish, const struct fxt_piece *piece)
{
	chunk->big = piece->big;
	if (piece->kind != FXT_RECORDS)
		fxt_decode_piece(chunk, wish, piece);
	else if (piece->odd)
		take_odd_records(chunk, wish, piece->from, piece->to);
	else
		take_records(chunk, wish, piece->from, piece->to);
}

static bool make_calls(struct fxt_chunk *chunk)
{
	if (!chunk->calls)
		chunk->calls = calloc(1, sizeof *chunk->calls);
	chunk->failed |= !chunk->calls;
	return chunk->calls;
}

/* ---- What is taken before it is walked. ---- */

static void begin_calls(struct fxt_chunk *chunk)
{
	fxt_calls_clear(chunk->calls);
	fxt_begin_turn(chunk);
}

/* Forgets what was taken of the chunk, if anything. */
static void take_back(struct fxt_chunk *chunk)
{
	chunk->time = UINT64_MAX;
	chunk->timed = false;
	begin_calls(chunk);
}

/* Takes records from where the walk is up to `end`. False where the size of one is wrong: its place is doubts->wrong
 * then. */
static bool leap_to(struct fxt_chunk *chunk, bool switches, size_t end, struct fxt_doubts *doubts)
{
	struct fxt_leap *leap = &chunk->leap;
	*leap = (struct fxt_leap){.big = chunk->big, .from = chunk->walked, .to = chunk->walked};
	take_back(chunk);
	fxt_doubts_begin(doubts);
	for (size_t from = SIZE_MAX;
	     leap->to != from && doubts->wrong == SIZE_MAX && make_room(chunk, leap->to, end);) {
		from = leap->to;
		leap->to = chunk->big ? take_run(chunk, switches, from, end, true, leap, doubts)
		                      : take_run(chunk, switches, from, end, false, leap, doubts);
	}
	return doubts->wrong == SIZE_MAX && fxt_doubts_settle(doubts, chunk, chunk->big);
}

static void take_leap(struct fxt_chunk *chunk, const struct fxt_wish *wish)
{
	bool switches = wish->options->thread_count == 0;
	struct fxt_doubts doubts;
	chunk->leap = (struct fxt_leap){0};
	if (make_calls(chunk) && !leap_to(chunk, switches, chunk->end, &doubts))
		leap_to(chunk, switches, doubts.wrong, &doubts); /* what stands before the first wrong one is right */
}

static void find_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)scratch;
	bool first = chunk->decoded == 0, leapt = chunk->leap.count && chunk->piece_count && chunk->pieces[0].leapt;
	if (!make_calls(chunk) || chunk->failed)
		return;
	if (first && !leapt)
		take_back(chunk);
	else
		fxt_begin_turn(chunk);
	chunk->decoded += first && leapt;
	for (; chunk->decoded < chunk->piece_count; chunk->decoded++)
		take_piece(chunk, wish, &chunk->pieces[chunk->decoded]);
}

static void sort_calls(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	if (!chunk->failed && !chunk->calls->waiting)
		fxt_lanes_sort(chunk, wish, scratch);
}

bool fxt_calls_lend(struct fxt_chunk *chunk, const struct fxt_call_room *room)
{
	if (!make_calls(chunk) || chunk->calls->calls)
		return false;
	chunk->calls->calls = room->calls;
	chunk->calls->room = room->room;
	return true;
}

bool fxt_calls_return(struct fxt_chunk *chunk, struct fxt_call_room *room)
{
	struct fxt_calls *calls = chunk->calls;
	if (!calls || calls->waiting || !calls->calls)
		return false;
	*room = (struct fxt_call_room){calls->calls, calls->room};
	calls->calls = NULL;
	calls->room = 0;
	return true;
}

const struct fxt_work fxt_calls_work = {.decode = find_calls, .decoded = sort_calls, .take = take_leap};

/* ---- Calls that waited for the commit. ---- */

static void complete_calls(struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->calls->stretch_count; i++) {
		struct fxt_stretch *stretch = &chunk->calls->stretches[i];
		if (stretch->lane != UINT32_MAX)
			continue;
		struct fxt_call *call = &chunk->calls->calls[stretch->from];
		const struct tw_event *row = &chunk->slab.events[call->name];
		struct fxt_lane *lane = fxt_lane_of(chunk, row->track);
		if (!lane)
			return;
		stretch->lane = (uint32_t)(lane - chunk->calls->lanes);
		call->name = row->name;
	}
}

static void set_seen(struct fxt_chunk *chunk, struct fxt_state *state, const struct fxt_seen *seen, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (seen[i].time)
			set_last(fxt_lane_of(chunk, fxt_state_track_of_thread(state, seen[i].koid)), seen[i].time);
}

void fxt_calls_commit(struct fxt_chunk *chunk, struct fxt_state *state, const struct fxt_wish *wish,
                      struct fxt_scratch *scratch)
{
	struct fxt_calls *calls = chunk->calls;
	if (chunk->failed)
		return;
	if (calls->waiting) {
		complete_calls(chunk);
		if (!chunk->failed)
			fxt_lanes_sort(chunk, wish, scratch);
	}
	set_seen(chunk, state, calls->latest, FXT_SEEN);
	set_seen(chunk, state, calls->seen, calls->seen_count);
	for (size_t i = 0; i < chunk->slab.count; i++) {
		const struct tw_event *row = &chunk->slab.events[i];
		if (!tw_is_call(row) && tw_goes_on(row) && row->track && !(row->flags & FXT_FLAG_FOREIGN))
			set_last(fxt_lane_of(chunk, row->track), row->time);
	}
}
