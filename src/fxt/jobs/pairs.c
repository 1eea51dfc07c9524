/* pairs.c - the rules of what belongs together: begins and ends of durations, of asynchronous operations, of flows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/jobs/pairs.h"

#include "base/memory/map.h"
#include "base/memory/memory.h"
#include "core/order/time_runs.h"
#include "fxt/format/rules.h"
#include "fxt/jobs/steps.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- The steps of a chunk, in the order of time ---- */

void fxt_steps_clear(struct fxt_steps *steps)
{
	steps->count = steps->rows = 0;
	steps->complete = steps->failed = false;
}

void fxt_steps_free(struct fxt_steps *steps)
{
	free(steps->all);
}

bool fxt_steps_reserve(struct fxt_steps *steps, size_t more)
{
	bool fine = tw_extend(&steps->all, &steps->room, steps->count + more, sizeof *steps->all);
	steps->failed |= !fine;
	return fine;
}

/* A chunk consists of few runs in the order of time, the sections of several providers. */
void fxt_steps_sort(struct fxt_steps *steps, struct fxt_steps_scratch *scratch)
{
	if (tw_extend(&scratch->steps, &scratch->room, steps->count, sizeof *steps->all))
		tw_sort_time_runs(steps->all, steps->count, scratch->steps, sizeof *steps->all);
	else
		steps->failed = true;
}

/* The step of an event of a kind that has some, at a place of its chunk. */
static struct fxt_step step_of(const struct tw_event *event, uint32_t place)
{
#define X(type, row, call, last) [row] = (type),
	static const uint8_t types[TW_EVENT_KINDS] = {FXT_EVENT_LIST(X)};
#undef X
	struct fxt_step step = {
	    .time = event->time,
	    .key = event->name,
	    .track = event->track,
	    .place = place,
	    .type = types[event->kind],
	};
	if (step.type == FXT_COMPLETE)
		step.key = tw_event_end(event);
	else if (step.type >= FXT_ASYNC_BEGIN)
		step.key = fxt_operation_key(event->category, event->name, event->id);
	return step;
}

/* ---- Findings, and the memory limit. ---- */

static void report(struct fxt_pairs *pairs, enum fxt_rule rule, uint64_t offset)
{
	pairs->reported = true;
	tw_report(pairs->reader, &fxt_rules[rule], offset, offset, 0, "%s", fxt_rules[rule].text);
}

static void give_up(struct fxt_pairs *pairs, uint64_t offset)
{
	if (!pairs->full)
		report(pairs, FXT_PAIR_LIMIT, offset);
	pairs->full = true;
}

/* ---- Durations. ---- */

/* NULL when there is no memory. */
static struct fxt_pair_track *track_of(struct fxt_pairs *pairs, uint32_t number)
{
	pairs->room.limit = fxt_slices_most(pairs->reader);
	if (!tw_grow(&pairs->tracks, &pairs->track_room, (size_t)number + 1, sizeof *pairs->tracks)) {
		pairs->failed = true;
		return NULL;
	}
	return &pairs->tracks[number];
}

static void begin_duration(struct fxt_pairs *pairs, uint32_t number, uint32_t name, uint64_t offset)
{
	struct fxt_pair_track *track = number < pairs->track_room ? &pairs->tracks[number] : track_of(pairs, number);
	if (!track)
		return;
	const int status = tw_open_begin(&track->open, &pairs->room, name, offset);
	pairs->failed |= status == TW_ERR_MEMORY;
	if (status == TW_ERR_LIMIT)
		give_up(pairs, offset);
}

static void end_duration(struct fxt_pairs *pairs, uint32_t number, uint32_t name, uint64_t offset)
{
	struct tw_open_slices *open = number < pairs->track_room ? &pairs->tracks[number].open : NULL;
	struct tw_open_slice taken;
	size_t place;
	if (open && tw_open_take(open, name, &taken))
		return;
	const int found = open ? tw_open_match(open, name, &place) : 0;
	pairs->failed |= found == TW_ERR_MEMORY;
	if (found == 0 && !pairs->full)
		report(pairs, FXT_END_WITHOUT_BEGIN, offset);
	if (found == 1 && place + 1 < open->depth)
		report(pairs, FXT_END_MISMATCHED, offset);
	while (found == 1 && open->depth > place)
		tw_open_close(open, &pairs->room);
}

