/* equal_times.c - rows of one time, and which of them goes first. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order/equal_times.h"

#include "base/memory/memory.h"
#include "core/order/slab.h"

#include <stdlib.h>
#include <string.h>

/* A row that begins or ends slices. */
struct tw_equal_slice {
	uint64_t length;
	size_t place; /* among the rows */
	uint32_t track;
	uint8_t kind;
};

bool tw_equal_times_add(struct tw_equal_times *equal, const struct tw_slab *slab, uint32_t row)
{
	if (!tw_grow(&equal->rows, &equal->room, equal->count + 1, sizeof *equal->rows))
		return false;
	equal->rows[equal->count++] = (struct tw_equal_row){slab, row};
	return true;
}

void tw_equal_times_free(struct tw_equal_times *equal)
{
	free(equal->rows);
	free(equal->slices);
	free(equal->spare);
	*equal = (struct tw_equal_times){0};
}

static const struct tw_event *event_of(const struct tw_equal_row *row)
{
	return &row->slab->events[row->row];
}

static bool begins_or_ends(const struct tw_event *event)
{
	return event->kind == TW_SLICE_COMPLETE || event->kind == TW_SLICE_BEGIN || event->kind == TW_SLICE_END;
}

static int by_track(const void *a, const void *b)
{
	const struct tw_equal_slice *left = a, *right = b;
	if (left->track != right->track)
		return left->track < right->track ? -1 : 1;
	return left->place < right->place ? -1 : 1;
}

static int longer_first(const void *a, const void *b)
{
	const struct tw_equal_slice *left = a, *right = b;
	if (left->length != right->length)
		return left->length > right->length ? -1 : 1;
	return left->place < right->place ? -1 : 1;
}

static bool has_two_slices(const struct tw_equal_times *equal)
{
	size_t found = 0;
	for (size_t i = 0; i < equal->count && found < 2; i++)
		found += event_of(&equal->rows[i])->kind == TW_SLICE_COMPLETE;
	return found == 2;
}

/* Returns how many of the rows begin or end slices: those of a track one behind the other. */
static size_t find_slices(struct tw_equal_times *equal)
{
	size_t found = 0;
	for (size_t i = 0; i < equal->count; i++) {
		const struct tw_event *event = event_of(&equal->rows[i]);
		if (begins_or_ends(event))
			equal->slices[found++] = (struct tw_equal_slice){event->value, i, event->track, event->kind};
	}
	qsort(equal->slices, found, sizeof *equal->slices, by_track);
	return found;
}

/* Puts complete slices in order in the places that they have. sorted: room for as many. */
static void nest(struct tw_equal_times *equal, struct tw_equal_slice *slices, size_t count,
                 struct tw_equal_slice *sorted)
{
	memcpy(sorted, slices, count * sizeof *slices);
	qsort(sorted, count, sizeof *sorted, longer_first);
	for (size_t i = 0; i < count; i++)
		equal->spare[i] = equal->rows[sorted[i].place];
	for (size_t i = 0; i < count; i++) {
		equal->rows[slices[i].place] = equal->spare[i];
		slices[i].length = sorted[i].length;
	}
}

/* Puts slices in order that stand side by side. Also those of length 0, which may be inside of the slice behind
 * them. */
static void nest_together(struct tw_equal_times *equal, size_t count)
{
	struct tw_equal_slice *slices = equal->slices;
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from;
		     to < count && slices[to].kind == TW_SLICE_COMPLETE && slices[to].track == slices[from].track;)
			to++;
		if (to > from + 1)
			nest(equal, slices + from, to - from, slices + count);
		to += to == from; /* a begin or an end */
	}
}

/* Puts slices in order that last and have no begin between them. An end between them is of a slice that began
 * earlier, and holds none of them. */
static void nest_across_ends(struct tw_equal_times *equal, size_t count)
{
	struct tw_equal_slice *slices = equal->slices, *lasting = slices + count, *sorted = lasting + count;
	for (size_t from = 0, to; from < count; from = to) {
		size_t found = 0;
		for (to = from;
		     to < count && slices[to].kind != TW_SLICE_BEGIN && slices[to].track == slices[from].track; to++)
			if (slices[to].kind == TW_SLICE_COMPLETE && slices[to].length)
				lasting[found++] = slices[to];
		if (found > 1)
			nest(equal, lasting, found, sorted);
		to += to == from; /* a begin */
	}
}

bool tw_equal_times_nest(struct tw_equal_times *equal)
{
	if (!has_two_slices(equal))
		return true;
	if (!tw_grow(&equal->slices, &equal->slice_room, 3 * equal->count, sizeof *equal->slices) ||
	    !tw_grow(&equal->spare, &equal->spare_room, equal->count, sizeof *equal->spare))
		return false;
	const size_t count = find_slices(equal);
	equal->trackless |= equal->slices->track == 0; /* the least stands first */
	nest_together(equal, count);
	nest_across_ends(equal, count);
	return true;
}
