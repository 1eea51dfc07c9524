/* budget.c - growing arrays and maps under one memory limit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/budget.h"

#include "base/memory/memory.h"

#include <trackway/status.h>

/* What is kept for each use, in eighths of the limit. */
static const size_t kept[] = {[TW_FOR_STACKS] = 1, [TW_FOR_ROWS] = 1, [TW_FOR_COUNTS] = 2};

static size_t kept_for(const struct tw_budget *budget, unsigned use)
{
	return budget->limit / 8 * kept[use];
}

size_t tw_budget_most(const struct tw_budget *budget, enum tw_budget_use use)
{
	size_t most = budget->limit;
	for (unsigned other = 0; other < TW_BUDGET_USES; other++)
		most -= other == use ? 0 : kept_for(budget, other);
	return most;
}

/* Takes from what is left of the limit what a use has, and more, or else what is kept for it. */
static bool leave(const struct tw_budget *budget, unsigned use, size_t more, size_t *left)
{
	size_t used = atomic_load(&budget->used[use]), least = kept_for(budget, use);
	if (used > *left || more > *left - used)
		return false;
	size_t taken = used + more > least ? used + more : least;
	bool fits = taken <= *left;
	*left -= fits ? taken : 0;
	return fits;
}

bool tw_budget_fits_all(const struct tw_budget *budget, const size_t bytes[TW_BUDGET_USES])
{
	size_t left = budget->limit;
	bool fits = true;
	for (unsigned use = 0; use < TW_BUDGET_USES; use++)
		fits = fits && leave(budget, use, bytes[use], &left);
	return fits;
}

bool tw_budget_fits(const struct tw_budget *budget, enum tw_budget_use use, size_t bytes)
{
	size_t more[TW_BUDGET_USES] = {0};
	more[use] = bytes;
	return tw_budget_fits_all(budget, more);
}

int tw_budget_status(const struct tw_budget *budget)
{
	return atomic_load(&budget->failed) ? TW_ERR_MEMORY : 0;
}

/* Several threads may try at once, and each sees what the others try to take: then all may fail, but never do they have
 * too much together. */
bool tw_budget_take(struct tw_budget *budget, enum tw_budget_use use, size_t bytes)
{
	static const size_t nothing[TW_BUDGET_USES];
	if (bytes > budget->limit)
		return false;
	atomic_fetch_add(&budget->used[use], bytes);
	if (tw_budget_fits_all(budget, nothing))
		return true;
	tw_budget_give(budget, use, bytes);
	return false;
}

/* How many elements an array gets whose room is used up, all paid for; 0: there is no room. It doubles, or grows by a
 * part of itself, and leaves to others three quarters of what is there then. */
static size_t take_room(struct tw_budget *budget, enum tw_budget_use use, size_t room, size_t need, size_t size)
{
	enum { SMALLEST = 5 }; /* a 32nd */
	for (unsigned part = 0; part <= SMALLEST; part++) {
		size_t more = room >> part, shy = part && part < SMALLEST ? 4 : 1;
		more = more < need - room ? need - room : more;
		if (more <= budget->limit / size / shy && tw_budget_fits(budget, use, more * size * shy) &&
		    tw_budget_take(budget, use, more * size))
			return room + more;
	}
	return 0;
}

bool tw_budget_extend(struct tw_budget *budget, enum tw_budget_use use, void *array, size_t *room, size_t need,
                      size_t size)
{
	if (need <= *room)
		return true;
	const size_t before = *room, fresh = take_room(budget, use, before, need, size);
	if (!fresh)
		return false;
	if (tw_resize(array, room, fresh, size))
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
