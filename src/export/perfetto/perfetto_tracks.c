/* perfetto_tracks.c - processes, threads and other tracks of Perfetto's traces.
 *
 * Process and thread ids are 32 bits with a sign: a number beyond gets one from the top of that range. Tracks have
 * numbers of 64 bits: those of the dictionary are even and odd in turn for tracks and processes, and those of async
 * events and counters are hashes with the highest bit set, so that they stay what they are when all is written anew. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "export/perfetto/perfetto.h"
#include "export/text/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHILD_UUID (UINT64_C(1) << 63)

static uint64_t track_uuid(uint32_t number)
{
	return 2 * (uint64_t)number + 2;
}

static uint64_t process_uuid(uint32_t place)
{
	return 2 * (uint64_t)place + 1;
}

/* ---- Processes. ---- */

/* The place of a process in the list, a new one for one that is new; UINT32_MAX when there is no memory. */
static uint32_t place_of(struct perfetto *perfetto, uint64_t process)
{
	uint32_t place;
	if (tw_map_find(&perfetto->tracks.places, process, &place))
		return place;
	place = (uint32_t)perfetto->tracks.places.count;
	if (!tw_grow(&perfetto->tracks.processes, &perfetto->tracks.process_room, place + (size_t)1,
	             sizeof *perfetto->tracks.processes) ||
	    !tw_map_add(&perfetto->tracks.places, process, place))
		return UINT32_MAX;
	uint32_t pid = process > INT32_MAX ? (uint32_t)INT32_MAX - place : (uint32_t)process;
	perfetto->tracks.processes[place] = (struct perfetto_process){.pid = pid};
	return place;
}

static uint32_t process_name(const struct perfetto *perfetto, const struct perfetto_process *known)
{
	return known->track ? tw_dictionary_track(perfetto->dictionary, known->track)->name : 0;
}

static void put_process(struct perfetto *perfetto, uint32_t place)
{
	struct perfetto_process *known = &perfetto->tracks.processes[place];
	struct tw_proto *proto = &perfetto->event;
	known->written_in = perfetto->reset;
	known->name = process_name(perfetto, known);
	tw_proto_uint(proto, DESCRIPTOR_UUID, process_uuid(place));
	size_t begin = tw_proto_begin(proto, DESCRIPTOR_PROCESS);
	tw_proto_uint(proto, PROCESS_PID, known->pid);
	if (known->name)
		tw_perfetto_put_name(perfetto, proto, PROCESS_NAME,
		                     tw_dictionary_name(perfetto->dictionary, known->name));
	tw_proto_end(proto, begin);
	tw_perfetto_put_packet(perfetto, PACKET_TRACK_DESCRIPTOR, NULL);
}

/* ---- Tracks. ---- */

/* The name of a track that is no thread. */
static void put_own_name(struct perfetto *perfetto, const struct tw_track *track)
{
	char text[40];
	if (track->name) {
		tw_perfetto_put_name(perfetto, &perfetto->event, DESCRIPTOR_NAME,
		                     tw_dictionary_name(perfetto->dictionary, track->name));
		return;
	}
	snprintf(text, sizeof text, "%s %llu", track->kind == TW_TRACK_CPU ? "CPU" : "track",
	         (unsigned long long)track->thread);
	tw_proto_text(&perfetto->event, DESCRIPTOR_NAME, text);
}

static void put_thread(struct perfetto *perfetto, const struct perfetto_track *known, const struct tw_track *track)
{
	struct tw_proto *proto = &perfetto->event;
	size_t begin = tw_proto_begin(proto, DESCRIPTOR_THREAD);
	tw_proto_uint(proto, THREAD_PID, known->pid);
	tw_proto_uint(proto, THREAD_TID, known->tid);
	if (track->name)
		tw_perfetto_put_name(perfetto, proto, THREAD_NAME,
		                     tw_dictionary_name(perfetto->dictionary, track->name));
	tw_proto_end(proto, begin);
}

