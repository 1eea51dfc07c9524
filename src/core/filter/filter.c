/* filter.c - leaving out events: by time window, by duration, by name and category. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/filter.h"

#include "base/memory/memory.h"
#include "base/text/plural.h"
#include "core/calls/open_slices.h"
#include "core/filter/pending.h"
#include "core/filter/sched_edges.h"
#include "core/format.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
	READY_SIZE = 1 << 22, /* bytes of events and arguments that wait to be delivered */
	BUDGET_SHARE = 8,     /* share of the memory limit for queues and stacks, half of which may be room */
	OPEN_COST = 104,      /* bytes of a place among the open slices and in their index, at most */
	EDGE_MOST = 1024      /* rows that wait at the start of the window: each track that starts looks at all */
};

static const struct tw_rule limit_rule = {
    .name = "filter.memory-limit",
    .severity = TW_WARNING,
    .text =
	"More is open at once than the memory limit allows a filter to hold: slices beyond are let through unjudged.",
};

#define NO_FRAME SIZE_MAX

/* The begin of an open slice. */
struct open_begin {
	struct tw_event event; /* as delivered */
	uint64_t row;          /* tw_pending_put() */
};

enum { FRAME_COST = sizeof(struct open_begin) + OPEN_COST };

struct filtered_track {
	struct tw_open_slices
	    open; /* complete slices are those that pass by their names: the others count as not there */
	struct open_begin *frames; /* of the open slices, by place */
	size_t room;
	size_t delivered;           /* the frames below this have passed the window; the others began before it */
	struct tw_event_rows saved; /* begins of the frames that have not */
	uint64_t beyond;            /* open slices that there was no memory for a frame of */
	size_t waiting;             /* rows of the edge that are its own */
	struct tw_queue queue;
};

/* The events of the format, a batch after the other. */
struct filter_input {
	struct tw_batch batch; /* rows from `next` on have not been looked at */
	size_t next;
	bool ended;
	int status; /* what the format's read returned at its end */
};

/* The stages are the window, the durations, the names; but names are looked at before a row is held, which changes
 * nothing but the memory it takes. */
struct tw_filter {
	const struct tw_read_options *options;
	const struct tw_clock *clock;
	uint64_t from, to;         /* the window on the trace's clock; to: UINT64_MAX when there is no end */
	bool begun;                /* from and to are set */
	bool timeless;             /* as in struct tw_reader */
	bool all_started;          /* time order: begins of all tracks were delivered at the start of the window */
	struct tw_open_room room;  /* without a limit: pending.share has one */
	struct tw_event_rows edge; /* of the start of the window, no slices: inside of those that are open then */
	struct filtered_track *tracks;
	size_t track_room, track_count; /* tracks that are counted in pending.held */
	struct filtered_track spare;    /* all tracks that there is no memory for: nothing of them is held */
	struct tw_pending pending;
	struct tw_queue shared; /* time order: all tracks in one */
	struct tw_sched_edges edges;
	size_t taken; /* rows of pending.ready that are in the output */
	struct filter_input input;
	struct tw_row_batch output; /* the batch that is delivered */
};

static struct tw_queue *queue_of(struct tw_filter *filter, struct filtered_track *track)
{
	return filter->options->order == TW_ORDER_TIME ? &filter->shared : &track->queue;
}

static uint64_t put(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event,
                    const struct tw_argument *arguments, enum tw_verdict verdict)
{
	return tw_pending_put(&filter->pending, queue_of(filter, track), event, arguments, NULL, verdict);
}

static bool decide(struct tw_filter *filter, struct filtered_track *track, const struct open_begin *frame, uint64_t end)
{
	return tw_pending_decide(&filter->pending, queue_of(filter, track), frame->row, frame->event.time, end);
}

/* ---- The stacks of open slices. ---- */

/* The open slice that an end belongs to. */
static size_t find(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event)
{
	size_t place;
	int found = tw_open_match(&track->open, event->name, &place);
	filter->pending.failed |= found < 0;
	return found > 0 ? place : NO_FRAME;
}

static bool has_room(struct tw_filter *filter, const struct filtered_track *track)
{
	return track != &filter->spare && track->open.depth < UINT32_MAX - 2 &&
	       tw_share_holds(&filter->pending.share, filter->pending.held + FRAME_COST);
}

static void push(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event)
{
	if (!tw_grow(&track->frames, &track->room, track->open.depth + 1, sizeof *track->frames) ||
	    tw_open_begin(&track->open, &filter->room, event->name, 0) < 0) {
		filter->pending.failed = true;
		return;
	}
	track->frames[track->open.depth - 1] = (struct open_begin){.event = *event, .row = TW_NO_ROW};
	filter->pending.held += FRAME_COST;
}

