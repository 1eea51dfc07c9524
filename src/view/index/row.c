/* row.c - one row of a picture: slices that do not overlap, or samples, with sums of them level by level. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/row.h"

#include <errno.h>
#include <stdlib.h>

/* ---- What differs between the kinds. ---- */

union sum {
	struct view_busy busy;
	struct view_range range;
};

static size_t item_size(const struct view_row *row)
{
	return row->kind == VIEW_COUNTER ? sizeof(struct view_sample) : sizeof(struct view_slice);
}

static size_t sum_size(const struct view_row *row)
{
	return row->kind == VIEW_COUNTER ? sizeof(struct view_range) : sizeof(struct view_busy);
}

static void add(const struct view_row *row, union sum *sum, const union sum *more)
{
	if (row->kind == VIEW_COUNTER) {
		if (more->range.least < sum->range.least)
			sum->range.least = more->range.least;
		if (more->range.most > sum->range.most)
			sum->range.most = more->range.most;
		return;
	}
	sum->busy.busy += more->busy.busy;
	if (more->busy.longest > sum->busy.longest) {
		sum->busy.longest = more->busy.longest;
		sum->busy.item = more->busy.item;
	}
}

static union sum of_item(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (row->kind == VIEW_COUNTER) {
		double value = view_row_sample(row, store, i)->value;
		return (union sum){.range = {value, value}};
	}
	const struct view_slice *slice = view_row_slice(row, store, i);
	uint64_t lasts = slice->end - slice->begin;
	return (union sum){.busy = {lasts, lasts, i}};
}

/* Level 0 is the items. */
static union sum of(const struct view_row *row, const struct view_store *store, uint32_t level, uint64_t i)
{
	union sum sum = {0};
	if (level == 0)
		return of_item(row, store, i);
	const void *at = view_column_at(&row->levels[level - 1], store, sum_size(row), i);
	if (row->kind == VIEW_COUNTER)
		sum.range = *(const struct view_range *)at;
	else
		sum.busy = *(const struct view_busy *)at;
	return sum;
}

/* ---- Adding. ---- */

static bool add_sum(struct view_row *row, struct view_store *store, uint32_t level, uint64_t first)
{
	union sum sum = of(row, store, level, first);
	for (uint64_t i = 1; i < VIEW_FAN; i++) {
		const union sum more = of(row, store, level, first + i);
		add(row, &sum, &more);
	}
	void *at = view_column_add(&row->levels[level], store, sum_size(row));
	if (!at)
		return false;
	if (row->kind == VIEW_COUNTER)
		*(struct view_range *)at = sum.range;
	else
		*(struct view_busy *)at = sum.busy;
	return true;
}

/* Each level that has become whole gives a record to the next. */
static bool add_sums(struct view_row *row, struct view_store *store)
{
	uint64_t count = row->items.count;
	for (uint32_t level = 0; level < VIEW_LEVELS && count % VIEW_FAN == 0; level++) {
		if (!row->levels && !(row->levels = calloc(VIEW_LEVELS, sizeof *row->levels))) {
			store->error = ENOMEM;
			return false;
		}
		if (!add_sum(row, store, level, count - VIEW_FAN))
			return false;
		row->level_count = row->level_count > level ? row->level_count : level + 1;
		count = row->levels[level].count;
	}
	return true;
}

bool view_row_add_slice(struct view_row *row, struct view_store *store, const struct view_slice *slice)
{
	struct view_slice *item = view_column_add(&row->items, store, sizeof *item);
	if (!item)
		return false;
	*item = *slice;
	row->last = slice->end;
	return add_sums(row, store);
}

bool view_row_add_sample(struct view_row *row, struct view_store *store, const struct view_sample *sample)
{
	struct view_sample *item = view_column_add(&row->items, store, sizeof *item);
	if (!item)
		return false;
	*item = *sample;
	row->last = sample->time;
	return add_sums(row, store);
}

/* ---- Looking. ---- */

/* Both kinds of item begin with their time. */
static uint64_t begin_of(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	return *(const uint64_t *)view_column_at(&row->items, store, item_size(row), i);
}

uint64_t view_row_begin_at(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t time)
{
	uint64_t low = from, step = 1, high = row->items.count;
	while (low < high && step < high - low && begin_of(row, store, low + step - 1) < time) {
		low += step;
		step *= 2;
	}
	if (step < high - low)
		high = low + step;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (begin_of(row, store, middle) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The highest level whose record begins at an item and ends before another, and has been made. */
static uint32_t level_at(const struct view_row *row, uint64_t from, uint64_t to, uint64_t *reach)
{
	uint32_t level = 0;
	uint64_t size = 1;
	while (level < row->level_count && from % (size * VIEW_FAN) == 0 && to - from >= size * VIEW_FAN) {
		size *= VIEW_FAN;
		level++;
	}
	*reach = size;
	return level;
}

static union sum sum_of(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t to)
{
	union sum sum = of_item(row, store, from);
	for (uint64_t i = from, reach; i < to; i += reach) {
		uint32_t level = level_at(row, i, to, &reach);
		const union sum more = of(row, store, level, i / reach);
		if (i > from)
			add(row, &sum, &more);
		else
			sum = more;
	}
	return sum;
}

struct view_busy view_row_busy(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t to)
{
	return from < to ? sum_of(row, store, from, to).busy : (struct view_busy){0};
}

struct view_range view_row_range(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t to)
{
	return from < to ? sum_of(row, store, from, to).range : (struct view_range){0};
}

void view_row_free(struct view_row *row)
{
	for (uint32_t i = 0; row->levels && i < VIEW_LEVELS; i++)
		view_column_free(&row->levels[i]);
	free(row->levels);
	view_column_free(&row->items);
}