static void put_track(struct perfetto *perfetto, struct perfetto_track *known, const struct tw_track *track)
{
	known->written_in = perfetto->reset;
	known->name = track->name;
	if (track->kind == TW_TRACK_PROCESS)
		return;
	tw_proto_uint(&perfetto->event, DESCRIPTOR_UUID, known->uuid);
	if (known->process)
		tw_proto_uint(&perfetto->event, DESCRIPTOR_PARENT_UUID, known->process);
	if (track->kind == TW_TRACK_THREAD)
		put_thread(perfetto, known, track);
	else
		put_own_name(perfetto, track);
	tw_perfetto_put_packet(perfetto, PACKET_TRACK_DESCRIPTOR, NULL);
}

/* What is not of a process at all: the track of a CPU, of nothing. */
static bool has_process(const struct tw_track *track)
{
	return track->process || track->kind == TW_TRACK_THREAD || track->kind == TW_TRACK_PROCESS;
}

static void meet(struct perfetto *perfetto, struct perfetto_track *known, uint32_t number, const struct tw_track *track,
                 uint32_t place)
{
	bool process = track->kind == TW_TRACK_PROCESS, thread = track->kind == TW_TRACK_THREAD;
	known->met = true;
	known->owner = track->process;
	known->pid = has_process(track) ? perfetto->tracks.processes[place].pid : 0;
	known->process = has_process(track) ? process_uuid(place) : 0;
	known->uuid = process ? known->process : track_uuid(number);
	known->uuid_field = tw_proto_pack(EVENT_TRACK_UUID, known->uuid);
	known->tid = track->thread > INT32_MAX ? (uint32_t)INT32_MAX - number : (uint32_t)track->thread;
	known->tid = thread ? known->tid : process ? known->pid : 0;
	if ((has_process(track) && known->pid != track->process) || (thread && known->tid != track->thread))
		tw_count_loss(perfetto->writer, "process or thread id", true);
}

const struct perfetto_track *tw_perfetto_put_track(struct perfetto *perfetto, uint32_t number)
{
	struct perfetto_track *known = &perfetto->tracks.items[number];
	const struct tw_track *track = tw_dictionary_track(perfetto->dictionary, number);
	uint32_t place = has_process(track) ? place_of(perfetto, track->process) : 0;
	if (place == UINT32_MAX) {
		perfetto->failed = true;
		return known;
	}
	if (!known->met)
		meet(perfetto, known, number, track, place);
	if (has_process(track) && perfetto->tracks.processes[place].written_in != perfetto->reset)
		put_process(perfetto, place);
	put_track(perfetto, known, track);
	return known;
}

/* Tracks that have got their process are written anew when they are used next. */
static void move_tracks(struct perfetto *perfetto)
{
	perfetto->tracks.moves = tw_dictionary_moves(perfetto->dictionary);
	for (uint32_t number = 0; number < perfetto->tracks.seen; number++) {
		struct perfetto_track *known = &perfetto->tracks.items[number];
		if (known->met && known->owner != tw_dictionary_track(perfetto->dictionary, number)->process) {
			known->met = false;
			known->written_in = 0;
		}
	}
}

int tw_perfetto_tracks_grow(struct perfetto *perfetto)
{
	uint32_t tracks = tw_dictionary_tracks(perfetto->dictionary);
	if (!tw_grow(&perfetto->tracks.items, &perfetto->tracks.room, tracks, sizeof *perfetto->tracks.items))
		return TW_ERR_MEMORY;
	for (; perfetto->tracks.seen < tracks; perfetto->tracks.seen++) {
		const struct tw_track *track = tw_dictionary_track(perfetto->dictionary, perfetto->tracks.seen);
		if (track->kind != TW_TRACK_PROCESS)
			continue;
		uint32_t place = place_of(perfetto, track->process);
		if (place == UINT32_MAX)
			return TW_ERR_MEMORY;
		perfetto->tracks.processes[place].track = perfetto->tracks.seen;
	}
	if (perfetto->tracks.moves != tw_dictionary_moves(perfetto->dictionary))
		move_tracks(perfetto);
	return 0;
}

