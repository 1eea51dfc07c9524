/* reader.c - Chrome's trace event JSON as a format: opening, and the order of events. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/plural.h"
#include "chrome/chrome.h"
#include "core/filter/filter.h"

#include <stdlib.h>
#include <string.h>

enum {
	PIECE_ROWS = 1 << 15, /* a piece is full with so many rows, too */
	PIECE_ARGUMENTS = 1 << 16,
	WINDOW_SHARE =
	    32 /* of the memory limit, for the input of the pieces that are held: rows take more than their text */
};

bool chrome_wanted(const struct tw_reader *reader, uint32_t track)
{
	if (!reader->options.thread_count)
		return true;
	return tw_thread_wanted(&reader->options, tw_dictionary_track(reader->dictionary, track)->thread);
}

/* ---- Pieces. ---- */

/* The first rows are complete: where there are times below 0 and nothing tells when the clock began, the earliest of
 * them is the beginning. */
static void settle(struct chrome_state *state, struct tw_slab *slab)
{
	if (state->begun)
		return;
	state->begun = true;
	if (state->stream.has_start || state->earliest >= 0)
		return;
	state->base = -(uint64_t)state->earliest;
	for (size_t i = 0; i < slab->count; i++)
		slab->events[i].time += state->base;
	state->last += state->base;
}

/* Fills a piece until it has `rows`, or `bytes` of the input. */
static int fill(struct tw_reader *reader, struct chrome_piece *piece, size_t rows, uint64_t bytes)
{
	struct chrome_state *state = reader->state;
	struct chrome_stream *stream = &state->stream;
	const struct tw_slab *slab = &piece->slab;
	uint64_t end = stream->at + bytes;
	chrome_piece_clear(piece);
	while (!state->ended && slab->count < rows && slab->argument_count < PIECE_ARGUMENTS && stream->at < end) {
		struct chrome_item item;
		int status = chrome_next(stream, &item);
		state->ended = status == 0;
		if (status > 0 && chrome_take(reader, piece, &item) < 0)
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
	struct chrome_piece *piece = state->free_pieces;
	if (!piece)
		return calloc(1, sizeof *piece);
	state->free_pieces = piece->next;
	return piece;
}

static void give_piece(struct chrome_state *state, struct chrome_piece *piece)
{
	piece->next = state->free_pieces;
	state->free_pieces = piece;
}

/* Whether rows may still come that belong before those of the oldest piece. */
static bool wants_more(const struct chrome_state *state)
{
	const struct tw_sorter *sorter = state->sorter;
	if (state->ended || !tw_sorter_has_room(sorter))
		return false;
	if (sorter->count == 0)
		return true;
	const struct tw_slab *oldest = sorter->lanes[sorter->oldest % TW_ORDER_SLABS].slab;
	return state->stream.at - ((const struct chrome_piece *)oldest)->end < state->window;
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
		tw_slab_sort(&piece->slab, &state->scratch);
		tw_sorter_put(state->sorter, &piece->slab);
		if (piece->slab.failed)
			return tw_fail_memory(reader);
	}
	return 0;
}

/* ---- Reading. ---- */

static void report_late(struct tw_reader *reader)
{
	struct chrome_state *state = reader->state;
	struct tw_sorter *sorter = state->sorter;
	if (sorter->late)
		tw_report(reader, &chrome_rules[CHROME_LATE], sorter->late_offset, sorter->late_offset, 0,
		          "%llu event%s came later than the reorder window allows to put in order, by up to %llu ns; a "
		          "larger --reorder-window does.",
		          (unsigned long long)sorter->late, tw_plural(sorter->late),
		          (unsigned long long)sorter->latest_by);
	sorter->late = 0;
}

static int read_sorted(struct tw_reader *reader, struct tw_batch *batch)
{
	struct chrome_state *state = reader->state;
	state->sorter->room = reader->help.room;
	for (;;) {
		int count = tw_sorter_next(state->sorter, state->ended, batch);
		if (count < 0)
			return tw_fail_memory(reader);
		if (count > 0)
			return count;
		const struct tw_slab *done;
		while ((done = tw_sorter_done(state->sorter)))
			give_piece(state, (struct chrome_piece *)(uintptr_t)done);
		if (state->ended && !state->sorter->count) {
			report_late(reader);
			return 0;
		}
		int status = fill_window(reader);
		if (status < 0)
			return status;
	}
}

