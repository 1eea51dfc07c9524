/* survey_make.c - a survey made: one pass over a file, or what an earlier one kept. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/tables/survey_make.h"

#include "analysis/series/sched.h"
#include "base/memory/memory.h"
#include "core/format.h"
#include "sql/engine/scan.h"
#include "sql/index/index_make.h"
#include "sql/index/keep.h"

#include <stdlib.h>
#include <string.h>

enum {
	SERIES_SHARE = 8, /* of the memory limit */
	SERIES_COST = sizeof(struct sql_series) + 4 * sizeof(struct tw_map_slot)
};

/* ---- While events go by. ---- */

static bool add_series(struct sql_survey *survey, struct sql_scan *scan, const struct tw_event *event,
                       const struct tw_argument *argument)
{
	size_t limit = tw_memory_limit(scan->reader) / SERIES_SHARE;
	const struct tw_track *track = tw_dictionary_track(tw_reader_dictionary(scan->reader), event->track);
	const struct sql_scan_name *name = sql_scan_name(scan, event->name);
	struct sql_series series = {.process = track->process, .id = event->id, .name = name ? name->number : 0};
	const struct sql_scan_name *category = sql_scan_name(scan, event->category);
	series.category = category ? category->number : 0;
	const struct sql_scan_name *key = sql_scan_name(scan, argument->name);
	series.argument = key ? key->number : 0;
	if (scan->known.failed)
		return false;
	if (sql_survey_series(survey, &series))
		return true;
	if (survey->series.count * SERIES_COST > limit) {
		survey->series_left = true;
		return true;
	}
	return sql_survey_add_series(survey, &series);
}

/* What is open on a track when the trace ends goes on until its last event. */
static bool take_last(struct sql_survey *survey, const struct tw_event *event)
{
	if (!tw_grow(&survey->tracks.items, &survey->tracks.room, event->track + (size_t)1,
	             sizeof *survey->tracks.items))
		return false;
	uint64_t *last = &survey->tracks.items[event->track].last, over = tw_event_over(event);
	*last = over > *last ? over : *last;
	return true;
}

static bool mark_idle(struct sql_survey *survey, uint32_t track)
{
	bool fine =
	    tw_grow(&survey->tracks.items, &survey->tracks.room, track + (size_t)1, sizeof *survey->tracks.items);
	if (fine)
		survey->tracks.items[track].idle = true;
	return fine;
}

static bool take_switch(struct sql_survey *survey, const struct sql_scan *scan, const struct tw_event *event)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(scan->reader);
	const struct tw_argument *arguments = tw_event_arguments(&scan->batch, event);
	if (event->value == TW_SCHED_DEAD)
		survey->tracks.items[event->track].died = event->time;
	return (!tw_sched_leaves_idle(dictionary, event, arguments) || mark_idle(survey, event->track)) &&
	       (!tw_sched_comes_idle(dictionary, event, arguments) || mark_idle(survey, event->other));
}

static bool is_text(const struct tw_argument *argument, const char *text)
{
	return argument->size == strlen(text) && memcmp(argument->value.bytes, text, argument->size) == 0;
}

/* A TraceLog tells when threads are created and destroyed: doc/formats/tracelog.md, "thr crt" and "thr dst". */
static void take_object(struct sql_survey *survey, const struct sql_scan *scan, const struct tw_event *event)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(scan->reader);
	const struct tw_argument *arguments = tw_event_arguments(&scan->batch, event);
	struct sql_track *track = &survey->tracks.items[event->track];
	if (strcmp(tw_reader_format(scan->reader), "tracelog") != 0)
		return;
	for (unsigned i = 0; i < event->argument_count; i++) {
		const struct tw_argument *argument = &arguments[i];
		if (argument->type != TW_ARG_TEXT ||
		    strcmp(tw_dictionary_name(dictionary, argument->name)->text, "change") != 0)
			continue;
		const bool begins = is_text(argument, "created");
		if (begins && !track->made)
			track->made = event->time + 1;
		else if (!begins && is_text(argument, "destroyed"))
			track->died = event->time;
	}
}

