/* dictionary_parts.h - what a dictionary is made of. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_DICTIONARY_PARTS_H
#define CORE_DICTIONARY_PARTS_H

#include "base/memory/map.h"
#include "core/dictionary.h"

/* A number that stands for something else than when it was new. */
struct tw_dictionary_changed {
	enum tw_dictionary_part part;
	uint32_t number;
};

struct tw_dictionary {
	struct tw_name *names;
	size_t name_count, name_room;
	bool renamed;           /* a name has got another text */
	struct tw_map name_map; /* hash of text and id to number */
	struct tw_track *tracks;
	size_t track_count, track_room;
	uint64_t moves;        /* tracks that have got another process */
	int32_t *sort_indices; /* by track: of those beyond `sort_room` it is 0 */
	size_t sort_room;
	struct tw_map track_map; /* hash of kind, process and thread to number */
	struct tw_location *locations;
	size_t location_count, location_room;
	struct tw_map location_map; /* hash of name and address to number */
	struct tw_stack *stacks;
	size_t stack_count, stack_room;
	struct tw_map stack_map; /* hash of caller and location to number */
	struct tw_provider *providers;
	size_t provider_count, provider_room;
	struct tw_dictionary_chunk *chunks;
	size_t chunk_left; /* bytes not used at the end of the newest chunk */
	char *chunk_next;
	bool plain;                            /* no text has a zero byte in it */
	bool watched, forgot;                  /* forgot: there was no memory for one of `changed` */
	size_t seen[TW_DICTIONARY_PARTS];      /* how many of each have been collected */
	struct tw_dictionary_changed *changed; /* changes since then */
	size_t changed_count, changed_room;
};

static inline uint64_t tw_dictionary_track_key(const struct tw_track *track)
{
	return tw_hash_two(track->process, track->thread) + track->kind;
}

bool tw_dictionary_find_track(const struct tw_dictionary *dictionary, const struct tw_track *track, uint32_t *number);

static inline int32_t tw_dictionary_sort_index_at(const struct tw_dictionary *dictionary, uint32_t track)
{
	return track < dictionary->sort_room ? dictionary->sort_indices[track] : 0;
}

#endif
