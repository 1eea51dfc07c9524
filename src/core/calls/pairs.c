/* pairs.c - what has begun and has not ended, by key. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/pairs.h"

#include "base/memory/memory.h"

#include <stdlib.h>

uint64_t tw_pair_key(const struct tw_dictionary *dictionary, const struct tw_event *event, bool local)
{
	local = local && !(event->flags & TW_FLAG_GLOBAL);
	const struct tw_track *track = tw_dictionary_track(dictionary, event->track);
	uint64_t names = (uint64_t)event->name << 32 | event->category;
	uint64_t key = tw_hash_two(tw_hash_two(names, event->id), local ? track->process : 0);
	return key | 1;
}

struct tw_open_pair *tw_pairs_find(const struct tw_pairs *pairs, uint64_t key)
{
	uint32_t found;
	return tw_map_find(&pairs->map, key, &found) && found ? &pairs->items[found - 1] : NULL;
}

/* The place of a new one; UINT32_MAX when there is no room. */
static uint32_t new_place(struct tw_pairs *pairs, size_t limit)
{
	uint32_t place = pairs->free;
	if (place) {
		pairs->free = pairs->items[place - 1].next;
		return place - 1;
	}
	if ((pairs->count + 1) * (sizeof *pairs->items + 4 * sizeof(struct tw_map_slot)) > limit ||
	    !tw_grow(&pairs->items, &pairs->room, pairs->count + 1, sizeof *pairs->items))
		return UINT32_MAX;
	return (uint32_t)pairs->count++;
}

struct tw_open_pair *tw_pairs_add(struct tw_pairs *pairs, uint64_t key, size_t limit)
{
	uint32_t place = new_place(pairs, limit);
	if (place == UINT32_MAX)
		return NULL;
	struct tw_open_pair *item = &pairs->items[place];
	uint32_t *stored = tw_map_stored(&pairs->map, key);
	*item = (struct tw_open_pair){.key = key, .next = stored ? *stored - 1 : 0};
	if (stored)
		*stored = place + 2;
	else if (!tw_map_add(&pairs->map, key, place + 1)) {
		*item = (struct tw_open_pair){.next = pairs->free};
		pairs->free = place + 1;
		return NULL;
	}
	pairs->going++;
	return item;
}

void tw_pairs_remove(struct tw_pairs *pairs, struct tw_open_pair *item)
{
	uint32_t place = (uint32_t)(item - pairs->items) + 1;
	*tw_map_stored(&pairs->map, item->key) = item->next + 1;
	pairs->wanted -= item->wanted;
	item->next = pairs->free;
	item->key = 0;
	pairs->free = place;
	pairs->going--;
}

bool tw_pairs_sweep(struct tw_pairs *pairs)
{
	enum { STALE = 4096 };
	struct tw_map fresh = {0};
	bool fine = true;
	if (pairs->map.count < 2 * pairs->going + STALE)
		return true;
	for (size_t i = 0; i <= pairs->map.mask && fine; i++)
		if (pairs->map.slots[i].value > 1)
			fine = tw_map_add(&fresh, pairs->map.slots[i].key, pairs->map.slots[i].value - 1);
	tw_map_free(fine ? &pairs->map : &fresh);
	if (fine)
		pairs->map = fresh;
	return fine;
}

void tw_pairs_free(struct tw_pairs *pairs)
{
	tw_map_free(&pairs->map);
	free(pairs->items);
	*pairs = (struct tw_pairs){0};
}

/* ---- Keys that several have at once. ---- */

static bool tells_first(struct tw_shared_keys *keys, uint32_t track, bool *failed)
{
	if (!tw_grow(&keys->told, &keys->room, track + (size_t)1, sizeof *keys->told)) {
		*failed = true;
		return false;
	}
	const bool first = !keys->told[track];
	keys->told[track] = true;
	return first;
}

bool tw_shared_keys_take(struct tw_shared_keys *keys, const struct tw_dictionary *dictionary,
                         const struct tw_event *event, size_t limit, bool *failed)
{
	if (event->kind != TW_ASYNC_BEGIN && event->kind != TW_ASYNC_END)
		return false;
	const uint64_t key = tw_pair_key(dictionary, event, true);
	struct tw_open_pair *open = tw_pairs_find(&keys->pairs, key);
	if (event->kind == TW_ASYNC_BEGIN) {
		tw_pairs_add(&keys->pairs, key, limit);
		return open && tells_first(keys, event->track, failed);
	}
	if (open)
		tw_pairs_remove(&keys->pairs, open);
	*failed |= open && !tw_pairs_sweep(&keys->pairs);
	return false;
}

void tw_shared_keys_free(struct tw_shared_keys *keys)
{
	tw_pairs_free(&keys->pairs);
	free(keys->told);
	*keys = (struct tw_shared_keys){0};
}
