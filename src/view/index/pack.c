/* pack.c - blocks of numbers, in as few bits as those of each column need. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/pack.h"

#include "base/bytes/bytes.h"

#include <string.h>

enum { WORD = 64 };

/* Of 0 as of 1: that takes no jump. */
static unsigned width_of(uint64_t number)
{
	return WORD - (unsigned)__builtin_clzll(number | 1);
}

static uint64_t mask_of(unsigned bits)
{
	return bits ? UINT64_MAX >> (WORD - bits) : 0;
}

static unsigned words_of(unsigned bits)
{
	return (bits + WORD - 1) / WORD;
}

/* ---- Packing. ---- */

/* Chooses how many bits all numbers have, and how many more some: what takes the least words, which it returns. */
static unsigned choose(const uint64_t numbers[static VIEW_BLOCK], uint8_t *bits, uint8_t *more)
{
	uint8_t counts[2][WORD + 1]; /* by width, of the even and the odd: one need not wait for the other */
	unsigned zeroes = 0;
	uint64_t all = 0;
	memset(counts, 0, sizeof counts);
	for (unsigned i = 0; i < VIEW_BLOCK; i += 2) {
		counts[0][width_of(numbers[i])]++;
		counts[1][width_of(numbers[i + 1])]++;
		zeroes += (numbers[i] == 0) + (unsigned)(numbers[i + 1] == 0);
		all |= numbers[i] | numbers[i + 1];
	}
	counts[0][1] = (uint8_t)(counts[0][1] - zeroes); /* of both together, modulo 256 */
	const unsigned widest = all ? width_of(all) : 0;
	unsigned least = widest, wide = 0;
	*bits = (uint8_t)widest;
	*more = 0;
	for (unsigned width = widest; width-- > 0;) {
		wide += (uint8_t)(counts[0][width + 1] + counts[1][width + 1]);
		const unsigned words = width + 1 + words_of(wide * (widest - width));
		if (words >= least)
			continue;
		least = words;
		*bits = (uint8_t)width;
		*more = (uint8_t)(widest - width);
	}
	return least;
}

/* The same, where few are wider than others. */
static unsigned choose_all(const uint64_t numbers[static VIEW_BLOCK], uint8_t *bits, uint8_t *more)
{
	uint64_t all = 0;
	for (unsigned i = 0; i < VIEW_BLOCK; i++)
		all |= numbers[i];
	*more = 0;
	*bits = (uint8_t)(all ? width_of(all) : 0);
	return *bits;
}

/* Numbers of a width, one behind the other. What is begun is always written: a jump could not be predicted. */
struct packer {
	uint64_t *words;
	uint64_t word;
	unsigned used; /* bits of it */
};

static inline void put(struct packer *packer, uint64_t number, unsigned bits)
{
	const unsigned used = packer->used + bits, left = used % WORD, full = used / WORD;
	const uint64_t word = packer->word | number << packer->used, rest = number >> 1 >> (bits - left - 1) % WORD;
	*packer->words = word;
	packer->words += full;
	packer->used = left;
	packer->word = full ? rest : word;
}

static void put_low(struct packer *packer, const uint64_t numbers[static VIEW_BLOCK], unsigned bits)
{
	struct packer at = *packer;
	const uint64_t mask = mask_of(bits);
	for (unsigned i = 0; i < VIEW_BLOCK && bits; i++)
		put(&at, numbers[i] & mask, bits);
	*packer = at;
}

static void put_high(struct packer *packer, const uint64_t numbers[static VIEW_BLOCK], unsigned bits, unsigned more)
{
	uint64_t *const which = packer->words++, wide = 0;
	for (unsigned i = 0; i < VIEW_BLOCK; i++) {
		const uint64_t high = numbers[i] >> bits;
		wide |= (uint64_t)(high != 0) << i;
		if (high)
			put(packer, high, more);
	}
	*which = wide;
	if (packer->used)
		*packer->words++ = packer->word;
	packer->word = packer->used = 0;
}