/* ---- Tracks of async events and counters. ---- */

/* Begins the description of a track that is not told yet, as a child of the process, unless it is of all. False where
 * it is told. */
static bool begin_child(struct perfetto *perfetto, const struct tw_event *event, uint64_t uuid)
{
	uint32_t value;
	bool global = event->flags & TW_FLAG_GLOBAL;
	uint64_t parent = global ? 0 : tw_perfetto_track(perfetto, event->track)->process;
	if (tw_map_find(&perfetto->tracks.children, uuid, &value))
		return false;
	if (!tw_map_add(&perfetto->tracks.children, uuid, 0))
		perfetto->failed = true;
	tw_proto_uint(&perfetto->event, DESCRIPTOR_UUID, uuid);
	if (parent)
		tw_proto_uint(&perfetto->event, DESCRIPTOR_PARENT_UUID, parent);
	return true;
}

static uint64_t child_uuid(const struct perfetto *perfetto, const struct tw_event *event, uint32_t name, uint32_t part)
{
	const struct tw_track *track = tw_dictionary_track(perfetto->dictionary, event->track);
	bool global = event->flags & TW_FLAG_GLOBAL;
	const uint64_t key[] = {global ? 0 : track->process, event->id, (uint64_t)name << 32 | part,
	                        global ? 2 : event->kind == TW_COUNTER};
	return tw_mix_words(key, sizeof key / sizeof *key) | CHILD_UUID;
}

uint64_t tw_perfetto_async_track(struct perfetto *perfetto, const struct tw_event *event)
{
	uint64_t uuid = child_uuid(perfetto, event, 0, event->category);
	if (!begin_child(perfetto, event, uuid))
		return uuid;
	tw_perfetto_put_name(perfetto, &perfetto->event, DESCRIPTOR_NAME,
	                     tw_dictionary_name(perfetto->dictionary, event->name));
	tw_perfetto_put_packet(perfetto, PACKET_TRACK_DESCRIPTOR, NULL);
	return uuid;
}

/* Perfetto's importers call a counter of FXT "name:series:id", one of Chrome's JSON "name id: id series". */
static bool add_counter_name(struct perfetto *perfetto, const struct tw_event *event, uint32_t series)
{
	struct tw_line *label = &perfetto->label;
	const char *origin = perfetto->reader->traits.origin;
	const struct tw_name *last = tw_dictionary_name(perfetto->dictionary, series);
	const bool fxt = origin && strcmp(origin, "fxt") == 0;
	bool whole = tw_label_name(label, tw_dictionary_name(perfetto->dictionary, event->name));
	if (event->id && !fxt) {
		tw_line_text(label, " id: 0x");
		tw_line_hex_digits(label, event->id);
	}
	tw_line_text(label, fxt ? ":" : last->length ? " " : "");
	whole &= tw_label_name(label, last);
	if (fxt) {
		tw_line_text(label, ":");
		tw_line_u64(label, event->id);
	}
	return whole;
}

static void put_counter_name(struct perfetto *perfetto, const struct tw_event *event, uint32_t number)
{
	struct tw_line *label = &perfetto->label;
	tw_line_clear(label);
	if (!add_counter_name(perfetto, event, number))
		tw_count_loss(perfetto->writer, "long name", true);
	tw_proto_string(&perfetto->event, DESCRIPTOR_NAME, label->text.bytes, label->text.length);
	perfetto->failed |= label->failed;
}

