/* pairs.c - what has begun and has not ended, by key. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/pairs.h"

#include "base/memory/memory.h"

#include <stdlib.h>

struct tw_pair_link {
	uint32_t older, newer; /* of the scope, plus 1 */
};

static uint64_t scope_of(const struct tw_dictionary *dictionary, const struct tw_event *event, bool local)
{
	local = local && !(event->flags & TW_FLAG_GLOBAL);
	const struct tw_track *track = tw_dictionary_track(dictionary, event->track);
	return tw_hash_two(tw_hash_two(event->category, event->id), local ? track->process : 0);
}

static uint64_t key_in(uint64_t scope, uint32_t name)
{
	return tw_hash_two(scope, name) | 1;
}

uint64_t tw_pair_key(const struct tw_dictionary *dictionary, const struct tw_event *event, bool local)
{
	return key_in(scope_of(dictionary, event, local), event->name);
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
	const size_t slots = 4 * sizeof(struct tw_map_slot);
	const size_t scopes = pairs->scopes.used ? sizeof(struct tw_pair_link) + slots : 0;
	if ((pairs->count + 1) * (sizeof *pairs->items + slots + scopes) > limit ||
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

/* ---- Scopes. ---- */

/* They can be made again at any time. */
static void drop_scopes(struct tw_pairs *pairs)
{
	tw_map_free(&pairs->scopes.map);
	free(pairs->scopes.links);
	pairs->scopes = (struct tw_pair_scopes){0};
}

static bool link_item(struct tw_pairs *pairs, uint32_t place)
{
	struct tw_pair_scopes *scopes = &pairs->scopes;
	const uint64_t scope = pairs->items[place].scope;
	if (!tw_grow(&scopes->links, &scopes->room, place + (size_t)1, sizeof *scopes->links))
		return false;
	uint32_t *stored = tw_map_stored(&scopes->map, scope);
	scopes->links[place] = (struct tw_pair_link){.older = stored ? *stored - 1 : 0};
	if (scopes->links[place].older)
		scopes->links[scopes->links[place].older - 1].newer = place + 1;
	if (!stored)
		return tw_map_add(&scopes->map, scope, place + 1);
	*stored = place + 2;
	return true;
}

static void unlink_item(struct tw_pairs *pairs, uint32_t place)
{
	struct tw_pair_scopes *scopes = &pairs->scopes;
	const struct tw_pair_link link = scopes->links[place];
	if (link.older)
		scopes->links[link.older - 1].newer = link.newer;
	if (link.newer)
		scopes->links[link.newer - 1].older = link.older;
	else
		*tw_map_stored(&scopes->map, pairs->items[place].scope) = link.older + 1;
}

struct aged {
	uint64_t begun;
	uint32_t place;
};

static int by_age(const void *first, const void *second)
{
	const struct aged *one = first, *other = second;
	return (one->begun > other->begun) - (one->begun < other->begun);
}

/* False without memory. */
static bool make_scopes(struct tw_pairs *pairs)
{
	struct aged *aged = calloc(pairs->going + 1, sizeof *aged);
	size_t count = 0;
	pairs->scopes.used = aged;
	for (size_t i = 0; i < pairs->count && aged; i++)
		if (pairs->items[i].key)
			aged[count++] = (struct aged){pairs->items[i].begun, (uint32_t)i};
	if (count)
		qsort(aged, count, sizeof *aged, by_age);
	for (size_t i = 0; i < count && pairs->scopes.used; i++)
		pairs->scopes.used = link_item(pairs, aged[i].place);
	free(aged);
	if (!pairs->scopes.used)
		drop_scopes(pairs);
	return pairs->scopes.used;
}

/* One after the other, where there is no memory for more. */
static struct tw_open_pair *search_newest(struct tw_pairs *pairs, uint64_t scope)
{
	struct tw_open_pair *newest = NULL;
	for (size_t i = 0; i < pairs->count; i++) {
		struct tw_open_pair *item = &pairs->items[i];
		if (item->key && item->scope == scope && (!newest || item->begun > newest->begun))
			newest = item;
	}
	return newest;
}

static struct tw_open_pair *newest_in(struct tw_pairs *pairs, uint64_t scope)
{
	uint32_t found;
	if (!pairs->going)
		return NULL;
	if (!pairs->scopes.used && !make_scopes(pairs))
		return search_newest(pairs, scope);
	return tw_map_find(&pairs->scopes.map, scope, &found) && found ? &pairs->items[found - 1] : NULL;
}

struct tw_open_pair *tw_pairs_begin(struct tw_pairs *pairs, const struct tw_dictionary *dictionary,
                                    const struct tw_event *event, size_t limit)
{
	const uint64_t scope = scope_of(dictionary, event, true);
	struct tw_open_pair *item = tw_pairs_add(pairs, key_in(scope, event->name), limit);
	if (!item)
		return NULL;
	item->scope = scope;
	item->begun = ++pairs->begun;
	if (pairs->scopes.used && !link_item(pairs, (uint32_t)(item - pairs->items)))
		drop_scopes(pairs);
	return item;
}

struct tw_open_pair *tw_pairs_ended(struct tw_pairs *pairs, const struct tw_dictionary *dictionary,
                                    const struct tw_event *event)
{
	const uint64_t scope = scope_of(dictionary, event, true);
	return event->name ? tw_pairs_find(pairs, key_in(scope, event->name)) : newest_in(pairs, scope);
}

void tw_pairs_remove(struct tw_pairs *pairs, struct tw_open_pair *item)
{
	uint32_t place = (uint32_t)(item - pairs->items) + 1;
	if (pairs->scopes.used)
		unlink_item(pairs, place - 1);
	*tw_map_stored(&pairs->map, item->key) = item->next + 1;
	pairs->wanted -= item->wanted;
	item->next = pairs->free;
	item->key = 0;
	pairs->free = place;
	pairs->going--;
}

static bool sweep(struct tw_map *map, size_t going)
{
	enum { STALE = 256 };
	struct tw_map fresh = {0};
	bool fine = true;
	if (map->count < 2 * going + STALE)
		return true;
	for (size_t i = 0; i <= map->mask && fine; i++)
		if (map->slots[i].value > 1)
			fine = tw_map_add(&fresh, map->slots[i].key, map->slots[i].value - 1);
	tw_map_free(fine ? map : &fresh);
	if (fine)
		*map = fresh;
	return fine;
}

bool tw_pairs_sweep(struct tw_pairs *pairs)
{
	if (!sweep(&pairs->scopes.map, pairs->going))
		drop_scopes(pairs);
	return sweep(&pairs->map, pairs->going);
}

void tw_pairs_free(struct tw_pairs *pairs)
{
	drop_scopes(pairs);
	tw_map_free(&pairs->map);
	free(pairs->items);
	*pairs = (struct tw_pairs){0};
}

/* ---- Keys that several have at once. ---- */

static bool is_first_report(struct tw_shared_keys *keys, uint32_t track, bool *failed)
{
	if (!tw_grow(&keys->reported, &keys->room, track + (size_t)1, sizeof *keys->reported)) {
		*failed = true;
		return false;
	}
	const bool first = !keys->reported[track];
	keys->reported[track] = true;
	return first;
}

bool tw_shared_keys_take(struct tw_shared_keys *keys, const struct tw_dictionary *dictionary,
                         const struct tw_event *event, size_t limit, bool *failed)
{
	if (event->kind != TW_ASYNC_BEGIN && event->kind != TW_ASYNC_END)
		return false;
	if (event->kind == TW_ASYNC_BEGIN) {
		const bool shared = tw_pairs_find(&keys->pairs, tw_pair_key(dictionary, event, true));
		tw_pairs_begin(&keys->pairs, dictionary, event, limit);
		return shared && is_first_report(keys, event->track, failed);
	}
	struct tw_open_pair *open = tw_pairs_ended(&keys->pairs, dictionary, event);
	if (open)
		tw_pairs_remove(&keys->pairs, open);
	*failed |= open && !tw_pairs_sweep(&keys->pairs);
	return false;
}

void tw_shared_keys_free(struct tw_shared_keys *keys)
{
	tw_pairs_free(&keys->pairs);
	free(keys->reported);
	*keys = (struct tw_shared_keys){0};
}
