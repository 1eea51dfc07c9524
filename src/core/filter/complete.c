/* complete.c - begins and ends of slices as complete slices, each once its end is known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/complete.h"

#include "core/budget.h"
#include "core/calls/calls.h"
#include "core/format.h"
#include "core/order/rows.h"

#include <stdlib.h>

enum { ARGUMENTS_MOST = UINT8_MAX, READY_SIZE = 1 << 22 /* bytes of events that wait to be delivered */ };

/* A slice that has begun. */
struct begun_slice {
	struct tw_event event;
	struct tw_event_rows rows; /* its begin, then its end, where they have arguments */
	uint32_t next;             /* of those that are free, plus 1 */
};

struct tw_complete {
	struct tw_calls calls; /* first: hooks get it */
	struct tw_budget budget;
	struct begun_slice *begun; /* by the frame's row, from TW_ROW_FIRST on */
	size_t begun_count, begun_room;
	uint32_t free;                       /* plus 1 */
	const struct tw_event *event;        /* that is being taken; NULL: the last one was */
	const struct tw_argument *arguments; /* its own */
	struct tw_event_rows ready;
	size_t taken; /* of those: they are in the output */
	struct tw_row_batch output;
	struct tw_batch input; /* events from `next` on have not been looked at */
	size_t next;
	int status; /* of the last read, which has ended; otherwise 1 */
	tw_pull_fn pull;
	bool failed, full;
};

/* ---- Slices that have begun. ---- */

static size_t room_of(const struct tw_event_rows *rows)
{
	return rows->room * sizeof *rows->rows + rows->argument_room * sizeof *rows->arguments + rows->byte_room;
}

static void keep_arguments(struct tw_complete *complete, struct begun_slice *begun)
{
	struct tw_event part = *complete->event;
	const size_t left = ARGUMENTS_MOST - begun->rows.argument_count, before = room_of(&begun->rows);
	part.argument_count = (uint8_t)(part.argument_count < left ? part.argument_count : left);
	if (!part.argument_count)
		return;
	if (!tw_event_rows_add(&begun->rows, &part, complete->arguments, NULL, 0))
		complete->failed = true;
	if (!tw_budget_take(&complete->budget, TW_FOR_COUNTS, room_of(&begun->rows) - before))
		complete->full = true;
}

/* The row of a place that is free; TW_ROW_OTHER when there is no room. */
static uint32_t take_free(struct tw_complete *complete)
{
	const uint32_t found = complete->free;
	if (found) {
		complete->free = complete->begun[found - 1].next;
		return found - 1 + TW_ROW_FIRST;
	}
	if (complete->begun_count >= TW_ROW_HELD - TW_ROW_FIRST ||
	    !tw_budget_grow(&complete->budget, TW_FOR_ROWS, &complete->begun, &complete->begun_room,
	                    complete->begun_count + 1, sizeof *complete->begun)) {
		complete->full = true;
		return TW_ROW_OTHER;
	}
	return (uint32_t)complete->begun_count++ + TW_ROW_FIRST;
}

/* A complete slice is delivered as it comes: that others are inside of it is all that is to be known. */
static uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct tw_complete *complete = (struct tw_complete *)calls;
	(void)caller;
	(void)name;
	if (complete->event->kind == TW_SLICE_COMPLETE)
		return TW_ROW_OTHER;
	const uint32_t row = take_free(complete);
	if (row >= TW_ROW_FIRST) {
		struct begun_slice *begun = &complete->begun[row - TW_ROW_FIRST];
		begun->event = *complete->event;
		keep_arguments(complete, begun);
	}
	return row;
}

static void deliver(struct tw_complete *complete, const struct tw_event *event, const struct tw_argument *arguments,
                    const uint8_t *base)
{
	if (!tw_event_rows_add(&complete->ready, event, arguments, base, 0))
		complete->failed = true;
}

