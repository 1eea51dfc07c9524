/* merge_chunks.c - the chunks of several FXT archives that are merged, opened when their time comes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/merge/merge_chunks.h"

#include "base/loops.h"
#include "base/memory/memory.h"

#include <string.h>

static int fail(const struct fxt_merge_chunks *chunks, const struct tw_reader *reader, int status)
{
	return tw_fail(chunks->merged, status, "%s", tw_reader_error(reader));
}

/* Finds when the next chunk of an archive begins. */
static void find_next(struct fxt_merge_input *input)
{
	const struct fxt_chunk *chunk = fxt_next_chunk(input->fxt);
	input->has_next = chunk;
	input->next = chunk ? tw_merge_time(&input->input->time, chunk->merge.least) : 0;
}

/* Goes on with an archive after a chunk of it was made or closed. Returns 0 or a negative status. */
static int go_on(struct fxt_merge_chunks *chunks, struct fxt_merge_input *input)
{
	struct tw_reader *reader = input->input->reader;
	int status = fxt_hold_chunks(reader);
	if (status < 0)
		return fail(chunks, reader, status);
	find_next(input);
	if (status > 0)
		return 0;
	chunks->unended--;
	return tw_merge_end(chunks->merged, input->input);
}

static bool stands_before(const struct fxt_merge_open *open, const struct fxt_merge_input *input,
                          const struct fxt_chunk *chunk)
{
	if (open->input != input)
		return open->input < input;
	return fxt_offset(open->chunk, open->chunk->begin) < fxt_offset(chunk, chunk->begin);
}

static int add(struct fxt_merge_chunks *chunks, struct fxt_merge_input *input, struct fxt_chunk *chunk)
{
	size_t place = chunks->open_count;
	if (!tw_grow(&chunks->open, &chunks->open_room, chunks->open_count + 1, sizeof *chunks->open))
		return tw_fail(chunks->merged, TW_ERR_MEMORY, "out of memory");
	for (; place > 0 && !stands_before(&chunks->open[place - 1], input, chunk); place--)
		chunks->open[place] = chunks->open[place - 1];
	chunks->open[place] = (struct fxt_merge_open){
	    .input = input,
	    .chunk = chunk,
	    .next = chunk->merge.events.events,
	    .end = chunk->merge.events.events + chunk->merge.events.count,
	    .late_until = input->last,
	};
	chunks->open_count++;
	return 0;
}

struct fxt_merge_input *fxt_merge_next(struct fxt_merge_chunks *chunks, uint64_t until)
{
	struct fxt_merge_input *next = NULL;
	for (size_t i = 0; i < chunks->count; i++) {
		struct fxt_merge_input *input = &chunks->inputs[i];
		if (input->has_next && (next ? input->next < until : input->next <= until)) {
			next = input;
			until = input->next;
		}
	}
	return next;
}

int fxt_merge_open(struct fxt_merge_chunks *chunks, struct fxt_merge_input *input)
{
	struct fxt_chunk *chunk;
	int status = fxt_open_chunk(input->input->reader, &chunk);
	if (status < 0)
		return fail(chunks, input->input->reader, status);
	if (!chunk)
		return go_on(chunks, input);
	find_next(input);
	return add(chunks, input, chunk);
}

/* Those that come before the time that became 0 are among them. */
static void note_late(const struct fxt_merge_chunks *chunks, const struct fxt_merge_open *open,
                      const struct fxt_merge_event *event)
{
	struct tw_sorter *sorter = &open->input->fxt->sorter;
	if (tw_merge_raises(&open->input->input->time, event->time))
		tw_count_loss(chunks->writer, "time", true);
	sorter->last = open->late_until;
	tw_sorter_note_late(sorter, event->time, fxt_offset(open->chunk, event->place));
}

void fxt_merge_pass(const struct fxt_merge_chunks *chunks, struct fxt_merge_open *open)
{
	if (open->taken == 0)
		return;
	const struct fxt_merge_event *to = open->next + open->taken;
	for (; open->next < to && open->next->time < open->late_until; open->next++)
		note_late(chunks, open, open->next);
	open->next = to;
	open->taken = open->share = 0;
	open->input->last = to[-1].time > open->input->last ? to[-1].time : open->input->last;
}

int fxt_merge_close(struct fxt_merge_chunks *chunks, struct fxt_merge_open *open)
{
	struct fxt_merge_input *input = open->input;
	fxt_close_chunk(input->fxt, open->chunk);
	chunks->open_count--;
	memmove(open, open + 1, (size_t)(chunks->open + chunks->open_count - open) * sizeof *open);
	return go_on(chunks, input);
}

/* ---- The beginning. ---- */

/* Goes to the first event of an archive, if there is one. Returns 0 or a negative status. */
static int begin_input(struct fxt_merge_chunks *chunks, struct tw_merge_input *input)
{
	struct tw_reader *reader = input->reader;
	struct fxt_chunk *chunk = NULL;
	int status = fxt_hold_chunks(reader);
	while (status > 0 && !chunk) {
		status = fxt_open_chunk(reader, &chunk);
		status = status < 0 || chunk ? status : fxt_hold_chunks(reader);
	}
	if (status < 0)
		return fail(chunks, reader, status);
	input->trace->some = chunk;
	if (!chunk)
		return 0;
	struct fxt_merge_input *added = &chunks->inputs[chunks->count++];
	*added = (struct fxt_merge_input){.input = input, .fxt = reader->state};
	chunks->unended++;
	return add(chunks, added, chunk);
}

/* Records are made ahead where ticks are nanoseconds and words little endian, as they are unless somebody wants
 * others. */
static bool makes_records(const struct tw_write_options *options)
{
	bool big = options->byte_order == TW_BYTES_BIG || options->byte_order == TW_BYTES_BIG_LSB;
	return tw_loop_is_on(TW_LOOP_MERGE_RECORDS) && !big &&
	       (options->ticks_per_second == 0 || options->ticks_per_second == TW_NS_PER_SECOND);
}

int fxt_merge_chunks_begin(struct fxt_merge_chunks *chunks)
{
	struct tw_merge *merge = chunks->merged->state;
	int status = 0;
	for (size_t i = 0; i < merge->count && status == 0; i++) {
		status = fxt_start_merge(merge->inputs[i].reader, chunks->pool);
		status = status < 0 ? fail(chunks, merge->inputs[i].reader, status) : 0;
	}
	for (size_t i = 0; i < merge->count && status == 0; i++)
		status = begin_input(chunks, &merge->inputs[i]);
	status = status < 0 ? status : tw_merge_align(chunks->merged);
	for (size_t i = 0; i < chunks->count && status == 0; i++) {
		struct fxt_merge_input *input = &chunks->inputs[i];
		find_next(input);
		if (makes_records(&chunks->writer->options))
			fxt_merge_names_begin(&input->fxt->names, input->fxt->pipeline, input->input);
	}
	return status;
}
