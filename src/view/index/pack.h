/* pack.h - blocks of items, in as few bits as the numbers of each column need. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_PACK_H
#define VIEW_INDEX_PACK_H

#include "view/index/store.h"

enum {
	VIEW_BLOCK = 64,        /* items */
	VIEW_BLOCK_BASES = 2,   /* columns that have a base: what is kept is how far they are above it */
	VIEW_BLOCK_SHIFTED = 1, /* the column whose low bits are left out where all are zero */
	VIEW_BLOCK_COLUMNS = 4
};

struct view_packed {
	uint64_t place; /* of the columns, one behind the other, each of `bits` words */
	uint64_t base[VIEW_BLOCK_BASES];
	uint8_t bits[VIEW_BLOCK_COLUMNS]; /* of a number */
	uint8_t shift;
};

/* Packs some columns of VIEW_BLOCK numbers each. False where there is no room: store->error. */
bool view_pack(struct view_packed *packed, struct view_store *store,
               uint64_t numbers[static VIEW_BLOCK_COLUMNS][VIEW_BLOCK], unsigned columns);

/* Returns a number of a column. */
static inline uint64_t view_packed_at(const struct view_packed *packed, const struct view_store *store, unsigned column,
                                      unsigned i)
{
	enum { WORD = 64 };
	const uint64_t *words = (const uint64_t *)(const void *)(store->bytes + packed->place);
	const unsigned bits = packed->bits[column], bit = bits * i;
	const uint64_t base = column < VIEW_BLOCK_BASES ? packed->base[column] : 0;
	if (bits == 0)
		return base;
	for (unsigned k = 0; k < column; k++)
		words += packed->bits[k];
	words += bit / WORD;
	uint64_t number = words[0] >> bit % WORD;
	if (bit % WORD + bits > WORD)
		number |= words[1] << (WORD - bit % WORD);
	number &= UINT64_MAX >> (WORD - bits);
	return base + (column == VIEW_BLOCK_SHIFTED ? number << packed->shift : number);
}

#endif
