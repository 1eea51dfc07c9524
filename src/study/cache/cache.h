/* cache.h - what the study of caches keeps. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STUDY_CACHE_CACHE_H
#define STUDY_CACHE_CACHE_H

#include "study/cache/simulate.h"
#include "study/study.h"

/* What happens in an interval of a thread. */
struct cache_interval {
	uint64_t thread, start; /* instructions of the thread before */
	uint64_t instructions;
	struct cache_counts counts;
};

/* Columns of tables: what is simulated decides how many there are. */
enum { CACHE_COLUMNS = TW_STUDY_LEVELS + 16 };

struct caches {
	struct cache_thread thread;  /* of a track; of all: what its tracks have counted */
	struct cache_shared *shared; /* of all: its own */
	struct cache_counts *sites;  /* by place */
	size_t room;
	struct cache_counts loads, stores;
	struct cache_interval *intervals;
	size_t interval_count, interval_room;
	struct cache_counts before; /* this interval */
	uint64_t end;               /* where the interval ends: instructions */
	struct tw_study_column level_columns[CACHE_COLUMNS], function_columns[CACHE_COLUMNS],
	    site_columns[CACHE_COLUMNS], interval_columns[CACHE_COLUMNS];
};

static inline struct caches *study_caches(const struct study_part *part)
{
	return part->state;
}

static inline void study_cache_add(struct cache_counts *to, const struct cache_counts *from)
{
	for (unsigned i = 0; i < CACHE_COUNTS; i++)
		to->of[i] += from->of[i];
}

/* ---- tables.c ---- */

int study_cache_tables(struct study_part *all, struct study_tables *tables);

#endif
