/* count.c - the records of a chunk counted: by kind, provider, thread and category. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/memory/memory.h"
#include "fxt/events/events.h"
#include "fxt/jobs/census.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct fxt_tally none = {.first = UINT64_MAX};

void fxt_census_free(struct fxt_census *census)
{
	if (!census)
		return;
	free(census->counts);
	free(census);
}

/* ---- Sums that are complete become counts. ---- */

static struct fxt_count *new_count(struct fxt_chunk *chunk, const struct fxt_counted_key *key)
{
	struct fxt_census *census = chunk->census;
	const bool room = tw_grow(&census->counts, &census->room, census->count + 1, sizeof *census->counts);
	struct fxt_count *count = room ? &census->counts[census->count++] : &census->unkept;
	chunk->failed |= !room;
	*count = (struct fxt_count){.sum = {*key, none}};
	return count;
}

/* Makes a count of a tally, whose times are of the clock of the context, and begins it anew. */
static struct fxt_count *count_tally(struct fxt_chunk *chunk, const struct fxt_counted_key *key,
                                     struct fxt_tally *tally)
{
	struct fxt_count *count = new_count(chunk, key);
	const uint64_t last = tally->last > tally->first ? tally->last : tally->first;
	count->sum.tally.records = tally->records;
	count->sum.tally.bytes = tally->bytes;
	if (tally->first != UINT64_MAX || tally->last != 0) {
		count->sum.tally.first = tw_ticks_ns(&chunk->decoder.clock, tally->first);
		count->sum.tally.last = tw_ticks_ns(&chunk->decoder.clock, last);
	}
	*tally = none;
	return count;
}

static void end_sum(struct fxt_chunk *chunk, struct fxt_sum *sum)
{
	if (sum->tally.records == 0)
		return;
	fxt_note_times(&chunk->census->provider, sum->tally.first, sum->tally.last);
	count_tally(chunk, &sum->key, &sum->tally);
}

static void end_sums(struct fxt_chunk *chunk, struct fxt_sum *sums, size_t count)
{
	for (size_t i = 0; i < count; i++)
		end_sum(chunk, &sums[i]);
}

/* The provider or its clock changes, or the chunk ends. */
static void end_context(struct fxt_chunk *chunk)
{
	struct fxt_census *census = chunk->census;
	const struct fxt_context *context = &chunk->decoder.context;
	end_sums(chunk, census->categories, FXT_CATEGORY_SUMS);
	end_sums(chunk, census->threads, FXT_PAGE);
	end_sums(chunk, census->koids, FXT_KOID_SUMS);
	if (census->provider.records == 0) /* where another archive begins, the provider may be gone */
		return;
	const struct fxt_counted_key key = {.what = FXT_COUNTED(FXT_COUNTED_PROVIDER, context->provider->id)};
	struct fxt_count *count = count_tally(chunk, &key, &census->provider);
	count->name = context->name;
	count->frequency = context->frequency;
}

/* ---- Threads and categories of a record. ---- */

TW_NOINLINE struct fxt_tally *begin_sum(struct fxt_chunk *chunk, struct fxt_sum *sum, const struct fxt_counted_key *key)
{
	end_sum(chunk, sum);
	*sum = (struct fxt_sum){*key, none};
	return &sum->tally;
}

/* The tally of a key, in the place that it has among the sums. */
TW_INLINE struct fxt_tally *tally_of(struct fxt_chunk *chunk, struct fxt_sum *sum, const struct fxt_counted_key *key)
{
	bool same = sum->key.what == key->what && sum->key.process == key->process && sum->key.thread == key->thread;
	return __builtin_expect(same, 1) ? &sum->tally : begin_sum(chunk, sum, key);
}

static inline void add(struct fxt_tally *tally, uint64_t size, uint64_t first, uint64_t last)
{
	tally->records++;
	tally->bytes += size;
	fxt_note_times(tally, first, last);
}

TW_INLINE struct fxt_tally *tally_of_koids(struct fxt_chunk *chunk, const struct fxt_counted_key *key)
{
	return tally_of(chunk, &chunk->census->koids[(key->thread ^ key->thread >> 8) % FXT_KOID_SUMS], key);
}

/* Counts a record for a thread that is known by its koid alone. */
static void count_lone(struct fxt_chunk *chunk, uint64_t koid, uint64_t size, uint64_t time)
{
	const struct fxt_counted_key key = {.what = FXT_COUNTED(FXT_COUNTED_THREAD_ALONE, 0), .thread = koid};
	if (koid)
		add(tally_of_koids(chunk, &key), size, time, time);
}

/* The tally of the thread of an index; entry: what the index means, NULL where it is not registered. */
TW_INLINE struct fxt_tally *tally_of_index(struct fxt_chunk *chunk, unsigned index, const struct fxt_entry *entry)
{
	const struct fxt_counted_key key = {
	    .what = entry ? FXT_COUNTED(FXT_COUNTED_TRACK, entry->number)
	                  : FXT_COUNTED(FXT_COUNTED_THREAD_UNDEFINED, index),
	    .process = entry ? 0 : chunk->decoder.context.generation,
	};
	return tally_of(chunk, &chunk->census->threads[index], &key);
}

