/* counters.c - counters: a lane for each series. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- Series. ---- */

/* Makes a row of a series that has none. */
static struct view_row *row_of_few(const struct view_index *index, uint32_t track, uint32_t lane)
{
	const struct view_series *series = &index->tracks.items[track].series[lane];
	struct view_row *row = index->counters.of_series;
	*row = (struct view_row){
	    .track = track, .lane = (uint16_t)lane, .count = series->count, .kind = VIEW_COUNTER, .tail = series->at};
	return row;
}

struct view_row *view_index_series_row(const struct view_index *index, uint32_t track, uint32_t lane)
{
	if (lane >= index->tracks.items[track].lane_count)
		return NULL;
	const struct view_series *series = &index->tracks.items[track].series[lane];
	if (series->count)
		return row_of_few(index, track, lane);
	return series->at ? view_index_row_at(index, series->at - 1) : NULL;
}

enum { AT_ONCE = 16 };

/* Whether a name is among some: without a jump for each. */
static bool has_name(const uint32_t names[static AT_ONCE], uint32_t name)
{
	uint32_t found = 0;
	for (unsigned i = 0; i < AT_ONCE; i++)
		found |= names[i] == name;
	return found;
}

/* The lane of a series, which may be the next that the track has not; VIEW_LANES_MOST where there is no room. */
static uint32_t lane_of(struct view_track *track, uint32_t name)
{
	const uint32_t count = track->lane_count;
	uint32_t i = 0;
	while (i + AT_ONCE <= count && !has_name(&track->series_names[i], name))
		i += AT_ONCE;
	for (; i < count; i++)
		if (track->series_names[i] == name)
			return i;
	if (count >= VIEW_LANES_MOST || !view_track_series_room(track, count + 1))
		return VIEW_LANES_MOST;
	track->series_names[count] = name;
	track->series[count] = (struct view_series){.count = 0};
	return count;
}

static bool add_series(struct view_index *index, uint32_t track, uint32_t lane)
{
	const bool added = !view_index_is_full(index) && view_tracks_deepen(&index->tracks, track, lane, 1);
	index->counters.series += added;
	return added;
}

/* Gives a series a row. Returns false where there is no room. */
static bool settle(struct view_index *index, struct view_series *series, const struct view_row *row)
{
	struct view_row *own = view_column_add(&index->rows, &index->store, sizeof *own);
	if (!own)
		return false;
	*own = *row;
	series->count = 0;
	series->at = index->rows.count & VIEW_AT_MOST;
	index->counters.series--;
	return true;
}

/* What comes late stands where the last one of its series is, which is looked up only where it may be later. */
static uint64_t time_of(const struct view_index *index, const struct view_row *row, uint64_t time)
{
	if (time >= index->counters.last_sample || row->count == 0)
		return time;
	return later(time, view_row_begin(row, &index->store, row->count - 1));
}

/* ---- Samples. ---- */

static bool put_sample(struct view_index *index, uint32_t track, uint32_t lane, double value)
{
	enum { FEW = 8 };
	struct view_track *of = &index->tracks.items[track];
	const bool is_new = lane == of->lane_count;
	if (lane >= VIEW_LANES_MOST || (is_new && !add_series(index, track, lane)))
		return false;
	struct view_series *series = &of->series[lane];
	struct view_row *row = is_new ? row_of_few(index, track, lane) : view_index_series_row(index, track, lane);
	if (!row)
		return false;
	const struct view_sample sample = {time_of(index, row, index->now.event->time), value};
	if (!view_row_add_sample(row, &index->store, &sample))
		return false;
	index->counters.last_sample = later(sample.time, index->counters.last_sample);
	of->slices++;
	if (row != index->counters.of_series)
		return true;
	series->count = row->count & UINT8_MAX;
	series->at = row->tail & VIEW_AT_MOST;
	return row->count < FEW || settle(index, series, row);
}

static bool is_number(const struct tw_argument *argument, double *value)
{
	if (argument->type == TW_ARG_INT)
		*value = (double)argument->value.i;
	else if (argument->type == TW_ARG_UINT)
		*value = (double)argument->value.u;
	else if (argument->type == TW_ARG_DOUBLE)
		*value = argument->value.d;
	else
		return false;
	return isfinite(*value);
}

static uint64_t process_of(const struct view_index *index, const struct tw_event *event)
{
	return tw_dictionary_track(index->now.dictionary, event->track)->process;
}

/* What tells the counters of a process apart. It is the same in each run: an index may be kept. */
static uint64_t counter_of(const struct tw_event *event)
{
	return tw_mix_words((const uint64_t[]){(uint64_t)event->name << 32 | event->category, event->id}, 2);
}

/* A counter may have several instances in a process: those but the first have their number behind its name. */
static void call_track(struct view_index *index, uint32_t track)
{
	const struct tw_event *event = index->now.event;
	const struct tw_name *name = tw_dictionary_name(index->now.dictionary, event->name);
	char text[VIEW_NAME_MOST + 1];
	struct tw_name called = {.text = text};
	if (!event->id) {
		view_track_call(&index->tracks, track, name);
		return;
	}
	enum { NUMBER = 22 }; /* a space, 20 digits, and the end */
	called.length = name->length < VIEW_NAME_MOST - NUMBER ? name->length : VIEW_NAME_MOST - NUMBER;
	memcpy(text, name->text, called.length);
	called.length += (size_t)snprintf(text + called.length, NUMBER, " %" PRIu64, event->id);
	view_track_call(&index->tracks, track, &called);
}

void view_index_take_counter(struct view_index *index)
{
	const struct tw_event *event = index->now.event;
	const uint32_t track =
	    view_tracks_find(&index->tracks, VIEW_COUNTERS, process_of(index, event), counter_of(event));
	if (track != VIEW_NONE && !index->tracks.items[track].fixed)
		call_track(index, track);
	for (unsigned i = 0; i < event->argument_count && track != VIEW_NONE; i++) {
		double value;
		if (!is_number(&index->now.arguments[i], &value))
			continue;
		const uint32_t name = or_first(
		    view_names_take(&index->names, &index->store, index->now.dictionary, index->now.arguments[i].name));
		index->left += !put_sample(index, track, lane_of(&index->tracks.items[track], name), value);
	}
}

/* ---- Ahead. ---- */

static void fetch_track(const struct view_track *track)
{
	enum { FETCHED = 4 * AT_ONCE };
	for (uint32_t i = 0; i < track->lane_count && i < FETCHED; i += AT_ONCE)
		__builtin_prefetch(&track->series_names[i]);
}

void view_index_fetch_counters(const struct view_index *index, const struct tw_batch *batch)
{
	enum { MOST = 256 };
	uint64_t keys[MOST];
	const struct view_track *tracks[MOST];
	size_t count = 0, known = 0;
	for (size_t i = 0; i < batch->count && count < MOST; i++) {
		const struct tw_event *event = &batch->events[i];
		if (event->kind != TW_COUNTER)
			continue;
		keys[count] = view_tracks_key(VIEW_COUNTERS, process_of(index, event), counter_of(event));
		tw_map_fetch(&index->tracks.numbers, keys[count++]);
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t number;
		if (!tw_map_find(&index->tracks.numbers, keys[i], &number))
			continue;
		tracks[known++] = &index->tracks.items[number];
		__builtin_prefetch(tracks[known - 1]);
	}
	for (size_t i = 0; i < known; i++)
		fetch_track(tracks[i]);
}
