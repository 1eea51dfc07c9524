/* index.c - which bytes of a file a window of time needs.
 *
 * The file is parted into blocks, of which the times and threads are kept, and time into spans, of which it is kept
 * what is open at the start of each, and when the last slice that begins in it ends. So a window needs: the records
 * that others mean nothing without; the begins of what is open when its first span starts; the blocks with times from
 * there to where the last of its slices ends.
 *
 * Where records depend on those before them, there are places in the file, of which it is kept what they depend on: a
 * window needs all from such a place to its last block. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "core/format.h"
#include "sql/tables.h"
#include "sql/words.h"

enum {
	SPANS = 1024,
	FIRST_SHIFT = 10, /* a span is 2^10 ns at first */
	BLOCK_SHIFT = 14, /* bytes of a block, as a power of 2; more where there would be too many */
	BLOCKS = 1 << 16,
	NEEDED = 1 << 16,      /* pieces */
	SHARE = 16,            /* of the memory limit */
	PLACES = 512,          /* at most */
	PLACE_LEAST = 1 << 18, /* bytes between two, at least */
	TRACK_BITS = 64        /* tracks beyond share the last */
};

struct block {
	uint64_t first, last; /* offset of the first and the last unit that begins in it; UINT64_MAX: none does */
	uint64_t least, most; /* times of its events; least is larger where there is none */
	uint64_t tracks;      /* bits */
};

/* A slice's begin, and the unit that it is in. */
struct begin {
	uint64_t offset, unit, size;
};

/* A place in the file, and what of the records before it those behind it depend on. */
struct place {
	uint64_t offset;
	size_t first, count; /* of sql_index.live */
};

struct span {
	uint64_t *open; /* offsets of the begins of what is open at its start */
	size_t count;
	uint64_t latest; /* end of a slice that begins in it; UINT64_MAX: never */
};

struct sql_index {
	struct sql_slices slices; /* first: its hook gets it */
	struct sql_cursor cursor; /* what they need */
	uint64_t start, size;
	bool started, failed; /* failed: there will be none */
	bool runs;            /* units are runs of records; otherwise each is one */
	bool depends;         /* records depend on those before them */
	bool in_turn;         /* events come track by track: */
	uint32_t track;       /* the one that they are of now */
	uint64_t time;        /* of its last event */
	size_t reached;       /* what was open has been kept for its spans before this one */
	unsigned span_shift, block_shift;
	size_t span_count; /* begun */
	struct span spans[SPANS];
	size_t held; /* begins in all spans */
	struct block *blocks;
	size_t block_count;
	struct begin *begins; /* in order, each once */
	size_t begin_count;
	struct tw_piece *needed;
	size_t needed_count, needed_room;
	struct place *places; /* in order */
	size_t place_count, place_room;
	struct tw_piece *live; /* of all of them */
	size_t live_count, live_room;
	struct tw_state_outline told; /* that asks for all this */
	size_t next_begin;            /* while the outline is told */
};

/* ---- While events go by. ---- */

static size_t span_of(const struct sql_index *index, uint64_t time)
{
	return (size_t)((time - index->start) >> index->span_shift);
}

/* Makes one span of each two. */
static void widen(struct sql_index *index)
{
	for (size_t i = 0; i < SPANS / 2; i++) {
		struct span *a = &index->spans[2 * i], *b = a + 1;
		uint64_t latest = a->latest > b->latest ? a->latest : b->latest;
		index->held -= b->count;
		free(b->open);
		index->spans[i] = (struct span){.open = a->open, .count = a->count, .latest = latest};
	}
	memset(&index->spans[SPANS / 2], 0, sizeof index->spans / 2);
	index->span_count = (index->span_count + 1) / 2;
	index->reached = (index->reached + 1) / 2;
	index->span_shift++;
}

static bool is_open(const struct sql_index *index, const struct sql_slice *slice)
{
	return slice->live && (!index->in_turn || slice->track == index->track);
}

/* Keeps what is open at the start of a span. */
static void keep_open(struct sql_index *index, struct span *span)
{
	const struct sql_slices *slices = &index->slices;
	size_t count = 0;
	for (size_t i = 0; i < slices->open_count; i++)
		count += is_open(index, &slices->open[i]);
	index->held += count;
	if (index->held * sizeof *span->open > tw_memory_limit(index->cursor.scan.reader) / SHARE)
		index->failed = true;
	uint64_t *open = count && !index->failed ? realloc(span->open, (span->count + count) * sizeof *open) : NULL;
	if (!open) {
		index->failed |= count > 0;
		return;
	}
	span->open = open;
	for (size_t i = 0; i < slices->open_count; i++)
		if (is_open(index, &slices->open[i]))
			open[span->count++] = slices->open[i].id;
}

