/* range.h - the instructions that an analysis is asked for: the others are taken out of batches. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_RANGE_H
#define STUDY_RANGE_H

#include "study/walk.h"

#include <trackway/study.h>

struct study_range;

/* Puts a filter of a track before its taker; NULL where all instructions are asked for. Returns 0 or TW_ERR_MEMORY. */
int study_range_begin(struct study_range **range, const struct tw_study_range *asked, struct study_taker *taker);

/* Has the places and totals count what passed, when the walk is closed, and frees; NULL is fine. */
void study_range_end(struct study_range *range, struct study_totals *totals);

#endif
