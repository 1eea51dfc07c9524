/* heads.c - the fast path of counting records for `info`.
 *
 * It takes records that no other record depends on (events, scheduling, logs, profiler records) and counts them by the
 * low half of their headers. It needs neither the provider's tables nor the walk, and stops at the first record that it
 * cannot count. `make bench` measures info. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/memory/memory.h"
#include "fxt/events/doubts.h"
#include "fxt/jobs/census.h"

#include <stdlib.h>

/* Types whose second word is a time. */
static bool is_timed(unsigned type)
{
	return type == TW_FXT_TYPE_SCHEDULING || type == TW_FXT_TYPE_LOG || type == TW_FXT_TYPE_PROFILER;
}

/* Adds a tally for a thread; *at is the hash place that now leads to it. NULL when there is no memory. */
TW_NOINLINE struct fxt_tally *new_inline(struct fxt_sums *sums, const struct fxt_inline_tally *from, uint32_t *at)
{
	if (!tw_grow(&sums->inlines, &sums->inline_room, sums->inline_count + 1, sizeof *sums->inlines)) {
		sums->failed = true;
		return NULL;
	}
	*at = (uint32_t)sums->inline_count++;
	sums->inlines[*at] = (struct fxt_inline_tally){from->process, from->thread, from->lone, {.first = UINT64_MAX}};
	return &sums->inlines[*at].tally;
}

static inline size_t inline_place(uint64_t thread)
{
	return (thread ^ thread >> 8) % FXT_INLINES;
}

void fxt_add_inline(struct fxt_sums *sums, const struct fxt_inline_tally *from)
{
	uint32_t *at = &sums->inline_at[inline_place(from->thread)];
	struct fxt_inline_tally *known = *at < sums->inline_count ? &sums->inlines[*at] : NULL;
	bool same =
	    known && known->thread == from->thread && known->process == from->process && known->lone == from->lone;
	struct fxt_tally *tally = same ? &known->tally : new_inline(sums, from, at);
	if (tally)
		fxt_add_up(tally, &from->tally);
}

/* Counts a record for a thread that is known by its koid alone. */
static inline void count_lone(struct fxt_sums *sums, uint64_t koid, uint64_t size, uint64_t time)
{
	const uint32_t at = sums->inline_at[inline_place(koid)];
	struct fxt_inline_tally *known = at < sums->inline_count ? &sums->inlines[at] : NULL;
	if (koid == 0)
		return;
	if (known && known->thread == koid && known->lone) {
		known->tally.records++;
		known->tally.bytes += size;
		fxt_note_time(&known->tally, time);
	} else {
		fxt_add_inline(sums, &(struct fxt_inline_tally){.thread = koid,
		                                                .lone = true,
		                                                .tally = {1, size, time, time}});
	}
}

/* Which threads records other than events are about. `from` are the low bits of the thread indices in the header; where
 * an index is 0, process and thread koid stand behind the time. `lone`: there are no indices, only the thread's koid
 * behind the time, as in today's context switches and wake-ups. */
static const struct {
	uint8_t count;
	uint8_t from[2]; /* bits */
	bool lone;
} holders[TW_FXT_KINDS] = {
    [TW_FXT_LOG] = {1, {32}, false},
    [TW_FXT_CONTEXT_SWITCH] = {2, {0}, true},
    [TW_FXT_THREAD_WAKEUP] = {1, {0}, true},
    [TW_FXT_LEGACY_CONTEXT_SWITCH] = {2, {28, 36}, false},
    [TW_FXT_PROFILER_MODULE] = {1, {20}, false},
    [TW_FXT_PROFILER_MMAP] = {1, {20}, false},
    [TW_FXT_PROFILER_BACKTRACE] = {1, {20}, false},
};

