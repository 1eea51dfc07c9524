/* cpu_edges.h - what CPUs do at the edges of a time window: a part has no switch that tells it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FILTER_CPU_EDGES_H
#define CORE_FILTER_CPU_EDGES_H

#include "base/memory/map.h"

/* Where a switch is. */
enum tw_side { TW_BEFORE_WINDOW, TW_IN_WINDOW, TW_BEHIND_WINDOW };

/* All zero at first. */
struct tw_cpu_edges {
	struct tw_map last; /* by CPU: the side of its last switch */
	uint64_t count;     /* times from one switch of a CPU to the next that reach into the window or out of it */
};

/* Takes the switches of a trace, those of each CPU in the order of time. False without memory. */
bool tw_cpu_edges_take(struct tw_cpu_edges *edges, uint32_t cpu, enum tw_side side);

void tw_cpu_edges_free(struct tw_cpu_edges *edges);

#endif