/* Pushes a slice that begins before the window, and saves its begin for start(). */
static void push_early(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event,
                       const struct tw_argument *arguments)
{
	push(filter, track, event);
	size_t before = tw_event_rows_size(&track->saved);
	if (!tw_event_rows_add(&track->saved, event, arguments, NULL, TW_KEEP))
		filter->pending.failed = true;
	filter->pending.held += tw_event_rows_size(&track->saved) - before;
}

static void pop(struct tw_filter *filter, struct filtered_track *track)
{
	tw_open_close(&track->open, &filter->room);
	filter->pending.held -= FRAME_COST;
	if (track->open.depth < track->delivered) {
		track->delivered = track->open.depth;
		return;
	}
	size_t before = tw_event_rows_size(&track->saved);
	tw_event_rows_pop(&track->saved);
	filter->pending.held -= before - tw_event_rows_size(&track->saved);
}

/* ---- The window. ---- */

/* Delivers the slices that are open at the start of the window. */
static void begin_open(struct tw_filter *filter, struct filtered_track *track)
{
	struct tw_event_rows *saved = &track->saved;
	if (track->delivered == track->open.depth)
		return;
	for (size_t i = 0; track->delivered < track->open.depth; i++) {
		struct open_begin *frame = &track->frames[track->delivered++];
		frame->event.time = filter->from;
		frame->event.flags |= TW_FLAG_CLIPPED | TW_FLAG_MADE;
		frame->row = tw_pending_put(&filter->pending, queue_of(filter, track), &frame->event,
		                            saved->arguments ? saved->arguments + saved->rows[i].argument : NULL,
		                            saved->bytes, TW_UNDECIDED);
	}
	filter->pending.held -= tw_event_rows_size(saved);
	tw_event_rows_shift(saved, tw_event_rows_held(saved));
}

/* Whether rows wait that those of all tracks must not overtake. */
static bool edge_holds_all(const struct tw_filter *filter)
{
	return filter->options->order == TW_ORDER_TIME && tw_event_rows_held(&filter->edge);
}

/* Has an event of the window's very start wait for the begins of the slices that it is in, or behind one that does. */
static bool wait_at_edge(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event,
                         const struct tw_argument *arguments)
{
	size_t before = tw_event_rows_size(&filter->edge);
	bool waits = track->delivered < track->open.depth || track->waiting ||
	             (edge_holds_all(filter) && track != &filter->spare);
	if (!waits || filter->edge.count == EDGE_MOST || !tw_share_holds(&filter->pending.share, filter->pending.held))
		return false;
	if (!tw_event_rows_add(&filter->edge, event, arguments, NULL, TW_KEEP))
		filter->pending.failed = true;
	filter->pending.held += tw_event_rows_size(&filter->edge) - before;
	track->waiting++;
	return true;
}

/* Delivers what waits at the edge: of one track and of those that only wait behind others, or of all, in the order in
 * which it came. */
static void leave_edge(struct tw_filter *filter, struct filtered_track *only)
{
	struct tw_event_rows *edge = &filter->edge;
	size_t left = 0;
	for (size_t i = edge->head; i < edge->count; i++) {
		struct tw_row *row = &edge->rows[i];
		struct filtered_track *track = &filter->tracks[row->event.track];
		bool leaves = !only || track == only || track->delivered == track->open.depth;
		if (row->state == TW_KEEP && leaves) {
			tw_pending_put(&filter->pending, queue_of(filter, track), &row->event,
			               edge->arguments ? edge->arguments + row->argument : NULL, edge->bytes, TW_KEEP);
			row->state = TW_DROP;
			track->waiting--;
		}
		left += row->state == TW_KEEP;
	}
	if (left)
		return;
	filter->pending.held -= tw_event_rows_size(edge);
	tw_event_rows_shift(edge, tw_event_rows_held(edge));
}

static void start(struct tw_filter *filter, struct filtered_track *track)
{
	begin_open(filter, track);
	if (track->waiting || edge_holds_all(filter))
		leave_edge(filter, track);
}

static void start_all(struct tw_filter *filter)
{
	for (size_t i = 0; i < filter->track_count; i++)
		begin_open(filter, &filter->tracks[i]);
	leave_edge(filter, NULL);
	filter->all_started = true;
}

