/* details.c - the answers from the index: windows, slices, and what is near. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/bare.h"
#include "view/index/leaves.h"
#include "view/serve/place.h"
#include "view/serve/question.h"
#include "view/serve/starts.h"
#include "view/serve/window.h"

#include <stdlib.h>
#include <string.h>

/* ---- Windows. ---- */

/* Takes the list of tracks. False where it is none. */
static bool take_tracks(const struct view_request *request, uint32_t *tracks, size_t *count)
{
	const char *list = view_request_text(request, "tracks");
	uint64_t track;
	*count = 0;
	if (!list)
		return false;
	while (view_next_number(&list, UINT32_MAX, &track)) {
		if (*count == VIEW_WINDOW_TRACKS)
			return false;
		tracks[(*count)++] = (uint32_t)track;
	}
	return list != NULL;
}

static bool take_window(const struct view_request *request, struct view_window *window)
{
	uint64_t width, names, exact = 0, outer = 0;
	if (!view_request_number(request, "from", INT64_MAX, &window->from) ||
	    !view_request_number(request, "to", INT64_MAX, &window->to) ||
	    !view_request_number(request, "width", VIEW_WIDTH_MOST, &width) ||
	    !view_request_number(request, "names", UINT32_MAX, &names))
		return false;
	(void)view_request_number(request, "exact", 1, &exact);
	(void)view_request_number(request, "outer", 1, &outer);
	window->exact = exact;
	window->outer = outer;
	window->width = (uint32_t)width;
	window->names = (uint32_t)names;
	return window->from < window->to;
}

void view_answer_window(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	struct view_window window = {0};
	size_t count;
	uint32_t *tracks = calloc(VIEW_WINDOW_TRACKS, sizeof *tracks);
	if (!tracks) {
		answer->status = 500;
	} else if (!take_window(request, &window) || !take_tracks(request, tracks, &count)) {
		view_refuse(answer, 400, "a window wants from before to, and at most 4096 tracks");
	} else {
		answer->type = "application/octet-stream";
		view_lock(view);
		window.start = view->reading.start;
		window.generation = view->reading.generation;
		window.later = request->later;
		if (window.to > UINT64_MAX - view->reading.start)
			window.to = UINT64_MAX - view->reading.start;
		bool done =
		    window.from >= window.to || view_window_answer(&view->index, &window, tracks, count, &answer->body);
		view_unlock(view);
		if (!done)
			answer->status = 500;
		else if (!answer->body.length)
			view_refuse(answer, 400, "there is nothing so late");
	}
	free(tracks);
}

/* ---- A slice. ---- */

