/* diff.c - profiles of two sides, function by function, the largest change first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/runs.h"
#include "analysis/pictures/report.h"
#include "base/memory/sum.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct changed_row {
	struct tw_diff_row shown;
	uint64_t change; /* size of the change that rows are sorted by */
};

struct tw_diff {
	struct changed_row *rows;
	size_t count;
	char *names;
};

/* Which member of a row is sorted by. */
static const size_t members[] = {
    [TW_DIFF_SELF] = offsetof(struct tw_diff_row, self),
    [TW_DIFF_TOTAL] = offsetof(struct tw_diff_row, total),
    [TW_DIFF_COUNT] = offsetof(struct tw_diff_row, count),
    [TW_DIFF_P50] = offsetof(struct tw_diff_row, p50_ns),
};

/* A row of a run; those of the first side come first. */
struct run_row {
	const struct tw_profile_row *row;
	size_t run;
};

/* A run's rows of one name. */
struct run_sum {
	uint64_t count, total, self, p50;
	uint64_t most; /* how many calls ended of the row that p50 is from */
	bool any;
};

/* The runs of both sides, and what they have of one name. */
struct runs {
	size_t before, after;
	struct run_sum *sums;
	double *values;
};

static int by_name(const void *left, const void *right)
{
	const struct run_row *l = left;
	const struct run_row *r = right;
	return strcmp(l->row->name, r->row->name);
}

static void add(struct run_sum *sum, const struct tw_profile_row *row)
{
	uint64_t ended = row->count - row->open - row->summed;
	/* Of rows with as many calls the longer: the result must not depend on the order of rows. */
	if (ended > sum->most || (ended == sum->most && row->p50_ns > sum->p50)) {
		sum->most = ended;
		sum->p50 = row->p50_ns;
	}
	sum->count += row->count;
	sum->total = tw_sum(sum->total, row->total);
	sum->self = tw_sum(sum->self, row->self);
	sum->any = true;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int64_t change(uint64_t a, uint64_t b)
{
	uint64_t size = distance(a, b);
	int64_t limited = size > INT64_MAX ? INT64_MAX : (int64_t)size;
	return a > b ? -limited : limited;
}

static struct tw_diff_value value(uint64_t a, uint64_t b)
{
	double ratio = a ? (double)b / (double)a : b ? INFINITY : 1;
	return (struct tw_diff_value){.a = a, .b = b, .change = change(a, b), .ratio = ratio};
}

/* ---- Several runs. ---- */

enum { COUNT, TOTAL, SELF, P50 };

static uint64_t member_of(const struct run_sum *sum, int member)
{
	const uint64_t all[] = {[COUNT] = sum->count, [TOTAL] = sum->total, [SELF] = sum->self, [P50] = sum->p50};
	return all[member];
}

/* The mean of runs: exact of one, and no rounding of large sums. */
static uint64_t mean(const struct run_sum *sums, size_t count, int member)
{
	uint64_t quotients = 0, rests = 0, used = 0;
	for (size_t i = 0; i < count; i++)
		used += member != P50 || sums[i].most;
	for (size_t i = 0; i < count && used; i++) {
		quotients += member_of(&sums[i], member) / used;
		rests += member_of(&sums[i], member) % used;
	}
	return used ? quotients + (rests + used / 2) / used : 0;
}

static struct tw_diff_value compare_member(const struct runs *runs, int member)
{
	return value(mean(runs->sums, runs->before, member), mean(runs->sums + runs->before, runs->after, member));
}

static bool is_in(const struct run_sum *sums, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sums[i].any)
			return true;
	return false;
}

static struct changed_row compare(const char *name, const struct runs *runs, enum tw_diff_by by)
{
	static const int tested[] = {
	    [TW_DIFF_SELF] = SELF, [TW_DIFF_TOTAL] = TOTAL, [TW_DIFF_COUNT] = COUNT, [TW_DIFF_P50] = P50};
	bool in_a = is_in(runs->sums, runs->before), in_b = is_in(runs->sums + runs->before, runs->after);
	for (size_t i = 0; i < runs->before + runs->after; i++)
		runs->values[i] = (double)member_of(&runs->sums[i], tested[by]);
	const struct tw_runs_change test = tw_runs_compare(runs->values, runs->before, runs->after);
	struct tw_diff_row row = {
	    .name = name,
	    .status = in_a && in_b ? TW_DIFF_BOTH
	              : in_a       ? TW_DIFF_ONLY_A
	                           : TW_DIFF_ONLY_B,
	    .count = compare_member(runs, COUNT),
	    .total = compare_member(runs, TOTAL),
	    .self = compare_member(runs, SELF),
	    .p50_ns = compare_member(runs, P50),
	    .significance = test.significance,
	    .p = test.p,
	    .low = test.low,
	    .high = test.high,
	};
	struct tw_diff_value sorted_by;
	memcpy(&sorted_by, (const char *)&row + members[by], sizeof sorted_by);
	return (struct changed_row){.shown = row, .change = distance(sorted_by.a, sorted_by.b)};
}

