/* lines.c - the lines of memory that were touched, by number. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/lines.h"

#include <stdlib.h>

struct study_line *study_lines_search(struct study_lines *lines, uint64_t number)
{
	uint32_t index =
	    tw_budget_item(lines->budget, TW_FOR_ROWS, &lines->keyed, number, &lines->items, sizeof *lines->items, 0);
	if (index == UINT32_MAX)
		return NULL;
	lines->items[index].number = number;
	lines->near[number % STUDY_NEAR] = index + 1;
	return &lines->items[index];
}

void study_lines_free(struct study_lines *lines)
{
	free(lines->items);
	tw_map_free(&lines->keyed.map);
}
