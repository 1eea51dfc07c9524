/* cells.h - what each column says of an event, for formats that are rows of events. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_CELLS_H
#define EXPORT_CELLS_H

#include "core/format.h"
#include "export/line.h"

/* Columns stay what they are from release to release; new ones come behind the others. X(id, name) */
#define TW_COLUMN_LIST(X)                                                                                              \
	X(TW_COLUMN_TIME, time_ns)                                                                                     \
	X(TW_COLUMN_KIND, kind)                                                                                        \
	X(TW_COLUMN_PROCESS, process)                                                                                  \
	X(TW_COLUMN_THREAD, thread)                                                                                    \
	X(TW_COLUMN_TRACK, track)                                                                                      \
	X(TW_COLUMN_NAME, name)                                                                                        \
	X(TW_COLUMN_CATEGORY, category)                                                                                \
	X(TW_COLUMN_VALUE, value)                                                                                      \
	X(TW_COLUMN_ID, id)                                                                                            \
	X(TW_COLUMN_OTHER, other)                                                                                      \
	X(TW_COLUMN_STACK, stack)                                                                                      \
	X(TW_COLUMN_CPU, cpu)                                                                                          \
	X(TW_COLUMN_FLAGS, flags)                                                                                      \
	X(TW_COLUMN_ARGS, args)

enum tw_column_id {
#define X(id, name) id,
	TW_COLUMN_LIST(X)
#undef X
	    TW_COLUMNS
};

enum tw_cell { TW_CELL_NOTHING, TW_CELL_NUMBER, TW_CELL_TEXT, TW_CELL_JSON };

/* What a cell is made from, and what it says. */
struct tw_cells {
	struct tw_writer *writer; /* that counts what is lost */
	const struct tw_dictionary *dictionary;
	const struct tw_batch *batch;
	uint64_t start; /* of the trace */
	bool has_cpu, begun;
	struct tw_line text; /* of the cell: to be cleared before */
};

struct tw_column {
	const char *name;
	enum tw_cell (*add)(struct tw_cells *cells, const struct tw_event *event);
};

extern const struct tw_column tw_columns[TW_COLUMNS];

/* Tells the cells which batch their events are of. */
void tw_cells_meet(struct tw_cells *cells, const struct tw_reader *reader, const struct tw_batch *batch);

#endif
