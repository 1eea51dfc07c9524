/* reuse.h - how many other lines were touched between two accesses of a line. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_REUSE_H
#define STUDY_REUSE_H

#include "study/lines.h"

enum { STUDY_DISTANCES = 34 }; /* 0, 1, 2 to 3, 4 to 7, ... */

/* Times are numbers of accesses; each line has a mark at its last. A tree of sums (Fenwick's) counts the marks behind a
 * time in O(log n). When the times are used up, those that still have marks are numbered again. */
struct study_reuse {
	struct study_lines *lines;
	uint32_t *sums;  /* from 1 on */
	uint32_t *owner; /* by time: index of the line plus 1; 0 where its mark has gone */
	uint32_t size;   /* a power of 2, or 0 */
	uint32_t now, marks;
	uint64_t newest; /* line that was touched last, plus 1 */
	uint64_t counts[STUDY_DISTANCES];
	uint64_t first; /* accesses of lines not touched before */
};

/* Takes the next access. Returns false when there is no room. */
bool study_reuse_take(struct study_reuse *reuse, struct study_line *line);
void study_reuse_free(struct study_reuse *reuse);

#endif
