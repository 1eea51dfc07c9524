/* columns.c - a line of time in a bounded number of columns, which become wider as it becomes longer. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/series/columns.h"

#include <string.h>

/* Makes one column of each two. */
static void widen(struct tw_columns *columns)
{
	enum { HALF = TW_COLUMNS / 2 };
	char *items = columns->items;
	size_t size = columns->size;
	for (size_t i = 0; i < HALF; i++) {
		memmove(items + i * size, items + 2 * i * size, size);
		columns->merge(items + i * size, items + (2 * i + 1) * size);
	}
	memset(items + HALF * size, 0, HALF * size);
	columns->shift++;
}

uint64_t tw_times_span(const struct tw_times *window, uint64_t length_ns)
{
	uint64_t end = window->to_ns && window->to_ns < length_ns ? window->to_ns : length_ns;
	return end > window->from_ns ? end - window->from_ns : 0;
}

size_t tw_columns_reach(struct tw_columns *columns, uint64_t time)
{
	while (time >> columns->shift >= TW_COLUMNS)
		widen(columns);
	return (size_t)(time >> columns->shift);
}
