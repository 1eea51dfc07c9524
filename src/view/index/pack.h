/* pack.h - blocks of numbers, in as few bits as those of each column need. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_PACK_H
#define VIEW_INDEX_PACK_H

#include "view/index/store.h"

enum {
	VIEW_BLOCK = 64, /* numbers of a column */
	VIEW_BLOCK_COLUMNS = 4
};

/* Each column is `bits` words, the low bits of its numbers. Where some have more bits than that, a word follows that
 * says which, and their high bits, of `more` each, in whole words. */
struct view_packed {
	uint64_t place : 40; /* of the columns, one behind the other */
	uint64_t shift : 8;  /* the owner's, as are the next */
	uint64_t time_shift : 8;
	uint64_t longest : 8;
	uint8_t bits[VIEW_BLOCK_COLUMNS];
	uint8_t more[VIEW_BLOCK_COLUMNS]; /* 0: all numbers have no more than `bits` */
};

/* Packs some columns of VIEW_BLOCK numbers each; the first has all its bits in `bits`. False where there is no room:
 * store->error. */
bool view_pack(struct view_packed *packed, struct view_store *store,
               uint64_t numbers[static VIEW_BLOCK_COLUMNS][VIEW_BLOCK], unsigned columns);

/* Takes all numbers of a column. */
void view_unpack(const struct view_packed *packed, const struct view_store *store, unsigned column,
                 uint64_t numbers[static VIEW_BLOCK]);

/* Takes those from one on to the one before another. */
void view_unpack_part(const struct view_packed *packed, const struct view_store *store, unsigned column, unsigned from,
                      unsigned to, uint64_t *numbers);

/* Returns a number of a column. */
uint64_t view_packed_at(const struct view_packed *packed, const struct view_store *store, unsigned column, unsigned i);

#endif
