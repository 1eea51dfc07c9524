/* perfetto.c - events to Perfetto's protobuf traces, which its UI and trace processor open.
 *
 * Source: protos/perfetto/trace of Perfetto's sources. What is ours to decide:
 * - One packet sequence; names are interned. Now and then the sequence begins anew, so that a file without its
 *   beginning, or with a piece missing, is readable from there on.
 * - Slices are begins and ends that nest: an end that closes a slice further down closes those above it too, which is
 *   what readers make of nameless ends. A slice that is open when the trace ends has no end.
 * - Packets stand in the order of each track; the reader sorts them by time.
 * - Times are the trace's own, in nanoseconds, and called boot time: the clock that readers take for granted.
 * - A flow event is one of the older kind, which is no slice, an async event a slice of a track of its id, a series of
 *   a counter a track, called as Perfetto calls it that reads the trace itself.
 * - Switches, wake-ups, frequencies and idle states of CPUs are ftrace's, samples with a stack are perf's. What the
 *   format has no kind for is an instant, and its category says what it was. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto/perfetto.h"

#include "base/inline.h"
#include "base/memory/memory.h"
#include "core/dictionary.h"
#include "export/targets.h"
#include "export/text/args.h"

#include <stdlib.h>
#include <string.h>

enum { THREAD_COST = 400 /* bytes of a thread, about */ };

/* How one of the event's numbers is written. */
enum form { NOT_WRITTEN, NUMBER, POINTER };

struct annotation {
	enum form form;
	const char *key;
};

/* What each kind becomes. */
struct packet {
	void (*take)(struct perfetto *perfetto, const struct tw_event *event);
	unsigned type;
	const char *category; /* where the event has none */
	bool approximated;
	struct annotation value, id;
};

static void take_instant(struct perfetto *perfetto, const struct tw_event *event);
static void take_async(struct perfetto *perfetto, const struct tw_event *event);
static void take_flow(struct perfetto *perfetto, const struct tw_event *event);
static void take_counter(struct perfetto *perfetto, const struct tw_event *event);
static void take_sample(struct perfetto *perfetto, const struct tw_event *event);
static void take_log(struct perfetto *perfetto, const struct tw_event *event);

#define STAND_IN(category_) take_instant, .type = TYPE_INSTANT, .approximated = true, .category = (category_)

static const struct packet packets[TW_EVENT_KINDS] = {
    [TW_SLICE_BEGIN] = {.take = NULL}, /* all of slices is told by the hooks */
    [TW_SLICE_END] = {.take = NULL},
    [TW_SLICE_COMPLETE] = {.take = NULL},
    [TW_INSTANT] = {take_instant, .type = TYPE_INSTANT},
    [TW_COUNTER] = {take_counter, .type = TYPE_COUNTER},
    [TW_ASYNC_BEGIN] = {take_async, .type = TYPE_SLICE_BEGIN},
    [TW_ASYNC_INSTANT] = {take_async, .type = TYPE_INSTANT},
    [TW_ASYNC_END] = {take_async, .type = TYPE_SLICE_END},
    [TW_FLOW_BEGIN] = {take_flow, .category = "flow"},
    [TW_FLOW_STEP] = {take_flow, .category = "flow"},
    [TW_FLOW_END] = {take_flow, .category = "flow"},
    [TW_SWITCH] = {.take = tw_perfetto_take_switch},
    [TW_WAKEUP] = {.take = tw_perfetto_take_wakeup},
    [TW_STACK_SAMPLE] = {.take = take_sample, .approximated = true},
    [TW_CPU_SAMPLE] = {.take = take_sample, .approximated = true},
    [TW_ALLOCATION_SAMPLE] = {STAND_IN("sample"), .value = {NUMBER, "bytes"}, .id = {NUMBER, "count"}},
    [TW_LOG] = {take_log, .type = TYPE_INSTANT, .category = "log", .value = {NUMBER, "severity"}},
    [TW_OBJECT] = {STAND_IN("object"), .value = {NUMBER, "type"}, .id = {POINTER, "koid"}},
    [TW_BLOB] = {STAND_IN("blob"), .value = {NUMBER, "size"}, .id = {NUMBER, "type"}},
    [TW_INSTRUCTIONS] = {STAND_IN("instructions"), .value = {NUMBER, "count"}, .id = {POINTER, "address"}},
    [TW_LOST] = {take_instant, .type = TYPE_INSTANT, .category = "lost", .value = {NUMBER, "bytes"}},
    [TW_METADATA] = {STAND_IN("metadata")},
};

