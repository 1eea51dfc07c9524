/* merge_events.c - the events of a chunk that is merged: records as the writer makes them of rows, and rows, in the
 * order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/merge/merge_events.h"

#include "base/memory/memory.h"
#include "fxt/events/events.h"
#include "fxt/write/record.h"

#include <stdlib.h>
#include <string.h>

static size_t records_of(const struct fxt_chunk *chunk)
{
	size_t count = 0;
	for (size_t i = 0; i < chunk->walk.piece_count; i++)
		count += chunk->walk.pieces[i].count;
	return count;
}

bool fxt_merge_events_begin(struct fxt_chunk *chunk, const struct fxt_merge_names *names)
{
	struct fxt_merge_events *list = &chunk->merge.events;
	size_t usual = (chunk->end - chunk->begin) / 8 * 9; /* instants get a scope, and texts stand in the records */
	list->names = names;
	list->made = false;
	list->count = list->rows = list->size = 0;
	chunk->rows.slab.sorted = true; /* rows are listed as they stand */
	return tw_extend(&list->events, &list->room, records_of(chunk), sizeof *list->events) &&
	       (!names || tw_extend(&list->records, &list->record_room, usual + FXT_RECORD_ROOM, 1));
}

/* Adds the rows that were made since the last record. */
static bool add_rows(struct fxt_chunk *chunk)
{
	struct fxt_merge_events *list = &chunk->merge.events;
	const struct tw_slab *slab = &chunk->rows.slab;
	if (list->rows == slab->count)
		return true;
	if (!tw_extend(&list->events, &list->room, list->count + slab->count - list->rows, sizeof *list->events))
		return false;
	for (; list->rows < slab->count; list->rows++) {
		const struct tw_event *row = &slab->events[slab->sorted ? list->rows : slab->order[list->rows]];
		list->events[list->count++] = (struct fxt_merge_event){
		    .time = row->time,
		    .number = (uint32_t)(row - slab->events),
		    .place = (uint32_t)(row->offset - chunk->base) & INT32_MAX,
		};
	}
	return true;
}

/* Adds a record of so many bytes that was put behind the others. False when there is no memory. */
static bool add_record(struct fxt_chunk *chunk, size_t place, uint64_t time, size_t size)
{
	struct fxt_merge_events *list = &chunk->merge.events;
	if (list->rows < chunk->decoder.untimed)
		fxt_time_rows(chunk);
	if (list->rows != chunk->rows.slab.count && !add_rows(chunk))
		return false;
	if (list->count == list->room && !tw_extend(&list->events, &list->room, list->count + 1, sizeof *list->events))
		return false;
	list->events[list->count++] = (struct fxt_merge_event){
	    .time = time,
	    .number = (uint32_t)list->size,
	    .is_record = true,
	    .place = (uint32_t)place & INT32_MAX,
	};
	list->size += size;
	return true;
}

/* ---- Events to records. ---- */

/* Whether an argument is written as it is: a koid may be another one in the whole, a long text may be registered. */
static bool stays(const struct tw_argument *argument)
{
	return argument->type != TW_ARG_KOID && !(argument->type == TW_ARG_TEXT && argument->size > FXT_LONG_TEXT);
}

/* Puts the arguments. False where one must be left to the writer, or the name of one has not been written. */
static bool put_arguments(struct fxt_chunk *chunk, size_t place, uint64_t count, struct fxt_new_record *record)
{
	size_t at = place + (size_t)2 * TW_FXT_WORD;
	uint64_t offset = fxt_offset(chunk, place);
	for (; count > 0; count--) {
		uint64_t header = tw_load64(chunk->bytes + at, chunk->decoder.big);
		const struct tw_argument argument = fxt_value_at(chunk, at, header, offset);
		const struct fxt_string_ref name = {.reference =
		                                        fxt_merged_name(chunk->merge.events.names, argument.name)};
		if (!stays(&argument) || !name.reference != !argument.name ||
		    fxt_put_argument(record, &name, &argument, 1) != FXT_FITS)
			return false;
		at += (size_t)tw_bits(header, 4, 15) * TW_FXT_WORD;
	}
	return true;
}

