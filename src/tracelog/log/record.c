/* record.c - a log record by record: each kind of record goes to the step that it is for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/record.h"

#include "base/memory/memory.h"
#include "base/text/plural.h"
#include "tracelog/format/layout.h"
#include "tracelog/jobs/dependencies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The profiler and the process. ---- */

/* Without its zone a local time is no moment. The clock begins with the profiler. */
static void take_wall(struct tw_clock *clock, const struct tracelog_start *start)
{
	int64_t ns;
	if (!start->has_zone || __builtin_mul_overflow(start->ms - start->zone_ms, (int64_t)1000000, &ns))
		return;
	clock->has_wall = true;
	clock->wall_ns = ns;
}

/* Another session, which ends the one before as the end of the log does. */
static void take_another(struct tracelog_log *log, const struct tracelog_start *start)
{
	uint64_t base = tracelog_later_by(&log->session.first, start);
	tracelog_report(log, TRACELOG_START_AGAIN, "another session starts, %" PRIu64 " ms after the first", base);
	tracelog_end(log);
	if (log->dependencies)
		tracelog_depend_session(log);
	tracelog_next_session(log, base);
}

static void take_start(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	char text[64], date[TRACELOG_DATE_TEXT], zone[TRACELOG_ZONE_TEXT];
	const struct tracelog_start start = tracelog_start_of(record);
	if (log->session.first.is_set)
		take_another(log, &start);
	else if (log->session.records > 1)
		tracelog_report(log, TRACELOG_START_LATE, "%" PRIu64 " record%s before the start",
		                log->session.records - 1, tw_plural(log->session.records - 1));
	if (!log->session.first.is_set) {
		log->session.first = start;
		take_wall(&log->reader->clock, &start);
	}
	if (!tracelog_wants(log, tracelog_process_thread(log), TW_METADATA))
		return;
	int length = snprintf(text, sizeof text, "%s%s%s", tracelog_date_text(record, date),
	                      record->has_zone ? " " : "", tracelog_zone_text(record, zone));
	struct tw_event *row = tracelog_row(log, tracelog_process_thread(log), TW_METADATA, log->times.now);
	row->name = TRACELOG_TEXT(log, "start");
	row->category = TRACELOG_TEXT(log, "session");
	tracelog_add_text(log, "time", text, (size_t)length);
}

/* ---- Domains, assemblies, modules, classes. ---- */

/* A row for what was announced; arguments may follow. */
static bool add_object_row(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t number)
{
	static const char *const categories[TRACELOG_OBJECT_KINDS] = {"domain", "assembly", "module", "class",
	                                                              "function"};
	const struct tracelog_thread *process = tracelog_process_thread(log);
	if (!number || !tracelog_wants(log, process, TW_OBJECT))
		return false;
	const struct tracelog_object *object = tracelog_object(log, kind, number);
	struct tw_event *row = tracelog_row(log, process, TW_OBJECT, log->times.now);
	row->name = object->name;
	row->category = tracelog_name(log, categories[kind], strlen(categories[kind]));
	row->id = object->pointer;
	row->flags = TW_FLAG_USERSPACE;
	return true;
}

/* The main thread of a process of Linux has its number. */
static void judge_process(struct tracelog_log *log, uint64_t process)
{
	uint32_t thread;
	if (log->threads.stated_process && process != log->threads.stated_process)
		tracelog_report(log, TRACELOG_PROCESS_AGAIN, "process %" PRIu64 ", was %" PRIu64, process,
		                log->threads.stated_process);
	else if (!log->threads.stated_process && !tw_map_find(&log->threads.by_system, process, &thread))
		tracelog_report(log, TRACELOG_PROCESS_NO_THREAD, "no thread was assigned to %" PRIu64, process);
}

static void take_domain(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	uint32_t number = tracelog_announce(log, TRACELOG_DOMAIN, record);
	tracelog_name_object(log, TRACELOG_DOMAIN, number, record->name);
	judge_process(log, record->process);
	tracelog_set_process(log, record->process);
	uint32_t track = tracelog_process_thread(log)->track;
	if (!log->session.domain_seen && !log->session.entry_seen)
		tw_dictionary_name_track(log->dictionary, track, tracelog_object(log, TRACELOG_DOMAIN, number)->name);
	log->session.domain_seen = true;
	if (add_object_row(log, TRACELOG_DOMAIN, number))
		tracelog_add_number(log, TRACELOG_TEXT(log, "process"), TW_ARG_UINT, record->process);
}

