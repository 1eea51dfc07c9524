/* sql_rows.c - the rows of an answer, in one of several forms. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sql/sql_rows.h"

#include "base/text/json.h"
#include "cli/output/cells.h"
#include "cli/output/show.h"
#include "cli/output/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The widths of columns are those of the first rows: an answer may be as long as it likes. */
enum { HELD_ROWS = 1000, HELD_BYTES = 1 << 20 };

static size_t columns_of(sqlite3_stmt *statement)
{
	return (size_t)sqlite3_column_count(statement);
}

/* ---- Values as texts. ---- */

static void put_hex(struct tw_output *out, const void *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = bytes;
	for (size_t i = 0; i < size; i++) {
		tw_put_char(out, digits[p[i] >> 4]);
		tw_put_char(out, digits[p[i] & 15]);
	}
}

/* SQLite makes texts of 15 digits: a number that these do not tell has as many as it needs. */
static void put_real(struct tw_output *out, sqlite3_stmt *statement, int column)
{
	double value = sqlite3_column_double(statement, column);
	const char *text = (const char *)sqlite3_column_text(statement, column);
	if (text && (!isfinite(value) || strtod(text, NULL) == value))
		tw_put_text(out, text);
	else
		tw_put_double(out, value);
}

/* Writes a value that is not text or bytes, NULL as `null`. Returns false, and writes nothing, when it is one of
 * these. */
static bool put_plain(struct tw_output *out, sqlite3_stmt *statement, int column, const char *null)
{
	switch (sqlite3_column_type(statement, column)) {
	case SQLITE_NULL:
		tw_put_text(out, null);
		return true;
	case SQLITE_INTEGER:
		tw_put_i64(out, sqlite3_column_int64(statement, column));
		return true;
	case SQLITE_FLOAT:
		put_real(out, statement, column);
		return true;
	case SQLITE_BLOB:
		put_hex(out, sqlite3_column_blob(statement, column), (size_t)sqlite3_column_bytes(statement, column));
		return true;
	default:
		return false;
	}
}

static const char *text_of(sqlite3_stmt *statement, int column, size_t *length)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);
	*length = (size_t)sqlite3_column_bytes(statement, column);
	return text ? text : "";
}

/* ---- Aligned text. ---- */

static void widen(struct tw_sql_rows *rows, size_t column, const char *text)
{
	size_t columns = tw_text_columns(text);
	rows->widths[column] = columns > rows->widths[column] ? columns : rows->widths[column];
}

/* ---- What fits into a terminal. ---- */

static const size_t NO_ROOM = SIZE_MAX;

static size_t width_of(const struct tw_sql_rows *rows, size_t count)
{
	size_t width = 0;
	for (size_t i = 0; i < count; i++)
		width += rows->widths[i] == NO_ROOM ? 0 : rows->widths[i] + (i ? 2 : 0);
	return width;
}

/* Texts are cut, the last one first; where that is not enough, what is on the right has no place. */
static void fit(struct tw_sql_rows *rows, size_t count, size_t width)
{
	for (size_t i = count; i-- > 0;) {
		const size_t all = width_of(rows, count), over = all > width ? all - width : 0;
		size_t *own = &rows->widths[i];
		if (!rows->right[i] && *own > TW_TABLE_LEAST_TEXT)
			*own = *own - TW_TABLE_LEAST_TEXT > over ? *own - over : TW_TABLE_LEAST_TEXT;
	}
	for (size_t i = count; i-- > 1 && width_of(rows, count) > width;)
		rows->widths[i] = NO_ROOM;
}

static void put_hidden(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	size_t at = 0, count = rows->screen->width ? columns_of(statement) : 0;
	for (size_t i = 0; i < count; i++)
		if (rows->widths[i] == NO_ROOM)
			tw_put_hidden(rows->screen, sqlite3_column_name(statement, (int)i), &at);
	tw_put_text(&rows->screen->out, at ? ")\n" : "");
}

static void put_cell(struct tw_sql_rows *rows, size_t column, const char *text, bool last)
{
	struct tw_output *out = &rows->screen->out;
	if (rows->widths[column] == NO_ROOM) {
		tw_put_text(out, last ? "\n" : "");
		return;
	}
	if (column)
		tw_put_text(out, "  ");
	size_t columns = tw_text_columns(text), width = rows->widths[column];
	size_t fill = width > columns ? width - columns : 0;
	for (size_t i = 0; rows->right[column] && i < fill; i++)
		tw_put_char(out, ' ');
	if (rows->screen->width && !rows->right[column])
		tw_put_cut(out, text, width);
	else
		tw_put_text(out, text);
	for (size_t i = 0; !rows->right[column] && !last && i < fill; i++)
		tw_put_char(out, ' ');
	tw_put_text(out, last ? "\n" : "");
}

