/* means.c - k-means with k-means++ (Arthur and Vassilvitskii). Distances that bounds tell are not computed: Hamerly,
 * "Making k-means even faster" (SDM 2010). The groups are those of the plain way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/means.h"

#include <trackway/status.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = STUDY_DIMENSIONS, ROUNDS = 100 };

/* More than what a bound is off by rounding. */
static const double slack = 1e-9;

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

static const double *point(const struct study_means *means, size_t i)
{
	return means->points->at + i * DIMENSIONS;
}

static double *center(const struct study_means *means, size_t k)
{
	return means->centers + k * DIMENSIONS;
}

/* ---- k-means++: each center is a point, the more likely the further it is from those before. ---- */

/* near: by point, the square of the distance to its center. sum: weights times them. */
static size_t draw(struct study_means *means, const double *near, double sum)
{
	const struct study_points *points = means->points;
	double left = (study_random(means->seed, means->drawn++) + 1) / 2 * sum;
	size_t last = 0;
	for (size_t i = 0; i < points->count; i++) {
		double share = points->weights[i] * near[i];
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
static bool draw_centers(struct study_means *means)
{
	const struct study_points *points = means->points;
	double *near = means->upper; /* no bounds yet */
	for (size_t i = 0; i < points->count; i++)
		near[i] = 1;
	for (unsigned k = 0; k < means->k; k++) {
		double sum = 0;
		for (size_t i = 0; i < points->count; i++)
			sum += points->weights[i] * near[i];
		if (sum <= 0)
			return false;
		memcpy(center(means, k), point(means, draw(means, near, sum)), DIMENSIONS * sizeof(double));
		for (size_t i = 0; i < points->count; i++) {
			double distance = study_distance(point(means, i), center(means, k));
			if (k == 0 || distance < near[i])
				near[i] = distance;
		}
	}
	return true;
}

/* ---- Rounds. ---- */

/* The square of a distance, or a part of it that is not below a limit. */
static double distance_below(const double *a, const double *b, double limit)
{
	double sum = 0;
	for (unsigned i = 0; i < DIMENSIONS && sum < limit; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

/* Gives a point the center that is nearest; returns whether it had another. */
static bool find_center(struct study_means *means, size_t i)
{
	double least = INFINITY, second = INFINITY;
	uint32_t best = 0;
	for (uint32_t k = 0; k < means->k; k++) {
		double distance = distance_below(point(means, i), center(means, k), second);
		if (distance < least) {
			second = least;
			least = distance;
			best = k;
		} else if (distance < second) {
			second = distance;
		}
	}
	bool moved = means->labels[i] != best;
	means->labels[i] = best;
	means->upper[i] = sqrt(least);
	means->lower[i] = sqrt(second);
	return moved;
}

static void find_reach(struct study_means *means)
{
	for (unsigned k = 0; k < means->k; k++) {
		double least = INFINITY;
		for (unsigned other = 0; other < means->k; other++)
			if (other != k)
				least = fmin(least, study_distance(center(means, k), center(means, other)));
		means->reach[k] = sqrt(least) / 2;
	}
}

/* Whether no other center can be as near as a point's own. */
static bool is_bound(struct study_means *means, size_t i)
{
	uint32_t own = means->labels[i];
	double others = fmax(means->lower[i], means->reach[own]);
	if (means->upper[i] + slack < others)
		return true;
	means->upper[i] = sqrt(study_distance(point(means, i), center(means, own)));
	return means->upper[i] + slack < others;
}

/* Returns whether any point got another center. */
static bool assign(struct study_means *means, bool first)
{
	bool moved = false;
	find_reach(means);
	for (size_t i = 0; i < means->points->count; i++)
		if (first || !is_bound(means, i))
			moved |= find_center(means, i);
	return moved || first;
}

static void weigh(struct study_means *means)
{
	memset(means->weights, 0, means->k * sizeof *means->weights);
	for (size_t i = 0; i < means->points->count; i++)
		means->weights[means->labels[i]] += means->points->weights[i];
}

/* Puts each center in the middle of its points; one that has none stays. */
static void move_centers(struct study_means *means)
{
	weigh(means);
	memcpy(means->before, means->centers, means->k * DIMENSIONS * sizeof *means->before);
	for (unsigned k = 0; k < means->k; k++)
		if (means->weights[k] > 0)
			memset(center(means, k), 0, DIMENSIONS * sizeof(double));
	for (size_t i = 0; i < means->points->count; i++) {
		uint32_t k = means->labels[i];
		double share = means->weights[k] > 0 ? means->points->weights[i] / means->weights[k] : 0;
		for (unsigned d = 0; d < DIMENSIONS && share > 0; d++)
			center(means, k)[d] += point(means, i)[d] * share;
	}
}

/* What a bound says of centers that moved. */
static void move_bounds(struct study_means *means)
{
	double most = 0, next = 0; /* how far any went, and any other one */
	unsigned furthest = 0;
	for (unsigned k = 0; k < means->k; k++) {
		double moved = sqrt(study_distance(means->before + (size_t)k * DIMENSIONS, center(means, k)));
		means->move[k] = moved;
		next = fmax(next, fmin(moved, most));
		furthest = moved > most ? k : furthest;
		most = fmax(most, moved);
	}
	for (size_t i = 0; i < means->points->count; i++) {
		means->upper[i] += means->move[means->labels[i]];
		means->lower[i] -= means->labels[i] == furthest ? next : most;
	}
}

static void measure(struct study_means *means)
{
	means->distortion = 0;
	for (size_t i = 0; i < means->points->count; i++)
		means->distortion +=
		    means->points->weights[i] * study_distance(point(means, i), center(means, means->labels[i]));
	weigh(means);
}

void study_means_settle(struct study_means *means)
{
	bool moved = assign(means, true);
	for (unsigned round = 0; round < ROUNDS && moved; round++) {
		move_centers(means);
		move_bounds(means);
		moved = assign(means, false);
	}
	measure(means);
}

bool study_means_run(struct study_means *means, unsigned k, uint64_t seed)
{
	means->k = k;
	means->seed = seed;
	means->drawn = 0;
	if (!draw_centers(means))
		return false;
	study_means_settle(means);
	return true;
}

int study_means_begin(struct study_means *means, const struct study_points *points, unsigned most)
{
	size_t count = points->count + 1, groups = most;
	*means = (struct study_means){
	    .points = points,
	    .labels = calloc(count, sizeof(uint32_t)),
	    .centers = calloc(groups * DIMENSIONS, sizeof(double)),
	    .weights = calloc(groups, sizeof(double)),
	    .upper = calloc(count, sizeof(double)),
	    .lower = calloc(count, sizeof(double)),
	    .before = calloc(groups * DIMENSIONS, sizeof(double)),
	    .reach = calloc(groups, sizeof(double)),
	    .move = calloc(groups, sizeof(double)),
	};
	bool fine = means->labels && means->centers && means->weights && means->upper && means->lower &&
	            means->before && means->reach && means->move;
	return fine ? 0 : TW_ERR_MEMORY;
}

void study_means_free(struct study_means *means)
{
	free(means->labels);
	free(means->centers);
	free(means->weights);
	free(means->upper);
	free(means->lower);
	free(means->before);
	free(means->reach);
	free(means->move);
}
