/* test_means.c - groups of points, against k-means the plain way. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "study/cluster.h"

#include "suite.h"

enum { POINTS = 700, DIMENSIONS = STUDY_DIMENSIONS, MOST = 12, ROUNDS = 100 };

struct scene {
	double at[POINTS * DIMENSIONS], weights[POINTS];
	double centers[MOST * DIMENSIONS];
	uint32_t labels[POINTS];
};

static double squared(const double *a, const double *b)
{
	double sum = 0;
	for (int d = 0; d < DIMENSIONS; d++)
		sum += (a[d] - b[d]) * (a[d] - b[d]);
	return sum;
}

/* Returns whether any point got another center. */
static bool label(struct scene *scene, unsigned k)
{
	bool moved = false;
	for (int i = 0; i < POINTS; i++) {
		uint32_t best = 0;
		for (uint32_t one = 1; one < k; one++)
			if (squared(scene->at + i * DIMENSIONS, scene->centers + one * DIMENSIONS) <
			    squared(scene->at + i * DIMENSIONS, scene->centers + best * DIMENSIONS))
				best = one;
		moved |= scene->labels[i] != best;
		scene->labels[i] = best;
	}
	return moved;
}

static void move(struct scene *scene, unsigned k)
{
	for (uint32_t one = 0; one < k; one++) {
		double sum[DIMENSIONS] = {0}, weight = 0;
		for (int i = 0; i < POINTS; i++) {
			weight += scene->labels[i] == one ? scene->weights[i] : 0;
			for (int d = 0; d < DIMENSIONS && scene->labels[i] == one; d++)
				sum[d] += scene->at[i * DIMENSIONS + d] * scene->weights[i];
		}
		for (int d = 0; d < DIMENSIONS && weight > 0; d++)
			scene->centers[one * DIMENSIONS + (uint32_t)d] = sum[d] / weight;
	}
}

/* Points around some middles, more or less closely. */
static void fill(struct scene *scene, uint64_t round, double noise)
{
	for (uint64_t i = 0; i < POINTS; i++) {
		scene->weights[i] = i % 9 ? 1 : 0.25;
		for (uint64_t d = 0; d < DIMENSIONS; d++)
			scene->at[i * DIMENSIONS + d] =
			    study_random(round * 100 + i % 6, d) + noise * study_random(round * 100000 + i, d + 99);
	}
}

/* Bounds only spare distances: the labels are the same. */
static void groups_are_those_of_the_plain_way(void **state)
{
	static struct scene scene;
	(void)state;
	for (uint64_t round = 0; round < 24; round++) {
		const struct study_points points = {scene.at, scene.weights, POINTS};
		const unsigned k = 1 + (unsigned)round % MOST;
		struct study_means means;
		fill(&scene, round, round % 3 ? 0.2 : 1.5);
		assert_int_equal(study_means_begin(&means, &points, MOST), 0);
		for (unsigned i = 0; i < k; i++)
			memcpy(means.centers + i * DIMENSIONS, scene.at + 31 * i * DIMENSIONS,
			       DIMENSIONS * sizeof(double));
		memcpy(scene.centers, means.centers, sizeof scene.centers);
		memset(scene.labels, 0xff, sizeof scene.labels);
		for (int i = 0; i < ROUNDS && label(&scene, k); i++)
			move(&scene, k);
		means.k = k;
		study_means_settle(&means);
		assert_memory_equal(means.labels, scene.labels, sizeof scene.labels);
		double distortion = 0;
		for (int i = 0; i < POINTS; i++)
			distortion += scene.weights[i] *
			              squared(scene.at + i * DIMENSIONS, scene.centers + scene.labels[i] * DIMENSIONS);
		assert_true(fabs(distortion - means.distortion) < 1e-9 * distortion);
		study_means_free(&means);
	}
}

/* k-means++ draws no point twice. */
static void there_are_no_more_groups_than_points(void **state)
{
	static struct scene scene;
	const struct study_points points = {scene.at, scene.weights, POINTS};
	struct study_means means;
	(void)state;
	fill(&scene, 1, 0);
	assert_int_equal(study_means_begin(&means, &points, MOST), 0);
	for (uint64_t seed = 0; seed < 20; seed++) {
		assert_true(study_means_run(&means, 6, seed));
		assert_true(means.distortion < 1e-20);
		assert_false(study_means_run(&means, 7, seed));
	}
	study_means_free(&means);
}

/* ---- The sample that the number of groups is found by. ---- */

/* Two groups, and a point far from both: a group of its own where the sample has it. */
static unsigned count_groups(size_t points, size_t odd)
{
	double *at = calloc(points * DIMENSIONS, sizeof *at), *weights = calloc(points, sizeof *weights);
	struct study_clusters clusters;
	assert_true(at && weights);
	for (size_t i = 0; i < points; i++) {
		weights[i] = 1;
		at[i * DIMENSIONS] = i == odd ? 100 : (double)(i % 2);
	}
	const struct study_points all = {at, weights, points};
	assert_int_equal(study_cluster(&all, 4, &clusters), 0);
	unsigned count = clusters.count;
	study_clusters_free(&clusters);
	free(at);
	free(weights);
	return count;
}

/* The stretches of one more than that have one of two points, the last ones. */
static void a_sample_is_of_2500_points(void **state)
{
	enum { SAMPLE = 2500 };
	(void)state;
	assert_int_equal(count_groups(SAMPLE, SAMPLE - 2), 3);
	assert_int_equal(count_groups(SAMPLE, SAMPLE - 1), 3);
	assert_int_equal(count_groups(SAMPLE + 1, 0), 3);
	assert_int_equal(count_groups(SAMPLE + 1, SAMPLE - 1) + count_groups(SAMPLE + 1, SAMPLE), 2 + 3);
}

SUITE(means)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(groups_are_those_of_the_plain_way),
	    cmocka_unit_test(there_are_no_more_groups_than_points),
	    cmocka_unit_test(a_sample_is_of_2500_points),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
