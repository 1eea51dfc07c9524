/* pending.c - holding events back until it is known whether their slices are long enough. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/pending.h"

#include "base/memory/memory.h"

#include <fnmatch.h>
#include <stdlib.h>

/* ---- Names. ---- */

/* The kinds of events that filters by name and category are applied to. */
static const bool named[TW_EVENT_KINDS] = {
    [TW_SLICE_BEGIN] = true, [TW_SLICE_END] = true,         [TW_SLICE_COMPLETE] = true, [TW_INSTANT] = true,
    [TW_COUNTER] = true,     [TW_ASYNC_BEGIN] = true,       [TW_ASYNC_INSTANT] = true,  [TW_ASYNC_END] = true,
    [TW_FLOW_BEGIN] = true,  [TW_FLOW_STEP] = true,         [TW_FLOW_END] = true,       [TW_STACK_SAMPLE] = true,
    [TW_CPU_SAMPLE] = true,  [TW_ALLOCATION_SAMPLE] = true,
};

/* The kinds that pass when any function of their stack matches. */
static const bool sampled[TW_EVENT_KINDS] = {
    [TW_STACK_SAMPLE] = true,
    [TW_CPU_SAMPLE] = true,
    [TW_ALLOCATION_SAMPLE] = true,
};

/* glob: NULL matches all. */
static bool matches(struct tw_pending *pending, const char *glob, struct tw_verdicts *verdicts, uint32_t name)
{
	if (!glob)
		return true;
	if (!tw_grow(&verdicts->of, &verdicts->room, (size_t)name + 1, sizeof *verdicts->of)) {
		pending->failed = true;
		return false;
	}
	uint8_t *verdict = &verdicts->of[name];
	if (*verdict == TW_UNDECIDED) {
		const char *text = tw_dictionary_name(pending->dictionary, name)->text;
		*verdict = fnmatch(glob, text, 0) == 0 ? TW_KEEP : TW_DROP;
	}
	return *verdict == TW_KEEP;
}

/* Whether a function of a stack matches, looking at each of all stacks once. */
static bool stack_matches(struct tw_pending *pending, uint32_t stack)
{
	struct tw_verdicts *verdicts = &pending->stacks;
	if (!tw_grow(&verdicts->of, &verdicts->room, (size_t)stack + 1, sizeof *verdicts->of)) {
		pending->failed = true;
		return false;
	}
	bool found = false;
	uint32_t end = stack;
	while (end && !found && verdicts->of[end] == TW_UNDECIDED) {
		const struct tw_stack *frame = tw_dictionary_stack(pending->dictionary, end);
		uint32_t name = tw_dictionary_location(pending->dictionary, frame->location)->name;
		found = matches(pending, pending->options->function, &pending->functions, name);
		end = frame->caller;
	}
	found |= end && verdicts->of[end] == TW_KEEP;
	for (uint32_t i = stack; i != end; i = tw_dictionary_stack(pending->dictionary, i)->caller)
		verdicts->of[i] = found ? TW_KEEP : TW_DROP;
	return found;
}

static bool function_wanted(struct tw_pending *pending, const struct tw_event *event)
{
	const char *glob = pending->options->function;
	return matches(pending, glob, &pending->functions, event->name) ||
	       (sampled[event->kind] && stack_matches(pending, event->other));
}

bool tw_pending_wanted(struct tw_pending *pending, const struct tw_event *event)
{
	if (event->kind >= TW_EVENT_KINDS || !named[event->kind])
		return true;
	return matches(pending, pending->options->category, &pending->categories, event->category) &&
	       function_wanted(pending, event);
}

/* ---- Durations. ---- */

static bool long_enough(const struct tw_pending *pending, uint64_t begin, uint64_t end)
{
	return (end > begin ? end - begin : 0) >= pending->options->min_duration_ns;
}

static void add_ready(struct tw_pending *pending, const struct tw_event *event, const struct tw_argument *arguments,
                      const uint8_t *base)
{
	if (!tw_event_rows_add(&pending->ready, event, arguments, base, TW_KEEP))
		pending->failed = true;
}

uint64_t tw_pending_put(struct tw_pending *pending, struct tw_queue *queue, const struct tw_event *event,
                        const struct tw_argument *arguments, const uint8_t *base, enum tw_verdict verdict)
{
	if (!tw_pending_wanted(pending, event))
		return TW_NO_ROW;
	struct tw_event_rows *rows = &queue->rows;
	bool waits = tw_event_rows_held(rows) || (verdict == TW_UNDECIDED && pending->options->min_duration_ns);
	if (!waits) {
		add_ready(pending, event, arguments, base);
		return TW_NO_ROW;
	}
	size_t before = tw_event_rows_size(rows);
	if (!tw_event_rows_add(rows, event, arguments, base, (uint8_t)verdict))
		pending->failed = true;
	pending->held += tw_event_rows_size(rows) - before;
	return rows->gone + rows->count - 1;
}

bool tw_pending_decide(struct tw_pending *pending, struct tw_queue *queue, uint64_t row, uint64_t begin, uint64_t end)
{
	struct tw_event_rows *rows = &queue->rows;
	if (row == TW_NO_ROW || row < rows->gone + rows->head)
		return true;
	bool keep = long_enough(pending, begin, end);
	rows->rows[row - rows->gone].state = keep ? TW_KEEP : TW_DROP;
	/* Short slices have few others inside: most are dropped from the back, and so a long wait holds little. */
	size_t before = tw_event_rows_size(rows);
	while (tw_event_rows_held(rows) && rows->rows[rows->count - 1].state == TW_DROP)
		tw_event_rows_pop(rows);
	pending->held -= before - tw_event_rows_size(rows);
	return keep;
}

void tw_pending_give_up(struct tw_pending *pending, const struct tw_event *begin)
{
	if (!pending->unjudged++)
		pending->first_unjudged = begin->offset;
}

/* Removes the first row of a queue. */
static void release(struct tw_pending *pending, struct tw_event_rows *rows)
{
	const struct tw_row *row = &rows->rows[rows->head];
	if (row->state != TW_DROP)
		add_ready(pending, &row->event, rows->arguments ? rows->arguments + row->argument : NULL, rows->bytes);
	size_t before = tw_event_rows_size(rows);
	tw_event_rows_shift(rows, 1);
	pending->held -= before - tw_event_rows_size(rows);
}

static bool may_go(struct tw_pending *pending, const struct tw_queue *queue)
{
	const struct tw_row *row = &queue->rows.rows[queue->rows.head];
	if (row->state != TW_UNDECIDED || long_enough(pending, row->event.time, queue->now))
		return true;
	if (tw_share_holds(&pending->share, pending->held))
		return false;
	tw_pending_give_up(pending, &row->event);
	return true;
}

void tw_pending_drain(struct tw_pending *pending, struct tw_queue *queue)
{
	while (tw_event_rows_held(&queue->rows) && may_go(pending, queue) && !pending->failed)
		release(pending, &queue->rows);
}

void tw_pending_drain_all(struct tw_pending *pending, struct tw_queue *queue)
{
	while (tw_event_rows_held(&queue->rows) && !pending->failed)
		release(pending, &queue->rows);
}

void tw_pending_free(struct tw_pending *pending)
{
	tw_event_rows_free(&pending->ready);
	free(pending->functions.of);
	free(pending->categories.of);
	free(pending->stacks.of);
	tw_share_close(&pending->share);
}
