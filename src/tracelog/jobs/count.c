/* count.c - what is in a block of a log, counted without a look at what is before it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/jobs/count.h"

#include "base/loops.h"
#include "base/memory/memory.h"
#include "tracelog/format/layout.h"

#include <stdlib.h>
#include <string.h>

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
	if (count->threads && *recent && count->threads[*recent - 1].key == key)
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

/* Takes a time of 32 bits, which wraps: the nearest to that of the line before is meant. Most are the same. */
static inline void take_time(struct tracelog_count *count, uint32_t ms)
{
	if (!count->timed)
		count->start = ms;
	int32_t step = (int32_t)(ms - count->start - (uint32_t)count->last);
	if (count->timed && step == 0)
		return;
	count->timed = true;
	count->last += step;
	count->low = count->last < count->low ? count->last : count->low;
	count->high = count->last > count->high ? count->last : count->high;
}

/* Adds a line to what a thread did. Its time has been taken. */
static inline void add_line(struct tracelog_count *count, uint64_t key, size_t size, bool timed, uint64_t ticks)
{
	uint32_t recent = count->recent[key % TRACELOG_COUNT_RECENT];
	struct tracelog_thread_count *thread = recent ? &count->threads[recent - 1] : NULL;
	if ((!thread || thread->key != key) && !(thread = tracelog_count_thread(count, key)))
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

static uint64_t key_of(const struct tw_tracelog_record *record, unsigned trait)
{
	if (trait & HAS_THREAD && record->thread_form == TW_TRACELOG_THREAD_NONE)
		return tracelog_thread_key(false, TW_TRACELOG_IID_NONE);
	return tracelog_thread_key(trait & HAS_THREAD && record->thread_form == TW_TRACELOG_THREAD_OS, record->thread);
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
	if (trait & (HAS_IID | HAS_THREAD))
		add_line(count, key_of(record, trait), record->size, trait & HAS_MS,
		         trait & IS_SAMPLE ? record->count : 0);
	if (trait & IS_MARK || record->odd & (TW_TRACELOG_NO_END | TW_TRACELOG_SURPLUS) || has_bad_items(record))
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

/* ---- Plain lines. ---- */

/* Counts of plain lines, which are added to the others at the end. */
struct fast_counts {
	uint64_t counts[TRACELOG_LINE_KINDS];
	uint8_t forms[TRACELOG_LINE_KINDS]; /* how instruction pointers were written: by bit, see form_of() */
};

enum { FORMS = 8, FORM_KNOWN = 4 };

static unsigned form_of(const struct tracelog_fast_line *entry)
{
	return entry->ip_style / TW_TRACELOG_BARE_IP | (entry->ip_known ? FORM_KNOWN : 0u);
}

/* Takes a plain line; all of them have a time. */
static inline void take_plain(struct tracelog_count *count, struct fast_counts *tally,
                              const struct tracelog_fast_line *entry, size_t size)
{
	tally->counts[entry->kind]++;
	tally->forms[entry->kind] |= (uint8_t)(1u << form_of(entry));
	take_time(count, entry->ms);
	uint64_t is_sample = entry->kind == TRACELOG_SAMPLE;
	if (entry->kind != TRACELOG_PROCESS_CPU)
		add_line(count, tracelog_thread_key(false, entry->thread), size, true, entry->number & (0 - is_sample));
}

static void add_tally(struct tracelog_count *count, const struct fast_counts *tally)
{
	for (unsigned plain = TRACELOG_OTHER_LINE + 1; plain < TRACELOG_LINE_KINDS; plain++) {
		enum tw_tracelog_kind kind = tracelog_kind_of_line(plain);
		count->kinds[kind] += tally->counts[plain];
		for (unsigned form = 0; form < FORMS; form++) {
			if (tally->forms[plain] >> form & 1)
				count->dialects &= tracelog_dialects_by(kind, form & FORM_KNOWN,
				                                        form % FORM_KNOWN * TW_TRACELOG_BARE_IP);
		}
	}
}

/* Empties a count, and keeps its memory. */
static void clear(struct tracelog_count *count, const uint8_t *bytes, size_t size)
{
	tw_map_clear(&count->by_key);
	*count = (struct tracelog_count){
	    .bytes = bytes,
	    .size = size,
	    .dialects = UINT32_MAX,
	    .threads = count->threads,
	    .thread_room = count->thread_room,
	    .by_key = count->by_key,
	    .marks = count->marks,
	    .mark_room = count->mark_room,
	};
}

void tracelog_count(struct tracelog_count *count, const uint8_t *bytes, size_t size)
{
	const uint8_t *end = size ? bytes + size : bytes, *next;
	const uint8_t *last = size ? memrchr(bytes, '\n', size) : NULL, *ended = bytes;
	struct fast_counts tally = {0};
	if (last && tw_loop_is_on(TW_LOOP_TRACELOG_COUNT))
		ended = last + 1;
	clear(count, bytes, size);
	for (const uint8_t *line = bytes; line < end && !count->failed; line = next, count->lines++) {
		struct tracelog_fast_line entry;
		next = line < ended ? tracelog_fast_decode_head(&entry, line) : NULL;
		if (next)
			take_plain(count, &tally, &entry, (size_t)(next - line));
		else
			next = line + take_any(count, (size_t)(line - bytes));
	}
	add_tally(count, &tally);
}

void tracelog_count_free(struct tracelog_count *count)
{
	free(count->threads);
	free(count->marks);
	tw_map_free(&count->by_key);
}
