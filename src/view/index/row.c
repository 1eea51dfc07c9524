/* row.c - one row of a picture: slices that do not overlap, or samples, with sums of them level by level. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Columns of packed items. The first is when they begin, the second has low bits that may be zero. */
enum slice_column { BEGIN, OFFSET, LASTS, NAME, SLICE_COLUMNS };
enum sample_column { TIME, VALUE, SAMPLE_COLUMNS };

/* ---- Items that are not packed yet. ---- */

static size_t item_size(const struct view_row *row)
{
	return row->kind == VIEW_COUNTER ? sizeof(struct view_sample) : sizeof(struct view_slice);
}

static uint64_t packed_count(const struct view_row *row)
{
	return row->blocks.count * VIEW_BLOCK;
}

static void *tail_at(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	return store->bytes + row->tail + (i - packed_count(row)) * item_size(row);
}

/* Makes room for one more. What was there before is left: all of it is less than what there is now. */
static bool make_room(struct view_row *row, struct view_store *store)
{
	const uint64_t count = row->count - packed_count(row);
	if (count < row->tail_room)
		return true;
	const uint32_t room = row->tail_room ? 2 * row->tail_room : 1;
	const uint64_t place = view_store_take(store, room * item_size(row));
	if (place == VIEW_NOWHERE)
		return false;
	if (count)
		memcpy(store->bytes + place, store->bytes + row->tail, count * item_size(row));
	row->tail = place;
	row->tail_room = room;
	return true;
}

/* ---- Items. ---- */

