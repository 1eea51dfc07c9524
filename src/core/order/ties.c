/* ties.c - rows of one time, and which of them goes first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order/ties.h"

#include "base/memory/memory.h"
#include "core/order/slab.h"

#include <stdlib.h>
#include <string.h>

/* A row that begins or ends slices. */
struct tw_tie_slice {
	uint64_t length;
	size_t place; /* among the rows */
	uint32_t track;
	bool complete;
};

bool tw_ties_add(struct tw_ties *ties, const struct tw_slab *slab, uint32_t row)
{
	if (!tw_grow(&ties->rows, &ties->room, ties->count + 1, sizeof *ties->rows))
		return false;
	ties->rows[ties->count++] = (struct tw_tie){slab, row};
	return true;
}

void tw_ties_free(struct tw_ties *ties)
{
	free(ties->rows);
	free(ties->slices);
	free(ties->spare);
	*ties = (struct tw_ties){0};
}

static const struct tw_event *event_of(const struct tw_tie *tie)
{
	return &tie->slab->events[tie->row];
}

static bool begins_or_ends(const struct tw_event *event)
{
	return event->kind == TW_SLICE_COMPLETE || event->kind == TW_SLICE_BEGIN || event->kind == TW_SLICE_END;
}

static int by_track(const void *a, const void *b)
{
	const struct tw_tie_slice *left = a, *right = b;
	if (left->track != right->track)
		return left->track < right->track ? -1 : 1;
	return left->place < right->place ? -1 : 1;
}

static int longer_first(const void *a, const void *b)
{
	const struct tw_tie_slice *left = a, *right = b;
	if (left->length != right->length)
		return left->length > right->length ? -1 : 1;
	return left->place < right->place ? -1 : 1;
}

static bool has_two_slices(const struct tw_ties *ties)
{
	size_t found = 0;
	for (size_t i = 0; i < ties->count && found < 2; i++)
		found += event_of(&ties->rows[i])->kind == TW_SLICE_COMPLETE;
	return found == 2;
}

/* Returns how many of the rows begin or end slices: those of a track one behind the other. */
static size_t find_slices(struct tw_ties *ties)
{
	size_t found = 0;
	for (size_t i = 0; i < ties->count; i++) {
		const struct tw_event *event = event_of(&ties->rows[i]);
		if (begins_or_ends(event))
			ties->slices[found++] =
			    (struct tw_tie_slice){event->value, i, event->track, event->kind == TW_SLICE_COMPLETE};
	}
	qsort(ties->slices, found, sizeof *ties->slices, by_track);
	return found;
}

/* Puts complete slices in order in the places that they have. sorted: room for as many. */
static void nest(struct tw_ties *ties, const struct tw_tie_slice *slices, size_t count, struct tw_tie_slice *sorted)
{
	memcpy(sorted, slices, count * sizeof *slices);
	qsort(sorted, count, sizeof *sorted, longer_first);
	for (size_t i = 0; i < count; i++)
		ties->spare[i] = ties->rows[sorted[i].place];
	for (size_t i = 0; i < count; i++)
		ties->rows[slices[i].place] = ties->spare[i];
}

bool tw_ties_nest(struct tw_ties *ties)
{
	if (!has_two_slices(ties))
		return true;
	if (!tw_grow(&ties->slices, &ties->slice_room, 2 * ties->count, sizeof *ties->slices) ||
	    !tw_grow(&ties->spare, &ties->spare_room, ties->count, sizeof *ties->spare))
		return false;
	const struct tw_tie_slice *slices = ties->slices;
	size_t count = find_slices(ties);
	ties->trackless |= slices->track == 0; /* the least stands first */
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from; to < count && slices[to].complete && slices[to].track == slices[from].track;)
			to++;
		if (to > from + 1)
			nest(ties, slices + from, to - from, ties->slices + count);
		to += to == from; /* a begin or an end */
	}
	return true;
}
