/* scan.c - one pass over one file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/engine/scan.h"

#include "base/memory/memory.h"
#include "base/memory/order.h"
#include "core/dictionary.h"
#include "core/format.h"

#include <trackway/symbols.h>

#include <stdlib.h>

/* ---- Findings: each is reported once, however often a file is read. ---- */

static void take_finding(void *context, const struct tw_finding *finding)
{
	struct sql_scan *scan = context;
	const struct sql_hooks *hooks = &scan->session->hooks;
	struct sql_file *file = &scan->session->files[scan->file];
	if (file->reported_to && finding->record < file->reported_to)
		return;
	scan->furthest = finding->record + 1 > scan->furthest ? finding->record + 1 : scan->furthest;
	if (hooks->finding)
		hooks->finding(hooks->context, scan->file, finding);
}

/* Of the scans at the same time the first that is not quiet reports. */
static void choose_reporter(struct sql_scan *scan)
{
	struct sql_file *file = &scan->session->files[scan->file];
	scan->reporting =
	    !scan->quiet && !scan->view.pieces && !scan->finding.take && !file->read_whole && !file->reporting;
	scan->options.on_finding = scan->reporting ? take_finding : scan->finding.take;
	scan->options.finding_context = scan->reporting ? scan : scan->finding.context;
	if (scan->reporting)
		file->reporting = true;
}

static void stop_reporting(struct sql_scan *scan, bool at_end)
{
	struct sql_file *file = &scan->session->files[scan->file];
	if (!scan->reporting)
		return;
	scan->reporting = false;
	file->reporting = false;
	file->read_whole = file->read_whole || (at_end && !scan->one_thread);
	file->reported_to = scan->furthest > file->reported_to ? scan->furthest : file->reported_to;
}

/* ---- Opening and reading. ---- */

/* Opens what the view says of the file: in it, or as a file of its own. */
static int open_view(struct sql_scan *scan, const struct sql_file *file)
{
	const struct sql_view *view = &scan->view;
	scan->options.format = file->survey->format;
	scan->session->windows++;
	if (!view->in_place)
		return tw_open_pieces(&scan->reader, file->path, view->pieces, view->piece_count, &scan->options);
	scan->options.order = TW_ORDER_TRACK; /* that of time, where it was asked for: there is one track */
	int status = tw_open(&scan->reader, file->path, &scan->options);
	return status < 0 ? status : scan->reader->format->reading.keep(scan->reader, view->pieces, view->piece_count);
}

int sql_scan_open(struct sql_scan *scan)
{
	struct sql_session *session = scan->session;
	const struct sql_hooks *hooks = &session->hooks;
	struct sql_file *file = &session->files[scan->file];
	int status = sql_file_check(session, scan->file);
	if (status < 0)
		return status;
	scan->options = session->options;
	if (file->symbols) {
		scan->options.namer = tw_symbols_namer(file->symbols);
		scan->options.thread_namers = tw_symbols_thread_namers(file->symbols);
	}
	scan->options.order = scan->order;
	scan->options.checking = scan->checking;
	scan->options.findings_only = scan->checking == TW_CHECK_ALL;
	scan->options.threads = scan->one_thread ? &scan->thread : NULL;
	scan->options.thread_count = scan->one_thread;
	if (scan->beginning)
		scan->options.jobs = 1;
	choose_reporter(scan);
	session->scans++;
	status = scan->view.pieces ? open_view(scan, file) : tw_open(&scan->reader, file->path, &scan->options);
	if (status < 0)
		return sql_session_fail(session, status, "%s",
		                        scan->reader ? tw_reader_error(scan->reader) : "out of memory");
	tw_begin(scan->reader, TW_USE_NONE,
	         &(struct tw_request){.kinds = scan->kinds,
	                              .thread_times = scan->thread_times,
	                              .track_ends = true}); /* events or records, by the first that is read */
	if (hooks->begin && !scan->quiet) {
		hooks->begin(hooks->context, scan->reader, file->path);
		scan->begun = true;
	}
	return 0;
}

/* What follows each read. */
static int after(struct sql_scan *scan, int got)
{
	struct sql_session *session = scan->session;
	if (got < 0)
		return sql_session_fail(session, got, "%s", tw_reader_error(scan->reader));
	if (got > 0)
		return got;
	stop_reporting(scan, true);
	return sql_file_check(session, scan->file);
}

