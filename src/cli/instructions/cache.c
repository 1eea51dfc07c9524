/* cache.c - trackway cache: a hierarchy of caches simulated. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"
#include "cli/output/message.h"
#include "study/tool.h"

#include <stdlib.h>
#include <string.h>

struct cache_options {
	struct tw_study_common common; /* first */
	struct tw_list levels, prefetchers;
	const char *icache, *llc, *itlb, *dtlb, *stlb;
	uint64_t interval, page;
};

/* "32K", "1M", "4096". */
static bool take_size(const char **text, uint64_t *size)
{
	static const char units[] = "KMG";
	char *end;
	if (**text < '0' || **text > '9')
		return false;
	*size = strtoull(*text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (*size > UINT64_MAX >> shift)
		return false;
	*size <<= shift;
	*text = end + (unit != NULL);
	return true;
}

/* Of a part of ":...", whether there is one. */
static bool has_more(const char **text)
{
	bool more = **text == ':';
	*text += more;
	return more;
}

static bool take_number(const char **text, uint32_t *number)
{
	uint64_t value;
	if (!take_size(text, &value) || value > UINT32_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

static bool take_policy(const char **text, enum tw_study_policy *policy)
{
	static const char *const names[] = {
	    [TW_STUDY_LRU] = "lru", [TW_STUDY_FIFO] = "fifo", [TW_STUDY_RANDOM] = "random"};
	for (unsigned i = 0; i < TW_STUDY_POLICIES; i++)
		if (strcmp(*text, names[i]) == 0) {
			*policy = (enum tw_study_policy)i;
			*text += strlen(names[i]);
			return true;
		}
	return false;
}

/* SIZE:WAYS[:LINE[:POLICY]] */
static bool parse(const char *text, struct tw_study_cache *cache)
{
	enum { LINE = 64 };
	*cache = (struct tw_study_cache){.line = LINE};
	bool fine = take_size(&text, &cache->size) && has_more(&text) && take_number(&text, &cache->ways);
	if (fine && has_more(&text))
		fine = take_number(&text, &cache->line);
	if (fine && has_more(&text))
		fine = take_policy(&text, &cache->policy);
	return fine && !*text;
}

/* ENTRIES:WAYS */
static bool parse_tlb(const char *text, struct tw_study_tlb *tlb)
{
	return take_number(&text, &tlb->entries) && has_more(&text) && take_number(&text, &tlb->ways) && !*text &&
	       tlb->entries;
}

/* "next-line", "stride:4" */
static bool parse_prefetcher(const char *text, struct tw_study_options *study)
{
	const struct {
		const char *name;
		unsigned *degree;
	} prefetchers[] = {{"next-line", &study->next_line}, {"stride", &study->stride}};
	for (size_t i = 0; i < sizeof prefetchers / sizeof *prefetchers; i++) {
		size_t length = strlen(prefetchers[i].name);
		const char *rest = text + length;
		if (strncmp(text, prefetchers[i].name, length) != 0 || (*rest && *rest != ':'))
			continue;
		*prefetchers[i].degree = 1;
		return !has_more(&rest) ||
		       (take_number(&rest, prefetchers[i].degree) && !*rest && *prefetchers[i].degree);
	}
	return false;
}

static int take_caches(const struct cache_options *options, struct tw_study_options *study)
{
	const struct {
		const char *text;
		struct tw_study_cache *cache;
	} others[] = {{options->icache, &study->icache}, {options->llc, &study->llc}};
	const char *wrong = NULL;
	if (options->levels.count + (options->llc != NULL) > TW_STUDY_LEVELS)
		return tw_say_usage(&tw_command_cache, "at most %d levels", TW_STUDY_LEVELS);
	for (size_t i = 0; i < options->levels.count; i++)
		if (!parse(options->levels.items[i], &study->levels[study->level_count++]))
			wrong = options->levels.items[i];
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].text && (!parse(others[i].text, others[i].cache) || !others[i].cache->size))
			wrong = others[i].text;
	return wrong ? tw_say_usage(&tw_command_cache, "%s is no SIZE:WAYS[:LINE[:POLICY]], as 32K:8:64:lru", wrong)
	             : 0;
}

static int take_tlbs(const struct cache_options *options, struct tw_study_options *study)
{
	const struct {
		const char *text;
		struct tw_study_tlb *tlb;
	} tlbs[] = {{options->itlb, &study->itlb}, {options->dtlb, &study->dtlb}, {options->stlb, &study->stlb}};
	for (size_t i = 0; i < sizeof tlbs / sizeof *tlbs; i++)
		if (tlbs[i].text && !parse_tlb(tlbs[i].text, tlbs[i].tlb))
			return tw_say_usage(&tw_command_cache, "%s is no ENTRIES:WAYS, as 64:4", tlbs[i].text);
	return 0;
}

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct cache_options *options = (const struct cache_options *)common;
	struct tw_study_options study = {.kind = TW_STUDY_CACHE, .interval = options->interval, .page = options->page};
	int status = take_caches(options, &study);
	status = status ? status : take_tlbs(options, &study);
	for (size_t i = 0; !status && i < options->prefetchers.count; i++)
		if (!parse_prefetcher(options->prefetchers.items[i], &study))
			status = tw_say_usage(&tw_command_cache, "%s is no next-line or stride, as stride:2",
			                      options->prefetchers.items[i]);
	if (status)
		return status;
	return tw_study_show(&options->common, &study, &tw_command_cache, study_render_misses, operands, count);
}

