/* brief.c - events in brief, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/order/slab.h"

#include <stdlib.h>

enum { WORD_BITS = 64 };

/* Makes the brief of a row. */
static struct tw_brief brief_of(const struct tw_slab *slab, uint32_t row)
{
	const struct tw_event *event = &slab->events[row];
	return (struct tw_brief){
	    .time = event->time,
	    .number = row,
	    .tags = (uint32_t)(event->offset - slab->offset) & TW_BRIEF_PLACE,
	};
}

void tw_slab_brief(struct tw_slab *slab)
{
	if (!tw_extend(&slab->briefs, &slab->brief_room, slab->count, sizeof *slab->briefs)) {
		slab->failed = true;
		return;
	}
	for (size_t i = 0; i < slab->count; i++)
		slab->briefs[i] = brief_of(slab, slab->sorted ? (uint32_t)i : slab->order[i]);
	slab->brief_count = slab->count;
	slab->brief = true;
}

/* ---- Sorting those that come too late where they stand: complete slices, nearly always. ---- */

static int earlier_first(const void *a, const void *b, void *context)
{
	const struct tw_brief *briefs = context;
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	if (briefs[left].time != briefs[right].time)
		return briefs[left].time < briefs[right].time ? -1 : 1;
	return left < right ? -1 : 1;
}

/* The numbers of briefs in the order of time: as keys, of which all but the number is to be cut off, or without. */
static uint64_t *order_of(const struct tw_brief *briefs, size_t count, uint64_t *keys, uint64_t *mask)
{
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = 0; i < count; i++) {
		least = briefs[i].time < least ? briefs[i].time : least;
		most = briefs[i].time > most ? briefs[i].time : most;
	}
	unsigned number_bits = tw_bits_of(count), time_bits = most < least ? 0 : tw_bits_of(most - least);
	bool packed = number_bits + time_bits < WORD_BITS;
	*mask = packed ? (UINT64_C(1) << number_bits) - 1 : UINT64_MAX;
	for (size_t i = 0; i < count; i++)
		keys[i] = packed ? (briefs[i].time - least) << number_bits | i : i;
	if (packed)
		return tw_sort_keys(keys, count, number_bits, time_bits);
	qsort_r(keys, count, sizeof *keys, earlier_first, (void *)(uintptr_t)briefs);
	return keys;
}

/* Merges the late briefs into those in order. Behind others of the same time, because they came later. */
static void put_late(struct tw_slab *slab, uint64_t *keys)
{
	uint64_t mask;
	const uint64_t *order = order_of(slab->late, slab->late_count, keys, &mask);
	const struct tw_brief *kept = slab->briefs + slab->brief_count;
	struct tw_brief *to = slab->briefs + slab->brief_count + slab->late_count;
	for (size_t left = slab->late_count; left > 0; left--) {
		const struct tw_brief *late = &slab->late[order[left - 1] & mask];
		for (; kept > slab->briefs && kept[-1].time > late->time; kept--)
			*--to = kept[-1];
		*--to = *late;
	}
	slab->brief_count += slab->late_count;
}

/* ---- Brief by brief. ---- */

bool tw_slab_begin_briefs(struct tw_slab *slab, struct tw_brief *late, size_t most)
{
	slab->brief = true;
	slab->late = late;
	slab->late_count = slab->brief_count = 0;
	slab->brief_last = 0;
	slab->failed |= !tw_extend(&slab->briefs, &slab->brief_room, most, sizeof *slab->briefs);
	return !slab->failed;
}

void tw_slab_brief_row(struct tw_slab *slab, uint32_t row)
{
	const struct tw_brief brief = brief_of(slab, row);
	*tw_slab_next_brief(slab, brief.time) = brief;
}

void tw_slab_end_briefs(struct tw_slab *slab, struct tw_slab_scratch *scratch)
{
	size_t size = slab->late_count * 2 * sizeof(uint64_t);
	bool fine = tw_extend(&scratch->bytes, &scratch->room, size, 1);
	if (fine && slab->late_count)
		put_late(slab, (uint64_t *)(void *)scratch->bytes);
	slab->failed |= !fine;
	slab->late = NULL;
}
