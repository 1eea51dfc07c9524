/* rows.c - events as rows: CSV, and JSON Lines.
 *
 * One table of columns makes both, so that they say the same (cells.h). Times are nanoseconds since the start of the
 * trace. What an event has nothing for is an empty cell, or no member. Source: RFC 4180 for CSV, with the line ends of
 * Unix; jsonlines.org. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/text/csv.h"
#include "export/events/cells.h"
#include "export/targets.h"
#include "export/text/labels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FLUSH_AT = 32 << 10 };

/* Columns that are the same for all events of a track: they are rendered once, and again when the track has changed. */
enum {
	TRACK_COLUMNS = 1 << TW_COLUMN_PROCESS | 1 << TW_COLUMN_THREAD | 1 << TW_COLUMN_TRACK,
	BEFORE_TRACK = (1 << TW_COLUMN_PROCESS) - 1
};

struct track_cells {
	struct tw_track of;
	const char *name; /* the text of its name when its cells were rendered */
	struct tw_line text;
};

struct text_rows;

/* A short text in its room. The whole room is copied, whatever the length: a copy of fixed size is faster. */
enum { PIECE = 32 };

struct cell_text {
	char text[PIECE];
	size_t size;
};

#define PIECE_OF(text)                                                                                                 \
	{                                                                                                              \
		text, sizeof(text) - 1                                                                                 \
	}

/* What CSV and JSON Lines do in different ways. */
struct style {
	/* Adds the cells of the columns behind one of them, up to the last. */
	void (*add)(struct text_rows *rows, const struct tw_event *event, uint32_t filled, unsigned behind,
	            unsigned last);
	struct cell_text keys[TW_COLUMNS];      /* in front of a column's value */
	struct cell_text time;                  /* the same at the beginning of a row */
	struct cell_text none;                  /* where the column is empty */
	struct cell_text kinds[TW_EVENT_KINDS]; /* the column of kinds, whole */
	struct cell_text end;                   /* of a row */
	unsigned behind_id;                     /* commas of a row in which nothing is said behind the id */
};

struct text_rows {
	struct tw_cells cells;
	struct tw_line line; /* rows that are not written yet */
	struct track_cells *tracks;
	size_t track_room;
	const struct style *style;
	bool safe; /* CSV is for a spreadsheet */
};

/* ---- CSV. ---- */

/* Whether a text is a cell as it is: printable ASCII without quotes, commas or blanks at its ends, as most are. */
static bool is_plain(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] < ' ' || bytes[i] > '~' || bytes[i] == ',' || bytes[i] == '"')
			return false;
	return !size || (bytes[0] != ' ' && bytes[size - 1] != ' ');
}

static void add_quoted(struct tw_line *line, const char *bytes, size_t size, bool formula)
{
	struct tw_csv_piece piece;
	tw_line_text(line, formula ? "\"'" : "\"");
	for (size_t i = 0; i < size; i += piece.taken) {
		tw_csv_next(&piece, bytes + i, size - i);
		tw_line_add(line, piece.bytes, piece.length);
	}
	tw_line_text(line, "\"");
}

/* safe: for a spreadsheet. */
static void add_text(struct tw_line *line, const char *bytes, size_t size, bool safe)
{
	bool formula = safe && tw_csv_is_formula(bytes, size);
	if (!formula && is_plain(bytes, size))
		tw_line_add(line, bytes, size);
	else
		add_quoted(line, bytes, size, formula);
}

static void render_csv(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece)
{
	add_text(line, name->text, tw_name_cut(name->length, piece), false);
	tw_label_number(line, name);
}

static void render_csv_safe(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece)
{
	add_text(line, name->text, tw_name_cut(name->length, piece), true);
	tw_label_number(line, name);
}

static void add_csv_cell(struct text_rows *rows, const struct tw_cell *cell)
{
	struct tw_line *line = &rows->line;
	switch (cell->form) {
	case TW_CELL_NEGATIVE:
		tw_line_text(line, "-");
		tw_line_u64(line, cell->number);
		return;
	case TW_CELL_NUMBER:
		tw_line_u64(line, cell->number);
		return;
	case TW_CELL_NAME:
		tw_cells_add_name(&rows->cells, line, cell);
		return;
	case TW_CELL_PLAIN:
		tw_line_add(line, cell->bytes, cell->size);
		return;
	case TW_CELL_TEXT:
	case TW_CELL_JSON:
		add_text(line, cell->bytes, cell->size, rows->safe);
		return;
	}
}

