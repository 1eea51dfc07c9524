/* firefox.c - slices, samples and instants to the processed profile format of the Firefox Profiler.
 *
 * Source: its documents "Processed profile format" and "Writing a custom profile importer", its changelog of formats,
 * and its types of version 48; the profiler makes newer versions of it itself. What is ours to decide:
 * - Slices are samples: one for each time in which the stack of a thread stays the same, with its length as the weight,
 *   and one without a stack where there is none. So the call tree, the flame graph and the stack chart are exact.
 * - Samples of each other thing that is measured make a thread of their own beside it.
 * - A series of numbers that counters make on a thread is a counter.
 * - Instants, async events and logs are markers; their category and arguments are data of the marker.
 * - A thread has its own tables of stacks, frames, functions and strings, all of them columns. Samples and the columns
 *   of markers wait in a spool. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/firefox/firefox.h"

#include "base/bytes/bytes.h"
#include "base/loops.h"
#include "base/memory/memory.h"
#include "export/targets.h"

#include <stdlib.h>

enum {
	MEMORY_PER_NODE = 128,
	THREAD_COST = 800 /* bytes of a thread, about: its row, its texts and blocks */
};

/* ---- Records. ---- */

static inline void add_record(struct firefox *firefox, uint32_t number, unsigned what, uint64_t time, uint64_t payload,
                              uint64_t weight)
{
	struct firefox_track *track = &firefox->tracks[number];
	struct tw_spool *spool = &firefox->measured.spool;
	size_t text = tw_firefox_text(number, what), size = FIREFOX_RECORD;
	uint8_t *record = tw_spool_room(spool, text, FIREFOX_LONG_RECORD);
	if (!record)
		return;
	uint64_t gap = time - track->ends[what], step = what == FIREFOX_MARKERS ? gap : weight;
	bool follows = what == FIREFOX_MARKERS ? time >= track->ends[what] : gap == 0;
	if (tw_spool_text(spool, text)->used && follows && (step | payload) < FIREFOX_LONG) {
		tw_store64(record, payload | step << 32, false);
	} else {
		tw_store64(record, FIREFOX_LONG, false);
		tw_store64(record + 8, time, false);
		tw_store64(record + 16, payload, false);
		tw_store64(record + 24, weight, false);
		size = FIREFOX_LONG_RECORD;
	}
	tw_spool_took(spool, text, size);
	track->ends[what] = time + weight;
	track->records[what]++;
}

static inline void add_sample(struct firefox *firefox, uint32_t number, enum tw_measure measure, uint64_t time,
                              uint32_t node, uint64_t weight)
{
	add_record(firefox, number, measure, time, node ? node - TW_ROW_FIRST + UINT64_C(1) : 0, weight);
}

/* ---- Stacks. ---- */

static bool add_node(struct firefox *firefox, struct firefox_track *track, uint32_t parent, uint32_t frame)
{
	size_t number = track->count ? track->count : TW_ROW_FIRST;
	if (frame == UINT32_MAX || firefox->nodes >= firefox->measured.frames.limit)
		return false;
	if (!tw_children_extend(&track->parents, &track->room, number + 1, sizeof *track->parents) ||
	    !tw_children_add(&track->children, parent, frame, (uint32_t)number)) {
		firefox->measured.failed = true;
		return false;
	}
	track->parents[number] = parent;
	track->count = number + 1;
	firefox->nodes++;
	return true;
}

/* The stack of a frame called by another stack of a track; that one where there is no room. */
static uint32_t child(struct firefox *firefox, uint32_t number, uint32_t parent, uint32_t frame)
{
	struct firefox_track *track = &firefox->tracks[number];
	uint32_t node;
	if (tw_children_find(&track->children, parent, frame, &node))
		return node;
	if (add_node(firefox, track, parent, frame))
		return (uint32_t)(track->count - 1);
	tw_count_loss(firefox->measured.writer, "stack", true);
	return parent;
}

