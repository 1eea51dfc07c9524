/* merge.c - all threads of a log in one order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/heap.h"
#include "base/memory/order.h"
#include "core/order/sorted_runs.h"
#include "fdr/state.h"

#include <stdlib.h>

/* A thread takes memory only between its first event and its last: of a million threads few run at once. Where too many
 * do, what has not been delivered goes into a temporary file, one thread after the other, and comes in order from
 * there. */
enum { ROWS = 64, ARGUMENTS = 512, BYTES = 1 << 12, CHUNK = 1 << 14 };

enum { MERGED_SHARE = 4, RUNS_SHARE = 8 }; /* of the memory limit: threads at once; runs of the file at once */

struct merged_thread {
	struct fdr_stream stream;
	struct fdr_checker checker;
};

enum { COST = ROWS * sizeof(struct tw_event) + ARGUMENTS * sizeof(struct tw_argument) + BYTES + CHUNK + 1024 };

struct fdr_merge {
	struct merged_thread **sources; /* by place in state->threads; NULL: not begun, or over */
	uint64_t *keys;                 /* when the next event of each is */
	uint32_t *heap;                 /* those that are not over, the earliest first */
	size_t count, heap_count, open, most;
	struct tw_sorted_runs *runs; /* NULL: no thread has found too many at once */
};

static bool earlier(const void *context, uint32_t a, uint32_t b)
{
	const struct fdr_merge *merge = context;
	return merge->keys[a] != merge->keys[b] ? merge->keys[a] < merge->keys[b] : a < b;
}

/* ---- Threads that come and go. ---- */

static void close_source(struct fdr_merge *merge, uint32_t i)
{
	struct merged_thread *source = merge->sources[i];
	if (!source)
		return;
	fdr_cursor_free(&source->stream.cursor);
	fdr_rows_free(&source->stream.rows);
	fdr_checker_free(&source->checker);
	free(source);
	merge->sources[i] = NULL;
	merge->open--;
}

static int open_source(struct tw_reader *reader, uint32_t i)
{
	struct fdr_state *state = reader->state;
	struct fdr_merge *merge = state->merge;
	struct merged_thread *source = calloc(1, sizeof *source);
	if (!source)
		return tw_fail_memory(reader);
	merge->sources[i] = source;
	merge->open++;
	fdr_stream_init(&source->stream, reader, CHUNK);
	if (source->stream.checker)
		source->stream.checker = &source->checker;
	if (!fdr_rows_init(&source->stream.rows, ROWS, ARGUMENTS, BYTES))
		return tw_fail_memory(reader);
	return fdr_stream_thread(&source->stream, reader, state->threads[i]);
}

/* Gets the next rows of a thread that has none left. Returns how many, 0 where it is over, or a negative status. */
static int fill(struct tw_reader *reader, struct fdr_merge *merge, uint32_t i)
{
	int status = merge->sources[i] ? 0 : open_source(reader, i);
	if (status < 0)
		return status;
	struct fdr_stream *stream = &merge->sources[i]->stream;
	fdr_rows_empty(&stream->rows);
	stream->delivered = 0;
	status = fdr_stream_fill(stream, &stream->rows);
	if (status == 0) {
		if (stream->checker)
			fdr_check_thread_end(stream->checker, reader);
		close_source(merge, i);
	}
	return status;
}

/* The same for the thread at the top of the heap. */
static int fill_top(struct tw_reader *reader, struct fdr_merge *merge)
{
	uint32_t i = merge->heap[0];
	int status = fill(reader, merge, i);
	if (status > 0)
		merge->keys[i] = merge->sources[i]->stream.rows.events[0].time;
	else if (status == 0)
		merge->heap[0] = merge->heap[--merge->heap_count];
	tw_heap_sift(merge->heap, merge->heap_count, 0, earlier, merge);
	return status < 0 ? status : 0;
}

/* ---- Too many at once. ---- */

static bool is_full(const struct fdr_merge *merge)
{
	return !merge->sources[merge->heap[0]] && merge->open >= merge->most;
}

/* What is left of a thread. */
static int spill_thread(struct tw_reader *reader, struct fdr_merge *merge, uint32_t i)
{
	int status = merge->sources[i] ? 1 : fill(reader, merge, i);
	while (status > 0) {
		const struct fdr_stream *stream = &merge->sources[i]->stream;
		const struct fdr_rows *rows = &stream->rows;
		const struct tw_batch batch = {.events = rows->events + stream->delivered,
		                               .count = rows->event_count - stream->delivered,
		                               .arguments = rows->arguments};
		if (tw_stops(reader))
			return tw_stopped(reader);
		int error = tw_sorted_runs_put(merge->runs, &batch);
		status = error ? tw_fail_file(reader, error) : fill(reader, merge, i);
	}
	return status;
}

