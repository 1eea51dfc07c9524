/* events.c - the tables whose rows are single events: instant, async_instant, counter, log, stack_sample. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dictionary.h"
#include "sql/tables/tables.h"

#include <inttypes.h>

/* A row of these tables; most have all members. */
struct event_row {
	uint64_t id, ts, argument_set;
	uint32_t track, name, category, series, stack;
	uint64_t value, weight;
	const char *word;
	struct sql_any number;
	struct sql_text text, arguments;
};

#define AT(member) offsetof(struct event_row, member)
#define ID                                                                                                             \
	{                                                                                                              \
		"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of its record"                        \
	}
#define TS                                                                                                             \
	{                                                                                                              \
		"ts", "INTEGER", SQL_TIME, AT(ts), SQL_IS_TS, "ns since the start of the trace"                        \
	}
#define TRACK_ID                                                                                                       \
	{                                                                                                              \
		"track_id", "INTEGER", SQL_TRACK, AT(track), SQL_IS_TRACK, "its track: that of its thread"             \
	}
#define UTID                                                                                                           \
	{                                                                                                              \
		"utid", "INTEGER", SQL_THREAD, AT(track), SQL_IS_TRACK, "its thread: thread.utid"                      \
	}
#define NAME                                                                                                           \
	{                                                                                                              \
		"name", "TEXT", SQL_NAME, AT(name), SQL_IS_NAME, "its name"                                            \
	}
#define CATEGORY                                                                                                       \
	{                                                                                                              \
		"category", "TEXT", SQL_NAME, AT(category), SQL_IS_CATEGORY, "its category"                            \
	}
#define ARG_SET_ID                                                                                                     \
	{                                                                                                              \
		"arg_set_id", "INTEGER", SQL_RECORD, AT(argument_set), SQL_PLAIN,                                      \
		    "its arguments: args.arg_set_id; NULL where it has none"                                           \
	}
#define ARGS                                                                                                           \
	{                                                                                                              \
		"args", "TEXT", SQL_TEXT, AT(arguments), SQL_IS_COSTLY, "its arguments as a JSON object"               \
	}
#define SOURCE                                                                                                         \
	{                                                                                                              \
		"file", "TEXT", SQL_FILE, 0, SQL_IS_HIDDEN, "the file that it is of"                                   \
	}

/* The row of an event; NULL when there is no memory. */
static struct event_row *add_row(struct sql_cursor *cursor, const struct tw_event *event)
{
	struct event_row *row = sql_add_row(cursor);
	if (row)
		*row = (struct event_row){
		    .id = event->offset,
		    .ts = event->time,
		    .argument_set = event->argument_count ? event->offset : UINT64_MAX,
		    .track = event->track,
		    .name = event->name,
		    .category = event->category,
		    .value = event->value,
		};
	return row;
}

/* Keeps the arguments where they are asked for. Returns 0 or a negative status. */
static int keep_arguments(struct sql_cursor *cursor, unsigned column, const struct tw_event *event,
                          const struct tw_argument *arguments, struct event_row *row)
{
	bool fine =
	    !sql_uses(cursor, column) || sql_keep_arguments(cursor, arguments, event->argument_count, &row->arguments);
	return fine ? 0 : sql_no_memory(cursor);
}

/* ---- instant ---- */

static const struct sql_column instant_columns[] = {
    ID,         TS,
    TRACK_ID,   UTID,
    NAME,       CATEGORY,
    ARG_SET_ID, {"scope", "TEXT", SQL_WORD, AT(word), SQL_PLAIN, "whom it is about: 'thread', 'process', 'global'"},
    ARGS,       SOURCE,
};

enum { INSTANT_ARGS = 8 };

static int take_instant(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct event_row *row = add_row(cursor, event);
	if (!row)
		return sql_no_memory(cursor);
	row->word = event->flags & TW_FLAG_GLOBAL ? "global" : event->flags & TW_FLAG_PROCESS ? "process" : "thread";
	return keep_arguments(cursor, INSTANT_ARGS, event, arguments, row);
}

const struct sql_table sql_table_instant = {
    .name = "instant",
    .summary = "events without a duration",
    SQL_COLUMNS(instant_columns),
    .row_size = sizeof(struct event_row),
    .reads.kinds = 1u << TW_INSTANT,
    .reads.windowed = true,
    .by_time = true,
    .reads.single = true,
    .take = take_instant,
};