/* The class library, which each runtime loads first. */
static bool is_library(struct tw_tracelog_text name)
{
	static const char *const libraries[] = {"System.Private.CoreLib", "mscorlib"};
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (name.size == strlen(libraries[i]) && memcmp(name.bytes, libraries[i], name.size) == 0)
			return true;
	return false;
}

/* The first assembly beside the class library is the program's own: it names the process, better than a domain does. */
static void name_process(struct tracelog_log *log, uint32_t assembly, struct tw_tracelog_text name)
{
	if (log->session.entry_seen || !name.size || is_library(name))
		return;
	log->session.entry_seen = true;
	tw_dictionary_name_track(log->dictionary, tracelog_process_thread(log)->track,
	                         tracelog_object(log, TRACELOG_ASSEMBLY, assembly)->name);
}

static void take_assembly(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	uint32_t number = tracelog_announce(log, TRACELOG_ASSEMBLY, record);
	uint32_t domain = tracelog_object_at(log, TRACELOG_DOMAIN, record->domain);
	uint32_t module = tracelog_object_at(log, TRACELOG_MODULE, record->module);
	tracelog_object(log, TRACELOG_ASSEMBLY, number)->owner = domain;
	tracelog_name_object(log, TRACELOG_ASSEMBLY, number, record->name);
	name_process(log, number, record->name);
	if (!add_object_row(log, TRACELOG_ASSEMBLY, number))
		return;
	tracelog_add_object(log, "domain", TRACELOG_DOMAIN, domain);
	tracelog_add_object(log, "module", TRACELOG_MODULE, module);
}

static void take_module(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	uint32_t number = tracelog_announce(log, TRACELOG_MODULE, record);
	uint32_t assembly = tracelog_object_at(log, TRACELOG_ASSEMBLY, record->assembly);
	tracelog_object(log, TRACELOG_MODULE, number)->owner = assembly;
	tracelog_name_object(log, TRACELOG_MODULE, number, record->name);
	if (!add_object_row(log, TRACELOG_MODULE, number))
		return;
	tracelog_add_number(log, TRACELOG_TEXT(log, "base"), TW_ARG_POINTER, record->base);
	tracelog_add_object(log, "assembly", TRACELOG_ASSEMBLY, assembly);
}

static void take_attachment(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	uint32_t module = tracelog_object_at(log, TRACELOG_MODULE, record->id);
	uint32_t assembly = tracelog_object_at(log, TRACELOG_ASSEMBLY, record->assembly);
	uint32_t *owner = &tracelog_object(log, TRACELOG_MODULE, module)->owner;
	if (*owner && *owner != assembly)
		tracelog_report(log, TRACELOG_MODULE_AGAIN,
		                "module 0x%" PRIx64 " is attached to assembly 0x%" PRIx64 ", was of 0x%" PRIx64,
		                record->id, record->assembly, tracelog_object(log, TRACELOG_ASSEMBLY, *owner)->pointer);
	*owner = assembly;
}

static void take_class(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	uint32_t number = tracelog_announce(log, TRACELOG_CLASS, record);
	uint32_t module = tracelog_object_at(log, TRACELOG_MODULE, record->module);
	tracelog_object(log, TRACELOG_CLASS, number)->owner = module;
	tracelog_update_name(log, TRACELOG_CLASS, number);
	if (!add_object_row(log, TRACELOG_CLASS, number))
		return;
	tracelog_add_number(log, TRACELOG_TEXT(log, "iid"), TW_ARG_UINT,
	                    tracelog_object(log, TRACELOG_CLASS, number)->iid);
	tracelog_add_object(log, "module", TRACELOG_MODULE, module);
}

static void take_class_name(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	log->naming.classes_named = true;
	tracelog_name_object(log, TRACELOG_CLASS, tracelog_object_of(log, TRACELOG_CLASS, record->iid), record->name);
}

/* ---- Functions. ---- */

