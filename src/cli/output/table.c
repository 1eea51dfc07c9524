/* table.c - rows of cells in aligned columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/table.h"

#include "cli/output/message.h"
#include "cli/output/show.h"

#include <assert.h>
#include <string.h>

static void widen(struct tw_table *table, size_t column, const char *text)
{
	size_t columns = tw_text_columns(text);
	if (columns > table->widths[column])
		table->widths[column] = columns;
}

void tw_table_add_bytes(struct tw_table *table, const char *bytes, size_t size)
{
	assert(table->column_count <= TW_TABLE_COLUMNS);
	size_t begin = table->cells.length;
	if (table->failed || !tw_text_add_safe(&table->cells, bytes, size) || !tw_text_add(&table->cells, "", 1)) {
		table->failed = true;
		return;
	}
	widen(table, table->cell_count++ % table->column_count, table->cells.bytes + begin);
}

void tw_table_add(struct tw_table *table, const char *text)
{
	tw_table_add_bytes(table, text, strlen(text));
}

static void put_spaces(struct tw_output *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tw_put_char(out, ' ');
}

/* At most `room` columns of a text; what is cut off is shown by three points. */
static void put_cut(struct tw_output *out, const char *text, size_t room)
{
	bool fits = tw_text_columns(text) <= room;
	tw_put(out, text, fits ? strlen(text) : tw_text_within(text, room > 3 ? room - 3 : 0));
	if (!fits)
		tw_put_text(out, "...");
}

enum { LEAST_LAST = 30 };

/* left: columns of the line that are still free. The last column is cut, but for its first LEAST_LAST columns; what is
 * on the left of its column is only filled up when more follows. */
static void put_cell(const struct tw_table *table, struct tw_screen *screen, size_t column, const char *text, bool more,
                     size_t *left)
{
	size_t width = table->widths[column], columns = tw_text_columns(text);
	size_t fill = width > columns ? width - columns : 0;
	bool last = column + 1 == table->column_count;
	if (table->columns[column].right)
		put_spaces(&screen->out, fill);
	if (last && screen->width)
		put_cut(&screen->out, text, *left < LEAST_LAST ? LEAST_LAST : *left);
	else
		tw_put_text(&screen->out, text);
	if (!table->columns[column].right && more)
		put_spaces(&screen->out, fill);
	*left -= *left < width ? *left : width;
}

static void put_row(const struct tw_table *table, struct tw_screen *screen, const char *const *cells)
{
	const char *indent = table->indent ? table->indent : "";
	size_t left = screen->width > strlen(indent) ? screen->width - strlen(indent) : 0;
	size_t count = table->column_count;
	while (count > 1 && !*cells[count - 1])
		count--;
	tw_put_text(&screen->out, indent);
	for (size_t i = 0; i < count; i++) {
		if (i) {
			tw_put_text(&screen->out, "  ");
			left -= left < 2 ? left : 2;
		}
		assert(cells[i]);
		put_cell(table, screen, i, cells[i], i + 1 < count, &left);
	}
}

static void put_header(struct tw_table *table, struct tw_screen *screen)
{
	const char *titles[TW_TABLE_COLUMNS] = {0};
	for (size_t i = 0; i < table->column_count; i++) {
		titles[i] = table->columns[i].title;
		widen(table, i, titles[i]);
	}
	tw_screen_bold(screen);
	put_row(table, screen, titles);
	tw_screen_plain(screen);
	tw_put_char(&screen->out, '\n');
}

int tw_table_put(struct tw_table *table, struct tw_screen *screen)
{
	const char *cells[TW_TABLE_COLUMNS] = {0}, *p = table->cells.bytes;
	int status = table->failed ? tw_say_error("out of memory") : 0;
	if (!table->headless)
		put_header(table, screen);
	for (size_t i = 0; i < table->cell_count; i++) {
		cells[i % table->column_count] = p;
		p += strlen(p) + 1;
		if ((i + 1) % table->column_count)
			continue;
		put_row(table, screen, cells);
		tw_put_char(&screen->out, '\n');
	}
	tw_text_free(&table->cells);
	table->cell_count = 0;
	memset(table->widths, 0, sizeof table->widths);
	return status;
}
