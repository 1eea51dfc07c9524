/* intern.c - string, thread and kernel object records at the first use of a name or track. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/write/intern.h"

#include "base/memory/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* Bytes of a text in a record that has others, too: two of them and 80 words beside fit any record. */
enum { INLINE_MAX = 16000 };

enum { TEXTS_MOST = 1 << 18 }; /* bytes of texts that are no names and are known to have been registered */

/* ---- Strings. ---- */

static uint16_t put_string(struct fxt_intern *in, const char *text, size_t size)
{
	struct tw_output *out = &in->writer->out;
	uint64_t index = ++in->string_count;
	struct fxt_put put = fxt_put_begin(out, in->big);
	fxt_put_stream(&put, text, size);
	fxt_put_end(out, &put, TW_FXT_TYPE_STRING | index << 16 | (uint64_t)size << 32);
	return (uint16_t)index;
}

static struct fxt_label inline_label(struct fxt_intern *in, const char *text, size_t size)
{
	size_t kept = fxt_cut_text(text, size, INLINE_MAX);
	if (kept < size)
		tw_count_loss(in->writer, "long string", true);
	return (struct fxt_label){.reference = (uint16_t)(TW_FXT_STRING_INLINE | kept), .text = text};
}

struct fxt_label fxt_meet_name(struct fxt_intern *in, uint32_t number)
{
	const struct tw_name *name = tw_dictionary_name(in->dictionary, number);
	if (name->length == 0)
		return (struct fxt_label){0};
	if (number >= in->string_room || in->string_count == TW_FXT_STRINGS_MAX)
		return inline_label(in, name->text, name->length);
	size_t kept = fxt_cut_text(name->text, name->length, TW_FXT_STRING_MAX);
	if (kept < name->length)
		tw_count_loss(in->writer, "long string", true);
	in->strings[number] = put_string(in, name->text, kept);
	return (struct fxt_label){.reference = in->strings[number]};
}

uint16_t fxt_register_text(struct fxt_intern *in, const uint8_t *text, uint64_t size)
{
	const struct tw_name name = {.text = (const char *)text, .length = (size_t)size};
	in->texts = in->texts ? in->texts : tw_dictionary_new();
	uint32_t number = in->texts ? tw_dictionary_find(in->texts, &name) : UINT32_MAX;
	if (number != UINT32_MAX)
		return in->text_strings[number];
	if (!in->texts || size > TW_FXT_STRING_MAX || in->string_count >= TW_FXT_STRINGS_MAX / 2)
		return 0;
	uint16_t index = put_string(in, name.text, name.length);
	if (name.length > TEXTS_MOST - in->text_bytes ||
	    !tw_grow(&in->text_strings, &in->text_room, tw_dictionary_names(in->texts) + (size_t)1, sizeof index))
		return index;
	number = tw_dictionary_intern(in->texts, &name);
	if (number < in->text_room)
		in->text_strings[number] = index;
	in->text_bytes += name.length;
	return index;
}

struct fxt_label fxt_own_label(struct fxt_intern *in, enum fxt_own own)
{
	static const char *const texts[] = {
#define X(name, text) [name] = text,
	    FXT_OWN_LIST(X)
#undef X
	};
	if (!in->own[own] && in->string_count == TW_FXT_STRINGS_MAX)
		return inline_label(in, texts[own], strlen(texts[own]));
	if (!in->own[own])
		in->own[own] = put_string(in, texts[own], strlen(texts[own]));
	return (struct fxt_label){.reference = in->own[own]};
}

/* ---- Threads. ---- */

/* Whether a track is one, but no thread. Number 0 is that of what has no track: its koids are 0. */
static bool needs_koid(const struct fxt_intern *in, uint32_t number)
{
	enum tw_track_kind kind = tw_dictionary_track(in->dictionary, number)->kind;
	return number > 0 && number < in->tracks_seen && (kind == TW_TRACK_CPU || kind == TW_TRACK_OTHER);
}

struct fxt_koids fxt_koids_of(const struct fxt_intern *in, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(in->dictionary, number);
	return (struct fxt_koids){
	    .process = track->process,
	    .thread = needs_koid(in, number) ? FXT_INVENTED | number : track->thread,
	};
}

static uint8_t put_thread(struct fxt_intern *in, struct fxt_koids koids)
{
	struct tw_output *out = &in->writer->out;
	uint64_t index = ++in->thread_count;
	struct fxt_put put = fxt_put_begin(out, in->big);
	fxt_put_word(&put, koids.process);
	fxt_put_word(&put, koids.thread);
	fxt_put_end(out, &put, TW_FXT_TYPE_THREAD | index << 16);
	return (uint8_t)index;
}

static void put_process_name(struct fxt_intern *in, uint64_t process, struct fxt_label name)
{
	struct tw_output *out = &in->writer->out;
	struct fxt_put put = fxt_put_begin(out, in->big);
	fxt_put_word(&put, process);
	fxt_put_label(&put, &name);
	fxt_put_end(out, &put, TW_FXT_TYPE_KERNEL_OBJECT | FXT_OBJECT_PROCESS << 16 | (uint64_t)name.reference << 24);
}

