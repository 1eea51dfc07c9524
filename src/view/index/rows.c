/* rows.c - the rows of an index, and the tracks that they are of. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/parts.h"
#include "view/index/spans.h"

static uint64_t row_key(uint32_t track, uint32_t lane, uint32_t depth)
{
	return (uint64_t)track << 32 | (uint64_t)lane << 16 | depth;
}

static struct view_row *find_row(const struct view_index *index, uint32_t track, uint32_t lane, uint32_t depth)
{
	uint32_t number;
	bool found = lane <= UINT16_MAX && depth <= UINT16_MAX &&
	             tw_map_find(&index->found.numbers, row_key(track, lane, depth), &number);
	return found ? view_index_row_at(index, number) : NULL;
}

const struct view_row *view_index_row(const struct view_index *index, uint32_t track, uint32_t lane, uint32_t depth)
{
	if (track < index->tracks.count && index->tracks.items[track].kind == VIEW_COUNTERS)
		return depth == 0 ? view_index_series_row(index, track, lane) : NULL;
	return find_row(index, track, lane, depth);
}

/* Whether items of a row are told by the events of a span of time, and by what is open when it begins. */
static bool is_readable(enum view_kind kind, enum view_track_kind track)
{
	enum { TRACKS = 1 << VIEW_THREAD | 1 << VIEW_PROCESS | 1 << VIEW_CPU };
	return (kind == VIEW_SLICES || kind == VIEW_POINTS) && TRACKS >> track & 1;
}

/* Adds a row; NULL where there is no room. */
static struct view_row *add_row(struct view_index *index, enum view_kind kind, uint32_t track, uint32_t lane,
                                uint32_t depth)
{
	const bool apart = kind == VIEW_POINTS || kind == VIEW_STATES; /* in lanes that are no track's own */
	struct view_row *row;
	if (view_index_is_full(index) || (!apart && !view_tracks_deepen(&index->tracks, track, lane, depth + 1)) ||
	    !(row = view_column_add(&index->rows, &index->store, sizeof *row)))
		return NULL;
	*row = (struct view_row){.track = track,
	                         .lane = (uint16_t)lane,
	                         .depth = (uint16_t)depth,
	                         .readable = is_readable(kind, index->tracks.items[track].kind),
	                         .kind = kind};
	index->tracks.changes += apart;
	return row;
}

struct view_row *view_index_row_of(struct view_index *index, enum view_kind kind, uint32_t track, uint32_t lane,
                                   uint32_t depth)
{
	struct view_row **recent = view_index_recent(index, track, lane, depth);
	if (*recent && (*recent)->track == track && (*recent)->lane == lane && (*recent)->depth == depth)
		return *recent;
	struct view_row *row = find_row(index, track, lane, depth);
	*recent = row;
	if (row || track == VIEW_NONE)
		return row;
	row = add_row(index, kind, track, lane, depth);
	const uint32_t number = (uint32_t)index->rows.count - 1;
	return row && tw_map_add(&index->found.numbers, row_key(track, lane, depth), number) ? row : NULL;
}

/* Those of counters are found by their series. */
bool view_index_number_rows(struct view_index *index)
{
	bool fine = true;
	for (uint64_t i = 0; i < index->rows.count && fine; i++) {
		const struct view_row *row = view_index_row_at(index, i);
		fine = row->kind == VIEW_COUNTER ||
		       tw_map_add(&index->found.numbers, row_key(row->track, row->lane, row->depth), (uint32_t)i);
	}
	return fine;
}

void view_index_put_slice(struct view_index *index, uint32_t track, uint32_t lane, uint32_t depth,
                          const struct view_slice *slice)
{
	enum { TRIED = 256 };
	for (unsigned i = 0; i < TRIED; i++, lane++) {
		struct view_row *row = view_index_row_of(index, VIEW_SLICES, track, lane, depth);
		if (!row)
			break;
		if (slice->begin < row->last)
			continue;
		if (!view_row_add_slice(row, &index->store, slice))
			break;
		index->tracks.items[track].slices++;
		if (i && row->readable)
			view_spans_fail(index->store.spans);
		return;
	}
	index->left++;
}

/* ---- Tracks and names of the reader. ---- */

static enum view_track_kind kind_of(const struct tw_track *track)
{
	switch (track->kind) {
	case TW_TRACK_THREAD:
		return VIEW_THREAD;
	case TW_TRACK_PROCESS:
		return VIEW_PROCESS;
	case TW_TRACK_CPU:
		return VIEW_CPU;
	case TW_TRACK_OTHER:
		break;
	}
	return VIEW_OTHER;
}

static uint32_t new_track(struct view_index *index, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(index->now.dictionary, number);
	enum view_track_kind kind = kind_of(track);
	uint64_t thread = kind == VIEW_OTHER ? number : kind == VIEW_PROCESS ? 0 : track->thread;
	uint32_t found = view_tracks_find(&index->tracks, kind, kind == VIEW_CPU ? 0 : track->process, thread);
	if (found != VIEW_NONE && track->name && kind == VIEW_OTHER)
		view_track_call(&index->tracks, found, tw_dictionary_name(index->now.dictionary, track->name));
	return found;
}

uint32_t view_index_meet_track(struct view_index *index, uint32_t number)
{
	if (!tw_grow(&index->met.numbers, &index->met.room, (size_t)number + 1, sizeof *index->met.numbers))
		return VIEW_NONE;
	if (!index->met.numbers[number])
		index->met.numbers[number] = 1 + new_track(index, number);
	return index->met.numbers[number] - 1;
}
