/* simulate.c - one thread's hierarchy of set-associative caches, its TLBs and prefetchers.
 *
 * What misses in one level goes on to the next, and is kept in all that it missed in, whether it is loaded or stored.
 * An access that goes over lines of the first level is one for each of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/cache/simulate.h"

#include <stdlib.h>

static int tlb_init(struct cache_level *level, const struct tw_study_tlb *tlb, uint64_t page, struct tw_budget *budget)
{
	const struct tw_study_cache cache = {tlb->entries * page, tlb->ways, (uint32_t)page, TW_STUDY_LRU};
	return tlb->entries ? cache_level_init(level, &cache, budget) : 0;
}

int cache_thread_init(struct cache_thread *thread, const struct tw_study_options *options, struct tw_budget *budget)
{
	int status = 0;
	thread->options = options;
	thread->count = options->level_count;
	thread->private_count = options->level_count - (options->llc.size != 0);
	for (unsigned i = 0; status == 0 && i < thread->private_count; i++)
		status = cache_level_init(&thread->levels[i], &options->levels[i], budget);
	if (status == 0 && options->icache.size)
		status = cache_level_init(&thread->instructions, &options->icache, budget);
	if (status == 0)
		status = tlb_init(&thread->itlb, &options->itlb, options->page, budget);
	if (status == 0)
		status = tlb_init(&thread->dtlb, &options->dtlb, options->page, budget);
	return status ? status : tlb_init(&thread->stlb, &options->stlb, options->page, budget);
}

void cache_thread_free(struct cache_thread *thread)
{
	for (unsigned i = 0; i < TW_STUDY_LEVELS; i++)
		free(thread->levels[i].lines);
	free(thread->instructions.lines);
	free(thread->itlb.lines);
	free(thread->dtlb.lines);
	free(thread->stlb.lines);
}

/* ---- Levels. ---- */

static struct cache_level *level_of(struct cache_thread *thread, unsigned i)
{
	return i < thread->private_count ? &thread->levels[i] : &thread->shared->level;
}

/* Looks for a line in a level and those behind it. Returns the first that has it. */
static unsigned look_from(struct cache_thread *thread, unsigned i, uint64_t address)
{
	uint64_t had;
	while (i < thread->count && !cache_look(level_of(thread, i), address, 0, &had))
		i++;
	return i;
}

/* ---- TLBs. ---- */

enum { ITLB, DTLB, STLB };

static bool look_tlb(struct cache_lookups *lookups, struct cache_level *tlb, uint64_t address)
{
	uint64_t had;
	bool hits = cache_look(tlb, address, 0, &had);
	lookups->lookups++;
	lookups->misses += !hits;
	return hits;
}

static void translate(struct cache_thread *thread, struct cache_level *tlb, unsigned which, struct cache_counts *counts,
                      uint64_t address)
{
	if (look_tlb(&thread->tlbs[which], tlb, address))
		return;
	counts->of[which == ITLB ? CACHE_ITLB_MISSES : CACHE_DTLB_MISSES]++;
	if (!thread->stlb.lines || !look_tlb(&thread->tlbs[STLB], &thread->stlb, address))
		counts->of[CACHE_WALKS]++;
}

/* ---- Fetches. ---- */

void cache_fetch(struct cache_thread *thread, struct cache_counts *counts, uint64_t address)
{
	const struct cache_level *cache = &thread->instructions;
	uint64_t before = thread->fetched - 1, had;
	bool first = !thread->fetched;
	thread->fetched = address + 1;
	if (thread->itlb.lines && !first && before >> thread->itlb.shift == address >> thread->itlb.shift)
		thread->tlbs[ITLB].lookups++; /* it is there */
	else if (thread->itlb.lines)
		translate(thread, &thread->itlb, ITLB, counts, address);
	if (!cache->lines)
		return;
	thread->fetches.of[CACHE_ACCESSES]++;
	if (!first && before >> cache->shift == address >> cache->shift)
		return;
	if (cache_look(&thread->instructions, address, 0, &had))
		return;
	counts->of[CACHE_FETCH_MISSES]++;
	unsigned missed = look_from(thread, 1, address);
	for (unsigned i = 0; i < missed; i++)
		thread->fetches.of[CACHE_MISSES + i]++;
}

/* ---- Prefetchers. ---- */

/* Lines behind a page's end are not prefetched: where they are in memory is not known. */
static void prefetch(struct cache_thread *thread, enum cache_prefetcher which, uint64_t from, uint64_t address)
{
	struct cache_prefetches *prefetches = &thread->prefetches[which];
	struct cache_level *first = level_of(thread, 0);
	uint64_t had;
	if ((from ^ address) & ~(thread->options->page - 1) || cache_has(first, address))
		return;
	prefetches->issued++;
	if (thread->shared)
		cache_share_prefetch(thread->shared, thread->number, address);
	cache_look(first, address, cache_marks[which], &had);
	unsigned missed = look_from(thread, 1, address);
	for (unsigned i = 1; i < missed; i++)
		prefetches->misses[i]++;
}

static void prefetch_lines(struct cache_thread *thread, uint64_t address)
{
	uint64_t line = UINT64_C(1) << level_of(thread, 0)->shift;
	for (unsigned i = 1; i <= thread->options->next_line; i++)
		prefetch(thread, CACHE_NEXT_LINE, address, address + i * line);
}

/* Where an instruction has gone on by the same distance twice, it will go on. */
static void prefetch_strides(struct cache_thread *thread, const struct cache_access *access)
{
	struct cache_stride *entry = &thread->strides[access->pc / 4 % CACHE_STRIDES];
	if (entry->pc != access->pc) {
		*entry = (struct cache_stride){.pc = access->pc, .last = access->address};
		return;
	}
	int64_t stride = (int64_t)(access->address - entry->last);
	bool again = stride && stride == entry->stride;
	entry->stride = stride;
	entry->last = access->address;
	for (unsigned i = 1; again && i <= thread->options->stride; i++)
		prefetch(thread, CACHE_STRIDE, access->address, access->address + i * (uint64_t)stride);
}

/* ---- Data. ---- */

static void access_line(struct cache_thread *thread, struct cache_counts *counts, struct cache_counts *kind,
                        uint64_t address)
{
	uint64_t had;
	bool hits = cache_look(level_of(thread, 0), address, 0, &had);
	unsigned missed = hits ? 0 : look_from(thread, 1, address);
	for (unsigned i = 0; i <= missed; i++) {
		counts->of[CACHE_ACCESSES + i]++;
		kind->of[CACHE_ACCESSES + i]++;
	}
	for (unsigned i = 0; i < CACHE_PREFETCHERS; i++)
		thread->prefetches[i].useful += had == cache_marks[i];
	if (thread->options->next_line && (!hits || had))
		prefetch_lines(thread, address);
}

void cache_access(struct cache_thread *thread, struct cache_counts *counts, struct cache_counts *kind,
                  const struct cache_access *access)
{
	uint64_t line = UINT64_C(1) << level_of(thread, 0)->shift, page = thread->options->page;
	uint64_t end = access->address + access->size - 1;
	for (uint64_t at = access->address & ~(page - 1), last = end & ~(page - 1); thread->dtlb.lines; at += page) {
		translate(thread, &thread->dtlb, DTLB, counts, at);
		if (at == last)
			break;
	}
	if (thread->shared)
		cache_share(thread->shared, thread->number, counts, access);
	for (uint64_t at = access->address & ~(line - 1), last = end & ~(line - 1);; at += line) {
		access_line(thread, counts, kind, at);
		if (at == last)
			break;
	}
	if (thread->options->stride)
		prefetch_strides(thread, access);
}
