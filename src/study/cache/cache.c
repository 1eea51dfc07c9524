/* cache.c - what a hierarchy of caches makes of what each thread fetches, loads and stores. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/cache/cache.h"

#include "base/memory/memory.h"

#include <stdlib.h>

/* Of all: what the threads share is of the budget of all. */
static int begin_shared(struct study_part *all)
{
	struct caches *caches = study_caches(all);
	caches->shared = calloc(1, sizeof *caches->shared);
	return caches->shared ? cache_shared_init(caches->shared, all->options, &all->budget) : TW_ERR_MEMORY;
}

static int join_shared(struct study_part *part)
{
	struct cache_thread *thread = &study_caches(part)->thread;
	struct cache_shared *shared = thread->shared = study_caches(part->all)->shared;
	if (shared->thread_count == CACHE_THREADS)
		return TW_ERR_LIMIT;
	thread->number = shared->thread_count;
	shared->threads[shared->thread_count++] = thread;
	return 0;
}

static int begin(struct study_part *part)
{
	const struct tw_study_options *options = part->options;
	struct caches *caches = part->state = calloc(1, sizeof *caches);
	if (!caches)
		return TW_ERR_MEMORY;
	caches->end = options->interval;
	part->wants.steps = options->icache.size || options->itlb.entries;
	part->wants.times = options->llc.size != 0;
	int status = 0;
	if (options->llc.size)
		status = part->all ? join_shared(part) : begin_shared(part);
	return status || !part->all ? status : cache_thread_init(&caches->thread, options, &part->budget);
}

static void free_caches(struct study_part *part)
{
	struct caches *caches = study_caches(part);
	if (!caches)
		return;
	if (caches->shared)
		cache_shared_free(caches->shared);
	free(caches->shared);
	cache_thread_free(&caches->thread);
	free(caches->sites);
	free(caches->intervals);
	free(caches);
}

/* ---- Simulating. ---- */

static bool reserve(struct study_part *part)
{
	struct caches *caches = study_caches(part);
	size_t count = part->sites.count;
	return count <= caches->room || tw_grow(&caches->sites, &caches->room, count, sizeof *caches->sites);
}

static void add_interval(struct study_part *part, const struct cache_interval *interval)
{
	struct caches *caches = study_caches(part);
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
	struct caches *caches = study_caches(part);
	uint64_t start = caches->end - part->options->interval;
	struct cache_interval interval = {.thread = part->thread,
	                                  .start = start,
	                                  .instructions = instructions - start,
	                                  .counts = caches->loads};
	study_cache_add(&interval.counts, &caches->stores);
	for (unsigned i = 0; i < CACHE_COUNTS; i++) {
		uint64_t so_far = interval.counts.of[i];
		interval.counts.of[i] -= caches->before.of[i];
		caches->before.of[i] = so_far;
	}
	add_interval(part, &interval);
	caches->end += part->options->interval;
}

static void fetch(struct study_part *part, uint32_t site, uint64_t space)
{
	struct caches *caches = study_caches(part);
	if (site)
		cache_fetch(&caches->thread, &caches->sites[site], study_in_space(part->sites.items[site].pc, space));
}

static void touch(struct study_part *part, const struct study_access *access, uint64_t space)
{
	struct caches *caches = study_caches(part);
	const struct cache_access one = {
	    .pc = part->sites.items[access->site].pc,
	    .address = study_in_space(access->address, space),
	    .size = access->size & STUDY_SIZE,
	    .stores = access->size & STUDY_STORE,
	};
	cache_access(&caches->thread, &caches->sites[access->site], one.stores ? &caches->stores : &caches->loads,
	             &one);
}

/* Takes steps of a batch, from one on to before another; *access: the first that was not taken. */
static int take_steps(struct study_part *part, const struct study_batch *batch, size_t from, size_t to, size_t *access)
{
	struct caches *caches = study_caches(part);
	uint64_t space = study_space(part->spaces, batch->tables);
	bool fetches = part->wants.steps;
	if (!reserve(part))
		return TW_ERR_MEMORY;
	for (;; (*access)++) {
		size_t step = *access < batch->access_count ? batch->accesses[*access].step : to;
		for (; fetches && from < batch->step_count && from < to && from <= step; from++)
			fetch(part, batch->sites[from], space);
		if (step >= to)
			return 0;
		while (batch->first + step >= caches->end)
			close_interval(part, caches->end);
		touch(part, &batch->accesses[*access], space);
	}
}

static int take(struct study_part *part, const struct study_batch *batch)
{
	size_t access = 0;
	return take_steps(part, batch, 0, batch->step_count + 1, &access);
}

static int end(struct study_part *part)
{
	while (study_caches(part)->end < part->totals.instructions)
		close_interval(part, study_caches(part)->end);
	if (part->totals.instructions)
		close_interval(part, part->totals.instructions);
	return 0;
}

static void merge_threads(struct cache_thread *to, const struct cache_thread *from)
{
	for (size_t i = 0; i < sizeof to->tlbs / sizeof *to->tlbs; i++) {
		to->tlbs[i].lookups += from->tlbs[i].lookups;
		to->tlbs[i].misses += from->tlbs[i].misses;
	}
	study_cache_add(&to->fetches, &from->fetches);
	for (unsigned i = 0; i < CACHE_PREFETCHERS; i++) {
		to->prefetches[i].issued += from->prefetches[i].issued;
		to->prefetches[i].useful += from->prefetches[i].useful;
		for (unsigned level = 0; level < TW_STUDY_LEVELS; level++)
			to->prefetches[i].misses[level] += from->prefetches[i].misses[level];
	}
}

static int merge(struct study_part *all, struct study_part *part, const uint32_t *map)
{
	struct caches *to = study_caches(all);
	const struct caches *from = study_caches(part);
	if (!reserve(all))
		return TW_ERR_MEMORY;
	for (size_t i = 0; i < part->sites.count && i < from->room; i++)
		study_cache_add(&to->sites[map[i]], &from->sites[i]);
	study_cache_add(&to->loads, &from->loads);
	study_cache_add(&to->stores, &from->stores);
	merge_threads(&to->thread, &from->thread);
	for (size_t i = 0; i < from->interval_count; i++)
		add_interval(all, &from->intervals[i]);
	return 0;
}

static int make_tables(struct study_part *all, struct study_tables *tables)
{
	const struct cache_shared *shared = study_caches(all)->shared;
	all->left_out += shared ? shared->left_out : 0;
	return study_cache_tables(all, tables);
}

const struct study_job study_cache = {
    .begin = begin,
    .take = take,
    .take_steps = take_steps,
    .end = end,
    .merge = merge,
    .tables = make_tables,
    .free = free_caches,
    .disassembles = true,
};
