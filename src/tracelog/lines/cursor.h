/* cursor.h - a log from line to line as records, and what is wrong with single lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LINES_CURSOR_H
#define TRACELOG_LINES_CURSOR_H

#include "core/format.h"
#include "core/text/lines.h"
#include "tracelog/format/rules.h"

#include <trackway/tracelog.h>

/* How often something was met that is reported once, and where first. */
struct tracelog_tally {
	uint64_t count;
	uint64_t record, at, line;
};

struct tracelog_cursor {
	struct tw_reader *reader;
	struct tw_text_lines lines;
	struct tw_text_line line;
	struct tw_tracelog_record record; /* of the line */
	bool readable;                    /* it holds what the line says */
	bool of_unknown_kind;             /* it looks like a record of a kind to come */
	uint64_t lost_bytes;              /* of lines that are no records */
	struct tracelog_tally tallies[TRACELOG_RULES];
};

/* Takes the reader's window over: a log is gone through once. Free it in the end. */
void tracelog_cursor_init(struct tracelog_cursor *cursor, struct tw_reader *reader);
void tracelog_cursor_free(struct tracelog_cursor *cursor);

/* Gives the next line, in cursor->line and cursor->record, as soon as it is there; reports where it cannot be read.
 * Empty lines are passed over. Returns 1, 0 at the end, or a negative status, which has been told. */
int tracelog_cursor_next(struct tracelog_cursor *cursor);

/* The same for a line from elsewhere; false for an empty one. */
bool tracelog_cursor_take(struct tracelog_cursor *cursor, const struct tw_text_line *line);

/* Gives the next good item of the record's list; the others are reported. `list` is a copy of record.list. */
bool tracelog_cursor_item(struct tracelog_cursor *cursor, struct tw_tracelog_text *list, struct tw_tracelog_item *item);

/* Reports what is counted and reported once, and damage of the compression. */
void tracelog_cursor_end(struct tracelog_cursor *cursor);

#endif