static uint64_t bits_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static double value_of(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static const struct view_block *block_at(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	return view_column_at(&row->blocks, store, sizeof(struct view_block), i);
}

/* A number of a packed item. */
static uint64_t number_at(const struct view_row *row, const struct view_store *store, unsigned column, uint64_t i)
{
	return view_packed_at(&block_at(row, store, i / VIEW_BLOCK)->packed, store, column, i % VIEW_BLOCK);
}

struct view_slice view_row_slice(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (i >= packed_count(row))
		return *(const struct view_slice *)tail_at(row, store, i);
	const struct view_packed *packed = &block_at(row, store, i / VIEW_BLOCK)->packed;
	const unsigned in = i % VIEW_BLOCK;
	const uint64_t begin = view_packed_at(packed, store, BEGIN, in);
	return (struct view_slice){.begin = begin,
	                           .end = begin + view_packed_at(packed, store, LASTS, in),
	                           .offset = view_packed_at(packed, store, OFFSET, in),
	                           .name = (uint32_t)view_packed_at(packed, store, NAME, in)};
}

struct view_sample view_row_sample(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (i >= packed_count(row))
		return *(const struct view_sample *)tail_at(row, store, i);
	return (struct view_sample){.time = number_at(row, store, TIME, i),
	                            .value = value_of(number_at(row, store, VALUE, i))};
}

/* Both kinds begin with their time. */
static uint64_t begin_of(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	return i >= packed_count(row) ? *(const uint64_t *)tail_at(row, store, i) : number_at(row, store, BEGIN, i);
}

uint64_t view_row_end(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (i >= packed_count(row))
		return ((const struct view_slice *)tail_at(row, store, i))->end;
	return number_at(row, store, BEGIN, i) + number_at(row, store, LASTS, i);
}

uint32_t view_row_name(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (i >= packed_count(row))
		return ((const struct view_slice *)tail_at(row, store, i))->name;
	return (uint32_t)number_at(row, store, NAME, i);
}

static uint64_t lasts(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (i < packed_count(row))
		return number_at(row, store, LASTS, i);
	const struct view_slice *slice = tail_at(row, store, i);
	return slice->end - slice->begin;
}

/* ---- Sums. ---- */

static void add(const struct view_row *row, union view_sum *sum, const union view_sum *more)
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

static union view_sum of_item(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (row->kind == VIEW_COUNTER) {
		double value = view_row_sample(row, store, i).value;
		return (union view_sum){.range = {value, value}};
	}
	uint64_t duration = lasts(row, store, i);
	return (union view_sum){.busy = {duration, duration, i}};
}

/* Level 0 is the blocks. */
static union view_sum of(const struct view_row *row, const struct view_store *store, uint32_t level, uint64_t i)
{
	if (level == 0)
		return block_at(row, store, i)->sum;
	return *(const union view_sum *)view_column_at(&row->levels[level - 1], store, sizeof(union view_sum), i);
}

/* ---- Adding. ---- */

static bool add_sum(struct view_row *row, struct view_store *store, uint32_t level, uint64_t first)
{
	union view_sum sum = of(row, store, level, first);
	for (uint64_t i = 1; i < VIEW_FAN; i++) {
		const union view_sum more = of(row, store, level, first + i);
		add(row, &sum, &more);
	}
	union view_sum *at = view_column_add(&row->levels[level], store, sizeof *at);
	if (at)
		*at = sum;
	return at;
}

/* Each level that has become whole gives a record to the next. */
static bool add_sums(struct view_row *row, struct view_store *store)
{
	uint64_t count = row->blocks.count;
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

static unsigned spread_slices(const struct view_slice *slices, uint64_t numbers[static SLICE_COLUMNS][VIEW_BLOCK])
{
	for (unsigned i = 0; i < VIEW_BLOCK; i++) {
		numbers[BEGIN][i] = slices[i].begin;
		numbers[OFFSET][i] = slices[i].offset;
		numbers[LASTS][i] = slices[i].end - slices[i].begin;
		numbers[NAME][i] = slices[i].name;
	}
	return SLICE_COLUMNS;
}

static unsigned spread_samples(const struct view_sample *samples, uint64_t numbers[static SAMPLE_COLUMNS][VIEW_BLOCK])
{
	for (unsigned i = 0; i < VIEW_BLOCK; i++) {
		numbers[TIME][i] = samples[i].time;
		numbers[VALUE][i] = bits_of(samples[i].value);
	}
	return SAMPLE_COLUMNS;
}

/* Packs the items of the tail, which are a whole block. */
static bool pack(struct view_row *row, struct view_store *store)
{
	uint64_t numbers[VIEW_BLOCK_COLUMNS][VIEW_BLOCK];
	const uint64_t first = row->count - VIEW_BLOCK;
	const void *tail = tail_at(row, store, first);
	const unsigned columns =
	    row->kind == VIEW_COUNTER ? spread_samples(tail, numbers) : spread_slices(tail, numbers);
	struct view_block block = {.sum = of_item(row, store, first)};
	for (uint64_t i = first + 1; i < row->count; i++) {
		const union view_sum more = of_item(row, store, i);
		add(row, &block.sum, &more);
	}
	struct view_block *at;
	if (!view_pack(&block.packed, store, numbers, columns) ||
	    !(at = view_column_add(&row->blocks, store, sizeof *at)))
		return false;
	*at = block;
	return add_sums(row, store);
}

/* Takes an item that is in the tail. */
static bool taken(struct view_row *row, struct view_store *store, uint64_t last)
{
	row->last = last;
	row->count++;
	return row->count % VIEW_BLOCK != 0 || pack(row, store);
}

bool view_row_add_slice(struct view_row *row, struct view_store *store, const struct view_slice *slice)
{
	if (!make_room(row, store))
		return false;
	*(struct view_slice *)tail_at(row, store, row->count) = *slice;
	return taken(row, store, slice->end);
}

bool view_row_add_sample(struct view_row *row, struct view_store *store, const struct view_sample *sample)
{
	if (!make_room(row, store))
		return false;
	*(struct view_sample *)tail_at(row, store, row->count) = *sample;
	return taken(row, store, sample->time);
}

/* ---- Looking. ---- */

uint64_t view_row_begin_at(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t time)
{
	uint64_t low = from, step = 1, high = row->count;
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

/* The highest level whose record begins at an item and ends before another, and has been made. False: none does. */
static bool level_at(const struct view_row *row, uint64_t from, uint64_t to, uint32_t *level, uint64_t *size)
{
	if (from % VIEW_BLOCK || to - from < VIEW_BLOCK || from >= packed_count(row))
		return false;
	*size = VIEW_BLOCK;
	for (*level = 0; *level < row->level_count; ++*level, *size *= VIEW_FAN)
		if (from % (*size * VIEW_FAN) || to - from < *size * VIEW_FAN ||
		    from / (*size * VIEW_FAN) >= row->levels[*level].count)
			break;
	return true;
}

static union view_sum sum_of(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t to)
{
	union view_sum sum = of_item(row, store, from);
	for (uint64_t i = from, size; i < to; i += size) {
		uint32_t level;
		union view_sum more;
		if (level_at(row, i, to, &level, &size)) {
			more = of(row, store, level, i / size);
		} else {
			more = of_item(row, store, i);
			size = 1;
		}
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
	view_column_free(&row->blocks);
}
