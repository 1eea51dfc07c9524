/* things.c - domains, assemblies, modules, classes and functions: what a pointer or a number means. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "tracelog/log/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { THING_COST = sizeof(struct tracelog_thing) + 128 /* of maps and of a name */ };

static const char *const words[TRACELOG_THING_KINDS] = {
    [TRACELOG_DOMAIN] = "domain", [TRACELOG_ASSEMBLY] = "assembly", [TRACELOG_MODULE] = "module",
    [TRACELOG_CLASS] = "class",   [TRACELOG_FUNCTION] = "function",
};

static bool has_iid(enum tracelog_thing_kind kind)
{
	return kind == TRACELOG_CLASS || kind == TRACELOG_FUNCTION;
}

/* ---- Coming into being. ---- */

static uint32_t new_name(struct tracelog_log *log, const char *text, size_t length, uint64_t id)
{
	uint32_t name =
	    tw_dictionary_intern(log->dictionary, &(struct tw_name){.text = text, .length = length, .id = id});
	log->failed |= name == UINT32_MAX;
	return name == UINT32_MAX ? 0 : name;
}

static uint32_t add(struct tracelog_log *log, enum tracelog_thing_kind kind, struct tracelog_thing thing)
{
	struct tracelog_things *things = &log->things[kind];
	if (!tw_grow(&things->things, &things->room, things->count + 1, sizeof *things->things)) {
		log->failed = true;
		return 0;
	}
	thing.met = log->at;
	things->things[things->count] = thing;
	return (uint32_t)things->count++;
}

/* What stands for all that there is no memory for. */
static uint32_t other(struct tracelog_log *log, enum tracelog_thing_kind kind)
{
	struct tracelog_things *things = &log->things[kind];
	if (!things->other)
		things->other = add(log, kind,
		                    (struct tracelog_thing){.name = TRACELOG_TEXT(log, "(other)"),
		                                            .announced = true,
		                                            .named = true});
	return things->other;
}

/* A thing that nothing is known of but the number that it is called by. */
static uint32_t appear(struct tracelog_log *log, enum tracelog_thing_kind kind, uint64_t number, struct tw_map *map)
{
	char text[48];
	bool by_pointer = map == &log->things[kind].by_pointer;
	if (!tracelog_take_memory(log, THING_COST))
		return other(log, kind);
	int length = snprintf(text, sizeof text, "%s%s 0x%" PRIx64, words[kind],
	                      by_pointer && has_iid(kind) ? " at" : "", number);
	struct tracelog_thing thing = {.name = new_name(log, text, (size_t)length, number)};
	if (by_pointer)
		thing.pointer = number;
	else
		thing.iid = (uint32_t)number;
	uint32_t made = add(log, kind, thing);
	log->unnamed += made && has_iid(kind);
	log->failed |= made && !tw_map_add(map, number, made);
	return made;
}

static uint32_t find(struct tracelog_log *log, enum tracelog_thing_kind kind, uint64_t number, struct tw_map *map)
{
	uint32_t found;
	return tw_map_find(map, number, &found) ? found : appear(log, kind, number, map);
}

uint32_t tracelog_thing_at(struct tracelog_log *log, enum tracelog_thing_kind kind, uint64_t pointer)
{
	uint32_t thing = pointer ? find(log, kind, pointer, &log->things[kind].by_pointer) : 0;
	if (thing)
		tracelog_thing(log, kind, thing)->used = true;
	return thing;
}

uint32_t tracelog_thing_of(struct tracelog_log *log, enum tracelog_thing_kind kind, uint32_t iid)
{
	uint32_t thing = find(log, kind, iid, &log->things[kind].by_iid);
	if (thing)
		tracelog_thing(log, kind, thing)->used = true;
	return thing;
}

/* ---- Names. ---- */

void tracelog_update_name(struct tracelog_log *log, enum tracelog_thing_kind kind, uint32_t number)
{
	if (!number || number == log->things[kind].other)
		return;
	const struct tracelog_thing *thing = tracelog_thing(log, kind, number);
	struct tw_name name = *tw_dictionary_name(log->dictionary, thing->name);
	uint32_t module = kind == TRACELOG_CLASS ? thing->owner : thing->module;
	if (!thing->name)
		return;
	if (kind == TRACELOG_FUNCTION && thing->owner)
		name.owner = tracelog_thing(log, TRACELOG_CLASS, thing->owner)->name;
	if (has_iid(kind) && module)
		name.module = tracelog_thing(log, TRACELOG_MODULE, module)->name;
	log->failed |= !tw_dictionary_rename(log->dictionary, thing->name, &name);
	if (thing->twin)
		log->failed |= !tw_dictionary_rename(log->dictionary, thing->twin, &name);
}

