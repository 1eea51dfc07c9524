/* cache.c - a hierarchy of set-associative caches, simulated.
 *
 * What misses in one level goes on to the next, and is kept in all that it missed in, whether it is loaded or stored.
 * An access that goes over lines of the first level is one for each of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "study/study.h"

#include <stdlib.h>

/* One level. A set is its ways, the one that goes last first; lines are kept as their numbers plus 1. */
struct level {
	uint64_t *lines;
	uint64_t sets; /* a power of 2 */
	uint32_t ways, shift;
	enum tw_study_policy policy;
	uint64_t random;
};

enum { COUNTS = 1 + TW_STUDY_LEVELS }; /* accesses, then misses of each level */

struct counts {
	uint64_t of[COUNTS];
};

/* What happens in an interval of a thread. */
struct cache_interval {
	uint64_t thread, start; /* instructions of the thread before */
	uint64_t instructions;
	struct counts counts;
};

struct caches {
	struct level levels[TW_STUDY_LEVELS];
	unsigned count;
	struct counts *sites; /* by place */
	size_t room;
	struct counts loads, stores;
	struct cache_interval *intervals;
	size_t interval_count, interval_room;
	struct counts before; /* this interval */
	uint64_t end;         /* where the interval ends: instructions */
	struct tw_study_column function_columns[TW_STUDY_LEVELS + 5], site_columns[TW_STUDY_LEVELS + 5];
	struct tw_study_column interval_columns[TW_STUDY_LEVELS + 4];
};

static struct caches *caches_of(const struct study_part *part)
{
	return part->state;
}

static int begin(struct study_part *part)
{
	const struct tw_study_options *options = part->options;
	struct caches *caches = part->state = calloc(1, sizeof *caches);
	if (!caches)
		return TW_ERR_MEMORY;
	caches->count = options->level_count;
	caches->end = options->interval;
	for (unsigned i = 0; i < caches->count; i++) {
		const struct tw_study_cache *cache = &options->levels[i];
		size_t lines = (size_t)(cache->size / cache->line);
		if (!tw_budget_take(&part->budget, TW_FOR_STACKS, lines * sizeof(uint64_t)))
			return TW_ERR_LIMIT;
		caches->levels[i] = (struct level){.lines = calloc(lines, sizeof(uint64_t)),
		                                   .sets = lines / cache->ways,
		                                   .ways = cache->ways,
		                                   .shift = (uint32_t)__builtin_ctz(cache->line),
		                                   .policy = cache->policy,
		                                   .random = 1};
		if (!caches->levels[i].lines)
			return TW_ERR_MEMORY;
	}
	return 0;
}

static void free_caches(struct study_part *part)
{
	struct caches *caches = caches_of(part);
	if (!caches)
		return;
	for (unsigned i = 0; i < caches->count; i++)
		free(caches->levels[i].lines);
	free(caches->sites);
	free(caches->intervals);
	free(caches);
}

/* ---- Simulating. ---- */

/* Puts a line in front of the ways before number `way`. */
static void put_first(uint64_t *set, uint32_t way, uint64_t line)
{
	for (; way; way--)
		set[way] = set[way - 1];
	set[0] = line;
}

/* Xorshift: the same each time. */
static uint64_t next_random(struct level *level)
{
	level->random ^= level->random << 13;
	level->random ^= level->random >> 7;
	level->random ^= level->random << 17;
	return level->random;
}

static void replace(struct level *level, uint64_t *set, uint64_t line)
{
	if (level->policy != TW_STUDY_RANDOM || !set[level->ways - 1])
		put_first(set, level->ways - 1, line);
	else
		set[(next_random(level) >> 32) * level->ways >> 32] = line;
}

/* Returns whether it hits; the line is there afterwards. */
static bool look(struct level *level, uint64_t address)
{
	uint64_t number = address >> level->shift, line = number + 1;
	uint64_t *set = level->lines + (number & (level->sets - 1)) * level->ways;
	for (uint32_t way = 0; way < level->ways; way++) {
		if (set[way] != line)
			continue;
		if (level->policy == TW_STUDY_LRU && way)
			put_first(set, way, line);
		return true;
	}
	replace(level, set, line);
	return false;
}

/* Returns how many levels miss. */
static unsigned look_all(struct caches *caches, uint64_t address)
{
	unsigned missed = 0;
	while (missed < caches->count && !look(&caches->levels[missed], address))
		missed++;
	return missed;
}

static void touch(struct caches *caches, const struct study_access *access, uint64_t space)
{
	uint64_t line = UINT64_C(1) << caches->levels[0].shift, size = access->size & STUDY_SIZE;
	uint64_t address = study_in_space(access->address, space);
	uint64_t first = address & ~(line - 1), last = (address + size - 1) & ~(line - 1);
	struct counts *site = &caches->sites[access->site];
	struct counts *kind = access->size & STUDY_STORE ? &caches->stores : &caches->loads;
	for (uint64_t at = first;; at += line) {
		unsigned missed = look_all(caches, at);
		for (unsigned i = 0; i <= missed; i++) {
			site->of[i]++;
			kind->of[i]++;
		}
		if (at == last)
			return;
	}
}

