/* mapping.c - what the names, tracks and stacks of a trace are in the one that it becomes a part of.
 *
 * All get their numbers when they are met. A process keeps its number unless another one came before with that number:
 * then it gets another, so that two processes never become one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/merge/mapping.h"

#include "base/memory/memory.h"
#include "core/request.h"

#include <stdlib.h>
#include <string.h>

enum {
	STEP = 1000000, /* what is added to the number of a process that is taken: easy to see through */
	CPU_STEP = 1000,
	OBJECT_PROCESS = 1,
	OBJECT_THREAD = 2
};

/* What is taken for each, but for texts, with what leads to it: slots of a map, and its number in another mapping. */
enum {
	LEADS_COST = 3 * sizeof(struct tw_map_slot) + sizeof(uint32_t),
	NAME_COST = sizeof(struct tw_name) + LEADS_COST,
	TRACK_COST = sizeof(struct tw_track) + LEADS_COST,
	LOCATION_COST = sizeof(struct tw_location) + LEADS_COST,
	STACK_COST = sizeof(struct tw_stack) + LEADS_COST,
	HOME_COST = sizeof(struct tw_home) + sizeof(uint64_t) + 3 * LEADS_COST
};

static bool take_room(const struct tw_mapping *mapping, size_t bytes)
{
	struct tw_mapping_room *room = mapping->room;
	if (!room)
		return true;
	if (bytes > room->most - room->used) {
		room->full = true;
		return false;
	}
	room->used += bytes;
	return true;
}

/* ---- Names. ---- */

/* Returns the number of a name in `to`, which may be a new one; 0 where there is no room, UINT32_MAX when there is no
 * memory. */
static uint32_t intern_as(struct tw_mapping *mapping, const struct tw_name *name)
{
	uint32_t known = mapping->room ? tw_dictionary_find(mapping->to, name) : UINT32_MAX;
	if (known != UINT32_MAX)
		return known;
	bool fits = name->length <= SIZE_MAX - NAME_COST && take_room(mapping, NAME_COST + name->length);
	return fits ? tw_dictionary_intern(mapping->to, name) : 0;
}

/* The same for a name of `from`. What is kept apart outlives `from`, so that the text of the file is interned, too. */
static uint32_t intern(struct tw_mapping *mapping, struct tw_name *name)
{
	if (mapping->kind == TW_MAPPING_APART && name->file) {
		const struct tw_name text = {.text = name->file, .length = strlen(name->file)};
		uint32_t file = intern_as(mapping, &text);
		if (file == UINT32_MAX)
			return UINT32_MAX;
		name->file = file ? tw_dictionary_name(mapping->to, file)->text : NULL;
	}
	return intern_as(mapping, name);
}

/* A name that another one refers to, as its class or module, which may refer to others `more` times. No deeper: a trace
 * can name things in circles. UINT32_MAX when there is no memory. */
static uint32_t refer(struct tw_mapping *mapping, uint32_t number, unsigned more)
{
	struct tw_name name = *tw_dictionary_name(mapping->from, number);
	name.owner = 0;
	name.module = more && name.module ? refer(mapping, name.module, more - 1) : 0;
	return name.module == UINT32_MAX ? UINT32_MAX : intern(mapping, &name);
}

/* UINT32_MAX when there is no memory. */
static uint32_t meet_name(struct tw_mapping *mapping, uint32_t number)
{
	struct tw_name name = *tw_dictionary_name(mapping->from, number);
	name.owner = refer(mapping, name.owner, 1);
	name.module = refer(mapping, name.module, 0);
	if (name.owner == UINT32_MAX || name.module == UINT32_MAX)
		return UINT32_MAX;
	uint32_t known = intern(mapping, &name);
	if (known == 0 && (name.length || name.id))
		known = tw_dictionary_text(mapping->to, "(other)");
	if (known == UINT32_MAX ||
	    !tw_grow(&mapping->names.items, &mapping->names.room, number + (size_t)1, sizeof *mapping->names.items))
		return UINT32_MAX;
	if (number < tw_dictionary_names(mapping->from))
		mapping->names.items[number] = known;
	return known;
}

/* The same for one that is 0 or may have been met. */
static inline uint32_t name_of(struct tw_mapping *mapping, uint32_t number)
{
	uint32_t known = tw_met_number(&mapping->names, number);
	return known || number == 0 ? known : meet_name(mapping, number);
}

/* ---- Processes. ---- */

static bool is_taken(const struct tw_taken *taken, uint64_t number)
{
	uint32_t trace;
	return tw_map_find(&taken->owners, number, &trace);
}