static void take_function(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	uint32_t number = tracelog_announce(log, TRACELOG_FUNCTION, record);
	uint32_t class = tracelog_object_at(log, TRACELOG_CLASS, record->class_id);
	uint32_t module = tracelog_object_at(log, TRACELOG_MODULE, record->module);
	tracelog_object(log, TRACELOG_FUNCTION, number)->owner = class;
	tracelog_object(log, TRACELOG_FUNCTION, number)->module = module;
	tracelog_update_name(log, TRACELOG_FUNCTION, number);
	tracelog_take_code(log, number, record);
	tracelog_add_code_size(log, number);
}

static void take_function_name(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	tracelog_name_function(log, tracelog_object_of(log, TRACELOG_FUNCTION, record->iid), record);
}

/* ---- Threads. ---- */

static void take_destruction(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tracelog_thread *thread = tracelog_living_thread(log, record->thread);
	if (thread->other || record->thread == TW_TRACELOG_IID_NONE)
		return;
	tracelog_close_activities(log, thread);
	tracelog_judge_zero(log, thread);
	if (log->dependencies)
		tracelog_depend_destroyed(log, thread);
	tracelog_destroy_thread(log, thread);
}

/* ---- Samples. ---- */

static void take_sample(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tracelog_sample sample = {
	    .thread = record->thread,
	    .ms = record->ms,
	    .count = record->count,
	    .has_count = record->has_count,
	    .has_ip = record->has_ip,
	    .match = record->match,
	    .depth = record->depth,
	    .ip = record->ip_known ? record->ip : 0,
	};
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	while (tracelog_cursor_item(log->cursor, &list, &item)) {
		if (!tw_grow(&log->line.lists.frames, &log->line.lists.frame_room, sample.frame_count + 1,
		             sizeof *log->line.lists.frames)) {
			log->failed = true;
			return;
		}
		log->line.lists.frames[sample.frame_count++] =
		    (struct tracelog_frame){item.iid, item.ip_known ? item.ip : 0};
	}
	sample.frames = log->line.lists.frames;
	tracelog_take_sample(log, &sample);
}

static void take_allocations(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tw_tracelog_text list = record->list;
	struct tw_tracelog_item item;
	size_t count = 0;
	while (tracelog_cursor_item(log->cursor, &list, &item)) {
		if (!tw_grow(&log->line.lists.allocations, &log->line.lists.allocation_room, count + 1,
		             sizeof *log->line.lists.allocations)) {
			log->failed = true;
			return;
		}
		log->line.lists.allocations[count++] =
		    (struct tracelog_allocation){item.iid, item.count, item.bytes, item.ip_known ? item.ip : 0};
	}
	tracelog_take_allocations(log, record->thread, record->ms, log->line.lists.allocations, count);
}

static void take_usage(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	const struct tracelog_usage usage = {record->kind == TW_TRACELOG_PRC_CPU, record->thread, record->ms,
	                                     record->us};
	tracelog_take_usage(log, &usage);
}

/* ---- All kinds. ---- */

typedef void take_fn(struct tracelog_log *log, const struct tw_tracelog_record *record);

static take_fn *const takes[TW_TRACELOG_KINDS] = {
    [TW_TRACELOG_PRF_STM] = take_start,
    [TW_TRACELOG_PRF_CFG] = tracelog_take_setting,
    [TW_TRACELOG_PRF_TPS] = tracelog_take_pause,
    [TW_TRACELOG_PRF_TRS] = tracelog_take_pause,
    [TW_TRACELOG_PRC_CPU] = take_usage,
    [TW_TRACELOG_THR_CRT] = tracelog_create_thread,
    [TW_TRACELOG_THR_AOS] = tracelog_assign_thread,
    [TW_TRACELOG_THR_DST] = take_destruction,
    [TW_TRACELOG_THR_CPU] = take_usage,
    [TW_TRACELOG_MOD_LDF] = take_module,
    [TW_TRACELOG_MOD_ATA] = take_attachment,
    [TW_TRACELOG_ASM_LDF] = take_assembly,
    [TW_TRACELOG_APD_CRF] = take_domain,
    [TW_TRACELOG_CLS_LDF] = take_class,
    [TW_TRACELOG_CLS_NAM] = take_class_name,
    [TW_TRACELOG_FUN_INF] = take_function,
    [TW_TRACELOG_FUN_CMF] = take_function,
    [TW_TRACELOG_FUN_CSF] = take_function,
    [TW_TRACELOG_FUN_NAM] = take_function_name,
    [TW_TRACELOG_JIT_CMS] = tracelog_take_activity,
    [TW_TRACELOG_JIT_CMF] = tracelog_take_activity,
    [TW_TRACELOG_JIT_CSS] = tracelog_take_activity,
    [TW_TRACELOG_JIT_CSF] = tracelog_take_activity,
    [TW_TRACELOG_GCH_GCS] = tracelog_take_activity,
    [TW_TRACELOG_GCH_GCF] = tracelog_take_activity,
    [TW_TRACELOG_GCH_ALT] = tracelog_take_heap,
    [TW_TRACELOG_GCH_GEN] = tracelog_take_generations,
    [TW_TRACELOG_SAM_STR] = take_sample,
    [TW_TRACELOG_STR_SAM] = take_sample,
    [TW_TRACELOG_SAM_MEM] = take_allocations,
    [TW_TRACELOG_LIN_SRC] = tracelog_take_line,
    [TW_TRACELOG_FIL_SRC] = tracelog_take_file,
};

