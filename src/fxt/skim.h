/* skim.h - a leap of checking: records proved to keep all rules, and durations settled, as soon as they are read.
 *
 * That can be told by nothing but the bits of the records, provided that what they refer to is there: this is looked
 * up when the walk has come by, once for each reference. No step is made of a settled pair before something asks for
 * it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_SKIM_H
#define FXT_SKIM_H

#include "core/ticks.h"

#include <stddef.h>

struct fxt_chunk;
struct fxt_leap;
struct fxt_piece;
struct fxt_scratch;

/* A reference to a string, and the number of its name. */
struct fxt_skim_name {
	uint32_t reference, number;
};

/* A thread that events were on. */
struct fxt_skim_thread {
	uint64_t first, last; /* tick counts of its begins and ends; UINT64_MAX: there are none */
	uint32_t index, track;
};

/* An event whose step is not settled. */
struct fxt_skim_left {
	uint64_t header, ticks, word; /* `word` is the last of the record */
	uint32_t place;
};

/* What was told of a chunk's leap. */
struct fxt_skim {
	uint64_t ticks; /* no event begins later */
	struct fxt_skim_name *names;
	size_t name_count, name_room;
	struct fxt_skim_thread *threads;
	size_t thread_count, thread_room;
	struct fxt_skim_left *left;
	size_t left_count, left_room;
	struct tw_ticks clock;
	size_t from, to; /* numbers of their steps: from, and before; 0: there are none yet */
};

/* What a thread works with. */
struct fxt_skimmer;
void fxt_skimmer_free(struct fxt_skimmer *skimmer);

void fxt_skim_clear(struct fxt_skim *skim);
void fxt_skim_free(struct fxt_skim *skim);

/* For fxt_leap(). */
void fxt_skim(struct fxt_chunk *chunk, struct fxt_leap *leap, struct fxt_scratch *scratch);

/* Adds the steps of the leap that are not settled. False where something is not as it must be: then nothing has been
 * done. */
bool fxt_skim_take(struct fxt_chunk *chunk, const struct fxt_piece *piece);

/* Adds those that are. */
void fxt_skim_expand(struct fxt_chunk *chunk);

#endif
