/* steps.c - the steps of a chunk: durations that end are settled, the others are put in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/jobs/steps.h"

#include "base/memory/memory.h"

#include <stdlib.h>
#include <string.h>

void fxt_steps_clear(struct fxt_steps *steps)
{
	steps->whole_count = 0;
	steps->count = steps->loose_count = steps->pile_count = steps->left_count = steps->rows = 0;
	steps->mixed = steps->failed = false;
	tw_map_clear(&steps->by_track);
}

void fxt_steps_free(struct fxt_steps *steps)
{
	free(steps->all);
	free(steps->wholes);
	free(steps->loose);
	free(steps->piles);
	free(steps->left);
	tw_map_free(&steps->by_track);
}

/* ---- Adding. ---- */

/* By realloc(), not by tw_grow(), which zeroes: what is not used is never touched, and takes no memory. */
bool fxt_steps_reserve(struct fxt_steps *steps, size_t more)
{
	size_t need = steps->count + 1 + more;
	if (need > steps->room) {
		need = need < 2 * steps->room ? 2 * steps->room : need;
		struct fxt_step *all = realloc(steps->all, need * sizeof *all);
		steps->failed |= !all;
		if (!all)
			return false;
		steps->all = all;
		steps->room = need;
	}
	if (!tw_extend(&steps->wholes, &steps->whole_room, steps->whole_count + more, sizeof *steps->wholes)) {
		steps->failed = true;
		return false;
	}
	if (steps->count == 0)
		steps->all[steps->count++] = (struct fxt_step){.key = UINT64_MAX}; /* no name */
	return true;
}

static void add_loose(struct fxt_steps *steps, size_t number)
{
	if (steps->loose_count < steps->loose_room ||
	    tw_extend(&steps->loose, &steps->loose_room, steps->loose_count + 1, sizeof *steps->loose))
		steps->loose[steps->loose_count++] = (uint32_t)number;
	else
		steps->failed = true;
}

void fxt_steps_add(struct fxt_steps *steps)
{
	add_loose(steps, steps->count++);
}

void fxt_steps_add_duration(struct fxt_steps *steps, struct fxt_pile *pile)
{
	size_t number = steps->count++;
	struct fxt_step *step = &steps->all[number], *top = &steps->all[pile->top];
	bool first = pile->first == UINT64_MAX;
	steps->mixed |= step->time == UINT64_MAX || (!first && step->time < pile->last);
	if (step->type == FXT_BEGIN) {
		step->other = pile->top;
		pile->top = (uint32_t)number;
	} else if (pile->top && (step->key == 0 || step->key == top->key)) {
		pile->top = top->other;
		top->other = (uint32_t)number;
	} else {
		steps->mixed |= pile->top != 0;
		add_loose(steps, number);
	}
	pile->last = first || step->time > pile->last ? step->time : pile->last;
	pile->first = step->time < pile->first ? step->time : pile->first;
}

static struct fxt_pile *add_pile(struct fxt_steps *steps, uint32_t track)
{
	if (!tw_grow(&steps->piles, &steps->pile_room, steps->pile_count + 1, sizeof *steps->piles) ||
	    !tw_map_add(&steps->by_track, track, (uint32_t)steps->pile_count)) {
		steps->failed = true;
		return NULL;
	}
	steps->piles[steps->pile_count] = (struct fxt_pile){.first = UINT64_MAX, .last = UINT64_MAX, .track = track};
	return &steps->piles[steps->pile_count++];
}

struct fxt_pile *fxt_steps_pile(struct fxt_steps *steps, uint32_t track)
{
	uint32_t number;
	return tw_map_find(&steps->by_track, track, &number) ? &steps->piles[number] : add_pile(steps, track);
}

/* ---- The order of time. ---- */

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

