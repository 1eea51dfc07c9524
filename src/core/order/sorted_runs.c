/* sorted_runs.c - the rows of a trace that come in no order, put into the order of time by way of a temporary file.
 *
 * Formats put rows in order as far as their windows reach. What they give then are few runs, each in order: at most one
 * for each piece that they read. The runs go into a file, one behind the other, and are merged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/order/sorted_runs.h"

#include "base/memory/heap.h"
#include "base/memory/memory.h"
#include "core/order/rows.h"
#include "core/order/slab.h"
#include "core/order/spill.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	RUNS_LEAST = 8,        /* are merged at once, whatever the memory limit */
	EQUAL_MOST = 1 << 16,  /* rows of one time that are looked at together */
	BYTES_BLOCK = 1 << 16, /* of the memory for texts and payloads; */
	BYTES_MOST = 1 << 22   /* with more of them no further row is taken */
};

/* Texts and payloads of rows that were taken out of their blocks. */
struct row_bytes {
	struct row_bytes *next;
	size_t used, room;
	uint8_t bytes[];
};

/* A run that is read. */
struct run_input {
	struct tw_spill_cursor cursor;
	struct tw_batch batch;
	size_t next; /* row of the batch */
	uint8_t *large;
	size_t large_room; /* of a row that is a block of its own */
};

struct tw_sorted_runs {
	const char *directory;
	size_t most; /* runs that are merged at once */
	struct tw_spill file;
	struct tw_spill_run *runs; /* in the order in which they came */
	size_t count, room;
	uint64_t begin, last; /* of the run that is filled: where it begins in the file, the time of its last row */
	struct run_input *inputs;
	uint32_t *heap; /* numbers of inputs that have rows; the input with the first row is on top */
	size_t input_count, heap_count;
	struct tw_slab batch;        /* what is delivered */
	struct tw_slab equal_rows;   /* rows of one time out of several runs */
	struct tw_equal_times equal; /* their order, */
	size_t equal_given;          /* how many of these rows have been delivered */
	struct row_bytes *bytes;
	size_t held; /* of them that are in use */
};

/* ---- Rows into the file. ---- */

int tw_sorted_runs_new(struct tw_sorted_runs **runs, const char *directory, size_t memory)
{
	struct tw_sorted_runs *made = *runs = calloc(1, sizeof *made);
	if (!made)
		return ENOMEM;
	made->directory = directory;
	made->most = memory / (TW_SPILL_BLOCK + sizeof(struct run_input));
	made->most = made->most < RUNS_LEAST ? RUNS_LEAST : made->most;
	int error = tw_spill_open(&made->file, directory);
	if (error) {
		free(made);
		*runs = NULL;
	}
	return error;
}

/* Ends the run that is filled, if it has rows. */
static int end_run(struct tw_sorted_runs *runs, struct tw_spill *file)
{
	int error = tw_spill_flush(file);
	uint64_t end = tw_spill_end(file);
	if (error || end == runs->begin)
		return error;
	if (!tw_grow(&runs->runs, &runs->room, runs->count + 1, sizeof *runs->runs))
		return ENOMEM;
	runs->runs[runs->count++] = (struct tw_spill_run){runs->begin, end};
	runs->begin = end;
	return 0;
}

int tw_sorted_runs_put(struct tw_sorted_runs *runs, const struct tw_batch *batch)
{
	int error = 0;
	for (size_t i = 0; i < batch->count && !error; i++) {
		const struct tw_event *event = &batch->events[i];
		if (event->time < runs->last)
			error = end_run(runs, &runs->file);
		runs->last = event->time;
		if (!error)
			error = tw_spill_put(&runs->file, event,
			                     event->argument_count ? batch->arguments + event->first_argument : NULL);
	}
	return error;
}

/* ---- Runs that are read. ---- */

/* The bytes of rows that were delivered are of no more use: one block of them is kept. */
static void forget_bytes(struct tw_sorted_runs *runs, bool all)
{
	while (runs->bytes && (all || runs->bytes->next)) {
		struct row_bytes *gone = runs->bytes;
		runs->bytes = gone->next;
		free(gone);
	}
	if (runs->bytes)
		runs->bytes->used = 0;
	runs->held = 0;
}

/* Whether a batch, or what is looked at together, goes on. */
static bool has_room(const struct tw_sorted_runs *runs, const struct tw_slab *slab, size_t rows)
{
	return slab->count < rows && runs->held < BYTES_MOST;
}

static uint8_t *room_for(struct tw_sorted_runs *runs, size_t size)
{
	struct row_bytes *bytes = runs->bytes;
	if (!bytes || bytes->room - bytes->used < size) {
		size_t room = size > BYTES_BLOCK ? size : BYTES_BLOCK;
		bytes = malloc(sizeof *bytes + room);
		if (!bytes)
			return NULL;
		*bytes = (struct row_bytes){.next = runs->bytes, .room = room};
		runs->bytes = bytes;
	}
	bytes->used += size;
	runs->held += size;
	return bytes->bytes + bytes->used - size;
}