static inline void count_threads(struct fxt_sums *sums, uint64_t header, enum tw_fxt_kind kind, const uint8_t *bytes,
                                 uint64_t size, bool big)
{
	uint64_t at = (uint64_t)2 * TW_FXT_WORD, time = tw_load64(bytes + TW_FXT_WORD, big);
	for (unsigned i = 0; holders[kind].lone && i < holders[kind].count && size > at; i++, at += TW_FXT_WORD)
		count_lone(sums, tw_load64(bytes + at, big), size, time);
	if (holders[kind].lone)
		return;
	struct fxt_inline_tally one = {.tally = {1, size, time, time}};
	for (unsigned i = 0; i < holders[kind].count; i++) {
		unsigned from = holders[kind].from[i];
		uint64_t index = tw_bits(header, from, from + 7);
		if (index) {
			fxt_add_up(&sums->threads[index], &one.tally);
			continue;
		}
		if (size - at < 2 * TW_FXT_WORD)
			return;
		one.process = tw_load64(bytes + at, big);
		one.thread = tw_load64(bytes + at + TW_FXT_WORD, big);
		if (one.thread)
			fxt_add_inline(sums, &one);
		at += (uint64_t)2 * TW_FXT_WORD;
	}
}

/* Counts a record that is neither an event nor one that others depend on. Of one that is unknown nothing is known but
 * its size. */
void fxt_count_other(struct fxt_sums *sums, uint64_t header, const uint8_t *bytes, uint64_t size, bool big)
{
	enum tw_fxt_kind kind = fxt_kind(header);
	sums->kinds[kind]++;
	if (kind == TW_FXT_UNKNOWN || !is_timed(fxt_type(header)) || size <= TW_FXT_WORD)
		return;
	fxt_note_time(&sums->provider, tw_load64(bytes + TW_FXT_WORD, big));
	count_threads(sums, header, kind, bytes, size, big);
}

/* Records with the same low half of the header: the same record type and size, and for events the same event type,
 * thread and number of arguments. Nearly all that is counted depends on these alone, so it is worked out once for all
 * of them, by settle_heads(). */
struct head {
	uint64_t first, last;   /* the least and the greatest time: ticks, in records that have one */
	uint64_t category_bits; /* mask of the category's reference; 0 where there is none */
	uint64_t no_category;   /* FXT_NO_CATEGORY where there is none, otherwise 0 */
	uint32_t low;           /* 0: none */
	uint32_t count;
	uint16_t over; /* where in the record the last of its times stands: bytes */
	bool listed;   /* to be looked at once more: it has arguments, or is no event */
};

enum { HEADS = 1 << 12 }; /* places of the hash table, at most half of them in use */

struct fxt_heads {
	struct head all[HEADS]; /* by hash */
	uint16_t used[HEADS / 2];
	size_t used_count;
	uint64_t credit;          /* records that were counted, less the heads that were gone through to add them up */
	unsigned pause;           /* chunks that are not to be counted from their middle too */
	unsigned failed;          /* chunks in a row that could not be */
	struct fxt_doubts listed; /* also records that are no events */
	uint32_t sorted[FXT_DOUBTS]; /* the same by class */
	uint32_t from[FXT_CLASSES + 1];
};

/* The low half 0, which is nobody's, would be found in the first place if that were empty. */
struct fxt_heads *fxt_heads_new(void)
{
	struct fxt_heads *heads = tw_zeroed(1, sizeof *heads);
	if (heads)
		heads->all[0].low = UINT32_MAX;
	return heads;
}

/* A row of records that is being counted. */
struct run {
	struct fxt_sums *sums;
	struct fxt_heads *heads;
	const struct fxt_chunk *chunk;
	bool doubting;       /* nobody has checked the records' sizes yet */
	const uint8_t *last; /* the last record */
	bool stopped;        /* at a record that is not for the fast path, or not all in the chunk */
};

/* The place by hash: ((size << 10) + (thread << 4) + event type) % HEADS for plain events, which gives those of the
 * first 64 threads a place each. */
