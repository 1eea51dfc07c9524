/* count.c - the records of a chunk counted: by kind, provider, thread and category. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/loops.h"
#include "base/memory/memory.h"
#include "fxt/events/events.h"
#include "fxt/jobs/census.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct fxt_tally none = {.first = UINT64_MAX};

static void clear(struct fxt_sums *sums)
{
	memset(sums->kinds, 0, sizeof sums->kinds);
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
	free(census->sums.inlines);
	free(census->counts);
	free(census);
}

/* ---- Sums that are complete become counts. ---- */

static void add_count(struct fxt_chunk *chunk, const struct fxt_count *count)
{
	struct fxt_census *census = chunk->census;
	if (!tw_grow(&census->counts, &census->room, census->count + 1, sizeof *census->counts)) {
		chunk->failed = true;
		return;
	}
	census->counts[census->count++] = *count;
}

/* The count that a tally makes. Its ticks are of the clock of the context that ends. */
static struct fxt_count count_of(struct fxt_chunk *chunk, enum fxt_counted what, const struct fxt_tally *tally)
{
	struct fxt_count count = {.what = what, .number = UINT32_MAX, .records = tally->records, .bytes = tally->bytes};
	count.provider = chunk->decoder.context.provider->id;
	count.generation = chunk->decoder.context.generation;
	count.first = UINT64_MAX;
	if (tally->first != UINT64_MAX || tally->last != 0) {
		count.first = tw_ticks_ns(&chunk->decoder.clock, tally->first);
		count.last =
		    tw_ticks_ns(&chunk->decoder.clock, tally->last > tally->first ? tally->last : tally->first);
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
	fxt_note_times(&sums->provider, tally->first, tally->last);
	*tally = none;
	const struct fxt_entry *entry = fxt_thread_at(chunk->decoder.context.provider, index, offset);
	if (!entry)
		count.undefined = index;
	else
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
	const struct fxt_entry *entry = index ? fxt_string_at(chunk->decoder.context.provider, index, offset) : NULL;
	if (index && !entry)
		count.undefined = index;
	else
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

/* Turns all sums into counts: the provider or its clock changes, or the chunk ends, and indices get other meanings. */
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

/* ---- The threads of records other than events. ---- */

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

static void add_inline(struct fxt_sums *sums, const struct fxt_inline_tally *from)
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
static void count_lone(struct fxt_sums *sums, uint64_t koid, uint64_t size, uint64_t time)
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
		add_inline(sums,
		           &(struct fxt_inline_tally){.thread = koid, .lone = true, .tally = {1, size, time, time}});
	}
}

static bool is_category(const struct fxt_record_field *field)
{
	return field->member == offsetof(struct tw_fxt_record, category);
}

/* Counts a record for a thread, whose index or koids it has. Events are counted for no thread, too. */
static void count_thread(struct fxt_sums *sums, const struct tw_fxt_thread *thread, const struct fxt_tally *tally,
                         bool is_event)
{
	const struct fxt_inline_tally one = {thread->process, thread->thread, false, *tally};
	if (thread->index)
		fxt_add_up(&sums->threads[thread->index], tally);
	else if (thread->thread || is_event)
		add_inline(sums, &one);
}

/* Whether a field is the koid of a thread alone. */
static bool is_lone(const struct fxt_record_field *field)
{
	return field->form == FXT_FIELD_WORD && (field->member == offsetof(struct tw_fxt_record, thread.thread) ||
	                                         field->member == offsetof(struct tw_fxt_record, incoming.thread));
}

/* ---- Records one by one. ---- */

static inline void add_category(struct fxt_sums *sums, unsigned index)
{
	if (sums->categories[index]++ == 0)
		sums->used[sums->used_count++] = (uint16_t)index;
}

/* A category that stands in the record itself has a count for each, because there is no index to add them up by. */
static void count_text(struct fxt_chunk *chunk, const struct fxt_tally *tally, const uint8_t *text, uint32_t length)
{
	struct fxt_count count = count_of(chunk, FXT_COUNTED_CATEGORY, tally);
	count.text = text;
	count.length = length;
	add_count(chunk, &count);
}

static void count_category(struct fxt_chunk *chunk, const struct tw_fxt_string *category, const struct fxt_tally *tally)
{
	if (category->bytes)
		count_text(chunk, tally, category->bytes, category->length);
	else
		add_category(&chunk->census->sums, category->reference & FXT_TEXT_MAX);
}

/* Counts a record for its threads and its category. */
static void count_fields(struct fxt_chunk *chunk, const struct tw_fxt_record *record, const struct fxt_tally *tally)
{
	struct fxt_sums *sums = &chunk->census->sums;
	const bool is_event = record->type == TW_FXT_TYPE_EVENT || record->kind == TW_FXT_LARGE_BLOB;
	const struct fxt_record_field *field = fxt_fields(record->kind, record->format);
	for (; field->form; field++) {
		const void *member = (const uint8_t *)record + field->member;
		if (field->form == FXT_FIELD_THREAD || field->form == FXT_FIELD_PROCESS)
			count_thread(sums, member, tally, is_event);
		else if (is_lone(field))
			count_lone(sums, fxt_number(record, field), tally->bytes, record->time);
		else if (field->form == FXT_FIELD_STRING && is_category(field))
			count_category(chunk, member, tally);
	}
}

