/* dictionary.c - names, tracks and stacks by number. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dictionary_parts.h"

#include "base/memory/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Texts lie in chunks that never move, so that struct tw_name can point into them. */
enum { CHUNK = 1 << 16 };

struct tw_dictionary_chunk {
	struct tw_dictionary_chunk *before;
	char bytes[];
};

/* ---- Making and freeing. ---- */

struct tw_dictionary *tw_dictionary_new(void)
{
	struct tw_dictionary *dictionary = calloc(1, sizeof *dictionary);
	if (!dictionary)
		return NULL;
	if (!tw_grow(&dictionary->names.items, &dictionary->names.room, 1, sizeof *dictionary->names.items) ||
	    !tw_grow(&dictionary->tracks.items, &dictionary->tracks.room, 1, sizeof *dictionary->tracks.items) ||
	    !tw_grow(&dictionary->locations.items, &dictionary->locations.room, 1,
	             sizeof *dictionary->locations.items) ||
	    !tw_grow(&dictionary->stacks.items, &dictionary->stacks.room, 1, sizeof *dictionary->stacks.items) ||
	    !tw_grow(&dictionary->providers.items, &dictionary->providers.room, 1,
	             sizeof *dictionary->providers.items)) {
		tw_dictionary_free(dictionary);
		return NULL;
	}
	dictionary->names.items[0].text = "";
	dictionary->tracks.items[0].kind = TW_TRACK_OTHER;
	dictionary->names.count = dictionary->tracks.count = dictionary->locations.count = dictionary->stacks.count = 1;
	dictionary->providers.count = 1;
	return dictionary;
}

struct tw_dictionary *tw_dictionary_new_plain(void)
{
	struct tw_dictionary *dictionary = tw_dictionary_new();
	if (dictionary)
		dictionary->texts.plain = true;
	return dictionary;
}

void tw_dictionary_free(struct tw_dictionary *dictionary)
{
	if (!dictionary)
		return;
	for (struct tw_dictionary_chunk *chunk = dictionary->texts.chunks, *before; chunk; chunk = before) {
		before = chunk->before;
		free(chunk);
	}
	free(dictionary->names.items);
	free(dictionary->tracks.items);
	free(dictionary->sort_indices.items);
	free(dictionary->locations.items);
	free(dictionary->stacks.items);
	free(dictionary->providers.items);
	tw_map_free(&dictionary->names.map);
	tw_map_free(&dictionary->tracks.map);
	tw_map_free(&dictionary->locations.map);
	tw_map_free(&dictionary->stacks.map);
	free(dictionary->changes.items);
	free(dictionary);
}

static void note_change(struct tw_dictionary *dictionary, enum tw_dictionary_part part, uint32_t number)
{
	size_t count = dictionary->changes.count;
	if (!dictionary->changes.watched)
		return;
	if (tw_grow(&dictionary->changes.items, &dictionary->changes.room, count + 1,
	            sizeof *dictionary->changes.items))
		dictionary->changes.items[dictionary->changes.count++] = (struct tw_dictionary_changed){part, number};
	else
		dictionary->changes.forgot = true;
}

/* ---- Names. ---- */

static char *keep_text(struct tw_dictionary *dictionary, const char *text, size_t length)
{
	if (dictionary->texts.left < length + 1) {
		size_t room = length + 1 > CHUNK ? length + 1 : CHUNK;
		struct tw_dictionary_chunk *chunk = malloc(sizeof *chunk + room);
		if (!chunk)
			return NULL;
		chunk->before = dictionary->texts.chunks;
		dictionary->texts.chunks = chunk;
		dictionary->texts.next = chunk->bytes;
		dictionary->texts.left = room;
	}
	char *kept = dictionary->texts.next;
	if (length)
		memcpy(kept, text, length);
	kept[length] = '\0';
	dictionary->texts.next += length + 1;
	dictionary->texts.left -= length + 1;
	return kept;
}

