/* jit_and_gc.c - compilations of functions and garbage collections, from their starts and ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/jit_and_gc.h"

#include "base/memory/memory.h"
#include "tracelog/log/log.h"

#include <inttypes.h>

/* More that is begun and not finished is damage. */
enum { OPEN_MAX = 4096, COLLECTIONS_MAX = 64 };

enum { GENERATIONS = 4 }; /* the document, "Garbage Collection Started" */

static const enum tw_runtime_name categories[TRACELOG_ACTIVITIES] = {
    [TRACELOG_JIT] = TW_RUNTIME_JIT,
    [TRACELOG_JIT_CACHED] = TW_RUNTIME_JIT_CACHED,
    [TRACELOG_GC] = TW_RUNTIME_GC,
};

/* ---- Rows. ---- */

static void add_generations(struct tracelog_log *log, const struct tracelog_unfinished *open)
{
	static const char *const names[] = {"0", "1", "2", "LOH"};
	char text[64];
	size_t used = 0;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (open->generations >> i & 1) {
			size_t length = strlen(names[i]);
			if (used)
				text[used++] = ' ';
			memcpy(text + used, names[i], length);
			used += length;
		}
	tracelog_add_text(log, tw_runtime_text(TW_RUNTIME_GENERATIONS), text, used);
}

/* Which body of its function a compilation makes, from 1. A search that finds one makes none, where one is known. */
static uint32_t body_of(struct tracelog_log *log, const struct tracelog_unfinished *open, uint32_t function)
{
	uint32_t bodies = tracelog_object(log, TRACELOG_FUNCTION, function)->bodies;
	return open->activity == TRACELOG_JIT_CACHED && bodies ? bodies : bodies + 1;
}

/* The size of the code of a slice. Each body counts once; where it is not known yet, it is told later. */
static void add_code(struct tracelog_log *log, const struct tracelog_unfinished *open, const struct tw_event *row)
{
	uint32_t function = 0;
	tw_map_find(&log->objects[TRACELOG_FUNCTION].by_pointer, open->pointer, &function);
	struct tracelog_object *object = tracelog_object(log, TRACELOG_FUNCTION, function);
	struct tracelog_body *body = &object->code.body;
	if (body->bytes && !body->has_size_row)
		tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_CODE_BYTES), TW_ARG_UINT, body->bytes);
	body->has_size_row = body->bytes > 0;
	if (function && open->activity == TRACELOG_JIT)
		object->compiled = (struct tracelog_compiled){
		    .time = row->time + row->value,
		    .thread = open->thread + 1,
		    .name = row->name,
		    .body = body_of(log, open, function),
		};
}

void tracelog_add_code_size(struct tracelog_log *log, uint32_t function)
{
	struct tracelog_object *object = tracelog_object(log, TRACELOG_FUNCTION, function);
	const struct tracelog_compiled compiled = object->compiled;
	struct tracelog_body *body = &object->code.body;
	if (!compiled.thread || !body->bytes || body->has_size_row)
		return;
	body->has_size_row = true;
	const struct tracelog_thread *thread = &log->threads.items[compiled.thread - 1];
	if (!tracelog_wants(log, thread, TW_INSTANT))
		return;
	uint64_t bytes = body->bytes;
	struct tw_event *row = tracelog_row(log, thread, TW_INSTANT, compiled.time);
	row->name = compiled.name;
	row->category = tracelog_runtime_name(log, TW_RUNTIME_JIT);
	tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_CODE_BYTES), TW_ARG_UINT, bytes);
	tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_BODY), TW_ARG_UINT, compiled.body);
}

static bool is_compilation(const struct tracelog_unfinished *open)
{
	return open->activity != TRACELOG_GC;
}

/* A slice of something that is known to be over, or a begin of what is not. */
static void add_row(struct tracelog_log *log, const struct tracelog_thread *thread,
                    const struct tracelog_unfinished *open, enum tw_event_kind kind, uint64_t end, uint8_t flags)
{
	bool gc = open->activity == TRACELOG_GC;
	if (!gc && log->request.calls)
		return;
	uint32_t function = gc ? 0 : tracelog_object_at(log, TRACELOG_FUNCTION, open->pointer);
	if (!tracelog_wants(log, thread, kind))
		return;
	struct tw_event *row = tracelog_row(log, thread, kind, open->time);
	row->name = gc ? TRACELOG_TEXT(log, "GC") : tracelog_object(log, TRACELOG_FUNCTION, function)->name;
	row->category = tracelog_runtime_name(log, categories[open->activity]);
	row->value = kind == TW_SLICE_COMPLETE && end > open->time ? end - open->time : 0;
	row->offset = open->place.offset;
	row->flags = flags;
	if (gc) {
		const struct tw_name *reason = tw_dictionary_name(log->dictionary, open->reason);
		tracelog_add_text(log, tw_runtime_text(TW_RUNTIME_REASON), reason->text, reason->length);
		add_generations(log, open);
		return;
	}
	if (kind == TW_SLICE_COMPLETE && !(flags & TW_FLAG_UNWOUND))
		add_code(log, open, row);
	if (function)
		tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_BODY), TW_ARG_UINT,
		                    body_of(log, open, function));
}

