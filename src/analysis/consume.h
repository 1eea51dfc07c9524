/* consume.h - reading a trace in parts, in several threads, into something that parts can be merged into. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_CONSUME_H
#define ANALYSIS_CONSUME_H

#include "core/calls/calls.h"

#include <trackway/analysis.h>

/* What takes the events of one part of a trace. A part begins with its struct tw_calls. The owner is what all parts are
 * merged into. */
struct tw_consumer {
	/* Calls are taken in less time than it takes to find them: where a format gives them by track, half as many
	 * parts as threads are enough, and what each of them counts in stays nearer. `make bench` measures stat of
	 * FXT. */
	bool light;
	/* Before a trace is read, in one part or more: no part is open. */
	void (*begin)(void *owner, unsigned parts);
	/* Opens a part with a dictionary of its own, in the thread that feeds it; NULL when there is no memory. */
	void *(*open)(void *owner, const struct tw_dictionary *dictionary);
	void (*add)(void *part, const struct tw_call_run *run);
	/* For formats that can do without events: the stacks, or NULL where calls alone are not enough; and what comes
	 * of them. */
	struct tw_calls *(*stacks)(void *part);
	void (*add_calls)(void *part, const struct tw_left_calls *left);
	/* After the last run. */
	void (*finish)(void *part);
	/* Whether memory was short, or could be when this part and those asked about before are merged: then the result
	 * would depend on how the trace was parted. Asked once of each part, before any is merged. */
	bool (*folded)(void *owner, const void *part);
	/* Adds a part to the owner: one at a time. Returns 0 or a negative status. */
	int (*merge)(void *owner, void *part);
	void (*close)(void *part);
	/* After a trace was read and its parts are closed. Returns 0 or a negative status. */
	int (*settle)(void *owner);
};

static inline struct tw_calls *tw_part_calls(void *part)
{
	return part;
}

static inline void tw_calls_add_notes(struct tw_profile_notes *into, const struct tw_calls *calls)
{
	into->exits_without_entry += calls->counts.exits_without_entry;
	into->time_backwards += calls->counts.time_backwards;
	into->uncertain += calls->counts.uncertain;
	into->rows_folded += calls->counts.untimed;
	into->laneless += calls->counts.beyond;
}

extern const struct tw_consumer tw_profile_consumer;  /* owner: struct tw_profile */
extern const struct tw_consumer tw_calltree_consumer; /* owner: struct tw_calltree */

/* Feeds the slices of a batch to a part. */
void tw_consume_batch(const struct tw_consumer *consumer, void *part, const struct tw_batch *batch);

/* Reads all of a trace with `jobs` threads (0: as many as there are processors) where its format and order allow it.
 * Returns 0 or the negative status of the read, whose text the reader has; what was read is in the owner. */
int tw_consume(struct tw_reader *reader, unsigned jobs, const struct tw_consumer *consumer, void *owner);

#endif
