/* coherence.c - the last level of all threads, and which of them have copies of its lines.
 *
 * A store takes the copies of all others. Whoever accesses such a line next misses because it was shared; falsely where
 * none of the bytes that it accesses was written by another since. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/cache/simulate.h"

#include <stdlib.h>

enum { BITS = 64 };

int cache_shared_init(struct cache_shared *shared, const struct tw_study_options *options, struct tw_budget *budget)
{
	shared->budget = budget;
	return cache_level_init(&shared->level, &options->levels[options->level_count - 1], budget);
}

void cache_shared_free(struct cache_shared *shared)
{
	for (size_t i = 0; i < shared->keyed.count; i++)
		free(shared->lines[i].written);
	free(shared->lines);
	free(shared->level.lines);
	tw_map_free(&shared->keyed.map);
}

static struct cache_line *line_of(struct cache_shared *shared, uint64_t number)
{
	uint32_t index = tw_budget_item(shared->budget, TW_FOR_ROWS, &shared->keyed, number, &shared->lines,
	                                sizeof *shared->lines, 0);
	if (index == UINT32_MAX) {
		shared->left_out++;
		return NULL;
	}
	shared->lines[index].number = number;
	return &shared->lines[index];
}

/* The bits of a line's bytes in [from, to). A bit stands for one byte; in lines of more than 64 bytes for several. */
static uint64_t mask_of(unsigned shift, uint64_t from, uint64_t to)
{
	unsigned each = shift > 6 ? shift - 6 : 0;
	uint64_t first = from >> each, last = (to - 1) >> each;
	return (last + 1 < BITS ? (UINT64_C(1) << (last + 1)) - 1 : UINT64_MAX) & ~((UINT64_C(1) << first) - 1);
}

/* Takes the line out of all levels of a thread. Returns whether it was in one. */
static bool take_copy(struct cache_thread *thread, uint64_t address)
{
	bool had = false;
	for (unsigned i = 0; i < thread->private_count; i++)
		had |= cache_drop(&thread->levels[i], address);
	return had;
}

static bool can_write(struct cache_shared *shared, struct cache_line *line)
{
	size_t size = shared->thread_count * sizeof *line->written;
	if (line->written)
		return true;
	if (tw_budget_take(shared->budget, TW_FOR_COUNTS, size))
		line->written = calloc(shared->thread_count, sizeof *line->written);
	shared->left_out += !line->written;
	return line->written != NULL;
}

static void take_copies(struct cache_shared *shared, struct cache_line *line, unsigned number,
                        struct cache_counts *counts, uint64_t mask)
{
	uint64_t own = UINT64_C(1) << number;
	for (uint64_t others = line->held & ~own; others; others &= others - 1) {
		unsigned other = (unsigned)__builtin_ctzll(others);
		if (!take_copy(shared->threads[other], line->number << shared->level.shift) || !can_write(shared, line))
			continue;
		line->lost |= UINT64_C(1) << other;
		line->written[other] = 0;
		line->invalidations++;
		counts->of[CACHE_INVALIDATIONS]++;
	}
	for (uint64_t others = line->lost & ~own; others; others &= others - 1)
		line->written[__builtin_ctzll(others)] |= mask;
	line->held = own;
}

static void share_line(struct cache_shared *shared, unsigned number, struct cache_counts *counts, bool stores,
                       struct cache_line *line, uint64_t mask)
{
	uint64_t own = UINT64_C(1) << number;
	if (line->lost & own) {
		bool falsely = !(line->written[number] & mask);
		line->sharing_misses++;
		line->false_sharing += falsely;
		counts->of[CACHE_SHARING_MISSES]++;
		counts->of[CACHE_FALSE_SHARING] += falsely;
		line->lost &= ~own;
	}
	line->ever |= own;
	line->held |= own;
	if (stores)
		take_copies(shared, line, number, counts, mask);
}

void cache_share(struct cache_shared *shared, unsigned number, struct cache_counts *counts,
                 const struct cache_access *access)
{
	unsigned shift = shared->level.shift;
	uint64_t size = UINT64_C(1) << shift, end = access->address + access->size;
	for (uint64_t at = access->address; at < end; at = (at | (size - 1)) + 1) {
		uint64_t start = at & ~(size - 1), until = end - start < size ? end - start : size;
		struct cache_line *line = line_of(shared, at >> shift);
		if (line)
			share_line(shared, number, counts, access->stores, line, mask_of(shift, at - start, until));
	}
}

void cache_share_prefetch(struct cache_shared *shared, unsigned number, uint64_t address)
{
	uint64_t own = UINT64_C(1) << number;
	struct cache_line *line = line_of(shared, address >> shared->level.shift);
	if (!line)
		return;
	line->held |= own;
	line->lost &= ~own;
}
