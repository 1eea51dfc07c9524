/* leaves.c - items that rows do not have, read from the trace again: some spans of time at once.
 *
 * What is read is a file made of pieces of the trace: the records that give others their meaning, the begins of slices
 * that are open when the first span begins, and the parts of the file with events of these spans. It goes into an index
 * of its own, as the trace did: so its rows are the same, from the first item that begins in these spans on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/index/leaves.h"

#include "base/memory/order.h"
#include "core/format.h"
#include "view/index/bare.h"
#include "view/index/parts.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <sys/stat.h>

enum { STRETCHES = 12, BYTES_KEPT = 32 << 20 /* of the trace */ };
#define ROOM ((uint64_t)1 << 32)

/* Spans that have been read. */
struct stretch {
	struct view_index *index; /* NULL: none */
	uint64_t first, last;     /* spans */
	uint64_t size, used;
};

struct view_leaves {
	struct view_spans *spans;
	struct stretch stretches[STRETCHES];
	uint64_t uses, wrong, bytes;
	struct tw_map names; /* of the owner's, when there were so many */
	uint64_t name_count;
	uint32_t *rows; /* of the owner's those that can be read, when there were so many of all */
	size_t row_count, row_room;
	uint64_t rows_seen;
};

/* What is read. */
struct reading {
	const struct view_leaves *leaves;
	uint64_t from, to; /* from the one time to before the other */
	struct tw_piece *pieces;
	size_t piece_count, piece_room;
	uint64_t bytes;         /* of them */
	struct tw_input *input; /* the trace, for where records of open slices end */
	uint64_t *open;         /* offsets of slices that are open at the first */
	size_t open_count, open_room;
	struct tw_event *events;
	size_t event_room;
	bool failed;
};

/* ---- Which pieces. ---- */

static void add_piece(struct reading *reading, uint64_t offset, uint64_t end)
{
	reading->failed |=
	    !tw_grow(&reading->pieces, &reading->piece_room, reading->piece_count + 1, sizeof *reading->pieces);
	if (!reading->failed && end > offset)
		reading->pieces[reading->piece_count++] = (struct tw_piece){.offset = offset, .size = end - offset};
}

/* Where what begins in a part of the file ends: where what begins in a later one does. */
static uint64_t end_of(const struct view_spans *spans, size_t number)
{
	for (size_t i = number + 1; i < spans->part_count; i++)
		if (spans->parts[i].first != UINT64_MAX)
			return spans->parts[i].first;
	return spans->file.size;
}

/* Where the run of records begins that the first bytes of a part are of; of records the first of them. */
static uint64_t start_of(const struct view_spans *spans, size_t number)
{
	const struct view_part_of_file *part = &spans->parts[number];
	if (!spans->runs || part->first == (uint64_t)number << spans->part_shift)
		return part->first;
	for (size_t i = number; i-- > 0;)
		if (spans->parts[i].last != UINT64_MAX)
			return spans->parts[i].last;
	return part->first;
}

static void add_parts(struct reading *reading)
{
	const struct view_spans *spans = reading->leaves->spans;
	for (size_t i = 0; i < spans->part_count; i++) {
		const struct view_part_of_file *part = &spans->parts[i];
		const uint64_t start = start_of(spans, i);
		if (part->least < reading->to && part->most >= reading->from && part->least <= part->most &&
		    start != UINT64_MAX)
			add_piece(reading, start, end_of(spans, i));
	}
}

/* The record at an offset, or the runs of its part of the file. */
static void add_record(struct reading *reading, uint64_t offset)
{
	const struct view_spans *spans = reading->leaves->spans;
	const size_t part = (size_t)(offset >> spans->part_shift);
	if (part >= spans->part_count) {
		reading->failed = true;
	} else if (spans->runs) {
		add_piece(reading, start_of(spans, part), end_of(spans, part));
	} else {
		const uint64_t size = spans->format->survey.record_size(reading->input, offset);
		reading->failed |= size == 0;
		add_piece(reading, offset, offset + size);
	}
}

