/* dictionary.h - names, tracks and stacks by number: what trackway/own.h does not have. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_DICTIONARY_H
#define CORE_DICTIONARY_H

#include <trackway/own.h>

#include <stdbool.h>

/* One whose texts are handed out without their lengths: of what is interned, a zero byte is told as "\x00". And how
 * long a text is there. */
struct tw_dictionary *tw_dictionary_new_plain(void);
size_t tw_dictionary_plain_length(const char *text, size_t length);

/* The number of a name with this text and id, UINT32_MAX when there is none. */
uint32_t tw_dictionary_find(const struct tw_dictionary *dictionary, const struct tw_name *name);

/* All names, by number, and how many: until another one comes. For who asks for millions. */
const struct tw_name *tw_dictionary_all_names(const struct tw_dictionary *dictionary, uint32_t *count);

/* Whether the text of a name has changed since the name was added. */
bool tw_dictionary_has_renamed(const struct tw_dictionary *dictionary);

/* Whether a track is no thread, and no CPU either: its number may be a thread's. */
static inline bool tw_is_threadless(const struct tw_track *track)
{
	return track->kind == TW_TRACK_PROCESS || track->kind == TW_TRACK_OTHER;
}

/* Whether a track's process is one: 0 stands for none unless a track of that process is there, as of the GPU in traces
 * of Chrome. */
bool tw_dictionary_has_process(const struct tw_dictionary *dictionary, uint64_t process);

/* Gives a process to a track that has none. Where there is a track of that process and thread already, both stay. */
void tw_dictionary_set_process(struct tw_dictionary *dictionary, uint32_t track, uint64_t process);

/* Where the trace wishes a process or thread to stand among others: those of less stand first, 0 unless told. False
 * when there is no memory. */
bool tw_dictionary_set_sort_index(struct tw_dictionary *dictionary, uint32_t track, int32_t sort_index);

/* The same, of a track found by its kind, process and thread. */
int32_t tw_dictionary_sort_index(const struct tw_dictionary *dictionary, const struct tw_track *track);

/* How often tracks got a process: who keeps what follows from it asks whether there are more. */
uint64_t tw_dictionary_moves(const struct tw_dictionary *dictionary);

/* Tells more of a name than was known: its text, owner, module, file and line. It keeps its number. False when there is
 * no memory. */
bool tw_dictionary_rename(struct tw_dictionary *dictionary, uint32_t number, const struct tw_name *name);

/* The number of a location that is there; UINT32_MAX when it is not. */
uint32_t tw_dictionary_find_location(const struct tw_dictionary *dictionary, const struct tw_location *location);

/* The same two for locations of several traces, which are told apart by file and line, too: programs of their own may
 * have functions of one name at one address. */
uint32_t tw_dictionary_add_place(struct tw_dictionary *dictionary, const struct tw_location *location);
uint32_t tw_dictionary_find_place(const struct tw_dictionary *dictionary, const struct tw_location *location);

/* Tells where in the source a location is. */
void tw_dictionary_locate(struct tw_dictionary *dictionary, uint32_t location, uint32_t file, uint32_t line);

/* The number of a stack that is there; UINT32_MAX when it is not. */
uint32_t tw_dictionary_find_push(const struct tw_dictionary *dictionary, uint32_t caller, uint32_t location);

/* The number of the provider of this id and name that has these ticks, or none yet; ticks of 0 are any. A new one has
 * none; 0 when there are too many. UINT32_MAX when there is no memory. */
uint32_t tw_dictionary_add_provider(struct tw_dictionary *dictionary, uint64_t id, uint32_t name,
                                    uint64_t ticks_per_second);

/* Tells the ticks of a provider; 0: they are not known any more. */
void tw_dictionary_set_ticks(struct tw_dictionary *dictionary, uint32_t provider, uint64_t ticks_per_second);

/* ---- A dictionary as it was when something was read, for whoever is behind. ---- */

enum tw_dictionary_part { TW_NAMES, TW_TRACKS, TW_LOCATIONS, TW_STACKS, TW_PROVIDERS, TW_DICTIONARY_PARTS };

/* What a number of a dictionary stands for from now on. */
struct tw_dictionary_change {
	enum tw_dictionary_part part;
	uint32_t number;
	int32_t sort_index; /* of tracks */
	union {
		struct tw_name name;
		struct tw_track track;
		struct tw_location location;
		struct tw_stack stack;
		struct tw_provider provider;
	};
};

struct tw_dictionary_changes {
	struct tw_dictionary_change *items;
	size_t count, room;
};

/* Keeps account of changes from now on. */
void tw_dictionary_watch(struct tw_dictionary *dictionary);

/* Appends all changes since the last call. False when there is no memory. */
bool tw_dictionary_collect(struct tw_dictionary *dictionary, struct tw_dictionary_changes *changes);

/* Makes a change in another dictionary, which all of them are made in, in order, and nothing else. Texts are not
 * copied. False when there is no memory. */
bool tw_dictionary_apply(struct tw_dictionary *dictionary, const struct tw_dictionary_change *change);

#endif