/* Nothing is open before the first event of a track. */
static void begin_track(struct sql_index *index, const struct tw_event *event)
{
	index->track = event->track;
	index->time = event->time;
	index->reached = span_of(index, event->time) + 1;
}

static void reach(struct sql_index *index, const struct tw_event *event)
{
	while ((event->time - index->start) >> index->span_shift >= SPANS)
		widen(index);
	size_t now = span_of(index, event->time);
	if (index->in_turn && event->track != index->track)
		begin_track(index, event);
	for (; index->reached <= now && !index->failed; index->reached++)
		keep_open(index, &index->spans[index->reached]);
	index->span_count = now >= index->span_count ? now + 1 : index->span_count;
}

static void note_block(struct sql_index *index, const struct tw_event *event)
{
	size_t number = (size_t)(event->offset >> index->block_shift);
	if (number >= index->block_count)
		return;
	struct block *block = &index->blocks[number];
	uint32_t bit = event->track < TRACK_BITS ? event->track : TRACK_BITS - 1;
	block->least = event->time < block->least ? event->time : block->least;
	block->most = event->time > block->most ? event->time : block->most;
	block->tracks |= UINT64_C(1) << bit;
}

static void note_end(struct sql_slices *slices, const struct sql_slice *slice, uint64_t duration, uint64_t self,
                     enum tw_call_end how)
{
	struct sql_index *index = (struct sql_index *)slices;
	uint64_t end = how == TW_CALL_OPEN ? UINT64_MAX : slice->begin + duration;
	(void)self;
	if (slice->begin < index->start || span_of(index, slice->begin) >= SPANS)
		return;
	struct span *span = &index->spans[span_of(index, slice->begin)];
	span->latest = end > span->latest ? end : span->latest;
}

void sql_index_take(struct sql_index *index, const struct tw_batch *batch)
{
	for (size_t i = 0; i < batch->count && !index->failed; i++) {
		const struct tw_event *event = &batch->events[i];
		if (!index->started)
			index->start = event->time;
		index->started = true;
		bool back = index->in_turn && event->track == index->track && event->time < index->time;
		if (event->time < index->start || back) {
			index->failed = true;
			return;
		}
		reach(index, event);
		index->time = event->time;
		note_block(index, event);
		if (sql_slices_take(&index->slices, event, NULL) < 0)
			index->failed = true;
	}
}

/* ---- Where records are. ---- */

static bool add_needed(struct sql_index *index, uint64_t offset, uint64_t size)
{
	struct tw_piece *last = index->needed_count ? &index->needed[index->needed_count - 1] : NULL;
	if (last && last->offset + last->size == offset) {
		last->size += size;
		return true;
	}
	if (index->needed_count == NEEDED ||
	    !tw_grow(&index->needed, &index->needed_room, index->needed_count + 1, sizeof *index->needed))
		return false;
	index->needed[index->needed_count++] = (struct tw_piece){.offset = offset, .size = size};
	return true;
}

static bool put_record(void *context, uint64_t offset, uint64_t size, bool needed)
{
	struct sql_index *index = context;
	struct block *block = &index->blocks[offset >> index->block_shift];
	if (block->first == UINT64_MAX)
		block->first = offset;
	block->last = offset;
	for (; index->next_begin < index->begin_count && index->begins[index->next_begin].offset - offset < size;
	     index->next_begin++) {
		index->begins[index->next_begin].unit = offset;
		index->begins[index->next_begin].size = size;
	}
	if (needed && !add_needed(index, offset, size))
		index->failed = true;
	return !index->failed;
}

/* Leaves out every other place, and makes them twice as far apart. */
static void thin_out(struct sql_index *index)
{
	size_t kept = 0, live = 0;
	for (size_t i = 1; i < index->place_count; i += 2) {
		struct place place = index->places[i];
		memmove(index->live + live, index->live + place.first, place.count * sizeof *index->live);
		place.first = live;
		live += place.count;
		index->places[kept++] = place;
	}
	index->place_count = kept;
	index->live_count = live;
	index->told.interval *= 2;
}