#undef STAND_IN

/* Begins the sequence of interned data anew from time to time, because a reader may not have the beginning any more. */
static void reset_now_and_then(struct perfetto *perfetto)
{
	uint64_t at = tw_output_position(&perfetto->writer->out);
	if (at - perfetto->reset_at < PERFETTO_RESET_BYTES && perfetto->tracks.children.count < PERFETTO_RESET_TRACKS)
		return;
	perfetto->reset++;
	perfetto->reset_at = at;
	tw_map_clear(&perfetto->tracks.children);
}

/* What a clock says at the start of the trace. */
static void put_time(struct tw_proto *proto, unsigned clock, uint64_t time)
{
	size_t begin = tw_proto_begin(proto, SNAPSHOT_CLOCKS);
	tw_proto_uint(proto, CLOCK_ID, clock);
	tw_proto_uint(proto, CLOCK_TIMESTAMP, time);
	tw_proto_end(proto, begin);
}

static void put_clock(struct perfetto *perfetto)
{
	const struct tw_clock *clock = tw_reader_clock(perfetto->reader);
	uint64_t day = tw_time_of_day(clock, clock->start_ns);
	put_time(&perfetto->event, BUILTIN_BOOTTIME, clock->start_ns);
	if (day)
		put_time(&perfetto->event, BUILTIN_REALTIME, day);
	tw_proto_uint(&perfetto->event, SNAPSHOT_PRIMARY, BUILTIN_BOOTTIME);
	tw_perfetto_put_packet(perfetto, PACKET_CLOCK_SNAPSHOT, &clock->start_ns);
}

/* ---- Events of tracks. ---- */

static void add_annotation(struct perfetto *perfetto, const struct annotation *annotation, uint64_t value)
{
	if (annotation->form != NOT_WRITTEN)
		tw_perfetto_add_own(perfetto, annotation->key,
		                    annotation->form == POINTER ? ANNOTATION_POINTER : ANNOTATION_UINT, value);
}

static void add_type(struct perfetto *perfetto, unsigned type, uint64_t uuid)
{
	tw_proto_uint(&perfetto->event, EVENT_TYPE, type);
	tw_proto_uint(&perfetto->event, EVENT_TRACK_UUID, uuid);
}

/* The name and category; where the kind never has any, what it is. */
static void add_names(struct perfetto *perfetto, const struct tw_event *event)
{
	const char *category = packets[event->kind].category;
	if (event->name)
		tw_proto_uint(&perfetto->event, EVENT_NAME_IID, tw_perfetto_event_name(perfetto, event->name));
	else if (event->kind > TW_FLOW_END)
		tw_proto_text(&perfetto->event, EVENT_NAME, tw_event_kind_name(event->kind));
	if (event->category)
		tw_proto_uint(&perfetto->event, EVENT_CATEGORY_IIDS, tw_perfetto_category(perfetto, event->category));
	else if (category)
		tw_proto_text(&perfetto->event, EVENT_CATEGORIES, category);
}

static void add_numbers(struct perfetto *perfetto, const struct tw_event *event)
{
	const struct packet *packet = &packets[event->kind];
	if (event->kind <= TW_SLICE_COMPLETE)
		return;
	add_annotation(perfetto, &packet->value, event->value);
	add_annotation(perfetto, &packet->id, event->id);
}

/* The same as the two above for an event that has both names, as most have. */
static void add_named(struct perfetto *perfetto, const struct tw_event *event, unsigned type, uint64_t uuid)
{
	enum { NUMBERS = 4 };
	struct tw_proto *proto = &perfetto->event;
	uint64_t name = tw_perfetto_event_name(perfetto, event->name);
	uint64_t category = tw_perfetto_category(perfetto, event->category);
	if (!tw_proto_room(proto, NUMBERS * TW_PROTO_FIELD_MAX))
		return;
	uint8_t *p = proto->bytes + proto->length;
	p = tw_proto_put_uint(tw_proto_put_uint(p, EVENT_TYPE, type), EVENT_TRACK_UUID, uuid);
	p = tw_proto_put_uint(tw_proto_put_uint(p, EVENT_NAME_IID, name), EVENT_CATEGORY_IIDS, category);
	proto->length = (size_t)(p - proto->bytes);
}

