/* diff.c - two profiles, function by function, the largest change first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/profile.h"
#include "analysis/compare/rank.h"
#include "analysis/pictures/report.h"
#include "base/memory/sum.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

struct row {
	struct tw_diff_row shown;
	uint64_t change; /* size of the change that rows are sorted by */
};

struct tw_diff {
	struct row *rows;
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

/* A row of either profile. */
struct entry {
	const struct tw_profile_row *row;
	bool in_b;
};

/* A profile's rows of one name. */
struct sum {
	uint64_t count, total, self, p50;
	uint64_t most; /* how many calls ended of the row that p50 is from */
	bool any;
};

static int by_name(const void *left, const void *right)
{
	const struct entry *l = left;
	const struct entry *r = right;
	return strcmp(l->row->name, r->row->name);
}

static void add(struct sum *sum, const struct tw_profile_row *row)
{
	uint64_t ended = row->count - row->open;
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

static struct row compare(const char *name, const struct sum *a, const struct sum *b, enum tw_diff_by by)
{
	struct tw_diff_row row = {
	    .name = name,
	    .status = a->any && b->any ? TW_DIFF_BOTH
	              : a->any         ? TW_DIFF_ONLY_A
	                               : TW_DIFF_ONLY_B,
	    .count = value(a->count, b->count),
	    .total = value(a->total, b->total),
	    .self = value(a->self, b->self),
	    .p50_ns = value(a->p50, b->p50),
	    .p = NAN,
	};
	struct tw_diff_value sorted_by;
	memcpy(&sorted_by, (const char *)&row + members[by], sizeof sorted_by);
	return (struct row){.shown = row, .change = distance(sorted_by.a, sorted_by.b)};
}

/* One row for each name; the names still belong to the profiles. */
static void match(struct tw_diff *diff, const struct entry *entries, size_t count, enum tw_diff_by by)
{
	for (size_t i = 0; i < count;) {
		struct sum sums[2] = {0};
		const char *name = entries[i].row->name;
		for (; i < count && strcmp(entries[i].row->name, name) == 0; i++)
			add(&sums[entries[i].in_b], entries[i].row);
		diff->rows[diff->count++] = compare(name, &sums[0], &sums[1], by);
	}
}

static int by_change(const void *left, const void *right)
{
	const struct row *l = left;
	const struct row *r = right;
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

static bool fill(struct tw_diff *diff, const struct tw_rows *a, const struct tw_rows *b, enum tw_diff_by by)
{
	size_t count = a->count + b->count;
	struct entry *entries = calloc(count + 1, sizeof *entries);
	diff->rows = calloc(count + 1, sizeof *diff->rows);
	bool enough = entries && diff->rows;
	if (enough) {
		for (size_t i = 0; i < a->count; i++)
			entries[i] = (struct entry){.row = &a->rows[i]};
		for (size_t i = 0; i < b->count; i++)
			entries[a->count + i] = (struct entry){.row = &b->rows[i], .in_b = true};
		qsort(entries, count, sizeof *entries, by_name);
		match(diff, entries, count, by);
		qsort(diff->rows, diff->count, sizeof *diff->rows, by_change);
	}
	free(entries);
	return enough && own_names(diff);
}

int tw_diff_of_rows(struct tw_diff **diff, const struct tw_rows *a, const struct tw_rows *b, enum tw_diff_by by)
{
	assert((size_t)by < sizeof members / sizeof *members);
	*diff = calloc(1, sizeof **diff);
	if (*diff && fill(*diff, a, b, by))
		return 0;
	tw_diff_free(*diff);
	*diff = NULL;
	return TW_ERR_MEMORY;
}

/* ---- Significance. ---- */

/* Where a profile has the durations of a name. */
struct durations {
	const char *name;
	uint32_t row;
};

struct side {
	const struct tw_tallies *tallies;
	struct durations *rows; /* by name */
	size_t count;
};

static int by_row_name(const void *left, const void *right)
{
	const struct durations *l = left, *r = right;
	return strcmp(l->name, r->name);
}

static bool list_durations(struct side *side, const struct tw_profile *profile)
{
	side->tallies = &profile->rows;
	side->rows = calloc(profile->rows.count + 1, sizeof *side->rows);
	if (!side->rows)
		return false;
	for (uint32_t i = TW_ROW_FIRST; i < profile->rows.count; i++)
		side->rows[side->count++] =
		    (struct durations){tw_dictionary_name(profile->texts, profile->keys[i].name)->text, i};
	qsort(side->rows, side->count, sizeof *side->rows, by_row_name);
	return true;
}

/* Adds the durations of all rows of a name. False when there is no memory. */
static bool gather(const struct side *side, const char *name, struct tw_bins *bins)
{
	const struct durations key = {.name = name}, *end = side->rows + side->count,
			       *row =
				   side->count ? bsearch(&key, side->rows, side->count, sizeof key, by_row_name) : NULL;
	bool fine = true;
	while (row && row > side->rows && strcmp(row[-1].name, name) == 0)
		row--;
	for (; row && row < end && strcmp(row->name, name) == 0 && fine; row++) {
		const struct tw_tally *tally = &side->tallies->rows[row->row];
		fine = tw_histogram_bins(&side->tallies->pool, &tally->histogram, tally->ended, bins);
	}
	return fine;
}

static bool test_row(struct tw_diff_row *row, const struct side sides[2], struct tw_bins bins[2])
{
	bins[0].count = bins[1].count = 0;
	if (!gather(&sides[0], row->name, &bins[0]) || !gather(&sides[1], row->name, &bins[1]))
		return false;
	row->p = tw_rank_test(&bins[0], &bins[1]).p;
	return true;
}

static bool judge(struct tw_diff *diff)
{
	double *p = calloc(diff->count + 1, sizeof *p);
	if (!p)
		return false;
	for (size_t i = 0; i < diff->count; i++)
		p[i] = diff->rows[i].shown.p;
	double limit = tw_rank_limit(p, diff->count);
	for (size_t i = 0; i < diff->count; i++)
		diff->rows[i].shown.significance = tw_rank_meaning(diff->rows[i].shown.p, limit);
	free(p);
	return true;
}

static bool test_rows(struct tw_diff *diff, const struct tw_profile *a, const struct tw_profile *b)
{
	struct side sides[2] = {0};
	struct tw_bins bins[2] = {0};
	bool fine = list_durations(&sides[0], a) && list_durations(&sides[1], b);
	for (size_t i = 0; i < diff->count && fine; i++)
		fine = test_row(&diff->rows[i].shown, sides, bins);
	for (size_t i = 0; i < 2; i++) {
		free(sides[i].rows);
		free(bins[i].bins);
	}
	return fine && judge(diff);
}

int tw_diff_new(struct tw_diff **diff, struct tw_profile *a, struct tw_profile *b, enum tw_diff_by by)
{
	*diff = NULL;
	if ((size_t)by >= sizeof members / sizeof *members)
		return TW_ERR_VALUE;
	struct tw_rows of_b = {0};
	struct tw_rows of_a;
	int status = tw_rows_of(&of_a, a);
	if (status == 0)
		status = tw_rows_of(&of_b, b);
	if (status == 0)
		status = tw_diff_of_rows(diff, &of_a, &of_b, by);
	free(of_a.rows);
	free(of_b.rows);
	if (status == 0 && !test_rows(*diff, a, b)) {
		tw_diff_free(*diff);
		*diff = NULL;
		status = TW_ERR_MEMORY;
	}
	return status;
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
