/* check_archive.c - checks a whole archive for a caller that wants the findings and no events.
 *
 * Rules about single records are checked where these are decoded. Rules about pairs need begins and ends in the order
 * of time, but little of each, so nearly all records make steps (steps.h) instead of rows. Steps are merged as the
 * sorter merges rows; where events come later than that reaches (look.c), rows are read instead. Steps that were
 * settled in their chunk take no part, unless a later chunk has events of the same track that are earlier than the last
 * of that chunk. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/memory.h"
#include "fxt/fxt.h"

#include <stdlib.h>

/* A chunk whose steps are being taken. */
struct queue {
	struct fxt_chunk *chunk;
	size_t next;
};

/* The next step of a queue. */
struct head {
	uint64_t time;
	uint64_t queue; /* its number */
};

struct verify {
	struct tw_reader *reader;
	struct fxt_reader *fxt;
	uint64_t *newest; /* by track: the latest time of a duration's begin or end so far */
	size_t newest_room;
	struct fxt_steps_scratch scratch;
	struct queue queues[TW_ORDER_SLABS]; /* queue number n is queues[n % TW_ORDER_SLABS] */
	uint64_t oldest, count;              /* queues: the number of the first, how many */
	uint64_t bytes;                      /* of the queues' chunks */
	struct head heads[TW_ORDER_SLABS];   /* of queues that have steps left, the earliest last */
	size_t head_count;
	bool ended, started;
	uint64_t last; /* time of the last step */
};

static uint64_t size_of(const struct fxt_chunk *chunk)
{
	return chunk->end - chunk->begin;
}

/* ---- In other threads: the steps of a chunk, in order. ---- */

/* Whether the name or the track of the last row waits for the dictionary. */
static bool is_waiting(const struct fxt_chunk *chunk)
{
	bool waits = false;
	for (size_t i = chunk->rows.fix_count; i > 0 && chunk->rows.fixes[i - 1].row == chunk->rows.slab.count - 1; i--)
		waits = waits || chunk->rows.fixes[i - 1].kind == FXT_FIX_NAME ||
		        chunk->rows.fixes[i - 1].kind == FXT_FIX_TRACK ||
		        chunk->rows.fixes[i - 1].kind == FXT_FIX_TRACK_UNDEFINED;
	return waits;
}

static bool is_duration(const struct tw_event *row)
{
	return row->kind == TW_SLICE_BEGIN || row->kind == TW_SLICE_END;
}

/* Adds the step of the last row. */
static void add_row(struct fxt_chunk *chunk, size_t place)
{
	struct fxt_steps *steps = &chunk->steps;
	const struct tw_event *row = &chunk->rows.slab.events[steps->rows];
	if (row->kind == TW_SLICE_COMPLETE) /* fxt_pairs_take_slices() takes it */
		return;
	bool known = is_duration(row) && !is_waiting(chunk);
	struct fxt_pile *pile = known ? fxt_steps_pile(steps, row->track) : NULL;
	if (!fxt_steps_reserve(steps, 1))
		return;
	*fxt_steps_next(steps) = (struct fxt_step){
	    .time = row->time,
	    .key = pile ? row->name : steps->rows,
	    .track = row->track,
	    .place = (uint32_t)place,
	    .type = !pile                         ? FXT_ROW
	            : row->kind == TW_SLICE_BEGIN ? FXT_BEGIN
	                                          : FXT_END,
	};
	steps->mixed |= is_duration(row) && !pile;
	if (pile)
		fxt_steps_add_duration(steps, pile);
	else
		fxt_steps_add(steps);
}

static void add_rows(struct fxt_chunk *chunk, size_t place)
{
	for (; chunk->steps.rows < chunk->rows.slab.count; chunk->steps.rows++)
		add_row(chunk, place);
}

static void take_records(struct fxt_chunk *chunk, const struct fxt_wish *wish, const struct fxt_piece *piece)
{
	size_t place = fxt_check_plain(chunk, wish, piece->from, piece);
	while (place < piece->to) {
		size_t size = fxt_take_record(chunk, wish, place, piece->to);
		add_rows(chunk, place);
		place = fxt_check_plain(chunk, wish, place + size, piece);
	}
}

