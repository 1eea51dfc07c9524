/* tracks.c - the tracks of a picture, and the names in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/tracks.h"

#include "core/dictionary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tracks. ---- */

uint64_t view_tracks_key(enum view_track_kind kind, uint64_t process, uint64_t thread)
{
	return tw_hash_two(tw_hash_two(process, (uint64_t)kind), thread);
}

static bool is_wanted(const struct view_track *track, enum view_track_kind kind, uint64_t process, uint64_t thread)
{
	return track->kind == kind && track->process == process && track->thread == thread;
}

/* Hashes of two tracks may be the same: then the next numbers are looked at. */
static bool look_up(const struct view_tracks *tracks, uint64_t *key, enum view_track_kind kind, uint64_t process,
                    uint64_t thread, uint32_t *number)
{
	for (*key = view_tracks_key(kind, process, thread); tw_map_find(&tracks->numbers, *key, number); ++*key)
		if (is_wanted(&tracks->items[*number], kind, process, thread))
			return true;
	return false;
}

static void name_by_number(struct view_track *track)
{
	static const char *const words[] = {
	    [VIEW_PROCESS] = "process",  [VIEW_THREAD] = "thread", [VIEW_CPU] = "CPU",
	    [VIEW_COUNTERS] = "counter", [VIEW_ASYNC] = "async",   [VIEW_OTHER] = "track",
	};
	char text[64];
	uint64_t number = track->kind == VIEW_PROCESS ? track->own_process : track->own_thread;
	int length = snprintf(text, sizeof text, "%s %llu", words[track->kind], (unsigned long long)number);
	track->name.length = 0;
	tw_text_add(&track->name, text, (size_t)length);
}

uint32_t view_tracks_find(struct view_tracks *tracks, enum view_track_kind kind, uint64_t process, uint64_t thread)
{
	uint32_t number, parent = VIEW_NONE;
	uint64_t key;
	if (look_up(tracks, &key, kind, process, thread, &number))
		return number;
	if (kind != VIEW_PROCESS && kind != VIEW_CPU && process)
		parent = view_tracks_find(tracks, VIEW_PROCESS, process, 0);
	if (tracks->count >= VIEW_TRACKS_MOST ||
	    !tw_grow(&tracks->items, &tracks->room, tracks->count + 1, sizeof *tracks->items) ||
	    !tw_map_add(&tracks->numbers, key, (uint32_t)tracks->count))
		return VIEW_NONE;
	tracks->items[tracks->count] = (struct view_track){.kind = kind,
	                                                   .parent = parent,
	                                                   .process = process,
	                                                   .thread = thread,
	                                                   .own_process = process,
	                                                   .own_thread = thread};
	name_by_number(&tracks->items[tracks->count]);
	tracks->changes++;
	return (uint32_t)tracks->count++;
}

uint32_t view_tracks_known(const struct view_tracks *tracks, enum view_track_kind kind, uint64_t process,
                           uint64_t thread)
{
	uint32_t number;
	uint64_t key;
	return look_up(tracks, &key, kind, process, thread, &number) ? number : VIEW_NONE;
}

bool view_tracks_deepen(struct view_tracks *tracks, uint32_t number, uint32_t lane, uint32_t depth)
{
	struct view_track *track = &tracks->items[number];
	if (lane >= VIEW_LANES_MOST || depth >= UINT16_MAX ||
	    !tw_grow(&track->lanes, &track->lane_room, lane + 1, sizeof *track->lanes))
		return false;
	if (lane >= track->lane_count)
		track->lane_count = lane + 1;
	if (depth > track->lanes[lane])
		track->lanes[lane] = (uint16_t)depth;
	tracks->changes++;
	return true;
}

bool view_track_series_room(struct view_track *track, size_t count)
{
	return tw_grow(&track->series_names, &track->series_name_room, count, sizeof *track->series_names) &&
	       tw_grow(&track->series, &track->series_room, count, sizeof *track->series);
}

static void set_name(struct view_tracks *tracks, struct view_track *track, const struct tw_name *name)
{
	size_t length = name->length < VIEW_NAME_MOST ? name->length : VIEW_NAME_MOST;
	if (length == 0 || (length == track->name.length && memcmp(track->name.bytes, name->text, length) == 0))
		return;
	track->name.length = 0;
	tw_text_add(&track->name, name->text, length);
	track->running = 0;
	tracks->changes++;
}

void view_track_own(struct view_tracks *tracks, uint32_t number, uint64_t process, uint64_t thread)
{
	struct view_track *track = &tracks->items[number];
	if (track->own_process == process && track->own_thread == thread)
		return;
	track->own_process = process;
	track->own_thread = thread;
	if (!track->fixed)
		name_by_number(track);
	track->running = 0;
	tracks->changes++;
}