/* ---- Slices that overlap: in the order of the archive, whoever reads it. ---- */

static void report_overlap(struct fxt_pairs *pairs, const struct fxt_step *step, uint64_t beyond, uint64_t offset)
{
	if (beyond)
		tw_report(pairs->reader, &fxt_rules[FXT_SLICES_OVERLAP], offset, offset, 0,
		          "%s ends %" PRIu64 " ns after one of its thread in which it begins: each lasts as long as it "
		          "says.",
		          step->type == FXT_END ? "Of a complete slice and this one the later" : "A complete slice",
		          beyond);
}

void fxt_pairs_take_slice(struct fxt_pairs *pairs, const struct fxt_step *step, uint64_t begin, uint64_t end,
                          uint64_t offset)
{
	report_overlap(pairs, step, tw_overlaps_take(&pairs->overlaps, step->track, begin, end, &pairs->failed),
	               offset);
}

static void take_slice(struct fxt_pairs *pairs, const struct fxt_step *step, uint64_t offset)
{
	struct tw_overlaps *overlaps = &pairs->overlaps;
	const uint32_t name = (uint32_t)step->key;
	if (step->type == FXT_BEGIN)
		tw_overlaps_begin(overlaps, step->track, name, step->time, &pairs->failed);
	else if (step->type == FXT_END)
		report_overlap(pairs, step, tw_overlaps_end(overlaps, step->track, name, step->time, &pairs->failed),
		               offset);
	else if (step->type == FXT_COMPLETE)
		fxt_pairs_take_slice(pairs, step, step->time, step->key, offset);
}

void fxt_pairs_take_slice_rows(struct fxt_pairs *pairs, const struct fxt_chunk *chunk)
{
	const struct tw_slab *slab = &chunk->rows.slab;
	for (size_t i = 0; i < slab->count && !pairs->complete; i++)
		pairs->complete = slab->events[i].kind == TW_SLICE_COMPLETE;
	for (size_t i = 0; i < slab->count && pairs->complete; i++) {
		const struct fxt_step step = step_of(&slab->events[i], 0);
		take_slice(pairs, &step, slab->events[i].offset);
	}
}

void fxt_pairs_make_steps(struct fxt_pairs *pairs, struct fxt_chunk *chunk)
{
	struct fxt_step *const steps = chunk->steps.all;
	pairs->complete |= chunk->steps.complete;
	for (size_t i = 0; i < chunk->steps.count && chunk->steps.rows; i++)
		if (steps[i].type == FXT_ROW)
			steps[i] = step_of(&chunk->rows.slab.events[steps[i].key], steps[i].place);
}

void fxt_pairs_take_slices(struct fxt_pairs *pairs, struct fxt_chunk *chunk)
{
	struct fxt_step *const steps = chunk->steps.all;
	size_t kept = 0;
	fxt_pairs_make_steps(pairs, chunk);
	for (size_t i = 0; i < chunk->steps.count && pairs->complete; i++) {
		take_slice(pairs, &steps[i], fxt_offset(chunk, steps[i].place));
		steps[kept] = steps[i];
		kept += steps[i].type != FXT_COMPLETE;
	}
	chunk->steps.count = pairs->complete ? kept : chunk->steps.count;
}

/* ---- Asynchronous operations and flows. ---- */

/* Reports once for each track that operations with one key are open at once. */
static void report_shared(struct fxt_pairs *pairs, uint32_t number, uint64_t offset)
{
	struct fxt_pair_track *track = track_of(pairs, number);
	if (track && !track->shared)
		report(pairs, FXT_ASYNC_SHARED_KEY, offset);
	if (track)
		track->shared = true;
}

