/* sched.h - scheduling as threads, CPUs and a picture, for the tests too. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_SCHED_H
#define ANALYSIS_SERIES_SCHED_H

#include "analysis/calls/histogram.h"
#include "analysis/series/columns.h"
#include "base/bytes/output.h"
#include "core/idle.h"

#include <trackway/sched.h>

/* What a column of a CPU's row shows. `most` is how much more time the thread has in it than the others together may
 * have: a vote by time, so that a thread with more than half of it wins. */
struct tw_sched_column {
	uint64_t busy, most;
	uint32_t track;
};

/* A thread by the number of its track, while the trace is read. */
struct tw_sched_task {
	uint32_t owner; /* the track that tells its process and name; 0: its own */
	struct tw_sched_thread row;
	struct tw_histogram latencies;
	uint64_t woken_at, ready_at;
	bool seen;  /* something was told of it */
	bool shown; /* something of it is in the window */
	bool woken, ready;
};

struct tw_sched_core {
	struct tw_sched_cpu row;
	uint64_t since; /* time of the last switch */
	uint32_t track; /* of the thread that came */
	bool idle, begun;
	bool shown; /* as of a thread */
	struct tw_columns columns;
};

struct tw_sched {
	struct tw_sched_options options;
	struct tw_budget budget;
	struct tw_histogram_pool pool;
	const struct tw_dictionary *dictionary; /* of the trace, while it is read */
	const struct tw_clock *clock;
	struct tw_dictionary *texts;
	struct tw_sched_task *tasks; /* by track */
	size_t task_room;
	struct {
		struct tw_sched_core *items;
		size_t count, room;
		struct tw_map by_number; /* number of the CPU to core */
	} cores;
	struct tw_sched_thread *threads; /* sorted, when the trace has been read */
	size_t thread_count;
	struct tw_sched_notes notes;
	uint64_t from, last;        /* the first and the last nanosecond of the window, on the trace's clock */
	uint64_t left;              /* where a picture begins */
	uint64_t span_ns;           /* of a picture */
	uint64_t first_at, last_at; /* of the switches and wake-ups in the window */
	uint64_t end_at;            /* of the trace */
};

/* The parts of tw_sched_read(). Begin returns 0 or TW_ERR_MEMORY. */
int tw_sched_begin(struct tw_sched **sched, const struct tw_dictionary *dictionary, const struct tw_clock *clock,
                   const struct tw_sched_options *options);
void tw_sched_take(struct tw_sched *sched, const struct tw_batch *batch);
int tw_sched_end(struct tw_sched *sched);

/* The row of a track; NULL where there was no room for it. */
const struct tw_sched_thread *tw_sched_thread_of(const struct tw_sched *sched, uint32_t track);

/* Whether a thread that leaves its CPU in a state could run on: in 0, which Fuchsia's kernel writes of a thread that is
 * ready and the document calls new, and in 1. Perfetto's importer has both as runnable. */
bool tw_sched_could_run(uint64_t state);

#endif