/* The slice of a row that is open, as its begin says. */
static void add_open(struct reading *reading, const struct view_row *row)
{
	const struct view_store *store = &reading->leaves->spans->owner->store;
	const uint64_t after = view_row_begin_at(row, store, 0, reading->from);
	if (after == 0)
		return;
	const struct view_slice slice = view_row_slice(row, store, after - 1);
	if (slice.end < reading->from)
		return;
	reading->failed |=
	    !tw_grow(&reading->open, &reading->open_room, reading->open_count + 1, sizeof *reading->open);
	if (reading->failed)
		return;
	reading->open[reading->open_count++] = slice.offset;
	add_record(reading, slice.offset);
}

static void add_all_open(struct reading *reading)
{
	const struct view_leaves *leaves = reading->leaves;
	reading->failed |= tw_input_open_regular(&reading->input, leaves->spans->path) < 0;
	for (size_t i = 0; i < leaves->row_count && !reading->failed; i++) {
		const struct view_row *row = view_index_row_at(leaves->spans->owner, leaves->rows[i]);
		if (row->kind == VIEW_SLICES && row->count)
			add_open(reading, row);
	}
	tw_input_close(reading->input);
}

static bool find_pieces(struct reading *reading)
{
	const struct view_needed *needed = &reading->leaves->spans->needed;
	for (size_t i = 0; i < needed->count; i++)
		add_piece(reading, needed->items[i].offset, needed->items[i].offset + needed->items[i].size);
	if (reading->from)
		add_all_open(reading);
	add_parts(reading);
	if (reading->failed || !reading->piece_count)
		return false;
	reading->bytes = tw_join_pieces(reading->pieces, &reading->piece_count);
	if (reading->open_count)
		qsort(reading->open, reading->open_count, sizeof *reading->open, tw_compare_u64);
	return true;
}

/* ---- Reading. ---- */

/* What is around the pieces: from a border on. */
static struct tw_piece *find_around(const struct reading *reading, size_t *count)
{
	struct tw_piece *around = malloc(reading->piece_count * sizeof *around);
	for (size_t i = 0; around && i < reading->piece_count; i++) {
		const struct tw_piece *piece = &reading->pieces[i];
		const uint64_t border = view_spans_border(reading->leaves->spans, piece->offset);
		around[i] = (struct tw_piece){.offset = border, .size = piece->offset + piece->size - border};
	}
	*count = reading->piece_count;
	if (around)
		tw_join_pieces(around, count);
	return around;
}

static int open_pieces(const struct reading *reading, struct tw_reader **reader)
{
	const struct view_spans *spans = reading->leaves->spans;
	size_t count;
	if (!spans->runs)
		return tw_open_pieces(reader, spans->path, reading->pieces, reading->piece_count, &spans->options);
	struct tw_piece *around = find_around(reading, &count);
	int status = around ? tw_open_around(reader, spans->path, around, count, &spans->options) : TW_ERR_MEMORY;
	free(around);
	if (status >= 0)
		status = spans->format->reading.keep(*reader, reading->pieces, reading->piece_count);
	return status;
}

/* Others have their items: samples of counters, operations, states. */
static bool is_of_rows(const struct tw_event *event)
{
	enum { OTHERS = 1 << TW_COUNTER | 1 << TW_ASYNC_BEGIN | 1 << TW_ASYNC_END | 1 << TW_WAKEUP };
	return tw_goes_on(event) && !(OTHERS >> event->kind & 1);
}

static bool counts(const struct reading *reading, const struct tw_event *event)
{
	if (event->time >= reading->from)
		return event->time < reading->to && is_of_rows(event);
	return reading->open_count &&
	       bsearch(&event->offset, reading->open, reading->open_count, sizeof *reading->open, tw_compare_u64);
}

/* The events that count, with offsets as they are in the file. */
static void take_batch(struct reading *reading, struct view_index *index, const struct tw_dictionary *dictionary,
                       const struct tw_batch *batch)
{
	struct tw_batch own = *batch;
	reading->failed |= !tw_grow(&reading->events, &reading->event_room, batch->count, sizeof *reading->events);
	if (reading->failed)
		return;
	own.events = reading->events;
	own.count = 0;
	for (size_t i = 0; i < batch->count; i++) {
		struct tw_event *event = &reading->events[own.count];
		*event = batch->events[i];
		if (!reading->leaves->spans->runs) {
			const struct tw_piece *piece =
			    tw_piece_at(reading->pieces, reading->piece_count, event->offset);
			event->offset += piece->offset - piece->place;
		}
		own.count += counts(reading, event);
	}
	view_index_take(index, dictionary, &own);
}

