/* count.c - the records of a chunk counted: by kind, provider, thread and category. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "fxt/census.h"
#include "fxt/doubts.h"

static const struct fxt_tally none = {.first = UINT64_MAX};

static void clear(struct fxt_sums *sums)
{
	memset(sums->kinds, 0, sizeof sums->kinds);
	memset(sums->events, 0, sizeof sums->events);
	sums->provider = none;
	for (unsigned i = 0; i < FXT_PAGE; i++)
		sums->threads[i] = none;
	for (size_t i = 0; i < sums->used_count; i++)
		sums->categories[sums->used[i]] = 0;
	sums->used_count = 0;
	sums->inline_count = 0;
}

void fxt_census_free(struct fxt_census *census)
{
	if (!census)
		return;
	free(census->sums.categories);
	free(census->leap.categories);
	free(census->sums.inlines);
	free(census->leap.inlines);
	free(census->counts);
	free(census);
}

static inline void note_time(struct fxt_tally *tally, uint64_t ticks)
{
	tally->first = ticks < tally->first ? ticks : tally->first;
	tally->last = ticks > tally->last ? ticks : tally->last;
}

/* ---- Counts that are complete. ---- */

static void add_count(struct fxt_chunk *chunk, const struct fxt_count *count)
{
	struct fxt_census *census = chunk->census;
	if (!tw_grow(&census->counts, &census->room, census->count + 1, sizeof *census->counts)) {
		chunk->failed = true;
		return;
	}
	census->counts[census->count++] = *count;
}

/* A count of a tally. The ticks are those of the turn that ends. */
static struct fxt_count count_of(struct fxt_chunk *chunk, enum fxt_counted what, const struct fxt_tally *tally)
{
	struct fxt_count count = {.what = what, .number = UINT32_MAX, .records = tally->records, .bytes = tally->bytes};
	count.provider = chunk->turn.provider->id;
	count.first = UINT64_MAX;
	if (tally->first <= tally->last) {
		count.first = tw_ticks_ns(&chunk->clock, tally->first);
		count.last = tw_ticks_ns(&chunk->clock, tally->last);
	}
	return count;
}

static void settle_thread(struct fxt_chunk *chunk, unsigned index, uint64_t offset)
{
	struct fxt_sums *sums = &chunk->census->sums;
	struct fxt_tally *tally = &sums->threads[index];
	if (tally->records == 0)
		return;
	struct fxt_count count = count_of(chunk, FXT_COUNTED_THREAD, tally);
	note_time(&sums->provider, tally->first);
	note_time(&sums->provider, tally->last);
	*tally = none;
	const struct fxt_entry *entry = fxt_thread_at(chunk->turn.provider, index, offset);
	if (!entry)
		return;
	count.number = entry->number;
	add_count(chunk, &count);
}

static void settle_category(struct fxt_chunk *chunk, unsigned index, uint64_t offset)
{
	uint32_t *records = &chunk->census->sums.categories[index];
	struct fxt_tally tally = {.records = *records, .first = UINT64_MAX};
	struct fxt_count count = count_of(chunk, FXT_COUNTED_CATEGORY, &tally);
	if (tally.records == 0)
		return;
	*records = 0;
	const struct fxt_entry *entry = index ? fxt_string_at(chunk->turn.provider, index, offset) : NULL;
	if (index && !entry)
		return;
	count.number = entry ? entry->number : 0;
	add_count(chunk, &count);
}

static void settle_inlines(struct fxt_chunk *chunk)
{
	struct fxt_sums *sums = &chunk->census->sums;
	for (size_t i = 0; i < sums->inline_count; i++) {
		const struct fxt_inline_tally *tally = &sums->inlines[i];
		struct fxt_count count = count_of(chunk, FXT_COUNTED_THREAD, &tally->tally);
		count.process = tally->process;
		count.thread = tally->thread;
		count.lone = tally->lone;
		add_count(chunk, &count);
	}
	sums->inline_count = 0;
	chunk->failed |= sums->failed;
}

/* The provider or its clock changes, or the chunk ends: what indices mean now, they mean no more. */
static void settle(struct fxt_chunk *chunk, uint64_t offset)
{
	struct fxt_sums *sums = &chunk->census->sums;
	for (size_t i = 0; i < sums->used_count; i++)
		settle_category(chunk, sums->used[i], offset);
	for (unsigned i = 1; i < FXT_PAGE; i++)
		settle_thread(chunk, i, offset);
	settle_inlines(chunk);
	sums->used_count = 0;
	if (sums->provider.records) {
		const struct fxt_count count = count_of(chunk, FXT_COUNTED_PROVIDER, &sums->provider);
		add_count(chunk, &count);
		sums->provider = none;
	}
}

