/* budget.h - growing arrays and maps under one memory limit. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

#include "base/memory/map.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* What memory is for. Something is kept for each, so that deep stacks leave room for rows, and rows for what is counted
 * in them: an eighth of the limit, an eighth, and a quarter. The rest is for whoever needs it first: many threads with
 * little each have more than half of it. */
enum tw_budget_use { TW_FOR_STACKS, TW_FOR_ROWS, TW_FOR_COUNTS, TW_BUDGET_USES };

/* A limit that several threads may share. */
struct tw_budget {
	size_t limit;
	atomic_size_t used[TW_BUDGET_USES];
	atomic_bool failed; /* the system did not have what the limit has: something is missing */
};

/* Sets the limit; nothing is in use (any more). Several parts that share a budget get half of it: arrays that double
 * may take twice as much for the whole as for its parts, and what the parts have room for the whole must have room
 * for. */
static inline void tw_budget_reset(struct tw_budget *budget, size_t limit, unsigned parts)
{
	budget->limit = parts > 1 ? limit / 2 : limit;
	for (int use = 0; use < TW_BUDGET_USES; use++)
		atomic_store(&budget->used[use], 0);
	atomic_store(&budget->failed, false);
}

/* Tells that there was no memory for something that the limit has room for. Always false. */
static inline bool tw_budget_fail(struct tw_budget *budget)
{
	atomic_store(&budget->failed, true);
	return false;
}

/* Returns 0, or TW_ERR_MEMORY where there was no memory since the limit was set. What the limit has no room for is no
 * failure: it is counted elsewhere. */
int tw_budget_status(const struct tw_budget *budget);

/* The most that a use may take, where the others take no more than what is kept for them. */
size_t tw_budget_most(const struct tw_budget *budget, enum tw_budget_use use);

/* Takes bytes from the budget; false when they are not there. */
bool tw_budget_take(struct tw_budget *budget, enum tw_budget_use use, size_t bytes);

/* As tw_grow(); false, and the array as it was, when the limit or the system does not have the memory. It doubles as
 * long as the limit has room for that, and then grows by less, so that it does not end at half of what is there. */
bool tw_budget_grow(struct tw_budget *budget, enum tw_budget_use use, void *array, size_t *room, size_t need,
                    size_t size);

/* As tw_extend(), in the same way. */
bool tw_budget_extend(struct tw_budget *budget, enum tw_budget_use use, void *array, size_t *room, size_t need,
                      size_t size);

/* As tw_map_add(). */
bool tw_budget_map_add(struct tw_budget *budget, enum tw_budget_use use, struct tw_map *map, uint64_t key,
                       uint32_t value);

/* How many items an array of the owner's has, and which number the item of a key has. All zero to begin. */
struct tw_keyed {
	struct tw_map map;
	size_t count, room;
};

/* Adds an item of zeroes to the array at *array, under a key. `beside`: bytes that the item will take elsewhere.
 * Returns its number, or UINT32_MAX when there is no room. */
uint32_t tw_budget_add_item(struct tw_budget *budget, enum tw_budget_use use, struct tw_keyed *keyed, uint64_t key,
                            void *array, size_t size, size_t beside);

/* The item of a key, or else a new one. */
static inline uint32_t tw_budget_item(struct tw_budget *budget, enum tw_budget_use use, struct tw_keyed *keyed,
                                      uint64_t key, void *array, size_t size, size_t beside)
{
	uint32_t number;
	if (tw_map_find(&keyed->map, key, &number))
		return number;
	return tw_budget_add_item(budget, use, keyed, key, array, size, beside);
}

/* Whether so many bytes more are there; or for each use so many. */
bool tw_budget_fits(const struct tw_budget *budget, enum tw_budget_use use, size_t bytes);
bool tw_budget_fits_all(const struct tw_budget *budget, const size_t bytes[TW_BUDGET_USES]);

/* Gives back what was taken. */
static inline void tw_budget_give(struct tw_budget *budget, enum tw_budget_use use, size_t bytes)
{
	atomic_fetch_sub(&budget->used[use], bytes);
}

/* What the slots of a map have taken. */
static inline size_t tw_budget_map_size(const struct tw_map *map)
{
	return map->slots ? (map->mask + 1) * sizeof *map->slots : 0;
}

#endif