void view_track_call(struct view_tracks *tracks, uint32_t track, const struct tw_name *name)
{
	tracks->items[track].fixed = true;
	set_name(tracks, &tracks->items[track], name);
}

static void set_sort_index(struct view_tracks *tracks, struct view_track *track, const struct tw_dictionary *dictionary)
{
	const struct tw_track wanted = {.process = track->process,
	                                .thread = track->thread,
	                                .kind = track->kind == VIEW_PROCESS ? TW_TRACK_PROCESS : TW_TRACK_THREAD};
	const int32_t sort_index = track->kind == VIEW_PROCESS || track->kind == VIEW_THREAD
	                               ? tw_dictionary_sort_index(dictionary, &wanted)
	                               : 0;
	tracks->changes += sort_index != track->sort_index;
	track->sort_index = sort_index;
}

void view_track_name(struct view_tracks *tracks, uint32_t number, const struct tw_dictionary *dictionary)
{
	struct view_track *track = &tracks->items[number];
	set_sort_index(tracks, track, dictionary);
	if (track->kind == VIEW_PROCESS)
		set_name(tracks, track, tw_dictionary_process_name(dictionary, track->process));
	else if (track->kind == VIEW_THREAD)
		set_name(tracks, track, tw_dictionary_thread_name(dictionary, track->process, track->thread));
}

void view_tracks_name(struct view_tracks *tracks, const struct tw_dictionary *dictionary)
{
	for (size_t i = 0; i < tracks->count; i++)
		view_track_name(tracks, (uint32_t)i, dictionary);
}

const char *view_track_kind_name(enum view_track_kind kind)
{
	static const char *const names[] = {
#define X(what, text) [what] = (text),
	    VIEW_TRACK_LIST(X)
#undef X
	};
	return names[kind];
}

void view_tracks_empty(struct view_tracks *tracks)
{
	for (size_t i = 0; i < tracks->count; i++) {
		struct view_track *track = &tracks->items[i];
		for (uint32_t lane = 0; lane < track->lane_count; lane++)
			track->lanes[lane] = 0;
		track->lane_count = 0;
		track->slices = 0;
	}
	tracks->changes++;
}

void view_tracks_free(struct view_tracks *tracks)
{
	for (size_t i = 0; i < tracks->count; i++) {
		tw_text_free(&tracks->items[i].name);
		free(tracks->items[i].lanes);
		free(tracks->items[i].series_names);
		free(tracks->items[i].series);
	}
	free(tracks->items);
	tw_map_free(&tracks->numbers);
	*tracks = (struct view_tracks){0};
}

/* ---- Names. ---- */

uint64_t view_names_text_key(const char *text, size_t length)
{
	return tw_hash_bytes(text, length < VIEW_NAME_MOST ? length : VIEW_NAME_MOST, 0);
}

uint64_t view_names_key(const char *text, size_t length, const char *category, size_t category_length)
{
	return tw_hash_two(view_names_text_key(text, length), view_names_text_key(category, category_length));
}

static bool map_first(struct tw_map *map, uint64_t key, uint32_t number)
{
	uint32_t first;
	return tw_map_find(map, key, &first) || tw_map_add(map, key, number);
}

bool view_names_map(const struct view_names *names, const struct view_store *store, struct tw_map *map)
{
	bool fine = true;
	for (uint32_t i = 0; i < names->items.count && fine; i++) {
		const struct view_name *name = view_names_at(names, store, i);
		const char *text = (const char *)store->bytes + name->place;
		fine = map_first(map, view_names_text_key(text, name->length), i);
		if (!name->category || !fine)
			continue;
		const struct view_name *category = view_names_at(names, store, name->category - 1);
		fine = map_first(map,
		                 view_names_key(text, name->length, (const char *)store->bytes + category->place,
		                                category->length),
		                 i);
	}
	return fine;
}

static uint32_t known_by(const struct view_names *names, uint64_t key)
{
	uint32_t number;
	return tw_map_find(names->known, key, &number) ? number : VIEW_NONE;
}

uint32_t view_names_add(struct view_names *names, struct view_store *store, const char *text, size_t length)
{
	struct view_name *name;
	if (names->known)
		return known_by(names, view_names_text_key(text, length));
	length = length < VIEW_NAME_MOST ? length : VIEW_NAME_MOST;
	uint64_t place = view_store_take(store, length);
	if (place == VIEW_NOWHERE || names->items.count >= VIEW_NONE ||
	    !(name = view_column_add(&names->items, store, sizeof *name)))
		return VIEW_NONE;
	if (length)
		memcpy(store->bytes + place, text, length);
	const uint32_t number = (uint32_t)names->items.count - 1;
	*name = (struct view_name){.place = place, .length = (uint32_t)length, .first = number};
	return number;
}