static inline struct head *head_at(struct fxt_heads *heads, uint32_t low)
{
	return &heads->all[(low * 0x4000011) >> 20];
}

/* Whether records with this low half are for the fast path: no others depend on them, and events are of a known type,
 * their thread is an index. */
static bool is_for_heads(uint32_t low)
{
	unsigned type = fxt_type(low);
	bool strange = type == TW_FXT_TYPE_EVENT && (tw_bits(low, 24, 31) == 0 || fxt_kind(low) == TW_FXT_UNKNOWN);
	return type >= TW_FXT_TYPE_EVENT && type <= TW_FXT_TYPE_PROFILER && tw_bits(low, 4, 15) >= 2 && !strange;
}

/* Finds or makes the head of records whose first place by hash belongs to another head. NULL where they are not for the
 * fast path, or the table is full. */
TW_NOINLINE struct head *find_head(struct fxt_heads *heads, uint32_t low)
{
	static const uint32_t plain[FXT_TYPES] = {
	    [FXT_INSTANT] = FXT_TWO_WORDS,       [FXT_BEGIN] = FXT_TWO_WORDS,
	    [FXT_END] = FXT_TWO_WORDS,           [FXT_COMPLETE] = FXT_THREE_WORDS,
	    [FXT_ASYNC_BEGIN] = FXT_THREE_WORDS, [FXT_ASYNC_INSTANT] = FXT_THREE_WORDS,
	    [FXT_ASYNC_END] = FXT_THREE_WORDS,   [FXT_FLOW_BEGIN] = FXT_THREE_WORDS,
	    [FXT_FLOW_STEP] = FXT_THREE_WORDS,   [FXT_FLOW_END] = FXT_THREE_WORDS,
	};
	struct head *head = head_at(heads, low);
	if (!is_for_heads(low))
		return NULL;
	while (head->low && head->low != low)
		head = head < heads->all + HEADS - 1 ? head + 1 : heads->all;
	if (head->low)
		return head;
	if (heads->used_count == HEADS / 2)
		return NULL;
	heads->used[heads->used_count++] = (uint16_t)(head - heads->all);
	bool other = fxt_type(low) != TW_FXT_TYPE_EVENT, complete = !other && tw_bits(low, 16, 19) == FXT_COMPLETE;
	*head = (struct head){
	    .first = UINT64_MAX,
	    .category_bits = other ? 0 : UINT16_MAX,
	    .no_category = other ? FXT_NO_CATEGORY : 0,
	    .low = low,
	    .over = (uint16_t)((complete ? tw_bits(low, 4, 15) - 1 : 1) * TW_FXT_WORD),
	    .listed = other || fxt_is_doubtful(low, plain[tw_bits(low, 16, 19)]),
	};
	return head;
}

/* Notes a category that was not met before. False where its name stands in the record: that is not for the fast
 * path. */
TW_NOINLINE bool meet_category(struct fxt_sums *sums, uint32_t category)
{
	if (tw_bits(category, 15, 15)) {
		sums->categories[category] = 0;
		return false;
	}
	sums->used[sums->used_count++] = (uint16_t)category;
	return true;
}

/* What the loops over records work with: a local variable, which the compiler can keep in registers. */
struct loop {
	struct fxt_sums *sums;
	struct fxt_heads *heads;
	uint32_t *categories;
	const uint8_t *base;
	uint32_t *listed;
};

static inline struct loop begin_loop(const struct run *run)
{
	return (struct loop){
	    .sums = run->sums,
	    .heads = run->heads,
	    .categories = run->sums->categories,
	    .base = run->chunk->bytes,
	    .listed = run->heads->listed.places,
	};
}

/* Counts the record at *bytes, and moves that behind it. False where it is not for the fast path, or ends behind
 * `limit`. The processor cannot predict which kinds follow one another, so no jump depends on the kind. */
