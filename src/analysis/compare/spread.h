/* spread.h - what is in a trace beside calls, by name: how often, and how much in all. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_COMPARE_SPREAD_H
#define ANALYSIS_COMPARE_SPREAD_H

#include "analysis/compare/runs.h"

#include <trackway/reader.h>

/* What is looked at, and what the values of a row are. */
enum tw_spread_of {
	TW_SPREAD_EVENTS,      /* instants: ns since the one before of the same name */
	TW_SPREAD_ASYNC,       /* asynchronous operations that ended: their ns */
	TW_SPREAD_COUNTERS,    /* samples of a series: their numbers */
	TW_SPREAD_GC,          /* collections, by generations, and all together: the ns of the pauses */
	TW_SPREAD_ALLOCATIONS, /* by class: bytes of each sample */
	TW_SPREAD_HEAP,        /* by class: objects and bytes at the last look at the heap */
	TW_SPREAD_JIT,         /* by function: compilations that ended, and their ns */
	TW_SPREAD_INSTRUCTIONS /* by class and operation; they are added by the caller */
};

/* One name. Texts live as long as the spread. */
struct tw_spread_row {
	const char *category, *name, *series; /* "" where there is none */
	uint64_t count;                       /* events; of allocations and the heap objects */
	double sum;                           /* of the values */
	uint64_t whole;                       /* the same, where all are whole numbers: not of counters */
	uint64_t values;
	uint32_t number; /* of the spread's own */
};

struct tw_spread;

/* NULL when there is no memory. memory_limit: bytes; 0: 256 MiB. What is beyond is left out, and counted. */
struct tw_spread *tw_spread_new(enum tw_spread_of of, size_t memory_limit);

/* Reads a whole trace, opened with TW_ORDER_TIME and not read from; one only. Returns 0 or a negative status. */
int tw_spread_read(struct tw_spread *spread, struct tw_reader *reader);

/* For what is no event, instead of reading. The number of a row; UINT32_MAX when there is no room for it, which is
 * counted. */
uint32_t tw_spread_find(struct tw_spread *spread, const char *category, const char *name, size_t length);

/* Adds `count` to a row; ends it. */
void tw_spread_add(struct tw_spread *spread, uint32_t row, uint64_t count);
void tw_spread_finish(struct tw_spread *spread);

/* Row i (from 0) in order of category, name and series; NULL past the last. */
const struct tw_spread_row *tw_spread_row(const struct tw_spread *spread, size_t i);

uint64_t tw_spread_left_out(const struct tw_spread *spread);
void tw_spread_free(struct tw_spread *spread);

/* ---- Several of them. ---- */

struct tw_spread_change {
	/* Of the first run that has it, on each side; NULL where none has. */
	const struct tw_spread_row *a, *b;
	/* Means over the runs of each side; a run without such a row counts as 0, but for counters. */
	uint64_t count[2];
	uint64_t whole[2]; /* the same as value, to the last digit; not of counters */
	double value[2];   /* that rows are compared by: of events the count, of counters the mean, otherwise the sum */
	struct tw_runs_change test; /* of that */
};

struct tw_spread_changes {
	struct tw_spread_change *rows; /* the largest change of `value` first, then by name */
	size_t count, room;
};

/* The runs of a side. */
struct tw_spread_side {
	struct tw_spread *const *runs;
	size_t count;
};

/* Compares; all must outlive the rows. Returns 0 or TW_ERR_MEMORY; free(rows) in any case. */
int tw_spread_compare(struct tw_spread_changes *changes, enum tw_spread_of of, const struct tw_spread_side *a,
                      const struct tw_spread_side *b);

#endif
