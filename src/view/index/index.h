/* index.h - the events of a trace as rows of a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_INDEX_H
#define VIEW_INDEX_INDEX_H

#include "analysis/series/states.h"
#include "core/calls/calls.h"
#include "core/calls/pairs.h"
#include "view/index/row.h"
#include "view/index/tracks.h"

struct tw_traits;

enum { VIEW_ROWS_MOST = 1 << 18, VIEW_ROWS_RECENT = 1 << 10, VIEW_LOST_KEPT = 100, VIEW_STATE_NAMES = 8 };

/* What an open slice has beside its frame. */
struct view_open {
	uint64_t offset;
	uint32_t category;
	uint32_t depth;
	uint32_t next; /* of those that are free, plus 1 */
};

/* Bytes that could not be read, or were not recorded. */
struct view_lost {
	uint64_t from, to; /* to: when what follows happened */
	uint64_t bytes, offset;
	uint32_t track; /* VIEW_NONE: not known */
};

/* What runs on a CPU. */
struct view_running {
	uint64_t since, offset;
	uint32_t name;  /* a number of struct view_names; VIEW_NONE: nothing that is known */
	uint32_t track; /* VIEW_NONE: not known yet */
};

/* The name of a state of threads. */
struct view_state_name {
	const char *state; /* of struct tw_thread_state; NULL: none */
	uint32_t name;     /* a number of struct view_names */
};

struct view_index {
	struct tw_calls calls; /* first: its hooks get this */
	struct tw_budget budget;
	struct view_store store;
	struct view_column rows;                   /* struct view_row */
	struct tw_map row_numbers;                 /* track, lane and depth to the number; not of counters */
	uint64_t series;                           /* of counters that have no row */
	uint64_t last_sample;                      /* the time of the latest, of all counters */
	struct view_row *of_series;                /* a row for one of these: until another is asked for */
	struct view_row *recent[VIEW_ROWS_RECENT]; /* by a part of these; NULL: none */
	struct view_tracks tracks;
	struct view_names names;
	uint32_t *track_numbers; /* by the reader's number: 1 + the track's; 0: not met */
	size_t track_room;
	struct view_open *open; /* by the frame's row, from TW_ROW_FIRST on */
	size_t open_count, open_room;
	uint32_t open_free; /* plus 1 */
	struct tw_pairs pairs;
	struct view_running *cpus;
	size_t cpu_count, cpu_room;
	struct tw_thread_states states;
	struct view_state_name state_names[VIEW_STATE_NAMES];
	struct view_lost lost[VIEW_LOST_KEPT];
	uint64_t lost_count;                    /* of all that there were */
	bool lost_last;                         /* nothing has followed the last one */
	const struct tw_dictionary *dictionary; /* of the reader, while events are taken */
	const struct tw_event *event;
	const struct tw_event *const *begins; /* of a run of calls: the event of the next that begins */
	const struct tw_argument *arguments;
	uint64_t events; /* taken */
	uint64_t end;    /* the latest time */
	uint64_t left;   /* slices, samples and points that there was no room for */
};

/* All zero before; room as for view_store_open(). Returns 0, TW_ERR_MEMORY, or TW_ERR_SYSTEM: store.error. Free it in
 * any case. */
int view_index_init(struct view_index *index, const char *directory, uint64_t room, const struct tw_traits *traits);

/* Begins anew, for the same trace from another reader: what pages know stays, which is tracks and names. They get a
 * store in a directory as for view_store_open(), and the one before is given back. Returns 0, TW_ERR_MEMORY or
 * TW_ERR_SYSTEM: store.error. */
int view_index_again(struct view_index *index, const char *directory);

/* Takes a batch, whose names are in a dictionary. */
void view_index_take(struct view_index *index, const struct tw_dictionary *dictionary, const struct tw_batch *batch);

/* Ends all that is open. */
void view_index_finish(struct view_index *index, const struct tw_dictionary *dictionary);

static inline struct view_row *view_index_row_at(const struct view_index *index, uint64_t number)
{
	return view_column_at(&index->rows, &index->store, sizeof(struct view_row), number);
}

/* Finds a row; NULL where there is none. That of a counter may be there until another counter's is asked for. */
const struct view_row *view_index_row(const struct view_index *index, uint32_t track, uint32_t lane, uint32_t depth);

/* Frees what only taking events needs. */
void view_index_end_reading(struct view_index *index);

void view_index_free(struct view_index *index);

#endif
