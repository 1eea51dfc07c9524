/* info.c - what is in a file: events by phase, threads, times, losses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "chrome/chrome.h"

#include <stdlib.h>
#include <string.h>

struct thread_count {
	uint64_t records;
	uint64_t first, last; /* times; first above last while there is none */
};

enum { FIELDS = 1 };

struct chrome_summary {
	struct thread_count *tallies; /* by track */
	size_t room;
	struct tw_kind_count kinds[CHROME_PHASES];
	struct tw_thread_info *threads;
	struct tw_map processes;
	struct tw_field fields[FIELDS];
};

void chrome_summary_free(struct chrome_summary *survey)
{
	if (!survey)
		return;
	free(survey->tallies);
	free(survey->threads);
	tw_map_free(&survey->processes);
	free(survey);
}

/* ---- Counting. ---- */

static bool make_room(struct chrome_summary *survey, size_t tracks)
{
	size_t before = survey->room;
	if (!tw_grow(&survey->tallies, &survey->room, tracks, sizeof *survey->tallies))
		return false;
	for (size_t i = before; i < survey->room; i++)
		survey->tallies[i].first = UINT64_MAX;
	return true;
}

static void count_rows(struct chrome_summary *survey, const struct tw_batch *batch, struct thread_count *all)
{
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		struct thread_count *tally = &survey->tallies[event->track];
		if (event->kind == TW_LOST)
			continue;
		tally->records++;
		all->records++;
		uint64_t end = tw_event_end(event);
		all->last = end > all->last ? end : all->last; /* of memory dumps, too */
		if (event->kind == TW_METADATA)
			continue;
		tally->first = event->time < tally->first ? event->time : tally->first;
		tally->last = end > tally->last ? end : tally->last;
		all->first = event->time < all->first ? event->time : all->first;
	}
}

static int count_all(struct tw_reader *reader, struct chrome_summary *survey, struct thread_count *all)
{
	struct tw_batch batch;
	int status;
	while ((status = chrome_read(reader, &batch)) > 0) {
		if (!make_room(survey, tw_dictionary_tracks(reader->dictionary)))
			return tw_fail_memory(reader);
		count_rows(survey, &batch, all);
	}
	return status;
}

/* ---- Telling. ---- */

static void fill_kinds(const struct chrome_state *state, struct chrome_summary *survey, struct tw_info *info)
{
	for (size_t i = 0; i < CHROME_PHASES; i++) {
		if (!state->counts[i])
			continue;
		survey->kinds[info->kind_count++] =
		    (struct tw_kind_count){.kind = chrome_phases[i].kind, .count = state->counts[i]};
		info->records += state->counts[i];
	}
	info->kinds = survey->kinds;
}

static void fill_thread(struct tw_reader *reader, struct chrome_summary *survey, uint32_t number, struct tw_info *info)
{
	const struct chrome_state *state = reader->state;
	const struct tw_track *track = tw_dictionary_track(reader->dictionary, number);
	const struct chrome_track_info none = {0}, *known = number < state->track_room ? &state->tracks[number] : &none;
	const struct thread_count *tally = &survey->tallies[number];
	const uint64_t last = tally->last > known->sampled_until ? tally->last : known->sampled_until;
	bool timed = tally->first <= last;
	survey->threads[info->thread_count++] = (struct tw_thread_info){
	    .process = track->process,
	    .thread = track->thread,
	    .records = tally->records,
	    .bytes = known->bytes,
	    .start_ns = timed ? tally->first - info->clock_start_ns : 0,
	    .end_ns = timed ? last - info->clock_start_ns : 0,
	};
}

static int fill_threads(struct tw_reader *reader, struct chrome_summary *survey, struct tw_info *info)
{
	uint32_t count = tw_dictionary_tracks(reader->dictionary), there;
	survey->threads = calloc(count, sizeof *survey->threads);
	if (!survey->threads)
		return TW_ERR_MEMORY;
	for (uint32_t i = 1; i < count && i < survey->room; i++) {
		const struct tw_track *track = tw_dictionary_track(reader->dictionary, i);
		if (!survey->tallies[i].records)
			continue;
		if (track->kind == TW_TRACK_THREAD)
			fill_thread(reader, survey, i, info);
		if (!tw_map_find(&survey->processes, track->process, &there) &&
		    !tw_map_add(&survey->processes, track->process, 0))
			return TW_ERR_MEMORY;
	}
	info->threads = survey->threads;
	info->processes = survey->processes.count;
	return 0;
}

static void fill_fields(const struct chrome_state *state, struct chrome_summary *survey, struct tw_info *info)
{
	static const char *const forms[] = {
	    [CHROME_FORM_NONE] = "none",
	    [CHROME_FORM_ARRAY] = "array",
	    [CHROME_FORM_OBJECT] = "object",
	    [CHROME_FORM_LINES] = "lines",
	};
	const char *form = forms[state->stream.form];
	survey->fields[0] =
	    (struct tw_field){.name = "form", .type = TW_FIELD_TEXT, .value.bytes = form, .size = strlen(form)};
	info->fields = survey->fields;
	info->field_count = FIELDS;
}

/* The earliest event of all may be one that makes no row. */
static void note_start(const struct chrome_state *state, struct thread_count *all)
{
	const uint64_t earliest = state->times.base + (uint64_t)state->times.earliest;
	if (!state->stream.has_start && state->times.earliest != INT64_MAX && earliest < all->first)
		all->first = earliest;
}

int chrome_info(struct tw_reader *reader, unsigned jobs, struct tw_info *info)
{
	struct chrome_state *state = reader->state;
	struct thread_count all = {.first = UINT64_MAX};
	(void)jobs;
	state->summary = calloc(1, sizeof *state->summary);
	if (!state->summary)
		return tw_fail_memory(reader);
	int status = count_all(reader, state->summary, &all);
	if (status < 0)
		return status;
	note_start(state, &all);
	all.last = state->times.sampled_until > all.last ? state->times.sampled_until : all.last;
	info->version = 1;
	info->bytes = tw_input_size(reader->input);
	info->lost_bytes = state->stream.lost;
	info->events = all.records;
	info->clock_start_ns = all.first <= all.last ? all.first : 0;
	info->span_ns = all.first <= all.last ? all.last - all.first : 0;
	fill_kinds(state, state->summary, info);
	fill_fields(state, state->summary, info);
	status = fill_threads(reader, state->summary, info);
	return status < 0 ? tw_fail_memory(reader) : 0;
}