/* Reads events as they stand in the file, a block of rows at a time. */
static int read_plain(struct tw_reader *reader, struct tw_batch *batch)
{
	struct chrome_state *state = reader->state;
	struct tw_slab *slab = &state->current->slab;
	do {
		int status = fill(reader, state->current, TW_SLAB_BLOCK, CHROME_PIECE);
		if (status < 0)
			return status;
	} while (!slab->count && !state->ended);
	*batch = (struct tw_batch){slab->events, slab->count, slab->arguments};
	return (int)slab->count;
}

/* What Trackway's own writer told of the clock. */
static void take_told_clock(struct tw_reader *reader)
{
	const struct chrome_stream *stream = &((const struct chrome_state *)reader->state)->stream;
	struct tw_clock *clock = &reader->clock;
	if (!stream->has_start)
		return;
	clock->start_ns = stream->start_ns;
	clock->has_wall = stream->wall_ns > 0 && stream->wall_ns <= INT64_MAX && stream->start_ns <= INT64_MAX;
	clock->wall_ns = clock->has_wall ? (int64_t)stream->wall_ns - (int64_t)stream->start_ns : 0;
}

/* Where a trace begins whose first row has this time: it may be with an event of a thread that is left out. UINT64_MAX:
 * there is no row. */
static uint64_t first_time(const struct chrome_state *state, uint64_t row)
{
	uint64_t event = state->timed ? state->base + (uint64_t)state->earliest : UINT64_MAX;
	return row == UINT64_MAX ? 0 : event < row ? event : row;
}

/* What has been read tells where the trace begins, as far as that is known. */
static void note_times(struct tw_reader *reader, const struct tw_batch *batch)
{
	struct tw_clock *clock = &reader->clock;
	struct chrome_state *state = reader->state;
	bool early = !state->sorter && !state->stream.has_start;
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t time = batch->events[i].time, end = tw_event_end(&batch->events[i]);
		reader->traits.reach_ns = end > reader->traits.reach_ns ? end : reader->traits.reach_ns;
		clock->end_ns = time > clock->end_ns ? time : clock->end_ns;
		if (early && (time < clock->start_ns || !state->started))
			clock->start_ns = first_time(state, time);
		state->started = true;
	}
	take_told_clock(reader);
}

/* Done by the first read of events, because who reads records wants those that would wait in the window, too. */
static int begin_sorted(struct tw_reader *reader)
{
	struct chrome_state *state = reader->state;
	uint64_t wanted = reader->options.reorder_window ? reader->options.reorder_window : CHROME_REORDER;
	uint64_t most = tw_memory_limit(reader) / WINDOW_SHARE;
	state->window = wanted < most ? wanted : most;
	state->sorter = calloc(1, sizeof *state->sorter);
	if (!state->sorter)
		return tw_fail_memory(reader);
	int status = fill_window(reader);
	if (status < 0)
		return status;
	reader->clock.start_ns = first_time(state, tw_sorter_first(state->sorter));
	take_told_clock(reader);
	reader->clock.end_ns = reader->clock.start_ns;
	return 0;
}

int chrome_read(struct tw_reader *reader, struct tw_batch *batch)
{
	struct chrome_state *state = reader->state;
	*batch = (struct tw_batch){0};
	int status = state->sorter || reader->options.order == TW_ORDER_FILE ? 0 : begin_sorted(reader);
	if (status < 0)
		return status;
	int count = state->sorter ? read_sorted(reader, batch) : read_plain(reader, batch);
	if (count > 0)
		note_times(reader, batch);
	return count;
}

/* ---- Opening. ---- */

/* Filters need times since the start and each thread's events in order; the records that pass them are read again. */
static int prepare_input(struct tw_reader *reader)
{
	if (reader->options.order != TW_ORDER_FILE || !tw_filter_needed(&reader->options))
		return 0;
	reader->options.order = TW_ORDER_TIME;
	if (tw_input_seekable(reader->input))
		return 0;
	int status = tw_input_spool(reader->input, reader->options.temporary_directory);
	return status < 0 ? tw_fail(reader, status, "%s", tw_input_error(reader->input)) : 0;
}