/* All but what is the kind's own. */
static void add_event(struct perfetto *perfetto, const struct tw_event *event, unsigned type, uint64_t uuid)
{
	if (event->name && event->category) {
		add_named(perfetto, event, type, uuid);
	} else {
		add_type(perfetto, type, uuid);
		add_names(perfetto, event);
	}
	add_numbers(perfetto, event);
	if (event->argument_count)
		tw_perfetto_add_arguments(perfetto, event, 0);
	if (event->flags)
		tw_perfetto_add_flag_words(perfetto, event->kind, event->flags);
}

static void put_event(struct perfetto *perfetto, uint64_t time)
{
	tw_perfetto_put_packet(perfetto, PACKET_TRACK_EVENT, &time);
}

/* ---- Events of which all is a type, a track, and maybe a name and a category that were written, as most are: of their
 * parts, those that come again are ready. ---- */

enum { PLAIN_MAX = 64 };

/* Begins the packet of one, up to its type; *event: what follows its size. */
static inline uint8_t *begin_plain(struct perfetto *perfetto, unsigned type, uint64_t time, uint8_t **event)
{
	static const uint8_t middle[8] = {PACKET_SEQUENCE_ID << 3,
	                                  PERFETTO_SEQUENCE,
	                                  PACKET_SEQUENCE_FLAGS << 3,
	                                  FLAG_NEEDS_STATE,
	                                  PACKET_TRACK_EVENT << 3 | TW_PROTO_DELIMITED,
	                                  0,
	                                  EVENT_TYPE << 3,
	                                  0};
	enum { TIME_AT = PERFETTO_BODY_AT + 1, EVENT_AT = 6, TYPE_AT = 7 };
	uint8_t *start = (uint8_t *)tw_output_room(&perfetto->writer->out, PLAIN_MAX);
	start[0] = TRACE_PACKET << 3 | TW_PROTO_DELIMITED;
	start[PERFETTO_BODY_AT] = PACKET_TIMESTAMP << 3;
	uint8_t *p = tw_proto_digits(start + TIME_AT, time);
	memcpy(p, middle, sizeof middle);
	p[TYPE_AT] = (uint8_t)type;
	*event = p + EVENT_AT;
	return p + sizeof middle;
}

static inline void end_plain(struct perfetto *perfetto, uint8_t *event, const uint8_t *end)
{
	struct tw_output *out = &perfetto->writer->out;
	uint8_t *start = (uint8_t *)out->buffer + out->used;
	event[-1] = (uint8_t)(end - event);
	start[PERFETTO_SIZE_AT] = (uint8_t)(end - start - PERFETTO_BODY_AT);
	tw_output_took(out, (size_t)(end - start));
}

/* Whether an event is such, with a name and a category. The first packet after a reset is none. */
static inline bool is_plain(const struct perfetto *perfetto, const struct tw_event *event)
{
	uint32_t reset = perfetto->reset;
	return event->name && event->category && !event->argument_count && !event->flags &&
	       perfetto->said_reset == reset && perfetto->written.names[event->name].event == reset &&
	       perfetto->written.names[event->category].category == reset && !perfetto->all_names[event->name].file;
}

static inline void put_plain(struct perfetto *perfetto, const struct tw_event *event, unsigned type,
                             uint64_t uuid_field)
{
	uint8_t *begin, *p = begin_plain(perfetto, type, event->time, &begin);
	p = tw_proto_put_packed(p, uuid_field);
	p = tw_proto_put_packed(p, perfetto->written.names[event->name].event_field);
	end_plain(perfetto, begin, tw_proto_put_packed(p, perfetto->written.names[event->category].category_field));
}

TW_NOINLINE void put_begin(struct perfetto *perfetto, const struct tw_event *event, uint64_t uuid)
{
	add_event(perfetto, event, TYPE_SLICE_BEGIN, uuid);
	uint64_t location = tw_perfetto_location(perfetto, event->name);
	if (location)
		tw_proto_uint(&perfetto->event, EVENT_SOURCE_LOCATION_IID, location);
	put_event(perfetto, event->time);
}

static inline uint32_t begin_slice(void *context, const struct tw_event *event, uint32_t caller)
{
	struct perfetto *perfetto = context;
	(void)caller;
	const uint32_t lane = perfetto->slices.calls.lane;
	const struct perfetto_track *track = tw_perfetto_track(perfetto, event->track);
	if (lane)
		put_begin(perfetto, event, tw_perfetto_lane_track(perfetto, event->track, lane));
	else if (is_plain(perfetto, event))
		put_plain(perfetto, event, TYPE_SLICE_BEGIN, track->uuid_field);
	else
		put_begin(perfetto, event, track->uuid);
	return TW_ROW_FIRST;
}

