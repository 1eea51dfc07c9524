/* names.c - names and tracks, as far as the memory limit goes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"

#include "core/tool.h"

#include <string.h>

enum {
	NAME_COST = 128, /* bytes beside the text that a name takes in all tables, about */
	TRACK_COST = 216,
	LIMIT_SHARE = 3, /* of the memory limit, for all of it */
	WORD_MAX = 256   /* bytes of a process, thread or id that is a text, for its escapes to be replaced */
};

static struct chrome_names *names_of(struct tw_reader *reader)
{
	return &((struct chrome_state *)reader->state)->names;
}

bool chrome_afford(struct tw_reader *reader, size_t cost)
{
	struct chrome_names *names = names_of(reader);
	if (names->used + cost <= tw_memory_limit(reader) / LIMIT_SHARE) {
		names->used += cost;
		return true;
	}
	if (!names->full)
		tw_report(reader, &chrome_rules[CHROME_NAME_LIMIT], 0, 0, 0,
		          "more than %u names and %u threads: give more memory to tell the rest apart",
		          tw_dictionary_names(reader->dictionary), tw_dictionary_tracks(reader->dictionary));
	names->full = true;
	return false;
}

/* ---- Names. ---- */

static uint32_t find_or_add(struct tw_reader *reader, const struct tw_name *name)
{
	uint32_t number = tw_dictionary_find(reader->dictionary, name);
	if (number != UINT32_MAX)
		return number;
	if (chrome_afford(reader, name->length + NAME_COST))
		return tw_dictionary_intern(reader->dictionary, name);
	return tw_dictionary_text(reader->dictionary, "(other)");
}

/* The place of a name in the cache, by its length and up to eight bytes at each end: names that are alike in these
 * share it. */
static size_t place_of(const uint8_t *text, size_t length)
{
	uint64_t first = 0, last = 0;
	size_t part = length < 8 ? length : 8;
	memcpy(&first, text, part);
	memcpy(&last, text + length - part, part);
	return (size_t)(tw_hash64(first ^ last * 31 ^ (uint64_t)length << 56) % CHROME_NAME_CACHE);
}

uint32_t chrome_name(struct tw_reader *reader, const void *text, size_t length)
{
	if (length == 0)
		return 0;
	uint32_t *cached = &names_of(reader)->cache[place_of(text, length)];
	const struct tw_name *name = tw_dictionary_name(reader->dictionary, *cached);
	if (name->length == length && memcmp(name->text, text, length) == 0)
		return *cached;
	return *cached = find_or_add(reader, &(struct tw_name){.text = text, .length = length});
}

uint32_t chrome_located_name(struct tw_reader *reader, const struct chrome_value *text,
                             const struct chrome_value *place)
{
	struct tw_name name = {.text = (const char *)text->bytes, .length = text->size};
	uint32_t number = tw_dictionary_find(reader->dictionary, &name);
	if (number != UINT32_MAX || text->size == 0)
		return text->size ? number : 0;
	const uint8_t *colon = memrchr(place->bytes, ':', place->size);
	struct chrome_value line = {.type = CHROME_STRING};
	uint64_t found;
	if (colon)
		line = (struct chrome_value){.type = CHROME_STRING,
		                             .bytes = colon + 1,
		                             .size = place->size - 1 - (size_t)(colon - place->bytes)};
	bool has_line = chrome_integer(&line, &found) && found <= UINT32_MAX;
	size_t length = has_line ? (size_t)(colon - place->bytes) : place->size;
	uint32_t file = chrome_name(reader, place->bytes, length);
	if (file == UINT32_MAX)
		return file;
	name.file = tw_dictionary_name(reader->dictionary, file)->text;
	name.line = has_line ? (uint32_t)found : 0;
	return find_or_add(reader, &name);
}

/* ---- Processes and threads. ---- */

static bool same_track(const struct tw_track *a, const struct tw_track *b)
{
	return a->process == b->process && a->thread == b->thread && a->kind == b->kind;
}

/* Gives a thread that was known by its koid alone the process that is told of it now. */
static bool adopt(struct tw_reader *reader, const struct tw_track *track, uint64_t key, uint32_t *number)
{
	struct chrome_names *names = names_of(reader);
	if (track->kind != TW_TRACK_THREAD || track->process == 0 ||
	    !tw_map_find(&names->lone, track->thread, number) ||
	    tw_dictionary_track(reader->dictionary, *number)->process != 0)
		return false;
	tw_dictionary_set_process(reader->dictionary, *number, track->process);
	return tw_map_add(&names->tracks, key, *number);
}

/* The first thread of a number: koids are of one thread only. */
static bool note_koid(struct chrome_names *names, const struct tw_track *track, uint32_t number)
{
	uint32_t first;
	return track->kind != TW_TRACK_THREAD || tw_map_find(&names->koids, track->thread, &first) ||
	       tw_map_add(&names->koids, track->thread, number);
}

static uint32_t add_track(struct tw_reader *reader, const struct tw_track *track, uint64_t key)
{
	struct chrome_names *names = names_of(reader);
	uint32_t number;
	for (size_t slot = SIZE_MAX; tw_map_next(&names->tracks, key, &slot, &number);)
		if (same_track(tw_dictionary_track(reader->dictionary, number), track))
			return number;
	if (adopt(reader, track, key, &number))
		return number;
	if (!chrome_afford(reader, tw_thread_cost(&reader->options, TRACK_COST, LIMIT_SHARE)))
		return 0;
	number = tw_dictionary_add_track(reader->dictionary, track);
	bool fine = number != UINT32_MAX && tw_map_add(&names->tracks, key, number) && note_koid(names, track, number);
	return fine ? number : UINT32_MAX;
}

