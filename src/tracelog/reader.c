/* reader.c - the events of a log, in the order asked for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tracelog/log.h"
#include "tracelog/tracelog.h"

enum {
	PIECE = 1 << 18,      /* bytes of the log whose rows are sorted together */
	PIECE_ROWS = 1 << 14, /* rows after which a piece is full, too */
	WINDOW = 4 << 20,     /* bytes that lines may come late by */
	WINDOW_SHARE = 32     /* of the memory limit, for the same: rows take more than their text */
};

/* Rows of a stretch of the log. */
struct piece {
	struct tw_slab slab;
	uint64_t end; /* offset of what comes after it */
};

struct tracelog_events {
	struct tracelog_cursor cursor;
	struct tracelog_log log;
	struct tw_sorter *sorter; /* of the pieces that are held; NULL where rows are delivered as they stand */
	struct tw_slab_scratch scratch;
	struct piece *held[TW_ORDER_SLABS]; /* the oldest first */
	size_t held_count;
	struct piece *spare[TW_ORDER_SLABS]; /* to be used again */
	size_t spare_count;
	uint64_t window;  /* bytes of the log that are read ahead of the oldest piece */
	size_t delivered; /* rows of the oldest piece, where nothing is sorted */
	bool ended;
};

static struct tracelog_events *events_of(struct tw_reader *reader)
{
	return ((struct tracelog_reader *)reader->state)->events;
}

static int no_memory(struct tw_reader *reader)
{
	return tw_fail(reader, TW_ERR_MEMORY, "%s: out of memory", tw_input_name(reader->input));
}

/* ---- Lines. ---- */

static void take_line(struct tracelog_events *events)
{
	struct tracelog_log *log = &events->log;
	const struct tracelog_line *line = &events->cursor.line;
	log->at = (struct tracelog_place){line->offset, line->number};
	if (events->cursor.readable)
		tracelog_take(log, &events->cursor.record);
	else
		tracelog_lose(log, line->size);
}

/* Takes the next line. */
static int advance(struct tw_reader *reader)
{
	struct tracelog_events *events = events_of(reader);
	int status = tracelog_cursor_next(&events->cursor);
	if (status < 0)
		return status;
	if (status > 0) {
		take_line(events);
	} else {
		events->ended = true;
		tracelog_end(&events->log);
		tracelog_cursor_end(&events->cursor);
	}
	return events->log.failed ? no_memory(reader) : 0;
}

/* ---- Pieces. ---- */

static int fill(struct tw_reader *reader, struct piece *piece)
{
	struct tracelog_events *events = events_of(reader);
	uint64_t end = events->cursor.lines.next + PIECE;
	int status = 0;
	tw_slab_clear(&piece->slab);
	events->log.slab = &piece->slab;
	while (status >= 0 && !events->ended && piece->slab.count < PIECE_ROWS && events->cursor.lines.next < end)
		status = advance(reader);
	piece->end = events->cursor.lines.next;
	return status;
}

static struct piece *take_piece(struct tracelog_events *events)
{
	if (events->spare_count)
		return events->spare[--events->spare_count];
	return calloc(1, sizeof(struct piece));
}

static void free_piece(struct piece *piece)
{
	tw_slab_free(&piece->slab);
	free(piece);
}

static void keep_spare(struct tracelog_events *events, struct piece *piece)
{
	events->spare[events->spare_count++] = piece;
}

/* Names may come late as well as lines: rows wait in every order. */
static bool wants_more(const struct tracelog_events *events)
{
	if (events->ended || events->held_count == TW_ORDER_SLABS)
		return false;
	return !events->held_count || events->cursor.lines.next - events->held[0]->end < events->window;
}

static int hold(struct tw_reader *reader, struct piece *piece)
{
	struct tracelog_events *events = events_of(reader);
	if (events->sorter) {
		tw_slab_sort(&piece->slab, &events->scratch);
		tw_sorter_put(events->sorter, &piece->slab);
	}
	events->held[events->held_count++] = piece;
	return piece->slab.failed ? no_memory(reader) : 0;
}

