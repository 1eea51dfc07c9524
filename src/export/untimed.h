/* untimed.h - what is lost of slices that calls have no room for. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXPORT_UNTIMED_H
#define EXPORT_UNTIMED_H

#include "core/calls/calls.h"
#include "core/format.h"

#define TW_LOSS_MEMORY "slice beyond the memory limit"
#define TW_LOSS_LANE "slice beyond 1,024 of a thread that are open at once and do not nest"

/* Counts them as losses of a writer. */
static inline void tw_count_untimed(struct tw_writer *writer, const struct tw_calls *calls)
{
	tw_count_losses(writer, TW_LOSS_MEMORY, false, calls->counts.untimed - calls->counts.beyond);
	tw_count_losses(writer, TW_LOSS_LANE, false, calls->counts.beyond);
}

#endif