/* Sorts by time. A chunk consists of few runs, the sections of several providers. */
static void sort(struct fxt_steps *steps, size_t from, struct fxt_steps_scratch *scratch)
{
	size_t count = steps->left_count - from;
	if (count == 0) /* there may be no array */
		return;
	struct fxt_step *first = steps->left + from;
	if (end_of_run(first, 0, count) == count)
		return;
	if (!tw_grow(&scratch->steps, &scratch->room, count, sizeof *first)) {
		steps->failed = true;
		return;
	}
	do
		memcpy(scratch->steps, first, count * sizeof *first);
	while (merge_twos(scratch->steps, count, first) > 1);
}

/* ---- What is left. ---- */

static void leave(struct fxt_steps *steps, const struct fxt_step *step)
{
	if (steps->left_count < steps->left_room ||
	    tw_extend(&steps->left, &steps->left_room, steps->left_count + 1, sizeof *steps->left))
		steps->left[steps->left_count++] = *step;
	else
		steps->failed = true;
}

/* Adds the begins that are still open, track by track, each in the order of time. */
static void leave_open(struct fxt_steps *steps)
{
	for (size_t i = 0; i < steps->pile_count; i++) {
		size_t from = steps->left_count;
		for (uint32_t k = steps->piles[i].top; k; k = steps->all[k].other)
			leave(steps, &steps->all[k]);
		for (size_t to = steps->left_count; from + 1 < to; from++) {
			struct fxt_step step = steps->left[from];
			steps->left[from] = steps->left[--to];
			steps->left[to] = step;
		}
	}
}

/* The time of the earliest and the latest step. */
static void find_ends(const struct fxt_steps *steps, uint64_t *first, uint64_t *last)
{
	*first = UINT64_MAX;
	*last = 0;
	for (size_t i = 0; i < steps->loose_count; i++) {
		uint64_t time = steps->all[steps->loose[i]].time;
		*first = time < *first ? time : *first;
		*last = time > *last ? time : *last;
	}
	for (size_t i = 0; i < steps->pile_count; i++) {
		const struct fxt_pile *pile = &steps->piles[i];
		if (pile->first == UINT64_MAX)
			continue;
		*first = pile->first < *first ? pile->first : *first;
		*last = pile->last > *last ? pile->last : *last;
	}
}

static void leave_loose(struct fxt_steps *steps)
{
	size_t need = steps->left_count + steps->loose_count;
	if (!tw_extend(&steps->left, &steps->left_room, need, sizeof *steps->left)) {
		steps->failed = true;
		return;
	}
	for (size_t i = 0; i < steps->loose_count; i++)
		steps->left[steps->left_count++] = steps->all[steps->loose[i]];
}

/* Moves the steps from `from` on, which are few, to where they belong among those before them. Both are sorted. */
static void insert(struct fxt_steps *steps, size_t from, struct fxt_steps_scratch *scratch)
{
	size_t count = steps->left_count - from;
	if (count && !tw_grow(&scratch->steps, &scratch->room, count, sizeof *scratch->steps)) {
		steps->failed = true;
		return;
	}
	if (count)
		memcpy(scratch->steps, steps->left + from, count * sizeof *scratch->steps);
	for (struct fxt_step *to = steps->left + steps->left_count - 1; count > 0; to--) {
		bool before = from > 0 && steps->left[from - 1].time > scratch->steps[count - 1].time;
		*to = before ? steps->left[--from] : scratch->steps[--count];
	}
}

void fxt_steps_sort(struct fxt_steps *steps, struct fxt_steps_scratch *scratch)
{
	struct fxt_step mark = {.type = FXT_MARK};
	uint64_t last;
	if (steps->count < 2)
		return;
	find_ends(steps, &mark.time, &last);
	leave(steps, &mark);
	leave_loose(steps);
	sort(steps, 0, scratch);
	size_t loose = steps->left_count;
	leave_open(steps);
	sort(steps, loose, scratch);
	insert(steps, loose, scratch);
	mark.time = last;
	leave(steps, &mark);
}

void fxt_steps_unsettle(struct fxt_steps *steps, struct fxt_steps_scratch *scratch)
{
	steps->mixed = true;
	steps->left_count = 0;
	for (size_t i = 1; i < steps->count; i++)
		leave(steps, &steps->all[i]);
	sort(steps, 0, scratch);
}
