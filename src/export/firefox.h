/* firefox.h - the parts of the writer of the Firefox Profiler's processed profiles. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_FIREFOX_H
#define EXPORT_FIREFOX_H

#include "export/args.h"
#include "export/children.h"
#include "export/measured.h"

enum firefox_column { SAMPLE_TIME, SAMPLE_STACK, SAMPLE_WEIGHT, SAMPLE_COLUMNS };
enum firefox_marker_column { MARKER_NAME, MARKER_START, MARKER_END, MARKER_PHASE, MARKER_DATA, MARKER_COLUMNS };
enum { FIREFOX_LANES = MEASURES + MARKER_COLUMNS };

enum { MS_DECIMALS = 6 }; /* nanoseconds are told as milliseconds */

/* A stack. */
struct firefox_node {
	uint32_t parent; /* a node; 0: none */
	uint32_t frame;
	uint32_t local; /* its number in the table of its thread */
	uint32_t next;  /* of the same thread; 0: none */
};

/* A string of a thread: a name, or what a kind of event is called: UINT32_MAX less the kind. */
struct firefox_string {
	uint32_t name;
	uint32_t next; /* of the same thread, plus 1 */
};

struct firefox_track {
	uint32_t first, last, nodes;        /* nodes of the thread, in order */
	uint32_t first_string, last_string; /* plus 1 */
	uint32_t strings;
	uint32_t current;                    /* the stack now; 0: none */
	uint64_t since;                      /* when it began, since the start of the trace */
	uint64_t samples[MEASURES], markers; /* how many there are */
	uint64_t ends[MEASURES];             /* of the last sample: its time and weight */
	bool begun;
};

struct firefox {
	struct tw_measured measured;
	struct tw_args args;
	struct firefox_node *nodes; /* the first two are none */
	size_t count, room;
	struct tw_children children; /* by parent, or track at the top, and frame */
	struct firefox_string *strings;
	size_t string_count, string_room;
	struct tw_map string_map; /* track and name to the local number */
	struct firefox_track *tracks;
	size_t track_room;
	uint32_t *local_frames;  /* by frame: its number in the thread at hand, plus 1 */
	uint32_t *thread_frames; /* by that number less 1: the frame */
	uint32_t node;           /* of the sample at hand */
	struct tw_line text;
};

/* Samples wait as three varints each: the time since the end of the one before, which is 0 as a rule, with its sign in
 * the lowest bit; the stack by its number in the table of the thread, plus 1; and the weight. */
static inline size_t tw_firefox_sample_lane(uint32_t track, enum tw_measure measure)
{
	return (size_t)track * FIREFOX_LANES + measure;
}

static inline size_t tw_firefox_marker_lane(uint32_t track, enum firefox_marker_column column)
{
	return (size_t)track * FIREFOX_LANES + MEASURES + column;
}

/* The number of a name among the strings of a track. */
uint32_t tw_firefox_string(struct firefox *firefox, uint32_t track, uint32_t name);

/* ---- firefox_tables.c: the file, when all is known. ---- */

/* Writes it. False when there is no memory. */
bool tw_firefox_put(struct firefox *firefox);

#endif
