/* order.c - slabs merged in time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/slab.h"

#include <trackway/status.h>

void tw_sorter_put(struct tw_sorter *sorter, const struct tw_slab *slab)
{
	assert(tw_sorter_has_room(sorter));
	sorter->lanes[sorter->count++] = (struct tw_order_lane){.slab = slab};
}

const struct tw_slab *tw_sorter_done(struct tw_sorter *sorter)
{
	if (sorter->count == 0 || sorter->lanes[0].next < sorter->lanes[0].slab->count)
		return NULL;
	const struct tw_slab *slab = sorter->lanes[0].slab;
	memmove(sorter->lanes, sorter->lanes + 1, --sorter->count * sizeof *sorter->lanes);
	return slab;
}

void tw_sorter_free(struct tw_sorter *sorter)
{
	free(sorter->arguments);
	*sorter = (struct tw_sorter){0};
}

/* ---- Heads. ---- */

static uint32_t row_at(const struct tw_order_lane *lane, size_t place)
{
	return lane->slab->sorted ? (uint32_t)place : lane->slab->order[place];
}

/* NULL when the lane is used up. */
static const struct tw_event *head_of(const struct tw_order_lane *lane)
{
	return lane->next < lane->slab->count ? &lane->slab->events[row_at(lane, lane->next)] : NULL;
}

/* Whether a, of an older slab, goes before b. */
static bool goes_first(const struct tw_event *a, const struct tw_event *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return !(a->kind == TW_SLICE_COMPLETE && b->kind == TW_SLICE_COMPLETE && a->value < b->value);
}

/* The lane whose head is first, and the head that comes after it in another lane (NULL: none). */
static struct tw_order_lane *first_lane(struct tw_sorter *sorter, const struct tw_event **other)
{
	struct tw_order_lane *best = NULL;
	const struct tw_event *best_head = NULL;
	*other = NULL;
	for (size_t i = 0; i < sorter->count; i++) {
		const struct tw_event *head = head_of(&sorter->lanes[i]);
		if (!head)
			continue;
		if (best_head && goes_first(best_head, head)) {
			*other = *other && goes_first(*other, head) ? *other : head;
			continue;
		}
		*other = best_head;
		best = &sorter->lanes[i];
		best_head = head;
	}
	return best;
}

uint64_t tw_sorter_first(const struct tw_sorter *sorter)
{
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < sorter->count; i++) {
		const struct tw_event *head = head_of(&sorter->lanes[i]);
		if (head && head->time < first)
			first = head->time;
	}
	return first;
}

/* ---- Batches. ---- */

static const struct tw_argument *arguments_of(const struct tw_slab *slab, uint32_t row)
{
	return slab->arguments + slab->bases[row / TW_SLAB_BLOCK];
}

/* Rows of a sorted slab as they lie, as far as their block and the other lanes allow. */
static size_t take_in_place(struct tw_order_lane *lane, const struct tw_event *other, struct tw_batch *batch)
{
	const struct tw_slab *slab = lane->slab;
	size_t from = lane->next, to = (from / TW_SLAB_BLOCK + 1) * TW_SLAB_BLOCK;
	size_t end = to < slab->count ? to : slab->count;
	to = end;
	if (other && slab->events[end - 1].time >= other->time)
		for (to = from + 1; to < end && slab->events[to].time < other->time;)
			to++;
	*batch = (struct tw_batch){slab->events + from, to - from, arguments_of(slab, (uint32_t)from)};
	lane->next = to;
	return to - from;
}

/* Copies a row with its arguments behind the `count` and `used` there are. */
static void copy_row(struct tw_sorter *sorter, const struct tw_slab *slab, uint32_t row, size_t count, size_t used)
{
	struct tw_event *event = &sorter->events[count];
	*event = slab->events[row];
	if (event->argument_count)
		memcpy(sorter->arguments + used, arguments_of(slab, row) + event->first_argument,
		       event->argument_count * sizeof *sorter->arguments);
	event->first_argument = (uint16_t)used;
}

/* Rows from here and there. */
static int gather(struct tw_sorter *sorter, bool whole, struct tw_batch *batch)
{
	size_t count = 0, used = 0;
	if (!tw_grow(&sorter->arguments, &sorter->argument_room, TW_SLAB_BLOCK * UINT8_MAX, sizeof *sorter->arguments))
		return TW_ERR_MEMORY;
	while (count < TW_SLAB_BLOCK && (whole || head_of(&sorter->lanes[0]))) {
		const struct tw_event *other;
		struct tw_order_lane *lane = first_lane(sorter, &other);
		if (!lane)
			break;
		do {
			copy_row(sorter, lane->slab, row_at(lane, lane->next++), count, used);
			used += sorter->events[count++].argument_count;
			const struct tw_event *head = head_of(lane);
			if (!head || (other && head->time >= other->time))
				break;
		} while (count < TW_SLAB_BLOCK);
	}
	*batch = (struct tw_batch){sorter->events, count, sorter->arguments};
	return (int)count;
}

/* Counts the rows that stand behind later ones: they came too late to be put before them. */
static void note_late(struct tw_sorter *sorter, const struct tw_batch *batch)
{
	if (batch->count && batch->events[0].time >= sorter->last) {
		sorter->last = batch->events[batch->count - 1].time;
		return;
	}
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t time = batch->events[i].time;
		if (time >= sorter->last) {
			sorter->last = time;
			continue;
		}
		if (sorter->late++ == 0)
			sorter->late_offset = batch->events[i].offset;
		if (sorter->last - time > sorter->latest_by)
			sorter->latest_by = sorter->last - time;
	}
}

int tw_sorter_next(struct tw_sorter *sorter, bool whole, struct tw_batch *batch)
{
	enum { WORTH_NO_COPY = 16 };
	const struct tw_event *other;
	*batch = (struct tw_batch){0};
	if (sorter->count == 0 || (!whole && !head_of(&sorter->lanes[0])))
		return 0;
	struct tw_order_lane *lane = first_lane(sorter, &other);
	if (!lane)
		return 0;
	int count;
	bool far = !other || lane->next + WORTH_NO_COPY >= lane->slab->count ||
	           (lane->slab->sorted && lane->slab->events[lane->next + WORTH_NO_COPY].time < other->time);
	if (lane->slab->sorted && far)
		count = (int)take_in_place(lane, other, batch);
	else
		count = gather(sorter, whole, batch);
	note_late(sorter, batch);
	return count;
}
