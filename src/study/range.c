/* range.c - the instructions that an analysis is asked for: the others are taken out of batches.
 *
 * What passes is as if nothing else had been executed: positions count what passes, a block begins where instructions
 * before it do not. Calls are all there, as instructions that pass may be in any. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "study/range.h"

#include "base/memory/memory.h"

#include <fnmatch.h>
#include <stdlib.h>

enum { LEVELS = 4 };

/* Whether a function is wanted. */
enum answer { NOT_ASKED, YES, NO };

struct study_range {
	struct study_batch batch; /* what passes */
	const struct tw_study_range *asked;
	struct study_sites *sites;
	study_take_fn take;
	void *context;
	uint8_t *functions; /* by name: enum answer */
	size_t function_room;
	uint64_t *counts; /* by place */
	size_t count_room;
	uint64_t seen; /* instructions of the track */
	uint64_t levels[LEVELS];
	bool before; /* the last one passed */
	bool keeps[STUDY_STEPS];
	uint16_t steps[STUDY_STEPS + 1]; /* how many pass before each, and in all */
};

static bool is_asked(const struct tw_study_range *range)
{
	return range->from || range->to || range->from_address || range->to_address || range->levels || range->function;
}

/* ---- Which pass. ---- */

/* *wanted: whether the function is. Returns whether there was memory. */
static bool ask_function(struct study_range *range, uint32_t name, bool *wanted)
{
	*wanted = true;
	if (!range->asked->function)
		return true;
	if (!tw_grow(&range->functions, &range->function_room, (size_t)name + 1, sizeof *range->functions))
		return false;
	uint8_t *answer = &range->functions[name];
	if (*answer == NOT_ASKED) {
		const char *text = tw_dictionary_name(range->sites->names, name)->text;
		*answer = fnmatch(range->asked->function, *text ? text : "(unknown)", 0) == 0 ? YES : NO;
	}
	*wanted = *answer == YES;
	return true;
}

static bool is_inside(const struct tw_study_range *asked, uint64_t index, uint64_t pc, unsigned level)
{
	return index >= asked->from && (!asked->to || index < asked->to) && pc >= asked->from_address &&
	       (!asked->to_address || pc < asked->to_address) && (!asked->levels || asked->levels >> level & 1);
}

static bool find_steps(struct study_range *range, const struct study_batch *batch)
{
	uint16_t kept = 0;
	if (!tw_grow(&range->counts, &range->count_room, range->sites->count, sizeof *range->counts))
		return false;
	for (size_t i = 0; i < batch->step_count; i++) {
		const struct study_site *site = &range->sites->items[batch->sites[i]];
		bool wanted = is_inside(range->asked, range->seen + i, site->pc, batch->levels[i]);
		if (wanted && !ask_function(range, site->function, &wanted))
			return false;
		range->steps[i] = kept;
		range->keeps[i] = wanted;
		kept = (uint16_t)(kept + wanted);
	}
	range->steps[batch->step_count] = kept;
	return true;
}

/* Whether what is of a step passes: of the first one it may be of the instruction before the batch. */
static bool keeps(const struct study_range *range, const struct study_batch *batch, size_t step)
{
	return step < batch->step_count ? range->keeps[step] : range->before;
}

/* ---- What passes. ---- */

static void put_steps(struct study_range *range, const struct study_batch *from)
{
	struct study_batch *to = &range->batch;
	const struct study_block *block = from->blocks, *end = block + from->block_count;
	bool before = range->before;
	to->step_count = to->block_count = 0;
	for (size_t i = 0; i < from->step_count; before = range->keeps[i++]) {
		bool begins = block < end && block->step == i;
		uint32_t site = from->sites[i];
		if (range->keeps[i] && (begins || !before))
			to->blocks[to->block_count++] =
			    (struct study_block){site, begins && before ? block->before : 0, (uint16_t)to->step_count};
		block += begins;
		if (!range->keeps[i])
			continue;
		to->sites[to->step_count] = site;
		to->levels[to->step_count++] = from->levels[i];
		range->counts[site]++;
		range->levels[from->levels[i]]++;
	}
}

static void put_accesses(struct study_range *range, const struct study_batch *from)
{
	struct study_batch *to = &range->batch;
	to->access_count = 0;
	for (size_t i = 0; i < from->access_count; i++) {
		if (!keeps(range, from, from->accesses[i].step))
			continue;
		to->times[to->access_count] = from->times[i];
		to->accesses[to->access_count] = from->accesses[i];
		to->accesses[to->access_count++].step = range->steps[from->accesses[i].step];
	}
}

static void put_notes(struct study_range *range, const struct study_batch *from)
{
	struct study_batch *to = &range->batch;
	to->note_count = 0;
	for (size_t i = 0; i < from->note_count; i++) {
		if (!keeps(range, from, from->notes[i].step))
			continue;
		to->notes[to->note_count] = from->notes[i];
		to->notes[to->note_count++].step = range->steps[from->notes[i].step];
	}
}

/* A call whose first instruction does not pass is none: it only tells where others are. */
static void put_changes(struct study_range *range, const struct study_batch *from)
{
	struct study_batch *to = &range->batch;
	to->change_count = from->change_count;
	for (size_t i = 0; i < from->change_count; i++) {
		size_t step = from->changes[i].step;
		to->changes[i] = from->changes[i];
		to->changes[i].step = range->steps[step];
		to->changes[i].resumed |= step < from->step_count && !range->keeps[step];
	}
}

static int take(void *context, const struct study_batch *batch)
{
	struct study_range *range = context;
	struct study_batch *passed = &range->batch;
	if (!find_steps(range, batch))
		return TW_ERR_MEMORY;
	put_accesses(range, batch);
	put_notes(range, batch);
	put_changes(range, batch);
	put_steps(range, batch);
	passed->tables = batch->tables;
	passed->task = batch->task;
	passed->task_number = batch->task_number;
	range->seen += batch->step_count;
	range->before = batch->step_count ? range->keeps[batch->step_count - 1] : range->before;
	bool any = passed->step_count || passed->access_count || passed->note_count || passed->change_count;
	int status = any ? range->take(range->context, passed) : 0;
	passed->first += passed->step_count;
	return status;
}

/* ---- A track. ---- */

int study_range_begin(struct study_range **made, const struct tw_study_range *asked, struct study_taker *taker)
{
	struct study_range *range = *made = NULL;
	if (!is_asked(asked))
		return 0;
	range = *made = calloc(1, sizeof *range);
	if (!range)
		return TW_ERR_MEMORY;
	range->asked = asked;
	range->sites = taker->sites;
	range->take = taker->take;
	range->context = taker->context;
	taker->take = take;
	taker->context = range;
	taker->wants.steps = true;
	return 0;
}

void study_range_end(struct study_range *range, struct study_totals *totals)
{
	if (!range)
		return;
	totals->instructions = 0;
	for (size_t level = 0; level < LEVELS; level++)
		totals->instructions += totals->levels[level] = range->levels[level];
	for (size_t i = 0; i < range->sites->count; i++)
		range->sites->items[i].count = i < range->count_room ? range->counts[i] : 0;
	free(range->functions);
	free(range->counts);
	free(range);
}
