/* commit.h - what of a chunk's rows needs the dictionary, done in the order of the archive. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_EVENTS_COMMIT_H
#define FXT_EVENTS_COMMIT_H

#include "core/format.h"
#include "fxt/walk/report.h"

/* The blob whose bytes come in parts. */
struct fxt_blob_row {
	struct tw_event event;
	uint32_t argument; /* name of the bytes */
	uint64_t left;     /* bytes still to come */
};

struct fxt_commit {
	struct tw_reader *reader;
	struct fxt_state *state;
	struct tw_map objects; /* struct fxt_object to name */
	struct fxt_reported reported;
	struct fxt_blob_row blob;
	bool sorts; /* rows are wanted in the order of time */
	struct tw_slab_scratch sort;
	bool timed;            /* there was a row with a time of its own */
	uint64_t time;         /* of the last one */
	uint64_t *piece_times; /* by name: of the last blob that had none */
	size_t piece_room;
	uint64_t lost_bytes;
};

/* samples.c: what of complete rows is a sample that Trackway wrote becomes one. */
void fxt_find_samples(struct fxt_state *state, struct tw_slab *slab);

/* Completes the rows of the next chunk, and reports what was found in it: of one that has failed nothing. */
void fxt_commit(struct fxt_commit *commit, struct fxt_chunk *chunk);
void fxt_commit_free(struct fxt_commit *commit);

#endif
