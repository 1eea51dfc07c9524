/* cluster.c - k-means with k-means++ (Arthur and Vassilvitskii), and k by the Bayesian information criterion (Pelleg
 * and Moore). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/cluster.h"

#include <trackway/status.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = STUDY_DIMENSIONS, RUNS = 5, ROUNDS = 100 };

/* The smallest k is taken whose score is so much of the way from the worst to the best: SimPoint's choice. */
static const double enough = 0.9;

/* The square of the distance of two points whose vectors differ by a hundredth of their weight, about: such noise makes
 * no group of its own. */
static const double least_variance = 1e-3;

/* One way to group the points. */
struct
try {
	const struct study_points *points;
	unsigned k;
	uint64_t seed, drawn;
	uint32_t *labels;
	double *centers;
	double *near;   /* by point: square of the distance to its center, for k-means++ */
	double *weight; /* by group */
	double distortion;
};

/* splitmix64 (Steele, Lea and Flood). */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

double study_random(uint64_t a, uint64_t b)
{
	return (double)(mix(mix(a) + b) >> 11) * 0x1p-52 - 1;
}

double study_distance(const double *a, const double *b)
{
	double sum = 0;
	for (unsigned i = 0; i < DIMENSIONS; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

static const double *point(const struct study_points *points, size_t i)
{
	return points->at + i * DIMENSIONS;
}

/* ---- k-means++: each center is a point, the more likely the further it is from those before. ---- */

static size_t draw(struct try *try, double sum)
{
	const struct study_points *points = try->points;
	double left = (study_random(try->seed, try->drawn++) + 1) / 2 * sum;
	size_t last = 0;
	for (size_t i = 0; i < points->count; i++) {
		double share = points->weights[i] * try->near[i];
		if (share <= 0)
			continue;
		last = i;
		if (left < share)
			break;
		left -= share;
	}
	return last;
}

/* Returns false when all points have a center of their own. */
static bool begin(struct try *try)
{
	const struct study_points *points = try->points;
	for (size_t i = 0; i < points->count; i++)
		try->near[i] = 1;
	for (unsigned k = 0; k < try->k; k++) {
		double sum = 0;
		for (size_t i = 0; i < points->count; i++)
			sum += points->weights[i] * try->near[i];
		if (sum <= 0)
			return false;
		double *center = try->centers + (size_t)k * DIMENSIONS;
		memcpy(center, point(points, draw(try, sum)), DIMENSIONS * sizeof *center);
		for (size_t i = 0; i < points->count; i++) {
			double distance = study_distance(point(points, i), center);
			if (k == 0 || distance < try->near[i])
				try->near[i] = distance;
		}
	}
	return true;
}

/* ---- k-means. ---- */

/* Gives each point the center that is nearest; returns whether any got another. */
static bool assign(struct try *try)
{
	const struct study_points *points = try->points;
	bool moved = false;
	try->distortion = 0;
	for (size_t i = 0; i < points->count; i++) {
		uint32_t best = 0;
		double least = INFINITY;
		for (uint32_t k = 0; k < try->k; k++) {
			double distance = study_distance(point(points, i), try->centers + (size_t)k * DIMENSIONS);
			if (distance < least) {
				least = distance;
				best = k;
			}
		}
		moved |= try->labels[i] != best;
		try->labels[i] = best;
		try->distortion += points->weights[i] * least;
	}
	return moved;
}

/* Puts each center in the middle of its points; one that has none stays. */
static void center(struct try *try)
{
	const struct study_points *points = try->points;
	memset(try->weight, 0, try->k * sizeof *try->weight);
	for (size_t i = 0; i < points->count; i++)
		try->weight[try->labels[i]] += points->weights[i];
	for (unsigned k = 0; k < try->k; k++)
		if (try->weight[k] > 0)
			memset(try->centers + (size_t)k * DIMENSIONS, 0, DIMENSIONS * sizeof *try->centers);
	for (size_t i = 0; i < points->count; i++) {
		uint32_t k = try->labels[i];
		for (unsigned d = 0; d < DIMENSIONS && try->weight[k] > 0; d++)
			try->centers[(size_t)k * DIMENSIONS + d] +=
			    point(points, i)[d] * (points->weights[i] / try->weight[k]);
	}
}

static bool settle(struct try *try)
{
	memset(try->labels, 0xff, try->points->count * sizeof *try->labels);
	if (!begin(try))
		return false;
	for (unsigned round = 0; round < ROUNDS && assign(try); round++)
		center(try);
	center(try);
	assign(try);
	return true;
}

/* Leaves the best of several runs in the try. Returns false when there are fewer distinct points than groups. */
static bool run_all(struct try *try, unsigned k)
{
	uint64_t best = 0;
	double least = INFINITY;
	try->k = k;
	for (uint64_t run = 0; run < RUNS; run++) {
		try->seed = k * UINT64_C(1000) + run;
		try->drawn = 0;
		if (!settle(try))
			return false;
		if (try->distortion < least) {
			least = try->distortion;
			best = try->seed;
		}
	}
	try->seed = best;
	try->drawn = 0;
	return settle(try);
}

/* ---- How many. ---- */

static double total(const struct study_points *points)
{
	double sum = 0;
	for (size_t i = 0; i < points->count; i++)
		sum += points->weights[i];
	return sum;
}

/* The likelihood of the points under one variance for all groups, less half the parameters times the logarithm of the
 * points: as SimPoint has it (Sherwood and others, ASPLOS 2002). */
static double score(const struct try *try)
{
	const double two_pi = 6.283185307179586, all = total(try->points), k = try->k, d = DIMENSIONS;
	double variance = all > k ? try->distortion / (all - k) : 0, likelihood = 0;
	variance = variance > least_variance ? variance : least_variance;
	memset(try->weight, 0, try->k * sizeof *try->weight);
	for (size_t i = 0; i < try->points->count; i++)
		try->weight[try->labels[i]] += try->points->weights[i];
	for (unsigned i = 0; i < try->k; i++) {
		double own = try->weight[i];
		if (own > 0)
			likelihood +=
			    -own / 2 * log(two_pi) - own * d / 2 * log(variance) - (own - 1) / 2 + own * log(own / all);
	}
	return likelihood - (k - 1 + d * k + 1) / 2 * log(all);
}

static unsigned choose(const struct study_clusters *clusters)
{
	double least = INFINITY, most = -INFINITY;
	for (unsigned i = 0; i < clusters->tried; i++) {
		least = fmin(least, clusters->scores[i]);
		most = fmax(most, clusters->scores[i]);
	}
	for (unsigned i = 0; i < clusters->tried; i++)
		if (clusters->scores[i] >= least + enough * (most - least))
			return i + 1;
	return 1;
}

int study_cluster(const struct study_points *points, unsigned most, struct study_clusters *clusters)
{
	size_t groups = most;
	*clusters = (struct study_clusters){
	    .scores = calloc(groups, sizeof(double)),
	    .labels = calloc(points->count + 1, sizeof(uint32_t)),
	    .centers = calloc(groups * DIMENSIONS, sizeof(double)),
	};
	struct try try = {
	    .points = points,
	    .labels = clusters->labels,
	    .centers = clusters->centers,
	    .near = calloc(points->count + 1, sizeof(double)),
	    .weight = calloc(groups, sizeof(double)),
	};
	bool fine = clusters->scores && clusters->labels && clusters->centers && try.near && try.weight;
	for (unsigned k = 1; fine && k <= most && k <= points->count && run_all(&try, k); k++)
		clusters->scores[clusters->tried++] = score(&try);
	if (fine && clusters->tried) {
		clusters->count = choose(clusters);
		run_all(&try, clusters->count);
	}
	free(try.near);
	free(try.weight);
	return fine ? 0 : TW_ERR_MEMORY;
}

void study_clusters_free(struct study_clusters *clusters)
{
	free(clusters->scores);
	free(clusters->labels);
	free(clusters->centers);
}
