/* firefox.h - the parts of the writer of the Firefox Profiler's processed profiles. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_FIREFOX_FIREFOX_H
#define EXPORT_FIREFOX_FIREFOX_H

#include "core/calls/pairs.h"
#include "export/firefox/track_runs.h"
#include "export/profiles/children.h"
#include "export/profiles/measured.h"
#include "export/text/args.h"
#include "export/text/names.h"
#include "export/text/pieces.h"

/* What waits in the spool: records of samples and of markers, and what markers have for data, as text. A record is two
 * words of 32 bits: a number, and how long a sample takes, which begins where the one before it ends, or how long a
 * marker comes after the one before it. Where that does not hold, as at the beginning of a block, the first word is
 * FIREFOX_LONG, and behind both come the time since 0, the number and how long it takes, of 64 bits each: so what is
 * made of a block needs no other one. The number of a sample is that of its stack in the thread's table, plus 1, or 0;
 * that of a marker is FIREFOX_PHASES times that of its string, and its phase. */
enum { FIREFOX_MARKERS = MEASURES, FIREFOX_RECORDS, FIREFOX_DATA = FIREFOX_RECORDS, FIREFOX_TEXTS };

static const uint32_t FIREFOX_LONG = UINT32_MAX;
enum { FIREFOX_RECORD = 8, FIREFOX_LONG_RECORD = 32 };

enum firefox_phase { PHASE_INSTANT, PHASE_INTERVAL, PHASE_START, PHASE_END, FIREFOX_PHASES };

enum { NS_PER_MS = 1000000 };

enum { OPERATION_SHARE = 8 }; /* of the memory limit, for operations that are open */

struct firefox_track {
	uint32_t *parents; /* of stacks, by number, 0: none; from TW_ROW_FIRST on, the thread's table */
	size_t count, room;
	struct tw_children children;       /* by parent and frame */
	uint32_t current;                  /* the stack now; 0: none */
	uint64_t since;                    /* when it began, since the start of the trace */
	uint64_t records[FIREFOX_RECORDS]; /* how many there are: by what is measured, and of markers */
	uint64_t ends[FIREFOX_RECORDS];    /* of the last one */
	uint32_t index;                    /* of its thread in the profile, when all is known */
	bool begun;
	bool counted; /* it has counters */
};

struct firefox_counters {
	struct firefox_series *series;
	size_t count, room;
	struct tw_map map; /* of what a series is known by to its number */
	struct tw_spool spool;
};

struct firefox_operations {
	struct tw_pairs open;
	size_t limit; /* bytes for them */
};

enum firefox_column {
	SAMPLE_TIME,
	SAMPLE_STACK,
	SAMPLE_WEIGHT, /* nanoseconds as milliseconds */
	SAMPLE_COUNT,  /* the same, of what is no time */
	MARKER_NAME,
	MARKER_START,
	MARKER_END,
	MARKER_PHASE,
	STACK_FRAME, /* by local_frames */
	STACK_PREFIX,
	FIREFOX_COLUMNS
};

static inline enum firefox_column tw_firefox_weight(enum tw_measure measure)
{
	return measure == MEASURE_TICKS || measure == MEASURE_BYTES ? SAMPLE_COUNT : SAMPLE_WEIGHT;
}

/* The columns of a thread, which are made one after the other. */
struct firefox_columns {
	struct firefox *firefox;
	uint32_t track;
	enum tw_measure measure;
	enum firefox_column column; /* that the next piece is made of */
	struct tw_spool_cursor cursor;
	size_t node;
};

struct firefox {
	struct tw_measured measured; /* first */
	struct tw_track_runs runs;
	struct tw_args args;
	struct tw_names names; /* as JSON */
	size_t nodes;          /* of all tracks */
	struct firefox_track *tracks;
	size_t track_room;
	struct firefox_counters counters;
	struct firefox_operations operations;
	uint32_t *local_frames;  /* by frame: its number in the thread at hand, plus 1 */
	uint32_t *thread_frames; /* by that number less 1: the frame */
	uint32_t *local_strings; /* the same of strings: kinds of events, and behind them names */
	uint32_t *thread_strings;
	uint32_t strings; /* of the thread at hand */
	uint32_t node;    /* of the sample at hand */
	struct tw_line text;
	struct tw_pieces pieces;
	struct firefox_columns columns; /* of the thread at hand */
	unsigned jobs;
};

/* What of a thread: what is measured, FIREFOX_MARKERS or FIREFOX_DATA. */
static inline size_t tw_firefox_text(uint32_t track, unsigned what)
{
	return (size_t)track * FIREFOX_TEXTS + what;
}

static inline uint32_t tw_firefox_stacks(const struct firefox_track *track)
{
	return track->count ? (uint32_t)(track->count - TW_ROW_FIRST) : 0;
}

/* The innermost frame of one. */
static inline uint32_t tw_firefox_frame(const struct firefox_track *track, size_t stack)
{
	return track->children.nodes[stack].key;
}

/* The string that says a name. */
static inline uint32_t tw_firefox_name(uint32_t name)
{
	return TW_EVENT_KINDS + name;
}

/* The number of a string in the thread at hand. */
static inline uint32_t tw_firefox_string(struct firefox *firefox, uint32_t string)
{
	uint32_t *local = &firefox->local_strings[string];
	if (*local == 0) {
		firefox->thread_strings[firefox->strings] = string;
		*local = ++firefox->strings;
	}
	return *local - 1;
}

/* ---- firefox_columns.c: columns as long as the trace, which are made in pieces by several threads. ---- */

/* Gives the names of a thread's markers numbers, in their order. */
void tw_firefox_meet_markers(struct firefox *firefox, uint32_t track);

/* Begins the columns of a thread, of which local_frames holds all frames, and local_strings the names of markers. */
void tw_firefox_begin_columns(struct firefox *firefox, uint32_t track, enum tw_measure measure);

/* Writes the cells of the next one, with commas between, while others are being made. They come in the order of enum
 * firefox_column: either a weight or a count, and markers only with slices. */
void tw_firefox_put_column(struct firefox *firefox, enum firefox_column column);

void tw_firefox_end_columns(struct firefox *firefox);

/* ---- firefox_counters.c: the series that counters make. ---- */

/* Takes the values of a counter. */
void tw_firefox_count(struct firefox *firefox, const struct tw_event *event);

/* Writes all of them, with commas between. */
void tw_firefox_put_counters(struct firefox *firefox);

void tw_firefox_free_counters(struct firefox *firefox);

/* ---- firefox_tables.c: the file, when all is known. ---- */

/* Writes it. False when there is no memory. */
bool tw_firefox_put(struct firefox *firefox);

#endif