/* A number that nothing has, not one of the same trace either: that may have got it instead of its own. */
static uint64_t free_number(const struct tw_taken *taken, const struct tw_home *home, uint64_t step)
{
	uint64_t number = home->process;
	/* Then anywhere: step by step would be slow in traces made for it, and so it would be with steps that lead
	 * many processes over the same numbers. */
	for (uint64_t again = 0; is_taken(taken, number); again++)
		number = again ? tw_mix64(home->process ^ home->trace ^ tw_mix64(again)) >> 33 : home->process + step;
	return number;
}

/* Remembers what a number that is another in the merged trace was. */
static bool keep_own(struct tw_taken *taken, uint64_t number, uint64_t own)
{
	const size_t place = taken->own_count;
	if (number == own)
		return true;
	if (!tw_grow(&taken->own, &taken->own_room, place + 1, sizeof *taken->own))
		return false;
	taken->own[taken->own_count++] = own;
	return tw_map_add(&taken->moved, number, (uint32_t)place);
}

uint64_t tw_taken_own(const struct tw_taken *taken, uint64_t number)
{
	uint32_t place;
	return tw_map_find(&taken->moved, number, &place) ? taken->own[place] : number;
}

/* Takes a number for something of a trace: its own, or where another trace has that, another, unless that is the same
 * thing. */
static bool take_number(const struct tw_homes *homes, struct tw_taken *taken, const struct tw_home *home, uint64_t step,
                        uint64_t *number)
{
	bool shared = is_taken(taken, home->process);
	taken->shared += shared;
	*number = homes->together ? home->process : free_number(taken, home, step);
	return (shared && homes->together) ||
	       (tw_map_add(&taken->owners, *number, home->trace) && keep_own(taken, *number, home->process));
}

/* Where a process of `from`, which is not 0, comes from. */
static struct tw_home home_of(const struct tw_mapping *mapping, uint64_t process)
{
	if (mapping->kind == TW_MAPPING_TOGETHER)
		return mapping->homes->items[process - 1];
	return (struct tw_home){process, mapping->trace};
}

static bool add_home(struct tw_homes *homes, const struct tw_home *home, uint64_t *number)
{
	uint32_t place = (uint32_t)homes->count;
	if (!tw_grow(&homes->items, &homes->room, homes->count + 1, sizeof *homes->items))
		return false;
	homes->items[homes->count++] = *home;
	*number = homes->count;
	return tw_map_add(&homes->apart, tw_hash_two(home->process, home->trace), place);
}

static bool settle(struct tw_homes *homes, const struct tw_home *home, uint64_t *number)
{
	return take_number(homes, &homes->processes, home, STEP, number);
}

/* Remembers what a number of `from` has become. */
static bool keep_number(struct tw_mapping *mapping, struct tw_map *map, uint64_t own, uint64_t number)
{
	size_t place = mapping->numbers.count;
	if (!tw_grow(&mapping->numbers.items, &mapping->numbers.room, place + 1, sizeof *mapping->numbers.items))
		return false;
	mapping->numbers.items[mapping->numbers.count++] = number;
	return tw_map_add(map, own, (uint32_t)place);
}

/* Sets *number to what a process of `from` is called in `to`; 0, the process of what has none, where there is no room.
 * False when there is no memory. */
static bool find_process(struct tw_mapping *mapping, uint64_t process, uint64_t *number)
{
	uint32_t place;
	*number = 0;
	if (process == 0 &&
	    (mapping->kind == TW_MAPPING_TOGETHER || !tw_dictionary_has_process(mapping->from, process)))
		return true;
	if (tw_map_find(&mapping->processes, process, &place)) {
		*number = mapping->numbers.items[place];
		return true;
	}
	if (!take_room(mapping, HOME_COST))
		return true;
	const struct tw_home home = home_of(mapping, process);
	return (mapping->kind == TW_MAPPING_APART ? add_home : settle)(mapping->homes, &home, number) &&
	       keep_number(mapping, &mapping->processes, process, *number);
}

/* ---- Threads and CPUs of several machines. ---- */

/* The same for a thread or a CPU, which stays what it is where there is no room. */
static bool find_number(struct tw_mapping *mapping, struct tw_map *map, struct tw_taken *taken, uint64_t step,
                        uint64_t *number)
{
	const struct tw_home home = {*number, mapping->trace};
	uint32_t place;
	if (mapping->kind == TW_MAPPING_TOGETHER)
		return true;
	if (tw_map_find(map, home.process, &place)) {
		*number = mapping->numbers.items[place];
		return true;
	}
	return !take_room(mapping, HOME_COST) || (take_number(mapping->homes, taken, &home, step, number) &&
	                                          keep_number(mapping, map, home.process, *number));
}