static bool copy_argument(struct tw_sorted_runs *runs, struct tw_slab *to, const struct tw_argument *argument)
{
	struct tw_argument copy = *argument;
	if (tw_has_bytes(argument) && argument->size) {
		uint8_t *room = room_for(runs, argument->size);
		if (!room)
			return false;
		memcpy(room, argument->value.bytes, argument->size);
		copy.value.bytes = room;
	}
	tw_slab_argument(to, &copy);
	return true;
}

/* A copy of the arguments, but not of what they lead to. */
static bool add_row(struct tw_slab *to, const struct tw_event *event, const struct tw_argument *arguments)
{
	if (!tw_slab_add(to, event))
		return false;
	for (unsigned i = 0; i < event->argument_count; i++)
		tw_slab_argument(to, &arguments[i]);
	return !to->failed;
}

static int pull(struct run_input *input)
{
	input->next = 0;
	int error = tw_spill_next(&input->cursor, &input->batch);
	if (error || !input->cursor.bytes)
		return error;
	const struct tw_event *row = &input->batch.events[0];
	if (!row->argument_count)
		return 0;
	return tw_spill_fetch(&input->cursor, &input->large, &input->large_room,
	                      (struct tw_argument *)(uintptr_t)input->batch.arguments + row->first_argument,
	                      row->argument_count);
}

static bool has_rows(const struct run_input *input)
{
	return input->next < input->batch.count;
}

static uint64_t time_of(const struct run_input *input)
{
	assert(input->batch.events);
	return input->batch.events[input->next].time;
}

/* Takes the next row of a run, with all that it leads to. */
static int take_row(struct tw_sorted_runs *runs, struct run_input *input, struct tw_slab *to)
{
	const struct tw_event *event = &input->batch.events[input->next++];
	if (!tw_slab_add(to, event))
		return ENOMEM;
	for (unsigned i = 0; i < event->argument_count; i++)
		if (!copy_argument(runs, to, &input->batch.arguments[event->first_argument + i]))
			return ENOMEM;
	if (to->failed)
		return ENOMEM;
	return has_rows(input) ? 0 : pull(input);
}

static void close_inputs(struct tw_sorted_runs *runs)
{
	for (size_t i = 0; i < runs->input_count; i++) {
		tw_spill_cursor_close(&runs->inputs[i].cursor);
		free(runs->inputs[i].large);
	}
	free(runs->inputs);
	free(runs->heap);
	runs->inputs = NULL;
	runs->heap = NULL;
	runs->input_count = runs->heap_count = 0;
}

static bool goes_first(const void *context, uint32_t a, uint32_t b)
{
	const struct tw_sorted_runs *runs = context;
	uint64_t left = time_of(&runs->inputs[a]), right = time_of(&runs->inputs[b]);
	return left != right ? left < right : a < b;
}

/* Begins to read runs of the file. */
static int open_inputs(struct tw_sorted_runs *runs, size_t from, size_t count)
{
	int error = 0;
	close_inputs(runs);
	runs->inputs = calloc(count + 1, sizeof *runs->inputs);
	runs->heap = calloc(count + 1, sizeof *runs->heap);
	if (!runs->inputs || !runs->heap)
		return ENOMEM;
	for (size_t i = 0; i < count && !error; i++) {
		struct run_input *input = &runs->inputs[runs->input_count++];
		error = tw_spill_cursor_open(&input->cursor, &runs->file, &runs->runs[from + i]);
		error = error ? error : pull(input);
		if (!error && has_rows(input))
			runs->heap[runs->heap_count++] = (uint32_t)i;
	}
	if (!error)
		tw_heap_make(runs->heap, runs->heap_count, goes_first, runs);
	return error;
}

/* ---- The next rows. ---- */

static struct run_input *first_input(const struct tw_sorted_runs *runs)
{
	return &runs->inputs[runs->heap[0]];
}

/* The first input has moved on. */
static void sift(struct tw_sorted_runs *runs)
{
	if (!has_rows(first_input(runs)))
		runs->heap[0] = runs->heap[--runs->heap_count];
	if (runs->heap_count)
		tw_heap_sift(runs->heap, runs->heap_count, 0, goes_first, runs);
}

/* The time of the next row of all inputs but the first. */
static uint64_t time_of_others(const struct tw_sorted_runs *runs)
{
	uint64_t left = runs->heap_count > 1 ? time_of(&runs->inputs[runs->heap[1]]) : UINT64_MAX;
	uint64_t right = runs->heap_count > 2 ? time_of(&runs->inputs[runs->heap[2]]) : UINT64_MAX;
	return left < right ? left : right;
}

static bool has_equal_times(const struct tw_sorted_runs *runs)
{
	return runs->equal_given < runs->equal.count;
}

/* Takes the rows of one time out of all runs, and puts them in order. Where they are very many, only those that come
 * together are: memory is bounded. */
