/* budget.c - growing arrays and maps under one memory limit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/budget.h"

#include "base/memory/memory.h"

#include <trackway/status.h>

static const size_t quarters[] = {[TW_FOR_STACKS] = 1, [TW_FOR_ROWS] = 2, [TW_FOR_COUNTS] = 1};

size_t tw_budget_most(const struct tw_budget *budget, enum tw_budget_use use)
{
	return budget->limit / 4 * quarters[use];
}

int tw_budget_status(const struct tw_budget *budget)
{
	return atomic_load(&budget->failed) ? TW_ERR_MEMORY : 0;
}

bool tw_budget_take(struct tw_budget *budget, enum tw_budget_use use, size_t bytes)
{
	size_t most = tw_budget_most(budget, use);
	size_t used = atomic_load(&budget->used[use]);
	do {
		if (used > most || bytes > most - used)
			return false;
	} while (!atomic_compare_exchange_weak(&budget->used[use], &used, used + bytes));
	return true;
}

bool tw_budget_extend(struct tw_budget *budget, enum tw_budget_use use, void *array, size_t *room, size_t need,
                      size_t size)
{
	if (need <= *room)
		return true;
	size_t fresh = *room > SIZE_MAX / 2 ? SIZE_MAX : *room * 2; /* then tw_extend() fails */
	fresh = fresh < 8 ? 16 : fresh;
	fresh = fresh < need ? need : fresh;
	if (fresh > SIZE_MAX / size || !tw_budget_take(budget, use, (fresh - *room) * size))
		return false;
	size_t before = *room;
	if (tw_extend(array, room, fresh, size))
		return true;
	tw_budget_give(budget, use, (fresh - before) * size);
	return tw_budget_fail(budget);
}

bool tw_budget_grow(struct tw_budget *budget, enum tw_budget_use use, void *array, size_t *room, size_t need,
                    size_t size)
{
	const size_t before = *room;
	if (!tw_budget_extend(budget, use, array, room, need, size))
		return false;
	tw_clear(array, before, *room, size);
	return true;
}

bool tw_budget_map_add(struct tw_budget *budget, enum tw_budget_use use, struct tw_map *map, uint64_t key,
                       uint32_t value)
{
	size_t before = tw_budget_map_size(map);
	bool full = map->count * 4 >= before / sizeof *map->slots * 3; /* tw_map_add() doubles then */
	size_t more = before ? before : 16 * sizeof *map->slots;
	if (full && !tw_budget_take(budget, use, more))
		return false;
	if (tw_map_add(map, key, value))
		return true;
	if (full)
		tw_budget_give(budget, use, more);
	return tw_budget_fail(budget);
}

uint32_t tw_budget_add_item(struct tw_budget *budget, enum tw_budget_use use, struct tw_keyed *keyed, uint64_t key,
                            void *array, size_t size, size_t beside)
{
	if (keyed->count >= UINT32_MAX - 1 || !tw_budget_take(budget, use, beside) ||
	    !tw_budget_grow(budget, use, array, &keyed->room, keyed->count + 1, size) ||
	    !tw_budget_map_add(budget, use, &keyed->map, key, (uint32_t)keyed->count))
		return UINT32_MAX;
	return (uint32_t)keyed->count++;
}