/* What was held goes out: the names of the columns, which are the first cells, and the first rows. */
static void settle(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	size_t count = columns_of(statement);
	const char *cell = rows->cells.bytes;
	rows->flowing = true;
	if (rows->screen->width)
		fit(rows, count, rows->screen->width);
	tw_screen_bold(rows->screen);
	for (size_t i = 0; i < count; i++, cell += strlen(cell) + 1)
		put_cell(rows, i, cell, i + 1 == count);
	tw_screen_plain(rows->screen);
	for (size_t i = 0; i < rows->held * count; i++, cell += strlen(cell) + 1)
		put_cell(rows, i % count, cell, i % count + 1 == count);
	rows->cells.length = rows->held = 0;
}

static void begin_text(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	size_t count = columns_of(statement);
	rows->flowing = false;
	rows->cells.length = rows->held = 0;
	if (!tw_grow(&rows->widths, &rows->width_room, count, sizeof *rows->widths) ||
	    !tw_grow(&rows->right, &rows->right_room, count, sizeof *rows->right)) {
		rows->failed = true;
		return;
	}
	for (size_t i = 0; i < count && !rows->failed; i++) {
		const char *name = sqlite3_column_name(statement, (int)i);
		size_t begin = rows->cells.length;
		rows->failed = !tw_text_add_safe(&rows->cells, name, strlen(name)) || !tw_text_add(&rows->cells, "", 1);
		rows->widths[i] = 0;
		rows->right[i] = true;
		if (!rows->failed)
			widen(rows, i, rows->cells.bytes + begin);
	}
}

/* Bytes as hexadecimal digits. */
static bool add_bytes(struct tw_sql_rows *rows, sqlite3_stmt *statement, int column)
{
	struct tw_output out;
	if (tw_output_text(&out, &rows->cells))
		return false;
	put_hex(&out, sqlite3_column_blob(statement, column), (size_t)sqlite3_column_bytes(statement, column));
	return tw_output_close(&out) == 0;
}

/* Adds the text of a value, safe on a terminal. Bytes are not asked for as text: SQLite would turn the value into text
 * for good. */
static bool add_cell(struct tw_sql_rows *rows, sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);
	const char *text = "NULL";
	size_t length = strlen(text);
	bool fine;
	if (type != SQLITE_NULL && type != SQLITE_BLOB)
		text = text_of(statement, column, &length);
	if (type == SQLITE_BLOB)
		fine = add_bytes(rows, statement, column);
	else if (type == SQLITE_TEXT)
		fine = tw_text_add_safe(&rows->cells, text, length);
	else
		fine = tw_text_add(&rows->cells, text, length);
	return fine && tw_text_add(&rows->cells, "", 1);
}

static void row_text(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	size_t count = columns_of(statement);
	for (size_t i = 0; i < count && !rows->failed; i++) {
		size_t begin = rows->cells.length;
		int type = sqlite3_column_type(statement, (int)i);
		if (!add_cell(rows, statement, (int)i)) {
			rows->failed = true;
			return;
		}
		if (rows->flowing) {
			put_cell(rows, i, rows->cells.bytes + begin, i + 1 == count);
			rows->cells.length = 0;
			continue;
		}
		widen(rows, i, rows->cells.bytes + begin);
		rows->right[i] =
		    rows->right[i] && (type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL);
	}
	rows->held += !rows->flowing;
	if (rows->held == HELD_ROWS || rows->cells.length > HELD_BYTES)
		settle(rows, statement);
}

static void end_text(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	if (!rows->flowing && !rows->failed)
		settle(rows, statement);
	if (!rows->failed)
		put_hidden(rows, statement);
}

/* ---- CSV: RFC 4180. ---- */

static void begin_csv(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	for (size_t i = 0; i < columns_of(statement); i++) {
		const char *name = sqlite3_column_name(statement, (int)i);
		tw_put_text(&rows->screen->out, i ? "," : "");
		tw_put_csv(&rows->screen->out, name, strlen(name), rows->safe);
	}
	tw_put_char(&rows->screen->out, '\n');
}

static void row_csv(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	struct tw_output *out = &rows->screen->out;
	size_t length;
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		tw_put_text(out, i ? "," : "");
		if (put_plain(out, statement, i, ""))
			continue;
		const char *text = text_of(statement, i, &length);
		tw_put_csv(out, text, length, rows->safe);
	}
	tw_put_char(out, '\n');
}

/* ---- JSON Lines. ---- */

/* Whether a column of the statement but this one, or one of the names that were made for those before it, is called
 * so. */