static bool reserve(struct study_part *part)
{
	struct caches *caches = caches_of(part);
	size_t count = part->sites.count;
	return count <= caches->room || tw_grow(&caches->sites, &caches->room, count, sizeof *caches->sites);
}

static void add(struct counts *to, const struct counts *from)
{
	for (unsigned i = 0; i < COUNTS; i++)
		to->of[i] += from->of[i];
}

/* ---- Intervals. ---- */

static void add_interval(struct study_part *part, const struct cache_interval *interval)
{
	struct caches *caches = caches_of(part);
	if (tw_budget_grow(&part->budget, TW_FOR_COUNTS, &caches->intervals, &caches->interval_room,
	                   caches->interval_count + 1, sizeof *caches->intervals))
		caches->intervals[caches->interval_count++] = *interval;
	else
		part->left_out++;
}

/* Counts are told from the beginning of the thread: an interval has what came since the one before. instructions: those
 * before its end. */
static void close_interval(struct study_part *part, uint64_t instructions)
{
	struct caches *caches = caches_of(part);
	uint64_t start = caches->end - part->options->interval;
	struct cache_interval interval = {.thread = part->thread,
	                                  .start = start,
	                                  .instructions = instructions - start,
	                                  .counts = caches->loads};
	add(&interval.counts, &caches->stores);
	for (unsigned i = 0; i < COUNTS; i++) {
		uint64_t so_far = interval.counts.of[i];
		interval.counts.of[i] -= caches->before.of[i];
		caches->before.of[i] = so_far;
	}
	add_interval(part, &interval);
	caches->end += part->options->interval;
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	struct caches *caches = caches_of(part);
	uint64_t space = study_space(part->spaces, batch->tables);
	if (!reserve(part))
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < batch->access_count; i++) {
		while (batch->first + batch->accesses[i].step >= caches->end)
			close_interval(part, caches->end);
		touch(caches, &batch->accesses[i], space);
	}
	return 0;
}

static int end(struct study_part *part)
{
	while (caches_of(part)->end < part->totals.instructions)
		close_interval(part, caches_of(part)->end);
	if (part->totals.instructions)
		close_interval(part, part->totals.instructions);
	return 0;
}

static int merge(struct study_part *all, struct study_part *part, const uint32_t *map)
{
	struct caches *to = caches_of(all);
	const struct caches *from = caches_of(part);
	if (!reserve(all))
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < part->sites.count && i < from->room; i++)
		add(&to->sites[map[i]], &from->sites[i]);
	add(&to->loads, &from->loads);
	add(&to->stores, &from->stores);
	for (size_t i = 0; i < from->interval_count; i++)
		add_interval(all, &from->intervals[i]);
	return 0;
}

/* ---- Tables. ---- */

static const char *const policy_names[] = {"lru", "fifo", "random"};

static const struct tw_study_column level_columns[] = {
    {"level", "LEVEL", TW_STUDY_ID},
    {"bytes", "BYTES", TW_STUDY_COUNT},
    {"ways", "WAYS", TW_STUDY_COUNT},
    {"line", "LINE", TW_STUDY_COUNT},
    {"policy", "POLICY", TW_STUDY_TEXT},
    {"loads", "LOADS", TW_STUDY_COUNT},
    {"load_misses", "MISSES", TW_STUDY_COUNT},
    {"stores", "STORES", TW_STUDY_COUNT},
    {"store_misses", "MISSES", TW_STUDY_COUNT},
    {"miss_share", "MISS SHARE", TW_STUDY_SHARE},
};

static void put_levels(const struct study_part *all, struct study_tables *tables)
{
	const struct caches *caches = caches_of(all);
	study_table_begin(tables, "level", "Levels", level_columns, sizeof level_columns / sizeof *level_columns,
	                  false);
	for (unsigned i = 0; i < caches->count; i++) {
		const struct tw_study_cache *cache = &all->options->levels[i];
		const uint64_t *loads = &caches->loads.of[i], *stores = &caches->stores.of[i];
		study_put_count(tables, i + 1);
		study_put_count(tables, cache->size);
		study_put_count(tables, cache->ways);
		study_put_count(tables, cache->line);
		study_put_text(tables, policy_names[cache->policy]);
		study_put_count(tables, loads[0]);
		study_put_count(tables, loads[1]);
		study_put_count(tables, stores[0]);
		study_put_count(tables, stores[1]);
		study_put_share(tables, loads[1] + stores[1], loads[0] + stores[0]);
	}
}

static const struct tw_study_column miss_columns[] = {
    {"misses_1", "MISSES 1", TW_STUDY_COUNT},
    {"misses_2", "MISSES 2", TW_STUDY_COUNT},
    {"misses_3", "MISSES 3", TW_STUDY_COUNT},
    {"misses_4", "MISSES 4", TW_STUDY_COUNT},
};

