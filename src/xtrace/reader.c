/* reader.c - instructions to events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "xtrace/calls.h"
#include "xtrace/check.h"

/* An instruction may leave so many calls at once, and begin one. */
enum { ROWS = 512, TURN_MOST = 257 };

struct xtrace_events {
	size_t next;    /* track */
	bool open;      /* one is being read: */
	uint32_t track; /* its number */
	uint64_t time;  /* instructions so far */
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_snapshots snapshots;
	bool has_snapshot;              /* the last one has not been reached */
	bool compared;                  /* the TIMEs of all tracks were */
	struct xtrace_checker *checker; /* NULL: only damage is looked for */
	struct xtrace_calls *calls;     /* NULL: nobody looks at them */
	struct tw_event rows[ROWS];
	size_t count;
};

void xtrace_events_free(struct xtrace_events *events)
{
	if (!events)
		return;
	xtrace_files_close(&events->files);
	free(events->checker);
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
		uint64_t index = events->snapshots.last.index;
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
		events->open = true;
		events->time = 0;
		xtrace_cursor_init(&events->cursor, &events->files);
		xtrace_snapshots_init(&events->snapshots, &events->files);
		if (events->calls)
			xtrace_calls_begin(events->calls);
		if (events->checker && status >= 0)
			xtrace_check_begin(events->checker, &events->files);
		if (status >= 0)
			status = next_snapshot(events);
		if (status >= 0 && events->track == UINT32_MAX)
			status = xtrace_no_memory(reader);
		return status < 0 ? status : 1;
	}
	bool several = events->checker && events->checker->ordered_tracks > 1 && !events->compared;
	events->compared = true;
	return several ? xtrace_check_order(reader) : 0;
}

static struct tw_event *add_row(struct xtrace_events *events, enum tw_event_kind kind, uint64_t value, uint32_t name)
{
	struct tw_event *row = &events->rows[events->count++];
	*row = (struct tw_event){
	    .time = events->time,
	    .offset = events->cursor.offset,
	    .value = value,
	    .track = events->track,
	    .name = name,
	    .kind = (uint8_t)kind,
	};
	return row;
}

static int take_instruction(struct xtrace_events *events, const struct tw_xtrace_token *token)
{
	struct xtrace_turn turn;
	int status = xtrace_calls_take(events->calls, token, events->cursor.offset, &turn);
	for (unsigned i = 0; i < turn.ends; i++)
		add_row(events, TW_SLICE_END, 0, 0)->flags = turn.tail ? TW_FLAG_TAIL : 0;
	if (turn.begins)
		add_row(events, TW_SLICE_BEGIN, 0, turn.name);
	return status;
}

static int take(struct xtrace_events *events, const struct tw_xtrace_token *token)
{
	bool instruction = token->kind == TW_XTRACE_INST || token->kind == TW_XTRACE_PCINST;
	int status = instruction && events->calls ? take_instruction(events, token) : 0;
	events->time += instruction;
	if (token->kind != TW_XTRACE_UNKNOWN)
		return status;
	add_row(events, TW_LOST, events->cursor.gap, 0);
	if (events->calls)
		xtrace_calls_lose(events->calls);
	return 0;
}

/* Nothing becomes an event of what only needs to be checked. */
static void run(struct xtrace_events *events)
{
	uint64_t until = events->has_snapshot ? events->snapshots.last.index : UINT64_MAX;
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
		status = take(events, &token);
		return status < 0 ? status : 1;
	}
	if (events->checker)
		xtrace_check_end(events->checker);
	xtrace_files_close(&events->files);
	events->open = false;
	return 1;
}

static int begin(struct tw_reader *reader)
{
	struct xtrace_events *events = xtrace_of(reader)->events = calloc(1, sizeof *events);
	if (!events)
		return xtrace_no_memory(reader);
	if (reader->options.order == TW_ORDER_TIME && xtrace_of(reader)->set.count > 1 &&
	    reader->options.thread_count != 1)
		return tw_fail(
		    reader, TW_ERR_UNSUPPORTED,
		    "xtrace: threads have no time in common, only counts of their own instructions: choose one "
		    "(--thread)");
	bool checks = reader->options.checking == TW_CHECK_ALL, calls = !reader->options.findings_only;
	events->checker = checks ? calloc(1, sizeof *events->checker) : NULL;
	events->calls = calls ? calloc(1, sizeof *events->calls) : NULL;
	if (events->calls)
		events->calls->reader = reader;
	return (events->checker || !checks) && (events->calls || !calls) ? 0 : xtrace_no_memory(reader);
}

int xtrace_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct xtrace_reader *state = xtrace_of(reader);
	*batch = (struct tw_batch){0};
	int status = state->events ? 1 : begin(reader);
	if (status < 0)
		return status;
	struct xtrace_events *events = state->events;
	status = 1;
	events->count = 0;
	while (status > 0 && events->count < ROWS - TURN_MOST)
		status = advance(reader, events);
	if (status < 0)
		return status;
	*batch = (struct tw_batch){.events = events->rows, .count = events->count};
	for (size_t i = 0; i < batch->count; i++)
		reader->clock.end_ns =
		    batch->events[i].time > reader->clock.end_ns ? batch->events[i].time : reader->clock.end_ns;
	return (int)events->count;
}