/* ---- The fast path: what no other record depends on, counted by index. It needs no table, nor that a record was
 * looked at before; what it cannot count stops it. `make bench` measures info. ---- */

static inline void add_category(struct fxt_sums *sums, unsigned index, uint32_t records)
{
	if (sums->categories[index] == 0)
		sums->used[sums->used_count++] = (uint16_t)index;
	sums->categories[index] += records;
}

static inline void add_up(struct fxt_tally *tally, const struct fxt_tally *more)
{
	tally->records += more->records;
	tally->bytes += more->bytes;
	tally->first = more->first < tally->first ? more->first : tally->first;
	tally->last = more->last > tally->last ? more->last : tally->last;
}

/* Types whose second word is a time. */
static bool is_timed(unsigned type)
{
	return type == TW_FXT_TYPE_SCHEDULING || type == TW_FXT_TYPE_LOG || type == TW_FXT_TYPE_PROFILER;
}

/* A tally for a thread that has none, or whose place another one took; NULL when there is no memory. */
static __attribute__((noinline)) struct fxt_tally *new_inline(struct fxt_sums *sums,
                                                              const struct fxt_inline_tally *from, uint32_t *at)
{
	if (!tw_grow(&sums->inlines, &sums->inline_room, sums->inline_count + 1, sizeof *sums->inlines)) {
		sums->failed = true;
		return NULL;
	}
	*at = (uint32_t)sums->inline_count++;
	sums->inlines[*at] = (struct fxt_inline_tally){from->process, from->thread, from->lone, none};
	return &sums->inlines[*at].tally;
}

static inline size_t inline_place(uint64_t thread)
{
	return (thread ^ thread >> 8) % FXT_INLINES;
}

static inline void add_inline(struct fxt_sums *sums, const struct fxt_inline_tally *from)
{
	uint32_t *at = &sums->inline_at[inline_place(from->thread)];
	struct fxt_inline_tally *known = *at < sums->inline_count ? &sums->inlines[*at] : NULL;
	bool same =
	    known && known->thread == from->thread && known->process == from->process && known->lone == from->lone;
	struct fxt_tally *tally = same ? &known->tally : new_inline(sums, from, at);
	if (tally)
		add_up(tally, &from->tally);
}

/* A thread that is known by its koid alone. */
static inline void count_lone(struct fxt_sums *sums, uint64_t koid, uint64_t size, uint64_t time)
{
	const uint32_t at = sums->inline_at[inline_place(koid)];
	struct fxt_inline_tally *known = at < sums->inline_count ? &sums->inlines[at] : NULL;
	if (koid == 0)
		return;
	if (known && known->thread == koid && known->lone) {
		known->tally.records++;
		known->tally.bytes += size;
		note_time(&known->tally, time);
	} else {
		add_inline(sums,
		           &(struct fxt_inline_tally){.thread = koid, .lone = true, .tally = {1, size, time, time}});
	}
}

/* The threads that records are about which are no events: where their headers have indices, or else the words behind
 * the time have koids. Context switches and wake-ups of today have koids without a process. */
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
			add_up(&sums->threads[index], &one.tally);
			continue;
		}
		if (size - at < 2 * TW_FXT_WORD)
			return;
		one.process = tw_load64(bytes + at, big);
		one.thread = tw_load64(bytes + at + TW_FXT_WORD, big);
		if (one.thread)
			add_inline(sums, &one);
		at += (uint64_t)2 * TW_FXT_WORD;
	}
}

/* A record that is neither an event nor one that others depend on. */
static void count_other(struct fxt_sums *sums, uint64_t header, const uint8_t *bytes, uint64_t size, bool big)
{
	enum tw_fxt_kind kind = fxt_kind(header);
	sums->kinds[kind]++;
	if (!is_timed(fxt_type(header)) || size <= TW_FXT_WORD)
		return;
	note_time(&sums->provider, tw_load64(bytes + TW_FXT_WORD, big));
	count_threads(sums, header, kind, bytes, size, big);
}

/* Records that have the low half of their headers in common: type and size, of events also the type, the thread and how
 * many arguments there are. That tells nearly all that is to be counted, so that it is looked at once for many. */
