/* sched_edges.c - what CPUs and threads do at the edges of a time window: a part has no switch that tells it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/sched_edges.h"

#include "core/idle.h"

enum {
	CPUS_MOST = 1 << 16,    /* more are not counted: no machine has as many */
	THREADS_MOST = 1 << 20, /* nor are more threads */
	STATE_BITS = 2,
	RUNNING =
	    1 /* FXT, "Scheduling record", states of threads: a thread that leaves in this one or in 0 could run */
};

/* What a thread does; it has no place in the map before this is known. */
enum state { RUNS, WAITS, COULD_RUN };

static uint32_t stored_state(enum state state, enum tw_side side)
{
	return (uint32_t)side << STATE_BITS | (uint32_t)state;
}

static bool take_cpu(struct tw_sched_edges *edges, uint32_t cpu, enum tw_side side)
{
	uint32_t *last = tw_map_stored(&edges->cpus, cpu);
	if (!last)
		return edges->cpus.count == CPUS_MOST || tw_map_add(&edges->cpus, cpu, side);
	if (side > *last - 1) {
		edges->runs++;
		*last = side + 1;
	}
	return true;
}

/* A thread comes into a state. */
static bool change(struct tw_sched_edges *edges, uint32_t track, enum state state, enum tw_side side)
{
	uint32_t *last = tw_map_stored(&edges->threads, track);
	const uint32_t now = stored_state(state, side);
	if (!last)
		return edges->threads.count == THREADS_MOST || tw_map_add(&edges->threads, track, now);
	const uint32_t before = *last - 1;
	edges->waits += (before & ((1u << STATE_BITS) - 1)) != RUNS && side > before >> STATE_BITS;
	*last = now + 1;
	return true;
}

/* A thread that leaves has run. Where nothing told so, a switch is missing, and what the thread did before is not
 * known. */
static bool leave(struct tw_sched_edges *edges, const struct tw_event *event, enum tw_side side)
{
	uint32_t *last = tw_map_stored(&edges->threads, event->track);
	if (last)
		*last = stored_state(RUNS, side) + 1;
	return change(edges, event->track, event->value <= RUNNING ? COULD_RUN : WAITS, side);
}

static bool wake(struct tw_sched_edges *edges, uint32_t track, enum tw_side side)
{
	uint32_t last;
	const bool known = tw_map_find(&edges->threads, track, &last);
	return (known && (last & ((1u << STATE_BITS) - 1)) != WAITS) || change(edges, track, COULD_RUN, side);
}

bool tw_sched_edges_take(struct tw_sched_edges *edges, const struct tw_dictionary *dictionary,
                         const struct tw_event *event, const struct tw_argument *arguments, enum tw_side side)
{
	if (event->kind != TW_SWITCH)
		return wake(edges, event->track, side);
	bool fine = take_cpu(edges, event->cpu, side);
	if (!tw_sched_leaves_idle(dictionary, event, arguments))
		fine &= leave(edges, event, side);
	if (!tw_sched_comes_idle(dictionary, event, arguments))
		fine &= change(edges, event->other, RUNS, side);
	return fine;
}

void tw_sched_edges_free(struct tw_sched_edges *edges)
{
	tw_map_free(&edges->cpus);
	tw_map_free(&edges->threads);
}