/* ---- async_instant ---- */

static const struct sql_column async_columns[] = {
    ID,
    TS,
    TRACK_ID,
    UTID,
    NAME,
    CATEGORY,
    {"async_id", "INTEGER", SQL_UNSIGNED, AT(value), SQL_PLAIN, "that of the operation: async_slice.async_id"},
    ARG_SET_ID,
    ARGS,
    SOURCE,
};

enum { ASYNC_ARGS = 8 };

static int take_async_instant(struct sql_cursor *cursor, const struct tw_event *event,
                              const struct tw_argument *arguments)
{
	struct event_row *row = add_row(cursor, event);
	if (!row)
		return sql_no_memory(cursor);
	row->value = event->id;
	return keep_arguments(cursor, ASYNC_ARGS, event, arguments, row);
}

const struct sql_table sql_table_async_instant = {
    .name = "async_instant",
    .summary = "events without a duration of operations that are in async_slice",
    SQL_COLUMNS(async_columns),
    .row_size = sizeof(struct event_row),
    .reads.kinds = 1u << TW_ASYNC_INSTANT,
    .reads.windowed = true,
    .by_time = true,
    .reads.single = true,
    .take = take_async_instant,
};

/* ---- counter ---- */

static const struct sql_column counter_columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN,
     "the byte offset of its record, and the number of the series in it"},
    TS,
    {"track_id", "INTEGER", SQL_SERIES, AT(series), SQL_PLAIN, "its series: counter_track.id"},
    {"value", "", SQL_ANY, AT(number), SQL_PLAIN, "the number"},
    UTID,
    NAME,
    CATEGORY,
    {"series", "TEXT", SQL_NAME, AT(stack), SQL_PLAIN, "the argument that the number is"},
    {"arg_set_id", "INTEGER", SQL_RECORD, AT(argument_set), SQL_PLAIN, "all series of its record: args.arg_set_id"},
    SOURCE,
};

enum { COUNTER_TRACK_ID = 2 };

static struct sql_any number_of(const struct tw_argument *argument)
{
	struct sql_any any = {.type = SQL_ANY_NULL};
	if (argument->type == TW_ARG_UINT && argument->value.u > INT64_MAX) { /* SQLite has no such integers */
		any.type = SQL_ANY_REAL;
		any.value.d = (double)argument->value.u;
	} else if (argument->type == TW_ARG_INT || argument->type == TW_ARG_UINT) {
		any.type = SQL_ANY_NUMBER;
		any.value.i = argument->value.i;
	} else if (argument->type == TW_ARG_DOUBLE) {
		any.type = SQL_ANY_REAL;
		any.value.d = argument->value.d;
	}
	return any;
}

static uint32_t session_name(struct sql_cursor *cursor, uint32_t name)
{
	const struct sql_scan_name *known = sql_scan_name(&cursor->scan, name);
	return known ? known->number : 0;
}

static uint32_t series_of(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *argument)
{
	const struct sql_survey *survey = cursor->scan.session->files[cursor->scan.file].survey;
	const struct tw_track *track = tw_dictionary_track(tw_reader_dictionary(cursor->scan.reader), event->track);
	const struct sql_series series = {
	    .process = track->process,
	    .id = event->id,
	    .category = session_name(cursor, event->category),
	    .name = session_name(cursor, event->name),
	    .argument = session_name(cursor, argument->name),
	};
	return survey ? sql_survey_series(survey, &series) : 0;
}

static int take_counter(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	for (unsigned i = 0; i < event->argument_count; i++) {
		struct event_row *row = add_row(cursor, event);
		if (!row)
			return sql_no_memory(cursor);
		row->id += i; /* fewer than the record has bytes */
		row->number = number_of(&arguments[i]);
		row->stack = arguments[i].name;
		if (sql_uses(cursor, COUNTER_TRACK_ID))
			row->series = series_of(cursor, event, &arguments[i]);
	}
	return 0;
}

const struct sql_table sql_table_counter = {
    .name = "counter",
    .summary = "samples of counters, one for each series",
    SQL_COLUMNS(counter_columns),
    .row_size = sizeof(struct event_row),
    .reads.kinds = 1u << TW_COUNTER,
    .reads.windowed = true,
    .by_time = true,
    .reads.single = true,
    .take = take_counter,
};

/* ---- log ---- */

