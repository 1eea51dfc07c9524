/* chrome.c - events to Chrome's trace event JSON, which Perfetto's UI, Chrome, Tracy and speedscope open.
 *
 * Source: the "Trace Event Format" document. What is ours to decide:
 * - Times are microseconds with three decimals from the start of the trace: readers take them for doubles, and a time
 *   of day would lose its nanoseconds. otherData.clock_start_ns has the time of the start, wall_start_ns its time of
 *   day.
 * - Slices are "X" events in the order of their begins. An event waits in a ring until all before it are complete;
 *   where the ring is full the open slice at its head goes as "B" and its end later as "E". A "B" without an "E" is a
 *   slice that was open when the trace ended, and nothing else is.
 * - Arguments are "args"; those of a slice's end are in "args":{"end":{...}}. "cpu" is there in the events at which a
 *   thread's CPU is not the one of its event before (the first of each thread, and migrations): most events need no
 *   args. A slice that was ended by
 *   the end of one around it (exceptions and longjmp leave no exits) has "unwound". A complete slice tells its end
 *   before: what begins inside of it may go on.
 * - Ids of async events are local to the process (the newest Perfetto takes plain ids for all processes), those of
 *   flows and counters are not. What the format has no kind for is an instant, and its category says what it was.
 * - Samples of stacks are "P" events, whose stacks stand once in "stackFrames". What is measured by CPU time or by
 *   allocations is such an event, too, by its category, and "args" have its numbers.
 * - Scheduling stands in "systemTraceEvents" (chrome_system.c); an object that says no more than the name of a
 *   process or thread is that name.
 * - A pointer or koid whose object is known is a text, "0x1234 (name)". */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome/chrome.h"

#include "base/inline.h"
#include "core/filter/filter.h"
#include "core/owners.h"
#include "export/targets.h"

#include <trackway/version.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many frames may be open at once: 24 bytes each, and up to 40 more where their ends do not fit. */
enum { MEMORY_PER_FRAME = 128, THREAD_COST = 200 /* bytes of a thread, about */ };

static int take_begin(const struct chrome_context *context, const struct tw_event *event, uint32_t track);
static int take_end(const struct chrome_context *context, const struct tw_event *event, uint32_t track);
static int take_complete(const struct chrome_context *context, const struct tw_event *event, uint32_t track);
static int take_other(const struct chrome_context *context, const struct tw_event *event, uint32_t track);
static int take_object(const struct chrome_context *context, const struct tw_event *event, uint32_t track);
static int take_log(const struct chrome_context *context, const struct tw_event *event, uint32_t track);

#define ASYNC take_other, .category = "async", .id = {CHROME_LOCAL_ID, NULL}
#define FLOW take_other, .category = "flow", .root = ",\"bp\":\"e\"", .id = {CHROME_ROOT_ID, NULL}
#define INSTANT take_other, .phase = 'i', .scope = true
#define STAND_IN(category_) INSTANT, .approximated = true, .category = (category_)
#define SAMPLE(category_) take_other, .phase = 'P', .category = (category_), .other = {CHROME_FRAME, NULL}