/* What the profiler writes where the runtime or the metadata has no name. */
static bool is_missing(struct tw_tracelog_text text)
{
	static const char *const fallbacks[] = {"UNKNOWN", "<UNKNOWN>", "<EMPTY>"};
	for (size_t i = 0; i < sizeof fallbacks / sizeof *fallbacks; i++)
		if (text.size == strlen(fallbacks[i]) && memcmp(text.bytes, fallbacks[i], text.size) == 0)
			return true;
	return false;
}

void tracelog_name_thing(struct tracelog_log *log, enum tracelog_thing_kind kind, uint32_t number,
                         struct tw_tracelog_text text)
{
	if (!number || number == log->things[kind].other)
		return;
	struct tracelog_thing *thing = tracelog_thing(log, kind, number);
	struct tw_name name = *tw_dictionary_name(log->dictionary, thing->name);
	if (!thing->name)
		return;
	bool same = thing->named && name.length == text.size && memcmp(name.text, text.bytes, text.size) == 0;
	if (thing->named && !same)
		tracelog_tell(log, TRACELOG_NAME_AGAIN, "%s 0x%" PRIx32 " is called %.*s, was called %.*s", words[kind],
		              thing->iid, (int)(text.size < 80 ? text.size : 80), (const char *)text.bytes,
		              (int)(name.length < 80 ? name.length : 80), name.text);
	if (is_missing(text))
		tracelog_tell(log, TRACELOG_NAME_MISSING, "%s 0x%" PRIx64 " is called %.*s", words[kind],
		              has_iid(kind) ? thing->iid : thing->pointer, (int)text.size, (const char *)text.bytes);
	log->unnamed -= has_iid(kind) && !thing->named;
	thing->named = true;
	if (same || !tracelog_take_memory(log, text.size))
		return;
	name.text = (const char *)text.bytes;
	name.length = text.size;
	name.id = has_iid(kind) ? thing->iid : thing->pointer;
	log->failed |= !tw_dictionary_rename(log->dictionary, thing->name, &name);
	tracelog_update_name(log, kind, number);
}

/* ---- Announcements. ---- */

/* Of now on a pointer means a thing. */
static void point(struct tracelog_log *log, enum tracelog_thing_kind kind, uint64_t pointer, uint32_t number)
{
	struct tracelog_things *things = &log->things[kind];
	uint32_t *stored = pointer ? tw_map_stored(&things->by_pointer, pointer) : NULL;
	if (stored)
		*stored = number + 1;
	else if (pointer)
		log->failed |= !tw_map_add(&things->by_pointer, pointer, number);
	tracelog_thing(log, kind, number)->pointer = pointer;
}

/* A thing that only its pointer was known of is found to be one that its number was known of. */
static void unite(struct tracelog_log *log, enum tracelog_thing_kind kind, uint32_t before, uint32_t number)
{
	struct tracelog_thing *gone = tracelog_thing(log, kind, before);
	struct tracelog_thing *thing = tracelog_thing(log, kind, number);
	thing->twin = gone->name;
	thing->used |= gone->used;
	thing->compiled = gone->compiled;
	log->unnamed -= !gone->named;
	gone->announced = gone->named = true;
}

/* The thing of a class's or function's number and pointer. */
static uint32_t identify(struct tracelog_log *log, enum tracelog_thing_kind kind, uint32_t iid, uint64_t pointer)
{
	struct tracelog_things *things = &log->things[kind];
	uint32_t before = 0, number = 0;
	bool met = pointer && tw_map_find(&things->by_pointer, pointer, &before) &&
	           !tracelog_thing(log, kind, before)->announced;
	bool numbered = tw_map_find(&things->by_iid, iid, &number);
	if (met && numbered && before != number) {
		unite(log, kind, before, number);
	} else if (met && !numbered) {
		number = before;
		tracelog_thing(log, kind, number)->iid = iid;
		log->failed |= !tw_map_add(&things->by_iid, iid, number);
	} else if (!numbered) {
		number = appear(log, kind, iid, &things->by_iid);
	}
	return number;
}

/* The thing of a pointer alone: one that was announced before is another. */
static uint32_t replace(struct tracelog_log *log, enum tracelog_thing_kind kind, uint64_t pointer)
{
	struct tracelog_things *things = &log->things[kind];
	uint32_t before;
	if (!tw_map_find(&things->by_pointer, pointer, &before))
		return appear(log, kind, pointer, &things->by_pointer);
	if (!tracelog_thing(log, kind, before)->announced || !tracelog_take_memory(log, THING_COST))
		return before;
	char text[64];
	int length = snprintf(text, sizeof text, "%s 0x%" PRIx64, words[kind], pointer);
	return add(log, kind, (struct tracelog_thing){.name = new_name(log, text, (size_t)length, log->at.offset)});
}

