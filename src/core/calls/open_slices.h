/* open_slices.h - which slices of a track are open, and which of them an end closes.
 *
 * For who needs the record of the begin again, not the call: the filter, writers, and checks. Who needs calls takes
 * calls.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_OPEN_SLICES_H
#define CORE_CALLS_OPEN_SLICES_H

#include "base/memory/map.h"
#include "base/memory/memory.h"

#include <trackway/status.h>

enum { TW_OPEN_KEPT = 1024 /* slices that an empty track may keep room for */ };

/* A slice that is open: there was a begin. */
struct tw_open_slice {
	uint64_t slot; /* the user's own */
	uint32_t name;
	uint32_t below; /* once indexed: 1 + the place of the next slice of this name further down, or 0 */
};

/* Those of a track. All zero to begin. */
struct tw_open_slices {
	struct tw_open_slice *slices; /* the outermost first */
	size_t depth, room;
	size_t indexed;      /* slices below this are in the index */
	uint64_t beyond;     /* slices open above these for which there was no room */
	struct tw_map index; /* name to 1 + the place of the topmost indexed slice, 0 for none */
};

/* Room for the slices of all tracks. */
struct tw_open_room {
	size_t limit, taken;
	bool tight; /* empty tracks had little of it */
};

/* Makes room for a slice; tw_open_begin() is what to call. */
int tw_open_make_room(struct tw_open_slices *open, struct tw_open_room *room);

/* Takes the begin of a slice. Returns 0, TW_ERR_MEMORY, or TW_ERR_LIMIT: it is not kept, but as many ends as there were
 * such slices will be taken for theirs. */
static inline int tw_open_begin(struct tw_open_slices *open, struct tw_open_room *room, uint32_t name, uint64_t slot)
{
	int status = open->beyond || open->depth == open->room ? tw_open_make_room(open, room) : 0;
	if (!status)
		open->slices[open->depth++] = (struct tw_open_slice){
		    .slot = slot,
		    .name = name,
		};
	return status;
}

/* Where a begin found no room: takes what empty tracks keep. Returns whether the begin is to be taken again. */
bool tw_open_reclaim(struct tw_open_slices *tracks, size_t count, struct tw_open_slices *open,
                     struct tw_open_room *room);

/* Finds the slice that an end closes: the topmost of that name, or the topmost at all for name 0. The end closes the
 * slices above it, too. *place is its place from the bottom. Returns 1, 0 when there is none, TW_ERR_LIMIT for the end
 * of a slice that was not kept, or TW_ERR_MEMORY. The cost does not depend on the depth (amortised). */
int tw_open_match(struct tw_open_slices *open, uint32_t name, size_t *place);

/* The same, where 0 is a name like any other. */
int tw_open_find(struct tw_open_slices *open, uint32_t name, size_t *place);

/* Takes the topmost slice off; there must be one. */
struct tw_open_slice tw_open_close(struct tw_open_slices *open, struct tw_open_room *room);

/* Both in one, for nearly all ends: takes off the topmost slice if it is the one that an end closes and nothing else is
 * to be done. False: tw_open_match() knows. `make bench` measures convert. */
static inline bool tw_open_take(struct tw_open_slices *open, uint32_t name, struct tw_open_slice *taken)
{
	if (open->depth <= open->indexed || open->beyond || open->room > TW_OPEN_KEPT)
		return false;
	*taken = open->slices[open->depth - 1];
	bool fits = name == 0 || taken->name == name;
	open->depth -= fits;
	return fits;
}

void tw_open_free(struct tw_open_slices *open);

/* The same of an array, by track. */
void tw_open_free_all(struct tw_open_slices *tracks, size_t count);

#endif