TW_INLINE bool count_one(struct loop *loop, const uint8_t **bytes, const uint8_t *limit, bool big)
{
	const uint64_t header = tw_load64(*bytes, big), ticks = tw_load64(*bytes + TW_FXT_WORD, big);
	const uint8_t *const next = *bytes + tw_bits(header, 4, 15) * TW_FXT_WORD;
	struct head *head = head_at(loop->heads, (uint32_t)header);
	if (__builtin_expect(head->low != (uint32_t)header, 0) && !(head = find_head(loop->heads, (uint32_t)header)))
		return false;
	const uint64_t category = (header >> 32 & head->category_bits) | head->no_category;
	if (next > limit)
		return false;
	if (__builtin_expect(loop->categories[category]++ == 0, 0) && !meet_category(loop->sums, (uint32_t)category))
		return false;
	const uint64_t told = tw_load64(*bytes + head->over, big), last = told > ticks ? told : ticks;
	*loop->listed = (uint32_t)(*bytes - loop->base);
	loop->listed += head->listed | tw_bits(header, 63, 63);
	head->count++;
	head->first = ticks < head->first ? ticks : head->first;
	head->last = last > head->last ? last : head->last;
	*bytes = next;
	return true;
}

/* Counts records, up to the first that is not for the fast path or begins behind the limit; returns its place. */
TW_INLINE const uint8_t *count_heads(struct run *run, struct loop *loop, const uint8_t *bytes, const uint8_t *to,
                                     bool big)
{
	const uint8_t *const limit = fxt_doubts_limit(&run->heads->listed, bytes, to), *last = run->last;
	run->stopped = true;
	while (bytes < limit) {
		const uint8_t *const at = bytes;
		if (!count_one(loop, &bytes, to, big))
			goto stop;
		last = at;
	}
	run->stopped = false;
stop:
	run->last = last;
	return bytes;
}

/* The classes that listed records are sorted into: events by their number of arguments, others behind them, by the bits
 * that tell kinds of scheduling records apart. */
enum { OTHERS = FXT_ARGUMENT_COUNTS };

TW_INLINE void sort_by_class(struct fxt_heads *heads, const struct fxt_chunk *chunk, bool big)
{
	const struct fxt_doubts *listed = &heads->listed;
	uint8_t classes[FXT_DOUBTS];
	for (size_t i = 0; i < listed->count; i++) {
		const uint64_t header = tw_load64(chunk->bytes + listed->places[i], big);
		const unsigned other = fxt_type(header) != TW_FXT_TYPE_EVENT, low = other ? 60 : 20;
		classes[i] = (uint8_t)(other * OTHERS + tw_bits(header, low, low + 3));
	}
	fxt_doubts_sort(listed, classes, FXT_CLASSES, heads->sorted, heads->from);
}

static void sort_listed(struct fxt_heads *heads, const struct fxt_chunk *chunk, bool big)
{
	if (big)
		sort_by_class(heads, chunk, true);
	else
		sort_by_class(heads, chunk, false);
}

/* Counts a context switch or a wake-up without arguments, whose koids stand behind its time. */
static inline void count_plain_koids(struct fxt_sums *sums, uint64_t header, const uint8_t *bytes, uint32_t koids,
                                     bool big)
{
	const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big), size = (2 + koids) * (uint64_t)TW_FXT_WORD;
	sums->kinds[fxt_kind(header)]++;
	fxt_note_time(&sums->provider, ticks);
	for (uint32_t i = 0; i < koids; i++)
		count_lone(sums, tw_load64(bytes + (2 + i) * (size_t)TW_FXT_WORD, big), size, ticks);
}

/* Counts the listed records that are no events, and notes the first whose size is wrong: they are in the order of their
 * classes, not of the archive. */
