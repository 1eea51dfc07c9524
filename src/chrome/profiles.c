/* profiles.c - samples of stacks: V8's CPU profiles, as documents of their own (.cpuprofile) and in chunks among events
 * ("Profile", "ProfileChunk"), and "samples" with "stackFrames".
 *
 * Source: the protocol of Chrome's DevTools, "Profiler.Profile"; its tracing of "v8.cpu_profiler"; the "Trace Event
 * Format" document, "Global Samples". Times between samples are microseconds, and lines count from 0. A sample stands
 * for the time up to the next. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "chrome/chrome.h"
#include "chrome/frames.h"

#include <stdlib.h>
#include <string.h>

enum { PROFILE_COST = 256 };

/* Samples of one thread, of which the newest waits for the next. */
struct chrome_profile {
	uint64_t key;    /* 0: of a document that is a profile */
	int64_t ns;      /* of the newest sample, or of the start */
	int64_t clock;   /* of the last sample in the file, or of the start: where the next delta begins */
	int64_t covered; /* samples stand for all times until then */
	int64_t end_ns;  /* told by one of its chunks; INT64_MIN: by none */
	uint32_t track, stack;
	bool waits;
	bool keeps; /* its chunks: one stood before the event that tells its thread and its start */
	uint64_t offset;
};

/* A sample among others that are put in order. */
struct ordered_sample {
	int64_t ns;
	uint32_t order, stack;
};

struct chrome_profiles {
	struct chrome_frames frames;
	struct chrome_profile *items;
	size_t count, room;
	struct tw_map by_key; /* to the place in items */
	bool framed;          /* "stackFrames" are among the frames */
	struct tw_text kept;  /* events whose stacks stand behind them: struct kept, and its bytes */
	struct ordered_sample *sampled;
	size_t sampled_count, sampled_room;
};

/* An event that waits for the frames. */
struct kept {
	uint64_t offset;
	struct tw_line_place line;
	uint64_t size;
};

void chrome_profiles_free(struct chrome_profiles *profiles)
{
	if (!profiles)
		return;
	chrome_frames_free(&profiles->frames);
	free(profiles->items);
	free(profiles->sampled);
	tw_map_free(&profiles->by_key);
	tw_text_free(&profiles->kept);
	free(profiles);
}

static struct chrome_profiles *profiles_of(struct chrome_fill *fill)
{
	struct chrome_state *state = fill->state;
	if (!state->profiles)
		state->profiles = calloc(1, sizeof *state->profiles);
	fill->failed |= !state->profiles;
	return state->profiles;
}

/* ---- Samples among the events. ---- */

static struct chrome_value part_of(const struct chrome_stream *stream, enum chrome_part part);

/* Whether "stackFrames" have been read. */
static bool has_frames(struct chrome_fill *fill)
{
	struct chrome_profiles *profiles = profiles_of(fill);
	if (profiles && !profiles->framed) {
		struct chrome_value frames = part_of(&fill->state->stream, CHROME_PART_FRAMES);
		profiles->framed = frames.type == CHROME_OBJECT;
		chrome_take_stack_frames(fill, &profiles->frames, &frames);
	}
	return profiles && profiles->framed;
}

static bool is_named(const struct chrome_fill *fill)
{
	return fill->item->values[CHROME_STACK].type == CHROME_ARRAY;
}

/* Keeps the text of an event until the document has ended; false: there is no room for it, or no memory: failed. */
static bool keep(struct chrome_fill *fill)
{
	const struct chrome_item *item = fill->item;
	struct tw_text *text = &fill->state->profiles->kept;
	const struct kept head = {item->offset, item->line, item->size};
	if (!chrome_afford(fill->reader, sizeof head + item->size))
		return false;
	fill->failed |= !tw_text_add(text, (const char *)&head, sizeof head) ||
	                !tw_text_add(text, (const char *)item->bytes, item->size);
	return true;
}

bool chrome_keep_sample(struct chrome_fill *fill)
{
	const bool waits = !fill->last && !is_named(fill) && fill->item->values[CHROME_SF].type && !has_frames(fill);
	return waits && !fill->failed ? keep(fill) : fill->failed;
}