static bool same_name(const struct tw_name *a, const struct tw_name *b)
{
	return a->length == b->length && a->id == b->id && memcmp(a->text, b->text, a->length) == 0;
}

static uint32_t find_name(const struct tw_dictionary *dictionary, const struct tw_name *name, uint64_t key)
{
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&dictionary->names.map, key, &slot, &number);)
		if (same_name(&dictionary->names.items[number], name))
			return number;
	return UINT32_MAX;
}

uint32_t tw_dictionary_find(const struct tw_dictionary *dictionary, const struct tw_name *name)
{
	if (name->length == 0 && name->id == 0)
		return 0;
	return find_name(dictionary, name, tw_hash_bytes(name->text, name->length, name->id));
}

static const char zero[] = "\\x00";

size_t tw_dictionary_plain_length(const char *text, size_t length)
{
	size_t more = 0;
	for (const char *end = text + length; length && (text = memchr(text, '\0', (size_t)(end - text))); text++)
		more += sizeof zero - 2;
	return length + more;
}

/* Interns a name by a copy of its text that has no zero byte. */
static uint32_t intern_plain(struct tw_dictionary *dictionary, const struct tw_name *name)
{
	struct tw_name plain = *name;
	char *copy = malloc(tw_dictionary_plain_length(name->text, name->length) + 1), *to = copy;
	if (!copy)
		return UINT32_MAX;
	for (size_t i = 0; i < name->length; i++)
		if (name->text[i])
			*to++ = name->text[i];
		else
			to = stpcpy(to, zero);
	plain.text = copy;
	plain.length = (size_t)(to - copy);
	uint32_t number = tw_dictionary_intern(dictionary, &plain);
	free(copy);
	return number;
}

static bool has_name(const struct tw_dictionary *dictionary, uint32_t name)
{
	return name < dictionary->names.count;
}

uint32_t tw_dictionary_intern(struct tw_dictionary *dictionary, const struct tw_name *name)
{
	if (dictionary->texts.plain && name->length && memchr(name->text, '\0', name->length))
		return intern_plain(dictionary, name);
	if (name->length == 0 && name->id == 0)
		return 0;
	uint64_t key = tw_hash_bytes(name->text, name->length, name->id);
	uint32_t number = find_name(dictionary, name, key);
	if (number != UINT32_MAX)
		return number;
	if (!has_name(dictionary, name->owner) || !has_name(dictionary, name->module))
		return UINT32_MAX;
	number = (uint32_t)dictionary->names.count;
	char *text = keep_text(dictionary, name->text, name->length);
	if (!text || !tw_extend(&dictionary->names.items, &dictionary->names.room, number + (size_t)1, sizeof *name) ||
	    !tw_map_add(&dictionary->names.map, key, number))
		return UINT32_MAX;
	dictionary->names.items[number] = *name;
	dictionary->names.items[number].text = text;
	dictionary->names.count++;
	return number;
}

uint32_t tw_dictionary_text(struct tw_dictionary *dictionary, const char *text)
{
	return tw_dictionary_intern(dictionary, &(struct tw_name){.text = text, .length = strlen(text)});
}

/* Lets a name be found by its new text. Of many that are called the same, the first is. */
static bool note_name(struct tw_dictionary *dictionary, const struct tw_name *name, uint32_t number)
{
	uint64_t key = tw_hash_bytes(name->text, name->length, name->id);
	return find_name(dictionary, name, key) != UINT32_MAX || tw_map_add(&dictionary->names.map, key, number);
}

bool tw_dictionary_rename(struct tw_dictionary *dictionary, uint32_t number, const struct tw_name *name)
{
	assert(number > 0 && number < dictionary->names.count);
	struct tw_name *known = &dictionary->names.items[number];
	bool same = same_name(known, name);
	const char *text = same ? known->text : keep_text(dictionary, name->text, name->length);
	if (!text || (!same && !note_name(dictionary, name, number)))
		return false;
	*known = *name;
	known->text = text;
	dictionary->names.renamed |= !same;
	note_change(dictionary, TW_NAMES, number);
	return true;
}

