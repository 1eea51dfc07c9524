/* cut.c - a part of a log that stands alone: which lines stay, and what changes in them.
 *
 * What others need stays in any case: settings, threads, modules, classes, functions. The rest stays when one of its
 * events passes the filters. Names do not filter samples here: the time that one stands for counts from the one
 * before. Samples tell how a stack has changed, so that the stack of each thread is followed, and the first sample
 * after some that were left out is made anew. Pauses, compilations and collections that reach over an edge of the
 * window begin or end there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/jobs/cut.h"

#include "base/memory/memory.h"
#include "base/text/digits.h"
#include "tracelog/format/layout.h"
#include "tracelog/jobs/cut_state.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_IN_MS UINT64_C(1000000)

/* Threads by number: managed ones by the profiler's, others of the system by theirs, and what tells no thread. */
#define NATIVE (UINT64_C(1) << 32)
#define NOBODY (UINT64_C(1) << 33)

enum {
	MEMORY_SHARE = 4, /* of the memory limit, for threads and their stacks */
	LINE_SHARE = 16,  /* the same, for the list of a line */
	OPEN_MAX = 4096,  /* more that is begun and not finished is damage */
};

/* ---- The edges of the window, as settings. ---- */

static struct tw_tracelog_text text_of(const char *bytes)
{
	return (struct tw_tracelog_text){(const uint8_t *)bytes, strlen(bytes)};
}

static bool is_called(struct tw_tracelog_text name, const char *wanted)
{
	return name.size == strlen(wanted) && memcmp(name.bytes, wanted, name.size) == 0;
}

static uint64_t number_in(struct tw_tracelog_text text)
{
	uint64_t number = 0;
	for (size_t i = 0; i < text.size && number < UINT32_MAX; i++)
		number = number * 10 + (text.bytes[i] - (uint64_t)'0') % 10;
	return number;
}

/* An edge of a larger window gives way. */
static bool take_setting(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	if (is_called(record->name, TRACELOG_PART_BEGIN_NAME)) {
		cut->part.begun |= number_in(record->value) > cut->from;
		return cut->part.begun || !cut->from;
	}
	return !is_called(record->name, TRACELOG_PART_END_NAME) || number_in(record->value) < cut->to;
}

/* ---- Pauses: they say how long samples took, of all threads. ---- */

static bool take_pause(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	(void)record;
	if (cut->now < cut->from)
		cut->pause.held = true;
	if (!tracelog_cut_in_window(cut))
		return false;
	cut->pause.written = true;
	return true;
}

static bool take_resume(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	bool held = cut->pause.held, written = cut->pause.written;
	cut->pause.due = held && cut->now > cut->from;
	cut->pause.held = cut->pause.written = false;
	record->ms = (uint32_t)tracelog_cut_clip(cut, cut->now);
	return written || cut->pause.due || (!held && tracelog_cut_in_window(cut));
}

/* ---- Compilations and collections. ---- */

static uint64_t thread_key(const struct tracelog_cut *cut, const struct tw_tracelog_record *record)
{
	uint32_t iid;
	if (record->thread_form == TW_TRACELOG_THREAD_NONE)
		return NOBODY;
	if (record->thread_form == TW_TRACELOG_THREAD_IID)
		return record->thread;
	return tw_map_find(&cut->threads.by_system, record->thread, &iid) ? iid : NATIVE + record->thread;
}

static enum tracelog_activity activity_of(const struct tw_tracelog_record *record)
{
	if (record->kind == TW_TRACELOG_GCH_GCS || record->kind == TW_TRACELOG_GCH_GCF)
		return TRACELOG_GC;
	bool cached = record->kind == TW_TRACELOG_JIT_CSS || record->kind == TW_TRACELOG_JIT_CSF;
	return cached ? TRACELOG_JIT_CACHED : TRACELOG_JIT;
}

static bool take_start(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	const struct cut_activity open = {activity_of(record), thread_key(cut, record), record->id, cut->is_wanted};
	if (cut->open.count < OPEN_MAX) {
		if (!tw_grow(&cut->open.items, &cut->open.room, cut->open.count + 1, sizeof open)) {
			cut->failed = true;
			return false;
		}
		cut->open.items[cut->open.count++] = open;
	}
	record->ms = (uint32_t)tracelog_cut_clip(cut, cut->now);
	return open.kept;
}

/* What an end belongs to, plus 1: as jit_and_gc.c finds it. */
static size_t find_open(const struct tracelog_cut *cut, const struct cut_activity *end)
{
	bool gc = end->activity == TRACELOG_GC;
	size_t oldest = 0;
	for (size_t i = cut->open.count; i > 0; i--) {
		const struct cut_activity *open = &cut->open.items[i - 1];
		if (open->activity != end->activity)
			continue;
		if (open->thread == end->thread && (gc || open->pointer == end->pointer))
			return i;
		oldest = i;
	}
	return gc ? oldest : 0;
}

/* Forgets the compilations of a thread from number `at` on, which are over. */
static void close_compilations(struct tracelog_cut *cut, uint64_t thread, size_t at)
{
	size_t kept = at;
	for (size_t i = at; i < cut->open.count; i++)
		if (cut->open.items[i].thread != thread || cut->open.items[i].activity == TRACELOG_GC)
			cut->open.items[kept++] = cut->open.items[i];
	cut->open.count = kept;
}

