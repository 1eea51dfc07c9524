/* table.h - what a virtual table is made of: its columns, and what makes rows for them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_TABLES_TABLE_H
#define SQL_TABLES_TABLE_H

#include "base/memory/memory.h"
#include "base/text/json.h"
#include "sql/engine/scan.h"
#include "sql/engine/sqlite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a value is in a row, at the column's place in it. */
enum sql_value {
	SQL_NUMBER,      /* int64_t */
	SQL_UNSIGNED,    /* uint64_t: what does not fit 63 bits is negative */
	SQL_SMALL,       /* uint32_t */
	SQL_REAL,        /* double */
	SQL_TIME,        /* uint64_t on the trace's clock: ns since its start */
	SQL_RECORD,      /* uint64_t, an offset: the id of what it is the record of; UINT64_MAX: NULL */
	SQL_TRACK,       /* uint32_t, the reader's number: the id of the track */
	SQL_THREAD,      /* the same; NULL where the track is no thread */
	SQL_KNOWN_TRACK, /* uint32_t, the survey's number: the same */
	SQL_PROCESS,     /* uint32_t, the survey's number: upid */
	SQL_SERIES,      /* uint32_t, the survey's number: the id of the counter's track */
	SQL_STACK,       /* uint32_t: the id of the stack, or of the frame; 0: NULL */
	SQL_NAME,        /* uint32_t, the reader's number; 0: NULL */
	SQL_KNOWN_NAME,  /* uint32_t, the session's number; 0: NULL */
	SQL_WORD,        /* const char *, a constant; NULL: NULL */
	SQL_TEXT,        /* struct sql_text */
	SQL_ANY,         /* struct sql_any */
	SQL_FILE         /* nothing: the file's path */
};

enum { SQL_COLUMNS_MOST = 32 }; /* of a table */

/* A text of the cursor's, which lives as long as its row. */
struct sql_text {
	size_t place, length;
	bool there; /* otherwise NULL */
};

/* A value whose type differs from row to row. */
struct sql_any {
	enum { SQL_ANY_NULL, SQL_ANY_NUMBER, SQL_ANY_REAL, SQL_ANY_TEXT } type;
	union {
		int64_t i;
		double d;
		struct sql_text text;
	} value;
};

/* What a condition on a column can be used for, and what the column needs. */
enum sql_role {
	SQL_PLAIN,
	SQL_IS_TS,       /* rows are left out by time */
	SQL_IS_TRACK,    /* rows are left out by thread */
	SQL_IS_NAME,     /* by name */
	SQL_IS_CATEGORY, /* by category */
	SQL_IS_INDEX,    /* by number, as by time but from 0 */
	SQL_IS_PC,       /* by place */
	SQL_IS_ADDRESS,  /* by address */
	SQL_IS_TID,      /* by number of the thread */
	SQL_IS_COSTLY,   /* made only when it is asked for */
	SQL_IS_HIDDEN    /* left out by `select *` */
};

struct sql_column {
	const char *name;
	const char *type; /* as SQL declares it */
	enum sql_value value;
	size_t place; /* in the row */
	enum sql_role role;
	const char *help; /* begins small, no full stop */
};

struct sql_cursor;
struct sql_groups;
struct sql_lookup;

/* What a table reads of a file. */
struct sql_reads {
	uint32_t kinds;   /* of event, bits 1 << kind */
	uint64_t lasting; /* columns that events of all kinds tell, where there is no survey: bits */
	bool windowed;    /* rows of a window need only what an index gives for it */
	bool stacked;     /* they tell stacks */
	bool whole_file;  /* rows of one thread need the events of the others */
	bool in_time;     /* events must come in the order of time */
	bool surveyed;    /* the survey is needed, whatever columns are asked for */
	bool single;      /* an event makes its rows alone */
};