/* From a time on the stack of a track is another one. */
static void change(struct firefox *firefox, uint32_t number, uint64_t time, uint32_t node)
{
	struct firefox_track *track = &firefox->tracks[number];
	uint64_t at = tw_measured_since(&firefox->measured, time);
	if (track->begun && at < track->since) {
		tw_count_loss(firefox->measured.writer, "time", true);
		at = track->since;
	}
	if (track->begun && at > track->since)
		add_sample(firefox, number, MEASURE_SLICES, track->since, track->current,
		           track->current ? at - track->since : 0);
	track->begun = true;
	track->since = at;
	track->current = node;
}

static uint32_t node_of(const struct tw_frame *frame)
{
	return frame->row >= TW_ROW_FIRST ? frame->row : 0;
}

static inline uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct firefox *firefox = (struct firefox *)calls;
	uint32_t frame = tw_frames_of_name(&firefox->measured.frames, name);
	uint32_t node = child(firefox, calls->track, node_of(caller), frame);
	change(firefox, calls->track, caller[1].begin, node);
	return node ? node : TW_ROW_OTHER;
}

static inline void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                         enum tw_call_end how)
{
	(void)how;
	change((struct firefox *)calls, calls->track, frame->begin + call->duration, node_of(frame - 1));
}

static void take_run(struct tw_calls *calls, const struct tw_call_run *run)
{
	tw_calls_add_run(calls, run, enter, leave, false);
}

static void flush_runs(struct firefox *firefox)
{
	tw_track_runs_flush(&firefox->runs, &firefox->measured.calls, take_run);
}

/* Whether calls of different tracks may change places: not where the last stacks are to be had. */
static bool may_collect(const struct firefox *firefox)
{
	size_t limit = firefox->measured.frames.limit;
	return tw_loop_is_on(TW_LOOP_FIREFOX_RUNS) &&
	       (firefox->nodes >= limit || limit - firefox->nodes > TW_TRACK_RUNS_WAITING);
}

/* Takes what an event is to the slices of its track: begins, ends, or time that goes by. */
static inline void take_call(struct firefox *firefox, const struct tw_event *event)
{
	tw_track_runs_add(&firefox->runs, &firefox->measured.calls, event, take_run);
	if (!may_collect(firefox))
		flush_runs(firefox);
}

static void take_stack(void *context, const struct tw_event *event)
{
	struct firefox *firefox = context;
	const struct tw_sample_stack *stack = &firefox->measured.stack;
	firefox->node = 0;
	if (stack->failed)
		tw_count_loss(firefox->measured.writer, "stack", true);
	for (size_t i = 0; i < stack->count; i++)
		firefox->node = child(firefox, event->track, firefox->node, stack->frames[i]);
}

static void take_weight(void *context, const struct tw_event *event, enum tw_measure measure, uint64_t weight)
{
	struct firefox *firefox = context;
	uint64_t time = tw_measured_since(&firefox->measured, event->time);
	add_sample(firefox, event->track, measure, time, firefox->node, weight);
}

static const struct tw_measured_hooks hooks = {
    .calls = {.enter = enter, .leave = leave},
    .stack = take_stack,
    .sample = take_weight,
};

/* ---- Markers. ---- */

static void add_category(struct firefox *firefox, uint32_t number)
{
	const struct tw_rendered *name = tw_names_find(&firefox->names, firefox->measured.dictionary, number);
	tw_line_text(&firefox->measured.line, ",\"category\":");
	tw_line_add(&firefox->measured.line, tw_names_bytes(&firefox->names, name), name->size);
}

/* {"type":"event","category":"...","args":"..."}: what the schema in the head tells the profiler to show. */
static void make_data(struct firefox *firefox, const struct tw_event *event)
{
	struct tw_line *line = &firefox->measured.line, *text = &firefox->text;
	tw_line_text(line, "{\"type\":\"event\"");
	if (event->category)
		add_category(firefox, event->category);
	if (event->value && event->kind > TW_SLICE_COMPLETE) {
		tw_line_text(line, ",\"value\":");
		tw_line_exact_u64(line, event->value);
	}
	if (event->argument_count) {
		tw_line_clear(text);
		tw_args_add(&firefox->args, text, firefox->measured.dictionary,
		            tw_event_arguments(firefox->measured.batch, event), event->argument_count);
		tw_line_text(line, ",\"args\":");
		tw_line_string(line, text->text.bytes, text->text.length);
	}
	tw_line_text(line, "}");
}

