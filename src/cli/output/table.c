/* table.c - rows of cells in aligned columns. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/table.h"

#include "cli/output/cells.h"
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

void tw_put_cut(struct tw_output *out, const char *text, size_t room)
{
	bool fits = tw_text_columns(text) <= room;
	tw_put(out, text, fits ? strlen(text) : tw_text_within(text, room > 1 ? room - 1 : 0));
	if (!fits)
		tw_put_text(out, "\xe2\x80\xa6");
}

/* ---- What fits. ---- */

enum { LEAST_TEXT = TW_TABLE_LEAST_TEXT, LEAST_LAST = 20, BETWEEN = 2 };

static size_t width_of(const struct tw_table *table)
{
	size_t width = table->indent ? strlen(table->indent) : 0;
	for (size_t i = 0; i < table->column_count; i++)
		width += table->hidden >> i & 1 ? 0 : table->widths[i] + (i ? BETWEEN : 0);
	return width;
}

/* Makes a column of text narrower by what the table is too wide, but not below `least`. */
static void narrow(struct tw_table *table, size_t column, size_t least, size_t width)
{
	size_t all = width_of(table), over = all > width ? all - width : 0, *own = &table->widths[column];
	if (*own > least)
		*own = *own - least > over ? *own - over : least;
}

/* The last column is cut, then other texts; where that is not enough, numbers on the right have no place. */
static void fit(struct tw_table *table, size_t width)
{
	size_t last = table->column_count - 1;
	if (!table->columns[last].right)
		narrow(table, last, LEAST_LAST, width);
	for (size_t i = last; i-- > 0;)
		if (!table->columns[i].right)
			narrow(table, i, LEAST_TEXT, width);
	for (size_t i = last; i-- > 1 && width_of(table) > width;)
		table->hidden |= table->columns[i].right ? 1u << i : 0;
	if (!table->columns[last].right) /* what the numbers left is its own again */
		table->widths[last] += width > width_of(table) ? width - width_of(table) : 0;
}

void tw_put_hidden(struct tw_screen *screen, const char *title, size_t *at)
{
	static const char begin[] = "(this terminal has no room for";
	const size_t columns = tw_text_columns(title) + 2; /* with a blank before it, and a comma or a bracket behind */
	if (!*at)
		tw_put_text(&screen->out, begin);
	else
		tw_put_char(&screen->out, ',');
	*at += *at ? 0 : sizeof begin - 1;
	if (*at + columns > screen->width) {
		tw_put_char(&screen->out, '\n');
		*at = 0;
	}
	tw_put_char(&screen->out, ' ');
	tw_put_cut(&screen->out, title, screen->width > 2 ? screen->width - 2 : 1);
	*at += columns;
}

static void put_hidden(const struct tw_table *table, struct tw_screen *screen)
{
	size_t at = 0;
	for (size_t i = 0; i < table->column_count; i++)
		if (table->hidden >> i & 1)
			tw_put_hidden(screen, table->columns[i].title, &at);
	tw_put_text(&screen->out, table->hidden ? ")\n" : "");
}

/* ---- Lines. ---- */

/* What is on the left of its column is only filled up when more follows. */
static void put_cell(const struct tw_table *table, struct tw_screen *screen, size_t column, const char *text, bool more)
{
	size_t width = table->widths[column], columns = tw_text_columns(text);
	size_t fill = width > columns ? width - columns : 0;
	if (table->columns[column].right)
		put_spaces(&screen->out, fill);
	if (screen->width)
		tw_put_cut(&screen->out, text, width);
	else
		tw_put_text(&screen->out, text);
	if (!table->columns[column].right && more)
		put_spaces(&screen->out, fill);
}

static void put_markdown_row(const struct tw_table *table, struct tw_screen *screen, const char *const *cells)
{
	for (size_t i = 0; i < table->column_count; i++) {
		tw_put_text(&screen->out, i ? " | " : "| ");
		tw_put_markdown_text(&screen->out, cells[i] ? cells[i] : "");
	}
	tw_put_text(&screen->out, " |");
}

static void put_row(const struct tw_table *table, struct tw_screen *screen, const char *const *cells)
{
	size_t count = table->column_count;
	if (screen->markdown) {
		put_markdown_row(table, screen, cells);
		return;
	}
	while (count > 1 && !*cells[count - 1])
		count--;
	tw_put_text(&screen->out, table->indent ? table->indent : "");
	for (size_t i = 0; i < count; i++) {
		if (table->hidden >> i & 1)
			continue;
		if (i)
			tw_put_text(&screen->out, "  ");
		assert(cells[i]);
		put_cell(table, screen, i, cells[i], i + 1 < count);
	}
}

static void put_header(const struct tw_table *table, struct tw_screen *screen)
{
	const char *titles[TW_TABLE_COLUMNS] = {0};
	for (size_t i = 0; i < table->column_count; i++)
		titles[i] = table->columns[i].title;
	tw_screen_bold(screen);
	put_row(table, screen, titles);
	tw_screen_plain(screen);
	tw_put_char(&screen->out, '\n');
}

/* Markdown has no table without a head, and an empty line before it. */
static void put_markdown_header(const struct tw_table *table, struct tw_screen *screen)
{
	const char *none[TW_TABLE_COLUMNS] = {0};
	if (tw_output_position(&screen->out))
		tw_put_char(&screen->out, '\n');
	if (table->headless) {
		put_markdown_row(table, screen, none);
		tw_put_char(&screen->out, '\n');
	} else {
		put_header(table, screen);
	}
	for (size_t i = 0; i < table->column_count; i++)
		tw_put_text(&screen->out, table->columns[i].right ? "| ---: " : "| --- ");
	tw_put_text(&screen->out, "|\n");
}

static void begin(struct tw_table *table, struct tw_screen *screen)
{
	for (size_t i = 0; i < table->column_count && !table->headless; i++)
		widen(table, i, table->columns[i].title);
	table->hidden = 0;
	if (screen->width && !screen->markdown)
		fit(table, screen->width);
	if (screen->markdown)
		put_markdown_header(table, screen);
	else if (!table->headless)
		put_header(table, screen);
}

int tw_table_put(struct tw_table *table, struct tw_screen *screen)
{
	const char *cells[TW_TABLE_COLUMNS] = {0}, *p = table->cells.bytes;
	int status = table->failed ? tw_say_error("out of memory") : 0;
	begin(table, screen);
	for (size_t i = 0; i < table->cell_count; i++) {
		cells[i % table->column_count] = p;
		p += strlen(p) + 1;
		if ((i + 1) % table->column_count)
			continue;
		put_row(table, screen, cells);
		tw_put_char(&screen->out, '\n');
	}
	put_hidden(table, screen);
	if (screen->markdown)
		tw_put_char(&screen->out, '\n');
	tw_text_free(&table->cells);
	table->cell_count = 0;
	memset(table->widths, 0, sizeof table->widths);
	return status;
}
