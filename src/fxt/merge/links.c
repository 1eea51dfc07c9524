/* links.c - what the names and threads of an archive have become in the one that it is merged into. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/merge/links.h"

#include "fxt/walk/ahead.h"

#include <stdlib.h>
#include <string.h>

struct fxt_shift fxt_shift_of(const struct tw_merge_time *time)
{
	tw_wide size = time->shift < 0 ? -time->shift : time->shift;
	bool moves = time->from == time->to && size <= UINT64_MAX;
	return (struct fxt_shift){
	    .ns = (uint64_t)time->shift,
	    .from = time->shift < 0 ? (uint64_t)size : 0,
	    .count = moves ? UINT64_MAX - (uint64_t)size : 0,
	    .whole = *time,
	};
}

/* Gives a table at least this room. The table before it is not freed, as other threads may be reading it; each is twice
 * as large as the one before. */
static bool enlarge(struct fxt_links *links, struct fxt_ahead *ahead, void *table, size_t *room, size_t need,
                    size_t size)
{
	enum { ROOM_LEAST = 64 };
	void **place = table, *before = *place;
	size_t fresh = *room ? *room * 2 : ROOM_LEAST;
	fresh = fresh < need ? need : fresh;
	void *made = links->old_count < FXT_LINKS_OLD ? calloc(fresh, size) : NULL;
	if (!made)
		return false;
	if (before)
		memcpy(made, before, *room * size);
	fxt_ahead_lock(ahead);
	*place = made;
	*room = fresh;
	fxt_ahead_unlock(ahead);
	if (before)
		links->old[links->old_count++] = before;
	return true;
}

void fxt_links_begin(struct fxt_links *links, struct fxt_ahead *ahead, const struct tw_merge_time *time)
{
	fxt_ahead_lock(ahead);
	links->time = fxt_shift_of(time);
	links->ready = true;
	fxt_ahead_unlock(ahead);
}

bool fxt_link_name(struct fxt_links *links, struct fxt_ahead *ahead, uint32_t name, uint16_t index)
{
	if (name >= links->name_room &&
	    !enlarge(links, ahead, &links->names, &links->name_room, name + (size_t)1, sizeof *links->names))
		return false;
	atomic_store_explicit(&links->names[name], index, memory_order_relaxed);
	return true;
}

bool fxt_link_seat(struct fxt_links *links, struct fxt_ahead *ahead, uint32_t track, uint64_t process, uint64_t thread,
                   uint8_t index)
{
	if (track >= links->seat_room &&
	    !enlarge(links, ahead, &links->seats, &links->seat_room, track + (size_t)1, sizeof *links->seats))
		return false;
	struct fxt_seat *seat = &links->seats[track];
	if (atomic_load_explicit(&seat->state, memory_order_relaxed))
		return true;
	seat->process = process;
	seat->thread = thread;
	atomic_store_explicit(&seat->state, FXT_SEAT_MET | index, memory_order_release);
	return true;
}

void fxt_links_free(struct fxt_links *links)
{
	for (size_t i = 0; i < links->old_count; i++)
		free(links->old[i]);
	free(links->names);
	free(links->seats);
	*links = (struct fxt_links){0};
}
