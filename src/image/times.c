/* times.c - ticks of an image to nanoseconds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "image/image.h"

#include <stdlib.h>

/* Pairs are measured to some hundred nanoseconds: closer ones would tell a wrong speed. */
enum { APART_NS = 1000000, LONG_NS = 1000000000 };

bool trace_image_times_add(struct trace_image_times *times, struct image_pair pair)
{
	if (!tw_grow(&times->pairs, &times->room, times->count + 1, sizeof pair))
		return false;
	times->pairs[times->count++] = pair;
	return true;
}

static int by_ticks(const void *left, const void *right)
{
	const struct image_pair *a = left, *b = right;
	return tw_compare(a->ticks, b->ticks);
}

/* Both clocks only ever go forward: a pair that says otherwise is none. */
void trace_image_times_fit(struct trace_image_times *times)
{
	size_t kept = 0;
	if (times->count)
		qsort(times->pairs, times->count, sizeof *times->pairs, by_ticks);
	for (size_t i = 0; i < times->count; i++) {
		const struct image_pair pair = times->pairs[i], *last = kept ? &times->pairs[kept - 1] : NULL;
		if (!last || (pair.ticks > last->ticks && pair.ns > last->ns && pair.ns - last->ns >= APART_NS))
			times->pairs[kept++] = pair;
	}
	times->count = kept;
}

/* How far one goes in `ticks` on the way from a to b. */
static uint64_t along(uint64_t ticks, uint64_t ns, uint64_t all_ticks)
{
	__extension__ typedef unsigned __int128 wide;
	wide way = (wide)ticks * ns / all_ticks;
	return way > UINT64_MAX ? UINT64_MAX : (uint64_t)way;
}

/* The two pairs whose speed holds at `at`, the number of pairs before a time: those around it, and outside of all the
 * pairs two that are far from each other. */
static void speed_at(const struct trace_image_times *times, size_t at, uint64_t *ns, uint64_t *ticks)
{
	size_t low = at ? at - 1 : 0, high = at;
	if (at == times->count) {
		high = at - 1;
		while (low && times->pairs[high].ns - times->pairs[low].ns < LONG_NS)
			low--;
	} else if (at == 0) {
		while (high + 1 < times->count && times->pairs[high].ns - times->pairs[low].ns < LONG_NS)
			high++;
	}
	*ns = times->pairs[high].ns - times->pairs[low].ns;
	*ticks = times->pairs[high].ticks - times->pairs[low].ticks;
	if (*ticks == 0) {
		*ns = 1000000000;
		*ticks = times->ticks_per_second ? times->ticks_per_second : 1000000000;
	}
}

uint64_t trace_image_time(const struct trace_image_times *times, uint64_t ticks)
{
	if (times->plain || times->count == 0)
		return ticks;
	uint64_t ns, all_ticks;
	size_t at = tw_count_up_to(times->pairs, times->count, TW_KEY(struct image_pair, ticks), ticks);
	speed_at(times, at, &ns, &all_ticks);
	const struct image_pair *from = &times->pairs[at ? at - 1 : 0];
	if (ticks >= from->ticks) {
		uint64_t way = along(ticks - from->ticks, ns, all_ticks);
		return way > UINT64_MAX - from->ns ? UINT64_MAX : from->ns + way;
	}
	uint64_t way = along(from->ticks - ticks, ns, all_ticks);
	return way > from->ns ? 0 : from->ns - way;
}
