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
	uint64_t scope, begun; /* of operations: the key without the name; which of all it is */
};

/* The open ones of a scope, for ends without a name: made by the first of them, and kept up from then on. */
struct tw_pair_scopes {
	bool used;
	struct tw_map map;          /* scope to the newest plus 1; 0: none any more */
	struct tw_pair_link *links; /* by place among the items */
	size_t room;
};

/* All zero to begin. */
struct tw_pairs {
	struct tw_map map; /* key to the newest plus 1; 0: none any more */
	struct tw_open_pair *items;
	size_t count, room, going; /* those that are not over */
	uint32_t free;             /* plus 1 */
	size_t wanted;             /* how many of those are */
	uint64_t begun;            /* operations that began */
	struct tw_pair_scopes scopes;
};

/* The key of a flow: its name, its category and its id; the process, too, where ids are local to it and the event does
 * not tell that it is global. Not 0. */
uint64_t tw_pair_key(const struct tw_dictionary *dictionary, const struct tw_event *event, bool local);

/* Adds the asynchronous operation that an event begins, by the same key with the process, as tw_pairs_add(). */
struct tw_open_pair *tw_pairs_begin(struct tw_pairs *pairs, const struct tw_dictionary *dictionary,
                                    const struct tw_event *event, size_t limit);

/* The operation that an event ends, or NULL. An end without a name ends the newest of its category, its id and its
 * process, as Perfetto's importer of Chrome's JSON has it. */
struct tw_open_pair *tw_pairs_ended(struct tw_pairs *pairs, const struct tw_dictionary *dictionary,
                                    const struct tw_event *event);

/* The newest of a key, or NULL. */
struct tw_open_pair *tw_pairs_find(const struct tw_pairs *pairs, uint64_t key);

/* Adds one, in at most `limit` bytes for all. NULL when there is no room or no memory. */
struct tw_open_pair *tw_pairs_add(struct tw_pairs *pairs, uint64_t key, size_t limit);

/* Takes the newest of a key away: what one of the functions above found. */
void tw_pairs_remove(struct tw_pairs *pairs, struct tw_open_pair *item);

/* Keys without an item stay in the map: when there are many, it is made anew. To be called after removals; false
 * without memory. */
bool tw_pairs_sweep(struct tw_pairs *pairs);

void tw_pairs_free(struct tw_pairs *pairs);

/* Whether operations with one key are open at once: reported once for each track. All zero to begin. */
struct tw_shared_keys {
	struct tw_pairs pairs;
	bool *reported; /* by track */
	size_t room;
};

/* Takes an event; others than begins and ends of asynchronous operations are passed over, and so are begins for which
 * `limit` bytes have no room. Returns whether it is the first of its track that begins while another of its key is
 * open. *failed is set without memory. */
bool tw_shared_keys_take(struct tw_shared_keys *keys, const struct tw_dictionary *dictionary,
                         const struct tw_event *event, size_t limit, bool *failed);

void tw_shared_keys_free(struct tw_shared_keys *keys);

#endif
