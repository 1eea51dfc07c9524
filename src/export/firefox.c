/* firefox.c - slices, samples and instants to the processed profile format of the Firefox Profiler.
 *
 * Source: its documents "Processed profile format" and "Writing a custom profile importer", its changelog of formats, and its types
 * of version 48; the profiler makes newer versions of it itself. What is ours to decide:
 * - Slices are samples: one for each time in which the stack of a thread stays the same, with its length as the weight, and one
 *   without a stack where there is none. So the call tree, the flame graph and the stack chart are exact.
 * - Samples of each other thing that is measured make a thread of their own beside it.
 * - Instants, async events and logs are markers; their category and arguments are data of the marker.
 * - A thread has its own tables of stacks, frames, functions and strings, all of them columns. Columns of samples and markers wait
 *   in a spool. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/args.h"
#include "export/frames.h"
#include "export/labels.h"
#include "export/slices.h"
#include "export/spool.h"
#include "export/targets.h"

#include <trackway/version.h>

enum measure { SLICES, TICKS, WALL, CPU, BYTES, MEASURES };
enum column { SAMPLE_TIME, SAMPLE_STACK, SAMPLE_WEIGHT, SAMPLE_COLUMNS };
enum marker_column { MARKER_NAME, MARKER_START, MARKER_END, MARKER_PHASE, MARKER_DATA, MARKER_COLUMNS };
enum { LANES = MEASURES * SAMPLE_COLUMNS + MARKER_COLUMNS };

static const struct {
	const char *type, *word;
} measures[MEASURES] = {
    [SLICES] = {"tracing-ms", ""},         [TICKS] = {"samples", " (samples)"}, [WALL] = {"tracing-ms", " (wall time)"},
    [CPU] = {"tracing-ms", " (CPU time)"}, [BYTES] = {"bytes", " (allocated)"},
};

/* Phases of markers. */
enum phase { PHASE_INSTANT, PHASE_INTERVAL, PHASE_START, PHASE_END };

/* A stack. */
struct node {
	uint32_t parent; /* a node; 0: none */
	uint32_t frame;
	uint32_t local; /* its number in the table of its thread */
	uint32_t next;  /* of the same thread; 0: none */
};

/* A string of a thread: a name, or what a kind of event is called: UINT32_MAX less the kind. */
struct string {
	uint32_t name;
	uint32_t next; /* of the same thread, plus 1 */
};

struct track {
	uint32_t first, last, nodes;        /* nodes of the thread, in order */
	uint32_t first_string, last_string; /* plus 1 */
	uint32_t strings;
	uint32_t current;                    /* the stack now; 0: none */
	uint64_t since;                      /* when it began, since the start of the trace */
	uint64_t samples[MEASURES], markers; /* how many there are */
	bool begun;
};

struct firefox {
	struct tw_writer *writer;
	const struct tw_dictionary *dictionary;
	const struct tw_batch *batch;
	struct tw_slices slices;
	struct tw_frames frames;
	struct tw_spool spool;
	struct tw_sample_stack stack;
	struct node *nodes; /* the first two are none */
	size_t count, room;
	struct tw_map node_map; /* hash of parent, frame and track to node */
	struct string *strings;
	size_t string_count, string_room;
	struct tw_map string_map; /* track and name to the local number */
	struct track *tracks;
	size_t track_room;
	uint32_t *local_frames; /* by frame: its number in the thread at hand, plus 1 */
	size_t local_room;
	uint64_t start;
	struct tw_args args;
	struct tw_line line, text;
	bool begun, failed;
};

enum { MEMORY_PER_NODE = 128 };

/* ---- Columns. ---- */

static size_t sample_lane(uint32_t track, enum measure measure, enum column column)
{
	return (size_t)track * LANES + measure * SAMPLE_COLUMNS + column;
}

static size_t marker_lane(uint32_t track, enum marker_column column)
{
	return (size_t)track * LANES + MEASURES * SAMPLE_COLUMNS + column;
}

/* Adds what lies in `line` to a column. */
static void add_cell(struct firefox *firefox, size_t lane)
{
	if (tw_spool_has(&firefox->spool, lane))
		tw_spool_add(&firefox->spool, lane, ",", 1);
	tw_spool_add(&firefox->spool, lane, firefox->line.text.bytes, firefox->line.text.length);
	tw_line_clear(&firefox->line);
}