static char *put_commas(char *p, unsigned count)
{
	static const char commas[] = ",,,,,,,,,,,,,,,,,,,,,,,";
	static_assert(sizeof commas > TW_COLUMNS, "as many as there can be");
	memcpy(p, commas, TW_COLUMNS);
	return p + count;
}

static void add_commas(struct tw_line *line, unsigned count)
{
	char *p = tw_line_room(line, TW_COLUMNS);
	if (p)
		tw_line_end(line, put_commas(p, count));
}

static void add_csv(struct text_rows *rows, const struct tw_event *event, uint32_t filled, unsigned behind,
                    unsigned last)
{
	for (; filled; filled &= filled - 1) {
		unsigned column = (unsigned)__builtin_ctz(filled);
		struct tw_cell cell = tw_columns[column].cell(&rows->cells, event);
		add_commas(&rows->line, column - behind);
		add_csv_cell(rows, &cell);
		behind = column;
	}
	add_commas(&rows->line, last - behind);
}

static const struct style csv = {
    .add = add_csv,
    .keys = {[TW_COLUMN_NAME] = PIECE_OF(","),
             [TW_COLUMN_CATEGORY] = PIECE_OF(","),
             [TW_COLUMN_VALUE] = PIECE_OF(","),
             [TW_COLUMN_ID] = PIECE_OF(",")},
    .none = PIECE_OF(","),
    .kinds =
	{
#define X(name, text, value, id, other) [name] = PIECE_OF("," text),
	    TW_EVENT_LIST(X)
#undef X
	},
    .end = PIECE_OF("\n"),
    .behind_id = TW_COLUMNS - 1 - TW_COLUMN_ID,
};

static void put_csv_head(struct tw_output *out)
{
	for (size_t i = 0; i < TW_COLUMNS; i++)
		tw_putf(out, "%s%s", i ? "," : "", tw_columns[i].name);
	tw_put_char(out, '\n');
}

/* ---- JSON Lines. ---- */

static void add_json_cell(struct text_rows *rows, const struct tw_cell *cell)
{
	struct tw_line *line = &rows->line;
	switch (cell->form) {
	case TW_CELL_NEGATIVE:
	case TW_CELL_NUMBER:
		tw_line_exact(line, cell->form == TW_CELL_NEGATIVE, cell->number);
		return;
	case TW_CELL_NAME:
		tw_cells_add_name(&rows->cells, line, cell);
		return;
	case TW_CELL_PLAIN:
		tw_line_text(line, "\"");
		tw_line_add(line, cell->bytes, cell->size);
		tw_line_text(line, "\"");
		return;
	case TW_CELL_TEXT:
		tw_line_string(line, cell->bytes, cell->size);
		return;
	case TW_CELL_JSON:
		tw_line_add(line, cell->bytes, cell->size);
		return;
	}
}

static char *put_piece(char *p, const struct cell_text *piece)
{
	memcpy(p, piece->text, PIECE);
	return p + piece->size;
}

static void add_json(struct text_rows *rows, const struct tw_event *event, uint32_t filled, unsigned behind,
                     unsigned last)
{
	const struct style *style = rows->style;
	(void)behind;
	(void)last;
	for (; filled; filled &= filled - 1) {
		unsigned column = (unsigned)__builtin_ctz(filled);
		struct tw_cell cell = tw_columns[column].cell(&rows->cells, event);
		char *p = tw_line_room(&rows->line, PIECE);
		if (!p)
			return;
		tw_line_end(&rows->line, put_piece(p, column == TW_COLUMN_TIME ? &style->time : &style->keys[column]));
		add_json_cell(rows, &cell);
	}
}

static const struct style json = {
    .add = add_json,
    .keys =
	{
#define X(id, name) [id] = PIECE_OF(",\"" #name "\":"),
	    TW_COLUMN_LIST(X)
#undef X
	},
    .time = PIECE_OF("{\"time_ns\":"),
    .kinds =
	{
#define X(name, text, value, id, other) [name] = PIECE_OF(",\"kind\":\"" text "\""),
	    TW_EVENT_LIST(X)
#undef X
	},
    .end = PIECE_OF("}\n"),
};

/* ---- Rows. ---- */

