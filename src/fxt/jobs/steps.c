/* steps.c - the steps of a chunk, put in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/jobs/steps.h"

#include "base/memory/memory.h"

#include <stdlib.h>
#include <string.h>

void fxt_steps_clear(struct fxt_steps *steps)
{
	steps->count = steps->whole_count = steps->rows = 0;
	steps->complete = false;
	steps->failed = false;
}

void fxt_steps_free(struct fxt_steps *steps)
{
	free(steps->all);
	free(steps->wholes);
}

bool fxt_steps_reserve(struct fxt_steps *steps, size_t more)
{
	bool fine = tw_extend(&steps->all, &steps->room, steps->count + more, sizeof *steps->all) &&
	            tw_extend(&steps->wholes, &steps->whole_room, steps->whole_count + more, sizeof *steps->wholes);
	steps->failed |= !fine;
	return fine;
}

/* The number behind the run in the order of time that begins at `from`. */
static size_t end_of_run(const struct fxt_step *steps, size_t from, size_t count)
{
	size_t to = from + 1;
	while (to < count && steps[to].time >= steps[to - 1].time)
		to++;
	return to;
}

/* Merges two runs, [a, b) and [b, b_end), into one. */
static void merge_runs(const struct fxt_step *a, const struct fxt_step *b, const struct fxt_step *b_end,
                       struct fxt_step *to)
{
	const struct fxt_step *a_end = b;
	while (a < a_end && b < b_end)
		*to++ = b->time < a->time ? *b++ : *a++;
	memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* Merges the runs that steps consist of two by two; returns how many there are then. */
static size_t merge_twos(const struct fxt_step *steps, size_t count, struct fxt_step *to)
{
	size_t runs = 0;
	for (size_t from = 0, middle, end; from < count; from = end, runs++) {
		middle = end_of_run(steps, from, count);
		end = middle < count ? end_of_run(steps, middle, count) : count;
		merge_runs(steps + from, steps + middle, steps + end, to + from);
	}
	return runs;
}

/* A chunk consists of few runs in the order of time, the sections of several providers. */
void fxt_steps_sort(struct fxt_steps *steps, struct fxt_steps_scratch *scratch)
{
	const size_t count = steps->count;
	if (count == 0 || end_of_run(steps->all, 0, count) == count)
		return;
	if (!tw_extend(&scratch->steps, &scratch->room, count, sizeof *steps->all)) {
		steps->failed = true;
		return;
	}
	do
		memcpy(scratch->steps, steps->all, count * sizeof *steps->all);
	while (merge_twos(scratch->steps, count, steps->all) > 1);
}
