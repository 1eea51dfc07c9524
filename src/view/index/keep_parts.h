/* keep_parts.h - columns and blocks of a store as they are kept. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_KEEP_PARTS_H
#define VIEW_INDEX_KEEP_PARTS_H

#include "core/index_file/words.h"
#include "view/index/pack.h"

/* Records of a store, of which no two may be in the same place. */
struct view_extent {
	uint64_t place, size;
};

struct view_extents {
	struct view_extent *items; /* by place, once they are sorted */
	size_t count, room;
	bool failed;
};

void view_keep_add_extent(struct view_extents *extents, uint64_t place, uint64_t size);

/* Writes the places of a column's parts, and takes them. */
void view_keep_put_column(struct tw_output *out, const struct view_column *column);
bool view_keep_get_column(struct tw_words *words, const struct view_store *store, struct view_column *column,
                          size_t size, struct view_extents *extents);

/* Whether so many bytes are in the store, at a multiple of 8. */
static inline bool view_is_in_store(const struct view_store *store, uint64_t place, uint64_t size)
{
	return place % 8 == 0 && place <= store->used && size <= store->used - place;
}

/* Whether a packed block may be read: then so may VIEW_KEPT_BEHIND bytes from its place on. */
static inline bool view_is_packed(const struct view_store *store, const struct view_packed *packed)
{
	enum { WORD = 64 };
	bool fine = packed->place % 8 == 0 && packed->place <= store->used && packed->shift < WORD &&
	            packed->time_shift < WORD && packed->longest < VIEW_BLOCK;
	for (unsigned k = 0; k < VIEW_BLOCK_COLUMNS; k++)
		fine = fine && packed->bits[k] <= WORD && packed->more[k] <= WORD - packed->bits[k];
	return fine;
}

#endif
