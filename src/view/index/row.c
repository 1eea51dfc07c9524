/* row.c - one row of a picture: slices that do not overlap, or samples, with sums of them level by level. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/row.h"

#include "base/memory/memory.h"
#include "view/index/few.h"
#include "view/index/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Columns of packed items: how far each is behind the one before, or its end. */
enum slice_column { NAME, GAP, LASTS, OFFSET, SLICE_COLUMNS };
enum sample_column { VALUE, TIME, SAMPLE_COLUMNS };

/* ---- Items that are not packed yet. ---- */

static size_t item_size(const struct view_row *row)
{
	return row->kind == VIEW_COUNTER ? sizeof(struct view_sample) : sizeof(struct view_slice);
}

static uint64_t packed_count(const struct view_row *row)
{
	return row->packs ? row->packs->blocks.count * VIEW_BLOCK : 0;
}

/* Number i of the tail. */
static const void *few_at(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	const uint64_t count = row->count - packed_count(row);
	return row->kind == VIEW_COUNTER ? (const void *)view_few_sample(store, row->tail, count, i)
	                                 : view_few_slice(store, row->tail, count, i);
}

/* Those behind it follow. */
static const void *tail_at(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	i -= packed_count(row);
	return row->own_tail ? store->bytes + row->tail + i * item_size(row) : few_at(row, store, i);
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
	return view_column_at(&row->packs->blocks, store, sizeof(struct view_block), i);
}

struct times {
	const struct view_block *of; /* NULL: none */
	uint64_t begins[VIEW_BLOCK], lasts[VIEW_BLOCK];
	bool all; /* of slices these, too */
	uint64_t offsets[VIEW_BLOCK], names[VIEW_BLOCK];
};

enum { TIMES_KEPT = 16, WORD = 64 };

struct view_times {
	struct times kept[TIMES_KEPT];
	const struct view_row *row; /* that was looked at, and the number of its block */
	uint64_t number;
};

bool view_row_times_room(struct view_store *store)
{
	if (!store->times)
		store->times = calloc(1, sizeof *store->times);
	return store->times;
}

static void take_times(const struct view_row *row, const struct view_store *store, struct times *times)
{
	uint64_t gaps[VIEW_BLOCK], time = times->of->begin;
	view_unpack(&times->of->packed, store, row->kind == VIEW_COUNTER ? (unsigned)TIME : (unsigned)GAP, gaps);
	if (row->kind != VIEW_COUNTER)
		view_unpack(&times->of->packed, store, LASTS, times->lasts);
	else
		memset(times->lasts, 0, sizeof times->lasts);
	const unsigned shift = times->of->packed.time_shift;
	for (unsigned i = 0; i < VIEW_BLOCK; i++) {
		const uint64_t gap = gaps[i] << shift, lasts = times->lasts[i] << shift;
		const uint64_t step = gap + lasts; /* one sum after the other, not two */
		times->begins[i] = time + gap;
		times->lasts[i] = lasts;
		time += step;
	}
}

/* Has the memory fetch what the next look will be at, as many blocks further on as this one is: those of a row are far
 * from each other. */
static void fetch_ahead(const struct view_row *row, const struct view_store *store, uint64_t number)
{
	enum { LINE = 64 };
	struct view_times *times = store->times;
	const uint64_t step = times->row == row && number > times->number ? number - times->number : 1;
	times->row = row;
	times->number = number;
	if (step >= row->packs->blocks.count - number)
		return;
	const struct view_packed *next = &block_at(row, store, number + step)->packed;
	const size_t size = (size_t)(next->bits[0] + next->bits[1] + next->bits[2]) * sizeof(uint64_t);
	for (size_t at = 0; at < size; at += LINE)
		__builtin_prefetch(store->bytes + next->place + at);
}

/* The times of a block: a block stays as it is. */
static struct times *times_of(const struct view_row *row, const struct view_store *store, uint64_t number)
{
	const struct view_block *block = block_at(row, store, number);
	struct times *times = &store->times->kept[(uintptr_t)block / sizeof *block % TIMES_KEPT];
	if (times->of != block) {
		fetch_ahead(row, store, number);
		times->of = block;
		times->all = false;
		take_times(row, store, times);
	}
	return times;
}

