/* reader.c - the events of Chrome's trace event JSON in the order asked for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome/chrome.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECE_ROWS = 1 << 15, /* a piece is full with so many rows, too */
	PIECE_ARGUMENTS = 1 << 16,
	WINDOW_SHARE =
	    32 /* of the memory limit, for the input of the pieces that are held: rows take more than their text */
};

/* ---- Pieces. ---- */

/* The first rows are complete: where there are times below 0 and nothing tells when the clock began, the earliest of
 * them is the beginning. */
static void settle(struct chrome_state *state, struct tw_slab *slab)
{
	if (state->times.begun)
		return;
	state->times.begun = true;
	if (state->stream.has_start || state->times.earliest >= 0)
		return;
	state->times.base = -(uint64_t)state->times.earliest;
	for (size_t i = 0; i < slab->count; i++)
		slab->events[i].time += state->times.base;
	state->times.last += state->times.base;
}

/* The document has been read: what waited for its end, and its samples. */
bool chrome_end_document(struct tw_reader *reader, struct chrome_piece *piece)
{
	struct chrome_item item;
	size_t at = 0;
	bool fine = true;
	while (fine && chrome_next_kept(reader->state, &at, &item))
		fine = chrome_take(reader, piece, &item, true) >= 0;
	return fine && chrome_end_profiles(reader, piece) >= 0;
}

/* Fills a piece until it has `rows`, or `bytes` of the input. */
static int fill(struct tw_reader *reader, struct chrome_piece *piece, size_t rows, uint64_t bytes)
{
	struct chrome_state *state = reader->state;
	struct chrome_stream *stream = &state->stream;
	const struct tw_slab *slab = &piece->slab;
	uint64_t end = stream->at + bytes;
	chrome_piece_clear(piece);
	if (!chrome_mark(stream))
		return tw_fail_memory(reader);
	while (!state->order.ended && slab->count < rows && slab->argument_count < PIECE_ARGUMENTS &&
	       stream->at < end) {
		struct chrome_item item;
		int status = chrome_next(stream, &item);
		state->order.ended = status == 0;
		bool fine = status > 0    ? chrome_take(reader, piece, &item, false) >= 0
		            : status == 0 ? chrome_end_document(reader, piece)
		                          : true;
		if (!fine)
			status = tw_fail_memory(reader);
		if (status < 0)
			return status;
	}
	if (slab->count)
		settle(state, &piece->slab);
	return 0;
}

static struct chrome_piece *take_piece(struct chrome_state *state)
{
	struct chrome_piece *piece = state->order.free_pieces;
	if (!piece)
		return calloc(1, sizeof *piece);
	state->order.free_pieces = piece->next;
	return piece;
}

static void give_piece(struct chrome_state *state, struct chrome_piece *piece)
{
	piece->next = state->order.free_pieces;
	state->order.free_pieces = piece;
}

/* Whether rows may still come that belong before those of the oldest piece. */
static bool wants_more(const struct chrome_state *state)
{
	const struct tw_sorter *sorter = state->order.sorter;
	if (state->order.ended || !tw_sorter_has_room(sorter))
		return false;
	if (sorter->count == 0)
		return true;
	const struct tw_slab *oldest = sorter->queues[sorter->oldest % TW_ORDER_SLABS].slab;
	return state->stream.at - ((const struct chrome_piece *)oldest)->end < state->order.window;
}

static int fill_window(struct tw_reader *reader)
{
	struct chrome_state *state = reader->state;
	while (wants_more(state)) {
		struct chrome_piece *piece = take_piece(state);
		if (!piece)
			return tw_fail_memory(reader);
		int status = fill(reader, piece, PIECE_ROWS, CHROME_PIECE);
		if (status < 0 || !piece->slab.count) {
			give_piece(state, piece);
			if (status < 0)
				return status;
			continue;
		}
		piece->end = state->stream.at;
		tw_slab_sort(&piece->slab, &state->order.scratch);
		tw_sorter_put(state->order.sorter, &piece->slab);
		if (piece->slab.failed)
			return tw_fail_memory(reader);
	}
	return 0;
}

/* ---- Reading. ---- */

