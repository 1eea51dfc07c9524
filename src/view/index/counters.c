/* counters.c - counters: a lane for each series. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/runtime_names.h"
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

/* The lane of a series; the count of lanes where it has none yet. */
static uint32_t lane_of(const struct view_track *track, uint32_t name)
{
	const uint32_t count = track->lane_count;
	uint32_t i = 0;
	while (i + AT_ONCE <= count && !has_name(&track->series_names[i], name))
		i += AT_ONCE;
	while (i < count && track->series_names[i] != name)
		i++;
	return i;
}

/* Whether one more series of a counter gets a lane. The first of each counter does. */
static bool has_room(const struct view_index *index, const struct view_track *track)
{
	enum { FEW = 4, MANY = 1 << 15 };
	if (track->lane_count < FEW)
		return track->lane_count == 0 || !view_index_is_full(index);
	return track->lane_count < VIEW_LANES_MOST && index->counters.lanes < MANY;
}

/* Returns the lane for a series, VIEW_LANES_MOST where there is no room. */
static uint32_t lane_for(struct view_index *index, uint32_t number, uint32_t name)
{
	struct view_track *track = &index->tracks.items[number];
	const uint32_t lane = lane_of(track, name);
	if (lane < track->lane_count)
		return lane;
	if (!has_room(index, track) || !view_track_series_room(track, lane + 1) ||
	    !view_tracks_deepen(&index->tracks, number, lane, 1))
		return VIEW_LANES_MOST;
	track->series_names[lane] = name;
	track->series[lane] = (struct view_series){.count = 0};
	index->counters.series++;
	index->counters.lanes++;
	return lane;
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
	if (lane >= VIEW_LANES_MOST)
		return false;
	struct view_track *of = &index->tracks.items[track];
	struct view_series *series = &of->series[lane];
	const bool is_new = !series->count && !series->at;
	struct view_row *row = is_new ? row_of_few(index, track, lane) : view_index_series_row(index, track, lane);
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

/* A counter of a runtime that each thread has one of. */
static bool is_of_thread(const struct tw_name *name)
{
	const char *text = tw_runtime_text(TW_RUNTIME_THREAD_CPU);
	return name->length == strlen(text) && memcmp(name->text, text, name->length) == 0;
}

/* A counter may have several instances in a process: those but the first have their number behind its name. Those of
 * threads have the thread's name there. */
static void call_track(struct view_index *index, uint32_t track)
{
	const struct tw_event *event = index->now.event;
	const struct tw_dictionary *dictionary = index->now.dictionary;
	const struct tw_name *name = tw_dictionary_name(dictionary, event->name);
	const uint32_t thread = is_of_thread(name) ? tw_dictionary_track(dictionary, event->track)->name : 0;
	const struct tw_name *of = thread ? tw_dictionary_name(dictionary, thread) : NULL;
	if (!event->id && !of) {
		view_track_call(&index->tracks, track, name);
		return;
	}
	enum { NUMBER = 22 }; /* a space, 20 digits, and the end */
	char number[NUMBER], text[VIEW_NAME_MOST + 1];
	const int digits = snprintf(number, sizeof number, "%" PRIu64, event->id);
	const struct tw_name behind = of ? *of : (struct tw_name){.text = number, .length = (size_t)digits};
	const size_t most = behind.length < VIEW_NAME_MOST / 2 ? behind.length : VIEW_NAME_MOST / 2;
	struct tw_name called = {.text = text};
	called.length = name->length < VIEW_NAME_MOST - 1 - most ? name->length : VIEW_NAME_MOST - 1 - most;
	memcpy(text, name->text, called.length);
	text[called.length++] = ' ';
	memcpy(text + called.length, behind.text, most);
	called.length += most;
	view_track_call(&index->tracks, track, &called);
}

/* Half of the tracks that there may be is left to threads and all else. Returns VIEW_NONE where there is no room. */
static uint32_t track_for(struct view_index *index, uint64_t process)
{
	const struct tw_event *event = index->now.event;
	const uint64_t counter = counter_of(event);
	const uint32_t track = index->tracks.count < VIEW_TRACKS_MOST / 2
	                           ? view_tracks_find(&index->tracks, VIEW_COUNTERS, process, counter)
	                           : view_tracks_known(&index->tracks, VIEW_COUNTERS, process, counter);
	if (track != VIEW_NONE && !index->tracks.items[track].fixed)
		call_track(index, track);
	return track;
}

/* Seven digits, which take half of the bits. */
static double rounded(double value)
{
	enum { LESS = 29 };
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	bits = bits >> LESS << LESS;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* Series of a process that have no lane of their own: there is one for all of these. */
static bool put_other(struct view_index *index, uint64_t process, double value)
{
	static const struct tw_name called = {.text = "other series of counters",
	                                      .length = sizeof "other series of counters" - 1};
	static const char values[] = "values";
	const uint32_t track = view_tracks_find(&index->tracks, VIEW_COUNTERS, process, 0);
	if (track == VIEW_NONE)
		return false;
	if (!index->counters.values)
		index->counters.values = 1 + view_names_add(&index->names, &index->store, values, sizeof values - 1);
	if (!index->tracks.items[track].fixed)
		view_track_call(&index->tracks, track, &called);
	return put_sample(index, track, lane_for(index, track, or_first(index->counters.values - 1)), rounded(value));
}

void view_index_take_counter(struct view_index *index)
{
	const struct tw_event *event = index->now.event;
	const uint64_t process = process_of(index, event);
	const uint32_t track = track_for(index, process);
	for (unsigned i = 0; i < event->argument_count; i++) {
		double value;
		if (!is_number(&index->now.arguments[i], &value))
			continue;
		const uint32_t name = or_first(
		    view_names_take(&index->names, &index->store, index->now.dictionary, index->now.arguments[i].name));
		const uint32_t lane = track == VIEW_NONE ? VIEW_LANES_MOST : lane_for(index, track, name);
		index->left +=
		    lane < VIEW_LANES_MOST ? !put_sample(index, track, lane, value) : !put_other(index, process, value);
	}
}

/* ---- Ahead. ---- */

static void fetch_track(const struct view_track *track)
{
	enum { FETCHED = 4 * AT_ONCE };
	for (uint32_t i = 0; track->series_names && i < track->lane_count && i < FETCHED; i += AT_ONCE)
		__builtin_prefetch(&track->series_names[i]);
}

static uint64_t key_of(const struct view_index *index, const struct tw_event *event)
{
	const bool is_counter = event->kind == TW_COUNTER;
	return view_tracks_key(is_counter ? VIEW_COUNTERS : VIEW_ASYNC, process_of(index, event),
	                       is_counter ? counter_of(event) : event->name);
}

void view_index_fetch_tracks(const struct view_index *index, const struct tw_batch *batch)
{
	enum { MOST = 256, FETCHED = 1 << TW_COUNTER | 1 << TW_ASYNC_END };
	uint64_t keys[MOST];
	const struct view_track *tracks[MOST];
	size_t count = 0, known = 0;
	for (size_t i = 0; i < batch->count && count < MOST; i++) {
		if (!(FETCHED >> batch->events[i].kind & 1))
			continue;
		keys[count] = key_of(index, &batch->events[i]);
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
