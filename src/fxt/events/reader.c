/* reader.c - the events of an archive in the order asked for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/fxt.h"

#include <string.h>

/* The kinds of event that rows are made of. Where threads or providers are left out, the others' records are still to
 * be told from theirs. */
static uint32_t kinds_for(const struct tw_reader *reader)
{
	enum { SAMPLES = 1 << TW_STACK_SAMPLE | 1 << TW_CPU_SAMPLE | 1 << TW_ALLOCATION_SAMPLE };
	const struct tw_read_options *options = &reader->options;
	if (options->checking == TW_CHECK_ALL || options->thread_count || options->provider || !reader->request.kinds)
		return UINT32_MAX;
	/* Samples may be written as instants. */
	return reader->request.kinds & SAMPLES ? reader->request.kinds | 1u << TW_INSTANT : reader->request.kinds;
}

int fxt_start(struct tw_reader *reader, const struct fxt_work *work, const struct fxt_wish *wish, unsigned jobs)
{
	struct fxt_reader *fxt = reader->state;
	int status = fxt_pipeline_new(&fxt->pipeline, reader, work, wish, jobs);
	if (status < 0)
		return tw_fail(reader, status, "%s: out of memory", tw_input_name(reader->input));
	fxt->commit.reader = fxt->pairs.reader = reader;
	fxt->commit.state = fxt_pipeline_state(fxt->pipeline);
	fxt->commit.sorts = wish->sort;
	return 0;
}

/* Whether chunks may wait as bytes: only where several archives are merged, and all of their events are wanted. */
static bool can_wait(const struct tw_reader *reader, const struct fxt_wish *wish)
{
	const struct tw_read_options *options = &reader->options;
	return reader->request.merged > 1 && wish->sort && !wish->check && wish->kinds == UINT32_MAX &&
	       options->thread_count == 0 && !options->provider;
}

static int start(struct tw_reader *reader)
{
	struct fxt_work work = {.decode = fxt_decode, .decoded = fxt_decoded};
	bool check = reader->options.checking == TW_CHECK_ALL;
	uint32_t kinds = kinds_for(reader);
	const struct fxt_wish wish = {
	    .options = &reader->options,
	    .kinds = kinds,
	    .skips = fxt_skips(kinds),
	    .sort = check || reader->options.order != TW_ORDER_FILE,
	    .check = check,
	};
	if (can_wait(reader, &wish))
		work = fxt_wait_start(reader);
	return fxt_start(reader, &work, &wish, reader->options.jobs);
}

/* Whether the order of each track is enough, and events come later than the window reaches. */
static bool delays_tracks(const struct tw_reader *reader)
{
	const struct fxt_reader *fxt = reader->state;
	return fxt->late && reader->request.as_they_come;
}

/* Takes the rows of a chunk. Returns 1, or a negative status. */
static int put_rows(struct tw_reader *reader, struct fxt_chunk *chunk)
{
	struct fxt_reader *fxt = reader->state;
	fxt_commit(&fxt->commit, chunk);
	fxt->passed_ns = chunk->decoder.passed.last > fxt->passed_ns ? chunk->decoder.passed.last : fxt->passed_ns;
	if (reader->options.checking == TW_CHECK_ALL)
		fxt_pairs_take_slice_rows(&fxt->pairs, chunk);
	bool failed = chunk->failed || chunk->rows.slab.failed;
	if (!failed && delays_tracks(reader))
		failed = !fxt_delay(&fxt->delays, &chunk->rows.slab, &fxt->commit.sort);
	if (failed) /* it may have no order */
		tw_slab_clear(&chunk->rows.slab);
	tw_sorter_put(&fxt->sorter, &chunk->rows.slab);
	return failed ? fxt_fail(reader, TW_ERR_MEMORY) : 1;
}