static void put_thread_name(struct fxt_intern *in, struct fxt_koids koids, struct fxt_label name)
{
	struct tw_output *out = &in->writer->out;
	struct tw_argument process = {.type = TW_ARG_KOID, .value.u = koids.process};
	struct fxt_label label = fxt_own_label(in, FXT_OWN_PROCESS);
	struct fxt_put put = fxt_put_begin(out, in->big);
	fxt_put_word(&put, koids.thread);
	fxt_put_label(&put, &name);
	fxt_put_argument(&put, &label, &process, 0);
	fxt_put_end(out, &put,
	            TW_FXT_TYPE_KERNEL_OBJECT | FXT_OBJECT_THREAD << 16 | (uint64_t)name.reference << 24 |
	                UINT64_C(1) << 40);
}

/* Describes a track by its name, if it has one that has not been written. */
static void describe(struct fxt_intern *in, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(in->dictionary, number);
	if (track->name == in->described->tracks[number].name)
		return;
	in->described->tracks[number].name = track->name;
	in->described->tracks[number].ahead = true;
	struct fxt_label name = fxt_label(in, track->name);
	struct fxt_koids koids = fxt_koids_of(in, number);
	bool process = track->kind == TW_TRACK_PROCESS;
	if (process)
		put_process_name(in, koids.process, name);
	else
		put_thread_name(in, koids, name);
	fxt_object_told(in, TW_ARG_KOID, 0, process ? koids.process : koids.thread, track->name);
}

/* Whether it is what describe() writes about a track. */
static bool describes(const struct fxt_intern *in, const struct tw_event *event, const struct tw_argument *arguments)
{
	const struct tw_track *track = tw_dictionary_track(in->dictionary, event->track);
	if (track->kind == TW_TRACK_PROCESS)
		return event->id == track->process && event->value == FXT_OBJECT_PROCESS && event->argument_count == 0;
	return track->kind == TW_TRACK_THREAD && event->id == track->thread && event->value == FXT_OBJECT_THREAD &&
	       event->argument_count == 1 && arguments->type == TW_ARG_KOID && arguments->value.u == track->process &&
	       strcmp(tw_dictionary_name(in->dictionary, arguments->name)->text, "process") == 0;
}

bool fxt_described_ahead(struct fxt_intern *in, const struct tw_event *event, const struct tw_argument *arguments)
{
	if (event->track == 0 || event->track >= in->tracks_seen || event->name == 0 ||
	    !describes(in, event, arguments))
		return false;
	struct fxt_described_track *told = &in->described->tracks[event->track];
	bool ahead = told->ahead && told->name == event->name;
	told->ahead = false;
	told->name = event->name;
	return ahead;
}

static void describe_cpu(struct fxt_intern *in, uint32_t number)
{
	char text[32];
	uint64_t cpu = tw_dictionary_track(in->dictionary, number)->thread;
	int length = snprintf(text, sizeof text, "CPU %llu", (unsigned long long)cpu);
	put_thread_name(in, fxt_koids_of(in, number), inline_label(in, text, (size_t)length));
}

void fxt_meet_track(struct fxt_intern *in, uint32_t number)
{
	const struct tw_track *track = tw_dictionary_track(in->dictionary, number);
	struct fxt_known_track *known = &in->tracks[number];
	bool met = in->described->tracks[number].met;
	known->met = in->described->tracks[number].met = true;
	if (in->thread_count < TW_FXT_THREADS_MAX)
		known->index = put_thread(in, fxt_koids_of(in, number));
	if (!met && needs_koid(in, number))
		tw_count_loss(in->writer, "track that is no thread", true);
	if (!met && track->kind == TW_TRACK_CPU && !track->name)
		describe_cpu(in, number);
	describe(in, number);
}

/* ---- The tables. ---- */

bool fxt_intern_grow(struct fxt_intern *in, const struct tw_dictionary *dictionary)
{
	uint32_t tracks = tw_dictionary_tracks(dictionary);
	in->dictionary = dictionary;
	struct fxt_described *described = in->described;
	if (!tw_grow(&in->strings, &in->string_room, tw_dictionary_names(dictionary), sizeof *in->strings) ||
	    !tw_grow(&in->tracks, &in->track_room, tracks, sizeof *in->tracks) ||
	    !tw_grow(&described->tracks, &described->room, tracks, sizeof *described->tracks))
		return false;
	in->tracks_seen = tracks;
	for (; described->seen < tracks; described->seen++)
		if (tw_dictionary_track(dictionary, described->seen)->kind == TW_TRACK_PROCESS)
			describe(in, described->seen);
	return true;
}

void fxt_intern_finish(struct fxt_intern *in)
{
	for (uint32_t i = 0; i < in->tracks_seen; i++)
		if (in->described->tracks[i].met || tw_dictionary_track(in->dictionary, i)->kind == TW_TRACK_PROCESS)
			describe(in, i);
}

void fxt_intern_free(struct fxt_intern *in)
{
	tw_dictionary_free(in->texts);
	free(in->text_strings);
	free(in->strings);
	free(in->tracks);
}
