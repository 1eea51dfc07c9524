/* pending.h - holding events back until it is known whether their slices are long enough. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_FILTER_PENDING_H
#define CORE_FILTER_PENDING_H

#include "core/order/rows.h"
#include "core/threads/share.h"

#include <trackway/reader.h>

#include <stdbool.h>

/* What becomes of a row that is held back. */
enum tw_verdict { TW_UNDECIDED, TW_KEEP, TW_DROP };

/* Events in the order of their delivery; the first that is undecided holds up those behind it. */
struct tw_queue {
	struct tw_event_rows rows;
	uint64_t now; /* latest time seen */
};

/* Whether names match a glob; of stacks, whether any of their names does. */
struct tw_verdicts {
	uint8_t *of; /* by name or stack: enum tw_verdict, TW_UNDECIDED while nobody asked */
	size_t room;
};

/* All zero but options, dictionary and share to begin. */
struct tw_pending {
	const struct tw_read_options *options;
	const struct tw_dictionary *dictionary;
	struct tw_share share;      /* of the memory limit: beyond, the oldest rows go undecided */
	size_t held;                /* bytes of the queues and of what else their owner holds */
	uint64_t unjudged;          /* slices let through because there was no more memory to hold them */
	uint64_t first_unjudged;    /* offset of the first of them */
	struct tw_event_rows ready; /* what has been let through */
	struct tw_verdicts functions, categories, stacks;
	bool failed; /* no memory: nothing more is right */
};

/* The row of a begin that is not held: it was let through at once, or left out for its name. */
#define TW_NO_ROW UINT64_MAX

/* Counts a slice that is let through unjudged. */
void tw_pending_give_up(struct tw_pending *pending, const struct tw_event *begin);

/* Whether the options let through what has the event's name and category. */
bool tw_pending_wanted(struct tw_pending *pending, const struct tw_event *event);

/* Lets an event through, or into the queue when it must wait: TW_UNDECIDED for the begin of a slice, otherwise TW_KEEP.
 * arguments and base: as for tw_event_rows_add(). Returns its row, for tw_pending_decide(). */
uint64_t tw_pending_put(struct tw_pending *pending, struct tw_queue *queue, const struct tw_event *event,
                        const struct tw_argument *arguments, const uint8_t *base, enum tw_verdict verdict);

/* Decides about a slice that has ended, whose begin was at `begin` and is that row. Returns whether it passes: then its
 * begin is let through, and its end is to be. */
bool tw_pending_decide(struct tw_pending *pending, struct tw_queue *queue, uint64_t row, uint64_t begin, uint64_t end);

/* Lets through what need not wait any more; or all, because nothing more comes. */
void tw_pending_drain(struct tw_pending *pending, struct tw_queue *queue);
void tw_pending_drain_all(struct tw_pending *pending, struct tw_queue *queue);

void tw_pending_free(struct tw_pending *pending);

#endif
