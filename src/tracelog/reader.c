/* reader.c - the events of a log, in the order asked for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/plural.h"
#include "core/threads/pipeline.h"
#include "tracelog/jobs/dependencies.h"
#include "tracelog/log/names.h"
#include "tracelog/log/record.h"
#include "tracelog/tracelog.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PIECE = 1 << 18,          /* bytes of the log whose rows are sorted together */
	PIECE_ROWS = 1 << 14,     /* rows after which a piece is full, too */
	FEW_ROWS = TW_SLAB_BLOCK, /* the same where nothing waits: they stay in the first-level cache */
	WINDOW = 4 << 20,         /* bytes that lines may come late by */
	PARSED_BLOCKS = 4,        /* blocks of the log that are read and looked through ahead */
	WINDOW_SHARE = 32         /* of the memory limit, for the same: rows take more than their text */
};

/* Rows of a block of the log. */
struct row_piece {
	struct tw_slab slab;
	uint64_t end; /* offset of what comes after it */
};

struct tracelog_events {
	struct tracelog_cursor cursor; /* lines that are not plain */
	struct tw_pipeline *ahead;
	struct tracelog_parsed_block parsed_blocks[PARSED_BLOCKS];
	struct tracelog_parsed_block *parsed; /* the current block; NULL: there is none yet */
	size_t entry;                         /* the next entry of that block */
	uint64_t lines;                       /* before it */
	uint64_t next;                        /* offset of the next */
	struct tracelog_log log;
	struct tw_sorter *sorter; /* of the pieces that are held; NULL where rows are delivered as they stand */
	struct tw_slab_scratch scratch;
	struct row_piece *held[TW_ORDER_SLABS]; /* the oldest first */
	size_t held_count;
	struct row_piece *spare[TW_ORDER_SLABS]; /* to be used again */
	size_t spare_count;
	size_t piece_rows; /* PIECE_ROWS or FEW_ROWS */
	uint64_t window;   /* bytes of the log that are read ahead of the oldest piece */
	size_t delivered;  /* rows of the oldest piece, where nothing is sorted */
	uint32_t looked;   /* sessions whose names were looked for ahead, which is done once for each */
	bool ended;
};

static struct tracelog_events *events_of(struct tw_reader *reader)
{
	return ((struct tracelog_reader *)reader->state)->events;
}

/* ---- Blocks of lines, in any thread. ---- */

static int read_lines(void *context, void *piece)
{
	struct tracelog_events *events = context;
	struct tracelog_parsed_block *parsed = piece;
	return tracelog_line_block_read(&events->cursor.lines, &parsed->block);
}

static void look_through(void *context, void *piece)
{
	(void)context;
	tracelog_parse_block(piece);
}

/* ---- Lines, in the caller's thread. ---- */

static void take_line(struct tracelog_events *events, const uint8_t *bytes, size_t size)
{
	struct tracelog_cursor *cursor = &events->cursor;
	const struct tracelog_place at = events->log.line.at;
	const struct tw_text_line line = {bytes, size, at.offset, at.line, events->parsed->block.cut};
	if (!tracelog_cursor_take(cursor, &line))
		return;
	if (cursor->readable)
		tracelog_take(&events->log, &cursor->record);
	else
		tracelog_lose(&events->log, line.size);
}

static inline void take_entry(struct tracelog_events *events, size_t i)
{
	const struct tracelog_parsed_block *parsed = events->parsed;
	const struct tracelog_fast_line *entry = &parsed->entries[i];
	uint64_t offset = parsed->block.offset + entry->at;
	events->log.line.at = (struct tracelog_place){offset, events->lines + i + 1};
	events->next = offset + entry->size;
	if (entry->kind == TRACELOG_OTHER_LINE || parsed->block.cut)
		take_line(events, parsed->block.bytes + entry->at, entry->size);
	else
		tracelog_take_fast_line(&events->log, parsed, entry);
}