uint64_t tw_perfetto_counter_track(struct perfetto *perfetto, const struct tw_event *event, uint32_t series)
{
	uint64_t uuid = child_uuid(perfetto, event, event->name, series);
	if (!begin_child(perfetto, event, uuid))
		return uuid;
	put_counter_name(perfetto, event, series);
	tw_proto_end(&perfetto->event, tw_proto_begin(&perfetto->event, DESCRIPTOR_COUNTER));
	tw_perfetto_put_packet(perfetto, PACKET_TRACK_DESCRIPTOR, NULL);
	return uuid;
}

uint16_t tw_perfetto_number_cpu(struct perfetto *perfetto, uint16_t cpu)
{
	struct perfetto_tracks *tracks = &perfetto->tracks;
	uint16_t number = cpu;
	if (cpu >= PERFETTO_CPUS || tracks->cpu_taken[cpu]) {
		number = PERFETTO_CPU_FREE;
		while (number && tracks->cpu_taken[number])
			number--;
		tw_count_loss(perfetto->writer, "CPU number", true);
	}
	tracks->cpu_taken[number] = true;
	tracks->cpu_numbers[cpu] = (uint16_t)(number + 1);
	return number;
}

bool tw_perfetto_is_counter_of_cpu(struct perfetto *perfetto, const struct tw_event *event,
                                   const struct perfetto_cpu *cpu)
{
	enum { FIELDS = 16 };
	const struct tw_track *track = tw_dictionary_track(perfetto->dictionary, event->track);
	const uint64_t counter[] = {event->flags & TW_FLAG_GLOBAL ? 0 : track->process, event->name};
	uint32_t hash = (uint32_t)(tw_mix_words(counter, sizeof counter / sizeof *counter) >> 33), value;
	const uint64_t key = cpu->number * FIELDS + cpu->field;
	if (tw_map_find(&perfetto->tracks.cpus, key, &value))
		return value == hash;
	if (!tw_map_add(&perfetto->tracks.cpus, key, hash))
		perfetto->failed = true;
	return true;
}

uint64_t tw_perfetto_lane_track(struct perfetto *perfetto, uint32_t track, uint32_t lane)
{
	const uint64_t parent = tw_perfetto_track(perfetto, track)->uuid, key[] = {parent, lane};
	const uint64_t uuid = tw_mix_words(key, sizeof key / sizeof *key) | CHILD_UUID;
	char name[24];
	uint32_t value;
	if (tw_map_find(&perfetto->tracks.children, uuid, &value))
		return uuid;
	if (!tw_map_add(&perfetto->tracks.children, uuid, 0))
		perfetto->failed = true;
	snprintf(name, sizeof name, "lane %u", (unsigned)lane);
	tw_proto_uint(&perfetto->event, DESCRIPTOR_UUID, uuid);
	tw_proto_uint(&perfetto->event, DESCRIPTOR_PARENT_UUID, parent);
	tw_proto_text(&perfetto->event, DESCRIPTOR_NAME, name);
	tw_perfetto_put_packet(perfetto, PACKET_TRACK_DESCRIPTOR, NULL);
	return uuid;
}

/* ---- The end. ---- */

void tw_perfetto_tracks_finish(struct perfetto *perfetto)
{
	for (uint32_t place = 0; place < perfetto->tracks.places.count; place++) {
		const struct perfetto_process *known = &perfetto->tracks.processes[place];
		if (known->written_in && known->name != process_name(perfetto, known))
			put_process(perfetto, place);
	}
	for (uint32_t number = 0; number < perfetto->tracks.seen; number++) {
		const struct tw_track *track = tw_dictionary_track(perfetto->dictionary, number);
		struct perfetto_track *known = &perfetto->tracks.items[number];
		if (known->written_in && known->name != track->name)
			put_track(perfetto, known, track);
	}
}

void tw_perfetto_tracks_free(struct perfetto *perfetto)
{
	free(perfetto->tracks.items);
	tw_text_free(&perfetto->label.text);
	free(perfetto->tracks.processes);
	tw_map_free(&perfetto->tracks.places);
	tw_map_free(&perfetto->tracks.children);
	tw_map_free(&perfetto->tracks.cpus);
}
