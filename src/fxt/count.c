/* count.c - the records of a chunk counted: by kind, provider, thread and category. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "fxt/census.h"
#include "fxt/layout.h"

static const struct fxt_tally none = {.first = UINT64_MAX};

void fxt_census_clear(struct fxt_census *census)
{
	census->provider = none;
	for (unsigned i = 0; i < FXT_PAGE; i++)
		census->threads[i] = none;
	memset(census->kinds, 0, sizeof census->kinds);
	memset(census->events, 0, sizeof census->events);
	census->count = 0;
}

void fxt_census_free(struct fxt_census *census)
{
	if (!census)
		return;
	free(census->categories);
	free(census->counts);
	free(census);
}

static bool prepare(struct fxt_chunk *chunk)
{
	if (chunk->census)
		return true;
	chunk->census = calloc(1, sizeof *chunk->census);
	if (chunk->census)
		chunk->census->categories = calloc(FXT_PAGE * FXT_PAGES, sizeof *chunk->census->categories);
	chunk->failed = !chunk->census || !chunk->census->categories;
	return !chunk->failed;
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
	struct fxt_tally *tally = &chunk->census->threads[index];
	if (tally->records == 0)
		return;
	struct fxt_count count = count_of(chunk, FXT_COUNTED_THREAD, tally);
	note_time(&chunk->census->provider, tally->first);
	note_time(&chunk->census->provider, tally->last);
	*tally = none;
	const struct fxt_entry *entry = fxt_thread_at(chunk->turn.provider, index, offset);
	if (!entry)
		return;
	count.number = entry->number;
	add_count(chunk, &count);
}

static void settle_category(struct fxt_chunk *chunk, unsigned index, uint64_t offset)
{
	struct fxt_tally tally = {.records = chunk->census->categories[index], .first = UINT64_MAX};
	struct fxt_count count = count_of(chunk, FXT_COUNTED_CATEGORY, &tally);
	if (tally.records == 0)
		return;
	chunk->census->categories[index] = 0;
	const struct fxt_entry *entry = index ? fxt_string_at(chunk->turn.provider, index, offset) : NULL;
	if (index && !entry)
		return;
	count.number = entry ? entry->number : 0;
	add_count(chunk, &count);
}

/* The provider or its clock changes, or the chunk ends: what indices mean now, they mean no more. */
static void settle(struct fxt_chunk *chunk, uint64_t offset)
{
	struct fxt_census *census = chunk->census;
	for (size_t i = 0; i < census->used_count; i++)
		settle_category(chunk, census->used[i], offset);
	for (unsigned i = 1; i < FXT_PAGE; i++)
		settle_thread(chunk, i, offset);
	census->used_count = 0;
	if (census->provider.records) {
		const struct fxt_count count = count_of(chunk, FXT_COUNTED_PROVIDER, &census->provider);
		add_count(chunk, &count);
		census->provider = none;
	}
}

/* ---- Records. ---- */

static inline void count_category(struct fxt_census *census, unsigned index)
{
	if (census->categories[index]++ == 0)
		census->used[census->used_count++] = (uint16_t)index;
}

/* Thread, category or both stand in the record: once for each record, because there is no index to count by. */
static void count_inline(struct fxt_chunk *chunk, size_t place, uint64_t header)
{
	const uint8_t *bytes = chunk->bytes + place;
	bool koids = tw_bits(header, 24, 31) == 0;
	unsigned category = (unsigned)tw_bits(header, 32, 47);
	struct fxt_tally tally = {.records = 1, .bytes = fxt_size(header) * (uint64_t)TW_FXT_WORD, .first = UINT64_MAX};
	uint64_t time = tw_load64(bytes + TW_FXT_WORD, chunk->big);
	note_time(&tally, time);
	note_time(&chunk->census->provider, time);
	if (koids) {
		struct fxt_count count = count_of(chunk, FXT_COUNTED_THREAD, &tally);
		count.process = tw_load64(bytes + 2 * TW_FXT_WORD, chunk->big);
		count.thread = tw_load64(bytes + 3 * TW_FXT_WORD, chunk->big);
		add_count(chunk, &count);
	}
	if (category < TW_FXT_STRING_INLINE) {
		count_category(chunk->census, category);
	} else {
		struct fxt_count count = count_of(chunk, FXT_COUNTED_CATEGORY, &tally);
		count.text = bytes + (koids ? 4 : 2) * TW_FXT_WORD;
		count.length = category & FXT_TEXT_MAX;
		add_count(chunk, &count);
	}
}

/* Events of one thread that stand together. */
struct streak {
	unsigned thread;
	const uint8_t *from;
	uint64_t before;      /* how many events were counted before them */
	uint64_t first, last; /* ticks */
};

/* The streak is handed on by value: then it can be kept in registers before. */
static void end_streak(struct fxt_census *census, struct streak streak, const uint8_t *end, uint64_t counted)
{
	struct fxt_tally *tally = &census->threads[streak.thread];
	tally->records += counted - streak.before;
	tally->bytes += (uint64_t)(end - streak.from);
	tally->first = streak.first < tally->first ? streak.first : tally->first;
	tally->last = streak.last > tally->last ? streak.last : tally->last;
}

