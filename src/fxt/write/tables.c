/* tables.c - the string table and the thread table of a provider in an archive that is written; objects that were
 * described. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "fxt/events/events.h"
#include "fxt/write/writer.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Strings ---- */

enum {
	INLINE_MAX = 16000,  /* bytes of a text in a record: two of them and 80 words beside fit any */
	TEXTS_MOST = 1 << 18 /* bytes of texts that are no names and are known to have been registered */
};

static uint16_t put_string(struct fxt_tables *tables, const char *text, size_t size)
{
	struct tw_output *out = &tables->writer->out;
	uint64_t index = ++tables->string_count;
	struct fxt_new_record record = fxt_record_begin(out, tables->big);
	fxt_put_stream(&record, text, size);
	fxt_record_end(out, &record, TW_FXT_TYPE_STRING | index << 16 | (uint64_t)size << 32);
	return (uint16_t)index;
}

size_t fxt_cut_text(const char *text, size_t size, size_t limit)
{
	if (size <= limit)
		return size;
	size_t end = limit;
	while (end > 0 && limit - end < 3 && ((uint8_t)text[end] & 0xc0) == 0x80)
		end--;
	return ((uint8_t)text[end] & 0xc0) == 0x80 ? limit : end;
}

/* How much of a text is kept. */
static size_t cut(const struct fxt_tables *tables, const char *text, size_t size, size_t limit)
{
	size_t kept = fxt_cut_text(text, size, limit);
	if (kept < size)
		tw_count_loss(tables->writer, "long string", true);
	return kept;
}

struct fxt_string_ref fxt_inline_string(const struct fxt_tables *tables, const char *text, size_t size)
{
	size = cut(tables, text, size, INLINE_MAX);
	return (struct fxt_string_ref){.reference = (uint16_t)(TW_FXT_STRING_INLINE | size), .text = text};
}

struct fxt_string_ref fxt_add_string(struct fxt_tables *tables, uint32_t number)
{
	const struct tw_name *name = tw_dictionary_name(tables->dictionary, number);
	if (name->length == 0)
		return (struct fxt_string_ref){0};
	if (number >= tables->string_room || tables->string_count == TW_FXT_STRINGS_MAX)
		return fxt_inline_string(tables, name->text, name->length);
	size_t size = cut(tables, name->text, name->length, TW_FXT_STRING_MAX);
	tables->strings[number] = put_string(tables, name->text, size);
	return (struct fxt_string_ref){.reference = tables->strings[number]};
}

uint16_t fxt_register_text(struct fxt_tables *tables, const uint8_t *text, uint64_t size)
{
	const struct tw_name name = {.text = (const char *)text, .length = (size_t)size};
	tables->texts = tables->texts ? tables->texts : tw_dictionary_new();
	uint32_t number = tables->texts ? tw_dictionary_find(tables->texts, &name) : UINT32_MAX;
	if (number != UINT32_MAX)
		return tables->text_strings[number];
	if (!tables->texts || size > TW_FXT_STRING_MAX || tables->string_count >= TW_FXT_STRINGS_MAX / 2)
		return 0;
	uint16_t index = put_string(tables, name.text, name.length);
	size_t need = tw_dictionary_names(tables->texts) + (size_t)1;
	if (name.length > TEXTS_MOST - tables->text_bytes ||
	    !tw_grow(&tables->text_strings, &tables->text_room, need, sizeof index))
		return index;
	number = tw_dictionary_intern(tables->texts, &name);
	if (number < tables->text_room)
		tables->text_strings[number] = index;
	tables->text_bytes += name.length;
	return index;
}

struct fxt_string_ref fxt_own_string(struct fxt_tables *tables, enum fxt_own own)
{
	static const struct tw_name texts[] = {
#define X(name, string) [name] = {.text = string, .length = sizeof string - 1},
	    FXT_OWN_LIST(X)
#undef X
	};
	const struct tw_name *text = &texts[own];
	if (!tables->own[own] && tables->string_count == TW_FXT_STRINGS_MAX)
		return fxt_inline_string(tables, text->text, text->length);
	if (!tables->own[own])
		tables->own[own] = put_string(tables, text->text, text->length);
	return (struct fxt_string_ref){.reference = tables->own[own]};
}

/* ---- Objects of arguments. ---- */