/* Narrows the dialects of the log to those of a record. Where none is left, that is reported once. */
static void judge_dialects(struct tracelog_log *log, unsigned dialects)
{
	char found[TRACELOG_DIALECTS_TEXT], before[TRACELOG_DIALECTS_TEXT];
	unsigned left = log->session.dialects & dialects;
	if (log->session.dialects && !left)
		tracelog_report(log, TRACELOG_DIALECTS_MIXED, "a record of %s, in a log of %s",
		                tracelog_dialects_text(dialects, found),
		                tracelog_dialects_text(log->session.dialects, before));
	log->session.dialects = left;
}

void tracelog_take(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	log->session.records++;
	log->line.beyond = false;
	if (log->request.check)
		judge_dialects(log, tw_tracelog_dialects(record));
	if (record->status >> 31)
		tracelog_report(log, TRACELOG_STATUS, "HRESULT 0x%08" PRIx32, record->status);
	if (takes[record->kind])
		takes[record->kind](log, record);
}

static void take_plain_sample(struct tracelog_log *log, const struct tracelog_parsed_block *parsed,
                              const struct tracelog_fast_line *entry)
{
	const struct tracelog_sample sample = {
	    .thread = entry->thread,
	    .ms = entry->ms,
	    .count = entry->number,
	    .has_count = true,
	    .has_ip = entry->has_ip,
	    .match = entry->match,
	    .depth = entry->depth,
	    .ip = entry->ip,
	    .frames = entry->count ? parsed->lists.frames + entry->first : NULL,
	    .frame_count = entry->count,
	};
	tracelog_take_sample(log, &sample);
}

void tracelog_take_fast_line(struct tracelog_log *log, const struct tracelog_parsed_block *parsed,
                             const struct tracelog_fast_line *entry)
{
	log->session.records++;
	log->line.beyond = false;
	if (log->request.check)
		judge_dialects(log, tracelog_dialects_by(tracelog_kind_of_line(entry->kind), entry->ip_known,
		                                         entry->ip_style));
	if (entry->kind == TRACELOG_SAMPLE)
		take_plain_sample(log, parsed, entry);
	else if (entry->kind == TRACELOG_ALLOCATION)
		tracelog_take_allocations(log, entry->thread, entry->ms,
		                          entry->count ? parsed->lists.allocations + entry->first : NULL, entry->count);
	else
		tracelog_take_usage(log, &(struct tracelog_usage){entry->kind == TRACELOG_PROCESS_CPU, entry->thread,
		                                                  entry->ms, entry->number});
}

void tracelog_lose(struct tracelog_log *log, uint64_t bytes)
{
	const struct tracelog_thread *process = tracelog_process_thread(log);
	if (log->request.kinds >> TW_LOST & 1)
		tracelog_row(log, process, TW_LOST, log->times.now)->value = bytes;
}

void tracelog_end(struct tracelog_log *log)
{
	for (size_t i = 0; i < log->threads.count; i++) {
		log->line.beyond = log->threads.items[i].other;
		tracelog_close_activities(log, &log->threads.items[i]);
		tracelog_judge_zero(log, &log->threads.items[i]);
	}
	log->line.beyond = false;
	if (log->request.check)
		tracelog_judge_objects(log);
}
