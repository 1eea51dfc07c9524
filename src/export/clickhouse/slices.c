/* slices.c - slices, operations, instants and flows as rows of ClickHouse. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "export/clickhouse/clickhouse.h"

enum { PAIRS_SHARE = 4 }; /* of the memory limit, for operations that are open */

static const char *const ends[] = {[TW_CALL_ENDED] = "ended", [TW_CALL_UNWOUND] = "unwound", [TW_CALL_OPEN] = "open"};

/* What the row of a slice says. */
struct slice_fields {
	const char *kind, *end;
	uint32_t name, category, depth;
	uint64_t duration, self, parent, key;
	uint16_t cpu;
	bool nested;
};

static void put_slice(struct clickhouse *clickhouse, struct tw_native_block *block, const struct slice_fields *row)
{
	tw_native_word(block, SLICE_KIND, row->kind);
	tw_clickhouse_name(clickhouse, block, SLICE_NAME, row->name);
	tw_clickhouse_name(clickhouse, block, SLICE_CATEGORY, row->category);
	tw_native_number(block, SLICE_DURATION, row->duration);
	tw_native_number(block, SLICE_SELF, row->self);
	tw_native_number(block, SLICE_DEPTH, row->depth);
	tw_native_number(block, SLICE_PARENT, row->parent);
	tw_native_number(block, SLICE_NESTED, row->nested);
	tw_native_word(block, SLICE_END, row->end);
	tw_native_number(block, SLICE_CPU, row->cpu);
	tw_native_number(block, SLICE_KEY, row->key);
	tw_clickhouse_end_row(clickhouse, TW_TABLE_SLICE);
}

/* ---- Slices. ---- */

static struct clickhouse_slice *slice_of(struct clickhouse *clickhouse, uint32_t row)
{
	return row >= TW_ROW_FIRST ? &clickhouse->open.items[row - TW_ROW_FIRST] : NULL;
}

/* The frame's row of a slice that is free; TW_ROW_OTHER when there is no memory. */
static uint32_t take_free(struct clickhouse *clickhouse)
{
	uint32_t found = clickhouse->open.free;
	if (found) {
		clickhouse->open.free = clickhouse->open.items[found - 1].next;
		return found - 1 + TW_ROW_FIRST;
	}
	if (clickhouse->open.count >= TW_ROW_HELD - TW_ROW_FIRST ||
	    !tw_budget_grow(&clickhouse->budget, TW_FOR_ROWS, &clickhouse->open.items, &clickhouse->open.room,
	                    clickhouse->open.count + 1, sizeof *clickhouse->open.items))
		return TW_ROW_OTHER;
	return (uint32_t)clickhouse->open.count++ + TW_ROW_FIRST;
}

static uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct clickhouse *clickhouse = (struct clickhouse *)calls;
	const struct tw_event *event = clickhouse->event;
	(void)caller;
	(void)name;
	uint32_t row = take_free(clickhouse);
	struct clickhouse_slice *slice = slice_of(clickhouse, row);
	if (!slice)
		return row;
	*slice = (struct clickhouse_slice){
	    .id = event->offset,
	    .category = event->category,
	    .depth = tw_calls_depth(calls),
	    .cpu = event->cpu,
	    .complete = event->kind == TW_SLICE_COMPLETE,
	};
	tw_clickhouse_arguments(clickhouse, event, slice->id, 0);
	return row;
}

/* Whether the event that is being taken ends this slice itself: then its arguments are the slice's, too. */
static bool is_its_end(const struct clickhouse *clickhouse, const struct clickhouse_slice *slice, enum tw_call_end how)
{
	return how == TW_CALL_ENDED && !slice->complete && clickhouse->event && clickhouse->event->kind == TW_SLICE_END;
}

static void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                  enum tw_call_end how)
{
	struct clickhouse *clickhouse = (struct clickhouse *)calls;
	struct clickhouse_slice *slice = slice_of(clickhouse, frame->row);
	if (!slice) {
		tw_count_loss(clickhouse->writer, "slice beyond the memory limit", false);
		return;
	}
	const struct clickhouse_slice *parent = slice_of(clickhouse, calls->around->row);
	if (is_its_end(clickhouse, slice, how))
		tw_clickhouse_arguments(clickhouse, clickhouse->event, slice->id, 0);
	const struct slice_fields row = {
	    .kind = "slice",
	    .end = ends[how],
	    .name = frame->name,
	    .category = slice->category,
	    .depth = slice->depth,
	    .duration = call->duration,
	    .self = tw_call_self(call),
	    .parent = parent ? parent->id : slice->id,
	    .cpu = slice->cpu,
	    .nested = call->below > 0,
	};
	put_slice(clickhouse,
	          tw_clickhouse_track_row(clickhouse, TW_TABLE_SLICE, calls->track, frame->begin, slice->id), &row);
	slice->next = clickhouse->open.free;
	clickhouse->open.free = (uint32_t)(slice - clickhouse->open.items) + 1;
}

