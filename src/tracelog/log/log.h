/* log.h - a log while it is read: the state of each step, which that step writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_LOG_H
#define TRACELOG_LOG_LOG_H

#include "tracelog/lines/cursor.h"
#include "tracelog/log/heap.h"
#include "tracelog/log/pdbs.h"
#include "tracelog/log/rows.h"
#include "tracelog/log/settings.h"
#include "tracelog/log/threads.h"

struct tracelog_dependencies;
struct tracelog_source_lines;

/* What the reader of the log is asked for. */
struct tracelog_request {
	uint32_t kinds; /* of event that rows are made of */
	bool check;     /* all rules are judged */
	bool calls;     /* slices are counted as calls: compilations are none */
	bool adds_up;   /* names of samples are those of their stacks: nobody asks for them */
};

/* What was met so far. */
struct tracelog_session {
	uint32_t number;             /* of those before it */
	struct tracelog_start first; /* prf stm of the log's first session */
	struct tw_map processes;     /* of all sessions so far, to their numbers; written by threads.c */
	bool domain_seen;            /* the first, which names the process */
	bool entry_seen;             /* the program's own assembly, which names it better */
	uint64_t records;
	unsigned dialects; /* that all records so far may be of; 0: they were found to be of several */
};

struct tracelog_log {
	struct tw_reader *reader;
	struct tracelog_cursor *cursor;
	struct tw_dictionary *dictionary;
	struct tracelog_request request;            /* written when the log is opened */
	struct tracelog_dependencies *dependencies; /* is told of lines; NULL: nobody asks for it */
	struct tracelog_source_lines *source_lines; /* the same of lines of instructions */
	struct {                                    /* that is being read */
		struct tracelog_place at;           /* the line that is being read; written by the reader */
		bool beyond;                      /* the line is about a thread that there was no memory for: it is not
		                                               judged; written by threads.c, cleared by record.c */
		struct tracelog_fast_lists lists; /* of the record that is being read; record.c */
	} line;
	bool failed;                                               /* no memory; written by all */
	struct tracelog_memory memory;                             /* findings.c */
	struct tracelog_rows rows;                                 /* rows.c */
	struct tracelog_objects objects[TRACELOG_OBJECT_KINDS];    /* objects.c */
	struct tracelog_naming naming;                             /* objects.c */
	struct tracelog_sources sources;                           /* code.c */
	struct tracelog_pdbs pdbs;                                 /* pdbs.c */
	struct tracelog_stacks stacks;                             /* stacks.c */
	struct tracelog_threads threads;                           /* threads.c */
	struct tracelog_times times;                               /* times.c */
	struct tracelog_setting_value settings[TRACELOG_SETTINGS]; /* settings.c */
	struct tracelog_heap heap;                                 /* heap.c */
	struct tracelog_session session;                           /* record.c */
};

bool tracelog_log_init(struct tracelog_log *log, struct tw_reader *reader, struct tracelog_cursor *cursor);
void tracelog_log_free(struct tracelog_log *log);

/* Begins another session, in which numbers and pointers mean something else: a process of its own, or that of the one
 * before where there is no memory for one more. */
void tracelog_next_session(struct tracelog_log *log, uint64_t base);

static inline struct tracelog_object *tracelog_object(struct tracelog_log *log, enum tracelog_object_kind kind,
                                                      uint32_t number)
{
	return &log->objects[kind].items[number];
}

static inline struct tracelog_thread *tracelog_living_thread(struct tracelog_log *log, uint32_t iid)
{
	uint32_t place = log->threads.recent[iid % TRACELOG_RECENT_THREADS];
	struct tracelog_thread *thread = &log->threads.items[place];
	bool known = place && thread->iid == iid && !thread->native && thread->used && !thread->destroyed;
	return known ? thread : tracelog_judge_thread(log, iid);
}

/* The innermost frame of a thread; all zero where there is none. */
static inline struct tracelog_stack_frame tracelog_innermost_of(const struct tracelog_thread *thread)
{
	return thread->stack.depth ? thread->stack.frames[thread->stack.depth - 1] : (struct tracelog_stack_frame){0};
}

/* The number of a thread's stack; and of the same with the innermost frame at another instruction. */
static inline uint32_t tracelog_stack(const struct tracelog_thread *thread)
{
	return tracelog_innermost_of(thread).stack;
}

/* Whether rows of a kind are wanted, of a thread. */
static inline bool tracelog_wants(const struct tracelog_log *log, const struct tracelog_thread *thread,
                                  enum tw_event_kind kind)
{
	return thread->wanted && log->request.kinds >> kind & 1;
}

#endif