/* ---- Tracks. ---- */

bool tw_dictionary_find_track(const struct tw_dictionary *dictionary, const struct tw_track *track, uint32_t *number)
{
	for (size_t slot = SIZE_MAX;
	     tw_map_next(&dictionary->tracks.map, tw_dictionary_track_key(track), &slot, number);) {
		const struct tw_track *known = &dictionary->tracks.items[*number];
		if (known->process == track->process && known->thread == track->thread && known->kind == track->kind)
			return true;
	}
	return false;
}

uint32_t tw_dictionary_add_track(struct tw_dictionary *dictionary, const struct tw_track *track)
{
	uint32_t number;
	if (tw_dictionary_find_track(dictionary, track, &number))
		return number;
	if (!has_name(dictionary, track->name) || (unsigned)track->kind > TW_TRACK_OTHER)
		return UINT32_MAX;
	number = (uint32_t)dictionary->tracks.count;
	if (!tw_extend(&dictionary->tracks.items, &dictionary->tracks.room, number + (size_t)1, sizeof *track) ||
	    !tw_map_add(&dictionary->tracks.map, tw_dictionary_track_key(track), number))
		return UINT32_MAX;
	dictionary->tracks.items[number] = *track;
	dictionary->tracks.count++;
	return number;
}

void tw_dictionary_set_process(struct tw_dictionary *dictionary, uint32_t track, uint64_t process)
{
	struct tw_track changed = *tw_dictionary_track(dictionary, track);
	uint32_t other;
	changed.process = process;
	if (track < dictionary->tracks.count && !tw_dictionary_find_track(dictionary, &changed, &other) &&
	    tw_map_add(&dictionary->tracks.map, tw_dictionary_track_key(&changed), track)) {
		dictionary->tracks.items[track].process = process;
		dictionary->tracks.moves++;
		note_change(dictionary, TW_TRACKS, track);
	}
}

uint64_t tw_dictionary_moves(const struct tw_dictionary *dictionary)
{
	return dictionary->tracks.moves;
}

void tw_dictionary_name_track(struct tw_dictionary *dictionary, uint32_t track, uint32_t name)
{
	if (track >= dictionary->tracks.count || !has_name(dictionary, name) ||
	    dictionary->tracks.items[track].name == name)
		return;
	dictionary->tracks.items[track].name = name;
	note_change(dictionary, TW_TRACKS, track);
}

bool tw_dictionary_set_sort_index(struct tw_dictionary *dictionary, uint32_t track, int32_t sort_index)
{
	if (track >= dictionary->tracks.count || tw_dictionary_sort_index_at(dictionary, track) == sort_index)
		return true;
	if (!tw_grow(&dictionary->sort_indices.items, &dictionary->sort_indices.room, track + (size_t)1,
	             sizeof sort_index))
		return false;
	dictionary->sort_indices.items[track] = sort_index;
	note_change(dictionary, TW_TRACKS, track);
	return true;
}

int32_t tw_dictionary_sort_index(const struct tw_dictionary *dictionary, const struct tw_track *track)
{
	uint32_t number;
	return tw_dictionary_find_track(dictionary, track, &number) ? tw_dictionary_sort_index_at(dictionary, number)
	                                                            : 0;
}

/* ---- Locations and stacks. ---- */

static uint64_t location_key(const struct tw_location *location)
{
	return tw_hash_two(location->address, location->name);
}

uint32_t tw_dictionary_find_location(const struct tw_dictionary *dictionary, const struct tw_location *location)
{
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&dictionary->locations.map, location_key(location), &slot, &number);) {
		const struct tw_location *known = &dictionary->locations.items[number];
		if (known->name == location->name && known->address == location->address)
			return number;
	}
	return UINT32_MAX;
}

