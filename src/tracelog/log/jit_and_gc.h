/* jit_and_gc.h - compilations of functions and garbage collections, from their starts and ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_JIT_AND_GC_H
#define TRACELOG_LOG_JIT_AND_GC_H

#include "tracelog/log/findings.h"

#include <trackway/tracelog.h>

enum tracelog_activity { TRACELOG_JIT, TRACELOG_JIT_CACHED, TRACELOG_GC, TRACELOG_ACTIVITIES };

/* A compilation or a collection whose end is still to come. */
struct tracelog_unfinished {
	enum tracelog_activity activity;
	uint64_t pointer; /* of the function */
	uint64_t time;
	struct tracelog_place place;
	uint32_t thread; /* of a collection: the place of the thread that started it; another may finish it */
	uint32_t reason; /* of a collection: a name of the dictionary */
	uint8_t generations;
};

/* Of a thread; of the process: all collections. Written by jit_and_gc.c. */
struct tracelog_activities {
	struct tracelog_unfinished *items;
	size_t count, room;
	bool missed;              /* there was no room for one: ends may come without a start */
	uint32_t compiling;       /* of items: compilations */
	uint64_t compiling_since; /* ns: where there are some */
	uint64_t
	    compiled_ns; /* since the last CPU usage was told, of those that have ended; one in another counts once */
};

/* The last compilation of a function whose code was not known when it ended. */
struct tracelog_compiled {
	uint64_t time;
	uint32_t thread; /* number of the thread, plus 1; 0: none */
	uint32_t name;   /* that its slice has */
	uint32_t body;   /* the same */
};

struct tracelog_log;
struct tracelog_thread;

/* The code of a function is known now: tells its size, if a compilation of it ended before. */
void tracelog_add_code_size(struct tracelog_log *log, uint32_t function);

void tracelog_take_activity(struct tracelog_log *log, const struct tw_tracelog_record *record);

/* How long a thread has compiled up to now, since it was asked last. */
uint64_t tracelog_take_compiled(struct tracelog_thread *thread, uint64_t now);

/* Ends the unfinished compilations and collections of a thread, where the thread or the log ends. */
void tracelog_close_activities(struct tracelog_log *log, struct tracelog_thread *thread);

#endif
