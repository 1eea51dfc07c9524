/* span.h - span_join, span_left_join and span_outer_join: the spans of time that two tables have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_PERFETTO_SPAN_H
#define SQL_PERFETTO_SPAN_H

#include "sql/perfetto/function.h"

#include <stdint.h>

/* Which spans are wanted: where both tables have one, where the left one has, where any has. */
enum sql_span_kind { SQL_SPAN_INNER, SQL_SPAN_LEFT, SQL_SPAN_OUTER };

/* A span of a table: from ts to end, INT64_MAX where it has none. */
struct sql_span {
	int64_t ts, end, partition;
	size_t row; /* of those that are kept */
};

/* One of the two tables while it is read, in the order of partition and time. */
struct sql_span_side {
	sqlite3_stmt *statement; /* ts, dur, partition, and the other columns */
	const char *name;        /* of the table */
	bool partitioned;
	bool there; /* `now` is a span of it, of which the statement, or a row that is kept, has the columns */
	struct sql_span now;
	/* Of a table without partitions beside one that has some: all spans, with the values of each. */
	bool keeps;
	struct sql_span *spans;
	sqlite3_value **values;
	size_t count, span_room, value_room, width;
};

struct sql_span_merge {
	enum sql_span_kind kind;
	struct sql_span_side sides[2];
	int64_t partition, from; /* from: up to there all has been given */
	int64_t ts, end;         /* of the span that is given */
	bool active[2];          /* which tables have a span there */
	bool over;
	bool text; /* a partition is no whole number: the merge failed */
	size_t at; /* the table that failed */
};

/* Begins with two statements that have not been stepped; goes to the next span. Return one of SQLite's results. */
int sql_span_begin(struct sql_span_merge *merge);
int sql_span_next(struct sql_span_merge *merge);

/* Gives SQLite a column of a table, from 0: NULL where it has no span. */
void sql_span_value(const struct sql_span_merge *merge, size_t side, size_t column, sqlite3_context *context);

/* Forgets what is kept, and finalizes the statements. */
void sql_span_end(struct sql_span_merge *merge);

/* Makes the tables known to a connection. Returns one of SQLite's results. */
int sql_span_register(struct sql_calls *calls);

#endif
