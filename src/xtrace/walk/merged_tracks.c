/* merged_tracks.c - the tracks of a set on one clock, by the order of their accesses. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "xtrace/walk/merged_tracks.h"

#include <stdlib.h>

struct merged_track {
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	struct xtrace_stack stack;
	struct xtrace_source ahead; /* its next TIME */
	bool is_ordered;            /* there is one */
	bool at_time;               /* it waits at it; otherwise at its beginning */
	bool waits;                 /* until its TIME is the next of all */
	uint32_t track;
	uint64_t clock;
};

/* A heap of lanes, the one with the smallest key on top. */
struct heap {
	struct merged_track **items;
	size_t count;
	uint64_t (*key)(const struct merged_track *lane);
};

struct xtrace_merged_tracks {
	struct tw_reader *reader;
	struct merged_track *items;
	size_t count;
	struct heap running;          /* by clock */
	struct heap ordered;          /* by their next TIMEs */
	bool has_order;               /* a lane has a TIME */
	uint64_t last;                /* the clock when the last TIME came */
	struct merged_track *current; /* the lane that gave the last token */
};

/* ---- Heaps. ---- */

static uint64_t clock_of(const struct merged_track *lane)
{
	return lane->clock;
}

static uint64_t next_time(const struct merged_track *lane)
{
	return lane->ahead.time;
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

static void push(struct heap *heap, struct merged_track *lane)
{
	size_t i = heap->count++;
	for (; i && heap->key(heap->items[(i - 1) / 2]) > heap->key(lane); i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = lane;
}

static void drop_top(struct heap *heap)
{
	heap->items[0] = heap->items[--heap->count];
	sift_down(heap, 0);
}

/* ---- TIMEs. ---- */

/* Goes on behind the TIME that was the next of all: its lane looks for its next one. */
static int pass_time(struct xtrace_merged_tracks *lanes)
{
	struct merged_track *lane = lanes->ordered.items[0];
	bool quiet = lanes->reader->reports.quiet;
	lanes->reader->reports.quiet = true; /* what is wrong is told when it is read */
	int status = xtrace_source_next(&lane->ahead);
	lanes->reader->reports.quiet = quiet;
	lanes->last = lane->clock;
	lane->is_ordered = status > 0;
	if (lane->is_ordered)
		sift_down(&lanes->ordered, 0);
	else
		drop_top(&lanes->ordered);
	return status < 0 ? status : 0;
}

/* Lets the lanes go on whose TIME is the next of all. */
static int release(struct xtrace_merged_tracks *lanes)
{
	int status = 0;
	while (status >= 0 && lanes->ordered.count && lanes->ordered.items[0]->waits) {
		struct merged_track *lane = lanes->ordered.items[0];
		lane->clock = lane->clock > lanes->last ? lane->clock : lanes->last;
		lane->waits = false;
		push(&lanes->running, lane);
		if (lane->at_time)
			status = pass_time(lanes);
	}
	return status;
}

/* Takes a TIME of the running lane on top: the lane goes on at once, or waits for others. */
static int meet_time(struct xtrace_merged_tracks *lanes, struct merged_track *lane)
{
	if (!lane->is_ordered)
		return 0;
	lane->at_time = true;
	if (lanes->ordered.items[0] == lane) {
		int status = pass_time(lanes);
		return status < 0 ? status : release(lanes);
	}
	lane->waits = true;
	drop_top(&lanes->running);
	return 0;
}

/* ---- Opening. ---- */

static int open_lane(struct tw_reader *reader, const struct xtrace_track *track, struct merged_track *lane)
{
	int status = xtrace_files_open(&lane->files, reader, track);
	if (status < 0)
		return status;
	bool quiet = reader->reports.quiet;
	xtrace_files_thin(&lane->files);
	xtrace_cursor_init(&lane->cursor, &lane->files);
	lane->track = xtrace_track_number(reader, track);
	lane->stack.names = xtrace_names_of(reader, track);
	reader->reports.quiet = true;
	status = xtrace_source_open(&lane->ahead, reader, track);
	reader->reports.quiet = quiet;
	lane->is_ordered = lane->waits = status > 0;
	if (status >= 0 && lane->track == UINT32_MAX)
		return tw_fail_memory(reader);
	return status;
}

static int open_all(struct xtrace_merged_tracks *lanes)
{
	const struct xtrace_set *set = &xtrace_of(lanes->reader)->set;
	for (size_t i = 0; i < set->count; i++) {
		if (!tw_thread_wanted(&lanes->reader->options, set->tracks[i].name.number))
			continue;
		struct merged_track *lane = &lanes->items[lanes->count++];
		int status = open_lane(lanes->reader, &set->tracks[i], lane);
		if (status < 0)
			return status;
		push(lane->waits ? &lanes->ordered : &lanes->running, lane);
	}
	lanes->has_order = lanes->ordered.count > 0;
	return release(lanes);
}

int xtrace_merged_tracks_open(struct xtrace_merged_tracks **opened, struct tw_reader *reader)
{
	size_t most = xtrace_of(reader)->set.count;
	struct xtrace_merged_tracks *lanes = *opened = calloc(1, sizeof *lanes);
	if (!lanes)
		return tw_fail_memory(reader);
	*lanes = (struct xtrace_merged_tracks){
	    .reader = reader,
	    .items = calloc(most, sizeof *lanes->items),
	    .running = {calloc(most, sizeof *lanes->running.items), 0, clock_of},
	    .ordered = {calloc(most, sizeof *lanes->ordered.items), 0, next_time},
	};
	if (!lanes->items || !lanes->running.items || !lanes->ordered.items)
		return tw_fail_memory(reader);
	return open_all(lanes);
}

void xtrace_merged_tracks_tell_order(const struct xtrace_merged_tracks *lanes)
{
	const struct merged_track *first = lanes->items;
	if (lanes->count > 1 && !lanes->has_order)
		xtrace_report(&first->files, false, XTRACE_NO_ORDER, 0, 0,
		              "There is no TIME: each of %zu threads is shown from its own beginning.", lanes->count);
}

void xtrace_merged_tracks_free(struct xtrace_merged_tracks *lanes)
{
	if (!lanes)
		return;
	for (size_t i = 0; i < lanes->count; i++) {
		xtrace_files_close(&lanes->items[i].files);
		xtrace_files_close(&lanes->items[i].ahead.files);
		xtrace_stack_free(&lanes->items[i].stack);
	}
	free(lanes->items);
	free(lanes->running.items);
	free(lanes->ordered.items);
	free(lanes);
}

/* ---- Reading. ---- */

/* Puts the lane on top in its place again, after its clock has gone on. */
static void settle(struct xtrace_merged_tracks *lanes)
{
	if (lanes->current && lanes->running.count && lanes->running.items[0] == lanes->current)
		sift_down(&lanes->running, 0);
	lanes->current = NULL;
}

int xtrace_merged_tracks_next(struct xtrace_merged_tracks *lanes, struct xtrace_moment *moment)
{
	settle(lanes);
	while (lanes->running.count) {
		struct merged_track *lane = lanes->running.items[0];
		int status = xtrace_cursor_next(&lane->cursor, &moment->token);
		if (status < 0)
			return status;
		moment->ends = status == 0;
		moment->time = lane->clock;
		moment->offset = lane->cursor.offset;
		moment->gap = lane->cursor.gap;
		moment->track = lane->track;
		moment->stack = &lane->stack;
		if (moment->ends) {
			drop_top(&lanes->running);
			return 1;
		}
		lanes->current = lane;
		lane->clock += moment->token.kind == TW_XTRACE_INST || moment->token.kind == TW_XTRACE_PCINST;
		return moment->token.kind == TW_XTRACE_TIME && (status = meet_time(lanes, lane)) < 0 ? status : 1;
	}
	return 0;
}