static const struct chrome_shape event_types[TW_EVENT_KINDS] = {
    [TW_SLICE_BEGIN] = {take_begin, .phase = 'X', .open = true, .flags = TW_FLAG_CLIPPED | TW_FLAG_UNCERTAIN,
                        .cpu = true},
    [TW_SLICE_END] = {take_end, .phase = 'E', .flags = TW_FLAG_CLIPPED | TW_FLAG_TAIL | TW_FLAG_UNCERTAIN, .cpu = true},
    [TW_SLICE_COMPLETE] = {take_complete, .phase = 'X', .flags = TW_FLAG_CLIPPED | TW_FLAG_TAIL | TW_FLAG_UNWOUND,
                           .cpu = true},
    [TW_INSTANT] = {INSTANT, .flags = TW_FLAG_UNCERTAIN, .cpu = true},
    [TW_COUNTER] = {take_other, .phase = 'C', .id = {CHROME_ROOT_ID, NULL}},
    [TW_ASYNC_BEGIN] = {ASYNC, .phase = 'b'},
    [TW_ASYNC_INSTANT] = {ASYNC, .phase = 'n'},
    [TW_ASYNC_END] = {ASYNC, .phase = 'e'},
    [TW_FLOW_BEGIN] = {FLOW, .phase = 's'},
    [TW_FLOW_STEP] = {FLOW, .phase = 't'},
    [TW_FLOW_END] = {FLOW, .phase = 'f'},
    [TW_SWITCH] = {tw_chrome_take_scheduling, .unmet = true},
    [TW_WAKEUP] = {tw_chrome_take_scheduling, .unmet = true},
    [TW_STACK_SAMPLE] = {SAMPLE("stack-sample"), .value = {CHROME_PLAIN_NUMBER, "weight"},
                         .id = {CHROME_NOT_ZERO, "wall_ns"}},
    [TW_CPU_SAMPLE] = {SAMPLE("cpu-sample"), .value = {CHROME_PLAIN_NUMBER, "cpu_ns"}, .own_category = true},
    [TW_ALLOCATION_SAMPLE] = {SAMPLE("allocation-sample"), .value = {CHROME_PLAIN_NUMBER, "bytes"},
                              .id = {CHROME_PLAIN_NUMBER, "count"}, .own_category = true},
    [TW_LOG] = {take_log, .phase = 'i', .scope = true, .unmet = true, .category = "log",
                .value = {CHROME_PLAIN_NUMBER, "severity"}},
    [TW_OBJECT] = {take_object, .phase = 'i', .scope = true, .unmet = true, .approximated = true, .category = "object",
                   .value = {CHROME_PLAIN_NUMBER, "type"}, .id = {CHROME_HEX, "koid"}},
    [TW_BLOB] = {STAND_IN("blob"), .flags = TW_FLAG_PARTIAL, .value = {CHROME_PLAIN_NUMBER, "size"},
                 .id = {CHROME_PLAIN_NUMBER, "type"}},
    [TW_INSTRUCTIONS] = {STAND_IN("instructions"), .value = {CHROME_PLAIN_NUMBER, "count"},
                         .id = {CHROME_HEX, "address"}},
    [TW_LOST] = {INSTANT, .category = "lost", .value = {CHROME_PLAIN_NUMBER, "bytes"}},
    [TW_METADATA] = {STAND_IN("metadata")},
};

#undef ASYNC
#undef FLOW
#undef INSTANT
#undef STAND_IN
#undef SAMPLE

/* ---- Names. ---- */

/* A JSON string, which is the piece's `part`, and the place in the source: "fib","loc":"fib.c:12" */
static void render_name(struct tw_line *line, const struct tw_name *name, struct tw_rendered *piece)
{
	size_t begin = line->text.length;
	tw_names_json(line, name, piece);
	piece->part = (uint32_t)(line->text.length - begin);
	if (!name->file)
		return;
	tw_line_text(line, ",\"loc\":\"");
	tw_line_escaped(line, name->file, tw_name_cut(strlen(name->file), piece));
	if (name->line) {
		tw_line_text(line, ":");
		tw_line_u64(line, name->line);
	}
	tw_line_text(line, "\"");
}

/* ---- Events. ---- */

static char scope_of(uint16_t flags)
{
	if (flags & TW_FLAG_GLOBAL)
		return 'g';
	return flags & TW_FLAG_PROCESS ? 'p' : 't';
}

/* The number of a name where its piece is kept. Otherwise 0, and the piece's bytes, of which `part` is taken, are in
 * the text. */
TW_NOINLINE uint32_t render_other(const struct chrome_context *context, uint32_t name, const char *key, bool whole)
{
	struct tw_names *names = &context->chrome->names;
	struct tw_line *line = &context->chrome->line;
	const struct tw_rendered *piece = tw_names_find(names, context->dictionary, name);
	if (piece->of)
		return name;
	tw_line_text(line, key);
	tw_line_add(line, tw_names_bytes(names, piece), whole ? piece->size : piece->part);
	return 0;
}

