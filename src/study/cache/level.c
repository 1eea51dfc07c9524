/* level.c - a set-associative cache. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/cache/simulate.h"

#include <stdlib.h>

/* Numbers of lines have no such bits: a line has at least 8 bytes. */
const uint64_t cache_marks[CACHE_PREFETCHERS] = {UINT64_C(1) << 62, UINT64_C(1) << 63};
static const uint64_t PREFETCHED = UINT64_C(3) << 62;

int cache_level_init(struct cache_level *level, const struct tw_study_cache *cache, struct tw_budget *budget)
{
	size_t lines = (size_t)(cache->size / cache->line);
	if (!tw_budget_take(budget, TW_FOR_STACKS, lines * sizeof(uint64_t)))
		return TW_ERR_LIMIT;
	*level = (struct cache_level){.lines = calloc(lines, sizeof(uint64_t)),
	                              .sets = lines / cache->ways,
	                              .ways = cache->ways,
	                              .shift = (uint32_t)__builtin_ctz(cache->line),
	                              .policy = cache->policy,
	                              .random = 1};
	return level->lines ? 0 : TW_ERR_MEMORY;
}

/* Puts a line in front of the ways before number `way`. */
static void put_first(uint64_t *set, uint32_t way, uint64_t line)
{
	for (; way; way--)
		set[way] = set[way - 1];
	set[0] = line;
}

/* Xorshift: the same each time. */
static uint64_t next_random(struct cache_level *level)
{
	level->random ^= level->random << 13;
	level->random ^= level->random >> 7;
	level->random ^= level->random << 17;
	return level->random;
}

static void replace(struct cache_level *level, uint64_t *set, uint64_t line)
{
	if (level->policy != TW_STUDY_RANDOM || !set[level->ways - 1])
		put_first(set, level->ways - 1, line);
	else
		set[(next_random(level) >> 32) * level->ways >> 32] = line;
}

static uint64_t *set_of(const struct cache_level *level, uint64_t number)
{
	return level->lines + (number & (level->sets - 1)) * level->ways;
}

bool cache_look(struct cache_level *level, uint64_t address, uint64_t mark, uint64_t *had)
{
	uint64_t number = address >> level->shift, line = number + 1;
	uint64_t *set = set_of(level, number);
	for (uint32_t way = 0; way < level->ways; way++) {
		if ((set[way] & ~PREFETCHED) != line)
			continue;
		*had = set[way] & PREFETCHED;
		set[way] = line;
		if (level->policy == TW_STUDY_LRU && way)
			put_first(set, way, line);
		return true;
	}
	*had = 0;
	replace(level, set, line | mark);
	return false;
}

bool cache_has(const struct cache_level *level, uint64_t address)
{
	uint64_t number = address >> level->shift;
	const uint64_t *set = set_of(level, number);
	for (uint32_t way = 0; way < level->ways; way++)
		if ((set[way] & ~PREFETCHED) == number + 1)
			return true;
	return false;
}

bool cache_drop(struct cache_level *level, uint64_t address)
{
	uint64_t number = address >> level->shift;
	uint64_t *set = set_of(level, number);
	for (uint32_t way = 0; way < level->ways; way++) {
		if ((set[way] & ~PREFETCHED) != number + 1)
			continue;
		for (; way + 1 < level->ways; way++)
			set[way] = set[way + 1];
		set[way] = 0;
		return true;
	}
	return false;
}
