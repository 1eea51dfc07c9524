/* event_keys.c - keys of events, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/order/slab.h"

#include <stdlib.h>

enum { WORD_BITS = 64 };

/* Makes the key of a row. */
static struct tw_event_key key_of(const struct tw_slab *slab, uint32_t row)
{
	const struct tw_event *event = &slab->events[row];
	return (struct tw_event_key){
	    .time = event->time,
	    .number = row,
	    .tags = (uint32_t)(event->offset - slab->offset) & TW_KEY_PLACE,
	};
}

void tw_slab_make_keys(struct tw_slab *slab)
{
	if (!tw_extend(&slab->keys, &slab->key_room, slab->count, sizeof *slab->keys)) {
		slab->failed = true;
		return;
	}
	for (size_t i = 0; i < slab->count; i++)
		slab->keys[i] = key_of(slab, slab->sorted ? (uint32_t)i : slab->order[i]);
	slab->key_count = slab->count;
	slab->keyed = true;
}

/* ---- Sorting those that come too late where they stand: complete slices, nearly always. ---- */

static int earlier_first(const void *a, const void *b, void *context)
{
	const struct tw_event_key *keys = context;
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
	if (keys[left].time != keys[right].time)
		return keys[left].time < keys[right].time ? -1 : 1;
	return left < right ? -1 : 1;
}

/* Finds the order of time of keys, as numbers that hold their places: the bits of `mask`. */
static uint64_t *order_of(const struct tw_event_key *keys, size_t count, uint64_t *numbers, uint64_t *mask)
{
	uint64_t least = UINT64_MAX, most = 0;
	for (size_t i = 0; i < count; i++) {
		least = keys[i].time < least ? keys[i].time : least;
		most = keys[i].time > most ? keys[i].time : most;
	}
	unsigned number_bits = tw_bits_of(count), time_bits = most < least ? 0 : tw_bits_of(most - least);
	bool packed = number_bits + time_bits < WORD_BITS;
	*mask = packed ? (UINT64_C(1) << number_bits) - 1 : UINT64_MAX;
	for (size_t i = 0; i < count; i++)
		numbers[i] = packed ? (keys[i].time - least) << number_bits | i : i;
	if (packed)
		return tw_sort_keys(numbers, count, number_bits, time_bits);
	qsort_r(numbers, count, sizeof *numbers, earlier_first, (void *)(uintptr_t)keys);
	return numbers;
}

/* Merges the late keys into those in order. Behind others of the same time, because they came later. */
static void put_late(struct tw_slab *slab, uint64_t *numbers)
{
	uint64_t mask;
	const uint64_t *order = order_of(slab->late, slab->late_count, numbers, &mask);
	const struct tw_event_key *kept = slab->keys + slab->key_count;
	struct tw_event_key *to = slab->keys + slab->key_count + slab->late_count;
	for (size_t left = slab->late_count; left > 0; left--) {
		const struct tw_event_key *late = &slab->late[order[left - 1] & mask];
		for (; kept > slab->keys && kept[-1].time > late->time; kept--)
			*--to = kept[-1];
		*--to = *late;
	}
	slab->key_count += slab->late_count;
}

/* ---- Brief by key. ---- */

bool tw_slab_begin_keys(struct tw_slab *slab, struct tw_event_key *late, size_t most)
{
	slab->keyed = true;
	slab->late = late;
	slab->late_count = slab->key_count = 0;
	slab->last_key = 0;
	slab->failed |= !tw_extend(&slab->keys, &slab->key_room, most, sizeof *slab->keys);
	return !slab->failed;
}

void tw_slab_add_key(struct tw_slab *slab, uint32_t row)
{
	const struct tw_event_key key = key_of(slab, row);
	*tw_slab_next_key(slab, key.time) = key;
}

void tw_slab_end_keys(struct tw_slab *slab, struct tw_slab_scratch *scratch)
{
	size_t size = slab->late_count * 2 * sizeof(uint64_t);
	bool fine = tw_extend(&scratch->bytes, &scratch->room, size, 1);
	if (fine && slab->late_count)
		put_late(slab, (uint64_t *)(void *)scratch->bytes);
	slab->failed |= !fine;
	slab->late = NULL;
}