/* The same, inline where the name is rendered already: nearly all are. */
TW_INLINE uint32_t keep_name(const struct chrome_context *context, uint32_t name, const char *key, bool whole)
{
	const struct tw_names *names = &context->chrome->names;
	bool kept = name < context->name_count && tw_names_has(names, &context->names[name], name);
	return __builtin_expect(kept, 1) ? name : render_other(context, name, key, whole);
}

TW_NOINLINE void add_own_category(const struct chrome_context *context, const char *category)
{
	struct tw_line *line = &context->chrome->line;
	tw_line_text(line, ",\"cat\":\"");
	tw_line_text(line, category);
	tw_line_text(line, "\"");
}

/* Whether what comes next stands behind a text of the event: then it is text, too. */
static inline bool is_behind_text(const struct chrome_context *context)
{
	return context->chrome->line.text.length;
}

/* The name and category of a slot: numbers of names that are kept, or text. */
TW_INLINE void add_names(const struct chrome_context *context, const struct tw_event *event,
                         const struct chrome_shape *type, struct chrome_slot *slot)
{
	if (event->name) {
		slot->name = keep_name(context, event->name, ",\"name\":", true);
		slot->named = !slot->name;
	}
	if (event->category && !type->own_category)
		slot->category = keep_name(context, event->category, ",\"cat\":", false);
	else if (type->category && is_behind_text(context))
		add_own_category(context, type->category);
	else
		slot->of_kind = type->category;
}

static void add_scope(const struct chrome_context *context, struct chrome_slot *slot, char scope)
{
	struct tw_line *line = &context->chrome->line;
	if (!is_behind_text(context)) {
		slot->scope = scope;
		return;
	}
	tw_line_text(line, ",\"s\":\"");
	tw_line_add(line, &scope, 1);
	tw_line_text(line, "\"");
}

/* Members of the event beside those that all have. */
static void add_root(const struct chrome_context *context, const struct tw_event *event, struct chrome_slot *slot)
{
	const struct chrome_shape *type = &event_types[event->kind];
	struct tw_line *line = &context->chrome->line;
	if (type->scope)
		add_scope(context, slot, scope_of(event->flags));
	if (type->id.form == CHROME_ROOT_ID && (event->id || event->kind != TW_COUNTER)) {
		tw_line_text(line, ",\"id\":");
		tw_line_hex(line, event->id);
	} else if (type->id.form == CHROME_LOCAL_ID) {
		tw_line_text(line, event->flags & TW_FLAG_GLOBAL ? ",\"id2\":{\"global\":" : ",\"id2\":{\"local\":");
		tw_line_hex(line, event->id);
		tw_line_text(line, "}");
	}
	if (type->other.form == CHROME_FRAME)
		tw_chrome_add_frame(context->chrome, event->other);
	if (type->root && event->other != TW_FLOW_NEXT)
		tw_line_text(line, type->root);
}

/* Whether args have anything; of most slices they have nothing. */
static inline bool has_args(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	return event->kind > TW_SLICE_COMPLETE || event->argument_count ||
	       (context->has_cpu && context->chrome->tracks.items[track].cpu != event->cpu);
}

static inline void add_args(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                            const struct chrome_shape *type, size_t root_size)
{
	if (has_args(context, event, track))
		tw_chrome_args(context, event, track, type, root_size);
}

/* The slot of an event of some type, with the text of its names in the line where they are not kept. */
TW_INLINE struct chrome_slot *begin_slot(const struct chrome_context *context, const struct tw_event *event,
                                         uint32_t track, const struct chrome_shape *type)
{
	struct chrome_slot *place = tw_chrome_ring_next(context->chrome);
	struct chrome_slot slot = {
	    .time = event->time,
	    .duration = type->phase == 'X' ? event->value : 0,
	    .text = context->chrome->ring.text_tail,
	    .track = track,
	    .flags = event->flags & type->flags,
	    .kind = event->kind,
	    .phase = type->phase,
	    .open = type->open,
	};
	tw_line_clear(&context->chrome->line);
	add_names(context, event, type, &slot);
	*place = slot;
	return place;
}

