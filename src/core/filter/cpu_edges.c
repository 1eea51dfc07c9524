/* cpu_edges.c - what CPUs do at the edges of a time window: a part has no switch that tells it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "core/filter/cpu_edges.h"

enum { CPUS_MOST = 1 << 16 }; /* more are not counted: no machine has as many */

bool tw_cpu_edges_take(struct tw_cpu_edges *edges, uint32_t cpu, enum tw_side side)
{
	uint32_t *last = tw_map_stored(&edges->last, cpu);
	if (!last)
		return edges->last.count == CPUS_MOST || tw_map_add(&edges->last, cpu, side);
	if (side > *last - 1) {
		edges->count++;
		*last = side + 1;
	}
	return true;
}

void tw_cpu_edges_free(struct tw_cpu_edges *edges)
{
	tw_map_free(&edges->last);
}