static uint32_t stack_of_names(struct chrome_fill *fill)
{
	struct chrome_value name;
	uint32_t stack = 0;
	static const struct chrome_value none = {.type = CHROME_NOTHING};
	for (struct chrome_scan scan = chrome_begin_array(&fill->item->values[CHROME_STACK]);
	     !fill->failed && chrome_next_element(&scan, &name);) {
		uint32_t location = chrome_locate(fill, &name, &none, (struct tw_location){0});
		stack =
		    location == UINT32_MAX ? location : tw_dictionary_push(fill->reader->dictionary, stack, location);
		fill->failed |= stack == UINT32_MAX;
	}
	return fill->failed ? 0 : stack;
}

uint32_t chrome_sample_stack(struct chrome_fill *fill)
{
	const struct chrome_value *frame = &fill->item->values[CHROME_SF];
	if (is_named(fill))
		return stack_of_names(fill);
	if (!frame->type)
		return 0;
	if (has_frames(fill))
		return chrome_stack_of(fill, &fill->state->profiles->frames, chrome_frame_key(0, frame));
	if (chrome_first(&fill->state->stream, CHROME_REPORTED_KEPT))
		chrome_report(fill->reader, CHROME_MEMBER, fill->item, frame->bytes,
		              fill->last ? "no \"stackFrames\" tell the frame" : "there is no room for the stack");
	return 0;
}

/* ---- Samples. ---- */

/* A sample of a profile stands for the time behind it. */
static void note_end(struct chrome_fill *fill, const struct tw_event *event)
{
	struct chrome_state *state = fill->state;
	const uint64_t end = tw_sum(event->time, event->id);
	if (!tw_grow(&state->tracks, &state->track_room, event->track + (size_t)1, sizeof *state->tracks)) {
		fill->failed = true;
		return;
	}
	struct chrome_track_info *track = &state->tracks[event->track];
	track->sampled_until = end > track->sampled_until ? end : track->sampled_until;
	state->times.sampled_until = end > state->times.sampled_until ? end : state->times.sampled_until;
}

static void add_sample(struct chrome_fill *fill, const struct tw_event *like, int64_t ns)
{
	struct chrome_state *state = fill->state;
	struct tw_event event = *like;
	bool fits = true;
	event.kind = TW_STACK_SAMPLE;
	event.time = chrome_on_clock(fill, ns, &fits);
	if (!state->times.timed)
		state->times.timed_at = state->stream.at;
	state->times.timed = true;
	state->stream.items++;
	note_end(fill, &event);
	if (chrome_wanted(fill->reader, event.track))
		fill->failed |= !tw_slab_add(&fill->piece->slab, &event);
}

/* The one that waits has lasted until now. */
static void end_sample(struct chrome_fill *fill, struct chrome_profile *profile, int64_t ns)
{
	const int64_t since = profile->ns > profile->covered ? profile->ns : profile->covered;
	const struct tw_event event = {.offset = profile->offset,
	                               .track = profile->track,
	                               .value = 1,
	                               .id = ns > since ? (uint64_t)ns - (uint64_t)since : 0,
	                               .other = profile->stack};
	if (!profile->waits)
		return;
	add_sample(fill, &event, profile->ns);
	profile->covered = ns > since ? ns : since;
	profile->waits = false;
}

static void take_sample(struct chrome_fill *fill, struct chrome_profile *profile, int64_t ns, uint32_t stack)
{
	end_sample(fill, profile, ns);
	profile->ns = ns;
	profile->stack = stack;
	profile->waits = true;
}

static int by_time(const void *first, const void *second)
{
	const struct ordered_sample *one = first, *other = second;
	if (one->ns != other->ns)
		return one->ns < other->ns ? -1 : 1;
	return (one->order > other->order) - (one->order < other->order);
}

static void take_in_order(struct chrome_fill *fill, struct chrome_profile *profile)
{
	struct chrome_profiles *profiles = fill->state->profiles;
	if (profiles->sampled_count)
		qsort(profiles->sampled, profiles->sampled_count, sizeof *profiles->sampled, by_time);
	for (size_t i = 0; i < profiles->sampled_count && !fill->failed; i++)
		take_sample(fill, profile, profiles->sampled[i].ns, profiles->sampled[i].stack);
	profiles->sampled_count = 0;
}

