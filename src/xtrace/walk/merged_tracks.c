/* merged_tracks.c - the tracks of a set on one clock, by the order of their accesses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/walk/merged_tracks.h"

#include <stdlib.h>

struct merged_track {
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_stack stack;
	struct xtrace_source times; /* its next TIME */
	bool is_ordered;            /* there is one */
	bool at_time;               /* it waits at it; otherwise at its beginning */
	bool waits;                 /* until its TIME is the next of all */
	uint32_t number;
	uint64_t clock;
};

/* A heap of tracks, the one with the smallest key on top. */
struct heap {
	struct merged_track **items;
	size_t count;
	uint64_t (*key)(const struct merged_track *track);
};

struct xtrace_merged_tracks {
	struct tw_reader *reader;
	struct merged_track *items;
	size_t count;
	struct heap running;          /* by clock */
	struct heap ordered;          /* by their next TIMEs */
	bool has_order;               /* a track has a TIME */
	uint64_t last;                /* the clock when the last TIME came */
	struct merged_track *current; /* the track that gave the last token */
};

/* ---- Heaps. ---- */

static uint64_t clock_of(const struct merged_track *track)
{
	return track->clock;
}

static uint64_t next_time(const struct merged_track *track)
{
	return track->times.time;
}

static void sift_down(struct heap *heap, size_t i)
{
	struct merged_track **items = heap->items;
	for (size_t child; (child = 2 * i + 1) < heap->count; i = child) {
		if (child + 1 < heap->count && heap->key(items[child + 1]) < heap->key(items[child]))
			child++;
		if (heap->key(items[i]) <= heap->key(items[child]))
			return;
		struct merged_track *other = items[child];
		items[child] = items[i];
		items[i] = other;
	}
}

