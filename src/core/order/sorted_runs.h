/* sorted_runs.h - the rows of a trace that come in no order, put into the order of time by way of a temporary file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_ORDER_SORTED_RUNS_H
#define CORE_ORDER_SORTED_RUNS_H

#include <trackway/event.h>

#include <stddef.h>

/* A run is rows that come in the order of time as it is: a row before the last one begins the next. */
struct tw_sorted_runs;

/* directory: for the temporary file, NULL being /tmp. memory: bytes that the runs may take that are read at once; if
 * there are more of them, they are first merged to fewer. Sets *runs and returns 0, or an errno. */
int tw_sorted_runs_new(struct tw_sorted_runs **runs, const char *directory, size_t memory);

/* Frees; NULL is fine. */
void tw_sorted_runs_free(struct tw_sorted_runs *runs);

/* Adds rows, as they stand in their trace, with copies of their arguments. Returns 0 or an errno. */
int tw_sorted_runs_put(struct tw_sorted_runs *runs, const struct tw_batch *batch);

/* No more rows come: they are read from now on. Returns 0 or an errno. */
int tw_sorted_runs_end(struct tw_sorted_runs *runs);

/* Gives the next rows, which live until the next call; none at the end. Those of one time stand as if all had been
 * sorted in memory: equal_times.h. Returns 0 or an errno. */
int tw_sorted_runs_next(struct tw_sorted_runs *runs, struct tw_batch *batch);

#endif
