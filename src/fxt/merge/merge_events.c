/* merge_events.c - the events of a chunk that is merged, in the order of time. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "fxt/merge/merge_events.h"

#include "base/memory/memory.h"
#include "fxt/walk/chunk.h"

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

bool fxt_merge_add_record(struct fxt_chunk *chunk, size_t place, uint64_t time, size_t size)
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
