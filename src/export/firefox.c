/* firefox.c - slices, samples and instants to the processed profile format of the Firefox Profiler.
 *
 * Source: its documents "Processed profile format" and "Writing a custom profile importer", its changelog of formats,
 * and its types of version 48; the profiler makes newer versions of it itself. What is ours to decide:
 * - Slices are samples: one for each time in which the stack of a thread stays the same, with its length as the weight,
 *   and one without a stack where there is none. So the call tree, the flame graph and the stack chart are exact.
 * - Samples of each other thing that is measured make a thread of their own beside it.
 * - Instants, async events and logs are markers; their category and arguments are data of the marker.
 * - A thread has its own tables of stacks, frames, functions and strings, all of them columns. Samples and the columns
 *   of markers wait in a spool. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/firefox.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/labels.h"
#include "export/protobuf.h"
#include "export/targets.h"

enum { MEMORY_PER_NODE = 128 };

/* Phases of markers. */
enum phase { PHASE_INSTANT, PHASE_INTERVAL, PHASE_START, PHASE_END };

/* ---- Columns. ---- */

/* Adds what lies in `line` to a column. */
static void add_cell(struct firefox *firefox, size_t lane)
{
	struct tw_measured *measured = &firefox->measured;
	if (tw_spool_has(&measured->spool, lane))
		tw_spool_add(&measured->spool, lane, ",", 1);
	tw_spool_add(&measured->spool, lane, measured->line.text.bytes, measured->line.text.length);
	tw_line_clear(&measured->line);
}

static void add_ms(struct tw_line *line, uint64_t ns)
{
	char *p = tw_line_room(line, TW_DIGITS_MAX + 1);
	if (p)
		tw_line_end(line, tw_decimal(p, ns, MS_DECIMALS));
}

/* There are more of these than of anything else. */
static void add_sample(struct firefox *firefox, uint32_t number, enum tw_measure measure, uint64_t time, uint32_t node,
                       uint64_t weight)
{
	struct firefox_track *track = &firefox->tracks[number];
	struct tw_spool *spool = &firefox->measured.spool;
	size_t lane = tw_firefox_sample_lane(number, measure);
	uint8_t *begin = tw_spool_room(spool, lane, (size_t)SAMPLE_COLUMNS * TW_PROTO_VARINT_MAX), *end = begin;
	uint64_t gap = time - track->ends[measure];
	if (!begin)
		return;
	end = tw_proto_digits(end, gap << 1 ^ -(gap >> 63));
	end = tw_proto_digits(end, node ? firefox->nodes[node].local + UINT64_C(1) : 0);
	end = tw_proto_digits(end, weight);
	tw_spool_took(spool, lane, (size_t)(end - begin));
	track->ends[measure] = time + weight;
	track->samples[measure]++;
}

/* ---- Stacks. ---- */

