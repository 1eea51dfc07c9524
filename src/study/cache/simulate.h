/* simulate.h - the caches, TLBs and prefetchers of one thread, and what all threads share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_CACHE_SIMULATE_H
#define STUDY_CACHE_SIMULATE_H

#include "core/budget.h"

#include <trackway/study.h>

/* What is counted of a place. */
enum cache_count {
	CACHE_ACCESSES,
	CACHE_MISSES, /* of the first level; the numbers behind it are of the further levels */
	CACHE_FETCH_MISSES = CACHE_MISSES + TW_STUDY_LEVELS,
	CACHE_ITLB_MISSES,
	CACHE_DTLB_MISSES,
	CACHE_WALKS,
	CACHE_INVALIDATIONS,  /* copies of others that its stores took */
	CACHE_SHARING_MISSES, /* of copies that others' stores took */
	CACHE_FALSE_SHARING,  /* of these, where no byte was written since */
	CACHE_COUNTS
};

struct cache_counts {
	uint64_t of[CACHE_COUNTS];
};

/* A set-associative cache, or a TLB, whose lines are pages. A set is its ways, the one that goes last first; lines are
 * kept as their numbers plus 1. */
struct cache_level {
	uint64_t *lines; /* NULL: there is none */
	uint64_t sets;   /* a power of 2 */
	uint32_t ways, shift;
	enum tw_study_policy policy;
	uint64_t random;
};

/* Lookups, and what misses. */
struct cache_lookups {
	uint64_t lookups, misses;
};

/* Where an instruction accessed last, and how far from before. */
struct cache_stride {
	uint64_t pc, last;
	int64_t stride;
};

enum { CACHE_STRIDES = 256, CACHE_THREADS = TW_STUDY_THREADS };

enum cache_prefetcher { CACHE_NEXT_LINE, CACHE_STRIDE, CACHE_PREFETCHERS };

struct cache_prefetches {
	uint64_t issued;                  /* lines that were not in the first level */
	uint64_t useful;                  /* of these, used before they were dropped */
	uint64_t misses[TW_STUDY_LEVELS]; /* of these, by level: where else they were not */
};

struct cache_shared;

/* One thread's. */
struct cache_thread {
	const struct tw_study_options *options;
	struct cache_level levels[TW_STUDY_LEVELS]; /* without the shared one */
	unsigned private_count, count;              /* levels; count: with the shared one */
	struct cache_level instructions, itlb, dtlb, stlb;
	uint64_t fetched;             /* the last instruction's address plus 1; 0: none */
	struct cache_lookups tlbs[3]; /* itlb, dtlb, stlb */
	struct cache_counts fetches;  /* lookups, misses of the instruction cache, of the levels behind it */
	struct cache_prefetches prefetches[CACHE_PREFETCHERS];
	struct cache_stride strides[CACHE_STRIDES];
	struct cache_shared *shared; /* NULL: there is none */
	unsigned number;             /* of the thread, there */
};

/* A data access of an instruction at a PC. Addresses are those of study_in_space(). */
struct cache_access {
	uint64_t pc, address, size;
	bool stores;
};

/* Begins a thread's, all zero but shared, number. Returns 0, TW_ERR_LIMIT, or TW_ERR_MEMORY; free it in any case. */
int cache_thread_init(struct cache_thread *thread, const struct tw_study_options *options, struct tw_budget *budget);
void cache_thread_free(struct cache_thread *thread);

/* Fetches an instruction. */
void cache_fetch(struct cache_thread *thread, struct cache_counts *counts, uint64_t address);

/* Loads or stores; `kind` has what the levels count of loads, or of stores. */
void cache_access(struct cache_thread *thread, struct cache_counts *counts, struct cache_counts *kind,
                  const struct cache_access *access);

/* ---- level.c ---- */

/* Of a line that a prefetcher brought, and nothing has used. */
extern const uint64_t cache_marks[CACHE_PREFETCHERS];

int cache_level_init(struct cache_level *level, const struct tw_study_cache *cache, struct tw_budget *budget);

/* Returns whether it hits; the line is there afterwards, with the mark. *had: the mark of a line that was prefetched,
 * and is used now for the first time; 0: it is no such line. */
bool cache_look(struct cache_level *level, uint64_t address, uint64_t mark, uint64_t *had);

/* Whether a line is there. */
bool cache_has(const struct cache_level *level, uint64_t address);

/* Takes a line out. Returns whether it was there. */
bool cache_drop(struct cache_level *level, uint64_t address);

/* ---- coherence.c: the last level of all threads, and who has copies of its lines. ---- */

/* A line that threads have had in their own levels. */
struct cache_line {
	uint64_t number;
	uint64_t held, lost; /* by whom; from whom a store of another took it: a bit for each thread */
	uint64_t ever;       /* who has touched it */
	uint64_t *written;   /* bytes since it was lost, by thread; NULL: it never was */
	uint64_t invalidations, sharing_misses, false_sharing;
};

struct cache_shared {
	struct cache_level level;
	struct tw_budget *budget;
	struct cache_line *lines;
	struct tw_keyed keyed; /* by number */
	struct cache_thread *threads[CACHE_THREADS];
	unsigned thread_count;
	uint64_t left_out; /* accesses to lines that there was no room for */
};

int cache_shared_init(struct cache_shared *shared, const struct tw_study_options *options, struct tw_budget *budget);
void cache_shared_free(struct cache_shared *shared);

/* What an access to a line does to the copies of others, before it is looked for. */
void cache_share(struct cache_shared *shared, unsigned number, struct cache_counts *counts,
                 const struct cache_access *access);

/* A prefetch brings a line. */
void cache_share_prefetch(struct cache_shared *shared, unsigned number, uint64_t address);

#endif