static bool take_batch(struct sql_survey *survey, struct sql_scan *scan, uint64_t *latest)
{
	const struct tw_batch *batch = &scan->batch;
	bool fine = true;
	for (size_t i = 0; i < batch->count && fine; i++) {
		const struct tw_event *event = &batch->events[i];
		if (event->time < *latest)
			survey->late_ns =
			    *latest - event->time > survey->late_ns ? *latest - event->time : survey->late_ns;
		else
			*latest = event->time;
		const uint64_t end = tw_event_end(event);
		survey->end_ns = end > survey->end_ns ? end : survey->end_ns;
		fine = take_last(survey, event) && (event->kind != TW_SWITCH || take_switch(survey, scan, event));
		if (event->kind == TW_OBJECT && fine)
			take_object(survey, scan, event);
		const struct tw_argument *arguments = tw_event_arguments(batch, event);
		for (unsigned k = 0; event->kind == TW_COUNTER && k < event->argument_count && fine; k++)
			fine = add_series(survey, scan, event, &arguments[k]);
	}
	survey->events += batch->count;
	return fine;
}

/* ---- At the end: what the dictionary has come to know. ---- */

/* The session's number of a reader's name; a failure shows in scan->known.failed. */
static uint32_t name_number(struct sql_scan *scan, uint32_t number)
{
	const struct sql_scan_name *name = number ? sql_scan_name(scan, number) : NULL;
	return name ? name->number : 0;
}

static bool add_process(struct sql_survey *survey, struct sql_scan *scan, uint64_t pid, uint32_t *upid)
{
	const struct tw_name *name = tw_dictionary_process_name(tw_reader_dictionary(scan->reader), pid);
	uint32_t number = 0;
	*upid = 0;
	if (!tw_dictionary_has_process(tw_reader_dictionary(scan->reader), pid) ||
	    tw_map_find(&survey->processes.map, pid, upid))
		return true;
	if (name->length)
		number = tw_dictionary_intern(scan->session->names,
		                              &(struct tw_name){.text = name->text, .length = name->length});
	if (number == UINT32_MAX ||
	    !tw_grow(&survey->processes.items, &survey->processes.room, survey->processes.count + 1,
	             sizeof *survey->processes.items) ||
	    !tw_map_add(&survey->processes.map, pid, (uint32_t)survey->processes.count))
		return false;
	*upid = (uint32_t)survey->processes.count;
	survey->processes.items[survey->processes.count++] = (struct sql_process){.pid = pid, .name = number};
	return true;
}

static bool add_track(struct sql_survey *survey, struct sql_scan *scan, uint32_t number)
{
	const struct tw_track *from = tw_dictionary_track(tw_reader_dictionary(scan->reader), number);
	struct sql_track *track = &survey->tracks.items[number];
	*track = (struct sql_track){.process = from->process,
	                            .thread = from->thread,
	                            .kind = from->kind,
	                            .idle = track->idle,
	                            .last = track->last,
	                            .died = track->died,
	                            .made = track->made};
	track->name = name_number(scan, from->name);
	if (!add_process(survey, scan, from->process, &track->upid))
		return false;
	return sql_survey_map_track(survey, number);
}

static bool copy_tracks(struct sql_survey *survey, struct sql_scan *scan)
{
	uint32_t count = tw_dictionary_tracks(tw_reader_dictionary(scan->reader));
	bool fine = tw_grow(&survey->tracks.items, &survey->tracks.room, count, sizeof *survey->tracks.items);
	survey->tracks.count = fine ? count : 0;
	for (uint32_t i = 1; i < count && fine; i++)
		fine = add_track(survey, scan, i);
	for (size_t i = 1; i < survey->series.count && fine; i++)
		fine = add_process(survey, scan, survey->series.items[i].process, &survey->series.items[i].upid);
	return fine;
}

static bool copy_frame(struct sql_survey *survey, struct sql_scan *scan, uint32_t number)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(scan->reader);
	const struct tw_location *from = tw_dictionary_location(dictionary, number);
	if (!tw_grow(&survey->frames.items, &survey->frames.room, (size_t)number + 1, sizeof *survey->frames.items))
		return false;
	survey->frames.items[number] = (struct sql_frame){
	    .address = from->address,
	    .id = tw_dictionary_name(dictionary, from->name)->id,
	    .name = name_number(scan, from->name),
	    .file = name_number(scan, from->file),
	    .line = from->line,
	    .module = name_number(scan, tw_dictionary_name(dictionary, from->name)->module),
	};
	survey->frames.count = number >= survey->frames.count ? (size_t)number + 1 : survey->frames.count;
	return !scan->known.failed;
}

