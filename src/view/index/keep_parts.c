/* keep_parts.c - columns and blocks of a store as they are kept. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/keep_parts.h"

#include "base/memory/memory.h"

void view_keep_put_column(struct tw_output *out, const struct view_column *column)
{
	const size_t parts = view_column_parts(column->count);
	tw_put_word(out, column->count);
	for (size_t i = 0; i < parts; i++)
		tw_put_word(out, column->parts[i]);
}

void view_keep_add_extent(struct view_extents *extents, uint64_t place, uint64_t size)
{
	extents->failed |= !tw_grow(&extents->items, &extents->room, extents->count + 1, sizeof *extents->items);
	if (!extents->failed)
		extents->items[extents->count++] = (struct view_extent){place, size};
}

bool view_keep_get_column(struct tw_words *words, const struct view_store *store, struct view_column *column,
                          size_t size, struct view_extents *extents)
{
	const uint64_t count = tw_take_below(words, store->used / size + 1);
	const size_t parts = view_column_parts(count);
	if (parts > words->left / sizeof(uint64_t) ||
	    (parts && !tw_resize(&column->parts, &column->part_room, parts, sizeof *column->parts)))
		words->failed = true;
	for (size_t i = 0; i < parts && !words->failed; i++) {
		const uint64_t place = tw_take_word(words), bytes = view_part_records(i) * size;
		words->failed |= !view_is_in_store(store, place, bytes);
		column->parts[i] = place;
		view_keep_add_extent(extents, place, bytes);
	}
	column->part_count = words->failed ? 0 : parts;
	column->count = words->failed ? 0 : count;
	return !words->failed;
}
