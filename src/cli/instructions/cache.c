/* cache.c - trackway cache: a hierarchy of caches simulated. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/instructions/study.h"
#include "cli/output/message.h"
#include "study/tool.h"

#include <stdlib.h>
#include <string.h>

struct cache_options {
	struct tw_study_common common; /* first */
	struct tw_list levels;
	uint64_t interval;
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

static int run(struct tw_common *common, char **operands, size_t count)
{
	const struct cache_options *options = (const struct cache_options *)common;
	struct tw_study_options study = {.kind = TW_STUDY_CACHE, .interval = options->interval};
	if (options->levels.count > TW_STUDY_LEVELS)
		return tw_say_usage(&tw_command_cache, "at most %d levels", TW_STUDY_LEVELS);
	for (size_t i = 0; i < options->levels.count; i++)
		if (!parse(options->levels.items[i], &study.levels[study.level_count++]))
			return tw_say_usage(&tw_command_cache, "%s is no SIZE:WAYS[:LINE[:POLICY]], as 32K:8:64:lru",
			                    options->levels.items[i]);
	return tw_study_show(&options->common, &study, &tw_command_cache, study_render_misses, operands, count);
}

static const struct tw_option own_options[] = {
    {"level", 'l', TW_OPTION_LIST, offsetof(struct cache_options, levels), .placeholder = "SIZE:WAYS[:LINE[:POLICY]]",
     .help = "a level, from the first on, at most four: \"32K:8:64:lru\"; policies are lru, fifo and random. Otherwise "
             "32K:8 and 512K:8"},
    {"interval", 0, TW_OPTION_COUNT, offsetof(struct cache_options, interval), .placeholder = "N", .least = 1,
     .help = "a row over time for so many instructions of a thread; 1000000 otherwise"},
};
static const struct tw_option_group *const groups[] =
    TW_OPTION_GROUPS(TW_OPTIONS("Caches", own_options), &tw_study_row_options, &tw_input_options, &tw_jobs_options,
                     &tw_study_picture_options);

const struct tw_command tw_command_cache = {
    .name = "cache",
    .summary = "what a hierarchy of data caches makes of the accesses",
    .operands = "DIR",
    .description =
	"Simulates set-associative caches for the loads and stores of each thread, which has its own, and counts the "
	"misses by level, by interval, by function and by instruction. The picture is the misses over time.\n\n"
	"What misses in one level goes on to the next and is put into both, stores as loads do. A set is chosen by "
	"the low bits of the line's number. lru drops the line that was used longest ago, fifo the one that came "
	"first, random any, by the same numbers each time. An access that goes over lines of the first level counts "
	"for each of them.",
    .examples = "trackway cache trace\t32 KiB and 512 KiB of 8 ways.\n"
		"trackway cache -l 64K:4 -l 1M:16 -l 8M:16:64:random trace\tThree levels.\n"
		"trackway cache --interval 100000 trace -o misses.svg\tMisses over time.\n",
    .groups = groups,
    TW_FORMS_OF_PICTURED_TABLES,
    .size = sizeof(struct cache_options),
    .least = 1,
    .most = 1,
    .run = run,
};