static bool copy_stacks(struct sql_survey *survey, struct sql_scan *scan)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(scan->reader);
	uint32_t count = tw_dictionary_stacks(dictionary);
	bool fine = tw_grow(&survey->stacks.items, &survey->stacks.room, count, sizeof *survey->stacks.items);
	for (uint32_t i = 0; i < count && fine; i++) {
		survey->stacks.items[i] = *tw_dictionary_stack(dictionary, i);
		fine = i == 0 || copy_frame(survey, scan, survey->stacks.items[i].location);
	}
	survey->stacks.count = fine ? count : 0;
	return fine;
}

/* ---- The whole. ---- */

/* Takes all events. Returns as sql_scan_batch() does at the end. */
static int read_events(struct sql_survey *survey, struct sql_scan *scan, struct sql_index_maker *maker)
{
	uint64_t latest = 0;
	int got;
	while ((got = sql_scan_batch(scan)) > 0) {
		if (sql_session_stops(scan->session))
			return sql_session_fail(scan->session, TW_ERR_LIMIT, "interrupted");
		if (!take_batch(survey, scan, &latest))
			return sql_session_fail(scan->session, TW_ERR_MEMORY, "out of memory");
		sql_index_take(maker, &scan->batch);
	}
	if (got == 0 && (!copy_tracks(survey, scan) || !copy_stacks(survey, scan) || scan->known.failed))
		return sql_session_fail(scan->session, TW_ERR_MEMORY, "out of memory");
	return got;
}

static int read_all(struct sql_survey *survey, struct sql_scan *scan)
{
	int status = sql_scan_open(scan);
	if (status < 0)
		return status;
	struct sql_index_maker *maker = sql_index_begin(scan);
	status = read_events(survey, scan, maker);
	if (status < 0) {
		sql_index_abandon(maker);
		return status;
	}
	survey->format = tw_reader_format(scan->reader);
	survey->bytes = tw_input_size(scan->reader->input);
	survey->start_ns = tw_reader_clock(scan->reader)->start_ns;
	const uint64_t end = tw_reader_clock(scan->reader)->end_ns;
	survey->end_ns = end > survey->end_ns ? end : survey->end_ns; /* a slice may end later */
	survey->index = sql_index_finish(maker, survey);
	return status;
}

/* Item 0 of each list stands for none. */
static struct sql_survey *new_survey(void)
{
	struct sql_survey *survey = calloc(1, sizeof *survey);
	if (survey && tw_grow(&survey->processes.items, &survey->processes.room, 1, sizeof *survey->processes.items) &&
	    tw_grow(&survey->series.items, &survey->series.room, 1, sizeof *survey->series.items)) {
		survey->processes.count = survey->series.count = 1;
		return survey;
	}
	sql_survey_free(survey);
	return NULL;
}

/* What was kept beside the file, if that is wanted and it is of this file. */
static struct sql_survey *load(struct sql_session *session, size_t number)
{
	const struct sql_hooks *hooks = &session->hooks;
	const char *why = NULL;
	struct sql_survey *survey = session->keep_index ? sql_keep_load(session, number, &why) : NULL;
	if (why && hooks->refused)
		hooks->refused(hooks->context, session->files[number].path, "not used", why);
	return survey;
}

/* That it cannot be kept is no reason not to answer. One that lacks something is not kept: another session may have a
 * larger memory limit. */
static void save(struct sql_session *session, size_t number, const struct sql_survey *survey)
{
	const struct sql_hooks *hooks = &session->hooks;
	bool keeps = session->keep_index && !survey->series_left;
	const char *why = keeps ? sql_keep_save(session, number, survey) : NULL;
	if (survey->series_left && hooks->series_left)
		hooks->series_left(hooks->context, session->files[number].path, survey->series.count - 1);
	if (why && hooks->refused)
		hooks->refused(hooks->context, session->files[number].path, "not kept", why);
}

int sql_survey_make(struct sql_session *session, size_t number)
{
	struct sql_file *file = &session->files[number];
	struct sql_scan scan = {.session = session, .file = number, .order = TW_ORDER_TRACK};
	int status = file->survey ? 0 : sql_file_check(session, number);
	if (file->survey || status < 0)
		return status;
	struct sql_survey *survey = load(session, number);
	if (!survey) {
		survey = new_survey();
		status = survey ? read_all(survey, &scan) : sql_session_fail(session, TW_ERR_MEMORY, "out of memory");
		sql_scan_close(&scan);
		if (status == 0)
			save(session, number, survey);
	}
	if (status < 0) {
		sql_survey_free(survey);
		return status;
	}
	file->survey = survey;
	file->start_ns = survey->start_ns;
	file->started = true;
	return 0;
}
