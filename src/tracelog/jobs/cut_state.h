/* cut_state.h - what a cut knows of a log while its records pass. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_JOBS_CUT_STATE_H
#define TRACELOG_JOBS_CUT_STATE_H

#include "core/filter/wanted.h"
#include "tracelog/jobs/cut.h"
#include "tracelog/log/log.h"

enum {
	TRACELOG_PART_TEXT = 24,
	TRACELOG_FRAME_TEXT = 32, /* bytes of a frame in a line, at most */
};

struct cut_frame {
	uint64_t ip;
	uint32_t iid;
	uint16_t style;
	bool has_ip : 1, ip_known : 1;
	bool unknown : 1; /* no record told which frame it is */
};

struct cut_thread {
	uint32_t iid;
	struct cut_frame *frames; /* the stack that the log's samples make */
	size_t depth, room;
	size_t low;                 /* the lowest depth since a sample of the thread was written */
	size_t written;             /* its depth when that sample was written */
	bool moved;                 /* the frame below `low` has moved to another instruction since */
	bool behind;                /* samples were left out since that one */
	bool cut_off;               /* there was no memory for some of the stack */
	enum tw_tracelog_kind kind; /* of its last sample */
	unsigned style, ip_style;
	uint64_t time; /* ms */
};

/* What was begun. */
struct cut_activity {
	enum tracelog_activity activity;
	uint64_t thread;
	uint64_t pointer;
	bool kept;
};

struct tracelog_cut {
	const struct tw_read_options *options;
	bool without_category; /* events without a category pass */
	struct tw_wanted *wanted;
	uint64_t from, to; /* the first millisecond in the window, and the first behind it, by the session's clock */
	struct tracelog_start start; /* of the first session */
	struct {
		bool begun, ended;             /* that has been written */
		char text[TRACELOG_PART_TEXT]; /* of a number */
	} part;                                /* where a window is asked for: its edges, as settings */
	struct tracelog_times times;
	uint64_t now;   /* ms: of the record */
	bool is_wanted; /* the filters let an event of it through */
	bool met;       /* a record behind the settings */
	bool untracked; /* there was no memory to follow its thread's stack */
	struct cut_threads {
		struct cut_thread *items;
		size_t count, room;
		struct tw_map by_iid, by_system; /* places; iids */
		size_t memory, limit;            /* bytes of all this */
	} threads;
	struct {
		struct cut_activity *items;
		size_t count, room;
	} open;
	struct {
		bool held;    /* one began before the window, and may go on in it */
		bool due;     /* it goes on in the window: it is to be written */
		bool written; /* it was written, and has not ended */
	} pause;
	struct {
		struct tw_tracelog_record *record; /* NULL: nothing */
		struct cut_thread *thread;         /* whose stack must be put right before that */
		uint8_t *list;
		size_t list_room, list_frames; /* bytes; frames of a line at most */
	} written;                             /* what is to be written */
	bool failed;                           /* no memory */
};

static inline bool tracelog_cut_in_window(const struct tracelog_cut *cut)
{
	return cut->now >= cut->from && cut->now < cut->to;
}

/* A time, or the edge of the window that it is beyond. */
static inline uint64_t tracelog_cut_clip(const struct tracelog_cut *cut, uint64_t time)
{
	const uint64_t late = time > cut->from ? time : cut->from;
	return late < cut->to ? late : cut->to;
}

/* ---- cut_stacks.c ---- */

/* Memory for threads and their stacks: false where the limit is reached. */
bool tracelog_cut_take_memory(struct tracelog_cut *cut, size_t bytes);

/* Take a sample of a stack, or one of allocations. Return whether it stays. */
bool tracelog_cut_take_sample(struct tracelog_cut *cut, struct tw_tracelog_record *record);
bool tracelog_cut_take_allocations(struct tracelog_cut *cut, struct tw_tracelog_record *record);

/* Makes the next sample that brings a thread's stack up to date. The last one is the log's own sample, where the record
 * is one. */
void tracelog_cut_next_sample(struct tracelog_cut *cut, struct tw_tracelog_record *made);

#endif