/* Adds the slot with the line as its text: what is before root_size are members of the event. */
static inline void add_slot(const struct chrome_context *context, struct chrome_slot *slot, size_t root_size)
{
	const struct tw_text *text = &context->chrome->line.text;
	if (text->length) {
		slot->root_size = (uint32_t)root_size;
		slot->text_size = (uint32_t)text->length;
		slot->text = tw_chrome_ring_text(context->chrome, &context->writer->out, text->bytes, text->length);
	}
	tw_chrome_ring_add(context->chrome, &context->writer->out);
}

static int take_other(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	struct chrome_slot *slot = begin_slot(context, event, track, &event_types[event->kind]);
	add_root(context, event, slot);
	size_t root_size = context->chrome->line.text.length;
	add_args(context, event, track, &event_types[event->kind], root_size);
	add_slot(context, slot, root_size);
	if (event_types[event->kind].approximated)
		tw_approximate(context->writer, event->kind);
	return 0;
}

static int take_object(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	if (tw_chrome_take_name(context, event, track))
		return 0;
	if (!context->chrome->tracks.items[track].prefix_size)
		tw_chrome_meet_track(context->chrome, track);
	return take_other(context, event, track);
}

/* In a document that is written as it was read it stands where it stood. */
static int take_log(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	if (context->chrome->source.document)
		return tw_chrome_take_message(context, event, track);
	if (!context->chrome->tracks.items[track].prefix_size)
		tw_chrome_meet_track(context->chrome, track);
	return take_other(context, event, track);
}

TW_INLINE int take_slice(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                         const struct chrome_shape *type)
{
	struct chrome_slot *slot = begin_slot(context, event, track, type);
	size_t root_size = context->chrome->line.text.length;
	add_args(context, event, track, type, root_size);
	add_slot(context, slot, root_size);
	return 0;
}

static int take_complete(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	return take_slice(context, event, track, &event_types[TW_SLICE_COMPLETE]);
}

static int take_begin(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	struct chrome *chrome = context->chrome;
	struct tw_open_slices *open = &chrome->open[track];
	int status = tw_open_begin(open, &chrome->open_room, event->name, chrome->ring.tail);
	if (status == TW_ERR_LIMIT && tw_open_reclaim(chrome->open, chrome->open_tracks, open, &chrome->open_room))
		status = tw_open_begin(open, &chrome->open_room, event->name, chrome->ring.tail);
	if (status == TW_ERR_LIMIT) {
		tw_count_loss(context->writer, "slice beyond the memory limit", false);
		return 0;
	}
	if (status < 0)
		return status;
	return take_slice(context, event, track, &event_types[TW_SLICE_BEGIN]);
}

/* Adds the end of a slice whose begin has been written as "B". */
static void add_end(const struct chrome_context *context, const struct tw_event *event, uint32_t track, uint32_t name,
                    uint16_t flags, bool unwound)
{
	struct chrome *chrome = context->chrome;
	struct tw_event end = {.time = event->time, .name = name, .kind = TW_SLICE_END, .flags = event->flags};
	struct chrome_slot *slot = begin_slot(context, &end, track, &event_types[TW_SLICE_END]);
	slot->flags = flags;
	size_t root_size = chrome->line.text.length;
	if (!unwound) {
		tw_line_text(&chrome->line, "\"end\":{");
		size_t inside = chrome->line.text.length;
		add_args(context, event, track, &event_types[TW_SLICE_END], inside);
		if (chrome->line.text.length > inside)
			tw_line_text(&chrome->line, "}");
		else
			chrome->line.text.length = root_size;
	}
	add_slot(context, slot, root_size);
}

/* Ends a slice that still waits in the ring. */
static inline void complete(const struct chrome_context *context, const struct tw_event *event,
                            struct chrome_slot *slot, uint16_t flags)
{
	bool backwards = event->time < slot->time;
	if (backwards)
		tw_count_loss(context->writer, "end before begin", true);
	slot->duration = backwards ? 0 : event->time - slot->time;
	slot->flags |= flags;
	slot->open = false;
}