struct head {
	uint64_t first, last; /* ticks, or what else the second words have */
	uint32_t low;         /* 0: none */
	uint32_t count;
	uint32_t no_category;   /* bits to set in the number of the category: what has none counts for NO_CATEGORY */
	uint16_t category_bits; /* bits to keep */
	bool listed;            /* more is to be looked at: arguments, or it is no event */
};

enum {
	HEADS = 1 << 12, /* places, of which half are taken at most */
	NO_CATEGORY = 1 << 16
};

struct fxt_heads {
	struct head all[HEADS]; /* by hash */
	uint16_t used[HEADS / 2];
	size_t used_count;
	struct fxt_doubts doubts;
	uint32_t listed[FXT_DOUBTS], others[FXT_DOUBTS]; /* places of records; of those that are no events */
	size_t listed_count, other_count;
};

/* Where records are counted one after the other. */
struct run {
	struct fxt_sums *sums;
	struct fxt_heads *heads;
	const struct fxt_chunk *chunk;
	bool doubting;       /* sizes are not known to be right */
	const uint8_t *last; /* the last record */
	bool stopped;        /* at one that is not for the fast path, or not all there */
};

/* Heads of plain events, of as many threads as most archives have, each have a place of their own: that is
 * ((size << 10) + (thread << 4) + type) % HEADS. */
static inline struct head *head_at(struct fxt_heads *heads, uint32_t low)
{
	return &heads->all[(low * 0x4000011) >> 20];
}

/* Whether records that begin so are for the fast path: their size is in the header, and others do not depend on them. */
static bool is_for_heads(uint32_t low)
{
	unsigned type = fxt_type(low);
	bool threadless = type == TW_FXT_TYPE_EVENT && tw_bits(low, 24, 31) == 0;
	return type >= TW_FXT_TYPE_EVENT && type <= TW_FXT_TYPE_PROFILER && tw_bits(low, 4, 15) >= 2 && !threadless;
}

/* The head of records where the first that was looked at is another one. NULL where they are not for the fast path, or
 * there are too many. */
static __attribute__((noinline)) struct head *find_head(struct fxt_heads *heads, uint32_t low)
{
	static const uint32_t plain[FXT_TYPES] = {
	    FXT_TWO_WORDS,   0,
	    FXT_TWO_WORDS,   FXT_TWO_WORDS,
	    FXT_THREE_WORDS, FXT_THREE_WORDS,
	    FXT_THREE_WORDS, FXT_THREE_WORDS,
	    FXT_THREE_WORDS, FXT_THREE_WORDS,
	    FXT_THREE_WORDS,
	};
	struct head *head = head_at(heads, low);
	while (head->low && head->low != low)
		head = head < heads->all + HEADS - 1 ? head + 1 : heads->all;
	if (head->low)
		return head;
	if (heads->used_count == HEADS / 2 || !is_for_heads(low))
		return NULL;
	heads->used[heads->used_count++] = (uint16_t)(head - heads->all);
	bool other = fxt_type(low) != TW_FXT_TYPE_EVENT;
	*head = (struct head){
	    .first = UINT64_MAX,
	    .low = low,
	    .no_category = other ? NO_CATEGORY : 0,
	    .category_bits = other ? 0 : UINT16_MAX,
	    .listed = other || fxt_is_doubtful(low, plain[tw_bits(low, 16, 19)]),
	};
	return head;
}

/* A category is met that was not met before. False where its name is in the record. */
static __attribute__((noinline)) bool meet_category(struct fxt_sums *sums, uint32_t category)
{
	if (tw_bits(category, 15, 15)) {
		sums->categories[category] = 0;
		return false;
	}
	sums->used[sums->used_count++] = (uint16_t)category;
	return true;
}

/* Counts records. Which kinds of them come cannot be foretold, and no jump depends on it. Returns the place of what is
 * not for the fast path, or is behind the limit. */
