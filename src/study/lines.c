/* lines.c - the lines of memory that were touched, by number. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/lines.h"

#include <stdlib.h>

struct study_line *study_lines_search(struct study_lines *lines, uint64_t number)
{
	uint32_t index;
	if (!tw_map_find(&lines->map, number, &index)) {
		index = (uint32_t)lines->count;
		if (index == UINT32_MAX - 1 ||
		    !tw_budget_grow(lines->budget, TW_FOR_ROWS, &lines->items, &lines->room, lines->count + 1,
		                    sizeof *lines->items) ||
		    !tw_budget_map_add(lines->budget, TW_FOR_ROWS, &lines->map, number, index))
			return NULL;
		lines->items[lines->count++] = (struct study_line){.number = number};
	}
	lines->near[number % STUDY_NEAR] = index + 1;
	return &lines->items[index];
}

void study_lines_free(struct study_lines *lines)
{
	free(lines->items);
	tw_map_free(&lines->map);
}