/* Those of its lane that hold it, the innermost first. */
static void put_callers(struct tw_json *json, const struct view *view, const struct view_request *request,
                        const struct view_place *place)
{
	const struct view_store *store = &view->index.store;
	const struct view_slice slice = view_row_slice(place->row, store, place->item);
	tw_json_array(json, "callers");
	for (uint32_t depth = place->row->depth; depth-- > 0;) {
		struct view_place caller = {view_index_row(&view->index, place->row->track, place->row->lane, depth),
		                            0};
		if (!caller.row || slice.begin == UINT64_MAX)
			continue;
		caller.item = view_row_begin_at(caller.row, store, 0, slice.begin + 1);
		if (caller.item-- == 0 || view_row_end(caller.row, store, caller.item) < slice.end)
			continue;
		tw_json_object(json, NULL);
		view_place_put(json, view, request, &caller);
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

/* Those directly inside, of its lane: the first, and how many. */
static void put_children(struct tw_json *json, const struct view *view, const struct view_request *request,
                         const struct view_place *place)
{
	enum { SHOWN = 100 };
	const struct view_store *store = &view->index.store;
	const struct view_slice slice = view_row_slice(place->row, store, place->item);
	struct view_place child = {.item = 0};
	uint64_t last = 0;
	if (place->row->kind == VIEW_SLICES && place->row->depth < UINT16_MAX)
		child.row = view_index_row(&view->index, place->row->track, place->row->lane, place->row->depth + 1U);
	if (child.row) {
		child.item = view_row_begin_at(child.row, store, 0, slice.begin);
		last = view_row_begin_at(child.row, store, child.item, slice.end);
	}
	view_json_digits(json, "child_count", last - child.item);
	tw_json_array(json, "children");
	for (uint64_t first = child.item; child.item < last && child.item - first < SHOWN; child.item++) {
		tw_json_object(json, NULL);
		view_place_put(json, view, request, &child);
		tw_json_object_end(json);
	}
	tw_json_array_end(json);
}

/* The number of its name. */
static uint32_t category_of(const struct view *view, uint32_t number)
{
	const struct view_index *index = &view->index;
	return number < index->names.items.count ? view_names_at(&index->names, &index->store, number)->category - 1
	                                         : VIEW_NONE;
}

/* Of functions; null where it is not known. */
static void put_source(struct tw_json *json, const struct view *view, uint32_t number)
{
	const struct view_index *index = &view->index;
	const struct view_name *name =
	    number < index->names.items.count ? view_names_at(&index->names, &index->store, number) : NULL;
	if (!name || !name->file) {
		tw_json_text(json, "source", NULL);
		return;
	}
	tw_json_object(json, "source");
	view_put_name(json, view, "file", name->file - 1);
	tw_json_u64(json, "line", name->line);
	tw_json_object_end(json);
}

void view_answer_slice(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	struct tw_output out;
	struct tw_json json;
	struct view_place place;
	if (!view_json_begin(&json, &out, answer))
		return;
	view_lock(view);
	bool found = view_place_named(view, request, &place);
	if (found) {
		const struct view_slice slice = view_row_slice(place.row, &view->index.store, place.item);
		tw_json_object(&json, NULL);
		view_place_put(&json, view, request, &place);
		view_put_name(&json, view, "category", category_of(view, slice.name));
		const uint32_t file = view->index.tracks.items[place.row->track].file;
		tw_json_known(&json, "file", file - 1, file != 0);
		view_json_digits(&json, "offset", slice.offset);
		put_source(&json, view, slice.name);
		put_callers(&json, view, request, &place);
		put_children(&json, view, request, &place);
		tw_json_object_end(&json);
	}
	const bool is_early = !found && view_place_is_early(view);
	view_unlock(view);
	view_json_end(&out, answer);
	if (is_early)
		view_place_refuse_early(answer);
	else if (!found)
		view_refuse(answer, 400, "no slice is there: track, lane, depth and item name one");
}

/* ---- What is near. ---- */

/* Whether the name of a number holds the text. */
enum holds { NOT_LOOKED_AT, LACKS, HOLDS };

struct near {
	const char *name; /* NULL: another text is told, or the neighbour in the row is asked for */
	const char *text; /* calls are asked for whose names hold it; NULL: none */
	unsigned char *holds;
	size_t holds_count;
	view_wide at; /* on the reader's clock, but for what is moved */
	bool backwards;
	/* What is asked for of the time itself: what stands behind a slice, or before it. */
	bool has_place;
	uint64_t order, item; /* of its row, and in it */
	bool *among;          /* by track, whether it is asked for; NULL: all are */
	size_t among_count;
	const struct view_request *request;
	struct view_place found;
	bool over; /* nobody waits for it any more */
};

/* Takes the tracks that are asked for. False where they are none. */
static bool take_among(const struct view *view, struct near *near)
{
	const char *list = view_request_text(near->request, "tracks");
	const size_t count = view->index.tracks.count;
	uint64_t track;
	if (!list)
		return true;
	near->among = calloc(count + 1, sizeof *near->among);
	near->among_count = near->among ? count : 0;
	while (view_next_number(&list, UINT32_MAX, &track))
		if (track < near->among_count)
			near->among[track] = true;
	return near->among && list;
}

static bool is_among(const struct near *near, const struct view_row *row)
{
	return !near->among || (row->track < near->among_count && near->among[row->track]);
}

/* Of one time, outer ones stand before inner ones. */
static uint64_t order_of(const struct view_row *row)
{
	enum { TRACK = 32, LANE = 16 };
	return (uint64_t)row->track << TRACK | (uint64_t)row->lane << LANE | row->depth;
}

/* Those that functions have. */
static bool is_of_calls(const struct view *view, const struct view_row *row)
{
	const enum view_track_kind kind = view->index.tracks.items[row->track].kind;
	return row->kind == VIEW_SLICES &&
	       (kind == VIEW_THREAD || (kind == VIEW_CPU && view->reading.clock.instructions));
}

static bool is_asked_for(const struct view *view, const struct near *near, const struct view_row *row)
{
	return is_among(near, row) &&
	       (near->text ? is_of_calls(view, row) : row->kind == VIEW_SLICES || row->kind == VIEW_POINTS);
}

static bool is_sought(const struct view *view, struct near *near, uint32_t name)
{
	if (!near->text)
		return view_is_named(view, name, near->name);
	if (name >= near->holds_count)
		return false;
	if (near->holds[name] == NOT_LOOKED_AT)
		near->holds[name] = view_name_holds(view, name, near->text) ? HOLDS : LACKS;
	return near->holds[name] == HOLDS;
}

static view_wide begin_of(const struct view *view, const struct near *near, const struct view_place *place)
{
	return (view_wide)view_row_begin(place->row, &view->index.store, place->item) +
	       view_track_later(view, near->request, place->row->track);
}

/* Whether a slice is nearer than what was found; of two of one time the first, or backwards the last. */
static bool is_nearer(const struct view *view, const struct near *near, const struct view_place *place)
{
	if (!near->found.row)
		return true;
	const view_wide begin = begin_of(view, near, place), found = begin_of(view, near, &near->found);
	if (begin == found)
		return (order_of(place->row) < order_of(near->found.row)) != near->backwards;
	return near->backwards ? begin > found : begin < found;
}

/* The same of the row of the slice that is told: the next of it, backwards the slice. */
static uint64_t first_from_place(const struct near *near, const struct view_leaf *items)
{
	const uint64_t item = near->item + !near->backwards;
	const uint64_t first = item > items->first ? item - items->first : 0;
	return first < items->row->count ? first : items->row->count;
}

/* Whether what begins at the time itself is asked for. */
static bool has_time_itself(const struct near *near, const struct view_row *row)
{
	if (!near->has_place)
		return near->text && !near->backwards;
	return near->backwards ? order_of(row) < near->order : order_of(row) > near->order;
}

/* The first item of a row from the time on; the first behind it where it is looked for what begins later. */
static uint64_t first_from(const struct view *view, const struct near *near, const struct view_row *row,
                           const struct view_leaf *items)
{
	if (near->has_place && order_of(row) == near->order)
		return first_from_place(near, items);
	const bool behind = has_time_itself(near, row) == near->backwards;
	const view_wide at = near->at - view_track_later(view, near->request, row->track) + behind;
	if (at <= 0)
		return 0;
	return view_row_begin_at(items->row, items->store, 0, at < UINT64_MAX ? (uint64_t)at : UINT64_MAX);
}

/* Looks through items from the time on, which are those of a row from one on; not further than what was found before
 * is. */
static void look_through(const struct view *view, struct near *near, const struct view_row *row,
                         const struct view_leaf *items)
{
	struct view_place place = {row, 0};
	const uint64_t first = first_from(view, near, row, items);
	const uint64_t left = near->backwards ? first : items->row->count - first;
	for (uint64_t i = 0; i < left; i++) {
		const uint64_t item = near->backwards ? first - 1 - i : first + i;
		place.item = items->first + item;
		if (!is_nearer(view, near, &place))
			return;
		if (is_sought(view, near, view_row_name(items->row, items->store, item))) {
			near->found = place;
			return;
		}
	}
}

/* ---- Of slices that are read again: some spans after others. ---- */

/* Looks through the rows in some spans. */
static void look_in_spans(const struct view *view, struct near *near, uint64_t first, uint64_t last)
{
	for (uint64_t i = 0; i < view->index.rows.count; i++) {
		const struct view_row *row = view_index_row_at(&view->index, i);
		struct view_leaf items;
		if (row->bare && is_asked_for(view, near, row) &&
		    view_leaves_find(&view->index.store, row, first, last, &items))
			look_through(view, near, row, &items);
	}
}

/* Whether nothing beyond some spans can be nearer than what was found. */
static bool is_near_enough(const struct view *view, const struct near *near, uint64_t first, uint64_t last)
{
	if (!near->found.row)
		return false;
	const uint64_t begin = view_row_begin(near->found.row, &view->index.store, near->found.item);
	const uint64_t span = view_span_of(view->index.store.spans, begin);
	return near->backwards ? span >= first : span <= last;
}

/* Spans from one on, or back from it, with so much of the trace that reading it is worth it. *other: the last. */
static void find_last_span(const struct view_spans *spans, const struct near *near, uint64_t from, uint64_t *other)
{
	enum { SIZE = 4 << 20 };
	uint64_t size = view_spans_size(spans, from, from);
	for (*other = from; near->backwards ? *other > 0 : *other + 1 < spans->most;) {
		const uint64_t next = near->backwards ? *other - 1 : *other + 1;
		size += view_spans_size(spans, next, next);
		if (size > SIZE)
			return;
		*other = next;
	}
}

/* Others may be answered between two readings; where the index has been replaced by then, nothing is found. */
static void look_span_by_span(struct view *view, struct near *near)
{
	const struct view_spans *spans = view->index.store.spans;
	if (!spans || !spans->ready)
		return;
	/* One file, which is never moved. */
	const uint64_t at =
	    near->at <= 0 ? 0 : view_span_of(spans, near->at < UINT64_MAX ? (uint64_t)near->at : UINT64_MAX);
	uint64_t from = at < spans->most ? at : spans->most - 1;
	while (from < spans->most) {
		uint64_t other;
		find_last_span(spans, near, from, &other);
		const uint64_t first = near->backwards ? other : from, last = near->backwards ? from : other;
		look_in_spans(view, near, first, last);
		from = near->backwards ? first - 1 : last + 1;
		if (is_near_enough(view, near, first, last))
			return;
		view_unlock(view);
		near->over = view_questions_are_over(&view->questions, near->request->socket);
		view_lock(view);
		if (near->over || view->index.store.spans != spans) {
			near->found = (struct view_place){NULL, 0};
			return;
		}
	}
}

/* Takes the slice behind which is looked, if one is told, and room for what is known of names. */
static bool take_place(const struct view *view, struct near *near)
{
	uint64_t track = 0, lane = 0, depth = 0;
	near->has_place = view_request_number(near->request, "track", UINT32_MAX, &track) &&
	                  view_request_number(near->request, "lane", UINT16_MAX, &lane) &&
	                  view_request_number(near->request, "depth", UINT16_MAX, &depth) &&
	                  view_request_number(near->request, "item", UINT64_MAX - 1, &near->item);
	const struct view_row row = {.track = (uint32_t)track, .lane = (uint16_t)lane, .depth = (uint16_t)depth};
	near->order = order_of(&row);
	if (!near->text)
		return true;
	near->holds_count = view->index.names.items.count;
	near->holds = calloc(near->holds_count + 1, 1);
	return near->holds != NULL;
}

/* The lock is held. */
static bool find_named(struct view *view, const struct view_request *request, struct near *near)
{
	int64_t at;
	if (!view_request_time(request, "at", &at) || !take_among(view, near) || !take_place(view, near))
		return false;
	near->at = (view_wide)at + view->reading.start;
	for (uint64_t i = 0; i < view->index.rows.count; i++) {
		const struct view_row *row = view_index_row_at(&view->index, i);
		const struct view_leaf items = {row->bare ? &view_bare_of(row, &view->index.store)->head : row,
		                                &view->index.store, 0};
		if (is_asked_for(view, near, row))
			look_through(view, near, row, &items);
	}
	look_span_by_span(view, near);
	return true;
}

static bool find_neighbour(const struct view *view, const struct view_request *request, struct near *near)
{
	struct view_place place;
	if (!view_place_named(view, request, &place))
		return false;
	bool there = near->backwards ? place.item > 0 : place.item + 1 < place.row->count;
	if (there)
		near->found = (struct view_place){place.row, near->backwards ? place.item - 1 : place.item + 1};
	return true;
}

void view_answer_near(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	struct tw_output out;
	struct tw_json json;
	const char *direction = view_request_text(request, "direction");
	struct near near = {.name = view_request_text(request, "name"),
	                    .text = view_request_text(request, "text"),
	                    .backwards = strcmp(direction, "previous") == 0,
	                    .request = request};
	if (!view_json_begin(&json, &out, answer))
		return;
	view_lock(view);
	const bool named = near.name || near.text;
	bool fine = named ? find_named(view, request, &near) : find_neighbour(view, request, &near);
	tw_json_object(&json, NULL);
	tw_json_bool(&json, "found", near.found.row != NULL);
	if (near.found.row)
		view_place_put(&json, view, request, &near.found);
	tw_json_object_end(&json);
	const bool is_early = (named || !fine) && view_place_is_early(view);
	view_unlock(view);
	free(near.among);
	free(near.holds);
	view_json_end(&out, answer);
	if (is_early)
		view_place_refuse_early(answer);
	else if (near.over)
		view_refuse(answer, 409, "interrupted");
	else if (!fine)
		view_refuse(answer, 400,
		            named ? "the tracks are none" : "no slice is there: track, lane, depth and item name one");
}
