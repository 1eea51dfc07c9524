/* threads.h - threads by the numbers of the profiler and of the system. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_THREADS_H
#define TRACELOG_LOG_THREADS_H

#include "base/memory/map.h"
#include "tracelog/log/jit_and_gc.h"
#include "tracelog/log/samples.h"
#include "tracelog/log/stacks.h"
#include "tracelog/log/times.h"

struct tracelog_thread {
	uint32_t iid;
	uint32_t track;
	bool native;    /* of the system alone: no managed thread was said to run on it */
	bool other;     /* stands for all that there is no memory for */
	bool announced; /* thr crt */
	bool destroyed; /* thr dst */
	bool used;
	bool wanted; /* the options let it through */
	uint64_t pointer;
	bool on_system; /* it runs on the thread of the system that follows */
	uint32_t system;
	struct tracelog_thread_stack stack;     /* written by stacks.c */
	struct tracelog_thread_samples samples; /* written by samples.c */
	struct tracelog_thread_cpu cpu;         /* written by samples.c */
	struct tracelog_activities activities;  /* written by jit_and_gc.c */
	uint64_t latest[TRACELOG_SERIES];       /* ns; written by times.c */
};

enum { TRACELOG_RECENT_THREADS = 1 << 8 };

/* The process of the sessions behind the first, until a record states it: this and the number of the session. */
#define TRACELOG_SESSION_PROCESS (UINT64_C(1) << 32)

/* Written by threads.c. */
struct tracelog_threads {
	struct tracelog_thread *items; /* place 0 is the process */
	size_t count, room;
	struct tw_map by_iid, by_system, by_pointer;
	uint32_t other;          /* stands for all that there is no memory for; 0 while there is none */
	uint64_t process;        /* that tracks have */
	uint64_t stated_process; /* process of apd crf; 0: none yet */
	uint32_t
	    recent[TRACELOG_RECENT_THREADS]; /* places of those met lately, by a hash of the iid; 0: nothing is here */
};

struct tracelog_log;

/* Threads by their numbers; one that was never announced comes into being. Pointers live until the next call. */
struct tracelog_thread *tracelog_thread_by(struct tracelog_log *log, const struct tw_tracelog_record *record);
struct tracelog_thread *tracelog_process_thread(struct tracelog_log *log);

/* The same for a record of a thread that must be alive: reports where it is not. */
struct tracelog_thread *tracelog_judge_thread(struct tracelog_log *log, uint32_t iid);

/* Take the records of a creation and of an assignment to a thread of the system. */
void tracelog_create_thread(struct tracelog_log *log, const struct tw_tracelog_record *record);
void tracelog_assign_thread(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* Ends a thread, of which nothing is unfinished. */
void tracelog_destroy_thread(struct tracelog_log *log, struct tracelog_thread *thread);
void tracelog_set_process(struct tracelog_log *log, uint64_t process);
void tracelog_threads_free(struct tracelog_threads *threads);

#endif
