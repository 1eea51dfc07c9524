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
	struct {
		struct tw_name *items;
		size_t count, room;
		bool renamed;      /* a name has got another text */
		struct tw_map map; /* hash of text and id to number */
	} names;
	struct {
		struct tw_track *items;
		size_t count, room;
		uint64_t moves;    /* tracks that have got another process */
		struct tw_map map; /* hash of kind, process and thread to number */
	} tracks;
	struct {                /* by track: of those beyond `room` it is 0 */
		int32_t *items; /* by track: of those beyond `sort_room` it is 0 */
		size_t room;
	} sort_indices;
	struct {
		struct tw_location *items;
		size_t count, room;
		struct tw_map map; /* hash of name and address to number */
	} locations;
	struct {
		struct tw_stack *items;
		size_t count, room;
		struct tw_map map; /* hash of caller and location to number */
	} stacks;
	struct {
		struct tw_provider *items;
		size_t count, room;
	} providers;
	struct {
		struct tw_dictionary_chunk *chunks;
		size_t left; /* bytes not used at the end of the newest chunk */
		char *next;
		bool plain; /* no text has a zero byte in it */
	} texts;
	struct {
		bool watched, forgot;                /* forgot: there was no memory for one of `changed` */
		size_t seen[TW_DICTIONARY_PARTS];    /* how many of each have been collected */
		struct tw_dictionary_changed *items; /* changes since then */
		size_t count, room;
	} changes;
};

static inline uint64_t tw_dictionary_track_key(const struct tw_track *track)
{
	return tw_hash_two(track->process, track->thread) + track->kind;
}

bool tw_dictionary_find_track(const struct tw_dictionary *dictionary, const struct tw_track *track, uint32_t *number);

static inline int32_t tw_dictionary_sort_index_at(const struct tw_dictionary *dictionary, uint32_t track)
{
	return track < dictionary->sort_indices.room ? dictionary->sort_indices.items[track] : 0;
}

#endif
