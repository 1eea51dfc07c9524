/* verify.c - an archive checked, all of it, for who asks for findings and nothing else.
 *
 * The rules of single records are noted where these are decoded. Those about pairs need begins and ends in the order of time, over
 * all threads, but little of each: so a step stands for a row wherever all is known from a record's words, which is nearly
 * everywhere. Steps are merged as the sorter merges rows, and late ones counted as it does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fxt/fxt.h"

/* A chunk that is being gone through. */
struct lane {
	struct fxt_chunk *chunk;
	size_t next;
};

/* The next step of a lane. */
struct head {
	uint64_t time;
	uint64_t lane; /* its number */
};

struct verify {
	struct tw_reader *reader;
	struct fxt_reader *fxt;
	struct lane lanes[TW_ORDER_SLABS]; /* lane number n is lanes[n % TW_ORDER_SLABS] */
	uint64_t oldest, count;            /* lanes: the number of the first, how many */
	uint64_t bytes;                    /* of their chunks */
	struct head heads[TW_ORDER_SLABS]; /* of the lanes that are not used up, the earliest last */
	size_t head_count;
	bool ended, started;
	uint64_t last; /* time of the last step */
	uint64_t late, late_offset, latest_by;
};

/* ---- Ahead: the steps of a chunk, in order. ---- */

/* Rows that are new have steps, too. */
static void add_rows(struct fxt_chunk *chunk)
{
	struct fxt_steps *steps = &chunk->steps;
	size_t more = chunk->slab.count - steps->rows;
	if (more && !tw_grow(&steps->steps, &steps->room, steps->count + more, sizeof *steps->steps)) {
		chunk->failed = true;
		return;
	}
	for (; steps->rows < chunk->slab.count; steps->rows++)
		steps->steps[steps->count++] = (struct fxt_step){
		    .time = chunk->slab.events[steps->rows].time,
		    .what = FXT_STEP_ROW,
		    .place = (uint32_t)steps->rows,
		};
}

static void take_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, const struct fxt_piece *piece)
{
	size_t place = fxt_take_plain(chunk, wish, piece->from, piece);
	while (place < piece->to) {
		place += fxt_take_record(chunk, wish, place, piece->to);
		add_rows(chunk);
		place = fxt_take_plain(chunk, wish, place, piece);
	}
}

static void find_steps(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)scratch;
	fxt_begin_turn(chunk);
	for (; chunk->decoded < chunk->piece_count && !chunk->failed; chunk->decoded++) {
		const struct fxt_piece *piece = &chunk->pieces[chunk->decoded];
		chunk->big = piece->big;
		if (piece->kind == FXT_RECORDS)
			take_records(chunk, wish, piece);
		else
			fxt_decode_piece(chunk, wish, piece);
		add_rows(chunk);
	}
}

/* Rows without a time of their own have that of what comes after them. */
static void set_first_times(struct fxt_chunk *chunk)
{
	struct fxt_steps *steps = &chunk->steps;
	for (size_t i = 0; i < chunk->untimed && chunk->untimed < steps->count; i++) {
		steps->steps[i].time = steps->steps[chunk->untimed].time;
		chunk->slab.events[steps->steps[i].place].time = steps->steps[i].time;
	}
}

/* Where the steps from a place on cease to be in order. */
static size_t end_of_run(const struct fxt_step *steps, size_t from, size_t count)
{
	size_t to = from + 1;
	while (to < count && steps[to].time >= steps[to - 1].time)
		to++;
	return to;
}