struct sql_table {
	const char *name;
	const char *summary; /* begins small, no full stop */
	const struct sql_column *columns;
	size_t column_count;
	size_t row_size;
	const char *format; /* the files' that it has rows of; NULL: all */
	struct sql_reads reads;
	uint64_t thread_times; /* columns that need tw_request.thread_times: bits */
	bool by_time;          /* rows come in the order of `ts`, if the events come in that of time */
	enum tw_checking checking;
	tw_finding_fn on_finding; /* takes findings instead of the session's hook; context is the cursor */
	size_t state_size;

	/* Prepares for a file, or makes all of its rows where kinds is 0. NULL: nothing to do. */
	int (*begin)(struct sql_cursor *cursor);
	/* Makes rows of an event: of each that is read, or, where reads.single, of those of its kinds which the
	 * conditions leave through. */
	int (*take)(struct sql_cursor *cursor, const struct tw_event *event, const struct tw_argument *arguments);
	/* Makes rows by itself: > 0 when there may be more, 0 at the end. Instead of take. */
	int (*pull)(struct sql_cursor *cursor);
	/* Instead of take and finish, where rows are collected: reads the whole file, makes rows without looking
	 * at names, and calls sql_groups_take() now and then. NULL where there is no such way; call_columns: the
	 * columns that such rows have, bits. */
	int (*read_calls)(struct sql_cursor *cursor);
	uint64_t call_columns;
	/* Makes the last rows of a file. */
	int (*finish)(struct sql_cursor *cursor);
	/* Whether rows that are wanted may still come of what has begun before the end of the window. NULL: never. */
	bool (*waits)(const struct sql_cursor *cursor);
	/* Frees what begin made. */
	void (*end)(struct sql_cursor *cursor);
};

/* The last NULL. */
extern const struct sql_table *const sql_tables[];

/* What a condition says of a text. */
struct sql_match {
	char *equal, *glob; /* NULL: nothing */
	uint8_t *verdicts;  /* by the reader's number of the name: 0 not known, 1 yes, 2 no */
	size_t room;
};

/* What a number may be, as SQL has it: 63 bits and a sign. */
struct sql_bounds {
	int64_t low, high;
};

/* Gives SQLite a value that is at a place in a row; what gives nothing leaves NULL. */
typedef void (*sql_put_fn)(struct sql_cursor *cursor, sqlite3_context *context, const void *place);

/* Where a column stands in a row. */
struct sql_slot {
	sql_put_fn put;
	size_t place;
};

/* What must be known of a file before its rows are read. */
struct sql_needs {
	bool survey;
	bool start; /* its first time */
};

/* The rows of a file among those that are kept. */
struct sql_part {
	size_t end;
	uint64_t start; /* of the file's clock */
};

/* What rows have in common that are grouped: a text, or an id. */
struct sql_group_value {
	const char *text;
	size_t length;
	int64_t id;
	bool there; /* otherwise NULL */
};

/* What SQLite asks for. Written by sql/engine/plan.c, before the first row. */
struct sql_query {
	struct sql_needs needs;
	uint64_t used;        /* columns that are asked for, bits; the last stands for all beyond */
	struct sql_bounds ts; /* what it may be; of an instruction its index */
	struct sql_bounds pc, address;
	bool one_tid; /* tid is the only thread's */
	uint64_t tid;
	bool one_track; /* track is the only one */
	int64_t track;  /* an id */
	struct sql_match name, category;
	bool in_order; /* events must come in the order of time */
	/* Rows must come in the order of the names or ids, or from the last, of column `group`. */
	bool grouped, downwards;
	unsigned group;
};

/* How far the files are. Written by sql/engine/cursor.c; where rows are kept, by sql/engine/lookup.c. */
struct sql_progress {
	bool scanning;   /* a file is open: rows may still come of it */
	bool over;       /* of the open file all rows have been made */
	bool none_left;  /* no file is left */
	uint64_t start;  /* of the file's clock; 0 where no time is asked for */
	uint32_t wanted; /* the track that is the only one: the survey's number */
};

/* Rows that have been made. Written by the table, through sql_add_row() and what keeps texts. */
struct sql_made {
	uint8_t *rows; /* row_size bytes each */
	size_t count;
	size_t room;          /* bytes */
	struct tw_text text;  /* of the rows */
	struct tw_output out; /* sql_write() */
};

