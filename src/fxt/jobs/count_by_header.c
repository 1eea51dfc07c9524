/* count_by_header.c - the fast path of counting records for `info`.
 *
 * It takes records that no other record depends on (events, scheduling, logs, profiler records) and counts them by the
 * low half of their headers. It stops at the first record that it cannot count. `make bench` measures info: without it
 * info takes twice as long. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/inline.h"
#include "base/memory/memory.h"
#include "fxt/events/values.h"
#include "fxt/jobs/census.h"

#include <stddef.h>

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

/* Counts a record for a thread whose index stands in its header, or both koids at a place, which is moved behind them.
 * False where these are not there. */
static bool count_thread(struct fxt_sums *sums, uint64_t index, const struct fxt_tally *tally, const uint8_t *bytes,
                         uint64_t *at, bool big)
{
	struct fxt_inline_tally one = {.tally = *tally};
	if (index) {
		fxt_add_up(&sums->threads[index], tally);
		return true;
	}
	if (tally->bytes - *at < 2 * TW_FXT_WORD)
		return false;
	one.process = tw_load64(bytes + *at, big);
	one.thread = tw_load64(bytes + *at + TW_FXT_WORD, big);
	if (one.thread)
		fxt_add_inline(sums, &one);
	*at += (uint64_t)2 * TW_FXT_WORD;
	return true;
}

static bool is_thread(const struct fxt_record_field *field)
{
	return field->form == FXT_FIELD_THREAD || field->form == FXT_FIELD_PROCESS;
}

/* Whether a field is the koid of a thread alone. */
static bool is_lone(const struct fxt_record_field *field)
{
	return field->form == FXT_FIELD_WORD && (field->member == offsetof(struct tw_fxt_record, thread.thread) ||
	                                         field->member == offsetof(struct tw_fxt_record, incoming.thread));
}

/* The threads that a record other than an event is about: their koids stand behind the time. */
static void count_threads(struct fxt_sums *sums, uint64_t header, enum tw_fxt_kind kind, const uint8_t *bytes,
                          uint64_t size, bool big)
{
	uint64_t at = (uint64_t)2 * TW_FXT_WORD, time = tw_load64(bytes + TW_FXT_WORD, big);
	const struct fxt_tally tally = {1, size, time, time};
	for (const struct fxt_record_field *field = fxt_record_kinds[kind].fields; field->form; field++) {
		if (is_thread(field) &&
		    !count_thread(sums, tw_bits(header, field->low, field->high), &tally, bytes, &at, big))
			return;
		if (is_lone(field) && size > at) {
			count_lone(sums, tw_load64(bytes + at, big), size, time);
			at += TW_FXT_WORD;
		}
	}
}

/* Counts a record that is neither an event nor one that others depend on. Of one that is unknown nothing is known but
 * its size. */
void fxt_count_other(struct fxt_sums *sums, uint64_t header, const uint8_t *bytes, uint64_t size, bool big)
{
	enum tw_fxt_kind kind = fxt_kind(header);
	sums->kinds[kind]++;
	if (!fxt_record_kinds[kind].timed || size <= TW_FXT_WORD)
		return;
	fxt_note_time(&sums->provider, tw_load64(bytes + TW_FXT_WORD, big));
	count_threads(sums, header, kind, bytes, size, big);
}

/* Counts a context switch or a wake-up without arguments. False for any other record. */
static bool count_plain_koids(struct fxt_sums *sums, uint64_t header, const uint8_t *bytes, uint64_t without, bool big)
{
	const uint32_t koids = fxt_plain_koids(header);
	const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big), size = fxt_switch_koid(koids);
	if (koids == 0 || ticks >= without)
		return false;
	sums->kinds[koids == 2 ? TW_FXT_CONTEXT_SWITCH : TW_FXT_THREAD_WAKEUP]++;
	sums->provider.records++;
	fxt_note_time(&sums->provider, ticks);
	for (uint32_t i = 0; i < koids; i++)
		count_lone(sums, tw_load64(bytes + fxt_switch_koid(i), big), size, ticks);
	return true;
}

/* The count of records with the same low half of the header: the same record type and size, and for events the same
 * event type, thread and number of arguments. */
struct group {
	uint64_t first, last; /* the least and the greatest time, in ticks */
	uint32_t low;         /* 0: none */
	uint32_t count;
	uint16_t over; /* bytes from the record's beginning to the last of its times */
	bool other;    /* records that are no events */
};

enum { GROUPS = 1 << 12 }; /* places of the hash table, at most half of them in use */

struct fxt_groups {
	struct group all[GROUPS]; /* by hash */
	uint16_t used[GROUPS / 2];
	size_t used_count;
	uint64_t credit; /* records that were counted, less the groups that were gone through to add them up */
};

/* The low half 0, which no record has, would be found in the first place if that were empty. */
struct fxt_groups *fxt_groups_new(void)
{
	struct fxt_groups *groups = tw_zeroed(1, sizeof *groups);
	if (groups)
		groups->all[0].low = UINT32_MAX;
	return groups;
}

/* The place by hash: ((size << 10) + (thread << 4) + event type) % GROUPS for events without arguments, which gives
 * those of the first 64 threads a place each. */
static inline struct group *group_at(struct fxt_groups *groups, uint32_t low)
{
	return &groups->all[(low * 0x4000011) >> 20];
}

/* Whether records with this low half are for the fast path: no others depend on them, and events are of a known type,
 * their thread is an index. */
