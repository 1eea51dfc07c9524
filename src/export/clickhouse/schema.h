/* schema.h - the tables that traces are in a database of ClickHouse: the loader and the writer of blocks take them from
 * here, and so does the document. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_CLICKHOUSE_SCHEMA_H
#define EXPORT_CLICKHOUSE_SCHEMA_H

#include "export/clickhouse/native.h"

/* What every row has. X(id, name, type, help) */
#define ROW_COLUMNS(X, T)                                                                                              \
	X(T##_TRACE, "trace", TW_NATIVE_NAME, "the trace: SHA-256 of its bytes, or what --id said")                    \
	X(T##_DAY, "day", TW_NATIVE_DAY, "the day of the trace")                                                       \
	X(T##_BLOCK, "block", TW_NATIVE_U32, "which block of the table and the trace the row came in")

/* What the row of something on a track has besides. */
#define TRACK_COLUMNS(X, T)                                                                                            \
	ROW_COLUMNS(X, T)                                                                                              \
	X(T##_TRACK, "track", TW_NATIVE_U32, "number of the track in the trace")                                       \
	X(T##_TIME, "time", TW_NATIVE_U64, "ns since the start of the trace")                                          \
	X(T##_ID, "id", TW_NATIVE_U64, "offset of its record in the file, in bytes")                                   \
	X(T##_PROCESS, "process", TW_NATIVE_U64, "process id; 0: not told")                                            \
	X(T##_THREAD, "thread", TW_NATIVE_U64, "thread id")                                                            \
	X(T##_THREAD_NAME, "thread_name", TW_NATIVE_NAME, "name of the thread, or of another track")                   \
	X(T##_PROCESS_NAME, "process_name", TW_NATIVE_NAME, "name of the process")

#define TRACE_TABLE(X)                                                                                                 \
	ROW_COLUMNS(X, TRACE)                                                                                          \
	X(TRACE_PATH, "path", TW_NATIVE_TEXT, "the file that it came from")                                            \
	X(TRACE_FORMAT, "format", TW_NATIVE_NAME, "the format of the file")                                            \
	X(TRACE_BYTES, "bytes", TW_NATIVE_U64, "size of the file; 0: a pipe")                                          \
	X(TRACE_START, "start_ns", TW_NATIVE_U64, "wall time of time 0, ns since 1970; 0: not told")                   \
	X(TRACE_DURATION, "duration", TW_NATIVE_U64, "ns from the first event to the last")                            \
	X(TRACE_DAY_FROM, "day_from", TW_NATIVE_NAME, "where the day is from: 'given', 'clock', 'file', 'nowhere'")    \
	X(TRACE_LOADED, "loaded", TW_NATIVE_SECOND, "when it was loaded")                                              \
	X(TRACE_LABEL_KEYS, "label_keys", TW_NATIVE_TEXTS, "the keys of its labels, --label")                          \
	X(TRACE_LABEL_VALUES, "label_values", TW_NATIVE_TEXTS, "the values, in the same order")                        \
	X(TRACE_TOOL, "tool", TW_NATIVE_NAME, "the version of Trackway that made the rows")                            \
	X(TRACE_SLICES, "slices", TW_NATIVE_U64, "rows of the table slice")                                            \
	X(TRACE_COUNTERS, "counters", TW_NATIVE_U64, "rows of the table counter")                                      \
	X(TRACE_SCHEDS, "scheds", TW_NATIVE_U64, "rows of the table sched")                                            \
	X(TRACE_SAMPLES, "samples", TW_NATIVE_U64, "rows of the table sample")                                         \
	X(TRACE_LOGS, "logs", TW_NATIVE_U64, "rows of the table log")                                                  \
	X(TRACE_ARGUMENTS, "arguments", TW_NATIVE_U64, "rows of the table argument")                                   \
	X(TRACE_FINDINGS, "findings", TW_NATIVE_U64, "rows of the table finding")

#define SLICE_TABLE(X)                                                                                                 \
	TRACK_COLUMNS(X, SLICE)                                                                                        \
	X(SLICE_KIND, "kind", TW_NATIVE_NAME,                                                                          \
	  "'slice', 'async', 'instant', 'async-instant', 'async-end' without a begin, 'flow-begin', 'flow-step', "     \
	  "'flow-end'")                                                                                                \
	X(SLICE_NAME, "name", TW_NATIVE_NAME, "its name, or that of the function")                                     \
	X(SLICE_CATEGORY, "category", TW_NATIVE_NAME, "its category")                                                  \
	X(SLICE_DURATION, "duration", TW_NATIVE_U64, "ns until its end; of one that is open, to the last event there") \
	X(SLICE_SELF, "self", TW_NATIVE_U64, "ns of them that are not in slices directly inside")                      \
	X(SLICE_DEPTH, "depth", TW_NATIVE_U32, "how many slices it is inside of")                                      \
	X(SLICE_PARENT, "parent", TW_NATIVE_U64, "id of the slice around it; itself: there is none")                   \
	X(SLICE_NESTED, "nested", TW_NATIVE_U8, "1: inside of a slice of the same name, whose time has it too")        \
	X(SLICE_END, "end", TW_NATIVE_NAME, "'ended', 'unwound' (by the end of one around it), 'open' (not at all)")   \
	X(SLICE_CPU, "cpu", TW_NATIVE_U16, "the CPU that it began on; 0 where not told")                               \
	X(SLICE_KEY, "key", TW_NATIVE_U64, "id of the asynchronous operation or of the flow")

#define COUNTER_TABLE(X)                                                                                               \
	TRACK_COLUMNS(X, COUNTER)                                                                                      \
	X(COUNTER_NAME, "name", TW_NATIVE_NAME, "its name")                                                            \
	X(COUNTER_SERIES, "series", TW_NATIVE_NAME, "name of the series")                                              \
	X(COUNTER_VALUE, "value", TW_NATIVE_DOUBLE, "its value from then on")                                          \
	X(COUNTER_KEY, "key", TW_NATIVE_U64, "id of the counter; 0: none")

#define SCHED_TABLE(X)                                                                                                 \
	TRACK_COLUMNS(X, SCHED)                                                                                        \
	X(SCHED_KIND, "kind", TW_NATIVE_NAME, "'run': the thread ran; 'wakeup': it was woken")                         \
	X(SCHED_CPU, "cpu", TW_NATIVE_U16, "the CPU")                                                                  \
	X(SCHED_DURATION, "duration", TW_NATIVE_U64,                                                                   \
	  "ns that it ran; until the last switch of all where none ends it")                                           \
	X(SCHED_STATE, "state", TW_NATIVE_NAME, "in which it left: 'blocked', 'running', ...; empty: not known")       \
	X(SCHED_WAKER, "waker", TW_NATIVE_U64, "thread id of who woke it; 0: not told")

#define SAMPLE_TABLE(X)                                                                                                \
	TRACK_COLUMNS(X, SAMPLE)                                                                                       \
	X(SAMPLE_KIND, "kind", TW_NATIVE_NAME, "'stack-sample', 'cpu-sample', 'allocation-sample'")                    \
	X(SAMPLE_NAME, "name", TW_NATIVE_NAME, "the innermost function; of an allocation the class")                   \
	X(SAMPLE_STACK, "stack", TW_NATIVE_NAME, "the functions, the outermost first, ';' between them")               \
	X(SAMPLE_VALUE, "value", TW_NATIVE_U64, "sampling ticks, ns of CPU time, or bytes, by kind")                   \
	X(SAMPLE_WEIGHT, "weight", TW_NATIVE_U64, "ns of wall time, nothing, or count of objects, by kind")

#define LOG_TABLE(X)                                                                                                   \
	TRACK_COLUMNS(X, LOG)                                                                                          \
	X(LOG_NAME, "name", TW_NATIVE_NAME, "its name")                                                                \
	X(LOG_CATEGORY, "category", TW_NATIVE_NAME, "its category")                                                    \
	X(LOG_SEVERITY, "severity", TW_NATIVE_U32, "as the format has it")                                             \
	X(LOG_TEXT, "text", TW_NATIVE_TEXT, "the message")

#define ARGUMENT_TABLE(X)                                                                                              \
	TRACK_COLUMNS(X, ARGUMENT)                                                                                     \
	X(ARGUMENT_KIND, "kind", TW_NATIVE_NAME, "what it is of: a kind of event, as convert to csv has them")         \
	X(ARGUMENT_NAME, "name", TW_NATIVE_NAME, "its name")                                                           \
	X(ARGUMENT_TYPE, "type", TW_NATIVE_NAME,                                                                       \
	  "'null', 'bool', 'int', 'uint', 'pointer', 'koid', 'double', 'text', 'bytes'")                               \
	X(ARGUMENT_NUMBER, "number", TW_NATIVE_DOUBLE, "its value where that is a number")                             \
	X(ARGUMENT_TEXT, "text", TW_NATIVE_TEXT, "its value as text; bytes in hexadecimal")

#define FINDING_TABLE(X)                                                                                               \
	ROW_COLUMNS(X, FINDING)                                                                                        \
	X(FINDING_SEVERITY, "severity", TW_NATIVE_NAME, "'note', 'warning', 'error'")                                  \
	X(FINDING_RULE, "rule", TW_NATIVE_TEXT, "the rule of the format")                                              \
	X(FINDING_RECORD, "record", TW_NATIVE_U64, "offset of the record, in bytes")                                   \
	X(FINDING_AT, "at", TW_NATIVE_U64, "offset of the guilty byte")                                                \
	X(FINDING_LINE, "line", TW_NATIVE_U64, "the line of a text format; 0: it has none")                            \
	X(FINDING_FILE, "file", TW_NATIVE_TEXT, "the file that it is about")                                           \
	X(FINDING_TEXT, "text", TW_NATIVE_TEXT, "what is wrong")

/* The tables; the trace comes last, and tells that all of it is there. X(id, name, columns, order, help) */
#define TW_TABLE_LIST(X)                                                                                               \
	X(TW_TABLE_SLICE, "slice", SLICE_TABLE, "trace, track, time", "slices, instants, operations and flows")        \
	X(TW_TABLE_COUNTER, "counter", COUNTER_TABLE, "trace, track, time", "values of counters")                      \
	X(TW_TABLE_SCHED, "sched", SCHED_TABLE, "trace, track, time", "which thread ran when")                         \
	X(TW_TABLE_SAMPLE, "sample", SAMPLE_TABLE, "trace, track, time", "samples of stacks and allocations")          \
	X(TW_TABLE_LOG, "log", LOG_TABLE, "trace, track, time", "messages")                                            \
	X(TW_TABLE_ARGUMENT, "argument", ARGUMENT_TABLE, "trace, track, time", "arguments of all of these")            \
	X(TW_TABLE_FINDING, "finding", FINDING_TABLE, "trace, record", "what is wrong in the file")                    \
	X(TW_TABLE_TRACE, "trace", TRACE_TABLE, "trace", "one row for each trace, when all of it has been loaded")

enum tw_table_id {
#define X(id, name, columns, order, help) id,
	TW_TABLE_LIST(X)
#undef X
	    TW_TABLES
};

/* The columns of all tables, by number in their table. */
#define X(id, name, type, help) id,
enum { SLICE_TABLE(X) SLICE_COLUMNS };
enum { COUNTER_TABLE(X) COUNTER_COLUMNS };
enum { SCHED_TABLE(X) SCHED_COLUMNS };
enum { SAMPLE_TABLE(X) SAMPLE_COLUMNS };
enum { LOG_TABLE(X) LOG_COLUMNS };
enum { ARGUMENT_TABLE(X) ARGUMENT_COLUMNS };
enum { FINDING_TABLE(X) FINDING_COLUMNS };
enum { TRACE_TABLE(X) TRACE_COLUMNS };
#undef X

struct tw_schema_column {
	const char *name;
	enum tw_native_type type;
	const char *help; /* begins small, no full stop */
};

struct tw_schema_table {
	const char *name, *order, *help;
	const struct tw_schema_column *columns;
	size_t column_count;
};

extern const struct tw_schema_table tw_schema[TW_TABLES];

/* Adds the statement that makes a table, where there is none, without a ';'. engine: NULL: MergeTree(). */
void tw_schema_put_create(struct tw_line *line, const struct tw_schema_table *table, const char *engine);

/* An empty block of a table. False when there is no memory. */
bool tw_schema_block(struct tw_native_block *block, enum tw_table_id table);

#endif
