/* nested.h - slices of tracks on which all begins and ends stand in the order of time, and each end fits.
 *
 * For who can do otherwise where that is not so; others take open_slices.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CALLS_NESTED_H
#define CORE_CALLS_NESTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TW_NESTED_DEPTH = 64 /* slices of a track that are open at once, at most */ };

/* A slice that is open. */
struct tw_nested_slice {
	uint64_t begin, slot; /* the user's own */
	uint32_t name;
};

struct tw_nested_track {
	uint64_t last; /* time of the last begin or end */
	struct tw_nested_slice *open;
	size_t depth, room;
};

/* All zero but `most` to begin. */
struct tw_nested {
	struct tw_nested_track *tracks; /* by number */
	size_t room;
	size_t slices, most; /* that there is room for on all tracks; and may be at most */
};

/* Makes room for a slice; tw_nested_begin() is what to call. */
bool tw_nested_make_room(struct tw_nested *nested, struct tw_nested_track *track);

/* Takes the begin of a slice of a track that there is room for, as in the next function. False where it comes late, or
 * goes too deep, or there is no memory. */
static inline bool tw_nested_begin(struct tw_nested *nested, uint32_t number, uint64_t time,
                                   const struct tw_nested_slice *slice)
{
	struct tw_nested_track *track = &nested->tracks[number];
	if (time < track->last || (track->depth == track->room && !tw_nested_make_room(nested, track)))
		return false;
	track->last = time;
	track->open[track->depth++] = *slice;
	return true;
}

/* Takes an end, by its name; 0 ends any. Returns its slice until the next begin; NULL where it comes late, or the
 * topmost slice is another one. */
static inline const struct tw_nested_slice *tw_nested_end(struct tw_nested *nested, uint32_t number, uint64_t time,
                                                          uint32_t name)
{
	struct tw_nested_track *track = &nested->tracks[number];
	if (time < track->last || !track->depth || (name && track->open[track->depth - 1].name != name))
		return NULL;
	track->last = time;
	return &track->open[--track->depth];
}

void tw_nested_free(struct tw_nested *nested);

#endif