/* Counts a record for a category. */
TW_INLINE void count_what(struct fxt_chunk *chunk, unsigned index, uint64_t what)
{
	const struct fxt_counted_key key = {.what = what};
	tally_of(chunk, &chunk->census->categories[index % FXT_CATEGORY_SUMS], &key)->records++;
}

/* A record that is counted. */
struct counted {
	struct fxt_chunk *chunk;
	const struct tw_fxt_record *record;
	size_t place;
	uint64_t first, last; /* ticks */
};

/* Counts a record for a thread, whose index or koids it has. Events are counted for no thread, too. */
static void count_thread(const struct counted *counted, const struct tw_fxt_thread *thread)
{
	const struct tw_fxt_record *record = counted->record;
	const bool is_event = record->type == TW_FXT_TYPE_EVENT || record->kind == TW_FXT_LARGE_BLOB;
	const struct fxt_counted_key key = {FXT_COUNTED(FXT_COUNTED_THREAD, 0), thread->process, thread->thread};
	if (!thread->index && !thread->thread && !is_event)
		return;
	const struct fxt_entry *entry = fxt_thread_of(counted->chunk, thread->index, counted->place);
	struct fxt_tally *tally =
	    thread->index ? tally_of_index(counted->chunk, thread->index, entry) : tally_of_koids(counted->chunk, &key);
	add(tally, record->size, counted->first, counted->last);
}

/* A category that stands in the record itself has a count for each. */
static void count_category(const struct counted *counted, const struct tw_fxt_string *category)
{
	struct fxt_chunk *chunk = counted->chunk;
	const unsigned index = category->reference & FXT_TEXT_MAX;
	const struct fxt_counted_key key = {.what = FXT_COUNTED(FXT_COUNTED_CATEGORY_TEXT, 0)};
	if (category->bytes) {
		struct fxt_count *count = new_count(chunk, &key);
		count->text = category->bytes;
		count->length = category->length;
		count->sum.tally.records = 1;
		return;
	}
	const struct fxt_entry *entry = fxt_string_of(chunk, index, counted->place);
	count_what(chunk, index,
	           index && !entry ? FXT_COUNTED(FXT_COUNTED_CATEGORY_UNDEFINED, index)
	                           : FXT_COUNTED(FXT_COUNTED_CATEGORY, entry ? entry->number : 0));
}

/* Whether a field is the koid of a thread alone. */
static bool is_lone(const struct fxt_record_field *field)
{
	return field->form == FXT_FIELD_WORD && (field->member == offsetof(struct tw_fxt_record, thread.thread) ||
	                                         field->member == offsetof(struct tw_fxt_record, incoming.thread));
}

/* Counts a record for its threads and its category. */
static void count_fields(const struct counted *counted)
{
	const struct tw_fxt_record *record = counted->record;
	const struct fxt_record_field *field = fxt_fields(record->kind, record->format);
	for (; field->form; field++) {
		const void *member = (const uint8_t *)record + field->member;
		if (field->form == FXT_FIELD_THREAD || field->form == FXT_FIELD_PROCESS)
			count_thread(counted, member);
		else if (is_lone(field))
			count_lone(counted->chunk, fxt_number(record, field), record->size, record->time);
		else if (field->form == FXT_FIELD_STRING && field->member == offsetof(struct tw_fxt_record, category))
			count_category(counted, member);
	}
}

/* ---- Records one by one. ---- */

/* Counts a record that is not of a table. One that ends before it begins has no duration. */
static void count_decoded(struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place)
{
	const uint64_t end = record->end > record->time ? record->end : record->time;
	const struct counted counted = {chunk, record, place, record->time, end};
	const bool timed = fxt_has_time(record);
	if (timed)
		fxt_note_times(&chunk->census->provider, record->time, end);
	if (timed || record->kind == TW_FXT_LARGE_BLOB)
		count_fields(&counted);
}