static void close_unwound(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	const struct tw_open_slice frame = tw_open_close(&context->chrome->open[track], &context->chrome->open_room);
	struct chrome_slot *slot = tw_chrome_ring_slot(context->chrome, frame.slot);
	if (slot)
		complete(context, event, slot, TW_FLAG_UNWOUND);
	else
		add_end(context, event, track, frame.name, TW_FLAG_UNWOUND, true);
}

/* Ends a slice. The arguments of its end go into the ring first, and that may write the slice itself: so it is looked
 * for once more. */
static void close_matched(const struct chrome_context *context, const struct tw_event *event, uint32_t track,
                          struct tw_open_slice frame)
{
	struct chrome *chrome = context->chrome;
	uint16_t flags = event->flags & event_types[TW_SLICE_END].flags;
	struct chrome_slot *slot = tw_chrome_ring_slot(chrome, frame.slot);
	uint32_t cpu = chrome->tracks.items[track].cpu;
	uint64_t text = 0;
	tw_line_clear(&chrome->line);
	if (slot) {
		add_args(context, event, track, &event_types[TW_SLICE_END], 0);
		if (chrome->line.text.length)
			text = tw_chrome_ring_text(chrome, &context->writer->out, chrome->line.text.bytes,
			                           chrome->line.text.length);
		slot = tw_chrome_ring_slot(chrome, frame.slot);
	}
	if (!slot) {
		chrome->tracks.items[track].cpu = cpu;
		add_end(context, event, track, frame.name, flags, false);
		return;
	}
	slot->end_text = text;
	slot->end_size = (uint32_t)chrome->line.text.length;
	complete(context, event, slot, flags);
}

static int take_end(const struct chrome_context *context, const struct tw_event *event, uint32_t track)
{
	struct tw_open_slices *open = &context->chrome->open[track];
	struct tw_open_slice frame;
	size_t place;
	if (context->chrome->tracks.items[track].begins_as_read) {
		add_end(context, event, track, event->name, event->flags & event_types[TW_SLICE_END].flags, false);
		return 0;
	}
	if (tw_open_take(open, event->name, &frame)) {
		struct chrome_slot *slot = tw_chrome_ring_slot(context->chrome, frame.slot);
		if (slot && !has_args(context, event, track))
			complete(context, event, slot, event->flags & event_types[TW_SLICE_END].flags);
		else
			close_matched(context, event, track, frame);
		return 0;
	}
	int status = tw_open_match(open, event->name, &place);
	if (status == TW_ERR_LIMIT)
		return 0; /* counted when it began */
	if (status < 0)
		return status;
	if (status == 0) {
		tw_count_loss(context->writer, "exit without entry", false);
		return 0;
	}
	while (open->depth > place + 1)
		close_unwound(context, event, track);
	close_matched(context, event, track, tw_open_close(open, &context->chrome->open_room));
	return 0;
}

/* ---- The file. ---- */

static void put_head(struct tw_output *out, const struct tw_reader *reader)
{
	tw_putf(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":\"trackway %s\"", tw_version());
	if (reader) {
		const struct tw_clock *clock = tw_reader_clock(reader);
		tw_putf(out, ",\"format\":\"%s\",\"clock_start_ns\":\"%llu\",\"ticks_per_second\":\"%llu\"",
		        tw_reader_format(reader), (unsigned long long)clock->start_ns,
		        (unsigned long long)clock->ticks_per_second);
		uint64_t day = tw_time_of_day(clock, clock->start_ns);
		if (day)
			tw_putf(out, ",\"wall_start_ns\":\"%llu\"", (unsigned long long)day);
		if (clock->has_cpu)
			tw_put_text(out, ",\"has_cpu\":true");
		if (reader->traits.sampled)
			tw_put_text(out, ",\"sampled\":true");
	}
	tw_put_text(out, "},");
}

/* The first event that comes with its text; NULL: none does. */
static const struct tw_argument *first_text(const struct tw_batch *batch)
{
	const struct tw_argument *text = NULL;
	for (size_t i = 0; i < batch->count && !text; i++)
		text = tw_chrome_text_of(&batch->events[i], batch->arguments);
	return text;
}