/* How far an offset is from the one before, which may be behind it: an even number, or odd. */
static uint64_t offset_step(uint64_t from, uint64_t to, unsigned shift)
{
	const uint64_t step = to - from;
	const bool is_back = step >> (WORD - 1);
	return (is_back ? ~step : step) >> shift << 1 | is_back;
}

static uint64_t step_from(uint64_t offset, uint64_t step, unsigned shift)
{
	const uint64_t steps = step >> 1;
	return step & 1 ? offset - ((steps + 1) << shift) : offset + (steps << shift);
}

/* The same, and all else of slices. */
static const struct times *slices_of(const struct view_row *row, const struct view_store *store, uint64_t number)
{
	struct times *times = times_of(row, store, number);
	const struct view_block *block = times->of;
	if (times->all)
		return times;
	view_unpack(&block->packed, store, NAME, times->names);
	view_unpack(&block->packed, store, OFFSET, times->offsets);
	times->offsets[0] = block->base;
	for (unsigned i = 1; i < VIEW_BLOCK; i++)
		times->offsets[i] = step_from(times->offsets[i - 1], times->offsets[i], block->packed.shift);
	times->all = true;
	return times;
}

struct view_slice view_row_slice(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (row->bare)
		return store->spans->again->slice(row, store, i);
	if (i >= packed_count(row))
		return *(const struct view_slice *)tail_at(row, store, i);
	const unsigned in = i % VIEW_BLOCK;
	const struct times *times = slices_of(row, store, i / VIEW_BLOCK);
	return (struct view_slice){.begin = times->begins[in],
	                           .end = times->begins[in] + times->lasts[in],
	                           .offset = times->offsets[in],
	                           .name = (uint32_t)times->names[in]};
}

static double value_at(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	const struct view_block *block = block_at(row, store, i / VIEW_BLOCK);
	return value_of(block->base +
	                (view_packed_at(&block->packed, store, VALUE, i % VIEW_BLOCK) << block->packed.shift));
}

struct view_sample view_row_sample(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (i < packed_count(row))
		return (struct view_sample){.time = view_row_begin(row, store, i), .value = value_at(row, store, i)};
	return *(const struct view_sample *)tail_at(row, store, i);
}

uint64_t view_row_begin(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (row->bare)
		return store->spans->again->slice(row, store, i).begin;
	if (i < packed_count(row))
		return times_of(row, store, i / VIEW_BLOCK)->begins[i % VIEW_BLOCK];
	/* Both kinds begin with their time. */
	return *(const uint64_t *)tail_at(row, store, i);
}

uint64_t view_row_end(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (row->bare)
		return store->spans->again->slice(row, store, i).end;
	if (i >= packed_count(row))
		return ((const struct view_slice *)tail_at(row, store, i))->end;
	const struct times *times = times_of(row, store, i / VIEW_BLOCK);
	return times->begins[i % VIEW_BLOCK] + times->lasts[i % VIEW_BLOCK];
}

bool view_row_times(const struct view_row *row, const struct view_store *store, uint64_t i,
                    struct view_block_times *block)
{
	if (row->bare || i >= packed_count(row))
		return false;
	const struct times *times = times_of(row, store, i / VIEW_BLOCK);
	*block = (struct view_block_times){i - i % VIEW_BLOCK, times->begins, times->lasts};
	return true;
}

bool view_row_block(const struct view_row *row, const struct view_store *store, uint64_t i,
                    struct view_block_slices *block)
{
	if (row->bare || i >= packed_count(row))
		return false;
	const struct times *times = slices_of(row, store, i / VIEW_BLOCK);
	*block =
	    (struct view_block_slices){i - i % VIEW_BLOCK, times->begins, times->lasts, times->offsets, times->names};
	return true;
}

uint32_t view_row_name(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (row->bare)
		return store->spans->again->slice(row, store, i).name;
	if (i >= packed_count(row))
		return ((const struct view_slice *)tail_at(row, store, i))->name;
	return (uint32_t)view_packed_at(&block_at(row, store, i / VIEW_BLOCK)->packed, store, NAME, i % VIEW_BLOCK);
}

