/* spread_compare.c - two traces beside their calls: what changed, and what of that is noise. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/spread.h"
#include "base/memory/memory.h"
#include "base/memory/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What rows of one name tell together. */
struct side {
	const struct tw_spread_row *first;
	uint64_t count, values, whole;
	double sum;
	struct tw_bins bins;
};

static int compare(const struct tw_spread_row *a, const struct tw_spread_row *b)
{
	if (!a || !b)
		return (a == NULL) - (b == NULL); /* past the last */
	int order = strcmp(a->category, b->category);
	order = order ? order : strcmp(a->name, b->name);
	return order ? order : strcmp(a->series, b->series);
}

/* Takes the rows that are like this one; *i goes on. */
static bool gather(struct side *side, const struct tw_spread *spread, const struct tw_spread_row *like, size_t *i)
{
	const struct tw_spread_row *row;
	bool fine = true;
	side->first = NULL;
	side->count = side->values = side->whole = 0;
	side->sum = 0;
	side->bins.count = 0;
	for (; fine && (row = tw_spread_row(spread, *i)) && compare(row, like) == 0; (*i)++) {
		side->first = side->first ? side->first : row;
		side->count += row->count;
		side->values += row->values;
		side->sum += row->sum;
		side->whole = tw_sum(side->whole, row->whole);
		fine = tw_spread_bins(spread, row, &side->bins);
	}
	return fine;
}

static uint64_t whole_of(enum tw_spread_of of, const struct side *side)
{
	return of == TW_SPREAD_EVENTS || of == TW_SPREAD_INSTRUCTIONS ? side->count : side->whole;
}

static double value_of(enum tw_spread_of of, const struct side *side)
{
	if (of == TW_SPREAD_COUNTERS)
		return side->values ? side->sum / (double)side->values : 0;
	return (double)whole_of(of, side);
}

static bool add(struct tw_spread_changes *changes, enum tw_spread_of of, struct side *a, struct side *b)
{
	if (!tw_grow(&changes->rows, &changes->room, changes->count + 1, sizeof *changes->rows))
		return false;
	changes->rows[changes->count++] = (struct tw_spread_change){
	    .a = a->first,
	    .b = b->first,
	    .count = {a->count, b->count},
	    .whole = {whole_of(of, a), whole_of(of, b)},
	    .value = {value_of(of, a), value_of(of, b)},
	    .p = tw_rank_test(&a->bins, &b->bins).p,
	};
	return true;
}

static int by_change(const void *left, const void *right)
{
	const struct tw_spread_change *l = left, *r = right;
	double of_l = fabs(l->value[1] - l->value[0]), of_r = fabs(r->value[1] - r->value[0]);
	return of_l != of_r ? (of_l < of_r) - (of_l > of_r) : compare(l->a ? l->a : l->b, r->a ? r->a : r->b);
}

static bool judge(struct tw_spread_changes *changes)
{
	double *p = calloc(changes->count + 1, sizeof *p);
	if (!p)
		return false;
	for (size_t i = 0; i < changes->count; i++)
		p[i] = changes->rows[i].p;
	double limit = tw_rank_limit(p, changes->count);
	for (size_t i = 0; i < changes->count; i++)
		changes->rows[i].significance = tw_rank_meaning(changes->rows[i].p, limit);
	free(p);
	return true;
}

int tw_spread_compare(struct tw_spread_changes *changes, enum tw_spread_of of, const struct tw_spread *a,
                      const struct tw_spread *b)
{
	struct side sides[2] = {0};
	bool fine = true;
	*changes = (struct tw_spread_changes){0};
	for (size_t i = 0, k = 0; fine && (tw_spread_row(a, i) || tw_spread_row(b, k));) {
		const struct tw_spread_row *of_a = tw_spread_row(a, i), *of_b = tw_spread_row(b, k);
		const struct tw_spread_row *next = compare(of_a, of_b) <= 0 ? of_a : of_b;
		fine = gather(&sides[0], a, next, &i) && gather(&sides[1], b, next, &k) &&
		       add(changes, of, &sides[0], &sides[1]);
	}
	free(sides[0].bins.bins);
	free(sides[1].bins.bins);
	fine = fine && judge(changes);
	if (fine && changes->count)
		qsort(changes->rows, changes->count, sizeof *changes->rows, by_change);
	return fine ? 0 : TW_ERR_MEMORY;
}
