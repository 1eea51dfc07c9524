/* index.h - the events of a trace as rows of a picture. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_INDEX_H
#define VIEW_INDEX_INDEX_H

#include "analysis/series/states.h"
#include "core/calls/calls.h"
#include "core/calls/pairs.h"
#include "view/index/row.h"
#include "view/index/tracks.h"

struct tw_sorted_runs;
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

/* rows.c: which row is whose, but for those of counters. */
struct view_found_rows {
	struct tw_map numbers;                     /* track, lane and depth to the number */
	struct view_row *recent[VIEW_ROWS_RECENT]; /* by a part of these; NULL: none */
};

/* rows.c: tracks of the reader that have been met. */
struct view_met_tracks {
	uint32_t *numbers; /* by the reader's number: 1 + the track's; 0: not met */
	size_t room;
};

/* counters.c */
struct view_counters {
	uint64_t lanes;             /* of all counters */
	uint64_t series;            /* that have no row */
	uint32_t values;            /* 1 + the name of all that have no lane of their own; 0: not taken */
	uint64_t last_sample;       /* the time of the latest, of all counters */
	struct view_row *of_series; /* a row for one of the series: until another is asked for */
};

/* slices.c */
struct view_open_slices {
	struct view_open *items; /* by the frame's row, from TW_ROW_FIRST on */
	size_t count, room;
	uint32_t free; /* plus 1 */
};

/* index.c */
struct view_cpus {
	struct view_running *items;
	size_t count, room;
};
struct view_states {
	struct tw_thread_states of;
	struct view_state_name names[VIEW_STATE_NAMES];
};
struct view_losses {
	struct view_lost items[VIEW_LOST_KEPT];
	uint64_t count; /* of all that there were */
	bool last;      /* nothing has followed the last one */
};

/* While events are taken. */
struct view_now {
	const struct tw_dictionary *dictionary; /* of the reader */
	const struct tw_event *event;
	const struct tw_event *const *begins; /* of a run of calls: the event of the next that begins */
	const struct tw_argument *arguments;
};

struct view_index {
	struct tw_calls calls; /* first: its hooks get this */
	struct tw_budget budget;
	struct view_store store;
	struct view_column rows; /* struct view_row */
	struct view_found_rows found;
	struct view_tracks tracks;
	struct view_met_tracks met;
	struct view_names names;
	struct view_counters counters;
	struct view_open_slices open;
	struct tw_pairs pairs;
	struct view_cpus cpus;
	struct view_states states;
	struct view_losses lost;
	struct view_now now;
	/* Where events of rows that tracks share are put, which come in no order; the index frees it. NULL: they come
	 * in theirs. */
	struct tw_sorted_runs *aside;
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

/* After all batches: takes one of those that were put aside, in the order of time. */
void view_index_take_aside(struct view_index *index, const struct tw_dictionary *dictionary,
                           const struct tw_batch *batch);

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
