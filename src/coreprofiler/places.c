/* places.c - places where a thread allocates, by class and stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "coreprofiler/places.h"

#include <stdlib.h>
#include <string.h>

/* Places of a thread. A thread that has MOST of them writes them all, and starts with an empty table: with stacks of 50
 * frames the table takes 100 MB. */
enum { LEAST = 1 << 10, MOST = 1 << 16 };

/* Two frames of one function differ by their instruction only where the log has instructions. */
static uint64_t ip_of(const struct profiler_frame *frame)
{
	return profiler.options.line_trace ? frame->ip : 0;
}

static uint64_t hash_of(uint64_t class_id, const struct profiler_stack *stack)
{
	const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t hash = class_id * factor;
	for (size_t i = 0; i < stack->depth; i++) {
		const struct profiler_frame *frame = &stack->frames[i];
		hash = (hash ^ hash >> 29 ^ frame->function ^ ip_of(frame) << 20) * factor;
	}
	return hash ^ hash >> 32;
}

static bool are_same(const struct profiler_stack *a, const struct profiler_stack *b)
{
	bool same = a->depth == b->depth;
	for (size_t i = 0; i < a->depth && same; i++)
		same = a->frames[i].function == b->frames[i].function && ip_of(&a->frames[i]) == ip_of(&b->frames[i]);
	return same;
}

struct profiler_place *profiler_place_find(const struct profiler_places *places, uint64_t class_id,
                                           const struct profiler_stack *stack)
{
	const uint64_t hash = hash_of(class_id, stack);
	struct profiler_place *place = places->room ? places->buckets[hash & (places->room - 1)] : NULL;
	while (place && (place->hash != hash || place->class_id != class_id || !are_same(&place->stack, stack)))
		place = place->other;
	return place;
}

static void put(struct profiler_place **buckets, size_t room, struct profiler_place *place)
{
	struct profiler_place **bucket = &buckets[place->hash & (room - 1)];
	place->other = *bucket;
	*bucket = place;
}

static bool grow(struct profiler_places *places)
{
	const size_t room = places->room ? 2 * places->room : LEAST;
	struct profiler_place **buckets = places->count < MOST ? calloc(room, sizeof(void *)) : NULL;
	if (!buckets)
		return false;
	for (size_t i = 0; i < places->room; i++)
		for (struct profiler_place *place = places->buckets[i], *next; place; place = next) {
			next = place->other;
			put(buckets, room, place);
		}
	free(places->buckets);
	places->buckets = buckets;
	places->room = room;
	return true;
}

struct profiler_place *profiler_place_make(struct profiler_places *places, uint64_t class_id,
                                           const struct profiler_stack *stack)
{
	if (places->count == places->room && !grow(places))
		return NULL;
	struct profiler_place *place = calloc(1, sizeof *place);
	struct profiler_frame *frames = calloc(stack->depth ? stack->depth : 1, sizeof *frames);
	if (!place || !frames) {
		free(place);
		free(frames);
		return NULL;
	}
	if (stack->depth)
		memcpy(frames, stack->frames, stack->depth * sizeof *frames);
	*place = (struct profiler_place){.stack = {.frames = frames, .depth = stack->depth, .room = stack->depth},
	                                 .class_id = class_id,
	                                 .hash = hash_of(class_id, stack)};
	put(places->buckets, places->room, place);
	places->count++;
	return place;
}

void profiler_place_add(struct profiler_places *places, struct profiler_place *place,
                        const struct profiler_amount *amount)
{
	if (!place->count) {
		place->next = NULL;
		if (places->last)
			places->last->next = place;
		else
			places->first = place;
		places->last = place;
	}
	place->count += amount->count;
	place->bytes += amount->bytes;
}

static void drop(struct profiler_place *place)
{
	for (struct profiler_place *other; place; place = other) {
		other = place->other;
		free(place->stack.frames);
		free(place);
	}
}

void profiler_places_clear(struct profiler_places *places)
{
	for (size_t i = 0; i < places->room; i++) {
		drop(places->buckets[i]);
		places->buckets[i] = NULL;
	}
	places->count = 0;
	places->first = places->last = NULL;
	for (size_t i = 0; i < PROFILER_SETS * PROFILER_WAYS; i++)
		places->sites[i].frame = NULL;
}