/* Counts a record that is not of a table. One that ends before it begins has no duration. */
static void count_decoded(struct fxt_chunk *chunk, const struct tw_fxt_record *record)
{
	const uint64_t end = record->end > record->time ? record->end : record->time;
	const struct fxt_tally tally = {1, record->size, record->time, end};
	const bool timed = fxt_has_time(record);
	if (timed)
		fxt_note_times(&chunk->census->sums.provider, record->time, end);
	if (timed || record->kind == TW_FXT_LARGE_BLOB)
		count_fields(chunk, record, &tally);
}

static void count_full_buffer(struct fxt_chunk *chunk, uint64_t header)
{
	struct fxt_count count = count_of(chunk, FXT_COUNTED_PROVIDER, &none);
	count.provider = (uint32_t)tw_bits(header, 20, 51);
	count.dropped = tw_bits(header, 52, 55) == 0;
	add_count(chunk, &count);
}

/* Completes the sums that a record, which changes what indices mean, the clock or the provider, puts an end to. */
static void end_sums(struct fxt_chunk *chunk, size_t place, uint64_t header)
{
	const uint64_t offset = fxt_offset(chunk, place);
	if (fxt_type(header) <= TW_FXT_TYPE_INITIALIZATION)
		settle(chunk, offset);
	else if (fxt_type(header) == TW_FXT_TYPE_STRING)
		settle_category(chunk, (unsigned)tw_bits(header, 16, 30), offset - 1);
	else if (fxt_type(header) == TW_FXT_TYPE_THREAD)
		settle_thread(chunk, (unsigned)tw_bits(header, 16, 23), offset - 1);
}

/* Does with a record all that is done where rows are made of it: notes its findings, and passes to the next context.
 * The rows are taken back, but those about objects of the kernel, which name threads and processes when they are
 * committed. Returns its size, as far as it is in the chunk. */
static size_t take_record(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	const struct fxt_row_mark before = fxt_mark_rows(chunk);
	const uint64_t header = tw_load64(chunk->bytes + place, chunk->decoder.big);
	const size_t size = fxt_take_record(chunk, wish, place, end);
	if (fxt_kind(header) != TW_FXT_KERNEL_OBJECT)
		fxt_take_rows_back(chunk, &before);
	return size;
}

/* Returns the record's size, as far as it is in the chunk. */
static size_t count_record(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	struct tw_fxt_decoder decoder = {.bytes = chunk->bytes + place, .left = end - place, .big = chunk->decoder.big};
	struct fxt_sums *sums = &chunk->census->sums;
	struct tw_fxt_record record;
	const uint64_t header = tw_load64(chunk->bytes + place, chunk->decoder.big);
	end_sums(chunk, place, header);
	const size_t here = take_record(chunk, wish, place, end);
	sums->kinds[fxt_kind(header)]++;
	if (fxt_type(header) >= TW_FXT_TYPE_EVENT && tw_fxt_next(&decoder, &record) == 1)
		count_decoded(chunk, &record);
	if (fxt_kind(header) == TW_FXT_PROVIDER_EVENT)
		count_full_buffer(chunk, header);
	if (fxt_type(header) != TW_FXT_TYPE_METADATA) {
		sums->provider.records++;
		sums->provider.bytes += fxt_size(header) * (uint64_t)TW_FXT_WORD;
	}
	return here;
}

/* ---- The fast path: events whose thread and names are registered indices, and context switches. It stops at the first
 * other record. `make bench` measures info: without it info takes five times as long. ---- */

/* Counts a context switch or a wake-up without arguments. False for any other record. */
static bool count_plain_koids(struct fxt_sums *sums, uint64_t header, const uint8_t *bytes, uint64_t without, bool big)
{
	const uint32_t koids = fxt_plain_koids(header);
	if (koids == 0) /* it may be of one word */
		return false;
	const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big), size = fxt_switch_koid(koids);
	if (ticks >= without)
		return false;
	sums->kinds[koids == 2 ? TW_FXT_CONTEXT_SWITCH : TW_FXT_THREAD_WAKEUP]++;
	fxt_note_time(&sums->provider, ticks);
	for (uint32_t i = 0; i < koids; i++)
		count_lone(sums, tw_load64(bytes + fxt_switch_koid(i), big), size, ticks);
	return true;
}

/* Whether the thread of an event is registered. *last: the index of the last one that was. */
TW_INLINE bool has_thread(const struct fxt_chunk *chunk, uint64_t header, const uint8_t *bytes, unsigned *last)
{
	const unsigned index = (unsigned)tw_bits(header, 24, 31);
	const uint64_t offset = fxt_offset(chunk, (size_t)(bytes - chunk->bytes));
	if (__builtin_expect(index == *last, 1))
		return true;
	if (!fxt_thread_at(chunk->decoder.context.provider, index, offset))
		return false;
	*last = index;
	return true;
}

