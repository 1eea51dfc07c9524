/* rank.h - whether values of two recordings differ by more than chance: the rank test of Mann and Whitney. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_COMPARE_RANK_H
#define ANALYSIS_COMPARE_RANK_H

#include <trackway/report.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many values are alike: in one bucket of a histogram. */
struct tw_bin {
	uint64_t place; /* grows with the values */
	uint64_t count;
};

/* Values of one side. All zero to begin, free() bins. */
struct tw_bins {
	struct tw_bin *bins;
	size_t count, room;
};

/* Adds values, in any order. False when there is no memory. */
bool tw_bins_add(struct tw_bins *bins, uint64_t place, uint64_t count);

/* What the test says. */
struct tw_rank {
	double u; /* of the first side: pairs in which its value is the larger one; of equal values, half of them */
	double z; /* negative where the first side's values are the smaller ones */
	double p; /* how likely values of one source are to differ as much, on either side; NAN where a side has none */
};

/* Puts both in order, and compares them. Values in one bin are equal to the test: the variance is corrected for ties,
 * so for such values it is as exact as the normal distribution is. That is taken for U, with a correction of 0.5 for
 * continuity. */
struct tw_rank tw_rank_test(struct tw_bins *a, struct tw_bins *b);

/* Returns the largest p of `count` (NAN: not tested) for which at most 5 in 100 of the results up to it are expected to
 * be chance, by Benjamini and Hochberg; negative when there is none. Sorts them. */
double tw_rank_limit(double *p, size_t count);

/* What a result means under that limit. */
enum tw_significance tw_rank_meaning(double p, double limit);

#endif