/* Whether what is written is a document as those that were read; one without events is, too. Of traces that are merged
 * that is not one with a time of day, which Trackway alone tells. */
static bool is_as_read(const struct tw_reader *reader, const struct tw_batch *batch)
{
	const struct tw_clock *clock = tw_reader_clock(reader);
	if (!reader->traits.document || (!reader->traits.frames && tw_time_of_day(clock, clock->start_ns)))
		return false;
	return first_text(batch) || (batch->count == 0 && reader->traits.document->length);
}

static void begin_document(struct chrome *chrome, const struct tw_reader *reader, const struct tw_batch *batch)
{
	const struct tw_argument *text = first_text(batch);
	struct tw_raw_text head = {0};
	if (text)
		memcpy(&head, text->value.bytes, sizeof head);
	chrome->source.document = is_as_read(reader, batch) ? reader->traits.document : NULL;
	chrome->source.unchanged = chrome->source.document && reader->traits.frames;
	chrome->source.read_frames = chrome->source.unchanged ? reader->traits.frames : NULL;
	chrome->source.apart = chrome->source.document && (!chrome->source.unchanged || reader->options.thread_count ||
	                                                   tw_filter_needed(&reader->options));
	chrome->start = chrome->source.unchanged ? head.base : tw_reader_clock(reader)->start_ns;
}

static int begin(struct chrome *chrome, struct tw_writer *writer, const struct tw_reader *reader,
                 const struct tw_batch *batch)
{
	chrome->begun = true;
	begin_document(chrome, reader, batch);
	chrome->open_room.limit = tw_memory_limit(reader) / MEMORY_PER_FRAME;
	tw_names_bound(&chrome->names, tw_memory_limit(reader));
	tw_names_bound(&chrome->args.names, tw_memory_limit(reader));
	if (chrome->source.document)
		tw_put_text(&writer->out, "{");
	else
		put_head(&writer->out, reader);
	tw_chrome_system_begin(chrome, reader);
	tw_chrome_frames_begin(chrome, reader);
	if (chrome->frames.aside < 0)
		tw_put_text(&writer->out, "\"traceEvents\":[");
	return chrome->ring.slots ? 0 : tw_chrome_ring_new(chrome, CHROME_SLOTS, CHROME_TEXT_RING);
}

static int grow(struct chrome *chrome, const struct tw_dictionary *dictionary)
{
	size_t tracks = tw_dictionary_tracks(dictionary);
	if (!tw_grow(&chrome->open, &chrome->open_tracks, tracks, sizeof *chrome->open))
		return TW_ERR_MEMORY;
	return tw_chrome_tracks_grow(chrome, dictionary);
}

static int take_all(const struct chrome_context *context, const struct tw_batch *batch)
{
	uint32_t track_count = tw_dictionary_tracks(context->dictionary);
	const struct chrome_track *tracks = context->chrome->tracks.items;
	int status = 0;
	for (size_t i = 0; i < batch->count && status >= 0; i++) {
		const struct tw_event *event = &batch->events[i];
		assert(event->kind < TW_EVENT_KINDS);
		uint32_t track = event->track < track_count ? event->track : 0;
		const struct tw_argument *text = tw_chrome_text_of(event, batch->arguments);
		if (text) {
			status = tw_chrome_take_text(context, event, track, text);
			continue;
		}
		if (__builtin_expect(!tracks[track].prefix_size && !event_types[event->kind].unmet, 0))
			tw_chrome_meet_track(context->chrome, track);
		status = event_types[event->kind].take(context, event, track);
	}
	if (context->chrome->line.failed || context->chrome->names.text.failed)
		status = TW_ERR_MEMORY;
	tw_count_losses(context->writer, "long name", true, context->chrome->names.cut);
	context->chrome->names.cut = 0;
	return status;
}

static uint8_t fill(char *text, const char *before, const char *word)
{
	char *end = stpcpy(stpcpy(stpcpy(text, before), word), "\"");
	assert(end - text < TW_NAMES_BEHIND);
	return (uint8_t)(end - text);
}