/* Ends a slice that has no end of its own, like `event` does. */
static void end_frame(struct tw_filter *filter, struct filtered_track *track, const struct open_begin *frame,
                      const struct tw_event *event)
{
	struct tw_event end = *event;
	end.kind = TW_SLICE_END;
	end.name = frame->event.name;
	end.category = frame->event.category;
	end.argument_count = 0;
	if (decide(filter, track, frame, end.time))
		put(filter, track, &end, NULL, TW_KEEP);
}

/* Whether a time is behind the window. Times beyond 64 bits stand at their end: a window without an end has them. */
static bool is_behind(const struct tw_filter *filter, uint64_t time)
{
	return filter->options->to_ns && time >= filter->to;
}

/* A track has passed the end of the window. What comes late may still be in it. */
static void finish(struct tw_filter *filter, struct filtered_track *track)
{
	start(filter, track);
	while (track->open.depth) {
		const struct open_begin *frame = &track->frames[track->open.depth - 1];
		struct tw_event end = frame->event;
		end.time = filter->to;
		end.flags = TW_FLAG_CLIPPED | TW_FLAG_MADE;
		end_frame(filter, track, frame, &end);
		pop(filter, track);
	}
}

/* ---- Events by kind. ---- */

/* A slice that ends exactly where the window starts is not in it. So of what happens at that very time only the begin
 * of a slice starts the track (start()): the end of one that is open may still come. What else happens then waits. */

static void take_other(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event,
                       const struct tw_argument *arguments)
{
	if (event->time < filter->from)
		return;
	if (event->time > filter->from)
		start(filter, track);
	else if (wait_at_edge(filter, track, event, arguments))
		return;
	put(filter, track, event, arguments, TW_KEEP);
}

static void take_begin(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event,
                       const struct tw_argument *arguments)
{
	if (track->beyond || !has_room(filter, track)) {
		track->beyond++;
		tw_pending_give_up(&filter->pending, event);
		take_other(filter, track, event, arguments);
		return;
	}
	if (event->time < filter->from) {
		push_early(filter, track, event, arguments);
		return;
	}
	start(filter, track);
	push(filter, track, event);
	if (filter->pending.failed)
		return;
	track->delivered = track->open.depth;
	track->frames[track->open.depth - 1].row = put(filter, track, event, arguments, TW_UNDECIDED);
}

/* Ends the slices above frame `at`, which have no ends of their own. A reader of the events sees that from `end`; where
 * that is left out they are given ends. */
static void unwind(struct tw_filter *filter, struct filtered_track *track, size_t at, const struct tw_event *end)
{
	bool silent = !tw_pending_wanted(&filter->pending, end);
	for (; track->open.depth - 1 > at; pop(filter, track)) {
		const struct open_begin *frame = &track->frames[track->open.depth - 1];
		if (track->open.depth > track->delivered)
			continue;
		if (silent)
			end_frame(filter, track, frame, end);
		else
			decide(filter, track, frame, end->time);
	}
}

static void take_end(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event,
                     const struct tw_argument *arguments)
{
	size_t at = track->beyond ? NO_FRAME : find(filter, track, event);
	if (at == NO_FRAME) {
		track->beyond -= track->beyond ? 1 : 0;
		take_other(filter, track, event, arguments);
		return;
	}
	struct tw_event end = *event;
	end.name = track->frames[at].event.name; /* ends may be written without */
	if (filter->options->category)
		end.category = track->frames[at].event.category;
	if (end.time > filter->from) {
		start(filter, track);
	} else if (end.time < filter->from) {
		end.time = filter->from;
		end.flags |= TW_FLAG_CLIPPED | TW_FLAG_MADE;
	}
	unwind(filter, track, at, &end);
	if (at < track->delivered && decide(filter, track, &track->frames[at], end.time))
		put(filter, track, &end, arguments, TW_KEEP);
	pop(filter, track);
}

/* What a complete slice that reaches into the window is inside of, is open at its start too. */
static void take_complete(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event,
                          const struct tw_argument *arguments)
{
	struct tw_event slice = *event;
	uint64_t end = event->value > UINT64_MAX - event->time ? UINT64_MAX : event->time + event->value;
	if (slice.time < filter->from) {
		if (end <= filter->from)
			return;
		slice.time = filter->from;
		slice.flags |= TW_FLAG_CLIPPED;
	}
	if (end > filter->to) {
		end = filter->to;
		slice.flags |= TW_FLAG_CLIPPED;
	}
	slice.value = end - slice.time;
	start(filter, track);
	if (slice.value >= filter->options->min_duration_ns)
		put(filter, track, &slice, arguments, TW_KEEP);
}

