/* tracks.c - the tables of what a survey has found: threads, processes, tracks, stacks, and the traces themselves. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/tables.h"

#include "base/text/digits.h"

#include <limits.h>

static const struct sql_survey *survey_of(const struct sql_cursor *cursor)
{
	return cursor->scan.session->files[cursor->scan.file].survey;
}

#define SOURCE                                                                                                         \
	{                                                                                                              \
		"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"                                   \
	}

/* ---- thread, process ---- */

struct thread_row {
	struct sql_any number, main, start, end;
	uint32_t id, name, upid, idle;
};

#define AT(member) offsetof(struct thread_row, member)
static const struct sql_column thread_columns[] = {
    {"id", "INTEGER", SQL_KNOWN_TRACK, AT(id), SQL_PLAIN, "the same as utid"},
    {"utid", "INTEGER", SQL_KNOWN_TRACK, AT(id), SQL_PLAIN, "its number here: thread ids may be used again"},
    {"tid", "INTEGER", SQL_ANY, AT(number), SQL_PLAIN, "the thread id, or koid; NULL where the trace has ? for it"},
    {"name", "TEXT", SQL_KNOWN_NAME, AT(name), SQL_PLAIN, "its name; NULL where the trace does not tell it"},
    {"upid", "INTEGER", SQL_PROCESS, AT(upid), SQL_PLAIN, "its process: process.upid"},
    {"is_idle", "INTEGER", SQL_SMALL, AT(idle), SQL_PLAIN, "1: it is what a CPU does that has nothing to do"},
    {"is_main_thread", "INTEGER", SQL_ANY, AT(main), SQL_PLAIN,
     "1: its id is that of its process; NULL where it has none"},
    {"start_ts", "INTEGER", SQL_ANY, AT(start), SQL_PLAIN,
     "when it was made (thr crt of a TraceLog); NULL where the trace does not tell"},
    {"end_ts", "INTEGER", SQL_ANY, AT(end), SQL_PLAIN,
     "when a switch left it dead, or it was destroyed (thr dst); NULL where neither is told"},
    SOURCE,
};
static const struct sql_column process_columns[] = {
    {"id", "INTEGER", SQL_PROCESS, AT(id), SQL_PLAIN, "the same as upid"},
    {"upid", "INTEGER", SQL_PROCESS, AT(id), SQL_PLAIN, "its number here"},
    {"pid", "INTEGER", SQL_ANY, AT(number), SQL_PLAIN, "the process id, or koid"},
    {"name", "TEXT", SQL_KNOWN_NAME, AT(name), SQL_PLAIN, "its name; NULL where the trace does not tell it"},
    SOURCE,
};
#undef AT

static struct sql_any number(uint64_t value)
{
	return (struct sql_any){.type = SQL_ANY_NUMBER, .value.i = (int64_t)value};
}

static void fill_thread(struct thread_row *row, const struct sql_survey *survey, uint32_t id)
{
	const struct sql_track *track = &survey->tracks.items[id];
	*row = (struct thread_row){.id = id, .name = track->name, .upid = track->upid, .idle = track->idle};
	if (track->thread != TW_UNKNOWN_TASK)
		row->number = number(track->thread);
	if (track->upid)
		row->main = number(survey->processes.items[track->upid].pid == track->thread);
	if (track->made)
		row->start = number(track->made - 1 - survey->start_ns);
	if (track->died)
		row->end = number(track->died - survey->start_ns);
}

static int list_threads(struct sql_cursor *cursor)
{
	const struct sql_survey *survey = survey_of(cursor);
	for (uint32_t i = 1; i < survey->tracks.count; i++) {
		const struct sql_track *track = &survey->tracks.items[i];
		struct thread_row *row = track->kind == TW_TRACK_THREAD ? sql_add_row(cursor) : NULL;
		if (row)
			fill_thread(row, survey, i);
		else if (track->kind == TW_TRACK_THREAD)
			return sql_no_memory(cursor);
	}
	return 0;
}