static bool take_finish(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	const struct cut_activity end = {activity_of(record), thread_key(cut, record), record->id, false};
	size_t found = find_open(cut, &end);
	if (!found)
		return false;
	bool kept = cut->open.items[found - 1].kept;
	if (end.activity == TRACELOG_GC || end.thread == NOBODY)
		memmove(cut->open.items + found - 1, cut->open.items + found, (cut->open.count-- - found) * sizeof end);
	else
		close_compilations(cut, end.thread, found - 1);
	record->ms = (uint32_t)tracelog_cut_clip(cut, cut->now);
	return kept;
}

static bool take_assignment(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	uint32_t *stored = tw_map_stored(&cut->threads.by_system, record->os_thread);
	if (record->thread == UINT32_MAX)
		return true;
	if (stored)
		*stored = record->thread + 1;
	else if (tracelog_cut_take_memory(cut, 2 * sizeof(struct tw_map_slot)))
		cut->failed |= !tw_map_add(&cut->threads.by_system, record->os_thread, record->thread);
	return true;
}

static bool take_destruction(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	close_compilations(cut, record->thread, 0);
	return true;
}

/* ---- Records. ---- */

static bool take_event(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	(void)record;
	return cut->is_wanted;
}

/* Whether a record stays; NULL: in any case. */
static const struct {
	bool (*take)(struct tracelog_cut *cut, struct tw_tracelog_record *record);
	bool timed;
} takes[TW_TRACELOG_KINDS] = {
    [TW_TRACELOG_PRF_CFG] = {take_setting, false},
    [TW_TRACELOG_PRF_TPS] = {take_pause, true},
    [TW_TRACELOG_PRF_TRS] = {take_resume, true},
    [TW_TRACELOG_PRC_CPU] = {take_event, true},
    [TW_TRACELOG_THR_CPU] = {take_event, true},
    [TW_TRACELOG_THR_AOS] = {take_assignment, false},
    [TW_TRACELOG_THR_DST] = {take_destruction, false},
    [TW_TRACELOG_JIT_CMS] = {take_start, true},
    [TW_TRACELOG_JIT_CMF] = {take_finish, true},
    [TW_TRACELOG_JIT_CSS] = {take_start, true},
    [TW_TRACELOG_JIT_CSF] = {take_finish, true},
    [TW_TRACELOG_GCH_GCS] = {take_start, true},
    [TW_TRACELOG_GCH_GCF] = {take_finish, true},
    [TW_TRACELOG_GCH_ALT] = {take_event, true},
    [TW_TRACELOG_GCH_GEN] = {take_event, true},
    [TW_TRACELOG_SAM_STR] = {tracelog_cut_take_sample, true},
    [TW_TRACELOG_STR_SAM] = {tracelog_cut_take_sample, true},
    [TW_TRACELOG_SAM_MEM] = {tracelog_cut_take_allocations, true},
};

static void free_session(struct tracelog_cut *cut)
{
	for (size_t i = 0; i < cut->threads.count; i++)
		free(cut->threads.items[i].frames);
	free(cut->threads.items);
	free(cut->open.items);
	tw_map_free(&cut->threads.by_iid);
	tw_map_free(&cut->threads.by_system);
}

static uint64_t ms_from(uint64_t ns)
{
	return ns / NS_IN_MS + (ns % NS_IN_MS != 0);
}

/* Sets the window by the clock of a session that starts later than the first: what ends before it has one that is
 * empty. */
static void set_window(struct tracelog_cut *cut, uint64_t later)
{
	uint64_t from = ms_from(cut->options->from_ns), to = ms_from(cut->options->to_ns);
	cut->from = from > later ? from - later : 0;
	cut->to = !cut->options->to_ns ? UINT64_MAX : to > later ? to - later : 0;
}

/* In another session numbers and pointers mean something else. */
static void take_session(struct tracelog_cut *cut, const struct tw_tracelog_record *record)
{
	const struct tracelog_start start = tracelog_start_of(record);
	if (!cut->start.is_set) {
		cut->start = start;
		return;
	}
	free_session(cut);
	memset(&cut->threads, 0, offsetof(struct cut_threads, limit));
	memset(&cut->open, 0, sizeof cut->open);
	memset(&cut->pause, 0, sizeof cut->pause);
	memset(&cut->part, 0, sizeof cut->part);
	cut->times = (struct tracelog_times){0};
	cut->now = 0;
	cut->met = false;
	set_window(cut, tracelog_later_by(&cut->start, &start));
}