static const struct tw_study_column access_column = {"accesses", "ACCESSES", TW_STUDY_COUNT},
				    share_column = {"share", "OF ALL MISSES 1", TW_STUDY_SHARE};

static const struct tw_study_column last_columns[] = {
    {"pc", "PC", TW_STUDY_HEX},
    {"function", "FUNCTION", TW_STUDY_TEXT},
    {"code", "CODE", TW_STUDY_TEXT},
};

static const struct tw_study_column place_columns[] = {
    {"thread", "THREAD", TW_STUDY_ID},
    {"start", "FROM INSTRUCTION", TW_STUDY_COUNT},
    {"instructions", "INSTRUCTIONS", TW_STUDY_COUNT},
};

enum { PLACE = sizeof place_columns / sizeof *place_columns };

static void put_intervals(const struct study_part *all, struct study_tables *tables)
{
	struct caches *caches = caches_of(all);
	struct tw_study_column *columns = caches->interval_columns;
	for (size_t i = 0; i < PLACE; i++)
		columns[i] = place_columns[i];
	columns[PLACE] = access_column;
	for (unsigned i = 0; i < caches->count; i++)
		columns[PLACE + 1 + i] = miss_columns[i];
	study_table_begin(tables, "interval", "Over time", columns, PLACE + 1 + caches->count, false);
	for (size_t i = 0; i < caches->interval_count; i++) {
		study_put_count(tables, caches->intervals[i].thread);
		study_put_count(tables, caches->intervals[i].start);
		study_put_count(tables, caches->intervals[i].instructions);
		for (unsigned k = 0; k <= caches->count; k++)
			study_put_count(tables, caches->intervals[i].counts.of[k]);
	}
}

/* There are as many columns of misses as levels. Returns how many columns there are. */
static size_t fill_columns(struct tw_study_column *columns, unsigned levels, const struct tw_study_column *last,
                           size_t count)
{
	size_t filled = 0;
	columns[filled++] = access_column;
	for (unsigned i = 0; i < levels; i++)
		columns[filled++] = miss_columns[i];
	columns[filled++] = share_column;
	for (size_t i = 0; i < count; i++)
		columns[filled++] = last[i];
	return filled;
}

static void put_counts(const struct study_part *all, struct study_tables *tables, const struct counts *counts)
{
	const struct caches *caches = caches_of(all);
	for (unsigned i = 0; i <= caches->count; i++)
		study_put_count(tables, counts->of[i]);
	study_put_share(tables, counts->of[1], caches->loads.of[1] + caches->stores.of[1]);
}

/* Ranks places by misses of the first level, then by accesses. */
static bool rank(const struct counts *counts, uint32_t count, struct study_ranks *ranks)
{
	for (uint32_t i = 0; i < count; i++)
		if (counts[i].of[0] && !study_rank_add(ranks, counts[i].of[1], i))
			return false;
	study_rank_sort(ranks);
	return true;
}

static int put_functions(const struct study_part *all, struct study_tables *tables)
{
	struct caches *caches = caches_of(all);
	uint32_t names = tw_dictionary_names(all->sites.names);
	struct counts *sums = calloc((size_t)names + 1, sizeof *sums);
	struct study_ranks ranks = {0};
	bool fine = sums != NULL;
	for (size_t i = 0; fine && i < all->sites.count && i < caches->room; i++)
		add(&sums[all->sites.items[i].function], &caches->sites[i]);
	fine = fine && rank(sums, names, &ranks);
	size_t columns = fill_columns(caches->function_columns, caches->count, last_columns + 1, 1);
	study_table_begin(tables, "function", "By function", caches->function_columns, columns, true);
	for (size_t i = 0; fine && i < ranks.count; i++) {
		put_counts(all, tables, &sums[ranks.items[i].number]);
		study_put_function(tables, all, ranks.items[i].number);
	}
	free(ranks.items);
	free(sums);
	return fine ? 0 : TW_ERR_MEMORY;
}

static int put_sites(const struct study_part *all, struct study_tables *tables)
{
	struct caches *caches = caches_of(all);
	struct study_ranks ranks = {0};
	size_t count = all->sites.count < caches->room ? all->sites.count : caches->room;
	bool fine = rank(caches->sites, (uint32_t)count, &ranks);
	size_t columns = fill_columns(caches->site_columns, caches->count, last_columns, 3);
	study_table_begin(tables, "instruction", "By instruction", caches->site_columns, columns, true);
	for (size_t i = 0; fine && i < ranks.count; i++) {
		const struct study_site *site = &all->sites.items[ranks.items[i].number];
		put_counts(all, tables, &caches->sites[ranks.items[i].number]);
		study_put_count(tables, site->pc);
		study_put_function(tables, all, site->function);
		study_put_code(tables, site);
	}
	free(ranks.items);
	return fine ? 0 : TW_ERR_MEMORY;
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	put_levels(all, tables);
	put_intervals(all, tables);
	int status = put_functions(all, tables);
	return status == 0 ? put_sites(all, tables) : status;
}

const struct study_job study_cache = {begin, take, end, merge, make_tables, free_caches, true};
