/* means.h - k-means: points into a number of groups, each point with the center that is nearest. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_MEANS_H
#define STUDY_MEANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STUDY_DIMENSIONS = 15 };

struct study_points {
	const double *at; /* STUDY_DIMENSIONS of each */
	const double *weights;
	size_t count;
};

/* One way to group the points. */
struct study_means {
	const struct study_points *points;
	unsigned k;        /* groups, at most as many as there is room for */
	uint32_t *labels;  /* by point */
	double *centers;   /* STUDY_DIMENSIONS of each */
	double *weights;   /* by group, of its points */
	double distortion; /* the squares of all distances to the centers */
	uint64_t seed;     /* what is drawn depends on it */
	uint64_t drawn;    /* so many times */
	double *upper;     /* by point: its center is not further away, */
	double *lower;     /* and no other one is nearer */
	double *reach;     /* by center: half of the distance to the nearest other one */
	double *before;    /* the centers before they were moved, */
	double *move;      /* and how far each went */
};

/* A number from -1 to 1 out of two: always the same one. */
double study_random(uint64_t a, uint64_t b);

/* The square of a distance. */
double study_distance(const double *a, const double *b);

/* Makes room for groups of points. Returns 0 or TW_ERR_MEMORY. Free it in any case. */
int study_means_begin(struct study_means *means, const struct study_points *points, unsigned most);
void study_means_free(struct study_means *means);

/* Draws k centers by a seed, and settles. Returns false when there are fewer distinct points than groups. */
bool study_means_run(struct study_means *means, unsigned k, uint64_t seed);

/* Moves the k centers that are there to the middle of their points until no point gets another one. */
void study_means_settle(struct study_means *means);

#endif
