/* counters.c - counters that buffers begin with, and that their neighbours in time contradict. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/order.h"
#include "fdr/fdr.h"

#include <inttypes.h>
#include <stdlib.h>

#define FAR (UINT64_C(1) << 42) /* ticks, half an hour: more than processors differ */
#define NEAR (FAR / 2)          /* by so much two may that agree: one of them may be the damaged one else */

static int compare_walls(const void *left, const void *right)
{
	const struct fdr_place *a = left, *b = right;
	int order = tw_compare(a->wall_us, b->wall_us);
	return order ? order : tw_compare(a->offset, b->offset);
}

static bool is_timed(const struct fdr_place *place)
{
	return place->wall_us != UINT64_MAX && place->tsc != UINT64_MAX;
}

static bool is_behind(uint64_t tsc, uint64_t other, uint64_t ticks)
{
	return tsc < other && other - tsc > ticks;
}

/* Most logs are shorter than what is far. */
static bool is_short(const struct fdr_log *log)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (size_t i = 0; i < log->place_count; i++) {
		const struct fdr_place *place = &log->places[i];
		if (!is_timed(place))
			continue;
		first = place->tsc < first ? place->tsc : first;
		last = place->tsc > last ? place->tsc : last;
	}
	return !is_behind(first, last, FAR);
}

/* Whether the one in the middle began between the others by the clock, and they agree, but not with it: a counter that
 * begins anew, as after a sleep of the machine, does not come back. */
static bool is_contradicted(const struct fdr_place *before, const struct fdr_place *place,
                            const struct fdr_place *behind)
{
	return before->wall_us < place->wall_us && place->wall_us < behind->wall_us &&
	       !is_behind(behind->tsc, before->tsc, NEAR) &&
	       (is_behind(behind->tsc, place->tsc, FAR) || is_behind(place->tsc, before->tsc, FAR));
}

static void doubt(struct tw_reader *reader, struct fdr_place *place, uint64_t before, uint64_t behind)
{
	tw_report(reader, &fdr_rules[FDR_DOUBTFUL], place->offset, place->offset, 0,
	          "the buffer begins at tick %" PRIu64 ", those before and behind it at %" PRIu64 " and %" PRIu64,
	          place->tsc, before, behind);
	place->doubted = true;
	place->stated_tsc = place->tsc;
	place->tsc = UINT64_MAX;
}

void fdr_doubt_counters(struct tw_reader *reader, struct fdr_log *log)
{
	struct fdr_place *places = log->places, *before = NULL;
	if (fdr_is_basic(log) || !log->place_count || is_short(log))
		return;
	qsort(places, log->place_count, sizeof *places, compare_walls);
	for (size_t i = 0, next; i < log->place_count && places[i].wall_us != UINT64_MAX; i = next) {
		for (next = i + 1; next < log->place_count && !is_timed(&places[next]);)
			next++;
		if (!is_timed(&places[i]))
			continue;
		if (before && next < log->place_count && is_contradicted(before, &places[i], &places[next]))
			doubt(reader, &places[i], before->tsc, places[next].tsc);
		else
			before = &places[i];
	}
}
