/* reader.c - instructions to events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/jobs/check.h"
#include "xtrace/walk/calls.h"
#include "xtrace/walk/merged_tracks.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Rows of a batch; and how many a token makes at most: the calls of a task end, those of another go on. */
enum { ROWS = 1024, TURN_MOST = 2 * XTRACE_TASK_FRAMES + 2 };

struct xtrace_events {
	size_t next;    /* track */
	bool open;      /* a track is being read: */
	uint32_t track; /* its number */
	uint64_t time;  /* instructions so far */
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_snapshots snapshots;
	bool has_snapshot;                   /* the last snapshot that was read has not been reached */
	bool compared;                       /* the TIMEs of all tracks were compared */
	struct xtrace_checker *checker;      /* NULL: only damage is looked for */
	struct xtrace_calls *calls;          /* NULL: nobody looks at them */
	struct xtrace_stack stack;           /* of the track that is open */
	struct xtrace_merged_tracks *merged; /* all tracks at once; NULL: one after the other */
	struct tw_event rows[ROWS];
	size_t count;
};

void xtrace_events_free(struct xtrace_events *events)
{
	if (!events)
		return;
	xtrace_files_close(&events->files);
	xtrace_merged_tracks_free(events->merged);
	xtrace_stack_free(&events->stack);
	xtrace_check_free(events->checker);
	if (events->calls)
		xtrace_calls_free(events->calls);
	free(events->calls);
	free(events);
}

static int next_snapshot(struct xtrace_events *events)
{
	int status = xtrace_snapshots_next(&events->snapshots);
	events->has_snapshot = status > 0;
	return status;
}

/* Takes the snapshots that were made before the token that comes now, or all that are left. */
static int take_snapshots(struct xtrace_events *events, const struct tw_xtrace_token *token)
{
	bool counts = events->files.layout.counts_index;
	bool begins = token && (token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST);
	uint64_t at = counts ? events->time : events->cursor.offset;
	int status = 0;
	while (status >= 0 && events->has_snapshot) {
		uint64_t index = events->snapshots.place;
		if (token && (index > at || (counts && !begins)))
			return 0;
		if (events->checker && events->files.data)
			xtrace_check_snapshot(events->checker, &events->snapshots, begins && index == at);
		status = next_snapshot(events);
	}
	return status;
}

/* Goes to the next track. Returns 1, 0 when there is none, or a negative status. */
static int open_next(struct tw_reader *reader, struct xtrace_events *events)
{
	const struct xtrace_set *set = &xtrace_of(reader)->set;
	while (events->next < set->count) {
		const struct xtrace_track *track = &set->tracks[events->next++];
		if (!tw_thread_wanted(&reader->options, track->name.number))
			continue;
		int status = xtrace_files_open(&events->files, reader, track);
		events->track = xtrace_track_number(reader, track);
		events->stack.names = xtrace_names_of(reader, track);
		events->open = true;
		events->time = 0;
		xtrace_cursor_init(&events->cursor, &events->files);
		xtrace_snapshots_init(&events->snapshots, &events->files);
		if (events->checker && status >= 0)
			xtrace_check_begin(events->checker, &events->files);
		if (status >= 0)
			status = next_snapshot(events);
		if (status >= 0 && events->track == UINT32_MAX)
			status = tw_fail_memory(reader);
		return status < 0 ? status : 1;
	}
	bool compares = events->checker && !events->compared;
	events->compared = true;
	int status = compares ? xtrace_check_headers(reader) : 0;
	return compares && status >= 0 && events->checker->order.tracks > 1 ? xtrace_check_order(reader) : status;
}

static struct tw_event *add_row(struct xtrace_events *events, const struct xtrace_moment *moment,
                                enum tw_event_kind kind)
{
	struct tw_event *row = &events->rows[events->count++];
	*row = (struct tw_event){
	    .time = moment->time,
	    .offset = moment->offset,
	    .track = moment->track,
	    .kind = (uint8_t)kind,
	};
	return row;
}

static int take_instruction(struct xtrace_events *events, const struct xtrace_moment *moment)
{
	struct xtrace_call_change change;
	int status = xtrace_calls_take(events->calls, moment->stack, &moment->token, moment->offset, &change);
	for (unsigned i = 0; i < change.ends; i++)
		add_row(events, moment, TW_SLICE_END)->flags = change.tail ? TW_FLAG_TAIL : 0;
	if (change.begins)
		add_row(events, moment, TW_SLICE_BEGIN)->name = change.name;
	if (change.enters)
		add_row(events, moment, TW_SLICE_BEGIN)->name = change.entered;
	return status;
}

