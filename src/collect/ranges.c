/* ranges.c - a set of addresses, as ranges in their order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/ranges.h"

#include "base/memory/order.h"

#include <stdlib.h>
#include <string.h>

/* The first range that ends behind an address. */
static size_t find(const struct ranges *ranges, uint64_t address)
{
	return tw_count_up_to(ranges->all, ranges->count, TW_KEY(struct address_range, end), address);
}

bool ranges_hold(const struct ranges *ranges, uint64_t address)
{
	size_t i = find(ranges, address);
	return i < ranges->count && ranges->all[i].start <= address;
}

static bool make_room(struct ranges *ranges)
{
	if (ranges->count < ranges->room)
		return true;
	size_t room = ranges->room ? 2 * ranges->room : 64;
	struct address_range *all = room <= RANGES_MOST ? realloc(ranges->all, room * sizeof *all) : NULL;
	if (!all)
		return false;
	ranges->all = all;
	ranges->room = room;
	return true;
}

bool ranges_add(struct ranges *ranges, uint64_t start, uint64_t end)
{
	size_t first = find(ranges, start), behind = first;
	if (start >= end)
		return true;
	for (; behind < ranges->count && ranges->all[behind].start < end; behind++) {
		start = ranges->all[behind].start < start ? ranges->all[behind].start : start;
		end = ranges->all[behind].end > end ? ranges->all[behind].end : end;
	}
	if (first == behind && !make_room(ranges))
		return false;
	struct address_range *to = ranges->all + first;
	memmove(to + 1, ranges->all + behind, (ranges->count - behind) * sizeof *to);
	*to = (struct address_range){start, end};
	ranges->count = ranges->count - (behind - first) + 1;
	return true;
}
