/* elf_places.c - the addresses of a program that are to get names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "symbols/elf.h"

struct tw_place *tw_places_find(const struct tw_places *places, uint64_t address)
{
	size_t first = tw_count_below(places->items, places->count, TW_KEY(struct tw_place, address), address);
	return first < places->count && places->items[first].address == address ? &places->items[first] : NULL;
}