/* Without memory it is not known, and described once more. */
void fxt_note_object_name(struct fxt_tables *tables, enum tw_argument_type type, uint64_t process, uint64_t number,
                          uint32_t name)
{
	struct tw_map *objects = &tables->described->objects;
	const struct fxt_object object = fxt_written_object(type == TW_ARG_POINTER, tables->provider, process, number);
	if (name == 0)
		return;
	if (objects->count >= tables->described->objects_most)
		tw_map_clear(objects);
	tw_map_set(objects, object.own, name);
	if (object.all)
		tw_map_set(objects, object.all, name);
}

/* A kernel object has no type: that is not known. */
static void put_object(struct fxt_tables *tables, uint64_t process, const struct tw_argument *argument)
{
	struct tw_output *out = &tables->writer->out;
	bool pointer = argument->type == TW_ARG_POINTER;
	struct fxt_string_ref name = fxt_string(tables, (uint32_t)argument->size);
	struct fxt_new_record record = fxt_record_begin(out, tables->big);
	fxt_put_word(&record, argument->value.u);
	if (pointer)
		fxt_put_word(&record, process);
	fxt_put_text(&record, &name);
	uint64_t type = pointer ? TW_FXT_TYPE_USERSPACE_OBJECT : TW_FXT_TYPE_KERNEL_OBJECT;
	fxt_record_end(out, &record, type | (uint64_t)name.reference << 24);
}

void fxt_describe_object(struct fxt_tables *tables, uint64_t process, const struct tw_argument *argument)
{
	const enum tw_argument_type type = (enum tw_argument_type)argument->type;
	const uint32_t name = argument->size;
	const struct fxt_object object =
	    fxt_written_object(type == TW_ARG_POINTER, tables->provider, process, argument->value.u);
	if (fxt_object_name(&tables->described->objects, object) == name)
		return;
	put_object(tables, process, argument);
	fxt_note_object_name(tables, type, process, argument->value.u, name);
}

/* ---- Tracks. ---- */

/* Whether a track is one, but no thread. Number 0 is that of what has no track: its koids are 0. */
static bool needs_koid(const struct fxt_tables *tables, uint32_t number)
{
	enum tw_track_kind kind = tw_dictionary_track(tables->dictionary, number)->kind;
	return number > 0 && number < tables->tracks_seen && (kind == TW_TRACK_CPU || kind == TW_TRACK_OTHER);
}

struct fxt_koids fxt_koids_of(const struct fxt_tables *tables, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(tables->dictionary, number);
	return (struct fxt_koids){
	    .process = track->process,
	    .thread = needs_koid(tables, number) ? FXT_INVENTED | number : track->thread,
	};
}

static uint8_t put_thread(struct fxt_tables *tables, struct fxt_koids koids)
{
	struct tw_output *out = &tables->writer->out;
	uint64_t index = ++tables->thread_count;
	struct fxt_new_record record = fxt_record_begin(out, tables->big);
	fxt_put_word(&record, koids.process);
	fxt_put_word(&record, koids.thread);
	fxt_record_end(out, &record, TW_FXT_TYPE_THREAD | index << 16);
	return (uint8_t)index;
}

/* Writes the name of a process, or that of a thread with its process. */
static void put_name(struct fxt_tables *tables, uint64_t type, struct fxt_koids koids, struct fxt_string_ref name)
{
	struct tw_output *out = &tables->writer->out;
	bool thread = type == FXT_OBJECT_THREAD;
	struct tw_argument process = {.type = TW_ARG_KOID, .value.u = koids.process};
	struct fxt_string_ref process_name = {0};
	if (thread)
		process_name = fxt_own_string(tables, FXT_OWN_PROCESS);
	struct fxt_new_record record = fxt_record_begin(out, tables->big);
	fxt_put_word(&record, thread ? koids.thread : koids.process);
	fxt_put_text(&record, &name);
	if (thread)
		fxt_put_argument(&record, &process_name, &process, 0);
	fxt_record_end(out, &record,
	               TW_FXT_TYPE_KERNEL_OBJECT | type << 16 | (uint64_t)name.reference << 24 |
	                   (uint64_t)thread << 40);
}

/* Describes a track by its name, if it has one that has not been written. */
static void describe(struct fxt_tables *tables, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(tables->dictionary, number);
	struct fxt_described_track *described = &tables->described->tracks[number];
	if (track->name == described->name)
		return;
	described->name = track->name;
	described->unasked = true;
	bool process = track->kind == TW_TRACK_PROCESS;
	struct fxt_koids koids = fxt_koids_of(tables, number);
	struct fxt_string_ref name = fxt_string(tables, track->name);
	put_name(tables, process ? FXT_OBJECT_PROCESS : FXT_OBJECT_THREAD, koids, name);
	fxt_note_object_name(tables, TW_ARG_KOID, 0, process ? koids.process : koids.thread, track->name);
}

