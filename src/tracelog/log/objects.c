/* objects.c - domains, assemblies, modules, classes and functions: what a pointer or a number means. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tracelog/log/objects.h"

#include "base/memory/memory.h"
#include "tracelog/log/fold_async.h"
#include "tracelog/log/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes, about: of an object, of maps and of a name; of the name. */
enum { OBJECT_COST = 256, NAME_COST = 96 };

static const char *const words[TRACELOG_OBJECT_KINDS] = {
    [TRACELOG_DOMAIN] = "domain", [TRACELOG_ASSEMBLY] = "assembly", [TRACELOG_MODULE] = "module",
    [TRACELOG_CLASS] = "class",   [TRACELOG_FUNCTION] = "function",
};

static bool has_iid(enum tracelog_object_kind kind)
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

static uint32_t add(struct tracelog_log *log, enum tracelog_object_kind kind, struct tracelog_object object)
{
	struct tracelog_objects *objects = &log->objects[kind];
	if (!tw_grow(&objects->items, &objects->room, objects->count + 1, sizeof *objects->items)) {
		log->failed = true;
		return 0;
	}
	object.met = log->line.at;
	objects->items[objects->count] = object;
	return (uint32_t)objects->count++;
}

/* Adds an object that stands for others, "(other)" or "(unknown)", as if it had always been there. */
static uint32_t add_stand_in(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t name)
{
	return add(
	    log, kind,
	    (struct tracelog_object){.iid = TW_TRACELOG_IID_NONE, .name = name, .announced = true, .named = true});
}

/* What stands for all that there is no memory for. */
static uint32_t other(struct tracelog_log *log, enum tracelog_object_kind kind)
{
	uint32_t *number = &log->objects[kind].other;
	if (!*number)
		*number = add_stand_in(log, kind, TRACELOG_TEXT(log, "(other)"));
	return *number;
}

/* What stands for all whose number is "?". */
static uint32_t unknown(struct tracelog_log *log, enum tracelog_object_kind kind)
{
	uint32_t *number = &log->objects[kind].unknown;
	if (!*number)
		*number = add_stand_in(log, kind, TRACELOG_TEXT(log, "(unknown)"));
	return *number;
}

/* Whether nothing can be told of an object: it is none, or stands for others. */
static bool is_none(const struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t number)
{
	return !number || number == log->objects[kind].other || number == log->objects[kind].unknown;
}

/* A object that nothing is known of but the number that it is called by, in its session. */
static uint32_t appear(struct tracelog_log *log, enum tracelog_object_kind kind, uint64_t number, struct tw_map *map)
{
	char text[48];
	bool by_pointer = map == &log->objects[kind].by_pointer;
	if (!tracelog_take_shared(log, OBJECT_COST, NAME_COST))
		return other(log, kind);
	int length = snprintf(text, sizeof text, "%s%s 0x%" PRIx64, words[kind],
	                      by_pointer && has_iid(kind) ? " at" : "", number);
	const struct tracelog_object object = {
	    .name = new_name(log, text, (size_t)length, number ^ (uint64_t)log->session.number << 40),
	    .pointer = by_pointer ? number : 0,
	    .iid = by_pointer ? TW_TRACELOG_IID_NONE : (uint32_t)number,
	};
	uint32_t made = add(log, kind, object);
	log->failed |= made && !tw_map_add(map, number, made);
	return made;
}

static uint32_t find(struct tracelog_log *log, enum tracelog_object_kind kind, uint64_t number, struct tw_map *map)
{
	uint32_t found;
	return tw_map_find(map, number, &found) ? found : appear(log, kind, number, map);
}

uint32_t tracelog_object_at(struct tracelog_log *log, enum tracelog_object_kind kind, uint64_t pointer)
{
	uint32_t object = pointer ? find(log, kind, pointer, &log->objects[kind].by_pointer) : 0;
	if (object)
		tracelog_object(log, kind, object)->used = true;
	return object;
}

uint32_t tracelog_object_of(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t iid)
{
	if (iid == TW_TRACELOG_IID_NONE)
		return unknown(log, kind);
	uint32_t object = find(log, kind, iid, &log->objects[kind].by_iid);
	if (object)
		tracelog_object(log, kind, object)->used = true;
	return object;
}