static bool is_taken(const struct tw_sql_rows *rows, sqlite3_stmt *statement, int column, const char *name)
{
	const char *made = rows->cells.bytes;
	bool taken = false;
	for (int i = 0; i < column && !taken; i++, made += strlen(made) + 1)
		taken = strcmp(made, name) == 0;
	for (int i = column + 1; i < sqlite3_column_count(statement) && !taken; i++)
		taken = strcmp(sqlite3_column_name(statement, i), name) == 0;
	return taken;
}

/* How many columns before this one are called as it is. */
static unsigned count_before(sqlite3_stmt *statement, int column)
{
	const char *name = sqlite3_column_name(statement, column);
	unsigned count = 0;
	for (int i = 0; i < column; i++)
		count += strcmp(sqlite3_column_name(statement, i), name) == 0;
	return count;
}

/* Adds the name of a column. Where the name was there before, the lowest free number stands behind it: "name 2". */
static bool add_name(struct tw_sql_rows *rows, sqlite3_stmt *statement, int column)
{
	const char *name = sqlite3_column_name(statement, column);
	unsigned before = count_before(statement, column), number = before + 1; /* those below are theirs */
	if (before == 0)
		return tw_text_add(&rows->cells, name, strlen(name) + 1);
	char *numbered = sqlite3_mprintf("%s %u", name, number);
	while (numbered && is_taken(rows, statement, column, numbered)) {
		sqlite3_free(numbered);
		numbered = sqlite3_mprintf("%s %u", name, ++number);
	}
	bool fine = numbered && tw_text_add(&rows->cells, numbered, strlen(numbered) + 1);
	sqlite3_free(numbered);
	return fine;
}

/* Most readers keep the last of several members of one name, and say nothing. */
static void begin_json(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	rows->cells.length = 0;
	for (int i = 0; i < sqlite3_column_count(statement) && !rows->failed; i++)
		rows->failed = !add_name(rows, statement, i);
}

static void row_json(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	struct tw_json json = {.out = &rows->screen->out};
	const char *name = rows->cells.bytes;
	size_t length;
	if (rows->failed)
		return;
	tw_json_object(&json, NULL);
	for (int i = 0; i < sqlite3_column_count(statement); i++, name += strlen(name) + 1) {
		const char *text;
		switch (sqlite3_column_type(statement, i)) {
		case SQLITE_INTEGER:
			tw_json_i64(&json, name, sqlite3_column_int64(statement, i));
			break;
		case SQLITE_FLOAT:
			tw_json_double(&json, name, sqlite3_column_double(statement, i));
			break;
		case SQLITE_NULL:
			tw_json_text(&json, name, NULL);
			break;
		case SQLITE_BLOB:
			tw_json_hex(&json, name, sqlite3_column_blob(statement, i),
			            (size_t)sqlite3_column_bytes(statement, i));
			break;
		default:
			text = text_of(statement, i, &length);
			tw_json_bytes(&json, name, text, length);
		}
	}
	tw_json_object_line_end(&json);
}

/* ---- Markdown. ---- */

static void begin_markdown(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	struct tw_output *out = &rows->screen->out;
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *name = sqlite3_column_name(statement, i);
		tw_put_text(out, "| ");
		tw_put_markdown(out, name, strlen(name));
		tw_put_char(out, ' ');
	}
	tw_put_text(out, "|\n");
	for (size_t i = 0; i < columns_of(statement); i++)
		tw_put_text(out, "|---");
	tw_put_text(out, "|\n");
}

static void row_markdown(struct tw_sql_rows *rows, sqlite3_stmt *statement)
{
	struct tw_output *out = &rows->screen->out;
	size_t length;
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		tw_put_text(out, "| ");
		if (!put_plain(out, statement, i, "")) {
			const char *text = text_of(statement, i, &length);
			tw_put_markdown(out, text, length);
		}
		tw_put_char(out, ' ');
	}
	tw_put_text(out, "|\n");
}

/* ---- All of them. ---- */

static const struct tw_sql_form forms[] = {
    {"text", begin_text, row_text, end_text},
    {"csv", begin_csv, row_csv, NULL},
    {"json", begin_json, row_json, NULL},
    {"markdown", begin_markdown, row_markdown, NULL},
};

const struct tw_sql_form *tw_sql_form_named(const char *name)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (strcmp(forms[i].name, name) == 0)
			return &forms[i];
	return NULL;
}

void tw_sql_rows_free(struct tw_sql_rows *rows)
{
	tw_text_free(&rows->cells);
	free(rows->widths);
	free(rows->right);
	rows->widths = NULL;
	rows->right = NULL;
	rows->width_room = rows->right_room = 0;
}