bool fxt_merge_encode(struct fxt_chunk *chunk, size_t place, const struct fxt_merged_thread *thread,
                      const struct fxt_pair *names, uint64_t word)
{
	enum { SAME = 0xff000f }; /* of a header: types, and how many arguments */
	struct fxt_merge_events *list = &chunk->merge.events;
	uint64_t header = tw_load64(chunk->bytes + place, chunk->decoder.big), count = tw_bits(header, 20, 23);
	uint64_t name = fxt_merged_name(list->names, names->name), index = fxt_merged_index(thread);
	uint64_t category = fxt_merged_name(list->names, names->category);
	unsigned kind = fxt_event_kinds[tw_bits(header, 16, 19)];
	bool has_room = list->record_room - list->size >= FXT_RECORD_ROOM ||
	                tw_extend(&list->records, &list->record_room, list->size + FXT_RECORD_ROOM, 1);
	const bool flow = kind >= TW_FLOW_BEGIN && kind <= TW_FLOW_END;
	if (!has_room || (flow && list->names->moves_ids) || !name != !names->name || !category != !names->category)
		return false;
	uint64_t time =
	    tw_ticks_ns(&chunk->decoder.clock, tw_load64(chunk->bytes + place + TW_FXT_WORD, chunk->decoder.big));
	uint64_t length = kind == TW_SLICE_COMPLETE ? tw_ticks_ns(&chunk->decoder.clock, word) - time : 0;
	uint64_t merged = tw_merge_time(&list->names->time, time);
	if (merged + length < merged) /* the record would not tell the length */
		return false;
	struct fxt_new_record record = fxt_record_at(list->records + list->size, false);
	fxt_put_word(&record, merged);
	if (index == 0) {
		fxt_put_word(&record, thread->process);
		fxt_put_word(&record, thread->thread);
	}
	if (count && !put_arguments(chunk, place, count, &record))
		return false;
	if (kind != TW_SLICE_BEGIN && kind != TW_SLICE_END)
		fxt_put_word(&record, kind == TW_SLICE_COMPLETE ? merged + length : word);
	tw_store64(record.start,
	           (header & SAME) | (uint64_t)fxt_record_words(&record) << 4 | index << 24 | category << 32 |
	               name << 48,
	           record.big);
	fxt_set_time(chunk, time);
	return add_record(chunk, place, time, (size_t)(record.at - record.start));
}

/* ---- The order of time. ---- */

static int earlier_first(const void *a, const void *b)
{
	const struct fxt_merge_event *left = a, *right = b;
	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->place < right->place ? -1 : left->place > right->place;
}

/* Sorts events whose times fit a key of 64 bits beside their numbers. */
static bool sort_by_keys(struct fxt_merge_events *list, uint64_t first, unsigned time_bits,
                         struct tw_slab_scratch *scratch)
{
	size_t count = list->count, size = count * (2 * sizeof(uint64_t) + sizeof *list->events);
	unsigned number_bits = tw_bits_of(count);
	if (!tw_extend(&scratch->bytes, &scratch->room, size, 1))
		return false;
	uint64_t *keys = (uint64_t *)(void *)scratch->bytes;
	struct fxt_merge_event *before = (struct fxt_merge_event *)(void *)(keys + 2 * count);
	memcpy(before, list->events, count * sizeof *before);
	for (size_t i = 0; i < count; i++)
		keys[i] = (before[i].time - first) << number_bits | i;
	keys = tw_sort_keys(keys, count, number_bits, time_bits);
	for (size_t i = 0; i < count; i++)
		list->events[i] = before[keys[i] & ((UINT64_C(1) << number_bits) - 1)];
	return true;
}

static bool sort(struct fxt_merge_events *list, struct tw_slab_scratch *scratch)
{
	enum { KEY_BITS = 64 };
	uint64_t least = UINT64_MAX, most = 0;
	bool sorted = true;
	for (size_t i = 0; i < list->count; i++) {
		uint64_t time = list->events[i].time;
		sorted &= time >= most;
		least = time < least ? time : least;
		most = time > most ? time : most;
	}
	unsigned time_bits = sorted ? 0 : tw_bits_of(most - least);
	if (sorted)
		return true;
	if (time_bits + tw_bits_of(list->count) <= KEY_BITS)
		return sort_by_keys(list, least, time_bits, scratch);
	qsort(list->events, list->count, sizeof *list->events, earlier_first); /* only damage makes such times */
	return true;
}

void fxt_merge_events_end(struct fxt_chunk *chunk, struct tw_slab_scratch *scratch)
{
	chunk->failed |= !add_rows(chunk) || !sort(&chunk->merge.events, scratch);
	chunk->merge.events.names = NULL;
	chunk->merge.events.made = true;
}

bool fxt_merge_list_rows(struct fxt_chunk *chunk)
{
	chunk->merge.events.count = chunk->merge.events.rows = 0;
	chunk->merge.events.made = add_rows(chunk);
	return chunk->merge.events.made;
}

size_t fxt_merge_events_size(const struct fxt_merge_events *list)
{
	return list->count * sizeof *list->events + list->size;
}

void fxt_merge_events_free(struct fxt_merge_events *list)
{
	free(list->events);
	free(list->records);
}
