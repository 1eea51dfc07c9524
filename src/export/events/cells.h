/* cells.h - what each column says of an event, for formats that are rows of events. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_EVENTS_CELLS_H
#define EXPORT_EVENTS_CELLS_H

#include "core/format.h"
#include "export/text/args.h"

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
	X(TW_COLUMN_ARGS, args)                                                                                        \
	X(TW_COLUMN_FILE, file)                                                                                        \
	X(TW_COLUMN_LINE, line)

enum tw_column_id {
#define X(id, name) id,
	TW_COLUMN_LIST(X)
#undef X
	    TW_COLUMNS
};

enum tw_cell_form {
	TW_CELL_NUMBER,
	TW_CELL_NEGATIVE, /* less than 0 by `number` */
	TW_CELL_NAME,     /* `number` is one of the dictionary */
	TW_CELL_PLAIN,    /* a text of ours: printable ASCII that needs no quotes anywhere */
	TW_CELL_TEXT,
	TW_CELL_JSON
};

/* What a column says: a number, or a text that lives until the next one. */
struct tw_cell {
	enum tw_cell_form form;
	uint64_t number;
	const char *bytes;
	size_t size;
};

/* What cells are made from. All zero before. */
struct tw_cells {
	struct tw_writer *writer; /* counts what is lost */
	const struct tw_dictionary *dictionary;
	const struct tw_batch *batch;
	uint64_t start; /* of the trace */
	bool has_cpu, begun;
	struct tw_names names; /* as the target writes them */
	struct tw_args args;
	struct tw_line text; /* of the cell */
};

struct tw_column {
	const char *name;
	struct tw_cell (*cell)(struct tw_cells *cells, const struct tw_event *event);
};

extern const struct tw_column tw_columns[TW_COLUMNS];

/* render: how the target writes a name. */
void tw_cells_init(struct tw_cells *cells, struct tw_writer *writer, tw_render_fn *render);
void tw_cells_free(struct tw_cells *cells);

/* Tells the cells which batch their events are of. */
void tw_cells_meet(struct tw_cells *cells, const struct tw_reader *reader, const struct tw_batch *batch);

/* The columns that are filled for every event of a kind: bits 1 << enum tw_column_id. */
extern const uint32_t tw_cells_of_kind[TW_EVENT_KINDS];

/* The columns that are filled for this event but not for each of its kind. */
uint32_t tw_cells_of_others(const struct tw_cells *cells, const struct tw_event *event);

/* All columns that are filled for an event; the others must not be asked for. Inline: most events are slices (`make
 * bench` measures convert to CTF). */
static inline uint32_t tw_cells_filled(const struct tw_cells *cells, const struct tw_event *event)
{
	bool track = tw_dictionary_track(cells->dictionary, event->track)->name != 0;
	uint32_t filled = (uint32_t)track << TW_COLUMN_TRACK | (uint32_t)(event->name != 0) << TW_COLUMN_NAME |
	                  (uint32_t)(event->category != 0) << TW_COLUMN_CATEGORY |
	                  (uint32_t)cells->has_cpu << TW_COLUMN_CPU | (uint32_t)(event->flags != 0) << TW_COLUMN_FLAGS |
	                  (uint32_t)(event->argument_count != 0) << TW_COLUMN_ARGS | tw_cells_of_kind[event->kind];
	return event->kind > TW_SLICE_COMPLETE ? filled | tw_cells_of_others(cells, event) : filled;
}

/* Adds a name as the target writes it, and counts one that is cut. */
void tw_cells_add_name(struct tw_cells *cells, struct tw_line *line, const struct tw_cell *cell);

/* Whether there was no memory once. */
bool tw_cells_failed(const struct tw_cells *cells);

#endif