void tracelog_cut_take(struct tracelog_cut *cut, struct tw_tracelog_record *record, uint64_t offset)
{
	cut->written.thread = NULL;
	cut->untracked = false;
	if (record->kind == TW_TRACELOG_PRF_STM)
		take_session(cut, record);
	cut->is_wanted = tw_is_wanted(cut->wanted, offset);
	if (takes[record->kind].timed)
		cut->now = tracelog_unwrap(&cut->times, record->ms);
	if (cut->pause.held && takes[record->kind].timed && tracelog_cut_in_window(cut) &&
	    record->kind != TW_TRACELOG_PRF_TRS) {
		cut->pause.due = cut->pause.written = true;
		cut->pause.held = false;
	}
	cut->met |= record->kind > TW_TRACELOG_PRF_CFG;
	bool kept = !takes[record->kind].take || takes[record->kind].take(cut, record);
	cut->written.record = kept ? record : NULL;
}

/* Writes an edge of the window, before the line that is being read: the beginning behind the settings at
 * its head, the end where the log goes on behind it. */
static bool next_edge(struct tracelog_cut *cut, struct tw_tracelog_record *made)
{
	const bool begins = cut->from && !cut->part.begun && cut->met;
	const bool ends = !begins && !cut->part.ended && cut->met && cut->now >= cut->to;
	if (!begins && !ends)
		return false;
	snprintf(cut->part.text, sizeof cut->part.text, "%" PRIu64, begins ? cut->from : cut->to);
	*made = (struct tw_tracelog_record){.kind = TW_TRACELOG_PRF_CFG,
	                                    .name = text_of(begins ? TRACELOG_PART_BEGIN_NAME : TRACELOG_PART_END_NAME),
	                                    .value = text_of(cut->part.text)};
	cut->part.begun |= begins;
	cut->part.ended |= ends;
	return true;
}

bool tracelog_cut_next(struct tracelog_cut *cut, struct tw_tracelog_record *made, bool *approximated)
{
	*approximated = cut->untracked || (cut->written.thread && cut->written.thread->cut_off);
	if (next_edge(cut, made))
		return true;
	if (cut->pause.due) {
		*made = (struct tw_tracelog_record){.kind = TW_TRACELOG_PRF_TPS, .ms = (uint32_t)cut->from};
		cut->pause.due = false;
		return true;
	}
	if (!cut->written.record || cut->failed)
		return false;
	if (cut->written.thread) {
		tracelog_cut_next_sample(cut, made);
		return true;
	}
	*made = *cut->written.record;
	cut->written.record = NULL;
	return true;
}

/* ---- What passing events came from. ---- */

static bool mark_pause(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	(void)record;
	cut->pause.written = cut->is_wanted;
	return false;
}

static bool mark_resume(struct tracelog_cut *cut, struct tw_tracelog_record *record)
{
	(void)record;
	bool written = cut->pause.written;
	cut->pause.written = false;
	return written;
}

/* Records that start or end something, or tell which threads are the same. ends: the record is wanted where the one
 * that starts is. */
static const struct {
	bool (*take)(struct tracelog_cut *cut, struct tw_tracelog_record *record);
	bool ends;
} pairs[TW_TRACELOG_KINDS] = {
    [TW_TRACELOG_PRF_TPS] = {mark_pause, false},      [TW_TRACELOG_PRF_TRS] = {mark_resume, true},
    [TW_TRACELOG_THR_AOS] = {take_assignment, false}, [TW_TRACELOG_THR_DST] = {take_destruction, false},
    [TW_TRACELOG_JIT_CMS] = {take_start, false},      [TW_TRACELOG_JIT_CMF] = {take_finish, true},
    [TW_TRACELOG_JIT_CSS] = {take_start, false},      [TW_TRACELOG_JIT_CSF] = {take_finish, true},
    [TW_TRACELOG_GCH_GCS] = {take_start, false},      [TW_TRACELOG_GCH_GCF] = {take_finish, true},
};

bool tracelog_cut_selects(struct tracelog_cut *cut, const struct tw_tracelog_record *record, uint64_t offset)
{
	struct tw_tracelog_record copy = *record;
	if (record->kind == TW_TRACELOG_PRF_STM)
		take_session(cut, record);
	cut->is_wanted = tw_is_wanted(cut->wanted, offset);
	bool taken = pairs[record->kind].take && pairs[record->kind].take(cut, &copy);
	return cut->is_wanted || (taken && pairs[record->kind].ends);
}

bool tracelog_cut_failed(const struct tracelog_cut *cut)
{
	return cut->failed;
}

/* ---- The beginning and the end. ---- */

int tracelog_cut_new(struct tracelog_cut **made, struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	size_t limit = tw_memory_limit(reader);
	struct tracelog_cut *cut = *made = calloc(1, sizeof *cut);
	if (!cut)
		return TW_ERR_MEMORY;
	cut->options = options;
	cut->without_category = !options->category || fnmatch(options->category, "", 0) == 0;
	set_window(cut, 0);
	cut->threads.limit = limit / MEMORY_SHARE;
	cut->written.list_frames = limit / LINE_SHARE / TRACELOG_FRAME_TEXT + 1;
	return tw_wanted_new(&cut->wanted, reader, true);
}

bool tracelog_cut_is_empty(const struct tracelog_cut *cut)
{
	return !tw_wanted_any(cut->wanted);
}

void tracelog_cut_free(struct tracelog_cut *cut)
{
	if (!cut)
		return;
	free_session(cut);
	free(cut->written.list);
	tw_wanted_free(cut->wanted);
	free(cut);
}
