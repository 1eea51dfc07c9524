/* tables.c - the tables of the study of caches. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/cache/cache.h"

#include <stdlib.h>

/* Columns that a table has, one after the other; they live as long as it does. */
struct columns {
	struct tw_study_column *items;
	size_t count;
};

static void add_column(struct columns *columns, const char *name, const char *title, enum tw_study_unit unit)
{
	columns->items[columns->count++] = (struct tw_study_column){name, title, unit};
}

/* There are as many columns of misses as levels. */
static void add_level_columns(struct columns *columns, unsigned levels)
{
	static const struct tw_study_column of_levels[TW_STUDY_LEVELS] = {
	    {"misses_1", "MISSES 1", TW_STUDY_COUNT},
	    {"misses_2", "MISSES 2", TW_STUDY_COUNT},
	    {"misses_3", "MISSES 3", TW_STUDY_COUNT},
	    {"misses_4", "MISSES 4", TW_STUDY_COUNT},
	};
	add_column(columns, "accesses", "ACCESSES", TW_STUDY_COUNT);
	for (unsigned i = 0; i < levels; i++)
		columns->items[columns->count++] = of_levels[i];
}

/* ---- Levels. ---- */

static const char *const policy_names[] = {"lru", "fifo", "random"};

static void put_cache(struct study_tables *tables, unsigned level, const char *name, const struct tw_study_cache *cache)
{
	study_put_count(tables, level);
	study_put_text(tables, name);
	study_put_count(tables, cache->size);
	study_put_count(tables, cache->ways);
	study_put_count(tables, cache->line);
	study_put_text(tables, policy_names[cache->policy]);
}

/* Lookups and misses; UINT64_MAX where nothing of the kind comes there. */
static void put_lookups(struct study_tables *tables, const struct cache_counts *counts, unsigned level)
{
	study_put_count(tables, counts ? counts->of[level] : UINT64_MAX);
	study_put_count(tables, counts ? counts->of[level + 1] : UINT64_MAX);
}

static void put_level(const struct study_part *all, struct study_tables *tables, unsigned level, bool fetches)
{
	static const char *const names[] = {"L1D", "L2", "L3", "L4"};
	const struct caches *caches = study_caches(all);
	const struct tw_study_options *options = all->options;
	const struct cache_counts none = {0}, *fetched = fetches && level ? &caches->thread.fetches : &none;
	const struct cache_counts *loads = &caches->loads, *stores = &caches->stores;
	bool is_shared = options->llc.size && level + 1 == options->level_count;
	put_cache(tables, level + 1, is_shared ? "LLC" : names[level], &options->levels[level]);
	put_lookups(tables, loads, level);
	put_lookups(tables, stores, level);
	if (fetches)
		put_lookups(tables, level ? fetched : NULL, level);
	study_put_share(tables, loads->of[level + 1] + stores->of[level + 1] + fetched->of[level + 1],
	                loads->of[level] + stores->of[level] + fetched->of[level]);
}

static void put_instruction_cache(const struct study_part *all, struct study_tables *tables)
{
	const struct cache_counts *fetches = &study_caches(all)->thread.fetches;
	put_cache(tables, 1, "L1I", &all->options->icache);
	put_lookups(tables, NULL, 0);
	put_lookups(tables, NULL, 0);
	put_lookups(tables, fetches, 0);
	study_put_share(tables, fetches->of[CACHE_MISSES], fetches->of[CACHE_ACCESSES]);
}

