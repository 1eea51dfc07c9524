/* times.h - milliseconds of 32 bits to nanoseconds of 64; pauses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_TIMES_H
#define TRACELOG_LOG_TIMES_H

#include <trackway/tracelog.h>

/* Lines of one of these come in the order of time in each thread. */
enum tracelog_series { TRACELOG_SAMPLES, TRACELOG_ALLOCATIONS, TRACELOG_CPU, TRACELOG_JIT_AND_GC, TRACELOG_SERIES };

/* Written by times.c. */
struct tracelog_times {
	bool begun;
	uint64_t around;  /* ms: what times are close to */
	uint64_t outlier; /* the last time far from `around`; UINT64_MAX: none since it was settled */
	unsigned steps;   /* how many times in a row were far away, each later than the one before */
	uint64_t now;     /* ns: of the last line that had a time */
	uint64_t latest;  /* ns: of all lines */
	bool paused, resumed;
	bool resumed_once;              /* it has been resumed since it began paused */
	uint64_t paused_at, resumed_at; /* ns */
};

struct tracelog_log;
struct tracelog_thread;

/* The next time of a log, of 32 bits, in ms since the profiler's start. */
uint64_t tracelog_unwrap(struct tracelog_times *times, uint32_t ms);

/* A time of 32 bits in ns since the profiler's start. */
uint64_t tracelog_time(struct tracelog_log *log, uint32_t ms);

/* The same for a record of a thread, of whose series it is the next. */
uint64_t tracelog_time_of(struct tracelog_log *log, struct tracelog_thread *thread, enum tracelog_series series,
                          uint32_t ms);
void tracelog_take_pause(struct tracelog_log *log, const struct tw_tracelog_record *record);

#endif