/* Number 0 is that of what a CPU does that has nothing to do. */
static bool find_thread(struct tw_mapping *mapping, uint64_t *thread)
{
	return !mapping->koids || *thread == 0 ||
	       find_number(mapping, &mapping->threads, &mapping->homes->threads, STEP, thread);
}

static bool map_cpu(struct tw_mapping *mapping, struct tw_event *event)
{
	uint64_t cpu = event->cpu;
	if (event->kind != TW_SWITCH && event->kind != TW_WAKEUP)
		return true;
	bool fine = find_number(mapping, &mapping->cpus, &mapping->homes->cpus, CPU_STEP, &cpu);
	event->cpu = (uint16_t)cpu;
	return fine;
}

/* ---- Tracks. ---- */

/* Gives a track the name that it has, and its place among others. */
static bool name_track(struct tw_mapping *mapping, uint32_t from, uint32_t to)
{
	const struct tw_track *track = tw_dictionary_track(mapping->from, from);
	const int32_t sort_index = tw_dictionary_sort_index(mapping->from, track);
	uint32_t name = name_of(mapping, track->name);
	if (name != UINT32_MAX && name)
		tw_dictionary_name_track(mapping->to, to, name);
	return name != UINT32_MAX && (!sort_index || tw_dictionary_set_sort_index(mapping->to, to, sort_index));
}

enum { TRACE_SHIFT = 40 }; /* numbers of tracks that are no threads are less */

/* UINT32_MAX when there is no memory; 0 where there is no room. What is no thread and of no process, as a thread index
 * that nothing registered, is of its trace alone. */
static uint32_t meet_track(struct tw_mapping *mapping, uint32_t number)
{
	if (number == 0 || number >= tw_dictionary_tracks(mapping->from) || !take_room(mapping, TRACK_COST))
		return 0;
	struct tw_track track = *tw_dictionary_track(mapping->from, number);
	track.name = 0;
	if (track.kind == TW_TRACK_OTHER && !track.process && mapping->kind != TW_MAPPING_TOGETHER)
		track.thread += (uint64_t)mapping->trace << TRACE_SHIFT;
	if (!find_process(mapping, track.process, &track.process) ||
	    (track.kind == TW_TRACK_THREAD && !find_thread(mapping, &track.thread)))
		return UINT32_MAX;
	uint32_t known = tw_dictionary_add_track(mapping->to, &track);
	if (known == UINT32_MAX ||
	    !tw_grow(&mapping->tracks.items, &mapping->tracks.room, number + (size_t)1,
	             sizeof *mapping->tracks.items) ||
	    !name_track(mapping, number, known))
		return UINT32_MAX;
	mapping->tracks.items[number] = known;
	return known;
}

/* What a track that was met is now: it may have got its process since, which is looked for with its rows, because to
 * look through all would be slow where many get one. UINT32_MAX when there is no memory. */
static uint32_t moved_track(struct tw_mapping *mapping, uint32_t number)
{
	struct tw_track track = *tw_dictionary_track(mapping->from, number);
	uint32_t *known = &mapping->tracks.items[number];
	if (!track.process || tw_dictionary_track(mapping->to, *known)->process)
		return *known;
	track.name = 0;
	if (!find_process(mapping, track.process, &track.process) ||
	    (track.kind == TW_TRACK_THREAD && !find_thread(mapping, &track.thread)))
		return UINT32_MAX;
	tw_dictionary_set_process(mapping->to, *known, track.process);
	*known = tw_dictionary_add_track(mapping->to, &track); /* another one, where that was there already */
	return *known;
}

/* The same for one that may have been met. */
static inline uint32_t track_of(struct tw_mapping *mapping, uint32_t number)
{
	uint32_t known = tw_met_number(&mapping->tracks, number);
	if (!known)
		return meet_track(mapping, number);
	return mapping->from->tracks.moves ? moved_track(mapping, number) : known;
}

/* What is told of processes may be on tracks that have no event. */
static bool meet_named_processes(struct tw_mapping *mapping)
{
	uint32_t place;
	for (uint32_t i = 1; i < tw_dictionary_tracks(mapping->from); i++) {
		const struct tw_track *track = tw_dictionary_track(mapping->from, i);
		const bool met = tw_met_number(&mapping->tracks, i) != 0;
		const bool described = track->name || tw_dictionary_sort_index(mapping->from, track);
		if (!met && track->kind == TW_TRACK_PROCESS && described &&
		    tw_map_find(&mapping->processes, track->process, &place) && meet_track(mapping, i) == UINT32_MAX)
			return false;
	}
	return true;
}