static void add_marker(struct firefox *firefox, const struct tw_event *event, uint32_t name, enum firefox_phase phase)
{
	struct tw_measured *measured = &firefox->measured;
	uint32_t track = event->track;
	uint64_t string = name ? tw_firefox_name(name) : event->kind;
	tw_line_text(&measured->line, firefox->tracks[track].records[FIREFOX_MARKERS] ? "," : "");
	make_data(firefox, event);
	tw_spool_add(&measured->spool, tw_firefox_text(track, FIREFOX_DATA), measured->line.text.bytes,
	             measured->line.text.length);
	tw_line_clear(&measured->line);
	add_record(firefox, track, FIREFOX_MARKERS, tw_measured_since(measured, event->time),
	           string * FIREFOX_PHASES + phase, 0);
}

/* ---- Events. ---- */

static void take_instant(struct firefox *firefox, const struct tw_event *event)
{
	add_marker(firefox, event, event->name, PHASE_INSTANT);
}

static void begin_operation(struct firefox *firefox, const struct tw_event *event)
{
	struct tw_open_pair *pair =
	    tw_pairs_begin(&firefox->operations.open, firefox->measured.dictionary, event, firefox->operations.limit);
	if (pair)
		pair->name = event->name;
}

/* The name of the operation that an event ends, which the event need not tell. */
static uint32_t end_operation(struct firefox *firefox, const struct tw_event *event)
{
	struct tw_open_pair *pair = tw_pairs_ended(&firefox->operations.open, firefox->measured.dictionary, event);
	if (!pair)
		return event->name;
	const uint32_t name = pair->name;
	tw_pairs_remove(&firefox->operations.open, pair);
	firefox->measured.failed |= !tw_pairs_sweep(&firefox->operations.open);
	return name;
}

/* The profiler pairs them by name; their ids are nothing to it. */
static void take_async(struct firefox *firefox, const struct tw_event *event)
{
	static const enum firefox_phase phases[TW_EVENT_KINDS] = {
	    [TW_ASYNC_BEGIN] = PHASE_START, [TW_ASYNC_INSTANT] = PHASE_INSTANT, [TW_ASYNC_END] = PHASE_END};
	uint32_t name = event->name;
	if (event->kind == TW_ASYNC_BEGIN)
		begin_operation(firefox, event);
	else if (event->kind == TW_ASYNC_END)
		name = end_operation(firefox, event);
	add_marker(firefox, event, name, phases[event->kind]);
	tw_approximate(firefox->measured.writer, event->kind);
}

/* The stacks of a track have numbers in the order of their events. */
static void take_sample(struct firefox *firefox, const struct tw_event *event)
{
	flush_runs(firefox);
	tw_measured_sample(&firefox->measured, event);
}

static void leave_out(struct firefox *firefox, const struct tw_event *event)
{
	tw_leave_out(firefox->measured.writer, event);
}

/* Slices are taken before. */
static void (*const take_kind[TW_EVENT_KINDS])(struct firefox *firefox, const struct tw_event *event) = {
    [TW_INSTANT] = take_instant,
    [TW_COUNTER] = tw_firefox_count,
    [TW_ASYNC_BEGIN] = take_async,
    [TW_ASYNC_INSTANT] = take_async,
    [TW_ASYNC_END] = take_async,
    [TW_FLOW_BEGIN] = leave_out,
    [TW_FLOW_STEP] = leave_out,
    [TW_FLOW_END] = leave_out,
    [TW_SWITCH] = leave_out,
    [TW_WAKEUP] = leave_out,
    [TW_STACK_SAMPLE] = take_sample,
    [TW_CPU_SAMPLE] = take_sample,
    [TW_ALLOCATION_SAMPLE] = take_sample,
    [TW_LOG] = take_instant,
    [TW_OBJECT] = leave_out,
    [TW_BLOB] = leave_out,
    [TW_INSTRUCTIONS] = leave_out,
    [TW_LOST] = take_instant,
    [TW_METADATA] = leave_out,
};

