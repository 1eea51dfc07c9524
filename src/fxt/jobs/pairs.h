/* pairs.h - the rules of what belongs together: begins and ends of durations, of asynchronous operations, of flows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_JOBS_PAIRS_H
#define FXT_JOBS_PAIRS_H

#include "core/calls/open_slices.h"
#include "core/calls/overlaps.h"
#include "core/calls/pairs.h"
#include "core/format.h"
#include "fxt/walk/chunk.h"

/* The kinds of event that rules about pairs look at, and about slices that overlap. */
#define FXT_PAIRED_KINDS                                                                                               \
	(1u << TW_SLICE_BEGIN | 1u << TW_SLICE_END | 1u << TW_SLICE_COMPLETE | 1u << TW_ASYNC_BEGIN |                  \
	 1u << TW_ASYNC_INSTANT | 1u << TW_ASYNC_END | 1u << TW_FLOW_BEGIN | 1u << TW_FLOW_STEP | 1u << TW_FLOW_END)

enum { FXT_PAIRS_SHARE = 8 }; /* of the memory limit, for durations, for operations, and for flows */

/* What is open on a track. */
struct fxt_pair_track {
	struct tw_open_slices open; /* durations; a slot is the offset of the begin */
	bool shared;                /* it was reported that operations of one key are open at once */
};

/* Durations that may be open at once. */
static inline size_t fxt_slices_most(const struct tw_reader *reader)
{
	return tw_memory_limit(reader) / FXT_PAIRS_SHARE / sizeof(struct tw_open_slice);
}

/* All zero to begin, but reader. */
struct fxt_pairs {
	struct tw_reader *reader;
	struct fxt_pair_track *tracks; /* by number */
	size_t track_room;
	struct tw_open_room room;      /* for durations */
	struct tw_pairs operations[2]; /* asynchronous ones, flows */
	struct tw_overlaps overlaps;
	bool full;     /* something is not followed */
	bool complete; /* there are complete slices, which others may overlap */
	bool failed;   /* there was no memory */
	bool reported; /* something was told of pairs */
};

/* Takes the next events in time order, but for complete slices. */
void fxt_pairs_take(struct fxt_pairs *pairs, const struct tw_batch *batch);

/* The same for a step of the record at an offset. */
void fxt_pairs_take_step(struct fxt_pairs *pairs, const struct fxt_step *step, uint64_t offset);

/* Takes the slices of a committed chunk, in the order of the archive, which no reader changes: those that are rows; or
 * those among its steps, which complete ones leave then. Begins and ends count where the archive has complete slices,
 * too. */
void fxt_pairs_take_slice_rows(struct fxt_pairs *pairs, const struct fxt_chunk *chunk);
void fxt_pairs_take_slices(struct fxt_pairs *pairs, struct fxt_chunk *chunk);

/* Of a committed chunk: makes the steps of its rows, and counts in that there are complete slices. */
void fxt_pairs_make_steps(struct fxt_pairs *pairs, struct fxt_chunk *chunk);

/* Takes a slice with its end, whose record at an offset is of a type. */
void fxt_pairs_take_slice(struct fxt_pairs *pairs, const struct fxt_step *step, uint64_t begin, uint64_t end,
                          uint64_t offset);

/* Reports what is still open. */
void fxt_pairs_end(struct fxt_pairs *pairs);

void fxt_pairs_free(struct fxt_pairs *pairs);

#endif