/* A slice that was not inside of what has just ended: it is less deep. */
static uint32_t moved(struct tw_calls *calls, const struct tw_frame *caller, const struct tw_frame *frame)
{
	struct clickhouse_slice *slice = slice_of((struct clickhouse *)calls, frame->row);
	(void)caller;
	if (slice)
		slice->depth = calls->level + (uint32_t)(frame - calls->stack->space->frames) - 1;
	return frame->row;
}

const struct tw_call_hooks tw_clickhouse_hooks = {.enter = enter, .leave = leave, .moved = moved};

/* ---- Moments. ---- */

void tw_clickhouse_moment(struct clickhouse *clickhouse, const struct tw_event *event, uint64_t key)
{
	const struct slice_fields row = {
	    .kind = tw_event_kind_name(event->kind),
	    .end = ends[TW_CALL_ENDED],
	    .name = event->name,
	    .category = event->category,
	    .parent = event->offset,
	    .cpu = event->cpu,
	    .key = key,
	};
	put_slice(clickhouse,
	          tw_clickhouse_track_row(clickhouse, TW_TABLE_SLICE, event->track, event->time, event->offset), &row);
	tw_clickhouse_arguments(clickhouse, event, event->offset, 0);
}

/* ---- Operations. ---- */

static void put_operation(struct clickhouse *clickhouse, const struct tw_open_pair *pair, uint64_t end, const char *how)
{
	const struct slice_fields row = {
	    .kind = "async",
	    .end = how,
	    .name = pair->name,
	    .category = pair->category,
	    .duration = end > pair->ts ? end - pair->ts : 0,
	    .self = end > pair->ts ? end - pair->ts : 0,
	    .parent = pair->slice,
	    .key = pair->id,
	};
	put_slice(clickhouse, tw_clickhouse_track_row(clickhouse, TW_TABLE_SLICE, pair->track, pair->ts, pair->slice),
	          &row);
}

static void begin_operation(struct clickhouse *clickhouse, const struct tw_event *event)
{
	struct tw_open_pair *pair = tw_pairs_begin(&clickhouse->pairs, clickhouse->dictionary, event,
	                                           tw_memory_limit(clickhouse->reader) / PAIRS_SHARE);
	if (!pair) {
		tw_leave_out(clickhouse->writer, event);
		return;
	}
	pair->id = event->id;
	pair->ts = event->time;
	pair->slice = event->offset;
	pair->track = event->track;
	pair->name = event->name;
	pair->category = event->category;
	tw_clickhouse_arguments(clickhouse, event, event->offset, 0);
}

static void end_operation(struct clickhouse *clickhouse, const struct tw_event *event)
{
	struct tw_open_pair *pair = tw_pairs_ended(&clickhouse->pairs, clickhouse->dictionary, event);
	if (!pair) {
		tw_clickhouse_moment(clickhouse, event, event->id);
		return;
	}
	tw_clickhouse_arguments(clickhouse, event, pair->slice, 0);
	put_operation(clickhouse, pair, event->time, ends[TW_CALL_ENDED]);
	tw_pairs_remove(&clickhouse->pairs, pair);
	clickhouse->failed |= !tw_pairs_sweep(&clickhouse->pairs);
}

void tw_clickhouse_take_async(struct clickhouse *clickhouse, const struct tw_event *event)
{
	if (event->kind == TW_ASYNC_BEGIN)
		begin_operation(clickhouse, event);
	else
		end_operation(clickhouse, event);
}

void tw_clickhouse_finish_async(struct clickhouse *clickhouse, uint64_t end)
{
	for (size_t i = 0; i < clickhouse->pairs.count; i++)
		if (clickhouse->pairs.items[i].key)
			put_operation(clickhouse, &clickhouse->pairs.items[i], end, ends[TW_CALL_OPEN]);
}
