/* place.c - slices by where they are in the rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/place.h"

#include "view/index/bare.h"
#include "view/serve/starts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether all that is said of a row's slices, and of those inside, is known: before all has been read it may be in the
 * trace alone. */
static bool is_known(const struct view *view, const struct view_row *row)
{
	const struct view_spans *spans = view->index.store.spans;
	if (!spans || spans->ready)
		return true;
	const struct view_row *inside =
	    row->depth < UINT16_MAX ? view_index_row(&view->index, row->track, row->lane, row->depth + 1U) : NULL;
	return !row->bare && !(inside && inside->bare);
}

bool view_place_named(const struct view *view, const struct view_request *request, struct view_place *place)
{
	uint64_t track, lane, depth;
	if (!view_request_number(request, "track", UINT32_MAX, &track) ||
	    !view_request_number(request, "lane", UINT16_MAX, &lane) ||
	    !view_request_number(request, "depth", UINT16_MAX, &depth) ||
	    !view_request_number(request, "item", UINT64_MAX, &place->item))
		return false;
	place->row = view_index_row(&view->index, (uint32_t)track, (uint32_t)lane, (uint32_t)depth);
	return place->row && place->row->kind != VIEW_COUNTER && place->item < place->row->count &&
	       is_known(view, place->row);
}

bool view_place_is_early(const struct view *view)
{
	const struct view_index *index = &view->index;
	if (!index->store.spans || index->store.spans->ready || view->reading.state != VIEW_READING)
		return false;
	for (uint64_t i = 0; i < index->rows.count; i++)
		if (view_index_row_at(index, i)->bare)
			return true;
	return false;
}

void view_place_refuse_early(struct view_answer *answer)
{
	view_refuse(answer, 503, "the file is still being read: this is known as soon as it has been");
}

/* The last of a row that begins at the time or before is the only one that can go on then, unless one of no length
 * stands where another ends. */
static bool is_in_row(const struct view *view, const struct view_row *row, uint64_t time, uint64_t offset,
                      struct view_place *place)
{
	const struct view_store *store = &view->index.store;
	uint64_t after = time < UINT64_MAX ? view_row_begin_at(row, store, 0, time + 1) : row->count;
	for (unsigned i = 0; i < 2 && after > 0; i++) {
		const struct view_slice slice = view_row_slice(row, store, --after);
		if (slice.end < time || slice.offset != offset)
			continue;
		*place = (struct view_place){row, after};
		return true;
	}
	return false;
}

/* The same of one that begins then or later: it is the next of its row. */
static bool is_next_in_row(const struct view *view, const struct view_row *row, uint64_t time, uint64_t offset,
                           struct view_place *place)
{
	const struct view_store *store = &view->index.store;
	const uint64_t next = view_row_begin_at(row, store, 0, time);
	if (next >= row->count || view_row_slice(row, store, next).offset != offset)
		return false;
	*place = (struct view_place){row, next};
	return true;
}

typedef bool in_row_fn(const struct view *view, const struct view_row *row, uint64_t time, uint64_t offset,
                       struct view_place *place);

static bool find_place(const struct view *view, uint32_t number, uint64_t time, uint64_t offset, in_row_fn *in_row,
                       struct view_place *place)
{
	const struct view_track *track = &view->index.tracks.items[number];
	for (uint32_t lane = 0; lane < track->lane_count; lane++)
		for (uint32_t depth = 0; depth < track->lanes[lane]; depth++) {
			const struct view_row *row = view_index_row(&view->index, number, lane, depth);
			if (row && row->kind == VIEW_SLICES && in_row(view, row, time, offset, place))
				return true;
		}
	return false;
}

bool view_place_at(const struct view *view, uint32_t track, uint64_t time, uint64_t offset, struct view_place *place)
{
	return find_place(view, track, time, offset, is_in_row, place);
}

bool view_place_next(const struct view *view, uint32_t track, uint64_t time, uint64_t offset, struct view_place *place)
{
	return find_place(view, track, time, offset, is_next_in_row, place);
}

bool view_is_named(const struct view *view, uint32_t number, const char *text)
{
	const struct view_index *index = &view->index;
	const struct view_name *name =
	    number < index->names.items.count ? view_names_at(&index->names, &index->store, number) : NULL;
	const size_t length = strnlen(text, VIEW_NAME_MOST); /* as names are kept */
	return name && name->length == length && memcmp(index->store.bytes + name->place, text, length) == 0;
}

bool view_name_holds(const struct view *view, uint32_t number, const char *text)
{
	char bytes[VIEW_NAME_MOST + 1];
	const struct view_name *name = view_names_at(&view->index.names, &view->index.store, number);
	memcpy(bytes, view->index.store.bytes + name->place, name->length);
	bytes[name->length] = '\0';
	return strcasestr(bytes, text) != NULL;
}

void view_put_name(struct tw_json *json, const struct view *view, const char *key, uint32_t number)
{
	const struct view_index *index = &view->index;
	const struct view_name *name =
	    number < index->names.items.count ? view_names_at(&index->names, &index->store, number) : NULL;
	if (name)
		tw_json_bytes(json, key, (const char *)index->store.bytes + name->place, name->length);
	else
		tw_json_text(json, key, "");
}

/* What damage has put before the start has a negative time. */
static void put_time(struct tw_json *json, const struct view *view, const char *key, uint64_t time, int64_t later)
{
	char text[24];
	const view_wide since = (view_wide)time - view->reading.start + later;
	if (since >= 0) {
		view_json_digits(json, key, view_since_start(view, time, later));
		return;
	}
	snprintf(text, sizeof text, "%" PRId64, since > INT64_MIN ? (int64_t)since : INT64_MIN + 1);
	tw_json_text(json, key, text);
}

void view_place_put(struct tw_json *json, const struct view *view, const struct view_request *request,
                    const struct view_place *place)
{
	const int64_t later = view_track_later(view, request, place->row->track);
	const struct view_slice slice = view_row_slice(place->row, &view->index.store, place->item);
	view_put_name(json, view, "name", slice.name);
	tw_json_u64(json, "track", place->row->track);
	tw_json_u64(json, "lane", place->row->lane);
	tw_json_u64(json, "depth", place->row->depth);
	view_json_digits(json, "item", place->item);
	put_time(json, view, "begin", slice.begin, later);
	put_time(json, view, "end", slice.end, later);
	view_json_digits(json, "duration", slice.end - slice.begin);
}
