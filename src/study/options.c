/* options.c - what may be asked of a study, and what is taken where nothing is asked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study.h"

static bool is_power(uint64_t number)
{
	return number && (number & (number - 1)) == 0;
}

static bool makes_sense(const struct tw_study_cache *cache)
{
	enum { LINE_LEAST = 8, LINE_MOST = 4096, WAYS_MOST = 1024 };
	uint64_t row = (uint64_t)cache->ways * cache->line;
	return is_power(cache->line) && cache->line >= LINE_LEAST && cache->line <= LINE_MOST && cache->ways &&
	       cache->ways <= WAYS_MOST && cache->size % row == 0 && is_power(cache->size / row) &&
	       cache->policy < TW_STUDY_POLICIES;
}

static int check_cache(const struct tw_study_cache *cache, const char *name, struct tw_reader *reader)
{
	return makes_sense(cache)
	           ? 0
	           : tw_fail(reader, TW_ERR_VALUE,
	                     "%s: its size must be its ways (at most 1024) times its line (a power of 2, 8 "
	                     "to 4096) times a power of 2",
	                     name);
}

static int check_caches(const struct tw_study_options *options, struct tw_reader *reader)
{
	static const char *const names[] = {"level 1 of the caches", "level 2 of the caches", "level 3 of the caches",
	                                    "level 4 of the caches"};
	int status = options->icache.size ? check_cache(&options->icache, "the instruction cache", reader) : 0;
	for (unsigned i = 0; status == 0 && i < options->level_count; i++)
		status = check_cache(&options->levels[i], names[i], reader);
	for (unsigned i = 0; status == 0 && options->llc.size && i < options->level_count; i++)
		if (options->levels[i].line != options->llc.line)
			status = tw_fail(reader, TW_ERR_VALUE,
			                 "the lines of a shared level and of those before it must be of one length");
	return status;
}

static bool tlb_makes_sense(const struct tw_study_tlb *tlb)
{
	enum { ENTRIES_MOST = 1 << 20 };
	return !tlb->entries || (tlb->ways && tlb->entries <= ENTRIES_MOST && tlb->entries % tlb->ways == 0 &&
	                         is_power(tlb->entries / tlb->ways));
}

static int check_tlbs(const struct tw_study_options *options, struct tw_reader *reader)
{
	enum { PAGE_LEAST = 1 << 12, PAGE_MOST = 1 << 30 };
	if (!is_power(options->page) || options->page < PAGE_LEAST || options->page > PAGE_MOST)
		return tw_fail(reader, TW_ERR_VALUE, "a page must be a power of 2, 4 KiB to 1 GiB");
	if (!tlb_makes_sense(&options->itlb) || !tlb_makes_sense(&options->dtlb) || !tlb_makes_sense(&options->stlb))
		return tw_fail(reader, TW_ERR_VALUE,
		               "a TLB: its entries (at most 2^20) must be its ways times a power of 2");
	if (options->stlb.entries && !options->itlb.entries && !options->dtlb.entries)
		return tw_fail(reader, TW_ERR_VALUE, "a second TLB wants one before it");
	return 0;
}

static int check_hierarchy(const struct tw_study_options *options, struct tw_reader *reader)
{
	enum { DEGREE_MOST = 64 };
	int status = check_caches(options, reader);
	if (status == 0 && (options->next_line > DEGREE_MOST || options->stride > DEGREE_MOST))
		status = tw_fail(reader, TW_ERR_VALUE, "prefetches of more than %d lines", DEGREE_MOST);
	return status == 0 ? check_tlbs(options, reader) : status;
}

int study_check_options(const struct tw_study_options *options, struct tw_reader *reader)
{
	if (options->history > TW_STUDY_HISTORY_MOST)
		return tw_fail(reader, TW_ERR_VALUE, "a history of %u bits: at most %d", options->history,
		               TW_STUDY_HISTORY_MOST);
	if (options->kind == TW_STUDY_PHASES &&
	    (options->phases > TW_STUDY_PHASES_MOST || options->interval > UINT32_MAX))
		return tw_fail(reader, TW_ERR_VALUE, "at most %d phases, of intervals of at most 2^32 - 1 instructions",
		               TW_STUDY_PHASES_MOST);
	return check_hierarchy(options, reader);
}

static void fill_levels(struct tw_study_options *options)
{
	enum { WAYS = 8, LINE = 64, SIZE_1 = 32 << 10, SIZE_2 = 512 << 10 };
	if (!options->level_count) {
		options->levels[0] = (struct tw_study_cache){SIZE_1, WAYS, LINE, TW_STUDY_LRU};
		options->levels[1] = (struct tw_study_cache){SIZE_2, WAYS, LINE, TW_STUDY_LRU};
		options->level_count = 2;
	}
	if (options->llc.size)
		options->levels[options->level_count++] = options->llc;
}

void study_fill_options(struct tw_study_options *options)
{
	enum { HISTORY = 12, INTERVAL = 1000000, PAGE = 4096, PHASES = 30 };
	options->history = options->history ? options->history : HISTORY;
	options->interval = options->interval ? options->interval : INTERVAL;
	options->phases = options->phases ? options->phases : PHASES;
	options->page = options->page ? options->page : PAGE;
	options->memory_limit = options->memory_limit ? options->memory_limit : TW_DEFAULT_MEMORY;
	fill_levels(options);
}
