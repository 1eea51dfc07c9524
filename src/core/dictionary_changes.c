/* dictionary_changes.c - what has changed in a dictionary, for one that follows it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/dictionary_parts.h"

#include <assert.h>

/* ---- Collecting. ---- */

void tw_dictionary_watch(struct tw_dictionary *dictionary)
{
	dictionary->changes.watched = true;
	for (int part = 0; part < TW_DICTIONARY_PARTS; part++)
		dictionary->changes.seen[part] = 1; /* number 0 is in every dictionary */
}

static struct tw_dictionary_change change_of(const struct tw_dictionary *dictionary, enum tw_dictionary_part part,
                                             uint32_t number)
{
	struct tw_dictionary_change change = {.part = part, .number = number};
	switch (part) {
	case TW_NAMES:
		change.name = dictionary->names.items[number];
		break;
	case TW_TRACKS:
		change.track = dictionary->tracks.items[number];
		change.sort_index = tw_dictionary_sort_index_at(dictionary, number);
		break;
	case TW_LOCATIONS:
		change.location = dictionary->locations.items[number];
		break;
	case TW_STACKS:
		change.stack = dictionary->stacks.items[number];
		break;
	case TW_PROVIDERS:
	case TW_DICTIONARY_PARTS:
		change.provider = dictionary->providers.items[number];
		break;
	}
	return change;
}

static bool collect(const struct tw_dictionary *dictionary, struct tw_dictionary_changes *changes,
                    enum tw_dictionary_part part, size_t number)
{
	if (!tw_extend(&changes->items, &changes->room, changes->count + 1, sizeof *changes->items))
		return false;
	changes->items[changes->count++] = change_of(dictionary, part, (uint32_t)number);
	return true;
}

bool tw_dictionary_collect(struct tw_dictionary *dictionary, struct tw_dictionary_changes *changes)
{
	const size_t counts[TW_DICTIONARY_PARTS] = {dictionary->names.count, dictionary->tracks.count,
	                                            dictionary->locations.count, dictionary->stacks.count,
	                                            dictionary->providers.count};
	bool fine = !dictionary->changes.forgot;
	for (size_t i = 0; i < dictionary->changes.count && fine; i++) {
		const struct tw_dictionary_changed *changed = &dictionary->changes.items[i];
		if (changed->number < dictionary->changes.seen[changed->part])
			fine = collect(dictionary, changes, changed->part, changed->number);
	}
	dictionary->changes.count = 0;
	for (int part = 0; part < TW_DICTIONARY_PARTS; part++)
		for (; dictionary->changes.seen[part] < counts[part] && fine; dictionary->changes.seen[part]++)
			fine =
			    collect(dictionary, changes, (enum tw_dictionary_part)part, dictionary->changes.seen[part]);
	return fine;
}

/* ---- Following. ---- */

/* Makes room for element `number` of an array: one that is there, or the next. */
static bool place(void *array, size_t *room, size_t *count, uint32_t number, size_t size)
{
	assert(number <= *count);
	if (!tw_extend(array, room, number + (size_t)1, size))
		return false;
	*count = number < *count ? *count : number + (size_t)1;
	return true;
}

static bool apply_name(struct tw_dictionary *dictionary, uint32_t number, const struct tw_name *name)
{
	bool known = number < dictionary->names.count;
	if (!place(&dictionary->names.items, &dictionary->names.room, &dictionary->names.count, number, sizeof *name))
		return false;
	dictionary->names.renamed |= known && dictionary->names.items[number].text != name->text;
	dictionary->names.items[number] = *name;
	return true;
}

static bool apply_track(struct tw_dictionary *dictionary, uint32_t number, const struct tw_track *track)
{
	uint32_t other;
	bool known = number < dictionary->tracks.count;
	if (!place(&dictionary->tracks.items, &dictionary->tracks.room, &dictionary->tracks.count, number,
	           sizeof *track))
		return false;
	dictionary->tracks.moves += known && dictionary->tracks.items[number].process != track->process;
	dictionary->tracks.items[number] = *track;
	return tw_dictionary_find_track(dictionary, track, &other) ||
	       tw_map_add(&dictionary->tracks.map, tw_dictionary_track_key(track), number);
}

bool tw_dictionary_apply(struct tw_dictionary *dictionary, const struct tw_dictionary_change *change)
{
	struct tw_dictionary *d = dictionary;
	uint32_t number = change->number;
	switch (change->part) {
	case TW_NAMES:
		return apply_name(d, number, &change->name);
	case TW_TRACKS:
		return apply_track(d, number, &change->track) &&
		       tw_dictionary_set_sort_index(d, number, change->sort_index);
	case TW_LOCATIONS:
		if (place(&d->locations.items, &d->locations.room, &d->locations.count, number,
		          sizeof *d->locations.items))
			d->locations.items[number] = change->location;
		return number < d->locations.count;
	case TW_STACKS:
		if (place(&d->stacks.items, &d->stacks.room, &d->stacks.count, number, sizeof *d->stacks.items))
			d->stacks.items[number] = change->stack;
		return number < d->stacks.count;
	case TW_PROVIDERS:
	case TW_DICTIONARY_PARTS:
		if (place(&d->providers.items, &d->providers.room, &d->providers.count, number,
		          sizeof *d->providers.items))
			d->providers.items[number] = change->provider;
		return number < d->providers.count;
	}
	return false;
}
