/* rows.c - events as rows: CSV, and JSON Lines.
 *
 * One table of columns makes both, so that they say the same (cells.h). Times are nanoseconds since the start of the trace. What
 * an event has nothing for is an empty cell, or no member. Source: RFC 4180 for CSV, with the line ends of Unix; jsonlines.org. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "export/cells.h"
#include "export/targets.h"

struct rows {
	struct tw_cells cells;
	struct tw_line line;
};

/* ---- CSV. ---- */

/* Whether a text is a cell as it is: printable ASCII without quotes, commas or blanks at its ends, as most are. */
static bool is_plain(const struct tw_text *text)
{
	for (size_t i = 0; i < text->length; i++)
		if (text->bytes[i] < ' ' || text->bytes[i] > '~' || text->bytes[i] == ',' || text->bytes[i] == '"')
			return false;
	return !text->length || (text->bytes[0] != ' ' && text->bytes[text->length - 1] != ' ');
}

/* Bytes of a character that stands in a quoted cell as it is; 0: it is a quote, or no UTF-8. */
static size_t plain(const char *bytes, size_t size)
{
	return *bytes == '"' ? 0 : tw_utf8_length(bytes, size);
}

/* A quote is two of them; what is not UTF-8 is U+FFFD, one a byte. */
static void add_quoted(struct tw_line *line, const char *bytes, size_t left)
{
	tw_line_text(line, "\"");
	while (left) {
		size_t length = 0, step = plain(bytes, left);
		while (step) {
			length += step;
			step = length < left ? plain(bytes + length, left - length) : 0;
		}
		tw_line_add(line, bytes, length);
		if (length < left)
			tw_line_text(line, bytes[length] == '"' ? "\"\"" : "\xef\xbf\xbd");
		length += length < left;
		bytes += length;
		left -= length;
	}
	tw_line_text(line, "\"");
}

static void add_csv(struct rows *rows, const struct tw_event *event)
{
	const struct tw_text *text = &rows->cells.text.text;
	for (size_t i = 0; i < TW_COLUMNS; i++) {
		tw_line_clear(&rows->cells.text);
		enum tw_cell cell = tw_columns[i].add(&rows->cells, event);
		if (i)
			tw_line_text(&rows->line, ",");
		if (cell == TW_CELL_NUMBER || (cell != TW_CELL_NOTHING && is_plain(text)))
			tw_line_add(&rows->line, text->bytes, text->length);
		else if (cell != TW_CELL_NOTHING)
			add_quoted(&rows->line, text->bytes, text->length);
	}
}

static void put_csv_head(struct tw_output *out)
{
	for (size_t i = 0; i < TW_COLUMNS; i++)
		tw_putf(out, "%s%s", i ? "," : "", tw_columns[i].name);
	tw_put_char(out, '\n');
}

/* ---- JSON Lines. ---- */

/* A number only if a double holds it, as in all JSON of ours. */
static void add_json_number(struct tw_line *line, const struct tw_text *digits)
{
	static const char most[] = "9007199254740992"; /* 2^53 */
	size_t length = digits->length, exact = sizeof most - 1;
	bool large = length > exact || (length == exact && strcmp(digits->bytes, most) > 0);
	const char *quote = large ? "\"" : "";
	tw_line_text(line, quote);
	tw_line_add(line, digits->bytes, digits->length);
	tw_line_text(line, quote);
}

static void add_json_cell(struct rows *rows, enum tw_cell cell)
{
	const struct tw_text *text = &rows->cells.text.text;
	if (cell == TW_CELL_NUMBER)
		add_json_number(&rows->line, text);
	else if (cell == TW_CELL_TEXT)
		tw_line_string(&rows->line, text->bytes, text->length);
	else
		tw_line_add(&rows->line, text->bytes, text->length);
}

static void add_jsonl(struct rows *rows, const struct tw_event *event)
{
	for (size_t i = 0; i < TW_COLUMNS; i++) {
		tw_line_clear(&rows->cells.text);
		enum tw_cell cell = tw_columns[i].add(&rows->cells, event);
		if (cell == TW_CELL_NOTHING)
			continue;
		tw_line_text(&rows->line, i ? ",\"" : "{\"");
		tw_line_text(&rows->line, tw_columns[i].name);
		tw_line_text(&rows->line, "\":");
		add_json_cell(rows, cell);
	}
	tw_line_text(&rows->line, "}");
}

/* ---- The file. ---- */

static int open_rows(struct tw_writer *writer)
{
	struct rows *rows = calloc(1, sizeof *rows);
	writer->state = rows;
	if (!rows)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	rows->cells.writer = writer;
	return 0;
}

static int open_csv(struct tw_writer *writer)
{
	put_csv_head(&writer->out);
	return open_rows(writer);
}

static int write_rows(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch,
                      void (*add)(struct rows *rows, const struct tw_event *event))
{
	struct rows *rows = writer->state;
	tw_cells_meet(&rows->cells, reader, batch);
	for (size_t i = 0; i < batch->count; i++) {
		tw_line_clear(&rows->line);
		add(rows, &batch->events[i]);
		tw_line_text(&rows->line, "\n");
		tw_put(&writer->out, rows->line.text.bytes, rows->line.text.length);
	}
	bool failed = rows->line.failed || rows->cells.text.failed;
	return failed ? tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory") : 0;
}

static int write_csv(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	return write_rows(writer, reader, batch, add_csv);
}

static int write_jsonl(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	return write_rows(writer, reader, batch, add_jsonl);
}

static int finish_rows(struct tw_writer *writer)
{
	(void)writer;
	return 0;
}

static void close_rows(struct tw_writer *writer)
{
	struct rows *rows = writer->state;
	tw_text_free(&rows->cells.text.text);
	tw_text_free(&rows->line.text);
	free(rows);
	writer->state = NULL;
}

static const char *const csv_extensions[] = {".csv", NULL};
static const char *const jsonl_extensions[] = {".jsonl", ".ndjson", NULL};

const struct tw_target tw_target_csv = {
    .name = "csv",
    .title = "events as CSV, a row each",
    .extensions = csv_extensions,
    .order = TW_ORDER_TIME,
    .open = open_csv,
    .write = write_csv,
    .finish = finish_rows,
    .close = close_rows,
};

const struct tw_target tw_target_jsonl = {
    .name = "jsonl",
    .title = "events as JSON Lines, an object each",
    .extensions = jsonl_extensions,
    .order = TW_ORDER_TIME,
    .open = open_rows,
    .write = write_jsonl,
    .finish = finish_rows,
    .close = close_rows,
};