static void find_steps(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)scratch;
	fxt_begin_context(chunk);
	for (; chunk->decoder.pieces_done < chunk->walk.piece_count && !chunk->steps.failed;
	     chunk->decoder.pieces_done++) {
		const struct fxt_piece *piece = &chunk->walk.pieces[chunk->decoder.pieces_done];
		chunk->decoder.big = piece->big;
		chunk->steps.mixed |= piece->kind == FXT_PAYLOAD; /* its time comes with the commit */
		if (piece->kind == FXT_RECORDS)
			take_records(chunk, wish, piece);
		else
			fxt_decode_piece(chunk, wish, piece);
		add_rows(chunk, piece->from);
	}
}

/* Gives steps without a time of their own, at the start of a chunk, that of what comes after them. */
static void set_first_times(struct fxt_chunk *chunk)
{
	if (chunk->decoder.untimed + 1 >= chunk->steps.count)
		return;
	struct fxt_step *steps = chunk->steps.all + 1;
	for (size_t i = 0; i < chunk->decoder.untimed; i++) {
		steps[i].time = steps[chunk->decoder.untimed].time;
		chunk->rows.slab.events[i].time = steps[i].time;
	}
}

static void sort_steps(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	(void)wish;
	set_first_times(chunk);
	chunk->steps.mixed |= !chunk->decoder.timed; /* its time is that of the chunk before */
	if (chunk->steps.mixed)
		fxt_steps_unsettle(&chunk->steps, &scratch->steps);
	else
		fxt_steps_sort(&chunk->steps, &scratch->steps);
}

/* ---- In order: the steps of all chunks. ---- */

static struct queue *queue_at(struct verify *verify, uint64_t number)
{
	return &verify->queues[number % TW_ORDER_SLABS];
}

static bool is_used_up(const struct queue *queue)
{
	return queue->next == queue->chunk->steps.left_count;
}

/* Puts the head of a queue, if it has one, in its place among the others. Where times are equal the oldest queue goes
 * first. */
static void put_head(struct verify *verify, uint64_t number)
{
	const struct queue *queue = queue_at(verify, number);
	if (is_used_up(queue))
		return;
	const struct head head = {queue->chunk->steps.left[queue->next].time, number};
	size_t i = verify->head_count++;
	for (; i > 0; i--) {
		const struct head *before = &verify->heads[i - 1];
		if (before->time > head.time || (before->time == head.time && before->queue > number))
			break;
		verify->heads[i] = *before;
	}
	verify->heads[i] = head;
}

/* Takes over the times of rows that the commit has changed: in a chunk without a time of its own, and of a blob that
 * began in an earlier chunk. */
static void renew_times(struct fxt_chunk *chunk)
{
	struct fxt_steps *steps = &chunk->steps;
	bool renewed = !chunk->decoder.timed;
	for (size_t i = 0; i < chunk->walk.piece_count; i++)
		renewed = renewed || chunk->walk.pieces[i].kind == FXT_PAYLOAD;
	for (size_t i = 0; renewed && i < steps->left_count; i++)
		if (steps->left[i].type == FXT_ROW)
			steps->left[i].time = chunk->rows.slab.events[steps->left[i].key].time;
}

static uint64_t first_time(const struct verify *verify)
{
	return verify->head_count ? verify->heads[verify->head_count - 1].time : UINT64_MAX;
}

/* Takes steps of the earliest queue until another one is earlier. late: or until they are no longer late. */
static void take_steps(struct verify *verify, bool late)
{
	uint64_t number = verify->heads[--verify->head_count].queue, until = first_time(verify);
	struct queue *queue = queue_at(verify, number);
	const struct fxt_step *steps = queue->chunk->steps.left;
	until = late && verify->last < until ? verify->last : until;
	do {
		fxt_pairs_take_step(&verify->fxt->pairs, queue->chunk, &steps[queue->next++]);
	} while (!is_used_up(queue) && steps[queue->next].time < until);
	if (!late)
		verify->last = steps[queue->next - 1].time;
	put_head(verify, number);
}

