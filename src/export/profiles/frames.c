/* frames.c - functions and places in the order of their first use. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/profiles/frames.h"

#include "base/memory/memory.h"
#include "core/text/stack_text.h"

#include <stdlib.h>

static bool same(const struct tw_frame_key *a, const struct tw_frame_key *b)
{
	return a->value == b->value && a->of == b->of;
}

static uint32_t no_memory(struct tw_frames *frames)
{
	frames->failed = true;
	return UINT32_MAX;
}

/* A new one; UINT32_MAX when there is no room. */
static uint32_t add_key(struct tw_frames *frames, const struct tw_frame_key *key)
{
	if (frames->count >= frames->limit || frames->count >= UINT32_MAX - 1)
		return UINT32_MAX;
	if (!tw_grow(&frames->keys, &frames->room, frames->count + 1, sizeof *frames->keys))
		return no_memory(frames);
	frames->keys[frames->count] = *key;
	return (uint32_t)frames->count++;
}

static uint32_t number_of_name(struct tw_frames *frames, uint32_t name)
{
	if (name < frames->name_room && frames->of_names[name])
		return frames->of_names[name] - 1;
	if (!tw_grow(&frames->of_names, &frames->name_room, name + (size_t)1, sizeof *frames->of_names))
		return no_memory(frames);
	uint32_t number = add_key(frames, &(struct tw_frame_key){.value = name, .of = FRAME_OF_NAME});
	frames->of_names[name] = number + 1; /* UINT32_MAX + 1, which is 0: there was no room */
	return number;
}

uint32_t tw_frames_number(struct tw_frames *frames, enum tw_frame_of of, uint64_t value)
{
	const struct tw_frame_key key = {.value = value, .of = of};
	uint64_t hash = tw_hash64(value) + of;
	uint32_t number;
	if (of == FRAME_OF_NAME)
		return number_of_name(frames, (uint32_t)value);
	for (size_t slot = SIZE_MAX; tw_map_next(&frames->map, hash, &slot, &number);)
		if (same(&frames->keys[number], &key))
			return number;
	number = add_key(frames, &key);
	if (number != UINT32_MAX && !tw_map_add(&frames->map, hash, number)) {
		frames->count--;
		return no_memory(frames);
	}
	return number;
}

static struct tw_frame_place place_at(struct tw_source source, uint32_t name, uint64_t address)
{
	return (struct tw_frame_place){
	    .name = name,
	    .file = source.file,
	    .file_length = source.length,
	    .line = source.line,
	    .address = address,
	};
}

struct tw_frame_place tw_frames_place(const struct tw_frames *frames, const struct tw_dictionary *dictionary,
                                      uint32_t number)
{
	const struct tw_frame_key *key = &frames->keys[number];
	uint32_t value = (uint32_t)key->value;
	if (key->of == FRAME_OF_ADDRESS)
		return (struct tw_frame_place){.address = key->value};
	if (key->of == FRAME_OF_NAME)
		return place_at(tw_source_of_name(dictionary, value), value, 0);
	const struct tw_location *location = tw_dictionary_location(dictionary, value);
	return place_at(tw_source_of_location(dictionary, value), location->name, location->address);
}

void tw_frames_free(struct tw_frames *frames)
{
	free(frames->of_names);
	tw_map_free(&frames->map);
	free(frames->keys);
	*frames = (struct tw_frames){0};
}

/* ---- The stacks of samples. ---- */

static void add(struct tw_frames *frames, struct tw_sample_stack *stack, enum tw_frame_of of, uint64_t value)
{
	uint32_t number = tw_frames_number(frames, of, value);
	if (number == UINT32_MAX)
		stack->failed = true;
	else if (stack->count <= TW_SAMPLE_DEPTH)
		stack->frames[stack->count++] = number;
}

static void reverse(struct tw_sample_stack *stack)
{
	for (size_t i = 0, j = stack->count; i + 1 < j; i++) {
		uint32_t frame = stack->frames[i];
		stack->frames[i] = stack->frames[--j];
		stack->frames[j] = frame;
	}
}

static void add_addresses(struct tw_frames *frames, const struct tw_batch *batch, const struct tw_event *event,
                          struct tw_sample_stack *stack)
{
	const struct tw_argument *arguments = tw_event_arguments(batch, event);
	for (unsigned i = 0; i < event->argument_count; i++)
		if (arguments[i].type == TW_ARG_POINTER)
			add(frames, stack, FRAME_OF_ADDRESS, arguments[i].value.u);
}

static void add_location(struct tw_frames *frames, const struct tw_dictionary *dictionary, uint32_t number,
                         struct tw_sample_stack *stack)
{
	const struct tw_location *location = tw_dictionary_location(dictionary, number);
	if (frames->by_source && location->name && !location->file)
		add(frames, stack, FRAME_OF_NAME, location->name);
	else
		add(frames, stack, FRAME_OF_LOCATION, number);
}

void tw_frames_of_sample(struct tw_frames *frames, const struct tw_dictionary *dictionary, const struct tw_batch *batch,
                         const struct tw_event *event, struct tw_sample_stack *stack)
{
	uint32_t left = event->other;
	stack->count = 0;
	stack->failed = false;
	if (event->kind == TW_ALLOCATION_SAMPLE && event->name)
		add(frames, stack, FRAME_OF_NAME, event->name);
	for (; left && stack->count < TW_SAMPLE_DEPTH; left = tw_dictionary_stack(dictionary, left)->caller)
		add_location(frames, dictionary, tw_dictionary_stack(dictionary, left)->location, stack);
	stack->cut = left != 0;
	if (!event->other)
		add_addresses(frames, batch, event, stack);
	reverse(stack);
}
