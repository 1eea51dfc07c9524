/* scan.h - one pass over one file: its events in batches, its names and tracks as the session knows them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_ENGINE_SCAN_H
#define SQL_ENGINE_SCAN_H

#include "sql/engine/session.h"

/* A name of the reader, as the session has it. */
struct sql_scan_name {
	const char *source; /* the reader's text: a name may become better known */
	const char *text;
	size_t length;
	uint32_t number; /* of the session's dictionary */
};

/* A part of a file that is read as if it were all of it, and which of its events count: those of a span of time, and
 * the begins of slices that are open at its start. What else stands in the pieces has its counterpart elsewhere. */
struct sql_view {
	struct tw_piece *pieces; /* the scan's to free */
	size_t piece_count;
	bool in_place;        /* they are read where they are */
	uint64_t from, to;    /* on the trace's clock, both in */
	const uint64_t *open; /* offsets, in order; the index's */
	size_t open_count;
};

/* Makes an offset in one of several files of a trace unlike all others: the number of the file goes into the bits from
 * 41 on that the session does not use for its own files. */
static inline uint64_t sql_member_offset(size_t member, uint64_t offset)
{
	enum { LOW = 41, LOW_BITS = 7, HIGH = 56 };
	uint64_t number = member;
	return offset ^ (number & ((1 << LOW_BITS) - 1)) << LOW ^ number >> LOW_BITS << HIGH;
}

/* What the session knows of the reader's numbers. Written by scan.c. */
struct sql_scan_known {
	struct sql_scan_name *names;
	size_t name_room;
	uint32_t *stacks; /* the survey's numbers, where only pieces are read */
	size_t stack_count, stack_room;
	uint32_t *tracks; /* the survey's numbers plus 1, 0 while not looked for */
	size_t track_room;
	bool failed; /* there was no memory for one */
};

/* Set session, file, order, and what else is wanted; all others 0. */
struct sql_scan {
	struct sql_session *session;
	size_t file;
	enum tw_order order;
	enum tw_checking checking;
	bool quiet;      /* no findings are reported, no hook knows of the scan */
	bool beginning;  /* only the beginning is read: nothing is read ahead of it */
	uint32_t kinds;  /* of event, bits; 0: all */
	uint64_t thread; /* only this one */
	bool one_thread;
	bool thread_times; /* tw_request */
	struct {           /* instead of the session's hook */
		tw_finding_fn take;
		void *context;
	} finding;

	struct sql_view view; /* pieces NULL: all of the file is read */

	struct tw_reader *reader;
	struct tw_read_options options;
	struct tw_batch batch;
	bool reporting;          /* findings go to the session's hook */
	bool begun;              /* the session's hook knows */
	uint64_t furthest;       /* offset of a finding that was reported */
	struct tw_event *events; /* of the batch, with offsets in the file, where only pieces are read */
	struct sql_scan_known known;
};

/* Opens it. Returns 0 or a negative status, text in session->error. */
int sql_scan_open(struct sql_scan *scan);

/* The next batch, or the next record. Return as tw_read() and tw_read_record(); failures stand in session->error. */
int sql_scan_batch(struct sql_scan *scan);
int sql_scan_record(struct sql_scan *scan, struct tw_record *record);

/* What follows a read by other means that went to the end: the file is looked at, findings have been told. Returns 0 or
 * a negative status, told in session->error. */
int sql_scan_ended(struct sql_scan *scan, int status);

/* Closes what sql_scan_open() opened; the settings stay. */
void sql_scan_close(struct sql_scan *scan);

/* A name by the reader's number. The text lives as long as the session. NULL when there is no memory. */
const struct sql_scan_name *sql_scan_name(struct sql_scan *scan, uint32_t name);

/* A stack by the reader's number: the survey's number. UINT32_MAX when it is none; known.failed tells where there is
 * no memory. */
uint32_t sql_scan_stack(struct sql_scan *scan, uint32_t stack);

/* A track by the reader's number: the survey's number, which must have been made; 0 when it is none. */
uint32_t sql_scan_track(struct sql_scan *scan, uint32_t track);

/* Looks whether a file can be read. Returns 0 or a negative status, text in session->error. */
int sql_file_try(struct sql_session *session, size_t file);

/* The time of its first event on its own clock. Returns 0 or a negative status, text in session->error. */
int sql_file_start(struct sql_session *session, size_t file, uint64_t *start_ns);

#endif