/* Where nobody has looked ahead: whether events of a track come behind later ones of it. */
static void note_tracks(struct tw_reader *reader, const struct tw_batch *batch)
{
	struct chrome_state *state = reader->state;
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		if (event->kind > TW_SLICE_COMPLETE)
			continue;
		struct chrome_track_info *track = &state->tracks[event->track];
		reader->traits.disordered += event->time < track->latest;
		track->latest = event->time > track->latest ? event->time : track->latest;
	}
}

static int read_sorted(struct tw_reader *reader, struct tw_batch *batch)
{
	struct chrome_state *state = reader->state;
	state->order.sorter->room = reader->help.room;
	for (;;) {
		int count = tw_sorter_next(state->order.sorter, state->order.ended, batch);
		if (count < 0)
			return tw_fail_memory(reader);
		if (count > 0)
			return count;
		const struct tw_slab *done;
		while ((done = tw_sorter_done(state->order.sorter)))
			give_piece(state, (struct chrome_piece *)(uintptr_t)done);
		if (state->order.ended && !state->order.sorter->count)
			return 0;
		int status = fill_window(reader);
		if (status < 0)
			return status;
	}
}

/* Reads events as they stand in the file, a block of rows at a time. */
static int read_plain(struct tw_reader *reader, struct tw_batch *batch)
{
	struct chrome_state *state = reader->state;
	struct tw_slab *slab = &state->order.current->slab;
	do {
		int status = fill(reader, state->order.current, TW_SLAB_BLOCK, CHROME_PIECE);
		if (status < 0)
			return status;
	} while (!slab->count && !state->order.ended);
	*batch = (struct tw_batch){slab->events, slab->count, slab->arguments};
	return (int)slab->count;
}

/* The clock in a file of Trackway's own writer; an event may be before its start. */
static void take_own_clock(struct tw_reader *reader)
{
	const struct chrome_state *state = reader->state;
	const struct chrome_stream *stream = &state->stream;
	struct tw_clock *clock = &reader->clock;
	if (!stream->has_start)
		return;
	const bool early = state->times.looked && state->times.earliest < 0;
	const uint64_t before = early ? -(uint64_t)state->times.earliest : 0;
	clock->start_ns = before < stream->start_ns ? stream->start_ns - before : 0;
	clock->has_wall = stream->wall_ns > 0 && stream->wall_ns <= INT64_MAX && stream->start_ns <= INT64_MAX;
	clock->wall_ns = clock->has_wall ? (int64_t)stream->wall_ns - (int64_t)stream->start_ns : 0;
}

/* Where a trace begins whose first row has this time: it may be with an event of a thread that is left out. UINT64_MAX:
 * there is no row. */
static uint64_t first_time(const struct chrome_state *state, uint64_t row)
{
	uint64_t event = state->times.timed ? state->times.base + (uint64_t)state->times.earliest : UINT64_MAX;
	return row == UINT64_MAX ? 0 : event < row ? event : row;
}

/* What has been read tells where the trace begins, as far as that is known. */
static void note_times(struct tw_reader *reader, const struct tw_batch *batch)
{
	struct tw_clock *clock = &reader->clock;
	struct chrome_state *state = reader->state;
	bool early = !state->order.sorter && !state->stream.has_start;
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t time = batch->events[i].time, end = tw_event_end(&batch->events[i]);
		reader->traits.reach_ns = end > reader->traits.reach_ns ? end : reader->traits.reach_ns;
		clock->end_ns = time > clock->end_ns ? time : clock->end_ns;
		if (early && (time < clock->start_ns || !state->times.started))
			clock->start_ns = first_time(state, time);
		state->times.started = true;
	}
	if (state->times.sampled_until > clock->end_ns)
		clock->end_ns = state->times.sampled_until;
	take_own_clock(reader);
}

