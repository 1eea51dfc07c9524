/* runs.h - whether several runs of a program differ from several others: an exact permutation test of their means. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_COMPARE_RUNS_H
#define ANALYSIS_COMPARE_RUNS_H

#include <trackway/report.h>

#include <stddef.h>

/* What the test says. */
struct tw_runs_change {
	enum tw_significance significance;
	double p;         /* how likely runs of one source are to differ as much, on either side; NAN: not tested */
	double low, high; /* the interval that has the change of the mean in it, 95 times in 100; NAN: not tested */
};

/* Compares values, one of each run: the first `before` are of one side, the next `after` of the other. The changes that
 * the test does not refuse make the interval: it has 0 in it where a change is not significant. Every way to deal the
 * values to the sides counts where there are at most 20,000 of them, otherwise 9,999 that are chosen at random, but
 * always the same ones. With less than TW_RUNS_LEAST runs on a side nothing is tested: three against three give no P
 * below 1 in 10. Returns TW_UNTESTED then and when there is no memory. */
struct tw_runs_change tw_runs_compare(const double *values, size_t before, size_t after);

/* Their mean; 0 of none. */
double tw_runs_mean(const double *values, size_t count);

#endif
