/* overlaps.c - whether complete slices of a track overlap without nesting, for checks that make no calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/overlaps.h"

#include "base/memory/memory.h"
#include "base/memory/sum.h"
#include "core/calls/lanes.h"
#include "core/calls/open_slices.h"

#include <stdlib.h>
#include <string.h>

enum { SEEN_MOST = 64 }; /* slices of a track that are looked at, and as many that are open */

/* A slice, and when the last of it and of those below it ends. */
struct seen {
	uint64_t begin, end, last;
};

/* Slices come with the one around them first, or last, as they are written when they begin or when they end. What one
 * holds goes when it comes last; what is over goes when a slice around both is there already. */
struct tw_overlap_track {
	struct seen *seen; /* the newest last */
	size_t count, room;
	struct tw_open_slices open; /* a slot is the time of a begin */
	struct tw_open_room open_room;
	bool reported;
};

static struct tw_overlap_track *track_at(struct tw_overlaps *overlaps, uint32_t number)
{
	return tw_grow(&overlaps->tracks, &overlaps->room, number + (size_t)1, sizeof *overlaps->tracks)
	           ? &overlaps->tracks[number]
	           : NULL;
}

/* Whether a time is over at another one, or so soon that this is rounding. */
static bool is_over(uint64_t end, uint64_t time)
{
	return end <= tw_sum(time, TW_CALL_ROUNDING);
}

/* Takes away what a slice holds. */
static void take_held(struct tw_overlap_track *track, uint64_t begin, uint64_t end)
{
	const struct seen *top;
	while (track->count && (top = &track->seen[track->count - 1])->begin >= begin && is_over(top->end, end))
		track->count--;
}

/* Whether a slice begins when another one, which began before, is over. */
static bool is_behind(const struct seen *seen, uint64_t begin, uint64_t end)
{
	return seen->begin > begin && is_over(end, seen->begin);
}

/* The number behind the newest slice that goes on when another one begins, and begins before that is over; 0: there is
 * none. */
static size_t going_on(const struct tw_overlap_track *track, uint64_t begin, uint64_t end)
{
	size_t i = track->count;
	while (i && (is_over(track->seen[i - 1].end, begin) || is_behind(&track->seen[i - 1], begin, end)))
		i = is_over(track->seen[i - 1].last, begin) ? 0 : i - 1;
	return i;
}

/* By how much the later of two slices ends behind the earlier one in which it begins; 0 where one holds the other, or
 * they have nothing in common. The open one, which goes on at `begin`, may be the later one, as damage has it. */
static uint64_t overhang(const struct seen *open, uint64_t begin, uint64_t end)
{
	if (begin >= open->begin)
		return is_over(end, open->end) ? 0 : end - open->end;
	return is_over(end, open->begin) || is_over(open->end, end) ? 0 : open->end - end;
}

/* Of very many tracks each has but a slice. */
static bool make_room(struct tw_overlap_track *track)
{
	return track->count < track->room ||
	       tw_resize(&track->seen, &track->room, track->room ? 2 * track->room : 1, sizeof *track->seen);
}

static bool put(struct tw_overlap_track *track, uint64_t begin, uint64_t end)
{
	if (track->count == SEEN_MOST) {
		track->count /= 2;
		memcpy(track->seen, track->seen + track->count, track->count * sizeof *track->seen);
	}
	if (!make_room(track))
		return false;
	const uint64_t last = track->count ? track->seen[track->count - 1].last : 0;
	track->seen[track->count++] = (struct seen){begin, end, end > last ? end : last};
	return true;
}

uint64_t tw_overlaps_take(struct tw_overlaps *overlaps, uint32_t number, uint64_t begin, uint64_t end, bool *failed)
{
	struct tw_overlap_track *track =
	    number < overlaps->room ? &overlaps->tracks[number] : track_at(overlaps, number);
	*failed |= !track;
	if (!track || track->reported)
		return 0;
	take_held(track, begin, end);
	const bool late = track->count && is_behind(&track->seen[track->count - 1], begin, end);
	const size_t around = going_on(track, begin, end);
	const uint64_t beyond = around ? overhang(&track->seen[around - 1], begin, end) : 0;
	if (beyond) {
		track->reported = true;
		return beyond;
	}
	if (late) /* its end was told behind the begin of the next */
		return 0;
	if (around)
		track->count = around;
	*failed |= !put(track, begin, end);
	return 0;
}

void tw_overlaps_begin(struct tw_overlaps *overlaps, uint32_t number, uint32_t name, uint64_t time, bool *failed)
{
	struct tw_overlap_track *track =
	    number < overlaps->room ? &overlaps->tracks[number] : track_at(overlaps, number);
	if (track)
		track->open_room.limit = SEEN_MOST;
	*failed |= !track || tw_open_begin(&track->open, &track->open_room, name, time) == TW_ERR_MEMORY;
}

uint64_t tw_overlaps_end(struct tw_overlaps *overlaps, uint32_t number, uint32_t name, uint64_t time, bool *failed)
{
	struct tw_overlap_track *track = number < overlaps->room ? &overlaps->tracks[number] : NULL;
	struct tw_open_slice slice = {0};
	size_t place;
	if (!track)
		return 0;
	if (!tw_open_take(&track->open, name, &slice)) {
		const int found = tw_open_match(&track->open, name, &place);
		*failed |= found == TW_ERR_MEMORY;
		if (found <= 0)
			return 0;
		while (track->open.depth > place)
			slice = tw_open_close(&track->open, &track->open_room);
	}
	const uint64_t begin = slice.slot;
	return time < begin ? 0 : tw_overlaps_take(overlaps, number, begin, time, failed);
}

void tw_overlaps_free(struct tw_overlaps *overlaps)
{
	for (size_t i = 0; i < overlaps->room; i++) {
		free(overlaps->tracks[i].seen);
		tw_open_free(&overlaps->tracks[i].open);
	}
	free(overlaps->tracks);
}