static uint64_t lasts(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	if (i < packed_count(row))
		return times_of(row, store, i / VIEW_BLOCK)->lasts[i % VIEW_BLOCK];
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
	if (level > 0)
		return *(const union view_sum *)view_column_at(&row->packs->levels[level - 1], store,
		                                               sizeof(union view_sum), i);
	const struct view_block *block = block_at(row, store, i);
	if (row->kind == VIEW_COUNTER)
		return (union view_sum){.range = block->sum.range};
	return (union view_sum){.busy = {.busy = block->sum.slices.busy,
	                                 .longest = block->sum.slices.longest,
	                                 .item = i * VIEW_BLOCK + block->packed.longest}};
}

/* ---- Adding. ---- */

static bool add_sum(struct view_row *row, struct view_store *store, uint32_t level, uint64_t first)
{
	union view_sum sum = of(row, store, level, first);
	for (uint64_t i = 1; i < VIEW_FAN; i++) {
		const union view_sum more = of(row, store, level, first + i);
		add(row, &sum, &more);
	}
	union view_sum *at = view_column_add(&row->packs->levels[level], store, sizeof *at);
	if (at)
		*at = sum;
	return at;
}

struct view_column *view_packs_deepen(struct view_packs *packs)
{
	size_t room;
	if (!tw_resize(&packs->levels, &room, packs->level_count + (size_t)1, sizeof *packs->levels))
		return NULL;
	struct view_column *level = &packs->levels[packs->level_count++];
	*level = (struct view_column){0};
	return level;
}

void view_packs_free(struct view_packs *packs)
{
	if (!packs)
		return;
	for (uint32_t i = 0; i < packs->level_count; i++)
		view_column_free(&packs->levels[i]);
	view_column_free(&packs->blocks);
	free(packs->levels);
	free(packs);
}

/* Each level that has become whole gives a record to the next. */
static bool add_sums(struct view_row *row, struct view_store *store)
{
	struct view_packs *packs = row->packs;
	uint64_t count = packs->blocks.count;
	for (uint32_t level = 0; level < VIEW_LEVELS && count % VIEW_FAN == 0; level++) {
		if (level == packs->level_count && !view_packs_deepen(packs)) {
			store->error = ENOMEM;
			return false;
		}
		if (!add_sum(row, store, level, count - VIEW_FAN))
			return false;
		count = packs->levels[level].count;
	}
	return true;
}

/* How many low bits of all are zero. */
static unsigned shift_of(uint64_t all)
{
	return all ? (unsigned)__builtin_ctzll(all) : 0;
}

static void spread_slices(const struct view_slice *slices, struct view_block *block,
                          uint64_t numbers[static SLICE_COLUMNS][VIEW_BLOCK])
{
	uint64_t end = slices[0].begin, before = slices[0].offset, busy = 0, longest = 0, all = 0, times = 0;
	unsigned which = 0;
	for (unsigned i = 0; i < VIEW_BLOCK; i++) {
		const uint64_t lasting = slices[i].end - slices[i].begin;
		numbers[NAME][i] = slices[i].name;
		numbers[GAP][i] = slices[i].begin - end;
		numbers[LASTS][i] = lasting;
		times |= numbers[GAP][i] | lasting;
		end = slices[i].end;
		all |= slices[i].offset - slices[0].offset;
		busy += lasting;
		which = lasting > longest ? i : which;
		longest = lasting > longest ? lasting : longest;
	}
	const unsigned shift = shift_of(all), time_shift = shift_of(times);
	for (unsigned i = 0; i < VIEW_BLOCK; i++) {
		numbers[GAP][i] >>= time_shift;
		numbers[LASTS][i] >>= time_shift;
		numbers[OFFSET][i] = offset_step(before, slices[i].offset, shift);
		before = slices[i].offset;
	}
	block->begin = slices[0].begin;
	block->base = slices[0].offset;
	block->packed.shift = (uint8_t)shift;
	block->packed.time_shift = (uint8_t)time_shift;
	block->packed.longest = (uint8_t)which;
	block->sum.slices.busy = busy;
	block->sum.slices.longest = longest;
}

