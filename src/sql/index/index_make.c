/* index_make.c - which bytes of a file a window of time needs: made while the survey reads the file.
 *
 * The file is divided into blocks, time into spans. Of each block it is kept which times and tracks its events have; of
 * each span, which slices are open at its start, and when the last slice that begins in it ends. A window then needs
 * - the records that give others their meaning (strings, threads, ...),
 * - the begins of the slices that are open at the start of its first span,
 * - the blocks with events from that start to the end of the last slice that begins in the window.
 *
 * Where records depend on those before them (TraceLog), the index has places in the file, each with the records before
 * it that those behind it depend on: a window needs all from such a place to its last block. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/index/index_make.h"

#include "base/memory/order.h"
#include "sql/index/index_parts.h"
#include "sql/tables/tables.h"

#include <stdlib.h>
#include <string.h>

enum {
	FIRST_SHIFT = 10, /* a span is 2^10 ns at first */
	BLOCK_SHIFT = 14, /* bytes of a block, as a power of 2; more where there would be too many */
	BLOCKS = 1 << 16,
	NEEDED = 1 << 16,     /* pieces */
	SHARE = 16,           /* of the memory limit */
	PLACE_LEAST = 1 << 18 /* bytes between two places, at least */
};

struct sql_index_maker {
	struct sql_slices slices; /* first, so that the hook of the slices can find the maker */
	struct sql_cursor cursor; /* what the slices need: a cursor over the scan */
	struct sql_index *index;
	bool started;                          /* the time of the first event is known */
	bool failed;                           /* there will be no index */
	bool in_turn;                          /* events come track by track, ... */
	uint32_t track;                        /* ... now those of this one, */
	uint64_t time;                         /* whose last event was at this time, */
	size_t reached;                        /* and what is open on it has been kept for the spans before this one */
	size_t held;                           /* how many begins are in the lists of all spans together */
	struct tw_state_outline state_outline; /* where the reader puts places, and which records are needed */
	size_t next_begin;                     /* of `begins`: the first that the outline has not passed */
};

/* ---- While events go by. ---- */

static size_t span_of(const struct sql_index *index, uint64_t time)
{
	return (size_t)((time - index->start) >> index->span_shift);
}

/* Makes one span of each two. */
static void widen(struct sql_index_maker *maker)
{
	struct sql_index *index = maker->index;
	for (size_t i = 0; i < SQL_INDEX_SPANS / 2; i++) {
		struct sql_index_span *a = &index->spans[2 * i], *b = a + 1;
		uint64_t latest = a->latest > b->latest ? a->latest : b->latest;
		maker->held -= b->count;
		free(b->open);
		index->spans[i] = (struct sql_index_span){.open = a->open, .count = a->count, .latest = latest};
	}
	memset(&index->spans[SQL_INDEX_SPANS / 2], 0, sizeof index->spans / 2);
	index->span_count = (index->span_count + 1) / 2;
	maker->reached = (maker->reached + 1) / 2;
	index->span_shift++;
}

static bool is_open(const struct sql_index_maker *maker, const struct sql_slice *slice)
{
	return slice->live && (!maker->in_turn || slice->track == maker->track);
}

/* Keeps what is open at the start of a span. */
static void keep_open(struct sql_index_maker *maker, struct sql_index_span *span)
{
	const struct sql_slices *slices = &maker->slices;
	size_t count = 0;
	for (size_t i = 0; i < slices->open.count; i++)
		count += is_open(maker, &slices->open.items[i]);
	maker->held += count;
	if (maker->held * sizeof *span->open > tw_memory_limit(maker->cursor.scan.reader) / SHARE)
		maker->failed = true;
	uint64_t *open = count && !maker->failed ? realloc(span->open, (span->count + count) * sizeof *open) : NULL;
	if (!open) {
		maker->failed |= count > 0;
		return;
	}
	span->open = open;
	for (size_t i = 0; i < slices->open.count; i++)
		if (is_open(maker, &slices->open.items[i]))
			open[span->count++] = slices->open.items[i].id;
}

/* Nothing is open before the first event of a track. */
static void begin_track(struct sql_index_maker *maker, const struct tw_event *event)
{
	maker->track = event->track;
	maker->time = event->time;
	maker->reached = span_of(maker->index, event->time) + 1;
}

static void reach(struct sql_index_maker *maker, const struct tw_event *event)
{
	struct sql_index *index = maker->index;
	while ((event->time - index->start) >> index->span_shift >= SQL_INDEX_SPANS)
		widen(maker);
	size_t now = span_of(index, event->time);
	if (maker->in_turn && event->track != maker->track)
		begin_track(maker, event);
	for (; maker->reached <= now && !maker->failed; maker->reached++)
		keep_open(maker, &index->spans[maker->reached]);
	index->span_count = now >= index->span_count ? now + 1 : index->span_count;
}

