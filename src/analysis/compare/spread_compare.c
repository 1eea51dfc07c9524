/* spread_compare.c - runs of two sides beside their calls: what changed, and what of that is noise. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/spread.h"
#include "base/memory/memory.h"
#include "base/memory/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What rows of one name tell together, in a run. */
struct of_run {
	const struct tw_spread_row *first;
	uint64_t count, values, whole;
	double sum;
};

/* All runs, those of the first side first, and where each is being read. */
struct comparison {
	enum tw_spread_of of;
	size_t before, all;
	const struct tw_spread **runs;
	size_t *places;
	struct of_run *found;
	double *values;
};

static int compare(const struct tw_spread_row *a, const struct tw_spread_row *b)
{
	if (!a || !b)
		return (a == NULL) - (b == NULL); /* past the last */
	int order = strcmp(a->category, b->category);
	order = order ? order : strcmp(a->name, b->name);
	return order ? order : strcmp(a->series, b->series);
}

/* The first row, in order, of those that come next; NULL: there are no more. */
static const struct tw_spread_row *find_next(const struct comparison *comparison)
{
	const struct tw_spread_row *next = NULL;
	for (size_t i = 0; i < comparison->all; i++) {
		const struct tw_spread_row *row = tw_spread_row(comparison->runs[i], comparison->places[i]);
		next = compare(row, next) < 0 ? row : next;
	}
	return next;
}

/* Takes the rows of a run that are like this one; *i goes on. */
static struct of_run sum_like(const struct tw_spread *spread, const struct tw_spread_row *like, size_t *i)
{
	const struct tw_spread_row *row;
	struct of_run run = {0};
	for (; (row = tw_spread_row(spread, *i)) && compare(row, like) == 0; (*i)++) {
		run.first = run.first ? run.first : row;
		run.count += row->count;
		run.values += row->values;
		run.sum += row->sum;
		run.whole = tw_sum(run.whole, row->whole);
	}
	return run;
}

static uint64_t whole_of(enum tw_spread_of of, const struct of_run *run)
{
	return of == TW_SPREAD_EVENTS || of == TW_SPREAD_INSTRUCTIONS ? run->count : run->whole;
}

static double value_of(enum tw_spread_of of, const struct of_run *run)
{
	if (of == TW_SPREAD_COUNTERS)
		return run->values ? run->sum / (double)run->values : 0;
	return (double)whole_of(of, run);
}

/* Sums up the runs of a side; the values of counters are those of the runs that have it. */
static size_t sum_up(struct comparison *comparison, size_t side, double *values, struct tw_spread_change *change)
{
	size_t begin = side ? comparison->before : 0, end = side ? comparison->all : comparison->before, used = 0;
	struct {
		uint64_t count, whole;
	} quotients = {0}, rests = {0};
	for (size_t i = begin; i < end; i++) {
		const struct of_run *run = &comparison->found[i];
		uint64_t whole = whole_of(comparison->of, run), runs = end - begin;
		if (run->first || comparison->of != TW_SPREAD_COUNTERS)
			values[used++] = value_of(comparison->of, run);
		const struct tw_spread_row **first = side ? &change->b : &change->a;
		*first = *first ? *first : run->first;
		quotients.count += run->count / runs;
		rests.count += run->count % runs;
		quotients.whole += whole / runs;
		rests.whole += whole % runs;
	}
	const uint64_t runs = end > begin ? end - begin : 1;
	change->count[side] = quotients.count + (rests.count + runs / 2) / runs;
	change->whole[side] = quotients.whole + (rests.whole + runs / 2) / runs;
	change->value[side] = tw_runs_mean(values, used);
	return used;
}

static bool add(struct tw_spread_changes *changes, struct comparison *comparison)
{
	struct tw_spread_change change = {0};
	if (!tw_grow(&changes->rows, &changes->room, changes->count + 1, sizeof *changes->rows))
		return false;
	size_t before = sum_up(comparison, 0, comparison->values, &change);
	size_t after = sum_up(comparison, 1, comparison->values + before, &change);
	change.test = tw_runs_compare(comparison->values, before, after);
	changes->rows[changes->count++] = change;
	return true;
}

static int by_change(const void *left, const void *right)
{
	const struct tw_spread_change *l = left, *r = right;
	double of_l = fabs(l->value[1] - l->value[0]), of_r = fabs(r->value[1] - r->value[0]);
	return of_l != of_r ? (of_l < of_r) - (of_l > of_r) : compare(l->a ? l->a : l->b, r->a ? r->a : r->b);
}

static bool compare_all(struct tw_spread_changes *changes, struct comparison *comparison)
{
	const struct tw_spread_row *next;
	bool fine = true;
	while (fine && (next = find_next(comparison))) {
		for (size_t i = 0; i < comparison->all; i++)
			comparison->found[i] = sum_like(comparison->runs[i], next, &comparison->places[i]);
		fine = add(changes, comparison);
	}
	if (fine && changes->count)
		qsort(changes->rows, changes->count, sizeof *changes->rows, by_change);
	return fine;
}

int tw_spread_compare(struct tw_spread_changes *changes, enum tw_spread_of of, const struct tw_spread_side *a,
                      const struct tw_spread_side *b)
{
	size_t all = a->count + b->count;
	struct comparison comparison = {
	    .of = of,
	    .before = a->count,
	    .all = all,
	    .runs = calloc(all + 1, sizeof *comparison.runs),
	    .places = calloc(all + 1, sizeof *comparison.places),
	    .found = calloc(all + 1, sizeof *comparison.found),
	    .values = calloc(all + 1, sizeof *comparison.values),
	};
	*changes = (struct tw_spread_changes){0};
	bool fine = comparison.runs && comparison.places && comparison.found && comparison.values;
	for (size_t i = 0; i < all && fine; i++)
		comparison.runs[i] = i < a->count ? a->runs[i] : b->runs[i - a->count];
	fine = fine && compare_all(changes, &comparison);
	free(comparison.runs);
	free(comparison.places);
	free(comparison.found);
	free(comparison.values);
	return fine ? 0 : TW_ERR_MEMORY;
}
