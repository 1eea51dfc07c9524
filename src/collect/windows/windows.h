/* windows.h - the parts of a thread, or of a machine, that are recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_WINDOWS_H
#define COLLECT_WINDOWS_H

#include "collect/stream.h"
#include "collect/windows/plan.h"

/* Where a thread or core is among the windows. */
struct window_position {
	struct plan plan;
	uint64_t passed;           /* instructions that were executed and are not recorded */
	uint64_t warm_up_at;       /* of all: where that of the next window begins */
	uint64_t warm_up_snapshot; /* its number */
};

/* Whose windows they are. */
struct windowed {
	struct window_position *part;
	struct stream *stream;
	void (*begin)(void *whose), (*end)(void *whose), (*snapshot)(void *whose);
	void *whose;
};

static inline bool windows_have_step(const struct window_position *part, const struct stream *stream)
{
	return part->passed + stream->count >= part->plan.event;
}

/* Before a block, when all before it is written: begins and ends recording. full: the block has all calls. */
void windows_follow(const struct windowed *windowed, struct collect_board *board, bool full);

#endif
