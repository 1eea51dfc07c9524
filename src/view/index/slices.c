/* slices.c - calls as slices of rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/parts.h"
#include "view/index/spans.h"

static struct view_open *open_of(struct view_index *index, uint32_t row)
{
	return row >= TW_ROW_FIRST ? &index->open.items[row - TW_ROW_FIRST] : NULL;
}

static uint32_t take_open(struct view_index *index)
{
	uint32_t found = index->open.free;
	if (found) {
		index->open.free = index->open.items[found - 1].next;
		return found - 1 + TW_ROW_FIRST;
	}
	if (!tw_budget_grow(&index->budget, TW_FOR_ROWS, &index->open.items, &index->open.room, index->open.count + 1,
	                    sizeof *index->open.items))
		return TW_ROW_OTHER;
	return (uint32_t)index->open.count++ + TW_ROW_FIRST;
}

static uint32_t enter(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct view_index *index = (struct view_index *)calls;
	uint32_t row = take_open(index);
	struct view_open *open = open_of(index, row);
	const uint32_t depth = (uint32_t)(caller - calls->stack->space->frames);
	const uint32_t track = track_of(index, calls->track); /* tracks are numbered as they are met */
	(void)name;
	view_index_fetch_row(index, track, calls->lane, depth);
	if (open)
		*open = (struct view_open){.offset = index->now.event->offset,
		                           .category = index->now.event->category,
		                           .depth = depth};
	return row;
}

static uint32_t moved(struct tw_calls *calls, const struct tw_frame *caller, const struct tw_frame *frame)
{
	struct view_open *open = open_of((struct view_index *)calls, frame->row);
	(void)caller;
	if (open)
		open->depth = (uint32_t)(frame - calls->stack->space->frames) - 1;
	return frame->row;
}

static void leave(struct tw_calls *calls, const struct tw_frame *frame, const struct tw_left_call *call,
                  enum tw_call_end how)
{
	struct view_index *index = (struct view_index *)calls;
	struct view_open *open = open_of(index, frame->row);
	(void)how;
	if (!open) {
		index->left++;
		view_spans_fail(index->store.spans);
		return;
	}
	const struct view_slice slice = {.begin = frame->begin,
	                                 .end = frame->begin + call->duration,
	                                 .offset = open->offset,
	                                 .name = name_of(index, frame->name, open->category)};
	view_index_put_slice(index, track_of(index, calls->track), calls->lane, open->depth, &slice);
	open->next = index->open.free;
	index->open.free = frame->row - TW_ROW_FIRST + 1;
}

const struct tw_call_hooks view_index_hooks = {.enter = enter, .leave = leave, .moved = moved};

/* ---- Runs of calls. ---- */

/* As the hook, of a run: the next event of it that begins something. */
static uint32_t enter_next(struct tw_calls *calls, const struct tw_frame *caller, uint32_t name)
{
	struct view_index *index = (struct view_index *)calls;
	index->now.event = *index->now.begins++;
	return enter(calls, caller, name);
}

struct run {
	struct tw_call_item items[TW_RUN_ITEMS];
	const struct tw_event *begins[TW_RUN_ITEMS]; /* the events that begin something */
	uint8_t before[TW_RUN_ITEMS];                /* how many of them are before an item */
	size_t count;
	uint64_t last; /* when the last one is over */
};

static bool is_of_run(const struct tw_event *event, uint32_t track)
{
	return tw_is_call(event) && event->track == track && event->time <= INT64_MAX &&
	       tw_event_over(event) <= INT64_MAX;
}

static void make_run(struct run *run, const struct tw_event *events, size_t count)
{
	unsigned begins = 0;
	run->count = 0;
	run->last = 0;
	for (size_t i = 0; i < count && i < TW_RUN_ITEMS && is_of_run(&events[i], events[0].track); i++) {
		const uint64_t over = tw_event_over(&events[i]);
		run->items[i] = tw_call_item_of(&events[i]);
		run->before[i] = (uint8_t)begins;
		run->begins[begins] = &events[i];
		begins += events[i].kind != TW_SLICE_END;
		run->last = over > run->last ? over : run->last;
		run->count++;
	}
}

size_t view_index_take_run(struct view_index *index, const struct tw_event *events, size_t count)
{
	struct tw_calls *calls = &index->calls;
	struct run run;
	make_run(&run, events, count);
	if (run.count == 0)
		return 0;
	index->end = run.last > index->end ? run.last : index->end;
	tw_calls_select_track(calls, events[0].track);
	for (size_t i = 0; i < run.count; i++) {
		index->now.begins = &run.begins[run.before[i]];
		i += tw_calls_take_items(calls, &run.items[i], run.count - i, enter_next, leave, leave, false);
		if (i == run.count)
			break;
		index->now.event = &events[i];
		tw_calls_take_item(calls, &run.items[i]);
	}
	tw_calls_go_on(calls, run.last);
	return run.count;
}