static inline bool is_plain_end(const struct perfetto *perfetto, const struct tw_slice_end *end)
{
	return end->how == TW_CALL_ENDED && perfetto->said_reset == perfetto->reset &&
	       (!end->event || (!end->event->argument_count && !end->event->flags));
}

TW_NOINLINE void put_end(struct perfetto *perfetto, const struct tw_slice_end *end, uint64_t uuid)
{
	add_type(perfetto, TYPE_SLICE_END, uuid);
	if (end->event) {
		tw_perfetto_add_arguments(perfetto, end->event, 0);
		tw_perfetto_add_flag_words(perfetto, TW_SLICE_END, end->event->flags);
	} else if (end->how == TW_CALL_UNWOUND) {
		tw_perfetto_add_flag_words(perfetto, TW_SLICE_END, TW_FLAG_UNWOUND);
	}
	put_event(perfetto, end->time);
}

/* Slices without an end have none, but inside of a complete one that ends with its thread: readers end the innermost
 * slice by what is its end. */
static void hold_open(struct perfetto *perfetto, uint32_t track)
{
	perfetto->open = perfetto->open_track == track ? perfetto->open + 1 : 1;
	perfetto->open_track = track;
}

static void end_open(struct perfetto *perfetto, const struct tw_slice_end *around, uint64_t uuid)
{
	const struct tw_slice_end end = {.time = around->time, .how = TW_CALL_UNWOUND};
	for (; perfetto->open && perfetto->open_track == around->track; perfetto->open--)
		put_end(perfetto, &end, uuid);
	perfetto->open = 0;
}

TW_NOINLINE void end_other(struct perfetto *perfetto, const struct tw_slice_end *end)
{
	if (end->how == TW_CALL_OPEN) {
		hold_open(perfetto, end->track);
		return;
	}
	const struct perfetto_track *track = tw_perfetto_track(perfetto, end->track);
	if (!end->lane && perfetto->open)
		end_open(perfetto, end, track->uuid);
	put_end(perfetto, end, end->lane ? tw_perfetto_lane_track(perfetto, end->track, end->lane) : track->uuid);
}

TW_INLINE void end_slice(void *context, const struct tw_slice_end *end)
{
	struct perfetto *perfetto = context;
	if (end->lane || perfetto->open || !is_plain_end(perfetto, end)) {
		end_other(perfetto, end);
		return;
	}
	uint8_t *begin, *p = begin_plain(perfetto, TYPE_SLICE_END, end->time, &begin);
	end_plain(perfetto, begin, tw_proto_put_packed(p, tw_perfetto_track(perfetto, end->track)->uuid_field));
}

static inline uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	const struct tw_slices *slices = tw_slices_of(calls);
	(void)name;
	return begin_slice(slices->context, slices->event, caller->row);
}

static inline void over(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                        enum tw_call_end how)
{
	const struct tw_slice_end end = tw_slice_end_of(calls, frame, frame->begin + call->duration, how, NULL);
	end_slice(tw_slices_of(calls)->context, &end);
}

static inline void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                         enum tw_call_end how)
{
	const struct tw_slices *slices = tw_slices_of(calls);
	const struct tw_slice_end end =
	    tw_slice_end_of(calls, frame, frame->begin + call->duration, how, slices->event);
	end_slice(slices->context, &end);
}

static const struct tw_slice_hooks slice_hooks = {.begin = begin_slice, .end = end_slice};

/* What it happened to: 0 is the whole trace. */
static uint64_t scope_of(struct perfetto *perfetto, const struct tw_event *event)
{
	if (event->flags & TW_FLAG_GLOBAL)
		return 0;
	const struct perfetto_track *track = tw_perfetto_track(perfetto, event->track);
	return event->flags & TW_FLAG_PROCESS && track->process ? track->process : track->uuid;
}

static void take_instant(struct perfetto *perfetto, const struct tw_event *event)
{
	uint64_t uuid = scope_of(perfetto, event);
	if (event->kind == TW_INSTANT && is_plain(perfetto, event)) {
		put_plain(perfetto, event, TYPE_INSTANT, perfetto->tracks.items[event->track].uuid_field);
		return;
	}
	add_event(perfetto, event, TYPE_INSTANT, uuid);
	if (event->kind == TW_ALLOCATION_SAMPLE && event->other)
		tw_proto_uint(&perfetto->event, EVENT_CALLSTACK_IID, tw_perfetto_callstack(perfetto, event->other));
	put_event(perfetto, event->time);
}