static void note_block(struct sql_index *index, const struct tw_event *event)
{
	size_t number = (size_t)(event->offset >> index->block_shift);
	if (number >= index->block_count)
		return;
	struct sql_index_block *block = &index->blocks[number];
	block->least = event->time < block->least ? event->time : block->least;
	block->most = event->time > block->most ? event->time : block->most;
	block->tracks |= sql_index_track_bit(event->track);
}

static void note_end(struct sql_slices *slices, const struct sql_slice *slice, uint64_t duration, uint64_t self,
                     enum tw_call_end how)
{
	struct sql_index *index = ((struct sql_index_maker *)slices)->index;
	uint64_t end = how == TW_CALL_OPEN ? UINT64_MAX : slice->begin + duration;
	(void)self;
	if (slice->begin < index->start || span_of(index, slice->begin) >= SQL_INDEX_SPANS)
		return;
	struct sql_index_span *span = &index->spans[span_of(index, slice->begin)];
	span->latest = end > span->latest ? end : span->latest;
}

void sql_index_take(struct sql_index_maker *maker, const struct tw_batch *batch)
{
	for (size_t i = 0; maker && i < batch->count && !maker->failed; i++) {
		const struct tw_event *event = &batch->events[i];
		if (!maker->started)
			maker->index->start = event->time;
		maker->started = true;
		bool back = maker->in_turn && event->track == maker->track && event->time < maker->time;
		if (event->time < maker->index->start || back) {
			maker->failed = true;
			return;
		}
		reach(maker, event);
		maker->time = event->time;
		note_block(maker->index, event);
		if (sql_slices_take(&maker->slices, event, NULL) < 0)
			maker->failed = true;
	}
}

/* ---- Where records are. ---- */

static bool add_needed(struct sql_index *index, uint64_t offset, uint64_t size)
{
	struct tw_piece *last = index->needed.count ? &index->needed.items[index->needed.count - 1] : NULL;
	if (last && last->offset + last->size == offset) {
		last->size += size;
		return true;
	}
	if (index->needed.count == NEEDED ||
	    !tw_grow(&index->needed.items, &index->needed.room, index->needed.count + 1, sizeof *index->needed.items))
		return false;
	index->needed.items[index->needed.count++] = (struct tw_piece){.offset = offset, .size = size};
	return true;
}

static bool put_record(void *context, uint64_t offset, uint64_t size, bool needed)
{
	struct sql_index_maker *maker = context;
	struct sql_index *index = maker->index;
	struct sql_index_block *block = &index->blocks[offset >> index->block_shift];
	if (block->first == UINT64_MAX)
		block->first = offset;
	block->last = offset;
	for (; maker->next_begin < index->begin_count && index->begins[maker->next_begin].offset - offset < size;
	     maker->next_begin++) {
		index->begins[maker->next_begin].unit = offset;
		index->begins[maker->next_begin].size = size;
	}
	if (needed && !add_needed(index, offset, size))
		maker->failed = true;
	return !maker->failed;
}

/* Leaves out every other place, and makes them twice as far apart. */
static void thin_out(struct sql_index_maker *maker)
{
	struct sql_index *index = maker->index;
	size_t kept = 0, live = 0;
	for (size_t i = 1; i < index->places.count; i += 2) {
		struct sql_index_place place = index->places.items[i];
		memmove(index->live.items + live, index->live.items + place.first,
		        place.count * sizeof *index->live.items);
		place.first = live;
		live += place.count;
		index->places.items[kept++] = place;
	}
	index->places.count = kept;
	index->live.count = live;
	maker->state_outline.interval *= 2;
}

static bool put_place(void *context, uint64_t offset, const struct tw_piece *live, size_t count)
{
	struct sql_index_maker *maker = context;
	struct sql_index *index = maker->index;
	size_t most = tw_memory_limit(maker->cursor.scan.reader) / SHARE / sizeof *live;
	while (index->places.count && (index->places.count == SQL_INDEX_PLACES || count > most - index->live.count))
		thin_out(maker);
	if (count > most || !tw_grow(&index->live.items, &index->live.room, index->live.count + count, sizeof *live) ||
	    !tw_grow(&index->places.items, &index->places.room, index->places.count + 1, sizeof *index->places.items)) {
		maker->failed = true;
		return false;
	}
	if (count)
		memcpy(index->live.items + index->live.count, live, count * sizeof *live);
	index->places.items[index->places.count++] = (struct sql_index_place){offset, index->live.count, count};
	index->live.count += count;
	return true;
}

static int begin_outline(struct sql_index_maker *maker, struct tw_reader *reader)
{
	uint64_t interval = maker->index->size / SQL_INDEX_PLACES;
	maker->state_outline = (struct tw_state_outline){
	    .context = maker,
	    .put = put_record,
	    .interval = interval > PLACE_LEAST ? interval : PLACE_LEAST,
	    .place = put_place,
	};
	return reader->format->survey.state_outline(reader, &maker->state_outline);
}

