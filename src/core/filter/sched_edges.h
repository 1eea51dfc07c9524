/* sched_edges.h - what CPUs and threads do at the edges of a time window: a part has no switch that tells it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FILTER_SCHED_EDGES_H
#define CORE_FILTER_SCHED_EDGES_H

#include "base/memory/map.h"

#include <trackway/event.h>

struct tw_dictionary;

/* Where a switch or a wake-up is. */
enum tw_side { TW_BEFORE_WINDOW, TW_IN_WINDOW, TW_BEHIND_WINDOW };

/* All zero at first. */
struct tw_sched_edges {
	struct tw_map cpus;    /* by number: the side of its last switch */
	struct tw_map threads; /* by track: since when it waits, and for what */
	uint64_t runs;         /* times from one switch of a CPU to the next that reach into the window or out of it */
	uint64_t waits;        /* and states of threads that do not run, as `thread_state` of sql has them */
};

/* Takes the switches and wake-ups of a trace, those of each CPU and thread in the order of time. False without
 * memory. */
bool tw_sched_edges_take(struct tw_sched_edges *edges, const struct tw_dictionary *dictionary,
                         const struct tw_event *event, const struct tw_argument *arguments, enum tw_side side);

void tw_sched_edges_free(struct tw_sched_edges *edges);

#endif