/* ---- The file. ---- */

static int open_firefox(struct tw_writer *writer)
{
	struct firefox *firefox = calloc(1, sizeof *firefox);
	writer->state = firefox;
	if (!firefox)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	tw_measured_init(&firefox->measured, writer, &hooks, firefox);
	firefox->counters.spool.fd = -1;
	tw_args_init(&firefox->args, writer);
	tw_names_init(&firefox->names, tw_names_json);
	return 0;
}

static int result(struct firefox *firefox, int status)
{
	firefox->measured.failed |= firefox->text.failed || firefox->names.text.failed;
	if (firefox->counters.spool.error && !firefox->measured.spool.error)
		firefox->measured.spool.error = firefox->counters.spool.error;
	return tw_measured_result(&firefox->measured, status);
}

/* Makes room for the tracks; false when there is no memory. */
static bool grow(struct firefox *firefox)
{
	const struct tw_dictionary *dictionary = firefox->measured.dictionary;
	size_t tracks = dictionary ? tw_dictionary_tracks(dictionary) : 0;
	return tw_grow(&firefox->tracks, &firefox->track_room, tracks, sizeof *firefox->tracks);
}

static int write_firefox(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct firefox *firefox = writer->state;
	int status = tw_measured_meet(&firefox->measured, reader, batch, MEMORY_PER_NODE);
	tw_names_meet(&firefox->names, firefox->measured.dictionary);
	tw_names_meet(&firefox->args.names, firefox->measured.dictionary);
	firefox->jobs = reader->options.jobs;
	firefox->operations.limit = tw_memory_limit(reader) / OPERATION_SHARE;
	tw_names_bound(&firefox->names, tw_memory_limit(reader));
	tw_names_bound(&firefox->args.names, tw_memory_limit(reader));
	firefox->measured.spool.keep_limit = firefox->measured.spool.memory_limit;
	if (!status && !grow(firefox))
		status = TW_ERR_MEMORY;
	for (size_t i = 0; i < batch->count && !status; i++) {
		const struct tw_event *event = &batch->events[i];
		take_call(firefox, event);
		if (!tw_is_call(event))
			take_kind[event->kind](firefox, event);
	}
	return result(firefox, status);
}

static int finish_firefox(struct tw_writer *writer)
{
	struct firefox *firefox = writer->state;
	flush_runs(firefox);
	tw_measured_finish(&firefox->measured);
	/* behind the last event there may be tracks that have none */
	return result(firefox, grow(firefox) && tw_firefox_put(firefox) ? 0 : TW_ERR_MEMORY);
}

static void free_tracks(struct firefox *firefox)
{
	for (size_t i = 0; i < firefox->track_room; i++) {
		free(firefox->tracks[i].parents);
		tw_children_free(&firefox->tracks[i].children);
	}
	free(firefox->tracks);
}

static void close_firefox(struct tw_writer *writer)
{
	struct firefox *firefox = writer->state;
	tw_measured_free(&firefox->measured);
	tw_args_free(&firefox->args);
	tw_names_free(&firefox->names);
	tw_firefox_free_counters(firefox);
	free_tracks(firefox);
	free(firefox->local_frames);
	free(firefox->thread_frames);
	free(firefox->local_strings);
	free(firefox->thread_strings);
	tw_pairs_free(&firefox->operations.open);
	tw_pieces_free(&firefox->pieces);
	tw_text_free(&firefox->text.text);
	free(firefox);
	writer->state = NULL;
}

static const char *const extensions[] = {".firefox.json", NULL};

const struct tw_target tw_target_firefox = {
    .name = "firefox",
    .extensions = extensions,
    .order = TW_ORDER_TRACK,
    .one_stack = true,
    .measures = true,
    .thread_cost = THREAD_COST,
    .no_category = TW_SLICES,
    .no_arguments = TW_SLICES,
    .open = open_firefox,
    .write = write_firefox,
    .finish = finish_firefox,
    .close = close_firefox,
};