static const struct sql_column log_columns[] = {
    ID,
    TS,
    UTID,
    {"prio", "INTEGER", SQL_UNSIGNED, AT(value), SQL_PLAIN, "how severe it is, where the format tells"},
    {"msg", "TEXT", SQL_TEXT, AT(text), SQL_PLAIN, "what was logged"},
    {"name", "TEXT", SQL_NAME, AT(name), SQL_IS_NAME, "its name, where the format has one"},
    CATEGORY,
    ARG_SET_ID,
    ARGS,
    SOURCE,
};

enum { LOG_ARGS = 8 };

static int take_log(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct event_row *row = add_row(cursor, event);
	if (!row)
		return sql_no_memory(cursor);
	bool any = event->argument_count && (arguments->type == TW_ARG_TEXT || arguments->type == TW_ARG_BYTES);
	if (any && !sql_keep_text(cursor, arguments->value.bytes, arguments->size, &row->text))
		return sql_no_memory(cursor);
	return keep_arguments(cursor, LOG_ARGS, event, arguments, row);
}

const struct sql_table sql_table_log = {
    .name = "log",
    .summary = "what the programs logged",
    SQL_COLUMNS(log_columns),
    .row_size = sizeof(struct event_row),
    .reads.kinds = 1u << TW_LOG,
    .reads.windowed = true,
    .by_time = true,
    .reads.single = true,
    .take = take_log,
};

/* ---- stack_sample ---- */

static const struct sql_column sample_columns[] = {
    {"id", "INTEGER", SQL_RECORD, AT(id), SQL_PLAIN, "the byte offset of its record; of further ones of it, the next"},
    TS,
    UTID,
    {"callsite_id", "INTEGER", SQL_STACK, AT(stack), SQL_PLAIN, "its stack: callsite.id; NULL where it is not known"},
    {"kind", "TEXT", SQL_WORD, AT(word), SQL_PLAIN, "'stack-sample', 'cpu-sample' or 'allocation-sample'"},
    {"name", "TEXT", SQL_NAME, AT(name), SQL_IS_NAME, "of an allocation: the class"},
    {"value", "INTEGER", SQL_UNSIGNED, AT(value), SQL_PLAIN,
     "sampling ticks; of a cpu-sample ns of CPU time; of an allocation bytes"},
    {"weight", "INTEGER", SQL_UNSIGNED, AT(weight), SQL_PLAIN,
     "ns of wall time that it stands for; of an allocation how many objects"},
    ARG_SET_ID,
    ARGS,
    SOURCE,
};

enum { SAMPLE_ARGS = 9 };

struct samples {
	uint64_t offset, same; /* offset of the last record with a sample, and how many rows it has had */
};

static int add_sample(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct event_row *row = add_row(cursor, event);
	if (!row)
		return sql_no_memory(cursor);
	row->id += ((const struct samples *)cursor->state)->same;
	row->stack = sql_scan_stack(&cursor->scan, event->other);
	row->weight = event->id;
	row->word = tw_event_kind_name(event->kind);
	int status = keep_arguments(cursor, SAMPLE_ARGS, event, arguments, row);
	if (status < 0 || row->stack != UINT32_MAX)
		return status;
	return sql_session_fail(cursor->scan.session, TW_ERR_VALUE,
	                        "%s: the index does not know a stack at offset 0x%" PRIx64,
	                        cursor->scan.session->files[cursor->scan.file].path, event->offset);
}

/* A record with several gives each an id, also to those that are not wanted: ids must not depend
 * on conditions. */
static int take_sample(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct samples *samples = cursor->state;
	if (!(cursor->table->reads.kinds >> event->kind & 1))
		return 0;
	samples->same = event->offset == samples->offset ? samples->same + 1 : 0;
	samples->offset = event->offset;
	return sql_wants(cursor, event) ? add_sample(cursor, event, arguments) : 0;
}

const struct sql_table sql_table_stack_sample = {
    .name = "stack_sample",
    .summary = "samples of stacks, of CPU time and of allocations",
    SQL_COLUMNS(sample_columns),
    .row_size = sizeof(struct event_row),
    .reads.kinds = 1u << TW_STACK_SAMPLE | 1u << TW_CPU_SAMPLE | 1u << TW_ALLOCATION_SAMPLE,
    .reads.windowed = true,
    .reads.stacked = true,
    .reads.whole_file = true,
    .reads.surveyed = true,
    .by_time = true,
    .state_size = sizeof(struct samples),
    .take = take_sample,
};