bool tw_mapping_end(struct tw_mapping *mapping)
{
	for (uint32_t i = 1; i < mapping->tracks.room; i++)
		if (mapping->tracks.items[i] &&
		    (moved_track(mapping, i) == UINT32_MAX || !name_track(mapping, i, mapping->tracks.items[i])))
			return false;
	return meet_named_processes(mapping);
}

/* ---- Stacks. ---- */

/* UINT32_MAX when there is no memory. 0, which is the place of no frame, where there is no room. */
static uint32_t location_of(struct tw_mapping *mapping, uint32_t number)
{
	struct tw_location location = *tw_dictionary_location(mapping->from, number);
	location.name = name_of(mapping, location.name);
	location.file = name_of(mapping, location.file);
	if (location.name == UINT32_MAX || location.file == UINT32_MAX)
		return UINT32_MAX;
	uint32_t known = mapping->room ? tw_dictionary_find_place(mapping->to, &location) : UINT32_MAX;
	if (known != UINT32_MAX)
		return known;
	return take_room(mapping, LOCATION_COST) ? tw_dictionary_add_place(mapping->to, &location) : 0;
}

/* Returns the stack of a location called from another stack; that stack itself where there is no room for a new one. */
static uint32_t push(struct tw_mapping *mapping, uint32_t caller, uint32_t location)
{
	uint32_t known = mapping->room ? tw_dictionary_find_push(mapping->to, caller, location) : UINT32_MAX;
	if (known != UINT32_MAX)
		return known;
	return take_room(mapping, STACK_COST) ? tw_dictionary_push(mapping->to, caller, location) : caller;
}

static bool take_stack(struct tw_mapping *mapping, uint32_t number)
{
	const struct tw_stack *stack = tw_dictionary_stack(mapping->from, number);
	uint32_t location = location_of(mapping, stack->location);
	if (number == 0 || location == UINT32_MAX)
		return number == 0;
	uint32_t caller = mapping->stacks.items[stack->caller];
	mapping->stacks.items[number] = location ? push(mapping, caller, location) : caller;
	return mapping->stacks.items[number] != UINT32_MAX;
}

/* UINT32_MAX when there is no memory. Callers have lower numbers, so that stacks are taken in the order of theirs. */
static uint32_t stack_of(struct tw_mapping *mapping, uint32_t number)
{
	uint32_t count = tw_dictionary_stacks(mapping->from);
	if (number == 0 || number >= count)
		return 0;
	if (!tw_grow(&mapping->stacks.items, &mapping->stacks.room, count, sizeof *mapping->stacks.items))
		return UINT32_MAX;
	for (; mapping->stacks.count <= number; mapping->stacks.count++)
		if (!take_stack(mapping, (uint32_t)mapping->stacks.count))
			return UINT32_MAX;
	return mapping->stacks.items[number];
}

/* Sets *key to what leads to the number of a process in `processes`, as the trace of a row names it that is of the
 * process `around`. False where that is not known. */
static bool find_key(const struct tw_mapping *mapping, uint64_t around, uint64_t process, uint64_t *key)
{
	const struct tw_homes *homes = mapping->homes;
	uint32_t place;
	*key = process;
	if (mapping->kind != TW_MAPPING_TOGETHER)
		return mapping->kind == TW_MAPPING_WHOLE;
	if (around == 0 || !tw_map_find(&homes->apart, tw_hash_two(process, homes->items[around - 1].trace), &place))
		return false;
	*key = place + UINT64_C(1);
	return true;
}

/* A koid in a row of a process of `from`: the process or the thread that it is of, if any was met, may have got another
 * number. */
static uint64_t koid_of(const struct tw_mapping *mapping, uint64_t around, uint64_t koid)
{
	uint64_t key;
	uint32_t place;
	bool met = find_key(mapping, around, koid, &key) && tw_map_find(&mapping->processes, key, &place);
	met = met || tw_map_find(&mapping->threads, koid, &place);
	return met ? mapping->numbers.items[place] : koid;
}

static bool map_argument(struct tw_mapping *mapping, uint64_t around, struct tw_argument *argument)
{
	if (argument->type == TW_ARG_KOID)
		argument->value.u = koid_of(mapping, around, argument->value.u);
	argument->name = name_of(mapping, argument->name);
	bool refers = argument->type == TW_ARG_POINTER || argument->type == TW_ARG_KOID;
	if (refers && argument->size < UINT32_MAX)
		argument->size = name_of(mapping, (uint32_t)argument->size);
	return argument->name != UINT32_MAX && !(refers && argument->size == UINT32_MAX);
}

