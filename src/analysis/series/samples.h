/* samples.h - what the samples of a trace weigh, by stacks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_SERIES_SAMPLES_H
#define ANALYSIS_SERIES_SAMPLES_H

#include "analysis/series/weight.h"
#include "core/budget.h"
#include "core/calls/calls.h"

enum { TW_SAMPLE_ROOT = TW_ROW_NONE, TW_SAMPLE_OTHER = TW_ROW_OTHER, TW_SAMPLE_FIRST = TW_ROW_FIRST };

/* A stack; with per_thread: a stack of a thread. Callers come before what they call. */
struct tw_sample_node {
	uint32_t caller;   /* a node */
	uint32_t location; /* of the dictionary; 0 where there is no stack */
	uint32_t track;    /* per_thread, otherwise 0 */
};

/* What samples with one stack weigh; [TW_WEIGHT_DEFAULT] and [TW_WEIGHT_CALLS] stay 0. */
struct tw_sampled {
	uint64_t of[TW_WEIGHTS];
};

struct tw_samples {
	const struct tw_dictionary *dictionary;
	struct tw_budget *budget;
	bool per_thread;
	enum tw_weight
	    unitless; /* what counts are taken as where the trace does not tell; otherwise TW_WEIGHT_DEFAULT */
	struct tw_sample_node *nodes;
	size_t count, room;
	/* Sums of value and of id, of each kind of event that is wanted: a row for each node. */
	uint64_t *sums;
	size_t sum_room, row;          /* row: how many there are of a node */
	uint32_t kinds;                /* that are wanted, bits 1 << kind */
	uint8_t place[TW_EVENT_KINDS]; /* of a kind that is wanted, in a row */
	uint32_t *node_of;             /* by stack: its node, or 0; with per_thread the map has it */
	size_t node_of_room;
	struct tw_map map; /* track << 32 | stack to node */
	uint32_t *path;    /* stacks that have no node yet, the innermost first */
	size_t path_room;
	bool full;       /* no node more will be made */
	uint64_t folded; /* samples of TW_SAMPLE_OTHER, because the limit was reached */
};

/* Reads the samples of a trace that a weight and its count come from; TW_WEIGHT_DEFAULT: all. Returns 0 or a negative
 * status; free in any case. */
int tw_samples_read(struct tw_samples *samples, struct tw_reader *reader, struct tw_budget *budget, bool per_thread,
                    enum tw_weight weight);
void tw_samples_free(struct tw_samples *samples);

/* What a trace is counted by where nobody says: by samples; but by wall time where no timer ticked. */
enum tw_weight tw_samples_weight(const struct tw_samples *samples);

/* What the samples with this stack weigh. */
struct tw_sampled tw_samples_self(const struct tw_samples *samples, size_t node);

/* Sums of each node and all below it: an array by node, to be freed; NULL when there is no memory. */
struct tw_sampled *tw_samples_totals(const struct tw_samples *samples);

#endif