/* The row that SQLite is at. Written by sql/engine/cursor.c; where rows are kept or grouped, by sql/engine/pack.c and
 * sql/tables/groups.c. */
struct sql_given {
	const uint8_t *row; /* stride bytes before the next */
	size_t stride;
	size_t at; /* its place among those that have been made */
	int64_t number;
	struct sql_slot slots[SQL_COLUMNS_MOST]; /* of the columns in it */
	struct sql_group_value group_value;      /* where rows are grouped, instead of the slot of `group` */
};

struct sql_cursor {
	sqlite3_vtab_cursor base;
	const struct sql_table *table;
	struct sql_query query;
	struct sql_scan scan;
	struct sql_progress file;
	struct sql_made made;
	struct sql_given given;
	struct sql_groups *groups; /* where query.grouped */
	struct sql_lookup *lookup; /* what was asked before; NULL: nothing by an id */
	struct sql_part *parts;    /* of rows that are kept, by file; NULL: they are of the file that is open */
	bool reopened;             /* its rows may be of another statement */
	void *state;               /* state_size bytes, the table's */
};

/* Room for another row, zeroed; NULL when there is no memory. */
void *sql_add_row(struct sql_cursor *cursor);

/* Whether a condition leaves a name through. */
bool sql_matches(struct sql_cursor *cursor, struct sql_match *match, uint32_t name);

/* Whether bounds leave a number through, and whether they leave all. */
static inline bool sql_is_between(const struct sql_bounds *bounds, uint64_t number)
{
	return (int64_t)number >= bounds->low && (int64_t)number <= bounds->high;
}

static inline bool sql_is_any(const struct sql_bounds *bounds)
{
	return bounds->low == INT64_MIN && bounds->high == INT64_MAX;
}

/* The same of an event's time, track, name and category. */
static inline bool sql_in_window(const struct sql_cursor *cursor, uint64_t time)
{
	return sql_is_between(&cursor->query.ts, time - cursor->file.start);
}

bool sql_on_track(struct sql_cursor *cursor, uint32_t track);
bool sql_wants(struct sql_cursor *cursor, const struct tw_event *event);

/* Whether a column is asked for. */
static inline bool sql_uses(const struct sql_cursor *cursor, unsigned column)
{
	return cursor->query.used >> (column < 63 ? column : 63) & 1;
}

/* Text that a row holds: its beginning, then, after cursor->made.text has grown, all of it. */
static inline struct sql_text sql_text_from(const struct sql_cursor *cursor, size_t place)
{
	return (struct sql_text){.place = place, .length = cursor->made.text.length - place, .there = true};
}

/* Keeps a copy of a text. False when there is no memory. */
bool sql_keep_text(struct sql_cursor *cursor, const void *bytes, size_t length, struct sql_text *text);

/* Returns an output that appends to a text; what was written to it for another text must have been flushed. NULL when
 * there is no memory. */
struct tw_output *sql_write(struct sql_cursor *cursor, struct tw_text *text);

/* Writes arguments as the inside of a JSON object. False when there is no memory. */
bool sql_add_arguments(struct sql_cursor *cursor, struct tw_text *text, const struct tw_argument *arguments,
                       size_t count);

/* Keep an object of such insides, or arguments as an object; without arguments there is no text. False when there is no
 * memory. */
bool sql_keep_object(struct sql_cursor *cursor, const struct tw_text *inside, struct sql_text *text);
bool sql_keep_arguments(struct sql_cursor *cursor, const struct tw_argument *arguments, size_t count,
                        struct sql_text *text);

int sql_no_memory(struct sql_cursor *cursor);

/* Makes all tables known to a connection: with a session that they share (eponymous), and for `create virtual table`.
 * The session must outlive the connection. Returns one of SQLite's results. */
int sql_register_tables(sqlite3 *db, struct sql_session *session);

/* The same, with functions and views. */
int sql_register(sqlite3 *db, struct sql_session *session);

#define SQL_COLUMNS(table) .columns = (table), .column_count = sizeof(table) / sizeof *(table)

#endif