/* ---- Names. ---- */

void tracelog_update_name(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t number)
{
	if (is_none(log, kind, number))
		return;
	const struct tracelog_object *object = tracelog_object(log, kind, number);
	struct tw_name name = *tw_dictionary_name(log->dictionary, object->name);
	uint32_t module = kind == TRACELOG_CLASS ? object->owner : object->module;
	if (!object->name || object->shares_name)
		return;
	if (kind == TRACELOG_FUNCTION && object->owner)
		name.owner = tracelog_object(log, TRACELOG_CLASS, object->owner)->name;
	if (has_iid(kind) && module)
		name.module = tracelog_object(log, TRACELOG_MODULE, module)->name;
	log->failed |= !tw_dictionary_rename(log->dictionary, object->name, &name);
	if (object->twin)
		log->failed |= !tw_dictionary_rename(log->dictionary, object->twin, &name);
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

void tracelog_name_object(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t number,
                          struct tw_tracelog_text text)
{
	if (is_none(log, kind, number))
		return;
	struct tracelog_object *object = tracelog_object(log, kind, number);
	struct tw_name name = *tw_dictionary_name(log->dictionary, object->name);
	if (!object->name)
		return;
	const struct tw_name *signature = tw_dictionary_name(log->dictionary, object->signature);
	bool fits = name.length == text.size || name.length == text.size + signature->length;
	bool same = object->named && fits && memcmp(name.text, text.bytes, text.size) == 0;
	if (object->named && !same)
		tracelog_report(log, TRACELOG_NAME_AGAIN, "%s 0x%" PRIx32 " is called %.*s, was called %.*s",
		                words[kind], object->iid, (int)(text.size < 80 ? text.size : 80),
		                (const char *)text.bytes, (int)(name.length < 80 ? name.length : 80), name.text);
	if (is_missing(text))
		tracelog_report(log, TRACELOG_NAME_MISSING, "%s 0x%" PRIx64 " is called %.*s", words[kind],
		                has_iid(kind) ? object->iid : object->pointer, (int)text.size,
		                (const char *)text.bytes);
	object->named = true;
	if (same || !tracelog_take_shared(log, text.size, text.size))
		return;
	name.text = (const char *)text.bytes;
	name.length = text.size;
	name.id = has_iid(kind) ? object->iid : object->pointer;
	log->failed |= !tw_dictionary_rename(log->dictionary, object->name, &name);
	tracelog_update_name(log, kind, number);
}

/* ---- Overloads. ---- */

enum { SIGNATURE_COST = 2 * sizeof(struct tw_map_slot) /* of a map, which doubles */ };

/* In the place of a signature: there are several. */
static const uint32_t overloaded = UINT32_MAX - 1;

static uint64_t hash_of(struct tw_tracelog_text text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	for (size_t i = 0; i < text.size; i++)
		hash = (hash ^ text.bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Operators of conversion differ by what they return alone. */
static bool is_conversion(struct tw_tracelog_text name)
{
	static const char *const operators[] = {"::op_Implicit", "::op_Explicit"};
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		size_t size = strlen(operators[i]);
		if (name.size > size && memcmp(name.bytes + name.size - size, operators[i], size) == 0)
			return true;
	}
	return false;
}

/* The signature of a function, as it is shown: a name of the dictionary. */
static uint32_t keep_signature(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	struct tw_text text = {0};
	bool added = tw_text_add(&text, (const char *)record->signature.bytes, record->signature.size);
	if (added && is_conversion(record->name))
		added = tw_text_add(&text, " : ", 3) &&
		        tw_text_add(&text, (const char *)record->return_type.bytes, record->return_type.size);
	uint32_t kept = added && text.length ? tracelog_name(log, text.bytes, text.length) : 0;
	log->failed |= !added;
	tw_text_free(&text);
	return kept;
}

/* Shows the signature of a function behind its name. */
static void show_signature(struct tracelog_log *log, const struct tracelog_object *function,
                           struct tw_tracelog_text plain)
{
	struct tw_name name = *tw_dictionary_name(log->dictionary, function->name);
	const struct tw_name *signature = tw_dictionary_name(log->dictionary, function->signature);
	struct tw_text text = {0};
	if (!function->name ||
	    !tracelog_take_shared(log, plain.size + signature->length, plain.size + signature->length))
		return;
	log->failed |= !tw_text_add(&text, (const char *)plain.bytes, plain.size) ||
	               !tw_text_add(&text, signature->text, signature->length);
	name.text = text.bytes;
	name.length = text.length;
	if (!log->failed)
		log->failed = !tw_dictionary_rename(log->dictionary, function->name, &name) ||
		              (function->twin && !tw_dictionary_rename(log->dictionary, function->twin, &name));
	tw_text_free(&text);
}

/* Notes the signature of a name. Returns whether the name has several, and whether it has that only from now on. */
static bool meet(struct tracelog_log *log, uint64_t hash, uint32_t signature, bool *first)
{
	uint32_t *known = tw_map_stored(&log->naming.signatures, hash);
	*first = known && *known != overloaded + 1 && *known != signature + 1;
	if (*first)
		*known = overloaded + 1;
	if (!known && tracelog_take_memory(log, SIGNATURE_COST))
		log->failed |= !tw_map_add(&log->naming.signatures, hash, signature);
	return known && *known == overloaded + 1;
}

static void show_all_signatures(struct tracelog_log *log, uint64_t hash, struct tw_tracelog_text plain)
{
	uint32_t function = 0;
	tw_map_find(&log->naming.alike, hash, &function);
	for (; function; function = tracelog_object(log, TRACELOG_FUNCTION, function)->alike)
		show_signature(log, tracelog_object(log, TRACELOG_FUNCTION, function), plain);
}

void tracelog_meet_signature(struct tracelog_log *log, const struct tw_tracelog_record *record)
{
	uint64_t hash = hash_of(record->name);
	bool first;
	if (meet(log, hash, keep_signature(log, record), &first) && first)
		show_all_signatures(log, hash, record->name);
}

/* Puts a function among those of its name. */
static void link_alike(struct tracelog_log *log, uint64_t hash, uint32_t number)
{
	uint32_t *first = tw_map_stored(&log->naming.alike, hash);
	tracelog_object(log, TRACELOG_FUNCTION, number)->alike = first ? *first - 1 : 0;
	if (first)
		*first = number + 1;
	else if (tracelog_take_memory(log, SIGNATURE_COST))
		log->failed |= !tw_map_add(&log->naming.alike, hash, number);
}

/* ---- Async methods, where they are folded. ---- */

/* The first function of a name which is not the one given, and is the body of a method where `body`, else a method. */
static struct tracelog_object *find_alike(struct tracelog_log *log, uint64_t hash, uint32_t number, bool body)
{
	uint32_t function = 0;
	tw_map_find(&log->naming.alike, hash, &function);
	for (; function; function = tracelog_object(log, TRACELOG_FUNCTION, function)->alike)
		if (function != number && tracelog_object(log, TRACELOG_FUNCTION, function)->folded == body)
			return tracelog_object(log, TRACELOG_FUNCTION, function);
	return NULL;
}

/* Gives a function the name that another one has, with its class and module. Whoever has seen it before has a name of
 * the same text. */
static void share_name(struct tracelog_log *log, uint32_t number, const struct tracelog_object *other)
{
	struct tracelog_object *function = tracelog_object(log, TRACELOG_FUNCTION, number);
	const struct tw_name name = *tw_dictionary_name(log->dictionary, other->name);
	log->failed |= !tw_dictionary_rename(log->dictionary, function->name, &name);
	function->name = other->name;
	function->named = true;
	function->shares_name = true;
}

/* The body of an async method, and that method, have one name. Returns whether the function is one of these. */
static bool fold_async(struct tracelog_log *log, uint32_t number, const struct tw_tracelog_record *record)
{
	struct tracelog_object *function = tracelog_object(log, TRACELOG_FUNCTION, number);
	struct tw_text text = {0};
	struct tw_tracelog_text name = record->name;
	if (!log->reader->options.fold_async || function->named)
		return function->folded;
	function->folded = tracelog_fold_async(record->name, &text);
	if (function->folded)
		name = (struct tw_tracelog_text){(const uint8_t *)text.bytes, text.length};
	const uint64_t hash = hash_of(name);
	const struct tracelog_object *other = find_alike(log, hash, number, !function->folded);
	bool shared = other || function->folded;
	if (other)
		share_name(log, number, other);
	else if (shared)
		tracelog_name_object(log, TRACELOG_FUNCTION, number, name);
	if (shared)
		link_alike(log, hash, number);
	tw_text_free(&text);
	return shared;
}

void tracelog_name_function(struct tracelog_log *log, uint32_t number, const struct tw_tracelog_record *record)
{
	uint64_t hash = hash_of(record->name);
	if (is_none(log, TRACELOG_FUNCTION, number) || fold_async(log, number, record))
		return;
	struct tracelog_object *function = tracelog_object(log, TRACELOG_FUNCTION, number);
	bool again = function->named;
	tracelog_name_object(log, TRACELOG_FUNCTION, number, record->name);
	tracelog_meet_signature(log, record);
	if (again)
		return;
	function->signature = keep_signature(log, record);
	link_alike(log, hash, number);
	bool first;
	if (meet(log, hash, function->signature, &first))
		show_signature(log, function, record->name);
}

/* ---- Announcements. ---- */

/* Of now on a pointer means a object. */
static void point(struct tracelog_log *log, enum tracelog_object_kind kind, uint64_t pointer, uint32_t number)
{
	struct tracelog_objects *objects = &log->objects[kind];
	uint32_t *stored = pointer ? tw_map_stored(&objects->by_pointer, pointer) : NULL;
	if (stored)
		*stored = number + 1;
	else if (pointer)
		log->failed |= !tw_map_add(&objects->by_pointer, pointer, number);
	tracelog_object(log, kind, number)->pointer = pointer;
}

/* A object that only its pointer was known of is found to be one that its number was known of. */
static void unite(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t before, uint32_t number)
{
	struct tracelog_object *gone = tracelog_object(log, kind, before);
	struct tracelog_object *object = tracelog_object(log, kind, number);
	object->twin = gone->name;
	object->used |= gone->used;
	object->compiled = gone->compiled;
	gone->announced = gone->named = true;
}

/* The object of a class's or function's number and pointer. */
static uint32_t identify(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t iid, uint64_t pointer)
{
	struct tracelog_objects *objects = &log->objects[kind];
	uint32_t before = 0, number = 0;
	bool met = pointer && tw_map_find(&objects->by_pointer, pointer, &before) &&
	           !tracelog_object(log, kind, before)->announced;
	bool numbered = tw_map_find(&objects->by_iid, iid, &number);
	if (met && numbered && before != number) {
		unite(log, kind, before, number);
	} else if (met && !numbered) {
		number = before;
		tracelog_object(log, kind, number)->iid = iid;
		log->failed |= !tw_map_add(&objects->by_iid, iid, number);
	} else if (!numbered) {
		number = appear(log, kind, iid, &objects->by_iid);
	}
	return number;
}

/* Whether a function of no number is one that was announced before: it was compiled again. */
static bool is_again(struct tracelog_log *log, enum tracelog_object_kind kind, uint32_t before,
                     const struct tw_tracelog_record *record)
{
	const struct tracelog_object *object = tracelog_object(log, kind, before);
	return kind == TRACELOG_FUNCTION && object->token == record->token && object->module &&
	       tracelog_object(log, TRACELOG_MODULE, object->module)->pointer == record->module;
}

/* The object of a pointer alone: one that was announced before is another. */
static uint32_t replace(struct tracelog_log *log, enum tracelog_object_kind kind,
                        const struct tw_tracelog_record *record)
{
	const uint64_t pointer = record->id;
	struct tracelog_objects *objects = &log->objects[kind];
	uint32_t before;
	if (!tw_map_find(&objects->by_pointer, pointer, &before))
		return appear(log, kind, pointer, &objects->by_pointer);
	if (!tracelog_object(log, kind, before)->announced || is_again(log, kind, before, record) ||
	    !tracelog_take_shared(log, OBJECT_COST, NAME_COST))
		return before;
	char text[64];
	int length = snprintf(text, sizeof text, "%s 0x%" PRIx64, words[kind], pointer);
	return add(log, kind,
	           (struct tracelog_object){.name = new_name(log, text, (size_t)length, log->line.at.offset)});
}

/* What was said of the pointer or the number before must be said of the same object. */
static void judge(struct tracelog_log *log, enum tracelog_object_kind kind, const struct tw_tracelog_record *record,
                  uint32_t number)
{
	const struct tracelog_object *object = tracelog_object(log, kind, number);
	uint32_t before;
	if (tw_map_find(&log->objects[kind].by_pointer, record->id, &before) && before != number &&
	    tracelog_object(log, kind, before)->announced)
		tracelog_report(log, TRACELOG_POINTER_REUSED, "%s 0x%" PRIx64 " is announced again, as another one",
		                words[kind], record->id);
	if (object->announced && has_iid(kind) && record->iid != TW_TRACELOG_IID_NONE &&
	    (object->pointer != record->id || object->token != record->token))
		tracelog_report(log, TRACELOG_IID_AGAIN,
		                "%s 0x%" PRIx32 " is announced again, as 0x%" PRIx64 ", was 0x%" PRIx64, words[kind],
		                record->iid, record->id, object->pointer);
}

uint32_t tracelog_announce(struct tracelog_log *log, enum tracelog_object_kind kind,
                           const struct tw_tracelog_record *record)
{
	const unsigned without = TW_TRACELOG_NO_CLASS_IID | TW_TRACELOG_NO_IID;
	bool numbered = has_iid(kind) && !(record->style & without);
	uint32_t number = numbered ? identify(log, kind, record->iid, record->id) : replace(log, kind, record);
	if (is_none(log, kind, number))
		return number;
	judge(log, kind, record, number);
	point(log, kind, record->id, number);
	struct tracelog_object *object = tracelog_object(log, kind, number);
	if (!object->announced)
		object->met = log->line.at;
	object->announced = true;
	object->token = record->token;
	return number;
}

/* ---- The end. ---- */

static void judge_object(struct tracelog_log *log, enum tracelog_object_kind kind, const struct tracelog_object *object)
{
	static const enum tracelog_rule unknown[TRACELOG_OBJECT_KINDS] = {
	    [TRACELOG_DOMAIN] = TRACELOG_DOMAIN_UNKNOWN,     [TRACELOG_ASSEMBLY] = TRACELOG_ASSEMBLY_UNKNOWN,
	    [TRACELOG_MODULE] = TRACELOG_MODULE_UNKNOWN,     [TRACELOG_CLASS] = TRACELOG_CLASS_UNKNOWN,
	    [TRACELOG_FUNCTION] = TRACELOG_FUNCTION_UNKNOWN,
	};
	uint64_t number = has_iid(kind) && !object->pointer ? object->iid : object->pointer;
	if (!object->announced && !object->named)
		tracelog_report_at(log, unknown[kind], object->met,
		                   "%s 0x%" PRIx64 " is referred to and never announced", words[kind], number);
	else if (kind == TRACELOG_CLASS && !object->named && log->naming.classes_named &&
	         object->iid != TW_TRACELOG_IID_NONE)
		tracelog_report_at(log, TRACELOG_CLASS_UNNAMED, object->met, "class 0x%" PRIx32 " is never named",
		                   object->iid);
	else if (kind == TRACELOG_FUNCTION && !object->named && object->iid != TW_TRACELOG_IID_NONE)
		tracelog_report_at(log, TRACELOG_FUNCTION_UNNAMED, object->met, "function 0x%" PRIx32 " is never named",
		                   object->iid);
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
	const struct tracelog_objects *functions = &log->objects[TRACELOG_FUNCTION];
	for (size_t i = 1; i < functions->count; i++) {
		const struct tracelog_object *function = &functions->items[i];
		if (function->named && is_of_array(tw_dictionary_name(log->dictionary, function->name)))
			tracelog_object(log, TRACELOG_CLASS, function->owner)->named = true;
	}
}

void tracelog_judge_objects(struct tracelog_log *log)
{
	announce_arrays(log);
	for (unsigned kind = 0; kind < TRACELOG_OBJECT_KINDS; kind++)
		for (size_t i = 1; i < log->objects[kind].count; i++)
			judge_object(log, (enum tracelog_object_kind)kind, &log->objects[kind].items[i]);
}

void tracelog_objects_free(struct tracelog_objects *objects)
{
	free(objects->items);
	tw_map_free(&objects->by_pointer);
	tw_map_free(&objects->by_iid);
}
