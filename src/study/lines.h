/* lines.h - the lines of memory that were touched, by number. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_LINES_H
#define STUDY_LINES_H

#include "core/budget.h"

#include <stdint.h>

enum { STUDY_LINE_SHIFT = 6, STUDY_LINE = 1 << STUDY_LINE_SHIFT, STUDY_NEAR = 4096 };

struct study_line {
	uint64_t number; /* address / STUDY_LINE */
	uint64_t loads, stores;
	uint64_t touched, written; /* bytes: a bit each */
	uint64_t conflict;         /* bytes that a thread wrote and a second thread touched */
	uint32_t seen;             /* of a track: the interval it was touched in last, plus 1; of all: threads */
	uint32_t writers;          /* threads that wrote */
	uint32_t last;             /* reuse: when it was touched last, plus 1 */
};

/* Lines by their numbers; those met lately are found without a search. All zero but the budget to begin. */
struct study_lines {
	struct tw_budget *budget;
	struct study_line *items;
	struct tw_keyed keyed;     /* by number */
	uint32_t near[STUDY_NEAR]; /* index plus 1 */
};

/* As study_lines_find(), where it was not met lately. */
struct study_line *study_lines_search(struct study_lines *lines, uint64_t number);

/* The line, new or known; NULL when there is no room. It lives until the next call. */
static inline struct study_line *study_lines_find(struct study_lines *lines, uint64_t number)
{
	uint32_t near = lines->near[number % STUDY_NEAR];
	if (near && lines->items[near - 1].number == number)
		return &lines->items[near - 1];
	return study_lines_search(lines, number);
}

void study_lines_free(struct study_lines *lines);

#endif