/* Nanoseconds as milliseconds. */
static void add_ms(struct tw_line *line, uint64_t ns)
{
	enum { DECIMALS = 6, NS_PER_MS = 1000000 };
	char digits[DECIMALS + 1];
	uint64_t rest = ns % NS_PER_MS;
	tw_line_u64(line, ns / NS_PER_MS);
	digits[0] = '.';
	for (size_t i = DECIMALS; i > 0; i--, rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	tw_line_add(line, digits, sizeof digits);
}

static void add_sample(struct firefox *firefox, uint32_t number, enum measure measure, uint64_t time, uint32_t node,
                       uint64_t weight)
{
	struct tw_line *line = &firefox->line;
	add_ms(line, time);
	add_cell(firefox, sample_lane(number, measure, SAMPLE_TIME));
	if (node)
		tw_line_u64(line, firefox->nodes[node].local);
	else
		tw_line_text(line, "null");
	add_cell(firefox, sample_lane(number, measure, SAMPLE_STACK));
	if (measure == TICKS || measure == BYTES)
		tw_line_u64(line, weight);
	else
		add_ms(line, weight);
	add_cell(firefox, sample_lane(number, measure, SAMPLE_WEIGHT));
	firefox->tracks[number].samples[measure]++;
}

/* ---- Stacks. ---- */

/* The stack of a frame called by another stack of a track; that one where there is no room. */
static uint32_t child(struct firefox *firefox, uint32_t number, uint32_t parent, uint32_t frame)
{
	const uint32_t parts[] = {parent, frame, number};
	uint64_t key = tw_hash_bytes(parts, sizeof parts, 0);
	struct track *track = &firefox->tracks[number];
	uint32_t node;
	if (tw_map_find(&firefox->node_map, key, &node))
		return node;
	node = (uint32_t)firefox->count;
	if (frame == UINT32_MAX || firefox->count >= firefox->frames.limit ||
	    !tw_grow(&firefox->nodes, &firefox->room, firefox->count + 1, sizeof *firefox->nodes) ||
	    !tw_map_add(&firefox->node_map, key, node)) {
		tw_count_loss(firefox->writer, "stack", true);
		return parent;
	}
	firefox->nodes[node] = (struct node){.parent = parent, .frame = frame, .local = track->nodes++};
	if (track->last)
		firefox->nodes[track->last].next = node;
	else
		track->first = node;
	track->last = node;
	firefox->count++;
	return node;
}

static uint64_t since_start(const struct firefox *firefox, uint64_t time)
{
	return time > firefox->start ? time - firefox->start : 0;
}

/* From a time on the stack of a track is another one. */
static void change(struct firefox *firefox, uint32_t number, uint64_t time, uint32_t node)
{
	struct track *track = &firefox->tracks[number];
	uint64_t at = since_start(firefox, time);
	if (track->begun && at < track->since) {
		tw_count_loss(firefox->writer, "time", true);
		at = track->since;
	}
	if (track->begun && at > track->since)
		add_sample(firefox, number, SLICES, track->since, track->current,
		           track->current ? at - track->since : 0);
	track->begun = true;
	track->since = at;
	track->current = node;
}

static uint32_t begin_slice(void *context, const struct tw_event *event, uint32_t caller)
{
	struct firefox *firefox = context;
	uint32_t frame = tw_frames_number(&firefox->frames, FRAME_OF_NAME, event->name);
	uint32_t node = child(firefox, event->track, caller >= TW_ROW_FIRST ? caller : 0, frame);
	change(firefox, event->track, event->time, node);
	return node >= TW_ROW_FIRST ? node : TW_ROW_OTHER;
}

static void end_slice(void *context, const struct tw_slice_end *end)
{
	change(context, end->track, end->time, end->caller >= TW_ROW_FIRST ? end->caller : 0);
}

static const struct tw_slice_hooks slice_hooks = {.begin = begin_slice, .end = end_slice};

/* What the value of a sample measures; a stack sample may have a wall time too. */
static const enum measure first_measures[] = {
    [0] = TICKS, /* TW_STACK_SAMPLE */
    [TW_CPU_SAMPLE - TW_STACK_SAMPLE] = CPU,
    [TW_ALLOCATION_SAMPLE - TW_STACK_SAMPLE] = BYTES,
};

static void take_sample(struct firefox *firefox, const struct tw_event *event)
{
	struct tw_sample_stack *stack = &firefox->stack;
	uint32_t node = 0;
	tw_frames_of_sample(&firefox->frames, firefox->dictionary, firefox->batch, event, stack);
	if (stack->cut)
		tw_count_loss(firefox->writer, "deep stack", true);
	if (stack->failed)
		tw_count_loss(firefox->writer, "stack", true);
	for (size_t i = 0; i < stack->count; i++)
		node = child(firefox, event->track, node, stack->frames[i]);
	uint64_t time = since_start(firefox, event->time);
	if (event->kind == TW_STACK_SAMPLE && event->id)
		add_sample(firefox, event->track, WALL, time, node, event->id);
	add_sample(firefox, event->track, first_measures[event->kind - TW_STACK_SAMPLE], time, node, event->value);
	if (event->kind == TW_ALLOCATION_SAMPLE)
		tw_count_loss(firefox->writer, tw_event_kind_name(event->kind), true);
}

/* ---- Markers. ---- */

/* The number of a name among the strings of a track. */
static uint32_t string_of(struct firefox *firefox, uint32_t number, uint32_t name)
{
	struct track *track = &firefox->tracks[number];
	uint64_t key = (uint64_t)number << 32 | name;
	uint32_t local;
	if (tw_map_find(&firefox->string_map, key, &local))
		return local;
	uint32_t at = (uint32_t)firefox->string_count;
	if (!tw_grow(&firefox->strings, &firefox->string_room, at + (size_t)1, sizeof *firefox->strings) ||
	    !tw_map_add(&firefox->string_map, key, track->strings)) {
		firefox->failed = true;
		return 0;
	}
	firefox->strings[firefox->string_count++] = (struct string){.name = name};
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
	struct tw_line *line = &firefox->line, *text = &firefox->text;
	tw_line_text(line, "{\"type\":\"event\"");
	if (event->category) {
		tw_line_clear(text);
		tw_label_name(text, tw_dictionary_name(firefox->dictionary, event->category));
		tw_line_text(line, ",\"category\":");
		tw_line_string(line, text->text.bytes, text->text.length);
	}
	if (event->value && event->kind > TW_SLICE_COMPLETE) {
		tw_line_text(line, ",\"value\":");
		tw_line_exact_u64(line, event->value);
	}
	if (event->argument_count) {
		tw_line_clear(text);
		tw_args_add(&firefox->args, text, firefox->dictionary, tw_event_arguments(firefox->batch, event),
		            event->argument_count);
		tw_line_text(line, ",\"args\":");
		tw_line_string(line, text->text.bytes, text->text.length);
	}
	tw_line_text(line, "}");
}

static void add_time_cell(struct firefox *firefox, uint32_t track, enum marker_column column, const uint64_t *time)
{
	if (time)
		add_ms(&firefox->line, since_start(firefox, *time));
	else
		tw_line_text(&firefox->line, "null");
	add_cell(firefox, marker_lane(track, column));
}

static void add_marker(struct firefox *firefox, const struct tw_event *event, enum phase phase)
{
	uint32_t track = event->track;
	uint32_t name = event->name ? event->name : UINT32_MAX - event->kind;
	tw_line_u64(&firefox->line, string_of(firefox, track, name));
	add_cell(firefox, marker_lane(track, MARKER_NAME));
	add_time_cell(firefox, track, MARKER_START, phase == PHASE_END ? NULL : &event->time);
	add_time_cell(firefox, track, MARKER_END, phase == PHASE_END ? &event->time : NULL);
	tw_line_u64(&firefox->line, phase);
	add_cell(firefox, marker_lane(track, MARKER_PHASE));
	add_data(firefox, event);
	add_cell(firefox, marker_lane(track, MARKER_DATA));
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
	tw_count_loss(firefox->writer, tw_event_kind_name(event->kind), true);
}

static void leave_out(struct firefox *firefox, const struct tw_event *event)
{
	tw_count_loss(firefox->writer, tw_event_kind_name(event->kind), false);
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

/* ---- Tables. ---- */

/* Writes a column of `count` cells that are all the same. */
static void put_same(struct tw_output *out, const char *name, const char *cell, uint64_t count)
{
	tw_putf(out, "\"%s\":[", name);
	for (uint64_t i = 0; i < count; i++) {
		if (i)
			tw_put_char(out, ',');
		tw_put_text(out, cell);
	}
	tw_put_text(out, "],");
}

static void put_lane(struct firefox *firefox, const char *name, size_t lane)
{
	struct tw_output *out = &firefox->writer->out;
	tw_putf(out, "\"%s\":[", name);
	tw_spool_put(&firefox->spool, lane, out);
	tw_put_text(out, "],");
}

static void put_samples(struct firefox *firefox, uint32_t number, enum measure measure)
{
	struct tw_output *out = &firefox->writer->out;
	tw_putf(out, "\"samples\":{\"weightType\":\"%s\",", measures[measure].type);
	put_lane(firefox, "time", sample_lane(number, measure, SAMPLE_TIME));
	put_lane(firefox, "stack", sample_lane(number, measure, SAMPLE_STACK));
	put_lane(firefox, "weight", sample_lane(number, measure, SAMPLE_WEIGHT));
	tw_putf(out, "\"length\":%" PRIu64 "},\n", firefox->tracks[number].samples[measure]);
}

/* Markers are the thread's, not those of what else is measured. */
static void put_markers(struct firefox *firefox, uint32_t number, enum measure measure)
{
	static const char *const names[] = {"name", "startTime", "endTime", "phase", "data"};
	struct tw_output *out = &firefox->writer->out;
	uint64_t count = measure == SLICES ? firefox->tracks[number].markers : 0;
	tw_put_text(out, "\"markers\":{");
	for (unsigned i = 0; i < MARKER_COLUMNS; i++)
		if (count)
			put_lane(firefox, names[i], marker_lane(number, i));
		else
			put_same(out, names[i], "", 0);
	put_same(out, "category", "0", count);
	tw_putf(out, "\"length\":%" PRIu64 "},\n", count);
}

/* The number of a frame in the thread at hand: a new one where it is new. */
static uint32_t local_frame(struct firefox *firefox, uint32_t frame, uint32_t *count)
{
	uint32_t *local = &firefox->local_frames[frame];
	if (!*local)
		*local = ++*count;
	return *local - 1;
}

/* Calls something for each stack of a thread, with commas between. */
static void put_stack_column(struct firefox *firefox, uint32_t number, const char *name, bool prefix, uint32_t *frames)
{
	struct tw_output *out = &firefox->writer->out;
	tw_putf(out, "\"%s\":[", name);
	for (uint32_t i = firefox->tracks[number].first; i; i = firefox->nodes[i].next) {
		const struct node *node = &firefox->nodes[i];
		if (i != firefox->tracks[number].first)
			tw_put_char(out, ',');
		if (!prefix)
			tw_put_u64(out, local_frame(firefox, node->frame, frames));
		else if (node->parent)
			tw_put_u64(out, firefox->nodes[node->parent].local);
		else
			tw_put_text(out, "null");
	}
	tw_put_text(out, "],");
}

static uint32_t put_stacks(struct firefox *firefox, uint32_t number)
{
	struct tw_output *out = &firefox->writer->out;
	uint32_t frames = 0, nodes = firefox->tracks[number].nodes;
	tw_put_text(out, "\"stackTable\":{");
	put_stack_column(firefox, number, "frame", false, &frames);
	put_stack_column(firefox, number, "prefix", true, NULL);
	put_same(out, "category", "0", nodes);
	put_same(out, "subcategory", "0", nodes);
	tw_putf(out, "\"length\":%u},\n", (unsigned)nodes);
	return frames;
}

/* What a cell of a frame's or function's column is. */
/* NOLINTNEXTLINE(readability-non-const-parameter): one type for all of the table */
static void put_frame_line(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files,
                           uint32_t number)
{
	(void)files;
	(void)number;
	if (place->line)
		tw_put_u64(&firefox->writer->out, place->line);
	else
		tw_put_text(&firefox->writer->out, "null");
}

/* One after the other, behind the names. */
static void put_file(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files, uint32_t number)
{
	if (place->file)
		tw_put_u64(&firefox->writer->out, firefox->tracks[number].strings + (uint64_t)(*files)++);
	else
		tw_put_text(&firefox->writer->out, "null");
}

/* Addresses have no names; theirs stand behind the files. */
/* NOLINTNEXTLINE(readability-non-const-parameter): one type for all of the table */
static void put_file_text(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files, uint32_t number)
{
	(void)files;
	(void)number;
	if (!place->file)
		return;
	tw_line_text(&firefox->line, ",");
	tw_line_string(&firefox->line, place->file, place->file_length);
	tw_put(&firefox->writer->out, firefox->line.text.bytes, firefox->line.text.length);
	tw_line_clear(&firefox->line);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): one type for all of the table */
static void put_address_text(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files,
                             uint32_t number)
{
	(void)files;
	(void)number;
	if (place->name || !place->address)
		return;
	tw_line_text(&firefox->line, ",");
	tw_line_hex(&firefox->line, place->address);
	tw_put(&firefox->writer->out, firefox->line.text.bytes, firefox->line.text.length);
	tw_line_clear(&firefox->line);
}

static void count_file(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files, uint32_t number)
{
	(void)firefox;
	(void)number;
	*files += place->file != NULL;
}

static void put_name(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *addresses, uint32_t number)
{
	if (place->name || !place->address)
		tw_put_u64(&firefox->writer->out, string_of(firefox, number, place->name));
	else
		tw_put_u64(&firefox->writer->out, firefox->tracks[number].strings + (uint64_t)(*addresses)++);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): one type for all of the table */
static void meet_name(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *files, uint32_t number)
{
	(void)files;
	if (place->name || !place->address)
		string_of(firefox, number, place->name);
}

typedef void cell_fn(struct firefox *firefox, const struct tw_frame_place *place, uint32_t *count, uint32_t number);

/* Goes through the frames of a thread in order. Returns the count. */
static uint32_t each_frame(struct firefox *firefox, uint32_t number, cell_fn *put, uint32_t count, const char *comma)
{
	uint32_t shown = 0;
	for (uint32_t i = firefox->tracks[number].first; i; i = firefox->nodes[i].next) {
		uint32_t frame = firefox->nodes[i].frame;
		if (firefox->local_frames[frame] != shown + 1)
			continue;
		struct tw_frame_place place = tw_frames_place(&firefox->frames, firefox->dictionary, frame);
		if (shown++)
			tw_put_text(&firefox->writer->out, comma);
		put(firefox, &place, &count, number);
	}
	return count;
}

static void put_sequence(struct tw_output *out, const char *name, uint32_t count)
{
	tw_putf(out, "\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			tw_put_char(out, ',');
		tw_put_u64(out, i);
	}
	tw_put_text(out, "],");
}

/* Each frame has a function of its own. */
static void put_frames(struct firefox *firefox, uint32_t number, uint32_t count)
{
	struct tw_output *out = &firefox->writer->out;
	tw_put_text(out, "\"frameTable\":{");
	put_same(out, "address", "-1", count);
	put_same(out, "inlineDepth", "0", count);
	put_same(out, "category", "0", count);
	put_same(out, "subcategory", "0", count);
	put_sequence(out, "func", count);
	put_same(out, "nativeSymbol", "null", count);
	put_same(out, "innerWindowID", "0", count);
	put_same(out, "implementation", "null", count);
	tw_put_text(out, "\"line\":[");
	each_frame(firefox, number, put_frame_line, 0, ",");
	tw_put_text(out, "],");
	put_same(out, "column", "null", count);
	tw_putf(out, "\"length\":%u},\n", (unsigned)count);
}

static void put_functions(struct firefox *firefox, uint32_t number, uint32_t count)
{
	struct tw_output *out = &firefox->writer->out;
	uint32_t files = each_frame(firefox, number, count_file, 0, "");
	each_frame(firefox, number, meet_name, 0, "");
	tw_put_text(out, "\"funcTable\":{\"name\":[");
	each_frame(firefox, number, put_name, files, ",");
	tw_put_text(out, "],\"fileName\":[");
	each_frame(firefox, number, put_file, 0, ",");
	tw_put_text(out, "],");
	put_same(out, "isJS", "false", count);
	put_same(out, "relevantForJS", "false", count);
	put_same(out, "resource", "-1", count);
	put_same(out, "lineNumber", "null", count);
	put_same(out, "columnNumber", "null", count);
	tw_putf(out, "\"length\":%u},\n", (unsigned)count);
}

static void add_string(struct firefox *firefox, uint32_t name)
{
	const char *kind = tw_event_kind_name(UINT32_MAX - name);
	if (kind)
		tw_line_text(&firefox->text, kind);
	else if (!tw_label_name(&firefox->text, tw_dictionary_name(firefox->dictionary, name)))
		tw_count_loss(firefox->writer, "long name", true);
}

static void put_strings(struct firefox *firefox, uint32_t number)
{
	struct tw_output *out = &firefox->writer->out;
	tw_put_text(out, "\"stringArray\":[");
	for (uint32_t i = firefox->tracks[number].first_string; i; i = firefox->strings[i - 1].next) {
		tw_line_clear(&firefox->text);
		tw_line_text(&firefox->line, i == firefox->tracks[number].first_string ? "" : ",");
		add_string(firefox, firefox->strings[i - 1].name);
		tw_line_string(&firefox->line, firefox->text.text.bytes, firefox->text.text.length);
		tw_put(out, firefox->line.text.bytes, firefox->line.text.length);
		tw_line_clear(&firefox->line);
	}
	each_frame(firefox, number, put_file_text, 0, "");
	each_frame(firefox, number, put_address_text, 0, "");
	tw_put_text(out, "]");
}

/* ---- The file. ---- */

static void put_text(struct firefox *firefox, const char *key)
{
	tw_line_clear(&firefox->line);
	tw_line_string(&firefox->line, firefox->text.text.bytes, firefox->text.text.length);
	tw_putf(&firefox->writer->out, "\"%s\":", key);
	tw_put(&firefox->writer->out, firefox->line.text.bytes, firefox->line.text.length);
	tw_put_char(&firefox->writer->out, ',');
	tw_line_clear(&firefox->line);
	tw_line_clear(&firefox->text);
}

static void put_thread(struct firefox *firefox, uint32_t number, enum measure measure)
{
	struct tw_output *out = &firefox->writer->out;
	const struct tw_track *track = tw_dictionary_track(firefox->dictionary, number);
	bool thread = track->kind == TW_TRACK_THREAD,
	     main = thread && track->process == track->thread && measure == SLICES;
	tw_put_text(out, "{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	                 "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],");
	tw_line_clear(&firefox->text);
	tw_label_track(&firefox->text, firefox->dictionary, track);
	tw_line_text(&firefox->text, measures[measure].word);
	put_text(firefox, "name");
	tw_label_process(&firefox->text, firefox->dictionary, track->process);
	put_text(firefox, "processName");
	tw_putf(out, "\"isMainThread\":%s,\"pid\":\"%" PRIu64 "\",\"tid\":\"%s%" PRIu64 "%s\",\n",
	        main ? "true" : "false", track->process, thread ? "" : "track ", thread ? track->thread : number,
	        measures[measure].word);
	put_samples(firefox, number, measure);
	put_markers(firefox, number, measure);
	uint32_t frames = put_stacks(firefox, number);
	put_frames(firefox, number, frames);
	put_functions(firefox, number, frames);
	tw_put_text(
	    out, "\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},"
		 "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n");
	put_strings(firefox, number);
	for (uint32_t i = firefox->tracks[number].first; i; i = firefox->nodes[i].next)
		firefox->local_frames[firefox->nodes[i].frame] = 0;
	tw_put_char(out, '}');
}

static void put_head(struct tw_output *out)
{
	tw_putf(
	    out,
	    "{\"meta\":{\"interval\":0.000001,\"startTime\":0,\"processType\":0,\"product\":\"Trackway\",\"stackwalk\":1,"
	    "\"version\":30,\"preprocessedProfileVersion\":48,\"symbolicated\":true,\"importedFrom\":\"trackway %s\","
	    "\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true,"
	    "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}],\n"
	    "\"markerSchema\":[{\"name\":\"event\",\"display\":[\"marker-chart\",\"marker-table\"],"
	    "\"tableLabel\":\"{marker.data.args}\",\"data\":["
	    "{\"key\":\"category\",\"label\":\"Category\",\"format\":\"string\",\"searchable\":true},"
	    "{\"key\":\"value\",\"label\":\"Value\",\"format\":\"integer\"},"
	    "{\"key\":\"args\",\"label\":\"Arguments\",\"format\":\"string\",\"searchable\":true}]}]},\n"
	    "\"libs\":[],\"pages\":[],\"counters\":[],\"threads\":[",
	    tw_version());
}

static bool has_thread(const struct firefox *firefox, uint32_t number, enum measure measure)
{
	const struct track *track = &firefox->tracks[number];
	return track->samples[measure] || (measure == SLICES && track->markers);
}

static void put_all(struct firefox *firefox)
{
	struct tw_output *out = &firefox->writer->out;
	uint32_t tracks = firefox->dictionary ? tw_dictionary_tracks(firefox->dictionary) : 0;
	unsigned threads = 0;
	put_head(out);
	for (uint32_t number = 0; number < tracks; number++)
		for (unsigned measure = 0; measure < MEASURES; measure++)
			if (has_thread(firefox, number, measure)) {
				tw_put_text(out, threads++ ? ",\n" : "\n");
				put_thread(firefox, number, measure);
			}
	tw_put_text(out, "]}\n");
}

static int result(struct firefox *firefox, int status)
{
	int error = firefox->spool.error;
	if (error && error != ENOMEM)
		return tw_writer_fail(firefox->writer, TW_ERR_SYSTEM, "temporary file: %s", strerror(error));
	if (error || firefox->line.failed || firefox->text.failed || firefox->failed)
		status = TW_ERR_MEMORY;
	return status < 0 ? tw_writer_fail(firefox->writer, status, "%s", tw_status_text(status)) : 0;
}

static int open_firefox(struct tw_writer *writer)
{
	struct firefox *firefox = calloc(1, sizeof *firefox);
	writer->state = firefox;
	if (!firefox)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	firefox->writer = writer;
	tw_args_init(&firefox->args, writer);
	firefox->spool.fd = -1;
	return 0;
}

static int begin(struct firefox *firefox, const struct tw_reader *reader)
{
	firefox->begun = true;
	firefox->start = tw_reader_clock(reader)->start_ns;
	firefox->spool.directory = reader->options.temporary_directory;
	firefox->spool.memory_limit = tw_memory_limit(reader) / SPOOL_SHARE;
	firefox->frames.limit = tw_memory_limit(reader) / MEMORY_PER_NODE;
	firefox->count = TW_ROW_FIRST;
	if (!tw_grow(&firefox->nodes, &firefox->room, firefox->count, sizeof *firefox->nodes))
		return TW_ERR_MEMORY;
	return tw_slices_init(&firefox->slices, firefox->writer, reader, &slice_hooks, firefox);
}

static int write_firefox(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct firefox *firefox = writer->state;
	firefox->dictionary = tw_reader_dictionary(reader);
	firefox->batch = batch;
	int status = firefox->begun ? 0 : begin(firefox, reader);
	uint32_t tracks = tw_dictionary_tracks(firefox->dictionary);
	if (!status && !tw_grow(&firefox->tracks, &firefox->track_room, tracks, sizeof *firefox->tracks))
		status = TW_ERR_MEMORY;
	for (size_t i = 0; i < batch->count && !status; i++) {
		tw_slices_take(&firefox->slices, &batch->events[i]);
		take_kind[batch->events[i].kind](firefox, &batch->events[i]);
	}
	return result(firefox, status);
}

static int finish_firefox(struct tw_writer *writer)
{
	struct firefox *firefox = writer->state;
	if (firefox->begun)
		tw_slices_finish(&firefox->slices);
	if (!tw_grow(&firefox->local_frames, &firefox->local_room, firefox->frames.count + 1,
	             sizeof *firefox->local_frames))
		return result(firefox, TW_ERR_MEMORY);
	put_all(firefox);
	return result(firefox, 0);
}

static void close_firefox(struct tw_writer *writer)
{
	struct firefox *firefox = writer->state;
	if (firefox->begun)
		tw_slices_free(&firefox->slices);
	tw_frames_free(&firefox->frames);
	tw_spool_free(&firefox->spool);
	free(firefox->nodes);
	tw_map_free(&firefox->node_map);
	free(firefox->strings);
	tw_map_free(&firefox->string_map);
	free(firefox->tracks);
	free(firefox->local_frames);
	tw_args_free(&firefox->args);
	tw_text_free(&firefox->line.text);
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
    .open = open_firefox,
    .write = write_firefox,
    .finish = finish_firefox,
    .close = close_firefox,
};