static inline __attribute__((always_inline)) const uint8_t *count_heads(struct run *run, const uint8_t *bytes,
                                                                        const uint8_t *to, bool big)
{
	struct fxt_heads *const heads = run->heads;
	uint32_t *const categories = run->sums->categories;
	const uint8_t *const base = run->chunk->bytes, *const limit = fxt_doubts_limit(&heads->doubts, bytes, to),
			     *last = run->last;
	uint32_t *listed = heads->listed;
	run->stopped = true;
	while (bytes < limit) {
		const uint64_t header = tw_load64(bytes, big), ticks = tw_load64(bytes + TW_FXT_WORD, big);
		const size_t size = tw_bits(header, 4, 15) * TW_FXT_WORD;
		struct head *head = head_at(heads, (uint32_t)header);
		if (__builtin_expect(head->low != (uint32_t)header, 0) && !(head = find_head(heads, (uint32_t)header)))
			goto stop;
		const uint32_t category = ((uint32_t)(header >> 32) & head->category_bits) | head->no_category;
		if (size - 1 >= (size_t)(to - bytes)) /* or there is none: 0 is nobody's header */
			goto stop;
		if (__builtin_expect(categories[category]++ == 0, 0) && !meet_category(run->sums, category))
			goto stop;
		*listed = (uint32_t)(bytes - base);
		listed += head->listed | tw_bits(header, 63, 63);
		head->count++;
		head->first = ticks < head->first ? ticks : head->first;
		head->last = ticks > head->last ? ticks : head->last;
		last = bytes;
		bytes += size;
	}
	run->stopped = false;
stop:
	run->last = last;
	heads->listed_count = (size_t)(listed - heads->listed);
	return bytes;
}

/* Parts what was listed. */
static void part_listed(struct fxt_heads *heads, const struct fxt_chunk *chunk, bool big)
{
	uint32_t *doubt = heads->doubts.places, *other = heads->others;
	for (size_t i = 0; i < heads->listed_count; i++) {
		uint32_t place = heads->listed[i];
		bool is_event = fxt_type(tw_load64(chunk->bytes + place, big)) == TW_FXT_TYPE_EVENT;
		*doubt = *other = place;
		doubt += is_event;
		other += !is_event;
	}
	heads->doubts.count = (size_t)(doubt - heads->doubts.places);
	heads->other_count = (size_t)(other - heads->others);
}

/* False where one is not right. */
static bool settle_doubts(const struct run *run, bool big)
{
	if (run->doubting)
		return fxt_doubts_settle(&run->heads->doubts, run->chunk, big);
	run->heads->doubts.count = 0;
	return true;
}

/* A context switch or a wake-up as most are. */
static inline void count_plain_koids(struct fxt_sums *sums, uint64_t header, const uint8_t *bytes, uint32_t koids,
                                     bool big)
{
	const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big), size = (2 + koids) * (uint64_t)TW_FXT_WORD;
	sums->kinds[fxt_kind(header)]++;
	note_time(&sums->provider, ticks);
	for (uint32_t i = 0; i < koids; i++)
		count_lone(sums, tw_load64(bytes + (2 + i) * (size_t)TW_FXT_WORD, big), size, ticks);
}

/* Counts those that are no events. False where one is not right. */
static bool settle_others(struct run *run, bool big)
{
	const struct fxt_chunk *chunk = run->chunk;
	struct fxt_heads *heads = run->heads;
	for (size_t i = 0; i < heads->other_count; i++) {
		const uint8_t *bytes = chunk->bytes + heads->others[i];
		const uint64_t header = tw_load64(bytes, big), size = tw_bits(header, 4, 15) * TW_FXT_WORD;
		const uint32_t koids = fxt_plain_koids(header);
		if (koids) {
			count_plain_koids(run->sums, header, bytes, koids, big);
			continue;
		}
		size_t left = (chunk->end - heads->others[i]) / TW_FXT_WORD;
		if (run->doubting && !fxt_measure_other(header, bytes, left, big)) {
			size_t *wrong = &heads->doubts.wrong;
			*wrong = heads->others[i] < *wrong ? heads->others[i] : *wrong;
			return false;
		}
		count_other(run->sums, header, bytes, size, big);
	}
	return true;
}

/* What was counted by heads, by thread and type of event. */
static void settle_heads(struct fxt_sums *sums, struct fxt_heads *heads)
{
	for (size_t i = 0; i < heads->used_count; i++) {
		struct head *head = &heads->all[heads->used[i]];
		const struct fxt_tally tally = {
		    head->count,
		    head->count * tw_bits(head->low, 4, 15) * TW_FXT_WORD,
		    head->first,
		    head->last,
		};
		sums->provider.records += head->count;
		if (fxt_type(head->low) == TW_FXT_TYPE_EVENT) {
			sums->events[tw_bits(head->low, 16, 19)] += head->count;
			add_up(&sums->threads[tw_bits(head->low, 24, 31)], &tally);
		}
		head->low = 0;
	}
	heads->used_count = 0;
}

