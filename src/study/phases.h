/* phases.h - what SimPoint reads and writes: basic block vectors, chosen intervals, their weights. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_PHASES_H
#define STUDY_PHASES_H

#include "base/bytes/output.h"

#include <trackway/study.h>

/* Writes a line an interval: "T", then ":block:instructions " for each block executed in it. Blocks count from 1. */
void study_write_vectors(struct tw_output *out, const struct tw_study *study);

/* Writes a line a phase: the interval, from 0, or the weight, and the number of the phase. */
void study_write_simpoints(struct tw_output *out, const struct tw_study *study);
void study_write_weights(struct tw_output *out, const struct tw_study *study);

#endif