static void take_async(struct perfetto *perfetto, const struct tw_event *event)
{
	uint64_t uuid = tw_perfetto_async_track(perfetto, event);
	add_event(perfetto, event, packets[event->kind].type, uuid);
	put_event(perfetto, event->time);
}

/* Readers bind it to the slice around it, or the next, by a category, a name and an id: none is made for it. */
static void take_flow(struct perfetto *perfetto, const struct tw_event *event)
{
	struct tw_proto *proto = &perfetto->event;
	tw_proto_uint(proto, EVENT_TRACK_UUID, tw_perfetto_track(perfetto, event->track)->uuid);
	add_names(perfetto, event);
	if (event->argument_count)
		tw_perfetto_add_arguments(perfetto, event, 0);
	size_t begin = tw_proto_begin(proto, EVENT_LEGACY_EVENT);
	tw_proto_uint(proto, LEGACY_PHASE, (uint64_t) "stf"[event->kind - TW_FLOW_BEGIN]);
	tw_proto_uint(proto, LEGACY_UNSCOPED_ID, event->id);
	if (event->kind == TW_FLOW_END && event->other != TW_FLOW_NEXT)
		tw_proto_uint(proto, LEGACY_BIND_TO_ENCLOSING, 1);
	tw_proto_end(proto, begin);
	put_event(perfetto, event->time);
}

static void add_series(struct tw_proto *event, const struct tw_argument *argument)
{
	if (argument->type == TW_ARG_DOUBLE)
		tw_proto_double(event, EVENT_DOUBLE_COUNTER_VALUE, argument->value.d);
	else if (argument->type != TW_ARG_INT && argument->value.u > INT64_MAX)
		tw_proto_double(event, EVENT_DOUBLE_COUNTER_VALUE, (double)argument->value.u);
	else
		tw_proto_uint(event, EVENT_COUNTER_VALUE, argument->value.u);
}

/* A frequency or an idle state of a CPU is ftrace's; other values of the counter are its own. */
static void take_counter(struct perfetto *perfetto, const struct tw_event *event)
{
	struct perfetto_cpu cpu;
	bool of_cpu = tw_perfetto_is_cpu(perfetto, event, &cpu) && tw_perfetto_is_counter_of_cpu(perfetto, event, &cpu);
	if (of_cpu)
		tw_perfetto_put_cpu(perfetto, event->time, &cpu);
	for (unsigned i = 0; i < event->argument_count; i++) {
		const struct tw_argument *argument = &perfetto->arguments[event->first_argument + i];
		if (of_cpu && (i == cpu.number_at || i == cpu.value_at))
			continue;
		if (!tw_args_is_number(argument)) {
			tw_count_loss(perfetto->writer, "counter value", false);
			continue;
		}
		uint64_t uuid = tw_perfetto_counter_track(perfetto, event, argument->name);
		add_type(perfetto, TYPE_COUNTER, uuid);
		add_series(&perfetto->event, argument);
		put_event(perfetto, event->time);
	}
}

/* The first argument is the message. */
static void take_log(struct perfetto *perfetto, const struct tw_event *event)
{
	const struct tw_argument *argument = event->argument_count ? &perfetto->arguments[event->first_argument] : NULL;
	bool text = argument && (argument->type == TW_ARG_TEXT || argument->type == TW_ARG_BYTES);
	uint64_t uuid = scope_of(perfetto, event);
	add_type(perfetto, TYPE_INSTANT, uuid);
	add_names(perfetto, event);
	if (event->value)
		add_numbers(perfetto, event);
	if (text) {
		size_t size = argument->size < PERFETTO_VALUE_MAX ? (size_t)argument->size : PERFETTO_VALUE_MAX;
		uint64_t body = tw_perfetto_log_body(perfetto, argument->value.bytes, size);
		if (size < argument->size)
			tw_count_loss(perfetto->writer, "long argument", true);
		size_t begin = tw_proto_begin(&perfetto->event, EVENT_LOG_MESSAGE);
		tw_proto_uint(&perfetto->event, LOG_BODY_IID, body);
		tw_proto_end(&perfetto->event, begin);
	}
	tw_perfetto_add_arguments(perfetto, event, text);
	put_event(perfetto, event->time);
}

/* ---- Samples. ---- */

/* How many addresses the arguments begin with. */
static size_t count_addresses(const struct tw_argument *arguments, size_t count)
{
	size_t addresses = 0;
	while (addresses < count && arguments[addresses].type == TW_ARG_POINTER)
		addresses++;
	return addresses;
}

