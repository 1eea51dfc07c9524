/* order.c - slabs merged in time order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inline.h"
#include "base/memory/memory.h"
#include "core/order/slab.h"

#include <trackway/status.h>

#include <assert.h>
#include <stdlib.h>

/* ---- Heads. They are kept in order: the one that is delivered next moves a place or two, as a rule. ---- */

static struct tw_order_queue *queue_at(struct tw_sorter *sorter, uint64_t number)
{
	return &sorter->queues[number % TW_ORDER_SLABS];
}

static uint32_t row_at(const struct tw_order_queue *queue, size_t place)
{
	return queue->slab->sorted ? (uint32_t)place : queue->slab->order[place];
}

static const struct tw_event *event_at(const struct tw_order_queue *queue, size_t place)
{
	return &queue->slab->events[row_at(queue, place)];
}

/* Whether a goes before b. What is still to be made may begin at the same time. */
static bool goes_first(const struct tw_order_head *a, const struct tw_order_head *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->later != b->later)
		return a->later;
	return a->queue < b->queue;
}

/* Field by field: to read in one go what was just written in parts takes long. `make bench` measures convert. */
static inline void set_head(struct tw_order_head *to, const struct tw_order_head *head)
{
	to->time = head->time;
	to->later = head->later;
	to->queue = head->queue;
}

static inline void insert(struct tw_sorter *sorter, const struct tw_order_head *head)
{
	size_t i = sorter->head_count++;
	for (; i > 0 && goes_first(&sorter->heads[i - 1], head); i--)
		set_head(&sorter->heads[i], &sorter->heads[i - 1]);
	set_head(&sorter->heads[i], head);
}

/* Puts the head of a queue, if it has one, in its place among the others. */
static inline void put_head(struct tw_sorter *sorter, const struct tw_order_queue *queue)
{
	if (queue->next == queue->slab->count)
		return;
	const struct tw_order_head head = {.time = event_at(queue, queue->next)->time, .queue = queue->number};
	insert(sorter, &head);
}

void tw_sorter_put(struct tw_sorter *sorter, const struct tw_slab *slab)
{
	assert(tw_sorter_has_room(sorter));
	uint64_t number = sorter->oldest + sorter->count++;
	*queue_at(sorter, number) = (struct tw_order_queue){.slab = slab, .number = number};
	put_head(sorter, queue_at(sorter, number));
}

uint64_t tw_sorter_put_later(struct tw_sorter *sorter, const struct tw_slab *slab, uint64_t not_before)
{
	assert(tw_sorter_has_room(sorter));
	uint64_t number = sorter->oldest + sorter->count++;
	*queue_at(sorter, number) = (struct tw_order_queue){.slab = slab, .number = number, .later = true};
	insert(sorter, &(struct tw_order_head){.time = not_before, .later = true, .queue = number});
	return number;
}

static int make(struct tw_sorter *sorter, uint64_t number)
{
	int status = sorter->make(sorter->context, number);
	if (status < 0)
		return status;
	queue_at(sorter, number)->later = false;
	put_head(sorter, queue_at(sorter, number));
	return 0;
}

/* Makes slabs until the first row of all is there. Returns 0 or a negative status. */
static int make_first(struct tw_sorter *sorter)
{
	int status = 0;
	while (status == 0 && sorter->head_count && sorter->heads[sorter->head_count - 1].later)
		status = make(sorter, sorter->heads[--sorter->head_count].queue);
	return status;
}

/* Whether rows of one time are to be delivered next. */
static bool has_equal_times(const struct tw_sorter *sorter)
{
	return sorter->equal_given < sorter->equal.count;
}

static uint64_t equal_time(const struct tw_sorter *sorter)
{
	const struct tw_equal_row *first = &sorter->equal.rows[sorter->equal_given];
	return first->slab->events[first->row].time;
}

bool tw_sorter_used_up(const struct tw_sorter *sorter, size_t place)
{
	const struct tw_order_queue *queue = &sorter->queues[(sorter->oldest + place) % TW_ORDER_SLABS];
	return !queue->later && queue->next == queue->slab->count && !has_equal_times(sorter);
}