/* Takes another chunk. Returns 1, 0 at the end, or a negative status. */
static int pull(struct tw_reader *reader)
{
	struct fxt_reader *fxt = reader->state;
	struct fxt_chunk *chunk;
	int status = fxt_pipeline_next(fxt->pipeline, &chunk);
	if (status < 0)
		return fxt_fail(reader, status);
	fxt->ended = status == 0;
	if (fxt->ended)
		return 0;
	fxt->held[fxt->held_count++] = chunk;
	fxt->held_bytes += chunk->end - chunk->begin;
	fxt_pipeline_keep_tables(fxt->pipeline, fxt_offset(fxt->held[0], fxt->held[0]->begin));
	if (!chunk->wait.waits)
		return put_rows(reader, chunk);
	fxt_wait_put(reader, chunk);
	return 1;
}

/* Whether records may still come that belong before the last one of the oldest chunk. */
static bool wants_more(const struct tw_reader *reader)
{
	const struct fxt_reader *fxt = reader->state;
	bool ordered = reader->options.order != TW_ORDER_FILE || reader->options.checking == TW_CHECK_ALL;
	if (fxt->held_count == 0)
		return true;
	uint64_t behind = fxt->held_bytes - (fxt->held[0]->end - fxt->held[0]->begin);
	return ordered && behind < fxt_reorder_window(reader);
}

/* Holds as many chunks as records may come late by, and the oldest. */
static int fill(struct tw_reader *reader)
{
	struct fxt_reader *fxt = reader->state;
	int status = 1;
	while (!fxt->ended && fxt->held_count < TW_ORDER_SLABS && wants_more(reader) && status >= 0)
		status = pull(reader);
	return status < 0 ? status : 0;
}

/* Gives chunks back of which all events have been delivered. */
static void give_back(struct fxt_reader *fxt)
{
	while (tw_sorter_done(&fxt->sorter)) {
		struct fxt_chunk *chunk = fxt->held[0];
		fxt->held_count--;
		memmove(fxt->held, fxt->held + 1, fxt->held_count * sizeof *fxt->held);
		fxt->held_bytes -= chunk->end - chunk->begin;
		if (fxt->sorter.make)
			fxt_wait_empty(fxt, chunk);
		fxt_pipeline_give(fxt->pipeline, chunk);
	}
	for (size_t i = 0; fxt->sorter.make && i < fxt->held_count; i++)
		if (tw_sorter_used_up(&fxt->sorter, i))
			fxt_wait_empty(fxt, fxt->held[i]);
}

/* After the last batch. */
static void finish(struct tw_reader *reader)
{
	struct fxt_reader *fxt = reader->state;
	const struct tw_sorter *sorter = &fxt->sorter;
	fxt->finished = true;
	reader->clock.end_ns = fxt->passed_ns > reader->clock.end_ns ? fxt->passed_ns : reader->clock.end_ns;
	if (reader->options.checking == TW_CHECK_ALL && !fxt->late)
		fxt_pairs_end(&fxt->pairs);
	fxt_finish(reader);
	if (reader->options.order != TW_ORDER_FILE && !reader->in_order.runs && !reader->request.as_they_come)
		fxt_report_late(reader, sorter->late, sorter->late_offset, sorter->latest_by, "more --memory does");
}

void fxt_set_wall(struct tw_reader *reader, const struct fxt_chunk *chunk)
{
	for (size_t i = 0; i < chunk->walk.context_count && !reader->clock.has_wall; i++) {
		reader->clock.has_wall = chunk->walk.contexts[i].has_wall;
		reader->clock.wall_ns = chunk->walk.contexts[i].wall_ns;
	}
}

/* The least time of a chunk, UINT64_MAX where none of its records has one. */
static uint64_t least_time(const struct fxt_chunk *chunk)
{
	uint64_t least = chunk->decoder.passed.least;
	for (size_t i = 0; i < chunk->rows.slab.count && chunk->decoder.timed; i++)
		least = chunk->rows.slab.events[i].time < least ? chunk->rows.slab.events[i].time : least;
	return least;
}

/* Gives rows that stand before all that has a time, in chunks of their own, the first time: they only tell what things
 * are called. Returns it; UINT64_MAX where nothing has a time. */
