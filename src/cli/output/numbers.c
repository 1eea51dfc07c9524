/* numbers.c - rows of numbers by tables: sorted, as cells, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output/numbers.h"

#include "base/memory/order.h"

#include <stdlib.h>
#include <string.h>

static uint64_t value_of(const void *row, const struct tw_number *number)
{
	return *(const uint64_t *)(const void *)((const char *)row + number->offset);
}

bool tw_rows_add(struct tw_list_rows *rows, const void *row)
{
	if (!tw_grow(&rows->items, &rows->room, rows->count + 1, sizeof *rows->items))
		return false;
	rows->items[rows->count++] = row;
	return true;
}

/* Rows are of one array, so that their places tell the order they came in. */
static int compare(const void *a, const void *b, void *number)
{
	const char *const *first = a, *const *second = b;
	uint64_t x = value_of(*first, number), y = value_of(*second, number);
	int order = tw_compare(y, x);
	return order ? order : (*first > *second) - (*first < *second);
}

void tw_rows_sort(struct tw_list_rows *rows, const struct tw_number *numbers, size_t count, const char *word,
                  uint64_t top)
{
	for (size_t i = 0; i < count && rows->count; i++)
		if (numbers[i].sort && strcmp(numbers[i].sort, word) == 0)
			qsort_r(rows->items, rows->count, sizeof *rows->items, compare, (void *)(uintptr_t)&numbers[i]);
	rows->shown = top && top < rows->count ? (size_t)top : rows->count;
}

bool tw_numbers_have(const struct tw_number *numbers, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i].sort && strcmp(numbers[i].sort, word) == 0)
			return true;
	return false;
}

const char *tw_numbers_word(const struct tw_number *numbers, size_t count, size_t i)
{
	for (size_t k = 0; k < count; k++)
		if (numbers[k].sort && i-- == 0)
			return numbers[k].sort;
	return i == 0 ? "name" : NULL;
}

void tw_numbers_titles(struct tw_table_column *columns, size_t *column_count, const struct tw_number *numbers,
                       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i].title)
			columns[(*column_count)++] = (struct tw_table_column){numbers[i].title, true};
}

void tw_numbers_cells(struct tw_table *table, const void *row, const struct tw_number *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i].title)
			tw_table_add(table, row ? numbers[i].show(value_of(row, &numbers[i])).text : "-");
}

void tw_numbers_json(struct tw_json *json, const void *row, const struct tw_number *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (row)
			tw_json_u64(json, numbers[i].name, value_of(row, &numbers[i]));
		else
			tw_json_text(json, numbers[i].name, NULL);
}

void tw_rows_put_more(struct tw_screen *screen, const struct tw_list_rows *rows)
{
	if (rows->shown < rows->count)
		tw_putf(&screen->out, "... and %s more\n", tw_show_count(rows->count - rows->shown).text);
}