uint32_t tw_dictionary_find_place(const struct tw_dictionary *dictionary, const struct tw_location *location)
{
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&dictionary->locations.map, location_key(location), &slot, &number);) {
		const struct tw_location *known = &dictionary->locations.items[number];
		if (known->name == location->name && known->address == location->address &&
		    known->file == location->file && known->line == location->line)
			return number;
	}
	return UINT32_MAX;
}

static uint32_t new_location(struct tw_dictionary *dictionary, const struct tw_location *location)
{
	if (!has_name(dictionary, location->name) || !has_name(dictionary, location->file))
		return UINT32_MAX;
	uint32_t number = (uint32_t)dictionary->locations.count;
	if (!tw_extend(&dictionary->locations.items, &dictionary->locations.room, number + (size_t)1,
	               sizeof *location) ||
	    !tw_map_add(&dictionary->locations.map, location_key(location), number))
		return UINT32_MAX;
	dictionary->locations.items[number] = *location;
	dictionary->locations.count++;
	return number;
}

uint32_t tw_dictionary_add_location(struct tw_dictionary *dictionary, const struct tw_location *location)
{
	uint32_t number = tw_dictionary_find_location(dictionary, location);
	return number != UINT32_MAX ? number : new_location(dictionary, location);
}

uint32_t tw_dictionary_add_place(struct tw_dictionary *dictionary, const struct tw_location *location)
{
	uint32_t number = tw_dictionary_find_place(dictionary, location);
	return number != UINT32_MAX ? number : new_location(dictionary, location);
}

void tw_dictionary_locate(struct tw_dictionary *dictionary, uint32_t location, uint32_t file, uint32_t line)
{
	assert(location < dictionary->locations.count);
	dictionary->locations.items[location].file = file;
	dictionary->locations.items[location].line = line;
	note_change(dictionary, TW_LOCATIONS, location);
}

static uint64_t stack_key(uint32_t caller, uint32_t location)
{
	return tw_hash64((uint64_t)caller << 32 | location);
}

uint32_t tw_dictionary_find_push(const struct tw_dictionary *dictionary, uint32_t caller, uint32_t location)
{
	uint32_t number;
	for (size_t slot = SIZE_MAX;
	     tw_map_next(&dictionary->stacks.map, stack_key(caller, location), &slot, &number);) {
		const struct tw_stack *known = &dictionary->stacks.items[number];
		if (known->caller == caller && known->location == location)
			return number;
	}
	return UINT32_MAX;
}

uint32_t tw_dictionary_push(struct tw_dictionary *dictionary, uint32_t caller, uint32_t location)
{
	if (caller >= dictionary->stacks.count || location >= dictionary->locations.count)
		return UINT32_MAX;
	uint32_t number = tw_dictionary_find_push(dictionary, caller, location);
	if (number != UINT32_MAX)
		return number;
	number = (uint32_t)dictionary->stacks.count;
	if (!tw_extend(&dictionary->stacks.items, &dictionary->stacks.room, number + (size_t)1,
	               sizeof *dictionary->stacks.items) ||
	    !tw_map_add(&dictionary->stacks.map, stack_key(caller, location), number))
		return UINT32_MAX;
	dictionary->stacks.items[number] =
	    (struct tw_stack){caller, location, dictionary->stacks.items[caller].depth + 1};
	dictionary->stacks.count++;
	return number;
}

/* ---- Providers. ---- */

/* ticks_per_second: 0 for any. */
static bool is_provider(const struct tw_provider *provider, uint64_t id, uint32_t name, uint64_t ticks_per_second)
{
	uint64_t own = provider->ticks_per_second;
	return provider->id == id && provider->name == name &&
	       (own == 0 || ticks_per_second == 0 || own == ticks_per_second);
}

