/* reuse.c - how many other lines were touched between two accesses of a line. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/reuse.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE_LEAST = 1 << 12 };

static void add(struct study_reuse *reuse, uint32_t time, uint32_t what)
{
	for (uint32_t i = time + 1; i <= reuse->size; i += i & -i)
		reuse->sums[i] += what;
}

/* Marks at this time and before. */
static uint32_t marks_until(const struct study_reuse *reuse, uint32_t time)
{
	uint32_t sum = 0;
	for (uint32_t i = time + 1; i; i -= i & -i)
		sum += reuse->sums[i];
	return sum;
}

/* Every line's mark in its order, without gaps. */
static void renumber(struct study_reuse *reuse)
{
	uint32_t time = 0;
	for (uint32_t i = 0; i < reuse->now; i++) {
		uint32_t owner = reuse->owner[i];
		if (!owner)
			continue;
		reuse->owner[time] = owner;
		reuse->lines->items[owner - 1].last = ++time;
	}
	memset(reuse->owner + time, 0, (reuse->size - time) * sizeof *reuse->owner);
	memset(reuse->sums, 0, ((size_t)reuse->size + 1) * sizeof *reuse->sums);
	for (uint32_t i = 1; i <= reuse->size; i++) {
		uint32_t next = i + (i & -i);
		reuse->sums[i] += i <= time;
		if (next <= reuse->size)
			reuse->sums[next] += reuse->sums[i];
	}
	reuse->now = time;
}

static bool extend(struct study_reuse *reuse)
{
	size_t size = reuse->size ? (size_t)reuse->size * 2 : SIZE_LEAST;
	size_t more = (size - reuse->size) * (sizeof *reuse->sums + sizeof *reuse->owner);
	if (size > UINT32_MAX / 2 || !tw_budget_take(reuse->lines->budget, TW_FOR_STACKS, more))
		return false;
	uint32_t *sums = realloc(reuse->sums, (size + 1) * sizeof *sums);
	reuse->sums = sums ? sums : reuse->sums;
	uint32_t *owner = realloc(reuse->owner, size * sizeof *owner);
	reuse->owner = owner ? owner : reuse->owner;
	if (!sums || !owner)
		return false;
	reuse->size = (uint32_t)size;
	return true;
}

/* More than half of the times are free afterwards, so that it costs O(1) an access. */
static bool make_room(struct study_reuse *reuse)
{
	if (reuse->now < reuse->size)
		return true;
	if (reuse->marks >= reuse->size / 2 && !extend(reuse))
		return false;
	renumber(reuse);
	return true;
}

static unsigned bucket_of(uint32_t distance)
{
	return distance ? 32 - (unsigned)__builtin_clz(distance) : 0;
}

bool study_reuse_take(struct study_reuse *reuse, struct study_line *line)
{
	if (line->number + 1 == reuse->newest) {
		reuse->counts[0]++;
		return true;
	}
	if (!make_room(reuse))
		return false;
	if (line->last) {
		uint32_t before = line->last - 1;
		reuse->counts[bucket_of(reuse->marks - marks_until(reuse, before))]++;
		add(reuse, before, UINT32_MAX); /* takes 1 away */
		reuse->owner[before] = 0;
	} else {
		reuse->first++;
		reuse->marks++;
	}
	add(reuse, reuse->now, 1);
	reuse->owner[reuse->now] = (uint32_t)(line - reuse->lines->items) + 1;
	line->last = ++reuse->now;
	reuse->newest = line->number + 1;
	return true;
}

void study_reuse_free(struct study_reuse *reuse)
{
	free(reuse->sums);
	free(reuse->owner);
}