static void put_levels(const struct study_part *all, struct study_tables *tables)
{
	static const struct tw_study_column first[] = {
	    {"level", "LEVEL", TW_STUDY_ID},      {"cache", "CACHE", TW_STUDY_TEXT},
	    {"bytes", "BYTES", TW_STUDY_COUNT},   {"ways", "WAYS", TW_STUDY_COUNT},
	    {"line", "LINE", TW_STUDY_COUNT},     {"policy", "POLICY", TW_STUDY_TEXT},
	    {"loads", "LOADS", TW_STUDY_COUNT},   {"load_misses", "MISSES", TW_STUDY_COUNT},
	    {"stores", "STORES", TW_STUDY_COUNT}, {"store_misses", "MISSES", TW_STUDY_COUNT},
	};
	struct columns columns = {.items = study_caches(all)->level_columns};
	bool fetches = all->options->icache.size != 0;
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		columns.items[columns.count++] = first[i];
	if (fetches) {
		add_column(&columns, "fetches", "FETCHES", TW_STUDY_COUNT);
		add_column(&columns, "fetch_misses", "MISSES", TW_STUDY_COUNT);
	}
	add_column(&columns, "miss_share", "MISS SHARE", TW_STUDY_SHARE);
	study_table_begin(tables, "level", "Levels", columns.items, columns.count, false);
	if (fetches)
		put_instruction_cache(all, tables);
	for (unsigned i = 0; i < all->options->level_count; i++)
		put_level(all, tables, i, fetches);
}

/* ---- TLBs. ---- */

static void put_tlbs(const struct study_part *all, struct study_tables *tables)
{
	static const struct tw_study_column columns[] = {
	    {"tlb", "TLB", TW_STUDY_TEXT},
	    {"entries", "ENTRIES", TW_STUDY_COUNT},
	    {"ways", "WAYS", TW_STUDY_COUNT},
	    {"page", "PAGE", TW_STUDY_COUNT},
	    {"lookups", "LOOKUPS", TW_STUDY_COUNT},
	    {"misses", "MISSES", TW_STUDY_COUNT},
	    {"miss_share", "MISS SHARE", TW_STUDY_SHARE},
	};
	const struct tw_study_options *options = all->options;
	const struct tw_study_tlb *const tlbs[] = {&options->itlb, &options->dtlb, &options->stlb};
	static const char *const names[] = {"ITLB", "DTLB", "STLB"};
	const struct cache_lookups *lookups = study_caches(all)->thread.tlbs;
	if (!options->itlb.entries && !options->dtlb.entries)
		return;
	study_table_begin(tables, "tlb", "TLBs", columns, sizeof columns / sizeof *columns, false);
	for (size_t i = 0; i < sizeof tlbs / sizeof *tlbs; i++) {
		if (!tlbs[i]->entries)
			continue;
		study_put_text(tables, names[i]);
		study_put_count(tables, tlbs[i]->entries);
		study_put_count(tables, tlbs[i]->ways);
		study_put_count(tables, options->page);
		study_put_count(tables, lookups[i].lookups);
		study_put_count(tables, lookups[i].misses);
		study_put_share(tables, lookups[i].misses, lookups[i].lookups);
	}
}

/* ---- Prefetchers. ---- */

static void put_prefetchers(const struct study_part *all, struct study_tables *tables)
{
	static const struct tw_study_column columns[] = {
	    {"prefetcher", "PREFETCHER", TW_STUDY_TEXT}, {"degree", "DEGREE", TW_STUDY_COUNT},
	    {"issued", "ISSUED", TW_STUDY_COUNT},        {"useful", "USEFUL", TW_STUDY_COUNT},
	    {"useful_share", "SHARE", TW_STUDY_SHARE},   {"from_memory", "FROM MEMORY", TW_STUDY_COUNT},
	};
	static const char *const names[] = {[CACHE_NEXT_LINE] = "next-line", [CACHE_STRIDE] = "stride"};
	const unsigned degrees[] = {[CACHE_NEXT_LINE] = all->options->next_line, [CACHE_STRIDE] = all->options->stride};
	if (!degrees[CACHE_NEXT_LINE] && !degrees[CACHE_STRIDE])
		return;
	study_table_begin(tables, "prefetch", "Prefetchers", columns, sizeof columns / sizeof *columns, false);
	for (unsigned i = 0; i < CACHE_PREFETCHERS; i++) {
		const struct cache_prefetches *prefetches = &study_caches(all)->thread.prefetches[i];
		unsigned last = all->options->level_count - 1;
		if (!degrees[i])
			continue;
		study_put_text(tables, names[i]);
		study_put_count(tables, degrees[i]);
		study_put_count(tables, prefetches->issued);
		study_put_count(tables, prefetches->useful);
		study_put_share(tables, prefetches->useful, prefetches->issued);
		study_put_count(tables, last ? prefetches->misses[last] : prefetches->issued);
	}
}

