/* objects.c - the names of kernel and userspace objects, as far as records have described them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/records.h"

void fxt_objects_reset(struct fxt_objects *objects)
{
	tw_map_free(&objects->generations);
	tw_map_free(&objects->names);
	objects->generations = objects->names = (struct tw_map){0};
	objects->generation = 0;
}

void fxt_objects_turn(struct fxt_objects *objects, uint32_t provider)
{
	uint32_t generation;
	if (tw_map_find(&objects->generations, provider, &generation)) {
		objects->generation = generation;
		return;
	}
	/* The one before any that is named is provider 0, too. */
	objects->generation = provider ? ++objects->last : 0;
	tw_map_add(&objects->generations, provider, objects->generation);
}

void fxt_objects_announce(struct fxt_objects *objects, uint32_t provider)
{
	fxt_objects_turn(objects, provider);
	uint32_t *stored = tw_map_stored(&objects->generations, provider);
	objects->generation = ++objects->last;
	if (stored)
		*stored = objects->generation + 1;
}

static uint64_t key_of(const struct fxt_objects *objects, bool koid, uint64_t process, uint64_t number)
{
	uint64_t key = tw_hash64((uint64_t)objects->generation << 1 | koid);
	return tw_hash64(tw_hash64(key ^ process) + number);
}

void fxt_object_learn(struct fxt_objects *objects, struct fxt_state *state, bool koid, uint64_t process,
                      uint64_t number, uint32_t name)
{
	uint64_t key = key_of(objects, koid, process, number);
	uint32_t *known = tw_map_stored(&objects->names, key);
	if (known) {
		*known = name + 1;
		return;
	}
	state->memory += 2 * sizeof(struct tw_map_slot);
	if (state->memory > state->limit || !tw_map_add(&objects->names, key, name))
		state->full = true;
}

uint32_t fxt_object_name(const struct fxt_objects *objects, bool koid, uint64_t process, uint64_t number)
{
	uint32_t name;
	return tw_map_find(&objects->names, key_of(objects, koid, process, number), &name) ? name : 0;
}

void fxt_objects_free(struct fxt_objects *objects)
{
	tw_map_free(&objects->names);
	tw_map_free(&objects->generations);
}