/* Takes steps until another chunk is needed. Late ones come first: no other is before those taken already. */
static void take_round(struct verify *verify)
{
	bool late = true;
	while (verify->head_count && (verify->ended || !is_used_up(queue_at(verify, verify->oldest)))) {
		late = late && first_time(verify) < verify->last;
		take_steps(verify, late);
	}
}

/* ---- Steps that were settled, though an event of another chunk belongs between them. ---- */

/* Notes that a track has begins or ends from `first` to `last`. Returns whether an earlier chunk has a later one.
 * *failed is set when there is no memory. */
static bool overtakes(struct verify *verify, uint32_t track, uint64_t first, uint64_t last, bool *failed)
{
	if (!tw_grow(&verify->newest, &verify->newest_room, (size_t)track + 1, sizeof *verify->newest)) {
		*failed = true;
		return false;
	}
	uint64_t before = verify->newest[track];
	verify->newest[track] = last > before ? last : before;
	return first < before;
}

/* The same for all rows of a chunk, whose tracks are known since the commit. */
static bool rows_overtake(struct verify *verify, struct fxt_chunk *chunk)
{
	bool any = false;
	for (size_t i = 0; i < chunk->rows.slab.count; i++) {
		const struct tw_event *row = &chunk->rows.slab.events[i];
		if (is_duration(row))
			any |= overtakes(verify, row->track, row->time, row->time, &chunk->failed);
	}
	return any;
}

static bool piles_overtake(struct verify *verify, struct fxt_chunk *chunk)
{
	bool any = false;
	for (size_t i = 0; i < chunk->steps.pile_count; i++) {
		const struct fxt_pile *pile = &chunk->steps.piles[i];
		if (pile->first != UINT64_MAX)
			any |= overtakes(verify, pile->track, pile->first, pile->last, &chunk->failed);
	}
	return any;
}

/* Begins the settled durations of a chunk that are open at verify->last, as if they had never been settled. */
static void begin_settled(struct verify *verify, const struct fxt_chunk *chunk)
{
	const struct fxt_steps *steps = &chunk->steps;
	for (size_t i = 1; i < steps->count; i++) {
		const struct fxt_step *step = &steps->all[i];
		if (step->type == FXT_BEGIN && fxt_step_is_settled(steps, step) && step->time < verify->last &&
		    steps->all[step->other].time >= verify->last)
			fxt_pairs_take_step(&verify->fxt->pairs, chunk, step);
	}
}

/* Makes all steps of a queue unsettled; those before verify->last have been taken. */
static void unsettle(struct verify *verify, struct queue *queue)
{
	struct fxt_steps *steps = &queue->chunk->steps;
	if (steps->mixed)
		return;
	begin_settled(verify, queue->chunk);
	fxt_steps_unsettle(steps, &verify->scratch);
	queue->chunk->failed |= steps->failed;
	queue->next = 0;
	while (queue->next < steps->left_count && steps->left[queue->next].time < verify->last)
		queue->next++;
}

/* Makes all steps of all held chunks unsettled. */
static void unsettle_all(struct verify *verify)
{
	verify->head_count = 0;
	for (uint64_t i = 0; i < verify->count; i++) {
		unsettle(verify, queue_at(verify, verify->oldest + i));
		put_head(verify, verify->oldest + i);
	}
}

/* Puts a chunk behind the others; where it overtakes them, their steps and its own become unsettled. */
static void add_queue(struct verify *verify, struct fxt_chunk *chunk)
{
	bool late = chunk->steps.left_count && chunk->steps.left[0].time < verify->last;
	bool overtaking = piles_overtake(verify, chunk);
	if (chunk->steps.mixed)
		overtaking |= rows_overtake(verify, chunk);
	if (overtaking)
		unsettle_all(verify);
	if ((overtaking || late) && !chunk->steps.mixed)
		fxt_steps_unsettle(&chunk->steps, &verify->scratch);
	uint64_t number = verify->oldest + verify->count++;
	*queue_at(verify, number) = (struct queue){.chunk = chunk};
	verify->bytes += size_of(chunk);
	put_head(verify, number);
}