/* ---- Intervals. ---- */

static void put_intervals(const struct study_part *all, struct study_tables *tables)
{
	const struct caches *caches = study_caches(all);
	unsigned levels = all->options->level_count;
	struct columns columns = {.items = study_caches(all)->interval_columns};
	add_column(&columns, "thread", "THREAD", TW_STUDY_ID);
	add_column(&columns, "start", "FROM INSTRUCTION", TW_STUDY_COUNT);
	add_column(&columns, "instructions", "INSTRUCTIONS", TW_STUDY_COUNT);
	add_level_columns(&columns, levels);
	study_table_begin(tables, "interval", "Over time", columns.items, columns.count, false);
	for (size_t i = 0; i < caches->interval_count; i++) {
		const struct cache_interval *interval = &caches->intervals[i];
		study_put_count(tables, interval->thread);
		study_put_count(tables, interval->start);
		study_put_count(tables, interval->instructions);
		for (unsigned k = 0; k <= levels; k++)
			study_put_count(tables, interval->counts.of[k]);
	}
}

/* ---- Functions and instructions. ---- */

/* Whether what a column counts is simulated. */
static bool counts(const struct tw_study_options *options, unsigned count)
{
	switch (count) {
	case CACHE_FETCH_MISSES:
		return options->icache.size;
	case CACHE_ITLB_MISSES:
		return options->itlb.entries;
	case CACHE_DTLB_MISSES:
		return options->dtlb.entries;
	case CACHE_WALKS:
		return options->itlb.entries || options->dtlb.entries;
	default:
		return options->llc.size;
	}
}

static void add_place_columns(const struct study_part *all, struct columns *columns)
{
	static const struct tw_study_column more[] = {
	    {"fetch_misses", "FETCH MISSES", TW_STUDY_COUNT},   {"itlb_misses", "ITLB MISSES", TW_STUDY_COUNT},
	    {"dtlb_misses", "DTLB MISSES", TW_STUDY_COUNT},     {"page_walks", "PAGE WALKS", TW_STUDY_COUNT},
	    {"invalidations", "INVALIDATIONS", TW_STUDY_COUNT}, {"sharing_misses", "SHARING MISSES", TW_STUDY_COUNT},
	    {"false_sharing", "FALSE SHARING", TW_STUDY_COUNT},
	};
	add_level_columns(columns, all->options->level_count);
	add_column(columns, "share", "OF ALL MISSES 1", TW_STUDY_SHARE);
	for (unsigned i = CACHE_FETCH_MISSES; i < CACHE_COUNTS; i++)
		if (counts(all->options, i))
			columns->items[columns->count++] = more[i - CACHE_FETCH_MISSES];
}

static void put_counts(const struct study_part *all, struct study_tables *tables, const struct cache_counts *one)
{
	const struct caches *caches = study_caches(all);
	for (unsigned i = 0; i <= all->options->level_count; i++)
		study_put_count(tables, one->of[i]);
	study_put_share(tables, one->of[CACHE_MISSES],
	                caches->loads.of[CACHE_MISSES] + caches->stores.of[CACHE_MISSES]);
	for (unsigned i = CACHE_FETCH_MISSES; i < CACHE_COUNTS; i++)
		if (counts(all->options, i))
			study_put_count(tables, one->of[i]);
}

/* Ranks places by misses of the first level. */
static bool rank(const struct cache_counts *items, uint32_t count, struct study_ranks *ranks)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *of = items[i].of;
		bool any = of[CACHE_ACCESSES] || of[CACHE_FETCH_MISSES] || of[CACHE_ITLB_MISSES];
		if (any && !study_rank_add(ranks, of[CACHE_MISSES] + of[CACHE_FETCH_MISSES], i))
			return false;
	}
	study_rank_sort(ranks);
	return true;
}

