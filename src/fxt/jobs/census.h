/* census.h - what is in an archive, counted chunk by chunk. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_JOBS_CENSUS_H
#define FXT_JOBS_CENSUS_H

#include "fxt/format/layout.h"
#include "fxt/walk/chunk.h"

/* What is counted: providers, threads and categories, and how each is known. */
enum fxt_counted {
	FXT_COUNTED_PROVIDER,           /* number: its id */
	FXT_COUNTED_TRACK,              /* number: of the track */
	FXT_COUNTED_THREAD_UNDEFINED,   /* number: an index without a thread; process: generation of the provider */
	FXT_COUNTED_THREAD,             /* process, thread */
	FXT_COUNTED_THREAD_ALONE,       /* thread: nothing tells its process */
	FXT_COUNTED_CATEGORY,           /* number: of the name */
	FXT_COUNTED_CATEGORY_UNDEFINED, /* number: the index that nothing registers */
	FXT_COUNTED_CATEGORY_TEXT       /* the text stands in the record */
};

struct fxt_counted_key {
	uint64_t what;            /* FXT_COUNTED() */
	uint64_t process, thread; /* koids */
};

/* What, and its number, in one word: the processor waits where two are put together in memory and compared as one. */
#define FXT_COUNTED(what, number) ((uint64_t)(what) << 32 | (uint32_t)(number))

struct fxt_tally {
	uint64_t records, bytes;
	uint64_t first, last; /* the last may be the end of a slice; first > last: none has a time */
};

/* What is added up in a context, in ticks. No more is known of the key when another one takes its place. */
struct fxt_sum {
	struct fxt_counted_key key;
	struct fxt_tally tally;
};

/* A sum that is complete, in ns; several may be of the same key. */
struct fxt_count {
	struct fxt_sum sum;
	uint32_t name;       /* providers, where it is known */
	uint32_t length;     /* of the text */
	const uint8_t *text; /* in the chunk's bytes */
	uint64_t frequency;  /* providers: ticks per second; 0: not known */
	uint64_t dropped;    /* providers: how often their buffer was full */
};

enum { FXT_CATEGORY_SUMS = 1024, FXT_KOID_SUMS = 64 };

struct fxt_census {
	uint64_t kinds[TW_FXT_KINDS];
	struct fxt_tally provider;                    /* of the context */
	struct fxt_sum threads[FXT_PAGE];             /* by index */
	struct fxt_sum koids[FXT_KOID_SUMS];          /* of other threads, by a hash */
	struct fxt_sum categories[FXT_CATEGORY_SUMS]; /* by the low bits of the reference; records alone */
	struct fxt_count *counts;
	size_t count, room;
	struct fxt_count unkept; /* there was no memory for another one */
};

static inline void fxt_note_times(struct fxt_tally *tally, uint64_t first, uint64_t last)
{
	tally->first = first < tally->first ? first : tally->first;
	tally->last = last > tally->last ? last : tally->last;
}

/* count.c: counts what was walked since the last time. */
void fxt_count(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);

void fxt_census_free(struct fxt_census *census);

#endif
