/* merge_rows.c - the rows of several inputs, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
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
	event->offset = from->offset + (input->reader ? input->reader->log.base : 0);
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
	const bool fine = !input->mapping || tw_map_plain_row(input->mapping, from, event) ||
	                  tw_map_row(input->mapping, event, arguments);
	return fine ? 0 : no_memory(merged);
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
static inline void look(struct tw_merge_input *input)
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

/* ---- Which input is next: a tree in which each input goes up until it loses against another, which has the earlier
 * row, or of the same time is the first input. No jump depends on times, as none could be foreseen: so what loses is
 * swapped by a mask. `make bench` measures merge. ---- */

static inline bool goes_first(const struct tw_merge_head *a, const struct tw_merge_head *b)
{
	const bool same_time = a->time == b->time, lower = a->number < b->number;
	return (a->time < b->time) | (same_time & lower);
}

/* Lets an input go up from its place in the tree; it was the first of all. */
static inline void go_up(struct tw_merge *merge, struct tw_merge_head head, size_t number)
{
	for (size_t place = (number - 1 + merge->count) / 2; place > 0; place /= 2) {
		struct tw_merge_head *other = &merge->heads.items[place];
		const uint64_t loses = -(uint64_t)goes_first(other, &head);
		const uint64_t time = (other->time ^ head.time) & loses;
		const uint64_t swapped = (other->number ^ head.number) & loses;
		other->time ^= time;
		head.time ^= time;
		other->number ^= swapped;
		head.number ^= swapped;
	}
	merge->heads.items[0] = head;
}

static inline struct tw_merge_head head_of(const struct tw_merge_input *input, size_t number)
{
	const bool has_row = input->next < input->batch.count;
	return has_row ? (struct tw_merge_head){input->head, number} : (struct tw_merge_head){UINT64_MAX, SIZE_MAX};
}

/* From the leaves up, what wins at each place; then from the top down, what lost there. */
static void make_tree(struct tw_merge *merge)
{
	struct tw_merge_head *const items = merge->heads.items;
	const size_t count = merge->count;
	for (size_t i = 0; i < count; i++)
		items[count + i] = head_of(&merge->inputs[i], i + 1);
	for (size_t i = count; i-- > 1;)
		items[i] = items[2 * i + goes_first(&items[2 * i + 1], &items[2 * i])];
	items[0] = count ? items[1] : (struct tw_merge_head){UINT64_MAX, SIZE_MAX};
	for (size_t i = 1; i < count; i++)
		items[i] = items[2 * i + (items[2 * i].number == items[i].number)];
}

/* ---- Batches. ---- */

/* Stops where a batch is used up: the bytes of its arguments live until its input is asked for more. */
int tw_merge_rows(struct tw_reader *merged, struct tw_batch *batch)
{
	struct tw_merge *merge = merged->state;
	*batch = (struct tw_batch){0};
	int status = begin_batch(merged) ? fill(merged) : no_memory(merged);
	if (status < 0)
		return status;
	make_tree(merge);
	for (size_t number; (number = merge->heads.items[0].number) != SIZE_MAX;) {
		struct tw_merge_input *input = &merge->inputs[number - 1];
		if (!has_room(merge, input))
			break;
		status = copy_row(merged, merge, input);
		if (status < 0)
			return status;
		if (input->next == input->batch.count)
			break;
		look(input);
		go_up(merge, head_of(input, number), number);
	}
	*batch = (struct tw_batch){.events = merge->batch.room.events,
	                           .count = merge->batch.event_count,
	                           .arguments = merge->batch.room.arguments};
	tw_merge_note_moved(merged);
	return (int)merge->batch.event_count;
}