/* What was said of the pointer or the number before must be said of the same thing. */
static void judge(struct tracelog_log *log, enum tracelog_thing_kind kind, const struct tw_tracelog_record *record,
                  uint32_t number)
{
	const struct tracelog_thing *thing = tracelog_thing(log, kind, number);
	uint32_t before;
	if (tw_map_find(&log->things[kind].by_pointer, record->id, &before) && before != number &&
	    tracelog_thing(log, kind, before)->announced)
		tracelog_tell(log, TRACELOG_POINTER_REUSED, "%s 0x%" PRIx64 " is announced again, as another one",
		              words[kind], record->id);
	if (thing->announced && has_iid(kind) && (thing->pointer != record->id || thing->token != record->token))
		tracelog_tell(log, TRACELOG_IID_AGAIN,
		              "%s 0x%" PRIx32 " is announced again, as 0x%" PRIx64 ", was 0x%" PRIx64, words[kind],
		              record->iid, record->id, thing->pointer);
}

uint32_t tracelog_announce(struct tracelog_log *log, enum tracelog_thing_kind kind,
                           const struct tw_tracelog_record *record)
{
	bool numbered = has_iid(kind) && !(record->style & TW_TRACELOG_NO_CLASS_IID);
	uint32_t number = numbered ? identify(log, kind, record->iid, record->id) : replace(log, kind, record->id);
	if (!number || number == log->things[kind].other)
		return number;
	judge(log, kind, record, number);
	point(log, kind, record->id, number);
	struct tracelog_thing *thing = tracelog_thing(log, kind, number);
	if (!thing->announced)
		thing->met = log->at;
	thing->announced = true;
	thing->token = record->token;
	return number;
}

/* ---- The end. ---- */

static void judge_thing(struct tracelog_log *log, enum tracelog_thing_kind kind, const struct tracelog_thing *thing)
{
	static const enum tracelog_rule unknown[TRACELOG_THING_KINDS] = {
	    [TRACELOG_DOMAIN] = TRACELOG_DOMAIN_UNKNOWN,     [TRACELOG_ASSEMBLY] = TRACELOG_ASSEMBLY_UNKNOWN,
	    [TRACELOG_MODULE] = TRACELOG_MODULE_UNKNOWN,     [TRACELOG_CLASS] = TRACELOG_CLASS_UNKNOWN,
	    [TRACELOG_FUNCTION] = TRACELOG_FUNCTION_UNKNOWN,
	};
	uint64_t number = has_iid(kind) && !thing->pointer ? thing->iid : thing->pointer;
	if (!thing->announced && !thing->named)
		tracelog_tell_at(log, unknown[kind], thing->met, "%s 0x%" PRIx64 " is referred to and never announced",
		                 words[kind], number);
	else if (kind == TRACELOG_CLASS && !thing->named && log->classes_named)
		tracelog_tell_at(log, TRACELOG_CLASS_UNNAMED, thing->met, "class 0x%" PRIx32 " is never named",
		                 thing->iid);
	else if (kind == TRACELOG_FUNCTION && !thing->named)
		tracelog_tell_at(log, TRACELOG_FUNCTION_UNNAMED, thing->met, "function 0x%" PRIx32 " is never named",
		                 thing->iid);
}

/* "App.Item[,]::Get": a function of an array. */
static bool is_of_array(const struct tw_name *name)
{
	const char *end = name->length ? memmem(name->text, name->length, "]::", 3) : NULL;
	while (end && end > name->text && end[-1] == ',')
		end--;
	return end && end > name->text && end[-1] == '[';
}

/* The runtime announces no arrays, and their functions have a pointer for their class. */
static void announce_arrays(struct tracelog_log *log)
{
	const struct tracelog_things *functions = &log->things[TRACELOG_FUNCTION];
	for (size_t i = 1; i < functions->count; i++) {
		const struct tracelog_thing *function = &functions->things[i];
		if (function->named && is_of_array(tw_dictionary_name(log->dictionary, function->name)))
			tracelog_thing(log, TRACELOG_CLASS, function->owner)->named = true;
	}
}

void tracelog_judge_things(struct tracelog_log *log)
{
	announce_arrays(log);
	for (unsigned kind = 0; kind < TRACELOG_THING_KINDS; kind++)
		for (size_t i = 1; i < log->things[kind].count; i++)
			judge_thing(log, (enum tracelog_thing_kind)kind, &log->things[kind].things[i]);
}

void tracelog_things_free(struct tracelog_log *log)
{
	for (unsigned kind = 0; kind < TRACELOG_THING_KINDS; kind++) {
		free(log->things[kind].things);
		tw_map_free(&log->things[kind].by_pointer);
		tw_map_free(&log->things[kind].by_iid);
	}
}
