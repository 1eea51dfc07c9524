/* find.c - a slice by what the trace says of it: links keep that, because the number in a row depends on filters. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/place.h"
#include "view/serve/starts.h"

/* What is told of a slice, on the reader's clock, cut to the times that the command leaves. */
struct sought {
	const char *name;
	uint64_t begin, end; /* end 0: not told */
	uint64_t depth;      /* UINT64_MAX: not told */
	struct view_place found;
	unsigned likeness;
};

static uint64_t on_clock(const struct view *view, view_wide time, int64_t later)
{
	const view_wide at = time + view->reading.start - later;
	return at < 0 ? 0 : at < UINT64_MAX ? (uint64_t)at : UINT64_MAX;
}

/* False: the times of the command leave nothing of it. */
static bool cut(const struct view *view, struct sought *sought)
{
	const struct tw_read_options *read = &view->options.read;
	const uint64_t from = read->from_ns ? on_clock(view, read->from_ns, 0) : 0;
	const uint64_t to = read->to_ns ? on_clock(view, read->to_ns, 0) : UINT64_MAX;
	if (sought->begin >= to || (sought->end && sought->begin < from && sought->end <= from))
		return false;
	sought->begin = sought->begin < from ? from : sought->begin;
	sought->end = sought->end > to ? to : sought->end;
	return true;
}

static bool take(const struct view *view, const struct view_request *request, struct sought *sought, uint32_t *track)
{
	uint64_t number = 0;
	int64_t begin = 0, end = 0;
	(void)view_request_number(request, "track", UINT32_MAX, &number);
	(void)view_request_time(request, "begin", &begin);
	(void)view_request_number(request, "depth", UINT16_MAX, &sought->depth);
	const bool ends = view_request_time(request, "end", &end);
	*track = (uint32_t)number;
	if (number >= view->index.tracks.count)
		return false;
	const int64_t later = view_track_later(view, request, *track);
	sought->begin = on_clock(view, begin, later);
	sought->end = ends ? on_clock(view, end, later) : 0;
	return cut(view, sought);
}

/* How much a slice is like what is sought; 0: it is another. One that was cut when the link was made is inside of
 * itself; one that has another name by now, from a symbol table, is as long as it was. */
static unsigned likeness_of(const struct view *view, const struct sought *sought, const struct view_place *place)
{
	const struct view_slice slice = view_row_slice(place->row, &view->index.store, place->item);
	const bool named = view_is_named(view, slice.name, sought->name), deep = place->row->depth == sought->depth;
	const bool begins = slice.begin == sought->begin, ends = sought->end && slice.end == sought->end;
	const bool holds = slice.begin <= sought->begin && slice.end > sought->begin && slice.end >= sought->end;
	const bool is_same = begins ? named || (deep && ends) : holds && named && deep;
	return is_same ? 1 + 8U * begins + 4U * named + 2U * deep + ends : 0;
}

/* Looks at those of a row that begin then, and at the one before. */
static void look(const struct view *view, struct sought *sought, const struct view_row *row)
{
	const struct view_store *store = &view->index.store;
	if (!row || !row->count)
		return;
	struct view_place place = {row, view_row_begin_at(row, store, 0, sought->begin)};
	place.item -= place.item > 0;
	for (; place.item < row->count && view_row_begin(row, store, place.item) <= sought->begin; place.item++) {
		const unsigned likeness = likeness_of(view, sought, &place);
		if (likeness > sought->likeness) {
			sought->likeness = likeness;
			sought->found = place;
		}
	}
}

static void look_on(const struct view *view, struct sought *sought, uint32_t number)
{
	const struct view_track *track = &view->index.tracks.items[number];
	for (uint32_t lane = 0; track->kind != VIEW_COUNTERS && lane < track->lane_count; lane++)
		for (uint32_t depth = 0; depth < track->lanes[lane]; depth++)
			look(view, sought, view_index_row(&view->index, number, lane, depth));
	look(view, sought, view_index_row(&view->index, number, VIEW_POINTS_LANE, 0));
	look(view, sought, view_index_row(&view->index, number, VIEW_STATES_LANE, 0));
}

void view_answer_find(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	struct sought sought = {.name = view_request_text(request, "name"), .depth = UINT64_MAX};
	struct tw_output out;
	struct tw_json json;
	uint32_t track;
	if (!view_json_begin(&json, &out, answer))
		return;
	view_lock(view);
	const bool is_early = view_place_is_early(view);
	if (!is_early && take(view, request, &sought, &track))
		look_on(view, &sought, track);
	tw_json_object(&json, NULL);
	tw_json_bool(&json, "found", sought.likeness != 0);
	if (sought.likeness)
		view_place_put(&json, view, request, &sought.found);
	tw_json_object_end(&json);
	view_unlock(view);
	view_json_end(&out, answer);
	if (is_early)
		view_place_refuse_early(answer);
}
