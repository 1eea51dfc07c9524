/* rank.c - whether values of two recordings differ by more than chance: the rank test of Mann and Whitney. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/rank.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"

#include <math.h>
#include <stdlib.h>

static const double most_false = 0.05; /* of those that are called significant */

bool tw_bins_add(struct tw_bins *bins, uint64_t place, uint64_t count)
{
	if (!tw_grow(&bins->bins, &bins->room, bins->count + 1, sizeof *bins->bins))
		return false;
	bins->bins[bins->count++] = (struct tw_bin){place, count};
	return true;
}

static int by_place(const void *left, const void *right)
{
	const struct tw_bin *l = left, *r = right;
	return tw_compare(l->place, r->place);
}

static double sort(struct tw_bins *bins)
{
	double sum = 0;
	if (bins->count)
		qsort(bins->bins, bins->count, sizeof *bins->bins, by_place);
	for (size_t i = 0; i < bins->count; i++)
		sum += (double)bins->bins[i].count;
	return sum;
}

/* The values of a side at a place; *i goes on to the next one. */
static double count_at(const struct tw_bins *bins, size_t *i, uint64_t place)
{
	double count = 0;
	for (; *i < bins->count && bins->bins[*i].place == place; (*i)++)
		count += (double)bins->bins[*i].count;
	return count;
}

/* What both sides tell together, place by place. */
struct sums {
	double u, ties; /* ties: t^3 - t of all t values that are alike */
};

static struct sums walk(const struct tw_bins *a, const struct tw_bins *b)
{
	struct sums sums = {0};
	double below = 0; /* values of b */
	for (size_t i = 0, k = 0; i < a->count || k < b->count;) {
		bool first = k == b->count || (i < a->count && a->bins[i].place < b->bins[k].place);
		uint64_t place = first ? a->bins[i].place : b->bins[k].place;
		double of_a = count_at(a, &i, place), of_b = count_at(b, &k, place), alike = of_a + of_b;
		sums.u += of_a * (below + of_b / 2);
		sums.ties += alike * (alike * alike - 1);
		below += of_b;
	}
	return sums;
}

struct tw_rank tw_rank_test(struct tw_bins *a, struct tw_bins *b)
{
	double of_a = sort(a), of_b = sort(b), all = of_a + of_b;
	if (of_a == 0 || of_b == 0)
		return (struct tw_rank){.p = NAN};
	struct sums sums = walk(a, b);
	double distance = sums.u - of_a * of_b / 2;
	double variance = of_a * of_b / 12 * (all + 1 - sums.ties / (all * (all - 1)));
	struct tw_rank rank = {.u = sums.u, .p = 1};
	if (variance <= 0 || fabs(distance) <= 0.5)
		return rank; /* all values are alike, or as near as can be */
	rank.z = (distance > 0 ? distance - 0.5 : distance + 0.5) / sqrt(variance);
	rank.p = erfc(fabs(rank.z) / sqrt(2));
	return rank;
}

/* NAN is last. */
static int by_size(const void *left, const void *right)
{
	double l = *(const double *)left, r = *(const double *)right;
	if (isnan(l) || isnan(r))
		return isnan(l) - isnan(r);
	return (l > r) - (l < r);
}

double tw_rank_limit(double *p, size_t count)
{
	if (count)
		qsort(p, count, sizeof *p, by_size);
	while (count && isnan(p[count - 1]))
		count--;
	for (size_t i = count; i > 0; i--)
		if (p[i - 1] <= most_false * (double)i / (double)count)
			return p[i - 1];
	return -1;
}

enum tw_significance tw_rank_meaning(double p, double limit)
{
	return isnan(p) ? TW_UNTESTED : p <= limit ? TW_SIGNIFICANT : TW_NOISE;
}