static void spread_samples(const struct view_sample *samples, struct view_block *block,
                           uint64_t numbers[static SAMPLE_COLUMNS][VIEW_BLOCK])
{
	uint64_t before = samples[0].time, least = UINT64_MAX, all = 0, times = 0;
	struct view_range range = {samples[0].value, samples[0].value};
	for (unsigned i = 0; i < VIEW_BLOCK; i++) {
		const uint64_t bits = bits_of(samples[i].value);
		times |= numbers[TIME][i] = samples[i].time - before;
		before = samples[i].time;
		least = bits < least ? bits : least;
		range.least = samples[i].value < range.least ? samples[i].value : range.least;
		range.most = samples[i].value > range.most ? samples[i].value : range.most;
	}
	for (unsigned i = 0; i < VIEW_BLOCK; i++)
		all |= numbers[VALUE][i] = bits_of(samples[i].value) - least;
	const unsigned shift = shift_of(all), time_shift = shift_of(times);
	for (unsigned i = 0; i < VIEW_BLOCK; i++) {
		numbers[VALUE][i] >>= shift;
		numbers[TIME][i] >>= time_shift;
	}
	block->begin = samples[0].time;
	block->base = least;
	block->packed.shift = (uint8_t)shift;
	block->packed.time_shift = (uint8_t)time_shift;
	block->sum.range = range;
}

/* Packs the items of the tail, which are a whole block. */
static bool pack(struct view_row *row, struct view_store *store)
{
	uint64_t numbers[VIEW_BLOCK_COLUMNS][VIEW_BLOCK];
	struct view_block block = {0}, *at;
	if ((!row->packs && !(row->packs = calloc(1, sizeof *row->packs))) || !view_row_times_room(store)) {
		store->error = ENOMEM;
		return false;
	}
	if (row->kind == VIEW_COUNTER)
		spread_samples(tail_at(row, store, row->count - VIEW_BLOCK), &block, numbers);
	else
		spread_slices(tail_at(row, store, row->count - VIEW_BLOCK), &block, numbers);
	if (!view_pack(&block.packed, store, numbers,
	               row->kind == VIEW_COUNTER ? (unsigned)SAMPLE_COLUMNS : (unsigned)SLICE_COLUMNS) ||
	    !(at = view_column_add(&row->packs->blocks, store, sizeof *at)))
		return false;
	*at = block;
	return add_sums(row, store);
}

/* Takes an item that is in the tail. */
static bool taken(struct view_row *row, struct view_store *store, uint64_t last)
{
	row->last = last;
	row->count++;
	if (row->count % VIEW_BLOCK)
		return true;
	if (!pack(row, store))
		return false;
	row->tail = row->own_tail ? row->tail : 0;
	return row->count % VIEW_AGAIN_FROM || !row->readable || !store->spans ||
	       store->spans->again->begin(row, store);
}

/* Has the next item stand with those of other rows. */
static void add_to_few(struct view_row *row, struct view_store *store, const void *item)
{
	const uint64_t last = row->kind == VIEW_COUNTER ? view_few_add_sample(store, row->tail, item)
	                                                : view_few_add_slice(store, row->tail, item);
	row->tail = last ? last : row->tail;
}

static void add_to_own(struct view_row *row, struct view_store *store, const void *item)
{
	if (!row->own_tail) {
		const uint64_t place = view_store_take(store, VIEW_BLOCK * item_size(row));
		if (place == VIEW_NOWHERE)
			return;
		row->tail = place;
		row->own_tail = 1;
	}
	memcpy(store->bytes + row->tail + row->count % VIEW_BLOCK * item_size(row), item, item_size(row));
}

/* What cannot be packed stays, and nothing comes behind it. */
static bool add_item(struct view_row *row, struct view_store *store, const void *item, uint64_t last)
{
	if (store->error)
		return false;
	if (row->own_tail || packed_count(row) >= VIEW_OWN_TAIL)
		add_to_own(row, store, item);
	else
		add_to_few(row, store, item);
	return !store->error && taken(row, store, last);
}

bool view_row_add_slice(struct view_row *row, struct view_store *store, const struct view_slice *slice)
{
	if (slice->begin < store->from) {
		row->last = slice->end;
		return true;
	}
	if (row->bare)
		return store->spans->again->add(row, store, slice);
	return add_item(row, store, slice, slice->end);
}

