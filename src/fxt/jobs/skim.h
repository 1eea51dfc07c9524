/* skim.h - the fast path of `check`: proves that records keep all rules, and pairs begins with ends, as soon as a chunk
 * is read.
 *
 * Nearly all rules depend on nothing but a record's own bits. What is left, that the strings and threads it refers to
 * are registered, is looked up when the walk has come by, once for each reference. Pairs of begin and end that both lie
 * in the leap are settled: no steps (steps.h) are made of them, unless fxt_skim_expand() is asked to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_JOBS_SKIM_H
#define FXT_JOBS_SKIM_H

#include "core/ticks.h"

#include <stddef.h>

struct fxt_chunk;
struct fxt_leap;
struct fxt_piece;
struct fxt_scratch;

enum {
	FXT_SKIM_REFERENCES = 1 << 15, /* to strings, but for those in the record */
	FXT_SKIM_THREADS = 256,
	FXT_SKIM_LONGEST = INT32_MAX /* ticks: longer complete durations are left to the slow path */
};

/* A reference to a string, and the number of its name. */
struct fxt_skim_name {
	uint32_t reference, number;
};

/* A thread that has events in the leap. */
struct fxt_skim_thread {
	uint64_t first, last; /* tick counts of its first and last begin or end; UINT64_MAX: there are none */
	uint32_t index, track;
};

/* An event whose step is not settled. */
struct fxt_skim_left {
	uint64_t header, ticks, word; /* `word` is the last of an operation's step, otherwise 0 */
	uint32_t place;
};

/* What skimming a chunk's leap has found. */
struct fxt_skim {
	uint64_t ticks; /* at least the greatest tick count of an event */
	struct fxt_skim_name *names;
	size_t name_count, name_room;
	struct fxt_skim_thread *threads;
	size_t thread_count, thread_room;
	struct fxt_skim_left *left;
	size_t left_count, left_room;
	struct tw_ticks clock;
	size_t from, to; /* numbers of the first step of `left` and of the one behind the last; 0: none yet */
};

/* Tables that a thread uses for one leap after the other. */
struct fxt_skimmer;
void fxt_skimmer_free(struct fxt_skimmer *skimmer);

void fxt_skim_clear(struct fxt_skim *skim);
void fxt_skim_free(struct fxt_skim *skim);

/* Skims a chunk from leap->from on, and sets the leap's end: for fxt_leap(). */
void fxt_skim(struct fxt_chunk *chunk, struct fxt_leap *leap, struct fxt_scratch *scratch);

/* Looks up what the leap refers to, and adds its steps that are not settled. False where a reference is not registered,
 * or something else keeps the leap from counting: then nothing has been done. */
bool fxt_skim_take(struct fxt_chunk *chunk, const struct fxt_piece *piece);

/* Adds the steps that are settled, too. */
void fxt_skim_expand(struct fxt_chunk *chunk);

#endif