static int by_place(const void *left, const void *right)
{
	return tw_compare(*(const uint32_t *)left, *(const uint32_t *)right);
}

/* Of those that are not over, in the order in which rows of one time come. */
static int spill(struct tw_reader *reader, struct fdr_merge *merge)
{
	int status = 0, error = tw_sorted_runs_new(&merge->runs, reader->options.temporary_directory,
	                                           tw_memory_limit(reader) / RUNS_SHARE);
	qsort(merge->heap, merge->heap_count, sizeof *merge->heap, by_place);
	for (size_t i = 0; i < merge->heap_count && !error && status >= 0; i++)
		status = spill_thread(reader, merge, merge->heap[i]);
	merge->heap_count = 0;
	if (status < 0)
		return status;
	error = error ? error : tw_sorted_runs_end(merge->runs);
	return error ? tw_fail_file(reader, error) : 0;
}

/* ---- The merge. ---- */

void fdr_merge_free(struct fdr_merge *merge)
{
	if (!merge)
		return;
	tw_sorted_runs_free(merge->runs);
	for (uint32_t i = 0; merge->sources && i < merge->count; i++)
		close_source(merge, i);
	free(merge->sources);
	free(merge->keys);
	free(merge->heap);
	free(merge);
}

int fdr_merge_open(struct tw_reader *reader)
{
	struct fdr_state *state = reader->state;
	const struct fdr_log *log = state->log;
	size_t count = state->thread_count;
	struct tw_ticks clock;
	struct fdr_merge *merge = state->merge = calloc(1, sizeof *merge);
	if (!merge)
		return tw_fail_memory(reader);
	merge->count = merge->heap_count = count;
	merge->most = tw_memory_limit(reader) / MERGED_SHARE / COST + 1;
	merge->sources = calloc(count + 1, sizeof *merge->sources);
	merge->keys = calloc(count + 1, sizeof *merge->keys);
	merge->heap = calloc(count + 1, sizeof *merge->heap);
	if (!merge->sources || !merge->keys || !merge->heap)
		return tw_fail_memory(reader);
	tw_ticks_set(&clock, log->frequency);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t tsc = log->places[log->threads[state->threads[i]].first].tsc;
		merge->keys[i] = tsc == UINT64_MAX ? 0 : tw_ticks_ns(&clock, tsc);
		merge->heap[i] = i;
	}
	tw_heap_make(merge->heap, count, earlier, merge);
	return 0;
}

/* Copies the earliest row, with its arguments; payloads stay with their thread until it is filled again. */
static void take_row(struct fdr_stream *stream, struct fdr_rows *rows)
{
	struct tw_event *event = &rows->events[rows->event_count++];
	*event = stream->rows.events[stream->delivered++];
	const struct tw_argument *arguments = stream->rows.arguments + event->first_argument;
	event->first_argument = (uint16_t)rows->argument_count;
	for (unsigned i = 0; i < event->argument_count; i++)
		rows->arguments[rows->argument_count++] = arguments[i];
}

static int merge_rows(struct tw_reader *reader, struct fdr_merge *merge, struct fdr_rows *rows)
{
	while (merge->heap_count) {
		struct merged_thread *source = merge->sources[merge->heap[0]];
		struct fdr_stream *stream = source ? &source->stream : NULL;
		if (!stream || stream->delivered == stream->rows.event_count) {
			bool full = is_full(merge);
			if ((stream || full) && rows->event_count) /* payloads of the thread may be in the batch */
				break;
			int status = full ? spill(reader, merge) : fill_top(reader, merge);
			if (status < 0)
				return status;
			continue;
		}
		if (rows->event_count == rows->event_room ||
		    rows->argument_room - rows->argument_count < FDR_ARGUMENTS_MAX)
			break;
		take_row(stream, rows);
		if (stream->delivered < stream->rows.event_count) {
			merge->keys[merge->heap[0]] = stream->rows.events[stream->delivered].time;
			tw_heap_sift(merge->heap, merge->heap_count, 0, earlier, merge);
		}
	}
	return 0;
}

int fdr_merge_read(struct tw_reader *reader, struct fdr_rows *rows, struct tw_batch *batch)
{
	struct fdr_merge *merge = ((struct fdr_state *)reader->state)->merge;
	int status = merge_rows(reader, merge, rows);
	*batch = (struct tw_batch){.events = rows->events, .count = rows->event_count, .arguments = rows->arguments};
	if (status < 0 || batch->count || !merge->runs)
		return status;
	int error = tw_sorted_runs_next(merge->runs, batch);
	return error ? tw_fail_file(reader, error) : 0;
}