static void add_sampled(struct chrome_fill *fill, int64_t ns, uint32_t stack)
{
	struct chrome_profiles *profiles = fill->state->profiles;
	const size_t count = profiles->sampled_count;
	if (!tw_grow(&profiles->sampled, &profiles->sampled_room, count + 1, sizeof *profiles->sampled)) {
		fill->failed = true;
		return;
	}
	profiles->sampled[profiles->sampled_count++] = (struct ordered_sample){ns, (uint32_t)count, stack};
}

/* V8 writes negative deltas, too: samples are put in order, with the one that waits, as DevTools does. */
static void take_disordered(struct chrome_fill *fill, struct chrome_profile *profile, int64_t ns, uint32_t stack)
{
	const size_t most =
	    tw_memory_limit(fill->reader) / CHROME_ROWS_OVERHEAD_SHARE / (2 * sizeof(struct ordered_sample));
	if (fill->state->profiles->sampled_count >= most)
		take_in_order(fill, profile);
	if (profile->waits)
		add_sampled(fill, profile->ns, profile->stack);
	profile->waits = false;
	add_sampled(fill, ns, stack);
}

static void take_samples(struct chrome_fill *fill, struct chrome_profile *profile, const struct chrome_value *samples,
                         const struct chrome_value *deltas)
{
	struct chrome_scan ids = chrome_begin_array(samples), times = chrome_begin_array(deltas);
	struct chrome_value id, delta;
	const bool disorder = deltas->type == CHROME_ARRAY && memchr(deltas->bytes, '-', deltas->size);
	while (!fill->failed && chrome_next_element(&ids, &id)) {
		struct chrome_exact_time step = {0};
		int64_t ns;
		if (chrome_next_element(&times, &delta))
			chrome_micros(&delta, &step);
		if (__builtin_add_overflow(profile->clock, step.ns, &ns))
			ns = profile->clock;
		profile->clock = ns;
		const uint32_t stack =
		    chrome_stack_of(fill, &fill->state->profiles->frames, chrome_frame_key(profile->key, &id));
		if (disorder)
			take_disordered(fill, profile, ns, stack);
		else
			take_sample(fill, profile, ns, stack);
	}
	if (disorder)
		take_in_order(fill, profile);
}

/* The profile of a key, a new one where there is none; NULL where there is no room for it, or no memory: failed. */
static struct chrome_profile *profile_of(struct chrome_fill *fill, uint64_t key)
{
	struct chrome_profiles *profiles = profiles_of(fill);
	uint32_t place;
	if (profiles && tw_map_find(&profiles->by_key, key, &place))
		return &profiles->items[place];
	if (!profiles || profiles->count >= UINT32_MAX || !chrome_afford(fill->reader, PROFILE_COST))
		return NULL;
	if (!tw_grow(&profiles->items, &profiles->room, profiles->count + 1, sizeof *profiles->items) ||
	    !tw_map_add(&profiles->by_key, key, (uint32_t)profiles->count)) {
		fill->failed = true;
		return NULL;
	}
	struct chrome_profile *profile = &profiles->items[profiles->count++];
	*profile = (struct chrome_profile){.key = key, .end_ns = INT64_MIN, .covered = INT64_MIN};
	return profile;
}

bool chrome_is_profile(const struct chrome_item *item)
{
	const struct chrome_value *name = &item->values[CHROME_NAME];
	return chrome_phase_of(item) == 'P' && (chrome_is(name, "Profile") || chrome_is(name, "ProfileChunk"));
}

static uint64_t profile_key(const struct chrome_item *item)
{
	return chrome_frame_key(chrome_hash(&item->values[CHROME_PID], 2), &item->values[CHROME_ID]);
}

bool chrome_keep_chunk(struct chrome_fill *fill)
{
	struct chrome_profile *profile = NULL;
	if (fill->last || !chrome_is_profile(fill->item))
		return false;
	profile = profile_of(fill, profile_key(fill->item));
	if (!profile || !chrome_is(&fill->item->values[CHROME_NAME], "ProfileChunk") ||
	    (profile->track && !profile->keeps))
		return fill->failed;
	profile->keeps = keep(fill);
	return profile->keeps || fill->failed;
}

