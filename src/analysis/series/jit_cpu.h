/* jit_cpu.h - an estimate of the processor time of compilations, from what their threads used meanwhile. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_JIT_CPU_H
#define ANALYSIS_SERIES_JIT_CPU_H

#include "core/budget.h"

#include <stdint.h>

/* A compilation, or a search for what was compiled before. */
struct tw_compiling {
	uint64_t begin, end;
	uint64_t offset; /* in the file: of two that take the same time, the first is around the other */
	uint32_t row;
	bool cached;
};

/* A compilation with its part of an interval that its thread used processor time in. */
struct tw_compiling_part {
	struct tw_compiling compiling;
	uint64_t own_ns; /* of the interval, without others inside of it */
	size_t outer;    /* the part around it, plus 1 */
};

/* The compilations of a thread that may reach into its next interval. All zero to begin; written by jit_cpu.c. */
struct tw_compiling_thread {
	struct tw_compiling_part *parts;
	size_t count, room;
	uint64_t last_ns, debt_ns; /* debt_ns: time that was taken back, and is still to be taken off */
	bool used;                 /* a usage was told */
};

/* What a thread used, in the time before it was told. */
struct tw_compiling_usage {
	uint64_t time;
	int64_t ns;
	uint64_t interval_ns; /* 0: since the usage before */
};

/* Takes a compilation, in the order of their begins. False: there is no room. */
bool tw_compiling_add(struct tw_compiling_thread *thread, struct tw_budget *budget, const struct tw_compiling *it);

/* Shares a usage over the time that the thread compiled in: calls `give` for each compilation in its interval, searches
 * too. */
void tw_compiling_use(struct tw_compiling_thread *thread, const struct tw_compiling_usage *usage,
                      void (*give)(void *context, const struct tw_compiling *it, uint64_t ns), void *context);
void tw_compiling_free(struct tw_compiling_thread *thread);

#endif