static bool is_for_groups(uint32_t low)
{
	unsigned type = fxt_type(low);
	bool strange = type == TW_FXT_TYPE_EVENT && (tw_bits(low, 24, 31) == 0 || fxt_kind(low) == TW_FXT_UNKNOWN);
	return type >= TW_FXT_TYPE_EVENT && type <= TW_FXT_TYPE_PROFILER && tw_bits(low, 4, 15) >= 2 && !strange;
}

/* Finds or makes the group of records whose first place by hash belongs to another one. NULL where they are not for the
 * fast path, or the table is full. */
TW_NOINLINE struct group *find_group(struct fxt_groups *groups, uint32_t low)
{
	struct group *group = group_at(groups, low);
	if (!is_for_groups(low))
		return NULL;
	while (group->low && group->low != low)
		group = group < groups->all + GROUPS - 1 ? group + 1 : groups->all;
	if (group->low)
		return group;
	if (groups->used_count == GROUPS / 2)
		return NULL;
	groups->used[groups->used_count++] = (uint16_t)(group - groups->all);
	bool other = fxt_type(low) != TW_FXT_TYPE_EVENT, complete = !other && tw_bits(low, 16, 19) == FXT_COMPLETE;
	*group = (struct group){
	    .first = UINT64_MAX,
	    .low = low,
	    .over = (uint16_t)((complete ? tw_bits(low, 4, 15) - 1 : 1) * TW_FXT_WORD),
	    .other = other,
	};
	return group;
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
	const uint64_t count = tw_bits(header, 20, 23);
	return (fxt_known_pair(chunk, header) || fxt_look_up_pair(chunk, header, place)) &&
	       (count == 0 || fxt_are_registered(chunk, place, place + (size_t)2 * TW_FXT_WORD, count));
}

/* Counts an event. False where it is not for the fast path. */
TW_INLINE bool count_event(struct fxt_sums *sums, struct group *group, uint64_t without, uint64_t header,
                           const uint8_t *bytes, bool big)
{
	const uint32_t category = (uint16_t)(header >> 32);
	const uint64_t ticks = tw_load64(bytes + TW_FXT_WORD, big), told = tw_load64(bytes + group->over, big);
	if (told < ticks || told >= without)
		return false;
	if (__builtin_expect(sums->categories[category]++ == 0, 0) && !meet_category(sums, category))
		return false;
	group->count++;
	group->first = ticks < group->first ? ticks : group->first;
	group->last = told > group->last ? told : group->last;
	return true;
}

/* Counts records, up to the first that is not for the fast path; returns its place. */
TW_INLINE const uint8_t *count_run(struct fxt_chunk *chunk, struct fxt_groups *groups, const uint8_t *bytes,
                                   const uint8_t *to, bool big)
{
	struct fxt_sums *const sums = &chunk->census->sums;
	const uint64_t without = chunk->decoder.first_without;
	unsigned thread = 0; /* which is none */
	for (uint64_t size; bytes < to; bytes += size) {
		const uint64_t header = tw_load64(bytes, big);
		struct group *group = group_at(groups, (uint32_t)header);
		size = tw_bits(header, 4, 15) * TW_FXT_WORD;
		if (__builtin_expect(group->low != (uint32_t)header, 0) &&
		    !(group = find_group(groups, (uint32_t)header)))
			break;
		const bool counted = group->other ? count_plain_koids(sums, header, bytes, without, big)
		                                  : has_thread(chunk, header, bytes, &thread) &&
		                                        has_names(chunk, header, bytes) &&
		                                        count_event(sums, group, without, header, bytes, big);
		if (!counted)
			break;
	}
	return bytes;
}

static void empty(struct fxt_groups *groups)
{
	for (size_t i = 0; i < groups->used_count; i++)
		groups->all[groups->used[i]].low = 0;
	groups->used_count = 0;
	groups->credit = 0;
}

/* Adds the events that were counted by group to the sums by thread and by type. Groups stay for the next records, which
 * mostly have the same, until more have been gone through than records counted. */
static void add_groups(struct fxt_sums *sums, struct fxt_groups *groups)
{
	const uint64_t before = sums->provider.records;
	for (size_t i = 0; i < groups->used_count; i++) {
		struct group *group = &groups->all[groups->used[i]];
		const uint64_t bytes = group->count * tw_bits(group->low, 4, 15) * TW_FXT_WORD;
		const struct fxt_tally tally = {group->count, bytes, group->first, group->last};
		if (group->count == 0)
			continue;
		sums->provider.records += group->count;
		fxt_note_times(&sums->provider, tally.first, tally.last);
		sums->events[tw_bits(group->low, 16, 19)] += group->count;
		fxt_add_up(&sums->threads[tw_bits(group->low, 24, 31)], &tally);
		group->count = 0;
		group->first = UINT64_MAX;
		group->last = 0;
	}
	groups->credit += sums->provider.records - before;
	if (groups->used_count == GROUPS / 2 || groups->credit < groups->used_count)
		empty(groups);
	else
		groups->credit -= groups->used_count;
}

size_t fxt_count_by_header(struct fxt_chunk *chunk, struct fxt_groups *groups, size_t place, size_t end)
{
	struct fxt_sums *sums = &chunk->census->sums;
	const uint8_t *const from = chunk->bytes + place, *const to = chunk->bytes + end;
	const uint8_t *behind =
	    chunk->decoder.big ? count_run(chunk, groups, from, to, true) : count_run(chunk, groups, from, to, false);
	add_groups(sums, groups);
	sums->provider.bytes += (uint64_t)(behind - from);
	return (size_t)(behind - chunk->bytes);
}