static int open_chrome(struct tw_reader *reader)
{
	struct chrome_state *state = calloc(1, sizeof *state);
	reader->state = state;
	if (!state)
		return tw_fail_memory(reader);
	reader->clock.ticks_per_second = 1000000000;
	state->earliest = INT64_MAX;
	state->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	state->current = calloc(1, sizeof *state->current);
	if (!state->c || !state->current)
		return tw_fail_memory(reader);
	int status = prepare_input(reader);
	if (status >= 0)
		status = chrome_stream_open(reader, &state->stream);
	return status;
}

static void close_chrome(struct tw_reader *reader)
{
	struct chrome_state *state = reader->state;
	if (state->sorter) {
		for (size_t i = 0; i < state->sorter->count; i++)
			give_piece(state, (struct chrome_piece *)(uintptr_t)state->sorter->lanes[i].slab);
		tw_sorter_free(state->sorter);
		free(state->sorter);
	}
	for (struct chrome_piece *piece; (piece = state->free_pieces);) {
		state->free_pieces = piece->next;
		chrome_piece_free(piece);
	}
	chrome_piece_free(state->current);
	chrome_names_free(&state->names);
	chrome_records_free(state->records);
	chrome_survey_free(state->survey);
	if (state->c)
		freelocale(state->c);
	tw_slab_scratch_free(&state->scratch);
	free(state->tracks);
	free(state);
	reader->state = NULL;
}

/* ---- The format. ---- */

static bool holds(const uint8_t *bytes, size_t size, const char *text)
{
	return memmem(bytes, size, text, strlen(text)) != NULL;
}

/* Whether what tells comes after much else: what devices there are, how it was recorded, the arguments of an event. */
static int probe_further(const uint8_t *bytes, size_t size)
{
	if (size <= TW_PROBE_SIZE)
		return size == TW_PROBE_SIZE ? TW_PROBE_MORE : 0;
	bool events = holds(bytes, size, "\"ph\"") && holds(bytes, size, "\"ts\"");
	return events || holds(bytes, size, "\"traceEvents\"") ? 90 : 0;
}

static size_t pass_blanks(const uint8_t *bytes, size_t at, size_t end)
{
	while (at < end && (bytes[at] == ' ' || bytes[at] == '\n' || bytes[at] == '\r' || bytes[at] == '\t'))
		at++;
	return at;
}

/* Whether there is nothing but an array of nothing: a recording in which nothing happened. */
static bool is_empty_array(const uint8_t *bytes, size_t at, size_t size)
{
	if (size >= TW_PROBE_SIZE || bytes[at] != '[')
		return false;
	at = pass_blanks(bytes, at + 1, size);
	return at < size && bytes[at] == ']' && pass_blanks(bytes, at + 1, size) == size;
}

/* JSON alone is not enough: it must name what only these files have. */
static int probe(const uint8_t *bytes, size_t size)
{
	static const struct {
		const char *text, *more;
		int sure;
	} signs[] = {
	    {"\"traceEvents\"", "", 90},        {"\"ph\"", "", 80},         {"\"systemTraceEvents\"", "", 80},
	    {"\"displayTimeUnit\"", "", 60},    {"\"pid\"", "\"tid\"", 50}, {"\"pid\"", "\"ts\"", 50},
	    {"\"source\"", "\"DevTools\"", 50},
	};
	size_t at = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	size_t first = size < TW_PROBE_SIZE ? size : TW_PROBE_SIZE;
	at = pass_blanks(bytes, at, first);
	if (at == first || (bytes[at] != '[' && bytes[at] != '{'))
		return 0;
	if (is_empty_array(bytes, at, size))
		return 50;
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (holds(bytes, first, signs[i].text) && holds(bytes, first, signs[i].more))
			return signs[i].sure;
	return probe_further(bytes, size);
}

const struct tw_format tw_format_chrome = {
    .name = "chrome",
    .title = "Chrome trace event JSON (Chrome, Perfetto, many tracers)",
    .rules = chrome_rules,
    .rule_count = CHROME_RULES,
    .traits =
	{
	    .copy_order = TW_ORDER_TIME,
	    .tells_reach = true,
	},
    .files =
	{
	    .probe = probe,
	},
    .reading =
	{
	    .open = open_chrome,
	    .read = chrome_read,
	    .read_record = chrome_read_record,
	    .close = close_chrome,
	},
    .survey =
	{
	    .info = chrome_info,
	},
};
