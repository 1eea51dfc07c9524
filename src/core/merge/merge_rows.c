/* merge_rows.c - the rows of several inputs, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/heap.h"
#include "base/memory/memory.h"
#include "core/merge/merge.h"

#include <string.h>

static int no_memory(struct tw_reader *reader)
{
	return tw_fail(reader, TW_ERR_MEMORY, "out of memory");
}

/* Begins a batch: in the room that the caller offers, or in the own. False when there is no memory. */
static bool begin_batch(struct tw_reader *merged)
{
	enum { ARGUMENTS = 16 }; /* of a row: a batch whose rows have more has fewer rows. UINT8_MAX are room for one */
	struct tw_merge *merge = merged->state;
	merge->batch.event_count = merge->batch.argument_count = 0;
	if (merged->help.room) {
		merge->batch.room = *merged->help.room;
		return true;
	}
	bool fine = tw_extend(&merge->batch.arguments, &merge->batch.argument_room, TW_MERGE_BATCH * ARGUMENTS,
	                      sizeof *merge->batch.arguments);
	merge->batch.room =
	    (struct tw_batch_room){merge->batch.events, merge->batch.arguments, merge->batch.argument_room};
	return fine;
}

/* Whether the next row of an input fits into the batch. */
static inline bool has_room(const struct tw_merge *merge, const struct tw_merge_input *input)
{
	return merge->batch.event_count < TW_MERGE_BATCH &&
	       input->batch.events[input->next].argument_count <=
	           merge->batch.room.argument_room - merge->batch.argument_count;
}

/* Copies the next row of an input behind those there are. Returns 0 or a negative status. */
static inline int copy_row(struct tw_reader *merged, struct tw_merge *merge, struct tw_merge_input *input)
{
	const struct tw_event *from = &input->batch.events[input->next++];
	struct tw_event *event = &merge->batch.room.events[merge->batch.event_count++];
	struct tw_argument *arguments = merge->batch.room.arguments + merge->batch.argument_count;
	const unsigned n = from->argument_count;
	*event = *from;
	event->time = input->head;
	event->offset += input->reader ? input->reader->log.base : 0;
	event->first_argument = (uint16_t)merge->batch.argument_count;
	for (unsigned i = 0; i < n; i++) /* few: memcpy() is for many */
		arguments[i] = input->batch.arguments[from->first_argument + i];
	merge->batch.argument_count += n;
	if (__builtin_expect(input->head == 0, 0))
		merged->traits.raised |= tw_merge_raises(&input->time, from->time);
	int error = input->run.bytes
	                ? tw_spill_fetch(&input->run, &merge->batch.bytes, &merge->batch.byte_room, arguments, n)
	                : 0;
	if (error)
		return tw_merge_file_status(merged, error);
	return !input->mapping || tw_map_row(input->mapping, event, arguments) ? 0 : no_memory(merged);
}

/* ---- Reading. ---- */

int tw_merge_end(struct tw_reader *merged, struct tw_merge_input *input)
{
	return tw_mapping_end(&input->own) ? 0 : no_memory(merged);
}

static int pull_reader(struct tw_reader *merged, struct tw_merge_input *input)
{
	int n = tw_read(input->reader, &input->batch);
	input->ended = n <= 0;
	input->trace->some |= n > 0;
	if (n > 0)
		return 0;
	input->batch.count = 0;
	if (n < 0)
		return tw_fail(merged, n, "%s", tw_reader_error(input->reader));
	return tw_merge_end(merged, input);
}

static int pull(struct tw_reader *merged, struct tw_merge_input *input)
{
	input->next = 0;
	if (input->reader)
		return pull_reader(merged, input);
	int error = tw_spill_next(&input->run, &input->batch);
	input->ended = input->batch.count == 0;
	return tw_merge_file_status(merged, error);
}

/* What findings there were; those of the inputs are reported by them. */
void tw_merge_count_findings(struct tw_reader *merged)
{
	const struct tw_merge *merge = merged->state;
	for (int severity = TW_NOTE; severity <= TW_ERROR; severity++) {
		merged->reports.findings[severity] = merge->findings[severity];
		for (size_t i = 0; i < merge->count && merge->inputs[i].reader; i++)
			merged->reports.findings[severity] += merge->inputs[i].reader->reports.findings[severity];
	}
}

/* Sets input->head to the time of the input's next row. */
static void look(struct tw_merge_input *input)
{
	if (input->next < input->batch.count)
		input->head = tw_merge_time(&input->time, input->batch.events[input->next].time);
}

static int fill(struct tw_reader *merged)
{
	struct tw_merge *merge = merged->state;
	int status = 0;
	for (size_t i = 0; i < merge->count && status >= 0; i++)
		if (!merge->inputs[i].ended && merge->inputs[i].next == merge->inputs[i].batch.count)
			status = pull(merged, &merge->inputs[i]);
	tw_merge_count_findings(merged);
	if (status >= 0 && !merge->started)
		status = tw_merge_align(merged);
	for (size_t i = 0; i < merge->count; i++)
		look(&merge->inputs[i]);
	return status;
}

/* ---- Which input is next: a heap of those that have rows, by the time of the first; of the same time the first input.
 * ---- */

static bool goes_first(const void *context, uint32_t a, uint32_t b)
{
	const struct tw_merge *merge = context;
	uint64_t left = merge->inputs[a].head, right = merge->inputs[b].head;
	return left != right ? left < right : a < b;
}

static void make_heap(struct tw_merge *merge)
{
	merge->heap.count = 0;
	for (uint32_t i = 0; i < merge->count; i++)
		if (merge->inputs[i].next < merge->inputs[i].batch.count)
			merge->heap.items[merge->heap.count++] = i;
	tw_heap_make(merge->heap.items, merge->heap.count, goes_first, merge);
}

/* The time of the next row of all inputs but the first. */
static uint64_t time_of_others(const struct tw_merge *merge)
{
	uint64_t left = merge->heap.count > 1 ? merge->inputs[merge->heap.items[1]].head : UINT64_MAX;
	uint64_t right = merge->heap.count > 2 ? merge->inputs[merge->heap.items[2]].head : UINT64_MAX;
	return left < right ? left : right;
}

/* ---- Batches. ---- */

/* Takes rows of one input as long as no other has an earlier one. Returns 0 or a negative status. */
static int take(struct tw_reader *merged, struct tw_merge_input *input, uint64_t until)
{
	struct tw_merge *merge = merged->state;
	int status;
	do {
		status = copy_row(merged, merge, input);
		look(input);
	} while (status == 0 && input->next < input->batch.count && input->head < until && has_room(merge, input));
	return status;
}

/* Stops where a batch is used up: the bytes of its arguments live until its input is asked for more. */
int tw_merge_rows(struct tw_reader *merged, struct tw_batch *batch)
{
	struct tw_merge *merge = merged->state;
	*batch = (struct tw_batch){0};
	int status = begin_batch(merged) ? fill(merged) : no_memory(merged);
	if (status < 0)
		return status;
	make_heap(merge);
	while (merge->heap.count) {
		struct tw_merge_input *input = &merge->inputs[merge->heap.items[0]];
		if (!has_room(merge, input))
			break;
		status = take(merged, input, time_of_others(merge));
		if (status < 0)
			return status;
		if (input->next == input->batch.count)
			break;
		tw_heap_sift(merge->heap.items, merge->heap.count, 0, goes_first, merge);
	}
	*batch = (struct tw_batch){.events = merge->batch.room.events,
	                           .count = merge->batch.event_count,
	                           .arguments = merge->batch.room.arguments};
	tw_merge_note_moved(merged);
	return (int)merge->batch.event_count;
}
