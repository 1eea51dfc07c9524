/* merged_tracks.h - the tracks of a set on one clock, by the order of their accesses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XTRACE_WALK_MERGED_TRACKS_H
#define XTRACE_WALK_MERGED_TRACKS_H

#include "xtrace/walk/calls.h"
#include "xtrace/xtrace.h"

/* ---- order.c: the TIMEs of a file. ---- */

/* The next TIME of a file. */
struct xtrace_source {
	struct xtrace_files files;
	struct xtrace_cursor cursor;
	uint64_t time;
};

/* Opens a track and goes to its first TIME. Nothing is reported of it. Returns 1, 0 when there is none, or a
 * negative status; close its files in any case. */
int xtrace_source_open(struct xtrace_source *source, struct tw_reader *reader, const struct xtrace_track *track);

/* Goes to the next TIME. Returns the same. */
int xtrace_source_next(struct xtrace_source *source);

/* ---- merged_tracks.c ---- */

/* A token, with its track and its time. */
struct xtrace_moment {
	uint64_t time; /* instructions on the clock of all tracks */
	uint64_t offset, gap;
	uint32_t track;
	struct xtrace_stack *stack; /* of the track */
	bool ends;                  /* the track does: there is no token */
	struct tw_xtrace_token token;
};

struct xtrace_merged_tracks;

/* Opens all tracks that are wanted. An instruction is a tick; what has a TIME comes when all that have a smaller one
 * have come, and a track begins when its first TIME is the next. Returns 0 or a negative status; free it in any
 * case. */
int xtrace_merged_tracks_open(struct xtrace_merged_tracks **merged, struct tw_reader *reader);

/* Tells where nothing says how the tracks were in time. */
void xtrace_merged_tracks_report_order(const struct xtrace_merged_tracks *merged);

/* Gives the next token of all, or the end of a track; its time is never less than the last one's. Returns 1, 0 at the
 * end of all, or a negative status. */
int xtrace_merged_tracks_next(struct xtrace_merged_tracks *merged, struct xtrace_moment *moment);

void xtrace_merged_tracks_free(struct xtrace_merged_tracks *merged);

#endif