static struct sql_index *new_index(const struct tw_reader *reader)
{
	struct sql_index *index = calloc(1, sizeof *index);
	if (!index)
		return NULL;
	index->size = tw_input_size(reader->input);
	index->runs = reader->format->reading.keep != NULL;
	index->depends = reader->format->survey.state_outline != NULL;
	index->start = reader->traits.in_turn ? reader->clock.start_ns : 0;
	index->span_shift = FIRST_SHIFT;
	for (index->block_shift = BLOCK_SHIFT; index->size >> index->block_shift >= BLOCKS; index->block_shift++)
		;
	index->block_count = (size_t)(index->size >> index->block_shift) + 1;
	index->blocks = calloc(index->block_count, sizeof *index->blocks);
	for (size_t i = 0; index->blocks && i < index->block_count; i++)
		index->blocks[i] =
		    (struct sql_index_block){.first = UINT64_MAX, .last = UINT64_MAX, .least = UINT64_MAX};
	return index;
}

struct sql_index_maker *sql_index_begin(struct sql_scan *scan)
{
	struct tw_reader *reader = scan->reader;
	bool can = (reader->format->survey.outline || reader->format->survey.state_outline) &&
	           tw_input_seekable(reader->input);
	struct sql_index_maker *maker = can ? calloc(1, sizeof *maker) : NULL;
	if (!maker)
		return NULL;
	maker->index = new_index(reader);
	maker->in_turn = maker->started = reader->traits.in_turn;
	maker->track = UINT32_MAX;
	maker->cursor =
	    (struct sql_cursor){.table = &sql_table_slice, .query.ts = {INT64_MIN, INT64_MAX}, .scan = *scan};
	maker->slices.ended = note_end;
	bool fine = maker->index && maker->index->blocks && sql_slices_begin(&maker->slices, &maker->cursor) >= 0;
	if (fine && (!maker->index->depends || begin_outline(maker, reader) >= 0))
		return maker;
	sql_index_abandon(maker);
	return NULL;
}

/* ---- After the last event. ---- */

/* Puts the begins in the lists of all spans into one list, in order, each once. */
static bool collect_begins(struct sql_index_maker *maker)
{
	struct sql_index *index = maker->index;
	size_t count = 0, kept = 0;
	if (maker->held == 0)
		return true;
	index->begins = calloc(maker->held, sizeof *index->begins);
	if (!index->begins)
		return false;
	for (size_t i = 0; i < index->span_count; i++) {
		struct sql_index_span *span = &index->spans[i];
		if (span->count)
			qsort(span->open, span->count, sizeof *span->open, tw_compare_u64);
		for (size_t k = 0; k < span->count; k++)
			index->begins[count++].offset = span->open[k];
	}
	qsort(index->begins, count, sizeof *index->begins, sql_index_compare_begins);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || index->begins[i].offset != index->begins[kept - 1].offset)
			index->begins[kept++] = index->begins[i];
	index->begin_count = kept;
	return true;
}

/* What is open at the start of a span begins in what is needed in any case. */
static bool place_begins(struct sql_index *index)
{
	size_t k = 0;
	for (size_t i = 0; i < index->begin_count; i++) {
		struct sql_index_begin *begin = &index->begins[i];
		while (k < index->needed.count &&
		       index->needed.items[k].offset + index->needed.items[k].size <= begin->offset)
			k++;
		if (k == index->needed.count || index->needed.items[k].offset > begin->offset)
			return false;
		begin->unit = begin->offset;
		begin->size = 1;
	}
	return true;
}

static bool outline(struct sql_index_maker *maker)
{
	struct sql_scan *scan = &maker->cursor.scan;
	struct tw_reader *reader = NULL;
	struct tw_read_options options = scan->session->options;
	if (maker->index->depends)
		return maker->state_outline.complete && place_begins(maker->index);
	options.format = tw_reader_format(scan->reader);
	options.on_finding = NULL;
	int status = tw_open(&reader, scan->session->files[scan->file].path, &options);
	if (status >= 0)
		status = reader->format->survey.outline(reader, put_record, maker);
	tw_close(reader);
	return status >= 0;
}

static bool has_all_sizes(const struct sql_index *index)
{
	for (size_t i = 0; i < index->begin_count; i++)
		if (!index->begins[i].size)
			return false;
	return true;
}

struct sql_index *sql_index_finish(struct sql_index_maker *maker, const struct sql_survey *survey)
{
	if (!maker)
		return NULL;
	struct sql_index *index = maker->index;
	const struct tw_reader *reader = maker->cursor.scan.reader;
	bool ordered = maker->in_turn || survey->late_ns == 0;
	bool fine = !maker->failed && maker->started && ordered && survey->start_ns == index->start &&
	            tw_reader_findings(reader, TW_ERROR) == 0 && sql_slices_finish(&maker->slices) == 0;
	index->overlaps = maker->slices.calls.counts.overlaps > 0;
	fine = fine && collect_begins(maker) && outline(maker) && !maker->failed && has_all_sizes(index);
	maker->index = fine ? NULL : index;
	sql_index_abandon(maker);
	return fine ? index : NULL;
}

void sql_index_abandon(struct sql_index_maker *maker)
{
	if (!maker)
		return;
	sql_slices_free(&maker->slices);
	sql_index_free(maker->index);
	free(maker);
}