/* Names for the kinds that never have one. */
static void fill_kinds(struct chrome_kind *kinds)
{
	for (unsigned i = 0; i < TW_EVENT_KINDS; i++) {
		const char *name = i <= TW_FLOW_END ? "" : tw_event_kind_name(i), *category = event_types[i].category;
		kinds[i].name_size = fill(kinds[i].name, ",\"name\":\"", name);
		if (category)
			kinds[i].category_size = fill(kinds[i].category, ",\"cat\":\"", category);
	}
}

static int open_chrome(struct tw_writer *writer)
{
	struct chrome *chrome = calloc(1, sizeof *chrome);
	writer->state = chrome;
	if (!chrome)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	chrome->writer = writer;
	chrome->frames.aside = -1;
	chrome->system.spool.fd = -1;
	fill_kinds(chrome->kinds);
	tw_args_init(&chrome->args, writer);
	tw_names_init(&chrome->names, render_name);
	static const char *const own[] = {"end", "tail", "clipped", "partial", "unwound"};
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		tw_args_reserve(&chrome->args, own[i]);
	return 0;
}

static int write_chrome(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct chrome *chrome = writer->state;
	struct chrome_context context = {
	    .chrome = chrome,
	    .writer = writer,
	    .dictionary = tw_reader_dictionary(reader),
	    .arguments = batch->arguments,
	    .has_cpu = tw_reader_clock(reader)->has_cpu,
	};
	context.names = tw_dictionary_all_names(context.dictionary, &context.name_count);
	tw_names_meet(&chrome->names, context.dictionary);
	tw_names_meet(&chrome->args.names, context.dictionary);
	int status = chrome->begun ? 0 : begin(chrome, writer, reader, batch);
	if (!status)
		status = grow(chrome, context.dictionary);
	if (!status)
		status = take_all(&context, batch);
	return status < 0 ? tw_writer_fail(writer, status, "%s", tw_status_text(status)) : 0;
}

static int finish_chrome(struct tw_writer *writer)
{
	struct chrome *chrome = writer->state;
	if (!chrome->begun) {
		put_head(&writer->out, NULL);
		tw_put_text(&writer->out, "\"traceEvents\":[");
	}
	tw_chrome_ring_flush(chrome, &writer->out);
	if (chrome->dictionary && tw_chrome_tracks_grow(chrome, chrome->dictionary) < 0)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	tw_chrome_tracks_finish(chrome);
	tw_chrome_frames_end(chrome);
	if (chrome->dictionary)
		tw_count_owners(writer, chrome->dictionary);
	int error = tw_chrome_system_finish(chrome);
	if (error)
		return tw_writer_fail(writer, error == ENOMEM ? TW_ERR_MEMORY : TW_ERR_SYSTEM,
		                      "the temporary file for scheduling: %s", strerror(error));
	if (chrome->source.document)
		tw_put(&writer->out, chrome->source.document->bytes, chrome->source.document->length);
	tw_put_text(&writer->out, "}\n");
	return chrome->line.failed ? tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory") : 0;
}

static void close_chrome(struct tw_writer *writer)
{
	struct chrome *chrome = writer->state;
	tw_names_free(&chrome->names);
	tw_args_free(&chrome->args);
	tw_open_free_all(chrome->open, chrome->open_tracks);
	free(chrome->ring.slots);
	free(chrome->ring.text);
	tw_text_free(&chrome->line.text);
	tw_chrome_frames_free(chrome);
	tw_spool_free(&chrome->system.spool);
	tw_chrome_tracks_free(chrome);
	free(chrome);
	writer->state = NULL;
}

static const char *const extensions[] = {".json", NULL};

const struct tw_target tw_target_chrome = {
    .name = "chrome",
    .extensions = extensions,
    .order = TW_ORDER_TIME,
    .thread_cost = THREAD_COST,
    .texts = true,
    .open = open_chrome,
    .write = write_chrome,
    .finish = finish_chrome,
    .close = close_chrome,
};