static int put_functions(const struct study_part *all, struct study_tables *tables)
{
	const struct caches *caches = study_caches(all);
	uint32_t names = tw_dictionary_names(all->sites.names);
	struct cache_counts *sums = calloc((size_t)names + 1, sizeof *sums);
	struct study_ranks ranks = {0};
	bool fine = sums != NULL;
	for (size_t i = 0; fine && i < all->sites.count && i < caches->room; i++)
		study_cache_add(&sums[all->sites.items[i].function], &caches->sites[i]);
	fine = fine && rank(sums, names, &ranks);
	struct columns columns = {.items = study_caches(all)->function_columns};
	add_place_columns(all, &columns);
	add_column(&columns, "function", "FUNCTION", TW_STUDY_TEXT);
	study_table_begin(tables, "function", "By function", columns.items, columns.count, true);
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
	const struct caches *caches = study_caches(all);
	struct study_ranks ranks = {0};
	size_t count = all->sites.count < caches->room ? all->sites.count : caches->room;
	bool fine = rank(caches->sites, (uint32_t)count, &ranks);
	struct columns columns = {.items = study_caches(all)->site_columns};
	add_place_columns(all, &columns);
	add_column(&columns, "pc", "PC", TW_STUDY_HEX);
	add_column(&columns, "function", "FUNCTION", TW_STUDY_TEXT);
	add_column(&columns, "code", "CODE", TW_STUDY_TEXT);
	study_table_begin(tables, "instruction", "By instruction", columns.items, columns.count, true);
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

/* ---- Lines that threads take from each other. ---- */

static void put_line(const struct study_part *all, struct study_tables *tables, const struct cache_line *line)
{
	uint64_t address = line->number << study_caches(all)->shared->level.shift;
	uint64_t tables_there = study_take_space(all->spaces, &address);
	study_put_count(tables, (uint64_t)__builtin_popcountll(line->ever));
	study_put_count(tables, line->invalidations);
	study_put_count(tables, line->sharing_misses);
	study_put_count(tables, line->false_sharing);
	study_put_count(tables, address);
	if (all->spaces->count)
		study_put_count(tables, tables_there);
}

static int put_lines(const struct study_part *all, struct study_tables *tables)
{
	static const struct tw_study_column columns[] = {
	    {"threads", "THREADS", TW_STUDY_COUNT},
	    {"invalidations", "INVALIDATIONS", TW_STUDY_COUNT},
	    {"sharing_misses", "SHARING MISSES", TW_STUDY_COUNT},
	    {"false_sharing", "FALSE SHARING", TW_STUDY_COUNT},
	    {"address", "ADDRESS", TW_STUDY_HEX},
	    {"tables", "TTBR0", TW_STUDY_HEX},
	};
	const struct cache_shared *shared = study_caches(all)->shared;
	struct study_ranks ranks = {0};
	bool fine = true;
	if (!shared)
		return 0;
	for (uint32_t i = 0; fine && i < shared->keyed.count; i++) {
		const struct cache_line *line = &shared->lines[i];
		fine = !line->invalidations || study_rank_add(&ranks, line->invalidations + line->sharing_misses, i);
	}
	study_rank_sort(&ranks);
	study_table_begin(tables, "line", "Lines that threads take from each other", columns,
	                  sizeof columns / sizeof *columns - !all->spaces->count, true);
	for (size_t i = 0; fine && i < ranks.count; i++)
		put_line(all, tables, &shared->lines[ranks.items[i].number]);
	free(ranks.items);
	return fine ? 0 : TW_ERR_MEMORY;
}

int study_cache_tables(struct study_part *all, struct study_tables *tables)
{
	put_levels(all, tables);
	put_tlbs(all, tables);
	put_prefetchers(all, tables);
	put_intervals(all, tables);
	int status = put_lines(all, tables);
	status = status == 0 ? put_functions(all, tables) : status;
	return status == 0 ? put_sites(all, tables) : status;
}
