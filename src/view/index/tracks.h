/* tracks.h - the tracks of a picture, and the names in it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_TRACKS_H
#define VIEW_INDEX_TRACKS_H

#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "view/index/store.h"

#include <trackway/event.h>

#define VIEW_NONE UINT32_MAX

/* X(what, "as the protocol has it") */
#define VIEW_TRACK_LIST(X)                                                                                             \
	X(VIEW_PROCESS, "process")                                                                                     \
	X(VIEW_THREAD, "thread")                                                                                       \
	X(VIEW_CPU, "cpu")                                                                                             \
	X(VIEW_COUNTERS, "counter")                                                                                    \
	X(VIEW_ASYNC, "async")                                                                                         \
	X(VIEW_OTHER, "other")

enum view_track_kind {
#define X(what, text) what,
	VIEW_TRACK_LIST(X)
#undef X
};

enum {
	VIEW_TRACKS_MOST = 1 << 17,
	VIEW_LANES_MOST = 1024, /* of a track */
	VIEW_STATES_LANE = 0xfffe,
	VIEW_POINTS_LANE = 0xffff,
	VIEW_NAME_MOST = 4096 /* bytes of a name that are kept */
};

#define VIEW_AT_MOST (((uint64_t)1 << 56) - 1)

struct view_series {
	uint64_t count : 8; /* of its samples, which are so few that it has no row; 0: it has one */
	uint64_t at : 56;   /* what tells the last of these (few.h); or 1 + the row's number, 0: there is none */
};

/* First what each sample of a counter asks for. */
struct view_track {
	enum view_track_kind kind;
	uint32_t lane_count;
	uint64_t process, thread; /* thread: of a CPU its number, of others what tells them apart */
	uint32_t *series_names;   /* of counters: of each lane a number of struct view_names */
	struct view_series *series;
	size_t series_name_room, series_room;
	uint64_t slices;
	bool fixed;                       /* it has a name of its own, which does not come from the dictionary */
	uint32_t parent;                  /* VIEW_NONE: none */
	int32_t sort_index;               /* where the trace wishes it to stand among others */
	uint64_t own_process, own_thread; /* the same numbers as its file has them */
	struct tw_text name;              /* empty: there is none yet */
	uint32_t running;                 /* 1 + its name in struct view_names, for rows of CPUs; 0: not there yet */
	uint16_t *lanes;                  /* how deep each is */
	size_t lane_room;
	uint32_t file; /* plus 1; 0: not known */
};

struct view_tracks {
	struct view_track *items;
	size_t count, room;
	struct tw_map numbers; /* hash of kind, process and thread to the number */
	uint64_t changes;      /* grows with each that a page sees */
};

/* The key of a track among the numbers; it may be another's, too: then that of this one is greater. */
uint64_t view_tracks_key(enum view_track_kind kind, uint64_t process, uint64_t thread);

/* Finds a track, or adds it. A process is the parent, and is added before it; 0: there is none. Returns VIEW_NONE where
 * there is no room. */
uint32_t view_tracks_find(struct view_tracks *tracks, enum view_track_kind kind, uint64_t process, uint64_t thread);

/* Finds a track that is there; VIEW_NONE: it is not. */
uint32_t view_tracks_known(const struct view_tracks *tracks, enum view_track_kind kind, uint64_t process,
                           uint64_t thread);

/* Makes a track as deep in a lane. False where there is no room. */
bool view_tracks_deepen(struct view_tracks *tracks, uint32_t track, uint32_t lane, uint32_t depth);

/* Makes room for so many series. False without memory. */
bool view_track_series_room(struct view_track *track, size_t count);

/* Takes the name of a process or thread as it is known now, and where it stands; and of all of them. */
void view_track_name(struct view_tracks *tracks, uint32_t track, const struct tw_dictionary *dictionary);
void view_tracks_name(struct view_tracks *tracks, const struct tw_dictionary *dictionary);

/* Tells the numbers that a track has in its file: one without a name is called by these. */
void view_track_own(struct view_tracks *tracks, uint32_t track, uint64_t process, uint64_t thread);

/* Gives a track a name of its own. */
void view_track_call(struct view_tracks *tracks, uint32_t track, const struct tw_name *name);

const char *view_track_kind_name(enum view_track_kind kind);

/* Makes all as if nothing were on them. */
void view_tracks_empty(struct view_tracks *tracks);

void view_tracks_free(struct view_tracks *tracks);

/* ---- Names of slices: copies in the store, because a reader's may change while others look. ---- */

/* A text, and the category of what is called so: one name of two categories stands here twice. */
struct view_name {
	uint64_t place; /* of the text */
	uint32_t length;
	uint32_t sent; /* 1 + the number that pages know it by; 0: none yet */
	uint32_t file; /* of functions the source file: 1 + its number among the names; 0: not known */
	uint32_t line;
	uint32_t category; /* 1 + its number among the names; 0: none */
	uint32_t first;    /* the number of the first with this text, which is the one that pages know */
};

/* What is known of a reader's name. */
struct view_taken_name {
	uint32_t number;   /* 1 + its own; 0: not taken */
	uint32_t category; /* that it had last: 1 + the reader's number; 0: none yet */
	uint32_t latest;   /* its number with that category */
};

struct view_names {
	struct view_column items;      /* struct view_name */
	struct view_taken_name *taken; /* by the reader's number */
	size_t taken_room;
	struct tw_map
	    others;     /* a name's first number and a category to the number of the two, where it is another one */
	uint32_t *sent; /* by the pages' number: its own */
	size_t sent_count, sent_room;
	/* Of a part of a trace that has been read: its names are those of the whole, by view_names_key(). NULL: it has
	 * its own. */
	const struct tw_map *known;
};

/* The key of a text and a category, and of a text whatever its category is. */
uint64_t view_names_key(const char *text, size_t length, const char *category, size_t category_length);
uint64_t view_names_text_key(const char *text, size_t length);

/* Maps all names by both keys; of several the first. False without memory. */
bool view_names_map(const struct view_names *names, const struct view_store *store, struct tw_map *map);

/* Takes a name of a dictionary. Returns its number, VIEW_NONE where there is no room. */
uint32_t view_names_take(struct view_names *names, struct view_store *store, const struct tw_dictionary *dictionary,
                         uint32_t name);

/* Takes a name with a category, both of a dictionary. Use view_names_of(). */
uint32_t view_names_take_both(struct view_names *names, struct view_store *store,
                              const struct tw_dictionary *dictionary, uint32_t name, uint32_t category);

/* Returns the number of a name with a category, or VIEW_NONE; most have been asked for before. */
static inline uint32_t view_names_of(struct view_names *names, struct view_store *store,
                                     const struct tw_dictionary *dictionary, uint32_t name, uint32_t category)
{
	if (name < names->taken_room && names->taken[name].category == category + 1)
		return names->taken[name].latest;
	return view_names_take_both(names, store, dictionary, name, category);
}

/* Adds a text that no dictionary has, without a category. */
uint32_t view_names_add(struct view_names *names, struct view_store *store, const char *text, size_t length);

/* Returns the number that pages know a name by; VIEW_NONE without memory. */
uint32_t view_names_send(struct view_names *names, struct view_store *store, uint32_t name);

static inline struct view_name *view_names_at(const struct view_names *names, const struct view_store *store,
                                              uint32_t name)
{
	return view_column_at(&names->items, store, sizeof(struct view_name), name);
}

/* Moves all to another store; their numbers stay. False where it has no room: then all are where they were. */
bool view_names_move(struct view_names *names, const struct view_store *from, struct view_store *to);

void view_names_free(struct view_names *names);

#endif