static bool counts(const struct sql_view *view, const struct tw_event *event)
{
	if (event->time >= view->from && event->time <= view->to)
		return true;
	return event->time < view->from && view->open_count &&
	       bsearch(&event->offset, view->open, view->open_count, sizeof *view->open, tw_compare_u64);
}

int sql_scan_ended(struct sql_scan *scan, int status)
{
	return after(scan, status < 0 ? status : 0);
}

/* Room for events of the batch that are not as the reader has them. */
static struct tw_event *own_events(struct sql_scan *scan)
{
	if (scan->events && scan->batch.events == scan->events)
		return scan->events;
	struct tw_event *events = realloc(scan->events, scan->batch.count * sizeof *events);
	scan->events = events ? events : scan->events;
	return events;
}

static uint64_t offset_in_file(const struct sql_view *view, uint64_t offset)
{
	if (view->in_place)
		return offset;
	const struct tw_piece *piece = tw_piece_at(view->pieces, view->piece_count, offset);
	return offset - piece->place + piece->offset;
}

/* A batch of pieces: the events that count, with offsets as they are in the file. */
static bool place_events(struct sql_scan *scan)
{
	const struct sql_view *view = &scan->view;
	struct tw_batch *batch = &scan->batch;
	struct tw_event *events = own_events(scan);
	size_t kept = 0;
	if (!events)
		return false;
	for (size_t i = 0; i < batch->count; i++) {
		struct tw_event *event = &events[kept];
		*event = batch->events[i];
		event->offset = offset_in_file(view, event->offset);
		kept += counts(view, event);
	}
	batch->events = events;
	batch->count = kept;
	return true;
}

/* A batch of several files: offsets that are told apart. */
static bool part_members(struct sql_scan *scan)
{
	struct tw_batch *batch = &scan->batch;
	struct tw_event *events = own_events(scan);
	uint32_t track = UINT32_MAX;
	size_t member = 0;
	if (!events)
		return false;
	for (size_t i = 0; i < batch->count; i++) {
		events[i] = batch->events[i];
		if (events[i].track != track)
			member = scan->reader->format->files.member(scan->reader, track = events[i].track);
		events[i].offset = sql_member_offset(member, events[i].offset);
	}
	batch->events = events;
	return true;
}

int sql_scan_batch(struct sql_scan *scan)
{
	int got = after(scan, tw_read(scan->reader, &scan->batch));
	bool parts = got > 0 && scan->reader->format->files.member;
	if ((parts && !part_members(scan)) || (got > 0 && scan->view.pieces && !place_events(scan)))
		return sql_session_fail(scan->session, TW_ERR_MEMORY, "out of memory");
	return got;
}

int sql_scan_record(struct sql_scan *scan, struct tw_record *record)
{
	return after(scan, tw_read_record(scan->reader, record));
}

void sql_scan_close(struct sql_scan *scan)
{
	const struct sql_hooks *hooks = &scan->session->hooks;
	if (scan->begun && hooks->end)
		hooks->end(hooks->context, scan->reader);
	stop_reporting(scan, false);
	scan->begun = false;
	tw_close(scan->reader);
	free(scan->known.names);
	free(scan->known.tracks);
	free(scan->known.stacks);
	free(scan->view.pieces);
	free(scan->events);
	scan->reader = NULL;
	scan->known = (struct sql_scan_known){.failed = scan->known.failed};
	scan->view = (struct sql_view){0};
	scan->events = NULL;
}

/* ---- Names and tracks. ---- */

static bool learn_name(struct sql_scan *scan, uint32_t number, const struct tw_name *name)
{
	struct tw_dictionary *names = scan->session->names;
	uint32_t known = tw_dictionary_intern(names, &(struct tw_name){.text = name->text, .length = name->length});
	if (known == UINT32_MAX)
		return false;
	const struct tw_name *kept = tw_dictionary_name(names, known);
	scan->known.names[number] =
	    (struct sql_scan_name){.source = name->text, .text = kept->text, .length = kept->length, .number = known};
	return true;
}