static void settle_others(struct run *run, bool big)
{
	const struct fxt_chunk *chunk = run->chunk;
	struct fxt_heads *heads = run->heads;
	for (uint32_t i = heads->from[OTHERS]; i < heads->from[FXT_CLASSES]; i++) {
		const size_t place = heads->sorted[i], left = (chunk->end - place) / TW_FXT_WORD;
		const uint8_t *bytes = chunk->bytes + place;
		const uint64_t header = tw_load64(bytes, big), size = tw_bits(header, 4, 15) * TW_FXT_WORD;
		const uint32_t koids = fxt_plain_koids(header);
		if (koids) {
			count_plain_koids(run->sums, header, bytes, koids, big);
			continue;
		}
		if (run->doubting && !fxt_measure_other(header, bytes, left, big)) {
			size_t *wrong = &heads->listed.wrong;
			*wrong = place < *wrong ? place : *wrong;
			continue;
		}
		fxt_count_other(run->sums, header, bytes, size, big);
	}
}

static void empty(struct fxt_heads *heads)
{
	for (size_t i = 0; i < heads->used_count; i++)
		heads->all[heads->used[i]].low = 0;
	heads->used_count = 0;
	heads->credit = 0;
}

/* Adds what was counted by head to the sums by thread and by type of event. Heads stay for the next run, which mostly
 * meets the same, until more have been gone through than records counted. */
static void settle_heads(struct fxt_sums *sums, struct fxt_heads *heads)
{
	const uint64_t before = sums->provider.records;
	for (size_t i = 0; i < heads->used_count; i++) {
		struct head *head = &heads->all[heads->used[i]];
		if (head->count == 0)
			continue;
		const struct fxt_tally tally = {
		    head->count,
		    head->count * tw_bits(head->low, 4, 15) * TW_FXT_WORD,
		    head->first,
		    head->last,
		};
		sums->provider.records += head->count;
		if (fxt_type(head->low) == TW_FXT_TYPE_EVENT) {
			sums->events[tw_bits(head->low, 16, 19)] += head->count;
			fxt_add_up(&sums->threads[tw_bits(head->low, 24, 31)], &tally);
		}
		head->count = 0;
		head->first = UINT64_MAX;
		head->last = 0;
	}
	heads->credit += sums->provider.records - before;
	if (heads->used_count == HEADS / 2 || heads->credit < heads->used_count)
		empty(heads);
	else
		heads->credit -= heads->used_count;
}

/* Counts what was listed. False where the size of a record is wrong. */
static bool settle_listed(struct run *run, const struct loop *loop, bool big)
{
	struct fxt_heads *heads = run->heads;
	struct fxt_doubts *listed = &heads->listed;
	listed->count = (size_t)(loop->listed - listed->places);
	sort_listed(heads, run->chunk, big);
	listed->count = 0;
	if (run->doubting)
		listed->wrong = fxt_doubts_wrong(run->chunk, big, heads->sorted, heads->from);
	settle_others(run, big);
	return listed->wrong == SIZE_MAX;
}

/* Counts records from the end of a leap on, and moves that end behind them. False where the size of one is wrong. */
TW_INLINE bool count_run(struct run *run, size_t end, struct fxt_leap *leap, bool big)
{
	struct fxt_tally *provider = &run->sums->provider;
	const uint8_t *const to = run->chunk->bytes + end, *bytes = run->chunk->bytes + leap->to;
	uint64_t records = provider->records;
	bool right = true, on = true;
	run->last = run->chunk->bytes + leap->last;
	while (on && (size_t)(to - bytes) >= FXT_PLAIN_MAX * TW_FXT_WORD) {
		struct loop loop = begin_loop(run);
		bytes = count_heads(run, &loop, bytes, to, big);
		right = settle_listed(run, &loop, big);
		bool full = run->heads->used_count == HEADS / 2;
		if (full)
			settle_heads(run->sums, run->heads);
		on = right && (full || !run->stopped);
	}
	settle_heads(run->sums, run->heads);
	provider->bytes += (size_t)(bytes - run->chunk->bytes) - leap->to;
	leap->to = (size_t)(bytes - run->chunk->bytes);
	leap->last = (size_t)(run->last - run->chunk->bytes);
	leap->count += provider->records - records;
	return right;
}