/* One row for each name; the names still belong to the profiles. */
static void match(struct tw_diff *diff, const struct run_row *entries, size_t count, const struct runs *runs,
                  enum tw_diff_by by)
{
	for (size_t i = 0; i < count;) {
		const char *name = entries[i].row->name;
		memset(runs->sums, 0, (runs->before + runs->after) * sizeof *runs->sums);
		for (; i < count && strcmp(entries[i].row->name, name) == 0; i++)
			add(&runs->sums[entries[i].run], entries[i].row);
		diff->rows[diff->count++] = compare(name, runs, by);
	}
}

static int by_change(const void *left, const void *right)
{
	const struct changed_row *l = left;
	const struct changed_row *r = right;
	return l->change != r->change ? (l->change < r->change ? 1 : -1) : strcmp(l->shown.name, r->shown.name);
}

/* Copies the names, so that the diff outlives the profiles. */
static bool own_names(struct tw_diff *diff)
{
	size_t size = 1;
	for (size_t i = 0; i < diff->count; i++)
		size += strlen(diff->rows[i].shown.name) + 1;
	diff->names = malloc(size);
	if (!diff->names)
		return false;
	char *at = diff->names;
	for (size_t i = 0; i < diff->count; i++) {
		size_t length = strlen(diff->rows[i].shown.name) + 1;
		memcpy(at, diff->rows[i].shown.name, length);
		diff->rows[i].shown.name = at;
		at += length;
	}
	return true;
}

static size_t list_entries(struct run_row *entries, const struct tw_rows *rows, size_t runs)
{
	size_t count = 0;
	for (size_t run = 0; run < runs; run++)
		for (size_t i = 0; i < rows[run].count; i++, count++)
			if (entries)
				entries[count] = (struct run_row){.row = &rows[run].rows[i], .run = run};
	return count;
}

static bool fill(struct tw_diff *diff, const struct tw_rows *rows, struct runs *runs, enum tw_diff_by by)
{
	size_t all = runs->before + runs->after, count = list_entries(NULL, rows, all);
	struct run_row *entries = calloc(count + 1, sizeof *entries);
	diff->rows = calloc(count + 1, sizeof *diff->rows);
	runs->sums = calloc(all, sizeof *runs->sums);
	runs->values = calloc(all, sizeof *runs->values);
	bool enough = entries && diff->rows && runs->sums && runs->values;
	if (enough) {
		list_entries(entries, rows, all);
		qsort(entries, count, sizeof *entries, by_name);
		match(diff, entries, count, runs, by);
		qsort(diff->rows, diff->count, sizeof *diff->rows, by_change);
	}
	free(entries);
	free(runs->sums);
	free(runs->values);
	return enough && own_names(diff);
}

int tw_diff_of_rows(struct tw_diff **diff, const struct tw_rows *rows, size_t before, size_t after, enum tw_diff_by by)
{
	struct runs runs = {.before = before, .after = after};
	assert((size_t)by < sizeof members / sizeof *members);
	*diff = calloc(1, sizeof **diff);
	if (*diff && fill(*diff, rows, &runs, by))
		return 0;
	tw_diff_free(*diff);
	*diff = NULL;
	return TW_ERR_MEMORY;
}

/* ---- Profiles. ---- */

static int add_rows(struct tw_rows *rows, const struct tw_diff_side *side)
{
	int status = 0;
	for (size_t i = 0; i < side->count && status == 0; i++)
		status = tw_rows_of(&rows[i], side->runs[i]);
	return status;
}

int tw_diff_runs(struct tw_diff **diff, const struct tw_diff_side *a, const struct tw_diff_side *b, enum tw_diff_by by)
{
	*diff = NULL;
	if ((size_t)by >= sizeof members / sizeof *members || !a->count || !b->count)
		return TW_ERR_VALUE;
	struct tw_rows *rows = calloc(a->count + b->count, sizeof *rows);
	if (!rows)
		return TW_ERR_MEMORY;
	int status = add_rows(rows, a);
	if (status == 0)
		status = add_rows(rows + a->count, b);
	if (status == 0)
		status = tw_diff_of_rows(diff, rows, a->count, b->count, by);
	for (size_t i = 0; i < a->count + b->count; i++)
		free(rows[i].rows);
	free(rows);
	return status;
}

int tw_diff_new(struct tw_diff **diff, struct tw_profile *a, struct tw_profile *b, enum tw_diff_by by)
{
	return tw_diff_runs(diff, &(struct tw_diff_side){&a, 1}, &(struct tw_diff_side){&b, 1}, by);
}

const struct tw_diff_row *tw_diff_row(const struct tw_diff *diff, size_t i)
{
	return i < diff->count ? &diff->rows[i].shown : NULL;
}

void tw_diff_free(struct tw_diff *diff)
{
	if (!diff)
		return;
	free(diff->rows);
	free(diff->names);
	free(diff);
}
