/* pack.c - blocks of items, in as few bits as the numbers of each column need. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/pack.h"

enum { WORD = 64 };

static uint64_t least_of(const uint64_t numbers[static VIEW_BLOCK])
{
	uint64_t least = numbers[0];
	for (unsigned i = 1; i < VIEW_BLOCK; i++)
		least = numbers[i] < least ? numbers[i] : least;
	return least;
}

/* Takes the base away, and the low bits that all have as zero. */
static void reduce(struct view_packed *packed, uint64_t numbers[static VIEW_BLOCK], unsigned column)
{
	const uint64_t base = column < VIEW_BLOCK_BASES ? least_of(numbers) : 0;
	uint64_t all = 0;
	for (unsigned i = 0; i < VIEW_BLOCK; i++)
		all |= numbers[i] -= base;
	const unsigned shift = column == VIEW_BLOCK_SHIFTED && all ? (unsigned)__builtin_ctzll(all) : 0;
	for (unsigned i = 0; i < VIEW_BLOCK && shift; i++)
		numbers[i] >>= shift;
	packed->bits[column] = all ? (uint8_t)(WORD - __builtin_clzll(all) - (int)shift) : 0;
	if (column < VIEW_BLOCK_BASES)
		packed->base[column] = base;
	if (column == VIEW_BLOCK_SHIFTED)
		packed->shift = (uint8_t)shift;
}

static uint64_t *put(uint64_t *words, const uint64_t numbers[static VIEW_BLOCK], unsigned bits)
{
	for (unsigned i = 0, bit = 0; i < VIEW_BLOCK; i++, bit += bits) {
		words[bit / WORD] |= numbers[i] << bit % WORD;
		if (bit % WORD + bits > WORD)
			words[bit / WORD + 1] |= numbers[i] >> (WORD - bit % WORD);
	}
	return words + bits;
}

bool view_pack(struct view_packed *packed, struct view_store *store,
               uint64_t numbers[static VIEW_BLOCK_COLUMNS][VIEW_BLOCK], unsigned columns)
{
	uint64_t size = 0;
	for (unsigned k = 0; k < columns; k++) {
		reduce(packed, numbers[k], k);
		size += packed->bits[k] * sizeof(uint64_t);
	}
	packed->place = view_store_take(store, size);
	if (packed->place == VIEW_NOWHERE)
		return false;
	uint64_t *words = (uint64_t *)(void *)(store->bytes + packed->place);
	for (unsigned k = 0; k < columns; k++)
		if (packed->bits[k])
			words = put(words, numbers[k], packed->bits[k]);
	return true;
}