/* The record about a process tells it as a number, too. One that is kept apart has it until it comes together. */
static void map_object(struct tw_mapping *mapping, struct tw_event *event, uint64_t process)
{
	uint64_t number;
	uint32_t place;
	if (event->value == OBJECT_THREAD && !(event->flags & TW_FLAG_USERSPACE) &&
	    tw_map_find(&mapping->threads, event->id, &place))
		event->id = mapping->numbers.items[place];
	if (process == 0 || mapping->kind == TW_MAPPING_APART || !find_process(mapping, process, &number))
		return;
	if (event->value == OBJECT_PROCESS && !(event->flags & TW_FLAG_USERSPACE) &&
	    event->id == home_of(mapping, process).process)
		event->id = number;
}

enum { ID_SHIFT = 48 }; /* ids are less, but for hashes: easy to see through */

/* Whether an id is one of all processes, as that of a flow is. */
static bool is_global(const struct tw_event *event)
{
	const bool flow = event->kind >= TW_FLOW_BEGIN && event->kind <= TW_FLOW_END;
	const bool async = event->kind >= TW_ASYNC_BEGIN && event->kind <= TW_ASYNC_END;
	return flow || (async && event->flags & TW_FLAG_GLOBAL);
}

/* Two traces number their flows each for itself. A slice with its text has an id for the flows that this tells. */
static void map_id(const struct tw_mapping *mapping, struct tw_event *event, const struct tw_argument *arguments)
{
	const bool slice =
	    event->kind <= TW_SLICE_COMPLETE && event->argument_count == 1 && arguments->raw == TW_RAW_TEXT;
	const bool global = is_global(event);
	if (mapping->kind == TW_MAPPING_TOGETHER || mapping->homes->together || !mapping->place || !(global || slice))
		return;
	event->id ^= (uint64_t)mapping->place << ID_SHIFT;
	mapping->homes->moved_ids += event->kind == TW_FLOW_BEGIN || (global && event->kind == TW_ASYNC_BEGIN);
}

/* The number of what `other` is by the kind. */
static uint32_t map_other(struct tw_mapping *mapping, const struct tw_event *event)
{
	if (event->kind == TW_SWITCH || event->kind == TW_WAKEUP || event->kind == TW_OBJECT)
		return track_of(mapping, event->other);
	if (event->kind == TW_STACK_SAMPLE || event->kind == TW_CPU_SAMPLE || event->kind == TW_ALLOCATION_SAMPLE)
		return stack_of(mapping, event->other);
	return event->other;
}

bool tw_map_row(struct tw_mapping *mapping, struct tw_event *event, struct tw_argument *arguments)
{
	bool fine = map_cpu(mapping, event);
	uint32_t from = event->track;
	const bool refers = event->kind == TW_OBJECT || event->argument_count;
	const uint64_t around = refers ? tw_dictionary_track(mapping->from, from)->process : 0;
	event->provider = 0;
	event->name = name_of(mapping, event->name);
	event->category = name_of(mapping, event->category);
	event->track = track_of(mapping, event->track);
	if (event->other)
		event->other = map_other(mapping, event);
	if (event->kind == TW_OBJECT && event->track != UINT32_MAX) {
		fine = name_track(mapping, from, event->track);
		map_object(mapping, event, around);
	}
	map_id(mapping, event, arguments);
	for (unsigned i = 0; i < event->argument_count && fine; i++)
		fine = map_argument(mapping, around, &arguments[i]);
	return fine && event->name != UINT32_MAX && event->category != UINT32_MAX && event->track != UINT32_MAX &&
	       event->other != UINT32_MAX;
}

/* ---- The whole. ---- */

void tw_mapping_free(struct tw_mapping *mapping)
{
	free(mapping->names.items);
	free(mapping->tracks.items);
	free(mapping->stacks.items);
	tw_map_free(&mapping->processes);
	tw_map_free(&mapping->threads);
	tw_map_free(&mapping->cpus);
	free(mapping->numbers.items);
}

static void free_taken(struct tw_taken *taken)
{
	tw_map_free(&taken->owners);
	tw_map_free(&taken->moved);
	free(taken->own);
}

void tw_homes_free(struct tw_homes *homes)
{
	free_taken(&homes->processes);
	free_taken(&homes->threads);
	free_taken(&homes->cpus);
	tw_map_free(&homes->apart);
	free(homes->items);
}