uint32_t tw_dictionary_add_provider(struct tw_dictionary *dictionary, uint64_t id, uint32_t name,
                                    uint64_t ticks_per_second)
{
	size_t number = 1;
	while (number < dictionary->providers.count &&
	       !is_provider(&dictionary->providers.items[number], id, name, ticks_per_second))
		number++;
	if (number < dictionary->providers.count)
		return (uint32_t)number;
	if (number > TW_PROVIDERS_MAX)
		return 0;
	if (!tw_grow(&dictionary->providers.items, &dictionary->providers.room, number + 1,
	             sizeof *dictionary->providers.items))
		return UINT32_MAX;
	dictionary->providers.items[number] = (struct tw_provider){.id = id, .name = name};
	dictionary->providers.count++;
	return (uint32_t)number;
}

void tw_dictionary_set_ticks(struct tw_dictionary *dictionary, uint32_t provider, uint64_t ticks_per_second)
{
	if (provider == 0 || provider >= dictionary->providers.count ||
	    dictionary->providers.items[provider].ticks_per_second == ticks_per_second)
		return;
	dictionary->providers.items[provider].ticks_per_second = ticks_per_second;
	note_change(dictionary, TW_PROVIDERS, provider);
}

/* ---- What there is. ---- */

const struct tw_name *tw_dictionary_name(const struct tw_dictionary *dictionary, uint32_t name)
{
	return &dictionary->names.items[name < dictionary->names.count ? name : 0];
}

const struct tw_name *tw_dictionary_all_names(const struct tw_dictionary *dictionary, uint32_t *count)
{
	*count = (uint32_t)dictionary->names.count;
	return dictionary->names.items;
}

bool tw_dictionary_has_renamed(const struct tw_dictionary *dictionary)
{
	return dictionary->names.renamed;
}

uint32_t tw_dictionary_names(const struct tw_dictionary *dictionary)
{
	return (uint32_t)dictionary->names.count;
}

const struct tw_track *tw_dictionary_track(const struct tw_dictionary *dictionary, uint32_t track)
{
	return &dictionary->tracks.items[track < dictionary->tracks.count ? track : 0];
}

const struct tw_name *tw_dictionary_process_name(const struct tw_dictionary *dictionary, uint64_t process)
{
	const struct tw_track track = {.process = process, .kind = TW_TRACK_PROCESS};
	uint32_t number;
	return tw_dictionary_name(dictionary, tw_dictionary_find_track(dictionary, &track, &number)
	                                          ? dictionary->tracks.items[number].name
	                                          : 0);
}

const struct tw_name *tw_dictionary_thread_name(const struct tw_dictionary *dictionary, uint64_t process,
                                                uint64_t thread)
{
	const struct tw_track track = {.process = process, .thread = thread, .kind = TW_TRACK_THREAD};
	uint32_t number;
	return tw_dictionary_name(dictionary, tw_dictionary_find_track(dictionary, &track, &number)
	                                          ? dictionary->tracks.items[number].name
	                                          : 0);
}

bool tw_dictionary_has_process(const struct tw_dictionary *dictionary, uint64_t process)
{
	const struct tw_track track = {.process = process, .kind = TW_TRACK_PROCESS};
	uint32_t number;
	return process != 0 || tw_dictionary_find_track(dictionary, &track, &number);
}

uint32_t tw_dictionary_tracks(const struct tw_dictionary *dictionary)
{
	return (uint32_t)dictionary->tracks.count;
}

const struct tw_stack *tw_dictionary_stack(const struct tw_dictionary *dictionary, uint32_t stack)
{
	return &dictionary->stacks.items[stack < dictionary->stacks.count ? stack : 0];
}

uint32_t tw_dictionary_stacks(const struct tw_dictionary *dictionary)
{
	return (uint32_t)dictionary->stacks.count;
}

const struct tw_location *tw_dictionary_location(const struct tw_dictionary *dictionary, uint32_t location)
{
	return &dictionary->locations.items[location < dictionary->locations.count ? location : 0];
}

const struct tw_provider *tw_dictionary_provider(const struct tw_dictionary *dictionary, uint32_t provider)
{
	return &dictionary->providers.items[provider < dictionary->providers.count ? provider : 0];
}

uint32_t tw_dictionary_providers(const struct tw_dictionary *dictionary)
{
	return (uint32_t)dictionary->providers.count;
}