bool chrome_is_apart(const struct tw_reader *reader, const struct chrome_item *item)
{
	const bool looked_into = reader->request.merged || reader->options.function;
	const bool sample = looked_into && item->values[CHROME_SF].type;
	if (chrome_phase_of(item) != 'P')
		return false;
	if (((const struct chrome_state *)reader->state)->stream.own && item->values[CHROME_SF].type)
		return true;
	return (sample || chrome_is_profile(item)) && chrome_samples_apart(reader);
}

/* The event is no row, but the trace may begin with it. */
static void note_time(struct chrome_fill *fill)
{
	struct chrome_exact_time time;
	bool fits = true;
	if (chrome_micros(&fill->item->values[CHROME_TS], &time) && !time.wide)
		chrome_on_clock(fill, time.ns, &fits);
}

int chrome_take_profile(struct chrome_fill *fill)
{
	const struct chrome_value *values = fill->item->values;
	struct chrome_value data = chrome_value_of(&values[CHROME_ARGS], "data"),
			    start = chrome_value_of(&data, "startTime");
	struct chrome_value profile_data = chrome_value_of(&data, "cpuProfile"),
			    nodes = chrome_value_of(&profile_data, "nodes");
	struct chrome_value samples = chrome_value_of(&profile_data, "samples"),
			    deltas = chrome_value_of(&data, "timeDeltas");
	struct chrome_value end = chrome_value_of(&data, "endTime");
	struct chrome_exact_time time = {0};
	uint64_t key = profile_key(fill->item);
	struct chrome_profile *profile = profile_of(fill, key);
	note_time(fill);
	if (!profile)
		return fill->failed ? TW_ERR_MEMORY : 0;
	if (profile->track == 0) {
		profile->track = chrome_track(fill->reader, &values[CHROME_PID], &values[CHROME_TID]);
		if (chrome_micros(start.type ? &start : &values[CHROME_TS], &time))
			profile->clock = profile->ns = time.ns;
	}
	profile->offset = fill->item->offset;
	if (!deltas.type)
		deltas = chrome_value_of(&profile_data, "timeDeltas");
	chrome_take_nodes(fill, &fill->state->profiles->frames, key, &nodes);
	take_samples(fill, profile, &samples, &deltas);
	if (chrome_micros(&end, &time))
		profile->end_ns = time.ns;
	return fill->failed || profile->track == UINT32_MAX ? TW_ERR_MEMORY : 0;
}

/* ---- The end of the document. ---- */

static struct chrome_value part_of(const struct chrome_stream *stream, enum chrome_part part)
{
	struct chrome_value value = {.type = CHROME_NOTHING};
	const struct tw_text *text = &stream->parts[part];
	if (!text->length)
		return value;
	struct chrome_scan scan = {.at = (const uint8_t *)text->bytes,
	                           .end = (const uint8_t *)text->bytes + text->length};
	if (chrome_scan_value(&scan, &value) <= 0)
		value.type = CHROME_NOTHING;
	return value;
}

/* {"ts":1,"pid":2,"tid":3,"weight":1,"sf":7}; without a pid, as the document has them, of the thread of that number:
 * catapult's importer looks for it in all processes. */
static void take_global_sample(struct chrome_fill *fill, const struct chrome_value *sample)
{
	struct chrome_value ts = chrome_value_of(sample, "ts"), pid = chrome_value_of(sample, "pid"),
			    tid = chrome_value_of(sample, "tid");
	struct chrome_value frame = chrome_value_of(sample, "sf"), weight = chrome_value_of(sample, "weight");
	struct chrome_value name = chrome_value_of(sample, "name");
	bool lone = !pid.type && tid.type;
	struct tw_event event = {.value = 1,
	                         .track = lone ? chrome_koid_track(fill->reader, &tid)
	                                       : chrome_track(fill->reader, &pid, &tid)};
	struct chrome_exact_time time;
	uint64_t number;
	if (!chrome_micros(&ts, &time))
		return;
	if (chrome_integer(&weight, &number))
		event.value = number;
	event.other =
	    frame.type ? chrome_stack_of(fill, &fill->state->profiles->frames, chrome_frame_key(0, &frame)) : 0;
	event.name = chrome_name_of(fill, &name);
	fill->failed |= event.track == UINT32_MAX;
	if (!fill->failed)
		add_sample(fill, &event, time.ns);
}

