/* wall.c - the time of day of a tick, in logs of a flight recorder. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bytes/bytes.h"
#include "base/memory/order.h"
#include "core/ticks.h"
#include "fdr/fdr.h"

#include <stdlib.h>

/* Source: doc/formats/xray-fdr.md, "Logs of the flight recorder". */
enum { NAME = 16, PAIRS = 64, PAIR = 32, FIRST_AT = NAME + 33, LAST_AT = FIRST_AT + PAIR, STATE = LAST_AT + PAIR };

static void add(struct fdr_wall *wall, const uint8_t *pair)
{
	enum { REALTIME_AT = 24 };
	const struct fdr_wall_pair taken = {tw_load64(pair, false), tw_load64(pair + REALTIME_AT, false)};
	if (taken.ticks)
		wall->pairs[wall->count++] = taken;
}

static int compare(const void *left, const void *right)
{
	const struct fdr_wall_pair *a = left, *b = right;
	return tw_compare(a->ticks, b->ticks);
}

/* In the order of time, each once: a recorder that was killed may have left some twice. */
static void put_in_order(struct fdr_wall *wall)
{
	size_t kept = 0;
	qsort(wall->pairs, wall->count, sizeof *wall->pairs, compare);
	for (size_t i = 0; i < wall->count; i++)
		if (kept == 0 || wall->pairs[kept - 1].ticks != wall->pairs[i].ticks)
			wall->pairs[kept++] = wall->pairs[i];
	wall->count = kept;
}

void fdr_wall_take(struct fdr_wall *wall, const uint8_t *state, size_t size)
{
	static const char name[NAME] = "trackway.clocks";
	enum { TABLE_AT = STATE + TW_FDR_METADATA_SIZE };
	wall->count = 0;
	add(wall, state + FIRST_AT);
	if (size >= TABLE_AT + NAME + PAIRS * PAIR && memcmp(state + TABLE_AT, name, NAME) == 0)
		for (size_t i = 0; i < PAIRS; i++)
			add(wall, state + TABLE_AT + NAME + i * PAIR);
	add(wall, state + LAST_AT);
	put_in_order(wall);
}

/* value * numerator / denominator, which is not 0; at most INT64_MAX. */
static int64_t scale(uint64_t value, uint64_t numerator, uint64_t denominator)
{
	__extension__ typedef unsigned __int128 wide;
	const wide scaled = (wide)value * numerator / denominator;
	return scaled < INT64_MAX ? (int64_t)scaled : INT64_MAX;
}

/* Between two pairs on the line through both, as a clock that is slewed goes; before the first and behind the last one
 * by the frequency. */
uint64_t fdr_wall_at(const struct fdr_wall *wall, uint64_t ticks, uint64_t frequency)
{
	size_t next = 0;
	while (next < wall->count && wall->pairs[next].ticks <= ticks)
		next++;
	if (wall->count == 0 || frequency == 0)
		return 0;
	const struct fdr_wall_pair *before = &wall->pairs[next ? next - 1 : 0], *behind = &wall->pairs[next];
	const bool between = next && next < wall->count;
	const bool goes_on = between && behind->realtime_ns > before->realtime_ns;
	if (!next) {
		const int64_t until = scale(before->ticks - ticks, TW_NS_PER_SECOND, frequency);
		return (uint64_t)until < before->realtime_ns ? before->realtime_ns - (uint64_t)until : 0;
	}
	const uint64_t since = ticks - before->ticks;
	return before->realtime_ns + (uint64_t)(goes_on ? scale(since, behind->realtime_ns - before->realtime_ns,
	                                                        behind->ticks - before->ticks)
	                                                : scale(since, TW_NS_PER_SECOND, frequency));
}
