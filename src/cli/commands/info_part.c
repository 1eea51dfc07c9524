/* info_part.c - what is in the part of a trace that passes the filters: its events, then its records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/info_part.h"

#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "cli/files/spooled_stdin.h"
#include "cli/files/walk.h"
#include "cli/output/message.h"

#include <stdlib.h>
#include <string.h>

/* ---- Events. ---- */

struct event_span {
	uint64_t first, last, events;
};

struct event_survey {
	uint64_t kinds[TW_EVENT_KINDS];
	struct event_span whole; /* of all events but objects: no filter by thread or time leaves these out */
	struct event_span *tracks;
	size_t track_room;
	uint8_t *named; /* by number of a name: 1 where a slice has that name */
	size_t named_room;
	uint64_t functions;
};

static void note(struct event_span *span, const struct tw_event *event)
{
	uint64_t end = event->kind == TW_SLICE_COMPLETE ? tw_sum(event->time, event->value) : event->time;
	span->first = span->events && span->first < event->time ? span->first : event->time;
	span->last = end > span->last ? end : span->last;
	span->events++;
}

static bool note_function(struct event_survey *survey, const struct tw_event *event)
{
	if (event->kind != TW_SLICE_BEGIN && event->kind != TW_SLICE_COMPLETE)
		return true;
	if (!tw_grow(&survey->named, &survey->named_room, event->name + (size_t)1, sizeof *survey->named))
		return false;
	survey->functions += !survey->named[event->name];
	survey->named[event->name] = true;
	return true;
}

/* Counts the events of a batch. Gaps (TW_LOST) are none of the trace. */
static bool take_batch(struct event_survey *survey, const struct tw_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		survey->kinds[event->kind] += event->kind != TW_LOST;
		if (event->kind == TW_LOST || event->kind == TW_OBJECT)
			continue;
		if (!tw_grow(&survey->tracks, &survey->track_room, event->track + (size_t)1, sizeof *survey->tracks) ||
		    !note_function(survey, event))
			return false;
		note(&survey->whole, event);
		note(&survey->tracks[event->track], event);
	}
	return true;
}

/* Process 0 is there where its track is: other tracks whose process is 0 may be of none. */
static bool has_process_0(const struct tw_dictionary *dictionary)
{
	for (uint32_t i = 1; i < tw_dictionary_tracks(dictionary); i++) {
		const struct tw_track *track = tw_dictionary_track(dictionary, i);
		if (track->kind == TW_TRACK_PROCESS && track->process == 0)
			return true;
	}
	return false;
}

static bool count_process(struct tw_info_part *part, struct tw_map *seen, uint64_t process, bool zero)
{
	uint32_t there;
	if ((!process && !zero) || tw_map_find(seen, process, &there))
		return true;
	part->processes++;
	return tw_map_add(seen, process, 0);
}

static bool list_threads(struct tw_info_part *part, const struct event_survey *survey, const struct tw_reader *reader)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(reader);
	struct tw_map seen = {0};
	bool fine = true, zero = has_process_0(dictionary);
	for (uint32_t i = 0; fine && i < survey->track_room && i < tw_dictionary_tracks(dictionary); i++) {
		const struct tw_track *track = tw_dictionary_track(dictionary, i);
		const struct event_span *span = &survey->tracks[i];
		if (!span->events || track->kind != TW_TRACK_THREAD || i == 0)
			continue;
		fine = count_process(part, &seen, track->process, zero);
		part->threads[part->thread_count++] = (struct tw_thread_info){
		    .process = track->process,
		    .thread = track->thread,
		    .records = span->events,
		    .start_ns = tw_since_start(reader, span->first),
		    .end_ns = tw_since_start(reader, span->last),
		};
	}
	tw_map_free(&seen);
	return fine;
}

static int sum_up(struct tw_info_part *part, const struct event_survey *survey, const struct tw_reader *reader)
{
	part->events = survey->whole.events + survey->kinds[TW_OBJECT];
	memcpy(part->passed, survey->kinds, sizeof part->passed);
	part->functions = survey->functions;
	part->start_ns = tw_since_start(reader, survey->whole.first);
	part->end_ns = tw_since_start(reader, survey->whole.last);
	part->threads = calloc(survey->track_room + 1, sizeof *part->threads);
	return part->threads && list_threads(part, survey, reader) ? 0 : TW_ERR_MEMORY;
}

static int survey_events(struct tw_info_part *part, struct tw_reader *reader)
{
	struct event_survey survey = {0};
	struct tw_batch batch;
	int status;
	while ((status = tw_read(reader, &batch)) > 0)
		if (!take_batch(&survey, &batch)) {
			status = TW_ERR_MEMORY;
			break;
		}
	if (status == 0)
		status = sum_up(part, &survey, reader);
	free(survey.tracks);
	free(survey.named);
	return status;
}

/* ---- Records. ---- */

static bool count_kind(struct tw_info_part *part, const char *kind)
{
	size_t i = 0;
	while (i < part->kind_count && strcmp(part->kinds[i].kind, kind) != 0)
		i++;
	if (i == part->kind_count) {
		if (!tw_grow(&part->kinds, &part->kind_room, i + 1, sizeof *part->kinds))
			return false;
		part->kinds[part->kind_count++] = (struct tw_kind_count){.kind = kind};
	}
	part->kinds[i].count++;
	return true;
}

static int by_kind(const void *a, const void *b)
{
	const struct tw_kind_count *first = a, *second = b;
	return strcmp(first->kind, second->kind);
}

static int survey_records(struct tw_info_part *part, struct tw_reader *reader)
{
	struct tw_record record;
	int status;
	for (; (status = tw_read_record(reader, &record)) > 0; part->records++)
		if (!count_kind(part, record.kind))
			return TW_ERR_MEMORY;
	if (part->kind_count)
		qsort(part->kinds, part->kind_count, sizeof *part->kinds, by_kind);
	return status;
}

/* ---- Both. ---- */

static int survey_again(struct tw_info_part *part, const char *path, const struct tw_read_options *options,
                        enum tw_order order, int (*survey)(struct tw_info_part *part, struct tw_reader *reader))
{
	struct tw_read_options again = *options;
	struct tw_reader *reader;
	again.on_finding = NULL; /* they have been told */
	again.order = order;
	tw_rewind_stdin(path);
	int status = tw_open(&reader, path, &again);
	if (status >= 0)
		status = survey(part, reader);
	if (status < 0)
		status = tw_say_failure(reader, status);
	tw_close(reader);
	return status;
}

int tw_info_part_read(struct tw_info_part *part, const char *path, const struct tw_read_options *options)
{
	*part = (struct tw_info_part){0};
	int status = survey_again(part, path, options, TW_ORDER_TRACK, survey_events);
	return status ? status : survey_again(part, path, options, TW_ORDER_FILE, survey_records);
}

void tw_info_part_free(struct tw_info_part *part)
{
	free(part->threads);
	free(part->kinds);
}
