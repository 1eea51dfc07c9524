/* times.h - milliseconds of 32 bits to nanoseconds of 64; pauses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_TIMES_H
#define TRACELOG_LOG_TIMES_H

#include <trackway/tracelog.h>

/* Lines of one of these come in the order of time in each thread. */
enum tracelog_series { TRACELOG_SAMPLES, TRACELOG_ALLOCATIONS, TRACELOG_CPU, TRACELOG_JIT_AND_GC, TRACELOG_SERIES };

/* The moment at which a session starts: prf stm. */
struct tracelog_start {
	bool is_set, has_zone;
	int64_t ms;      /* since 1970, by the clock on the wall */
	int64_t zone_ms; /* that clock is ahead of UTC by */
};

/* Written by times.c. */
struct tracelog_times {
	uint64_t base; /* ms: from the start of the log's first session to that of this one */
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

struct tracelog_start tracelog_start_of(const struct tw_tracelog_record *record);

/* How much later than the first session another starts, in ms. 0 where it starts earlier: no time is below 0. */
uint64_t tracelog_later_by(const struct tracelog_start *first, const struct tracelog_start *start);

/* Times count from the start of another session on. */
void tracelog_move_base(struct tracelog_times *times, uint64_t base);

/* The next time of a session, of 32 bits, in ms since its start. */
uint64_t tracelog_unwrap(struct tracelog_times *times, uint32_t ms);

/* A time of 32 bits in ns since the start of the first session. */
uint64_t tracelog_time(struct tracelog_log *log, uint32_t ms);

/* The same for a record of a thread, of whose series it is the next. */
uint64_t tracelog_time_of(struct tracelog_log *log, struct tracelog_thread *thread, enum tracelog_series series,
                          uint32_t ms);
void tracelog_take_pause(struct tracelog_log *log, const struct tw_tracelog_record *record);

#endif