/* Makes one run of two, one behind the other, that end at b_end. */
static void merge_runs(const struct fxt_step *a, const struct fxt_step *b, const struct fxt_step *b_end,
                       struct fxt_step *to)
{
	const struct fxt_step *a_end = b;
	while (a < a_end && b < b_end)
		*to++ = b->time < a->time ? *b++ : *a++;
	memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* Merges the runs of which steps are made two by two; returns how many there are then. */
static size_t merge_twos(const struct fxt_step *steps, size_t count, struct fxt_step *to)
{
	size_t runs = 0;
	for (size_t from = 0, middle, end; from < count; from = end, runs++) {
		middle = end_of_run(steps, from, count);
		end = middle < count ? end_of_run(steps, middle, count) : count;
		merge_runs(steps + from, steps + middle, steps + end, to + from);
	}
	return runs;
}

/* A chunk is a few runs: sections of several providers. */
static void sort_steps(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	struct fxt_steps *steps = &chunk->steps;
	(void)wish;
	if (chunk->failed)
		return;
	set_first_times(chunk);
	if (steps->count == 0 || end_of_run(steps->steps, 0, steps->count) == steps->count)
		return;
	size_t size = steps->count * sizeof *steps->steps;
	if (!tw_grow(&scratch->sort.bytes, &scratch->sort.room, size, 1)) {
		chunk->failed = true;
		return;
	}
	struct fxt_step *spare = (struct fxt_step *)(void *)scratch->sort.bytes;
	do
		memcpy(spare, steps->steps, size);
	while (merge_twos(spare, steps->count, steps->steps) > 1);
}

/* ---- In order: the steps of all chunks. ---- */

static struct lane *lane_at(struct verify *verify, uint64_t number)
{
	return &verify->lanes[number % TW_ORDER_SLABS];
}

static bool is_used_up(const struct lane *lane)
{
	return lane->next == lane->chunk->steps.count;
}

/* Puts the head of a lane, if it has one, in its place among the others: of those of one time the oldest lane goes first. */
static void put_head(struct verify *verify, uint64_t number)
{
	const struct lane *lane = lane_at(verify, number);
	if (is_used_up(lane))
		return;
	const struct head head = {lane->chunk->steps.steps[lane->next].time, number};
	size_t i = verify->head_count++;
	for (; i > 0; i--) {
		const struct head *before = &verify->heads[i - 1];
		if (before->time > head.time || (before->time == head.time && before->lane > number))
			break;
		verify->heads[i] = *before;
	}
	verify->heads[i] = head;
}

/* The commit has given rows other times where the chunk had none, and where a blob goes on. */
static void renew_times(struct fxt_chunk *chunk)
{
	struct fxt_steps *steps = &chunk->steps;
	bool renewed = !chunk->timed;
	for (size_t i = 0; i < chunk->piece_count; i++)
		renewed = renewed || chunk->pieces[i].kind == FXT_PAYLOAD;
	for (size_t i = 0; renewed && i < steps->count; i++)
		if (steps->steps[i].what == FXT_STEP_ROW)
			steps->steps[i].time = chunk->slab.events[steps->steps[i].place].time;
}

static void note_late(struct verify *verify, const struct fxt_chunk *chunk, const struct fxt_step *step)
{
	bool row = step->what == FXT_STEP_ROW;
	uint64_t by = verify->last - step->time;
	if (verify->late++ == 0)
		verify->late_offset = row ? chunk->slab.events[step->place].offset : fxt_offset(chunk, step->place);
	verify->latest_by = by > verify->latest_by ? by : verify->latest_by;
}

static uint64_t first_time(const struct verify *verify)
{
	return verify->head_count ? verify->heads[verify->head_count - 1].time : UINT64_MAX;
}

/* Takes the steps of the earliest lane until another is earlier, or they are late no more. */
static void take_lane(struct verify *verify, bool late)
{
	uint64_t number = verify->heads[--verify->head_count].lane, until = first_time(verify);
	struct lane *lane = lane_at(verify, number);
	const struct fxt_step *steps = lane->chunk->steps.steps;
	until = late && verify->last < until ? verify->last : until;
	do {
		const struct fxt_step *step = &steps[lane->next++];
		if (late)
			note_late(verify, lane->chunk, step);
		fxt_pairs_take_step(&verify->fxt->pairs, lane->chunk, step);
	} while (!is_used_up(lane) && steps[lane->next].time < until);
	if (!late)
		verify->last = steps[lane->next - 1].time;
	put_head(verify, number);
}

/* Takes steps until another chunk must come. Those that are late come first: nothing else is before what was taken. */
static void take_round(struct verify *verify)
{
	bool late = true;
	while (verify->head_count && (verify->ended || !is_used_up(lane_at(verify, verify->oldest)))) {
		late = late && first_time(verify) < verify->last;
		take_lane(verify, late);
	}
}

/* Takes another chunk. Returns 1, 0 at the end, or a negative status. */
static int pull(struct verify *verify)
{
	struct fxt_reader *fxt = verify->fxt;
	struct fxt_chunk *chunk;
	int status = fxt_ahead_next(fxt->ahead, &chunk);
	verify->ended = status == 0;
	if (status <= 0)
		return status;
	fxt_commit(&fxt->commit, chunk);
	uint64_t number = verify->oldest + verify->count++;
	*lane_at(verify, number) = (struct lane){.chunk = chunk};
	verify->bytes += chunk->end - chunk->begin;
	if (chunk->failed || chunk->slab.failed)
		return TW_ERR_MEMORY;
	renew_times(chunk);
	put_head(verify, number);
	return 1;
}

/* Holds as many chunks as records may come late by. */
static int fill(struct verify *verify)
{
	uint64_t window = fxt_reorder_window(verify->reader);
	int status = 1;
	while (!verify->ended && verify->bytes < window && verify->count < TW_ORDER_SLABS && status >= 0)
		status = pull(verify);
	return status < 0 ? status : 0;
}

static void give_back(struct verify *verify)
{
	while (verify->count && is_used_up(lane_at(verify, verify->oldest))) {
		struct fxt_chunk *chunk = lane_at(verify, verify->oldest)->chunk;
		verify->oldest++;
		verify->count--;
		verify->bytes -= chunk->end - chunk->begin;
		fxt_ahead_give(verify->fxt->ahead, chunk);
	}
}

/* The clock begins with the earliest event of those held at first. */
static void set_start(struct verify *verify)
{
	struct tw_clock *clock = &verify->reader->clock;
	if (verify->started || verify->head_count == 0)
		return;
	verify->started = true;
	clock->start_ns = verify->heads[verify->head_count - 1].time;
	clock->ticks_per_second = lane_at(verify, verify->oldest)->chunk->turn.frequency;
	for (uint64_t i = 0; i < verify->count; i++)
		fxt_set_wall(verify->reader, lane_at(verify, verify->oldest + i)->chunk);
}

static int take_all(struct verify *verify)
{
	int status;
	while ((status = fill(verify)) == 0 && verify->count > 0) {
		set_start(verify);
		take_round(verify);
		give_back(verify);
	}
	return status;
}

/* ---- The whole. ---- */

/* What is known only at the end. */
static void tell(const struct verify *verify)
{
	struct tw_reader *reader = verify->reader;
	reader->clock.end_ns = verify->last;
	fxt_pairs_end(&verify->fxt->pairs);
	fxt_finish(reader);
	if (reader->options.order != TW_ORDER_FILE)
		fxt_tell_late(reader, verify->late, verify->late_offset, verify->latest_by);
}

int fxt_verify(struct tw_reader *reader)
{
	static const struct fxt_work work = {find_steps, sort_steps, NULL};
	const struct fxt_wish wish = {
	    .options = &reader->options, .kinds = FXT_PAIRED_KINDS, .sort = true, .check = true, .findings = true};
	int status = fxt_start(reader, &work, &wish, reader->options.jobs);
	struct verify *verify = status < 0 ? NULL : calloc(1, sizeof *verify);
	if (!verify)
		return status < 0 ? status : fxt_fail(reader, TW_ERR_MEMORY);
	verify->reader = reader;
	verify->fxt = reader->state;
	status = take_all(verify);
	if (status == 0)
		tell(verify);
	for (uint64_t i = 0; i < verify->count; i++)
		fxt_chunk_free(lane_at(verify, verify->oldest + i)->chunk);
	free(verify);
	return status < 0 ? fxt_fail(reader, status) : 0;
}
