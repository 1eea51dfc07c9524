/* renew.c - an index in the place of another one of the same trace, of which there is more now. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/renew.h"

#include "view/index/spans.h"

#include <string.h>

/* ---- Tracks. ---- */

int view_index_number_as(struct view_index *index, const struct view_index *before)
{
	struct view_tracks *tracks = &index->tracks;
	for (uint32_t i = 0; i < before->tracks.count; i++) {
		const struct view_track *was = &before->tracks.items[i];
		if (view_tracks_find(tracks, was->kind, was->process, was->thread) != i)
			return TW_ERR_MEMORY;
		tracks->items[i].fixed = was->fixed;
		tracks->items[i].file = was->file;
		tracks->items[i].own_process = was->own_process;
		tracks->items[i].own_thread = was->own_thread;
		tracks->items[i].name.length = 0;
		tw_text_add(&tracks->items[i].name, was->name.bytes, was->name.length);
	}
	tracks->changes += before->tracks.changes;
	return 0;
}

/* ---- Names. ---- */

static uint64_t hash_of(const struct view_store *store, const struct view_name *name)
{
	return tw_hash_bytes(store->bytes + name->place, name->length, 0);
}

/* The names that pages have, by their text. */
static bool map_sent(struct tw_map *sent, const struct view_index *before)
{
	uint32_t other;
	for (uint32_t i = 0; i < before->names.sent_count; i++) {
		uint64_t key =
		    hash_of(&before->store, view_names_at(&before->names, &before->store, before->names.sent[i]));
		if (!tw_map_find(sent, key, &other) && !tw_map_add(sent, key, i))
			return false;
	}
	return true;
}

static bool is_same(const struct view_index *index, const struct view_name *name, const struct view_index *before,
                    const struct view_name *was)
{
	return name->length == was->length &&
	       memcmp(index->store.bytes + name->place, before->store.bytes + was->place, was->length) == 0;
}

/* Finds the names that pages have among the new ones. */
static void find_sent(struct view_index *index, const struct view_index *before, const struct tw_map *sent)
{
	for (uint32_t i = 0; i < index->names.items.count; i++) {
		struct view_name *name = view_names_at(&index->names, &index->store, i);
		uint32_t number;
		if (name->first != i)
			continue;
		if (!tw_map_find(sent, hash_of(&index->store, name), &number) ||
		    index->names.sent[number] != VIEW_NONE ||
		    !is_same(index, name, before,
		             view_names_at(&before->names, &before->store, before->names.sent[number])))
			continue;
		index->names.sent[number] = i;
		name->sent = number + 1;
	}
}

/* Adds those that have not been found: a text that two names have is one of them. */
static bool add_sent(struct view_index *index, const struct view_index *before)
{
	for (uint32_t i = 0; i < before->names.sent_count; i++) {
		const struct view_name *was = view_names_at(&before->names, &before->store, before->names.sent[i]);
		if (index->names.sent[i] != VIEW_NONE)
			continue;
		const uint32_t added = view_names_add(&index->names, &index->store,
		                                      (const char *)before->store.bytes + was->place, was->length);
		if (added == VIEW_NONE)
			return false;
		index->names.sent[i] = added;
		view_names_at(&index->names, &index->store, added)->sent = i + 1;
	}
	return true;
}

static bool keep_sent(struct view_index *index, const struct view_index *before)
{
	const size_t count = before->names.sent_count;
	struct tw_map sent = {0};
	if (count && !tw_grow(&index->names.sent, &index->names.sent_room, count, sizeof *index->names.sent))
		return false;
	for (size_t i = 0; i < count; i++)
		index->names.sent[i] = VIEW_NONE;
	index->names.sent_count = count;
	bool kept = map_sent(&sent, before);
	if (kept)
		find_sent(index, before, &sent);
	tw_map_free(&sent);
	return kept && add_sent(index, before);
}

/* ---- The places. ---- */

/* What points into the index itself. */
static void settle(struct view_index *index)
{
	index->calls.budget = &index->budget;
	if (index->store.spans)
		index->store.spans->owner = index;
	tw_calls_free(&index->calls);
}

int view_index_replace(struct view_index *index, struct view_index *by)
{
	if (!keep_sent(by, index))
		return TW_ERR_MEMORY;
	tw_calls_free(&index->calls);
	tw_calls_free(&by->calls);
	const struct view_index before = *index;
	*index = *by;
	*by = before;
	settle(index);
	settle(by);
	return 0;
}