static int list_processes(struct sql_cursor *cursor)
{
	const struct sql_survey *survey = survey_of(cursor);
	for (uint32_t i = 1; i < survey->processes.count; i++) {
		struct thread_row *row = sql_add_row(cursor);
		if (!row)
			return sql_no_memory(cursor);
		*row = (struct thread_row){.number = number(survey->processes.items[i].pid),
		                           .id = i,
		                           .name = survey->processes.items[i].name};
	}
	return 0;
}

const struct sql_table sql_table_thread = {
    .name = "thread",
    .summary = "the threads",
    SQL_COLUMNS(thread_columns),
    .row_size = sizeof(struct thread_row),
    .reads.surveyed = true,
    .begin = list_threads,
};

const struct sql_table sql_table_process = {
    .name = "process",
    .summary = "the processes",
    SQL_COLUMNS(process_columns),
    .row_size = sizeof(struct thread_row),
    .reads.surveyed = true,
    .begin = list_processes,
};

/* ---- track, thread_track, counter_track ---- */

struct track_row {
	uint32_t id, series, name, upid, category, argument;
	uint64_t counter;
	const char *type;
};

#define AT(member) offsetof(struct track_row, member)
static const struct sql_column track_columns[] = {
    {"id", "INTEGER", SQL_KNOWN_TRACK, AT(id), SQL_PLAIN, "what track_id of other tables means"},
    {"name", "TEXT", SQL_KNOWN_NAME, AT(name), SQL_PLAIN, "its name; NULL where the trace does not tell it"},
    {"type", "TEXT", SQL_WORD, AT(type), SQL_PLAIN, "'thread', 'process', 'cpu' or 'other'"},
    {"upid", "INTEGER", SQL_PROCESS, AT(upid), SQL_PLAIN, "its process: process.upid"},
    SOURCE,
};
static const struct sql_column thread_track_columns[] = {
    {"id", "INTEGER", SQL_KNOWN_TRACK, AT(id), SQL_PLAIN, "what track_id of other tables means"},
    {"name", "TEXT", SQL_KNOWN_NAME, AT(name), SQL_PLAIN, "the name of the thread"},
    {"utid", "INTEGER", SQL_KNOWN_TRACK, AT(id), SQL_PLAIN, "the thread: thread.utid"},
    SOURCE,
};
static const struct sql_column process_track_columns[] = {
    {"id", "INTEGER", SQL_KNOWN_TRACK, AT(id), SQL_PLAIN, "what track_id of other tables means"},
    {"name", "TEXT", SQL_KNOWN_NAME, AT(name), SQL_PLAIN, "the name of the process"},
    {"upid", "INTEGER", SQL_PROCESS, AT(upid), SQL_PLAIN, "the process: process.upid"},
    SOURCE,
};
static const struct sql_column counter_track_columns[] = {
    {"id", "INTEGER", SQL_SERIES, AT(series), SQL_PLAIN, "what counter.track_id means"},
    {"name", "TEXT", SQL_KNOWN_NAME, AT(name), SQL_PLAIN, "the name of the counter"},
    {"series", "TEXT", SQL_KNOWN_NAME, AT(argument), SQL_PLAIN, "the argument that its numbers are"},
    {"category", "TEXT", SQL_KNOWN_NAME, AT(category), SQL_PLAIN, "the category of the counter"},
    {"counter_id", "INTEGER", SQL_UNSIGNED, AT(counter), SQL_PLAIN, "the id of the counter in the trace"},
    {"upid", "INTEGER", SQL_PROCESS, AT(upid), SQL_PLAIN, "its process: process.upid"},
    SOURCE,
};
#undef AT