/* ---- Starts. ---- */

/* A runtime collects once for all its threads. */
static struct tracelog_thread *holder(struct tracelog_log *log, struct tracelog_thread *thread,
                                      enum tracelog_activity activity)
{
	return activity == TRACELOG_GC ? tracelog_process_thread(log) : thread;
}

/* Code that is told from here on is this compilation's, not that of one before. */
static void forget_compiled(struct tracelog_log *log, uint64_t pointer)
{
	uint32_t function;
	if (tw_map_find(&log->objects[TRACELOG_FUNCTION].by_pointer, pointer, &function))
		tracelog_object(log, TRACELOG_FUNCTION, function)->compiled = (struct tracelog_compiled){0};
}

static void put_in(struct tracelog_activities *activities, const struct tracelog_unfinished *open)
{
	activities->items[activities->count++] = *open;
	if (open->activity == TRACELOG_JIT && activities->compiling++ == 0)
		activities->compiling_since = open->time;
}

/* Makes room for one more. Some are part of what a thread takes: a log whose tables are full keeps its compilations. */
static bool make_room(struct tracelog_log *log, struct tracelog_activities *activities)
{
	enum { OWN = 32 };
	if (activities->count >= OWN)
		return tracelog_grow(log, &activities->items, &activities->room, activities->count,
		                     sizeof *activities->items);
	bool made = tw_grow(&activities->items, &activities->room, activities->count + 1, sizeof *activities->items);
	log->failed |= !made;
	return made;
}

static void start(struct tracelog_log *log, struct tracelog_thread *thread, const struct tracelog_unfinished *open)
{
	struct tracelog_thread *in = holder(log, thread, open->activity);
	if (open->activity == TRACELOG_JIT)
		forget_compiled(log, open->pointer);
	bool gc = open->activity == TRACELOG_GC;
	if (gc && in->activities.count)
		tracelog_report(log, TRACELOG_GC_OVERLAP, "another has not finished");
	if (in->activities.count < (gc ? COLLECTIONS_MAX : OPEN_MAX) && make_room(log, &in->activities))
		put_in(&in->activities, open);
	else
		in->activities.missed = true;
}

/* ---- Ends. ---- */

static void report_unfinished(struct tracelog_log *log, const struct tracelog_unfinished *open)
{
	if (open->activity == TRACELOG_GC)
		tracelog_report_at(log, TRACELOG_GC_WITHOUT_FINISH, open->place, "no finish follows");
	else
		tracelog_report_at(log, TRACELOG_JIT_WITHOUT_FINISH, open->place, "no finish of 0x%" PRIx64 " follows",
		                   open->pointer);
}

/* What failed has made no body. */
static void count_body(struct tracelog_log *log, const struct tracelog_unfinished *open)
{
	uint32_t function = tracelog_object_at(log, TRACELOG_FUNCTION, open->pointer);
	if (function)
		tracelog_object(log, TRACELOG_FUNCTION, function)->bodies = body_of(log, open, function);
}

static void finish_row(struct tracelog_log *log, const struct tracelog_unfinished *open,
                       const struct tracelog_unfinished *end, const struct tw_tracelog_record *record)
{
	const struct tracelog_thread *thread = &log->threads.items[open->thread];
	add_row(log, thread, open, TW_SLICE_COMPLETE, end->time, 0);
	if (record->status && tracelog_wants(log, thread, TW_SLICE_COMPLETE))
		tracelog_add_number(log, tracelog_runtime_name(log, TW_RUNTIME_STATUS), TW_ARG_POINTER, record->status);
	if (!record->status && is_compilation(open))
		count_body(log, open);
}

/* The collection that an end belongs to, plus 1: the innermost of its thread. A thread that started none ends the
 * oldest: one in the background, which goes on while others come and go. */
static size_t find_collection(const struct tracelog_thread *process, const struct tracelog_unfinished *end)
{
	for (size_t i = process->activities.count; i > 0; i--)
		if (process->activities.items[i - 1].thread == end->thread)
			return i;
	return process->activities.count ? 1 : 0;
}

static void stop_compiling(struct tracelog_activities *activities, uint64_t time)
{
	if (--activities->compiling == 0 && time > activities->compiling_since)
		activities->compiled_ns += time - activities->compiling_since;
}

uint64_t tracelog_take_compiled(struct tracelog_thread *thread, uint64_t now)
{
	struct tracelog_activities *activities = &thread->activities;
	uint64_t compiled = activities->compiled_ns;
	activities->compiled_ns = 0;
	if (activities->compiling && now > activities->compiling_since) {
		compiled += now - activities->compiling_since;
		activities->compiling_since = now;
	}
	return compiled;
}

