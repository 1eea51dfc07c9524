/* parts.h - what the parts of an index have of each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VIEW_INDEX_PARTS_H
#define VIEW_INDEX_PARTS_H

#include "view/index/bare.h"
#include "view/index/index.h"

/* Takes a track that has not been met. */
uint32_t view_index_meet_track(struct view_index *index, uint32_t number);

/* The track of the reader's; VIEW_NONE where there is no room. */
static inline uint32_t track_of(struct view_index *index, uint32_t number)
{
	const bool is_met = number < index->met.room && index->met.numbers[number];
	return is_met ? index->met.numbers[number] - 1 : view_index_meet_track(index, number);
}

static inline uint32_t or_first(uint32_t number)
{
	return number == VIEW_NONE ? 0 : number;
}

/* The name of a slice or a point. */
static inline uint32_t name_of(struct view_index *index, uint32_t name, uint32_t category)
{
	return or_first(view_names_of(&index->names, &index->store, index->now.dictionary, name, category));
}

/* Finds a row, or adds it. NULL where there is no room. Those of counters are found by their series. */
struct view_row *view_index_row_of(struct view_index *index, enum view_kind kind, uint32_t track, uint32_t lane,
                                   uint32_t depth);

/* Where a row was found the last time, or another one. */
static inline struct view_row **view_index_recent(struct view_index *index, uint32_t track, uint32_t lane,
                                                  uint32_t depth)
{
	return &index->found.recent[(track * 32 + lane * 8 + depth) % VIEW_ROWS_RECENT];
}

/* Has the memory fetch what a slice that begins will look at when it ends, where its row does not keep slices: rows are
 * more than a near cache holds. `bench/view` measures it. */
static inline void view_index_fetch_row(struct view_index *index, uint32_t track, uint32_t lane, uint32_t depth)
{
	const struct view_row *row = *view_index_recent(index, track, lane, depth);
	if (!row || !row->bare)
		return;
	const struct view_bare *bare = view_bare_of(row, &index->store);
	__builtin_prefetch(&bare->head);
	__builtin_prefetch(&bare->groupings[0].open);
	__builtin_prefetch(&bare->last);
}

/* Whether there may be no row more. Those that series of counters would have count, too. */
static inline bool view_index_is_full(const struct view_index *index)
{
	return index->rows.count + index->counters.series >= VIEW_ROWS_MOST;
}

/* Has rows found that are there. False without memory. */
bool view_index_number_rows(struct view_index *index);

/* Puts a slice on the first lane from one on that is free where it begins. */
void view_index_put_slice(struct view_index *index, uint32_t track, uint32_t lane, uint32_t depth,
                          const struct view_slice *slice);

/* ---- Counters. ---- */

void view_index_take_counter(struct view_index *index);

/* Returns the row of a series, as view_index_row(). */
struct view_row *view_index_series_row(const struct view_index *index, uint32_t track, uint32_t lane);

/* Has the memory fetch what counters of a batch, and operations that end, will look at: their tracks are many, and far
 * from each other. */
void view_index_fetch_tracks(const struct view_index *index, const struct tw_batch *batch);

/* ---- Slices. ---- */

extern const struct tw_call_hooks view_index_hooks;

/* Takes the calls of one track that events begin with, a run of them at most. Returns how many they are. */
size_t view_index_take_run(struct view_index *index, const struct tw_event *events, size_t count);

#endif
