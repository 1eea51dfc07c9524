/* threads.c - threads by the numbers of the profiler and of the system. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/threads.h"

#include "base/memory/memory.h"
#include "base/text/digits.h"
#include "tracelog/log/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Numbers of threads of the system that no managed thread runs on begin here, so that they are none of the
 * profiler's. */
#define NATIVE (UINT64_C(1) << 32)

enum {
	THREAD_COST = 328, /* bytes, about: of a thread, of maps, a track and a name */
	TRACK_COST = 160,  /* of these: a track and a name */
	SHARE = 8          /* a quarter of the limit is for all tables */
};

/* ---- Coming into being. ---- */

static uint32_t add_track(struct tracelog_log *log, enum tw_track_kind kind, uint64_t number)
{
	const struct tw_track track = {.process = log->threads.process, .thread = number, .kind = kind};
	uint32_t made = tw_dictionary_add_track(log->dictionary, &track);
	log->failed |= made == UINT32_MAX;
	return made == UINT32_MAX ? 0 : made;
}

static void name_track(struct tracelog_log *log, const struct tracelog_thread *thread, uint32_t system)
{
	char text[32];
	int length = snprintf(text, sizeof text, "OS thread %" PRIu32, system);
	tw_dictionary_name_track(log->dictionary, thread->track, tracelog_name(log, text, (size_t)length));
}

/* Adds a thread; returns its place. Place 0 is the process, which log.c made first. */
static uint32_t add(struct tracelog_log *log, struct tracelog_thread thread)
{
	struct tracelog_threads *threads = &log->threads;
	if (!tw_grow(&threads->items, &threads->room, threads->count + 1, sizeof thread)) {
		log->failed = true;
		return 0;
	}
	threads->items[threads->count] = thread;
	return (uint32_t)threads->count++;
}

/* Makes the thread that stands for all that there is no room for. Its stack is always "(other)": what each of them did
 * to its own cannot be told apart. */
static uint32_t make_other(struct tracelog_log *log)
{
	struct tracelog_thread thread = {
	    .track = add_track(log, TW_TRACK_OTHER, 1),
	    .native = true,
	    .other = true,
	    .wanted = log->reader->options.thread_count == 0,
	};
	log->failed |= !tw_grow(&thread.stack.frames, &thread.stack.room, 1, sizeof *thread.stack.frames);
	if (log->failed)
		return 0;
	thread.stack.frames[thread.stack.depth++] = (struct tracelog_stack_frame){.stack = tracelog_other_stack(log)};
	tw_dictionary_name_track(log->dictionary, thread.track, TRACELOG_TEXT(log, "(other)"));
	return add(log, thread);
}

static uint32_t other(struct tracelog_log *log)
{
	log->line.beyond = true;
	if (!log->threads.other)
		log->threads.other = make_other(log);
	return log->threads.other;
}

static uint32_t appear(struct tracelog_log *log, struct tw_map *map, uint32_t number, bool native)
{
	const bool unknown = !native && number == TW_TRACELOG_IID_NONE;
	const uint64_t shown = native ? NATIVE + number : unknown ? TW_UNKNOWN_TASK : number;
	if (!tracelog_take_shared(log, tw_thread_cost(&log->reader->options, THREAD_COST, SHARE), TRACK_COST))
		return other(log);
	uint32_t made = add(log, (struct tracelog_thread){
				     .iid = number,
				     .track = add_track(log, TW_TRACK_THREAD, shown),
				     .native = native,
				     .wanted = tw_thread_wanted(&log->reader->options, shown),
				 });
	log->failed |= made && !tw_map_add(map, number, made);
	if (native && made)
		name_track(log, &log->threads.items[made], number);
	if (unknown && made)
		tw_dictionary_name_track(log->dictionary, log->threads.items[made].track, TRACELOG_TEXT(log, "?"));
	return made;
}

static struct tracelog_thread *thread_of(struct tracelog_log *log, uint32_t iid)
{
	uint32_t *recent = &log->threads.recent[iid % TRACELOG_RECENT_THREADS];
	struct tracelog_thread *thread = &log->threads.items[*recent];
	if (*recent && thread->iid == iid && !thread->native)
		return thread;
	if (!tw_map_find(&log->threads.by_iid, iid, recent))
		*recent = appear(log, &log->threads.by_iid, iid, false);
	return &log->threads.items[*recent];
}

static struct tracelog_thread *thread_of_system(struct tracelog_log *log, uint32_t number)
{
	uint32_t place;
	if (!tw_map_find(&log->threads.by_system, number, &place)) {
		place = appear(log, &log->threads.by_system, number, true);
		tracelog_report(log, TRACELOG_THREAD_OF_SYSTEM, "no thread was assigned to %" PRIu32, number);
	}
	log->line.beyond |= log->threads.items[place].other;
	return &log->threads.items[place];
}

struct tracelog_thread *tracelog_process_thread(struct tracelog_log *log)
{
	return &log->threads.items[0];
}

struct tracelog_thread *tracelog_thread_by(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	if (record->thread_form == TW_TRACELOG_THREAD_IID)
		return tracelog_living_thread(log, record->thread);
	if (record->thread_form == TW_TRACELOG_THREAD_OS)
		return thread_of_system(log, record->thread);
	return thread_of(log, TW_TRACELOG_IID_NONE);
}