static bool put_place(void *context, uint64_t offset, const struct tw_piece *live, size_t count)
{
	struct sql_index *index = context;
	size_t most = tw_memory_limit(index->cursor.scan.reader) / SHARE / sizeof *live;
	while (index->place_count && (index->place_count == PLACES || count > most - index->live_count))
		thin_out(index);
	if (count > most || !tw_grow(&index->live, &index->live_room, index->live_count + count, sizeof *live) ||
	    !tw_grow(&index->places, &index->place_room, index->place_count + 1, sizeof *index->places)) {
		index->failed = true;
		return false;
	}
	if (count)
		memcpy(index->live + index->live_count, live, count * sizeof *live);
	index->places[index->place_count++] = (struct place){offset, index->live_count, count};
	index->live_count += count;
	return true;
}

static int begin_outline(struct sql_index *index, struct tw_reader *reader)
{
	uint64_t interval = index->size / PLACES;
	index->told = (struct tw_state_outline){
	    .context = index,
	    .put = put_record,
	    .interval = interval > PLACE_LEAST ? interval : PLACE_LEAST,
	    .place = put_place,
	};
	return reader->format->state_outline(reader, &index->told);
}

struct sql_index *sql_index_new(struct sql_scan *scan)
{
	const struct tw_reader *reader = scan->reader;
	bool can = (reader->format->outline || reader->format->state_outline) && tw_input_seekable(reader->input);
	struct sql_index *index = can ? calloc(1, sizeof *index) : NULL;
	if (!index)
		return NULL;
	index->size = tw_input_size(reader->input);
	index->runs = reader->format->keep != NULL;
	index->depends = reader->format->state_outline != NULL;
	index->in_turn = index->started = reader->in_turn;
	index->start = index->in_turn ? reader->clock.start_ns : 0;
	index->track = UINT32_MAX;
	index->span_shift = FIRST_SHIFT;
	for (index->block_shift = BLOCK_SHIFT; index->size >> index->block_shift >= BLOCKS; index->block_shift++)
		;
	index->block_count = (size_t)(index->size >> index->block_shift) + 1;
	index->blocks = calloc(index->block_count, sizeof *index->blocks);
	index->cursor = (struct sql_cursor){.table = &sql_table_slice, .ts = {INT64_MIN, INT64_MAX}, .scan = *scan};
	index->slices.ended = note_end;
	bool fine = index->blocks && sql_slices_begin(&index->slices, &index->cursor) >= 0;
	if (!fine || (reader->format->state_outline && begin_outline(index, scan->reader) < 0)) {
		sql_index_free(index);
		return NULL;
	}
	for (size_t i = 0; i < index->block_count; i++)
		index->blocks[i] = (struct block){.first = UINT64_MAX, .last = UINT64_MAX, .least = UINT64_MAX};
	return index;
}

/* ---- After the last event. ---- */

static int compare(const void *left, const void *right)
{
	const struct begin *a = left, *b = right;
	return tw_compare(a->offset, b->offset);
}

/* All begins that are in a span, each once. */
static bool gather_begins(struct sql_index *index)
{
	size_t count = 0, kept = 0;
	if (index->held == 0)
		return true;
	index->begins = calloc(index->held, sizeof *index->begins);
	if (!index->begins)
		return false;
	for (size_t i = 0; i < index->span_count; i++) {
		struct span *span = &index->spans[i];
		if (span->count)
			qsort(span->open, span->count, sizeof *span->open, tw_compare_u64);
		for (size_t k = 0; k < span->count; k++)
			index->begins[count++].offset = span->open[k];
	}
	qsort(index->begins, count, sizeof *index->begins, compare);
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
		struct begin *begin = &index->begins[i];
		while (k < index->needed_count && index->needed[k].offset + index->needed[k].size <= begin->offset)
			k++;
		if (k == index->needed_count || index->needed[k].offset > begin->offset)
			return false;
		begin->unit = begin->offset;
		begin->size = 1;
	}
	return true;
}

