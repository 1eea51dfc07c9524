/* cluster.c - how many groups there are, by the Bayesian information criterion (Pelleg and Moore), out of a sample as
 * SimPoint 3.0 takes it (Hamerly and others, JILP 2005). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/cluster.h"

#include <trackway/status.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = STUDY_DIMENSIONS, RUNS = 5, SAMPLE = 2500 /* points; k is chosen by so many of them */ };

/* The smallest k is taken whose score is so much of the way from the worst to the best: SimPoint's choice. */
static const double enough = 0.9;

/* The square of the distance of two points whose vectors differ by a hundredth of their weight, about: such noise makes
 * no group of its own. */
static const double least_variance = 1e-3;

static double total(const struct study_points *points)
{
	double sum = 0;
	for (size_t i = 0; i < points->count; i++)
		sum += points->weights[i];
	return sum;
}

/* The likelihood of the points under one variance for all groups, less half the parameters times the logarithm of the
 * points: as SimPoint has it (Sherwood and others, ASPLOS 2002). */
static double score(const struct study_means *means)
{
	const double two_pi = 6.283185307179586, all = total(means->points), k = means->k, d = DIMENSIONS;
	double variance = all > k ? means->distortion / (all - k) : 0, likelihood = 0;
	variance = variance > least_variance ? variance : least_variance;
	for (unsigned i = 0; i < means->k; i++) {
		double own = means->weights[i];
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

/* Scores of each number of groups, the best of several runs each: its seed is left. */
static void try_all(struct study_means *means, unsigned most, struct study_clusters *clusters, uint64_t *seeds)
{
	for (unsigned k = 1; k <= most && k <= means->points->count; k++) {
		double least = INFINITY;
		for (uint64_t run = 0; run < RUNS; run++) {
			if (!study_means_run(means, k, k * UINT64_C(1000) + run))
				return; /* fewer distinct points than groups */
			if (means->distortion < least) {
				least = means->distortion;
				seeds[k - 1] = means->seed;
				clusters->scores[k - 1] = score(means);
			}
		}
		clusters->tried = k;
	}
}

/* Groups the points of a sample, as many groups as it has. */
static int group(const struct study_points *sample, unsigned most, struct study_clusters *clusters)
{
	struct study_means means;
	uint64_t *seeds = calloc(most, sizeof *seeds);
	int status = study_means_begin(&means, sample, most);
	status = seeds ? status : TW_ERR_MEMORY;
	if (status == 0)
		try_all(&means, most, clusters, seeds);
	if (status == 0 && clusters->tried) {
		clusters->count = choose(clusters);
		study_means_run(&means, clusters->count, seeds[clusters->count - 1]);
		memcpy(clusters->centers, means.centers, clusters->count * DIMENSIONS * sizeof(double));
	}
	study_means_free(&means);
	free(seeds);
	return status;
}

/* Gives all points the groups of the sample, whose centers go to the middle of them all. */
static int spread(const struct study_points *points, struct study_clusters *clusters)
{
	struct study_means means;
	int status = study_means_begin(&means, points, clusters->count);
	if (status == 0) {
		size_t centers = clusters->count * DIMENSIONS * sizeof(double);
		means.k = clusters->count;
		memcpy(means.centers, clusters->centers, centers);
		study_means_settle(&means);
		memcpy(clusters->centers, means.centers, centers);
		memcpy(clusters->labels, means.labels, points->count * sizeof *clusters->labels);
	}
	study_means_free(&means);
	return status;
}

/* One point of each so many that follow each other; which one is drawn, for what comes round again. */
static void draw_sample(const struct study_points *points, double *at, double *weights)
{
	for (size_t i = 0; i < SAMPLE; i++) {
		size_t from = i * points->count / SAMPLE, to = (i + 1) * points->count / SAMPLE;
		size_t drawn = from + (size_t)((study_random(SAMPLE, i) + 1) / 2 * (double)(to - from));
		memcpy(at + i * DIMENSIONS, points->at + drawn * DIMENSIONS, DIMENSIONS * sizeof *at);
		weights[i] = points->weights[drawn];
	}
}

static int group_sample(const struct study_points *points, unsigned most, struct study_clusters *clusters)
{
	double *at = calloc(SAMPLE * DIMENSIONS, sizeof *at), *weights = calloc(SAMPLE, sizeof *weights);
	int status = TW_ERR_MEMORY;
	if (at && weights) {
		const struct study_points sample = {at, weights, SAMPLE};
		draw_sample(points, at, weights);
		status = group(&sample, most, clusters);
	}
	free(at);
	free(weights);
	return status;
}

int study_cluster(const struct study_points *points, unsigned most, struct study_clusters *clusters)
{
	size_t groups = most;
	*clusters = (struct study_clusters){
	    .scores = calloc(groups, sizeof(double)),
	    .labels = calloc(points->count + 1, sizeof(uint32_t)),
	    .centers = calloc(groups * DIMENSIONS, sizeof(double)),
	};
	if (!clusters->scores || !clusters->labels || !clusters->centers)
		return TW_ERR_MEMORY;
	int status = (points->count > SAMPLE ? group_sample : group)(points, most, clusters);
	return status == 0 && clusters->count ? spread(points, clusters) : status;
}

void study_clusters_free(struct study_clusters *clusters)
{
	free(clusters->scores);
	free(clusters->labels);
	free(clusters->centers);
}