static bool oldest_used_up(const struct tw_sorter *sorter)
{
	return tw_sorter_used_up(sorter, 0);
}

const struct tw_slab *tw_sorter_done(struct tw_sorter *sorter)
{
	if (sorter->count == 0 || !oldest_used_up(sorter))
		return NULL;
	sorter->count--;
	return queue_at(sorter, sorter->oldest++)->slab;
}

uint64_t tw_sorter_first(const struct tw_sorter *sorter)
{
	if (has_equal_times(sorter))
		return equal_time(sorter);
	return sorter->head_count ? sorter->heads[sorter->head_count - 1].time : UINT64_MAX;
}

void tw_sorter_free(struct tw_sorter *sorter)
{
	free(sorter->arguments);
	tw_equal_times_free(&sorter->equal);
	*sorter = (struct tw_sorter){0};
}

/* ---- Batches. ---- */

static const struct tw_argument *arguments_of(const struct tw_slab *slab, uint32_t row)
{
	return slab->arguments ? slab->arguments + slab->bases[row / TW_SLAB_BLOCK] : NULL;
}

/* The time up to which the queue of the first head can go on alone. */
static uint64_t time_of_next(const struct tw_sorter *sorter)
{
	return sorter->head_count > 1 ? sorter->heads[sorter->head_count - 2].time : UINT64_MAX;
}

/* The rows of a slab that is out of order lie anywhere in it, most of them in two lines of the cache, and another
 * processor may have written them. `make bench` measures stat and convert of FXT. It must be inlined: gcc 12 takes out
 * calls of functions that do nothing but prefetch. */
TW_INLINE void look_ahead(const struct tw_slab *slab, const uint32_t *order, size_t place)
{
	enum { ROWS_AHEAD = 12 };
	if (!order || place + ROWS_AHEAD >= slab->count)
		return;
	const struct tw_event *event = &slab->events[order[place + ROWS_AHEAD]];
	__builtin_prefetch(event);
	__builtin_prefetch((const char *)(event + 1) - 1);
}

/* A batch that is put together. */
struct collected {
	struct tw_batch_room room;
	size_t count, used; /* rows and arguments */
	bool full;
};

static bool begin_collecting(struct tw_sorter *sorter, struct collected *to)
{
	enum { ARGUMENTS = 16 }; /* of a row: a batch whose rows have more has fewer rows. UINT8_MAX are room for one */
	*to = (struct collected){0};
	if (sorter->room) {
		to->room = *sorter->room;
		return true;
	}
	bool fine =
	    tw_extend(&sorter->arguments, &sorter->argument_room, TW_SLAB_BLOCK * ARGUMENTS, sizeof *sorter->arguments);
	to->room = (struct tw_batch_room){sorter->events, sorter->arguments, sorter->argument_room};
	return fine;
}

/* Copies a row and its arguments into the batch, behind those that it has. False where there is no room. */
static inline bool copy_row(struct collected *to, const struct tw_slab *slab, uint32_t row)
{
	struct tw_event *event = &to->room.events[to->count];
	*event = slab->events[row];
	event->first_argument = (uint16_t)to->used;
	if (event->argument_count) {
		if (event->argument_count > to->room.argument_room - to->used)
			return false;
		const struct tw_argument *from = arguments_of(slab, row) + slab->events[row].first_argument;
		for (unsigned i = 0; i < event->argument_count; i++) /* few: memcpy() is for many */
			to->room.arguments[to->used++] = from[i];
	}
	to->count++;
	return true;
}

/* Takes rows of a queue until one is not before `until`. */
static inline void collect_run(struct tw_order_queue *queue, uint64_t until, struct collected *to)
{
	const struct tw_slab *slab = queue->slab;
	const uint32_t *order = slab->sorted ? NULL : slab->order;
	size_t next = queue->next, count = slab->count;
	uint32_t row = order ? order[next] : (uint32_t)next;
	do {
		look_ahead(slab, order, next);
		to->full = !copy_row(to, slab, row);
		if (to->full)
			break;
		if (++next == count)
			break;
		row = order ? order[next] : (uint32_t)next;
	} while (to->count < TW_SLAB_BLOCK && slab->events[row].time < until);
	queue->next = next;
}

