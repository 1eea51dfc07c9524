/* ranges.h - a set of addresses, as ranges in their order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_RANGES_H
#define COLLECT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANGES_MOST = 1 << 14 };

struct address_range {
	uint64_t start, end;
};

/* All zero to begin. */
struct ranges {
	struct address_range *all;
	size_t count, room;
};

bool ranges_hold(const struct ranges *ranges, uint64_t address);

/* Adds a range, which becomes one with those that it overlaps. False where there are too many, or no memory. */
bool ranges_add(struct ranges *ranges, uint64_t start, uint64_t end);

#endif