static uint64_t set_first_times(struct fxt_reader *fxt)
{
	uint64_t first = fxt->looked ? fxt->earliest : UINT64_MAX;
	size_t i = 0;
	for (size_t k = 0; k < fxt->held_count && !fxt->looked; k++) {
		uint64_t least = least_time(fxt->held[k]);
		first = least < first ? least : first;
	}
	for (; first != UINT64_MAX && i < fxt->held_count; i++) {
		struct tw_slab *slab = &fxt->held[i]->rows.slab;
		if (fxt->held[i]->wait.waits || fxt->held[i]->decoder.timed) /* a row of it, not a record left out */
			break;
		for (size_t k = 0; k < slab->count; k++)
			slab->events[k].time = first;
	}
	if (i == fxt->held_count && first != UINT64_MAX)
		fxt->commit.time = first;
	return first;
}

/* The clock begins with the earliest event of all, or, where nobody has looked, of those held at first. */
static void set_start(struct tw_reader *reader)
{
	struct fxt_reader *fxt = reader->state;
	if (fxt->started)
		return;
	uint64_t first = set_first_times(fxt);
	first = first == UINT64_MAX ? tw_sorter_first(&fxt->sorter) : first;
	if (first == UINT64_MAX)
		return;
	fxt->started = true;
	reader->clock.start_ns = reader->clock.end_ns = first;
	reader->clock.ticks_per_second = fxt->held[fxt->held_count - 1]->walk.first_frequency;
	for (size_t i = 0; i < fxt->held_count; i++)
		fxt_set_wall(reader, fxt->held[i]);
}

static void set_end(struct tw_reader *reader, const struct tw_batch *batch)
{
	uint64_t *end = &reader->clock.end_ns;
	bool sorted = reader->options.order != TW_ORDER_FILE;
	for (size_t i = sorted ? batch->count - 1 : 0; i < batch->count; i++)
		*end = batch->events[i].time > *end ? batch->events[i].time : *end;
}

/* Takes away the objects of providers that are left out: the names that they give are known now. */
static void leave_out_foreign(struct fxt_reader *fxt, struct tw_batch *batch)
{
	size_t count = 0;
	for (size_t i = 0; i < batch->count; i++)
		if (batch->events[i].kind != TW_OBJECT || !(batch->events[i].flags & FXT_FLAG_FOREIGN))
			fxt->kept[count++] = batch->events[i];
	batch->events = fxt->kept;
	batch->count = count;
}

static void end_delay(struct fxt_reader *fxt, struct tw_batch *batch)
{
	memcpy(fxt->kept, batch->events, batch->count * sizeof *fxt->kept);
	fxt_end_delay(&fxt->delays, fxt->kept, batch->count);
	batch->events = fxt->kept;
}

/* The next rows that are delivered. Returns how many, 0 at the end, or a negative status. */
static int next_rows(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fxt_reader *fxt = reader->state;
	int status;
	do {
		give_back(fxt);
		status = fill(reader);
		if (status < 0)
			return status;
		set_start(reader);
		fxt->sorter.room = reader->options.provider ? NULL : reader->help.room;
		status = tw_sorter_next(&fxt->sorter, fxt->ended, batch);
		if (status > 0 && delays_tracks(reader))
			end_delay(fxt, batch);
		if (status > 0 && reader->options.provider) {
			leave_out_foreign(fxt, batch);
			status = (int)batch->count;
		}
	} while (status == 0 && fxt->held_count > 0);
	return status;
}

int fxt_read_events(struct tw_reader *reader, struct tw_batch *batch)
{
	struct fxt_reader *fxt = reader->state;
	int status = fxt->pipeline ? 0 : start(reader);
	if (status < 0)
		return status;
	status = next_rows(reader, batch);
	if (status <= 0) {
		finish(reader);
		return status;
	}
	set_end(reader, batch);
	if (reader->options.checking == TW_CHECK_ALL && !fxt->late)
		fxt_pairs_take(&fxt->pairs, batch);
	return fxt->pairs.failed ? fxt_fail(reader, TW_ERR_MEMORY) : status;
}
