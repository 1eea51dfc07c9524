/* regions.h - which windows there are in a trace: a list beside it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_WINDOWS_REGIONS_H
#define COLLECT_WINDOWS_REGIONS_H

#include "collect/board.h"

/* A window that has begun. */
struct region {
	const struct collect_window *window;
	uint64_t number;                  /* of the window */
	uint64_t thread;                  /* as the file's name has it */
	uint64_t from, warm_up;           /* instructions of the thread before it; of them the last are its warm-up */
	uint64_t snapshot, warm_snapshot; /* where it begins, and its warm-up */
};

/* xtrace.{timestamp}.windows; its heading, by the tool. Returns 0 or errno. */
int regions_begin(const struct collect_board *board);

/* Returns 0 or errno. The file is open for a moment only: the guest sees the process's descriptors. */
int regions_add(const struct collect_board *board, const struct region *region);

#endif
