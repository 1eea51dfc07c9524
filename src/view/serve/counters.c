/* counters.c - what counters were in a window: of each series the first and the last value, least, most, and the mean
 * over time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/serve/starts.h"

#include <math.h>

/* A window on the clock of a series. A value holds until the next; of one time the last is the value. */
struct counter_window {
	uint64_t from, to;
	bool with_end; /* what is at its end counts, too */
};

struct sums {
	uint64_t count;
	double first, least, most, last;
	double area, width; /* of values that hold for some time */
	bool has_first;     /* it holds, or is the last of all */
};

static uint64_t clamped(view_wide time)
{
	return time < 0 ? 0 : time < UINT64_MAX ? (uint64_t)time : UINT64_MAX;
}

/* The first sample that counts: what holds when the window begins, or what is there then. */
static uint64_t first_of(const struct view_row *row, const struct view_store *store,
                         const struct counter_window *stretch)
{
	const uint64_t at = view_row_begin_at(row, store, 0, stretch->from);
	const bool is_there = at < row->count && view_row_begin(row, store, at) == stretch->from;
	return is_there || at == 0 ? at : at - 1;
}

/* Where samples no longer count. */
static uint64_t last_of(const struct view_row *row, const struct view_store *store,
                        const struct counter_window *stretch, uint64_t first)
{
	return view_row_begin_at(row, store, first, stretch->to + (stretch->with_end && stretch->to < UINT64_MAX));
}

static void add(struct sums *sums, const struct view_sample *sample, const struct view_sample *next,
                const struct counter_window *stretch)
{
	const uint64_t begin = sample->time > stretch->from ? sample->time : stretch->from;
	const uint64_t end = next && next->time < stretch->to ? next->time : stretch->to;
	const double width = end > begin ? (double)(end - begin) : 0;
	const bool holds = !next || next->time != sample->time;
	if (!sums->count++)
		sums->first = sums->least = sums->most = sample->value;
	if (holds && !sums->has_first)
		sums->first = sample->value;
	sums->has_first |= holds;
	sums->least = sample->value < sums->least ? sample->value : sums->least;
	sums->most = sample->value > sums->most ? sample->value : sums->most;
	sums->last = sample->value;
	sums->area += width > 0 ? sample->value * width : 0;
	sums->width += width;
}

/* Others are answered between two parts of many samples. False where nobody waits any more. */
static bool rest(struct view *view, const struct view_request *request)
{
	view_unlock(view);
	const bool over = view_questions_are_over(&view->questions, request->socket);
	view_lock(view);
	return !over;
}

/* Sums up a series. Its row is looked up again after each part: the index may be another one by then. False where
 * nobody waits any more. */
static bool sum_up(struct view *view, const struct view_request *request, uint32_t track, uint32_t lane,
                   const struct counter_window *stretch, struct sums *sums)
{
	enum { PART = 1 << 18 };
	const struct view_store *store = &view->index.store;
	const struct view_row *row = view_index_row(&view->index, track, lane, 0);
	uint64_t i = row && row->count ? first_of(row, store, stretch) : 0;
	while (row && i < row->count) {
		const uint64_t last = last_of(row, store, stretch, i);
		const uint64_t part = last - i < PART ? last : i + PART;
		struct view_sample next = {0};
		for (struct view_sample sample = i < part ? view_row_sample(row, store, i) : next; i < part;
		     sample = next) {
			const bool more = ++i < row->count;
			next = more ? view_row_sample(row, store, i) : next;
			add(sums, &sample, more ? &next : NULL, stretch);
		}
		if (i == last)
			return true;
		if (!rest(view, request))
			return false;
		row = view_index_row(&view->index, track, lane, 0);
	}
	return true;
}

/* JSON has no infinite numbers. */
static void put_value(struct tw_json *json, const char *key, double value)
{
	if (isfinite(value))
		tw_json_double(json, key, value);
	else
		tw_json_text(json, key, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
}

static void put_series(struct tw_json *json, uint32_t track, uint32_t lane, const struct sums *sums)
{
	tw_json_object(json, NULL);
	tw_json_u64(json, "track", track);
	tw_json_u64(json, "series", lane);
	put_value(json, "first", sums->first);
	put_value(json, "min", sums->least);
	put_value(json, "mean", sums->width > 0 ? sums->area / sums->width : sums->first);
	put_value(json, "max", sums->most);
	put_value(json, "last", sums->last);
	tw_json_object_end(json);
}

/* Of all series of a counter. False where nobody waits any more. */
static bool put_track(struct tw_json *json, struct view *view, const struct view_request *request, uint32_t number)
{
	uint64_t from = 0, to = 0;
	(void)view_request_number(request, "from", INT64_MAX, &from);
	(void)view_request_number(request, "to", INT64_MAX, &to);
	const view_wide start = (view_wide)view->reading.start - view_track_later(view, request, number);
	const struct counter_window stretch = {clamped(start + from), clamped(start + to),
	                                       to >= view_end(view, request)};
	for (uint32_t lane = 0; number < view->index.tracks.count; lane++) {
		const struct view_track *track = &view->index.tracks.items[number];
		struct sums sums = {0};
		if (track->kind != VIEW_COUNTERS || lane >= track->lane_count)
			return true;
		if (!sum_up(view, request, number, lane, &stretch, &sums))
			return false;
		if (sums.count)
			put_series(json, number, lane, &sums);
	}
	return true;
}

void view_answer_counters(struct view *view, const struct view_request *request, struct view_answer *answer)
{
	const char *list = view_request_text(request, "tracks");
	struct tw_output out;
	struct tw_json json;
	uint64_t track;
	bool waited_for = true;
	if (!view_json_begin(&json, &out, answer))
		return;
	tw_json_object(&json, NULL);
	tw_json_array(&json, "counters");
	view_lock(view);
	while (waited_for && view_next_number(&list, UINT32_MAX, &track))
		waited_for = put_track(&json, view, request, (uint32_t)track);
	view_unlock(view);
	tw_json_array_end(&json);
	tw_json_object_end(&json);
	view_json_end(&out, answer);
	if (!waited_for)
		view_refuse(answer, 409, "interrupted");
}