static int read_pieces(struct reading *reading, struct view_index *index)
{
	struct tw_reader *reader = NULL;
	struct tw_batch batch;
	int status = open_pieces(reading, &reader);
	while (status >= 0 && (status = tw_read(reader, &batch)) > 0)
		take_batch(reading, index, tw_reader_dictionary(reader), &batch);
	tw_close(reader);
	return reading->failed ? TW_ERR_MEMORY : status;
}

/* The last item of a row has not ended in these spans, or was not seen to: it is known. */
static bool complete_row(struct view_leaves *leaves, const struct stretch *stretch, const struct view_row *row)
{
	const struct view_index *owner = leaves->spans->owner;
	struct view_index *index = stretch->index;
	const uint64_t first = view_bare_first(row, &owner->store, stretch->first);
	const uint64_t count = view_bare_first(row, &owner->store, stretch->last + 1) - first;
	if (count == 0)
		return true;
	const struct view_track *track = &owner->tracks.items[row->track];
	const uint32_t number = view_tracks_find(&index->tracks, track->kind, track->process, track->thread);
	struct view_row *leaf = view_index_row_of(index, row->kind, number, row->lane, row->depth);
	const struct view_slice last = view_row_slice(row, &owner->store, first + count - 1);
	if (leaf && leaf->count == count - 1 && !view_row_add_slice(leaf, &index->store, &last))
		return false;
	leaves->wrong += leaf && leaf->count != count;
	return leaf;
}

static bool complete(struct view_leaves *leaves, const struct stretch *stretch)
{
	bool fine = true;
	for (size_t i = 0; i < leaves->row_count && fine; i++) {
		const struct view_row *row = view_index_row_at(leaves->spans->owner, leaves->rows[i]);
		fine = !row->bare || complete_row(leaves, stretch, row);
	}
	return fine;
}

static struct view_index *new_index(const struct view_leaves *leaves, uint64_t from)
{
	const struct view_index *owner = leaves->spans->owner;
	const struct tw_traits traits = {.rounding = owner->calls.rules.rounding,
	                                 .ends_unordered = owner->calls.rules.ends_unordered};
	struct view_index *index = calloc(1, sizeof *index);
	if (!index)
		return NULL;
	if (view_index_init(index, leaves->spans->options.temporary_directory, ROOM, &traits) == 0) {
		index->names.known = &leaves->names;
		index->store.from = from;
		return index;
	}
	view_index_free(index);
	free(index);
	return NULL;
}

static void drop(struct stretch *stretch)
{
	if (stretch->index)
		view_index_free(stretch->index);
	free(stretch->index);
	*stretch = (struct stretch){0};
}

static bool map_names(struct view_leaves *leaves)
{
	const struct view_index *owner = leaves->spans->owner;
	if (leaves->name_count == owner->names.items.count)
		return true;
	tw_map_free(&leaves->names);
	leaves->name_count = owner->names.items.count;
	return view_names_map(&owner->names, &owner->store, &leaves->names);
}

static bool list_rows(struct view_leaves *leaves)
{
	const struct view_index *owner = leaves->spans->owner;
	for (uint64_t i = leaves->rows_seen; i < owner->rows.count; i++) {
		if (!view_index_row_at(owner, i)->readable)
			continue;
		if (!tw_grow(&leaves->rows, &leaves->row_room, leaves->row_count + 1, sizeof *leaves->rows))
			return false;
		leaves->rows[leaves->row_count++] = (uint32_t)i;
		leaves->rows_seen = i + 1;
	}
	leaves->rows_seen = owner->rows.count;
	return true;
}

/* Whether the file is still the one that was read, which may have grown. */
static bool is_there(const struct view_spans *spans)
{
	const struct view_file_read *was = &spans->file;
	struct stat now;
	if (stat(spans->path, &now) < 0 || now.st_dev != was->device || now.st_ino != was->inode)
		return false;
	return (uint64_t)now.st_size > was->size ||
	       ((uint64_t)now.st_size == was->size && now.st_mtim.tv_sec == was->changed.tv_sec &&
	        now.st_mtim.tv_nsec == was->changed.tv_nsec);
}

