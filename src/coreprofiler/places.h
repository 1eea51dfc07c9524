/* places.h - where a thread allocates: of each class and stack, what is counted and not written yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COREPROFILER_PLACES_H
#define COREPROFILER_PLACES_H

#include "coreprofiler/profiler.h"

struct profiler_place {
	struct profiler_stack stack; /* its own */
	uint64_t class_id, hash;
	uint32_t iid;                 /* of the class */
	uint64_t count, bytes;        /* not written yet */
	struct profiler_place *other; /* of the same bucket */
	struct profiler_place *next;  /* of those that have something to write */
};

/* What a stack was the last time that something was allocated from there. Walking is what costs: a stack whose return
 * addresses all stand where they stood is the same. */
struct profiler_site {
	const void *frame; /* of the profiler's own function, there; NULL: there is none */
	struct profiler_stack stack;
	struct profiler_place *place;
};

enum { PROFILER_SETS = 256, PROFILER_WAYS = 4 };

struct profiler_places {
	struct profiler_site sites[PROFILER_SETS * PROFILER_WAYS];
	struct profiler_place **buckets;     /* NULL: none yet */
	size_t count, room;                  /* room: a power of two */
	struct profiler_place *first, *last; /* of those that have something to write */
	uint32_t replaced; /* sites that gave way: the next of a set is its remainder by PROFILER_WAYS */
	uint32_t gone;     /* how much had gone when the first of them was made */
};

/* The place of a class and a stack; NULL: there is none. */
struct profiler_place *profiler_place_find(const struct profiler_places *places, uint64_t class_id,
                                           const struct profiler_stack *stack);

/* Makes it, with a copy of the stack; NULL: no memory, or there are too many. */
struct profiler_place *profiler_place_make(struct profiler_places *places, uint64_t class_id,
                                           const struct profiler_stack *stack);

void profiler_place_add(struct profiler_places *places, struct profiler_place *place,
                        const struct profiler_amount *amount);

/* Drops all places, with what they have counted, and all sites. */
void profiler_places_clear(struct profiler_places *places);

#endif