/* Tracks of kinds: bits. */
static int list_tracks_of(struct sql_cursor *cursor, unsigned kinds)
{
	static const char *const types[] = {[TW_TRACK_THREAD] = "thread",
	                                    [TW_TRACK_PROCESS] = "process",
	                                    [TW_TRACK_CPU] = "cpu",
	                                    [TW_TRACK_OTHER] = "other"};
	const struct sql_survey *survey = survey_of(cursor);
	for (uint32_t i = 1; i < survey->tracks.count; i++) {
		const struct sql_track *track = &survey->tracks.items[i];
		if (!(kinds >> track->kind & 1))
			continue;
		struct track_row *row = sql_add_row(cursor);
		if (!row)
			return sql_no_memory(cursor);
		*row =
		    (struct track_row){.id = i, .name = track->name, .upid = track->upid, .type = types[track->kind]};
	}
	return 0;
}

static int list_tracks(struct sql_cursor *cursor)
{
	return list_tracks_of(cursor, UINT_MAX);
}

static int list_thread_tracks(struct sql_cursor *cursor)
{
	return list_tracks_of(cursor, 1u << TW_TRACK_THREAD);
}

static int list_process_tracks(struct sql_cursor *cursor)
{
	return list_tracks_of(cursor, 1u << TW_TRACK_PROCESS);
}

static int list_series(struct sql_cursor *cursor)
{
	const struct sql_survey *survey = survey_of(cursor);
	for (uint32_t i = 1; i < survey->series.count; i++) {
		const struct sql_series *series = &survey->series.items[i];
		struct track_row *row = sql_add_row(cursor);
		if (!row)
			return sql_no_memory(cursor);
		*row = (struct track_row){
		    .series = i,
		    .name = series->name,
		    .argument = series->argument,
		    .category = series->category,
		    .counter = series->id,
		    .upid = series->upid,
		};
	}
	return 0;
}

const struct sql_table sql_table_track = {
    .name = "track",
    .summary = "the tracks that events stand on, but those of counters",
    SQL_COLUMNS(track_columns),
    .row_size = sizeof(struct track_row),
    .reads.surveyed = true,
    .begin = list_tracks,
};

const struct sql_table sql_table_thread_track = {
    .name = "thread_track",
    .summary = "the tracks that are threads",
    SQL_COLUMNS(thread_track_columns),
    .row_size = sizeof(struct track_row),
    .reads.surveyed = true,
    .begin = list_thread_tracks,
};

const struct sql_table sql_table_process_track = {
    .name = "process_track",
    .summary = "the tracks that are processes: of what a trace tells of no thread",
    SQL_COLUMNS(process_track_columns),
    .row_size = sizeof(struct track_row),
    .reads.surveyed = true,
    .begin = list_process_tracks,
};

const struct sql_table sql_table_counter_track = {
    .name = "counter_track",
    .summary = "the series of numbers that counters make",
    SQL_COLUMNS(counter_track_columns),
    .row_size = sizeof(struct track_row),
    .reads.surveyed = true,
    .begin = list_series,
};

/* ---- callsite, frame ---- */

struct stack_row {
	uint32_t id, parent, frame, depth, name, file, line, module;
	uint64_t address;
};

#define AT(member) offsetof(struct stack_row, member)
static const struct sql_column callsite_columns[] = {
    {"id", "INTEGER", SQL_STACK, AT(id), SQL_PLAIN, "its number here"},
    {"depth", "INTEGER", SQL_SMALL, AT(depth), SQL_PLAIN, "how many frames called it"},
    {"parent_id", "INTEGER", SQL_STACK, AT(parent), SQL_PLAIN, "the stack that called it; NULL for the outermost"},
    {"frame_id", "INTEGER", SQL_STACK, AT(frame), SQL_PLAIN, "its innermost frame: frame.id"},
    SOURCE,
};
static const struct sql_column frame_columns[] = {
    {"id", "INTEGER", SQL_STACK, AT(id), SQL_PLAIN, "its number here"},
    {"name", "TEXT", SQL_KNOWN_NAME, AT(name), SQL_PLAIN, "the function"},
    {"rel_pc", "INTEGER", SQL_UNSIGNED, AT(address), SQL_PLAIN, "the address of the instruction; 0 where not known"},
    {"module", "TEXT", SQL_KNOWN_NAME, AT(module), SQL_PLAIN, "the module; NULL where not known"},
    {"source_file", "TEXT", SQL_KNOWN_NAME, AT(file), SQL_PLAIN, "the source file; NULL where not known"},
    {"line", "INTEGER", SQL_SMALL, AT(line), SQL_PLAIN, "the source line; 0 where not known"},
    SOURCE,
};
#undef AT

