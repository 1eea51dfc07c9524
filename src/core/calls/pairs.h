/* pairs.h - what has begun and has not ended, by what records have in common: asynchronous operations and flows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_PAIRS_H
#define CORE_CALLS_PAIRS_H

#include "base/memory/map.h"

#include <trackway/event.h>

/* One that has begun. But for `key` and `next` its members are the caller's, and 0 at first. */
struct tw_open_pair {
	uint64_t key; /* 0: it has ended */
	uint64_t id, ts, argument_set, slice;
	uint32_t track, name, category;
	uint32_t next; /* older one of the key, plus 1 */
	bool wanted;
};

/* All zero to begin. */
struct tw_pairs {
	struct tw_map map; /* key to the newest plus 1; 0: none any more */
	struct tw_open_pair *items;
	size_t count, room, going; /* those that are not over */
	uint32_t free;             /* plus 1 */
	size_t wanted;             /* how many of those are */
};

/* The key of an event: its name, its category and its id; the process, too, where ids are local to it and the event
 * does not tell that it is global. Not 0. */
uint64_t tw_pair_key(const struct tw_dictionary *dictionary, const struct tw_event *event, bool local);

/* The newest of a key, or NULL. */
struct tw_open_pair *tw_pairs_find(const struct tw_pairs *pairs, uint64_t key);

/* Adds one, in at most `limit` bytes for all. NULL when there is no room or no memory. */
struct tw_open_pair *tw_pairs_add(struct tw_pairs *pairs, uint64_t key, size_t limit);

/* Takes the newest of a key away. */
void tw_pairs_remove(struct tw_pairs *pairs, struct tw_open_pair *item);

/* Keys without an item stay in the map: when there are many, it is made anew. To be called after removals; false
 * without memory. */
bool tw_pairs_sweep(struct tw_pairs *pairs);

void tw_pairs_free(struct tw_pairs *pairs);

/* Whether operations with one key are open at once: told once for each track. All zero to begin. */
struct tw_shared_keys {
	struct tw_pairs pairs;
	bool *told; /* by track */
	size_t room;
};

/* Takes an event; others than begins and ends of asynchronous operations are passed over, and so are begins for which
 * `limit` bytes have no room. Returns whether it is the first of its track that begins while another of its key is
 * open. *failed is set without memory. */
bool tw_shared_keys_take(struct tw_shared_keys *keys, const struct tw_dictionary *dictionary,
                         const struct tw_event *event, size_t limit, bool *failed);

void tw_shared_keys_free(struct tw_shared_keys *keys);

#endif
