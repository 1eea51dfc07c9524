/* count.c - what is in a stretch of a log, counted without a look at what is before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/count.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tracelog/layout.h"

/* What a kind has that is counted. */
enum { HAS_MS = 1, HAS_IID = 2, HAS_THREAD = 4, HAS_POINTER = 8, IS_MARK = 16, IS_SAMPLE = 32 };

static const uint8_t traits[TW_TRACELOG_KINDS] = {
    [TW_TRACELOG_PRF_STM] = IS_MARK,
    [TW_TRACELOG_PRF_CFG] = IS_MARK,
    [TW_TRACELOG_PRF_TPS] = HAS_MS | IS_MARK,
    [TW_TRACELOG_PRF_TRS] = HAS_MS | IS_MARK,
    [TW_TRACELOG_PRC_CPU] = HAS_MS,
    [TW_TRACELOG_THR_CRT] = HAS_IID | HAS_POINTER,
    [TW_TRACELOG_THR_AOS] = HAS_IID | IS_MARK,
    [TW_TRACELOG_THR_DST] = HAS_IID,
    [TW_TRACELOG_THR_CPU] = HAS_IID | HAS_MS,
    [TW_TRACELOG_MOD_LDF] = HAS_POINTER,
    [TW_TRACELOG_MOD_ATA] = HAS_POINTER,
    [TW_TRACELOG_ASM_LDF] = HAS_POINTER,
    [TW_TRACELOG_APD_CRF] = HAS_POINTER | IS_MARK,
    [TW_TRACELOG_CLS_LDF] = HAS_POINTER,
    [TW_TRACELOG_FUN_INF] = HAS_POINTER,
    [TW_TRACELOG_FUN_CMF] = HAS_POINTER,
    [TW_TRACELOG_FUN_CSF] = HAS_POINTER,
    [TW_TRACELOG_JIT_CMS] = HAS_THREAD | HAS_MS | HAS_POINTER,
    [TW_TRACELOG_JIT_CMF] = HAS_THREAD | HAS_MS | HAS_POINTER,
    [TW_TRACELOG_JIT_CSS] = HAS_THREAD | HAS_MS | HAS_POINTER,
    [TW_TRACELOG_JIT_CSF] = HAS_THREAD | HAS_MS | HAS_POINTER,
    [TW_TRACELOG_GCH_GCS] = HAS_THREAD | HAS_MS,
    [TW_TRACELOG_GCH_GCF] = HAS_THREAD | HAS_MS,
    [TW_TRACELOG_GCH_ALT] = HAS_MS,
    [TW_TRACELOG_GCH_GEN] = HAS_MS,
    [TW_TRACELOG_SAM_STR] = HAS_IID | HAS_MS | IS_SAMPLE,
    [TW_TRACELOG_STR_SAM] = HAS_IID | HAS_MS | IS_SAMPLE,
    [TW_TRACELOG_SAM_MEM] = HAS_IID | HAS_MS,
};

static struct tracelog_thread_count *find_thread(struct tracelog_count *count, uint64_t key)
{
	uint32_t place = (uint32_t)count->thread_count;
	if (tw_map_find(&count->by_key, key, &place))
		return &count->threads[place];
	if (!tw_grow(&count->threads, &count->thread_room, count->thread_count + 1, sizeof *count->threads) ||
	    !tw_map_add(&count->by_key, key, place)) {
		count->failed = true;
		return NULL;
	}
	count->threads[place] = (struct tracelog_thread_count){.key = key, .first = INT64_MAX, .last = INT64_MIN};
	count->thread_count++;
	return &count->threads[place];
}

struct tracelog_thread_count *tracelog_count_thread(struct tracelog_count *count, uint64_t key)
{
	uint32_t *recent = &count->recent[key % TRACELOG_COUNT_RECENT];
	if (*recent && count->threads[*recent - 1].key == key)
		return &count->threads[*recent - 1];
	struct tracelog_thread_count *thread = find_thread(count, key);
	if (thread)
		*recent = (uint32_t)(thread - count->threads) + 1;
	return thread;
}

static void add_mark(struct tracelog_count *count, size_t at)
{
	if (!tw_grow(&count->marks, &count->mark_room, count->mark_count + 1, sizeof *count->marks)) {
		count->failed = true;
		return;
	}
	count->marks[count->mark_count++] = (struct tracelog_mark){at, count->lines};
}