static int fill_window(struct tw_reader *reader)
{
	struct tracelog_events *events = events_of(reader);
	int status = 0;
	while (status >= 0 && wants_more(events)) {
		struct piece *piece = take_piece(events);
		if (!piece)
			return no_memory(reader);
		status = fill(reader, piece);
		if (status >= 0 && piece->slab.count)
			status = hold(reader, piece);
		else
			keep_spare(events, piece);
	}
	return status;
}

/* ---- Reading. ---- */

/* The rows of the oldest piece as they stand, a block at a time. */
static int next_block(struct tracelog_events *events, struct tw_batch *batch)
{
	size_t from = events->delivered;
	if (!events->held_count || from == events->held[0]->slab.count)
		return 0;
	const struct tw_slab *slab = &events->held[0]->slab;
	size_t count = slab->count - from < TW_SLAB_BLOCK ? slab->count - from : TW_SLAB_BLOCK;
	*batch = (struct tw_batch){slab->events + from, count,
	                           slab->arguments ? slab->arguments + slab->bases[from / TW_SLAB_BLOCK] : NULL};
	events->delivered += count;
	return (int)count;
}

/* Takes away the oldest piece if all its rows have been delivered. */
static bool give_back(struct tracelog_events *events)
{
	bool done = events->sorter ? tw_sorter_done(events->sorter) != NULL
	                           : events->held_count && events->delivered == events->held[0]->slab.count;
	if (!done)
		return false;
	keep_spare(events, events->held[0]);
	events->held_count--;
	memmove(events->held, events->held + 1, events->held_count * sizeof(struct piece *));
	events->delivered = 0;
	return true;
}

static void tell_late(struct tw_reader *reader)
{
	struct tw_sorter *sorter = events_of(reader)->sorter;
	if (!sorter || !sorter->late)
		return;
	tw_report(reader, &tracelog_rules[TRACELOG_LATE], sorter->late_offset, sorter->late_offset, 0,
	          "%" PRIu64 " events come later than the reorder window allows to put in order, by up to %" PRIu64
	          " ns; a larger --reorder-window does.",
	          sorter->late, sorter->latest_by);
	sorter->late = 0;
}

static int next_batch(struct tw_reader *reader, struct tw_batch *batch)
{
	struct tracelog_events *events = events_of(reader);
	for (;;) {
		int count =
		    events->sorter ? tw_sorter_next(events->sorter, events->ended, batch) : next_block(events, batch);
		if (count < 0)
			return no_memory(reader);
		if (count > 0)
			return count;
		while (give_back(events))
			;
		if (events->ended && !events->held_count)
			return 0;
		int status = fill_window(reader);
		if (status < 0)
			return status;
	}
}

/* ---- The beginning and the end. ---- */

static int begin(struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	struct tracelog_events *events = calloc(1, sizeof *events);
	uint64_t most = tw_memory_limit(reader) / WINDOW_SHARE;
	bool sorted = options->order != TW_ORDER_FILE;
	((struct tracelog_reader *)reader->state)->events = events;
	if (!events)
		return no_memory(reader);
	tracelog_cursor_init(&events->cursor, reader);
	events->window = options->reorder_window ? options->reorder_window : WINDOW;
	events->window = events->window < most ? events->window : most;
	events->sorter = sorted ? calloc(1, sizeof *events->sorter) : NULL;
	bool made = !sorted || events->sorter;
	return made && tracelog_log_init(&events->log, reader, &events->cursor) ? 0 : no_memory(reader);
}

int tracelog_read(struct tw_reader *reader, struct tw_batch *batch)
{
	uint64_t *end = &reader->clock.end_ns;
	*batch = (struct tw_batch){0};
	int count = events_of(reader) ? 0 : begin(reader);
	if (count >= 0)
		count = next_batch(reader, batch);
	for (size_t i = 0; i < batch->count; i++)
		*end = batch->events[i].time > *end ? batch->events[i].time : *end;
	if (count == 0)
		tell_late(reader);
	return count;
}

void tracelog_events_free(struct tracelog_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->held_count; i++)
		free_piece(events->held[i]);
	for (size_t i = 0; i < events->spare_count; i++)
		free_piece(events->spare[i]);
	if (events->sorter)
		tw_sorter_free(events->sorter);
	free(events->sorter);
	tw_slab_scratch_free(&events->scratch);
	tracelog_log_free(&events->log);
	tracelog_cursor_free(&events->cursor);
	free(events);
}
