/* keep_check.c - whether what a kept index says of its store leads nowhere else. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/keep_check.h"

#include "base/memory/order.h"
#include "view/index/bare.h"
#include "view/index/few.h"

#include <stdlib.h>

/* ---- Records, of which no two are in one place: what is written into one is not in another. ---- */

static bool are_apart(struct view_extents *extents)
{
	if (extents->count)
		qsort(extents->items, extents->count, sizeof *extents->items, tw_compare_u64);
	for (size_t i = 1; i < extents->count; i++)
		if (extents->items[i].place - extents->items[i - 1].place < extents->items[i - 1].size)
			return false;
	return true;
}

static bool add_bares(const struct view_store *store, const struct view_column *rows, struct view_extents *extents)
{
	const uint64_t size = sizeof(struct view_bare);
	for (uint64_t i = 0; i < rows->count; i++) {
		const struct view_row *row = view_column_at(rows, store, sizeof *row, i);
		if (!row->bare)
			continue;
		if (!view_is_in_store(store, row->tail, size))
			return false;
		view_keep_add_extent(extents, row->tail, size);
	}
	return !extents->failed;
}

/* ---- Rows. ---- */

/* As many levels as blocks give, and as many sums. */
static bool are_levels(const struct view_row *row, const struct view_store *store)
{
	const struct view_packs *packs = row->packs;
	uint64_t count = packs->blocks.count;
	for (uint32_t level = 0; level < packs->level_count; level++) {
		const struct view_column *sums = &packs->levels[level];
		count /= VIEW_FAN;
		if (sums->count != count || count == 0)
			return false;
		for (uint64_t i = 0; i < count && row->kind != VIEW_COUNTER; i++) {
			const union view_sum *sum = view_column_at(sums, store, sizeof *sum, i);
			if (sum->busy.item >= row->count)
				return false;
		}
	}
	return packs->level_count == VIEW_LEVELS || count / VIEW_FAN == 0;
}

static const struct view_block *block_at(const struct view_row *row, const struct view_store *store, uint64_t i)
{
	return view_column_at(&row->packs->blocks, store, sizeof(struct view_block), i);
}

static bool are_packed(const struct view_row *row, const struct view_store *store)
{
	const uint64_t count = row->packs ? row->packs->blocks.count : 0;
	if (count != row->count / VIEW_BLOCK)
		return false;
	for (uint64_t i = 0; i < count; i++)
		if (!view_is_packed(store, &block_at(row, store, i)->packed))
			return false;
	return !row->packs || are_levels(row, store);
}

/* Items that are not packed are in the store, or with those of others. */
static bool has_tail(const struct view_row *row, const struct view_store *store)
{
	const uint64_t size = row->kind == VIEW_COUNTER ? sizeof(struct view_sample) : sizeof(struct view_slice);
	const uint64_t count = row->count % VIEW_BLOCK;
	const struct view_few *few = row->kind == VIEW_COUNTER ? store->few_samples : store->few_slices;
	return count == 0 ||
	       (row->own_tail ? view_is_in_store(store, row->tail, count * size) : view_few_has(few, row->tail, count));
}

static bool is_plain_row(const struct view_row *row, const struct view_store *store)
{
	return !row->bare && are_packed(row, store) && has_tail(row, store);
}

/* Each is behind the one before, and known by its number. */
static bool are_kept(const struct view_row *row, const struct view_bare *bare, const struct view_store *store)
{
	const struct view_kept *before = NULL;
	for (uint64_t i = 0; i < bare->kept.count; i++) {
		const struct view_kept *kept = view_column_at(&bare->kept, store, sizeof *kept, i);
		if (kept->item + 1 < bare->head.count || kept->item >= row->count ||
		    (before && (kept->item <= before->item || kept->begin < before->begin)))
			return false;
		before = kept;
	}
	return bare->last.item == row->count - 1;
}

static bool are_groups(const struct view_row *row, const struct view_bare *bare, const struct view_store *store)
{
	uint64_t parts = row->count - bare->head.count;
	for (unsigned level = 0; level < VIEW_GROUPINGS; level++) {
		const struct view_row *groups = view_bare_grouped(bare, level);
		parts = level == 0 || parts >= VIEW_GROUPED_FROM ? parts / VIEW_GROUP : 0;
		if (groups->kind != VIEW_SLICES || groups->count != parts || !is_plain_row(groups, store))
			return false;
	}
	return true;
}

