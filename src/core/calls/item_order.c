/* item_order.c - the begins, ends and complete slices of a track in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/calls/item_order.h"

#include <string.h>

/* Sorts items by time, or the longest duration first; equal ones keep their order. spare: room for as many. */
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

/* Returns how many items of one time stand before a begin. */
static size_t before_begin(const struct tw_call_item *items, size_t count)
{
	size_t found = 0;
	while (found < count && tw_item_kind(&items[found]) != TW_CALL_BEGIN)
		found++;
	return found;
}

/* Complete slices that stand together. */
static void nest_together(struct tw_call_item *items, size_t count, struct tw_call_item *spare)
{
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from; to < count && tw_item_is_complete(&items[to]);)
			to++;
		sort(items + from, to - from, spare, false);
		to += to == from; /* another call */
	}
}

static inline bool lasts(const struct tw_call_item *item)
{
	return tw_item_is_complete(item) && item->duration;
}

/* Complete slices that last, whatever ends between them. */
static void nest_across_ends(struct tw_call_item *items, size_t count, struct tw_call_item *spare)
{
	size_t found = 0, put = 0;
	for (size_t i = 0; i < count; i++)
		if (lasts(&items[i]))
			spare[found++] = items[i];
	sort(spare, found, spare + found, false);
	for (size_t i = 0; i < count; i++)
		if (lasts(&items[i]))
			items[i] = spare[put++];
}

void tw_nest_equal_items(struct tw_call_item *items, size_t count, struct tw_call_item *spare)
{
	for (size_t from = 0, found; from < count; from += found ? found : 1) {
		found = before_begin(items + from, count - from);
		nest_together(items + from, found, spare);
		nest_across_ends(items + from, found, spare);
	}
}

void tw_sort_items(struct tw_call_item *items, size_t count, struct tw_call_item *spare)
{
	sort(items, count, spare, true);
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && items[to].time == items[from].time;)
			to++;
		if (to > from + 1)
			tw_nest_equal_items(items + from, to - from, spare);
	}
}