static struct tracelog_unfinished take_out(struct tracelog_thread *thread, size_t at, uint64_t time)
{
	const struct tracelog_unfinished open = thread->activities.items[at];
	if (open.activity == TRACELOG_JIT)
		stop_compiling(&thread->activities, time);
	thread->activities.count--;
	memmove(thread->activities.items + at, thread->activities.items + at + 1,
	        (thread->activities.count - at) * sizeof open);
	return open;
}

static void finish_collection(struct tracelog_log *log, const struct tracelog_unfinished *end,
                              const struct tw_tracelog_record *record)
{
	struct tracelog_thread *process = tracelog_process_thread(log);
	size_t at = find_collection(process, end);
	if (!at && process->activities.missed)
		return;
	if (!at) {
		tracelog_report(log, TRACELOG_GC_WITHOUT_START, "none was started that finishes here");
		return;
	}
	const struct tracelog_unfinished open = take_out(process, at - 1, end->time);
	finish_row(log, &open, end, record);
}

/* The innermost compilation that an end may belong to, plus 1. */
static size_t find_compilation(const struct tracelog_thread *thread, const struct tracelog_unfinished *end)
{
	for (size_t i = thread->activities.count; i > 0; i--)
		if (thread->activities.items[i - 1].activity == end->activity &&
		    thread->activities.items[i - 1].pointer == end->pointer)
			return i;
	return 0;
}

static void finish_compilation(struct tracelog_log *log, struct tracelog_thread *thread,
                               const struct tracelog_unfinished *end, const struct tw_tracelog_record *record)
{
	size_t at = find_compilation(thread, end);
	if (!at && thread->activities.missed)
		return;
	if (!at) {
		tracelog_report(log, TRACELOG_JIT_WITHOUT_START, "nothing was started that finishes here");
		return;
	}
	/* What is inside was never finished, where all is of one thread. */
	const bool is_one = !thread->other && thread->iid != TW_TRACELOG_IID_NONE;
	while (thread->activities.count > at && is_one) {
		const struct tracelog_unfinished inner = take_out(thread, thread->activities.count - 1, end->time);
		report_unfinished(log, &inner);
		add_row(log, thread, &inner, TW_SLICE_COMPLETE, end->time, TW_FLAG_UNWOUND);
	}
	const struct tracelog_unfinished open = take_out(thread, at - 1, end->time);
	finish_row(log, &open, end, record);
}

void tracelog_close_activities(struct tracelog_log *log, struct tracelog_thread *thread)
{
	for (size_t i = 0; i < thread->activities.count; i++) {
		const struct tracelog_unfinished *open = &thread->activities.items[i];
		report_unfinished(log, open);
		add_row(log, &log->threads.items[open->thread], open, TW_SLICE_BEGIN, 0, 0);
	}
	thread->activities.count = thread->activities.compiling = 0;
}

static uint32_t reason_of(struct tracelog_log *log, struct tw_tracelog_text reason)
{
	return reason.size ? tracelog_name(log, reason.bytes, reason.size) : TRACELOG_TEXT(log, "?");
}

void tracelog_take_activity(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	static const struct {
		enum tracelog_activity activity;
		bool finish;
	} kinds[TW_TRACELOG_KINDS] = {
	    [TW_TRACELOG_JIT_CMS] = {TRACELOG_JIT, false},        [TW_TRACELOG_JIT_CMF] = {TRACELOG_JIT, true},
	    [TW_TRACELOG_JIT_CSS] = {TRACELOG_JIT_CACHED, false}, [TW_TRACELOG_JIT_CSF] = {TRACELOG_JIT_CACHED, true},
	    [TW_TRACELOG_GCH_GCS] = {TRACELOG_GC, false},         [TW_TRACELOG_GCH_GCF] = {TRACELOG_GC, true},
	};
	struct tracelog_thread *thread = tracelog_thread_by(log, record);
	const struct tracelog_unfinished open = {
	    .activity = kinds[record->kind].activity,
	    .pointer = record->id,
	    .time = tracelog_time_of(log, thread, TRACELOG_JIT_AND_GC, record->ms),
	    .place = log->line.at,
	    .thread = (uint32_t)(thread - log->threads.items),
	    .reason = record->kind == TW_TRACELOG_GCH_GCS ? reason_of(log, record->reason) : 0,
	    .generations = record->generations,
	};
	if (record->kind == TW_TRACELOG_GCH_GCS && record->generation_count != GENERATIONS)
		tracelog_report(log, TRACELOG_GENERATION_FLAGS, "found %u flags", record->generation_count);
	if (!kinds[record->kind].finish)
		start(log, thread, &open);
	else if (open.activity == TRACELOG_GC)
		finish_collection(log, &open, record);
	else
		finish_compilation(log, thread, &open, record);
}