static bool is_timeless(const struct tw_filter *filter, const struct tw_event *event)
{
	return (filter->timeless && event->kind == TW_OBJECT) || (event->kind == TW_METADATA && event->value);
}

/* What would be outside of the window is at its edge, and before the slices there, whose arguments may refer to it. */
static void take_timeless(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event,
                          const struct tw_argument *arguments)
{
	struct tw_event inside = *event;
	if (inside.time < filter->from)
		inside.time = filter->from;
	else if (is_behind(filter, inside.time))
		inside.time = filter->to - 1;
	if (inside.time > filter->from)
		start(filter, track);
	put(filter, track, &inside, arguments, TW_KEEP);
}

static void take_in(struct tw_filter *filter, struct filtered_track *track, const struct tw_event *event,
                    const struct tw_argument *arguments)
{
	if (is_timeless(filter, event))
		take_timeless(filter, track, event, arguments);
	else if (is_behind(filter, event->time))
		finish(filter, track);
	else if (event->kind == TW_SLICE_BEGIN)
		take_begin(filter, track, event, arguments);
	else if (event->kind == TW_SLICE_END)
		take_end(filter, track, event, arguments);
	else if (event->kind == TW_SLICE_COMPLETE)
		take_complete(filter, track, event, arguments);
	else
		take_other(filter, track, event, arguments);
}

/* The track of a number; NULL when there is no memory. */
static struct filtered_track *track_at(struct tw_filter *filter, size_t number)
{
	if (number < filter->track_count)
		return &filter->tracks[number];
	size_t more = (number + 1 - filter->track_count) * sizeof *filter->tracks;
	if (!tw_share_holds(&filter->pending.share, filter->pending.held + more))
		return &filter->spare;
	if (!tw_grow(&filter->tracks, &filter->track_room, number + 1, sizeof *filter->tracks))
		return NULL;
	filter->track_count = number + 1;
	filter->pending.held += more;
	return &filter->tracks[number];
}

/* Whether an event tells nothing: the window is empty, or it is behind the window on the spare track, which stands for
 * several and has nothing open. */
static bool is_over(const struct tw_filter *filter, const struct filtered_track *track, const struct tw_event *event)
{
	bool empty = filter->to <= filter->from && filter->options->to_ns;
	return empty || (track == &filter->spare && is_behind(filter, event->time) && !is_timeless(filter, event));
}

static bool is_scheduling(const struct tw_event *event)
{
	return event->kind == TW_SWITCH || event->kind == TW_WAKEUP;
}

static bool take_scheduling(struct tw_filter *filter, const struct tw_event *event, const struct tw_argument *arguments)
{
	const enum tw_side side = event->time < filter->from       ? TW_BEFORE_WINDOW
	                          : is_behind(filter, event->time) ? TW_BEHIND_WINDOW
	                                                           : TW_IN_WINDOW;
	return tw_sched_edges_take(&filter->edges, filter->pending.dictionary, event, arguments, side);
}

static void take(struct tw_filter *filter, const struct tw_event *event, const struct tw_argument *arguments)
{
	struct filtered_track *track = track_at(filter, event->track);
	if (!track || (is_scheduling(event) && !take_scheduling(filter, event, arguments))) {
		filter->pending.failed = true;
		return;
	}
	if (is_over(filter, track, event))
		return;
	struct tw_queue *queue = queue_of(filter, track);
	uint64_t now = event->time < filter->to ? event->time : filter->to;
	queue->now = now > queue->now ? now : queue->now;
	if (queue == &filter->shared && !filter->all_started && event->time > filter->from)
		start_all(filter);
	take_in(filter, track, event, arguments);
	tw_pending_drain(&filter->pending, queue);
}

/* ---- Batches. ---- */

static uint64_t later(uint64_t time, uint64_t ns)
{
	return ns > UINT64_MAX - time ? UINT64_MAX : time + ns;
}

/* The start of the trace is known when there are events, not before in every order. */
static void set_window(struct tw_filter *filter, const struct tw_reader *reader)
{
	uint64_t start_ns = filter->clock->start_ns;
	filter->begun = true;
	filter->timeless = reader->traits.timeless;
	filter->from = filter->options->from_ns ? later(start_ns, filter->options->from_ns) : 0;
	filter->to = filter->options->to_ns ? later(start_ns, filter->options->to_ns) : UINT64_MAX;
}

static void flush(struct tw_filter *filter)
{
	filter->input.ended = true;
	start_all(filter);
	for (size_t i = 0; i < filter->track_count; i++)
		tw_pending_drain_all(&filter->pending, &filter->tracks[i].queue);
	tw_pending_drain_all(&filter->pending, &filter->shared);
}

