/* runs.c - whether several runs of a program differ from several others: an exact permutation test of their means. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/runs.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* A way to split the values into two sides swaps k of the one with k of the other. It has the same difference of means
 * as what was seen, if the second side is shifted by a certain change: the sum of those of the second side less that of
 * the first, by k. These changes, in order, are the limits of the intervals that the test gives (Garthwaite 1996,
 * "Confidence intervals from randomization tests"). */

enum { EXACT_MOST = 20000, SAMPLED = 9999 };

static const double level = 0.05;

double tw_runs_mean(const double *values, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return count ? sum / (double)count : 0;
}

/* How many ways there are to choose; some large number where they are more than that. */
static double ways(size_t all, size_t chosen)
{
	double count = 1;
	for (size_t i = 1; i <= chosen && count <= EXACT_MOST; i++)
		count = count * (double)(all - chosen + i) / (double)i;
	return floor(count + 0.5);
}

/* The values that are split into two sides in all ways, and the change that each way makes. */
struct permutation {
	const double *values;
	size_t before, all;
	double scale; /* what is smaller by a million millions is rounding */
	double *changes;
	size_t count;
};

/* first: which values are on the first side. */
static void add_change(struct permutation *split, const bool *first)
{
	double sum = 0;
	size_t swapped = 0;
	for (size_t i = 0; i < split->all; i++) {
		if (i < split->before && !first[i]) {
			sum -= split->values[i];
			swapped++;
		} else if (i >= split->before && first[i]) {
			sum += split->values[i];
		}
	}
	if (swapped)
		split->changes[split->count++] = fabs(sum) <= split->scale * 1e-12 ? 0 : sum / (double)swapped;
}

/* The next way in order, from 1 1 1 0 0 on; false behind the last. */
static bool next_way(bool *first, size_t all)
{
	size_t i = all, ones = 0;
	while (i > 0 && first[i - 1]) { /* those that are at the end already */
		ones++;
		i--;
	}
	while (i > 0 && !first[i - 1])
		i--;
	if (i == 0)
		return false;
	first[i - 1] = false; /* it moves on, and those from the end come right behind it */
	for (size_t k = i; k < all; k++)
		first[k] = k <= i + ones;
	return true;
}

static void add_all_splits(struct permutation *split, bool *first)
{
	for (size_t i = 0; i < split->all; i++)
		first[i] = i < split->before;
	do
		add_change(split, first);
	while (next_way(first, split->all));
}

/* xorshift64 of Marsaglia: the same numbers everywhere. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void add_random_splits(struct permutation *split, bool *first)
{
	uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
	while (split->count < SAMPLED) {
		size_t left = split->before;
		for (size_t i = 0; i < split->all; i++) {
			first[i] = next_random(&state) % (split->all - i) < left;
			left -= first[i];
		}
		add_change(split, first);
	}
}

static int by_value(const void *left, const void *right)
{
	double l = *(const double *)left, r = *(const double *)right;
	return (l > r) - (l < r);
}

/* The runs as they were are a way to split the values, too: there is one more way than there are changes. */
static struct tw_runs_change judge(struct permutation *split)
{
	size_t below = 0, above = 0, n = split->count;
	size_t rank = (size_t)(level / 2 * (double)(n + 1));
	qsort(split->changes, n, sizeof *split->changes, by_value);
	for (size_t i = 0; i < n; i++) {
		below += split->changes[i] <= 0;
		above += split->changes[i] >= 0;
	}
	double tail = (double)(1 + (below < above ? below : above)) / (double)(n + 1);
	return (struct tw_runs_change){
	    .significance = 2 * tail <= level ? TW_SIGNIFICANT : TW_NOISE,
	    .p = fmin(1, 2 * tail),
	    .low = split->changes[rank - 1],
	    .high = split->changes[n - rank],
	};
}

struct tw_runs_change tw_runs_compare(const double *values, size_t before, size_t after)
{
	struct tw_runs_change change = {.p = NAN, .low = NAN, .high = NAN};
	struct permutation split = {.values = values, .before = before, .all = before + after};
	if (before < TW_RUNS_LEAST || after < TW_RUNS_LEAST)
		return change;
	double count = ways(split.all, before);
	for (size_t i = 0; i < split.all; i++)
		split.scale += fabs(values[i]);
	split.changes = calloc((count <= EXACT_MOST ? (size_t)count : SAMPLED) + 1, sizeof *split.changes);
	bool *first = calloc(split.all + 1, sizeof *first);
	if (split.changes && first) {
		(count <= EXACT_MOST ? add_all_splits : add_random_splits)(&split, first);
		change = judge(&split);
	}
	free(split.changes);
	free(first);
	return change;
}
