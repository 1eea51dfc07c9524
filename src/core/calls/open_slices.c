/* open_slices.c - which slices of a track are open, and which of them an end closes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/open_slices.h"

#include <assert.h>
#include <stdlib.h>

enum {
	FIRST_ROOM = 8, /* slices of a new track */
	NEAR = 32,      /* slices that are looked at one by one before the index is made */
	STALE = 1024    /* names of no open slice that may always stay in the index */
};

static int grow(struct tw_open_slices *open, struct tw_open_room *room)
{
	const size_t left = room->limit - room->taken, wanted = open->room ? open->room : FIRST_ROOM;
	const size_t more = wanted < left ? wanted : left;
	if (!more)
		return TW_ERR_LIMIT;
	struct tw_open_slice *slices = realloc(open->slices, (open->room + more) * sizeof *slices);
	if (!slices)
		return TW_ERR_MEMORY;
	open->slices = slices;
	open->room += more;
	room->taken += more;
	return 0;
}

int tw_open_make_room(struct tw_open_slices *open, struct tw_open_room *room)
{
	int status = open->beyond ? TW_ERR_LIMIT : grow(open, room);
	open->beyond += status == TW_ERR_LIMIT;
	return status;
}

static void forget_index(struct tw_open_slices *open)
{
	tw_map_free(&open->index);
	open->indexed = 0;
}

static void give_back(struct tw_open_slices *open, struct tw_open_room *room)
{
	room->taken -= open->room;
	free(open->slices);
	open->slices = NULL;
	open->room = 0;
	forget_index(open);
}

/* Where empty tracks have little, all tracks would be looked at for each of many begins: they are not again. */
bool tw_open_reclaim(struct tw_open_slices *tracks, size_t count, struct tw_open_slices *open,
                     struct tw_open_room *room)
{
	enum { PART = 8 }; /* of the limit, that is little */
	const size_t before = room->taken;
	if (open->beyond != 1 || room->tight)
		return false;
	for (size_t i = 0; i < count; i++)
		if (tracks[i].depth == 0)
			give_back(&tracks[i], room);
	room->tight = before - room->taken < room->limit / PART;
	open->beyond -= room->taken < before;
	return room->taken < before;
}

/* Each slice enters the index at most once, and only when an end was looked for beneath it: so matching costs nothing
 * while ends fit, and a trace made to be slow is not. Names stay in the index when their slices are gone. */
static bool index_slices(struct tw_open_slices *open)
{
	if (open->index.count > 2 * open->room + STALE)
		forget_index(open);
	for (; open->indexed < open->depth; open->indexed++) {
		struct tw_open_slice *slice = &open->slices[open->indexed];
		uint32_t *stored = tw_map_stored(&open->index, slice->name), place = (uint32_t)open->indexed + 1;
		slice->below = stored ? *stored - 1 : 0;
		if (stored)
			*stored = place + 1;
		else if (!tw_map_add(&open->index, slice->name, place))
			return false;
	}
	return true;
}

static int find_far(struct tw_open_slices *open, uint32_t name, size_t *place)
{
	uint32_t found;
	if (!index_slices(open))
		return TW_ERR_MEMORY;
	if (!tw_map_find(&open->index, name, &found) || found == 0)
		return 0;
	*place = found - 1;
	return 1;
}

int tw_open_find(struct tw_open_slices *open, uint32_t name, size_t *place)
{
	if (open->beyond) {
		open->beyond--;
		return TW_ERR_LIMIT;
	}
	size_t low = open->depth > NEAR ? open->depth - NEAR : 0;
	for (size_t i = open->depth; i > low; i--)
		if (open->slices[i - 1].name == name) {
			*place = i - 1;
			return 1;
		}
	return low ? find_far(open, name, place) : 0;
}

int tw_open_match(struct tw_open_slices *open, uint32_t name, size_t *place)
{
	if (name || open->beyond || !open->depth)
		return tw_open_find(open, name, place);
	*place = open->depth - 1;
	return 1;
}

struct tw_open_slice tw_open_close(struct tw_open_slices *open, struct tw_open_room *room)
{
	assert(open->depth);
	const struct tw_open_slice slice = open->slices[--open->depth];
	if (open->depth < open->indexed) {
		*tw_map_stored(&open->index, slice.name) = slice.below + 1;
		open->indexed = open->depth;
	}
	if (open->depth == 0 && open->room > TW_OPEN_KEPT)
		give_back(open, room);
	return slice;
}

void tw_open_free(struct tw_open_slices *open)
{
	free(open->slices);
	tw_map_free(&open->index);
	*open = (struct tw_open_slices){0};
}

void tw_open_free_all(struct tw_open_slices *tracks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tw_open_free(&tracks[i]);
	free(tracks);
}