/* A token that may tell of another task: its calls go on, those of the last one end for now. */
static int take_task(struct xtrace_events *events, const struct xtrace_moment *moment)
{
	struct xtrace_stack *stack = moment->stack;
	struct xtrace_task_change change;
	int status = xtrace_stack_set(stack, stack->opcode, stack->level, &moment->token, &change);
	for (unsigned i = 0; i < change.ends; i++)
		add_row(events, moment, TW_SLICE_END)->flags = TW_FLAG_CLIPPED;
	for (size_t i = 0; change.other && i < stack->count; i++) {
		struct tw_event *row = add_row(events, moment, TW_SLICE_BEGIN);
		row->name = events->calls->functions[stack->frames[i].function].name;
		row->flags = TW_FLAG_CLIPPED;
	}
	return status;
}

/* Tells how long the calls last that are open where a track ends. */
static void take_end(struct tw_reader *reader, struct xtrace_events *events, const struct xtrace_moment *moment)
{
	if (reader->request.track_ends && moment->stack->count)
		add_row(events, moment, TW_INSTRUCTIONS);
}

/* Makes events of a token. */
static int take(struct xtrace_events *events, const struct xtrace_moment *moment)
{
	unsigned kind = moment->token.kind;
	if ((kind == TW_XTRACE_INST || kind == TW_XTRACE_PCINST) && events->calls)
		return take_instruction(events, moment);
	if (kind == TW_XTRACE_TARGET_B)
		xtrace_stack_set_target(moment->stack, moment->stack->pc, moment->token.value);
	if (kind != TW_XTRACE_UNKNOWN)
		return events->calls ? take_task(events, moment) : 0;
	add_row(events, moment, TW_LOST)->value = moment->gap;
	xtrace_stack_lose(moment->stack);
	return 0;
}

/* A token of the one track that is open. */
static int take_token(struct xtrace_events *events, const struct tw_xtrace_token *token)
{
	const struct xtrace_moment moment = {
	    .time = events->time,
	    .offset = events->cursor.offset,
	    .gap = events->cursor.gap,
	    .track = events->track,
	    .stack = &events->stack,
	    .token = *token,
	};
	events->time += token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
	return take(events, &moment);
}

/* Checks tokens that make no events, as many as it can. */
static void run(struct xtrace_events *events)
{
	uint64_t until = events->has_snapshot ? events->snapshots.place : UINT64_MAX;
	if (until <= events->cursor.next || (events->has_snapshot && events->files.layout.counts_index))
		return;
	xtrace_check_run(events->checker, &events->cursor, until);
	events->time = events->checker->count;
}

/* Takes a token, or goes to another track. Returns 1, 0 when there is nothing more, or a negative status. */
static int advance(struct tw_reader *reader, struct xtrace_events *events)
{
	struct tw_xtrace_token token;
	if (!events->open)
		return open_next(reader, events);
	if (events->checker && !events->calls)
		run(events);
	int status = xtrace_cursor_next(&events->cursor, &token);
	bool more = status > 0;
	if (status >= 0 && events->has_snapshot)
		status = take_snapshots(events, more ? &token : NULL);
	if (status < 0)
		return status;
	if (more && events->checker)
		xtrace_check_token(events->checker, &events->cursor, &token);
	if (more) {
		status = take_token(events, &token);
		return status < 0 ? status : 1;
	}
	const struct xtrace_moment end = {.time = events->time,
	                                  .offset = events->cursor.next,
	                                  .track = events->track,
	                                  .stack = &events->stack};
	if (events->checker)
		xtrace_check_end(events->checker);
	take_end(reader, events, &end);
	xtrace_files_close(&events->files);
	if (events->calls)
		events->calls->frames -= xtrace_stack_frames(&events->stack);
	xtrace_stack_free(&events->stack);
	events->open = false;
	return 1;
}

