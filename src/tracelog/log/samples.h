/* samples.h - samples of stacks, of allocations and of CPU time. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACELOG_LOG_SAMPLES_H
#define TRACELOG_LOG_SAMPLES_H

#include "tracelog/format/fast_decode.h"
#include "tracelog/log/findings.h"

/* The samples of a thread. */
struct tracelog_thread_samples {
	bool any;
	uint64_t last;                  /* ns */
	struct tracelog_place unjudged; /* a record of count 0, until it is known what follows; line 0: none */
};

/* A sample that CPU time will be shared over. */
struct tracelog_unshared_sample {
	uint32_t stack;
	uint64_t ticks, wall_ns;
};

/* The CPU time of a thread. */
struct tracelog_thread_cpu {
	bool any;
	uint64_t last;    /* ns */
	uint64_t debt_us; /* negative usage that was not taken back yet */
	struct tracelog_unshared_sample *unshared;
	size_t unshared_count, unshared_room;
};

/* The record of a sample: sam str, or str sam. */
struct tracelog_sample {
	uint32_t thread, ms;
	uint64_t count; /* ticks */
	bool has_count;
	bool has_ip;
	uint32_t match, depth;
	uint64_t ip; /* 0: not known */
	const struct tracelog_frame *frames;
	size_t frame_count;
};

/* The record of a CPU usage: thr cpu or prc cpu. */
struct tracelog_usage {
	bool process;
	uint32_t thread, ms;
	uint64_t us; /* may be negative, as 64 bits hold it */
};

struct tracelog_log;
struct tracelog_thread;

void tracelog_take_sample(struct tracelog_log *log, const struct tracelog_sample *sample);
void tracelog_take_allocations(struct tracelog_log *log, uint32_t thread, uint32_t ms,
                               const struct tracelog_allocation *allocations, size_t count);
void tracelog_take_usage(struct tracelog_log *log, const struct tracelog_usage *usage);
void tracelog_judge_zero(struct tracelog_log *log, struct tracelog_thread *thread);

#endif