/* Records that are counted from two places on. */
struct halves {
	const uint8_t *first, *second; /* the next records of each */
	const uint8_t *middle, *limit; /* up to where records of each may end */
	const uint8_t *last;           /* the last record of the second half */
};

/* Counts records of both halves in turns, then more of the first. While the processor waits for the size of a record
 * in one half it works on the other: `make bench` measures info. Returns whether the list is full: then there may be
 * more. */
TW_INLINE bool count_in_turns(struct loop *loop, struct halves *halves, bool big)
{
	size_t room = FXT_DOUBTS;
	for (; room >= 2 && count_one(loop, &halves->first, halves->middle, big); room -= 2) {
		const uint8_t *const second = halves->second;
		if (!count_one(loop, &halves->second, halves->limit, big))
			break;
		halves->last = second;
	}
	while (room >= 2 && count_one(loop, &halves->first, halves->middle, big))
		room--;
	return room < 2;
}

TW_INLINE bool count_halves(struct run *run, size_t middle, struct fxt_leap *leap, bool big)
{
	const uint8_t *const base = run->chunk->bytes;
	struct halves halves = {
	    .first = base + leap->to,
	    .second = base + middle,
	    .middle = base + middle,
	    .limit = base + run->chunk->end - FXT_PLAIN_MAX * TW_FXT_WORD,
	    .last = base + middle,
	};
	bool right, more;
	do {
		struct loop loop = begin_loop(run);
		more = count_in_turns(&loop, &halves, big);
		right = settle_listed(run, &loop, big);
	} while (more && right);
	leap->last = (size_t)(halves.last - base);
	if (right)
		leap->to = (size_t)((halves.first == halves.middle ? halves.second : halves.first) - base);
	return right && halves.first == halves.middle;
}

size_t fxt_count_heads(struct fxt_sums *sums, struct fxt_heads *heads, const struct fxt_chunk *chunk, size_t end,
                       struct fxt_leap *leap, bool doubting)
{
	struct run run = {.sums = sums, .heads = heads, .chunk = chunk, .doubting = doubting};
	fxt_doubts_begin(&heads->listed);
	bool right = leap->big ? count_run(&run, end, leap, true) : count_run(&run, end, leap, false);
	return right ? SIZE_MAX : heads->listed.wrong;
}

/* Whether a chunk is to be counted from its middle too. */
static bool is_to_be_halved(struct fxt_heads *heads, const struct fxt_chunk *chunk, size_t middle)
{
	if (heads->pause > 0) {
		heads->pause--;
		return false;
	}
	return middle && chunk->end - middle >= FXT_PLAIN_MAX * TW_FXT_WORD;
}

/* Notes whether a chunk could be counted from its middle too. What is done in vain takes longer: the more chunks in a
 * row could not be, the more are left out. */
static void note_halved(struct fxt_heads *heads, bool halved)
{
	enum { MOST = 16 };
	heads->failed = halved ? 0 : heads->failed + (heads->failed < MOST);
	heads->pause = heads->failed > 1 ? heads->failed : 0;
}

bool fxt_count_halves(struct fxt_sums *sums, struct fxt_heads *heads, const struct fxt_chunk *chunk, size_t middle,
                      struct fxt_leap *leap)
{
	struct run run = {.sums = sums, .heads = heads, .chunk = chunk, .doubting = true};
	const struct fxt_leap before = *leap;
	if (!is_to_be_halved(heads, chunk, middle))
		return false;
	fxt_doubts_begin(&heads->listed);
	bool right = leap->big ? count_halves(&run, middle, leap, true) : count_halves(&run, middle, leap, false);
	const uint64_t records = sums->provider.records;
	settle_heads(sums, heads);
	sums->provider.bytes += leap->to - before.to;
	leap->count += sums->provider.records - records;
	note_halved(heads, right);
	return right;
}