static int take_equal_times(struct tw_sorted_runs *runs)
{
	const uint64_t time = time_of(first_input(runs));
	int error = 0;
	tw_slab_clear(&runs->equal_rows);
	runs->equal.count = runs->equal_given = 0;
	do {
		error = take_row(runs, first_input(runs), &runs->equal_rows);
		if (!error)
			sift(runs);
	} while (!error && runs->heap_count && has_room(runs, &runs->equal_rows, EQUAL_MOST) &&
	         time_of(first_input(runs)) == time);
	for (uint32_t i = 0; i < runs->equal_rows.count && !error; i++)
		error = tw_equal_times_add(&runs->equal, &runs->equal_rows, i) ? 0 : ENOMEM;
	return error || tw_equal_times_nest(&runs->equal) ? error : ENOMEM;
}

static int give_equal_times(struct tw_sorted_runs *runs)
{
	bool fine = true;
	while (fine && has_equal_times(runs) && runs->batch.count < TW_SLAB_BLOCK) {
		const struct tw_equal_row *first = &runs->equal.rows[runs->equal_given++];
		const struct tw_argument *arguments = NULL;
		const struct tw_event *event = tw_slab_row(first->slab, first->row, &arguments);
		fine = add_row(&runs->batch, event, arguments);
	}
	return fine ? 0 : ENOMEM;
}

/* Takes rows of the first run as long as no other has one as early. */
static int take_alone(struct tw_sorted_runs *runs)
{
	struct run_input *input = first_input(runs);
	const uint64_t until = time_of_others(runs);
	const bool alone = runs->heap_count == 1;
	int error = 0;
	do
		error = take_row(runs, input, &runs->batch);
	while (!error && has_room(runs, &runs->batch, TW_SLAB_BLOCK) && has_rows(input) &&
	       (alone || time_of(input) < until));
	if (!error)
		sift(runs);
	return error;
}

static int take_rows(struct tw_sorted_runs *runs, struct tw_batch *batch)
{
	*batch = (struct tw_batch){0};
	tw_slab_clear(&runs->batch);
	if (!has_equal_times(runs))
		forget_bytes(runs, false);
	int error = give_equal_times(runs);
	while (!error && !has_equal_times(runs) && has_room(runs, &runs->batch, TW_SLAB_BLOCK) && runs->heap_count) {
		if (time_of_others(runs) != time_of(first_input(runs)) || runs->heap_count == 1) {
			error = take_alone(runs);
			continue;
		}
		error = take_equal_times(runs);
		error = error ? error : give_equal_times(runs);
	}
	*batch = (struct tw_batch){runs->batch.events, runs->batch.count, runs->batch.arguments};
	return error;
}

int tw_sorted_runs_next(struct tw_sorted_runs *runs, struct tw_batch *batch)
{
	int error = take_rows(runs, batch);
	if (!error && batch->count == 0) /* all have been given */
		tw_spill_free(&runs->file);
	return error;
}

/* ---- Fewer runs. ---- */

/* Merges runs into one of another file. */
static int merge_runs(struct tw_sorted_runs *runs, size_t from, size_t count, struct tw_spill *to)
{
	struct tw_batch batch;
	int error = open_inputs(runs, from, count);
	while (!error && !(error = take_rows(runs, &batch)) && batch.count)
		for (size_t i = 0; i < batch.count && !error; i++)
			error = tw_spill_put(to, &batch.events[i], tw_event_arguments(&batch, &batch.events[i]));
	return error ? error : tw_spill_flush(to);
}

/* Merges each `most` runs into one. */
static int merge_round(struct tw_sorted_runs *runs)
{
	struct tw_spill next;
	size_t made = 0;
	int error = tw_spill_open(&next, runs->directory);
	if (error)
		return error;
	for (size_t from = 0; from < runs->count && !error;) {
		size_t count = runs->count - from < runs->most ? runs->count - from : runs->most;
		uint64_t begin = tw_spill_end(&next);
		error = merge_runs(runs, from, count, &next);
		runs->runs[made++] = (struct tw_spill_run){begin, tw_spill_end(&next)};
		from += count;
	}
	close_inputs(runs);
	tw_spill_free(&runs->file);
	runs->file = next;
	runs->count = made;
	return error;
}

int tw_sorted_runs_end(struct tw_sorted_runs *runs)
{
	int error = end_run(runs, &runs->file);
	while (!error && runs->count > runs->most)
		error = merge_round(runs);
	return error ? error : open_inputs(runs, 0, runs->count);
}

void tw_sorted_runs_free(struct tw_sorted_runs *runs)
{
	if (!runs)
		return;
	close_inputs(runs);
	forget_bytes(runs, true);
	free(runs->bytes);
	tw_spill_free(&runs->file);
	tw_slab_free(&runs->batch);
	tw_slab_free(&runs->equal_rows);
	tw_equal_times_free(&runs->equal);
	free(runs->runs);
	free(runs);
}