static int list_stacks(struct sql_cursor *cursor)
{
	const struct sql_survey *survey = survey_of(cursor);
	for (uint32_t i = 1; i < survey->stacks.count; i++) {
		const struct tw_stack *stack = &survey->stacks.items[i];
		struct stack_row *row = sql_add_row(cursor);
		if (!row)
			return sql_no_memory(cursor);
		*row = (struct stack_row){.id = i,
		                          .parent = stack->caller,
		                          .frame = stack->location,
		                          .depth = stack->depth - 1};
	}
	return 0;
}

static int list_frames(struct sql_cursor *cursor)
{
	const struct sql_survey *survey = survey_of(cursor);
	for (uint32_t i = 1; i < survey->frames.count; i++) {
		const struct sql_frame *frame = &survey->frames.items[i];
		struct stack_row *row = sql_add_row(cursor);
		if (!row)
			return sql_no_memory(cursor);
		*row = (struct stack_row){
		    .id = i,
		    .name = frame->name,
		    .file = frame->file,
		    .line = frame->line,
		    .module = frame->module,
		    .address = frame->address,
		};
	}
	return 0;
}

const struct sql_table sql_table_callsite = {
    .name = "callsite",
    .summary = "the stacks of samples, each by its innermost frame and the stack that called it",
    SQL_COLUMNS(callsite_columns),
    .row_size = sizeof(struct stack_row),
    .reads.surveyed = true,
    .begin = list_stacks,
};

const struct sql_table sql_table_frame = {
    .name = "frame",
    .summary = "the places in programs that stacks lead through",
    SQL_COLUMNS(frame_columns),
    .row_size = sizeof(struct stack_row),
    .reads.surveyed = true,
    .begin = list_frames,
};

/* ---- trace ---- */

struct trace_row {
	const char *format;
	uint64_t bytes, events, start, end;
};

#define AT(member) offsetof(struct trace_row, member)
static const struct sql_column trace_columns[] = {
    {"file", "TEXT", SQL_FILE, 0, SQL_PLAIN, "its name"},
    {"format", "TEXT", SQL_WORD, AT(format), SQL_PLAIN, "its format"},
    {"bytes", "INTEGER", SQL_UNSIGNED, AT(bytes), SQL_PLAIN, "its size, not compressed"},
    {"events", "INTEGER", SQL_UNSIGNED, AT(events), SQL_PLAIN, "how many events it has"},
    {"start_ts", "INTEGER", SQL_UNSIGNED, AT(start), SQL_PLAIN,
     "the first event on the trace's own clock, in ns: ts of other tables begins there"},
    {"end_ts", "INTEGER", SQL_UNSIGNED, AT(end), SQL_PLAIN,
     "the end of the last event on the trace's own clock, in ns"},
};
#undef AT

static int list_trace(struct sql_cursor *cursor)
{
	const struct sql_survey *survey = survey_of(cursor);
	struct trace_row *row = sql_add_row(cursor);
	if (!row)
		return sql_no_memory(cursor);
	*row = (struct trace_row){survey->format, survey->bytes, survey->events, survey->start_ns, survey->end_ns};
	return 0;
}

const struct sql_table sql_table_trace = {
    .name = "trace",
    .summary = "the files",
    SQL_COLUMNS(trace_columns),
    .row_size = sizeof(struct trace_row),
    .reads.surveyed = true,
    .begin = list_trace,
};