/* Times wrap: the one that is nearest to that of the line before is meant. */
static void take_time(struct tracelog_count *count, uint32_t ms)
{
	if (!count->timed)
		count->start = ms;
	count->timed = true;
	count->last += (int32_t)(ms - count->start - (uint32_t)count->last);
	count->low = count->last < count->low ? count->last : count->low;
	count->high = count->last > count->high ? count->last : count->high;
}

/* Adds a line to what a thread did. Its time has been taken. */
static void add_line(struct tracelog_count *count, uint64_t key, size_t size, bool timed, uint64_t ticks)
{
	struct tracelog_thread_count *thread = tracelog_count_thread(count, key);
	if (!thread)
		return;
	thread->records++;
	thread->bytes += size;
	thread->samples += ticks > 0;
	thread->ticks += ticks;
	if (!timed)
		return;
	thread->first = count->last < thread->first ? count->last : thread->first;
	thread->last = count->last > thread->last ? count->last : thread->last;
}

/* ---- Lines. ---- */

static bool has_bad_items(const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	struct tw_tracelog_fault fault;
	int status;
	do
		status = tw_tracelog_next(record, &list, &item, &fault);
	while (status > 0);
	return status < 0;
}

static void take_record(struct tracelog_count *count, const struct tw_tracelog_record *record, size_t at)
{
	unsigned trait = traits[record->kind];
	count->kinds[record->kind]++;
	count->dialects &= tw_tracelog_dialects(record);
	if (trait & HAS_POINTER)
		count->pointers |= record->style & TW_TRACELOG_POINTERS_32 ? 2 : 1;
	if (trait & HAS_MS)
		take_time(count, record->ms);
	bool os = trait & HAS_THREAD && record->thread_form == TW_TRACELOG_THREAD_OS;
	if (trait & HAS_IID || (trait & HAS_THREAD && record->thread_form != TW_TRACELOG_THREAD_NONE))
		add_line(count, tracelog_thread_key(os, record->thread), record->size, trait & HAS_MS,
		         trait & IS_SAMPLE ? record->count : 0);
	if (trait & IS_MARK || record->odd & TW_TRACELOG_NO_END || has_bad_items(record))
		add_mark(count, at);
}

static size_t take_any(struct tracelog_count *count, size_t at)
{
	struct tw_tracelog_record record;
	struct tw_tracelog_fault fault;
	const uint8_t *line = count->bytes + at, *end = memchr(line, '\n', count->size - at);
	size_t size = end ? (size_t)(end - line) + 1 : count->size - at;
	if (tw_tracelog_decode(line, size, &record, &fault) == 0)
		take_record(count, &record, at);
	else
		add_mark(count, at);
	return size;
}

/* All that is plain has a time. */
static void take_plain(struct tracelog_count *count, const struct tracelog_entry *entry, size_t size)
{
	enum tw_tracelog_kind kind = tracelog_plain_kind(entry->plain);
	count->kinds[kind]++;
	count->dialects &= tracelog_dialects_by(kind, entry->ip_known, entry->ip_style);
	take_time(count, entry->ms);
	if (entry->plain != TRACELOG_PROCESS_CPU)
		add_line(count, tracelog_thread_key(false, entry->thread), size, true,
		         entry->plain == TRACELOG_SAMPLE ? entry->number : 0);
}

void tracelog_count(struct tracelog_count *count)
{
	const uint8_t *bytes = count->bytes, *last = count->size ? memrchr(bytes, '\n', count->size) : NULL;
	size_t ended = last ? (size_t)(last - bytes) + 1 : 0;
	count->dialects = UINT32_MAX;
	for (size_t at = 0, size; at < count->size && !count->failed; at += size, count->lines++) {
		struct tracelog_entry entry;
		count->lists.frame_count = count->lists.allocation_count = 0;
		const uint8_t *next = at < ended ? tracelog_take_plain(&count->lists, &entry, bytes + at) : NULL;
		size = next ? (size_t)(next - bytes) - at : take_any(count, at);
		if (next)
			take_plain(count, &entry, size);
		count->failed |= count->lists.failed;
	}
}

void tracelog_count_free(struct tracelog_count *count)
{
	free(count->threads);
	free(count->marks);
	tw_map_free(&count->by_key);
	tracelog_lists_free(&count->lists);
}