static void report_unjudged(const struct tw_filter *filter, struct tw_reader *reader)
{
	const struct tw_pending *pending = &filter->pending;
	if (pending->unjudged)
		tw_report_limit(reader, &limit_rule, pending->first_unjudged, pending->first_unjudged,
		                "%" PRIu64 " slice%s let through unjudged: give more memory to filter them",
		                pending->unjudged, tw_plural(pending->unjudged));
}

static void pull(struct tw_filter *filter, struct tw_reader *reader)
{
	filter->input.next = 0;
	filter->input.batch = (struct tw_batch){0};
	int n = tw_read_in_order(reader, &filter->input.batch);
	if (n > 0) {
		if (!filter->begun)
			set_window(filter, reader);
		return;
	}
	filter->input.batch.count = 0;
	filter->input.status = n;
	flush(filter);
	report_unjudged(filter, reader);
}

static void work(struct tw_filter *filter, struct tw_reader *reader)
{
	const struct tw_event_rows *ready = &filter->pending.ready;
	while (!filter->input.ended && !filter->pending.failed && tw_event_rows_held(ready) < TW_ROW_BATCH &&
	       tw_event_rows_size(ready) < READY_SIZE) {
		if (filter->input.next == filter->input.batch.count) {
			pull(filter, reader);
			continue;
		}
		const struct tw_event *event = &filter->input.batch.events[filter->input.next++];
		take(filter, event,
		     event->argument_count ? filter->input.batch.arguments + event->first_argument : NULL);
	}
}

/* Makes a batch of the first rows that are ready. They stay there, for the bytes of their arguments, until the next. */
static int deliver(struct tw_filter *filter, bool keeps_made, struct tw_batch *batch)
{
	int count = tw_row_batch_make(&filter->output, &filter->pending.ready, batch);
	for (int i = 0; i < count && !keeps_made; i++)
		if (tw_is_made(&filter->output.events[i]))
			filter->output.events[i].flags ^= TW_FLAG_MADE;
	filter->taken = count > 0 ? (size_t)count : 0;
	return count;
}

int tw_filter_read(struct tw_filter *filter, struct tw_reader *reader, struct tw_batch *batch)
{
	*batch = (struct tw_batch){0};
	tw_event_rows_shift(&filter->pending.ready, filter->taken);
	filter->taken = 0;
	work(filter, reader);
	reader->traits.altered.runs = filter->edges.runs;
	reader->traits.altered.waits = filter->edges.waits;
	int count = filter->pending.failed ? TW_ERR_MEMORY : deliver(filter, reader->request.marks_made, batch);
	if (count < 0)
		return tw_fail(reader, count, "%s: out of memory", tw_input_name(reader->input));
	return count ? count : filter->input.status;
}

/* ---- The filter. ---- */

const struct tw_rule *tw_filter_rule(size_t i)
{
	return i == 0 ? &limit_rule : NULL;
}

bool tw_filter_needs_time(const struct tw_read_options *options)
{
	return options->from_ns || options->to_ns || options->min_duration_ns;
}

bool tw_filter_needed(const struct tw_read_options *options)
{
	return options->function || options->category || tw_filter_needs_time(options);
}

struct tw_filter *tw_filter_new(const struct tw_read_options *options, const struct tw_dictionary *dictionary,
                                const struct tw_clock *clock, atomic_size_t *used)
{
	struct tw_filter *filter = calloc(1, sizeof *filter);
	if (!filter)
		return NULL;
	size_t limit = options->memory_limit ? options->memory_limit : TW_DEFAULT_MEMORY;
	filter->options = options;
	filter->clock = clock;
	filter->room.limit = SIZE_MAX;
	filter->pending = (struct tw_pending){
	    .options = options,
	    .dictionary = dictionary,
	    .share = {.used = used, .limit = limit / BUDGET_SHARE},
	};
	return filter;
}

void tw_filter_free(struct tw_filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->track_room; i++) {
		free(filter->tracks[i].frames);
		tw_event_rows_free(&filter->tracks[i].saved);
		tw_open_free(&filter->tracks[i].open);
		tw_event_rows_free(&filter->tracks[i].queue.rows);
	}
	tw_event_rows_free(&filter->spare.queue.rows);
	tw_event_rows_free(&filter->edge);
	free(filter->tracks);
	tw_event_rows_free(&filter->shared.rows);
	tw_pending_free(&filter->pending);
	tw_sched_edges_free(&filter->edges);
	tw_row_batch_free(&filter->output);
	free(filter);
}