/* Takes another chunk. Returns 1, 0 at the end, or a negative status. */
static int pull(struct verify *verify)
{
	struct fxt_reader *fxt = verify->fxt;
	struct fxt_chunk *chunk;
	int status = fxt_pipeline_next(fxt->pipeline, &chunk);
	verify->ended = status == 0;
	if (status <= 0)
		return status;
	fxt_commit(&fxt->commit, chunk);
	renew_times(chunk);
	fxt_pairs_take_slices(&fxt->pairs, chunk);
	add_queue(verify, chunk);
	return chunk->failed || chunk->rows.slab.failed || chunk->steps.failed ? TW_ERR_MEMORY : 1;
}

static bool is_full(struct verify *verify)
{
	return verify->count &&
	       verify->bytes - size_of(queue_at(verify, verify->oldest)->chunk) >= fxt_reorder_window(verify->reader);
}

/* Takes chunks until those behind the oldest hold the reorder window. */
static int fill(struct verify *verify)
{
	int status = 1;
	while (!verify->ended && verify->count < TW_ORDER_SLABS && !is_full(verify) && status >= 0)
		status = pull(verify);
	return status < 0 ? status : 0;
}

static void give_back(struct verify *verify)
{
	while (verify->count && is_used_up(queue_at(verify, verify->oldest))) {
		struct fxt_chunk *chunk = queue_at(verify, verify->oldest)->chunk;
		verify->oldest++;
		verify->count--;
		verify->bytes -= size_of(chunk);
		fxt_pipeline_give(verify->fxt->pipeline, chunk);
	}
}

/* Sets the start of the clock: the earliest event of the chunks held at first. */
static void set_start(struct verify *verify)
{
	struct tw_clock *clock = &verify->reader->clock;
	if (verify->started || verify->head_count == 0)
		return;
	verify->started = true;
	clock->start_ns = verify->fxt->looked ? verify->fxt->earliest : verify->heads[verify->head_count - 1].time;
	clock->ticks_per_second = queue_at(verify, verify->oldest)->chunk->decoder.context.frequency;
	for (uint64_t i = 0; i < verify->count; i++)
		fxt_set_wall(verify->reader, queue_at(verify, verify->oldest + i)->chunk);
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

/* Reports what is known only at the end. */
static void tell(const struct verify *verify)
{
	struct tw_reader *reader = verify->reader;
	reader->clock.end_ns = verify->last;
	fxt_pairs_end(&verify->fxt->pairs);
	fxt_finish(reader);
}

/* They last as long as the threads do, which end when the reader is closed. */
static const struct fxt_work work = {.decode = find_steps, .decoded = sort_steps};

int fxt_check_archive(struct tw_reader *reader)
{
	const struct fxt_wish wish = {.options = &reader->options,
	                              .kinds = FXT_PAIRED_KINDS,
	                              .sort = true,
	                              .check = true};
	int status = fxt_start(reader, &work, &wish, reader->options.jobs);
	struct verify *verify = status < 0 ? NULL : calloc(1, sizeof *verify);
	if (!verify)
		return status < 0 ? status : fxt_fail(reader, TW_ERR_MEMORY);
	verify->reader = reader;
	verify->fxt = reader->state;
	status = take_all(verify);
	if (status == 0)
		tell(verify);
	if (status == 0 && verify->fxt->pairs.failed)
		status = TW_ERR_MEMORY;
	for (uint64_t i = 0; i < verify->count; i++)
		fxt_chunk_free(queue_at(verify, verify->oldest + i)->chunk);
	free(verify->newest);
	free(verify->scratch.steps);
	free(verify);
	return status < 0 ? fxt_fail(reader, status) : 0;
}