bool view_row_add_sample(struct view_row *row, struct view_store *store, const struct view_sample *sample)
{
	return add_item(row, store, sample, sample->time);
}

/* ---- Looking. ---- */

/* The last block from one on that begins before a time; that one where it does not. */
static uint64_t block_before(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t time)
{
	uint64_t low = from, step = 1, high = row->packs->blocks.count;
	while (step < high - low && block_at(row, store, low + step)->begin < time) {
		low += step;
		step *= 2;
	}
	high = step < high - low ? low + step : high;
	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;
		if (block_at(row, store, middle)->begin < time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The same for items, from one to the one before another. */
static uint64_t item_at(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t to,
                        uint64_t time)
{
	while (from < to) {
		const uint64_t middle = from + (to - from) / 2;
		if (view_row_begin(row, store, middle) < time)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

uint64_t view_row_begin_at(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t time)
{
	if (row->bare)
		return store->spans->again->begin_at(row, store, from, time);
	const uint64_t packed = packed_count(row);
	if (from < packed) {
		const uint64_t block = block_before(row, store, from / VIEW_BLOCK, time);
		const uint64_t first = block * VIEW_BLOCK, end = first + VIEW_BLOCK;
		const uint64_t *begins = times_of(row, store, block)->begins;
		for (from = from > first ? from : first; from < end && begins[from - first] < time;)
			from++;
		if (from < end || end < packed)
			return from;
	}
	return item_at(row, store, from, row->count, time);
}

/* The highest level whose record begins at an item and ends before another, and has been made. False: none does. */
static bool level_at(const struct view_row *row, uint64_t from, uint64_t to, uint32_t *level, uint64_t *size)
{
	if (from % VIEW_BLOCK || to - from < VIEW_BLOCK || from >= packed_count(row))
		return false;
	*size = VIEW_BLOCK;
	for (*level = 0; *level < row->packs->level_count; ++*level, *size *= VIEW_FAN)
		if (from % (*size * VIEW_FAN) || to - from < *size * VIEW_FAN ||
		    from / (*size * VIEW_FAN) >= row->packs->levels[*level].count)
			break;
	return true;
}

/* Sums up some of a block, or of the tail. */
static union view_sum part_of(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t to)
{
	union view_sum sum = of_item(row, store, from);
	if (row->kind == VIEW_COUNTER || from >= packed_count(row)) {
		for (uint64_t i = from + 1; i < to; i++) {
			const union view_sum more = of_item(row, store, i);
			add(row, &sum, &more);
		}
		return sum;
	}
	const uint64_t *all = times_of(row, store, from / VIEW_BLOCK)->lasts, first = from - from % VIEW_BLOCK;
	for (uint64_t i = from + 1; i < to; i++) {
		const uint64_t one = all[i - first];
		sum.busy.busy += one;
		sum.busy.item = one > sum.busy.longest ? i : sum.busy.item;
		sum.busy.longest = one > sum.busy.longest ? one : sum.busy.longest;
	}
	return sum;
}

/* Where the part of a block, or of the tail, ends that an item is in. */
static uint64_t part_end(const struct view_row *row, uint64_t i, uint64_t to)
{
	const uint64_t end = i < packed_count(row) ? i - i % VIEW_BLOCK + VIEW_BLOCK : to;
	return end < to ? end : to;
}

static union view_sum sum_of(const struct view_row *row, const struct view_store *store, uint64_t from, uint64_t to)
{
	union view_sum sum = {.busy = {0}};
	if (to - from < VIEW_BLOCK && part_end(row, from, to) == to)
		return part_of(row, store, from, to);
	for (uint64_t i = from, size; i < to; i += size) {
		uint32_t level;
		union view_sum more;
		if (level_at(row, i, to, &level, &size)) {
			more = of(row, store, level, i / size);
		} else {
			size = part_end(row, i, to) - i;
			more = part_of(row, store, i, i + size);
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

void view_row_free(struct view_row *row, const struct view_store *store)
{
	if (row->bare)
		store->spans->again->free(row, store);
	view_packs_free(row->packs);
	row->packs = NULL;
}