static void push(struct heap *heap, struct merged_track *track)
{
	size_t i = heap->count++;
	for (; i && heap->key(heap->items[(i - 1) / 2]) > heap->key(track); i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = track;
}

static void drop_top(struct heap *heap)
{
	heap->items[0] = heap->items[--heap->count];
	sift_down(heap, 0);
}

/* ---- TIMEs. ---- */

/* Goes on behind the TIME that was the next of all: its track looks for its next one. */
static int pass_time(struct xtrace_merged_tracks *merged)
{
	struct merged_track *track = merged->ordered.items[0];
	bool quiet = merged->reader->reports.quiet;
	merged->reader->reports.quiet = true; /* what is wrong is reported when it is read */
	int status = xtrace_source_next(&track->times);
	merged->reader->reports.quiet = quiet;
	merged->last = track->clock;
	track->is_ordered = status > 0;
	if (track->is_ordered)
		sift_down(&merged->ordered, 0);
	else
		drop_top(&merged->ordered);
	return status < 0 ? status : 0;
}

/* Lets the tracks go on whose TIME is the next of all. */
static int release(struct xtrace_merged_tracks *merged)
{
	int status = 0;
	while (status >= 0 && merged->ordered.count && merged->ordered.items[0]->waits) {
		struct merged_track *track = merged->ordered.items[0];
		track->clock = track->clock > merged->last ? track->clock : merged->last;
		track->waits = false;
		push(&merged->running, track);
		if (track->at_time)
			status = pass_time(merged);
	}
	return status;
}

/* Takes a TIME of the running track on top: the track goes on at once, or waits for others. */
static int meet_time(struct xtrace_merged_tracks *merged, struct merged_track *track)
{
	if (!track->is_ordered)
		return 0;
	track->at_time = true;
	if (merged->ordered.items[0] == track) {
		int status = pass_time(merged);
		return status < 0 ? status : release(merged);
	}
	track->waits = true;
	drop_top(&merged->running);
	return 0;
}

/* ---- Opening. ---- */

static int open_track(struct tw_reader *reader, const struct xtrace_track *from, struct merged_track *track)
{
	int status = xtrace_files_open(&track->files, reader, from);
	if (status < 0)
		return status;
	bool quiet = reader->reports.quiet;
	xtrace_files_thin(&track->files);
	xtrace_cursor_init(&track->cursor, &track->files);
	track->number = xtrace_track_number(reader, from);
	track->stack.names = xtrace_names_of(reader, from);
	reader->reports.quiet = true;
	status = xtrace_source_open(&track->times, reader, from);
	reader->reports.quiet = quiet;
	track->is_ordered = track->waits = status > 0;
	if (status >= 0 && track->number == UINT32_MAX)
		return tw_fail_memory(reader);
	return status;
}

static int open_all(struct xtrace_merged_tracks *merged)
{
	const struct xtrace_set *set = &xtrace_of(merged->reader)->set;
	for (size_t i = 0; i < set->count; i++) {
		if (!tw_thread_wanted(&merged->reader->options, set->tracks[i].name.number))
			continue;
		struct merged_track *track = &merged->items[merged->count++];
		int status = open_track(merged->reader, &set->tracks[i], track);
		if (status < 0)
			return status;
		push(track->waits ? &merged->ordered : &merged->running, track);
	}
	merged->has_order = merged->ordered.count > 0;
	return release(merged);
}

int xtrace_merged_tracks_open(struct xtrace_merged_tracks **opened, struct tw_reader *reader)
{
	size_t most = xtrace_of(reader)->set.count;
	struct xtrace_merged_tracks *merged = *opened = calloc(1, sizeof *merged);
	if (!merged)
		return tw_fail_memory(reader);
	*merged = (struct xtrace_merged_tracks){
	    .reader = reader,
	    .items = calloc(most, sizeof *merged->items),
	    .running = {calloc(most, sizeof *merged->running.items), 0, clock_of},
	    .ordered = {calloc(most, sizeof *merged->ordered.items), 0, next_time},
	};
	if (!merged->items || !merged->running.items || !merged->ordered.items)
		return tw_fail_memory(reader);
	return open_all(merged);
}

void xtrace_merged_tracks_report_order(const struct xtrace_merged_tracks *merged)
{
	const struct merged_track *first = merged->items;
	if (merged->count > 1 && !merged->has_order)
		xtrace_report(&first->files, false, XTRACE_NO_ORDER, 0, 0,
		              "There is no TIME: each of %zu threads is shown from its own beginning.", merged->count);
}

void xtrace_merged_tracks_free(struct xtrace_merged_tracks *merged)
{
	if (!merged)
		return;
	for (size_t i = 0; i < merged->count; i++) {
		xtrace_files_close(&merged->items[i].files);
		xtrace_files_close(&merged->items[i].times.files);
		xtrace_stack_free(&merged->items[i].stack);
	}
	free(merged->items);
	free(merged->running.items);
	free(merged->ordered.items);
	free(merged);
}

/* ---- Reading. ---- */

/* Puts the track on top in its place again, after its clock has gone on. */
static void settle(struct xtrace_merged_tracks *merged)
{
	if (merged->current && merged->running.count && merged->running.items[0] == merged->current)
		sift_down(&merged->running, 0);
	merged->current = NULL;
}

int xtrace_merged_tracks_next(struct xtrace_merged_tracks *merged, struct xtrace_moment *moment)
{
	settle(merged);
	while (merged->running.count) {
		struct merged_track *track = merged->running.items[0];
		int status = xtrace_cursor_next(&track->cursor, &moment->token);
		if (status < 0)
			return status;
		moment->ends = status == 0;
		moment->time = track->clock;
		moment->offset = track->cursor.offset;
		moment->gap = track->cursor.gap;
		moment->track = track->number;
		moment->stack = &track->stack;
		if (moment->ends) {
			drop_top(&merged->running);
			return 1;
		}
		merged->current = track;
		track->clock += moment->token.kind == TW_XTRACE_INST || moment->token.kind == TW_XTRACE_PCINST;
		return moment->token.kind == TW_XTRACE_TIME && (status = meet_time(merged, track)) < 0 ? status : 1;
	}
	return 0;
}
