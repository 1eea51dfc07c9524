/* windows.h - the parts of a thread that are recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_WINDOWS_H
#define COLLECT_WINDOWS_H

#include "collect/guest_thread.h"

static inline bool windows_have_step(const struct guest_thread *thread)
{
	return thread->passed + thread->stream.count >= thread->plan.event;
}

/* Before a block, when all before it is written: begins and ends recording. full: the block has all calls; ordered:
 * accesses have TIMEs. */
void windows_follow(struct guest_thread *thread, struct collect_board *board, bool full, bool ordered);

#endif