/* Members that are called like those of a profile, in a document that is none. */
static void give_back(struct chrome_fill *fill)
{
	static const struct {
		enum chrome_part part;
		const char *key;
	} others[] = {{CHROME_PART_DELTAS, ",\"timeDeltas\":"},
	              {CHROME_PART_START, ",\"startTime\":"},
	              {CHROME_PART_END, ",\"endTime\":"}};
	struct chrome_stream *stream = &fill->state->stream;
	if (!fill->reader->request.texts || !chrome_samples_apart(fill->reader))
		return;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		const struct tw_text *text = &stream->parts[others[i].part];
		fill->failed |=
		    text->length && !(tw_text_add(&stream->document, others[i].key, strlen(others[i].key)) &&
		                      tw_text_add(&stream->document, text->bytes, text->length));
	}
}

static void take_document(struct chrome_fill *fill)
{
	static const struct chrome_value none = {.type = CHROME_NOTHING};
	const struct chrome_stream *stream = &fill->state->stream;
	struct chrome_value nodes = part_of(stream, CHROME_PART_NODES), samples = part_of(stream, CHROME_PART_SAMPLES);
	struct chrome_value deltas = part_of(stream, CHROME_PART_DELTAS), start = part_of(stream, CHROME_PART_START);
	struct chrome_value sample;
	struct chrome_exact_time time = {0};
	if (nodes.type == CHROME_ARRAY) {
		struct chrome_profile *profile = profile_of(fill, 0);
		if (!profile)
			return;
		profile->track = chrome_track(fill->reader, &none, &none);
		fill->failed |= profile->track == UINT32_MAX;
		if (chrome_micros(&start, &time))
			profile->clock = profile->ns = time.ns;
		chrome_take_nodes(fill, &fill->state->profiles->frames, 0, &nodes);
		take_samples(fill, profile, &samples, &deltas);
	} else {
		give_back(fill);
		has_frames(fill);
		for (struct chrome_scan scan = chrome_begin_array(&samples);
		     !fill->failed && chrome_next_element(&scan, &sample);)
			take_global_sample(fill, &sample);
	}
}

bool chrome_next_kept(const struct chrome_state *state, size_t *at, struct chrome_item *item)
{
	const struct tw_text *kept = state->profiles ? &state->profiles->kept : NULL;
	struct kept head;
	if (!kept || *at >= kept->length)
		return false;
	memcpy(&head, kept->bytes + *at, sizeof head);
	const uint8_t *bytes = (const uint8_t *)kept->bytes + *at + sizeof head;
	struct chrome_scan scan = {.at = bytes, .end = bytes + head.size};
	*item =
	    (struct chrome_item){.offset = head.offset, .line = head.line, .bytes = bytes, .size = (size_t)head.size};
	*at += sizeof head + (size_t)head.size;
	return chrome_scan_event(&scan, item) == CHROME_GOOD;
}

int chrome_end_profiles(struct tw_reader *reader, struct chrome_piece *piece)
{
	struct chrome_state *state = reader->state;
	struct chrome_item item = {.offset = 0};
	struct chrome_fill fill = {.reader = reader, .state = state, .piece = piece, .item = &item};
	struct chrome_exact_time end = {.ns = INT64_MIN};
	struct chrome_value end_time = part_of(&state->stream, CHROME_PART_END);
	take_document(&fill);
	chrome_micros(&end_time, &end);
	for (size_t i = 0; state->profiles && i < state->profiles->count && !fill.failed; i++) {
		struct chrome_profile *profile = &state->profiles->items[i];
		end_sample(&fill, profile, profile->end_ns > end.ns ? profile->end_ns : end.ns);
	}
	return fill.failed || piece->slab.failed ? TW_ERR_MEMORY : 0;
}
