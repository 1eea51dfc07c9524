/* pipeline.h - pieces of an input that are read and worked on ahead of the caller, and given to it in order. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_THREADS_PIPELINE_H
#define CORE_THREADS_PIPELINE_H

/* What is done with a piece. */
struct tw_pipeline_steps {
	/* Fills a piece with what comes next: called in order, once at a time. Returns 1, 0 at the end, or a negative
	 * status. */
	int (*read)(void *context, void *piece);
	/* Works on it, needing nothing but the piece: called in any order, for several at once. */
	void (*work)(void *context, void *piece);
};

struct tw_pipeline;

enum { TW_PIPELINE_PIECES = 16 }; /* at most */

/* Goes round `count` pieces with `jobs` threads in all, the caller's being one of them (0: as many as there are
 * processors). NULL when there is no memory. */
struct tw_pipeline *tw_pipeline_new(const struct tw_pipeline_steps *work, void *context, void *const pieces[],
                                    unsigned count, unsigned jobs);

/* Gives the next piece, in the order in which they were read; the one before is used again. Returns 1, 0 at the end, or
 * a negative status. */
int tw_pipeline_next(struct tw_pipeline *pipeline, void **piece);

/* Ends the threads and frees; NULL is fine. The pieces are the caller's. */
void tw_pipeline_free(struct tw_pipeline *pipeline);

#endif
