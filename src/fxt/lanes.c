/* lanes.c - the calls of a chunk by track, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fxt/calls.h"

static const uint32_t NONE = UINT32_MAX;

/* ---- Lanes. ---- */

static struct fxt_lane *add_lane(struct fxt_chunk *chunk, uint32_t track)
{
	struct fxt_calls *calls = chunk->calls;
	if (!tw_grow(&calls->lanes, &calls->lane_room, calls->lane_count + 1, sizeof *calls->lanes) ||
	    !tw_map_add(&calls->by_track, track, (uint32_t)calls->lane_count)) {
		chunk->failed = true;
		return NULL;
	}
	calls->lanes[calls->lane_count] = (struct fxt_lane){.track = track, .top = NONE, .next = UINT64_MAX};
	return &calls->lanes[calls->lane_count++];
}

struct fxt_lane *fxt_lane_of(struct fxt_chunk *chunk, uint32_t track)
{
	uint32_t place;
	if (tw_map_find(&chunk->calls->by_track, track, &place))
		return &chunk->calls->lanes[place];
	return add_lane(chunk, track);
}

/* Gives each lane room for its items. */
static void place_lanes(struct fxt_calls *calls)
{
	uint32_t from = 0;
	for (size_t i = 0; i < calls->stretch_count; i++)
		calls->lanes[calls->stretches[i].lane].count +=
		    (uint32_t)(fxt_stretch_end(calls, i) - calls->stretches[i].from);
	for (size_t i = 0; i < calls->lane_count; i++) {
		calls->lanes[i].from = from;
		from += calls->lanes[i].count;
		calls->lanes[i].put = from;
	}
}

/* ---- The order of most archives: begins and ends stand in the order of time, complete slices in that of their ends.
 * So, from the last to the first, a complete slice comes before all that is inside it: it waits on a stack, and goes
 * out when something is before its begin. What is in another order than these is found out, and sorted. ---- */

static inline void put(struct fxt_calls *calls, struct fxt_lane *lane, const struct fxt_call *call)
{
	calls->items[--lane->put] = call->item;
	lane->next = call->item.time;
}

/* Puts the complete slices that do not go before an item. */
static void put_waiting(struct fxt_calls *calls, struct fxt_lane *lane, const struct tw_call_item *before)
{
	while (lane->top != NONE && !fxt_goes_first(&calls->calls[lane->top].item, before)) {
		put(calls, lane, &calls->calls[lane->top]);
		lane->top = calls->calls[lane->top].below;
	}
	lane->waits = lane->top == NONE ? 0 : calls->calls[lane->top].item.time;
}

static inline void put_call(struct fxt_calls *calls, struct fxt_lane *lane, struct fxt_call *call)
{
	uint64_t time = call->item.time;
	if (time <= lane->waits)
		put_waiting(calls, lane, &call->item);
	if (call->item.kind != TW_CALL_COMPLETE) {
		lane->mixed |= time > lane->next;
		put(calls, lane, call);
		return;
	}
	lane->mixed |= time >= lane->next;
	call->below = lane->top;
	lane->top = (uint32_t)(call - calls->calls);
	lane->waits = time;
}

static void put_all(struct fxt_calls *calls)
{
	static const struct tw_call_item first = {.kind = TW_CALL_BEGIN};
	for (size_t i = calls->stretch_count; i > 0; i--) {
		struct fxt_lane *lane = &calls->lanes[calls->stretches[i - 1].lane];
		for (size_t k = fxt_stretch_end(calls, i - 1); k > calls->stretches[i - 1].from; k--)
			put_call(calls, lane, &calls->calls[k - 1]);
	}
	for (size_t i = 0; i < calls->lane_count; i++)
		put_waiting(calls, &calls->lanes[i], &first);
}

/* ---- Any order. ---- */

/* Sorts items; those of which neither goes first stay as they are. spare has room for as many. */
static void sort(struct tw_call_item *items, size_t count, struct tw_call_item *spare, bool by_time)
{
	if (count < 2)
		return;
	size_t half = count / 2, a = 0, b = half;
	sort(items, half, spare, by_time);
	sort(items + half, count - half, spare, by_time);
	memcpy(spare, items, half * sizeof *items);
	for (size_t i = 0; a < half; i++) {
		bool second =
		    b < count && (by_time ? items[b].time < spare[a].time : items[b].duration > spare[a].duration);
		items[i] = second ? items[b++] : spare[a++];
	}
}

/* Complete slices of one time stand the longest first, in the places that they have among the items of that time. */
static void nest(struct tw_call_item *items, size_t count, struct tw_call_item *spare)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == TW_CALL_COMPLETE)
			spare[found++] = items[i];
	sort(spare, found, spare + found, false);
	for (size_t i = 0, k = 0; k < found; i++)
		if (items[i].kind == TW_CALL_COMPLETE)
			items[i] = spare[k++];
}

static void sort_lane(struct tw_call_item *items, size_t count, struct tw_call_item *spare)
{
	sort(items, count, spare, true);
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && items[to].time == items[from].time; to++)
			;
		if (to > from + 1)
			nest(items + from, to - from, spare);
	}
}

/* Puts the items of lanes that are out of order back as they stand in the archive, and sorts them. */
static void sort_mixed(struct fxt_calls *calls, struct tw_call_item *spare)
{
	for (size_t i = 0; i < calls->stretch_count; i++) {
		struct fxt_lane *lane = &calls->lanes[calls->stretches[i].lane];
		for (size_t k = calls->stretches[i].from; k < fxt_stretch_end(calls, i) && lane->mixed; k++)
			calls->items[lane->put++] = calls->calls[k].item;
	}
	for (size_t i = 0; i < calls->lane_count; i++)
		if (calls->lanes[i].mixed)
			sort_lane(calls->items + calls->lanes[i].from, calls->lanes[i].count, spare);
}

static bool any_mixed(const struct fxt_calls *calls)
{
	for (size_t i = 0; i < calls->lane_count; i++)
		if (calls->lanes[i].mixed)
			return true;
	return false;
}

/* Without those of another chunk. */
static bool make_items(struct fxt_calls *calls)
{
	enum { SPARE = 8 }; /* an eighth: chunks differ little */
	if (calls->count <= calls->item_room)
		return true;
	free(calls->items);
	calls->item_room = calls->count + calls->count / SPARE;
	calls->items = calloc(calls->item_room, sizeof *calls->items);
	if (!calls->items)
		calls->item_room = 0;
	return calls->items;
}

void fxt_lanes_sort(struct fxt_chunk *chunk, struct fxt_scratch *scratch)
{
	struct fxt_calls *calls = chunk->calls;
	if (!make_items(calls)) {
		chunk->failed = true;
		return;
	}
	place_lanes(calls);
	put_all(calls);
	if (!any_mixed(calls))
		return;
	if (tw_grow(&scratch->sort.bytes, &scratch->sort.room, 2 * calls->count * sizeof *calls->items, 1))
		sort_mixed(calls, (struct tw_call_item *)(void *)scratch->sort.bytes);
	else
		chunk->failed = true;
}