struct tracelog_thread *tracelog_judge_thread(struct tracelog_log *log, uint32_t iid)
{
	struct tracelog_thread *thread = thread_of(log, iid);
	if (!thread->announced && !thread->used && !thread->native && iid != TW_TRACELOG_IID_NONE)
		tracelog_report(log, TRACELOG_THREAD_UNKNOWN, "thread 0x%" PRIx32 " was not created", iid);
	if (thread->destroyed)
		tracelog_report(log, TRACELOG_THREAD_DESTROYED, "thread 0x%" PRIx32 " was destroyed", iid);
	thread->used = true;
	return thread;
}

/* ---- Creation, assignment, destruction. ---- */

static void judge_pointer(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	uint32_t before;
	if (!tw_map_find(&log->threads.by_pointer, record->id, &before))
		return;
	const struct tracelog_thread *thread = &log->threads.items[before];
	if (thread->pointer == record->id && thread->iid != record->thread && !thread->destroyed)
		tracelog_report(log, TRACELOG_THREAD_POINTER,
		                "0x%" PRIx64 " is thread 0x%" PRIx32 ", which was not destroyed", record->id,
		                thread->iid);
}

static void point(struct tracelog_log *log, uint64_t pointer, uint32_t place)
{
	uint32_t *stored = tw_map_stored(&log->threads.by_pointer, pointer);
	if (stored)
		*stored = place + 1;
	else if (tracelog_take_memory(log, 2 * sizeof(struct tw_map_slot)))
		log->failed |= !tw_map_add(&log->threads.by_pointer, pointer, place);
}

static void add_object_row(struct tracelog_log *log, const struct tracelog_thread *thread, const char *what)
{
	if (!tracelog_wants(log, thread, TW_OBJECT))
		return;
	struct tw_event *row = tracelog_row(log, thread, TW_OBJECT, log->times.now);
	uint32_t name = tw_dictionary_track(log->dictionary, thread->track)->name;
	row->name = name ? name : TRACELOG_TEXT(log, "thread");
	row->category = TRACELOG_TEXT(log, "thread");
	row->id = thread->pointer;
	row->flags = TW_FLAG_USERSPACE;
	tracelog_add_number(log, TRACELOG_TEXT(log, "iid"), TW_ARG_UINT, thread->iid);
	tracelog_add_text(log, "change", what, strlen(what));
}

void tracelog_create_thread(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tracelog_thread *thread = thread_of(log, record->thread);
	uint32_t place = (uint32_t)(thread - log->threads.items);
	if (thread->other)
		return;
	if (record->thread == TW_TRACELOG_IID_NONE) {
		add_object_row(log, thread, "created");
		return;
	}
	if (thread->announced)
		tracelog_report(log, TRACELOG_THREAD_AGAIN, "thread 0x%" PRIx32 " was created before", record->thread);
	judge_pointer(log, record);
	thread->announced = true;
	thread->pointer = record->id;
	point(log, record->id, place);
	add_object_row(log, thread, "created");
}

/* A thread of the system runs one at a time. */
static void judge_shared(struct tracelog_log *log, const struct tracelog_thread *before,
                         const struct tw_tracelog_record *record)
{
	bool runs = before->on_system && before->system == record->os_thread && !before->destroyed;
	if (runs && before->iid != record->thread)
		tracelog_report(log, TRACELOG_OS_THREAD_SHARED, "thread 0x%" PRIx32 " runs on %" PRIu32, before->iid,
		                record->os_thread);
}

void tracelog_assign_thread(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tracelog_thread *thread = tracelog_living_thread(log, record->thread);
	uint32_t place = (uint32_t)(thread - log->threads.items);
	uint32_t *stored = tw_map_stored(&log->threads.by_system, record->os_thread);
	if (record->thread == TW_TRACELOG_IID_NONE)
		return; /* which of them runs there is not known */
	if (stored) {
		judge_shared(log, &log->threads.items[*stored - 1], record);
		*stored = place + 1;
	}
	if (thread->other)
		return;
	thread->on_system = true;
	thread->system = record->os_thread;
	if (!stored && tracelog_take_memory(log, 2 * sizeof(struct tw_map_slot)))
		log->failed |= !tw_map_add(&log->threads.by_system, record->os_thread, place);
	name_track(log, thread, record->os_thread);
	if (!tracelog_wants(log, thread, TW_OBJECT))
		return;
	add_object_row(log, thread, "assigned");
	tracelog_add_number(log, TRACELOG_TEXT(log, "os_thread"), TW_ARG_UINT, record->os_thread);
}

void tracelog_destroy_thread(struct tracelog_log *log, struct tracelog_thread *thread)
{
	thread->destroyed = true;
	add_object_row(log, thread, "destroyed");
}

/* Whether a session before has a process of that number: in containers all have 1. */
static bool is_taken(struct tracelog_log *log, uint64_t process)
{
	uint32_t session;
	if (tw_map_find(&log->session.processes, process, &session))
		return true;
	log->failed |= !tw_map_add(&log->session.processes, process, log->session.number);
	return false;
}

/* The process is known: what threads there are belong to it. */
void tracelog_set_process(struct tracelog_log *log, uint64_t process)
{
	if (log->threads.stated_process || !process)
		return;
	log->threads.stated_process = process;
	if (is_taken(log, process))
		return;
	log->threads.process = process;
	for (size_t i = 0; i < log->threads.count; i++)
		tw_dictionary_set_process(log->dictionary, log->threads.items[i].track, process);
}

void tracelog_threads_free(struct tracelog_threads *threads)
{
	for (size_t i = 0; i < threads->count; i++) {
		free(threads->items[i].stack.frames);
		free(threads->items[i].cpu.unshared);
		free(threads->items[i].activities.items);
	}
	free(threads->items);
	tw_map_free(&threads->by_iid);
	tw_map_free(&threads->by_system);
	tw_map_free(&threads->by_pointer);
}