static void take_sample(struct perfetto *perfetto, const struct tw_event *event)
{
	struct tw_proto *proto = &perfetto->event;
	const struct tw_argument *arguments =
	    event->argument_count ? perfetto->arguments + event->first_argument : NULL;
	const struct perfetto_track *track = tw_perfetto_track(perfetto, event->track);
	uint64_t stack = tw_perfetto_callstack(perfetto, event->other);
	size_t addresses = count_addresses(arguments, event->argument_count);
	if (!stack && addresses)
		stack = tw_perfetto_addresses(perfetto, arguments, addresses);
	tw_proto_uint(proto, SAMPLE_CPU, tw_perfetto_cpu(perfetto, event->cpu));
	tw_proto_uint(proto, SAMPLE_PID, track->pid);
	tw_proto_uint(proto, SAMPLE_TID, track->tid);
	if (stack)
		tw_proto_uint(proto, SAMPLE_CALLSTACK_IID, stack);
	tw_perfetto_put_packet(perfetto, PACKET_PERF_SAMPLE, &event->time);
}

/* ---- The file. ---- */

static int begin(struct perfetto *perfetto, const struct tw_reader *reader)
{
	perfetto->begun = true;
	perfetto->reader = reader;
	perfetto->reset = 1;
	put_clock(perfetto);
	return tw_slices_init(&perfetto->slices, perfetto->writer, reader, &slice_hooks, perfetto);
}

static int grow(struct perfetto *perfetto)
{
	int status = tw_perfetto_names_grow(perfetto);
	return status ? status : tw_perfetto_tracks_grow(perfetto);
}

static void take(struct perfetto *perfetto, const struct tw_event *event)
{
	const struct packet *packet = &packets[event->kind];
	reset_now_and_then(perfetto);
	tw_slices_take(&perfetto->slices, event, enter, over, leave);
	if (packet->take)
		packet->take(perfetto, event);
	if (packet->approximated)
		tw_approximate(perfetto->writer, event->kind);
}

static int open_perfetto(struct tw_writer *writer)
{
	struct perfetto *perfetto = calloc(1, sizeof *perfetto);
	writer->state = perfetto;
	if (!perfetto)
		return tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory");
	perfetto->writer = writer;
	return 0;
}

static int write_perfetto(struct tw_writer *writer, const struct tw_reader *reader, const struct tw_batch *batch)
{
	struct perfetto *perfetto = writer->state;
	perfetto->dictionary = tw_reader_dictionary(reader);
	uint32_t names;
	perfetto->arguments = batch->arguments;
	perfetto->all_names = tw_dictionary_all_names(perfetto->dictionary, &names);
	int status = perfetto->begun ? 0 : begin(perfetto, reader);
	if (!status)
		status = grow(perfetto);
	for (size_t i = 0; i < batch->count && !status; i++) {
		take(perfetto, &batch->events[i]);
		status = perfetto->failed ? TW_ERR_MEMORY : 0;
	}
	return status < 0 ? tw_writer_fail(writer, status, "%s", tw_status_text(status)) : 0;
}

static int finish_perfetto(struct tw_writer *writer)
{
	struct perfetto *perfetto = writer->state;
	if (perfetto->begun) {
		perfetto->failed |= tw_slices_finish(&perfetto->slices) < 0;
		tw_perfetto_tracks_finish(perfetto);
	}
	return perfetto->failed ? tw_writer_fail(writer, TW_ERR_MEMORY, "out of memory") : 0;
}

static void close_perfetto(struct tw_writer *writer)
{
	struct perfetto *perfetto = writer->state;
	if (perfetto->begun)
		tw_slices_free(&perfetto->slices);
	tw_proto_free(&perfetto->interned);
	tw_proto_free(&perfetto->event);
	free(perfetto->written.names);
	free(perfetto->written.frames);
	free(perfetto->written.stacks);
	tw_perfetto_tracks_free(perfetto);
	free(perfetto);
	writer->state = NULL;
}

static const char *const extensions[] = {".pftrace", ".perfetto-trace", NULL};

const struct tw_target tw_target_perfetto = {
    .name = "perfetto",
    .extensions = extensions,
    .order = TW_ORDER_TIME,
    .one_stack = true,
    .thread_cost = THREAD_COST,
    .open = open_perfetto,
    .write = write_perfetto,
    .finish = finish_perfetto,
    .close = close_perfetto,
};
