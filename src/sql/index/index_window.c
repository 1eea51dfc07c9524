/* index_window.c - the pieces of a file that a window of time needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "sql/engine/scan.h"
#include "sql/index/index_parts.h"

#include <stdlib.h>

/* Pieces that may overlap, in any order. */
struct piece_list {
	struct tw_piece *items;
	size_t count, room;
	bool failed;
};

static void add(struct piece_list *list, uint64_t offset, uint64_t size)
{
	if (!tw_grow(&list->items, &list->room, list->count + 1, sizeof *list->items)) {
		list->failed = true;
		return;
	}
	list->items[list->count++] = (struct tw_piece){.offset = offset, .size = size};
}

static void add_open(const struct sql_index *index, struct piece_list *list, const struct sql_index_span *span)
{
	for (size_t i = 0; i < span->count; i++) {
		const struct sql_index_begin *begin = sql_index_begin_at(index, span->open[i]);
		add(list, begin->unit, begin->size);
	}
}

/* Where the records end that begin in a block: where those of a later one begin. */
static uint64_t end_of(const struct sql_index *index, size_t number)
{
	for (size_t i = number + 1; i < index->block_count; i++)
		if (index->blocks[i].first != UINT64_MAX)
			return index->blocks[i].first;
	return index->size;
}

/* Where the unit begins that the first bytes of a block are of. */
static uint64_t start_of(const struct sql_index *index, size_t number)
{
	const struct sql_index_block *block = &index->blocks[number];
	if (!index->runs || block->first == (uint64_t)number << index->block_shift)
		return block->first;
	for (size_t i = number; i-- > 0;)
		if (index->blocks[i].last != UINT64_MAX)
			return index->blocks[i].last;
	return block->first;
}

static void add_blocks(const struct sql_index *index, struct piece_list *list, uint64_t from, uint64_t to,
                       uint32_t track)
{
	uint64_t bit = track ? sql_index_track_bit(track) : UINT64_MAX;
	for (size_t i = 0; i < index->block_count; i++) {
		const struct sql_index_block *block = &index->blocks[i];
		bool wanted =
		    block->least <= to && block->most >= from && block->least <= block->most && block->tracks & bit;
		uint64_t start = wanted ? start_of(index, i) : UINT64_MAX;
		if (start != UINT64_MAX)
			add(list, start, end_of(index, i) - start);
	}
}

static const struct sql_index_place *place_before(const struct sql_index *index, uint64_t offset)
{
	size_t count =
	    tw_count_up_to(index->places.items, index->places.count, TW_KEY(struct sql_index_place, offset), offset);
	return count ? &index->places.items[count - 1] : NULL;
}

/* Adds all bytes from the last place before a window's first block to the end of its last block, and the records that
 * this place depends on. */
static void add_stretch(const struct sql_index *index, struct piece_list *list, uint64_t from, uint64_t to)
{
	uint64_t first = UINT64_MAX, end = 0;
	for (size_t i = 0; i < index->block_count; i++) {
		const struct sql_index_block *block = &index->blocks[i];
		if (block->least > to || block->most < from || block->least > block->most || block->first == UINT64_MAX)
			continue;
		first = first == UINT64_MAX ? block->first : first;
		end = end_of(index, i);
	}
	if (first >= end)
		return;
	const struct sql_index_place *place = place_before(index, first);
	for (size_t i = 0; place && i < place->count; i++)
		add(list, index->live.items[place->first + i].offset, index->live.items[place->first + i].size);
	first = place ? place->offset : 0;
	add(list, first, end - first);
}

void sql_index_view(const struct sql_index *index, uint64_t low, uint64_t high, uint32_t track, struct sql_view *view)
{
	struct piece_list list = {0};
	uint64_t to = high > UINT64_MAX - index->start ? UINT64_MAX : index->start + high;
	if (low >> index->span_shift >= index->span_count)
		return;
	size_t first = (size_t)(low >> index->span_shift);
	uint64_t from = index->start + ((uint64_t)first << index->span_shift);
	for (size_t i = first; i <= high >> index->span_shift && i < index->span_count; i++)
		to = index->spans[i].latest > to ? index->spans[i].latest : to;
	for (size_t i = 0; i < index->needed.count; i++)
		add(&list, index->needed.items[i].offset, index->needed.items[i].size);
	add_open(index, &list, &index->spans[first]);
	if (index->depends)
		add_stretch(index, &list, from, to);
	else
		add_blocks(index, &list, from, to, track);
	if (list.failed || list.count == 0 || tw_join_pieces(list.items, &list.count) > index->size / 4 * 3) {
		free(list.items);
		return;
	}
	*view = (struct sql_view){
	    .pieces = list.items,
	    .piece_count = list.count,
	    .in_place = index->runs,
	    .from = from,
	    .to = to,
	    .open = index->spans[first].open,
	    .open_count = index->spans[first].count,
	};
}