/* Whether it is what describe() writes about a track. */
static bool describes(const struct fxt_tables *tables, const struct tw_event *event,
                      const struct tw_argument *arguments)
{
	const struct tw_track *track = tw_dictionary_track(tables->dictionary, event->track);
	if (track->kind == TW_TRACK_PROCESS)
		return event->id == track->process && event->value == FXT_OBJECT_PROCESS && event->argument_count == 0;
	return track->kind == TW_TRACK_THREAD && event->id == track->thread && event->value == FXT_OBJECT_THREAD &&
	       event->argument_count == 1 && arguments->type == TW_ARG_KOID && arguments->value.u == track->process &&
	       strcmp(tw_dictionary_name(tables->dictionary, arguments->name)->text, "process") == 0;
}

bool fxt_was_described(struct fxt_tables *tables, const struct tw_event *event, const struct tw_argument *arguments)
{
	if (event->track == 0 || event->track >= tables->tracks_seen || !describes(tables, event, arguments))
		return false;
	struct fxt_described_track *described = &tables->described->tracks[event->track];
	described->nameless |= event->name == 0;
	if (event->name == 0)
		return false;
	bool was_described = described->unasked && described->name == event->name;
	described->unasked = false;
	described->name = event->name;
	return was_described;
}

static void describe_cpu(struct fxt_tables *tables, uint32_t number)
{
	char text[32];
	uint64_t cpu = tw_dictionary_track(tables->dictionary, number)->thread;
	int length = snprintf(text, sizeof text, "CPU %llu", (unsigned long long)cpu);
	put_name(tables, FXT_OBJECT_THREAD, fxt_koids_of(tables, number),
	         fxt_inline_string(tables, text, (size_t)length));
}

void fxt_add_thread(struct fxt_tables *tables, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(tables->dictionary, number);
	struct fxt_written_thread *thread = &tables->threads[number];
	bool known = tables->described->tracks[number].written;
	thread->written = tables->described->tracks[number].written = true;
	if (tables->thread_count < TW_FXT_THREADS_MAX)
		thread->index = put_thread(tables, fxt_koids_of(tables, number));
	if (!known && needs_koid(tables, number))
		tw_count_loss(tables->writer, "track that is no thread", true);
	if (!known && track->kind == TW_TRACK_CPU && !track->name)
		describe_cpu(tables, number);
	describe(tables, number);
}

/* ---- The tables. ---- */

bool fxt_tables_grow(struct fxt_tables *tables, const struct tw_dictionary *dictionary)
{
	uint32_t tracks = tw_dictionary_tracks(dictionary);
	struct fxt_described *described = tables->described;
	tables->dictionary = dictionary;
	if (!tw_grow(&tables->strings, &tables->string_room, tw_dictionary_names(dictionary),
	             sizeof *tables->strings) ||
	    !tw_grow(&tables->threads, &tables->thread_room, tracks, sizeof *tables->threads) ||
	    !tw_grow(&described->tracks, &described->room, tracks, sizeof *described->tracks))
		return false;
	tables->tracks_seen = tracks;
	for (; described->seen < tracks; described->seen++)
		if (tw_dictionary_track(dictionary, described->seen)->kind == TW_TRACK_PROCESS)
			describe(tables, described->seen);
	return true;
}

/* Process 0 is there where a record tells of it, though that may have no name to tell. */
static void describe_process_0(struct fxt_tables *tables)
{
	const struct fxt_string_ref none = fxt_inline_string(tables, "", 0);
	for (uint32_t i = 1; i < tables->tracks_seen; i++) {
		const struct tw_track *track = tw_dictionary_track(tables->dictionary, i);
		struct fxt_described_track *described = &tables->described->tracks[i];
		if (track->kind != TW_TRACK_PROCESS || track->process || track->name || described->nameless)
			continue;
		described->nameless = true;
		put_name(tables, FXT_OBJECT_PROCESS, fxt_koids_of(tables, i), none);
	}
}

void fxt_tables_finish(struct fxt_tables *tables)
{
	describe_process_0(tables);
	for (uint32_t i = 0; i < tables->tracks_seen; i++)
		if (tables->described->tracks[i].written ||
		    tw_dictionary_track(tables->dictionary, i)->kind == TW_TRACK_PROCESS)
			describe(tables, i);
}

void fxt_tables_free(struct fxt_tables *tables)
{
	tw_dictionary_free(tables->texts);
	free(tables->text_strings);
	free(tables->strings);
	free(tables->threads);
}
