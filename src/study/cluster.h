/* cluster.h - points that are close to each other: k-means, and how many groups there are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_CLUSTER_H
#define STUDY_CLUSTER_H

#include "study/means.h"

#include <stdint.h>

struct study_clusters {
	unsigned tried;   /* 1 to this many were tried, */
	double *scores;   /* by number, from 1 on, less 1: the Bayesian information criterion */
	unsigned count;   /* and so many chosen */
	uint32_t *labels; /* by point */
	double *centers;  /* STUDY_DIMENSIONS of each */
};

/* Groups points: at most so many groups as `most`, which is not 0. Always the same way for the same points. Returns 0
 * or TW_ERR_MEMORY. Free it in any case. */
int study_cluster(const struct study_points *points, unsigned most, struct study_clusters *clusters);
void study_clusters_free(struct study_clusters *clusters);

#endif