static void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                  enum tw_call_end how)
{
	static const uint8_t flags[] = {
	    [TW_CALL_ENDED] = 0,
	    [TW_CALL_UNWOUND] = TW_FLAG_UNWOUND,
	    [TW_CALL_OPEN] = TW_FLAG_OPEN,
	};
	struct tw_complete *complete = (struct tw_complete *)calls;
	if (frame->row < TW_ROW_FIRST)
		return;
	struct begun_slice *begun = &complete->begun[frame->row - TW_ROW_FIRST];
	struct tw_event slice = begun->event;
	if (how == TW_CALL_ENDED && complete->event && complete->event->kind == TW_SLICE_END) {
		keep_arguments(complete, begun);
		slice.flags |= complete->event->flags;
	}
	slice.kind = TW_SLICE_COMPLETE;
	slice.value = call->duration;
	slice.flags |= flags[how];
	slice.argument_count = (uint8_t)begun->rows.argument_count;
	deliver(complete, &slice, begun->rows.arguments, begun->rows.bytes);
	tw_event_rows_shift(&begun->rows, tw_event_rows_held(&begun->rows));
	begun->next = complete->free;
	complete->free = frame->row - TW_ROW_FIRST + 1;
}

static const struct tw_call_hooks hooks = {.enter = enter, .leave = leave};

/* ---- Batches. ---- */

static void take(struct tw_complete *complete, const struct tw_event *event)
{
	complete->event = event;
	complete->arguments = tw_event_arguments(&complete->input, event);
	tw_calls_select_track(&complete->calls, event->track);
	tw_calls_take(&complete->calls, event);
	if (event->kind > TW_SLICE_END)
		deliver(complete, event, complete->arguments, NULL);
}

static void next_batch(struct tw_complete *complete, struct tw_reader *reader)
{
	complete->next = 0;
	complete->input = (struct tw_batch){0};
	complete->status = complete->pull(reader, &complete->input);
	if (complete->status > 0)
		return;
	complete->input.count = 0;
	complete->event = NULL;
	tw_calls_finish(&complete->calls);
}

static int status_of(const struct tw_complete *complete, struct tw_reader *reader)
{
	if (complete->failed || tw_budget_status(&complete->budget) < 0)
		return tw_fail_memory(reader);
	if (complete->calls.counts.beyond)
		return tw_fail(reader, TW_ERR_LIMIT,
		               "%s: more than 1,024 slices of a thread are open at once that do not nest; async "
		               "operations have no such bound",
		               tw_source_name(reader));
	if (complete->full || complete->calls.counts.untimed)
		return tw_fail(reader, TW_ERR_LIMIT,
		               "%s: more slices are open at once than the memory limit has room for",
		               tw_source_name(reader));
	return 0;
}

int tw_complete_read(struct tw_complete *complete, struct tw_reader *reader, struct tw_batch *batch)
{
	const struct tw_event_rows *ready = &complete->ready;
	*batch = (struct tw_batch){0};
	tw_event_rows_shift(&complete->ready, complete->taken);
	complete->taken = 0;
	while (complete->status > 0 && tw_event_rows_held(ready) < TW_ROW_BATCH &&
	       tw_event_rows_size(ready) < READY_SIZE && !complete->failed && !complete->full) {
		if (complete->next < complete->input.count)
			take(complete, &complete->input.events[complete->next++]);
		else
			next_batch(complete, reader);
	}
	int status = status_of(complete, reader);
	if (status < 0)
		return status;
	int count = tw_row_batch_make(&complete->output, ready, batch);
	if (count < 0)
		return tw_fail_memory(reader);
	complete->taken = (size_t)count;
	return count ? count : complete->status;
}

struct tw_complete *tw_complete_new(struct tw_reader *reader, tw_pull_fn pull)
{
	struct tw_complete *complete = calloc(1, sizeof *complete);
	if (!complete)
		return NULL;
	complete->status = 1;
	complete->pull = pull;
	complete->calls = (struct tw_calls){
	    .hooks = &hooks,
	    .budget = &complete->budget,
	    .rules.in_turn =
		reader->traits.in_turn && !reader->filtering.filter && reader->options.order == TW_ORDER_TRACK,
	    .rules.rounding = reader->traits.rounding,
	    .rules.ends_unordered = reader->traits.ends_unordered,
	    .name_limit = SIZE_MAX,
	};
	tw_budget_reset(&complete->budget, tw_memory_share(reader), 1);
	if (tw_calls_init(&complete->calls))
		return complete;
	tw_complete_free(complete);
	return NULL;
}

void tw_complete_free(struct tw_complete *complete)
{
	if (!complete)
		return;
	for (size_t i = 0; i < complete->begun_room; i++)
		tw_event_rows_free(&complete->begun[i].rows);
	free(complete->begun);
	tw_event_rows_free(&complete->ready);
	tw_row_batch_free(&complete->output);
	tw_calls_free(&complete->calls);
	free(complete);
}