static bool is_bare_row(const struct view_row *row, const struct view_store *store)
{
	const struct view_bare *bare = view_bare_of(row, store);
	return store->spans && row->readable && !row->packs && row->count > 0 && bare->head.kind == row->kind &&
	       bare->head.count <= row->count && bare->head.count % VIEW_BLOCK == 0 &&
	       is_plain_row(&bare->head, store) && are_groups(row, bare, store) && are_kept(row, bare, store);
}

static bool is_row(const struct view_index *index, const struct view_row *row)
{
	return row->kind <= VIEW_STATES && row->track < index->tracks.count &&
	       (row->kind == VIEW_COUNTER) == (index->tracks.items[row->track].kind == VIEW_COUNTERS) &&
	       (row->bare ? is_bare_row(row, &index->store) : is_plain_row(row, &index->store));
}

/* ---- What rows have in memory. ---- */

static bool has_place(const struct view_store *store, const struct view_column *rows, const struct view_kept_row *kept)
{
	for (uint64_t i = 0; i < rows->count; i++) {
		const struct view_row *row = view_column_at(rows, store, sizeof *row, i);
		if (!row->bare && (kept[i].head || kept[i].groups[0] || kept[i].kept.count))
			return false;
	}
	return true;
}

static void put_in_place(const struct view_store *store, const struct view_column *rows,
                         const struct view_kept_row *kept)
{
	for (uint64_t i = 0; i < rows->count; i++) {
		struct view_row *row = view_column_at(rows, store, sizeof *row, i);
		if (row->packs != kept[i].packs)
			row->packs = kept[i].packs;
		if (!row->bare)
			continue;
		struct view_bare *bare = view_bare_of(row, store);
		bare->head.packs = kept[i].head;
		for (unsigned level = 0; level < VIEW_GROUPINGS; level++)
			bare->groupings[level].groups.packs = kept[i].groups[level];
		bare->kept = kept[i].kept;
	}
}

/* ---- Names and tracks. ---- */

static bool is_name(const struct view_index *index, uint32_t number, uint64_t count)
{
	struct view_name *name = view_names_at(&index->names, &index->store, number);
	if (name->sent)
		name->sent = 0;
	return name->length <= VIEW_NAME_MOST && name->place <= index->store.used &&
	       name->length <= index->store.used - name->place && name->file <= count && name->category <= count &&
	       name->first <= number && view_names_at(&index->names, &index->store, name->first)->first == name->first;
}

static bool are_names(const struct view_index *index, uint64_t rows)
{
	const uint64_t count = index->names.items.count;
	bool fine = count < VIEW_NONE && (count > 0 || rows == 0);
	for (uint32_t i = 0; i < count && fine; i++)
		fine = is_name(index, i, count);
	return fine;
}

static bool is_series(const struct view_index *index, const struct view_column *rows, const struct view_series *series)
{
	const struct view_row *row;
	if (series->count)
		return series->count < VIEW_BLOCK && view_few_has(index->store.few_samples, series->at, series->count);
	if (series->at == 0 || series->at > rows->count)
		return series->at == 0;
	row = view_column_at(rows, &index->store, sizeof *row, series->at - 1);
	return row->kind == VIEW_COUNTER;
}

/* A window looks at each depth of each lane. */
static bool are_tracks(const struct view_index *index, const struct view_column *rows)
{
	enum { DEPTHS_MOST = 1 << 24 };
	uint64_t depths = 0;
	for (size_t i = 0; i < index->tracks.count; i++) {
		const struct view_track *track = &index->tracks.items[i];
		for (uint32_t lane = 0; lane < track->lane_count; lane++) {
			depths += track->lanes[lane];
			if (track->kind == VIEW_COUNTERS && (track->series_names[lane] >= index->names.items.count ||
			                                     !is_series(index, rows, &track->series[lane])))
				return false;
		}
	}
	return depths <= DEPTHS_MOST;
}

bool view_keep_settle(struct view_index *index, const struct view_column *rows, const struct view_kept_row *kept,
                      struct view_extents *extents)
{
	const struct view_store *store = &index->store;
	if (!add_bares(store, rows, extents) || !are_apart(extents) || !has_place(store, rows, kept))
		return false;
	put_in_place(store, rows, kept);
	bool fine = view_few_check(store, store->few_slices) && view_few_check(store, store->few_samples) &&
	            are_names(index, rows->count) && are_tracks(index, rows);
	for (uint64_t i = 0; i < rows->count && fine; i++)
		fine = is_row(index, view_column_at(rows, store, sizeof(struct view_row), i));
	return fine;
}
