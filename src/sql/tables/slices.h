/* slices.h - the slices that are open on each thread, for tables that need to know. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SQL_TABLES_SLICES_H
#define SQL_TABLES_SLICES_H

#include "core/budget.h"
#include "core/calls/calls.h"
#include "sql/tables/table.h"

/* A slice, from its begin on. */
struct sql_slice {
	uint64_t id; /* offset of the record that begins it */
	uint64_t parent;
	uint64_t begin;
	uint32_t track, name, category;
	uint32_t depth, lane;
	uint64_t stack; /* of the names of it and of those around it; where asked for */
	uint32_t next;  /* of those that are free */
	bool live;      /* not free */
	bool wanted;
	bool complete;                        /* its record tells when it ends */
	struct {                              /* the thread's own, ns */
		bool has_begin, has_duration; /* the next two are known */
		int64_t begin, duration;
	} own_clock;
	bool argued;              /* a record of it has arguments */
	struct tw_text arguments; /* JSON, without the braces; empty: none */
	struct {                  /* of a slice that waits for the slices around it: TW_ROW_HELD, calls.h */
		bool held;
		enum tw_call_end how;
		uint32_t parent_row, below; /* below: the slice of its lane that it stands on, plus 1 */
		uint64_t begun, over;       /* in the order of all begins and ends; over: 0 where it is open */
		uint64_t duration, self;
	} waiting;
};

/* A slice that did not wait and has ended while others do. */
struct sql_gone {
	uint32_t row, lane;
	uint64_t over; /* the number of its end among the changes */
	uint64_t end;
};

/* Slices of a track that wait, by their places in `open`. */
struct sql_held {
	uint32_t *begun, *ended; /* in the order of begins; of ends */
	size_t begun_count, begun_room, ended_count, ended_room;
	struct sql_gone *gone;
	size_t gone_count, gone_room;
};

struct sql_slices {
	struct tw_calls calls; /* first: hooks get it */
	struct tw_budget budget;
	struct sql_cursor *cursor;
	struct {
		struct sql_slice *items; /* by the frame's row, from TW_ROW_FIRST on */
		size_t count, room;
		uint32_t free; /* the first free one plus 1 */
	} open;
	struct { /* by track; where `holds` */
		struct sql_held *items;
		size_t room;
	} held;
	uint64_t changes; /* begins and ends of those that waited */
	size_t wanted;    /* open slices that are wanted */
	const struct tw_event *event;
	const struct tw_argument *arguments;
	const struct tw_argument *thread_ts, *thread_dur; /* of the event; NULL: not told */
	bool keep_arguments, keep_stacks, failed, full;
	bool holds; /* depth and lane are asked for, as they are once all ends are known */
	/* Is told of each slice that ends, before it is forgotten. NULL: nobody is. */
	void (*ended)(struct sql_slices *slices, const struct sql_slice *slice, uint64_t duration, uint64_t self,
	              enum tw_call_end how);
};

/* All zero but `ended` and keep_arguments to begin. Returns 0 or a negative status, text in session->error. */
int sql_slices_begin(struct sql_slices *slices, struct sql_cursor *cursor);

/* Takes an event of any kind. Returns as above. */
int sql_slices_take(struct sql_slices *slices, const struct tw_event *event, const struct tw_argument *arguments);

/* The end of the file. */
int sql_slices_finish(struct sql_slices *slices);

/* The innermost slice that is open on a track; NULL when there is none. */
const struct sql_slice *sql_slices_innermost(struct sql_slices *slices, uint32_t track);

/* The outermost of those that are open on a track which began at a time; NULL when there is none. */
const struct sql_slice *sql_slices_begun(struct sql_slices *slices, uint32_t track, uint64_t time);

/* slices_held.c: the hash of the names of a slice and of those around it, the same in all threads and files; never
 * negative. */
uint64_t sql_slices_stack(const struct sql_slices *slices, const struct sql_slice *parent, uint32_t name);

/* Tells of a slice that has ended, and makes its place free. */
void sql_slices_forget(struct sql_slices *slices, struct sql_slice *slice);

/* slices_held.c: has the slice at a place, which begins on the current track, wait for others. False: there is no room,
 * or so many wait that they are told as they seem to be. */
bool sql_slices_hold(struct sql_slices *slices, uint32_t place);
/* A slice that waits has ended, inside of the slice of a row. */
void sql_slices_end_held(struct sql_slices *slices, struct sql_slice *slice, uint32_t parent_row);
/* A slice that does not wait ends on the current track. */
void sql_slices_note_gone(struct sql_slices *slices, const struct sql_slice *slice, uint32_t row);
/* A hook: all that waited on the current track have ended. */
void sql_slices_settle(struct tw_calls *calls);

void sql_slices_free(struct sql_slices *slices);

#endif