/* The next token of all tracks. Returns the same. */
static int advance_all(struct tw_reader *reader, struct xtrace_events *events)
{
	struct xtrace_moment moment;
	int status = xtrace_merged_tracks_next(events->merged, &moment);
	if (status <= 0)
		return status;
	if (moment.ends) {
		take_end(reader, events, &moment);
		return 1;
	}
	status = take(events, &moment);
	return status < 0 ? status : 1;
}

/* Whether anybody looks at calls. */
static bool wants_calls(const struct tw_reader *reader)
{
	const uint32_t calls = 1u << TW_SLICE_BEGIN | 1u << TW_SLICE_END;
	return !reader->options.findings_only && (!reader->request.kinds || reader->request.kinds & calls);
}

/* ---- Checking side by side. ---- */

static int check_part(void *context, struct tw_reader *part, size_t track)
{
	struct xtrace_reader *state = xtrace_of(part);
	atomic_size_t *ordered = context;
	struct tw_batch batch;
	int status;
	(void)track;
	part->options.findings_only = true;
	while ((status = xtrace_read(part, &batch)) > 0)
		;
	const struct xtrace_checker *checker = state->events ? state->events->checker : NULL;
	if (status == 0 && checker)
		atomic_fetch_add(ordered, checker->order.tracks);
	xtrace_events_free(state->events);
	state->events = NULL;
	return status;
}

/* Checks all tracks side by side. All are at their ends afterwards, and their TIMEs remain to be compared. */
static int check_all(struct tw_reader *reader)
{
	struct xtrace_events *events = xtrace_of(reader)->events;
	atomic_size_t ordered = 0;
	int status = xtrace_take_all(reader, reader->options.jobs, check_part, NULL, &ordered);
	events->next = xtrace_of(reader)->set.count;
	events->checker->order.tracks = ordered;
	return status;
}

/* ---- Events. ---- */

/* Begins to read all tracks on one clock. They are checked before, each by itself, because a rule looks at what follows
 * in its file; what is wrong with them is told then, and once. */
static int begin_all(struct tw_reader *reader, struct xtrace_events *events)
{
	bool quiet = reader->reports.quiet;
	int status = events->checker ? check_all(reader) : 0;
	if (status >= 0 && events->checker)
		status = open_next(reader, events);
	if (status < 0)
		return status;
	reader->reports.quiet = quiet || events->checker;
	status = xtrace_merged_tracks_open(&events->merged, reader);
	reader->reports.quiet = quiet;
	if (status >= 0)
		xtrace_merged_tracks_report_order(events->merged);
	reader->reports.again = reader->reports.again || events->checker;
	return status;
}

static int begin(struct tw_reader *reader)
{
	struct xtrace_events *events = xtrace_of(reader)->events = calloc(1, sizeof *events);
	bool calls = wants_calls(reader);
	if (!events)
		return tw_fail_memory(reader);
	bool checks = reader->options.checking == TW_CHECK_ALL;
	events->checker = checks ? calloc(1, sizeof *events->checker) : NULL;
	events->calls = calls ? calloc(1, sizeof *events->calls) : NULL;
	if (events->calls)
		events->calls->reader = reader;
	if ((checks && !events->checker) || (calls && !events->calls))
		return tw_fail_memory(reader);
	bool several = xtrace_of(reader)->set.count > 1 && reader->options.thread_count != 1;
	return several && calls ? begin_all(reader, events) : 0;
}

static bool only_checks(const struct tw_reader *reader)
{
	return reader->options.findings_only && reader->options.checking == TW_CHECK_ALL &&
	       xtrace_of(reader)->set.count > 1;
}

int xtrace_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct xtrace_reader *state = xtrace_of(reader);
	*batch = (struct tw_batch){0};
	bool begins = !state->events;
	int status = begins ? begin(reader) : 0;
	if (begins && status >= 0 && only_checks(reader))
		status = check_all(reader);
	if (status < 0)
		return status;
	struct xtrace_events *events = state->events;
	status = 1;
	events->count = 0;
	while (status > 0 && events->count < ROWS - TURN_MOST)
		status = events->merged ? advance_all(reader, events) : advance(reader, events);
	if (status < 0)
		return status;
	*batch = (struct tw_batch){.events = events->rows, .count = events->count};
	for (size_t i = 0; i < batch->count; i++)
		reader->clock.end_ns =
		    batch->events[i].time > reader->clock.end_ns ? batch->events[i].time : reader->clock.end_ns;
	return (int)events->count;
}