static bool is_known(const struct track_cells *known, const struct tw_track *track, const struct tw_name *name)
{
	return known->name == name->text && known->of.process == track->process && known->of.thread == track->thread &&
	       known->of.name == track->name;
}

static void add_track(struct text_rows *rows, const struct tw_event *event, uint32_t filled)
{
	const struct tw_dictionary *dictionary = rows->cells.dictionary;
	const struct tw_track *track = tw_dictionary_track(dictionary, event->track);
	const struct tw_name *name = tw_dictionary_name(dictionary, track->name);
	struct track_cells *known = &rows->tracks[event->track < rows->track_room ? event->track : 0];
	struct tw_line *line = &rows->line;
	if (is_known(known, track, name)) {
		tw_line_add(line, known->text.text.bytes, known->text.text.length);
		return;
	}
	size_t begin = line->text.length;
	rows->style->add(rows, event, filled & TRACK_COLUMNS, TW_COLUMN_PROCESS - 1, TW_COLUMN_TRACK);
	known->of = *track;
	known->name = name->text;
	tw_line_clear(&known->text);
	tw_line_add(&known->text, line->text.bytes + begin, line->text.length - begin);
	line->failed |= known->text.failed;
}

static void add_piece(struct tw_line *line, const struct cell_text *piece)
{
	tw_line_add(line, piece->text, piece->size);
}

/* Adds a row of any event. */
static void add_row(struct text_rows *rows, const struct tw_event *event, uint32_t filled)
{
	const struct style *style = rows->style;
	style->add(rows, event, filled & BEFORE_TRACK, 0, TW_COLUMN_PROCESS - 1);
	add_track(rows, event, filled);
	style->add(rows, event, filled & ~(uint32_t)(BEFORE_TRACK | TRACK_COLUMNS), TW_COLUMN_TRACK, TW_COLUMNS - 1);
	add_piece(&rows->line, &style->end);
}

/* ---- Most rows: all there is to say of the track and the names has been rendered, and the numbers are numbers in
 * JSON. Told column by column they take twice the time (`make bench`). ---- */

/* What most rows are made of. */
struct row_names {
	const struct track_cells *track;
	struct tw_rendered name, category; /* copies, because looking for one may move the other */
};

static bool find_parts(struct text_rows *rows, const struct tw_event *event, struct row_names *parts)
{
	enum { EXACT_BITS = 53 };
	const struct tw_dictionary *dictionary = rows->cells.dictionary;
	struct tw_names *names = &rows->cells.names;
	const struct tw_track *track = tw_dictionary_track(dictionary, event->track);
	uint64_t time = event->time - rows->cells.start;
	if (event->track >= rows->track_room || (time | event->value | event->id) >> EXACT_BITS)
		return false;
	parts->track = &rows->tracks[event->track];
	parts->name = *tw_names_find(names, dictionary, event->name);
	parts->category = parts->name.of ? *tw_names_find(names, dictionary, event->category) : parts->name;
	return parts->category.of && !parts->name.cut && !parts->category.cut &&
	       is_known(parts->track, track, tw_dictionary_name(dictionary, track->name));
}

static char *put_bytes(char *p, const char *bytes, size_t size)
{
	memcpy(p, bytes, size);
	return p + size;
}

static char *put_name(char *p, const struct text_rows *rows, uint32_t filled, unsigned column,
                      const struct tw_rendered *name)
{
	if (!(filled >> column & 1))
		return put_piece(p, &rows->style->none);
	return put_bytes(put_piece(p, &rows->style->keys[column]), tw_names_bytes(&rows->cells.names, name),
	                 name->size);
}

static char *put_number(char *p, const struct style *style, uint32_t filled, unsigned column, uint64_t number)
{
	return filled >> column & 1 ? tw_digits(put_piece(p, &style->keys[column]), number)
	                            : put_piece(p, &style->none);
}

/* Puts the cells up to the id. */
static char *put_front(char *p, const struct text_rows *rows, const struct tw_event *event, uint32_t filled,
                       const struct row_names *parts)
{
	const struct style *style = rows->style;
	p = tw_digits(put_piece(p, &style->time), event->time - rows->cells.start);
	p = put_piece(p, &style->kinds[event->kind]);
	p = put_bytes(p, parts->track->text.text.bytes, parts->track->text.text.length);
	p = put_name(p, rows, filled, TW_COLUMN_NAME, &parts->name);
	p = put_name(p, rows, filled, TW_COLUMN_CATEGORY, &parts->category);
	p = put_number(p, style, filled, TW_COLUMN_VALUE, event->value);
	return put_number(p, style, filled, TW_COLUMN_ID, event->id);
}