static bool outline(struct sql_index *index)
{
	struct sql_scan *scan = &index->cursor.scan;
	struct tw_reader *reader = NULL;
	struct tw_read_options options = scan->session->options;
	if (index->depends)
		return index->told.complete && place_begins(index);
	options.format = tw_reader_format(scan->reader);
	options.on_finding = NULL;
	int status = tw_open(&reader, scan->session->files[scan->file].path, &options);
	if (status >= 0)
		status = reader->format->outline(reader, put_record, index);
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

bool sql_index_finish(struct sql_index *index, const struct sql_survey *survey)
{
	const struct tw_reader *reader = index->cursor.scan.reader;
	bool ordered = index->in_turn || survey->late_ns == 0;
	bool fine = !index->failed && index->started && ordered && survey->start_ns == index->start &&
	            tw_reader_findings(reader, TW_ERROR) == 0 && sql_slices_finish(&index->slices) == 0;
	fine = fine && gather_begins(index) && outline(index) && !index->failed && has_all_sizes(index);
	sql_slices_free(&index->slices);
	return fine;
}

/* ---- The pieces of a window. ---- */

/* Pieces that may overlap, in any order. */
struct list {
	struct tw_piece *items;
	size_t count, room;
	bool failed;
};

static void add(struct list *list, uint64_t offset, uint64_t size)
{
	if (!tw_grow(&list->items, &list->room, list->count + 1, sizeof *list->items)) {
		list->failed = true;
		return;
	}
	list->items[list->count++] = (struct tw_piece){.offset = offset, .size = size};
}

static int compare_pieces(const void *left, const void *right)
{
	const struct tw_piece *a = left, *b = right;
	return tw_compare(a->offset, b->offset);
}

/* Makes one of those that touch; returns how many bytes they are. */
static uint64_t merge(struct list *list)
{
	size_t kept = 0;
	uint64_t place = 0;
	qsort(list->items, list->count, sizeof *list->items, compare_pieces);
	for (size_t i = 0; i < list->count; i++) {
		struct tw_piece *last = kept ? &list->items[kept - 1] : NULL, *piece = &list->items[i];
		uint64_t end = piece->offset + piece->size;
		if (last && piece->offset <= last->offset + last->size) {
			if (end > last->offset + last->size)
				last->size = end - last->offset;
			continue;
		}
		list->items[kept++] = *piece;
	}
	for (size_t i = 0; i < kept; i++) {
		list->items[i].place = place;
		place += list->items[i].size;
	}
	list->count = kept;
	return place;
}

static void add_open(const struct sql_index *index, struct list *list, const struct span *span)
{
	for (size_t i = 0; i < span->count; i++) {
		const struct begin key = {.offset = span->open[i]};
		const struct begin *begin = bsearch(&key, index->begins, index->begin_count, sizeof key, compare);
		add(list, begin->unit, begin->size);
	}
}

/* Where the records end that begin in a block: where those of a later one begin. */
static uint64_t end_of(const struct sql_index *index, size_t number)
{
	for (size_t i = number + 1; i < index->block_count; i++)
		if (index->blocks[i].first != UINT64_MAX)
			return index->blocks[i].first;
	return index->size;
}

/* Where the unit begins that the first bytes of a block are of. */
static uint64_t start_of(const struct sql_index *index, size_t number)
{
	const struct block *block = &index->blocks[number];
	if (!index->runs || block->first == (uint64_t)number << index->block_shift)
		return block->first;
	for (size_t i = number; i-- > 0;)
		if (index->blocks[i].last != UINT64_MAX)
			return index->blocks[i].last;
	return block->first;
}

static void add_blocks(const struct sql_index *index, struct list *list, uint64_t from, uint64_t to, uint32_t track)
{
	uint64_t bit = track ? UINT64_C(1) << (track < TRACK_BITS ? track : TRACK_BITS - 1) : UINT64_MAX;
	for (size_t i = 0; i < index->block_count; i++) {
		const struct block *block = &index->blocks[i];
		bool wanted =
		    block->least <= to && block->most >= from && block->least <= block->most && block->tracks & bit;
		uint64_t start = wanted ? start_of(index, i) : UINT64_MAX;
		if (start != UINT64_MAX)
			add(list, start, end_of(index, i) - start);
	}
}

static const struct place *place_before(const struct sql_index *index, uint64_t offset)
{
	size_t count = tw_count_up_to(index->places, index->place_count, TW_KEY(struct place, offset), offset);
	return count ? &index->places[count - 1] : NULL;
}

/* All from a place before the first block of a window to its last block, and what the place depends on. */
static void add_stretch(const struct sql_index *index, struct list *list, uint64_t from, uint64_t to)
{
	uint64_t first = UINT64_MAX, end = 0;
	for (size_t i = 0; i < index->block_count; i++) {
		const struct block *block = &index->blocks[i];
		if (block->least > to || block->most < from || block->least > block->most || block->first == UINT64_MAX)
			continue;
		first = first == UINT64_MAX ? block->first : first;
		end = end_of(index, i);
	}
	if (first >= end)
		return;
	const struct place *place = place_before(index, first);
	for (size_t i = 0; place && i < place->count; i++)
		add(list, index->live[place->first + i].offset, index->live[place->first + i].size);
	first = place ? place->offset : 0;
	add(list, first, end - first);
}

void sql_index_view(const struct sql_index *index, uint64_t low, uint64_t high, uint32_t track, struct sql_view *view)
{
	struct list list = {0};
	uint64_t to = high > UINT64_MAX - index->start ? UINT64_MAX : index->start + high;
	if (low >> index->span_shift >= index->span_count)
		return;
	size_t first = (size_t)(low >> index->span_shift);
	uint64_t from = index->start + ((uint64_t)first << index->span_shift);
	for (size_t i = first; i <= high >> index->span_shift && i < index->span_count; i++)
		to = index->spans[i].latest > to ? index->spans[i].latest : to;
	for (size_t i = 0; i < index->needed_count; i++)
		add(&list, index->needed[i].offset, index->needed[i].size);
	add_open(index, &list, &index->spans[first]);
	if (index->depends)
		add_stretch(index, &list, from, to);
	else
		add_blocks(index, &list, from, to, track);
	if (list.failed || list.count == 0 || merge(&list) > index->size / 4 * 3) {
		free(list.items);
		return;
	}
	*view = (struct sql_view){
	    .pieces = list.items,
	    .piece_count = list.count,
	    .in_place = index->runs,
	    .from = from,
	    .to = to,
	    .open = index->spans[first].open,
	    .open_count = index->spans[first].count,
	};
}

/* ---- To a file and back. ---- */

static void put_spans(struct tw_output *out, const struct sql_index *index)
{
	sql_put_word(out, index->span_shift);
	sql_put_word(out, index->span_count);
	for (size_t i = 0; i < index->span_count; i++) {
		sql_put_word(out, index->spans[i].latest);
		sql_put_word(out, index->spans[i].count);
		for (size_t k = 0; k < index->spans[i].count; k++)
			sql_put_word(out, index->spans[i].open[k]);
	}
}

static void put_places(struct tw_output *out, const struct sql_index *index)
{
	sql_put_word(out, index->place_count);
	for (size_t i = 0; i < index->place_count; i++) {
		const struct place *place = &index->places[i];
		sql_put_word(out, place->offset);
		sql_put_word(out, place->count);
		for (size_t k = 0; k < place->count; k++) {
			sql_put_word(out, index->live[place->first + k].offset);
			sql_put_word(out, index->live[place->first + k].size);
		}
	}
}

void sql_index_put(struct tw_output *out, const struct sql_index *index)
{
	sql_put_word(out, index != NULL);
	if (!index)
		return;
	sql_put_word(out, index->size);
	put_spans(out, index);
	sql_put_word(out, index->block_shift);
	sql_put_word(out, index->block_count);
	for (size_t i = 0; i < index->block_count; i++) {
		const struct block *block = &index->blocks[i];
		sql_put_word(out, block->first);
		sql_put_word(out, block->last);
		sql_put_word(out, block->least);
		sql_put_word(out, block->most);
		sql_put_word(out, block->tracks);
	}
	sql_put_word(out, index->begin_count);
	for (size_t i = 0; i < index->begin_count; i++) {
		sql_put_word(out, index->begins[i].offset);
		sql_put_word(out, index->begins[i].unit);
		sql_put_word(out, index->begins[i].size);
	}
	sql_put_word(out, index->needed_count);
	for (size_t i = 0; i < index->needed_count; i++) {
		sql_put_word(out, index->needed[i].offset);
		sql_put_word(out, index->needed[i].size);
	}
	put_places(out, index);
}

/* Bytes of the file: they must be there. */
static struct begin take_bytes(struct sql_words *words, const struct sql_index *index)
{
	struct begin bytes = {.unit = sql_take_below(words, index->size)};
	bytes.size = sql_take_below(words, index->size - bytes.unit + 1);
	words->failed = words->failed || bytes.size == 0;
	return bytes;
}

static void take_spans(struct sql_words *words, struct sql_index *index)
{
	index->span_shift = (unsigned)sql_take_below(words, 64);
	index->span_count = (size_t)sql_take_below(words, SPANS + 1);
	for (size_t i = 0; i < index->span_count && !words->failed; i++) {
		struct span *span = &index->spans[i];
		span->latest = sql_take_word(words);
		size_t count = sql_take_count(words, 1);
		span->open = count ? calloc(count, sizeof *span->open) : NULL;
		words->failed = words->failed || (count && !span->open);
		for (; span->count < count && !words->failed; span->count++)
			span->open[span->count] = sql_take_word(words);
	}
}

static void take_blocks(struct sql_words *words, struct sql_index *index)
{
	index->block_shift = (unsigned)sql_take_below(words, 64);
	index->block_count = sql_take_count(words, 5);
	index->blocks = calloc(index->block_count + 1, sizeof *index->blocks);
	words->failed = words->failed || !index->blocks;
	uint64_t before = 0;
	for (size_t i = 0; i < index->block_count && !words->failed; i++) {
		struct block *block = &index->blocks[i];
		block->first = sql_take_word(words);
		block->last = sql_take_word(words);
		block->least = sql_take_word(words);
		block->most = sql_take_word(words);
		block->tracks = sql_take_word(words);
		if (block->first == UINT64_MAX)
			continue;
		words->failed =
		    block->first > block->last || block->last >= index->size || (i && block->first < before);
		before = block->last;
	}
}

static void take_pieces(struct sql_words *words, struct sql_index *index)
{
	index->begin_count = sql_take_count(words, 3);
	index->begins = calloc(index->begin_count + 1, sizeof *index->begins);
	words->failed = words->failed || !index->begins;
	for (size_t i = 0; i < index->begin_count && !words->failed; i++) {
		uint64_t offset = sql_take_below(words, index->size);
		index->begins[i] = take_bytes(words, index);
		index->begins[i].offset = offset;
	}
	index->needed_count = sql_take_count(words, 2);
	index->needed = calloc(index->needed_count + 1, sizeof *index->needed);
	words->failed = words->failed || !index->needed;
	for (size_t i = 0; i < index->needed_count && !words->failed; i++) {
		struct begin bytes = take_bytes(words, index);
		index->needed[i] = (struct tw_piece){.offset = bytes.unit, .size = bytes.size};
	}
}

static void take_live(struct sql_words *words, struct sql_index *index, struct place *place)
{
	size_t count = sql_take_count(words, 2);
	place->first = index->live_count;
	if (!tw_grow(&index->live, &index->live_room, index->live_count + count, sizeof *index->live))
		words->failed = true;
	for (; place->count < count && !words->failed; place->count++) {
		struct begin bytes = take_bytes(words, index);
		index->live[index->live_count++] = (struct tw_piece){.offset = bytes.unit, .size = bytes.size};
	}
}

static void take_places(struct sql_words *words, struct sql_index *index)
{
	uint64_t before = 0;
	size_t count = (size_t)sql_take_below(words, PLACES + 1);
	words->failed = words->failed || !tw_grow(&index->places, &index->place_room, count + 1, sizeof *index->places);
	for (; index->place_count < count && !words->failed; index->place_count++) {
		struct place *place = &index->places[index->place_count];
		*place = (struct place){.offset = sql_take_below(words, index->size + 1)};
		words->failed = words->failed || place->offset < before;
		before = place->offset;
		take_live(words, index, place);
	}
}

/* A span may only speak of begins that are known. */
static bool knows_all_open(const struct sql_index *index)
{
	for (size_t i = 0; i < index->span_count; i++)
		for (size_t k = 0; k < index->spans[i].count; k++) {
			const struct begin key = {.offset = index->spans[i].open[k]};
			if (!bsearch(&key, index->begins, index->begin_count, sizeof key, compare))
				return false;
		}
	return true;
}

struct sql_index *sql_index_get(struct sql_words *words, const struct sql_survey *survey)
{
	if (!sql_take_below(words, 2))
		return NULL;
	struct sql_index *index = calloc(1, sizeof *index);
	if (!index) {
		words->failed = true;
		return NULL;
	}
	index->start = survey->start_ns;
	index->size = sql_take_word(words);
	words->failed = words->failed || index->size != survey->bytes;
	index->runs = sql_format_named(survey->format)->keep != NULL;
	index->depends = sql_format_named(survey->format)->state_outline != NULL;
	take_spans(words, index);
	take_blocks(words, index);
	take_pieces(words, index);
	take_places(words, index);
	if (!words->failed && knows_all_open(index))
		return index;
	words->failed = true;
	sql_index_free(index);
	return NULL;
}

void sql_index_free(struct sql_index *index)
{
	if (!index)
		return;
	sql_slices_free(&index->slices);
	for (size_t i = 0; i < SPANS; i++)
		free(index->spans[i].open);
	free(index->live);
	free(index->places);
	free(index->blocks);
	free(index->begins);
	free(index->needed);
	free(index);
}
