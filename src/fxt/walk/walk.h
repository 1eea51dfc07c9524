/* walk.h - from record to record through an archive, around what is damaged. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_WALK_WALK_H
#define FXT_WALK_WALK_H

#include "fxt/walk/chunk.h"

/* What was last looked through for the next record, in offsets: from any place in it, up to the end of the same bytes,
 * that is the same one, until more is registered or something is taken back. */
struct fxt_scanned {
	uint64_t from, to; /* the record's place */
	uint64_t end;      /* of the bytes; 0: nothing is known */
	bool at_end, big;
};

struct fxt_walk {
	struct fxt_state *state;
	bool big;
	bool check;                            /* notes the rules about tables, too */
	const struct tw_read_options *options; /* whose records are wanted; NULL: everybody's */
	struct tw_ticks clock;                 /* of a provider that is left out, for fxt_pass_over() */
	bool unwanted;                         /* the large blob that goes on is left out */
	uint64_t blob_left;                    /* bytes of a large record that are still to come */
	uint64_t bytes_left;                   /* without what stands behind the bytes of the blob */
	bool in_doubt;                         /* it is a large record of which not all is known */
	size_t last;                           /* place in the chunk of the last record that was passed */
	uint64_t lost_from;                    /* where the garbage began that the walk is in; UINT64_MAX: in none */
	const char *fault;
	uint64_t found;
	struct fxt_scanned scanned;
};

/* Tells the byte order from the first chunk of an archive: that of its magic number, or without one that in which its
 * first record makes sense. */
void fxt_walk_begin(struct fxt_walk *walk, struct fxt_chunk *chunk);

enum fxt_walked {
	FXT_WALKED, /* as far as the bytes allow */
	FXT_BARRIER /* all that was walked must be decoded first, then walk on */
};

/* Walks on through a chunk. */
enum fxt_walked fxt_walk(struct fxt_walk *walk, struct fxt_chunk *chunk);

#endif