static void add_known(struct text_rows *rows, const struct tw_event *event, uint32_t filled,
                      const struct row_names *parts)
{
	enum { FRONT = 7 * (PIECE + TW_DIGITS_MAX) };
	const struct style *style = rows->style;
	struct tw_line *line = &rows->line;
	char *p = tw_line_room(line, FRONT + parts->track->text.text.length + parts->name.size + parts->category.size);
	uint32_t more = filled >> (TW_COLUMN_ID + 1) << (TW_COLUMN_ID + 1);
	if (!p)
		return;
	p = put_front(p, rows, event, filled, parts);
	if (!more) {
		tw_line_end(line, put_piece(put_commas(p, style->behind_id), &style->end));
		return;
	}
	tw_line_end(line, p);
	style->add(rows, event, more, TW_COLUMN_ID, TW_COLUMNS - 1);
	add_piece(line, &style->end);
}

static void take(struct text_rows *rows, const struct tw_event *event)
{
	struct row_names parts;
	uint32_t filled = tw_cells_filled(&rows->cells, event);
	if (find_parts(rows, event, &parts))
		add_known(rows, event, filled, &parts);
	else
		add_row(rows, event, filled);
}

/* ---- The file. ---- */

static int open_rows(struct tw_writer *writer, tw_render_fn *render, const struct style *style)
{
	struct text_rows *rows = calloc(1, sizeof *rows);
	writer->state = rows;
	if (!rows)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	tw_cells_init(&rows->cells, writer, render);
	rows->style = style;
	return 0;
}

static int open_csv(struct tw_writer *writer)
{
	bool safe = writer->options.csv_safe;
	put_csv_head(&writer->out);
	int status = open_rows(writer, safe ? render_csv_safe : render_csv, &csv);
	if (status == 0)
		((struct text_rows *)writer->state)->safe = safe;
	return status;
}

static int open_jsonl(struct tw_writer *writer)
{
	return open_rows(writer, tw_names_json, &json);
}

static void flush(struct text_rows *rows, struct tw_output *out)
{
	tw_put(out, rows->line.text.bytes, rows->line.text.length);
	tw_line_clear(&rows->line);
}

/* Makes room for the tracks; false when there is no memory. */
static bool grow(struct text_rows *rows)
{
	size_t tracks = tw_dictionary_tracks(rows->cells.dictionary);
	return tw_grow(&rows->tracks, &rows->track_room, tracks, sizeof *rows->tracks);
}

static int write_rows(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct text_rows *rows = writer->state;
	tw_cells_meet(&rows->cells, reader, batch);
	rows->line.failed |= !grow(rows);
	for (size_t i = 0; i < batch->count && !rows->line.failed; i++) {
		take(rows, &batch->events[i]);
		if (rows->line.text.length >= FLUSH_AT)
			flush(rows, &writer->out);
	}
	flush(rows, &writer->out);
	bool failed = rows->line.failed || tw_cells_failed(&rows->cells);
	return failed ? tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory") : 0;
}

static int finish_rows(struct tw_writer *writer)
{
	(void)writer;
	return 0;
}

static void close_rows(struct tw_writer *writer)
{
	struct text_rows *rows = writer->state;
	tw_cells_free(&rows->cells);
	for (size_t i = 0; i < rows->track_room; i++)
		tw_text_free(&rows->tracks[i].text.text);
	free(rows->tracks);
	tw_text_free(&rows->line.text);
	free(rows);
	writer->state = NULL;
}

static const char *const csv_extensions[] = {".csv", NULL};
static const char *const jsonl_extensions[] = {".jsonl", ".ndjson", NULL};

const struct tw_target tw_target_csv = {
    .name = "csv",
    .extensions = csv_extensions,
    .choices = TW_CHOOSES_CSV_SAFE,
    .order = TW_ORDER_TIME,
    .open = open_csv,
    .write = write_rows,
    .finish = finish_rows,
    .close = close_rows,
};

const struct tw_target tw_target_jsonl = {
    .name = "jsonl",
    .extensions = jsonl_extensions,
    .order = TW_ORDER_TIME,
    .open = open_jsonl,
    .write = write_rows,
    .finish = finish_rows,
    .close = close_rows,
};
