/* tally.h - the rows that a profile counts calls in. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_CALLS_TALLY_H
#define ANALYSIS_CALLS_TALLY_H

#include "analysis/calls/histogram.h"
#include "base/memory/sum.h"
#include "core/calls/calls.h"

/* A row, 64 bytes: what a call changes. */
struct tw_tally {
	uint64_t total;
	uint64_t min; /* of the calls that ended, as max */
	uint64_t self;
	uint64_t max;
	uint64_t ended, open, unwound;
	struct tw_histogram histogram; /* of the calls that ended */
};

/* Rows by number; TW_ROW_NONE stays empty, TW_ROW_OTHER is always there. */
struct tw_tallies {
	struct tw_tally *rows;
	size_t count, room;
	struct tw_histogram_pool pool;
};

/* False when there is no memory: then only free is legal. */
bool tw_tallies_init(struct tw_tallies *rows, struct tw_budget *budget);
void tw_tallies_free(struct tw_tallies *rows);

/* Adds a row, and room for what the owner keeps about it: an array of `size` bytes a row, whose room is *room rows.
 * Returns its number, or TW_ROW_OTHER when the limit is reached. */
uint32_t tw_tallies_add(struct tw_tallies *rows, void *array, size_t *room, size_t size);

/* At most what the counts of all rows take when they are added to others; and what the rows take themselves. */
size_t tw_tallies_counts_cost(const struct tw_tallies *rows);
size_t tw_tallies_rows_cost(const struct tw_tallies *rows);

/* Adds what is in a row to another. */
void tw_tallies_merge(struct tw_tallies *into, uint32_t row, const struct tw_tallies *from, uint32_t from_row);

/* What a call that ended changes beside the histogram. */
static inline void tw_tally_end(struct tw_tally *row, const struct tw_left_call *call)
{
	uint64_t duration = call->duration;
	row->self = tw_sum(row->self, tw_call_self(call));
	row->total = tw_sum(row->total, duration & ((uint64_t)(call->below != 0) - 1));
	if (__builtin_expect(duration < row->min, 0)) /* jumps: they are seldom, and less than what they jump over */
		row->min = duration;
	if (__builtin_expect(duration > row->max, 0))
		row->max = duration;
	row->ended++;
}

static inline void tw_tallies_leave(struct tw_tallies *rows, const struct tw_left_call *call, enum tw_call_end how)
{
	struct tw_tally *row = &rows->rows[call->row];
	if (how == TW_CALL_OPEN) {
		row->self = tw_sum(row->self, tw_call_self(call));
		row->total = tw_sum(row->total, call->below ? 0 : call->duration);
		row->open++;
		return;
	}
	row->unwound += how == TW_CALL_UNWOUND;
	tw_histogram_add(&rows->pool, &row->histogram, row->ended, call->duration);
	tw_tally_end(row, call);
}

#endif
