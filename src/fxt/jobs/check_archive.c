/* check_archive.c - checks a whole archive for a caller that wants the findings and no events.
 *
 * Rules about single records are checked where these are decoded. Rules about pairs need begins and ends in the order
 * of time, but little of each, so nearly all records make steps (steps.h) instead of rows. Steps are merged as the
 * sorter merges rows; where events come later than that reaches (look.c), rows are read instead. Durations that stand
 * in order need no merging (check_early.c). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/attempt.h"
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
	struct fxt_early *early;             /* NULL: it takes nothing */
	struct queue queues[TW_ORDER_SLABS]; /* queue number n is queues[n % TW_ORDER_SLABS] */
	uint64_t oldest, count;              /* queues: the number of the first, how many */
	uint64_t bytes;                      /* of the queues' chunks */
	struct head heads[TW_ORDER_SLABS];   /* of queues that have steps left, the earliest last */
	size_t head_count;
	bool ended, started;
	uint64_t last; /* time of the last step */
	struct fxt_steps_scratch scratch;
};

/* ---- In other threads: the steps of a chunk. ---- */

/* Adds the step of a row, if it is of a kind that has some. */
static void add_row(struct fxt_chunk *chunk, size_t place)
{
	struct fxt_steps *steps = &chunk->steps;
	const struct tw_event *row = &chunk->rows.slab.events[steps->rows];
	if (!(FXT_PAIRED_KINDS >> row->kind & 1) || !fxt_steps_reserve(steps, 1))
		return;
	steps->complete |= row->kind == TW_SLICE_COMPLETE;
	steps->all[steps->count++] = (struct fxt_step){
	    .time = row->time,
	    .key = steps->rows,
	    .place = (uint32_t)place,
	    .type = FXT_ROW,
	};
}

static size_t take_record(struct fxt_chunk *chunk, const struct fxt_wish *wish, size_t place, size_t end)
{
	const size_t size = fxt_take_record(chunk, wish, place, end);
	for (; chunk->steps.rows < chunk->rows.slab.count; chunk->steps.rows++)
		add_row(chunk, place);
	return size;
}

static void find_steps(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch)
{
	static const struct fxt_way steps = {TW_LOOP_FXT_CHECK, fxt_check_plain, take_record};
	(void)scratch;
	fxt_take_pieces(chunk, wish, &steps);
}

/* ---- In order: the steps of all chunks. ---- */

static struct queue *queue_at(struct verify *verify, uint64_t number)
{
	return &verify->queues[number % TW_ORDER_SLABS];
}

static bool is_used_up(const struct queue *queue)
{
	return queue->next == queue->chunk->steps.count;
}

/* Puts the head of a queue, if it has one, in its place among the others. Where times are equal the oldest queue goes
 * first. */
static void put_head(struct verify *verify, uint64_t number)
{
	const struct queue *queue = queue_at(verify, number);
	if (is_used_up(queue))
		return;
	const struct head head = {queue->chunk->steps.all[queue->next].time, number};
	size_t i = verify->head_count++;
	for (; i > 0; i--) {
		const struct head *before = &verify->heads[i - 1];
		if (before->time > head.time || (before->time == head.time && before->queue > number))
			break;
		verify->heads[i] = *before;
	}
	verify->heads[i] = head;
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
	const struct fxt_step *steps = queue->chunk->steps.all;
	until = late && verify->last < until ? verify->last : until;
	do {
		const struct fxt_step *step = &steps[queue->next++];
		fxt_pairs_take_step(&verify->fxt->pairs, step, fxt_offset(queue->chunk, step->place));
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

/* Puts a chunk behind the others. */
static void add_queue(struct verify *verify, struct fxt_chunk *chunk)
{
	uint64_t number = verify->oldest + verify->count++;
	*queue_at(verify, number) = (struct queue){.chunk = chunk};
	verify->bytes += fxt_bytes_of(chunk);
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
	if (verify->early)
		fxt_take_times(&verify->early->reach, chunk);
	fxt_commit(&fxt->commit, chunk);
	const bool goes_on = !verify->early || fxt_early_take(verify->early, &fxt->pairs, chunk);
	if (!verify->early)
		fxt_pairs_take_slices(&fxt->pairs, chunk);
	fxt_steps_sort(&chunk->steps, &verify->scratch);
	fxt_pipeline_give_bytes(fxt->pipeline, chunk); /* of which the steps know enough */
	add_queue(verify, chunk);
	if (!goes_on)
		return TW_ERR_UNSUPPORTED;
	return chunk->failed || chunk->rows.slab.failed || chunk->steps.failed ? TW_ERR_MEMORY : 1;
}

static bool is_full(struct verify *verify)
{
	return verify->count && verify->bytes - fxt_bytes_of(queue_at(verify, verify->oldest)->chunk) >=
	                            fxt_reorder_window(verify->reader);
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
		verify->bytes -= fxt_bytes_of(chunk);
		fxt_pipeline_give(verify->fxt->pipeline, chunk);
	}
}

/* Sets the start of the clock: the earliest event of the chunks held at first. */
static void set_start(struct verify *verify)
{
	struct tw_clock *clock = &verify->reader->clock;
	if (verify->started || (verify->head_count == 0 && !(verify->early && verify->early->has_steps)))
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
		if (verify->early && verify->fxt->pairs.reported) /* in another order than otherwise */
			return TW_ERR_UNSUPPORTED;
	}
	return status;
}

/* ---- The whole. ---- */

/* Reports what is known only at the end. */
static void finish(const struct verify *verify)
{
	struct tw_reader *reader = verify->reader;
	reader->clock.end_ns = verify->last;
	if (verify->early)
		fxt_early_end(verify->early, &verify->fxt->pairs);
	if (verify->early && verify->started)
		reader->clock.start_ns = verify->early->reach.earliest;
	fxt_pairs_end(&verify->fxt->pairs);
	fxt_finish(reader);
}

/* They last as long as the threads do, which end when the reader is closed. */
static const struct fxt_work work = {.decode = find_steps};

int fxt_check_archive(struct tw_reader *reader, struct fxt_early *early)
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
	verify->early = early;
	status = take_all(verify);
	if (status == 0)
		finish(verify);
	if (status == 0 && verify->fxt->pairs.failed)
		status = TW_ERR_MEMORY;
	for (uint64_t i = 0; i < verify->count; i++)
		fxt_chunk_free(queue_at(verify, verify->oldest + i)->chunk);
	free(verify->scratch.steps);
	free(verify);
	return status < 0 ? fxt_fail(reader, status) : 0;
}

static int check_early(struct tw_reader *again, void *context)
{
	((struct fxt_reader *)again->state)->looked = true; /* the clock's start is known at the end */
	return fxt_check_archive(again, context);
}

bool fxt_check_early(struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	struct fxt_reader *fxt = reader->state;
	if (options->checking != TW_CHECK_ALL || !options->findings_only || options->thread_count ||
	    options->provider || !tw_loop_is_on(TW_LOOP_FXT_EARLY))
		return false;
	struct fxt_early early = {
	    .reach = {.window = fxt_reorder_window(reader), .earliest = UINT64_MAX},
	    .durations.most = fxt_slices_most(reader),
	};
	fxt->finished = tw_attempt(reader, check_early, &early);
	tw_nested_free(&early.durations);
	return fxt->finished;
}