bool view_pack(struct view_packed *packed, struct view_store *store,
               uint64_t numbers[static VIEW_BLOCK_COLUMNS][VIEW_BLOCK], unsigned columns)
{
	uint64_t size = 0;
	for (unsigned k = 0; k < columns; k++)
		size += (k ? choose : choose_all)(numbers[k], &packed->bits[k], &packed->more[k]) * sizeof(uint64_t);
	const uint64_t place = view_store_take(store, size);
	if (place == VIEW_NOWHERE)
		return false;
	packed->place = place & (VIEW_ROOM_MOST - 1);
	struct packer packer = {.words = (uint64_t *)(void *)(store->bytes + place)};
	for (unsigned k = 0; k < columns; k++) {
		put_low(&packer, numbers[k], packed->bits[k]);
		if (packed->more[k])
			put_high(&packer, numbers[k], packed->bits[k], packed->more[k]);
	}
	return true;
}

/* ---- Looking. ---- */

static const uint64_t *column_of(const struct view_packed *packed, const struct view_store *store, unsigned column)
{
	const uint64_t *words = (const uint64_t *)(const void *)(store->bytes + packed->place);
	for (unsigned k = 0; k < column; k++) {
		words += packed->bits[k];
		if (packed->more[k])
			words += 1 + words_of((unsigned)__builtin_popcountll(*words) * packed->more[k]);
	}
	return words;
}

/* Number i of those of a width, which is not 0. The rest of one that is in one word comes from that word once more, and
 * is masked: a jump could not be predicted. */
static inline uint64_t number_of(const uint64_t *words, unsigned bits, unsigned i)
{
	const unsigned bit = bits * i, in = bit % WORD;
	const uint64_t low = words[bit / WORD] >> in, rest = words[(bit + bits - 1) / WORD] << 1 << (WORD - 1 - in);
	return (low | rest) & UINT64_MAX >> (WORD - bits);
}

/* Numbers of a width at bytes: 8 of them take as many bytes as one has bits, and so the same shifts come again. Reads
 * up to 7 bytes behind them. */
static void take_low(const uint64_t *words, unsigned bits, uint64_t numbers[static VIEW_BLOCK])
{
	enum { AT_ONCE = 8, BITS_MOST = WORD - AT_ONCE + 1 };
	if (bits == 0 || bits > BITS_MOST || TW_HOST_IS_BIG) {
		for (unsigned i = 0; i < VIEW_BLOCK; i++)
			numbers[i] = bits ? number_of(words, bits, i) : 0;
		return;
	}
	const uint64_t mask = mask_of(bits);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		const uint8_t *bytes = (const uint8_t *)words + bits * i / AT_ONCE;
		const unsigned shift = bits * i % AT_ONCE;
		for (unsigned k = 0; k < VIEW_BLOCK; k += AT_ONCE) {
			uint64_t word;
			memcpy(&word, bytes, sizeof word);
			numbers[k + i] = word >> shift & mask;
			bytes += bits;
		}
	}
}

void view_unpack(const struct view_packed *packed, const struct view_store *store, unsigned column,
                 uint64_t numbers[static VIEW_BLOCK])
{
	const uint64_t *words = column_of(packed, store, column);
	const unsigned bits = packed->bits[column], more = packed->more[column];
	take_low(words, bits, numbers);
	words += bits;
	unsigned k = 0;
	for (uint64_t wide = more ? *words++ : 0; wide; wide &= wide - 1)
		numbers[__builtin_ctzll(wide)] |= number_of(words, more, k++) << bits;
}

void view_unpack_part(const struct view_packed *packed, const struct view_store *store, unsigned column, unsigned from,
                      unsigned to, uint64_t *numbers)
{
	const uint64_t *words = column_of(packed, store, column);
	const unsigned bits = packed->bits[column], more = packed->more[column];
	for (unsigned i = from; i < to; i++)
		numbers[i - from] = bits ? number_of(words, bits, i) : 0;
	if (more == 0)
		return;
	words += bits;
	const uint64_t all = *words++;
	uint64_t wide = all & mask_of(to) & ~mask_of(from);
	unsigned k = wide ? (unsigned)__builtin_popcountll(all & mask_of(from)) : 0;
	for (; wide; wide &= wide - 1)
		numbers[(unsigned)__builtin_ctzll(wide) - from] |= number_of(words, more, k++) << bits;
}

uint64_t view_packed_at(const struct view_packed *packed, const struct view_store *store, unsigned column, unsigned i)
{
	const unsigned at = i % VIEW_BLOCK;
	uint64_t number = 0;
	view_unpack_part(packed, store, column, at, at + 1, &number);
	return number;
}
