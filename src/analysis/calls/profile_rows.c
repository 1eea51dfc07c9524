/* profile_rows.c - the texts of a profile, and its rows by their keys. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/calls/profile.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_OVERHEAD = 96 /* bytes of a name in a dictionary, about */ };

/* ---- Texts. ---- */

size_t tw_profile_name_cost(const struct tw_name *name)
{
	return tw_dictionary_plain_length(name->text, name->length) + (name->file ? strlen(name->file) : 0) +
	       NAME_OVERHEAD;
}

uint32_t tw_profile_keep_text(struct tw_profile *profile, const struct tw_name *name)
{
	size_t size = tw_profile_name_cost(name);
	uint32_t before = tw_dictionary_names(profile->texts);
	if (!tw_budget_take(&profile->keeping, TW_FOR_ROWS, size))
		return UINT32_MAX;
	uint32_t kept = tw_dictionary_intern(profile->texts, name);
	if (tw_dictionary_names(profile->texts) == before)
		tw_budget_give(&profile->keeping, TW_FOR_ROWS, size);
	if (kept == UINT32_MAX)
		tw_budget_fail(&profile->keeping);
	return kept;
}

/* Keeps the text of a name that another name refers to, as its class; 0 where there is none, or no room. */
static uint32_t keep_other(struct tw_profile_merge *merge, const struct tw_name *other)
{
	const struct tw_name plain = {.text = other->text, .length = other->length};
	uint32_t kept = other->length ? tw_profile_keep_text(merge->profile, &plain) : 0;
	return kept == UINT32_MAX ? 0 : kept;
}

uint32_t tw_profile_keep_name(struct tw_profile_merge *merge, uint32_t number)
{
	struct tw_profile *profile = merge->profile;
	if (number < merge->text_room && merge->texts[number])
		return merge->texts[number] - 1;
	struct tw_name name = *tw_dictionary_name(merge->dictionary, number);
	if (!tw_budget_grow(&profile->keeping, TW_FOR_ROWS, &merge->texts, &merge->text_room, number + (size_t)1,
	                    sizeof *merge->texts))
		return UINT32_MAX;
	if (name.file) {
		uint32_t file = tw_dictionary_text(profile->texts, name.file);
		name.file = file == UINT32_MAX ? NULL : tw_dictionary_name(profile->texts, file)->text;
	}
	name.owner = keep_other(merge, tw_dictionary_name(merge->dictionary, name.owner));
	name.module = keep_other(merge, tw_dictionary_name(merge->dictionary, name.module));
	uint32_t kept = tw_profile_keep_text(profile, &name);
	if (kept != UINT32_MAX)
		merge->texts[number] = kept + 1;
	return kept;
}

void tw_profile_key_thread(struct tw_profile_merge *merge, uint32_t number, struct tw_profile_key *key)
{
	const struct tw_track *track = tw_dictionary_track(merge->dictionary, number);
	key->process = track->process;
	key->threadless = tw_is_threadless(track);
	key->thread = key->threadless ? 0 : track->thread;
	key->process_name = keep_other(merge, tw_dictionary_process_name(merge->dictionary, track->process));
	key->thread_name = keep_other(merge, tw_dictionary_name(merge->dictionary, key->threadless ? 0 : track->name));
}

void tw_profile_merge_free(struct tw_profile_merge *merge)
{
	tw_budget_give(&merge->profile->keeping, TW_FOR_ROWS, merge->text_room * sizeof *merge->texts);
	free(merge->texts);
}

/* ---- Rows. ---- */

static bool same_key(const struct tw_profile_key *a, const struct tw_profile_key *b)
{
	return a->name == b->name && a->caller == b->caller && a->process == b->process && a->thread == b->thread &&
	       a->threadless == b->threadless;
}

uint32_t tw_profile_find_row(struct tw_profile *profile, const struct tw_profile_key *key)
{
	uint64_t owner = tw_hash_two(key->process, key->thread);
	uint64_t hash = tw_hash_two(owner, (uint64_t)key->caller << 32 | key->name);
	uint32_t row;
	for (size_t slot = SIZE_MAX; tw_map_next(&profile->map, hash, &slot, &row);)
		if (same_key(&profile->keys[row], key))
			return row;
	row = tw_tallies_add(&profile->rows, &profile->keys, &profile->key_room, sizeof *profile->keys);
	if (row == TW_ROW_OTHER || !tw_budget_map_add(&profile->keeping, TW_FOR_ROWS, &profile->map, hash, row))
		return TW_ROW_OTHER;
	profile->keys[row] = *key;
	return row;
}
