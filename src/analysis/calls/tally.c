/* tally.c - the rows that a profile counts calls in. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/tally.h"

#include "base/memory/memory.h"
#include "base/memory/sum.h"

#include <stdlib.h>

bool tw_tallies_init(struct tw_tallies *rows, struct tw_budget *budget)
{
	*rows = (struct tw_tallies){0};
	if (!tw_histogram_pool_init(&rows->pool, budget) ||
	    !tw_grow(&rows->rows, &rows->room, TW_ROW_FIRST, sizeof *rows->rows))
		return false;
	rows->count = TW_ROW_FIRST;
	rows->rows[TW_ROW_OTHER].min = UINT64_MAX;
	return tw_histogram_init(&rows->pool, &rows->rows[TW_ROW_OTHER].histogram);
}

void tw_tallies_free(struct tw_tallies *rows)
{
	tw_histogram_pool_free(&rows->pool);
	free(rows->rows);
}

uint32_t tw_tallies_add(struct tw_tallies *rows, void *array, size_t *room, size_t size)
{
	struct tw_budget *budget = rows->pool.budget;
	struct tw_histogram histogram;
	if (rows->count >= UINT32_MAX - 1 || !tw_budget_grow(budget, TW_FOR_ROWS, array, room, rows->count + 1, size) ||
	    !tw_budget_grow(budget, TW_FOR_ROWS, &rows->rows, &rows->room, rows->count + 1, sizeof *rows->rows) ||
	    !tw_histogram_init(&rows->pool, &histogram))
		return TW_ROW_OTHER;
	rows->rows[rows->count] = (struct tw_tally){.min = UINT64_MAX, .histogram = histogram};
	return (uint32_t)rows->count++;
}

size_t tw_tallies_counts_cost(const struct tw_tallies *rows)
{
	size_t cost = 0;
	for (size_t i = TW_ROW_OTHER; i < rows->count; i++)
		cost += tw_histogram_cost(&rows->pool, &rows->rows[i].histogram, rows->rows[i].ended);
	return cost;
}

size_t tw_tallies_rows_cost(const struct tw_tallies *rows)
{
	size_t cost = 0;
	for (size_t i = TW_ROW_OTHER; i < rows->count; i++)
		cost += 2 * sizeof *rows->rows + tw_histogram_rows_cost(rows->rows[i].ended);
	return cost;
}

void tw_tallies_merge(struct tw_tallies *into, uint32_t row, const struct tw_tallies *from, uint32_t from_row)
{
	struct tw_tally *a = &into->rows[row];
	const struct tw_tally *b = &from->rows[from_row];
	tw_histogram_merge(&into->pool, &a->histogram, a->ended, &from->pool, &b->histogram, b->ended);
	a->total = tw_sum(a->total, b->total);
	a->self = tw_sum(a->self, b->self);
	a->min = b->min < a->min ? b->min : a->min;
	a->max = b->max > a->max ? b->max : a->max;
	a->ended += b->ended;
	a->open += b->open;
	a->unwound += b->unwound;
}
