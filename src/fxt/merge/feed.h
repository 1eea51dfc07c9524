/* feed.h - what is written of an archive that is merged and was not made ready: rows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_MERGE_FEED_H
#define FXT_MERGE_FEED_H

#include "core/merge/merge.h"
#include "fxt/fxt.h"

/* Threads whose tracks have been written, as long as none is met on another. */
struct fxt_met {
	uint64_t koids[64]; /* by their low bits; 0: none */
	uint64_t moved;     /* the state's threads_moved at that time */
};

/* An archive. */
struct fxt_feed {
	struct tw_merge_input *input;
	struct fxt_reader *fxt;
	struct fxt_shift shift;
	uint64_t last; /* time of the last event of the chunks that are used up */
	uint64_t gate; /* when the next chunk begins, in the merged trace, */
	bool gated;    /* if there is one */
	struct fxt_met met;
};

/* Where they go. */
struct fxt_passage {
	struct tw_writer *writer;
	struct tw_reader *merged;
	struct tw_passed *passed;
	struct tw_argument arguments[UINT8_MAX]; /* of the row that is mapped */
};

/* Writes a row at this time of the merged trace. Returns 0 or a negative status. */
int fxt_feed_row(struct fxt_passage *passage, const struct fxt_feed *feed, const struct tw_event *row,
                 const struct tw_argument *arguments, uint64_t time);

/* Writes a context switch or a wake-up that is ready but for its threads. Returns 0 or a negative status. */
int fxt_feed_switch(struct fxt_passage *passage, struct fxt_feed *feed, const struct tw_slab *slab,
                    const struct tw_event_key *brief);

#endif