/* Counts records from where a leap ends, and moves its end behind them. False where one is not right. */
static inline __attribute__((always_inline)) bool count_run(struct run *run, size_t end, struct fxt_leap *leap,
                                                            bool big)
{
	struct fxt_tally *provider = &run->sums->provider;
	const uint8_t *const to = run->chunk->bytes + end, *bytes = run->chunk->bytes + leap->to;
	uint64_t records = provider->records;
	bool right = true, on = true;
	run->last = run->chunk->bytes + leap->last;
	while (on && (size_t)(to - bytes) >= FXT_PLAIN_MAX * TW_FXT_WORD) {
		bytes = count_heads(run, bytes, to, big);
		part_listed(run->heads, run->chunk, big);
		right = settle_doubts(run, big);
		right &= settle_others(run, big);
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

static bool count_fast(struct fxt_sums *sums, struct fxt_heads *heads, const struct fxt_chunk *chunk, size_t end,
                       struct fxt_leap *leap, bool doubting)
{
	struct run run = {.sums = sums, .heads = heads, .chunk = chunk, .doubting = doubting};
	fxt_doubts_begin(&heads->doubts);
	return leap->big ? count_run(&run, end, leap, true) : count_run(&run, end, leap, false);
}

/* ---- All other records. ---- */

/* Thread, category or both stand in the record: once for each record, because there is no index to count by. */
static void count_inline(struct fxt_chunk *chunk, size_t place, uint64_t header, const struct fxt_tally *tally)
{
	const uint8_t *bytes = chunk->bytes + place;
	bool koids = tw_bits(header, 24, 31) == 0;
	if (koids) {
		struct fxt_count count = count_of(chunk, FXT_COUNTED_THREAD, tally);
		count.process = tw_load64(bytes + 2 * TW_FXT_WORD, chunk->big);
		count.thread = tw_load64(bytes + 3 * TW_FXT_WORD, chunk->big);
		add_count(chunk, &count);
	}
	if (tw_bits(header, 47, 47)) {
		struct fxt_count count = count_of(chunk, FXT_COUNTED_CATEGORY, tally);
		count.text = bytes + (koids ? 4 : 2) * TW_FXT_WORD;
		count.length = tw_bits(header, 32, 46) & FXT_TEXT_MAX;
		add_count(chunk, &count);
	}
}

/* Whether an event has its thread or its category inline. */
static inline bool is_inline(uint64_t header)
{
	return tw_bits(header, 24, 31) == 0 || tw_bits(header, 47, 47);
}

static void count_event(struct fxt_chunk *chunk, size_t place, uint64_t header, uint64_t size)
{
	struct fxt_sums *sums = &chunk->census->sums;
	uint64_t time = tw_load64(chunk->bytes + place + TW_FXT_WORD, chunk->big);
	const struct fxt_tally tally = {1, size, time, time};
	sums->events[tw_bits(header, 16, 19)]++;
	note_time(&sums->provider, time);
	if (tw_bits(header, 24, 31))
		add_up(&sums->threads[tw_bits(header, 24, 31)], &tally);
	if (!tw_bits(header, 47, 47))
		add_category(sums, (unsigned)tw_bits(header, 32, 46), 1);
	if (is_inline(header))
		count_inline(chunk, place, header, &tally);
}

static void count_full_buffer(struct fxt_chunk *chunk, uint64_t header)
{
	struct fxt_count count = count_of(chunk, FXT_COUNTED_PROVIDER, &none);
	count.provider = (uint32_t)tw_bits(header, 20, 51);
	count.dropped = tw_bits(header, 52, 55) == 0;
	add_count(chunk, &count);
}

/* Records that change what is counted by. */
static void count_table(struct fxt_chunk *chunk, size_t place, uint64_t header)
{
	uint64_t offset = fxt_offset(chunk, place);
	chunk->census->sums.kinds[fxt_kind(header)]++;
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_METADATA:
	case TW_FXT_TYPE_INITIALIZATION:
		settle(chunk, offset);
		fxt_next_turn(chunk);
		if (fxt_kind(header) == TW_FXT_PROVIDER_EVENT)
			count_full_buffer(chunk, header);
		return;
	case TW_FXT_TYPE_STRING:
		settle_category(chunk, (unsigned)tw_bits(header, 16, 30), offset - 1);
		return;
	case TW_FXT_TYPE_THREAD:
		settle_thread(chunk, (unsigned)tw_bits(header, 16, 23), offset - 1);
		return;
	default:
		return;
	}
}

/* Returns the record's size, as far as it is in the chunk. */
static size_t count_record(struct fxt_chunk *chunk, size_t place, size_t end)
{
	struct fxt_sums *sums = &chunk->census->sums;
	uint64_t header = tw_load64(chunk->bytes + place, chunk->big);
	uint64_t size = fxt_size(header) * (uint64_t)TW_FXT_WORD;
	if (fxt_type(header) > TW_FXT_TYPE_EVENT)
		count_other(sums, header, chunk->bytes + place, size, chunk->big);
	else if (fxt_type(header) == TW_FXT_TYPE_EVENT)
		count_event(chunk, place, header, size);
	else
		count_table(chunk, place, header);
	if (fxt_type(header) != TW_FXT_TYPE_METADATA) {
		sums->provider.records++;
		sums->provider.bytes += size;
	}
	return size < end - place ? (size_t)size : end - place;
}

static void count_records(struct fxt_chunk *chunk, struct fxt_heads *heads, size_t place, size_t end)
{
	while (place < end) {
		struct fxt_leap leap = {.big = chunk->big, .to = place};
		count_fast(&chunk->census->sums, heads, chunk, end, &leap, false);
		place = leap.to;
		if (place < end)
			place += count_record(chunk, place, end);
	}
}

/* ---- The chunk. ---- */

static bool prepare_categories(uint32_t **categories)
{
	if (!*categories) {
		*categories = calloc(NO_CATEGORY + 1, sizeof **categories);
		if (!*categories)
			return false;
		(*categories)[NO_CATEGORY] = 1;
	}
	return true;
}

/* False when there is no memory. */
static bool prepare(struct fxt_chunk *chunk, struct fxt_scratch *scratch)
{
	if (!scratch->heads)
		scratch->heads = calloc(1, sizeof *scratch->heads);
	if (!chunk->census)
		chunk->census = calloc(1, sizeof *chunk->census);
	struct fxt_census *census = chunk->census;
	if (scratch->heads && census && prepare_categories(&census->sums.categories) &&
	    prepare_categories(&census->leap.categories))
		return true;
	chunk->failed = true;
	return false;
}

/* Counts the leap, but nothing from `end` on. False where a record is not right: its place is in the doubts then. */
static bool count_to(struct fxt_chunk *chunk, struct fxt_leap *leap, struct fxt_heads *heads, size_t end)
{
	*leap = (struct fxt_leap){.big = leap->big, .from = leap->from, .to = leap->from};
	clear(&chunk->census->leap);
	return count_fast(&chunk->census->leap, heads, chunk, end, leap, true);
}

void fxt_count_leap(struct fxt_chunk *chunk, struct fxt_leap *leap, struct fxt_scratch *scratch)
{
	if (!prepare(chunk, scratch))
		return;
	struct fxt_heads *heads = scratch->heads;
	if (!count_to(chunk, leap, heads, chunk->end))
		count_to(chunk, leap, heads, heads->doubts.wrong); /* what stands before the first wrong one is right */
}

/* The walk came by. */
static void take_leap(struct fxt_sums *sums, const struct fxt_sums *leap)
{
	for (unsigned i = 0; i < TW_FXT_KINDS; i++)
		sums->kinds[i] += leap->kinds[i];
	for (unsigned i = 0; i < FXT_TYPES; i++)
		sums->events[i] += leap->events[i];
	add_up(&sums->provider, &leap->provider);
	for (unsigned i = 0; i < FXT_PAGE; i++)
		add_up(&sums->threads[i], &leap->threads[i]);
	for (size_t i = 0; i < leap->inline_count; i++)
		add_inline(sums, &leap->inlines[i]);
	sums->failed |= leap->failed;
	for (size_t i = 0; i < leap->used_count; i++)
		add_category(sums, leap->used[i], leap->categories[leap->used[i]]);
}

static void begin(struct fxt_census *census)
{
	clear(&census->sums);
	census->count = 0;
}

void fxt_count(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	if (!prepare(chunk, scratch))
		return;
	if (chunk->decoded == 0)
		begin(chunk->census);
	fxt_begin_turn(chunk);
	for (; chunk->decoded < chunk->piece_count; chunk->decoded++) {
		const struct fxt_piece *piece = &chunk->pieces[chunk->decoded];
		chunk->big = piece->big;
		if (piece->leapt)
			take_leap(&chunk->census->sums, &chunk->census->leap);
		else if (piece->kind == FXT_RECORDS)
			count_records(chunk, scratch->heads, piece->from, piece->to);
		else
			fxt_decode_piece(chunk, wish, piece);
	}
	settle(chunk, fxt_offset(chunk, chunk->walked));
}

void fxt_counted(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)wish;
	(void)scratch;
	chunk->slab.sorted = true;
}
