/* parallel.h - the same function in several threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_THREADS_PARALLEL_H
#define BASE_THREADS_PARALLEL_H

/* How many processors this process may use, at least 1. */
unsigned tw_processors(void);

/* The most threads that are started. */
enum { TW_JOBS_MAX = 256 };

/* Calls run(context, i) for every i below `jobs`, each in a thread of its own (0 in the caller's), and returns when all
 * are done. Where a thread cannot be had its call is made in the caller's. */
void tw_parallel(unsigned jobs, void (*run)(void *context, unsigned i), void *context);

#endif