static void end(struct tracelog_events *events)
{
	events->ended = true;
	if (events->log.dependencies)
		tracelog_depend_end(&events->log);
	tracelog_end(&events->log);
	tracelog_cursor_end(&events->cursor);
}

/* Goes on to the next block. */
static int advance(struct tw_reader *reader)
{
	struct tracelog_events *events = events_of(reader);
	void *piece;
	if (events->parsed)
		events->lines += events->parsed->entry_count;
	int status = tw_pipeline_next(events->ahead, &piece);
	if (status < 0)
		return status == TW_ERR_MEMORY ? tw_fail_memory(reader)
		                               : tw_fail(reader, status, "%s", tw_input_error(reader->input));
	if (status == 0)
		end(events);
	events->parsed = status ? piece : NULL;
	events->entry = 0;
	return events->parsed && events->parsed->failed ? tw_fail_memory(reader) : 0;
}

/* Takes lines of the block until it, or the piece, which is to end about `end`, is full. */
static void take_entries(struct tracelog_events *events, const struct row_piece *piece, uint64_t end)
{
	const struct tracelog_parsed_block *parsed = events->parsed;
	size_t i = events->entry, count = parsed->entry_count;
	for (; i < count && events->next < end && piece->slab.count < events->piece_rows && !events->log.failed; i++) {
		take_entry(events, i);
		if (events->log.dependencies)
			tracelog_depend_line(&events->log, events->next - events->log.line.at.offset);
	}
	events->entry = i;
}

/* ---- Pieces. ---- */

static int fill(struct tw_reader *reader, struct row_piece *piece)
{
	struct tracelog_events *events = events_of(reader);
	uint64_t end = events->next + PIECE;
	int status = 0;
	tw_slab_clear(&piece->slab);
	events->log.rows.slab = &piece->slab;
	while (status >= 0 && !events->ended && piece->slab.count < events->piece_rows && events->next < end) {
		if (!events->parsed || events->entry == events->parsed->entry_count)
			status = advance(reader);
		else
			take_entries(events, piece, end);
		if (status >= 0 && events->log.failed)
			status = tw_fail_memory(reader);
	}
	piece->end = events->next;
	return status;
}

static struct row_piece *take_piece(struct tracelog_events *events)
{
	if (events->spare_count)
		return events->spare[--events->spare_count];
	return calloc(1, sizeof(struct row_piece));
}

static void free_piece(struct row_piece *piece)
{
	tw_slab_free(&piece->slab);
	free(piece);
}

static void keep_spare(struct tracelog_events *events, struct row_piece *piece)
{
	events->spare[events->spare_count++] = piece;
}

/* Names may come late as well as lines: rows wait in every order. */
static bool wants_more(const struct tracelog_events *events)
{
	if (events->ended || events->held_count == TW_ORDER_SLABS)
		return false;
	return !events->held_count || events->next - events->held[0]->end < events->window;
}

static int hold(struct tw_reader *reader, struct row_piece *piece)
{
	struct tracelog_events *events = events_of(reader);
	if (events->sorter) {
		tw_slab_sort(&piece->slab, &events->scratch);
		tw_sorter_put(events->sorter, &piece->slab);
	}
	events->held[events->held_count++] = piece;
	return piece->slab.failed ? tw_fail_memory(reader) : 0;
}

/* Rows go out whose names have not come. What is a pipe cannot be looked at twice: the window is what there is. */
static int look_for_names(struct tw_reader *reader)
{
	struct tracelog_events *events = events_of(reader);
	bool wanted = reader->options.names_ahead || reader->options.function;
	if (!wanted || events->looked > events->log.session.number || events->ended ||
	    !tw_input_repeatable(reader->input))
		return 0;
	events->looked = events->log.session.number + 1;
	if (tracelog_look_for_names(&events->log, events->next))
		return 0;
	return events->log.failed ? tw_fail_memory(reader)
	                          : tw_fail(reader, TW_ERR_SYSTEM, "%s", tw_input_error(reader->input));
}

