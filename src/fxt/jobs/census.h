/* census.h - what is in an archive, counted chunk by chunk. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FXT_JOBS_CENSUS_H
#define FXT_JOBS_CENSUS_H

#include "fxt/format/layout.h"
#include "fxt/walk/chunk.h"

enum fxt_counted { FXT_COUNTED_PROVIDER, FXT_COUNTED_THREAD, FXT_COUNTED_CATEGORY };

/* How many records one provider, thread or category has in a chunk. */
struct fxt_count {
	enum fxt_counted what;
	uint32_t number;          /* track or name; UINT32_MAX: not known by number */
	uint64_t process, thread; /* threads without a number */
	bool lone;                /* the process is not told */
	const uint8_t *text;      /* categories without a number: in the chunk's bytes */
	uint32_t length;
	unsigned undefined;            /* threads and categories that are not registered: their index; otherwise 0 */
	uint32_t provider, generation; /* its id; of its tables */
	uint64_t records, bytes;
	uint64_t first, last; /* ns; first > last: none has a time */
	uint64_t dropped;     /* providers: how often their buffer was full */
};

/* Sums for one index of a provider's tables, as long as it keeps its meaning. */
struct fxt_tally {
	uint64_t records, bytes;
	uint64_t first, last; /* ticks; the last may be the end of a slice, also of one that ends before it begins */
};

/* The same for a thread whose koid stands in the records, alone (`lone`) or with that of its process. */
struct fxt_inline_tally {
	uint64_t process, thread;
	bool lone;
	struct fxt_tally tally;
};

enum { FXT_INLINES = 64, FXT_CATEGORIES = 1 << 16 };

struct fxt_sums {
	uint64_t kinds[TW_FXT_KINDS];
	struct fxt_tally provider;
	struct fxt_tally threads[FXT_PAGE];  /* by index; the first is of those that have none */
	uint32_t *categories;                /* by reference: FXT_CATEGORIES */
	uint16_t used[FXT_PAGE * FXT_PAGES]; /* the indices of categories that were met */
	size_t used_count;
	struct fxt_inline_tally *inlines; /* a thread may have several */
	size_t inline_count, inline_room;
	uint32_t inline_at[FXT_INLINES]; /* by hash of the thread: place of the latest tally */
	bool failed;                     /* no memory: something is missing */
};

static inline void fxt_note_times(struct fxt_tally *tally, uint64_t first, uint64_t last)
{
	tally->first = first < tally->first ? first : tally->first;
	tally->last = last > tally->last ? last : tally->last;
}

static inline void fxt_note_time(struct fxt_tally *tally, uint64_t ticks)
{
	fxt_note_times(tally, ticks, ticks);
}

static inline void fxt_add_up(struct fxt_tally *tally, const struct fxt_tally *more)
{
	tally->records += more->records;
	tally->bytes += more->bytes;
	fxt_note_times(tally, more->first, more->last);
}

struct fxt_census {
	struct fxt_sums sums;
	struct fxt_count *counts;
	size_t count, room;
};

/* count.c: counts what was walked since the last time; then, when all of the chunk is counted, completes it. */
void fxt_count(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);
void fxt_counted(struct fxt_chunk *chunk, const struct fxt_wish *wish, struct fxt_scratch *scratch);

void fxt_census_free(struct fxt_census *census);

#endif
