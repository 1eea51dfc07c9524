/* request.h - what the code that reads a trace asks of its reader, beside the public options. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_REQUEST_H
#define CORE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

/* A reader is read in one of these ways. */
enum tw_use { TW_USE_NONE, TW_USE_EVENTS, TW_USE_RECORDS, TW_USE_WHOLE, TW_USE_FAILED /* it is not open */ };

/* Given once by tw_begin(), after the trace was opened and before its first event: who opens a trace for a public
 * function does not know yet what will be read of it. Nobody writes it afterwards. All zero asks for nothing. */
struct tw_request {
	uint32_t kinds; /* of event that the caller looks at, bits 1 << kind; a format may leave out others. 0: all */
	bool unordered; /* the caller adds events up: their order does not matter, nor when names come */
	/* The caller looks at how long things last, on their own tracks: when the trace begins, and how tracks
	 * interleave, does not matter. */
	bool lasting;
	/* What comes later than the format has events in order comes as it is, and is not told: the caller looks itself
	 * whether events of a track are in order. */
	bool as_they_come;
	bool track_ends; /* the caller measures calls: the end of a track may come as TW_INSTRUCTIONS */
	bool calls; /* slices are counted as calls: those of a runtime that are none, compilations, may be left out */
	bool marks_made; /* events that stand for no record of their own have TW_FLAG_MADE: filter/filter.h */
	bool texts; /* events come with the text of their record alone, where the format is one of texts: TW_RAW_TEXT */
	bool thread_times; /* slices come with the times of their thread's own clock: TW_RAW_THREAD_TS */
	unsigned merged;   /* how many traces are read at once to be merged, this being one; 0: it is alone */
};

/* tw_argument.raw of the one argument of an event that comes with the text of its record: bytes, behind a struct
 * tw_raw_text. */
enum { TW_RAW_TEXT = 0x7e87 };

struct tw_raw_text {
	uint64_t base;  /* ns that were added to the time in the text */
	uint64_t id;    /* that the text states; tw_event.id may be a new number */
	uint64_t marks; /* the format's own */
};

enum { TW_RAW_TEXT_HEAD = sizeof(struct tw_raw_text) };

/* tw_argument.raw of what is no argument of a slice, behind all that are: when it begins, or ends, on the clock that
 * goes on while its thread runs, and how long it lasts by that; signed, in ns. Each may be missing. */
enum { TW_RAW_THREAD_TS = 0x7e88, TW_RAW_THREAD_DUR = 0x7e89 };

struct tw_reader;

/* Says how a reader is read from now on, and what is asked of it, before its first event is read. TW_ERR_VALUE where it
 * was read in another way, or where the whole is wanted and it was read at all: events that are gone would be missing.
 * tw_use() leaves what was asked. */
int tw_begin(struct tw_reader *reader, enum tw_use use, const struct tw_request *request);
int tw_use(struct tw_reader *reader, enum tw_use use);

/* These kinds, for tw_request.kinds, where the format can leave out others without a change of what its clock says;
 * otherwise all. */
uint32_t tw_kinds_beside_clock(const struct tw_reader *reader, uint32_t kinds);

/* Whether tw_open() has failed with this status because the file is no trace, or may not be read: where it is one of
 * several, the others can do without it. */
bool tw_may_leave_out(const char *path, int status);

#endif
