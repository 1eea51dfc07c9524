/* merge_chunks.h - the chunks of several FXT archives that are merged, opened when their time comes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_MERGE_CHUNKS_H
#define FXT_MERGE_CHUNKS_H

#include "core/merge/merge.h"
#include "fxt/fxt.h"

/* An archive that has events. */
struct fxt_merge_input {
	struct tw_merge_input *input;
	struct fxt_reader *fxt;
	uint64_t last; /* time of the last event that was written, in the archive */
	bool has_next; /* there is another chunk to be opened; */
	uint64_t next; /* when it begins, in the merged trace */
};

/* A chunk that events are taken from. */
struct fxt_merge_open {
	struct fxt_merge_input *input;
	struct fxt_chunk *chunk;
	const struct fxt_merge_event *next, *end;
	uint64_t late_until; /* events before this came too late: later ones had been written */
	/* merge_records.c: how many of these may be taken, 0 until that is decided; times of the first and the last in
	 * the merged trace; and how many have been taken. */
	size_t share;
	uint64_t head, bound;
	size_t taken;
};

struct fxt_merge_chunks {
	struct tw_writer *writer;
	struct tw_reader *merged;
	struct fxt_pool *pool;
	struct fxt_merge_input inputs[TW_MERGE_DIRECT]; /* in the order of the command line */
	size_t count, unended;
	struct fxt_merge_open *open; /* by input, and by place in the archive */
	size_t open_count, open_room;
};

/* Opens the first chunk of each archive; then it is known how times change. All zero but writer, merged and pool to
 * begin. Returns 0 or a negative status. */
int fxt_merge_chunks_begin(struct fxt_merge_chunks *chunks);

/* The archive whose next chunk begins first, and not after a time of the merged trace; NULL where there is none. */
struct fxt_merge_input *fxt_merge_next(struct fxt_merge_chunks *chunks, uint64_t until);

/* Opens its next chunk, or first has the events of that made. Returns 0 or a negative status. */
int fxt_merge_open(struct fxt_merge_chunks *chunks, struct fxt_merge_input *input);

/* Moves behind the events of a chunk that have been taken, and counts those that came too late. */
void fxt_merge_pass(const struct fxt_merge_chunks *chunks, struct fxt_merge_open *open);

/* All events of a chunk have been taken. Returns 0 or a negative status. */
int fxt_merge_close(struct fxt_merge_chunks *chunks, struct fxt_merge_open *open);

#endif