static uint32_t find_track(struct tw_reader *reader, const struct tw_track *track)
{
	uint64_t key = tw_hash_two(track->process, track->thread) + track->kind;
	uint32_t *cached = &names_of(reader)->track_cache[key % CHROME_TRACK_CACHE];
	if (*cached && same_track(tw_dictionary_track(reader->dictionary, *cached), track))
		return *cached;
	return *cached = add_track(reader, track, key);
}

/* A text with what its escapes stand for; as it is written where it is too long for that. */
static struct chrome_value unescaped(const struct chrome_value *value, uint8_t room[static WORD_MAX])
{
	struct chrome_value text = *value;
	unsigned odd = 0;
	if (!value->escaped || value->size > WORD_MAX)
		return text;
	text.bytes = room;
	text.size = chrome_unescape(value, room, &odd);
	return text;
}

uint64_t chrome_hash(const struct chrome_value *value, uint64_t seed)
{
	uint8_t room[WORD_MAX];
	const struct chrome_value text = unescaped(value, room);
	return tw_mix_bytes(text.bytes, text.size, seed);
}

/* The number of a process or thread that is a text. */
static uint64_t number_of_word(struct tw_reader *reader, const struct chrome_value *value)
{
	struct chrome_names *names = names_of(reader);
	uint64_t key = chrome_hash(value, 0);
	uint32_t number;
	if (tw_map_find(&names->words, key, &number))
		return CHROME_FIRST_WORD + (uint64_t)number;
	number = names->word_count;
	if (!chrome_afford(reader, TRACK_COST) || !tw_map_add(&names->words, key, number))
		return CHROME_FIRST_WORD - 1;
	names->word_count++;
	return CHROME_FIRST_WORD + (uint64_t)number;
}

/* Whether it is told by a text that is no number. */
static bool is_word(const struct chrome_value *value)
{
	uint64_t number;
	return value->type == CHROME_STRING && !chrome_integer(value, &number);
}

static uint64_t number_of(struct tw_reader *reader, const struct chrome_value *value)
{
	uint64_t number;
	if (chrome_integer(value, &number))
		return number;
	return value->type == CHROME_STRING || value->type == CHROME_NUMBER ? number_of_word(reader, value) : 0;
}

static uint32_t name_of_word(struct tw_reader *reader, const struct chrome_value *value)
{
	uint8_t room[WORD_MAX];
	const struct chrome_value text = unescaped(value, room);
	return chrome_name(reader, text.bytes, text.size);
}

/* Finds or adds a track. One whose process or thread is told as a text has this for a name until it is given
 * another. */
static uint32_t track_for(struct tw_reader *reader, const struct tw_track *track, const struct chrome_value *value)
{
	uint32_t number = find_track(reader, track);
	if (number == UINT32_MAX || number == 0 || !is_word(value) ||
	    tw_dictionary_track(reader->dictionary, number)->name)
		return number;
	uint32_t name = name_of_word(reader, value);
	if (name == UINT32_MAX)
		return name;
	tw_dictionary_name_track(reader->dictionary, number, name);
	return number;
}

uint32_t chrome_process_track(struct tw_reader *reader, const struct chrome_value *pid)
{
	struct tw_track track = {.process = number_of(reader, pid), .kind = TW_TRACK_PROCESS};
	return track_for(reader, &track, pid);
}

/* Process 0 is there where its track is: other tracks whose process is 0 may be of none. */
static bool meet_process(struct tw_reader *reader, uint64_t process, const struct chrome_value *pid)
{
	struct chrome_names *names = names_of(reader);
	if (process != 0 && !is_word(pid))
		return true;
	if (process == 0 && names->process_0)
		return true;
	names->process_0 |= process == 0;
	return chrome_process_track(reader, pid) != UINT32_MAX;
}

uint32_t chrome_track(struct tw_reader *reader, const struct chrome_value *pid, const struct chrome_value *tid)
{
	struct tw_track track = {.process = number_of(reader, pid), .kind = TW_TRACK_THREAD};
	track.thread = tid->type ? number_of(reader, tid) : track.process;
	return meet_process(reader, track.process, pid) ? track_for(reader, &track, tid) : UINT32_MAX;
}

uint32_t chrome_koid_track(struct tw_reader *reader, const struct chrome_value *tid)
{
	struct chrome_names *names = names_of(reader);
	const struct tw_track track = {.thread = number_of(reader, tid), .kind = TW_TRACK_THREAD};
	uint32_t number;
	if (!tid->type)
		return 0;
	if (tw_map_find(&names->koids, track.thread, &number))
		return number;
	number = find_track(reader, &track);
	return number == UINT32_MAX || number == 0 || tw_map_add(&names->lone, track.thread, number) ? number
	                                                                                             : UINT32_MAX;
}

void chrome_names_free(struct chrome_names *names)
{
	tw_map_free(&names->tracks);
	tw_map_free(&names->words);
	tw_map_free(&names->koids);
	tw_map_free(&names->lone);
}

bool chrome_wanted(const struct tw_reader *reader, uint32_t track)
{
	if (!reader->options.thread_count)
		return true;
	const struct tw_track *known = tw_dictionary_track(reader->dictionary, track);
	uint32_t lone; /* of a process that may be told later: its number chooses it */
	bool waits = known->process == 0 &&
	             tw_map_find(&((const struct chrome_state *)reader->state)->names.lone, known->thread, &lone);
	return waits ? tw_thread_wanted(&reader->options, known->thread) : tw_track_wanted(&reader->options, known);
}