/* The stack of a frame called by another stack of a track; that one where there is no room. */
static uint32_t child(struct firefox *firefox, uint32_t number, uint32_t parent, uint32_t frame)
{
	uint32_t caller = parent ? parent : TW_CHILDREN_TOP | number;
	struct firefox_track *track = &firefox->tracks[number];
	uint32_t node;
	if (tw_children_find(&firefox->children, caller, frame, &node))
		return node;
	node = (uint32_t)firefox->count;
	if (frame == UINT32_MAX || firefox->count >= firefox->measured.frames.limit ||
	    !tw_grow(&firefox->nodes, &firefox->room, firefox->count + 1, sizeof *firefox->nodes) ||
	    !tw_children_add(&firefox->children, caller, frame, node)) {
		tw_count_loss(firefox->measured.writer, "stack", true);
		return parent;
	}
	firefox->nodes[node] = (struct firefox_node){.parent = parent, .frame = frame, .local = track->nodes++};
	if (track->last)
		firefox->nodes[track->last].next = node;
	else
		track->first = node;
	track->last = node;
	firefox->count++;
	return node;
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

static uint32_t begin_slice(void *context, const struct tw_event *event, uint32_t caller)
{
	struct firefox *firefox = context;
	uint32_t frame = tw_frames_number(&firefox->measured.frames, FRAME_OF_NAME, event->name);
	uint32_t node = child(firefox, event->track, caller >= TW_ROW_FIRST ? caller : 0, frame);
	change(firefox, event->track, event->time, node);
	return node >= TW_ROW_FIRST ? node : TW_ROW_OTHER;
}

static void end_slice(void *context, const struct tw_slice_end *end)
{
	change(context, end->track, end->time, end->caller >= TW_ROW_FIRST ? end->caller : 0);
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
    .slices = {.begin = begin_slice, .end = end_slice},
    .stack = take_stack,
    .sample = take_weight,
};

/* ---- Markers. ---- */

uint32_t tw_firefox_string(struct firefox *firefox, uint32_t number, uint32_t name)
{
	struct firefox_track *track = &firefox->tracks[number];
	uint64_t key = (uint64_t)number << 32 | name;
	uint32_t local;
	if (tw_map_find(&firefox->string_map, key, &local))
		return local;
	uint32_t at = (uint32_t)firefox->string_count;
	if (!tw_grow(&firefox->strings, &firefox->string_room, at + (size_t)1, sizeof *firefox->strings) ||
	    !tw_map_add(&firefox->string_map, key, track->strings)) {
		firefox->measured.failed = true;
		return 0;
	}
	firefox->strings[firefox->string_count++] = (struct firefox_string){.name = name};
	if (track->last_string)
		firefox->strings[track->last_string - 1].next = at + 1;
	else
		track->first_string = at + 1;
	track->last_string = at + 1;
	return track->strings++;
}

/* {"type":"event","category":"...","args":"..."}: what the schema in the head tells the profiler to show. */
static void add_data(struct firefox *firefox, const struct tw_event *event)
{
	struct tw_line *line = &firefox->measured.line, *text = &firefox->text;
	tw_line_text(line, "{\"type\":\"event\"");
	if (event->category) {
		tw_line_clear(text);
		tw_label_name(text, tw_dictionary_name(firefox->measured.dictionary, event->category));
		tw_line_text(line, ",\"category\":");
		tw_line_string(line, text->text.bytes, text->text.length);
	}
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

static void add_time_cell(struct firefox *firefox, uint32_t track, enum firefox_marker_column column,
                          const uint64_t *time)
{
	if (time)
		add_ms(&firefox->measured.line, tw_measured_since(&firefox->measured, *time));
	else
		tw_line_text(&firefox->measured.line, "null");
	add_cell(firefox, tw_firefox_marker_lane(track, column));
}

static void add_marker(struct firefox *firefox, const struct tw_event *event, enum phase phase)
{
	uint32_t track = event->track;
	uint32_t name = event->name ? event->name : UINT32_MAX - event->kind;
	tw_line_u64(&firefox->measured.line, tw_firefox_string(firefox, track, name));
	add_cell(firefox, tw_firefox_marker_lane(track, MARKER_NAME));
	add_time_cell(firefox, track, MARKER_START, phase == PHASE_END ? NULL : &event->time);
	add_time_cell(firefox, track, MARKER_END, phase == PHASE_END ? &event->time : NULL);
	tw_line_u64(&firefox->measured.line, phase);
	add_cell(firefox, tw_firefox_marker_lane(track, MARKER_PHASE));
	add_data(firefox, event);
	add_cell(firefox, tw_firefox_marker_lane(track, MARKER_DATA));
	firefox->tracks[track].markers++;
}

/* ---- Events. ---- */

static void take_slice(struct firefox *firefox, const struct tw_event *event)
{
	(void)firefox;
	(void)event;
}

static void take_instant(struct firefox *firefox, const struct tw_event *event)
{
	add_marker(firefox, event, PHASE_INSTANT);
}

/* The profiler pairs them by name; their ids are nothing to it. */
static void take_async(struct firefox *firefox, const struct tw_event *event)
{
	add_marker(firefox, event,
	           event->kind == TW_ASYNC_BEGIN ? PHASE_START
	           : event->kind == TW_ASYNC_END ? PHASE_END
	                                         : PHASE_INSTANT);
	tw_approximate(firefox->measured.writer, event->kind);
}

static void take_sample(struct firefox *firefox, const struct tw_event *event)
{
	tw_measured_sample(&firefox->measured, event);
}

static void leave_out(struct firefox *firefox, const struct tw_event *event)
{
	tw_leave_out(firefox->measured.writer, event->kind);
}

static void (*const take_kind[TW_EVENT_KINDS])(struct firefox *firefox, const struct tw_event *event) = {
    [TW_SLICE_BEGIN] = take_slice,
    [TW_SLICE_END] = take_slice,
    [TW_SLICE_COMPLETE] = take_slice,
    [TW_INSTANT] = take_instant,
    [TW_COUNTER] = leave_out,
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
	tw_args_init(&firefox->args, writer);
	firefox->count = TW_ROW_FIRST;
	return 0;
}

static bool grow(struct firefox *firefox)
{
	uint32_t tracks = tw_dictionary_tracks(firefox->measured.dictionary);
	return tw_grow(&firefox->nodes, &firefox->room, firefox->count, sizeof *firefox->nodes) &&
	       tw_grow(&firefox->tracks, &firefox->track_room, tracks, sizeof *firefox->tracks);
}

static int result(struct firefox *firefox, int status)
{
	firefox->measured.failed |= firefox->text.failed;
	return tw_measured_result(&firefox->measured, status);
}

static int write_firefox(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct firefox *firefox = writer->state;
	int status = tw_measured_meet(&firefox->measured, reader, batch, MEMORY_PER_NODE);
	if (!status && !grow(firefox))
		status = TW_ERR_MEMORY;
	for (size_t i = 0; i < batch->count && !status; i++) {
		tw_slices_take(&firefox->measured.slices, &batch->events[i]);
		take_kind[batch->events[i].kind](firefox, &batch->events[i]);
	}
	return result(firefox, status);
}

static int finish_firefox(struct tw_writer *writer)
{
	struct firefox *firefox = writer->state;
	tw_measured_finish(&firefox->measured);
	return result(firefox, tw_firefox_put(firefox) ? 0 : TW_ERR_MEMORY);
}

static void close_firefox(struct tw_writer *writer)
{
	struct firefox *firefox = writer->state;
	tw_measured_free(&firefox->measured);
	tw_args_free(&firefox->args);
	free(firefox->nodes);
	tw_children_free(&firefox->children);
	free(firefox->strings);
	tw_map_free(&firefox->string_map);
	free(firefox->tracks);
	free(firefox->local_frames);
	free(firefox->thread_frames);
	tw_text_free(&firefox->text.text);
	free(firefox);
	writer->state = NULL;
}

static const char *const extensions[] = {".firefox.json", NULL};

const struct tw_target tw_target_firefox = {
    .name = "firefox",
    .title = "a processed profile for the Firefox Profiler",
    .extensions = extensions,
    .order = TW_ORDER_TRACK,
    .no_category = TW_SLICES,
    .no_arguments = TW_SLICES,
    .open = open_firefox,
    .write = write_firefox,
    .finish = finish_firefox,
    .close = close_firefox,
};