/* ---- Rows of one time in several queues: which of them goes first depends on all. ---- */

static bool begins_with_equal_times(const struct tw_sorter *sorter)
{
	return sorter->head_count && sorter->heads[sorter->head_count - 1].time == time_of_next(sorter);
}

/* Takes them, and puts them in order. False when there is no memory. */
static bool take_equal_times(struct tw_sorter *sorter)
{
	const uint64_t time = sorter->heads[sorter->head_count - 1].time;
	sorter->equal.count = sorter->equal_given = 0;
	while (sorter->head_count && sorter->heads[sorter->head_count - 1].time == time) {
		struct tw_order_queue *queue = queue_at(sorter, sorter->heads[--sorter->head_count].queue);
		for (; queue->next < queue->slab->count && event_at(queue, queue->next)->time == time; queue->next++)
			if (!tw_equal_times_add(&sorter->equal, queue->slab, row_at(queue, queue->next)))
				return false;
		put_head(sorter, queue);
	}
	return tw_equal_times_nest(&sorter->equal);
}

static void collect_equal_times(struct tw_sorter *sorter, struct collected *to)
{
	while (has_equal_times(sorter) && to->count < TW_SLAB_BLOCK && !to->full) {
		const struct tw_equal_row *first = &sorter->equal.rows[sorter->equal_given];
		to->full = !copy_row(to, first->slab, first->row);
		sorter->equal_given += !to->full;
	}
}

/* ---- Rows from here and there. ---- */

/* Goes on with the queue of the first head. */
static int collect_first(struct tw_sorter *sorter, struct collected *to)
{
	const struct tw_order_head *head = &sorter->heads[sorter->head_count - 1];
	if (__builtin_expect(head->later, 0))
		return make_first(sorter);
	if (__builtin_expect(begins_with_equal_times(sorter), 0))
		return take_equal_times(sorter) ? 0 : TW_ERR_MEMORY;
	struct tw_order_queue *queue = queue_at(sorter, head->queue);
	collect_run(queue, time_of_next(sorter), to);
	sorter->head_count--;
	put_head(sorter, queue);
	return 0;
}

static int collect(struct tw_sorter *sorter, bool whole, struct tw_batch *batch)
{
	struct collected to;
	if (!begin_collecting(sorter, &to))
		return TW_ERR_MEMORY;
	collect_equal_times(sorter, &to);
	while (to.count < TW_SLAB_BLOCK && !to.full && sorter->head_count && (whole || !oldest_used_up(sorter))) {
		int status = collect_first(sorter, &to);
		if (status < 0)
			return status;
		collect_equal_times(sorter, &to);
	}
	*batch = (struct tw_batch){to.room.events, to.count, to.room.arguments};
	return (int)to.count;
}

static void note_late_row(struct tw_sorter *sorter, uint64_t time, uint64_t offset)
{
	if (time >= sorter->last) {
		sorter->last = time;
		return;
	}
	if (sorter->late++ == 0 || offset < sorter->late_offset)
		sorter->late_offset = offset;
	if (sorter->last - time > sorter->latest_by)
		sorter->latest_by = sorter->last - time;
}

/* Counts the rows that stand behind later ones: they came too late to be put before them. */
static void note_late(struct tw_sorter *sorter, const struct tw_batch *batch)
{
	if (batch->count && batch->events[0].time >= sorter->last) {
		sorter->last = batch->events[batch->count - 1].time;
		return;
	}
	for (size_t i = 0; i < batch->count; i++)
		note_late_row(sorter, batch->events[i].time, batch->events[i].offset);
}

/* ---- The next batch. ---- */

int tw_sorter_next(struct tw_sorter *sorter, bool whole, struct tw_batch *batch)
{
	*batch = (struct tw_batch){0};
	int status = make_first(sorter);
	bool any = has_equal_times(sorter) || sorter->head_count;
	if (status < 0 || !any || (!whole && oldest_used_up(sorter)))
		return status;
	status = collect(sorter, whole, batch);
	note_late(sorter, batch);
	return status;
}