/* Whether an event has its thread or its category inline. */
static inline bool is_inline(uint64_t header)
{
	return tw_bits(header, 24, 31) == 0 || tw_bits(header, 47, 47);
}

/* Counts events up to another record, those of a thread that stand together at once. Returns that one's place. `make bench`
 * measures info. */
static inline __attribute__((always_inline)) size_t count_events(struct fxt_chunk *chunk, size_t from, size_t end,
                                                                 bool big)
{
	struct fxt_census *census = chunk->census;
	const uint8_t *bytes = chunk->bytes + from, *const to = chunk->bytes + end;
	struct streak streak = {.from = bytes, .first = UINT64_MAX};
	uint64_t header, counted = 0;
	for (; bytes < to; bytes += (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD, counted++) {
		header = tw_load64(bytes, big);
		unsigned thread = (unsigned)tw_bits(header, 24, 31);
		if (fxt_type(header) != TW_FXT_TYPE_EVENT)
			break;
		if (thread != streak.thread) {
			end_streak(census, streak, bytes, counted);
			streak = (struct streak){thread, bytes, counted, UINT64_MAX, 0};
		}
		census->events[counted % 2][tw_bits(header, 16, 19)]++;
		if (__builtin_expect(is_inline(header), 0))
			count_inline(chunk, (size_t)(bytes - chunk->bytes), header);
		else
			count_category(census, (unsigned)tw_bits(header, 32, 46));
		uint64_t time = tw_load64(bytes + TW_FXT_WORD, big);
		streak.first = time < streak.first ? time : streak.first;
		streak.last = time > streak.last ? time : streak.last;
	}
	end_streak(census, streak, bytes, counted);
	census->provider.records += counted;
	census->provider.bytes += (size_t)(bytes - chunk->bytes) - from;
	return (size_t)(bytes - chunk->bytes);
}

/* Records that change what is counted by. */
static void count_table(struct fxt_chunk *chunk, size_t place, uint64_t header)
{
	uint64_t offset = fxt_offset(chunk, place);
	switch (fxt_type(header)) {
	case TW_FXT_TYPE_METADATA:
	case TW_FXT_TYPE_INITIALIZATION:
		settle(chunk, offset);
		fxt_next_turn(chunk);
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

static void count_full_buffer(struct fxt_chunk *chunk, uint64_t header)
{
	struct fxt_count count = count_of(chunk, FXT_COUNTED_PROVIDER, &none);
	count.provider = (uint32_t)tw_bits(header, 20, 51);
	count.dropped = tw_bits(header, 52, 55) == 0;
	add_count(chunk, &count);
}

/* Types whose second word is a time. */
static bool is_timed(unsigned type)
{
	return type == TW_FXT_TYPE_SCHEDULING || type == TW_FXT_TYPE_LOG || type == TW_FXT_TYPE_PROFILER;
}

/* What is no event. */
static void count_other(struct fxt_chunk *chunk, size_t place, uint64_t header, uint64_t size)
{
	struct fxt_census *census = chunk->census;
	enum tw_fxt_kind kind = fxt_kind(header);
	census->kinds[kind]++;
	if (fxt_type(header) < TW_FXT_TYPE_EVENT)
		count_table(chunk, place, header);
	else if (is_timed(fxt_type(header)) && size > TW_FXT_WORD)
		note_time(&census->provider, tw_load64(chunk->bytes + place + TW_FXT_WORD, chunk->big));
	if (kind == TW_FXT_PROVIDER_EVENT)
		count_full_buffer(chunk, header);
}

static void count_records(struct fxt_chunk *chunk, size_t place, size_t end)
{
	struct fxt_census *census = chunk->census;
	while (place < end) {
		place = chunk->big ? count_events(chunk, place, end, true) : count_events(chunk, place, end, false);
		if (place == end)
			return;
		uint64_t header = tw_load64(chunk->bytes + place, chunk->big);
		uint64_t size = fxt_size(header) * (uint64_t)TW_FXT_WORD;
		count_other(chunk, place, header, size);
		place += size < end - place ? (size_t)size : end - place;
		if (fxt_type(header) == TW_FXT_TYPE_METADATA)
			continue;
		census->provider.records++;
		census->provider.bytes += size;
	}
}

void fxt_count(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)scratch;
	if (!prepare(chunk))
		return;
	if (chunk->decoded == 0)
		fxt_census_clear(chunk->census);
	fxt_turn_to(chunk, &chunk->turn);
	for (; chunk->decoded < chunk->piece_count; chunk->decoded++) {
		const struct fxt_piece *piece = &chunk->pieces[chunk->decoded];
		chunk->big = piece->big;
		if (piece->kind == FXT_RECORDS)
			count_records(chunk, piece->from, piece->to);
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