const struct sql_scan_name *sql_scan_name(struct sql_scan *scan, uint32_t number)
{
	const struct tw_name *name = tw_dictionary_name(tw_reader_dictionary(scan->reader), number);
	if (number < scan->known.name_room && scan->known.names[number].source == name->text)
		return &scan->known.names[number];
	if (!tw_grow(&scan->known.names, &scan->known.name_room, (size_t)number + 1, sizeof *scan->known.names) ||
	    !learn_name(scan, number, name)) {
		scan->known.failed = true;
		return NULL;
	}
	return &scan->known.names[number];
}

uint32_t sql_scan_track(struct sql_scan *scan, uint32_t number)
{
	const struct sql_survey *survey = scan->session->files[scan->file].survey;
	if (number < scan->known.track_room && scan->known.tracks[number])
		return scan->known.tracks[number] - 1;
	const struct tw_track *track = tw_dictionary_track(tw_reader_dictionary(scan->reader), number);
	uint32_t known = sql_survey_track(survey, track);
	if (known == 0 ||
	    !tw_grow(&scan->known.tracks, &scan->known.track_room, (size_t)number + 1, sizeof *scan->known.tracks))
		return known;
	scan->known.tracks[number] = known + 1;
	return known;
}

static uint32_t find_frame(struct sql_scan *scan, const struct sql_survey *survey, uint32_t number)
{
	const struct tw_dictionary *dictionary = tw_reader_dictionary(scan->reader);
	const struct tw_location *location = tw_dictionary_location(dictionary, number);
	const struct sql_scan_name *name = sql_scan_name(scan, location->name);
	const struct sql_frame frame = {.address = location->address,
	                                .id = tw_dictionary_name(dictionary, location->name)->id,
	                                .name = name && location->name ? name->number : 0};
	return sql_survey_frame(survey, &frame);
}

/* Stacks come after those that called them. Some are of none but the pieces: what stands before the window does not
 * follow what it was written behind. */
uint32_t sql_scan_stack(struct sql_scan *scan, uint32_t stack)
{
	const struct sql_survey *survey = scan->session->files[scan->file].survey;
	const struct tw_dictionary *dictionary = tw_reader_dictionary(scan->reader);
	if (!scan->view.pieces || stack == 0)
		return stack;
	if (!tw_grow(&scan->known.stacks, &scan->known.stack_room, (size_t)stack + 1, sizeof *scan->known.stacks)) {
		scan->known.failed = true;
		return UINT32_MAX;
	}
	for (; scan->known.stack_count <= stack; scan->known.stack_count++) {
		const struct tw_stack *known = tw_dictionary_stack(dictionary, (uint32_t)scan->known.stack_count);
		uint32_t caller = scan->known.stack_count ? scan->known.stacks[known->caller] : 0;
		uint32_t frame = scan->known.stack_count ? find_frame(scan, survey, known->location) : 0;
		bool none = caller == UINT32_MAX || frame == UINT32_MAX;
		uint32_t found = scan->known.stack_count == 0 ? 0
		                 : none                       ? UINT32_MAX
		                                              : sql_survey_stack(survey, caller, frame);
		scan->known.stacks[scan->known.stack_count] = found;
	}
	return scan->known.stacks[stack];
}

/* ---- A look. ---- */

int sql_file_try(struct sql_session *session, size_t number)
{
	struct sql_scan scan = {.session = session, .file = number, .order = TW_ORDER_TRACK, .quiet = true};
	int status = sql_scan_open(&scan);
	sql_scan_close(&scan);
	return status;
}

/* What leaves events out may leave the first one out: so a look without any filter. */
int sql_file_start(struct sql_session *session, size_t number, uint64_t *start_ns)
{
	struct sql_file *file = &session->files[number];
	struct sql_scan scan = {
	    .session = session, .file = number, .order = TW_ORDER_TRACK, .quiet = true, .beginning = true};
	int status = file->started ? 1 : sql_scan_open(&scan);
	if (!file->started && status == 0) {
		status = sql_scan_batch(&scan);
		file->start_ns = scan.reader ? tw_reader_clock(scan.reader)->start_ns : 0;
		file->started = status >= 0;
	}
	sql_scan_close(&scan);
	*start_ns = file->start_ns;
	return status < 0 ? status : 0;
}
