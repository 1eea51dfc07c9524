/* objects.c - the names of kernel and userspace objects, as far as records have described them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/events/objects.h"

enum { OF_POINTERS, OF_KOIDS, OF_ALL };

static uint64_t key_of(unsigned kind, uint32_t whose, uint64_t process, uint64_t number)
{
	return tw_hash_two(tw_hash_two((uint64_t)whose << 2 | kind, process), number);
}

static struct fxt_object koid_of(uint32_t whose, uint32_t archive, uint64_t koid)
{
	return (struct fxt_object){key_of(OF_KOIDS, whose, 0, koid), key_of(OF_ALL, archive, 0, koid)};
}

struct fxt_object fxt_written_pointer(uint32_t whose, uint64_t process, uint64_t pointer)
{
	return (struct fxt_object){key_of(OF_POINTERS, whose, process, pointer), 0};
}

struct fxt_object fxt_written_koid(uint32_t whose, uint64_t koid)
{
	return koid_of(whose, 0, koid);
}

struct fxt_object fxt_pointer(const struct fxt_provider *provider, uint64_t process, uint64_t pointer)
{
	return fxt_written_pointer(provider->generation, process, pointer);
}

struct fxt_object fxt_koid(const struct fxt_provider *provider, uint64_t koid)
{
	return koid_of(provider->generation, provider->archive, koid);
}

static void learn(struct tw_map *names, struct fxt_state *state, uint64_t key, uint32_t name)
{
	uint32_t *known = tw_map_stored(names, key);
	if (known) {
		*known = name + 1;
		return;
	}
	const size_t cost = 2 * sizeof(struct tw_map_slot);
	if (state->memory + cost > state->limit)
		state->full = true;
	else if (tw_map_add(names, key, name))
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
