/* count.c - what is in a stretch of a log, counted without a look at what is before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/count.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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

struct tracelog_thread_count *tracelog_count_thread(struct tracelog_count *count, uint64_t key)
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

static void take_thread(struct tracelog_count *count, const struct tw_tracelog_record *record, unsigned trait)
{
	bool os = trait & HAS_THREAD && record->thread_form == TW_TRACELOG_THREAD_OS;
	struct tracelog_thread_count *thread = tracelog_count_thread(count, tracelog_thread_key(os, record->thread));
	if (!thread)
		return;
	thread->records++;
	thread->bytes += record->size;
	thread->samples += trait & IS_SAMPLE && record->count;
	thread->ticks += trait & IS_SAMPLE ? record->count : 0;
	if (!(trait & HAS_MS))
		return;
	thread->first = count->last < thread->first ? count->last : thread->first;
	thread->last = count->last > thread->last ? count->last : thread->last;
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
	bool known = trait & HAS_IID || (trait & HAS_THREAD && record->thread_form != TW_TRACELOG_THREAD_NONE);
	if (known)
		take_thread(count, record, trait);
	if (trait & IS_MARK || record->odd & TW_TRACELOG_NO_END)
		add_mark(count, at);
}

void tracelog_count(struct tracelog_count *count)
{
	const uint8_t *bytes = count->bytes;
	size_t size = count->size;
	count->dialects = UINT32_MAX;
	for (size_t at = 0; at < size && !count->failed; count->lines++) {
		struct tw_tracelog_record record;
		struct tw_tracelog_fault fault;
		const uint8_t *end = memchr(bytes + at, '\n', size - at);
		size_t length = end ? (size_t)(end - bytes) + 1 - at : size - at;
		if (tw_tracelog_decode(bytes + at, length, &record, &fault) == 0)
			take_record(count, &record, at);
		else
			add_mark(count, at);
		at += length;
	}
}

void tracelog_count_free(struct tracelog_count *count)
{
	free(count->threads);
	free(count->marks);
	tw_map_free(&count->by_key);
}