/* Asynchronous operations belong to a process, flows do not. */
static void take_operation(struct fxt_pairs *pairs, const struct fxt_step *step, uint64_t offset)
{
	const bool flow = step->type >= FXT_FLOW_BEGIN,
		   begins = step->type == FXT_ASYNC_BEGIN || step->type == FXT_FLOW_BEGIN;
	const uint64_t process = flow ? 0 : tw_dictionary_track(pairs->reader->dictionary, step->track)->process;
	const uint64_t key = tw_hash64(step->key + process) | 1;
	struct tw_pairs *operations = &pairs->operations[flow];
	struct tw_open_pair *open = tw_pairs_find(operations, key);
	if (begins) {
		if (open && !flow)
			report_shared(pairs, step->track, offset);
		open = tw_pairs_add(operations, key, tw_memory_limit(pairs->reader) / FXT_PAIRS_SHARE);
		if (open)
			open->begun = offset;
		else
			give_up(pairs, offset);
	} else if (!open && !pairs->full) {
		report(pairs, flow ? FXT_FLOW_WITHOUT_BEGIN : FXT_ASYNC_WITHOUT_BEGIN, offset);
	} else if (open && (step->type == FXT_ASYNC_END || step->type == FXT_FLOW_END)) {
		tw_pairs_remove(operations, open);
		pairs->failed |= !tw_pairs_sweep(operations);
	}
}

/* ---- All of them. ---- */

void fxt_pairs_take_step(struct fxt_pairs *pairs, const struct fxt_step *step, uint64_t offset)
{
	if (step->type == FXT_BEGIN)
		begin_duration(pairs, step->track, (uint32_t)step->key, offset);
	else if (step->type == FXT_END)
		end_duration(pairs, step->track, (uint32_t)step->key, offset);
	else if (step->type >= FXT_ASYNC_BEGIN)
		take_operation(pairs, step, offset);
}

void fxt_pairs_take(struct fxt_pairs *pairs, const struct tw_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		const struct fxt_step step = step_of(&batch->events[i], 0);
		if (FXT_PAIRED_KINDS >> batch->events[i].kind & 1)
			fxt_pairs_take_step(pairs, &step, batch->events[i].offset);
	}
}

static void report_open(struct fxt_pairs *pairs, enum fxt_rule rule, uint64_t offset, uint64_t count)
{
	const char *text = fxt_rules[rule].text;
	if (count == 1)
		report(pairs, rule, offset);
	else if (count)
		tw_report(pairs->reader, &fxt_rules[rule], offset, offset, 0, "%s So %s %" PRIu64 " more.", text,
		          count == 2 ? "is" : "are", count - 1);
}

static void report_operations(struct fxt_pairs *pairs, const struct tw_pairs *operations, enum fxt_rule rule)
{
	uint64_t offset = UINT64_MAX;
	for (size_t i = 0; i < operations->count; i++)
		if (operations->items[i].key && operations->items[i].begun < offset)
			offset = operations->items[i].begun;
	report_open(pairs, rule, offset, operations->going);
}

void fxt_pairs_end(struct fxt_pairs *pairs)
{
	for (size_t i = 0; i < pairs->track_room; i++) {
		const struct tw_open_slices *open = &pairs->tracks[i].open;
		if (open->depth)
			report_open(pairs, FXT_BEGIN_WITHOUT_END, open->slices[0].slot, open->depth);
	}
	report_operations(pairs, &pairs->operations[false], FXT_ASYNC_WITHOUT_END);
	report_operations(pairs, &pairs->operations[true], FXT_FLOW_WITHOUT_END);
}

void fxt_pairs_free(struct fxt_pairs *pairs)
{
	for (size_t i = 0; i < pairs->track_room; i++)
		tw_open_free(&pairs->tracks[i].open);
	free(pairs->tracks);
	tw_overlaps_free(&pairs->overlaps);
	tw_pairs_free(&pairs->operations[false]);
	tw_pairs_free(&pairs->operations[true]);
}