/* Whether category, name and arguments of an event refer to registered strings. */
TW_INLINE bool has_names(struct fxt_chunk *chunk, uint64_t header, const uint8_t *bytes)
{
	const size_t place = (size_t)(bytes - chunk->bytes);
	return fxt_pair_of(chunk, header, place) && fxt_has_registered(chunk, header, place);
}

/* Counts an event of a known type. False where it is not for the fast path. */
TW_INLINE bool count_plain_event(struct fxt_sums *sums, uint64_t without, uint64_t header, const uint8_t *bytes,
                                 bool big)
{
	const uint64_t size = tw_bits(header, 4, 15) * TW_FXT_WORD;
	const unsigned type = (unsigned)tw_bits(header, 16, 19);
	const uint64_t last = type == FXT_COMPLETE ? size - TW_FXT_WORD : TW_FXT_WORD;
	const struct fxt_tally tally = {1, size, tw_load64(bytes + TW_FXT_WORD, big), tw_load64(bytes + last, big)};
	if (tally.last < tally.first || tally.last >= without)
		return false;
	add_category(sums, (unsigned)tw_bits(header, 32, 47));
	fxt_add_up(&sums->threads[tw_bits(header, 24, 31)], &tally);
	sums->kinds[TW_FXT_INSTANT + type]++;
	return true;
}

static inline bool is_known_event(uint64_t header)
{
	return fxt_type(header) == TW_FXT_TYPE_EVENT && tw_bits(header, 16, 19) < FXT_EVENT_TYPES &&
	       tw_bits(header, 24, 31);
}

/* Returns the place of the first record that is not for the fast path. */
TW_INLINE const uint8_t *count_run(struct fxt_chunk *chunk, const uint8_t *bytes, const uint8_t *to, bool big)
{
	struct fxt_sums *const sums = &chunk->census->sums;
	const uint64_t without = chunk->decoder.first_without;
	unsigned thread = 0; /* which is none */
	uint64_t count = 0, header;
	for (; bytes < to; bytes += tw_bits(header, 4, 15) * TW_FXT_WORD, count++) {
		header = tw_load64(bytes, big);
		const bool counted = is_known_event(header) ? has_thread(chunk, header, bytes, &thread) &&
		                                                  has_names(chunk, header, bytes) &&
		                                                  count_plain_event(sums, without, header, bytes, big)
		                                            : count_plain_koids(sums, header, bytes, without, big);
		if (!counted)
			break;
	}
	sums->provider.records += count;
	return bytes;
}

static size_t count_plain(struct fxt_chunk *chunk, size_t place, size_t end)
{
	const uint8_t *const from = chunk->bytes + place, *const to = chunk->bytes + end;
	const uint8_t *behind =
	    chunk->decoder.big ? count_run(chunk, from, to, true) : count_run(chunk, from, to, false);
	chunk->census->sums.provider.bytes += (uint64_t)(behind - from);
	return (size_t)(behind - chunk->bytes);
}

/* ---- All of them. ---- */

static void count_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	while (place < end) {
		if (tw_loop_is_on(TW_LOOP_FXT_COUNT))
			place = count_plain(chunk, place, end);
		if (place < end)
			place += count_record(chunk, wish, place, end);
	}
}

/* ---- The chunk. ---- */

/* False when there is no memory. */
static bool prepare(struct fxt_chunk *chunk)
{
	if (!chunk->census)
		chunk->census = calloc(1, sizeof *chunk->census);
	struct fxt_sums *sums = chunk->census ? &chunk->census->sums : NULL;
	if (sums && !sums->categories)
		sums->categories = calloc(FXT_CATEGORIES, sizeof *sums->categories);
	chunk->failed |= !sums || !sums->categories;
	return !chunk->failed;
}

static void begin(struct fxt_census *census)
{
	clear(&census->sums);
	census->count = 0;
}

void fxt_count(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)scratch;
	if (!prepare(chunk))
		return;
	if (chunk->decoder.pieces_done == 0)
		begin(chunk->census);
	fxt_begin_context(chunk);
	for (; chunk->decoder.pieces_done < chunk->walk.piece_count; chunk->decoder.pieces_done++) {
		const struct fxt_piece *piece = &chunk->walk.pieces[chunk->decoder.pieces_done];
		chunk->decoder.big = piece->big;
		if (piece->kind == FXT_RECORDS && piece->odd)
			count_record(chunk, wish, piece->from, piece->to);
		else if (piece->kind == FXT_RECORDS)
			count_records(chunk, wish, piece->from, piece->to);
		else
			fxt_decode_piece(chunk, wish, piece);
	}
	settle(chunk,
	       fxt_offset(chunk, chunk->walk.place) - 1); /* the record there may give an index another meaning */
}

void fxt_counted(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)wish;
	(void)scratch;
	chunk->rows.slab.sorted = true;
}
