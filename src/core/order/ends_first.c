/* ends_first.c - an end goes before complete slices of its time, for targets with one stack a track. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order/ends_first.h"

#include "base/memory/memory.h"
#include "core/format.h"

#include <stdlib.h>

enum {
	HELD_MOST = 1 << 16, /* rows of one time that are looked at together */
	LOOKED_AT = 32,      /* rows before an end, to find whether their order matters */
	BEGUN_LOOKED_AT = 1024
};

/* A row that is held. */
struct tw_moved_row {
	const struct tw_event *event;
	size_t place;  /* as it came */
	size_t before; /* goes before the row that came at this place; SIZE_MAX: keeps its own place */
};

/* A begin of the time of the rows. */
struct tw_begun_row {
	uint32_t name;
	size_t place;
	size_t complete; /* the place of the first complete slice behind it that goes on; SIZE_MAX: there is none */
};

/* ---- Which rows need another order. ---- */

/* Whether a row is a complete slice that goes on behind its time. */
static bool goes_on(const struct tw_event *event)
{
	return event->kind == TW_SLICE_COMPLETE && event->value;
}

/* Whether an end stands behind a complete slice that begins at its time. It may do so although it stands where it
 * should: the order that is made is then the same. */
static bool stands_behind(const struct tw_event *first, const struct tw_event *end)
{
	const struct tw_event *before = end;
	while (before-- > first) {
		if (end - before > LOOKED_AT)
			return true;
		if (before->track == end->track && (goes_on(before) || before->kind == TW_SLICE_BEGIN))
			return goes_on(before);
	}
	return false;
}

static bool order_matters(const struct tw_event *first, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (first[i].kind == TW_SLICE_END && stands_behind(first, &first[i]))
			return true;
	return false;
}

static bool any_goes_on(const struct tw_event *first, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (goes_on(&first[i]))
			return true;
	return false;
}

/* ---- The order of the rows of a track. ---- */

static int by_track(const void *a, const void *b)
{
	const struct tw_moved_row *left = a, *right = b;
	if (left->event->track != right->event->track)
		return left->event->track < right->event->track ? -1 : 1;
	return left->place < right->place ? -1 : 1;
}

static size_t new_place(const struct tw_moved_row *row)
{
	return row->before == SIZE_MAX ? row->place : row->before;
}

/* What goes before a row stands before it. */
static int by_new_place(const void *a, const void *b)
{
	const struct tw_moved_row *left = a, *right = b;
	if (new_place(left) != new_place(right))
		return new_place(left) < new_place(right) ? -1 : 1;
	if ((left->before == SIZE_MAX) != (right->before == SIZE_MAX))
		return right->before == SIZE_MAX ? -1 : 1;
	return left->place < right->place ? -1 : 1;
}

/* Events of one time lie in memory as they came. */
static int longer_first(const void *a, const void *b)
{
	const struct tw_event *left = *(const struct tw_event *const *)a, *right = *(const struct tw_event *const *)b;
	if (left->value != right->value)
		return left->value > right->value ? -1 : 1;
	return left < right ? -1 : 1;
}

/* A complete slice begins that goes on. */
static void note_complete(struct tw_begun_row *begun, size_t depth, size_t place)
{
	while (depth && begun[depth - 1].complete == SIZE_MAX)
		begun[--depth].complete = place;
}

/* Finds the begin that an end belongs to, 0 when that is earlier. */
static size_t find_begin(const struct tw_begun_row *begun, size_t depth, uint32_t name)
{
	const size_t least = depth > BEGUN_LOOKED_AT ? depth - BEGUN_LOOKED_AT : 1;
	for (size_t i = depth; i > least; i--)
		if (name == 0 || begun[i - 1].name == name)
			return i - 1;
	return 0;
}

/* Finds the ends that go before other rows: not before a begin that has no end yet, which they end, too. begun: room
 * for one more than rows; the first stands for all begins that are earlier. */
static void find_ends(struct tw_moved_row *rows, size_t count, struct tw_begun_row *begun)
{
	size_t depth = 1;
	begun[0] = (struct tw_begun_row){.complete = SIZE_MAX};
	for (size_t i = 0; i < count; i++) {
		const struct tw_event *event = rows[i].event;
		if (event->kind == TW_SLICE_BEGIN)
			begun[depth++] = (struct tw_begun_row){event->name, rows[i].place, SIZE_MAX};
		else if (goes_on(event))
			note_complete(begun, depth, rows[i].place);
		if (event->kind != TW_SLICE_END)
			continue;
		const size_t own = find_begin(begun, depth, event->name);
		rows[i].before = begun[depth - 1].complete;
		depth = own ? own : depth; /* it ends those above, too */
	}
}

/* Puts complete slices that stand together in order. slices: room for as many. */
static void nest(struct tw_moved_row *rows, size_t count, const struct tw_event **slices)
{
	for (size_t from = 0, to; from < count; from = to + 1) {
		for (to = from; to < count && rows[to].event->kind == TW_SLICE_COMPLETE; to++)
			slices[to - from] = rows[to].event;
		qsort(slices, to - from, sizeof *slices, longer_first);
		for (size_t i = from; i < to; i++)
			rows[i].event = slices[i - from];
	}
}

static void order_track(struct tw_ends_first *ends, struct tw_moved_row *rows, size_t count)
{
	find_ends(rows, count, ends->begun);
	qsort(rows, count, sizeof *rows, by_new_place);
	nest(rows, count, ends->slices);
}