static void take_source(struct view_names *names, struct view_store *store, uint32_t number, const struct tw_name *text)
{
	if (number == VIEW_NONE || !text->file)
		return;
	uint32_t file = view_names_add(names, store, text->file, strlen(text->file));
	struct view_name *name = view_names_at(names, store, number);
	name->file = 1 + file; /* 0 where there was no room */
	name->line = text->line;
}

uint32_t view_names_take(struct view_names *names, struct view_store *store, const struct tw_dictionary *dictionary,
                         uint32_t name)
{
	if (!tw_grow(&names->taken, &names->taken_room, (size_t)name + 1, sizeof *names->taken))
		return VIEW_NONE;
	struct view_taken_name *taken = &names->taken[name];
	if (!taken->number) {
		const struct tw_name *text = tw_dictionary_name(dictionary, name);
		taken->number = 1 + view_names_add(names, store, text->text, text->length);
		if (!names->known)
			take_source(names, store, taken->number - 1, text);
	}
	return taken->number - 1;
}

/* The number of a name with another category than its first one. */
static uint32_t take_other(struct view_names *names, struct view_store *store, uint32_t first, uint32_t category)
{
	const uint64_t key = (uint64_t)first << 32 | category;
	uint32_t number = VIEW_NONE;
	if (tw_map_find(&names->others, key, &number) || names->items.count >= VIEW_NONE)
		return number;
	struct view_name *name = view_column_add(&names->items, store, sizeof *name);
	number = (uint32_t)names->items.count - 1;
	if (!name || !tw_map_add(&names->others, key, number))
		return VIEW_NONE;
	*name = *view_names_at(names, store, first);
	name->category = category + 1;
	name->sent = 0;
	return number;
}

static uint32_t take_known(struct view_names *names, const struct tw_dictionary *dictionary, uint32_t name,
                           uint32_t category)
{
	const struct tw_name *text = tw_dictionary_name(dictionary, name);
	const struct tw_name *other = tw_dictionary_name(dictionary, category);
	const uint32_t number = known_by(names, view_names_key(text->text, text->length, other->text, other->length));
	if (number != VIEW_NONE) {
		names->taken[name].category = category + 1;
		names->taken[name].latest = number;
	}
	return number;
}

uint32_t view_names_take_both(struct view_names *names, struct view_store *store,
                              const struct tw_dictionary *dictionary, uint32_t name, uint32_t category)
{
	const uint32_t first = view_names_take(names, store, dictionary, name);
	if (names->known)
		return take_known(names, dictionary, name, category);
	const uint32_t own = view_names_take(names, store, dictionary, category);
	if (first == VIEW_NONE || own == VIEW_NONE)
		return VIEW_NONE;
	struct view_name *item = view_names_at(names, store, first);
	if (!item->category)
		item->category = own + 1;
	const uint32_t number = item->category == own + 1 ? first : take_other(names, store, first, own);
	if (number != VIEW_NONE) {
		names->taken[name].category = category + 1;
		names->taken[name].latest = number;
	}
	return number;
}

uint32_t view_names_send(struct view_names *names, struct view_store *store, uint32_t number)
{
	number = view_names_at(names, store, number)->first;
	struct view_name *name = view_names_at(names, store, number);
	if (!name->sent) {
		if (!tw_grow(&names->sent, &names->sent_room, names->sent_count + 1, sizeof *names->sent))
			return VIEW_NONE;
		names->sent[names->sent_count++] = number;
		name->sent = (uint32_t)names->sent_count;
	}
	return name->sent - 1;
}

bool view_names_move(struct view_names *names, const struct view_store *from, struct view_store *to)
{
	struct view_column items = {0};
	for (uint64_t i = 0; i < names->items.count; i++) {
		const struct view_name *was = view_names_at(names, from, (uint32_t)i);
		const bool own =
		    was->first == i; /* another of the same text has that of the first, which is before it */
		const uint64_t place = own ? view_store_take(to, was->length) : 0;
		struct view_name *name = view_column_add(&items, to, sizeof *name);
		if (place == VIEW_NOWHERE || !name) {
			view_column_free(&items);
			return false;
		}
		*name = *was;
		name->place =
		    own ? place : ((struct view_name *)view_column_at(&items, to, sizeof *name, was->first))->place;
		if (own && was->length)
			memcpy(to->bytes + place, from->bytes + was->place, was->length);
	}
	view_column_free(&names->items);
	names->items = items;
	return true;
}

void view_names_free(struct view_names *names)
{
	view_column_free(&names->items);
	free(names->taken);
	free(names->sent);
	tw_map_free(&names->others);
	*names = (struct view_names){0};
}