static const struct tw_option own_options[] = {
    {"level", 'l', TW_OPTION_LIST, offsetof(struct cache_options, levels), .placeholder = "SIZE:WAYS[:LINE[:POLICY]]",
     .help = "a level, from the first on, at most four: \"32K:8:64:lru\"; policies are lru, fifo and random. Otherwise "
             "32K:8 and 512K:8"},
    {"icache", 0, TW_OPTION_TEXT, offsetof(struct cache_options, icache), .placeholder = "SIZE:WAYS[:LINE[:POLICY]]",
     .help = "a cache of instructions, whose misses go on to the second level; otherwise instructions are not fetched"},
    {"llc", 0, TW_OPTION_TEXT, offsetof(struct cache_options, llc), .placeholder = "SIZE:WAYS[:LINE[:POLICY]]",
     .help = "a last level that all threads share, in the order of their accesses, with coherence: a store takes the "
             "copies that others have"},
    {"itlb", 0, TW_OPTION_TEXT, offsetof(struct cache_options, itlb), .placeholder = "ENTRIES:WAYS",
     .help = "a TLB of instructions, \"64:64\""},
    {"dtlb", 0, TW_OPTION_TEXT, offsetof(struct cache_options, dtlb), .placeholder = "ENTRIES:WAYS",
     .help = "a TLB of data"},
    {"stlb", 0, TW_OPTION_TEXT, offsetof(struct cache_options, stlb), .placeholder = "ENTRIES:WAYS",
     .help = "a second TLB, for what misses in those"},
    {"page", 0, TW_OPTION_SIZE, offsetof(struct cache_options, page), .placeholder = "SIZE", .least = 4096,
     .help = "the size of all pages, \"64K\", \"2M\"; 4K otherwise"},
    {"prefetch", 0, TW_OPTION_LIST, offsetof(struct cache_options, prefetchers),
     .placeholder = "next-line|stride[:DEGREE]",
     .help = "a prefetcher of data into the first level, and of how many lines, 1 if not said; may be repeated"},
    {"interval", 0, TW_OPTION_COUNT, offsetof(struct cache_options, interval), .placeholder = "N", .least = 1,
     .help = "a row over time for so many instructions of a thread; 1000000 otherwise"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Caches", own_options), &tw_study_row_options, &tw_study_range_options,
                     &tw_input_options, &tw_jobs_options, &tw_study_picture_options);

const struct tw_command tw_command_cache = {
    .name = "cache",
    .summary = "what a hierarchy of caches and TLBs makes of the accesses",
    .operands = "DIR",
    .description =
	"Simulates set-associative caches for the loads and stores of each thread, which has its own, and counts the "
	"misses by level, by interval, by function and by instruction. The picture is the misses over time.\n\n"
	"What misses in one level goes on to the next and is put into both, stores as loads do. A set is chosen by "
	"the low bits of the line's number. lru drops the line that was used longest ago, fifo the one that came "
	"first, random any, by the same numbers each time. An access that goes over lines of the first level counts "
	"for each of them.\n\n"
	"next-line fetches the lines behind one that missed, or that it had fetched and is used now; stride those that "
	"an instruction will go on to where it went on by the same distance twice. Neither leaves the page. What they "
	"fetch counts as no access.\n\n"
	"With --llc a miss counts as of sharing where a store of another thread took the copy, and as false sharing "
	"where no byte of the access was written since: by line, function and instruction.",
    .examples =
	"trackway cache trace\t32 KiB and 512 KiB of 8 ways.\n"
	"trackway cache -l 64K:4 -l 1M:16 -l 8M:16:64:random trace\tThree levels.\n"
	"trackway cache --icache 32K:4 --itlb 48:48 --dtlb 48:48 --stlb 1024:4 trace\tInstructions and TLBs, too.\n"
	"trackway cache --llc 8M:16 --prefetch stride:2 trace\tThreads that share a cache, with a prefetcher.\n"
	"trackway cache --interval 100000 trace -o misses.svg\tMisses over time.\n",
    .groups = groups,
    TW_FORMS_OF_PICTURED_TABLES,
    .size = sizeof(struct cache_options),
    .least = 1,
    .most = 1,
    .run = run,
};
