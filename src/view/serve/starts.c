/* starts.c - where the files of a view begin for who asks: a page may move each of several traces. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/starts.h"

#include <stdlib.h>

/* When a file begins on the axis of the index. */
static uint64_t begin_of(const struct view *view, size_t file)
{
	return view_since_start(view, view->files[file].start, 0);
}

/* Reads the list, which is moved by as much as it differs from where the files are. */
static bool take_list(struct view *view, const char *list, int64_t *later)
{
	bool some_first = false;
	for (size_t i = 0; i < view->options.count; i++) {
		uint64_t start;
		if (!view_next_number(&list, INT64_MAX, &start))
			return false;
		some_first |= start == 0;
		later[i] = view->reading.started ? (int64_t)(start - begin_of(view, i)) : 0;
	}
	return some_first && list && !*list;
}

bool view_starts_take(struct view *view, struct view_request *request)
{
	const char *list = view_request_text(request, "starts");
	if (!list)
		return true;
	request->later = calloc(view->options.count, sizeof *request->later);
	if (!request->later)
		return false;
	view_lock(view);
	const bool taken = take_list(view, list, request->later);
	view_unlock(view);
	request->later_count = view->options.count;
	return taken;
}

int64_t view_later(const struct view_request *request, size_t file)
{
	return request->later && file < request->later_count ? request->later[file] : 0;
}

int64_t view_track_later(const struct view *view, const struct view_request *request, uint32_t track)
{
	if (!request->later || track >= view->index.tracks.count)
		return 0;
	const uint32_t file = view->index.tracks.items[track].file; /* plus 1 */
	return file ? view_later(request, file - 1) : 0;
}

uint64_t view_since_start(const struct view *view, uint64_t time, int64_t later)
{
	const view_wide since = (view_wide)time - view->reading.start + later;
	return since > 0 ? (uint64_t)since : 0;
}

uint64_t view_file_begin(const struct view *view, const struct view_request *request, size_t file)
{
	return view_since_start(view, view->files[file].start, view_later(request, file));
}

static void take_end(struct view *view, const struct view_row *row)
{
	const struct view_store *store = &view->index.store;
	const uint32_t file = view->index.tracks.items[row->track].file;
	if (!file || !row->count)
		return;
	const uint64_t end = row->kind == VIEW_COUNTER ? view_row_begin(row, store, row->count - 1)
	                                               : view_row_end(row, store, row->count - 1);
	struct view_file *of = &view->files[file - 1];
	of->end = end > of->end ? end : of->end;
}

/* The end of all rows of each file is looked up once for each state of the index. */
static void find_ends(struct view *view)
{
	const struct view_index *index = &view->index;
	if (view->ends_of == view->reading.generation)
		return;
	for (size_t i = 0; i < view->options.count; i++)
		view->files[i].end = view->files[i].start;
	for (uint64_t i = 0; i < index->rows.count; i++)
		take_end(view, view_index_row_at(index, i));
	for (uint32_t i = 0; i < index->tracks.count; i++) {
		const struct view_track *track = &index->tracks.items[i];
		for (uint32_t lane = 0; track->kind == VIEW_COUNTERS && lane < track->lane_count; lane++) {
			const struct view_row *row = view_index_row(index, i, lane, 0); /* it may stand nowhere else */
			if (row)
				take_end(view, row);
		}
	}
	view->ends_of = view->reading.generation;
}

uint64_t view_end(struct view *view, const struct view_request *request)
{
	uint64_t end = 0;
	if (!request->later || view->reading.state == VIEW_READING)
		return view_since_start(view, view->index.end, 0);
	find_ends(view);
	for (size_t i = 0; i < view->options.count; i++) {
		const uint64_t own = view_since_start(view, view->files[i].end, view_later(request, i));
		end = own > end ? own : end;
	}
	return end;
}
