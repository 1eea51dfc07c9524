/* objects.c - the names of kernel and userspace objects, as far as records have described them, and what those of a
 * recorder's process and threads tell of losses: doc/recording.md. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/events/events.h"

#include <string.h>

enum { OF_POINTERS, OF_KOIDS, OF_ALL };

static uint64_t key_of(unsigned kind, uint32_t whose, uint64_t process, uint64_t number)
{
	return tw_hash_two(tw_hash_two((uint64_t)whose << 2 | kind, process), number);
}

static struct fxt_object object_of(bool pointer, uint32_t whose, uint32_t archive, uint64_t process, uint64_t number)
{
	if (pointer)
		return (struct fxt_object){.own = key_of(OF_POINTERS, whose, process, number)};
	return (struct fxt_object){key_of(OF_KOIDS, whose, 0, number), key_of(OF_ALL, archive, 0, number)};
}

struct fxt_object fxt_written_object(bool pointer, uint32_t whose, uint64_t process, uint64_t number)
{
	return object_of(pointer, whose, 0, process, number);
}

struct fxt_object fxt_object_of(bool pointer, const struct fxt_provider *provider, uint64_t process, uint64_t number)
{
	return object_of(pointer, provider->generation, provider->archive, process, number);
}

static void learn(struct tw_map *names, struct fxt_state *state, uint64_t key, uint32_t name)
{
	const size_t cost = tw_map_stored(names, key) ? 0 : 2 * sizeof(struct tw_map_slot);
	if (state->memory + cost > state->limit)
		state->full = true;
	else if (tw_map_set(names, key, name))
		state->memory += cost;
	else
		state->failed = true;
}

/* The last record about an object counts. */
void fxt_object_learn(struct tw_map *names, struct fxt_state *state, struct fxt_object object, uint32_t name)
{
	if (name)
		learn(names, state, object.own, name);
	if (name && object.all)
		learn(names, state, object.all, name);
}

uint32_t fxt_object_name(const struct tw_map *names, struct fxt_object object)
{
	uint32_t name;
	bool known = tw_map_find(names, object.own, &name) || (object.all && tw_map_find(names, object.all, &name));
	return known ? name : 0;
}

/* ---- What a recorder has lost. ---- */

static bool is_named(const struct fxt_chunk *chunk, const struct tw_fxt_argument *argument, size_t place,
                     const char *name)
{
	size_t length;
	const char *text = fxt_text(chunk, &argument->name, place, &length);
	return text && length == strlen(name) && memcmp(text, name, length) == 0;
}

/* The number of an argument of this name; 0 where there is none. */
static uint64_t number_of(const struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place,
                          const char *name)
{
	for (unsigned i = 0; i < record->argument_count; i++) {
		const struct tw_fxt_argument *argument = &record->arguments[i];
		bool number = argument->type == TW_FXT_ARG_UINT64 || argument->type == TW_FXT_ARG_UINT32;
		if (number && is_named(chunk, argument, place, name))
			return argument->value.u;
	}
	return 0;
}

/* What is told of a process beside its events that were dropped: a count, by the rule of each argument, and what
 * another argument says of it. */
static const struct {
	const char *argument, *more;
	enum fxt_rule rule;
} counts[] = {{FXT_EVENTS_CUT, NULL, FXT_IMAGE_CUT},
              {FXT_SCOPES_TOO_DEEP, NULL, FXT_SCOPES_UNKEPT},
              {FXT_CHILDREN_UNRECORDED_COUNT, FXT_CHILD_UNRECORDED_LAST, FXT_CHILDREN_UNRECORDED},
              {FXT_BYTES_DAMAGED, NULL, FXT_RECORDING_DAMAGED},
              {FXT_RECORDER_GONE, NULL, FXT_IMAGE_ABANDONED}};

void fxt_note_losses(struct fxt_chunk *chunk, const struct tw_fxt_record *record, size_t place)
{
	const struct fxt_context *context = &chunk->decoder.context;
	if (context->foreign)
		return;
	uint64_t dropped = number_of(chunk, record, place, FXT_EVENTS_DROPPED);
	uint64_t overwritten = number_of(chunk, record, place, FXT_BYTES_OVERWRITTEN);
	enum fxt_rule rule = record->object_type == FXT_OBJECT_THREAD ? FXT_THREAD_DROPPED : FXT_IMAGE_DROPPED;
	if (dropped)
		fxt_note(chunk, rule, place, place, dropped, record->id, NULL);
	if (overwritten)
		fxt_note(chunk, FXT_IMAGE_OVERWRITTEN, place, place, overwritten,
		         dropped ? 0 : (uint64_t)context->provider->id + 1, NULL);
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		uint64_t count = number_of(chunk, record, place, counts[i].argument);
		uint64_t more = count && counts[i].more ? number_of(chunk, record, place, counts[i].more) : 0;
		if (count)
			fxt_note(chunk, counts[i].rule, place, place, count, more, NULL);
	}
}
