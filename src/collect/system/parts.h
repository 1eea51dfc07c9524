/* parts.h - which parts of a machine are recorded: all, those between marks, or windows of either.
 *
 * All cores are recorded together, as they work on one memory. Windows go by the instructions of one core. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_SYSTEM_PARTS_H
#define COLLECT_SYSTEM_PARTS_H

#include "collect/board.h"

#include <stdbool.h>

struct interval_state {
	bool has_marks, has_windows;
	_Atomic bool counts;   /* the machine is between marks, or there are none */
	_Atomic unsigned open; /* windows */
	_Atomic int main;      /* the core of the first mark, or the first; -1: not yet known */
};

extern struct interval_state parts;

/* To be called before any core runs. */
void parts_setup(const struct collect_board *board);

/* A core executes HINT #9. Returns whether a part begins. */
bool parts_mark(unsigned core);

/* Whether a core's instructions are counted, and whether they are recorded. */
static inline bool parts_count(void)
{
	return atomic_load_explicit(&parts.counts, memory_order_relaxed);
}

static inline bool parts_record(void)
{
	return parts_count() && (!parts.has_windows || atomic_load_explicit(&parts.open, memory_order_relaxed) > 0);
}

#endif