static bool read_stretch(struct view_leaves *leaves, struct stretch *stretch)
{
	struct reading reading = {.leaves = leaves,
	                          .from = view_span_start(leaves->spans, stretch->first),
	                          .to = view_span_start(leaves->spans, stretch->last + 1)};
	bool fine = is_there(leaves->spans) && map_names(leaves) && list_rows(leaves);
	stretch->index = fine ? new_index(leaves, reading.from) : NULL;
	fine = stretch->index && find_pieces(&reading) && read_pieces(&reading, stretch->index) >= 0 &&
	       complete(leaves, stretch);
	leaves->bytes += reading.bytes;
	if (fine)
		view_index_end_reading(stretch->index);
	free(reading.pieces);
	free(reading.open);
	free(reading.events);
#ifdef __GLIBC__
	malloc_trim(0); /* what the reader had: a thread of the server's may not come back */
#endif
	return fine;
}

/* ---- What is kept of them. ---- */

/* Makes room for so many bytes of the trace. Returns a stretch that is free. */
static struct stretch *make_room(struct view_leaves *leaves, uint64_t size)
{
	for (;;) {
		struct stretch *unused = NULL, *oldest = NULL;
		uint64_t sum = size;
		for (size_t i = 0; i < STRETCHES; i++) {
			struct stretch *stretch = &leaves->stretches[i];
			sum += stretch->size;
			unused = stretch->index ? unused : stretch;
			oldest = stretch->index && (!oldest || stretch->used < oldest->used) ? stretch : oldest;
		}
		if (unused && (sum <= BYTES_KEPT || !oldest))
			return unused;
		drop(oldest);
	}
}

static struct stretch *find_stretch(struct view_leaves *leaves, uint64_t first, uint64_t last)
{
	for (size_t i = 0; i < STRETCHES; i++) {
		struct stretch *stretch = &leaves->stretches[i];
		if (stretch->index && stretch->first <= first && stretch->last >= last)
			return stretch;
	}
	const uint64_t size = view_spans_size(leaves->spans, first, last);
	struct stretch *stretch = make_room(leaves, size);
	*stretch = (struct stretch){.first = first, .last = last, .size = size};
	if (read_stretch(leaves, stretch))
		return stretch;
	drop(stretch);
	return NULL;
}

/* Its tracks have numbers of their own. A row that it does not have has no items in these spans. */
static const struct view_row *find_row(const struct view_leaves *leaves, const struct view_index *index,
                                       const struct view_row *row)
{
	static const struct view_row none = {.kind = VIEW_SLICES};
	const struct view_track *track = &leaves->spans->owner->tracks.items[row->track];
	const uint32_t number = view_tracks_known(&index->tracks, track->kind, track->process, track->thread);
	const struct view_row *found =
	    number == VIEW_NONE ? NULL : view_index_row(index, number, row->lane, row->depth);
	return found ? found : &none;
}

bool view_leaves_find(const struct view_store *store, const struct view_row *row, uint64_t first, uint64_t last,
                      struct view_leaf *leaf)
{
	struct view_leaves *leaves = store->spans->leaves;
	if (!store->spans->ready)
		return false;
	struct stretch *stretch = find_stretch(leaves, first, last);
	if (!stretch)
		return false;
	stretch->used = ++leaves->uses;
	*leaf = (struct view_leaf){.row = find_row(leaves, stretch->index, row),
	                           .store = &stretch->index->store,
	                           .first = view_bare_first(row, store, stretch->first)};
	return true;
}

uint64_t view_leaves_wrong(const struct view_leaves *leaves)
{
	return leaves->wrong;
}

uint64_t view_leaves_bytes(const struct view_leaves *leaves)
{
	return leaves->bytes;
}

static void end(struct view_leaves *leaves)
{
	for (size_t i = 0; i < STRETCHES; i++)
		drop(&leaves->stretches[i]);
	tw_map_free(&leaves->names);
	free(leaves->rows);
	free(leaves);
}

bool view_leaves_begin(struct view_spans *spans)
{
	static const struct view_again again = {.begin = view_bare_begin,
	                                        .add = view_bare_add,
	                                        .slice = view_bare_slice,
	                                        .begin_at = view_bare_begin_at,
	                                        .free = view_bare_free,
	                                        .find = view_leaves_find,
	                                        .end = end};
	spans->again = &again;
	spans->leaves = calloc(1, sizeof *spans->leaves);
	if (spans->leaves)
		spans->leaves->spans = spans;
	return spans->leaves;
}