static int fill_window(struct tw_reader *reader)
{
	struct tracelog_events *events = events_of(reader);
	int status = 0;
	while (status >= 0 && wants_more(events)) {
		struct row_piece *piece = take_piece(events);
		if (!piece)
			return tw_fail_memory(reader);
		status = fill(reader, piece);
		if (status >= 0 && piece->slab.count)
			status = hold(reader, piece);
		else
			keep_spare(events, piece);
	}
	return status < 0 ? status : look_for_names(reader);
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
	memmove(events->held, events->held + 1, events->held_count * sizeof(struct row_piece *));
	events->delivered = 0;
	return true;
}

/* For a profile, which goes without a first look: what is no pipe is read again, in order. */
static void report_late(struct tw_reader *reader)
{
	struct tw_sorter *sorter = events_of(reader)->sorter;
	if (!sorter || !sorter->late || reader->in_order.runs)
		return;
	reader->traits.disordered = sorter->late;
	if (!tw_input_repeatable(reader->input))
		tw_report(reader, &tracelog_rules[TRACELOG_LATE], sorter->late_offset, sorter->late_offset, 0,
		          "%" PRIu64 " event%s came later than what is read ahead of a pipe can be put in order, by up "
		          "to %" PRIu64 " ns; a file is read in order.",
		          sorter->late, tw_plural(sorter->late), sorter->latest_by);
	sorter->late = 0;
}