static void count_full_buffer(struct fxt_chunk *chunk, uint64_t header)
{
	const struct fxt_counted_key key = {.what = FXT_COUNTED(FXT_COUNTED_PROVIDER, tw_bits(header, 20, 51))};
	new_count(chunk, &key)->dropped = tw_bits(header, 52, 55) == 0;
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

static size_t count_record(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	struct tw_fxt_decoder decoder = {.bytes = chunk->bytes + place, .left = end - place, .big = chunk->decoder.big};
	struct fxt_census *census = chunk->census;
	struct tw_fxt_record record;
	const uint64_t header = tw_load64(chunk->bytes + place, chunk->decoder.big);
	if (fxt_type(header) <= TW_FXT_TYPE_INITIALIZATION)
		end_context(chunk);
	const size_t here = take_record(chunk, wish, place, end);
	census->kinds[fxt_kind(header)]++;
	if (fxt_type(header) >= TW_FXT_TYPE_EVENT && tw_fxt_next(&decoder, &record) == 1)
		count_decoded(chunk, &record, place);
	if (fxt_kind(header) == TW_FXT_PROVIDER_EVENT)
		count_full_buffer(chunk, header);
	if (fxt_type(header) != TW_FXT_TYPE_METADATA) {
		census->provider.records++;
		census->provider.bytes += fxt_size(header) * (uint64_t)TW_FXT_WORD;
	}
	return here;
}

/* ---- The fast path: events whose thread and names are registered indices, and context switches. It stops at the first
 * other record. `make bench` measures info: without it info takes five times as long. ---- */

/* Whether the thread of an event is registered. *last: the index of the last one that was. */
TW_INLINE bool has_thread(struct fxt_chunk *chunk, unsigned index, size_t place, unsigned *last)
{
	if (index == *last)
		return true;
	const struct fxt_entry *entry = fxt_thread_of(chunk, index, place);
	if (!entry)
		return false;
	tally_of_index(chunk, index, entry);
	*last = index;
	return true;
}

/* Counts a context switch or a wake-up without arguments. False for any other record. */
static bool count_plain_koids(struct fxt_chunk *chunk, uint64_t header, const uint8_t *bytes, bool big)
{
	const uint32_t koids = fxt_plain_koids(header);
	if (koids == 0) /* it may be of one word */
		return false;
	const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big), size = fxt_switch_koid(koids);
	if (ticks >= chunk->decoder.first_without)
		return false;
	chunk->census->kinds[koids == 2 ? TW_FXT_CONTEXT_SWITCH : TW_FXT_THREAD_WAKEUP]++;
	fxt_note_times(&chunk->census->provider, ticks, ticks);
	for (uint32_t i = 0; i < koids; i++)
		count_lone(chunk, tw_load64(bytes + fxt_switch_koid(i), big), size, ticks);
	return true;
}

/* Counts an event of a known type. False where it is not for the fast path. */
TW_INLINE bool count_plain_event(struct fxt_chunk *chunk, unsigned *thread, uint64_t header, const uint8_t *bytes,
                                 uint64_t without, bool big)
{
	struct fxt_census *const census = chunk->census;
	const size_t place = (size_t)(bytes - chunk->bytes);
	const uint64_t size = tw_bits(header, 4, 15) * TW_FXT_WORD;
	const unsigned type = (unsigned)tw_bits(header, 16, 19), index = (unsigned)tw_bits(header, 24, 31);
	const uint64_t first = tw_load64(bytes + TW_FXT_WORD, big);
	const uint64_t last = tw_load64(bytes + (type == FXT_COMPLETE ? size - TW_FXT_WORD : TW_FXT_WORD), big);
	if (last < first || last >= without)
		return false;
	if (!has_thread(chunk, index, place, thread))
		return false;
	const struct fxt_pair *names = fxt_pair_of(chunk, header, place);
	if (!names || !fxt_has_registered(chunk, header, place))
		return false;
	count_what(chunk, (unsigned)tw_bits(header, 32, 47), FXT_COUNTED(FXT_COUNTED_CATEGORY, names->category));
	add(&census->threads[index].tally, size, first, last);
	census->kinds[TW_FXT_INSTANT + type]++;
	return true;
}

static inline bool is_known_event(uint64_t header)
{
	return fxt_type(header) == TW_FXT_TYPE_EVENT && tw_bits(header, 16, 19) < FXT_EVENT_TYPES &&
	       tw_bits(header, 24, 31);
}

/* Returns the place of the first record that is not for the fast path. */
TW_INLINE size_t count_plain(struct fxt_chunk *chunk, size_t place, size_t end, bool big)
{
	const uint8_t *const from = chunk->bytes + place, *const to = chunk->bytes + end, *bytes = from;
	const uint64_t without = chunk->decoder.first_without;
	unsigned thread = 0; /* which is none */
	uint64_t count = 0, header;
	for (; bytes < to; bytes += tw_bits(header, 4, 15) * TW_FXT_WORD, count++) {
		header = tw_load64(bytes, big);
		if (is_known_event(header) ? !count_plain_event(chunk, &thread, header, bytes, without, big)
		                           : !count_plain_koids(chunk, header, bytes, big))
			break;
	}
	chunk->census->provider.records += count;
	chunk->census->provider.bytes += (uint64_t)(bytes - from);
	return (size_t)(bytes - chunk->bytes);
}

/* ---- The chunk. ---- */

static size_t count_in_loop(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	(void)wish;
	return chunk->decoder.big ? count_plain(chunk, place, end, true) : count_plain(chunk, place, end, false);
}

/* Begins to count a chunk. False when there is no memory. */
static bool prepare(struct fxt_chunk *chunk)
{
	struct fxt_census *census = chunk->census = chunk->census ? chunk->census : calloc(1, sizeof *census);
	chunk->failed |= !census;
	if (census && chunk->decoder.pieces_done == 0) {
		memset(census->kinds, 0, sizeof census->kinds);
		census->provider = none;
		census->count = 0;
	}
	return !chunk->failed;
}

void fxt_count(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	static const struct fxt_way counts = {TW_LOOP_FXT_COUNT, count_in_loop, count_record};
	(void)scratch;
	if (!prepare(chunk))
		return;
	fxt_take_pieces(chunk, wish, &counts);
	end_context(chunk);
}