static bool make_room(struct tw_ends_first *ends, size_t count)
{
	return tw_extend(&ends->tied, &ends->tied_room, count, sizeof *ends->tied) &&
	       tw_extend(&ends->begun, &ends->begun_room, count + 1, sizeof *ends->begun) &&
	       tw_extend(&ends->slices, &ends->slice_room, count, sizeof(const struct tw_event *));
}

/* Finds the order of all that is held. False when there is no memory. */
static bool order_held(struct tw_ends_first *ends)
{
	const struct tw_row *rows = ends->held.rows + ends->held.head;
	const size_t count = tw_event_rows_held(&ends->held);
	size_t slices = 0, others = count;
	if (!make_room(ends, count))
		return false;
	for (size_t i = 0; i < count; i++)
		ends->tied[TW_SLICES >> rows[i].event.kind & 1 ? slices++ : --others] =
		    (struct tw_moved_row){&rows[i].event, i, SIZE_MAX};
	qsort(ends->tied, slices, sizeof *ends->tied, by_track);
	for (size_t from = 0, to; from < slices; from = to) {
		for (to = from; to < slices && ends->tied[to].event->track == ends->tied[from].event->track;)
			to++;
		order_track(ends, ends->tied + from, to - from);
	}
	qsort(ends->tied, count, sizeof *ends->tied, by_new_place);
	return true;
}

/* ---- Batches. ---- */

/* Puts what is held into `ready`, in order. */
static bool make_ready(struct tw_ends_first *ends)
{
	const struct tw_event_rows *held = &ends->held;
	if (!order_held(ends))
		return false;
	for (size_t i = 0; i < tw_event_rows_held(held); i++) {
		const struct tw_row *row =
		    (const struct tw_row *)(const void *)ends->tied[i].event; /* its first member */
		const struct tw_argument *arguments =
		    row->event.argument_count ? held->arguments + row->argument : NULL;
		if (!tw_event_rows_add(&ends->ready, &row->event, arguments, held->bytes, 0))
			return false;
	}
	return true;
}

static int hand_on_held(struct tw_ends_first *ends, tw_hand_on_fn hand_on, void *context)
{
	if (!tw_event_rows_held(&ends->held))
		return 0;
	int status = make_ready(ends) ? 0 : TW_ERR_MEMORY;
	tw_event_rows_shift(&ends->held, tw_event_rows_held(&ends->held));
	while (status >= 0 && tw_event_rows_held(&ends->ready)) {
		struct tw_batch batch;
		const int count = tw_row_batch_make(&ends->made, &ends->ready, &batch);
		status = count < 0 ? count : hand_on(context, &batch);
		tw_event_rows_shift(&ends->ready, batch.count);
	}
	return status;
}

static int hold(struct tw_ends_first *ends, const struct tw_batch *batch, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct tw_argument *arguments = tw_event_arguments(batch, &batch->events[i]);
		if (!tw_event_rows_add(&ends->held, &batch->events[i], arguments, NULL, 0))
			return TW_ERR_MEMORY;
	}
	return 0;
}

static int hand_on_part(const struct tw_batch *batch, size_t from, size_t to, tw_hand_on_fn hand_on, void *context)
{
	if (from == to)
		return 0;
	return hand_on(context, &(struct tw_batch){batch->events + from, to - from, batch->arguments});
}

/* The place of the first row behind one of another time. */
static size_t end_of_time(const struct tw_batch *batch, size_t from)
{
	size_t to = from + 1;
	while (to < batch->count && batch->events[to].time == batch->events[from].time)
		to++;
	return to;
}

/* Goes on with rows that are held. How many rows of the batch have their time goes to *taken. */
static int go_on(struct tw_ends_first *ends, const struct tw_batch *batch, size_t *taken)
{
	*taken = 0;
	if (!tw_event_rows_held(&ends->held))
		return 0;
	if (batch->events[0].time == ends->held.rows[ends->held.head].event.time)
		*taken = end_of_time(batch, 0);
	return hold(ends, batch, 0, *taken);
}

int tw_ends_first_take(struct tw_ends_first *ends, const struct tw_batch *batch, tw_hand_on_fn hand_on, void *context)
{
	size_t from, to;
	if (!batch->count)
		return hand_on(context, batch);
	int status = go_on(ends, batch, &from);
	if (status < 0 || (from == batch->count && tw_event_rows_held(&ends->held) < HELD_MOST))
		return status;
	status = hand_on_held(ends, hand_on, context);
	if (status >= 0 && !any_goes_on(batch->events + from, batch->count - from))
		return hand_on_part(batch, from, batch->count, hand_on, context);
	for (size_t at = from; at < batch->count && status >= 0; at = to) {
		to = end_of_time(batch, at);
		const bool last = to == batch->count && any_goes_on(batch->events + at, to - at);
		if (!last && !order_matters(batch->events + at, to - at))
			continue;
		status = hand_on_part(batch, from, at, hand_on, context);
		status = status < 0 ? status : hold(ends, batch, at, to);
		if (status >= 0 && !last)
			status = hand_on_held(ends, hand_on, context);
		from = to;
	}
	return status < 0 ? status : hand_on_part(batch, from, batch->count, hand_on, context);
}

int tw_ends_first_finish(struct tw_ends_first *ends, tw_hand_on_fn hand_on, void *context)
{
	return hand_on_held(ends, hand_on, context);
}

void tw_ends_first_free(struct tw_ends_first *ends)
{
	tw_event_rows_free(&ends->held);
	tw_event_rows_free(&ends->ready);
	tw_row_batch_free(&ends->made);
	free(ends->tied);
	free(ends->begun);
	free(ends->slices);
}