/* Tells of slices that overlap, once for each thread. Returns 0 or a negative status. */
static void check_overlap(struct tw_reader *reader, const struct tw_event *event, bool *failed)
{
	struct chrome_state *state = reader->state;
	const bool ends = event->kind == TW_SLICE_END;
	const uint64_t beyond =
	    ends ? tw_overlaps_end(&state->overlaps, event->track, event->name, event->time, failed)
		 : tw_overlaps_take(&state->overlaps, event->track, event->time, tw_event_end(event), failed);
	if (beyond)
		tw_report_in_line(reader, &chrome_rules[CHROME_SLICES_OVERLAP], event->offset, event->offset,
		                  chrome_line_of(reader, event->offset),
		                  "%s ends %" PRIu64 " ns after one of its thread in which it begins: each lasts as "
		                  "long as it says.",
		                  ends ? "Of a complete slice and this one the later" : "A complete slice", beyond);
}

static void check_key(struct tw_reader *reader, const struct tw_event *event, bool *failed)
{
	struct chrome_state *state = reader->state;
	const size_t limit = tw_memory_limit(reader) / CHROME_KEYS_SHARE;
	if (tw_shared_keys_take(&state->shared, reader->dictionary, event, limit, failed))
		tw_report_in_line(reader, &chrome_rules[CHROME_ASYNC_SHARED_KEY], event->offset, event->offset,
		                  chrome_line_of(reader, event->offset), "%s",
		                  chrome_rules[CHROME_ASYNC_SHARED_KEY].text);
}

int chrome_check(struct tw_reader *reader, const struct tw_batch *batch)
{
	bool failed = false;
	for (size_t i = 0; i < batch->count && !failed; i++) {
		const struct tw_event *event = &batch->events[i];
		if (event->kind == TW_SLICE_COMPLETE || event->kind == TW_SLICE_END)
			check_overlap(reader, event, &failed);
		else if (event->kind == TW_SLICE_BEGIN)
			tw_overlaps_begin(&((struct chrome_state *)reader->state)->overlaps, event->track, event->name,
			                  event->time, &failed);
		else
			check_key(reader, event, &failed);
	}
	return failed ? tw_fail_memory(reader) : 0;
}

uint64_t chrome_window(const struct tw_reader *reader)
{
	uint64_t wanted = reader->options.reorder_window ? reader->options.reorder_window : CHROME_REORDER;
	uint64_t most = tw_memory_limit(reader) / WINDOW_SHARE;
	most = most < CHROME_REORDER_MOST ? most : CHROME_REORDER_MOST;
	return wanted < most ? wanted : most;
}

/* Done by the first read of events, because who reads records wants those that would wait in the window, too. */
static int begin_sorted(struct tw_reader *reader)
{
	struct chrome_state *state = reader->state;
	state->order.window = chrome_window(reader);
	state->order.sorter = calloc(1, sizeof *state->order.sorter);
	if (!state->order.sorter)
		return tw_fail_memory(reader);
	int status = fill_window(reader);
	if (status < 0)
		return status;
	reader->clock.start_ns = first_time(state, tw_sorter_first(state->order.sorter));
	take_own_clock(reader);
	reader->clock.end_ns = reader->clock.start_ns;
	return 0;
}

int chrome_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct chrome_state *state = reader->state;
	*batch = (struct tw_batch){0};
	int status = state->order.sorter || reader->options.order == TW_ORDER_FILE ? 0 : begin_sorted(reader);
	if (status < 0)
		return status;
	int count = state->order.sorter ? read_sorted(reader, batch) : read_plain(reader, batch);
	if (count > 0)
		note_times(reader, batch);
	if (count > 0 && reader->request.lasting && !state->times.looked)
		note_tracks(reader, batch);
	return count;
}

void chrome_order_free(struct chrome_state *state)
{
	struct tw_sorter *sorter = state->order.sorter;
	if (sorter) {
		for (size_t i = 0; i < sorter->count; i++) {
			const struct tw_slab *held = sorter->queues[(sorter->oldest + i) % TW_ORDER_SLABS].slab;
			give_piece(state, (struct chrome_piece *)(uintptr_t)held);
		}
		tw_sorter_free(sorter);
		free(sorter);
	}
	for (struct chrome_piece *piece; (piece = state->order.free_pieces);) {
		state->order.free_pieces = piece->next;
		chrome_piece_free(piece);
	}
	chrome_piece_free(state->order.current);
	tw_slab_scratch_free(&state->order.scratch);
}
