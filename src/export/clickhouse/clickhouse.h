/* clickhouse.h - a trace that becomes rows of tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_CLICKHOUSE_CLICKHOUSE_H
#define EXPORT_CLICKHOUSE_CLICKHOUSE_H

#include "core/calls/calls.h"
#include "core/calls/pairs.h"
#include "core/format.h"
#include "export/clickhouse/schema.h"

#include <trackway/clickhouse.h>

/* A slice that is open. */
struct clickhouse_slice {
	uint64_t id;
	uint32_t category;
	uint32_t depth;
	uint32_t next; /* of those that are free, plus 1 */
	uint16_t cpu;
	bool complete; /* its record tells when it ends */
};

/* What runs on a CPU. */
struct clickhouse_core {
	uint64_t id, since;
	uint32_t track;
	bool busy;
};

struct clickhouse {
	struct tw_calls calls; /* first: hooks get it */
	struct tw_budget budget;
	struct tw_writer *writer;
	struct tw_clickhouse_options options;
	const struct tw_reader *reader;
	const struct tw_dictionary *dictionary;
	const struct tw_argument *arguments; /* of the batch */
	const struct tw_event *event;        /* that is being taken; NULL: none */
	struct {
		uint64_t start, end; /* of the trace; when the last of its events so far is over */
		uint32_t day;
		const char *day_from;
	} time;
	struct {
		struct clickhouse_slice *items; /* by the frame's row, from TW_ROW_FIRST on */
		size_t count, room;
		uint32_t free; /* plus 1 */
	} open;
	struct {
		struct clickhouse_core *items;
		size_t room;
	} cores;
	struct tw_pairs pairs;
	struct tw_native_block blocks[TW_TABLES];
	uint64_t rows[TW_TABLES], numbers[TW_TABLES]; /* rows in all; the block that is being filled */
	struct tw_line text, piece;
	bool begun, failed;
};

/* row.c: begins a row, and ends it: a block that is full goes out. */
struct tw_native_block *tw_clickhouse_row(struct clickhouse *clickhouse, enum tw_table_id table);
void tw_clickhouse_end_row(struct clickhouse *clickhouse, enum tw_table_id table);

/* Begins the row of something on a track, with what all of them have. */
struct tw_native_block *tw_clickhouse_track_row(struct clickhouse *clickhouse, enum tw_table_id table, uint32_t number,
                                                uint64_t time, uint64_t id);

/* Gives a column the name of a number of the dictionary. */
void tw_clickhouse_name(struct clickhouse *clickhouse, struct tw_native_block *block, size_t column, uint32_t number);

/* Puts the statements that make the tables, the block that is being filled, and the end, into the archive. */
void tw_clickhouse_put_schema(struct clickhouse *clickhouse);
void tw_clickhouse_put_block(struct clickhouse *clickhouse, enum tw_table_id table);
void tw_clickhouse_put_end(struct clickhouse *clickhouse);

/* arguments.c: the number of an argument; 0 where it is none. Gives a column its value as text. */
double tw_clickhouse_number(const struct tw_argument *argument);
void tw_clickhouse_value(struct clickhouse *clickhouse, struct tw_native_block *block, size_t column,
                         const struct tw_argument *argument);

/* The row of an argument of a record, and those of all arguments of an event from one on. */
void tw_clickhouse_argument(struct clickhouse *clickhouse, const struct tw_event *event, uint64_t id,
                            const struct tw_argument *argument);
void tw_clickhouse_arguments(struct clickhouse *clickhouse, const struct tw_event *event, uint64_t id, unsigned first);

/* rows.c: rows of an event that is no slice; of all that goes on at the end. */
void tw_clickhouse_take(struct clickhouse *clickhouse, const struct tw_event *event);
void tw_clickhouse_finish_rows(struct clickhouse *clickhouse);

/* slices.c: the hooks of the calls, and rows of operations. */
extern const struct tw_call_hooks tw_clickhouse_hooks;
void tw_clickhouse_take_async(struct clickhouse *clickhouse, const struct tw_event *event);
void tw_clickhouse_finish_async(struct clickhouse *clickhouse, uint64_t end);
/* A row of something without a duration. */
void tw_clickhouse_moment(struct clickhouse *clickhouse, const struct tw_event *event, uint64_t key);

#endif
