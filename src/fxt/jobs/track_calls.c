/* track_calls.c - the calls of a chunk by track, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "core/calls/item_order.h"
#include "fxt/jobs/calls.h"

#include <stdlib.h>

static const uint32_t NONE = UINT32_MAX;

/* ---- The calls of each track. ---- */

static struct fxt_track_calls *add_track(struct fxt_chunk *chunk, uint32_t track)
{
	struct fxt_calls *calls = chunk->calls;
	if (!tw_grow(&calls->tracks, &calls->track_room, calls->track_count + 1, sizeof *calls->tracks) ||
	    !tw_map_add(&calls->by_track, track, (uint32_t)calls->track_count)) {
		chunk->failed = true;
		return NULL;
	}
	calls->tracks[calls->track_count] = (struct fxt_track_calls){.number = track, .top = NONE, .next = UINT64_MAX};
	return &calls->tracks[calls->track_count++];
}

struct fxt_track_calls *fxt_calls_of(struct fxt_chunk *chunk, uint32_t track)
{
	uint32_t place;
	if (tw_map_find(&chunk->calls->by_track, track, &place))
		return &chunk->calls->tracks[place];
	return add_track(chunk, track);
}

/* Gives each track room for its items. Returns how many there are. */
static size_t place_tracks(struct fxt_calls *calls)
{
	uint32_t from = 0;
	for (size_t i = 0; i < calls->count; i++)
		calls->tracks[calls->room.calls[i].track].count++;
	for (size_t i = 0; i < calls->track_count; i++) {
		struct fxt_track_calls *track = &calls->tracks[i];
		track->from = from;
		track->put = from += track->count;
	}
	return from;
}

/* ---- The order of most archives: begins and ends stand in the order of time, complete slices in that of their ends.
 * Taken from the last to the first, a complete slice comes before all that is inside it: it waits on a stack until
 * something earlier than its begin comes. A track in any other order is found out, and sorted the slow way. ---- */

/* Calls that are put in order. */
struct order {
	struct fxt_calls *calls;
	uint32_t *below; /* by number of a complete slice that waits: the one that it waits on top of */
};

static inline void put(struct fxt_calls *calls, struct fxt_track_calls *track, const struct tw_call_item *item)
{
	calls->items[--track->put] = *item;
	track->next = item->time;
}

/* Whether `a` goes before `b`: it is earlier, or both are complete slices that begin together and it is longer. */
static inline bool goes_first(const struct tw_call_item *a, const struct tw_call_item *b)
{
	bool both = tw_item_is_complete(a) && tw_item_is_complete(b);
	return a->time < b->time || (a->time == b->time && both && a->duration > b->duration);
}

/* Puts the complete slices that do not go before an item. */
static void put_waiting(const struct order *order, struct fxt_track_calls *track, const struct tw_call_item *before)
{
	const struct fxt_call *calls = order->calls->room.calls;
	for (; track->top != NONE; track->top = order->below[track->top]) {
		const struct tw_call_item item = fxt_call_item(&calls[track->top]);
		if (goes_first(&item, before))
			break;
		put(order->calls, track, &item);
	}
	track->waits = track->top == NONE ? 0 : calls[track->top].begin;
}

static inline void put_call(const struct order *order, struct fxt_track_calls *track, size_t i)
{
	const struct tw_call_item item = fxt_call_item(&order->calls->room.calls[i]);
	if (item.time <= track->waits)
		put_waiting(order, track, &item);
	if (!tw_item_is_complete(&item)) {
		track->mixed |= item.time > track->next;
		put(order->calls, track, &item);
		return;
	}
	track->mixed |= item.time >= track->next;
	order->below[i] = track->top;
	track->top = (uint32_t)i;
	track->waits = item.time;
}

/* False when there is no memory. */
static bool put_all(struct fxt_calls *calls, struct fxt_scratch *scratch)
{
	static const struct tw_call_item first = {.mark = TW_CALL_BEGIN};
	if (!tw_grow(&scratch->below, &scratch->below_room, calls->count, sizeof *scratch->below))
		return false;
	const struct order order = {calls, scratch->below};
	for (size_t i = calls->count; i > 0; i--)
		put_call(&order, &calls->tracks[calls->room.calls[i - 1].track], i - 1);
	calls->mixed = false;
	for (size_t i = 0; i < calls->track_count; i++) {
		put_waiting(&order, &calls->tracks[i], &first);
		calls->mixed |= calls->tracks[i].mixed;
	}
	return true;
}

/* ---- Any other order. ---- */

/* Puts the items of tracks that are out of order back as they stand in the archive, and sorts them. */
static void sort_mixed(struct fxt_calls *calls, struct tw_call_item *spare)
{
	for (size_t i = 0; i < calls->count; i++) {
		struct fxt_track_calls *track = &calls->tracks[calls->room.calls[i].track];
		if (track->mixed)
			calls->items[track->put++] = fxt_call_item(&calls->room.calls[i]);
	}
	for (size_t i = 0; i < calls->track_count; i++)
		if (calls->tracks[i].mixed)
			tw_sort_items(calls->items + calls->tracks[i].from, calls->tracks[i].count, spare);
}

/* Makes room for the items of a chunk; nothing of an earlier one is kept. */
static bool make_items(struct fxt_calls *calls, size_t count)
{
	enum { SPARE = 8 }; /* an eighth: chunks differ little */
	if (count <= calls->item_room)
		return true;
	free(calls->items);
	calls->items = malloc((count + count / SPARE) * sizeof *calls->items);
	calls->item_room = calls->items ? count + count / SPARE : 0;
	return calls->items;
}

static bool sort_calls(struct fxt_calls *calls, struct fxt_scratch *scratch)
{
	const size_t count = place_tracks(calls);
	if (!make_items(calls, count) || !put_all(calls, scratch))
		return false;
	if (!calls->mixed)
		return true;
	if (!tw_grow(&scratch->sort.bytes, &scratch->sort.room, 2 * count * sizeof *calls->items, 1))
		return false;
	sort_mixed(calls, (struct tw_call_item *)(void *)scratch->sort.bytes);
	return true;
}

void fxt_sort_calls(struct fxt_chunk *chunk, struct fxt_scratch *scratch)
{
	if (!sort_calls(chunk->calls, scratch))
		chunk->failed = true;
}