static int next_batch(struct tw_reader *reader, struct tw_batch *batch)
{
	struct tracelog_events *events = events_of(reader);
	for (;;) {
		int count =
		    events->sorter ? tw_sorter_next(events->sorter, events->ended, batch) : next_block(events, batch);
		if (count < 0)
			return tw_fail_memory(reader);
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

/* Nobody but the caller waits for a pipe: it would wait for as long when the reader is closed. */
static bool read_ahead(struct tracelog_events *events, const struct tw_reader *reader)
{
	static const struct tw_pipeline_steps activity = {read_lines, look_through};
	void *pieces[PARSED_BLOCKS];
	for (size_t i = 0; i < PARSED_BLOCKS; i++)
		pieces[i] = &events->parsed_blocks[i];
	events->ahead = tw_pipeline_new(&activity, events, pieces, PARSED_BLOCKS,
	                                tw_input_seekable(reader->input) ? reader->options.jobs : 1);
	return events->ahead;
}

static uint64_t window_of(const struct tw_reader *reader)
{
	const uint64_t most = tw_memory_limit(reader) / WINDOW_SHARE;
	if (reader->options.reorder_window)
		return reader->options.reorder_window;
	return WINDOW < most ? WINDOW : most;
}

/* Whether files of a folder can be opened; errno tells why not. */
static bool is_folder(const char *path)
{
	int folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return false;
	close(folder);
	return access(path, X_OK) == 0;
}

static int begin(struct tw_reader *reader)
{
	const struct tw_read_options *options = &reader->options;
	struct tracelog_events *events = calloc(1, sizeof *events);
	bool sorted = options->order != TW_ORDER_FILE && !reader->request.unordered;
	((struct tracelog_reader *)reader->state)->events = events;
	if (!events)
		return tw_fail_memory(reader);
	if (options->pdb_folder && !is_folder(options->pdb_folder))
		return tw_fail(reader, TW_ERR_SYSTEM, "%s: %s", options->pdb_folder, strerror(errno));
	tracelog_cursor_init(&events->cursor, reader);
	events->window = reader->request.unordered ? 0 : window_of(reader);
	events->piece_rows = reader->request.unordered ? FEW_ROWS : PIECE_ROWS;
	events->sorter = sorted ? calloc(1, sizeof *events->sorter) : NULL;
	bool made = (!sorted || events->sorter) && tracelog_log_init(&events->log, reader, &events->cursor) &&
	            read_ahead(events, reader);
	return made ? 0 : tw_fail_memory(reader);
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
	reader->traits.reach_ns = count >= 0 ? events_of(reader)->log.times.latest : 0;
	if (count == 0)
		report_late(reader);
	return count;
}

/* ---- The first look. ---- */

/* Times of the log in stretches of half a window. */
struct stretch_times {
	uint64_t stretch;       /* bytes */
	uint64_t begin;         /* offset of the stretch that is looked at */
	uint64_t latest, other; /* of its events, and of those of the stretch before; ns */
	uint64_t behind;        /* of all before that */
	bool late;
};

/* Rows of one time stay as they stand, unless the longer slice stands last. */
static void look_at(struct stretch_times *look, const struct tw_batch *batch, uint64_t offset)
{
	if (offset - look->begin >= look->stretch) {
		look->behind = look->other > look->behind ? look->other : look->behind;
		look->other = look->latest;
		look->latest = 0;
		look->begin = offset;
	}
	for (size_t i = 0; i < batch->count; i++) {
		const struct tw_event *event = &batch->events[i];
		look->late |=
		    event->time < look->behind || (event->time == look->behind && event->kind == TW_SLICE_COMPLETE);
		look->latest = event->time > look->latest ? event->time : look->latest;
	}
}

/* What the times of a line's events are only the lines before it tell: nothing but the order is left out. */
int tracelog_look(struct tw_reader *reader)
{
	enum { HELD = TW_ORDER_SLABS / 2 * PIECE }; /* pieces may end before they are full */
	const uint64_t window = window_of(reader);
	struct stretch_times look = {.stretch = (window < HELD ? window : HELD) / 2};
	struct tw_reader *again;
	struct tw_batch batch;
	uint64_t offset = 0;
	int status = tw_open_again(&again, reader);
	if (status == 0)
		again->request = (struct tw_request){.kinds = reader->request.kinds, .unordered = true};
	while (status >= 0 && !look.late && (status = tracelog_read(again, &batch)) > 0) {
		look_at(&look, &batch, offset);
		offset = events_of(again)->next;
	}
	if (status < 0)
		tw_fail(reader, status, "%s", again ? tw_reader_error(again) : tw_status_text(status));
	tw_close(again);
	return status < 0 ? status : look.late;
}

int tracelog_find_dependencies(struct tw_reader *reader, struct tw_state_outline *to)
{
	int status = begin(reader);
	struct tracelog_dependencies *dependencies = status < 0 ? NULL : tracelog_dependencies_new(to);
	if (status >= 0 && !dependencies)
		return tw_fail_memory(reader);
	if (dependencies)
		events_of(reader)->log.dependencies = dependencies;
	return status;
}

int tracelog_find_lines(struct tw_reader *reader, struct tracelog_source_lines *to, struct tw_reader *reporter)
{
	struct tw_batch batch;
	int status = begin(reader);
	if (status < 0)
		return status;
	events_of(reader)->log.source_lines = to;
	events_of(reader)->log.pdbs.reporter = reporter;
	while ((status = tracelog_read(reader, &batch)) > 0)
		;
	return status;
}

void tracelog_events_free(struct tracelog_events *events)
{
	if (!events)
		return;
	tw_pipeline_free(events->ahead);
	for (size_t i = 0; i < PARSED_BLOCKS; i++)
		tracelog_parsed_block_free(&events->parsed_blocks[i]);
	for (size_t i = 0; i < events->held_count; i++)
		free_piece(events->held[i]);
	for (size_t i = 0; i < events->spare_count; i++)
		free_piece(events->spare[i]);
	if (events->sorter)
		tw_sorter_free(events->sorter);
	free(events->sorter);
	tw_slab_scratch_free(&events->scratch);
	tracelog_dependencies_free(events->log.dependencies);
	tracelog_log_free(&events->log);
	tracelog_cursor_free(&events->cursor);
	free(events);
}
